//! Functions that a program's call comes to through a table, or by their names.

use serde::Deserialize;

/// By what a program's call comes to a function: members of tables, or its name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Handler {
    #[serde(default)]
    pub(crate) members: Vec<String>,
    /// Functions that the kernel calls by their own names.
    #[serde(default)]
    pub(crate) functions: Vec<String>,
    /// Whether nobody has checked the address that it is given.
    #[serde(default)]
    pub(crate) unchecked: bool,
    /// Whether it is a 32-bit program that calls.
    #[serde(default)]
    pub(crate) compat: bool,
    /// Which argument is a number that may be an address of the user's, from 0.
    pub(crate) number: Option<usize>,
    /// Which argument leads to where in the file the program is, from 0.
    pub(crate) position: Option<usize>,
    /// Which argument is the program's address where that one is a pointer, from 0.
    pub(crate) buffer: Option<usize>,
    /// Whether the program writes there, and is told how many bytes were taken.
    #[serde(default)]
    pub(crate) writes: bool,
    pub(crate) reason: String,
}
