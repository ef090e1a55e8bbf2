//! Reads what `json` has written, for a later run to be compared with.

use std::collections::BTreeMap;

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
    /// A workload without operations.
    #[error("{0} has 0 operations in a repetition")]
    Operations(String),
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
    Ok(Timings {
        host: document.host,
        rounds: document.rounds,
        timings: timings.collect::<Result<_, _>>()?,
        not_run: document.not_run,
    })
}

fn timing(read: ReadTiming) -> Result<Timing, ReadError> {
    let workload = workload(read.workload);
    if read.operations == 0 {
        return Err(ReadError::Operations(workload.to_string()));
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
