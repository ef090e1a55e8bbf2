//! Masked addresses that nobody takes, and indices of the user's behind a pointer to a copy.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))\nstruct kind { u16 which; u16 at; };\n\
     struct query { u64 clock; struct kind kind; u32 unit; };\n\
     static const u32 kinds[] = { 1, 4, 9, 16, 25 };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

#[test]
fn a_masked_address_is_the_one_to_access() {
    let window = |begin: &str, end: &str| {
        rules(&format!(
            "static int f(struct kind __user *u, u32 *v)\n{{\n{begin}\
             \tunsafe_get_user(*v, &u->which, fault);\n\t{end};\n\treturn 0;\nfault:\n\t{end};\n\treturn -EFAULT;\n}}\n"
        ))
    };
    let end = "user_access_end()";
    for wrong in [
        "\tmasked_user_access_begin(u);\n",
        "\t(void)masked_user_access_begin(u);\n",
        "\t(void)(masked_user_access_begin((void __user *)u));\n",
    ] {
        assert_eq!(window(wrong, end), ["unchecked-begin"], "{wrong}");
    }
    let reads = "user_read_access_end()";
    let either = |own: &str| {
        format!(
            "\tif (can_do_masked_user_access())\n\t\t{own};\n\
             \telse if (!user_read_access_begin(u, sizeof(*u)))\n\t\treturn -EFAULT;\n"
        )
    };
    let wrong = either("masked_user_read_access_begin(u)");
    assert_eq!(window(&wrong, reads), ["unchecked-begin"]);
    let right = either("u = masked_user_read_access_begin(u)");
    assert_eq!(window(&right, reads), NONE);
    assert_eq!(window("\tu = masked_user_access_begin(u);\n", end), NONE);
    assert_eq!(
        window(
            "\tif (!user_access_begin(u, 4))\n\t\treturn -EFAULT;\n",
            end
        ),
        NONE
    );
}

#[test]
fn a_mask_that_nobody_takes_masks_nothing() {
    let copy = |mask: &str| {
        rules(&format!(
            "static unsigned long f(void *to, const void __user *u, size_t n)\n{{\n{mask}\n\
             \treturn copy_user_generic(to, u, n);\n}}\n\
             static int g(struct kind __user *u, u32 *v)\n{{\n\treturn get_user(*v, &u->which);\n}}\n"
        ))
    };
    for right in ["\tu = mask_user_address(u);", "\tto = u ? to : NULL;"] {
        assert_eq!(copy(right), NONE, "{right}");
    }
}

#[test]
fn what_a_pointer_to_a_copy_leads_to_is_the_users() {
    let query = |statements: &str| {
        rules(&format!(
            "static int f(struct query __user *u)\n{{\n\tstruct query own;\n\tstruct kind *kind;\n\tint ret = 0;\n\n\
             \tif (copy_from_user(&own, u, sizeof(own)))\n\t\treturn -EFAULT;\n{statements}\n}}\n"
        ))
    };
    for wrong in [
        "\tkind = &own.kind;\n\tif (kind->which > ARRAY_SIZE(kinds))\n\t\treturn -EINVAL;\n\treturn kinds[kind->which];",
        "\tstruct query *all = &own;\n\n\tif (all->unit > ARRAY_SIZE(kinds))\n\t\treturn -EINVAL;\n\treturn kinds[all->unit];",
        "\tstruct query *all = &own;\n\n\tif (all->kind.at > ARRAY_SIZE(kinds))\n\t\treturn -EINVAL;\n\
         \treturn kinds[all->kind.at];",
    ] {
        assert_eq!(query(wrong), ["beyond-array"], "{wrong}");
    }
    for right in [
        "\tkind = &own.kind;\n\tif (kind->which >= ARRAY_SIZE(kinds))\n\t\treturn -EINVAL;\n\treturn kinds[kind->which];",
        "\tstruct query *all = &own;\n\n\tif (all->unit > ARRAY_SIZE(kinds) - 1)\n\t\treturn -EINVAL;\n\
         \treturn kinds[all->unit];",
        "\tkind = &own.kind;\n\tif (kind->which > ARRAY_SIZE(kinds))\n\t\treturn -EINVAL;\n\treturn kind->which;",
    ] {
        assert_eq!(query(right), NONE, "{right}");
    }
}

#[test]
fn so_is_what_a_copy_in_memory_of_its_own_holds() {
    let copied = |test: &str| {
        rules(&format!(
            "static int f(struct query __user *u)\n{{\n\tstruct query *own = memdup_user(u, sizeof(*own));\n\tint ret;\n\n\
             \tif (IS_ERR(own))\n\t\treturn PTR_ERR(own);\n\tret = -EINVAL;\n\tif ({test})\n\t\tgoto out;\n\
             \tret = kinds[own->kind.which];\nout:\n\tkfree(own);\n\treturn ret;\n}}\n"
        ))
    };
    assert_eq!(
        copied("own->kind.which > ARRAY_SIZE(kinds)"),
        ["beyond-array"]
    );
    assert_eq!(
        copied("own->unit || own->kind.which > ARRAY_SIZE(kinds)"),
        ["beyond-array"]
    );
    assert_eq!(copied("own->kind.which >= ARRAY_SIZE(kinds)"), NONE);
}
