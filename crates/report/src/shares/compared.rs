//! Profiles against profiles, as a document and as JSON, which
//! `schema/compare.schema.json` describes.

use serde::Serialize;
use tollgate_defect::Defect;
use tollgate_profile::{Comparison, ShareChange, Told};

use crate::document::{Block, Cell, Document, Extent, Fact, Kind, Section, Table, Tone, Verdict};
use crate::json::to_json;

/// The version of the JSON form; it grows when a reader would break.
pub const COMPARE_VERSION: u32 = 1;

/// Two sides and what came of them.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// What stands before, in words.
    pub before: String,
    /// After.
    pub after: String,
    /// What came of it.
    pub comparison: Comparison,
}

/// The comparisons; `rows` symbols of each. Of several the variant with least of the
/// first group is named where it is `ranked`.
#[must_use]
pub fn compare_document(pairs: &[Pair], rows: usize, ranked: bool) -> Document {
    let mut sections: Vec<Section> = pairs
        .iter()
        .enumerate()
        .map(|(at, pair)| one(pair, (at + 1, pairs.len()), rows))
        .collect();
    let notes = notes(pairs);
    if !notes.is_empty() {
        sections.push(Section::new("What to know of it", vec![Block::List(notes)]));
    }
    let mut verdicts = Vec::new();
    if let Some((section, verdict)) = winner(pairs).filter(|_| ranked) {
        sections.push(section);
        verdicts.push(verdict);
    }
    if let [pair] = pairs {
        verdicts.push(verdict(&pair.comparison));
    }
    Document {
        title: "What changed from one profile to another".to_owned(),
        short: "comparison of profiles".to_owned(),
        head: Extent::Full,
        verdicts,
        sections,
        ..Document::default()
    }
}

fn one(pair: &Pair, (number, of): (usize, usize), rows: usize) -> Section {
    let compared = &pair.comparison;
    let title = match of {
        1 => "Parts before and after".to_owned(),
        _ => format!("Parts before and after, pair {number} of {of}"),
    };
    let about = format!(
        "in percent of {}, differences in points; {}{}",
        compared.measure.words(),
        samples(compared),
        tests(compared)
    );
    let facts = [
        ("before", pair.before.clone()),
        ("after", pair.after.clone()),
        ("parts", about),
    ];
    let facts = facts.map(|(label, text)| Fact::plain(label, text));
    let mut blocks = vec![Block::Facts(facts.into())];
    blocks.extend(changes("group", &compared.groups, usize::MAX, compared));
    blocks.extend(changes("symbol", &compared.symbols, rows, compared));
    let more = compared.symbols.len().saturating_sub(rows);
    let more = (more > 0).then(|| format!("{more} more symbols differ by less."));
    let said = more.into_iter().chain(hidden(compared));
    let groups = compared.groups.iter();
    let said: Vec<String> = said
        .chain(groups.map(|change| sentence(change, compared)))
        .collect();
    blocks.extend((!said.is_empty()).then_some(Block::List(said)));
    Section::new(title, blocks)
}

/// Each once.
fn notes(pairs: &[Pair]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for note in pairs.iter().flat_map(|pair| &pair.comparison.notes) {
        if !all.contains(note) {
            all.push(note.clone());
        }
    }
    all
}

/// Each family of tests is corrected by itself (Bonferroni).
fn tests(compared: &Comparison) -> String {
    let any = compared
        .groups
        .iter()
        .chain(&compared.symbols)
        .any(|change| change.interval.is_some());
    match any {
        true => format!(
            "; intervals for all of {} groups, and of {} symbols, together",
            compared.groups.len(),
            compared.symbols.len()
        ),
        false => String::new(),
    }
}

fn samples(compared: &Comparison) -> String {
    let side = |counts: &[Option<u64>]| {
        let words: Vec<String> = counts
            .iter()
            .map(|count| {
                count.map_or_else(
                    || "an unknown number of".to_owned(),
                    |count| count.to_string(),
                )
            })
            .collect();
        words.join(" + ")
    };
    match compared.exact() {
        true => "counted exactly".to_owned(),
        false => format!(
            "{} samples before, {} after",
            side(&compared.samples_before),
            side(&compared.samples_after)
        ),
    }
}

fn changes(what: &str, all: &[ShareChange], most: usize, compared: &Comparison) -> Option<Block> {
    let range = match compared.exact() {
        true => "instructions",
        false => "95 %",
    };
    let mut table = Table::apart(&[
        (what, Kind::Whole),
        ("before", Kind::Number),
        ("after", Kind::Number),
        ("points", Kind::Number),
        (range, Kind::Number),
        ("told", Kind::Word),
    ]);
    for change in all.iter().take(most) {
        let range = match (change.counts, change.interval) {
            (Some([old, new]), _) => signed(old, new),
            (None, Some(found)) => format!("{:+.2} {:+.2}", found.low, found.high),
            (None, None) => "-".to_owned(),
        };
        let cells = [
            change.name.clone(),
            part(change.before, change.hidden.first().copied()),
            part(change.after, change.hidden.last().copied()),
            format!("{:+.2}", change.difference()),
            range,
            words(change.told).to_owned(),
        ];
        table.row(cells.map(Cell::from));
    }
    (!all.is_empty() && most > 0).then_some(Block::Table(table))
}

fn signed(old: u64, new: u64) -> String {
    match new >= old {
        true => format!("+{}", new - old),
        false => format!("-{}", old - new),
    }
}

/// With a star where rows that are not listed could add something.
fn part(percent: f64, hidden: Option<f64>) -> String {
    match hidden.is_some_and(|hidden| hidden > 0.0) {
        true if percent == 0.0 => "-*".to_owned(),
        true => format!("{percent:.2}*"),
        false => format!("{percent:.2}"),
    }
}

fn words(told: Told) -> &'static str {
    match told {
        Told::Grew => "grew",
        Told::Shrank => "shrank",
        Told::Equal => "equal",
        Told::NotShown => "not shown",
        Told::Cannot => "cannot be told",
    }
}

fn hidden(compared: &Comparison) -> Option<String> {
    let starred = |change: &ShareChange| change.hidden.iter().any(|hidden| *hidden > 0.0);
    let mut all = compared.groups.iter().chain(&compared.symbols);
    let note = "* as far as it is listed; rows that are not could add to it.";
    all.any(starred).then(|| note.to_owned())
}

fn sentence(change: &ShareChange, compared: &Comparison) -> String {
    let name = &change.name;
    let points = change.difference().abs();
    let way = if change.difference() < 0.0 {
        "down"
    } else {
        "up"
    };
    let [hidden_before, hidden_after] = change.hidden;
    let unlisted = match hidden_before.max(hidden_after) > 0.0 {
        true => format!(
            " (rows that are not listed could add up to {hidden_before:.2} before and {hidden_after:.2} after)"
        ),
        false => String::new(),
    };
    let seen = format!(
        "{name}: {:.2} % to {:.2} %, {way} {points:.2} points{unlisted}",
        change.before, change.after
    );
    let told = match (change.told, compared.exact()) {
        (Told::Grew | Told::Shrank, true) => "counted exactly, no test needed".to_owned(),
        (Told::Equal, true) => "the same to the instruction".to_owned(),
        (Told::Grew | Told::Shrank, false) => "more than chance does to so many samples".to_owned(),
        (Told::Equal, false) => format!("equal within {} points", compared.floor),
        (Told::NotShown, _) => format!(
            "not shown to differ, nor to be equal within {} points{}",
            compared.floor,
            from(change)
        ),
        (Told::Cannot, _) => format!(
            "whether that is more than noise cannot be told{}",
            from(change)
        ),
    };
    format!("{seen}; {told}.")
}

fn from(change: &ShareChange) -> String {
    let worth_saying = change.difference().abs() >= 0.005;
    change
        .needed
        .filter(|_| worth_saying)
        .map_or(String::new(), |needed| {
            format!("; it would be beyond chance from {needed} samples a side on")
        })
}

/// What came of the groups: what matters most in a word, the rest in lines.
fn verdict(compared: &Comparison) -> Verdict {
    let names = |told: Told| -> Vec<&str> {
        let all = compared.groups.iter().filter(|change| change.told == told);
        all.map(|change| change.name.as_str()).collect()
    };
    let said = [
        (Told::Grew, Tone::Bad),
        (Told::Cannot, Tone::Doubt),
        (Told::NotShown, Tone::Doubt),
        (Told::Shrank, Tone::Good),
        (Told::Equal, Tone::Plain),
    ];
    let found = said.iter().filter(|(told, _)| !names(*told).is_empty());
    let Some((first, tone)) = found.clone().next() else {
        return Verdict {
            word: words(Told::Cannot).to_owned(),
            tone: Tone::Doubt,
            statement: "No symbol of any group is in either side.".to_owned(),
            ..Verdict::default()
        };
    };
    let others = found.skip(1);
    let others = others.map(|(told, _)| format!("{}: {}", words(*told), names(*told).join(", ")));
    Verdict {
        word: words(*first).to_owned(),
        tone: *tone,
        statement: names(*first).join(", "),
        details: others.collect(),
        ..Verdict::default()
    }
}

/// Of several variants the one that has least of what the text points at, or of what
/// the groups hold; `before` of every pair is the same or each other's.
fn winner(pairs: &[Pair]) -> Option<(Section, Verdict)> {
    if pairs.len() < 2 {
        return None;
    }
    let name = &pairs.last()?.comparison.groups.first()?.name;
    let mut sides = sides(pairs)?;
    let first = *sides.first()?;
    sides.sort_by(|a, b| a.1.total_cmp(&b.1));
    let least = *sides.first()?;
    let mut table = Table::apart(&[
        ("", Kind::Name),
        ("%", Kind::Number),
        ("could add", Kind::Number),
        ("to the first", Kind::Number),
        ("whole run", Kind::Number),
    ]);
    for (words, percent, hidden) in &sides {
        let whole = 100.0 * (whole(*percent) / whole(first.1) - 1.0);
        let figures = [
            format!("{percent:.2}"),
            format!("{hidden:.2}"),
            format!("{:+.2}", percent - first.1),
            format!("{whole:+.1} %"),
        ];
        let name = std::iter::once((*words).to_owned());
        table.row(name.chain(figures).map(Cell::from));
    }
    let mut others = sides.iter().skip(1);
    let certain = others.all(|other| other.1 >= least.1 + least.2);
    let told = match certain {
        true => "also if rows that are not listed add all they could",
        false => "as far as rows are listed: what is not could change that",
    };
    let note = "The whole run is an estimate, as if all other work took the time that it took in the first: 1 / (1 - part). Shares alone do not say how long anything took.";
    let verdict = Verdict {
        word: format!("least of {name}"),
        statement: format!("{} with {:.2} %, {told}.", least.0, least.1),
        ..Verdict::default()
    };
    let table = Block::Table(table.noted(note));
    Some((
        Section::new(format!("All sides, by {name}"), vec![table]),
        verdict,
    ))
}

/// Each side once: its words, its part of the first group, what could add to it.
fn sides(pairs: &[Pair]) -> Option<Vec<(&str, f64, f64)>> {
    let mut sides: Vec<(&str, f64, f64)> = Vec::new();
    for pair in pairs {
        let group = pair.comparison.groups.first()?;
        let [hidden_before, hidden_after] = group.hidden;
        for side in [
            (pair.before.as_str(), group.before, hidden_before),
            (pair.after.as_str(), group.after, hidden_after),
        ] {
            match sides.iter_mut().find(|known| known.0 == side.0) {
                Some(known) => known.2 = known.2.max(side.2),
                None => sides.push(side),
            }
        }
    }
    Some(sides)
}

/// With the rest of the run as unit.
fn whole(percent: f64) -> f64 {
    1.0 / (1.0 - (percent / 100.0).min(0.999))
}

#[derive(Serialize)]
struct JsonCompared<'a> {
    version: u32,
    kind: &'static str,
    exit_code: u8,
    comparisons: &'a [Pair],
}

/// The comparisons as a JSON document that ends with a newline.
///
/// # Errors
/// None that input can cause.
pub fn compare_json(pairs: &[Pair], exit_code: u8) -> Result<String, Defect> {
    to_json(&JsonCompared {
        version: COMPARE_VERSION,
        kind: "compare_profiles",
        exit_code,
        comparisons: pairs,
    })
}
