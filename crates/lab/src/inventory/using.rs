//! Who uses what lies in the cache. tollgate itself holds the cache's lock while it does;
//! scripts and other programs do not.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use tollgate_defect::answer;

use crate::cache::Cache;
use crate::input;

/// The folders that a script has a lock for, of its own (`scripts/tree`, `scripts/source`,
/// `scripts/library` and `scripts/chroot` hold it while they work in one).
const LOCKED: [&str; 2] = ["sources", "chroots"];

/// Paths below the cache that are in use, and by whom.
#[derive(Debug, Default)]
pub struct Users {
    used: Vec<(PathBuf, String)>,
    /// Held as long as this is: no script begins meanwhile.
    locks: Vec<File>,
}

impl Users {
    /// Those of a cache that this process has the lock of. What another user's process
    /// does is seen by root alone.
    #[must_use]
    pub fn now(cache: &Cache) -> Self {
        let mut users = Self::default();
        for folder in LOCKED {
            users.lock(cache.root(), folder);
        }
        for process in input::names_in(Path::new("/proc")).into_iter().flatten() {
            let number = process.to_str().and_then(answer::number::<u32>);
            if let Some(number) = number.filter(|number| *number != std::process::id()) {
                users.look_at(cache.root(), number);
            }
        }
        users
    }

    /// Some that a test makes up.
    #[cfg(test)]
    pub(super) fn of_test(used: &[(&str, &str)]) -> Self {
        let used = used
            .iter()
            .map(|(path, by)| (PathBuf::from(path), (*by).to_owned()));
        Self {
            used: used.collect(),
            locks: Vec::new(),
        }
    }

    /// Who uses an entry, or something in it.
    pub(super) fn of(&self, entry: &Path) -> Option<&str> {
        let uses =
            |(path, _): &&(PathBuf, String)| path.starts_with(entry) || entry.starts_with(path);
        self.used.iter().find(uses).map(|(_, by)| by.as_str())
    }

    fn lock(&mut self, root: &Path, folder: &str) {
        let Ok(lock) = File::open(root.join(folder).join("lock")) else {
            // Where no script has worked yet, none does.
            return;
        };
        match lock.try_lock() {
            Ok(()) => self.locks.push(lock),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {
                let by = format!("a script, which holds {folder}/lock");
                self.used.push((folder.into(), by));
            }
        }
    }

    /// The folder that a process stands in, its root, its program, its open files.
    fn look_at(&mut self, root: &Path, number: u32) {
        let process = Path::new("/proc").join(number.to_string());
        let open = input::names_in(&process.join("fd")).into_iter().flatten();
        let open = open.map(|name| Path::new("fd").join(name));
        let links = ["cwd", "root", "exe"].map(PathBuf::from);
        for link in links.into_iter().chain(open) {
            // A process that has gone, or is another user's, says nothing.
            let Ok(target) = fs::read_link(process.join(link)) else {
                continue;
            };
            let Ok(below) = target.strip_prefix(root) else {
                continue;
            };
            // The lock itself is held by whoever asked for the cache.
            if below != Path::new("") && below != Path::new("lock") {
                self.used
                    .push((below.to_owned(), format!("process {number}")));
            }
        }
    }
}
