//! What `tollgate check` says of Linux 6.12.117, finding by finding: each was
//! read and judged (tests/data/check-6.12.tsv). The tree is `TOLLGATE_TREE`, or
//! the one that `tollgate prove` has unpacked into the cache.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
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

fn is_the_kernel(tree: &Path) -> bool {
    let text = fs::read_to_string(tree.join("Makefile")).unwrap_or_default();
    let has = |line: &str| text.lines().any(|have| have == line);
    has("VERSION = 6") && has("PATCHLEVEL = 12") && has("SUBLEVEL = 117")
}

/// The tree that the list was made from, if it is at hand.
fn tree() -> Option<PathBuf> {
    let of = |name, below: &str| env::var_os(name).map(|dir| PathBuf::from(dir).join(below));
    let caches = [
        of("TOLLGATE_CACHE", ""),
        of("XDG_CACHE_HOME", "tollgate"),
        of("HOME", ".cache/tollgate"),
    ];
    let folders = caches
        .into_iter()
        .flatten()
        .filter_map(|cache| fs::read_dir(cache.join("trees")).ok());
    let unpacked = folders.flatten().flatten().map(|entry| entry.path());
    env::var_os("TOLLGATE_TREE")
        .map(PathBuf::from)
        .into_iter()
        .chain(unpacked)
        .find(|tree| is_the_kernel(tree))
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
    let Some(tree) = tree() else {
        eprintln!(
            "skipped: the judged findings: no Linux 6.12.117 in the cache; `tollgate prove epoll` \
             unpacks it, or set TOLLGATE_TREE"
        );
        return;
    };
    let judged: BTreeMap<Key, u64> = list()
        .into_iter()
        .map(|row| (row.key, row.findings))
        .collect();
    assert_eq!(found(&tree), judged);
}

#[test]
fn fewer_than_one_in_ten_is_false_and_the_specimen_is_there() {
    let list = list();
    let count = |verdict: &str| {
        let rows = list.iter().filter(|row| row.verdict == verdict);
        rows.map(|row| row.findings).sum::<u64>()
    };
    let (right, wrong) = (count("true"), count("exception"));
    let all: u64 = list.iter().map(|row| row.findings).sum();
    assert_eq!(all, right + wrong, "a verdict is true or exception");
    assert!(wrong * 10 < all, "{wrong} of {all} are false");
    assert!(list.iter().all(|row| row.reason.len() > 20));
    let specimen =
        |row: &Row| row.key.0 == "arch/x86/kernel/sys_ia32.c" && row.key.2 == "mismatched-end";
    assert!(list.iter().any(specimen));
}
