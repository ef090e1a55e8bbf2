//! A file that a guest holds, and what is read for one.

use std::path::Path;
use std::{fs, io};

use super::error::Error;

/// A file of a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestFile {
    /// Its path, without the first slash.
    pub path: String,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// Its permissions.
    pub mode: u32,
}

/// All of a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|source| unread(path, source))
}

/// What is said of one that cannot be read.
pub(super) fn unread(path: &Path, source: io::Error) -> Error {
    let path = path.to_owned();
    Error::Read { path, source }
}
