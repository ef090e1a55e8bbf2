//! What `tollgate check` says of Linux 6.12.117, finding by finding: each was
//! read and judged (tests/data/check-6.12.tsv).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says what it expects"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const LIST: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/check-6.12.tsv"
);

/// Path, function, rule.
type Key = (String, String, String);

struct Row {
    key: Key,
    findings: u64,
    verdict: String,
    reason: String,
}

fn list() -> Vec<Row> {
    let text = fs::read_to_string(LIST).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [path, function, rule, findings, verdict, reason] = cells.as_slice() else {
            panic!("six columns: {line}");
        };
        Row {
            key: (path.to_string(), function.to_string(), rule.to_string()),
            findings: findings.parse().unwrap(),
            verdict: verdict.to_string(),
            reason: reason.to_string(),
        }
    };
    text.lines().skip(1).map(row).collect()
}

fn found(tree: &Path) -> BTreeMap<Key, u64> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    let output = command
        .arg("check")
        .arg(tree)
        .args(["--format", "json"])
        .output()
        .unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut all = BTreeMap::new();
    for finding in json["findings"].as_array().unwrap() {
        let text = |name: &str| finding[name].as_str().unwrap_or("-").to_owned();
        *all.entry((text("file"), text("function"), text("rule")))
            .or_default() += 1;
    }
    all
}

#[test]
fn every_finding_on_the_kernel_was_judged() {
    let Some(tree) = tollgate_testing::kernel::tree() else {
        return;
    };
    let judged: BTreeMap<Key, u64> = list()
        .into_iter()
        .map(|row| (row.key, row.findings))
        .collect();
    assert_eq!(found(&tree), judged);
}

/// Of what the program says now, whatever the list has besides.
#[test]
fn fewer_than_one_in_ten_is_false_and_the_specimen_is_there() {
    let Some(tree) = tollgate_testing::kernel::tree() else {
        return;
    };
    let found = found(&tree);
    let list = list();
    let verdict = |key: &Key| {
        let row = list.iter().find(|row| row.key == *key);
        row.map_or("not judged", |row| row.verdict.as_str())
    };
    let count = |wanted: &str| {
        let of = found.iter().filter(|(key, _)| verdict(key) == wanted);
        of.map(|(_, findings)| findings).sum::<u64>()
    };
    let (right, wrong) = (count("true"), count("exception"));
    let all: u64 = found.values().sum();
    assert_eq!(all, right + wrong, "a verdict is true or exception");
    assert!(wrong * 10 < all, "{wrong} of {all} are false");
    assert!(list.iter().all(|row| row.reason.len() > 20));
    let specimen = |key: &Key| key.0 == "arch/x86/kernel/sys_ia32.c" && key.2 == "mismatched-end";
    assert!(found.keys().any(specimen));
}
