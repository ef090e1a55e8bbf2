//! The build robot's knowledge: which lines a patch edits, which configurations
//! compile them, and what of a compiler's words is new.
//!
//! Bytes in, values out: Kbuild files, Kconfig files, `#if`s and `.config`s are
//! read as text; what a configuration compiles is then proved by the line markers
//! of the preprocessor ([`Preprocessed`]). Nothing is run here.
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::let_underscore_must_use)
)]

mod cells;
mod condition;
mod cover;
mod diagnostic;
mod edited;
pub mod fuzz;
mod given;
mod groups;
mod includes;
mod kbuild;
mod kconfig;
mod preprocessed;
mod report;

pub use cells::{Axis, Base, Cell, Cells, Limits, Package, Wrong};
pub use condition::{Condition, Config, Truth, option_of_word, options_of_directive};
pub use cover::{Choice, Need, cover};
pub use diagnostic::{Diagnostic, Identity, Severity, Tool, fresh, fresh_of, read, read_log};
pub use edited::{Edits, edits};
pub use groups::{Group, Groups, LineKind};
pub use includes::{Includes, included};
pub use kbuild::{Flags, Kbuild, Makefile, Rule};
pub use kconfig::{Entry, Kconfig, files_read, options_named};
pub use preprocessed::Preprocessed;
pub use report::{
    Built, CellReport, Check, Finding, FindingKind, Line, LineState, Listing, ObjectReport,
    PatchReport, Report, State, Status, Unbuilt, VERSION,
};
