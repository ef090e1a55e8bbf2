//! `tollgate prove` of a case whose change the tree has: what was before is the base. On
//! a fake tree and a fake QEMU.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::fs;

use support::{Lab, code, run};

const BEFORE: &str = "\tif (__put_user(revents, &uevent->events) ||
\t    __put_user(data, &uevent->data))
\t\treturn NULL;

\treturn uevent+1;
";
const MERGED: &str = "\tscoped_user_write_access_size(uevent, sizeof(*uevent), efault) {
\t\tunsafe_put_user(revents, &uevent->events, efault);
\t\tunsafe_put_user(data, &uevent->data, efault);
\t}
\treturn uevent+1;

efault:
\treturn NULL;
";
/// The scope as a window that the fake QEMU sees.
const SCOPE: &str = "#define scoped_user_write_access_size(p, n, label) \\
\tfor (int open = gate(\"fake window\") | 1; open; open = 0, gate(\"fake end\"))
";

/// A tree of that version which has the change of the case epoll.
fn landed(version: &str) -> Lab {
    let lab = Lab::new();
    let edited = |path: &str, from: &str, to: &str| {
        let text = fs::read_to_string(lab.tree().join(path)).unwrap();
        assert!(text.contains(from), "{path}");
        lab.edit(path, &text.replacen(from, to, 1));
    };
    edited("include/linux/eventpoll.h", BEFORE, MERGED);
    edited(
        "include/linux/uaccess.h",
        "#define __put_user",
        &format!("{SCOPE}#define __put_user"),
    );
    let (major, minor) = version.split_once('.').unwrap();
    edited("Makefile", "VERSION = 6", &format!("VERSION = {major}"));
    edited(
        "Makefile",
        "PATCHLEVEL = 12",
        &format!("PATCHLEVEL = {minor}"),
    );
    lab
}

fn shown(output: &std::process::Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn what_was_before_is_the_base_and_the_tree_stands_beside_our_fix() {
    let lab = landed("7.0");
    let json = lab.path("out.json");
    let output = run(lab
        .prove(&["--variant", "merged,window"])
        .arg("--json")
        .arg(&json));
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    let shown = shown(&output);
    for words in [
        "B = merged",
        "C = window",
        "scoped user access\" (1954c4f01220, in Linux since 7.0) taken back; merged is the tree as it is",
    ] {
        assert!(shown.contains(words), "{words:?} is not in:\n{shown}");
    }
    let text = fs::read_to_string(json).unwrap();
    assert!(text.contains("scoped_user_write_access_size"), "{text}");
}

#[test]
fn a_patch_of_the_users_is_held_against_the_tree_as_it_is() {
    let lab = landed("7.0");
    let patch = lab.path("mine.patch");
    let text = "--- a/include/linux/eventpoll.h\n+++ b/include/linux/eventpoll.h\n\
                @@ -20,4 +20,4 @@\n \t\tunsafe_put_user(data, &uevent->data, efault);\n \t}\n\
                -\treturn uevent+1;\n+\treturn uevent + 1;\n \n";
    fs::write(&patch, text).unwrap();
    let output = run(lab.prove(&[]).arg("--patch").arg(&patch));
    let said = lab.said(&output);
    assert_eq!(code(&output), 0, "{said}");
    assert!(!said.contains("look for the change"), "{said}");
    assert!(!shown(&output).contains("taken back"), "{}", shown(&output));
}

#[test]
fn a_tree_without_the_change_has_no_such_variant() {
    let lab = Lab::new();
    let output = run(&mut lab.prove(&["--variant", "merged"]));
    let said = lab.said(&output);
    assert_eq!(code(&output), 2, "{said}");
    assert!(said.contains("does not have the change"), "{said}");
}

#[test]
fn a_change_in_another_form_is_named_where_nothing_is_to_be_fixed() {
    let lab = landed("7.0");
    let path = "include/linux/eventpoll.h";
    let text = fs::read_to_string(lab.tree().join(path)).unwrap();
    lab.edit(
        path,
        &text.replace("sizeof(*uevent)", "sizeof(struct epoll_event)"),
    );
    let output = run(&mut lab.prove(&["--variant", "window"]));
    let said = lab.said(&output);
    assert_eq!(code(&output), 2, "{said}");
    for words in ["does not take it back from this tree", "epoll_put_uevent"] {
        assert!(said.contains(words), "{words:?} is not in:\n{said}");
    }
}
