//! What goes a little too far, or begins a little too late: an index of which only the upper end is
//! asked, a copy that begins behind the front of what it may fill, a string that is read from
//! where nobody has written.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// A handler of these statements, with what it may name.
fn function(statements: &str) -> String {
    format!(
        "struct lane {{ u32 rate; u8 mode; }};\nstruct head {{ u32 a; u32 b; }};\n\
         struct body {{ u32 a; u32 b; u64 c[8]; }};\n\
         struct path {{ char text[64]; }};\n\
         struct box {{ struct lane *lanes; u32 many; u16 few; struct head *first; struct path *path; struct lane own[16]; }};\n\
         int power(struct box *b)\n{{\n\tb->lanes = kcalloc(lanes_wired(), sizeof(*b->lanes), GFP_KERNEL);\n\
         \treturn b->lanes ? 0 : -ENOMEM;\n}}\n\
         ssize_t f(struct box *b, char __user *p, size_t n, loff_t *at)\n{{\n\tint i, ret = 0;\n\tchar text[40];\n\n{statements}\n}}\n"
    )
}

fn said(statements: &str) -> Vec<String> {
    rules(&function(statements))
}

#[test]
fn a_cast_makes_a_comparison_signed_or_not() {
    let with = |test: &str, array: &str| {
        said(&format!(
            "\tif (get_user(i, (int __user *)p))\n\t\treturn -EFAULT;\n\tif ({test})\n\t\treturn -EINVAL;\n\
             \treturn b->{array}[i].rate;"
        ))
    };
    for test in [
        "i >= (int)b->many",
        "i > 15",
        "i >= b->few",
        "i >= (s64)b->many",
    ] {
        assert_eq!(with(test, "own"), ["beyond-array"], "{test}");
    }
    // Of two of which one has no sign, less than 0 is more than the other.
    for test in [
        "i >= b->many",
        "(unsigned int)i > 15",
        "i > 15u",
        "(u32)i >= (int)b->many",
        "i < 0 || i >= (int)b->many",
    ] {
        assert_eq!(with(test, "own"), NONE, "{test}");
    }
}

#[test]
fn an_array_ends_where_another_function_has_it_end() {
    let with = |test: &str| {
        said(&format!(
            "\tu32 lane;\n\n\tif (get_user(lane, (u32 __user *)p))\n\t\treturn -EFAULT;\n\tif ({test})\n\t\treturn -EINVAL;\n\
             \treturn b->lanes[lane].rate;"
        ))
    };
    assert_eq!(with("lane > lanes_wired()"), ["beyond-array"]);
    assert_eq!(with("lanes_wired() < lane"), ["beyond-array"]);
    assert_eq!(with("lane >= lanes_wired()"), NONE);
    assert_eq!(with("lane > lanes_spare()"), NONE, "of something else");
}

#[test]
fn a_copy_behind_the_front_has_less_room() {
    let with = |bound: &str, from: &str| {
        said(&format!(
            "\tloff_t pos = *at;\n\tstruct body *r = find(b);\n\n{bound}\n\tif (copy_to_user(p, {from}, n))\n\
             \t\treturn -EFAULT;\n\treturn n;"
        ))
    };
    let least = "\tif (pos >= sizeof(*r))\n\t\treturn -EINVAL;\n\tn = min(n, sizeof(*r));";
    assert_eq!(with(least, "(char *)r + pos"), ["beyond-variable"]);
    assert_eq!(with(least, "r"), NONE);
    for bound in [
        // What is left is taken, or asked for.
        "\tif (pos >= sizeof(*r))\n\t\treturn -EINVAL;\n\tn = min_t(size_t, n, sizeof(*r) - pos);",
        "\tif (pos + n > sizeof(*r))\n\t\treturn -EINVAL;",
        "\tif (n > sizeof(*r) || pos > sizeof(*r) - n)\n\t\treturn -EINVAL;",
        "\tif (pos)\n\t\treturn 0;\n\tn = min(n, sizeof(*r));",
        "\tif (pos != 0 || n > sizeof(*r))\n\t\treturn -EINVAL;",
    ] {
        assert_eq!(with(bound, "(char *)r + pos"), NONE, "{bound}");
    }
}

#[test]
fn the_address_of_a_pointer_is_no_structure() {
    let with = |of: &str, size: &str| {
        said(&format!(
            "\tif (copy_to_user(p, {of}, {size}))\n\t\treturn -EFAULT;\n\treturn 0;"
        ))
    };
    assert_eq!(with("&b->path", "sizeof(*b->path)"), ["beyond-variable"]);
    assert_eq!(with("&b->path", "sizeof(struct path)"), ["beyond-variable"]);
    assert_eq!(with("b->path", "sizeof(*b->path)"), NONE);
    assert_eq!(with("&b->own[0]", "sizeof(b->own)"), NONE);
}

#[test]
fn more_than_the_room_is_never_given_back() {
    let with = |test: &str| {
        said(&format!(
            "\tlong len = strncpy_from_user(b->path->text, p, sizeof(b->path->text));\n\n\tif (len < 0)\n\
             \t\treturn len;\n{test}\treturn 0;"
        ))
    };
    let refusing = |test: &str| with(&format!("\tif ({test})\n\t\treturn -ENAMETOOLONG;\n"));
    assert_eq!(with(""), ["unterminated-string"]);
    assert_eq!(
        refusing("len > sizeof(b->path->text)"),
        ["unterminated-string"]
    );
    assert_eq!(refusing("64 < len"), ["unterminated-string"]);
    assert_eq!(refusing("len >= sizeof(b->path->text)"), NONE);
    assert_eq!(refusing("len == 64"), NONE);
    assert_eq!(refusing("len > 63"), NONE);
}

#[test]
fn a_program_may_begin_in_the_middle_of_a_buffer() {
    let with = |before: &str, after: &str| {
        said(&format!(
            "{before}\tret = simple_write_to_buffer(text, sizeof(text) - 1, at, p, n);\n{after}\
             \tif (sscanf(text, \"%d\", &i) != 1)\n\t\treturn -EINVAL;\n\tb->many = i;\n\treturn n;"
        ))
    };
    let ended = "\tif (ret < 0)\n\t\treturn ret;\n\ttext[ret] = 0;\n";
    assert_eq!(with("", ended), ["unterminated-string"]);
    for before in [
        "\tif (*at)\n\t\treturn -EINVAL;\n",
        "\t*at = 0;\n",
        "\tmemset(text, 0, sizeof(text));\n",
    ] {
        assert_eq!(with(before, ended), NONE, "{before}");
    }
    // Behind the front there is room for fewer than were asked for.
    let all = "\tif (ret != n)\n\t\treturn -EIO;\n\ttext[n] = 0;\n";
    assert_eq!(with("", all), NONE);
    let from_front = function(&format!(
        "\tloff_t front = 0;\n\n\tret = simple_write_to_buffer(text, sizeof(text) - 1, &front, p, n);\n{ended}\
         \treturn sscanf(text, \"%d\", &i);"
    ));
    assert_eq!(rules(&from_front), NONE);
}

#[test]
fn a_range_check_is_of_the_structure_behind_the_pointer() {
    let with = |size: &str| {
        said(&format!(
            "\tstruct body __user *u = (struct body __user *)p;\n\tstruct head *h = b->first;\n\n\tif (!access_ok(u, {size}))\n\
             \t\treturn -EFAULT;\n\tif (__get_user(i, &u->a))\n\t\treturn -EFAULT;\n\
             \treturn restore_lanes(b, i, u->c);"
        ))
    };
    assert_eq!(with("sizeof(struct head)"), ["other-object-checked"]);
    assert_eq!(with("sizeof(*h)"), ["other-object-checked"]);
    assert_eq!(with("sizeof(*u)"), NONE);
    assert_eq!(with("sizeof(struct body)"), NONE);
}

#[test]
fn what_was_left_is_no_number_of_bytes_to_go_on_with() {
    let with = |after: &str| {
        said(&format!(
            "\tsize_t part = n;\n\n\tpart -= copy_from_user(text, p, part);\n{after}\treturn ret;"
        ))
    };
    let sent = "\tret = send(b, text, part);\n";
    assert_eq!(with(sent), ["misread-result"]);
    for asked in [
        "\tif (!part)\n\t\treturn -EFAULT;\n",
        "\tif (part < n)\n\t\treturn -EFAULT;\n",
    ] {
        assert_eq!(with(&format!("{asked}{sent}")), NONE, "{asked}");
    }
}

#[test]
fn a_helper_that_only_says_what_was_left_has_callers() {
    let with = |given: &str| {
        rules(&format!(
            "static int head_of(struct h *h, void __user *p)\n{{\n\tint err;\n\n\
             \terr = copy_from_user(&h->size, p, sizeof(h->size));\n\tif (!err)\n\t\th->room = h->size + 8;\n\n\
             \treturn err;\n}}\n\
             long ask(struct h *h, void __user *p, int cmd)\n{{\n\tlong err = -ENOMEM;\n\n\tswitch (cmd) {{\n\
             \tcase 1:\n\t\terr = head_of(h, p);\n\t\tbreak;\n\t}}\n\tif (err)\n\t\tgoto out;\n\terr = go(h);\n\
             out:\n\treturn {given};\n}}\n"
        ))
    };
    assert_eq!(with("err ? err : h->done"), ["misread-result"]);
    assert_eq!(with("err ?: h->done"), ["misread-result"]);
    assert_eq!(with("err ? -EFAULT : h->done"), NONE);
}
