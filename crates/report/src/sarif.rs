//! Findings as SARIF 2.1.0, which code hosts and editors read.

use serde_json::{Value, json};
use tollgate_source::{Finding, Missed, MissedPart, Run, Scan};

const RULE: &str = "adjacent-user-accesses";

/// The findings in the form of the OASIS standard SARIF 2.1.0. What was not
/// analysed is a notification of the run.
#[must_use]
pub fn findings_sarif(scan: &Scan) -> String {
    let results: Vec<Value> = scan.findings.iter().flat_map(results).collect();
    let missed: Vec<Value> = scan.missed.iter().map(notification).collect();
    log(vec![rule()], &results, &missed)
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

fn rule() -> Value {
    json!({
        "id": RULE,
        "shortDescription": { "text": "Adjacent user accesses each open the gate" },
        "fullDescription": {
            "text": "Each get_user() and put_user() opens access to user memory and closes it again. \
                     One window for adjacent accesses opens it once.",
        },
        "defaultConfiguration": { "level": "note" },
    })
}

fn results(finding: &Finding) -> Vec<Value> {
    let runs = finding.function.runs.iter();
    runs.map(|run| result(finding, run)).collect()
}

fn result(finding: &Finding, run: &Run) -> Value {
    let forms: Vec<&str> = run.forms.iter().map(|form| form.name()).collect();
    let text = format!(
        "{}: {} adjacent user accesses ({}); one window saves {}",
        finding.function.name,
        run.sites.len(),
        forms.join(", "),
        run.windows_saved()
    );
    let place = run
        .sites
        .first()
        .map(|site| site.position)
        .unwrap_or_default();
    json!({
        "ruleId": RULE,
        "ruleIndex": 0,
        "level": "note",
        "message": { "text": text },
        "locations": [{ "physicalLocation": place_of(&finding.path, place.line, place.column),
                        "logicalLocations": [{ "name": finding.function.name, "kind": "function" }] }],
    })
}

/// A place in a file of the tree.
pub(crate) fn place_of(path: &str, line: u32, column: u32) -> Value {
    json!({
        "artifactLocation": { "uri": uri(path), "uriBaseId": "SRCROOT" },
        "region": { "startLine": line.max(1), "startColumn": column.max(1) },
    })
}

fn notification(missed: &Missed) -> Value {
    let place = match &missed.what {
        MissedPart::File(_) => {
            json!({ "artifactLocation": { "uri": uri(&missed.path), "uriBaseId": "SRCROOT" } })
        }
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

/// A relative reference: whatever is no plain path byte is escaped (RFC 3986).
pub(crate) fn uri(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'/'
            | b'.'
            | b'_'
            | b'-'
            | b'~'
            | b'+'
            | b',' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}
