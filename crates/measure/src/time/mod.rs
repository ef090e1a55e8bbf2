//! Time on this machine: repetitions that took turns to medians with intervals.

mod against;
mod boots;
mod bootstrap;
mod floor;
mod host;
mod pace;
mod together;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::results::{Repetition, Skip};
use crate::sample::Workload;

pub use against::{Against, TimeChange, TimeFinding, Unlike};
pub use boots::{
    Boots, BootsChange, BootsFinding, BootsNote, FALSE_ALARMS, FEW_BOOTS, Missing, Odd, When,
};
use bootstrap::Turns;
pub use bootstrap::{CONFIDENCE_PERCENT, Estimate, RESAMPLES, SEED};
pub use floor::{Floor, FloorError};
pub use host::{Fact, Host, MachineText};
pub use pace::{Pace, PaceText};
pub use together::together;

/// A workload and how long its repetitions took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// What ran.
    pub workload: Workload,
    /// What an operation is: `signal`, or `call`.
    pub per: String,
    /// The workload of which its own cost is the difference, if it is one.
    pub less: Option<Workload>,
    /// Operations in a repetition; at least 1.
    pub operations: u64,
    /// How long each repetition took, the warm-ups left out, in nanoseconds, in
    /// the order of the rounds.
    pub nanoseconds: Vec<u64>,
}

impl Timing {
    /// The repetitions in nanoseconds an operation.
    #[must_use]
    pub fn per_operation(&self) -> Vec<f64> {
        let operations = self.operations.max(1) as f64;
        let times = self.nanoseconds.iter();
        times.map(|time| *time as f64 / operations).collect()
    }

    /// The median in nanoseconds an operation; none without repetitions.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        bootstrap::of_turns(&Turns::new(self.per_operation(), None))
    }

    /// The fastest and the slowest repetition in nanoseconds an operation.
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64)> {
        let times = self.per_operation();
        let least = times.iter().copied().min_by(f64::total_cmp)?;
        let most = times.iter().copied().max_by(f64::total_cmp)?;
        Some((least, most))
    }
}

/// One workload less another that does all but the thing itself: a caught signal
/// less the call that sends none, as lat_sig defines it.
#[derive(Clone, Copy, Debug)]
pub struct NetTime<'a> {
    /// What is subtracted from.
    pub row: &'a Timing,
    /// What is subtracted.
    pub less: &'a Timing,
    /// The difference of the medians, in nanoseconds an operation. Both took
    /// turns.
    pub estimate: Estimate,
}

/// The repetitions of one process, of a program that is not ours: of each of its
/// workloads the one in the middle, as repetition 1. What one process repeats is
/// not independent; what many processes do is.
#[must_use]
pub fn middle_of_each(repetitions: Vec<Repetition>) -> Vec<Repetition> {
    let mut by_workload: BTreeMap<Workload, Vec<Repetition>> = BTreeMap::new();
    for repetition in repetitions.into_iter().filter(|one| one.number > 0) {
        let workload = repetition.workload.clone();
        by_workload.entry(workload).or_default().push(repetition);
    }
    let middle = |mut all: Vec<Repetition>| {
        all.sort_by_key(|one| one.nanoseconds);
        let half = all.len().saturating_sub(1) / 2;
        let one = all.into_iter().nth(half)?;
        Some(Repetition { number: 1, ..one })
    };
    by_workload.into_values().filter_map(middle).collect()
}

/// How the repetitions were made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rounds {
    /// Repetitions of each workload after the warm-up.
    pub repetitions: u32,
    /// Repetitions before each of these, in its process, that do not count; runs of
    /// earlier versions had one.
    #[serde(default = "one")]
    pub warmups: u32,
    /// What a repetition should take at least, in microseconds, where the number
    /// of operations was chosen; none where the user gave it.
    pub chosen_for_microseconds: Option<u64>,
}

/// Of runs that do not say how many.
fn one() -> u32 {
    1
}

impl Rounds {
    /// The fewest repetitions that a run makes: an interval of less says little.
    pub const FEWEST: u32 = 10;
    /// The most: the bootstrap of a million was not done after 7 minutes.
    pub const MOST: u32 = 10_000;
    /// What a repetition takes about where operations are chosen, in
    /// microseconds: 1,000 times what entering the kernel to read a clock takes, and
    /// less than a scheduler's slice, so that few repetitions hold other work.
    pub const LEAST_MICROSECONDS: u64 = 2000;

    /// The smallest of 1, 2, 5, 10, 20, ... with which a repetition takes long
    /// enough, when `operations` took `nanoseconds`; at most so many.
    #[must_use]
    pub fn operations(operations: u64, nanoseconds: u64, most: u64) -> u64 {
        let wanted = u128::from(Self::LEAST_MICROSECONDS) * 1000 * u128::from(operations)
            / u128::from(nanoseconds.max(1));
        let steps = (0..9).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
        let mut steps = steps.filter(|step| u128::from(*step) >= wanted);
        steps.next().map_or(most, |step| step.min(most))
    }

    /// The order of a round: each is first in turn, for the scheduler favours what
    /// comes first after a sleep.
    pub fn take_turns<T>(all: &mut [T], round: usize) {
        let first = round % all.len().max(1);
        all.rotate_left(first);
    }
}

/// The result of one `tollgate run`.
#[derive(Clone, Debug, PartialEq)]
pub struct Timings {
    /// What it was measured on.
    pub host: Host,
    /// How.
    pub rounds: Rounds,
    /// What was measured, in the order of a round.
    pub timings: Vec<Timing>,
    /// What could not be run here.
    pub not_run: Vec<Skip>,
}

impl Timings {
    /// Every workload that names another to be subtracted, where both were
    /// measured.
    pub fn nets(&self) -> impl Iterator<Item = NetTime<'_>> {
        self.timings.iter().filter_map(|row| {
            let wanted = row.less.as_ref()?;
            let mut all = self.timings.iter();
            let less = all.find(|one| one.workload == *wanted)?;
            let turns = Turns::new(row.per_operation(), Some(less.per_operation()));
            let estimate = bootstrap::of_turns(&turns)?;
            Some(NetTime {
                row,
                less,
                estimate,
            })
        })
    }

    /// Adds what one guest printed in one round: the warm-ups are passed over.
    /// Gives back the repetitions that are of none of the workloads, or have no
    /// time.
    pub fn add(&mut self, repetitions: impl Iterator<Item = Repetition>) -> Vec<Repetition> {
        let mut odd = Vec::new();
        for repetition in repetitions.filter(|repetition| repetition.number > 0) {
            let mut all = self.timings.iter_mut();
            let found = all.find(|timing| timing.workload == repetition.workload);
            match (found, repetition.nanoseconds) {
                (Some(timing), Some(time)) if timing.operations == repetition.operations => {
                    timing.nanoseconds.push(time);
                }
                _ => odd.push(repetition),
            }
        }
        odd
    }

    /// Adds the repetitions of another round of the same workloads; those of a
    /// workload that is not among these are left out.
    pub fn merge(&mut self, round: Self) {
        for new in round.timings {
            let mut all = self.timings.iter_mut();
            if let Some(timing) = all.find(|timing| timing.workload == new.workload) {
                timing.nanoseconds.extend(new.nanoseconds);
            }
        }
    }

    /// Takes out the workloads that have not as many repetitions as there were
    /// rounds, and names them among those that were not run.
    pub fn drop_incomplete(&mut self) {
        let wanted = self.rounds.repetitions as usize;
        let (whole, cut): (Vec<_>, Vec<_>) = std::mem::take(&mut self.timings)
            .into_iter()
            .partition(|timing| timing.nanoseconds.len() == wanted);
        self.timings = whole;
        let known = |job: &String| self.not_run.iter().any(|skip| skip.job == *job);
        let cut = cut.iter().map(|timing| Skip {
            job: timing.workload.to_string(),
            reason: format!(
                "{} of {wanted} repetitions were measured",
                timing.nanoseconds.len()
            ),
        });
        let cut: Vec<Skip> = cut.filter(|skip| !known(&skip.job)).collect();
        self.not_run.extend(cut);
    }
}

#[cfg(test)]
mod tests;
