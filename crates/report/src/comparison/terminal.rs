//! The comparison on a terminal of 80 columns.

use comfy_table::{CellAlignment, ContentArrangement, Table};
use tollgate_measure::{Comparison, LIMITS, Net, Per, Quantity, Verdict, WorkloadComparison};

use super::facts::{self, Fact, Most, Tone};
use super::text::{WIDTH, labelled, short, shorten, signed, wrap};

/// How far the text behind a label is indented.
pub(crate) const INDENT: usize = 13;
/// The columns of a name in a table: that of a workload is wrapped, that of a
/// function cut.
const NAME: usize = 30;
/// What the columns of the table of registers are.
const REGISTERS: &str = "save: XSAVE, XSAVEOPT, XSAVEC, XSAVES; load: XRSTOR, XRSTORS; legacy: FXSAVE, \
                         FXRSTOR; keys: WRPKRU, RDPKRU; those of the kernel alone.";
/// Functions shown of a workload.
const FUNCTIONS: Most = Most {
    rows: 12,
    changed: 8,
};

/// The comparison as text of at most 80 columns, with ANSI colours if asked; the
/// verdict is last, where a terminal shows it. Ends with a newline. Control characters in names, in the guest's words and
/// in paths are written as their codes.
#[must_use]
pub fn terminal(comparison: &Comparison, color: bool) -> String {
    with(comparison, None, None, color)
}

/// The same with what others claimed and what could not be run, in front of the
/// verdict.
pub(super) fn with(
    comparison: &Comparison,
    claims: Option<String>,
    missing: Option<String>,
    color: bool,
) -> String {
    let paint = Paint(color);
    let mut parts = vec![head(comparison, &paint)];
    if !comparison.workloads.is_empty() {
        let title = format!("Kernel instructions ({})", counted(comparison));
        parts.push(section(&title, &kernel_table(comparison), &paint));
        parts.push(section(
            "Passages of the gate",
            &gate_table(comparison),
            &paint,
        ));
        parts.extend(registers(comparison, &paint));
        parts.extend(nets(comparison, &paint));
    }
    parts.extend(comparison.headline().map(|row| functions(row, &paint)));
    parts.extend(claims);
    parts.push(checks(comparison, &paint));
    parts.push(setting(comparison, &paint));
    parts.push(limits(&paint));
    parts.extend(missing);
    parts.push(verdict(comparison, &paint));
    parts.join("\n")
}

/// ANSI styles, or none.
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    fn with(&self, code: &str, text: &str) -> String {
        if self.0 {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn bold(&self, text: &str) -> String {
        self.with("1", text)
    }

    pub(super) fn tone(&self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Good => self.with("32", text),
            Tone::Bad => self.with("31", text),
            Tone::Plain => text.to_owned(),
        }
    }
}

fn head(comparison: &Comparison, paint: &Paint) -> String {
    let (before, after) = (&comparison.before.variant, &comparison.after.variant);
    let (a, b) = (comparison.before.letter, comparison.after.letter);
    let title = format!(
        "{}: {a} = {before}, {b} = {after}",
        comparison.setting.subject
    );
    let title = wrap(&title, WIDTH).join("\n");
    let find = facts::find(comparison).map(|find| wrap(&find, WIDTH).join("\n") + "\n");
    format!("{}\n{}", paint.bold(&title), find.unwrap_or_default())
}

pub(super) fn verdict(comparison: &Comparison, paint: &Paint) -> String {
    let code = match comparison.verdict {
        Verdict::Gain => "1;32",
        Verdict::NoDifference => "1",
        Verdict::Regression | Verdict::BehaviourDiffers => "1;31",
        _ => "1;33",
    };
    let title = paint.with(code, &comparison.verdict.title().to_uppercase());
    let statement = wrap(&comparison.statement(), WIDTH).join("\n");
    let points = facts::point_lines(comparison);
    let points: String = points
        .iter()
        .map(|line| labelled("", line, 2, WIDTH))
        .collect();
    format!("{title}\n{statement}\n{points}")
}

pub(crate) fn section(title: &str, body: &str, paint: &Paint) -> String {
    format!("{}\n{body}", paint.bold(title))
}

/// What kind of figures these are.
pub(super) fn counted(comparison: &Comparison) -> &'static str {
    match comparison.workloads.iter().all(WorkloadComparison::exact) {
        true => "exact counts under QEMU TCG, not time",
        false => "counts under QEMU TCG, not time; medians are marked",
    }
}

fn kernel_table(comparison: &Comparison) -> String {
    let mut table = table(&["", "per", "A", "B", "B - A", ""], 2);
    for row in &comparison.workloads {
        for (index, per) in facts::divisions(row).into_iter().enumerate() {
            let name = if index == 0 {
                name(row, NAME)
            } else {
                String::new()
            };
            let figure = row.kernel(per);
            table.add_row([
                name,
                row.per_name(per).to_owned(),
                figure.before.decimal(2),
                figure.after.decimal(2),
                signed(figure.difference(), 2),
                facts::signed_percent(figure),
            ]);
        }
    }
    lines(&table)
}

fn gate_table(comparison: &Comparison) -> String {
    let writes = comparison
        .workloads
        .iter()
        .any(WorkloadComparison::writes_gate);
    let last = writes.then_some("writes");
    let head = ["", "per", "opens", "closes", "fences"];
    let head: Vec<&str> = head.into_iter().chain(last).collect();
    let mut table = table(&head, 2);
    for row in &comparison.workloads {
        let change = |quantity| facts::change(row.figure(Per::Unit, quantity));
        let cells = [
            name(row, NAME),
            row.per_name(Per::Unit).to_owned(),
            change(Quantity::Opens),
            change(Quantity::Closes),
            change(Quantity::Fences),
        ];
        let last = writes.then(|| change(Quantity::Writes));
        table.add_row(cells.into_iter().chain(last));
    }
    lines(&table)
}

/// Nothing where no workload saved or loaded any, which is most cases.
fn registers(comparison: &Comparison, paint: &Paint) -> Option<String> {
    let mut table = table(&["", "per", "save", "load", "legacy", "keys"], 2);
    let rows = comparison.workloads.iter();
    for row in rows.filter(|row| row.moves_registers()) {
        let cells = facts::register_changes(row, Per::Unit);
        let cells = cells.map(|(_, text)| text);
        let head = [name(row, NAME), row.per_name(Per::Unit).to_owned()];
        table.add_row(head.into_iter().chain(cells));
    }
    let moved = context_moved(comparison);
    let title = section("Registers of the FPU", &lines(&table), paint);
    let legend = wrap(REGISTERS, WIDTH).join("\n");
    (!table.is_empty()).then(|| format!("{title}{legend}\n{moved}"))
}

/// Derived: the saves and loads by the size of the context.
fn context_moved(comparison: &Comparison) -> String {
    let mut table = table(&["bytes moved at most, derived", "per", "A", "B", "by"], 2);
    for row in &comparison.workloads {
        let Some(figure) = row.context_moved(Per::Unit) else {
            continue;
        };
        table.add_row([
            name(row, NAME),
            row.per_name(Per::Unit).to_owned(),
            short(figure.before),
            short(figure.after),
            row.context_bytes.unwrap_or_default().to_string(),
        ]);
    }
    if table.is_empty() {
        String::new()
    } else {
        format!("\n{}", lines(&table))
    }
}

/// What is left of a benchmark without the call around it.
fn nets(comparison: &Comparison, paint: &Paint) -> Option<String> {
    let mut table = table(&["", "per", "A", "B", "B - A", ""], 2);
    for net in comparison.nets() {
        let figure = net.kernel();
        table.add_row([
            net_name(net, NAME),
            net.row.per_name(Per::Unit).to_owned(),
            figure.before.decimal(2),
            figure.after.decimal(2),
            signed(figure.difference(), 2),
            facts::signed_percent(figure),
        ]);
    }
    (!table.is_empty()).then(|| section("Less the call alone", &lines(&table), paint))
}

/// Both names, in lines of at most `width`.
pub(super) fn net_name(net: Net<'_>, width: usize) -> String {
    let exact = if net.exact() { "" } else { " (median)" };
    wrap(&format!("{}{exact}", facts::net_name(net)), width).join("\n")
}

/// The whole name, in lines of at most `width`: workloads of a case may differ in
/// their last parameter alone.
pub(super) fn name(row: &WorkloadComparison, width: usize) -> String {
    let control = if row.control { " (control)" } else { "" };
    let exact = if row.exact() { "" } else { " (median)" };
    wrap(&format!("{}{control}{exact}", row.workload), width).join("\n")
}

fn functions(row: &WorkloadComparison, paint: &Paint) -> String {
    let mut table = table(&["", "A", "share", "B", "share", "B - A"], 1);
    for function in facts::function_rows(row, FUNCTIONS) {
        table.add_row([
            shorten(&function.name, NAME),
            function.before,
            facts::percent(function.before_share),
            function.after,
            facts::percent(function.after_share),
            signed(function.difference, 2),
        ]);
    }
    let title = format!(
        "Kernel instructions by function, {} per {}",
        row.workload,
        row.per_name(Per::Unit)
    );
    section(&shorten(&title, WIDTH), &lines(&table), paint)
}

/// A table without rules, the first `left` columns aligned left.
pub(crate) fn table(header: &[&str], left: usize) -> Table {
    let mut table = Table::new();
    table
        .load_style(comfy_table::TableStyle::new())
        .set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().copied());
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        column.set_cell_alignment(if index < left {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
    }
    table
}

pub(crate) fn lines(table: &Table) -> String {
    table
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

fn checks(comparison: &Comparison, paint: &Paint) -> String {
    let line = |Fact { label, text, tone }: Fact| {
        let text = labelled(label, &text, INDENT, WIDTH);
        let (label, rest) = text.split_at_checked(label.len()).unwrap_or((&text, ""));
        format!("{}{rest}", paint.tone(tone, label))
    };
    let body: String = facts::checks(comparison).into_iter().map(line).collect();
    section("Checks", &body, paint)
}

fn setting(comparison: &Comparison, paint: &Paint) -> String {
    let body = facts::setting(comparison);
    let body: String = body
        .iter()
        .map(|(label, text)| labelled(label, text, INDENT, WIDTH))
        .collect();
    section("Measured on", &body, paint)
}

pub(super) fn limits(paint: &Paint) -> String {
    let body: String = LIMITS
        .iter()
        .map(|limit| wrap(limit, WIDTH).join("\n") + "\n")
        .collect();
    section("What the figures do not tell", &body, paint)
}
