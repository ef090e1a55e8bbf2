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
