//! Jobs on the nodes of a cluster that Slurm runs.
//!
//! [`text`] writes what Slurm is handed and reads what it says, without effects;
//! [`queue`] hands jobs over and waits; [`store`] is what all runs share. Both sides
//! meet in a folder that all nodes share: every file there is written under a name that
//! nobody else writes, and moved to the name that is read, so that no lock is needed
//! over NFS. What is locked, a cache of prepared build folders, lies on the node's own
//! disk.

mod array;
mod error;
mod queue;
mod run;
mod site;
pub mod store;
pub mod text;

use std::process::Command;

use crate::process::{self, Runner};

pub use error::Error;
pub use queue::{Queue, Told};
pub use run::{Record, RunFolder};
pub use site::Site;
pub use store::Store;

/// Whether this machine has the programs of Slurm that a queue asks.
///
/// # Errors
/// With the one that does not answer, and what it says.
pub fn probe(runner: &Runner) -> Result<(), Error> {
    for program in ["sbatch", "squeue", "scancel"] {
        match runner.output(Command::new(program).arg("--version")) {
            Ok(_) => {}
            Err(error @ process::Error::Interrupted) => return Err(error.into()),
            Err(error) => {
                let said = error.to_string();
                return Err(Error::NoSlurm { said });
            }
        }
    }
    Ok(())
}
