//! `--format` and `--json` mean the same in every command, and what is asked for in
//! another form than tollgate writes itself is taken.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the lab's own tests use the rest of it")]
mod support;

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use support::{Lab, code, run};

const FUNCTION: &str = "\
#include <linux/uaccess.h>
int f(struct s __user *p)
{
\tif (__put_user(1, &p->a) || __put_user(2, &p->b))
\t\treturn -EFAULT;
\treturn 0;
}
";

const WINDOW: &str = "
int g(struct s __user *p)
{
\tif (!user_write_access_begin(p, 8))
\t\treturn -EFAULT;
\tunsafe_put_user(1, &p->a, out);
\tunsafe_put_user(2, &p->b, out);
\tuser_write_access_end();
\treturn 0;
out:
\tuser_write_access_end();
\treturn -EFAULT;
}

int h(int a)
{
\treturn a;
}

int c(void __user *u, struct s *k)
{
\treturn copy_to_user(u, k, sizeof(*k)) ? -EFAULT : 0;
}
";

fn lab() -> Lab {
    let lab = Lab::new();
    lab.edit("kernel/two.c", &format!("{FUNCTION}{WINDOW}"));
    lab
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn json_goes_to_a_file_beside_the_text_in_every_command() {
    let lab = lab();
    let commands: [&[&str]; 3] = [&["cases"], &["scan", "tree"], &["check", "tree", "--fresh"]];
    for command in commands {
        let plain = run(&mut lab.tollgate(command));
        let json = run(lab.tollgate(command).args(["--format", "json"]));
        let both = run(lab.tollgate(command).args(["--json", "out.json"]));
        assert_eq!(text(&both.stdout), text(&plain.stdout), "{command:?}");
        let file = fs::read_to_string(lab.path("out.json")).unwrap();
        assert_eq!(file, text(&json.stdout), "{command:?}");
        let swapped = run(lab.tollgate(command).args(["--json", "-"]));
        assert_eq!(text(&swapped.stdout), text(&json.stdout), "{command:?}");
        assert_eq!(text(&swapped.stderr).trim(), text(&plain.stdout).trim());
        assert_eq!(code(&swapped), code(&plain));
        let twice = run(lab
            .tollgate(command)
            .args(["--format", "json", "--json", "-"]));
        assert_eq!(code(&twice), 2);
        assert!(text(&twice.stderr).contains("standard output has room for one"));
    }
}

#[test]
fn no_json_is_written_into_what_is_read() {
    let lab = lab();
    for command in ["scan", "check"] {
        let said = run(&mut lab.tollgate(&[command, "tree", "--json", "tree/kernel/two.c"]));
        assert_eq!(code(&said), 2, "{}", text(&said.stderr));
        let now = fs::read_to_string(lab.tree().join("kernel/two.c")).unwrap();
        assert!(now.starts_with(FUNCTION));
    }
    let said =
        run(&mut lab.tollgate(&["check", "tree/kernel/two.c", "--json", "tree/kernel/two.c"]));
    assert_eq!(code(&said), 2, "{}", text(&said.stderr));
}

#[test]
fn an_architecture_that_is_none_is_answered_with_those_there_are() {
    let lab = lab();
    for name in ["with", "without"] {
        fs::create_dir_all(lab.tree().join(format!("arch/{name}/include/asm"))).unwrap();
    }
    let said = run(&mut lab.tollgate(&["scan", "tree", "--arch", "foo"]));
    assert_eq!(code(&said), 2);
    let said = text(&said.stderr);
    assert!(
        said.contains("no architecture foo; it has ") && said.contains("with, without"),
        "{said}"
    );
}

#[test]
fn the_first_lines_and_how_many_more() {
    let lab = lab();
    lab.edit("kernel/three.c", FUNCTION);
    for format in ["text", "source"] {
        let arguments = ["scan", "tree", "--top", "1", "--format", format];
        let shown = text(&run(&mut lab.tollgate(&arguments)).stdout);
        assert!(shown.contains("and 2 more (--top 1)\n"), "{shown}");
        assert!(
            shown.contains("eventpoll.h") && !shown.contains("two.c"),
            "{shown}"
        );
    }
}

#[test]
fn a_function_with_its_window_has_nothing_to_fix() {
    let lab = lab();
    for (function, words) in [
        (
            "g",
            "kernel/two.c:9: g has its window already: user_write_access_begin() in line 11; there is nothing to fix",
        ),
        (
            "h",
            "kernel/two.c:22: h has no user access that tollgate knows",
        ),
        (
            "c",
            "kernel/two.c:27: c has no access of a single value, only copies: copy_to_user() in line 29; of copies there is a \
             form only where the size is known at run time (--style size-switch)",
        ),
    ] {
        let target = format!("kernel/two.c:{function}");
        let said = run(&mut lab.tollgate(&["fix", "tree", &target]));
        assert_eq!(code(&said), 2);
        assert!(text(&said.stderr).contains(words), "{}", text(&said.stderr));
    }
}

#[test]
fn a_second_series_does_not_mix_with_the_first() {
    let lab = lab();
    lab.edit("kernel/three.c", &FUNCTION.replace("int f(", "int k("));
    let write = |target: &str| run(&mut lab.tollgate(&["fix", "tree", target, "--output", "out"]));
    let first = write("kernel/two.c:f");
    assert_eq!(code(&first), 0, "{}", text(&first.stderr));
    // The same again changes nothing.
    assert_eq!(code(&write("kernel/two.c:f")), 0);
    fs::write(lab.path("out/notes"), "mine").unwrap();
    let before = fs::read_dir(lab.path("out")).unwrap().count();
    let second = write("kernel/three.c:k");
    assert_eq!(code(&second), 2);
    assert!(
        text(&second.stderr).contains("holds another series"),
        "{}",
        text(&second.stderr)
    );
    assert_eq!(fs::read_dir(lab.path("out")).unwrap().count(), before);
}

#[test]
fn a_series_leaves_out_what_a_scan_leaves_out() {
    let lab = lab();
    let window = "#define user_access_begin(ptr, len) access_ok(ptr, len)\n";
    for (name, header) in [("with", window), ("without", "#define access_ok(p, n) 1\n")] {
        fs::create_dir_all(lab.tree().join(format!("arch/{name}/include/asm"))).unwrap();
        lab.edit(&format!("arch/{name}/include/asm/uaccess.h"), header);
        lab.edit(&format!("arch/{name}/a.c"), FUNCTION);
    }
    let output = run(&mut lab.tollgate(&["fix", "tree", "--output", "out"]));
    let (shown, noted) = (text(&output.stdout), text(&output.stderr));
    assert!(
        shown.contains("arch/with/a.c") && !shown.contains("arch/without/a.c"),
        "{shown}"
    );
    assert!(
        noted.contains("left out: 1 functions of architectures"),
        "{noted}"
    );
}

/// A mail with a patch that adds a line with that comment to a file.
fn mail(tag: &str, subject: &str, comment: &str) -> String {
    format!(
        "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
         From: A <a@example.com>\nDate: Mon, 1 Jan 2024 00:00:00 +0000\nSubject: [{tag}] {subject}\n\n\
         Words.\n---\n kernel/two.c | 1 +\n\ndiff --git a/kernel/two.c b/kernel/two.c\n\
         --- a/kernel/two.c\n+++ b/kernel/two.c\n@@ -1,2 +1,3 @@\n #include <linux/uaccess.h>\n\
         +/* {comment} */\n int f(struct s __user *p)\n-- \n2.1\n\n"
    )
}

#[test]
fn of_a_thread_with_two_versions_the_newest_is_checked() {
    let lab = lab();
    let thread =
        mail("PATCH", "a: first words", "one") + &mail("PATCH v2", "a: first words", "two");
    fs::write(lab.path("thread.mbox"), &thread).unwrap();
    let said = run(&mut lab.tollgate(&["check", "tree", "--patch", "thread.mbox"]));
    let noted = text(&said.stderr);
    assert_eq!(code(&said), 0, "{noted}");
    assert!(
        noted.contains("left out as older: [PATCH] a: first words"),
        "{noted}"
    );
    let plain = text(&said.stdout);
    // A list's archive packs it.
    let mut gzip = Command::new("gzip")
        .arg("-c")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    gzip.stdin
        .take()
        .unwrap()
        .write_all(thread.as_bytes())
        .unwrap();
    let packed = gzip.wait_with_output().unwrap().stdout;
    fs::write(lab.path("thread.mbox.gz"), packed).unwrap();
    let packed = run(&mut lab.tollgate(&["check", "tree", "--patch", "thread.mbox.gz"]));
    assert_eq!(text(&packed.stdout), plain);
    assert_eq!(text(&packed.stderr), noted);
}

#[test]
fn notes_are_as_wide_as_columns_says() {
    let lab = lab();
    fs::write(
        lab.path("open.c"),
        "int f(int __user *p)\n{\n\tif (!user_access_begin(p, 4))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n",
    )
    .unwrap();
    let longest = |columns: Option<&str>| {
        let mut command = lab.tollgate(&["check", "open.c"]);
        columns.map(|columns| command.env("COLUMNS", columns));
        let said = text(&run(&mut command).stdout);
        let notes = said.split("= note: ").nth(1).unwrap();
        let mut lines: Vec<&str> = notes.lines().take_while(|line| !line.is_empty()).collect();
        assert!(said.contains(lines.remove(0)));
        lines.retain(|line| line.starts_with("          "));
        lines.iter().map(|line| line.chars().count()).max()
    };
    let [narrow, usual, wide] = [Some("50"), None, Some("100")].map(longest);
    assert!(narrow.is_some_and(|most| most <= 50), "{narrow:?}");
    assert!(
        usual.is_some_and(|most| (51..=80).contains(&most)),
        "{usual:?}"
    );
    assert!(
        wide.is_some_and(|most| (81..=100).contains(&most)),
        "{wide:?}"
    );
    assert_eq!(longest(Some("wide")), usual);
}

#[test]
fn a_list_may_end_its_names_with_nul() {
    let lab = lab();
    let mut scan = lab.tollgate(&["scan", "tree", "-", "-z"]);
    let mut child = scan
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let names = b"kernel/two.c\0none\nat all.c\0";
    child.stdin.take().unwrap().write_all(names).unwrap();
    let said = child.wait_with_output().unwrap();
    let said = text(&said.stdout);
    assert!(said.contains("1 file read"), "{said}");
}
