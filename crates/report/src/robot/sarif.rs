//! SARIF 2.1.0.

use serde_json::{Value, json};
use tollgate_robot::{Finding, FindingKind, LineState, Report};
use tollgate_source::Name;

use super::words::{ranges, sentence};
use crate::sarif::{log, place_of};

const RULES: [(FindingKind, &str); 6] = [
    (
        FindingKind::Error,
        "An error of a build tool that was not there before",
    ),
    (
        FindingKind::Warning,
        "A warning of a build tool that was not there before",
    ),
    (
        FindingKind::DeadOption,
        "An option that no Kconfig file defines",
    ),
    (
        FindingKind::LostExport,
        "An export that is gone and still used",
    ),
    (
        FindingKind::UnmetImport,
        "A symbol that an object takes and nobody gives",
    ),
    (
        FindingKind::Boundary,
        "A mistake at the user/kernel boundary that was not there before",
    ),
];

/// The findings in the form of the OASIS standard SARIF 2.1.0. What was not built is
/// a notification of the run.
#[must_use]
pub fn robot_sarif(report: &Report) -> String {
    let rules = RULES.iter().map(|(kind, text)| {
        json!({
            "id": kind.name(),
            "shortDescription": { "text": text },
            "defaultConfiguration": { "level": level(*kind) },
        })
    });
    let findings = report.patches.iter().flat_map(|patch| &patch.findings);
    let mut results: Vec<Value> = findings.map(result).collect();
    let mut missed = Vec::new();
    for patch in &report.patches {
        for line in &patch.lines {
            let text = match &line.state {
                LineState::Unreached { needs } => format!(
                    "lines {} are compiled by none: {needs}",
                    ranges(&line.lines)
                ),
                LineState::Dead { options } => {
                    results.push(dead(line, options));
                    continue;
                }
                LineState::Compiled { .. } | LineState::Nothing => continue,
            };
            let first = line.lines.first().map_or(1, |(from, _)| *from);
            missed.push(json!({
                "level": "warning",
                "message": { "text": text },
                "locations": [{ "physicalLocation": place_of(&Name::from(line.file.as_str()), first, None) }],
            }));
        }
        missed.extend(patch.unbuilt.iter().map(|one| {
            json!({
                "level": "warning",
                "message": { "text": format!("not built: {} {}: {}", one.cell, one.what, one.why) },
            })
        }));
    }
    log(rules.collect(), &results, &missed)
}

fn level(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Error | FindingKind::LostExport | FindingKind::UnmetImport => "error",
        FindingKind::Warning | FindingKind::DeadOption | FindingKind::Boundary => "warning",
    }
}

fn result(finding: &Finding) -> Value {
    let file = match finding.file.is_empty() {
        true => finding.object.as_str(),
        false => finding.file.as_str(),
    };
    let mut cells = vec![finding.cell.clone()];
    cells.extend(finding.also.iter().cloned());
    json!({
        "ruleId": finding.kind.name(),
        "ruleIndex": RULES.iter().position(|(kind, _)| *kind == finding.kind),
        "level": level(finding.kind),
        "message": { "text": sentence(finding) },
        "locations": [{ "physicalLocation": place_of(&Name::from(file), finding.line, None) }],
        "properties": { "cells": cells },
    })
}

fn dead(line: &tollgate_robot::Line, options: &[String]) -> Value {
    let kind = FindingKind::DeadOption;
    let first = line.lines.first().map_or(1, |(from, _)| *from);
    json!({
        "ruleId": kind.name(),
        "ruleIndex": RULES.iter().position(|(one, _)| *one == kind),
        "level": level(kind),
        "message": { "text": format!("lines {} are compiled by none: no Kconfig file defines {}", ranges(&line.lines), options.join(", ")) },
        "locations": [{ "physicalLocation": place_of(&Name::from(line.file.as_str()), first, None) }],
    })
}
