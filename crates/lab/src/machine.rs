//! Machines: how a guest of an architecture is started.

use serde::{Deserialize, Serialize};

use tollgate_arch::{Architecture, Architectures, Target};

use crate::assets;
use crate::case::Station;
use crate::host;

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
    /// The table of architectures cannot be read.
    #[error(transparent)]
    Architectures(#[from] tollgate_arch::Wrong),
    /// A job asks for what it does not have.
    #[error("{machine} guests have no {what} {name}; they have {}", listed(.known))]
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

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

/// A machine that QEMU plays: a target of `data/architectures.toml`, and the board
/// that `data/machine/TARGET.toml` describes.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The target, which also names its opcodes in `data/arch`.
    pub name: String,
    /// QEMU's program.
    pub qemu: String,
    /// How its kernel is built.
    pub kbuild: Kbuild,
    /// What makes the compiler's programs such of the machine's own ABI.
    pub flags: Vec<String>,
    board: Board,
}

impl std::ops::Deref for Machine {
    type Target = Board;

    fn deref(&self) -> &Board {
        &self.board
    }
}

/// What QEMU is asked for, `data/machine/TARGET.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Board {
    /// The packages of Debian that it needs beside those of tollgate itself.
    #[serde(rename = "package", default)]
    pub packages: Vec<Package>,
    /// What is booted, where that is not vmlinux.
    image: Option<KernelImage>,
    /// The lowest address of the kernel, hexadecimal.
    pub kernel_start: String,
    /// Memory in MiB.
    pub memory_mib: u32,
    /// The CPU model.
    pub cpu: String,
    /// What the guest's programs are compiled with, beside what chooses the architecture.
    #[serde(default)]
    guest_flags: Vec<String>,
    /// The other ABIs whose programs its kernel runs.
    #[serde(rename = "abi", default)]
    pub abis: Vec<Abi>,
    /// The CPU models that a benchmark can ask for by name.
    #[serde(rename = "cpu-profile", default)]
    pub profiles: Vec<CpuProfile>,
    argument: Vec<Argument>,
    append: Vec<Append>,
}

/// What Kbuild is told of an architecture, and which of its products is booted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kbuild {
    /// Its name for the architecture, `x86_64`.
    pub arch: String,
    /// Its folder under `arch/` in the kernel tree.
    pub source: String,
    /// What the names of the tools begin with, `aarch64-linux-gnu-`; nothing for
    /// the machine's own.
    pub cross_compile: String,
    /// What is booted, where that is not vmlinux.
    pub image: Option<KernelImage>,
}

/// A form of the kernel that is made from vmlinux.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelImage {
    /// What make is asked for.
    pub goal: String,
    /// Where it is in the build folder.
    pub file: String,
}

/// A package of Debian.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// What it is needed for.
    pub reason: String,
}

impl Kbuild {
    /// The compiler of the kernel and of the guest's programs, where none is
    /// named.
    #[must_use]
    pub fn compiler(&self) -> String {
        format!("{}gcc", self.cross_compile)
    }
}

/// An ABI beside the kernel's own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abi {
    /// Its name, `ia32`.
    pub name: String,
    /// What makes the host's compiler build for it.
    pub flags: Vec<String>,
    /// Debian's package of what its programs are linked with.
    pub package: String,
    /// What it is measured for.
    pub reason: String,
}

/// A CPU model by name, and the machine around it where that is another than usual.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuProfile {
    /// Its name in a case.
    pub name: String,
    /// QEMU's `-cpu`.
    pub model: String,
    /// How many of them the machine has; the machine's own number where it does
    /// not say.
    pub cpus: Option<u32>,
    /// Words of the kernel's command line that it does without.
    #[serde(default)]
    pub without: Vec<String>,
    /// QEMU's words for the board that it sits on, where that is not the machine's own.
    #[serde(default)]
    pub board: Vec<String>,
    /// QEMU's words for what is plugged into the board.
    #[serde(default)]
    pub devices: Vec<String>,
    /// What it is measured for.
    pub reason: String,
}

/// What a guest is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equipment {
    /// The compiler's flags for the guest's program.
    pub flags: Vec<String>,
    /// The CPU, and what it sits on.
    pub cpu: CpuProfile,
}

impl Equipment {
    /// A machine's command line of the kernel, as this guest has it.
    #[must_use]
    pub fn command_line(&self, machine: &Machine) -> String {
        let line = machine.command_line();
        let words = line.split(' ');
        let kept: Vec<&str> = words
            .filter(|word| !self.cpu.without.iter().any(|dropped| dropped == word))
            .collect();
        kept.join(" ")
    }
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
        let found = Architectures::built_in()?.target(name);
        let text = assets::text(&assets::DATA, &format!("machine/{name}.toml"));
        match (found, text) {
            (Some((architecture, target)), Some(text)) => Self::of(architecture, target, text),
            _ => Err(Error::Unknown(name.to_owned())),
        }
    }

    /// The machine of a target, with the board that `text` describes.
    fn of(architecture: &Architecture, target: &Target, text: &str) -> Result<Self, Error> {
        let board: Board = toml::from_str(text).map_err(|error| Error::Wrong {
            name: target.name.clone(),
            reason: error.to_string(),
        })?;
        let own = host::target()?.and_then(|host| target.flags_on(host));
        let kbuild = Kbuild {
            arch: target.kbuild.clone(),
            source: architecture.name.clone(),
            cross_compile: match own {
                Some(_) => String::new(),
                None => target.cross_compile.clone(),
            },
            image: board.image.clone(),
        };
        Ok(Self {
            name: target.name.clone(),
            qemu: target.qemu_program(),
            kbuild,
            flags: [own.unwrap_or(&[]), &board.guest_flags].concat(),
            board,
        })
    }

    /// The one that is meant where none is named: the first of the table of
    /// architectures that there is a board for.
    ///
    /// # Errors
    /// When that table cannot be read.
    pub fn usual() -> Result<&'static str, Error> {
        let names = Self::names();
        let mut targets = Architectures::built_in()?.targets();
        let usual = targets.find(|(_, target)| names.contains(&target.name.as_str()));
        match usual {
            Some((_, target)) => Ok(&target.name),
            None => Err(Error::Unknown("of which there are none".to_owned())),
        }
    }

    /// The architectures that there are machines for.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        let files = assets::files(&assets::DATA).into_iter();
        files
            .filter_map(|(path, _)| path.strip_prefix("machine/")?.strip_suffix(".toml"))
            .collect()
    }

    /// What to install where one of its tools is missing; nothing to say where
    /// tollgate's own packages are enough.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        let names: Vec<&str> = self.packages.iter().map(|p| p.name.as_str()).collect();
        let line = || {
            format!(
                "{0} guests need packages that are not installed with tollgate; \
                 scripts/setup --arch {0} installs them, or: apt-get install {1}",
                self.name,
                names.join(" ")
            )
        };
        (!names.is_empty()).then(line)
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
            None => self.flags.clone(),
            Some(name) => {
                let abi = self.abis.iter().find(|abi| abi.name == *name);
                let names = || self.abis.iter().map(|abi| abi.name.clone()).collect();
                abi.ok_or_else(|| self.unknown("ABI", name, names()))?
                    .flags
                    .clone()
            }
        };
        let cpu = match &station.cpu {
            None => self.own_cpu(),
            Some(name) => {
                let found = self.profiles.iter().find(|one| one.name == *name);
                let known = || self.profiles.iter().map(|one| one.name.clone()).collect();
                found
                    .ok_or_else(|| self.unknown("CPU profile", name, known()))?
                    .clone()
            }
        };
        Ok(Equipment { flags, cpu })
    }

    /// The machine's standard CPU on its own board.
    fn own_cpu(&self) -> CpuProfile {
        CpuProfile {
            model: self.cpu.clone(),
            ..CpuProfile::default()
        }
    }

    fn unknown(&self, what: &'static str, name: &str, known: Vec<String>) -> Error {
        Error::Lacks {
            machine: self.name.clone(),
            what,
            name: name.to_owned(),
            known,
        }
    }

    /// QEMU's arguments for that equipment; without the kernel, the initramfs and the
    /// plugin.
    #[must_use]
    pub fn arguments(&self, equipment: &Equipment) -> Vec<String> {
        let CpuProfile {
            model,
            cpus,
            board,
            devices,
            ..
        } = &equipment.cpu;
        let memory = format!("{}M", self.memory_mib);
        let own = ["-cpu", model, "-m", &memory].map(str::to_owned);
        // QEMU takes the last.
        let cpus = cpus.map(|cpus| ["-smp".to_owned(), cpus.to_string()]);
        let listed = self.argument.iter().map(|argument| &argument.words);
        // Of two boards it would take what the first is told for the second.
        let listed = listed.flat_map(|words| match words.first() {
            Some(first) if first == BOARD && !board.is_empty() => board,
            _ => words,
        });
        listed
            .cloned()
            .chain(own)
            .chain(cpus.into_iter().flatten())
            .chain(devices.iter().cloned())
            .collect()
    }
}

/// QEMU's option for the board.
const BOARD: &str = "-M";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_recipe_is_the_measured_one() {
        for name in Machine::names() {
            let machine = Machine::named(name).unwrap();
            assert_eq!(machine.name, name);
            let own = machine.station(&Station::default()).unwrap();
            let arguments = machine.arguments(&own).join(" ");
            let line = format!("{arguments}\n{}", machine.command_line());
            insta::assert_snapshot!(format!("recipe_{name}"), line);
        }
    }

    #[test]
    fn what_setup_installs_is_what_a_machine_needs() {
        let setup = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/setup");
        for name in Machine::names() {
            let listed = std::process::Command::new("sh")
                .args([setup, "--arch", name, "--list"])
                .output()
                .unwrap();
            let listed = String::from_utf8(listed.stdout).unwrap();
            assert!(listed.contains("qemu-system-x86: "), "{listed}");
            for Package { name, reason } in &Machine::named(name).unwrap().packages {
                assert!(listed.contains(&format!("\n{name}: {reason}\n")), "{name}");
            }
        }
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
        assert_eq!(native.cpu.model, machine.cpu);
        assert_eq!(station("x86_64", None).unwrap(), native);
        assert_eq!(
            station("ia32", None).unwrap().flags.first().unwrap(),
            "-m32"
        );
        let two = station("ia32", Some("two-cpus")).unwrap();
        let arguments = machine.arguments(&two);
        assert!(arguments.ends_with(&["-smp".into(), "2".into()]));
        let error = station("s390", None).unwrap_err().to_string();
        assert!(
            error.contains("no ABI s390; they have ia32, x32"),
            "{error}"
        );
        let error = station("x32", Some("vax")).unwrap_err().to_string();
        assert!(error.contains("no CPU profile vax"), "{error}");
    }

    /// A word that no line has would be dropped without effect.
    #[test]
    fn a_profile_drops_words_that_the_command_line_has() {
        for name in Machine::names() {
            let machine = Machine::named(name).unwrap();
            let line = machine.command_line();
            for profile in &machine.profiles {
                for word in &profile.without {
                    assert!(line.split(' ').any(|own| own == word), "{name}: {word}");
                }
            }
        }
        let machine = Machine::named("x86_64").unwrap();
        let line = |cpu: &str| {
            let station = Station {
                abi: None,
                cpu: Some(cpu.to_owned()),
            };
            machine.station(&station).unwrap().command_line(&machine)
        };
        assert_eq!(line("no-hypervisor"), machine.command_line());
        let dropped = machine.command_line().replace(" nolapic_timer", "");
        assert_eq!(line("lapic-timer"), dropped);
    }

    #[test]
    fn a_profile_sits_on_its_own_board_with_its_devices() {
        for name in Machine::names() {
            let machine = Machine::named(name).unwrap();
            for profile in &machine.profiles {
                let station = Station {
                    abi: None,
                    cpu: Some(profile.name.clone()),
                };
                let arguments = machine.arguments(&machine.station(&station).unwrap());
                let boards = arguments.iter().filter(|word| *word == BOARD);
                assert_eq!(boards.count(), 1, "{name}: {}", profile.name);
                let all = arguments.join(" ");
                assert!(all.contains(&profile.board.join(" ")), "{all}");
                assert!(all.ends_with(&profile.devices.join(" ")), "{all}");
            }
        }
    }

    #[test]
    fn an_unknown_architecture_is_a_sentence() {
        let error = Machine::named("vax").unwrap_err().to_string();
        assert_eq!(error, "tollgate has no machine for the architecture vax");
    }
}
