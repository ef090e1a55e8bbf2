//! Sizes that may be less than 0, that a caller's object does not have, or that another command's
//! argument has; members that lie elsewhere in what is copied.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::{changed, rules};

const NONE: [&str; 0] = [];

#[test]
fn a_signed_size_may_be_less_than_nothing() {
    let right = "SYSCALL_DEFINE2(get_label, char __user *, to, int, room)\n{\n\tchar own[24];\n\tint n;\n\n\tif (room < 0 || room > 24)\n\t\troom = 24;\n\tn = length_within(label(), room);\n\tn = min(n + 1, room);\n\tmemcpy(own, label(), n);\n\tif (copy_to_user(to, own, n))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
    let found = ["beyond-variable"];
    let wrong = right.replace("room < 0 || ", "");
    assert_eq!(rules(right), NONE);
    assert_eq!(rules(&wrong), found);
    // Without what clamps it, and fetched.
    let refused = wrong.replace("\t\troom = 24;\n", "\t\treturn -EINVAL;\n");
    assert_eq!(rules(&refused), found);
    let fetched = refused
        .replace("int, room)", "int __user *, size)")
        .replace(
            "\tint n;\n\n",
            "\tint n, room;\n\n\tif (get_user(room, size))\n\t\treturn -EFAULT;\n",
        );
    assert_eq!(rules(&fetched), found);
    for right in [
        // Of numbers that are never less than 0.
        wrong.replace("int, room", "unsigned int, room"),
        // The size of an object makes it one.
        refused.replace("room > 24", "room > sizeof(own)"),
        wrong.replace(
            "n = min(n + 1, room)",
            "n = min_t(unsigned int, n + 1, room)",
        ),
        // Whoever takes more than one may know.
        refused.replace("\tn = min", "\tif (room < 1)\n\t\treturn 0;\n\tn = min"),
        // Another variable's.
        wrong.replace("n = min(n + 1, room)", "n = min(n + 1, 24)"),
    ] {
        assert_eq!(rules(&right), NONE, "{right}");
    }
}

#[test]
fn an_index_is_the_user_s_wherever_it_is_fetched_from() {
    let by = |fetch: &str| {
        format!(
            "int put(u32 __user *p)\n{{\n\treturn put_user(0, p);\n}}\nstruct events {{ int count; struct event *all[]; }};\nint f(struct dev *d, struct iov_iter *from)\n{{\n\tstruct events *events = d->events;\n\tint at;\n\n\tif ({fetch})\n\t\treturn -EFAULT;\n\tif (at < 0)\n\t\treturn -EINVAL;\n\tif (at >= events->count)\n\t\treturn -ENOENT;\n\treturn run(events->all[at]);\n}}\n"
        )
    };
    for fetch in [
        "copy_from_iter(&at, sizeof(at), from) != sizeof(at)",
        "!copy_from_iter_full(&at, sizeof(at), from)",
        "copy_from_sockptr(&at, d->optval, sizeof(at))",
    ] {
        let negative = ("\tif (at < 0)\n\t\treturn -EINVAL;\n", "");
        changed("beyond-array", &by(fetch), &[negative]);
    }
    // A system call is given what the program says.
    let call = "SYSCALL_DEFINE1(pick, int, at)\n{\n\tif (at < 0)\n\t\treturn -EINVAL;\n\tif (at >= 16)\n\t\treturn -ENOENT;\n\treturn run(table[at]) + put_user(0, here());\n}\n";
    changed(
        "beyond-array",
        call,
        &[("\tif (at < 0)\n\t\treturn -EINVAL;\n", "")],
    );
}

#[test]
fn a_bound_is_held_against_what_the_caller_has() {
    let right = "struct reply { u32 a, b, c, d; };\nstruct header { u32 size; u64 at; };\nstatic int answer(struct reply *own, struct header __user *p)\n{\n\tstruct header h;\n\n\tif (copy_from_user(&h, p, sizeof(h)))\n\t\treturn -EFAULT;\n\tif (h.size > PAGE_SIZE)\n\t\treturn -E2BIG;\n\tif (h.size > sizeof(struct reply))\n\t\th.size = sizeof(struct reply);\n\tif (copy_from_user(own, u64_to_user_ptr(h.at), h.size))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
    let clamp = "\tif (h.size > sizeof(struct reply))\n\t\th.size = sizeof(struct reply);\n";
    changed("beyond-variable", right, &[(clamp, "")]);
    let wrong = right.replace(clamp, "");
    for right in [
        // The end is open.
        wrong.replace("c, d; }", "c; u32 d[]; }"),
        wrong.replace("h.size > PAGE_SIZE", "h.size > 16"),
        // Of another size nobody knows.
        wrong.replace("h.size > PAGE_SIZE", "h.size > MOST"),
    ] {
        assert_eq!(rules(&right), NONE, "{right}");
    }
}

const COMMANDS: &str = "#define _IOR(t, n, of) ((2U << 30) | ((t) << 8) | (n) | (size_of(of) << 16))\n#define size_of(t) ((sizeof(t) == sizeof(t[1])) ? sizeof(t) : nobody_has_this)\n#define OLD _IOR(7, 1, struct old)\n#define NEW _IOR(7, 2, struct new)\nstruct old { u32 a, b, c; };\nstruct new { u32 a, b, c, d; };\n";

#[test]
fn a_case_of_two_commands_copies_what_each_has() {
    let body = "static long f(struct file *file, unsigned int cmd, unsigned long arg)\n{\n\tvoid __user *to = (void __user *)arg;\n\tstruct new own = {};\n\n\tswitch (cmd) {\n\tcase OLD:\n\tcase NEW: {\n\t\tget(file, &own);\n\t\tif (copy_to_user(to, &own, _IOC_SIZE(cmd)))\n\t\t\treturn -EFAULT;\n\t\treturn 0;\n\t}\n\t}\n\treturn -ENOTTY;\n}\n";
    let right = format!("{COMMANDS}{body}");
    changed(
        "beyond-argument",
        &right,
        &[
            ("_IOC_SIZE(cmd)", "sizeof(own)"),
            ("_IOC_SIZE(cmd)", "sizeof(struct new)"),
        ],
    );
    let wrong = right.replace("_IOC_SIZE(cmd)", "sizeof(own)");
    // What is said of the longer one says nothing of the other.
    let other = wrong.replace(
        "\t\tget(",
        "\t\tif (cmd == NEW && !own.a)\n\t\t\treturn -EPERM;\n\t\tget(",
    );
    assert_eq!(rules(&other), ["beyond-argument"]);
    for right in [
        wrong.replace(
            "\t\tget(",
            "\t\tif (cmd == OLD)\n\t\t\treturn get_old(file, to);\n\t\tget(",
        ),
        wrong.replace(
            "\t\tget(",
            "\t\tif (is_old(cmd))\n\t\t\treturn get_old(file, to);\n\t\tget(",
        ),
        // As much as the shorter one has.
        wrong.replace("sizeof(own)", "sizeof(struct old)"),
        // Behind the front.
        wrong.replace("copy_to_user(to,", "copy_to_user(to + 8,"),
        wrong.replace("\tcase OLD:\n", ""),
        wrong.replace(
            "\tcase OLD:\n",
            "\tcase OLD:\n\t\treturn get_old(file, to);\n",
        ),
        // Of an old command nobody knows.
        wrong.replace("#define OLD _IOR(7, 1, struct old)", "#define OLD 0x0701"),
    ] {
        assert_eq!(rules(&right), NONE, "{right}");
    }
}

const MOVES: &str =
    "struct move { int fd; u64 from; u64 to; };\nstruct old_move { int fd; u32 from; u32 to; };\n";

#[test]
fn members_are_copied_from_where_they_lie() {
    let body = "int f(struct old_move __user *p)\n{\n\tstruct move m = {};\n\tint err;\n\n\terr = get_user(m.fd, &p->fd);\n\tif (!err)\n\t\terr = copy_from_user(&m, p, sizeof(*p)) ? -EFAULT : 0;\n\treturn err ?: move(&m);\n}\n";
    let found = ["other-layout"];
    let wrong = format!("{MOVES}{body}");
    assert_eq!(rules(&wrong), found);
    let by_cast = wrong
        .replace("struct old_move __user *p)", "unsigned long p)")
        .replace("get_user(m.fd, &p->fd)", "0")
        .replace(
            "&m, p, sizeof(*p)",
            "&m, (struct old_move __user *)p, sizeof(struct old_move)",
        );
    assert_eq!(rules(&by_cast), found, "{by_cast}");
    let back = by_cast.replace(
        "copy_from_user(&m, (struct old_move __user *)p",
        "copy_to_user((struct old_move __user *)p, &m",
    );
    assert_eq!(rules(&back), found, "{back}");
    for right in [
        // The kernel's own structure says what is meant.
        wrong.replace("sizeof(*p)", "sizeof(m)"),
        // What lies apart is set by itself.
        wrong.replace("\treturn err ?:", "\tm.from = m.to = 0;\n\treturn err ?:"),
        wrong.replace("get_user(m.fd, &p->fd)", "get_user(m.from, &p->from)"),
        wrong.replace(
            "\treturn err ?:",
            "\tm.fd = ((struct old_move *)&m)->fd;\n\treturn err ?:",
        ),
        // All lies in the same places.
        wrong.replace("u64 from; u64 to;", "u32 from; u32 to; u64 more;"),
        wrong.replace("struct old_move", "struct move"),
        wrong.replace("u32 from; u32 to;", "u64 from; u64 to;"),
    ] {
        assert_eq!(rules(&right), NONE, "{right}");
    }
}
