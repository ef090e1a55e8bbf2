//! Findings as JSON.

use crate::json::to_json;
use std::collections::BTreeMap;
use tollgate_defect::{Defect, OrDefect as _};

use serde::Serialize;
use tollgate_source::{
    CopyCounts, Direction, Finding, Form, Kind, LocatedOpportunity, MissedPart, Name, Parted, Run,
    Size,
};

use super::View;
use crate::name::{JsonFile, JsonLeftOut, JsonTree, left_out_json};

/// The version of the JSON form of findings; it grows when a reader would break.
pub const FINDINGS_VERSION: u32 = 3;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    tool: &'static str,
    #[serde(flatten)]
    tree: JsonTree<'a>,
    summary: Summary<'a>,
    findings: Vec<JsonFinding<'a>>,
    others: Vec<JsonOpportunity<'a>>,
    without_size: Vec<JsonOpportunity<'a>>,
    not_analysed: Vec<JsonMissed<'a>>,
    left_out: Vec<JsonLeftOut<'a>>,
}

#[derive(Serialize)]
struct Summary<'a> {
    files_read: usize,
    accesses: usize,
    accesses_parsed: usize,
    functions: usize,
    runs: usize,
    reads: usize,
    writes: usize,
    windows_saved: usize,
    windows_apart: usize,
    not_analysed: usize,
    /// None of what was not looked up.
    kinds: BTreeMap<&'static str, Option<usize>>,
    copies: CopyCounts,
    other_architectures: JsonElsewhere<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<JsonProfile<'a>>,
}

#[derive(Serialize)]
struct JsonElsewhere<'a> {
    architectures: &'a [String],
    functions: usize,
    others: usize,
}

#[derive(Serialize)]
struct JsonProfile<'a> {
    unit: &'a str,
    unmatched: &'a [String],
}

#[derive(Serialize)]
struct JsonOpportunity<'a> {
    kind: &'static str,
    #[serde(flatten)]
    file: JsonFile<'a>,
    line: u32,
    column: u32,
    function: &'a str,
    call: &'a str,
    direction: Direction,
    object: &'a str,
    size: &'a str,
    bytes: Option<u64>,
    beside: Option<JsonBeside<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parted: Option<&'a Parted>,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct JsonBeside<'a> {
    call: &'a str,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    kind: &'static str,
    #[serde(flatten)]
    file: JsonFile<'a>,
    line: u32,
    column: u32,
    function: &'a str,
    reads: usize,
    writes: usize,
    windows_saved: usize,
    windows_apart: usize,
    forms: Vec<&'static str>,
    understood: bool,
    heat: u32,
    heat_reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile_symbol: Option<&'a str>,
    runs: Vec<JsonRun<'a>>,
}

#[derive(Serialize)]
struct JsonRun<'a> {
    line: u32,
    column: u32,
    forms: Vec<&'static str>,
    objects: Vec<&'a str>,
    windows_saved: usize,
    windows_apart: usize,
    traits: &'a [tollgate_source::Trait],
    accesses: Vec<JsonAccess<'a>>,
}

#[derive(Serialize)]
struct JsonAccess<'a> {
    line: u32,
    column: u32,
    call: &'a str,
    direction: Direction,
    object: &'a str,
}

#[derive(Serialize)]
struct JsonMissed<'a> {
    #[serde(flatten)]
    file: JsonFile<'a>,
    line: Option<u32>,
    column: Option<u32>,
    function: Option<&'a str>,
    reason: String,
}

/// The findings as JSON, in the form of `schema/scan.schema.json`. `tree` is
/// the tree as the user named it.
///
/// # Errors
/// None that input can cause: a run that holds no access is a defect.
pub fn findings_json(view: &View<'_>, tree: &Name) -> Result<String, Defect> {
    let scan = view.scan;
    to_json(&Document {
        version: FINDINGS_VERSION,
        tool: "tollgate",
        tree: tree.into(),
        summary: json_summary(view),
        findings: view
            .findings()
            .into_iter()
            .map(|finding| json_finding(view, finding))
            .collect::<Result<_, _>>()?,
        others: view
            .opportunities()
            .into_iter()
            .map(json_opportunity)
            .collect(),
        without_size: scan.without_size().map(json_opportunity).collect(),
        not_analysed: scan.missed.iter().map(json_missed).collect(),
        left_out: left_out_json(&scan.left_out),
    })
}

fn json_summary<'a>(view: &'a View<'_>) -> Summary<'a> {
    let scan = view.scan;
    Summary {
        kinds: Kind::ALL
            .into_iter()
            .map(|kind| (kind.name(), view.known_count(kind)))
            .collect(),
        copies: scan.copies(),
        other_architectures: JsonElsewhere {
            architectures: &scan.elsewhere.architectures,
            functions: scan.elsewhere.functions,
            others: scan.elsewhere.opportunities,
        },
        profile: view.profile.as_ref().map(|profile| JsonProfile {
            unit: &profile.unit,
            unmatched: &profile.unmatched,
        }),
        files_read: scan.files,
        accesses: scan.lexical,
        accesses_parsed: scan.parsed,
        functions: scan.findings.len(),
        runs: scan.runs(),
        reads: scan.count(Direction::Read),
        writes: scan.count(Direction::Write),
        windows_saved: scan.windows_saved(),
        windows_apart: scan.windows_apart(),
        not_analysed: scan.missed.len(),
    }
}

fn json_opportunity(found: &LocatedOpportunity) -> JsonOpportunity<'_> {
    let opportunity = &found.opportunity;
    JsonOpportunity {
        kind: opportunity.kind.name(),
        file: found.path.name().into(),
        line: opportunity.position.line,
        column: opportunity.position.column,
        function: &opportunity.function,
        call: &opportunity.call,
        direction: opportunity.direction,
        object: &opportunity.object,
        size: &opportunity.written,
        bytes: match opportunity.size {
            Size::Bytes(bytes) if !opportunity.written.is_empty() => Some(bytes),
            _ => None,
        },
        beside: opportunity.beside.as_ref().map(|beside| JsonBeside {
            call: &beside.call,
            line: beside.position.line,
            column: beside.position.column,
        }),
        parted: opportunity.near.as_ref().map(|near| &near.parted),
        reason: match &opportunity.size {
            Size::Unsized(lacks) => Some(lacks),
            _ => opportunity.path.as_deref(),
        },
    }
}

fn json_finding<'a>(view: &'a View<'_>, finding: &'a Finding) -> Result<JsonFinding<'a>, Defect> {
    let function = &finding.function;
    let share = view.share(finding);
    Ok(JsonFinding {
        kind: Kind::Run.name(),
        heat: function.warmth.heat,
        heat_reason: &function.warmth.words,
        profile_percent: share.map(|share| share.percent),
        profile_symbol: share.map(|share| share.symbol.as_str()),
        file: finding.path.name().into(),
        line: function.position.line,
        column: function.position.column,
        function: &function.name,
        reads: function.count(Direction::Read),
        writes: function.count(Direction::Write),
        windows_saved: function.windows_saved(),
        windows_apart: function.windows_apart(),
        forms: function.forms().into_iter().map(Form::name).collect(),
        understood: function.understood,
        runs: function
            .runs
            .iter()
            .map(json_run)
            .collect::<Result<_, _>>()?,
    })
}

fn json_run(run: &Run) -> Result<JsonRun<'_>, Defect> {
    let first = run.sites.first().or_defect("a run holds no access")?;
    let first = first.position;
    Ok(JsonRun {
        line: first.line,
        column: first.column,
        forms: run.forms.iter().map(|form| form.name()).collect(),
        objects: run.objects(),
        windows_saved: run.windows_saved(),
        windows_apart: run.windows_apart(),
        traits: &run.traits,
        accesses: run.sites.iter().map(json_access).collect(),
    })
}

fn json_access(site: &tollgate_source::Site) -> JsonAccess<'_> {
    JsonAccess {
        line: site.position.line,
        column: site.position.column,
        call: &site.call,
        direction: site.direction,
        object: &site.object,
    }
}

fn json_missed(missed: &tollgate_source::Missed) -> JsonMissed<'_> {
    match &missed.what {
        MissedPart::File(reason) => JsonMissed {
            file: missed.path.name().into(),
            line: None,
            column: None,
            function: None,
            reason: format!("not read: {reason}"),
        },
        MissedPart::Unended(function, place) => JsonMissed {
            file: missed.path.name().into(),
            line: Some(place.line),
            column: Some(place.column),
            function: Some(function),
            reason: "its braces do not end".to_owned(),
        },
        MissedPart::Access(access) => JsonMissed {
            file: missed.path.name().into(),
            line: Some(access.position.line),
            column: Some(access.position.column),
            function: access.function.as_deref(),
            reason: format!("{}(): {}", access.call, access.reason.words()),
        },
    }
}
