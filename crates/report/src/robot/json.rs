//! All of it for programs.

use serde::Serialize;
use tollgate_defect::Defect;
use tollgate_robot::{Report, Status, VERSION};

use crate::json::to_json;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    status: Status,
    #[serde(flatten)]
    report: &'a Report,
}

/// All of it as JSON, `schema/robot.schema.json`; of several base trees a document
/// each, in an array.
///
/// # Errors
/// A defect where it cannot be made.
pub fn robot_json(reports: &[Report]) -> Result<String, Defect> {
    let of = |report| Document {
        version: VERSION,
        status: Report::status(report),
        report,
    };
    match reports {
        [report] => to_json(&of(report)),
        reports => to_json(&reports.iter().map(of).collect::<Vec<_>>()),
    }
}
