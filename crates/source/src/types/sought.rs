//! A name that is looked for in many files, and what says of most of them that they do
//! not have it.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::FixedState;

/// A few bits that say of most hashes that they are none of some: a name is looked for in
/// thousands of headers, and stands in few.
#[derive(Debug, Default)]
pub(super) struct Marks([u64; 8]);

impl Marks {
    pub(super) fn of(hashes: impl Iterator<Item = u64>) -> Self {
        let mut marks = Self::default();
        for hash in hashes {
            let (at, bit) = Self::place(hash);
            marks.0.get_mut(at).into_iter().for_each(|own| *own |= bit);
        }
        marks
    }

    pub(super) fn may_hold(&self, hash: u64) -> bool {
        let (at, bit) = Self::place(hash);
        self.0.get(at).is_some_and(|own| own & bit != 0)
    }

    fn place(hash: u64) -> (usize, u64) {
        ((hash >> 6) as usize % 8, 1 << (hash % 64))
    }
}

/// A name that is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sought<'n> {
    /// `struct`, `union` or `enum`; empty for what is no tag.
    pub(super) tag: &'n str,
    pub(super) word: &'n str,
    pub(super) hash: u64,
}

impl<'n> Sought<'n> {
    /// `struct name`, or a name that is no tag.
    pub(super) fn of(name: &'n str) -> Self {
        let (tag, word) = name.rsplit_once(' ').unwrap_or(("", name));
        let hash = hash(tag.as_bytes(), word.as_bytes());
        Self { tag, word, hash }
    }
}

/// What a name is hashed to, in every file alike.
pub(super) fn hash(tag: &[u8], word: &[u8]) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(tag);
    hasher.write(word);
    hasher.finish()
}
