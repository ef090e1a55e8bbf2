//! What bounds a number that picks an element and what only looks as if it did, the length of a
//! string whose count was bounded before, and pages that are gone.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "struct port { int kind; void *own; };\n\
     struct card { u32 flags; struct port ports[5]; u32 many; };\n";

/// What is said of a write() of these statements.
fn write(statements: &str) -> Vec<String> {
    let text = format!(
        "{TYPES}static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *pos)\n{{\n\
         \tstruct card *c = file->private_data;\n\tchar text[40];\n\tchar *page;\n\tint ret, at;\n\tu32 mask;\n\n\
         {statements}\n\treturn count;\n}}\n\
         static const struct file_operations ops = {{ .write = f }};\n"
    );
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

#[test]
fn what_a_number_picks_is_no_bound_of_it() {
    let asked = |test: &str, behind: &str| {
        write(&format!(
            "\tif (get_user(mask, (const u32 __user *)u))\n\t\treturn -EFAULT;\n\
             \tfor (at = 0; at < 32; at++) {{\n\t\tif (!(mask & (1U << at)))\n\t\t\tcontinue;\n\
             \t\tif ({test})\n\t\t\treturn -ENXIO;\n{behind}\t}}"
        ))
    };
    let picks = "\t\tswitch (c->ports[at].kind) {\n\t\tcase 1:\n\t\t\tbreak;\n\t\tdefault:\n\t\t\treturn -EBUSY;\n\t\t}\n";
    let takes = "\t\tc->ports[at].kind = 2;\n";
    let both = format!("{picks}{takes}");
    for behind in [picks, takes, &both] {
        for wrong in ["at > 5", "at >= 6", "at > ARRAY_SIZE(c->ports)", "5 < at"] {
            assert_eq!(asked(wrong, behind), ["beyond-array"], "{wrong}\n{behind}");
        }
        for right in ["at >= 5", "at > 4", "at >= ARRAY_SIZE(c->ports)"] {
            assert_eq!(asked(right, behind), NONE, "{right}\n{behind}");
        }
    }
    // What it decides by a function, or by itself, may be a bound.
    for bound in [
        "\t\tswitch (kind_of(at)) {\n\t\tcase 1:\n\t\t\tbreak;\n\t\tdefault:\n\t\t\treturn -EBUSY;\n\t\t}\n",
        "\t\tswitch (at) {\n\t\tcase 1:\n\t\t\tbreak;\n\t\tdefault:\n\t\t\treturn -EBUSY;\n\t\t}\n",
    ] {
        assert_eq!(asked("at > 5", &format!("{bound}{takes}")), NONE, "{bound}");
    }
}

#[test]
fn another_variable_of_that_name_bounds_nothing() {
    let cases = |first: &str| {
        write(&format!(
            "\tif (get_user(mask, (const u32 __user *)u))\n\t\treturn -EFAULT;\n\
             \tif (c->flags) {{\n\t\tunsigned int n = c->many;\n\n\t\t{first}\n\t}} else {{\n\
             \t\tunsigned int n = mask;\n\n\t\tif (n > 5)\n\t\t\treturn -EINVAL;\n\
             \t\tc->ports[n].kind = 1;\n\t}}"
        ))
    };
    for first in [
        "if (n != start(c))\n\t\t\treturn -EBUSY;",
        "switch (n) {\n\t\tcase 3:\n\t\t\treturn -EBUSY;\n\t\t}",
        "c->many = n;",
    ] {
        assert_eq!(cases(first), ["beyond-array"], "{first}");
    }
}

#[test]
fn a_string_is_as_long_as_its_count_may_be() {
    let taken = |count: &str, at: &str| {
        write(&format!(
            "\tsize_t most = sizeof(text);\n\n{count}\n\tif (ret < 0)\n\t\treturn ret;\n\ttext[{at}] = '\\0';\n\tset(c, text);"
        ))
    };
    for wrong in [
        "\tret = strncpy_from_user(text, u, min(count, sizeof(text)));",
        "\tret = strncpy_from_user(text, u, min_t(size_t, count, sizeof(text)));",
        "\tif (count > sizeof(text))\n\t\tcount = sizeof(text);\n\tret = strncpy_from_user(text, u, count);",
        "\tif (count > sizeof(text))\n\t\treturn -E2BIG;\n\tret = strncpy_from_user(text, u, count);",
        "\tcount = min(count, sizeof(text));\n\tret = strncpy_from_user(text, u, count);",
        "\tret = strncpy_from_user(text, u, sizeof(text));",
    ] {
        assert_eq!(taken(wrong, "ret"), ["beyond-array"], "{wrong}");
    }
    for right in [
        "\tret = strncpy_from_user(text, u, min(count, sizeof(text) - 1));",
        "\tif (count > sizeof(text) - 1)\n\t\tcount = sizeof(text) - 1;\n\tret = strncpy_from_user(text, u, count);",
        "\tif (count >= sizeof(text))\n\t\treturn -E2BIG;\n\tret = strncpy_from_user(text, u, count);",
        "\tret = strncpy_from_user(text, u, sizeof(text) - 1);",
    ] {
        assert_eq!(taken(right, "ret"), NONE, "{right}");
    }
}

#[test]
fn a_page_is_gone_once_it_is_freed() {
    let page = |behind: &str| {
        write(&format!(
            "\tif (count >= PAGE_SIZE)\n\t\treturn -EINVAL;\n\tpage = (char *)__get_free_page(GFP_KERNEL);\n\
             \tif (!page)\n\t\treturn -ENOMEM;\n\
             \tif (copy_from_user(page, u, count)) {{\n\t\tfree_page((unsigned long)page);\n\t\treturn -EFAULT;\n\t}}\n\
             \tpage[count] = 0;\n{behind}"
        ))
    };
    for wrong in [
        "\tfree_page((unsigned long)page);\n\tret = set(c, page);\n\tif (ret)\n\t\treturn ret;",
        "\tfree_page((unsigned long)page);\n\tif (page[0] == '1')\n\t\tc->flags = 1;",
        "\tfree_pages((unsigned long)page, 0);\n\tc->many = simple_strtoul(page, NULL, 0);",
    ] {
        assert_eq!(page(wrong), ["released-memory"], "{wrong}");
    }
    for right in [
        "\tret = set(c, page);\n\tfree_page((unsigned long)page);\n\tif (ret)\n\t\treturn ret;",
        "\tc->flags = page[0] == '1';\n\tfree_page((unsigned long)page);",
        "\tfree_page((unsigned long)page);\n\tpage = c->ports[0].own;\n\tset(c, page);",
    ] {
        assert_eq!(page(right), NONE, "{right}");
    }
}
