//! Tests that no number fails, bounds of a part of a number, positions that nobody moves on, copies
//! that end in the middle, and what is fetched, locked or checked on one of several ways.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "#define ROOM 512\n#define LLONG_MAX 0x7fffffffffffffffLL\n#define INT_MOST ((int)(~0U >> 1))\n\
     #define FEW (INT_MOST / sizeof(struct req))\n\
     enum { OFF, ON, BOTH };\n\
     struct req { u32 id; u16 type; u16 len; u32 rest[4]; };\n\
     struct small { u32 id; u16 type; };\n\
     struct dev { char *buf; size_t size; u16 room; struct mutex lock; struct req kept; u32 used; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A write() of these statements.
fn write(statements: &str) -> Vec<String> {
    rules(&format!(
        "static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tchar small[16];\n\tloff_t pos = *at;\n\tint ret = 0;\n\n\
         {statements}\n\treturn count;\n}}\n\
         static const struct file_operations ops = {{ .write = f }};\n"
    ))
}

/// A read() of these statements.
fn read(statements: &str) -> Vec<String> {
    rules(&format!(
        "static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tloff_t pos = *at;\n\tint ret = 0;\n\n\
         {statements}\n}}\n\
         static const struct file_operations ops = {{ .read = f }};\n"
    ))
}

#[test]
fn a_test_that_no_number_fails_refuses_none() {
    let asked = |test: &str| {
        rules(&format!(
            "static long f(struct dev *d, struct req __user *u)\n{{\n\tstruct req r;\n\n\
             \tif (copy_from_user(&r, u, sizeof(r)))\n\t\treturn -EFAULT;\n\tif ({test})\n\t\treturn -ERANGE;\n\
             \treturn use(d, &r);\n}}\n"
        ))
    };
    for wrong in [
        "r.type < ON && r.type > BOTH",
        "r.type < 1 && d->used && r.type >= 1",
        "r.id > 7 && r.id < 8",
        "(r.type <= BOTH) || (r.type >= ON)",
        "r.id < ROOM || d->used || r.id > sizeof(struct req)",
    ] {
        assert_eq!(asked(wrong), ["impossible-test"], "{wrong}");
    }
    for right in [
        "r.type < ON || r.type > BOTH",
        "r.id > 7 && r.id < 9",
        "r.id <= 7 || r.id >= 9",
        "r.id < ON && r.type > BOTH",
        "r.id < ROOM && r.id >= d->used",
        // The largest number of a type is none of another's.
        "r.id < 1 || r.id > INT_MOST",
        "r.id < 1 || r.id > FEW",
    ] {
        assert_eq!(asked(right), NONE, "{right}");
    }
}

#[test]
fn a_bound_of_a_part_of_a_number_is_none() {
    let asked = |test: &str| {
        write(&format!(
            "\tif ({test})\n\t\tcount = d->room;\n\tif (copy_from_user(d->buf, u, count))\n\t\treturn -EFAULT;"
        ))
    };
    for wrong in ["d->room < (u16)count", "(u16)count > d->room"] {
        assert_eq!(asked(wrong), ["signed-bound"], "{wrong}");
    }
    for right in ["d->room < count", "count > d->room", "(u64)count > d->room"] {
        assert_eq!(asked(right), NONE, "{right}");
    }
    // What is asked on another way is no bound on this one.
    let apart = write(
        "\tif (d->used) {\n\t\tif (count > sizeof(small))\n\t\t\tcount = sizeof(small);\n\t\tif (copy_from_user(small, u, count))\n\t\t\treturn -EFAULT;\n\t\treturn use(d, small, count);\n\t}\n\
         \tif (d->room < (u16)count)\n\t\tcount = d->room;\n\tif (copy_from_user(d->buf, u, count))\n\t\treturn -EFAULT;",
    );
    assert_eq!(apart, ["signed-bound"]);
}

#[test]
fn what_is_left_behind_a_position_may_be_less_than_nothing() {
    let clamp = |before: &str| {
        write(&format!(
            "{before}\n\tif (count > ROOM - pos)\n\t\tcount = ROOM - pos;\n\
             \tif (get_user(d->used, u) || store(d, pos, count))\n\t\treturn -EFAULT;\n\t*at = pos + count;"
        ))
    };
    for wrong in ["", "\tif (pos < 0)\n\t\treturn -EINVAL;"] {
        assert_eq!(clamp(wrong), ["wrapping-size"], "{wrong}");
    }
    // There is no more than the type has.
    let least = "\tif (LLONG_MAX - pos < count)\n\t\treturn -EINVAL;\n\tif (get_user(d->used, u))\n\t\treturn -EFAULT;\n\t*at = pos + count;";
    assert_eq!(write(least), NONE);
    for right in [
        "\tif (pos < 0 || pos >= ROOM)\n\t\treturn -EINVAL;",
        "\tif (pos > ROOM)\n\t\tpos = ROOM;",
        "\tif (!is_inside(d, pos))\n\t\treturn -EINVAL;",
    ] {
        assert_eq!(clamp(right), NONE, "{right}");
    }
}

#[test]
fn a_read_moves_the_program_on() {
    let of = |from: &str, then: &str| {
        read(&format!(
            "\tif (pos < 0 || pos >= d->size)\n\t\treturn 0;\n\tcount = min_t(size_t, count, d->size - pos);\n\
             \tif (copy_to_user(u, {from}, count))\n\t\treturn -EFAULT;\n{then}\n\treturn count;"
        ))
    };
    for from in ["d->buf + *at", "d->buf + pos", "&d->buf[pos]"] {
        assert_eq!(of(from, ""), ["kept-position"], "{from}");
        for then in [
            "\t*at += count;",
            "\t*at = pos + count;",
            "\tmove_on(at, count);",
        ] {
            assert_eq!(of(from, then), NONE, "{from} {then}");
        }
    }
    // What does not begin there may have been asked whether it was read before.
    assert_eq!(of("d->buf", ""), NONE);
    // Whoever calls another structure's read() moves the program on.
    let other = "static ssize_t f(struct dev *d, char __user *u, size_t count, loff_t *at)\n{\n\
         \tif (*at >= d->size)\n\t\treturn 0;\n\tcount = min_t(size_t, count, d->size - *at);\n\
         \tif (copy_to_user(u, d->buf + *at, count))\n\t\treturn -EFAULT;\n\treturn count;\n}\n\
         static const struct region_ops ops = { .read = f };\n";
    assert_eq!(rules(other), NONE);
    let named = other
        .replace("struct dev *d,", "struct dev *file,")
        .replace("d->", "file->");
    assert_eq!(rules(&named), NONE);
}

#[test]
fn a_copy_that_ended_in_the_middle_is_no_whole_one() {
    let asked = |test: &str| {
        write(&format!(
            "\tcount = min(count, sizeof(small));\n\tif ({test})\n\t\treturn -EFAULT;\n\tsend(d, small, count);"
        ))
    };
    let copy = "copy_from_user(small, u, count)";
    assert_eq!(asked(&format!("{copy} == count")), ["misread-result"]);
    assert_eq!(asked(&format!("({copy}) >= count")), ["misread-result"]);
    for right in [
        copy.to_owned(),
        format!("{copy} > 0"),
        "copy_from_user(small, u, 1) == 1".to_owned(),
    ] {
        assert_eq!(asked(&right), NONE, "{right}");
    }
}

#[test]
fn a_program_is_not_told_of_no_bytes_for_a_fault() {
    let taken = |then: &str| {
        read(&format!(
            "\tret = min_t(size_t, count, ROOM);\n\tret -= copy_to_user(u, d->buf, ret);\n{then}\n\treturn ret;"
        ))
    };
    assert_eq!(taken(""), ["misread-result"]);
    assert_eq!(taken("\tif (!ret)\n\t\treturn -EFAULT;"), NONE);
}

#[test]
fn one_arm_takes_what_was_left_and_the_other_an_error() {
    let of = |one: &str, asked: &str| {
        write(&format!(
            "\ts32 value;\n\n\tif (count == sizeof(value))\n\t\t{one}\n\telse\n\
             \t\tret = kstrtos32_from_user(u, count, 16, &value);\n\tif ({asked})\n\t\treturn ret;\n\tset(d, value);"
        ))
    };
    let copy = "ret = copy_from_user(&value, u, sizeof(value));";
    assert_eq!(of(copy, "ret < 0"), ["misread-result"]);
    for right in [
        "ret = copy_from_user(&value, u, sizeof(value)) ? -EFAULT : 0;",
        "{\n\t\t\tret = copy_from_user(&value, u, sizeof(value));\n\t\t\tif (ret)\n\t\t\t\treturn -EFAULT;\n\t\t}",
    ] {
        assert_eq!(of(right, "ret < 0"), NONE, "{right}");
    }
}

#[test]
fn what_a_structure_is_copied_over_was_judged_before() {
    let of = |front: &str, rest: &str| {
        rules(&format!(
            "static long f(struct dev *d, u32 __user *u)\n{{\n\tstruct req r = {{ 0 }};\n\tu32 size;\n\n\
             \tif ({front})\n\t\treturn -EFAULT;\n\tif (r.id < 1 || r.id > 64)\n\t\treturn -EINVAL;\n\
             \tif ({rest})\n\t\treturn -EFAULT;\n\treturn send(d, &r);\n}}\n"
        ))
    };
    let whole = "copy_struct_from_user(&r, sizeof(r), u, sizeof(struct req))";
    assert_eq!(of("get_user(r.id, u)", whole), ["double-fetch"]);
    // Another element than the one that was judged is picked then; a test is one of the second.
    let picked = |asked: &str| {
        let asked = format!("{whole})\n\t\treturn -EFAULT;\n\tif ({asked}");
        of("get_user(r.id, u)", &asked)
    };
    assert_eq!(picked("sizes[r.id] > ROOM"), ["double-fetch"]);
    assert_eq!(picked("r.id > 64"), NONE);
    // How large the program's structure is it says by its first member: nothing else is read of it.
    let sized = "static long f(struct dev *d, struct req __user *u)\n{\n\tstruct req r;\n\tu32 size;\n\tint err;\n\n\
         \tif (get_user(size, &u->id))\n\t\treturn -EFAULT;\n\tif (size < sizeof(struct small) || size > PAGE_SIZE)\n\t\treturn -EINVAL;\n\
         \terr = copy_struct_from_user(&r, sizeof(r), u, size);\n\tif (err)\n\t\treturn err;\n\treturn send(d, &r);\n}\n";
    assert_eq!(rules(sized), NONE);
}

#[test]
fn what_a_call_has_judged_is_not_fetched_again_to_where_it_stays() {
    let of = |second: &str| {
        rules(&format!(
            "static int judge(struct dev *d, struct req *r)\n{{\n\tif (r->type > BOTH)\n\t\treturn -ERANGE;\n\treturn 0;\n}}\n\
             int f(struct dev *d, struct req __user *u)\n{{\n\tstruct req r;\n\tint ret;\n\n\
             \tif (copy_from_user(&r, u, sizeof(r)))\n\t\treturn -EFAULT;\n\tret = judge(d, &r);\n\tif (ret)\n\t\treturn ret;\n\
             {second}\n\treturn 0;\n}}\n"
        ))
    };
    let again = "\tif (copy_from_user(&d->kept, u, sizeof(r)))\n\t\treturn -EFAULT;";
    assert_eq!(of(again), ["double-fetch"]);
    assert_eq!(of("\td->kept = r;"), NONE);
    let judged = format!("{again}\n\tif (judge(d, &d->kept))\n\t\treturn -ERANGE;");
    assert_eq!(of(&judged), NONE);
}

#[test]
fn a_lock_is_kept_whoever_else_comes_to_the_same_end() {
    let of = |fault: &str, done: &str| {
        read(&format!(
            "\twhile (count) {{\n\t\tif (mutex_lock_interruptible(&d->lock)) {{\n\t\t\tret = -ERESTARTSYS;\n\t\t\tgoto out;\n\t\t}}\n\
             \t\tif (copy_to_user(u, d->buf, 1)) {{\n\t\t\tret = -EFAULT;\n{fault}\t\t\tgoto out;\n\t\t}}\n\
             \t\tcount--;\n\t\tu++;\n\t\tmutex_unlock(&d->lock);\n{done}\t}}\nout:\n\treturn ret;"
        ))
    };
    assert_eq!(of("", ""), ["kept-lock"]);
    assert_eq!(of("\t\t\tmutex_unlock(&d->lock);\n", ""), NONE);
    // What is asked behind the end of it is no way on which it is held.
    let late = read(
        "\twhile (count) {\n\t\tmutex_lock(&d->lock);\n\t\tret = copy_to_user(u, d->buf, 1);\n\
         \t\tmutex_unlock(&d->lock);\n\t\tif (ret)\n\t\t\tgoto out;\n\t\tcount--;\n\t\tu++;\n\t}\nout:\n\treturn ret ? -EFAULT : 0;",
    );
    assert_eq!(late, NONE);
}

#[test]
fn less_refused_in_one_arm_is_no_bound_in_the_other() {
    let of = |last: &str| {
        rules(&format!(
            "static int g(struct dev *d, sockptr_t u, int len)\n{{\n\tstruct small s;\n\tstruct req r;\n\tint ret = 0;\n\n\
             \tif (len < sizeof(struct small)) {{\n\t\tret = -EINVAL;\n\t\tgoto out;\n\t}} else if (len < sizeof(struct req)) {{\n\
             \t\tif (copy_from_sockptr(&s, u, sizeof(struct small))) {{\n\t\t\tret = -EFAULT;\n\t\t\tgoto out;\n\t\t}}\n\
             \t\tr.id = s.id;\n\t}} else {{\n\t\tif (copy_from_sockptr(&r, u, {last})) {{\n\t\t\tret = -EFAULT;\n\t\t\tgoto out;\n\t\t}}\n\t}}\n\
             \tuse(d, r.id);\nout:\n\treturn ret;\n}}\n\
             static int f(struct socket *s, int level, int name, sockptr_t u, unsigned int len)\n{{\n\treturn g(s->sk, u, len);\n}}\n\
             static const struct proto_ops ops = {{ .setsockopt = f }};\n"
        ))
    };
    assert_eq!(of("len"), ["beyond-variable"]);
    assert_eq!(of("sizeof(struct req)"), NONE);
}

#[test]
fn whether_a_string_is_empty_says_nothing_of_its_end() {
    let of = |then: &str| {
        rules(&format!(
            "int f(struct dev *d, const char __user *u)\n{{\n\tchar *name;\n\tlong len;\n\n\tlen = strnlen_user(u, 128);\n\
             \tif (!len)\n\t\treturn -EFAULT;\n\tif (len > 128)\n\t\treturn -E2BIG;\n\tname = memdup_user(u, len);\n\
             \tif (IS_ERR(name))\n\t\treturn PTR_ERR(name);\n{then}\n\treturn set_name(d, name);\n}}\n"
        ))
    };
    for wrong in [
        "",
        "\tif (name[0] == 'x')\n\t\td->used = 1;",
        "\tif (!*name)\n\t\td->used = 0;",
    ] {
        assert_eq!(of(wrong), ["unterminated-string"], "{wrong}");
    }
    for right in [
        "\tname[len - 1] = 0;",
        "\tif (name[len - 1])\n\t\treturn -EINVAL;",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}
