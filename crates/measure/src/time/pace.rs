//! What the speed of a CPU depends on, beside its governor, in the words of the kernel.

use serde::{Deserialize, Serialize};
use tollgate_defect::answer;

/// What moves a time from one run to the next on the same machine: whether the
/// frequency may change, whether a boost is allowed, who shares the core, and which
/// CPUs the scheduler leaves alone. None where the kernel does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// The driver of the frequency.
    pub driver: Option<String>,
    /// The lowest and the highest frequency that the governor may choose, in kHz; the
    /// same where it is fixed.
    pub khz: Option<[u64; 2]>,
    /// Whether the CPU may go above its nominal frequency.
    pub turbo: Option<bool>,
    /// Simultaneous multithreading, as the kernel has it: `on`, `off`, `notsupported`.
    pub smt: Option<String>,
    /// The CPUs of the same core, this one among them, as the kernel lists them.
    pub siblings: Option<String>,
    /// The CPUs that the scheduler leaves alone; an empty list where it leaves none.
    pub isolated: Option<String>,
    /// The CPUs whose tick stops while one task runs, likewise.
    pub tickless: Option<String>,
}

/// What the kernel says of a CPU's pace, as it was read from sysfs; none where a file
/// cannot be read.
#[derive(Clone, Debug, Default)]
pub struct PaceText {
    /// `cpu/cpuN/cpufreq/scaling_driver`.
    pub driver: Option<String>,
    /// `cpu/cpuN/cpufreq/scaling_min_freq`.
    pub least: Option<String>,
    /// `cpu/cpuN/cpufreq/scaling_max_freq`.
    pub most: Option<String>,
    /// `cpu/intel_pstate/no_turbo`: 1 forbids it.
    pub no_turbo: Option<String>,
    /// `cpu/cpufreq/boost`: 1 allows it.
    pub boost: Option<String>,
    /// `cpu/smt/control`.
    pub smt: Option<String>,
    /// `cpu/cpuN/topology/thread_siblings_list`.
    pub siblings: Option<String>,
    /// `cpu/isolated`.
    pub isolated: Option<String>,
    /// `cpu/nohz_full`, which says `(null)` where there is none.
    pub tickless: Option<String>,
}

impl Pace {
    /// Reads what the kernel says (Documentation/admin-guide/pm/cpufreq.rst,
    /// intel_pstate.rst, Documentation/ABI/testing/sysfs-devices-system-cpu).
    #[must_use]
    pub fn read(text: &PaceText) -> Self {
        let khz = |text: &Option<String>| answer::number::<u64>(text.as_deref()?.trim());
        let forbidden = flag(text.no_turbo.as_deref());
        Self {
            driver: word(text.driver.as_deref()),
            khz: khz(&text.least).zip(khz(&text.most)).map(<[u64; 2]>::from),
            turbo: forbidden
                .map(|forbidden| !forbidden)
                .or_else(|| flag(text.boost.as_deref())),
            smt: word(text.smt.as_deref()),
            siblings: word(text.siblings.as_deref()),
            isolated: list(text.isolated.as_deref()),
            tickless: list(text.tickless.as_deref()),
        }
    }

    /// Whether the frequency cannot change; none where it is not known.
    #[must_use]
    pub fn is_fixed(&self) -> Option<bool> {
        self.khz.map(|[least, most]| least == most)
    }
}

fn word(text: Option<&str>) -> Option<String> {
    let text = text?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn flag(text: Option<&str>) -> Option<bool> {
    match text?.trim() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// A list of CPUs: empty, or `(null)`, where there are none.
fn list(text: Option<&str>) -> Option<String> {
    let text = text?.trim();
    Some(match text {
        "(null)" => String::new(),
        some => some.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(text: &str) -> Option<String> {
        Some(format!("{text}\n"))
    }

    #[test]
    fn a_machine_that_was_made_quiet() {
        let pace = Pace::read(&PaceText {
            driver: some("intel_pstate"),
            least: some("800000"),
            most: some("800000"),
            no_turbo: some("1"),
            boost: some("1"),
            smt: some("off"),
            siblings: some("3"),
            isolated: some("2-3"),
            tickless: some("(null)"),
        });
        assert_eq!((pace.is_fixed(), pace.turbo), (Some(true), Some(false)));
        assert_eq!(pace.khz, Some([800_000, 800_000]));
        assert_eq!(pace.isolated.as_deref(), Some("2-3"));
        assert_eq!(pace.tickless.as_deref(), Some(""));
    }

    #[test]
    fn what_the_kernel_does_not_say_is_not_known() {
        let pace = Pace::read(&PaceText {
            least: some("800000"),
            most: some("fast"),
            boost: some("perhaps"),
            isolated: some(""),
            ..PaceText::default()
        });
        assert_eq!((pace.khz, pace.turbo, pace.is_fixed()), (None, None, None));
        assert_eq!(pace.isolated.as_deref(), Some(""), "none is isolated");
        assert_eq!(Pace::read(&PaceText::default()), Pace::default());
    }
}
