//! For a terminal: everything in front of the verdicts, which are then where the
//! cursor stops.

use super::look::Look;
use crate::document::{Document, Extent};
use crate::fixed::{Lines, Paint};
use crate::text::wrap;

pub(super) fn render(document: &Document, look: Look) -> String {
    let lines = Lines {
        paint: Paint(look.color),
        width: look.width,
        leaves: false,
    };
    let shown = document.head != Extent::Full;
    let mut parts: Vec<String> = shown.then(|| head(document, lines)).into_iter().collect();
    parts.extend(lines.sections(&document.sections));
    parts.extend(lines.not_run(&document.not_run));
    parts.extend(document.verdicts.iter().map(|one| lines.verdict(one)));
    parts.join("\n")
}

/// The title with what is compared, in bold, and where it was found.
fn head(document: &Document, lines: Lines) -> String {
    let mut about = document.about.iter();
    let first = about.next().map(|what| format!(": {what}"));
    let title = format!("{}{}", document.title, first.unwrap_or_default());
    let title = wrap(&title, lines.width).join("\n");
    let rest: String = about.map(|what| lines.wrapped(what)).collect();
    format!("{}\n{rest}", lines.paint.bold(&title))
}
