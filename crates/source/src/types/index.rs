//! Which files of a tree define a type: found while a scan reads them.

use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::sync::LazyLock;

use foldhash::fast::{FixedState, RandomState};
use memchr::memmem::Finder;

use super::words::{is_loud, name_at, name_before};
use crate::path::TreePath;

/// The types that the files of a tree define, by `struct name` or by the name of
/// a typedef.
#[derive(Clone, Debug, Default)]
pub struct TypeIndex {
    own: Part,
    /// What other threads found; joining them would cost more than asking each.
    others: Vec<Part>,
}

#[derive(Clone, Debug, Default)]
struct Part {
    paths: Vec<TreePath>,
    /// Which of the paths, and the one of the same name before it.
    found: Vec<(usize, Option<usize>)>,
    /// By what the name is hashed to: which of `found` is its last. Of two names that
    /// are hashed alike each has the other's files too, where a look finds nothing.
    last: HashMap<u64, usize, RandomState>,
}

/// A type as its definition names it.
#[derive(Clone, Copy, Hash)]
struct Named<'t> {
    /// `struct` or `union`; empty for a typedef.
    tag: &'t [u8],
    name: &'t [u8],
}

impl<'t> Named<'t> {
    /// `struct name`, or the name of a typedef.
    fn of(written: &'t str) -> Self {
        let (tag, name) = written.split_once(' ').unwrap_or(("", written));
        Self {
            tag: tag.as_bytes(),
            name: name.as_bytes(),
        }
    }

    fn written(self) -> String {
        let [tag, name] = [self.tag, self.name].map(String::from_utf8_lossy);
        format!("{tag} {name}").trim_start().to_owned()
    }

    fn hash(self) -> u64 {
        FixedState::default().hash_one(self)
    }
}

impl TypeIndex {
    /// Adds what a file defines, as [`definitions`] has it.
    pub fn add(&mut self, path: &TreePath, text: &[u8]) {
        let own = &mut self.own;
        let (file, before) = (own.paths.len(), own.found.len());
        each(text, |named| {
            let before = own.last.insert(named.hash(), own.found.len());
            own.found.push((file, before));
        });
        own.paths
            .extend((own.found.len() > before).then(|| path.clone()));
    }

    /// Takes over the definitions of another part of the tree.
    pub fn merge(&mut self, other: Self) {
        self.others.push(other.own);
        self.others.extend(other.others);
    }

    /// The same in one part, for what was found in many: one question asks each of them.
    #[must_use]
    pub fn joined(mut self) -> Self {
        let others = std::mem::take(&mut self.others);
        others.into_iter().for_each(|other| self.own.join(other));
        self
    }

    /// The files that define a type.
    pub(super) fn files(&self, name: &str) -> Vec<&TreePath> {
        let parts = self.others.iter().chain([&self.own]);
        parts.flat_map(|part| part.of(name)).collect()
    }
}

impl Part {
    fn join(&mut self, other: Self) {
        let (paths, before) = (self.paths.len(), self.found.len());
        self.paths.extend(other.paths);
        let moved = other.found.into_iter();
        let moved = moved.map(|(path, last)| (path + paths, last.map(|last| last + before)));
        self.found.extend(moved);
        for (name, last) in other.last {
            let last = last + before;
            if let Some(own) = self.last.insert(name, last) {
                self.put_before(last, own);
            }
        }
    }

    /// Has the first of a name's files come behind one that was found earlier.
    fn put_before(&mut self, mut at: usize, own: usize) {
        while let Some(found) = self.found.get_mut(at) {
            let Some(before) = found.1 else {
                found.1 = Some(own);
                return;
            };
            at = before;
        }
    }

    fn of(&self, name: &str) -> impl Iterator<Item = &TreePath> {
        let at = |index: usize| self.found.get(index);
        let last = self.last.get(&Named::of(name).hash());
        let last = last.copied().and_then(at);
        let all = std::iter::successors(last, move |found| found.1.and_then(at));
        all.filter_map(|found| self.paths.get(found.0))
    }
}

static MARGINS: LazyLock<[Finder<'static>; 3]> =
    LazyLock::new(|| ["\ntypedef", "\nstruct", "\nunion"].map(Finder::new));

/// Whether a file that holds this piece may define a type that is worth to be
/// found: headers full of the addresses of registers hold no brace.
#[must_use]
pub fn may_define(piece: &[u8]) -> bool {
    memchr::memchr(b'{', piece).is_some()
}

/// The types that a file defines at its margin, but for enums: most stand beside
/// what uses them.
#[must_use]
pub fn definitions(text: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    each(text, |named| found.push(named.written()));
    found
}

/// Shows each of them: a search that is quick to say none.
fn each<'t>(text: &'t [u8], mut see: impl FnMut(Named<'t>)) {
    // Only a typedef defines a type without a brace.
    let margins = MARGINS.get(..if may_define(text) { 3 } else { 1 });
    let margins = margins.into_iter().flatten();
    let places = margins.flat_map(|margin| margin.find_iter(text));
    let lines = places.filter_map(|at| text.get(at + 1..));
    [text]
        .into_iter()
        .chain(lines)
        .for_each(|line| defined(line, &mut see));
}

/// Shows what the statement at the front defines.
fn defined<'t>(text: &'t [u8], see: &mut impl FnMut(Named<'t>)) {
    let typedef = text.strip_prefix(b"typedef").map(<[u8]>::trim_ascii_start);
    tag(typedef.unwrap_or(text)).into_iter().for_each(&mut *see);
    if let Some(rest) = typedef {
        renamed(rest, see);
    }
}

/// `struct name {`, `struct __packed name {`
fn tag(text: &[u8]) -> Option<Named<'_>> {
    let words = [b"struct", b"union".as_slice()];
    let tag = words.into_iter().find(|word| text.starts_with(word))?;
    let mut rest = text.get(tag.len()..)?;
    loop {
        rest = rest.trim_ascii_start();
        let name = name_at(rest, 0);
        rest = rest.get(name.len()..)?.trim_ascii_start();
        match rest.first()? {
            b'{' if name.is_empty() => return None,
            b'{' => return Some(Named { tag, name }),
            b'(' if is_loud(name) => rest = rest.get(memchr::memchr(b')', rest)? + 1..)?,
            // `__attribute__((packed))`
            b')' => rest = rest.get(1..)?,
            _ if is_loud(name) => {}
            _ => return None,
        }
    }
}

/// `… name;` and `struct … { … } name, *other;`
fn renamed<'t>(text: &'t [u8], see: &mut impl FnMut(Named<'t>)) {
    let start = match memchr::memchr2(b'{', b';', text) {
        Some(open) if text.get(open) == Some(&b'{') => closed(text, open),
        _ => 0,
    };
    let rest = text.get(start..).unwrap_or_default();
    let end = memchr::memchr(b';', rest).unwrap_or_default();
    let rest = rest.get(..end).unwrap_or_default();
    let called = rest.contains(&b'(');
    for declarator in rest.split(|byte| *byte == b',' && !called) {
        let name = name_before(declarator.trim_ascii_end());
        if !name.is_empty() {
            see(Named { tag: b"", name });
        }
    }
}

/// The place behind the brace that closes the one at `open`; the end if none does.
fn closed(text: &[u8], open: usize) -> usize {
    let inside = text.get(open..).unwrap_or_default();
    let mut depth = 0usize;
    for at in memchr::memchr2_iter(b'{', b'}', inside) {
        match inside.get(at) {
            Some(b'{') => depth += 1,
            _ if depth == 1 => return open + at + 1,
            _ => depth -= 1,
        }
    }
    text.len()
}
