//! A repository: where it is, and how git is asked.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tollgate_defect::answer;

use tollgate_source::{TreePath, shown};

use crate::process::{self, Runner};

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder is in none, or in one that git does not read.
    #[error("{} is in no git repository that can be read: {reason}", shown(.folder))]
    NoRepository {
        /// The folder.
        folder: PathBuf,
        /// What git said.
        reason: String,
    },
    /// There is no such commit.
    #[error("git knows no commit {revision} in {}{}", shown(.folder), behind(.reason))]
    Unknown {
        /// The revision as it was asked for.
        revision: String,
        /// The folder.
        folder: PathBuf,
        /// What git said, and what can be done.
        reason: String,
    },
    /// What was asked for is no file either.
    #[error("there is no file {words}, and {source}")]
    Neither {
        /// What was asked for.
        words: String,
        /// Why it is no revision.
        source: Box<Error>,
    },
    /// `A...B` without a commit that both have.
    #[error("{range}: the two have no commit in common in {}{}", shown(.folder), behind(.reason))]
    NoBase {
        /// The range as it was asked for.
        range: String,
        /// The folder.
        folder: PathBuf,
        /// What can be done.
        reason: String,
    },
    /// A file, where one was asked for that is not there.
    #[error("commit {commit} names an object that {} does not have{}", shown(.folder), behind(.reason))]
    Lacks {
        /// The commit.
        commit: String,
        /// The folder.
        folder: PathBuf,
        /// What can be done.
        reason: String,
    },
    /// git failed at something else.
    #[error("git {what} failed in {}: {reason}", shown(.folder))]
    Failed {
        /// Its command.
        what: String,
        /// The folder.
        folder: PathBuf,
        /// What it said.
        reason: String,
    },
    /// git wrote something that is not what it documents.
    #[error("git {what} gave an answer that is not understood: {reason}")]
    Answer {
        /// Its command.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// git could not be run, or the user asked to stop.
    #[error(transparent)]
    Process(#[from] process::Error),
}

fn behind(reason: &str) -> String {
    match reason {
        "" => String::new(),
        reason => format!(": {reason}"),
    }
}

/// Variables that say which repository git reads (`git rev-parse
/// --local-env-vars`, without those that carry configuration, which may say that a
/// folder is safe to read).
const PLACE: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
];

/// Those that change how git understands or says something.
const MANNER: &[&str] = &[
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_TRACE",
    "GIT_TRACE_SETUP",
    "GIT_TRACE_PERFORMANCE",
    "GIT_TRACE_PACKET",
    "GIT_TRACE_PACK_ACCESS",
    "GIT_TRACE2",
];

/// Settings of the user's that would change an answer, or start programs.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "diff.orderFile=/dev/null",
    "i18n.logOutputEncoding=UTF-8",
    "log.showSignature=false",
];

/// git in a folder, without a say of the environment in where it reads.
fn plain(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("--no-pager").arg("-C").arg(folder);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    for name in PLACE.iter().chain(MANNER) {
        command.env_remove(name);
    }
    command
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    command
}

/// git on files of our own in `folder`, away from every configuration and
/// repository of the user's.
#[must_use]
pub fn isolated(folder: &Path) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.as_bytes().starts_with(b"GIT_") {
            command.env_remove(name);
        }
    }
    command
        .current_dir(folder)
        // A repository around the folder has no say in this.
        .env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("LC_ALL", "C");
    command
}

/// What the user has set for a folder, in a repository or not.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "without git, a repository or the setting there is none, which is the answer"
)]
pub fn setting(folder: &Path, key: &str, runner: &Runner) -> Option<String> {
    let mut command = plain(folder);
    let value = runner.output(command.args(["config", "--get", key])).ok()?;
    let value = answer::text(&value)?.trim().to_owned();
    Some(value).filter(|value| !value.is_empty())
}

/// A repository, as a folder in it or around it shows it.
#[derive(Debug)]
pub struct Repository<'r> {
    /// The folder that was given.
    pub(super) folder: PathBuf,
    /// Where that is below the repository's top; the top itself without one.
    prefix: TreePath,
    /// The repository itself, `.git`.
    store: PathBuf,
    /// What of the environment holds, with its value.
    environment: Vec<(OsString, OsString)>,
    pub(super) runner: &'r Runner,
}

impl<'r> Repository<'r> {
    /// The repository that a folder lies in: a work tree or a part of one, a
    /// linked one, or a bare repository. `GIT_DIR` and the like count only where
    /// the folder lies in none, or in that very one.
    ///
    /// # Errors
    /// When there is none, or git refuses to read it.
    pub fn around(folder: &Path, runner: &'r Runner) -> Result<Self, Error> {
        let mut found = Self {
            folder: folder.to_owned(),
            prefix: TreePath::top(),
            store: PathBuf::new(),
            environment: Vec::new(),
            runner,
        };
        let own = found.look();
        if std::env::var_os("GIT_DIR").is_none() {
            return own.map(|()| found);
        }
        let store = found.store.clone();
        found.environment = environment();
        match (own, found.look()) {
            (Err(error), Err(_)) => return Err(error),
            (Err(_), Ok(())) => {}
            (Ok(()), told) if told.is_ok() && found.store == store => {}
            (Ok(()), _) => {
                found.environment.clear();
                found.look()?;
            }
        }
        Ok(found)
    }

    /// Asks git where the folder is.
    fn look(&mut self) -> Result<(), Error> {
        let arguments = ["rev-parse", "--absolute-git-dir", "--show-prefix"];
        let said = self.raw(&arguments).map_err(|error| match error {
            process::Error::Failed { message, .. } => Error::NoRepository {
                folder: self.folder.clone(),
                reason: in_a_line(&message),
            },
            other => Error::Process(other),
        })?;
        let mut lines = said.split(|byte| *byte == b'\n');
        let (Some(store), Some(prefix)) = (lines.next(), lines.next()) else {
            let source = std::io::Error::other("it named no folder of a repository");
            let program = "git rev-parse".to_owned();
            return Err(Error::Process(process::Error::Read { program, source }));
        };
        self.store = PathBuf::from(OsStr::from_bytes(store));
        // At the top there is none.
        self.prefix = TreePath::new(prefix).unwrap_or_else(TreePath::top);
        Ok(())
    }

    /// The folder that was given.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the folder is below the repository's top.
    #[must_use]
    pub fn prefix(&self) -> &TreePath {
        &self.prefix
    }

    /// A path from the repository's top, of one from the folder.
    #[must_use]
    pub fn whole(&self, path: &TreePath) -> TreePath {
        self.prefix.joined(path.as_bytes())
    }

    /// A path from the folder, of one from the repository's top; none outside.
    #[must_use]
    pub fn below(&self, path: &TreePath) -> Option<TreePath> {
        path.below(&self.prefix)
    }

    /// The subjects of the last commits that touched a file, newest first, without
    /// merges.
    ///
    /// # Errors
    /// When git fails.
    pub fn subjects(&self, path: &TreePath, most: usize) -> Result<Vec<String>, Error> {
        let mut command = self.command();
        command.env("GIT_LITERAL_PATHSPECS", "1");
        command.args(["log", "--no-merges", "--format=%s", "-n"]);
        command.arg(most.to_string()).arg("--").arg(path.as_path());
        let said = self.done("log", self.runner.output(&mut command))?;
        let said = String::from_utf8_lossy(&said);
        Ok(said.lines().map(str::to_owned).collect())
    }

    pub(super) fn command(&self) -> Command {
        let mut command = plain(&self.folder);
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        command
    }

    pub(super) fn raw(&self, arguments: &[&str]) -> Result<Vec<u8>, process::Error> {
        self.runner.output(self.command().args(arguments))
    }

    /// What git writes; the first of the arguments is its command.
    pub(super) fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, Error> {
        let what = arguments.first().copied().unwrap_or_default();
        self.done(what, self.raw(arguments))
    }

    pub(super) fn done(
        &self,
        what: &str,
        said: Result<Vec<u8>, process::Error>,
    ) -> Result<Vec<u8>, Error> {
        said.map_err(|error| match error {
            process::Error::Failed { message, .. } => Error::Failed {
                what: what.to_owned(),
                folder: self.folder.clone(),
                reason: reason(&message),
            },
            other => Error::Process(other),
        })
    }

    /// What can be done where an object is missing.
    pub(super) fn advice(&self) -> String {
        let told = self.raw(&["rev-parse", "--is-shallow-repository"]);
        match told {
            Ok(told) if told.starts_with(b"true") => {
                "its history is cut off (a shallow clone); git fetch --unshallow brings the rest"
                    .to_owned()
            }
            _ => String::new(),
        }
    }
}

/// What of the environment says which repository is meant. Relative paths are
/// those of this process, not of the folder that git is sent to.
fn environment() -> Vec<(OsString, OsString)> {
    let known = PLACE
        .iter()
        .filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let is_path = |name: &str| {
        !matches!(
            name,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES"
                | "GIT_PREFIX"
                | "GIT_NAMESPACE"
                | "GIT_IMPLICIT_WORK_TREE"
        )
    };
    let value = |name: &str, value: OsString| match std::path::absolute(&value) {
        Ok(path) if is_path(name) => path.into_os_string(),
        _ => value,
    };
    known
        .map(|(name, told)| (name.into(), value(name, told)))
        .collect()
}

/// What git says in several lines, without its marks.
fn in_a_line(message: &str) -> String {
    let lines = message.lines().map(str::trim);
    let words: Vec<String> = lines.filter(|line| !line.is_empty()).map(reason).collect();
    words.join(" ")
}

/// The first thing that git says, without the words that every message has.
pub(super) fn reason(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default().trim();
    let first = first.strip_prefix("fatal: ").unwrap_or(first);
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}
