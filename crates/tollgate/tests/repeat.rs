//! What a verdict says of how to repeat it: a mail's text alone, handed to a shell in
//! an empty folder, comes to the same verdict. On the fake tree and the fake QEMU.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::fs;
use std::process::Command;

use support::{Lab, code, run};

/// Opens the window of the fake tree's epoll_put_uevent() once.
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

/// The mail, which the command ends with `wanted` to write.
fn mail(lab: &Lab, command: &mut Command, wanted: i32) -> String {
    let output = run(command.args(["--format", "mail"]));
    assert_eq!(code(&output), wanted, "{}", lab.said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Everything behind the heading.
fn script(mail: &str) -> &str {
    let (_, script) = mail.split_once("\nTo repeat\n").unwrap();
    script
}

/// What a shell makes of a mail, in an empty folder of a machine that has a tollgate, a
/// tree and nothing else of the sender's.
fn repeated(lab: &Lab, mail: &str, wanted: i32) -> String {
    let folder = lab.path("elsewhere");
    fs::create_dir(&folder).unwrap();
    let mut shell = lab.shell(script(mail), &[]);
    shell
        .env("LINUX", lab.tree())
        .env("COLUMNS", "72")
        .env("XDG_CACHE_HOME", lab.path("other-cache"))
        .current_dir(&folder);
    let output = run(&mut shell);
    assert_eq!(code(&output), wanted, "{}\n{mail}", lab.said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// The sentence of the verdict, whatever its lines are.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn assert_same(mail: &str, again: &str, statement: &str) {
    for text in [mail, again] {
        assert!(words(text).contains(statement), "{statement}\n\n{text}");
    }
    let counts = |text: &str| {
        let (_, counts) = text.split_once("\nPassages of the gate\n").unwrap();
        counts.split("\n\n").next().unwrap().to_owned()
    };
    assert_eq!(words(&counts(mail)), words(&counts(again)));
}

#[test]
fn a_patch_is_repeated_from_the_mail_alone() {
    let lab = Lab::new();
    fs::write(lab.path("it's mine.patch"), WINDOW).unwrap();
    let mut command = lab.tollgate(&["prove", "--patch", "it's mine.patch"]);
    lab.on_fakes(&mut command)
        .args(["--bench", "epoll_wait", "--param", "events=1,64"]);
    let mail = mail(&lab, &mut command, 0);
    assert!(mail.contains("cat >'it'\\''s mine.patch' <<'EOF'\n--- a/include"));
    fs::remove_file(lab.path("it's mine.patch")).unwrap();
    let again = repeated(&lab, &mail, 0);
    assert_same(
        &mail,
        &again,
        "B is cheaper: epoll_wait events=1 takes 15.0 fewer",
    );
}

#[test]
fn a_variant_of_a_case_is_repeated_from_the_mail_alone() {
    let lab = Lab::new();
    let mail = mail(&lab, &mut lab.prove(&["--variant", "window"]), 0);
    let again = repeated(&lab, &mail, 0);
    assert_same(
        &mail,
        &again,
        "B is cheaper: epoll_wait events=1 takes 15.0 fewer",
    );
}

#[test]
fn another_tree_comes_to_another_verdict() {
    let lab = Lab::new();
    let mail = mail(&lab, &mut lab.prove(&["--variant", "window"]), 0);
    // The fix is in it already.
    fs::write(lab.path("window.patch"), WINDOW).unwrap();
    let applied = Command::new("patch")
        .args(["-s", "-p1", "-i", "../window.patch"])
        .current_dir(lab.tree())
        .status();
    assert!(applied.unwrap().success());
    assert_eq!(repeated(&lab, &mail, 2), "");
}

#[test]
fn a_series_is_repeated_from_the_mail_alone() {
    let lab = Lab::new();
    let mbox = format!(
        "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
         From: A <a@example.org>\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n\
         Subject: [PATCH] epoll: Open the window once\n\nWhy.\n---\n{WINDOW}"
    );
    fs::write(lab.path("one.mbox"), mbox).unwrap();
    let mail = mail(&lab, &mut lab.prove(&["--series", "one.mbox"]), 0);
    fs::remove_file(lab.path("one.mbox")).unwrap();
    let again = repeated(&lab, &mail, 0);
    let told = |text: &str| {
        let (_, told) = text.split_once("What each patch changed\n").unwrap();
        words(told.split("\n\n").next().unwrap())
    };
    assert_eq!(told(&mail), told(&again));
    assert!(told(&mail).contains("epoll_wait"), "{mail}");
}

#[test]
fn every_form_has_the_commands() {
    let lab = Lab::new();
    fs::write(lab.path("mine.patch"), WINDOW).unwrap();
    let shown = |form: &str| {
        let mut command = lab.prove(&["--patch", "mine.patch", "--format", form]);
        String::from_utf8(run(&mut command).stdout).unwrap()
    };
    let command = "tollgate prove epoll --tree \"$LINUX\" --qemu ";
    // A terminal's reader has the file.
    let text = shown("text");
    assert!(text.contains(command), "{text}");
    assert!(text.contains("# mine.patch has "), "{text}");
    assert!(!text.contains("<<'EOF'"), "{text}");
    for form in ["mail", "markdown"] {
        let text = shown(form);
        assert!(text.contains(command), "{text}");
        assert!(text.contains("cat >mine.patch <<'EOF'\n--- a/"), "{text}");
    }
    let page = shown("html");
    assert!(
        page.contains("tollgate prove epoll --tree &quot;$LINUX&quot;"),
        "{page}"
    );
    let json: serde_json::Value = serde_json::from_str(&shown("json")).unwrap();
    let lines = json["commands"].as_array().unwrap();
    assert!(
        lines
            .iter()
            .any(|line| line == "--- a/include/linux/eventpoll.h")
    );
}
