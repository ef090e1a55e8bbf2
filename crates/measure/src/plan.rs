//! What a guest reports, held against the plan that it had to work off: each job is
//! there as it was asked for, or the guest says why not.
//!
//! The plan's format is "The plan" in `docs/guest-protocol.md`.

use std::collections::BTreeSet;

use crate::results::Results;
use crate::text::{decimal, quote, signed};

/// A job that a guest neither did as it was asked to nor speaks of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No result, no skip, no error.
    #[error(
        "the guest was asked for {0} and says nothing of it: lines were lost, or it worked off another plan"
    )]
    Silent(String),
    /// Other repetitions than those that were asked for.
    #[error(
        "the guest was asked for {job} with the repetitions 0 to {wanted}, and reports {found}"
    )]
    Repetitions {
        /// The job, quoted.
        job: String,
        /// The last repetition.
        wanted: u64,
        /// The numbers of those that it reports.
        found: String,
    },
    /// Other operations.
    #[error(
        "the guest was asked for {job} with {wanted} operations a repetition, and reports {found}"
    )]
    Operations {
        /// The job, quoted.
        job: String,
        /// How many were asked for.
        wanted: u64,
        /// How many it reports.
        found: u64,
    },
    /// A result of what it says it has not done.
    #[error("the guest says that it skipped {0}, and reports results of it")]
    Skipped(String),
}

/// `bench NAME [KEY=INTEGER ...] ops=N reps=R`
struct Bench<'a> {
    /// `bench NAME [KEY=INTEGER ...]`
    job: &'a str,
    benchmark: &'a str,
    parameters: Vec<(String, i64)>,
    operations: u64,
    last: u64,
}

impl<'a> Bench<'a> {
    /// None of a line that is none.
    fn of(line: &'a str) -> Option<Self> {
        let (job, rest) = line.split_once(" ops=")?;
        let (operations, last) = rest.split_once(" reps=")?;
        let mut words = job.strip_prefix("bench ")?.split(' ');
        let benchmark = words.next()?;
        let parameter = |word: &str| {
            let (key, value) = word.split_once('=')?;
            Some((key.to_owned(), signed(value)?))
        };
        Some(Self {
            job,
            benchmark,
            parameters: words.map(parameter).collect::<Option<_>>()?,
            operations: decimal(operations)?,
            last: decimal(last)?,
        })
    }

    fn check(&self, results: &Results) -> Result<(), PlanError> {
        let own: Vec<_> = results
            .repetitions
            .values()
            .filter(|one| one.workload.benchmark == self.benchmark)
            .filter(|one| one.workload.parameters == self.parameters)
            .collect();
        let job = || quote(self.job);
        match (
            results.skips.iter().any(|skip| skip.job == self.job),
            own.is_empty(),
        ) {
            (true, true) => return Ok(()),
            (true, false) => return Err(PlanError::Skipped(job())),
            (false, true) => return Err(PlanError::Silent(job())),
            (false, false) => {}
        }
        let other = own.iter().map(|one| one.operations);
        if let Some(found) = other.into_iter().find(|found| *found != self.operations) {
            let wanted = self.operations;
            return Err(PlanError::Operations {
                job: job(),
                wanted,
                found,
            });
        }
        let numbers: Vec<u64> = own.iter().map(|one| u64::from(one.number)).collect();
        let once: BTreeSet<u64> = numbers.iter().copied().collect();
        // A plan may have a job twice.
        let whole = once.iter().copied().eq(0..=self.last);
        match whole && numbers.len().is_multiple_of(once.len()) {
            true => Ok(()),
            false => Err(PlanError::Repetitions {
                job: job(),
                wanted: self.last,
                found: listed(&numbers),
            }),
        }
    }
}

/// `0, 1, 1, 1, ...`
fn listed(numbers: &[u64]) -> String {
    const SHOWN: usize = 12;
    let shown = numbers.iter().take(SHOWN).map(u64::to_string);
    let more = (numbers.len() > SHOWN).then(|| "...".to_owned());
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

/// Holds results against the plan. What a guest says has failed ends in no verdict, so
/// that nothing else is looked for then.
///
/// # Errors
/// With the first job that is not as it was asked for.
pub(crate) fn check(plan: &str, results: &Results) -> Result<(), PlanError> {
    if !results.errors.is_empty() {
        return Ok(());
    }
    for line in plan.lines() {
        if let Some(bench) = Bench::of(line) {
            bench.check(results)?;
        } else if let Some(sweep) = line.strip_prefix("sweep ") {
            let name = sweep.split(' ').next().unwrap_or(sweep);
            let skipped = results.skips.iter().any(|skip| skip.job == line);
            if !skipped && !results.sweeps.contains(name) {
                return Err(PlanError::Silent(quote(line)));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "# two\nbench poll fds=64 ops=8 reps=1\nsweep poll layout=1\n";

    fn told(lines: &str) -> String {
        let console = format!("@tg guest 1\n{lines}@tg done\n");
        let results = Results::parse(console.as_bytes()).unwrap();
        match check(PLAN, &results) {
            Ok(()) => "right".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    const FIRST: &str = "@tg phase 0 poll fds=64 ops=8 rep=0\n";
    const SECOND: &str = "@tg phase 1 poll fds=64 ops=8 rep=1\n";
    const SWEEP: &str = "@tg points poll 0\n";

    #[test]
    fn each_job_is_there_or_spoken_of() {
        let whole = [FIRST, SECOND, SWEEP].concat();
        assert_eq!(told(&whole), "right");
        assert_eq!(
            told("@tg error bench poll fds=64: it was killed\n"),
            "right"
        );
        let skipped = "@tg skip bench poll fds=64: no\n@tg skip sweep poll layout=1: no\n";
        assert_eq!(told(skipped), "right");
        let silent = |job: &str| {
            format!(
                "the guest was asked for `{job}` and says nothing of it: lines were lost, or it \
                 worked off another plan"
            )
        };
        assert_eq!(told(SWEEP), silent("bench poll fds=64"));
        assert_eq!(
            told(&[FIRST, SECOND].concat()),
            silent("sweep poll layout=1")
        );
        assert_eq!(
            told(&[FIRST, SWEEP].concat()),
            "the guest was asked for `bench poll fds=64` with the repetitions 0 to 1, and reports 0"
        );
        let twice = SECOND.replace("phase 1", "phase 2");
        assert!(told(&[FIRST, SECOND, &twice, SWEEP].concat()).ends_with("reports 0, 1, 1"));
        assert!(told(&whole.replace("ops=8", "ops=9")).ends_with("reports 9"));
        let both = format!("{whole}@tg skip bench poll fds=64: no\n");
        assert!(told(&both).contains("says that it skipped `bench poll fds=64`"));
    }
}
