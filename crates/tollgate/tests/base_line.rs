//! What two builds say of a tree, compared by `scripts/base-line`: with programs that say what a
//! test wants them to.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder with programs, a tree and what the script writes.
struct Room(tempfile::TempDir);

impl Room {
    fn new() -> Self {
        let room = Self(tempfile::tempdir().unwrap());
        fs::create_dir(room.path("tree")).unwrap();
        room
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A program of the shell; `$1` is the command.
    fn program(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, parts: &[&str]) -> Command {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/base-line");
        let mut command = Command::new(script);
        command.args(["--details", "details", "./old", "./new", "tree"]);
        command.args(parts).current_dir(self.0.path());
        command
    }

    /// How it ended and what it printed, with what went wrong.
    fn compare(&self, parts: &[&str]) -> (Option<i32>, String) {
        let output = self.command(parts).output().unwrap();
        let said = said(&output);
        (output.status.code(), said)
    }
}

fn said(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    out + &String::from_utf8_lossy(&output.stderr)
}

/// A program that prints that document.
fn printing(document: &str) -> String {
    format!("cat <<'END'\n{document}\nEND\nexit 1")
}

fn finding(file: &str, function: &str, line: u32, saved: u32, object: &str) -> String {
    format!(
        "{{\"kind\": \"run\", \"file\": \"{file}\", \"line\": {line}, \"column\": 5, \"function\": \"{function}\", \
         \"reads\": 0, \"writes\": 2, \"windows_saved\": {saved}, \"windows_apart\": 0, \"forms\": [\"bare\"], \
         \"understood\": true, \"heat\": \"cold\", \"heat_reason\": \"\", \"runs\": [{{\"line\": {line}, \
         \"objects\": [\"{object}\"], \"windows_saved\": {saved}, \"windows_apart\": 0}}]}}"
    )
}

fn scan(findings: &[String]) -> String {
    let findings = findings.join(", ");
    printing(&format!(
        "{{\"findings\": [{findings}], \"others\": [], \"without_size\": [], \"not_analysed\": [], \"left_out\": []}}"
    ))
}

#[test]
fn a_scan_is_compared_by_function_and_kind() {
    let room = Room::new();
    let old = [
        finding("a.c", "f", 10, 1, "p"),
        finding("b.c", "g", 20, 1, "p"),
        finding("c.c", "h", 30, 2, "p"),
        finding("d.c", "i", 40, 1, "p"),
    ];
    let new = [
        // Another line is no difference, one window more is one of its own.
        finding("a.c", "f", 11, 1, "p"),
        finding("b.c", "g", 20, 2, "p"),
        finding("c.c", "h", 30, 2, "q"),
        finding("e.c", "j", 40, 1, "p"),
    ];
    room.program("old", &scan(&old));
    room.program("new", &scan(&new));
    let (code, text) = room.compare(&["scan"]);
    assert_eq!(code, Some(1), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    let expected = [
        "other scan b.c g windows-saved",
        "other scan c.c h run",
        "lost scan d.c i run",
        "lost scan d.c i windows-saved",
        "added scan e.c j run",
        "added scan e.c j windows-saved",
        "scan: 4 same, 2 other, 2 lost, 2 added",
    ];
    assert_eq!(lines[..7], expected, "{text}");
    let details = fs::read_to_string(room.path("details/scan.txt")).unwrap();
    assert!(
        details.contains("-    \"p\"") && details.contains("+    \"q\""),
        "{details}"
    );
    assert!(room.path("details/old/scan.json").is_file());
}

const HELP: &str = "      --style <STYLE>\n          How user memory is accessed after the fix. window: one begin, unsafe\n          \
    accesses. masked: the same. size-switch: constant\n          accesses for the --sizes\n\n          [default: window]\n";

/// A fix that writes one patch, and refuses another function.
fn fix(number: u32, line: &str, reason: &str) -> String {
    format!(
        "[ \"$2\" = --help ] && {{ cat <<'END'\n{HELP}\nEND\nexit 0; }}\n\
         case \"$*\" in *masked*) echo 'tollgate: the style masked is not offered by this tree: it lacks it' >&2; exit 2;; esac\n\
         while [ $# -gt 0 ]; do [ \"$1\" = --output ] && out=$2; shift; done\nmkdir -p \"$out\"\n\
         cat > \"$out/000{number}-a.patch\" <<'END'\nFrom 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
         Date: {number}\nSubject: [PATCH {number}/9] a\n\n--- a/fs/a.c\n+++ b/fs/a.c\n@@ -{number}1,2 +{number}1,2 @@ int f(void)\n-x\n+{line}\n-- \n2.{number}\nEND\n\
         cat <<'END'\n{{\"patches\": [], \"left\": [\"fs/b.c:1{number}: g is not rewritten: {reason}\"]}}\nEND"
    )
}

#[test]
fn patches_are_compared_without_their_place_in_a_series() {
    let room = Room::new();
    room.program("old", &fix(1, "y", "it calls"));
    room.program("new", &fix(2, "y", "it calls"));
    let (code, text) = room.compare(&["fix"]);
    assert_eq!(code, Some(0), "{text}");
    let expected = [
        "fix window: 2 same, 0 other, 0 lost, 0 added",
        "fix masked: 1 same, 0 other, 0 lost, 0 added",
        "fix size-switch: 2 same, 0 other, 0 lost, 0 added",
    ];
    assert!(expected.iter().all(|line| text.contains(line)), "{text}");
    let room = Room::new();
    room.program("old", &fix(1, "y", "it calls"));
    room.program("new", &fix(2, "z", "it sleeps"));
    let (code, text) = room.compare(&["fix"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("other fix window fs/a.c - patch\n"), "{text}");
    assert!(
        text.contains("other fix window fs/b.c g refused\n"),
        "{text}"
    );
    let details = fs::read_to_string(room.path("details/fix-window.txt")).unwrap();
    assert!(
        details.contains("-+y") && details.contains("++z"),
        "{details}"
    );
}

/// The patches alone, where one says of no function why it has none.
#[test]
fn an_early_program_is_compared_by_what_it_says() {
    let room = Room::new();
    let early = fix(1, "y", "").replacen(
        "case",
        "case \"$*\" in *--format*) echo \"error: unexpected argument '--format' found\" >&2; exit 2;; esac\ncase",
        1,
    );
    room.program("old", &early);
    room.program("new", &fix(2, "y", "it calls"));
    let (code, text) = room.compare(&["fix"]);
    assert_eq!(code, Some(0), "{text}");
    let expected =
        "fix window: 1 same, 0 other, 0 lost, 0 added; refused: not compared, one does not say it";
    assert!(text.contains(expected), "{text}");
    // Of its other commands what they write into a file.
    let room = Room::new();
    let finding = [finding("a.c", "f", 10, 1, "p")];
    let early = format!(
        "case \"$*\" in *--format*) echo \"error: unexpected argument '--format' found\" >&2; exit 2;; esac\n\
         while [ $# -gt 0 ]; do [ \"$1\" = --json ] && out=$2; shift; done\nexec > \"$out\"\n{}",
        scan(&finding)
    );
    room.program("old", &early);
    room.program("new", &scan(&finding));
    let (code, text) = room.compare(&["scan"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("scan: 2 same, 0 other, 0 lost, 0 added"),
        "{text}"
    );
}

#[test]
fn checks_of_every_confidence_and_a_proof_are_compared() {
    let check = |rule: &str| {
        let document = format!(
            "{{\"findings\": [{{\"rule\": \"{rule}\", \"severity\": \"error\", \"confidence\": \"high\", \"file\": \"a.c\", \"line\": 1, \"column\": 1, \
             \"function\": null, \"message\": \"m\", \"why\": \"w\", \"excerpt\": \"x\", \"related\": [], \"fix\": null}}], \"not_checked\": [], \"left_out\": []}}"
        );
        let proof = format!(
            "{{\"comparisons\": [{{\"after\": {{\"variant\": \"window\"}}, \"verdict\": \"gain\", \"exit_code\": 0, \"statement\": \"s\", \"behaviour\": {{}}, \
             \"workloads\": [{{\"benchmark\": \"epoll\", \"parameters\": {{\"events\": 1}}, \"abi\": \"64\", \"cpu\": \"smap\", \"before\": 9, \"after\": {}}}]}}], \
             \"pairs\": [], \"not_run\": [], \"claims\": [], \"commands\": [\"$CACHE\"]}}",
            rule.len()
        );
        format!(
            "if [ \"$1\" = prove ]; then cat <<'END'\n{proof}\nEND\nexit 0; fi\n{}",
            printing(&document)
        )
    };
    let room = Room::new();
    room.program("old", &check("missing-end"));
    room.program("new", &check("missing-begin"));
    let (code, text) = room.compare(&["check", "prove"]);
    assert_eq!(code, Some(1), "{text}");
    for confidence in ["low", "medium", "high"] {
        let line = format!("check {confidence}: 0 same, 0 other, 1 lost, 1 added");
        assert!(text.contains(&line), "{text}");
    }
    assert!(
        text.contains("other prove epoll epoll window epoll {\"events\": 1} 64 smap\n"),
        "{text}"
    );
    assert!(
        text.contains("prove epoll: 2 same, 1 other, 0 lost, 0 added"),
        "{text}"
    );
}

#[test]
fn what_gives_no_answer_is_told() {
    for (new, expected) in [
        ("echo 'it broke' >&2; exit 101", "it broke"),
        ("echo '{'", "printed no JSON"),
        ("echo '{}'", "a document has no 'findings'"),
        ("kill -9 $$", "was ended by signal 9"),
    ] {
        let room = Room::new();
        room.program("old", &scan(&[]));
        room.program("new", new);
        let (code, text) = room.compare(&["scan"]);
        assert_eq!(code, Some(2), "{text}");
        assert!(
            text.contains("scripts/base-line: ") && text.contains(expected),
            "{text}"
        );
    }
    let room = Room::new();
    room.program("old", &scan(&[]));
    assert_eq!(room.compare(&["scan"]).0, Some(2));
    room.program("new", &scan(&[]));
    assert_eq!(room.compare(&["scam"]).0, Some(2));
    // Each program has what it kept to itself.
    room.program(
        "new",
        &format!("echo \"$TOLLGATE_CACHE\" >&2\n{}", scan(&[])),
    );
    assert_eq!(room.compare(&["scan"]).0, Some(0));
    assert!(room.path("details/old/cache").is_dir() && room.path("details/new/cache").is_dir());
    let (code, text) = room.compare(&["scan"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("is not empty"), "{text}");
}

/// Whoever ends the script ends the program that it waits for.
#[test]
fn a_signal_ends_the_program_as_well() {
    // Also one that comes while the program is being started.
    (0..20).for_each(|_| signalled());
}

fn signalled() {
    let room = Room::new();
    room.program("old", "echo $$ > started; exec sleep 600");
    room.program("new", "exit 0");
    let mut command = room.command(&["scan"]);
    let mut script = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = room.path("started");
    let number = loop {
        match fs::read_to_string(&started) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            _ => std::thread::yield_now(),
        }
    };
    let own = rustix::process::Pid::from_child(&script);
    rustix::process::kill_process(own, rustix::process::Signal::TERM).unwrap();
    assert_eq!(script.wait().unwrap().code(), Some(2));
    assert!(!Path::new("/proc").join(number).exists());
}
