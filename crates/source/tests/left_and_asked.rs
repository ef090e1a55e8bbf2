//! What a copy has left, in a variable that is asked for an error number in the end.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

fn rules(text: &str) -> Vec<String> {
    let found = mistakes::found(None, text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// What is said of a write() with those statements behind the check of its size.
fn said(statements: &str) -> Vec<String> {
    let text = format!(
        "static char buf[64];\n\nstatic ssize_t take(struct file *f, const char __user *u, size_t n, loff_t *pos)\n{{\n\tstruct own *o = f->private_data;\n\tint rc, err = 0;\n\n\tif (n > sizeof(buf))\n\t\treturn -EINVAL;\n\tmutex_lock(&o->lock);\n{statements}\n}}\n"
    );
    rules(&text)
}

const COPY: &str = "\trc = copy_from_user(buf, u, n);\n";
const LEAVES: &str = "out:\n\tmutex_unlock(&o->lock);\n";

#[test]
fn what_is_no_error_number_is_taken_for_success_in_the_end() {
    let asked = [
        "\treturn rc < 0 ? rc : n;",
        "\tif (rc < 0)\n\t\treturn rc;\n\treturn n;",
        "\tif (rc >= 0)\n\t\t*pos += n;\n\treturn rc < 0 ? rc : n;",
    ];
    let kept = [
        "\tif (rc)\n\t\tgoto out;\n\trc = apply(o, buf);\n",
        "\tif (!rc)\n\t\trc = apply(o, buf);\n",
        "\tif (rc == 0)\n\t\trc = apply(o, buf);\n",
        "\tif (unlikely(rc != 0)) {\n\t\tdev_dbg(o->dev, \"fault\\n\");\n\t\tgoto out;\n\t}\n\trc = apply(o, buf);\n",
    ];
    for end in asked {
        for how in kept {
            let wrong = format!("{COPY}{how}{LEAVES}{end}");
            assert_eq!(said(&wrong), ["misread-result"], "{wrong}");
        }
    }
}

#[test]
fn what_is_made_an_error_number_is_one() {
    for right in [
        "\tif (rc) {\n\t\trc = -EFAULT;\n\t\tgoto out;\n\t}\n\trc = apply(o, buf);\n",
        "\tif (rc)\n\t\trc = -EFAULT;\n\telse\n\t\trc = apply(o, buf);\n",
        "\tif (!rc)\n\t\trc = apply(o, buf);\n\telse\n\t\terr = -EFAULT;\n\tif (err)\n\t\trc = err;\n",
    ] {
        let all = format!("{COPY}{right}{LEAVES}\treturn rc < 0 ? rc : n;");
        assert_eq!(said(&all), NONE, "{all}");
    }
    // What was copied is what is given.
    let partly = format!(
        "{COPY}\tif (rc) {{\n\t\tn -= rc;\n\t\tgoto out;\n\t}}\n\trc = apply(o, buf);\n{LEAVES}\treturn rc < 0 ? rc : n;"
    );
    assert_eq!(said(&partly), NONE);
}

#[test]
fn minus_one_is_less_than_nothing() {
    for test in ["rc <= -1", "!(rc > -1)"] {
        let wrong =
            format!("{COPY}\tif ({test})\n\t\tgoto out;\n\tapply(o, buf);\n{LEAVES}\treturn n;");
        assert_eq!(said(&wrong), ["misread-result"], "{wrong}");
    }
}

/// What is said of a handler of a table that gives this where its copy faulted.
fn given(member: &str, value: &str) -> Vec<String> {
    rules(&format!(
        "static char buf[64];\n\nstatic ssize_t take(struct file *f, const char __user *u, size_t n, loff_t *pos)\n{{\n\tif (n > sizeof(buf))\n\t\treturn -EINVAL;\n\tif (copy_from_user(buf, u, n))\n\t\treturn {value};\n\tapply(buf);\n\treturn n;\n}}\n\nstatic const struct file_operations own = {{\n\t.{member} = take,\n}};\n"
    ))
}

#[test]
fn a_fault_is_no_whole_write() {
    for all in ["n", "(ssize_t)n"] {
        assert_eq!(given("write", all), ["swallowed-fault"], "{all}");
    }
    assert_eq!(given("write", "-EFAULT"), NONE);
    // Nobody takes it for a number of bytes.
    assert_eq!(given("other", "n"), NONE);
}
