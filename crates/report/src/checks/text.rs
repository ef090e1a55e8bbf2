//! Violations with the lines that they are about, as compilers show them.

use std::ops::Range;
use tollgate_defect::answer;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use tollgate_source::{Name, plain};

use crate::name::left_out_text;
use tollgate_source::check::{
    Checks, Excerpt, FileSkipped, Located, Mark, Severity, Suggestion, Violation, rule,
};

/// The violations, each with its lines, why it is wrong and what makes it
/// right; then a summary. With `verbose`, each function that was not checked has
/// its line.
#[must_use]
pub fn checks_text(checks: &Checks, verbose: bool, color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut out = String::new();
    for located in &checks.violations {
        push(
            &mut out,
            format_args!("{}\n\n", rendered(&renderer, located)),
        );
    }
    if verbose {
        for (path, what) in &checks.skipped {
            push(&mut out, format_args!("{}\n", skipped(path, what)));
        }
    }
    summary(&mut out, checks, verbose);
    out += &left_out_text(&checks.left_out, verbose);
    match color {
        // The renderer shows control characters of the source by their pictures.
        true => out,
        false => plain(&out).into_owned(),
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.push_str(&text.to_string());
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

fn rendered(renderer: &Renderer, located: &Located) -> String {
    let violation = &located.violation;
    let mut title = violation.message.clone();
    if let Some(function) = &violation.function {
        title = format!("{function}: {title}");
    }
    let mut group = Group::with_title(
        level(violation.severity)
            .primary_title(title)
            .id(violation.rule.clone()),
    );
    for excerpt in first_the_place(violation) {
        group = group.element(snippet(located, violation, excerpt));
    }
    group = group.element(Level::NOTE.message(why(violation)));
    if let Some(suggestion) = &violation.suggestion {
        group = group.element(Level::HELP.message(help(violation, suggestion)));
    }
    renderer.render(&[group])
}

/// The excerpt with the place itself comes first: its line is in the headline.
fn first_the_place(violation: &Violation) -> Vec<&Excerpt> {
    let own = |excerpt: &&Excerpt| excerpt.span.contains(violation.mark.span);
    let (mut first, rest): (Vec<&Excerpt>, Vec<&Excerpt>) =
        violation.excerpts.iter().partition(own);
    first.extend(rest);
    first
}

fn snippet<'a>(
    located: &'a Located,
    violation: &'a Violation,
    excerpt: &'a Excerpt,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let line = answer::fits::<usize, _>(excerpt.line).unwrap_or(usize::MAX);
    let mut snippet = Snippet::source(&excerpt.text)
        .path(located.path.to_string())
        .line_start(line)
        .fold(false);
    if let Some(place) = inside(excerpt, &violation.mark) {
        let primary = AnnotationKind::Primary.span(place);
        snippet = snippet.annotation(primary.label(&violation.mark.text));
    }
    for mark in &violation.related {
        if let Some(place) = inside(excerpt, mark) {
            snippet = snippet.annotation(AnnotationKind::Context.span(place).label(&mark.text));
        }
    }
    snippet
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

fn help(violation: &Violation, suggestion: &Suggestion) -> String {
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

fn skipped(path: &Name, what: &FileSkipped) -> String {
    match what {
        FileSkipped::File(reason) => format!("{path}: not read: {reason}"),
        FileSkipped::Function(skipped) => format!(
            "{path}:{}:{}: {}: not checked: {}",
            skipped.position.line,
            skipped.position.column,
            skipped.function,
            skipped.reason.words()
        ),
    }
}

fn plural(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn summary(out: &mut String, checks: &Checks, verbose: bool) {
    let count = |severity| {
        let all = checks.violations.iter();
        all.filter(|l| l.violation.severity == severity).count()
    };
    push(
        out,
        format_args!(
            "{}: {}, {}, {}",
            plural(checks.violations.len(), "finding"),
            plural(count(Severity::Error), "error"),
            plural(count(Severity::Warning), "warning"),
            plural(count(Severity::Note), "note"),
        ),
    );
    if checks.allowed > 0 {
        push(
            out,
            format_args!("; {} allowed by comments", checks.allowed),
        );
    }
    if checks.filtered > 0 {
        push(
            out,
            format_args!(
                "; {} below --min-severity, --confidence or of other rules",
                checks.filtered
            ),
        );
    }
    let hint = if verbose || checks.skipped.is_empty() {
        ""
    } else {
        " (--verbose lists them)"
    };
    push(
        out,
        format_args!(
            "\n{} read, {} with user accesses, {} with windows, {} not checked{hint}\n",
            plural(checks.files, "file"),
            plural(checks.functions, "function"),
            checks.windows,
            checks.skipped.len(),
        ),
    );
}
