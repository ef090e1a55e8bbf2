//! What git says is handed on.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::process::Command;

use support::{Lab, code, run};

/// The fake tree with a history, which git takes for another user's.
fn of_another_user() -> Lab {
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
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "eventpoll: First"]);
    git(&["commit", "-q", "--allow-empty", "-m", "eventpoll: Second"]);
    lab
}

/// As git's own tests make it so (t/lib-httpd.sh and others).
const ANOTHER: (&str, &str) = ("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");

#[test]
fn a_tree_of_another_owner_has_git_s_reason_in_every_command() {
    let lab = of_another_user();
    let commands: [&[&str]; 4] = [
        &["scan", "tree", "--changed-since", "HEAD~1"],
        &["check", "tree", "--patch", "HEAD~1..HEAD"],
        &[
            "prove",
            "epoll",
            "--tree",
            "tree",
            "--cache",
            "cache",
            "--series",
            "HEAD~1..HEAD",
        ],
        &["fix", "tree", "include/linux/eventpoll.h:epoll_put_uevent"],
    ];
    let qemu = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-qemu");
    for args in commands {
        let mut command = lab.tollgate(args);
        command.env(ANOTHER.0, ANOTHER.1).env("HOME", lab.path(""));
        if args.first() == Some(&"prove") {
            command.args(["--qemu", qemu]);
        }
        let output = run(&mut command);
        let said = lab.said(&output);
        assert!(said.contains("dubious ownership"), "{args:?}: {said}");
        // fix needs no history, and says what it does without.
        let wanted = if args.first() == Some(&"fix") { 0 } else { 2 };
        assert_eq!(code(&output), wanted, "{args:?}: {said}");
    }
}
