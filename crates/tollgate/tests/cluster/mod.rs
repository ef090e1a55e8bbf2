//! A real Slurm of four nodes on this machine, for the tests of the cluster's engine:
//! scripts/slurm-here starts it in a folder of its own and stops it.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

pub(crate) mod users;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/slurm-here");

/// The variable that asks for these tests.
pub(crate) const ASKED: &str = "TOLLGATE_SLURM";

/// The tests' clusters are there one after the other: each takes the whole machine.
static ONE: Mutex<()> = Mutex::new(());

pub(crate) struct Cluster {
    dir: tempfile::TempDir,
    _one: MutexGuard<'static, ()>,
}

impl Cluster {
    /// None where nobody asked, or Slurm is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// The same with variables of scripts/slurm-here.
    pub(crate) fn start_with(more: &[(&str, &str)]) -> Option<Self> {
        tollgate_testing::asked(ASKED)?;
        if ![
            "/usr/sbin/slurmctld",
            "/usr/sbin/slurmd",
            "/usr/sbin/munged",
        ]
        .iter()
        .all(|program| Path::new(program).exists())
        {
            let packages = "apt-get install slurmctld slurmd slurm-client munge";
            tollgate_testing::missing("Slurm", packages);
            return None;
        }
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let cluster = Self {
            dir: tempfile::Builder::new().prefix("tg").tempdir().unwrap(),
            _one: one,
        };
        let owner = std::process::id().to_string();
        let at = cluster.slurm();
        let mut start = Command::new(HERE);
        start.arg("start").arg(&at).args(["4", &owner]);
        cluster.done(start.envs(more.iter().copied()));
        fs::create_dir(cluster.shared()).unwrap();
        Some(cluster)
    }

    fn done(&self, command: &mut Command) {
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {said}");
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn shared(&self) -> PathBuf {
        self.path("shared")
    }

    fn slurm(&self) -> PathBuf {
        self.path("s")
    }

    fn here(&self, words: &[&str]) {
        self.done(Command::new(HERE).args(words));
    }

    pub(crate) fn node(&self, name: &str, what: &str) {
        self.here(&["node", self.slurm().to_str().unwrap(), name, what]);
    }

    pub(crate) fn controller(&self, what: &str) {
        self.here(&["controller", self.slurm().to_str().unwrap(), what]);
    }

    /// A program that knows the cluster.
    pub(crate) fn with<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("SLURM_CONF", self.slurm().join("slurm.conf"))
    }

    /// What a program of Slurm's prints.
    pub(crate) fn says(&self, program: &str, words: &[&str]) -> String {
        let output = self.with(Command::new(program).args(words)).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    }

    /// The cluster's file, with lines of the test's own.
    pub(crate) fn site(&self, more: &str) -> PathBuf {
        let file = self.path("site.toml");
        let text = format!(
            "shared = '{}'\nnode_cache = '{}/%N'\nprogram = '{}'\n{more}\n",
            self.shared().display(),
            self.path("nodes").display(),
            env!("CARGO_BIN_EXE_tollgate"),
        );
        fs::write(&file, text).unwrap();
        file
    }

    /// The command on the nodes.
    pub(crate) fn elsewhere<'c>(&self, command: &'c mut Command, more: &str) -> &'c mut Command {
        let site = self.site(more);
        self.with(command)
            .args(["--engine", "slurm"])
            .arg("--cluster")
            .arg(site)
    }

    /// How many arrays Slurm has or had.
    pub(crate) fn arrays(&self) -> usize {
        self.says("squeue", &["-h", "-t", "all"]).lines().count()
    }

    /// What squeue shows of tasks that are not done.
    pub(crate) fn queued(&self) -> String {
        self.says("squeue", &["-h", "-r"])
    }

    /// The node and the array task of the first that runs, once one does.
    pub(crate) fn running(&self) -> (String, String) {
        let wanted = ["-h", "-r", "-t", "R", "-O", "NodeList:|,JobArrayID:|"];
        let said = until("a task runs", || {
            let said = self.says("squeue", &wanted);
            (!said.trim().is_empty()).then_some(said)
        });
        let line = said.lines().next().unwrap();
        let mut words = line.split('|').map(str::trim);
        let node = words.next().unwrap().to_owned();
        (node, words.next().unwrap().to_owned())
    }

    /// The processes of a task's script that run now.
    pub(crate) fn scripts(&self) -> Vec<u32> {
        let own = format!("SLURM_CONF={}", self.slurm().join("slurm.conf").display());
        let mut found = Vec::new();
        for at in fs::read_dir("/proc").unwrap() {
            let at = at.unwrap();
            let Ok(number) = at.file_name().to_string_lossy().parse() else {
                continue;
            };
            // Processes end while they are looked at.
            let read = |name: &str| fs::read(at.path().join(name)).unwrap_or_default();
            let (command, words) = (read("cmdline"), read("environ"));
            let has = |word: &str| {
                words
                    .split(|byte| *byte == 0)
                    .any(|one| one == word.as_bytes())
            };
            let command = String::from_utf8_lossy(&command);
            if command.contains("slurm_script") && has(&own) {
                found.push(number);
            }
        }
        found
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let stopped = Command::new(HERE).arg("stop").arg(self.slurm()).status();
        assert!(stopped.unwrap().success());
    }
}

/// What is there in the end.
pub(crate) fn until<T>(what: &str, mut is: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = is() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(400), "{what}: never");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A command at work, with what it says in files.
pub(crate) struct Working {
    pub(crate) child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Working {
    pub(crate) fn new(command: &mut Command, dir: &Path) -> Self {
        let (out, err) = (dir.join("working.out"), dir.join("working.err"));
        command.stdin(Stdio::null());
        command.stdout(File::create(&out).unwrap());
        command.stderr(File::create(&err).unwrap());
        Self {
            child: command.spawn().unwrap(),
            out,
            err,
        }
    }

    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.err).unwrap()
    }

    pub(crate) fn says(&self, words: &str) {
        until(words, || self.said().contains(words).then_some(()));
    }

    pub(crate) fn ended(mut self) -> Output {
        let status = self.child.wait().unwrap();
        Output {
            status,
            stdout: fs::read(&self.out).unwrap(),
            stderr: fs::read(&self.err).unwrap(),
        }
    }
}
