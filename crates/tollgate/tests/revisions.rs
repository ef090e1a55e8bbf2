//! What is read of revisions and patches does not depend on what is checked out,
//! nor on how the user has set up git.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the lab's own tests use the rest of it")]
mod support;

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use support::{Lab, code, run};

/// A helper of the tree's own, and a function that opens its window by it.
const HELPER: &str = "\n#define my_write_access_begin(p, n) user_write_access_begin(p, n)\n";
const PAIR: &str = "\
#include <linux/uaccess.h>
int put_pair(struct pair __user *p, u32 a, u32 b)
{
\tif (!my_write_access_begin(p, sizeof(*p)))
\t\treturn -EFAULT;
\tunsafe_put_user(a, &p->a, Efault);
\tunsafe_put_user(b, &p->b, Efault);
\tuser_write_access_end();
\treturn 0;
Efault:
\tuser_write_access_end();
\treturn -EFAULT;
}
";

fn git_in(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
        .args(["-c", "protocol.file.allow=always"])
        .args(args);
    let output = run(&mut command);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn git(lab: &Lab, args: &[&str]) -> String {
    git_in(&lab.tree(), args)
}

fn commit(lab: &Lab, subject: &str) {
    git(lab, &["add", "-A"]);
    git(lab, &["commit", "-q", "--allow-empty", "-m", subject]);
}

/// `main~1` is the fake tree, `main` adds a helper and its use; checked out is a
/// commit that has neither, nor anything else of a kernel's.
fn history() -> Lab {
    let lab = Lab::new();
    git(&lab, &["init", "-q", "-b", "main"]);
    commit(&lab, "first");
    let header = fs::read_to_string(lab.tree().join("include/linux/uaccess.h")).unwrap();
    lab.edit("include/linux/uaccess.h", &(header + HELPER));
    lab.edit("kernel/pair.c", PAIR);
    commit(&lab, "second");
    lab
}

/// Nothing but one file is left in the work tree.
fn leave(lab: &Lab) {
    git(lab, &["checkout", "-q", "--orphan", "elsewhere"]);
    git(lab, &["rm", "-rfq", "."]);
    lab.edit("other.txt", "nothing\n");
    commit(lab, "elsewhere");
}

fn check(lab: &Lab, change: &str) -> Output {
    run(&mut lab.tollgate(&["check", "tree", "--patch", change]))
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Exit code and result, with what was said in case they are not as expected.
#[track_caller]
fn gives(lab: &Lab, output: &Output, exit: i32, words: &[&str]) {
    let all = text(output) + &lab.said(output);
    assert_eq!(code(output), exit, "{all}");
    for word in words {
        assert!(all.contains(word), "{word:?} is not in:\n{all}");
    }
}

const CLEAN: &[&str] = &[
    "0 findings",
    "1 function with user accesses",
    "0 not checked",
];

#[test]
fn a_range_is_the_same_wherever_the_tree_is() {
    let lab = history();
    leave(&lab);
    let before = support::snapshot(&lab.tree());
    git(&lab, &["tag", "-a", "-m", "x", "v1", "main"]);
    for change in [
        "main~1..main",
        "main~1...main",
        "main",
        "v1",
        "v1~1..v1",
        ":/second",
    ] {
        gives(&lab, &check(&lab, change), 0, CLEAN);
    }
    let before_again = support::snapshot(&lab.tree());
    let same = before
        .iter()
        .all(|(path, was)| before_again.get(path) == Some(was));
    assert!(same);
    // The other way round the helper goes, and its use with it.
    gives(&lab, &check(&lab, "main..main~1"), 0, &["0 findings"]);
    // One commit that uses the helper before another brings it.
    git(&lab, &["checkout", "-q", "-b", "wrong", "main~1"]);
    lab.edit("kernel/pair.c", PAIR);
    commit(&lab, "too early");
    git(&lab, &["checkout", "-q", "main"]);
    gives(
        &lab,
        &check(&lab, "wrong"),
        1,
        &[
            "error[undefined-call]: put_pair: my_write_access_begin() is called, and neither the \
             tree nor the change defines it; it is taken to open a write window",
            "kernel/pair.c:4:7",
            "1 finding: 1 error",
        ],
    );
}

#[test]
fn helpers_that_a_patch_adds_are_known() {
    let lab = history();
    let patch = git(&lab, &["format-patch", "--stdout", "-1"]);
    git(&lab, &["checkout", "-q", "main~1"]);
    fs::write(lab.path("one.patch"), patch).unwrap();
    gives(&lab, &check(&lab, "one.patch"), 0, CLEAN);
    // A helper in a header of its own, which another defines in turn.
    lab.edit(
        "include/linux/mine.h",
        "#include <linux/deeper.h>\n#define a_access_begin(p, n) b_access_begin(p, n)\n",
    );
    lab.edit(
        "include/linux/deeper.h",
        "#define b_access_begin(p, n) user_write_access_begin(p, n)\n",
    );
    let uses = PAIR
        .replace("my_write_access_begin", "a_access_begin")
        .replace("uaccess.h", "mine.h");
    fs::create_dir_all(lab.tree().join("sound/deep")).unwrap();
    lab.edit("sound/deep/pair.c", &uses);
    commit(&lab, "third");
    gives(&lab, &check(&lab, "HEAD"), 0, CLEAN);
    // The same, where the header was there before.
    lab.edit(
        "sound/deep/pair.c",
        &uses.replace("u32 a,", "u32 a, /* more */"),
    );
    commit(&lab, "fourth");
    git(&lab, &["rm", "-q", "sound/deep/pair.c"]);
    commit(&lab, "fifth");
    gives(&lab, &check(&lab, "HEAD~2..HEAD~1"), 0, CLEAN);
    gives(&lab, &check(&lab, "HEAD..HEAD~2"), 0, CLEAN);
}

#[test]
fn a_call_that_nothing_defines_is_named() {
    let lab = Lab::new();
    let put = |extra: &str| {
        let diff = format!(
            "--- a/kernel/gate.c\n+++ b/kernel/gate.c\n@@ -0,0 +1,9 @@\n+int put(u32 __user *p, u32 a)\n+{{\n\
             {extra}+\treturn __put_user(a, p);\n+}}\n"
        );
        let lines = diff
            .lines()
            .filter(|line| line.starts_with('+') && !line.starts_with("+++"));
        let lines = lines.count();
        diff.replace("+1,9", &format!("+1,{lines}"))
    };
    let with = |diff: &str| {
        // The hunk goes in front of what is there.
        let gate = fs::read_to_string(lab.tree().join("kernel/gate.c")).unwrap();
        let first = gate.lines().next().unwrap();
        let added = diff.matches("\n+").count() - 1;
        let diff = diff.replace("@@ -0,0 ", "@@ -1,1 ");
        let diff = diff.replace(&format!("+1,{added} @@"), &format!("+1,{} @@", added + 1));
        fs::write(lab.path("a.patch"), format!("{diff} {first}\n")).unwrap();
        check(&lab, "a.patch")
    };
    let said = with(&put("+\tfrobnicate(a);\n"));
    gives(
        &lab,
        &said,
        1,
        &[
            "error[undefined-call]: put: frobnicate() is called, and neither the tree nor the change defines it",
            "confidence medium",
            "1 finding",
        ],
    );
    // Defined somewhere else in the tree.
    lab.edit("scripts/README", "frobnicate");
    gives(
        &lab,
        &with(&put("+\tfrobnicate(a);\n")),
        1,
        &["frobnicate()"],
    );
    lab.edit("fs/more.c", "void frobnicate(unsigned a);\n");
    gives(&lab, &with(&put("+\tfrobnicate(a);\n")), 0, &["0 findings"]);
    // Put together by a macro, perhaps: below the confidence that is shown.
    lab.edit("fs/more.c", "#define TRACE(n) void trace_##n(void)\n");
    gives(&lab, &with(&put("+\ttrace_put(a);\n")), 0, &["0 findings"]);
    // What another tree than this one has is known to the rules, but not here.
    let window =
        "+\tif (!user_read_access_begin(p, 4))\n+\t\treturn 0;\n+\tuser_read_access_end();\n";
    gives(
        &lab,
        &with(&put(window)),
        1,
        &[
            "user_read_access_begin() is called, and neither",
            "user_read_access_end() is called",
        ],
    );
}

#[test]
fn a_renamed_file_brings_nothing_new() {
    let lab = history();
    // Both files have a mistake from the start.
    let wrong = PAIR.replace("\tuser_write_access_end();\n\treturn 0;", "\treturn 0;");
    let long = format!("{wrong}\n/* {} */\n", "some words\n".repeat(30));
    lab.edit("kernel/pair.c", &long);
    lab.edit("kernel/gone.c", &wrong);
    commit(&lab, "wrong");
    git(&lab, &["mv", "kernel/pair.c", "fs/pair.c"]);
    git(&lab, &["rm", "-q", "kernel/gone.c"]);
    lab.edit("fs/pair.c", &long.replacen("some words", "other words", 1));
    commit(&lab, "moved");
    fs::copy(lab.tree().join("fs/pair.c"), lab.tree().join("fs/copy.c")).unwrap();
    commit(&lab, "copied");
    git(&lab, &["checkout", "-q", "main~2"]);
    gives(&lab, &check(&lab, "main~2..main~1"), 0, &["0 findings"]);
    gives(
        &lab,
        &check(&lab, "main~1..main"),
        1,
        &["fs/copy.c", "1 finding"],
    );
    let mail = git(&lab, &["format-patch", "--stdout", "-M", "main~2..main~1"]);
    fs::write(lab.path("move.patch"), mail).unwrap();
    gives(&lab, &check(&lab, "move.patch"), 0, &["0 findings"]);
    // The other way round, as a plain diff with copies.
    let diff = git(
        &lab,
        &["diff", "-M", "-C", "--find-copies-harder", "main", "main~2"],
    );
    fs::write(lab.path("back.diff"), diff + "\n").unwrap();
    git(&lab, &["checkout", "-q", "main"]);
    gives(
        &lab,
        &check(&lab, "back.diff"),
        1,
        &["kernel/gone.c", "1 finding"],
    );
}

#[test]
fn a_change_without_c_files_is_clean_and_says_so() {
    let lab = history();
    lab.edit("scripts/README", "other\n");
    fs::write(lab.tree().join("blob.bin"), b"\0\x01\xff").unwrap();
    symlink("pair.c", lab.tree().join("kernel/link.c")).unwrap();
    commit(&lab, "words");
    let mail = git(&lab, &["format-patch", "--stdout", "--binary", "-1"]);
    fs::write(lab.path("a.patch"), mail).unwrap();
    let said = "nothing was checked";
    gives(
        &lab,
        &check(&lab, "HEAD"),
        0,
        &["0 findings", "0 files read"],
    );
    gives(
        &lab,
        &check(&lab, "HEAD..HEAD"),
        0,
        &["HEAD..HEAD touches no C file (it changes nothing)", said],
    );
    git(&lab, &["rm", "-q", "--cached", "kernel/link.c"]);
    fs::remove_file(lab.tree().join("kernel/link.c")).unwrap();
    commit(&lab, "no link");
    lab.edit("scripts/README", "more\n");
    commit(&lab, "more words");
    gives(
        &lab,
        &check(&lab, "HEAD"),
        0,
        &["touches no C file (it changes 1 file of other kinds)", said],
    );
    git(&lab, &["checkout", "-q", "HEAD~3"]);
    gives(&lab, &check(&lab, "a.patch"), 0, &["0 findings"]);
}

#[test]
fn only_the_mode_of_a_file_is_no_finding() {
    use std::os::unix::fs::PermissionsExt as _;
    let lab = history();
    let wrong = PAIR.replace("\tuser_write_access_end();\n\treturn 0;", "\treturn 0;");
    lab.edit("kernel/pair.c", &wrong);
    commit(&lab, "wrong");
    let path = lab.tree().join("kernel/pair.c");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    commit(&lab, "mode");
    let mail = git(&lab, &["format-patch", "--stdout", "-1"]);
    fs::write(lab.path("mode.patch"), mail).unwrap();
    gives(
        &lab,
        &check(&lab, "HEAD"),
        0,
        &["0 findings", "1 file read"],
    );
    git(&lab, &["checkout", "-q", "HEAD~1"]);
    gives(
        &lab,
        &check(&lab, "mode.patch"),
        0,
        &["0 findings", "1 file read"],
    );
}

#[test]
fn what_names_no_change_is_one_sentence() {
    let lab = history();
    let cases = [
        ("nowhere..main", "git knows no commit nowhere in tree"),
        ("main..", ""),
        (
            "nofile.patch",
            "there is no file nofile.patch, and git knows no commit nofile.patch in tree",
        ),
        (
            "HEAD~9",
            "there is no file HEAD~9, and git knows no commit HEAD~9 in tree",
        ),
    ];
    for (change, words) in cases {
        let output = check(&lab, change);
        match words {
            "" => gives(
                &lab,
                &output,
                0,
                &["touches no C file (it changes nothing)"],
            ),
            words => gives(&lab, &output, 2, &[words]),
        }
        assert_eq!(
            lab.said(&output).lines().count(),
            1,
            "{}",
            lab.said(&output)
        );
    }
    leave(&lab);
    let parted = check(&lab, "main...elsewhere");
    gives(
        &lab,
        &parted,
        2,
        &["main...elsewhere: the two have no commit in common in tree"],
    );
    fs::remove_dir_all(lab.tree().join(".git")).unwrap();
    gives(
        &lab,
        &check(&lab, "main~1..main"),
        2,
        &["tree is in no git repository that can be read: not a git repository"],
    );
}

#[test]
fn repositories_of_every_kind_are_read() {
    let lab = history();
    let tree = lab.tree();
    let from = format!("file://{}", tree.display());
    let here = |args: &[&str]| git_in(tree.parent().unwrap(), args);
    here(&["clone", "-q", "--bare", &from, "bare.git"]);
    here(&["clone", "-q", "--depth=1", &from, "short"]);
    git(
        &lab,
        &["worktree", "add", "-q", "--detach", "../linked", "main~1"],
    );
    let at =
        |folder: &str, change: &str| run(&mut lab.tollgate(&["check", folder, "--patch", change]));
    gives(&lab, &at("bare.git", "main~1..main"), 0, CLEAN);
    gives(&lab, &at("linked", "main"), 0, CLEAN);
    for change in ["HEAD", "HEAD~1..HEAD", "HEAD~1...HEAD"] {
        gives(
            &lab,
            &at("short", change),
            2,
            &["(a shallow clone); git fetch --unshallow"],
        );
    }
    // A folder below the top: what lies outside it is counted.
    let below = at("tree/kernel", "main");
    gives(&lab, &below, 0, CLEAN);
    gives(
        &lab,
        &below,
        0,
        &[
            "not checked: 1 file that main changes outside tree/kernel",
            "1 file read",
        ],
    );
    // A submodule is no file, whatever it is called.
    git(&lab, &["submodule", "--quiet", "add", &from, "sub.c"]);
    commit(&lab, "sub");
    gives(
        &lab,
        &check(&lab, "HEAD"),
        0,
        &["0 findings", "0 files read"],
    );
}

#[test]
fn a_sha256_repository_is_read() {
    let lab = Lab::new();
    git(
        &lab,
        &["init", "-q", "-b", "main", "--object-format=sha256"],
    );
    commit(&lab, "first");
    let wrong = PAIR.replace("my_write", "user_write");
    lab.edit(
        "kernel/pair.c",
        &wrong.replace("\tuser_write_access_end();\n\treturn 0;", "\treturn 0;"),
    );
    commit(&lab, "second");
    git(&lab, &["checkout", "-q", "main~1"]);
    gives(
        &lab,
        &check(&lab, "main"),
        1,
        &["window-left-open", "1 finding"],
    );
}

#[test]
fn odd_names_are_read_and_shown() {
    let lab = history();
    let names: [&[u8]; 5] = [b"\xff.c", b"a\nb.c", b"a\tb.c", b"\"q\".c", b"-x.c"];
    let wrong = PAIR.replace("\tuser_write_access_end();\n\treturn 0;", "\treturn 0;");
    for name in names {
        fs::write(lab.tree().join(OsStr::from_bytes(name)), &wrong).unwrap();
    }
    commit(&lab, "odd");
    let mail =
        run(Command::new("git")
            .current_dir(lab.tree())
            .args(["format-patch", "--stdout", "-1"]));
    fs::write(lab.path("odd.patch"), mail.stdout).unwrap();
    git(&lab, &["checkout", "-q", "main~1"]);
    for change in ["main", "odd.patch"] {
        gives(
            &lab,
            &check(&lab, change),
            1,
            &["5 findings", "5 files read", "-x.c:8:2"],
        );
    }
}

#[test]
fn nothing_that_the_user_has_set_up_changes_the_answer() {
    let lab = history();
    let other = history();
    git(
        &other,
        &["commit", "-q", "--allow-empty", "-m", "not this one"],
    );
    let config = lab.path("config");
    fs::write(
        &config,
        "[diff]\nnoprefix = true\nmnemonicPrefix = true\nrenames = copies\nrelative = true\norderFile = /nowhere\n\
         [color]\nui = always\n[core]\nquotePath = true\nautocrlf = true\npager = false\n\
         [apply]\nwhitespace = error-all\nignoreWhitespace = change\n[mailinfo]\nscissors = true\n\
         [grep]\nlineNumber = true\n",
    )
    .unwrap();
    let mail = git(&lab, &["format-patch", "--stdout", "-1"]);
    fs::write(lab.path("a.patch"), mail).unwrap();
    git(&lab, &["checkout", "-q", "main~1"]);
    for change in ["main", "a.patch"] {
        let mut command = lab.tollgate(&["check", "tree", "--patch", change]);
        command
            .env("GIT_CONFIG_GLOBAL", &config)
            .env("GIT_TRACE", "1");
        command
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("GIT_INDEX_FILE", "/nowhere");
        gives(&lab, &run(&mut command), 0, CLEAN);
    }
    // The tree that is named counts, and not where a hook runs.
    for name in ["GIT_DIR", "GIT_COMMON_DIR"] {
        let mut command = lab.tollgate(&["check", "tree", "--patch", "main"]);
        command
            .env(name, other.tree().join(".git"))
            .env("GIT_WORK_TREE", other.tree());
        gives(&lab, &run(&mut command), 0, CLEAN);
    }
    // A hook of this very repository, and a repository apart from its tree.
    let mut command = lab.tollgate(&["check", "tree", "--patch", "main"]);
    gives(&lab, &run(command.env("GIT_DIR", "tree/.git")), 0, CLEAN);
    fs::rename(lab.tree().join(".git"), lab.path("apart.git")).unwrap();
    let mut command = lab.tollgate(&["check", "tree", "--patch", "main"]);
    gives(&lab, &run(command.env("GIT_DIR", "apart.git")), 0, CLEAN);
    gives(
        &lab,
        &check(&lab, "main"),
        2,
        &["there is no file main, and tree is in no git repository"],
    );
}

/// What git itself writes for users who have set such things.
#[test]
fn diffs_in_every_form_are_laid_over() {
    let lab = history();
    let forms: [&[&str]; 5] = [
        &["diff", "main~1", "main"],
        &["diff", "--no-prefix", "main~1", "main"],
        &["-c", "diff.mnemonicPrefix=true", "diff", "main~1", "main"],
        &["show", "main"],
        &["format-patch", "--stdout", "--no-prefix", "-1", "main"],
    ];
    let diffs: Vec<String> = forms.iter().map(|form| git(&lab, form) + "\n").collect();
    let coloured = git(&lab, &["diff", "--color=always", "main~1", "main"]) + "\n";
    git(&lab, &["checkout", "-q", "main~1"]);
    let piped = |text: &str| {
        let mut command = lab.tollgate(&["check", "tree", "--patch", "-"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        child.wait_with_output().unwrap()
    };
    for diff in diffs {
        gives(&lab, &piped(&diff), 0, CLEAN);
    }
    gives(
        &lab,
        &piped(&coloured),
        2,
        &[
            "<stdin> holds no patch: it holds the codes of a terminal's colours; write it with --no-color",
        ],
    );
}

#[test]
fn a_patch_is_laid_over_the_commit_that_it_was_made_for() {
    let lab = history();
    let wrong = PAIR.replace("\tuser_write_access_end();\n\treturn 0;", "\treturn 0;");
    lab.edit("kernel/pair.c", &wrong);
    commit(&lab, "third");
    let mail = git(&lab, &["format-patch", "--stdout", "--base=main~1", "-1"]);
    fs::write(lab.path("a.patch"), &mail).unwrap();
    let base = git(&lab, &["rev-parse", "main~1"]);
    assert!(mail.contains(&format!("base-commit: {base}")), "{mail}");
    leave(&lab);
    let said = check(&lab, "a.patch");
    let over = format!(
        "laid over commit {}, which the patch says it was made for",
        &base[..12]
    );
    gives(&lab, &said, 1, &["window-left-open", "1 finding", &over]);
    // One that this repository does not have: the tree as it is.
    let other = mail.replace(&base, "0123456789012345678901234567890123456789");
    fs::write(lab.path("b.patch"), &other).unwrap();
    gives(
        &lab,
        &check(&lab, "b.patch"),
        2,
        &["b.patch does not apply to tree"],
    );
    git(&lab, &["checkout", "-q", "main~1"]);
    gives(
        &lab,
        &check(&lab, "b.patch"),
        1,
        &["window-left-open", "1 finding"],
    );
    // One that does not fit there.
    let elsewhere = git(&lab, &["rev-parse", "elsewhere"]);
    fs::write(lab.path("c.patch"), mail.replace(&base, &elsewhere)).unwrap();
    gives(
        &lab,
        &check(&lab, "c.patch"),
        1,
        &[
            "laid over the tree as it is, since it does not fit",
            "1 finding",
        ],
    );
}

#[test]
fn a_merge_is_what_it_brings_to_its_first_parent() {
    let lab = history();
    git(&lab, &["checkout", "-q", "-b", "side", "main~1"]);
    let wrong = PAIR.replace("my_write", "user_write");
    let wrong = wrong.replace("\tuser_write_access_end();\n\treturn 0;", "\treturn 0;");
    lab.edit("fs/side.c", &wrong);
    commit(&lab, "aside");
    git(&lab, &["checkout", "-q", "main"]);
    git(&lab, &["merge", "-q", "--no-ff", "--no-edit", "side"]);
    leave(&lab);
    gives(&lab, &check(&lab, "main"), 1, &["fs/side.c", "1 finding"]);
    gives(&lab, &check(&lab, "main^2..main"), 0, CLEAN);
    gives(&lab, &check(&lab, "side...main~1"), 0, CLEAN);
}

#[test]
fn scan_takes_one_revision_and_writes_nothing() {
    let lab = history();
    lab.edit("kernel/pair.c", &PAIR.replace("u32 a", "u32 first"));
    lab.edit("kernel/more.c", PAIR);
    let scan =
        |revision: &str| run(&mut lab.tollgate(&["scan", "tree", "--changed-since", revision]));
    let index = fs::read(lab.tree().join(".git/index")).unwrap();
    let output = scan("main");
    gives(
        &lab,
        &output,
        0,
        &[
            "1 file read",
            "not among them: 1 C file that git does not track",
        ],
    );
    assert_eq!(fs::read(lab.tree().join(".git/index")).unwrap(), index);
    gives(
        &lab,
        &scan("main~1..main"),
        2,
        &["--changed-since takes the one revision"],
    );
    gives(
        &lab,
        &scan("nowhere"),
        2,
        &["git knows no commit nowhere in"],
    );
}

#[test]
fn a_series_is_measured_wherever_the_tree_is() {
    use std::os::unix::fs::PermissionsExt as _;
    let lab = Lab::new();
    git(&lab, &["init", "-q", "-b", "main"]);
    let gate = fs::read_to_string(lab.tree().join("kernel/gate.c")).unwrap();
    for (mark, subject) in [("fake window", "gate: One"), ("two passages", "gate: Two")] {
        lab.edit(
            "kernel/gate.c",
            &format!("const char mark[] = \"{mark}\";\n{gate}"),
        );
        let script = lab.tree().join("scripts/run");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        commit(&lab, subject);
    }
    let measure = |json: &str| {
        let output = run(lab
            .prove(&["--series", "main~1..main"])
            .arg("--json")
            .arg(lab.path(json)));
        gives(&lab, &output, 1, &["gate: Two"]);
        let text = fs::read(lab.path(json)).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&text).unwrap();
        document["points"].clone()
    };
    let here = measure("here.json");
    // Another state is checked out, with files that git does not track.
    git(&lab, &["checkout", "-q", "--orphan", "elsewhere"]);
    lab.edit("kernel/gate.c", "no C at all\n");
    lab.edit("kernel/untracked.c", "int untracked;\n");
    let script = lab.tree().join("scripts/run");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(measure("there.json"), here);
    let output = run(&mut lab.prove(&["--patch", "main~1..main"]));
    gives(
        &lab,
        &output,
        2,
        &["--patch takes a file, and there is no main~1..main; --series A..B measures commits"],
    );
}
