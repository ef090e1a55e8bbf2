//! `tollgate check --compiler-log`: what a build said, of a tree and of a change.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the lab's own tests use the rest of it")]
mod support;

use std::fs;

use serde_json::Value;
use support::{Lab, code, run};

const PUTS: &str = "\
int plain(int a)
{
\treturn a;
}

int first(u32 __user *p, u32 a)
{
\tif (put_user(a, p))
\t\treturn -EFAULT;
\treturn 0;
}

static int second(u32 __user *p, u32 a)
{
\tif (put_user(a, p))
\t\treturn -EFAULT;
\treturn 0;
}
";

/// The tree at the top of the build, by its place from the root, and from a folder beside.
const LOG: &str = "\
  CC      sound/puts.o
sound/puts.c: In function \u{2018}first\u{2019}:
sound/puts.c:8:13: warning: comparison is always true [-Wtype-limits]
    8 |         if (put_user(a, p))
      |             ^~~~~~~~
/elsewhere/linux/sound/puts.c:3:9: warning: nothing of ours [-Wextra]
../source/sound/puts.c:15:13: warning: incorrect type in argument 2 (different address spaces)
../source/sound/puts.c:15:13:    expected void *
sound/puts.o: warning: objtool: .altinstr_replacement+0x4: redundant UACCESS disable
sound/puts.o: warning: objtool:   second.constprop.0+0x1f: (alt)
vmlinux.o: warning: objtool: first+0x10: call to f() with UACCESS enabled
gone/x.c:1:1: error: no such file of the tree
ERROR: modpost: \"f\" [sound/puts.ko] undefined!
";

fn lab() -> Lab {
    let lab = Lab::new();
    fs::create_dir_all(lab.tree().join("sound")).unwrap();
    lab.edit("sound/puts.c", PUTS);
    fs::write(lab.path("log"), LOG).unwrap();
    lab
}

/// Line, severity, function and message of each finding; and what the log comes to.
fn found(lab: &Lab, more: &[&str]) -> (Vec<String>, Value) {
    let output = run(lab
        .tollgate(&["check", "tree", "--format", "json"])
        .args(more));
    assert!(code(&output) < 2, "{}", lab.said(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = json["findings"].as_array().unwrap().iter();
    let line = |one: &Value| {
        let word = |key: &str| one[key].as_str().unwrap().to_owned();
        assert_eq!(one["rule"], "diagnostic");
        format!(
            "{} {} {}: {}",
            one["line"],
            word("severity"),
            word("function"),
            word("message")
        )
    };
    (
        all.map(line).collect(),
        json["summary"]["compiler_log"].clone(),
    )
}

#[test]
fn what_is_said_of_functions_with_accesses_is_found_and_the_rest_is_counted() {
    let (findings, log) = found(&lab(), &["--compiler-log", "log"]);
    insta::assert_snapshot!(findings.join("\n"), @r"
    6 warning first: objtool says: call to f() with UACCESS enabled
    8 warning first: gcc says: comparison is always true [-Wtype-limits]
    13 warning second: objtool says: redundant UACCESS disable
    15 warning second: sparse says: incorrect type in argument 2 (different address spaces)
    ");
    assert_eq!(log, serde_json::json!({ "diagnostics": 7, "here": 4 }));
    let (findings, log) = found(&lab(), &[]);
    assert!(findings.is_empty() && log.is_null());
}

#[test]
fn of_a_change_it_is_what_it_touches() {
    let lab = lab();
    let patch = "--- a/sound/puts.c\n+++ b/sound/puts.c\n@@ -5,5 +5,5 @@\n \n-int first(u32 __user *p, u32 a)\n+int first(u32 __user *p, u64 a)\n {\n \tif (put_user(a, p))\n \t\treturn -EFAULT;\n";
    fs::write(lab.path("patch"), patch).unwrap();
    let (findings, log) = found(&lab, &["--patch", "patch", "--compiler-log", "log"]);
    insta::assert_snapshot!(findings.join("\n"), @r"
    6 warning first: objtool says: call to f() with UACCESS enabled
    8 warning first: gcc says: comparison is always true [-Wtype-limits]
    ");
    assert_eq!(log, serde_json::json!({ "diagnostics": 7, "here": 2 }));
}

#[test]
fn a_comment_allows_it_and_a_wrong_log_is_refused() {
    let lab = lab();
    let allowed = PUTS.replace(
        "int first",
        "// tollgate: allow diagnostic it is known\nint first",
    );
    lab.edit("sound/puts.c", &allowed);
    fs::write(lab.path("log"), LOG.replace("puts.c:8:", "puts.c:9:")).unwrap();
    let (findings, _) = found(&lab, &["--compiler-log", "log", "--rule", "diagnostic"]);
    assert!(
        findings.iter().all(|line| !line.contains("first")),
        "{findings:?}"
    );
    for (arguments, sentence) in [
        (
            ["check", "tree", "--compiler-log", "nowhere"],
            "the log nowhere could not be read",
        ),
        (
            ["check", "-", "--compiler-log", "log"],
            "takes a tree or files, and no standard input",
        ),
        (
            ["check", "-", "--compiler-log", "-"],
            "cannot be the log and something else",
        ),
    ] {
        let output = run(&mut lab.tollgate(&arguments));
        assert_eq!(code(&output), 2);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(sentence), "{said}");
    }
}
