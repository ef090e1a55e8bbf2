//! What calls say of the numbers that they give.

use crate::calls::{Calls, CountWord, Parses, Rounds};
use crate::hashed::{HashMap, HashSet};

/// Calls by what their results are.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    /// The smallest of what they are given.
    pub(super) least: HashSet<String>,
    /// The largest.
    pub(super) greatest: HashSet<String>,
    /// Their first argument, rounded.
    pub(super) rounds: HashMap<String, Rounds>,
    /// No more than that argument says.
    pub(super) at_most: HashMap<String, usize>,
    /// That argument, where it is in its bounds.
    pub(super) same: HashMap<String, usize>,
    /// Which argument says how many bytes they fetch.
    pub(super) fetched: HashMap<String, usize>,
    /// Which argument says how many bytes there are of which they take some.
    pub(super) consumes: HashMap<String, usize>,
    /// The names of members that count others.
    counts: Vec<CountWord>,
    /// How long a string is.
    pub(super) lengths: HashSet<String>,
    /// Which argument is read as a string, no further than another goes.
    pub(super) compared: HashMap<String, usize>,
    /// What they read from a string.
    pub(super) parses: HashMap<String, Parses>,
}

impl Numbers {
    pub(super) fn of(calls: &Calls) -> Self {
        Self {
            compared: calls.each(|does| does.compared),
            parses: calls.each(|does| does.parses),
            least: calls.names(|does| does.least).into_iter().collect(),
            greatest: calls.names(|does| does.greatest).into_iter().collect(),
            rounds: calls.each(|does| does.rounds),
            at_most: calls.each(|does| does.at_most),
            same: calls.each(|does| does.same),
            fetched: calls.each(|does| does.fetched),
            consumes: calls.each(|does| does.consumes),
            counts: calls.count_words.clone(),
            lengths: calls.names(|does| does.length).into_iter().collect(),
        }
    }

    /// What the name of a member says that it counts, by each of its parts that may say so.
    pub(super) fn counted<'n>(&'n self, count: &'n str) -> impl Iterator<Item = &'n str> {
        self.counts.iter().flat_map(move |own| {
            let front = own.front.iter();
            let front = front.filter_map(move |part| count.strip_prefix(part.as_str()));
            let behind = own.behind.iter();
            front.chain(behind.filter_map(move |part| count.strip_suffix(part.as_str())))
        })
    }
}
