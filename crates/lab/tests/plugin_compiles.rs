//! The counting plugin for every plugin API of QEMU: compiled without a
//! warning, and run in a stand-in for QEMU (`fake_qemu.c`), because one machine
//! has one QEMU.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test says what it expects"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const WARNINGS: [&str; 3] = ["-Wall", "-Wextra", "-Werror"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The APIs that `data/qemu/plugin-api.toml` names.
fn apis() -> Vec<i64> {
    let text = std::fs::read_to_string(repository().join("data/qemu/plugin-api.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let releases = table["release"].as_array().unwrap();
    releases
        .iter()
        .map(|release| release["api"].as_integer().unwrap())
        .collect()
}

fn gcc(api: i64, arguments: &[&str], source: &Path, output: &Path) -> Output {
    Command::new("gcc")
        .args(WARNINGS)
        .arg("-O2")
        .arg(format!("-DTOLLGATE_PLUGIN_API={api}"))
        .args(arguments)
        .arg("-o")
        .arg(output)
        .arg(source)
        .args(["-ldl"])
        .output()
        .expect("gcc runs")
}

fn compile_plugin(api: i64, output: &Path) -> Output {
    let source = repository().join("plugin/tollgate-counts.c");
    gcc(api, &["-shared", "-fPIC"], &source, output)
}

fn assert_silent(output: &Output, what: &str) {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && complaint.is_empty(),
        "{what}: {complaint}"
    );
}

/// What a run of `fake_qemu.c` left.
struct Ran {
    status: Option<i32>,
    said: String,
    counts: Option<String>,
}

/// Runs a plugin compiled for `api` in a QEMU that speaks up to `spoken`.
fn run_in(api: i64, spoken: i64, target: &str, scene: &str) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let (plugin, qemu) = (folder.path().join("plugin.so"), folder.path().join("qemu"));
    let source = repository().join("crates/lab/tests/fake_qemu.c");
    assert_silent(&compile_plugin(api, &plugin), "the plugin");
    assert_silent(&gcc(api, &["-rdynamic"], &source, &qemu), "fake_qemu.c");
    let counts = folder.path().join("counts");
    let output = Command::new(&qemu)
        .arg(&plugin)
        .arg(format!("out={}", counts.display()))
        .args([target, scene, &spoken.to_string()])
        .output()
        .unwrap();
    let partial = folder.path().join("counts.tmp");
    assert!(!partial.exists(), "counts.tmp is left behind");
    Ran {
        status: output.status.code(),
        said: String::from_utf8(output.stderr).unwrap(),
        counts: std::fs::read_to_string(counts).ok(),
    }
}

fn run(api: i64, target: &str, scene: &str) -> Ran {
    run_in(api, api, target, scene)
}

/// What the scene `counts` adds up to.
fn expected_counts(target: &str) -> String {
    let mut text = format!("tollgate-counts 1\ntarget {target}\nkernel ffff800000000000\n");
    text.push_str("phase 0\nuser 3\n");
    for offset in 1..=20_000_u64 {
        let times = if offset == 1 { 2 } else { 1 };
        writeln!(text, "k {:x} 8901 {times}", 0xffff_ffff_8100_0000 + offset).unwrap();
    }
    text.push_str("k ffffffffa1000000 0f01cb 4\nk ffffffffa1000000 0f1f00 1\nend 0\n");
    text.push_str("phase 1\nuser 0\nk ffffffffa1000000 0f01cb 2\nend 1\ncomplete 2\n");
    text
}

#[test]
fn every_api_counts_the_same() {
    assert_eq!(apis(), [1, 2, 3, 4, 5, 6, 7]);
    for api in apis() {
        let ran = run(api, "x86_64", "counts");
        assert_eq!((ran.status, ran.said.as_str()), (Some(0), ""), "API {api}");
        assert!(
            ran.counts.unwrap() == expected_counts("x86_64"),
            "API {api} counts otherwise"
        );
    }
}

#[test]
fn every_target_has_markers_of_its_own() {
    for target in ["aarch64", "ppc64"] {
        let ran = run(1, target, "counts");
        assert_eq!((ran.status, ran.said.as_str()), (Some(0), ""), "{target}");
        let counts = ran.counts.unwrap();
        assert!(
            counts == expected_counts(target),
            "{target} counts otherwise"
        );
    }
}

#[test]
fn a_qemu_that_calls_in_another_way_is_refused() {
    for (api, spoken) in [(1, 2), (2, 3), (6, 7), (7, 8), (3, 2)] {
        let ran = run_in(api, spoken, "x86_64", "counts");
        assert_eq!((ran.status, ran.counts), (Some(1), None));
        let sentence = format!(
            "tollgate-counts: compiled for plugin API {api}, but this QEMU speaks {spoken}; \
             compile for that one (1 to 7 are known)\n"
        );
        assert_eq!(ran.said, sentence);
    }
    assert_eq!(run_in(3, 6, "x86_64", "counts").status, Some(0));
}

#[test]
fn an_unknown_api_is_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    for api in [0, 8] {
        let output = compile_plugin(api, &folder.path().join("plugin.so"));
        assert!(!output.status.success());
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(
            complaint.contains("knows the plugin APIs 1 to 7"),
            "{complaint}"
        );
    }
}

#[test]
fn misplaced_markers_are_error_lines() {
    let ran = run(1, "x86_64", "mistakes");
    assert_eq!(ran.status, Some(0));
    insta::assert_snapshot!("misplaced_markers_said", ran.said);
    insta::assert_snapshot!("misplaced_markers_counts", ran.counts.unwrap());
}

#[test]
fn a_target_without_markers_is_refused() {
    let ran = run(1, "mips", "counts");
    assert_eq!((ran.status, ran.counts), (Some(1), None));
    assert_eq!(
        ran.said,
        "tollgate-counts: no phase markers are known for target mips\n"
    );
}
