//! The files of a revision, and what differs between two.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Read as _};
use tollgate_defect::answer;

use tollgate_source::TreePath;

use super::{Commit, Error, Range, Repository};
use crate::input::LARGEST;
use crate::process::Reader;
use crate::tree::Kind;

/// Files looked at for renames, as git's own limit has it; of more only those that
/// did not change are paired.
const RENAMES: &str = "-l1000";

/// What an entry of a revision is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A plain file.
    File,
    /// A file that may be executed.
    Program,
    /// A symbolic link; its content is where it points.
    Link,
    /// Another repository, of which only a commit is named.
    Submodule,
}

impl Mode {
    /// What it is on disk; a submodule is nothing that is read.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Self::Program => Kind::Program,
            Self::Link => Kind::Link,
            Self::File | Self::Submodule => Kind::File,
        }
    }
}

/// An entry of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The name of its object.
    pub id: String,
    /// What it is.
    pub mode: Mode,
}

impl Blob {
    /// None for the zeros that stand for nothing.
    fn new(mode: &[u8], id: &[u8]) -> Option<Self> {
        let mode = match mode {
            b"000000" => return None,
            b"120000" => Mode::Link,
            b"160000" => Mode::Submodule,
            b"100755" => Mode::Program,
            _ => Mode::File,
        };
        let id = String::from_utf8_lossy(id).into_owned();
        Some(Self { id, mode })
    }

    /// Whether it has text of its own.
    #[must_use]
    pub fn is_file(&self) -> bool {
        matches!(self.mode, Mode::File | Mode::Program)
    }
}

/// A file that differs. Paths are relative to the repository's top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its path after; before, where it is gone.
    pub path: TreePath,
    /// Its path before, where it was renamed.
    pub renamed_from: Option<TreePath>,
    /// Before; none where it is new.
    pub before: Option<Blob>,
    /// After; none where it is gone.
    pub after: Option<Blob>,
}

/// The files of a commit, by path from the repository's top.
#[derive(Clone, Debug)]
pub struct Revision {
    /// The commit.
    pub commit: Commit,
    /// Its files.
    pub files: BTreeMap<TreePath, Blob>,
}

impl Revision {
    /// The files below a folder.
    pub fn below(&self, folder: &TreePath) -> impl Iterator<Item = &TreePath> {
        let begins = folder.as_bytes().to_vec();
        let from = self.files.range(folder.clone()..).map(|(path, _)| path);
        // `fs-x/a` is between `fs` and `fs/a`.
        let alike = from.take_while({
            let begins = begins.clone();
            move |path| path.as_bytes().starts_with(&begins)
        });
        alike.filter(move |path| {
            begins.is_empty() || path.as_bytes().get(begins.len()) == Some(&b'/')
        })
    }
}

impl Repository<'_> {
    /// What a commit holds.
    ///
    /// # Errors
    /// When git fails.
    pub fn revision(&self, commit: &Commit) -> Result<Revision, Error> {
        let listed = self.ask(&["ls-tree", "-r", "-z", "--full-tree", commit.id()])?;
        let entries = listed.split(|byte| *byte == 0).filter(|e| !e.is_empty());
        let entry = |entry: &[u8]| {
            // `MODE TYPE ID TAB PATH` (git-ls-tree(1)).
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let mut words = entry.get(..tab)?.split(|byte| *byte == b' ');
            let (mode, id) = (words.next()?, words.nth(1)?);
            Some((TreePath::new(entry.get(tab + 1..)?)?, Blob::new(mode, id)?))
        };
        let files: Option<BTreeMap<_, _>> = entries.map(entry).collect();
        Ok(Revision {
            commit: commit.clone(),
            files: files.ok_or_else(|| strange("ls-tree"))?,
        })
    }

    /// The files that differ between the ends of a range, by path. Renames of files
    /// whose names end in one of `endings` are found; of others both names are
    /// listed.
    ///
    /// # Errors
    /// When git fails.
    pub fn differences(&self, range: &Range, endings: &[&str]) -> Result<Vec<Difference>, Error> {
        let Some(before) = &range.before else {
            let files = self.revision(&range.after)?.files.into_iter();
            let new = |(path, blob)| Difference {
                path,
                renamed_from: None,
                before: None,
                after: Some(blob),
            };
            return Ok(files.map(new).collect());
        };
        let all = self.compared(before, &range.after, &["--no-renames"], &[])?;
        let ends = |one: &&Difference| {
            let name = one.path.as_bytes();
            endings
                .iter()
                .any(|ending| name.ends_with(ending.as_bytes()))
        };
        let is_new = all.iter().filter(ends).any(|one| one.before.is_none());
        let is_gone = all.iter().filter(ends).any(|one| one.after.is_none());
        if !(is_new && is_gone) {
            return Ok(all);
        }
        let patterns: Vec<String> = endings.iter().map(|ending| format!("*{ending}")).collect();
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        let renames = self.compared(before, &range.after, &["-M", RENAMES], &patterns)?;
        Ok(paired(all, renames))
    }

    /// What makes one commit of another, as a diff for people.
    ///
    /// # Errors
    /// When git fails.
    pub fn diff(&self, before: &Commit, after: &Commit) -> Result<Vec<u8>, Error> {
        let how = [
            "diff-tree",
            "-r",
            "-p",
            "-M",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
        ];
        let ends = [before.id(), after.id(), "--"];
        self.ask(&[how.as_slice(), &ends].concat())
    }

    fn compared(
        &self,
        before: &Commit,
        after: &Commit,
        how: &[&str],
        patterns: &[&str],
    ) -> Result<Vec<Difference>, Error> {
        let mut arguments = vec!["diff-tree", "-r", "-z", "--raw", "--no-abbrev"];
        arguments.extend(how);
        arguments.extend([before.id(), after.id(), "--"]);
        arguments.extend(patterns);
        let said = self.ask(&arguments)?;
        raw(&said).ok_or_else(|| strange("diff-tree"))
    }

    /// Starts to read objects, in the order of `ids`.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn contents(&self, ids: &[&str]) -> Result<Contents, Error> {
        let input: String = ids.iter().flat_map(|id| [*id, "\n"]).collect();
        let mut command = self.command();
        command.args(["cat-file", "--batch"]);
        let reader = self.runner.reader(&mut command, input.as_bytes())?;
        Ok(Contents {
            reader,
            left: ids.len(),
            largest: LARGEST,
        })
    }

    /// The texts of some files of a revision, in the order of `paths`; none where
    /// it has no such file or only one that is too large.
    ///
    /// # Errors
    /// When git fails, or lacks an object.
    pub fn texts(
        &self,
        revision: &Revision,
        paths: &[TreePath],
    ) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let blobs: Vec<Option<&Blob>> = paths
            .iter()
            .map(|path| revision.files.get(path).filter(|blob| blob.is_file()))
            .collect();
        let ids: Vec<&str> = blobs
            .iter()
            .flatten()
            .map(|blob| blob.id.as_str())
            .collect();
        let mut contents = self.contents(&ids)?;
        let mut text = |blob: Option<&Blob>| match blob {
            None => Ok(None),
            Some(_) => match contents.next() {
                Some(Ok(Content::Bytes(bytes))) => Ok(Some(bytes)),
                Some(Ok(Content::TooLarge(_))) => Ok(None),
                Some(Ok(Content::Missing)) => Err(self.lacks(&revision.commit)),
                Some(Err(error)) => Err(error),
                None => Err(strange("cat-file")),
            },
        };
        blobs.into_iter().map(&mut text).collect()
    }

    /// An object of a commit that is not here.
    #[must_use]
    pub fn lacks(&self, commit: &Commit) -> Error {
        Error::Lacks {
            commit: commit.short().to_owned(),
            folder: self.folder.clone(),
            reason: self.advice(),
        }
    }
}

fn strange(what: &str) -> Error {
    Error::Answer {
        what: what.to_owned(),
        reason: "its form is another than git documents".to_owned(),
    }
}

/// `:MODE MODE ID ID STATUS NUL PATH NUL`, and for a rename one path more, the one
/// before first (git-diff-tree(1), "Raw output format").
fn raw(said: &[u8]) -> Option<Vec<Difference>> {
    let mut fields = said.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let Some(head) = fields.next().filter(|head| !head.is_empty()) {
        let words: Vec<&[u8]> = head
            .strip_prefix(b":")?
            .split(|byte| *byte == b' ')
            .collect();
        let [mode_before, mode_after, before, after, status] = words.as_slice() else {
            return None;
        };
        let first = TreePath::new(fields.next()?)?;
        let renamed = status.starts_with(b"R");
        let (path, renamed_from) = match renamed {
            true => (TreePath::new(fields.next()?)?, Some(first)),
            false => (first, None),
        };
        found.push(Difference {
            path,
            renamed_from,
            before: Blob::new(mode_before, before),
            after: Blob::new(mode_after, after),
        });
    }
    Some(found)
}

/// `all` with two entries made one where `renames` has them so.
fn paired(all: Vec<Difference>, renames: Vec<Difference>) -> Vec<Difference> {
    let renames = renames.into_iter().filter(|one| one.renamed_from.is_some());
    let mut found: BTreeMap<TreePath, Difference> =
        all.into_iter().map(|one| (one.path.clone(), one)).collect();
    for one in renames {
        one.renamed_from.as_ref().map(|old| found.remove(old));
        found.insert(one.path.clone(), one);
    }
    found.into_values().collect()
}

/// One object as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// It is larger than [`LARGEST`]: so many bytes.
    TooLarge(u64),
    /// The repository does not have it.
    Missing,
}

/// Objects that git hands out one after the other.
#[derive(Debug)]
pub struct Contents {
    reader: Reader,
    left: usize,
    /// In bytes.
    pub(super) largest: u64,
}

impl Iterator for Contents {
    type Item = Result<Content, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.read().map_err(|error| {
            self.left = 0;
            Error::Answer {
                what: "cat-file".to_owned(),
                reason: error.to_string(),
            }
        }))
    }
}

impl Contents {
    /// `ID TYPE SIZE`, the bytes, and an end of line; or `ID missing`
    /// (git-cat-file(1), "Batch output").
    fn read(&mut self) -> io::Result<Content> {
        let mut head = String::new();
        self.reader.read_line(&mut head)?;
        let head = head.trim_end();
        if head.ends_with(" missing") {
            return Ok(Content::Missing);
        }
        let size = head
            .rsplit_once(' ')
            .and_then(|(_, size)| answer::number(size));
        let size: u64 = size.ok_or_else(|| {
            io::Error::other(match head {
                "" => "it ended before the last object".to_owned(),
                head => format!("{head:?} heads no object"),
            })
        })?;
        let mut object = (&mut self.reader).take(size);
        let content = match usize::try_from(size) {
            Ok(room) if size <= self.largest => {
                let mut bytes = Vec::with_capacity(room);
                object.read_to_end(&mut bytes)?;
                Content::Bytes(bytes)
            }
            _ => {
                io::copy(&mut object, &mut io::sink())?;
                Content::TooLarge(size)
            }
        };
        if object.limit() > 0 {
            return Err(io::Error::other("it ended in the middle of an object"));
        }
        let mut end = [0];
        self.reader.read_exact(&mut end)?;
        Ok(content)
    }
}
