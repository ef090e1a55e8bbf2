//! The machine that tollgate itself runs on, as its kernel describes it.

use std::fmt;
use std::fs;
use std::ops::RangeInclusive;
use tollgate_arch::{Architectures, Order, Target, Wrong};
use tollgate_defect::answer;

use tollgate_measure::{Host, MachineText, Pace, PaceText};

/// The number of the first CPU.
const FIRST: usize = 0;

/// Reads what the kernel says of this machine and of the CPU that benchmarks are
/// pinned to. A file that cannot be read is said to be missing in the result.
#[must_use]
pub fn read(pinned: Option<usize>) -> Host {
    // Programs that are pinned to none run on any: the first, which x86 cannot take
    // offline, stands for them all.
    let cpu = pinned.unwrap_or(FIRST);
    let governor = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
    let mut host = Host::read(MachineText {
        cpuinfo: &text("/proc/cpuinfo"),
        release: &text("/proc/sys/kernel/osrelease"),
        boot: &text("/proc/sys/kernel/random/boot_id"),
        governor: &text(&governor),
    });
    host.pace = pace(cpu);
    host.pinned = pinned;
    host.arch = std::env::consts::ARCH.to_owned();
    host
}

/// What the speed of a CPU depends on.
fn pace(cpu: usize) -> Pace {
    let read = |file: &str| line(&format!("/sys/devices/system/cpu/{file}"));
    let own = |file: &str| read(&format!("cpu{cpu}/{file}"));
    Pace::read(&PaceText {
        driver: own("cpufreq/scaling_driver"),
        least: own("cpufreq/scaling_min_freq"),
        most: own("cpufreq/scaling_max_freq"),
        no_turbo: read("intel_pstate/no_turbo"),
        boost: read("cpufreq/boost"),
        smt: read("smt/control"),
        siblings: own("topology/thread_siblings_list"),
        isolated: read("isolated"),
        tickless: read("nohz_full"),
    })
}

/// A file of sysfs; none where it is not there or cannot be read.
#[expect(
    clippy::disallowed_methods,
    reason = "what the kernel does not say is said to be missing in the result"
)]
fn line(path: &str) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// `/proc/loadavg` as it is now; empty where it cannot be read.
#[must_use]
pub fn loadavg() -> String {
    text("/proc/loadavg")
}

/// The CPUs that this process may run on; none where the kernel does not say.
#[must_use]
pub fn allowed_cpus() -> Option<Cpus> {
    Cpus::of_status(&text("/proc/self/status"))
}

/// A set of CPUs, as the kernel lists it: `0-3,8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus(Vec<RangeInclusive<usize>>);

impl Cpus {
    /// Of a line `Cpus_allowed_list: 0-3,8` (proc(5)).
    fn of_status(status: &str) -> Option<Self> {
        let mut lines = status.lines();
        let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        let part = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(answer::number(first)?..=answer::number(last)?)
        };
        let parts: Option<Vec<_>> = list.trim().split(',').map(part).collect();
        parts.map(Self)
    }

    /// All of them, in order.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.0.iter().cloned().flatten()
    }

    /// Whether that one is among them.
    #[must_use]
    pub fn has(&self, cpu: usize) -> bool {
        self.0.iter().any(|part| part.contains(&cpu))
    }

    /// The one with the highest number: the lowest ones get most interrupts.
    #[must_use]
    pub fn last(&self) -> Option<usize> {
        self.0.last().map(|part| *part.end())
    }
}

/// `CPU 0`, `CPUs 0-3,8`.
impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |part: &RangeInclusive<usize>| match (part.start(), part.end()) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}-{last}"),
        };
        let parts: Vec<String> = self.0.iter().map(part).collect();
        match self.0.as_slice() {
            [one] if one.start() == one.end() => write!(f, "CPU {}", one.start()),
            _ => write!(f, "CPUs {}", parts.join(",")),
        }
    }
}

/// The target of `data/architectures.toml` that this machine is; none where the
/// table knows none.
///
/// # Errors
/// When the table cannot be read.
pub fn target() -> Result<Option<&'static Target>, Wrong> {
    let order = Order::of(cfg!(target_endian = "little"));
    Ok(Architectures::built_in()?.called(std::env::consts::ARCH, order))
}

/// Its name in `data/machine`, where a guest can be compiled for it, or else as
/// Rust calls it.
///
/// # Errors
/// When the table of architectures cannot be read.
pub fn architecture() -> Result<&'static str, Wrong> {
    Ok(target()?.map_or(std::env::consts::ARCH, |target| &target.name))
}

#[expect(
    clippy::disallowed_methods,
    reason = "what the kernel does not say is said to be missing in the result"
)]
fn text(path: &str) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpus_that_are_allowed() {
        let list = |list: &str| Cpus::of_status(&format!("Pid:\t1\nCpus_allowed_list:\t{list}\n"));
        let some = list("0-3,8-11").unwrap();
        assert_eq!(some.last(), Some(11));
        assert!(some.has(0) && some.has(9) && !some.has(4) && !some.has(12));
        assert_eq!(some.to_string(), "CPUs 0-3,8-11");
        assert_eq!(list("7").unwrap().to_string(), "CPU 7");
        assert_eq!(list("0-1,4").unwrap().to_string(), "CPUs 0-1,4");
        assert_eq!(list(""), None);
        assert_eq!(Cpus::of_status("Pid:\t1\n"), None);
    }
}
