//! Files and folders, checked one by one, and the headers that teach what a tree calls
//! its windows.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tollgate_defect::{Defect, OrDefect as _, answer};
use tollgate_source::check::{
    CheckWords, Checked, Checker, Checks, Definers, Learned, OF_ARCHITECTURE, Side, TEACHERS,
};
use tollgate_source::{
    GrammarError, Headers, Name, TreePath, TypeIndex, Vocabulary, included, no_tree,
};

use super::again;
use super::change::Notes;
use super::error::{Error, UNLEARNED};
use super::log;
use super::record::{Records, Watch};
use super::state::{Base, State};
use crate::input;
use crate::progress::Count;
use crate::sources::{Files, NUL, has_nul, sources_below, unlisted};

/// A file that is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// What it is called.
    pub name: Name,
    /// Where it is.
    pub place: PathBuf,
}

/// What the rules say of one text, which is called `name`.
///
/// # Errors
/// When the rules cannot be asked.
pub fn text(name: &Name, text: &[u8]) -> Result<Checks, Error> {
    let (vocabulary, words) = (Vocabulary::builtin()?, CheckWords::builtin()?);
    let headers = Headers::new(&no_tree)?;
    let mut checks = Checks::default();
    let mut checker = Checker::new(&vocabulary, &words, &headers)?;
    match has_nul(text) {
        true => checks.miss(name, NUL.to_owned()),
        false => checks.add(name, checker.check(&TreePath::top(), text)),
    }
    checks.finish();
    Ok(checks)
}

/// What is heard while files are checked, and said.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// How far it has come.
    pub meter: &'a dyn Count,
    /// What a build of the tree printed.
    pub log: Option<&'a [u8]>,
    /// What was said of whole trees before; without them everything is looked at.
    pub records: Option<&'a Records>,
    /// Hears what is to be known beside the findings.
    pub notes: Notes<'a>,
}

/// What they say of some files, all below `root`, or named from the current folder where
/// that is empty; the headers of the tree that they lie in and those beside them teach.
///
/// # Errors
/// When a folder of headers cannot be listed.
pub fn files(root: &Path, files: &[File], asked: Asked<'_>) -> Result<Checks, Error> {
    let (words, unread) = words_for(root, files)?;
    let work = Work {
        root,
        words: &words,
        asked,
        watch: None,
    };
    let mut checks = run(&work, files, None)?.together();
    side(&tree_for(root, files)).spare(&mut checks, &words)?;
    unlearned(&mut checks, files, unread);
    checks.finish();
    Ok(checks)
}

/// What they say of chosen files of a tree; what of it could not be listed is missed.
///
/// # Errors
/// As [`files`].
pub fn files_of(root: &Path, chosen: Files, asked: Asked<'_>) -> Result<Checks, Error> {
    let mut checks = files(root, &in_tree(root, &chosen.paths), asked)?;
    miss_folders(&mut checks, &chosen.unlisted);
    checks.left_out = chosen.left_out;
    checks.finish();
    Ok(checks)
}

fn in_tree(root: &Path, paths: &[TreePath]) -> Vec<File> {
    let file = |path: &TreePath| File {
        name: path.name().clone(),
        place: root.join(path),
    };
    paths.iter().map(file).collect()
}

fn miss_folders(checks: &mut Checks, folders: &[(TreePath, String)]) {
    for (folder, error) in folders {
        checks.miss(folder, unlisted(error));
    }
}

/// What they say of all that a folder holds. Headers come first: they say what the tree
/// calls its windows.
///
/// # Errors
/// When it holds no C file.
pub fn folder(root: &Path, asked: Asked<'_>) -> Result<Checks, Error> {
    let found = sources_below(root, &TreePath::top());
    if found.paths.is_empty() {
        let why = found.unlisted.first();
        let why = why.map_or(String::new(), |(_, error)| format!(" ({error})"));
        let folder = root.to_owned();
        return Err(Error::NoFile { folder, why });
    }
    let remembered = is_tree(root) && asked.log.is_none() && found.unlisted.is_empty();
    let mut checks = match asked.records.filter(|_| remembered) {
        Some(records) => again::checked(records, root, &found.paths, asked)?,
        None => {
            let looked = look(root, &found.paths, asked, None)?;
            let mut checks = looked.each.together();
            let side = side(root).with_definers(looked.definers);
            side.spare(&mut checks, &looked.words)?;
            checks
        }
    };
    miss_folders(&mut checks, &found.unlisted);
    checks.finish();
    Ok(checks)
}

/// What came of files of a folder that were looked at.
pub(super) struct Looked {
    pub(super) each: Each,
    pub(super) words: CheckWords,
    /// Whether all headers could be read.
    pub(super) learned: bool,
    /// What the headers of a whole tree may define.
    pub(super) definers: Option<Definers>,
}

/// Which files of a folder are looked at, and who sees what is read.
pub(super) type Again<'a> = (Option<&'a BTreeSet<Name>>, &'a Watch<'a>);

/// Looks at the C files of a folder, or at some of them.
pub(super) fn look(
    root: &Path,
    paths: &[TreePath],
    asked: Asked<'_>,
    again: Option<Again<'_>>,
) -> Result<Looked, Error> {
    let all = in_tree(root, paths).into_iter();
    let (headers, files): (Vec<File>, Vec<File>) = all.partition(|file| file.name.is_header());
    let builtin = CheckWords::builtin()?;
    let watch = again.map(|(_, watch)| watch);
    let tree = is_tree(root).then_some(root);
    // A header of the folder is checked as well, and is named there.
    let Lessons {
        learned,
        unread,
        types,
        definers,
        silent,
    } = learned_from(&places(&headers), &builtin, tree, watch)?;
    let whole = tree.is_some() && unread.is_empty();
    let words = match whole {
        true => builtin.with_tree(&learned),
        false => builtin.with(&learned),
    };
    let types = whole.then(|| types.joined());
    let wanted = |file: &File| match again {
        Some((Some(only), _)) => only.contains(&file.name),
        _ => true,
    };
    let chosen = headers.into_iter().chain(files).filter(wanted);
    let (silent, rest): (Vec<File>, Vec<File>) =
        chosen.partition(|file| silent.contains(&file.place));
    let work = Work {
        root,
        words: &words,
        asked,
        watch,
    };
    let mut each = run(&work, &rest, types)?;
    each.files.extend(silent.into_iter().map(|header| {
        let mut checks = Checks::default();
        checks.add(&header.name, Checked::default());
        (header.name, checks)
    }));
    Ok(Looked {
        each,
        words,
        learned: unread.is_empty(),
        definers: whole.then_some(definers),
    })
}

fn places(files: &[File]) -> Vec<&Path> {
    files.iter().map(|file| file.place.as_path()).collect()
}

/// The files of a folder, by the names that begin with its own.
///
/// # Errors
/// When it has none.
pub fn files_below(folder: &Path) -> Result<Vec<File>, Error> {
    let found = sources_below(folder, &TreePath::top());
    let file = |path: TreePath| File {
        name: folder.join(&path).as_path().into(),
        place: folder.join(&path),
    };
    if found.paths.is_empty() {
        let (folder, why) = (folder.to_owned(), String::new());
        return Err(Error::NoFile { folder, why });
    }
    Ok(found.paths.into_iter().map(file).collect())
}

/// The tree that some files below a root lie in, for its headers.
fn tree_for(root: &Path, files: &[File]) -> PathBuf {
    let first = files.first().and_then(|file| tree_around(&file.place));
    first.unwrap_or_else(|| match root == Path::new("") {
        true => PathBuf::from("."),
        false => root.to_owned(),
    })
}

/// A tree as it is.
pub(super) fn side(tree: &Path) -> Side<State<'_>> {
    Side::new(State::of(Base::Folder(tree)), &TreePath::top())
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

/// The words for some files of a tree: what its own headers teach, those beside the files
/// and those that the files include; with the headers that could not be read.
fn words_for(root: &Path, files: &[File]) -> Result<(CheckWords, Unread), Error> {
    let places = places(files);
    let builtin = CheckWords::builtin()?;
    let tree = tree_of(root, files);
    let mut teachers: BTreeSet<PathBuf> = TEACHERS.iter().map(|name| tree.join(name)).collect();
    let arch = tree.join("arch");
    let of_architecture = |name| arch.join(name).join(OF_ARCHITECTURE);
    teachers.extend(listed(&arch)?.map(of_architecture));
    let folders: BTreeSet<&Path> = places.iter().filter_map(|place| place.parent()).collect();
    for folder in folders {
        let folder = match folder == Path::new("") {
            true => Path::new("."),
            false => folder,
        };
        let beside = listed(folder)?.map(|name| folder.join(name));
        teachers.extend(beside.filter(|path| path.extension().is_some_and(|end| end == "h")));
    }
    let below = Below::new(root, &tree);
    teachers.extend(files.iter().flat_map(|file| below.included(file)));
    let ordinary = teachers.iter().filter(|path| path.is_file());
    let places: Vec<&Path> = ordinary.map(PathBuf::as_path).collect();
    let Lessons {
        learned, unread, ..
    } = learned_from(&places, &builtin, None, None)?;
    Ok((builtin.with(&learned), unread))
}

fn listed(folder: &Path) -> Result<impl Iterator<Item = std::ffi::OsString>, Error> {
    let names = input::names_in(folder).map_err(Error::Unlearned)?;
    Ok(names.into_iter())
}

/// The kernel tree that the first of some files in any lies in, else the folder.
fn tree_of(root: &Path, files: &[File]) -> PathBuf {
    let tree = files.iter().find_map(|file| tree_around(&file.place));
    tree.unwrap_or_else(|| root.to_owned())
}

/// The kernel tree that a file lies in.
fn tree_around(file: &Path) -> Option<PathBuf> {
    // One that is not there is named where it is read.
    let Ok(full) = fs::canonicalize(file) else {
        return None;
    };
    let mut above = full.ancestors().skip(1);
    above.find(|folder| is_tree(folder)).map(Path::to_owned)
}

/// Whether a folder is the top of a kernel tree.
#[must_use]
pub fn is_tree(folder: &Path) -> bool {
    folder.join("include/linux/uaccess.h").is_file()
}

/// What headers teach, and those that cannot be read, with the reason.
#[derive(Default)]
struct Lessons {
    learned: Learned,
    unread: Unread,
    /// The types that they define, by their paths in the tree.
    types: TypeIndex,
    /// What they may define, by the same.
    definers: Definers,
    /// Those that hold nothing to check: they need not be read again.
    silent: HashSet<PathBuf>,
}

impl Lessons {
    fn merge(mut self, other: Self) -> Self {
        self.learned.merge(other.learned);
        self.unread.extend(other.unread);
        self.types.merge(other.types);
        self.definers.merge(other.definers);
        self.silent.extend(other.silent);
        self
    }
}

/// What headers teach; their types too if they are those of a whole tree.
fn learned_from(
    headers: &[&Path],
    words: &CheckWords,
    tree: Option<&Path>,
    watch: Option<&Watch<'_>>,
) -> Result<Lessons, Error> {
    let vocabulary = Vocabulary::builtin()?;
    let no_headers = Headers::new(&no_tree)?;
    let lessons = headers.par_chunks(64).map_init(
        || {
            let checker = Checker::new(&vocabulary, words, &no_headers);
            (checker, Vec::new())
        },
        |(checker, text), paths| {
            let checker = checker.as_ref();
            let checker = checker.or_defect("a header cannot be looked through")?;
            let mut all = Lessons::default();
            for path in paths {
                let own = tree.and_then(|tree| answer::below(path, tree));
                let own = own.map(|own| TreePath::top().joined(Name::from(own).as_bytes()));
                let known = |own: &TreePath| watch.is_some_and(|w| w.is_ordinary(own.name()));
                let read = match own.as_ref().is_some_and(known) {
                    true => input::known_into(path, text),
                    false => input::source_into(path, text),
                };
                match read {
                    Ok(()) => {
                        let (learned, suspect) = checker.read_header(text);
                        if !suspect && !has_nul(text) {
                            all.silent.insert(path.to_path_buf());
                        }
                        all.learned.merge(learned);
                        if let Some(own) = &own {
                            all.types.add(own, text);
                            all.definers.add(own, text);
                            watch.inspect(|watch| watch.saw(own.name(), text));
                        }
                    }
                    Err(error) => all.unread.push((path.to_path_buf(), error.to_string())),
                }
            }
            Ok(all)
        },
    );
    let lessons: Result<Vec<Lessons>, Defect> = lessons.collect();
    let lessons = lessons?.into_iter();
    Ok(lessons.fold(Lessons::default(), Lessons::merge))
}

/// Files that are to be checked: where they are, the words for them, and who hears and
/// sees what.
struct Work<'a> {
    root: &'a Path,
    words: &'a CheckWords,
    asked: Asked<'a>,
    watch: Option<&'a Watch<'a>>,
}

/// What the rules say of each of some files.
pub(super) struct Each {
    pub(super) files: Vec<(Name, Checks)>,
    /// How much a log says in all.
    heard: Option<usize>,
}

impl Each {
    /// What they are called.
    pub(super) fn names(&self) -> BTreeSet<Name> {
        self.files.iter().map(|(name, _)| name.clone()).collect()
    }

    pub(super) fn together(&self) -> Checks {
        let mut all = Checks::default();
        let files = self.files.iter();
        files.for_each(|(_, checks)| all.merge(checks.clone()));
        self.heard.iter().for_each(|count| all.heard(*count));
        all
    }
}

/// Files are read, checked and dropped one by one on each processor.
fn run(work: &Work<'_>, files: &[File], types: Option<TypeIndex>) -> Result<Each, Error> {
    let Work {
        root, words, watch, ..
    } = *work;
    let Asked { meter, log, .. } = work.asked;
    let vocabulary = Vocabulary::builtin()?;
    let tree = tree_of(root, files);
    let reader = |path: &TreePath| match watch {
        Some(watch) => watch.source(path),
        None => input::source(&tree.join(path)),
    };
    let headers = Headers::new(&reader)?.with_index(types);
    let below = Below::new(root, &tree);
    let heard = log.map(|log| log::heard(log, &side(&tree)));
    meter.expect(files.len());
    let parts: Vec<Vec<(Name, Checks)>> = files
        .par_chunks(32)
        .map_init(
            || {
                let checker = Checker::new(&vocabulary, words, &headers);
                let checker = checker.map(|checker| match &heard {
                    Some(heard) => checker.hearing(heard),
                    None => checker,
                });
                (checker, Vec::new())
            },
            |(checker, text), files| {
                let file = |file| one(&below, checker, (file, &mut *text), watch);
                let checks = files.iter().map(file).collect();
                meter.advance(files.len());
                checks
            },
        )
        .collect();
    Ok(Each {
        files: parts.into_iter().flatten().collect(),
        heard: heard.map(|heard| heard.count()),
    })
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

    /// Where the headers may be that a file includes; who reads a pipe reads it once, and what
    /// cannot be read is named where it is checked.
    fn included(&self, file: &File) -> Vec<PathBuf> {
        let text = file.place.is_file().then(|| input::source(&file.place));
        let Some(Ok(text)) = text else {
            return Vec::new();
        };
        let all = included(&text, &self.path(file)).into_iter();
        all.map(|path| self.tree.join(&path)).collect()
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

fn one(
    below: &Below<'_>,
    checker: &mut Result<Checker<'_>, GrammarError>,
    (file, text): (&File, &mut Vec<u8>),
    watch: Option<&Watch<'_>>,
) -> (Name, Checks) {
    let mut checks = Checks::default();
    let File { name, place } = file;
    let read = match watch.is_some_and(|watch| watch.is_ordinary(name)) {
        true => input::known_into(place, text),
        false => input::given_into(place, text),
    };
    match (read, checker.as_mut()) {
        (Ok(()), _) if has_nul(text) => checks.miss(name, NUL.to_owned()),
        (Ok(()), Ok(checker)) => {
            watch.inspect(|watch| watch.saw(name, text));
            checks.add(name, checker.check(&below.path(file), text));
        }
        (Err(error), _) => checks.miss(name, error.to_string()),
        (_, Err(error)) => checks.miss(name, error.to_string()),
    }
    (name.clone(), checks)
}
