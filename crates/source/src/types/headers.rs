//! The files of a tree as far as types need them, each read once, and where
//! `#include` finds them.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use foldhash::fast::RandomState;
use memchr::memmem;

use super::file::{Entry, File, Include, Included};
use super::index::TypeIndex;
use super::layout::Type;
use super::machine::{Facts, Machine};
use super::makefile;
use super::words::spelled;
use crate::path::TreePath;
use tollgate_defect::Defect;

/// Gives the bytes of a file of the tree, by its path, or the system's own words.
type Reader<'r> = dyn Fn(&TreePath) -> io::Result<Vec<u8>> + Sync + 'r;

/// The reader of what is in no tree.
///
/// # Errors
/// Always: there is no file.
pub fn no_tree(_: &TreePath) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::NotFound.into())
}

/// The headers of a tree, read when a type needs them. All threads share one.
pub struct Headers<'r> {
    reader: &'r Reader<'r>,
    pub(super) facts: Facts,
    pub(super) index: Option<TypeIndex>,
    files: Files,
    unread: Mutex<Option<String>>,
    /// By machine and the name of an `#include`.
    shared: RwLock<HashMap<usize, Named, RandomState>>,
    /// By folder, what its Makefile has files compiled with.
    named: RwLock<HashMap<TreePath, Arc<[TreePath]>, RandomState>>,
    found: RwLock<Answers>,
    known: RwLock<HashMap<Place, Type, RandomState>>,
}

/// The files that were read, by their paths; none of one that the tree does not have.
#[derive(Default)]
struct Files(RwLock<HashMap<TreePath, Option<Arc<File>>, RandomState>>);

impl Drop for Files {
    /// Headers may include each other, and each holds what it includes: none of a ring
    /// would ever go by itself. Nor does a long chain of them go one within the other.
    fn drop(&mut self) {
        let files = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for file in files.values().flatten() {
            let included = file.included.lock();
            included.unwrap_or_else(PoisonError::into_inner).clear();
        }
    }
}

/// Files by the names that include them; none of one that the tree does not have.
type Named = HashMap<Box<str>, Option<Arc<File>>, RandomState>;

/// A name that was looked for through what a file includes: the file, the machine,
/// what it may be, whether any macro counts and the file that is left out.
pub(super) type Asked = (usize, usize, (usize, bool, Option<usize>), Box<str>);

/// What came of it.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// The file that defines it, and its definition there.
    pub(super) definer: Option<(Arc<File>, Entry)>,
    /// Whether definitions were passed over that are not compiled.
    pub(super) absent: bool,
}

/// What was found of names. Files stand in it by their addresses: it holds as long as they do.
#[derive(Debug, Default)]
pub(super) struct Answers(HashMap<Asked, Answer, RandomState>);

impl Answers {
    pub(super) fn get(&self, asked: &Asked) -> Option<Answer> {
        self.0.get(asked).cloned()
    }

    pub(super) fn keep(&mut self, asked: Asked, answer: Answer) {
        self.0.insert(asked, answer);
    }
}

/// Where a type is defined: the file, the place in it, the name and the machine.
pub(super) type Place = (usize, usize, String);

impl std::fmt::Debug for Headers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Headers").finish_non_exhaustive()
    }
}

impl<'r> Headers<'r> {
    /// The headers that `reader` gives.
    ///
    /// # Errors
    /// When a data file does not have its form; a test keeps that from happening.
    pub fn new(reader: &'r Reader<'r>) -> Result<Self, Defect> {
        Ok(Self {
            reader,
            facts: Facts::builtin()?,
            index: None,
            files: Files::default(),
            unread: Mutex::default(),
            shared: RwLock::default(),
            named: RwLock::default(),
            found: RwLock::default(),
            known: RwLock::default(),
        })
    }

    /// The same, with an index of all that the tree defines: what only one file
    /// of it defines is found without a look at what includes what.
    #[must_use]
    pub fn with_index(self, index: Option<TypeIndex>) -> Self {
        Self { index, ..self }
    }

    /// The machines that a file of the tree is compiled for: those of its folder
    /// in `arch/`, or else one for each way to lay types out that is in wide use.
    pub(super) fn machines(&self, path: &TreePath) -> Vec<&Machine> {
        let mut parts = path.parts();
        let arch = (parts.next() == Some(b"arch"))
            .then(|| parts.next())
            .flatten();
        let of = |machine: &&Machine| arch.is_some_and(|arch| machine.arch.as_bytes() == arch);
        let own: Vec<&Machine> = self.kernels().filter(of).collect();
        match own.is_empty() {
            true => self.kernels().filter(|machine| machine.reference).collect(),
            false => own,
        }
    }

    fn kernels(&self) -> impl Iterator<Item = &Machine> {
        self.facts
            .machines
            .iter()
            .filter(|machine| !machine.programs)
    }

    /// The machines that may define a name which the others do not: those of the
    /// folders of `arch/` in which an index has it; any if it is only `absent`, in a branch
    /// of an `#if` that those do not compile.
    pub(super) fn definers(&self, name: &str, absent: bool) -> Vec<&Machine> {
        let index = self.index.as_ref().map(|index| index.files(name));
        let has = |machine: &Machine, path: &TreePath| {
            let mut parts = path.parts();
            match parts.next() == Some(b"arch") {
                true => parts.next() == Some(machine.arch.as_bytes()),
                false => absent,
            }
        };
        let defines = |machine: &&Machine| {
            let files = index.as_ref();
            files.is_none_or(|files| files.iter().any(|path| has(machine, path)))
        };
        self.kernels().filter(defines).collect()
    }

    /// The machine of that name.
    #[must_use]
    pub fn machine(&self, name: &str) -> Option<&Machine> {
        self.facts.machines.iter().find(|m| m.name == name)
    }

    /// What was found of a name before.
    pub(super) fn found(&self, asked: &Asked) -> Option<Answer> {
        let found = self.found.read().unwrap_or_else(PoisonError::into_inner);
        found.get(asked)
    }

    /// Keeps what every question finds the same way.
    pub(super) fn keep_found(&self, asked: Asked, answer: Answer) {
        let mut found = self.found.write().unwrap_or_else(PoisonError::into_inner);
        found.keep(asked, answer);
    }

    /// A type that was read before.
    pub(super) fn known(&self, place: &Place) -> Option<Type> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(place).cloned()
    }

    /// Keeps a type that every file sees the same way.
    pub(super) fn keep(&self, place: Place, of: &Type) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(place, of.clone());
    }

    /// A file of the tree.
    pub(super) fn file(&self, path: &TreePath) -> Option<Arc<File>> {
        let known = self.files.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(path) {
            return known.clone();
        }
        drop(known);
        let text = self.read(path);
        let file = text.map(|text| Arc::new(File::new(path.clone(), text)));
        let mut files = self.files.0.write().unwrap_or_else(PoisonError::into_inner);
        files.entry(path.clone()).or_insert(file).clone()
    }

    /// The bytes of a file of the tree; why it could not be read, though it is there, is
    /// kept.
    fn read(&self, path: &TreePath) -> Option<Vec<u8>> {
        match (self.reader)(path) {
            Ok(text) => Some(text),
            Err(error) => {
                let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
                if !absent.contains(&error.kind()) {
                    let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
                    unread.get_or_insert_with(|| format!("{path} could not be read: {error}"));
                }
                None
            }
        }
    }

    /// The first file that could not be read, with why. It may define what is missing.
    pub(super) fn unread(&self) -> Option<String> {
        let unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        unread.clone()
    }

    /// The files that a file includes on a machine, as far as they are in the tree;
    /// `may` says which branches of an `#if` may be compiled.
    pub(super) fn resolved(
        &self,
        file: &File,
        machine: &Machine,
        may: &dyn Fn(Option<usize>) -> bool,
    ) -> Included {
        let mut seen: HashSet<_, RandomState> = HashSet::default();
        let includes = file.includes.iter().filter(|include| {
            let new = (include.name.as_str(), include.quoted);
            may(include.branch) && seen.insert(new)
        });
        includes
            .filter_map(|include| self.include(&file.path, include, machine))
            .collect()
    }

    /// The file of a name in the folders that all files are compiled with.
    fn shared(&self, name: &str, machine: &Machine) -> Option<Arc<File>> {
        let known = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&machine.id).and_then(|all| all.get(name)) {
            return known.clone();
        }
        drop(known);
        let found = searched(name, machine).find_map(|path| self.file(&path));
        let mut known = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        let own = known.entry(machine.id).or_default();
        own.insert(name.into(), found.clone());
        found
    }

    fn include(&self, from: &TreePath, include: &Include, machine: &Machine) -> Option<Arc<File>> {
        let name = include.name.as_bytes();
        let folder = from.folder();
        let beside = include.quoted.then(|| folder.joined(name));
        let beside = beside.and_then(|path| self.file(&path));
        let found = beside.or_else(|| self.shared(&include.name, machine));
        // Makefiles name further folders, mostly some above the file.
        found.or_else(|| {
            let above = std::iter::successors(Some(folder), |folder| Some(folder.folder()));
            let above = above.take_while(|folder| folder.parts().count() > 1);
            let near = |folder: &TreePath| {
                let inner = [b"".as_slice(), b"include", b"inc"];
                inner.map(|inner| folder.joined(inner).joined(name))
            };
            let mut beside = above.clone().flat_map(|folder| near(&folder));
            let found = beside.find_map(|path| self.file(&path));
            found.or_else(|| {
                let named = above.flat_map(|folder| self.named(&folder).to_vec());
                named
                    .map(|folder| folder.joined(name))
                    .find_map(|path| self.file(&path))
            })
        })
    }

    /// The folders that a folder's Makefile names.
    fn named(&self, folder: &TreePath) -> Arc<[TreePath]> {
        let known = self.named.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(folder) {
            return Arc::clone(known);
        }
        drop(known);
        let mut names = makefile::NAMES.into_iter();
        let text = names.find_map(|name| self.read(&folder.joined(name)));
        let found = text.map(|text| makefile::included(&text, folder));
        let found: Arc<[TreePath]> = found.into_iter().flatten().collect();
        let mut known = self.named.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(folder.clone(), Arc::clone(&found));
        found
    }
}

/// Where the files that a file includes may be in the tree, as far as all
/// architectures share them; `path` is its own. A search of the text alone.
#[must_use]
pub fn included(text: &[u8], path: &TreePath) -> Vec<TreePath> {
    let places = memmem::find_iter(text, b"#include");
    let named = places.filter_map(|at| {
        let rest = text.get(at + b"#include".len()..)?.trim_ascii_start();
        spelled(rest.get(..LONGEST).unwrap_or(rest))
    });
    let folder = path.folder();
    let shared = |(name, quoted): (String, bool)| {
        let paths: Vec<TreePath> = match quoted {
            true => vec![folder.joined(name.as_bytes())],
            false if name.starts_with("asm/") => Vec::new(),
            false => SHARED
                .map(|folder| TreePath::within(&format!("{folder}/{name}")))
                .to_vec(),
        };
        paths
    };
    named.flat_map(shared).collect()
}

/// Longer than any path of a header.
const LONGEST: usize = 256;

/// Folders of the headers that all architectures share.
const SHARED: [&str; 2] = ["include", "include/uapi"];

/// The folders that every file of the kernel is compiled with, and those that
/// programs get. Of a header in `asm/` that an architecture lacks it has the
/// generic one.
fn searched(name: &str, machine: &Machine) -> impl Iterator<Item = TreePath> {
    let own = format!("arch/{}/include", machine.arch);
    let folders = [&own, SHARED[0], &format!("{own}/uapi"), SHARED[1]];
    let mut paths = folders.map(|folder| format!("{folder}/{name}")).to_vec();
    if let Some(name) = name.strip_prefix("asm/") {
        paths.extend(SHARED.map(|folder| format!("{folder}/asm-generic/{name}")));
    }
    let kernel = !machine.programs;
    paths.retain(|path| kernel || path.contains("/uapi/"));
    // No architecture has any of these.
    if name.starts_with("linux/") {
        paths.retain(|path| !path.starts_with("arch/"));
    }
    paths.into_iter().map(|path| TreePath::within(&path))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Headers, TreePath};
    use crate::Types;

    /// Asks for a type through headers, and says how many that were read are still held
    /// once the headers are gone.
    fn left(reader: &(dyn Fn(&TreePath) -> std::io::Result<Vec<u8>> + Sync)) -> (usize, usize) {
        let headers = Headers::new(reader).unwrap();
        let types = Types::stored(&headers, &TreePath::within("fs/a.c"));
        types.layout("struct nowhere").unwrap_err();
        drop(types);
        let files = headers.files.0.read().unwrap();
        let held: Vec<_> = files.values().flatten().map(Arc::downgrade).collect();
        drop(files);
        drop(headers);
        let alive = held.iter().filter(|file| file.strong_count() != 0);
        (held.len(), alive.count())
    }

    #[test]
    fn headers_that_include_each_other_are_let_go() {
        let reader = |path: &TreePath| match path.to_string().as_str() {
            "fs/a.c" => Ok(b"#include \"b.h\"\n".to_vec()),
            "fs/b.h" => Ok(b"#include \"c.h\"\n#include \"b.h\"\n".to_vec()),
            "fs/c.h" => Ok(b"#include \"b.h\"\n".to_vec()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        };
        assert_eq!(left(&reader), (3, 0));
    }
}
