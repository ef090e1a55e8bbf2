//! What was found in files, as a document.

use tollgate_measure::Timings;
use tollgate_profile::{
    Annotation, Boundary, Evidence, Explained, GateShare, NamedBy, Profile, Ranges, Reading,
    Samples, Series, Side, TimeTable,
};
use tollgate_source::Name;

use crate::document::{Block, Cell, Document, Extent, Kind, Section, Table};
use crate::text::{plural, shorten};
use crate::timing;

/// A file that was read, with what was made of it.
#[derive(Debug)]
pub struct ReadFile<'a> {
    /// As the user named it.
    pub name: &'a Name,
    /// What is in it.
    pub reading: &'a Reading,
    /// The boundary's part of each profile, in their order.
    pub boundaries: Vec<Boundary>,
    /// The gate's instructions in annotated lines.
    pub gates: Vec<GateShare>,
    /// Repeated measurements by benchmark.
    pub series: Vec<Series>,
    /// What of a tree explains each profile, in their order; empty without a tree.
    pub explained: Vec<Vec<Explained>>,
}

/// Callers that are named of a symbol, and symbols of a kind.
const MOST: usize = 4;

/// Everything that was found, and times of `tollgate run` behind it. `rows` symbols of
/// each profile are listed.
#[must_use]
pub fn profile_document(
    files: &[ReadFile<'_>],
    timed: &[(&Name, &Timings)],
    rows: usize,
) -> Document {
    let names = files.iter().map(|file| file.name);
    let names = names.chain(timed.iter().map(|(name, _)| *name));
    let names: Vec<String> = names.map(ToString::to_string).collect();
    let timed = timed.iter().map(|(name, timings)| Section {
        title: name.to_string(),
        sections: timing::sections(timings),
        ..Section::default()
    });
    let read = files.iter().map(|file| of_file(file, rows));
    Document {
        title: "What profiles pay at the boundary".to_owned(),
        short: names.join(", "),
        head: Extent::Full,
        sections: read.chain(timed).collect(),
        ..Document::default()
    }
}

fn of_file(file: &ReadFile<'_>, rows: usize) -> Section {
    let reading = file.reading;
    let mut parts = Vec::new();
    for (at, (profile, boundary)) in reading.profiles.iter().zip(&file.boundaries).enumerate() {
        let mut part = of_profile(profile, boundary, rows);
        let explained = file.explained.get(at);
        part.blocks
            .extend(explained.map(|explained| of_tree(explained, profile)));
        parts.push(part);
    }
    let blocks = reading.annotations.iter();
    parts.extend(blocks.map(|block| annotated(block, file)));
    parts.extend(reading.times.iter().map(times));
    parts.extend(file.series.iter().map(series));
    Section {
        title: file.name.to_string(),
        sections: parts,
        ..Section::default()
    }
}

/// `lines 12-30`, nothing of a form without lines.
pub(super) fn place(first: usize, last: usize) -> String {
    match first {
        0 => String::new(),
        _ if first == last => format!("line {first}"),
        _ => format!("lines {first}-{last}"),
    }
}

pub(super) fn head(profile: &Profile) -> String {
    let mut words = vec![
        place(profile.place.first, profile.place.last),
        profile.form.words().to_owned(),
    ];
    words.retain(|word| !word.is_empty());
    let title = profile
        .title
        .as_ref()
        .map_or(String::new(), |title| format!(": {title}"));
    format!("{}{title}", words.join(", "))
}

fn again(lines: &[usize]) -> String {
    let all: Vec<String> = lines.iter().map(ToString::to_string).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(" The same is quoted at line {}.", all.join(", ")),
    }
}

fn of_profile(profile: &Profile, boundary: &Boundary, rows: usize) -> Section {
    let first = [
        format!("{}{}", extent(profile), again(&profile.again)),
        share(profile, boundary),
    ];
    let mut blocks = vec![Block::List(first.into())];
    blocks.extend(kinds(boundary));
    blocks.extend(largest(profile, rows));
    let remarks = remarks(profile, boundary);
    blocks.extend((!remarks.is_empty()).then_some(Block::List(remarks)));
    Section::new(head(profile), blocks)
}

/// What else has to be known of it.
fn remarks(profile: &Profile, boundary: &Boundary) -> Vec<String> {
    let mut all: Vec<String> = marked(profile).into_iter().collect();
    for debug in &boundary.debugging {
        let symbols: Vec<String> = debug.symbols.iter().take(MOST).cloned().collect();
        all.push(format!(
            "{} was on in this kernel ({} {:.2} %: {}): its shares are not those of a kernel in production.",
            capital(&debug.what),
            plural(debug.symbols.len(), "symbol"),
            debug.percent,
            symbols.join(", "),
        ));
    }
    for row in profile.rows.iter().filter(|row| !row.inlined.is_empty()) {
        let (inlined, symbol) = (row.inlined.join(", "), &row.symbol);
        all.push(format!("{inlined} is part of {symbol}, the text says."));
    }
    let (percent, names) = profile.unresolved();
    if names > 0 {
        let names = plural(names, "symbol or address");
        all.push(format!("{percent:.2} % have no name ({names})."));
    }
    all.extend(profile.notes.iter().map(|note| capital(note) + "."));
    all
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

pub(super) fn samples(samples: Samples) -> String {
    match samples {
        Samples::Unknown => "how many samples there were is not said".to_owned(),
        Samples::AtLeast(count) => format!("{} samples or some more", grouped(count)),
        Samples::Exactly(count) => format!("{} samples", grouped(count)),
    }
}

fn grouped(count: u64) -> String {
    crate::text::grouped(&count.to_string())
}

fn extent(profile: &Profile) -> String {
    let counted = match profile.measure {
        tollgate_profile::Measure::Instructions => "counted exactly".to_owned(),
        _ => samples(profile.samples),
    };
    let whole = match profile.partial {
        true => format!(", {:.2} % listed", profile.shown()),
        false => String::new(),
    };
    let stacks = match profile.stacks.is_empty() {
        true => "no call chains",
        false => "with call chains",
    };
    let counted = match profile.effective {
        Some(effective) => format!(
            "{counted} of unlike weight, which say as much as {} of one",
            grouped(effective)
        ),
        None => counted,
    };
    let symbols = plural(profile.rows.len(), "symbol");
    let measure = profile.measure.words();
    format!("{symbols}{whole}, in percent of {measure}; {counted}; {stacks}.")
}

fn share(profile: &Profile, boundary: &Boundary) -> String {
    let least = if profile.partial { "at least " } else { "" };
    let interval = boundary.interval.map_or(String::new(), |found| {
        format!(
            " (95 % interval of sampling {:.2} to {:.2})",
            found.low, found.high
        )
    });
    let kernel = match boundary.kernel > 0.0 {
        true => format!("; the kernel: {:.2} %", boundary.kernel),
        false => String::new(),
    };
    format!(
        "The boundary: {least}{:.2} %{interval}{kernel}.",
        boundary.percent
    )
}

fn kinds(boundary: &Boundary) -> Option<Block> {
    let mut table = Table::apart(&[
        ("kind", Kind::Word),
        ("%", Kind::Number),
        ("95 %", Kind::Number),
        ("symbols (callers)", Kind::Name),
    ]);
    for kind in &boundary.kinds {
        let range = kind.interval.map_or(String::new(), |found| {
            format!("{:.2}-{:.2}", found.low, found.high)
        });
        let mut symbols: Vec<String> = kind.symbols.iter().take(MOST).map(symbol).collect();
        if kind.symbols.len() > MOST {
            symbols.push(format!("{} more", kind.symbols.len() - MOST));
        }
        let percent = format!("{:.2}", kind.percent);
        table.row([kind.kind.clone(), percent, range, symbols.join("; ")].map(Cell::from));
    }
    (!boundary.kinds.is_empty()).then_some(Block::Table(table))
}

fn symbol(symbol: &tollgate_profile::SymbolShare) -> String {
    let callers: Vec<String> = symbol
        .callers
        .iter()
        .take(MOST)
        .map(|caller| format!("{} {:.2}", shorten(&caller.symbol, 40), caller.percent))
        .collect();
    let from = match callers.is_empty() {
        true => String::new(),
        false => format!(" from {}", callers.join(", ")),
    };
    format!(
        "{} {:.2}{from}",
        shorten(&symbol.symbol, 40),
        symbol.percent
    )
}

/// `16.43 % = 8.37 + 4.86 + …`
fn marked(profile: &Profile) -> Option<String> {
    let rows: Vec<_> = profile.rows.iter().filter(|row| row.marked).collect();
    let sum: f64 = rows.iter().map(|row| row.percent).sum();
    let terms: Vec<String> = rows
        .iter()
        .map(|row| format!("{:.2} {}", row.percent, shorten(&row.symbol, 40)))
        .collect();
    let terms = terms.join(" + ");
    (!rows.is_empty()).then(|| format!("The rows marked in the text: {sum:.2} % = {terms}."))
}

fn largest(profile: &Profile, rows: usize) -> Option<Block> {
    let mut table = Table::apart(&[
        ("symbol", Kind::Whole),
        ("%", Kind::Number),
        ("in", Kind::Word),
    ]);
    for row in profile.rows.iter().take(rows) {
        let object = shorten(row.object.rsplit('/').next().unwrap_or_default(), 24);
        let percent = format!("{:.2}", row.percent);
        table.row([row.symbol.clone(), percent, object].map(Cell::from));
    }
    (rows > 0).then_some(Block::Table(table))
}

/// What a tree says of it.
fn of_tree(explained: &[Explained], profile: &Profile) -> Block {
    const SHOWN: usize = 8;
    if explained.is_empty() {
        return Block::Text(
            "No finding of the tree is in a function that this profile names.".to_owned(),
        );
    }
    let mut all = vec![
        "What of the tree explains it, by what it could save at most if all of it cost nothing (an estimate from above, Amdahl's law):".to_owned(),
    ];
    all.extend(explained.iter().take(SHOWN).map(explained_line));
    if explained.len() > SHOWN {
        all.push(format!("{} more explain less.", explained.len() - SHOWN));
    }
    if profile.stacks.is_empty() {
        all.push("Without call chains every caller of a helper is given all of it: record with perf record -g.".to_owned());
    }
    Block::List(all)
}

fn explained_line(one: &Explained) -> String {
    let candidate = &one.candidate;
    let within = match candidate.function == one.symbol {
        true => String::new(),
        false => format!(" in {}", one.symbol),
    };
    let helpers: Vec<String> = one
        .helpers
        .iter()
        .map(|(name, part)| format!("{name} {part:.2}"))
        .collect();
    let how = match one.evidence {
        Evidence::Stacks => "it reached",
        Evidence::Symbols => "of all that reached",
        Evidence::Own => "its own time, accesses and all else:",
    };
    format!(
        "- at most {:.2} % ({:.2} % faster): {}:{} {}{within}, {} saved; {how} {}",
        one.at_most,
        one.speedup,
        candidate.path,
        candidate.line,
        candidate.function,
        plural(candidate.windows_saved, "window"),
        helpers.join(", "),
    )
}

fn annotated(block: &Annotation, file: &ReadFile<'_>) -> Section {
    let known = match (&block.function, block.named_by) {
        (Some(name), NamedBy::Header | NamedBy::Nobody) => name.clone(),
        (Some(name), NamedBy::Jump) => format!("{name} (a jump in it says so)"),
        (Some(name), NamedBy::Neighbour) => {
            format!("{name} (by the addresses of the block before)")
        }
        (None, _) => "a function that nothing names".to_owned(),
    };
    let place = place(block.place.first, block.place.last);
    let more = if block.elided {
        ", and more that the text leaves out"
    } else {
        ""
    };
    let mut all = vec![format!(
        "{}{more}: {:.2} % of the function's samples.{}",
        plural(block.lines.len(), "instruction"),
        block.percent(),
        again(&block.again)
    )];
    let is_line = |gate: &&GateShare| {
        let mut lines = block.lines.iter();
        gate.function == block.function
            && lines.any(|line| line.code == gate.code && line.percent == gate.percent)
    };
    for gate in file.gates.iter().filter(is_line) {
        let of_all = gate
            .of_all
            .map_or(String::new(), |all| format!(", {all:.2} % of all samples"));
        all.push(format!(
            "The gate: {} ({}) has {:.2} % of the function{of_all}.",
            gate.code,
            does(&gate.does),
            gate.percent
        ));
    }
    Section::new(
        format!("{place}, perf annotate: {known}"),
        vec![Block::List(all)],
    )
}

fn does(what: &str) -> &'static str {
    match what {
        "opens" => "opens it",
        "closes" => "closes it",
        _ => "opens or closes it",
    }
}

/// Nanoseconds as a text gave them.
pub(super) fn ns(nanoseconds: f64) -> String {
    match nanoseconds {
        size if size.abs() < 10_000.0 => format!("{nanoseconds:.3}"),
        _ => format!("{nanoseconds:.1}"),
    }
}

fn times(table_of: &TimeTable) -> Section {
    let title = table_of
        .title
        .as_ref()
        .map_or(String::new(), |title| format!(": {title}"));
    let place = place(table_of.place.first, table_of.place.last);
    let shown = width(table_of);
    let pair = table_of.pair().filter(|_| shown == table_of.columns.len());
    let mut table = Table::apart(&[("", Kind::Name)]);
    let skipped = table_of.columns.len().saturating_sub(shown);
    let heads = table_of.columns.iter().skip(skipped);
    let heads = heads.map(|head| shorten(head, 16));
    let last = ["difference", "after/before", "change"].map(str::to_owned);
    let last = last.into_iter().filter(|_| pair.is_some());
    for (at, head) in heads.chain(last).enumerate() {
        table.column(head, Kind::Number, at + 1);
    }
    for row in &table_of.rows {
        table.row(time_cells(row, pair, table.columns.len()));
    }
    let unsaid = table_of.sides().contains(&Side::Unsaid);
    let note = match (pair.is_some(), unsaid) {
        (true, _) => {
            "One time a kernel: how far two runs of one kernel lie apart is not in it, so nothing can be told of noise."
        }
        (false, _) => {
            "Its columns do not say which is before and which after: no ratio can be told."
        }
    };
    let note = format!("{note}{}", again(&table_of.again));
    let blocks = vec![Block::Table(table.noted(note))];
    Section::new(format!("{place}, times in ns{title}"), blocks)
}

/// A cell for each column; those that a row lacks are empty.
fn time_cells(
    row: &tollgate_profile::TimeRow,
    pair: Option<(usize, usize)>,
    columns: usize,
) -> Vec<Cell> {
    let mut cells = vec![row.label.clone()];
    cells.extend(row.nanoseconds.iter().map(|time| ns(*time)));
    let times = pair.and_then(|(before, after)| {
        Some((*row.nanoseconds.get(before)?, *row.nanoseconds.get(after)?))
    });
    if let Some((before, after)) = times.filter(|(before, _)| *before > 0.0) {
        cells.push(format!("{:+.3}", after - before));
        cells.push(format!("{:.4}", after / before));
        cells.push(format!("{:+.1} %", 100.0 * (after / before - 1.0)));
    }
    cells.resize(columns, String::new());
    cells.into_iter().map(Cell::from).collect()
}

fn width(table: &TimeTable) -> usize {
    table.rows.first().map_or(0, |row| row.nanoseconds.len())
}

fn series(series: &Series) -> Section {
    let label = if series.label.is_empty() {
        String::new()
    } else {
        format!(", {}", series.label)
    };
    let mut table = Table::apart(&[
        ("", Kind::Name),
        ("samples", Kind::Number),
        ("median", Kind::Number),
        ("fastest", Kind::Number),
        ("slowest", Kind::Number),
        ("line", Kind::Number),
    ]);
    for (at, point) in series.points.iter().enumerate() {
        let heading = if point.heading.is_empty() {
            "(no name)"
        } else {
            &point.heading
        };
        let [median, low, high] =
            [point.median, point.low, point.high].map(|time| format!("{time:.1}"));
        let (count, line) = (point.count.to_string(), point.line.to_string());
        let name = format!("{}: {heading}", at + 1);
        table.row([name, count, median, low, high, line].map(Cell::from));
    }
    let changes = series.changes.iter().map(of_change);
    let said = changes.chain([limits(series)]).collect();
    Section::new(
        format!("{}{label}, in ns", series.what),
        vec![Block::Table(table), Block::List(said)],
    )
}

fn of_change(change: &tollgate_profile::PointChange) -> String {
    let (from, to) = (change.from + 1, change.to + 1);
    let amount = format!("{:+.1} ns ({:+.1} %)", change.difference, change.percent);
    let lie = match change.ranges {
        Ranges::Above => "every sample is above every one of it",
        Ranges::Below => "every sample is below every one of it",
        Ranges::Overlap => "the samples overlap",
    };
    let told = match () {
        () if change.chance <= 0.05 => "a difference is shown",
        () if change.ranges == Ranges::Overlap => "no difference can be told",
        () => "a difference is likely, and not shown at 5 %",
    };
    format!(
        "{to} against {from}: {amount}; {lie}, as chance does {}: {told}.",
        chance(change.chance)
    )
}

/// `1 time in 10`.
fn chance(p: f64) -> String {
    match p {
        p if p > 0.5 => "more often than not".to_owned(),
        p if p <= 0.0 => "never".to_owned(),
        p => format!("1 time in {:.0}", 1.0 / p),
    }
}

/// What so few samples cannot say.
pub(super) fn limits(series: &Series) -> String {
    let few = series
        .points
        .iter()
        .map(|point| point.count)
        .min()
        .unwrap_or_default();
    let least = series
        .changes
        .iter()
        .map(|change| change.smallest)
        .fold(0.0, f64::max);
    match (series.changes.is_empty(), least > 0.05) {
        (true, _) => "One point alone: there is nothing to compare it with.".to_owned(),
        (_, true) => format!(
            "With {few} samples a point no test can show a difference at 5 %: even sides that lie wholly apart do so by chance {}. And all samples of a point are of one boot: what a boot changes is not in them.",
            chance(least)
        ),
        (_, false) => {
            "All samples of a point may be of one boot: what a boot changes is not in them."
                .to_owned()
        }
    }
}
