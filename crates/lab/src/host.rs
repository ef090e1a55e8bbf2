//! The machine that tollgate itself runs on, as its kernel describes it.

use std::fs;

use tollgate_measure::{Host, MachineText};

/// Reads what the kernel says of this machine and of the CPU that benchmarks are
/// pinned to. A file that cannot be read is said to be missing in the result.
#[must_use]
pub fn read(pinned: Option<usize>) -> Host {
    let governor = pinned.unwrap_or_default();
    let governor = format!("/sys/devices/system/cpu/cpu{governor}/cpufreq/scaling_governor");
    let mut host = Host::read(MachineText {
        cpuinfo: &text("/proc/cpuinfo"),
        release: &text("/proc/sys/kernel/osrelease"),
        boot: &text("/proc/sys/kernel/random/boot_id"),
        governor: &text(&governor),
    });
    host.pinned = pinned;
    host.arch = std::env::consts::ARCH.to_owned();
    host
}

/// `/proc/loadavg` as it is now; empty where it cannot be read.
#[must_use]
pub fn loadavg() -> String {
    text("/proc/loadavg")
}

/// The CPU with the highest number of those that this process may run on: the
/// lowest ones get most interrupts. None where the kernel does not say.
#[must_use]
pub fn last_allowed_cpu() -> Option<usize> {
    last_of_list(&text("/proc/self/status"))
}

/// Of a line `Cpus_allowed_list: 0-3,8` (proc(5)).
fn last_of_list(status: &str) -> Option<usize> {
    let mut lines = status.lines();
    let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let last = list.trim().rsplit([',', '-']).next()?;
    last.parse().ok()
}

/// The name of this machine's architecture in `data/machine`, where a guest can
/// be compiled for it.
#[must_use]
pub fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        other => other,
    }
}

fn text(path: &str) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_cpu_that_is_allowed() {
        let list = |list: &str| last_of_list(&format!("Pid:\t1\nCpus_allowed_list:\t{list}\n"));
        assert_eq!(list("0-3,8-11"), Some(11));
        assert_eq!(list("0-1,4"), Some(4));
        assert_eq!(list("7"), Some(7));
        assert_eq!(list(""), None);
        assert_eq!(last_of_list("Pid:\t1\n"), None);
    }
}
