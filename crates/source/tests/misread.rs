//! What a function of the file gives for a fault, taken for something else.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];
const MISREAD: [&str; 1] = ["misread-result"];

/// What is said of a helper and of a function of these statements that calls it.
fn rules(helper: &str, statements: &str) -> Vec<String> {
    let text = format!(
        "struct req {{ u32 cmd; u32 len; }};\n\
         static {helper}\n\
         long f(struct dev *d, void __user *p, size_t n)\n{{\n\tlong ret = 0;\n\n\tif (!d->on)\n\t\treturn -ENODEV;\n{statements}\n}}\n"
    );
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

const LEFT: [&str; 4] = [
    "long put(struct dev *d, void __user *to, size_t n)\n{\n\treturn copy_to_user(to, &d->req, n);\n}",
    "unsigned long put(struct dev *d, void __user *to, size_t n)\n{\n\tunsigned long left;\n\n\tleft = copy_to_user(to, &d->req, n);\n\td->done++;\n\treturn left;\n}",
    "long put(struct dev *d, void __user *to, size_t n)\n{\n\tif (!n)\n\t\treturn 0;\n\treturn d->old ? copy_to_user(to, &d->old_req, n) : copy_to_user(to, &d->req, n);\n}",
    "long put(struct dev *d, void __user *to, size_t n)\n{\n\treturn copy_to_user(to, d->buf + d->at, n) ?: clear_user(to + n, d->rest);\n}",
];

#[test]
fn a_helper_that_gives_bytes_left_is_never_negative() {
    for helper in LEFT {
        for wrong in [
            "\tret = put(d, p, n);\n\tif (ret < 0)\n\t\tgoto out;\n\tret = n;\nout:\n\tmutex_unlock(&d->lock);\n\treturn ret;",
            "\tret = put(d, p, n);\n\tif (ret >= 0)\n\t\tret = n;\n\tmutex_unlock(&d->lock);\n\treturn ret;",
            "\tif (put(d, p, n) == -EFAULT)\n\t\tn = 0;\n\treturn n;",
        ] {
            assert_eq!(rules(helper, wrong), MISREAD, "{helper}\n{wrong}");
        }
        for right in [
            "\tif (put(d, p, n))\n\t\treturn -EFAULT;\n\treturn n;",
            "\tret = put(d, p, n);\n\tif (ret > 0)\n\t\treturn -EFAULT;\n\treturn n;",
            "\treturn put(d, p, n) ? -EFAULT : 0;",
        ] {
            assert_eq!(rules(helper, right), NONE, "{helper}\n{right}");
        }
    }
}

/// Where some of what a helper gives is an error number a test for less than 0 may hold, and
/// nothing says so of the test; of the helper it is said, since bytes that were left pass by it.
#[test]
fn bytes_left_among_error_numbers_are_handed_on_as_one() {
    let mixed = "long put(struct dev *d, void __user *to, int version)\n{\n\tswitch (version) {\n\tcase 1:\n\t\treturn copy_to_user(to, &d->req, 8);\n\tdefault:\n\t\treturn -EINVAL;\n\t}\n}";
    for helper in LEFT.iter().chain([&mixed]) {
        for wrong in [
            "\treturn put(d, p, n);",
            "\tret = d->ops->prepare(d);\n\treturn put(d, p, n) ?: ret;",
            "\treturn d->old ? 0 : put(d, p, n);",
        ] {
            assert_eq!(rules(helper, wrong), MISREAD, "{helper}\n{wrong}");
        }
    }
    let asked = "\tif (put(d, p, 1) < 0)\n\t\treturn -EINVAL;\n\treturn 0;";
    assert_eq!(rules(mixed, asked), MISREAD);
    let told = "\tret = put(d, p, 1);\n\tif (ret)\n\t\tret = -EFAULT;\n\treturn ret;";
    assert_eq!(rules(mixed, told), NONE);
}

#[test]
fn a_bool_is_never_negative() {
    let helper = "bool get(struct req *r, const void __user *from)\n{\n\treturn copy_from_user(r, from, sizeof(*r)) == 0;\n}";
    for wrong in [
        "\tret = get(&d->req, p);\n\tif (ret < 0)\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tif (get(&d->req, p) < 0)\n\t\treturn -EFAULT;\n\treturn 0;",
    ] {
        assert_eq!(rules(helper, wrong), MISREAD, "{wrong}");
    }
    let right = "\tif (!get(&d->req, p))\n\t\treturn -EFAULT;\n\treturn 0;";
    assert_eq!(rules(helper, right), NONE);
    // Its parameter is a bool, and what it gives is an error number.
    let number = "int get(struct req *r, const void __user *from, bool whole)\n{\n\treturn copy_from_user(r, from, sizeof(*r)) ? -EFAULT : 0;\n}";
    let asked = "\tret = get(&d->req, p, true);\n\tif (ret < 0)\n\t\treturn ret;\n\treturn 0;";
    assert_eq!(rules(number, asked), NONE);
}

/// Who is called by a program answers it, whatever else the function gives.
#[test]
fn a_program_is_given_no_bytes_that_were_left() {
    let handler = |statements: &str, member: &str| {
        let text = format!(
            "static long config(struct file *f, unsigned int cmd, unsigned long arg)\n{{\n\tstruct config c;\n\tlong left;\n\n{statements}}}\n\
             static const struct file_operations ops = {{\n\t.open = start,\n\t.{member} = config,\n}};\n"
        );
        let found = mistakes::found(None, &text).into_iter();
        found.map(|(rule, _)| rule).collect::<Vec<_>>()
    };
    let from = "copy_from_user(&c, (void __user *)arg, sizeof(c))";
    for wrong in [
        format!("\tleft = {from};\n\tif (left)\n\t\treturn left;\n\treturn apply(&c);\n"),
        format!("\tleft = {from};\n\tif (!left)\n\t\tapply(&c);\n\treturn left;\n"),
        format!("\tleft = {from};\n\tif (left == 0)\n\t\tleft = apply(&c);\n\treturn left;\n"),
    ] {
        for member in ["unlocked_ioctl", "compat_ioctl", "proc_ioctl"] {
            assert_eq!(handler(&wrong, member), ["misread-result"], "{wrong}");
        }
        // Of whom nobody knows who asks.
        assert_eq!(handler(&wrong, "configure"), [""; 0], "{wrong}");
    }
    let right =
        format!("\tleft = {from};\n\tif (left)\n\t\treturn -EFAULT;\n\treturn apply(&c);\n");
    assert_eq!(handler(&right, "unlocked_ioctl"), [""; 0]);
    let helper = "static int fetch(struct config *c, void __user *from)\n{\n\tint left = copy_from_user(c, from, sizeof(*c));\n\n\treturn left;\n}\n\
        SYSCALL_DEFINE1(configure, void __user *, from)\n{\n\tstruct config c;\n\tint ret = fetch(&c, from);\n\n\tif (ret)\n\t\treturn ret;\n\treturn apply(&c);\n}\n";
    let found = mistakes::found(None, helper).into_iter();
    let found: Vec<String> = found.map(|(rule, _)| rule).collect();
    assert!(found.contains(&"misread-result".to_owned()), "{found:?}");
}

/// By a variable of its own, past a label, or chosen where it is returned.
#[test]
fn what_was_left_is_returned_a_long_way_off() {
    let unused = "int unused(void)\n{\n\treturn 0;\n}";
    let left = "\tret = copy_to_user(p, d->buf, n);\n";
    let ways = "\tif (ret)\n\t\tgoto out;\n\tdone = n;\nout:\n";
    for wrong in [
        format!("{left}\td->reads++;\n\treturn ret ? ret : n;"),
        format!("{left}\td->reads++;\n\treturn ret ?: n;"),
        format!("{left}\td->reads++;\n\treturn n == 1 ? 1 : (ret ? (ret) : n);"),
        format!(
            "\tlong done = 0;\n\n{left}{ways}\tif (!done)\n\t\tdone = ret;\n\tmutex_unlock(&d->lock);\n\treturn done;"
        ),
        format!("\tlong done = 0;\n\n{left}{ways}\td->reads++;\n\treturn done ? done : ret;"),
        format!(
            "\tint code;\n\n{left}\td->reads++;\n\tcode = (int)ret;\n\td->done++;\n\treturn code;"
        ),
    ] {
        assert_eq!(rules(unused, &wrong), MISREAD, "{wrong}");
    }
    for right in [
        format!("{left}\td->reads++;\n\treturn ret ? -EFAULT : n;"),
        format!("{left}\td->reads++;\n\treturn ret ? 0 : n;"),
        format!(
            "\tlong done = 0;\n\n{left}\tif (ret)\n\t\tret = -EFAULT;\n\telse\n\t\tdone = n;\n\tif (!done)\n\t\tdone = ret;\n\treturn done;"
        ),
        format!(
            "\tbool failed;\n\n{left}\tfailed = ret;\n\td->reads++;\n\treturn failed ? -EFAULT : n;"
        ),
        format!(
            "\tlong code;\n\n{left}\tcode = ret;\n\tif (code)\n\t\tcode = -EFAULT;\n\td->reads++;\n\treturn code;"
        ),
        format!("\tlong done;\n\n{left}\tdone = n - ret;\n\td->reads++;\n\treturn done;"),
    ] {
        assert_eq!(rules(unused, &right), NONE, "{right}");
    }
}

/// What a helper gives is nobody's mistake before a caller hands it on as an error number: past
/// a label, by a further variable, or as what a `?:` there chooses.
#[test]
fn a_caller_hands_on_what_was_left_a_long_way_off() {
    let helper = "long put(struct dev *d, void __user *to, size_t n)\n{\n\treturn copy_to_user(to, d->buf, n);\n}";
    let said = |caller: &str| {
        let text = format!(
            "static {helper}\n\
             long f(struct dev *d, void __user *p, size_t n)\n{{\n\tlong ret = 0, code;\n\n{caller}\n}}\n"
        );
        let found = mistakes::found(None, &text).into_iter();
        found.map(|(rule, _)| rule).collect::<Vec<String>>()
    };
    for wrong in [
        "\tif (!d->on)\n\t\treturn -ENODEV;\n\tcode = put(d, p, n);\n\tif (code)\n\t\tgoto out;\n\td->reads++;\nout:\n\tmutex_unlock(&d->lock);\n\treturn code;",
        "\tif (!d->on) {\n\t\tret = -ENODEV;\n\t\tgoto out;\n\t}\n\tcode = put(d, p, n);\n\td->reads++;\n\tret = code;\nout:\n\treturn ret;",
        "\tif (!d->on)\n\t\treturn -ENODEV;\n\tcode = put(d, p, n);\n\td->reads++;\n\treturn code ? code : n;",
        "\tif (!d->on)\n\t\treturn -ENODEV;\n#ifdef CONFIG_COUNT\n\td->reads++;\n#endif\n\tcode = put(d, p, n);\n\tif (code)\n\t\tgoto out;\n\td->reads++;\nout:\n\treturn code;",
        "\tif (!d->on)\n\t\treturn -ENODEV;\n\tcode = put(d, p, n);\n\tif (code == -EAGAIN)\n\t\tcode = wait(d);\n\tif (code < 0)\n\t\tgoto out;\n\tif (code > 0)\n\t\tn -= code;\nout:\n\treturn ret > 0 ? ret : code;",
    ] {
        let found = said(wrong);
        assert!(
            found.iter().any(|own| own == MISREAD[0]),
            "{wrong}: {found:?}"
        );
    }
    for right in [
        "\tif (!d->on)\n\t\treturn -ENODEV;\n\tcode = put(d, p, n);\n\tif (code)\n\t\tcode = -EFAULT;\n\tmutex_unlock(&d->lock);\n\treturn code;",
        "\tif (!d->on) {\n\t\tret = -ENODEV;\n\t\tgoto out;\n\t}\n\tcode = put(d, p, n);\n\td->reads++;\n\tif (code)\n\t\tret = -EFAULT;\nout:\n\treturn ret;",
        "\tif (!d->on)\n\t\treturn -ENODEV;\n\tcode = n;\n\tn -= put(d, p, n);\n\tif (!n)\n\t\treturn -EFAULT;\n\treturn code;",
    ] {
        assert_eq!(said(right), NONE, "{right}");
    }
}

#[test]
fn a_system_call_hands_on_what_was_left() {
    let with = |given: &str| {
        let text = format!(
            "static unsigned long put(void __user *to, struct req *r)\n{{\n\treturn copy_to_user(to, r, 8);\n}}\n\
             static long ask(void __user *to, struct req *r)\n{{\n\tif (!r->on)\n\t\treturn -ENODEV;\n\treturn {given};\n}}\n\
             SYSCALL_DEFINE2(ask, void __user *, to, int, at)\n{{\n\treturn ask(to, &all[at]);\n}}\n"
        );
        let found = mistakes::found(None, &text).into_iter();
        let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
        found.retain(|own| own == MISREAD[0]);
        found.dedup();
        found
    };
    assert_eq!(with("put(to, r)"), MISREAD);
    assert_eq!(with("put(to, r) ? -EFAULT : 0"), NONE);
}
