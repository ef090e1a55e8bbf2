//! A room for tests of the build robot: a tree of a few files, a cache of its own, and
//! the machine's own compiler in the real sandbox.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{code, run};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/robot-tree");

pub(crate) struct Room {
    pub(crate) dir: tempfile::TempDir,
}

impl Room {
    /// None where the machine allows no namespaces.
    pub(crate) fn new() -> Option<Self> {
        let allowed = Command::new("unshare")
            .args(["-rmn", "true"])
            .output()
            .unwrap();
        if !allowed.status.success() {
            tollgate_testing::elsewhere("no-mount-namespaces");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let made = Command::new("cp")
            .arg("-r")
            .arg(HERE)
            .arg(dir.path().join("tree"))
            .status();
        assert!(made.unwrap().success());
        Some(Self { dir })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A diff that puts `to` in the place of `from` in files of the tree.
    pub(crate) fn diff(&self, edits: &[(&str, &str, &str)]) -> String {
        self.diff_of("tree", edits)
    }

    pub(crate) fn diff_of(&self, tree: &str, edits: &[(&str, &str, &str)]) -> String {
        let mut text = String::new();
        for (file, from, to) in edits {
            let old = self.path(tree).join(file);
            let before = fs::read_to_string(&old).unwrap();
            assert!(before.contains(from), "{file}");
            let new = self.path("new");
            fs::write(&new, before.replacen(from, to, 1)).unwrap();
            let labels = [format!("--label=a/{file}"), format!("--label=b/{file}")];
            let said = Command::new("diff")
                .arg("-u")
                .args(labels)
                .arg(&old)
                .arg(&new)
                .output();
            text += &String::from_utf8(said.unwrap().stdout).unwrap();
        }
        text
    }

    pub(crate) fn command(&self, text: &str, args: &[&str]) -> Command {
        self.command_in(&self.path("cache"), text, args)
    }

    /// The same with another cache.
    pub(crate) fn command_in(&self, cache: &Path, text: &str, args: &[&str]) -> Command {
        let patch = self.path("the.patch");
        fs::write(&patch, text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        command.arg("robot").arg("--tree").arg(self.path("tree"));
        command.arg("--cache").arg(cache).args(["--cell", "x86_64"]);
        command.args(args).arg(patch).env_remove("TOLLGATE_CACHE");
        command
    }

    pub(crate) fn robot(&self, text: &str, args: &[&str]) -> (i32, String) {
        let output = run(&mut self.command(text, args));
        (code(&output), both(&output))
    }
}

pub(crate) fn both(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// An edit that breaks what only one option compiles.
pub(crate) const BREAKS: (&str, &str, &str) = ("fs/a.c", "return value + 1;", "return valu + 1;");
