//! Findings as SARIF 2.1.0, which code hosts and editors read.

use std::collections::HashMap;

use serde_json::{Value, json};
use tollgate_defect::{Defect, OrDefect as _, answer};
use tollgate_source::{
    Finding, Kind, LocatedOpportunity, Missed, MissedPart, Name, Position, Run, TreePath,
};

use crate::findings::{View, opportunity_words};
use crate::name::{left_out_sarif, location};

/// The rule of a kind: a title and what it means.
const RULES: [(Kind, &str, &str); 8] = [
    (
        Kind::Run,
        "Adjacent user accesses each open the gate",
        "Each get_user() and put_user() opens access to user memory and closes it again. \
         One window for adjacent accesses opens it once.",
    ),
    (
        Kind::SmallCopy,
        "A small copy is a call",
        "copy_from_user() and copy_to_user() of a few bytes cost more for the call than for the bytes. \
         Accesses of a constant size in a window do not call.",
    ),
    (
        Kind::RuntimeSizeCopy,
        "A copy on an ioctl path whose size is no constant",
        "The size comes with the ioctl and is often small. \
         A switch over small sizes turns it into accesses of a constant size.",
    ),
    (
        Kind::CopyNeighbour,
        "A user access next to a small copy of the same object",
        "Both open the gate; one window could serve both.",
    ),
    (
        Kind::WindowNeighbour,
        "A user access next to a window on the same object",
        "The window could take the access in, which then opens nothing of its own.",
    ),
    (
        Kind::LoopAccess,
        "A user access in each round of a loop",
        "Each round opens the gate and closes it again. One window around the loop opens it once.",
    ),
    (
        Kind::ConditionalNeighbour,
        "A user access next to another, one of them under a condition or in a loop",
        "On the way that the condition takes both open the gate; one window would serve both.",
    ),
    (
        Kind::OtherObject,
        "A user access next to one of another object",
        "One window checks one range: it cannot serve both, so nothing is saved here.",
    ),
];

/// The findings in the form of the OASIS standard SARIF 2.1.0. What was not
/// analysed is a notification of the run. SARIF counts columns in UTF-16, and what is
/// known of a place is its byte: `read` gives the lines. Where it does not, the place
/// is the line.
///
/// # Errors
/// When a run holds no access, which is a defect.
pub fn findings_sarif(
    view: &View<'_>,
    read: &mut dyn FnMut(&TreePath) -> Option<Vec<u8>>,
) -> Result<String, Defect> {
    let mut columns = Columns {
        read,
        texts: HashMap::new(),
    };
    let mut results = Vec::new();
    for finding in view.findings() {
        for run in &finding.function.runs {
            results.push(result(finding, run, &mut columns)?);
        }
    }
    let opportunities = view.opportunities().into_iter();
    results.extend(opportunities.map(|found| opportunity_result(found, &mut columns)));
    let missed = view.scan.missed.iter();
    let missed = missed.map(|missed| notification(missed, &mut columns));
    let missed: Vec<Value> = missed.chain(left_out_sarif(&view.scan.left_out)).collect();
    let rules = RULES.iter().map(described).collect();
    Ok(log(rules, &results, &missed))
}

/// A SARIF log of one run, with what could not be looked at as notifications.
pub(crate) fn log(rules: Vec<Value>, results: &[Value], missed: &[Value]) -> String {
    let log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "tollgate",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "utf16CodeUnits",
            "invocations": [{ "executionSuccessful": true, "toolExecutionNotifications": missed }],
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn described((kind, title, text): &(Kind, &str, &str)) -> Value {
    json!({
        "id": rule(*kind),
        "shortDescription": { "text": title },
        "fullDescription": { "text": text },
        "defaultConfiguration": { "level": "note" },
    })
}

/// The name that the rule of a kind has for programs.
fn rule(kind: Kind) -> &'static str {
    match kind {
        Kind::Run => "adjacent-user-accesses",
        kind => kind.name(),
    }
}

fn rule_index(wanted: Kind) -> Option<usize> {
    RULES.iter().position(|(kind, ..)| *kind == wanted)
}

fn opportunity_result(found: &LocatedOpportunity, columns: &mut Columns<'_>) -> Value {
    let opportunity = &found.opportunity;
    let place = columns.place(&found.path, opportunity.position);
    json!({
        "ruleId": rule(opportunity.kind),
        "ruleIndex": rule_index(opportunity.kind),
        "level": "note",
        "message": { "text": format!("{}: {}", opportunity.function, opportunity_words(found)) },
        "locations": [{ "physicalLocation": place,
                        "logicalLocations": [{ "name": opportunity.function, "kind": "function" }] }],
    })
}

fn result(finding: &Finding, run: &Run, columns: &mut Columns<'_>) -> Result<Value, Defect> {
    let forms: Vec<&str> = run.forms.iter().map(|form| form.name()).collect();
    let text = format!(
        "{}: {} adjacent user accesses ({}); one window saves {}",
        finding.function.name,
        run.sites.len(),
        forms.join(", "),
        run.windows_saved()
    );
    let first = run.sites.first().or_defect("a run holds no access")?;
    let place = columns.place(&finding.path, first.position);
    Ok(json!({
        "ruleId": rule(Kind::Run),
        "ruleIndex": rule_index(Kind::Run),
        "level": "note",
        "message": { "text": text },
        "locations": [{ "physicalLocation": place,
                        "logicalLocations": [{ "name": finding.function.name, "kind": "function" }] }],
    }))
}

/// A place in a file: a line, and where it is known the column in UTF-16.
pub(crate) fn place_of(path: &Name, line: u32, column: Option<u32>) -> Value {
    let mut region = json!({ "startLine": line.max(1) });
    if let Some(column) = column {
        region["startColumn"] = column.into();
    }
    json!({ "artifactLocation": location(path), "region": region })
}

/// The column in UTF-16 of a byte of a line, both from 1.
pub(crate) fn utf16_column(line: &[u8], column: u32) -> Option<u32> {
    let before = answer::fits::<usize, _>(column)?.checked_sub(1)?;
    let before = String::from_utf8_lossy(line.get(..before)?);
    answer::fits(before.encode_utf16().count() + 1)
}

/// The texts of files, to count columns in.
struct Columns<'r> {
    read: &'r mut dyn FnMut(&TreePath) -> Option<Vec<u8>>,
    texts: HashMap<TreePath, Option<Vec<u8>>>,
}

impl Columns<'_> {
    fn place(&mut self, path: &TreePath, at: Position) -> Value {
        let read = &mut self.read;
        let text = self.texts.entry(path.clone()).or_insert_with(|| read(path));
        let number = answer::fits::<usize, _>(at.line).unwrap_or(usize::MAX);
        let lines = text.as_deref().into_iter();
        let mut lines = lines.flat_map(|text| text.split(|byte| *byte == b'\n'));
        let line = lines.nth(number.saturating_sub(1));
        let column = line.and_then(|line| utf16_column(line, at.column));
        place_of(path, at.line, column)
    }
}

fn notification(missed: &Missed, columns: &mut Columns<'_>) -> Value {
    let place = match &missed.what {
        MissedPart::File(_) => {
            json!({ "artifactLocation": location(&missed.path) })
        }
        MissedPart::Unended(_, place) => columns.place(&missed.path, *place),
        MissedPart::Access(access) => columns.place(&missed.path, access.position),
    };
    json!({
        "level": "note",
        "message": { "text": missed.to_string() },
        "locations": [{ "physicalLocation": place }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes were written where UTF-16 was declared.
    #[test]
    fn a_column_counts_utf16() {
        assert_eq!(utf16_column(b"\tput_user(x);", 2), Some(2));
        assert_eq!(utf16_column("/* ä€ */ f(x)".as_bytes(), 13), Some(10));
        assert_eq!(utf16_column("/* 😀 */ f(x)".as_bytes(), 12), Some(10));
        assert_eq!(utf16_column(b"ab", 9), None);
        let mut read = |_: &TreePath| Some("a\n/* ä */ f(x)\n".as_bytes().to_vec());
        let mut columns = Columns {
            read: &mut read,
            texts: HashMap::new(),
        };
        let place = columns.place(
            &TreePath::within("a.c"),
            Position {
                line: 2,
                column: 10,
            },
        );
        assert_eq!(place["region"], json!({ "startLine": 2, "startColumn": 9 }));
        let place = columns.place(&TreePath::within("a.c"), Position { line: 9, column: 1 });
        assert_eq!(place["region"], json!({ "startLine": 9 }));
    }
}
