//! Tests of what is fetched twice: a number at the front of what is copied, the last byte of it, the
//! same address by two pointers, and a variable that takes something else later.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];
const FOUND: [&str; 1] = ["double-fetch"];

const TYPES: &str = "#define MOST 4096\n#define POOLS 8\n\
     struct cmd { u32 len; u32 op; u8 data[16]; };\n\
     struct pool { int nr; int size; };\n\
     struct odd { struct { u32 a; u32 b; } two; u32 n; };\n\
     struct dev { u8 *buf; u32 used; u32 pools[POOLS]; char *line; struct cmd kept; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// An ioctl of these statements.
fn asked(statements: &str) -> Vec<String> {
    rules(&format!(
        "static long f(struct dev *d, unsigned int cmd, void __user *arg)\n{{\n\tstruct cmd *c = (void *)d->buf;\n\
         \tstruct cmd own;\n\tu32 len;\n\n{statements}\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn a_length_at_the_front_comes_in_again() {
    let bound = "\tif (len > MOST)\n\t\treturn -EINVAL;\n";
    let counted = "\tif (copy_from_user(&len, arg, sizeof(len)))\n\t\treturn -EFAULT;\n";
    let one = "\tif (get_user(len, (u32 __user *)arg))\n\t\treturn -EFAULT;\n";
    let all = "\tif (copy_from_user(c, arg, sizeof(*c)))\n\t\treturn -EFAULT;\n";
    let here = "\tif (copy_from_user(&own, arg, sizeof(own)))\n\t\treturn -EFAULT;\n";
    for first in [counted, one] {
        for (copy, used) in [
            (all, "\tmemset(d->line, 0, c->len);"),
            (all, "\td->used = c->len;\n\tstart(d, c->op);"),
            (here, "\td->used = own.len;"),
        ] {
            let wrong = format!("{first}{bound}{copy}{used}");
            assert_eq!(asked(&wrong), FOUND, "{wrong}");
        }
        for (copy, used) in [
            (all, "\tmemset(d->line, 0, len);"),
            (all, "\tc->len = len;\n\tmemset(d->line, 0, c->len);"),
            (
                all,
                "\tif (c->len != len)\n\t\treturn -EINVAL;\n\tmemset(d->line, 0, c->len);",
            ),
            (here, "\td->used = own.op;"),
        ] {
            let right = format!("{first}{bound}{copy}{used}");
            assert_eq!(asked(&right), NONE, "{right}");
        }
        let right = format!(
            "{first}\tswitch (cmd) {{\n\tcase 1:\n\t{bound}\t\td->used = len;\n\t\tbreak;\n\tcase 2:\n{all}\
             \t\td->used = c->len;\n\t\tbreak;\n\t}}"
        );
        assert_eq!(asked(&right), NONE, "{right}");
        let right = format!("{first}{all}\tmemset(d->line, 0, min_t(u32, c->len, 8));");
        assert_eq!(asked(&right), NONE, "{right}");
    }
}

/// A string of the user's of so many bytes.
fn line(statements: &str) -> Vec<String> {
    rules(&format!(
        "static long f(struct dev *d, const char __user *p, unsigned long n)\n{{\n\tchar last;\n\tchar *line;\n\n\
         {statements}\n\td->line = line;\n\td->used = n;\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn the_last_byte_is_asked_of_the_copy() {
    let asked = |address: &str| {
        format!(
            "\tif (get_user(last, {address}))\n\t\treturn -EFAULT;\n\tif (last != '\\0')\n\t\treturn -EINVAL;\n"
        )
    };
    let copy = "\tline = memdup_user(p, n);\n\tif (IS_ERR(line))\n\t\treturn PTR_ERR(line);";
    for address in ["p + n - 1", "&p[n - 1]", "p + (n - 1)"] {
        let wrong = format!("{}{copy}", asked(address));
        assert_eq!(line(&wrong), FOUND, "{wrong}");
        for settled in [
            "\n\tif (line[n - 1] != '\\0') {\n\t\tkfree(line);\n\t\treturn -EINVAL;\n\t}",
            "\n\tline[n - 1] = '\\0';",
        ] {
            let right = format!("{}{copy}{settled}", asked(address));
            assert_eq!(line(&right), NONE, "{right}");
        }
    }
    let fewer = "\tline = memdup_user(p, n - 1);\n\tif (IS_ERR(line))\n\t\treturn PTR_ERR(line);";
    assert_eq!(line(&format!("{}{fewer}", asked("p + n - 1"))), NONE);
}

#[test]
fn two_pointers_lead_to_the_same_number() {
    let fetched = |one: &str, other: &str, asked: &str| {
        rules(&format!(
            "static long f(struct dev *d, void __user *arg)\n{{\n\tstruct pool __user *req = arg;\n\
             \tint __user *num = arg;\n\tint nr, other;\n\n\tif (get_user(nr, {one}))\n\t\treturn -EFAULT;\n\
             \tif (nr < 0 || nr >= POOLS)\n\t\treturn -EINVAL;\n\tif (get_user({other}))\n\t\treturn -EFAULT;\n\
             {asked}\td->used = nr;\n\treturn d->pools[nr];\n}}\n"
        ))
    };
    assert_eq!(fetched("num", "nr, &req->nr", ""), FOUND);
    assert_eq!(fetched("&req->nr", "nr, num", ""), FOUND);
    let again = "\tif (nr < 0 || nr >= POOLS)\n\t\treturn -EINVAL;\n";
    assert_eq!(fetched("num", "nr, &req->nr", again), NONE);
    assert_eq!(fetched("num", "other, &req->size", ""), NONE);
}

#[test]
fn what_the_variable_takes_later_is_another_number() {
    let fetched = |behind: &str| {
        rules(&format!(
            "static long f(struct dev *d, struct cmd __user *u, void __user *from)\n{{\n\tstruct cmd c;\n\
             \tu32 size;\n\n\tif (copy_from_user(&c, u, sizeof(c)))\n\t\treturn -EFAULT;\n\tsize = c.len;\n\
             \td->buf = kvmalloc(size, GFP_KERNEL);\n\tif (!d->buf)\n\t\treturn -ENOMEM;\n\
             \tif (get_user(size, &u->len))\n\t\treturn -EFAULT;\n{behind}\treturn 0;\n}}\n"
        ))
    };
    let copy = "\tif (copy_from_user(d->buf, from, size))\n\t\treturn -EFAULT;\n";
    let later = "\tsize = sizeof(struct pool);\n\tif (d->used > size)\n\t\treturn -EINVAL;\n";
    assert_eq!(fetched(&format!("{copy}{later}")), FOUND);
    let same = "\tif (size > c.len)\n\t\treturn -EINVAL;\n";
    assert_eq!(fetched(&format!("{same}{copy}")), NONE);
}

#[test]
fn what_is_held_down_at_once_needs_no_further_question() {
    let text = |behind: &str| {
        format!(
            "struct info {{ u32 a[8]; }};\nstatic int get(struct dev *d, char __user *to, int __user *lenp)\n{{\n\tstruct info info;\n\tint len;\n\n\
             \tif (get_user(len, lenp))\n\t\treturn -EFAULT;\n\tif (len < 0 || len > 64)\n\t\treturn -EINVAL;\n\
             \tmemset(&info, 0, sizeof(info));\n\tif (get_user(len, lenp))\n\t\treturn -EFAULT;\n{behind}\tif (copy_to_user(to, &info, len))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        )
    };
    let named = |text: &str| {
        let found = mistakes::found(None, text).into_iter();
        found
            .map(|(rule, _)| rule)
            .any(|rule| rule == "double-fetch")
    };
    assert!(named(&text("")));
    assert!(!named(&text(
        "\tlen = min_t(unsigned int, len, sizeof(info));\n"
    )));
    let other = |one: &str| text(&format!("\tif (len != {one})\n\t\treturn -EINVAL;\n"));
    assert!(!named(&other("sizeof(info)")));
    assert!(named(&other("0")));
    assert!(named(&other("d->length")));
    assert!(named(&text(
        "\tshow(d, len);\n\tlen = min_t(unsigned int, len, sizeof(info));\n"
    )));
}
