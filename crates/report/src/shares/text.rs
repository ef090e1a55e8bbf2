//! What was found in files, on a terminal of 80 columns.

use tollgate_profile::{
    Annotation, Boundary, Evidence, Explained, GateShare, NamedBy, Profile, Ranges, Reading,
    Samples, Series, Side, TimeTable,
};
use tollgate_source::Name;

use crate::fixed::{Paint, lines, table};
use crate::text::{WIDTH, clean, plural, shorten, wrap};

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

/// Everything that was found, at most 80 columns wide. `rows` symbols of each profile
/// are listed. Ends with a newline.
#[must_use]
pub fn profile_text(files: &[ReadFile<'_>], rows: usize, color: bool) -> String {
    let paint = Paint(color);
    let parts: Vec<String> = files.iter().map(|file| one(file, rows, &paint)).collect();
    parts.join("\n")
}

fn one(file: &ReadFile<'_>, rows: usize, paint: &Paint) -> String {
    let mut parts = vec![paint.bold(&clean(&file.name.to_string())) + "\n"];
    for (at, (profile, boundary)) in file
        .reading
        .profiles
        .iter()
        .zip(&file.boundaries)
        .enumerate()
    {
        parts.push(of_profile(profile, boundary, rows, paint));
        if let Some(explained) = file.explained.get(at) {
            parts.push(of_tree(explained, profile));
        }
    }
    parts.extend(
        file.reading
            .annotations
            .iter()
            .map(|block| annotated(block, file, paint)),
    );
    parts.extend(file.reading.times.iter().map(|one| times(one, paint)));
    parts.extend(file.series.iter().map(|one| series(one, paint)));
    parts.join("\n")
}

pub(super) fn indented(text: &str) -> String {
    let lines = wrap(text, WIDTH - 2);
    lines.iter().map(|line| format!("  {line}\n")).collect()
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

fn of_profile(profile: &Profile, boundary: &Boundary, rows: usize, paint: &Paint) -> String {
    let mut text = String::new();
    for line in wrap(&head(profile), WIDTH) {
        text.push_str(&(paint.bold(&line) + "\n"));
    }
    text.push_str(&indented(&format!(
        "{}{}",
        extent(profile),
        again(&profile.again)
    )));
    text.push_str(&indented(&share(profile, boundary)));
    text.push_str(&kinds(boundary));
    text.push_str(&marked(profile));
    text.push_str(&largest(profile, rows));
    for debug in &boundary.debugging {
        text.push_str(&indented(&format!(
            "{} was on in this kernel ({} {:.2} %: {}): its shares are not those of a kernel in production.",
            capital(&debug.what),
            plural(debug.symbols.len(), "symbol"),
            debug.percent,
            debug.symbols.iter().take(MOST).cloned().collect::<Vec<_>>().join(", "),
        )));
    }
    let (percent, names) = profile.unresolved();
    if names > 0 {
        text.push_str(&indented(&format!(
            "{percent:.2} % have no name ({}).",
            plural(names, "symbol or address")
        )));
    }
    for note in &profile.notes {
        text.push_str(&indented(&(capital(note) + ".")));
    }
    text
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

fn kinds(boundary: &Boundary) -> String {
    let mut table = table(&["kind", "%", "95 %", "symbols, and who reached them"], 1);
    for kind in &boundary.kinds {
        let range = kind.interval.map_or(String::new(), |found| {
            format!("{:.2}-{:.2}", found.low, found.high)
        });
        let mut symbols: Vec<String> = kind.symbols.iter().take(MOST).map(symbol).collect();
        if kind.symbols.len() > MOST {
            symbols.push(format!("{} more", kind.symbols.len() - MOST));
        }
        let words = wrap(&symbols.join("; "), 38).join("\n");
        table.add_row([
            kind.kind.clone(),
            format!("{:.2}", kind.percent),
            range,
            words,
        ]);
    }
    match boundary.kinds.is_empty() {
        true => String::new(),
        false => left(table),
    }
}

fn left(mut table: comfy_table::Table) -> String {
    if let Some(column) = table.column_mut(3) {
        column.set_cell_alignment(comfy_table::CellAlignment::Left);
    }
    lines(&table)
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
fn marked(profile: &Profile) -> String {
    let rows: Vec<_> = profile.rows.iter().filter(|row| row.marked).collect();
    let sum: f64 = rows.iter().map(|row| row.percent).sum();
    let terms: Vec<String> = rows
        .iter()
        .map(|row| format!("{:.2} {}", row.percent, shorten(&row.symbol, 40)))
        .collect();
    match rows.is_empty() {
        true => String::new(),
        false => indented(&format!(
            "The rows marked in the text: {sum:.2} % = {}.",
            terms.join(" + ")
        )),
    }
}

fn largest(profile: &Profile, rows: usize) -> String {
    let mut table = table(&["symbol", "%", "in"], 1);
    for row in profile.rows.iter().take(rows) {
        let object = shorten(row.object.rsplit('/').next().unwrap_or_default(), 24);
        table.add_row([
            shorten(&row.symbol, 44),
            format!("{:.2}", row.percent),
            object,
        ]);
    }
    match rows {
        0 => String::new(),
        _ => lines(&table),
    }
}

/// What a tree says of it.
fn of_tree(explained: &[Explained], profile: &Profile) -> String {
    const SHOWN: usize = 8;
    if explained.is_empty() {
        return indented("No finding of the tree is in a function that this profile names.");
    }
    let mut text = indented(
        "What of the tree explains it, by what it could save at most if all of it cost nothing (an estimate from above, Amdahl's law):",
    );
    for one in explained.iter().take(SHOWN) {
        text.push_str(&explained_line(one));
    }
    if explained.len() > SHOWN {
        text.push_str(&indented(&format!(
            "{} more explain less.",
            explained.len() - SHOWN
        )));
    }
    if profile.stacks.is_empty() {
        text.push_str(&indented("Without call chains every caller of a helper is given all of it: record with perf record -g."));
    }
    text
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
    let text = format!(
        "at most {:.2} % ({:.2} % faster): {}:{} {}{within}, {} saved; {how} {}",
        one.at_most,
        one.speedup,
        candidate.path,
        candidate.line,
        candidate.function,
        plural(candidate.windows_saved, "window"),
        helpers.join(", "),
    );
    let lines = wrap(&text, WIDTH - 6);
    let mut shown = String::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = if at == 0 { "  - " } else { "    " };
        shown.push_str(&format!("{indent}{line}\n"));
    }
    shown
}

fn annotated(block: &Annotation, file: &ReadFile<'_>, paint: &Paint) -> String {
    let known = match (&block.function, block.named_by) {
        (Some(name), NamedBy::Header | NamedBy::Nobody) => clean(name),
        (Some(name), NamedBy::Jump) => format!("{} (a jump in it says so)", clean(name)),
        (Some(name), NamedBy::Neighbour) => {
            format!("{} (by the addresses of the block before)", clean(name))
        }
        (None, _) => "a function that nothing names".to_owned(),
    };
    let place = place(block.place.first, block.place.last);
    let mut text = paint.bold(&shorten(&format!("{place}, perf annotate: {known}"), WIDTH)) + "\n";
    let more = if block.elided {
        ", and more that the text leaves out"
    } else {
        ""
    };
    text.push_str(&indented(&format!(
        "{}{more}: {:.2} % of the function's samples.{}",
        plural(block.lines.len(), "instruction"),
        block.percent(),
        again(&block.again)
    )));
    let shares = file.gates.iter().filter(|gate| {
        gate.function == block.function
            && block
                .lines
                .iter()
                .any(|line| line.code == gate.code && line.percent == gate.percent)
    });
    for gate in shares {
        let of_all = gate
            .of_all
            .map_or(String::new(), |all| format!(", {all:.2} % of all samples"));
        text.push_str(&indented(&format!(
            "The gate: {} ({}) has {:.2} % of the function{of_all}.",
            clean(&gate.code),
            does(&gate.does),
            gate.percent
        )));
    }
    text
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

fn times(table_of: &TimeTable, paint: &Paint) -> String {
    let title = table_of
        .title
        .as_ref()
        .map_or(String::new(), |title| format!(": {title}"));
    let place = place(table_of.place.first, table_of.place.last);
    let mut text: String = wrap(&format!("{place}, times in ns{title}"), WIDTH)
        .iter()
        .map(|line| paint.bold(line) + "\n")
        .collect();
    let pair = table_of.pair();
    let mut heads: Vec<String> = vec![String::new()];
    heads.extend(
        table_of
            .columns
            .iter()
            .rev()
            .take(width(table_of))
            .rev()
            .map(|head| shorten(head, 16)),
    );
    let ratio = pair.is_some() && width(table_of) == table_of.columns.len();
    if ratio {
        heads.extend(["difference", "after/before", "change"].map(str::to_owned));
    }
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut shown = table(&heads, 1);
    for row in &table_of.rows {
        let mut cells = vec![shorten(&row.label, 28)];
        cells.extend(row.nanoseconds.iter().map(|time| ns(*time)));
        let times = pair.filter(|_| ratio).and_then(|(before, after)| {
            Some((*row.nanoseconds.get(before)?, *row.nanoseconds.get(after)?))
        });
        if let Some((before, after)) = times.filter(|(before, _)| *before > 0.0) {
            cells.push(format!("{:+.3}", after - before));
            cells.push(format!("{:.4}", after / before));
            cells.push(format!("{:+.1} %", 100.0 * (after / before - 1.0)));
        }
        shown.add_row(cells);
    }
    text.push_str(&lines(&shown));
    let unsaid = table_of.sides().contains(&Side::Unsaid);
    let note = match (ratio, unsaid) {
        (true, _) => {
            "One time a kernel: how far two runs of one kernel lie apart is not in it, so nothing can be told of noise."
        }
        (false, _) => {
            "Its columns do not say which is before and which after: no ratio can be told."
        }
    };
    text.push_str(&indented(note));
    text.push_str(&indented(&again(&table_of.again)));
    text
}

fn width(table: &TimeTable) -> usize {
    table.rows.first().map_or(0, |row| row.nanoseconds.len())
}

fn series(series: &Series, paint: &Paint) -> String {
    let label = if series.label.is_empty() {
        String::new()
    } else {
        format!(", {}", series.label)
    };
    let mut text = paint.bold(&shorten(&format!("{}{label}, in ns", series.what), WIDTH)) + "\n";
    let mut shown = table(&["", "samples", "median", "fastest", "slowest", "line"], 1);
    for (at, point) in series.points.iter().enumerate() {
        let heading = if point.heading.is_empty() {
            "(no name)"
        } else {
            &point.heading
        };
        let name = wrap(&format!("{}: {heading}", at + 1), 32).join("\n");
        let figures = [point.median, point.low, point.high].map(|time| format!("{time:.1}"));
        let [median, low, high] = figures;
        shown.add_row([
            name,
            point.count.to_string(),
            median,
            low,
            high,
            point.line.to_string(),
        ]);
    }
    text.push_str(&lines(&shown));
    for change in &series.changes {
        text.push_str(&indented(&of_change(change)));
    }
    text.push_str(&indented(&limits(series)));
    text
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
fn limits(series: &Series) -> String {
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
