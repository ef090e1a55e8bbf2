//! Copies by the greater of two numbers, by all that there is from the front on, of more than the program
//! has said; counts of elements that are held against bytes; members, and pointers, for what they lie in
//! or lead to.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "struct head { u32 size; u32 tag; u64 more; };\n\
     struct entry { char name[7]; };\n\
     struct table { u32 count; u32 other; struct entry all[8]; u8 flat[8]; };\n\
     struct msg { size_t len; u8 *data; size_t done; u8 *other; };\n\
     struct inner { u32 a; char text[32]; };\n\
     struct outer { u32 cmd; struct inner in; };\n\
     struct keys { u32 k[4]; };\n\
     struct dev { struct keys *keys; struct msg m; u32 room; };\n\
     static inline struct dev *to_dev(struct file *file) { return file->private_data; }\n\
     static inline struct keys *__must_check first_keys(struct dev *d) { return d->keys; }\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

#[test]
fn no_more_goes_out_than_there_is() {
    let reply = |asked: &str, count: &str| {
        rules(&format!(
            "static int f(struct msg *m, char __user *out, size_t room)\n{{\n\tsize_t n = m->len - sizeof(m->len);\n\n\
             {asked}\n\tif (copy_to_user(out, m->data, {count}))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        ))
    };
    for (asked, count) in [
        ("\tif (n > room)\n\t\treturn -EMSGSIZE;", "room"),
        ("\tif (room < m->len)\n\t\treturn -EMSGSIZE;", "room"),
        ("\tif (!out || room < n)\n\t\treturn -EINVAL;", "room"),
    ] {
        assert_eq!(reply(asked, count), ["beyond-variable"], "{asked}");
    }
    for (asked, count) in [
        ("\tif (n > room)\n\t\treturn -EMSGSIZE;", "n"),
        ("\tif (room < m->len)\n\t\treturn -EMSGSIZE;", "m->len"),
        ("\tif (n < room)\n\t\troom = n;", "room"),
        (
            "\tif (n > room)\n\t\treturn -EMSGSIZE;\n\tif (room > m->len)\n\t\treturn -EINVAL;",
            "room",
        ),
        ("\tif (n > room)\n\t\treturn -EMSGSIZE;", "min(n, room)"),
    ] {
        assert_eq!(reply(asked, count), NONE, "{asked} {count}");
    }
}

#[test]
fn memory_takes_no_more_than_it_was_made_for() {
    let query = |asked: &str, count: &str| {
        rules(&format!(
            "struct query {{ u32 size; u8 __user *data; }};\n\
             static int f(struct dev *d, struct query *q)\n{{\n\tu32 size = length_of(d);\n\tint ret = -EFAULT;\n\tu8 *data;\n\n\
             {asked}\n\tdata = kzalloc(size, GFP_KERNEL);\n\tif (!data)\n\t\treturn -ENOMEM;\n\
             \tif (copy_from_user(data, q->data, {count}))\n\t\tgoto out;\n\tret = set(d, data);\n\
             out:\n\tkfree(data);\n\treturn ret;\n}}\n"
        ))
    };
    for asked in [
        "\tif (size > q->size)\n\t\treturn -ENOBUFS;",
        "\tif (q->size < size)\n\t\treturn -ENOBUFS;",
    ] {
        assert_eq!(query(asked, "q->size"), ["beyond-variable"], "{asked}");
        assert_eq!(query(asked, "size"), NONE, "{asked}");
    }
    assert_eq!(
        query("\tif (size != q->size)\n\t\treturn -ENOBUFS;", "q->size"),
        NONE
    );
}

#[test]
fn what_is_done_is_taken_off_the_whole() {
    let resume = |taken: &str, behind: &str| {
        rules(&format!(
            "static ssize_t f(struct msg *m, const char __user *u, size_t len)\n{{\n\tsize_t n;\n\n\
             {taken}\n\tif (copy_from_user(m->data + m->done, u, n))\n\t\treturn -EFAULT;\n\
             \tm->done += n;\n{behind}\n\treturn n;\n}}\n"
        ))
    };
    let full = "\tif (m->done == sizeof(struct head))\n\t\tparse(m);";
    let less = "\tif (m->done < sizeof(struct head))\n\t\treturn n;\n\tparse(m);";
    for (taken, behind) in [
        ("\tn = min_t(size_t, len, sizeof(struct head));", full),
        ("\tn = min(len, sizeof(struct head));", less),
        (
            "\tn = len;\n\tif (n > sizeof(struct head))\n\t\tn = sizeof(struct head);",
            full,
        ),
    ] {
        assert_eq!(resume(taken, behind), ["beyond-variable"], "{taken}");
    }
    for (taken, behind) in [
        (
            "\tn = min_t(size_t, len, sizeof(struct head) - m->done);",
            full,
        ),
        (
            "\tn = min(len, sizeof(struct head));\n\tif (m->done + n > sizeof(struct head))\n\t\treturn -EINVAL;",
            full,
        ),
        (
            "\tn = min(len, sizeof(struct head));\n\tif (m->done)\n\t\treturn -EBUSY;",
            full,
        ),
        ("\tn = min(len, sizeof(struct head));", ""),
    ] {
        assert_eq!(resume(taken, behind), NONE, "{taken} {behind}");
    }
    let left = |off: &str| {
        rules(&format!(
            "static int f(struct msg *m, char __user *u, size_t start, int cnt)\n{{\n\tint len = used(m);\n\n\
             \tif (len <= start)\n\t\treturn -EBUSY;\n{off}\tif (cnt > len)\n\t\tcnt = len;\n\
             \tif (copy_to_user(u, m->data + start, cnt))\n\t\treturn -EFAULT;\n\treturn cnt;\n}}\n"
        ))
    };
    assert_eq!(left("\tlen -= start;\n"), NONE);
}

#[test]
fn a_size_beside_a_pointer_is_as_large_as_what_is_taken() {
    let set = |asked: &str, taken: &str| {
        rules(&format!(
            "static int f(struct sock *sk, int name, char __user *val, unsigned int len)\n{{\n\tint v;\n\n\
             {asked}\n{taken}\n\t\treturn -EFAULT;\n\tsk->v = v;\n\treturn 0;\n}}\n"
        ))
    };
    let one = "\tif (get_user(v, (int __user *)val))";
    let copy = "\tif (copy_from_user(&v, val, sizeof(v)))";
    for asked in [
        "\tif (len < sizeof(short))\n\t\treturn -EINVAL;",
        "\tif (len != sizeof(char))\n\t\treturn -EINVAL;",
        "\tif (!len || len < sizeof(u16))\n\t\treturn -EINVAL;",
        "\tif (sizeof(u8) > len)\n\t\treturn -EINVAL;",
    ] {
        assert_eq!(set(asked, one), ["beyond-argument"], "{asked}");
        assert_eq!(set(asked, copy), ["beyond-argument"], "{asked}");
    }
    for asked in [
        "\tif (len < sizeof(int))\n\t\treturn -EINVAL;",
        "\tif (len < sizeof(short))\n\t\treturn -EINVAL;\n\tif (len < sizeof(v))\n\t\treturn -EINVAL;",
        "\tif (len > sizeof(int))\n\t\treturn -EINVAL;",
        "\tif (len != 1)\n\t\treturn -EINVAL;",
        "\tif (len < sizeof(short) || !fits(len))\n\t\treturn -EINVAL;",
        "",
    ] {
        assert_eq!(set(asked, one), NONE, "{asked}");
    }
    let get = |asked: &str, kind: &str| {
        rules(&format!(
            "static int f(struct sock *sk, int name, char __user *val, int __user *optlen)\n{{\n\tint len;\n\n\
             \tif (get_user(len, optlen))\n\t\treturn -EFAULT;\n\tif ({asked})\n\t\treturn -EINVAL;\n\
             \treturn put_user(sk->v, ({kind} __user *)val);\n}}\n"
        ))
    };
    assert_eq!(get("len != sizeof(char)", "int"), ["beyond-argument"]);
    assert_eq!(get("len < sizeof(u32)", "u64"), ["beyond-argument"]);
    assert_eq!(get("len != sizeof(int)", "int"), NONE);
    assert_eq!(get("len < sizeof(u64)", "u32"), NONE);
    let fetched = |asked: &str| {
        rules(&format!(
            "static int f(struct sock *sk, int name, sockptr_t val, unsigned int len)\n{{\n\tint v;\n\n\
             \tif ({asked})\n\t\treturn -EINVAL;\n\tif (copy_from_sockptr(&v, val, sizeof(v)))\n\t\treturn -EFAULT;\n\
             \tsk->v = v;\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(fetched("len < sizeof(short)"), ["beyond-argument"]);
    assert_eq!(fetched("len < sizeof(v)"), NONE);
}

#[test]
fn elements_are_not_held_against_bytes() {
    let add = |asked: &str, each: &str| {
        rules(&format!(
            "static int add(struct dev *d, struct table *t)\n{{\n\tint i;\n\n\tif ({asked})\n\t\treturn -EINVAL;\n\
             \tfor (i = 0; i < t->count; i++)\n\t\t{each}\n\treturn 0;\n}}\n\
             static int f(struct dev *d, void __user *u)\n{{\n\tstruct table t;\n\n\
             \tif (copy_from_user(&t, u, sizeof(t)))\n\t\treturn -EFAULT;\n\treturn add(d, &t);\n}}\n"
        ))
    };
    for asked in [
        "t->count > sizeof(t->all)",
        "t->count >= sizeof(t->all)",
        "sizeof(t->all) < t->count",
        "!d || t->count > sizeof(t->all)",
    ] {
        assert_eq!(
            add(asked, "use(d, &t->all[i]);"),
            ["elements-for-bytes"],
            "{asked}"
        );
    }
    assert_eq!(
        add("t->count > ARRAY_SIZE(t->all)", "use(d, &t->all[i]);"),
        NONE
    );
    assert_eq!(
        add("t->count > sizeof(t->flat)", "use(d, &t->flat[i]);"),
        NONE
    );
    assert_eq!(
        add("t->other > sizeof(t->all)", "use(d, &t->flat[i]);"),
        NONE
    );
    assert_eq!(
        add(
            "t->count > sizeof(t->all) / sizeof(t->all[0])",
            "use(d, &t->all[i]);"
        ),
        NONE
    );
}

#[test]
fn a_member_is_not_copied_for_the_whole() {
    let out = |from: &str, count: &str| {
        rules(&format!(
            "static int f(struct outer *o, void __user *u, size_t room)\n{{\n\tstruct inner *in = &o->in;\n\
             \tsize_t n = min(room, {count});\n\n\tin->a = n;\n\
             \treturn copy_to_user(u, {from}, n) ? -EFAULT : 0;\n}}\n"
        ))
    };
    assert_eq!(out("in", "sizeof(*o)"), ["beyond-variable"]);
    assert_eq!(out("in", "sizeof(*in)"), NONE);
    assert_eq!(out("&o->in", "sizeof(o->in)"), NONE);
    let whole = |from: &str, count: &str| {
        rules(&format!(
            "static int f(struct outer *o, void __user *u)\n{{\n\
             \treturn copy_to_user(u, {from}, {count}) ? -EFAULT : 0;\n}}\n"
        ))
    };
    for (from, count) in [
        ("o->in.text", "sizeof(*o)"),
        ("o->in.text", "sizeof(o->in)"),
        ("&o->in", "sizeof(struct outer)"),
    ] {
        assert_eq!(whole(from, count), ["beyond-variable"], "{from} {count}");
    }
    for (from, count) in [
        ("o->in.text", "sizeof(o->in.text)"),
        ("&o->in", "sizeof(struct inner)"),
        ("o", "sizeof(*o)"),
    ] {
        assert_eq!(whole(from, count), NONE, "{from} {count}");
    }
}

#[test]
fn a_pointer_is_not_copied_for_what_it_leads_to() {
    let out = |value: &str, count: &str| {
        rules(&format!(
            "static int f(struct dev *d, void __user *u)\n{{\n\tstruct keys *k = kzalloc(sizeof(*k), GFP_KERNEL);\n\tint rc = 0;\n\n\
             \tif (!k)\n\t\treturn -ENOMEM;\n\tif (copy_to_user(u, {value}, {count}))\n\t\trc = -EFAULT;\n\
             \tkfree(k);\n\treturn rc;\n}}\n"
        ))
    };
    assert_eq!(out("&k", "sizeof(k)"), ["kernel-address"]);
    assert_eq!(out("k", "sizeof(*k)"), NONE);
    let member = |value: &str, count: &str| {
        rules(&format!(
            "static int f(struct file *file, void __user *u)\n{{\n\
             \treturn copy_to_user(u, {value}, {count}) ? -EFAULT : 0;\n}}\n"
        ))
    };
    for (value, count) in [
        ("&to_dev(file)->keys", "to_dev(file)->room"),
        ("&to_dev(file)->keys", "sizeof(struct keys)"),
    ] {
        assert_eq!(member(value, count), ["beyond-variable"], "{value} {count}");
    }
    assert_eq!(member("to_dev(file)->keys", "sizeof(struct keys)"), NONE);
    let array = "static int f(struct dev *d, void __user *u)\n{\n\tu8 mac[6];\n\n\tread_mac(d, mac);\n\
                 \tif (!mac[0])\n\t\treturn -EIO;\n\treturn copy_to_user(u, &mac, sizeof(mac)) ? -EFAULT : 0;\n}\n";
    assert_eq!(rules(array), NONE);
    let users = "static int f(struct dev *d, void __user *u)\n{\n\tvoid __user *p = next(d);\n\n\
                 \treturn copy_to_user(u, &p, sizeof(p)) ? -EFAULT : 0;\n}\n";
    assert_eq!(rules(users), NONE);
}

#[test]
fn a_function_of_the_file_is_not_given_the_users_by_force() {
    let call = |given: &str| {
        rules(&format!(
            "static int has(struct dev *d, struct head *h)\n{{\n\tswitch (h->tag) {{\n\tcase 1:\n\t\treturn 0;\n\t}}\n\treturn -ENXIO;\n}}\n\
             static long f(struct dev *d, struct head __user *u)\n{{\n\tstruct head h;\n\n\
             \tif (copy_from_user(&h, u, sizeof(h)))\n\t\treturn -EFAULT;\n\treturn has(d, {given});\n}}\n"
        ))
    };
    assert_eq!(
        call("(__force struct head *)u"),
        ["user-pointer-dereferenced"]
    );
    assert_eq!(call("&h"), NONE);
}
