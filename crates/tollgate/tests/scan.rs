//! `tollgate scan` and `tollgate fix` from the outside: what they print, their
//! exit codes, and one sentence for each thing that is not there.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the lab's own tests use the rest of it")]
mod support;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::Value;
use support::{Lab, code, run};

const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/scan.schema.json");

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn in_tree(lab: &Lab, arguments: &[&str]) -> Output {
    run(&mut lab.tollgate(arguments))
}

/// A lab whose tree also holds what cannot be analysed.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.edit(
        "kernel/odd.c",
        "int f(void)\n{\n\tif if (put_user(1, p) } ((;\n}\n\n#define X(a) put_user(a, p)\n",
    );
    lab
}

#[test]
fn findings_are_lines_that_compilers_write() {
    let lab = lab();
    let output = in_tree(&lab, &["scan", "tree"]);
    assert_eq!(code(&output), 1);
    insta::assert_snapshot!(text(&output.stdout));
    let again = in_tree(&lab, &["scan", "tree"]);
    assert_eq!(again.stdout, output.stdout);
}

#[test]
fn what_was_not_analysed_is_named() {
    let output = in_tree(&lab(), &["scan", "tree", "--verbose"]);
    insta::assert_snapshot!(text(&output.stdout));
}

#[test]
fn json_follows_its_schema() {
    let output = in_tree(&lab(), &["scan", "tree", "--format", "json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    follows_schema(&found);
    insta::assert_json_snapshot!(found);
}

fn follows_schema(found: &Value) {
    let schema: Value = serde_json::from_str(&fs::read_to_string(SCHEMA).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors = validator.iter_errors(found).map(|error| error.to_string());
    assert_eq!(errors.collect::<Vec<_>>(), [""; 0]);
}

/// Without a look at sizes nobody knows which copies are small.
#[test]
fn copies_that_nobody_asked_for_are_counted_and_not_sized() {
    let lab = lab_of_kinds();
    let of = |arguments: &[&str]| {
        let all = [&["scan", "tree", "--format", "json"], arguments].concat();
        let found: Value = serde_json::from_slice(&in_tree(&lab, &all).stdout).unwrap();
        follows_schema(&found);
        let summary = &found["summary"];
        let copies = &summary["copies"];
        let counted = ["not_looked_up", "small", "without_size"].map(|key| copies[key].clone());
        (summary["kinds"]["small-copy"].clone(), counted)
    };
    let number = Value::from;
    assert_eq!(of(&[]), (Value::Null, [3, 0, 0].map(number)));
    let small = of(&["--kind", "small-copy"]);
    assert_eq!(small, (number(2), [0, 2, 1].map(number)));
}

/// A tree with two architectures, of which one opens windows of its own, and
/// with something of each kind.
fn lab_of_kinds() -> Lab {
    let lab = Lab::new();
    for folder in [
        "arch/x86/include/asm",
        "arch/other/include/asm",
        "arch/x86/kernel",
        "arch/other/kernel",
        "drivers",
    ] {
        fs::create_dir_all(lab.tree().join(folder)).unwrap();
    }
    lab.edit(
        "arch/x86/include/asm/uaccess.h",
        "#define user_access_begin(a,b)\tuser_access_begin(a,b)\n",
    );
    lab.edit(
        "arch/other/include/asm/uaccess.h",
        "/* accesses open by themselves */\n",
    );
    let run = "static int save(struct s __user *p)\n{\n\treturn put_user(1, &p->a) || put_user(2, &p->b);\n}\n";
    lab.edit("arch/other/kernel/save.c", run);
    lab.edit("arch/x86/kernel/signal.c", run);
    lab.edit(
        "drivers/kinds.c",
        "struct arguments {\n\tu32 a;\n\tu64 b;\n};\n\n\
static long x_ioctl(struct file *f, unsigned int cmd, unsigned long arg)\n{\n\tstruct arguments k;\n\n\
\tif (copy_from_user(&k, (void __user *)arg, sizeof(k)))\n\t\treturn -EFAULT;\n\
\tif (copy_from_user(&k, (void __user *)arg, _IOC_SIZE(cmd)))\n\t\treturn -EFAULT;\n\
\tif (put_user(k.a, &p->a) || copy_to_user(&p->b, &k.b, sizeof(k.b)))\n\t\treturn -EFAULT;\n\
\tif (copy_to_user(p, name, NAME_LENGTH))\n\t\treturn -EFAULT;\n\
\tif (!user_write_access_begin(q, 8))\n\t\treturn -EFAULT;\n\tuser_write_access_end();\n\
\treturn put_user(1, &q->c);\n}\n",
    );
    lab
}

#[test]
fn each_kind_is_listed_on_demand_and_counted_always() {
    let lab = lab_of_kinds();
    let mut said = String::new();
    for arguments in [
        &["scan", "tree"] as &[&str],
        &["scan", "tree", "--kind", "all", "--verbose"],
        &["scan", "tree", "--kind", "small-copy,runtime-size-copy"],
        &["scan", "tree", "--arch", "all", "--rank"],
        &["scan", "tree", "--arch", "other"],
    ] {
        let output = in_tree(&lab, arguments);
        assert_eq!(code(&output), 1);
        said += &format!(
            "$ tollgate {}\n{}\n",
            arguments.join(" "),
            text(&output.stdout)
        );
    }
    insta::assert_snapshot!(said);
}

#[test]
fn each_kind_is_in_the_forms_for_programs() {
    let lab = lab_of_kinds();
    let all = |format| {
        let output = in_tree(&lab, &["scan", "tree", "--kind", "all", "--format", format]);
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let found = all("json");
    follows_schema(&found);
    let kinds: Vec<&str> = found["others"]
        .as_array()
        .unwrap()
        .iter()
        .map(|other| other["kind"].as_str().unwrap())
        .collect();
    insta::assert_json_snapshot!(found["others"]);
    let log = all("sarif");
    let rules: Vec<&str> = log["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|result| result["ruleId"].as_str())
        .collect();
    assert!(
        kinds.iter().all(|kind| rules.contains(kind)),
        "{kinds:?} {rules:?}"
    );
}

#[test]
fn a_profile_ranks_and_says_what_it_does_not_know() {
    let lab = lab_of_kinds();
    fs::write(
        lab.path("top.txt"),
        "> ==> 12.86%  [kernel]  [k] save.part.0\n>  4.15%  [kernel]  [k] fput\n",
    )
    .unwrap();
    fs::write(lab.path("none.txt"), "no rows\n").unwrap();
    let ranked = in_tree(&lab, &["scan", "tree", "--profile", "top.txt"]);
    assert_eq!(code(&ranked), 1);
    insta::assert_snapshot!(text(&ranked.stdout));
    let refused = in_tree(&lab, &["scan", "tree", "--profile", "none.txt"]);
    assert_eq!((code(&refused), refused.stdout.len()), (2, 0));
    let said = lab.said(&refused);
    assert!(said.contains("none.txt is no profile"), "{said}");
}

#[test]
fn findings_are_shown_in_their_source() {
    let output = in_tree(
        &lab_of_kinds(),
        &["scan", "tree", "--kind", "all", "--format", "source"],
    );
    insta::assert_snapshot!(text(&output.stdout));
}

#[test]
fn a_tree_without_findings_is_clean() {
    let lab = Lab::new();
    fs::remove_file(lab.tree().join("include/linux/eventpoll.h")).unwrap();
    let output = in_tree(&lab, &["scan", "tree"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stdout));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let lab = lab();
    // Gone before the first byte, however busy the machine is: a pipe takes a short
    // result whole.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut scan = lab.tollgate(&["scan", "tree"]);
    let output = scan.stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(
        (output.status.code(), text(&output.stderr)),
        (Some(0), String::new())
    );
}

/// What is asked for, and what is wrong with it.
#[test]
fn what_is_not_there_is_one_sentence() {
    let lab = Lab::new();
    fs::create_dir(lab.path("empty")).unwrap();
    fs::create_dir(lab.path("other")).unwrap();
    fs::write(lab.path("other/Makefile"), "all:\n").unwrap();
    lab.edit(
        "kernel/refused.c",
        "int f(int __user *p, int __user *q)\n{\n\tif (put_user(1, p) || put_user(2, q))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n",
    );
    lab.edit(
        "kernel/single.c",
        "int f(int __user *p)\n{\n\treturn put_user(1, p);\n}\n",
    );
    let cases: &[&[&str]] = &[
        &["scan", "nowhere"],
        &["scan", "tree/Makefile"],
        &["scan", "empty"],
        &["scan", "other"],
        &["scan", "tree", "--arch", "x86,z80"],
        &["fix", "nowhere", "a.c:f"],
        &["fix", "tree", "kernel/none.c:f"],
        &["fix", "tree", "include/linux/eventpoll.h:epoll_put_event"],
        &["fix", "tree", "kernel/single.c:f"],
        &["fix", "tree", "kernel/refused.c:f"],
    ];
    let mut said = String::new();
    for arguments in cases {
        let output = in_tree(&lab, arguments);
        assert_eq!(
            (code(&output), output.stdout.as_slice()),
            (2, b"".as_slice()),
            "{arguments:?}"
        );
        said += &format!("$ tollgate {}\n{}", arguments.join(" "), lab.said(&output));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn fix_prints_a_mail_that_git_takes() {
    let lab = Lab::new();
    let mut fix = lab.tollgate(&[
        "fix",
        "tree",
        "include/linux/eventpoll.h:epoll_put_uevent",
        "--assisted-by",
    ]);
    for (name, value) in [
        ("GIT_AUTHOR_NAME", "A Name"),
        ("GIT_AUTHOR_EMAIL", "name@example.org"),
    ] {
        fix.env(name, value);
    }
    let output = run(&mut fix);
    let mail = text(&output.stdout);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    insta::with_settings!({filters => vec![(r"(?m)^\d+\.\d+\.\d+$", "GIT-VERSION")]}, {
        insta::assert_snapshot!(mail);
    });
    fs::write(lab.path("fix.patch"), &mail).unwrap();
    let applied = run(std::process::Command::new("git")
        .args(["apply", "--check"])
        .arg(lab.path("fix.patch"))
        .current_dir(lab.tree()));
    assert_eq!(code(&applied), 0, "{}", text(&applied.stderr));
}

#[test]
fn a_series_has_a_cover_letter_and_a_line_for_each_function() {
    let lab = Lab::new();
    lab.edit(
        "kernel/two.c",
        "#include <linux/uaccess.h>\n\nint f(struct s __user *p)\n{\n\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n\n\
         int g(struct s __user *p)\n{\n\tif (put_user(1, &p->c) || put_user(2, &p->d))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n\n\
         int h(int __user *p, int __user *q)\n{\n\tif (put_user(1, p) || put_user(2, q))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n",
    );
    let output = in_tree(&lab, &["fix", "tree", "--output", "series"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let folder = fs::canonicalize(lab.path("series")).unwrap();
    insta::assert_snapshot!(text(&output.stdout).replace(&*folder.to_string_lossy(), "SERIES"));
    let mut patches: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    patches.sort();
    let cover = fs::read_to_string(&patches[0]).unwrap();
    assert!(!cover.contains("***"), "{cover}");
    for patch in &patches[1..] {
        let applied = run(std::process::Command::new("git")
            .arg("apply")
            .arg(patch)
            .current_dir(lab.tree()));
        assert_eq!(code(&applied), 0, "{patch:?}: {}", text(&applied.stderr));
    }
}

#[test]
fn sarif_has_a_result_a_run_and_a_notification_for_the_rest() {
    let output = in_tree(&lab(), &["scan", "tree", "--format", "sarif"]);
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    insta::assert_json_snapshot!(log);
}

/// Against what the standard requires, in a schema written by hand: the runs and
/// what is beside them.
#[test]
fn sarif_is_what_the_standard_requires() {
    let subset = include_str!("../../../tests/data/sarif-subset.schema.json");
    let schema: Value = serde_json::from_str(subset).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for lab in [lab(), lab_of_kinds()] {
        let output = in_tree(
            &lab,
            &["scan", "tree", "--kind", "all", "--format", "sarif"],
        );
        let mut log: Value = serde_json::from_slice(&output.stdout).unwrap();
        let errors: Vec<String> = validator.iter_errors(&log).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        log["runs"][0]["results"][0]["message"] = Value::Null;
        assert!(!validator.is_valid(&log));
    }
}

#[test]
fn only_the_files_that_are_named_are_read() {
    let lab = lab();
    lab.edit("kernel/nul.c", "int x;\0");
    let named = in_tree(
        &lab,
        &[
            "scan",
            "tree",
            "kernel/odd.c",
            "./kernel/odd.c",
            "kernel/nul.c",
        ],
    );
    // Nothing was found, but of a file nothing is known: that is not "clean".
    assert_eq!(code(&named), 2);
    let said = lab.said(&named);
    assert!(
        said.contains("kernel/nul.c: not read: it holds a NUL"),
        "{said}"
    );
    insta::assert_snapshot!(text(&named.stdout));
    let mut listed = lab.tollgate(&["scan", "tree", "-"]);
    let mut child = listed
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"include/linux/eventpoll.h\n")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 1);
    assert!(
        text(&output.stdout).contains("1 file read"),
        "{}",
        text(&output.stdout)
    );
}

fn git(lab: &Lab, arguments: &[&str]) {
    let identity = [
        "-c",
        "user.name=A Name",
        "-c",
        "user.email=name@example.org",
    ];
    let output = run(std::process::Command::new("git")
        .args(identity)
        .args(arguments)
        .current_dir(lab.tree()));
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
}

#[test]
fn only_the_files_that_changed_are_read() {
    let lab = lab();
    let output = in_tree(&lab, &["scan", "tree", "--changed-since", "HEAD"]);
    assert_eq!(code(&output), 2);
    assert!(
        text(&output.stderr).contains("the files that changed since HEAD are not known"),
        "{}",
        text(&output.stderr)
    );
    git(&lab, &["init", "-q"]);
    git(&lab, &["add", "-A"]);
    git(&lab, &["commit", "-q", "-m", "tree"]);
    let output = in_tree(&lab, &["scan", "tree", "--changed-since", "HEAD"]);
    assert_eq!(
        (code(&output), text(&output.stdout).contains("0 files read")),
        (0, true)
    );
    lab.edit(
        "kernel/odd.c",
        "int f(struct s __user *p)\n{\n\treturn put_user(1, &p->a) || put_user(2, &p->b);\n}\n",
    );
    let output = in_tree(&lab, &["scan", "tree", "--changed-since", "HEAD"]);
    assert_eq!(
        (code(&output), text(&output.stdout).contains("1 file read")),
        (1, true)
    );
}

#[test]
fn a_macro_of_a_header_is_known_in_every_source() {
    let lab = lab();
    lab.edit(
        "include/linux/uaccess.h",
        "#define odd_put_user(x, p) ({ might_sleep(); put_user(x, p); })\n",
    );
    let pair = "\tif (odd_put_user(1, p) || odd_put_user(2, p))\n\t\treturn -14;\n\treturn 0;\n";
    // One is listed before its header, one after it.
    for name in ["fs/uses.c", "kernel/uses.c"] {
        let body = format!("int uses(int __user *p)\n{{\n{pair}}}\n");
        lab.edit(name, &body);
    }
    lab.edit(
        "kernel/other.c",
        "int other(int __user *p)\n{\n\treturn odder_put_user(1, p) || odder_put_user(2, p);\n}\n",
    );
    let said = text(&in_tree(&lab, &["scan", "tree"]).stdout);
    for found in ["fs/uses.c:3:6: uses: 2 writes", "kernel/uses.c:3:6: uses"] {
        assert!(said.contains(found), "{said}");
    }
    assert!(!said.contains("kernel/other.c"), "{said}");
    assert_eq!(said.matches("kernel/uses.c").count(), 1, "{said}");
}

/// Large files are looked through in pieces.
#[test]
fn an_access_anywhere_in_a_large_file_is_found() {
    let lab = lab();
    let pair = "int late(int __user *p)\n{\n\treturn put_user(1, p) || put_user(2, p);\n}\n";
    let filler = "#define REGISTER 0x1234\n";
    let piece = 1 << 17;
    for (name, before, behind) in [
        ("first", 0, 3 * piece),
        ("end", piece - 60, piece),
        ("behind", piece, 2 * piece),
        ("last", 5 * piece, 0),
    ] {
        let lines = |bytes: usize| filler.repeat(bytes / filler.len());
        let text = lines(before) + pair + &lines(behind);
        lab.edit(&format!("kernel/{name}.c"), &text);
    }
    lab.edit("kernel/none.c", &filler.repeat(20_000));
    let said = text(&in_tree(&lab, &["scan", "tree"]).stdout);
    for (name, line) in [
        ("first", 3),
        ("end", 5461),
        ("behind", 5464),
        ("last", 27309),
    ] {
        let found = format!("kernel/{name}.c:{line}:9: late: 2 writes");
        assert!(said.contains(&found), "{found}: {said}");
    }
    assert!(said.contains("10 files read"), "{said}");
}

#[test]
fn hidden_folders_links_and_programs_are_not_the_kernels() {
    let lab = lab();
    let pair = "int late(int __user *p)\n{\n\treturn put_user(1, p) || put_user(2, p);\n}\n";
    for name in [".git/late.c", "tools/late.c", "kernel/tools/late.c"] {
        fs::create_dir_all(lab.tree().join(name).parent().unwrap()).unwrap();
        lab.edit(name, pair);
    }
    std::os::unix::fs::symlink("tools/late.c", lab.tree().join("kernel/link.c")).unwrap();
    let said = text(&in_tree(&lab, &["scan", "tree"]).stdout);
    let found: Vec<&str> = said.lines().filter(|line| line.contains("late")).collect();
    assert_eq!(found.len(), 1, "{said}");
    assert!(found[0].starts_with("kernel/tools/late.c:3"), "{said}");
}

/// A function of a header is a part of whoever calls it, in any file.
#[test]
fn a_profile_is_explained_by_what_the_tree_calls() {
    let lab = lab();
    lab.edit(
        "include/linux/event.h",
        "static inline int put_event(struct event __user *p)\n{\n\tif (__put_user(1, &p->a) || __put_user(2, &p->b))\n\t\treturn -1;\n\treturn 0;\n}\n",
    );
    lab.edit(
        "fs/poll.c",
        "/* put_event is spoken of here */\nstatic int send_events(struct event __user *p)\n{\n\treturn put_event(p);\n}\n\nint do_wait(struct event __user *p)\n{\n\treturn send_events(p);\n}\n",
    );
    fs::write(
        lab.path("script.txt"),
        "a 1 1.0: 30 cycles: \n\tffffffff81000003 __put_user_nocheck_4+0x3 ([kernel.kallsyms])\n\tffffffff81000010 do_wait+0x10 ([kernel.kallsyms])\n\n\
         a 1 1.1: 70 cycles: \n\tffffffff81000020 idle+0x3 ([kernel.kallsyms])\n\n",
    )
    .unwrap();
    let output = in_tree(&lab, &["profile", "script.txt", "--tree", "tree"]);
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    let shown = text(&output.stdout)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let wanted = "at most 30.00 % (42.86 % faster): include/linux/event.h:1 put_event in do_wait, 1 window saved; it reached __put_user_nocheck_4 30.00";
    assert!(shown.contains(wanted), "{shown}");
}
