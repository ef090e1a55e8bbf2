//! A git repository as it is read: revisions and ranges, what differs between two
//! revisions, the files of one. Here and nowhere else is git asked for anything.
//!
//! What is read comes out of git's objects, whatever is checked out. Nothing is
//! written: no lock is taken and no index refreshed on disk. Of the user's
//! configuration only what says how objects are found counts.

mod grep;
pub mod mails;
mod objects;
mod quoted;
mod range;
mod repository;
mod work;

#[cfg(test)]
mod tests;

pub use grep::Words;
pub use objects::{Blob, Content, Contents, Difference, Mode, Revision};
pub use quoted::unquoted;
pub use range::{Commit, Range, asked, is_range};
pub use repository::{Error, Repository, isolated, setting};
pub use work::Since;
