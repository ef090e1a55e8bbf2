//! What `tollgate check` says of Linux 6.12.117 and 7.3.4, finding by finding: each
//! was read and judged (tests/data/check-6.12.tsv, check-7.3.tsv).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says what it expects"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const LISTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");

/// A judged kernel: its list, and where its tree is.
type Judged = (&'static str, fn() -> Option<PathBuf>);

const KERNELS: [Judged; 2] = [
    ("check-6.12.tsv", tollgate_testing::kernel::tree),
    ("check-7.3.tsv", tollgate_testing::kernel::newer),
];

/// Path, function, rule.
type Key = (String, String, String);

struct Row {
    key: Key,
    findings: u64,
    verdict: String,
    reason: String,
}

fn list(name: &str) -> Vec<Row> {
    let text = fs::read_to_string(Path::new(LISTS).join(name)).unwrap();
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
fn every_finding_on_a_kernel_was_judged() {
    for (name, tree) in KERNELS {
        let Some(tree) = tree() else { continue };
        let rows = list(name).into_iter();
        let judged: BTreeMap<Key, u64> = rows.map(|row| (row.key, row.findings)).collect();
        assert_eq!(found(&tree), judged, "{name}");
    }
}

/// Of what the program says now, whatever the list has besides.
#[test]
fn one_in_twenty_is_false_at_most_and_the_specimen_is_there() {
    for (name, tree) in KERNELS {
        let Some(tree) = tree() else { continue };
        let (found, list) = (found(&tree), list(name));
        let verdict = |key: &Key| {
            let row = list.iter().find(|row| row.key == *key);
            row.map_or("not judged", |row| row.verdict.as_str())
        };
        let count = |wanted: &str| {
            let of = found.iter().filter(|(key, _)| verdict(key) == wanted);
            of.map(|(_, findings)| findings).sum::<u64>()
        };
        let (right, open, wrong) = (count("true"), count("arguable"), count("exception"));
        let all: u64 = found.values().sum();
        let judged = right + open + wrong;
        assert_eq!(all, judged, "a verdict is true, arguable or exception");
        assert!(wrong * 20 <= all, "{name}: {wrong} of {all} are false");
        assert!(open * 20 <= all * 3, "{name}: {open} of {all} are arguable");
        assert!(list.iter().all(|row| row.reason.len() > 20));
        let specimen =
            |key: &Key| key.0 == "arch/x86/kernel/sys_ia32.c" && key.2 == "mismatched-end";
        assert!(found.keys().any(specimen), "{name}");
    }
}
