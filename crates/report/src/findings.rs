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

use tollgate_source::{Kind, LocatedOpportunity, Near, Opportunity, Parted, Size};

/// What an opportunity is, in one line without its place.
pub(crate) fn opportunity_words(found: &LocatedOpportunity) -> String {
    let opportunity = &found.opportunity;
    if let Some(near) = &opportunity.near {
        return near_words(opportunity, near);
    }
    let size = size_words(&opportunity.size, &opportunity.written);
    let (call, object) = (&opportunity.call, &opportunity.object);
    match (&opportunity.beside, opportunity.kind) {
        (Some(beside), Kind::WindowNeighbour) if beside.call == "scope" => format!(
            "{call}() at {object} next to the scope that ends at line {}",
            beside.position.line
        ),
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
            opportunity.written,
            opportunity.path.as_deref().unwrap_or("unknown")
        ),
        (None, _) => format!("{call}() of {size} at {object}"),
    }
}

/// What parts two accesses, and what a window would save on which way.
fn near_words(opportunity: &Opportunity, near: &Near) -> String {
    let own = format!("{}() at {}", opportunity.call, opportunity.object);
    let other = near.other.as_deref();
    let first = opportunity.beside.as_ref().map_or(String::new(), |beside| {
        let at = other.map_or(String::new(), |other| format!(" at {other}"));
        format!(
            " behind {}(){at} at line {}",
            beside.call, beside.position.line
        )
    });
    let saved = match (other, &near.parted) {
        (Some(_), _) => "another object, so no window saved",
        (None, Parted::Round { calls: true, .. }) => {
            "one window for the rounds between two that call something saves all but one of theirs"
        }
        (None, Parted::Round { .. }) => "one window around the loop saves all but one",
        (None, Parted::Loop { .. }) => "1 window saved where a round begins or ends there",
        (None, Parted::When { .. } | Parted::Unless { .. } | Parted::Case) => {
            "1 window saved on that way"
        }
        (None, Parted::Statement) => "1 window saved on that way",
    };
    match &near.parted {
        Parted::Round { line, .. } => {
            format!("{own} in each round of the loop at line {line}: {saved}")
        }
        Parted::Loop { line } => {
            format!("{own}{first}, one of them in the loop at line {line}: {saved}")
        }
        Parted::When { condition } => format!("{own}{first}, where {condition}: {saved}"),
        Parted::Unless { condition } => {
            format!("{own}{first}, where not {condition}: {saved}")
        }
        Parted::Case => format!("{own}{first}, one of them in a case: {saved}"),
        Parted::Statement => {
            format!("{own}{first}, on a way past what stands between: {saved}")
        }
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
