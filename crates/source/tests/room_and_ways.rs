//! How much room a program has, numbers that a text did not have, positions that are set anew, and ways on
//! which what was asked is no error.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// A read() of these statements, in a table.
fn reads(statements: &str) -> Vec<String> {
    rules(&format!(
        "struct port {{ u32 level; size_t filled; char line[64]; struct port_ops *ops; }};\n\
         static ssize_t port_read(struct file *file, char __user *to, size_t wanted, loff_t *pos)\n{{\n\
         \tstruct port *p = file->private_data;\n\tsize_t n = p->filled;\n\tssize_t ret;\n\tchar *text;\n\n{statements}\n}}\n\
         static const struct file_operations port_fops = {{ .read = port_read, }};\n"
    ))
}

#[test]
fn a_read_asks_how_much_room_there_is() {
    let fault = "\t\treturn -EFAULT;\n";
    for copied in [
        "\tif (copy_to_user(to, p->line, n))\n",
        "\tif (!wanted)\n\t\treturn 0;\n\tif (copy_to_user(to, p->line, n))\n",
        "\tif (wanted == 0)\n\t\treturn 0;\n\tif (copy_to_user(to, &p->level, sizeof(p->level)))\n",
        "\tif (put_user(p->level, (u32 __user *)to))\n",
        "\tpr_debug(\"%zu\\n\", wanted);\n\tif (copy_to_user(to + 4, p->line, n))\n",
    ] {
        let own = reads(&format!("{copied}{fault}\treturn n;"));
        assert_eq!(own, ["beyond-argument"], "{copied}");
    }
    for copied in [
        "\tn = min(n, wanted);\n\tif (copy_to_user(to, p->line, n))\n",
        "\tif (wanted < sizeof(p->level))\n\t\treturn -EINVAL;\n\tif (copy_to_user(to, &p->level, sizeof(p->level)))\n",
        "\tif (copy_to_user(to, p->line, port_room(p, wanted)))\n",
        // Nobody asks for less than a byte.
        "\tif (put_user(p->line[0], to))\n",
        "\tif (copy_to_user(to, p->line, 1))\n",
        // What it is given says by itself how long it is.
        "\tif (get_user(n, (u16 __user *)to) || n > sizeof(p->line))\n\t\treturn -EINVAL;\n\tif (copy_to_user(to, p->line, n))\n",
    ] {
        let own = reads(&format!("{copied}{fault}\treturn n;"));
        assert_eq!(own, NONE, "{copied}");
    }
}

/// A write() of these statements.
fn writes(statements: &str) -> Vec<String> {
    rules(&format!(
        "struct port {{ u32 level; u32 mode; char line[64]; }};\n\
         static ssize_t port_write(struct file *file, const char __user *from, size_t count, loff_t *pos)\n{{\n\
         \tstruct port *p = file->private_data;\n\tint err;\n\tu32 v;\n\n{statements}\n}}\n\
         static const struct file_operations port_fops = {{ .write = port_write, }};\n"
    ))
}

#[test]
fn a_number_is_used_where_the_text_had_one() {
    let asks = "\tif (err)\n\t\treturn err;\n";
    for set in [
        "\terr = kstrtou32_from_user(from, count, 0, &v);\n",
        "\tif (count >= sizeof(p->line) || copy_from_user(p->line, from, count))\n\t\treturn -EFAULT;\n\
         \tp->line[count] = 0;\n\terr = kstrtou32(p->line, 0, &v);\n",
    ] {
        let late = format!("{set}\tport_set(p, v);\n{asks}\treturn count;");
        assert_eq!(writes(&late), ["ignored-fault"], "{late}");
        let by_case = format!(
            "{set}\tswitch (p->mode) {{\n\tcase 1:\n\t\terr = port_set(p, v);\n\t\tbreak;\n\t}}\n{asks}\treturn count;"
        );
        assert_eq!(writes(&by_case), ["ignored-fault"], "{by_case}");
        let never = format!("{set}\tp->level = 1;\n\treturn count;");
        assert_eq!(writes(&never), ["ignored-fault"], "{never}");
        let right = format!("{set}{asks}\tport_set(p, v);\n\treturn count;");
        assert_eq!(writes(&right), NONE, "{right}");
        let first = format!("\tv = p->level;\n{set}\tport_set(p, v);\n{asks}\treturn count;");
        assert_eq!(writes(&first), NONE, "{first}");
        let either = format!("{set}\tif (!err)\n\t\tport_set(p, v);\n\treturn err ? err : count;");
        assert_eq!(writes(&either), NONE, "{either}");
    }
}

#[test]
fn a_position_goes_on_by_what_was_copied() {
    let sets = |set: &str| {
        reads(&format!(
            "\tif (*pos >= n)\n\t\treturn 0;\n\tn = min_t(size_t, n - *pos, wanted);\n\
             \tif (copy_to_user(to, p->line + *pos, n))\n\t\treturn -EFAULT;\n\t{set}\n\treturn n;"
        ))
    };
    assert_eq!(sets("*pos = n;"), ["kept-position"]);
    for right in ["*pos += n;", "*pos = *pos + n;"] {
        assert_eq!(sets(right), NONE, "{right}");
    }
    let of_iter = |set: &str| {
        rules(&format!(
            "struct port {{ char line[64]; }};\n\
             static ssize_t port_read_iter(struct kiocb *iocb, struct iov_iter *to)\n{{\n\
             \tstruct port *p = iocb->ki_filp->private_data;\n\tloff_t at = iocb->ki_pos;\n\tsize_t n;\n\n\
             \tif (at < 0 || at >= 64)\n\t\treturn 0;\n\tn = copy_to_iter(p->line + at, 64 - at, to);\n\
             \tif (!n)\n\t\treturn -EFAULT;\n\t{set}\n\treturn n;\n}}\n"
        ))
    };
    assert_eq!(of_iter("iocb->ki_pos = n;"), ["kept-position"]);
    for right in ["iocb->ki_pos = at + n;", "iocb->ki_pos += n;"] {
        assert_eq!(of_iter(right), NONE, "{right}");
    }
}

#[test]
fn what_was_asked_is_an_error_on_one_side_alone() {
    let left = |asked: &str, way: &str| {
        reads(&format!(
            "\ttext = kmalloc(100, GFP_KERNEL);\n\tif (!text)\n\t\treturn -ENOMEM;\n\tn = p->ops->show(p, text, 100);\n\
             \tret = simple_read_from_buffer(to, wanted, pos, text, n);\n\tif ({asked}){way}\n\tkfree(text);\n\treturn ret;"
        ))
    };
    for asked in ["ret < 0", "ret", "ret != 0"] {
        assert_eq!(left(asked, "\n\t\treturn ret;"), ["kept-memory"], "{asked}");
        let freed = " {\n\t\tkfree(text);\n\t\treturn ret;\n\t}";
        assert_eq!(left(asked, freed), NONE, "{asked}");
    }
}

#[test]
fn what_is_checked_is_as_large_as_what_is_copied() {
    let checked = |size: &str| {
        rules(&format!(
            "struct args {{ char __user *from; u16 length; }};\n\
             long port_set(struct port *p, struct args *args)\n{{\n\tstruct param *param = kmalloc(args->length, GFP_KERNEL);\n\
             \n\tif (!param)\n\t\treturn -ENOMEM;\n\
             \tif (!access_ok(args->from, {size}) || __copy_from_user(param, args->from, args->length)) {{\n\
             \t\tkfree(param);\n\t\treturn -EFAULT;\n\t}}\n\treturn port_take(p, param);\n}}\n"
        ))
    };
    let own = checked("sizeof(param)");
    assert!(own.contains(&"sizeof-pointer".to_owned()), "{own:?}");
    assert_eq!(checked("args->length"), NONE);
}

#[test]
fn each_members_own_pointer_is_checked() {
    let puts = |range: &str, second: &str| {
        rules(&format!(
            "struct lists {{ int __user *indices; int __user *sizes; int from, to; }};\n\
             int lists_put(struct buffer *b, struct lists *l, int i)\n{{\n\
             \tif (!user_write_access_begin({range}))\n\t\treturn -EFAULT;\n\
             \tunsafe_put_user(b->index, &l->indices[i], fault);\n\tunsafe_put_user(b->total, {second}, fault);\n\
             \tuser_write_access_end();\n\treturn 0;\nfault:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}}\n"
        ))
    };
    for range in [
        "&l->indices[i], sizeof(int)",
        "&l->indices[i], sizeof(b->index)",
    ] {
        assert_eq!(
            puts(range, "&l->sizes[i]"),
            ["outside-checked-range"],
            "{range}"
        );
    }
    assert_eq!(
        puts("l->indices, 2 * sizeof(int)", "l->sizes + 1"),
        ["outside-checked-range"]
    );
    let two = "&l->indices[i], 2 * sizeof(int)";
    assert_eq!(puts(two, "&l->indices[i + 1]"), NONE);
}

#[test]
fn an_end_has_room_whichever_way_memory_came() {
    let ends = |size: &str| {
        rules(&format!(
            "struct open {{ char *before; struct mutex lock; }};\n\
             static ssize_t open_write_iter(struct kiocb *iocb, struct iov_iter *iter)\n{{\n\
             \tstruct open *o = iocb->ki_filp->private_data;\n\tssize_t len = iov_iter_count(iter);\n\tchar *buf;\n\n\
             \tbuf = o->before;\n\tif (buf)\n\t\tmutex_lock(&o->lock);\n\telse\n\t\tbuf = kmalloc({size}, GFP_KERNEL);\n\
             \tif (!buf)\n\t\treturn -ENOMEM;\n\tif (copy_from_iter(buf, len, iter) != len) {{\n\t\tlen = -EFAULT;\n\
             \t\tgoto out;\n\t}}\n\tbuf[len] = 0;\n\topen_take(o, buf);\nout:\n\tif (buf == o->before)\n\
             \t\tmutex_unlock(&o->lock);\n\telse\n\t\tkfree(buf);\n\treturn len;\n}}\n"
        ))
    };
    assert_eq!(ends("len"), ["beyond-array"]);
    assert_eq!(ends("len + 1"), NONE);
}
