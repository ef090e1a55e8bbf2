//! The folder of a run in the shared one: what it handed over, and how it stands.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Error;
use super::array::Known;
use crate::cache;

/// How often is written how a run stands where nothing changes.
const AGAIN: Duration = Duration::from_secs(30);

/// What is remembered of its arrays, and how it stands.
const ARRAYS: &str = "arrays.json";
const RECORD: &str = "record.json";

/// A folder that nobody else writes to but the tasks of its own arrays.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    name: String,
    /// Of a run whose process waits for it: it goes with that.
    own: Option<tempfile::TempDir>,
}

/// How a run stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Jobs that have an answer.
    pub answered: usize,
    /// Jobs that there are by now; rounds that follow may have more.
    pub total: usize,
    /// The others, in words.
    pub line: String,
    #[serde(skip)]
    kept: Option<Instant>,
}

impl Record {
    /// Takes in how it stands now.
    pub(super) fn note(&mut self, answered: usize, total: usize, line: String) {
        if (answered, total, &line) != (self.answered, self.total, &self.line) {
            (self.answered, self.total, self.line) = (answered, total, line);
            self.kept = None;
        }
    }

    /// What the run in a folder wrote last; none where it has handed over nothing yet.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Self>, cache::Error> {
        cache::read_json(&folder.join(RECORD))
    }
}

/// What is remembered of the arrays.
#[derive(Default, Serialize, Deserialize)]
struct Arrays {
    arrays: Vec<Known>,
    made: usize,
}

impl RunFolder {
    /// A new one, which is gone when the value is.
    ///
    /// # Errors
    /// When the shared folder takes none.
    pub fn new(shared: &Path) -> Result<Self, Error> {
        let own = temporary(shared)?;
        let mut run = Self::of(own.path());
        run.own = Some(own);
        Ok(run)
    }

    /// One that stays, to be named by whoever asks for the run.
    ///
    /// # Errors
    /// When the shared folder takes none.
    pub fn lasting(shared: &Path) -> Result<Self, Error> {
        Ok(Self::of(&temporary(shared)?.keep()))
    }

    /// The one that is there.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str());
        Self {
            path: path.to_owned(),
            name: name.to_string_lossy().into_owned(),
            own: None,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name, with which those of its arrays begin.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names that Slurm has of its arrays, for scancel(1).
    ///
    /// # Errors
    /// When what is remembered cannot be read.
    pub fn handed_over(&self) -> Result<Vec<String>, cache::Error> {
        let known = self.remembered()?.arrays;
        Ok(known.into_iter().map(|known| known.name).collect())
    }

    pub(super) fn arrays(&self) -> Result<Vec<Known>, cache::Error> {
        Ok(self.remembered()?.arrays)
    }

    pub(super) fn made(&self) -> Result<usize, cache::Error> {
        Ok(self.remembered()?.made)
    }

    fn remembered(&self) -> Result<Arrays, cache::Error> {
        let there: Option<Arrays> = cache::read_json(&self.path.join(ARRAYS))?;
        Ok(there.unwrap_or_default())
    }

    /// Keeps what arrays there are, for a process that takes over.
    pub(super) fn remember(&self, known: &[Known], made: usize) -> Result<(), cache::Error> {
        if self.own.is_some() {
            return Ok(());
        }
        let arrays = known.to_vec();
        cache::write_json(&self.path.join(ARRAYS), &Arrays { arrays, made })
    }

    /// Keeps how it stands, for whoever asks.
    pub(super) fn keep(&self, record: &mut Record) -> Result<(), cache::Error> {
        if self.own.is_some() || record.kept.is_some_and(|at| at.elapsed() < AGAIN) {
            return Ok(());
        }
        cache::write_json(&self.path.join(RECORD), record)?;
        record.kept = Some(Instant::now());
        Ok(())
    }
}

/// The shared folder is not made: where it is missing, it is not mounted here, or its
/// name is another one.
fn temporary(shared: &Path) -> Result<tempfile::TempDir, Error> {
    let unusable = |reason: &dyn std::fmt::Display| Error::NoShared {
        path: shared.to_owned(),
        reason: reason.to_string(),
    };
    let about = fs::metadata(shared).map_err(|source| unusable(&source))?;
    if !about.is_dir() {
        return Err(unusable(&"it is no folder"));
    }
    let made = tempfile::Builder::new()
        .prefix("tollgate-")
        .tempdir_in(shared);
    made.map_err(|source| unusable(&source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_lasts_is_remembered_and_another_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunFolder::lasting(dir.path()).unwrap();
        let known = Known {
            number: Some(3),
            name: format!("{}.0", run.name()),
            folder: run.path().join("array-0"),
        };
        run.remember(std::slice::from_ref(&known), 1).unwrap();
        let mut record = Record::default();
        record.note(1, 2, "1 run".to_owned());
        run.keep(&mut record).unwrap();
        let again = RunFolder::of(run.path());
        assert_eq!(
            (again.arrays().unwrap(), again.made().unwrap()),
            (vec![known], 1)
        );
        let read = Record::read(run.path()).unwrap().unwrap();
        assert_eq!((read.answered, read.total), (1, 2));
        let absent = RunFolder::new(&dir.path().join("absent")).unwrap_err();
        assert!(
            absent
                .to_string()
                .contains("absent cannot be used: No such file"),
            "{absent}"
        );
        let brief = RunFolder::new(dir.path()).unwrap();
        let place = brief.path().to_owned();
        assert!(place.is_dir());
        drop(brief);
        assert!(!place.exists());
    }
}
