//! What stands above the sections of several variants: a table with a column
//! for each, and their verdicts.

use serde::Serialize;
use tollgate_measure::{Comparison, Per, Proof, Ratio, Row};

use super::{arrows, minus, tone, way};
use crate::comparison::plot::Growth;
use crate::comparison::text::clean;
use crate::comparison::{claims, facts};

/// The whole page.
#[derive(Serialize)]
pub(super) struct Document {
    subject: String,
    /// Of the page's title.
    verdict: String,
    /// None where there is one section, which then says all.
    overview: Option<Overview>,
    /// What grew with what, drawn; None where the one section shows it.
    growth: Option<Growth>,
    /// Letter and HTML of each variant.
    sections: Vec<(char, String)>,
    /// What was claimed, in the terminal's words.
    claims: Option<String>,
}

#[derive(Serialize)]
struct Overview {
    /// Letter and name, the base first.
    images: Vec<(char, String)>,
    verdicts: Vec<Line>,
    not_run: Vec<(String, String)>,
    rows: Vec<Cells>,
}

#[derive(Serialize)]
struct Line {
    letter: char,
    variant: String,
    title: &'static str,
    tone: &'static str,
    statement: String,
}

#[derive(Serialize)]
struct Cells {
    workload: String,
    control: bool,
    median: bool,
    per: String,
    cells: Vec<Cell>,
}

#[derive(Serialize)]
struct Cell {
    text: String,
    percent: String,
    way: &'static str,
}

impl Document {
    pub(super) fn new(
        proof: &Proof,
        sections: Vec<(char, String)>,
        alone: bool,
        growth: Option<Growth>,
    ) -> Self {
        let verdict = match proof.comparisons.as_slice() {
            [one] => one.verdict.title().to_owned(),
            many => format!("{} variants", many.len()),
        };
        Self {
            subject: clean(&proof.subject),
            verdict,
            growth,
            overview: (!alone).then(|| Overview::new(proof)),
            sections,
            claims: claims::text(proof),
        }
    }
}

impl Overview {
    fn new(proof: &Proof) -> Self {
        let first = proof.comparisons.first();
        let base = first.map(|one| (one.before.letter, clean(&one.before.variant)));
        let variants = proof.comparisons.iter();
        let variants = variants.map(|one| (one.after.letter, clean(&one.after.variant)));
        let images: Vec<_> = base.into_iter().chain(variants).collect();
        let not_run = proof.not_run.iter();
        let not_run = not_run.map(|one| (clean(&one.variant), clean(&one.reason)));
        let rows = proof.rows();
        Self {
            verdicts: proof.comparisons.iter().map(Line::new).collect(),
            not_run: not_run.collect(),
            rows: rows.iter().map(|row| Cells::new(row, &images)).collect(),
            images,
        }
    }
}

impl Line {
    fn new(comparison: &Comparison) -> Self {
        Self {
            letter: comparison.after.letter,
            variant: clean(&comparison.after.variant),
            title: comparison.verdict.title(),
            tone: tone(comparison.verdict),
            statement: arrows(&clean(&comparison.statement())),
        }
    }
}

impl Cells {
    fn new(row: &Row<'_>, images: &[(char, String)]) -> Self {
        let figures = row.figures(Per::Unit, |measured| measured.kernel.instructions);
        let base = figures.first().map(|(_, ratio)| *ratio);
        let cell = |(letter, _): &(char, String)| {
            let found = figures.iter().find(|(known, _)| known == letter);
            let ratio = found.map(|(_, ratio)| *ratio);
            ratio
                .zip(base)
                .map_or_else(Cell::uncounted, |(ratio, base)| Cell::new(ratio, base))
        };
        Self {
            workload: clean(&row.comparison.workload.to_string()),
            control: row.comparison.control,
            median: row.columns.iter().any(|(_, one)| !one.repetitions.exact()),
            per: clean(row.comparison.per_name(Per::Unit)),
            cells: images.iter().map(cell).collect(),
        }
    }
}

impl Cell {
    /// Of an image on which the workload has no count.
    fn uncounted() -> Self {
        Self {
            text: "not counted".to_owned(),
            percent: String::new(),
            way: "same",
        }
    }

    fn new(ratio: Ratio, base: Ratio) -> Self {
        let figure = tollgate_measure::Figure {
            before: base,
            after: ratio,
        };
        Self {
            text: ratio.decimal(2),
            percent: minus(&facts::signed_percent(figure)),
            way: way(figure.difference()),
        }
    }
}
