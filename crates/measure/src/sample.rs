//! One counted repetition of a benchmark.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// The function of instructions that no symbol covers.
pub const UNKNOWN_FUNCTION: &str = "[unknown]";

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
    /// Writes of a register that opens or closes by its value (`mtspr AMR` on
    /// ppc64le), which are no part of `opens` and `closes`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub writes: u64,
    /// Speculation fences (`lfence` on x86-64).
    pub fences: u64,
    /// What moved the registers of the FPU.
    #[serde(default, skip_serializing_if = "FpuCounts::is_zero")]
    pub fpu: FpuCounts,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The instructions that save and load the registers of the FPU, and those that
/// read and write the protection keys, which travel with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FpuCounts {
    /// XSAVE, XSAVEOPT, XSAVEC, XSAVES.
    pub xsave: u64,
    /// XRSTOR, XRSTORS.
    pub xrstor: u64,
    /// FXSAVE.
    pub fxsave: u64,
    /// FXRSTOR.
    pub fxrstor: u64,
    /// WRPKRU.
    pub wrpkru: u64,
    /// RDPKRU.
    pub rdpkru: u64,
}

impl FpuCounts {
    /// None of them.
    pub const ZERO: Self = Self {
        xsave: 0,
        xrstor: 0,
        fxsave: 0,
        fxrstor: 0,
        wrpkru: 0,
        rdpkru: 0,
    };

    /// Whether none of them was executed.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }
}

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// Stops at the largest number instead of wrapping; the counts of a phase that
/// was read from a file add up to less than 2^63.
impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.opens = self.opens.saturating_add(other.opens);
        self.closes = self.closes.saturating_add(other.closes);
        self.writes = self.writes.saturating_add(other.writes);
        self.fences = self.fences.saturating_add(other.fences);
        self.fpu += other.fpu;
    }
}

impl AddAssign for FpuCounts {
    fn add_assign(&mut self, other: Self) {
        self.xsave = self.xsave.saturating_add(other.xsave);
        self.xrstor = self.xrstor.saturating_add(other.xrstor);
        self.fxsave = self.fxsave.saturating_add(other.fxsave);
        self.fxrstor = self.fxrstor.saturating_add(other.fxrstor);
        self.wrpkru = self.wrpkru.saturating_add(other.wrpkru);
        self.rdpkru = self.rdpkru.saturating_add(other.rdpkru);
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let mut sum = Self::default();
        all.for_each(|counts| sum += counts);
        sum
    }
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
