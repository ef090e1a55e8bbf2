//! Accesses that check nothing, of another number of bytes than was checked, or further on.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

const TYPES: &str = "struct args { u64 from; u32 at; u32 size; u32 room; };\n\
     struct object { u8 *front; size_t size; };\n\
     union both { u32 one; u32 other; };\n";

/// What is said of a function of these statements.
fn said(statements: &str) -> Vec<String> {
    rules(&format!(
        "{TYPES}static int f(struct object *o, struct args *args, char __user *buf, u8 *own, size_t n, size_t m, loff_t *pos)\n\
         {{\n\tsize_t done = 0;\n\n{statements}\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn as_many_bytes_are_accessed_as_were_checked() {
    for wrong in [
        "\tif (!access_ok(buf, args->at))\n\t\treturn -EFAULT;\n\tif (args->at > o->size || args->size > o->size - args->at)\n\t\treturn -EINVAL;\n\
         \tif (__copy_from_user(o->front + args->at, buf, args->size))\n\t\treturn -EFAULT;",
        "\tif (!access_ok(buf, n))\n\t\treturn -EFAULT;\n\tif (n + m > o->size)\n\t\treturn -EINVAL;\n\
         \tif (__copy_to_user(buf, own + n, m))\n\t\treturn -EFAULT;",
        "\tif (!access_ok(buf, n * sizeof(u32)))\n\t\treturn -EFAULT;\n\tif (__copy_to_user(buf, own, m * sizeof(u32)))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(said(wrong), ["other-object-checked"], "{wrong}");
    }
    for right in [
        "\tif (!access_ok(buf, args->size))\n\t\treturn -EFAULT;\n\tif (__copy_from_user(own, buf, args->size))\n\t\treturn -EFAULT;",
        "\tif (m > n || !access_ok(buf, n))\n\t\treturn -EFAULT;\n\tif (__copy_to_user(buf, own, m))\n\t\treturn -EFAULT;",
        "\tif (!access_ok(buf, n))\n\t\treturn -EFAULT;\n\tm = min(n, o->size);\n\tif (__copy_to_user(buf, own, m))\n\t\treturn -EFAULT;",
        "\tsize_t all = args->at + args->size;\n\n\tif (!access_ok(buf, all))\n\t\treturn -EFAULT;\n\tif (__copy_to_user(buf, own, args->size))\n\t\treturn -EFAULT;",
        "\tif (!access_ok(buf, args->room) || !fits(args))\n\t\treturn -EFAULT;\n\tif (__copy_to_user(buf, own, args->size))\n\t\treturn -EFAULT;",
        "\tif (m - done > n)\n\t\treturn -EINVAL;\n\tif (!access_ok(buf, n))\n\t\treturn -EFAULT;\n\tif (__copy_to_user(buf, own, m))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(said(right), NONE, "{right}");
    }
}

#[test]
fn what_is_checked_begins_where_the_access_does() {
    for wrong in [
        "\tif (!access_ok(buf, n) ||\n\t    __copy_to_user(buf + *pos, own + *pos, n))\n\t\treturn -EFAULT;",
        "\tif (!access_ok(buf, n))\n\t\treturn -EFAULT;\n\tif (__copy_from_user(own, &buf[args->at], n))\n\t\treturn -EFAULT;",
        "\tm = min(n, o->size);\n\tif (!access_ok(buf, m))\n\t\treturn -EFAULT;\n\tif (__copy_from_user(own, buf + args->at, m))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(said(wrong), ["other-object-checked"], "{wrong}");
    }
    for right in [
        "\tif (!access_ok(buf + *pos, n) ||\n\t    __copy_to_user(buf + *pos, own + *pos, n))\n\t\treturn -EFAULT;",
        "\tif (!access_ok(buf, n))\n\t\treturn -EFAULT;\n\tn -= args->at;\n\tif (__copy_from_user(own, buf + args->at, n))\n\t\treturn -EFAULT;",
        "\tif (!access_ok(buf, n))\n\t\treturn -EFAULT;\n\tif (__copy_from_user(own, buf + args->at, n - args->at))\n\t\treturn -EFAULT;",
        "\tif (!access_ok(buf, n))\n\t\treturn -EFAULT;\n\twhile (n) {\n\t\tif (__copy_from_user(own, buf + done, n))\n\t\t\treturn -EFAULT;\n\t\tn -= 4;\n\t\tdone += 4;\n\t}",
        "\tif (!access_ok(buf, n))\n\t\treturn -EFAULT;\n\tif (__copy_from_user(own, buf + 0, n))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(said(right), NONE, "{right}");
    }
}

#[test]
fn a_window_over_another_number_of_bytes() {
    let window = |size: &str, copy: &str| {
        said(&format!(
            "\tif (args->at > o->size || args->size > o->size - args->at)\n\t\treturn -EINVAL;\n\
             \tif (!user_write_access_begin(buf, {size}))\n\t\treturn -EFAULT;\n\
             \tunsafe_copy_to_user({copy}, efault);\n\tuser_write_access_end();\n\treturn 0;\n\
             efault:\n\tuser_write_access_end();\n\treturn -EFAULT;"
        ))
    };
    for (size, copy) in [
        ("args->at", "buf, o->front + args->at, args->size"),
        (
            "args->size",
            "buf + args->at, o->front + args->at, args->size",
        ),
        ("n", "buf + *pos, own, n"),
    ] {
        assert_eq!(window(size, copy), ["outside-checked-range"], "{copy}");
    }
    for (size, copy) in [
        ("args->size", "buf, o->front + args->at, args->size"),
        ("n", "buf, own, n"),
    ] {
        assert_eq!(window(size, copy), NONE, "{copy}");
    }
}

/// What is said of a function that gives out the numbers of a list.
fn listed(statements: &str) -> Vec<String> {
    rules(&format!(
        "struct item {{ struct list_head head; u32 id; }};\nstruct query {{ u64 to; u32 room; }};\n\
         static int f(struct query *q, struct sockaddr_storage *p, int many)\n{{\n\
         \tu32 __user *ids = (u32 __user *)(unsigned long)q->to;\n\tstruct item *item;\n\tunsigned int count = known, copied = 0;\n\n\
         \tif (count > q->room)\n\t\treturn -ENOSPC;\n{statements}\n\treturn 0;\n\
         efault:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}}\n"
    ))
}

#[test]
fn a_number_of_elements_is_none_of_bytes_where_a_list_says_how_many() {
    let begin = "\tif (!user_write_access_begin(ids, count))\n\t\treturn -EFAULT;\n";
    let end = "\tuser_write_access_end();";
    for body in [
        "\tlist_for_each_entry(item, &items, head) {\n\t\tunsafe_put_user(item->id, ids + copied, efault);\n\t\tcopied++;\n\t}\n",
        "\tlist_for_each_entry(item, &items, head)\n\t\tunsafe_put_user(item->id, &ids[copied++], efault);\n",
        "\tlist_for_each_entry(item, &items, head) {\n\t\tunsafe_put_user(item->id, ids, efault);\n\t\tids++;\n\t}\n",
    ] {
        let wrong = format!("{begin}{body}{end}");
        assert_eq!(listed(&wrong), ["outside-checked-range"], "{wrong}");
        let right = wrong.replace("ids, count)", "ids, count * sizeof(*ids))");
        assert_eq!(listed(&right), NONE, "{right}");
        let bytes = wrong.replace(
            "\tif (!user_write",
            "\tmany = count / 4;\n\tif (!user_write",
        );
        assert_eq!(listed(&bytes), NONE, "{bytes}");
    }
    let limited = "\tlist_for_each_entry(item, &items, head) {\n\t\tif (copied * 4 >= count)\n\t\t\tbreak;\n\
         \t\tunsafe_put_user(item->id, ids + copied, efault);\n\t\tcopied++;\n\t}\n";
    let limited = format!("{begin}{limited}{end}");
    assert_eq!(listed(&limited), NONE, "{limited}");
}

#[test]
fn a_number_of_elements_is_none_of_bytes_whatever_the_pointer_is_declared_as() {
    let checked = |size: &str| {
        rules(&format!(
            "struct wide {{ u64 a; u64 b; }};\n\
             static int f(struct list *l, struct wide *p, int many)\n{{\n\tint i;\n\n\tif (!access_ok(p, {size}))\n\t\treturn -EFAULT;\n\
             \tfor (i = 0; i < many; i++, p++) {{\n\t\tstruct wide own;\n\n\t\tmemset(&own, 0, sizeof(own));\n\t\town.a = l->all[i];\n\
             \t\tif (__copy_to_user(p, &own, sizeof(own)))\n\t\t\treturn -EFAULT;\n\t}}\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(checked("many"), ["other-object-checked"]);
    assert_eq!(checked("many * sizeof(*p)"), NONE);
}
