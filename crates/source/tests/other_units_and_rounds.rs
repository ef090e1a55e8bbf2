//! Tests of bounds of another unit, or of something else, than what they bound, and of loops that go
//! on with the bound of their first round.

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
fn a_loop_goes_through_as_many_elements_as_an_array_has_bytes() {
    let asked = |statements: &str| {
        rules(&format!(
            "static int f(struct dev *d, struct table __user *u)\n{{\n\tstruct table c;\n\tu32 own[8];\n\tu32 i = 0, n;\n\n\
             \tif (copy_from_user(&c, u, sizeof(c)))\n\t\treturn -EFAULT;\n{statements}\n\treturn use(d, own);\n}}\n"
        ))
    };
    for wrong in [
        "\tif (c.n > sizeof(c.regs))\n\t\treturn -EINVAL;\n\tfor (i = 0; i < c.n; i++)\n\t\tput(d, c.regs[i]);",
        "\tif (c.n <= sizeof(c.regs))\n\t\tfor (i = 0; i != c.n; ++i)\n\t\t\tput(d, c.regs[i]);",
        "\tn = c.n;\n\tif (n > sizeof(own))\n\t\treturn -EINVAL;\n\twhile (i < n) {\n\t\town[i] = get(d);\n\t\ti++;\n\t}",
        "\tn = min_t(u32, c.n, sizeof(d->regs));\n\tfor (i = 0; i < n; i++)\n\t\td->regs[i] = get(d);",
        "\tif (c.n > 32)\n\t\tc.n = 32;\n\tfor (i = 0; i < c.n; i++)\n\t\td->regs[i] = get(d);",
    ] {
        assert_eq!(asked(wrong), ["beyond-array"], "{wrong}");
    }
    for right in [
        "\tif (c.n > ARRAY_SIZE(c.regs))\n\t\treturn -EINVAL;\n\tfor (i = 0; i < c.n; i++)\n\t\tput(d, c.regs[i]);",
        "\tif (c.n > sizeof(c.regs))\n\t\treturn -EINVAL;\n\tfor (i = 0; i < c.n / sizeof(u32); i++)\n\t\tput(d, c.regs[i]);",
        "\tif (c.n > sizeof(c.regs))\n\t\treturn -EINVAL;\n\tfor (i = 0; i < c.n; i++) {\n\t\tif (i >= 16)\n\t\t\tbreak;\n\t\tput(d, c.regs[i]);\n\t}",
        "\tif (c.n > sizeof(c.regs))\n\t\treturn -EINVAL;\n\tfor (i = 0; i < c.n; i += 4)\n\t\tput(d, c.regs[i / 4]);",
        "\tif (c.n > sizeof(d->small))\n\t\treturn -EINVAL;\n\tfor (i = 0; i < c.n; i++)\n\t\td->small[i] = get(d);",
    ] {
        assert_eq!(asked(right), NONE, "{right}");
    }
}

#[test]
fn the_whole_is_held_against_a_number_and_the_rest_is_copied() {
    let asked = |clamp: &str| {
        called(
            "read",
            &format!(
                "\tsize_t n;\n\n{clamp}\n\tif (copy_to_user(u, d->buf + d->at, n))\n\t\treturn -EFAULT;\n\td->at += n;\n\treturn n;"
            ),
        )
    };
    for wrong in [
        "\tn = d->used - d->at;\n\tif (d->used > count)\n\t\tn = count;",
        "\tn = d->used > count ? count : d->used - d->at;",
        "\tif (count < d->used)\n\t\tn = count;\n\telse\n\t\tn = d->used - d->at;",
        "\tif (d->at >= d->used)\n\t\treturn 0;\n\tn = d->used - d->at;\n\tif (d->used >= count) {\n\t\tn = count;\n\t\ttrace(d);\n\t}",
        "\tn = count;\n\tif (d->used < n)\n\t\tn = d->used - d->at;",
    ] {
        assert_eq!(asked(wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "\tn = d->used - d->at;\n\tif (n > count)\n\t\tn = count;",
        "\tn = d->used - d->at;\n\tif (d->used - d->at > count)\n\t\tn = count;",
        "\tn = d->used - d->at;\n\tif (d->used > d->at + count)\n\t\tn = count;",
        "\tn = d->used - d->at;\n\tif (d->used > count)\n\t\tn = min(n, count);",
        "\tn = d->used - d->at;\n\tif (d->used > count)\n\t\tn = count;\n\tif (n > d->used - d->at)\n\t\tn = d->used - d->at;",
        "\tn = count;\n\tif (d->used - d->at < n)\n\t\tn = d->used - d->at;",
        "\tif (d->used < count)\n\t\tn = d->used - d->at;\n\telse\n\t\tn = min_t(size_t, count, d->used - d->at);",
    ] {
        assert_eq!(asked(right), NONE, "{right}");
    }
}

#[test]
fn a_later_length_is_no_bound_of_an_earlier_copy() {
    let asked = |copy: &str| {
        called(
            "read",
            &format!(
                "\tstruct table t = {{ }};\n\tchar text[32];\n\tsize_t n;\n\n\tget_table(&t, text);\n\tif (*at >= sizeof(text))\n\t\treturn 0;\n{copy}\n\
             \t*at += n;\n\tn = min_t(size_t, count, 4096 - *at);\n\treturn n;"
            ),
        )
    };
    for wrong in [
        "\tn = min_t(size_t, count, sizeof(struct table));\n\tif (copy_to_user(u, (char *)&t + *at, n))\n\t\treturn -EFAULT;",
        "\tn = min(count, sizeof(t));\n\tif (copy_to_user(u, (u8 *)&t + *at, n))\n\t\treturn -EFAULT;",
        "\tn = min(count, sizeof(text));\n\tif (copy_to_user(u, &text[*at], n))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(asked(wrong), ["beyond-variable"], "{wrong}");
    }
    // Of a structure that nobody knows its own size is one all the same.
    let unknown = called(
        "read",
        "\tstruct far f = { .id = 1 };\n\tsize_t n;\n\n\tn = min_t(size_t, count, sizeof(struct far));\n\
         \tif (copy_to_user(u, (char *)&f + *at, n))\n\t\treturn -EFAULT;\n\t*at += n;\n\treturn n;",
    );
    assert_eq!(unknown, ["beyond-variable"]);
    for right in [
        "\tn = min_t(size_t, count, sizeof(t) - *at);\n\tif (copy_to_user(u, (u8 *)&t + *at, n))\n\t\treturn -EFAULT;",
        "\tn = min(count, sizeof(t));\n\tif (copy_to_user(u, &t, n))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(asked(right), NONE, "{right}");
    }
}

#[test]
fn a_number_of_elements_is_held_against_bytes() {
    let asked = |judged: &str, room: &str, copied: &str| {
        rules(&format!(
            "static long f(struct dev *d, struct order c, u32 __user *u)\n{{\n\tu32 *p, bytes = {copied};\n\n\
             \tif ({judged})\n\t\treturn -EINVAL;\n\tp = kzalloc({room}, GFP_KERNEL);\n\tif (!p)\n\t\treturn -ENOMEM;\n\
             \tif (copy_from_user(p, u, bytes))\n\t\treturn -EFAULT;\n\treturn send(d, p);\n}}\n"
        ))
    };
    for (judged, copied) in [
        ("c.len > d->room", "c.len * 4"),
        (
            "c.len > d->room || c.len > 0xffffffff / 4",
            "c.len * sizeof(*p)",
        ),
        ("c.len >= d->room", "c.len << 2"),
        ("d->room < c.len", "sizeof(u32) * c.len"),
    ] {
        let found = asked(judged, "d->room", copied);
        assert_eq!(found, ["beyond-variable"], "{judged} {copied}");
    }
    for (judged, room) in [
        ("c.len > d->room / 4", "d->room"),
        ("c.len * 4 > d->room", "d->room"),
        ("c.len > d->room", "d->room * 4"),
        ("c.len > d->room || c.len > 16", "d->room"),
    ] {
        assert_eq!(asked(judged, room, "c.len * 4"), NONE, "{judged} {room}");
    }
}

#[test]
fn memory_of_the_file_has_no_size_of_the_users() {
    let file = "static struct { u8 *table; u32 size; } own;\nstatic u8 *whole;\n";
    let asked = |statements: &str| {
        rules(&format!(
            "{file}static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n{statements}\n\treturn count;\n}}\n\
             static const struct file_operations ops = {{ .write = f }};\n"
        ))
    };
    for wrong in [
        "\tif (copy_from_user(whole, u, count))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(own.table, u, count))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(own.table + 16, u, count))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(asked(wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "\tif (count > own.size)\n\t\treturn -EINVAL;\n\tif (copy_from_user(own.table, u, count))\n\t\treturn -EFAULT;",
        "\twhole = kmalloc(count, GFP_KERNEL);\n\tif (!whole)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(whole, u, count))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(asked(right), NONE, "{right}");
    }
    let call = |bound: &str, count: &str| {
        rules(&format!(
            "{file}asmlinkage long sys_own(void __user *u, size_t n)\n{{\n\tif (u && n{bound})\n\t\tif (copy_to_user(u, own.table, {count}) != 0)\n\
             \t\t\treturn -EFAULT;\n\treturn own.size;\n}}\n"
        ))
    };
    assert_eq!(call("", "n"), ["beyond-variable"]);
    assert_eq!(call(" >= own.size", "own.size"), NONE);
}

#[test]
fn a_product_of_what_may_be_less_than_0_wraps() {
    let asked = |judged: &str, made: &str| {
        rules(&format!(
            "static int f(struct dev *d, struct table __user *u)\n{{\n\tstruct clip *p;\n\tint n;\n\n\tif (get_user(n, &u->many))\n\t\treturn -EFAULT;\n\
             {judged}\tp = {made};\n\tif (!p)\n\t\treturn -ENOMEM;\n\treturn go(d, p, n);\n}}\n"
        ))
    };
    let most = "\tif (n > 256)\n\t\treturn -EINVAL;\n";
    let product = "kmalloc(n * sizeof(*p), GFP_KERNEL)";
    for (judged, made) in [
        (most.to_owned(), product),
        (
            most.to_owned(),
            "kzalloc(sizeof(struct clip) * n, GFP_KERNEL)",
        ),
        (
            format!("\tif (!n != !d->used)\n\t\treturn -EINVAL;\n{most}"),
            product,
        ),
        (
            "\tif (n % 2 || n > 256)\n\t\treturn -EINVAL;\n".to_owned(),
            "kvmalloc(n * sizeof(struct clip), GFP_KERNEL)",
        ),
        (
            "\tif (n == 0 || n > 256)\n\t\treturn -EINVAL;\n".to_owned(),
            product,
        ),
    ] {
        assert_eq!(asked(&judged, made), ["wrapping-size"], "{judged}");
    }
    for (judged, made) in [
        ("\tif (n <= 0 || n > 256)\n\t\treturn -EINVAL;\n", product),
        ("\tif (n > 256 || n < 0)\n\t\treturn -EINVAL;\n", product),
        ("\tif (n != 8 || n > 256)\n\t\treturn -EINVAL;\n", product),
        // The call itself asks.
        (most, "kmalloc_array(n, sizeof(struct clip), GFP_KERNEL)"),
    ] {
        assert_eq!(asked(judged, made), NONE, "{judged} {made}");
    }
}

#[test]
fn each_round_copies_what_was_bounded_for_the_first() {
    let asked = |statements: &str| {
        rules(&format!(
            "static int f(struct dev *d, u8 *b, char __user *u, size_t len, size_t off)\n{{\n\tsize_t left = len, n, done, bad;\n\n{statements}\n\treturn len;\n}}\n"
        ))
    };
    for wrong in [
        "\tn = min_t(size_t, off, left);\n\twhile (left > 0) {\n\t\tbad = copy_from_user(b + off, u, n);\n\t\tif (bad == n)\n\t\t\treturn -EFAULT;\n\
         \t\tu += n - bad;\n\t\tleft -= n - bad;\n\t\toff += n - bad;\n\t}",
        "\tn = min(left, off);\n\twhile (left) {\n\t\tif (copy_to_user(u, b, n))\n\t\t\treturn -EFAULT;\n\t\tu += n;\n\t\tb += n;\n\t\tleft -= n;\n\t}",
        "\tn = len;\n\tif (n > 4096)\n\t\tn = 4096;\n\tfor (done = 0; done < len; done += n) {\n\t\tif (copy_from_user(b, u + done, n))\n\t\t\treturn -EFAULT;\n\t\twrite_out(d, b, n);\n\t}",
        "\tn = 4096 - off;\n\tif (n > left)\n\t\tn = left;\n\tdo {\n\t\tif (copy_to_user(u, b + off, n))\n\t\t\treturn -EFAULT;\n\t\tu += n;\n\t\tleft -= n;\n\t\toff = 0;\n\t} while (left > 0);",
        "\tn = left < d->room ? left : d->room;\n\twhile (left != 0) {\n\t\tif (copy_from_user(b, u, n))\n\t\t\treturn -EFAULT;\n\t\twrite_out(d, b, n);\n\t\tu += n;\n\t\tleft -= n;\n\t}",
        // What is left is a member, or is taken off in another way.
        "\tn = min(d->used, d->room);\n\twhile (d->used) {\n\t\tif (copy_to_user(u, b, n))\n\t\t\treturn -EFAULT;\n\t\tu += n;\n\t\td->used -= n;\n\t}",
        "\tn = min_t(size_t, len, 4096);\n\twhile (len > 0) {\n\t\tif (copy_to_user(u, b, n))\n\t\t\treturn -EFAULT;\n\t\tu += n;\n\t\tlen = len - n;\n\t}",
        // The loop is left in its middle.
        "\tdone = 0;\n\tn = min(len, off);\n\twhile (1) {\n\t\tif (copy_from_user(b, u + done, n))\n\t\t\treturn -EFAULT;\n\t\tdone += n;\n\t\tif (done >= len)\n\t\t\tbreak;\n\t}",
    ] {
        assert_eq!(asked(wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "\twhile (left > 0) {\n\t\tn = min_t(size_t, left, d->room);\n\t\tif (copy_from_user(b, u, n))\n\t\t\treturn -EFAULT;\n\t\tu += n;\n\t\tleft -= n;\n\t}",
        "\tn = min_t(size_t, left, d->room);\n\twhile (left > 0) {\n\t\tif (copy_from_user(b, u, n))\n\t\t\treturn -EFAULT;\n\t\tu += n;\n\t\tleft -= n;\n\t\tn = min_t(size_t, left, d->room);\n\t}",
        "\tn = min_t(size_t, left, d->room);\n\twhile (left >= n) {\n\t\tif (copy_from_user(b, u, n))\n\t\t\treturn -EFAULT;\n\t\tu += n;\n\t\tleft -= n;\n\t}",
        "\tn = min_t(size_t, left, d->room);\n\twhile (left) {\n\t\tif (left < n)\n\t\t\tbreak;\n\t\tif (copy_from_user(b, u, n))\n\t\t\treturn -EFAULT;\n\t\tu += n;\n\t\tleft -= n;\n\t}",
        "\tn = min_t(size_t, off, d->room);\n\twhile (left) {\n\t\tif (copy_from_user(b, u, n))\n\t\t\treturn -EFAULT;\n\t\tu += n;\n\t\tleft -= n;\n\t}",
    ] {
        assert_eq!(asked(right), NONE, "{right}");
    }
}
