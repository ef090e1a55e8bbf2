//! Strings whose end is asked for in vain, and room that is less than what is written.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "#define ROOM 32\nenum pace { SLOW, FAST };\ntypedef enum { IDLE, BUSY } mode;\ntypedef bool flag;\n\
     struct dev { char name[ROOM]; char label[16]; struct mutex lock; u32 used; int kind; u64 wide; unsigned long mask; u8 few; char *text; u32 two : 2; enum pace pace; bool on; mode mode; flag flag; };\n";

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

#[test]
fn a_helper_of_a_helper_reads_to_the_end() {
    let helpers = "static int words_of(struct dev *d, char *s)\n{\n\tchar *own = kstrdup(s, GFP_KERNEL);\n\n\
         \tif (!own)\n\t\treturn -ENOMEM;\n\treturn take(d, own);\n}\n\
         static int lines_of(struct dev *d, char *text)\n{\n\tint ret;\n\n\tmutex_lock(&d->lock);\n\tret = words_of(d, text);\n\
         \tmutex_unlock(&d->lock);\n\treturn ret;\n}\n\
         static int deep(char *all)\n{\n\treturn lines_of(first(), all);\n}\n\
         static int ended(struct dev *d, char *text, size_t n)\n{\n\ttext[n - 1] = 0;\n\treturn words_of(d, text);\n}\n\
         static int counted(struct dev *d, char *text, size_t n)\n{\n\treturn count_of(d, text, n);\n}\n";
    let of = |made: &str, then: &str| {
        write_with(
            helpers,
            &format!(
                "\tif (!count || count > 4096)\n\t\treturn -EINVAL;\n\tbuf = {made}(u, count);\n\
                 \tif (IS_ERR(buf))\n\t\treturn PTR_ERR(buf);\n{then}\n\tkfree(buf);"
            ),
        )
    };
    for wrong in [
        "\tret = words_of(d, buf);",
        "\tret = lines_of(d, buf);",
        "\tret = deep(buf);",
    ] {
        assert_eq!(of("memdup_user", wrong), ["unterminated-string"], "{wrong}");
        assert_eq!(of("memdup_user_nul", wrong), NONE, "{wrong}");
    }
    for right in [
        "\tret = ended(d, buf, count);",
        "\tret = counted(d, buf, count);",
        "\tbuf[count - 1] = 0;\n\tret = lines_of(d, buf);",
    ] {
        assert_eq!(of("memdup_user", right), NONE, "{right}");
    }
}

#[test]
fn a_zero_for_a_newline_is_no_end() {
    let of = |ends: &str, reads: &str| {
        write(&format!(
            "\tif (!count || count > 4096)\n\t\treturn -EINVAL;\n\tbuf = kmalloc(count + 1, GFP_KERNEL);\n\tif (!buf)\n\t\treturn -ENOMEM;\n\
             \tif (copy_from_user(buf, u, count)) {{\n\t\tkfree(buf);\n\t\treturn -EFAULT;\n\t}}\n\tp = buf;\n{ends}\n{reads}\n\tkfree(buf);"
        ))
    };
    for reads in [
        "\tret = kstrtouint(buf, 0, &a);",
        "\tif (!strcmp(buf, \"on\"))\n\t\td->used = 1;",
        "\twhile ((p = strsep(&buf, \" \")))\n\t\tret = take(d, p);",
    ] {
        for wrong in [
            "\tif (buf[count - 1] == '\\n')\n\t\tbuf[count - 1] = '\\0';",
            "\tif (count > 1 && p[count - 1] == '\\n')\n\t\tp[count - 1] = 0;",
            "\tif (isspace(buf[count - 1]))\n\t\tbuf[count - 1] = 0;",
            "\twhile (count && buf[count - 1] == 10)\n\t\tbuf[--count] = 0;",
            "\tif (buf[count - 1] != '\\n')\n\t\tbuf[count] = 0;",
        ] {
            assert_eq!(of(wrong, reads), ["unterminated-string"], "{wrong}{reads}");
        }
        for right in [
            "\tbuf[count] = 0;",
            "\tif (buf[count - 1] == '\\n')\n\t\tbuf[count - 1] = '\\0';\n\telse\n\t\tbuf[count] = 0;",
            "\tif (buf[count - 1] != '\\n')\n\t\treturn -EINVAL;\n\tbuf[count - 1] = 0;",
            "\tif (buf[count - 1] != '\\0')\n\t\tbuf[count - 1] = '\\0';",
            "\tif (buf[count - 1] != '\\n' && buf[count - 1] != '\\0')\n\t\treturn -EINVAL;\n\tif (buf[count - 1] == '\\n')\n\t\tbuf[count - 1] = 0;",
            "\tp[count] = '\\0';\n\tif (count && p[count - 1] == '\\n')\n\t\tp[count - 1] = '\\0';",
            "\tfor (n = 0; n < count; n++)\n\t\tif (buf[n] == '\\n') {\n\t\t\tbuf[n] = 0;\n\t\t\tbreak;\n\t\t}\n\tif (n == count)\n\t\treturn -EINVAL;",
        ] {
            assert_eq!(of(right, reads), NONE, "{right}{reads}");
        }
    }
}

/// A read() of these statements.
fn read(statements: &str) -> Vec<String> {
    rules(&format!(
        "static unsigned long limit_of __read_mostly = 33;\nstatic int level;\nstatic u64 count_of(struct dev *d)\n{{\n\treturn d->wide;\n}}\n\
         static int state_of(struct dev *d)\n{{\n\treturn d->kind;\n}}\n\
         static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tchar small[8];\n\tchar text[16];\n\tchar hex[32];\n\tu64 wide;\n\tu32 word;\n\tint n;\n\n\
         {statements}\n}}\n\
         static const struct file_operations ops = {{ .read = f }};\n"
    ))
}

/// A read() that prints so into an array and gives as much of it.
fn printed(printed: &str, array: &str) -> Vec<String> {
    read(&format!(
        "{printed}\n\treturn simple_read_from_buffer(u, count, at, {array}, n);"
    ))
}

#[test]
fn a_number_may_be_longer_than_there_is_room() {
    for (wrong, array) in [
        ("\tn = sprintf(small, \"%lu\\n\", limit_of);", "small"),
        ("\tn = sprintf(small, \"%d\\n\", level);", "small"),
        ("\tn = sprintf(small, \"%u\\n\", d->used);", "small"),
        (
            "\twide = count_of(d);\n\tn = sprintf(text, \"0x%llx\\n\", wide);",
            "text",
        ),
        ("\tn = sprintf(text, \"%#lx\\n\", d->mask);", "text"),
        (
            "\twide = d->wide;\n\tn = sprintf(text, \"%12s%llu\", \"wide\", wide);",
            "text",
        ),
        (
            "\twide = count_of(d);\n\tn = snprintf(text, sizeof(text), \"0x%llx\\n\", wide);",
            "text",
        ),
        (
            "\tn = snprintf(small, sizeof(small), \"%08x\\n\", d->used);",
            "small",
        ),
        (
            "\tfill(d, &word);\n\tn = snprintf(small, 8, \"%u\\n\", word);",
            "small",
        ),
    ] {
        assert_eq!(printed(wrong, array), ["beyond-variable"], "{wrong}");
    }
}

#[test]
fn what_is_known_to_be_small_is_short() {
    for (right, array) in [
        ("\tn = sprintf(hex, \"%lu\\n\", limit_of);", "hex"),
        ("\tn = sprintf(small, \"%u\\n\", d->few);", "small"),
        ("\tn = sprintf(small, \"%d\\n\", 1234567);", "small"),
        ("\tn = sprintf(small, \"%d\\n\", state_of(d));", "small"),
        ("\tn = sprintf(small, \"%u\\n\", d->two);", "small"),
        ("\tn = sprintf(small, \"pace %d\\n\", d->pace);", "small"),
        (
            "\tword = d->two;\n\tn = sprintf(small, \"%07x\", d->few);\n\tn = sprintf(text, \"more: %u\\n\", word);",
            "text",
        ),
        ("\tn = sprintf(small, \"on: %d\\n\", d->on);", "small"),
        ("\tn = sprintf(small, \"mode %u\\n\", d->mode);", "small"),
        ("\tn = sprintf(small, \"flag %u\\n\", d->flag);", "small"),
        (
            "\tn = state_of(d);\n\tn = sprintf(small, \"%d\\n\", n);",
            "small",
        ),
        (
            "\tif (d->used > 99)\n\t\treturn -ERANGE;\n\tn = sprintf(small, \"%u\\n\", d->used);",
            "small",
        ),
        (
            "\tword = d->few;\n\tn = sprintf(small, \"%u\\n\", word);",
            "small",
        ),
        ("\tn = sprintf(small, \"%d\\n\", !!d->wide);", "small"),
        (
            "\tn = scnprintf(small, sizeof(small), \"%u\\n\", d->used);",
            "small",
        ),
        (
            "\tn = snprintf(hex, sizeof(hex), \"0x%llx\\n\", d->wide);",
            "hex",
        ),
        (
            "\tn = snprintf(small, sizeof(small), \"%u\\n\", d->used);\n\tif (n >= sizeof(small))\n\t\tn = sizeof(small) - 1;",
            "small",
        ),
    ] {
        assert_eq!(printed(right, array), NONE, "{right}");
    }
    // Nobody but the kernel reads it.
    let kept = read(
        "\tn = sprintf(small, \"%u\\n\", d->used);\n\tstrcpy(d->name, small);\n\treturn simple_read_from_buffer(u, count, at, d->name, n);",
    );
    assert_eq!(kept, NONE);
}

#[test]
fn a_string_that_fills_an_array_leaves_nothing_unset() {
    let of = |format: &str| {
        read(&format!(
            "\tchar few[3];\n\n\tn = sprintf(few, {format});\n\treturn simple_read_from_buffer(u, count, at, few, 3);"
        ))
    };
    assert_eq!(of("\"%d\\n\", !!d->kind"), NONE);
    assert_eq!(of("\"%d\", !!d->kind"), ["copied-holes"]);
}

#[test]
fn two_characters_for_each_byte_need_twice_the_room() {
    let of = |room: &str, long: &str| {
        read(&format!(
            "\tunsigned int len = d->used * 2;\n\tssize_t ret;\n\tchar *buf;\n\n\tbuf = kmalloc({room}, GFP_KERNEL);\n\tif (!buf)\n\t\treturn -ENOMEM;\n\
             \tbin2hex(buf, d->text, {long});\n\tret = simple_read_from_buffer(u, count, at, buf, len);\n\tkfree(buf);\n\treturn ret;"
        ))
    };
    assert_eq!(of("d->used", "d->used"), ["beyond-variable"]);
    assert_eq!(of("d->used", "d->few"), ["beyond-variable"]);
    for room in ["len", "d->used * 2", "2 * d->used + 1", "len + 1"] {
        assert_eq!(of(room, "d->used"), NONE, "{room}");
    }
    let of = |long: &str| {
        read(&format!(
            "\tn = transfer(d);\n\tif (n < 0)\n\t\treturn n;\n{long}\treturn simple_read_from_buffer(u, count, at, hex, n);"
        ))
    };
    for wrong in [
        "\tbin2hex(hex, d->text, 17);\n",
        "\tbin2hex(hex, d->text, sizeof(hex));\n",
        "\tbin2hex(hex, d->text, min(n, 24));\n",
        "\tif (n > 20)\n\t\treturn -EIO;\n\tbin2hex(hex, d->text, n);\n",
        "\tif (hex2bin(d->text, hex, sizeof(hex)))\n\t\treturn -EINVAL;\n",
    ] {
        assert_eq!(of(wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "\tbin2hex(hex, d->text, 16);\n",
        "\tbin2hex(hex, d->text, sizeof(hex) / 2);\n",
        "\tbin2hex(hex, d->text, min(n, 16));\n",
        "\tif (n > 16)\n\t\treturn -EIO;\n\tbin2hex(hex, d->text, n);\n",
        "\tif (hex2bin(hex, d->text, sizeof(hex)))\n\t\treturn -EINVAL;\n",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}
