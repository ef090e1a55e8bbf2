//! One side of a change: the files of a folder or of a commit, with what a patch
//! makes of some of them, and what their headers call their windows.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use tollgate_defect::answer;

use rayon::prelude::*;
use tollgate_lab::git::{Repository, Revision, Words};
use tollgate_lab::input;
use tollgate_lab::patch::{Folder, Ground as _};
use tollgate_lab::sources::sources_below;
use tollgate_source::check::{
    CheckWords, Checker, Checks, Inlines, Learned, Undefined, holds_words, pastes,
};
use tollgate_source::{GrammarError, Headers, TreePath, Vocabulary, no_tree};

use super::input::TEACHERS;

/// How often inline functions are looked for that others call.
const ROUNDS: usize = 4;

/// What marks the top of a kernel tree, for headers and for code.
const KERNEL: [&str; 2] = ["include/linux/uaccess.h", "Kconfig"];

/// Endings of C files.
pub(crate) const C: [&str; 2] = [".c", ".h"];

/// Where the files of a side are, but for those that a patch changes.
pub(crate) enum Base<'a> {
    /// Below a folder; paths are relative to it.
    Folder(&'a Path),
    /// In a commit; paths are relative to the repository's top.
    Commit(&'a Repository<'a>, &'a Revision),
}

/// One side of a change.
pub(crate) struct Side<'a> {
    base: Base<'a>,
    /// What a patch makes of files; none of one that it deletes.
    patched: BTreeMap<TreePath, Option<Vec<u8>>>,
    /// The folder of the kernel tree that the files lie in, in the side's paths.
    kernel: TreePath,
}

impl<'a> Side<'a> {
    pub(crate) fn new(base: Base<'a>, patched: BTreeMap<TreePath, Option<Vec<u8>>>) -> Self {
        let start = match &base {
            Base::Folder(_) => TreePath::top(),
            Base::Commit(repository, _) => repository.prefix().clone(),
        };
        let mut side = Self {
            base,
            patched,
            kernel: start.clone(),
        };
        let above = |folder: &TreePath| (*folder != TreePath::top()).then(|| folder.folder());
        let mut folders = std::iter::successors(Some(start.clone()), above);
        let top = folders.find(|folder| side.is_kernel(folder));
        side.kernel = top.unwrap_or(start);
        side
    }

    fn is_kernel(&self, folder: &TreePath) -> bool {
        let mut marks = KERNEL.iter();
        marks.all(|name| self.has(&folder.joined(name.as_bytes())))
    }

    fn has(&self, path: &TreePath) -> bool {
        if let Some(patched) = self.patched.get(path) {
            return patched.is_some();
        }
        match &self.base {
            Base::Folder(root) => root.join(path).is_file(),
            Base::Commit(_, revision) => {
                revision.files.get(path).is_some_and(|blob| blob.is_file())
            }
        }
    }

    /// The bytes of some files; none of one that is not there.
    fn texts(&self, paths: &[TreePath]) -> anyhow::Result<Vec<Option<Vec<u8>>>> {
        let mut found = match &self.base {
            Base::Folder(root) => {
                let files = Folder::new(root).read(paths)?.into_iter();
                files.map(|file| file.map(|file| file.bytes)).collect()
            }
            Base::Commit(repository, revision) => repository.texts(revision, paths)?,
        };
        for (path, text) in paths.iter().zip(&mut found) {
            if let Some(patched) = self.patched.get(path) {
                text.clone_from(patched);
            }
        }
        Ok(found)
    }

    /// The words of the rules, with what the headers of this side call windows:
    /// those that every file includes, those of the architectures, those beside some
    /// files, `headers`, and whatever any of them includes.
    pub(crate) fn words(
        &self,
        files: &BTreeMap<TreePath, &[u8]>,
        headers: &[TreePath],
    ) -> anyhow::Result<CheckWords> {
        let known = TEACHERS.iter();
        let known = known.map(|name| self.kernel.joined(name.as_bytes()));
        let mut teachers: BTreeSet<TreePath> = known.collect();
        teachers.extend(headers.iter().cloned());
        teachers.extend(self.architectures()?);
        let folders: BTreeSet<TreePath> = files.keys().map(|path| path.folder()).collect();
        for folder in &folders {
            teachers.extend(self.headers_in(folder)?);
        }
        for (path, text) in files {
            teachers.extend(self.included(path, text));
        }
        let vocabulary = Vocabulary::builtin()?;
        let builtin = vocabulary.words();
        let texts = self.lessons(teachers, builtin)?;
        let headers = Headers::new(&no_tree)?;
        Ok(
            builtin
                .taught(|words| learned(&Checker::new(&vocabulary, words, &headers)?, &texts))?,
        )
    }

    /// The texts of those of some headers that may teach anything, and of those
    /// that they include, directly or not.
    fn lessons(
        &self,
        headers: BTreeSet<TreePath>,
        words: &CheckWords,
    ) -> anyhow::Result<Vec<Vec<u8>>> {
        let (mut known, mut next) = (headers.clone(), headers);
        let mut lessons = Vec::new();
        while !next.is_empty() {
            let paths: Vec<TreePath> = next.into_iter().filter(|path| self.has(path)).collect();
            next = BTreeSet::new();
            for (path, text) in paths.iter().zip(self.texts(&paths)?) {
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

    fn architectures(&self) -> io::Result<Vec<TreePath>> {
        let folder = self.kernel.joined(b"arch");
        let names: BTreeSet<Vec<u8>> = match &self.base {
            Base::Folder(root) => entries(&root.join(&folder))?.into_iter().collect(),
            Base::Commit(_, revision) => {
                let deep = folder.parts().count();
                let parts = below(revision, &folder).filter_map(|path| path.parts().nth(deep));
                parts.map(<[u8]>::to_vec).collect()
            }
        };
        let header = |name: &Vec<u8>| folder.joined(name).joined(b"include/asm/uaccess.h");
        Ok(names.iter().map(header).collect())
    }

    fn headers_in(&self, folder: &TreePath) -> io::Result<Vec<TreePath>> {
        let mut found: Vec<TreePath> = match &self.base {
            Base::Folder(root) => {
                let names = entries(&root.join(folder))?.into_iter();
                names.map(|name| folder.joined(&name)).collect()
            }
            Base::Commit(_, revision) => below(revision, folder).cloned().collect(),
        };
        found.extend(self.patched.keys().cloned());
        found.retain(|path| path.is_header() && path.folder() == *folder);
        Ok(found)
    }

    /// A path of this side as the kernel tree has it.
    pub(crate) fn in_kernel(&self, path: &TreePath) -> TreePath {
        let own = answer::below(path.as_path(), self.kernel.as_path());
        let own = own.and_then(|own| TreePath::new(own.as_os_str().as_bytes()));
        own.unwrap_or_else(|| path.clone())
    }

    /// A file of the kernel tree, for the types in it.
    pub(crate) fn header(&self, path: &TreePath) -> io::Result<Vec<u8>> {
        let path = self.kernel.joined(path.as_bytes());
        let text = match self.has(&path) {
            true => self.texts(&[path]).map_err(io::Error::other)?.pop(),
            false => None,
        };
        text.flatten().ok_or(io::ErrorKind::NotFound.into())
    }

    /// What a file includes, where it may be.
    fn included(&self, path: &TreePath, text: &[u8]) -> Vec<TreePath> {
        let names = tollgate_source::included(text, &self.in_kernel(path)).into_iter();
        names
            .map(|name| self.kernel.joined(name.as_bytes()))
            .collect()
    }

    /// Drops the calls that are inline functions or macros of this side's headers and
    /// leave no call; with the headers that could not be read.
    pub(crate) fn spare(&self, checks: &mut Checks, words: &CheckWords) -> anyhow::Result<()> {
        let mut names = checks.perhaps_inline();
        if names.is_empty() || !self.is_kernel(&self.kernel) {
            return Ok(());
        }
        let headers = self.headers();
        let (mut inlines, mut known) = (Inlines::default(), names.clone());
        for _ in 0..ROUNDS {
            inlines.merge(self.inlines(&headers, &names)?);
            names = inlines.wanted(words);
            names.retain(|name| known.insert(name.clone()));
            if names.is_empty() {
                break;
            }
        }
        checks.spare(&inlines, words);
        Ok(())
    }

    /// What headers define of some names.
    fn inlines(&self, headers: &[TreePath], names: &BTreeSet<String>) -> anyhow::Result<Inlines> {
        let vocabulary = Vocabulary::shared()?;
        let part = |paths: &[TreePath]| -> anyhow::Result<Inlines> {
            let mut all = Inlines::default();
            for text in self.texts(paths)?.into_iter().flatten() {
                if !holds_words(&text, names).is_empty() {
                    all.merge(Inlines::of(&text, names, vocabulary));
                }
            }
            Ok(all)
        };
        let parts = headers.par_chunks(256).map(part);
        let parts: Vec<Inlines> = parts.collect::<anyhow::Result<_>>()?;
        let mut all = Inlines::default();
        parts.into_iter().for_each(|part| all.merge(part));
        Ok(all)
    }

    /// The headers that any file may include: those of include and of the
    /// architectures.
    fn headers(&self) -> Vec<TreePath> {
        let depth = self.kernel.parts().count();
        let shared = |path: &TreePath| {
            let mut parts = path.parts().skip(depth);
            match parts.next() {
                Some(b"include") => true,
                Some(b"arch") => parts.nth(1) == Some(b"include"),
                _ => false,
            }
        };
        let mut found: Vec<TreePath> = match &self.base {
            Base::Folder(root) => sources_below(root, &self.kernel).paths,
            Base::Commit(_, revision) => below(revision, &self.kernel).cloned().collect(),
        };
        found.retain(|path| path.is_header() && shared(path));
        found
    }

    /// Which of some names nothing of this side has, and why; `held` are the files of
    /// the change. Nothing is known of a side that is no kernel tree, and of none where
    /// a file could not be read.
    pub(crate) fn undefined(
        &self,
        names: BTreeSet<String>,
        held: &BTreeSet<&TreePath>,
    ) -> anyhow::Result<Sought> {
        let mut names = names;
        if names.is_empty() || !self.is_kernel(&self.kernel) {
            return Ok(Sought::default());
        }
        let seen = match &self.base {
            Base::Folder(root) => self.seen_below(root, &names, held),
            Base::Commit(repository, revision) => {
                self.seen_in(repository, revision, &names, held)?
            }
        };
        names.retain(|name| !seen.held.contains(name) && seen.unread.is_empty());
        let why = |name: &String| match seen.pasted.contains(name) {
            true => Undefined::PerhapsPasted,
            false => Undefined::Nowhere,
        };
        let known = names.iter().map(|name| (name.clone(), why(name)));
        Ok(Sought {
            undefined: known.collect(),
            unread: seen.unread,
        })
    }

    /// Whether a file of the base is as it was, and none of those that are held.
    fn counts(&self, path: &TreePath, held: &BTreeSet<&TreePath>) -> bool {
        !held.contains(path) && !self.patched.contains_key(path)
    }

    fn seen_below(
        &self,
        root: &Path,
        names: &BTreeSet<String>,
        held: &BTreeSet<&TreePath>,
    ) -> Seen {
        let all_files = sources_below(root, &TreePath::top());
        let look = |path: &TreePath| {
            let mut seen = Seen::default();
            match input::source(&root.join(path)) {
                Ok(text) => seen.look(&text, names, self.counts(path, held)),
                // It went meanwhile, and defines nothing.
                Err(error) if input::is_absent(&error) => {}
                Err(error) => seen.unread.push((path.clone(), error.to_string())),
            }
            seen
        };
        let seen = all_files.paths.par_iter().map(look);
        let mut seen = seen.reduce(Seen::default, Seen::merged);
        seen.unread.extend(all_files.unlisted);
        seen.merged(self.seen_in_patched(names, held))
    }

    fn seen_in(
        &self,
        repository: &Repository<'_>,
        revision: &Revision,
        names: &BTreeSet<String>,
        held: &BTreeSet<&TreePath>,
    ) -> anyhow::Result<Seen> {
        let mut seen = self.seen_in_patched(names, held);
        let what = Words {
            words: names,
            endings: &C,
        };
        let counts = |path: &TreePath| self.counts(path, held);
        seen.held
            .extend(repository.holds(&revision.commit, what, &counts)?);
        if !names.is_subset(&seen.held) {
            let lines = repository.lines_with(&revision.commit, "##", &C)?;
            seen.pasted.extend(pastes(&lines, names));
        }
        Ok(seen)
    }

    fn seen_in_patched(&self, names: &BTreeSet<String>, held: &BTreeSet<&TreePath>) -> Seen {
        let mut seen = Seen::default();
        for (path, text) in &self.patched {
            if let Some(text) = text {
                seen.look(text, names, !held.contains(path));
            }
        }
        seen
    }
}

/// What of some names a side has.
#[derive(Default)]
struct Seen {
    /// Those that a file has as whole words.
    held: BTreeSet<String>,
    /// Those that a macro may put together.
    pasted: BTreeSet<String>,
    /// What could not be read, and may hold any of them.
    unread: Vec<(TreePath, String)>,
}

/// Which names nothing defines, and what could not be read to know it.
#[derive(Default)]
pub(crate) struct Sought {
    pub(crate) undefined: BTreeMap<String, Undefined>,
    pub(crate) unread: Vec<(TreePath, String)>,
}

impl Seen {
    fn look(&mut self, text: &[u8], names: &BTreeSet<String>, counts: bool) {
        if counts {
            self.held.extend(holds_words(text, names));
        }
        self.pasted.extend(pastes(text, names));
    }

    fn merged(mut self, other: Self) -> Self {
        self.held.extend(other.held);
        self.pasted.extend(other.pasted);
        self.unread.extend(other.unread);
        self
    }
}

/// The files of a commit below a folder.
fn below<'r>(revision: &'r Revision, folder: &TreePath) -> impl Iterator<Item = &'r TreePath> {
    let begins = folder.as_bytes().to_vec();
    let from = revision.files.range(folder.clone()..).map(|(path, _)| path);
    // `fs-x/a` is between `fs` and `fs/a`.
    let alike = from.take_while({
        let begins = begins.clone();
        move |path| path.as_bytes().starts_with(&begins)
    });
    alike.filter(move |path| begins.is_empty() || path.as_bytes().get(begins.len()) == Some(&b'/'))
}

fn entries(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let names = input::names_in(folder)?.into_iter();
    Ok(names.map(OsString::into_vec).collect())
}

/// What headers teach to who knows some words already.
fn learned(checker: &Checker<'_>, texts: &[Vec<u8>]) -> Result<Learned, GrammarError> {
    let mut all = Learned::default();
    for text in texts {
        all.merge(checker.learn(text));
    }
    Ok(all)
}
