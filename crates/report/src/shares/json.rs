//! What was found in files, for programs; `schema/profile.schema.json` describes the
//! document.

use serde::Serialize;
use tollgate_defect::Defect;
use tollgate_profile::{
    Annotation, Boundary, Explained, GateShare, Profile, Series, Side, TimeTable,
};

use super::text::ReadFile;
use crate::json::to_json;
use crate::name::JsonFile;

/// The version of the JSON form; it grows when a reader would break.
pub const PROFILE_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    kind: &'static str,
    files: Vec<JsonRead<'a>>,
}

#[derive(Serialize)]
struct JsonRead<'a> {
    #[serde(flatten)]
    name: JsonFile<'a>,
    profiles: Vec<JsonProfile<'a>>,
    annotations: Vec<JsonAnnotation<'a>>,
    gates: &'a [GateShare],
    times: Vec<JsonTimes<'a>>,
    series: &'a [Series],
}

#[derive(Serialize)]
struct JsonProfile<'a> {
    #[serde(flatten)]
    profile: &'a Profile,
    /// In percent, of the rows that are listed.
    listed: f64,
    unresolved: JsonUnresolved,
    boundary: &'a Boundary,
    /// None without a tree.
    explained: Option<&'a [Explained]>,
}

#[derive(Serialize)]
struct JsonUnresolved {
    percent: f64,
    names: usize,
}

#[derive(Serialize)]
struct JsonAnnotation<'a> {
    #[serde(flatten)]
    annotation: &'a Annotation,
    instructions: usize,
    percent: f64,
}

#[derive(Serialize)]
struct JsonTimes<'a> {
    #[serde(flatten)]
    table: &'a TimeTable,
    sides: Vec<Side>,
    /// After by before, a row; none where the heads do not name one of each.
    ratios: Option<Vec<f64>>,
}

/// Everything that was found, as a JSON document that ends with a newline.
///
/// # Errors
/// None that input can cause.
pub fn profile_json(files: &[ReadFile<'_>]) -> Result<String, Defect> {
    to_json(&Document {
        version: PROFILE_VERSION,
        kind: "profile",
        files: files.iter().map(read).collect(),
    })
}

fn read<'a>(file: &'a ReadFile<'_>) -> JsonRead<'a> {
    let pairs = file
        .reading
        .profiles
        .iter()
        .zip(&file.boundaries)
        .enumerate();
    let profile = |(at, (profile, boundary)): (usize, (&'a Profile, &'a Boundary))| {
        let (percent, names) = profile.unresolved();
        JsonProfile {
            profile,
            listed: profile.shown(),
            unresolved: JsonUnresolved { percent, names },
            boundary,
            explained: file.explained.get(at).map(Vec::as_slice),
        }
    };
    let annotation = |annotation: &'a Annotation| JsonAnnotation {
        annotation,
        instructions: annotation.lines.len(),
        percent: annotation.percent(),
    };
    JsonRead {
        name: file.name.into(),
        profiles: pairs.map(profile).collect(),
        annotations: file.reading.annotations.iter().map(annotation).collect(),
        gates: &file.gates,
        times: file.reading.times.iter().map(times).collect(),
        series: &file.series,
    }
}

fn times(table: &TimeTable) -> JsonTimes<'_> {
    let ratio = |(before, after): (usize, usize)| -> Option<Vec<f64>> {
        let of_row = |row: &tollgate_profile::TimeRow| {
            let (old, new) = (row.nanoseconds.get(before)?, row.nanoseconds.get(after)?);
            (*old > 0.0).then(|| new / old)
        };
        table.rows.iter().map(of_row).collect()
    };
    JsonTimes {
        table,
        sides: table.sides(),
        ratios: table.pair().and_then(ratio),
    }
}
