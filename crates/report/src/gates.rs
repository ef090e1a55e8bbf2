//! The gates of object code for people: a table, a listing, a comparison.

mod json;

use tollgate_gates::{Analysis, Changes, Cost, Finding, Frame, FunctionGates, Line, Listing, Mark};
use tollgate_source::{Name, plain};

use crate::document::{Block, Cell, Document, Extent, Kind, Section, Table};
use crate::text::plural;

pub use json::{GATES_VERSION, against_json, gates_json, listing_json};

/// A symbol's name: an object may hold any bytes in its place.
fn symbol(name: &str) -> String {
    plain(name).replace('\n', "\\n")
}

/// What the columns count.
const LEGEND: &str = "\
open, close, fence, user: instructions that open the gate, close it, hold back \
speculation, reach for user memory (2+1?: of 1 more the code does not say whether it opens \
or closes); call: of helpers that open and close; in: instructions that run with the \
window open; path: instructions of the shortest and the longest way through a window; \
bytes: of text";

const COLUMNS: [(&str, Kind); 9] = [
    ("", Kind::Whole),
    ("open", Kind::Number),
    ("close", Kind::Number),
    ("fence", Kind::Number),
    ("call", Kind::Number),
    ("user", Kind::Number),
    ("in", Kind::Number),
    ("path", Kind::Number),
    ("bytes", Kind::Number),
];

/// What is said of files, a section each; the names are those that the user gave.
fn of_files(all: &[(Name, Analysis)], section: impl Fn(&Name, &Analysis) -> Section) -> Document {
    let names: Vec<String> = all.iter().map(|(name, _)| name.to_string()).collect();
    Document {
        title: "What opens and closes the gate".to_owned(),
        short: format!("gates of {}", names.join(", ")),
        head: Extent::Full,
        sections: all.iter().map(|(name, one)| section(name, one)).collect(),
        ..Document::default()
    }
}

/// Each file's functions that cross the boundary, and what is wrong with them.
#[must_use]
pub fn gates(all: &[(Name, Analysis)]) -> Document {
    of_files(all, of_gates)
}

fn of_gates(name: &Name, analysis: &Analysis) -> Section {
    let crossing: Vec<_> = analysis.functions.iter().filter(|f| f.crosses()).collect();
    let mut blocks = Vec::new();
    if !crossing.is_empty() {
        blocks.push(Block::Table(table(&crossing).noted(LEGEND)));
    }
    let findings: Vec<String> = analysis.functions.iter().flat_map(sentences).collect();
    if !findings.is_empty() {
        blocks.push(Block::List(findings));
    }
    blocks.push(Block::List(totals(analysis, crossing.len())));
    Section::new(format!("{name} ({})", analysis.arch), blocks)
}

fn table(functions: &[&FunctionGates]) -> Table {
    let mut table = Table::apart(&COLUMNS);
    functions.iter().for_each(|one| table.row(row(one)));
    table
}

fn row(function: &FunctionGates) -> [Cell; 9] {
    let counts = &function.counts;
    let closes = match counts.unknown {
        0 => counts.closes.to_string(),
        unknown => format!("{}+{unknown}?", counts.closes),
    };
    [
        symbol(&function.name),
        counts.opens.to_string(),
        closes,
        counts.fences.to_string(),
        counts.hidden.to_string(),
        counts.accesses.to_string(),
        function.inside.to_string(),
        path(function),
        function.bytes.to_string(),
    ]
    .map(Cell::from)
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

fn sentences(function: &FunctionGates) -> impl Iterator<Item = String> {
    let findings = function.findings.iter();
    findings.map(move |finding| sentence(function, finding))
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
    format!("{place}: {rule}: {words}{target}{opened}")
}

fn totals(analysis: &Analysis, crossing: usize) -> Vec<String> {
    let sum = analysis.totals();
    let mut all = vec![format!(
        "{crossing} of {} functions cross: {} opens, {} closes, {} fences, {} calls of helpers \
         that open and close, {} user accesses; {} rules broken",
        analysis.functions.len(),
        sum.opens,
        sum.closes,
        sum.fences,
        sum.hidden,
        sum.accesses,
        analysis.findings(),
    )];
    all.extend(not_told(analysis, sum.unknown));
    all
}

/// What the figures leave out.
fn not_told(analysis: &Analysis, unknown: usize) -> Vec<String> {
    let mut all = Vec::new();
    if unknown > 0 {
        all.push(format!(
            "{} of the gate may open or close: the value is not in the code",
            plural(unknown, "write")
        ));
    }
    let functions = analysis.functions.iter();
    let lost = functions.filter(|function| function.lost).count();
    if lost > 0 {
        all.push(format!(
            "{}: not all paths could be followed, and no rule was applied",
            plural(lost, "function")
        ));
    }
    let (table, code) = (analysis.patched, analysis.patched_in_functions);
    if table != code {
        all.push(format!(
            ".altinstructions holds {} opens, {} closes, {} fences that lie in no function",
            table.opens.saturating_sub(code.opens),
            table.closes.saturating_sub(code.closes),
            table.fences.saturating_sub(code.fences),
        ));
    }
    if analysis.unread_records > 0 {
        all.push(format!(
            "{} records of the kernel's tables point to no place in the file",
            analysis.unread_records
        ));
    }
    all
}

/// The functions that open the gate twice with straight code between, a row each
/// opening that one window could save.
#[must_use]
pub fn repeats(all: &[(Name, Analysis)]) -> Document {
    of_files(all, of_repeats)
}

fn of_repeats(name: &Name, analysis: &Analysis) -> Section {
    let functions = analysis.functions.iter();
    let repeating: Vec<_> = functions.filter(|f| !f.repeats.is_empty()).collect();
    let mut table = Table::apart(&[
        ("opens again", Kind::Whole),
        ("closed at", Kind::Number),
        ("opened at", Kind::Number),
        ("instructions between", Kind::Number),
    ]);
    for function in &repeating {
        for (at, repeat) in function.repeats.iter().enumerate() {
            let into = |address: u64| format!("+{:#x}", address.wrapping_sub(function.address));
            let name = if at == 0 {
                symbol(&function.name)
            } else {
                String::new()
            };
            let (closed, opened) = (into(repeat.closed_at), into(repeat.opened_at));
            let cells = [name, closed, opened, repeat.between.to_string()].map(Cell::from);
            match at {
                0 => table.row(cells),
                _ => table.further(cells),
            }
        }
    }
    let times: usize = repeating
        .iter()
        .map(|function| function.repeats.len())
        .sum();
    let sum = format!(
        "{} of {} functions open again after straight code, {}",
        repeating.len(),
        analysis.functions.len(),
        plural(times, "time")
    );
    let table = (!repeating.is_empty()).then_some(Block::Table(table));
    let blocks = table.into_iter().chain([Block::Text(sum)]);
    Section::new(format!("{name} ({})", analysis.arch), blocks.collect())
}

/// A function in the manner of `perf annotate`, its windows drawn in the margin; a
/// section for each of that name.
#[must_use]
pub fn listing(name: &Name, listings: &[Listing]) -> Document {
    Document {
        title: format!("A function of {name}"),
        short: name.to_string(),
        head: Extent::Full,
        sections: listings.iter().map(of_listing).collect(),
        ..Document::default()
    }
}

fn of_listing(listing: &Listing) -> Section {
    let function = &listing.function;
    let (name, section) = (symbol(&function.name), symbol(&function.section));
    let mut lines = Vec::new();
    if let Some(reason) = &listing.left_out {
        lines.push(format!("lines of the source are missing: {reason}"));
    }
    let mut shown: &[Frame] = &[];
    for line in &listing.lines {
        if line.source != shown && !line.source.is_empty() {
            lines.extend(source(&line.source));
            shown = &line.source;
        }
        lines.push(instruction(line));
    }
    let mut blocks = vec![
        Block::Lines(lines),
        Block::Table(table(&[function]).noted(LEGEND)),
    ];
    let findings: Vec<String> = sentences(function).collect();
    if !findings.is_empty() {
        blocks.push(Block::List(findings));
    }
    Section::new(
        format!("{name} ({section}, {} bytes)", function.bytes),
        blocks,
    )
}

/// A source line, and into which functions the compiler put it.
fn source(frames: &[Frame]) -> Option<String> {
    let (inner, outer) = frames.split_first()?;
    let name = |frame: &Frame| frame.function.clone().unwrap_or_default();
    let own = match outer {
        [] => String::new(),
        _ => format!("  {}()", name(inner)),
    };
    let callers = outer.iter();
    let callers: String = callers
        .map(|frame| format!(" in {}():{}", name(frame), frame.line))
        .collect();
    Some(format!("  {}:{}{own}{callers}", inner.file, inner.line))
}

fn instruction(line: &Line) -> String {
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
    let target = line.target.as_ref();
    let target = target.map_or(String::new(), |to| format!(" <{to}>"));
    let text = format!(
        "{:16x}: {margin}{access}{patched} {}{target}",
        line.address, line.text
    );
    text.trim_end().to_owned()
}

/// What a change did to each function, and to the whole.
#[must_use]
pub fn against(before: &Name, after: &Name, changes: &Changes) -> Document {
    let mut table = Table::apart(&[
        ("", Kind::Whole),
        ("gates", Kind::Number),
        ("calls", Kind::Number),
        ("instructions", Kind::Number),
        ("bytes", Kind::Number),
    ]);
    for change in &changes.functions {
        let (old, new) = change.costs();
        let cells = [
            symbol(&change.name),
            arrow(old.gates as u64, new.gates as u64),
            arrow(old.hidden as u64, new.hidden as u64),
            arrow(old.instructions as u64, new.instructions as u64),
            arrow(old.bytes, new.bytes),
        ];
        table.row(cells.map(Cell::from));
    }
    let table = (!changes.functions.is_empty()).then_some(Block::Table(table));
    let blocks = table.into_iter().chain([Block::List(bloat(changes))]);
    let what = format!("{before} -> {after}");
    Document {
        title: "What opens and closes the gate, before and after".to_owned(),
        short: what.clone(),
        head: Extent::Full,
        sections: vec![Section::new(what, blocks.collect())],
        ..Document::default()
    }
}

fn arrow(before: u64, after: u64) -> String {
    if before == after {
        before.to_string()
    } else {
        format!("{before} -> {after}")
    }
}

/// The last lines of the kernel's scripts/bloat-o-meter, and the gates.
fn bloat(changes: &Changes) -> Vec<String> {
    let sizes = changes.functions.iter().map(|change| {
        let (before, after) = change.costs();
        (change, before.bytes, after.bytes)
    });
    let sizes: Vec<_> = sizes.collect();
    let count = |pick: &dyn Fn(&&(&tollgate_gates::FunctionChange, u64, u64)) -> bool| {
        sizes.iter().filter(pick).count()
    };
    let up = sizes
        .iter()
        .map(|(_, before, after)| after.saturating_sub(*before));
    let down = sizes
        .iter()
        .map(|(_, before, after)| before.saturating_sub(*after));
    let (up, down): (u64, u64) = (up.sum(), down.sum());
    let total = |what: &str, pick: &dyn Fn(&Cost) -> u64| {
        let both = arrow(pick(&changes.before), pick(&changes.after));
        format!("{what}: {both}")
    };
    vec![
        format!(
            "add/remove: {}/{} grow/shrink: {}/{} up/down: {up}/-{down} ({})",
            count(&|(change, ..)| change.before.is_none()),
            count(&|(change, ..)| change.after.is_none()),
            count(&|(change, before, after)| change.before.is_some() && after > before),
            count(&|(change, before, after)| change.after.is_some() && after < before),
            i128::from(up) - i128::from(down),
        ),
        total("gates in all functions", &|cost| cost.gates as u64),
        total("calls of helpers that open and close", &|cost| {
            cost.hidden as u64
        }),
        total("fences", &|cost| cost.fences as u64),
        total("instructions", &|cost| cost.instructions as u64),
        total("bytes of text", &|cost| cost.bytes),
    ]
}

#[cfg(test)]
mod tests;
