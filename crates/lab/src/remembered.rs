//! What each file of a tree held when it was last read: a file that did not change
//! since is not read again, as git's index has it (racy-git in git's documentation).

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tollgate_defect::answer;

use crate::cache::{self, Cache};
use crate::job;
use crate::process::Interrupt;
use crate::sealed;
use crate::tree::{self, Entry, Error, Manifest};

/// A file that changed less than so many seconds before it was read may change again
/// within the same tick of its file system's clock, and is read again next time.
const SETTLED: i64 = 3;

/// What tells one state of a file from another: device, inode, size, when its content
/// and when anything of it changed last, in seconds and nanoseconds. The last no program
/// can set.
type Stamp = (u64, u64, u64, i64, i64, i64, i64, u32);

fn stamp(about: &fs::Metadata) -> Stamp {
    (
        about.dev(),
        about.ino(),
        about.size(),
        about.mtime(),
        about.mtime_nsec(),
        about.ctime(),
        about.ctime_nsec(),
        about.mode(),
    )
}

/// By the bytes of a path below the root.
#[derive(Default, Serialize, Deserialize)]
struct Known(HashMap<String, (Stamp, Entry)>);

/// Reads what a tree holds, as [`tree::manifest_of`] does, by what is remembered of it
/// in the cache.
///
/// # Errors
/// When a file cannot be read, the cache cannot be used, or the user asks to stop.
pub fn manifest(root: &Path, cache: &Cache, interrupt: &Interrupt) -> Result<Manifest, job::Error> {
    let began = answer::there(SystemTime::now().duration_since(UNIX_EPOCH).map_err(drop));
    // By a clock before 1970 no file has settled.
    let began = began.map_or(0, |since| since.as_secs() as i64);
    manifest_at(root, cache, interrupt, began)
}

/// Where what is remembered of a tree lies.
fn record(root: &Path, cache: &Cache) -> PathBuf {
    let name = tree::hash(root.as_os_str().as_bytes());
    cache.root().join(format!("robot/trees/{name}.json"))
}

/// The same, begun at a time in seconds since 1970.
fn manifest_at(
    root: &Path,
    cache: &Cache,
    interrupt: &Interrupt,
    began: i64,
) -> Result<Manifest, job::Error> {
    let place = record(root, cache);
    let known = sealed::kept::<Known>(&place)?.unwrap_or_default();
    let fresh: Mutex<BTreeMap<String, (Stamp, Entry)>> = Mutex::new(BTreeMap::new());
    let read = |path: &Path| -> Result<Entry, Error> {
        let about = fs::symlink_metadata(path).map_err(|error| tree::unreadable(path, &error))?;
        let below = answer::below(path, root).and_then(Path::to_str);
        let stamp = stamp(&about);
        if let Some((seen, entry)) = below.and_then(|below| known.0.get(below))
            && *seen == stamp
        {
            return Ok(entry.clone());
        }
        let entry = tree::file(path)?;
        let settled = about.ctime() + SETTLED < began;
        if let (true, Some(below), Ok(mut fresh)) = (settled, below, fresh.lock()) {
            fresh.insert(below.to_owned(), (stamp, entry.clone()));
        }
        Ok(entry)
    };
    let manifest = tree::manifest_by(root, interrupt, &tree::is_build_product, &read)?;
    let fresh = match fresh.into_inner() {
        Ok(fresh) => fresh,
        Err(poisoned) => poisoned.into_inner(),
    };
    if !fresh.is_empty() {
        let mut known = known;
        known.0.extend(fresh);
        cache::make_folder(place.parent().unwrap_or(&place))?;
        sealed::keep(&place, &known)?;
    }
    Ok(manifest)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::time::Duration;

    use super::*;

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
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            let began = now.as_secs() as i64 + later;
            manifest_at(&self.root(), &self.cache, &Interrupt::default(), began).unwrap()
        }

        fn plain(&self) -> Manifest {
            tree::manifest_of(&self.root(), &Interrupt::default()).unwrap()
        }

        fn remembered(&self) -> Known {
            let known = sealed::kept(&record(&self.root(), &self.cache)).unwrap();
            known.unwrap_or_default()
        }
    }

    const LATER: i64 = 1000;

    /// What is done to a tree, in words, and the doing.
    type Touching = (&'static str, fn(&Path));

    #[test]
    fn what_is_remembered_is_not_read_again() {
        let fixture = Fixture::new();
        assert_eq!(fixture.read(LATER), fixture.plain());
        let mut known = fixture.remembered();
        assert_eq!(known.0.len(), 2);
        // What b holds is written into the place of a: who reads a sees that it is not so.
        let other = known.0["b"].1.clone();
        known.0.get_mut("a").unwrap().1 = other;
        sealed::keep(&record(&fixture.root(), &fixture.cache), &known).unwrap();
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
        fs::write(record(&fixture.root(), &fixture.cache), "{").unwrap();
        assert_eq!(fixture.read(LATER), fixture.plain());
        assert_eq!(fixture.remembered().0.len(), 2);
    }
}
