//! Elements that a first loop judges and a later one fetches again, and copies of as many bytes as a
//! first fetch was held to be equal to.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

/// Whether these statements of a function, which is given an array `u` and a file's `buf`, fetch twice.
fn twice(statements: &str) -> bool {
    let text = format!(
        "struct slot {{ u32 kind; u32 len; }};\n\
         struct dev {{ u32 low[8]; struct slot own[8]; struct slot *all; }};\n\
         static long f(struct dev *d, struct slot __user *u, const char __user *buf, size_t n)\n{{\n\
         \tstruct slot s, *all;\n\tu32 low[8];\n\tint i, j;\n\n{statements}\n\treturn 0;\n}}\n"
    );
    let found = mistakes::rules(&text);
    found.contains(&"double-fetch".to_owned())
}

const JUDGED: &str = "\tfor (i = 0; i < 8; i++) {\n\t\tif (get_user(low[i], &u[i].len))\n\t\t\treturn -EFAULT;\n\
                      \t\tif (low[i] > 4096)\n\t\t\treturn -EINVAL;\n\t}\n";

#[test]
fn an_element_is_fetched_again_in_a_later_loop() {
    for again in [
        "\tfor (i = 0; i < 8; i++) {\n\t\tif (get_user(low[i], &u[i].len))\n\t\t\treturn -EFAULT;\n\t\td->low[i] = low[i];\n\t}",
        "\tfor (j = 0; j < 8; j++) {\n\t\tif (copy_from_user(&s, &u[j], sizeof(s)))\n\t\t\treturn -EFAULT;\n\t\td->own[j] = s;\n\t}",
        "\ti = 0;\n\twhile (i < 8) {\n\t\tif (copy_from_user(&s, u + i, sizeof(s)))\n\t\t\treturn -EFAULT;\n\t\td->own[i++] = s;\n\t}",
    ] {
        let first = match again.contains("u + i") {
            true => JUDGED.replace("&u[i].len", "(u32 __user *)(u + i)"),
            false => JUDGED.to_owned(),
        };
        assert!(twice(&format!("{first}{again}")), "{again}");
    }
}

#[test]
fn other_elements_are_no_second_fetch() {
    for right in [
        // What was fetched is used.
        "\tfor (i = 0; i < 8; i++)\n\t\td->low[i] = low[i];",
        // Others of the same array.
        "\tfor (i = 8; i < 16; i++) {\n\t\tif (get_user(low[i - 8], &u[i].len))\n\t\t\treturn -EFAULT;\n\t\td->low[i - 8] = low[i - 8];\n\t}",
        // It goes on where the first one ended.
        "\twhile (i < 16) {\n\t\tif (get_user(low[0], &u[i].len))\n\t\t\treturn -EFAULT;\n\t\td->low[i - 8] = low[0];\n\t\ti++;\n\t}",
        // Another array.
        "\tu += 8;\n\tfor (i = 0; i < 8; i++) {\n\t\tif (get_user(low[i], &u[i].len))\n\t\t\treturn -EFAULT;\n\t\td->low[i] = low[i];\n\t}",
        // Another member.
        "\tfor (i = 0; i < 8; i++) {\n\t\tif (get_user(low[i], &u[i].kind))\n\t\t\treturn -EFAULT;\n\t\td->low[i] = low[i];\n\t}",
        // Judged again.
        "\tfor (i = 0; i < 8; i++) {\n\t\tif (get_user(low[i], &u[i].len))\n\t\t\treturn -EFAULT;\n\t\tif (low[i] > 4096)\n\t\t\treturn -EINVAL;\n\t\td->low[i] = low[i];\n\t}",
    ] {
        assert!(!twice(&format!("{JUDGED}{right}")), "{right}");
    }
}

#[test]
fn an_array_is_copied_and_judged_and_each_element_fetched_again() {
    let again = |array: &str, judged: &str, again: &str| {
        twice(&format!(
            "\tall = {array};\n\tif (IS_ERR(all))\n\t\treturn PTR_ERR(all);\n\tfor (i = 0; i < n; i++)\n\t\tif ({judged})\n\t\t\tgoto out;\n\
             \tfor (i = 0; i < n; i++) {{\n{again}\t\td->low[i] = all[i].kind;\n\t}}\nout:\n\tkfree(all);"
        ))
    };
    let each = "\t\tif (copy_from_user(&all[i], &u[i], sizeof(all[i])))\n\t\t\tgoto out;\n";
    for array in [
        "memdup_user(u, n * sizeof(*u))",
        "memdup_array_user(u, n, sizeof(*u))",
    ] {
        assert!(again(array, "all[i].kind > 7", each), "{array}");
        assert!(!again(array, "all[i].kind > 7", ""), "{array}");
        assert!(!again(array, "d->low[i] > 7", each), "{array}");
    }
}

#[test]
fn what_is_held_to_be_equal_to_a_length_says_how_much_is_fetched() {
    let copied = |asked: &str, count: &str| {
        twice(&format!(
            "\tstruct slot __user *head;\n\tu32 len;\n\n\thead = (struct slot __user *)buf;\n\tif (get_user(len, &head->len))\n\t\treturn -EFAULT;\n\
             \tif ({asked})\n\t\treturn -EINVAL;\n\tall = memdup_user(buf, {count});\n\tif (IS_ERR(all))\n\t\treturn PTR_ERR(all);\n\
             \ttransmit(d, all);\n\tkfree(all);"
        ))
    };
    assert!(copied("len != n", "n"));
    assert!(copied("len > 4096", "len"));
    assert!(!copied("len != d->low[0]", "n"));
}
