//! Reads that begin at the front of what they hand out each time, or move on by more or less than they copy.

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

/// What is said of a read() of these statements.
fn read(statements: &str) -> Vec<String> {
    said(&format!(
        "static ssize_t f(struct file *file, char __user *to, size_t n, loff_t *at)\n{{\n\tstruct dev *d = file->private_data;\n{statements}\n}}\n\
         static const struct file_operations ops = {{\n\t.read = f,\n}};\n"
    ))
}

#[test]
fn a_read_begins_at_the_front_each_time() {
    let wrong = "\tloff_t pos = 0;\n\n\treturn simple_read_from_buffer(to, n, &pos, d->text, strlen(d->text));";
    for wrong in [
        wrong,
        &wrong.replace("\treturn", "\tif (*at < 0)\n\t\treturn -EINVAL;\n\treturn"),
        "\tssize_t ret;\n\tloff_t from;\n\n\tfrom = 0;\n\tmutex_lock(&d->lock);\n\tret = simple_read_from_buffer(to, n, &from, d->text, d->used);\n\tmutex_unlock(&d->lock);\n\treturn ret;",
    ] {
        assert_eq!(read(wrong), ["kept-position"], "{wrong}");
    }
    for right in [
        &*wrong.replace("&pos", "at"),
        // It is given back, or is where the program is.
        &wrong
            .replace("\treturn", "\td->n =")
            .replace("text));", "text));\n\t*at = pos;\n\treturn d->n;"),
        &wrong.replace("pos = 0", "pos = *at"),
        &wrong.replace("\treturn", "\t*at += n;\n\treturn"),
        &wrong.replace("\treturn", "\tdev_move(d, at);\n\treturn"),
        &wrong.replace("\treturn", "\tpos = d->from;\n\treturn"),
        &wrong.replace("\treturn", "\tfile->f_pos += n;\n\treturn"),
    ] {
        assert_eq!(read(right), NONE, "{right}");
    }
    // What is written begins at the front of what takes it.
    let write = "static ssize_t f(struct file *file, const char __user *from, size_t n, loff_t *at)\n{\n\tchar text[32];\n\tloff_t pos = 0;\n\tssize_t ret;\n\n\tret = simple_write_to_buffer(text, sizeof(text) - 1, &pos, from, n);\n\tif (ret < 0)\n\t\treturn ret;\n\ttext[ret] = 0;\n\treturn use(text) ?: n;\n}\nstatic const struct file_operations ops = {\n\t.write = f,\n};\n";
    assert_eq!(said(write), NONE);
}

#[test]
fn a_position_is_moved_on_by_more_than_is_answered() {
    let right = "\tsize_t left;\n\n\tif (*at < 0 || *at >= d->used)\n\t\treturn 0;\n\tn = min_t(size_t, n, d->used - *at);\n\tleft = copy_to_user(to, d->text + *at, n);\n\tif (left == n)\n\t\treturn -EFAULT;\n\t*at += n - left;\n\treturn n - left;";
    assert_eq!(read(right), NONE);
    let wrong = right.replace("*at += n - left", "*at += n");
    assert_eq!(read(&wrong), ["kept-position"]);
    // Only where nothing was left.
    let right = wrong.replace(
        "\t*at += n;",
        "\tif (left)\n\t\t*at += n - left;\n\telse\n\t\t*at += n;",
    );
    assert_eq!(read(&right), NONE);
}

#[test]
fn what_is_counted_is_copied_to_the_same_address() {
    let right = "\tsize_t part, done = 0;\n\n\twhile (n) {\n\t\tpart = min_t(size_t, n, d->part);\n\t\tif (copy_to_user(to, d->text, part))\n\t\t\treturn -EFAULT;\n\t\tto += part;\n\t\tn -= part;\n\t\tdone += part;\n\t}\n\t*at += done;\n\treturn done;";
    assert_eq!(read(right), NONE);
    let wrong = right.replace("\t\tto += part;\n", "");
    assert_eq!(read(&wrong), ["kept-pointer"]);
    for right in [
        wrong.replace("(to, d", "(to + done, d"),
        // It ends there.
        wrong.replace("\t\tdone += part;", "\t\tdone += part;\n\t\tbreak;"),
        // On one of two ways that a condition keeps apart.
        wrong.replace(
            "\t\tn -= part;",
            "\t\tif (!d->same)\n\t\t\tto += part;\n\t\tn -= part;",
        ),
        wrong.replace("\t\tn -= part;", "\t\tadvance(&to, part);\n\t\tn -= part;"),
    ] {
        assert_eq!(read(&right), NONE, "{right}");
    }
    let right = "\tsize_t end = d->size - d->first;\n\n\tif (n > end) {\n\t\tif (copy_to_user(to, d->text, end))\n\t\t\treturn -EFAULT;\n\t\tto += end;\n\t\tn -= end;\n\t}\n\tif (copy_to_user(to, d->text + end, n))\n\t\treturn -EFAULT;\n\t*at += n;\n\treturn n;";
    assert_eq!(read(right), NONE);
    assert_eq!(
        read(&right.replace("\t\tto += end;\n", "")),
        ["kept-pointer"]
    );
    // What a call moves it by is told behind the call.
    let right = right
        .replace("to += end", "to += part_of(d)")
        .replace("n -= end", "n -= part_of(d)")
        .replace("d->text, end)", "d->text, part_of(d))");
    assert_eq!(read(&right), NONE);
}
