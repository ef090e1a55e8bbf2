//! Jobs on the nodes of a cluster that Slurm runs.
//!
//! [`text`] writes what Slurm is handed and reads what it says, without effects;
//! [`queue`] hands jobs over and waits. Both sides meet in a folder that all nodes
//! share: every file there is written under a name that nobody else writes, and moved
//! to the name that is read, so that no lock is needed over NFS. What is locked, a
//! cache of prepared build folders, lies on the node's own disk.

mod queue;
mod site;
pub mod text;

pub use queue::Queue;
pub use site::Site;

use std::path::PathBuf;

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
    /// What the cluster is could not be read.
    #[error("the cluster's file {} could not be read: {source}", shown(.path))]
    Unread {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// What the cluster is cannot be used.
    #[error("the cluster's file {} cannot be used: {reason}", shown(.path))]
    Site {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
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
}
