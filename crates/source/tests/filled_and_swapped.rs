//! Strings that fill their room, and sizes, numbers and answers that stand in each other's place.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

#[test]
fn a_string_that_leaves_room_for_a_0_has_none_there() {
    let of = |allocates: &str, rest: &str| {
        rules(&format!(
            "#define MOST 255\nstatic long name_of(struct disk *d, const char __user *u, size_t n)\n{{\n\tchar *name = NULL;\n\tlong len, ret;\n\n\
             \tname = {allocates};\n\tif (!name)\n\t\treturn -ENOMEM;\n{rest}\n\tret = look(d, name, len);\nout:\n\tkfree(name);\n\treturn ret;\n}}\n"
        ))
    };
    let taken = "\tret = strncpy_from_user(name, u, MOST);\n\tif (ret < 0)\n\t\tgoto out;\n\tlen = strlen(name);";
    let counted = "\tret = strncpy_from_user(name, u, n);\n\tif (unlikely(ret < 0))\n\t\tgoto out;\n\tpr_debug(\"%s\\n\", name);\n\tlen = 0;";
    for (allocates, wrong) in [
        ("kmalloc(MOST + 1, GFP_KERNEL)", taken),
        ("kmalloc(MOST, GFP_KERNEL)", taken),
        ("kzalloc(MOST, GFP_KERNEL)", taken),
        ("kmalloc(n + 1, GFP_KERNEL)", counted),
        ("kmalloc(1 + n, GFP_KERNEL)", counted),
        ("kmalloc(n, GFP_KERNEL)", counted),
    ] {
        assert_eq!(
            of(allocates, wrong),
            ["unterminated-string"],
            "{allocates}\n{wrong}"
        );
    }
    // What the variable takes later is another number.
    let later = format!("{taken}\n\tret = lock(d);\n\tif (ret >= 4)\n\t\tret = !ret;");
    assert_eq!(
        of("kmalloc(MOST + 1, GFP_KERNEL)", &later),
        ["unterminated-string"]
    );
    let asked = "\tret = strncpy_from_user(name, u, MOST);\n\tif (ret < 0)\n\t\tgoto out;\n\tif (ret == MOST) {\n\t\tret = -ENAMETOOLONG;\n\t\tgoto out;\n\t}\n\tlen = strlen(name);";
    let ended = "\tret = strncpy_from_user(name, u, MOST);\n\tif (ret < 0)\n\t\tgoto out;\n\tname[MOST] = 0;\n\tlen = strlen(name);";
    let length =
        "\tret = strncpy_from_user(name, u, MOST);\n\tif (ret < 0)\n\t\tgoto out;\n\tlen = ret;";
    let cleared = "\tmemset(name, 0, MOST + 1);\n\tret = strncpy_from_user(name, u, MOST);\n\tif (ret < 0)\n\t\tgoto out;\n\tlen = strlen(name);";
    for (allocates, right) in [
        ("kzalloc(MOST + 1, GFP_KERNEL)", taken),
        ("kzalloc(n + 1, GFP_KERNEL)", counted),
        ("kmalloc(MOST + 1, GFP_KERNEL)", asked),
        ("kmalloc(MOST + 1, GFP_KERNEL)", ended),
        ("kmalloc(MOST + 1, GFP_KERNEL)", length),
        ("kmalloc(MOST + 1, GFP_KERNEL)", cleared),
    ] {
        assert_eq!(of(allocates, right), NONE, "{allocates}\n{right}");
    }
}

#[test]
fn a_member_that_the_user_has_filled_is_printed() {
    let of = |rest: &str| {
        rules(&format!(
            "#define ID 32\nstruct part {{ char name[8]; int kind; }};\nstruct link {{ spinlock_t lock; unsigned char id[ID]; int state; struct part part; struct device dev; }};\n\
             static long set_id(struct session *s, unsigned char __user *u)\n{{\n\tstruct link *l = s->link;\n\tunsigned long flags;\n\tstruct room *room;\n\tchar text[ID + 1];\n\tint rc;\n\n\
             {rest}\n\treturn send(room, l->state);\n}}\n"
        ))
    };
    let copy = "\tif (copy_from_user(l->id, u, ID))\n\t\treturn -EFAULT;\n";
    for wrong in [
        "\tpr_info(\"link: \\\"%s\\\"\\n\", l->id);",
        "\tspin_lock_irqsave(&l->lock, flags);\n\troom = find_room(l->state);\n\tspin_unlock_irqrestore(&l->lock, flags);\n\tpr_info(\"link: \\\"%s\\\"\\n\", l->id);",
        "\tget_device(&l->dev);\n\tdev_info(&l->dev, \"%s\\n\", l->id);",
        "\tset_part(&l->part);\n\tsnprintf(text, sizeof(text), \"%s\", l->id);",
    ] {
        let wrong = format!("{copy}{wrong}");
        assert_eq!(of(&wrong), ["unterminated-string"], "{wrong}");
    }
    // What was done before the copy ends nothing behind it.
    let before = format!("\tprepare(l);\n{copy}\tprintk(\"%s\\n\", l->id);");
    assert_eq!(of(&before), ["unterminated-string"]);
    for right in [
        "\tmemset(text, 0, ID + 1);\n\tstrncpy(text, l->id, ID);\n\tpr_info(\"link: \\\"%s\\\"\\n\", text);",
        "\tpr_info(\"link: \\\"%.32s\\\"\\n\", l->id);",
        "\tpr_info(\"link: \\\"%*pE\\\"\\n\", ID, l->id);",
        "\tl->id[ID - 1] = 0;\n\tpr_info(\"link: \\\"%s\\\"\\n\", l->id);",
        "\tspin_lock_irqsave(&l->lock, flags);\n\tl->id[ID - 1] = 0;\n\tspin_unlock_irqrestore(&l->lock, flags);\n\tpr_info(\"link: \\\"%s\\\"\\n\", l->id);",
        "\tend_id(l);\n\tpr_info(\"link: \\\"%s\\\"\\n\", l->id);",
        "\tend_id(&l->id[ID - 1]);\n\tpr_info(\"link: \\\"%s\\\"\\n\", l->id);",
        "\tpr_info(\"link: \\\"%s\\\"\\n\", l->part.name);",
    ] {
        let right = format!("{copy}{right}");
        assert_eq!(of(&right), NONE, "{right}");
    }
    // Another member's holder holds the array, too.
    let within = "\tif (copy_from_user(l->part.name, u, 8))\n\t\treturn -EFAULT;\n\tend_part(&l->part);\n\tpr_info(\"%s\\n\", l->part.name);";
    assert_eq!(of(within), NONE);
    // The last byte is not the user's.
    let short = "\tif (copy_from_user(l->id, u, ID))\n\t\treturn -EFAULT;\n\tprepare(l);\n\tpr_info(\"%s\\n\", l->id);";
    assert_eq!(of(short), NONE);
}

#[test]
fn a_string_is_read_through_the_address_of_its_pointer() {
    let of = |reads: &str, ends: &str, call: &str| {
        rules(&format!(
            "static int words_of(char **text, const char *by, u32 *out)\n{{\n\tint n = 0;\n\tchar *s;\n\n{reads}\n\treturn n;\n}}\n\
             static int take(const char __user *from, size_t count, u32 *out)\n{{\n\tchar *buf;\n\tint ret;\n\n\tbuf = kmalloc(count + 1, GFP_KERNEL);\n\tif (!buf)\n\t\treturn -ENOMEM;\n\
             \tif (copy_from_user(buf, from, count)) {{\n\t\tret = -EFAULT;\n\t\tgoto out;\n\t}}\n{ends}\tret = {call};\nout:\n\tkfree(buf);\n\treturn ret;\n}}\n"
        ))
    };
    let split = "\twhile ((s = strsep(text, by)) != NULL) {\n\t\tif (kstrtou32(s, 0, out + n))\n\t\t\tbreak;\n\t\tn++;\n\t}";
    let measured = "\tn = strlen(*text);";
    let kept = "\ts = *text;\n\tn = strlen(s);";
    let call = "words_of((char **)&buf, \",\", out)";
    for (reads, call) in [
        (split, call),
        (split, "words_of(&buf, \",\", out)"),
        (measured, call),
        (kept, call),
    ] {
        assert_eq!(
            of(reads, "", call),
            ["unterminated-string"],
            "{reads}\n{call}"
        );
        assert_eq!(of(reads, "\tbuf[count] = '\\0';\n", call), NONE, "{reads}");
    }
    for ended in [
        "\t(*text)[7] = 0;\n\tn = strlen(*text);",
        "\tend_of(text);\n\tn = strlen(*text);",
        "\tn = strnlen(*text, 8);",
        "\t*text = skip(by);\n\tn = strlen(*text);",
    ] {
        assert_eq!(of(ended, "", call), NONE, "{ended}");
    }
}
