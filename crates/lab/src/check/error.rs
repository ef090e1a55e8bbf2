//! Why nothing could be checked.

use std::io;
use std::path::PathBuf;

use tollgate_defect::Defect;
use tollgate_source::{GrammarError, shown};

use crate::{git, patch};

/// Why nothing could be checked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder has nothing to check.
    #[error("{} holds no C file{why}: nothing was checked", shown(.folder))]
    NoFile {
        /// The folder.
        folder: PathBuf,
        /// Why one in it could not be listed, in brackets; empty where all were.
        why: String,
    },
    /// A folder of headers could not be listed.
    #[error("{UNLEARNED}")]
    Unlearned(#[source] io::Error),
    /// The system's own.
    #[error(transparent)]
    System(#[from] io::Error),
    /// git gave no answer.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// A patch does not apply, or what it is laid over cannot be read.
    #[error(transparent)]
    Patch(#[from] patch::Error),
    /// The parser could not be set up.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    /// tollgate is wrong.
    #[error(transparent)]
    Defect(#[from] Defect),
}

/// What is not known where a header or a folder of headers cannot be read.
pub(super) const UNLEARNED: &str = "what the tree calls its windows is not known";
