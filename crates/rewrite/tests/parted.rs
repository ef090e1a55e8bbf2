//! A run that holds what no window may hold: windows before it and behind it.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "other tests use the rest")]
mod fixing;

use fixing::{file, fix_in, fixed, reason_of};
use tollgate_rewrite::{Reason, Request};

/// Accesses that leave at a fault, one after the other.
fn accesses(members: &str) -> String {
    let one =
        |member: char| format!("\tif (put_user(k->{member}, &p->{member}))\n\t\treturn -EFAULT;\n");
    members.chars().map(one).collect()
}

/// The members whose accesses are in a window, those of each window by itself.
fn windows(body: &str) -> Vec<String> {
    let fixed = fixed(body, &Request::default());
    let parts = fixed.split("access_begin(").skip(1);
    let inside = parts.map(|own| own.split("access_end(").next().unwrap());
    let members = inside.map(|own| {
        let own = own.split("unsafe_put_user(k->").skip(1);
        own.map(|own| own.split(',').next().unwrap()).collect()
    });
    members.collect()
}

#[test]
fn a_window_ends_before_an_argument_that_calls_and_another_begins_behind_it() {
    let calls = "\tif (put_user(work(k), &p->x))\n\t\treturn -EFAULT;\n";
    let body = accesses("ab") + calls + &accesses("cd") + "\treturn 0;\n";
    assert_eq!(windows(&body), ["ab", "cd"]);
    insta::assert_snapshot!(fixed(&body, &Request::default()));
    // What is left of it alone is no run.
    let body = accesses("ab") + calls + &accesses("c") + "\treturn 0;\n";
    assert_eq!(windows(&body), ["ab"]);
    let body = accesses("a") + calls + &accesses("b") + "\treturn 0;\n";
    let refused = reason_of(fix_in(&file(&body), "f", &Request::default()));
    assert_eq!(refused, Some(Reason::Call("work".to_owned())));
}

#[test]
fn a_window_ends_before_an_address_that_nothing_places() {
    let unplaced =
        "\tif (put_user(k->x, (int __user *)((char __user *)p + c)))\n\t\treturn -EFAULT;\n";
    let body = accesses("ab") + unplaced + &accesses("cd") + "\treturn 0;\n";
    assert_eq!(windows(&body), ["ab", "cd"]);
}

#[test]
fn what_is_left_is_named_with_its_reason() {
    let calls = "\tif (put_user(work(k), &p->x))\n\t\treturn -EFAULT;\n";
    let body = accesses("ab") + calls + "\treturn 0;\n";
    let patched = fix_in(&file(&body), "f", &Request::default()).unwrap();
    let said: Vec<&Reason> = patched.refused.iter().map(|own| &own.reason).collect();
    assert_eq!(said, [&Reason::Call("work".to_owned())]);
}

/// What a configuration leaves out is in no window, and no window goes over it.
#[test]
fn a_window_ends_before_a_line_of_the_preprocessor() {
    let other = "#ifdef CONFIG_X\n\tif (put_user(1, &p->x))\n\t\treturn -EFAULT;\n#endif\n";
    let body = accesses("ab") + other + &accesses("cd") + "\treturn 0;\n";
    assert_eq!(windows(&body), ["ab", "cd"]);
    insta::assert_snapshot!(fixed(&body, &Request::default()));
    let inside = accesses("a")
        + "#ifdef CONFIG_X\n"
        + &accesses("bc")
        + "#endif\n"
        + &accesses("d")
        + "\treturn 0;\n";
    assert_eq!(windows(&inside), ["bc"]);
    // The test of the result stands where the accesses need not.
    let asked = "\tint err;\n\n\terr = put_user(1, &p->z);\n\tif (err)\n\t\treturn err;\n#ifdef CONFIG_X\n\
        \terr = put_user(1, &p->a);\n\tif (!err)\n\t\terr = put_user(2, &p->b);\n#endif\n\tif (err)\n\t\treturn err;\n\treturn 0;\n";
    let fixed = fix_in(&file(asked), "f", &Request::default());
    let over = |own: &str| {
        let parts = own.split("access_begin(").skip(1);
        let mut inside = parts.map(|own| own.split("access_end(").next().unwrap());
        inside.any(|own| own.contains("#endif"))
    };
    assert!(!fixed.is_ok_and(|own| over(&String::from_utf8_lossy(&own.rewritten))));
}

/// `p->list + 1` is an element of an array that is a member, as `&p->list[1]` is: nobody reads a
/// pointer there by hand.
#[test]
fn an_element_of_a_member_is_in_its_object() {
    let file = |index: &str, rest: &str| {
        format!(
            "#include <linux/uaccess.h>\n\n#define LAST 3\n#define MORE 4\n\nstruct s {{\n\tint a;\n\tint list[4];\n}};\n\n\
            int f(struct s __user *p, int v)\n{{\n\tif (put_user(v, &p->a) || put_user(v, {index}){rest})\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        )
    };
    let whole = |index: &str| {
        let fixed = fix_in(&file(index, ""), "f", &Request::default());
        fixed.is_ok_and(|own| {
            let text = String::from_utf8(own.rewritten).unwrap();
            text.contains("user_write_access_begin(p, sizeof(*p))")
        })
    };
    for index in [
        "p->list",
        "p->list + 1",
        "p->list + LAST",
        "&p->list[3]",
        "&p->list[LAST]",
    ] {
        assert!(whole(index), "{index}");
    }
    for index in [
        "p->list + 4",
        "p->list + MORE",
        "&p->list[4]",
        "&p->list[MORE]",
        "&p->list[UNKNOWN]",
        "p->list + v",
        "&p->list[v]",
        "p->list - 1",
        // Eight bytes of the last four.
        "(long __user *)(p->list + 3)",
        "(long __user *)p->list",
    ] {
        assert!(!whole(index), "{index}");
    }
}
