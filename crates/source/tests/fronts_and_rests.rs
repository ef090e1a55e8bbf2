//! Objects of which a copy takes less than is meant, or than is used behind it.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "#define offsetofend(t, m) (__builtin_offsetof(t, m) + sizeof(((t *)0)->m))\n\
     struct spot { u32 type; u32 func; u64 addr; u64 mask; };\n\
     struct op { u32 argsz; u32 flags; u32 op; u32 room; union { struct spot err; u64 raw; }; };\n\
     struct note { u32 a; u32 b; };\nstruct voice { u32 a; u32 b; u8 left; u8 right; char name[6]; };\n\
     static int play(struct voice *v)\n{\n\tif (v->a > 3)\n\t\treturn -EINVAL;\n\treturn out(v->left, v->right);\n}\n\
     static int front_of(struct voice *v)\n{\n\treturn out(v->a, v->b);\n}\n\
     static void fill(struct voice *v)\n{\n\tv->left = 1;\n}\n";

/// An ioctl() of these statements.
fn ioctl(statements: &str) -> Vec<String> {
    mistakes::rules(&format!(
        "{TYPES}static long f(struct file *file, unsigned int cmd, unsigned long arg)\n{{\n\
         \tvoid __user *u = (void __user *)arg;\n\tstruct op op;\n\tstruct voice v;\n\tunsigned long minsz;\n\tlong ret = 0;\n\n{statements}\n\treturn ret;\n}}\n\
         static const struct file_operations ops = {{ .unlocked_ioctl = f }};\n"
    ))
}

#[test]
fn what_lies_behind_the_front_is_not_filled() {
    let of = |end: &str, then: &str| {
        ioctl(&format!(
            "\tminsz = offsetofend(struct op, op);\n\tif (copy_from_user(&op, u, minsz))\n\t\treturn -EFAULT;\n\
             \tif (op.argsz < minsz || op.flags)\n\t\treturn -EINVAL;\n\tswitch (op.op) {{\n\tcase 1:\n\t\tret = reset(op.op);\n\t\tbreak;\n\
             \tcase 9:\n\t\tminsz = offsetofend(struct op, {end});\n\t\tif (op.argsz < minsz)\n\t\t\treturn -EINVAL;\n\
             \t\tif (copy_from_user(&op, u, minsz))\n\t\t\treturn -EFAULT;\n{then}\n\t\tbreak;\n\t}}"
        ))
    };
    let inject = "\t\tret = inject(op.err.type, op.err.func, op.err.addr, op.err.mask);";
    assert_eq!(of("err.addr", inject), ["other-layout"]);
    assert_eq!(of("op", inject), ["other-layout"]);
    assert_eq!(of("err.mask", inject), NONE);
    assert_eq!(of("err", inject), NONE);
    let set = format!("\t\top.err.mask = 0;\n{inject}");
    assert_eq!(of("err.addr", &set), NONE);
    let cleared = format!("\t\tmemset(&op.err, 0, sizeof(op.err));\n{inject}");
    assert_eq!(of("op", &cleared), NONE);
    let copied = format!(
        "\t\tif (copy_from_user(&op.err, u + 16, sizeof(op.err)))\n\t\t\treturn -EFAULT;\n{inject}"
    );
    assert!(!of("op", &copied).contains(&"other-layout".to_owned()));
    assert_eq!(
        of(
            "err.addr",
            "\t\tret = inject(op.err.type, op.err.func, op.err.addr, 0);"
        ),
        NONE
    );
}

#[test]
fn the_size_of_something_smaller_leaves_the_rest() {
    let of = |before: &str, size: &str, then: &str| {
        ioctl(&format!(
            "{before}\tif (copy_from_user(&v, u, {size}))\n\t\treturn -EFAULT;\n{then}"
        ))
    };
    let small = "sizeof(struct note)";
    for wrong in [
        "\tret = play(&v);",
        "\tret = out(v.a, v.left);",
        "\tif (v.b == 3)\n\t\tret = out(v.right, 0);",
    ] {
        assert_eq!(of("", small, wrong), ["other-layout"], "{wrong}");
        assert_eq!(of("", "sizeof(v)", wrong), NONE, "{wrong}");
        assert_eq!(of("", "sizeof(struct voice)", wrong), NONE, "{wrong}");
        assert_eq!(
            of("\tmemset(&v, 0, sizeof(v));\n", small, wrong),
            NONE,
            "{wrong}"
        );
        assert_eq!(of("\tfill(&v);\n", small, wrong), NONE, "{wrong}");
        let rest =
            format!("\tif (copy_from_user(&v.left, u + 8, 8))\n\t\treturn -EFAULT;\n{wrong}");
        assert_eq!(of("", small, &rest), NONE, "{wrong}");
    }
    for right in [
        "\tret = front_of(&v);",
        "\tret = out(v.a, v.b);",
        "\tif (v.a & 1)\n\t\tif (copy_from_user(&v.left, u + 8, 8))\n\t\t\treturn -EFAULT;\n\tif (v.a & 1)\n\t\tret = out(v.left, 0);",
        "\tret = complete(&v);\n\tif (!ret)\n\t\tret = out(v.left, 0);",
        "\tif (cmd == 3)\n\t\tif (copy_from_user(&v, u, sizeof(v)))\n\t\t\treturn -EFAULT;\n\tret = out(v.a, v.b);",
    ] {
        assert_eq!(of("", small, right), NONE, "{right}");
    }
}

#[test]
fn one_element_is_not_the_array() {
    let of = |copy: &str| {
        mistakes::rules(&format!(
            "struct disk {{ char ident[512]; u32 regs[8]; u32 one[1]; char *name; }};\n\
             static int f(struct disk *d, struct disk __user *p, void __user *u, int i)\n{{\n\tu16 own[4];\n\n\tread_own(own);\n\tif ({copy})\n\t\treturn -EFAULT;\n\tset_own(own);\n\treturn 0;\n}}\n"
        ))
    };
    for wrong in [
        "copy_to_user(u, &d->ident, sizeof(*d->ident))",
        "copy_to_user(u, d->regs, sizeof(d->regs[0]))",
        "copy_from_user(d->regs, u, sizeof(*d->regs))",
        "copy_to_user(u, own, sizeof(own[0]))",
        "copy_to_user(p->regs, d->regs, sizeof(*p->regs))",
    ] {
        assert_eq!(of(wrong), ["elements-for-bytes"], "{wrong}");
    }
    for right in [
        "copy_to_user(u, &d->ident, sizeof(d->ident))",
        "copy_to_user(u, &d->regs[i], sizeof(d->regs[0]))",
        "copy_to_user(u, d->regs + i, sizeof(*d->regs))",
        "copy_to_user(u, d->one, sizeof(*d->one))",
        "copy_to_user(u, d->regs, 8 * sizeof(*d->regs))",
        "copy_to_user(u, &d->regs[0], sizeof(d->regs[0]))",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}

#[test]
fn what_goes_out_by_less_than_it_comes_in_lacks_the_rest() {
    let of = |out: &str, into: &str| {
        mistakes::rules(&format!(
            "struct fp {{ u32 regs[24]; u32 control[3]; }};\nstruct thread {{ u32 fp[24]; u32 fpcntl[3]; struct fp all; }};\n\
             static long f(struct thread *t, long request, void __user *u)\n{{\n\tswitch (request) {{\n\tcase 1:\n\
             \t\tif (copy_to_user(u, &t->fp, {out}))\n\t\t\treturn -EFAULT;\n\t\tbreak;\n\tcase 2:\n\
             \t\tif (copy_from_user(&t->fp, u, {into}))\n\t\t\treturn -EFAULT;\n\t\tbreak;\n\t}}\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(of("sizeof(t->fp)", "sizeof(struct fp)"), ["other-layout"]);
    assert_eq!(of("sizeof(struct fp)", "sizeof(t->fp)"), ["other-layout"]);
    assert_eq!(of("sizeof(t->fp)", "sizeof(t->fp)"), NONE);
    assert_eq!(of("sizeof(struct fp)", "sizeof(struct fp)"), NONE);
}
