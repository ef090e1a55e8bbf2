//! The words that the analysis knows, read from data files.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};
use tollgate_defect::Defect;

use crate::calls::{Call, Calls, Clears, Direction, Does, InRun, read};
use crate::check::CheckWords;
use crate::search::{Found, Parts, Places, Shapes};

/// A call that opens and closes access to user memory by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The name of the function or macro, `get_user`.
    pub name: String,
    /// Which way the data goes.
    pub direction: Direction,
    /// Whether the call itself checks that the address is the user's.
    pub range_check: bool,
    /// Whether it is a macro around an access.
    #[serde(default)]
    pub wrapper: bool,
    /// Which argument is the kernel's side, counted from 0.
    #[serde(default)]
    pub value: usize,
    /// Which argument is the address, counted from 0; the last if this does not
    /// say, as of a macro around an access.
    #[serde(default)]
    pub address: Option<usize>,
    /// Whether its name holds that of an access.
    #[serde(default)]
    pub telling: bool,
    /// Where the kernel says so.
    pub reason: String,
}

impl Access {
    /// Whether a header's macro means the same in another file: only if its
    /// name says what it does, since names such as `COPY` are used again.
    #[must_use]
    pub fn is_known_by_name(&self) -> bool {
        self.telling
    }
}

/// A call that copies a block to or from user memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyCall {
    /// The name of the function, `copy_to_user`.
    pub name: String,
    /// Which way the data goes.
    pub direction: Direction,
    /// Which argument is the user's address, counted from 0.
    pub user: usize,
    /// Which argument is the size in bytes.
    pub size: usize,
    /// Whether the call itself checks that the range is the user's.
    pub range_check: bool,
}

/// A call that opens a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowCall {
    /// The name of the function or macro, `user_access_begin`.
    pub name: String,
    /// Whether reads may follow.
    pub read: bool,
    /// Whether writes may follow.
    pub write: bool,
}

/// A path that user space takes often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heat {
    /// What it is, `poll path`.
    pub what: String,
    /// How hot: from 1, where nothing is known, up.
    pub heat: u32,
    /// Words of which one is a part of the function's name.
    #[serde(skip_serializing)]
    pub name: Vec<String>,
    /// Words that one is the end of the file's name.
    #[serde(skip_serializing)]
    pub file: Vec<String>,
    /// Fields of the kernel's tables of functions that name the function.
    #[serde(skip_serializing)]
    pub field: Vec<String>,
}

/// Every word of a file that holds an access is looked up in several of these.
type Words<T> = HashMap<Vec<u8>, T, RandomState>;
type WordSet = HashSet<Vec<u8>, RandomState>;

/// The calls and annotations that the analysis knows.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    accesses: Words<Access>,
    /// Those of their names.
    shapes: Shapes,
    calls: Arc<Roles>,
    heat: Vec<Heat>,
    annotations: Words<bool>,
    /// Macros of the file that only compute.
    computes: WordSet,
}

/// The calls by what they do.
#[derive(Debug)]
struct Roles {
    copies: Words<CopyCall>,
    zeroes: Words<Clears>,
    scoped: Words<(bool, bool)>,
    windows: Words<WindowCall>,
    transparent: WordSet,
    pure: WordSet,
    scopes: WordSet,
    range_checks: Vec<String>,
    unchecked: Vec<String>,
    typed: Vec<(String, Direction)>,
    copied: Vec<CopyCall>,
    faults_off: Vec<String>,
    insides: Vec<String>,
    words: CheckWords,
    places: Places,
    begins: Parts,
}

#[derive(Deserialize)]
struct Annotation {
    name: String,
    arguments: bool,
}

#[derive(Deserialize)]
struct Paths {
    path: Vec<Heat>,
}

#[derive(Deserialize)]
struct Annotations {
    annotation: Vec<Annotation>,
}

const HEAT: &str = include_str!("../../../data/access/heat.toml");
const ANNOTATIONS: &str = include_str!("../../../data/access/annotations.toml");

impl Vocabulary {
    /// The vocabulary of `data/calls.toml` and `data/access/`, which is compiled in.
    ///
    /// # Errors
    /// When a data file does not have its form; a test keeps that from happening.
    pub fn builtin() -> Result<Self, Defect> {
        Self::shared().cloned()
    }

    /// [`Vocabulary::builtin`], read once.
    ///
    /// # Errors
    /// The same.
    pub fn shared() -> Result<&'static Self, Defect> {
        static VOCABULARY: LazyLock<Result<Vocabulary, Defect>> =
            LazyLock::new(|| Vocabulary::of(Calls::builtin()?));
        VOCABULARY.as_ref().map_err(Clone::clone)
    }

    /// The vocabulary with the calls of a text in the form of `data/calls.toml`.
    ///
    /// # Errors
    /// When it does not have that form, or describes a call twice.
    pub fn parse(calls: &str) -> Result<Self, Defect> {
        Self::of(&Calls::parse(calls)?)
    }

    fn of(calls: &Calls) -> Result<Self, Defect> {
        let annotations: Annotations = read("data/access/annotations.toml", ANNOTATIONS)?;
        let annotations = annotations.annotation.into_iter();
        let paths: Paths = read("data/access/heat.toml", HEAT)?;
        let accesses = by_name(calls.all.iter().filter_map(access_of), |a| &a.name);
        Ok(Self {
            shapes: Shapes::of(accesses.keys().map(Vec::as_slice)),
            accesses,
            calls: Arc::new(Roles::of(calls)?),
            heat: paths.path,
            annotations: annotations
                .map(|a| (a.name.into_bytes(), a.arguments))
                .collect(),
            computes: WordSet::default(),
        })
    }

    /// The same vocabulary with macros that leave no call.
    #[must_use]
    pub(crate) fn with_computing(&self, names: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let mut all = self.clone();
        all.computes.extend(names);
        all
    }

    /// The same vocabulary with macros that wrap accesses.
    #[must_use]
    pub fn with(&self, wrappers: impl IntoIterator<Item = Access>) -> Self {
        let mut all = self.clone();
        let new = wrappers
            .into_iter()
            .map(|access| (access.name.clone().into_bytes(), access));
        new.for_each(|(name, access)| {
            all.shapes.add(&name);
            all.accesses.entry(name).or_insert(access);
        });
        all
    }

    /// The access of that name.
    #[must_use]
    pub fn access(&self, name: &[u8]) -> Option<&Access> {
        let may_be = self.shapes.may_be(name);
        may_be.then(|| self.accesses.get(name)).flatten()
    }

    /// The words of the rules.
    #[must_use]
    pub fn words(&self) -> &CheckWords {
        &self.calls.words
    }

    /// The copy of that name.
    #[must_use]
    pub fn copy(&self, name: &[u8]) -> Option<&CopyCall> {
        self.calls.copies.get(name)
    }

    /// Whether a call writes zeros to user memory, and nothing else.
    #[must_use]
    pub fn clears(&self, name: &[u8]) -> bool {
        self.zeroes(name).is_some()
    }

    /// Which arguments of a call say where it writes zeros to user memory, and how
    /// many.
    pub(crate) fn zeroes(&self, name: &[u8]) -> Option<Clears> {
        self.calls.zeroes.get(name).copied()
    }

    /// The call of that name that checks a range and opens a window on it.
    #[must_use]
    pub fn window(&self, name: &[u8]) -> Option<&WindowCall> {
        self.calls.windows.get(name)
    }

    /// Which ways a statement of that name lets that opens a window for the block
    /// behind it: reads, writes.
    #[must_use]
    pub fn scoped(&self, name: &[u8]) -> Option<(bool, bool)> {
        self.calls.scoped.get(name).copied()
    }

    /// The calls that do nothing but check a range.
    #[must_use]
    pub fn range_checks(&self) -> &[String] {
        &self.calls.range_checks
    }

    /// Whether a call of that name does nothing but check a range.
    #[must_use]
    pub fn checks_range(&self, name: &[u8]) -> bool {
        let mut checks = self.calls.range_checks.iter();
        checks.any(|check| check.as_bytes() == name)
    }

    /// The accesses and copies that open and close by themselves and check no range.
    #[must_use]
    pub fn unchecked(&self) -> &[String] {
        &self.calls.unchecked
    }

    /// The copies that check the range, in the order of the data file.
    pub fn checked_copies(&self) -> impl Iterator<Item = &CopyCall> {
        self.calls.copied.iter().filter(|copy| copy.range_check)
    }

    /// The calls behind which a fault is not handled.
    #[must_use]
    pub fn faults_off(&self) -> &[String] {
        &self.calls.faults_off
    }

    /// Which way an access goes that is named after one that is known:
    /// `__get_user_asm_goto`. None where it is named after both ways.
    #[must_use]
    pub fn named_after(&self, name: &str) -> Option<Direction> {
        let named = |way| {
            let mut typed = self.calls.typed.iter();
            typed.any(|(known, own)| *own == way && name.contains(known.trim_start_matches('_')))
        };
        match (named(Direction::Read), named(Direction::Write)) {
            (true, false) => Some(Direction::Read),
            (false, true) => Some(Direction::Write),
            _ => None,
        }
    }

    /// Whether a name holds that of an access.
    #[must_use]
    pub fn tells(&self, name: &str) -> bool {
        let mut typed = self.calls.typed.iter();
        typed.any(|(known, _)| name.contains(known.trim_start_matches('_')))
    }

    /// Whether a name is one of those that need an open window.
    #[must_use]
    pub fn is_inside(&self, name: &[u8]) -> bool {
        let mut prefixes = self.calls.insides.iter();
        prefixes.any(|prefix| name.starts_with(prefix.as_bytes()))
    }

    /// Whether a piece of a file may hold an access or a copy: a search that is
    /// quick to say no.
    #[must_use]
    pub fn may_hold(&self, piece: &[u8]) -> bool {
        self.calls.places.may_be_in(piece)
    }

    /// The same of an access.
    pub(crate) fn may_access(&self, text: &[u8]) -> bool {
        self.calls.places.has(text, Found::Access)
    }

    /// The same of a copy, or of a call that opens a window.
    pub(crate) fn may_copy_or_open(&self, text: &[u8]) -> bool {
        self.calls.places.has(text, Found::Copy) || self.calls.begins.may_be_in(text)
    }

    /// The same of a call or a statement that opens a window.
    pub(crate) fn may_open(&self, text: &[u8]) -> bool {
        self.calls.begins.may_be_in(text)
    }

    /// Where the names of accesses and copies may be.
    pub(crate) fn places<'t>(
        &'t self,
        text: &'t [u8],
    ) -> impl Iterator<Item = (usize, Found)> + 't {
        self.calls.places.in_text(text)
    }

    /// Paths that user space takes often, hottest first.
    #[must_use]
    pub fn paths(&self) -> &[Heat] {
        &self.heat
    }

    /// Whether a call of that name passes its argument on and does nothing else.
    #[must_use]
    pub fn is_transparent(&self, name: &[u8]) -> bool {
        self.calls.transparent.contains(name)
    }

    /// Whether a call of that name may stay inside a window.
    #[must_use]
    pub fn is_pure(&self, name: &[u8]) -> bool {
        self.calls.pure.contains(name) || self.computes.contains(name)
    }

    /// Whether a macro of that name opens a scope with a cleanup.
    #[must_use]
    pub fn is_scope(&self, name: &[u8]) -> bool {
        self.calls.scopes.contains(name)
    }

    /// Whether the word is an annotation, and if so whether it takes arguments.
    #[must_use]
    pub fn annotation(&self, word: &[u8]) -> Option<bool> {
        self.annotations.get(word).copied()
    }
}

impl Roles {
    fn of(calls: &Calls) -> Result<Self, Defect> {
        let in_run = |wanted| words(calls.names(|does| does.in_run == Some(wanted)));
        let copied: Vec<CopyCall> = calls.all.iter().filter_map(copy_of).collect();
        let windows: Vec<WindowCall> = calls.all.iter().filter_map(window_of).collect();
        let accesses = calls.all.iter().filter_map(access_of);
        let mut opens: Vec<String> = windows.iter().map(|window| window.name.clone()).collect();
        opens.extend(calls.names(|does| does.zeroes.is_some() || does.scoped.is_some()));
        let insides = calls.families.iter().filter(|family| family.inside);
        Ok(Self {
            begins: Parts::of(&calls.search.begin, &opens)?,
            places: Places::of(calls),
            words: CheckWords::of(calls)?,
            transparent: in_run(InRun::Transparent),
            pure: in_run(InRun::Pure),
            scopes: words(calls.names(|does| does.cleanup)),
            range_checks: calls.names(Does::only_checks),
            unchecked: calls.names(|does| does.whole().is_some() && !does.range_check),
            typed: accesses.map(|own| (own.name, own.direction)).collect(),
            faults_off: calls.names(|does| does.faults_off),
            insides: insides.map(|family| family.prefix.clone()).collect(),
            windows: by_name(windows, |window| &window.name),
            zeroes: zeroes_of(calls),
            scoped: scoped_of(calls),
            copies: by_name(copied.iter().cloned(), |copy| &copy.name),
            copied,
        })
    }
}

fn zeroes_of(calls: &Calls) -> Words<Clears> {
    let own = calls.all.iter();
    own.filter_map(|call| Some((call.name.clone().into_bytes(), call.does.zeroes?)))
        .collect()
}

fn scoped_of(calls: &Calls) -> Words<(bool, bool)> {
    let lets = |call: &Call| {
        let kind = call.does.scoped?.kind;
        let ways = (kind.lets(Direction::Read), kind.lets(Direction::Write));
        Some((call.name.clone().into_bytes(), ways))
    };
    calls.all.iter().filter_map(lets).collect()
}

fn access_of(call: &Call) -> Option<Access> {
    let own = call.does.whole()?;
    own.count.is_none().then(|| Access {
        name: call.name.clone(),
        direction: own.direction,
        range_check: call.does.range_check,
        wrapper: false,
        value: own.value,
        address: Some(own.user),
        telling: true,
        reason: call.does.reason.clone(),
    })
}

fn copy_of(call: &Call) -> Option<CopyCall> {
    let own = call.does.whole()?;
    own.count.map(|size| CopyCall {
        name: call.name.clone(),
        direction: own.direction,
        user: own.user,
        size,
        range_check: call.does.range_check,
    })
}

fn window_of(call: &Call) -> Option<WindowCall> {
    let begin = call.does.begin.filter(|_| call.does.range_check)?;
    Some(WindowCall {
        name: call.name.clone(),
        read: begin.kind.lets(Direction::Read),
        write: begin.kind.lets(Direction::Write),
    })
}

fn words(names: Vec<String>) -> WordSet {
    names.into_iter().map(String::into_bytes).collect()
}

fn by_name<T>(all: impl IntoIterator<Item = T>, name: fn(&T) -> &String) -> Words<T> {
    let named = |one: T| (name(&one).clone().into_bytes(), one);
    all.into_iter().map(named).collect()
}
