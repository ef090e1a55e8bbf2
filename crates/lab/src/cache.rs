//! The cache: one folder, one user at a time, results renamed into place.

use crate::input;
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;

use tollgate_source::{plain, shown};

use crate::damage;
use crate::space;
use crate::sums;

/// Why the cache cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another tollgate is at work in it.
    #[error("the cache {} is in use by process {holder}; wait until it ends, or give another folder with --cache", shown(.path))]
    Busy {
        /// The cache.
        path: PathBuf,
        /// The process that holds the lock, as it wrote it down.
        holder: String,
    },
    /// A file in it cannot be written.
    #[error("could not write {}: {source}{}", shown(.path), space::hint(.source, .path, space::OR_CACHE))]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file that the user wants elsewhere cannot be written.
    #[error("could not write {}: {source}{}", shown(.path), space::hint(.source, .path, ", or give another file"))]
    Result {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file in it cannot be read.
    #[error("could not read {}: {reason}; delete it and run again", shown(.path))]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// The cache folder, locked for this process.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    lock: File,
    /// What was found whole since the cache was locked.
    whole: Mutex<BTreeSet<PathBuf>>,
}

impl Cache {
    /// Opens the cache at `root`, which is made where it is missing, and locks
    /// it against every other tollgate.
    ///
    /// # Errors
    /// [`Error::Busy`] when another holds it; otherwise what the system says.
    pub fn open(root: &Path) -> Result<Self, Error> {
        make_folder(root)?;
        let root = fs::canonicalize(root).map_err(|source| write_error(root, source))?;
        let path = root.join("lock");
        let mut lock = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|source| write_error(&path, source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(busy(root, &mut lock)),
            Err(TryLockError::Error(source)) => return Err(write_error(&path, source)),
        }
        sign(&mut lock).map_err(|source| write_error(&path, source))?;
        let whole = Mutex::default();
        let cache = Self { root, lock, whole };
        cache.sweep_scratch()?;
        Ok(cache)
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A handle of the lock, for programs that must hold it while they live.
    ///
    /// # Errors
    /// When the process has no file descriptors left.
    pub fn lock_handle(&self) -> Result<File, Error> {
        self.lock
            .try_clone()
            .map_err(|source| write_error(&self.root, source))
    }

    /// A new folder that is gone when the value is dropped.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn scratch(&self) -> Result<tempfile::TempDir, Error> {
        let parent = self.root.join("scratch");
        make_folder(&parent)?;
        tempfile::tempdir_in(&parent).map_err(|source| write_error(&parent, source))
    }

    /// Makes the folder `name` out of what `fill` puts into a scratch folder:
    /// either all of it is there under that name, or nothing.
    ///
    /// # Errors
    /// What `fill` says, or that the result cannot be put in place.
    pub fn install<E: From<Error>>(
        &self,
        name: &Path,
        fill: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let target = self.root.join(name);
        let scratch = self.scratch()?;
        fill(scratch.path())?;
        sums::take(scratch.path())?;
        if let Some(parent) = target.parent() {
            make_folder(parent)?;
        }
        // Only a complete folder is ever there under this name.
        if !target.exists() {
            let filled = scratch.keep();
            fs::rename(&filled, &target).map_err(|source| write_error(&target, source))?;
        }
        Ok(target)
    }

    /// Says that a folder of it is used now, so that it is not among the first to go
    /// (`inventory`).
    ///
    /// # Errors
    /// What the system says.
    pub fn used(&self, folder: &Path) -> Result<(), Error> {
        let touched = File::open(folder).and_then(|folder| folder.set_modified(SystemTime::now()));
        touched.map_err(|source| write_error(folder, source))
    }

    /// The folder `name` that [`Cache::install`] made, if each of its files still holds
    /// what it held then, which is looked at once while the cache is open. One that does
    /// not is removed, to be made again, and the file is noted ([`damage`]); one of which
    /// nothing is known is removed, too.
    ///
    /// # Errors
    /// When it cannot be read or removed.
    pub fn installed(&self, name: &Path) -> Result<Option<PathBuf>, Error> {
        let target = self.root.join(name);
        if self.whole().contains(&target) && target.is_dir() {
            return Ok(Some(target));
        }
        match sums::state(&target)? {
            sums::State::Whole(_) => {
                self.used(&target)?;
                self.whole().insert(target.clone());
                return Ok(Some(target));
            }
            sums::State::Damaged(file) => damage::note(&file),
            sums::State::Unknown => {}
        }
        self.remove_installed(name)?;
        Ok(None)
    }

    /// Removes the folder `name`, if it is there.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove_installed(&self, name: &Path) -> Result<(), Error> {
        let target = self.root.join(name);
        self.whole().remove(&target);
        remove_folder(&target)
    }

    fn whole(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What an interrupted run left behind. The lock says that nobody uses it.
    fn sweep_scratch(&self) -> Result<(), Error> {
        let scratch = self.root.join("scratch");
        match fs::remove_dir_all(&scratch) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(write_error(&scratch, source))
            }
            _ => Ok(()),
        }
    }
}

fn write_error(path: &Path, source: io::Error) -> Error {
    Error::Write {
        path: path.to_owned(),
        source,
    }
}

fn busy(path: PathBuf, lock: &mut File) -> Error {
    let mut holder = String::new();
    // That it is in use is the error; by whom is said where the file tells.
    let holder = match lock.read_to_string(&mut holder) {
        Ok(_) if !holder.trim().is_empty() => holder.trim().to_owned(),
        _ => "(unknown)".to_owned(),
    };
    Error::Busy { path, holder }
}

fn sign(lock: &mut File) -> io::Result<()> {
    lock.set_len(0)?;
    lock.rewind()?;
    // The program's own name says nothing that the reader does not know.
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .take(SIGNED)
        .map(|word| plain(&word.to_string_lossy()).into_owned())
        .collect();
    writeln!(lock, "{} ({})", std::process::id(), words.join(" "))
}

/// Words of the command line that tell others who holds the lock.
const SIGNED: usize = 2;

/// Makes a folder and those above it.
///
/// # Errors
/// What the system says.
pub fn make_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|source| write_error(path, source))
}

/// Writes a file beside its place and renames it there: a reader sees the old
/// bytes or the new, never a part.
///
/// # Errors
/// What the system says.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace(path, bytes).map_err(|source| write_error(path, source))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = beside(path, bytes)?;
    new.persist(path).map(drop).map_err(|error| error.error)
}

/// A file in the folder of a path, with those bytes, that has no name to stay.
fn beside(path: &Path, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(bytes)?;
    new.as_file().sync_all()?;
    set_readable(new.as_file())?;
    Ok(new)
}

/// Writes what the user asked for where nothing is yet; whether nothing was.
///
/// # Errors
/// What the system says.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<bool, Error> {
    let failed = |source| Error::Result {
        path: path.to_owned(),
        source,
    };
    let new = beside(path, bytes).map_err(failed)?;
    match new.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error.error)),
    }
}

/// Writes a file of a scratch folder, which nobody reads after a crash: a patch may
/// name thousands, and waiting for the disk after each takes minutes.
///
/// # Errors
/// What the system says.
pub fn write_scratch(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    fs::write(path, bytes).map_err(|source| write_error(path, source))
}

/// Moves a file into its place, on the same file system.
///
/// # Errors
/// What the system says.
pub fn move_file(from: &Path, to: &Path) -> Result<(), Error> {
    fs::rename(from, to).map_err(|source| write_error(to, source))
}

/// Writes what the user asked for where the user said: like [`write_file`], but
/// behind a symbolic link the file that it names, and into a device or a pipe, which
/// a file renamed into its place would put an end to.
///
/// # Errors
/// What the system says.
#[expect(
    clippy::disallowed_methods,
    reason = "what cannot be looked at is written to, which says why it cannot be"
)]
pub fn write_result(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let special = |what: fs::Metadata| !what.is_file() && !what.is_dir();
    // /dev/stdout names an open file, which may be no path at all.
    let written = match fs::metadata(path).is_ok_and(special) {
        true => fs::write(path, bytes),
        false => replace(&target, bytes),
    };
    written.map_err(|source| Error::Result {
        path: path.to_owned(),
        source,
    })
}

/// Temporary files are made for their owner alone; results are for everyone
/// whom the folder lets in.
fn set_readable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

/// Lets a file that was written be executed.
///
/// # Errors
/// What the system says.
pub fn make_executable(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(|source| write_error(path, source))
}

/// Writes a value as JSON, like [`write_file`].
///
/// # Errors
/// What the system says.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    let bytes =
        serde_json::to_vec(value).map_err(|error| write_error(path, io::Error::other(error)))?;
    write_file(path, &bytes)
}

fn read_error(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::Read {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

/// Removes a folder and all in it, if there is one.
///
/// # Errors
/// What the system says.
pub fn remove_folder(path: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(write_error(path, error)),
        _ => Ok(()),
    }
}

/// Removes a file, if there is one.
///
/// # Errors
/// What the system says.
pub fn remove_if_there(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(write_error(path, error)),
        _ => Ok(()),
    }
}

/// The bytes of a file that has to be there.
///
/// # Errors
/// What the system says.
pub fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| read_error(path, &error))
}

/// The bytes of a file; `None` where there is none of that name.
///
/// # Errors
/// What else the system says.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if input::is_absent(&error) => Ok(None),
        Err(error) => Err(read_error(path, &error)),
    }
}

/// Whether a file is there and holds just that text.
///
/// # Errors
/// When it is there and cannot be read.
pub fn holds(path: &Path, text: &str) -> Result<bool, Error> {
    let held = read_if_there(path)?;
    Ok(held.is_some_and(|held| held == text.as_bytes()))
}

/// Reads a value as JSON; `None` where there is no such file.
///
/// # Errors
/// When the file is there but is not such a value.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Error> {
    match read_if_there(path)? {
        Some(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| read_error(path, &error)),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_second_user_is_told_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        let _first = Cache::open(dir.path()).unwrap();
        let error = Cache::open(dir.path()).unwrap_err().to_string();
        let me = format!("in use by process {}", std::process::id());
        assert!(error.contains(&me) && error.contains("--cache"), "{error}");
    }

    #[test]
    fn a_child_keeps_the_lock_when_the_parent_lets_go() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path()).unwrap();
        let stdin = cache.lock_handle().unwrap();
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .stdin(stdin)
            .spawn()
            .unwrap();
        drop(cache);
        assert!(matches!(Cache::open(dir.path()), Err(Error::Busy { .. })));
        child.kill().unwrap();
        child.wait().unwrap();
        opened(dir.path());
    }

    #[test]
    fn a_result_leaves_links_and_pipes_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_result(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");

        let pipe = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write_result(&pipe, b"words").unwrap();
        assert!(!fs::metadata(&pipe).unwrap().is_file());
        assert_eq!(reader.join().unwrap(), b"words");
    }

    #[test]
    fn a_folder_is_installed_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path()).unwrap();
        let name = Path::new("images/x");
        let cut_off: Result<_, Error> = cache.install(name, |folder| {
            fs::write(folder.join("half"), "").unwrap();
            Err(write_error(folder, io::ErrorKind::StorageFull.into()))
        });
        assert!(cut_off.is_err() && !cache.root().join(name).exists());
        let whole: Result<_, Error> = cache.install(name, |folder| {
            fs::write(folder.join("vmlinux"), "v").unwrap();
            Ok(())
        });
        assert_eq!(
            fs::read_to_string(whole.unwrap().join("vmlinux")).unwrap(),
            "v"
        );
    }

    /// Opens a cache that was closed right before. A child that a test beside this one is
    /// about to start has its lock until it runs its program.
    fn opened(root: &Path) -> Cache {
        for _ in 0..1000 {
            match Cache::open(root) {
                Err(Error::Busy { .. }) => std::thread::sleep(Duration::from_millis(10)),
                opened => return opened.unwrap(),
            }
        }
        panic!("the lock of {} was not let go in ten seconds", shown(root));
    }

    /// Each file of what was installed, one after the other: cut, altered, gone.
    #[test]
    fn a_folder_that_is_not_whole_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let name = Path::new("images/x");
        let fill = |folder: &Path| -> Result<(), Error> {
            fs::write(folder.join("vmlinux"), "kernel").unwrap();
            fs::write(folder.join("image.json"), "{}").unwrap();
            Ok(())
        };
        for file in ["vmlinux", "image.json", sums::SUMS] {
            for what in ["cut", "altered", "gone"] {
                let cache = opened(dir.path());
                let folder = cache.install(name, fill).unwrap();
                assert_eq!(cache.installed(name).unwrap().as_ref(), Some(&folder));
                drop(cache);
                let place = folder.join(file);
                let mut bytes = fs::read(&place).unwrap();
                match what {
                    "cut" => drop(bytes.pop()),
                    _ => *bytes.first_mut().unwrap() ^= 4,
                }
                match what {
                    "gone" => fs::remove_file(&place).unwrap(),
                    _ => fs::write(&place, bytes).unwrap(),
                }
                let cache = opened(dir.path());
                assert_eq!(cache.installed(name).unwrap(), None, "{file} {what}");
                assert!(!folder.exists());
                let noted = damage::taken().contains(&place);
                assert!(
                    noted || (file, what) == (sums::SUMS, "gone"),
                    "{file} {what}"
                );
            }
        }
    }

    #[test]
    fn what_an_interrupted_run_left_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let left = Cache::open(dir.path()).unwrap().scratch().unwrap().keep();
        assert!(left.exists());
        opened(dir.path());
        assert!(!left.exists());
    }

    #[test]
    fn a_full_disk_says_what_to_do() {
        let full = Error::Write {
            path: "x".into(),
            source: io::ErrorKind::StorageFull.into(),
        };
        assert!(full.to_string().contains("make room there"), "{full}");
    }

    #[test]
    fn a_folder_goes_with_all_in_it_and_what_is_no_folder_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("made");
        fs::create_dir_all(folder.join("fs")).unwrap();
        fs::write(folder.join("fs/x"), "").unwrap();
        remove_folder(&folder).unwrap();
        assert!(!folder.exists());
        remove_folder(&folder).unwrap();
        fs::write(&folder, "").unwrap();
        assert!(remove_folder(&folder.join("fs")).is_err());
    }

    #[test]
    fn a_damaged_record_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("built.json");
        fs::write(&path, "{").unwrap();
        let error = read_json::<String>(&path).unwrap_err().to_string();
        assert!(
            error.contains("built.json") && error.contains("delete it"),
            "{error}"
        );
    }
}
