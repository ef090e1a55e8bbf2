//! How many bytes of registers a guest's kernel keeps for each task, as the
//! sweep `fpu_context` found them with CPUID.

use std::collections::BTreeMap;
use tollgate_defect::answer;

use serde::{Deserialize, Serialize};

use crate::results::Point;
use crate::sample::{Workload, guest_suffix};

/// The sweep of the guest that asks CPUID (`guest/sweep_fpu_context.c`).
const SWEEP: &str = "fpu_context";
/// Its point that is the whole; the others are the components.
const WHOLE: &str = "bytes";

/// The context of the CPU of one guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// Which guest, in the words of its jobs: `small-context`; empty for the
    /// standard one.
    pub guest: String,
    /// What XSAVE writes at most for all that the kernel has enabled, in bytes.
    pub bytes: u64,
    /// The components that CPUID was asked for, in bytes; 0 where the CPU model
    /// has none.
    pub components: BTreeMap<String, u64>,
}

impl Context {
    /// The contexts of all guests that ran the sweep, in the order in which they
    /// ran.
    #[must_use]
    pub(crate) fn all(points: &[Point]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for point in points {
            let Some(suffix) = point.sweep.strip_prefix(SWEEP) else {
                continue;
            };
            let guest = suffix.trim_matches([' ', '(', ')']);
            // A call that failed told no size.
            let Some(size) = answer::fits::<u64, _>(point.outcome.ret) else {
                continue;
            };
            match all.iter_mut().find(|one| one.guest == guest) {
                Some(one) => one.put(&point.name, size),
                None => {
                    let mut one = Self {
                        guest: guest.to_owned(),
                        bytes: 0,
                        components: BTreeMap::new(),
                    };
                    one.put(&point.name, size);
                    all.push(one);
                }
            }
        }
        all.retain(|one| one.bytes > 0);
        all
    }

    fn put(&mut self, name: &str, size: u64) {
        match name {
            WHOLE => self.bytes = size,
            _ => {
                self.components.insert(name.to_owned(), size);
            }
        }
    }

    /// That of a workload's CPU, in bytes; what a program of another ABI was
    /// told of the same CPU will do.
    #[must_use]
    pub(crate) fn of(all: &[Self], workload: &Workload) -> Option<u64> {
        let same_cpu = |one: &&Self| {
            let cpu = one.guest.rsplit(", ").next().unwrap_or_default();
            workload.cpu.as_deref() == Some(cpu) || workload.cpu.is_none() && one.guest.is_empty()
        };
        let suffix = guest_suffix(workload.abi.as_deref(), workload.cpu.as_deref());
        let own = suffix.trim_matches([' ', '(', ')']);
        let exact = all.iter().find(|one| one.guest == own);
        exact
            .or_else(|| all.iter().find(same_cpu))
            .map(|one| one.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Outcome;

    fn point(sweep: &str, name: &str, ret: i64) -> Point {
        Point {
            sweep: sweep.into(),
            name: name.into(),
            outcome: Outcome {
                ret,
                errno: 0,
                bytes: String::new(),
            },
        }
    }

    fn workload(abi: Option<&str>, cpu: Option<&str>) -> Workload {
        Workload {
            benchmark: "signal_catch".into(),
            abi: abi.map(str::to_owned),
            cpu: cpu.map(str::to_owned),
            ..Workload::default()
        }
    }

    #[test]
    fn a_workload_has_the_context_of_its_cpu() {
        let points = [
            point("fpu_state", "process-0/call", 0),
            point("fpu_context", "bytes", 2696),
            point("fpu_context", "avx", 256),
            point("fpu_context", "zmm-upper", 0),
            point("fpu_context (small-context)", "bytes", 832),
            point("fpu_context (ia32, odd)", "bytes", -1),
        ];
        let all = Context::all(&points);
        assert_eq!(all.len(), 2, "{all:?}");
        assert_eq!(
            all.first().map(|one| one.components.clone()),
            Some([("avx".into(), 256), ("zmm-upper".into(), 0)].into())
        );
        let of = |abi, cpu| Context::of(&all, &workload(abi, cpu));
        assert_eq!(of(None, None), Some(2696));
        assert_eq!(of(Some("ia32"), None), Some(2696));
        assert_eq!(of(None, Some("small-context")), Some(832));
        assert_eq!(of(Some("ia32"), Some("small-context")), Some(832));
        assert_eq!(of(None, Some("no-erms")), None);
        assert_eq!(of(Some("ia32"), Some("odd")), None);
    }
}
