//! What a file holds: any of the forms that profiles come in, told apart by content.

use crate::json;
use crate::perf_data::{Kallsyms, PerfDataError, is_perf_data, perf_data};
use crate::profile::{Form, Measure, Profile, Row, Space};
use crate::text::annotate::{Annotation, annotations};
use crate::text::points::{Point, points};
use crate::text::times::{TimeTable, tables as time_tables};
use crate::text::{folded, lines::lines, script, table};

/// Everything that was found in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Profiles by symbol, in the order of the text.
    pub profiles: Vec<Profile>,
    /// Annotated functions.
    pub annotations: Vec<Annotation>,
    /// Tables of times.
    pub times: Vec<TimeTable>,
    /// Repeated measurements.
    pub points: Vec<Point>,
}

/// What is no profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Nothing in it has a form that is read.
    #[error(
        "no line of {lines} is a row of perf report, perf top, perf script or perf annotate, a folded stack, a table of times or a line of lat_sig, and it is not what prove --json writes{}", first_line(.first)
    )]
    Nothing {
        /// How many lines there are.
        lines: usize,
        /// The first that is not empty, with its number.
        first: Option<(usize, String)>,
    },
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// It begins as JSON does, and is none, or not that of `prove`.
    #[error("it begins as JSON does, but {0}")]
    Json(String),
    /// Folded stacks, and a line among them that is none.
    #[error("line {line} is no folded stack, as the others are: {text}")]
    Folded {
        /// From 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// A perf.data that cannot be read.
    #[error(transparent)]
    PerfData(#[from] PerfDataError),
    /// Bytes that are no text.
    #[error("it is no text (byte {0} is 0) and no perf.data, which begins with PERFILE2")]
    Binary(usize),
}

fn first_line(first: &Option<(usize, String)>) -> String {
    match first {
        Some((line, text)) => format!("; line {line} is: {text}"),
        None => String::new(),
    }
}

impl Reading {
    /// Reads any form. Names of the kernel's addresses are needed for perf.data
    /// alone.
    ///
    /// `perf report --stdio` and `perf top` give a percentage in each row.
    /// `perf script` gives a sample a line, or a call chain. `perf annotate` gives the
    /// lines of one function; it is named by its header or by a jump into it.
    ///
    /// # Errors
    /// When nothing in it is of any form.
    pub fn of(bytes: &[u8], kernel: &Kallsyms) -> Result<Self, ReadError> {
        if is_perf_data(bytes) {
            let profiles = perf_data(bytes, kernel)?;
            return Ok(Self {
                profiles,
                ..Self::default()
            });
        }
        if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
            return Err(ReadError::Binary(at));
        }
        Self::of_text(&String::from_utf8_lossy(bytes))
    }

    /// The forms of text.
    ///
    /// # Errors
    /// As [`Reading::of`].
    pub fn of_text(text: &str) -> Result<Self, ReadError> {
        if text.trim_start().starts_with('{') {
            let profiles = json::prove(text).map_err(ReadError::Json)?;
            return Ok(Self {
                profiles,
                ..Self::default()
            });
        }
        let lines = lines(text);
        let mut found = Self {
            profiles: table::tables(&lines),
            annotations: annotations(&lines),
            times: time_tables(&lines),
            points: points(&lines),
        };
        if found.profiles.is_empty() {
            found.profiles = script::samples(&lines);
        }
        if found.is_empty() {
            match folded::stacks(&lines) {
                Ok(profile) => found.profiles.extend(profile),
                Err(odd) => {
                    return Err(ReadError::Folded {
                        line: odd.line,
                        text: odd.text,
                    });
                }
            }
        }
        found.fold_quotes();
        match found.is_empty() {
            false => Ok(found),
            true if text.trim().is_empty() => Err(ReadError::Empty),
            true => {
                let mut full = lines.iter().filter(|line| !line.is_blank());
                let first = full
                    .next()
                    .map(|line| (line.number, line.text.trim().chars().take(60).collect()));
                Err(ReadError::Nothing {
                    lines: lines.len(),
                    first,
                })
            }
        }
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.profiles.is_empty()
            && self.annotations.is_empty()
            && self.times.is_empty()
            && self.points.is_empty()
    }

    /// A thread quotes what was said before: each once, with where it is said again.
    fn fold_quotes(&mut self) {
        let rows = |profile: &Profile| -> Vec<(String, u64)> {
            profile
                .rows
                .iter()
                .map(|row| (row.symbol.clone(), row.percent.to_bits()))
                .collect()
        };
        once(
            &mut self.profiles,
            |a, b| rows(a) == rows(b),
            |kept, again| kept.again.push(again.place.first),
        );
        once(
            &mut self.annotations,
            |a, b| a.lines == b.lines,
            |kept, again| kept.again.push(again.place.first),
        );
        let times = |table: &TimeTable| {
            (
                table.columns.clone(),
                table
                    .rows
                    .iter()
                    .map(|row| (row.label.clone(), row.nanoseconds.clone()))
                    .collect::<Vec<_>>(),
            )
        };
        once(
            &mut self.times,
            |a, b| times(a) == times(b),
            |kept, again| kept.again.push(again.place.first),
        );
        let point = |point: &Point| {
            (
                point.heading.clone(),
                point.label.clone(),
                point.nanoseconds.clone(),
            )
        };
        once(&mut self.points, |a, b| point(a) == point(b), |_, _| {});
    }

    /// One profile for ranking: of several in one text each symbol's largest part;
    /// where there is none, the annotated functions.
    #[must_use]
    pub fn ranking(&self) -> Option<Profile> {
        let Some(first) = self.profiles.first() else {
            return self.annotated();
        };
        let mut one = first.clone();
        for profile in self
            .profiles
            .iter()
            .skip(1)
            .filter(|profile| same_unit(&profile.measure, &first.measure))
        {
            for row in &profile.rows {
                match one
                    .rows
                    .iter_mut()
                    .find(|known| known.symbol == row.symbol && known.space == row.space)
                {
                    Some(known) => known.percent = known.percent.max(row.percent),
                    None => one.rows.push(row.clone()),
                }
            }
        }
        one.rows.sort_by(|a, b| {
            b.percent
                .total_cmp(&a.percent)
                .then(a.symbol.cmp(&b.symbol))
        });
        Some(one)
    }

    fn annotated(&self) -> Option<Profile> {
        let mut profile = Profile::new(Form::Annotate, Measure::OwnFunction);
        for block in &self.annotations {
            profile
                .rows
                .extend(block.function.as_ref().map(|symbol| Row {
                    symbol: symbol.clone(),
                    object: String::new(),
                    space: Space::Kernel,
                    percent: block.percent(),
                    with_callees: None,
                    count: None,
                    marked: false,
                    inlined: Vec::new(),
                    line: block.place.first,
                }));
        }
        profile.settle();
        (!profile.rows.is_empty()).then_some(profile)
    }
}

/// An event that is not named may be any.
pub(crate) fn same_unit(a: &Measure, b: &Measure) -> bool {
    match (a, b) {
        (Measure::Samples { event: Some(a) }, Measure::Samples { event: Some(b) }) => {
            let plain = |event: &str| event.split(':').next().unwrap_or_default().to_owned();
            plain(a) == plain(b)
        }
        (Measure::Samples { .. }, Measure::Samples { .. }) => true,
        (a, b) => a == b,
    }
}

fn once<T>(all: &mut Vec<T>, same: impl Fn(&T, &T) -> bool, note: impl Fn(&mut T, &T)) {
    let mut kept: Vec<T> = Vec::new();
    for one in std::mem::take(all) {
        match kept.iter_mut().find(|known| same(known, &one)) {
            Some(known) => note(known, &one),
            None => kept.push(one),
        }
    }
    *all = kept;
}
