//! How many bytes a copy has: what bounds a number, what an object has.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// What is said of a text, behind a structure.
fn rules(text: &str) -> Vec<String> {
    let text = format!("struct info {{ u32 kind; u32 state; u64 id; }};\nstruct dev;\n{text}");
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A system call of two arguments with these statements.
fn call(statements: &str) -> Vec<String> {
    rules(&format!(
        "SYSCALL_DEFINE2(getname, char __user *, name, int, len)\n{{\n\tint n;\n\tchar tmp[65];\n\n{statements}\n}}\n"
    ))
}

#[test]
fn what_refuses_less_is_no_bound_of_how_much() {
    const BEYOND: [&str; 1] = ["beyond-variable"];
    for wrong in [
        "\tif (len < 8)\n\t\treturn -EINVAL;\n\tif (copy_to_user(name, tmp, len))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tif (len < 0 || len < sizeof(u64))\n\t\treturn -EINVAL;\n\tif (copy_from_user(tmp, name, len))\n\t\treturn -EFAULT;\n\treturn use(tmp);",
        "\tn = strlen(kind()) + 1;\n\tif (n > len)\n\t\treturn -EINVAL;\n\tmemcpy(tmp, kind(), len);\n\tif (copy_to_user(name, tmp, n))\n\t\treturn -EFAULT;\n\treturn 0;",
    ] {
        assert_eq!(call(wrong), BEYOND, "{wrong}");
    }
    for right in [
        "\tif (len < 8 || len > sizeof(tmp))\n\t\treturn -EINVAL;\n\tif (copy_to_user(name, tmp, len))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tif (len < 0 || len > 65)\n\t\tlen = 65;\n\tif (copy_to_user(name, tmp, len))\n\t\treturn -EFAULT;\n\treturn 0;",
        // Less of it is done where there is less.
        "\tif (len < sizeof(tmp)) {\n\t\tif (copy_to_user(name, tmp, len))\n\t\t\treturn -EFAULT;\n\t}\n\treturn 0;",
        "\tn = strlen(kind()) + 1;\n\tif (n > len)\n\t\treturn -EINVAL;\n\tmemcpy(tmp, kind(), n);\n\tif (copy_to_user(name, tmp, n))\n\t\treturn -EFAULT;\n\treturn 0;",
    ] {
        assert_eq!(call(right), NONE, "{right}");
    }
}

/// What the user gave was taken for what is copied, though a constant had replaced it.
#[test]
fn a_constant_that_every_way_takes_replaces_the_users_number() {
    let get = |end: &str| {
        format!(
            "static int get(struct dev *d, char __user *to, int __user *lenp)\n{{\n\tint val, len;\n\n\tif (get_user(len, lenp))\n\t\treturn -EFAULT;\n\tif (len < sizeof(int))\n\t\treturn -EINVAL;\n\tval = d->val;\n{end}\tif (put_user(len, lenp) || copy_to_user(to, &val, len))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\nstatic struct ops o = {{ .get = get }};\n"
        )
    };
    assert_eq!(rules(&get("\tlen = sizeof(val);\n")), NONE);
    // It may be less than 0 as well.
    assert_eq!(rules(&get("")), ["signed-bound", "beyond-variable"]);
    let one_way = get("\tif (val)\n\t\tlen = sizeof(val);\n");
    assert_eq!(rules(&one_way), ["beyond-variable"]);
}

#[test]
fn what_kmalloc_obj_gives_has_the_size_of_its_argument() {
    let get = |allocates: &str| {
        rules(&format!(
            "static int get(struct dev *d, struct info __user *to)\n{{\n\tstruct info *i = {allocates};\n\tint ret = 0;\n\n\tif (!i)\n\t\treturn -ENOMEM;\n\ti->kind = d->kind;\n\ti->id = d->id;\n\tif (copy_to_user(to, i, sizeof(*i)))\n\t\tret = -EFAULT;\n\tkfree(i);\n\treturn ret;\n}}\n"
        ))
    };
    for wrong in [
        "kmalloc_obj(*i)",
        "kmalloc_obj(*i, GFP_KERNEL)",
        "kmalloc_obj(struct info)",
    ] {
        assert_eq!(get(wrong), ["copied-holes"], "{wrong}");
    }
    for right in [
        "kzalloc_obj(*i)",
        "kzalloc_obj(struct info)",
        "kmalloc_other(*i)",
    ] {
        assert_eq!(get(right), NONE, "{right}");
    }
}

#[test]
fn a_string_that_fills_its_buffer_has_no_end() {
    const OPEN: [&str; 1] = ["unterminated-string"];
    let get = |body: &str| {
        rules(&format!(
            "static int key(char *type, const char __user *from, unsigned int len)\n{{\n\tchar name[32], *p;\n\tint ret;\n\n{body}\n}}\n"
        ))
    };
    for wrong in [
        "\tret = strncpy_from_user(type, from, len);\n\tif (ret < 0)\n\t\treturn ret;\n\treturn 0;",
        "\tret = strncpy_from_user(name, from, sizeof(name));\n\tif (ret < 0)\n\t\treturn ret;\n\treturn find(name);",
        "\tif (strncpy_from_user(name, from, 32) < 0)\n\t\treturn -EFAULT;\n\treturn find(name);",
        // The last byte is left for a 0, and nobody puts one there.
        "\tret = strncpy_from_user(name, from, sizeof(name) - 1);\n\tif (ret < 0)\n\t\treturn ret;\n\treturn find(name);",
        "\tlen = min_t(unsigned int, len, sizeof(name) - 1);\n\tret = strncpy_from_user(name, from, len);\n\tif (ret < 0)\n\t\treturn ret;\n\treturn find(name);",
        "\tp = kzalloc(len, GFP_KERNEL);\n\tif (!p)\n\t\treturn -ENOMEM;\n\tret = strncpy_from_user(p, from, len);\n\tif (ret >= 0)\n\t\tret = find(p);\n\tkfree(p);\n\treturn ret;",
    ] {
        assert_eq!(get(wrong), OPEN, "{wrong}");
    }
    for right in [
        "\tret = strncpy_from_user(type, from, len);\n\tif (ret < 0)\n\t\treturn ret;\n\tif (ret >= len)\n\t\treturn -EINVAL;\n\treturn 0;",
        "\tret = strncpy_from_user(type, from, len);\n\tif (ret < 0)\n\t\treturn ret;\n\ttype[len - 1] = 0;\n\treturn 0;",
        "\tmemset(name, 0, sizeof(name));\n\tret = strncpy_from_user(name, from, sizeof(name) - 1);\n\tif (ret < 0)\n\t\treturn ret;\n\treturn find(name);",
        "\tret = strncpy_from_user(name, from, sizeof(name));\n\tif (ret < 0)\n\t\treturn ret;\n\tif (ret == sizeof(name))\n\t\treturn -ENAMETOOLONG;\n\treturn find(name);",
        "\tmemset(name, 0, sizeof(name));\n\tlen = min_t(unsigned int, len, sizeof(name) - 1);\n\tret = strncpy_from_user(name, from, len);\n\tif (ret < 0)\n\t\treturn ret;\n\treturn find(name);",
        "\tret = strncpy_from_user(name, from, sizeof(name));\n\tif (ret < 0)\n\t\treturn ret;\n\treturn find_n(name, ret);",
    ] {
        assert_eq!(get(right), NONE, "{right}");
    }
}

/// A function in a table for read() or write() with these statements.
fn handler(member: &str, statements: &str) -> Vec<String> {
    rules(&format!(
        "typedef long long loff_t;\nstruct store {{ char buf[128]; u32 words[16]; }};\n\
         static ssize_t go(struct file *f, char __user *u, size_t n, loff_t *at)\n{{\n\tstruct store *s = f->private_data;\n\n{statements}\tdone(s);\n\treturn n;\n}}\n\
         static const struct file_operations ops = {{ .{member} = go }};\n"
    ))
}

#[test]
fn where_a_program_stands_in_a_file_is_its_own_number() {
    let bound = "\tif (n > 16)\n\t\tn = 16;\n";
    let copy = |from: &str| {
        format!("{bound}\tif (copy_to_user(u, {from}, n))\n\t\treturn -EFAULT;\n\t*at += n;\n")
    };
    for wrong in [copy("s->buf + *at"), copy("&s->buf[*at]")] {
        assert_eq!(handler("read", &wrong), ["unbounded-index"], "{wrong}");
        let kept = wrong.replacen("*at", "place", 1);
        let kept = format!("\tloff_t place = *at;\n\n{kept}");
        assert_eq!(handler("write", &kept), ["unbounded-index"], "{kept}");
        // Nobody says by whom it is called so.
        assert_eq!(handler("fetch", &wrong), NONE, "{wrong}");
        for asks in [
            "\tif (*at >= 112)\n\t\treturn 0;\n",
            "\tif (prepare(s, at))\n\t\treturn 0;\n",
            "\t*at = 0;\n",
        ] {
            let right = format!("{asks}{wrong}");
            assert_eq!(handler("read", &right), NONE, "{right}");
        }
    }
}

#[test]
fn how_much_a_program_reads_is_its_own_number() {
    let wrong = "\tif (copy_to_user(u, s->buf, n))\n\t\treturn -EFAULT;\n";
    assert_eq!(handler("read", wrong), ["beyond-variable"]);
    assert_eq!(handler("fetch", wrong), NONE);
    let right = format!("\tn = min(n, sizeof(s->buf));\n{wrong}");
    assert_eq!(handler("read", &right), NONE);
    // The kernel lets no call have so much that one more wraps.
    let one_more = "\tchar *own = kzalloc(n + 1, GFP_KERNEL);\n\n\tif (!own)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(own, u, n)) {\n\t\tkfree(own);\n\t\treturn -EFAULT;\n\t}\n\tset(s, own);\n\tkfree(own);\n";
    assert_eq!(handler("write", one_more), NONE);
}

#[test]
fn a_bound_in_bytes_is_none_of_elements() {
    let of = |bound: &str| {
        format!(
            "int f(struct info __user *p)\n{{\n\tstruct info info;\n\tu32 words[16];\n\n\tif (copy_from_user(&info, p, sizeof(info)))\n\t\treturn -EFAULT;\n\tif (info.kind > {bound})\n\t\treturn -EINVAL;\n\tif (copy_from_user(words, u64_to_user_ptr(info.id), info.kind * sizeof(u32)))\n\t\treturn -EFAULT;\n\treturn use(words);\n}}\n"
        )
    };
    assert_eq!(rules(&of("sizeof(words)")), ["beyond-variable"]);
    assert_eq!(rules(&of("17")), ["beyond-variable"]);
    assert_eq!(rules(&of("ARRAY_SIZE(words)")), NONE);
    assert_eq!(rules(&of("16")), NONE);
}
