//! Which calls take something that is its caller's own, and which give that back.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;

use crate::calls::{Calls, Does, OfPages};
use crate::hashed::{HashMap, HashSet};

use super::CheckWords;
use super::locking::{counting, tried};

/// What takes something that is its caller's own, and what gives that back.
#[derive(Clone, Debug)]
pub(super) struct Owned {
    ends: BTreeSet<String>,
    frees: BTreeSet<String>,
    takes: BTreeSet<String>,
    releases: BTreeSet<String>,
    installs: BTreeSet<String>,
    unlinks: BTreeSet<String>,
    files: BTreeMap<String, usize>,
    /// What makes a file with which an object goes.
    ties: BTreeSet<String>,
    /// Which argument leads to where a call puts memory of its caller's own.
    places: HashMap<String, usize>,
    heaps: Heaps,
    pages: HashMap<String, OfPages>,
    unpins: BTreeSet<String>,
    drops_page: BTreeSet<String>,
    /// The kinds of locks that may count things.
    counting: BTreeSet<usize>,
    /// What may give an error number and has taken no lock then.
    pub(super) fails: BTreeSet<String>,
    /// What takes a lock of a kind where nobody has it.
    tries: HashMap<String, usize>,
}

impl Owned {
    pub(super) fn of(calls: &Calls) -> Self {
        let names = |does: fn(&Does) -> bool| calls.names(does).into_iter().collect();
        let taken = |does: &Does| {
            does.takes
                || does.allocates.is_some()
                || does.duplicates.is_some()
                || does.duplicated.is_some()
        };
        let all = calls.all.iter();
        let files = all.filter_map(|call| Some((call.name.clone(), call.does.makes_file_of?)));
        let tied: fn(&Does) -> bool = |does| does.ties_to_file || does.makes_file_of.is_some();
        let takes = calls.names(|does| taken(does) && !does.managed);
        Self {
            ends: names(|does| does.ends),
            frees: names(|does| does.frees),
            takes: takes.into_iter().collect(),
            releases: names(|does| does.frees || does.releases),
            installs: names(|does| does.installs),
            unlinks: names(|does| does.unlinks),
            files: files.collect(),
            ties: names(tied),
            places: calls.each(|does| does.allocates_at),
            heaps: Heaps::of(calls),
            pages: calls.each(|does| does.pages),
            unpins: names(|does| does.unpins),
            drops_page: names(|does| does.drops_page),
            counting: counting(calls),
            tries: tried(calls),
            fails: calls
                .locks
                .iter()
                .flat_map(|own| own.fails.iter().cloned())
                .collect(),
        }
    }
}

impl CheckWords {
    /// What is known of memory that is given back by none but its own calls.
    pub(crate) fn heaps(&self) -> &Heaps {
        &self.owned.heaps
    }

    /// Where a call of that name puts pages of the user's, and whether it pins them.
    pub(crate) fn pages(&self, name: &str) -> Option<OfPages> {
        self.owned.pages.get(name).copied()
    }

    /// Whether a text names a call that pins pages.
    pub(crate) fn may_pin(&self, text: &[u8]) -> bool {
        let mut pins = self.owned.pages.iter().filter(|(_, own)| own.pinned);
        pins.any(|(name, _)| memmem::find(text, name.as_bytes()).is_some())
    }

    /// Whether a call of that name gives back the pin of a page.
    pub(crate) fn unpins(&self, name: &str) -> bool {
        self.owned.unpins.contains(name)
    }

    /// Whether a call of that name gives back a reference of a page, and no pin.
    pub(crate) fn drops_page(&self, name: &str) -> bool {
        self.owned.drops_page.contains(name)
    }

    /// Whether what a call of that name is given first, or holds it, is on no list behind it.
    pub(crate) fn unlinks(&self, name: &str) -> bool {
        self.owned.unlinks.contains(name)
    }

    /// Whether a call of that name does not come back.
    pub(crate) fn ends(&self, name: &str) -> bool {
        self.owned.ends.contains(name)
    }

    /// Whether nobody sees what a call of that name was given any more.
    pub(crate) fn frees(&self, name: &str) -> bool {
        self.owned.frees.contains(name)
    }

    /// Whether a call of that name gives back what its caller owned by an argument.
    pub(crate) fn releases(&self, name: &str) -> bool {
        self.owned.releases.contains(name)
    }

    /// Whether what a call of that name gives is its caller's own, until that gives it back.
    pub(crate) fn takes(&self, name: &str) -> bool {
        self.owned.takes.contains(name)
    }

    /// The kind of locks that a call of that name takes one of where nobody has it, which it tells
    /// by what is not 0.
    pub(crate) fn lock_tried(&self, name: &str) -> Option<usize> {
        self.owned.tries.get(name).copied()
    }

    /// Whether what a lock of a kind lends may be kept where all goes well.
    pub(crate) fn counts_things(&self, kind: usize) -> bool {
        self.owned.counting.contains(&kind)
    }

    /// Which argument leads to where a call of that name puts the address of memory of its caller's own.
    pub(crate) fn allocates_at(&self, name: &str) -> Option<usize> {
        self.owned.places.get(name).copied()
    }

    /// Whether a call of that name makes a descriptor the program's.
    pub(crate) fn installs(&self, name: &str) -> bool {
        self.owned.installs.contains(name)
    }

    /// Which argument of a call of that name leads to what goes with the file that it makes the
    /// program's.
    pub(crate) fn makes_file_of(&self, name: &str) -> Option<usize> {
        self.owned.files.get(name).copied()
    }

    /// Whether what a call of that name is given goes with the file that it makes.
    pub(crate) fn ties_to_file(&self, name: &str) -> bool {
        self.owned.ties.contains(name)
    }
}

/// Memory by the calls that give it and take it back.
#[derive(Clone, Debug)]
pub(crate) struct Heaps {
    /// Which one a call gives memory of, as a number.
    given: HashMap<String, usize>,
    /// Which ones a call takes back.
    taken_back: HashMap<String, HashSet<usize>>,
    /// What tells for one object which other call is right.
    told: HashMap<usize, String>,
}

impl Heaps {
    pub(super) fn of(calls: &Calls) -> Self {
        let mut own = Self {
            given: HashMap::default(),
            taken_back: HashMap::default(),
            told: HashMap::default(),
        };
        for (at, heap) in calls.heaps.iter().enumerate() {
            let given = heap.gives.iter().map(|name| (name.clone(), at));
            own.given.extend(given);
            for name in &heap.takes_back {
                own.taken_back.entry(name.clone()).or_default().insert(at);
            }
            own.told.extend(heap.told.clone().map(|name| (at, name)));
        }
        own
    }

    /// Which memory a call of that name gives.
    pub(crate) fn given_by(&self, name: &str) -> Option<usize> {
        self.given.get(name).copied()
    }

    /// Which memory may be given back by a call of that name; none where it is not known to give back any.
    pub(crate) fn taken_back_by(&self, name: &str) -> Option<&HashSet<usize>> {
        self.taken_back.get(name)
    }

    /// The call that tells for an object of a kind of memory which other one is right.
    pub(crate) fn told_by(&self, heap: usize) -> Option<&str> {
        self.told.get(&heap).map(String::as_str)
    }
}
