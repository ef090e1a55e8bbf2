//! Copies by a size that is larger than what lies there: of a structure where one member is meant, of
//! one that only holds the user's, of larger elements than an array has.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "#define MEM 100\nstruct part { u32 a; u32 b; };\n\
     struct whole { struct part p; void *rest; };\nstruct behind { u64 count; struct part p; };\n\
     struct resp { u32 id; u32 flags; };\n\
     struct obj { u64 x; u32 id; u32 secret; struct part p; u32 more; };\n\
     struct samples { int len; s16 __user *data; };\nstruct effect { struct { struct samples s; } u; };\n\
     struct dev { u8 mem[MEM]; u32 words[8]; };\n";

/// What is said of a function of these arguments and statements.
fn said(arguments: &str, statements: &str) -> Vec<String> {
    mistakes::rules(&format!(
        "{TYPES}static int f({arguments})\n{{\n\tstruct whole k;\n\tstruct behind b;\n\tu8 data[MEM] = {{ 0 }};\n\n\
         \tmemset(&k, 0, sizeof(k));\n\tmemset(&b, 0, sizeof(b));\n{statements}\n\treturn use(&k, &b, data);\n}}\n"
    ))
}

#[test]
fn a_member_is_copied_by_the_size_of_more() {
    let resp = "struct obj *o, struct resp __user *u";
    for wrong in [
        "\tif (copy_to_user(&u->id, &o->id, sizeof(*u)))\n\t\treturn -EFAULT;",
        "\tif (copy_to_user(&u->flags, &o->id, sizeof(struct resp)))\n\t\treturn -EFAULT;",
        "\tif (copy_to_user((void __user *)&u->flags, &o->more, sizeof(*u)))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(&o->id, &u->id, sizeof(*o)))\n\t\treturn -EFAULT;",
        "\tint err = copy_to_user(&u->id, &o->secret, sizeof(o->p));\n\n\tif (err)\n\t\treturn -EFAULT;",
    ] {
        let found = said(resp, wrong);
        assert!(!found.is_empty(), "{wrong}");
    }
    for right in [
        "\tif (copy_to_user(&u->id, &o->id, sizeof(u->id)))\n\t\treturn -EFAULT;",
        "\tif (copy_to_user(&u->id, &o->more, sizeof(u32)))\n\t\treturn -EFAULT;",
        "\tif (copy_to_user(u, &o->p, sizeof(*u)))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(said(resp, right), NONE, "{right}");
    }
    // All of it, from its first member on.
    let whole = "\tif (copy_to_user(&u->p, &o->p, sizeof(*u)))\n\t\treturn -EFAULT;";
    assert_eq!(said("struct whole *o, struct whole __user *u", whole), NONE);
    assert_eq!(
        said("struct obj *o, struct whole __user *u", whole),
        ["other-layout"]
    );
}

#[test]
fn a_structure_is_copied_where_the_user_has_a_part_of_it() {
    let part = "struct part __user *u, struct whole *w, struct behind *at";
    for wrong in [
        "\tif (copy_to_user(u, at, sizeof(*at)))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(&b, u, sizeof(b)))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(at, u, sizeof(struct behind)))\n\t\treturn -EFAULT;",
        "\tif (__copy_to_user(u, &b, sizeof(struct behind)))\n\t\treturn -EFAULT;",
        "\tif (copy_to_user((struct part __user *)u, &b, sizeof(b)))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(said(part, wrong), ["other-layout"], "{wrong}");
    }
    for right in [
        "\tif (copy_from_user(&k.p, u, sizeof(*u)))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(&k, u, sizeof(*u)))\n\t\treturn -EFAULT;",
        "\tif (copy_to_user(u, &w->p, sizeof(w->p)))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(&k, (struct whole __user *)u, sizeof(k)))\n\t\treturn -EFAULT;",
        // Its front may say what it is.
        "\tif (copy_from_user(&k, u, sizeof(k)))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(said(part, right), NONE, "{right}");
    }
    let called = |copy: &str| {
        mistakes::rules(&format!(
            "{TYPES}SYSCALL_DEFINE2(f, int, n, struct part __user *, u)\n{{\n\tstruct whole k;\n\n\
             \tk.rest = NULL;\n\tif (copy_from_user({copy}))\n\t\treturn -EFAULT;\n\treturn use(n, &k);\n}}\n"
        ))
    };
    assert_eq!(called("&k, u, sizeof(k)"), ["other-layout"]);
    assert_eq!(called("&k.p, u, sizeof(*u)"), NONE);
}

#[test]
fn an_array_is_copied_by_the_size_of_larger_elements() {
    let effect = "struct dev *d, struct effect *e";
    let asked = |test: &str, copy: &str| {
        let copied = format!(
            "\tif ({test})\n\t\treturn -EINVAL;\n\tif (copy_from_user({copy}))\n\t\treturn -EFAULT;"
        );
        said(effect, &copied)
    };
    for (test, copy) in [
        (
            "e->u.s.len > MEM",
            "data, e->u.s.data, sizeof(s16) * e->u.s.len",
        ),
        (
            "e->u.s.len < 2 || e->u.s.len > MEM",
            "data, e->u.s.data, e->u.s.len * sizeof(u32)",
        ),
        (
            "e->u.s.len > sizeof(data)",
            "data, e->u.s.data, sizeof(*e->u.s.data) * e->u.s.len",
        ),
        (
            "e->u.s.len > 100",
            "d->mem, e->u.s.data, e->u.s.len * sizeof(s16)",
        ),
        (
            "e->u.s.len > 8",
            "d->words, e->u.s.data, e->u.s.len * sizeof(u64)",
        ),
    ] {
        assert_eq!(asked(test, copy), ["elements-for-bytes"], "{test} {copy}");
    }
    for (test, copy) in [
        (
            "e->u.s.len > MEM / 2",
            "data, e->u.s.data, sizeof(s16) * e->u.s.len",
        ),
        (
            "e->u.s.len > MEM",
            "data, e->u.s.data, sizeof(u8) * e->u.s.len",
        ),
        (
            "e->u.s.len > 8",
            "d->words, e->u.s.data, e->u.s.len * sizeof(u32)",
        ),
        (
            "e->u.s.len > 4",
            "d->words, e->u.s.data, e->u.s.len * sizeof(u64)",
        ),
    ] {
        assert_eq!(asked(test, copy), NONE, "{test} {copy}");
    }
}
