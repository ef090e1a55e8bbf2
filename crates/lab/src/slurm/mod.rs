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

pub use error::Error;
pub use queue::{Queue, Told};
pub use run::{Record, RunFolder};
pub use site::Site;
pub use store::Store;
