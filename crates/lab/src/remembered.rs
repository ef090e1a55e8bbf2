//! What each file of a tree held when it was last read: a file that did not change
//! since is not read again.
//!
//! The private copies of a tree are hard links into it, and making one changes when a file
//! changed last. So a tree and its copies have one record, by path and then by inode: what
//! was read in the copy after its links were made is known in the tree as well.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tollgate_defect::answer;

use crate::cache::{self, Cache};
use crate::process::Interrupt;
use crate::sealed;
use crate::stamp::{Stamp, is_settled, now, stamp};
use crate::tree::{self, Entry, Kind, Manifest};

/// States of a file of one path that are remembered: the tree's, and those of copies that
/// are no links.
const STATES: usize = 4;

/// Paths that are remembered for each that there is: more of them were of other states of
/// the tree.
const PATHS: usize = 2;

/// One state of a file: its stamp, the hash of its bytes, its kind.
type State = (Stamp, String, Kind);

/// By path below the root: the states, the newest first.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Known(HashMap<String, Vec<State>>);

impl Known {
    fn entry(&self, path: &str, stamp: &Stamp) -> Option<Entry> {
        let states = self.0.get(path)?;
        let state = states.iter().find(|(seen, _, _)| seen == stamp);
        state.map(|(_, content, kind)| Entry {
            content: content.clone(),
            kind: *kind,
        })
    }

    /// Of one inode the last state counts.
    fn add(&mut self, path: String, state: State) {
        let inode = |state: &State| (state.0.0, state.0.1);
        let states = self.0.entry(path).or_default();
        states.retain(|known| inode(known) != inode(&state));
        states.insert(0, state);
        states.truncate(STATES);
    }
}

/// Why a tree could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A part of it, or the user asked to stop.
    #[error(transparent)]
    Tree(#[from] tree::Error),
    /// What is remembered could not be kept.
    #[error(transparent)]
    Cache(#[from] cache::Error),
}

/// What is remembered of a tree and of the copies that are made of it.
#[derive(Debug)]
pub struct Memory {
    place: PathBuf,
    /// None before it is asked for.
    known: Mutex<Option<Known>>,
}

impl Memory {
    /// What the cache has of the tree at `root`.
    #[must_use]
    pub fn of(root: &Path, cache: &Cache) -> Self {
        let name = tree::hash(root.as_os_str().as_bytes());
        Self {
            place: cache.root().join(format!("known/{name}.json")),
            known: Mutex::new(None),
        }
    }

    /// Reads what the tree, or a copy of it, holds at `root`, as [`tree::manifest_of`] does.
    ///
    /// # Errors
    /// When a file cannot be read, the cache cannot be used, or the user asks to stop.
    pub fn manifest(&self, root: &Path, interrupt: &Interrupt) -> Result<Manifest, Error> {
        self.manifest_at(root, interrupt, now())
    }

    /// The same, begun at a time in seconds since 1970.
    fn manifest_at(
        &self,
        root: &Path,
        interrupt: &Interrupt,
        began: i64,
    ) -> Result<Manifest, Error> {
        let mut held = locked(&self.known);
        let known = match &mut *held {
            Some(known) => known,
            none => none.insert(sealed::kept(&self.place)?.unwrap_or_default()),
        };
        let fresh: Mutex<Vec<(String, State)>> = Mutex::default();
        let read = |path: &Path| -> Result<Entry, tree::Error> {
            let about =
                fs::symlink_metadata(path).map_err(|error| tree::unreadable(path, &error))?;
            let below = answer::below(path, root).and_then(Path::to_str);
            let stamp = stamp(&about);
            if let Some(entry) = below.and_then(|below| known.entry(below, &stamp)) {
                return Ok(entry);
            }
            let entry = tree::file(path)?;
            if let Some(below) = below.filter(|_| is_settled(&about, began)) {
                let state = (stamp, entry.content.clone(), entry.kind);
                locked(&fresh).push((below.to_owned(), state));
            }
            Ok(entry)
        };
        let manifest = tree::manifest_by(root, interrupt, &tree::is_build_product, &read)?;
        let fresh = fresh.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !fresh.is_empty() {
            fresh
                .into_iter()
                .for_each(|(path, state)| known.add(path, state));
            forget(known, &manifest);
            cache::make_folder(self.place.parent().unwrap_or(&self.place))?;
            sealed::keep(&self.place, known)?;
        }
        Ok(manifest)
    }
}

/// Reads what a tree holds, as [`tree::manifest_of`] does, by what is remembered of it
/// in the cache.
///
/// # Errors
/// As [`Memory::manifest`].
pub fn manifest(root: &Path, cache: &Cache, interrupt: &Interrupt) -> Result<Manifest, Error> {
    Memory::of(root, cache).manifest(root, interrupt)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Paths that a tree had once.
fn forget(known: &mut Known, manifest: &Manifest) {
    if known.0.len() <= PATHS * manifest.entries().len() {
        return;
    }
    let paths: HashSet<&[u8]> = manifest
        .entries()
        .keys()
        .map(|path| path.as_bytes())
        .collect();
    known.0.retain(|path, _| paths.contains(path.as_bytes()));
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use super::*;
    use crate::stamp::SETTLED;

    struct Fixture {
        dir: tempfile::TempDir,
        cache: Cache,
    }

    impl Fixture {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let cache = Cache::open(&dir.path().join("cache")).unwrap();
            let fixture = Self { dir, cache };
            fs::create_dir(fixture.root()).unwrap();
            fs::write(fixture.root().join("a"), "one").unwrap();
            fs::write(fixture.root().join("b"), "two").unwrap();
            fixture
        }

        fn root(&self) -> PathBuf {
            self.dir.path().join("tree")
        }

        /// Reads so many seconds from now.
        fn read(&self, later: i64) -> Manifest {
            self.read_at(&self.root(), later)
        }

        fn read_at(&self, root: &Path, later: i64) -> Manifest {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            let began = now.as_secs() as i64 + later;
            self.memory()
                .manifest_at(root, &Interrupt::default(), began)
                .unwrap()
        }

        fn memory(&self) -> Memory {
            Memory::of(&self.root(), &self.cache)
        }

        fn plain(&self) -> Manifest {
            tree::manifest_of(&self.root(), &Interrupt::default()).unwrap()
        }

        fn remembered(&self) -> Known {
            sealed::kept(&self.memory().place)
                .unwrap()
                .unwrap_or_default()
        }

        /// Has what is remembered of a file say that it holds what b does.
        fn plant(&self, path: &str) {
            let mut known = self.remembered();
            let other = known.0["b"][0].1.clone();
            known.0.get_mut(path).unwrap()[0].1 = other;
            sealed::keep(&self.memory().place, &known).unwrap();
        }
    }

    const LATER: i64 = 1000;

    /// What is done to a tree, in words, and the doing.
    type Touching = (&'static str, fn(&Path));

    #[test]
    fn what_is_remembered_is_not_read_again() {
        let fixture = Fixture::new();
        assert_eq!(fixture.read(LATER), fixture.plain());
        assert_eq!(fixture.remembered().0.len(), 2);
        // Who reads a sees that it is not so.
        fixture.plant("a");
        assert_ne!(fixture.read(LATER), fixture.plain());
    }

    #[test]
    fn what_changed_just_now_is_read_each_time() {
        let fixture = Fixture::new();
        assert_eq!(fixture.read(0), fixture.plain());
        assert!(fixture.remembered().0.is_empty());
        assert_eq!(fixture.read(SETTLED + 5), fixture.plain());
        assert_eq!(fixture.remembered().0.len(), 2);
    }

    /// Each way to change a file so that it looks as it was.
    #[test]
    fn no_change_of_a_file_is_missed() {
        let changes: [Touching; 6] = [
            ("other words of the same length", |root| {
                let before = fs::metadata(root.join("a")).unwrap().modified().unwrap();
                fs::write(root.join("a"), "six").unwrap();
                let file = fs::File::options().append(true).open(root.join("a"));
                file.unwrap().set_modified(before).unwrap();
            }),
            ("another file in its place", |root| {
                fs::write(root.join("new"), "six").unwrap();
                fs::rename(root.join("new"), root.join("a")).unwrap();
            }),
            ("two that change places", |root| {
                fs::rename(root.join("a"), root.join("c")).unwrap();
                fs::rename(root.join("b"), root.join("a")).unwrap();
                fs::rename(root.join("c"), root.join("b")).unwrap();
            }),
            ("a file that can be run now", |root| {
                let run = fs::Permissions::from_mode(0o755);
                fs::set_permissions(root.join("a"), run).unwrap();
            }),
            ("a link in its place", |root| {
                fs::remove_file(root.join("a")).unwrap();
                symlink("b", root.join("a")).unwrap();
            }),
            ("none any more", |root| {
                fs::remove_file(root.join("a")).unwrap()
            }),
        ];
        for (what, change) in changes {
            let fixture = Fixture::new();
            let before = fixture.read(LATER);
            // Times are told apart by ticks of the file system's clock.
            std::thread::sleep(Duration::from_millis(20));
            change(&fixture.root());
            let after = fixture.read(LATER);
            assert_eq!(after, fixture.plain(), "{what}");
            assert_ne!(after, before, "{what}");
        }
    }

    #[test]
    fn a_record_that_cannot_be_read_is_made_anew() {
        let fixture = Fixture::new();
        fixture.read(LATER);
        let place = fixture.memory().place;
        let whole = fs::read_to_string(&place).unwrap();
        let cut = whole.get(..whole.len() - 1).unwrap();
        // A hash of another length, and one digit of a hash that is another.
        let digit = whole.replacen("[[[", "[[[1", 1);
        for damaged in ["{", "", cut, &digit] {
            fs::write(&place, damaged).unwrap();
            assert_eq!(fixture.remembered().0.len(), 0);
            assert_eq!(fixture.read(LATER), fixture.plain());
            assert_eq!(fixture.remembered().0.len(), 2);
        }
    }

    /// Links of all files, as a private copy begins.
    fn linked(fixture: &Fixture) -> PathBuf {
        let copy = fixture.dir.path().join("copy");
        fs::create_dir(&copy).unwrap();
        for name in ["a", "b"] {
            fs::hard_link(fixture.root().join(name), copy.join(name)).unwrap();
        }
        copy
    }

    #[test]
    fn what_was_read_in_a_copy_of_links_is_known_in_the_tree() {
        let fixture = Fixture::new();
        fixture.read(LATER);
        std::thread::sleep(Duration::from_millis(20));
        let copy = linked(&fixture);
        // The links made all that was known old; one reading, wherever, makes up for it.
        fixture.plant("a");
        assert_eq!(fixture.read_at(&copy, LATER), fixture.plain());
        fixture.plant("a");
        assert_ne!(fixture.read(LATER), fixture.plain());
    }

    #[test]
    fn a_file_that_was_written_between_link_and_reading_is_read() {
        let fixture = Fixture::new();
        let before = fixture.read(LATER);
        let times = fs::metadata(fixture.root().join("a")).unwrap();
        let copy = linked(&fixture);
        std::thread::sleep(Duration::from_millis(20));
        fs::write(copy.join("a"), "six").unwrap();
        let file = fs::File::options().append(true).open(copy.join("a"));
        file.unwrap()
            .set_modified(times.modified().unwrap())
            .unwrap();
        let after = fixture.read(LATER);
        assert_eq!(after, fixture.plain());
        assert_ne!(after, before);
    }

    #[test]
    fn a_tree_and_its_copy_of_other_inodes_are_both_known() {
        let fixture = Fixture::new();
        fixture.read(LATER);
        let copy = fixture.dir.path().join("copy");
        fs::create_dir(&copy).unwrap();
        fs::write(copy.join("a"), "one").unwrap();
        fs::write(copy.join("b"), "six").unwrap();
        let other = fixture.read_at(&copy, LATER);
        assert_eq!(
            other,
            tree::manifest_of(&copy, &Interrupt::default()).unwrap()
        );
        assert_ne!(other, fixture.plain());
        assert_eq!(fixture.remembered().0["b"].len(), 2);
        assert_eq!(fixture.read(LATER), fixture.plain());
        // Each write is another inode, or another state of one.
        for number in 0..10 {
            fs::write(copy.join("new"), format!("{number}")).unwrap();
            fs::rename(copy.join("new"), copy.join("b")).unwrap();
            fixture.read_at(&copy, LATER);
        }
        assert!(fixture.remembered().0["b"].len() <= STATES);
    }

    #[test]
    fn what_a_tree_had_once_is_forgotten() {
        let fixture = Fixture::new();
        for number in 0..20 {
            fs::write(fixture.root().join(format!("c{number}")), "c").unwrap();
        }
        fixture.read(LATER);
        for number in 0..20 {
            fs::remove_file(fixture.root().join(format!("c{number}"))).unwrap();
        }
        fs::write(fixture.root().join("new"), "new").unwrap();
        assert_eq!(fixture.read(LATER), fixture.plain());
        assert_eq!(fixture.remembered().0.len(), 3);
    }
}
