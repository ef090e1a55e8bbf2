//! Files of the cache that do not hold what was written: each is noted, and made again
//! or named in an error by whoever found it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was found since it was last asked for, in the order in which it was.
static FOUND: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn found() -> MutexGuard<'static, Vec<PathBuf>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes a file that does not hold what was written.
pub fn note(path: &Path) {
    let mut all = found();
    if !all.iter().any(|known| known == path) {
        all.push(path.to_owned());
    }
}

/// Every file that was found so since the last call, for whoever tells the user.
#[must_use]
pub fn taken() -> Vec<PathBuf> {
    std::mem::take(&mut found())
}
