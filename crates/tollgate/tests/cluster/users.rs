//! Users of this machine that a test makes, and that are gone with it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Cluster;
use crate::support::copied;

/// Debian's group of who owns nothing.
const NOGROUP: u32 = 65534;

/// One, with a folder of its own and a tollgate that it may run.
pub(crate) struct User {
    name: String,
    id: u32,
    pub(crate) home: PathBuf,
    program: PathBuf,
}

/// Two users who may all use the cluster; none where whoever runs the tests may make none.
pub(crate) fn two(cluster: &Cluster) -> Option<[User; 2]> {
    let made = |letter| User::new(cluster, letter);
    let (Some(one), Some(two)) = (made('a'), made('b')) else {
        tollgate_testing::elsewhere("no-other-users");
        return None;
    };
    open(&cluster.path(""), 0o755);
    open(&cluster.shared(), 0o1777);
    fs::create_dir(cluster.path("nodes")).unwrap();
    open(&cluster.path("nodes"), 0o1777);
    fs::copy(env!("CARGO_BIN_EXE_tollgate"), &one.program).unwrap();
    open(&one.program, 0o755);
    Some([one, two])
}

/// Lets others into a folder or a file.
pub(crate) fn open(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

impl User {
    fn new(cluster: &Cluster, letter: char) -> Option<Self> {
        let name = format!("tg{}{letter}", std::process::id());
        let mut add = Command::new("/usr/sbin/useradd");
        add.args([
            "-M",
            "-N",
            "-g",
            &NOGROUP.to_string(),
            "-s",
            "/bin/sh",
            &name,
        ]);
        if !add.output().is_ok_and(|output| output.status.success()) {
            return None;
        }
        let said = Command::new("id").args(["-u", &name]).output().unwrap();
        let user = Self {
            id: String::from_utf8(said.stdout)
                .unwrap()
                .trim()
                .parse()
                .unwrap(),
            home: cluster.path(&name),
            program: cluster.path("tollgate"),
            name,
        };
        fs::create_dir(&user.home).unwrap();
        chown(&user.home, Some(user.id), Some(NOGROUP)).unwrap();
        Some(user)
    }

    /// A command of tollgate's with the cluster's engine, as this user gives it.
    pub(crate) fn does(&self, command: &Command) -> Command {
        let mut own = copied(command, Command::new(&self.program));
        let program = format!("program={}", self.program.display());
        own.args(["--slurm", &program]).uid(self.id).gid(NOGROUP);
        own.env("HOME", &self.home).env_remove("XDG_CACHE_HOME");
        own.current_dir(&self.home);
        own
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let gone = Command::new("/usr/sbin/userdel")
            .args(["--force", &self.name])
            .output();
        assert!(gone.unwrap().status.success(), "{} stays", self.name);
    }
}
