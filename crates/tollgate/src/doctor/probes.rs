//! Each thing that is looked at: tried, where trying it is quick.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use tollgate_lab::job::sandbox;
use tollgate_lab::machine::Machine;
use tollgate_lab::process::{ADVICE, Interrupt, Runner};
use tollgate_lab::toolchain::{Compiler, Qemu};
use tollgate_lab::{guest, host, space, tree, unpack};
use tollgate_report::doctor::Check;
use tollgate_report::stored::size;
use tollgate_source::shown;

use super::table::{self, Header, Needs, Tool};
use super::{MAIN, Request};
use crate::{door, folders, robot};

/// What a first run of `prove` needs in the cache, with some room to spare: an unpacked
/// source of Linux 7.3 takes 1.7 GiB there, its private copy hard links to it, and a
/// build folder of a minimal configuration 0.15 GiB (`tollgate cache list`).
const ROOM: u64 = 3 << 30;

/// The checks of what the usual machine has of its own.
pub(super) const USUAL: [&str; 3] = [EMULATOR, COMPILER, GUESTS];
const EMULATOR: &str = "QEMU";
const COMPILER: &str = "compiler";
const GUESTS: &str = "guests";

/// The main job on guests of another architecture.
pub(super) fn job_of(machine: &str) -> String {
    format!("{MAIN} --arch {machine}")
}

/// Looks at everything, in the order in which a reader mends it.
///
/// # Errors
/// When there is no folder to try things in, or a table of tollgate's is wrong.
pub(super) fn all(request: &Request) -> anyhow::Result<Vec<Check>> {
    let scratch = tempfile::tempdir().context("no folder to try things in could be made")?;
    let runner = Runner::new(Interrupt::default(), None);
    let probe = Probe {
        request,
        runner: &runner,
        scratch: scratch.path(),
        has_dpkg: in_path("dpkg").is_some(),
    };
    let usual = Machine::named(Machine::usual()?)?;
    let needs = table::needs()?;
    let mut checks = vec![probe.emulator(&usual, &needs), probe.compiler(&usual)];
    checks.extend(probe.guests(&usual, &[MAIN, "run"]));
    checks.extend(needs.tools.iter().map(|tool| probe.tool(tool)));
    checks.extend(needs.headers.iter().map(|header| probe.header(header)));
    checks.extend([probe.source(), probe.cache(), probe.disk()]);
    for name in Machine::names() {
        if name != usual.name {
            checks.extend(probe.other_machine(&Machine::named(name)?));
        }
    }
    checks.push(probe.namespaces()?);
    checks.push(probe.cells()?);
    Ok(checks)
}

struct Probe<'a> {
    request: &'a Request,
    runner: &'a Runner,
    scratch: &'a Path,
    /// Whether packages of Debian's mend anything here.
    has_dpkg: bool,
}

impl Probe<'_> {
    fn emulator(&self, machine: &Machine, needs: &Needs) -> Check {
        let own = || machine.qemu.clone();
        let command = self.request.qemu.clone().unwrap_or_else(own);
        let mut known = needs.emulators.iter();
        let known = known.find(|known| known.command == command);
        let package = known.map_or("", |known| known.package.as_str());
        self.qemu(EMULATOR, &command, package, &[MAIN.to_owned()])
    }

    /// An emulator, with the version of its plugins.
    fn qemu(&self, name: &str, command: &str, package: &str, jobs: &[String]) -> Check {
        let install = self.install(&[package]);
        let (good, found, mend) = match Qemu::find(command, self.runner) {
            Err(_) if is_absent(command) => (false, absent(command), install),
            Err(error) => (false, line(&error), install),
            Ok(qemu) => {
                let said = format!("{command} {}, plugin API {}", qemu.version, qemu.plugin_api);
                match self.has_plugins(command) {
                    true => (true, said, None),
                    false => (
                        false,
                        format!("{said}, but built without plugins"),
                        Some(
                            "give a QEMU that was configured with --enable-plugins, by --qemu"
                                .to_owned(),
                        ),
                    ),
                }
            }
        };
        check(name, good, found, jobs, mend)
    }

    /// A QEMU without plugins does not know the flag (its own help names it).
    fn has_plugins(&self, command: &str) -> bool {
        let help = self.runner.output(Command::new(command).arg("-help"));
        matches!(help, Ok(text) if String::from_utf8_lossy(&text).lines().any(|line| line.starts_with("-plugin")))
    }

    fn compiler(&self, machine: &Machine) -> Check {
        let own = || machine.kbuild.compiler();
        let command = self.request.compiler.clone().unwrap_or_else(own);
        let jobs = [MAIN, "fix --check", "run", "robot"].map(str::to_owned);
        match Compiler::named(&command, self.runner) {
            Ok(compiler) => check(COMPILER, true, compiler.version, &jobs, None),
            Err(error) => {
                let mend = self.install(&["gcc"]).filter(|_| command == "gcc");
                let mend = mend.or_else(|| Some("give another by --compiler".to_owned()));
                let found = match is_absent(&command) {
                    true => absent(&command),
                    false => line(&error),
                };
                check(COMPILER, false, found, &jobs, mend)
            }
        }
    }

    /// Whether guests can be linked, of the machine's own ABI and of each other that its
    /// kernel runs.
    fn guests(&self, machine: &Machine, jobs: &[&str]) -> Vec<Check> {
        let jobs: Vec<String> = jobs.iter().map(|job| (*job).to_owned()).collect();
        let mut checks = vec![self.guest(GUESTS, machine, &[], &jobs, "libc6-dev")];
        for abi in &machine.abis {
            let (name, jobs) = (
                format!("guests {}", abi.name),
                [format!("{MAIN}, of {} programs", abi.name)],
            );
            checks.push(self.guest(&name, machine, &abi.flags, &jobs, &abi.package));
        }
        checks
    }

    fn guest(
        &self,
        name: &str,
        machine: &Machine,
        flags: &[String],
        jobs: &[String],
        package: &str,
    ) -> Check {
        let command = machine.kbuild.compiler();
        let tried = Compiler::find(&command, self.runner)
            .map_err(|error| line(&error))
            .and_then(|compiler| {
                guest::probe_in(self.scratch, &compiler, flags, self.runner)
                    .map_err(|error| line(&error))
            });
        match tried {
            Ok(()) => check(
                name,
                true,
                format!("{command} links static programs"),
                jobs,
                None,
            ),
            Err(why) => {
                let why = if is_absent(&command) {
                    absent(&command)
                } else {
                    why
                };
                check(name, false, why, jobs, self.install(&[package]))
            }
        }
    }

    fn tool(&self, tool: &Tool) -> Check {
        let reason = &tool.reason;
        match in_path(&tool.command) {
            Some(path) => check(
                &tool.command,
                true,
                shown(&path).to_string(),
                &tool.jobs,
                None,
            ),
            None => {
                let found = format!("is not in PATH: {reason}");
                check(
                    &tool.command,
                    false,
                    found,
                    &tool.jobs,
                    self.install(&[&tool.package]),
                )
            }
        }
    }

    /// A program that uses the header, compiled and linked.
    fn header(&self, header: &Header) -> Check {
        let source = self.scratch.join("header.c");
        let text = format!(
            "#include <{}>\nint main(void) {{ return 0; }}\n",
            header.name
        );
        let written = fs::write(&source, text).map_err(|error| error.to_string());
        let tried = written.and_then(|()| {
            if is_absent("gcc") {
                return Err(absent("gcc"));
            }
            let mut command = Command::new("gcc");
            command.current_dir(self.scratch);
            command.args(["-o", "header", "header.c", &header.link]);
            let output = self.runner.output(&mut command);
            output.map(drop).map_err(|error| line(&error))
        });
        match tried {
            Ok(()) => check(
                &header.name,
                true,
                "is there".to_owned(),
                &header.jobs,
                None,
            ),
            Err(why) => {
                let found = format!("cannot be used ({}): {why}", header.reason);
                check(
                    &header.name,
                    false,
                    found,
                    &header.jobs,
                    self.install(&[&header.package]),
                )
            }
        }
    }

    /// The tree that is named, or Debian's package.
    fn source(&self) -> Check {
        let jobs = [MAIN.to_owned()];
        let found = match &self.request.tree {
            Some(root) => tree::Tree::open(root)
                .map(|tree| format!("Linux {} in {}", tree.version(), shown(root)))
                .map_err(|error| line(&error)),
            None => unpack::archive_of(Path::new(unpack::DEBIAN_SOURCES))
                .map_err(|error| line(&error))
                .and_then(|archive| match archive.is_file() {
                    true => Ok(shown(&archive).to_string()),
                    false => Err(format!("there is no {}", shown(&archive))),
                }),
        };
        match found {
            Ok(found) => check("source", true, found, &jobs, None),
            Err(why) => {
                let package = self.install(&["linux-source-6.12"]);
                let tree = "give a kernel tree with --tree".to_owned();
                let mend = package
                    .map(|line| format!("{line}, or {tree}"))
                    .unwrap_or(tree);
                check("source", false, why, &jobs, Some(mend))
            }
        }
    }

    /// Whether the cache can be written, and built in.
    fn cache(&self) -> Check {
        let jobs = [MAIN, "run", "robot", "fix --check"].map(str::to_owned);
        let other = Some("give another folder with --cache".to_owned());
        let place = match folders::cache(self.request.cache.as_deref()) {
            Ok(place) => place,
            Err(error) => return check("cache", false, line(&error), &jobs, other),
        };
        if let Err(error) = door::refuse_unbuildable(&place) {
            return check("cache", false, line(&error), &jobs, other);
        }
        let there = existing(&place);
        match rustix::fs::access(&there, rustix::fs::Access::WRITE_OK) {
            Ok(()) => check("cache", true, shown(&place).to_string(), &jobs, None),
            Err(error) => {
                let said = std::io::Error::from(error);
                let found = format!(
                    "{}: {} cannot be written: {said}",
                    shown(&place),
                    shown(&there)
                );
                check("cache", false, found, &jobs, other)
            }
        }
    }

    fn disk(&self) -> Check {
        let jobs = [format!("{MAIN}, the first time")];
        let Ok(place) = folders::cache(self.request.cache.as_deref()) else {
            // That there is no place for it has been said.
            return check("disk", true, "no cache, no disk".to_owned(), &[], None);
        };
        let (free, point) = (space::room(&place), space::mount_point(&place));
        let Some(free) = free else {
            return check(
                "disk",
                true,
                format!("{} does not say what is free", shown(&point)),
                &jobs,
                None,
            );
        };
        let found = format!("{} free in {}", size(free), shown(&point));
        match free >= ROOM {
            true => check("disk", true, found, &jobs, None),
            false => {
                let found = format!("{found}; a first run takes {}", size(ROOM));
                let mend = "tollgate cache prune --keep SIZE, or give another folder with --cache";
                check("disk", false, found, &jobs, Some(mend.to_owned()))
            }
        }
    }

    /// What guests of another architecture need.
    fn other_machine(&self, machine: &Machine) -> Vec<Check> {
        let jobs = [job_of(&machine.name)];
        let packages: Vec<&str> = machine
            .packages
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        let mend = self.install(&packages);
        let emulator = self.qemu(&format!("QEMU {}", machine.name), &machine.qemu, "", &jobs);
        let name = format!("gcc {}", machine.name);
        let guest = self.guest(&name, machine, &[], &jobs, "");
        let mended = |one: Check| Check {
            mend: one.mend.or_else(|| mend.clone()).filter(|_| !one.good),
            ..one
        };
        vec![mended(emulator), mended(guest)]
    }

    /// The sandbox of robot's builds.
    fn namespaces(&self) -> anyhow::Result<Check> {
        let jobs = ["robot".to_owned()];
        let limits = robot::cells(&[])?.limits;
        let folder = self.scratch.join("namespaces");
        fs::create_dir(&folder)?;
        Ok(match sandbox::probe(&folder, &limits, self.runner) {
            Ok(()) => check(
                "namespaces",
                true,
                sandbox::Apart::here().words().to_owned(),
                &jobs,
                None,
            ),
            Err(error) => {
                let mend = "run tollgate as root, or allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1";
                check(
                    "namespaces",
                    false,
                    line(&error),
                    &jobs,
                    Some(mend.to_owned()),
                )
            }
        })
    }

    /// The compilers of robot's cells: each cell that lacks its own is one less.
    fn cells(&self) -> anyhow::Result<Check> {
        let cells = robot::cells(&[])?.cells;
        let lacking: Vec<_> = cells
            .iter()
            .filter(|cell| in_path(&cell.compiler).is_none())
            .collect();
        let own = host::architecture()?;
        let packages: BTreeSet<&str> = lacking
            .iter()
            .flat_map(|cell| cell.packages.iter().map(String::as_str))
            .collect();
        let packages: Vec<&str> = packages.into_iter().collect();
        let here = cells.len() - lacking.len();
        let mut found = format!("the compilers of {here} of {} cells are here", cells.len());
        if !lacking.is_empty() {
            let names: Vec<&str> = lacking.iter().map(|cell| cell.name.as_str()).collect();
            found += &format!(
                " ({own} is this machine); those that are not: {}",
                names.join(", ")
            );
        }
        let jobs = ["robot, in every cell".to_owned()];
        let mend = self.install(&packages).filter(|_| !lacking.is_empty());
        Ok(check("robot cells", lacking.is_empty(), found, &jobs, mend))
    }

    /// The line that installs packages, where they are Debian's.
    fn install(&self, packages: &[&str]) -> Option<String> {
        let names: Vec<&str> = packages
            .iter()
            .copied()
            .filter(|name| !name.is_empty())
            .collect();
        match (names.as_slice(), self.has_dpkg) {
            ([], _) => None,
            (names, true) => Some(format!("apt-get install {}", names.join(" "))),
            (names, false) => Some(format!("install what Debian calls {}", names.join(" and "))),
        }
    }
}

fn check(name: &str, good: bool, found: String, jobs: &[String], mend: Option<String>) -> Check {
    Check {
        name: name.to_owned(),
        good,
        found,
        jobs: jobs.to_vec(),
        mend: mend.filter(|_| !good),
    }
}

/// What went wrong, in a line. Who reads it is not sent here.
fn line(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string().replace(ADVICE, "");
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// Whether a command is none that PATH has.
fn is_absent(command: &str) -> bool {
    !command.contains('/') && in_path(command).is_none()
}

fn absent(command: &str) -> String {
    format!("{command} is not in PATH")
}

/// The program that a command would run.
fn in_path(command: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let places = env::split_paths(&path).map(|folder| folder.join(command));
    places
        .filter(|place| rustix::fs::access(place, rustix::fs::Access::EXEC_OK).is_ok())
        .find(|place| place.is_file())
}

/// What there is of a path.
fn existing(path: &Path) -> PathBuf {
    let there = path.ancestors().find(|part| part.exists());
    there
        .filter(|part| *part != Path::new(""))
        .map_or_else(|| PathBuf::from("."), Path::to_owned)
}
