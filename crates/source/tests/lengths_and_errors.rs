//! Error numbers that count as lengths, lengths that count as errors, and results of two arms.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "struct part { char *front; size_t left; u32 flags; u64 __user *log; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

#[test]
fn an_error_number_moves_nothing() {
    let read = |statements: &str| {
        rules(&format!(
            "static ssize_t f(struct part *d, char __user *u, size_t count, loff_t *pos)\n{{\n\
             \tssize_t n = count;\n\n{statements}\n\treturn n;\n}}\n"
        ))
    };
    for wrong in [
        "\tif (copy_to_user(u, d->front, n))\n\t\tn = -EFAULT;\n\t*pos += n;",
        "\tif (copy_to_user(u, d->front, n))\n\t\tn = -EFAULT;\n\td->front += n;\n\td->left -= n;",
        "\tif (copy_to_user(u, d->front, n))\n\t\tn = -EFAULT;\n\td->left = d->left - n;",
        "\tn = copy_to_user(u, d->front, n) ? -EFAULT : count;\n\t*pos += n;",
        "\tif (copy_to_user(u, d->front, n)) {\n\t\tn = -EFAULT;\n\t\tgoto out;\n\t}\n\td->flags = 0;\nout:\n\t*pos = *pos + n;",
        "\tif (d->flags & 1)\n\t\tn = -EINVAL;\n\telse if (copy_to_user(u, d->front, n))\n\t\tn = -EFAULT;\n\
         \tif (d->flags & 2)\n\t\t*pos += (loff_t)n;",
        "\tif (!copy_to_user(u, d->front, n))\n\t\td->flags++;\n\telse\n\t\tn = -EIO;\n\td->left -= n;",
    ] {
        assert_eq!(read(wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        "\tif (copy_to_user(u, d->front, n))\n\t\tn = -EFAULT;\n\telse\n\t\t*pos += n;",
        "\tif (copy_to_user(u, d->front, n))\n\t\tn = -EFAULT;\n\tif (n > 0)\n\t\t*pos += n;",
        "\tif (copy_to_user(u, d->front, n))\n\t\tn = -EFAULT;\n\tif (n < 0)\n\t\treturn n;\n\td->left -= n;",
        "\tn = -EFAULT;\n\tif (!copy_to_user(u, d->front, count)) {\n\t\tn = count;\n\t\t*pos += n;\n\t}",
        "\tif (copy_to_user(u, d->front, n))\n\t\treturn -EFAULT;\n\t*pos += n;",
    ] {
        assert_eq!(read(right), NONE, "{right}");
    }
}

#[test]
fn a_length_that_is_not_0_is_no_error() {
    let name = |statements: &str| {
        rules(&format!(
            "static long f(struct part *d, const char __user *u)\n{{\n\
             \tchar name[32] = {{}};\n\tlong n;\n\n{statements}\n}}\n"
        ))
    };
    let copy = "\tn = strncpy_from_user(name, u, sizeof(name) - 1);\n";
    for wrong in [
        "\tif (n)\n\t\treturn n;\n\treturn look(d, name);",
        "\tif (n != 0)\n\t\treturn -EFAULT;\n\treturn look(d, name);",
        "\tif (!n)\n\t\treturn look(d, name);\n\treturn n;",
        "\tif (n == 0)\n\t\tn = look(d, name);\n\treturn n;",
        "\tif (n)\n\t\tgoto out;\n\tn = look(d, name);\nout:\n\treturn n;",
    ] {
        assert_eq!(
            name(&format!("{copy}{wrong}")),
            ["misread-result"],
            "{wrong}"
        );
    }
    for wrong in [
        "\tif ((n = strncpy_from_user(name, u, sizeof(name) - 1)))\n\t\treturn n;\n\treturn look(d, name);",
        "\tn = strnlen_user(u, 32);\n\tif (n)\n\t\treturn -EFAULT;\n\treturn look(d, n);",
    ] {
        assert_eq!(name(wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        "\tif (n < 0)\n\t\treturn n;\n\tif (n)\n\t\treturn look(d, name);\n\treturn 0;",
        "\tif (n <= 0)\n\t\treturn n;\n\treturn look(d, name);",
        "\tif (n)\n\t\treturn n < 0 ? n : look(d, name);\n\treturn -EINVAL;",
        "\tif (!n)\n\t\treturn -EINVAL;\n\tif (n < 0)\n\t\treturn n;\n\treturn look(d, name);",
        "\tif (n < 0)\n\t\treturn n;\n\tif (n)\n\t\treturn n;\n\treturn look(d, name);",
    ] {
        assert_eq!(name(&format!("{copy}{right}")), NONE, "{right}");
    }
}

#[test]
fn the_calls_of_two_arms_have_one_test() {
    let fill = |statements: &str| {
        rules(&format!(
            "static int f(struct part *d, void *to, size_t n, struct iov_iter *from)\n{{\n\
             \tint ret = -ENOSPC;\n\n{statements}\n\treturn ret;\n}}\n"
        ))
    };
    for wrong in [
        "\tdo {\n\t\tif (d->flags)\n\t\t\tret = copy_from_iter_nocache(to, n, from);\n\t\telse\n\
         \t\t\tret = copy_from_iter(to, n, from);\n\t\tif (ret < 0)\n\t\t\treturn -EFAULT;\n\
         \t\td->left -= n;\n\t} while (d->left);",
        "\tret = d->flags ? copy_from_iter_nocache(to, n, from) : copy_from_iter(to, n, from);\n\
         \tif (ret < 0)\n\t\treturn ret;\n\td->left -= n;",
        "\tswitch (d->flags) {\n\tcase 0:\n\t\tret = copy_from_iter(to, n, from);\n\t\tbreak;\n\
         \tdefault:\n\t\tret = copy_from_iter_full_nocache(to, n, from);\n\t}\n\td->left = ret;\n\
         \tret = copy_from_iter(to, n, from);\n\tif (ret < 0)\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(fill(wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        "\tif (d->flags)\n\t\tret = ask(d);\n\telse\n\t\tret = copy_from_iter(to, n, from);\n\
         \tif (ret < 0)\n\t\treturn ret;\n\tif (ret != n)\n\t\treturn -EFAULT;",
        "\tret = d->flags ? ask(d) : copy_from_iter(to, n, from);\n\tif (ret < 0)\n\t\treturn ret;",
        "\tif (d->flags)\n\t\tret = copy_from_iter_nocache(to, n, from);\n\telse\n\
         \t\tret = copy_from_iter(to, n, from);\n\tif (ret != n)\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(fill(right), NONE, "{right}");
    }
}

#[test]
fn what_finds_the_users_address_by_itself_is_asked_whether_it_faulted() {
    let with = |statements: &str| {
        rules(&format!(
            "static int put_log(struct part *d, u64 at)\n{{\n\tif (put_user(at, d->log + at))\n\
             \t\treturn -EFAULT;\n\treturn 0;\n}}\n\
             static int f(struct part *d, int at)\n{{\n\tint err;\n\n{statements}\n}}\n"
        ))
    };
    for wrong in [
        "\terr = put_log(d, at);\n\terr = put_log(d, at + 1);\n\treturn err;",
        "\terr = put_log(d, at);\n\terr = put_log(d, at + 1);\n\terr = err ?: put_log(d, at + 2);\n\treturn err;",
        "\terr = put_log(d, at);\n\treturn 0;",
        "\tif (at)\n\t\terr = put_log(d, at);\n\terr = ask(d);\n\tif (err)\n\t\treturn err;\n\treturn 0;",
    ] {
        assert_eq!(with(wrong), ["swallowed-fault"], "{wrong}");
    }
    for right in [
        "\terr = put_log(d, at);\n\terr = err ?: put_log(d, at + 1);\n\treturn err;",
        "\terr = put_log(d, at);\n\terr |= put_log(d, at + 1);\n\treturn err;",
        "\terr = put_log(d, at);\n\tif (!err)\n\t\terr = put_log(d, at + 1);\n\treturn err;",
        "\tput_log(d, at);\n\treturn 0;",
    ] {
        assert_eq!(with(right), NONE, "{right}");
    }
}
