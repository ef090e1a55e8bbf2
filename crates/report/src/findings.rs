//! Findings of a scan for people and programs.

mod json;
mod profile;
mod source;
mod text;
mod view;

pub use json::{FINDINGS_VERSION, findings_json};
pub use source::findings_in_source;
pub use text::findings_document;
pub use view::{Profiled, Share, View};

use tollgate_source::{Aside, Kind, Size};

/// What an aside is, in one line without its place.
pub(crate) fn aside_words(aside: &Aside) -> String {
    let chance = &aside.chance;
    let size = size_words(&chance.size, &chance.written);
    let (call, object) = (&chance.call, &chance.object);
    match (&chance.beside, chance.kind) {
        (Some(beside), Kind::WindowNeighbour) => format!(
            "{call}() at {object} next to the window of {}() at line {}",
            beside.call, beside.position.line
        ),
        (Some(beside), _) => format!(
            "{call}() at {object} next to {}() of {size} at line {}",
            beside.call, beside.position.line
        ),
        (None, Kind::RuntimeSizeCopy) => format!(
            "{call}() of {} bytes at {object}, known only at run time, on an ioctl path ({})",
            chance.written,
            chance.path.as_deref().unwrap_or("unknown")
        ),
        (None, _) => format!("{call}() of {size} at {object}"),
    }
}

fn size_words(size: &Size, written: &str) -> String {
    match size {
        Size::Bytes(1) => "1 byte".to_owned(),
        Size::Bytes(bytes) if bytes.to_string() == written => format!("{bytes} bytes"),
        Size::Bytes(bytes) => format!("{bytes} bytes ({written})"),
        Size::Unsized(lacks) => format!("{written} bytes (not found: {lacks})"),
        Size::Constant(_) | Size::Runtime => format!("{written} bytes"),
    }
}
