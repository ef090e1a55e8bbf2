//! Strings whose end is asked for in vain, and room that is less than what is written.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "#define ROOM 32\n\
     struct dev { char name[ROOM]; char label[16]; struct mutex lock; u32 used; int kind; u64 wide; unsigned long mask; u8 few; char *text; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A write() of these statements, with what is behind it.
fn write_with(before: &str, statements: &str) -> Vec<String> {
    rules(&format!(
        "{before}static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tunsigned int a, b;\n\tchar word[ROOM];\n\tchar *buf, *p;\n\tlong n;\n\tint ret = 0;\n\n\
         {statements}\n\treturn ret ? ret : count;\n}}\n\
         static const struct file_operations ops = {{ .write = f }};\n"
    ))
}

fn write(statements: &str) -> Vec<String> {
    write_with("", statements)
}

#[test]
fn what_asks_for_less_leaves_the_longest_string_open() {
    let of = |then: &str| {
        write(&format!(
            "\tn = strncpy_from_user(word, u, sizeof(word));\n\tif (n < 0)\n\t\treturn n;\n{then}"
        ))
    };
    for wrong in [
        "\tif (n == 0 || n > sizeof(word))\n\t\treturn -EINVAL;\n\tif (n < 3)\n\t\tret = sscanf(word, \"%u\", &a);\n\telse\n\t\tret = sscanf(word, \"%u %u\", &a, &b);",
        "\tif (n < 2)\n\t\treturn -EINVAL;\n\tret = kstrtouint(word, 0, &a);",
        "\tif (n > 32)\n\t\treturn -EINVAL;\n\tif (n == 1)\n\t\treturn -ERANGE;\n\tret = find(d, word);",
        "\tif (5 > n)\n\t\tret = -ENOENT;\n\telse\n\t\tret = find(d, word);",
    ] {
        assert_eq!(of(wrong), ["unterminated-string"], "{wrong}");
    }
    for right in [
        "\tif (n == 0 || n >= sizeof(word))\n\t\treturn -EINVAL;\n\tif (n < 3)\n\t\tret = sscanf(word, \"%u\", &a);\n\telse\n\t\tret = sscanf(word, \"%u %u\", &a, &b);",
        "\tif (n < 3)\n\t\tret = kstrtouint(word, 0, &a);",
        "\tif (n > 20)\n\t\treturn -EINVAL;\n\tret = kstrtouint(word, 0, &a);",
        "\tif (n == ROOM)\n\t\treturn -ENAMETOOLONG;\n\tret = find(d, word);",
        "\tif (n < 3)\n\t\treturn -EINVAL;\n\tword[sizeof(word) - 1] = 0;\n\tret = find(d, word);",
        "\tif (n < 3)\n\t\treturn -EINVAL;\n\tret = find(d, word, n);",
        "\tif (n > 31) {\n\t\tret = -E2BIG;\n\t\tgoto out;\n\t}\n\tret = find(d, word);\nout:",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}
