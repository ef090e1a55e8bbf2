//! A begin in place of an `access_ok()` statement: the window stays open up to the
//! last access that relies on the check, over whatever may happen in it.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use std::io;

use tollgate_rewrite::{FixError, Request, UACCESS, fix};
use tollgate_source::TreePath;

#[path = "fixing/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod fixing;

use fixing::{HEADER, file, fix_in};

const CHECK: &str = "\tif (!access_ok(p, sizeof(*p)))\n\t\treturn -EINVAL;\n";

const FIRST: &str = "\tif (__put_user(1, &p->a))\n\t\treturn -EFAULT;\n";

const LAST: &str = "\tif (__put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n";

fn request(open_over_rounds: bool) -> Request {
    Request {
        open_over_rounds,
        ..Request::default()
    }
}

/// The function with the check, two accesses and what stands between those.
fn between(middle: &str) -> String {
    file(&[CHECK, FIRST, middle, LAST].concat())
}

/// What comes of it: the function's text, or why it is refused.
fn written(text: &str, request: &Request) -> String {
    match fix_in(text, "f", request) {
        Ok(patched) => {
            let text = String::from_utf8(patched.rewritten).unwrap();
            let body = text.split_once("int f(").unwrap().1;
            let refused = patched
                .refused
                .iter()
                .map(|own| format!("refused: {}\n", own.reason));
            format!(
                "{}{}",
                body.split_once('\n').unwrap().1,
                refused.collect::<String>()
            )
        }
        Err(error) => format!("{error}\n"),
    }
}

/// Whether one window has both accesses.
fn is_one(middle: &str) -> bool {
    let text = written(&between(middle), &request(true));
    text.matches("_access_begin").count() == 1 && !text.contains("__put_user")
}

#[test]
fn a_begin_takes_the_place_of_the_check() {
    let arms =
        "\tif (c) {\n\t\tif (__put_user(3, &p->c))\n\t\t\treturn -EFAULT;\n\t}\n\tk->a = c;\n";
    let rounds = "\twhile (c-- > 0) {\n\t\tif (__put_user(c, &p->c))\n\t\t\treturn -EFAULT;\n\t}\n";
    let out = file(&format!(
        "\tint err = -EFAULT;\n\n{CHECK}\tif (__put_user(1, &p->a))\n\t\tgoto out;\n\tif (c) {{\n\t\terr = 1;\n\t\tgoto out;\n\t}}\n\
         \tif (__put_user(2, &p->b))\n\t\tgoto out;\n\terr = 0;\nout:\n\treturn err;\n"
    ));
    let copy = between("\tif (__copy_to_user(p->name, k->name, c))\n\t\treturn -EFAULT;\n");
    let all = [
        ("arms", written(&between(arms), &request(false))),
        (
            "rounds, not allowed",
            written(&between(rounds), &request(false)),
        ),
        ("rounds", written(&between(rounds), &request(true))),
        ("a label", written(&out, &request(false))),
        (
            "a copy that the tree has no unsafe form of",
            written(&copy, &request(false)),
        ),
    ];
    let all = all.map(|(name, text)| format!("== {name}\n{text}"));
    insta::assert_snapshot!(all.concat());
}

#[test]
fn what_may_happen_in_a_window_stays_in_it() {
    for middle in [
        "",
        "\tk->a += c;\n",
        "\tswitch (c) {\n\tcase 1:\n\t\tk->a = 1;\n\t\tbreak;\n\tdefault:\n\t\tk->a = 2;\n\t}\n",
        "\t{\n\t\tint own = c;\n\n\t\tk->a = own;\n\t}\n",
    ] {
        assert!(is_one(middle), "{middle}");
    }
}

/// Each of these would be wrong in one window.
#[test]
fn what_may_not_happen_in_a_window_ends_it() {
    for middle in [
        "\twork(k);\n",
        "\tk->op(k);\n",
        "\tif (c)\n\t\tgoto last;\nlast:\n",
        "#ifdef CONFIG_A\n\tk->a = 1;\n#endif\n",
        "\tif (__put_user(3, &p->c))\n\t\treturn -EIO;\n",
        "\tif (__put_user(3, &k->user->c))\n\t\treturn -EFAULT;\n",
        "\tif (__put_user(next(k), &p->c))\n\t\treturn -EFAULT;\n",
        "\t*k = *(k + 1);\n",
    ] {
        assert!(!is_one(middle), "{middle}");
    }
}

/// A jump out of the window that is no fault's goes past the end of it.
#[test]
fn a_jump_past_the_end_is_refused() {
    let leave = "\tif (__put_user(1, &p->a))\n\t\tgoto bad;\n\tif (c)\n\t\tgoto bad;\n\tif (__put_user(2, &p->b))\n\t\tgoto bad;\n\treturn 0;\n\nbad:\n\treturn -EFAULT;\n";
    let text = written(&file(&format!("{CHECK}{leave}")), &request(true));
    assert!(
        text.contains("\t\tuser_write_access_end();\n\t\tgoto bad;"),
        "{text}"
    );
    let under = leave.replace(
        "\tif (c)\n\t\tgoto bad;\n",
        "\twhile (k->a--)\n\t\tif (c)\n\t\t\tgoto bad;\n",
    );
    let text = written(&file(&format!("{CHECK}{under}")), &request(true));
    assert!(!text.contains("_access_begin"), "{text}");
    // Behind the label the window would be closed twice.
    let more = "\tint err = 0;\n\n\tif (!access_ok(p, sizeof(*p)))\n\t\treturn -EINVAL;\n\tif (__put_user(1, &p->a)) {\n\t\terr = -EFAULT;\n\t\tgoto out;\n\t}\n\
                \tif (__put_user(2, &p->b)) {\n\t\terr = -EFAULT;\n\t\tgoto out;\n\t}\nout:\n\treturn err;\n";
    let text = written(&file(more), &request(true));
    assert!(
        text.contains("\tuser_write_access_end();\n\nout:"),
        "{text}"
    );
    // Others come to the label without a window.
    let other = "\tint err = -EFAULT;\n\n\tif (c)\n\t\tgoto out;\n\tif (!access_ok(p, sizeof(*p)))\n\t\treturn -EINVAL;\n\tif (__put_user(1, &p->a))\n\t\tgoto out;\n\
                 \tif (__put_user(2, &p->b))\n\t\tgoto out;\n\terr = 0;\nout:\n\treturn err;\n";
    let text = written(&file(other), &request(true));
    assert!(!text.contains("out:\n\tuser_write_access_end"), "{text}");
}

const BACK: &str = "\tint err;\n\n\tif (c > 9)\n\t\treturn 1;\n\tif (!access_ok(p, sizeof(*p)))\n\t\treturn -EINVAL;\n\tif (__put_user(1, &p->a) || __put_user(2, &p->b))\n\t\tgoto bad;\n\
                    \terr = 0;\ndone:\n\treturn err;\nbad:\n\terr = -EFAULT;\n\tgoto done;\n";

/// `done: end; return err; bad: err = -EFAULT; goto done;`
#[test]
fn a_fault_that_comes_back_has_the_end_of_success() {
    let text = written(&file(BACK), &request(false));
    assert_eq!(text.matches("_access_end").count(), 1, "{text}");
    let end = "\terr = 0;\ndone:\n\tuser_write_access_end();\n\treturn err;\nbad:\n\terr = -EFAULT;\n\tgoto done;";
    assert!(text.contains(end), "{text}");
    assert!(text.contains("unsafe_put_user(2, &p->b, bad);"), "{text}");
}

/// The way back stays open only where nothing else takes it, and nothing on it would be
/// wrong in a window.
#[test]
fn a_way_back_that_is_not_the_faults_alone_is_closed_before() {
    for (from, to) in [
        ("\t\treturn 1;\n", "\t\tgoto bad;\n"),
        (
            "\t\treturn 1;\n",
            "\t{\n\t\terr = 1;\n\t\tgoto done;\n\t}\n",
        ),
        ("\t\treturn 1;\n", "\t\tunsafe_put_user(1, &p->c, bad);\n"),
        ("\t\treturn 1;\n", "\t\tk->way = &&done;\n"),
        ("\terr = -EFAULT;\n", "\terr = work(k);\n"),
        ("\terr = 0;\n", "\terr = work(k);\n"),
    ] {
        let text = written(&file(&BACK.replacen(from, to, 1)), &request(false));
        let open = text.contains("done:\n\tuser_write_access_end();");
        assert!(!open, "{to}:\n{text}");
    }
}

/// What checks its own range may reach beyond what was checked before.
#[test]
fn the_range_is_that_of_what_relies_on_it() {
    let own = "\tif (!access_ok(p, 4))\n\t\treturn -EINVAL;\n\tif (put_user(1, &p->a))\n\t\treturn -EFAULT;\n\tif (put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n";
    let text = written(&file(own), &request(false));
    assert!(
        text.contains("user_write_access_begin(p, sizeof(*p))"),
        "{text}"
    );
    let relying = own.replace("put_user", "__put_user");
    let text = written(&file(&relying), &request(false));
    assert!(text.contains("user_write_access_begin(p, 4)"), "{text}");
}

/// A copy comes into the window where the tree has an unsafe one.
#[test]
fn a_copy_stands_beside_values() {
    let copy = between("\tif (__copy_to_user(p->name, k->name, c + 1))\n\t\treturn -EFAULT;\n");
    let header = format!("{HEADER}#define unsafe_copy_to_user(d, s, l, e) copy(d, s, l, e)\n");
    let tree = |path: &TreePath| match &*path.lossy() {
        UACCESS => Ok(header.as_bytes().to_vec()),
        "f.c" => Ok(copy.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let patched = fix(&tree, &"f.c:f".parse().unwrap(), &request(false)).unwrap();
    insta::assert_snapshot!(format!(
        "{}\n{}",
        patched.body,
        String::from_utf8(patched.rewritten).unwrap()
    ));
}

/// The message says what the window stays open for, and what a copy in it spares.
#[test]
fn the_message_says_how_long_it_is_open() {
    let rounds = "\twhile (c-- > 0) {\n\t\tif (__put_user(c, &p->c))\n\t\t\treturn -EFAULT;\n\t}\n";
    let patched = fix_in(&between(rounds), "f", &request(true)).unwrap();
    insta::assert_snapshot!(patched.body);
}

/// What others may look at is made zero, or left as it was where that is asked for and
/// said; what the function itself looks at is made zero.
#[test]
fn what_a_read_fills_keeps_what_it_held_if_that_is_asked_for() {
    let allowed = Request {
        no_zero_on_fault: true,
        ..Request::default()
    };
    let reads =
        "\tif (get_user(k->a, &p->a) || get_user(k->b, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n";
    let own = "\tint v;\n\n\tif (get_user(k->a, &p->a) || get_user(v, &p->b))\n\t\treturn v;\n\treturn 0;\n";
    let relying = format!("{CHECK}{}", reads.replace("get_user", "__get_user"));
    for (body, zeroes, left) in [(reads, 2, 0), (own, 2, 1), (&relying, 2, 0)] {
        let text = file(body);
        let plain = written(&text, &request(false));
        assert_eq!(plain.matches(" = 0;\n").count(), zeroes, "{plain}");
        let kept = written(&text, &allowed);
        assert_eq!(kept.matches(" = 0;\n").count(), left, "{kept}");
        let patched = fix_in(&text, "f", &allowed).unwrap();
        let message = patched.body.replace('\n', " ");
        assert!(
            message.contains("what the reads fill keeps what it held"),
            "{message}"
        );
    }
    let patched = fix_in(&file(reads), "f", &request(false)).unwrap();
    assert!(!patched.body.contains("keeps what it held"));
}

/// The function with something between the accesses, and headers for it.
fn with_headers(path: &str, includes: &str, headers: &[(&str, &str)]) -> Result<String, FixError> {
    let text = format!("{includes}{}", between("\tk->a = own(c);\n"));
    let tree = |wanted: &TreePath| match &*wanted.lossy() {
        UACCESS => Ok(HEADER.as_bytes().to_vec()),
        own if own == path => Ok(text.as_bytes().to_vec()),
        other => match headers.iter().find(|(name, _)| *name == other) {
            Some((_, "unreadable")) => Err(io::Error::from(io::ErrorKind::PermissionDenied)),
            Some((_, text)) => Ok(text.as_bytes().to_vec()),
            None => Err(io::Error::from(io::ErrorKind::NotFound)),
        },
    };
    let target = format!("{path}:f").parse().unwrap();
    let patched = fix(&tree, &target, &request(false))?;
    Ok(String::from_utf8(patched.rewritten).unwrap())
}

const OWN: &str = "static inline int own(int a)\n{\n\treturn a + 1;\n}\n";

/// What an inline function of a header computes is found where the compiler finds it.
#[test]
fn a_header_says_what_leaves_no_call() {
    let kbuild = ("drivers/a/Makefile", "subdir-ccflags-y += -I$(src)\n");
    let quoted = "#include \"x/own.h\"\n";
    let there = ("drivers/a/x/own.h", OWN);
    let asm = ("arch/x86/include/asm/own.h", OWN);
    for (path, includes, headers, one) in [
        (
            "f.c",
            "#include <linux/own.h>\n",
            vec![("include/linux/own.h", OWN)],
            true,
        ),
        (
            "f.c",
            "#include <linux/outer.h>\n",
            vec![
                ("include/linux/outer.h", "#include <linux/own.h>\n"),
                ("include/linux/own.h", OWN),
            ],
            true,
        ),
        ("drivers/a/b/f.c", quoted, vec![there, kbuild], true),
        ("drivers/a/b/f.c", quoted, vec![there], false),
        (
            "arch/x86/kernel/f.c",
            "#include <asm/own.h>\n",
            vec![asm],
            true,
        ),
        (
            "arch/arm/kernel/f.c",
            "#include <asm/own.h>\n",
            vec![asm],
            false,
        ),
        (
            "f.c",
            "#include <linux/own.h>\n",
            vec![("include/linux/own.h", "int own(int a);\n")],
            false,
        ),
        (
            "f.c",
            "#include <linux/own.h>\n",
            vec![(
                "include/linux/own.h",
                "static inline int own(int a)\n{\n\treturn work(a);\n}\n",
            )],
            false,
        ),
        (
            "f.c",
            "#include <linux/own.h>\n",
            vec![(
                "include/linux/own.h",
                "static inline int own(int a)\n{\n\tREPORT(a);\n\treturn a;\n}\n",
            )],
            false,
        ),
    ] {
        // Otherwise the check stays, with no access left that two of them could share.
        let text = with_headers(path, includes, &headers);
        let found = text.is_ok_and(|text| {
            text.matches("_access_begin").count() == 1 && !text.contains("__put_user")
        });
        assert_eq!(found, one, "{path}: {headers:?}");
    }
}

#[test]
fn a_header_that_cannot_be_read_is_said() {
    let header = ("include/linux/own.h", "unreadable");
    let error = with_headers("f.c", "#include <linux/own.h>\n", &[header]).unwrap_err();
    assert!(error.to_string().contains("include/linux/own.h"), "{error}");
}
