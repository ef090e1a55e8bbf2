//! Copies from where a program stands in a file, of as many bytes as the whole has.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// What is said of what reads a file by these statements.
fn said(statements: &str) -> Vec<String> {
    rules(&format!(
        "struct trace {{ u8 *front; u32 depth; size_t size; u8 data; }};\n\
         static ssize_t trace_read(struct file *file, char __user *to, size_t len, loff_t *ppos)\n{{\n\
         \tstruct trace *t = file->private_data;\n\tu32 depth = t->depth;\n\tunsigned char *from;\n\tsize_t all, count = len;\n\n\
         {statements}\n\treturn len;\n}}\n\
         static const struct file_operations trace_fops = {{\n\t.read = trace_read,\n}};\n"
    ))
}

#[test]
fn what_is_left_of_a_whole_is_less_by_the_position() {
    let copy =
        "\tif (copy_to_user(to, t->front + *ppos, len))\n\t\treturn -EFAULT;\n\t*ppos += len;";
    let moved = "\tfrom = (unsigned char *)&t->data;\n\tfrom += *ppos;\n\tif (copy_to_user(to, from, count))\n\t\treturn -EFAULT;\n\t*ppos += count;\n\treturn count;";
    for (bound, copy) in [
        ("\tif (len > depth * 4)\n\t\tlen = depth * 4;\n", copy),
        (
            "\tif (*ppos >= t->size)\n\t\treturn 0;\n\tlen = min(len, t->size);\n",
            copy,
        ),
        (
            "\tif (*ppos >= t->size)\n\t\treturn 0;\n\tif (len > t->size)\n\t\tlen = t->size;\n",
            copy,
        ),
        (
            "\tif (*ppos >= t->size)\n\t\treturn 0;\n\n\tall = t->size;\n\tif (count > all)\n\t\tcount = all;\n",
            moved,
        ),
    ] {
        let wrong = format!("{bound}{copy}");
        assert_eq!(said(&wrong), ["beyond-variable"], "{wrong}");
    }
    for (bound, copy) in [
        (
            "\tif (*ppos + len > depth * 4)\n\t\tlen = depth * 4 - *ppos;\n",
            copy,
        ),
        (
            "\tif (*ppos >= t->size)\n\t\treturn 0;\n\tlen = min_t(size_t, len, t->size - *ppos);\n",
            copy,
        ),
        (
            "\tloff_t pos = *ppos;\n\n\tif (pos >= t->size)\n\t\treturn 0;\n\tall = t->size - pos;\n\tif (len > all)\n\t\tlen = all;\n",
            copy,
        ),
        (
            "\tif (*ppos >= t->size)\n\t\treturn 0;\n\n\tall = t->size - *ppos;\n\tif (count > all)\n\t\tcount = all;\n",
            moved,
        ),
        (
            "\tif (*ppos >= t->size - 64)\n\t\treturn 0;\n\tif (len > 64)\n\t\tlen = 64;\n",
            copy,
        ),
        (
            "\tif (*ppos != 0)\n\t\treturn 0;\n\tif (len > t->size)\n\t\tlen = t->size;\n",
            copy,
        ),
        (
            "\tif (!fits(t, ppos, len))\n\t\treturn 0;\n\tif (len > t->size)\n\t\tlen = t->size;\n",
            copy,
        ),
    ] {
        let right = format!("{bound}{copy}");
        assert_eq!(said(&right), NONE, "{right}");
    }
}
