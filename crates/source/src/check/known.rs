//! What is known of the functions of a file by those that call them.

use std::collections::{BTreeSet, HashMap, HashSet};

use foldhash::fast::RandomState;
use tollgate_defect::answer;

use crate::calls::Duplicates;
use crate::expression::Expression;
use crate::lex::{Token, closing};
use crate::search::{Hashed, HashedWord, Likely};
use crate::split::Body;

use super::words::{AccessWord, CheckWords};

/// What is known of the functions of a file, by their names: of each from where it was
/// looked at on, which is before its callers where it stands before them.
#[derive(Default)]
pub(crate) struct Summaries {
    of: HashMap<String, Summary, RandomState>,
    /// Those that name what may sleep on a fault, whether they were looked at or not.
    sleepers: HashSet<String, RandomState>,
    /// Those that begin where nobody may sleep and leave the end to their callers, with
    /// the group.
    lockers: HashMap<String, usize, RandomState>,
    /// The names of all of these.
    names: Likely,
}

impl Summaries {
    /// What a function does, if it was looked at and a caller has to know it.
    pub(crate) fn get(&self, name: &str) -> Option<&Summary> {
        self.of.get(name)
    }

    /// Whether none was looked at.
    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Whether a function names what may sleep on a fault: it is worth a look.
    pub(crate) fn may_sleep(&self, name: &str) -> bool {
        self.sleepers.contains(name)
    }

    /// Notes that a function does.
    pub(crate) fn sleeps(&mut self, body: &Body) {
        if body.defined_by.is_none() {
            self.names.add(body.name.as_bytes());
            self.sleepers.insert(body.name.clone());
        }
    }

    /// The group that a call of a function begins and does not end.
    pub(crate) fn locks(&self, name: &str) -> Option<usize> {
        self.lockers.get(name).copied()
    }

    /// Notes that a function does, where its tokens begin one group and end none.
    pub(crate) fn begins(&mut self, body: &Body, text: &[u8], tokens: &[Token], all: &CheckWords) {
        // `guard(spinlock)(…)` names a class, and ends what it begins.
        let called = tokens.windows(2).filter_map(|two| match two {
            [word, open] if open.is(b'(') => answer::text(word.span.of(text)),
            _ => None,
        });
        let named = called.filter_map(|name| all.atomic_of(name));
        let groups: BTreeSet<(usize, bool)> = named.collect();
        let groups: Vec<(usize, bool)> = groups.into_iter().collect();
        if let ([(group, true)], None) = (groups.as_slice(), &body.defined_by) {
            self.names.add(body.name.as_bytes());
            self.lockers.insert(body.name.clone(), *group);
        }
    }

    /// Whether some words name a function that does.
    pub(crate) fn name_lockers(&self, text: &[u8], words: &[HashedWord]) -> bool {
        let own = |name: &[u8]| answer::text(name).is_some_and(|name| self.locks(name).is_some());
        !self.lockers.is_empty() && self.named(text, words).any(own)
    }

    /// Notes what a function does.
    pub(crate) fn note(&mut self, body: &Body, own: Option<Summary>) {
        let Some(own) = own else { return };
        let merged = match self.of.remove(&body.name) {
            Some(before) => before.merged(own),
            None => own,
        };
        self.names.add(body.name.as_bytes());
        self.of.insert(body.name.clone(), merged);
    }

    /// Whether some words name a function that may sleep on a fault.
    pub(crate) fn name_sleepers(&self, text: &[u8], words: &[HashedWord]) -> bool {
        let own = |name: &[u8]| answer::text(name).is_some_and(|name| self.may_sleep(name));
        !self.sleepers.is_empty() && self.named(text, words).any(own)
    }

    /// Whether some words name a function of which more is known than that it may sleep.
    pub(crate) fn name_any(&self, text: &[u8], words: &[HashedWord]) -> bool {
        let told = |name: &[u8]| {
            let own = answer::text(name).and_then(|name| self.get(name));
            own.is_some_and(Summary::tells)
        };
        !self.is_empty() && self.named(text, words).any(told)
    }

    /// Whether some tokens name such functions only to give on what they give, `return f(a);`:
    /// nothing of that can be misread, and nothing comes behind it.
    pub(crate) fn are_given_on(&self, text: &[u8], tokens: &[Token]) -> bool {
        let word = |at: usize| tokens.get(at).map(|own| own.span.of(text));
        let known = |at: usize| {
            let named = word(at).filter(|own| self.names.may_hold(Hashed::of(own)));
            let name = named.and_then(answer::text);
            name.and_then(|name| self.get(name))
        };
        let mut told = (0..tokens.len()).filter_map(|at| Some((at, known(at)?)));
        let given_on = |at: usize| {
            let returned = at.checked_sub(1).and_then(word) == Some(b"return");
            let end = closing(tokens, at + 1).filter(|_| returned);
            let end = end.and_then(|end| tokens.get(end + 1));
            end.is_some_and(|own| own.is(b';'))
        };
        told.all(|(at, own)| !own.tells() || own.only_gives() && given_on(at))
    }

    /// Those of some words that may be names of what is known.
    fn named<'t>(&self, text: &'t [u8], words: &[HashedWord]) -> impl Iterator<Item = &'t [u8]> {
        let named = words.iter().filter(|own| self.names.may_hold(own.hashed));
        named.map(|own| own.span.of(text))
    }
}

/// What a call of a function does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// The copy that it makes of what it is given, by the places of its parameters.
    pub(crate) copies: Option<AccessWord>,
    /// The call in it that may sleep on a fault.
    pub(crate) faults: Option<String>,
    /// What it gives where it fails, if it gives a pointer.
    pub(crate) fails: Option<Fails>,
    /// Which of its parameters say what of the user's it gives a copy of.
    pub(crate) duplicates: Option<Duplicates>,
    /// Whether it gives 0 where the copy that it makes faulted, and nothing else that is 0.
    pub(crate) succeeds: bool,
    /// Whether it gives 0 or an error number, one of them where what it accesses faulted.
    pub(crate) tells_fault: bool,
    /// What it gives that tells of a fault in what it accesses.
    pub(crate) told: Option<Told>,
    /// What it fetches and asks something of.
    pub(crate) fetches: Vec<Fetched>,
    /// The names of its parameters.
    pub(crate) parameters: Vec<String>,
}

/// What a call gives that tells of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// 0 or an error number.
    Error,
    /// How many bytes were left.
    Left,
    /// The same, or an error number of something else.
    LeftOrError,
    /// What several accesses gave together: less than 0 where the last of their bits is of an
    /// error number, and more where bytes were left.
    Summed,
    /// A bool.
    Truth,
    /// How many bytes were copied.
    Copied,
    /// The same, as a number with a sign.
    Signed,
    /// How long a string of the user's is, and 0 where it faults.
    Length,
}

/// What a function that gives a pointer gives where it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fails {
    /// An error number as a pointer, and never NULL.
    ErrorPointer,
    /// NULL, and no error number.
    Null,
    /// The one or the other.
    Either,
}

impl Summary {
    /// Whether a caller has to know more of it than that it may sleep.
    fn tells(&self) -> bool {
        let gives = self.fails.is_some() || self.duplicates.is_some() || self.succeeds;
        gives
            || self.tells_fault
            || self.told.is_some()
            || self.copies.is_some()
            || !self.fetches.is_empty()
    }

    /// Whether what it gives is a number, and all that a caller has to know of it: not what it does to
    /// what it is given.
    fn only_gives(&self) -> bool {
        let pointer = self.fails.is_some() || self.duplicates.is_some();
        !pointer && self.copies.is_none() && self.fetches.is_empty()
    }

    /// What is so of both definitions of a function, on the two sides of an `#if`.
    pub(crate) fn merged(self, other: Self) -> Self {
        let same = |one: &Option<AccessWord>| *one == other.copies;
        Self {
            copies: self.copies.filter(|own| same(&Some(own.clone()))),
            faults: self.faults.or(other.faults),
            fails: self.fails.filter(|own| other.fails == Some(*own)),
            duplicates: self.duplicates.filter(|own| other.duplicates == Some(*own)),
            succeeds: self.succeeds && other.succeeds,
            tells_fault: self.tells_fault && other.tells_fault,
            told: self.told.filter(|own| other.told == Some(*own)),
            fetches: match self.parameters == other.parameters {
                true => self.fetches,
                false => Vec::new(),
            },
            parameters: self.parameters,
        }
    }
}

/// A fetch in a function, by its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fetched {
    /// The user's address, without casts, as the function names it.
    pub(crate) address: Expression,
    /// Whether it is of so many bytes, and not of one value.
    pub(crate) counted: bool,
    /// What of it was asked.
    pub(crate) asked: Asked,
}

/// What of a fetched object a function asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// All of it, by another function that is given its address.
    Whole,
    /// Its value, of what is but one.
    Value,
    /// So many of its members.
    Fields(BTreeSet<String>),
}

impl Fetched {
    /// The address as a caller names it, who gives these arguments for those parameters.
    pub(crate) fn given(&self, names: &[String], arguments: &[Expression]) -> Option<Expression> {
        let root = self.address.root().name()?;
        let own = arguments.get(self.argument(names)?)?.uncast().1;
        Some(self.address.replaced(root, own))
    }

    /// Which of the arguments for those parameters holds the address.
    pub(crate) fn argument(&self, names: &[String]) -> Option<usize> {
        let root = self.address.root().name()?;
        names.iter().position(|own| own == root)
    }
}
