//! The calls that take a lock or let it go: those of the data, and inline functions of a tree's
//! headers that do it for their caller.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::RandomState;
use memchr::memmem;
use tollgate_defect::{Defect, answer};

use crate::calls::{Atomic, Calls};
use crate::lex::{Token, tokens};
use crate::search::Parts;
use crate::split::{Body, bodies};
use crate::types::words::{name_at, name_before};
use crate::vocabulary::Vocabulary;

use super::inlines::{header, says_inline};
use super::words::CheckWords;

/// The kind of locks that a function is of, and whether it takes one.
type Turn = (usize, bool);

/// What such functions do, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lockers {
    /// None where one header's function of that name does another thing than another's.
    of: BTreeMap<String, Option<Turn>>,
}

impl Lockers {
    /// What the inline functions of a header do: of those alone is read that call a lock's.
    pub(super) fn of(text: &[u8], words: &CheckWords, vocabulary: &Vocabulary) -> Self {
        let mut found = Self::default();
        let mut read = 0;
        for place in words.locking(text) {
            let unread = place.start >= read && is_locks(text, place.start, words);
            let function = unread.then(|| around(text, place.start)).flatten();
            let Some((own, end)) = function else {
                continue;
            };
            read = end;
            if memmem::find(own, b"inline").is_some() {
                let tokens = tokens(own, 0);
                let bodies = bodies(own, &tokens, vocabulary);
                found.merge(Self::of_all(own, &tokens, &bodies, words));
            }
        }
        found
    }

    fn of_all(text: &[u8], tokens: &[Token], bodies: &[Body], words: &CheckWords) -> Self {
        let mut found = Self::default();
        for body in bodies {
            let header = header(tokens, body.header.start, body.tokens.start);
            let inside = tokens.get(body.tokens.clone());
            let inline = header.iter().any(|own| says_inline(text, own));
            let turn = inside
                .filter(|_| inline)
                .and_then(|own| turn(text, own, words));
            if let Some(turn) = turn {
                found.add(&body.name, turn);
            }
        }
        found
    }

    /// Takes over what another file's do.
    pub(super) fn merge(&mut self, other: Self) {
        for (name, turn) in other.of {
            self.add(&name, turn);
        }
    }

    fn add(&mut self, name: &str, turn: Option<Turn>) {
        let known = self.of.entry(name.to_owned()).or_insert(turn);
        *known = known.filter(|own| Some(*own) == turn);
    }

    /// What a function does, where all headers have it so.
    pub(super) fn get(&self, name: &str) -> Option<Turn> {
        self.of.get(name).copied().flatten()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The names of all.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.of.keys().map(String::as_str)
    }
}

/// Whether the word around a place is the name of a lock's call.
fn is_locks(text: &[u8], place: usize, words: &CheckWords) -> bool {
    let before = text.get(..place).map(|own| name_before(own).len());
    let word = before.and_then(|own| Some(name_at(text, place.checked_sub(own)?)));
    word.and_then(answer::text)
        .is_some_and(|name| words.lock_of(name).is_some())
}

/// The function around a place and where it ends, as the kernel writes one: its braces begin
/// lines of their own, and an empty line or the end of another stands before its header. Where
/// that does not hold nothing is learned; what the function does is told by its tokens.
fn around(text: &[u8], place: usize) -> Option<(&[u8], usize)> {
    let (before, behind) = text.split_at_checked(place)?;
    let open = memmem::rfind(before, b"\n{")?;
    let front = before.get(..open)?;
    let inside = before.get(open..)?;
    memmem::find(inside, b"\n}").is_none().then_some(())?;
    let ends: [&[u8]; 2] = [b"\n\n", b"\n}"];
    let starts = ends.iter().filter_map(|own| memmem::rfind(front, own));
    let start = starts.max().map_or(0, |at| at + 2);
    let end = place + memmem::find(behind, b"\n}")? + 2;
    Some((text.get(start..end)?, end))
}

/// What a function does of whose calls one at least is a lock's; nothing that can be told
/// where it both takes and lets go, or has locks of two kinds, or switches page faults off.
fn turn(text: &[u8], tokens: &[Token], words: &CheckWords) -> Option<Option<Turn>> {
    let called = tokens.windows(2).filter_map(|two| match two {
        [word, open] if open.is(b'(') => answer::text(word.span.of(text)),
        _ => None,
    });
    let (mut turns, mut quiet) = (BTreeSet::new(), false);
    for name in called {
        turns.extend(words.lock_of(name));
        quiet |= words.switches_faults_off(name);
    }
    let mut turns = turns.into_iter();
    let first = turns.next()?;
    Some((turns.next().is_none() && !quiet).then_some(first))
}

/// What a text holds that calls any of them.
pub(super) fn locking(calls: &Calls) -> Result<Parts, Defect> {
    let called = locks(calls).into_keys().map(|name| format!("{name}("));
    let called: Vec<String> = called.collect();
    Parts::of(&calls.search.lock, &called)
}

/// Which group each call belongs to, and whether it begins it.
pub(super) fn atomics(all: &[Atomic]) -> HashMap<String, Turn, RandomState> {
    let groups = all.iter().map(|own| (&own.begins, &own.ends));
    grouped(groups)
}

/// The same of every lock, those under which nobody may sleep among them.
pub(super) fn locks(calls: &Calls) -> HashMap<String, Turn, RandomState> {
    let atomics = calls.atomics.iter().map(|own| (&own.begins, &own.ends));
    let locks = calls.locks.iter().map(|own| (&own.begins, &own.ends));
    grouped(atomics.chain(locks))
}

fn grouped<'c>(
    groups: impl Iterator<Item = (&'c Vec<String>, &'c Vec<String>)>,
) -> HashMap<String, Turn, RandomState> {
    let named = groups.enumerate().flat_map(|(group, (begins, ends))| {
        let begins = begins.iter().map(move |name| (name, true));
        let ends = ends.iter().map(move |name| (name, false));
        let all = begins.chain(ends);
        all.map(move |(name, begins)| (name.clone(), (group, begins)))
    });
    named.collect()
}
