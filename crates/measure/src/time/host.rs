//! The machine that times are of, in the words of its kernel.

use serde::{Deserialize, Serialize};
use tollgate_defect::answer;

use super::pace::Pace;
use crate::context::Context;
use crate::results::Point;

/// The CPU flags of `/proc/cpuinfo` that decide what a crossing costs: how
/// registers are saved, how bytes are copied, whether there is a gate
/// (arch/x86/include/asm/cpufeatures.h has what each is).
const FEATURES: &[&str] = &[
    "smap", "pti", "erms", "fsrm", "xsave", "xsaveopt", "xsavec", "xsaves", "avx", "avx512f",
    "amx_tile", "pku", "ospke",
];

/// What was measured on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The CPU, as `/proc/cpuinfo` names it: model, vendor, family, stepping.
    pub cpu: String,
    /// Its flags that decide what a crossing costs.
    pub features: Vec<String>,
    /// Whether the CPU flag `hypervisor` is set: a virtual machine. None where
    /// `/proc/cpuinfo` has no flags.
    pub virtual_machine: Option<bool>,
    /// The number of CPUs that are online.
    pub cpus: usize,
    /// The CPU that everything was pinned to; none where it was left to the
    /// scheduler.
    pub pinned: Option<usize>,
    /// The frequency governor of that CPU; none where it cannot be read.
    pub governor: Option<String>,
    /// What else its speed depends on; runs of earlier versions do not say.
    #[serde(default)]
    pub pace: Pace,
    /// The kernel's release, `6.12.117`.
    pub kernel: String,
    /// What tells two boots apart, the kernel's `boot_id`; none where it cannot
    /// be read.
    pub boot: Option<String>,
    /// The architecture, as Rust names it.
    pub arch: String,
    /// Processes that ran or wanted to, on average of the last minute, before
    /// the measurement and after it (`/proc/loadavg`).
    pub load: [Option<f64>; 2],
    /// The context of the FPU, as CPUID tells it to each of the guest's programs.
    pub contexts: Vec<Context>,
    /// The compiler of the benchmarks, as it names itself.
    pub compiler: String,
    /// The version of tollgate.
    pub tollgate: String,
}

/// What the kernel says of the machine, as it was read; empty where a file
/// cannot be.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineText<'a> {
    /// `/proc/cpuinfo`.
    pub cpuinfo: &'a str,
    /// `/proc/sys/kernel/osrelease`.
    pub release: &'a str,
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot: &'a str,
    /// `/sys/devices/system/cpu/cpuN/cpufreq/scaling_governor`.
    pub governor: &'a str,
}

impl Host {
    /// Reads what the kernel says.
    #[must_use]
    pub fn read(text: MachineText<'_>) -> Self {
        let some = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let flags = field(text.cpuinfo, "flags");
        let has = |flag: &&&str| flags.is_some_and(|all| all.split(' ').any(|one| one == **flag));
        Self {
            cpu: cpu(text.cpuinfo),
            features: FEATURES
                .iter()
                .filter(has)
                .map(|f| (*f).to_owned())
                .collect(),
            virtual_machine: flags.map(|_| has(&&"hypervisor")),
            cpus: text
                .cpuinfo
                .lines()
                .filter(|line| key(line) == Some("processor"))
                .count(),
            governor: some(text.governor),
            kernel: some(text.release).unwrap_or_default(),
            boot: some(text.boot),
            ..Self::default()
        }
    }

    /// Notes the load before the measurement or after it: the first number of
    /// `/proc/loadavg`.
    pub fn set_load(&mut self, before: bool, loadavg: &str) {
        let [first, last] = &mut self.load;
        *(if before { first } else { last }) = load(loadavg);
    }

    /// Whether other work wanted the CPUs before the measurement, which itself
    /// keeps one busy.
    #[must_use]
    pub fn busy(&self) -> bool {
        let [before, _] = self.load;
        before.is_some_and(|load| load + 1.0 > self.cpus as f64)
    }

    /// Takes the sizes of the FPU's context from the points of the sweep
    /// `fpu_context`.
    pub fn set_contexts(&mut self, points: &[Point]) {
        self.contexts = Context::all(points);
    }
}

/// The first number of `/proc/loadavg`: the average of the last minute.
fn load(text: &str) -> Option<f64> {
    let first = text.split(' ').next()?;
    answer::number::<f64>(first).filter(|load| load.is_finite() && *load >= 0.0)
}

/// The CPU's own name, and what else tells models of one name apart. What is
/// missing is left out: arm64 has numbers alone, ppc64 a line `cpu`.
fn cpu(cpuinfo: &str) -> String {
    let name = ["model name", "cpu", "CPU part"]
        .iter()
        .find_map(|key| field(cpuinfo, key));
    let more = [
        ("vendor_id", ""),
        ("CPU implementer", "implementer "),
        ("cpu family", "family "),
        ("model", "model "),
        ("stepping", "stepping "),
        ("microcode", "microcode "),
    ];
    let more = more
        .iter()
        .filter_map(|(key, word)| Some(format!("{word}{}", field(cpuinfo, key)?)));
    let more: Vec<String> = more.collect();
    let name = name.unwrap_or("a CPU that /proc/cpuinfo does not name");
    match more.as_slice() {
        [] => name.to_owned(),
        more => format!("{name} ({})", more.join(", ")),
    }
}

/// A fact that should be the same wherever two kernels are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// The processor.
    Cpu,
    /// Those of its flags that decide what a crossing costs.
    Flags,
    /// How many.
    Cpus,
    /// The one that everything stayed on; `any` where none.
    Pinned,
    /// The frequency governor.
    Governor,
    /// The range of frequencies that it may choose from.
    Frequency,
    /// Whether a boost is allowed.
    Turbo,
    /// Simultaneous multithreading.
    Smt,
    /// The CPUs that the scheduler leaves alone.
    Isolated,
    /// Bytes of the FPU's context.
    Context,
    /// The architecture.
    Arch,
    /// The compiler of the benchmarks.
    Compiler,
    /// The version of tollgate.
    Tollgate,
}

/// What of a CPU's pace should be the same in two runs, in words; `unknown` where the
/// kernel did not say.
pub(super) fn paces(host: &Host) -> [(Fact, String); 4] {
    let unknown = || "unknown".to_owned();
    let pace = &host.pace;
    let frequency = pace
        .khz
        .map(|[least, most]| format!("{least} to {most} kHz"));
    let turbo = pace
        .turbo
        .map(|on| if on { "on" } else { "off" }.to_owned());
    let isolated = pace.isolated.clone().map(|list| match list.is_empty() {
        true => "none".to_owned(),
        false => list,
    });
    [
        (Fact::Frequency, frequency.unwrap_or_else(unknown)),
        (Fact::Turbo, turbo.unwrap_or_else(unknown)),
        (Fact::Smt, pace.smt.clone().unwrap_or_else(unknown)),
        (Fact::Isolated, isolated.unwrap_or_else(unknown)),
    ]
}

/// The value of the first line with that key.
fn field<'a>(cpuinfo: &'a str, wanted: &str) -> Option<&'a str> {
    let line = cpuinfo.lines().find(|line| key(line) == Some(wanted))?;
    let (_, value) = line.split_once(':')?;
    Some(value.trim()).filter(|value| !value.is_empty())
}

fn key(line: &str) -> Option<&str> {
    Some(line.split_once(':')?.0.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n\
        model name\t: AMD EPYC\nstepping\t: 1\nmicrocode\t: 0x1000065\n\
        flags\t\t: fpu xsave avx hypervisor erms smap xsaves\n\nprocessor\t: 1\n\
        model name\t: AMD EPYC\n";

    fn read(cpuinfo: &str) -> Host {
        Host::read(MachineText {
            cpuinfo,
            release: "6.12.117\n",
            ..MachineText::default()
        })
    }

    #[test]
    fn a_machine_is_what_its_kernel_says() {
        let host = read(X86);
        assert_eq!(
            host.cpu,
            "AMD EPYC (AuthenticAMD, family 25, model 1, stepping 1, microcode 0x1000065)"
        );
        assert_eq!(host.features, ["smap", "erms", "xsave", "xsaves", "avx"]);
        assert_eq!((host.virtual_machine, host.cpus), (Some(true), 2));
        assert_eq!((host.kernel.as_str(), host.governor), ("6.12.117", None));
        let bare = read(&X86.replace(" hypervisor", ""));
        assert_eq!(bare.virtual_machine, Some(false));
    }

    #[test]
    fn what_it_does_not_say_is_not_made_up() {
        let host = read("");
        assert_eq!(host.cpu, "a CPU that /proc/cpuinfo does not name");
        assert_eq!((host.virtual_machine, host.cpus), (None, 0));
        let arm =
            read("processor\t: 0\nFeatures\t: fp\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
        assert_eq!(arm.cpu, "0xd0c (implementer 0x41)");
        let odd = read("::::\n\u{0}\n:\nmodel name\t:\n");
        assert_eq!(odd.cpus, 0);
        assert_eq!(load("0.52 0.58 0.59 1/389 12345\n"), Some(0.52));
        assert_eq!(load("NaN 1"), None);
        assert_eq!(load(""), None);
    }
}
