//! What every step of the robot needs.

use std::path::PathBuf;

use tollgate_lab::cache::Cache;
use tollgate_lab::job::{self, CellJob};
use tollgate_lab::process::Runner;
use tollgate_lab::slurm::{Queue, Site};
use tollgate_robot::{Cell, Limits};

use tollgate_lab::tree::Tree;

/// Where a job's builds find the tree.
pub(super) const ROOT: &str = "/tmp/linux";

/// What is run of the tree's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Delegated {
    /// scripts/checkpatch.pl on the patch
    Checkpatch,
    /// scripts/kernel-doc on the files, before and after
    KernelDoc,
    /// scripts/get_maintainer.pl on the patch
    GetMaintainer,
    /// scripts/coccicheck's rules on the C files, before and after
    Coccicheck,
}

/// What is asked of the robot.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) tree: PathBuf,
    /// The patches: a file, words that name a range, or what messages call `piped`.
    pub(crate) patches: std::ffi::OsString,
    /// Patches that were read from standard input.
    pub(crate) piped: Option<Vec<u8>>,
    pub(crate) cache: Option<PathBuf>,
    /// Only these cells; all where none is named.
    pub(crate) cells: Vec<String>,
    /// `W=`.
    pub(crate) warn: String,
    pub(crate) sparse: bool,
    pub(crate) full: bool,
    pub(crate) trust: bool,
    /// Random configurations and their first seed.
    pub(crate) random: (u64, u64),
    pub(crate) jobs: usize,
    pub(crate) delegated: Vec<Delegated>,
    /// The cluster whose nodes build; none where this machine does.
    pub(crate) site: Option<Site>,
    /// Where the job files go.
    pub(crate) job_files: Option<PathBuf>,
}

/// What every step needs.
pub(crate) struct Robot<'a> {
    pub(super) asked: &'a Asked,
    pub(super) tree: &'a Tree,
    pub(super) tree_id: String,
    pub(super) cells: Vec<Cell>,
    pub(super) limits: Limits,
    pub(super) cache: &'a Cache,
    pub(super) runner: &'a Runner,
    /// The cluster's queue; none where this machine builds.
    pub(super) queue: Option<&'a Queue>,
    pub(super) pool: rayon::ThreadPool,
}

impl Robot<'_> {
    pub(super) fn flags(&self) -> String {
        let mut flags = Vec::new();
        if !self.asked.warn.is_empty() {
            flags.push(format!("W={}", self.asked.warn));
        }
        if self.asked.sparse {
            flags.push("C=1".to_owned());
        }
        flags.join(" ")
    }

    /// A job of a cell on the tree as it is.
    pub(super) fn job(&self, cell: &Cell) -> CellJob {
        CellJob {
            tree: self.tree.root().to_owned(),
            tree_id: self.tree_id.clone(),
            cell: cell.clone(),
            limits: self.limits,
            warn: self.asked.warn.clone(),
            sparse: self.asked.sparse,
            changes: Vec::new(),
            reconfigure: false,
            objects: Vec::new(),
            watched: Vec::new(),
            preprocess_only: false,
        }
    }

    /// The machine's answer is none of the user's wish to stop.
    pub(super) fn given_up(&self, error: &job::Error) -> bool {
        matches!(
            error,
            job::Error::Process(tollgate_lab::process::Error::Interrupted)
        )
    }
}
