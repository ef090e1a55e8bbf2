//! Profiles against profiles, for people and programs; `schema/compare.schema.json`
//! describes the document.

use serde::Serialize;
use tollgate_defect::Defect;
use tollgate_profile::{Comparison, ShareChange, Told};

use super::text::indented;
use crate::fixed::{Paint, lines, table};
use crate::json::to_json;
use crate::text::{WIDTH, shorten, wrap};

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

/// The comparisons as text of at most 80 columns; `rows` symbols of each. Of several
/// the variant with least of the first group is named where it is `ranked`. Ends with
/// the verdict and a newline.
#[must_use]
pub fn compare_text(pairs: &[Pair], rows: usize, ranked: bool, color: bool) -> String {
    let paint = Paint(color);
    let mut parts: Vec<String> = pairs.iter().map(|pair| one(pair, rows, &paint)).collect();
    parts.push(notes(pairs));
    parts.extend(winner(pairs, &paint).filter(|_| ranked));
    // What came of it is last, where a terminal shows it.
    if let [pair] = pairs {
        parts.push(verdict_lines(pair, &paint));
    }
    parts.join("\n")
}

fn one(pair: &Pair, rows: usize, paint: &Paint) -> String {
    let compared = &pair.comparison;
    let mut text = String::new();
    for (label, words) in [("before: ", &pair.before), ("after:  ", &pair.after)] {
        text.push_str(&(paint.bold(&shorten(&format!("{label}{words}"), WIDTH)) + "\n"));
    }
    text.push_str(&indented(&format!(
        "Parts in percent of {}, differences in points; {}{}.",
        compared.measure.words(),
        samples(compared),
        tests(compared)
    )));
    text.push_str(&changes("group", &compared.groups, usize::MAX, compared));
    text.push_str(&changes("symbol", &compared.symbols, rows, compared));
    if compared.symbols.len() > rows {
        text.push_str(&indented(&format!(
            "{} more symbols differ by less.",
            compared.symbols.len() - rows
        )));
    }
    text.push_str(&hidden(compared));
    for change in &compared.groups {
        text.push_str(&indented(&sentence(change, compared)));
    }
    text
}

/// Each once.
fn notes(pairs: &[Pair]) -> String {
    let mut all: Vec<&String> = Vec::new();
    for note in pairs.iter().flat_map(|pair| &pair.comparison.notes) {
        if !all.contains(&note) {
            all.push(note);
        }
    }
    all.into_iter().map(|note| indented(note)).collect()
}

fn verdict_lines(pair: &Pair, paint: &Paint) -> String {
    let lines = wrap(&verdict(&pair.comparison), WIDTH);
    lines.iter().map(|line| paint.bold(line) + "\n").collect()
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

fn changes(what: &str, all: &[ShareChange], most: usize, compared: &Comparison) -> String {
    let heads: &[&str] = match compared.exact() {
        true => &[what, "before", "after", "points", "instructions", "told"],
        false => &[what, "before", "after", "points", "95 %", "told"],
    };
    let mut shown = table(heads, 1);
    for change in all.iter().take(most) {
        let range = match (change.counts, change.interval) {
            (Some([old, new]), _) => signed(old, new),
            (None, Some(found)) => format!("{:+.2} {:+.2}", found.low, found.high),
            (None, None) => "-".to_owned(),
        };
        shown.add_row([
            shorten(&change.name, 26),
            part(change.before, change.hidden.first().copied()),
            part(change.after, change.hidden.last().copied()),
            format!("{:+.2}", change.difference()),
            range,
            words(change.told).to_owned(),
        ]);
    }
    match all.is_empty() {
        true => String::new(),
        false => lines(&shown),
    }
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

fn hidden(compared: &Comparison) -> String {
    let starred = |change: &ShareChange| change.hidden.iter().any(|hidden| *hidden > 0.0);
    let any = compared.groups.iter().chain(&compared.symbols).any(starred);
    match any {
        true => indented("* as far as it is listed; rows that are not could add to it."),
        false => String::new(),
    }
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

fn verdict(compared: &Comparison) -> String {
    let names = |told: Told| -> Vec<&str> {
        let all = compared.groups.iter().filter(|change| change.told == told);
        all.map(|change| change.name.as_str()).collect()
    };
    let said = [
        (Told::Grew, "GREW"),
        (Told::Shrank, "SHRANK"),
        (Told::Equal, "EQUAL"),
        (Told::NotShown, "NOT SHOWN"),
        (Told::Cannot, "CANNOT BE TOLD"),
    ];
    let parts: Vec<String> = said
        .iter()
        .filter(|(told, _)| !names(*told).is_empty())
        .map(|(told, words)| format!("{words}: {}", names(*told).join(", ")))
        .collect();
    match parts.is_empty() {
        true => "CANNOT BE TOLD: no symbol of any group is in either side".to_owned(),
        false => parts.join("; "),
    }
}

/// Of several variants the one that has least of what the text points at, or of what
/// the groups hold; `before` of every pair is the same or each other's.
fn winner(pairs: &[Pair], paint: &Paint) -> Option<String> {
    if pairs.len() < 2 {
        return None;
    }
    let mut sides: Vec<(&str, f64, f64)> = Vec::new();
    let mut name = None;
    for pair in pairs {
        let group = pair.comparison.groups.first()?;
        name = Some(group.name.as_str());
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
    let first = *sides.first()?;
    sides.sort_by(|a, b| a.1.total_cmp(&b.1));
    let least = *sides.first()?;
    let mut shown = table(&["", "%", "could add", "to the first", "whole run"], 1);
    for (words, percent, hidden) in &sides {
        shown.add_row([
            wrap(words, 34).join("\n"),
            format!("{percent:.2}"),
            format!("{hidden:.2}"),
            format!("{:+.2}", percent - first.1),
            format!("{:+.1} %", 100.0 * (whole(*percent) / whole(first.1) - 1.0)),
        ]);
    }
    let certain = sides
        .iter()
        .skip(1)
        .all(|other| other.1 >= least.1 + least.2);
    let told = match certain {
        true => "also if rows that are not listed add all they could",
        false => "as far as rows are listed: what is not could change that",
    };
    let sentence = format!(
        "LEAST of {}: {} with {:.2} %, {told}",
        name?, least.0, least.1
    );
    let bold: String = wrap(&sentence, WIDTH)
        .iter()
        .map(|line| paint.bold(line) + "\n")
        .collect();
    let estimate = indented(
        "The whole run is an estimate, as if all other work took the time that it took in the first: 1 / (1 - part). Shares alone do not say how long anything took.",
    );
    Some(format!("{}{estimate}{bold}", lines(&shown)))
}

/// With the rest of the run as unit.
fn whole(percent: f64) -> f64 {
    1.0 / (1.0 - (percent / 100.0).min(0.999))
}

#[derive(Serialize)]
struct Document<'a> {
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
    to_json(&Document {
        version: COMPARE_VERSION,
        kind: "compare_profiles",
        exit_code,
        comparisons: pairs,
    })
}
