//! A series as one HTML page: the verdict, a table and a plot over the points
//! for each workload that any of them moved, and what each patch changed.

use minijinja::value::Serde;
use serde::Serialize;
use tollgate_defect::{Defect, OrDefect as _};
use tollgate_measure::{Figure, LIMITS, Ratio, Series, SeriesPoint, SeriesRow};

use super::super::plot::Growth;
use super::super::series::{patch_texts, series_statement, unmoved_text};
use super::{Check, NO_PAGE, arrows, clean, environment, facts, minus, signed, tone};
use crate::comparison::facts::Tone;

/// What the plots of a series have in common.
const OF_POINTS: &str = "Counts under QEMU TCG, not time; point 0 is the base. Filled marks are \
    exact, hollow ones medians.";
const PAGE: &str = "series.html";
const PAGE_TEXT: &str = include_str!("../../../templates/series.html");

/// A series as a self-contained HTML page in UTF-8. Everything that comes from a
/// guest, a tree or a user is escaped.
///
/// # Errors
/// When template and data do not fit, which no input can cause.
pub fn series_html(series: &Series) -> Result<String, Defect> {
    rendered(series).or_defect(NO_PAGE)
}

fn rendered(series: &Series) -> Result<String, minijinja::Error> {
    let mut environment = environment()?;
    environment.add_template(PAGE, PAGE_TEXT)?;
    let document = Document::new(series);
    environment.get_template(PAGE)?.render(Serde(document))
}

#[derive(Serialize)]
struct Document {
    subject: String,
    verdict: &'static str,
    tone: &'static str,
    statement: String,
    points: Vec<Point>,
    growth: Option<Growth>,
    /// Of the headings.
    level: u8,
    tables: Vec<Table>,
    unmoved: String,
    checks: Vec<Check>,
    setting: Vec<(String, String)>,
    limits: &'static [&'static str],
}

#[derive(Serialize)]
struct Point {
    number: usize,
    title: String,
    image: String,
    /// What its patch changed; empty for the base.
    changed: String,
    verdict: &'static str,
}

/// One workload over the points.
#[derive(Serialize)]
struct Table {
    title: String,
    rows: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    number: usize,
    kernel: String,
    median: bool,
    to_base: String,
    to_last: String,
    save: String,
    load: String,
    moved: bool,
    title: String,
}

impl Document {
    fn new(series: &Series) -> Self {
        let first = series.comparisons.first();
        let deciding = series.deciding().map(|(_, comparison)| comparison.verdict);
        let verdict = deciding.unwrap_or(tollgate_measure::Verdict::Incomplete);
        let rows = series.rows();
        let moved = rows.iter().filter(|row| row.ever_moved());
        let setting = first.map(facts::setting).unwrap_or_default();
        Self {
            subject: clean(first.map_or("", |one| &one.setting.subject)),
            verdict: verdict.title(),
            tone: tone(verdict),
            statement: arrows(&clean(&series_statement(series))),
            points: points(series),
            growth: Growth::new("From point to point", OF_POINTS, &series.plots()),
            level: 2,
            tables: moved.map(|row| Table::new(series, row)).collect(),
            unmoved: unmoved_text(&rows),
            checks: checks(series),
            // The first two are the images of one comparison.
            setting: setting.into_iter().skip(2).collect(),
            limits: LIMITS,
        }
    }
}

fn points(series: &Series) -> Vec<Point> {
    let changed = std::iter::once(String::new()).chain(patch_texts(series));
    let verdicts = series.comparisons.iter().map(|one| one.verdict.title());
    let verdicts = std::iter::once("the base").chain(verdicts);
    let all = series.points.iter().zip(changed).zip(verdicts);
    let point = |((point, changed), verdict): ((&SeriesPoint, String), &'static str)| Point {
        number: point.number,
        title: clean(&point.title),
        image: clean(&point.image.id),
        changed: arrows(&clean(&changed)),
        verdict,
    };
    all.map(point).collect()
}

/// Those of every point against the base; a line says which point it is of.
fn checks(series: &Series) -> Vec<Check> {
    let mut all: Vec<Check> = Vec::new();
    for (point, comparison) in series.points.iter().skip(1).zip(&series.comparisons) {
        for fact in facts::checks(comparison) {
            let text = format!("point {}: {}", point.number, fact.text);
            if fact.tone != Tone::Plain || fact.label == "Note" || fact.label == "Sweeps" {
                all.push(Check::new(fact.label, &text, fact.tone));
            }
        }
    }
    all
}

impl Table {
    fn new(series: &Series, row: &SeriesRow<'_>) -> Self {
        let points = series.points.iter().enumerate();
        let title = format!("{}, kernel instructions per {}", row.workload, row.per());
        Self {
            title: clean(&title),
            rows: points
                .map(|(at, point)| Line::new(row, at, point))
                .collect(),
        }
    }
}

impl Line {
    fn new(row: &SeriesRow<'_>, at: usize, point: &SeriesPoint) -> Self {
        let shown = |ratio: Option<Ratio>| ratio.map_or_else(|| "-".to_owned(), |r| r.decimal(2));
        let (save, load) = row.registers(at).unzip();
        Self {
            number: point.number,
            kernel: shown(row.kernel(at)),
            median: row.kernel(at).is_some() && !row.exact(at),
            to_base: difference(row.against_base(at).filter(|_| at > 0)),
            to_last: difference(row.step(at)),
            save: shown(save),
            load: shown(load),
            moved: row.moved(at),
            title: clean(&point.title),
        }
    }
}

fn difference(figure: Option<Figure>) -> String {
    let text = figure.map(|figure| {
        let percent = facts::signed_percent(figure);
        format!("{} {percent}", signed(figure.difference(), 2))
    });
    minus(text.unwrap_or_default().trim())
}
