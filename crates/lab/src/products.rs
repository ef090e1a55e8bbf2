//! What make left in a folder, and whether it is still that. make itself goes by time
//! and believes every file that is younger than its sources; here content decides.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ignore::WalkBuilder;

use crate::cache::{self, Error};
use crate::damage;
use crate::process::Interrupt;
use crate::sealed;
use crate::sums;
use crate::tree::Manifest;

/// A folder that make works in.
#[derive(Clone, Debug)]
pub struct Products {
    folder: PathBuf,
    /// What it held when a build last ended by itself.
    record: PathBuf,
}

impl Products {
    /// The products in `folder`; `record` is a file beside it. Neither need exist yet.
    #[must_use]
    pub fn new(folder: PathBuf, record: PathBuf) -> Self {
        Self { folder, record }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Takes down what there is, after a build that ended by itself.
    ///
    /// # Errors
    /// When a file cannot be read, the record not be written, or the user asks to stop.
    pub fn keep(&self, interrupt: &Interrupt) -> Result<(), Error> {
        sealed::keep(&self.record, &sums::listed(&self.folder, interrupt)?)
    }

    /// Removes the record: a build that is cut off now leaves nothing that is believed.
    ///
    /// # Errors
    /// What the system says.
    pub fn forget(&self) -> Result<(), Error> {
        cache::remove_if_there(&self.record)
    }

    /// Removes all of it.
    ///
    /// # Errors
    /// What the system says.
    pub fn clear(&self) -> Result<(), Error> {
        cache::remove_folder(&self.folder)?;
        self.forget()
    }

    /// Before a build: what is not what the last build left goes. After one that was cut
    /// off those are its files, each of which may be half there; else a file was
    /// damaged, and nothing that was made of it can be told from the rest, so that all
    /// goes.
    ///
    /// # Errors
    /// When a file cannot be read or removed, or the user asks to stop.
    pub fn mend(&self, cut_off: bool, interrupt: &Interrupt) -> Result<(), Error> {
        if !self.folder.is_dir() {
            return self.clear();
        }
        let Some(known) = sealed::kept::<Manifest>(&self.record)? else {
            return self.clear();
        };
        let present = sums::listed(&self.folder, interrupt)?;
        let same = |(path, entry): &(&_, &_)| known.entries().get(*path) == Some(*entry);
        let others: Vec<_> = present.entries().iter().filter(|one| !same(one)).collect();
        if cut_off {
            let mut places = others.iter().map(|(path, _)| self.folder.join(path));
            return places.try_for_each(|place| cache::remove_if_there(&place));
        }
        let gone = known.entries().keys();
        let gone = gone.filter(|path| !present.entries().contains_key(*path));
        match others.iter().map(|(path, _)| *path).chain(gone).next() {
            None => Ok(()),
            Some(path) => {
                damage::note(&self.folder.join(path));
                self.clear()
            }
        }
    }

    /// Whether a file is younger than this moment: then the clock has gone back since it
    /// was written, and make would not see what was written after that as younger.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn are_of_the_future(&self) -> Result<bool, Error> {
        if !self.folder.is_dir() {
            return Ok(false);
        }
        let unlooked = |reason: &dyn std::fmt::Display| Error::Read {
            path: self.folder.clone(),
            reason: reason.to_string(),
        };
        let mut newest = SystemTime::UNIX_EPOCH;
        for found in WalkBuilder::new(&self.folder)
            .standard_filters(false)
            .build()
        {
            let found = found.map_err(|error| unlooked(&error))?;
            let about = fs::symlink_metadata(found.path()).map_err(|error| unlooked(&error))?;
            if about.is_file() {
                let written = about.modified().map_err(|error| unlooked(&error))?;
                newest = newest.max(written);
            }
        }
        Ok(newest > SystemTime::now())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    struct Fixture {
        dir: tempfile::TempDir,
        products: Products,
    }

    impl Fixture {
        /// A build that left two files.
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let folder = dir.path().join("build");
            fs::create_dir_all(folder.join("fs")).unwrap();
            let products = Products::new(folder, dir.path().join("built.json"));
            let fixture = Self { dir, products };
            fixture.write("fs/a.o", "a");
            fixture.write("vmlinux", "v");
            fixture.products.keep(&Interrupt::default()).unwrap();
            fixture
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.products.folder().join(name), text).unwrap();
        }

        fn mend(&self, cut_off: bool) {
            self.products.mend(cut_off, &Interrupt::default()).unwrap();
        }

        fn has(&self, name: &str) -> bool {
            self.products.folder().join(name).exists()
        }
    }

    #[test]
    fn what_a_build_that_was_cut_off_wrote_goes_whatever_the_clock_says() {
        let fixture = Fixture::new();
        fixture.write("vmlinux", "w");
        fixture.write("new.o", "half");
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        for name in ["vmlinux", "new.o"] {
            let file = fs::File::options()
                .write(true)
                .open(fixture.products.folder().join(name));
            file.unwrap().set_modified(long_ago).unwrap();
        }
        fixture.mend(true);
        assert!(fixture.has("fs/a.o") && !fixture.has("vmlinux") && !fixture.has("new.o"));
    }

    #[test]
    fn a_file_that_is_another_or_gone_takes_all_with_it() {
        let fixture = Fixture::new();
        fixture.mend(false);
        assert!(fixture.has("fs/a.o"));
        fixture.write("fs/a.o", "b");
        fixture.mend(false);
        assert!(!fixture.has("") && !fixture.dir.path().join("built.json").exists());
        let place = fixture.products.folder().join("fs/a.o");
        assert!(damage::taken().contains(&place));

        let fixture = Fixture::new();
        fs::remove_file(fixture.products.folder().join("fs/a.o")).unwrap();
        fixture.mend(false);
        assert!(!fixture.has("vmlinux"));
    }

    #[test]
    fn what_nobody_took_down_is_not_believed() {
        let fixture = Fixture::new();
        fs::remove_file(fixture.dir.path().join("built.json")).unwrap();
        fixture.mend(true);
        assert!(!fixture.has("vmlinux"));
    }

    #[test]
    fn a_clock_that_went_back_is_seen() {
        let fixture = Fixture::new();
        assert!(!fixture.products.are_of_the_future().unwrap());
        let file = fs::File::options()
            .write(true)
            .open(fixture.products.folder().join("fs/a.o"));
        let later = SystemTime::now() + Duration::from_secs(3600);
        file.unwrap().set_modified(later).unwrap();
        assert!(fixture.products.are_of_the_future().unwrap());
        fixture.products.clear().unwrap();
        assert!(!fixture.products.are_of_the_future().unwrap());
    }
}
