//! Reads what `json` has written, for a later run to be compared with.

use std::collections::{BTreeMap, BTreeSet};
use tollgate_defect::answer;

use serde::Deserialize;
use tollgate_measure::{Host, Rounds, Skip, Timing, Timings, Workload};

use super::RUN_VERSION;

/// Why a document is none of an earlier run.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is no JSON, or of another form.
    #[error("it is no JSON that tollgate run --json has written: {0}")]
    Form(#[from] serde_json::Error),
    /// It is a document of something else.
    #[error("it is a document of `{kind}`, version {version}; wanted `run`, version {RUN_VERSION}")]
    Kind {
        /// What it says it is.
        kind: String,
        /// The version that it says.
        version: u64,
    },
    /// A workload of which no run makes so few or so many repetitions.
    #[error(
        "{workload} has {found} repetitions, and a run makes {} to {}: it was changed by hand",
        Rounds::FEWEST,
        Rounds::MOST
    )]
    Repetitions {
        /// What ran.
        workload: String,
        /// Its repetitions.
        found: usize,
    },
    /// A workload that is there twice, with times that may differ.
    #[error("{0} is in it twice, and a run has each benchmark once: it was changed by hand")]
    Twice(String),
    /// A workload without operations.
    #[error("{0} has 0 operations in a repetition")]
    Operations(String),
    /// A workload with a repetition that took no time.
    #[error("{0} has a repetition of 0 ns, which no operation takes: it was changed by hand")]
    Time(String),
}

#[derive(Deserialize)]
struct Head {
    version: u64,
    kind: String,
}

/// What a later run needs of it; the rest can be computed again.
#[derive(Deserialize)]
struct Document {
    host: Host,
    rounds: Rounds,
    workloads: Vec<ReadTiming>,
    not_run: Vec<Skip>,
}

#[derive(Deserialize)]
struct ReadWorkload {
    benchmark: String,
    parameters: BTreeMap<String, i64>,
    abi: Option<String>,
}

#[derive(Deserialize)]
struct ReadTiming {
    #[serde(flatten)]
    workload: ReadWorkload,
    per: String,
    less: Option<ReadWorkload>,
    operations: u64,
    nanoseconds: Vec<u64>,
}

/// The times of an earlier run.
///
/// # Errors
/// When the bytes are no document of `tollgate run` of this version.
pub fn read(document: &[u8]) -> Result<Timings, ReadError> {
    let Head { version, kind } = serde_json::from_slice(document)?;
    if version != u64::from(RUN_VERSION) || kind != "run" {
        return Err(ReadError::Kind { kind, version });
    }
    let document: Document = serde_json::from_slice(document)?;
    let timings = document.workloads.into_iter().map(timing);
    let timings: Vec<Timing> = timings.collect::<Result<_, _>>()?;
    each_once(&timings)?;
    Ok(Timings {
        host: document.host,
        rounds: document.rounds,
        timings,
        not_run: document.not_run,
    })
}

/// What a document has times of. Nothing where it is none of a run.
#[must_use]
pub fn timed_in(document: &[u8]) -> BTreeSet<String> {
    let timings = read(document).map_or_else(|_| Vec::new(), |read| read.timings);
    let workloads = timings.iter().map(|timing| timing.workload.to_string());
    workloads.collect()
}

fn each_once(timings: &[Timing]) -> Result<(), ReadError> {
    let mut known = BTreeSet::new();
    let again = timings
        .iter()
        .find(|timing| !known.insert(&timing.workload));
    match again {
        Some(timing) => Err(ReadError::Twice(timing.workload.to_string())),
        None => Ok(()),
    }
}

fn timing(read: ReadTiming) -> Result<Timing, ReadError> {
    let workload = workload(read.workload);
    if read.operations == 0 {
        return Err(ReadError::Operations(workload.to_string()));
    }
    let repetitions = answer::fits::<u32, _>(read.nanoseconds.len()).unwrap_or(u32::MAX);
    if !(Rounds::FEWEST..=Rounds::MOST).contains(&repetitions) {
        return Err(ReadError::Repetitions {
            workload: workload.to_string(),
            found: read.nanoseconds.len(),
        });
    }
    if read.nanoseconds.contains(&0) {
        return Err(ReadError::Time(workload.to_string()));
    }
    Ok(Timing {
        workload,
        per: read.per,
        less: read.less.map(self::workload),
        operations: read.operations,
        nanoseconds: read.nanoseconds,
    })
}

/// Parameters in the order of the plan, which is that of their names.
fn workload(read: ReadWorkload) -> Workload {
    Workload {
        benchmark: read.benchmark,
        parameters: read.parameters.into_iter().collect(),
        abi: read.abi,
        cpu: None,
    }
}
