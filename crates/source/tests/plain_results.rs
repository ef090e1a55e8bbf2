//! What a function of the file gives where each `return` names a constant, and bytes left that a
//! member keeps for an error number.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

fn said(text: &str) -> Vec<String> {
    let found = mistakes::found(None, text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// What is said where a function of these statements is asked so.
fn asked(statements: &str, asks: &str) -> Vec<String> {
    said(&format!(
        "static int set(struct dev *d, u32 v)\n{{\n{statements}\n}}\n\
         static long f(struct dev *d, u32 __user *p)\n{{\n\tint ret;\n\tu32 v;\n\n\tif (get_user(v, p))\n\t\treturn -EFAULT;\n{asks}\n\treturn 0;\n}}\n"
    ))
}

const ERRORS: &str = "\tif (v > 9)\n\t\treturn -EINVAL;\n\td->v = v;\n\treturn 0;";
const ONE: &str = "\tif (v > 9)\n\t\treturn 1;\n\td->v = v;\n\treturn 0;";

#[test]
fn what_gives_error_numbers_is_never_more_than_0() {
    let by_variable = "\tret = set(d, v);\n\tif (ret > 0)\n\t\treturn -EIO;";
    for asks in [
        "\tif (set(d, v) > 0)\n\t\treturn -EINVAL;",
        by_variable,
        "\tif (set(d, v) <= 0)\n\t\treturn 0;",
    ] {
        assert_eq!(asked(ERRORS, asks), ["misread-result"], "{asks}");
        let other = ERRORS.replace("-EINVAL", "(-ERANGE)");
        assert_eq!(asked(&other, asks), ["misread-result"], "{asks}");
        // It gives more elsewhere, or nobody knows what.
        for other in [
            "-EINVAL;\n\tif (v > 4)\n\t\treturn 1",
            "d->limit",
            "read_it(d)",
            "1",
        ] {
            let other = ERRORS.replace("-EINVAL", other);
            assert_eq!(asked(&other, asks), NONE, "{other} {asks}");
        }
    }
    for asks in [
        "\tif (set(d, v) < 0)\n\t\treturn -EINVAL;",
        "\tif (set(d, v))\n\t\treturn -EINVAL;",
        "\tret = set(d, v);\n\tif (d->on)\n\t\tret = d->v;\n\tif (ret > 0)\n\t\treturn -EIO;",
    ] {
        assert_eq!(asked(ERRORS, asks), NONE, "{asks}");
    }
}

#[test]
fn what_gives_0_or_1_is_never_less() {
    let truth = ONE
        .replace("return 1", "return true")
        .replace("return 0", "return false");
    for asks in [
        "\tif (set(d, v) < 0)\n\t\treturn -EINVAL;",
        "\tret = set(d, v);\n\tif (ret < 0)\n\t\treturn ret;",
    ] {
        assert_eq!(asked(ONE, asks), ["misread-result"], "{asks}");
        assert_eq!(asked(&truth, asks), ["misread-result"], "{asks}");
        assert_eq!(asked(ERRORS, asks), NONE, "{asks}");
        // A function of which this kernel has no more than its front.
        assert_eq!(asked("\treturn 0;", asks), NONE, "{asks}");
    }
    assert_eq!(asked(ONE, "\tif (set(d, v) > 0)\n\t\treturn -EIO;"), NONE);
}

/// What is said of a function that ends so.
fn kept(ends: &str) -> Vec<String> {
    said(&format!(
        "int f(struct job *job, u32 __user *p, u32 *v, size_t n)\n{{\n\tstruct reply *reply = job->reply;\n\tint rc = 0;\n\n\tif (n > 64) {{\n\t\trc = -EINVAL;\n\t\tgoto out;\n\t}}\n{ends}\n\tif (rc == STATUS_OK)\n\t\tjob_done(job);\n\treturn rc;\n}}\n"
    ))
}

#[test]
fn bytes_left_are_kept_for_an_error_number() {
    for wrong in [
        "\trc = copy_to_user(p, v, n);\n\tkfree(v);\nout:\n\treply->result = rc;",
        "\trc = copy_to_user(p, v, n);\nout:\n\tjob->reply->state.result = (u32)rc;",
    ] {
        assert_eq!(kept(wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        "\tif (copy_to_user(p, v, n))\n\t\trc = -EFAULT;\nout:\n\treply->result = rc;",
        "\trc = copy_to_user(p, v, n);\n\tif (rc)\n\t\trc = -EFAULT;\nout:\n\treply->result = rc;",
        "\trc = copy_to_user(p, v, n) ? -EFAULT : 0;\nout:\n\treply->result = rc;",
    ] {
        assert_eq!(kept(right), NONE, "{right}");
    }
    // Nobody takes it for an error number.
    let left = "void f(struct job *job, u32 __user *p, u32 *v, size_t n)\n{\n\tunsigned long left;\n\n\tleft = copy_to_user(p, v, n);\n\tjob->left = left;\n\tif (left == job->most)\n\t\tjob_done(job);\n}\n";
    assert_eq!(said(left), NONE);
}
