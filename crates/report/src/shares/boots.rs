//! Times of several boots, for people and programs.

use serde::Serialize;
use tollgate_defect::Defect;
use tollgate_measure::{
    Boots, BootsChange, BootsFinding, CONFIDENCE_PERCENT, Estimate, RESAMPLES, SEED,
};

use super::compared::COMPARE_VERSION;
use super::text::indented;
use crate::fixed::{Paint, lines, section, table};
use crate::json::to_json;
use crate::text::{WIDTH, wrap};

/// The comparison as text of at most 80 columns; the verdict is last.
#[must_use]
pub fn boots_text(boots: &Boots, fail_above: Option<f64>, color: bool) -> String {
    let paint = Paint(color);
    let mut shown = table(
        &["", "before", "after", "difference", "95 % from", "to", "p"],
        1,
    );
    for change in &boots.changes {
        let Estimate { value, low, high } = change.difference;
        let after = change.base() + value;
        let name = wrap(&name(change), 25).join("\n");
        let figures = [change.base(), after, value, low, high].map(figure);
        shown.add_row(
            std::iter::once(name)
                .chain(figures)
                .chain([format!("{:.4}", change.corrected_p)]),
        );
    }
    let sentences: String = boots
        .changes
        .iter()
        .map(|change| indented(&sentence(change, boots)))
        .collect();
    let body = format!("{}{sentences}", lines(&shown));
    let title = format!(
        "{} boots before, {} after, ns per operation",
        boots.boots[0], boots.boots[1]
    );
    let mut parts = vec![section(&title, &body, &paint)];
    let notes: Vec<String> = boots
        .changes
        .iter()
        .flat_map(|change| {
            change
                .odd
                .iter()
                .map(|odd| format!("{}: {odd}.", name(change)))
        })
        .collect();
    let facts = facts(boots);
    let all: String = facts
        .iter()
        .chain(&boots.notes)
        .chain(&notes)
        .map(|text| indented(text))
        .collect();
    parts.push(section("What to know of it", &all, &paint));
    let verdict = wrap(&verdict(boots, fail_above), WIDTH);
    parts.push(verdict.iter().map(|line| paint.bold(line) + "\n").collect());
    parts.join("\n")
}

fn figure(nanoseconds: f64) -> String {
    match nanoseconds.abs() {
        size if size < 100.0 => format!("{nanoseconds:.2}"),
        size if size < 10_000.0 => format!("{nanoseconds:.1}"),
        _ => format!("{nanoseconds:.0}"),
    }
}

fn name(change: &BootsChange) -> String {
    match &change.less {
        Some(less) => format!("{} less {less}", change.workload),
        None => change.workload.to_string(),
    }
}

fn amount(change: &BootsChange, nanoseconds: f64) -> String {
    match change.percent(nanoseconds) {
        Some(percent) => format!("{} ns ({percent:.2} %)", figure(nanoseconds)),
        None => format!("{} ns", figure(nanoseconds)),
    }
}

fn sentence(change: &BootsChange, boots: &Boots) -> String {
    let found = change.difference;
    let floor = boots.floor;
    let what = match change.finding() {
        BootsFinding::Slower => format!("slower by {}", amount(change, found.value)),
        BootsFinding::Faster => format!("faster by {}", amount(change, -found.value)),
        BootsFinding::Equal if change.shown() && found.value > 0.0 => {
            format!(
                "slower by {}, and equal within {floor} %",
                amount(change, found.value)
            )
        }
        BootsFinding::Equal if change.shown() => {
            format!(
                "faster by {}, and equal within {floor} %",
                amount(change, -found.value)
            )
        }
        BootsFinding::Equal => format!("equal within {floor} %"),
        BootsFinding::NotShown => format!(
            "not shown: neither a difference nor that it is within {floor} %; from {} up one could have been seen",
            amount(change, found.could_see())
        ),
        BootsFinding::TooFew => {
            "cannot be told: so few boots show nothing at 5 %, whatever their times".to_owned()
        }
    };
    format!("{}: {what}.", name(change))
}

fn facts(boots: &Boots) -> Vec<String> {
    let mut facts = vec![
        format!(
            "Before: Linux {}; after: Linux {}.",
            boots.kernels_before.join(", "),
            boots.kernels_after.join(", ")
        ),
        format!(
            "The boot is the unit: its repetitions agree better with each other than boots do. Intervals: {CONFIDENCE_PERCENT} % of up to {RESAMPLES} draws of boots, then of their repetitions, from the seed {SEED:#x}. p: rank sums of the boots' medians, all orders counted, after Holm's correction for {} tests. A difference is shown where p is at most 0.05 and the interval leaves 0 out.",
            boots.changes.len()
        ),
        format!(
            "Floor: {} % of the time before, of the benchmark itself (--floor).",
            boots.floor
        ),
    ];
    facts.extend(
        boots
            .left_out
            .iter()
            .map(|text| format!("Not compared: {text}.")),
    );
    facts
}

fn verdict(boots: &Boots, fail_above: Option<f64>) -> String {
    let names = |finding: BootsFinding| -> Vec<String> {
        let all = boots
            .changes
            .iter()
            .filter(|change| change.finding() == finding);
        all.map(name).collect()
    };
    let said = [
        (BootsFinding::Slower, "SLOWER"),
        (BootsFinding::Faster, "FASTER"),
        (BootsFinding::Equal, "EQUAL"),
        (BootsFinding::NotShown, "NOT SHOWN"),
        (BootsFinding::TooFew, "CANNOT BE TOLD"),
    ];
    let mut parts: Vec<String> = said
        .iter()
        .filter(|(finding, _)| !names(*finding).is_empty())
        .map(|(finding, words)| format!("{words}: {}", names(*finding).join("; ")))
        .collect();
    if let Some(percent) = fail_above {
        let beyond: Vec<String> = boots
            .changes
            .iter()
            .filter(|change| change.slower_than(percent))
            .map(name)
            .collect();
        parts.push(match beyond.is_empty() {
            true => format!("nothing is shown to be slower by more than {percent} %"),
            false => format!("slower by more than {percent} %: {}", beyond.join("; ")),
        });
    }
    match parts.is_empty() {
        true => "NOTHING TO COMPARE: the two sides have no benchmark in common".to_owned(),
        false => parts.join("; "),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    kind: &'static str,
    exit_code: u8,
    boots: Counts,
    kernels: Kernels<'a>,
    floor_percent: f64,
    statistics: Statistics,
    changes: Vec<JsonChange<'a>>,
    left_out: &'a [String],
    notes: &'a [String],
}

#[derive(Serialize)]
struct Counts {
    before: usize,
    after: usize,
}

#[derive(Serialize)]
struct Kernels<'a> {
    before: &'a [String],
    after: &'a [String],
}

#[derive(Serialize)]
struct Statistics {
    confidence_percent: u32,
    resamples: usize,
    seed: String,
    correction: &'static str,
}

#[derive(Serialize)]
struct JsonChange<'a> {
    workload: String,
    less: Option<String>,
    before: &'a [f64],
    after: &'a [f64],
    difference: Estimate,
    percent: Option<f64>,
    p: f64,
    corrected_p: f64,
    floor: f64,
    could_see: f64,
    finding: &'static str,
    shown: bool,
    odd: &'a [String],
}

impl<'a> JsonChange<'a> {
    fn new(change: &'a BootsChange) -> Self {
        Self {
            workload: change.workload.to_string(),
            less: change.less.as_ref().map(ToString::to_string),
            before: &change.before,
            after: &change.after,
            difference: change.difference,
            percent: change.percent(change.difference.value),
            p: change.p,
            corrected_p: change.corrected_p,
            floor: change.floor,
            could_see: change.difference.could_see(),
            finding: match change.finding() {
                BootsFinding::Slower => "slower",
                BootsFinding::Faster => "faster",
                BootsFinding::Equal => "equal",
                BootsFinding::NotShown => "not_shown",
                BootsFinding::TooFew => "too_few",
            },
            shown: change.shown(),
            odd: &change.odd,
        }
    }
}

/// The comparison as a JSON document that ends with a newline.
///
/// # Errors
/// None that input can cause.
pub fn boots_json(boots: &Boots, exit_code: u8) -> Result<String, Defect> {
    to_json(&Document {
        version: COMPARE_VERSION,
        kind: "compare_boots",
        exit_code,
        boots: Counts {
            before: boots.boots[0],
            after: boots.boots[1],
        },
        kernels: Kernels {
            before: &boots.kernels_before,
            after: &boots.kernels_after,
        },
        floor_percent: boots.floor.percent(),
        statistics: Statistics {
            confidence_percent: CONFIDENCE_PERCENT,
            resamples: RESAMPLES,
            seed: format!("{SEED:#x}"),
            correction: "holm",
        },
        changes: boots.changes.iter().map(JsonChange::new).collect(),
        left_out: &boots.left_out,
        notes: &boots.notes,
    })
}
