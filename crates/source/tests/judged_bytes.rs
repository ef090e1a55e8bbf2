//! Tests of bytes that are judged in one copy and used in another, and of texts that are read twice.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32;\n\
     typedef unsigned long size_t; typedef long long loff_t; typedef long ssize_t;\n\
     #define MOST 64\n#define RESET 2\n\
     struct order { u32 code; u32 len; u8 body[8]; };\n\
     struct named { u16 len; u8 id[64]; };\n\
     struct holder { u32 len; u8 *data; };\n\
     struct point { void __user *pointer; u16 length; };\n\
     struct clip { u16 x, y; };\n\
     struct table { u32 n; u32 regs[16]; int many; };\n\
     struct dev { u8 *buf; u8 small[64]; u32 regs[16]; u32 room; u32 used; u32 at; struct ops *ops[8]; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A function of the user's pointer and a length.
fn given(statements: &str) -> Vec<String> {
    rules(&format!(
        "static long f(struct dev *d, const u8 __user *u, size_t len)\n{{\n{statements}\n}}\n"
    ))
}

/// A read() or a write() of these statements.
fn called(how: &str, statements: &str) -> Vec<String> {
    let user = if how == "read" {
        "char __user *u"
    } else {
        "const char __user *u"
    };
    rules(&format!(
        "static ssize_t f(struct file *file, {user}, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n{statements}\n}}\n\
         static const struct file_operations ops = {{ .{how} = f }};\n"
    ))
}

#[test]
fn a_byte_that_was_judged_comes_again_by_another_pointer() {
    let front = "\tu8 *b = d->buf, head[4];\n\n\tif (len > MOST || len < 4)\n\t\treturn -EINVAL;\n";
    let asked = |rest: &str| given(&format!("{front}{rest}"));
    for wrong in [
        // Over the same memory, behind its front.
        "\tif (copy_from_user(&b[1], u, 3))\n\t\treturn -EFAULT;\n\tif ((b[2] << 8) + b[3] > MOST)\n\t\treturn -EINVAL;\n\
         \tif (copy_from_user(&b[1], u, len))\n\t\treturn -EFAULT;\n\treturn submit(d, b, (b[2] << 8) + b[3]);",
        // Into an array of its own, and into memory of another one.
        "\tif (copy_from_user(head, u, sizeof(head)))\n\t\treturn -EFAULT;\n\tif (head[1] > 16)\n\t\treturn -EINVAL;\n\
         \tif (copy_from_user(b + 2, u, len))\n\t\treturn -EFAULT;\n\treturn submit(d, b, b[3]);",
        // As a copy that a call makes.
        "\tif (copy_from_user(head, u, 4))\n\t\treturn -EFAULT;\n\tif (head[0] != 7 || head[1] > 16)\n\t\treturn -EINVAL;\n\
         \tb = memdup_user(u, len);\n\tif (IS_ERR(b))\n\t\treturn PTR_ERR(b);\n\treturn submit(d, b, b[1]);",
        // One alone, and all of it.
        "\tif (get_user(head[0], u + 1))\n\t\treturn -EFAULT;\n\tif (head[0] >= 8)\n\t\treturn -EINVAL;\n\
         \tif (copy_from_user(b, u, len))\n\t\treturn -EFAULT;\n\treturn start(d->ops[b[1]]);",
        // Handed on as it is.
        "\tif (copy_from_user(b, u, 2))\n\t\treturn -EFAULT;\n\tif (b[1] > 29)\n\t\treturn -EINVAL;\n\
         \tif (copy_from_user(b, u, len))\n\t\treturn -EFAULT;\n\treturn submit(d, b, len);",
    ] {
        assert_eq!(asked(wrong), ["double-fetch"], "{wrong}");
    }
    for right in [
        // Judged again.
        "\tif (copy_from_user(head, u, 4))\n\t\treturn -EFAULT;\n\tif (head[1] > 16)\n\t\treturn -EINVAL;\n\
         \tif (copy_from_user(b, u, len))\n\t\treturn -EFAULT;\n\tif (b[1] > 16)\n\t\treturn -EINVAL;\n\treturn submit(d, b, b[1]);",
        // Put over what came again.
        "\tif (copy_from_user(head, u, 4))\n\t\treturn -EFAULT;\n\tif (head[1] > 16)\n\t\treturn -EINVAL;\n\
         \tif (copy_from_user(b, u, len))\n\t\treturn -EFAULT;\n\tmemcpy(b, head, 4);\n\treturn submit(d, b, b[1]);",
        // Another byte.
        "\tif (copy_from_user(head, u, 4))\n\t\treturn -EFAULT;\n\tif (head[1] > 16)\n\t\treturn -EINVAL;\n\
         \tif (copy_from_user(b, u, len))\n\t\treturn -EFAULT;\n\tif (b[1] != head[1])\n\t\treturn -EAGAIN;\n\treturn submit(d, b, b[1]);",
        // The bytes behind it.
        "\tif (copy_from_user(head, u, 4))\n\t\treturn -EFAULT;\n\tif (head[1] > 16)\n\t\treturn -EINVAL;\n\
         \tif (copy_from_user(b, u + 4, head[1]))\n\t\treturn -EFAULT;\n\treturn submit(d, b, b[1]);",
        // Asked on another way alone.
        "\tif (copy_from_user(head, u, 4))\n\t\treturn -EFAULT;\n\tif (d->room) {\n\t\tif (head[1] > 16)\n\t\t\treturn -EINVAL;\n\
         \t\treturn submit(d, head, head[1]);\n\t}\n\
         \tif (copy_from_user(b, u, len))\n\t\treturn -EFAULT;\n\treturn submit(d, b, b[2]);",
    ] {
        assert_eq!(asked(right), NONE, "{right}");
    }
}

#[test]
fn a_member_that_was_judged_comes_again_by_any_view() {
    let order = |user: &str, first: &str, second: &str, used: &str| {
        rules(&format!(
            "static int f(struct dev *d, struct point *p, {user})\n{{\n\tstruct order *o;\n\tu32 code;\n\tu8 *b;\n\n\
             \tif ({first})\n\t\treturn -EFAULT;\n\tif (code >= 8)\n\t\treturn -EINVAL;\n\
             \tb = memdup_user({second}, p->length);\n\tif (IS_ERR(b))\n\t\treturn PTR_ERR(b);\n{used}\n}}\n"
        ))
    };
    let (of_point, of_user) = (
        "get_user(code, (u32 __user *)p->pointer)",
        "copy_from_user(&code, u, sizeof(code))",
    );
    let start = "\treturn start(d->ops[o->code]);";
    for used in [
        &format!("\to = (struct order *)b;\n{start}"),
        "\treturn start(d->ops[((struct order *)b)->code]);",
        "\treturn start(d->ops[*(u32 *)b]);",
        "\to = (void *)b;\n\tif (d->room)\n\t\treturn start(d->ops[0]);\n\treturn start(d->ops[o->code]);",
    ] {
        let one = order("int n", of_point, "p->pointer", used);
        assert_eq!(one, ["double-fetch"], "{used}");
        let other = order("void __user *u", of_user, "u", used);
        assert_eq!(other, ["double-fetch"], "{used}");
    }
    for used in [
        &format!("\to = (struct order *)b;\n\tif (o->code >= 8)\n\t\treturn -EINVAL;\n{start}"),
        &format!("\to = (struct order *)b;\n\to->code = code;\n{start}"),
        "\to = (struct order *)b;\n\treturn start(d->ops[code]);",
        "\to = (struct order *)b;\n\treturn start(d->ops[o->len & 7]);",
    ] {
        assert_eq!(order("int n", of_point, "p->pointer", used), NONE, "{used}");
    }
}

#[test]
fn what_is_allowed_for_one_command_is_done_by_another() {
    let asked = |first: &str, allowed: &str, second: &str| {
        rules(&format!(
            "static long f(struct dev *d, struct order __user *u)\n{{\n\tstruct order o, *p;\n\tu32 code;\n\n\
             \tif ({first})\n\t\treturn -EFAULT;\n\tif ({allowed})\n\t\treturn -EPERM;\n{second}\n}}\n"
        ))
    };
    let whole = "\tif (copy_from_user(&o, u, sizeof(o)))\n\t\treturn -EFAULT;\n";
    let pick = "\tswitch (o.code) {\n\tcase RESET:\n\t\treturn reset(d);\n\tdefault:\n\t\treturn ask(d, o.len);\n\t}";
    for (first, allowed, second) in [
        ("get_user(code, &u->code)", "code == RESET && !capable(CAP_NET_ADMIN)", format!("{whole}{pick}")),
        ("get_user(o.code, (u32 __user *)u)", "o.code == RESET && !capable(CAP_NET_ADMIN)", format!("{whole}{pick}")),
        ("get_user(code, &u->code)", "code == RESET && !capable(CAP_NET_ADMIN)",
            format!("{whole}\tif (o.code == RESET)\n\t\treset(d);\n\telse\n\t\task(d, o.len);\n\treturn 0;")),
        ("get_user(code, (u32 __user *)u)", "code == RESET && !ns_capable(d->ops, CAP_NET_ADMIN)",
            "\tp = memdup_user(u, sizeof(*p));\n\tif (IS_ERR(p))\n\t\treturn PTR_ERR(p);\n\tif (p->code == RESET)\n\t\treset(d);\n\tkfree(p);\n\treturn 0;".to_owned()),
    ] {
        assert_eq!(asked(first, allowed, &second), ["double-fetch"], "{first} {second}");
    }
    let again = format!(
        "{whole}\tif (o.code == RESET && !capable(CAP_NET_ADMIN))\n\t\treturn -EPERM;\n\tif (o.code == RESET)\n\t\treset(d);\n\treturn 0;"
    );
    let allowed = "code == RESET && !capable(CAP_NET_ADMIN)";
    assert_eq!(asked("get_user(code, &u->code)", allowed, &again), NONE);
    // What was judged is what decides.
    let first = format!(
        "{whole}\tif (code == RESET)\n\t\treset(d);\n\telse\n\t\task(d, o.len);\n\treturn 0;"
    );
    assert_eq!(asked("get_user(code, &u->code)", allowed, &first), NONE);
}

#[test]
fn memory_is_as_large_as_the_first_length_and_used_by_the_second() {
    let asked = |statements: &str| {
        rules(&format!(
            "static long f(const struct named __user *m, const struct order __user *u)\n{{\n\tstruct holder h;\n\
             \tstruct order a, b;\n\tu16 n, again;\n\tu8 *p, *q;\n\n{statements}\n}}\n"
        ))
    };
    let first = "\tif (get_user(n, &m->len))\n\t\treturn -EFAULT;\n\tp = memdup_user(m->id, n);\n\tif (IS_ERR(p))\n\t\treturn PTR_ERR(p);\n";
    for wrong in [
        &format!(
            "{first}\th.data = p;\n\tif (get_user(h.len, &m->len)) {{\n\t\tkfree(p);\n\t\treturn -EFAULT;\n\t}}\n\treturn reclaim(&h);"
        ),
        &format!(
            "{first}\tif (get_user(n, &m->len)) {{\n\t\tkfree(p);\n\t\treturn -EFAULT;\n\t}}\n\treturn fill(p, n);"
        ),
        &format!(
            "{first}\tif (get_user(again, &m->len)) {{\n\t\tkfree(p);\n\t\treturn -EFAULT;\n\t}}\n\tif (again > 5)\n\t\tskip(p);\n\treturn fill(p, again);"
        ),
        "\tif (copy_from_user(&a, u, sizeof(a)))\n\t\treturn -EFAULT;\n\tp = kcalloc(a.len, 4, GFP_KERNEL);\n\tif (!p)\n\t\treturn -ENOMEM;\n\
         \tif (copy_from_user(&b, u, sizeof(b))) {\n\t\tkfree(p);\n\t\treturn -EFAULT;\n\t}\n\treturn fill(p, b.len);",
        "\tif (copy_from_user(&a, u, sizeof(a)))\n\t\treturn -EFAULT;\n\tp = vmalloc(a.len);\n\tif (!p)\n\t\treturn -ENOMEM;\n\
         \tif (get_user(again, &u->len)) {\n\t\tvfree(p);\n\t\treturn -EFAULT;\n\t}\n\tmemset(p, 0, again);\n\treturn keep(p);",
    ] {
        let found = asked(wrong);
        assert!(
            found.contains(&"double-fetch".to_owned()),
            "{found:?} {wrong}"
        );
    }
    let stepped = format!(
        "{first}\th.data = p;\n\tif (get_user(h.len, &m->len)) {{\n\t\tkfree(p);\n\t\treturn -EFAULT;\n\t}}\n\tif (h.len > 5)\n\t\th.len = h.len - 5;\n\treturn reclaim(&h);"
    );
    assert_eq!(asked(&stepped), ["double-fetch"]);
    for right in [
        // Another pair.
        &format!(
            "{first}\tkfree(p);\n\tif (get_user(n, &m->len))\n\t\treturn -EFAULT;\n\tq = memdup_user(m->id, n);\n\tif (IS_ERR(q))\n\t\treturn PTR_ERR(q);\n\treturn fill(q, n);"
        ),
        &format!(
            "{first}\tif (get_user(again, &m->len) || again != n) {{\n\t\tkfree(p);\n\t\treturn -EFAULT;\n\t}}\n\treturn fill(p, again);"
        ),
        &format!("{first}\treturn fill(p, n);"),
        // Held down.
        &format!(
            "{first}\tif (get_user(n, &m->len)) {{\n\t\tkfree(p);\n\t\treturn -EFAULT;\n\t}}\n\tn = min_t(u16, n, 8);\n\treturn fill(p, n);"
        ),
    ] {
        assert_eq!(asked(right), NONE, "{right}");
    }
}

#[test]
fn a_character_is_judged_and_the_text_is_read_anew() {
    let asked = |statements: &str| {
        called(
            "write",
            &format!("\tunsigned int v;\n\tchar c, two[2];\n\n{statements}\n\treturn count;"),
        )
    };
    for wrong in [
        "\tif (get_user(c, u))\n\t\treturn -EFAULT;\n\tif (c >= '0' && c <= '5' && kstrtouint_from_user(u, 1, 10, &d->room))\n\t\treturn -EINVAL;",
        "\tif (get_user(c, u))\n\t\treturn -EFAULT;\n\tif (c < '0' || c > '3')\n\t\treturn -EINVAL;\n\
         \tif (kstrtouint_from_user(u, count, 10, &v))\n\t\treturn -EINVAL;\n\tselect(d, v);",
        "\tif (copy_from_user(two, u, 1))\n\t\treturn -EFAULT;\n\tif (two[0] != '0' && two[0] != '1')\n\t\treturn -EINVAL;\n\
         \tif (kstrtou8_from_user(u, count, 0, d->buf))\n\t\treturn -EINVAL;",
        "\tif (get_user(c, &u[0]) || c > '4')\n\t\treturn -EINVAL;\n\tif (kstrtouint_from_user(u, count, 10, &v))\n\t\treturn -EINVAL;\n\tselect(d, v);",
    ] {
        assert_eq!(asked(wrong), ["double-fetch"], "{wrong}");
    }
    for right in [
        "\tif (get_user(c, u))\n\t\treturn -EFAULT;\n\tif (c < '0' || c > '3')\n\t\treturn -EINVAL;\n\
         \tif (kstrtouint_from_user(u, count, 10, &v))\n\t\treturn -EINVAL;\n\tif (v > 3)\n\t\treturn -EINVAL;\n\tselect(d, v);",
        "\tif (get_user(c, u))\n\t\treturn -EFAULT;\n\tif (c == '\\n')\n\t\treturn count;\n\
         \tif (kstrtouint_from_user(u, count, 10, &v))\n\t\treturn -EINVAL;\n\tselect(d, v);",
        "\tif (get_user(c, u))\n\t\treturn -EFAULT;\n\tif (c > '1')\n\t\treturn -EINVAL;\n\
         \tif (kstrtouint_from_user(u, count, 10, &v))\n\t\treturn -EINVAL;\n\td->room = !!v;",
    ] {
        assert_eq!(asked(right), NONE, "{right}");
    }
}

#[test]
fn another_function_or_an_address_of_a_number_leads_to_the_same_bytes() {
    let types = "struct head { u16 type; u16 len; };\nstruct letter { struct head head; u8 body[60]; };\nstruct box { struct letter kept; };\n";
    let judge = |asked: &str| {
        format!(
            "{types}static int judged(const struct letter __user *u)\n{{\n\tu16 len;\n\n\tif (get_user(len, &u->head.len))\n\t\treturn -EFAULT;\n\
             \tif ({asked})\n\t\treturn -EINVAL;\n\treturn 0;\n}}\n"
        )
    };
    let caller = |used: &str| {
        format!(
            "static int f(struct box *b, const struct letter __user *u)\n{{\n\tint ret = judged(u);\n\n\tif (ret)\n\t\treturn ret;\n\
             \tif (copy_from_user(&b->kept, u, sizeof(b->kept)))\n\t\treturn -EFAULT;\n{used}\n}}\n"
        )
    };
    let send = "\treturn send(b->kept.body, b->kept.head.len);";
    let most = judge("len > 60");
    assert_eq!(rules(&format!("{most}{}", caller(send))), ["double-fetch"]);
    let again = format!("\tif (b->kept.head.len > 60)\n\t\treturn -EINVAL;\n{send}");
    assert_eq!(rules(&format!("{most}{}", caller(&again))), NONE);
    let other = "\treturn send(b->kept.body, b->kept.head.type);";
    assert_eq!(rules(&format!("{most}{}", caller(other))), NONE);
    let number = |at: &str| {
        rules(&format!(
            "{types}static long f(struct box *b, unsigned int cmd, unsigned long arg)\n{{\n\tu16 len;\n\n\tif (get_user(len, (u16 __user *)(arg + {at})))\n\
             \t\treturn -EFAULT;\n\tif (len > 60)\n\t\treturn -EINVAL;\n\
             \tif (copy_from_user(&b->kept, (void __user *)arg, sizeof(b->kept)))\n\t\treturn -EFAULT;\n{send}\n}}\n"
        ))
    };
    assert_eq!(number("2"), ["double-fetch"]);
    assert_eq!(number("4"), NONE);
}
