//! A series of patches as states of the tree: a mailbox laid over the tree patch
//! by patch, or the commits of a range in the tree's own history. The tree is only
//! read; nothing is checked out.

use std::path::{Path, PathBuf};
use std::process::Command;

use tollgate_source::TreePath;

use crate::cache::Cache;
use crate::patch::{self, Part, Patch};
use crate::process::{self, Runner};
use crate::tree::{Change, Tree};

/// Why there are no states.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The mailbox cannot be used.
    #[error(transparent)]
    Patch(#[from] patch::Error),
    /// A patch of a mailbox does not apply.
    #[error("patch {number} of the series, \"{title}\": {source}")]
    Part {
        /// Its number, from 1.
        number: usize,
        /// Its subject.
        title: String,
        /// What git said.
        source: Box<patch::Error>,
    },
    /// git does not know the range, or the tree is no repository.
    #[error("git cannot say what {range} is in {}: {reason}", .tree.display())]
    Range {
        /// What was asked for.
        range: String,
        /// The tree.
        tree: PathBuf,
        /// What git said.
        reason: String,
    },
    /// A range without a commit.
    #[error("the range {range} holds no commit in {}", .tree.display())]
    Empty {
        /// What was asked for.
        range: String,
        /// The tree.
        tree: PathBuf,
    },
    /// git could not be run.
    #[error(transparent)]
    Process(process::Error),
}

/// One state of the tree in a series.
#[derive(Clone, Debug)]
pub struct State {
    /// How many patches of the series it has.
    pub number: usize,
    /// The subject of the last of them.
    pub title: String,
    /// What makes it of the tree as it is.
    pub change: Change,
}

/// The tree as it is, and with one patch of the mailbox more each time.
///
/// # Errors
/// When the mailbox cannot be read or a patch does not apply.
pub fn mailbox(
    path: &Path,
    tree: &Tree,
    cache: &Cache,
    runner: &Runner,
) -> Result<Vec<State>, Error> {
    let parts = patch::parts(path, cache, runner)?;
    let mut states = vec![State {
        number: 0,
        title: "the tree before the series".to_owned(),
        change: Change::default(),
    }];
    for (at, part) in parts.iter().enumerate() {
        let number = at + 1;
        let applied = first(path, &parts, number);
        let change = patch::apply(&applied, tree, cache, runner).map_err(|source| Error::Part {
            number,
            title: part.subject.clone(),
            source: Box::new(source),
        })?;
        states.push(State {
            number,
            title: part.subject.clone(),
            change,
        });
    }
    Ok(states)
}

/// The first `number` patches as one.
fn first(path: &Path, parts: &[Part], number: usize) -> Patch {
    let diffs = parts.iter().take(number).map(|part| part.diff.as_slice());
    Patch {
        path: path.to_owned(),
        diff: diffs.collect::<Vec<_>>().concat(),
        patches: number,
    }
}

/// The commit that a range `A..B` begins at, and each that it holds, oldest
/// first, whatever the work tree has.
///
/// # Errors
/// When git does not know the range, or it holds no commit.
pub fn range(range: &str, tree: &Tree, runner: &Runner) -> Result<Vec<State>, Error> {
    let git = Git {
        range,
        tree,
        runner,
    };
    let commits = git.text(&["rev-list", "--reverse", "--first-parent", range, "--"])?;
    let Some(oldest) = commits.lines().next() else {
        return Err(Error::Empty {
            range: range.to_owned(),
            tree: tree.root().to_owned(),
        });
    };
    let before = git.text(&["rev-parse", "--verify", &format!("{oldest}^")])?;
    let all = std::iter::once(before.trim()).chain(commits.lines());
    all.enumerate()
        .map(|(number, commit)| git.state(number, commit))
        .collect()
}

struct Git<'a> {
    range: &'a str,
    tree: &'a Tree,
    runner: &'a Runner,
}

impl Git<'_> {
    fn state(&self, number: usize, commit: &str) -> Result<State, Error> {
        let title = self.text(&["log", "-1", "--format=%s", commit, "--"])?;
        Ok(State {
            number,
            title: title.trim().to_owned(),
            change: self.change(commit)?,
        })
    }

    /// What makes the commit's files of those that are there.
    fn change(&self, commit: &str) -> Result<Change, Error> {
        let listed = self.bytes(&[
            "diff",
            "--name-status",
            "--no-renames",
            "--relative",
            "-z",
            commit,
            "--",
        ])?;
        let words: Vec<&[u8]> = listed.split(|byte| *byte == 0).collect();
        let mut change = Change::default();
        for pair in words.chunks_exact(2) {
            let [status, name] = pair else { continue };
            let Some(name) = TreePath::new(name) else {
                continue;
            };
            // `A`: the commit does not have it.
            let bytes = match *status {
                b"A" => None,
                _ => Some(self.bytes(&["show", &format!("{commit}:./{}", name.lossy())])?),
            };
            change.files.insert(name, bytes);
        }
        Ok(change)
    }

    fn text(&self, arguments: &[&str]) -> Result<String, Error> {
        Ok(String::from_utf8_lossy(&self.bytes(arguments)?).into_owned())
    }

    fn bytes(&self, arguments: &[&str]) -> Result<Vec<u8>, Error> {
        let mut command = Command::new("git");
        command.current_dir(self.tree.root()).env("LC_ALL", "C");
        // git would bring the index of the user's repository up to date.
        command.env("GIT_OPTIONAL_LOCKS", "0");
        command.args(["-c", "diff.autoRefreshIndex=false"]);
        self.runner
            .output(command.args(arguments))
            .map_err(|error| match error {
                process::Error::Failed { message, .. } => Error::Range {
                    range: self.range.to_owned(),
                    tree: self.tree.root().to_owned(),
                    reason: message.trim().to_owned(),
                },
                other => Error::Process(other),
            })
    }
}
