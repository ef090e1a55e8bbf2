//! Findings as lines, and what stands below them.

use tollgate_source::{Direction, Finding, Form, Kind, Name, Position, SMALL, Scan};

use super::{View, opportunity_words};
use crate::document::{Block, Document, Extent, Section};
use crate::name::{left_out_lines, left_out_text};
use crate::text::plural;

/// The findings as lines that editors and compilers' readers know:
/// `file:line:col: function: what`, then a summary. With `verbose`, each part
/// that was not analysed has its line. `tree` is what was scanned, as the user named it.
#[must_use]
pub fn findings_document(view: &View<'_>, tree: &Name) -> Document {
    let mut lines = lines(view);
    let most = view.top.unwrap_or(lines.len());
    let more = lines.len().saturating_sub(most);
    lines.truncate(most);
    document(view, tree, listed(lines), more)
}

/// Lines; nothing where there is none.
fn listed(lines: Vec<String>) -> Option<Block> {
    (!lines.is_empty()).then_some(Block::Lines(lines))
}

/// What is shown of the findings, and below it what holds of all of them.
pub(super) fn document(
    view: &View<'_>,
    tree: &Name,
    shown: Option<Block>,
    more: usize,
) -> Document {
    let details = listed(details(view));
    let summary = Block::List(trailer(view, more));
    let blocks = shown.into_iter().chain(details).chain([summary]).collect();
    Document {
        title: format!("Accesses of user memory in {tree}"),
        short: format!("scan of {tree}"),
        head: Extent::Full,
        sections: vec![Section::new("", blocks)],
        ..Document::default()
    }
}

/// Each part that was not analysed, where that is asked for.
fn details(view: &View<'_>) -> Vec<String> {
    if !view.verbose {
        return Vec::new();
    }
    let sizes = view.scan.without_size().map(|found| {
        let (path, place) = (&found.path, found.opportunity.position);
        let words = opportunity_words(found);
        format!("{path}:{}:{}: {words}", place.line, place.column)
    });
    let missed = view.scan.missed.iter().map(ToString::to_string);
    let all = sizes.chain(missed);
    all.chain(left_out_lines(&view.scan.left_out)).collect()
}

/// What holds of all findings.
fn trailer(view: &View<'_>, more: usize) -> Vec<String> {
    let most = view.top.unwrap_or_default();
    let cut = (more > 0).then(|| format!("and {more} more (--top {most})"));
    let scan = view.scan;
    let all = cut.into_iter().chain(summary(scan, view.verbose));
    let all = all.chain(left_out_text(&scan.left_out, view.verbose));
    let all = all.chain(hidden(view)).chain(sizes(view));
    all.chain(elsewhere(scan)).chain(profile(view)).collect()
}

/// One line for each finding, in the order of the view.
fn lines(view: &View<'_>) -> Vec<String> {
    let runs = view.findings().into_iter().map(|finding| {
        let place = first_access(finding);
        ((&finding.path, place), line(view, finding, place))
    });
    let opportunities = view.opportunities().into_iter().map(|found| {
        let (path, opportunity) = (&found.path, &found.opportunity);
        let place = opportunity.position;
        let text = format!(
            "{path}:{}:{}: {}: {} [{}]",
            place.line,
            place.column,
            opportunity.function,
            opportunity_words(found),
            opportunity.kind.name()
        );
        ((path, place), text)
    });
    let mut all: Vec<_> = runs.chain(opportunities).collect();
    if !view.ranked {
        all.sort_by(|a, b| a.0.cmp(&b.0));
    }
    all.into_iter().map(|(_, line)| line).collect()
}

/// Where the first access of a function's first run stands.
fn first_access(finding: &Finding) -> Position {
    let function = &finding.function;
    function
        .runs
        .first()
        .and_then(|run| run.sites.first())
        .map_or(function.position, |site| site.position)
}

fn line(view: &View<'_>, finding: &Finding, place: Position) -> String {
    let reason = view.reason(finding);
    let reason = reason.map_or(String::new(), |reason| format!("; {reason}"));
    format!(
        "{}:{}:{}: {}: {}{reason} [{}]",
        finding.path,
        place.line,
        place.column,
        finding.function.name,
        run_words(finding),
        Kind::Run.name()
    )
}

/// What a function with runs pays, without its place.
pub(super) fn run_words(finding: &Finding) -> String {
    let function = &finding.function;
    let counts = [
        (function.count(Direction::Read), "read"),
        (function.count(Direction::Write), "write"),
    ];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| plural(number, what))
        .collect();
    let apart = match function.windows_apart() {
        0 => String::new(),
        apart => format!(", {apart} not: other objects"),
    };
    format!(
        "{}, {} saved{apart} ({})",
        counts.join(", "),
        plural(function.windows_saved(), "window"),
        names(&function.forms())
    )
}

fn names(forms: &[Form]) -> String {
    forms
        .iter()
        .map(|form| form.name())
        .collect::<Vec<_>>()
        .join(", ")
}

fn summary(scan: &Scan, verbose: bool) -> [String; 2] {
    let verb = if scan.findings.len() == 1 {
        "pays"
    } else {
        "pay"
    };
    let pays = format!(
        "{} {verb} more than once: {}, {}, {}, {} saved by one window a run{}",
        plural(scan.findings.len(), "function"),
        plural(scan.runs(), "run"),
        plural(scan.count(Direction::Read), "read"),
        plural(scan.count(Direction::Write), "write"),
        plural(scan.windows_saved(), "window"),
        apart(scan.windows_apart()),
    );
    let hint = if verbose || scan.missed.is_empty() {
        ""
    } else {
        " (--verbose lists them)"
    };
    let read = format!(
        "{} read, {} of user memory, {} analysed, {} not analysed{hint}",
        plural(scan.files, "file"),
        accesses(scan.lexical),
        scan.parsed,
        scan.missed.len()
    );
    [pays, read]
}

/// What no window saves.
fn apart(number: usize) -> String {
    match number {
        0 => String::new(),
        more => format!("; {more} more are of other objects, which it cannot serve"),
    }
}

fn accesses(number: usize) -> String {
    format!("{number} access{}", if number == 1 { "" } else { "es" })
}

/// What the view does not show is counted, with the flag that shows it.
fn hidden(view: &View<'_>) -> Option<String> {
    let hidden: Vec<String> = Kind::ALL
        .into_iter()
        .filter(|kind| !view.kinds.contains(kind))
        .map(|kind| (view.count(kind), kind.name()))
        .filter(|(number, _)| *number > 0)
        .map(|(number, name)| format!("{number} {name}"))
        .collect();
    let all = hidden.join(", ");
    (!hidden.is_empty()).then(|| format!("not shown: {all} (--kind all shows them)"))
}

fn sizes(view: &View<'_>) -> Option<String> {
    let copies = view.scan.copies();
    let hint = if view.verbose {
        ""
    } else {
        " (--verbose lists them)"
    };
    let (lacking, unasked) = (copies.without_size, copies.not_looked_up);
    if unasked > 0 {
        let of = plural_copies(unasked + lacking);
        return Some(format!(
            "not sized: {of} of a constant size (--kind small-copy finds those of at most \
             {SMALL} bytes)"
        ));
    }
    let of = plural_copies(copies.small + copies.larger + lacking);
    let words = || format!("{lacking} of {of} of a constant size could not be sized{hint}");
    (lacking > 0).then(words)
}

fn plural_copies(number: usize) -> String {
    format!("{number} {}", if number == 1 { "copy" } else { "copies" })
}

fn elsewhere(scan: &Scan) -> Option<String> {
    let left = &scan.elsewhere;
    let functions = plural(left.functions, "function");
    let (others, names) = (left.opportunities, left.architectures.join(", "));
    (left.functions + left.opportunities > 0).then(|| {
        format!(
            "left out: {functions} with runs and {others} of other kinds in {names} \
             (--arch all shows them)"
        )
    })
}

/// How many symbols without a finding are named.
const NAMED: usize = 10;

fn profile(view: &View<'_>) -> Option<String> {
    let profile = view.profile.as_ref()?;
    let mut names: Vec<&str> = profile.unmatched.iter().map(String::as_str).collect();
    let symbols = plural(names.len(), "symbol");
    if names.len() > NAMED {
        names.truncate(NAMED);
        names.push("...");
    }
    let (unit, names) = (&profile.unit, names.join(", "));
    Some(format!(
        "the profile counts {unit}; {symbols} in it matched no finding: {names}"
    ))
}
