//! Violations as SARIF 2.1.0.

use serde_json::{Value, json};
use tollgate_defect::answer;
use tollgate_source::Name;
use tollgate_source::check::{
    Checks, Confidence, Excerpt, FileSkipped, Located, Mark, RuleInfo, Severity, Suggestion, rules,
};

use crate::name::{left_out_sarif, location};
use crate::sarif::{log, place_of, utf16_column};

/// The violations in the form of the OASIS standard SARIF 2.1.0. What was not
/// checked is a notification of the run.
#[must_use]
pub fn checks_sarif(checks: &Checks) -> String {
    let all = rules();
    let results: Vec<Value> = checks
        .violations
        .iter()
        .map(|located| result(&all, located))
        .collect();
    let skipped: Vec<Value> = checks
        .skipped
        .iter()
        .map(|(path, what)| notification(path, what))
        .chain(left_out_sarif(&checks.left_out))
        .collect();
    log(
        all.iter().map(|info| rule(info)).collect(),
        &results,
        &skipped,
    )
}

fn rule(info: &RuleInfo) -> Value {
    json!({
        "id": info.name,
        "shortDescription": { "text": info.summary },
        "fullDescription": { "text": info.why },
        "defaultConfiguration": { "level": level(info.severity) },
        "properties": { "precision": precision(info.confidence) },
    })
}

fn level(severity: Severity) -> &'static str {
    severity.name()
}

/// The words that code hosts know for it.
fn precision(confidence: Confidence) -> &'static str {
    confidence.name()
}

fn result(all: &[&RuleInfo], located: &Located) -> Value {
    let violation = &located.violation;
    let index = all.iter().position(|info| info.name == violation.rule);
    let place = |mark: &Mark| place(&located.path, mark, &violation.excerpts);
    let mut location = json!({ "physicalLocation": place(&violation.mark) });
    let mut text = violation.message.clone();
    if let Some(function) = &violation.function {
        location["logicalLocations"] = json!([{ "name": function, "kind": "function" }]);
        text = format!("{function}: {text}");
    }
    let related: Vec<Value> = violation
        .related
        .iter()
        .map(|mark| {
            json!({
                "physicalLocation": place(mark),
                "message": { "text": mark.text },
            })
        })
        .collect();
    let mut result = json!({
        "ruleId": violation.rule,
        "ruleIndex": index,
        "level": level(violation.severity),
        "message": { "text": text },
        "locations": [location],
        "relatedLocations": related,
        "properties": { "confidence": violation.confidence.name() },
    });
    if let Some(suggestion) = &violation.suggestion {
        result["fixes"] = json!([fix(&located.path, suggestion)]);
    }
    result
}

fn place(path: &Name, mark: &Mark, excerpts: &[Excerpt]) -> Value {
    let at = mark.position;
    let column = excerpts.iter().find_map(|excerpt| {
        let number = answer::fits::<usize, _>(at.line.checked_sub(excerpt.line)?)?;
        let line = excerpt.text.lines().nth(number)?;
        utf16_column(line.as_bytes(), at.column)
    });
    place_of(path, at.line, column)
}

fn fix(path: &Name, suggestion: &Suggestion) -> Value {
    let span = suggestion.span;
    json!({
        "description": { "text": suggestion.why },
        "artifactChanges": [{
            "artifactLocation": location(path),
            "replacements": [{
                "deletedRegion": {
                    "byteOffset": span.start,
                    "byteLength": span.end - span.start,
                },
                "insertedContent": { "text": suggestion.text },
            }],
        }],
    })
}

fn notification(path: &Name, what: &FileSkipped) -> Value {
    let (text, place) = match what {
        FileSkipped::File(reason) => (
            format!("{path}: not read: {reason}"),
            json!({ "artifactLocation": location(path) }),
        ),
        FileSkipped::Function(skipped) => (
            format!(
                "{}: {}: {}",
                skipped.function,
                skipped.reason.extent(),
                skipped.reason.words()
            ),
            place_of(path, skipped.position.line, None),
        ),
    };
    json!({
        "level": "note",
        "message": { "text": text },
        "locations": [{ "physicalLocation": place }],
    })
}
