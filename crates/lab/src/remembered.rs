//! What each file of a tree held when it was last read: a file that did not change
//! since is not read again, as git's index has it (racy-git in git's documentation).

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tollgate_defect::answer;

use crate::cache::{self, Cache};
use crate::job;
use crate::process::Interrupt;
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
    let name = tree::hash(root.as_os_str().as_bytes());
    let folder = cache.root().join("robot/trees");
    let place = folder.join(format!("{name}.json"));
    // What cannot be read there is made anew.
    let known = answer::there(cache::read_json::<Known>(&place).map_err(drop));
    let known = known.flatten().unwrap_or_default();
    let began = answer::there(SystemTime::now().duration_since(UNIX_EPOCH).map_err(drop));
    let began = began.map_or(0, |since| since.as_secs() as i64);
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
    let manifest = tree::manifest_by(root, interrupt, &read)?;
    let fresh = match fresh.into_inner() {
        Ok(fresh) => fresh,
        Err(poisoned) => poisoned.into_inner(),
    };
    if !fresh.is_empty() {
        let mut known = known;
        known.0.extend(fresh);
        cache::make_folder(&folder)?;
        cache::write_json(&place, &known)?;
    }
    Ok(manifest)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_remembered_is_what_a_tree_holds() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(&dir.path().join("cache")).unwrap();
        let root = dir.path().join("tree");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), "one").unwrap();
        fs::write(root.join("b"), "two").unwrap();
        let old = SystemTime::now() - Duration::from_secs(1000);
        let interrupt = Interrupt::default();
        let read = || manifest(&root, &cache, &interrupt).unwrap();
        let plain = || tree::manifest_of(&root, &interrupt).unwrap();
        assert_eq!(read(), plain());
        // The same size, and the time of its content set back as it was.
        let about = fs::metadata(root.join("a")).unwrap().modified().unwrap();
        fs::write(root.join("a"), "six").unwrap();
        fs::File::options()
            .append(true)
            .open(root.join("a"))
            .unwrap()
            .set_modified(about)
            .unwrap();
        assert_eq!(read(), plain());
        fs::remove_file(root.join("b")).unwrap();
        fs::File::options()
            .append(true)
            .open(root.join("a"))
            .unwrap()
            .set_modified(old)
            .unwrap();
        assert_eq!(read(), plain());
    }

    #[test]
    fn a_file_that_did_not_change_is_not_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(&dir.path().join("cache")).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
        let root = match root.is_dir() {
            true => root,
            false => Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        };
        let interrupt = Interrupt::default();
        let before = manifest(&root, &cache, &interrupt).unwrap();
        let name = tree::hash(root.as_os_str().as_bytes());
        let place = cache.root().join(format!("robot/trees/{name}.json"));
        let text = fs::read_to_string(&place);
        // Files that were checked out just now are read each time.
        let Ok(text) = text else { return };
        let known: Known = serde_json::from_str(&text).unwrap();
        assert!(known.0.keys().all(|path| root.join(path).is_file()));
        assert_eq!(manifest(&root, &cache, &interrupt).unwrap(), before);
        assert_eq!(fs::read_to_string(&place).unwrap(), text);
    }
}
