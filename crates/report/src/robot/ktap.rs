//! KTAP version 1 (Documentation/dev-tools/ktap.rst): a test for each patch, with one
//! for each object in each cell, and for each range of edited lines.

use tollgate_robot::{Finding, LineState, PatchReport, Report, Status};

use super::words::{located, place, ranges, sentence, summary};
use crate::text::clean_lines;

/// The report as KTAP.
#[must_use]
pub fn robot_ktap(report: &Report) -> String {
    let mut text = format!("KTAP version 1\n1..{}\n", report.patches.len());
    for (at, patch) in report.patches.iter().enumerate() {
        text += &one(at + 1, patch);
    }
    clean_lines(&text)
}

fn one(number: usize, patch: &PatchReport) -> String {
    let mut cases = Vec::new();
    for object in &patch.objects {
        let own = |finding: &&Finding| {
            let here = finding.cell == object.cell || finding.also.contains(&object.cell);
            here && finding.object == object.object
        };
        let found: Vec<String> = patch.findings.iter().filter(own).map(located).collect();
        let name = format!("{} {}", object.cell, object.object);
        let skipped = object.after.is_none().then_some("not built");
        cases.push((name, found, skipped.map(str::to_owned)));
    }
    let of_none = patch.findings.iter().filter(|one| one.object.is_empty());
    cases.extend(of_none.map(|one| {
        let name = match place(one) {
            place if place.is_empty() => format!("{} the configuration", one.cell),
            place => place,
        };
        (name, vec![sentence(one)], None)
    }));
    for line in &patch.lines {
        let name = match line.lines.as_slice() {
            [] => format!("{}: lines that are gone", line.file),
            lines => format!("{}:{}", line.file, ranges(lines).replace(", ", ",")),
        };
        let (found, skipped) = match &line.state {
            LineState::Compiled { missing, .. } if missing.is_empty() => (Vec::new(), None),
            LineState::Compiled { missing, .. } => {
                (Vec::new(), Some(format!("not with {}", missing.join(", "))))
            }
            LineState::Nothing => (Vec::new(), Some("nothing that is compiled".to_owned())),
            LineState::Unreached { needs } => {
                (Vec::new(), Some(format!("compiled by none: {needs}")))
            }
            LineState::Dead { options } => (
                vec![format!("no Kconfig file defines {}", options.join(", "))],
                None,
            ),
        };
        cases.push((name, found, skipped));
    }
    for check in &patch.checks {
        let (found, skipped) = match check.status {
            Status::Clean => (Vec::new(), None),
            Status::CouldNotTell => (Vec::new(), Some(check.summary.clone())),
            Status::Findings => (vec![check.summary.clone()], None),
        };
        cases.push((check.tool.clone(), found, skipped));
    }
    cases.extend(patch.unbuilt.iter().map(|one| {
        let name = format!("{} {}", one.cell, one.what).trim().to_owned();
        (name, Vec::new(), Some(one.why.clone()))
    }));
    let mut text = format!("    KTAP version 1\n    1..{}\n", cases.len());
    for (at, (name, found, skipped)) in cases.iter().enumerate() {
        for line in found.iter().flat_map(|one| one.lines()) {
            text += &format!("    # {line}\n");
        }
        let word = if found.is_empty() { "ok" } else { "not ok" };
        let skip = skipped
            .as_ref()
            .map_or(String::new(), |why| format!(" # SKIP {}", line(why)));
        text += &format!("    {word} {} {}{skip}\n", at + 1, line(name));
    }
    let (word, skip) = match patch.status() {
        Status::Clean => ("ok", String::new()),
        Status::CouldNotTell => ("ok", format!(" # SKIP {}", line(&summary(patch)))),
        Status::Findings => ("not ok", String::new()),
    };
    format!("{text}{word} {number} {}{skip}\n", line(&patch.subject))
}

/// A `#` would begin a directive, a line end a line.
fn line(text: &str) -> String {
    text.replace('#', "").replace(['\n', '\r'], " ")
}
