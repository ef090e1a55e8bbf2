//! The user's addresses: who goes through them by hand, who checks them, which way around.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::{changed, rules};

const NONE: [&str; 0] = [];

#[test]
fn memory_of_the_users_is_not_copied_by_hand() {
    // In a function that names no accessor, and beside another case of a switch.
    let alone = "int f(struct part *own, void __user *to)\n{\n\tif (own->full)\n\t\treturn copy_to_user(to, own->data, sizeof(own->data)) ? -EFAULT : 0;\n\treturn 0;\n}\n";
    let by_hand = ("copy_to_user(to, own->data", "!memcpy(to, own->data");
    changed("user-pointer-dereferenced", alone, &[by_hand]);
    let cases = "int f(unsigned int cmd, unsigned long arg)\n{\n\tvoid __user *to = (void __user *)arg;\n\tstruct part part = {};\n\n\tswitch (cmd) {\n\tcase 1:\n\t\tif (copy_to_user(to, &part, sizeof(part)))\n\t\t\treturn -EFAULT;\n\t\treturn 0;\n\tcase 2:\n\t\tif (copy_from_user(&part, to, sizeof(part)))\n\t\t\treturn -EFAULT;\n\t\treturn set(&part);\n\t}\n\treturn -ENOTTY;\n}\n";
    let (one, other) = (
        ("if (copy_to_user(to, ", "if (!memcpy(to, "),
        ("if (copy_from_user(&part, to, ", "if (!memcpy(&part, to, "),
    );
    changed("user-pointer-dereferenced", cases, &[one, other]);
    // One that steps on stays the user's.
    let steps = "int f(u32 __user *to, const u32 *own, int n)\n{\n\tif (!n)\n\t\treturn -EINVAL;\n\twhile (n--) {\n\t\tif (copy_to_user(to, own, sizeof(*own)))\n\t\t\treturn -EFAULT;\n\t\tto++;\n\t\town++;\n\t}\n\treturn 0;\n}\n";
    let by_hand = ("copy_to_user(to, own", "!memcpy(to, own");
    changed("user-pointer-dereferenced", steps, &[by_hand]);
}

#[test]
fn a_member_may_hold_either_ones_address() {
    let either = "struct part { const void __user *data; };\nint f(struct part *part, struct own *own, bool kernel)\n{\n\tif (kernel)\n\t\tmemcpy(own, part->data, sizeof(*own));\n\telse if (copy_from_user(own, part->data, sizeof(*own)))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
    assert_eq!(rules(either), NONE);
    let behind = either
        .replace("\tif (kernel)\n\t\tmemcpy", "\tmemcpy")
        .replace("\telse if", "\tif");
    assert_eq!(rules(&behind), ["user-pointer-dereferenced"]);
}

#[test]
fn one_of_two_faults_is_a_fault() {
    let right = "int f(u32 __user *p, u32 __user *q)\n{\n\tu32 a, b;\n\n\tif (get_user(a, p) || get_user(b, q))\n\t\treturn -EFAULT;\n\treturn use(a, b);\n}\n";
    changed("inverted-test", right, &[("||", "&&")]);
    // What is no access may stand beside one, whatever else is accessed.
    let asked = right
        .replace("get_user(a, p) || get_user(b, q)", "q && get_user(a, p)")
        .replace(
            "\treturn use",
            "\tif (get_user(b, q))\n\t\treturn -EFAULT;\n\treturn use",
        );
    assert_eq!(rules(&asked), NONE);
    // The second is tried because the first one faulted.
    let again = right
        .replace("get_user(b, q)", "get_user(a, q)")
        .replace("||", "&&");
    assert_eq!(rules(&again), NONE);
    let well = right
        .replace(
            "get_user(a, p) || get_user(b, q)",
            "!get_user(a, p) && !get_user(b, q)",
        )
        .replace("return -EFAULT", "return use(a, b)")
        .replace("\treturn use(a, b);\n}", "\treturn -EFAULT;\n}");
    assert_eq!(rules(&well), NONE);
}

#[test]
fn what_is_refused_is_not_accessed() {
    let right = "long f(struct regs *regs)\n{\n\tstruct frame __user *frame = (struct frame __user *)regs->sp;\n\tu32 mask;\n\n\tif (!access_ok(frame, sizeof(*frame)))\n\t\tgoto bad;\n\tif (__get_user(mask, &frame->mask))\n\t\tgoto bad;\n\tset(mask);\n\treturn regs->ax;\nbad:\n\tend(regs, frame);\n\treturn 0;\n}\n";
    changed("inverted-test", right, &[("!access_ok", "access_ok")]);
    let inside = "long f(struct regs *regs, u32 __user *p)\n{\n\tu32 mask;\n\n\tif (access_ok(p, sizeof(*p))) {\n\t\tif (!__get_user(mask, p))\n\t\t\tset(mask);\n\t}\n\treturn regs->ax;\n}\n";
    assert_eq!(rules(inside), NONE);
}

#[test]
fn a_number_of_the_users_is_checked_before_it_is_an_address() {
    let right = "struct args { unsigned long list; u32 n; };\nint f(struct args *args)\n{\n\tu32 __user *list = u64_to_user_ptr(args->list);\n\tu32 first;\n\n\tif (!access_ok(list, sizeof(first)))\n\t\treturn -EFAULT;\n\tif (__get_user(first, list))\n\t\treturn -EFAULT;\n\treturn first;\n}\n";
    let lost = (
        "\tif (!access_ok(list, sizeof(first)))\n\t\treturn -EFAULT;\n",
        "",
    );
    changed("unchecked-access", right, &[lost]);
    // An address that somebody keeps as a pointer may have been checked by whoever put it
    // there, and one of 32 bits leads to no memory of the kernel's.
    let without = right.replacen(lost.0, lost.1, 1);
    let kept = without
        .replace("unsigned long list", "void *list")
        .replace("u64_to_user_ptr(args->list)", "(u32 __user *)args->list");
    assert_eq!(rules(&kept), NONE);
    assert_eq!(
        rules(&without.replace("u64_to_user_ptr", "compat_ptr")),
        NONE
    );
    let alias = right
        .replace("u32 first;", "u32 first;\n\tvoid __user *all = list;")
        .replace("access_ok(list,", "access_ok(all,");
    assert_eq!(rules(&alias), NONE);
    // What else accesses the user by what holds the number may have checked it.
    let asked = "static int look(struct args *args)\n{\n\tu32 n;\n\n\treturn get_user(n, (u32 __user *)u64_to_user_ptr(args->list));\n}\n";
    let calls = without.replace(
        "\tif (__get_user(first",
        "\tif (look(args))\n\t\treturn -EFAULT;\n\tif (__get_user(first",
    );
    let beside = calls.replace("int f(", &format!("{asked}int f("));
    assert_eq!(rules(&beside), NONE);
}

#[test]
fn the_address_of_an_ioctl_is_the_users() {
    let right = "static long own_ioctl(struct file *file, unsigned int cmd, unsigned long arg)\n{\n\tstruct part __user *to = (struct part __user *)arg;\n\tstruct part part = {};\n\n\tswitch (cmd) {\n\tcase 1:\n\t\treturn set(to);\n\tcase 2:\n\t\treturn copy_to_user(to, &part, sizeof(part)) ? -EFAULT : 0;\n\t}\n\treturn -ENOTTY;\n}\nstatic const struct file_operations own_ops = {\n\t.unlocked_ioctl = own_ioctl,\n};\n";
    changed(
        "unchecked-access",
        right,
        &[("copy_to_user", "__copy_to_user")],
    );
    // Of what no table has nobody knows.
    let other = right
        .replace("copy_to_user", "__copy_to_user")
        .replace(".unlocked_ioctl", ".release");
    assert_eq!(rules(&other), NONE);
}

#[test]
fn a_member_that_the_file_declares_needs_no_accessor_to_be_the_user_s() {
    let right = "struct walk { struct zone __user *out; int n; };\nint f(const struct zone *zone, void *data)\n{\n\tstruct walk *walk = data;\n\n\tif (copy_to_user(&walk->out[walk->n], zone, sizeof(*zone)))\n\t\treturn -EFAULT;\n\twalk->n++;\n\treturn 0;\n}\n";
    changed(
        "user-pointer-dereferenced",
        right,
        &[
            (
                "if (copy_to_user(&walk->out[walk->n], ",
                "if (!memcpy(&walk->out[walk->n], ",
            ),
            (
                "if (copy_to_user(&walk->out[walk->n], ",
                "if (!memcpy(walk->out + walk->n, ",
            ),
        ],
    );
    let kernels = right
        .replace("zone __user *out", "zone *out")
        .replace("if (copy_to_user(", "if (!memcpy(");
    assert_eq!(rules(&kernels), NONE);
}

#[test]
fn what_a_list_of_the_user_s_addresses_leads_to() {
    let right = "int f(struct msg *msgs, int n)\n{\n\tu8 __user **all = kcalloc(n, sizeof(*all), GFP_KERNEL);\n\tint i, err = 0;\n\tu8 first;\n\n\tif (!all)\n\t\treturn -ENOMEM;\n\tfor (i = 0; i < n && !err; i++) {\n\t\tall[i] = (u8 __user *)msgs[i].at;\n\t\terr = get_user(first, all[i]);\n\t\tif (!err && first < 1)\n\t\t\terr = -EINVAL;\n\t}\n\tkfree(all);\n\treturn err;\n}\n";
    changed(
        "user-pointer-dereferenced",
        right,
        &[("first < 1", "all[i][0] < 1"), ("first < 1", "*all[i] < 1")],
    );
}

#[test]
fn a_callback_takes_one_kind_of_address() {
    let right = "int f(struct event *event, int (*put)(void *, const char *, int), void *to)\n{\n\tchar own[16];\n\n\tif (event->users) {\n\t\tconst char __user *from = (const char __user *)event->at;\n\n\t\tif (copy_from_user(own, from, sizeof(own)))\n\t\t\treturn -EFAULT;\n\t\treturn put(to, own, sizeof(own));\n\t}\n\treturn put(to, event->text, event->n);\n}\n";
    let with_type =
        format!("struct event {{ bool users; unsigned long at; char *text; int n; }};\n{right}");
    let forced = (
        "return put(to, own, ",
        "return put(to, (const char __force *)from, ",
    );
    changed("user-pointer-dereferenced", &with_type, &[forced]);
    // One that is given the user's only may be told so.
    let alone = with_type.replace(forced.0, forced.1).replace(
        "\treturn put(to, event->text, event->n);\n",
        "\treturn 0;\n",
    );
    assert_eq!(rules(&alone), NONE);
}

#[test]
fn a_pointer_that_steps_on_is_the_user_s_as_before() {
    let right = "static ssize_t dev_read(struct file *file, char __user *to, size_t n, loff_t *at)\n{\n\tif (!access_ok(to, n))\n\t\treturn -EFAULT;\n\twhile (n--) {\n\t\tif (__put_user(next(file), to))\n\t\t\treturn -EFAULT;\n\t\tto++;\n\t}\n\treturn 0;\n}\n\nstatic const struct file_operations dev_fops = {\n\t.read = dev_read,\n};\n";
    let check = "\tif (!access_ok(to, n))\n\t\treturn -EFAULT;\n";
    // vfs_read() has checked it.
    assert_eq!(rules(&right.replace(check, "")), NONE);
    let call = right.replace(
        "static ssize_t dev_read(struct file *file, char __user *to, size_t n, loff_t *at)",
        "SYSCALL_DEFINE3(dev_get, struct file *, file, char __user *, to, size_t, n)",
    );
    changed("unchecked-access", &call, &[(check, "")]);
    // What it is set to may have been checked.
    let other = call
        .replace(check, "")
        .replace("\twhile (n--)", "\tto = checked(to, n);\n\twhile (n--)");
    assert_eq!(rules(&other), NONE);
}

/// What was checked lies in front of a pointer that has moved over all of it.
#[test]
fn a_pointer_that_moved_over_what_was_checked_is_unchecked() {
    let checked = |size: &str, between: &str, place: &str| {
        rules(&format!(
            "struct one {{ u32 a; u32 b; }};\n\
             int f(struct one __user *p, struct one *own, unsigned int n)\n{{\n\tif (!access_ok(p, {size}))\n\t\treturn -EFAULT;\n{between}\treturn __put_user(own->a, {place});\n}}\n"
        ))
    };
    for (size, between, place) in [
        ("n * sizeof(*p)", "\tp += n;\n", "&p->a"),
        ("sizeof(*p) * n", "\tp = p + n;\n", "&p->b"),
        ("4 * sizeof(*p)", "\tp += 4;\n", "&p[1].a"),
        (
            "16",
            "\tif (own->b)\n\t\tp += 2;\n\telse\n\t\treturn 0;\n",
            "&p->a",
        ),
    ] {
        let found = checked(size, between, place);
        assert_eq!(found, ["other-object-checked"], "{size} {between}");
    }
    for (size, between, place) in [
        ("(n + 1) * sizeof(*p)", "\tp += n;\n", "&p->a"),
        ("n * sizeof(*p)", "\tp += n - 1;\n", "&p->a"),
        ("n * sizeof(*p)", "\tif (own->b)\n\t\tp += n;\n", "&p->a"),
        ("n * sizeof(*p)", "\tp += n;\n", "&p[-1].a"),
        ("n * sizeof(*p)", "\tp += n;\n\tp -= n;\n", "&p->a"),
        (
            "n * sizeof(*p)",
            "\tp += n;\n\tif (!access_ok(p, 8))\n\t\treturn -EFAULT;\n",
            "&p->a",
        ),
        ("4 * sizeof(*p)", "\tp += 3;\n", "&p->a"),
    ] {
        assert_eq!(checked(size, between, place), NONE, "{size} {between}");
    }
    let window = "int f(u32 __user *p, u32 a, unsigned int n)\n{\n\tif (!user_write_access_begin(p, n * sizeof(*p)))\n\t\treturn -EFAULT;\n\tp += n;\n\tunsafe_put_user(a, p, out);\n\tuser_write_access_end();\n\treturn 0;\nout:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}\n";
    assert_eq!(rules(window), ["outside-checked-range"]);
    assert_eq!(rules(&window.replace("p += n", "p += n - 1")), NONE);
}

#[test]
fn an_address_is_no_value() {
    let put = |value: &str| {
        rules(&format!(
            "struct part {{ u32 kind; u64 count; }};\n\
             int f(struct part *own, struct part __user *u, u64 __user *p)\n{{\n\tu64 sum = own->count;\n\n\treturn put_user({value}, p);\n}}\n"
        ))
    };
    for wrong in [
        "&own->count",
        "(unsigned long)&own->count",
        "(unsigned long)&sum",
    ] {
        assert_eq!(put(wrong), ["kernel-address"], "{wrong}");
    }
    // The user's own, and what no variable of the function leads to.
    for right in [
        "own->count",
        "sum",
        "(unsigned long)&u->count",
        "(long)&trampoline",
        "*&sum",
    ] {
        assert_eq!(put(right), NONE, "{right}");
    }
}

/// What only reads a text is the kernel's like what copies one.
#[test]
fn a_text_of_the_user_s_is_read_by_hand() {
    let right = "ssize_t set(struct file *file, const char __user *buf, size_t n, loff_t *at)\n{\n\tchar own[20];\n\tu8 addr[6];\n\n\tif (n >= sizeof(own) || copy_from_user(own, buf, n))\n\t\treturn -EFAULT;\n\town[n] = 0;\n\tif (!mac_pton(own, addr))\n\t\treturn -EINVAL;\n\treturn hex2bin(addr, own, 2) ? -EINVAL : n;\n}\n";
    changed(
        "user-pointer-dereferenced",
        right,
        &[
            ("mac_pton(own", "mac_pton(buf"),
            ("addr, own, 2", "addr, buf, 2"),
        ],
    );
}

/// By force a pointer of the user's becomes one of the kernel's for whoever reads it, not for the
/// machine.
#[test]
fn a_cast_by_force_leads_to_the_user_all_the_same() {
    let right = "int set(u64 __user *map, unsigned long at, u64 *own)\n{\n\tu64 left;\n\n\tif (copy_from_user(&left, (void __user *)(map + at), sizeof(left)))\n\t\treturn -EFAULT;\n\town[at] |= left;\n\tif (copy_to_user(map + at, own, sizeof(*own)))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
    let copy =
        "if (copy_from_user(&left, (void __user *)(map + at), sizeof(left)))\n\t\treturn -EFAULT;";
    changed(
        "user-pointer-dereferenced",
        right,
        &[
            (
                copy,
                "memcpy(&left, (__force void *)(map + at), sizeof(left));",
            ),
            (copy, "memcpy(&left, (void __force *)map, sizeof(left));"),
            (copy, "left = strlen((__force char *)map);"),
        ],
    );
    // Where the memory is the kernel's the function tells by another way.
    let either = "int set(void __user *from, bool kernel, u64 *own)\n{\n\tif (kernel)\n\t\tmemcpy(own, (__force void *)from, 8);\n\telse if (copy_from_user(own, from, 8))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
    assert_eq!(rules(either), NONE);
    let own = "unsigned long raw_copy_from_user(void *to, const void __user *from, unsigned long n)\n{\n\tmemcpy(to, (const void __force *)from, n);\n\treturn 0;\n}\n";
    assert_eq!(rules(own), NONE);
    let mapped = "int set(void __user *from, struct page *page, u64 *own)\n{\n\tfrom = (__force void __user *)page_address(page);\n\tmemcpy(own, (__force void *)from, 8);\n\treturn 0;\n}\n";
    assert_eq!(rules(mapped), NONE);
}

/// What a function of another file takes was known of none: an address of the user's went to
/// any.
#[test]
fn an_address_of_the_users_for_one_of_the_kernels() {
    let with = |declared: &str, used: &str| {
        rules(&format!(
            "{declared}\n\nint set(struct dev *d, struct state __user *p, struct own *o)\n{{\n\tif (copy_from_user(&d->state, p, sizeof(d->state)))\n\t\treturn -EFAULT;\n{used}\n}}\n"
        ))
    };
    let plain = "int find(struct dev *d, const struct state *key);";
    for wrong in [
        "\treturn find(d, p);",
        "\treturn find(d, p + 1);",
        "\treturn find(d, (__force struct state *)p);",
        "\treturn find(d, (struct state *)p);",
        "\tif (find(d, p) < 0)\n\t\treturn -ENOENT;\n\treturn 0;",
    ] {
        assert_eq!(with(plain, wrong), ["kernel-pointer-expected"], "{wrong}");
    }
    for declared in [
        "extern struct state *find(struct dev *d, const struct state *key) __must_check;",
        "#ifdef CONFIG_STATES\nint find(struct dev *, const struct state *);\n#endif",
        "int find(struct dev *d,\n\t /* what is looked for */\n\t const struct state key[2]);",
    ] {
        let found = with(declared, "\treturn find(d, p);");
        assert_eq!(found, ["kernel-pointer-expected"], "{declared}");
    }

    for declared in [
        "",
        "int find(struct dev *d, const struct state __user *key);",
        "int find(struct dev *d, unsigned long key);",
        "int find(struct dev *d, ...);",
        "/* int find(struct dev *d, const struct state *key); */",
        "#define find(d, key) ask(d, (unsigned long)(key))",
        "int find(struct dev *d, const struct state *key);\nint find(struct dev *d, const struct state __user *key);",
        "int find(struct dev *d, int (*key)(const struct state *own));",
    ] {
        assert_eq!(with(declared, "\treturn find(d, p);"), NONE, "{declared}");
    }
    for right in [
        "\treturn find(d, &d->state);",
        "\treturn find(d, (__force void *)p);",
        "\treturn find(d, (struct state *)(unsigned long)p);",
        "\tp = o->kernels;\n\treturn find(d, (struct state *)p);",
        "\tp = o->kernels;\n\treturn find(d, p);",
        "\treturn prefetch(p), 0;",
    ] {
        assert_eq!(with(plain, right), NONE, "{right}");
    }
}

/// What a format prints of an argument is what the pointer leads to, or the pointer itself.
#[test]
fn a_format_goes_through_the_users_pointer() {
    let with = |call: &str| {
        rules(&format!(
            "struct link {{ unsigned char addr[6]; unsigned int id; }};\n\nint join(struct dev *d, struct link __user *p, const char __user *name, int n)\n{{\n\tstruct link own;\n\n\tif (copy_from_user(&own, p, sizeof(own)))\n\t\treturn -EFAULT;\n\t{call};\n\treturn 0;\n}}\n"
        ))
    };
    for wrong in [
        "pr_warn(\"%s: no %s\\n\", __func__, name)",
        "dev_dbg(d->dev, \"name %.*s\", n, name)",
        "dev_dbg(d->dev, \"%d%% of %-*s\", n, 8, (char *)name)",
        "seq_printf(d->m, \"%u \" \"%pM\", own.id, &p->addr)",
        "netdev_info(d->net, \"to %pI4\", &p->id)",
        "print_hex(d, \"%*ph\", n, p)",
        "d->len = snprintf(d->text, 16, \"%s\", name)",
        "trace(d, \"%s\", (__force const char *)name)",
        "WARN(n, \"%pUl\", p)",
    ] {
        assert_eq!(with(wrong), ["user-pointer-dereferenced"], "{wrong}");
    }
    for right in [
        "pr_warn(\"%s: no %p\\n\", __func__, name)",
        "pr_debug(\"%px %pK %lx\", p, name, (unsigned long)p)",
        "seq_printf(d->m, \"%pM\", own.addr)",
        "dev_dbg(d->dev, \"%*d %p\", n, n, name)",
        "sprintf(d->text, \"at %p\", name)",
        // Who is given more, or less, says what of by himself.
        "LOG(\"%s: %p\", name)",
        "LOG(\"%s\", d, name)",
        "pr_info(\"100%% of %p\", name)",
        "name = d->own, pr_info(\"%s\", name)",
        "pr_info(d->format, name)",
    ] {
        assert_eq!(with(right), NONE, "{right}");
    }
}

#[test]
fn as_much_as_is_kept_does_not_lie_where_the_pointer_does() {
    let with = |from: &str, bytes: &str| {
        rules(&format!(
            "struct dev {{ u8 *table; u32 many; u32 flags; u8 own[16]; }};\n\
             long show(struct dev *d, void __user *to, u32 n)\n{{\n\tif (n > d->many)\n\t\treturn -EINVAL;\n\
             \treturn copy_to_user(to, {from}, {bytes}) ? -EFAULT : 0;\n}}\n"
        ))
        .contains(&"beyond-variable".to_owned())
    };
    for bytes in ["d->many", "n", "16"] {
        assert!(with("&d->table", bytes), "{bytes}");
        assert!(!with("d->table", bytes), "{bytes}");
        assert!(!with("&d->own", bytes), "{bytes}");
    }
    assert!(!with("&d->table", "sizeof(d->table)"));
    assert!(!with("&d->flags", "sizeof(d->flags)"));
}
