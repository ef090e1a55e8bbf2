//! Bounds and moves by the size of something else than what is copied.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "typedef unsigned char u8;\ntypedef unsigned int u32;\ntypedef unsigned long long u64;\n\
     #define SMALL 64\n#define LARGE 128\n#define picks_more >\n#define picks_less <\n\
     #define pick(how, a, b) ((a) picks_##how (b) ? (a) : (b))\n\
     #define MAX(a, b) pick(more, a, b)\n#define MIN(a, b) pick(less, a, b)\n\
     #define MOST MAX(SMALL, LARGE)\n#define LEAST MIN(LARGE, SMALL)\n\
     struct part { u32 a; u32 b; };\n\
     struct queue { u32 id; u32 faults; struct part part; char name[16]; u64 more[4]; char last[8]; };\n\
     struct locked { u32 id; struct nobody_knows lock; u32 faults; };\n\
     struct msg { u32 kind; u8 head[32]; u8 body[64]; u8 tail[32]; };\n\
     struct req { u64 addr; u32 len; u32 reserved; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    mistakes::rules(&format!("{TYPES}{functions}"))
}

#[test]
fn what_the_whole_has_is_too_much_behind_its_front() {
    let of = |bound: &str, from: &str, what: &str| {
        rules(&format!(
            "static int f(struct {what} *q, void __user *u, size_t n)\n{{\n\tsize_t size = n;\n\n{bound}\n\
             \treturn copy_to_user(u, {from}, size) ? -EFAULT : 0;\n}}\n"
        ))
    };
    for (bound, right) in [
        (
            "\tsize = min_t(size_t, n, sizeof(*q));",
            "\tsize = min_t(size_t, n, sizeof(q->faults));",
        ),
        (
            "\tif (size > sizeof(*q))\n\t\treturn -EINVAL;",
            "\tif (size > sizeof(u32))\n\t\treturn -EINVAL;",
        ),
        (
            "\tif (size > sizeof(*q))\n\t\tsize = sizeof(*q);",
            "\tif (size > sizeof(q->faults))\n\t\tsize = sizeof(q->faults);",
        ),
    ] {
        for what in ["queue", "locked"] {
            assert_eq!(
                of(bound, "&q->faults", what),
                ["beyond-variable"],
                "{bound} {what}"
            );
            assert_eq!(of(right, "&q->faults", what), NONE, "{right} {what}");
            assert_eq!(of(bound, "q", what), NONE, "{bound} {what}");
        }
        // A copy that begins at the first member may mean the others.
        assert_eq!(of(bound, "&q->id", "queue"), NONE, "{bound}");
        for from in ["&q->part", "q->name", "&q->more"] {
            assert_eq!(of(bound, from, "queue"), ["beyond-variable"], "{from}");
        }
    }
    let typed = "\tsize = min(n, sizeof(struct queue));";
    assert_eq!(of(typed, "&q->faults", "queue"), ["beyond-variable"]);
    // The least of several.
    let three = "\tsize = min3(n, sizeof(*q), sizeof(q->faults));";
    assert_eq!(of(three, "&q->faults", "queue"), NONE);
}

#[test]
fn a_pointer_is_moved_by_no_more_than_its_array() {
    let of = |made: &str| {
        rules(&format!(
            "static int f(struct msg *m, const void __user *u, size_t n)\n{{\n\tu8 *to, *other;\n\tu8 own[32];\n\n\
             \tif (n > sizeof(m->head))\n\t\treturn -EINVAL;\n{made}\n\
             \treturn copy_from_user(to, u, n) ? -EFAULT : use(m, other, own);\n}}\n"
        ))
    };
    for wrong in [
        "\tto = m->body + sizeof(*m) - n;",
        "\tto = m->head + sizeof(m->body) - n;",
        "\tto = m->tail + (sizeof(m->body) - n);",
        "\tif (m->kind)\n\t\tto = m->body + sizeof(m->body) - n;\n\telse\n\t\tto = m->head + sizeof(struct msg) - n;",
        "\tto = own + sizeof(m->body) - n;",
    ] {
        assert_eq!(of(wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "\tto = m->body + sizeof(m->body) - n;",
        "\tto = m->body + sizeof(m->head) - n;",
        "\tto = (u8 *)m + sizeof(*m) - n;",
        "\tto = m->head + sizeof(m->head) - n;\n\tother = m->body + sizeof(*m) - n;",
        "\tto = m->body + sizeof(*m) - n;\n\tto = m->body;",
        // Another number may be as large as needed.
        "\tto = m->body + sizeof(*m) - m->kind;",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
    let at_once = |from: &str| {
        rules(&format!(
            "static int f(struct msg *m, const void __user *u, size_t n)\n{{\n\tif (n > sizeof(m->head))\n\t\treturn -EINVAL;\n\
             \treturn copy_from_user({from}, u, n) ? -EFAULT : 0;\n}}\n"
        ))
    };
    assert_eq!(
        at_once("m->head + sizeof(m->body) - n"),
        ["beyond-variable"]
    );
    assert_eq!(at_once("m->head + sizeof(m->head) - n"), NONE);
}

#[test]
fn a_macro_may_name_an_operator() {
    let of = |array: &str, most: &str| {
        rules(&format!(
            "static int f(struct dev *d, void __user *u)\n{{\n\tstruct req r;\n\tu8 key[{array}];\n\n\
             \tif (copy_from_user(&r, u, sizeof(r)))\n\t\treturn -EFAULT;\n\
             \tif (r.reserved || r.len < 16 || r.len > {most})\n\t\treturn -EINVAL;\n\
             \tif (copy_from_user(key, u64_to_user_ptr(r.addr), r.len))\n\t\treturn -EFAULT;\n\treturn use(d, key, r.len);\n}}\n"
        ))
    };
    for (array, most) in [("SMALL", "MOST"), ("LEAST", "LARGE"), ("LEAST", "MOST")] {
        assert_eq!(of(array, most), ["beyond-variable"], "{array} {most}");
        assert_eq!(of(most, array), NONE, "{most} {array}");
    }
    assert_eq!(of("MOST", "LARGE"), NONE);
    assert_eq!(of("SMALL", "LEAST"), NONE);
}

#[test]
fn a_string_of_a_text_has_room_with_its_end() {
    let write = |bound: &str, text: &str, scan: &str| {
        rules(&format!(
            "static ssize_t f(struct file *file, const char __user *u, size_t n, loff_t *pos)\n{{\n\
             \tchar small[8], large[64], buf[32];\n\tchar *text;\n\tint ret, a;\n\n{bound}{text}\tret = {scan};\n\
             \tif (ret != 1)\n\t\treturn -EINVAL;\n\tuse(file, small, large);\n\treturn n;\n}}\n\
             static const struct file_operations ops = {{ .write = f }};\n"
        ))
    };
    let copied = "\ttext = memdup_user_nul(u, n);\n\tif (IS_ERR(text))\n\t\treturn PTR_ERR(text);\n\tfile->private_data = text;\n";
    let own =
        "\tmemset(buf, 0, sizeof(buf));\n\tif (copy_from_user(buf, u, n))\n\t\treturn -EFAULT;\n";
    let at_most = |most: &str| format!("\tif (*pos != 0 || n > {most})\n\t\treturn -EINVAL;\n");
    for (bound, text, scan) in [
        (
            at_most("sizeof(small)"),
            copied,
            "sscanf(text, \"%s\", small)",
        ),
        (at_most("100"), copied, "sscanf(text, \"%s\", large)"),
        (String::new(), copied, "sscanf(text, \"%s\", large)"),
        (at_most("31"), own, "sscanf(buf, \"%s\", small)"),
        (
            at_most("sizeof(buf) - 1"),
            own,
            "sscanf(buf, \"set %s\", small)",
        ),
        (at_most("31"), own, "sscanf(buf, \"%8s\", small)"),
        (at_most("31"), own, "sscanf(buf, \"%d %12s\", &a, small)"),
    ] {
        assert_eq!(
            write(&bound, text, scan),
            ["beyond-variable"],
            "{bound} {scan}"
        );
    }
    for (bound, text, scan) in [
        (
            at_most("sizeof(small) - 1"),
            copied,
            "sscanf(text, \"%s\", small)",
        ),
        (at_most("4"), copied, "sscanf(text, \"%s\", small)"),
        (
            at_most("sizeof(small)"),
            copied,
            "sscanf(text, \"x%s\", small)",
        ),
        (String::new(), copied, "sscanf(text, \"%63s\", large)"),
        (at_most("31"), own, "sscanf(buf, \"%s\", large)"),
        (at_most("31"), own, "sscanf(buf, \"%7s\", small)"),
        (at_most("31"), own, "sscanf(buf, \"%*s %7s\", small)"),
        (at_most("7"), own, "sscanf(buf, \"%s\", small)"),
    ] {
        assert_eq!(write(&bound, text, scan), NONE, "{bound} {scan}");
    }
}

#[test]
fn a_0_that_is_refused_is_none() {
    let of = |asked: &str, reads: &str| {
        rules(&format!(
            "static ssize_t f(struct file *file, const char __user *u, size_t n, loff_t *pos)\n{{\n\
             \tchar *text, *end, *at;\n\tssize_t ret = -EINVAL;\n\n\tif (n > 512)\n\t\treturn -EINVAL;\n\
             \ttext = memdup_user(u, n);\n\tif (IS_ERR(text))\n\t\treturn PTR_ERR(text);\n{asked}\
             \tret = {reads};\nout:\n\tkfree(text);\n\treturn ret;\n}}\n\
             static const struct file_operations ops = {{ .write = f }};\n"
        ))
    };
    let reads = "run(strlen(text))";
    for wrong in [
        "\tif (memchr(text, 0, n))\n\t\tgoto out;\n",
        "\tif (n < 2 || memchr(text, '\\0', n))\n\t\tgoto out;\n",
        "\tend = memchr(text, '\\n', n);\n\tif (end)\n\t\t*end = '\\0';\n",
        "\tif (!memchr(text, '=', n))\n\t\tgoto out;\n",
        "\tat = text + 1;\n\tif (*at) {\n\t\t*at = 0;\n\t}\n",
        "\tat = text;\n\tif (isspace(*at))\n\t\tgoto out;\n",
    ] {
        assert_eq!(of(wrong, reads), ["unterminated-string"], "{wrong}");
    }
    for right in [
        "\tif (!memchr(text, 0, n))\n\t\tgoto out;\n",
        "\tif (memchr(text, '\\0', n) == NULL)\n\t\tgoto out;\n",
        "\tend = memchr(text, '\\n', n);\n\tif (!end)\n\t\tgoto out;\n\t*end = '\\0';\n",
        "\tend = memchr(text, '\\0', n);\n\tif (!end)\n\t\tgoto out;\n",
        "\tif (memchr(text, 0, n))\n\t\tgoto out;\n\ttext[n - 1] = 0;\n",
    ] {
        assert_eq!(of(right, reads), NONE, "{right}");
    }
}
