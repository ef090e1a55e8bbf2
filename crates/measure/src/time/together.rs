//! What a benchmark takes that runs in several processes at once.

use tollgate_defect::answer;

use crate::results::Results;

/// The mean over the processes of what their repetition of that number took, in
/// nanoseconds, rounded down.
///
/// # Errors
/// Why one of the processes has no such time: in its own words, or that it printed none.
pub fn together(processes: &[Results], repetition: u32) -> Result<u64, String> {
    let times: Result<Vec<u64>, String> = processes
        .iter()
        .map(|results| time_of(results, repetition))
        .collect();
    let times = times?;
    let sum: u128 = times.iter().map(|time| u128::from(*time)).sum();
    let mean = sum.checked_div(times.len() as u128);
    let mean = mean.and_then(answer::fits);
    mean.ok_or_else(|| "no process ran".to_owned())
}

fn time_of(results: &Results, repetition: u32) -> Result<u64, String> {
    let skipped = || results.skips.first().map(|skip| &skip.reason);
    if let Some(said) = results.errors.first().or_else(skipped) {
        return Err(said.clone());
    }
    let mut all = results.repetitions.values();
    let wanted = all.find(|one| one.number == repetition);
    let time = wanted.and_then(|one| one.nanoseconds);
    time.ok_or_else(|| "a process printed no time of it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn took(nanoseconds: u64) -> Results {
        let mut results = Results::default();
        for (number, time) in [(1, 1), (2, nanoseconds), (3, 9)] {
            let one = crate::Repetition {
                workload: crate::Workload::default(),
                operations: 1,
                number,
                nanoseconds: Some(time),
                tallies: Default::default(),
            };
            results.repetitions.insert(u64::from(number), one);
        }
        results
    }

    #[test]
    fn the_repetition_that_is_asked_for_counts_in_each_process() {
        assert_eq!(together(&[took(10), took(21)], 2), Ok(15));
        assert_eq!(together(&[took(u64::MAX), took(u64::MAX)], 2), Ok(u64::MAX));
    }

    #[test]
    fn a_process_without_a_time_says_why() {
        let silent = "a process printed no time of it".to_owned();
        assert_eq!(together(&[took(10), took(11)], 7), Err(silent));
        let mut failed = took(10);
        failed.errors.push("it did not work".to_owned());
        assert_eq!(
            together(&[took(10), failed], 2),
            Err("it did not work".to_owned())
        );
        assert_eq!(together(&[], 2), Err("no process ran".to_owned()));
    }
}
