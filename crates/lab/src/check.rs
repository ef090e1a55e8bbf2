//! What the rules of `check` say of files, folders and changes: read out of a tree or
//! out of git's objects, and looked at by all processors.

mod change;
mod error;
mod files;
mod log;
mod state;

pub use change::{Note, between, patch, range};
pub use error::Error;
pub use files::{Asked, File, files, files_below, files_of, folder, text};
