//! What a patch is asked for, what it is made from, and what it is.

use std::io;

use tollgate_source::{Access, TreePath};

use crate::refusal::Refusal;
use crate::style::Style;

/// A tree to read from.
pub trait ReadTree: Sync {
    /// The bytes of a file, by its path relative to the tree.
    ///
    /// # Errors
    /// The reader's own.
    fn read(&self, path: &TreePath) -> io::Result<Vec<u8>>;
}

impl<F: Fn(&TreePath) -> io::Result<Vec<u8>> + Sync> ReadTree for F {
    fn read(&self, path: &TreePath) -> io::Result<Vec<u8>> {
        self(path)
    }
}

/// What a patch is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// How windows are written.
    pub style: Style,
    /// How the subject begins; from the path if it is not given.
    pub prefix: Option<String>,
    /// Measured figures for the message, each a line that is already worded.
    pub figures: Vec<String>,
    /// Whether accesses that go on after a fault may be made to stop.
    pub stop_at_first_fault: bool,
    /// Whether a window that takes the place of an `access_ok()` may stay open over
    /// the rounds of a loop, however many there are.
    pub open_over_rounds: bool,
    /// Whether what a read fills may keep what it held after a fault, where somebody else
    /// than the function may look: `get_user()` makes it zero.
    pub no_zero_on_fault: bool,
    /// Whether a copy of a structure may touch members that the function leaves
    /// alone: it writes them as zero, or reads them for nothing.
    pub touch_all_members: bool,
    /// Whether the accesses of a static function happen in a window of its callers.
    pub into_callers: bool,
    /// The sizes in bytes that get accesses of their own in the style
    /// `size-switch`.
    pub sizes: Vec<u32>,
    /// Macros around accesses that other headers of the tree define; those of
    /// the headers beside the file are read without it.
    pub macros: Vec<Access>,
}

/// A file with a function rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patched {
    /// The file, relative to the tree.
    pub path: TreePath,
    /// The function as it is defined.
    pub function: String,
    /// The bytes of the file.
    pub original: Vec<u8>,
    /// The bytes of the file with the function rewritten.
    pub rewritten: Vec<u8>,
    /// The first line of the message.
    pub subject: String,
    /// The rest of the message, with a line end behind the last line.
    pub body: String,
    /// Windows that the function's runs opened before, and loops in the most rounds that
    /// they have.
    pub windows_before: usize,
    /// Windows that they open after.
    pub windows_after: usize,
    /// Runs of the function that stay as they are, with the reason.
    pub refused: Vec<Refusal>,
}
