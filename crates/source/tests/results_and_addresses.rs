//! Results that say something else than they are taken for, and addresses that lead elsewhere
//! than a call believes.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// A function of these statements, with what it may name.
fn function(statements: &str) -> String {
    format!(
        "struct dev {{ char *buf; u32 len; u32 level; char name[16]; }};\n\
         long f(struct dev *d, const char __user *p, struct iov_iter *it)\n{{\n\tlong ret = 0;\n\n{statements}\n}}\n"
    )
}

fn said(statements: &str) -> Vec<String> {
    rules(&function(statements))
}

#[test]
fn a_length_of_0_is_a_fault() {
    let wrong = "\tlong len = strnlen_user(p, 64);\n\tchar *k;\n\n\tif (len > 64)\n\t\treturn -E2BIG;\n\tk = memdup_user(p, len);\n\tif (IS_ERR(k))\n\t\treturn PTR_ERR(k);\n\tk[15] = 0;\n\treturn run(d, k);";
    assert_eq!(said(wrong), ["ignored-fault"]);
    for wrong in [
        wrong.replace("if (len > 64)", "if (len >= 65)"),
        wrong.replace("if (len > 64)", "if (64 < len)"),
        wrong.replace("\tif (len > 64)\n\t\treturn -E2BIG;\n", ""),
        wrong.replace("memdup_user(p, len)", "memdup_user(p, min(len, 16))"),
        wrong
            .replace("long len = strnlen_user(p, 64);\n", "long len;\n")
            .replace(
                "\tif (len > 64)",
                "\tlen = strnlen_user(p, d->len);\n\tif (len > d->len)",
            ),
        wrong.replace("strnlen_user(", "strnlen_user_nofault("),
        "\td->buf[strnlen_user(p, 16) - 1] = 0;\n\treturn 0;".to_owned(),
    ] {
        assert_eq!(said(&wrong), ["ignored-fault"], "{wrong}");
    }
    for right in [
        wrong.replace("if (len > 64)", "if (!len || len > 64)"),
        wrong.replace("if (len > 64)", "if (len <= 0 || len > 64)"),
        wrong.replace("if (len > 64)", "if (len < 1 || len > 64)"),
        wrong.replace("if (len > 64)", "if (len == 0 || len > 64)"),
        wrong.replace("if (len > 64)", "if (len < 4 || len > 64)"),
        wrong.replace("\tk = ", "\tif (len)\n\t\tk = "),
        wrong.replace(
            "len = strnlen_user(p, 64);",
            "len = strnlen_user(p, 64) - 1;",
        ),
        // Whoever is given it may ask.
        wrong.replace("memdup_user(p, len)", "dup_string(p, len)"),
        wrong.replace("\tk = ", "\td->len = len;\n\tk = "),
        wrong.replace("\tk = ", "\tret = len;\n\tk = "),
        wrong.replace("return run(d, k)", "return len"),
        "\treturn strnlen_user(p, 16);".to_owned(),
        "\tif (!strnlen_user(p, 16))\n\t\treturn -EFAULT;\n\treturn 0;".to_owned(),
    ] {
        assert_eq!(said(&right), NONE, "{right}");
    }
}

#[test]
fn an_iterators_copy_gives_how_much_it_copied() {
    for never in [
        "\tif (copy_from_iter(d, sizeof(*d), it) < 0)\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tret = copy_to_iter(d->buf, 16, it);\n\tif (ret < 0)\n\t\treturn ret;\n\treturn 0;",
        "\tif (copy_from_iter_full(d, sizeof(*d), it) < 0)\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tif (copy_page_to_iter(d->page, 0, 16, it) == -EFAULT)\n\t\treturn -EFAULT;\n\treturn 0;",
        // A part is something, too.
        "\tif (!copy_from_iter(d, sizeof(*d), it))\n\t\treturn -EFAULT;\n\treturn 0;",
    ] {
        assert_eq!(said(never), ["misread-result"], "{never}");
    }
    for inverted in [
        "\tif (copy_from_iter(d, sizeof(*d), it))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tif (copy_to_iter(d->buf, 16, it) != 0)\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tif (copy_from_iter_full(d, sizeof(*d), it))\n\t\tret = -EFAULT;\n\treturn ret;",
        "\tif (d->len > 4 || copy_page_from_iter(d->page, 0, 16, it))\n\t\treturn -EFAULT;\n\treturn 0;",
    ] {
        assert_eq!(said(inverted), ["inverted-test"], "{inverted}");
    }
    for right in [
        "\tif (copy_from_iter(d, sizeof(*d), it) != sizeof(*d))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tif (copy_to_iter(d->buf, 16, it) < 16)\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tif (!copy_from_iter_full(d, sizeof(*d), it))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tret = copy_page_to_iter(d->page, 0, 16, it);\n\treturn ret ? ret : -EFAULT;",
        "\twhile (copy_to_iter(d->buf, 16, it))\n\t\tret += 16;\n\treturn ret;",
        "\tret = copy_from_iter(d, sizeof(*d), it);\n\tif (ret != sizeof(*d))\n\t\tret = -EFAULT;\n\tif (ret < 0)\n\t\treturn ret;\n\treturn 0;",
    ] {
        assert_eq!(said(right), NONE, "{right}");
    }
}

#[test]
fn an_iterators_copy_is_asked() {
    let wrong = "\tcopy_to_iter(d->buf, 16, it);\n\treturn 16;";
    assert_eq!(said(wrong), ["ignored-fault"]);
    assert_eq!(
        said("\tcopy_page_to_iter(d->page, 0, 16, it);\n\treturn 16;"),
        NONE
    );
}

#[test]
fn a_cast_makes_no_address_the_users() {
    let wrong = "\tif (get_user(ret, (u32 __user *)&d->level))\n\t\treturn -EFAULT;\n\treturn ret;";
    assert_eq!(said(wrong), ["swapped-arguments"]);
    for wrong in [
        wrong.replace("&d->level", "&d->name[2]"),
        wrong.replace("&d->level", "d->name"),
        wrong.replace("(u32 __user *)&d->level", "(u32 __user *)(void *)&d->level"),
        "\tif (copy_from_user((void __user *)&ret, d->buf, sizeof(ret)))\n\t\treturn -EFAULT;\n\treturn ret;"
            .replace("copy_from_user(", "copy_to_user("),
        "\tchar own[4];\n\n\tif (copy_to_user((char __user *)own, d->buf, sizeof(own)))\n\t\treturn -EFAULT;\n\treturn use(own);"
            .to_owned(),
    ] {
        assert_eq!(said(&wrong), ["swapped-arguments"], "{wrong}");
    }
    for right in [
        wrong.replace("(u32 __user *)", "(u32 __force __user *)"),
        wrong.replace(
            "(u32 __user *)&d->level",
            "(u32 __user *)(unsigned long)&d->level",
        ),
        wrong.replace("\tif (get", "\tset_fs(KERNEL_DS);\n\tif (get"),
        wrong.replace("&d->level", "d->buf"),
        wrong.replace("&d->level", "&p[4]"),
        // What it leads to may be the user's.
        wrong
            .replace(
                "\tif (get",
                "\tstruct dev *e = (struct dev *)p;\n\n\tif (get",
            )
            .replace("&d->", "&e->"),
    ] {
        assert_eq!(said(&right), NONE, "{right}");
    }
}

/// The kernel's own structure of a device.
const OWN: &str = "struct list_head { struct list_head *next, *prev; };\nstruct mutex { u32 owner[NOBODY_KNOWS]; };\nstruct queue { u32 n; struct list_head all[2]; };\nstruct held { u32 id; struct mutex lock; };\nstruct own { u32 id; struct queue queue; };\nstruct plain { u32 id; u32 len; };\n";

#[test]
fn no_list_goes_to_the_user() {
    let of = |statements: &str| {
        let head =
            "long f(struct own *d, struct plain *q, struct held *h, void __user *p, size_t n)\n";
        rules(&format!(
            "{OWN}{head}{{\n{statements}\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        ))
    };
    for wrong in [
        "\tif (copy_to_user(p, d, sizeof(*d)))",
        "\tif (copy_to_user(p, d, sizeof(struct own)))",
        "\tif (copy_to_user(p, h, sizeof(*h)))",
        "\tif (copy_to_user(p, &d->queue, sizeof(d->queue)))",
        "\tstruct own k;\n\n\tk = *d;\n\tif (copy_to_user(p, &k, sizeof(k)))",
    ] {
        assert_eq!(of(wrong), ["kernel-address"], "{wrong}");
    }
    for right in [
        "\tif (copy_to_user(p, q, sizeof(*q)))",
        "\tif (copy_to_user(p, d, sizeof(d->id)))",
        "\tif (copy_to_user(p, &d->id, sizeof(d->id)))",
        "\tif (copy_to_user(p, d, offsetof(struct own, queue)))",
        "\tif (copy_to_user(p, d, sizeof(struct plain)))",
        "\tif (copy_from_user(d, p, sizeof(*d)))",
        "\tstruct own k = {};\n\n\tif (copy_to_user(p, &k, sizeof(k)))",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}

#[test]
fn a_program_of_32_bits_has_it_otherwise() {
    let of = |statements: &str| {
        rules(&format!(
            "struct wide {{ u32 id; long at; }};\nstruct apart {{ u32 id; u64 at; }};\nstruct same {{ u32 id; s32 at; }};\n\
             long f(struct dev *d, struct item *i, unsigned long arg)\n{{\n{statements}\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        ))
    };
    for wrong in [
        "\tlong last = 0;\n\n\tif (copy_to_user(compat_ptr(arg), &last, sizeof(last)))",
        "\tstruct wide __user *p = compat_ptr(arg);\n\tstruct wide w;\n\n\tif (copy_from_user(&w, p, sizeof(w)))",
        "\tvoid __user *p = compat_ptr(arg);\n\tstruct apart w;\n\n\tif (copy_from_user(&w, p, sizeof(w)))",
        "\tunsigned long __user *p = compat_ptr(arg);\n\n\tif (put_user(d->len, p))",
    ] {
        assert_eq!(of(wrong), ["other-layout"], "{wrong}");
    }
    for right in [
        "\tint last = 0;\n\n\tif (copy_to_user(compat_ptr(arg), &last, sizeof(last)))",
        "\tstruct same __user *p = compat_ptr(arg);\n\tstruct same w;\n\n\tif (copy_from_user(&w, p, sizeof(w)))",
        "\tstruct wide __user *p = (void __user *)arg;\n\tstruct wide w;\n\n\tif (copy_from_user(&w, p, sizeof(w)))",
        "\tu32 __user *p = compat_ptr(arg);\n\n\tif (put_user(d->len, p))",
        "\tstruct wide __user *p = compat_ptr(arg);\n\tstruct wide w;\n\n\tif (!in_compat_syscall())\n\t\treturn 1;\n\tif (copy_from_user(&w, p, sizeof(w)))",
        "\tvoid __user *p = compat_ptr(arg);\n\tstruct wide w = {};\n\n\tw.id = d->len;\n\tif (copy_to_user(p, &w, 8))",
        "\tvoid __user *p = compat_ptr(arg);\n\tstruct wide w;\n\n\tif (d->native)\n\t\tp = (void __user *)arg;\n\tif (copy_from_user(&w, p, sizeof(w)))",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}

#[test]
fn a_string_may_have_been_cut_off() {
    let wrong = "\tchar own[32];\n\tint n = snprintf(own, sizeof(own), \"%s %d\\n\", d->buf, d->len);\n\n\treturn simple_read_from_buffer(u, cmd, pos, own, n);";
    let of = |statements: &str| {
        let head = "struct dev { char *buf; u32 len; char name[16]; char full[32]; };\nlong f(struct dev *d, const char *text, char __user *u, size_t cmd, loff_t *pos)\n";
        rules(&format!("{head}{{\n{statements}\n}}\n"))
    };
    assert_eq!(of(wrong), ["beyond-variable"]);
    for wrong in [
        wrong.replace("d->buf", "text"),
        wrong.replace("\"%s %d\\n\", d->buf", "text"),
        wrong.replace("d->buf", "d->full"),
        wrong.replace("\"%s %d\\n\", d->buf, d->len", "\"%s \" \"-\", d->buf"),
        wrong.replace(
            "simple_read_from_buffer(u, cmd, pos, own, n)",
            "copy_to_user(u, own, n) ? -EFAULT : 0",
        ),
    ] {
        assert_eq!(of(&wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        wrong.replace("snprintf", "scnprintf"),
        wrong.replace("%s %d", "%.8s %d"),
        wrong.replace("%s %d\\n\", d->buf, d->len", "%s\\n\", d->name"),
        wrong.replace("d->buf", "d->len ? \"on\" : \"off\""),
        wrong.replace(
            "\treturn",
            "\tif (n >= sizeof(own))\n\t\treturn -E2BIG;\n\treturn",
        ),
        wrong.replace("\treturn", "\tn = min(n, 31);\n\treturn"),
        wrong.replace("pos, own, n", "pos, own, min(n, 31)"),
        wrong.replace("pos, own, n", "pos, own, strlen(own)"),
    ] {
        assert_eq!(of(&right), NONE, "{right}");
    }
}

/// Who takes an address of the user's is told by its prototype, where it is of another file.
#[test]
fn an_address_of_the_kernels_goes_to_nobody_who_takes_the_users() {
    let with = |declared: &str, used: &str| {
        rules(&format!(
            "struct patch {{ int type; char data[8]; }};\nstruct dev {{ struct patch own; char *at; }};\n{declared}\n\n\
             int load(struct dev *d, void __user *arg)\n{{\n\tstruct patch patch;\n\n\tif (copy_from_user(&patch, arg, sizeof(patch)))\n\t\treturn -EFAULT;\n{used}\n}}\n"
        ))
    };
    let takes = "int install(struct dev *d, const void __user *data, long n);";
    let own = "static int install(struct dev *d, const char __user *data, long n)\n{\n\treturn d->ops->install(d, data, n);\n}";
    let wrong = "\treturn install(d, (void __force __user *)&patch, 4);";
    for declared in [takes, own] {
        for wrong in [
            wrong,
            &wrong.replace("__force ", ""),
            &wrong.replace("&patch", "patch.data"),
            &wrong.replace("&patch", "&patch.data[2]"),
            &wrong.replace("&patch", "&d->own"),
            "\tvoid __user *again = (__force void __user *)&patch;\n\n\treturn install(d, again, 4);",
        ] {
            assert_eq!(
                with(declared, wrong),
                ["swapped-arguments"],
                "{declared} {wrong}"
            );
        }
        for right in [
            "\treturn install(d, arg, 4);",
            &wrong.replace("&patch", "d->at"),
            &wrong.replace("&patch", "(unsigned long)&patch"),
            &wrong.replace("\treturn", "\tset_fs(KERNEL_DS);\n\treturn"),
            // What was fetched may be the user's.
            "\tstruct patch *all;\n\n\tif (get_user(all, (struct patch **)arg))\n\t\treturn -EFAULT;\n\treturn install(d, (void __force __user *)all->data, 4);",
        ] {
            assert_eq!(with(declared, right), NONE, "{declared} {right}");
        }
    }
    for declared in [
        "",
        "int install(struct dev *d, unsigned long data, long n);",
        "int install(struct dev *d, const void *data, long n);",
    ] {
        assert_eq!(with(declared, wrong), NONE, "{declared}");
    }
}
