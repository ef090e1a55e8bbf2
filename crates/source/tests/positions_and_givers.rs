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
        assert_eq!(
            write("\tif (*pos < 0 || *pos >= ROOM)\n\t\treturn 0;\n", wrong),
            ["kept-position"],
            "{wrong}"
        );
    }
    // Another position says where the other object begins.
    let taken = "\town = d->at;\n";
    for (own, right) in [
        ("", "d->buf, d->size, pos"),
        ("", "d->buf + 16, d->size, pos"),
        (taken, "d->buf + own, d->size, pos"),
        (taken, "d->buf + *pos - own, d->size, pos"),
        (taken, "d->buf + *pos, d->size, &own"),
        ("", "&d->buf[d->at], d->size, pos"),
    ] {
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

/// A function that has some memory and gives it back.
fn owner(declared: &str, taken: &str, given_back: &str) -> Vec<String> {
    rules(&format!(
        "int f(struct dev *d, const void __user *u, size_t n)\n{{\n\tint ret = -ENOMEM;\n\t{declared};\n\n\
             \tif (n > ROOM)\n\t\treturn -EINVAL;\n\t{taken};\n\tif (IS_ERR_OR_NULL(p))\n\t\treturn -ENOMEM;\n\
             \tret = use(d, p, n);\n{given_back}\treturn ret;\n}}\n\
             int other(struct req *r, struct req __user *u)\n{{\n\treturn copy_to_user(u, r, sizeof(*r)) ? -EFAULT : 0;\n}}\n"
    ))
}

#[test]
fn memory_goes_back_to_where_it_came_from() {
    let plain = |taken: &str, given_back: &str| {
        owner("char *p = NULL", taken, &format!("\t{given_back};\n"))
    };
    for (taken, given_back) in [
        ("p = memdup_user(u, n)", "kfree(p)"),
        ("p = memdup_user(u, n)", "kvfree(p)"),
        ("p = memdup_user_nul(u, n)", "kfree_sensitive(p)"),
        ("p = vmemdup_user(u, n)", "kvfree(p)"),
        (
            "p = (char *)vmemdup_user(u, n)",
            "if (is_vmalloc_addr(p))\n\t\tvfree(p);\n\telse\n\t\tkfree(p)",
        ),
        // Nobody knows where that came from.
        (
            "p = d->used ? memdup_user(u, n) : other_memory(d)",
            "vfree(p)",
        ),
        ("p = memdup_user(u, n);\n\tp = grown(p, n)", "vfree(p)"),
        // Either may be right, and something else tells which.
        (
            "if (d->used)\n\t\tp = vmemdup_user(u, n);\n\telse\n\t\tp = memdup_user(u, n)",
            "if (d->used)\n\t\tkvfree(p);\n\telse\n\t\tkfree(p)",
        ),
    ] {
        assert_eq!(plain(taken, given_back), NONE, "{taken} {given_back}");
    }
    for (taken, given_back) in [
        ("p = memdup_user(u, n)", "free_page((unsigned long)p)"),
        ("p = memdup_user(u, n)", "vfree(p)"),
        ("p = memdup_user_nul(u, n)", "devm_kfree(d->dev, p)"),
        ("p = (char *)vmemdup_user(u, n)", "kfree(p)"),
        ("p = vmemdup_user(u, n)", "vfree(p)"),
        ("p = strndup_user(u, n)", "kfree_skb(p)"),
    ] {
        assert_eq!(
            plain(taken, given_back),
            ["released-memory"],
            "{taken} {given_back}"
        );
    }
}

#[test]
fn allocated_memory_goes_back_to_its_allocator() {
    let copied = |taken: &str, given_back: &str| {
        let fill = format!(
            "p = {taken};\n\tif (!p)\n\t\treturn ret;\n\tif (copy_from_user(p, u, n))\n\t\tgoto out"
        );
        owner("char *p", &fill, &format!("out:\n\t{given_back};\n"))
    };
    for (taken, right, wrong) in [
        ("kmalloc(n, GFP_KERNEL)", "kfree(p)", "vfree(p)"),
        ("kvmalloc(n, GFP_KERNEL)", "kvfree(p)", "kfree(p)"),
        ("vmalloc(n)", "vfree(p)", "kfree(p)"),
        (
            "(void *)__get_free_page(GFP_KERNEL)",
            "free_page((unsigned long)p)",
            "kfree(p)",
        ),
        (
            "kmalloc(n, GFP_KERNEL)",
            "kfree(p)",
            "free_page((unsigned long)p)",
        ),
        (
            "devm_kmalloc(d->dev, n, GFP_KERNEL)",
            "devm_kfree(d->dev, p)",
            "kfree(p)",
        ),
        (
            "dma_alloc_coherent(d->dev, n, &d->at, GFP_KERNEL)",
            "dma_free_coherent(d->dev, n, p, d->at)",
            "kfree(p)",
        ),
    ] {
        assert_eq!(copied(taken, right), NONE, "{taken} {right}");
        assert_eq!(copied(taken, wrong), ["released-memory"], "{taken} {wrong}");
    }
}

#[test]
fn scopes_and_members_give_back_what_they_took() {
    // At the end of a scope, and what a member leads to.
    let end = |free: &str| {
        owner(
            &format!("char *p __free({free}) = vmemdup_user(u, n)"),
            "d->used = n",
            "",
        )
    };
    assert_eq!(end("kvfree"), NONE);
    assert_eq!(end("kfree"), ["released-memory"]);
    let member = |taken: &str| {
        rules(&format!(
            "int f(struct dev *d, const void __user *u, size_t n)\n{{\n\tif (n > ROOM)\n\t\treturn -EINVAL;\n\
             {taken}\treturn use(d);\n}}\n"
        ))
    };
    let filled = |free: &str| {
        format!(
            "\td->buf = vmalloc(ROOM);\n\tif (!d->buf)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(d->buf, u, n)) {{\n\t\t{free}(d->buf);\n\t\td->buf = NULL;\n\t\treturn -EFAULT;\n\t}}\n"
        )
    };
    assert_eq!(member(&filled("vfree")), NONE);
    assert_eq!(member(&filled("kfree")), ["released-memory"]);
    let before = format!("\tkfree(d->buf);\n{}", filled("vfree"));
    assert_eq!(member(&before), NONE);
}

#[test]
fn what_any_call_gave_is_kept_where_only_a_fault_leaves_with_it() {
    let of = |fault: &str, done: &str| {
        rules(&format!(
            "static ssize_t f(struct dev *d, void __user *u, size_t n)\n{{\n\tstruct answer *a;\n\tssize_t ret = -EIO;\n\n\
             \ta = ask_and_wait(d, 7);\n\tif (!a)\n\t\treturn -EIO;\n\
             \tif (a->kind == 7) {{\n\t\tret = min_t(size_t, a->size, n);\n\
             \t\tif (copy_to_user(u, a->data, ret))\n{fault}\t}}\n{done}\treturn ret;\n}}\n"
        ))
    };
    for free in ["kfree(a)", "kvfree(a)", "kfree_sensitive(a)", "fput(a)"] {
        let done = format!("\t{free};\n");
        assert_eq!(
            of("\t\t\treturn -EFAULT;\n", &done),
            ["kept-memory"],
            "{free}"
        );
        assert_eq!(of("\t\t\tret = -EFAULT;\n", &done), NONE, "{free}");
        let own = format!("\t\t{{\n\t\t\t{free};\n\t\t\treturn -EFAULT;\n\t\t}}\n");
        assert_eq!(of(&own, &done), NONE, "{free}");
    }
    let fault = "\t\t\treturn -EFAULT;\n";
    for done in [
        // It lies on a list until then.
        "\tlist_del(&a->list);\n\tkfree(a);\n",
        "\tanswered(d, a);\n\tkfree(a);\n",
        // Whoever gave it has it until it is counted off.
        "\tif (a->last)\n\t\tkfree(a);\n",
        "",
    ] {
        assert_eq!(of(fault, done), NONE, "{done}");
    }
    // What another error leaves behind as well is nobody's to give back there.
    let other = "\t\t\treturn -EFAULT;\n\t\tif (ret < 4)\n\t\t\treturn -EMSGSIZE;\n";
    assert_eq!(of(other, "\tkfree(a);\n"), NONE);
    let kept = "\t\t{\n\t\t\td->answer = a;\n\t\t\treturn -EFAULT;\n\t\t}\n";
    assert_eq!(of(kept, "\tkfree(a);\n"), NONE);
}

#[test]
fn an_error_number_has_its_sign() {
    let ioctl = |statements: &str| {
        rules(&format!(
            "static long f(struct file *file, unsigned int cmd, unsigned long arg)\n{{\n\
             \tstruct dev *d = file->private_data;\n\tu32 __user *u = (u32 __user *)arg;\n\tu32 value = 0;\n\tint ret = 0;\n\n\
             \tif (!d)\n\t\treturn -ENODEV;\n{statements}\n}}\n\
             static const struct file_operations ops = {{ .unlocked_ioctl = f }};\n"
        ))
    };
    for wrong in [
        "\treturn put_user(d->used, u) ? EFAULT : 0;",
        "\treturn copy_to_user(u, &d->used, 4) == 0 ? 0 : (EFAULT);",
        "\tif (get_user(value, u))\n\t\treturn EFAULT;\n\td->used = value;\n\treturn 0;",
        "\tif (get_user(value, u))\n\t\treturn EINVAL;\n\td->used = value;\n\treturn 0;",
        "\tmutex_lock(&d->lock);\n\tif (get_user(value, u)) {\n\t\tret = EFAULT;\n\t\tgoto out;\n\t}\n\td->used = value;\nout:\n\tmutex_unlock(&d->lock);\n\treturn ret;",
        "\tret = copy_to_user(u, &d->used, 4) ? EFAULT : 0;\n\treturn ret;",
    ] {
        assert_eq!(ioctl(wrong), ["swallowed-fault"], "{wrong}");
        for name in ["EFAULT", "EINVAL"] {
            let right = wrong.replace(name, &format!("-{name}"));
            assert!(right == wrong || ioctl(&right) == NONE, "{right}");
        }
    }
    for right in [
        "\tret = copy_to_user(u, &d->used, 4) ? EFAULT : 0;\n\treturn -ret;",
        "\tif (get_user(value, u)) {\n\t\td->error = EFAULT;\n\t\treturn -EFAULT;\n\t}\n\td->used = value;\n\treturn 0;",
        "\tif (get_user(value, u))\n\t\treturn -EFAULT;\n\td->used = value;\n\tif (value == EFAULT)\n\t\treturn 0;\n\treturn -EINVAL;",
    ] {
        assert_eq!(ioctl(right), NONE, "{right}");
    }
    let helper = |caller: &str| {
        rules(&format!(
            "static int g(struct dev *d, u32 __user *u)\n{{\n\tu32 value;\n\n\tif (get_user(value, u))\n\t\treturn EFAULT;\n\
             \td->used = value;\n\treturn 0;\n}}\n\
             long f(struct dev *d, u32 __user *u)\n{{\n\tint ret;\n\n{caller}\n}}\n"
        ))
    };
    assert_eq!(
        helper("\tret = g(d, u);\n\tif (ret)\n\t\treturn ret;\n\treturn start(d);"),
        ["swallowed-fault"]
    );
    assert_eq!(helper("\treturn -g(d, u);"), NONE);
    assert_eq!(helper("\tret = g(d, u);\n\treturn -ret;"), NONE);
}

#[test]
fn a_part_of_what_was_asked_for_is_something() {
    let of = |statements: &str| {
        rules(&format!(
            "static int f(struct dev *d, struct iov_iter *it, size_t n)\n{{\n\tint ret = 0;\n\tsize_t done;\n\n{statements}\n}}\n"
        ))
    };
    let call = "copy_to_iter(&d->kept, sizeof(d->kept), it)";
    let from = "copy_from_iter(&d->kept, sizeof(struct req), it)";
    let page = "copy_page_to_iter(d->page, 0, n, it)";
    for wrong in [
        format!("\tif (!{call})\n\t\treturn -EFAULT;\n\treturn 0;"),
        format!("\tif ({from} == 0)\n\t\treturn -EFAULT;\n\treturn use(d);"),
        format!("\tif (n > 8 || !({page}))\n\t\treturn -EFAULT;\n\treturn 0;"),
        format!("\tif ({from} < 1)\n\t\treturn -EFAULT;\n\treturn use(d);"),
        format!("\treturn {call} ? 0 : -EFAULT;"),
        format!("\tret = {call} ? 0 : -EFAULT;\n\treturn ret;"),
        format!("\treturn !{call} ? -EFAULT : 0;"),
        format!("\tdone = {from};\n\tif (!done)\n\t\treturn -EFAULT;\n\treturn use(d);"),
    ] {
        assert_eq!(of(&wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        format!("\tif ({call} != sizeof(d->kept))\n\t\treturn -EFAULT;\n\treturn 0;"),
        "\tif (!copy_from_iter_full(&d->kept, sizeof(d->kept), it))\n\t\treturn -EFAULT;\n\treturn use(d);".to_owned(),
        "\tif (!copy_to_iter(&d->used, 1, it))\n\t\treturn -EFAULT;\n\treturn 0;".to_owned(),
        format!("\twhile (n && {page} > 0)\n\t\tn = next(d);\n\treturn 0;"),
        format!("\tdone = {from};\n\tif (!done)\n\t\treturn -EFAULT;\n\treturn use(d, done);"),
    ] {
        assert_eq!(of(&right), NONE, "{right}");
    }
}

/// What is said of a value that a helper gives and goes out by a call.
fn under(helper: &str, declared: &str, gives: &str) -> Vec<String> {
    rules(&format!(
        "static int state(struct dev *d, u32 *to)\n{{\n{helper}\treturn 0;\n}}\n\
             static long f(struct dev *d, unsigned int cmd, u32 __user *u)\n{{\n\t{declared};\n\n\
             \tswitch (cmd) {{\n\tcase 1:\n\t\tstate(d, &value);\n\t\treturn {gives};\n\
             \tcase 2:\n\t\tif (get_user(value, u))\n\t\t\treturn -EFAULT;\n\t\treturn use(d, value);\n\t}}\n\treturn -ENOTTY;\n}}\n"
    ))
}

#[test]
fn what_a_function_adds_to_nothing_is_no_value() {
    let of = |helper: &str, declared: &str| {
        let copied = under(
            helper,
            declared,
            "copy_to_user(u, &value, sizeof(value)) ? -EFAULT : 0",
        );
        let put = under(helper, declared, "put_user(value, u)");
        assert_eq!(copied, put, "{helper}");
        put
    };
    for wrong in [
        "\tif (d->used & 1)\n\t\t*to |= 4;\n",
        "\t*to |= 4;\n\tif (d->used)\n\t\t*to = *to + 1;\n",
        "\tif (d->used)\n\t\t*to = 4;\n",
        "\tif (!d->used)\n\t\treturn 0;\n\t*to = d->used;\n",
    ] {
        assert_eq!(of(wrong, "u32 value"), ["copied-holes"], "{wrong}");
        assert_eq!(of(wrong, "u32 value = 0"), NONE, "{wrong}");
        assert_eq!(of(&format!("\t*to = 0;\n{wrong}"), "u32 value"), NONE);
    }
    for right in [
        "\tif (d->used)\n\t\t*to = 4;\n\telse\n\t\t*to = 0;\n\t*to |= 1;\n",
        "\tread_state(d, to);\n",
        // Its caller may ask it.
        "\tif (!d->used)\n\t\treturn -EIO;\n\t*to = 4;\n",
    ] {
        assert_eq!(of(right, "u32 value"), NONE, "{right}");
    }
}

#[test]
fn a_pointer_is_the_kernels_or_the_users() {
    let of = |asked: &str, from: &str| {
        rules(&format!(
            "static int f(struct dev *d, struct update *p, u32 n)\n{{\n\tvoid __user *from;\n\n{asked}\
             \tfrom = {from};\n\tif (copy_from_user(&d->kept, from, sizeof(d->kept)))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        ))
    };
    let asked = "\tif (!p->on)\n\t\treturn 0;\n";
    for wrong in [
        "(void __user *)p",
        "(void __user *)p + n",
        "(void __force __user *)p + d->used",
        "(void __user *)((char *)p + n)",
    ] {
        assert_eq!(of(asked, wrong), ["swapped-arguments"], "{wrong}");
    }
    for right in [
        "*(void __user **)((void *)p + n)",
        "(void __user *)p->from",
        "(void __user *)(unsigned long)p->from + n",
        "u64_to_user_ptr(p->from)",
    ] {
        assert_eq!(of(asked, right), NONE, "{right}");
    }
    // Another way may have told which one it is.
    let apart = "\tif (d->used) {\n\t\td->kept = p->kept;\n\t\treturn 0;\n\t}\n";
    assert_eq!(of(apart, "(void __user *)p"), NONE);
    // A number is none until a cast makes it one.
    let number = "static int f(struct dev *d, unsigned long p)\n{\n\tvoid __user *to = (void __user *)p;\n\tint i;\n\n\
         \ti = look(d, ((struct update __user *)p)->data);\n\tif (i)\n\t\treturn i;\n\
         \treturn copy_to_user(to, &d->kept, sizeof(d->kept)) ? -EFAULT : 0;\n}\n";
    assert_eq!(rules(number), NONE);
    let taken = format!("\tp = (struct update *)d->at;\n{asked}");
    assert_eq!(of(&taken, "(void __user *)p"), NONE);
}
