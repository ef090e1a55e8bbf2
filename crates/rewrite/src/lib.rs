//! A run of user accesses rewritten into one window, as a patch.
//!
//! Bytes in, values out: [`fix`] reads a function through [`ReadTree`] and gives
//! the file's new text and the message of the patch, or the reason why the
//! function stays as it is. The meaning is kept, or the fix is refused.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::let_underscore_must_use)
)]

mod advance;
mod braces;
mod carried;
mod chained;
mod condition;
mod covered;
mod directives;
mod edit;
mod falls;
mod fault;
mod fix;
mod gate;
mod groups;
mod include;
mod layout;
mod masked;
mod maybe;
mod message;
mod offers;
mod offset;
mod pieces;
mod plan;
mod pointer;
mod prefix;
mod range;
mod refusal;
mod scoped;
mod shape;
mod size_switch;
mod struct_copy;
mod style;
mod target;
mod window;
mod zero;

pub use fix::{Patched, ReadTree, Request, fix};
pub use masked::can_mask;
pub use offers::{Offers, UACCESS};
pub use prefix::{prefix_of_history, prefix_of_path};
pub use refusal::{FixError, Reason, Refusal};
pub use style::{Style, StyleError};
pub use target::{Target, TargetError};
