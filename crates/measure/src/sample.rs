//! One counted repetition of a benchmark.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::quantity::Counts;

/// The function of instructions that no symbol covers.
pub const UNKNOWN_FUNCTION: &str = "[unknown]";

/// A benchmark and the parameters it ran with: what two samples must share to
/// be compared. Displayed as in the plan, `epoll_wait events=64`, with the guest
/// behind it where it is not the standard one: `sync_ptr (ia32)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Workload {
    /// The benchmark's name in the guest, `epoll_wait`.
    pub benchmark: String,
    /// Its parameters in the order of the plan, `[("events", 64)]`.
    pub parameters: Vec<(String, i64)>,
    /// The ABI of the guest's program; none is the kernel's own.
    pub abi: Option<String>,
    /// The profile of the CPU; none is the standard one.
    pub cpu: Option<String>,
}

/// ` (ia32, no-smap)`, or nothing of the standard guest.
#[must_use]
pub(crate) fn guest_suffix(abi: Option<&str>, cpu: Option<&str>) -> String {
    let words: Vec<&str> = abi.into_iter().chain(cpu).collect();
    match words.as_slice() {
        [] => String::new(),
        words => format!(" ({})", words.join(", ")),
    }
}

/// One repetition of one workload, counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// What ran.
    pub workload: Workload,
    /// The repetition; 0 is the warm-up.
    pub repetition: u32,
    /// Operations (calls) in this repetition; at least 1.
    pub operations: u64,
    /// Instructions executed in user space.
    pub user: u64,
    /// Everything executed in the kernel.
    pub kernel: Counts,
    /// The kernel's share by function; what no symbol covers is under
    /// [`UNKNOWN_FUNCTION`]. Functions of one name are added up. Sums to
    /// `kernel`.
    pub functions: BTreeMap<String, Counts>,
    /// System calls by name, `ioctl`: how often the function of each was entered.
    pub system_calls: BTreeMap<String, u64>,
    /// What the program counted itself, by name.
    pub tallies: BTreeMap<String, u64>,
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.benchmark)?;
        self.parameters
            .iter()
            .try_for_each(|(name, value)| write!(f, " {name}={value}"))?;
        f.write_str(&guest_suffix(self.abi.as_deref(), self.cpu.as_deref()))
    }
}
