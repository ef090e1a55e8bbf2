//! Findings as SARIF 2.1.0, which code hosts and editors read.

use serde_json::{Value, json};
use tollgate_defect::{Defect, OrDefect as _};
use tollgate_source::{Aside, Finding, Kind, Missed, MissedPart, Name, Run};

use crate::findings::{View, aside_words};
use crate::name::{left_out_sarif, location};

/// The rule of a kind: a title and what it means.
const RULES: [(Kind, &str, &str); 5] = [
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
];

/// The findings in the form of the OASIS standard SARIF 2.1.0. What was not
/// analysed is a notification of the run.
///
/// # Errors
/// When a run holds no access, which is a defect.
pub fn findings_sarif(view: &View<'_>) -> Result<String, Defect> {
    let mut results = Vec::new();
    for finding in view.findings() {
        for run in &finding.function.runs {
            results.push(result(finding, run)?);
        }
    }
    results.extend(view.asides().into_iter().map(aside_result));
    let missed = view.scan.missed.iter().map(notification);
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

fn aside_result(aside: &Aside) -> Value {
    let chance = &aside.chance;
    json!({
        "ruleId": rule(chance.kind),
        "ruleIndex": rule_index(chance.kind),
        "level": "note",
        "message": { "text": format!("{}: {}", chance.function, aside_words(aside)) },
        "locations": [{ "physicalLocation": place_of(&aside.path, chance.position.line, chance.position.column),
                        "logicalLocations": [{ "name": chance.function, "kind": "function" }] }],
    })
}

fn result(finding: &Finding, run: &Run) -> Result<Value, Defect> {
    let forms: Vec<&str> = run.forms.iter().map(|form| form.name()).collect();
    let text = format!(
        "{}: {} adjacent user accesses ({}); one window saves {}",
        finding.function.name,
        run.sites.len(),
        forms.join(", "),
        run.windows_saved()
    );
    let first = run.sites.first().or_defect("a run holds no access")?;
    let place = first.position;
    Ok(json!({
        "ruleId": rule(Kind::Run),
        "ruleIndex": rule_index(Kind::Run),
        "level": "note",
        "message": { "text": text },
        "locations": [{ "physicalLocation": place_of(&finding.path, place.line, place.column),
                        "logicalLocations": [{ "name": finding.function.name, "kind": "function" }] }],
    }))
}

/// A place in a file of the tree.
pub(crate) fn place_of(path: &Name, line: u32, column: u32) -> Value {
    json!({
        "artifactLocation": location(path),
        "region": { "startLine": line.max(1), "startColumn": column.max(1) },
    })
}

fn notification(missed: &Missed) -> Value {
    let place = match &missed.what {
        MissedPart::File(_) => {
            json!({ "artifactLocation": location(&missed.path) })
        }
        MissedPart::Unended(_, place) => place_of(&missed.path, place.line, place.column),
        MissedPart::Access(access) => {
            place_of(&missed.path, access.position.line, access.position.column)
        }
    };
    json!({
        "level": "note",
        "message": { "text": missed.to_string() },
        "locations": [{ "physicalLocation": place }],
    })
}
