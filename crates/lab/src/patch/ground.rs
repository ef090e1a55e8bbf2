//! What a patch is laid over: a kernel tree, any folder, or a commit.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use tollgate_source::{TreePath, shown};

use super::Error;
use crate::git::{Content, Mode, Repository, Revision};
use crate::input;
use crate::tree::{self, Change, Kind, Tree};

/// A file of a ground.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its bytes; of a link where it points.
    pub bytes: Vec<u8>,
    /// What it is.
    pub kind: Kind,
}

/// What a patch is laid over. It is only read.
pub trait Ground {
    /// What messages call it.
    fn name(&self) -> String;

    /// Some of its files, in the order of `paths`; none where there is no such file.
    ///
    /// # Errors
    /// When one is there but cannot be read.
    fn read(&self, paths: &[TreePath]) -> Result<Vec<Option<File>>, Error>;

    /// Whether something in it is a symbolic link.
    fn is_link(&self, path: &TreePath) -> bool;
}

impl Ground for Tree {
    fn name(&self) -> String {
        format!("Linux {}", self.version())
    }

    fn read(&self, paths: &[TreePath]) -> Result<Vec<Option<File>>, Error> {
        Folder::new(self.root()).read(paths)
    }

    fn is_link(&self, path: &TreePath) -> bool {
        Folder::new(self.root()).is_link(path)
    }
}

/// A folder of any kind.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'a> {
    root: &'a Path,
}

impl<'a> Folder<'a> {
    /// The folder at `root`.
    #[must_use]
    pub fn new(root: &'a Path) -> Self {
        Self { root }
    }

    fn file(self, path: &TreePath) -> io::Result<Option<File>> {
        let place = self.root.join(path);
        let about = match fs::symlink_metadata(&place) {
            Ok(about) => about,
            Err(error) if input::is_absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        if about.is_dir() {
            return Ok(None);
        }
        let bytes = match about.is_symlink() {
            true => fs::read_link(&place)?.into_os_string().into_vec(),
            false => input::source(&place)?,
        };
        let kind = tree::kind_of(&about);
        Ok(Some(File { bytes, kind }))
    }
}

impl Ground for Folder<'_> {
    fn name(&self) -> String {
        shown(self.root)
    }

    fn read(&self, paths: &[TreePath]) -> Result<Vec<Option<File>>, Error> {
        let read = |path: &TreePath| {
            self.file(path).map_err(|error| {
                Error::Tree(tree::Error::Unreadable {
                    path: self.root.join(path),
                    reason: error.to_string(),
                })
            })
        };
        paths.iter().map(read).collect()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "what cannot be looked at is no link, and reading it says why"
    )]
    fn is_link(&self, path: &TreePath) -> bool {
        let about = fs::symlink_metadata(self.root.join(path));
        about.is_ok_and(|about| about.is_symlink())
    }
}

/// Another ground with a change.
#[derive(Clone, Copy)]
pub struct Changed<'a> {
    /// What is changed.
    pub ground: &'a dyn Ground,
    /// The change.
    pub change: &'a Change,
    /// The change in a few words, behind the ground's own name.
    pub words: &'a str,
}

impl Ground for Changed<'_> {
    fn name(&self) -> String {
        format!("{} {}", self.ground.name(), self.words)
    }

    fn read(&self, paths: &[TreePath]) -> Result<Vec<Option<File>>, Error> {
        let mut files = self.ground.read(paths)?;
        for (path, file) in paths.iter().zip(&mut files) {
            let Some(bytes) = self.change.files.get(path) else {
                continue;
            };
            let known = file.as_ref().map(|file| file.kind);
            let kind = self.change.kinds.get(path).copied().or(known);
            *file = bytes.clone().map(|bytes| File {
                bytes,
                kind: kind.unwrap_or(Kind::File),
            });
        }
        Ok(files)
    }

    fn is_link(&self, path: &TreePath) -> bool {
        match self.change.kinds.get(path) {
            Some(kind) => *kind == Kind::Link,
            None => self.ground.is_link(path),
        }
    }
}

/// A commit, as the folder of its repository that was given shows it.
#[derive(Clone, Copy, Debug)]
pub struct AtCommit<'a> {
    /// The repository.
    pub repository: &'a Repository<'a>,
    /// The commit.
    pub revision: &'a Revision,
}

impl Ground for AtCommit<'_> {
    fn name(&self) -> String {
        format!("commit {}", self.revision.commit.short())
    }

    fn is_link(&self, path: &TreePath) -> bool {
        let blob = self.revision.files.get(&self.repository.whole(path));
        blob.is_some_and(|blob| blob.mode == Mode::Link)
    }

    fn read(&self, paths: &[TreePath]) -> Result<Vec<Option<File>>, Error> {
        let blobs: Vec<_> = paths
            .iter()
            .map(|path| self.revision.files.get(&self.repository.whole(path)))
            .map(|blob| blob.filter(|blob| blob.mode != Mode::Submodule))
            .collect();
        let ids: Vec<&str> = blobs
            .iter()
            .flatten()
            .map(|blob| blob.id.as_str())
            .collect();
        let mut contents = self.repository.contents(&ids)?;
        let mut files = Vec::new();
        for blob in blobs {
            let file = match blob {
                None => None,
                Some(blob) => match contents.next().transpose()? {
                    Some(Content::Bytes(bytes)) => Some(File {
                        bytes,
                        kind: blob.mode.kind(),
                    }),
                    _ => return Err(self.repository.lacks(&self.revision.commit).into()),
                },
            };
            files.push(file);
        }
        Ok(files)
    }
}
