//! What the C files of a tree hold: read and analysed by all processors, each
//! file once, so that the tree is never in memory.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use tollgate_defect::Defect;
use tollgate_source::{
    Access, Analyser, FileReport, GrammarError, Headers, Kind, LeftOut, LocatedOpportunity, Scan,
    TreePath, TypeIndex, Types, Vocabulary, may_define,
};

use super::text::{Buffer, NUL, has_nul, text_of};
use super::walk::{Folder, Visit, walk};
use crate::input;
use crate::progress::{Count, Silent};
use crate::tree::Tree;

/// Files of a tree.
#[derive(Debug, Default)]
pub struct Files {
    /// C files, each once.
    pub paths: Vec<TreePath>,
    /// Folders that could not be listed, and why.
    pub unlisted: Vec<(TreePath, String)>,
    /// What was listed and is not looked at.
    pub left_out: LeftOut,
}

/// Whose sizes are looked up in the definitions of the tree: of thousands it takes a
/// sixth of a whole scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Of copies that stand next to something; of the others their number is enough.
    OfNeighbours,
    /// Of all copies.
    All,
}

/// Everything that a tree holds, and the folders that could not be listed.
///
/// # Errors
/// When the vocabulary is not what it should be.
pub fn scan(tree: &Tree, sizes: Sizes, meter: &dyn Count) -> Result<Scan, Defect> {
    let vocabulary = Vocabulary::builtin()?;
    let scanner = Scanner::new(tree, &vocabulary, true, meter);
    walk(tree.root(), &TreePath::top(), &scanner);
    scanner.finish(sizes)
}

/// What some files hold.
///
/// # Errors
/// When the vocabulary is not what it should be.
pub fn scan_files(
    tree: &Tree,
    files: Files,
    sizes: Sizes,
    meter: &dyn Count,
) -> Result<Scan, Defect> {
    let vocabulary = Vocabulary::builtin()?;
    let scanner = Scanner::new(tree, &vocabulary, false, meter);
    scanner.files(&files.paths);
    let mut scan = scanner.finish(sizes)?;
    for (folder, error) in &files.unlisted {
        scan.miss(folder, unlisted(error));
    }
    scan.left_out = files.left_out;
    scan.sort();
    Ok(scan)
}

/// What is said of a folder that could not be listed.
pub(crate) fn unlisted(error: &dyn std::fmt::Display) -> String {
    format!("the folder could not be listed: {error}")
}

/// The macros around accesses that the headers of a tree define, with names
/// that mean the same everywhere.
///
/// # Errors
/// When the vocabulary is not what it should be.
pub fn macros(tree: &Tree) -> Result<Vec<Access>, Defect> {
    let mut paths = tree.sources().paths;
    paths.retain(|path| path.is_header());
    let vocabulary = Vocabulary::builtin()?;
    let scanner = Scanner::new(tree, &vocabulary, false, &Silent);
    scanner.files(&paths);
    Ok(scanner.found().wrappers())
}

/// What some files hold together.
#[derive(Default)]
struct Part {
    scan: Scan,
    /// The macros around accesses that other files may use, with the header.
    wrappers: Vec<(TreePath, Access)>,
    /// The structs that files define, where the whole tree is read.
    types: Option<TypeIndex>,
    /// Sources that may use another file's macros.
    unknown_words: Vec<(TreePath, FileReport)>,
}

impl Part {
    fn merge(&mut self, other: Self) {
        self.scan.merge(other.scan);
        self.wrappers.extend(other.wrappers);
        self.types = joined(self.types.take(), other.types);
        self.unknown_words.extend(other.unknown_words);
    }

    fn add(&mut self, path: &TreePath, text: &[u8], mut report: FileReport) {
        let header = path.is_header();
        let own = report.wrappers.drain(..).filter(|_| header);
        let named = own.filter(Access::is_known_by_name);
        self.wrappers
            .extend(named.map(|access| (path.clone(), access)));
        if let Some(types) = &mut self.types
            && (header || !report.opportunities.is_empty())
        {
            types.add(path, text);
        }
        if header || report.unknown_words.is_empty() {
            self.scan.add(path, report);
        } else {
            self.unknown_words.push((path.clone(), report));
        }
    }

    /// The macros in the order of their headers: the first of a name counts.
    fn wrappers(self) -> Vec<Access> {
        let mut all = self.wrappers;
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all.into_iter().map(|(_, access)| access).collect()
    }
}

/// The definitions of two parts of a tree, where they were found.
fn joined(one: Option<TypeIndex>, other: Option<TypeIndex>) -> Option<TypeIndex> {
    match (one, other) {
        (Some(mut all), Some(more)) => {
            all.merge(more);
            Some(all)
        }
        (all, more) => all.or(more),
    }
}

struct Scanner<'a> {
    tree: &'a Tree,
    meter: &'a dyn Count,
    vocabulary: &'a Vocabulary,
    /// One for each processor, so that none ever waits for another.
    workers: Vec<Mutex<Worker<'a>>>,
}

struct Worker<'a> {
    vocabulary: &'a Vocabulary,
    analyser: Result<Analyser<'a>, GrammarError>,
    buffer: Buffer,
    part: Part,
}

impl Visit for Scanner<'_> {
    fn files(&self, folder: &Folder, names: &[CString]) {
        self.with_worker(|worker| {
            for name in names {
                worker.file(&folder.path_of(name), || folder.open(name));
            }
        });
        self.meter.advance(names.len());
    }

    fn listed(&self, files: usize) {
        self.meter.expect(files);
    }

    fn unlisted(&self, folder: TreePath, error: &io::Error) {
        self.with_worker(|worker| worker.part.scan.miss(&folder, unlisted(error)));
    }
}

impl<'a> Scanner<'a> {
    /// `index` says whether the types that the files define are found too.
    fn new(tree: &'a Tree, vocabulary: &'a Vocabulary, index: bool, meter: &'a dyn Count) -> Self {
        let worker = || {
            Mutex::new(Worker {
                vocabulary,
                analyser: Analyser::new(vocabulary),
                buffer: Buffer::default(),
                part: Part {
                    types: index.then(TypeIndex::default),
                    ..Part::default()
                },
            })
        };
        let workers = std::iter::repeat_with(worker);
        Self {
            tree,
            meter,
            vocabulary,
            workers: workers.take(rayon::current_num_threads()).collect(),
        }
    }

    fn with_worker(&self, work: impl FnOnce(&mut Worker<'a>)) {
        let own = rayon::current_thread_index().unwrap_or_default();
        if let Some(worker) = self.workers.get(own) {
            work(&mut worker.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn files(&self, paths: &[TreePath]) {
        paths.par_iter().for_each(|path| {
            let open = || input::open(&self.tree.root().join(path));
            self.with_worker(|worker| worker.file(path, open));
            self.meter.advance(1);
        });
    }

    fn found(self) -> Part {
        let mut all = Part::default();
        for worker in self.workers {
            let worker = worker.into_inner().unwrap_or_else(PoisonError::into_inner);
            all.merge(worker.part);
        }
        all
    }

    fn finish(self, sizes: Sizes) -> Result<Scan, Defect> {
        let (tree, vocabulary) = (self.tree, self.vocabulary);
        let mut all = self.found();
        let unknown_words = std::mem::take(&mut all.unknown_words);
        let types = all.types.take();
        let mut scan = std::mem::take(&mut all.scan);
        let wrappers = all.wrappers();
        let types = with_unknown_words(tree, vocabulary, unknown_words, wrappers, &mut scan, types);
        measure(tree, types, sizes, &mut scan)?;
        scan.sort();
        Ok(scan)
    }
}

/// Looks the sizes of copies up. Files of one folder share headers, so that each
/// processor takes neighbours.
fn measure(
    tree: &Tree,
    types: Option<TypeIndex>,
    sizes: Sizes,
    scan: &mut Scan,
) -> Result<(), Defect> {
    let reader = |path: &TreePath| tree.source(path);
    let headers = Headers::new(&reader)?.with_index(types);
    scan.opportunities.sort_by(|a, b| a.path.cmp(&b.path));
    let share = scan
        .opportunities
        .len()
        .div_ceil(rayon::current_num_threads());
    scan.opportunities
        .par_chunks_mut(share.max(1))
        .for_each(|opportunities| {
            for opportunities in opportunities.chunk_by_mut(|a, b| a.path == b.path) {
                measure_in(&headers, sizes, opportunities);
            }
        });
    scan.keep_paying();
    Ok(())
}

/// The same for the copies of one file: many are of one size.
fn measure_in(headers: &Headers<'_>, sizes: Sizes, opportunities: &mut [LocatedOpportunity]) {
    let Some(first) = opportunities.first() else {
        return;
    };
    let (types, mut known) = (Types::stored(headers, &first.path), HashMap::new());
    let asked = |kind: Kind| sizes == Sizes::All || kind != Kind::SmallCopy;
    let wanted = opportunities.iter_mut();
    for found in wanted.filter(|found| asked(found.opportunity.kind)) {
        found.measure(|constant, _| {
            let known = known.entry(constant.to_owned());
            known.or_insert_with(|| types.value(constant)).clone()
        });
    }
}

/// Adds the sources that wait for the macros of the headers: one that uses a
/// macro is analysed again.
fn with_unknown_words(
    tree: &Tree,
    vocabulary: &Vocabulary,
    unknown_words: Vec<(TreePath, FileReport)>,
    wrappers: Vec<Access>,
    scan: &mut Scan,
    types: Option<TypeIndex>,
) -> Option<TypeIndex> {
    let names: HashSet<String> = wrappers.iter().map(|access| access.name.clone()).collect();
    let (again, done): (Vec<_>, Vec<_>) = unknown_words
        .into_iter()
        .partition(|(_, report)| report.unknown_words.iter().any(|word| names.contains(word)));
    for (path, report) in done {
        scan.add(&path, report);
    }
    let vocabulary = vocabulary.with(wrappers);
    let scanner = Scanner::new(tree, &vocabulary, types.is_some(), &Silent);
    let paths: Vec<TreePath> = again.into_iter().map(|(path, _)| path).collect();
    scanner.files(&paths);
    let found = scanner.found();
    scan.merge(found.scan);
    for (path, report) in found.unknown_words {
        scan.add(&path, report);
    }
    joined(types, found.types)
}

impl Worker<'_> {
    fn file(&mut self, path: &TreePath, open: impl FnOnce() -> io::Result<File>) {
        let vocabulary = self.vocabulary;
        let header = path.is_header();
        let indexed = header && self.part.types.is_some();
        let holds = |piece: &[u8]| {
            vocabulary.may_hold(piece) || indexed && may_define(piece) || has_nul(piece)
        };
        let text = open().and_then(|file| text_of(file, &mut self.buffer, holds));
        match (text, self.analyser.as_mut()) {
            (Ok(text), _) if has_nul(text) => self.part.scan.miss(path, NUL.to_owned()),
            (Ok(text), Ok(analyser)) => {
                let report = analyser.analyse_file(path, text);
                self.part.add(path, text, report);
            }
            (Err(error), _) => self.part.scan.miss(path, error.to_string()),
            (_, Err(error)) => self.part.scan.miss(path, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::{Sizes, scan};
    use crate::progress::Count;
    use crate::tree::Tree;

    #[derive(Default)]
    struct Heard {
        expected: AtomicUsize,
        done: AtomicUsize,
    }

    impl Count for Heard {
        fn expect(&self, more: usize) {
            self.expected.fetch_add(more, Relaxed);
        }

        fn advance(&self, done: usize) {
            self.done.fetch_add(done, Relaxed);
        }
    }

    /// The total was not known at all, and a terminal showed a count alone.
    #[test]
    fn what_is_expected_is_done_in_the_end() {
        let folder = tempfile::tempdir().unwrap();
        for part in ["scripts", "arch", "include", "fs/deep"] {
            fs::create_dir_all(folder.path().join(part)).unwrap();
        }
        fs::write(folder.path().join("Kconfig"), "").unwrap();
        let makefile = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\n";
        fs::write(folder.path().join("Makefile"), makefile).unwrap();
        for number in 0..20 {
            let name = format!("fs/{}{number}.c", if number < 5 { "" } else { "deep/" });
            fs::write(folder.path().join(name), "int a;\n").unwrap();
        }
        let heard = Heard::default();
        let tree = Tree::open(folder.path()).unwrap();
        assert_eq!(scan(&tree, Sizes::All, &heard).unwrap().files, 20);
        assert_eq!(heard.expected.into_inner(), 20);
        assert_eq!(heard.done.into_inner(), 20);
    }
}
