//! One counted repetition of a benchmark.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What was executed, in instructions and passages of the gate. All exact
/// counts of one phase, not divided by the number of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Instructions executed.
    pub instructions: u64,
    /// Windows opened (`stac` on x86-64).
    pub opens: u64,
    /// Windows closed (`clac` on x86-64).
    pub closes: u64,
    /// Speculation fences (`lfence` on x86-64).
    pub fences: u64,
}

/// A benchmark and the parameters it ran with: what two samples must share to
/// be compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Workload {
    /// The benchmark's name in the guest, `epoll_wait`.
    pub benchmark: String,
    /// Its parameters in the order of the plan, `[("events", 64)]`.
    pub parameters: Vec<(String, i64)>,
}

/// One repetition of one workload, counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// What ran.
    pub workload: Workload,
    /// The repetition; 0 is the warm-up.
    pub repetition: u32,
    /// Operations (calls) in this repetition.
    pub operations: u64,
    /// Instructions executed in user space.
    pub user: u64,
    /// Everything executed in the kernel.
    pub kernel: Counts,
    /// The kernel's share by function; what no symbol covers is under
    /// `[unknown]`. Sums to `kernel`.
    pub functions: BTreeMap<String, Counts>,
}
