//! Tests of accesses that check nothing, of what access_ok() has not seen.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];
const FOUND: [&str; 1] = ["other-object-checked"];

const TYPES: &str = "struct link { unsigned long fp; unsigned long ra; };\n\
     struct info { u32 code; u32 pad[3]; };\n\
     struct context { u64 regs[8]; u64 mask; };\n\
     struct frame { struct info info; struct context uc; };\n\
     struct dev { u32 used; u64 mark; struct context saved; };\n";

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
         \tstruct dev *d = file->private_data;\n\tsize_t i;\n\tchar c;\n\n{statements}\n\treturn count;\n}}\n\
         static const struct file_operations ops = {{ .write = f }};\n"
    ))
}

#[test]
fn a_loop_goes_through_no_more_than_was_checked() {
    let each = "\tfor (i = 0; i < count; i++) {\n\t\tif (__get_user(c, u + i))\n\t\t\treturn -EFAULT;\n\
                \t\tput(d, c);\n\t}";
    let until = "\tfor (i = 0; i != count; i++) {\n\t\tif (__get_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\
                 \t\tput(d, c);\n\t}";
    for round in [each, until] {
        for size in ["sizeof(count)", "1", "sizeof(c)", "sizeof(*u)"] {
            let wrong = format!("\tif (!access_ok(u, {size}))\n\t\treturn -EFAULT;\n{round}");
            assert_eq!(write(&wrong), FOUND, "{wrong}");
        }
        for right in [
            format!("\tif (!access_ok(u, count))\n\t\treturn -EFAULT;\n{round}"),
            format!(
                "\tif (count > 16)\n\t\tcount = 16;\n\tif (!access_ok(u, 16))\n\t\treturn -EFAULT;\n{round}"
            ),
        ] {
            assert_eq!(write(&right), NONE, "{right}");
        }
    }
    let right = "\tif (!access_ok(u, 8))\n\t\treturn -EFAULT;\n\tfor (i = 0; i < 8; i++) {\n\
                 \t\tif (__get_user(c, u + i))\n\t\t\treturn -EFAULT;\n\t\tput(d, c);\n\t}";
    assert_eq!(write(right), NONE);
}

#[test]
fn what_is_accessed_begins_no_earlier_than_what_was_checked() {
    let walk = |declared: &str, checked: &str, read: &str| {
        rules(&format!(
            "static unsigned long f(struct dev *d, unsigned long fp)\n{{\n\tstruct link l;\n\t{declared}\n\n\
             \tif (!access_ok({checked}, sizeof(l)))\n\t\treturn 0;\n\
             \tif (__copy_from_user_inatomic(&l, {read}, sizeof(l)))\n\t\treturn 0;\n\treturn l.fp;\n}}\n"
        ))
    };
    let by_bytes = "void __user *p = (void __user *)(fp - sizeof(struct link));";
    let by_one = "struct link __user *p = (struct link __user *)fp - 1;";
    for declared in [by_bytes, by_one] {
        assert_eq!(
            walk(declared, "(void __user *)fp", "p"),
            FOUND,
            "{declared}"
        );
        assert_eq!(walk(declared, "p", "p"), NONE, "{declared}");
    }
    let whole = "struct link __user *p = (struct link __user *)fp;";
    assert_eq!(walk(whole, "(void __user *)fp", "p"), NONE);
    assert_eq!(walk(whole, "p", "p - 1"), FOUND);
}

#[test]
fn as_many_bytes_as_a_program_says_may_be_too_few() {
    let get = |asked: &str, checked: &str| {
        rules(&format!(
            "static int f(struct dev *d, int name, char __user *to, int __user *optlen)\n{{\n\tunsigned int len;\n\n\
             \tif (get_user(len, optlen))\n\t\treturn -EFAULT;\n{asked}\tif (!access_ok(to, {checked}))\n\
             \t\treturn -EFAULT;\n\
             \treturn __copy_to_user(to, &d->saved, sizeof(d->saved)) ? -EFAULT : 0;\n}}\n"
        ))
    };
    for wrong in [
        "",
        "\tif (name == 1 && len != sizeof(d->saved))\n\t\treturn -EINVAL;\n",
    ] {
        assert_eq!(get(wrong, "len"), FOUND, "{wrong}");
    }
    for (right, checked) in [
        (
            "\tif (len < sizeof(d->saved))\n\t\treturn -EINVAL;\n",
            "len",
        ),
        (
            "\tif (len != sizeof(d->saved))\n\t\treturn -EINVAL;\n",
            "len",
        ),
        (
            "\tif (d->used || len < sizeof(d->saved))\n\t\treturn -EINVAL;\n",
            "len",
        ),
        ("\tif (fits(d, len))\n\t\treturn -EINVAL;\n", "len"),
        ("", "sizeof(d->saved)"),
    ] {
        assert_eq!(get(right, checked), NONE, "{right} {checked}");
    }
    let moved = "\tsize_t left = count;\n\n\tif (!access_ok(u, count))\n\t\treturn -EFAULT;\n\
                 \tfor (; left; left--, u++) {\n\t\tif (__get_user(c, u))\n\t\t\treturn -EFAULT;\n\
                 \t\tput(d, c);\n\t}";
    assert_eq!(write(moved), NONE);
}

#[test]
fn a_function_is_handed_what_was_checked() {
    let frame = |restore: &str, checked: &str, given: &str| {
        rules(&format!(
            "static int restore(struct dev *d, struct context __user *uc)\n{{\n{restore}\
             \treturn __copy_from_user(&d->saved, uc, sizeof(d->saved)) ? -EFAULT : 0;\n}}\n\
             asmlinkage long sys_back(unsigned long sp)\n{{\n\
             \tstruct frame __user *frame = (struct frame __user *)sp;\n\tstruct dev *d = dev();\n\n\
             \tif (!access_ok({checked}))\n\t\treturn -EFAULT;\n\tif (restore(d, {given}))\n\
             \t\treturn -EFAULT;\n\treturn d->used;\n}}\n"
        ))
    };
    let info = "&frame->info, sizeof(frame->info)";
    assert_eq!(frame("", info, "&frame->uc"), FOUND);
    let ok = "\tif (!access_ok(uc, sizeof(*uc)))\n\t\treturn -EFAULT;\n";
    assert_eq!(frame(ok, info, "&frame->uc"), NONE);
    assert_eq!(frame("", "frame, sizeof(*frame)", "&frame->uc"), NONE);
    assert_eq!(
        frame("", "&frame->uc, sizeof(frame->uc)", "&frame->uc"),
        NONE
    );
}
