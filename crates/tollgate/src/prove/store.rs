//! Where results are kept in the cache: a folder for a question. A result that
//! decides nothing lies beside one that does, never in its place.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tollgate_lab::cache::{self, Cache};
use tollgate_lab::{damage, sums};
use tollgate_report::comparison as render;

use tollgate_source::shown;

use super::question::Question;

/// Where in the cache results are kept.
const RESULTS: &str = "results";
/// What a result keeps its question in.
const ASKED: &str = "asked.json";
/// The JSON of a result.
pub(crate) const DOCUMENT: &str = "result.json";
/// Its page.
pub(crate) const PAGE: &str = "report.html";
/// Where in the folder of a question a result goes that would put an end to a
/// verdict.
const BESIDE: &str = "no-verdict";

/// A result on its way into the cache.
pub(crate) struct Store {
    folder: PathBuf,
    /// The earlier result, where this one lies beside it.
    earlier: Option<PathBuf>,
    /// Filled, then moved as it is: a full disk leaves the earlier result whole.
    scratch: tempfile::TempDir,
}

impl Store {
    /// The place of a result that decides `decided`.
    ///
    /// # Errors
    /// When the cache cannot be written.
    pub(crate) fn open(
        cache: &Cache,
        question: &Question,
        decided: &BTreeSet<String>,
    ) -> anyhow::Result<Self> {
        let folder = cache.root().join(RESULTS).join(question.name()?);
        let document = folder.join(DOCUMENT);
        let before = earlier(&folder)?;
        let before = before.map_or_else(BTreeSet::new, |bytes| render::decided_in(&bytes));
        let beside = !before.is_subset(decided);
        let store = Self {
            folder: if beside { folder.join(BESIDE) } else { folder },
            earlier: beside.then_some(document),
            scratch: cache.scratch()?,
        };
        store.put(ASKED, question.document()?)?;
        Ok(store)
    }

    /// Puts a file into the result.
    ///
    /// # Errors
    /// When the cache cannot be written.
    pub(crate) fn put(&self, name: &str, text: impl AsRef<[u8]>) -> Result<(), cache::Error> {
        cache::write_file(&self.scratch.path().join(name), text.as_ref())
    }

    /// Where a file of the result is when all is done.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Moves all of it to its place, and says what stays beside it.
    ///
    /// # Errors
    /// When the cache cannot be written.
    pub(crate) fn keep(&self) -> Result<String, cache::Error> {
        cache::make_folder(&self.folder)?;
        let unreadable = |error: std::io::Error| cache::Error::Read {
            path: self.scratch.path().to_owned(),
            reason: error.to_string(),
        };
        sums::take(self.scratch.path())?;
        let files = fs::read_dir(self.scratch.path()).map_err(unreadable)?;
        let files: Result<Vec<_>, _> = files.collect();
        let mut files = files.map_err(unreadable)?;
        // Last of all what says what the others hold.
        files.sort_by_key(|file| file.file_name() == sums::SUMS);
        for file in files {
            cache::move_file(&file.path(), &self.folder.join(file.file_name()))?;
        }
        Ok(self.earlier.as_deref().map_or_else(String::new, stays))
    }
}

/// The JSON of an earlier result, if it is what was written: one that is damaged
/// decides nothing, and is noted.
fn earlier(folder: &Path) -> Result<Option<Vec<u8>>, cache::Error> {
    let document = folder.join(DOCUMENT);
    let Some(bytes) = cache::read_if_there(&document)? else {
        return Ok(None);
    };
    match sums::holds(folder, DOCUMENT, &bytes)? {
        Some(true) => Ok(Some(bytes)),
        Some(false) | None => {
            damage::note(&document);
            Ok(None)
        }
    }
}

fn stays(earlier: &Path) -> String {
    format!(
        "An earlier result of the same question has a verdict. It stays where it is,\n\
         and this one lies beside it:\n\
         Verdict: {}\n",
        shown(earlier)
    )
}
