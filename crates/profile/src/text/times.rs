//! Tables of times in mails: a row a benchmark, a column a kernel.

use serde::Serialize;

use super::lines::{Line, chunks, number, title};
use crate::profile::Place;

/// A row of times: one benchmark, a time a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeRow {
    /// Its words, `parallel (x4)`.
    pub label: String,
    /// In nanoseconds, in the order of the columns.
    pub nanoseconds: Vec<f64>,
    /// The line that it begins on.
    pub line: usize,
}

/// What a column is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The kernel without the change.
    Before,
    /// That with it.
    After,
    /// Its head does not say.
    Unsaid,
}

/// Times in rows and columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeTable {
    /// Where in the text.
    pub place: Place,
    /// The first lines of other places of the text that hold the same.
    pub again: Vec<usize>,
    /// What its writer said of it.
    pub title: Option<String>,
    /// The heads of the columns of times.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<TimeRow>,
}

impl TimeTable {
    /// What each column is of, by its head.
    #[must_use]
    pub fn sides(&self) -> Vec<Side> {
        self.columns.iter().map(|head| side(head)).collect()
    }

    /// The columns before and after; none where the heads do not name one of each.
    #[must_use]
    pub fn pair(&self) -> Option<(usize, usize)> {
        let sides = self.sides();
        let only = |wanted: Side| {
            let mut found = (0..).zip(&sides).filter(|(_, side)| **side == wanted);
            let (at, _) = found.next()?;
            found.next().is_none().then_some(at)
        };
        Some((only(Side::Before)?, only(Side::After)?))
    }
}

fn side(head: &str) -> Side {
    match head.trim() {
        "A" => return Side::Before,
        "B" => return Side::After,
        _ => {}
    }
    let words: Vec<String> = head
        .split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .collect();
    let has = |all: &[&str]| words.iter().any(|word| all.contains(&word.as_str()));
    if has(&[
        "before",
        "base",
        "baseline",
        "old",
        "without",
        "unpatched",
        "vanilla",
        "orig",
        "original",
    ]) {
        Side::Before
    } else if has(&["after", "new", "patched", "with", "changed"]) {
        Side::After
    } else {
        Side::Unsaid
    }
}

/// All tables of a text.
pub(crate) fn tables(lines: &[Line<'_>]) -> Vec<TimeTable> {
    let mut done = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        match table(lines, at) {
            Some((found, taken)) => {
                done.push(found);
                at += taken;
            }
            None => at += 1,
        }
    }
    done
}

/// The head of a table: its columns, and the unit where it names one for all.
struct Head {
    columns: Vec<String>,
    unit: Option<f64>,
}

/// The table whose head is at a line.
fn table(lines: &[Line<'_>], at: usize) -> Option<(TimeTable, usize)> {
    let first = lines.get(at)?;
    let head = head(&first.text)?;
    let mut rows: Vec<TimeRow> = Vec::new();
    let mut taken = 1;
    let mut last = at;
    while let Some((row, lines_of_row)) = row(lines, at + taken, &head, first.depth) {
        last = at + taken + lines_of_row - 1;
        taken += lines_of_row;
        rows.push(row);
    }
    let found = TimeTable {
        place: Place {
            first: first.number,
            last: lines.get(last)?.number,
        },
        again: Vec::new(),
        title: title(lines, at),
        columns: head.columns,
        rows,
    };
    (!found.rows.is_empty()).then_some((found, taken))
}

/// Words that stand apart, none of them a time: `before    after`.
fn head(text: &str) -> Option<Head> {
    let mut columns: Vec<String> = chunks(text).map(str::to_owned).collect();
    // One blank between two words that are heads by themselves.
    if let [one] = columns.as_slice() {
        let words: Vec<String> = one.split_whitespace().map(str::to_owned).collect();
        if words.iter().any(|word| side(word) == Side::Unsaid) {
            return None;
        }
        columns = words;
    }
    let is_word = |column: &String| {
        column.chars().any(char::is_alphabetic)
            && duration(column, None).is_none()
            && column.len() < 40
    };
    if columns.is_empty() || columns.len() > 12 || !columns.iter().all(is_word) {
        return None;
    }
    let units: Vec<Option<f64>> = columns.iter().map(|head| unit_of_head(head)).collect();
    let unit = units.iter().copied().flatten().next();
    // Without a side, a unit or times with theirs any words would be a head.
    Some(Head { columns, unit })
}

/// `before (ns)`, `after [us]`.
fn unit_of_head(head: &str) -> Option<f64> {
    let (_, inside) = head.split_once(['(', '['])?;
    unit(inside.trim_end_matches([')', ']']).trim())
}

/// A row: a label and times, in one line or wrapped over a few.
fn row(lines: &[Line<'_>], at: usize, head: &Head, depth: usize) -> Option<(TimeRow, usize)> {
    const MOST_LINES: usize = 3;
    let first = lines
        .get(at)
        .filter(|line| line.depth == depth && !line.is_blank())?;
    let mut words = String::new();
    for taken in 1..=MOST_LINES {
        let line = lines
            .get(at + taken - 1)
            .filter(|line| line.depth == depth && !line.is_blank())?;
        words = format!("{words} {}", line.text.trim());
        let (label, times) = split(&words, head.unit);
        let labels = usize::from(!label.is_empty());
        // A head may name the column of the labels, too.
        let wanted = head.columns.len();
        let whole = times.len() == wanted
            || labels == 1 && times.len() + 1 == wanted && wanted > 1 && names_labels(head);
        if whole && !label.is_empty() {
            return Some((
                TimeRow {
                    label,
                    nanoseconds: times,
                    line: first.number,
                },
                taken,
            ));
        }
        if times.len() >= wanted {
            return None;
        }
    }
    None
}

/// Whether the first column is of what is measured.
fn names_labels(head: &Head) -> bool {
    head.columns
        .first()
        .is_some_and(|first| side(first) == Side::Unsaid)
}

/// The words of a row that are times, and the rest.
fn split(text: &str, standard: Option<f64>) -> (String, Vec<f64>) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (mut label, mut times) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let spaced = words
            .get(at + 1)
            .and_then(|next| duration(&format!("{word}{next}"), None));
        match (duration(word, standard), spaced) {
            (_, Some(time)) if number(word).is_some() => {
                times.push(time);
                at += 2;
                continue;
            }
            (Some(time), _) => times.push(time),
            (None, _) => label.push(*word),
        }
        at += 1;
    }
    (label.join(" "), times)
}

/// `100.173ns`, in nanoseconds; a bare number where the head gives the unit.
pub(crate) fn duration(word: &str, standard: Option<f64>) -> Option<f64> {
    let digits = word
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(word.len());
    let (value, rest) = word.split_at_checked(digits)?;
    let value = number(value)?;
    let rest = rest.trim_end_matches([',', ';']);
    let unit = if rest.is_empty() {
        standard
    } else {
        unit(rest)
    };
    Some(value * unit?)
}

/// In nanoseconds.
pub(crate) fn unit(word: &str) -> Option<f64> {
    match word {
        "ns" | "nsec" | "nsecs" | "nanoseconds" | "nanosecond" => Some(1.0),
        "us" | "µs" | "μs" | "usec" | "usecs" | "microseconds" | "microsecond" => Some(1e3),
        "ms" | "msec" | "msecs" | "milliseconds" | "millisecond" => Some(1e6),
        "s" | "sec" | "secs" | "seconds" | "second" => Some(1e9),
        _ => None,
    }
}
