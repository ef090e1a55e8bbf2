//! What can be refused is refused before work: no cache is filled, no tree is read,
//! nothing is compiled or booted.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use support::{Lab, code, run, snapshot};

/// Arguments, and what is said of them.
type Refusal = (&'static [&'static str], &'static [&'static str]);

fn lab() -> Lab {
    let lab = Lab::new();
    fs::write(lab.path("empty.patch"), "").unwrap();
    fs::write(lab.path("words.patch"), "hello\n").unwrap();
    fs::write(lab.path("times.json"), "{}").unwrap();
    fs::write(lab.path("gate.patch"), GATE).unwrap();
    lab
}

const GATE: &str = "--- a/kernel/gate.c
+++ b/kernel/gate.c
@@ -1,2 +1,3 @@
 // SPDX-License-Identifier: MIT OR Apache-2.0
+/* a comment */
 #include <linux/uaccess.h>
";

/// Ends with 2 and says all of `wanted`; nothing but the lock is in the cache.
fn refused(lab: &Lab, command: &mut Command, wanted: &[&str]) {
    let shown = format!("{command:?}");
    let output = run(command);
    let said = lab.said(&output);
    assert_eq!(code(&output), 2, "{shown}: {said}");
    for words in wanted {
        assert!(
            said.contains(words),
            "{shown}: {words:?} is not in:\n{said}"
        );
    }
    for work in [
        "read the tree",
        "build kernel",
        "prepare the guest",
        "compile the",
    ] {
        assert!(!said.contains(work), "{shown}: {said}");
    }
    let left = if lab.cache().exists() {
        snapshot(&lab.cache()).into_keys().collect()
    } else {
        Vec::new()
    };
    let work: Vec<_> = left.iter().filter(|path| !path.ends_with("lock")).collect();
    assert!(work.is_empty(), "{shown}: {work:?}");
}

const OF_PROVE: &[Refusal] = &[
    (
        &["--patch", "nofile.patch"],
        &["nofile.patch", "No such file"],
    ),
    (
        &["--patch", "gate.patch", "--patch", "nofile.patch"],
        &["nofile.patch"],
    ),
    (&["--patch", "empty.patch"], &["empty.patch holds no patch"]),
    (&["--patch", "words.patch"], &["words.patch holds no patch"]),
    (&["--patch", "/"], &["could not read the patch /"]),
    (&["--param", "foo=1"], &["has a parameter foo"]),
    (
        &["--param", "events=999999999"],
        &[
            "epoll_wait does not take events=999999999",
            "events=1 to 4096",
        ],
    ),
    (&["--param", "events=0"], &["does not take events=0"]),
    (&["--param", "events=-1"], &["does not take events=-1"]),
    (
        &["--param", "events=1,4097"],
        &["does not take events=4097"],
    ),
    (
        &["--param", "fds=1"],
        &["no benchmark of this run has a parameter fds; they are: epoll_wait (events)"],
    ),
    (&["--param", "events="], &["is not KEY=N"]),
    (
        &["--param", "events=99999999999999999999"],
        &["is not KEY=N"],
    ),
    (&["--bench", "nosuch"], &["no benchmark is called nosuch"]),
    (
        &["--bench", "poll", "--param", "fds=1001"],
        &["poll does not take fds=1001"],
    ),
    (&["--arch", "vax"], &["invalid value 'vax'"]),
    (
        &["--config", "huge"],
        &["no configuration fragment is called x86_64-huge"],
    ),
    (&["--variant", "widow"], &["epoll has no variant widow"]),
    (
        &["--variant", "window,widow"],
        &["epoll has no variant widow"],
    ),
    (
        &["--series", "nofile.mbox"],
        &["there is no file nofile.mbox"],
    ),
    (&["--series"], &["has no series of its own"]),
    (
        &["--series", "gate.patch", "--profile-out", "x.perf"],
        &["cannot be used with"],
    ),
    (
        &["--series", "gate.patch", "--patch", "gate.patch"],
        &["cannot be used with"],
    ),
    (&["--points", "1"], &["--series"]),
    (&["--json", "nowhere/x"], &["no such folder"]),
    (
        &["--json", "x", "--html", "x"],
        &["--json and --html both name x"],
    ),
    (
        &["--json", "x", "--html", "./x"],
        &["--json and --html both name ./x"],
    ),
    (
        &["--json", "-", "--html", "-"],
        &["standard output has room for one"],
    ),
    (
        &["--patch", "gate.patch", "--json", "gate.patch"],
        &["--patch and --json both name gate.patch"],
    ),
    (&["--profile-out", "x.svg"], &["its ending is none of"]),
    (&["--profile-format", "folded"], &["--profile-out"]),
    (&["--timeout", "0"], &["no number of seconds"]),
    (&["--jobs", "0"], &["0 is not in 1..=65535"]),
    (&["--cc", "no-such-cc"], &["could not start no-such-cc"]),
    (&["--", "nofile"], &["could not read the program nofile"]),
    (&["--", "words.patch"], &["is no ELF program"]),
];

const OF_PROVE_WITHOUT_CASE: &[Refusal] = &[
    (&[], &["nothing to compare"]),
    (
        &["--patch", "gate.patch", "--variant", "window"],
        &["a patch alone has no variants"],
    ),
    (
        &["--patch", "gate.patch", "--param", "nosuch=1"],
        &["no benchmark has a parameter nosuch"],
    ),
    (
        &["--patch", "gate.patch", "--param", "fds=0"],
        &["poll does not take fds=0"],
    ),
    (
        &["--patch", "gate.patch"],
        &["no benchmark is known to run code of kernel/gate.c"],
    ),
];

#[test]
fn prove_refuses_before_work() {
    let lab = lab();
    for (args, wanted) in OF_PROVE {
        refused(&lab, &mut lab.prove(args), wanted);
    }
    for (args, wanted) in OF_PROVE_WITHOUT_CASE {
        let mut command = lab.tollgate(&["prove"]);
        refused(&lab, lab.on_fakes(&mut command).args(*args), wanted);
    }
    let mut arm = lab.tollgate(&["prove", "fpu-defer", "--arch", "arm64"]);
    refused(&lab, lab.on_fakes(&mut arm), &["cannot be proved on arm64"]);
    let mut qemu = lab.tollgate(&["prove", "epoll", "--tree", "tree", "--cache", "cache"]);
    refused(
        &lab,
        qemu.args(["--qemu", "no-such-qemu"]),
        &["could not start no-such-qemu"],
    );
    let mut tree = lab.tollgate(&["prove", "epoll", "--tree", "nowhere", "--cache", "cache"]);
    refused(&lab, &mut tree, &["no tree at nowhere"]);
}

const OF_RUN: &[Refusal] = &[
    (&[], &["nothing to time"]),
    (&["nosuch"], &["no benchmark is called nosuch"]),
    (
        &["getppid", "--param", "events=1"],
        &["has a parameter events"],
    ),
    (
        &["epoll_wait", "--param", "events=4097"],
        &["does not take events=4097"],
    ),
    (
        &["pipe_bulk", "--param", "look=12"],
        &["look=8 to 65536 in steps of 8"],
    ),
    (
        &["getppid", "--ops", "0"],
        &["0 is no number of operations: a guest takes 1 to 1000000000"],
    ),
    (&["getppid", "--reps", "9"], &["9 is not in 10..=10000"]),
    (&["getppid", "--abi", "vax"], &["no ABI vax"]),
    (
        &["getppid", "--cpu", "99"],
        &["--cpu 99: this process may run on CPU"],
    ),
    (
        &["getppid", "--cpu", "x"],
        &["neither the number of a CPU nor any"],
    ),
    (
        &["getppid", "--cc", "no-such-cc"],
        &["could not start no-such-cc"],
    ),
    (
        &["getppid", "--against", "nofile"],
        &["could not read nofile"],
    ),
    (
        &["getppid", "--against", "times.json"],
        &["--against times.json cannot be used"],
    ),
    (&["getppid", "--json", "nowhere/x"], &["no such folder"]),
    (
        &["getppid", "--against", "times.json", "--json", "times.json"],
        &["--against and --json both name"],
    ),
    (
        &["--ops", "5", "--", "./x"],
        &["--ops is for benchmarks, and none is named"],
    ),
    (&["--", "nofile"], &["could not read the program nofile"]),
];

#[test]
fn run_refuses_before_work() {
    let lab = lab();
    for (args, wanted) in OF_RUN {
        let mut command = lab.tollgate(&["run", "--cache", "cache"]);
        refused(&lab, command.args(*args), wanted);
    }
    let mut layout = lab.tollgate(&["run", "--cache", "cache", "sync_ptr", "--abi", "ia32"]);
    let wanted = ["sync_ptr does not take layout=134: it takes layout=132 to 136 in steps of 4"];
    refused(&lab, layout.args(["--param", "layout=132,134"]), &wanted);
}

/// What is not there is said before a lock is waited for, and what a device has no
/// room for is no disk's fault.
#[test]
fn what_is_wrong_is_said_before_who_else_is_at_work() {
    let lab = lab();
    let cache = tollgate_lab::cache::Cache::open(&lab.cache()).unwrap();
    let mut waits = lab.prove(&[]).stderr(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(waits.stderr.take().unwrap()).lines().next();
    let said = said.unwrap().unwrap();
    assert!(said.starts_with("waiting for process "), "{said}");
    waits.kill().unwrap();
    waits.wait().unwrap();
    let missing = run(&mut lab.prove(&["--patch", "nofile.patch"]));
    assert_eq!(code(&missing), 2);
    assert_eq!(
        lab.said(&missing),
        "error: could not read the patch nofile.patch: No such file or directory (os error 2)\n"
    );
    drop(cache);
    let full = run(&mut lab.prove(&["--json", "/dev/full"]));
    let said = lab.said(&full);
    assert_eq!(code(&full), 2, "{said}");
    assert!(
        said.contains("it is a device, and no file: give a file"),
        "{said}"
    );
}

/// A path upwards is no range, although it has two dots.
#[test]
fn a_path_upwards_that_is_not_there_is_no_range() {
    let lab = lab();
    let said = |command: &mut Command| {
        let output = run(command);
        assert_eq!(code(&output), 2);
        lab.said(&output)
    };
    let missing = said(&mut lab.prove(&["--patch", "../no.patch"]));
    assert_eq!(
        missing,
        "error: could not read the patch ../no.patch: No such file or directory (os error 2)\n"
    );
    let checked = said(&mut lab.tollgate(&["check", "tree", "--patch", "../no.patch"]));
    assert!(
        checked.starts_with("error: there is no file ../no.patch, "),
        "{checked}"
    );
    let series = said(&mut lab.tollgate(&["prove", "epoll", "--series", "sub/../no.mbox"]));
    assert!(!series.contains("which tree"), "{series}");
    let since = ["scan", "tree", "--changed-since", "../main"];
    let since = said(&mut lab.tollgate(&since));
    assert!(!since.contains("the range"), "{since}");
}
