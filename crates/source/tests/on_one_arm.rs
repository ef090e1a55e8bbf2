//! What goes to the user with members that only some arms of an `if`, a `switch` or an `#if` set.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "struct par { int a, b, c; };\n\
     struct cfg { __u32 flags; __u32 rx; __u32 tx; };\n\
     struct req { int cmd; union { struct par p; char name[32]; unsigned char bits; } data; };\n\
     struct dev { int mode; int kind; struct par par; int (*ioctl)(struct dev *, struct req *); };\n";

/// What is said of a function that sets the rest of a struct by some statements and copies it out.
fn set(statements: &str) -> Vec<String> {
    mistakes::rules(&format!(
        "{TYPES}static int f(struct dev *d, struct cfg __user *u)\n{{\n\tstruct cfg c;\n\tint ret = 0;\n\n\
         \tc.flags = 0;\n\tc.rx = d->mode;\n{statements}\n\
         \treturn copy_to_user(u, &c, sizeof(c)) ? -EFAULT : ret;\n}}\n"
    ))
}

#[test]
fn a_member_that_one_arm_leaves_is_not_set() {
    for wrong in [
        "\tif (d->mode > 3)\n\t\tc.tx = 1;",
        "\tif (d->kind == 1)\n\t\tc.tx = 0;\n\telse if (d->kind == 2)\n\t\tc.tx = 1;",
        "\tif (d->kind == 1)\n\t\tc.tx = 0;\n\telse if (d->kind == 2)\n\t\tc.rx = 1;\n\telse\n\t\tc.tx = 3;",
        "\tif (test_bit(3, &d->mode)) {\n\t\tc.tx = 0;\n\t} else {\n\t\tWARN_ON(1);\n\t}",
        "\tswitch (d->kind) {\n\tcase 0:\n\t\tc.tx = 1;\n\t\tbreak;\n\tcase 1:\n\t\tc.tx = 2;\n\t\tbreak;\n\
         \tdefault:\n\t\tbreak;\n\t}",
        "\tswitch (d->kind) {\n\tcase 0:\n\t\tc.tx = 1;\n\t\tbreak;\n\tcase 1:\n\t\tgoto out;\n\tdefault:\n\
         \t\tc.tx = 0;\n\t}\nout:",
        "\tswitch (d->kind) {\n\tcase 0:\n\t\tif (d->mode)\n\t\t\tc.tx = 5;\n\t\telse\n\t\t\tc.tx = 4;\n\
         \t\tbreak;\n\tcase 2:\n\t\tif (d->mode)\n\t\t\tc.tx = 5;\n\t\tbreak;\n\tdefault:\n\t\treturn -EINVAL;\n\t}",
        "#ifdef CONFIG_A\n\tc.tx = 1;\n#endif",
        "#if defined(CONFIG_A) && BITS > 32\n\tc.tx = 1;\n#else\n\tpr_debug(\"none\");\n#endif",
    ] {
        assert_eq!(set(wrong), ["copied-holes"], "{wrong}");
    }
}

#[test]
fn a_member_that_each_arm_sets_or_leaves_the_function_is_set() {
    for right in [
        "\tif (d->mode > 3)\n\t\tc.tx = 1;\n\telse\n\t\tc.tx = 0;",
        "\tif (d->mode > 3)\n\t\tc.tx = 1;\n\telse\n\t\treturn -EINVAL;",
        "\tif (d->mode <= 3)\n\t\treturn -EINVAL;\n\tif (d->mode > 3)\n\t\tc.tx = 1;",
        "\tif (d->kind == 1)\n\t\tc.tx = 1;\n\tif (d->kind != 1)\n\t\tc.tx = 2;",
        "\tif (d->kind == 1)\n\t\tc.tx = 1;\n\telse\n\t\tret = -EIO;\n\tif (ret)\n\t\treturn ret;",
        "\tswitch (d->kind) {\n\tcase 0:\n\tcase 1:\n\t\tc.tx = 1;\n\t\tfallthrough;\n\tcase 2:\n\t\tc.tx = 2;\n\
         \t\tbreak;\n\tdefault:\n\t\tgoto bad;\n\t}\n\tif (0) {\nbad:\n\t\treturn -EINVAL;\n\t}",
        "\tfor (int i = 0; i < 4; i++) {\n\t\tif (d->kind == i)\n\t\t\tc.tx = i;\n\t}",
        "\tif (d->kind == 1)\n\t\tc.tx = 1;\n\telse if (get_it(d, &c))\n\t\treturn -EIO;",
        "\tif (d->kind == 1)\n\t\tmemset(&c, 0, sizeof(c));\n\telse\n\t\tc.tx = 1;",
        "#ifdef CONFIG_A\n\tc.tx = 1;\n#else\n\treturn -ENOSYS;\n#endif",
        "#ifdef CONFIG_A\n\tc.tx = 1;\n#else\n\tc.tx = 0;\n#endif",
        "#ifdef CONFIG_A\n\tc.tx = 1;\n#endif\n#ifndef CONFIG_A\n\tc.tx = 0;\n#endif",
        "#ifdef CONFIG_A\n\tif (d->kind)\n\t\tc.tx = 1;\n\telse\n#endif\n\t\tc.tx = 2;",
    ] {
        assert_eq!(set(right), NONE, "{right}");
    }
}

#[test]
fn a_helper_that_gives_0_may_leave_a_member() {
    let helped = |statements: &str| {
        mistakes::rules(&format!(
            "{TYPES}static int fill(struct dev *d, struct cfg *c)\n{{\n\tc->flags = 0;\n\tc->rx = 0;\n{statements}\n\
             \treturn 0;\n}}\n\
             static int f(struct dev *d, struct cfg __user *u)\n{{\n\tstruct cfg c;\n\tint ret = fill(d, &c);\n\n\
             \tif (ret)\n\t\treturn ret;\n\treturn copy_to_user(u, &c, sizeof(c)) ? -EFAULT : 0;\n}}\n"
        ))
    };
    for wrong in [
        "\tif (d->mode)\n\t\tc->tx = 1;",
        "\tif (!d->mode)\n\t\treturn 0;\n\tc->tx = 1;",
        "\tswitch (d->mode) {\n\tcase 1:\n\t\tc->tx = 0;\n\t\tbreak;\n\tcase 2:\n\t\tbreak;\n\
         \tdefault:\n\t\treturn -EINVAL;\n\t}",
    ] {
        assert_eq!(helped(wrong), ["copied-holes"], "{wrong}");
    }
    for right in [
        "\tif (d->mode)\n\t\tc->tx = 1;\n\telse\n\t\treturn -EINVAL;",
        "\tif (!d->mode)\n\t\treturn -ENODEV;\n\tc->tx = 1;",
        "\tif (!d->mode)\n\t\treturn check(d);\n\tc->tx = 1;",
        // There is always anything here.
        "\tif (c)\n\t\tc->tx = 1;",
        "\tif (!c)\n\t\treturn 0;\n\tc->tx = 1;",
    ] {
        assert_eq!(helped(right), NONE, "{right}");
    }
}

#[test]
fn memory_and_members_that_one_case_sets_alone() {
    let heap = |statements: &str| {
        mistakes::rules(&format!(
            "{TYPES}static int f(struct dev *d, struct cfg __user *u)\n{{\n\
             \tstruct cfg *c = kmalloc(sizeof(*c), GFP_KERNEL);\n\tint ret = 0;\n\n\
             \tif (!c)\n\t\treturn -ENOMEM;\n\tc->flags = 0;\n\tc->rx = 0;\n{statements}\n\
             \tif (copy_to_user(u, c, sizeof(*c)))\n\t\tret = -EFAULT;\n\tkfree(c);\n\treturn ret;\n}}\n"
        ))
    };
    assert_eq!(heap("\tif (d->mode)\n\t\tc->tx = 1;"), ["copied-holes"]);
    assert_eq!(
        heap("\tif (d->mode)\n\t\tc->tx = 1;\n\telse\n\t\tc->tx = 0;"),
        NONE
    );
    let request = |first: &str| {
        mistakes::rules(&format!(
            "{TYPES}static int f(struct dev *d, struct req __user *u)\n{{\n\tstruct req r;\n\n\
             \tif ({first})\n\t\treturn -EFAULT;\n\tswitch (r.cmd) {{\n\tdefault:\n\t\tif (d->ioctl)\n\
             \t\t\treturn d->ioctl(d, &r);\n\t\treturn -EINVAL;\n\tcase 1:\n\t\tr.data.p.a = d->par.a;\n\
             \t\tr.data.p.b = 0;\n\t\tr.data.p.c = 0;\n\t\tbreak;\n\tcase 2:\n\t\td->par.a = r.data.p.a;\n\
             \t\treturn 0;\n\tcase 3:\n\t\tr.data.bits = 0;\n\t\tbreak;\n\t}}\n\
             \treturn copy_to_user(u, &r, sizeof(r)) ? -EFAULT : 0;\n}}\n"
        ))
    };
    assert_eq!(request("get_user(r.cmd, &u->cmd)"), ["copied-holes"]);
    assert_eq!(request("copy_from_user(&r, u, sizeof(r))"), NONE);
}
