//! Tests of bounds of another unit, or of something else, than what they bound, and of loops that go
//! on with the bound of their first round.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32;\n\
     typedef unsigned long size_t; typedef long long loff_t; typedef long ssize_t;\n\
     #define MOST 64\n#define RESET 2\n\
     struct order { u32 code; u32 len; u8 body[8]; };\n\
     struct named { u16 len; u8 id[64]; };\n\
     struct holder { u32 len; u8 *data; };\n\
     struct point { void __user *pointer; u16 length; };\n\
     struct clip { u16 x, y; };\n\
     struct table { u32 n; u32 regs[16]; int many; };\n\
     struct dev { u8 *buf; u8 small[64]; u32 regs[16]; u32 room; u32 used; u32 at; struct ops *ops[8]; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

#[test]
fn a_loop_goes_through_as_many_elements_as_an_array_has_bytes() {
    let asked = |statements: &str| {
        rules(&format!(
            "static int f(struct dev *d, struct table __user *u)\n{{\n\tstruct table c;\n\tu32 own[8];\n\tu32 i = 0, n;\n\n\
             \tif (copy_from_user(&c, u, sizeof(c)))\n\t\treturn -EFAULT;\n{statements}\n\treturn use(d, own);\n}}\n"
        ))
    };
    for wrong in [
        "\tif (c.n > sizeof(c.regs))\n\t\treturn -EINVAL;\n\tfor (i = 0; i < c.n; i++)\n\t\tput(d, c.regs[i]);",
        "\tif (c.n <= sizeof(c.regs))\n\t\tfor (i = 0; i != c.n; ++i)\n\t\t\tput(d, c.regs[i]);",
        "\tn = c.n;\n\tif (n > sizeof(own))\n\t\treturn -EINVAL;\n\twhile (i < n) {\n\t\town[i] = get(d);\n\t\ti++;\n\t}",
        "\tn = min_t(u32, c.n, sizeof(d->regs));\n\tfor (i = 0; i < n; i++)\n\t\td->regs[i] = get(d);",
        "\tif (c.n > 32)\n\t\tc.n = 32;\n\tfor (i = 0; i < c.n; i++)\n\t\td->regs[i] = get(d);",
    ] {
        assert_eq!(asked(wrong), ["beyond-array"], "{wrong}");
    }
    for right in [
        "\tif (c.n > ARRAY_SIZE(c.regs))\n\t\treturn -EINVAL;\n\tfor (i = 0; i < c.n; i++)\n\t\tput(d, c.regs[i]);",
        "\tif (c.n > sizeof(c.regs))\n\t\treturn -EINVAL;\n\tfor (i = 0; i < c.n / sizeof(u32); i++)\n\t\tput(d, c.regs[i]);",
        "\tif (c.n > sizeof(c.regs))\n\t\treturn -EINVAL;\n\tfor (i = 0; i < c.n; i++) {\n\t\tif (i >= 16)\n\t\t\tbreak;\n\t\tput(d, c.regs[i]);\n\t}",
        "\tif (c.n > sizeof(c.regs))\n\t\treturn -EINVAL;\n\tfor (i = 0; i < c.n; i += 4)\n\t\tput(d, c.regs[i / 4]);",
        "\tif (c.n > sizeof(d->small))\n\t\treturn -EINVAL;\n\tfor (i = 0; i < c.n; i++)\n\t\td->small[i] = get(d);",
    ] {
        assert_eq!(asked(right), NONE, "{right}");
    }
}

#[test]
fn a_product_of_what_may_be_less_than_0_wraps() {
    let asked = |judged: &str, made: &str| {
        rules(&format!(
            "static int f(struct dev *d, struct table __user *u)\n{{\n\tstruct clip *p;\n\tint n;\n\n\tif (get_user(n, &u->many))\n\t\treturn -EFAULT;\n\
             {judged}\tp = {made};\n\tif (!p)\n\t\treturn -ENOMEM;\n\treturn go(d, p, n);\n}}\n"
        ))
    };
    let most = "\tif (n > 256)\n\t\treturn -EINVAL;\n";
    let product = "kmalloc(n * sizeof(*p), GFP_KERNEL)";
    for (judged, made) in [
        (most.to_owned(), product),
        (
            most.to_owned(),
            "kzalloc(sizeof(struct clip) * n, GFP_KERNEL)",
        ),
        (
            format!("\tif (!n != !d->used)\n\t\treturn -EINVAL;\n{most}"),
            product,
        ),
        (
            "\tif (n % 2 || n > 256)\n\t\treturn -EINVAL;\n".to_owned(),
            "kvmalloc(n * sizeof(struct clip), GFP_KERNEL)",
        ),
        (
            "\tif (n == 0 || n > 256)\n\t\treturn -EINVAL;\n".to_owned(),
            product,
        ),
    ] {
        assert_eq!(asked(&judged, made), ["wrapping-size"], "{judged}");
    }
    for (judged, made) in [
        ("\tif (n <= 0 || n > 256)\n\t\treturn -EINVAL;\n", product),
        ("\tif (n > 256 || n < 0)\n\t\treturn -EINVAL;\n", product),
        ("\tif (n != 8 || n > 256)\n\t\treturn -EINVAL;\n", product),
        // The call itself asks.
        (most, "kmalloc_array(n, sizeof(struct clip), GFP_KERNEL)"),
    ] {
        assert_eq!(asked(judged, made), NONE, "{judged} {made}");
    }
}
