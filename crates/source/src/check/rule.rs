//! What a rule is: its name and words, and what it looks at.

use super::change::FunctionChange;
use super::context::{FileContext, FunctionContext};
use super::model::{RuleInfo, Violation};

/// What a rule looks at.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    /// The words of a file, behind every `#if`.
    Words(fn(&FileContext<'_>, &mut Vec<Violation>)),
    /// A function that opens, closes or uses a window.
    Window(fn(&FunctionContext<'_>, &mut Vec<Violation>)),
    /// A function that accesses user memory in any way.
    Access(fn(&FunctionContext<'_>, &mut Vec<Violation>)),
    /// A function before and after a change.
    Change(fn(&FunctionChange<'_>, &mut Vec<Violation>)),
    /// Nothing by itself: what other tools said of a function.
    Said,
    /// Nothing by itself: comments that allow something.
    Comments,
}

pub(crate) struct Rule {
    pub(crate) info: &'static RuleInfo,
    pub(crate) look: Look,
}
