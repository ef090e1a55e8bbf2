//! The cases that take minutes, on the real kernel, held to what their pages say:
//! `TOLLGATE_CASES=1` asks for them. The figures are those of gcc 12.2 and QEMU 7.2;
//! what no tool chain changes is held alone.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what it expects"
)]

use std::fs;
use std::process::Command;

use serde_json::Value;

/// What came of a case: its exit code, and its document where it wrote one.
fn proved(case: &str, more: &[&str]) -> (Option<i32>, Value) {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("out.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.args(["prove", case, "--timeout", "900", "--json"]);
    let output = command.arg(&json).args(more).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let text = fs::read_to_string(&json);
    let text = text.unwrap_or_else(|error| panic!("{case}: {error}: {said}"));
    (output.status.code(), serde_json::from_str(&text).unwrap())
}

fn is_asked() -> bool {
    tollgate_testing::asked("TOLLGATE_CASES").is_some()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap()
}

/// The comparison of a variant with the base.
fn of<'a>(document: &'a Value, variant: &str) -> &'a Value {
    let mut all = list(document, "comparisons").iter();
    all.find(|one| one["after"]["variant"] == variant).unwrap()
}

fn row<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    let mut all = list(comparison, "workloads").iter();
    all.find(|row| row["benchmark"] == name).unwrap()
}

/// The rows whose kernel instructions moved, by the benchmark's name.
fn moved(comparison: &Value) -> Vec<&str> {
    let count = |row: &Value, side: &str| row[side]["kernel"]["instructions"].as_u64().unwrap();
    let all = list(comparison, "workloads").iter();
    let all = all.filter(|row| count(row, "before") != count(row, "after"));
    let mut names: Vec<&str> = all.map(|row| row["benchmark"].as_str().unwrap()).collect();
    names.dedup();
    names
}

fn differences(comparison: &Value) -> &[Value] {
    list(&comparison["behaviour"], "differences")
}

/// Image A against itself.
fn repeats(comparison: &Value) {
    assert_eq!(list(&comparison["repeat"], "moved").len(), 0);
    assert_eq!(list(&comparison["repeat"], "differences").len(), 0);
}

#[test]
fn each_precedent_is_worth_its_window() {
    if !is_asked() {
        return;
    }
    let (code, document) = proved("precedents", &[]);
    assert_eq!(code, Some(1));
    for (variant, benchmark) in [
        ("put-cmsg", "recvmsg_control"),
        ("filldir", "getdents64"),
        ("poll", "poll"),
    ] {
        let comparison = of(&document, variant);
        repeats(comparison);
        assert_eq!(moved(comparison), [benchmark]);
        let others = |one: &&Value| one["sweep"] != "recvmsg_control";
        assert_eq!(differences(comparison).iter().filter(others).count(), 0);
    }
    assert_eq!(differences(of(&document, "filldir")).len(), 0);
    assert_eq!(differences(of(&document, "poll")).len(), 0);

    let (code, series) = proved("precedents", &["--series"]);
    assert_eq!(code, Some(1));
    let points = list(&series, "points");
    let image = |point: usize| &points[point]["image"];
    assert_eq!(image(0), image(4), "{}", series["points"]);
    assert_ne!(image(0), image(1));
}

#[test]
fn no_policy_loses_a_register() {
    if !is_asked() {
        return;
    }
    for (case, points) in [("fpu-defer", 1414), ("fpu-preempt", 832)] {
        let (_, document) = proved(case, &["--variant", "all"]);
        assert_eq!(list(&document, "not_run").len(), 0);
        for comparison in list(&document, "comparisons") {
            repeats(comparison);
            assert_eq!(differences(comparison).len(), 0);
            assert_eq!(comparison["behaviour"]["points"], points);
        }
    }
}

/// The function that the base's kernel spends most instructions of a row in.
fn costliest(row: &Value) -> &str {
    let count = |one: &Value| one["before"]["instructions"].as_u64().unwrap();
    let all = list(row, "functions").iter();
    all.max_by_key(|one| count(one)).unwrap()["name"]
        .as_str()
        .unwrap()
}

/// HWSYNC and STATUS_EXT of a variant, of 60 seconds.
fn asked(side: &Value) -> [u64; 2] {
    ["ioctl-HWSYNC", "ioctl-STATUS_EXT"].map(|name| side["tallies"][name].as_u64().unwrap())
}

#[test]
fn a_sound_server_asks_less_in_each_variant() {
    if !is_asked() {
        return;
    }
    let (_, document) = proved("sound-server", &[]);
    assert_eq!(list(&document, "not_run").len(), 0);
    let one_avail = of(&document, "one-avail");
    let one_status = of(&document, "one-status");
    for comparison in [one_avail, one_status] {
        repeats(comparison);
    }
    for name in [
        "tsched-44100-88200",
        "tsched-441-882",
        "irq-44100-88200",
        "irq-441-882",
        "tsched-44100-88200-softvol",
        "tsched-441-882-softvol",
    ] {
        let name = format!("session/{name}");
        let [base, _] = asked(&row(one_avail, &name)["before"]);
        let [less, _] = asked(&row(one_avail, &name)["after"]);
        let [none, _] = asked(&row(one_status, &name)["after"]);
        assert!(
            base > less && less > 0 && none == 0,
            "{name}: {base} {less} {none}"
        );
        for side in [
            &row(one_avail, &name)["after"],
            &row(one_status, &name)["after"],
        ] {
            assert_eq!(side["tallies"]["underruns"], 0, "{name}");
        }
    }
    // Twice a wake-up, and once: the tables of docs/sound-server.md.
    let tsched = row(one_avail, "session/tsched-44100-88200");
    assert_eq!(asked(&tsched["before"]), [660, 180]);
    assert_eq!(asked(&tsched["after"]), [480, 180]);
}

/// `docs/sound-server.md`, "Beside another measurement": 507 HWSYNC a second there.
#[test]
fn how_often_a_server_asks_hangs_on_microseconds() {
    if !is_asked() {
        return;
    }
    let (_, document) = proved("sound-server-late", &[]);
    assert_eq!(list(&document, "not_run").len(), 0);
    let names = [
        "late-1000",
        "late-2000",
        "late-3000",
        "late-4000",
        "late-5000",
    ];
    let row = |name: &str| row(of(&document, name), "session/irq-441-882").clone();
    let found = names.map(|name| asked(&row(name)["after"])[0]);
    // Of 10 seconds.
    assert!(
        found.iter().any(|count| count.abs_diff(5070) <= 152),
        "{found:?}"
    );
    assert!(found.iter().any(|count| *count > 5900), "{found:?}");
}

/// Two servers on one kernel, which proves its locks.
#[test]
fn a_sound_server_asks_less_where_locks_are_proved_too() {
    if !is_asked() {
        return;
    }
    let (_, document) = proved("sound-server-locking", &[]);
    assert_eq!(list(&document, "not_run").len(), 0);
    let one_avail = of(&document, "one-avail");
    repeats(one_avail);
    let both = row(one_avail, "session/tsched-441-882-softvol");
    let [base, _] = asked(&both["before"]);
    let [less, _] = asked(&both["after"]);
    assert!(base > less && less > 0, "{base} {less}");
    assert_eq!(costliest(both), "__lock_acquire");
}

/// The card writes its position to memory, or is asked for it: the questions are as many.
#[test]
fn a_register_is_read_as_often_as_the_kernel_is_asked() {
    if !is_asked() {
        return;
    }
    let (_, document) = proved("sound-server-hda", &[]);
    assert_eq!(list(&document, "not_run").len(), 0);
    let name = "session/tsched-441-882-hda";
    let of_variant = |variant: &str| asked(&row(of(&document, variant), name)["after"]);
    for (memory, register) in [
        ("one-avail", "register-one-avail"),
        ("one-status", "register-one-status"),
    ] {
        let [few, _] = of_variant(register);
        assert!(of_variant("register")[0] > few, "{register}");
        assert!(
            of_variant(memory)[0].abs_diff(few) <= few / 100 + 1,
            "{register}"
        );
    }
}

#[test]
fn what_the_rfc_assumes_ends_the_server_when_it_suspends() {
    if !is_asked() {
        return;
    }
    let (code, document) = proved("sound-server-events", &["--variant", "rfc"]);
    assert_eq!(code, Some(2));
    let text = document.to_string();
    assert!(text.contains("Assertion 'frames > 0' failed"), "{text}");
}

/// The tree of a version that `scripts/tree` has fetched; a test without it says so.
fn tree(version: &str) -> Option<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/tree");
    let found = Command::new(script).args(["--kept", version]).output();
    let found = String::from_utf8(found.unwrap().stdout).unwrap();
    let found = found.trim().to_owned();
    if found.is_empty() {
        tollgate_testing::missing(
            &format!("the tree of Linux {version}"),
            &format!("scripts/tree {version} fetches it"),
        );
        return None;
    }
    Some(found)
}

/// `docs/versions.md`: a change that has landed is measured against what was before.
#[test]
fn epoll_gains_in_each_version_and_what_landed_is_one_of_the_gains() {
    if !is_asked() {
        return;
    }
    for (version, variants) in [
        ("6.1", &["window"][..]),
        ("7.2", &["merged", "window", "scoped"]),
        ("7.3", &["merged", "window", "scoped"]),
    ] {
        let Some(tree) = tree(version) else {
            continue;
        };
        let (code, document) = proved("epoll", &["--tree", &tree]);
        assert_eq!(code, Some(0), "{version}");
        let names: Vec<&str> = list(&document, "comparisons")
            .iter()
            .map(|one| one["after"]["variant"].as_str().unwrap())
            .collect();
        assert_eq!(names, variants, "{version}");
        for comparison in list(&document, "comparisons") {
            repeats(comparison);
            assert_eq!(moved(comparison), ["epoll_wait"], "{version}");
            assert_eq!(differences(comparison).len(), 0, "{version}");
        }
    }
}
