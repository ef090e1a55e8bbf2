//! The last byte of nothing, texts over which less is copied, and numbers that a text may not have.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "struct knob { u32 mode; char tag[16]; };\n";

/// What is said of a write() of these statements.
fn write(statements: &str) -> Vec<String> {
    let text = format!(
        "{TYPES}static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *pos)\n{{\n\
         \tstruct knob *d = file->private_data;\n\tchar text[64];\n\tchar *own;\n\n{statements}\n\
         \treturn count;\n}}\nstatic const struct file_operations ops = {{ .write = f }};\n"
    );
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

#[test]
fn nothing_has_no_last_byte() {
    let copy = "\tif (count > sizeof(text))\n\t\treturn -EINVAL;\n\
                \tif (copy_from_user(text, u, count))\n\t\treturn -EFAULT;\n";
    let double = "\tif (count > 64)\n\t\treturn -EINVAL;\n\town = memdup_user_nul(u, count);\n\
                  \tif (IS_ERR(own))\n\t\treturn PTR_ERR(own);\n";
    for wrong in [
        &format!("{copy}\ttext[count - 1] = 0;\n\tset(d, text);"),
        &format!("{double}\town[count - 1] = 0;\n\tset(d, own);"),
        &format!("{double}\tif (own[count - 1] == '\\n')\n\t\tset(d, own);"),
        &format!("{double}\t*(own + count - 1) = 0;\n\tset(d, own);"),
        "\town = kmalloc(count, GFP_KERNEL);\n\tif (!own)\n\t\treturn -ENOMEM;\n\
         \tif (!copy_from_user(own, u, count)) {\n\t\town[count - 1] = 0;\n\t\tset(d, own);\n\t}\n\tkfree(own);",
        "\tsize_t n = min(count, sizeof(text));\n\n\tif (copy_from_user(text, u, n))\n\t\treturn -EFAULT;\n\
         \ttext[n - 1] = 0;\n\tset(d, text);",
        "\tif (count > sizeof(d->tag) || copy_from_user(d->tag, u, count))\n\t\treturn -EFAULT;\n\
         \td->tag[count - 1] = 0;",
    ] {
        assert_eq!(write(wrong), ["beyond-array"], "{wrong}");
    }
    for right in [
        &format!("\tif (!count)\n\t\treturn 0;\n{copy}\ttext[count - 1] = 0;\n\tset(d, text);"),
        &format!("{double}\tif (count && own[count - 1] == '\\n')\n\t\tset(d, own);"),
        &format!("{double}\tif (count > 0)\n\t\t*(own + count - 1) = 0;\n\tset(d, own);"),
        &format!("{double}\town[count] = 0;\n\tset(d, own);"),
        "\tsize_t n = min(count, sizeof(text));\n\n\tif (n < 1)\n\t\treturn -EINVAL;\n\
         \tif (copy_from_user(text, u, n))\n\t\treturn -EFAULT;\n\ttext[n - 1] = 0;\n\tset(d, text);",
    ] {
        assert_eq!(write(right), NONE, "{right}");
    }
}

#[test]
fn what_an_array_began_with_stays_behind_less() {
    let begun = |text: &str, statements: &str| {
        write(&format!(
            "\tchar word[] = {text};\n\tunsigned long v;\n\n\tif (count > sizeof(word) - 1)\n\t\treturn -EINVAL;\n\
             \tif (copy_from_user(word, u, count))\n\t\treturn -EFAULT;\n{statements}"
        ))
    };
    for wrong in [
        "\tif (kstrtoul(word, 0, &v))\n\t\treturn -EINVAL;\n\td->mode = v;",
        "\tif (!strcmp(word, \"on\"))\n\t\td->mode = 1;",
        "\tset(d, strlen(word));",
        "\tif (sscanf(word, \"%lu\", &v) != 1)\n\t\treturn -EINVAL;\n\td->mode = v;",
    ] {
        assert_eq!(
            begun("\"0x00000000\"", wrong),
            ["unterminated-string"],
            "{wrong}"
        );
    }
    for right in [
        "\tword[count] = 0;\n\tif (kstrtoul(word, 0, &v))\n\t\treturn -EINVAL;\n\td->mode = v;",
        "\tif (!memcmp(word, \"on\", 2))\n\t\td->mode = 1;",
    ] {
        assert_eq!(begun("\"0x00000000\"", right), NONE, "{right}");
    }
    let whole = "\tchar word[16] = \"\";\n\n\tif (count > 15 || copy_from_user(word, u, count))\n\t\treturn -EFAULT;\n\
                 \tif (!strcmp(word, \"on\"))\n\t\td->mode = 1;";
    assert_eq!(write(whole), NONE);
}

#[test]
fn a_text_may_have_fewer_numbers() {
    let scan = |statements: &str| {
        write(&format!(
            "\tunsigned int a, b;\n\tssize_t ret;\n\n\tif (count >= sizeof(text))\n\t\treturn -EINVAL;\n\
             \tif (copy_from_user(text, u, count))\n\t\treturn -EFAULT;\n\ttext[count] = 0;\n{statements}"
        ))
    };
    let set = "\tret = sscanf(text, \"%u %u\", &a, &b);\n";
    for wrong in [
        &format!(
            "{set}\tif (ret <= 0)\n\t\treturn -EINVAL;\n\tif (a > 7) {{\n\t\tret = -EINVAL;\n\t\tgoto out;\n\t}}\n\
                  \td->mode = b;\n\tret = use(d);\n\tif (ret)\n\t\tgoto out;\n\tret = count;\nout:\n\treturn ret;"
        ),
        &format!(
            "{set}\tif (ret < 1)\n\t\treturn -EINVAL;\n\tret = use(d);\n\td->mode = b;\n\tif (ret < 0)\n\t\treturn ret;"
        ),
        "\tif (!sscanf(text, \"%u:%u\", &a, &b))\n\t\treturn -EINVAL;\n\td->mode = b;",
        "\tif (sscanf(text, \"%u,%u\", &a, &b))\n\t\td->mode = b;",
    ] {
        assert_eq!(scan(wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        &format!(
            "{set}\tif (ret <= 0)\n\t\treturn -EINVAL;\n\tif (ret == 2)\n\t\td->mode = b;\n\tret = use(d);"
        ),
        &format!(
            "{set}\tif (ret != 2)\n\t\treturn -EINVAL;\n\tret = use(d);\n\tif (ret <= 0)\n\t\treturn ret;\n\td->mode = b;"
        ),
        "\tif (!sscanf(text, \"%u\", &a))\n\t\treturn -EINVAL;\n\td->mode = a;",
        "\tb = 1;\n\tif (!sscanf(text, \"%u:%u\", &a, &b))\n\t\treturn -EINVAL;\n\td->mode = b;",
    ] {
        assert_eq!(scan(right), NONE, "{right}");
    }
}
