//! What scripts have fetched of the distribution's archive, below the cache: sources
//! (`scripts/source`) and libraries of other architectures (`scripts/library`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::error::Error;
use super::guest_file::unread;
use crate::cache::Cache;
use crate::input;

/// Where it is kept, below the cache.
const SOURCES: &str = "sources";
/// Folders of a package that may hold libraries, one for each architecture.
const LIBRARIES: [&str; 2] = ["usr/lib", "lib"];
const HEADERS: &str = "usr/include";

/// Something that was fetched: a folder.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) version: String,
    pub(super) path: PathBuf,
}

/// Where it is kept in this cache.
pub(super) fn folder(cache: &Cache) -> PathBuf {
    cache.root().join(SOURCES)
}

/// The newest that is kept of a name, `NAME_VERSION`.
///
/// # Errors
/// When the folder cannot be read.
pub(super) fn newest(cache: &Cache, name: &str) -> Result<Option<Fetched>, Error> {
    let folder = folder(cache);
    let start = format!("{name}_");
    let mut found = Vec::new();
    for name in names_in(&folder)? {
        let Some(version) = name.to_str().and_then(|name| name.strip_prefix(&start)) else {
            continue;
        };
        let path = folder.join(&name);
        let unread = |source| unread(&path, source);
        let about = fs::metadata(&path).map_err(unread)?;
        if about.is_dir() {
            let when = about.modified().map_err(unread)?;
            found.push((when, version.replace('%', ":"), path));
        }
    }
    let newest = found.into_iter().max();
    Ok(newest.map(|(_, version, path)| Fetched { version, path }))
}

/// The library of another architecture that a package `NAME:ARCH` is, where it was fetched;
/// this machine may have it installed instead.
///
/// # Errors
/// When what is kept cannot be read.
pub(super) fn library(cache: &Cache, package: &str) -> Result<Option<Fetched>, Error> {
    match package.split_once(':') {
        Some((name, architecture)) => newest(cache, &format!("{name}@{architecture}")),
        None => Ok(None),
    }
}

impl Fetched {
    /// What the compiler is told of a library: where its headers are, and its files, which
    /// `-B` has both the linker and `-print-file-name` look for before the system's.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn flags(&self) -> Result<Vec<String>, Error> {
        let mut flags = Vec::new();
        let headers = self.path.join(HEADERS);
        if headers.is_dir() {
            flags.push(flag("-I", &headers)?);
        }
        for folder in LIBRARIES {
            let folder = self.path.join(folder);
            // Each architecture has a folder of its own there (Debian's multiarch).
            for name in names_in(&folder)? {
                let place = folder.join(name);
                if place.is_dir() {
                    flags.push(flag("-B", &place)?);
                }
            }
        }
        Ok(flags)
    }
}

/// A flag of the compiler with a folder behind it.
///
/// # Errors
/// When the folder's name is no text, as flags are.
fn flag(letters: &str, folder: &Path) -> Result<String, Error> {
    let text = folder.to_str().ok_or_else(|| {
        let reason = "its name is not UTF-8, as the compiler's flags are";
        unread(folder, io::Error::new(io::ErrorKind::InvalidInput, reason))
    })?;
    Ok(format!("{letters}{text}"))
}

/// What a folder holds, in the order of the names; nothing where there is none.
pub(super) fn names_in(folder: &Path) -> Result<Vec<OsString>, Error> {
    match input::names_in(folder) {
        Err(error) if input::is_absent(&error) => Ok(Vec::new()),
        names => names.map_err(|source| unread(folder, source)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::*;

    #[test]
    fn a_library_of_another_architecture_is_found_where_it_was_unpacked() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path()).unwrap();
        let kept = folder(&cache).join("libtoy-dev@i386_1%1.2-3");
        assert!(library(&cache, "libtoy-dev:i386").unwrap().is_none());
        for place in ["usr/lib/i386-linux-gnu", "usr/include", "usr/share/doc"] {
            fs::create_dir_all(kept.join(place)).unwrap();
        }
        fs::write(kept.join("usr/lib/plain"), "").unwrap();
        let found = library(&cache, "libtoy-dev:i386").unwrap().unwrap();
        assert_eq!(found.version, "1:1.2-3");
        let shown = kept.to_str().unwrap();
        assert_eq!(
            found.flags().unwrap(),
            [
                format!("-I{shown}/usr/include"),
                format!("-B{shown}/usr/lib/i386-linux-gnu"),
            ]
        );
        assert!(library(&cache, "libtoy-dev").unwrap().is_none());
        assert!(library(&cache, "libtoy-dev:arm64").unwrap().is_none());
    }
}
