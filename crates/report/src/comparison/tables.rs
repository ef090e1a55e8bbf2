//! The tables of comparisons.

use std::cmp::Reverse;

use tollgate_measure::{
    Comparison, Figure, FunctionComparison, Group, Measured, Net, Per, Proof, Quantity, Ratio, Row,
    UNKNOWN_FUNCTION, WorkloadComparison,
};

use crate::document::{Bar, Cell, Column, Kind, Table, Way};
use crate::text::{plural, short};

/// What stands below a table of the gate, and of the registers.
const PASSAGES: &str = "Passages of the gate to user memory, and the benchmark's own instructions.";
const REGISTERS: &str = "XSAVE: also XSAVEOPT, XSAVEC, XSAVES; XRSTOR: also XRSTORS; those of the \
    kernel alone. What one of them costs grows with the size of the context, which a count does \
    not show: bytes are derived, the saves and loads by what CPUID says that one moves at most.";
/// Functions of several images in one table.
const FUNCTIONS: usize = 16;
/// What is left free at each end of the axis of bars, as a part of it.
const MARGIN: f64 = 0.04;

/// How many functions a table shows.
#[derive(Clone, Copy)]
pub(super) struct Most {
    /// In all.
    pub(super) rows: usize,
    /// Of those that changed.
    pub(super) changed: usize,
}

/// By what a workload's figures are divided: by the unit, and by the call where
/// a call handles several.
pub(super) fn divisions(row: &WorkloadComparison) -> Vec<Per> {
    match &row.unit {
        Some(unit) if unit.per_call > 1 => vec![Per::Unit, Per::Call],
        _ => vec![Per::Unit],
    }
}

/// The difference in hundredths; nothing where there is none.
pub(super) fn signed_percent(figure: Figure) -> String {
    let moved = (!figure.difference().is_zero()).then(|| figure.signed_percent(1));
    moved.flatten().unwrap_or_default()
}

/// A difference and the same in hundredths.
pub(super) fn moved(figure: Figure) -> [Cell; 2] {
    let percent = Cell::from(signed_percent(figure)).going(Way::of(figure.difference()));
    [Cell::difference(figure.difference()), percent]
}

/// `2 -> 1`, or one number when they are the same.
pub(super) fn change(figure: Figure) -> String {
    let (before, after) = (short(figure.before), short(figure.after));
    if figure.difference().is_zero() {
        before
    } else {
        format!("{before} -> {after}")
    }
}

/// A share in hundredths, one decimal.
pub(super) fn percent(share: Ratio) -> String {
    let percent = share.percent_of(Ratio::new(1, 1), 1).unwrap_or_default();
    format!("{percent} %")
}

/// A workload's name, and what has to be known of its count.
fn name(row: &WorkloadComparison) -> Cell {
    Cell::from(row.workload.to_string())
        .tagged("control", row.control)
        .tagged("median", !row.exact())
}

/// The rows of a workload by each of its divisions: what `cells` gives behind name
/// and unit.
fn divided(
    table: &mut Table,
    row: &WorkloadComparison,
    name: &Cell,
    cells: impl Fn(Per) -> Vec<Cell>,
) {
    for (index, per) in divisions(row).into_iter().enumerate() {
        let unit = Cell::from(row.per_name(per));
        if index == 0 {
            table.row([name.clone(), unit].into_iter().chain(cells(per)));
        } else {
            table.further([Cell::default(), unit].into_iter().chain(cells(per)));
        }
    }
}

/// One variant's kernel instructions beside the base's.
pub(super) fn kernel(comparison: &Comparison) -> Table {
    let mut table = between(comparison);
    for row in &comparison.workloads {
        divided(&mut table, row, &name(row), |per| {
            difference(row.kernel(per))
        });
    }
    table
}

/// Name, unit, both images, their difference.
fn between(comparison: &Comparison) -> Table {
    let (a, b) = (comparison.before.letter, comparison.after.letter);
    let [one, other] = [a, b].map(|letter| letter.to_string());
    Table::new(&[
        ("workload", Kind::Name),
        ("per", Kind::Word),
        (&one, Kind::Number),
        (&other, Kind::Number),
        (&format!("{b} - {a}"), Kind::Number),
        ("change", Kind::Number),
    ])
}

fn difference(figure: Figure) -> Vec<Cell> {
    let both = [figure.before, figure.after].map(|ratio| Cell::from(ratio.decimal(2)));
    both.into_iter().chain(moved(figure)).collect()
}

/// One variant's passages of the gate and user instructions, A and B in a cell.
pub(super) fn gate(comparison: &Comparison) -> Table {
    let mut shown = shown(comparison, Group::Gate);
    shown.push(Quantity::User);
    changes(comparison.workloads.iter(), &shown).noted(PASSAGES)
}

/// The quantities of a group that are always shown, or of which there is any.
fn shown(comparison: &Comparison, group: Group) -> Vec<Quantity> {
    let any = |quantity| comparison.workloads.iter().any(|row| row.has(quantity));
    Quantity::of_group(group)
        .filter(|quantity| quantity.is_always_shown() || any(*quantity))
        .collect()
}

fn changes<'a>(
    rows: impl Iterator<Item = &'a WorkloadComparison>,
    quantities: &[Quantity],
) -> Table {
    let mut table = Table::new(&[("workload", Kind::Name), ("per", Kind::Word)]);
    for (index, quantity) in quantities.iter().enumerate() {
        table.column(quantity.name(), Kind::Number, index + 1);
    }
    for row in rows {
        divided(&mut table, row, &name(row), |per| {
            let figures = quantities.iter().map(|one| row.figure(per, *one));
            figures.map(|figure| change(figure).into()).collect()
        });
    }
    table
}

/// One variant's registers of the FPU; nothing where no workload saved or loaded any.
pub(super) fn registers(comparison: &Comparison) -> Option<Table> {
    let shown = shown(comparison, Group::Registers);
    let rows: Vec<_> = comparison
        .workloads
        .iter()
        .filter(|row| row.moves_registers())
        .collect();
    let mut table = changes(rows.iter().copied(), &shown).noted(REGISTERS);
    table.column("bytes moved", Kind::Number, shown.len() + 1);
    let divisions = rows.iter().flat_map(|row| {
        let divisions = divisions(row);
        divisions.into_iter().map(move |per| row.context_moved(per))
    });
    for (row, bytes) in table.rows.iter_mut().zip(divisions) {
        // An empty cell would read as none.
        let bytes = bytes.map_or_else(|| "not known".to_owned(), change);
        row.cells.push(bytes.into());
    }
    (!rows.is_empty()).then_some(table)
}

/// What is left of benchmarks without the call around them.
pub(super) fn nets(comparison: &Comparison) -> Option<Table> {
    let mut table = between(comparison);
    for net in comparison.nets() {
        let head = [net_name(net), net.row.per_name(Per::Unit).into()];
        table.row(head.into_iter().chain(difference(net.kernel())));
    }
    (!table.rows.is_empty()).then_some(table)
}

/// `signal_catch avx=0 less signal_null avx=0`.
fn net_name(net: Net<'_>) -> Cell {
    let name = format!("{} less {}", net.row.workload, net.less.workload);
    Cell::from(name).tagged("median", !net.exact())
}

/// The functions of a workload: those that changed, then the largest of those that
/// did not, one row that adds up the rest, and all of it. The bars lead from A to B:
/// each begins where the one above it ended.
pub(super) fn functions(row: &WorkloadComparison, letters: (char, char), most: Most) -> Table {
    let (a, b) = (letters.0.to_string(), letters.1.to_string());
    let mut table = Table::new(&[
        ("function", Kind::Symbol),
        (&a, Kind::Number),
        ("share", Kind::Number),
        (&b, Kind::Number),
        ("share", Kind::Number),
        (&format!("{b} - {a}"), Kind::Number),
    ]);
    let shown = chosen(row, most);
    let figures = shown.iter().map(|one| row.function_figure(Per::Unit, one));
    let bars = bars(row.kernel(Per::Unit), figures);
    for function in &shown {
        table.row(function_cells(row, function));
    }
    let all = FunctionComparison {
        name: "all functions".to_owned(),
        before: row.before.kernel,
        after: row.after.kernel,
    };
    table.row(function_cells(row, &all));
    if let Some((bars, words)) = bars {
        table.bars = Some(words);
        for (row, bar) in table.rows.iter_mut().zip(bars) {
            row.bar = bar;
        }
    }
    table
}

fn chosen(row: &WorkloadComparison, most: Most) -> Vec<FunctionComparison> {
    let (changed, mut unchanged): (Vec<_>, Vec<_>) = row.functions.iter().partition(|function| {
        let figure = row.function_figure(Per::Unit, function);
        !figure.difference().is_zero()
    });
    let same = most.rows.saturating_sub(changed.len().min(most.changed));
    // Stable: equals stay in the order of names.
    unchanged.sort_by_key(|function| Reverse(function.before.instructions()));
    let shown = changed.iter().take(most.changed);
    let shown = shown.chain(unchanged.iter().take(same)).copied().cloned();
    let rest: Vec<_> = changed
        .iter()
        .skip(most.changed)
        .chain(unchanged.iter().skip(same))
        .collect();
    let rest = (!rest.is_empty()).then(|| FunctionComparison {
        name: plural(rest.len(), "other function"),
        before: rest.iter().map(|function| function.before).sum(),
        after: rest.iter().map(|function| function.after).sum(),
    });
    shown.chain(rest).collect()
}

fn function_cells(row: &WorkloadComparison, function: &FunctionComparison) -> [Cell; 6] {
    let figure = row.function_figure(Per::Unit, function);
    let share = |one: &tollgate_measure::Counts, whole: &Measured| {
        let share = Ratio::new(one.instructions(), whole.kernel.instructions());
        Cell::from(percent(share))
    };
    [
        symbol(&function.name).into(),
        figure.before.decimal(2).into(),
        share(&function.before, &row.before),
        figure.after.decimal(2).into(),
        share(&function.after, &row.after),
        Cell::difference(figure.difference()),
    ]
}

fn symbol(name: &str) -> &str {
    match name {
        UNKNOWN_FUNCTION => "[no symbol]",
        name => name,
    }
}

/// A bar for each difference, the last one from A to B; none where nothing differs.
fn bars(whole: Figure, steps: impl Iterator<Item = Figure>) -> Option<(Vec<Option<Bar>>, String)> {
    let (start, end) = (whole.before.value(), whole.after.value());
    let mut level = start;
    let mut ends = Vec::new();
    for figure in steps {
        let difference = figure.difference();
        let next = level + difference.value();
        ends.push((!difference.is_zero()).then_some((level, next, Way::of(difference))));
        level = next;
    }
    ends.push(Some((start, end, Way::of(whole.difference()))));
    let reached = || ends.iter().flatten().flat_map(|(from, to, _)| [*from, *to]);
    let (least, most) = (
        reached().fold(f64::INFINITY, f64::min),
        reached().fold(f64::NEG_INFINITY, f64::max),
    );
    let room = (most - least) * (1.0 + 2.0 * MARGIN);
    if room.is_nan() || room <= 0.0 {
        return None;
    }
    let place = |at: f64| ((at - least) / room + MARGIN / (1.0 + 2.0 * MARGIN)).clamp(0.0, 1.0);
    let bar = |(from, to, way): (f64, f64, Way)| Bar {
        from: place(from.min(to)),
        to: place(from.max(to)),
        way,
    };
    let words = format!(
        "Bars are differences: each begins where the one above it ended, the last leads from {} \
         to {}. The axis does not begin with 0.",
        whole.before.decimal(2),
        whole.after.decimal(2)
    );
    Some((ends.into_iter().map(|one| one.map(bar)).collect(), words))
}

/// The figure of a letter; an empty cell would read as none.
pub(super) fn of_letter(
    figures: &[(char, Ratio)],
    letter: char,
    show: impl Fn(Ratio) -> String,
) -> Cell {
    let found = figures.iter().find(|(known, _)| *known == letter);
    found.map_or_else(|| "not counted".into(), |(_, ratio)| show(*ratio).into())
}

/// The letters of all images, each base before its variants.
pub(super) fn letters(proof: &Proof) -> Vec<char> {
    let images = proof.images().into_iter();
    images.map(|image| image.letter).collect()
}

/// A table with a column for each image, the base's in each part of it.
pub(super) fn by_image(left: &[(&str, Kind)], letters: &[char]) -> Table {
    let mut table = Table::new(left);
    for (group, letter) in letters.iter().enumerate() {
        table.column(letter.to_string(), Kind::Number, group);
    }
    table
}

/// Whether any image's count of a workload is a median.
pub(super) fn name_of_all(row: &Row<'_>) -> Cell {
    let median = row.columns.iter().any(|(_, one)| !one.repetitions.exact());
    Cell::from(row.comparison.workload.to_string())
        .tagged("control", row.comparison.control)
        .tagged("median", median)
}

/// Kernel instructions of several images.
pub(super) fn kernel_of_all(proof: &Proof) -> Table {
    let letters = letters(proof);
    let mut table = by_image(&[("workload", Kind::Name), ("per", Kind::Word)], &letters);
    for row in proof.rows() {
        divided(&mut table, row.comparison, &name_of_all(&row), |per| {
            let figures = row.figures(per, |measured| measured.kernel.instructions());
            let cell = |letter: &char| of_letter(&figures, *letter, |ratio| ratio.decimal(2));
            letters.iter().map(cell).collect()
        });
    }
    table
}

/// The differences that each of several variants makes, per unit.
pub(super) fn against(proof: &Proof) -> Table {
    let mut table = Table::new(&[("workload", Kind::Name), ("per", Kind::Word)]);
    for (group, one) in (1..).zip(&proof.comparisons) {
        let head = format!("{} - {}", one.after.letter, one.before.letter);
        table.column(head, Kind::Number, group);
        table.column("change", Kind::Number, group);
    }
    for row in proof.rows() {
        let head = [name_of_all(&row), row.comparison.per_name(Per::Unit).into()];
        let cells = proof
            .comparisons
            .iter()
            .flat_map(|one| against_cells(one, &row));
        table.row(head.into_iter().chain(cells));
    }
    table
}

fn against_cells(comparison: &Comparison, row: &Row<'_>) -> [Cell; 2] {
    let wanted = &row.comparison.workload;
    let mut workloads = comparison.workloads.iter();
    let found = workloads.find(|one| one.workload == *wanted);
    found.map_or_else(
        || ["not counted".into(), Cell::default()],
        |one| moved(one.kernel(Per::Unit)),
    )
}

type Line = (&'static str, Vec<(char, Ratio)>);

/// What each of several images did beside executing instructions; what nobody did is
/// left out, and opens and closes are one line where they are the same.
pub(super) fn passages_of_all(proof: &Proof) -> Table {
    let letters = letters(proof);
    let left = [
        ("workload", Kind::Name),
        ("per", Kind::Word),
        ("counted", Kind::Word),
    ];
    let mut table = by_image(&left, &letters);
    for row in proof.rows() {
        let per = row.comparison.per_name(Per::Unit);
        for (index, (what, figures)) in passages(&row).into_iter().enumerate() {
            let cells = letters
                .iter()
                .map(|letter| of_letter(&figures, *letter, short));
            if index == 0 {
                let head = [name_of_all(&row), per.into(), what.into()];
                table.row(head.into_iter().chain(cells));
            } else {
                let head = [Cell::default(), Cell::default(), what.into()];
                table.further(head.into_iter().chain(cells));
            }
        }
    }
    table
}

fn passages(row: &Row<'_>) -> Vec<Line> {
    let of = |quantity| row.figures(Per::Unit, |measured: &Measured| measured.count(quantity));
    let quantities = Quantity::of_kernel().filter(|one| one.group() != Group::Instructions);
    let mut all: Vec<Line> = quantities.map(|one| (one.name(), of(one))).collect();
    if of(Quantity::Opens) == of(Quantity::Closes) {
        all.retain(|(name, _)| *name != Quantity::Closes.name());
        let opens = all
            .iter_mut()
            .find(|(name, _)| *name == Quantity::Opens.name());
        opens.into_iter().for_each(|line| line.0 = "opens, closes");
    }
    all.extend(row.comparison.context_bytes.map(|size| {
        let moved = row.figures(Per::Unit, |measured| measured.context_moved(size));
        ("bytes, derived", moved)
    }));
    let nothing = |line: &Line| line.1.iter().all(|(_, ratio)| ratio.is_zero());
    let some: Vec<Line> = all.iter().filter(|line| !nothing(line)).cloned().collect();
    if some.is_empty() {
        all.truncate(1);
        return all;
    }
    some
}

/// What is left of benchmarks without the call around them, on each of several images.
pub(super) fn nets_of_all(proof: &Proof) -> Option<Table> {
    let letters = letters(proof);
    let first = proof.comparisons.first()?;
    let mut table = by_image(&[("workload", Kind::Name), ("per", Kind::Word)], &letters);
    for net in first.nets() {
        let figures = net_figures(proof, net);
        let cells = letters
            .iter()
            .map(|letter| of_letter(&figures, *letter, |ratio| ratio.decimal(2)));
        let head = [net_name(net), net.row.per_name(Per::Unit).into()];
        table.row(head.into_iter().chain(cells));
    }
    (!table.rows.is_empty()).then_some(table)
}

/// A figure of every image that counted both.
fn net_figures(proof: &Proof, net: Net<'_>) -> Vec<(char, Ratio)> {
    let mut figures: Vec<(char, Ratio)> = Vec::new();
    for comparison in &proof.comparisons {
        let same = |found: &Net<'_>| found.row.workload == net.row.workload;
        let Some(found) = comparison.nets().find(same) else {
            continue;
        };
        if figures.is_empty() {
            figures.push((comparison.before.letter, found.kernel().before));
        }
        figures.push((comparison.after.letter, found.kernel().after));
    }
    figures
}

/// The instructions of several images by function and their share in the whole, those
/// first that differ most; the rest in one row.
pub(super) fn functions_of_all(proof: &Proof, row: &Row<'_>) -> Table {
    let letters = letters(proof);
    let mut table = Table::new(&[("function", Kind::Symbol)]);
    for (group, letter) in letters.iter().enumerate() {
        table.column(letter.to_string(), Kind::Number, group);
        table.column("share", Kind::Number, group);
    }
    let names = function_names(row);
    let (shown, rest) = names.split_at(FUNCTIONS.min(names.len()));
    for name in shown {
        let names = std::slice::from_ref(name);
        table.row(image_cells(row, symbol(name), names, &letters));
    }
    if !rest.is_empty() {
        let words = plural(rest.len(), "other function");
        table.row(image_cells(row, &words, rest, &letters));
    }
    table
}

fn function_names(row: &Row<'_>) -> Vec<String> {
    let columns = || row.columns.iter().map(|(_, measured)| measured);
    let names = columns().flat_map(|measured| measured.functions.keys().cloned());
    let mut all: Vec<String> = names.collect();
    all.sort();
    all.dedup();
    // Stable: equals stay in the order of names.
    all.sort_by_key(|name| {
        let of = |measured: &&Measured| instructions(measured, std::slice::from_ref(name));
        let counts: Vec<u64> = columns().map(of).collect();
        let (most, fewest) = (counts.iter().max(), counts.iter().min());
        let spread = most.unwrap_or(&0) - fewest.unwrap_or(&0);
        Reverse((spread, counts.first().copied().unwrap_or(0)))
    });
    all
}

fn image_cells(row: &Row<'_>, label: &str, names: &[String], letters: &[char]) -> Vec<Cell> {
    let figures = row.figures(Per::Unit, |measured| instructions(measured, names));
    let mut cells: Vec<Cell> = vec![label.into()];
    for letter in letters {
        cells.push(of_letter(&figures, *letter, |ratio| ratio.decimal(2)));
        let found = row.columns.iter().find(|(known, _)| known == letter);
        let share = found.map(|(_, measured)| {
            let part = instructions(measured, names);
            percent(Ratio::new(part, measured.kernel.instructions()))
        });
        cells.push(share.unwrap_or_default().into());
    }
    cells
}

/// Instructions of some functions together.
fn instructions(measured: &Measured, names: &[String]) -> u64 {
    let found = names.iter().filter_map(|name| measured.functions.get(name));
    found.fold(0, |sum, counts| sum.saturating_add(counts.instructions()))
}

/// A table with a column behind the others that stays with them.
pub(super) fn with_last(mut table: Table, head: &str, cells: Vec<Cell>) -> Table {
    table.columns.push(Column {
        head: head.to_owned(),
        kind: Kind::Symbol,
        group: 0,
    });
    for (row, cell) in table.rows.iter_mut().zip(cells) {
        row.cells.push(cell);
    }
    table
}
