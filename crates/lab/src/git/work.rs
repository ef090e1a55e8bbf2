//! A work tree against a revision.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use tollgate_source::TreePath;

use super::objects::{Content, Mode, Revision};
use super::{Commit, Error, Repository};
use crate::tree::{self, Change, Kind, Manifest};

/// The name of git's list of files.
const INDEX: &str = "index";

/// What of a work tree differs from a revision. Paths are relative to the folder
/// that was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// Files that differ, or that the revision does not have.
    pub changed: BTreeSet<TreePath>,
    /// Files of the revision that are gone.
    pub deleted: BTreeSet<TreePath>,
    /// Files that git does not track and is not told to ignore.
    pub untracked: BTreeSet<TreePath>,
}

impl Repository<'_> {
    /// What of the work tree differs from a commit.
    ///
    /// # Errors
    /// When there is no work tree, or git fails.
    pub fn since(&self, commit: &Commit) -> Result<Since, Error> {
        let copy = self.index()?;
        let index = copy.path().join(INDEX);
        let listed = |arguments: &[&str]| self.paths(arguments, &index);
        let differing = |filter: &str| {
            listed(&[
                "diff",
                "--name-only",
                "-z",
                "--no-renames",
                "--no-ext-diff",
                "--ignore-submodules=all",
                "--relative",
                filter,
                commit.id(),
                "--",
            ])
        };
        Ok(Since {
            changed: differing("--diff-filter=d")?,
            deleted: differing("--diff-filter=D")?,
            untracked: listed(&["ls-files", "-z", "--others", "--exclude-standard"])?,
        })
    }

    /// A folder with a copy of the index: `git diff` writes into it what it learns
    /// of files that only look changed.
    fn index(&self) -> Result<tempfile::TempDir, Error> {
        let failed = |error: std::io::Error| Error::Failed {
            what: "diff".to_owned(),
            folder: self.folder.clone(),
            reason: format!("its index could not be copied aside: {error}"),
        };
        let told = self.ask(&["rev-parse", "--git-path", INDEX])?;
        let told = told.strip_suffix(b"\n").unwrap_or(&told);
        let path = self.folder.join(OsStr::from_bytes(told));
        let copy = tempfile::tempdir().map_err(failed)?;
        match std::fs::copy(path, copy.path().join(INDEX)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(copy),
        }
    }

    fn paths(&self, arguments: &[&str], index: &Path) -> Result<BTreeSet<TreePath>, Error> {
        let mut command = self.command();
        command.env("GIT_INDEX_FILE", index).args(arguments);
        let what = arguments.first().copied().unwrap_or_default();
        let said = self.done(what, self.runner.output(&mut command))?;
        let names = said
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty());
        Ok(names.filter_map(TreePath::new).collect())
    }

    /// What makes a revision out of the files that the folder holds now: every
    /// file that differs in bytes or kind, those that the revision does not have,
    /// git's ignored and untracked ones among them. `now` is what the folder holds.
    ///
    /// # Errors
    /// When a file cannot be read, or git fails or lacks an object.
    pub fn change_to(&self, revision: &Revision, now: &Manifest) -> Result<Change, Error> {
        let wanted = revision.files.iter();
        let wanted = wanted.filter(|(_, blob)| blob.mode != Mode::Submodule);
        let wanted: Vec<_> = wanted
            .filter_map(|(path, blob)| Some((self.below(path)?, blob)))
            .filter(|(path, _)| !tree::is_build_product(path.as_path()))
            .collect();
        let present = self.ids(now)?;
        let mut change = Change::default();
        let names: BTreeSet<&TreePath> = wanted.iter().map(|(path, _)| path).collect();
        let gone = now.entries().keys().filter(|path| !names.contains(path));
        change.files.extend(gone.map(|path| (path.clone(), None)));
        let differ: Vec<_> = wanted
            .iter()
            .filter(|(path, blob)| {
                let kind = now.entries().get(path).map(|entry| entry.kind);
                kind != Some(blob.mode.kind()) || present.get(path) != Some(&blob.id)
            })
            .collect();
        let ids: Vec<&str> = differ.iter().map(|(_, blob)| blob.id.as_str()).collect();
        for ((path, blob), content) in differ.iter().zip(self.contents(&ids)?) {
            let Content::Bytes(bytes) = content? else {
                return Err(self.lacks(&revision.commit));
            };
            // git has no id of a link that is not in its index.
            let here = now.entries().get(path);
            let same = here.is_some_and(|here| {
                here.kind == Kind::Link
                    && blob.mode.kind() == Kind::Link
                    && here.content == tree::hash(&bytes)
            });
            if !same {
                change.kinds.insert(path.clone(), blob.mode.kind());
                change.files.insert(path.clone(), Some(bytes));
            }
        }
        Ok(change)
    }
}

impl Repository<'_> {
    /// What git would call the files that a folder holds; links are left out.
    fn ids(&self, now: &Manifest) -> Result<BTreeMap<TreePath, String>, Error> {
        let files = now.entries().iter();
        let files = files.filter(|(_, entry)| entry.kind != Kind::Link);
        let paths: Vec<&TreePath> = files.map(|(path, _)| path).collect();
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        let mut input = Vec::new();
        for path in &paths {
            quoted(folder.join(path).as_os_str().as_bytes(), &mut input);
        }
        let mut command = self.command();
        command.args(["hash-object", "--no-filters", "--stdin-paths"]);
        let said = self.runner.output_of(&mut command, &input);
        let said = self.done("hash-object", said)?;
        let ids = String::from_utf8_lossy(&said);
        let ids: Vec<&str> = ids.lines().collect();
        if ids.len() != paths.len() {
            return Err(Error::Answer {
                what: "hash-object".to_owned(),
                reason: format!("{} files have {} names", paths.len(), ids.len()),
            });
        }
        let named = paths.into_iter().zip(ids);
        Ok(named
            .map(|(path, id)| (path.clone(), id.to_owned()))
            .collect())
    }
}

/// A line that holds a path, in the quotes that git takes every byte in.
fn quoted(path: &[u8], into: &mut Vec<u8>) {
    into.push(b'"');
    for byte in path {
        match byte {
            b'"' | b'\\' => into.extend([b'\\', *byte]),
            0x20..0x7f => into.push(*byte),
            _ => into.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    into.extend(b"\"\n");
}
