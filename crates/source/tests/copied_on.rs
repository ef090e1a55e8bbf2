//! What lay there before in a structure that is copied into what goes out, and behind what a call wrote.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// A read() of these statements.
fn read(statements: &str) -> Vec<String> {
    mistakes::rules(&format!(
        "struct head {{ u32 kind; u32 sum; }};\nstruct dev {{ u32 kind; u32 conf[16]; u8 id[16]; }};\n\
         static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tstruct head h;\n\tchar *buf, *pos, *end;\n\tchar text[34];\n\tint i, n;\n\tssize_t ret = 0;\n\n\
         {statements}\n\treturn ret;\n}}\n\
         static const struct file_operations ops = {{ .read = f }};\n"
    ))
}

#[test]
fn a_structure_is_copied_into_what_goes_out() {
    let of = |set: &str, copy: &str, out: &str| {
        read(&format!(
            "\tif (count < 72)\n\t\treturn -EINVAL;\n\tbuf = kmalloc(72, GFP_KERNEL);\n\tif (!buf)\n\t\treturn -ENOMEM;\n{set}{copy}{out}\tkfree(buf);"
        ))
    };
    let part = "\th.kind = d->kind;\n";
    let at_once =
        "\tmemcpy(buf, &h, sizeof(h));\n\tmemcpy(buf + sizeof(h), d->conf, sizeof(d->conf));\n";
    let moved = "\tpos = buf;\n\tmemcpy(pos, &h, sizeof(h));\n\tpos += sizeof(h);\n\tmemcpy(pos, d->conf, sizeof(d->conf));\n";
    let behind = "\tmemcpy(buf, d->conf, sizeof(d->conf));\n\tmemcpy(buf + sizeof(d->conf), &h, sizeof(h));\n";
    let shown = "\tret = simple_read_from_buffer(u, count, at, buf, 72);\n";
    let out = "\tif (copy_to_user(u, buf, 72))\n\t\tret = -EFAULT;\n";
    for copy in [at_once, moved, behind] {
        for out in [shown, out] {
            assert_eq!(of(part, copy, out), ["copied-holes"], "{copy}{out}");
            for right in [
                "\th.kind = d->kind;\n\th.sum = 0;\n",
                "\tmemset(&h, 0, sizeof(h));\n\th.kind = d->kind;\n",
                "\tfill_head(d, &h);\n",
            ] {
                assert_eq!(of(right, copy, out), NONE, "{right}{copy}{out}");
            }
        }
        assert_eq!(of(part, copy, "\tsend(d, buf);\n"), NONE, "{copy}");
    }
    let elsewhere = "\tmemcpy(d->conf, &h, sizeof(h));\n\tmemset(buf, 0, 72);\n";
    assert_eq!(of(part, elsewhere, shown), NONE);
}

#[test]
fn the_whole_goes_out_of_what_digits_fill_in_part() {
    let end = "\t*end++ = '\\n';\n\t*end = 0;\n";
    let all = "\tret = simple_read_from_buffer(u, count, at, text, sizeof(text));";
    let of = |call: &str, out: &str| {
        read(&format!(
            "\tn = get_id(d, d->id);\n\tif (n < 0)\n\t\treturn n;\n{call}{end}{out}"
        ))
    };
    let part = "\tend = bin2hex(text, d->id, min(n, 16));\n";
    assert_eq!(of(part, all), ["copied-holes"]);
    assert_eq!(
        of(
            part,
            "\tret = simple_read_from_buffer(u, count, at, text, end - text);"
        ),
        NONE
    );
    for right in [
        "\tend = bin2hex(text, d->id, 16);\n",
        "\tmemset(text, 0, sizeof(text));\n\tend = bin2hex(text, d->id, min(n, 16));\n",
        "\tif (n != 16)\n\t\treturn -EIO;\n\tend = bin2hex(text, d->id, n);\n",
        "\tend = bin2hex(text, d->id, min(n, 16));\n\twhile (end < text + 33)\n\t\t*end++ = ' ';\n",
    ] {
        assert_eq!(of(right, all), NONE, "{right}");
    }
    let made = "\tn = 2 * d->kind;\n\tbuf = kmalloc(n, GFP_KERNEL);\n\tif (!buf)\n\t\treturn -ENOMEM;\n\
        \tbin2hex(buf, d->id, d->kind);\n\tret = simple_read_from_buffer(u, count, at, buf, n);\n\tkfree(buf);";
    assert_eq!(read(made), NONE);
}
