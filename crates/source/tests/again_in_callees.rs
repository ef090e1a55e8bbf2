//! What was fetched, and comes again in a function that is given the same pointer, or behind memory that was made
//! of as much.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "struct order { u32 count; u32 kind; u32 slots[4]; };\n\
     static int fill_whole(struct bin *b, struct order __user *from)\n{\n\tstruct order o;\n\tu32 i;\n\n\
     \tif (copy_from_user(&o, from, sizeof(o)))\n\t\treturn -EFAULT;\n\
     \tfor (i = 0; i < o.count; i++)\n\t\tput_slot(b, i);\n\treturn 0;\n}\n\
     static int fill_one(struct bin *b, struct order __user *from)\n{\n\tu32 n;\n\n\
     \tif (get_user(n, &from->count))\n\t\treturn -EFAULT;\n\twhile (n--)\n\t\tput_slot(b, n);\n\treturn 0;\n}\n\
     static int fill_judged(struct bin *b, struct order __user *from)\n{\n\tu32 n;\n\n\
     \tif (get_user(n, &from->count) || n > 16)\n\t\treturn -EFAULT;\n\twhile (n--)\n\t\tput_slot(b, n);\n\treturn 0;\n}\n\
     static int fill_kind(struct bin *b, struct order __user *from)\n{\n\tstruct order o;\n\n\
     \tif (copy_from_user(&o, from, sizeof(o)))\n\t\treturn -EFAULT;\n\treturn put_kind(b, o.kind);\n}\n\
     static int fill_held(struct bin *b, struct order __user *from, u32 n)\n{\n\tstruct order o;\n\n\
     \tif (copy_from_user(&o, from, sizeof(o)) || o.count != n)\n\t\treturn -EFAULT;\n\treturn put_kind(b, o.count);\n}\n\
     static int fill_other(struct bin *b, struct order __user *from)\n{\n\treturn put_user(b->kind, &from->count);\n}\n";

/// What is said of a function of these statements.
fn given(statements: &str) -> Vec<String> {
    let text = format!(
        "{TYPES}static int f(struct bin *b, struct order __user *arg)\n{{\n\
         \tstruct order op;\n\tu32 *ids, n, i;\n\tint err;\n\n{statements}\n\treturn 0;\n}}\n"
    );
    let found = mistakes::found(None, &text).into_iter();
    let found = found.map(|(rule, _)| rule);
    let mut found: Vec<String> = found.filter(|rule| rule == "double-fetch").collect();
    found.dedup();
    found
}

const ONE: &str = "\tif (get_user(n, &arg->count))\n\t\treturn -EFAULT;\n";
const WHOLE: &str = "\tif (copy_from_user(&op, arg, sizeof(op)))\n\t\treturn -EFAULT;\n";

#[test]
fn a_callee_fetches_once_more_what_was_checked() {
    for wrong in [
        "\tif (n > 16)\n\t\treturn -EINVAL;\n\treturn fill_whole(b, arg);",
        "\tif (n > 16)\n\t\treturn -EINVAL;\n\terr = fill_one(b, arg);\n\tif (err)\n\t\treturn err;",
        "\tids = kcalloc(n, sizeof(*ids), GFP_KERNEL);\n\tif (!ids)\n\t\treturn -ENOMEM;\n\treturn fill_one(b, arg);",
        "\tids = kzalloc(n * sizeof(*ids), GFP_KERNEL);\n\tif (!ids)\n\t\treturn -ENOMEM;\n\treturn fill_whole(b, arg);",
    ] {
        assert_eq!(given(&format!("{ONE}{wrong}")), ["double-fetch"], "{wrong}");
    }
    for wrong in [
        "\tif (op.count > 16)\n\t\treturn -EINVAL;\n\treturn fill_whole(b, arg);",
        "\tids = kcalloc(op.count, sizeof(*ids), GFP_KERNEL);\n\tif (!ids)\n\t\treturn -ENOMEM;\n\
         \tif (op.count > 16)\n\t\treturn -EINVAL;\n\treturn fill_one(b, (void __user *)arg);",
    ] {
        let all = format!("{WHOLE}{wrong}");
        assert_eq!(given(&all), ["double-fetch"], "{wrong}");
    }
    for right in [
        "\tif (op.count > 16)\n\t\treturn -EINVAL;\n\treturn fill_judged(b, arg);",
        "\tif (op.count > 16)\n\t\treturn -EINVAL;\n\treturn fill_kind(b, arg);",
        "\tif (op.count > 16)\n\t\treturn -EINVAL;\n\treturn fill_held(b, arg, op.count);",
        "\tif (op.count > 16)\n\t\treturn -EINVAL;\n\treturn fill_other(b, arg);",
        "\tif (op.count > 16)\n\t\treturn -EINVAL;\n\treturn fill_whole(b, arg + 1);",
        "\tif (op.kind > 16)\n\t\treturn -EINVAL;\n\treturn fill_whole(b, arg);",
        "\tif (op.kind > 16)\n\t\treturn -EINVAL;\n\targ++;\n\treturn fill_whole(b, arg);",
    ] {
        assert_eq!(given(&format!("{WHOLE}{right}")), NONE, "{right}");
    }
}

#[test]
fn memory_is_made_of_what_is_then_fetched_again() {
    let made =
        "\tids = kcalloc(op.count, sizeof(*ids), GFP_KERNEL);\n\tif (!ids)\n\t\treturn -ENOMEM;\n";
    let member = "\tif (get_user(op.count, &arg->count))\n\t\treturn -EFAULT;\n";
    for wrong in [
        format!("{member}{made}{WHOLE}\terr = add(b, &op, ids);"),
        format!("{member}{made}{WHOLE}\tfor (i = 0; i < op.count; i++)\n\t\tids[i] = next(b);"),
        format!(
            "{ONE}\tids = kmalloc_array(n, sizeof(*ids), GFP_KERNEL);\n{WHOLE}\
             \tfor (i = 0; i < op.count; i++)\n\t\tids[i] = next(b);"
        ),
    ] {
        assert_eq!(given(&wrong), ["double-fetch"], "{wrong}");
    }
    for right in [
        format!("{member}{made}\terr = add(b, &op, ids);"),
        format!("{WHOLE}{made}\terr = add(b, &op, ids);"),
        format!(
            "{ONE}\tids = kmalloc_array(n, sizeof(*ids), GFP_KERNEL);\n{WHOLE}\tfor (i = 0; i < n; i++)\n\t\tids[i] = next(b);"
        ),
        format!(
            "{ONE}\tids = kmalloc_array(n, sizeof(*ids), GFP_KERNEL);\n{WHOLE}\top.count = n;\n\terr = add(b, &op, ids);"
        ),
        format!(
            "{ONE}\tids = kmalloc_array(n, sizeof(*ids), GFP_KERNEL);\n{WHOLE}\tif (op.count != n)\n\t\treturn -EINVAL;\n\
             \tfor (i = 0; i < op.count; i++)\n\t\tids[i] = next(b);"
        ),
    ] {
        assert_eq!(given(&right), NONE, "{right}");
    }
}
