//! What functions of a file read as strings, of what they are given.

use std::rc::Rc;

use crate::expression::Expression;

/// A string that a function reads of what it is given.
#[derive(Clone)]
pub(crate) struct ReadIn {
    /// Which parameter leads to it.
    pub(crate) at: usize,
    /// What leads to it, as the function names it.
    pub(crate) string: Expression,
    /// What reads it, in words.
    pub(crate) by: String,
    /// Whether it is read no further than another string goes.
    pub(crate) compared: bool,
    /// Whether the words say in which function of the file.
    pub(crate) within: bool,
}

/// All that one reads.
pub(crate) type AllRead = Rc<[ReadIn]>;
