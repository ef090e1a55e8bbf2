//! What `tollgate scan` finds of the reference list, on the kernel that the
//! list was read from (tests/data/reference/README.md).

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

const LIST: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/reference/candidates-6.12.117.tsv"
);
/// What regular expressions alone find beyond it; `derive-beyond` beside it did.
const BEYOND: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/beyond-6.12.117.tsv"
);
/// Findings outside the list that were read by hand, and what is no run.
const SAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/precision-sample.tsv"
);
const KINDS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/precision-kinds.tsv"
);
/// The whole list's 300 of 302, in proportion: of 262, one may be missed.
const FOUND_OF_WHOLE: (usize, usize) = (300, 302);

/// A function of the list.
struct Row {
    path: String,
    function: String,
    runs: Vec<RangeInclusive<u64>>,
}

impl Row {
    fn words(&self) -> String {
        let runs = self
            .runs
            .iter()
            .map(|run| format!("{}-{}", run.start(), run.end()));
        format!(
            "{}: {}: lines {}",
            self.path,
            self.function,
            runs.collect::<Vec<_>>().join(", ")
        )
    }
}

fn list() -> Vec<Row> {
    rows(LIST, "run_lines")
}

/// The rows of a list, with the column that holds the lines.
fn rows(list: &str, lines_of: &str) -> Vec<Row> {
    let text = fs::read_to_string(list).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let column = |name| names.iter().position(|have| *have == name).unwrap();
    let (path, function, runs) = (column("path"), column("function"), column(lines_of));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        Row {
            path: cells[path].to_owned(),
            function: cells[function].to_owned(),
            runs: ranges(cells[runs]),
        }
    };
    lines.map(row).collect()
}

/// `54-55,67-73`
fn ranges(text: &str) -> Vec<RangeInclusive<u64>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap();
        first.parse().unwrap()..=last.parse().unwrap()
    };
    text.split(',').map(range).collect()
}

/// The lines of the accesses that a scan joins into runs, per file and function.
fn accesses(scan: &Value) -> HashMap<(&str, &str), Vec<u64>> {
    let mut all: HashMap<_, Vec<u64>> = HashMap::new();
    for finding in scan["findings"].as_array().unwrap() {
        let key = (
            finding["file"].as_str().unwrap(),
            finding["function"].as_str().unwrap(),
        );
        let runs = finding["runs"].as_array().into_iter().flatten();
        let sites = runs.flat_map(|run| run["accesses"].as_array().into_iter().flatten());
        all.entry(key)
            .or_default()
            .extend(sites.filter_map(|site| site["line"].as_u64()));
    }
    all
}

/// The rows of which the scan has no run: one of its accesses must lie in one
/// of the row's runs, a finding elsewhere in the function does not count.
fn missed<'a>(list: &'a [Row], scan: &Value) -> Vec<&'a Row> {
    let found = accesses(scan);
    let met = |row: &Row| {
        let lines = found.get(&(row.path.as_str(), row.function.as_str()));
        lines.is_some_and(|lines| {
            lines
                .iter()
                .any(|line| row.runs.iter().any(|run| run.contains(line)))
        })
    };
    list.iter().filter(|row| !met(row)).collect()
}

fn scan(tree: &Path) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command
        .arg("scan")
        .arg(tree)
        .args(["--arch", "all", "--kind", "all", "--format", "json"]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(1),
        "a scan that finds something ends with 1: {said}"
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_functions_of_the_reference_list_are_found() {
    let Some(tree) = tollgate_testing::kernel::tree() else {
        return;
    };
    let list = list();
    let scan = scan(&tree);
    let beyond = rows(BEYOND, "lines");
    let unknown: Vec<String> = missed(&beyond, &scan).into_iter().map(Row::words).collect();
    assert!(unknown.is_empty(), "missed beyond the list: {unknown:#?}");
    for (file, of, columns) in [
        (SAMPLE, "findings", SAMPLE_COLUMNS.as_slice()),
        (KINDS, "others", &KIND_COLUMNS),
    ] {
        let lost = lost(file, columns, scan[of].as_array().unwrap());
        assert!(lost.is_empty(), "judged, but found no more: {lost:#?}");
    }
    let missed = missed(&list, &scan);
    let (found, of) = (list.len() - missed.len(), list.len());
    let missed: Vec<String> = missed.into_iter().map(Row::words).collect();
    assert!(
        found * FOUND_OF_WHOLE.1 >= of * FOUND_OF_WHOLE.0,
        "{found} of {of} found; missed: {missed:#?}"
    );
}

/// Functions of Linux 7.3.4 in which `scripts/pairs` sees two accesses that no call
/// parts, or one in a loop.
const PAIRS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/pairs-7.3.tsv"
);

/// 98 of 100 of those that one window could serve on some way, and all that were
/// found when the list was judged.
#[test]
fn what_words_and_braces_show_is_found() {
    let Some(tree) = tollgate_testing::kernel::newer() else {
        return;
    };
    let scan = scan(&tree);
    let all = [&scan["findings"], &scan["others"]].into_iter();
    let all = all.flat_map(|of| of.as_array().unwrap());
    let pays = all.filter(|own| !own["kind"].as_str().unwrap().ends_with("-copy"));
    let name = |own: &Value, of: &str| own[of].as_str().unwrap().to_owned();
    let known: HashSet<Vec<String>> = pays
        .map(|own| vec![name(own, "file"), name(own, "function")])
        .collect();
    let rows = judged(PAIRS, &["path", "function"]);
    let of = |verdict: &str| rows.iter().filter(|row| row.1 == verdict).count();
    let lost: Vec<_> = rows
        .iter()
        .filter(|(key, verdict)| verdict == "found" && !known.contains(key))
        .collect();
    assert!(lost.is_empty(), "found no more: {lost:#?}");
    let new: Vec<_> = rows
        .iter()
        .filter(|(key, verdict)| verdict != "found" && known.contains(key))
        .collect();
    assert!(new.is_empty(), "found now, and judged otherwise: {new:#?}");
    let (found, missed) = (of("found"), of("missed"));
    assert!(found * 100 >= (found + missed) * 98, "{found}, {missed}");
    // What a scan shows that is asked for no kinds: nothing of different objects.
    let apart = |own: &&Value| own["kind"] != "other-object";
    let all = [&scan["findings"], &scan["others"]].into_iter();
    let shown = all.flat_map(|of| of.as_array().unwrap()).filter(apart);
    let shown: HashSet<Vec<String>> = shown
        .filter(|own| !own["kind"].as_str().unwrap().ends_with("-copy"))
        .map(|own| vec![name(own, "file"), name(own, "function")])
        .collect();
    let by_default = rows.iter().filter(|(key, _)| shown.contains(key)).count();
    assert!(
        by_default * 100 >= (found + missed) * 98,
        "{by_default} of {} by default",
        found + missed
    );
}

const SAMPLE_COLUMNS: [&str; 3] = ["file", "line", "function"];
const KIND_COLUMNS: [&str; 4] = ["kind", "file", "line", "call"];

/// The judged rows that no finding has in those columns.
fn lost(file: &str, columns: &[&str], findings: &[Value]) -> Vec<Vec<String>> {
    let cell = |finding: &Value, name: &&str| match &finding[*name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let found: HashSet<Vec<String>> = findings
        .iter()
        .map(|finding| columns.iter().map(|name| cell(finding, name)).collect())
        .collect();
    let keys = judged(file, columns).into_iter().map(|(key, _)| key);
    keys.filter(|key| !found.contains(key)).collect()
}

/// The judged rows, by those columns, each with its verdict.
fn judged(file: &str, columns: &[&str]) -> Vec<(Vec<String>, String)> {
    let text = fs::read_to_string(file).unwrap();
    let mut lines = text.lines().map(|line| line.split('\t'));
    let names: Vec<&str> = lines.next().unwrap().collect();
    let row = |cells| {
        let cells: HashMap<&str, &str> = names.iter().copied().zip(cells).collect();
        let key = columns.iter().map(|name| cells[name].to_owned()).collect();
        (key, cells["verdict"].to_owned())
    };
    lines.map(row).collect()
}

/// The verdicts that the README counts, of those rows alone that a scan of the
/// kernel still finds.
#[test]
fn the_samples_are_found_and_judged() {
    let Some(tree) = tollgate_testing::kernel::tree() else {
        return;
    };
    let scan = scan(&tree);
    let of = |file: &str, found: &str, columns: &[&str]| {
        let lost = lost(file, columns, scan[found].as_array().unwrap());
        let found = judged(file, columns).into_iter();
        let found = found.filter(|(key, _)| !lost.contains(key));
        let verdicts: Vec<String> = found.map(|(_, verdict)| verdict).collect();
        ["true", "arguable", "false"].map(|one| verdicts.iter().filter(|v| *v == one).count())
    };
    assert_eq!(of(SAMPLE, "findings", &SAMPLE_COLUMNS), [45, 3, 2]);
    assert_eq!(of(KINDS, "others", &KIND_COLUMNS), [41, 3, 0]);
}

#[test]
fn the_list_is_whole() {
    let list = list();
    assert_eq!(list.len(), 262);
    assert!(
        list.iter()
            .all(|row| row.runs.iter().all(|run| run.start() <= run.end()))
    );
    let epoll = list
        .iter()
        .find(|row| row.function == "epoll_put_uevent" && row.path == "include/linux/eventpoll.h");
    assert_eq!(
        epoll.unwrap().words(),
        "include/linux/eventpoll.h: epoll_put_uevent: lines 81-82"
    );
}

/// No fewer than are known to be there: 16 joined by assignments alone, and 30
/// that use macros.
#[test]
fn the_list_of_what_is_beyond_is_whole() {
    let text = fs::read_to_string(BEYOND).unwrap();
    let of = |kind: &str| text.lines().filter(|line| line.starts_with(kind)).count();
    assert_eq!((of("gap\t"), of("macro\t")), (19, 41));
    let by_macro = rows(BEYOND, "lines").into_iter();
    assert!(by_macro.into_iter().any(|row| row.path == "fs/fat/dir.c"));
}

#[test]
fn what_a_scan_does_not_report_is_missed() {
    let list = [
        row("a.c", "f", "10-12,20-21"),
        row("a.c", "g", "30-31"),
        row("b.c", "f", "10-12"),
    ];
    let scan = json!({"findings": [
        finding("a.c", "f", &[20, 21]),
        finding("a.c", "g", &[40, 41]),
        {"file": "b.c", "function": "f", "runs": []},
    ]});
    let missed: Vec<String> = missed(&list, &scan).into_iter().map(Row::words).collect();
    assert_eq!(missed, ["a.c: g: lines 30-31", "b.c: f: lines 10-12"]);
}

fn row(path: &str, function: &str, runs: &str) -> Row {
    Row {
        path: path.to_owned(),
        function: function.to_owned(),
        runs: ranges(runs),
    }
}

fn finding(file: &str, function: &str, lines: &[u64]) -> Value {
    let accesses: Vec<Value> = lines.iter().map(|line| json!({"line": line})).collect();
    json!({"file": file, "function": function, "runs": [{"accesses": accesses}]})
}
