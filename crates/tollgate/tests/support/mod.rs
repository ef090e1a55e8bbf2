//! A lab for tests that need no kernel: the fake tree, the fake QEMU, a cache
//! of its own.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

pub(crate) struct Lab {
    dir: tempfile::TempDir,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let lab = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        copy(&Path::new(HERE).join("fake-tree"), &lab.tree());
        lab
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.path("tree")
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.path("cache")
    }

    /// Writes a file into the tree.
    pub(crate) fn edit(&self, name: &str, text: &str) {
        fs::write(self.tree().join(name), text).unwrap();
    }

    /// `tollgate ARGS`, with nothing of this machine's environment that could
    /// change its answer.
    pub(crate) fn tollgate(&self, args: &[&str]) -> Command {
        let mut command = self.plain(env!("CARGO_BIN_EXE_tollgate"));
        command.args(args);
        command
    }

    /// A shell with the same, in which `tollgate` is ours where no folder of `path` has
    /// another.
    pub(crate) fn shell(&self, script: &str, path: &[PathBuf]) -> Command {
        let ours = Path::new(env!("CARGO_BIN_EXE_tollgate")).parent().unwrap();
        let theirs = std::env::var_os("PATH").unwrap();
        let folders = path.iter().cloned().chain([ours.to_owned()]);
        let all = folders.chain(std::env::split_paths(&theirs));
        let mut command = self.plain("bash");
        command.env("PATH", std::env::join_paths(all).unwrap());
        command.args(["-ec", script]);
        command
    }

    fn plain(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.dir.path());
        for name in [
            "TOLLGATE_CACHE",
            "TOLLGATE_TREE",
            "TOLLGATE_CONFIG_FILE",
            "FAKE_QEMU",
            "NO_COLOR",
            "MAKEFLAGS",
            "COLUMNS",
        ] {
            command.env_remove(name);
        }
        // What was measured for the fake tree by hand is none of a test's.
        command.env("XDG_CACHE_HOME", self.path("home-cache"));
        command.env("SOURCE_DATE_EPOCH", "1704067200");
        command
    }

    /// `tollgate prove epoll` on the fake tree, under the fake QEMU.
    pub(crate) fn prove(&self, args: &[&str]) -> Command {
        let mut command = self.tollgate(&["prove", "epoll"]);
        self.on_fakes(&mut command).args(args);
        command
    }

    /// The same command on the fake tree, under the fake QEMU, with a cache of
    /// its own.
    pub(crate) fn on_fakes<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        self.on_fakes_in(command, &self.cache())
    }

    /// The same with another cache.
    pub(crate) fn on_fakes_in<'a>(
        &self,
        command: &'a mut Command,
        cache: &Path,
    ) -> &'a mut Command {
        let qemu = Path::new(HERE).join("fake-qemu");
        command.arg("--tree").arg(self.tree());
        command.arg("--cache").arg(cache);
        command.arg("--qemu").arg(qemu)
    }

    /// Standard error, with what differs from machine to machine made plain.
    pub(crate) fn said(&self, output: &Output) -> String {
        let text = String::from_utf8(output.stderr.clone()).unwrap();
        let root = fs::canonicalize(self.dir.path()).unwrap();
        text.replace(&*root.to_string_lossy(), "LAB")
            .replace(&*self.dir.path().to_string_lossy(), "LAB")
    }
}

/// `command` with a disk of that size at a folder, in a mount namespace of its own;
/// none where this machine allows none.
pub(crate) fn on_a_small_disk(size: &str, at: &Path, command: &Command) -> Option<Command> {
    fs::create_dir_all(at).unwrap();
    let mount = "mount -t tmpfs -o size=\"$0\" none \"$1\" && shift && exec \"$@\"";
    let with = |program: &[&std::ffi::OsStr]| {
        let mut small = Command::new("unshare");
        small
            .args(["-rm", "sh", "-c", mount, size])
            .arg(at)
            .args(program);
        small
    };
    let probe = with(&["true".as_ref()]).output();
    probe.ok().filter(|probe| probe.status.success())?;
    let words: Vec<&std::ffi::OsStr> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .collect();
    let mut small = with(&words);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => small.env(name, value),
            None => small.env_remove(name),
        };
    }
    small.current_dir(command.get_current_dir().unwrap());
    Some(small)
}

/// Runs to the end.
pub(crate) fn run(command: &mut Command) -> Output {
    command.output().unwrap()
}

/// The same command, heeding signals that whoever runs the tests ignores: under
/// nohup(1) that is SIGHUP, in the background of a script SIGINT.
pub(crate) fn heeding_signals(command: &Command) -> Command {
    let mut heeding = Command::new("env");
    heeding.arg("--default-signal=HUP,INT,TERM");
    heeding.arg(command.get_program());
    copied(command, heeding)
}

/// The words, the folder and the variables of a command for another program.
pub(crate) fn copied(command: &Command, mut other: Command) -> Command {
    other.args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        other.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => other.env(name, value),
            None => other.env_remove(name),
        };
    }
    other
}

/// Exit code, 255 for a signal.
pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(255)
}

/// Every file under a folder, with its bytes and its time.
pub(crate) fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(snapshot(&path));
        } else {
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            all.insert(path.clone(), (fs::read(&path).unwrap(), time));
        }
    }
    all
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
