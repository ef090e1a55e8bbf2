//! Machines: how a guest of an architecture is started.

use serde::Deserialize;

use crate::assets;
use crate::case::Station;

/// Why there is no machine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No file describes it.
    #[error("tollgate has no machine for the architecture {0}")]
    Unknown(String),
    /// The file that describes it is wrong.
    #[error("data/machine/{name}.toml: {reason}")]
    Wrong {
        /// The architecture.
        name: String,
        /// What is wrong, with the line.
        reason: String,
    },
    /// A job asks for what it does not have.
    #[error("data/machine/{machine}.toml has no {what} {name}; it has: {}", .known.join(", "))]
    Lacks {
        /// The machine.
        machine: String,
        /// An ABI or a CPU profile.
        what: &'static str,
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
}

/// A machine that QEMU plays, from `data/machine/ARCH.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Machine {
    /// The architecture, which also names its opcodes in `data/arch`.
    pub name: String,
    /// The program.
    pub qemu: String,
    /// Kbuild's name for the architecture.
    pub kbuild_arch: String,
    /// The lowest address of the kernel, hexadecimal.
    pub kernel_start: String,
    /// Memory in MiB.
    pub memory_mib: u32,
    /// The CPU model.
    pub cpu: String,
    /// The other ABIs whose programs its kernel runs.
    #[serde(rename = "abi", default)]
    pub abis: Vec<Abi>,
    /// The CPU models that a benchmark can ask for by name.
    #[serde(rename = "cpu-profile", default)]
    pub profiles: Vec<CpuProfile>,
    argument: Vec<Argument>,
    append: Vec<Append>,
}

/// An ABI beside the kernel's own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abi {
    /// Its name, `ia32`.
    pub name: String,
    /// What makes the host's compiler build for it.
    pub flags: Vec<String>,
    /// What it is measured for.
    pub reason: String,
}

/// A CPU model by name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuProfile {
    /// Its name in a case.
    pub name: String,
    /// QEMU's `-cpu`.
    pub model: String,
    /// How many of them the machine has; the machine's own number where it does
    /// not say.
    pub cpus: Option<u32>,
    /// What it is measured for.
    pub reason: String,
}

/// What a guest is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equipment {
    /// The compiler's flags for the guest's program.
    pub flags: Vec<String>,
    /// QEMU's `-cpu`.
    pub cpu: String,
    /// The number of CPUs, where it is not the machine's own.
    pub cpus: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Argument {
    words: Vec<String>,
    #[expect(
        dead_code,
        reason = "read by people; its presence is checked by the parser"
    )]
    reason: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Append {
    words: String,
    #[expect(
        dead_code,
        reason = "read by people; its presence is checked by the parser"
    )]
    reason: String,
}

impl Machine {
    /// The machine of an architecture.
    ///
    /// # Errors
    /// When there is none, or its file is wrong.
    pub fn named(name: &str) -> Result<Self, Error> {
        let text = assets::text(&assets::DATA, &format!("machine/{name}.toml"))
            .ok_or_else(|| Error::Unknown(name.to_owned()))?;
        toml::from_str(text).map_err(|error| Error::Wrong {
            name: name.to_owned(),
            reason: error.to_string(),
        })
    }

    /// The kernel's command line.
    #[must_use]
    pub fn command_line(&self) -> String {
        let parts: Vec<&str> = self
            .append
            .iter()
            .map(|append| append.words.as_str())
            .collect();
        parts.join(" ")
    }

    /// What a guest of that ABI and CPU is started with.
    ///
    /// # Errors
    /// When the machine has no such ABI or CPU.
    pub fn station(&self, station: &Station) -> Result<Equipment, Error> {
        let native = |name: &&String| **name != self.name;
        let flags = match station.abi.as_ref().filter(native) {
            None => Vec::new(),
            Some(name) => {
                let abi = self.abis.iter().find(|abi| abi.name == *name);
                let names = || self.abis.iter().map(|abi| abi.name.clone()).collect();
                abi.ok_or_else(|| self.unknown("ABI", name, names()))?
                    .flags
                    .clone()
            }
        };
        let (cpu, cpus) = match &station.cpu {
            None => (self.cpu.clone(), None),
            Some(name) => {
                let profile = self.profiles.iter().find(|profile| profile.name == *name);
                let names = || {
                    self.profiles
                        .iter()
                        .map(|known| known.name.clone())
                        .collect()
                };
                let profile = profile.ok_or_else(|| self.unknown("CPU profile", name, names()))?;
                (profile.model.clone(), profile.cpus)
            }
        };
        Ok(Equipment { flags, cpu, cpus })
    }

    fn unknown(&self, what: &'static str, name: &str, known: Vec<String>) -> Error {
        Error::Lacks {
            machine: self.name.clone(),
            what,
            name: name.to_owned(),
            known,
        }
    }

    /// QEMU's arguments with that CPU, and as many of them where the machine's
    /// own number is not meant; without the kernel, the initramfs and the
    /// plugin.
    #[must_use]
    pub fn arguments(&self, cpu: &str, cpus: Option<u32>) -> Vec<String> {
        let memory = format!("{}M", self.memory_mib);
        let own = ["-cpu", cpu, "-m", &memory].map(str::to_owned);
        // QEMU takes the last.
        let cpus = cpus.map(|cpus| ["-smp".to_owned(), cpus.to_string()]);
        let listed = self
            .argument
            .iter()
            .flat_map(|argument| argument.words.iter().cloned());
        listed
            .chain(own)
            .chain(cpus.into_iter().flatten())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recipe_of_x86_64_is_the_measured_one() {
        let machine = Machine::named("x86_64").unwrap();
        let line = format!(
            "{}\n{}",
            machine.arguments(&machine.cpu, None).join(" "),
            machine.command_line()
        );
        insta::assert_snapshot!(line);
    }

    #[test]
    fn a_station_is_flags_and_a_cpu() {
        let machine = Machine::named("x86_64").unwrap();
        let station = |abi: &str, cpu: Option<&str>| {
            machine.station(&Station {
                abi: Some(abi.to_owned()),
                cpu: cpu.map(str::to_owned),
            })
        };
        let native = machine.station(&Station::default()).unwrap();
        assert_eq!(native.cpu, machine.cpu);
        assert_eq!(station("x86_64", None).unwrap(), native);
        assert_eq!(
            station("ia32", None).unwrap().flags.first().unwrap(),
            "-m32"
        );
        let two = station("ia32", Some("two-cpus")).unwrap();
        let arguments = machine.arguments(&two.cpu, two.cpus);
        assert!(arguments.ends_with(&["-smp".into(), "2".into()]));
        let error = station("s390", None).unwrap_err().to_string();
        assert!(error.contains("no ABI s390; it has: ia32, x32"), "{error}");
        let error = station("x32", Some("vax")).unwrap_err().to_string();
        assert!(error.contains("no CPU profile vax"), "{error}");
    }

    #[test]
    fn an_unknown_architecture_is_a_sentence() {
        let error = Machine::named("vax").unwrap_err().to_string();
        assert_eq!(error, "tollgate has no machine for the architecture vax");
    }
}
