//! Positions that count twice, memory that goes back to others than it came from, and what calls
//! say of a part.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "#define ROOM 512\n\
     struct req { u32 id; u16 type; u16 len; u32 rest[4]; };\n\
     struct dev { char *buf; size_t size; loff_t at; struct mutex lock; struct req kept; u32 used; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    mistakes::rules(&format!("{TYPES}{functions}"))
}

#[test]
fn a_position_that_the_call_adds_counts_once() {
    let write = |statements: &str, given: &str| {
        rules(&format!(
            "static ssize_t f(struct file *file, const char __user *u, size_t n, loff_t *pos)\n{{\n\
             \tstruct dev *d = file->private_data;\n\tchar *to = d->buf + *pos;\n\tloff_t own = *pos & 511;\n\tssize_t ret;\n\n\
             {statements}\tret = simple_write_to_buffer({given}, u, n);\n\tif (ret > 0)\n\t\td->used = ret;\n\treturn ret;\n}}\n\
             static const struct file_operations ops = {{ .write = f }};\n"
        ))
    };
    for wrong in [
        "d->buf + *pos, d->size, pos",
        "(d->buf + (size_t)*pos), d->size, pos",
        "d->buf + own, d->size - own, &own",
        "d->buf + 16 + own, d->size, &own",
        "&d->buf[*pos], d->size, pos",
        "d->buf + d->at, d->size, &d->at",
        "to, d->size, pos",
    ] {
        assert_eq!(write("\tif (*pos < 0 || *pos >= ROOM)\n\t\treturn 0;\n", wrong), ["kept-position"], "{wrong}");
    }
    for right in [
        "d->buf, d->size, pos",
        "d->buf + 16, d->size, pos",
        "d->buf + own, d->size, pos",
        "d->buf + *pos - own, d->size, pos",
        "d->buf + *pos, d->size, &own",
        "&d->buf[d->at], d->size, pos",
    ] {
        // Another position says where the other object begins.
        let own = match right.contains("own") {
            true => "\town = d->at;\n",
            false => "",
        };
        assert_eq!(write(own, right), NONE, "{right}");
    }
    let read = |from: &str| {
        rules(&format!(
            "static int other(u32 __user *u)\n{{\n\treturn put_user(1, u);\n}}\n\
             static ssize_t f(struct file *file, char __user *u, size_t n, loff_t *pos)\n{{\n\
             \tstruct dev *d = file->private_data;\n\n\tif (*pos < 0 || *pos >= d->size)\n\t\treturn 0;\n\
             \treturn simple_read_from_buffer(u, n, pos, {from}, d->size);\n}}\n\
             static const struct file_operations ops = {{ .read = f }};\n"
        ))
    };
    assert_eq!(read("d->buf + *pos"), ["kept-position"]);
    assert_eq!(read("&d->buf[*pos]"), ["kept-position"]);
    assert_eq!(read("d->buf"), NONE);
    assert_eq!(read("d->buf + d->used"), NONE);
}
