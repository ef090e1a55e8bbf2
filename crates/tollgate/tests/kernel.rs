//! The demo on a real kernel: Debian's linux-source-6.12, built, booted and
//! counted. Images stay in the user's cache, so that only the first run builds.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test says what it expects, and what it skips"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const SOURCE: &str = "/usr/src/linux-source-6.12.tar.xz";

/// Why the kernel cannot be built here, if it cannot.
fn lacking() -> Option<String> {
    let tool = |name: &&str| {
        !Command::new(name)
            .arg("--version")
            .output()
            .is_ok_and(|o| o.status.success())
    };
    let tools = ["qemu-system-x86_64", "gcc", "make", "flex", "bison", "bc"];
    if !Path::new(SOURCE).exists() {
        return Some(format!("{SOURCE} is missing"));
    }
    tools
        .iter()
        .find(|name| tool(name))
        .map(|name| format!("{name} is missing"))
}

fn prove(case: &str, json: &Path, html: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command
        .args(["prove", case])
        .arg("--json")
        .arg(json)
        .arg("--html")
        .arg(html)
        .args(more);
    command.output().unwrap()
}

fn workload<'a>(comparison: &'a Value, name: &str, events: Option<i64>) -> &'a Value {
    let rows = comparison["workloads"].as_array().unwrap();
    let wanted =
        |row: &&Value| row["benchmark"] == name && row["parameters"]["events"].as_i64() == events;
    rows.iter().find(wanted).unwrap()
}

/// Before and after of one figure.
fn pair(figures: &Value, name: &str) -> (f64, f64) {
    let figure = &figures[name];
    (
        figure["before"].as_f64().unwrap(),
        figure["after"].as_f64().unwrap(),
    )
}

struct Proof {
    _dir: tempfile::TempDir,
    json: PathBuf,
    html: PathBuf,
    output: Output,
}

impl Proof {
    fn new(more: &[&str], code: i32) -> Self {
        Self::of("epoll", more, code)
    }

    fn of(case: &str, more: &[&str], code: i32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (json, html) = (dir.path().join("out.json"), dir.path().join("out.html"));
        let output = prove(case, &json, &html, more);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        Self {
            _dir: dir,
            json,
            html,
            output,
        }
    }

    fn value(&self) -> Value {
        serde_json::from_slice(&fs::read(&self.json).unwrap()).unwrap()
    }
}

#[test]
fn one_window_an_event_saves_a_passage_of_the_gate() {
    if let Some(reason) = lacking() {
        eprintln!("skipped: the proof on a real kernel: {reason}");
        return;
    }
    let proof = Proof::new(&[], 0);
    let value = proof.value();
    let comparison = &value["comparisons"][0];
    assert_eq!(comparison["verdict"], "gain");

    let many = workload(comparison, "epoll_wait", Some(64));
    assert_eq!(many["exact"], true);
    let event = &many["per_unit"];
    let (before, after) = pair(event, "kernel");
    assert!(
        (100.0..160.0).contains(&before),
        "{before} instructions an event"
    );
    assert!(
        (13.0..=17.0).contains(&(before - after)),
        "{before} -> {after}"
    );
    assert_eq!(pair(event, "opens"), (2.0, 1.0));
    assert_eq!(pair(event, "closes"), (2.0, 1.0));

    let control = workload(comparison, "getppid", None);
    assert_eq!(control["control"], true);
    assert_eq!(control["before"]["kernel"], control["after"]["kernel"]);
    assert_eq!(control["before"]["user"], control["after"]["user"]);

    assert_eq!(comparison["repeat"]["moved"], Value::Array(Vec::new()));
    let behaviour = &comparison["behaviour"];
    assert!(behaviour["points"].as_u64().unwrap() >= 200, "{behaviour}");
    assert_eq!(behaviour["differences"], Value::Array(Vec::new()));
    assert!(
        fs::read_to_string(&proof.html)
            .unwrap()
            .contains("epoll_put_uevent")
    );

    the_next_run_is_the_same(&proof);
    the_patch_is_what_a_maintainer_takes();
    another_order_of_stores_is_caught(comparison["setting"]["patch"].as_str().unwrap());
    planted_mistakes_are_named();
}

/// Builds nothing, and gives the same bytes.
fn the_next_run_is_the_same(first: &Proof) {
    let second = Proof::new(&[], 0);
    let json = |proof: &Proof| fs::read(&proof.json).unwrap();
    assert!(
        json(first) == json(&second),
        "two runs of the same images differ"
    );
    let said = String::from_utf8_lossy(&second.output.stderr).into_owned();
    assert_eq!(said.matches("from the cache").count(), 2, "{said}");
}

/// The same window with its two stores swapped: as fast, and wrong, because
/// what a fault between them leaves behind is something else.
fn another_order_of_stores_is_caught(patch: &str) {
    let lines: Vec<&str> = patch.lines().collect();
    let first = lines
        .iter()
        .position(|line| line.contains("unsafe_put_user(revents"))
        .unwrap();
    let mut swapped = lines.clone();
    swapped.swap(first, first + 1);
    assert!(swapped[first].contains("unsafe_put_user(data"));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("swapped.patch");
    fs::write(&file, swapped.join("\n") + "\n").unwrap();
    let proof = Proof::new(&["--patch", file.to_str().unwrap()], 1);
    let value = proof.value();
    let comparison = &value["comparisons"][0];
    assert_eq!(comparison["verdict"], "behaviour_differs");
    let differences = comparison["behaviour"]["differences"].as_array().unwrap();
    assert!(!differences.is_empty());
}

/// The tree that the proof unpacked.
fn unpacked() -> PathBuf {
    let cache = std::env::var_os("TOLLGATE_CACHE").map(PathBuf::from);
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache");
    let trees = cache.unwrap_or_else(|| base.unwrap_or_else(home).join("tollgate"));
    let trees = fs::read_dir(trees.join("trees")).unwrap();
    trees.map(|tree| tree.unwrap().path()).next().unwrap()
}

/// The kernel's own checkpatch.pl has nothing to say, and git applies it.
fn the_patch_is_what_a_maintainer_takes() {
    let tree = unpacked();
    let target = "include/linux/eventpoll.h";
    let mut fix = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    fix.arg("fix")
        .arg(&tree)
        .arg(format!("{target}:epoll_put_uevent"));
    let patch = fix.output().unwrap();
    assert!(patch.status.success());

    // checkpatch.pl keeps a cache where it runs: not in the tree.
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("include/linux")).unwrap();
    fs::copy(tree.join(target), dir.path().join(target)).unwrap();
    fs::write(dir.path().join("fix.patch"), &patch.stdout).unwrap();
    let run = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        let output = command.args(args).current_dir(dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{program}: {said}");
        said
    };
    let script = tree.join("scripts/checkpatch.pl");
    let options = ["--strict", "--no-tree", "--no-signoff", "fix.patch"];
    let args: Vec<&str> = std::iter::once(script.to_str().unwrap())
        .chain(options)
        .collect();
    let said = run("perl", &args);
    assert!(said.contains("0 errors, 0 warnings, 0 checks"), "{said}");
    run("git", &["init", "-q"]);
    run("git", &["apply", "--check", "fix.patch"]);
}

/// Two of the mistakes of tests/faults; `make faults` plants them all.
fn planted_mistakes_are_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/faults");
    let patch = |name: &str| folder.join(name).to_str().unwrap().to_owned();

    // As fast as the right window, and one of nine values is another one's.
    let proof = Proof::of(
        "alsa-sync-ptr",
        &["--patch", &patch("02-wrong-value.patch")],
        1,
    );
    let comparison = &proof.value()["comparisons"][0];
    assert_eq!(comparison["verdict"], "behaviour_differs");

    let proof = Proof::of(
        "alsa-sync-ptr",
        &["--patch", &patch("07-missing-end.patch")],
        2,
    );
    let said = String::from_utf8_lossy(&proof.output.stderr).into_owned();
    assert!(said.contains("return with UACCESS enabled"), "{said}");
}
