//! What is fetched twice, in vain, or by hand.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];
const TWICE: [&str; 1] = ["double-fetch"];

/// What is said of a text, behind a structure.
fn rules(text: &str) -> Vec<String> {
    let text = format!("struct req {{ u32 size; u32 kind; char data[]; }};\nstruct dev;\n{text}");
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

#[test]
fn a_header_that_is_fetched_again_goes_to_the_caller() {
    let dup = |end: &str| {
        rules(&format!(
            "struct req *get(struct req __user *in)\n{{\n\tstruct req tmp, *res;\n\n\tif (copy_from_user(&tmp, in, sizeof(tmp)))\n\t\treturn ERR_PTR(-EFAULT);\n\tif (tmp.size < sizeof(tmp) || tmp.size > 4096)\n\t\treturn ERR_PTR(-EINVAL);\n\tres = memdup_user(in, tmp.size);\n{end}\treturn res;\n}}\n"
        ))
    };
    assert_eq!(dup(""), TWICE);
    assert_eq!(
        dup("\tif (!IS_ERR(res))\n\t\tres->size = tmp.size;\n"),
        NONE
    );
    let given = |end: &str| {
        rules(&format!(
            "int get(struct req *to, struct req __user *in)\n{{\n\tu32 size;\n\n\tif (get_user(size, &in->size))\n\t\treturn -EFAULT;\n\tif (size < sizeof(*to) || size > 4096)\n\t\treturn -EINVAL;\n\tif (copy_from_user(to, in, size))\n\t\treturn -EFAULT;\n{end}\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(given(""), TWICE);
    assert_eq!(given("\tto->size = size;\n"), NONE);
    assert_eq!(
        given("\tif (to->size != size)\n\t\treturn -EINVAL;\n"),
        NONE
    );
    let by_pointer = "int get(struct req **to, struct req __user *in)\n{\n\tu32 size;\n\n\tif (get_user(size, &in->size))\n\t\treturn -EFAULT;\n\tif (size > 4096)\n\t\treturn -EINVAL;\n\tif (copy_from_user(*to, in, size))\n\t\treturn -EFAULT;\n\treturn (*to)->size;\n}\n";
    assert_eq!(rules(by_pointer), TWICE);
    // A part of what a parameter points to is filled, where no other can know the size.
    let member = "int set(struct dev *d, struct req __user *in)\n{\n\tstruct req r;\n\n\tif (copy_from_user(&r, in, sizeof(r)))\n\t\treturn -EFAULT;\n\tif (r.size > 64)\n\t\treturn -EINVAL;\n\tif (copy_from_user(&d->params, in, r.size))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
    assert_eq!(rules(member), NONE);
}

#[test]
fn what_was_checked_is_not_what_lies_over_it() {
    let whole = |second: &str| {
        rules(&format!(
            "int run(struct dev *d, void __user *in)\n{{\n\tstruct req *r = d->req;\n\n\tif (copy_from_user(r, in, sizeof(*r)))\n\t\treturn -EFAULT;\n\tif (r->kind != 0)\n\t\treturn -EINVAL;\n{second}\treturn d->run(d, r);\n}}\n"
        ))
    };
    assert_eq!(
        whole("\tif (copy_from_user(r, in, 4096))\n\t\treturn -EFAULT;\n"),
        TWICE
    );
    assert_eq!(
        whole("\tif (copy_from_user(r->data, in + sizeof(*r), 64))\n\t\treturn -EFAULT;\n"),
        NONE
    );
}

#[test]
fn a_copy_over_what_was_set_goes_the_wrong_way() {
    let get = |body: &str| {
        rules(&format!(
            "long get(struct dev *d, struct req __user *p)\n{{\n\tstruct req r;\n\n{body}\n}}\n"
        ))
    };
    for wrong in [
        "\tr = d->r;\n\tif (copy_from_user(&r, p, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tr.size = d->size;\n\tr.kind = d->kind;\n\tif (copy_from_user(&r, p, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn 0;",
    ] {
        assert_eq!(get(wrong), ["unread-copy"], "{wrong}");
    }
    for right in [
        "\tr = d->r;\n\tif (copy_to_user(p, &r, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tr = d->r;\n\tif (copy_from_user(&r, p, sizeof(r)))\n\t\treturn -EFAULT;\n\td->r = r;\n\treturn 0;",
        // Only to see that it can be read.
        "\tif (copy_from_user(&r, p, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn d->reset(d);",
        "\tstruct req *own = &r;\n\n\tr = d->r;\n\tif (copy_from_user(&r, p, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn d->run(own);",
    ] {
        assert_eq!(get(right), NONE, "{right}");
    }
}

/// What computes with values alone loads them.
#[test]
fn a_macro_that_takes_a_value_loads_it() {
    let get = |value: &str| {
        rules(&format!(
            "int get(struct req __user *p, u32 __user *q)\n{{\n\tu32 v = {value};\n\n\treturn v + 1;\n}}\n"
        ))
    };
    for wrong in ["READ_ONCE(p->size)", "le32_to_cpu(*q)", "min(p->size, 8U)"] {
        assert_eq!(get(wrong), ["user-pointer-dereferenced"], "{wrong}");
    }
    for right in ["ARRAY_SIZE(p->data)", "access_of(p->size)"] {
        assert_eq!(get(right), NONE, "{right}");
    }
}
