//! The boots of a proof as jobs: a kernel runs, and its counts come back.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::asked::Error;
use crate::boot::{self, Left};
use crate::process::Runner;
use crate::toolchain::Qemu;
use crate::{cache, tree};

/// One boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootJob {
    /// What it is, in messages.
    pub what: String,
    /// The emulator.
    pub qemu: Qemu,
    /// Its arguments.
    pub words: Vec<String>,
    /// The files that they name.
    pub files: Vec<Input>,
    /// Seconds that the guest may take.
    pub seconds: u64,
}

/// A file that a job begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Where it is.
    pub path: PathBuf,
    /// The hash of what it holds.
    pub hash: String,
}

impl BootJob {
    /// Boots, and gives what was left, whatever ended it.
    ///
    /// # Errors
    /// When this machine cannot boot it.
    pub fn run(&self, runner: &Runner) -> Result<Left, Error> {
        let here = Qemu::find(&self.qemu.command, runner)?;
        if here.version != self.qemu.version {
            return Err(Error::OtherQemu {
                what: self.what.clone(),
                wanted: self.qemu.version.clone(),
                here: here.version,
            });
        }
        for Input { path, hash } in &self.files {
            if tree::hash(&cache::read_file(path)?) != *hash {
                return Err(Error::OtherFile {
                    what: self.what.clone(),
                    path: path.clone(),
                });
            }
        }
        let scratch = tempfile::tempdir().map_err(|source| {
            Error::Cache(cache::Error::Write {
                path: std::env::temp_dir(),
                source,
            })
        })?;
        let mut command = std::process::Command::new(&here.command);
        command.args(&self.words).current_dir(scratch.path());
        let limit = Duration::from_secs(self.seconds);
        Ok(boot::run(&mut command, limit, scratch.path(), runner)?)
    }
}
