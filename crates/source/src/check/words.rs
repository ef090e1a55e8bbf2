//! The calls that the rules know, read from `data/check/`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::vocabulary::{Direction, VocabularyError, read};

/// What a window lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Both.
    Full,
    /// Both, over a clamped address; every end closes it.
    Masked,
    /// Both, by the instruction itself.
    Raw,
}

impl Kind {
    /// Whether an access that way may go through.
    pub(crate) fn lets(self, direction: Direction) -> bool {
        !matches!(
            (self, direction),
            (Self::Read, Direction::Write) | (Self::Write, Direction::Read)
        )
    }

    /// Whether an end of kind `end` closes it everywhere.
    pub(crate) fn closed_by(self, end: Self) -> bool {
        self == end || self == Self::Masked && end != Self::Raw
    }

    /// As an adjective.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Full => "read-write",
            Self::Masked => "masked",
            Self::Raw => "raw",
        }
    }

    /// The call that closes it.
    pub(crate) fn end(self) -> &'static str {
        match self {
            Self::Read => "user_read_access_end",
            Self::Write => "user_write_access_end",
            Self::Full | Self::Masked => "user_access_end",
            Self::Raw => "__uaccess_end",
        }
    }
}

/// A call that opens a window.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct BeginWord {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) arguments: usize,
    #[serde(default)]
    pub(crate) always: bool,
    #[serde(default)]
    pub(crate) fence: bool,
    /// Only its name says so: whether its result has to be tested is not known.
    #[serde(skip)]
    pub(crate) guessed: bool,
}

/// A call that closes one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct EndWord {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) arguments: usize,
}

/// What the result of an access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// 0 or -EFAULT.
    Fault,
    /// How many bytes were not copied.
    Left,
}

/// An access, inside a window or with its own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct AccessWord {
    pub(crate) name: String,
    pub(crate) direction: Direction,
    pub(crate) arguments: usize,
    pub(crate) value: usize,
    pub(crate) user: usize,
    pub(crate) count: Option<usize>,
    pub(crate) result: Option<Outcome>,
    #[serde(default)]
    pub(crate) checked: bool,
}

#[derive(Deserialize)]
struct Arity {
    name: String,
    arguments: usize,
}

#[derive(Deserialize)]
struct Calls {
    begin: Vec<BeginWord>,
    end: Vec<EndWord>,
    scoped: Vec<BeginWord>,
    r#unsafe: Vec<AccessWord>,
    access: Vec<AccessWord>,
    arity: Vec<Arity>,
}

#[derive(Deserialize)]
struct Names {
    names: Vec<String>,
}

#[derive(Deserialize)]
struct Forbidden {
    names: Vec<String>,
    what: String,
}

#[derive(Deserialize)]
struct Windows {
    allowed: Vec<Names>,
    harmless: Vec<Names>,
    hook: Vec<Names>,
    forbidden: Vec<Forbidden>,
}

/// What a call in a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner<'a> {
    /// It may be there.
    Allowed,
    /// It must not; what it does.
    Forbidden(&'a str),
    /// Not in the lists.
    Unknown,
}

/// The calls that the rules know.
#[derive(Clone, Debug, Default)]
pub struct CheckWords {
    begins: HashMap<String, BeginWord>,
    ends: HashMap<String, EndWord>,
    scoped: HashMap<String, BeginWord>,
    unsafes: HashMap<String, AccessWord>,
    accesses: HashMap<String, AccessWord>,
    arities: HashMap<String, BTreeSet<usize>>,
    learned_arities: HashMap<String, BTreeSet<usize>>,
    allowed: HashMap<String, Option<String>>,
    undefined: BTreeMap<String, Undefined>,
}

/// Why a name that a change calls is taken to be undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// Neither the tree nor the change has it anywhere.
    Nowhere,
    /// The same, but a macro may put it together.
    PerhapsPasted,
}

const CALLS: &str = include_str!("../../../../data/check/calls.toml");
const WINDOW: &str = include_str!("../../../../data/check/window.toml");

impl CheckWords {
    /// The words of `data/check/`, which are compiled in.
    ///
    /// # Errors
    /// When a data file does not have its form; a test keeps that from happening.
    pub fn builtin() -> Result<Self, VocabularyError> {
        let calls: Calls = read("data/check/calls.toml", CALLS)?;
        let windows: Windows = read("data/check/window.toml", WINDOW)?;
        let mut words = Self {
            arities: arities(&calls),
            ..Self::default()
        };
        words.begins = by_name(calls.begin, |w| &w.name);
        words.ends = by_name(calls.end, |w| &w.name);
        words.scoped = by_name(calls.scoped, |w| &w.name);
        words.unsafes = by_name(calls.r#unsafe, |w| &w.name);
        words.accesses = by_name(calls.access, |w| &w.name);
        words.allow(windows);
        Ok(words)
    }

    /// The words of `data/check/`, read once; none if they do not have their form.
    pub(crate) fn shared() -> Option<&'static Self> {
        static WORDS: LazyLock<Option<CheckWords>> = LazyLock::new(|| CheckWords::builtin().ok());
        WORDS.as_ref()
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
        let words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
        let has = |word: &str| words.contains(&word);
        if self.knows(name) || !(has("access") || has("uaccess")) {
            return;
        }
        let kind = match (has("masked"), has("read"), has("write")) {
            (true, ..) => Kind::Masked,
            (_, true, false) => Kind::Read,
            (_, false, true) => Kind::Write,
            _ => Kind::Full,
        };
        let (name, arguments) = (name.to_owned(), 0);
        match words.last() {
            Some(&"begin") => self.learn_begin(BeginWord {
                name,
                kind,
                arguments,
                always: false,
                fence: false,
                guessed: true,
            }),
            Some(&"end") => self.learn_end(EndWord {
                name,
                kind,
                arguments,
            }),
            _ => {}
        }
    }

    pub(crate) fn undefined(&self, name: &str) -> Option<Undefined> {
        self.undefined.get(name).copied()
    }

    fn allow(&mut self, windows: Windows) {
        let fine = [windows.allowed, windows.harmless, windows.hook];
        let fine = fine.into_iter().flatten().flat_map(|entry| entry.names);
        self.allowed.extend(fine.map(|name| (name, None)));
        for entry in windows.forbidden {
            let what = entry.what;
            let names = entry.names.into_iter();
            self.allowed
                .extend(names.map(|name| (name, Some(what.clone()))));
        }
    }

    pub(crate) fn begin(&self, name: &str) -> Option<&BeginWord> {
        self.begins.get(name)
    }

    pub(crate) fn end(&self, name: &str) -> Option<&EndWord> {
        self.ends.get(name)
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
    pub(crate) fn manner(&self, name: &str) -> Manner<'_> {
        match self.allowed.get(name) {
            Some(None) => Manner::Allowed,
            Some(Some(what)) => Manner::Forbidden(what),
            None if name.starts_with("BUILD_BUG") || name.starts_with("__builtin_") => {
                Manner::Allowed
            }
            None => Manner::Unknown,
        }
    }

    pub(crate) fn learn_begin(&mut self, word: BeginWord) {
        self.begins.entry(word.name.clone()).or_insert(word);
    }

    pub(crate) fn learn_end(&mut self, word: EndWord) {
        self.ends.entry(word.name.clone()).or_insert(word);
    }

    pub(crate) fn learn_arity(&mut self, name: &str, arguments: usize) {
        self.learned_arities
            .entry(name.to_owned())
            .or_default()
            .insert(arguments);
    }

    /// Whether a macro of that name is one whose arguments are counted.
    pub(crate) fn counts(&self, name: &str) -> bool {
        self.arities.contains_key(name) || name.starts_with("unsafe_") && name.contains("user")
    }
}

fn by_name<T>(words: Vec<T>, name: fn(&T) -> &String) -> HashMap<String, T> {
    words.into_iter().map(|w| (name(&w).clone(), w)).collect()
}

fn arities(calls: &Calls) -> HashMap<String, BTreeSet<usize>> {
    let begins = calls.begin.iter().chain(&calls.scoped);
    let mut all: Vec<(&String, usize)> = begins.map(|w| (&w.name, w.arguments)).collect();
    all.extend(calls.end.iter().map(|w| (&w.name, w.arguments)));
    let accesses = calls.r#unsafe.iter().chain(&calls.access);
    all.extend(accesses.map(|w| (&w.name, w.arguments)));
    all.extend(calls.arity.iter().map(|w| (&w.name, w.arguments)));
    all.into_iter()
        .map(|(name, arguments)| (name.clone(), BTreeSet::from([arguments])))
        .collect()
}
