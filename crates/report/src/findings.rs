//! Findings of a scan for people and programs.

use std::fmt::Write;

use serde::Serialize;
use tollgate_source::{Direction, Finding, Form, MissedPart, Run, Scan};

/// The findings as lines that editors and compilers' readers know:
/// `file:line:col: function: what`, then a summary. With `verbose`, each part
/// that was not analysed has its line.
#[must_use]
pub fn findings_text(scan: &Scan, verbose: bool) -> String {
    let mut out = String::new();
    for finding in &scan.findings {
        line(&mut out, finding);
    }
    if verbose {
        scan.missed
            .iter()
            .for_each(|missed| push(&mut out, format_args!("{missed}\n")));
    }
    summary(&mut out, scan, verbose);
    out
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = out.write_fmt(text);
}

fn line(out: &mut String, finding: &Finding) {
    let function = &finding.function;
    let place = function
        .runs
        .first()
        .and_then(|run| run.sites.first())
        .map_or(function.position, |site| site.position);
    let (reads, writes) = (
        function.count(Direction::Read),
        function.count(Direction::Write),
    );
    let counts = [(reads, "read"), (writes, "write")]
        .into_iter()
        .filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts.map(|(n, what)| plural(n, what)).collect();
    let saved = plural(function.windows_saved(), "window");
    let (path, name, forms) = (&finding.path, &function.name, names(&function.forms()));
    let counts = counts.join(", ");
    push(
        out,
        format_args!(
            "{path}:{}:{}: {name}: {counts}, {saved} saved ({forms})\n",
            place.line, place.column
        ),
    );
}

fn plural(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn names(forms: &[Form]) -> String {
    forms
        .iter()
        .map(|form| form.name())
        .collect::<Vec<_>>()
        .join(", ")
}

fn summary(out: &mut String, scan: &Scan, verbose: bool) {
    let functions = plural(scan.findings.len(), "function");
    let verb = if scan.findings.len() == 1 {
        "pays"
    } else {
        "pay"
    };
    push(
        out,
        format_args!(
            "{functions} {verb} more than once: {}, ",
            plural(scan.runs(), "run")
        ),
    );
    push(
        out,
        format_args!("{}, ", plural(scan.count(Direction::Read), "read")),
    );
    push(
        out,
        format_args!("{}, ", plural(scan.count(Direction::Write), "write")),
    );
    push(
        out,
        format_args!(
            "{} saved by one window a run\n",
            plural(scan.windows_saved(), "window")
        ),
    );
    let files = plural(scan.files, "file");
    push(
        out,
        format_args!(
            "{files} read, {} of user memory, {} parsed",
            accesses(scan.lexical),
            scan.parsed
        ),
    );
    let hint = if verbose || scan.missed.is_empty() {
        ""
    } else {
        " (--verbose lists them)"
    };
    push(
        out,
        format_args!(", {} not analysed{hint}\n", scan.missed.len()),
    );
}

fn accesses(number: usize) -> String {
    format!("{number} access{}", if number == 1 { "" } else { "es" })
}

/// The version of the JSON form of findings; it grows when a reader would break.
pub const FINDINGS_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    tool: &'static str,
    tree: &'a str,
    summary: Summary,
    findings: Vec<JsonFinding<'a>>,
    not_analysed: Vec<JsonMissed<'a>>,
}

#[derive(Serialize)]
struct Summary {
    files_read: usize,
    accesses: usize,
    accesses_parsed: usize,
    functions: usize,
    runs: usize,
    reads: usize,
    writes: usize,
    windows_saved: usize,
    not_analysed: usize,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    function: &'a str,
    reads: usize,
    writes: usize,
    windows_saved: usize,
    forms: Vec<&'static str>,
    understood: bool,
    runs: Vec<JsonRun<'a>>,
}

#[derive(Serialize)]
struct JsonRun<'a> {
    line: u32,
    column: u32,
    forms: Vec<&'static str>,
    objects: Vec<&'a str>,
    windows_saved: usize,
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
    file: &'a str,
    line: Option<u32>,
    column: Option<u32>,
    function: Option<&'a str>,
    reason: String,
}

/// The findings as JSON, in the form of `schema/scan.schema.json`. `tree` is
/// the tree as the user named it.
#[must_use]
pub fn findings_json(scan: &Scan, tree: &str) -> String {
    let document = Document {
        version: FINDINGS_VERSION,
        tool: "tollgate",
        tree,
        summary: json_summary(scan),
        findings: scan.findings.iter().map(json_finding).collect(),
        not_analysed: scan.missed.iter().map(json_missed).collect(),
    };
    // Plain data with string keys: serialisation has nothing to fail on.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn json_summary(scan: &Scan) -> Summary {
    Summary {
        files_read: scan.files,
        accesses: scan.lexical,
        accesses_parsed: scan.parsed,
        functions: scan.findings.len(),
        runs: scan.runs(),
        reads: scan.count(Direction::Read),
        writes: scan.count(Direction::Write),
        windows_saved: scan.windows_saved(),
        not_analysed: scan.missed.len(),
    }
}

fn json_finding(finding: &Finding) -> JsonFinding<'_> {
    let function = &finding.function;
    JsonFinding {
        file: &finding.path,
        line: function.position.line,
        column: function.position.column,
        function: &function.name,
        reads: function.count(Direction::Read),
        writes: function.count(Direction::Write),
        windows_saved: function.windows_saved(),
        forms: function.forms().into_iter().map(Form::name).collect(),
        understood: function.understood,
        runs: function.runs.iter().map(json_run).collect(),
    }
}

fn json_run(run: &Run) -> JsonRun<'_> {
    let first = run
        .sites
        .first()
        .map(|site| site.position)
        .unwrap_or_default();
    JsonRun {
        line: first.line,
        column: first.column,
        forms: run.forms.iter().map(|form| form.name()).collect(),
        objects: run.objects(),
        windows_saved: run.windows_saved(),
        traits: &run.traits,
        accesses: run.sites.iter().map(json_access).collect(),
    }
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
            file: &missed.path,
            line: None,
            column: None,
            function: None,
            reason: format!("not read: {reason}"),
        },
        MissedPart::Access(access) => JsonMissed {
            file: &missed.path,
            line: Some(access.position.line),
            column: Some(access.position.column),
            function: access.function.as_deref(),
            reason: format!("{}(): {}", access.call, access.reason.words()),
        },
    }
}
