//! Copies that begin where a program says, and are bounded as if that were the front.

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

/// What is said of a read() of a structure's memory behind those statements.
fn read(statements: &str, copy: &str) -> Vec<String> {
    said(&format!(
        "struct log {{\n\tchar *mem;\n\tsize_t size;\n}};\n\
         static ssize_t log_read(struct file *f, char __user *to, size_t n, loff_t *ppos)\n{{\n\tstruct log *l = f->private_data;\n\tloff_t pos = *ppos;\n\tchar *from = l->mem + pos;\n\tsize_t most;\n\n\
         {statements}\n\tif ({copy})\n\t\treturn -EFAULT;\n\t*ppos = pos + n;\n\treturn n;\n}}\n\
         static const struct file_operations log_ops = {{\n\t.read = log_read,\n}};\n"
    ))
}

const COPIES: [&str; 3] = [
    "copy_to_user(to, l->mem + pos, n)",
    "copy_to_user(to, &l->mem[pos], n)",
    "copy_to_user(to, from, n)",
];

#[test]
fn what_there_is_from_the_front_on_is_no_bound_behind_it() {
    let begins = "\tif (pos >= l->size)\n\t\treturn 0;\n";
    for copy in COPIES {
        for wrong in [
            "\tif (n > l->size)\n\t\tn = l->size;",
            "\tif (n > l->size)\n\t\treturn -EINVAL;",
            "\tif (n > l->size)\n\t\tn = l->size - pos;",
            "\tmost = l->size;\n\tif (most < n)\n\t\tn = most;",
        ] {
            let wrong = format!("{begins}{wrong}");
            assert_eq!(read(&wrong, copy), ["beyond-variable"], "{wrong} {copy}");
        }
    }
}

#[test]
fn what_is_left_is_a_bound() {
    let begins = "\tif (pos >= l->size)\n\t\treturn 0;\n";
    for copy in COPIES {
        for right in [
            "\tif (n > l->size - pos)\n\t\tn = l->size - pos;",
            "\tif (pos + n > l->size)\n\t\tn = l->size - pos;",
            "\tif (n > l->size)\n\t\treturn -EINVAL;\n\tif (n + pos > l->size)\n\t\treturn -EINVAL;",
            "\tmost = l->size - pos;\n\tif (n > most)\n\t\tn = most;",
            "\tif (n > l->size)\n\t\treturn -EINVAL;\n\tn = min_t(size_t, n, l->size - pos);",
            // Only the front is read.
            "\tif (pos != 0)\n\t\treturn 0;\n\tif (n > l->size)\n\t\tn = l->size;",
            "\tif (*ppos)\n\t\treturn 0;\n\tif (n > l->size)\n\t\tn = l->size;",
            "\tif (pos)\n\t\treturn 0;\n\tif (n > l->size)\n\t\tn = l->size;",
            // Another one may have judged both.
            "\tif (!in_log(l, pos, n))\n\t\treturn -EINVAL;\n\tif (n > l->size)\n\t\treturn -EINVAL;",
        ] {
            let right = format!("{begins}{right}");
            assert_eq!(read(&right, copy), NONE, "{right} {copy}");
        }
    }
    // From the front on it is one.
    let front = "\tif (n > l->size)\n\t\tn = l->size;";
    assert_eq!(read(front, "copy_to_user(to, l->mem, n)"), NONE);
}
