//! What b4's review checks take (b4, "External check commands"): a JSON array of
//! results, one for each thing that was looked at.

use serde::Serialize;
use tollgate_defect::Defect;
use tollgate_robot::{PatchReport, Report, Status};

use super::document::robot_document;
use super::words::{check_word, located, summary};
use crate::format::{Look, terminal};
use crate::json::to_json;

/// What b4 shows it in knows no colours.
const PLAIN: Look = Look {
    color: false,
    width: 80,
};

#[derive(Serialize)]
struct Result_ {
    tool: String,
    status: &'static str,
    summary: String,
    url: String,
    details: String,
}

/// The array. What could not be told is a warning, never a pass.
///
/// # Errors
/// A defect where it cannot be made.
pub fn robot_b4(report: &Report) -> Result<String, Defect> {
    let mut all: Vec<Result_> = report
        .patches
        .iter()
        .map(|patch| one(report, patch))
        .collect();
    for patch in &report.patches {
        for check in &patch.checks {
            all.push(Result_ {
                tool: check.tool.clone(),
                status: status(check.status),
                summary: format!("{}: {}", check_word(check), check.summary),
                url: String::new(),
                details: check.details.clone(),
            });
        }
    }
    to_json(&all)
}

/// The array for a mail of which nothing could be told.
///
/// # Errors
/// A defect where it cannot be made.
pub fn robot_b4_failed(why: &str) -> Result<String, Defect> {
    to_json(&[Result_ {
        tool: "tollgate robot".to_owned(),
        status: "warn",
        summary: "could not tell".to_owned(),
        url: String::new(),
        details: why.to_owned(),
    }])
}

fn one(report: &Report, patch: &PatchReport) -> Result_ {
    let found: Vec<String> = patch.findings.iter().map(located).collect();
    let all = terminal(&robot_document(std::slice::from_ref(report)), PLAIN);
    Result_ {
        tool: "tollgate robot".to_owned(),
        status: status(patch.status()),
        summary: summary(patch),
        url: String::new(),
        details: match found.as_slice() {
            [] => all,
            found => format!("{}\n\n{all}", found.join("\n")),
        },
    }
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Clean => "pass",
        Status::CouldNotTell => "warn",
        Status::Findings => "fail",
    }
}
