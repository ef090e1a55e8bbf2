//! Why a job of the queue has no answer.

use std::path::{Path, PathBuf};

use tollgate_source::shown;

use crate::{cache, process};

/// Why a job of the queue has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program could not be run, or the user asked to stop.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// The shared folder could not be used.
    #[error(transparent)]
    Shared(#[from] cache::Error),
    /// The folder that all share is not one.
    #[error(
        "the shared folder {} cannot be used: {reason}; it has to be there under this name, on this machine and on every node, and you have to be let in to write", shown(.path)
    )]
    NoShared {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// A program of Slurm's does not answer on this machine.
    #[error(
        "{said}; --engine slurm needs sbatch, squeue and scancel on this machine, and the site's slurm.conf (Debian's package is slurm-client)"
    )]
    NoSlurm {
        /// What came of it.
        said: String,
    },
    /// What the cluster is could not be read.
    #[error("the cluster's file {} could not be read: {source}", shown(.path))]
    Unread {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Nobody says what the cluster is.
    #[error(
        "--engine slurm: nothing says what the cluster is; name its file with --cluster FILE (docs/cluster.md has what is in it)"
    )]
    NoSite,
    /// What the cluster is cannot be used.
    #[error("{} cannot be used: {reason}", file(.path.as_deref()))]
    Site {
        /// The file, where there is one.
        path: Option<PathBuf>,
        /// What is wrong with it.
        reason: String,
    },
    /// A node said why it could not be done; it would not be done elsewhere.
    #[error("{0}")]
    Said(String),
    /// Slurm does not take it.
    #[error("Slurm does not take {what}: {reason}")]
    Refused {
        /// What was to be done.
        what: String,
        /// What it said.
        reason: String,
    },
    /// It was done as often as it may be, or doing it again would change nothing.
    #[error("Slurm gave no answer for {what}: {reason}")]
    NoAnswer {
        /// What was to be done.
        what: String,
        /// What came of each try.
        reason: String,
    },
    /// tollgate itself is wrong.
    #[error(transparent)]
    Defect(#[from] tollgate_defect::Defect),
}

fn file(path: Option<&Path>) -> String {
    match path {
        Some(path) => format!("the cluster's file {}", shown(path)),
        None => "what --slurm says of the cluster".to_owned(),
    }
}
