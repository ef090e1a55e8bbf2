//! What a job is, as its file has it, and why one gave no result.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tollgate_robot::{Cell, Limits};
use tollgate_source::shown;

use super::content::Content;
use crate::{cache, process, space, toolchain, tree};

/// The version of the format.
pub const VERSION: u32 = 1;

/// Why a job gave no result. What a build itself says is no error but its result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program could not be run, or the user asked to stop.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// The cache could not be used.
    #[error(transparent)]
    Cache(#[from] cache::Error),
    /// The tree could not be read.
    #[error(transparent)]
    Tree(#[from] tree::Error),
    /// The compiler does not answer.
    #[error("the cell {cell} needs {packages}: {source}")]
    Compiler {
        /// The cell.
        cell: String,
        /// Debian's packages that have it.
        packages: String,
        /// What it said.
        source: Box<toolchain::Error>,
    },
    /// The machine allows no sandbox.
    #[error(
        "builds run in namespaces of their own, which this machine does not allow: {reason}; run it as root, or allow user namespaces"
    )]
    Sandbox {
        /// What the system said.
        reason: String,
    },
    /// Something stopped the build that is not the patch's doing.
    #[error("{what} died: {reason}")]
    Died {
        /// What was done.
        what: String,
        /// Why.
        reason: String,
    },
    /// The configuration could not be made, or is not what was asked for.
    #[error("the configuration of {cell} cannot be had: {reason}")]
    Config {
        /// The cell.
        cell: String,
        /// Why.
        reason: String,
    },
    /// The file cannot be read.
    #[error("the job file {} could not be read: {source}", shown(.path))]
    Unread {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is no job.
    #[error("{} is no job of version {VERSION}: {reason}", shown(.path))]
    NoJob {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another machine was to do it.
    #[error(transparent)]
    Elsewhere(crate::slurm::Error),
    /// Another machine did it with another compiler.
    #[error(
        "the cell {cell} was built elsewhere with {there}, and here is {here}: nodes and this machine need the same compilers"
    )]
    OtherCompiler {
        /// The cell.
        cell: String,
        /// What the other machine has.
        there: String,
        /// What this one has.
        here: String,
    },
    /// This machine has another QEMU than the one that the job was made for.
    #[error(
        "{what} needs QEMU {wanted}, and here is {here}: nodes and the machine that asks need the same"
    )]
    OtherQemu {
        /// What is to be done.
        what: String,
        /// What the machine that asks has.
        wanted: String,
        /// What this one has.
        here: String,
    },
    /// A file that the job names is another one, or is damaged.
    #[error("{} does not hold what {what} was made for", shown(.path))]
    OtherFile {
        /// What is to be done.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// The kernel could not be built.
    #[error(transparent)]
    Image(#[from] crate::image::Error),
    /// The guest could not be booted.
    #[error(transparent)]
    Boot(#[from] crate::boot::Error),
    /// A program that it needs is not to be had.
    #[error(transparent)]
    Tool(#[from] toolchain::Error),
    /// tollgate itself is wrong.
    #[error(transparent)]
    Defect(#[from] tollgate_defect::Defect),
    /// The tree is another one.
    #[error("the job was made for another state of {}: make it again, or give it that tree", shown(.tree))]
    OtherTree {
        /// The tree.
        tree: PathBuf,
    },
}

impl From<crate::remembered::Error> for Error {
    fn from(error: crate::remembered::Error) -> Self {
        match error {
            crate::remembered::Error::Tree(error) => Self::Tree(error),
            crate::remembered::Error::Cache(error) => Self::Cache(error),
        }
    }
}

impl From<crate::slurm::Error> for Error {
    fn from(error: crate::slurm::Error) -> Self {
        match error {
            crate::slurm::Error::Process(error) => Self::Process(error),
            crate::slurm::Error::Shared(error) => Self::Cache(error),
            crate::slurm::Error::Defect(defect) => Self::Defect(defect),
            other => Self::Elsewhere(other),
        }
    }
}

/// Objects of a tree in one state, in one cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellJob {
    /// The tree; only read.
    pub tree: PathBuf,
    /// The id of its manifest.
    pub tree_id: String,
    /// The cell.
    pub cell: Cell,
    /// What it may take.
    pub limits: Limits,
    /// `W=`.
    pub warn: String,
    /// Whether sparse runs too (`C=1`).
    pub sparse: bool,
    /// Files of the tree that are others here, by path.
    pub changes: Vec<FileChange>,
    /// Whether the changes reach the configuration, so that it is made anew.
    pub reconfigure: bool,
    /// What is built, `fs/eventpoll.o`.
    pub objects: Vec<String>,
    /// Paths of the tree of which the lines that reach the compiler are wanted.
    pub watched: Vec<String>,
    /// Whether the objects are only preprocessed.
    pub preprocess_only: bool,
}

/// A file of the tree that is another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileChange {
    /// Its path.
    pub path: String,
    /// What it holds; none where it is gone.
    pub content: Option<Content>,
    /// Whether it may be executed.
    pub program: bool,
    /// Whether it is a symbolic link, which holds where it points to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
}

/// What was done to a build that a patch cannot do: the machine's doing, not its.
pub(super) fn death(said: &str) -> Option<String> {
    const SIGNS: [(&str, &str); 9] = [
        (space::NO_SPACE, "no room is left on its disk"),
        ("Disk quota exceeded", "its quota is used up"),
        ("virtual memory exhausted", "it may have no more memory"),
        ("Cannot allocate memory", "it may have no more memory"),
        ("out of memory", "it may have no more memory"),
        (
            "Resource temporarily unavailable",
            "it may have no more processes",
        ),
        ("internal compiler error", "the compiler crashed"),
        (
            "Killed signal terminated program",
            "the compiler was killed",
        ),
        ("PLEASE submit a bug report", "the compiler crashed"),
    ];
    let found = SIGNS.iter().find(|(sign, _)| said.contains(sign));
    if let Some((sign, reason)) = found {
        return Some(format!("{reason} (\"{sign}\")"));
    }
    said.lines().find_map(killed)
}

/// Whether make or a shell says that a signal from outside ended a program: nothing that
/// is built sends one.
fn killed(line: &str) -> Option<String> {
    const WORDS: [&str; 5] = ["Killed", "Terminated", "Hangup", "Interrupt", "Quit"];
    let is = |word: &&&str| match line.strip_suffix(**word) {
        Some(before) => before.is_empty() || before.ends_with("] "),
        None => false,
    };
    let word = WORDS.iter().find(is)?;
    Some(format!("one of its programs was killed (\"{word}\")"))
}

/// What ended a program that is known by the status a shell gives it, where that was a
/// signal.
pub(super) fn ended_by(status: i32) -> Option<String> {
    const SIGNALS: std::ops::RangeInclusive<i32> = 1..=64;
    let signal = status.checked_sub(128);
    let signal = signal.filter(|signal| SIGNALS.contains(signal))?;
    Some(format!("signal {signal} ended it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kills_a_build_is_told_from_what_it_says() {
        assert_eq!(death("x.c:1: error: y"), None);
        for (said, word) in [
            ("a\nKilled\n", "Killed"),
            ("make: *** [Makefile:45: fs/b.o] Terminated\n", "Terminated"),
        ] {
            let words = format!("one of its programs was killed (\"{word}\")");
            assert_eq!(death(said), Some(words));
        }
        assert_eq!(death("x.c:1: error: Terminated"), None);
        // The last two are no signals (signal(7)): xargs and ssh end with 255.
        assert_eq!([2, 128, 193, 255].map(ended_by), [(); 4].map(|()| None));
        assert_eq!(ended_by(143).as_deref(), Some("signal 15 ended it"));
        let full = death("cc1: fatal error: x.s: No space left on device").unwrap();
        assert!(full.contains("no room"), "{full}");
        assert!(death("gcc: internal compiler error: Segmentation fault").is_some());
    }
}
