//! Patches as git writes them: hunk headers that name the function, the form of
//! `git format-patch`, ready for `git am`.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use tollgate_defect::{Defect, OrDefect as _};
use tollgate_source::{TreePath, shown};

use super::{Repository as Existing, isolated, setting};
use crate::process::{self, Runner};
use crate::{input, space};

/// Why a patch is not written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nowhere to work.
    #[error("no temporary folder could be made for git: {source}{hint}")]
    Scratch {
        /// The system's reason.
        source: io::Error,
        /// What to do.
        hint: String,
    },
    /// A file of the scratch folder, or of the folder of patches.
    #[error("could not write {}: {source}{hint}", shown(.path))]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
        /// What to do.
        hint: String,
    },
    /// The folder of the patches.
    #[error("{} could not be made for the patches: {source}", shown(.path))]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Something of the folder that could not be looked at.
    #[error("{} may be there already ({source}); nothing was written: give another folder", shown(.path))]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file of the user's has the name of one to write.
    #[error("{} is there already and is another file; nothing was written: move it away, or give another folder", shown(.0))]
    Taken(PathBuf),
    /// The folder has patches of another series.
    #[error("{} holds another series ({}); nothing was written: move it away, or give another folder", shown(.folder), shown(.patch))]
    OtherSeries {
        /// The folder.
        folder: PathBuf,
        /// One of its patches.
        patch: PathBuf,
    },
    /// What git lists is not as it has been.
    #[error(transparent)]
    Defect(#[from] Defect),
    /// Git failed.
    #[error("git {what} could not write the patch: {source}")]
    Git {
        /// What it was to do.
        what: String,
        /// What it said.
        source: process::Error,
    },
}

/// A file before and after, with the message of its patch.
#[derive(Clone, Debug)]
pub struct Edit<'a> {
    /// Where it is in the tree.
    pub path: &'a TreePath,
    /// Its bytes before.
    pub original: &'a [u8],
    /// Its bytes after.
    pub rewritten: &'a [u8],
    /// The subject, an empty line, and the rest.
    pub message: String,
}

/// Who wrote a patch and when, as git takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    name: String,
    email: String,
    /// Seconds since 1970; git's own clock where there is none.
    date: Option<String>,
}

impl Author {
    /// The user's identity as git has it configured for the tree, else one that
    /// names nobody. `SOURCE_DATE_EPOCH` fixes the date.
    #[must_use]
    pub fn configured(tree: &Path, runner: &Runner) -> Self {
        let config = |key| setting(tree, key, runner);
        let name = variable("GIT_AUTHOR_NAME").or_else(|| config("user.name"));
        let email = variable("GIT_AUTHOR_EMAIL").or_else(|| config("user.email"));
        let date = variable("SOURCE_DATE_EPOCH").filter(|seconds| seconds.parse::<u64>().is_ok());
        match (name, email) {
            (Some(name), Some(email)) => Self { name, email, date },
            _ => Self {
                name: "tollgate".into(),
                email: "tollgate@localhost".into(),
                date,
            },
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "one that is not set, or no text, was not given"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.trim().is_empty())
}

/// Why git does not read the history of a tree that has one, in git's words: the
/// tree may belong to somebody else.
#[must_use]
pub fn history_refused(tree: &Path, runner: &Runner) -> Option<String> {
    tree.join(".git").exists().then_some(())?;
    match Existing::around(tree, runner) {
        Err(super::Error::NoRepository { reason, .. }) => Some(reason),
        Err(error) => Some(error.to_string()),
        Ok(_) => None,
    }
}

/// The mail of a patch.
///
/// # Errors
/// When git is not there or fails, or the file system does.
pub fn mail(edit: &Edit<'_>, author: &Author, runner: &Runner) -> Result<Vec<u8>, Error> {
    let folder = temporary()?;
    let scratch = Scratch::new(folder.path(), author, runner)?;
    scratch.add(edit)?;
    scratch.git(&[&["format-patch", "-1", "--stdout"], FORM].concat())
}

/// How every patch is written.
const FORM: &[&str] = &["--zero-commit", "--abbrev=12", "--no-renames", "--stat=75"];

/// The mails of patches that build on each other, written into a folder; of several
/// with a letter before them, of which `letter` makes its words. Gives the names of
/// the files.
///
/// # Errors
/// When git is not there or fails, the file system does, or the folder has other
/// patches.
pub fn series(
    edits: &[Edit<'_>],
    letter: impl FnOnce(&str) -> String,
    author: &Author,
    into: &Path,
    runner: &Runner,
) -> Result<Vec<PathBuf>, Error> {
    let folder = temporary()?;
    let scratch = Scratch::new(folder.path(), author, runner)?;
    scratch.commit_all_originals(edits)?;
    for edit in edits {
        scratch.add(edit)?;
    }
    let several = edits.len() > 1;
    let mut files = scratch.written(edits.len(), several)?;
    if let Some((_, own)) = files.first_mut().filter(|_| several) {
        *own = letter(&String::from_utf8_lossy(own)).into_bytes();
    }
    put_all(&files, into)
}

/// Where in the repository git writes a series.
const OUT: &str = ".git/series";

/// Writes files into a folder of the user's, which may hold others. What is there
/// under one of their names is never written over: it may have been edited, or be a
/// link.
fn put_all(files: &[(OsString, Vec<u8>)], into: &Path) -> Result<Vec<PathBuf>, Error> {
    let unmade = |source| Error::Folder {
        path: into.to_owned(),
        source,
    };
    fs::create_dir_all(into).map_err(unmade)?;
    let into = fs::canonicalize(into).map_err(unmade)?;
    refuse_other_series(files, &into)?;
    let mut new = Vec::new();
    for (name, bytes) in files {
        let place = into.join(name);
        let about = fs::symlink_metadata(&place);
        // What cannot be read is another file.
        let same = |about: &fs::Metadata| {
            about.is_file() && matches!(input::source(&place), Ok(known) if known == *bytes)
        };
        match about {
            Ok(about) if same(&about) => {}
            Err(error) if input::is_absent(&error) => new.push((place, bytes)),
            Err(source) => {
                return Err(Error::Unknown {
                    path: place,
                    source,
                });
            }
            Ok(_) => return Err(Error::Taken(place)),
        }
    }
    for (place, bytes) in new {
        let file = fs::File::create_new(&place);
        file.and_then(|mut file| file.write_all(bytes))
            .map_err(|error| unwritten(&place, error, ""))?;
    }
    Ok(files.iter().map(|(name, _)| into.join(name)).collect())
}

/// A folder with the patches of two series is applied as one by whoever takes `*.patch`.
fn refuse_other_series(files: &[(OsString, Vec<u8>)], into: &Path) -> Result<(), Error> {
    let is_numbered = |name: &OsStr| {
        let bytes = name.as_bytes();
        let digits = bytes
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        digits == 4 && bytes.get(digits) == Some(&b'-') && bytes.ends_with(b".patch")
    };
    let other = |name: &OsString| is_numbered(name) && files.iter().all(|(own, _)| own != name);
    let mut names = input::names_in(into).map_err(|source| Error::Folder {
        path: into.to_owned(),
        source,
    })?;
    names.sort();
    match names.into_iter().find(|name| other(name)) {
        Some(name) => Err(Error::OtherSeries {
            folder: into.to_owned(),
            patch: name.into(),
        }),
        None => Ok(()),
    }
}

fn temporary() -> Result<tempfile::TempDir, Error> {
    let folder = std::env::temp_dir();
    tempfile::tempdir().map_err(|source| Error::Scratch {
        hint: space::hint(&source, &folder, OR_ELSEWHERE),
        source,
    })
}

/// A repository that holds files before and after.
struct Scratch<'a> {
    root: &'a Path,
    author: &'a Author,
    runner: &'a Runner,
}

impl<'a> Scratch<'a> {
    fn new(root: &'a Path, author: &'a Author, runner: &'a Runner) -> Result<Self, Error> {
        let repository = Self {
            root,
            author,
            runner,
        };
        repository.git(&["init", "-q", "--initial-branch=patch", "--template="])?;
        // Without this git names no C function that begins with an attribute.
        let info = root.join(".git/info");
        make_folder(&info)?;
        put(&info.join("attributes"), b"*.[ch] diff=cpp\n")?;
        Ok(repository)
    }

    /// Each file as it is before its first patch, in one commit.
    fn commit_all_originals(&self, edits: &[Edit<'_>]) -> Result<(), Error> {
        let mut seen = HashSet::new();
        for edit in edits.iter().filter(|edit| seen.insert(edit.path)) {
            self.write(edit.path, edit.original)?;
        }
        self.commit("before")
    }

    /// One patch on top of the others.
    fn add(&self, edit: &Edit<'_>) -> Result<(), Error> {
        self.write(edit.path, edit.original)?;
        self.commit("before")?;
        self.write(edit.path, edit.rewritten)?;
        self.commit(&edit.message)
    }

    fn write(&self, path: &TreePath, text: &[u8]) -> Result<(), Error> {
        let file = self.root.join(path);
        if let Some(folder) = file.parent() {
            make_folder(folder)?;
        }
        put(&file, text)?;
        let add = ["--literal-pathspecs", "add", "-f", "--"].map(OsStr::new);
        self.run(&[add.as_slice(), &[path.as_path().as_os_str()]].concat())?;
        Ok(())
    }

    /// Commits what was written, if it differs from the commit before.
    fn commit(&self, message: &str) -> Result<(), Error> {
        let changed = self.git(&["status", "--porcelain", "--untracked-files=no"])?;
        if changed.is_empty() {
            return Ok(());
        }
        put(&self.root.join(MESSAGE), message.as_bytes())?;
        let how = ["-q", "--no-verify", "--cleanup=verbatim", "-F", MESSAGE];
        self.git(&[&["commit"], how.as_slice()].concat())?;
        Ok(())
    }

    /// The mails of the last commits, and the letter before them, with their names.
    fn written(&self, patches: usize, letter: bool) -> Result<Vec<(OsString, Vec<u8>)>, Error> {
        let count = format!("-{patches}");
        let output = format!("--output-directory={OUT}");
        let cover: &[&str] = if letter { &["--cover-letter"] } else { &[] };
        let arguments = [&["format-patch", &count, &output], cover, FORM].concat();
        let listed = self.git(&arguments)?;
        let names = listed.split(|byte| *byte == b'\n');
        let read = |line: &[u8]| {
            let place = self.root.join(OsStr::from_bytes(line));
            let name = place.file_name().map(OsStr::to_owned);
            let name = name.or_defect("git format-patch listed a patch without a name")?;
            let bytes = fs::read(&place).map_err(|error| unwritten(&place, error, OR_ELSEWHERE))?;
            Ok((name, bytes))
        };
        names.filter(|line| !line.is_empty()).map(read).collect()
    }

    fn git(&self, arguments: &[&str]) -> Result<Vec<u8>, Error> {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        self.run(&arguments)
    }

    /// Runs git away from the user's configuration: the patch is the same everywhere.
    fn run(&self, arguments: &[&OsStr]) -> Result<Vec<u8>, Error> {
        let mut command = isolated(self.root);
        command
            .args(["-c", "core.autocrlf=false", "-c", "commit.gpgSign=false"])
            .args(arguments)
            .env("TZ", "UTC");
        for role in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{role}_NAME"), &self.author.name)
                .env(format!("GIT_{role}_EMAIL"), &self.author.email);
            if let Some(date) = &self.author.date {
                command.env(format!("GIT_{role}_DATE"), format!("@{date} +0000"));
            }
        }
        let what = arguments.first().copied().unwrap_or(OsStr::new(""));
        let said = self.runner.output(&mut command);
        said.map_err(|source| Error::Git {
            what: shown(Path::new(what)),
            source,
        })
    }
}

/// Where in the repository the message of a commit is handed to git.
const MESSAGE: &str = ".git/message";

/// What helps where there is no room for git to work.
const OR_ELSEWHERE: &str = ", or name another folder with TMPDIR";

fn put(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    fs::write(path, bytes).map_err(|error| unwritten(path, error, OR_ELSEWHERE))
}

fn make_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|error| unwritten(path, error, OR_ELSEWHERE))
}

fn unwritten(path: &Path, source: io::Error, or: &str) -> Error {
    Error::Write {
        hint: space::hint(&source, path, or),
        path: path.to_owned(),
        source,
    }
}
