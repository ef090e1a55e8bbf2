//! A run of user accesses rewritten into one window, as a patch.
//!
//! Bytes in, values out: [`fix`] reads a function through [`ReadTree`] and gives
//! the file's new text and the message of the patch, or the reason why the
//! function stays as it is. The meaning is kept, or the fix is refused.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::let_underscore_must_use)
)]

mod asked;
mod calls;
mod custom;
mod directives;
mod edit;
mod fix;
mod folders;
mod gate;
mod helper;
mod include;
mod instead;
mod lines;
mod masks;
mod message;
mod offers;
mod plan;
mod planned;
mod planning;
mod prefix;
mod probes;
mod refusal;
mod request;
mod series;
mod style;
mod styles;
mod subject;
mod target;
mod writing;

pub use fix::{fix, offered};
pub use instead::instead;
pub use masks::can_mask;
pub use offers::{Offers, UACCESS};
pub use prefix::{prefix_of_history, prefix_of_path};
pub use probes::Probes;
pub use refusal::{FixError, Reason, Refusal};
pub use request::{Patched, ReadTree, Request};
pub use series::{cover_letter, merged};
pub use style::{Style, StyleError};
pub use target::{Target, TargetError};
