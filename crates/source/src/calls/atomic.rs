//! Calls between which nobody may sleep, as the data has them.

use serde::Deserialize;

/// Calls between which nobody may sleep.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Atomic {
    pub(crate) begins: Vec<String>,
    pub(crate) ends: Vec<String>,
    /// Those that take one where nobody has it, and give 0 otherwise.
    #[serde(default)]
    pub(crate) tries: Vec<String>,
    /// Whether code relies on it that a fault fails there: arch/*/mm/fault.c ask
    /// `faulthandler_disabled()`, which counts preemption.
    #[serde(default)]
    pub(crate) fallible: bool,
    /// Whether no fault is handled there: the access fails wherever the page is not there.
    #[serde(default)]
    pub(crate) unhandled: bool,
    /// Whether a fault takes the lock itself, of which a holder may sleep.
    #[serde(default)]
    pub(crate) again: bool,
    pub(crate) reason: String,
}
