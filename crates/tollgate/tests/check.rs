//! `tollgate check` as a user runs it: text, JSON, SARIF, filters, comments,
//! exit codes, and changes.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the lab's own tests use the rest of it")]
mod support;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;
use support::{Lab, code, run};

const WRONG: &str = "\
int put_pair(struct pair __user *p, u32 a, u32 b)
{
\tif (!user_write_access_begin(p, sizeof(*p)))
\t\treturn -EFAULT;
\tunsafe_put_user(a, &p->a, Efault);
\tif (b > 7)
\t\treturn -EINVAL;
\tunsafe_put_user(b, &p->b, Efault);
\tuser_access_end();
\treturn 0;
Efault:
\tuser_write_access_end();
\treturn -EFAULT;
}
";

fn lab() -> Lab {
    let lab = Lab::new();
    fs::create_dir_all(lab.tree().join("sound")).unwrap();
    lab.edit("sound/pair.c", WRONG);
    lab
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema");
    serde_json::from_str(&fs::read_to_string(path.join(name)).unwrap()).unwrap()
}

#[test]
fn a_finding_is_shown_with_its_lines() {
    let lab = lab();
    let output = run(lab
        .tollgate(&["check", "tree"])
        .args(["sound/pair.c", "--color", "never"]));
    assert_eq!(code(&output), 1, "{}", lab.said(&output));
    insta::assert_snapshot!("check-text", text(&output));
}

#[test]
fn json_follows_its_schema() {
    let lab = lab();
    lab.edit("sound/none.c", "int put_user;\0");
    let output = run(lab
        .tollgate(&[
            "check",
            "tree",
            "sound/pair.c",
            "sound/none.c",
            "--format",
            "json",
        ])
        .args(["-v"]));
    // There is a finding, but of a file that was named nothing is known.
    assert_eq!(code(&output), 2);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let schema = schema("check.schema.json");
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&json)
        .map(|e| e.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    insta::assert_json_snapshot!("check-json", json);
}

#[test]
fn sarif_names_every_rule_and_the_place() {
    let lab = lab();
    let output = run(&mut lab.tollgate(&["check", "tree", "sound/pair.c", "--format", "sarif"]));
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.len() > 20, "{}", rules.len());
    insta::assert_json_snapshot!("check-sarif", run["results"]);
}

#[test]
fn a_whole_tree_is_checked_and_the_user_s_files_stay_as_they_are() {
    let lab = lab();
    let before = support::snapshot(&lab.tree());
    let output = run(&mut lab.tollgate(&["check", "tree"]));
    assert_eq!(code(&output), 1);
    assert!(
        text(&output).contains("sound/pair.c:7:"),
        "{}",
        text(&output)
    );
    assert_eq!(support::snapshot(&lab.tree()), before);
}

/// The second check of a tree says what the first did, and how little it looked at.
#[test]
fn a_known_tree_is_not_looked_at_again() {
    let lab = lab();
    let check = |more: &[&str]| run(lab.tollgate(&["check", "tree"]).args(more));
    let first = check(&[]);
    assert_eq!(lab.said(&first), "");
    let again = check(&[]);
    assert_eq!((code(&again), text(&again)), (1, text(&first)));
    assert!(
        lab.said(&again).starts_with("looked at 0 of "),
        "{}",
        lab.said(&again)
    );
    let fresh = check(&["--fresh"]);
    assert_eq!(
        (text(&fresh), lab.said(&fresh)),
        (text(&first), String::new())
    );
    // Filters are of what is shown.
    let only = check(&["--rule", "mismatched-end"]);
    assert!(lab.said(&only).starts_with("looked at 0 of "));
    assert_ne!(text(&only), text(&first));
    lab.edit("sound/pair.c", "int nothing;\n");
    let mended = check(&[]);
    assert!(
        lab.said(&mended).starts_with("looked at 1 of "),
        "{}",
        lab.said(&mended)
    );
    assert!(!text(&mended).contains("sound/pair.c"), "{}", text(&mended));
}

#[test]
fn where_nothing_can_be_remembered_a_tree_is_checked_all_the_same() {
    let lab = lab();
    let plain = run(&mut lab.tollgate(&["check", "tree", "--cache", "known"]));
    std::fs::write(lab.path("file"), "").unwrap();
    for cache in ["file/below", "tree/cache"] {
        let output = run(&mut lab.tollgate(&["check", "tree", "--cache", cache]));
        assert_eq!((code(&output), text(&output)), (1, text(&plain)));
        assert!(
            lab.said(&output).contains("remembered: "),
            "{}",
            lab.said(&output)
        );
    }
    assert!(!lab.path("tree/cache").exists());
}

#[test]
fn filters_leave_out_and_count() {
    let lab = lab();
    let only = run(&mut lab.tollgate(&["check", "tree", "--rule", "mismatched-end"]));
    assert!(
        text(&only).contains("1 finding: 0 errors, 1 warning"),
        "{}",
        text(&only)
    );
    let errors = run(&mut lab.tollgate(&["check", "tree", "--min-severity", "error"]));
    assert!(
        text(&errors).contains("1 finding: 1 error, 0 warnings"),
        "{}",
        text(&errors)
    );
    let none = run(&mut lab.tollgate(&["check", "tree", "--rule", "no-such-rule"]));
    assert_eq!(code(&none), 2);
    assert!(
        lab.said(&none).contains("there is no rule no-such-rule"),
        "{}",
        lab.said(&none)
    );
}

#[test]
fn a_comment_with_a_reason_allows_and_is_counted() {
    let lab = lab();
    let allowed = WRONG
        .replace(
            "\t\treturn -EINVAL;",
            "\t\t/* tollgate: allow window-left-open the caller closes */\n\t\treturn -EINVAL;",
        )
        .replace(
            "int put_pair",
            "// tollgate: allow mismatched-end x86 only\nint put_pair",
        );
    lab.edit("sound/pair.c", &allowed);
    let output = run(&mut lab.tollgate(&["check", "tree"]));
    assert_eq!(code(&output), 0, "{}", text(&output));
    assert!(
        text(&output).contains("2 allowed by comments"),
        "{}",
        text(&output)
    );
}

#[test]
fn source_and_lists_come_from_standard_input() {
    let lab = lab();
    for (args, input, place) in [
        (vec!["check", "-"], WRONG, "<stdin>:7:"),
        (
            vec!["check", "tree", "-"],
            "sound/pair.c\nREADME\n",
            "sound/pair.c:7:",
        ),
    ] {
        let mut command = lab.tollgate(&args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 1);
        assert!(text(&output).contains(place), "{}", text(&output));
    }
}

#[test]
fn what_could_not_be_read_is_no_clean_bill() {
    let lab = lab();
    for args in [vec!["check", "tree", "none.c"], vec!["check", "none.c"]] {
        let output = run(&mut lab.tollgate(&args));
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(
            lab.said(&output).contains("none.c"),
            "{}",
            lab.said(&output)
        );
    }
}

const MBOX: &str = "\
From 0000000000000000000000000000000000000001 Mon Sep 17 00:00:00 2001
From: A <a@example.com>
Subject: [PATCH 1/2] sound: First

---
diff --git a/sound/pair.c b/sound/pair.c
--- a/sound/pair.c
+++ b/sound/pair.c
@@ -1,3 +1,6 @@
+int one(u32 __user *p);
+int two(u32 __user *p);
+int three(u32 __user *p);
 int put_pair(struct pair __user *p, u32 a, u32 b)
 {
 \tif (!user_write_access_begin(p, sizeof(*p)))
-- 
2.39.0

From 0000000000000000000000000000000000000002 Mon Sep 17 00:00:00 2001
From: A <a@example.com>
Subject: [PATCH 2/2] sound: Second

---
diff --git a/sound/pair.c b/sound/pair.c
--- a/sound/pair.c
+++ b/sound/pair.c
@@ -9,7 +9,7 @@ int three(u32 __user *p);
 \tif (b > 7)
 \t\treturn -EINVAL;
-\tunsafe_put_user(b, &p->b, Efault);
+\tunsafe_put_user(b, &p->b), Efault);
 \tuser_access_end();
 \treturn 0;
 Efault:
 \tuser_write_access_end();
-- 
2.39.0
";

#[test]
fn headers_that_teach_nothing_since_they_cannot_be_read_are_named() {
    let lab = lab();
    let big = fs::File::create(lab.tree().join("sound/big.h")).unwrap();
    big.set_len(1 << 40).unwrap();
    let asked = || run(&mut lab.tollgate(&["check", "tree", "sound/pair.c", "--format", "json"]));
    let document: Value = serde_json::from_str(&text(&asked())).unwrap();
    let unread = &document["not_checked"][0];
    assert!(unread["file"].as_str().unwrap().ends_with("sound/big.h"));
    let reason = unread["reason"].as_str().unwrap();
    assert!(
        reason.ends_with("so what the tree calls its windows is not known"),
        "{reason}"
    );

    fs::remove_dir_all(lab.tree().join("arch")).unwrap();
    std::os::unix::fs::symlink("arch", lab.tree().join("arch")).unwrap();
    let output = asked();
    assert_eq!(code(&output), 2, "{}", lab.said(&output));
    assert!(
        lab.said(&output)
            .contains("what the tree calls its windows is not known")
    );
}

#[test]
fn of_an_mbox_only_what_is_new_is_reported() {
    let lab = lab();
    let before = support::snapshot(&lab.tree());
    fs::write(lab.path("two.mbox"), MBOX).unwrap();
    let output = run(&mut lab.tollgate(&["check", "tree", "--patch", "two.mbox"]));
    assert_eq!(code(&output), 1, "{}", lab.said(&output));
    let text = text(&output);
    assert!(text.contains("1 finding: 1 error"), "{text}");
    assert!(
        text.contains("wrong-argument-count") && text.contains("sound/pair.c:11:2"),
        "{text}"
    );
    assert_eq!(support::snapshot(&lab.tree()), before);
}

/// A reviewer's alternative to a conversion, which was posted so: the function is built
/// for x32 programs alone, and its copy lacks the length.
#[test]
fn a_copy_without_a_length_is_named_where_only_x32_builds_it() {
    let lab = lab();
    let path = "sound/x32.c";
    let around = |reads: &str| {
        format!(
            "#ifdef CONFIG_X86_X32_ABI\nint sync_x32(struct sync __user *src)\n{{\n\tstruct control \
             control;\n\tu32 flags;\n\n\tif (get_user(flags, &src->flags) ||\n{reads}\t\treturn \
             -EFAULT;\n\treturn use(flags, &control);\n}}\n#endif\n"
        )
    };
    let before = "\t    get_user(control.at, &src->c.control.at) ||\n\
                  \t    get_user(control.min, &src->c.control.min))\n";
    let after = "\t    copy_from_user(&control, &src->c.control))\n";
    lab.edit(path, &around(before));
    let lines = |sign: char, text: &str| -> String {
        text.lines().map(|line| format!("{sign}{line}\n")).collect()
    };
    let patch = format!(
        "--- a/{path}\n+++ b/{path}\n@@ -7,4 +7,3 @@\n \tif (get_user(flags, &src->flags) ||\n\
         {}{} \t\treturn -EFAULT;\n",
        lines('-', before),
        lines('+', after)
    );
    fs::write(lab.path("reviewer.patch"), patch).unwrap();
    let output = run(&mut lab.tollgate(&["check", "tree", "--patch", "reviewer.patch"]));
    assert_eq!(code(&output), 1, "{}", lab.said(&output));
    let text = text(&output);
    assert!(
        text.contains("sync_x32: copy_from_user() takes 3 arguments, not 2")
            && text.contains("sound/x32.c:8:"),
        "{text}"
    );
}

#[test]
fn of_a_range_of_history_only_what_is_new_is_reported() {
    let lab = lab();
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.current_dir(lab.tree()).args(args);
        for (name, value) in [("NAME", "A"), ("EMAIL", "a@example.com")] {
            command.env(format!("GIT_AUTHOR_{name}"), value);
            command.env(format!("GIT_COMMITTER_{name}"), value);
        }
        let output = run(&mut command);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    lab.edit(
        "include/linux/delay.h",
        "void msleep(unsigned int msecs);\n",
    );
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "one"]);
    lab.edit(
        "sound/pair.c",
        &WRONG.replace("\tunsafe_put_user(b,", "\tmsleep(b);\n\tunsafe_put_user(b,"),
    );
    git(&["commit", "-q", "-a", "-m", "two"]);
    let output = run(&mut lab.tollgate(&["check", "tree", "--patch", "HEAD~1..HEAD"]));
    let text = text(&output);
    assert_eq!(code(&output), 1, "{}", lab.said(&output));
    assert!(
        text.contains("1 finding: 1 error") && text.contains("call-in-window"),
        "{text}"
    );
    let none = run(&mut lab.tollgate(&["check", "tree", "--patch", "HEAD~1..nowhere"]));
    assert_eq!(code(&none), 2);
}

#[test]
fn an_inline_function_of_the_tree_s_headers_is_no_call() {
    let lab = lab();
    let inline = "static __always_inline bool is_wide(struct pair *k)\n{\n\treturn k->a & 1;\n}\n";
    lab.edit("include/linux/pair.h", inline);
    let calls = WRONG.replace(
        "\tif (b > 7)\n\t\treturn -EINVAL;\n",
        "\tb += is_wide(k);\n",
    );
    lab.edit(
        "sound/pair.c",
        &calls.replace("user_access_end", "user_write_access_end"),
    );
    let check = |more: &[&str]| {
        let mut words = vec!["check", "tree"];
        words.extend(more);
        run(&mut lab.tollgate(&words))
    };
    for more in [&[][..], &["sound/pair.c"]] {
        let output = check(more);
        assert_eq!(code(&output), 0, "{more:?}: {}", text(&output));
    }
    lab.edit(
        "include/linux/pair.h",
        &inline.replace("k->a & 1", "work(k)"),
    );
    let output = check(&["sound/pair.c"]);
    assert_eq!(code(&output), 1);
    assert!(
        text(&output).contains("is_wide() is called in the window"),
        "{}",
        text(&output)
    );
}
