//! What was asked of a fix, as plain data.

use std::ffi::OsString;
use std::path::PathBuf;

use tollgate_rewrite::Style;

use crate::output::Output;

/// Everything that the command line says of a fix.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The tree.
    pub(crate) tree: PathBuf,
    /// The functions, `FILE:FUNCTION`; every finding where none is named.
    pub(crate) targets: Vec<OsString>,
    /// The folder of a series.
    pub(crate) output: Option<PathBuf>,
    /// What a patch of a series holds.
    pub(crate) per: Per,
    /// Whether each touched object is compiled before and after.
    pub(crate) check: bool,
    /// The cache.
    pub(crate) cache: Option<PathBuf>,
    /// A saved result whose figures go into the message.
    pub(crate) with_figures: Option<PathBuf>,
    /// How user memory is accessed after the fix.
    pub(crate) style: Style,
    /// The sizes in bytes of a style that wants some.
    pub(crate) sizes: Vec<u32>,
    /// Whether a copy may touch members that the function leaves alone.
    pub(crate) touch_all_members: bool,
    /// Whether a trailer says who helped.
    pub(crate) assisted_by: bool,
    /// Whether accesses may stop at the first fault that went on.
    pub(crate) stop_at_first_fault: bool,
    /// Whether a window may stay open over the rounds of a loop, however many.
    pub(crate) open_over_rounds: bool,
    /// Whether what a read fills may keep what it held after a fault.
    pub(crate) no_zero_on_fault: bool,
    /// Whether the accesses of a static function happen in a window of its callers.
    pub(crate) into_callers: bool,
    /// What is shown, and where the JSON goes.
    pub(crate) shown: Output,
}

/// What one patch of a series holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Per {
    /// One function.
    Function,
    /// All functions of one file.
    File,
}
