//! Findings as the lines of the source that they are about, marked.

use std::collections::HashMap;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use tollgate_source::{Aside, Finding, Kind, Run, TreePath, plain};

use super::text::{more_words, run_words, trailer};
use super::{View, aside_words};

/// Each finding above the lines that it is about, then the summary. `read` gives
/// the bytes of a file; a finding whose file is gone keeps its first line.
#[must_use]
pub fn findings_source(
    view: &View<'_>,
    read: &mut dyn FnMut(&TreePath) -> Option<Vec<u8>>,
) -> String {
    let mut files = Files {
        read,
        texts: HashMap::new(),
    };
    let mut out = String::new();
    let (findings, asides) = (view.findings(), view.asides());
    let all = findings.len() + asides.len();
    let most = view.top.unwrap_or(all).min(all);
    for finding in findings.iter().take(most) {
        out += &finding_source(view, finding, files.text(&finding.path));
    }
    for aside in asides.iter().take(most.saturating_sub(findings.len())) {
        out += &aside_source(aside, files.text(&aside.path));
    }
    out += &more_words(all - most, most);
    trailer(&mut out, view);
    plain(&out).into_owned()
}

struct Files<'r> {
    read: &'r mut dyn FnMut(&TreePath) -> Option<Vec<u8>>,
    texts: HashMap<TreePath, String>,
}

impl Files<'_> {
    fn text(&mut self, path: &TreePath) -> &str {
        let read = &mut self.read;
        let text = || read(path).map(|text| printable(&text)).unwrap_or_default();
        self.texts.entry(path.clone()).or_insert_with(text)
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

fn finding_source(view: &View<'_>, finding: &Finding, text: &str) -> String {
    let name = &finding.function.name;
    let reason = view.reason(finding);
    let reason = reason.map_or(String::new(), |reason| format!("; {reason}"));
    let title = format!(
        "{name}: {}{reason} [{}]",
        run_words(finding),
        Kind::Run.name()
    );
    let marks: Vec<Mark> = finding.function.runs.iter().flat_map(run_marks).collect();
    marked(&title, &finding.path, text, &marks)
}

struct Mark {
    span: Range<usize>,
    label: String,
}

fn run_marks(run: &Run) -> impl Iterator<Item = Mark> {
    let more = run.windows_saved();
    run.sites.iter().enumerate().map(move |(at, site)| Mark {
        span: site.span.start..site.span.end,
        label: match at {
            0 => format!("opens and closes, as {more} more do"),
            _ => String::new(),
        },
    })
}

fn aside_source(aside: &Aside, text: &str) -> String {
    let chance = &aside.chance;
    let words = aside_words(aside);
    let title = format!("{}: {words} [{}]", chance.function, chance.kind.name());
    let mark = Mark {
        span: chance.span.start..chance.span.end,
        label: String::new(),
    };
    marked(&title, &aside.path, text, &[mark])
}

fn marked(title: &str, path: &TreePath, text: &str, marks: &[Mark]) -> String {
    let inside = |mark: &&Mark| {
        text.is_char_boundary(mark.span.start) && text.is_char_boundary(mark.span.end)
    };
    let annotations = marks.iter().filter(inside).map(|mark| {
        let annotation = AnnotationKind::Primary.span(mark.span.clone());
        annotation.label(mark.label.as_str())
    });
    let snippet = Snippet::source(text)
        .path(path.to_string())
        .annotations(annotations);
    let report = [Level::NOTE.primary_title(title).element(snippet)];
    format!("{}\n\n", Renderer::plain().render(&report))
}
