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
