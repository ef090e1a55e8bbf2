//! The words that the analysis knows, read from data files.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};

use crate::heat::Heat;
use crate::types::Scalars;

/// Whether an access reads user memory or writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// `get_user`.
    Read,
    /// `put_user`.
    Write,
}

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
    /// Which argument of a wrapper is the address, counted from 0; the last if
    /// this does not say.
    #[serde(default)]
    pub address: Option<usize>,
    /// Where the kernel says so.
    pub reason: String,
}

impl Access {
    /// Whether a header's macro means the same in another file: only if its
    /// name says what it does, since names such as `COPY` are used again.
    #[must_use]
    pub fn is_known_by_name(&self) -> bool {
        self.name.contains("get_user") || self.name.contains("put_user")
    }
}

/// A call that copies a block to or from user memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CopyCall {
    /// The name of the function, `copy_to_user`.
    pub name: String,
    /// Which way the data goes.
    pub direction: Direction,
    /// Which argument is the user's address, counted from 0.
    pub user: usize,
    /// Which argument is the size in bytes.
    pub size: usize,
}

/// A call that opens a window.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct WindowCall {
    /// The name of the function or macro, `user_access_begin`.
    pub name: String,
    /// Whether reads may follow.
    pub read: bool,
    /// Whether writes may follow.
    pub write: bool,
}

/// A data file that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("the data file {file} is not what it should be: {source}")]
pub struct VocabularyError {
    file: &'static str,
    source: toml::de::Error,
}

/// Every word of a file that holds an access is looked up in several of these.
type Words<T> = HashMap<Vec<u8>, T, RandomState>;
type WordSet = HashSet<Vec<u8>, RandomState>;

/// The calls and annotations that the analysis knows.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    scalars: Arc<Scalars>,
    accesses: Words<Access>,
    copies: Words<CopyCall>,
    windows: Words<WindowCall>,
    heat: Vec<Heat>,
    transparent: WordSet,
    pure: WordSet,
    scopes: WordSet,
    annotations: Words<bool>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Annotation {
    name: String,
    arguments: bool,
}

#[derive(Deserialize)]
struct Calls {
    access: Vec<Access>,
    transparent: Vec<Named>,
    pure: Vec<Named>,
    scope: Vec<Named>,
    copy: Vec<CopyCall>,
    window: Vec<WindowCall>,
}

#[derive(Deserialize)]
struct Paths {
    path: Vec<Heat>,
}

#[derive(Deserialize)]
struct Annotations {
    annotation: Vec<Annotation>,
}

const CALLS: &str = include_str!("../../../data/access/calls.toml");
const HEAT: &str = include_str!("../../../data/access/heat.toml");
const ANNOTATIONS: &str = include_str!("../../../data/access/annotations.toml");

impl Vocabulary {
    /// The vocabulary of `data/access/`, which is compiled in.
    ///
    /// # Errors
    /// When a data file does not have its form; a test keeps that from happening.
    pub fn builtin() -> Result<Self, VocabularyError> {
        let calls: Calls = read("data/access/calls.toml", CALLS)?;
        let annotations: Annotations = read("data/access/annotations.toml", ANNOTATIONS)?;
        let paths: Paths = read("data/access/heat.toml", HEAT)?;
        Ok(Self {
            scalars: Arc::new(Scalars::builtin()?),
            heat: paths.path,
            copies: calls
                .copy
                .into_iter()
                .map(|call| (call.name.clone().into_bytes(), call))
                .collect(),
            windows: calls
                .window
                .into_iter()
                .map(|call| (call.name.clone().into_bytes(), call))
                .collect(),
            accesses: calls
                .access
                .into_iter()
                .map(|a| (a.name.clone().into_bytes(), a))
                .collect(),
            transparent: names(calls.transparent),
            pure: names(calls.pure),
            scopes: names(calls.scope),
            annotations: annotations
                .annotation
                .into_iter()
                .map(|a| (a.name.into_bytes(), a.arguments))
                .collect(),
        })
    }

    /// The size in bytes of a type that needs no definition, as it is written, where
    /// a `long` has so many bytes.
    #[must_use]
    pub fn scalar(&self, written: &str, long: u64) -> Option<u64> {
        self.scalars.size(written, long)
    }

    /// The same vocabulary with macros that wrap accesses.
    #[must_use]
    pub fn with(&self, wrappers: impl IntoIterator<Item = Access>) -> Self {
        let mut all = self.clone();
        let new = wrappers
            .into_iter()
            .map(|access| (access.name.clone().into_bytes(), access));
        new.for_each(|(name, access)| {
            all.accesses.entry(name).or_insert(access);
        });
        all
    }

    /// The access of that name.
    #[must_use]
    pub fn access(&self, name: &[u8]) -> Option<&Access> {
        self.accesses.get(name)
    }

    /// The copy of that name.
    #[must_use]
    pub fn copy(&self, name: &[u8]) -> Option<&CopyCall> {
        self.copies.get(name)
    }

    /// The call of that name that opens a window.
    #[must_use]
    pub fn window(&self, name: &[u8]) -> Option<&WindowCall> {
        self.windows.get(name)
    }

    /// Paths that user space takes often, hottest first.
    #[must_use]
    pub fn paths(&self) -> &[Heat] {
        &self.heat
    }

    /// Whether a call of that name passes its argument on and does nothing else.
    #[must_use]
    pub fn is_transparent(&self, name: &[u8]) -> bool {
        self.transparent.contains(name)
    }

    /// Whether a call of that name may stay inside a window.
    #[must_use]
    pub fn is_pure(&self, name: &[u8]) -> bool {
        self.pure.contains(name)
    }

    /// Whether a macro of that name opens a scope with a cleanup.
    #[must_use]
    pub fn is_scope(&self, name: &[u8]) -> bool {
        self.scopes.contains(name)
    }

    /// Whether the word is an annotation, and if so whether it takes arguments.
    #[must_use]
    pub fn annotation(&self, word: &[u8]) -> Option<bool> {
        self.annotations.get(word).copied()
    }
}

/// A data file's text as what it should hold.
pub(crate) fn read<'a, T: Deserialize<'a>>(
    file: &'static str,
    text: &'a str,
) -> Result<T, VocabularyError> {
    toml::from_str(text).map_err(|source| VocabularyError { file, source })
}

fn names(entries: Vec<Named>) -> WordSet {
    entries
        .into_iter()
        .map(|entry| entry.name.into_bytes())
        .collect()
}
