//! Copies of more than there is: than was written, than a call has told, than a position leaves, than a
//! product that wraps; and a structure of which one member is never set.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// What is said of a read() of these statements.
fn read(statements: &str) -> Vec<String> {
    rules(&format!(
        "#define ROOM 512\nstruct dev {{ int speed; char *names[4]; u8 raw[64]; }};\n\
         static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tchar buf[128], *k;\n\tint i, n = 0;\n\tssize_t ret;\n\n\
         {statements}\n\treturn ret;\n}}\n"
    ))
}

/// The same of memory that is allocated.
fn heap(statements: &str, count: &str) -> Vec<String> {
    read(&format!(
        "\tk = kmalloc(ROOM, GFP_KERNEL);\n\tif (!k)\n\t\treturn -ENOMEM;\n{statements}\n\
         \tret = simple_read_from_buffer(u, count, at, k, {count});\n\tkfree(k);"
    ))
}

#[test]
fn all_of_a_buffer_goes_out_of_which_a_part_was_written() {
    let fills = "\tfor (i = 0; i < 4; i++)\n\t\tn += scnprintf(buf + n, sizeof(buf) - n, \"%s \", d->names[i]);\n";
    let out = "\tret = simple_read_from_buffer(u, count, at, buf, sizeof(buf));";
    for wrong in [
        format!("{fills}\tbuf[n - 1] = '\\n';\n{out}"),
        format!("{fills}\tif (n && buf[n - 1] == ' ')\n\t\tbuf[n - 1] = '\\n';\n{out}"),
        format!("{fills}\tbuf[n++] = '\\n';\n\tbuf[n] = 0;\n{out}"),
        format!(
            "\tfor (i = 0; i < 64; i += 16) {{\n\t\thex_dump_to_buffer(d->raw + i, 16, 16, 4, buf + n, sizeof(buf) - n, false);\n\
             \t\tn += strlen(buf + n);\n\t\tbuf[n++] = '\\n';\n\t}}\n{out}"
        ),
    ] {
        assert_eq!(read(&wrong), ["copied-holes"], "{wrong}");
    }
    for right in [
        format!(
            "{fills}\tbuf[n - 1] = '\\n';\n\tret = simple_read_from_buffer(u, count, at, buf, n);"
        ),
        format!("{fills}\tbuf[n - 1] = '\\n';\n\tmemset(buf + n, 0, sizeof(buf) - n);\n{out}"),
        format!(
            "\tfor (i = 0; i < sizeof(buf); i++)\n\t\tbuf[i] = ' ';\n{fills}\tbuf[n] = '\\n';\n{out}"
        ),
        format!("{fills}\twhile (n < sizeof(buf))\n\t\tbuf[++i] = 0;\n{out}"),
        format!(
            "\tfor (i = 0; i < 64; i++)\n\t\tsprintf(buf + 2 * i, \"%02x\", d->raw[i]);\n\tbuf[127] = '\\n';\n{out}"
        ),
    ] {
        assert_eq!(read(&right), NONE, "{right}");
    }
    let lines = "\tfor (i = 0; i < 64; i += 16) {\n\t\tn += scnprintf(k + n, ROOM - n, \"%#.4x: \", i);\n\
         \t\thex_dump_to_buffer(d->raw + i, 16, 16, 4, k + n, ROOM - n, 0);\n\t\tn += strlen(k + n);\n\
         \t\tif (ROOM - n > 0)\n\t\t\tk[n++] = '\\n';\n\t}";
    assert_eq!(heap(lines, "ROOM"), ["copied-holes"]);
    assert_eq!(heap(lines, "n"), NONE);
}

/// What is said of a function that gives a program what another one has.
fn given(parameters: &str, statements: &str) -> Vec<String> {
    rules(&format!(
        "struct area {{ size_t size; u8 *front; }};\n\
         struct want {{ u64 where; u32 room; u32 have; u32 mask; }};\n\
         int show({parameters})\n{{\n\tu8 *p;\n\tu32 n = a->size;\n\tu64 need;\n\tssize_t got;\n\n\
         {statements}\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn a_call_has_told_how_much_there_is() {
    let find = |rest: &str| {
        given(
            "struct area *a, char __user *to, size_t len, loff_t *pos",
            &format!("\tgot = area_at(a, *pos, len, &p);\n{rest}"),
        )
    };
    for wrong in [
        "\tif (got <= 0)\n\t\treturn 0;\n\tif (copy_to_user(to, p, len))\n\t\treturn -EFAULT;\n\t*pos += got;",
        "\tif (got < 0)\n\t\treturn got;\n\tif (copy_to_user(to, p, len))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(find(wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "\tif (got <= 0)\n\t\treturn 0;\n\tif (copy_to_user(to, p, got))\n\t\treturn -EFAULT;\n\t*pos += got;",
        "\tif (got < len)\n\t\treturn -EIO;\n\tif (copy_to_user(to, p, len))\n\t\treturn -EFAULT;",
        "\tif (len > got)\n\t\tlen = got;\n\tif (copy_to_user(to, p, len))\n\t\treturn -EFAULT;",
        "\tlen = min(len, got);\n\tif (copy_to_user(to, p, len))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(find(right), NONE, "{right}");
    }
    let room = |rest: &str| {
        given(
            "struct area *a, char __user *to, u32 len",
            &format!(
                "\tp = message_room(a, &n);\n\tif (IS_ERR(p))\n\t\treturn PTR_ERR(p);\n{rest}"
            ),
        )
    };
    let copy = "\tif (copy_to_user(to, p, len))\n\t\treturn -EFAULT;";
    assert_eq!(room(copy), ["beyond-variable"]);
    for right in [
        "\tlen = min(len, n);\n",
        "\tif (len > n)\n\t\treturn -EINVAL;\n",
        "\tif (!fits(a, len))\n\t\treturn -EINVAL;\n",
    ] {
        assert_eq!(room(&format!("{right}{copy}")), NONE, "{right}");
    }
}

#[test]
fn less_is_refused_and_the_greater_one_copied() {
    let reply = |asked: &str, count: &str| {
        given(
            "struct area *a, struct want *w",
            &format!(
                "\tif (ask(a, w->mask, &need))\n\t\treturn -EIO;\n{asked}\
                 \tif (copy_to_user(u64_to_user_ptr(w->where), area_front(a), {count}))\n\t\treturn -EFAULT;\n\
                 \tw->have = need;"
            ),
        )
    };
    let less = "\tif (w->room < need)\n\t\treturn -ENOSPC;\n";
    assert_eq!(reply(less, "w->room"), ["beyond-variable"]);
    assert_eq!(reply(less, "need"), NONE);
    assert_eq!(
        reply("\tif (w->room != need)\n\t\treturn -EINVAL;\n", "w->room"),
        NONE
    );
    let both = format!("{less}\tif (w->room > area_size(a))\n\t\treturn -EINVAL;\n");
    assert_eq!(reply(&both, "w->room"), NONE);
}

#[test]
fn the_rest_of_a_block() {
    let block = |made: &str, copy: &str| {
        rules(&format!(
            "static int f(struct page *page, unsigned long pos, char __user *to, u8 *keep)\n{{\n\
             \tunsigned long at = {made};\n\tchar *k = kmap_local_page(page);\n\n{copy}\n\
             \tkunmap_local(k);\n\treturn 0;\n}}\n"
        ))
    };
    for (made, copy) in [
        (
            "pos % PAGE_SIZE",
            "\tif (copy_to_user(to, k + at, PAGE_SIZE))\n\t\treturn -EFAULT;",
        ),
        (
            "pos & (4096 - 1)",
            "\tif (copy_to_user(to, &k[at], 4096))\n\t\treturn -EFAULT;",
        ),
    ] {
        assert_eq!(block(made, copy), ["beyond-variable"], "{copy}");
    }
    for (made, copy) in [
        (
            "pos % PAGE_SIZE",
            "\tif (copy_to_user(to, k + at, PAGE_SIZE - at))\n\t\treturn -EFAULT;",
        ),
        (
            "pos / PAGE_SIZE",
            "\tif (copy_to_user(to, k + at, 64))\n\t\treturn -EFAULT;",
        ),
    ] {
        assert_eq!(block(made, copy), NONE, "{copy}");
    }
    let moved = |count: &str| {
        block(
            "pos % PAGE_SIZE",
            &format!(
                "\tmemcpy(keep + at, k + at, {count});\n\tif (copy_to_user(to, keep, 1))\n\t\treturn -EFAULT;"
            ),
        )
    };
    assert_eq!(moved("PAGE_SIZE"), ["beyond-variable"]);
    assert_eq!(moved("PAGE_SIZE - at"), NONE);
}

#[test]
fn a_position_is_left_out_where_the_front_is_cleared_first() {
    let write = |bound: &str| {
        rules(&format!(
            "static char *panel;\nstatic u32 panel_size;\n\
             static ssize_t panel_write(struct file *file, const char __user *from, size_t len, loff_t *pos)\n{{\n\
             \tssize_t n;\n\n\
             \tif (!*pos)\n\t\tmemset(panel, ' ', panel_size);\n\telse if (*pos >= panel_size)\n\t\treturn -EFBIG;\n\n\
             \t{bound};\n\tif (copy_from_user(panel + *pos, from, n))\n\t\treturn -EFAULT;\n\t*pos += n;\n\treturn n;\n}}\n\
             static const struct file_operations panel_fops = {{\n\t.write = panel_write,\n}};\n"
        ))
    };
    for wrong in [
        "n = min_t(size_t, len, panel_size)",
        "n = min(panel_size, len)",
        "n = len > panel_size ? panel_size : len",
    ] {
        assert_eq!(write(wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "n = min_t(size_t, len, panel_size - *pos)",
        "n = *pos ? panel_size - *pos : panel_size;\n\tn = min_t(size_t, n, len)",
    ] {
        assert_eq!(write(right), NONE, "{right}");
    }
}

#[test]
fn a_shift_of_the_programs_number_wraps() {
    let write = |asked: &str, size: &str| {
        rules(&format!(
            "struct dev {{ u32 *regs; u32 used; }};\n\
             static ssize_t f(struct file *file, const char __user *from, size_t count, loff_t *pos)\n{{\n\
             \tstruct dev *d = file->private_data;\n\tu32 at, n, i;\n\tchar *text;\n\tint rc;\n\n\
             \ttext = memdup_user_nul(from, count);\n\tif (IS_ERR(text))\n\t\treturn PTR_ERR(text);\n\
             \trc = sscanf(text, \"%x:%x\", &at, &n);\n\tkfree(text);\n\tif (rc < 2)\n\t\treturn -EINVAL;\n{asked}\
             \td->regs = kzalloc({size}, GFP_KERNEL);\n\tif (!d->regs)\n\t\treturn -ENOMEM;\n\
             \tfor (i = 0; i < n; i++)\n\t\td->regs[i] = hw_read(d, at + i);\n\treturn count;\n}}\n"
        ))
    };
    for wrong in ["n << 2", "n * 4", "4 * n"] {
        assert_eq!(write("", wrong), ["wrapping-size"], "{wrong}");
    }
    let bounded = "\tif (n > UINT_MAX >> 2)\n\t\treturn -EINVAL;\n";
    for (asked, size) in [
        (bounded, "n << 2"),
        ("", "array_size(n, 4)"),
        ("", "(size_t)n << 2"),
        ("\tif (n > 64)\n\t\treturn -EINVAL;\n", "n * 4"),
    ] {
        assert_eq!(write(asked, size), NONE, "{size}");
    }
}

#[test]
fn a_member_is_never_set_where_the_other_side_of_an_if_sets_another() {
    let gives = |cleared: &str, hidden: &str| {
        rules(&format!(
            "struct info {{ u32 id; u32 active; u8 spare[24]; }};\n\
             static int f(struct dev *d, void __user *to)\n{{\n\tstruct info x;\n\n\tx.id = 7;\n\
             #ifdef CONFIG_CON\n\tx.active = d->con ? 1 : 0;\n#else\n\t{hidden}\n#endif\n{cleared}\
             \tif (copy_to_user(to, &x, sizeof(x)))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(gives("", "x.active = 0;"), ["copied-holes"]);
    let cleared = "\tmemset(x.spare, 0, sizeof(x.spare));\n";
    assert_eq!(gives(cleared, "x.active = 0;"), NONE);
}
