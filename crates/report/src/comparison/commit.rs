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
    let widest = |pick: fn(&Row) -> &String| rows.iter().map(|row| pick(row).chars().count()).max();
    let (name, before) = (widest(|row| &row.name), widest(|row| &row.before));
    let (name, before) = (name.unwrap_or(0), before.unwrap_or(0));
    let line = |row: &Row| {
        let Row {
            name: label,
            before: from,
            after,
            percent,
        } = row;
        format!("  {label:name$}  {from:>before$} -> {after:>before$}{percent}\n")
    };
    let table: String = rows.iter().map(line).collect();
    let gate = comparison.headline().map(gate).unwrap_or_default();
    format!(
        "Kernel instructions, before -> after:\n\n{table}\n{gate}{}",
        source(comparison)
    )
}

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
