//! The calls that take a lock or let it go: those of the data, and inline functions of a tree's
//! headers that do it for their caller.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_defect::Defect;

use crate::calls::{Atomic, Calls};
use crate::hashed::HashMap;
use crate::search::Parts;

/// The kind of locks that a function is of, and whether it takes one.
pub(crate) type Turn = (usize, bool);

/// What such functions do, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lockers {
    /// None where one header's function of that name does another thing than another's.
    of: BTreeMap<String, Option<Turn>>,
}

impl Lockers {
    /// Takes over what another file's do.
    pub(crate) fn merge(&mut self, other: Self) {
        for (name, turn) in other.of {
            self.add(&name, turn);
        }
    }

    pub(crate) fn add(&mut self, name: &str, turn: Option<Turn>) {
        let known = self.of.entry(name.to_owned()).or_insert(turn);
        *known = known.filter(|own| Some(*own) == turn);
    }

    /// What a function does, where all headers have it so.
    pub(crate) fn get(&self, name: &str) -> Option<Turn> {
        self.of.get(name).copied().flatten()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The names of all.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.of.keys().map(String::as_str)
    }
}

/// What a text holds that calls any of them.
pub(super) fn locking(calls: &Calls) -> Result<Parts, Defect> {
    let called = locks(calls).into_keys().map(|name| format!("{name}("));
    let called: Vec<String> = called.collect();
    Parts::of(&calls.search.lock, &called)
}

/// The groups of calls between which nobody may sleep.
#[derive(Clone, Debug)]
pub(crate) struct Atomics {
    /// Which group each call belongs to, and whether it begins it.
    of: HashMap<String, Turn>,
    /// Those between whose calls a fault fails where it would sleep.
    pub(super) fallible: BTreeSet<usize>,
    /// Those of which a fault takes the lock itself.
    pub(super) again: BTreeSet<usize>,
    /// Those between whose calls no fault is handled.
    pub(super) unhandled: BTreeSet<usize>,
}

impl Atomics {
    pub(super) fn of(all: &[Atomic]) -> Self {
        Self {
            of: grouped(all.iter().map(|own| (&own.begins, &own.ends))),
            fallible: groups(all, |own| own.fallible),
            again: groups(all, |own| own.again),
            unhandled: groups(all, |own| own.unhandled),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<Turn> {
        self.of.get(name).copied()
    }

    /// Whether a kind of locks is one of them.
    pub(super) fn has(&self, kind: usize) -> bool {
        self.of.values().any(|(group, _)| *group == kind)
    }
}

fn groups(all: &[Atomic], is: fn(&Atomic) -> bool) -> BTreeSet<usize> {
    let groups = all.iter().enumerate();
    groups
        .filter_map(|(at, own)| is(own).then_some(at))
        .collect()
}

/// Which group each call that has to do with a lock belongs to, and whether it begins it: those under which nobody may sleep among them.
pub(super) fn locks(calls: &Calls) -> HashMap<String, Turn> {
    let atomics = calls.atomics.iter().map(|own| (&own.begins, &own.ends));
    let locks = calls.locks.iter().map(|own| (&own.begins, &own.ends));
    grouped(atomics.chain(locks))
}

/// Which kind of locks each call is of that takes one where nobody has it.
pub(super) fn tried(calls: &Calls) -> HashMap<String, usize> {
    let atomics = calls.atomics.iter().map(|own| &own.tries);
    let all = atomics.chain(calls.locks.iter().map(|own| &own.tries));
    let named = all.enumerate();
    let named = named.flat_map(|(kind, own)| own.iter().map(move |name| (name.clone(), kind)));
    named.collect()
}

/// The kinds of locks that may count things.
pub(super) fn counting(calls: &Calls) -> BTreeSet<usize> {
    let atomics = calls.atomics.iter().map(|_| false);
    let all = atomics.chain(calls.locks.iter().map(|own| own.counts));
    let counting = all.enumerate().filter(|(_, counts)| *counts);
    counting.map(|(kind, _)| kind).collect()
}

fn grouped<'c>(
    groups: impl Iterator<Item = (&'c Vec<String>, &'c Vec<String>)>,
) -> HashMap<String, Turn> {
    let named = groups.enumerate().flat_map(|(group, (begins, ends))| {
        let begins = begins.iter().map(move |name| (name, true));
        let ends = ends.iter().map(move |name| (name, false));
        let all = begins.chain(ends);
        all.map(move |(name, begins)| (name.clone(), (group, begins)))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::*;

    /// Twenty more names made a check of a tree a tenth slower: there were too many by then for
    /// the quick search, which every file of a tree goes through.
    #[test]
    fn what_takes_a_lock_is_searched_for_quickly() {
        let one = Parts::of(&["lock(".to_owned()], &[]).unwrap();
        let all = locking(Calls::builtin().unwrap()).unwrap();
        assert_eq!(all.is_quick(), one.is_quick());
    }
}
