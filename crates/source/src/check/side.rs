//! One side of a change: what a tree holds before or after it, what its headers call
//! their windows, which of their inline functions leave no call, what it has nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io;

use tollgate_defect::Defect;

use crate::analyse::GrammarError;
use crate::path::TreePath;
use crate::types::{Headers, included, no_tree};
use crate::vocabulary::Vocabulary;

use super::definers::{Definers, is_for_any};
use super::new_calls::AnyWord;
use super::{CheckWords, Checker, Checks, Inlines, Learned, Undefined, holds_words, pastes};

/// Headers that say what a kernel calls its windows, from its top.
pub const TEACHERS: [&str; 4] = [
    "include/linux/uaccess.h",
    "include/linux/compat.h",
    "include/linux/signal.h",
    "include/asm-generic/access_ok.h",
];

/// The header of an architecture that does, from its folder.
pub const OF_ARCHITECTURE: &str = "include/asm/uaccess.h";

/// What marks the top of a kernel tree, for headers and for code.
const KERNEL: [&str; 2] = ["include/linux/uaccess.h", "Kconfig"];

/// How often inline functions are looked for that others call.
const ROUNDS: usize = 4;

/// So many headers are one part of a work.
const TOGETHER: usize = 256;

/// A state of a tree, by whoever has it: a folder, a commit, either with a patch.
pub trait Snapshot: Sync {
    /// Why it could not be read, or the rules could not be asked.
    type Error: Error + From<GrammarError> + From<Defect> + Send + Sync + 'static;

    /// Whether it has a file of that name.
    fn has(&self, path: &TreePath) -> bool;

    /// The bytes of some files, in the order of `paths`; none of one that is not there.
    ///
    /// # Errors
    /// When one is there and cannot be read.
    fn texts(&self, paths: &[TreePath]) -> Result<Vec<Option<Vec<u8>>>, Self::Error>;

    /// The names of what a folder holds; none where there is no such folder.
    ///
    /// # Errors
    /// When it cannot be listed.
    fn names(&self, folder: &TreePath) -> Result<BTreeSet<Vec<u8>>, Self::Error>;

    /// The files below a folder, C files among them.
    fn below(&self, folder: &TreePath) -> Vec<TreePath>;

    /// What of some names it has; files that are held give none, but may put some
    /// together.
    ///
    /// # Errors
    /// When it cannot be searched at all.
    fn seen(
        &self,
        names: &BTreeSet<String>,
        held: &BTreeSet<&TreePath>,
    ) -> Result<Seen, Self::Error>;

    /// Does each part of a work, by whoever is free; what came of them, in order.
    fn spread<P: Sync, T: Send>(&self, parts: &[P], work: impl Fn(&P) -> T + Sync) -> Vec<T>;
}

/// What of some names a state of a tree has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Those that a file has as whole words.
    pub held: BTreeSet<String>,
    /// Those that a macro may put together.
    pub pasted: BTreeSet<String>,
    /// What could not be read, and may hold any of them, with the reason.
    pub unread: Vec<(TreePath, String)>,
}

impl Seen {
    /// Takes in a text; `counts` says whether what it has is had.
    pub fn look(&mut self, text: &[u8], names: &BTreeSet<String>, counts: bool) {
        if counts {
            self.held.extend(holds_words(text, names));
        }
        self.pasted.extend(pastes(text, names));
    }

    /// With what was seen elsewhere.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Self {
        self.held.extend(other.held);
        self.pasted.extend(other.pasted);
        self.unread.extend(other.unread);
        self
    }

    /// Which of the names nothing has, and why that is thought. Nothing is known where a
    /// file could not be read.
    fn undefined(&self, names: BTreeSet<String>) -> BTreeMap<String, Undefined> {
        let nowhere = |name: &String| self.unread.is_empty() && !self.held.contains(name);
        let why = |name: String| match self.pasted.contains(&name) {
            true => (name, Undefined::PerhapsPasted),
            false => (name, Undefined::Nowhere),
        };
        names.into_iter().filter(nowhere).map(why).collect()
    }
}

/// Which names nothing defines, and what could not be read to know it.
#[derive(Default)]
pub(super) struct Sought {
    pub(super) undefined: BTreeMap<String, Undefined>,
    pub(super) unread: Vec<(TreePath, String)>,
}

/// One side of a change.
#[derive(Clone, Debug)]
pub struct Side<S> {
    files: S,
    /// The folder of the kernel tree that the files lie in, in the side's paths.
    kernel: TreePath,
    /// Which of its headers may define what, where all of them were read.
    definers: Option<Definers>,
}

impl<S: Snapshot> Side<S> {
    /// The side that a state of a tree is, of which `start` was named: that is in a kernel
    /// tree, or may be anything.
    pub fn new(files: S, start: &TreePath) -> Self {
        let above = |folder: &TreePath| (*folder != TreePath::top()).then(|| folder.folder());
        let mut folders = std::iter::successors(Some(start.clone()), above);
        let top = folders.find(|folder| is_kernel(&files, folder));
        Self {
            kernel: top.unwrap_or_else(|| start.clone()),
            files,
            definers: None,
        }
    }

    /// The same where it is known of every header of the kernel's what it may define: only
    /// those are read again that may define what is called.
    #[must_use]
    pub fn with_definers(self, definers: Option<Definers>) -> Self {
        Self { definers, ..self }
    }

    /// What it holds.
    pub fn files(&self) -> &S {
        &self.files
    }

    /// The words of the rules, with what the headers of this side call windows:
    /// those that every file includes, those of the architectures, those beside some
    /// files, `headers`, and whatever any of them includes.
    ///
    /// # Errors
    /// When a header cannot be read.
    pub fn words(
        &self,
        files: &BTreeMap<TreePath, &[u8]>,
        headers: &[TreePath],
    ) -> Result<CheckWords, S::Error> {
        let vocabulary = Vocabulary::builtin()?;
        let builtin = vocabulary.words();
        let texts = self.lessons(self.teachers(files, headers)?, builtin)?;
        let headers = Headers::new(&no_tree)?;
        let learned = |words: &CheckWords| {
            let checker = Checker::new(&vocabulary, words, &headers)?;
            let mut all = Learned::default();
            texts.iter().for_each(|text| all.merge(checker.learn(text)));
            Ok::<_, GrammarError>(all)
        };
        Ok(builtin.taught(learned)?)
    }

    fn teachers(
        &self,
        files: &BTreeMap<TreePath, &[u8]>,
        headers: &[TreePath],
    ) -> Result<BTreeSet<TreePath>, S::Error> {
        let known = TEACHERS.iter();
        let known = known.map(|name| self.kernel.joined(name.as_bytes()));
        let mut teachers: BTreeSet<TreePath> = known.collect();
        teachers.extend(headers.iter().cloned());
        let arch = self.kernel.joined(b"arch");
        for name in self.files.names(&arch)? {
            teachers.insert(arch.joined(&name).joined(OF_ARCHITECTURE.as_bytes()));
        }
        let folders: BTreeSet<TreePath> = files.keys().map(|path| path.folder()).collect();
        for folder in &folders {
            let beside = self.files.names(folder)?.into_iter();
            let beside = beside.map(|name| folder.joined(&name));
            teachers.extend(beside.filter(|path| path.is_header()));
        }
        for (path, text) in files {
            teachers.extend(self.included(path, text));
        }
        Ok(teachers)
    }

    /// The texts of those of some headers that may teach anything, and of those
    /// that they include, directly or not.
    fn lessons(
        &self,
        headers: BTreeSet<TreePath>,
        words: &CheckWords,
    ) -> Result<Vec<Vec<u8>>, S::Error> {
        let (mut known, mut next) = (headers.clone(), headers);
        let mut lessons = Vec::new();
        while !next.is_empty() {
            let there = next.into_iter().filter(|path| self.files.has(path));
            let paths: Vec<TreePath> = there.collect();
            next = BTreeSet::new();
            for (path, text) in paths.iter().zip(self.files.texts(&paths)?) {
                let Some(text) = text else { continue };
                let included = self.included(path, &text).into_iter();
                next.extend(included.filter(|path| known.insert(path.clone())));
                if words.may_teach(&text) {
                    lessons.push(text);
                }
            }
        }
        Ok(lessons)
    }

    /// A path of this side as the kernel tree has it.
    pub(super) fn in_kernel(&self, path: &TreePath) -> TreePath {
        path.below(&self.kernel).unwrap_or_else(|| path.clone())
    }

    /// The file that a build calls `path`, from the kernel tree's top: the longest end of
    /// that name which the tree has (a build may run elsewhere, and call files from its
    /// own folder or from the root).
    #[must_use]
    pub fn built(&self, path: &str) -> Option<TreePath> {
        let parts: Vec<&str> = path
            .split('/')
            .filter(|part| !matches!(*part, "" | "." | ".."))
            .collect();
        let mut ends = (0..parts.len()).filter_map(|from| parts.get(from..));
        ends.find_map(|end| {
            let path = TreePath::new(end.join("/").as_bytes())?;
            let there = self.kernel.joined(path.as_bytes());
            self.files.has(&there).then_some(path)
        })
    }

    /// A file of the kernel tree, for the types in it.
    pub(super) fn header(&self, path: &TreePath) -> io::Result<Vec<u8>> {
        let path = self.kernel.joined(path.as_bytes());
        let text = match self.files.has(&path) {
            true => self.files.texts(&[path]).map_err(io::Error::other)?.pop(),
            false => None,
        };
        text.flatten().ok_or(io::ErrorKind::NotFound.into())
    }

    /// What a file includes, where it may be.
    fn included(&self, path: &TreePath, text: &[u8]) -> Vec<TreePath> {
        let names = included(text, &self.in_kernel(path)).into_iter();
        names
            .map(|name| self.kernel.joined(name.as_bytes()))
            .collect()
    }

    /// Drops the calls that are inline functions or macros of this side's headers and
    /// leave no call.
    ///
    /// # Errors
    /// When a header cannot be read.
    pub fn spare(&self, checks: &mut Checks, words: &CheckWords) -> Result<(), S::Error> {
        let none = self.without_calls(checks.perhaps_inline(), words)?;
        checks.spare(&none);
        Ok(())
    }

    /// Which of some names are inline functions or macros of this side's headers that
    /// leave no call; and others of that kind that those call.
    ///
    /// # Errors
    /// When a header cannot be read.
    pub fn without_calls(
        &self,
        mut names: BTreeSet<String>,
        words: &CheckWords,
    ) -> Result<BTreeSet<String>, S::Error> {
        if names.is_empty() || !is_kernel(&self.files, &self.kernel) {
            return Ok(BTreeSet::new());
        }
        let all = match self.definers {
            None => self.texts(&self.headers())?,
            Some(_) => Vec::new(),
        };
        let (mut inlines, mut known) = (Inlines::default(), names.clone());
        for _ in 0..ROUNDS {
            let few = match &self.definers {
                Some(definers) => self.texts(&definers.of(&names))?,
                None => Vec::new(),
            };
            inlines.merge(self.inlines(all.iter().chain(&few).collect(), &names)?);
            names = inlines.wanted(words);
            names.retain(|name| known.insert(name.clone()));
            if names.is_empty() {
                break;
            }
        }
        Ok(inlines.without_calls(words))
    }

    /// What headers define of some names.
    fn inlines(
        &self,
        headers: Vec<&Vec<Vec<u8>>>,
        names: &BTreeSet<String>,
    ) -> Result<Inlines, Defect> {
        let vocabulary = Vocabulary::shared()?;
        let wanted = AnyWord::of(names)?;
        let part = |texts: &&Vec<Vec<u8>>| {
            let mut all = Inlines::default();
            for text in texts.iter().filter(|text| wanted.is_in(text)) {
                all.merge(Inlines::of(text, names, vocabulary));
            }
            all
        };
        let parts = self.files.spread(&headers, part).into_iter();
        Ok(parts.fold(Inlines::default(), |mut all, part| {
            all.merge(part);
            all
        }))
    }

    /// The texts of some headers, in parts of a work: those that any file may include (some
    /// 60 MB of a kernel) are read once, however often they are searched.
    fn texts(&self, headers: &[TreePath]) -> Result<Vec<Vec<Vec<u8>>>, S::Error> {
        let parts: Vec<&[TreePath]> = headers.chunks(TOGETHER).collect();
        let texts = |paths: &&[TreePath]| {
            let texts = self.files.texts(paths)?.into_iter();
            Ok::<_, S::Error>(texts.flatten().collect())
        };
        self.files.spread(&parts, texts).into_iter().collect()
    }

    /// The headers that any file may include: those of include and of the
    /// architectures.
    fn headers(&self) -> Vec<TreePath> {
        let depth = self.kernel.parts().count();
        let mut found = self.files.below(&self.kernel.joined(b"arch"));
        found.extend(self.files.below(&self.kernel.joined(b"include")));
        found.retain(|path| is_for_any(path, depth));
        found
    }

    /// Which of some names nothing of this side has, and why; `held` are the files of
    /// the change. Nothing is known of a side that is no kernel tree.
    pub(super) fn undefined(
        &self,
        names: BTreeSet<String>,
        held: &BTreeSet<&TreePath>,
    ) -> Result<Sought, S::Error> {
        if names.is_empty() || !is_kernel(&self.files, &self.kernel) {
            return Ok(Sought::default());
        }
        let seen = self.files.seen(&names, held)?;
        Ok(Sought {
            undefined: seen.undefined(names),
            unread: seen.unread,
        })
    }
}

fn is_kernel(files: &impl Snapshot, folder: &TreePath) -> bool {
    let mut marks = KERNEL.iter();
    marks.all(|name| files.has(&folder.joined(name.as_bytes())))
}
