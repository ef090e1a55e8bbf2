//! The files that are checked, and those that teach what a tree calls its windows.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tollgate_defect::{Defect, OrDefect as _, answer};

use anyhow::Context;
use rayon::prelude::*;
use tollgate_lab::input;
use tollgate_lab::sources::{NUL, has_nul, sources_below};
use tollgate_source::check::{CheckWords, Checker, Checks, Learned};
use tollgate_source::{GrammarError, Headers, Name, TreePath, Vocabulary, is_c, no_tree, shown};

use super::side::{Base, Side};
use crate::choice::Choice;
use crate::door::{Door, refuse_other};
use crate::progress::Meter;

/// Headers that say what a tree calls its windows, where only some files of it
/// are checked.
pub(crate) const TEACHERS: [&str; 4] = [
    "include/linux/uaccess.h",
    "include/linux/compat.h",
    "include/linux/signal.h",
    "include/asm-generic/access_ok.h",
];

/// What a result calls the text on standard input.
pub(crate) const STANDARD_INPUT: &str = "<stdin>";

/// What the rules say, and the files of which the user wants an answer.
pub(crate) struct Answer {
    /// What the rules say.
    pub(crate) checks: Checks,
    /// The files that were named one by one, as [`Checks`] calls them.
    pub(crate) named: HashSet<Name>,
}

/// A file that is checked.
struct File {
    /// What it is called.
    name: Name,
    /// Where it is.
    place: PathBuf,
}

/// Checks what the paths of the command line name; with `null` a NUL ends each name
/// of a list.
pub(crate) fn check(paths: &[PathBuf], null: bool, meter: &Meter) -> anyhow::Result<Answer> {
    match paths {
        [] => folder(Path::new("."), meter),
        [only] if only == Path::new("-") => standard_input(),
        [only] if only.is_dir() => folder(only, meter),
        [tree, rest @ ..] if tree.is_dir() => behind(&Door::of(tree)?, rest, null, meter),
        files => from_here(files, meter),
    }
}

/// What is named behind a folder, or listed on standard input.
fn behind(door: &Door, rest: &[PathBuf], null: bool, meter: &Meter) -> anyhow::Result<Answer> {
    let choice = match rest {
        [dash] if dash == Path::new("-") => Choice::of_input(door, null)?,
        rest => match Choice::named(door, rest)? {
            Some(choice) => choice,
            None => return folder(door.root(), meter),
        },
    };
    let in_tree = |path: &TreePath| File {
        name: path.name().clone(),
        place: door.root().join(path),
    };
    let files: Vec<File> = choice.files.paths.iter().map(in_tree).collect();
    let (words, unread) = words_for(door.root(), &files)?;
    let mut checks = run(door.root(), &files, &words, meter)?;
    spare(door.root(), &files, &mut checks, &words)?;
    unlearned(&mut checks, &files, unread);
    for (folder, error) in &choice.files.unlisted {
        checks.miss(folder, unlisted(error));
    }
    checks.left_out = choice.files.left_out;
    checks.finish();
    let named = choice.named.into_iter().map(Name::from).collect();
    Ok(Answer { checks, named })
}

fn unlisted(error: &str) -> String {
    format!("the folder could not be listed: {error}")
}

/// Files and folders as they are named from the current folder.
fn from_here(given: &[PathBuf], meter: &Meter) -> anyhow::Result<Answer> {
    let (mut files, mut named) = (Vec::new(), HashSet::new());
    for path in given {
        if path.is_dir() {
            files.extend(all_below(path)?);
            continue;
        }
        let name = Name::from(path.as_path());
        let text = is_source(path)?;
        anyhow::ensure!(
            text,
            "{name} is no C file: its name ends neither in .c nor in .h; - reads C source from standard input"
        );
        named.insert(name.clone());
        let place = path.clone();
        files.push(File { name, place });
    }
    let (words, unread) = words_for(Path::new(""), &files)?;
    let mut checks = run(Path::new(""), &files, &words, meter)?;
    spare(Path::new("."), &files, &mut checks, &words)?;
    unlearned(&mut checks, &files, unread);
    checks.finish();
    Ok(Answer { checks, named })
}

/// Whether a file that is named is to be read as C: by its name, or because it is
/// a stream that a shell hands over, which has none.
fn is_source(path: &Path) -> anyhow::Result<bool> {
    if input::is_stream(path) {
        return Ok(true);
    }
    refuse_other(path, path)?;
    Ok(is_c(Name::from(path).as_bytes()))
}

fn all_below(folder: &Path) -> anyhow::Result<Vec<File>> {
    let found = sources_below(folder, &TreePath::top());
    let file = |path: TreePath| File {
        name: folder.join(&path).as_path().into(),
        place: folder.join(&path),
    };
    anyhow::ensure!(
        !found.paths.is_empty(),
        "{} holds no C file: nothing was checked",
        shown(folder)
    );
    Ok(found.paths.into_iter().map(file).collect())
}

fn standard_input() -> anyhow::Result<Answer> {
    let text =
        input::limited(io::stdin()).context("the source on standard input could not be read")?;
    let (vocabulary, words) = (Vocabulary::builtin()?, CheckWords::builtin()?);
    let headers = Headers::new(&no_tree)?;
    let (mut checks, name) = (Checks::default(), Name::from(STANDARD_INPUT));
    let mut checker = Checker::new(&vocabulary, &words, &headers)?;
    match has_nul(&text) {
        true => checks.miss(&name, NUL.to_owned()),
        false => checks.add(&name, checker.check(&TreePath::top(), &text)),
    }
    checks.finish();
    let named = HashSet::from([name]);
    Ok(Answer { checks, named })
}

/// Everything that a folder holds. Headers come first: they say what the tree
/// calls its windows.
fn folder(root: &Path, meter: &Meter) -> anyhow::Result<Answer> {
    let found = sources_below(root, &TreePath::top());
    let in_folder = |path: &TreePath| File {
        name: path.name().clone(),
        place: root.join(path),
    };
    let (headers, files): (Vec<File>, Vec<File>) = found
        .paths
        .iter()
        .map(in_folder)
        .partition(|file| file.name.is_header());
    if headers.is_empty() && files.is_empty() {
        let why = found.unlisted.first();
        let why = why.map_or(String::new(), |(_, error)| format!(" ({error})"));
        anyhow::bail!("{} holds no C file{why}: nothing was checked", shown(root));
    }
    let builtin = CheckWords::builtin()?;
    let places: Vec<&Path> = headers.iter().map(|file| file.place.as_path()).collect();
    // A header of the folder is checked as well, and is named there.
    let words = builtin.with(&learned_from(&places, &builtin)?.learned);
    let all: Vec<File> = headers.into_iter().chain(files).collect();
    let mut checks = run(root, &all, &words, meter)?;
    spare(root, &all, &mut checks, &words)?;
    for (folder, error) in &found.unlisted {
        checks.miss(folder, unlisted(error));
    }
    checks.finish();
    let named = HashSet::new();
    Ok(Answer { checks, named })
}

/// Drops what is no call: inline functions of the headers of the tree that the files
/// lie in.
fn spare(
    root: &Path,
    files: &[File],
    checks: &mut Checks,
    words: &CheckWords,
) -> anyhow::Result<()> {
    let first = files.first().and_then(|file| tree_around(&file.place));
    let tree = first.unwrap_or_else(|| root.to_owned());
    Side::new(Base::Folder(&tree), BTreeMap::new()).spare(checks, words)
}

/// Names the headers that teach nothing since they cannot be read. One that is
/// checked itself is named there.
fn unlearned(checks: &mut Checks, files: &[File], unread: Unread) {
    for (header, error) in unread {
        if files.iter().all(|file| file.place != header) {
            let name = Name::from(header.as_path());
            checks.miss(&name, format!("{error}, so {UNLEARNED}"));
        }
    }
}

/// Headers that could not be read, with the reason.
type Unread = Vec<(PathBuf, String)>;

/// The words for some files of a tree: what its own headers teach, and those
/// beside the files; with the headers that could not be read.
fn words_for(root: &Path, files: &[File]) -> anyhow::Result<(CheckWords, Unread)> {
    let places: Vec<&Path> = files.iter().map(|file| file.place.as_path()).collect();
    let builtin = CheckWords::builtin()?;
    let tree = places.iter().find_map(|place| tree_around(place));
    let tree = tree.unwrap_or_else(|| root.to_owned());
    let mut teachers: BTreeSet<PathBuf> = TEACHERS.iter().map(|name| tree.join(name)).collect();
    teachers.extend(architectures(&tree)?);
    let folders: BTreeSet<&Path> = places.iter().filter_map(|place| place.parent()).collect();
    for folder in folders {
        teachers.extend(headers_in(folder)?);
    }
    let ordinary = teachers.iter().filter(|path| path.is_file());
    let places: Vec<&Path> = ordinary.map(PathBuf::as_path).collect();
    let Lessons { learned, unread } = learned_from(&places, &builtin)?;
    Ok((builtin.with(&learned), unread))
}

/// The kernel tree that a file lies in.
fn tree_around(file: &Path) -> Option<PathBuf> {
    // One that is not there is named where it is read.
    let Ok(full) = fs::canonicalize(file) else {
        return None;
    };
    let mut above = full.ancestors().skip(1);
    above
        .find(|folder| folder.join("include/linux/uaccess.h").is_file())
        .map(Path::to_owned)
}

fn architectures(tree: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = tree.join("arch");
    let names = input::names_in(&folder).context(UNLEARNED)?.into_iter();
    let header = |name| folder.join(name).join("include/asm/uaccess.h");
    Ok(names.map(header).collect())
}

fn headers_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = if folder == Path::new("") {
        Path::new(".")
    } else {
        folder
    };
    let names = input::names_in(folder).context(UNLEARNED)?.into_iter();
    let paths = names.map(|name| folder.join(name));
    Ok(paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "h"))
        .collect())
}

/// What is not known where a header or a folder of headers cannot be read.
const UNLEARNED: &str = "what the tree calls its windows is not known";

/// What headers teach, and those that cannot be read, with the reason.
#[derive(Default)]
struct Lessons {
    learned: Learned,
    unread: Unread,
}

impl Lessons {
    fn merge(mut self, other: Self) -> Self {
        self.learned.merge(other.learned);
        self.unread.extend(other.unread);
        self
    }
}

fn learned_from(headers: &[&Path], words: &CheckWords) -> anyhow::Result<Lessons> {
    let vocabulary = Vocabulary::builtin()?;
    let no_headers = Headers::new(&no_tree)?;
    let lessons = headers.par_chunks(64).map_init(
        || Checker::new(&vocabulary, words, &no_headers),
        |checker, paths| {
            let checker = checker.as_ref();
            let checker = checker.or_defect("a header cannot be looked through")?;
            let mut all = Lessons::default();
            for path in paths {
                match input::source(path) {
                    Ok(text) => all.learned.merge(checker.learn(&text)),
                    Err(error) => all.unread.push((path.to_path_buf(), error.to_string())),
                }
            }
            Ok(all)
        },
    );
    let lessons: Result<Vec<Lessons>, Defect> = lessons.collect();
    Ok(lessons?
        .into_iter()
        .fold(Lessons::default(), Lessons::merge))
}

/// Files are read, checked and dropped one by one on each processor.
fn run(root: &Path, files: &[File], words: &CheckWords, meter: &Meter) -> anyhow::Result<Checks> {
    let vocabulary = Vocabulary::builtin()?;
    let tree = files.iter().find_map(|file| tree_around(&file.place));
    let tree = tree.unwrap_or_else(|| root.to_owned());
    let reader = |path: &TreePath| input::source(&tree.join(path));
    let headers = Headers::new(&reader)?;
    let below = Below::new(root, &tree);
    meter.begin(files.len());
    let parts: Vec<Checks> = files
        .par_chunks(32)
        .map_init(
            || Checker::new(&vocabulary, words, &headers),
            |checker, files| {
                let checks = part(&below, checker, files);
                meter.advance(files.len());
                checks
            },
        )
        .collect();
    let mut all = Checks::default();
    parts.into_iter().for_each(|part| all.merge(part));
    Ok(all)
}

/// A folder, and the tree that its files lie in.
struct Below<'a> {
    root: &'a Path,
    tree: &'a Path,
    /// Where the folder is in the tree, if it is.
    inner: Option<TreePath>,
}

impl<'a> Below<'a> {
    fn new(root: &'a Path, tree: &'a Path) -> Self {
        let inner = inside(root, tree);
        Self { root, tree, inner }
    }

    /// Where a file is in the tree; by its name if it is in none.
    fn path(&self, file: &File) -> TreePath {
        let own = answer::below(&file.place, self.root);
        let own = own.zip(self.inner.as_ref());
        let own = own.map(|(own, inner)| inner.joined(Name::from(own).as_bytes()));
        own.or_else(|| inside(&file.place, self.tree))
            .unwrap_or_else(|| TreePath::top().joined(file.name.file()))
    }
}

fn inside(path: &Path, tree: &Path) -> Option<TreePath> {
    // One that is not there is named where it is read.
    let (Ok(full), Ok(tree)) = (fs::canonicalize(path), fs::canonicalize(tree)) else {
        return None;
    };
    TreePath::new(Name::from(answer::below(&full, &tree)?).as_bytes())
}

fn part(
    below: &Below<'_>,
    checker: &mut Result<Checker<'_>, GrammarError>,
    files: &[File],
) -> Checks {
    let mut checks = Checks::default();
    for file in files {
        let File { name, place } = file;
        match (input::given(place), checker.as_mut()) {
            (Ok(text), _) if has_nul(&text) => checks.miss(name, NUL.to_owned()),
            (Ok(text), Ok(checker)) => checks.add(name, checker.check(&below.path(file), &text)),
            (Err(error), _) => checks.miss(name, error.to_string()),
            (_, Err(error)) => checks.miss(name, error.to_string()),
        }
    }
    checks
}
