//! What a fix writes behaves as what it replaces: both are compiled against a
//! model of user access (behaviour/shim.h) and run on the same memory, with a
//! fault at every byte, misaligned, outside user space, with and without masks.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use tollgate_rewrite::{FixError, Request, Style, UACCESS, fix};
use tollgate_source::TreePath;

const SHIM: &str = include_str!("behaviour/shim.h");
const TYPES: &str = include_str!("behaviour/types.h");
const DRIVER: &str = include_str!("behaviour/driver.c");

/// A tree that offers every style.
const HEADER: &str = "\
/* The first access to user memory inside the scope has to be within a page. */
#define can_do_masked_user_access() 1
#define masked_user_access_begin(src) src
unsigned long copy_from_user(void *to, const void __user *from, unsigned long n);
unsigned long copy_to_user(void __user *to, const void *from, unsigned long n);
#define user_access_begin(ptr,len) access_ok(ptr, len)
#define user_write_access_begin user_access_begin
#define user_write_access_end user_access_end
#define user_read_access_begin user_access_begin
#define user_read_access_end user_access_end
#define unsafe_get_user(x, ptr, label) arch_unsafe_get_user(x, ptr, label)
#define scoped_user_read_access(usrc, elbl) scope(usrc, elbl)
#define scoped_user_write_access(udst, elbl) scope(udst, elbl)
#define scoped_user_rw_access(uptr, elbl) scope(uptr, elbl)
#define unsafe_copy_to_user(d, s, l, e) copy(d, s, l, e)
";

const MEMBERS: [&str; 7] = ["a", "b", "c", "in.x", "in.y", "d", "last"];

fn function(body: &str) -> String {
    format!(
        "#include <linux/uaccess.h>\n#include \"types.h\"\n\nint f(struct s __user *p, struct s *k, unsigned int n)\n{{\n{body}}}\n"
    )
}

/// A chain of accesses to all members.
fn chain(call: &str, exit: &str) -> String {
    let accesses = MEMBERS.map(|member| format!("{call}(k->{member}, &p->{member})"));
    format!("\tif ({})\n\t\t{exit}\n", accesses.join(" ||\n\t    "))
}

/// What is run, and what of it is compared.
#[derive(Clone, Copy)]
struct Kind {
    /// 1 if a copy of a structure reads, 2 if it writes.
    copies: u8,
    sizes: bool,
    shifts: bool,
    unaligned: bool,
    /// Whether accesses may stop at the first fault.
    stops: bool,
}

const PLAIN: Kind = Kind {
    copies: 0,
    sizes: false,
    shifts: true,
    unaligned: true,
    stops: false,
};

/// Compiles and runs the function before and after; how often both were run.
fn compared(name: &str, text: &str, style: Style, kind: Kind) -> u64 {
    try_compared(name, text, style, kind).unwrap()
}

/// The same, or why there is no fix.
fn try_compared(name: &str, text: &str, style: Style, kind: Kind) -> Result<u64, FixError> {
    let read = |path: &TreePath| match &*path.lossy() {
        UACCESS => Ok(HEADER.as_bytes().to_vec()),
        "f.c" => Ok(text.as_bytes().to_vec()),
        "types.h" => Ok(TYPES.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let request = Request {
        style,
        open_over_rounds: true,
        stop_at_first_fault: kind.stops,
        sizes: vec![1, 2, 4, 8, 16, 24],
        ..Request::default()
    };
    let patched = fix(&read, &"f.c:f".parse().unwrap(), &request)?;
    let after = String::from_utf8(patched.rewritten).unwrap();
    assert_ne!(text, after);
    let source = [
        SHIM,
        TYPES,
        &without_includes(text, "before"),
        &without_includes(&after, "after"),
        DRIVER,
    ];
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (file, program) = (
        folder.join(format!("{name}-{style}.c")),
        folder.join(format!("{name}-{style}")),
    );
    fs::write(&file, source.join("\n")).unwrap();
    let flag = |name: &str, value: u8| format!("-D{name}={value}");
    let gcc = Command::new("gcc")
        .args([
            "-O1",
            "-Wall",
            "-Werror",
            "-Wno-unused-function",
            "-fno-strict-aliasing",
            "-o",
        ])
        .args([&program, &file])
        .args([
            flag("COPIES", kind.copies),
            flag("SIZES", kind.sizes.into()),
            flag("SHIFTS", kind.shifts.into()),
            flag(
                "CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS",
                kind.unaligned.into(),
            ),
        ])
        .output()
        .unwrap();
    assert!(
        gcc.status.success(),
        "{}\n{after}",
        String::from_utf8_lossy(&gcc.stderr)
    );
    let run = Command::new(&program).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{name}, {style}: {said}\n{after}");
    Ok(String::from_utf8_lossy(&run.stdout).trim().parse().unwrap())
}

/// The text without its headers, which the model stands for.
fn without_includes(text: &str, name: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("#include"));
    let lines: Vec<String> = lines
        .map(|line| line.replace("int f(", &format!("int {name}(")))
        .collect();
    lines.join("\n") + "\n"
}

const CHECK: &str = "\tif (!access_ok(p, sizeof(*p)))\n\t\treturn -EINVAL;\n";

#[test]
fn a_window_in_place_of_a_check_does_what_its_accesses_did() {
    let kind = Kind {
        sizes: true,
        ..PLAIN
    };
    let mut refused = Vec::new();
    for (name, body) in checked_bodies().iter().chain(&first_bodies()) {
        let ran = compared(name, &function(body), Style::Window, kind);
        assert_eq!(ran, 2 * 41 * (8 * 49 + 1), "{name}");
        match try_compared(name, &function(body), Style::Scoped, kind) {
            Ok(ran) => assert_eq!(ran, 2 * 41 * (8 * 49 + 1), "{name}, scoped"),
            Err(error) => refused.push(format!("{name}: {error}")),
        }
    }
    insta::assert_snapshot!(refused.join("\n"));
}

/// One `access_ok()`, and behind it accesses among other statements.
fn checked_bodies() -> Vec<(&'static str, String)> {
    let check = CHECK;
    vec![
        (
            "check-arms",
            format!(
                "{check}\tif (__put_user(k->a, &p->a))\n\t\treturn -EFAULT;\n\tif (n & 1) {{\n\t\tif (__put_user(1, &p->b))\n\t\t\treturn -EFAULT;\n\t}} else {{\n\t\tif (__put_user(2, &p->b))\n\t\t\treturn -EFAULT;\n\t}}\n\tk->c++;\n\tif (__put_user(k->c, &p->c))\n\t\treturn -EFAULT;\n\treturn 0;\n"
            ),
        ),
        (
            "check-cases",
            format!(
                "\tu32 v = 7, w = 9;\n\n{check}\tswitch (n % 3) {{\n\tcase 2:\n\t\tif (__get_user(v, &p->a))\n\t\t\tgoto out;\n\t\tfallthrough;\n\tcase 1:\n\t\tif (__get_user(w, &p->b) ||\n\t\t    __get_user(v, &p->last))\n\t\t\tgoto out;\n\t}}\n\tk->b = v ^ w;\n\treturn 0;\n\nout:\n\tk->b = 5;\n\treturn -EIO;\n"
            ),
        ),
        (
            "check-label",
            format!(
                "\tint err = -EFAULT;\n\tu32 v;\n\n{check}\tif (__get_user(v, &p->a))\n\t\tgoto out;\n\tif (v & 1) {{\n\t\terr = 3;\n\t\tgoto out;\n\t}}\n\tif (__put_user(v, &p->b))\n\t\tgoto out;\n\terr = 0;\nout:\n\tk->d = 1;\n\treturn err;\n"
            ),
        ),
        (
            "check-back",
            format!(
                "\tint err;\n\n{check}\tif (__put_user(n, &p->a) || __put_user(k->b, &p->b))\n\t\tgoto bad;\n\tif (n & 1)\n\t\tif (__put_user(3, &p->c))\n\t\t\tgoto bad;\n\terr = 4;\ndone:\n\treturn err;\nbad:\n\tk->d = 6;\n\terr = -EIO;\n\tgoto done;\n"
            ),
        ),
        (
            "check-rounds",
            "\tu32 __user *u = (u32 __user *)p;\n\tu32 v;\n\n\tn = n > 9 ? 9 : n;\n\tif (!access_ok(u, n * sizeof(*u)))\n\t\treturn -EINVAL;\n\twhile (n > 1) {\n\t\tif (__get_user(v, u++))\n\t\t\treturn -EFAULT;\n\t\tif (v == 3)\n\t\t\tbreak;\n\t\tif (__put_user(v + n, u++))\n\t\t\treturn -EFAULT;\n\t\tn -= 2;\n\t}\n\tif (n)\n\t\tif (__put_user(n, u++))\n\t\t\treturn -EFAULT;\n\tk->a = n;\n\treturn 0;\n".to_owned(),
        ),
        (
            "check-moved",
            format!(
                "\tstruct s __user *q = p;\n\n{check}\tif (__put_user(1, &q->a) || __put_user(2, &q->b)) {{\n\t\tk->c = 4;\n\t\treturn -EFAULT;\n\t}}\n\tq = NULL;\n\treturn q ? 1 : 0;\n"
            ),
        ),
        (
            "check-twice",
            format!(
                "\tu32 v = 0;\n\n\tif (n & 1) {{\n\t{}\t\tif (__get_user(v, &p->a))\n\t\t\treturn -EFAULT;\n\t\tif (__get_user(v, &p->b))\n\t\t\treturn -EFAULT;\n\t}}\n{check}\tif (__put_user(v, &p->c))\n\t\treturn -EIO;\n\tif (__put_user(v, &p->last))\n\t\treturn -EIO;\n\treturn 0;\n",
                check.replace("\n\t\t", "\n\t\t\t")
            ),
        ),
    ]
}

/// The same with an access right behind the check, but for one.
fn first_bodies() -> Vec<(&'static str, String)> {
    let check = CHECK;
    vec![
        (
            "check-first",
            format!(
                "\tu32 v;\n\n{}\tif (__get_user(v, &p->a))\n\t\treturn -EINVAL;\n\tif (v > 4)\n\t\tv = 4;\n\tif (n & 1) {{\n\t\tif (__put_user(v, &p->b))\n\t\t\treturn -EINVAL;\n\t}}\n\tk->c = v;\n\treturn 0;\n",
                check
            ),
        ),
        // Without an access, a masked pointer would be no error.
        (
            "check-late",
            format!(
                "{check}\tif (n & 1) {{\n\t\tif (__put_user(1, &p->a))\n\t\t\treturn -EINVAL;\n\t\tif (__put_user(2, &p->b))\n\t\t\treturn -EINVAL;\n\t}}\n\treturn 0;\n"
            ),
        ),
        (
            "check-first-goto",
            "\tint err = -EFAULT;\n\n\tif (!access_ok(p, n))\n\t\tgoto out;\n\tif (__put_user(k->a, &p->a))\n\t\tgoto out;\n\tk->b++;\n\tif (__put_user(k->b, &p->last))\n\t\tgoto out;\n\terr = 0;\nout:\n\tk->d = 1;\n\treturn err;\n".to_owned(),
        ),
    ]
}

const WINDOWS: [Style; 3] = [Style::Window, Style::Masked, Style::Scoped];

#[test]
fn windows_do_what_the_chain_did() {
    let sequential: String = MEMBERS
        .map(|member| format!("\tif (put_user(k->{member}, &p->{member})) {{\n\t\tk->a = 7;\n\t\treturn -EIO;\n\t}}\n"))
        .concat();
    let both = "\tint err;\n\tu32 a, b;\n\n\tif (get_user(a, &p->a) || get_user(b, &p->b))\n\t\treturn -EFAULT;\n\terr = a % 5 == 0;\n\
        \tif (err)\n\t\treturn err;\n\tif (put_user(a + b, &p->in.x) || put_user(b, &p->last))\n\t\treturn -EFAULT;\n\n\treturn 0;\n";
    let jump =
        chain("put_user", "goto out;") + "\treturn 0;\n\nout:\n\tk->b = 1;\n\treturn -EFAULT;\n";
    let again = "\tfor (n = 0; n < 2; n++)\n\t\tif (put_user(n, &p->a) || put_user(n + 1, &p->b))\n\t\t\treturn p ? -EFAULT : 1;\n\treturn 0;\n";
    let bodies = [
        (
            "writes",
            chain("put_user", "return -EFAULT;") + "\treturn 0;\n",
        ),
        (
            "reads",
            chain("get_user", "return -EFAULT;") + "\treturn 0;\n",
        ),
        ("sequential", sequential + "\treturn 0;\n"),
        ("both", both.to_owned()),
        ("jump", jump),
        ("again", again.to_owned()),
    ];
    for (name, body) in bodies {
        for style in WINDOWS {
            let ran = compared(name, &function(&body), style, PLAIN);
            // Two kinds of architecture, eight alignments, and outside user space.
            assert_eq!(ran, 2 * (8 * 49 + 1), "{name}, {style}");
        }
    }
}

/// A variable that keeps the fault of accesses of which something asks later. Both write
/// the same, so that nobody sees whether the second one happened after a fault.
#[test]
fn what_is_asked_later_is_kept() {
    let bodies = [
        (
            "later-joined",
            "\tint err = 0;\n\n\terr |= put_user(k->a, &p->a);\n\terr |= put_user(k->a, &p->a);\n\tk->b += n;\n\tif (err)\n\t\treturn -EFAULT;\n\tk->d = 1;\n\treturn 0;\n",
        ),
        (
            "later-first",
            "\tint err = n & 1;\n\n\terr = put_user(k->c, &p->c);\n\terr |= put_user(k->c, &p->c);\n\tif (n & 2)\n\t\tk->b++;\n\treturn err;\n",
        ),
        (
            "later-arm",
            "\tint err = 0;\n\n\tif (n & 1) {\n\t\terr |= put_user(n, &p->in.x);\n\t\terr |= put_user(n, &p->in.x);\n\t} else\n\t\tk->b = 5;\n\tk->c++;\n\treturn err ? -EIO : 0;\n",
        ),
    ];
    let kind = Kind {
        sizes: true,
        stops: true,
        ..PLAIN
    };
    for (name, body) in bodies {
        let ran = compared(name, &function(body), Style::Window, kind);
        assert_eq!(ran, 2 * 41 * (8 * 49 + 1), "{name}");
    }
}

/// What a scope alone takes in: members in any order, conditions, ways out and copies.
#[test]
fn a_scope_does_what_stood_between_its_accesses() {
    let check = CHECK;
    let bodies = [
        ("scope-back", "\tif (put_user(k->c, &p->c) || put_user(k->a, &p->a) || put_user(k->last, &p->last))\n\t\treturn -EFAULT;\n\treturn 0;\n".to_owned()),
        ("scope-asked", "\tu32 v;\n\n\tif (n & 1) {\n\t\tif (get_user(v, &p->last))\n\t\t\tgoto out;\n\t\tif (v & 2)\n\t\t\treturn 7;\n\t\tk->b = v;\n\t}\n\tif (put_user(k->a, &p->a))\n\t\tgoto out;\n\tk->a++;\n\tif (n & 2) {\n\t\tif (put_user(k->b, &p->b))\n\t\t\tgoto out;\n\t}\n\tk->d = 1;\n\treturn 0;\nout:\n\tk->d = 2;\n\treturn -EFAULT;\n".to_owned()),
        ("scope-maybe", "\tu32 v;\n\n\tif (get_user(v, &p->b))\n\t\treturn -EFAULT;\n\tif (n > 3) {\n\t\tif (put_user(0, &p->a))\n\t\t\treturn -EFAULT;\n\t}\n\treturn v;\n".to_owned()),
        ("scope-copy", "\tif (put_user(k->a, &p->a) || copy_to_user((u8 __user *)&p->in, (u8 *)&k->in, sizeof(k->in)) || put_user(k->b, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n".to_owned()),
        ("scope-two", "\tu32 v, w;\n\tint err;\n\n\tif (get_user(v, &p->a) || get_user(w, &p->b))\n\t\treturn -EFAULT;\n\terr = v % 7 == 0;\n\tif (err)\n\t\treturn err;\n\tif (put_user(w, &p->last) || put_user(v, &p->d))\n\t\treturn -EFAULT;\n\treturn err;\n".to_owned()),
        ("check-back-far", format!("{}\tif (__put_user(k->c, &p->c))\n\t\treturn -EINVAL;\n\tif (__put_user(1, (u8 __user *)p + n % 24))\n\t\treturn -EINVAL;\n\treturn 0;\n", check)),
        ("check-copy", format!("{}\tif (__put_user(k->a, &p->a) || __copy_to_user((u8 __user *)&p->c, (u8 *)&k->c, n % 16) || __put_user(k->b, &p->b))\n\t\treturn -EINVAL;\n\treturn 0;\n", check)),
        ("check-near", "\tstruct inner __user *q;\n\n\tq = (struct inner __user *)((u8 __user *)p + 8);\n\tif (!access_ok(p, 24))\n\t\treturn -EFAULT;\n\tif (__put_user(k->a, &p->a) || __put_user(k->b, &q->y) || __put_user(5, &q->x))\n\t\treturn -EFAULT;\n\treturn 0;\n".to_owned()),
    ];
    let kind = Kind {
        sizes: true,
        ..PLAIN
    };
    let mut refused = Vec::new();
    for (name, body) in &bodies {
        match try_compared(name, &function(body), Style::Scoped, kind) {
            Ok(ran) => assert_eq!(ran, 2 * 41 * (8 * 49 + 1), "{name}"),
            Err(error) => refused.push(format!("{name}: {error}")),
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// Forms of which some have no shape in a style: that is a refusal then.
#[test]
fn other_forms_do_what_they_did_or_are_refused() {
    let checked = "if (!access_ok(p, sizeof(*p)) ||\n\t    __put_user(k->a, &p->a) ||\n\t    __put_user(k->b, &p->b))\n\t\treturn -EFAULT;\n";
    let relied =
        format!("\t{checked}\tif (n < 9)\n\t\treturn __put_user(k->c, &p->c);\n\treturn 0;\n");
    let chosen = "\treturn (!access_ok(p, sizeof(*p)) || __get_user(k->a, &p->a) || __get_user(k->b, &p->b)) ? -EFAULT : 0;\n";
    let hanging = "\tint err;\n\n\terr = put_user(1, &p->a);\n\tif (!err)\n\t\terr = put_user(2, &p->b);\n\tif (!err)\n\t\tk->c = 9;\n\treturn err;\n";
    let joined = "\tu32 a, b;\n\tint err;\n\n\terr = get_user(a, &p->a);\n\terr |= get_user(b, &p->b);\n\tif (err)\n\t\treturn -EFAULT;\n\
        \tk->a = a + b;\n\treturn 0;\n";
    let assigned = "\tint err;\n\n\terr = put_user(1, &p->a);\n\tif (err)\n\t\tgoto out;\n\terr = put_user(2, &p->b);\n\tif (err)\n\t\tgoto out;\n\
        \tk->a = 3;\nout:\n\tk->b = 4;\n\treturn err;\n";
    let nested = "\tint err = k->a & 1;\n\n\tif (!err) {\n\t\tif (put_user(1, &p->a) ||\n\t\t    put_user(2, &p->b))\n\t\t\terr = -EFAULT;\n\t}\n\n\treturn err;\n";
    let broken = "\tint err = 0;\n\n\twhile (n < 3) {\n\t\terr = -EFAULT;\n\t\tif (put_user(n, &p->a) || put_user(n, &p->b))\n\t\t\tbreak;\n\t\terr = 0;\n\t\tn++;\n\t}\n\treturn err;\n";
    let kept = "\tif (k->a == 5 || put_user(1, &p->a) || put_user(2, &p->b) || k->b == 6)\n\t\treturn -EFAULT;\n\treturn 0;\n";
    let twice = "\tint err = 1;\n\n\tk->d = err;\n\tif (k->a)\n\t\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\t\treturn -EFAULT;\n\tk->a = 8;\n\
        \tif (k->b)\n\t\tif (put_user(3, &p->a) || put_user(4, &p->b))\n\t\t\treturn -EFAULT;\n\treturn 0;\n";
    let before = "\tu32 a, b;\n\tint err;\n\n\terr = k->a & 1;\n\terr |= get_user(a, &p->a);\n\terr |= get_user(b, &p->b);\n\tif (err)\n\t\treturn err;\n\treturn a ^ b;\n";
    let tested = "\tu32 a, b;\n\tint err;\n\n\terr = k->a & 1;\n\tif (err)\n\t\treturn err;\n\terr |= get_user(a, &p->a);\n\terr |= get_user(b, &p->b);\n\tif (err)\n\t\treturn err;\n\treturn a ^ b;\n";
    let early = "\tu32 a, b;\n\tint ret = 7;\n\n\tk->c = ret;\n\tret = get_user(a, &p->a);\n\tif (ret)\n\t\treturn ret;\n\tif (a & 1)\n\t\tgoto out;\n\
        \tret = get_user(b, &p->b);\n\tif (ret)\n\t\treturn ret;\n\tk->d = a + b;\nout:\n\treturn ret;\n";
    let initial = "\tint ret = 0;\n\n\tk->c = 1;\n\tif (n > 9)\n\t\treturn 4;\n\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\tret = -EFAULT;\n\tk->d = 2;\n\treturn ret;\n";
    let filled = initial.replace(
        "\tk->c = 1;\n",
        "\tif (get_user(ret, &p->c))\n\t\treturn -EFAULT;\n\tk->c = 1;\n",
    );
    let read = tested.replace(
        "\terr = k->a & 1;\n\tif (err)\n\t\treturn err;\n",
        "\terr = 0;\n\tif (get_user(err, &p->last))\n\t\treturn -EFAULT;\n\tk->d = 5;\n",
    );
    let going = "\tint bad = 0;\n\n\tfor (n = 0; n < 3; n++) {\n\t\tif (put_user(n, &p->a) || put_user(n, &p->b)) {\n\t\t\tbad++;\n\t\t\tcontinue;\n\t\t}\n\t\tk->c++;\n\t}\n\treturn bad;\n";
    let asked = "\tif (!access_ok(p, sizeof(*p)))\n\t\treturn -EFAULT;\n\tif (__put_user(k->a, &p->a) || __put_user(k->b, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n";
    let bodies = [
        ("before", before.to_owned()),
        ("tested", tested.to_owned()),
        ("early", early.to_owned()),
        ("initial", initial.to_owned()),
        ("filled", filled),
        ("read", read),
        ("going", going.to_owned()),
        ("asked", asked.to_owned()),
        ("checked", format!("\t{checked}\treturn 0;\n")),
        ("relied", relied),
        ("chosen", chosen.to_owned()),
        ("hanging", hanging.to_owned()),
        ("joined", joined.to_owned()),
        ("assigned", assigned.to_owned()),
        ("nested", nested.to_owned()),
        ("broken", broken.to_owned()),
        ("kept", kept.to_owned()),
        ("twice", twice.to_owned()),
    ];
    let mut refused = Vec::new();
    for (name, body) in &bodies {
        for style in WINDOWS {
            match try_compared(name, &function(body), style, PLAIN) {
                Ok(ran) => assert_eq!(ran, 2 * (8 * 49 + 1), "{name}, {style}"),
                Err(error) => refused.push(format!("{name}, {style}: {error}")),
            }
        }
    }
    insta::assert_snapshot!(refused.join("\n"));
}

/// A read that hangs on a condition zeroes its variable only where the condition
/// holds: elsewhere the variable keeps its value, and a NULL that the condition
/// asks for stays unwritten.
#[test]
fn a_read_under_a_condition_leaves_its_variable_alone_if_it_does_not_hold() {
    let asked = |condition: &str, value: &str| {
        format!(
            "\tu32 *u = n ? &k->b : NULL;\n\n\tif (get_user(k->a, &p->a))\n\t\treturn -EFAULT;\n\
            \tif ({condition} && get_user({value}, &p->b))\n\t\treturn -EFAULT;\n\
            \tif (get_user(k->last, &p->last))\n\t\treturn -EFAULT;\n\treturn 0;\n"
        )
    };
    let before = |condition: &str, value: &str| {
        format!(
            "\tu32 *u = n ? &k->b : NULL;\n\n\tif ({condition} || get_user({value}, &p->a) ||\n\t    get_user(k->last, &p->b))\n\
            \t\treturn -EFAULT;\n\treturn 0;\n"
        )
    };
    let bodies = [
        ("asked-null", asked("u", "*u")),
        ("asked-field", asked("(u || k->d == 1)", "k->b")),
        ("before-null", before("!u", "*u")),
        ("before-field", before("(!u && k->d != 1)", "k->b")),
    ];
    for (name, body) in bodies {
        for style in WINDOWS {
            let ran = try_compared(name, &function(&body), style, PLAIN);
            let woven = style != Style::Window && name.starts_with("asked");
            match ran {
                Ok(ran) => assert_eq!(ran, 2 * (8 * 49 + 1), "{name}, {style}"),
                Err(error) => assert!(woven, "{name}, {style}: {error}"),
            }
        }
    }
}

#[test]
fn copies_do_what_the_chain_did() {
    for (name, call, copies) in [("copy-in", "get_user", 1), ("copy-out", "put_user", 2)] {
        let body = chain(call, "return -EFAULT;") + "\treturn 0;\n";
        let kind = Kind {
            copies,
            shifts: false,
            ..PLAIN
        };
        let ran = compared(name, &function(&body), Style::StructCopy, kind);
        assert_eq!(ran, 2 * (49 + 1), "{name}");
    }
}

#[test]
fn a_size_switch_does_what_the_copy_did() {
    let body = "\tunsigned long rest = copy_from_user(k, p, n);\n\n\tif (rest)\n\t\treturn rest;\n\treturn -(int)copy_to_user(p, k, n / 2);\n";
    for (name, unaligned) in [("switch", true), ("switch-aligned", false)] {
        let kind = Kind {
            sizes: true,
            unaligned,
            ..PLAIN
        };
        let ran = compared(name, &function(body), Style::SizeSwitch, kind);
        assert_eq!(ran, 2 * 41 * (8 * 49 + 1), "{name}");
    }
    let out = "\treturn copy_to_user(p, (const char *)k + 1, n);\n";
    compared(
        "switch-out",
        &function(out),
        Style::SizeSwitch,
        Kind {
            sizes: true,
            ..PLAIN
        },
    );
}

/// A round of one access, in the forms that loops of the kernel have.
#[test]
fn a_window_around_a_loop_does_what_the_rounds_did() {
    let own = "\tu32 __user *u = (u32 __user *)p;\n\tunsigned int i;\n";
    let many = "\tstruct many __user *m = (struct many __user *)p;\n\tint i;\n";
    let bodies = [
        (
            "loop-writes",
            format!("{own}\n\tfor (i = 0; i < 8; i++)\n\t\tif (put_user(k->a + i, &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n"),
        ),
        (
            "loop-reads",
            format!("{own}\tu32 v, sum = 0;\n\n\tfor (i = 1; i <= 7; ++i) {{\n\t\tif (get_user(v, u + i))\n\t\t\treturn -EFAULT;\n\t\tsum += v;\n\t}}\n\tk->b = sum;\n\treturn 0;\n"),
        ),
        (
            "loop-moves",
            format!("{own}\n\tfor (i = 0; i < 6; i++) {{\n\t\tif (put_user(i, u))\n\t\t\tgoto out;\n\t\tu++;\n\t}}\n\tk->a = 3;\n\treturn 0;\n\nout:\n\tk->b = 4;\n\treturn -EFAULT;\n"),
        ),
        (
            "loop-steps",
            format!("{own}\tint err;\n\n\tfor (i = 0; i < 6; i++) {{\n\t\terr = put_user(i, u++);\n\t\tif (err)\n\t\t\treturn err;\n\t}}\n\treturn u != (u32 __user *)p + 6;\n"),
        ),
        (
            "loop-member",
            format!("{many}\n\tfor (i = 0; i < ARRAY_SIZE(m->all); i++)\n\t\tif (put_user(i, m->all + i))\n\t\t\treturn -EIO;\n\treturn 0;\n"),
        ),
        (
            "loop-breaks",
            format!("{own}\tint err = 0;\n\n\tfor (i = 0; i < 5; i++) {{\n\t\terr = put_user(i, &u[i]);\n\t\tif (err)\n\t\t\tbreak;\n\t}}\n\tk->b = 9;\n\treturn err;\n"),
        ),
        (
            "loop-counted",
            format!("{own}\n\tif (n > 9)\n\t\treturn -EINVAL;\n\tfor (i = 0; i < n; i++)\n\t\tif (put_user(k->a + i, &u[i]))\n\t\t\treturn -EFAULT;\n\tk->a = 1;\n\treturn 0;\n"),
        ),
        (
            "loop-some",
            format!("{own}\n\tif (!n || n > 9)\n\t\treturn -EINVAL;\n\tfor (i = 0; i < n; i++) {{\n\t\tu32 v;\n\n\t\tif (get_user(v, u++))\n\t\t\treturn -EFAULT;\n\t\tk->a ^= v;\n\t}}\n\treturn 0;\n"),
        ),
        (
            "loop-signed",
            format!("{own}\tint most = n - 3;\n\tint j;\n\n\tif (most > 9)\n\t\treturn -EINVAL;\n\tfor (j = 0; j < most; j++)\n\t\tif (put_user(7, u + j))\n\t\t\treturn -EFAULT;\n\tfor (i = 0; i < 2; i++)\n\t\tif (put_user(8, u + i))\n\t\t\treturn -EFAULT;\n\treturn 0;\n"),
        ),
        (
            "loop-bytes",
            "\tunsigned long at = (unsigned long)p;\n\tint i;\n\n\tfor (i = 0; i < sizeof(struct inner); i++)\n\t\tif (put_user(0, (char __user *)(at + i)))\n\t\t\treturn -EFAULT;\n\treturn 0;\n".to_owned(),
        ),
        (
            "loop-twice",
            format!("{own}\tint j;\n\n\tfor (j = 0; j < 2; j++)\n\t\tfor (i = 0; i < 4; i++)\n\t\t\tif (put_user(k->a + i + j, &u[i]))\n\t\t\t\treturn -EFAULT;\n\treturn 0;\n"),
        ),
    ];
    let kind = Kind {
        sizes: true,
        ..PLAIN
    };
    let mut refused = Vec::new();
    for (name, body) in &bodies {
        for style in WINDOWS {
            match try_compared(name, &function(body), style, kind) {
                Ok(ran) => assert_eq!(ran, 2 * 41 * (8 * 49 + 1), "{name}, {style}"),
                Err(error) => refused.push(format!("{name}, {style}: {error}")),
            }
        }
    }
    insta::assert_snapshot!(refused.join("\n"));
}
