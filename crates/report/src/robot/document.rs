//! For people: a section for each patch, then where it was built, then what it came to.

use tollgate_robot::{
    Built, Check, Finding, Line, LineState, ObjectReport, PatchReport, Report, Status, Unbuilt,
};

use super::words::{check_word, count, located, ranges, summary};
use crate::document::{Block, Cell, Document, Extent, Kind, Section, Table, Tone, Verdict};
use crate::text::{grouped, plural};

/// What was found of the same patches on one tree or several.
#[must_use]
pub fn robot_document(reports: &[Report]) -> Document {
    let asked = reports.first().map_or("", |one| one.asked.as_str());
    let several = reports.len() > 1;
    Document {
        title: format!("Every edited line of {asked} compiled"),
        short: format!("robot on {asked}"),
        head: Extent::Full,
        sections: reports
            .iter()
            .flat_map(|one| of_tree(one, several))
            .collect(),
        verdicts: reports.iter().map(verdict).collect(),
        ..Document::default()
    }
}

/// The sections of one tree, below a heading where there are several.
fn of_tree(report: &Report, several: bool) -> Vec<Section> {
    let mut sections: Vec<Section> = report.patches.iter().map(patch).collect();
    if !report.cells.is_empty() {
        sections.push(built_in(report));
    }
    match several {
        false => sections,
        true => vec![Section {
            sections,
            ..Section::new(format!("On {} in {}", report.base, report.tree), Vec::new())
        }],
    }
}

fn verdict(report: &Report) -> Verdict {
    let (word, tone) = match report.status() {
        Status::Clean => ("clean", Tone::Good),
        Status::CouldNotTell => ("could not tell", Tone::Doubt),
        Status::Findings => ("something is new and wrong", Tone::Bad),
    };
    Verdict {
        word: word.to_owned(),
        tone,
        statement: format!("{} on {}", report.asked, report.base),
        ..Verdict::default()
    }
}

fn built_in(report: &Report) -> Section {
    let flags = match report.flags.as_str() {
        "" => String::new(),
        flags => format!(" ({flags})"),
    };
    let one = |cell: &tollgate_robot::CellReport| {
        format!("{} ({}): {}", cell.name, cell.compiler, cell.because)
    };
    let cells = report.cells.iter().map(one).collect();
    Section::new(format!("Built in{flags}"), vec![Block::List(cells)])
}

fn patch(patch: &PatchReport) -> Section {
    let (number, all) = patch.number;
    let mut blocks = vec![Block::Text(summary(patch))];
    let lines = |all: Vec<String>| (!all.is_empty()).then_some(Block::Lines(all));
    blocks.extend(lines(patch.findings.iter().map(finding).collect()));
    blocks.extend(lines(patch.lines.iter().map(edited).collect()));
    if !patch.objects.is_empty() {
        blocks.push(Block::Table(objects(&patch.objects)));
    }
    blocks.extend(lines(patch.checks.iter().flat_map(check).collect()));
    blocks.extend(lines(patch.unbuilt.iter().map(not_built).collect()));
    Section::new(format!("[{number}/{all}] {}", patch.subject), blocks)
}

/// As compilers say it, so that an editor finds the place, with where it was said.
fn finding(finding: &Finding) -> String {
    let cells: Vec<&str> = std::iter::once(&finding.cell)
        .chain(&finding.also)
        .map(String::as_str)
        .filter(|cell| !cell.is_empty())
        .collect();
    let object = match finding.object.as_str() {
        "" => String::new(),
        object => format!(": {object}"),
    };
    let within = match cells.as_slice() {
        [] => String::new(),
        cells => format!(" [in {}{object}]", cells.join(", ")),
    };
    format!("{}{within}", located(finding))
}

fn edited(line: &Line) -> String {
    let within = match line.within.as_str() {
        "" => String::new(),
        within => format!(" within {within}"),
    };
    let place = match line.lines.as_slice() {
        [] => format!("{}: lines that are gone{within}", line.file),
        lines => format!("{}:{}{within}", line.file, ranges(lines)),
    };
    match &line.state {
        LineState::Compiled { cells, missing } => {
            let names: Vec<&str> = cells.iter().map(|(cell, _)| cell.as_str()).collect();
            let missing = match missing.as_slice() {
                [] => String::new(),
                missing => format!("; NOT with {}", missing.join(", ")),
            };
            let lines = plural(count(&line.lines) as usize, "line");
            format!("{place}: {lines} compiled in {}{missing}", names.join(", "))
        }
        LineState::Nothing => format!("{place}: nothing that is compiled"),
        LineState::Unreached { needs } => format!("{place}: COMPILED BY NONE: {needs}"),
        LineState::Dead { options } => {
            let options = options.join(", ");
            format!("{place}: COMPILED BY NONE, ever: no Kconfig file defines {options}")
        }
    }
}

fn objects(all: &[ObjectReport]) -> Table {
    let mut table = Table::new(&[
        ("object", Kind::Whole),
        ("cell", Kind::Word),
        ("bytes of code", Kind::Number),
        ("", Kind::Number),
        ("gates", Kind::Number),
        ("", Kind::Word),
    ]);
    for one in all {
        table.row(object(one));
    }
    table
}

/// A figure of both sides: once where it stayed.
fn sides<T: PartialEq + ToString>(before: Option<T>, after: Option<T>) -> String {
    let shown = |figure: Option<T>| figure.map_or("-".to_owned(), |one| grouped(&one.to_string()));
    match before == after {
        true => shown(after),
        false => format!("{} -> {}", shown(before), shown(after)),
    }
}

fn object(one: &ObjectReport) -> [Cell; 6] {
    let of = |built: &Option<Built>| match built {
        Some(built) => (built.text, built.gates),
        None => (None, None),
    };
    let ((old, old_gates), (new, new_gates)) = (of(&one.before), of(&one.after));
    let same = one.after.as_ref().is_some_and(|after| after.same);
    let difference = match (old, new) {
        (Some(old), Some(new)) if old < new => format!("+{}", grouped(&(new - old).to_string())),
        (Some(old), Some(new)) if old > new => format!("-{}", grouped(&(old - new).to_string())),
        _ => String::new(),
    };
    let word = match (old, new) {
        _ if same => "reads the same, not built again",
        (None, Some(_)) => "new",
        (Some(_), None) => "no object any more",
        (None, None) => "no object",
        (Some(_), Some(_)) => "",
    };
    [
        one.object.clone().into(),
        one.cell.clone().into(),
        sides(old, new).into(),
        difference.into(),
        sides(old_gates, new_gates).into(),
        word.into(),
    ]
}

/// What it came to, and its words where something is wrong.
fn check(check: &Check) -> Vec<String> {
    let first = format!("{}: {}: {}", check.tool, check_word(check), check.summary);
    let words = check.details.lines().filter(|line| !line.trim().is_empty());
    let words = words.filter(|_| check.status == Status::Findings);
    let words = words.map(|line| format!("  {line}"));
    std::iter::once(first).chain(words).collect()
}

fn not_built(one: &Unbuilt) -> String {
    let cell = match one.cell.as_str() {
        "" => String::new(),
        cell => format!(" in {cell}"),
    };
    format!("not built{cell}: {}: {}", one.what, one.why)
}
