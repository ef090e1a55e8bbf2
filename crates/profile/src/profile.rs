//! One profile, whatever it came from.

use serde::Serialize;

/// Where code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// The kernel and its modules.
    Kernel,
    /// A program or its libraries.
    User,
    /// The profile does not say.
    Unknown,
}

/// What a profile was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Rows with percentages: `perf report --stdio`, `perf top`, a table in a mail.
    Table,
    /// `perf script`, with call chains or without.
    Script,
    /// `perf.data`, by way of linux-perf-data.
    PerfData,
    /// Folded stacks, `a;b;c 12`.
    Folded,
    /// `perf annotate`: the lines of functions, each with its part of its function.
    Annotate,
    /// `tollgate prove --json`.
    Prove,
}

impl Form {
    /// The name of the program that writes it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Table => "rows of perf report or perf top",
            Self::Script => "perf script",
            Self::PerfData => "perf.data",
            Self::Folded => "folded stacks",
            Self::Annotate => "perf annotate",
            Self::Prove => "the JSON of tollgate prove",
        }
    }
}

/// What a percentage is of. Only profiles of one measure can be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Measure {
    /// Of the samples of an event (or of their periods); the event where it is said.
    Samples {
        /// `cycles:P`.
        event: Option<String>,
    },
    /// Of the samples of each function alone.
    OwnFunction,
    /// Of instructions that were counted, exactly.
    Instructions,
}

impl Measure {
    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Samples { event: Some(event) } => format!("samples of {event}"),
            Self::Samples { event: None } => "samples".to_owned(),
            Self::OwnFunction => "samples of the function itself".to_owned(),
            Self::Instructions => "instructions of the kernel (exact)".to_owned(),
        }
    }
}

/// How many samples there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Samples {
    /// The text does not say.
    #[default]
    Unknown,
    /// perf rounds down: `34K` is at least 34,000.
    AtLeast(u64),
    /// So many.
    Exactly(u64),
}

impl Samples {
    /// The count, or the least that it can be.
    #[must_use]
    pub fn known(self) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::AtLeast(count) | Self::Exactly(count) => Some(count),
        }
    }
}

/// The lines of a text that something stands in, counted from 1; 0 where a form has
/// no lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The first.
    pub first: usize,
    /// The last.
    pub last: usize,
}

/// A symbol's part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// As the profile writes it, `snd_pcm_ioctl.part.0`.
    pub symbol: String,
    /// The file or image that it is in; empty where none is named.
    pub object: String,
    /// Where it runs.
    pub space: Space,
    /// Its own part, in percent of the measure.
    pub percent: f64,
    /// With what it calls, where the profile says (`--children`).
    pub with_callees: Option<f64>,
    /// Its own samples, where they are known; of instructions, how many.
    pub count: Option<u64>,
    /// Whether its writer pointed at it.
    pub marked: bool,
    /// Functions that are part of it, by a remark below the row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inlined: Vec<String>,
    /// The line that it begins on; 0 where there is none.
    pub line: usize,
}

/// What was on the stack of samples: the function that ran, then its callers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stack {
    /// Innermost first.
    pub frames: Vec<Frame>,
    /// Its part, in percent of the measure.
    pub percent: f64,
}

/// A function on a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Frame {
    /// Its symbol.
    pub symbol: String,
    /// Where it runs.
    pub space: Space,
}

/// Which symbols were seen, and how often.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// What it was read from.
    pub form: Form,
    /// Where in the text.
    pub place: Place,
    /// The first lines of other places of the text that hold the same.
    pub again: Vec<usize>,
    /// What its writer said of it.
    pub title: Option<String>,
    /// What its percentages are of.
    pub measure: Measure,
    /// How many samples.
    pub samples: Samples,
    /// Where some weigh more than others: how many of one weight would say as much.
    pub effective: Option<u64>,
    /// Each symbol of each object once, the largest part first.
    pub rows: Vec<Row>,
    /// Where call chains were recorded.
    pub stacks: Vec<Stack>,
    /// Whether it lists only some of the symbols: what is missing is unknown, not 0.
    pub partial: bool,
    /// Whether rows are missing between those that are listed, and not only behind.
    pub elided: bool,
    /// What could not be read or resolved, in sentences.
    pub notes: Vec<String>,
}

impl Profile {
    pub(crate) fn new(form: Form, measure: Measure) -> Self {
        Self {
            form,
            place: Place::default(),
            again: Vec::new(),
            title: None,
            measure,
            samples: Samples::Unknown,
            effective: None,
            rows: Vec::new(),
            stacks: Vec::new(),
            partial: false,
            elided: false,
            notes: Vec::new(),
        }
    }

    /// The samples that an interval may be made of, where they are known.
    #[must_use]
    pub fn weighed(&self) -> Option<u64> {
        let known = self.samples.known()?;
        Some(
            self.effective
                .map_or(known, |effective| effective.min(known)),
        )
    }

    /// The sum of all rows, in percent.
    #[must_use]
    pub fn shown(&self) -> f64 {
        self.rows.iter().map(|row| row.percent).sum()
    }

    /// The smallest part that is listed: what is not listed is no larger, where rows
    /// were cut off at the end.
    #[must_use]
    pub fn smallest(&self) -> f64 {
        let all = self.rows.iter().map(|row| row.percent);
        all.fold(f64::INFINITY, f64::min)
    }

    /// The symbols of the kernel, and those of which it is not said.
    pub fn kernel(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.space != Space::User)
    }

    /// The part of names that were not resolved, in percent, and how many there are.
    #[must_use]
    pub fn unresolved(&self) -> (f64, usize) {
        let unknown = self.rows.iter().filter(|row| is_unresolved(&row.symbol));
        unknown.fold((0.0, 0), |(sum, count), row| (sum + row.percent, count + 1))
    }

    /// Adds up rows of one symbol, sorts them, and marks the profile as partial
    /// where they do not make a whole.
    pub(crate) fn settle(&mut self) {
        let mut merged: Vec<Row> = Vec::new();
        let mut known = std::collections::HashMap::new();
        for row in std::mem::take(&mut self.rows) {
            let key = (row.symbol.clone(), row.object.clone(), row.space);
            let at = *known.entry(key).or_insert(merged.len());
            match merged.get_mut(at) {
                Some(same) => same.add(&row),
                None => merged.push(row),
            }
        }
        merged.sort_by(|a, b| {
            b.percent
                .total_cmp(&a.percent)
                .then(a.symbol.cmp(&b.symbol))
        });
        self.rows = merged;
        self.partial |= self.shown() < NEARLY_ALL;
    }
}

/// Rows are rounded to a hundredth: this much makes a whole.
const NEARLY_ALL: f64 = 99.0;

impl Row {
    fn add(&mut self, other: &Self) {
        self.percent += other.percent;
        self.with_callees = sum(self.with_callees, other.with_callees);
        self.count = match (self.count, other.count) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            _ => None,
        };
        self.marked |= other.marked;
        self.inlined.extend(other.inlined.iter().cloned());
    }
}

fn sum(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? + b?)
}

/// Whether a name is an address, or perf's words for none.
#[must_use]
pub fn is_unresolved(symbol: &str) -> bool {
    let bare = symbol.strip_prefix("0x").unwrap_or(symbol);
    let hex = bare.len() >= 6 && bare.bytes().all(|b| b.is_ascii_hexdigit());
    let words = matches!(symbol, "[unknown]" | "unknown" | "(unknown)" | "0" | "");
    words || hex && (symbol.starts_with("0x") || bare.bytes().any(|b| b.is_ascii_digit()))
}

/// The kernel's own image or one of its modules, by the name that perf gives it.
#[must_use]
pub fn space_of(object: &str) -> Space {
    let inside = object.trim_matches(['(', ')']);
    match inside {
        "" | "[unknown]" => Space::Unknown,
        "[vdso]" | "[heap]" | "[stack]" | "[anon]" | "[user space]" | "//anon" => Space::User,
        _ if inside.starts_with('[') || inside.contains("vmlinux") || has_module(inside) => {
            Space::Kernel
        }
        _ => Space::User,
    }
}

fn has_module(name: &str) -> bool {
    [".ko", ".ko.xz", ".ko.zst", ".ko.gz"]
        .iter()
        .any(|end| name.ends_with(end))
}
