//! What all runs of a cluster share: answers, images, and what boots begin with, each
//! under a hash of what decides it. A name is written once, beside its place, and moved
//! there; who else writes the same name writes the same content. So no lock is needed,
//! over NFS or otherwise, and several users may share it. Each name is sealed by a hash
//! of what it holds: what a disk or a hand has changed is made again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::cache::{self, Error};
use crate::image::Image;
use crate::job::Input;
use crate::{damage, sealed, sums, tree};

const ANSWERS: &str = "answers";
const IMAGES: &str = "images";

/// The folder of the shared one.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// In the folder that a cluster shares.
    #[must_use]
    pub fn new(shared: &Path) -> Self {
        Self {
            root: shared.to_owned(),
        }
    }

    /// The folder that it is in.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The answer of a job that was done before; none where it does not hold what was
    /// kept, which is noted.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn answer<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Error> {
        sealed::kept(&self.root.join(ANSWERS).join(format!("{key}.json")))
    }

    /// Keeps an answer.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep_answer(&self, key: &str, answer: &impl Serialize) -> Result<(), Error> {
        let place = self.folder(ANSWERS)?.join(format!("{key}.json"));
        let is_whole = || Ok(sealed::kept::<IgnoredAny>(&place)?.is_some());
        put_once(&place, is_whole, || sealed::keep(&place, answer))
    }

    /// A file that jobs begin with.
    ///
    /// # Errors
    /// What the system says.
    pub fn input(&self, bytes: &[u8]) -> Result<Input, Error> {
        let hash = tree::hash(bytes);
        let path = self.folder("inputs")?.join(&hash);
        let is_whole = || Ok(cache::read_if_there(&path)?.is_some_and(|held| held == bytes));
        put_once(&path, is_whole, || cache::write_file(&path, bytes))?;
        Ok(Input { path, hash })
    }

    /// The image of a key; none where one of its files does not hold what was put there,
    /// which is noted.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn image(&self, key: &str) -> Result<Option<Image>, Error> {
        let folder = self.root.join(IMAGES).join(key);
        match sums::state(&folder)? {
            sums::State::Whole(_) => {}
            sums::State::Unknown => return Ok(None),
            sums::State::Damaged(file) => {
                damage::note(&file);
                return Ok(None);
            }
        }
        let image: Option<Image> = cache::read_json(&folder.join("image.json"))?;
        let image = image.filter(|image| image.key == key);
        Ok(image.map(|image| Image { folder, ..image }))
    }

    /// Puts an image there with all that its folder holds, in the place of one that is
    /// damaged, and gives it as it is there.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep_image(&self, image: &Image) -> Result<Image, Error> {
        if let Some(there) = self.image(&image.key)? {
            return Ok(there);
        }
        let all = self.folder(IMAGES)?;
        let place = all.join(&image.key);
        let beside = tempfile::tempdir_in(&all).map_err(|source| write(&all, source))?;
        let new = beside.path().join("new");
        cache::make_folder(&new)?;
        copy_all(&image.folder, &new)?;
        open_to(&new, 0o755)?;
        // Somebody else may have been first with the same.
        if let Some(there) = self.image(&image.key)? {
            return Ok(there);
        }
        if place.exists() {
            let old = beside.path().join("old");
            fs::rename(&place, old).map_err(|source| stays(&place, &source))?;
        }
        let moved = fs::rename(&new, &place);
        match (self.image(&image.key)?, moved) {
            (Some(there), _) => Ok(there),
            (None, Err(source)) => Err(write(&place, source)),
            (None, Ok(())) => Err(stays(&place, &"it was just put there")),
        }
    }

    /// Keeps the log of a build that failed, under what was to be built.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep_log(&self, key: &str, log: &Path) -> Result<PathBuf, Error> {
        let place = self.folder("logs")?.join(format!("{key}.log"));
        let bytes = cache::read_file(log)?;
        let is_there = || Ok(place.is_file());
        put_once(&place, is_there, || cache::write_file(&place, &bytes))?;
        Ok(place)
    }

    /// One of its folders, which lets in whom the shared folder lets in.
    fn folder(&self, name: &str) -> Result<PathBuf, Error> {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = self.root.join(name);
        if folder.is_dir() {
            return Ok(folder);
        }
        cache::make_folder(&folder)?;
        let about = fs::metadata(&self.root).map_err(|source| write(&self.root, source))?;
        // Who did not make it need not change it.
        match open_to(&folder, about.permissions().mode() & 0o7777) {
            Err(Error::Write { source, .. })
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                Ok(folder)
            }
            done => done.map(|()| folder),
        }
    }
}

/// Writes a file that is not there whole. One of another user may lie in a folder in
/// which only its owner may replace it (sticky(7)).
fn put_once(
    place: &Path,
    is_whole: impl Fn() -> Result<bool, Error>,
    write: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    if is_whole()? {
        return Ok(());
    }
    let Err(error) = write() else { return Ok(()) };
    // Somebody else was first with the same.
    match (is_whole()?, &error) {
        (true, _) => Ok(()),
        (false, Error::Write { source, .. }) if place.is_file() => Err(stays(place, source)),
        (false, _) => Err(error),
    }
}

/// What is damaged and cannot be replaced: its owner can.
fn stays(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::Read {
        path: path.to_owned(),
        reason: format!(
            "it does not hold what was written there, and cannot be replaced ({reason})"
        ),
    }
}

fn open_to(folder: &Path, mode: u32) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(mode))
        .map_err(|source| write(folder, source))
}

fn copy_all(from: &Path, to: &Path) -> Result<(), Error> {
    let unreadable = |error: io::Error| Error::Read {
        path: from.to_owned(),
        reason: error.to_string(),
    };
    for file in fs::read_dir(from).map_err(unreadable)? {
        let file = file.map_err(unreadable)?;
        let bytes = cache::read_file(&file.path())?;
        cache::write_file(&to.join(file.file_name()), &bytes)?;
    }
    Ok(())
}

fn write(path: &Path, source: io::Error) -> Error {
    Error::Write {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_image(folder: &Path) -> Image {
        fs::create_dir_all(folder).unwrap();
        let image = Image {
            key: "k".to_owned(),
            folder: folder.to_owned(),
            kernel: "6.12".to_owned(),
            compiler: "gcc".to_owned(),
            config: "c".to_owned(),
            vmlinux: tree::hash(b"elf"),
            boots: None,
        };
        fs::write(folder.join("vmlinux"), "elf").unwrap();
        cache::write_json(&folder.join("image.json"), &image).unwrap();
        sums::take(folder).unwrap();
        image
    }

    /// Another bit in a byte of a file.
    fn flip(file: &Path, at: usize) {
        let mut bytes = fs::read(file).unwrap();
        bytes[at] ^= 4;
        fs::write(file, bytes).unwrap();
    }

    #[test]
    fn an_image_is_there_whole_or_not_at_all_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let shared = dir.path().join("shared");
        let image = own_image(&dir.path().join("own"));
        let store = Store::new(&shared);
        assert!(store.image("k").unwrap().is_none());
        let kept = store.keep_image(&image).unwrap();
        assert_eq!(fs::read(kept.vmlinux_path()).unwrap(), b"elf");
        // Somebody else has the same.
        store.keep_image(&image).unwrap();
        let names = fs::read_dir(shared.join("images")).unwrap();
        assert_eq!(names.count(), 1);
        assert_eq!(store.image("k").unwrap().unwrap().folder, kept.folder);
        // A folder under another name is none of that name.
        fs::rename(&kept.folder, shared.join("images/l")).unwrap();
        assert!(store.image("l").unwrap().is_none());
    }

    #[test]
    fn no_byte_of_an_image_can_be_another() {
        let dir = tempfile::tempdir().unwrap();
        let image = own_image(&dir.path().join("own"));
        let store = Store::new(&dir.path().join("shared"));
        let folder = store.keep_image(&image).unwrap().folder;
        for file in ["image.json", "vmlinux", sums::SUMS] {
            let place = folder.join(file);
            for at in (0..fs::read(&place).unwrap().len()).step_by(7) {
                flip(&place, at);
                assert!(store.image("k").unwrap().is_none(), "{file} {at}");
                let again = store.keep_image(&image).unwrap();
                assert_eq!(store.image("k").unwrap(), Some(again), "{file} {at}");
            }
        }
        fs::remove_file(folder.join(sums::SUMS)).unwrap();
        assert!(store.image("k").unwrap().is_none());
        store.keep_image(&image).unwrap();
        let names = fs::read_dir(dir.path().join("shared/images")).unwrap();
        assert_eq!(names.count(), 1);
    }

    #[test]
    fn no_byte_of_an_answer_or_an_input_can_be_another() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path());
        store.keep_answer("k", &"said").unwrap();
        let place = dir.path().join("answers/k.json");
        for at in (0..fs::read(&place).unwrap().len()).step_by(7) {
            flip(&place, at);
            assert_eq!(store.answer::<String>("k").unwrap(), None, "{at}");
            store.keep_answer("k", &"said").unwrap();
            assert_eq!(store.answer("k").unwrap(), Some("said".to_owned()), "{at}");
        }
        let input = store.input(b"cpio").unwrap();
        flip(&input.path, 1);
        assert_eq!(store.input(b"cpio").unwrap(), input);
        assert_eq!(fs::read(&input.path).unwrap(), b"cpio");
    }

    #[test]
    fn folders_let_in_whom_the_shared_one_lets_in() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        open_to(dir.path(), 0o1777).unwrap();
        let store = Store::new(dir.path());
        store.keep_answer("k", &7).unwrap();
        let about = fs::metadata(dir.path().join("answers")).unwrap();
        assert_eq!(about.permissions().mode() & 0o7777, 0o1777);
        assert_eq!(store.answer::<u8>("k").unwrap(), Some(7));
        let input = store.input(b"cpio").unwrap();
        assert_eq!(input.hash, tree::hash(b"cpio"));
        assert_eq!(fs::read(&input.path).unwrap(), b"cpio");
    }
}
