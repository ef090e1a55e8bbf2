//! Addresses of the kernel's where the user's belong, and of the user's where the kernel's do; values that
//! are fetched once more into what outlives the call.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// A read() of these statements.
fn reads(statements: &str) -> Vec<String> {
    rules(&format!(
        "struct order {{ u32 count; unsigned char __user *buffer; unsigned char *own; }};\n\
         static ssize_t radio_read(struct file *file, char __user *to, size_t count, loff_t *ppos)\n{{\n\
         \tstruct radio *r = file->private_data;\n\tstruct order o = {{}};\n\tu8 text[16] = {{}};\n\tu8 *memory;\n\n\
         \tmemory = kzalloc(64, GFP_KERNEL);\n\tif (!memory)\n\t\treturn -ENOMEM;\n\to.count = 16;\n{statements}\n\
         \tradio_do(r, &o);\n\tif (copy_to_user(to, memory, 16))\n\t\to.count = 0;\n\tkfree(memory);\n\treturn o.count ?: -EFAULT;\n}}\n"
    ))
}

#[test]
fn an_address_of_the_kernels_is_stored_as_one_of_the_users() {
    for wrong in [
        "\to.buffer = memory;",
        "\to.buffer = text;",
        "\to.buffer = &o.count;",
        "\tu8 __user *p = memory;\n\n\to.buffer = p;",
        "\tu8 __user *p;\n\n\tp = text;\n\to.buffer = p;",
    ] {
        assert_eq!(reads(wrong), ["kernel-address"], "{wrong}");
    }
    for right in [
        "\to.buffer = to;",
        "\to.own = memory;",
        "\to.buffer = (unsigned char __force __user *)memory;",
        "\to.buffer = NULL;",
        "\tu8 __user *p = to;\n\n\to.buffer = p + 1;",
    ] {
        assert_eq!(reads(right), NONE, "{right}");
    }
}

#[test]
fn an_address_of_the_users_in_a_member_is_gone_through_where_nothing_is_accessed() {
    let set = |statement: &str| {
        rules(&format!(
            "struct point {{ void __user *pointer; void *own; u16 length; }};\n\
             static int key_set(struct net *net, struct point *key, char *extra)\n{{\n\
             \tstruct keys *keys = net->priv;\n\n\tif (key->length > 16)\n\t\treturn -EINVAL;\n\t{statement}\n\treturn 0;\n}}\n"
        ))
    };
    for wrong in [
        "memcpy(keys->key, key->pointer, key->length);",
        "memset(key->pointer, 0, key->length);",
        "strscpy(keys->key, key->pointer, 16);",
    ] {
        assert_eq!(set(wrong), ["user-pointer-dereferenced"], "{wrong}");
    }
    for right in [
        "memcpy(keys->key, extra, key->length);",
        "memcpy(keys->key, key->own, key->length);",
        "keys->from = key->pointer;",
    ] {
        assert_eq!(set(right), NONE, "{right}");
    }
}

#[test]
fn a_value_is_fetched_again_into_what_outlives_the_call() {
    let ioctl = |statements: &str| {
        rules(&format!(
            "static int link_ioctl(struct link *link, unsigned int command, u32 __user *p)\n{{\n\
             \tint err = -EFAULT;\n\tu32 v;\n\n{statements}\n\treturn err;\n}}\n"
        ))
    };
    let again = |check: &str, store: &str| {
        ioctl(&format!(
            "\tswitch (command) {{\n\tcase 1:\n\t\tif (get_user(v, p))\n\t\t\tbreak;\n\t\t{check}\n\t\t{store}\n\t\terr = 0;\n\t\tbreak;\n\t}}"
        ))
    };
    for (check, store) in [
        (
            "if (v < 1500)\n\t\t\tlink->mru = 1500;",
            "else if (get_user(link->mru, p))\n\t\t\tbreak;",
        ),
        (
            "if (v < 1500)\n\t\t\treturn -EINVAL;",
            "if (get_user(link->mru, p))\n\t\t\tbreak;",
        ),
    ] {
        assert_eq!(again(check, store), ["double-fetch"], "{check} {store}");
    }
    for (check, store) in [
        ("if (v < 1500)\n\t\t\tv = 1500;", "link->mru = v;"),
        (
            "if (v < 1500)\n\t\t\treturn -EINVAL;",
            "if (get_user(link->mru, p + 1))\n\t\t\tbreak;",
        ),
        (
            "link->last = v;",
            "if (get_user(link->mru, p))\n\t\t\tbreak;",
        ),
    ] {
        assert_eq!(again(check, store), NONE, "{check} {store}");
    }
    let cases = "\tswitch (command) {\n\tcase 1:\n\t\tif (get_user(v, p))\n\t\t\tbreak;\n\t\tif (v > 2)\n\t\t\treturn -EINVAL;\n\t\tlink->mode = v;\n\
                 \t\tbreak;\n\tcase 2:\n\t\tif (get_user(link->mru, p))\n\t\t\tbreak;\n\t\terr = 0;\n\t\tbreak;\n\t}";
    assert_eq!(ioctl(cases), NONE, "the one or the other");
}
