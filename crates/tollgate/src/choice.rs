//! What of a tree is looked at: all of it, or what a user names or lists.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tollgate_lab::input;
use tollgate_lab::sources::{Files, names_of, sources_below};
use tollgate_source::{TreePath, shown};

use crate::door::{Door, Found, refuse_other};

/// Files of a tree.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    /// What is looked at, in order.
    pub(crate) files: Files,
    /// Those of them that the user named one by one: of these an answer is owed.
    pub(crate) named: BTreeSet<TreePath>,
}

impl Choice {
    /// The files that a user names and what lies below the folders; none where
    /// that is the whole tree.
    ///
    /// # Errors
    /// When one is not there, leads out of the tree, is no C file, or is a folder
    /// without one.
    pub(crate) fn named(door: &Door, given: &[PathBuf]) -> anyhow::Result<Option<Self>> {
        let mut choice = Self::default();
        let mut all = false;
        for given in given {
            match door.find(given)? {
                Found::Nothing(_) => return Err(door.missing(given)),
                Found::File(path) => choice.name(door, given, path)?,
                Found::Folder(path) if path == TreePath::top() => all = true,
                Found::Folder(path) => choice.below(door, given, &path)?,
            }
        }
        choice.order();
        Ok((!all).then_some(choice))
    }

    fn name(&mut self, door: &Door, given: &Path, path: TreePath) -> anyhow::Result<()> {
        refuse_other(&door.root().join(&path), given)?;
        if !path.is_c() {
            bail!("{path} is no C file: its name ends neither in .c nor in .h");
        }
        self.named.insert(path.clone());
        self.files.paths.push(path);
        Ok(())
    }

    fn below(&mut self, door: &Door, given: &Path, folder: &TreePath) -> anyhow::Result<()> {
        let found = sources_below(door.root(), folder);
        if let Some((path, error)) = found.unlisted.iter().find(|(path, _)| path == folder) {
            bail!("the folder {path} could not be listed: {error}");
        }
        if found.paths.is_empty() {
            bail!("{} holds no C file: nothing was analysed", shown(given));
        }
        self.files.paths.extend(found.paths);
        let unlisted = found.unlisted.into_iter();
        self.files
            .unlisted
            .extend(unlisted.map(|(path, error)| (path, error.to_string())));
        Ok(())
    }

    /// The files of a list: what is gone and what is no C file is counted.
    ///
    /// # Errors
    /// When one leads out of the tree.
    pub(crate) fn listed<'n>(
        door: &Door,
        names: impl IntoIterator<Item = &'n [u8]>,
    ) -> anyhow::Result<Self> {
        let mut choice = Self::default();
        for name in names {
            let given = Path::new(OsStr::from_bytes(name));
            match door.find(given)? {
                Found::File(path) if path.is_c() => choice.files.paths.push(path),
                Found::Nothing(path) if path.is_c() => choice.files.left_out.gone.push(path.into()),
                Found::Nothing(path) | Found::File(path) | Found::Folder(path) => {
                    choice.files.left_out.not_c.push(path.into());
                }
            }
        }
        choice.order();
        Ok(choice)
    }

    /// The list on standard input; `null` where a NUL ends each name whatever it holds.
    ///
    /// # Errors
    /// When it cannot be read, or as [`Choice::listed`].
    pub(crate) fn of_input(door: &Door, null: bool) -> anyhow::Result<Self> {
        let list = input::limited(io::stdin())
            .context("the list of files on standard input could not be read")?;
        let names = names_of(&list, null);
        Self::listed(door, names.iter().map(Vec::as_slice))
    }

    fn order(&mut self) {
        self.files.paths.sort_unstable();
        self.files.paths.dedup();
        self.files.left_out.order();
    }
}
