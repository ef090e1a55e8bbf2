//! The program of docs/own-benchmark.md on this machine, and what the guest
//! makes of a program's words.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: &str = include_str!("../../../docs/own-benchmark.md");

fn guest_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest")
}

fn compile(output: &Path, sources: &[PathBuf]) {
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-static", "-Wall", "-Wextra", "-Werror", "-I"]);
    gcc.arg(guest_folder()).arg("-o").arg(output).args(sources);
    assert!(gcc.status().unwrap().success());
}

/// The page's program.
fn example(folder: &Path) -> PathBuf {
    let (_, rest) = PAGE.split_once("```c\n").unwrap();
    let (source, _) = rest.split_once("```").unwrap();
    let path = folder.join("my-benchmark.c");
    std::fs::write(&path, source).unwrap();
    let program = folder.join("program");
    compile(&program, &[path]);
    program
}

/// The lines of the guest with `program` and its arguments beside the plan.
fn guest_says(folder: &Path, arguments: &[u8]) -> Vec<String> {
    let files = std::fs::read_dir(guest_folder()).unwrap();
    let sources = files.map(|file| file.unwrap().path());
    let sources: Vec<PathBuf> = sources
        .filter(|path| path.extension().is_some_and(|ending| ending == "c"))
        .collect();
    let guest = folder.join("guest");
    if !guest.exists() {
        compile(&guest, &sources);
    }
    std::fs::write(folder.join("program.args"), arguments).unwrap();
    std::fs::write(folder.join("plan"), "program mine\n").unwrap();
    let mut command = Command::new(guest);
    command.args(["--plan", "plan"]).current_dir(folder);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn the_page_s_program_is_numbered_phase_by_phase() {
    let folder = tempfile::tempdir().unwrap();
    let program = example(folder.path());
    let output = Command::new(&program).arg("3").output().unwrap();
    assert!(output.status.success());
    let lines = "@tg phase pipe ops=3\n".repeat(10);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), lines);
    let said = guest_says(folder.path(), b"mine\x003\0");
    let phase = |rep: usize| format!("@tg phase {rep} mine/pipe ops=3 rep={rep}");
    let mut wanted = vec!["@tg guest 1".to_owned()];
    wanted.extend((0..10).map(phase));
    wanted.push("@tg done".to_owned());
    assert_eq!(said, wanted);
}

#[test]
fn a_program_that_does_not_do_its_work_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = |body: &str| {
        let source = folder.path().join("bad.c");
        let text = format!("#include <stdio.h>\nint main(void) {{ {body} }}\n");
        std::fs::write(&source, text).unwrap();
        compile(&folder.path().join("program"), &[source]);
        let lines = guest_says(folder.path(), b"mine\0");
        lines
            .into_iter()
            .find(|line| line.starts_with("@tg error"))
            .unwrap()
    };
    let bodies = [
        "return 0;",
        "puts(\"no device\"); return 3;",
        "__builtin_trap();",
        "puts(\"@tg phase a ops=1\"); return 0;",
        "puts(\"@tg phase a ops=0\"); return 0;",
        "puts(\"@tg phase a ops=9\"); puts(\"@tg phase a ops=1\"); puts(\"@tg phase a ops=2\"); return 0;",
        "puts(\"@tg done\"); return 0;",
        "puts(\"@tg phase a ops=1 ns=-5\"); return 0;",
        "puts(\"@tg phase a ops=1 us=5\"); return 0;",
    ];
    insta::assert_snapshot!(bodies.map(error).join("\n"));
}
