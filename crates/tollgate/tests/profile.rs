//! `tollgate profile` and `tollgate compare` as a user meets them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test says what it expects"
)]

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::json;

fn tollgate(dir: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.current_dir(dir).args(words);
    command.output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

fn report(samples: u32, put: f64) -> String {
    let rest = 100.0 - put;
    format!(
        "# Samples: {samples}  of event 'cycles'\n# Overhead  Shared Object  Symbol\n  {put:.2}%  [kernel]  [k] __put_user_nocheck_4\n  {rest:.2}%  [kernel]  [k] ep_send_events\n"
    )
}

#[test]
fn a_profile_is_read_from_a_file_and_from_standard_input() {
    let dir = folder(&[("a.txt", &report(400, 12.5))]);
    let file = tollgate(dir.path(), &["profile", "a.txt"]);
    assert_eq!(file.status.code(), Some(0), "{}", told(&file));
    assert!(
        out(&file).contains("The boundary: 12.50 %"),
        "{}",
        out(&file)
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    let piped = command
        .args(["profile", "-", "--format", "json"])
        .write_stdin(report(400, 12.5))
        .output()
        .unwrap();
    let value: serde_json::Value = serde_json::from_slice(&piped.stdout).unwrap();
    assert_eq!(
        value["files"][0]["profiles"][0]["boundary"]["percent"],
        12.5
    );
    assert_eq!(value["files"][0]["file"], "standard input");
}

#[test]
fn what_cannot_be_read_is_said_with_its_line() {
    let dir = folder(&[
        ("a.txt", "\nsome words\n"),
        ("b.json", "{\n\"kind\": }"),
        ("c.folded", "a;b 1\na;c 2\nwords\n"),
        ("d", "PERFILE2"),
    ]);
    for (name, wanted) in [
        ("a.txt", "line 2 is: some words"),
        ("b.json", "line 2"),
        ("c.folded", "line 3 is no folded stack"),
        ("d", "cut off"),
        ("none", "could not be read"),
    ] {
        let said = tollgate(dir.path(), &["profile", name]);
        assert_eq!(said.status.code(), Some(2));
        assert!(told(&said).contains(wanted), "{}", told(&said));
        assert!(told(&said).contains(name), "{}", told(&said));
        assert!(!told(&said).contains("panicked"), "{}", told(&said));
    }
}

#[test]
fn profiles_are_compared_with_an_exit_code() {
    let dir = folder(&[
        ("a", &report(20_000, 12.0)),
        ("b", &report(20_000, 10.0)),
        ("c", &report(20_000, 12.05)),
        ("d", &report(100, 12.0)),
        (
            "unsaid",
            "  12.00%  [kernel]  [k] __put_user_4\n  88.00%  [kernel]  [k] rest\n",
        ),
    ]);
    let code = |words: &[&str]| {
        let output = tollgate(dir.path(), &[&["compare"], words].concat());
        (output.status.code().unwrap(), out(&output) + &told(&output))
    };
    assert_eq!(code(&["a", "b"]).0, 0, "less is paid");
    assert_eq!(code(&["b", "a"]).0, 1, "more is");
    assert_eq!(code(&["b", "--fail-above", "5", "--", "a"]).0, 0);
    assert_eq!(code(&["a", "c"]).0, 0, "equal");
    assert_eq!(code(&["b", "d"]).0, 2, "so few samples show nothing");
    let (told, text) = code(&["a", "unsaid"]);
    assert_eq!(told, 2);
    assert!(text.contains("nothing can be told of noise"), "{text}");
    assert!(code(&["a", "b", "c"]).1.contains("put -- before the first"));
    assert!(code(&["a"]).1.contains("holds one profile alone"));
    let (_, text) = code(&["a", "--group", "mine=ep_*", "--", "b"]);
    assert!(text.contains("mine: 88.00 % to 90.00 %"), "{text}");
    assert!(
        code(&["a", "--group", "nonsense", "--", "b"])
            .1
            .contains("is no group")
    );
}

#[test]
fn the_profiles_of_one_text_are_compared_with_each_other() {
    let text = format!(
        "First:\n\n{}\nSecond:\n\n{}\n",
        report(20_000, 12.0),
        report(20_000, 10.0)
    );
    let dir = folder(&[("mail", &text)]);
    let whole = tollgate(dir.path(), &["compare", "mail"]);
    assert_eq!(whole.status.code(), Some(0), "{}", told(&whole));
    assert!(out(&whole).contains("line 12: Second"), "{}", out(&whole));
    let two = tollgate(dir.path(), &["compare", "mail:12", "mail:5"]);
    assert_eq!(two.status.code(), Some(1), "{}", told(&two));
    let many = tollgate(dir.path(), &["compare", "mail", "mail:5"]);
    assert!(
        told(&many).contains("holds 2 profiles, at the lines 5, 12"),
        "{}",
        told(&many)
    );
}

/// What `tollgate run --json` writes of a boot whose `poll` takes about so many
/// nanoseconds.
fn boot(id: &str, middle: u64) -> String {
    let times: Vec<u64> = (0..12).map(|n| 10 * middle + n % 5).collect();
    json!({
        "version": 1, "kind": "run", "exit_code": 0,
        "host": {
            "cpu": "Example", "features": [], "virtual_machine": true, "cpus": 2, "pinned": 1,
            "governor": null, "kernel": "6.12", "boot": id, "arch": "x86_64", "load": [0.1, 0.1],
            "contexts": [], "compiler": "gcc", "tollgate": "0.1.0"
        },
        "rounds": {"repetitions": 12, "chosen_for_microseconds": null},
        "workloads": [{
            "benchmark": "poll", "parameters": {}, "abi": null, "per": "call", "less": null,
            "operations": 10, "nanoseconds": times
        }],
        "not_run": []
    })
    .to_string()
}

#[test]
fn shares_and_times_are_not_compared() {
    let dir = folder(&[("a", &report(400, 12.5)), ("run.json", &boot("x", 1000))]);
    let said = tollgate(dir.path(), &["compare", "a", "run.json"]);
    assert_eq!(said.status.code(), Some(2));
    assert!(
        told(&said).contains("run.json holds times of tollgate run and a shares"),
        "{}",
        told(&said)
    );
    let one_boot = tollgate(dir.path(), &["compare", "run.json", "run.json"]);
    assert_eq!(one_boot.status.code(), Some(2));
    assert!(
        out(&one_boot).contains("CANNOT BE TOLD"),
        "{}",
        out(&one_boot)
    );
    let read = tollgate(dir.path(), &["profile", "run.json"]);
    assert!(out(&read).contains("poll"), "{}", told(&read));
}

#[test]
fn several_boots_are_compared_with_an_exit_code() {
    let mut files = Vec::new();
    for number in 0..6_u64 {
        for (letter, middle) in [("a", 1000), ("b", 1000), ("c", 1100)] {
            let id = format!("{letter}{number}");
            files.push((format!("{id}.json"), boot(&id, middle + number * 5 % 7)));
        }
    }
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let dir = folder(&files);
    let compare = |before: &str, after: &str, flags: &[&str]| {
        let names =
            |letter: &str| -> Vec<String> { (0..6).map(|n| format!("{letter}{n}.json")).collect() };
        let (old, new) = (names(before), names(after));
        let mut words = vec!["compare"];
        words.extend(flags);
        words.extend(old.iter().map(String::as_str));
        words.push("--");
        words.extend(new.iter().map(String::as_str));
        let output = tollgate(dir.path(), &words);
        (output.status.code().unwrap(), out(&output) + &told(&output))
    };
    let (code, text) = compare("a", "c", &[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("SLOWER\npoll"), "{text}");
    assert_eq!(compare("c", "a", &[]).0, 0);
    assert_eq!(compare("a", "c", &["--fail-above", "20"]).0, 0);
    assert_eq!(
        compare("a", "b", &["--floor", "2"]).0,
        0,
        "equal within 2 %"
    );
    assert_eq!(compare("a", "b", &["--floor", "0"]).0, 2, "neither shown");
    let (_, text) = compare("a", "b", &["--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["kind"], "compare_boots");
    assert_eq!(value["changes"][0]["finding"], "equal");
}
