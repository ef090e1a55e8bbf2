//! Times for programs; `schema/run.schema.json` describes the document.

use crate::json::to_json;
use std::collections::BTreeMap;
use tollgate_defect::Defect;

use serde::Serialize;
use tollgate_measure::{
    Against, CONFIDENCE_PERCENT, Estimate, Floor, Host, NetTime, RESAMPLES, Rounds, SEED, Skip,
    TimeChange, TimeFinding, Timing, Timings, Workload,
};

/// The version of the JSON form of times; it grows when a reader would break.
pub const RUN_VERSION: u32 = 1;

/// The result of one `tollgate run`, against an earlier one where there is one, as
/// a JSON document that ends with a newline.
/// Times are nanoseconds; those of repetitions are integers for all operations of
/// one, the others for each operation.
///
/// # Errors
/// None that input can cause.
pub fn json(timings: &Timings, against: Option<&Against>, exit_code: u8) -> Result<String, Defect> {
    to_json(&Document {
        version: RUN_VERSION,
        kind: "run",
        exit_code,
        host: &timings.host,
        rounds: &timings.rounds,
        statistics: Statistics {
            confidence_percent: CONFIDENCE_PERCENT,
            resamples: RESAMPLES,
            seed: format!("{SEED:#x}"),
        },
        workloads: timings.timings.iter().map(JsonTiming::new).collect(),
        differences: timings.nets().map(|net| JsonNet::new(&net)).collect(),
        not_run: &timings.not_run,
        against: against.map(JsonAgainst::new),
    })
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    kind: &'static str,
    exit_code: u8,
    host: &'a Host,
    rounds: &'a Rounds,
    statistics: Statistics,
    workloads: Vec<JsonTiming<'a>>,
    differences: Vec<JsonNet<'a>>,
    not_run: &'a [Skip],
    against: Option<JsonAgainst<'a>>,
}

#[derive(Serialize)]
struct Statistics {
    confidence_percent: u32,
    resamples: usize,
    seed: String,
}

#[derive(Serialize)]
struct JsonWorkload<'a> {
    benchmark: &'a str,
    parameters: BTreeMap<&'a str, i64>,
    abi: Option<&'a str>,
}

impl<'a> JsonWorkload<'a> {
    fn new(workload: &'a Workload) -> Self {
        let parameters = workload.parameters.iter();
        Self {
            benchmark: &workload.benchmark,
            parameters: parameters
                .map(|(name, value)| (name.as_str(), *value))
                .collect(),
            abi: workload.abi.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct JsonTiming<'a> {
    #[serde(flatten)]
    workload: JsonWorkload<'a>,
    per: &'a str,
    less: Option<JsonWorkload<'a>>,
    operations: u64,
    nanoseconds: &'a [u64],
    per_operation: Option<JsonFigures>,
}

#[derive(Serialize)]
struct JsonFigures {
    median: f64,
    low: f64,
    high: f64,
    fastest: f64,
    slowest: f64,
}

impl<'a> JsonTiming<'a> {
    fn new(timing: &'a Timing) -> Self {
        Self {
            workload: JsonWorkload::new(&timing.workload),
            per: &timing.per,
            less: timing.less.as_ref().map(JsonWorkload::new),
            operations: timing.operations,
            nanoseconds: &timing.nanoseconds,
            per_operation: figures(timing),
        }
    }
}

fn figures(timing: &Timing) -> Option<JsonFigures> {
    let Estimate { value, low, high } = timing.estimate()?;
    let (fastest, slowest) = timing.range()?;
    Some(JsonFigures {
        median: value,
        low,
        high,
        fastest,
        slowest,
    })
}

#[derive(Serialize)]
struct JsonNet<'a> {
    of: JsonWorkload<'a>,
    less: JsonWorkload<'a>,
    per_operation: Estimate,
    seen: bool,
    could_see: f64,
}

impl<'a> JsonNet<'a> {
    fn new(net: &NetTime<'a>) -> Self {
        Self {
            of: JsonWorkload::new(&net.row.workload),
            less: JsonWorkload::new(&net.less.workload),
            per_operation: net.estimate,
            seen: !net.estimate.includes_zero(),
            could_see: net.estimate.could_see(),
        }
    }
}

#[derive(Serialize)]
struct JsonAgainst<'a> {
    host: &'a Host,
    same_boot: Option<bool>,
    floor_percent: Floor,
    unlike: Vec<String>,
    changes: Vec<JsonChange<'a>>,
    only_before: Vec<JsonWorkload<'a>>,
    only_after: Vec<JsonWorkload<'a>>,
}

#[derive(Serialize)]
struct JsonChange<'a> {
    of: JsonWorkload<'a>,
    less: Option<JsonWorkload<'a>>,
    before: f64,
    after: f64,
    difference: Estimate,
    change: &'static str,
    percent: Option<f64>,
    could_see: f64,
    floor: f64,
}

impl<'a> JsonAgainst<'a> {
    fn new(against: &'a Against) -> Self {
        Self {
            host: &against.host,
            same_boot: against.same_boot,
            floor_percent: against.floor,
            unlike: against.unlike.iter().map(super::against::unlike).collect(),
            changes: against.changes.iter().map(JsonChange::new).collect(),
            only_before: against.only_before.iter().map(JsonWorkload::new).collect(),
            only_after: against.only_after.iter().map(JsonWorkload::new).collect(),
        }
    }
}

impl<'a> JsonChange<'a> {
    fn new(change: &'a TimeChange) -> Self {
        Self {
            of: JsonWorkload::new(&change.workload),
            less: change.less.as_ref().map(JsonWorkload::new),
            before: change.before,
            after: change.after,
            difference: change.difference,
            change: match change.change() {
                TimeFinding::Slower => "slower",
                TimeFinding::Faster => "faster",
                TimeFinding::WithinFloor => "within_floor",
                TimeFinding::NotSeen => "not_seen",
            },
            percent: change.percent(change.difference.value),
            could_see: change.difference.could_see(),
            floor: change.floor,
        }
    }
}
