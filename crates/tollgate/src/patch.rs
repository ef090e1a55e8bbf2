//! The mail of a patch, written by git: hunk headers that name the function,
//! the form of `git format-patch`, ready for `git am`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use tollgate_lab::process::Runner;
use tollgate_lab::{git, input, space};
use tollgate_rewrite::Patched;
use tollgate_source::{Name, TreePath, shown};

use crate::signals;
use crate::term::Term;

/// Who wrote a patch and when, as git takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Author {
    name: String,
    email: String,
    /// Seconds since 1970; git's own clock where there is none.
    date: Option<String>,
}

impl Author {
    /// The user's identity as git has it configured for the tree, else one that
    /// names nobody. `SOURCE_DATE_EPOCH` fixes the date.
    pub(crate) fn configured(tree: &Path) -> Self {
        let name = variable("GIT_AUTHOR_NAME").or_else(|| config(tree, "user.name"));
        let email = variable("GIT_AUTHOR_EMAIL").or_else(|| config(tree, "user.email"));
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

fn config(tree: &Path, key: &str) -> Option<String> {
    git::setting(tree, key, &runner())
}

/// Why git does not read the history of a tree that has one, in git's words: the
/// tree may belong to somebody else.
pub(crate) fn history_refused(tree: &Path) -> Option<String> {
    tree.join(".git").exists().then_some(())?;
    match git::Repository::around(tree, &runner()) {
        Err(git::Error::NoRepository { reason, .. }) => Some(reason),
        Err(error) => Some(error.to_string()),
        Ok(_) => None,
    }
}

/// How the subject of a patch to that file begins by the tree's own history,
/// if the tree is a git checkout that has some.
#[expect(
    clippy::disallowed_methods,
    reason = "a tree without a history has no prefix of its own"
)]
pub(crate) fn prefix(tree: &Path, path: &TreePath) -> Option<String> {
    let runner = runner();
    let repository = git::Repository::around(tree, &runner).ok()?;
    // A tree inside some other project's checkout has no history of its own.
    (*repository.prefix() == TreePath::top()).then_some(())?;
    let subjects = repository.subjects(path, 20).ok()?;
    tollgate_rewrite::prefix_of_history(subjects.iter().map(String::as_str))
}

fn runner() -> Runner {
    Runner::new(signals::interrupt().clone(), None)
}

/// The mail of a patch. `trailers` go below the message, one line each.
///
/// # Errors
/// When git is not there or fails, or the file system does.
pub(crate) fn mail(
    patched: &Patched,
    author: &Author,
    trailers: &[String],
) -> anyhow::Result<Vec<u8>> {
    let folder = temporary()?;
    let repository = Repository::new(folder.path(), author)?;
    repository.add(patched, trailers)?;
    repository.git(&[&["format-patch", "-1", "--stdout"], FORM].concat())
}

/// Says which patches of a thread do not count, since it has a newer version.
pub(crate) fn note_superseded(subjects: &[String], term: &Term) {
    let Some(first) = subjects.first() else {
        return;
    };
    let others = match subjects.len() {
        1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    term.note(&format!(
        "the newest version of each patch is taken; left out as older: {first}{others}"
    ));
}

/// How every patch is written.
const FORM: &[&str] = &["--zero-commit", "--abbrev=12", "--no-renames", "--stat=75"];

/// The mails of patches that build on each other, with a cover letter, written
/// into a folder. `functions` is how many they rewrite. Gives the names of the
/// files.
///
/// # Errors
/// When git is not there or fails, or the file system does.
pub(crate) fn series(
    patches: &[Patched],
    functions: usize,
    author: &Author,
    trailers: &[String],
    into: &Path,
) -> anyhow::Result<Vec<PathBuf>> {
    let folder = temporary()?;
    let repository = Repository::new(folder.path(), author)?;
    repository.commit_all_originals(patches)?;
    for patched in patches {
        repository.add(patched, trailers)?;
    }
    let count = format!("-{}", patches.len());
    let output = format!("--output-directory={OUT}");
    let cover: &[&str] = if patches.len() > 1 {
        &["--cover-letter"]
    } else {
        &[]
    };
    let arguments = [&["format-patch", &count, &output], cover, FORM].concat();
    let listed = repository.git(&arguments)?;
    let mut files: Vec<(OsString, Vec<u8>)> = Vec::new();
    for line in listed
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let written = folder.path().join(OsStr::from_bytes(line));
        let name = written.file_name().unwrap_or_default().to_owned();
        files.push((name, fs::read(&written)?));
    }
    if let Some((_, letter)) = files.first_mut().filter(|_| !cover.is_empty()) {
        let text = String::from_utf8_lossy(letter);
        *letter = cover_letter(&text, patches, functions).into_bytes();
    }
    put_all(&files, into)
}

/// Where in the repository git writes a series.
const OUT: &str = ".git/series";

/// Writes files into a folder of the user's, which may hold others. What is there
/// under one of their names is never written over: it may have been edited, or be a
/// link.
fn put_all(files: &[(OsString, Vec<u8>)], into: &Path) -> anyhow::Result<Vec<PathBuf>> {
    fs::create_dir_all(into)
        .with_context(|| format!("{} could not be made for the patches", shown(into)))?;
    let into = fs::canonicalize(into)?;
    refuse_other_series(files, &into)?;
    let mut new = Vec::new();
    for (name, bytes) in files {
        let place = into.join(name);
        let about = fs::symlink_metadata(&place);
        // What cannot be read is another file.
        let same = |about: &fs::Metadata| {
            about.is_file() && matches!(input::source(&place), Ok(known) if known == *bytes)
        };
        match &about {
            Ok(about) if same(about) => {}
            Err(error) if !input::is_absent(error) => bail!(
                "{} may be there already ({error}); nothing was written: give another folder",
                shown(&place)
            ),
            Ok(_) => bail!(
                "{} is there already and is another file; nothing was written: move it away, or give another folder",
                shown(&place)
            ),
            Err(_) => new.push((place, bytes)),
        }
    }
    for (place, bytes) in new {
        let file = fs::File::create_new(&place);
        file.and_then(|mut file| file.write_all(bytes))
            .with_context(|| format!("{} could not be written", shown(&place)))?;
    }
    Ok(files.iter().map(|(name, _)| into.join(name)).collect())
}

/// A folder with the patches of two series is applied as one by whoever takes `*.patch`.
fn refuse_other_series(files: &[(OsString, Vec<u8>)], into: &Path) -> anyhow::Result<()> {
    let is_numbered = |name: &OsStr| {
        let bytes = name.as_bytes();
        let digits = bytes
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        digits == 4 && bytes.get(digits) == Some(&b'-') && bytes.ends_with(b".patch")
    };
    let other = |name: &OsString| is_numbered(name) && files.iter().all(|(own, _)| own != name);
    let mut names = input::names_in(into)?;
    names.sort();
    match names.iter().find(|name| other(name)) {
        Some(name) => bail!(
            "{} holds another series ({}); nothing was written: move it away, or give another folder",
            shown(into),
            shown(Path::new(name))
        ),
        None => Ok(()),
    }
}

/// The patches to one file as one patch, in the order of their first.
pub(crate) fn merged(patches: Vec<Patched>) -> Vec<Patched> {
    let mut files: Vec<Patched> = Vec::new();
    for patched in patches {
        match files.iter_mut().find(|file| file.path == patched.path) {
            Some(file) => join(file, patched),
            None => files.push(patched),
        }
    }
    files
}

/// Adds a patch that builds on `file`.
fn join(file: &mut Patched, patched: Patched) {
    let prefix = file
        .subject
        .rsplit_once(": ")
        .map_or("", |(prefix, _)| prefix);
    let name = Name::from(file.path.file());
    file.subject = format!("{prefix}: Use user access windows in {name}");
    file.body = format!("{}\n{}", file.body, patched.body);
    file.function = format!("{}, {}", file.function, patched.function);
    file.rewritten = patched.rewritten;
    file.windows_before += patched.windows_before;
    file.windows_after += patched.windows_after;
    file.refused.extend(patched.refused);
}

/// Git leaves two places for words.
fn cover_letter(text: &str, patches: &[Patched], functions: usize) -> String {
    let before: usize = patches.iter().map(|patched| patched.windows_before).sum();
    let after: usize = patches.iter().map(|patched| patched.windows_after).sum();
    let blurb = format!(
        "Each patch turns adjacent user accesses of a function into one window.\n\
         Together they open {after} windows where {before} were opened, when nothing\n\
         faults. The patches do not depend on each other but for those to one file."
    );
    let subject = format!("Use user access windows in {functions} functions");
    text.replacen("*** SUBJECT HERE ***", &subject, 1)
        .replacen("*** BLURB HERE ***", &blurb, 1)
}

fn temporary() -> anyhow::Result<tempfile::TempDir> {
    let folder = std::env::temp_dir();
    tempfile::tempdir().map_err(|error| {
        let hint = space::hint(&error, &folder, OR_ELSEWHERE);
        anyhow!("no temporary folder could be made for git: {error}{hint}")
    })
}

fn message(patched: &Patched, trailers: &[String]) -> String {
    let trailers = if trailers.is_empty() {
        String::new()
    } else {
        format!("\n{}\n", trailers.join("\n"))
    };
    format!("{}\n\n{}{trailers}", patched.subject, patched.body)
}

/// A repository that holds files before and after.
struct Repository<'a> {
    root: &'a Path,
    author: &'a Author,
    runner: Runner,
}

impl<'a> Repository<'a> {
    fn new(root: &'a Path, author: &'a Author) -> anyhow::Result<Self> {
        let runner = Runner::new(signals::obeyed(), None);
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
    fn commit_all_originals(&self, patches: &[Patched]) -> anyhow::Result<()> {
        let mut seen = std::collections::HashSet::new();
        for patched in patches.iter().filter(|patched| seen.insert(&patched.path)) {
            self.write(&patched.path, &patched.original)?;
        }
        self.commit("before")
    }

    /// One patch on top of the others.
    fn add(&self, patched: &Patched, trailers: &[String]) -> anyhow::Result<()> {
        self.write(&patched.path, &patched.original)?;
        self.commit("before")?;
        self.write(&patched.path, &patched.rewritten)?;
        self.commit(&message(patched, trailers))
    }

    fn write(&self, path: &TreePath, text: &[u8]) -> anyhow::Result<()> {
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
    fn commit(&self, message: &str) -> anyhow::Result<()> {
        let changed = self.git(&["status", "--porcelain", "--untracked-files=no"])?;
        if changed.is_empty() {
            return Ok(());
        }
        put(&self.root.join(MESSAGE), message.as_bytes())?;
        let how = ["-q", "--no-verify", "--cleanup=verbatim", "-F", MESSAGE];
        self.git(&[&["commit"], how.as_slice()].concat())?;
        Ok(())
    }

    fn git(&self, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        self.run(&arguments)
    }

    /// Runs git away from the user's configuration: the patch is the same everywhere.
    fn run(&self, arguments: &[&OsStr]) -> anyhow::Result<Vec<u8>> {
        let mut command = git::isolated(self.root);
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
        said.with_context(|| format!("git {} could not write the patch", shown(Path::new(what))))
    }
}

/// Where in the repository the message of a commit is handed to git.
const MESSAGE: &str = ".git/message";

/// What helps where there is no room for git to work.
const OR_ELSEWHERE: &str = ", or name another folder with TMPDIR";

fn put(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    fs::write(path, bytes).map_err(|error| no_room(path, &error))
}

fn make_folder(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).map_err(|error| no_room(path, &error))
}

fn no_room(path: &Path, error: &io::Error) -> anyhow::Error {
    let hint = space::hint(error, path, OR_ELSEWHERE);
    anyhow!("could not write {}: {error}{hint}", shown(path))
}
