//! Samples to comparisons: exact counts, verdicts, behaviour differences.

mod sample;

pub use sample::{Counts, Sample, Workload};
