//! Which of several repetitions is the count.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::quantity::{Counts, Quantity};
use crate::sample::Sample;

/// What FXSAVE writes, in bytes (Intel SDM vol. 1, 10.5.1).
const LEGACY_BYTES: u64 = 512;

/// The count of a workload on one image: that of one representative
/// repetition, with how far the repetitions agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Measured {
    /// Operations (calls) of the repetition.
    pub operations: u64,
    /// Instructions in user space, of all operations.
    pub user: u64,
    /// Everything in the kernel, of all operations.
    pub kernel: Counts,
    /// The kernel's share by function.
    pub functions: BTreeMap<String, Counts>,
    /// System calls by name, of all operations.
    pub system_calls: BTreeMap<String, u64>,
    /// What the program counted itself, of all operations.
    pub tallies: BTreeMap<String, u64>,
    /// How far the repetitions agree.
    pub repetitions: Repetitions,
}

/// How far the repetitions of a workload agree; the warm-up is not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetitions {
    /// How many there were.
    pub total: usize,
    /// How many gave exactly the count that was taken: user and kernel, and
    /// every function.
    pub identical: usize,
    /// The fewest kernel instructions of any.
    pub fewest: u64,
    /// The most kernel instructions of any.
    pub most: u64,
}

impl Repetitions {
    /// Whether the count is exact: at least half of the repetitions gave it,
    /// and more than one where there are several. Otherwise it is a median.
    #[must_use]
    pub fn exact(self) -> bool {
        let confirmed = self.identical > 1 || self.total == 1;
        confirmed && self.identical * 2 >= self.total
    }
}

impl Measured {
    /// How much of `quantity` all operations took.
    #[must_use]
    pub fn count(&self, quantity: Quantity) -> u64 {
        match quantity {
            Quantity::User => self.user,
            of_kernel => self.kernel.get(of_kernel),
        }
    }

    /// Bytes of registers that all operations moved at most where a context has
    /// `size` bytes; an FXSAVE or FXRSTOR moves 512.
    #[must_use]
    pub fn context_moved(&self, size: u64) -> u64 {
        let moved = |one, other, bytes| {
            let times = self.kernel.get(one).saturating_add(self.kernel.get(other));
            times.saturating_mul(bytes)
        };
        let whole = moved(Quantity::Xsave, Quantity::Xrstor, size);
        whole.saturating_add(moved(Quantity::Fxsave, Quantity::Fxrstor, LEGACY_BYTES))
    }

    /// The count of repetitions of one workload, of which those numbered 0
    /// (the warm-up) are dropped; none when no other is left.
    ///
    /// It is the one that most repetitions share to the instruction (of two
    /// that are equally common the smaller one, for an interrupt only adds). If
    /// fewer than half share it, each count is the median of its own, and the
    /// share by function that of the repetition of median kernel instructions.
    #[must_use]
    pub fn of<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Option<Self> {
        let mut samples: Vec<_> = samples.into_iter().filter(|s| s.repetition > 0).collect();
        samples.sort_by_key(|sample| (sample.kernel.instructions(), sample.user));
        let alike = |one: &Sample| samples.iter().filter(|other| same(one, other)).count();
        // The first of the most common ones: `max_by_key` would take the last.
        let common = samples.iter().rev().max_by_key(|sample| alike(sample))?;
        let mut repetitions = Repetitions {
            total: samples.len(),
            identical: alike(common),
            fewest: samples.first()?.kernel.instructions(),
            most: samples.last()?.kernel.instructions(),
        };
        let mut taken = *common;
        if !repetitions.exact() {
            taken = samples.get((samples.len() - 1) / 2)?;
            repetitions.identical = alike(taken);
        }
        let exact = repetitions.exact();
        Some(Self {
            operations: taken.operations,
            user: taken.user,
            kernel: if exact {
                taken.kernel
            } else {
                Counts::medians(&samples.iter().map(|one| one.kernel).collect::<Vec<_>>())
            },
            functions: taken.functions.clone(),
            system_calls: taken.system_calls.clone(),
            tallies: taken.tallies.clone(),
            repetitions,
        })
    }

    /// Whether `after` takes more or fewer kernel instructions a call. Two
    /// exact counts differ if they are not equal; of medians only those differ
    /// whose repetitions' ranges do not touch.
    #[must_use]
    pub fn moved_to(&self, after: &Self) -> Ordering {
        if self.repetitions.exact() && after.repetitions.exact() {
            return after.call_against(
                after.kernel.instructions(),
                self,
                self.kernel.instructions(),
            );
        }
        let fewest = after.repetitions.fewest;
        let most = after.repetitions.most;
        if after
            .call_against(fewest, self, self.repetitions.most)
            .is_gt()
        {
            Ordering::Greater
        } else if after
            .call_against(most, self, self.repetitions.fewest)
            .is_lt()
        {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    }

    /// `count` of this one against `other_count` of the other, a call.
    fn call_against(&self, count: u64, other: &Self, other_count: u64) -> Ordering {
        let ours = u128::from(count) * u128::from(other.operations);
        ours.cmp(&(u128::from(other_count) * u128::from(self.operations)))
    }
}

fn same(one: &Sample, other: &Sample) -> bool {
    one.operations == other.operations
        && one.user == other.user
        && one.kernel == other.kernel
        && one.functions == other.functions
        && one.tallies == other.tallies
}

#[cfg(test)]
mod tests;
