//! The tree that is used when the user gives none: Debian's source package,
//! unpacked once into the cache.

use std::path::{Path, PathBuf};
use std::process::Command;

use tollgate_defect::answer;
use tollgate_source::shown;

use crate::cache::{self, Cache};
use crate::input;
use crate::process::{self, Runner};
use crate::progress::Progress;
use crate::space;

/// Where Debian's packages linux-source-VERSION put their archives.
pub const DEBIAN_SOURCES: &str = "/usr/src";

/// The version that the cases are shown on.
const SHOWN_ON: Version = (6, 12);

/// Major and minor number.
type Version = (u32, u32);

/// Why there is no tree.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The package is not installed.
    #[error("no --tree was given, and {} is not there; install Debian's package linux-source-6.12, or give a tree (tollgate doctor says what else is missing)", shown(.path))]
    Missing {
        /// Where the package would be.
        path: PathBuf,
    },
    /// The folder of the archives cannot be listed.
    #[error("no --tree was given, and the sources in {} cannot be listed: {source}; give a tree", shown(.folder))]
    Folder {
        /// Where the packages would be.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It could not be unpacked.
    #[error("could not unpack {}: {reason}; its log is {}{room}", shown(.path), shown(.log))]
    Tar {
        /// The archive.
        path: PathBuf,
        /// What tar said first.
        reason: String,
        /// All that tar said.
        log: PathBuf,
        /// The disk that is full, where that is why; else nothing.
        room: String,
    },
    /// tar could not be run, or the user asked to stop.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// The cache could not be used.
    #[error(transparent)]
    Cache(#[from] cache::Error),
}

/// The archive of a folder that is used when the user gives no tree: that of Linux 6.12,
/// which the cases are shown on, else the newest. Where there is none, the name that
/// 6.12's would have.
///
/// # Errors
/// When the folder cannot be listed.
pub fn archive_of(folder: &Path) -> Result<PathBuf, Error> {
    let names = input::names_in(folder).map_err(|source| Error::Folder {
        folder: folder.to_owned(),
        source,
    })?;
    let versions = names.iter().filter_map(|name| version_of(name.to_str()?));
    let chosen = versions.max_by_key(|version| (*version == SHOWN_ON, *version));
    let (major, minor) = chosen.unwrap_or(SHOWN_ON);
    Ok(folder.join(format!("linux-source-{major}.{minor}.tar.xz")))
}

/// `linux-source-6.12.tar.xz` → 6 and 12; nothing of a file that is called otherwise.
fn version_of(name: &str) -> Option<Version> {
    let version = name
        .strip_prefix("linux-source-")?
        .strip_suffix(".tar.xz")?;
    let (major, minor) = version.split_once('.')?;
    Some((answer::number(major)?, answer::number(minor)?))
}

/// The archive's tree, unpacked into the cache the first time.
///
/// # Errors
/// When the archive is missing or cannot be unpacked.
pub fn unpack(
    archive: &Path,
    cache: &Cache,
    runner: &Runner,
    progress: &dyn Progress,
) -> Result<PathBuf, Error> {
    let name = place(archive).ok_or_else(|| Error::Missing {
        path: archive.to_owned(),
    })?;
    let folder = cache.root().join(&name);
    if folder.is_dir() {
        cache.used(&folder)?;
        return Ok(folder);
    }
    let what = "unpack the kernel source";
    let start = std::time::Instant::now();
    progress.begin(what);
    cache.install(&name, |scratch| extract(archive, scratch, cache, runner))?;
    progress.end(what, "done", start.elapsed());
    Ok(folder)
}

/// A newer package is another archive: its size and time are in the name.
#[expect(
    clippy::disallowed_methods,
    reason = "an archive that cannot be looked at is said to be missing"
)]
fn place(archive: &Path) -> Option<PathBuf> {
    let metadata = std::fs::metadata(archive).ok()?;
    let time = metadata
        .modified()
        .ok()?
        .duration_since(std::time::UNIX_EPOCH)
        .ok()?;
    let stem = archive.file_name()?.to_str()?.split(".tar").next()?;
    Some(Path::new("trees").join(format!("{stem}-{}-{}", metadata.len(), time.as_secs())))
}

fn extract(archive: &Path, folder: &Path, cache: &Cache, runner: &Runner) -> Result<(), Error> {
    let log = cache.root().join("unpack.log");
    let mut command = Command::new("tar");
    command
        .arg("-xf")
        .arg(archive)
        .arg("-C")
        .arg(folder)
        .arg("--strip-components=1");
    command.arg("--no-same-owner").env("LC_ALL", "C");
    let mut said = String::new();
    let mut keep = |line: &str| {
        // A full disk is said of every file: the first lines are enough.
        if said.len() < MOST_SAID {
            said.push_str(line);
            said.push('\n');
        }
    };
    if runner
        .logged(&mut command, &log, None, &mut keep)?
        .success()
    {
        return Ok(());
    }
    let reason = said.lines().next().unwrap_or("tar did not say why");
    Err(Error::Tar {
        path: archive.to_owned(),
        reason: reason.to_owned(),
        log,
        room: space::after_failure(&said, &[folder]),
    })
}

/// Bytes of what tar says that are looked at.
const MOST_SAID: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Interrupt;
    use crate::progress::Silent;

    fn archive(dir: &Path) -> PathBuf {
        let path = dir.join("linux-source-9.9.tar");
        std::fs::create_dir_all(dir.join("linux-source-9.9/kernel")).unwrap();
        std::fs::write(dir.join("linux-source-9.9/Makefile"), "VERSION = 9\n").unwrap();
        let made = Command::new("tar")
            .arg("-cf")
            .arg(&path)
            .arg("-C")
            .arg(dir)
            .arg("linux-source-9.9")
            .status();
        assert!(made.unwrap().success());
        path
    }

    #[test]
    fn a_tree_is_unpacked_once_and_whole() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(&dir.path().join("cache")).unwrap();
        let runner = Runner::new(Interrupt::default(), None);
        let path = archive(dir.path());
        let tree = unpack(&path, &cache, &runner, &Silent).unwrap();
        assert_eq!(
            std::fs::read_to_string(tree.join("Makefile")).unwrap(),
            "VERSION = 9\n"
        );
        std::fs::write(tree.join("kept"), "").unwrap();
        assert!(
            unpack(&path, &cache, &runner, &Silent)
                .unwrap()
                .join("kept")
                .exists()
        );
    }

    #[test]
    fn a_cut_off_archive_leaves_no_tree() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(&dir.path().join("cache")).unwrap();
        let runner = Runner::new(Interrupt::default(), None);
        let path = archive(dir.path());
        std::fs::write(&path, "not an archive").unwrap();
        let error = unpack(&path, &cache, &runner, &Silent).unwrap_err();
        assert!(matches!(error, Error::Tar { .. }), "{error}");
        assert!(!cache.root().join("trees").exists());
    }

    #[test]
    fn the_newest_archive_is_taken_where_that_of_6_12_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let chosen = || {
            let path = archive_of(dir.path()).unwrap();
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(chosen(), "linux-source-6.12.tar.xz");
        for name in [
            "linux-source-7.2.tar.xz",
            "linux-source-7.10.tar.xz",
            "linux-source-6.1.tar.xz",
            "linux-source-9.9",
            "linux-source-8.tar.xz",
            "linux-headers-9.9.tar.xz",
        ] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        assert_eq!(chosen(), "linux-source-7.10.tar.xz");
        std::fs::write(dir.path().join("linux-source-6.12.tar.xz"), "").unwrap();
        assert_eq!(chosen(), "linux-source-6.12.tar.xz");
        // No folder is no archive.
        let absent = archive_of(&dir.path().join("absent")).unwrap();
        assert!(absent.ends_with("absent/linux-source-6.12.tar.xz"));
    }

    #[test]
    fn a_missing_package_says_how_to_get_it() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path()).unwrap();
        let runner = Runner::new(Interrupt::default(), None);
        let error = unpack(Path::new("/nowhere/x.tar.xz"), &cache, &runner, &Silent).unwrap_err();
        assert!(error.to_string().contains("linux-source-6.12"), "{error}");
    }
}
