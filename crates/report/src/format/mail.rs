//! For a mail: plain text of at most 72 columns, the verdicts first.

use super::look::Look;
use crate::document::Document;
use crate::fixed::{Lines, Paint};

/// What `git log` and most lists' archives show of a line.
const LOOK: Look = Look {
    color: false,
    width: 72,
};

pub(super) fn render(document: &Document) -> String {
    let lines = Lines {
        paint: Paint(LOOK.color),
        width: LOOK.width,
        leaves: true,
    };
    let about = document.about.iter().chain(&document.date);
    let about: String = about.map(|what| lines.wrapped(what)).collect();
    let head = format!("{}{about}", lines.wrapped(&document.title));
    let mut parts = vec![head];
    parts.extend(document.verdicts.iter().map(|one| lines.verdict(one)));
    parts.extend(lines.not_run(&document.not_run));
    parts.extend(lines.sections(&document.sections));
    parts.join("\n")
}
