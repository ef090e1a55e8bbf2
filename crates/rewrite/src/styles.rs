//! The styles: each a file with what it lacks, what it writes and its words.

mod array_copy;
mod distance;
mod form;
mod groups;
mod masked;
mod pointer;
mod relied;
mod scoped;
pub(crate) mod size_switch;
mod struct_copy;
mod told;
mod window;

pub(crate) use form::Form;
pub(crate) use pointer::is_woven;

use crate::offers::Offers;
use crate::style::Style;

/// What a style works on.
pub(crate) enum Work {
    /// Runs of accesses.
    Runs(&'static dyn Form),
    /// Copies of a size that is known only at run time.
    Copies,
}

/// What the style works on, and how.
pub(crate) fn work(style: Style) -> Work {
    match style {
        Style::Window => Work::Runs(&window::Window),
        Style::Masked => Work::Runs(&masked::Masked),
        Style::Scoped => Work::Runs(&scoped::Scoped),
        Style::StructCopy => Work::Runs(&struct_copy::StructCopy),
        Style::SizeSwitch => Work::Copies,
    }
}

/// What the style needs and the tree does not have.
pub(crate) fn lacks(style: Style, offers: Offers) -> Option<&'static str> {
    match work(style) {
        Work::Runs(form) => form.lacks(offers),
        Work::Copies => form::copies(offers),
    }
}
