//! What the terminal and the HTML form say in the same words.

use tollgate_measure::{
    Comparison, Context, Figure, FunctionComparison, Measured, Net, Outcome, Per, PointDifference,
    Quantity, Ratio, Repetitions, UNKNOWN_FUNCTION, WorkloadComparison,
};

use super::text::{clean, plural, short};

/// The most differences of behaviour that are shown one by one.
const POINTS_SHOWN: usize = 5;
/// Bytes of user memory longer than this are shown around the first that differs,
/// in characters; the JSON document has them whole.
const BYTES_SHOWN: usize = 64;
/// What is shown in front of the first character that differs.
const BYTES_BEFORE: usize = 16;

/// A check and how it ended.
pub(super) struct Fact {
    pub(super) label: &'static str,
    pub(super) text: String,
    pub(super) tone: Tone,
}

/// Whether a fact supports the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Tone {
    Good,
    Bad,
    Plain,
}

impl Fact {
    fn new(label: &'static str, good: bool, text: String) -> Self {
        let tone = if good { Tone::Good } else { Tone::Bad };
        Self { label, text, tone }
    }

    fn plain(label: &'static str, text: String) -> Self {
        Self {
            label,
            text,
            tone: Tone::Plain,
        }
    }
}

/// The checks that stand behind the figures.
pub(super) fn checks(comparison: &Comparison) -> Vec<Fact> {
    let mut facts: Vec<_> = comparison.controls().map(control).collect();
    facts.extend(repeat(comparison));
    facts.extend(behaviour(comparison));
    facts.extend(sweeps(comparison));
    facts.extend(repetitions(comparison));
    facts.extend(user(comparison));
    facts.extend(comparison.notes.iter().map(|note| Fact {
        label: "Note",
        text: clean(&note.to_string()),
        tone: if note.incomplete() {
            Tone::Bad
        } else {
            Tone::Plain
        },
    }));
    facts
}

fn control(row: &WorkloadComparison) -> Fact {
    let figure = row.kernel(Per::Unit);
    let per = row.per_name(Per::Unit);
    let text = match row.differs() {
        false => format!(
            "{} did not move: {} kernel instructions per {per}",
            row.workload,
            short(figure.after)
        ),
        true => format!(
            "{} moved: {} -> {} kernel instructions per {per}",
            row.workload,
            short(figure.before),
            short(figure.after)
        ),
    };
    Fact::new("Control", !row.differs(), clean(&text))
}

fn repeat(comparison: &Comparison) -> Option<Fact> {
    let repeat = comparison.repeat.as_ref()?;
    let workloads = plural(repeat.workloads, "workload");
    let points = plural(repeat.behaviour.points, "point");
    let differing = repeat.moved.len() + repeat.behaviour.differences.len();
    let text = match differing {
        0 => format!("run twice, 0 differences in {workloads} and {points} of behaviour"),
        _ => format!(
            "run twice, {} in {workloads} and {points} of behaviour",
            plural(differing, "difference")
        ),
    };
    Some(Fact::new("A against A", differing == 0, text))
}

fn behaviour(comparison: &Comparison) -> Option<Fact> {
    let behaviour = &comparison.behaviour;
    let differences = behaviour.differences.len();
    (behaviour.points > 0).then(|| {
        let points = plural(behaviour.points, "faulty or odd input");
        let text = match differences {
            0 => format!("0 differences over {points} (return value, errno, every byte left)"),
            _ => format!("{} over {points}", plural(differences, "difference")),
        };
        Fact::new("Behaviour", differences == 0, text)
    })
}

/// Which sweeps ran, and in which guest.
fn sweeps(comparison: &Comparison) -> Option<Fact> {
    let sweeps = &comparison.behaviour.sweeps;
    let names: Vec<String> = sweeps
        .iter()
        .map(|(sweep, points)| format!("{sweep} {points}"))
        .collect();
    (!names.is_empty()).then(|| Fact::plain("Sweeps", clean(&names.join(", "))))
}

/// How far the repetitions agree, the odd ones by name.
fn repetitions(comparison: &Comparison) -> Vec<Fact> {
    let sides = |row: &WorkloadComparison| {
        let (a, b) = (comparison.before.letter, comparison.after.letter);
        [(a, &row.before), (b, &row.after)].map(|(side, measured)| {
            let all = measured.repetitions.identical == measured.repetitions.total;
            let text = format!("{} in {side}: {}", row.workload, agreement(measured));
            (
                all,
                Fact::new("Repetitions", measured.repetitions.exact(), clean(&text)),
            )
        })
    };
    let all: Vec<_> = comparison.workloads.iter().flat_map(sides).collect();
    let alike = all.iter().filter(|(alike, _)| *alike).count();
    let summary = format!(
        "all identical to the instruction in {alike} of {}",
        plural(all.len(), "count")
    );
    let summary = (!all.is_empty()).then(|| Fact::plain("Repetitions", summary));
    let odd = all
        .into_iter()
        .filter(|(alike, _)| !alike)
        .map(|(_, fact)| fact);
    summary.into_iter().chain(odd).collect()
}

/// `8 of 9 identical, 1 took an interrupt`.
pub(super) fn agreement(measured: &Measured) -> String {
    let Repetitions {
        total,
        identical,
        fewest,
        most,
    } = measured.repetitions;
    let others = total.saturating_sub(identical);
    if !measured.repetitions.exact() {
        return format!(
            "no exact count: {identical} of {total} repetitions share it, so this is the median of {fewest} to {most}"
        );
    }
    match others {
        0 => format!("{identical} of {total} repetitions identical"),
        // An interrupt only adds.
        _ if fewest == measured.kernel.instructions => {
            format!("{identical} of {total} repetitions identical, {others} took an interrupt")
        }
        _ => format!("{identical} of {total} repetitions identical, the others {fewest} to {most}"),
    }
}

fn user(comparison: &Comparison) -> Option<Fact> {
    let rows = comparison.workloads.iter();
    let same = rows.filter(|row| row.before.user == row.after.user).count();
    let all = comparison.workloads.len();
    let text = format!(
        "the benchmark's own instructions are the same in {same} of {}",
        plural(all, "workload")
    );
    (all > 0).then(|| Fact::plain("User space", text))
}

/// The first differences of behaviour, a line each, and how many more.
pub(super) fn point_lines(comparison: &Comparison) -> Vec<String> {
    let differences = &comparison.behaviour.differences;
    let (a, b) = (comparison.before.letter, comparison.after.letter);
    let shown = differences.iter().take(POINTS_SHOWN).map(|point| {
        let around = first_difference(point);
        let (before, after) = (
            outcome(point.before.as_ref(), around),
            outcome(point.after.as_ref(), around),
        );
        format!(
            "{} {}: {a} {before}; {b} {after}",
            clean(&point.sweep),
            clean(&point.name)
        )
    });
    let more = differences.len().saturating_sub(POINTS_SHOWN);
    let more =
        (more > 0).then(|| format!("and {more} more (all of them are in the JSON document)"));
    shown.chain(more).collect()
}

/// How many characters of both outcomes' bytes are the same from the start; none
/// where the bytes are the same throughout, or one side has none to compare.
fn first_difference(point: &PointDifference) -> Option<usize> {
    let (before, after) = (point.before.as_ref()?, point.after.as_ref()?);
    let pairs = before.bytes.chars().zip(after.bytes.chars());
    let same = pairs.take_while(|(one, other)| one == other).count();
    (before.bytes != after.bytes).then_some(same)
}

fn outcome(outcome: Option<&Outcome>, around: Option<usize>) -> String {
    let Some(Outcome { ret, errno, bytes }) = outcome else {
        return "has no such point".to_owned();
    };
    let bytes = if bytes.is_empty() { "none" } else { bytes };
    let bytes = excerpt(bytes, around.unwrap_or_default());
    format!("ret={ret} errno={errno} bytes={}", clean(&bytes))
}

/// What lies around a position of a long text.
fn excerpt(text: &str, around: usize) -> String {
    let length = text.chars().count();
    if length <= BYTES_SHOWN {
        return text.to_owned();
    }
    let from = around
        .saturating_sub(BYTES_BEFORE)
        .min(length - BYTES_SHOWN);
    let shown: String = text.chars().skip(from).take(BYTES_SHOWN).collect();
    let start = if from > 0 { "..." } else { "" };
    let end = if from + BYTES_SHOWN < length {
        "..."
    } else {
        ""
    };
    format!("{start}{shown}{end}")
}

/// What a reader needs to repeat the measurement, label and text.
pub(super) fn setting(comparison: &Comparison) -> Vec<(String, String)> {
    let setting = &comparison.setting;
    let image =
        |image: &tollgate_measure::Image| clean(&format!("{}, image {}", image.variant, image.id));
    let kernel = format!(
        "Linux {}, {}, config {}",
        setting.tree, setting.arch, setting.config
    );
    let qemu = format!(
        "QEMU {} TCG -icount, -cpu {}, plugin API {}; tollgate {}",
        setting.qemu, setting.cpu, setting.plugin_api, setting.tollgate
    );
    let mut all = vec![
        (
            comparison.before.letter.to_string(),
            image(&comparison.before),
        ),
        (
            comparison.after.letter.to_string(),
            image(&comparison.after),
        ),
        ("Kernel".to_owned(), clean(&kernel)),
        ("Compiler".to_owned(), clean(&setting.compiler)),
        ("Machine".to_owned(), clean(&qemu)),
        ("Cmdline".to_owned(), clean(&setting.command_line)),
    ];
    all.extend(contexts(comparison));
    all
}

/// `path:line:column function` of the site that the patch changes.
pub(super) fn find(comparison: &Comparison) -> Option<String> {
    let find = comparison.setting.find.as_ref()?;
    Some(clean(&format!(
        "{}:{}:{} {}",
        find.path, find.line, find.column, find.function
    )))
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

/// `2 -> 1`, or one number when they are the same.
pub(super) fn change(figure: Figure) -> String {
    let (before, after) = (short(figure.before), short(figure.after));
    if figure.difference().is_zero() {
        before
    } else {
        format!("{before} -> {after}")
    }
}

/// What moved the registers of the FPU, by what a column is called: A and B.
pub(super) fn register_changes(row: &WorkloadComparison, per: Per) -> [(&'static str, String); 4] {
    use Quantity::{Fxrstor, Fxsave, Rdpkru, Wrpkru, Xrstor, Xsave};
    let columns: [(&str, &[Quantity]); 4] = [
        ("save", &[Xsave]),
        ("load", &[Xrstor]),
        ("legacy", &[Fxsave, Fxrstor]),
        ("keys", &[Wrpkru, Rdpkru]),
    ];
    columns.map(|(name, quantities)| (name, change(row.figure_of(per, quantities))))
}

/// `signal_catch avx=0 less signal_null avx=0`.
pub(super) fn net_name(net: Net<'_>) -> String {
    format!("{} less {}", net.row.workload, net.less.workload)
}

/// The contexts of the guests' CPUs, a line each: the whole, its components, and
/// what the CPU model does not have.
fn contexts(comparison: &Comparison) -> Vec<(String, String)> {
    let one = |context: &Context| {
        let (present, absent): (Vec<_>, Vec<_>) =
            context.components.iter().partition(|(_, size)| **size > 0);
        let sizes: Vec<String> = present
            .iter()
            .map(|(name, size)| format!("{name} {size}"))
            .collect();
        let names: Vec<&str> = absent.iter().map(|(name, _)| name.as_str()).collect();
        let guest = match context.guest.as_str() {
            "" => String::new(),
            guest => format!("{guest}: "),
        };
        let beside = match sizes.is_empty() {
            true => String::new(),
            false => format!(" (beside x87 and SSE {})", sizes.join(", ")),
        };
        let lacks = match names.is_empty() {
            true => String::new(),
            false => format!("; this CPU model has no {}", names.join(", ")),
        };
        let text = format!(
            "{guest}{} bytes as CPUID says{beside}{lacks}",
            context.bytes
        );
        ("Registers".to_owned(), clean(&text))
    };
    comparison.contexts.iter().map(one).collect()
}

/// A function's row: its figures and its shares of the kernel's instructions.
pub(super) struct FunctionRow {
    pub(super) name: String,
    pub(super) before: String,
    pub(super) after: String,
    pub(super) before_share: Ratio,
    pub(super) after_share: Ratio,
    pub(super) difference: Ratio,
}

/// How many functions a table shows.
#[derive(Clone, Copy)]
pub(super) struct Most {
    /// In all.
    pub(super) rows: usize,
    /// Of those that changed.
    pub(super) changed: usize,
}

/// The functions of a workload for a table: those that changed, then the largest
/// of those that did not, and one row that adds up the rest.
pub(super) fn function_rows(row: &WorkloadComparison, most: Most) -> Vec<FunctionRow> {
    let (changed, unchanged): (Vec<_>, Vec<_>) = row
        .functions
        .iter()
        .partition(|function| !difference(row, function).is_zero());
    let mut unchanged = unchanged;
    let same = most.rows.saturating_sub(changed.len().min(most.changed));
    // Stable: equals stay in the order of names.
    unchanged.sort_by_key(|function| std::cmp::Reverse(function.before.instructions));
    let shown = changed
        .iter()
        .take(most.changed)
        .chain(unchanged.iter().take(same));
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
    shown
        .copied()
        .chain(&rest)
        .map(|function| function_row(row, function))
        .collect()
}

fn difference(row: &WorkloadComparison, function: &FunctionComparison) -> Ratio {
    row.function_figure(Per::Unit, function).difference()
}

fn function_row(row: &WorkloadComparison, function: &FunctionComparison) -> FunctionRow {
    let figure = row.function_figure(Per::Unit, function);
    let name = match function.name.as_str() {
        UNKNOWN_FUNCTION => "[no symbol]".to_owned(),
        name => clean(name),
    };
    FunctionRow {
        name,
        before: figure.before.decimal(2),
        after: figure.after.decimal(2),
        before_share: Ratio::new(function.before.instructions, row.before.kernel.instructions),
        after_share: Ratio::new(function.after.instructions, row.after.kernel.instructions),
        difference: figure.difference(),
    }
}

/// A share in hundredths, one decimal.
pub(super) fn percent(share: Ratio) -> String {
    let percent = share.percent_of(Ratio::new(1, 1), 1).unwrap_or_default();
    format!("{percent} %")
}
