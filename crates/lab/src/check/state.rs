//! A state of a tree for the rules: a folder or a commit, with what a patch makes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use rayon::prelude::*;
use tollgate_source::TreePath;
use tollgate_source::check::{Seen, Snapshot, pastes};

use super::error::Error;
use crate::git::{Repository, Revision, Words};
use crate::input;
use crate::patch::{Folder, Ground as _};
use crate::sources::sources_below;

/// Endings of C files.
pub(super) const C: [&str; 2] = [".c", ".h"];

/// Where the files are, but for those that a patch changes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Base<'a> {
    /// Below a folder; paths are relative to it.
    Folder(&'a Path),
    /// In a commit; paths are relative to the repository's top.
    Commit(&'a Repository<'a>, &'a Revision),
}

/// Files of a tree.
#[derive(Clone, Debug)]
pub(super) struct State<'a> {
    pub(super) base: Base<'a>,
    /// What a patch makes of files; none of one that it deletes.
    pub(super) patched: BTreeMap<TreePath, Option<Vec<u8>>>,
}

impl<'a> State<'a> {
    /// Without a patch.
    pub(super) fn of(base: Base<'a>) -> Self {
        let patched = BTreeMap::new();
        Self { base, patched }
    }

    /// Whether a file of the base is as it was, and none of those that are held.
    fn counts(&self, path: &TreePath, held: &BTreeSet<&TreePath>) -> bool {
        !held.contains(path) && !self.patched.contains_key(path)
    }

    fn seen_below(
        &self,
        root: &Path,
        names: &BTreeSet<String>,
        held: &BTreeSet<&TreePath>,
    ) -> Seen {
        let all_files = sources_below(root, &TreePath::top());
        let look = |path: &TreePath| {
            let mut seen = Seen::default();
            match input::source(&root.join(path)) {
                Ok(text) => seen.look(&text, names, self.counts(path, held)),
                // It went meanwhile, and defines nothing.
                Err(error) if input::is_absent(&error) => {}
                Err(error) => seen.unread.push((path.clone(), error.to_string())),
            }
            seen
        };
        let seen = all_files.paths.par_iter().map(look);
        let mut seen = seen.reduce(Seen::default, Seen::merged);
        seen.unread.extend(all_files.unlisted);
        seen
    }

    fn seen_in(
        &self,
        (repository, revision): (&Repository<'_>, &Revision),
        names: &BTreeSet<String>,
        held: &BTreeSet<&TreePath>,
        mut seen: Seen,
    ) -> Result<Seen, Error> {
        let what = Words {
            words: names,
            endings: &C,
        };
        let counts = |path: &TreePath| self.counts(path, held);
        let had = repository.holds(&revision.commit, what, &counts)?;
        seen.held.extend(had);
        if !names.is_subset(&seen.held) {
            let lines = repository.lines_with(&revision.commit, "##", &C)?;
            seen.pasted.extend(pastes(&lines, names));
        }
        Ok(seen)
    }

    fn seen_in_patched(&self, names: &BTreeSet<String>, held: &BTreeSet<&TreePath>) -> Seen {
        let mut seen = Seen::default();
        for (path, text) in &self.patched {
            if let Some(text) = text {
                seen.look(text, names, !held.contains(path));
            }
        }
        seen
    }
}

impl Snapshot for State<'_> {
    type Error = Error;

    fn has(&self, path: &TreePath) -> bool {
        if let Some(patched) = self.patched.get(path) {
            return patched.is_some();
        }
        match &self.base {
            Base::Folder(root) => root.join(path).is_file(),
            Base::Commit(_, revision) => {
                revision.files.get(path).is_some_and(|blob| blob.is_file())
            }
        }
    }

    fn texts(&self, paths: &[TreePath]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let mut found = match &self.base {
            Base::Folder(root) => {
                let files = Folder::new(root).read(paths)?.into_iter();
                files.map(|file| file.map(|file| file.bytes)).collect()
            }
            Base::Commit(repository, revision) => repository.texts(revision, paths)?,
        };
        for (path, text) in paths.iter().zip(&mut found) {
            if let Some(patched) = self.patched.get(path) {
                text.clone_from(patched);
            }
        }
        Ok(found)
    }

    fn names(&self, folder: &TreePath) -> Result<BTreeSet<Vec<u8>>, Error> {
        let mut names: BTreeSet<Vec<u8>> = match &self.base {
            Base::Folder(root) => {
                let names = input::names_in(&root.join(folder))?.into_iter();
                names.map(OsStringExt::into_vec).collect()
            }
            Base::Commit(_, revision) => {
                let deep = folder.parts().count();
                let below = revision.below(folder);
                let parts = below.filter_map(|path| path.parts().nth(deep));
                parts.map(<[u8]>::to_vec).collect()
            }
        };
        let patched = self.patched.keys().filter(|path| path.folder() == *folder);
        names.extend(patched.map(|path| path.file().to_vec()));
        Ok(names)
    }

    fn below(&self, folder: &TreePath) -> Vec<TreePath> {
        match &self.base {
            Base::Folder(root) => sources_below(root, folder).paths,
            Base::Commit(_, revision) => revision.below(folder).cloned().collect(),
        }
    }

    fn seen(&self, names: &BTreeSet<String>, held: &BTreeSet<&TreePath>) -> Result<Seen, Error> {
        let patched = self.seen_in_patched(names, held);
        match &self.base {
            Base::Folder(root) => Ok(self.seen_below(root, names, held).merged(patched)),
            Base::Commit(repository, revision) => {
                self.seen_in((repository, revision), names, held, patched)
            }
        }
    }

    fn spread<P: Sync, T: Send>(&self, parts: &[P], work: impl Fn(&P) -> T + Sync) -> Vec<T> {
        parts.par_iter().map(&work).collect()
    }
}
