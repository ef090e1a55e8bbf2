//! Violations with the lines that they are about, as compilers show them.

use std::ops::Range;
use tollgate_defect::answer;

use tollgate_source::Name;
use tollgate_source::check::{
    Checks, Excerpt, FileSkipped, Located, Mark, Severity, Suggestion, Violation, rule,
};

use crate::document::{self, Block, Document, Extent, Remark, Section, Snippet, Source, Tone};
use crate::name::{left_out_lines, left_out_text};
use crate::text::plural;

/// The violations, each with its lines, why it is wrong and what makes it
/// right; then a summary. With `verbose`, each function that was not checked has
/// its line. `tree` is what was checked, as the user named it.
#[must_use]
pub fn checks_document(checks: &Checks, tree: &Name, verbose: bool) -> Document {
    let mut blocks = Vec::new();
    if !checks.violations.is_empty() {
        blocks.push(Block::Snippets(
            checks.violations.iter().map(snippet).collect(),
        ));
    }
    if verbose {
        let skipped = checks.skipped.iter();
        let skipped = skipped.map(|(path, what)| skipped_words(path, what));
        let lines: Vec<String> = skipped.chain(left_out_lines(&checks.left_out)).collect();
        if !lines.is_empty() {
            blocks.push(Block::Lines(lines));
        }
    }
    let summary = summary(checks, verbose).into_iter();
    let left_out = left_out_text(&checks.left_out, verbose);
    blocks.push(Block::List(summary.chain(left_out).collect()));
    Document {
        title: format!("Windows checked in {tree}"),
        short: format!("check of {tree}"),
        head: Extent::Full,
        sections: vec![Section::new("", blocks)],
        ..Document::default()
    }
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Error => Tone::Bad,
        Severity::Warning => Tone::Doubt,
        Severity::Note => Tone::Plain,
    }
}

fn snippet(located: &Located) -> Snippet {
    let violation = &located.violation;
    let mut title = violation.message.clone();
    if let Some(function) = &violation.function {
        title = format!("{function}: {title}");
    }
    let excerpts = first_the_place(violation).into_iter();
    let help = violation.suggestion.as_ref();
    let help = help.map(|suggestion| Remark::Help(help_words(violation, suggestion)));
    Snippet {
        title,
        tone: tone(violation.severity),
        id: Some(violation.rule.clone()),
        sources: excerpts
            .map(|excerpt| source(located, violation, excerpt))
            .collect(),
        notes: [Remark::Note(why(violation))]
            .into_iter()
            .chain(help)
            .collect(),
    }
}

/// The excerpt with the place itself comes first: its line is in the headline.
fn first_the_place(violation: &Violation) -> Vec<&Excerpt> {
    let own = |excerpt: &&Excerpt| excerpt.span.contains(violation.mark.span);
    let (mut first, rest): (Vec<&Excerpt>, Vec<&Excerpt>) =
        violation.excerpts.iter().partition(own);
    first.extend(rest);
    first
}

fn source(located: &Located, violation: &Violation, excerpt: &Excerpt) -> Source {
    let mark = |mark: &Mark, primary| {
        Some(document::Mark {
            span: inside(excerpt, mark)?,
            label: mark.text.clone(),
            primary,
        })
    };
    let related = violation.related.iter();
    let related = related.filter_map(|one| mark(one, false));
    Source {
        path: located.path.to_string(),
        text: excerpt.text.clone(),
        line: answer::fits::<usize, _>(excerpt.line).unwrap_or(usize::MAX),
        whole: true,
        marks: mark(&violation.mark, true)
            .into_iter()
            .chain(related)
            .collect(),
    }
}

/// Where a mark lies in an excerpt, at the borders of characters.
fn inside(excerpt: &Excerpt, mark: &Mark) -> Option<Range<usize>> {
    excerpt.span.contains(mark.span).then_some(())?;
    let at = |byte: usize| {
        let offset = byte
            .saturating_sub(excerpt.span.start)
            .min(excerpt.text.len());
        (0..=offset)
            .rev()
            .find(|&i| excerpt.text.is_char_boundary(i))
    };
    Some(at(mark.span.start)?..at(mark.span.end)?)
}

fn why(violation: &Violation) -> String {
    let why = rule(&violation.rule)
        .map(|info| info.why)
        .unwrap_or_default();
    format!(
        "{why} (confidence {}; docs/rules/{}.md)",
        violation.confidence.name(),
        violation.rule
    )
}

fn help_words(violation: &Violation, suggestion: &Suggestion) -> String {
    let old = violation.excerpts.iter().find_map(|excerpt| {
        let mark = Mark {
            span: suggestion.span,
            position: violation.mark.position,
            text: String::new(),
        };
        excerpt.text.get(inside(excerpt, &mark)?)
    });
    let new = suggestion.text.trim();
    let why = &suggestion.why;
    match old.filter(|old| !old.is_empty()) {
        Some(old) if new.is_empty() => format!("{why}: remove `{old}`"),
        Some(old) => format!("{why}: `{new}` instead of `{old}`"),
        None => format!("{why}: `{new}`"),
    }
}

fn skipped_words(path: &Name, what: &FileSkipped) -> String {
    match what {
        FileSkipped::File(reason) => format!("{path}: not read: {reason}"),
        FileSkipped::Function(skipped) => format!(
            "{path}:{}:{}: {}: {}: {}",
            skipped.position.line,
            skipped.position.column,
            skipped.function,
            skipped.reason.extent(),
            skipped.reason.words()
        ),
    }
}

fn summary(checks: &Checks, verbose: bool) -> Vec<String> {
    let count = |severity| {
        let all = checks.violations.iter();
        all.filter(|l| l.violation.severity == severity).count()
    };
    let mut found = format!(
        "{}: {}, {}, {}",
        plural(checks.violations.len(), "finding"),
        plural(count(Severity::Error), "error"),
        plural(count(Severity::Warning), "warning"),
        plural(count(Severity::Note), "note"),
    );
    if checks.allowed > 0 {
        found += &format!("; {} allowed by comments", checks.allowed);
    }
    if checks.filtered > 0 {
        let filtered = checks.filtered;
        found += &format!("; {filtered} below --min-severity, --confidence or of other rules");
    }
    let hint = if verbose || checks.skipped.is_empty() {
        ""
    } else {
        " (--verbose lists them)"
    };
    let read = format!(
        "{} read, {} with user accesses, {} with windows, {} not checked{hint}",
        plural(checks.files, "file"),
        plural(checks.functions, "function"),
        checks.windows,
        checks.skipped.len(),
    );
    let log = checks.log.map(|log| {
        format!(
            "{} in the log, {} of them about functions checked here",
            plural(log.diagnostics, "diagnostic"),
            log.here
        )
    });
    [found, read].into_iter().chain(log).collect()
}
