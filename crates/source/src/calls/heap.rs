//! Memory by the calls that give it and take it back.

use serde::Deserialize;

/// Memory that is given back by none but its own calls.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Heap {
    /// What gives it.
    pub(crate) gives: Vec<String>,
    /// What it is given back by.
    pub(crate) takes_back: Vec<String>,
    /// What tells for one object which other call is right.
    pub(crate) told: Option<String>,
    pub(crate) reason: String,
}

/// Pages of the user's memory that a call finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfPages {
    /// Which argument is the array that it puts them in.
    pub(crate) at: usize,
    /// Which says how many it is to find.
    pub(crate) count: Option<usize>,
    /// Whether it pins them.
    #[serde(default)]
    pub(crate) pinned: bool,
    /// Whether it gives 0 where it fails, and no error number.
    #[serde(default)]
    pub(crate) never_negative: bool,
}

/// Which arguments of a call say how much memory it gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allocates {
    /// How many bytes.
    #[serde(default)]
    pub(crate) size: usize,
    /// The object or the type whose size that is, where no argument says how many bytes.
    pub(crate) object: Option<usize>,
    /// How often that.
    pub(crate) count: Option<usize>,
    /// Whether every byte is 0.
    #[serde(default)]
    pub(crate) zeroed: bool,
}

/// What a call that gives a page of memory says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivesPage {
    /// Whether every byte is 0.
    #[serde(default)]
    pub(crate) zeroed: bool,
}
