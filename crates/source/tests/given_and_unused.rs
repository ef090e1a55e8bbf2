//! More of a buffer than a call says that it has filled.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// A read() of these statements.
fn read(statements: &str) -> Vec<String> {
    mistakes::rules(&format!(
        "struct dev {{ struct kfifo log; int mode; }};\n\
         static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tchar text[64];\n\tint room = sizeof(text);\n\tchar *buf;\n\tssize_t ret = 0;\n\tsize_t n;\n\n\
         {statements}\n\treturn ret;\n}}\n\
         static const struct file_operations ops = {{ .read = f }};\n"
    ))
}

#[test]
fn no_more_goes_out_than_a_call_has_given() {
    let of = |by: &str, then: &str| {
        read(&format!(
            "\tif (count > 4096)\n\t\tcount = 4096;\n\tbuf = kmalloc(count, GFP_KERNEL);\n\tif (!buf)\n\t\treturn -ENOMEM;\n\
             \tn = {by};\n{then}\n\tkfree(buf);"
        ))
    };
    let fifo = "kfifo_out(&d->log, buf, count)";
    let list = "sg_copy_to_buffer(d->list, 4, buf, count)";
    let all = "\tret = simple_read_from_buffer(u, count, at, buf, count);";
    let copy = "\tif (copy_to_user(u, buf, count))\n\t\tret = -EFAULT;\n\telse\n\t\tret = n;";
    let there = "\tunsigned int got;\n\n\tn = min(count, kfifo_len(&d->log));\n\tgot = kfifo_out(&d->log, buf, n);\n\tif (!got)\n\t\tret = -EAGAIN;\n\
                 \telse if (copy_to_user(u, buf, n))\n\t\tret = -EFAULT;\n\telse\n\t\tret = n;";
    assert_eq!(of("0", there), NONE);
    for by in [fifo, list] {
        assert_eq!(of(by, all), ["copied-holes"], "{by}");
        assert_eq!(of(by, copy), ["copied-holes"], "{by}");
        for right in [
            "\tret = simple_read_from_buffer(u, count, at, buf, n);",
            "\tcount = n;\n\tif (copy_to_user(u, buf, count))\n\t\tret = -EFAULT;",
            "\tif (n != count)\n\t\tret = -EIO;\n\telse if (copy_to_user(u, buf, count))\n\t\tret = -EFAULT;",
            "\tmemset(buf + n, 0, count - n);\n\tif (copy_to_user(u, buf, count))\n\t\tret = -EFAULT;",
        ] {
            assert_eq!(of(by, right), NONE, "{by}{right}");
        }
    }
}

#[test]
fn what_says_how_much_there_is_lies_unused() {
    for wrong in [
        "\tn = show_mode(d, text, room);\n\treturn simple_read_from_buffer(u, count, at, text, room);",
        "\tn = show_mode(d, text, sizeof(text));\n\treturn simple_read_from_buffer(u, count, at, text, sizeof(text));",
        "\tsnprintf(text, sizeof(text), \"%d\\n\", d->mode);\n\treturn simple_read_from_buffer(u, count, at, text, sizeof(text));",
    ] {
        assert_eq!(read(wrong), ["copied-holes"], "{wrong}");
    }
    for right in [
        "\tn = show_mode(d, text, room);\n\treturn simple_read_from_buffer(u, count, at, text, n);",
        "\tmemset(text, 0, sizeof(text));\n\tn = show_mode(d, text, room);\n\treturn simple_read_from_buffer(u, count, at, text, room);",
        "\tchar few[3];\n\n\tsnprintf(few, sizeof(few), \"%d\\n\", d->mode);\n\treturn simple_read_from_buffer(u, count, at, few, sizeof(few));",
        "\tret = get_text(d, text, room);\n\tif (ret)\n\t\treturn ret;\n\treturn simple_read_from_buffer(u, count, at, text, room);",
    ] {
        assert_eq!(read(right), NONE, "{right}");
    }
    let few = "\tchar few[4];\n\n\tsnprintf(few, sizeof(few), \"%d\\n\", d->mode);\n\treturn simple_read_from_buffer(u, count, at, few, sizeof(few));";
    assert_eq!(read(few), ["copied-holes"]);
}
