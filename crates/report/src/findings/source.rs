//! Findings as the lines of the source that they are about, marked.

use std::collections::HashMap;
use std::ops::Range;

use tollgate_source::{Finding, Kind, LocatedOpportunity, Name, Run, TreePath};

use super::text::{document, run_words};
use super::{View, opportunity_words};
use crate::document::{Block, Document, Mark, Remark, Snippet, Source};

/// Each finding above the lines that it is about, then the summary. `read` gives
/// the bytes of a file; a finding whose file is gone, or is another by now, keeps its
/// first line and says so.
#[must_use]
pub fn findings_in_source(
    view: &View<'_>,
    tree: &Name,
    read: &mut dyn FnMut(&TreePath) -> Option<Vec<u8>>,
) -> Document {
    let mut files = Files {
        read,
        texts: HashMap::new(),
    };
    let (findings, opportunities) = (view.findings(), view.opportunities());
    let all = findings.len() + opportunities.len();
    let most = view.top.unwrap_or(all).min(all);
    let mut shown = Vec::new();
    for finding in findings.iter().take(most) {
        shown.push(of_finding(view, finding, files.text(&finding.path)));
    }
    for found in opportunities
        .iter()
        .take(most.saturating_sub(findings.len()))
    {
        shown.push(of_opportunity(found, files.text(&found.path)));
    }
    let shown = (!shown.is_empty()).then_some(Block::Snippets(shown));
    document(view, tree, shown, all - most)
}

struct Files<'r> {
    read: &'r mut dyn FnMut(&TreePath) -> Option<Vec<u8>>,
    texts: HashMap<TreePath, Option<String>>,
}

impl Files<'_> {
    fn text(&mut self, path: &TreePath) -> Option<&str> {
        let read = &mut self.read;
        let text = || read(path).map(|text| printable(&text));
        let text = self.texts.entry(path.clone()).or_insert_with(text);
        text.as_deref()
    }
}

/// The text with a question mark for each byte that is none of UTF-8, so that
/// places stay those of the bytes.
fn printable(text: &[u8]) -> String {
    let ascii = |byte: &u8| {
        if byte.is_ascii() {
            char::from(*byte)
        } else {
            '?'
        }
    };
    match std::str::from_utf8(text) {
        Ok(text) => text.to_owned(),
        Err(_) => text.iter().map(ascii).collect(),
    }
}

fn of_finding(view: &View<'_>, finding: &Finding, text: Option<&str>) -> Snippet {
    let name = &finding.function.name;
    let reason = view.reason(finding);
    let reason = reason.map_or(String::new(), |reason| format!("; {reason}"));
    let title = format!(
        "{name}: {}{reason} [{}]",
        run_words(finding),
        Kind::Run.name()
    );
    let marks = finding.function.runs.iter().flat_map(run_marks);
    snippet(title, &finding.path, text, marks.collect())
}

fn run_marks(run: &Run) -> impl Iterator<Item = Mark> {
    let more = run.windows_saved();
    run.sites.iter().enumerate().map(move |(at, site)| Mark {
        span: site.span.start..site.span.end,
        label: match at {
            0 => format!("opens and closes, as {more} more do"),
            _ => String::new(),
        },
        primary: true,
    })
}

fn of_opportunity(found: &LocatedOpportunity, text: Option<&str>) -> Snippet {
    let opportunity = &found.opportunity;
    let words = opportunity_words(found);
    let title = format!(
        "{}: {words} [{}]",
        opportunity.function,
        opportunity.kind.name()
    );
    let mark = Mark {
        span: opportunity.span.start..opportunity.span.end,
        label: String::new(),
        primary: true,
    };
    snippet(title, &found.path, text, vec![mark])
}

/// How many lines stay around what is marked.
const AROUND: usize = 3;

const GONE: &str = "the file could not be read again, so its lines are not shown";
const CHANGED: &str = "the file has changed since it was scanned, so not all of it is shown";

fn snippet(title: String, path: &TreePath, text: Option<&str>, mut marks: Vec<Mark>) -> Snippet {
    let found = marks.len();
    let whole = text.unwrap_or("");
    marks.retain(|mark| whole.get(mark.span.clone()).is_some());
    let note = match text {
        None => Some(GONE),
        Some(_) => (marks.len() < found).then_some(CHANGED),
    };
    Snippet {
        title,
        sources: vec![marked(path, whole, marks)],
        notes: note
            .map(str::to_owned)
            .map(Remark::Note)
            .into_iter()
            .collect(),
        ..Snippet::default()
    }
}

fn marked(path: &TreePath, text: &str, mut marks: Vec<Mark>) -> Source {
    let shown = part(text, &marks);
    let before = text.get(..shown.start).unwrap_or_default();
    for mark in &mut marks {
        mark.span = mark.span.start - shown.start..mark.span.end - shown.start;
    }
    Source {
        path: path.to_string(),
        text: text.get(shown).unwrap_or_default().to_owned(),
        line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
        whole: false,
        marks,
    }
}

/// The lines around marks.
fn part(text: &str, marks: &[Mark]) -> Range<usize> {
    let first = marks.iter().map(|mark| mark.span.start).min();
    let last = marks.iter().map(|mark| mark.span.end).max();
    let (Some(first), Some(last)) = (first, last) else {
        return 0..0;
    };
    let (before, after) = (text.get(..first), text.get(last..));
    let above = before.unwrap_or_default().rmatch_indices('\n').nth(AROUND);
    let below = after.unwrap_or_default().match_indices('\n').nth(AROUND);
    above.map_or(0, |(at, _)| at + 1)..below.map_or(text.len(), |(at, _)| last + at)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::*;

    /// A finding of a file that was gone by then had no lines, and no word of why.
    #[test]
    fn lines_that_cannot_be_shown_are_said_not_to_be() {
        let path = TreePath::within("fs/a.c");
        let mark = |from| Mark {
            span: from..from + 2,
            label: String::new(),
            primary: true,
        };
        let of =
            |text, from| snippet("f".to_owned(), &path, text, vec![mark(from)]).text(false, None);
        assert!(of(None, 2).contains(GONE));
        assert!(of(Some("int a;\n"), 40).contains(CHANGED));
        let whole = of(Some("int a;\n"), 4);
        assert!(
            whole.contains("int a;") && !whole.contains("the file"),
            "{whole}"
        );
    }
}
