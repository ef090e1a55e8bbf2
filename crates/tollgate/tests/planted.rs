//! The mistakes of `tests/planted`, each put into a function of Linux 7.3.4 and named by
//! `tollgate check` (`scripts/planted`).

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::path::Path;
use std::process::{Command, Output};

/// What `scripts/planted` says of a tree and a list.
fn planted(tree: &Path, list: &str) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(root.join("scripts/planted"));
    command.arg(env!("CARGO_BIN_EXE_tollgate")).arg(tree);
    command.arg(root.join("tests/planted").join(list));
    command.output().unwrap()
}

/// How many mistakes of a list are named, and in words which.
fn named(tree: &Path, list: &str) -> (usize, String) {
    let output = planted(tree, list);
    let table = String::from_utf8_lossy(&output.stdout);
    let said = format!("{table}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
    let rows = table.lines().filter(|line| line.contains(" named "));
    (rows.count(), said)
}

#[test]
fn nineteen_in_twenty_of_the_planted_mistakes_are_named() {
    let Some(tree) = tollgate_testing::kernel::newer() else {
        return;
    };
    for (list, all) in [("7.3.toml", 67), ("7.3-more.toml", 48)] {
        let (found, said) = named(&tree, list);
        assert!(found <= all && found * 10 >= all * 9, "{said}");
        assert!(list != "7.3.toml" || found * 20 >= all * 19, "{said}");
    }
}

#[test]
fn a_list_of_another_tree_is_no_answer() {
    let empty = tempfile::tempdir().unwrap();
    let output = planted(empty.path(), "7.3.toml");
    assert_eq!(output.status.code(), Some(2));
}
