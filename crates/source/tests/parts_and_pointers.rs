//! What goes out in part set: by a number, by a function that gives it on, where a condition holds;
//! pointers for what they lead to, and those of the user's that a function of the file goes through.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

fn said(text: &str) -> Vec<String> {
    let found = mistakes::found(None, text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

const TYPES: &str = "struct head { int kind; int version; };
struct note { struct head head; unsigned int length; char name[64]; };
struct wide { unsigned long a; unsigned char b; unsigned long c; };
struct narrow { unsigned int a; unsigned char b; unsigned int c; };
struct owner { int first; struct wide params; struct head head; void *state; struct head *at; };
";

/// What is said of a note that goes to a program behind those statements.
fn noted(statements: &str) -> Vec<String> {
    said(&format!(
        "{TYPES}static int tell(struct owner *o, struct note __user *to, const char *name, unsigned int n)\n{{\n\tstruct note note;\n\n{statements}\n\treturn copy_to_user(to, &note, sizeof(note)) ? -EFAULT : 0;\n}}\n"
    ))
}

const OTHERS: &str = "\tnote.head.kind = 1;\n\tnote.head.version = 2;\n\tnote.length = n;\n";

#[test]
fn as_many_bytes_as_there_are_do_not_fill_an_array() {
    for wrong in [
        "\tmemcpy(note.name, name, n);",
        "\tmemcpy(note.name, name, n);\n\tnote.name[n] = 0;",
        "\tmemcpy(note.name, o->at, min(n, 64u));",
        "\tmemcpy(&note.name, name, o->first);",
    ] {
        assert_eq!(
            noted(&format!("{OTHERS}{wrong}")),
            ["copied-holes"],
            "{wrong}"
        );
        let cleared = format!("\tmemset(&note, 0, sizeof(note));\n{OTHERS}{wrong}");
        assert_eq!(noted(&cleared), NONE, "{cleared}");
    }
    for right in [
        "\tmemcpy(note.name, name, sizeof(note.name));",
        "\tmemcpy(note.name, name, n);\n\tmemset(note.name + n, 0, sizeof(note.name) - n);",
        "\tif (n != sizeof(note.name))\n\t\treturn -EINVAL;\n\tmemcpy(note.name, name, n);",
        "\tmemset(note.name, 0, sizeof(note.name));\n\tmemcpy(note.name, name, n);",
        "\tmemcpy(note.name, name, n);\n\twhile (n < 64)\n\t\tnote.name[n++] = 0;",
    ] {
        assert_eq!(noted(&format!("{OTHERS}{right}")), NONE, "{right}");
    }
}

#[test]
fn a_cast_hides_no_memset() {
    let set = "\tnote.length = n;\n";
    for short in ["sizeof(struct head)", "sizeof(*o->at)", "sizeof(note.head)"] {
        let wrong = format!("\tmemset((void *)&note, 0, {short});\n{set}");
        assert_eq!(noted(&wrong), ["copied-holes"], "{wrong}");
    }
    let right = format!("\tmemset((void *)&note, 0, sizeof(note));\n{set}");
    assert_eq!(noted(&right), NONE);
}

/// What is said of a head that a function fills, which gives it on to another one.
fn given_on(inner: &str, outer: &str) -> Vec<String> {
    said(&format!(
        "{TYPES}static void inner(struct owner *o, struct head *h)\n{{\n{inner}\n}}\n
static int outer(struct owner *o, struct head *h)\n{{\n{outer}\n}}\n
static int tell(struct owner *o, struct head __user *to)\n{{\n\tstruct head h;\n\tint err = outer(o, &h);\n\n\tif (!err && copy_to_user(to, &h, sizeof(h)))\n\t\treturn -EFAULT;\n\treturn err;\n}}\n"
    ))
}

#[test]
fn a_function_that_gives_it_on_is_looked_through() {
    let on = "\tinner(o, h);\n\treturn 0;";
    let found = "\tint i;\n\n\tfor (i = 0; i < o->first; i++) {\n\t\tif (o->at[i].kind == 3) {\n\t\t\tinner(o, h);\n\t\t\treturn 0;\n\t\t}\n\t}\n\treturn -ENODEV;";
    for outer in [on, found] {
        assert_eq!(
            given_on("\th->kind = o->first;", outer),
            ["copied-holes"],
            "{outer}"
        );
        let all = "\th->kind = o->first;\n\th->version = 1;";
        assert_eq!(given_on(all, outer), NONE, "{outer}");
    }
    // What is in another file may fill all of it.
    assert_eq!(given_on("\tfill(h);", on), NONE);
    let more = "\tinner(o, h);\n\th->version = 2;\n\treturn 0;";
    assert_eq!(given_on("\th->kind = o->first;", more), NONE);
}

/// What is said of a number that goes out behind those statements.
fn numbered(statements: &str) -> Vec<String> {
    said(&format!(
        "{TYPES}static int tell(struct owner *o, int state, unsigned int __user *to)\n{{\n\tunsigned int value, other = state;\n\n{statements}\n\treturn put_user(value, to);\n}}\n"
    ))
}

#[test]
fn a_number_may_have_a_value_only_where_a_condition_holds() {
    for wrong in [
        "\tif (state & 1)\n\t\tvalue = 4;",
        "\tif (o->first > 3) {\n\t\tother++;\n\t\tvalue = other;\n\t}",
        "\tif (o->first)\n\t\tvalue = 1;\n\tif (state)\n\t\tvalue = 2;",
    ] {
        assert_eq!(numbered(wrong), ["copied-holes"], "{wrong}");
    }
    for right in [
        "\tif (state & 1)\n\t\tvalue = 4;\n\telse\n\t\tvalue = 5;",
        "\tif (state & 1)\n\t\tvalue = 4;\n\tif (!(state & 1))\n\t\tvalue = 5;",
        "\tif (state & 1)\n\t\tvalue = 4;\n\tif (!state)\n\t\treturn -EINVAL;",
        "\tif (next(o))\n\t\tvalue = 4;",
        "\tvalue = 0;\n\tif (state & 1)\n\t\tvalue = 4;",
        "\tswitch (state) {\n\tcase 1:\n\t\tvalue = 1;\n\t\tbreak;\n\tdefault:\n\t\treturn -EINVAL;\n\t}",
    ] {
        assert_eq!(numbered(right), NONE, "{right}");
    }
}

/// What is said of a copy to or from an owner's member.
fn copied(call: &str) -> Vec<String> {
    said(&format!(
        "{TYPES}static int move(struct owner *o, void __user *p, struct narrow __user *n, struct head __user *h)\n{{\n\tconst size_t size = sizeof(struct head);\n\tstruct head *own = &o->head;\n\n\tif ({call})\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn a_pointer_is_not_what_it_points_to() {
    for (wrong, right) in [
        (
            "copy_to_user(p, &o->state, size)",
            "copy_to_user(p, o->state, size)",
        ),
        (
            "copy_to_user(p, &o->at, sizeof(struct head))",
            "copy_to_user(p, o->at, sizeof(struct head))",
        ),
        (
            "copy_from_user(&o->at, p, sizeof(*o->at))",
            "copy_from_user(o->at, p, sizeof(*o->at))",
        ),
    ] {
        assert_eq!(copied(wrong), ["kernel-address"], "{wrong}");
        assert_eq!(copied(right), NONE, "{right}");
    }
    // Whoever says so means the pointer.
    for meant in [
        "copy_to_user(p, &o->state, sizeof(o->state))",
        "copy_from_user(&o->state, p, sizeof(void *))",
    ] {
        assert_eq!(copied(meant), NONE, "{meant}");
    }
}

#[test]
fn a_variable_may_hold_where_a_member_is() {
    assert_eq!(
        copied("copy_to_user(p, own, sizeof(*o))"),
        ["beyond-variable"]
    );
    assert_eq!(copied("copy_to_user(p, own, sizeof(*own))"), NONE);
}

#[test]
fn a_member_is_no_smaller_structure_of_the_users() {
    let wrong = "copy_to_user(n, &o->params, sizeof(o->params))";
    assert_eq!(copied(wrong), ["other-layout"]);
    assert_eq!(
        copied("copy_to_user(p, &o->params, sizeof(o->params))"),
        NONE
    );
    assert_eq!(copied("copy_to_user(h, &o->head, sizeof(o->head))"), NONE);
}

/// What is said of a handler that gives its buffer to a function which takes one of each kind.
fn handed(call: &str) -> Vec<String> {
    said(&format!(
        "static char room[64];\n
static ssize_t both(const char __user *from, const void *own, size_t n)\n{{\n\tif (n > sizeof(room))\n\t\treturn -EINVAL;\n\tif (from && copy_from_user(room, from, n))\n\t\treturn -EFAULT;\n\tif (own) {{\n\t\tmemcpy(room, own, n);\n\t\town += n;\n\t}}\n\treturn n;\n}}\n
static ssize_t looks(void *own, size_t n)\n{{\n\tpr_debug(\"%p\\n\", own);\n\treturn n;\n}}\n
static ssize_t own_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)\n{{\n\treturn {call};\n}}\n"
    ))
}

#[test]
fn a_function_of_the_file_goes_through_what_it_is_given() {
    assert_eq!(handed("both(NULL, buf, n)"), ["user-pointer-dereferenced"]);
    for right in [
        "both(buf, NULL, n)",
        "both(NULL, room, n)",
        "looks((void __force *)buf, n)",
    ] {
        assert_eq!(handed(right), NONE, "{right}");
    }
}

/// What is said where as many elements are set as there is something for, and all go out.
fn picked(behind: &str, count: &str) -> Vec<String> {
    said(&format!(
        "{TYPES}static int pick(struct owner *o, struct note *room, unsigned int __user *to)\n{{\n\tunsigned int all[8];\n\tunsigned int i, n = 0;\n\n\tfor (i = 0; i < 8; i++)\n\t\tif (has(o, i))\n\t\t\tall[n++] = i;\n{behind}\n\tif (copy_to_user(to, all, {count}))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn what_a_program_has_room_for_says_nothing_of_how_many_there_are() {
    for behind in ["", "\tif (room->length < n)\n\t\treturn -E2BIG;\n"] {
        assert_eq!(picked(behind, "sizeof(all)"), ["copied-holes"], "{behind}");
        assert_eq!(picked(behind, "n * sizeof(*all)"), NONE, "{behind}");
    }
    for all in [
        "\tif (n != ARRAY_SIZE(all))\n\t\treturn -ENODATA;",
        "\tif (n < 8)\n\t\treturn -ENODATA;",
    ] {
        assert_eq!(picked(all, "sizeof(all)"), NONE, "{all}");
    }
}
