//! What becomes of results: one question, one place; what decides nothing never
//! takes the place of what does.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use support::{Lab, code, run};
use tollgate_testing::missing;

/// Every result of the cache: its folder and what it says.
fn results(lab: &Lab) -> BTreeMap<PathBuf, Value> {
    let mut found = BTreeMap::new();
    let mut folders = vec![lab.cache().join("results")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with("result.json") {
                let value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
                found.insert(folder.clone(), value);
            }
        }
    }
    found
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Runs with the base booted, whatever is kept of it, expects the code, and gives back what
/// it said on both streams.
fn prove(lab: &Lab, command: &mut Command, wanted: i32) -> String {
    let output = run(command.arg("--recount"));
    let said = format!("{}{}", stdout(&output), lab.said(&output));
    assert_eq!(code(&output), wanted, "{said}");
    said
}

fn verdicts(value: &Value) -> Vec<&str> {
    let comparisons = value.pointer("/comparisons").unwrap().as_array().unwrap();
    comparisons
        .iter()
        .map(|one| one.pointer("/verdict").unwrap().as_str().unwrap())
        .collect()
}

#[test]
fn a_result_without_a_verdict_leaves_the_one_that_has_one() {
    let lab = Lab::new();
    let first = prove(&lab, &mut lab.prove(&[]), 0);
    let before = results(&lab);
    assert_eq!(before.len(), 1);
    let (folder, gain) = before.first_key_value().unwrap();
    assert_eq!(verdicts(gain), ["gain"]);
    assert!(first.contains(&*folder.join("result.json").to_string_lossy()));
    let page = fs::read(folder.join("report.html")).unwrap();

    let said = prove(&lab, lab.prove(&[]).env("FAKE_QEMU", "drift"), 2);
    let after = results(&lab);
    assert_eq!(after.get(folder), Some(gain));
    assert_eq!(fs::read(folder.join("report.html")).unwrap(), page);
    let beside = folder.join("no-verdict");
    assert_eq!(verdicts(after.get(&beside).unwrap()), ["not_reproducible"]);
    for place in [folder.join("result.json"), beside.join("result.json")] {
        assert!(said.contains(&*place.to_string_lossy()), "{said}");
    }

    // The other way round the better one takes the place.
    let lab = Lab::new();
    prove(&lab, lab.prove(&[]).env("FAKE_QEMU", "drift"), 2);
    prove(&lab, &mut lab.prove(&[]), 0);
    let after = results(&lab);
    assert_eq!(after.len(), 1);
    assert_eq!(verdicts(after.first_key_value().unwrap().1), ["gain"]);
}

/// Everything that is asked for is part of the question.
#[test]
fn two_questions_are_two_results() {
    let lab = Lab::new();
    fs::write(lab.path("gate.patch"), GATE).unwrap();
    fs::copy(lab.path("gate.patch"), lab.path("other.patch")).unwrap();
    let other = GATE.replace("a comment", "another comment");
    let program = own_program(&lab);
    let program = program.to_str().unwrap();
    let asked: [&[&str]; 12] = [
        &[],
        &["--param", "events=2"],
        &["--param", "events=2,4"],
        &["--bench", "epoll_wait"],
        &["--bench", "epoll_wait,getdents64"],
        &["--variant", "window", "--patch", "gate.patch"],
        &["--patch", "gate.patch"],
        &["--patch", "other.patch"],
        &["--config", "distro"],
        &["--arch", "arm64", "--cc", "gcc"],
        &["--", program, "1"],
        &["--", program, "2"],
    ];
    let mut known = 0;
    for args in asked {
        let output = run(&mut lab.prove(args));
        let said = lab.said(&output);
        assert!(code(&output) != 255, "{args:?}: {said}");
        if args.contains(&"arm64") && results(&lab).len() == known {
            assert!(said.contains("aarch64-linux-gnu-gcc"), "{said}");
            missing(
                "aarch64-linux-gnu-gcc",
                "scripts/setup --arch arm64 installs it",
            );
            continue;
        }
        known += 1;
        assert_eq!(results(&lab).len(), known, "{args:?}: {said}");
    }
    let known = results(&lab).len();
    // The same patch file with other content, and a machine with another QEMU.
    fs::write(lab.path("gate.patch"), other).unwrap();
    run(&mut lab.prove(&["--patch", "gate.patch"]));
    assert_eq!(results(&lab).len(), known + 1);
    run(lab.prove(&[]).env("FAKE_QEMU_VERSION", "8.0.0"));
    assert_eq!(results(&lab).len(), known + 2);
    // How long a guest may take changes nothing that it counts.
    run(&mut lab.prove(&["--timeout", "50", "--jobs", "1"]));
    assert_eq!(results(&lab).len(), known + 2);
}

const GATE: &str = "--- a/kernel/gate.c
+++ b/kernel/gate.c
@@ -1,2 +1,3 @@
 // SPDX-License-Identifier: MIT OR Apache-2.0
+/* a comment */
 #include <linux/uaccess.h>
";

/// A static program; the fake QEMU never runs it.
fn own_program(lab: &Lab) -> PathBuf {
    fs::write(lab.path("own.c"), "int main(void) { return 0; }\n").unwrap();
    let program = lab.path("own");
    let mut gcc = Command::new("gcc");
    gcc.arg("-static")
        .arg("-o")
        .arg(&program)
        .arg(lab.path("own.c"));
    assert!(gcc.status().unwrap().success());
    program
}

#[test]
fn one_variant_of_several_keeps_its_verdict() {
    let lab = Lab::new();
    fs::write(lab.path("gate.patch"), GATE).unwrap();
    let args = ["--variant", "window", "--patch", "gate.patch"];
    prove(&lab, &mut lab.prove(&args), 0);
    // The window hangs now: the other alone would be less than there was.
    let mut hanging = lab.prove(&args);
    let said = prove(&lab, hanging.env("FAKE_QEMU", "hang-window"), 2);
    let all = results(&lab);
    assert_eq!(all.len(), 2, "{said}");
    let (folder, both) = all.first_key_value().unwrap();
    assert_eq!(verdicts(both).len(), 2);
    assert_eq!(
        verdicts(all.get(&folder.join("no-verdict")).unwrap()).len(),
        1
    );
}

#[test]
fn a_series_is_a_question_too() {
    let lab = Lab::new();
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        let command = command.args(["-c", "user.name=Nobody", "-c", "user.email=<>"]);
        assert!(
            run(command.args(args).current_dir(lab.tree()))
                .status
                .success()
        );
    };
    git(&["init", "-q"]);
    let gate = fs::read_to_string(lab.tree().join("kernel/gate.c")).unwrap();
    for mark in ["\"one\"", "\"fake window\"", "\"three\"", "\"four\""] {
        lab.edit(
            "kernel/gate.c",
            &format!("const char mark[] = {mark};\n{gate}"),
        );
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", mark]);
    }
    let series = ["--series", "HEAD~3..HEAD"];
    fn with<'a>(series: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
        [series, more].concat()
    }
    prove(
        &lab,
        &mut lab.prove(&with(&series, &["--points", "0,1,3"])),
        0,
    );
    // The same ends, another middle.
    prove(
        &lab,
        &mut lab.prove(&with(&series, &["--points", "0,2,3"])),
        0,
    );
    prove(
        &lab,
        &mut lab.prove(&with(
            &series,
            &["--points", "0,1,3", "--param", "events=2"],
        )),
        0,
    );
    assert_eq!(results(&lab).len(), 3);
    let mut again = lab.prove(&with(&series, &["--points", "0,1,3"]));
    let said = prove(&lab, again.env("FAKE_QEMU", "drift"), 2);
    assert_eq!(results(&lab).len(), 4, "{said}");
    assert!(said.contains("no-verdict/result.json"), "{said}");
}

#[test]
fn a_file_of_the_user_s_with_a_verdict_stays_under_another_name() {
    let lab = Lab::new();
    let json = ["--json", "out.json"];
    prove(&lab, &mut lab.prove(&json), 0);
    let gain = fs::read(lab.path("out.json")).unwrap();
    let said = prove(&lab, lab.prove(&json).env("FAKE_QEMU", "drift"), 2);
    assert!(said.contains("Earlier: out.earlier-1.json"), "{said}");
    assert_eq!(fs::read(lab.path("out.earlier-1.json")).unwrap(), gain);
    let now: Value = serde_json::from_slice(&fs::read(lab.path("out.json")).unwrap()).unwrap();
    assert_eq!(verdicts(&now), ["not_reproducible"]);
    // What has no verdict is replaced.
    prove(&lab, lab.prove(&json).env("FAKE_QEMU", "drift"), 2);
    assert!(!lab.path("out.earlier-2.json").exists());
}

#[test]
fn fix_finds_the_figures_that_suit_and_says_what_was_measured() {
    let lab = Lab::new();
    let function = "include/linux/eventpoll.h:epoll_put_uevent";
    let fix = |args: &[&str]| {
        let mut command = lab.tollgate(&[&["fix", "tree", function], args].concat());
        let output = run(command.env("TOLLGATE_CACHE", lab.cache()));
        assert_eq!(code(&output), 0, "{}", lab.said(&output));
        (stdout(&output), lab.said(&output))
    };
    let (patch, said) = fix(&[]);
    assert!(
        !patch.contains("Kernel instructions") && said.is_empty(),
        "{said}"
    );
    prove(&lab, &mut lab.prove(&["--param", "events=2"]), 0);
    let (patch, said) = fix(&[]);
    assert!(patch.contains("epoll_wait events=2, per event"), "{patch}");
    assert!(
        said.contains("were measured by epoll on Linux 6.12.0-fake, x86_64"),
        "{said}"
    );
    assert!(said.contains(", benchmarks by hand ("), "{said}");
    prove(&lab, &mut lab.prove(&[]), 0);
    // Neither a later result by hand nor one without a verdict takes its place.
    prove(&lab, &mut lab.prove(&["--param", "events=3"]), 0);
    prove(&lab, lab.prove(&[]).env("FAKE_QEMU", "drift"), 2);
    prove(&lab, lab.prove(&[]).env("FAKE_QEMU", "differ"), 1);
    let (patch, said) = fix(&[]);
    assert!(patch.contains("epoll_wait events=64, per event"), "{patch}");
    assert!(
        !patch.contains("events=2, ") && !patch.contains("events=3, "),
        "{patch}"
    );
    assert_eq!(
        said.matches("also measured, and not in it: ").count(),
        2,
        "{said}"
    );
}

/// The body of a mail, without its date.
fn body(mail: &str) -> String {
    let kept = mail.lines().filter(|line| !line.starts_with("Date: "));
    kept.collect::<Vec<_>>().join("\n")
}

#[test]
fn fix_takes_the_figures_of_a_saved_result() {
    let lab = Lab::new();
    prove(&lab, &mut lab.prove(&["--json", "out.json"]), 0);
    let function = "include/linux/eventpoll.h:epoll_put_uevent";
    let fix = |args: &[&str], cache: &str, wanted: i32| {
        let mut command = lab.tollgate(&[&["fix", "tree", function], args].concat());
        let output = run(command.env("TOLLGATE_CACHE", lab.path(cache)));
        assert_eq!(code(&output), wanted, "{}", lab.said(&output));
        (body(&stdout(&output)), lab.said(&output))
    };
    // On a machine that has measured nothing it is the message of the one that has.
    let (of_cache, _) = fix(&[], "cache", 0);
    let (of_file, said) = fix(&["--with-figures", "out.json"], "none", 0);
    assert!(
        of_file.contains("epoll_wait events=64, per event"),
        "{of_file}"
    );
    assert_eq!(of_file, of_cache);
    let wanted = "those of out.json: epoll on Linux 6.12.0-fake, x86_64, config x86_64-core";
    assert!(said.contains(wanted), "{said}");
    // Of what git made of it, too.
    fs::write(lab.path("mine.patch"), of_file).unwrap();
    let own = ["--patch", "mine.patch", "--json", "own.json"];
    prove(&lab, &mut lab.prove(&own), 0);
    let (of_own, _) = fix(&["--with-figures", "own.json"], "none", 0);
    assert_eq!(of_own, of_cache);
}

#[test]
fn figures_of_something_else_are_refused() {
    let lab = Lab::new();
    prove(&lab, &mut lab.prove(&["--json", "out.json"]), 0);
    prove(
        &lab,
        lab.prove(&["--json", "drift.json"])
            .env("FAKE_QEMU", "drift"),
        2,
    );
    let document = fs::read_to_string(lab.path("out.json")).unwrap();
    let other = document.replace("unsafe_put_user(data", "unsafe_put_user(other");
    fs::write(lab.path("other.json"), other).unwrap();
    fs::write(lab.path("none.json"), "{\"version\": 1, \"kind\": \"run\"}").unwrap();
    let function = "include/linux/eventpoll.h:epoll_put_uevent";
    for (file, wanted) in [
        ("absent.json", "could not read the result absent.json: "),
        (
            "none.json",
            "none.json is a result of `tollgate run`, and not of `tollgate prove`",
        ),
        (
            "other.json",
            "other.json has figures of window, and of none whose patch changes",
        ),
        ("drift.json", "drift.json has no figures for a message: "),
    ] {
        let args = ["fix", "tree", function, "--with-figures", file];
        let output = run(&mut lab.tollgate(&args));
        let said = lab.said(&output);
        assert_eq!(code(&output), 2, "{said}");
        assert!(said.contains(wanted), "{said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn json_on_standard_output_is_alone_there() {
    let lab = Lab::new();
    let output = run(&mut lab.prove(&["--json", "-"]));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdicts(&document), ["gain"]);
    let said = lab.said(&output);
    assert!(
        said.contains("GAIN") && said.contains("JSON:   standard output"),
        "{said}"
    );
    assert!(!lab.path("-").exists());
    let output = run(&mut lab.prove(&["--html", "-"]));
    assert!(
        stdout(&output)
            .to_lowercase()
            .starts_with("<!doctype html>")
    );
    let args = ["--profile-out", "-", "--profile-format", "folded"];
    let output = run(&mut lab.prove(&args));
    assert!(stdout(&output).contains("B window;epoll_wait events=64;"));

    let args = [
        "run", "getppid", "--reps", "10", "--ops", "10", "--cache", "own", "--json", "-",
    ];
    let output = run(&mut lab.tollgate(&args));
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document.pointer("/workloads/0").is_some());
    assert!(
        lab.said(&output).contains("1 benchmark timed"),
        "{}",
        lab.said(&output)
    );
    assert!(!Path::new("-").exists());
}
