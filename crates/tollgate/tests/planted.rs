//! The mistakes of `tests/planted`, each put into a function of Linux 7.3.4 and named by
//! `tollgate check` (`scripts/planted`).

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::path::Path;
use std::process::{Command, Output};

/// What `scripts/planted` says of a tree.
fn planted(tree: &Path) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/planted");
    let mut command = Command::new(script);
    command.arg(env!("CARGO_BIN_EXE_tollgate")).arg(tree);
    command.output().unwrap()
}

#[test]
fn nineteen_in_twenty_of_the_planted_mistakes_are_named() {
    let Some(tree) = tollgate_testing::kernel::newer() else {
        return;
    };
    let output = planted(&tree);
    let table = String::from_utf8_lossy(&output.stdout);
    let said = format!("{table}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    let rows = table.lines().filter(|line| line.contains(" named"));
    assert!(rows.count() > 57, "{said}");
}

#[test]
fn a_list_of_another_tree_is_no_answer() {
    let empty = tempfile::tempdir().unwrap();
    let output = planted(empty.path());
    assert_eq!(output.status.code(), Some(2));
}
