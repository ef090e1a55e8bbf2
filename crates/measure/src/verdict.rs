//! What follows from a comparison.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::comparison::{Comparison, Per, WorkloadComparison};
use crate::quantity::Quantity;

/// What follows from a comparison. Only the kernel's instructions per call
/// decide between the first four, with those of user space where the program is a
/// part of what is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Fewer in at least one workload, more in none.
    Gain,
    /// The same in every workload.
    NoDifference,
    /// More in at least one workload, fewer in none.
    Regression,
    /// More in some, fewer in others.
    Mixed,
    /// A and B do different things with the same input.
    BehaviourDiffers,
    /// A control is not the same in A and B: more differs than the patch.
    ControlMoved,
    /// A is not the same as A: the counts cannot be relied on.
    NotReproducible,
    /// Data that was asked for is not there.
    Incomplete,
}

impl Verdict {
    /// What follows from a comparison, whatever its `verdict` field says.
    ///
    /// What A and B do differently outweighs every count, unless A itself does
    /// it differently each time, or points are only missing and a failure
    /// explains that.
    #[must_use]
    pub fn of(comparison: &Comparison) -> Self {
        let incomplete = comparison.notes.iter().any(|note| note.incomplete());
        let repeat = comparison.repeat.as_ref();
        let differences = &comparison.behaviour.differences;
        let on_both = differences
            .iter()
            .any(|point| point.before.is_some() && point.after.is_some());
        if repeat.is_some_and(|repeat| !repeat.behaviour.differences.is_empty()) {
            Self::NotReproducible
        } else if on_both || (!differences.is_empty() && !incomplete) {
            Self::BehaviourDiffers
        } else if incomplete || comparison.subjects().next().is_none() {
            Self::Incomplete
        } else if repeat.is_some_and(|repeat| !repeat.moved.is_empty()) {
            Self::NotReproducible
        } else if comparison.moved_controls().next().is_some() {
            Self::ControlMoved
        } else {
            Self::of_counts(comparison)
        }
    }

    fn of_counts(comparison: &Comparison) -> Self {
        let moved = |way| comparison.subjects().any(|row| row.moved() == way);
        match (moved(Ordering::Less), moved(Ordering::Greater)) {
            (false, false) => Self::NoDifference,
            (true, false) => Self::Gain,
            (false, true) => Self::Regression,
            (true, true) => Self::Mixed,
        }
    }

    /// The exit code: 0 a gain or no difference, 1 a regression, a mixed result
    /// or another behaviour, 2 could not tell.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Gain | Self::NoDifference => 0,
            Self::Regression | Self::Mixed | Self::BehaviourDiffers => 1,
            Self::ControlMoved | Self::NotReproducible | Self::Incomplete => 2,
        }
    }
}

impl WorkloadComparison {
    /// Whether image B takes more or fewer kernel instructions a call; of a program
    /// that is compared itself, instructions in all. Of its medians, whose ranges
    /// are the kernel's, those decide.
    #[must_use]
    pub fn moved(&self) -> Ordering {
        if self.whole && self.exact() {
            return self.decisive(Per::Call).difference().numerator.cmp(&0);
        }
        self.before.moved_to(&self.after)
    }

    /// Whether anything that is counted in the kernel differs.
    #[must_use]
    pub fn differs(&self) -> bool {
        let of = |quantity| !self.figure(Per::Call, quantity).difference().is_zero();
        self.moved().is_ne() || (self.exact() && Quantity::of_kernel().any(of))
    }
}

impl Comparison {
    /// The workloads that the patch is about: those that are no controls.
    pub fn subjects(&self) -> impl Iterator<Item = &WorkloadComparison> {
        self.workloads.iter().filter(|row| !row.control)
    }

    /// The controls.
    pub fn controls(&self) -> impl Iterator<Item = &WorkloadComparison> {
        self.workloads.iter().filter(|row| row.control)
    }

    /// The controls that are not the same in A and B.
    pub fn moved_controls(&self) -> impl Iterator<Item = &WorkloadComparison> {
        self.controls().filter(|row| row.differs())
    }

    /// The subject that changed most for its size, the first of equals: the one
    /// to show first.
    #[must_use]
    pub fn headline(&self) -> Option<&WorkloadComparison> {
        most_changed(self.subjects())
    }

    /// The subject that changed most in one direction, the first of equals.
    #[must_use]
    pub fn most_moved(&self, way: Ordering) -> Option<&WorkloadComparison> {
        most_changed(self.subjects().filter(|row| row.moved() == way))
    }
}

fn most_changed<'a>(
    rows: impl Iterator<Item = &'a WorkloadComparison>,
) -> Option<&'a WorkloadComparison> {
    let by_change = |row: &&WorkloadComparison| {
        let figure = row.decisive(Per::Call);
        let change = figure.difference().value() / figure.before.value().max(1.0);
        change.abs()
    };
    let mut rows: Vec<_> = rows.collect();
    // Stable: of equals the first of the plan.
    rows.sort_by(|a, b| by_change(b).total_cmp(&by_change(a)));
    rows.first().copied()
}

#[cfg(test)]
mod tests;
