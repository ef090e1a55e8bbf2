//! Violations as JSON, in the form of `schema/check.schema.json`.

use crate::json::to_json;
use serde::Serialize;
use tollgate_defect::Defect;
use tollgate_source::Name;
use tollgate_source::check::{Checks, FileSkipped, Located, Mark, Suggestion, rule};

use crate::name::{JsonFile, JsonLeftOut, JsonTree, left_out_json};

/// The version of the JSON form; it grows when a reader would break.
pub const CHECKS_VERSION: u32 = 2;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    tool: &'static str,
    #[serde(flatten)]
    tree: JsonTree<'a>,
    summary: Summary,
    findings: Vec<JsonFinding<'a>>,
    not_checked: Vec<JsonSkipped<'a>>,
    left_out: Vec<JsonLeftOut<'a>>,
}

#[derive(Serialize)]
struct Summary {
    files_read: usize,
    functions: usize,
    functions_with_windows: usize,
    findings: usize,
    allowed: usize,
    filtered: usize,
    not_checked: usize,
    compiler_log: Option<JsonLog>,
}

#[derive(Serialize)]
struct JsonLog {
    diagnostics: usize,
    here: usize,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    rule: &'a str,
    severity: &'static str,
    confidence: &'static str,
    #[serde(flatten)]
    file: JsonFile<'a>,
    line: u32,
    column: u32,
    function: Option<&'a str>,
    message: &'a str,
    why: &'static str,
    excerpt: String,
    related: Vec<JsonMark<'a>>,
    fix: Option<JsonFix<'a>>,
}

#[derive(Serialize)]
struct JsonMark<'a> {
    line: u32,
    column: u32,
    text: &'a str,
}

#[derive(Serialize)]
struct JsonFix<'a> {
    start_byte: usize,
    end_byte: usize,
    text: &'a str,
    why: &'a str,
}

#[derive(Serialize)]
struct JsonSkipped<'a> {
    #[serde(flatten)]
    file: JsonFile<'a>,
    line: Option<u32>,
    column: Option<u32>,
    function: Option<&'a str>,
    reason: &'a str,
}

/// The violations as JSON. `tree` is what was checked, as the user named it.
///
/// # Errors
/// None that input can cause.
pub fn checks_json(checks: &Checks, tree: &Name) -> Result<String, Defect> {
    to_json(&Document {
        version: CHECKS_VERSION,
        tool: "tollgate",
        tree: tree.into(),
        summary: Summary {
            files_read: checks.files,
            functions: checks.functions,
            functions_with_windows: checks.windows,
            findings: checks.violations.len(),
            allowed: checks.allowed,
            filtered: checks.filtered,
            not_checked: checks.skipped.len(),
            compiler_log: checks.log.map(|log| JsonLog {
                diagnostics: log.diagnostics,
                here: log.here,
            }),
        },
        findings: checks.violations.iter().map(finding).collect(),
        not_checked: checks
            .skipped
            .iter()
            .map(|(path, what)| skipped(path, what))
            .collect(),
        left_out: left_out_json(&checks.left_out),
    })
}

fn finding(located: &Located) -> JsonFinding<'_> {
    let violation = &located.violation;
    let own = violation
        .excerpts
        .iter()
        .find(|excerpt| excerpt.span.contains(violation.mark.span));
    JsonFinding {
        rule: &violation.rule,
        severity: violation.severity.name(),
        confidence: violation.confidence.name(),
        file: (&located.path).into(),
        line: violation.mark.position.line,
        column: violation.mark.position.column,
        function: violation.function.as_deref(),
        message: &violation.message,
        why: rule(&violation.rule)
            .map(|info| info.why)
            .unwrap_or_default(),
        excerpt: own.map(|excerpt| excerpt.text.clone()).unwrap_or_default(),
        related: violation.related.iter().map(mark).collect(),
        fix: violation.suggestion.as_ref().map(fix),
    }
}

fn mark(mark: &Mark) -> JsonMark<'_> {
    JsonMark {
        line: mark.position.line,
        column: mark.position.column,
        text: &mark.text,
    }
}

fn fix(suggestion: &Suggestion) -> JsonFix<'_> {
    JsonFix {
        start_byte: suggestion.span.start,
        end_byte: suggestion.span.end,
        text: &suggestion.text,
        why: &suggestion.why,
    }
}

fn skipped<'a>(path: &'a Name, what: &'a FileSkipped) -> JsonSkipped<'a> {
    match what {
        FileSkipped::File(reason) => JsonSkipped {
            file: path.into(),
            line: None,
            column: None,
            function: None,
            reason,
        },
        FileSkipped::Function(skipped) => JsonSkipped {
            file: path.into(),
            line: Some(skipped.position.line),
            column: Some(skipped.position.column),
            function: Some(&skipped.function),
            reason: skipped.reason.words(),
        },
    }
}
