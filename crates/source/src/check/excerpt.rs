//! The lines that a violation is shown with.

use crate::span::{LineIndex, Span};

use super::model::{Excerpt, Violation};

/// Marks this close share an excerpt, in lines.
const NEAR: u32 = 4;

/// The lines of all marks, and the line before the first where it tells more.
pub(crate) fn excerpts(text: &[u8], lines: &LineIndex<'_>, violation: &Violation) -> Vec<Excerpt> {
    let mut marks: Vec<Span> = violation.related.iter().map(|mark| mark.span).collect();
    marks.push(violation.mark.span);
    marks.sort_unstable();
    let mut parts: Vec<Span> = Vec::new();
    for mark in marks {
        let place = whole_lines(text, lines, mark);
        match parts.last_mut() {
            Some(last) if is_near(lines, *last, place) => *last = last.join(place),
            _ => parts.push(place),
        }
    }
    parts
        .into_iter()
        .map(|span| Excerpt {
            span,
            line: lines.position(span.start).line,
            text: plain(span.of(text)),
        })
        .collect()
}

fn is_near(lines: &LineIndex<'_>, last: Span, next: Span) -> bool {
    let line = |byte| lines.position(byte).line;
    line(next.start) <= line(last.end).saturating_add(NEAR)
}

/// The lines that hold a place, without the last line end.
fn whole_lines(text: &[u8], lines: &LineIndex<'_>, place: Span) -> Span {
    let start = lines.line_start(place.start.min(text.len()));
    let last = place.end.min(text.len());
    let rest = text.get(last..).unwrap_or_default();
    let end = memchr::memchr(b'\n', rest).map_or(text.len(), |at| last + at);
    Span::new(start, end)
}

/// As text of the same length: what is no UTF-8 becomes `?`.
fn plain(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes
            .iter()
            .map(|&b| if b.is_ascii() { char::from(b) } else { '?' })
            .collect(),
    }
}
