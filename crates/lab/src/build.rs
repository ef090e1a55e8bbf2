//! Kbuild: a configuration and a source folder become a vmlinux.

use crate::input;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use tollgate_source::shown;

use crate::cache;
use crate::config::{self, Fragment};
use crate::expected;
use crate::kconfig;
use crate::machine::Kbuild;
use crate::objtool;
use crate::process::{self, Interrupt, Runner};
use crate::products::Products;
use crate::progress::Progress;
use crate::space;
use crate::toolchain::Compiler;

/// What Kbuild would otherwise take from the clock, the user and the machine:
/// the same source must give the same image everywhere.
const FIXED: &[&str] = &[
    "KBUILD_BUILD_TIMESTAMP=Mon Jan  1 00:00:00 UTC 2024",
    "KBUILD_BUILD_USER=tollgate",
    "KBUILD_BUILD_HOST=tollgate",
    "KBUILD_BUILD_VERSION=1",
    "LOCALVERSION=",
];

/// Lines of a failed build that are shown.
const SHOWN: usize = 12;

/// Why there is no vmlinux.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program could not be run, or the user asked to stop.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// The configuration is not what was asked for.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The tree's Kconfig files could not be read.
    #[error(transparent)]
    Kconfig(#[from] kconfig::Error),
    /// make failed.
    #[error("the build of {what} failed. The first error:\n\n{first_error}\n\nThe whole log is {}{room}", shown(.log))]
    Failed {
        /// What was built: the name of the image.
        what: String,
        /// The first error of the compiler or of make, with its neighbours.
        first_error: String,
        /// Where all of it is.
        log: PathBuf,
        /// The disk that is full, where that is why; else nothing.
        room: String,
    },
    /// objtool found a path that leaves a window open, or the like.
    #[error("objtool finds that {what} does not close its windows as it opens them:\n\n{complaints}\n\nNothing was booted. The whole log is {}", shown(.log))]
    Windows {
        /// What was built: the name of the image.
        what: String,
        /// What objtool said, a line for each.
        complaints: String,
        /// The log of make.
        log: PathBuf,
    },
    /// The build folder could not be used.
    #[error(transparent)]
    Cache(#[from] cache::Error),
    /// What was made last may be older than what it was made of.
    #[error(
        "the clock went back while {0} was built, by which make goes; what it made was thrown away, run again"
    )]
    Clock(String),
    /// make said that all went well, but there is no kernel.
    #[error("make ended well, but there is no {}; the log is {}", shown(.kernel), shown(.log))]
    NoKernel {
        /// Where it should be.
        kernel: PathBuf,
        /// The log of make.
        log: PathBuf,
    },
}

/// A folder that kernels are built in, one after the other, each taking over
/// the objects of the one before.
#[derive(Debug)]
pub struct BuildDir {
    root: PathBuf,
}

/// What is to be built.
#[derive(Debug)]
pub struct Order<'a> {
    /// What it is called in messages.
    pub what: &'a str,
    /// The source folder.
    pub source: &'a Path,
    /// What it is built for.
    pub kbuild: &'a Kbuild,
    /// The options.
    pub fragment: &'a Fragment,
    /// A hash over what decides the configuration: the tree's Kconfig files.
    pub kconfig: &'a str,
    /// The compiler.
    pub compiler: &'a Compiler,
    /// Compiler runs at a time.
    pub jobs: usize,
    /// A compiler cache to put before the compiler, if there is one.
    pub ccache: Option<&'a Path>,
}

/// Where a build left its kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The kernel with its symbols.
    pub vmlinux: PathBuf,
    /// What is booted, where that is another file.
    pub image: Option<PathBuf>,
}

impl BuildDir {
    /// The build_dir at `root`, which need not exist yet.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// The log of the last make.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.root.join("build.log")
    }

    /// The configuration that was built.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.build().join(".config")
    }

    /// What make leaves there.
    #[must_use]
    pub fn products(&self) -> Products {
        Products::new(self.build(), self.root.join("built.json"))
    }

    /// Builds, and returns where the kernel is.
    ///
    /// # Errors
    /// With the compiler's first error and the log's name when make fails.
    pub fn build_kernel(
        &self,
        order: &Order<'_>,
        runner: &Runner,
        progress: &dyn Progress,
    ) -> Result<Built, Error> {
        self.recover(runner.interrupt())?;
        cache::make_folder(&self.build())?;
        cache::write_file(&self.running(), b"a build is running, or was cut off\n")?;
        let built = self.configure_and_make(order, runner, progress);
        // A build that ended by itself left nothing half-written, failed or not.
        if !matches!(built, Err(Error::Process(_))) {
            if self.products().are_of_the_future()? {
                self.products().clear()?;
                return built.and_then(|_| Err(Error::Clock(order.what.to_owned())));
            }
            self.products().keep(runner.interrupt())?;
            remove(&self.running())?;
        }
        built
    }

    fn configure_and_make(
        &self,
        order: &Order<'_>,
        runner: &Runner,
        progress: &dyn Progress,
    ) -> Result<Built, Error> {
        self.configure(order, runner)?;
        let image = order.kbuild.image.as_ref();
        let goals: Vec<&str> = std::iter::once("vmlinux")
            .chain(image.map(|image| image.goal.as_str()))
            .collect();
        let mut objects = 0_u64;
        let expected = self.expected(order)?;
        self.make(order, runner, &goals, &[], &mut |line| {
            if is_object(line) {
                objects += 1;
                progress.advance(objects, expected);
            }
        })?;
        self.check_windows(order.what)?;
        let vmlinux = self.product("vmlinux")?;
        let image = image.map(|image| self.product(&image.file)).transpose()?;
        Ok(Built { vmlinux, image })
    }

    /// About how many objects a build from the start compiles; of one that goes on
    /// from another's objects it is not known.
    fn expected(&self, order: &Order<'_>) -> Result<Option<u64>, Error> {
        if self.build().join("vmlinux").is_file() {
            return Ok(None);
        }
        let config = cache::read_file(&self.config())?;
        let config = String::from_utf8_lossy(&config);
        let objects = expected::objects(order.source, &order.kbuild.source, &config);
        Ok(Some(objects))
    }

    fn product(&self, file: &str) -> Result<PathBuf, Error> {
        let kernel = self.build().join(file);
        if kernel.is_file() {
            return Ok(kernel);
        }
        let log = self.log();
        Err(Error::NoKernel { kernel, log })
    }

    /// An object that objtool complains of is removed: only when it is made does
    /// objtool say so, and the next image must not take it over in silence.
    fn check_windows(&self, what: &str) -> Result<(), Error> {
        let log = self.log();
        let text = cache::read_file(&log)?;
        let text = String::from_utf8_lossy(&text);
        let complaints = objtool::complaints(&text);
        if complaints.is_empty() {
            return Ok(());
        }
        for complaint in &complaints {
            let inside = |part| matches!(part, Component::Normal(_));
            if Path::new(complaint.object).components().all(inside) {
                remove(&self.build().join(complaint.object))?;
            }
        }
        Err(Error::Windows {
            what: what.to_owned(),
            complaints: objtool::listed(&complaints),
            log,
        })
    }

    /// Makes `.config` from the fragment, unless it already is that.
    fn configure(&self, order: &Order<'_>, runner: &Runner) -> Result<(), Error> {
        let stamp = self.root.join("configured");
        let wanted = configuration_id(order);
        if cache::holds(&stamp, &wanted)? && self.config().is_file() {
            return Ok(());
        }
        let wants = order.fragment.wanted();
        if order.fragment.ground.is_some() {
            cache::write_file(&self.config(), wants.as_bytes())?;
            self.make(order, runner, &["olddefconfig"], &[], &mut |_| {})?;
        } else {
            let fragment = self.root.join("fragment.config");
            cache::write_file(&fragment, wants.as_bytes())?;
            let variable = assignment("KCONFIG_ALLCONFIG", &fragment);
            self.make(order, runner, &["allnoconfig"], &[variable], &mut |_| {})?;
        }
        let made = cache::read_file(&self.config())?;
        let made = String::from_utf8_lossy(&made);
        if let Err(error) = order.fragment.check(&made) {
            let kconfig = kconfig::read(order.source, &order.kbuild.source)?;
            return Err(error.explained(&kconfig, &made).into());
        }
        Ok(cache::write_file(&stamp, wanted.as_bytes())?)
    }

    fn make(
        &self,
        order: &Order<'_>,
        runner: &Runner,
        targets: &[&str],
        variables: &[OsString],
        line: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        let mut command = Command::new("make");
        command
            .arg("-C")
            .arg(order.source)
            .arg(assignment("O", &self.build()))
            .arg(format!("ARCH={}", order.kbuild.arch))
            .args(cross_compile(order.kbuild))
            .arg(format!("-j{}", order.jobs))
            .arg(format!("CC={}", compiler_command(order)))
            .args(FIXED)
            .args(variables)
            .args(targets);
        clean_environment(&mut command);
        self.share_compiler_cache(order, &mut command);
        let log = self.log();
        if runner.logged(&mut command, &log, None, line)?.success() {
            return Ok(());
        }
        let text = cache::read_file(&log)?;
        let text = String::from_utf8_lossy(&text);
        let room = space::after_failure(&text, &[&self.root, &std::env::temp_dir()]);
        Err(Error::Failed {
            what: order.what.to_owned(),
            first_error: first_error(&text),
            log,
            room,
        })
    }

    /// The path of the build_dir must not keep a second one from a hit.
    fn share_compiler_cache(&self, order: &Order<'_>, command: &mut Command) {
        let Some(folder) = order.ccache else { return };
        command
            .env("CCACHE_BASEDIR", &self.root)
            .env("CCACHE_NOHASHDIR", "1");
        if std::env::var_os("CCACHE_DIR").is_none() {
            command.env("CCACHE_DIR", folder);
        }
    }

    /// After a build that was cut off (power, SIGKILL) a file may be half
    /// there and yet look up to date. Everything that build wrote is removed, and after
    /// any other what is not as it left it.
    fn recover(&self, interrupt: &Interrupt) -> Result<(), Error> {
        let cut_off = match fs::symlink_metadata(self.running()) {
            Ok(_) => true,
            Err(error) if input::is_absent(&error) => false,
            Err(error) => return Err(unlooked(&self.running(), &error)),
        };
        self.products().mend(cut_off, interrupt)?;
        match cut_off {
            true => remove(&self.root.join("configured")),
            false => Ok(()),
        }
    }

    fn build(&self) -> PathBuf {
        self.root.join("build")
    }

    fn running(&self) -> PathBuf {
        self.root.join("running")
    }
}

fn unlooked(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::Cache(cache::Error::Read {
        path: path.to_owned(),
        reason: reason.to_string(),
    })
}

fn configuration_id(order: &Order<'_>) -> String {
    let ground = order.fragment.ground.iter().map(String::as_str);
    let parts: Vec<&str> = [
        &order.fragment.text,
        order.kconfig,
        &order.compiler.version,
        &order.kbuild.arch,
    ]
    .into_iter()
    .chain(ground)
    .collect();
    crate::tree::hash(parts.join("\0").as_bytes())
}

/// The linker and the tools around it; the compiler is named by itself.
fn cross_compile(kbuild: &Kbuild) -> Option<String> {
    let prefix = &kbuild.cross_compile;
    (!prefix.is_empty()).then(|| format!("CROSS_COMPILE={prefix}"))
}

fn compiler_command(order: &Order<'_>) -> String {
    match order.ccache {
        Some(_) => format!("ccache {}", order.compiler.command),
        None => order.compiler.command.clone(),
    }
}

/// `NAME=PATH` for make, whatever bytes the path has.
pub(crate) fn assignment(name: &str, path: &Path) -> OsString {
    let mut word = OsString::from(name);
    word.push("=");
    word.push(path);
    word
}

/// What begins the name of a variable that Kbuild or Kconfig obeys: some name files
/// that they write, `KCONFIG_CONFIG` among them, and others what is built.
const OBEYED: [&[u8]; 3] = [b"KBUILD_", b"KCONFIG_", b"INSTALL_"];

/// More of them, those of a make that calls us, and two with which gcc writes files
/// (gcc(1), "Environment Variables").
const DECIDING: [&str; 21] = [
    "ARCH",
    "CROSS_COMPILE",
    "DEPENDENCIES_OUTPUT",
    "HOSTCFLAGS",
    "HOSTLDFLAGS",
    "KAFLAGS",
    "KCFLAGS",
    "KCPPFLAGS",
    "KRUSTFLAGS",
    "LLVM",
    "LLVM_IAS",
    "LOCALVERSION",
    "M",
    "MAKEFILES",
    "MAKEFLAGS",
    "MAKELEVEL",
    "MAKEOVERRIDES",
    "MFLAGS",
    "MO",
    "O",
    "SUNPRO_DEPENDENCIES",
];

/// The user's environment has no say in what is built, nor in where.
pub(crate) fn clean_environment(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let obeyed = OBEYED
            .iter()
            .any(|start| name.as_bytes().starts_with(start));
        if obeyed || DECIDING.iter().any(|known| name == *known) {
            command.env_remove(name);
        }
    }
    command.env("LC_ALL", "C");
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(cache::Error::Write {
            path: path.to_owned(),
            source,
        }
        .into()),
        _ => Ok(()),
    }
}

/// `  CC      fs/eventpoll.o`
fn is_object(line: &str) -> bool {
    let mut words = line.split_whitespace();
    matches!(words.next(), Some("CC" | "AS")) && words.next().is_some_and(|w| w.ends_with(".o"))
}

/// The first line that names an error, with what the compiler drew under it.
pub(crate) fn first_error(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let is_error = |line: &&str| {
        // As compilers have it, and as modpost and meson do.
        let marks = [": error", "error: ", "ERROR: ", space::NO_SPACE];
        marks.iter().any(|mark| line.contains(mark))
    };
    let of_make = || lines.iter().position(|line| line.contains("*** "));
    let found = lines.iter().position(is_error);
    // Where no compiler names an error, what was said before make gave up is all there is.
    let belongs = match found {
        Some(_) => is_context,
        None => is_said,
    };
    let first = found
        .or_else(of_make)
        .unwrap_or(lines.len().saturating_sub(SHOWN));
    let (before, _) = lines.split_at(first.min(lines.len()));
    let context = before.iter().rev().take(3);
    let context = context.take_while(|line| belongs(line)).count();
    let shown: Vec<String> = lines
        .iter()
        .skip(first - context)
        .take(SHOWN)
        .map(|line| format!("  {line}"))
        .collect();
    if shown.is_empty() {
        "  (make said nothing)".to_owned()
    } else {
        shown.join("\n")
    }
}

/// What gcc prints above an error: where it was included, in which function.
fn is_context(line: &str) -> bool {
    line.starts_with("In file included")
        || line.starts_with("   ") && line.contains("from ")
        || line.contains(": In function ")
}

/// Whether it is no line of the build itself: `  CC      a.o`, `make: Entering …`.
fn is_said(line: &str) -> bool {
    !["  ", "make: ", "make["]
        .iter()
        .any(|own| line.starts_with(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_before_make_gave_up_is_shown() {
        let log = "  CC      a.o\n  CC      b.o\ncc: no such option\ncc: no such option\n\
                   make: *** [Makefile:33: a.o] Error 1\n\
                   make: *** [Makefile:33: b.o] Error 1\n";
        assert!(first_error(log).starts_with("  cc: no such option\n"));
        assert!(first_error("  CC      a.o\nmake: *** [a.o] Error 1\n").starts_with("  make: "));
    }

    #[test]
    fn the_first_error_comes_with_its_context() {
        let log = "  CC      a.o\n  CC      fs/eventpoll.o\n\
                   In file included from fs/eventpoll.c:21:\n\
                   include/linux/eventpoll.h: In function 'epoll_put_uevent':\n\
                   include/linux/eventpoll.h:85:9: error: expected ';'\n   85 |         foo\n\
                   make[3]: *** [fs/eventpoll.o] Error 1\n";
        insta::assert_snapshot!(first_error(log));
    }

    #[test]
    fn a_full_disk_counts_as_an_error_of_the_compiler() {
        let log = "  CC a.o\n/bin/as: BFD: a.o: No space left on device\nmake: *** [a.o] Error 1\n";
        assert!(
            first_error(log).starts_with("  /bin/as: BFD"),
            "{}",
            first_error(log)
        );
    }

    #[test]
    fn a_silent_failure_shows_the_end_of_the_log() {
        assert_eq!(first_error(""), "  (make said nothing)");
        assert!(first_error("one\ntwo\n").contains("two"));
    }

    #[test]
    fn objects_are_counted_and_other_lines_are_not() {
        assert!(is_object("  CC      fs/eventpoll.o"));
        assert!(is_object("  AS      arch/x86/lib/putuser.o"));
        assert!(!is_object("  AR      fs/built-in.a"));
        assert!(!is_object("  HOSTCC  scripts/mod/modpost.o"));
    }

    #[test]
    fn a_log_that_cannot_be_read_is_not_one_without_complaints() {
        let dir = tempfile::tempdir().unwrap();
        let build_dir = BuildDir::new(dir.path().to_owned());
        fs::write(build_dir.log(), "  CC      fs/eventpoll.o\n").unwrap();
        build_dir.check_windows("A").unwrap();
        fs::remove_file(build_dir.log()).unwrap();
        let told = build_dir.check_windows("A").unwrap_err().to_string();
        assert!(told.contains(build_dir.log().to_str().unwrap()), "{told}");
    }

    #[test]
    fn what_a_cut_off_build_wrote_is_built_again() {
        let dir = tempfile::tempdir().unwrap();
        let build_dir = BuildDir::new(dir.path().to_owned());
        let interrupt = Interrupt::default();
        fs::create_dir_all(build_dir.build().join("fs")).unwrap();
        fs::write(build_dir.build().join("fs/old.o"), "whole").unwrap();
        build_dir.products().keep(&interrupt).unwrap();
        fs::write(dir.path().join("configured"), "").unwrap();
        build_dir.recover(&interrupt).unwrap();
        assert!(dir.path().join("configured").exists());
        fs::write(build_dir.running(), "").unwrap();
        fs::write(build_dir.build().join("fs/new.o"), "half").unwrap();
        build_dir.recover(&interrupt).unwrap();
        assert!(build_dir.build().join("fs/old.o").exists());
        assert!(!build_dir.build().join("fs/new.o").exists());
        assert!(!dir.path().join("configured").exists());
    }
}
