//! What the rules of `check` say of files, folders and changes: read out of a tree or
//! out of git's objects, and looked at by all processors.

mod again;
mod change;
mod error;
mod files;
mod log;
mod record;
mod state;

pub use change::{Note, Notes, between, patch, range};
pub use error::Error;
pub use files::{Asked, File, files, files_below, files_of, folder, is_tree, text};
pub use record::Records;
