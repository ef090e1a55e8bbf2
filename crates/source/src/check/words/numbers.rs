//! What calls say of the numbers that they give.

use crate::calls::{Calls, Parses};
use crate::hashed::{HashMap, HashSet};

/// Calls by what their results are.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    /// The smallest of what they are given.
    pub(super) least: HashSet<String>,
    /// The largest.
    pub(super) greatest: HashSet<String>,
    /// No more than that argument says.
    pub(super) at_most: HashMap<String, usize>,
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
            at_most: calls.each(|does| does.at_most),
            lengths: calls.names(|does| does.length).into_iter().collect(),
        }
    }
}
