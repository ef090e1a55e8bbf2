//! Findings as lines.

use tollgate_source::{Direction, Finding, Form, Kind, Position, Scan, plain};

use super::{View, aside_words, plural};
use crate::name::left_out_text;

/// The findings as lines that editors and compilers' readers know:
/// `file:line:col: function: what`, then a summary. With `verbose`, each part
/// that was not analysed has its line.
#[must_use]
pub fn findings_text(view: &View<'_>) -> String {
    let mut out = String::new();
    let lines = lines(view);
    let most = view.top.unwrap_or(lines.len());
    for line in lines.iter().take(most) {
        push(&mut out, format_args!("{line}\n"));
    }
    out += &more_words(lines.len().saturating_sub(most), most);
    trailer(&mut out, view);
    plain(&out).into_owned()
}

/// How many are not shown; nothing where all are.
pub(super) fn more_words(more: usize, most: usize) -> String {
    match more {
        0 => String::new(),
        more => format!("and {more} more (--top {most})\n"),
    }
}

/// What stands below the findings, in whatever form those are.
pub(super) fn trailer(out: &mut String, view: &View<'_>) {
    if view.verbose {
        for aside in view.scan.without_size() {
            let (path, place) = (&aside.path, aside.chance.position);
            let words = aside_words(aside);
            let (line, column) = (place.line, place.column);
            push(out, format_args!("{path}:{line}:{column}: {words}\n"));
        }
        for missed in &view.scan.missed {
            push(out, format_args!("{missed}\n"));
        }
    }
    summary(out, view.scan, view.verbose);
    *out += &left_out_text(&view.scan.left_out, view.verbose);
    hidden(out, view);
    sizes(out, view);
    elsewhere(out, view.scan);
    profile(out, view);
}

/// One line for each finding, in the order of the view.
fn lines(view: &View<'_>) -> Vec<String> {
    let runs = view.findings().into_iter().map(|finding| {
        let place = first_access(finding);
        ((&finding.path, place), line(view, finding, place))
    });
    let asides = view.asides().into_iter().map(|aside| {
        let (path, chance) = (&aside.path, &aside.chance);
        let place = chance.position;
        let text = format!(
            "{path}:{}:{}: {}: {} [{}]",
            place.line,
            place.column,
            chance.function,
            aside_words(aside),
            chance.kind.name()
        );
        ((path, place), text)
    });
    let mut all: Vec<_> = runs.chain(asides).collect();
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

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.push_str(&text.to_string());
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
    format!(
        "{}, {} saved ({})",
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

fn summary(out: &mut String, scan: &Scan, verbose: bool) {
    let functions = plural(scan.findings.len(), "function");
    let verb = if scan.findings.len() == 1 {
        "pays"
    } else {
        "pay"
    };
    push(
        out,
        format_args!(
            "{functions} {verb} more than once: {}, ",
            plural(scan.runs(), "run")
        ),
    );
    push(
        out,
        format_args!("{}, ", plural(scan.count(Direction::Read), "read")),
    );
    push(
        out,
        format_args!("{}, ", plural(scan.count(Direction::Write), "write")),
    );
    push(
        out,
        format_args!(
            "{} saved by one window a run\n",
            plural(scan.windows_saved(), "window")
        ),
    );
    let files = plural(scan.files, "file");
    push(
        out,
        format_args!(
            "{files} read, {} of user memory, {} analysed",
            accesses(scan.lexical),
            scan.parsed
        ),
    );
    let hint = if verbose || scan.missed.is_empty() {
        ""
    } else {
        " (--verbose lists them)"
    };
    push(
        out,
        format_args!(", {} not analysed{hint}\n", scan.missed.len()),
    );
}

fn accesses(number: usize) -> String {
    format!("{number} access{}", if number == 1 { "" } else { "es" })
}

/// What the view does not show is counted, with the flag that shows it.
fn hidden(out: &mut String, view: &View<'_>) {
    let hidden: Vec<String> = Kind::ALL
        .into_iter()
        .filter(|kind| !view.kinds.contains(kind))
        .map(|kind| (view.count(kind), kind.name()))
        .filter(|(number, _)| *number > 0)
        .map(|(number, name)| format!("{number} {name}"))
        .collect();
    if !hidden.is_empty() {
        let hidden = hidden.join(", ");
        push(
            out,
            format_args!("not shown: {hidden} (--kind all shows them)\n"),
        );
    }
}

fn sizes(out: &mut String, view: &View<'_>) {
    let copies = view.scan.copies();
    if copies.without_size > 0 {
        let hint = if view.verbose {
            ""
        } else {
            " (--verbose lists them)"
        };
        let (lacking, of) = (
            copies.without_size,
            plural_copies(copies.small + copies.larger + copies.without_size),
        );
        push(
            out,
            format_args!("{lacking} of {of} of a constant size could not be sized{hint}\n"),
        );
    }
}

fn plural_copies(number: usize) -> String {
    format!("{number} {}", if number == 1 { "copy" } else { "copies" })
}

fn elsewhere(out: &mut String, scan: &Scan) {
    let left = &scan.elsewhere;
    if left.functions + left.asides > 0 {
        let functions = plural(left.functions, "function");
        let (others, names) = (left.asides, left.architectures.join(", "));
        push(
            out,
            format_args!(
                "left out: {functions} with runs and {others} of other kinds in {names} (--arch all shows them)\n"
            ),
        );
    }
}

/// How many symbols without a finding are named.
const NAMED: usize = 10;

fn profile(out: &mut String, view: &View<'_>) {
    let Some(profile) = &view.profile else {
        return;
    };
    let mut names: Vec<&str> = profile.unmatched.iter().map(String::as_str).collect();
    let symbols = plural(names.len(), "symbol");
    if names.len() > NAMED {
        names.truncate(NAMED);
        names.push("...");
    }
    let (unit, names) = (&profile.unit, names.join(", "));
    push(
        out,
        format_args!("the profile counts {unit}; {symbols} in it matched no finding: {names}\n"),
    );
}
