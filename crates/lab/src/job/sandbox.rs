//! Where builds run: without network, without privilege, with nothing of the
//! machine's to write to. Namespaces of Linux (unshare(1)) and a file system in
//! memory that is gone with the last process; nothing has to be cleaned up, whatever
//! ends a build.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use tollgate_robot::Limits;

use super::asked::Error;
use crate::process::{self, Runner};

/// What is mounted, and what then runs in it: `outer.sh`.
pub(super) const OUTER: &str = include_str!("outer.sh");

/// What it ends with where it has stopped the builds itself, and says why.
pub(super) const STOPPED: i32 = 98;

/// So many users from the first on build.
const USERS: u32 = 1000;

/// How far a build is kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// By another user, in namespaces.
    OtherUser,
    /// In namespaces, without rights, as the user who asked: who is not root cannot
    /// be another.
    SameUser,
}

impl Apart {
    /// What this process may have.
    #[must_use]
    pub fn here() -> Self {
        match rustix::process::geteuid().is_root() {
            true => Self::OtherUser,
            false => Self::SameUser,
        }
    }

    /// The sentence for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::OtherUser => {
                "builds run as another user, without network, in file systems of their own"
            }
            Self::SameUser => {
                "builds run without network, in file systems of their own, but as you: only root can choose another user for them"
            }
        }
    }
}

/// `program` in namespaces of its own; it dies with this process.
pub(super) fn command(program: &OsStr, limits: &Limits) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "unshare"]);
    let (users, uid) = match Apart::here() {
        Apart::OtherUser => (
            &[][..],
            (limits.uid + std::process::id() % USERS).to_string(),
        ),
        Apart::SameUser => (&["--user", "--map-root-user"][..], String::new()),
    };
    command.args(users);
    command.args([
        "--mount",
        "--net",
        "--pid",
        "--ipc",
        "--uts",
        "--fork",
        "--kill-child",
    ]);
    command.arg("--mount-proc").arg("sh").arg(program);
    command.env("TOLLGATE_UID", uid);
    command.env("TOLLGATE_MEMORY", (limits.memory_mib << 20).to_string());
    command.env("TOLLGATE_TOTAL", limits.total_mib.to_string());
    command.env("TOLLGATE_DISK", limits.disk_mib.to_string());
    command.env("TOLLGATE_PROCESSES", limits.processes.to_string());
    command
}

/// Whether the machine allows it.
///
/// # Errors
/// With what it says.
pub fn probe(folder: &Path, limits: &Limits, runner: &Runner) -> Result<(), Error> {
    let script = folder.join("probe.sh");
    let text = "set -e\nmkdir -p probe/l probe/u probe/w probe/m\nmount -t tmpfs -o size=1m none probe\n\
        mkdir probe/l probe/u probe/w probe/m\ncd probe\n\
        mount -t overlay -o lowerdir=l,upperdir=u,workdir=w none m\n";
    crate::cache::write_file(&script, text.as_bytes())?;
    let mut command = command(script.as_os_str(), limits);
    command.current_dir(folder);
    match runner.output(&mut command) {
        Ok(_) => Ok(()),
        Err(process::Error::Failed { message, .. }) => Err(Error::Sandbox { reason: message }),
        Err(other) => Err(other.into()),
    }
}
