//! Tests whose outcome is known before they are made, texts of which not all has to be there, bits
//! and rounds behind the last one, and calls that are told of more room than is left.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "#define FEW 8\n#define BITS 128\n\
     struct list { u32 n; u32 room; u64 ids[]; };\n\
     struct item { u32 kind; u32 len; u64 at; };\n\
     struct dev { struct item items[FEW]; u32 many; unsigned long map[2]; unsigned long flags; u16 some; u8 level; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// An ioctl of these statements.
fn ioctl(statements: &str) -> Vec<String> {
    rules(&format!(
        "static long f(struct file *file, unsigned int cmd, unsigned long arg)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tvoid __user *u = (void __user *)arg;\n\
         \tstruct list l;\n\tstruct item it;\n\tu32 n, m;\n\tu8 small;\n\tu16 half;\n\tint i, ret;\n\tchar buf[64];\n\n\
         {statements}\n\treturn 0;\n}}\n\
         static const struct file_operations ops = {{ .unlocked_ioctl = f }};\n"
    ))
}

#[test]
fn what_a_variable_was_set_to_is_no_bound_of_it() {
    let asked = |statements: &str| {
        ioctl(&format!(
            "\tif (copy_from_user(&l, u, sizeof(l)))\n\t\treturn -EFAULT;\n{statements}"
        ))
    };
    for wrong in [
        "\tl.n = count(d);\n\tn = l.n;\n\tif (copy_to_user(u, &l, sizeof(l)))\n\t\treturn -EFAULT;\n\
         \tif (n < l.n)\n\t\treturn -E2BIG;\n\tstore(d, n);",
        "\tm = l.room;\n\tn = m;\n\tif (m > n)\n\t\treturn -EINVAL;\n\tstore(d, n);",
    ] {
        assert_eq!(asked(wrong), ["impossible-test"], "{wrong}");
    }
    for right in [
        "\tn = l.n;\n\tl.n = count(d);\n\tif (copy_to_user(u, &l, sizeof(l)))\n\t\treturn -EFAULT;\n\
         \tif (n < l.n)\n\t\treturn -E2BIG;\n\tstore(d, n);",
        "\tm = l.room;\n\tn = m;\n\tn += 4;\n\tif (m > n)\n\t\treturn -EINVAL;\n\tstore(d, n);",
        // Somebody else sets it.
        "\tn = l.n;\n\trefresh(d, &l);\n\tif (n < l.n)\n\t\treturn -E2BIG;\n\tstore(d, n);",
        "\tkeep(d, &l.n);\n\tn = l.n;\n\twait_for(d);\n\tif (n < l.n)\n\t\treturn -E2BIG;\n\tstore(d, n);",
        "\tn = d->many;\n\twait_for(d);\n\tif (n < d->many)\n\t\treturn -E2BIG;\n\tstore(d, n);",
        // Whether it fits.
        "\thalf = l.n;\n\tif (half != l.n)\n\t\treturn -E2BIG;\n\tstore(d, half);",
    ] {
        assert_eq!(asked(right), NONE, "{right}");
    }
}

#[test]
fn a_number_without_a_sign_is_never_less_than_nothing() {
    let wrong = "static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{\n\
         \tchar __user *to = u;\n\n\twhile (count-- >= 0 && more())\n\t\tif (put_user(next(), to++))\n\t\t\treturn -EFAULT;\n\
         \treturn to - u;\n}\n";
    assert_eq!(rules(wrong), ["impossible-test"]);
    for (from, to) in [
        (">= 0", "> 0"),
        ("size_t count", "ssize_t count"),
        ("count-- >= 0 && more()", "more()"),
    ] {
        assert_eq!(rules(&wrong.replace(from, to)), NONE, "{to}");
    }
}

#[test]
fn a_bound_behind_what_has_cut_the_number_is_none() {
    let asked = |own: &str, fetched: &str, most: &str| {
        ioctl(&format!(
            "\tif (get_user({own}, ({fetched} __user *)u))\n\t\treturn -EFAULT;\n\
             \tif ({own} > {most})\n\t\treturn -EINVAL;\n\tstore(d, {own});"
        ))
    };
    for (own, fetched, most) in [("small", "int", "255"), ("half", "u32", "0xffff")] {
        assert_eq!(asked(own, fetched, most), ["impossible-test"], "{own}");
    }
    for (own, fetched, most) in [
        ("n", "int", "255"),
        ("small", "u8", "255"),
        ("small", "int", "200"),
        ("half", "u16", "0xffff"),
    ] {
        assert_eq!(asked(own, fetched, most), NONE, "{own} {fetched} {most}");
    }
}

#[test]
fn that_there_is_anything_is_no_second_check() {
    let fetched = |again: &str| {
        ioctl(&format!(
            "\tstruct list __user *p = u;\n\n\tif (get_user(n, &p->n))\n\t\treturn -EFAULT;\n\
             \tif (n > sizeof(buf))\n\t\treturn -EINVAL;\n{again}"
        ))
    };
    let wrong = "\tif (get_user(n, &p->n))\n\t\treturn -EFAULT;\n\
                 \tif (n > 0 && fetch(buf, p->ids, n))\n\t\treturn -EFAULT;";
    assert_eq!(fetched(wrong), ["double-fetch"]);
    let again = wrong.replace("n > 0 &&", "n > sizeof(buf) ||");
    assert_eq!(fetched(&again), NONE);
}

#[test]
fn an_element_is_one_wherever_its_address_is_made() {
    let fetched = |first: &str, second: &str| {
        ioctl(&format!(
            "\tstruct item __user *p = u;\n\n\tfor (i = 0; i < FEW; i++) {{\n\
             \t\tif (copy_from_user(&it, {first}, sizeof(it)))\n\t\t\treturn -EFAULT;\n\
             \t\tif (it.kind > 3)\n\t\t\treturn -EINVAL;\n\
             \t\tif (get_user(d->items[i].kind, {second}))\n\t\t\treturn -EFAULT;\n\t\tuse(d, d->items[i].kind);\n\t}}"
        ))
    };
    for (first, second) in [
        ("p + i", "&p[i].kind"),
        ("&p[i]", "&p[i].kind"),
        ("p + i", "&(p + i)->kind"),
    ] {
        assert_eq!(fetched(first, second), ["double-fetch"], "{first} {second}");
    }
    for (first, second) in [("p + i", "&p[i].len"), ("p + i", "&p[i + 1].kind")] {
        assert_eq!(fetched(first, second), NONE, "{first} {second}");
    }
}

#[test]
fn so_many_pointers_are_not_so_many_objects() {
    let copied = |size: &str| {
        ioctl(&format!(
            "\tstruct item *all;\n\n\tif (get_user(n, (u32 __user *)u) || n > FEW)\n\t\treturn -EINVAL;\n\
             \tall = kcalloc(n, sizeof(*all), GFP_KERNEL);\n\tif (!all)\n\t\treturn -ENOMEM;\n\
             \tret = copy_from_user(all, u + 8, {size});\n\tif (!ret)\n\t\tuse_all(d, all, n);\n\tkfree(all);\n\
             \tif (ret)\n\t\treturn -EFAULT;"
        ))
    };
    for wrong in ["n * sizeof(all)", "sizeof(all) * n"] {
        assert_eq!(copied(wrong), ["sizeof-pointer"], "{wrong}");
    }
    for right in ["n * sizeof(*all)", "sizeof(struct item) * n"] {
        assert_eq!(copied(right), NONE, "{right}");
    }
}

#[test]
fn bits_count_from_none() {
    let picked = |test: &str, call: &str| {
        ioctl(&format!(
            "\tif (get_user(n, (u32 __user *)u))\n\t\treturn -EFAULT;\n{test}\t{call};"
        ))
    };
    let refused = |test: &str| format!("\tif ({test})\n\t\treturn -EINVAL;\n");
    for (test, call) in [
        ("n > BITS", "set_bit(n, d->map)"),
        ("n > 64", "__set_bit(n, &d->flags)"),
        ("n > 128", "bitmap_set(d->map, n, 1)"),
    ] {
        assert_eq!(
            picked(&refused(test), call),
            ["beyond-array"],
            "{test} {call}"
        );
    }
    for call in [
        "set_bit(n, d->map)",
        "if (test_bit(n, &d->flags))\n\t\treturn 1",
    ] {
        assert_eq!(picked("", call), ["unbounded-index"], "{call}");
    }
    for (test, call) in [
        ("n >= BITS", "set_bit(n, d->map)"),
        ("n > 63", "__set_bit(n, &d->flags)"),
        ("n >= d->many", "set_bit(n, d->map)"),
    ] {
        assert_eq!(picked(&refused(test), call), NONE, "{test} {call}");
    }
}

#[test]
fn a_map_has_the_bits_it_was_made_with() {
    let written = |text: &str, test: &str| {
        rules(&format!(
            "static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
             \tstruct dev *d = file->private_data;\n\tunsigned long *map;\n\tu16 n;\n\tchar buf[32];\n\n\
             \tif (count > sizeof(buf) - 1)\n\t\treturn -EINVAL;\n\tif (copy_from_user(buf, u, count))\n\t\treturn -EFAULT;\n\
             \tbuf[count] = 0;\n\tif ({text})\n\t\treturn -EINVAL;\n\tif ({test})\n\t\treturn -ERANGE;\n\
             \tmap = bitmap_zalloc(d->some, GFP_KERNEL);\n\tif (!map)\n\t\treturn -ENOMEM;\n\
             \t__set_bit(n, map);\n\tuse(d, map);\n\tbitmap_free(map);\n\treturn count;\n}}\n"
        ))
    };
    for text in ["sscanf(buf, \"%hu\", &n) != 1", "kstrtou16(buf, 0, &n)"] {
        assert_eq!(written(text, "n > d->some"), ["beyond-array"], "{text}");
        assert_eq!(written(text, "n >= d->some"), NONE, "{text}");
    }
}

#[test]
fn the_last_round_is_one_too_many() {
    let filled = |rounds: &str, body: &str| {
        ioctl(&format!(
            "\tif (copy_from_user(&it, u, sizeof(it)))\n\t\treturn -EFAULT;\n\
             \tfor (i = 0; {rounds}; i++) {{\n\t\t{body}\n\t}}"
        ))
    };
    let set = "d->items[i].at = it.at;";
    for wrong in [
        "i <= FEW",
        "i <= 8",
        "FEW >= i",
        "i <= ARRAY_SIZE(d->items)",
    ] {
        assert_eq!(filled(wrong, set), ["beyond-array"], "{wrong}");
    }
    for right in [
        "i < FEW",
        "i <= FEW - 1",
        "i < ARRAY_SIZE(d->items)",
        "i <= 3",
    ] {
        assert_eq!(filled(right, set), NONE, "{right}");
    }
    let asked = "if (i == FEW)\n\t\t\tbreak;\n\t\td->items[i].at = it.at;";
    assert_eq!(filled("i <= FEW", asked), NONE);
}

#[test]
fn a_loop_of_the_file_says_how_many_there_are() {
    let both = |other: &str| {
        rules(&format!(
            "struct card {{ void *pdev; }};\nstruct user {{ struct card cards[CONFIG_CARDS]; int lock; }};\n\
             static int look(struct user *p, void *x)\n{{\n\tint i;\n\n\tfor (i = 0; {other}; i++)\n\
             \t\tif (p->cards[i].pdev == x)\n\t\t\treturn i;\n\treturn -1;\n}}\n\
             static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
             \tstruct user *p = file->private_data;\n\tint i;\n\tu32 n;\n\n\tif (get_user(n, (u32 __user *)u))\n\
             \t\treturn -EFAULT;\n\tfor (i = 0; i <= CONFIG_CARDS; i++)\n\t\tif (!p->cards[i].pdev)\n\t\t\tbreak;\n\
             \tuse(p, n, i, look(p, 0));\n\treturn count;\n}}\n"
        ))
    };
    assert_eq!(both("i < CONFIG_CARDS"), ["beyond-array"]);
    assert_eq!(both("i < 4"), NONE);
}

#[test]
fn what_is_left_is_less_than_all_room() {
    let written = |statements: &str| {
        ioctl(&format!(
            "\tint len = 0;\n\tchar *big;\n\n\tif (get_user(n, (u32 __user *)u) || n > 4096)\n\t\treturn -EINVAL;\n\
             \tbig = kmalloc(n, GFP_KERNEL);\n\tif (!big)\n\t\treturn -ENOMEM;\n{statements}\tkfree(big);"
        ))
    };
    let round = |call: &str| format!("\tfor (i = 0; i < 4; i++)\n\t\t{call};\n");
    for wrong in [
        round("len += show(buf + len, sizeof(buf), i)"),
        round("len += show(&buf[len], sizeof(buf), i)"),
        round("len += show(d, big + len, n)"),
        "\tlen = show(buf, sizeof(buf), 0);\n\tshow(buf + len, sizeof(buf), 1);\n".to_owned(),
        "\tshow(buf + 4, sizeof(buf), 1);\n".to_owned(),
        "\tlen = show(buf, sizeof(buf), 0);\n\tmemset(buf + len, 0, sizeof(buf));\n".to_owned(),
    ] {
        assert_eq!(written(&wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        round("len += show(buf + len, sizeof(buf) - len, i)"),
        round("len += show(d, big + len, n - len)"),
        "\tlen = show(buf, sizeof(buf), 0);\n\tmemset(buf + len, 0, sizeof(buf) - len);\n"
            .to_owned(),
        // There is nothing in front of it yet.
        "\tlen += show(buf + len, sizeof(buf), 1);\n".to_owned(),
        "\tshow(&d->items[1], sizeof(d->items[1]), 1);\n".to_owned(),
    ] {
        assert_eq!(written(&right), NONE, "{right}");
    }
}

#[test]
fn what_a_text_has_nothing_for_is_anything() {
    let scanned = |statements: &str| {
        rules(&format!(
            "static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
             \tstruct dev *d = file->private_data;\n\tunsigned int a, b, c = 0;\n\tchar buf[32];\n\tint ret, n;\n\n\
             \tif (count > sizeof(buf) - 1)\n\t\treturn -EINVAL;\n\tif (copy_from_user(buf, u, count))\n\t\treturn -EFAULT;\n\
             \tbuf[count] = 0;\n{statements}\treturn count;\n}}\n"
        ))
    };
    for wrong in [
        "\tret = sscanf(buf, \"%u %u\", &a, &b);\n\tif (ret <= 0)\n\t\treturn -EINVAL;\n\tuse(d, a, b);\n",
        "\tret = sscanf(buf, \"%u %u\", &a, &b);\n\tif (ret < 1) {\n\t\tpr_err(\"%d\\n\", ret);\n\t\treturn -EINVAL;\n\t}\n\tuse(d, a, b);\n",
        "\tif (sscanf(buf, \"%u:%u:%x\", &a, &b, &c) == 0)\n\t\treturn -EINVAL;\n\tuse(d, a, b + c);\n",
        "\tsscanf(buf, \"%u\", &a);\n\tuse(d, a, 0);\n",
    ] {
        assert_eq!(scanned(wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        "\tret = sscanf(buf, \"%u %u\", &a, &b);\n\tif (ret != 2)\n\t\treturn -EINVAL;\n\tuse(d, a, b);\n",
        "\tret = sscanf(buf, \"%u %u\", &a, &b);\n\tif (ret < 1)\n\t\treturn -EINVAL;\n\tif (ret < 2)\n\t\tb = 1;\n\tuse(d, a, b);\n",
        "\tret = sscanf(buf, \"%u %u\", &a, &b);\n\tif (ret < 1)\n\t\treturn -EINVAL;\n\tuse(d, a, ret > 1 ? b : 0);\n",
        // What it was before stays.
        "\tif (sscanf(buf, \"%u %u\", &a, &c) < 1)\n\t\treturn -EINVAL;\n\tuse(d, a, c);\n",
        // How far it has come is not counted.
        "\tif (sscanf(buf, \"%u%n\", &a, &n) != 1 || n != count)\n\t\treturn -EINVAL;\n\tuse(d, a, 0);\n",
        "\tif (sscanf(buf, \"%u %u\", &a, &b) >= 1)\n\t\tuse(d, a, 0);\n",
    ] {
        assert_eq!(scanned(right), NONE, "{right}");
    }
}

#[test]
fn what_is_in_front_is_taken_off_before_the_copy() {
    let read = |early: &str, late: &str| {
        rules(&format!(
            "static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
             \tstruct dev *d = file->private_data;\n\tloff_t pos = *at;\n\n\twhile (count) {{\n\
             \t\tu32 off, len;\n\t\tu8 data[256];\n\n\t\toff = pos & 3;\n\t\tlen = min(count + off, sizeof(data));\n\
             \t\tif (read_flash(d, pos - off, data, len))\n\t\t\treturn -EIO;\n{early}\
             \t\tif (copy_to_user(u, data + off, len))\n\t\t\treturn -EFAULT;\n{late}\
             \t\tu += len;\n\t\tpos += len;\n\t\tcount -= len;\n\t}}\n\tcount = pos - *at;\n\t*at = pos;\n\treturn count;\n}}\n"
        ))
    };
    let taken = "\t\tlen -= off;\n";
    assert_eq!(read("", taken), ["beyond-variable"]);
    assert_eq!(read(taken, ""), NONE);
}

#[test]
fn what_a_member_was_is_not_what_it_takes() {
    let set = |test: &str| {
        ioctl(&format!(
            "\tif (get_user(n, (u32 __user *)u))\n\t\treturn -EFAULT;\n\tif ({test})\n\t\treturn -EINVAL;\n\td->many = n;"
        ))
    };
    for wrong in ["d->many > FEW", "FEW < d->many"] {
        assert_eq!(set(wrong), ["late-check"], "{wrong}");
    }
    for right in [
        "n > FEW",
        "d->many > FEW || n > FEW",
        "d->level > 3",
        "d->many > 0",
    ] {
        assert_eq!(set(right), NONE, "{right}");
    }
    let cut = "d->many > FEW)\n\t\treturn -EBUSY;\n\tn = min(n, 4u);\n\tif (d->level";
    assert_eq!(set(cut), NONE);
}

#[test]
fn a_whole_that_comes_behind_its_judged_member_replaces_it() {
    let fetched = |filled: &str, member: &str, between: &str, again: &str| {
        rules(&format!(
            "struct fresh {{ u32 magic; u32 kind; }};\nstruct args {{ u64 offset; struct fresh fresh; }};\n\
             static long f(struct dev *d, struct args __user *u)\n{{\n\tstruct args a;\n\tstruct fresh *k;\n\n\
             \tk = (struct fresh *)&a.fresh;\n\tif (copy_from_user({filled}, &u->fresh, sizeof(a.fresh)))\n\t\treturn -EFAULT;\n\
             {between}\tif (copy_from_user(&a, u, sizeof(a)))\n\t\treturn -EFAULT;\n{again}\
             \treturn use(d, a.offset, {member}kind);\n}}\n"
        ))
    };
    for (filled, member) in [("k", "k->"), ("&a.fresh", "a.fresh.")] {
        let judged =
            format!("\tif ({member}magic != 7 || {member}kind > 3)\n\t\treturn -EINVAL;\n");
        assert_eq!(
            fetched(filled, member, &judged, ""),
            ["double-fetch"],
            "{filled}"
        );
        assert_eq!(fetched(filled, member, "", &judged), NONE, "{filled}");
    }
}
