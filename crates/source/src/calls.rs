//! The calls that tollgate knows, each described once (`data/calls.toml`): what a
//! call does, and not what it is called, is what anything asks for.

mod atomic;
mod handler;
mod heap;
mod parts;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tollgate_defect::{Defect, OrDefect as _};

use crate::hashed::{HashMap, HashSet};

pub(crate) use atomic::Atomic;
pub(crate) use handler::Handler;
pub(crate) use heap::{Allocates, GivesPage, Heap, OfPages};
pub(crate) use parts::{Fills, PicksBit, Rounds, Touches, Writes};

/// Whether an access reads user memory or writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// `get_user`.
    Read,
    /// `put_user`.
    Write,
}

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

/// What a call does to user memory, and where it may stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) does: Does,
}

/// What calls that are alike do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Does {
    name: Option<String>,
    #[serde(default)]
    names: Vec<String>,
    /// The version of Linux that has it first, for people.
    pub(crate) since: Option<String>,
    pub(crate) arguments: Option<usize>,
    #[serde(default)]
    pub(crate) range_check: bool,
    #[serde(default)]
    pub(crate) part: bool,
    pub(crate) access: Option<OfAccess>,
    pub(crate) begin: Option<OfWindow>,
    pub(crate) end: Option<OfWindow>,
    pub(crate) scoped: Option<OfWindow>,
    #[serde(default)]
    pub(crate) cleanup: bool,
    #[serde(default)]
    pub(crate) faults_off: bool,
    pub(crate) fence: Option<Fence>,
    #[serde(default)]
    pub(crate) sleepless: bool,
    #[serde(default)]
    pub(crate) must_use: bool,
    #[serde(default)]
    pub(crate) length: bool,
    #[serde(default)]
    pub(crate) zero_or_error: bool,
    #[serde(default)]
    pub(crate) zero_is_fault: bool,
    pub(crate) copied: Option<Copied>,
    #[serde(default)]
    pub(crate) switches_space: bool,
    #[serde(default)]
    pub(crate) asks_compat: bool,
    #[serde(default)]
    pub(crate) ends: bool,
    #[serde(default)]
    pub(crate) frees: bool,
    #[serde(default)]
    pub(crate) releases: bool,
    #[serde(default)]
    pub(crate) takes: bool,
    #[serde(default)]
    pub(crate) managed: bool,
    #[serde(default)]
    pub(crate) installs: bool,
    #[serde(default)]
    pub(crate) unlinks: bool,
    pub(crate) makes_file_of: Option<usize>,
    pub(crate) iterates: Option<usize>,
    pub(crate) array_of: Option<usize>,
    #[serde(default)]
    pub(crate) ties_to_file: bool,
    /// Which argument leads to where it puts the address of memory that is its caller's own.
    #[serde(default)]
    pub(crate) allocates_at: Option<usize>,
    pub(crate) pages: Option<OfPages>,
    #[serde(default)]
    pub(crate) unpins: bool,
    #[serde(default)]
    pub(crate) drops_page: bool,
    #[serde(default)]
    pub(crate) least: bool,
    #[serde(default)]
    pub(crate) greatest: bool,
    pub(crate) rounds: Option<Rounds>,
    pub(crate) clears: Option<Clears>,
    pub(crate) sizes: Option<Sizes>,
    pub(crate) fills: Option<Fills>,
    pub(crate) shows: Option<Shows>,
    pub(crate) wipes: Option<usize>,
    pub(crate) writes: Option<Writes>,
    pub(crate) touches: Option<Vec<Touches>>,
    pub(crate) elements: Option<usize>,
    pub(crate) picks_bit: Option<PicksBit>,
    pub(crate) makes_bits: Option<usize>,
    pub(crate) allocates: Option<Allocates>,
    pub(crate) gives_page: Option<GivesPage>,
    pub(crate) string: Option<Vec<usize>>,
    pub(crate) compared: Option<usize>,
    pub(crate) cuts: Option<Clears>,
    pub(crate) duplicated: Option<usize>,
    pub(crate) ends_copy: Option<usize>,
    pub(crate) finds: Option<usize>,
    #[serde(default)]
    pub(crate) looks: bool,
    #[serde(default)]
    pub(crate) error_number: bool,
    #[serde(default)]
    pub(crate) of_types: bool,
    pub(crate) at_most: Option<usize>,
    pub(crate) fills_from: Option<FillsFrom>,
    pub(crate) gets: Option<Clears>,
    pub(crate) same: Option<usize>,
    pub(crate) fetches: Option<usize>,
    pub(crate) source: Option<Source>,
    #[serde(default)]
    pub(crate) by_hand: bool,
    pub(crate) defers: Option<usize>,
    #[serde(default)]
    pub(crate) lends: bool,
    pub(crate) fetched: Option<usize>,
    pub(crate) consumes: Option<usize>,
    pub(crate) parses: Option<Parses>,
    #[serde(default)]
    pub(crate) error_pointer: bool,
    #[serde(default)]
    pub(crate) users: bool,
    #[serde(default)]
    pub(crate) makes_error: bool,
    #[serde(default)]
    pub(crate) tells_errors: bool,
    #[serde(default)]
    pub(crate) tells_null: bool,
    pub(crate) zeroes: Option<Clears>,
    #[serde(default)]
    pub(crate) left: bool,
    #[serde(default)]
    pub(crate) faults: bool,
    pub(crate) duplicates: Option<Duplicates>,
    pub(crate) addresses: Option<Addresses>,
    pub(crate) address_type: Option<String>,
    pub(crate) in_run: Option<InRun>,
    pub(crate) in_window: Option<InWindow>,
    pub(crate) reason: String,
}

/// Which arguments of a call say what it fills, and from which byte of that on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FillsFrom {
    /// The object.
    pub(crate) object: usize,
    /// What leads to where in it the bytes go.
    pub(crate) position: usize,
    /// How many bytes it has.
    pub(crate) room: usize,
    /// How many are wanted.
    pub(crate) count: usize,
}

/// What a call says of what it copied, where that is not what it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Copied {
    /// How many bytes that was.
    Bytes,
    /// Whether it was all.
    All,
    /// How many bytes that was, as a number with a sign.
    Signed,
    /// How long the string is, and 0 where it faults.
    Length,
}

/// Which addresses a call makes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Addresses {
    /// All that there are, the kernel's among them.
    Any,
    /// Those of 32 bits.
    Compat,
}

impl Does {
    /// The access, if it opens and closes by itself and no other is made of it.
    pub(crate) fn whole(&self) -> Option<OfAccess> {
        self.access.filter(|access| !access.inside && !self.part)
    }

    /// Whether all that it does is to check a range.
    pub(crate) fn only_checks(&self) -> bool {
        let more = self.begin.is_some() || self.scoped.is_some() || self.access.is_some();
        self.range_check && !more
    }
}

/// How a call accesses user memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfAccess {
    pub(crate) direction: Direction,
    pub(crate) value: usize,
    pub(crate) user: usize,
    pub(crate) count: Option<usize>,
    pub(crate) result: Option<Outcome>,
    #[serde(default)]
    pub(crate) inside: bool,
}

/// How a call opens or closes a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfWindow {
    pub(crate) kind: Kind,
    #[serde(default)]
    pub(crate) always: bool,
    #[serde(default)]
    pub(crate) fence: bool,
}

/// Which arguments of a call say what of the user's it gives a copy of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Duplicates {
    /// The argument that is the user's address.
    pub(crate) user: usize,
    /// The argument that is the number of bytes.
    pub(crate) count: usize,
}

/// Which arguments say how large an object is, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sizes {
    /// As the kernel has it.
    pub(crate) kernel: usize,
    /// As the program has it, which may be of another version.
    pub(crate) user: usize,
}

/// Which arguments of a call say what it sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clears {
    /// The address.
    pub(crate) object: usize,
    /// How many bytes from there.
    pub(crate) count: usize,
}

/// Which arguments of a call say what it reads numbers from, and where these go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parses {
    /// The string.
    pub(crate) text: usize,
    /// The address of the first number's place.
    pub(crate) into: usize,
    /// Whether the arguments behind that are such, too.
    #[serde(default)]
    pub(crate) all: bool,
}

/// Which arguments of a call say what it fetches from the user, where it starts at the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// What holds the user's address.
    pub(crate) user: usize,
    /// How many bytes.
    pub(crate) count: usize,
}

/// Which arguments of a call say what a program is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shows {
    /// The address.
    pub(crate) object: usize,
    /// How many bytes from there.
    pub(crate) count: usize,
    /// Which argument leads to where in the object it begins, and is moved on.
    #[serde(default)]
    pub(crate) position: Option<usize>,
}

/// What a call does against speculation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fence {
    /// Nothing is loaded ahead of it.
    All,
    /// The address that it gives is the user's.
    Given,
}

/// What a call is among accesses that one window may serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum InRun {
    /// It passes its argument on.
    Transparent,
    /// It may stay inside.
    Pure,
}

/// What a call is in a window that is open.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum InWindow {
    /// It is made for it.
    Allowed,
    /// No call is left of it.
    Harmless,
    /// It opens or closes by itself.
    Hook,
    /// It must not be there.
    Forbidden(Deed),
}

/// What a call does that must not be in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Deed {
    /// It opens the window itself and leaves it closed.
    Accesses,
    /// It takes a lock, or drops one.
    Locks,
    /// It allocates memory, or frees it.
    Allocates,
    /// It may schedule.
    Schedules,
    /// It may print.
    Prints,
    /// It is a function.
    Called,
    /// It is one where the compiler puts it out of line.
    Outlined,
}

impl Deed {
    /// As it stands behind the call's name.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Accesses => "opens and closes the window itself, and leaves it closed",
            Self::Locks => "takes or drops a lock",
            Self::Allocates => "allocates or frees memory",
            Self::Schedules => "may schedule",
            Self::Prints => "may print",
            Self::Called => "is a real function",
            Self::Outlined => "is a function wherever the compiler does not expand it",
        }
    }

    /// Whether so much may happen meanwhile that what was known of an address is not known
    /// any more.
    pub(crate) fn takes_time(self) -> bool {
        matches!(self, Self::Locks | Self::Allocates | Self::Schedules)
    }
}

/// Names that begin alike.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    pub(crate) prefix: String,
    #[serde(default)]
    pub(crate) inside: bool,
    pub(crate) in_window: Option<InWindow>,
    pub(crate) reason: String,
}

/// Two calls of which the second takes back what the first did.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pair {
    pub(crate) begin: String,
    pub(crate) end: String,
    /// Whether the first opens the gate to user memory: once, and for no call.
    #[serde(default)]
    pub(crate) gate: bool,
    pub(crate) reason: String,
}

/// What a function is declared to take that is called with a copy of the user's bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenCopy {
    /// A word of the type of each parameter.
    pub(crate) takes: Vec<String>,
    /// Which of them leads to the copy, from 0.
    pub(crate) copy: usize,
    pub(crate) reason: String,
}

/// Structs that are never anything but copies of what a program gave, so that nobody has checked the
/// pointers in them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CopiedStruct {
    pub(crate) names: Vec<String>,
    pub(crate) reason: String,
}

/// Calls that take a lock of which a holder may sleep, and that let it go.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lock {
    pub(crate) begins: Vec<String>,
    pub(crate) ends: Vec<String>,
    /// Whether it may count things, which are kept where all goes well.
    #[serde(default)]
    pub(crate) counts: bool,
    /// Those that may give an error number instead, and then have taken nothing.
    #[serde(default)]
    pub(crate) fails: Vec<String>,
    /// Those that take one where nobody has it, and give 0 otherwise.
    #[serde(default)]
    pub(crate) tries: Vec<String>,
    pub(crate) reason: String,
}

/// A word of the names of calls that take a lock, and one of those that let it go.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LockWord {
    pub(crate) takes: String,
    pub(crate) lets_go: String,
    /// Whether all other words are the same, and not those in front of it alone.
    #[serde(default)]
    pub(crate) whole: bool,
    /// Whether it may count things, which are kept where all goes well.
    #[serde(default)]
    pub(crate) counts: bool,
    /// Words of names that are of something else.
    pub(crate) not: Vec<String>,
    /// Words of those that may give an error number instead, and then have taken nothing.
    #[serde(default)]
    pub(crate) fails: Vec<String>,
    /// The word of those that take one where nobody has it, and give 0 otherwise.
    #[serde(default)]
    pub(crate) tries: Option<String>,
    pub(crate) reason: String,
}

/// Words of the names of calls that give what is their caller's own, and of those that it gives
/// it back by.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnerWord {
    pub(crate) takes: Vec<String>,
    pub(crate) releases: Vec<String>,
    pub(crate) reason: String,
}

/// What a function does of a window of its caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ForCaller {
    /// It opens one and leaves it so.
    Opens,
    /// It closes one.
    Closes,
    /// It is called in one.
    Inside,
}

/// Names that say so: by what they begin or end with, or hold.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WindowName {
    pub(crate) does: ForCaller,
    #[serde(default)]
    pub(crate) begin: Vec<String>,
    #[serde(default)]
    pub(crate) end: Vec<String>,
    pub(crate) hold: Vec<String>,
    pub(crate) reason: String,
}

/// Parts of the names of members that say how many elements another one has.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CountWord {
    pub(crate) front: Vec<String>,
    pub(crate) behind: Vec<String>,
    pub(crate) reason: String,
}

/// Classes of guard() and its like, each of which does what a call does until its scope
/// ends.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Guard {
    pub(crate) classes: Vec<String>,
    /// The call.
    pub(crate) call: String,
    pub(crate) reason: String,
}

/// Parts of names, for searches.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    pub(crate) stem: String,
    pub(crate) access: Vec<String>,
    pub(crate) copy: Vec<String>,
    pub(crate) begin: Vec<String>,
    pub(crate) suspect: Vec<String>,
    pub(crate) teach: Vec<String>,
    pub(crate) lock: Vec<String>,
    pub(crate) define: Vec<String>,
    pub(crate) count: Vec<String>,
}

/// All calls, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Calls {
    pub(crate) search: Search,
    pub(crate) families: Vec<Family>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) atomics: Vec<Atomic>,
    pub(crate) locks: Vec<Lock>,
    pub(crate) bit_locks: Vec<Lock>,
    pub(crate) lock_words: Vec<LockWord>,
    pub(crate) owner_words: Vec<OwnerWord>,
    pub(crate) heaps: Vec<Heap>,
    pub(crate) window_names: Vec<WindowName>,
    pub(crate) count_words: Vec<CountWord>,
    pub(crate) guards: Vec<Guard>,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) given_copies: Vec<GivenCopy>,
    pub(crate) copied_structs: Vec<CopiedStruct>,
    pub(crate) all: Vec<Call>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    search: Search,
    family: Vec<Family>,
    pair: Vec<Pair>,
    atomic: Vec<Atomic>,
    lock: Vec<Lock>,
    bit_lock: Vec<Lock>,
    lock_word: Vec<LockWord>,
    owner_word: Vec<OwnerWord>,
    heap: Vec<Heap>,
    window_name: Vec<WindowName>,
    count_word: Vec<CountWord>,
    guard: Vec<Guard>,
    #[serde(default)]
    handler: Vec<Handler>,
    #[serde(default)]
    given_copy: Vec<GivenCopy>,
    #[serde(default)]
    copied_struct: Vec<CopiedStruct>,
    call: Vec<Does>,
}

/// The calls that are compiled in.
const CALLS: &str = include_str!("../../../data/calls.toml");

impl Calls {
    /// The calls that are compiled in, read once.
    ///
    /// # Errors
    /// When the data file does not have its form; a test keeps that from happening.
    pub(crate) fn builtin() -> Result<&'static Self, Defect> {
        static BUILTIN: LazyLock<Result<Calls, Defect>> = LazyLock::new(|| Calls::parse(CALLS));
        BUILTIN.as_ref().map_err(Clone::clone)
    }

    /// The calls of a text in the form of `data/calls.toml`.
    ///
    /// # Errors
    /// When it does not have that form, or describes a call twice.
    pub(crate) fn parse(text: &str) -> Result<Self, Defect> {
        let file: File = read("data/calls.toml", text)?;
        let mut calls = Self {
            search: file.search,
            families: file.family,
            pairs: file.pair,
            atomics: file.atomic,
            locks: file.lock,
            bit_locks: file.bit_lock,
            lock_words: file.lock_word,
            owner_words: file.owner_word,
            heaps: file.heap,
            window_names: file.window_name,
            count_words: file.count_word,
            guards: file.guard,
            handlers: file.handler,
            given_copies: file.given_copy,
            copied_structs: file.copied_struct,
            all: Vec::new(),
        };
        for does in file.call {
            let names = does.name.iter().chain(&does.names);
            calls.all.extend(names.map(|name| Call {
                name: name.clone(),
                does: does.clone(),
            }));
        }
        let mut known = HashSet::default();
        match calls.all.iter().find(|call| !known.insert(&call.name)) {
            Some(twice) => Err(Defect::new(format!(
                "data/calls.toml describes {}() twice",
                twice.name
            ))),
            None => Ok(calls),
        }
    }

    /// Every name that is written down: of calls, and of what stands for one in a group.
    pub(crate) fn every_name(&self) -> impl Iterator<Item = &str> {
        let pairs = self.pairs.iter().flat_map(|own| [&own.begin, &own.end]);
        let atomics = self.atomics.iter().map(|own| [&own.begins, &own.ends]);
        let locks = self.locks.iter().chain(&self.bit_locks);
        let locks = locks.map(|own| [&own.begins, &own.ends]);
        let groups = atomics.chain(locks).flatten().flatten();
        let classes = self.guards.iter().flat_map(|own| &own.classes);
        let calls = self.all.iter().map(|call| &call.name);
        let all = calls.chain(pairs).chain(groups).chain(classes);
        all.map(String::as_str)
    }

    /// The names of those that do something.
    pub(crate) fn names(&self, does: impl Fn(&Does) -> bool) -> Vec<String> {
        let calls = self.all.iter().filter(|call| does(&call.does));
        calls.map(|call| call.name.clone()).collect()
    }

    /// What those that have it have of something, by their names.
    pub(crate) fn each<T>(&self, of: fn(&Does) -> Option<T>) -> HashMap<String, T> {
        let all = self.all.iter();
        all.filter_map(|call| Some((call.name.clone(), of(&call.does)?)))
            .collect()
    }
}

/// A data file's text as what it should hold.
pub(crate) fn read<'a, T: Deserialize<'a>>(file: &str, text: &'a str) -> Result<T, Defect> {
    toml::from_str(text).or_defect(&format!("the data file {file} is not what it should be"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_described_once() {
        let one = "\n[[call]]\nname = \"access_ok\"\nreason = \"once more\"\n";
        let told = Calls::parse(&format!("{CALLS}{one}")).unwrap_err();
        assert!(told.to_string().contains("describes access_ok() twice"));
        let told = Calls::parse(&format!("{CALLS}{}", one.replace("name", "nmae")));
        assert!(told.unwrap_err().to_string().contains("data/calls.toml"));
    }

    #[test]
    fn every_entry_has_its_reason() {
        let calls = Calls::parse(CALLS).unwrap();
        for call in &calls.all {
            assert!(!call.does.reason.is_empty(), "{}", call.name);
            let since = call.does.since.iter();
            let mut numbers = since.flat_map(|since| since.split('.'));
            assert!(
                numbers.all(|part| part.parse::<u32>().is_ok()),
                "{}",
                call.name
            );
        }
        assert!(calls.guards.iter().all(|guard| !guard.reason.is_empty()));
        let mut locks = calls.locks.iter().chain(&calls.bit_locks);
        assert!(locks.all(|own| !own.reason.is_empty()));
        assert!(calls.lock_words.iter().all(|own| !own.reason.is_empty()));
        assert!(calls.owner_words.iter().all(|own| !own.reason.is_empty()));
        assert!(calls.heaps.iter().all(|own| !own.reason.is_empty()));
        assert!(calls.window_names.iter().all(|own| !own.reason.is_empty()));
        assert!(calls.count_words.iter().all(|own| !own.reason.is_empty()));
        assert!(
            calls
                .families
                .iter()
                .all(|family| !family.reason.is_empty())
        );
    }
}
