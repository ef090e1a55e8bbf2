//! The figures that a proof has measured for a change, kept in the cache, so
//! that `tollgate fix` can put them into the message of the same patch.

use std::path::{Path, PathBuf};

use tollgate_lab::cache;
use tollgate_lab::tree;
use tollgate_rewrite::Patched;

/// Keeps the worded figures of a change.
///
/// # Errors
/// When the cache cannot be written.
pub(crate) fn keep(root: &Path, patched: &Patched, text: &str) -> Result<(), cache::Error> {
    cache::make_folder(&root.join("figures"))?;
    cache::write_file(&place(root, patched), text.as_bytes())
}

/// The lines that were kept for a change; none where nothing was measured.
pub(crate) fn find(root: &Path, patched: &Patched) -> Vec<String> {
    let text = std::fs::read_to_string(place(root, patched)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A change is known by the file before and after: another tree that holds the
/// same file gets the same patch.
fn place(root: &Path, patched: &Patched) -> PathBuf {
    let [before, after] = [&patched.original, &patched.rewritten].map(|bytes| tree::hash(bytes));
    let id = tree::hash(format!("{}\0{before}\0{after}", patched.path).as_bytes());
    root.join("figures").join(id)
}
