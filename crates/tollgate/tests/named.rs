//! What a user names or lists: files, folders, lists, and what is none of them.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "other tests use the rest of it")]
mod support;

use std::fs;
use std::io::Write as _;
use std::process::{Output, Stdio};

use support::{Lab, code, run};

const PAIR: &str = "int f(int __user *p)\n{\n\treturn put_user(1, p) || put_user(2, p + 1);\n}\n";
const PLAIN: &str = "int f(int __user *p)\n{\n\treturn put_user(1, p);\n}\n";
const OPEN: &str = "int open(int __user *p)\n{\n\tif (put_user(1, p)) {\n\t\treturn 1;\n";

fn lab() -> Lab {
    let lab = Lab::new();
    for folder in ["drivers/gpu/drm", "drivers/none", "mixed"] {
        fs::create_dir_all(lab.tree().join(folder)).unwrap();
    }
    lab.edit("drivers/gpu/drm/pair.c", PAIR);
    lab.edit("drivers/gpu/plain.c", PLAIN);
    lab.edit("drivers/none/README", "no C");
    lab.edit("mixed/open.c", OPEN);
    lab.edit("mixed/pair.c", PAIR);
    lab.edit("mixed/plain.c", PLAIN);
    lab
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Both commands that take files of a tree.
const BOTH: [&str; 2] = ["scan", "check"];

fn with_input(lab: &Lab, args: &[&str], input: &[u8]) -> Output {
    let mut command = lab.tollgate(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn what_is_named_and_not_there_is_a_sentence() {
    let lab = lab();
    for command in BOTH {
        for (name, said) in [
            ("typo", "there is no typo in tree"),
            ("typo/", "there is no typo/ in tree"),
            ("mixed/typo.c", "there is no mixed/typo.c in tree"),
            ("drivers/none", "drivers/none holds no C file"),
            ("drivers/none/README", "is no C file"),
            ("Makefile", "is no C file"),
            ("..", "outside of tree"),
            ("../tree/../else.c", "outside of tree"),
            ("/etc/passwd", "outside of tree"),
        ] {
            // What comes first is not looked at either: nothing is half done.
            let output = run(&mut lab.tollgate(&[command, "tree", "mixed/pair.c", name]));
            assert_eq!(code(&output), 2, "{command} {name}");
            assert_eq!(out(&output), "", "{command} {name}");
            let words = lab.said(&output);
            assert!(words.contains(said), "{command} {name}: {words}");
            assert_eq!(words.lines().count(), 1, "{words}");
        }
    }
}

#[test]
fn who_names_a_file_from_where_they_stand_is_told_its_path() {
    let lab = lab();
    let output = run(&mut lab.tollgate(&["scan", "tree", "tree/mixed/pair.c"]));
    let said = lab.said(&output);
    assert!(
        said.contains("from the top of it that is mixed/pair.c"),
        "{said}"
    );
}

#[test]
fn a_folder_means_what_lies_below_it() {
    let lab = lab();
    for folder in ["drivers/gpu", "drivers/gpu/", "./drivers//gpu/drm/.."] {
        for command in BOTH {
            let output = run(&mut lab.tollgate(&[command, "tree", folder]));
            let text = out(&output);
            assert!(text.contains("2 files read"), "{command} {folder}: {text}");
            assert_eq!(code(&output), i32::from(command == "scan"), "{text}");
        }
    }
    // A file that is named twice is one.
    let both = run(&mut lab.tollgate(&["scan", "tree", "drivers", "drivers/gpu/plain.c"]));
    assert!(out(&both).contains("2 files read"), "{}", out(&both));
    let here = run(&mut lab.tollgate(&["check", "tree/mixed/plain.c", "tree/drivers/gpu"]));
    assert!(out(&here).contains("3 files read"), "{}", out(&here));
    let whole = |args: &[&str]| out(&run(&mut lab.tollgate(args)));
    assert_eq!(whole(&["scan", "tree", "."]), whole(&["scan", "tree"]));
    assert_eq!(whole(&["check", "tree", "."]), whole(&["check", "tree"]));
}

#[test]
fn in_a_list_what_is_gone_or_no_c_is_counted() {
    let lab = lab();
    let lines = "mixed/plain.c\nmixed/gone.c\nMakefile\n\nmixed\n";
    for command in BOTH {
        for list in [lines.to_owned(), lines.replace('\n', "\0")] {
            let output = with_input(&lab, &[command, "tree", "-", "-v"], list.as_bytes());
            let text = out(&output);
            assert_eq!(code(&output), 0, "{command}: {text}");
            for said in [
                "1 file read",
                "mixed/gone.c: left out: it is not there",
                "Makefile: left out: it is no C file",
                "left out: 1 file not there, 2 no C files",
            ] {
                assert!(text.contains(said), "{command}: {said}: {text}");
            }
        }
        let none = with_input(&lab, &[command, "tree", "-"], b"Makefile\n");
        assert_eq!(code(&none), 0);
        assert!(
            lab.said(&none).contains("no C file is named"),
            "{}",
            lab.said(&none)
        );
        let empty = with_input(&lab, &[command, "tree", "-"], b"");
        assert_eq!((code(&empty), lab.said(&empty).lines().count()), (0, 1));
        let away = with_input(&lab, &[command, "tree", "-"], b"mixed/plain.c\n../x.c\n");
        assert_eq!(code(&away), 2);
    }
}

#[test]
fn of_a_named_file_an_answer_is_owed() {
    let lab = lab();
    fs::write(lab.tree().join("mixed/wide.c"), b"i\0n\0t\0 \0x\0;\0").unwrap();
    for command in BOTH {
        for (file, why) in [
            ("mixed/open.c", "its braces do not end"),
            ("mixed/wide.c", "it holds a NUL byte"),
        ] {
            let named = run(&mut lab.tollgate(&[command, "tree", "mixed/plain.c", file]));
            assert_eq!(code(&named), 2, "{command} {file}");
            let said = lab.said(&named);
            assert!(
                said.contains(file) && said.contains(why),
                "{command}: {said}"
            );
            // The rest is shown nevertheless.
            assert!(out(&named).contains("read,"), "{}", out(&named));
        }
        // 2 beats 1.
        let found = run(&mut lab.tollgate(&[command, "tree", "mixed/pair.c", "mixed/open.c"]));
        assert_eq!(code(&found), 2, "{command}");
        // In a folder, a list or a tree it is a count.
        let listed = with_input(
            &lab,
            &[command, "tree", "-"],
            b"mixed/open.c\nmixed/wide.c\n",
        );
        assert_eq!(code(&listed), 0, "{command}: {}", lab.said(&listed));
        let folder = run(&mut lab.tollgate(&[command, "tree", "mixed", "-v"]));
        assert_eq!(code(&folder), i32::from(command == "scan"), "{command}");
        assert!(
            out(&folder).contains("mixed/open.c:1:5: open"),
            "{}",
            out(&folder)
        );
        assert!(
            out(&folder).contains("its braces do not end"),
            "{}",
            out(&folder)
        );
    }
}

#[test]
fn a_change_without_c_is_clean_and_says_so() {
    let lab = lab();
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.current_dir(lab.tree()).args([
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.org",
        ]);
        assert!(run(command.args(args)).status.success());
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "one"]);
    lab.edit("drivers/none/README", "no C at all");
    fs::remove_file(lab.tree().join("mixed/plain.c")).unwrap();
    let patch = "--- a/drivers/none/README\n+++ b/drivers/none/README\n@@ -1 +1 @@\n-no C at all\n\\ No newline at end of file\n+none\n";
    let patched = with_input(&lab, &["check", "tree", "--patch", "-"], patch.as_bytes());
    assert_eq!(code(&patched), 0, "{}", lab.said(&patched));
    assert!(out(&patched).contains("1 no C file"), "{}", out(&patched));
    assert!(
        lab.said(&patched).contains("<stdin> touches no C file"),
        "{}",
        lab.said(&patched)
    );
    let nothing = with_input(&lab, &["check", "tree", "--patch", "-"], b"words\n");
    assert!(
        lab.said(&nothing).contains("<stdin> holds no patch"),
        "{}",
        lab.said(&nothing)
    );
    let since = run(&mut lab.tollgate(&["scan", "tree", "--changed-since", "HEAD"]));
    assert_eq!(code(&since), 0, "{}", lab.said(&since));
    let text = out(&since);
    assert!(text.contains("1 file not there, 1 no C file"), "{text}");
    git(&["commit", "-q", "-a", "-m", "two"]);
    let range = run(&mut lab.tollgate(&[
        "check",
        "tree",
        "--patch",
        "HEAD~1..HEAD",
        "--format",
        "json",
    ]));
    assert_eq!(code(&range), 0, "{}", lab.said(&range));
}
