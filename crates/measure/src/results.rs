//! What the guest wrote to its console: which phase was which repetition, the
//! points of the behaviour sweeps, what it skipped and what went wrong.
//!
//! The format is "Results" in `docs/guest-protocol.md`. The kernel writes to
//! the same console; its lines are passed over, and a kernel message in front
//! of a result on one line is cut away.

use std::collections::{BTreeMap, BTreeSet};
use tollgate_defect::answer;

use serde::{Deserialize, Serialize};

use crate::layout::Layout;
use crate::sample::{Workload, guest_suffix};
use crate::text::{decimal, quote, signed};

/// The mark of the guest's lines.
const MARK: &str = "@tg ";
/// How many of the console's last lines are kept for a guest that died.
const LAST: usize = 5;

/// The guest's results of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// The repetitions, by phase number.
    pub repetitions: BTreeMap<u64, Repetition>,
    /// The points of all sweeps in the order in which they ran.
    pub points: Vec<Point>,
    /// What they show of memory.
    pub layouts: Vec<Layout>,
    /// The sweeps that came to their end.
    pub sweeps: BTreeSet<String>,
    /// What the guest could not run.
    pub skips: Vec<Skip>,
    /// What ran and did not do what it claims.
    pub errors: Vec<String>,
}

/// What one phase was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// What ran.
    pub workload: Workload,
    /// Operations (calls) in it.
    pub operations: u64,
    /// Its number; 0 is the warm-up.
    pub number: u32,
    /// How long it took, in nanoseconds; none of a guest that was not compiled
    /// to be timed.
    pub nanoseconds: Option<u64>,
    /// What the program counted itself, by name.
    pub tallies: BTreeMap<String, u64>,
}

/// One input of a behaviour sweep and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The sweep, `epoll_wait`.
    pub sweep: String,
    /// The input, `end/17`; unique in its sweep.
    pub name: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// What a system call left behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// What it returned.
    pub ret: i64,
    /// `errno`; 0 on success.
    pub errno: u32,
    /// User memory after it: hexadecimal, `..xN` for N bytes untouched, `--xN`
    /// for N that cannot be read, separated by commas.
    pub bytes: String,
}

/// A job that the guest could not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// The job as in the plan, `bench statx` or `sweep sync_ptr layout=132`.
    pub job: String,
    /// Why, in the guest's words.
    pub reason: String,
}

/// A console that cannot be used, and where that shows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the guest's console: {fault}")]
pub struct ConsoleError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub fault: ConsoleFault,
}

/// What can be wrong with the guest's console.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConsoleFault {
    /// No `done` line.
    #[error(
        "the console ends here without `@tg done`: the guest died or hung; its last lines: {last}"
    )]
    CutOff {
        /// The last lines, quoted.
        last: String,
    },
    /// A guest that speaks otherwise.
    #[error("found {0}, and this tollgate reads `guest 1`: rebuild the guest")]
    Version(String),
    /// A result that is none of the format.
    #[error("found {found}, wanted {wanted}; a kernel message may have cut into the line")]
    Unexpected {
        /// What the format allows.
        wanted: &'static str,
        /// What stands there.
        found: String,
    },
    /// One phase reported twice.
    #[error("phase {0} is reported twice")]
    PhaseTwice(u64),
    /// A tally of a phase that was not reported, or one that was told before.
    #[error("the tally {name} is of phase {phase}, which {}", if *.twice { "has it already" } else { "was not reported" })]
    Tally {
        /// Its name, quoted.
        name: String,
        /// The phase.
        phase: u64,
        /// Whether the phase has one of that name.
        twice: bool,
    },
    /// One point reported twice.
    #[error("point {0} is reported twice")]
    PointTwice(String),
    /// What the same points show, told twice.
    #[error("the layout of {0} is told twice")]
    LayoutTwice(String),
    /// A sweep whose number of points is not what it says.
    #[error("sweep {sweep} says it has {said} points, and {found} arrived: a line was lost")]
    Points {
        /// The sweep.
        sweep: String,
        /// What its `points` line says; none when there is no such line.
        said: u64,
        /// How many `point` lines there are.
        found: u64,
    },
    /// A sweep that was not closed before `done`.
    #[error("sweep {0} has points and no `points` line: a line was lost")]
    SweepOpen(String),
    /// Results after `done`.
    #[error("there are results after `@tg done`")]
    Trailing,
}

impl Results {
    /// Reads the console of a guest.
    ///
    /// # Errors
    /// When the guest did not come to its end, speaks another version, or a
    /// line was lost or damaged. What the guest reports as skipped or failed is
    /// no error here but part of the results.
    pub fn parse(console: &[u8]) -> Result<Self, ConsoleError> {
        let mut reader = Reader::default();
        let lines: Vec<&[u8]> = console.split(|byte| *byte == b'\n').collect();
        for (index, line) in lines.iter().enumerate() {
            let whole = index + 1 < lines.len();
            if let Some(result) = result(line).filter(|result| whole || result == "done") {
                let at = |fault| ConsoleError {
                    line: index + 1,
                    fault,
                };
                reader.take(&result).map_err(at)?;
            }
        }
        let at = |fault| ConsoleError {
            line: lines.len(),
            fault,
        };
        if reader.state != State::Done {
            return Err(at(ConsoleFault::CutOff { last: last(&lines) }));
        }
        Ok(reader.results)
    }
}

impl Results {
    /// The same as the results of a guest's program of that ABI: its repetitions
    /// and sweeps say so. None is the machine's own.
    #[must_use]
    pub fn of_guest(mut self, abi: Option<&str>) -> Self {
        let suffix = guest_suffix(abi, None);
        for repetition in self.repetitions.values_mut() {
            repetition.workload.abi = abi.map(str::to_owned);
        }
        let layouts = self.layouts.iter_mut().map(|layout| &mut layout.sweep);
        let sweeps = self.points.iter_mut().map(|point| &mut point.sweep);
        sweeps
            .chain(layouts)
            .for_each(|name| name.push_str(&suffix));
        self
    }
}

/// The guest's words on a line, if it has any.
fn result(line: &[u8]) -> Option<String> {
    let line = String::from_utf8_lossy(line);
    let (_, result) = line.split_once(MARK)?;
    Some(result.trim_end_matches('\r').to_owned())
}

/// The last lines that say something, quoted.
fn last(lines: &[&[u8]]) -> String {
    let lines = lines
        .iter()
        .map(|line| String::from_utf8_lossy(line).trim().to_owned());
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    let last = lines
        .iter()
        .skip(lines.len().saturating_sub(LAST))
        .map(|line| quote(line));
    let last: Vec<_> = last.collect();
    if last.is_empty() {
        "(none)".to_owned()
    } else {
        last.join(", ")
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Start,
    Running,
    Done,
}

#[derive(Default)]
struct Reader {
    state: State,
    results: Results,
    names: BTreeSet<(String, String)>,
    /// Sweep and prefix of each layout.
    laid_out: BTreeSet<(String, String)>,
    /// Points seen of each sweep that is not yet closed.
    open: BTreeMap<String, u64>,
}

const PHASE: &str = "`phase NUMBER BENCHMARK [KEY=INTEGER ...] ops=N rep=N [ns=N]`";
const TALLY: &str = "`tally NUMBER NAME N`";
const POINT: &str = "`point SWEEP NAME ret=INTEGER errno=N bytes=HEX`";
const LAYOUT: &str = "`layout SWEEP PREFIX front=N behind=N size=N [each=N] \
                      [NAME=OFFSET+LENGTH ...] [also=N ...]`, each member behind the one before";
const POINTS: &str = "`points SWEEP N`";
const SKIP: &str = "`skip bench|sweep NAME [KEY=INTEGER ...:] REASON`";
const ANY: &str = "`phase`, `tally`, `layout`, `point`, `points`, `skip`, `error` or `done`";

impl Reader {
    fn take(&mut self, line: &str) -> Result<(), ConsoleFault> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (self.state, word) {
            (State::Start, "guest") if rest == "1" => self.state = State::Running,
            (State::Start, "guest") => return Err(ConsoleFault::Version(quote(line))),
            (State::Start, _) => return Err(unexpected("`guest 1` first", line)),
            (State::Running, "done") if rest.is_empty() => return self.done(),
            (State::Running, _) => return self.line(line, word, rest),
            (State::Done, _) => return Err(ConsoleFault::Trailing),
        }
        Ok(())
    }

    fn line(&mut self, line: &str, word: &str, rest: &str) -> Result<(), ConsoleFault> {
        match word {
            "phase" => self.phase(line, rest),
            "tally" => self.tally(line, rest),
            "layout" => self.layout(line, rest),
            "point" => self.point(line, rest),
            "points" => self.points(line, rest),
            "skip" => {
                let skip = skip(rest).ok_or_else(|| unexpected(SKIP, line))?;
                self.results.skips.push(skip);
                Ok(())
            }
            "error" => {
                self.close_failed(rest);
                self.results.errors.push(rest.to_owned());
                Ok(())
            }
            _ => Err(unexpected(ANY, line)),
        }
    }

    fn phase(&mut self, line: &str, rest: &str) -> Result<(), ConsoleFault> {
        let (phase, repetition) = phase(rest).ok_or_else(|| unexpected(PHASE, line))?;
        match self.results.repetitions.insert(phase, repetition) {
            Some(_) => Err(ConsoleFault::PhaseTwice(phase)),
            None => Ok(()),
        }
    }

    fn tally(&mut self, line: &str, rest: &str) -> Result<(), ConsoleFault> {
        let (phase, name, count) = tally(rest).ok_or_else(|| unexpected(TALLY, line))?;
        let fault = |twice| ConsoleFault::Tally {
            name: quote(name),
            phase,
            twice,
        };
        let repetition = self.results.repetitions.get_mut(&phase);
        let tallies = &mut repetition.ok_or_else(|| fault(false))?.tallies;
        match tallies.insert(name.to_owned(), count) {
            Some(_) => Err(fault(true)),
            None => Ok(()),
        }
    }

    fn layout(&mut self, line: &str, rest: &str) -> Result<(), ConsoleFault> {
        let layout = Layout::parse(rest).ok_or_else(|| unexpected(LAYOUT, line))?;
        let key = |one: &Layout| (one.sweep.clone(), one.prefix.clone());
        if !self.laid_out.insert(key(&layout)) {
            let words: Vec<&str> = rest.split(' ').take(2).collect();
            return Err(ConsoleFault::LayoutTwice(quote(&words.join(" "))));
        }
        self.results.layouts.push(layout);
        Ok(())
    }

    fn point(&mut self, line: &str, rest: &str) -> Result<(), ConsoleFault> {
        let point = point(rest).ok_or_else(|| unexpected(POINT, line))?;
        if !self.names.insert((point.sweep.clone(), point.name.clone())) {
            return Err(ConsoleFault::PointTwice(quote(&format!(
                "{} {}",
                point.sweep, point.name
            ))));
        }
        *self.open.entry(point.sweep.clone()).or_default() += 1;
        self.results.points.push(point);
        Ok(())
    }

    fn points(&mut self, line: &str, rest: &str) -> Result<(), ConsoleFault> {
        let words = rest
            .split_once(' ')
            .and_then(|(sweep, said)| Some((sweep, decimal(said)?)));
        let (sweep, said) = words.ok_or_else(|| unexpected(POINTS, line))?;
        let found = self.open.remove(sweep).unwrap_or(0);
        if found != said {
            return Err(ConsoleFault::Points {
                sweep: quote(sweep),
                said,
                found,
            });
        }
        self.results.sweeps.insert(sweep.to_owned());
        Ok(())
    }

    /// A sweep that failed after some points does not say how many it has: its
    /// error is what came of it.
    fn close_failed(&mut self, error: &str) {
        let job = error.strip_prefix("sweep ").unwrap_or_default();
        let name = job.split([' ', ':']).next().unwrap_or_default();
        self.open.remove(name);
    }

    fn done(&mut self) -> Result<(), ConsoleFault> {
        self.state = State::Done;
        match self.open.keys().next() {
            Some(sweep) => Err(ConsoleFault::SweepOpen(quote(sweep))),
            None => Ok(()),
        }
    }
}

fn unexpected(wanted: &'static str, found: &str) -> ConsoleFault {
    ConsoleFault::Unexpected {
        wanted,
        found: quote(found),
    }
}

fn phase(rest: &str) -> Option<(u64, Repetition)> {
    let mut words = rest.split(' ');
    let phase = decimal(words.next()?)?;
    let benchmark = words.next().filter(|name| !name.is_empty())?.to_owned();
    let mut values = words.map(|word| {
        let (key, value) = word.split_once('=').filter(|(key, _)| !key.is_empty())?;
        Some((key.to_owned(), signed(value)?))
    });
    let mut parameters = values.by_ref().collect::<Option<Vec<_>>>()?;
    let nanoseconds = match last_of(&mut parameters, "ns") {
        Some(time) => Some(answer::fits::<u64, _>(time)?),
        None => None,
    };
    let mut last = |name: &str| last_of(&mut parameters, name);
    let number = answer::fits::<u32, _>(last("rep")?)?;
    let operations = answer::fits::<u64, _>(last("ops")?);
    let operations = operations.filter(|operations| *operations > 0)?;
    let workload = Workload {
        benchmark,
        parameters,
        ..Workload::default()
    };
    Some((
        phase,
        Repetition {
            workload,
            operations,
            number,
            nanoseconds,
            tallies: BTreeMap::new(),
        },
    ))
}

fn tally(rest: &str) -> Option<(u64, &str, u64)> {
    let mut words = rest.split(' ');
    let (phase, name) = (decimal(words.next()?)?, words.next()?);
    let count = decimal(words.next()?)?;
    let whole = words.next().is_none() && !name.is_empty();
    whole.then_some((phase, name, count))
}

/// The value of the last parameter, taken away where it is the one called `name`.
fn last_of(parameters: &mut Vec<(String, i64)>, name: &str) -> Option<i64> {
    let (_, value) = parameters.pop_if(|(key, _)| key == name)?;
    Some(value)
}

fn point(rest: &str) -> Option<Point> {
    let mut words = rest.split(' ');
    let (sweep, name) = (words.next()?, words.next()?);
    let ret = signed(words.next()?.strip_prefix("ret=")?)?;
    let errno = answer::fits::<u32, _>(decimal(words.next()?.strip_prefix("errno=")?)?)?;
    let bytes = words
        .next()?
        .strip_prefix("bytes=")
        .filter(|bytes| memory(bytes))?
        .to_owned();
    let complete = words.next().is_none() && !sweep.is_empty() && !name.is_empty();
    let outcome = Outcome { ret, errno, bytes };
    complete.then(|| Point {
        sweep: sweep.to_owned(),
        name: name.to_owned(),
        outcome,
    })
}

/// Whether `text` is a comma-separated row of bytes in hexadecimal, `..xN` (at
/// least four bytes that still hold the canary) and `--xN` (bytes that cannot
/// be read).
fn memory(text: &str) -> bool {
    text.is_empty() || text.split(',').all(stretch)
}

fn stretch(text: &str) -> bool {
    let at_least = |fewest: u64| move |length: &str| decimal(length).is_some_and(|n| n >= fewest);
    if let Some(length) = text.strip_prefix("..x") {
        return at_least(4)(length);
    }
    if let Some(length) = text.strip_prefix("--x") {
        return at_least(1)(length);
    }
    answer::bytes(text).is_some_and(|bytes| !bytes.is_empty())
}

fn skip(rest: &str) -> Option<Skip> {
    let mut words = rest.splitn(3, ' ');
    let (kind, name, reason) = (words.next()?, words.next()?, words.next()?);
    let (parameters, reason) = parameters(reason);
    let known = matches!(kind, "bench" | "sweep") && !name.is_empty() && !reason.is_empty();
    known.then(|| Skip {
        job: format!("{kind} {name}{parameters}"),
        reason: reason.to_owned(),
    })
}

/// ` KEY=INTEGER ...` in front of a colon, and what follows; a job without
/// parameters has no colon, and all is its reason.
fn parameters(text: &str) -> (String, &str) {
    let is_parameter = |word: &str| {
        word.split_once('=')
            .is_some_and(|(key, value)| !key.is_empty() && signed(value).is_some())
    };
    match text.split_once(": ") {
        Some((words, reason)) if words.split(' ').all(is_parameter) => {
            (format!(" {words}"), reason)
        }
        _ => (String::new(), text),
    }
}

#[cfg(test)]
mod tests;
