//! Every patch that `tollgate fix` writes for the generic and x86 code of a kernel,
//! compiled in an allmodconfig and looked at by objtool: `TOLLGATE_FIX_ALL=TREE`.
//! From nothing that is an hour's work, so it is for whoever asks; with the work
//! directory of an earlier run (`TOLLGATE_FIX_ALL_WORK`) only what changed is
//! compiled.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::path::Path;
use std::process::Command;

/// What docs/fix-all.md promises at the least.
const CONVERTED_PERCENT: f64 = 60.0;

#[test]
fn every_patch_compiles_and_objtool_says_nothing_new() {
    let Some(tree) = tollgate_testing::asked("TOLLGATE_FIX_ALL") else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fix-all");
    let mut command = Command::new(script);
    command.arg("-t").arg(env!("CARGO_BIN_EXE_tollgate"));
    if let Some(work) = std::env::var_os("TOLLGATE_FIX_ALL_WORK") {
        command.arg("-w").arg(work);
    }
    let output = command.arg(tree).output().unwrap();
    let table = String::from_utf8_lossy(&output.stdout);
    let said = format!("{table}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    let converted = percent(&table, "converted: patch applies").unwrap();
    assert!(converted >= CONVERTED_PERCENT, "{said}");
    for wrong in ["NEW WARNING", "BROKEN", "DOES NOT APPLY"] {
        assert_eq!(percent(&table, wrong), Some(0.0), "{said}");
    }
}

/// The share of an outcome: `127   63.5 %  converted: …`.
fn percent(table: &str, outcome: &str) -> Option<f64> {
    let line = table
        .lines()
        .find(|line| line.contains(outcome) && line.contains('%'))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn the_share_of_an_outcome_is_read_from_the_table() {
    let table =
        "f.c:f: converted\n   127   63.5 %  converted: patch applies\n     0    0.0 %  BROKEN: x\n";
    assert_eq!(percent(table, "converted: patch applies"), Some(63.5));
    assert_eq!(percent(table, "BROKEN"), Some(0.0));
    assert_eq!(percent(table, "NEW WARNING"), None);
}
