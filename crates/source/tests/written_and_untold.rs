//! Writes that give 0 where all goes well, so that a program writes the same again.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// What is said of a write() of these statements, which a table has as that member.
fn member(member: &str, statements: &str) -> Vec<String> {
    mistakes::rules(&format!(
        "struct dev {{ int mode; size_t length; struct mutex lock; }};\n\
         static int apply(struct dev *d, const char *text)\n{{\n\tif (!text[0])\n\t\treturn -EINVAL;\n\td->mode = text[0];\n\treturn 0;\n}}\n\
         static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tchar text[64];\n\tchar *buf;\n\tint err, ret;\n\tsize_t n;\n\tbool on;\n\tu32 v;\n\n\
         {statements}\n}}\n\
         static const struct file_operations ops = {{ .{member} = f }};\n"
    ))
}

fn is_wrong(wrong: &str) {
    assert_eq!(member("write", wrong), ["unread-answer"], "{wrong}");
}

fn is_right(right: &str) {
    assert_eq!(member("write", right), NONE, "{right}");
}

const BOOL: &str = "\terr = kstrtobool_from_user(u, count, &on);\n\tif (err)\n\t\treturn err;\n";
const TEXT: &str = "\tif (count >= sizeof(text))\n\t\treturn -EINVAL;\n\tif (copy_from_user(text, u, count))\n\t\treturn -EFAULT;\n\ttext[count] = 0;\n";
const VALUE: &str = "\tif (count != sizeof(v))\n\t\treturn -EINVAL;\n\tif (get_user(v, (u32 __user *)u))\n\t\treturn -EFAULT;\n";

#[test]
fn a_write_says_how_much_it_took() {
    for wrong in [
        format!("{BOOL}\treturn set_mode(d, on);"),
        format!("{BOOL}\tret = set_mode(d, on);\n\treturn ret;"),
        format!("{BOOL}\terr = set_mode(d, on);\n\tif (err)\n\t\treturn err;\n\treturn 0;"),
        format!(
            "{BOOL}\tmutex_lock(&d->lock);\n\tret = -EBUSY;\n\tif (d->mode)\n\t\tgoto out;\n\tret = 0;\n\td->mode = on;\nout:\n\tmutex_unlock(&d->lock);\n\treturn ret;"
        ),
        format!("{TEXT}\treturn apply(d, text);"),
        format!(
            "{TEXT}\tret = kstrtou32(text, 0, &v);\n\tif (ret)\n\t\treturn ret;\n\td->mode = v;\n\treturn ret;"
        ),
        format!("{VALUE}\td->mode = v;\n\treturn d->mode ? 0 : -EIO;"),
        "\treturn kstrtoint_from_user(u, count, 0, &d->mode);".to_owned(),
    ] {
        is_wrong(&wrong);
    }
}

#[test]
fn a_write_that_tells_is_right() {
    for right in [
        format!("{BOOL}\terr = set_mode(d, on);\n\tif (err)\n\t\treturn err;\n\treturn count;"),
        format!("{BOOL}\terr = set_mode(d, on);\n\treturn err ?: count;"),
        format!("{BOOL}\terr = set_mode(d, on);\n\treturn err ? err : count;"),
        // A call that is given it may give it.
        format!("{BOOL}\treturn store(d, on, count);"),
        format!("{TEXT}\treturn parse(d, text);"),
        format!("{TEXT}\td->length = count;\n\treturn take(d);"),
        "\tret = simple_write_to_buffer(text, sizeof(text), at, u, count);\n\tif (ret < 0)\n\t\treturn ret;\n\td->mode = text[0];\n\treturn ret;".to_owned(),
        // By other variables.
        format!("\tret = count;\n{BOOL}\tif (set_mode(d, on))\n\t\tret = -EIO;\n\treturn ret;"),
        format!("\tn = min(count, sizeof(text));\n{BOOL}\td->mode = on;\n\treturn n;"),
        format!("\tret = 0;\n{BOOL}\td->mode = on;\n\tret += count;\n\treturn ret;"),
        "\tfor (n = 0; n < count; n++) {\n\t\tif (get_user(text[0], u + n))\n\t\t\treturn -EFAULT;\n\t\td->mode = text[0];\n\t}\n\treturn n;".to_owned(),
        // As many as it asks for.
        format!("{VALUE}\td->mode = v;\n\treturn sizeof(v);"),
        format!("{VALUE}\td->mode = v;\n\treturn 4;"),
        // Nothing was written, or all fails.
        "\tif (!count)\n\t\treturn 0;\n\tif (copy_from_user(text, u, 1))\n\t\treturn -EFAULT;\n\treturn -EINVAL;".to_owned(),
        format!("{BOOL}\treturn -EPERM;"),
        format!("{BOOL}\terr = -EINVAL;\n\treturn err;"),
        // The other side of a configuration.
        format!("{BOOL}#ifdef CONFIG_MODE\n\treturn count;\n#else\n\treturn 0;\n#endif"),
    ] {
        is_right(&right);
    }
    let wrong = format!("{BOOL}\treturn set_mode(d, on);");
    assert_eq!(member("set", &wrong), NONE);
}
