//! The gates for programs; `schema/gates.schema.json` describes them.

use std::borrow::Cow;

use crate::json::to_json;
use serde::Serialize;
use tollgate_defect::Defect;
use tollgate_gates::{
    Analysis, Changes, Counts, Finding, Frame, FunctionGates, Line, Listing, Mark, Repeat, Window,
};
use tollgate_source::Name;

use crate::name::text;

/// The version of the JSON form of gates; it grows when a reader would break.
pub const GATES_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    objects: Option<Vec<Object<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before_uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<&'a Changes>,
}

#[derive(Serialize)]
struct Object<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_uri: Option<String>,
    arch: &'a str,
    functions_read: usize,
    totals: Counts,
    patched: Counts,
    patched_in_functions: Counts,
    unread_records: usize,
    functions: Vec<Function<'a>>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    section: &'a str,
    address: u64,
    bytes: u64,
    instructions: usize,
    counts: Counts,
    inside: usize,
    paths_lost: bool,
    windows: &'a [Window],
    repeats: &'a [Repeat],
    findings: &'a [Finding],
}

/// The gates of objects, those functions that cross or break a rule.
///
/// # Errors
/// None that input can cause.
pub fn gates_json(objects: &[(Name, Analysis)]) -> Result<String, Defect> {
    to_json(&Document {
        version: GATES_VERSION,
        kind: "gates",
        objects: Some(objects.iter().map(object).collect()),
        before: None,
        before_uri: None,
        after: None,
        after_uri: None,
        changes: None,
    })
}

/// What a change did.
///
/// # Errors
/// None that input can cause.
pub fn against_json(before: &Name, after: &Name, changes: &Changes) -> Result<String, Defect> {
    let [(before, before_uri), (after, after_uri)] = [before, after].map(text);
    to_json(&Document {
        version: GATES_VERSION,
        kind: "against",
        objects: None,
        before: Some(before),
        before_uri,
        after: Some(after),
        after_uri,
        changes: Some(changes),
    })
}

#[derive(Serialize)]
struct JsonListings<'a> {
    version: u32,
    kind: &'static str,
    object: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_uri: Option<String>,
    listings: Vec<JsonListing<'a>>,
}

#[derive(Serialize)]
struct JsonListing<'a> {
    function: Function<'a>,
    source_missing: Option<&'a str>,
    lines: Vec<JsonLine<'a>>,
}

#[derive(Serialize)]
struct JsonLine<'a> {
    address: u64,
    text: &'a str,
    does: Mark,
    inside: bool,
    access: bool,
    patched: bool,
    target: Option<&'a str>,
    source: Vec<JsonFrame<'a>>,
}

#[derive(Serialize)]
struct JsonFrame<'a> {
    file: &'a str,
    line: u64,
    function: Option<&'a str>,
}

/// The functions of one name, instruction by instruction.
///
/// # Errors
/// None that input can cause.
pub fn listing_json(name: &Name, listings: &[Listing]) -> Result<String, Defect> {
    let (object, object_uri) = text(name);
    to_json(&JsonListings {
        version: GATES_VERSION,
        kind: "listing",
        object,
        object_uri,
        listings: listings.iter().map(listing).collect(),
    })
}

fn listing(listing: &Listing) -> JsonListing<'_> {
    JsonListing {
        function: function(&listing.function),
        source_missing: listing.left_out.as_deref(),
        lines: listing.lines.iter().map(line).collect(),
    }
}

fn line(line: &Line) -> JsonLine<'_> {
    JsonLine {
        address: line.address,
        text: &line.text,
        does: line.mark,
        inside: line.inside,
        access: line.access,
        patched: line.patched,
        target: line.target.as_deref(),
        source: line.source.iter().map(frame).collect(),
    }
}

fn frame(frame: &Frame) -> JsonFrame<'_> {
    JsonFrame {
        file: &frame.file,
        line: frame.line.into(),
        function: frame.function.as_deref(),
    }
}

fn object((name, analysis): &(Name, Analysis)) -> Object<'_> {
    let (name, name_uri) = text(name);
    let functions = analysis.functions.iter();
    let told = functions.filter(|f| f.crosses() || !f.findings.is_empty());
    Object {
        name,
        name_uri,
        arch: &analysis.arch,
        functions_read: analysis.functions.len(),
        totals: analysis.totals(),
        patched: analysis.patched,
        patched_in_functions: analysis.patched_in_functions,
        unread_records: analysis.unread_records,
        functions: told.map(function).collect(),
    }
}

fn function(function: &FunctionGates) -> Function<'_> {
    Function {
        name: &function.name,
        section: &function.section,
        address: function.address,
        bytes: function.bytes,
        instructions: function.instructions,
        counts: function.counts,
        inside: function.inside,
        paths_lost: function.lost,
        windows: &function.windows,
        repeats: &function.repeats,
        findings: &function.findings,
    }
}
