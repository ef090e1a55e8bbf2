//! What is bounded, and by something else than its object: the larger of two, a type that has a
//! sign, another structure's size, the count of another array, and a 0 that a copy goes over; each
//! class in wrong forms and right ones.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// What the functions of these tests name.
const TYPES: &str = "\
typedef long long loff_t;
struct seat { u32 row; u32 place; };
struct hall { u32 num_seats; struct seat *seats; u32 nr_doors; struct seat *doors; u32 exit_count; u32 *exit;
\tu32 nrooms; u32 rooms[16]; struct seat stage; };
struct note { char title[16]; char body[32]; };
";

fn said(functions: &str) -> Vec<String> {
    let mut found = rules(&format!("{TYPES}{functions}"));
    found.dedup();
    found
}

/// What is said of a write of a file with these statements.
fn write(statements: &str) -> Vec<String> {
    said(&format!(
        "static ssize_t f(struct file *file, const char __user *u, size_t n, loff_t *at)\n{{\n\
         \tstruct hall *h = file->private_data;\n{statements}\n\treturn n;\n}}\n\
         static const struct file_operations fops = {{ .write = f }};\n"
    ))
}

#[test]
fn the_larger_of_two_bounds_nothing() {
    let with = |length: &str| {
        write(&format!(
            "\tchar text[24] = {{}};\n\tsize_t len;\n\n\tlen = {length};\n\tif (copy_from_user(text, u, len))\n\
             \t\treturn -EFAULT;\n\tshow(h, text, sizeof(text));"
        ))
    };
    assert_eq!(with("max(n, sizeof(text) - 1)"), ["beyond-variable"]);
    assert_eq!(with("max_t(size_t, 16, n)"), ["beyond-variable"]);
    assert_eq!(with("max(sizeof(text), n) - 1"), ["beyond-variable"]);
    assert_eq!(with("min(n, sizeof(text) - 1)"), NONE);
    assert_eq!(with("min(max(n, 4), sizeof(text))"), NONE);
    let direct = |length: &str| {
        write(&format!(
            "\tchar text[24] = {{}};\n\n\tif (copy_from_user(text, u, {length}))\n\t\treturn -EFAULT;\n\
             \tshow(h, text, sizeof(text));"
        ))
    };
    assert_eq!(direct("max(n, 8)"), ["beyond-variable"]);
    assert_eq!(direct("min(n, 8)"), NONE);
    // It is no less than 1 for all that.
    let divided = "\tu32 by;\n\n\tif (get_user(by, (u32 __user *)u))\n\t\treturn -EFAULT;\n\tby = max(by, 1);\n\
                   \th->nrooms = 100 / by;";
    assert_eq!(write(divided), NONE);
}

#[test]
fn the_smaller_of_two_may_be_less_than_0_on_each_way() {
    let with = |first: &str, one: &str, other: &str| {
        said(&format!(
            "static int get(struct hall *h, int which, char __user *u, int __user *lenp)\n{{\n\tint len;\n\tvoid *from;\n\n\
             \tif (get_user(len, lenp))\n\t\treturn -EFAULT;\n{first}\tif (which) {{\n\t\tlen = {one};\n\t\tfrom = h->seats;\n\
             \t}} else {{\n\t\tlen = {other};\n\t\tfrom = h->doors;\n\t}}\n\treturn copy_to_user(u, from, len) ? -EFAULT : 0;\n}}\n"
        ))
    };
    let least = "min_t(int, len, sizeof(struct seat))";
    assert_eq!(with("", least, least), ["beyond-variable"]);
    assert_eq!(with("", least, "sizeof(struct seat)"), ["beyond-variable"]);
    assert_eq!(
        with("\tif (len < 0)\n\t\treturn -EINVAL;\n", least, least),
        NONE
    );
    let unsigned = "min_t(unsigned int, len, sizeof(struct seat))";
    assert_eq!(with("", unsigned, unsigned), NONE);
    // What it was then is not what it is.
    assert_eq!(with("\tlen = min_t(int, len, 8);\n", "4", "8"), NONE);
}

#[test]
fn no_less_than_the_object_has_is_no_bound_of_what_a_socket_was_given() {
    let with = |refused: &str, copy: &str| {
        said(&format!(
            "static int set(struct hall *h, int which, sockptr_t optval, unsigned int optlen)\n{{\n\tint error = 0;\n\n\
             \tlock(h);\n\tswitch (which) {{\n\tcase 1:\n\t\tif (!h || {refused}) {{\n\t\t\terror = -EINVAL;\n\t\t\tgoto out;\n\t\t}}\n\
             \t\tif ({copy})\n\t\t\terror = -EFAULT;\n\t\tbreak;\n\tcase 2:\n\t\tif (optlen != sizeof(int))\n\
             \t\t\terror = -EINVAL;\n\t\tbreak;\n\t}}\nout:\n\tunlock(h);\n\treturn error;\n}}\n"
        ))
    };
    let less = "optlen < sizeof(struct seat)";
    let copy = "copy_from_sockptr(&h->stage, optval, optlen)";
    assert_eq!(with(less, copy), ["beyond-variable"]);
    let behind = "copy_from_sockptr_offset(&h->stage, optval, 4, optlen)";
    assert_eq!(with(less, behind), ["beyond-variable"]);
    assert_eq!(with("optlen != sizeof(struct seat)", copy), NONE);
    let whole = "copy_from_sockptr(&h->stage, optval, sizeof(h->stage))";
    assert_eq!(with(less, whole), NONE);
    let more = "copy_from_sockptr(&error, optval, sizeof(struct seat))";
    assert_eq!(with(less, more), ["beyond-variable"]);
}

#[test]
fn a_copy_over_all_of_an_array_leaves_no_0_in_it() {
    let with = |declared: &str, copy: &str, behind: &str| {
        write(&format!(
            "\tchar text[24]{declared};\n\n\tmemset(text, 0, sizeof(text));\n\tif ({copy})\n\t\treturn -EFAULT;\n{behind}\
             \th->nrooms = strlen(text);"
        ))
    };
    let all = "copy_from_user(text, u, min(n, sizeof(text)))";
    assert_eq!(with("", all, ""), ["unterminated-string"]);
    assert_eq!(with(" = {}", all, ""), ["unterminated-string"]);
    let whole = "copy_from_user(text, u, sizeof(text))";
    assert_eq!(with(" = \"\"", whole, ""), ["unterminated-string"]);
    let bounded = "n > sizeof(text) || copy_from_user(text, u, n)";
    assert_eq!(with("", bounded, ""), ["unterminated-string"]);
    assert_eq!(with("", all, "\ttext[sizeof(text) - 1] = 0;\n"), NONE);
    assert_eq!(with("", all, "\tstrreplace_end(text);\n"), NONE);
    let less = "copy_from_user(text, u, min(n, sizeof(text) - 1))";
    assert_eq!(with("", less, ""), NONE);
    let fewer = "n >= sizeof(text) || copy_from_user(text, u, n)";
    assert_eq!(with(" = {}", fewer, ""), NONE);
    let member = |size: &str| {
        write(&format!(
            "\tstruct note note = {{}};\n\n\tif (copy_from_user(&note, u, {size}))\n\t\treturn -EFAULT;\n\
             \th->nrooms = strlen(note.body);"
        ))
    };
    assert_eq!(member("sizeof(note)"), ["unterminated-string"]);
    assert_eq!(member("sizeof(note) - 1"), NONE);
    // By another name that is only read.
    let named = |statement: &str| {
        write(&format!(
            "\tchar text[24];\n\n\tmemset(text, 0, sizeof(text));\n\tif (copy_from_user(text, u, min(n, sizeof(text))))\n\
             \t\treturn -EFAULT;\n\tif (text[0] == '/') {{\n\t\tchar *at = text;\n\n\t\t{statement}\n\
             \t\th->nrooms = strlen(text);\n\t}}"
        ))
    };
    assert_eq!(named(""), ["unterminated-string"]);
    assert_eq!(named("at[23] = 0;"), NONE);
}

#[test]
fn the_size_of_another_structure_is_not_its_own() {
    let with = |size: &str| {
        said(&format!(
            "static int get(struct hall *h, void __user *u)\n{{\n\tstruct nobody_knows_this one;\n\
             \tstruct nor_that other;\n\n\tfill(h, &one, &other);\n\treturn copy_to_user(u, &one, sizeof({size})) ? -EFAULT : 0;\n}}\n"
        ))
    };
    assert_eq!(with("other"), ["beyond-variable"]);
    assert_eq!(with("one"), NONE);
    assert_eq!(with("struct nobody_knows_this"), NONE);
}

#[test]
fn a_function_for_32_bit_programs_measures_by_their_structure() {
    let with = |name: &str, least: &str, refused: &str| {
        said(&format!(
            "struct crowd {{ u64 id; void *first; void *last; u32 all[]; }};\nstruct compat_crowd {{ u64 id; u32 first; u32 last; u32 all[]; }};\n\
             static int {name}(struct hall *h, char __user *u, int len)\n{{\n\tconst int size = {least};\n\
             \tstruct compat_crowd own;\n\n\tif ({refused})\n\t\treturn -EINVAL;\n\tif (copy_from_user(&own, u, size))\n\
             \t\treturn -EFAULT;\n\treturn take(h, own.id, own.first);\n}}\n"
        ))
    };
    let (own, native) = (
        "offsetof(struct compat_crowd, all)",
        "offsetof(struct crowd, all[0])",
    );
    assert_eq!(with("compat_get", native, "len < size"), ["other-layout"]);
    assert_eq!(
        with("compat_get", own, &format!("len < {native}")),
        ["other-layout"]
    );
    assert_eq!(
        with("compat_get", own, "len < sizeof(struct crowd)"),
        ["other-layout"]
    );
    assert_eq!(with("compat_get", own, "len < size"), NONE);
    assert_eq!(with("get", native, "len < size"), NONE);
    // What lies alike is the same number; it is less than what is copied.
    let alike = "offsetof(struct crowd, first)";
    assert_eq!(
        with("compat_get", own, &format!("len < {alike}")),
        ["beyond-argument"]
    );
    let both = "len != sizeof(struct crowd) && len != sizeof(struct compat_crowd)";
    assert_eq!(with("compat_get", own, both), NONE);
}

#[test]
fn an_array_is_bounded_by_its_own_count() {
    let with = |refused: &str, picked: &str| {
        write(&format!(
            "\tu32 i;\n\n\tif (get_user(i, (u32 __user *)u))\n\t\treturn -EFAULT;\n\tif ({refused})\n\t\treturn -EINVAL;\n\
             \ti = array_index_nospec(i, h->num_seats);\n\tshow(h, {picked});"
        ))
    };
    for (refused, picked) in [
        ("i > h->num_seats", "h->seats[i].row"),
        ("h->nr_doors < i", "h->doors[i].row"),
        ("i > h->exit_count", "h->exit[i]"),
        ("i >= h->nr_doors", "h->seats[i].row"),
        ("i >= h->num_seats", "h->exit[i]"),
    ] {
        assert_eq!(with(refused, picked), ["beyond-array"], "{refused}");
    }
    for (refused, picked) in [
        ("i >= h->num_seats", "h->seats[i].row"),
        ("i >= h->exit_count", "h->exit[i]"),
        // What has a size of its own may have more than are in use.
        ("i > h->nrooms", "h->stage"),
        ("i >= h->stage.row", "h->seats[i].row"),
        ("i > h->stage.row", "h->seats[i].row"),
    ] {
        assert_eq!(with(refused, picked), NONE, "{refused}");
    }
    // Nobody asked the user.
    let kernels = "\tu32 i = pick(h);\n\n\tif (i > h->num_seats)\n\t\treturn -EINVAL;\n\
                   \treturn put_user(h->seats[i].row, (u32 __user *)u);";
    assert_eq!(write(kernels), NONE);
}

#[test]
fn an_array_is_set_as_far_as_there_is_something_for_it() {
    let with = |round: &str, copied: &str| {
        said(&format!(
            "static ssize_t f(struct file *file, char __user *u, size_t n, loff_t *at)\n{{\n\tstruct hall *h = file->private_data;\n\
             \tu8 out[24];\n\tsize_t i = 0, len;\n\n\tn = min(n, sizeof(out));\n\t{round}\n\tlen = i;\n\tif ({copied})\n\
             \t\treturn -EFAULT;\n\treturn i;\n}}\nstatic const struct file_operations fops = {{ .read = f }};\n"
        ))
    };
    let some = "while (i < n && has(h))\n\t\tout[i++] = next(h);";
    let until = "for (;;) {\n\t\tif (i == n || !has(h))\n\t\t\tbreak;\n\t\tout[i] = next(h);\n\t\ti++;\n\t}";
    let all = "while (i < n)\n\t\tout[i++] = next(h);";
    for round in [some, until] {
        assert_eq!(
            with(round, "copy_to_user(u, out, n)"),
            ["copied-holes"],
            "{round}"
        );
        assert_eq!(
            with(round, "i && copy_to_user(u, out, n)"),
            ["copied-holes"]
        );
        for right in [
            "copy_to_user(u, out, i)",
            "copy_to_user(u, out, len)",
            "i == n && copy_to_user(u, out, n)",
            "clear_rest(out, i) || copy_to_user(u, out, n)",
        ] {
            assert_eq!(with(round, right), NONE, "{round} {right}");
        }
    }
    assert_eq!(with(all, "copy_to_user(u, out, n)"), NONE);
    assert_eq!(with(all, "copy_to_user(u, out, i)"), NONE);
}

#[test]
fn what_another_case_does_with_a_variable_says_nothing_of_the_number() {
    let with = |other: &str| {
        said(&format!(
            "long f(struct hall *h, unsigned int cmd, int __user *p, char __user *from)\n{{\n\tchar text[8];\n\tint n;\n\n\
             \tswitch (cmd) {{\n\tcase 1:\n{other}\n\tcase 2:\n\t\tif (get_user(n, p))\n\t\t\treturn -EFAULT;\n\
             \t\tif (copy_from_user(text, from, n))\n\t\t\treturn -EFAULT;\n\t\treturn show(h, text);\n\t}}\n\
             \treturn -ENOTTY;\n}}\n"
        ))
    };
    let alone = with("\t\treturn h->num_seats;");
    assert!(alone.contains(&"beyond-variable".to_owned()), "{alone:?}");
    for other in [
        "\t\tn = h->num_seats;\n\t\treturn n;",
        "\t\tn = h->num_seats;\n\t\tif (put_user(n, p))\n\t\t\treturn -EFAULT;\n\t\tbreak;",
    ] {
        assert_eq!(with(other), alone, "{other}");
    }
}

#[test]
fn a_value_that_a_member_takes_behind_its_use_is_no_bound() {
    let with = |before: &str, behind: &str| {
        said(&format!(
            "struct ask {{ u32 count; u32 flags; }};\nlong f(struct hall *h, struct ask __user *p, char __user *to)\n{{\n\
             \tchar text[16] = {{}};\n\tstruct ask own;\n\n\tif (copy_from_user(&own, p, sizeof(own)))\n\
             \t\treturn -EFAULT;\n{before}\tif (copy_to_user(to, text, own.count))\n\t\treturn -EFAULT;\n{behind}\
             \treturn put_user(own.count, &p->count);\n}}\n"
        ))
    };
    assert_eq!(with("", "\town.count = h->nrooms;\n"), ["beyond-variable"]);
    assert_eq!(with("\town.count = 16;\n", ""), NONE);
}

#[test]
fn a_helper_that_bounds_what_it_copies_is_given_any_number() {
    let with = |asks: &str| {
        said(&format!(
            "static int take(void *to, size_t room, const char __user *u, size_t n)\n{{\n{asks}\
             \tif (copy_from_user(to, u, room))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n\
             static ssize_t f(struct file *file, const char __user *u, size_t n, loff_t *at)\n{{\n\
             \tstruct note note = {{}};\n\tint err = take(&note, n, u, n);\n\n\tif (err)\n\t\treturn err;\n\
             \tkeep(&note);\n\treturn n;\n}}\n\
             static const struct file_operations fops = {{ .write = f }};\n"
        ))
    };
    assert_eq!(with(""), ["beyond-variable"]);
    for right in [
        "\tif (n != room || room > sizeof(struct note))\n\t\treturn -EINVAL;\n",
        "\tif (n != room || n > sizeof(struct note))\n\t\treturn -EINVAL;\n",
        "\tif (room > limit())\n\t\treturn -EINVAL;\n",
    ] {
        assert_eq!(with(right), NONE, "{right}");
    }
    for wrong in [
        "\tif (n != room)\n\t\treturn -EINVAL;\n",
        "\tif (room == 0)\n\t\treturn -EINVAL;\n",
        "\tif (room > sizeof(struct hall))\n\t\treturn -EINVAL;\n",
    ] {
        assert_eq!(with(wrong), ["beyond-variable"], "{wrong}");
    }
}
