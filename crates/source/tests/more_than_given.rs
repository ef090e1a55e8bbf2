//! What read() and write() take more of than a program gives them, or hold against nothing.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// A write() of these statements.
fn write(statements: &str) -> Vec<String> {
    mistakes::rules(&format!(
        "struct head {{ u32 kind, len; }};\n\
         struct dev {{ char *log; u32 used; u32 rooms; }};\n\
         static ssize_t f(struct file *file, const char __user *buf, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tstruct head h;\n\tu8 text[33];\n\tint hs = sizeof(h);\n\tloff_t own = 0;\n\tssize_t ret;\n\n\
         \tif (copy_from_user(&h, buf, sizeof(h)))\n\t\treturn -EFAULT;\n\
         {statements}\n\treturn use(d, &h, text, own) ?: count;\n}}\n\
         static const struct file_operations ops = {{ .write = f }};\n"
    ))
}

#[test]
fn what_begins_behind_the_front_is_shorter() {
    let limit = "\tif (count < sizeof(h) || count > 4096)\n\t\treturn -EINVAL;\n";
    let of = |then: &str| {
        write(&format!(
            "{limit}\td->log = kmalloc(count, GFP_KERNEL);\n\tif (!d->log)\n\t\treturn -ENOMEM;\n{then}"
        ))
    };
    for wrong in [
        "\tif (copy_from_user(d->log, buf + hs, count))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(d->log, buf + sizeof(h), count))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(d->log, &buf[8], count))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(d->log, (void __user *)(buf + 8), count))\n\t\treturn -EFAULT;",
        "\tbuf += sizeof(h);\n\tif (copy_from_user(d->log, buf, count))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(of(wrong), ["beyond-argument"], "{wrong}");
    }
    for right in [
        "\tif (copy_from_user(d->log, buf + hs, count - hs))\n\t\treturn -EFAULT;",
        "\tcount -= hs;\n\tif (copy_from_user(d->log, buf + hs, count))\n\t\treturn -EFAULT;",
        "\tbuf += hs;\n\tcount -= hs;\n\tif (copy_from_user(d->log, buf, count))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(d->log, buf, count))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(d->log, buf + 0, count))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(d->log, buf, count))\n\t\treturn -EFAULT;\n\tbuf += hs;",
        "\tcount = take(d, count);\n\tif (copy_from_user(d->log, buf + hs, count))\n\t\treturn -EFAULT;",
        "\tif (fits(d, &count))\n\t\treturn -EINVAL;\n\tif (copy_from_user(d->log, buf + hs, count))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}

#[test]
fn as_many_as_a_member_says_are_not_checked() {
    let read = |then: &str| {
        let mut found = mistakes::rules(&format!(
            "struct dev {{ struct mutex lock; char *log; u32 used; }};\n\
             static ssize_t f(struct file *file, char __user *buf, size_t count, loff_t *at)\n{{\n\
             \tstruct dev *d = file->private_data;\n\tssize_t ret;\n\n\tmutex_lock(&d->lock);\n{then}\n\
             \td->used = 0;\n\tmutex_unlock(&d->lock);\n\treturn ret;\n}}\n\
             static const struct file_operations ops = {{ .read = f }};\n"
        ));
        found.retain(|own| own != "distant-access-ok");
        found
    };
    let copy = "\tret = __copy_to_user(buf, d->log, d->used) ? -EFAULT : d->used;";
    let check =
        "\tif (!access_ok(buf, count)) {\n\t\tmutex_unlock(&d->lock);\n\t\treturn -EFAULT;\n\t}\n";
    assert_eq!(read(&format!("{check}{copy}")), ["other-object-checked"]);
    for right in [
        format!(
            "\tif (count < d->used) {{\n\t\tmutex_unlock(&d->lock);\n\t\treturn -EINVAL;\n\t}}\n{check}{copy}"
        ),
        format!(
            "\tif (fill(d, count)) {{\n\t\tmutex_unlock(&d->lock);\n\t\treturn -EINVAL;\n\t}}\n{check}{copy}"
        ),
        format!("\td->used = min(d->used, count);\n{check}{copy}"),
        format!("{check}\tret = __copy_to_user(buf, d->log, count) ? -EFAULT : count;"),
    ] {
        assert_eq!(read(&right), NONE, "{right}");
    }
}
