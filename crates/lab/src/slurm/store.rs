//! What all runs of a cluster share: answers, images, and what boots begin with, each
//! under a hash of what decides it. A name is written once, beside its place, and moved
//! there; who else writes the same name writes the same content. So no lock is needed,
//! over NFS or otherwise, and several users may share it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cache::{self, Error};
use crate::image::Image;
use crate::job::Input;
use crate::tree;

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

    /// The answer of a job that was done before.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn answer<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Error> {
        cache::read_json(&self.root.join("answers").join(format!("{key}.json")))
    }

    /// Keeps an answer.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep_answer(&self, key: &str, answer: &impl Serialize) -> Result<(), Error> {
        let place = self.folder("answers")?.join(format!("{key}.json"));
        let bytes = serde_json::to_vec(answer);
        put_once(&place, &bytes.map_err(|error| write(&place, error.into()))?)
    }

    /// A file that jobs begin with.
    ///
    /// # Errors
    /// What the system says.
    pub fn input(&self, bytes: &[u8]) -> Result<Input, Error> {
        let hash = tree::hash(bytes);
        let path = self.folder("inputs")?.join(&hash);
        put_once(&path, bytes)?;
        Ok(Input { path, hash })
    }

    /// The image of a key, where it is there.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn image(&self, key: &str) -> Result<Option<Image>, Error> {
        let folder = self.root.join("images").join(key);
        let image: Option<Image> = cache::read_json(&folder.join("image.json"))?;
        Ok(image.map(|image| Image { folder, ..image }))
    }

    /// Puts an image there with all that its folder holds, and gives it as it is there.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep_image(&self, image: &Image) -> Result<Image, Error> {
        let all = self.folder("images")?;
        let place = all.join(&image.key);
        if !place.join("image.json").is_file() {
            let beside = tempfile::tempdir_in(&all).map_err(|source| write(&all, source))?;
            copy_all(&image.folder, beside.path())?;
            // Made for its owner alone.
            open_to(beside.path(), 0o755)?;
            let beside = beside.keep();
            let moved = fs::rename(&beside, &place);
            // Somebody else was first with the same.
            if moved.is_err() {
                cache::remove_folder(&beside)?;
            }
            if !place.join("image.json").is_file() {
                moved.map_err(|source| write(&place, source))?;
            }
        }
        Ok(Image {
            folder: place,
            ..image.clone()
        })
    }

    /// Keeps the log of a build that failed, under what was to be built.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep_log(&self, key: &str, log: &Path) -> Result<PathBuf, Error> {
        let place = self.folder("logs")?.join(format!("{key}.log"));
        put_once(&place, &cache::read_file(log)?)?;
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

/// Writes a file that is not there. One of another user may lie in a folder in which
/// only its owner may replace it (sticky(7)).
fn put_once(place: &Path, bytes: &[u8]) -> Result<(), Error> {
    if place.is_file() {
        return Ok(());
    }
    match cache::write_file(place, bytes) {
        Err(_) if place.is_file() => Ok(()),
        done => done,
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

    #[test]
    fn an_image_is_there_whole_or_not_at_all_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let (shared, own) = (dir.path().join("shared"), dir.path().join("own"));
        fs::create_dir_all(&own).unwrap();
        let image = Image {
            key: "k".to_owned(),
            folder: own.clone(),
            kernel: "6.12".to_owned(),
            compiler: "gcc".to_owned(),
            config: "c".to_owned(),
            vmlinux: tree::hash(b"elf"),
            boots: None,
        };
        fs::write(own.join("vmlinux"), "elf").unwrap();
        cache::write_json(&own.join("image.json"), &image).unwrap();
        let store = Store::new(&shared);
        assert!(store.image("k").unwrap().is_none());
        let kept = store.keep_image(&image).unwrap();
        assert_eq!(fs::read(kept.vmlinux_path()).unwrap(), b"elf");
        // Somebody else has the same.
        store.keep_image(&image).unwrap();
        let names = fs::read_dir(shared.join("images")).unwrap();
        assert_eq!(names.count(), 1);
        assert_eq!(store.image("k").unwrap().unwrap().folder, kept.folder);
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
