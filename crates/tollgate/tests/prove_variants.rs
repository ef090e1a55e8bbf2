//! `tollgate prove` with several variants, with patches of the user's and with
//! benchmarks by name, on the fake tree and the fake QEMU.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::fs;
use std::process::Command;

use serde_json::Value;
use support::{Lab, code, run};

/// A patch of the fake tree's window, in the lines that `fix` writes.
const WINDOW: &str = "--- a/include/linux/eventpoll.h
+++ b/include/linux/eventpoll.h
@@ -16,8 +16,13 @@ static inline struct epoll_event __user *
 epoll_put_uevent(__poll_t revents, __u64 data,
 \t\t struct epoll_event __user *uevent)
 {
-\tif (__put_user(revents, &uevent->events) ||
-\t    __put_user(data, &uevent->data))
-\t\treturn NULL;
+\tif (!user_write_access_begin(uevent, sizeof(*uevent)))
+\t\treturn NULL;
+\tunsafe_put_user(revents, &uevent->events, efault);
+\tunsafe_put_user(data, &uevent->data, efault);
+\tuser_write_access_end();
+\tif (0)
+efault:
+\t\treturn NULL;
 
 \treturn uevent+1;
";

/// A patch that no compiler takes.
const BROKEN: &str = "--- a/kernel/gate.c
+++ b/kernel/gate.c
@@ -1,2 +1,3 @@
 // SPDX-License-Identifier: MIT OR Apache-2.0
+int broken(void) { return nothing; }
 #include <linux/uaccess.h>
";

/// `tollgate prove` without a case.
fn prove(lab: &Lab, args: &[&str]) -> Command {
    let mut command = lab.tollgate(&["prove"]);
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-qemu");
    command.arg("--tree").arg(lab.tree());
    command
        .arg("--cache")
        .arg(lab.cache())
        .args(["--qemu", here]);
    command.args(args);
    command
}

fn lab() -> Lab {
    let lab = Lab::new();
    for (name, text) in [("window.patch", WINDOW), ("broken.patch", BROKEN)] {
        fs::write(lab.path(name), text).unwrap();
    }
    lab
}

fn document(lab: &Lab, command: &mut Command, wanted: i32) -> (Value, String) {
    let path = lab.path("out.json");
    let output = run(command.arg("--json").arg(&path));
    assert_eq!(code(&output), wanted, "{}", lab.said(&output));
    let value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let schema = include_str!("../../../schema/prove.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let faults: Vec<String> = schema.iter_errors(&value).map(|e| e.to_string()).collect();
    assert_eq!(faults, Vec::<String>::new());
    (value, String::from_utf8(output.stdout).unwrap())
}

fn cannot_tell(lab: &Lab, command: &mut Command, wanted: &[&str]) {
    let output = run(command);
    let said = lab.said(&output);
    assert_eq!(code(&output), 2, "{said}");
    for words in wanted {
        assert!(said.contains(words), "{words:?} is not in:\n{said}");
    }
}

fn benchmarks(comparison: &Value) -> Vec<String> {
    let rows = comparison["workloads"].as_array().unwrap().iter();
    rows.map(|row| {
        format!(
            "{} {}",
            row["benchmark"].as_str().unwrap(),
            row["parameters"]
        )
    })
    .collect()
}

#[test]
fn a_variant_that_is_named_twice_is_run_once() {
    let lab = lab();
    let mut command = prove(&lab, &["epoll", "--variant", "window,window"]);
    let (value, _) = document(&lab, &mut command, 0);
    assert_eq!(value["comparisons"].as_array().unwrap().len(), 1);
    // The fake QEMU has no tcp_rr: the claims say what they lack.
    let nothing = value["claims"][0]["nothing"].as_str().unwrap();
    assert!(
        nothing.contains("tcp_rr flows=1000 was not run"),
        "{nothing}"
    );
}

#[test]
fn one_that_does_not_build_leaves_the_others() {
    let lab = lab();
    let patches = ["--patch", "window.patch", "--patch", "broken.patch"];
    let (value, stdout) = document(&lab, &mut lab.prove(&patches), 2);
    assert_eq!(value["comparisons"][0]["verdict"], "gain");
    assert_eq!(value["comparisons"].as_array().unwrap().len(), 1);
    assert_eq!(value["not_run"][0]["variant"], "broken");
    assert_eq!(value["not_run"][0]["failed"], true);
    assert!(
        stdout.contains("Not run\nbroken: the build of broken failed"),
        "{stdout}"
    );
    assert!(stdout.contains("kernel/gate.c:2:"), "{stdout}");
}

#[test]
fn all_variants_stand_side_by_side() {
    let lab = lab();
    let args = ["--variant", "window", "--patch", "window.patch"];
    fs::rename(lab.path("window.patch"), lab.path("mine.patch")).unwrap();
    let args = args.map(|arg| {
        if arg == "window.patch" {
            "mine.patch"
        } else {
            arg
        }
    });
    let (value, stdout) = document(&lab, &mut lab.prove(&args), 0);
    assert!(
        stdout.starts_with("epoll: A = base, B = window, C = mine\n"),
        "{stdout}"
    );
    assert!(stdout.contains("C against B"), "{stdout}");
    assert!(
        stdout
            .lines()
            .filter(|line| !line.contains("results/"))
            .all(|line| line.chars().count() <= 80)
    );
    let letters: Vec<&str> = value["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["after"]["letter"].as_str().unwrap())
        .collect();
    assert_eq!(letters, ["B", "C"]);
    assert_eq!(value["pairs"].as_array().unwrap().len(), 1);
    assert_eq!(stdout.matches("Patch:").count(), 2, "{stdout}");
}

#[test]
fn a_style_that_the_tree_lacks_is_named_and_no_failure_of_all() {
    let lab = lab();
    let (value, _) = document(&lab, &mut lab.prove(&["--variant", "window,scoped"]), 2);
    assert_eq!(value["not_run"][0]["failed"], true);
    let (value, stdout) = document(&lab, &mut lab.prove(&["--variant", "all"]), 2);
    let missing = value["not_run"].as_array().unwrap();
    let failed = |name: &str| {
        let found = missing.iter().find(|one| one["variant"] == name).unwrap();
        found["failed"].as_bool().unwrap()
    };
    assert!(!failed("scoped") && !failed("masked"), "{missing:?}");
    // The case's own patch is for a real tree.
    assert!(failed("bare"), "{missing:?}");
    assert!(
        stdout.contains("cases/epoll/bare.patch does not apply"),
        "{stdout}"
    );
}

#[test]
fn a_patch_without_a_case_finds_its_benchmark() {
    let lab = lab();
    let (value, stdout) = document(&lab, &mut prove(&lab, &["--patch", "window.patch"]), 0);
    let comparison = &value["comparisons"][0];
    let names = benchmarks(comparison);
    assert!(
        names.contains(&"epoll_wait {\"events\":64}".to_owned()),
        "{names:?}"
    );
    assert!(names.contains(&"getppid {}".to_owned()), "{names:?}");
    assert_eq!(comparison["setting"]["subject"], "window");
    assert!(
        stdout.starts_with("window: A = base, B = window\n"),
        "{stdout}"
    );
    assert!(comparison["behaviour"]["points"].as_u64().unwrap() > 0);
}

#[test]
fn a_patch_that_no_benchmark_runs_says_so() {
    let lab = lab();
    let wanted = [
        "no benchmark is known to run code of kernel/gate.c",
        "--bench",
        "getdents64",
    ];
    cannot_tell(
        &lab,
        &mut prove(&lab, &["--patch", "broken.patch"]),
        &wanted,
    );
}

#[test]
fn a_benchmark_by_name_and_a_parameter() {
    let lab = lab();
    let args = [
        "--patch",
        "window.patch",
        "--bench",
        "getdents64,epoll_wait",
        "--param",
        "events=2,1024",
    ];
    let (value, _) = document(&lab, &mut prove(&lab, &args), 0);
    let names = benchmarks(&value["comparisons"][0]);
    let wanted = [
        "getdents64 {\"entries\":64}",
        "epoll_wait {\"events\":2}",
        "epoll_wait {\"events\":1024}",
        "getppid {}",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn a_mailbox_of_two_is_one_variant() {
    let lab = lab();
    let note = "--- a/kernel/gate.c
+++ b/kernel/gate.c
@@ -1,2 +1,3 @@
 \
                // SPDX-License-Identifier: MIT OR Apache-2.0
+/* a second patch */
 \
                #include <linux/uaccess.h>
";
    let mail = |number: &str, diff: &str| {
        format!(
            "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
             From: A <a@example.org>\nSubject: [PATCH {number}] x\n\nWhy.\n---\n{diff}-- \n2.39.5\n\n"
        )
    };
    let text = mail("1/2", WINDOW) + &mail("2/2", note);
    fs::write(lab.path("series.mbox"), text).unwrap();
    let mut command = prove(&lab, &["--patch", "series.mbox"]);
    let output = run(&mut command);
    let said = lab.said(&output);
    assert_eq!(code(&output), 0, "{said}");
    assert!(said.contains("2 patches, 2 files changed"), "{said}");
}

#[test]
fn a_profile_is_written_in_the_form_of_its_ending() {
    let lab = lab();
    let mut command = lab.prove(&["--profile-out", "out.folded"]);
    let output = run(&mut command);
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    let text = fs::read_to_string(lab.path("out.folded")).unwrap();
    assert!(
        text.contains("B window;epoll_wait events=64;do_epoll_wait "),
        "{text}"
    );
    let wanted = [
        "--profile-out out.svg: its ending is none of",
        "--profile-format",
    ];
    cannot_tell(&lab, &mut lab.prove(&["--profile-out", "out.svg"]), &wanted);
}

#[test]
fn names_that_are_not_there_are_sentences_before_the_work() {
    let lab = lab();
    let wanted =
        ["epoll has no variant widow; there are: window, masked, scoped, bare, merged, all"];
    cannot_tell(&lab, &mut lab.prove(&["--variant", "widow"]), &wanted);
    let wanted = ["no benchmark is called getdent; there are: getppid, epoll_wait"];
    cannot_tell(&lab, &mut lab.prove(&["--bench", "getdent"]), &wanted);
    let wanted = ["no benchmark of this run has a parameter size; they are: epoll_wait (events)"];
    cannot_tell(&lab, &mut lab.prove(&["--param", "size=1"]), &wanted);
    let wanted = [
        "no configuration fragment is called x86_64-huge",
        "x86_64-minimal",
    ];
    cannot_tell(&lab, &mut lab.prove(&["--config", "huge"]), &wanted);
    let wanted = ["nothing to compare: name a case (", "--patch FILE"];
    cannot_tell(&lab, &mut prove(&lab, &[]), &wanted);
    let wanted = [
        "--series measures the workloads of a case",
        "name one (",
        "epoll",
    ];
    cannot_tell(&lab, &mut prove(&lab, &["--series", "a.mbox"]), &wanted);
    let wanted = ["events is not KEY=N"];
    cannot_tell(&lab, &mut lab.prove(&["--param", "events"]), &wanted);
    assert!(!lab.cache().join("images").exists());
}
