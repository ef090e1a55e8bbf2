//! `benches/checkers` puts the mistakes of `tests/` to other checkers: what of it needs none
//! of them.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What Python prints of the script's modules.
fn python(program: &str) -> String {
    let folder = root().join("benches/checkers");
    let head = "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1])\n";
    let mut command = Command::new("python3");
    command
        .arg("-c")
        .arg(format!("{head}{program}"))
        .arg(folder);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(root().join("benches/checkers/run"));
    command.args(["--tollgate", env!("CARGO_BIN_EXE_tollgate")]);
    command.args(arguments).output().unwrap()
}

#[test]
fn every_mistake_of_the_corpus_has_what_a_compiler_needs_of_it() {
    let count = python("import mistakes; print(len(list(mistakes.of_corpus())))");
    let folders = std::fs::read_dir(root().join("tests/mistakes")).unwrap();
    let folders = folders.filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert_eq!(count.trim(), folders.count().to_string());
}

#[test]
fn what_was_judged_is_of_a_list_and_has_a_reason() {
    let reasons = python(
        "import results; judged = results.Judged()\n\
         for why in [*judged.others.values(), *judged.missed.values()]: print(len(why) > 20)",
    );
    assert!(reasons.lines().all(|line| line == "True"), "{reasons}");
}

#[test]
fn a_message_is_the_same_on_another_line() {
    let said = python(
        "import tools\n\
         for line in ['/a/b.c:12:3: warning: is odd [-Wodd]', 'b.c:9 f() error: said so (see line 7)',\n\
                      '/c/b.c:1:2-5: WARNING: seen on line 88', 'make: *** [b.o] Error 1',\n\
                      'b.c:5 f() warn: inconsistent returns (lines: 3,9)']:\n\
         \x20   print(*tools.places(line))",
    );
    let wanted = [
        "b.c: warning: is odd [-Wodd]",
        "b.c: f() error: said so (see line)",
        "b.c: WARNING: seen on line",
        "",
        "b.c: f() warn: inconsistent returns (lines:)",
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), wanted);
}

#[test]
fn where_nothing_can_be_compared_a_sentence_says_why() {
    let empty = tempfile::tempdir().unwrap();
    let output = run(&[&format!("corpus={}", empty.path().display())]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("is no kernel tree") || said.contains("benches/checkers/setup"),
        "{said}"
    );
    let output = run(&["no-such-list=."]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("it is LIST=TREE"), "{said}");
}
