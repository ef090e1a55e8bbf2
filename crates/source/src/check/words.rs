//! The calls that the rules know, by what they do.

mod handlers;
mod kinds;
mod locking;
mod memory;
mod named;
mod numbers;
mod ownership;
mod results;
mod users;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tollgate_defect::{Defect, answer};

use crate::calls::{
    Addresses, Allocates, Call, Calls, Clears, Deed, Does, Duplicates, Family, Fence, Fills, Guard,
    InWindow, Kind, OfWindow, Outcome, Pair, Parses, Sizes, Source,
};
use crate::hashed::{HashMap, HashSet};
use crate::search::{Hashed, Likely, Parts};
use crate::types::words::{name_at, name_before};

use super::holders::Holders;
use handlers::Handlers;
pub(crate) use kinds::{AccessWord, BeginWord, EndWord};
use kinds::{access, begin, end, is_inside, shows};
use locking::{Atomics, locking, locks};
pub(crate) use locking::{Lockers, Turn};
use memory::Memory;
use named::Named;
pub(crate) use named::OwnerName;
use numbers::Numbers;
use ownership::Owned;
pub(crate) use results::Results;

/// What a comment that allows something begins with.
pub(super) const MARK: &str = "tollgate:";

/// What a call in a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    /// It may be there.
    Allowed,
    /// It must not; what it does.
    Forbidden(Deed),
    /// Not in the lists.
    Unknown,
}

/// The calls that the rules know.
#[derive(Clone, Debug)]
pub struct CheckWords {
    /// The names of what is known.
    names: Likely,
    begins: HashMap<String, BeginWord>,
    ends: HashMap<String, EndWord>,
    scoped: HashMap<String, BeginWord>,
    unsafes: HashMap<String, AccessWord>,
    accesses: HashMap<String, AccessWord>,
    arities: HashMap<String, BTreeSet<usize>>,
    learned_arities: HashMap<String, BTreeSet<usize>>,
    allowed: HashMap<String, Option<Deed>>,
    undefined: BTreeMap<String, Undefined>,
    range_checks: HashSet<String>,
    parts: HashSet<String>,
    families: Vec<Family>,
    closing: HashMap<Kind, String>,
    insides: Parts,
    suspects: Parts,
    teaches: Parts,
    locking: Parts,
    defines: Parts,
    counts: Parts,
    fences: HashMap<String, Fence>,
    pairs: Vec<Pair>,
    atomics: Atomics,
    locks: HashMap<String, (usize, bool)>,
    lockers: Arc<Lockers>,
    guards: HashMap<String, String>,
    left: HashSet<String>,
    faults: HashSet<String>,
    sleepless: HashSet<String>,
    must_use: HashSet<String>,
    results: Results,
    owned: Owned,
    handlers: Handlers,
    named: Named,
    numbers: Numbers,
    addresses: HashMap<String, Addresses>,
    /// What the headers of the tree declare as pointers to user memory, by name; none if
    /// not all of them were read.
    pub(super) users: Option<Arc<HashSet<String>>>,
    /// The structures that hold one of these.
    pub(super) holders: Arc<Holders>,
    /// The functions that headers declare to take one, and as which of their parameters.
    pub(super) takers: Arc<HashMap<String, Vec<usize>>>,
    clears: HashMap<String, Clears>,
    sizes: HashMap<String, Sizes>,
    fills: HashMap<String, Fills>,
    shows: HashMap<String, AccessWord>,
    wipes: HashMap<String, usize>,
    elements: HashMap<String, usize>,
    allocates: HashMap<String, Allocates>,
    cuts: HashMap<String, Clears>,
    memory: Memory,
    strings: HashMap<String, Vec<usize>>,
    error_pointers: HashSet<String>,
    errors: HashSet<String>,
    give_users: HashSet<String>,
    tell_null: HashSet<String>,
    tell_errors: HashSet<String>,
    duplicates: HashMap<String, Duplicates>,
}

/// What does not sleep where it faults.
fn sleepless(calls: &Calls) -> HashSet<String> {
    let own = calls.names(|does| does.sleepless || does.faults_off);
    own.into_iter().collect()
}

/// What a name that needs an open window holds.
fn insides(calls: &Calls) -> Result<Parts, Defect> {
    let families = calls.families.iter().filter(|family| family.inside);
    let families: Vec<String> = families.map(|family| family.prefix.clone()).collect();
    let named = calls.all.iter().filter(|call| is_inside(call));
    let names: Vec<String> = named.map(|call| call.name.clone()).collect();
    Parts::of(&families, &names)
}

/// What there is anything to check by: names, and comments that allow something.
fn suspects(calls: &Calls, counted: &[String]) -> Result<Parts, Defect> {
    let mark = [MARK.to_owned()];
    Parts::of(&[calls.search.suspect.as_slice(), &mark].concat(), counted)
}

/// The word that a place of a text is in.
fn word_around(text: &[u8], at: usize) -> Option<&[u8]> {
    let before = text.get(..at)?;
    Some(name_at(text, at - name_before(before).len()))
}

/// The names without any of those parts: those of the kernel are in macros by other names
/// as well.
fn unsuspected(names: &[String], parts: &[String]) -> Vec<String> {
    let told = |name: &&String| !parts.iter().any(|part| name.contains(part));
    names.iter().filter(told).cloned().collect()
}

fn of_kind<T>(calls: &Calls, of: fn(&Call) -> Option<T>) -> HashMap<String, T> {
    let all = calls.all.iter();
    all.filter_map(|call| Some((call.name.clone(), of(call)?)))
        .collect()
}

/// Why a name that a change calls is taken to be undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// Neither the tree nor the change has it anywhere.
    Nowhere,
    /// The same, but a macro may put it together.
    PerhapsPasted,
}

impl CheckWords {
    /// The words of `data/calls.toml`, which are compiled in.
    ///
    /// # Errors
    /// When the data file does not have its form; a test keeps that from happening.
    pub fn builtin() -> Result<Self, Defect> {
        Self::of(Calls::builtin()?)
    }

    /// What the rules want to know of calls.
    ///
    /// # Errors
    /// When its names cannot be searched for.
    pub(crate) fn of(calls: &Calls) -> Result<Self, Defect> {
        let all = calls.all.iter();
        let begins = |role: fn(&Does) -> Option<OfWindow>| {
            let of = |call: &Call| begin(call, role);
            by_name(calls.all.iter().filter_map(of), |w| &w.name)
        };
        let accesses = |inside: bool| {
            let of = |call: &Call| access(call).filter(|_| is_inside(call) == inside);
            by_name(calls.all.iter().filter_map(of), |w| &w.name)
        };
        let ends: Vec<EndWord> = all.filter_map(end).collect();
        let counted = calls.names(|does| does.arguments.is_some());
        let new = unsuspected(&counted, &calls.search.suspect);
        Ok(Self {
            names: Likely::of(calls.every_name().map(str::as_bytes)),
            begins: begins(|does| does.begin),
            scoped: begins(|does| does.scoped),
            closing: closing(&ends),
            ends: by_name(ends.into_iter(), |w| &w.name),
            unsafes: accesses(true),
            accesses: accesses(false),
            arities: calls.each(|does| Some(BTreeSet::from([does.arguments?]))),
            learned_arities: HashMap::default(),
            allowed: manners(calls),
            undefined: BTreeMap::new(),
            range_checks: calls.names(Does::only_checks).into_iter().collect(),
            parts: calls.names(|does| does.part).into_iter().collect(),
            families: calls.families.clone(),
            insides: insides(calls)?,
            suspects: suspects(calls, &counted)?,
            teaches: Parts::of(&calls.search.teach, &counted)?,
            locking: locking(calls)?,
            defines: Parts::of(&calls.search.define, &new)?,
            counts: Parts::of(&calls.search.count, &new)?,
            fences: calls.each(|does| does.fence),
            pairs: calls.pairs.clone(),
            atomics: Atomics::of(&calls.atomics),
            locks: locks(calls),
            lockers: Arc::default(),
            guards: guards(&calls.guards),
            faults: faulting(calls),
            left: calls.names(|does| does.left).into_iter().collect(),
            sleepless: sleepless(calls),
            must_use: calls.names(|does| does.must_use).into_iter().collect(),
            results: Results::of(calls),
            owned: Owned::of(calls),
            handlers: Handlers::of(calls),
            named: Named::of(calls),
            numbers: Numbers::of(calls),
            users: None,
            holders: Arc::default(),
            takers: Arc::default(),
            addresses: calls.each(|does| does.addresses),
            clears: calls.each(|does| does.clears),
            sizes: calls.each(|does| does.sizes),
            fills: calls.each(|does| does.fills),
            shows: of_kind(calls, shows),
            wipes: calls.each(|does| does.wipes),
            elements: calls.each(|does| does.elements),
            allocates: calls.each(|does| does.allocates),
            cuts: calls.each(|does| does.cuts),
            memory: Memory::of(calls)?,
            strings: calls.each(|does| does.string.clone()),
            give_users: calls.names(|does| does.users).into_iter().collect(),
            errors: calls.names(|does| does.makes_error).into_iter().collect(),
            tell_null: calls.names(|does| does.tells_null).into_iter().collect(),
            error_pointers: calls.names(|does| does.error_pointer).into_iter().collect(),
            tell_errors: calls.names(|does| does.tells_errors).into_iter().collect(),
            duplicates: calls.each(|does| does.duplicates),
        })
    }

    /// What else is known of results and arguments.
    pub(crate) fn results(&self) -> &Results {
        &self.results
    }

    /// Whether a word may be the name of anything that is known: quick to say no.
    pub(crate) fn may_mean(&self, word: Hashed) -> bool {
        self.names.may_hold(word)
    }

    /// Whether a call of that name does nothing but check a range.
    pub(crate) fn checks_range(&self, name: &[u8]) -> bool {
        answer::text(name).is_some_and(|name| self.range_checks.contains(name))
    }

    /// Whether a call of that name is what others are made of.
    pub(crate) fn is_part(&self, name: &[u8]) -> bool {
        answer::text(name).is_some_and(|name| self.parts.contains(name))
    }

    /// Whether a name is one of those that need an open window, known or not.
    pub(crate) fn is_inside(&self, name: &str) -> bool {
        let mut families = self.families.iter().filter(|family| family.inside);
        families.any(|family| name.starts_with(&family.prefix))
    }

    /// The same of any word of a text.
    pub(crate) fn may_be_inside(&self, text: &[u8]) -> bool {
        self.insides.may_be_in(text)
    }

    /// Whether a text may hold anything to check: a search that is quick to say no.
    #[must_use]
    pub fn suspects(&self, text: &[u8]) -> bool {
        let mut places = self.suspects.places(text);
        places.any(|place| word_around(text, place.start).is_none_or(|own| self.is_meant(own)))
    }

    /// Whether a text holds a part of a name, which other files may give a meaning.
    #[must_use]
    pub fn may_suspect(&self, text: &[u8]) -> bool {
        self.suspects.may_be_in(text)
    }

    /// Whether a word that has a part of a name means anything: half of the files that have such
    /// a part are about `init_user_ns` and the like.
    fn is_meant(&self, word: &[u8]) -> bool {
        let undefined = || answer::text(word).is_some_and(|own| self.undefined.contains_key(own));
        let marked = || MARK.as_bytes().starts_with(word);
        let hashed = Hashed::of(word);
        let known = word == b"__user" || self.may_mean(hashed) || self.holders.hold(word, hashed);
        known || marked() || undefined()
    }

    /// Whether a text may teach anything: a search that is quick to say no.
    #[must_use]
    pub fn may_teach(&self, text: &[u8]) -> bool {
        self.teaches_windows(text) || self.locking.may_be_in(text)
    }

    /// The same of windows alone.
    pub(crate) fn teaches_windows(&self, text: &[u8]) -> bool {
        self.teaches.may_be_in(text)
    }

    /// Where a text may name a lock's call.
    pub(super) fn locking(&self, text: &[u8]) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.locking.places(text)
    }

    /// The same of a line that defines a macro.
    pub(crate) fn may_define(&self, line: &[u8]) -> bool {
        self.defines.may_be_in(line)
    }

    /// The same of a line whose calls have their arguments counted.
    pub(crate) fn may_count(&self, line: &[u8]) -> bool {
        self.counts.may_be_in(line)
    }

    /// The pair that a call of that name is part of, and whether it begins it.
    pub(crate) fn pair_of(&self, name: &str) -> Option<(usize, bool)> {
        let begins = self.pairs.iter().position(|pair| pair.begin == name);
        let ends = || self.pairs.iter().position(|pair| pair.end == name);
        begins
            .map(|pair| (pair, true))
            .or_else(|| Some((ends()?, false)))
    }

    /// The two calls of a pair.
    pub(crate) fn pair(&self, pair: usize) -> Option<(&str, &str)> {
        let own = self.pairs.get(pair)?;
        Some((&own.begin, &own.end))
    }

    /// Whether a pair opens and closes the gate to user memory.
    pub(crate) fn is_gate(&self, pair: usize) -> bool {
        self.pairs.get(pair).is_some_and(|own| own.gate)
    }

    /// The calls between which nobody may sleep that a call of that name is one of, and
    /// whether it begins them.
    pub(crate) fn atomic_of(&self, name: &str) -> Option<(usize, bool)> {
        self.atomics.get(name)
    }

    /// The kind of locks that a call of that name is of, and whether it takes one.
    pub(crate) fn lock_of(&self, name: &str) -> Option<(usize, bool)> {
        self.locks.get(name).copied()
    }

    /// The same of a call of a header's inline function.
    pub(crate) fn locker(&self, name: &str) -> Option<(usize, bool)> {
        self.lockers.get(name)
    }

    /// Whether nobody may sleep who holds a lock of that kind.
    pub(crate) fn is_atomic(&self, kind: usize) -> bool {
        self.atomics.has(kind)
    }

    /// Whether between the calls of that group a fault fails where it would sleep, as far
    /// as the kernel counts preemption.
    pub(crate) fn is_fallible(&self, group: usize) -> bool {
        self.atomics.fallible.contains(&group)
    }

    /// Whether a fault takes the lock of the group itself, of which a holder may sleep.
    pub(crate) fn is_taken_again(&self, group: usize) -> bool {
        self.atomics.again.contains(&group)
    }

    /// Whether no fault is handled between the calls of that group.
    pub(crate) fn is_unhandled(&self, group: usize) -> bool {
        self.atomics.unhandled.contains(&group)
    }

    /// The call that a guard of that class does until its scope ends.
    pub(crate) fn guard(&self, class: &str) -> Option<&str> {
        self.guards.get(class).map(String::as_str)
    }

    /// Whether a call of that name gives how many bytes of user memory were left.
    pub(crate) fn gives_left(&self, name: &str) -> bool {
        let copies = self.access(name);
        self.left.contains(name) || copies.is_some_and(|own| own.result == Some(Outcome::Left))
    }

    /// Whether a call of that name keeps every fault behind it from being handled.
    pub(crate) fn switches_faults_off(&self, name: &str) -> bool {
        self.is_sleepless(name) && self.access(name).is_none()
    }

    /// Whether a call of that name opens and closes the gate by itself, and sleeps where
    /// a fault does.
    pub(crate) fn may_fault(&self, name: &str) -> bool {
        self.faults.contains(name)
    }

    /// Whether a call of that name never sleeps on a fault, or keeps others from it.
    pub(crate) fn is_sleepless(&self, name: &str) -> bool {
        self.sleepless.contains(name)
    }

    /// Whether nobody may drop what a call of that name gives.
    pub(crate) fn must_use(&self, name: &[u8]) -> bool {
        answer::text(name).is_some_and(|name| self.must_use.contains(name))
    }

    /// Whether a call of that name gives the smallest of what it is given.
    pub(crate) fn gives_least(&self, name: &str) -> bool {
        self.numbers.least.contains(name)
    }

    /// Whether a call of that name gives the largest.
    pub(crate) fn gives_greatest(&self, name: &str) -> bool {
        self.numbers.greatest.contains(name)
    }

    /// Whether a call of that name makes an address of the user's of what it is given.
    pub(crate) fn addresses(&self, name: &str) -> bool {
        self.addresses.contains_key(name)
    }

    /// Whether that address may be one of the kernel's.
    pub(crate) fn addresses_any(&self, name: &str) -> bool {
        self.addresses.get(name) == Some(&Addresses::Any)
    }

    /// Which arguments of a call of that name say what of the user's it gives a copy of.
    pub(crate) fn duplicates(&self, name: &str) -> Option<Duplicates> {
        self.duplicates.get(name).copied()
    }

    /// Which arguments of a call of that name say what it sets.
    pub(crate) fn clears(&self, name: &str) -> Option<Clears> {
        self.clears.get(name).copied()
    }

    /// Which arguments of a call of that name say how large an object is, here and there.
    pub(crate) fn sizes(&self, name: &str) -> Option<Sizes> {
        self.sizes.get(name).copied()
    }

    /// The copy to a program that a call of that name makes, which knows by itself where that
    /// has its memory: its user's address is that of the call.
    pub(crate) fn shows(&self, name: &str) -> Option<&AccessWord> {
        self.shows.get(name)
    }

    /// The argument of a call of that name of which it leaves nothing.
    pub(crate) fn wipes(&self, name: &str) -> Option<usize> {
        self.wipes.get(name).copied()
    }

    /// Which arguments of a call of that name say what it copies something into.
    pub(crate) fn fills(&self, name: &str) -> Option<Fills> {
        self.fills.get(name).copied()
    }

    /// Which argument of a call of that name is a number of elements.
    pub(crate) fn elements(&self, name: &str) -> Option<usize> {
        self.elements.get(name).copied()
    }

    /// Whether a call of that name gives how long a string is.
    pub(crate) fn gives_length(&self, name: &str) -> bool {
        self.numbers.lengths.contains(name)
    }

    /// Which argument says how much the result of a call is at most.
    pub(crate) fn at_most(&self, name: &str) -> Option<usize> {
        self.numbers.at_most.get(name).copied()
    }

    /// Which arguments of a call of that name say where it copies a string to that it may
    /// cut off, and how many bytes there are.
    pub(crate) fn cuts(&self, name: &str) -> Option<Clears> {
        self.cuts.get(name).copied()
    }

    /// What a call of that name reads from a string, and where that goes.
    pub(crate) fn parses(&self, name: &str) -> Option<Parses> {
        self.numbers.parses.get(name).copied()
    }

    /// Which argument of a call of that name is read as a string no further than another goes.
    pub(crate) fn compared(&self, name: &str) -> Option<usize> {
        self.numbers.compared.get(name).copied()
    }

    /// Whether a call of that name goes through the addresses that it is given, which are the
    /// kernel's: `memcpy()`, `strlen()`.
    pub(crate) fn goes_by_hand(&self, name: &str) -> bool {
        let copies = self.fills(name).is_some() || self.clears(name).is_some();
        let reads = self.duplicated(name).is_some() || !self.reads_strings(name).is_empty();
        (copies || reads || self.memory.by_hand.contains(name)) && self.access(name).is_none()
    }

    /// Which argument of a call of that name is read for a copy in memory of its own.
    pub(crate) fn duplicated(&self, name: &str) -> Option<usize> {
        self.memory.duplicated.get(name).copied()
    }

    /// Which argument of a call of that name is filled with the user's bytes, from wherever it
    /// is told that they are.
    pub(crate) fn fetches(&self, name: &str) -> Option<usize> {
        self.memory.fetches.get(name).copied()
    }

    /// Which arguments of a call of that name say what of the user's that is.
    pub(crate) fn source(&self, name: &str) -> Option<Source> {
        self.memory.sources.get(name).copied()
    }

    /// Which arguments of a call of that name say how much memory it gives.
    pub(crate) fn allocates(&self, name: &str) -> Option<Allocates> {
        self.allocates.get(name).copied()
    }

    /// Which arguments a call of that name reads as strings.
    pub(crate) fn reads_strings(&self, name: &str) -> &[usize] {
        self.strings.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether a call of that name gives an error number as a pointer where it fails.
    pub(crate) fn gives_error_pointer(&self, name: &str) -> bool {
        self.error_pointers.contains(name)
    }

    /// Whether a call of that name gives a number that is the user's as its argument is.
    pub(crate) fn gives_users(&self, name: &str) -> bool {
        self.give_users.contains(name)
    }

    /// Whether a call of that name makes an error number a pointer.
    pub(crate) fn makes_error(&self, name: &str) -> bool {
        self.errors.contains(name)
    }

    /// Whether a call of that name tells NULL from a pointer.
    pub(crate) fn tells_null(&self, name: &str) -> bool {
        self.tell_null.contains(name)
    }

    /// Whether a call of that name tells an error number from a pointer.
    pub(crate) fn tells_errors(&self, name: &str) -> bool {
        self.tell_errors.contains(name)
    }

    /// What a call of that name does against speculation.
    pub(crate) fn fence(&self, name: &str) -> Option<Fence> {
        self.fences.get(name).copied()
    }

    /// The call that closes a window; none where no call of that kind is known.
    pub(crate) fn closing(&self, kind: Kind) -> Option<&str> {
        let kind = if kind == Kind::Masked {
            Kind::Full
        } else {
            kind
        };
        self.closing.get(&kind).map(String::as_str)
    }

    /// The same words, with names that a change calls and that nothing defines.
    /// One that reads like a begin or an end is taken for one.
    #[must_use]
    pub fn with_undefined(&self, names: &BTreeMap<String, Undefined>) -> Self {
        let mut words = self.clone();
        for (name, undefined) in names {
            words.undefined.insert(name.clone(), *undefined);
            words.guess(name);
        }
        words
    }

    /// Whether a name means something to the rules.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.begins.contains_key(name)
            || self.ends.contains_key(name)
            || self.scoped.contains_key(name)
            || self.unsafes.contains_key(name)
            || self.accesses.contains_key(name)
            || self.arities.contains_key(name)
    }

    fn guess(&mut self, name: &str) {
        if self.knows(name) {
            return;
        }
        let Some((kind, opens)) = named(name) else {
            return;
        };
        let (name, arguments) = (name.to_owned(), 0);
        if opens {
            self.learn_begin(BeginWord {
                name,
                kind,
                arguments,
                always: false,
                fence: false,
                guessed: true,
            });
        } else {
            self.learn_end(EndWord {
                name,
                kind,
                arguments,
            });
        }
    }

    /// Whether any name is.
    pub(crate) fn has_undefined(&self) -> bool {
        !self.undefined.is_empty()
    }

    pub(crate) fn undefined(&self, name: &str) -> Option<Undefined> {
        self.undefined.get(name).copied()
    }

    pub(crate) fn begin(&self, name: &str) -> Option<&BeginWord> {
        self.begins.get(name)
    }

    pub(crate) fn end(&self, name: &str) -> Option<&EndWord> {
        self.ends.get(name)
    }

    /// Whether a call of that name opens, closes or accesses anything of the user's.
    pub(crate) fn touches(&self, name: &str) -> bool {
        let window = self.begin(name).is_some() || self.end(name).is_some();
        window || self.access(name).is_some() || self.scoped(name).is_some()
    }

    pub(crate) fn scoped(&self, name: &str) -> Option<&BeginWord> {
        self.scoped.get(name)
    }

    pub(crate) fn in_window(&self, name: &str) -> Option<&AccessWord> {
        self.unsafes.get(name)
    }

    pub(crate) fn access(&self, name: &str) -> Option<&AccessWord> {
        self.accesses.get(name)
    }

    /// How many arguments the call may have; none where nothing is known.
    pub(crate) fn arity(&self, name: &str) -> Option<&BTreeSet<usize>> {
        self.learned_arities
            .get(name)
            .or_else(|| self.arities.get(name))
    }

    /// What a call of that name is in a window.
    pub(crate) fn permission(&self, name: &str) -> Permission {
        match self.allowed.get(name) {
            Some(None) => Permission::Allowed,
            Some(Some(deed)) => Permission::Forbidden(*deed),
            None => self.permission_of_family(name),
        }
    }

    fn permission_of_family(&self, name: &str) -> Permission {
        let mut families = self.families.iter();
        let own =
            families.find(|family| family.in_window.is_some() && name.starts_with(&family.prefix));
        match own.and_then(|family| family.in_window.as_ref()) {
            Some(InWindow::Forbidden(deed)) => Permission::Forbidden(*deed),
            Some(_) => Permission::Allowed,
            None => Permission::Unknown,
        }
    }

    pub(crate) fn learn_begin(&mut self, word: BeginWord) {
        self.names.add(word.name.as_bytes());
        self.begins.entry(word.name.clone()).or_insert(word);
    }

    pub(crate) fn learn_end(&mut self, word: EndWord) {
        self.names.add(word.name.as_bytes());
        self.ends.entry(word.name.clone()).or_insert(word);
    }

    pub(crate) fn learn_arity(&mut self, name: &str, arguments: usize) {
        self.names.add(name.as_bytes());
        self.learned_arities
            .entry(name.to_owned())
            .or_default()
            .insert(arguments);
    }

    /// A macro that copies as a call does that is known.
    pub(crate) fn learn_access(&mut self, word: AccessWord) {
        self.names.add(word.name.as_bytes());
        self.accesses.entry(word.name.clone()).or_insert(word);
    }

    /// By what a program's call comes to a function.
    pub(super) fn handlers(&self) -> &Handlers {
        &self.handlers
    }

    pub(super) fn learn_lockers(&mut self, lockers: &Lockers) {
        for name in lockers.names() {
            self.names.add(name.as_bytes());
        }
        if !lockers.is_empty() {
            Arc::make_mut(&mut self.lockers).merge(lockers.clone());
        }
    }

    /// Whether a macro of that name is one whose arguments are counted.
    pub(crate) fn counts(&self, name: &str) -> bool {
        self.arities.contains_key(name) || self.is_inside(name)
    }
}

/// The kind that a name says, `__user_write_access_begin`, and whether it opens.
pub(super) fn named(name: &str) -> Option<(Kind, bool)> {
    let words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
    let has = |word: &str| words.contains(&word);
    let kind = match (has("masked"), has("read"), has("write")) {
        (true, ..) => Kind::Masked,
        (_, true, false) => Kind::Read,
        (_, false, true) => Kind::Write,
        _ => Kind::Full,
    };
    let opens = match words.last() {
        Some(&"begin") => true,
        Some(&"end") => false,
        _ => return None,
    };
    (has("access") || has("uaccess")).then_some((kind, opens))
}

/// What each call does that must not be in a window, of those of which that is known.
fn manners(calls: &Calls) -> HashMap<String, Option<Deed>> {
    let own = |call: &Call| {
        let in_window = call.does.in_window.as_ref()?;
        Some((call.name.clone(), forbidden(in_window)))
    };
    calls.all.iter().filter_map(own).collect()
}

/// What a call does that must not be in a window; nothing of one that may.
fn forbidden(in_window: &InWindow) -> Option<Deed> {
    match in_window {
        InWindow::Forbidden(deed) => Some(*deed),
        InWindow::Allowed | InWindow::Harmless | InWindow::Hook => None,
    }
}

/// The first end of each kind.
fn closing(ends: &[EndWord]) -> HashMap<Kind, String> {
    let ends = ends.iter().rev();
    ends.map(|end| (end.kind, end.name.clone())).collect()
}

fn by_name<T>(words: impl Iterator<Item = T>, name: fn(&T) -> &String) -> HashMap<String, T> {
    words.map(|w| (name(&w).clone(), w)).collect()
}

/// The call that each class of guards does.
fn guards(all: &[Guard]) -> HashMap<String, String> {
    let each = all
        .iter()
        .flat_map(|own| own.classes.iter().map(|class| (class, &own.call)));
    each.map(|(class, call)| (class.clone(), call.clone()))
        .collect()
}

/// The calls that open and close the gate by themselves and sleep where a fault does.
fn faulting(calls: &Calls) -> HashSet<String> {
    let whole = |does: &Does| does.access.is_some_and(|own| !own.inside);
    let reaches = |does: &Does| {
        let gives = does.left || does.length || does.duplicates.is_some();
        does.faults || gives || whole(does)
    };
    let all = calls.names(|does| reaches(does) && !does.sleepless);
    all.into_iter().collect()
}
