//! A series for the terminal and for programs.

use crate::document::document;
use serde::Serialize;
use tollgate_defect::Defect;
use tollgate_measure::{Comparison, Figure, Ratio, Series, SeriesPoint, SeriesRow, Verdict};

use super::facts;
use super::text::{WIDTH, labelled, plural, shorten, signed, wrap};

/// The version of the JSON form of a series.
pub const SERIES_VERSION: u32 = 1;

/// The longest subject of a patch in a table, in columns.
const TITLE: usize = 28;
/// How far the text behind a label is indented.
const INDENT: usize = 13;

/// A series as text of at most 80 columns: a table for each workload that any
/// point moved, what each patch changed, the checks, and the verdict last.
#[must_use]
pub fn series_terminal(series: &Series) -> String {
    let rows = series.rows();
    let moved = rows.iter().filter(|row| row.ever_moved());
    let mut parts = vec![head(series)];
    parts.extend(moved.map(|row| table(series, row)));
    parts.push(unmoved(&rows));
    parts.push(patches(series));
    parts.push(checks(series));
    parts.push(setting(series));
    parts.push(verdict(series));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn head(series: &Series) -> String {
    let subject = series
        .comparisons
        .first()
        .map_or("", |comparison| &comparison.setting.subject);
    let points = plural(series.points.len(), "point");
    let title = format!("{subject}: a series measured at {points}");
    let points = series.points.iter().map(|point| {
        let label = format!("{:>3}", point.number);
        labelled(&label, &point.title, 5, WIDTH)
    });
    let points: String = points.collect();
    format!("{}\n{points}", wrap(&title, WIDTH).join("\n"))
}

/// The seed's table: a line for each point, its change against the base and
/// against the point before.
fn table(series: &Series, row: &SeriesRow<'_>) -> String {
    let registers = (0..series.points.len()).any(|at| {
        row.registers(at)
            .is_some_and(|(save, load)| !save.is_zero() || !load.is_zero())
    });
    let mut out = shorten(
        &format!("{}, kernel instructions per {}", row.workload, row.per()),
        WIDTH,
    );
    out.push_str(&format!(
        "\n{:>3}  {:>12}{:>10}{:>10}",
        "", "", "to base", "to last"
    ));
    if registers {
        out.push_str(&format!("{:>9}{:>9}", "save", "load"));
    }
    out.push('\n');
    for (at, point) in series.points.iter().enumerate() {
        out.push_str(&line(row, at, point, registers));
    }
    out
}

fn line(row: &SeriesRow<'_>, at: usize, point: &SeriesPoint, registers: bool) -> String {
    let kernel = row
        .kernel(at)
        .map_or_else(|| "-".to_owned(), |kernel| kernel.decimal(2));
    let median = if row.exact(at) || row.kernel(at).is_none() {
        ' '
    } else {
        '~'
    };
    let step = percent(row.step(at));
    let base = percent(row.against_base(at).filter(|_| at > 0));
    let mut line = format!(
        "{:>3}  {median}{kernel:>11}{base:>10}{step:>10}",
        point.number
    );
    if let Some((save, load)) = row.registers(at).filter(|_| registers) {
        line.push_str(&format!("{:>9}{:>9}", two(save), two(load)));
    }
    // A word where the eye is to stop.
    if row.moved(at) {
        line.push_str("  <- ");
        line.push_str(&shorten(
            &point.title,
            WIDTH.saturating_sub(line.chars().count()),
        ));
    }
    line.trim_end().to_owned() + "\n"
}

fn percent(figure: Option<Figure>) -> String {
    figure
        .map(|figure| match figure.difference().is_zero() {
            true => "0".to_owned(),
            false => figure.signed_percent(1).unwrap_or_default(),
        })
        .unwrap_or_default()
}

fn two(ratio: Ratio) -> String {
    ratio.decimal(2)
}

fn unmoved(rows: &[SeriesRow<'_>]) -> String {
    let text = unmoved_text(rows);
    match text.is_empty() {
        true => text,
        false => wrap(&text, WIDTH).join("\n") + "\n",
    }
}

/// The workloads that no point moved, in a sentence; nothing where each moved.
pub(super) fn unmoved_text(rows: &[SeriesRow<'_>]) -> String {
    let names: Vec<String> = rows
        .iter()
        .filter(|row| !row.ever_moved())
        .map(|row| row.workload.to_string())
        .collect();
    match names.len() {
        0 => String::new(),
        count => format!(
            "The same at every point: {} ({}).",
            plural(count, "workload"),
            names.join(", ")
        ),
    }
}

/// Each patch with what it changed, the largest change first.
fn patches(series: &Series) -> String {
    let mut out = "What each patch changed\n".to_owned();
    for (point, said) in series.points.iter().skip(1).zip(patch_texts(series)) {
        let text = format!("{}: {said}", shorten(&point.title, TITLE + TITLE));
        out.push_str(&labelled(&format!("{:>3}", point.number), &text, 5, WIDTH));
    }
    out
}

/// What each point after the first changed against the one before it.
pub(super) fn patch_texts(series: &Series) -> Vec<String> {
    let said = |at: usize| {
        let changes = series.changes(at);
        match changes.first() {
            None => "nothing".to_owned(),
            Some(first) => format!(
                "{}, most {} ({} -> {} per {}, {})",
                plural(changes.len(), "workload"),
                first.row.workload,
                first.figure.before.decimal(2),
                first.figure.after.decimal(2),
                first.row.per(),
                percent(Some(first.figure)),
            ),
        }
    };
    (1..series.points.len()).map(said).collect()
}

fn checks(series: &Series) -> String {
    let mut out = "Checks\n".to_owned();
    let mut put = |label: &str, text: &str| out.push_str(&labelled(label, text, INDENT, WIDTH));
    if let Some(repeat) = series
        .comparisons
        .first()
        .and_then(|one| one.repeat.as_ref())
    {
        let text = format!(
            "the first point run twice, {} in {} and {} of behaviour",
            plural(
                repeat.moved.len() + repeat.behaviour.differences.len(),
                "difference"
            ),
            plural(repeat.workloads, "workload"),
            plural(repeat.behaviour.points, "point"),
        );
        put("A against A", &text);
    }
    for (point, comparison) in series.points.iter().skip(1).zip(&series.comparisons) {
        let behaviour = &comparison.behaviour;
        let text = format!(
            "point {}: {} of behaviour over {}, control {}",
            point.number,
            plural(behaviour.differences.len(), "difference"),
            plural(behaviour.points, "input"),
            control(comparison),
        );
        put("Point", &text);
        for note in comparison.notes.iter().filter(|note| note.incomplete()) {
            put("Note", &format!("point {}: {note}", point.number));
        }
    }
    let mut notes: Vec<String> = Vec::new();
    for comparison in &series.comparisons {
        let kept = comparison.notes.iter().filter(|note| !note.incomplete());
        notes.extend(kept.map(ToString::to_string));
    }
    notes.sort();
    notes.dedup();
    for note in &notes {
        put("Note", note);
    }
    out
}

fn control(comparison: &Comparison) -> &'static str {
    let moved = comparison.moved_controls().next().is_some();
    match (comparison.controls().next().is_some(), moved) {
        (false, _) => "absent",
        (true, false) => "unmoved",
        (true, true) => "moved",
    }
}

fn setting(series: &Series) -> String {
    let Some(comparison) = series.comparisons.first() else {
        return String::new();
    };
    // The first two are the images of this comparison.
    let facts = facts::setting(comparison);
    let facts = facts.iter().skip(2);
    let lines = facts.map(|(label, text)| labelled(label, text, INDENT, WIDTH));
    let lines: String = lines.collect();
    format!("Measured on\n{lines}")
}

fn verdict(series: &Series) -> String {
    let title = match series.deciding() {
        Some((_, comparison)) => comparison.verdict.title().to_uppercase(),
        None => Verdict::Incomplete.title().to_uppercase(),
    };
    let text = wrap(&series_statement(series), WIDTH).join("\n");
    format!("{title}\n{text}\n")
}

/// What came of a series, in sentences: the patch that made the middle worse than
/// both ends, and how the last point stands to the first.
#[must_use]
pub fn series_statement(series: &Series) -> String {
    let peak = series.peak().map(|peak| {
        format!(
            "{} is dearer in the middle than at both ends: patch {} \"{}\" made it {} kernel \
             instructions per {} ({}, {} against the base). ",
            peak.row.workload,
            peak.point.number,
            peak.point.title,
            peak.figure.after.decimal(2),
            peak.row.per(),
            signed(peak.figure.difference(), 2),
            percent(Some(peak.figure)),
        )
    });
    let end = series.deciding().map_or_else(
        || "The series has one point; there is nothing to compare it with.".to_owned(),
        |(point, comparison)| {
            format!(
                "Point {} against the first: {}",
                point.number,
                comparison.statement()
            )
        },
    );
    format!("{}{end}", peak.unwrap_or_default())
}

/// The series as a JSON document, `schema/series.schema.json`, that ends with a
/// newline.
///
/// # Errors
/// None that input can cause.
pub fn series_json(series: &Series) -> Result<String, Defect> {
    let rows = series.rows();
    document(&Document {
        version: SERIES_VERSION,
        kind: "series",
        exit_code: series.exit_code(),
        statement: series_statement(series),
        setting: series.comparisons.first().map(|one| &one.setting),
        points: series
            .points
            .iter()
            .enumerate()
            .map(|(at, point)| JsonPoint::new(series, at, point))
            .collect(),
        workloads: rows.iter().map(JsonRow::new).collect(),
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
}

#[derive(Serialize)]
struct JsonPoint<'a> {
    number: usize,
    title: &'a str,
    image: &'a str,
    /// Against the first point; null for that itself.
    verdict: Option<Verdict>,
    changed: Vec<String>,
    notes: Vec<String>,
}

impl<'a> JsonPoint<'a> {
    fn new(series: &'a Series, at: usize, point: &'a SeriesPoint) -> Self {
        let comparison = at.checked_sub(1).and_then(|at| series.comparisons.get(at));
        let changed = series.changes(at);
        Self {
            number: point.number,
            title: &point.title,
            image: &point.image.id,
            verdict: comparison.map(|one| one.verdict),
            changed: changed
                .iter()
                .map(|change| change.row.workload.to_string())
                .collect(),
            notes: comparison
                .map(|one| one.notes.iter().map(ToString::to_string).collect())
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

#[cfg(test)]
mod tests;
