//! Tests of what a function is given a copy of, of arrays that a program reads by as many bytes as
//! it says, and of numbers of elements that are taken for bytes or wrap.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "#define MOST 64\n\
     struct entry { u32 id; u32 flags; u64 at; };\n\
     struct list { u32 n; u32 pad; u64 at; };\n\
     struct wide { u64 n; u16 few; u64 at; };\n\
     struct dev { char *buf; struct entry *all; u32 used; char name[32]; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A function that is given what another one was called with, by that header.
fn given(header: &str, statements: &str) -> Vec<String> {
    rules(&format!(
        "static long g(struct dev *d, struct list *l, void __user *to)\n{{\n{statements}\n\treturn 0;\n}}\n\
         static long f({header})\n{{\n\tswitch (cmd) {{\n\tcase 1:\n\t\treturn other(arg);\n\tcase 2:\n\
         \t\treturn g(dev_of(sd), arg, user_of(sd));\n\t}}\n\treturn -ENOTTY;\n}}\n"
    ))
}

#[test]
fn what_an_ioctl_is_given_a_copy_of_is_the_users() {
    let subdev = "struct v4l2_subdev *sd, unsigned int cmd, void *arg";
    let file = "struct file *sd, unsigned int cmd, void *arg";
    let signed = "\tint n = l->n;\n\n\tif (n > MOST)\n\t\tn = MOST;\n\tif (copy_to_user(to, d->buf, n))\n\
                  \t\treturn -EFAULT;";
    let bare = "\tchar own[16] = \"\";\n\n\tif (copy_to_user(to, own, l->n))\n\t\treturn -EFAULT;";
    for header in [subdev, file] {
        for wrong in [signed, bare] {
            assert_eq!(
                given(header, wrong),
                ["beyond-variable"],
                "{header} {wrong}"
            );
        }
    }
    let unsigned = "\tu32 n = l->n;\n\n\tif (n > MOST)\n\t\tn = MOST;\n\tif (copy_to_user(to, d->buf, n))\n\
                    \t\treturn -EFAULT;";
    let both = "\tint n = l->n;\n\n\tif (n < 0 || n > MOST)\n\t\tn = MOST;\n\tif (copy_to_user(to, d->buf, n))\n\
                \t\treturn -EFAULT;";
    for right in [unsigned, both] {
        assert_eq!(given(subdev, right), NONE, "{right}");
    }
    for other in [
        "struct bus *sd, unsigned int cmd, void *arg",
        "struct file *sd, struct list *cmd, void *arg",
    ] {
        assert_eq!(given(other, bare), NONE, "{other}");
    }
}

#[test]
fn what_asks_in_another_case_of_a_switch_says_nothing() {
    let asked = |first: &str| {
        rules(&format!(
            "static long f(struct dev *d, unsigned int cmd, struct list __user *u, void __user *to)\n{{\n\
             \tstruct list l;\n\n\tif (copy_from_user(&l, u, sizeof(l)))\n\t\treturn -EFAULT;\n{first}\
             \t\tif (copy_to_user(to, d->name, l.n))\n\t\t\treturn -EFAULT;\n\t\treturn 0;\n\t}}\n\
             \treturn -ENOTTY;\n}}\n"
        ))
    };
    let apart = "\tswitch (cmd) {\n\tcase 1:\n\t\treturn settle(d, &l);\n\tcase 2:\n";
    assert_eq!(asked(apart), ["beyond-variable"]);
    let through = "\tswitch (cmd) {\n\tcase 1:\n\t\tsettle(d, &l);\n\tcase 2:\n";
    assert_eq!(asked(through), NONE);
    let before = "\tif (settle(d, &l))\n\t\treturn -EINVAL;\n\tswitch (cmd) {\n\tcase 2:\n";
    assert_eq!(asked(before), NONE);
}

/// A read() of these statements.
fn read(statements: &str) -> Vec<String> {
    rules(&format!(
        "static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tchar small[24] = \"\";\n\tint len;\n\n\
         \tlen = scnprintf(small, sizeof(small), \"%u\\n\", d->used);\n{statements}\n}}\n\
         static const struct file_operations ops = {{ .read = f }};\n"
    ))
}

#[test]
fn what_a_program_is_shown_has_no_more_bytes_than_there_are() {
    for wrong in [
        "\treturn simple_read_from_buffer(u, len, at, small, count);",
        "\treturn simple_read_from_buffer(u, count, at, small, count);",
        "\treturn simple_read_from_buffer(u, sizeof(d->name), at, d->name, count);",
        "\treturn simple_read_from_buffer(u, count, at, small, 64);",
    ] {
        assert_eq!(read(wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "\treturn simple_read_from_buffer(u, count, at, small, len);",
        "\treturn simple_read_from_buffer(u, count, at, small, sizeof(small));",
        "\treturn simple_read_from_buffer(u, count, at, small, min_t(size_t, count, sizeof(small)));",
        "\tif (count > sizeof(small))\n\t\tcount = sizeof(small);\n\
         \treturn simple_read_from_buffer(u, count, at, small, count);",
    ] {
        assert_eq!(read(right), NONE, "{right}");
    }
}

/// A request of a list of the user's.
fn wanted(of: &str, statements: &str) -> Vec<String> {
    rules(&format!(
        "static long f(struct dev *d, struct {of} __user *u)\n{{\n\tstruct {of} l;\n\tstruct entry *all;\n\
         \tu32 i;\n\n\tif (copy_from_user(&l, u, sizeof(l)))\n\t\treturn -EFAULT;\n{statements}\n\
         \tuse(d, all, l.n);\n\tkvfree(all);\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn a_size_may_wrap_where_it_has_32_bits() {
    for (of, wrong) in [
        (
            "list",
            "\tall = kvzalloc(l.n * (sizeof(*all) + sizeof(u64)), GFP_KERNEL);",
        ),
        ("list", "\tall = kvmalloc(l.n * sizeof(*all), GFP_KERNEL);"),
        ("list", "\tall = vmalloc(sizeof(*all) * l.n);"),
        (
            "list",
            "\tsize_t size = l.n * sizeof(struct entry);\n\n\tall = kvzalloc(size, GFP_KERNEL);",
        ),
    ] {
        assert_eq!(wanted(of, wrong), ["wrapping-size"], "{wrong}");
    }
    for (of, right) in [
        (
            "list",
            "\tall = kvcalloc(l.n, sizeof(*all) + sizeof(u64), GFP_KERNEL);",
        ),
        (
            "list",
            "\tif (l.n > 512)\n\t\treturn -EINVAL;\n\tall = kvmalloc(l.n * sizeof(*all), GFP_KERNEL);",
        ),
        (
            "list",
            "\tall = kvmalloc(array_size(l.n, sizeof(*all)), GFP_KERNEL);",
        ),
        (
            "wide",
            "\tall = kvmalloc(l.few * sizeof(*all), GFP_KERNEL);",
        ),
    ] {
        assert_eq!(wanted(of, right), NONE, "{right}");
    }
}

#[test]
fn as_many_bytes_as_there_are_elements_are_too_few() {
    let got = "\tif (IS_ERR(all))\n\t\treturn PTR_ERR(all);\n";
    let bound = "\tif (l.n > 512)\n\t\treturn -EINVAL;\n";
    let from = "u64_to_user_ptr(l.at)";
    let round = "\tfor (i = 0; i < l.n; i++)\n\t\tadd(d, all[i].id);";
    for wrong in [
        format!("{bound}\tall = memdup_user({from}, l.n);\n{got}{round}"),
        format!(
            "{bound}\tu32 n = l.n;\n\n\tall = vmemdup_user({from}, n);\n{got}\tfor (i = 0; i < n; i++)\n\t\tadd(d, all[i].id);"
        ),
        format!(
            "{bound}\tu32 n = l.n;\n\n\tif (d->used) {{\n\t\tall = vmemdup_user({from}, n);\n\t{got}\t}} else {{\n\
             \t\tall = kvmalloc_array(n, sizeof(*all), GFP_KERNEL);\n\t\tif (!all)\n\t\t\treturn -ENOMEM;\n\t}}"
        ),
    ] {
        assert_eq!(wanted("list", &wrong), ["elements-for-bytes"], "{wrong}");
    }
    for right in [
        format!("{bound}\tall = memdup_user({from}, l.n * sizeof(*all));\n{got}{round}"),
        format!("{bound}\tall = memdup_array_user({from}, l.n, sizeof(*all));\n{got}{round}"),
        format!(
            "{bound}\tu32 n = l.n / sizeof(*all);\n\n\tall = memdup_user({from}, l.n);\n{got}\tfor (i = 0; i < n; i++)\n\t\tadd(d, all[i].id);"
        ),
        format!("{bound}\tall = memdup_user({from}, l.n);\n{got}"),
    ] {
        assert_eq!(wanted("list", &right), NONE, "{right}");
    }
}
