//! The floor: how far two runs that did not take turns may lie apart and be alike.

use std::fmt;
use std::str::FromStr;
use tollgate_defect::answer;

use serde::Serialize;

/// The part of a workload's earlier time, in percent, that a difference has to
/// pass before it counts. An interval holds what the repetitions of one run
/// disagree about; what drifts from one boot to the next, it does not.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Floor(f64);

/// What is no floor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no floor: give percent of the earlier time as a number from 0 to 100, such as 2.5")]
pub struct FloorError(String);

impl Floor {
    /// The one where none is given; docs/run.md ("The floor") has the figures that
    /// it was chosen by.
    pub const STANDARD: Self = Self(5.0);
    /// The interval alone decides.
    pub const NONE: Self = Self(0.0);

    /// In percent, 0 to 100.
    #[must_use]
    pub fn percent(self) -> f64 {
        self.0
    }

    /// In the unit of `time`, a median of the earlier run.
    pub(super) fn of(self, time: f64) -> f64 {
        time * self.0 / 100.0
    }
}

impl FromStr for Floor {
    type Err = FloorError;

    fn from_str(text: &str) -> Result<Self, FloorError> {
        let percent = answer::number(text);
        let fits = percent.filter(|percent| (0.0..=100.0).contains(percent));
        fits.map(Self).ok_or_else(|| FloorError(text.to_owned()))
    }
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
