//! The gates of object code for people: a table, a listing, a comparison.

mod json;

use tollgate_gates::{Analysis, Changes, Cost, Finding, Frame, FunctionGates, Line, Listing, Mark};
use tollgate_source::{Name, plain};

pub use json::{GATES_VERSION, against_json, gates_json};

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.push_str(&text.to_string());
}

/// A symbol's name: an object may hold any bytes in its place.
fn symbol(name: &str) -> String {
    plain(name).replace('\n', "\\n")
}

/// Columns of a function's name.
const NAME: usize = 22;

/// What the columns count.
const LEGEND: &str = "\
opens, closes, fences, access: instructions that open the gate, close it, hold
back speculation, reach for user memory (2+1?: of 1 more the code does not say
whether it opens or closes); calls: of helpers that open and close; inside:
instructions that run with the window open; path: instructions of the shortest
and the longest way through a window; bytes: of text
";

/// A row of the table: 80 columns.
fn cells(out: &mut String, name: &str, cells: [&str; 8]) {
    let [opens, closes, fences, calls, access, inside, path, bytes] = cells;
    named(out, name);
    push(
        out,
        format_args!(
            " {opens:>5} {closes:>6} {fences:>6} {calls:>6} {access:>6} {inside:>6} {path:>9} {bytes:>6}\n"
        ),
    );
}

/// The first column; a long name has a line of its own.
fn named(out: &mut String, name: &str) {
    let name = &symbol(name);
    if name.chars().count() > NAME {
        push(out, format_args!("{name}\n{:NAME$}", ""));
    } else {
        push(out, format_args!("{name:NAME$}"));
    }
}

fn head(out: &mut String) {
    let titles = [
        "opens", "closes", "fences", "calls", "access", "inside", "path", "bytes",
    ];
    cells(out, "", titles);
}

/// A file's functions that cross the boundary, as a table of 80 columns, and
/// what is wrong with them. `name` is the file as the user named it.
#[must_use]
pub fn gates_text(name: &Name, analysis: &Analysis) -> String {
    let mut out = format!("{name} ({})\n", analysis.arch);
    let crossing: Vec<_> = analysis.functions.iter().filter(|f| f.crosses()).collect();
    if !crossing.is_empty() {
        head(&mut out);
    }
    crossing.iter().for_each(|function| row(&mut out, function));
    if !crossing.is_empty() {
        out.push_str(LEGEND);
    }
    findings(&mut out, analysis);
    totals(&mut out, analysis, crossing.len());
    out
}

fn row(out: &mut String, function: &FunctionGates) {
    let counts = &function.counts;
    let closes = match counts.unknown {
        0 => counts.closes.to_string(),
        unknown => format!("{}+{unknown}?", counts.closes),
    };
    let [opens, fences, calls, access, inside] = [
        counts.opens,
        counts.fences,
        counts.hidden,
        counts.accesses,
        function.inside,
    ]
    .map(|number| number.to_string());
    let (path, bytes) = (path(function), function.bytes.to_string());
    cells(
        out,
        &function.name,
        [
            &opens, &closes, &fences, &calls, &access, &inside, &path, &bytes,
        ],
    );
}

/// Shortest and longest path through a window, in instructions.
fn path(function: &FunctionGates) -> String {
    match (function.shortest(), function.longest()) {
        (Some(short), Some(long)) if short == long => short.to_string(),
        (Some(short), Some(long)) => format!("{short}-{long}"),
        (Some(short), None) => format!("{short}-loop"),
        (None, _) => "-".to_owned(),
    }
}

fn findings(out: &mut String, analysis: &Analysis) {
    for function in &analysis.functions {
        for finding in &function.findings {
            push(out, format_args!("{}\n", sentence(function, finding)));
        }
    }
}

/// A finding: where and which rule, then what is wrong.
fn sentence(function: &FunctionGates, finding: &Finding) -> String {
    let into = finding.address.wrapping_sub(function.address);
    let place = match finding.address.checked_sub(function.address) {
        Some(into) if into < function.bytes => format!("{}+{into:#x}", symbol(&function.name)),
        _ => format!("{} at {:#x}", symbol(&function.name), finding.address),
    };
    let target = finding
        .target
        .as_ref()
        .map_or(String::new(), |to| format!(": {}()", symbol(to)));
    let opened = finding.opened_at.map_or(String::new(), |at| {
        format!(
            " (opened {:#x} before)",
            into.wrapping_sub(at.wrapping_sub(function.address))
        )
    });
    let opened = match finding.opened_at {
        Some(at) if at > finding.address => format!(" (opened at {at:#x})"),
        _ => opened,
    };
    let (words, rule) = (finding.rule.words(), finding.rule.name());
    format!("{place}: {rule}\n    {words}{target}{opened}")
}

fn totals(out: &mut String, analysis: &Analysis, crossing: usize) {
    let sum = analysis.totals();
    push(
        out,
        format_args!(
            "{crossing} of {} functions cross: {} opens, {} closes, {} fences,\n\
             {} calls of helpers that open and close, {} user accesses; {} rules broken\n",
            analysis.functions.len(),
            sum.opens,
            sum.closes,
            sum.fences,
            sum.hidden,
            sum.accesses,
            analysis.findings(),
        ),
    );
    not_told(out, analysis, sum.unknown);
}

/// What the figures leave out.
fn not_told(out: &mut String, analysis: &Analysis, unknown: usize) {
    if unknown > 0 {
        push(
            out,
            format_args!(
                "{unknown} writes of the gate may open or close: the value is not in the code\n"
            ),
        );
    }
    let lost = analysis
        .functions
        .iter()
        .filter(|function| function.lost)
        .count();
    if lost > 0 {
        push(
            out,
            format_args!(
                "{lost} functions have paths that could not be followed;\nno rule was applied there\n"
            ),
        );
    }
    let (table, code) = (analysis.patched, analysis.patched_in_functions);
    if table != code {
        push(
            out,
            format_args!(
                ".altinstructions holds {} opens, {} closes, {} fences that lie in no function\n",
                table.opens.saturating_sub(code.opens),
                table.closes.saturating_sub(code.closes),
                table.fences.saturating_sub(code.fences),
            ),
        );
    }
    if analysis.unread_records > 0 {
        push(
            out,
            format_args!(
                "{} records of the kernel's tables point to no place in the file\n",
                analysis.unread_records
            ),
        );
    }
}

/// The functions that open the gate twice with straight code between, a line
/// each opening that one window could save.
#[must_use]
pub fn repeats_text(name: &Name, analysis: &Analysis) -> String {
    let mut out = format!("{name} ({})\n", analysis.arch);
    let repeating: Vec<_> = analysis
        .functions
        .iter()
        .filter(|f| !f.repeats.is_empty())
        .collect();
    for function in &repeating {
        let number = function.repeats.len();
        let plural = if number == 1 { "" } else { "s" };
        push(
            &mut out,
            format_args!("{}: opens again {number} time{plural}\n", function.name),
        );
        for repeat in &function.repeats {
            let [closed, opened] =
                [repeat.closed_at, repeat.opened_at].map(|at| at.wrapping_sub(function.address));
            push(
                &mut out,
                format_args!(
                    "    closed at +{closed:#x}, opened at +{opened:#x}, {} instructions between\n",
                    repeat.between
                ),
            );
        }
    }
    let windows: usize = repeating
        .iter()
        .map(|function| function.repeats.len())
        .sum();
    push(
        &mut out,
        format_args!(
            "{} of {} functions open again after straight code, {windows} times\n",
            repeating.len(),
            analysis.functions.len()
        ),
    );
    out
}

/// A function in the manner of `perf annotate`, its windows drawn in the
/// margin.
#[must_use]
pub fn listing_text(listing: &Listing) -> String {
    let function = &listing.function;
    let mut out = format!(
        "{} ({}, {} bytes)\n",
        symbol(&function.name),
        symbol(&function.section),
        function.bytes
    );
    if let Some(reason) = &listing.left_out {
        let lines = format_args!("lines of the source are missing: {}\n", symbol(reason));
        push(&mut out, lines);
    }
    let mut shown: &[Frame] = &[];
    for line in &listing.lines {
        if line.source != shown && !line.source.is_empty() {
            source(&mut out, &line.source);
            shown = &line.source;
        }
        instruction(&mut out, line);
    }
    head(&mut out);
    row(&mut out, function);
    for finding in &function.findings {
        push(&mut out, format_args!("{}\n", sentence(function, finding)));
    }
    out
}

/// A source line, and into which functions the compiler put it.
fn source(out: &mut String, frames: &[Frame]) {
    let Some((inner, outer)) = frames.split_first() else {
        return;
    };
    push(out, format_args!("  {}:{}", inner.file, inner.line));
    let name = |frame: &Frame| frame.function.clone().unwrap_or_default();
    if !outer.is_empty() {
        push(out, format_args!("  {}()", name(inner)));
    }
    for frame in outer {
        push(out, format_args!(" in {}():{}", name(frame), frame.line));
    }
    out.push('\n');
}

fn instruction(out: &mut String, line: &Line) {
    let margin = match (line.mark, line.inside) {
        (Mark::Open, false) => "┌─",
        (Mark::Open, true) => "├─",
        (Mark::Close, true) => "└─",
        (Mark::Close, false) => " ─",
        (Mark::Unknown, _) => "?─",
        (Mark::Fence | Mark::Other, true) => "│ ",
        (Mark::Fence | Mark::Other, false) => "  ",
    };
    let access = if line.access { "u" } else { " " };
    let patched = if line.patched { "*" } else { " " };
    let target = line
        .target
        .as_ref()
        .map_or(String::new(), |to| format!(" <{to}>"));
    let text = format!(
        "{:16x}: {margin}{access}{patched} {}{target}",
        line.address, line.text
    );
    push(out, format_args!("{}\n", text.trim_end()));
}

/// What a change did to each function, and to the whole.
#[must_use]
pub fn against_text(before: &Name, after: &Name, changes: &Changes) -> String {
    let mut out = format!("{before} → {after}\n");
    if !changes.functions.is_empty() {
        named(&mut out, "");
        let [gates, calls, instructions, bytes] = ["gates", "calls", "instructions", "bytes"];
        push(
            &mut out,
            format_args!(" {gates:>13} {calls:>10} {instructions:>16} {bytes:>15}\n"),
        );
    }
    for change in &changes.functions {
        let (old, new) = change.costs();
        named(&mut out, &change.name);
        push(
            &mut out,
            format_args!(
                " {:>13} {:>10} {:>16} {:>15}\n",
                arrow(old.gates as u64, new.gates as u64),
                arrow(old.hidden as u64, new.hidden as u64),
                arrow(old.instructions as u64, new.instructions as u64),
                arrow(old.bytes, new.bytes),
            ),
        );
    }
    bloat(&mut out, changes);
    out
}

fn arrow(before: u64, after: u64) -> String {
    if before == after {
        before.to_string()
    } else {
        format!("{before} → {after}")
    }
}

/// The last lines of the kernel's scripts/bloat-o-meter, and the gates.
fn bloat(out: &mut String, changes: &Changes) {
    let sizes = changes.functions.iter().map(|change| {
        let (before, after) = change.costs();
        (change, before.bytes, after.bytes)
    });
    let sizes: Vec<_> = sizes.collect();
    let count = |pick: &dyn Fn(&&(&tollgate_gates::Change, u64, u64)) -> bool| {
        sizes.iter().filter(pick).count()
    };
    let up: u64 = sizes
        .iter()
        .map(|(_, before, after)| after.saturating_sub(*before))
        .sum();
    let down: u64 = sizes
        .iter()
        .map(|(_, before, after)| before.saturating_sub(*after))
        .sum();
    push(
        out,
        format_args!(
            "add/remove: {}/{} grow/shrink: {}/{} up/down: {up}/-{down} ({})\n",
            count(&|(change, ..)| change.before.is_none()),
            count(&|(change, ..)| change.after.is_none()),
            count(&|(change, before, after)| change.before.is_some() && after > before),
            count(&|(change, before, after)| change.after.is_some() && after < before),
            i128::from(up) - i128::from(down),
        ),
    );
    let total = |out: &mut String, what: &str, pick: &dyn Fn(&Cost) -> u64| {
        push(
            out,
            format_args!(
                "{what}: {}\n",
                arrow(pick(&changes.before), pick(&changes.after))
            ),
        );
    };
    total(out, "gates in all functions", &|cost| cost.gates as u64);
    total(out, "calls of helpers that open and close", &|cost| {
        cost.hidden as u64
    });
    total(out, "fences", &|cost| cost.fences as u64);
    total(out, "instructions", &|cost| cost.instructions as u64);
    total(out, "bytes of text", &|cost| cost.bytes);
}

#[cfg(test)]
mod tests;
