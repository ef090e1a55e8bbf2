//! The demo on a real kernel: Debian's linux-source-6.12, built, booted and
//! counted. Images stay in the user's cache, so that only the first run builds.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use object::{Object, ObjectSection};
use serde_json::Value;
use tollgate_gates::Analysis;

const SOURCE: &str = "/usr/src/linux-source-6.12.tar.xz";

/// The user's cache for one test at a time; none where no kernel can be built here.
fn lab() -> Option<MutexGuard<'static, ()>> {
    static CACHE: Mutex<()> = Mutex::new(());
    (!is_lacking()).then(|| CACHE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether the kernel cannot be built here.
fn is_lacking() -> bool {
    if tollgate_testing::kernel::is_left_out() {
        return true;
    }
    let runs = |name: &&str| {
        let output = Command::new(name).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    let tools = ["qemu-system-x86_64", "gcc", "make", "flex", "bison", "bc"];
    let lacking = match Path::new(SOURCE).exists() {
        false => Some(SOURCE),
        true => tools.into_iter().find(|name| !runs(name)),
    };
    if let Some(name) = lacking {
        tollgate_testing::missing(name, "scripts/setup installs it");
    }
    lacking.is_some()
}

fn prove(case: &str, json: &Path, html: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command
        // A machine that is busy with other work is no kernel that hangs.
        .args(["prove", case, "--timeout", "900"])
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

/// What is found in the functions of a kernel is what its table of replacements
/// holds, in both images of the case.
#[test]
fn each_replacement_of_a_kernel_is_found_in_a_function() {
    let Some(_lab) = lab() else { return };
    let value = Proof::new(&[], 0).value();
    let comparison = &value["comparisons"][0];
    for side in ["before", "after"] {
        let id = comparison[side]["id"].as_str().unwrap();
        holds_its_replacements(&cache().join("images").join(id).join("vmlinux"));
    }
}

fn holds_its_replacements(path: &Path) {
    let bytes = fs::read(path).unwrap();
    let analysis = Analysis::of(&bytes).unwrap();
    let found = analysis.patched_in_functions;
    assert_eq!(
        (found.opens, found.closes, found.fences),
        replacements(&bytes),
        "{}",
        path.display()
    );
    assert_eq!(analysis.patched, found);
    assert!(found.opens > 50, "{found:?}");
    let lost = analysis.functions.iter().filter(|f| f.lost).count();
    assert_eq!(
        (analysis.findings(), lost, analysis.unread_records),
        (0, 0, 0)
    );
}

/// stac, clac and lfence of `.altinstructions`, counted from the bytes: records
/// of 14, `s32 instr, repl; u16 cpuid, flags; u8 ilen, rlen`.
fn replacements(bytes: &[u8]) -> (usize, usize, usize) {
    let file = object::File::parse(bytes).unwrap();
    let table = file.section_by_name(".altinstructions").unwrap();
    let code = file.section_by_name(".altinstr_replacement").unwrap();
    let (records, code_bytes) = (table.data().unwrap(), code.data().unwrap());
    let text = |at: usize, length: usize| {
        let field = i32::from_le_bytes(records[at + 4..at + 8].try_into().unwrap());
        let place = (table.address() + at as u64 + 4).wrapping_add_signed(field.into());
        let from = usize::try_from(place.wrapping_sub(code.address())).ok()?;
        code_bytes.get(from..from + length)
    };
    let mut counts = (0, 0, 0);
    for at in (0..records.len()).step_by(14) {
        let feature = u16::from_le_bytes(records[at + 8..at + 10].try_into().unwrap());
        match (feature, text(at, records[at + 13].into())) {
            (308, Some([0x0f, 0x01, 0xcb])) => counts.0 += 1,
            (308, Some([0x0f, 0x01, 0xca])) => counts.1 += 1,
            (642, Some([0x0f, 0xae, 0xe8])) => counts.2 += 1,
            _ => {}
        }
    }
    counts
}

#[test]
fn one_window_an_event_saves_a_passage_of_the_gate() {
    let Some(_lab) = lab() else { return };
    let proof = Proof::new(&["--recount"], 0);
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
    let second = Proof::new(&["--recount"], 0);
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

/// Where `tollgate prove` keeps its images.
fn cache() -> PathBuf {
    let own = std::env::var_os("TOLLGATE_CACHE").map(PathBuf::from);
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache");
    own.unwrap_or_else(|| base.unwrap_or_else(home).join("tollgate"))
}

/// The kernel's own checkpatch.pl has nothing to say, and git applies it.
fn the_patch_is_what_a_maintainer_takes() {
    let Some(tree) = tollgate_testing::kernel::tree() else {
        return;
    };
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

/// Modes of one program on one kernel, to the ioctl.
#[test]
fn a_players_ways_to_ask_are_counted() {
    let Some(_lab) = lab() else { return };
    if !Path::new("/usr/include/alsa/asoundlib.h").exists() {
        tollgate_testing::missing("libasound2-dev", "scripts/setup installs it");
        return;
    }
    let proof = Proof::of("alsa-client", &[], 0);
    let value = proof.value();
    let comparisons = value["comparisons"].as_array().unwrap();
    let asked = |side: &serde_json::Value| {
        let tallies = &side["tallies"];
        ["ioctl-HWSYNC", "ioctl-DELAY", "wake-ups"].map(|name| tallies[name].as_u64().unwrap())
    };
    let play = |index: usize| {
        let rows = comparisons[index]["workloads"].as_array().unwrap();
        rows.iter()
            .find(|row| row["benchmark"] == "client/play")
            .unwrap()
    };
    assert_eq!(asked(&play(0)["before"]), [11_998, 5_999, 5_998]);
    assert_eq!(asked(&play(0)["after"]), [5_999, 0, 5_998]);
    assert_eq!(asked(&play(1)["after"]), [0, 0, 5_998]);
    // What the kernel counts agrees: START besides.
    assert_eq!(play(0)["before"]["system_calls"]["ioctl"], 17_998);
    assert_eq!(play(1)["after"]["system_calls"]["ioctl"], 1);
    for comparison in comparisons {
        assert_eq!(comparison["verdict"], "gain");
        assert_eq!(comparison["repeat"]["moved"].as_array().unwrap().len(), 0);
    }
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
