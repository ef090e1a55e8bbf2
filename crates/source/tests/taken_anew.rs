//! What a variable takes once more, what a comparison leaves as it is, what results say, and what is
//! let go, checked, cleared or allocated by less than is meant.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "#define ROOM 512\n\
     struct req { u8 version; u8 type; u16 len; u32 rest[4]; };\n\
     struct head { u8 version; u8 type; u16 len; };\n\
     struct own { u32 length; u8 data[]; };\n\
     struct info { u32 argsz; u32 flags; u32 regions; u32 irqs; u32 cap; };\n\
     struct list { unsigned long n; u32 __user *all; };\n\
     struct dev { char *buf; size_t size; struct mutex lock; struct device d; u32 used; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A write() of these statements.
fn write(statements: &str) -> Vec<String> {
    rules(&format!(
        "static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tchar *buf = d->buf;\n\tsize_t n = count;\n\tssize_t done = 0;\n\n\
         {statements}\n\treturn done;\n}}\n\
         static const struct file_operations ops = {{ .write = f }};\n"
    ))
}

#[test]
fn a_bound_is_none_of_what_a_variable_takes_behind_it() {
    let turn = |again: &str| {
        write(&format!(
            "\tif (n > ROOM)\n\t\tn = ROOM;\n\tif (copy_from_user(buf, u, n))\n\t\treturn -EFAULT;\n\
             \tdo {{\n\t\tssize_t sent = send(d, buf, n);\n\n\t\tif (sent < 0)\n\t\t\tbreak;\n\
             \t\tn -= sent;\n\t\tcount -= sent;\n\t\tu += sent;\n\t\tdone += sent;\n\
             \t\tif (count) {{\n{again}\n\t\t\tif (copy_from_user(buf, u, n))\n\t\t\t\treturn -EFAULT;\n\t\t}}\n\t}} while (count > 0);"
        ))
    };
    for wrong in ["\t\t\tn = count;", "\t\t\tn = count + 4;"] {
        assert_eq!(turn(wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "\t\t\tn = count;\n\t\t\tif (n > ROOM)\n\t\t\t\tn = ROOM;",
        "\t\t\tn = min_t(size_t, count, ROOM);",
        "\t\t\tn = count > ROOM ? ROOM : count;",
        "\t\t\tn = room(d, count);",
    ] {
        assert_eq!(turn(right), NONE, "{right}");
    }
    // The very step that takes it may ask for it as well.
    let at_once = "\tssize_t part = count;\n\n\tif (*at + part >= ROOM)\n\t\tpart = ROOM - *at;\n\tif (part <= 0)\n\t\treturn 0;\n\tif (copy_from_user(buf + *at, u, part))\n\t\treturn -EFAULT;\n\t*at += part;\n\treturn part;";
    assert_eq!(write(at_once), NONE);
}

#[test]
fn a_comparison_that_only_prints_bounds_nothing() {
    let with = |asked: &str| {
        rules(&format!(
            "static long f(struct dev *d, struct own __user *u)\n{{\n\tstruct own *buf = (struct own *)d->buf;\n\n\
             \tif (get_user(buf->length, &u->length))\n\t\treturn -EFAULT;\n{asked}\n\
             \tif (copy_from_user(buf, u, buf->length))\n\t\treturn -EFAULT;\n\treturn use(d, buf);\n}}\n"
        ))
    };
    for wrong in [
        "",
        "\tif (buf->length > d->size)\n\t\tdev_warn(&d->d, \"large: %u\\n\", buf->length);",
        "\tif (buf->length > d->size) {\n\t\tpr_info(\"large\\n\");\n\t\tpr_info(\"very\\n\");\n\t}",
        "\tif (buf->length < d->size)\n\t\treturn -EINVAL;",
    ] {
        // What is fetched again with the bytes is another rule's.
        let found = with(wrong);
        assert!(
            found.contains(&"beyond-variable".to_owned()),
            "{wrong}: {found:?}"
        );
    }
    for right in [
        "\tif (buf->length > d->size)\n\t\treturn -EINVAL;",
        "\tif (buf->length > d->size) {\n\t\tpr_info(\"large\\n\");\n\t\tbuf->length = d->size;\n\t}",
        "\tif (buf->length > d->size)\n\t\tpr_info(\"large\\n\");\n\telse\n\t\treturn take(d, buf);\n\tif (judge(d, buf))\n\t\treturn -EINVAL;",
    ] {
        let found = with(right);
        assert!(
            !found.contains(&"beyond-variable".to_owned()),
            "{right}: {found:?}"
        );
    }
}

#[test]
fn what_holds_for_less_bounds_nothing_in_its_else() {
    let with = |asked: &str| {
        rules(&format!(
            "static int f(struct socket *s, int level, int name, char __user *u, int __user *lenp)\n{{\n\
             \tint ret = 0, n;\n\tint value = level;\n\tint len = sizeof(value);\n\tvoid *p = &value;\n\n\
             \tif (get_user(n, lenp))\n\t\treturn -EFAULT;\n\tif (n < 0)\n\t\treturn -EINVAL;\n\
             {asked}\n\telse if (copy_to_user(u, p, n))\n\t\tret = -EFAULT;\n\treturn ret;\n}}\n"
        ))
    };
    let wrong = "\tif (len > n)\n\t\tret = -EFAULT;";
    assert_eq!(with(wrong), ["beyond-variable"]);
    let right = "\tif (len < n)\n\t\tret = -EFAULT;";
    assert_eq!(with(right), NONE);
}

#[test]
fn results_are_asked_for_what_they_may_be() {
    let from = |text: &str| {
        write(&format!(
            "\tlong value;\n\tint ret;\n\n\tret = kstrtol_from_user(u, count, 10, &value);\n{text}\n\tset(d, value);\n\tdone = count;"
        ))
    };
    assert_eq!(
        from("\tif (ret > 0)\n\t\treturn -EFAULT;"),
        ["misread-result"]
    );
    for right in [
        "\tif (ret)\n\t\treturn ret;",
        "\tif (ret < 0)\n\t\treturn ret;",
    ] {
        assert_eq!(from(right), NONE, "{right}");
    }
    let length = |kind: &str, asked: &str| {
        rules(&format!(
            "static int f(struct dev *d, const char __user *u)\n{{\n\t{kind} n;\n\n\tn = strnlen_user(u, ROOM);\n\
             \tif ({asked})\n\t\treturn -EFAULT;\n\td->used += n;\n\treturn 0;\n}}\n"
        ))
    };
    for kind in ["size_t", "long"] {
        assert_eq!(
            length(kind, "n < 0 || n > ROOM"),
            ["misread-result"],
            "{kind}"
        );
        assert_eq!(length(kind, "!n || n > ROOM"), NONE, "{kind}");
        assert_eq!(length(kind, "n <= 0"), NONE, "{kind}");
    }
    let peek = |asked: &str| {
        rules(&format!(
            "static int f(struct task_struct *t, unsigned long at)\n{{\n\tu64 value;\n\tint n;\n\n\
             \tn = access_process_vm(t, at, &value, sizeof(value), 0);\n\tif ({asked})\n\t\treturn -EFAULT;\n\
             \treturn use_value(value);\n}}\n"
        ))
    };
    for wrong in ["n <= 0", "n == 0", "n < 1"] {
        assert_eq!(peek(wrong), ["misread-result"], "{wrong}");
    }
    for right in ["n != sizeof(value)", "n < 0 || n < sizeof(value)", "n < 8"] {
        assert_eq!(peek(right), NONE, "{right}");
    }
}

#[test]
fn the_number_of_an_ioctl_is_no_pointer_of_the_kernels() {
    let ioctl = |statement: &str| {
        rules(&format!(
            "static long f(struct file *file, unsigned int cmd, unsigned long arg)\n{{\n\tint v = 0;\n\n\
             \tif (get_user(v, (int __user *)arg))\n\t\treturn -EFAULT;\n\t{statement}\n\treturn v;\n}}\n\
             static const struct file_operations ops = {{ .unlocked_ioctl = f }};\n"
        ))
    };
    for wrong in [
        "*(unsigned long *)arg = 7;",
        "v = ((struct head *)arg)->version;",
        "v = ((int *)arg)[1];",
    ] {
        assert_eq!(ioctl(wrong), ["user-pointer-dereferenced"], "{wrong}");
    }
    for right in [
        "v = put_user(7, (unsigned long __user *)arg);",
        "v = sizeof(*(struct head *)arg);",
        "v = (int)arg;",
    ] {
        assert_eq!(ioctl(right), NONE, "{right}");
    }
    // Whoever else is given a number may be given the kernel's address in it.
    let own = "static long f(struct dev *d, unsigned long arg)\n{\n\tint v;\n\n\tif (get_user(v, (int __user *)d->buf))\n\t\treturn -EFAULT;\n\treturn v + *(int *)arg;\n}\n";
    assert_eq!(rules(own), NONE);
}

#[test]
fn a_number_of_elements_wraps_as_well() {
    let list = |made: &str| {
        rules(&format!(
            "static long f(unsigned long arg)\n{{\n\tstruct list q;\n\tu32 *all;\n\tunsigned long i;\n\n\
             \tif (copy_from_user(&q, (void __user *)arg, sizeof(q)))\n\t\treturn -EFAULT;\n{made}\n\
             \tif (!all)\n\t\treturn -ENOMEM;\n\tfor (i = 0; i < q.n; i++)\n\t\tif (get_user(all[i], q.all + i))\n\t\t\tgoto fault;\n\
             \tkfree(all);\n\treturn 0;\nfault:\n\tkfree(all);\n\treturn -EFAULT;\n}}\n"
        ))
    };
    assert_eq!(
        list("\tall = kcalloc(q.n + 1, sizeof(u32), GFP_KERNEL);"),
        ["wrapping-size"]
    );
    for right in [
        "\tif (q.n == ULONG_MAX)\n\t\treturn -EINVAL;\n\tall = kcalloc(q.n + 1, sizeof(u32), GFP_KERNEL);",
        "\tall = kcalloc(q.n, sizeof(u32), GFP_KERNEL);",
    ] {
        assert_eq!(list(right), NONE, "{right}");
    }
}

#[test]
fn memory_is_not_as_large_as_the_pointer_to_it() {
    let made = |size: &str| {
        rules(&format!(
            "static int f(struct dev *d, void __user *u)\n{{\n\tstruct req *r;\n\tsize_t size = {size};\n\n\
             \tr = kzalloc(size, GFP_KERNEL);\n\tif (!r)\n\t\treturn -ENOMEM;\n\
             \tif (copy_from_user(r->rest, u, 16)) {{\n\t\tkfree(r);\n\t\treturn -EFAULT;\n\t}}\n\treturn keep(d, r);\n}}\n"
        ))
    };
    for wrong in ["sizeof(r)", "sizeof(r) + 16", "16 + sizeof(r)"] {
        assert_eq!(made(wrong), ["sizeof-pointer"], "{wrong}");
    }
    for right in ["sizeof(*r)", "sizeof(*r) + 16", "sizeof(struct req)"] {
        assert_eq!(made(right), NONE, "{right}");
    }
}

#[test]
fn a_range_check_of_less_is_none() {
    let with = |size: &str, copied: &str| {
        rules(&format!(
            "SYSCALL_DEFINE2(f, struct req __user *, frame, struct head __user *, h)\n{{\n\tstruct req own[2] = {{}};\n\n\
             \tif (!access_ok(frame, {size}))\n\t\treturn -EFAULT;\n\treturn {copied} ? -EFAULT : 0;\n}}\n"
        ))
    };
    for (size, copied) in [
        (
            "sizeof(struct head)",
            "__copy_to_user(frame, own, sizeof(own[0]))",
        ),
        ("sizeof(*frame)", "__copy_to_user(frame, own, sizeof(own))"),
        ("sizeof(frame->version)", "__put_user(1, &frame->rest[0])"),
    ] {
        let found = with(size, copied);
        assert!(
            found.contains(&"other-object-checked".to_owned()),
            "{size}: {found:?}"
        );
    }
    for (size, copied) in [
        (
            "sizeof(*frame)",
            "__copy_to_user(frame, own, sizeof(own[0]))",
        ),
        ("sizeof(own)", "__copy_to_user(frame, own, sizeof(own))"),
        ("sizeof(*frame)", "__put_user(1, &frame->rest[0])"),
    ] {
        assert_eq!(with(size, copied), NONE, "{size}");
    }
}

#[test]
fn where_a_pointer_lies_is_not_where_it_leads() {
    let with = |to: &str| {
        rules(&format!(
            "static int f(struct list *q, struct list __user *u, struct head *h)\n{{\n\
             \treturn copy_to_user({to}, h, sizeof(*h)) ? -EFAULT : 0;\n}}\n"
        ))
    };
    assert_eq!(with("&q->all"), ["kernel-address"]);
    for right in ["q->all", "&q->all[2]", "&u->all"] {
        assert_eq!(with(right), NONE, "{right}");
    }
}

#[test]
fn what_a_second_copy_puts_over_a_judged_member_is_used() {
    let with = |behind: &str| {
        rules(&format!(
            "static int f(const void __user *u)\n{{\n\tstruct req r;\n\tu8 version;\n\tint size;\n\n\
             \tif (get_user(r.version, (const u8 __user *)u))\n\t\treturn -EFAULT;\n\tsize = size_of_req(&r);\n\
             \tif (size <= 0)\n\t\treturn -EINVAL;\n\tversion = r.version;\n\
             \tif (copy_from_user(&r, u, size))\n\t\treturn -EFAULT;\n{behind}\n}}\n"
        ))
    };
    assert_eq!(with("\treturn use_req(&r);"), ["double-fetch"]);
    for right in [
        "\tr.version = version;\n\treturn use_req(&r);",
        "\tif (r.version != version)\n\t\treturn -EINVAL;\n\treturn use_req(&r);",
    ] {
        assert_eq!(with(right), NONE, "{right}");
    }
}

#[test]
fn text_in_memory_that_goes_out_whole_leaves_the_rest_as_it_was() {
    let read = |made: &str, shown: &str| {
        rules(&format!(
            "static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
             \tsize_t size = 800;\n\tssize_t ret, off = 0;\n\tchar *buf = {made};\n\n\tif (!buf)\n\t\treturn -ENOMEM;\n\
             \toff += scnprintf(buf + off, size - off, \"a %d\\n\", 1);\n\toff += scnprintf(buf + off, size - off, \"b\\n\");\n\
             \tret = simple_read_from_buffer(u, count, at, buf, {shown});\n\tkfree(buf);\n\treturn ret;\n}}\n"
        ))
    };
    assert_eq!(read("kmalloc(size, GFP_KERNEL)", "size"), ["copied-holes"]);
    assert_eq!(read("kmalloc(size, GFP_KERNEL)", "off"), NONE);
    assert_eq!(read("kzalloc(size, GFP_KERNEL)", "size"), NONE);
    // The number says something else by then.
    let again = "static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{\n\
         \tchar *buf;\n\tint len = snprintf(NULL, 0, \"%d\", 1) + 1;\n\n\tbuf = kmalloc(len, GFP_KERNEL);\n\tif (!buf)\n\t\treturn -ENOMEM;\n\
         \tlen = snprintf(buf, len, \"%d\", 1);\n\tcount = simple_read_from_buffer(u, count, at, buf, len);\n\tkfree(buf);\n\treturn count;\n}\n";
    assert_eq!(rules(again), NONE);
}

#[test]
fn what_was_copied_in_is_all_that_is_set() {
    let with = |least: &str, out: &str| {
        rules(&format!(
            "static int f(unsigned long arg)\n{{\n\tunsigned long least = {least};\n\tstruct info own;\n\n\
             \tif (copy_from_user(&own, (void __user *)arg, least))\n\t\treturn -EFAULT;\n\tif (own.argsz < least)\n\t\treturn -EINVAL;\n\
             \town.flags = 1;\n\town.regions = 2;\n\treturn copy_to_user((void __user *)arg, &own, {out}) ? -EFAULT : 0;\n}}\n"
        ))
    };
    assert_eq!(
        with("offsetof(struct info, cap)", "sizeof(own)"),
        ["copied-holes"]
    );
    assert_eq!(with("offsetof(struct info, cap)", "least"), NONE);
    assert_eq!(with("sizeof(struct info)", "sizeof(own)"), NONE);
}

#[test]
fn a_fault_lets_go_of_nothing_that_was_not_taken() {
    let with = |to: &str, out: &str| {
        rules(&format!(
            "static int f(struct dev *d, void __user *u, size_t n)\n{{\n\tint ret = 0;\n\tbool held = false;\n\tstruct req r;\n\n\
             \tif (copy_from_user(&r, u, sizeof(r))) {{\n\t\tret = -EFAULT;\n\t\tgoto {to};\n\t}}\n\
             \tmutex_lock(&d->lock);\n\theld = true;\n\tret = use(d, &r);\nout_unlock:\n{out}\nout:\n\treturn ret;\n}}\n"
        ))
    };
    let out = "\tmutex_unlock(&d->lock);";
    assert_eq!(with("out_unlock", out), ["kept-lock"]);
    assert_eq!(with("out", out), NONE);
    assert_eq!(
        with("out_unlock", "\tif (held)\n\t\tmutex_unlock(&d->lock);"),
        NONE
    );
    // Who is called with it held lets go of it and takes it again.
    let again = "static int f(struct dev *d, void __user *u)\n{\n\tstruct req r;\n\tint ret = 0;\n\n\
         \tmutex_unlock(&d->lock);\n\tif (copy_from_user(&r, u, sizeof(r)))\n\t\tret = -EFAULT;\n\tmutex_lock(&d->lock);\n\
         \tif (!ret)\n\t\tret = use(d, &r);\n\tmutex_unlock(&d->lock);\n\treturn ret;\n}\n";
    assert_eq!(rules(again), NONE);
}

#[test]
fn what_a_drm_ioctl_is_given_is_the_users() {
    let with = |takes: &str, asked: &str| {
        rules(&format!(
            "int f({takes})\n{{\n\tstruct list *arg = data;\n\tu32 n, size;\n\tu32 *all;\n\n\tn = arg->n;\n{asked}\n\
             \tsize = n * 16;\n\tall = kzalloc(size, GFP_KERNEL);\n\tif (!all)\n\t\treturn -ENOMEM;\n\
             \tif (copy_from_user(all, arg->all, size))\n\t\treturn -EFAULT;\n\treturn walk(all, n);\n}}\n"
        ))
    };
    let drm = "struct drm_device *dev, void *data, struct drm_file *file";
    assert!(with(drm, "").contains(&"wrapping-size".to_owned()));
    for (takes, asked) in [
        (drm, "\tif (n > 64)\n\t\treturn -EINVAL;"),
        ("struct device *dev, void *data, struct file *file", ""),
    ] {
        let found = with(takes, asked);
        assert!(
            !found.contains(&"wrapping-size".to_owned()),
            "{takes}: {found:?}"
        );
    }
}

#[test]
fn memchr_goes_through_the_users_bytes() {
    let found = write("\tif (memchr(u, 'V', count))\n\t\td->used = 1;\n\tdone = count;");
    assert_eq!(found, ["user-pointer-dereferenced"]);
    assert_eq!(
        write("\tif (memchr(d->buf, 'V', ROOM))\n\t\td->used = 1;"),
        NONE
    );
}
