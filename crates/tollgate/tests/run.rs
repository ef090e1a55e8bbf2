//! `tollgate run` on this machine: the form of what it says, never how long
//! anything took.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test says what it expects"
)]

use std::path::Path;
use std::process::Output;
use std::sync::{Mutex, OnceLock, PoisonError};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;
use tollgate_testing::elsewhere;

/// One cache for all tests, so that the program is compiled once; one at a time may
/// use it.
fn run(args: &[&str]) -> Output {
    static CACHE: OnceLock<Mutex<TempDir>> = OnceLock::new();
    let cache = CACHE.get_or_init(|| Mutex::new(tempfile::tempdir().unwrap()));
    let cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command
        .arg("run")
        .args(args)
        .env("TOLLGATE_CACHE", cache.path());
    command.output().unwrap()
}

/// What a run that measured something wrote as JSON.
fn document(args: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("times.json");
    let output = run(&[args, &["--json", file.to_str().unwrap()]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
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
    let output = run(&[
        "signal_catch",
        "signal_null",
        "--reps",
        "10",
        "--ops",
        "50",
        "--json",
        file,
    ]);
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
    assert!(
        text.ends_with("TIMED\n2 benchmarks timed, 0 not run.\n"),
        "{text}"
    );
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
    let document = document(&[
        "epoll_wait",
        "--param",
        "events=1,64",
        "--reps",
        "10",
        "--cpu",
        "any",
    ]);
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
fn what_warms_up_is_not_counted_and_is_said() {
    let words = ["getppid", "--reps", "10", "--ops", "50", "--warmup"];
    let asked = |many: &'static str| [words.as_slice(), &[many]].concat();
    let document = document(&asked("3"));
    assert_eq!(document["rounds"]["warmups"], 3);
    let times = document["workloads"][0]["nanoseconds"].as_array().unwrap();
    assert_eq!(times.len(), 10);
    let none = run(&asked("0"));
    assert_eq!(none.status.code(), Some(2), "what comes first never counts");
}

#[test]
fn what_cannot_be_run_is_named() {
    let card = Path::new("/dev/dri/card0").exists();
    let document = document(&["getppid", "drm_ioctl", "--reps", "10", "--ops", "10"]);
    let timed = document["workloads"].as_array().unwrap().len();
    let not_run = document["not_run"].as_array().unwrap();
    assert_eq!(timed + not_run.len(), 2);
    if card {
        elsewhere("graphics-card");
        return;
    }
    assert_eq!(not_run[0]["job"], "drm_ioctl dir=3 size=8");
    let output = run(&["drm_ioctl", "--reps", "10"]);
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
    let output = run(&[&args[..], &[file.to_str().unwrap()]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) => {
            elsewhere("x32-programs");
        }
        code => {
            assert_eq!(code, Some(2), "{said}");
            let named = said.contains("\n  getppid (x32): ");
            assert!(named || said.contains("no ABI x32"), "{said}");
            assert!(said.matches("this machine runs no").count() <= 1, "{said}");
        }
    }
}

#[test]
fn wrong_words_are_sentences() {
    let said = |args: &[&str]| {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(&[]).contains("nothing to time: name benchmarks"));
    assert!(said(&["sig"]).contains("no benchmark is called sig; there are: getppid"));
    assert!(said(&["getppid", "--reps", "9"]).contains("9 is not in 10..=10000"));
    assert!(said(&["getppid", "--param", "events=1"]).contains("has a parameter events"));
    assert!(said(&["getppid", "--abi", "vax"]).contains("no ABI vax"));
    assert!(
        said(&["getppid", "--cpu", "100000", "--ops", "1"])
            .contains("--cpu 100000: this process may run on CPU")
    );
    for floor in ["-1", "nan", "101", "2%"] {
        let said = said(&["getppid", "--against", "x", "--floor", floor]);
        assert!(
            said.contains(&format!("{floor} is no floor: give percent")),
            "{said}"
        );
    }
    assert!(said(&["getppid", "--floor", "3"]).contains("--against <FILE>"));
    assert!(said(&["getppid", "--json", "/nonexistent/x"]).contains("no such folder"));
}

/// Against itself made faster and slower by hand, far beyond any noise.
#[test]
fn an_earlier_run_decides_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("times.json");
    let path = file.to_str().unwrap();
    let common = ["signal_null", "--reps", "10", "--ops", "200"];
    let output = run(&[&common[..], &["--json", path]].concat());
    assert_eq!(output.status.code(), Some(0));
    let measured = std::fs::read(&file).unwrap();
    let against = |factor: u64, benchmark: &str| {
        let mut document: Value = serde_json::from_slice(&measured).unwrap();
        let row = &mut document["workloads"][0];
        row["benchmark"] = benchmark.into();
        row["operations"] = (200 * factor).into();
        for time in row["nanoseconds"].as_array_mut().unwrap() {
            *time = (time.as_u64().unwrap() * 1000).into();
        }
        std::fs::write(&file, document.to_string()).unwrap();
        let again = folder.path().join("again.json");
        let again_path = again.to_str().unwrap();
        let more = ["--against", path, "--json", again_path];
        let output = run(&[&common[..], &more].concat());
        let document: Value = serde_json::from_slice(&std::fs::read(again).unwrap()).unwrap();
        assert_eq!(faults(&document), Vec::<String>::new());
        assert_eq!(document["against"]["same_boot"], true);
        assert_eq!(document["against"]["floor_percent"], 5.0);
        let text = String::from_utf8(output.stdout).unwrap();
        (
            output.status.code(),
            // The word of the verdict stands alone above its sentence.
            text.lines()
                .rev()
                .find(|line| *line == line.to_uppercase())
                .unwrap()
                .to_owned(),
        )
    };
    // 1,000 times as long for a million times the operations, and for as many.
    let (code, last) = against(1_000_000, "signal_null");
    assert_eq!(
        (code, last.starts_with("REGRESSION")),
        (Some(1), true),
        "{last}"
    );
    let (code, last) = against(1, "signal_null");
    assert_eq!(
        (code, last.starts_with("NO REGRESSION")),
        (Some(0), true),
        "{last}"
    );
    let (code, last) = against(1, "poll");
    assert_eq!(
        (code, last.starts_with("NOTHING TO COMPARE")),
        (Some(2), true),
        "{last}"
    );
    std::fs::write(&file, "{}").unwrap();
    let output = run(&[&common[..], &["--against", path]].concat());
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("times.json cannot be used: it is no JSON that tollgate run"),
        "{said}"
    );
}

const OWN: &str = "#include \"tollgate_bench.h\"\n\
    int main(int argc, char **argv) {\n\
    (void)argv;\n\
    for (int rep = 0; rep < 4; rep++) {\n\
    tollgate_begin();\n\
    for (int i = 0; i < 100; i++) tollgate_syscall0(39);\n\
    tollgate_end();\n\
    tollgate_phase(\"getpid\", 100);\n\
    }\n\
    return argc - 2;\n}\n";

/// The program of `OWN`, with more flags for the compiler.
fn own_program(folder: &Path, name: &str, flags: &[&str]) -> String {
    let source = folder.join("own.c");
    std::fs::write(&source, OWN).unwrap();
    let guest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest");
    let program = folder.join(name);
    let mut gcc = std::process::Command::new("gcc");
    gcc.args(["-O2", "-static", "-I"]).arg(guest).args(flags);
    gcc.arg("-o").arg(&program).arg(source);
    assert!(gcc.status().unwrap().success());
    program.to_str().unwrap().to_owned()
}

#[test]
fn a_program_of_one_s_own_is_timed_beside_benchmarks() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("times.json");
    let timed = own_program(folder.path(), "timed", &["-DTOLLGATE_TIMED"]);
    let common = [
        "getppid",
        "--reps",
        "10",
        "--json",
        file.to_str().unwrap(),
        "--",
    ];
    let output = run(&[&common[..], &[&timed, "argument"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let document: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(faults(&document), Vec::<String>::new());
    let own = &document["workloads"][1];
    assert_eq!(own["benchmark"], "timed/getpid");
    assert_eq!(own["operations"], 100);
    assert_eq!(own["nanoseconds"].as_array().unwrap().len(), 10);

    let failed = |args: &[&str]| {
        let output = run(&[&["--reps", "10", "--"], args].concat());
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(failed(&[&timed]).contains("timed: it ended with status 255"));
    let counted = own_program(folder.path(), "counted", &[]);
    let said = failed(&[&counted, "argument"]);
    assert!(
        said.contains("counted/getpid: it says no time: compile it with"),
        "{said}"
    );
}

#[test]
fn a_program_that_hangs_is_named_and_no_path_of_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("hang.c");
    std::fs::write(&source, "int main(void) { for (;;) ; }\n").unwrap();
    let program = folder.path().join("hang");
    let mut gcc = std::process::Command::new("gcc");
    gcc.arg("-static").arg("-o").arg(&program).arg(&source);
    assert!(gcc.status().unwrap().success());
    let program = program.to_str().unwrap();
    let output = run(&["--reps", "10", "--timeout", "8", "--", program]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    let wanted = "the round did not end within 8 s and was stopped in program hang; where it";
    assert!(said.contains(wanted), "{said}");
    assert!(!said.contains("/programs/"), "{said}");
}

/// A run that times less than the one before does not take its place.
#[test]
fn times_that_another_run_lacks_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("times.json");
    let link = folder.path().join("link.json");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let timed = |benchmarks: &[&str], path: &Path| {
        let common = ["--reps", "10", "--ops", "20", "--json"];
        let words = [benchmarks, &common, &[path.to_str().unwrap()]].concat();
        let output = run(&words);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).unwrap()
    };
    let kept = |number: usize| folder.path().join(format!("times.earlier-{number}.json"));
    timed(&["getppid", "getrlimit"], &file);
    let whole = std::fs::read(&file).unwrap();
    // The same question again is an answer that takes the place of the first.
    timed(&["getppid", "getrlimit"], &file);
    assert!(!kept(1).exists());
    let said = timed(&["getppid"], &link);
    assert!(
        said.contains("times that this one lacks") && said.contains("times.earlier-1.json"),
        "{said}"
    );
    let earlier: Value = serde_json::from_slice(&std::fs::read(kept(1)).unwrap()).unwrap();
    assert_eq!(earlier["workloads"].as_array().unwrap().len(), 2);
    assert_ne!(std::fs::read(&file).unwrap(), whole);
    timed(&["getppid", "getrlimit"], &file);
    assert!(!kept(2).exists());
}

/// As many processes as there are CPUs are timed beside each other; more are named.
#[test]
fn several_processes_at_once_are_rows_of_their_own() {
    let document = document(&[
        "getppid",
        "--reps",
        "10",
        "--ops",
        "2000",
        "--parallel",
        "1,2,4096",
    ]);
    assert_eq!(faults(&document), Vec::<String>::new());
    let rows = document["workloads"].as_array().unwrap();
    let skips = document["not_run"].as_array().unwrap();
    let parallel = |row: &Value| row["parameters"]["parallel"].as_u64();
    let found: Vec<Option<u64>> = rows.iter().map(parallel).collect();
    let reason = |skip: &Value| skip["reason"].as_str().unwrap().to_owned();
    let told: Vec<String> = skips.iter().map(reason).collect();
    let last = told.last().unwrap();
    assert!(
        last.starts_with("it takes 4096 CPUs, and this process may run on "),
        "{last}"
    );
    // A machine with one CPU says the same of two.
    match found.as_slice() {
        [None, Some(2)] => assert_eq!(told.len(), 1),
        [None] => assert!(told[0].starts_with("it takes 2 CPUs"), "{told:?}"),
        other => panic!("{other:?}"),
    }
    for row in rows {
        assert_eq!(row["nanoseconds"].as_array().unwrap().len(), 10);
    }
    let odd = run(&["getppid", "--parallel", "0"]);
    assert_eq!(odd.status.code(), Some(2));
}
