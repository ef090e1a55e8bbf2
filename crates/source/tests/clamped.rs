//! Numbers that are made smaller, or said to be less than 0: whether that is what bounds them.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// The read() of a device, with what it may name.
fn read(statements: &str) -> Vec<String> {
    rules(&format!(
        "#define ROOM 512\n#define HEAD 4\n\
         struct log {{ char text[ROOM]; u32 used; }};\n\
         static ssize_t log_read(struct file *file, char __user *to, size_t count, loff_t *at)\n{{\n\
         \tstruct log *log = file->private_data;\n\tchar own[ROOM], *buf;\n\tloff_t pos = *at;\n\tsize_t n = count;\n\n\
         {statements}\n\treturn count;\n}}\n\
         static const struct file_operations log_ops = {{ .read = log_read }};\n"
    ))
}

#[test]
fn a_clamp_is_a_bound() {
    let with = |bound: &str, copied: &str| {
        read(&format!(
            "\tmemcpy(own, log->text, ROOM);\n{bound}\n\tif (copy_to_user(to, own, {copied}))\n\t\treturn -EFAULT;"
        ))
    };
    for (bound, copied) in [
        ("\tif (count > ROOM + 1)\n\t\tcount = ROOM + 1;", "count"),
        (
            "\tif (count >= 2 * ROOM) {\n\t\tcount = 2 * ROOM - 1;\n\t}",
            "count",
        ),
        (
            "\tif (!count || count > ROOM)\n\t\tcount = ROOM + 8;",
            "count",
        ),
        ("\tcount = min_t(size_t, count, sizeof(own) + 1);", "count"),
    ] {
        assert_eq!(with(bound, copied), ["beyond-variable"], "{bound}");
    }
    for (bound, copied) in [
        ("\tif (count > ROOM)\n\t\tcount = ROOM;", "count"),
        (
            "\tif (count >= ROOM) {\n\t\tcount = ROOM - 1;\n\t}",
            "count",
        ),
        ("\tn = min_t(size_t, n, sizeof(own));", "n"),
        (
            "\tif (count > 2 * ROOM)\n\t\tcount = 2 * ROOM;\n\tif (count > ROOM)\n\t\tcount = ROOM;",
            "count",
        ),
        // Another way bounds it by something else.
        (
            "\tif (count > 2 * ROOM)\n\t\tcount = log->used;\n\telse\n\t\tcount = ROOM;",
            "count",
        ),
    ] {
        assert_eq!(with(bound, copied), NONE, "{bound}");
    }
}

#[test]
fn a_clamp_that_leaves_out_where_the_copy_begins_is_none() {
    let with = |bound: &str, begins: &str| {
        read(&format!(
            "\tif (pos < 0)\n\t\treturn -EINVAL;\n\tif (pos >= ROOM - HEAD)\n\t\treturn 0;\n{bound}\n\
             \tbuf = kzalloc(ROOM - HEAD, GFP_KERNEL);\n\tif (!buf)\n\t\treturn -ENOMEM;\n\
             \tmemcpy(buf, log->text, ROOM - HEAD);\n\
             \tif (copy_to_user(to, {begins}, count)) {{\n\t\tkfree(buf);\n\t\treturn -EFAULT;\n\t}}\n\tkfree(buf);\n\t*at = pos + count;"
        ))
    };
    let whole = "\tif (count > ROOM - HEAD)\n\t\tcount = ROOM - HEAD;";
    let rest = "\tif (count > ROOM - HEAD - pos)\n\t\tcount = ROOM - HEAD - pos;";
    for begins in ["buf + pos", "buf + *at"] {
        assert_eq!(with(whole, begins), ["beyond-variable"], "{begins}");
    }
    assert_eq!(with(whole, "buf"), NONE);
    assert_eq!(with(rest, "buf + pos"), NONE);
}

#[test]
fn what_has_no_sign_is_never_less_than_0() {
    let with = |of: &str, test: &str| {
        rules(&format!(
            "int lane_of(const char *name);\n\
             ssize_t f(const char __user *from, size_t n)\n{{\n\t{of} lane;\n\tchar *name = memdup_user_nul(from, n);\n\n\
             \tif (IS_ERR(name))\n\t\treturn PTR_ERR(name);\n\tlane = lane_of(name);\n\tkfree(name);\n\
             \tif ({test})\n\t\treturn -ENOENT;\n\treturn lane_wake(lane) ?: n;\n}}\n"
        ))
    };
    for (of, test) in [
        ("unsigned int", "lane < 0"),
        ("u8", "lane < 0"),
        ("size_t", "!(lane >= 0)"),
    ] {
        assert_eq!(with(of, test), ["misread-result"], "{of} {test}");
    }
    for (of, test) in [
        ("int", "lane < 0"),
        ("unsigned int", "lane == 0"),
        ("s8", "lane < 0"),
    ] {
        assert_eq!(with(of, test), NONE, "{of} {test}");
    }
}

#[test]
fn what_accesses_gave_together_may_be_more_than_0() {
    let with = |second: &str, asked: &str| {
        rules(&format!(
            "static int restore(struct frame __user *frame, struct regs *regs)\n{{\n\tint err = 0;\n\n\
             \terr |= __copy_from_user(&regs->gr, &frame->gr, sizeof(regs->gr));\n\
             \terr |= {second};\n\treturn err;\n}}\n\
             void f(struct frame __user *frame, struct regs *regs)\n{{\n\tint err;\n\n\
             \tif (!access_ok(frame, sizeof(*frame)))\n\t\tgoto bad;\n\
             \t{asked}\n\t\tgoto bad;\n\treturn;\nbad:\n\tforce_sig(SIGSEGV);\n}}\n"
        ))
    };
    let get = "__get_user(regs->sp, &frame->sp)";
    let copy = "__copy_from_user(&regs->fr, &frame->fr, sizeof(regs->fr))";
    for (second, asked) in [
        (get, "if (restore(frame, regs) < 0)"),
        (copy, "if (restore(frame, regs) < 0)"),
        (get, "err = restore(frame, regs);\n\tif (err < 0)"),
    ] {
        assert_eq!(with(second, asked), ["misread-result"], "{second} {asked}");
    }
    for asked in [
        "if (restore(frame, regs))",
        "err = restore(frame, regs);\n\tif (err)",
        "if (restore(frame, regs) != 0)",
    ] {
        assert_eq!(with(get, asked), NONE, "{asked}");
    }
}

#[test]
fn what_is_taken_off_was_held_against_that() {
    let with = |bound: &str, taken: &str| {
        rules(&format!(
            "struct packet {{ char head[64]; u32 left; u32 rest; u32 room; }};\n\
             ssize_t f(struct packet *p, char __user *to, size_t n)\n{{\n\
             \tsize_t at = sizeof(p->head) - p->left;\n\tu32 left = p->left;\n\n\tif (!p->left)\n\t\treturn 0;\n\
             {bound}\n\tif (copy_to_user(to, p->head + at, n))\n\t\treturn -EFAULT;\n{taken}\n\treturn n;\n}}\n"
        ))
    };
    let taken = "\tp->left -= n;";
    for bound in [
        "\tif (n > p->rest)\n\t\tn = p->rest;",
        "\tif (n > p->room)\n\t\treturn -EINVAL;",
        "\tn = min_t(size_t, n, p->rest);",
    ] {
        assert_eq!(with(bound, taken), ["wrapping-size"], "{bound}");
    }
    for (bound, taken) in [
        ("\tif (n > p->left)\n\t\tn = p->left;", taken),
        ("\tif (n > left)\n\t\tn = left;", taken),
        ("\tn = min_t(size_t, n, p->left);", taken),
        (
            "\tif (n > p->rest || n > p->left)\n\t\treturn -EINVAL;",
            taken,
        ),
        (
            "\tif (n > p->rest)\n\t\tn = p->rest;",
            "\tp->left -= n;\n\tp->rest -= n;",
        ),
        ("\tif (n > p->rest)\n\t\tn = p->rest;", "\tp->rest -= n;"),
    ] {
        assert_eq!(with(bound, taken), NONE, "{bound} {taken}");
    }
}

#[test]
fn a_member_has_as_many_bytes_as_its_type() {
    let with = |bound: &str, from: &str| {
        rules(&format!(
            "struct head {{ u32 a; u64 b; }};\nstruct log {{ struct head head; char text[64]; u8 tail[]; }};\n\
             static ssize_t log_read(struct file *file, char __user *to, size_t count, loff_t *at)\n{{\n\
             \tstruct log *log = file->private_data;\n\n{bound}\n\tif (copy_to_user(to, {from}, count))\n\
             \t\treturn -EFAULT;\n\treturn count;\n}}\n\
             static const struct file_operations log_ops = {{ .read = log_read }};\n"
        ))
    };
    for (bound, from) in [
        (
            "\tif (count > sizeof(*log))\n\t\treturn -EINVAL;",
            "log->text",
        ),
        ("\tif (count > 65)\n\t\tcount = 65;", "log->text"),
        (
            "\tcount = min_t(size_t, count, sizeof(*log));",
            "&log->text",
        ),
        (
            "\tif (count > sizeof(log->text))\n\t\treturn -EINVAL;",
            "&log->head",
        ),
    ] {
        assert_eq!(with(bound, from), ["beyond-variable"], "{bound} {from}");
    }
    for (bound, from) in [
        (
            "\tif (count > sizeof(log->text))\n\t\treturn -EINVAL;",
            "log->text",
        ),
        (
            "\tif (count > 65)\n\t\tcount = 64;\n\tif (count > 64)\n\t\tcount = 64;",
            "log->text",
        ),
        (
            "\tif (count > sizeof(*log))\n\t\treturn -EINVAL;",
            "log->tail",
        ),
        (
            "\tif (count > sizeof(log->head))\n\t\treturn -EINVAL;",
            "&log->head",
        ),
    ] {
        assert_eq!(with(bound, from), NONE, "{bound} {from}");
    }
}

/// What the kernel has of at least 16 bytes and at most 128, whoever keeps it, with how it is declared.
const OBJECTS: [(&str, &str); 9] = [
    ("char own[64];", "own"),
    ("static char own[64];", "own"),
    ("struct dev *d = file->private_data;", "d->text"),
    ("struct dev *d = file->private_data;", "&d->text[0]"),
    ("struct dev *d = file->private_data;", "d->in.data"),
    ("struct dev *d = file->private_data;", "&d->in"),
    ("char *own = kmalloc(64, GFP_KERNEL);", "own"),
    (
        "struct dev *own = kzalloc(sizeof(*own), GFP_KERNEL);",
        "own",
    ),
    ("int own;", "table"),
];

/// What bounds the number to `MOST`, and the number then.
const BOUNDS: [(&str, &str); 17] = [
    ("if (n > MOST)\n\t\treturn -EINVAL;", "n"),
    ("if (n >= MOST)\n\t\treturn -EINVAL;", "n"),
    ("if (MOST < n)\n\t\tgoto out;", "n"),
    ("if (!n || n > MOST)\n\t\treturn -EINVAL;", "n"),
    ("if (n > MOST)\n\t\tn = MOST;", "n"),
    ("n = min(n, MOST);", "n"),
    ("n = min_t(size_t, n, MOST);", "n"),
    ("n = clamp(n, 1, MOST);", "n"),
    ("n = clamp_t(size_t, n, 1, MOST);", "n"),
    ("if (!(n <= MOST))\n\t\treturn -EINVAL;", "n"),
    ("if (!n || !(MOST >= n))\n\t\tgoto out;", "n"),
    ("n = n > MOST ? MOST : n;", "n"),
    ("n = n < MOST ? n : MOST;", "n"),
    ("len = min_t(size_t, n, MOST);", "len"),
    ("len = n;\n\tif (len > MOST)\n\t\tlen = MOST;", "len"),
    (
        "if (n > MOST)\n\t\tret = -EINVAL;\n\tif (ret)\n\t\treturn ret;",
        "n",
    ),
    ("if (n <= MOST)\n\t", "n"),
];

#[test]
fn a_bound_is_no_more_than_what_there_is_wherever_that_lies() {
    for ((declared, object), (bound, number)) in OBJECTS
        .iter()
        .flat_map(|own| BOUNDS.iter().map(move |bound| (own, bound)))
    {
        let with = |most: u32| {
            rules(&format!(
                "#define MOST {most}\n\
                 struct in {{ u32 a; char data[16]; }};\nstruct dev {{ struct in in; char text[64]; u32 z; }};\n\
                 static char table[64];\n\
                 static ssize_t h(struct file *file, const char __user *u, size_t n, loff_t *at)\n{{\n\
                 \t{declared}\n\tsize_t len = 0;\n\tint ret = 0;\n\n\t{bound}\n\
                 \tif (copy_from_user({object}, u, {number}))\n\t\treturn -EFAULT;\n\treturn n;\nout:\n\treturn -EINVAL;\n}}\n\
                 static const struct file_operations f_ops = {{ .write = h }};\n"
            ))
            .contains(&"beyond-variable".to_owned())
        };
        assert!(with(200), "{declared} {object} {bound}");
        assert!(!with(16), "{declared} {object} {bound}");
    }
}
