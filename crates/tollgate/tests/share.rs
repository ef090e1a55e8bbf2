//! What is installed beside the program: a page for each command, and completions that
//! a shell takes.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn share(folder: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    let output = command.arg("share").arg(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_command_has_a_page_with_its_flags() {
    let dir = tempfile::tempdir().unwrap();
    share(dir.path());
    let pages = fs::read_dir(dir.path().join("man/man1")).unwrap();
    let mut names: Vec<String> = pages
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    insta::assert_snapshot!(names.join("\n"));
    let prove = fs::read_to_string(dir.path().join("man/man1/tollgate-prove.1")).unwrap();
    for word in ["\\-\\-compiler", "\\-\\-config\\-file", "Exit codes"] {
        assert!(prove.contains(word), "{word}");
    }
}

#[test]
fn bash_completes_commands_and_flags() {
    let dir = tempfile::tempdir().unwrap();
    share(dir.path());
    let script = dir.path().join("bash-completion/completions/tollgate");
    let complete = |words: &str, at: usize| {
        let program = format!(
            ". '{}'; COMP_WORDS=({words}); COMP_CWORD={at}; _tollgate tollgate \"${{COMP_WORDS[{at}]}}\" \"${{COMP_WORDS[{}]}}\"; echo \"${{COMPREPLY[*]}}\"",
            script.to_str().unwrap(),
            at - 1
        );
        said(
            &Command::new("bash")
                .args(["--norc", "-c", &program])
                .output()
                .unwrap(),
        )
    };
    assert_eq!(complete("tollgate prov", 1).trim(), "prove");
    assert_eq!(complete("tollgate prove --com", 2).trim(), "--compiler");
    assert_eq!(complete("tollgate cache pr", 2).trim(), "prune");
}

#[test]
fn zsh_takes_its_completions() {
    let dir = tempfile::tempdir().unwrap();
    share(dir.path());
    let script = fs::read_to_string(dir.path().join("zsh/site-functions/_tollgate")).unwrap();
    assert!(script.starts_with("#compdef tollgate"));
    for word in ["'prove:", "'doctor:", "--compiler=["] {
        assert!(script.contains(word), "{word}");
    }
}
