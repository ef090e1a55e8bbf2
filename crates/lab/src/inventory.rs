//! What the cache holds, what each of it takes on the disk, when it was used last, and
//! which of it has to go for the rest to fit.
//!
//! The size of an entry is what its removal would free. A file with several names (the
//! private copy of a tree is made of hard links) counts where all of them lie in the
//! cache: once in the whole, and for an entry where it holds all of them.

mod kinds;
mod using;

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tollgate_defect::{OrDefect as _, answer};
use tollgate_source::shown;

use crate::cache::{self, Cache};
use crate::input;
use crate::process::Interrupt;

pub use kinds::{KINDS, Kind, Place};
pub use using::Users;

/// Why the cache cannot be looked through, or made smaller.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder or file in it cannot be looked at.
    #[error("could not look at {}: {source}", shown(.path))]
    Look {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It was asked to stop.
    #[error(transparent)]
    Process(#[from] crate::process::Error),
    /// Something cannot be removed.
    #[error(transparent)]
    Cache(#[from] cache::Error),
    /// tollgate is wrong.
    #[error(transparent)]
    Defect(#[from] tollgate_defect::Defect),
}

/// One thing that can be removed without the others: an image, a build folder, a tree.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is.
    pub kind: &'static Kind,
    /// Its path below the cache.
    pub name: PathBuf,
    /// When it was used last, by the times of its folder.
    pub used: SystemTime,
    /// Bytes on the disk of files with one name.
    own: u64,
    /// Files with several names, each once.
    linked: BTreeSet<Inode>,
}

type Inode = (u64, u64);

/// A file with several names.
#[derive(Clone, Debug)]
struct Linked {
    /// Bytes on the disk.
    bytes: u64,
    /// How many names it has anywhere.
    names: u64,
    /// How many of them lie in the cache.
    seen: u64,
    /// The entries that hold one.
    holders: usize,
}

impl Linked {
    /// Whether the cache alone keeps it.
    fn is_inside(&self) -> bool {
        self.seen == self.names
    }
}

/// All that a cache holds.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// The entries, in the order of their names.
    entries: Vec<Entry>,
    linked: HashMap<Inode, Linked>,
}

impl Inventory {
    /// Looks through a cache; one that is not there holds nothing. What is made or
    /// removed meanwhile may be missing.
    ///
    /// # Errors
    /// When a folder of it cannot be read, and where it is interrupted.
    pub fn read(root: &Path, interrupt: &Interrupt) -> Result<Self, Error> {
        let mut inventory = Self::default();
        for (kind, name) in kinds::entries(root)? {
            interrupt.check()?;
            inventory.add(root, kind, name)?;
        }
        inventory
            .entries
            .sort_by(|one, other| one.name.cmp(&other.name));
        Ok(inventory)
    }

    fn add(&mut self, root: &Path, kind: &'static Kind, name: PathBuf) -> Result<(), Error> {
        let path = root.join(&name);
        let Some(about) = look(&path)? else {
            return Ok(());
        };
        let mut entry = Entry {
            kind,
            name,
            used: used(&about),
            own: 0,
            linked: BTreeSet::new(),
        };
        self.count(&path, &about, &mut entry)?;
        for inode in &entry.linked {
            let linked = self.linked.get_mut(inode);
            linked
                .or_defect("a file was counted and is not known")?
                .holders += 1;
        }
        self.entries.push(entry);
        Ok(())
    }

    fn count(&mut self, path: &Path, about: &Metadata, entry: &mut Entry) -> Result<(), Error> {
        let bytes = about.blocks().saturating_mul(BLOCK);
        if about.is_dir() {
            entry.own += bytes;
            for name in names(path)? {
                let below = path.join(name);
                if let Some(about) = look(&below)? {
                    self.count(&below, &about, entry)?;
                }
            }
        } else if about.nlink() == 1 {
            entry.own += bytes;
        } else {
            let inode = (about.dev(), about.ino());
            let linked = self.linked.entry(inode).or_insert(Linked {
                bytes,
                names: about.nlink(),
                seen: 0,
                holders: 0,
            });
            linked.seen += 1;
            entry.linked.insert(inode);
        }
        Ok(())
    }

    /// The entries with what the removal of each would free, in bytes.
    pub fn entries(&self) -> impl Iterator<Item = (&Entry, u64)> {
        self.entries
            .iter()
            .map(|entry| (entry, self.freed_by(entry)))
    }

    /// What the removal of all would free, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let own: u64 = self.entries.iter().map(|entry| entry.own).sum();
        let linked = self.linked.values().filter(|linked| linked.is_inside());
        own + linked.map(|linked| linked.bytes).sum::<u64>()
    }

    fn freed_by(&self, entry: &Entry) -> u64 {
        let linked = entry
            .linked
            .iter()
            .filter_map(|inode| self.linked.get(inode));
        let alone = linked.filter(|linked| linked.is_inside() && linked.holders == 1);
        entry.own + alone.map(|linked| linked.bytes).sum::<u64>()
    }

    /// What has to go for the rest to take at most so many bytes: the least recently
    /// used first, as long as there is too much.
    #[must_use]
    pub fn plan(&self, keep: u64, users: &Users) -> Plan {
        let mut left = self.clone();
        let mut plan = Plan {
            before: self.bytes(),
            ..Plan::default()
        };
        let mut bytes = plan.before;
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        entries.sort_by_key(|entry| (entry.used, &entry.name));
        for entry in entries {
            let why = match users.of(&entry.name) {
                _ if bytes <= keep => Some(Kept::Fits),
                Some(user) => Some(Kept::InUse(user.to_owned())),
                None => entry.kind.stays.map(Kept::Never),
            };
            let line = |bytes| Line {
                kind: entry.kind,
                name: entry.name.clone(),
                used: entry.used,
                bytes,
            };
            match why {
                Some(why) => plan.kept.push((line(left.freed_by(entry)), why)),
                None => {
                    let freed = left.freed_by(entry);
                    left.without(entry);
                    bytes = bytes.saturating_sub(freed);
                    plan.removed.push(line(freed));
                }
            }
        }
        plan.after = bytes;
        plan
    }

    /// Forgets an entry: files that it shared are the others'.
    fn without(&mut self, entry: &Entry) {
        for inode in &entry.linked {
            if let Some(linked) = self.linked.get_mut(inode) {
                linked.holders = linked.holders.saturating_sub(1);
            }
        }
    }
}

/// What is removed and what stays.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What there was, in bytes.
    pub before: u64,
    /// What there is afterwards, in bytes.
    pub after: u64,
    /// What goes, the least recently used first.
    pub removed: Vec<Line>,
    /// What stays, and why.
    pub kept: Vec<(Line, Kept)>,
}

/// An entry of a plan.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it is.
    pub kind: &'static Kind,
    /// Its path below the cache.
    pub name: PathBuf,
    /// When it was used last.
    pub used: SystemTime,
    /// What its removal frees, in bytes.
    pub bytes: u64,
}

/// Why an entry stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It was used after those that go, and with them gone all fits.
    Fits,
    /// Somebody is using it.
    InUse(String),
    /// It is never removed, for that reason.
    Never(&'static str),
}

impl Plan {
    /// Removes what has to go. An entry is moved away before it is removed, so that a
    /// part of one is never found under its name.
    ///
    /// # Errors
    /// When one cannot be moved or removed, and where it is interrupted.
    pub fn carry_out(&self, cache: &Cache, interrupt: &Interrupt) -> Result<(), Error> {
        for line in &self.removed {
            interrupt.check()?;
            let scratch = cache.scratch()?;
            let away = scratch.path().join("removed");
            cache::move_file(&cache.root().join(&line.name), &away)?;
            match away.is_dir() {
                true => cache::remove_folder(&away)?,
                false => drop(scratch),
            }
        }
        Ok(())
    }
}

/// Bytes of what stat(2) calls a block.
const BLOCK: u64 = 512;

/// A folder that is used is touched (`Cache::used`); one that was moved into its place has
/// another time of change.
fn used(about: &Metadata) -> SystemTime {
    let seconds = about.mtime().max(about.ctime());
    let since = Duration::from_secs(answer::fits(seconds).unwrap_or(0));
    SystemTime::UNIX_EPOCH + since
}

/// What a path is; none where it has gone.
fn look(path: &Path) -> Result<Option<Metadata>, Error> {
    match fs::symlink_metadata(path) {
        Ok(about) => Ok(Some(about)),
        Err(error) if input::is_absent(&error) => Ok(None),
        Err(source) => Err(Error::Look {
            path: path.to_owned(),
            source,
        }),
    }
}

fn names(folder: &Path) -> Result<Vec<std::ffi::OsString>, Error> {
    input::names_in(folder).map_err(|source| Error::Look {
        path: folder.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests;
