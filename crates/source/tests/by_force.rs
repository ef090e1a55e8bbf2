//! Addresses of the user's that a cast takes for the kernel's by force, or makes of a number.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "struct slot { u64 where; u32 id; u32 list[8]; struct side { u16 a; u16 b; } side; };\n\
     struct card { void __iomem *io; u32 kept; u8 *front; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A function of these statements, which is given an address of the user's.
fn given(statements: &str) -> Vec<String> {
    rules(&format!(
        "static long f(struct card *d, struct slot __user *u, void __user *raw, size_t n, u32 v)\n{{\n\
         {statements}\n\treturn v;\n}}\n"
    ))
}

#[test]
fn what_a_cast_by_force_leads_to_is_not_gone_through_by_hand() {
    for wrong in [
        "\tv = ((__force struct slot *)u)->id;",
        "\tv = ((struct slot __force *)u)->list[v & 7];",
        "\tv += *((__force u32 *)raw + 2);",
        "\t*(__force u32 *)raw = v;",
        "\t*(u32 __force *)&u->id = v;",
        "\t((__force u8 *)raw)[n] = 0;",
        "\tv = READ_ONCE(((__force struct slot *)u)->side.b);",
        "\tif (((__force struct slot *)u)->id > n)\n\t\treturn -EINVAL;",
        "\tstruct slot *own = (__force struct slot *)u;\n\n\town->id = v;",
        "\tu32 *own;\n\n\town = (__force u32 *)raw;\n\tv = *own;",
        "\tmemcpy_toio(d->io, (__force void *)raw, n);",
        "\tmemcpy_fromio((__force void *)(raw + 4), d->io, n);",
        "\tiowrite32_rep(d->io, (__force const void *)u, n / 4);",
    ] {
        assert_eq!(given(wrong), ["user-pointer-dereferenced"], "{wrong}");
    }
    for right in [
        "\tv = IS_ERR((__force void *)u);",
        "\td->front = (__force u8 *)raw;",
        "\tv = (unsigned long)(__force void *)raw & 3;",
        "\tv = &((__force struct slot *)u)->id == &d->kept;",
        "\tv = *(__force u32 *)&d->kept;",
        "\tu32 *own = (__force u32 *)raw;\n\n\tif (v)\n\t\town = &d->kept;\n\tv = *own;",
        "\tv = ((__force u8 *)d->io)[3];",
    ] {
        assert_eq!(given(right), NONE, "{right}");
    }
}

#[test]
fn who_is_given_either_address_has_to_be_told_which() {
    let call = |call: &str| {
        rules(&format!(
            "static int f(struct card *d, const void *own, const void __user *u, bool inside)\n{{\n\
             \treturn {call};\n}}\n"
        ))
    };
    for wrong in [
        "set_all(d, own ?: (const void __force *)u)",
        "set_all(d, own ? own : (__force const void *)u, 8)",
        "set_all(d, inside ? own : (__force const void *)u)",
        "set_all(!own ? (__force const void *)u : own, d)",
    ] {
        assert_eq!(call(wrong), ["user-pointer-dereferenced"], "{wrong}");
    }
    for right in [
        "set_all(d, inside ? own : (__force const void *)u, inside)",
        "set_all(d, own ? own : (__force const void *)u, !own)",
        "set_all(d, inside ? NULL : (__force const void *)u)",
        "set_all(d, own ?: (const void *)d->front)",
    ] {
        assert_eq!(call(right), NONE, "{right}");
    }
}

#[test]
fn a_number_that_an_access_takes_for_an_address_is_none_of_the_kernels() {
    let number = |statements: &str| {
        rules(&format!(
            "static long f(struct card *d, u64 number, int cmd, bool inside)\n{{\n\
             \tu32 v = 1, *p = (u32 *)(uintptr_t)number;\n\n{statements}\n\treturn v;\n}}\n"
        ))
    };
    for wrong in [
        "\tv = *p;\n\tif (copy_to_user(p, &d->kept, 4))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(&v, p, 4))\n\t\treturn -EFAULT;\n\tv += p[1];",
        "\tswitch (cmd) {\n\tcase 1:\n\t\tif (copy_from_user(&v, p, 4))\n\t\t\treturn -EFAULT;\n\t\tbreak;\n\
         \tcase 2:\n\t\t*p = d->kept;\n\t\tbreak;\n\t}",
    ] {
        assert_eq!(number(wrong), ["user-pointer-dereferenced"], "{wrong}");
    }
    for right in [
        "\tif (inside)\n\t\tv = *p;\n\telse if (copy_from_user(&v, p, 4))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(&v, p, 4))\n\t\treturn -EFAULT;\n\tp = &d->kept;\n\t*p = v;",
        "\tv = *p;",
    ] {
        assert_eq!(number(right), NONE, "{right}");
    }
}
