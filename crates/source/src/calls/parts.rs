//! Which parts of an object calls go by, and which part of a number.

use serde::Deserialize;

/// Which way a number is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rounds {
    Down,
    Up,
}

/// Which arguments of a call say what bit it sets, clears or asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PicksBit {
    /// Its number, from 0.
    pub(crate) number: usize,
    /// The address of what it is one of.
    pub(crate) map: usize,
}

/// Which arguments of a call say how many bytes it reads or writes from an address on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Touches {
    /// The address.
    pub(crate) object: usize,
    /// The number.
    pub(crate) count: usize,
    /// How many bytes for each.
    #[serde(default = "one")]
    pub(crate) times: u64,
}

fn one() -> u64 {
    1
}

/// Which arguments of a call say what it copies something into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fills {
    /// The address.
    pub(crate) object: usize,
    /// How many bytes from there; without it a string, up to the 0 behind it.
    pub(crate) count: Option<usize>,
    /// The address of what it copies.
    pub(crate) from: Option<usize>,
}

/// Which arguments of a call say what string it writes, of which its result says how long it
/// would be with room enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Writes {
    /// The address.
    pub(crate) object: usize,
    /// How many bytes there are; none where it takes as many as it needs.
    pub(crate) count: Option<usize>,
    /// The format, behind which stands what it takes.
    pub(crate) format: usize,
}
