//! What a folder of the cache holds, by content: taken down when it is made, looked at
//! whenever it is used.

use std::fs;
use std::path::{Path, PathBuf};

use tollgate_source::TreePath;

use crate::cache::Error;
use crate::input;
use crate::process::Interrupt;
use crate::sealed;
use crate::tree::{self, Manifest};

/// The file of a folder that says what the others hold.
pub const SUMS: &str = "sums.json";

/// Takes down what a folder holds.
///
/// # Errors
/// When it cannot be read, or the file not be written.
pub fn take(folder: &Path) -> Result<(), Error> {
    sealed::keep(&folder.join(SUMS), &listed(folder, &Interrupt::default())?)
}

/// Every file of a folder with what it holds, whatever it is called.
pub(crate) fn listed(folder: &Path, interrupt: &Interrupt) -> Result<Manifest, Error> {
    let listed = tree::manifest_by(folder, interrupt, &|_| false, &|path| tree::file(path));
    listed.map_err(|error| unreadable(folder, &error))
}

/// What is known of a folder.
#[derive(Debug, PartialEq, Eq)]
pub enum State {
    /// Each file holds what was taken down; the files.
    Whole(Vec<TreePath>),
    /// The first file that does not.
    Damaged(PathBuf),
    /// There is nothing, or nothing was taken down.
    Unknown,
}

/// Whether each file of a folder still holds what it held when that was taken down.
/// Files that came later are not looked at.
///
/// # Errors
/// When a file cannot be read.
pub fn state(folder: &Path) -> Result<State, Error> {
    let Some(known) = sealed::kept::<Manifest>(&folder.join(SUMS))? else {
        return Ok(State::Unknown);
    };
    for (path, entry) in known.entries() {
        let place = folder.join(path);
        match fs::symlink_metadata(&place) {
            Ok(_) => {}
            Err(error) if input::is_absent(&error) => return Ok(State::Damaged(place)),
            Err(error) => return Err(unreadable(&place, &error)),
        }
        let present = tree::entry_of(&place).map_err(|error| unreadable(&place, &error))?;
        if present != *entry {
            return Ok(State::Damaged(place));
        }
    }
    Ok(State::Whole(known.entries().keys().cloned().collect()))
}

/// Whether one file of a folder holds what was taken down of it; none where nothing
/// was.
///
/// # Errors
/// When what was taken down cannot be read.
pub fn holds(folder: &Path, name: &str, bytes: &[u8]) -> Result<Option<bool>, Error> {
    let known = sealed::kept::<Manifest>(&folder.join(SUMS))?;
    let entry = known.and_then(|known| known.entries().get(&TreePath::within(name)).cloned());
    Ok(entry.map(|entry| entry.content == tree::hash(bytes)))
}

fn unreadable(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::Read {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_whole_until_a_file_is_another_or_gone() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("made");
        fs::create_dir_all(folder.join("lib")).unwrap();
        assert_eq!(state(&folder).unwrap(), State::Unknown);
        fs::write(folder.join("vmlinux"), "v").unwrap();
        fs::write(folder.join("lib/a.o"), "a").unwrap();
        take(&folder).unwrap();
        let files = ["lib/a.o", "vmlinux"].map(TreePath::within).to_vec();
        assert_eq!(state(&folder).unwrap(), State::Whole(files.clone()));
        fs::write(folder.join("used"), "").unwrap();
        assert_eq!(state(&folder).unwrap(), State::Whole(files));
        assert_eq!(holds(&folder, "vmlinux", b"v").unwrap(), Some(true));
        assert_eq!(holds(&folder, "vmlinux", b"w").unwrap(), Some(false));
        assert_eq!(holds(&folder, "used", b"").unwrap(), None);
        let damaged = |name: &str| State::Damaged(folder.join(name));
        fs::write(folder.join("vmlinux"), "w").unwrap();
        assert_eq!(state(&folder).unwrap(), damaged("vmlinux"));
        fs::remove_file(folder.join("lib/a.o")).unwrap();
        assert_eq!(state(&folder).unwrap(), damaged("lib/a.o"));
    }
}
