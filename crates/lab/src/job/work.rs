//! A job as its file has it: what is to be done, whole in itself.

use serde::{Deserialize, Serialize};
use tollgate_defect::{Defect, OrDefect as _};

use super::asked::{CellJob, Error, VERSION};
use super::guest::BootJob;
use super::kernel::ImageJob;
use crate::tree;

/// A job as its file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// [`VERSION`].
    pub version: u32,
    /// What is to be done.
    pub work: Work,
}

/// What a job does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Work {
    /// Objects of a tree with a patch, in one cell.
    Cell(Box<CellJob>),
    /// A kernel of a tree with a change.
    Image(Box<ImageJob>),
    /// A boot of a kernel, and what was counted.
    Boot(Box<BootJob>),
}

impl Work {
    /// A hash over all that is asked.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn id(&self) -> Result<String, Defect> {
        let text = serde_json::to_vec(self).or_defect("a job is no JSON")?;
        Ok(tree::hash(&text))
    }

    /// What it is, in messages.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            Self::Cell(job) => format!("the cell {}", job.cell.name),
            Self::Image(job) => format!("the kernel {}", job.name),
            Self::Boot(job) => job.what.clone(),
        }
    }

    /// What the folder is called in which a node keeps what it prepared for it; none
    /// for what needs nothing prepared.
    #[must_use]
    pub fn room(&self) -> Option<String> {
        match self {
            Self::Cell(job) => Some(format!("cell-{}", plain_name(&job.cell.name))),
            Self::Image(job) => Some(format!("kernel-{}", plain_name(&job.kbuild.arch))),
            Self::Boot(_) => None,
        }
    }
}

fn plain_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+.".contains(c);
    name.replace(|c| !plain(c), "-")
}

impl Job {
    /// Reads a job file.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn read(path: &std::path::Path) -> Result<Self, Error> {
        let no_job = |reason: String| Error::NoJob {
            path: path.to_owned(),
            reason,
        };
        let bytes = crate::input::given(path).map_err(|source| Error::Unread {
            path: path.to_owned(),
            source,
        })?;
        let job: Self =
            serde_json::from_slice(&bytes).map_err(|error| no_job(error.to_string()))?;
        match job.version {
            VERSION => Ok(job),
            other => Err(no_job(format!("it is of version {other}"))),
        }
    }
}
