//! `tollgate prove -- PROGRAM` on the fake tree and the fake QEMU.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use support::{Lab, code, run};

/// A program of one line, linked as `flags` say.
fn compile(lab: &Lab, name: &str, flags: &[&str]) -> PathBuf {
    let source = lab.path("own.c");
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let program = lab.path(name);
    let mut gcc = Command::new("gcc");
    gcc.args(flags).arg("-o").arg(&program).arg(&source);
    assert!(gcc.status().unwrap().success());
    program
}

#[test]
fn a_program_of_ones_own_is_counted() {
    let lab = Lab::new();
    compile(&lab, "my-benchmark", &["-static"]);
    let json = lab.path("out.json");
    let mut prove = lab.prove(&["--variant", "window", "--json"]);
    let output = run(prove.arg(&json).args(["--", "./my-benchmark", "64"]));
    let stdout = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(code(&output), 0, "{}\n{stdout}", lab.said(&output));
    for words in ["epoll with my-benchmark 64", "my-benchmark/wait", "getppid"] {
        assert!(stdout.contains(words), "{words} is not in:\n{stdout}");
    }
    let text = fs::read_to_string(json).unwrap();
    assert!(text.contains("my-benchmark/wait") && !text.contains("\"tcp_rr\""));
    let schema = include_str!("../../../schema/prove.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    assert!(schema.is_valid(&serde_json::from_str(&text).unwrap()));
}

#[test]
fn a_program_that_fails_is_named_with_its_words() {
    let lab = Lab::new();
    compile(&lab, "mine", &["-static"]);
    let mut prove = lab.prove(&["--", "./mine"]);
    let output = run(prove.env("FAKE_QEMU", "program"));
    let said = lab.said(&output);
    assert_eq!(code(&output), 2, "{said}");
    assert!(
        said.contains("mine in the guest, on the base: it ended with status 3"),
        "{said}"
    );
}

/// Fails before anything is built.
fn refused(lab: &Lab, program: &str, wanted: &str) {
    let output = run(&mut lab.prove(&["--", program]));
    let said = lab.said(&output);
    assert_eq!(code(&output), 2, "{said}");
    assert!(said.contains(wanted), "{wanted} is not in:\n{said}");
    assert!(!lab.cache().join("images").exists(), "{said}");
}

#[test]
fn what_the_guest_cannot_run_is_refused_before_the_build() {
    let lab = Lab::new();
    refused(&lab, "./nosuch", "could not read the program ./nosuch");
    fs::write(lab.path("script"), "#!/bin/sh\n").unwrap();
    refused(&lab, "./script", "./script is no ELF program");
    compile(&lab, "dynamic", &[]);
    refused(&lab, "./dynamic", "./dynamic is linked dynamically");
    compile(&lab, "object", &["-c"]);
    refused(&lab, "./object", "./object is an object file");
    let mut other = fs::read(compile(&lab, "arm", &["-static"])).unwrap();
    // e_machine of the ELF header: EM_AARCH64.
    other[18] = 183;
    fs::write(lab.path("arm"), other).unwrap();
    refused(&lab, "./arm", "./arm is a program for arm64");
}

/// Two programs on one kernel, whose own instructions decide.
#[test]
fn two_builds_of_a_program_are_compared() {
    let lab = Lab::new();
    compile(&lab, "old", &["-static"]);
    compile(&lab, "new", &["-static", "-O2"]);
    let json = lab.path("out.json");
    let mut prove = lab.tollgate(&["prove", "--tree"]);
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-qemu");
    prove.arg(lab.tree()).arg("--cache").arg(lab.cache());
    prove.args(["--qemu", here, "--json"]).arg(&json);
    prove.args(["--against", "new=./new", "--", "./old", "64"]);
    let output = run(&mut prove);
    let stdout = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(code(&output), 0, "{}\n{stdout}", lab.said(&output));
    for words in ["B = new", "old/wait", "Instructions of the program", "both"] {
        assert!(stdout.contains(words), "{words} is not in:\n{stdout}");
    }
    // One kernel for both.
    let images = fs::read_dir(lab.cache().join("images")).unwrap();
    assert_eq!(images.count(), 1);
    let text = fs::read_to_string(json).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let comparison = &value["comparisons"][0];
    assert_ne!(comparison["before"]["id"], comparison["after"]["id"]);
}

#[test]
fn what_is_no_other_program_is_refused() {
    let lab = Lab::new();
    for wrong in ["new", "=./new", "new=", "a b=./new"] {
        let output = run(&mut lab.prove(&["--against", wrong, "--", "./old"]));
        let said = lab.said(&output);
        assert_eq!(code(&output), 2, "{said}");
        assert!(said.contains("is not NAME=PROGRAM"), "{said}");
    }
    let output = run(&mut lab.prove(&["--against", "new=./new"]));
    assert_eq!(code(&output), 2);
    for names in [["a", "a"], ["a", "base"]] {
        let against = names.map(|name| format!("--against={name}=./new"));
        let output = run(lab.prove(&[]).args(against).args(["--", "./old"]));
        let said = lab.said(&output);
        assert_eq!(code(&output), 2, "{said}");
        assert!(said.contains("the name is taken"), "{said}");
    }
}
