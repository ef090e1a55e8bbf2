//! `tollgate run` on this machine: the form of what it says, never how long
//! anything took.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test says what it expects"
)]

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn run(cache: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.arg("run").args(args).env("TOLLGATE_CACHE", cache);
    command.output().unwrap()
}

fn faults(document: &Value) -> Vec<String> {
    let schema = include_str!("../../../schema/run.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    schema
        .iter_errors(document)
        .map(|e| e.to_string())
        .collect()
}

#[test]
fn a_family_is_timed_and_one_less_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("times.json");
    let file = file.to_str().unwrap();
    let output = run(
        folder.path(),
        &[
            "signal_catch",
            "signal_null",
            "--reps",
            "10",
            "--ops",
            "50",
            "--json",
            file,
        ],
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        text.starts_with("Timed on this machine, ns per operation\n"),
        "{text}"
    );
    for part in [
        "signal_catch avx=0 less signal_null avx=0",
        "Measured on\n",
        "0x746f6c6c67617465",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.ends_with("2 benchmarks timed, 0 not run\n"), "{text}");
    let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(faults(&document), Vec::<String>::new());
    for workload in document["workloads"].as_array().unwrap() {
        assert_eq!(workload["nanoseconds"].as_array().unwrap().len(), 10);
        assert_eq!(workload["operations"], 50);
    }
    assert_eq!(document["differences"].as_array().unwrap().len(), 1);
}

#[test]
fn operations_are_chosen_for_each_value_of_a_parameter() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("times.json");
    let args = [
        "epoll_wait",
        "--param",
        "events=1,64",
        "--reps",
        "10",
        "--cpu",
        "any",
        "--json",
    ];
    let output = run(
        folder.path(),
        &[&args[..], &[file.to_str().unwrap()]].concat(),
    );
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(document["host"]["pinned"], Value::Null);
    assert_eq!(document["rounds"]["chosen_for_microseconds"], 2000);
    let workloads = document["workloads"].as_array().unwrap();
    let events: Vec<_> = workloads
        .iter()
        .map(|w| w["parameters"]["events"].as_i64())
        .collect();
    assert_eq!(events, [Some(1), Some(64)]);
}

#[test]
fn what_cannot_be_run_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("times.json");
    let card = Path::new("/dev/dri/card0").exists();
    let args = [
        "getppid",
        "drm_ioctl",
        "--reps",
        "10",
        "--ops",
        "10",
        "--json",
    ];
    let output = run(
        folder.path(),
        &[&args[..], &[file.to_str().unwrap()]].concat(),
    );
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let timed = document["workloads"].as_array().unwrap().len();
    let not_run = document["not_run"].as_array().unwrap();
    assert_eq!(timed + not_run.len(), 2);
    if card {
        eprintln!("skipped: this machine has a graphics card");
        return;
    }
    assert_eq!(not_run[0]["job"], "drm_ioctl dir=3 size=8");
    let output = run(folder.path(), &["drm_ioctl", "--reps", "10"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("error: nothing could be measured:\n  drm_ioctl dir=3 size=8: no card"),
        "{said}"
    );
}

#[test]
fn an_abi_without_a_compiler_or_a_kernel_for_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("times.json");
    let args = [
        "getppid", "--abi", "x32", "--reps", "10", "--ops", "10", "--json",
    ];
    let output = run(
        folder.path(),
        &[&args[..], &[file.to_str().unwrap()]].concat(),
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) => eprintln!("skipped: this machine runs x32 programs"),
        code => {
            assert_eq!(code, Some(2), "{said}");
            let named = said.contains("\n  getppid (x32): ");
            assert!(named || said.contains("no ABI x32"), "{said}");
        }
    }
}

#[test]
fn wrong_words_are_sentences() {
    let folder = tempfile::tempdir().unwrap();
    let said = |args: &[&str]| {
        let output = run(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(&[]).contains("nothing to time: name benchmarks"));
    assert!(said(&["sig"]).contains("no benchmark is called sig; there are: getppid"));
    assert!(said(&["getppid", "--reps", "9"]).contains("9 is not in 10..=10000"));
    assert!(said(&["getppid", "--param", "events=1"]).contains("has a parameter events"));
    assert!(said(&["getppid", "--abi", "vax"]).contains("no ABI vax"));
    assert!(
        said(&["getppid", "--cpu", "100000", "--ops", "1"]).contains("cannot stay on processor")
    );
    assert!(said(&["getppid", "--json", "/nonexistent/x"]).contains("no such folder"));
}
