//! Tests of what is left behind a position of the program's, as a number that is never less than 0.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str =
    "typedef long long loff_t;\n#define AREA 512\nstruct area { u8 *data; size_t size; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A function of another file's that is told where a program writes.
fn written(bound: &str) -> Vec<String> {
    rules(&format!(
        "int area_write(struct area *a, const char __user *u, size_t size, loff_t *offset)\n{{\n{bound}\n\
         \tif (len <= 0)\n\t\treturn 0;\n\tif (copy_from_user(a->data, u, len))\n\t\treturn -EFAULT;\n\
         \treturn len;\n}}\n"
    ))
}

#[test]
fn what_is_left_without_a_sign_bounds_nothing() {
    for wrong in [
        "\tsize_t len = min_t(size_t, AREA - *offset, size);",
        "\tunsigned int len = min_t(u32, size, AREA - *offset);",
    ] {
        assert!(
            written(wrong).contains(&"wrapping-size".to_owned()),
            "{wrong}"
        );
    }
    for right in [
        "\tssize_t len = min_t(loff_t, AREA - *offset, size);",
        "\tsize_t len;\n\n\tif (*offset >= AREA)\n\t\treturn 0;\n\tlen = min_t(size_t, AREA - *offset, size);",
        "\tsize_t len;\n\n\tif (place(a, offset))\n\t\treturn 0;\n\tlen = min_t(size_t, AREA - *offset, size);",
    ] {
        assert_eq!(written(right), NONE, "{right}");
    }
}
