//! The figures of a comparison for the body of a commit message.

use tollgate_measure::{Comparison, Per, Quantity, WorkloadComparison};

use super::tables;
use crate::text::{clean, wrap};

/// The width that `git log` leaves in a terminal of 80 columns.
const WIDTH: usize = 72;

/// A few plain-text lines of at most 72 columns: each workload before and
/// after, the gate, and what it was counted on. Ends with a newline.
#[must_use]
pub fn commit_figures(comparison: &Comparison) -> String {
    let rows: Vec<_> = comparison.workloads.iter().map(row).collect();
    let table = table(&rows);
    let gate = comparison.headline().map(gate).unwrap_or_default();
    format!(
        "Kernel instructions, before -> after:\n\n{table}\n{gate}{}",
        source(comparison)
    )
}

/// A row each, its figures beneath each other. What leaves them no room in a name
/// stands on lines before.
fn table(rows: &[Row]) -> String {
    let widest = |pick: fn(&Row) -> &String| {
        let widths = rows.iter().map(|row| pick(row).chars().count());
        widths.max().unwrap_or(0)
    };
    let before = widest(|row| &row.before).max(widest(|row| &row.after));
    let figures = 2 * before + " -> ".len() + widest(|row| &row.percent);
    let room = WIDTH.saturating_sub(2 * GAP.len() + figures);
    let column = widest(|row| &row.name).min(room);
    let line = |row: &Row| {
        let mut names = wrap(&row.name, column.saturating_sub(GAP.len()));
        if row.name.chars().count() <= column {
            names = vec![row.name.clone()];
        }
        let (from, after, percent) = (&row.before, &row.after, &row.percent);
        let last = names.pop().map_or(String::new(), |last| match names.len() {
            0 => last,
            _ => format!("{GAP}{last}"),
        });
        let above: String = names.iter().map(|part| format!("{GAP}{part}\n")).collect();
        format!("{above}{GAP}{last:column$}{GAP}{from:>before$} -> {after:>before$}{percent}\n")
    };
    rows.iter().map(line).collect()
}

/// Between columns, and before them.
const GAP: &str = "  ";

struct Row {
    name: String,
    before: String,
    after: String,
    percent: String,
}

fn row(row: &WorkloadComparison) -> Row {
    let figure = row.kernel(Per::Unit);
    let control = if row.control { " (control)" } else { "" };
    let median = if row.exact() { "" } else { ", median" };
    let name = format!(
        "{}, per {}{control}{median}",
        row.workload,
        row.per_name(Per::Unit)
    );
    let percent = tables::signed_percent(figure);
    let percent = if percent.is_empty() {
        percent
    } else {
        format!("  ({percent})")
    };
    let places = figure.difference().visible_places(1);
    Row {
        name: clean(&name),
        before: figure.before.decimal(places),
        after: figure.after.decimal(places),
        percent,
    }
}

fn gate(row: &WorkloadComparison) -> String {
    let change = |quantity| tables::change(row.figure(Per::Unit, quantity));
    let writes = row
        .has(Quantity::Writes)
        .then(|| format!(", writes of its register {}", change(Quantity::Writes)));
    let text = format!(
        "Per {} ({}): window opens {}, closes {}, fences {}{}.",
        row.per_name(Per::Unit),
        row.workload,
        change(Quantity::Opens),
        change(Quantity::Closes),
        change(Quantity::Fences),
        writes.unwrap_or_default()
    );
    wrap(&text, WIDTH).join("\n") + "\n"
}

fn source(comparison: &Comparison) -> String {
    let setting = &comparison.setting;
    let exact = comparison.workloads.iter().all(WorkloadComparison::exact);
    let counts = if exact {
        "Exact instruction counts"
    } else {
        "Instruction counts (exact but for medians)"
    };
    let text = format!(
        "{counts} under QEMU {} TCG -icount, not time: Linux {}, {}, config {}, {}.",
        setting.qemu, setting.tree, setting.arch, setting.config, setting.compiler
    );
    wrap(&text, WIDTH).join("\n") + "\n"
}
