//! A series as a document: what each patch changed, and a table and a curve for each
//! workload that any of them moved.

use tollgate_measure::{Comparison, Figure, Ratio, Series, SeriesPoint, SeriesRow, Verdict};

use super::{behaviour, checks, commands, proof, tables};
use crate::document::{self, Block, Cell, Document, Extent, Fact, Kind, Section, Table};
use crate::text::plural;
use crate::words;

/// What the plots of a series have in common.
const OF_POINTS: &str = "Counts under QEMU TCG, not time; point 0 is the base. Filled marks are \
    exact, hollow ones medians.";
/// What stands below the last table.
const COUNTED: &str = "Instructions of the kernel, counted under QEMU TCG: not time. Exact, but \
    medians where it says so.";

/// A series with all that stands behind it.
#[must_use]
pub fn series_document(series: &Series) -> Document {
    let first = series.comparisons.first();
    let rows = series.rows();
    let deciding = series.deciding().map(|(_, comparison)| comparison.verdict);
    let verdict = deciding.unwrap_or(Verdict::Incomplete);
    let subject = first.map_or("", |comparison| &comparison.setting.subject);
    let points = plural(series.points.len(), "point");
    let title = format!("{subject}: a series measured at {points}");
    let word = words::title(verdict).to_owned();
    Document {
        short: format!("{subject}, a series: {word}"),
        verdicts: vec![document::Verdict {
            word,
            tone: words::tone(verdict),
            statement: words::series(series),
            ..document::Verdict::default()
        }],
        sections: sections(series, &rows, first),
        title,
        ..Document::default()
    }
}

fn sections(series: &Series, rows: &[SeriesRow<'_>], first: Option<&Comparison>) -> Vec<Section> {
    let facts = |title: &str, facts| Section::new(title, vec![Block::Facts(facts)]);
    let mut sections = vec![
        facts("Points", points(series)),
        facts("What each patch changed", patches(series)),
    ];
    sections.extend(otherwise(series));
    sections.extend(texts(series));
    sections.extend(proof::plots(
        "From point to point",
        OF_POINTS,
        series.plots(),
    ));
    let moved: Vec<_> = rows.iter().filter(|row| row.ever_moved()).collect();
    let last = moved.len().saturating_sub(1);
    sections.extend(moved.into_iter().enumerate().map(|(at, row)| {
        let title = format!("{}, kernel instructions per {}", row.workload, row.per());
        let table = table(series, row);
        let table = if at == last {
            table.noted(COUNTED)
        } else {
            table
        };
        Section::new(title, vec![Block::Table(table)])
    }));
    sections.extend(unmoved(rows));
    sections.push(facts("Checks", brief_checks(series)).only(Extent::Brief));
    sections.push(facts("Checks", all_checks(series)).only(Extent::Full));
    if let Some(first) = first {
        sections.push(facts("Measured on", checks::setting(first)));
    }
    sections.push(proof::limits());
    sections.extend(commands::section(&series.commands));
    sections
}

fn points(series: &Series) -> Vec<Fact> {
    let verdicts = series.comparisons.iter();
    let verdicts = verdicts.map(|one| format!("{} against the base", words::title(one.verdict)));
    let verdicts = std::iter::once("the base".to_owned()).chain(verdicts);
    let point = |(point, verdict): (&SeriesPoint, String)| {
        let text = format!(
            "{}; {verdict}; image {}",
            point.title,
            words::short_id(&point.image.id)
        );
        Fact::plain(point.number.to_string(), text)
    };
    series.points.iter().zip(verdicts).map(point).collect()
}

/// A row for each point, its change against the base and against the point before.
fn table(series: &Series, row: &SeriesRow<'_>) -> Table {
    let registers = (0..series.points.len()).filter_map(|at| row.registers(at));
    let registers = registers
        .into_iter()
        .any(|(save, load)| !save.is_zero() || !load.is_zero());
    let mut table = Table::new(&[("point", Kind::Word), ("kernel", Kind::Number)]);
    for head in ["to base", "change", "to last", "change"] {
        table.column(head, Kind::Number, 0);
    }
    if registers {
        table.column("XSAVE", Kind::Number, 0);
        table.column("XRSTOR", Kind::Number, 0);
    }
    for (at, point) in series.points.iter().enumerate() {
        table.row(cells(row, at, point, registers));
    }
    let moved = series.points.iter().enumerate().map(|(at, point)| {
        let title = if row.moved(at) { &point.title } else { "" };
        Cell::from(title)
    });
    tables::with_last(table, "moved by", moved.collect())
}

fn cells(row: &SeriesRow<'_>, at: usize, point: &SeriesPoint, registers: bool) -> Vec<Cell> {
    let shown = |ratio: Option<Ratio>| {
        Cell::from(ratio.map_or_else(|| "-".to_owned(), |ratio| ratio.decimal(2)))
    };
    let kernel = row.kernel(at);
    let kernel = shown(kernel).tagged("median", kernel.is_some() && !row.exact(at));
    let mut cells = vec![point.number.to_string().into(), kernel];
    cells.extend(moved(row.against_base(at).filter(|_| at > 0)));
    cells.extend(moved(row.step(at)));
    if registers {
        let (save, load) = row.registers(at).unzip();
        cells.extend([shown(save), shown(load)]);
    }
    cells
}

fn moved(figure: Option<Figure>) -> [Cell; 2] {
    figure.map_or_else(Default::default, tables::moved)
}

/// The workloads that no point moved, in a sentence; nothing where each moved.
fn unmoved(rows: &[SeriesRow<'_>]) -> Option<Section> {
    let names: Vec<String> = rows
        .iter()
        .filter(|row| !row.ever_moved())
        .map(|row| row.workload.to_string())
        .collect();
    let text = format!("{}: {}.", plural(names.len(), "workload"), names.join(", "));
    let some = !names.is_empty();
    some.then(|| Section::new("The same at every point", vec![Block::Text(text)]))
}

/// What each point after the first changed against the one before it, the largest
/// change first.
fn patches(series: &Series) -> Vec<Fact> {
    let counts = |at: usize| {
        let changes = series.changes(at);
        changes.first().map(|first| {
            format!(
                "{}, most {} ({} -> {} per {}, {})",
                plural(changes.len(), "workload"),
                first.row.workload,
                first.figure.before.decimal(2),
                first.figure.after.decimal(2),
                first.row.per(),
                tables::signed_percent(first.figure),
            )
        })
    };
    let said = |at: usize| {
        let inputs = series.differences(at).len();
        let behaviour =
            (inputs > 0).then(|| format!("behaves otherwise for {}", plural(inputs, "input")));
        let all: Vec<String> = behaviour.into_iter().chain(counts(at)).collect();
        match all.is_empty() {
            true => "nothing".to_owned(),
            false => all.join("; "),
        }
    };
    let later = series.points.iter().enumerate().skip(1);
    later
        .map(|(at, point)| {
            let text = format!("{}: {}", point.title, said(at));
            Fact::plain(point.number.to_string(), text)
        })
        .collect()
}

/// What each point does otherwise than the one before it, in words and bytes.
fn otherwise(series: &Series) -> Option<Section> {
    let points = series.points.iter().enumerate();
    let facts = points.flat_map(|(at, point)| {
        let (differences, layouts) = (series.differences(at), series.layouts(at));
        let lines = behaviour::lines(&differences, &layouts, ('A', 'B')).into_iter();
        lines.map(|line| Fact::plain(point.number.to_string(), line))
    });
    let facts: Vec<Fact> = facts.collect();
    let note = Block::Text("A is the point before, B the one that is named.".to_owned());
    let some = !facts.is_empty();
    some.then(|| Section::new("What behaves otherwise", vec![Block::Facts(facts), note]))
}

/// What makes each point of the one before it, where a page has room for it.
fn texts(series: &Series) -> Option<Section> {
    let text = |pair: &[SeriesPoint]| {
        let [before, point] = pair else {
            return None;
        };
        let (a, b) = (before.number, point.number);
        let summary = format!("point {b} is point {a} with this: {}", point.title);
        Some(proof::folded(summary, &point.patch))
    };
    let texts: Vec<Block> = series.points.windows(2).filter_map(text).collect();
    let some = series.points.iter().any(|point| !point.patch.is_empty());
    some.then(|| Section::new("The patches", texts).only(Extent::Full))
}

/// One line for each point, and each note once.
fn brief_checks(series: &Series) -> Vec<Fact> {
    let first = series.comparisons.first();
    let repeat = first.and_then(|one| one.repeat.as_ref()).map(|repeat| {
        let differing = repeat.moved.len() + repeat.behaviour.differences.len();
        let text = format!(
            "the first point run twice, {} in {} and {} of behaviour",
            plural(differing, "difference"),
            plural(repeat.workloads, "workload"),
            plural(repeat.behaviour.points, "point"),
        );
        Fact::check("A against A", differing == 0, text)
    });
    let mut facts: Vec<Fact> = repeat.into_iter().collect();
    let mut notes: Vec<Fact> = Vec::new();
    for (point, comparison) in series.points.iter().skip(1).zip(&series.comparisons) {
        facts.push(point_check(point, comparison));
        for note in &comparison.notes {
            let mut fact = checks::note(note);
            if note.incomplete() {
                fact.text = format!("point {}: {}", point.number, fact.text);
                facts.push(fact);
            } else if !notes.iter().any(|known| known.text == fact.text) {
                notes.push(fact);
            }
        }
    }
    facts.into_iter().chain(notes).collect()
}

fn point_check(point: &SeriesPoint, comparison: &Comparison) -> Fact {
    let behaviour = &comparison.behaviour;
    let moved = comparison.moved_controls().next().is_some();
    let control = match (comparison.controls().next().is_some(), moved) {
        (false, _) => "absent",
        (true, false) => "unmoved",
        (true, true) => "moved",
    };
    let text = format!(
        "point {}: {} of behaviour over {}, control {control}",
        point.number,
        plural(behaviour.differences.len(), "difference"),
        plural(behaviour.points, "input"),
    );
    Fact::check("Point", !moved && behaviour.differences.is_empty(), text)
}

/// All checks of every point against the base; a line says which point it is of.
fn all_checks(series: &Series) -> Vec<Fact> {
    let points = series.points.iter().skip(1).zip(&series.comparisons);
    let of = |(point, comparison): (&SeriesPoint, &Comparison)| {
        let number = point.number;
        let facts = checks::checks(comparison).into_iter();
        facts.map(move |fact| Fact {
            text: format!("point {number}: {}", fact.text),
            ..fact
        })
    };
    points.flat_map(of).collect()
}

#[cfg(test)]
mod tests;
