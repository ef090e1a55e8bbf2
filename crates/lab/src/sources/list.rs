//! The C files of a folder, as names.

use std::ffi::CString;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tollgate_source::TreePath;

use super::walk::{Folder, Visit, walk};

/// The C files of a folder below a root, sorted; of a kernel tree those of the
/// kernel.
#[must_use]
pub fn sources_below(root: &Path, folder: &TreePath) -> Sources {
    let found = Mutex::new(Sources::default());
    walk(root, folder, &Names(&found));
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.paths.sort_unstable();
    found.unlisted.sort_unstable();
    found
}

struct Names<'a>(&'a Mutex<Sources>);

impl Visit for Names<'_> {
    fn files(&self, folder: &Folder, names: &[CString]) {
        let paths = names.iter().map(|name| folder.path_of(name));
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.paths.extend(paths);
    }

    fn unlisted(&self, folder: TreePath, error: &io::Error) {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.unlisted.push((folder, error.to_string()));
    }
}

/// The files of a folder.
#[derive(Debug, Default)]
pub struct Sources {
    /// Paths relative to the root, sorted.
    pub paths: Vec<TreePath>,
    /// What could not be listed, with the file system's words.
    pub unlisted: Vec<(TreePath, String)>,
}
