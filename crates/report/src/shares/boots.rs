//! Times of several boots, as a document and as JSON.

use serde::Serialize;
use tollgate_defect::Defect;
use tollgate_measure::{
    Boots, BootsChange, BootsFinding, BootsNote, CONFIDENCE_PERCENT, Estimate, FEW_BOOTS, Missing,
    Odd, RESAMPLES, SEED, When,
};

use super::compared::COMPARE_VERSION;
use crate::document::{Block, Cell, Document, Extent, Kind, Section, Table, Tone, Verdict};
use crate::json::to_json;
use crate::text::{nanoseconds as figure, plural};
use crate::timing;

/// The comparison; `fail_above` is the limit of the exit code, in percent.
#[must_use]
pub fn boots_document(boots: &Boots, fail_above: Option<f64>) -> Document {
    let [before, after] = boots.boots;
    let title = format!("{before} boots before, {after} after, ns per operation");
    let mut blocks = Vec::new();
    if !boots.changes.is_empty() {
        blocks.push(Block::Table(rows(boots)));
        let sentences = boots.changes.iter().map(|change| sentence(change, boots));
        blocks.push(Block::List(sentences.collect()));
    }
    let odd = boots.changes.iter().flat_map(|change| {
        let all = change.odd.iter();
        all.map(|odd| format!("{}: {}.", name(change), odd_words(*odd)))
    });
    let notes = boots.notes.iter().map(note_words);
    let notes = facts(boots).into_iter().chain(notes);
    let known = Block::List(notes.chain(odd).collect());
    Document {
        title: "Times of several boots".to_owned(),
        short: "comparison of boots".to_owned(),
        head: Extent::Full,
        verdicts: vec![verdict(boots, fail_above)],
        sections: vec![
            Section::new(title, blocks),
            Section::new("What to know of it", vec![known]),
        ],
        ..Document::default()
    }
}

fn rows(boots: &Boots) -> Table {
    let mut table = Table::apart(&[
        ("", Kind::Name),
        ("before", Kind::Number),
        ("after", Kind::Number),
        ("difference", Kind::Number),
        ("95 % from", Kind::Number),
        ("to", Kind::Number),
        ("p", Kind::Number),
    ]);
    for change in &boots.changes {
        let Estimate { value, low, high } = change.difference;
        let after = change.base() + value;
        let figures = [change.base(), after, value, low, high].map(figure);
        let p = format!("{:.4}", change.corrected_p);
        let row = std::iter::once(name(change)).chain(figures).chain([p]);
        table.row(row.map(Cell::from));
    }
    table
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
    let missing = boots.left_out.iter().map(missing_words);
    facts.extend(missing.map(|text| format!("Not compared: {text}.")));
    facts
}

fn side(when: When) -> &'static str {
    match when {
        When::Before => "before",
        When::After => "after",
    }
}

fn missing_words(missing: &Missing) -> String {
    let [before, after] = missing.measured.map(|(has, of)| format!("{has} of {of}"));
    let workload = &missing.workload;
    format!("{workload}: measured in {before} boots before and {after} after")
}

fn odd_words(odd: Odd) -> String {
    match odd {
        Odd::Drift(when) => format!(
            "the boots {} drift: they are in order of time more than chance orders them (once in 20), so they are not of one state of the machine",
            side(when)
        ),
        Odd::TwoHeaps(when) => format!(
            "the boots {} lie in two humps: a boot is one or the other, and a median between tells of neither",
            side(when)
        ),
        Odd::HeapsWithin(when, humped, of) => format!(
            "the repetitions {} lie in two humps in {humped} of {of} boots",
            side(when)
        ),
    }
}

fn note_words(note: &BootsNote) -> String {
    match note {
        BootsNote::FilesOfOneBoot(when, files, boots) => format!(
            "{files} files {} are of {}: files of one boot are one boot.",
            side(*when),
            plural(*boots, "boot")
        ),
        BootsNote::UnknownBoot(when) => format!(
            "A file {} does not say which boot it is of: it is taken for one of its own.",
            side(*when)
        ),
        BootsNote::FewBoots(when, boots) => format!(
            "{} {}: fewer than {FEW_BOOTS} boots show only what is far apart; boot each kernel {FEW_BOOTS} times or more.",
            plural(*boots, "boot"),
            side(*when)
        ),
        BootsNote::BothSides => {
            "A boot is on both sides: what is compared is not two kernels.".to_owned()
        }
        BootsNote::NothingCanBeShown(tests, wanted, least) => format!(
            "With {tests} tests p has to reach {wanted:.4}, and so few boots give at least {least:.4}: no difference can be shown; compare fewer benchmarks or boot more often."
        ),
        BootsNote::Unlike(fact, values) => {
            let (what, values) = (timing::fact(*fact), values.join("; "));
            format!("Not the same in all files: {what}: {values}.")
        }
        BootsNote::Busy(files) => format!("In {files} of the files other work wanted the CPUs."),
    }
}

fn verdict(boots: &Boots, fail_above: Option<f64>) -> Verdict {
    let names = |finding: BootsFinding| -> Vec<String> {
        let all = boots.changes.iter();
        let all = all.filter(|change| change.finding() == finding);
        all.map(name).collect()
    };
    let said = [
        (BootsFinding::Slower, "slower", Tone::Bad),
        (BootsFinding::TooFew, "cannot be told", Tone::Doubt),
        (BootsFinding::NotShown, "not shown", Tone::Doubt),
        (BootsFinding::Faster, "faster", Tone::Good),
        (BootsFinding::Equal, "equal", Tone::Plain),
    ];
    let mut found = said
        .iter()
        .filter(|(finding, ..)| !names(*finding).is_empty());
    match found.next() {
        Some((finding, word, tone)) => {
            let others = found.map(|(finding, word, _)| {
                let names = names(*finding).join("; ");
                format!("{word}: {names}")
            });
            Verdict {
                word: (*word).to_owned(),
                tone: *tone,
                statement: names(*finding).join("; "),
                details: others.chain(beyond(boots, fail_above)).collect(),
                ..Verdict::default()
            }
        }
        None => Verdict {
            word: "nothing to compare".to_owned(),
            tone: Tone::Doubt,
            statement: "The two sides have no benchmark in common.".to_owned(),
            ..Verdict::default()
        },
    }
}

/// What lies beyond the limit, where there is one.
fn beyond(boots: &Boots, fail_above: Option<f64>) -> Option<String> {
    let percent = fail_above?;
    let all = boots.changes.iter();
    let beyond: Vec<String> = all
        .filter(|change| change.slower_than(percent))
        .map(name)
        .collect();
    Some(match beyond.is_empty() {
        true => format!("nothing is shown to be slower by more than {percent} %"),
        false => format!("slower by more than {percent} %: {}", beyond.join("; ")),
    })
}

#[derive(Serialize)]
struct JsonBoots<'a> {
    version: u32,
    kind: &'static str,
    exit_code: u8,
    boots: Counts,
    kernels: Kernels<'a>,
    floor_percent: f64,
    statistics: Statistics,
    changes: Vec<JsonChange<'a>>,
    left_out: Vec<String>,
    notes: Vec<String>,
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
    odd: Vec<String>,
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
            odd: change.odd.iter().copied().map(odd_words).collect(),
        }
    }
}

/// The comparison as a JSON document that ends with a newline.
///
/// # Errors
/// None that input can cause.
pub fn boots_json(boots: &Boots, exit_code: u8) -> Result<String, Defect> {
    to_json(&JsonBoots {
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
        left_out: boots.left_out.iter().map(missing_words).collect(),
        notes: boots.notes.iter().map(note_words).collect(),
    })
}
