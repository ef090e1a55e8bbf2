//! A series for programs; `schema/series.schema.json` describes it.

use serde::Serialize;
use tollgate_defect::Defect;
use tollgate_measure::{Figure, Layout, PointDifference, Series, SeriesPoint, SeriesRow, Verdict};

use super::commands::script;
use crate::json::to_json;
use crate::words;

/// The version of the JSON form of a series.
pub const SERIES_VERSION: u32 = 1;

/// The series as a JSON document, `schema/series.schema.json`, that ends with a
/// newline.
///
/// # Errors
/// None that input can cause.
pub fn series_json(series: &Series) -> Result<String, Defect> {
    let rows = series.rows();
    to_json(&Document {
        version: SERIES_VERSION,
        kind: "series",
        exit_code: series.exit_code(),
        statement: words::series(series),
        setting: series.comparisons.first().map(|one| &one.setting),
        points: series
            .points
            .iter()
            .enumerate()
            .map(|(at, point)| JsonPoint::new(series, at, point))
            .collect(),
        workloads: rows.iter().map(JsonRow::new).collect(),
        commands: script(&series.commands),
    })
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    kind: &'static str,
    exit_code: u8,
    statement: String,
    setting: Option<&'a tollgate_measure::Setting>,
    points: Vec<JsonPoint<'a>>,
    workloads: Vec<JsonRow>,
    commands: Vec<String>,
}

#[derive(Serialize)]
struct JsonPoint<'a> {
    number: usize,
    title: &'a str,
    patch: &'a str,
    image: &'a str,
    /// Against the first point; null for that itself.
    verdict: Option<Verdict>,
    changed: Vec<String>,
    differences: Vec<PointDifference>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layouts: Vec<Layout>,
    notes: Vec<String>,
}

impl<'a> JsonPoint<'a> {
    fn new(series: &'a Series, at: usize, point: &'a SeriesPoint) -> Self {
        let comparison = at.checked_sub(1).and_then(|at| series.comparisons.get(at));
        let changed = series.changes(at);
        Self {
            number: point.number,
            title: &point.title,
            patch: &point.patch,
            image: &point.image.id,
            verdict: comparison.map(|one| one.verdict),
            changed: changed
                .iter()
                .map(|change| change.row.workload.to_string())
                .collect(),
            differences: series.differences(at),
            layouts: series.layouts(at),
            notes: comparison
                .map(|one| one.notes.iter().map(words::note).collect())
                .unwrap_or_default(),
        }
    }
}

#[derive(Serialize)]
struct JsonRow {
    workload: String,
    per: String,
    control: bool,
    /// In the order of the points; null where a point has no count.
    figures: Vec<Option<JsonFigure>>,
}

impl JsonRow {
    fn new(row: &SeriesRow<'_>) -> Self {
        let figure = |at: usize| {
            let (save, load) = row.registers(at)?;
            let difference = |figure: Option<Figure>| figure.map(|one| one.difference().value());
            Some(JsonFigure {
                kernel: row.kernel(at)?.value(),
                exact: row.exact(at),
                to_base: difference(row.against_base(at)).unwrap_or_default(),
                to_last: difference(row.step(at)),
                save: save.value(),
                load: load.value(),
            })
        };
        Self {
            workload: row.workload.to_string(),
            per: row.per().to_owned(),
            control: row.control,
            figures: (0..row.measured.len()).map(figure).collect(),
        }
    }
}

#[derive(Serialize)]
struct JsonFigure {
    kernel: f64,
    exact: bool,
    to_base: f64,
    to_last: Option<f64>,
    save: f64,
    load: f64,
}
