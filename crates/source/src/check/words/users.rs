//! What the tree's headers declare as pointers to user memory, and what runs where no program's
//! memory is there.

use super::CheckWords;
use crate::check::holders::Holders;

impl CheckWords {
    /// Whether a header of the tree may declare something of that name as a pointer to user
    /// memory.
    pub(crate) fn may_be_users(&self, name: &str) -> bool {
        self.users.as_ref().is_none_or(|users| users.contains(name))
    }

    /// The structures of the tree's headers that hold one.
    pub(crate) fn holders(&self) -> &Holders {
        &self.holders
    }

    /// Whether a header of the tree declares a function of that name to take one there.
    pub(crate) fn takes_users(&self, name: &str, at: usize) -> bool {
        let taken = self.takers.get(name);
        taken.is_some_and(|taken| taken.contains(&at))
    }

    /// Whether none does, of a tree all of whose headers were read.
    pub(crate) fn never_takes_users(&self, name: &str) -> bool {
        self.users.is_some() && !self.takers.contains_key(name)
    }

    /// Which argument of a call of that name is a function that runs later, where nobody's memory
    /// is the one that is there.
    pub(crate) fn defers(&self, name: &str) -> Option<usize> {
        self.memory.defers.get(name).copied()
    }

    /// Whether a file has anything run so.
    pub(crate) fn may_defer(&self, text: &[u8]) -> bool {
        self.memory.deferring.may_be_in(text)
    }

    /// Whether a call of that name gives what runs so somebody's memory.
    pub(crate) fn lends_memory(&self, name: &str) -> bool {
        self.memory.lends.contains(name)
    }
}
