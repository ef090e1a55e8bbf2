//! What every command does with signals, terminals and locales.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the tests of the lab use the rest of it")]
mod support;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use support::{Lab, code, heeding_signals, run};

/// The fake tree with an object to look at.
fn lab() -> Lab {
    let lab = Lab::new();
    fs::write(lab.path("x.c"), "int f(int a) { return a; }\n").unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-c", "x.c", "-o", "x.o"])
        .current_dir(lab.path(""));
    assert!(gcc.status().unwrap().success());
    lab
}

const FUNCTION: &str = "include/linux/eventpoll.h:epoll_put_uevent";

/// Every command, in a form that prints something.
const COMMANDS: &[&[&str]] = &[
    &["--help"],
    &["cases"],
    &["cases", "--format", "json"],
    &["scan", "tree"],
    &["scan", "tree", "--format", "source"],
    &["scan", "tree", "--format", "json"],
    &["scan", "tree", "--format", "sarif"],
    &["check", "tree"],
    &["check", "tree", "--format", "json"],
    &["check", "tree", "--format", "sarif"],
    &["gates", "x.o"],
    &["gates", "x.o", "f"],
    &["gates", "x.o", "--against", "x.o"],
    &["gates", "x.o", "--format", "json"],
    &["fix", "tree", FUNCTION],
    &["fix", "tree", "--output", "patches"],
    &[
        "run",
        "getppid",
        "--reps",
        "10",
        "--ops",
        "10",
        "--cache",
        "run-cache",
    ],
];

/// A pipe that takes nothing more: who writes into it waits.
fn full_pipe() -> (std::io::PipeReader, std::io::PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    // The capacity of a pipe (pipe(7)).
    writer.write_all(&[0; 65_536]).unwrap();
    (reader, writer)
}

/// The signals' numbers (signal(7)).
const SIGNALS: [(&str, u32); 3] = [("HUP", 1), ("INT", 2), ("TERM", 15)];

/// Waits until the process has a handler for the signal (proc(5), SigCgt): handlers are set one
/// after the other.
fn wait_until_it_listens(child: &Child, signal: &str) {
    let (_, number) = SIGNALS.iter().find(|(name, _)| *name == signal).unwrap();
    let path = format!("/proc/{}/status", child.id());
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let status = fs::read_to_string(&path).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
        if mask & (1 << (number - 1)) != 0 {
            return;
        }
        assert!(Instant::now() < deadline, "it never listened: {status}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signalled(command: &Command, signal: &str) -> Output {
    let (_reader, writer) = full_pipe();
    let mut command = heeding_signals(command);
    let child = command
        .stdout(writer)
        .stderr(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    command.stdout(Stdio::null());
    wait_until_it_listens(&child, signal);
    let kill = format!("kill -{signal} {}", child.id());
    assert!(
        Command::new("sh")
            .args(["-c", &kill])
            .status()
            .unwrap()
            .success()
    );
    child.wait_with_output().unwrap()
}

#[test]
fn a_signal_is_its_exit_code_in_every_command() {
    let lab = lab();
    // Help is printed before anything could be interrupted.
    for args in COMMANDS.iter().filter(|args| **args != ["--help"]) {
        for (signal, wanted) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
            let output = signalled(&lab.tollgate(args), signal);
            let said = lab.said(&output);
            assert_eq!(code(&output), wanted, "{args:?} {signal}: {said}");
            assert!(said.contains("error: interrupted"), "{args:?}: {said}");
        }
    }
}

#[test]
fn a_hang_up_that_nohup_ignores_stays_ignored() {
    let lab = lab();
    let script = "trap '' HUP; exec \"$0\" check -";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_tollgate")]);
    let mut child = command
        .current_dir(lab.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until_it_listens(&child, "TERM");
    let kill = format!("kill -HUP {}", child.id());
    assert!(
        Command::new("sh")
            .args(["-c", &kill])
            .status()
            .unwrap()
            .success()
    );
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"int a;\n").unwrap();
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Both streams of a command that has a terminal for them.
fn on_a_terminal(lab: &Lab, args: &[&str], variables: &[(&str, &str)]) -> String {
    let program = lab.tollgate(args);
    let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_string_lossy());
    let words: Vec<String> = std::iter::once(program.get_program())
        .chain(program.get_args())
        .map(quoted)
        .collect();
    let mut command = Command::new("script");
    command.args(["-qec", &words.join(" "), "/dev/null"]);
    command
        .current_dir(lab.path(""))
        .envs(variables.iter().copied());
    command.env_remove("NO_COLOR").stdin(Stdio::null());
    String::from_utf8_lossy(&run(&mut command).stdout).into_owned()
}

#[test]
fn a_dumb_terminal_gets_no_colour_and_no_cursor() {
    let lab = lab();
    let broken = "int f(int __user *p) { if (!user_access_begin(p, 4)) return 1;\n\
                  unsafe_put_user(1, p, e); return 0; e: user_access_end(); return 1; }\n";
    fs::write(lab.tree().join("kernel/broken.c"), broken).unwrap();
    let prove = ["prove", "epoll", "--tree", "tree", "--cache", "cache"];
    let qemu = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake-qemu");
    let qemu = ["--qemu", qemu.to_str().unwrap()];
    let prove = [&prove[..], &qemu].concat();
    for args in [
        &["check", "tree"][..],
        &prove,
        &["scan", "nowhere"],
        &["--bogus"],
    ] {
        let colourful = on_a_terminal(&lab, args, &[("TERM", "xterm")]);
        assert!(colourful.contains("\x1b["), "{args:?}: {colourful}");
        let dumb = on_a_terminal(&lab, args, &[("TERM", "dumb")]);
        assert!(!dumb.contains('\x1b'), "{args:?}: {dumb:?}");
    }
}

#[test]
fn the_c_locale_is_ascii_in_every_command() {
    let lab = lab();
    let name = "kernel/gr\u{f6}\u{df}e.c";
    let text =
        "int f(int __user *p) {\n\treturn put_user(1, p) || put_user(2, p); /* \u{2192} */\n}\n";
    fs::write(lab.tree().join(name), text).unwrap();
    for args in COMMANDS {
        let is_patch = args.first() == Some(&"fix") && !args.contains(&"--output");
        let mut command = lab.tollgate(args);
        let output = run(command.env("LC_ALL", "C").env("LANG", "C.UTF-8"));
        let text = [output.stdout.clone(), output.stderr.clone()].concat();
        let shown = String::from_utf8_lossy(&text).into_owned();
        assert!(is_patch || text.is_ascii(), "{args:?}: {shown}");
        let mut command = lab.tollgate(args);
        let other = run(command.env("LC_ALL", "C.UTF-8"));
        assert_eq!(code(&output), code(&other), "{args:?}: {shown}");
        if args.contains(&"json") || args.contains(&"sarif") {
            let value = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
            assert_eq!(value(&output.stdout), value(&other.stdout), "{args:?}");
        }
    }
    let said = lab.tollgate(&["scan", "tree", "--kind", "run"]);
    let shown = |mut command: Command, locale: &str| {
        String::from_utf8(run(command.env("LC_ALL", locale)).stdout).unwrap()
    };
    assert!(shown(said, "C").contains("kernel/gr\\u{f6}\\u{df}e.c"));
}
