//! Accesses that go on after a fault, which a window would stop at the first one.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "other tests use the rest")]
mod fixing;

use fixing::{file, fix_in, fixed, refused, stopping};
use tollgate_rewrite::Request;

#[test]
fn writes_that_go_on_stop_only_if_that_is_asked_for() {
    let body = "\tint err;\n\n\terr = __put_user(1, &p->a);\n\terr |= __put_user(2, &p->b);\n\treturn err;\n";
    insta::assert_snapshot!(refused(body), @"f.c:8: f is not rewritten: the accesses go on after a fault; a window would stop at the first (--stop-at-first-fault allows that)");
    insta::assert_snapshot!(fixed(body, &stopping()));
    let patched = fix_in(&file(body), "f", &stopping()).unwrap();
    assert!(
        patched.body.contains("stop at the first fault"),
        "{}",
        patched.body
    );
    // What is between them was done as well, whatever faulted.
    let more = "\tk->a++;\n\terr |= __put_user(3, &p->c);\n\treturn err;\n";
    let more = body.replace("\treturn err;\n", more);
    let said = |body: &str| {
        let patched = fix_in(&file(body), "f", &stopping()).unwrap();
        let words: Vec<String> = patched.body.split_whitespace().map(str::to_owned).collect();
        words
            .join(" ")
            .contains("between them does not happen then, either")
    };
    assert!(said(&more) && !said(body), "{more}");
}

/// Nothing right behind the accesses asks whether one faulted: the variable says so until
/// something does.
#[test]
fn what_is_asked_later_is_kept_where_accesses_may_stop() {
    let of = |before: &str, accesses: &str| {
        format!(
            "\tint err{before};\n\n{accesses}\twork(k);\n\tif (err)\n\t\treturn -EFAULT;\n\treturn 0;\n"
        )
    };
    let joined = "\terr |= __put_user(1, &p->a);\n\terr |= __put_user(2, &p->b);\n";
    let refusal = refused(&of(" = 0", joined));
    assert!(refusal.contains("--stop-at-first-fault"), "{refusal}");
    insta::assert_snapshot!(fixed(&of(" = 0", joined), &stopping()));
    let first = joined.replacen("|=", "=", 1);
    assert_eq!(
        fixed(&of("", &first), &stopping()),
        fixed(&of(" = 0", joined), &stopping()).replace("err = 0;\n\n", "err;\n\n")
    );
    let hidden = joined.replace("b);", "b);\n\terr = __put_user(3, &p->c);");
    for other in [
        // What it holds before is not known.
        of(" = work(k)", joined),
        of(" = c", joined),
        // Something may look at what a read that no longer happens has filled.
        of(
            " = 0",
            "\terr |= __get_user(k->a, &p->a);\n\terr |= __get_user(k->b, &p->b);\n",
        ),
        of(" = 0", &hidden),
        of(" = 0", &joined.replace("err", "k->err")),
        // The value is what the variable holds.
        of(" = 0", &joined.replace("(2,", "(err,")),
    ] {
        let answer = fix_in(&file(&other), "f", &stopping());
        assert!(answer.is_err(), "{other}");
    }
}

#[test]
fn what_the_flag_does_not_allow_is_not_promised() {
    let body = "\tint err;\n\n\terr = __put_user(1, &p->a);\n\terr |= __put_user(2, &p->b);\n\twork(k);\n\treturn err;\n";
    let read = body
        .replace("put_user(1", "get_user(k->a")
        .replace("put_user(2", "get_user(k->b");
    let both = "(--stop-at-first-fault with --no-zero-on-fault allows that)";
    assert!(refused(&read).contains(both), "{}", refused(&read));
    let allowed = Request {
        no_zero_on_fault: true,
        ..stopping()
    };
    assert!(fix_in(&file(&read), "f", &allowed).is_ok());
    // What stands in the way of both is said instead.
    let used = read
        .replace("get_user(k->b", "get_user(c")
        .replace("work(k)", "work(c)");
    let said = refused(&used);
    assert!(
        said.contains("at the first; besides, no test of the result"),
        "{said}"
    );
    for other in [body, &body.replace("\twork(k);\n", "")] {
        assert!(refused(other).contains("--stop-at-first-fault allows that"));
    }
    let left = |body: &str| {
        fix_in(&file(body), "f", &stopping())
            .unwrap_err()
            .to_string()
    };
    assert!(
        left(&read).contains("no test of the result stands right behind")
            && left(&read).contains("(--no-zero-on-fault allows that)"),
        "{}",
        left(&read)
    );
    let bare = "\tput_user(1, &p->a);\n\tput_user(2, &p->b);\n\treturn 0;\n";
    assert!(!refused(bare).contains("--stop") && !left(bare).contains("--stop"));
}

/// A fault that the variable holds from before is the first: no window is opened behind it.
#[test]
fn a_fault_from_before_keeps_the_window_closed() {
    let of = |before: &str, behind: &str| {
        format!(
            "\tint err = 0;\n\n{before}\tk->a = c;\n\terr |= __put_user(1, &p->a);\n\terr |= __put_user(2, &p->b);\n{behind}"
        )
    };
    let copied = "\terr |= __copy_to_user(&p->data, k->data, 8);\n";
    let asked = "\twork(k);\n\tif (err)\n\t\treturn -EFAULT;\n\treturn 0;\n";
    insta::assert_snapshot!(fixed(&of(copied, asked), &stopping()));
    let patched = fix_in(&file(&of(copied, asked)), "f", &stopping()).unwrap();
    let words: Vec<&str> = patched.body.split_whitespace().collect();
    assert!(
        words
            .join(" ")
            .contains("Nor are they tried behind an error from before."),
        "{}",
        patched.body
    );
    let opens = |body: &str| {
        let fixed = fix_in(&file(body), "f", &stopping()).map(|own| own.rewritten);
        fixed.is_ok_and(|own| String::from_utf8_lossy(&own).contains("if (!err) {"))
    };
    for before in [
        copied,
        "\terr = __put_user(c, &k->user->a);\n",
        "\tif (c)\n\t\terr = -EFAULT;\n",
        // What another call tells is joined with the faults, and is an error with them.
        "\terr |= save(k);\n",
    ] {
        for behind in [asked, "\treturn err;\n"] {
            assert!(opens(&of(before, behind)), "{before}{behind}");
        }
    }
    for before in [
        "\terr = c;\n",
        "\terr = work(k);\n",
        "\terr |= c;\n",
        "\twork(&err);\n",
        "\terr++;\n",
    ] {
        assert!(!opens(&of(before, asked)), "{before}");
    }
    // Without leave to stop, the accesses were still tried.
    assert!(refused(&of(copied, asked)).contains("--stop-at-first-fault"));
}

/// Reads that no longer happen leave what they fill, which only who says so may take.
#[test]
fn reads_behind_a_fault_from_before_take_both_flags() {
    let body = "\tint err;\n\n\terr = __copy_from_user(k->data, &p->data, 8);\n\tk->c = c;\n\
        \terr |= __get_user(k->a, &p->a);\n\terr |= __get_user(k->b, &p->b);\n\twork(k);\n\treturn err;\n";
    let both = Request {
        no_zero_on_fault: true,
        ..stopping()
    };
    assert!(fix_in(&file(body), "f", &stopping()).is_err());
    insta::assert_snapshot!(fixed(body, &both));
    // What the function itself looks at is no longer 0 there.
    let own = body
        .replace("__get_user(k->b,", "__get_user(c,")
        .replace("work(k)", "work(c)");
    assert!(fix_in(&file(&own), "f", &both).is_err());
}
