//! The C files of a tree: listed, read and analysed by all processors, each file once,
//! so that the tree is never in memory.

mod callers;
mod list;
mod names;
mod scan;
mod text;
mod walk;
mod windows;

pub use callers::with_callers;
pub use list::{Sources, sources_below};
pub use names::names_of;
pub(crate) use scan::unlisted;
pub use scan::{Files, Sizes, macros, scan, scan_files};
pub use text::{NUL, has_nul};
pub use windows::with_windows;
