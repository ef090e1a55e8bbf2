//! The private copy that kernels are built from. It starts as hard links into
//! the user's tree; whatever differs from that tree is a file of its own, so
//! the user's files are never written to.
//!
//! make decides by time what to rebuild. Here content decides: a file whose
//! content is not the one that was last built is written anew, which makes it
//! younger than every object. (Measured before this was so: a variant whose
//! files were older than the objects was "built" without a compiler run, and
//! the base was measured twice.) Where that does not hold, the objects go: a new
//! copy has the times of the user's tree, and a clock may go back.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tollgate_source::{TreePath, shown};

use crate::cache;
use crate::process::Interrupt;
use crate::products::Products;
use crate::remembered::{self, Memory};
use crate::sealed;
use crate::space;
use crate::tree::{self, Change, Kind, Manifest, Tree};

/// Why the copy could not be brought into the wanted state.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the copy could not be written.
    #[error("could not write {} in the private copy of the tree: {source}{}", shown(.path), space::hint(.source, .path, space::OR_CACHE))]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The tree changed under a build, through a hard link.
    #[error("{} changed while the kernel was built; the image was thrown away, run again", shown(.path))]
    ChangedUnderneath {
        /// The first file that changed.
        path: PathBuf,
    },
    /// The tree or the copy could not be read.
    #[error(transparent)]
    Tree(#[from] tree::Error),
    /// The record of what was built could not be kept.
    #[error(transparent)]
    Cache(#[from] cache::Error),
}

impl From<remembered::Error> for Error {
    fn from(error: remembered::Error) -> Self {
        match error {
            remembered::Error::Tree(error) => Self::Tree(error),
            remembered::Error::Cache(error) => Self::Cache(error),
        }
    }
}

/// A copy of a tree that may be changed.
#[derive(Debug)]
pub struct PrivateCopy {
    root: PathBuf,
    /// What the copy held when make last ran over it.
    record: PathBuf,
    /// What make makes of it.
    products: Products,
    /// What is remembered of its files.
    memory: Arc<Memory>,
}

impl PrivateCopy {
    /// The copy at `root`, which need not exist yet. `record` is a file beside
    /// it that remembers what was built last, `products` what was built, `memory` what is
    /// remembered of the tree.
    #[must_use]
    pub fn new(root: PathBuf, record: PathBuf, products: Products, memory: Arc<Memory>) -> Self {
        Self {
            root,
            record,
            products,
            memory,
        }
    }

    /// The copy's top folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the copy hold `tree` with `change`; `wanted` is their manifest.
    ///
    /// # Errors
    /// When a file cannot be read or written, or the user asks to stop.
    pub fn sync(
        &self,
        tree: &Tree,
        change: &Change,
        wanted: &Manifest,
        interrupt: &Interrupt,
    ) -> Result<(), Error> {
        let built: Option<Manifest> = sealed::kept(&self.record)?;
        let placing = self.record.with_extension("placing");
        // Of a copy that begins anew, or was left half-way, no time says anything.
        if built.is_none() || placing.exists() {
            self.products.clear()?;
        }
        cache::write_file(&placing, b"files are being placed, or this was cut off\n")?;
        let present = match &built {
            Some(_) => self.memory.manifest(&self.root, interrupt)?,
            None => self.start_over()?,
        };
        let placer = Placer {
            copy: self,
            tree,
            change,
            link: built.is_none(),
        };
        // A link that is a folder now would be written through, so it goes first.
        let wants = |path: &&TreePath| wanted.entries().contains_key(*path);
        for path in present.entries().keys().filter(|path| !wants(path)) {
            self.remove(path)?;
        }
        let built = built.unwrap_or_default();
        for (path, entry) in wanted.entries() {
            let stale = |known: &Manifest| known.entries().get(path) != Some(entry);
            if stale(&present) || stale(&built) {
                interrupt.check().map_err(tree::Error::from)?;
                placer.place(path, entry.kind)?;
            }
        }
        if self.products.are_of_the_future()? {
            self.products.clear()?;
        }
        sealed::keep(&self.record, wanted)?;
        Ok(cache::remove_if_there(&placing)?)
    }

    /// Puts other bytes into one of its files, as a file of its own.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn replace(&self, path: &TreePath, bytes: &[u8], kind: Kind) -> Result<(), Error> {
        let target = self.root.join(path);
        let failed = |source| Error::Write {
            path: target.clone(),
            source,
        };
        make_folders(&self.root, path).map_err(failed)?;
        write(&target, bytes, kind).map_err(failed)
    }

    /// Removes a file, and the folders that are empty without it.
    fn remove(&self, path: &TreePath) -> Result<(), Error> {
        remove(&self.root.join(path))?;
        let mut folder = path.folder();
        // The first that is not empty says so.
        while folder != TreePath::top() && fs::remove_dir(self.root.join(&folder)).is_ok() {
            folder = folder.folder();
        }
        Ok(())
    }

    /// Checks after a build that the copy still holds what was built.
    ///
    /// # Errors
    /// [`Error::ChangedUnderneath`] with the first file that does not.
    pub fn verify(&self, wanted: &Manifest, interrupt: &Interrupt) -> Result<(), Error> {
        let present = self.memory.manifest(&self.root, interrupt)?;
        let differs = wanted
            .entries()
            .iter()
            .find(|(path, entry)| present.entries().get(*path) != Some(entry));
        match differs {
            Some((path, _)) => Err(Error::ChangedUnderneath {
                path: path.as_path().to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// A copy without a record was cut off while it was made.
    fn start_over(&self) -> Result<Manifest, Error> {
        match fs::remove_dir_all(&self.root) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::Write {
                path: self.root.clone(),
                source,
            }),
            _ => Ok(Manifest::default()),
        }
    }
}

/// Puts files into the copy.
struct Placer<'a> {
    copy: &'a PrivateCopy,
    tree: &'a Tree,
    change: &'a Change,
    /// Whether a file of the tree may be linked: only into a new copy, where
    /// no object can be younger than it.
    link: bool,
}

impl Placer<'_> {
    fn place(&self, path: &TreePath, kind: Kind) -> Result<(), Error> {
        if let Some(Some(bytes)) = self.change.files.get(path) {
            return self.copy.replace(path, bytes, kind);
        }
        let (source, target) = (self.tree.place(path), self.copy.root.join(path));
        make_folders(&self.copy.root, path).map_err(|source| Error::Write {
            path: target.clone(),
            source,
        })?;
        // Another file system, another owner: then a copy does.
        if self.link && fs::hard_link(&source, target).is_ok() {
            return Ok(());
        }
        let bytes = match kind {
            Kind::Link => link_target(&source)?,
            Kind::File | Kind::Program => self.tree.read(path)?,
        };
        self.copy.replace(path, &bytes, kind)
    }
}

/// Makes the folders that a file lies in. Whatever else is in the place of one, a
/// link among them, makes way: nothing is ever written through it.
fn make_folders(root: &Path, path: &TreePath) -> io::Result<()> {
    let folder = path.folder();
    let mut place = root.to_owned();
    fs::create_dir_all(&place)?;
    for part in folder.parts() {
        place.push(OsStr::from_bytes(part));
        match fs::symlink_metadata(&place) {
            Ok(about) if about.is_dir() => continue,
            Ok(_) => fs::remove_file(&place)?,
            Err(_) => {}
        }
        fs::create_dir(&place)?;
    }
    Ok(())
}

fn link_target(path: &Path) -> Result<Vec<u8>, Error> {
    match fs::read_link(path) {
        Ok(to) => Ok(to.as_os_str().as_bytes().to_vec()),
        Err(error) => Err(Error::Tree(tree::Error::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        })),
    }
}

/// Writes beside, under a name that is new, and renames: a hard link is broken
/// instead of being written through.
#[expect(
    clippy::disallowed_methods,
    reason = "what cannot be looked at is written over, which says why it cannot be"
)]
fn write(target: &Path, bytes: &[u8], kind: Kind) -> io::Result<()> {
    if fs::symlink_metadata(target).is_ok_and(|about| about.is_dir()) {
        fs::remove_dir_all(target)?;
    }
    let folder = target.parent().unwrap_or(target);
    let new = tempfile::Builder::new();
    if kind == Kind::Link {
        let to = OsStr::from_bytes(bytes);
        let link = new.make_in(folder, |place| symlink(to, place))?;
        return Ok(link.persist(target).map(drop)?);
    }
    let mut file = new.make_in(folder, |place| fs::File::create_new(place))?;
    file.write_all(bytes)?;
    let mode = if kind == Kind::Program { 0o755 } else { 0o644 };
    file.as_file()
        .set_permissions(fs::Permissions::from_mode(mode))?;
    Ok(file.persist(target).map(drop)?)
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::Write {
            path: path.to_owned(),
            source,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Cache;
    use std::os::unix::fs::MetadataExt;
    use std::time::SystemTime;

    struct Fixture {
        dir: tempfile::TempDir,
        tree: Tree,
    }

    #[test]
    fn what_cannot_be_removed_is_said_and_what_is_not_there_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.c");
        fs::write(&file, "").unwrap();
        assert!(remove(&file.join("inside")).is_err());
        remove(&file).unwrap();
        assert!(!file.exists());
        remove(&file).unwrap();
    }

    impl Fixture {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().join("tree");
            let tree = crate::fixture::kernel(&root);
            fs::write(root.join("a.c"), "int a;\n").unwrap();
            fs::write(root.join("scripts/run"), "#!/bin/sh\n").unwrap();
            fs::set_permissions(root.join("scripts/run"), fs::Permissions::from_mode(0o755))
                .unwrap();
            Self { dir, tree }
        }

        fn copy(&self) -> PrivateCopy {
            let cache = Cache::open(&self.dir.path().join("cache")).unwrap();
            PrivateCopy::new(
                self.dir.path().join("copy"),
                self.dir.path().join("built.json"),
                self.products(),
                Arc::new(Memory::of(self.tree.root(), &cache)),
            )
        }

        fn products(&self) -> Products {
            let place = |name: &str| self.dir.path().join(name);
            Products::new(place("build"), place("products.json"))
        }

        /// An object that a build leaves.
        fn build(&self) -> PathBuf {
            let object = self.products().folder().join("a.o");
            fs::create_dir_all(self.products().folder()).unwrap();
            fs::write(&object, "").unwrap();
            object
        }

        fn sync(&self, change: &Change) -> Manifest {
            let wanted = self
                .tree
                .manifest(&Interrupt::default())
                .unwrap()
                .with(change);
            self.copy()
                .sync(&self.tree, change, &wanted, &Interrupt::default())
                .unwrap();
            self.copy().verify(&wanted, &Interrupt::default()).unwrap();
            wanted
        }

        fn in_copy(&self, name: &str) -> PathBuf {
            self.dir.path().join("copy").join(name)
        }

        fn modified(&self, name: &str) -> SystemTime {
            fs::metadata(self.in_copy(name))
                .unwrap()
                .modified()
                .unwrap()
        }
    }

    fn change(path: &str, bytes: &str) -> Change {
        let mut change = Change::default();
        change
            .files
            .insert(TreePath::within(path), Some(bytes.into()));
        change
    }

    #[test]
    fn a_new_copy_is_hard_links() {
        let fixture = Fixture::new();
        fixture.sync(&Change::default());
        let inode = |path: &Path| fs::metadata(path).unwrap().ino();
        assert_eq!(
            inode(&fixture.in_copy("a.c")),
            inode(&fixture.tree.root().join("a.c"))
        );
    }

    #[test]
    fn a_variant_never_reaches_the_users_file() {
        let fixture = Fixture::new();
        fixture.sync(&Change::default());
        fixture.sync(&change("a.c", "int b;\n"));
        assert_eq!(
            fs::read_to_string(fixture.in_copy("a.c")).unwrap(),
            "int b;\n"
        );
        assert_eq!(
            fs::read_to_string(fixture.tree.root().join("a.c")).unwrap(),
            "int a;\n"
        );
    }

    #[test]
    fn going_back_to_the_base_makes_the_file_younger_than_any_object() {
        let fixture = Fixture::new();
        fixture.sync(&Change::default());
        fixture.sync(&change("a.c", "int b;\n"));
        let built = SystemTime::now();
        std::thread::sleep(std::time::Duration::from_millis(20));
        fixture.sync(&Change::default());
        assert_eq!(
            fs::read_to_string(fixture.in_copy("a.c")).unwrap(),
            "int a;\n"
        );
        assert!(fixture.modified("a.c") > built);
        assert!(fixture.modified("Makefile") < built);
    }

    #[test]
    fn an_edit_through_the_link_with_its_old_time_is_noticed() {
        let fixture = Fixture::new();
        fixture.sync(&Change::default());
        let file = fixture.tree.root().join("a.c");
        let before = fs::metadata(&file).unwrap().modified().unwrap();
        fs::write(&file, "int z;\n").unwrap();
        fs::File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_modified(before)
            .unwrap();
        fixture.sync(&Change::default());
        assert!(fixture.modified("a.c") > before);
    }

    #[test]
    fn a_file_that_the_variant_adds_is_gone_from_the_next() {
        let fixture = Fixture::new();
        fixture.sync(&change("new.c", ""));
        assert!(fixture.in_copy("new.c").exists());
        fixture.sync(&Change::default());
        assert!(!fixture.in_copy("new.c").exists());
    }

    #[test]
    fn a_copy_that_was_cut_off_starts_over() {
        let fixture = Fixture::new();
        fixture.sync(&Change::default());
        fs::remove_file(fixture.dir.path().join("built.json")).unwrap();
        fs::remove_file(fixture.in_copy("a.c")).unwrap();
        fs::write(fixture.in_copy("stray.c"), "").unwrap();
        fixture.sync(&Change::default());
        assert!(fixture.in_copy("a.c").exists() && !fixture.in_copy("stray.c").exists());
    }

    /// The links of a new copy are as old as the user's files, and make would take the
    /// objects of whatever was built last for theirs.
    #[test]
    fn a_copy_that_starts_over_takes_no_objects_with_it() {
        let fixture = Fixture::new();
        let change = change("a.c", "int b;\n");
        fixture.sync(&change);
        let object = fixture.build();
        fixture.sync(&change);
        assert!(object.exists());
        fs::write(fixture.dir.path().join("built.json"), "{").unwrap();
        fixture.sync(&Change::default());
        assert!(!object.exists());
    }

    #[test]
    fn objects_from_before_the_clock_went_back_go() {
        let fixture = Fixture::new();
        fixture.sync(&Change::default());
        let object = fixture.build();
        let later = SystemTime::now() + std::time::Duration::from_secs(3600);
        let file = fs::File::options().write(true).open(&object);
        file.unwrap().set_modified(later).unwrap();
        fixture.sync(&change("a.c", "int b;\n"));
        assert!(!object.exists());
    }

    #[test]
    fn a_sync_that_was_cut_off_takes_no_objects_with_it() {
        let fixture = Fixture::new();
        fixture.sync(&Change::default());
        let object = fixture.build();
        fs::write(fixture.dir.path().join("built.placing"), "").unwrap();
        fixture.sync(&Change::default());
        assert!(!object.exists());
        assert!(!fixture.dir.path().join("built.placing").exists());
    }

    #[test]
    fn programs_stay_programs() {
        let fixture = Fixture::new();
        fixture.sync(&Change::default());
        fixture.sync(&change("scripts/run", "#!/bin/sh\ntrue\n"));
        let mode = fs::metadata(fixture.in_copy("scripts/run"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o111, 0o111);
    }

    #[test]
    fn a_change_during_the_build_is_named() {
        let fixture = Fixture::new();
        let wanted = fixture.sync(&Change::default());
        fs::write(fixture.tree.root().join("a.c"), "int q;\n").unwrap();
        let error = fixture
            .copy()
            .verify(&wanted, &Interrupt::default())
            .unwrap_err();
        assert!(
            error.to_string().starts_with("a.c changed while"),
            "{error}"
        );
    }

    /// A tree in which a folder was a link that leads out, and the other way round.
    #[test]
    fn nothing_is_written_through_a_link() {
        let fixture = Fixture::new();
        let away = fixture.dir.path().join("away");
        fs::create_dir(&away).unwrap();
        fs::write(away.join("x.c"), "theirs\n").unwrap();
        let ext = fixture.tree.root().join("ext");
        symlink(&away, &ext).unwrap();
        fixture.sync(&Change::default());
        fs::remove_file(&ext).unwrap();
        fs::create_dir(&ext).unwrap();
        fs::write(ext.join("x.c"), "ours\n").unwrap();
        fixture.sync(&Change::default());
        assert_eq!(fs::read_to_string(away.join("x.c")).unwrap(), "theirs\n");
        assert_eq!(
            fs::read_to_string(fixture.in_copy("ext/x.c")).unwrap(),
            "ours\n"
        );
        fs::remove_dir_all(&ext).unwrap();
        symlink(&away, &ext).unwrap();
        fixture.sync(&Change::default());
        assert!(
            fs::symlink_metadata(fixture.in_copy("ext"))
                .unwrap()
                .is_symlink()
        );
    }

    /// The name beside a file that is written may be one of the tree's.
    #[test]
    fn no_file_of_the_tree_is_taken_for_a_temporary_one() {
        let fixture = Fixture::new();
        let own = fixture.tree.root().join("a.c.tollgate-new");
        fs::write(&own, "theirs\n").unwrap();
        fixture.sync(&Change::default());
        fixture.sync(&change("a.c", "int b;\n"));
        assert_eq!(fs::read_to_string(&own).unwrap(), "theirs\n");
        assert!(fixture.in_copy("a.c.tollgate-new").exists());
    }

    #[test]
    fn pipes_are_no_part_of_a_tree() {
        let fixture = Fixture::new();
        let pipe = fixture.tree.root().join("pipe.c");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let manifest = fixture.sync(&Change::default());
        assert_eq!(manifest.left_out(), [TreePath::within("pipe.c")]);
        assert!(!fixture.in_copy("pipe.c").exists());
    }
}
