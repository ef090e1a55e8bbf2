//! Members that a structure declares as pointers to user memory, and who goes through them by hand.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];
const RULE: [&str; 1] = ["user-pointer-dereferenced"];

const TYPES: &str = "struct slots { int count; int __user *places; struct side __user *sides; int *own; };\n\
     struct side { u32 a; u32 b; };\n\
     struct outer { u32 kind; struct slots in; };\n\
     typedef struct { char __user *text; u32 length; } text_t;\n";

/// What is said of a function of these statements.
fn said(statements: &str) -> Vec<String> {
    rules(&format!(
        "{TYPES}static int f(struct slots *d, struct outer *o, text_t *t, int i, u32 v)\n{{\n{statements}\n\treturn v;\n}}\n"
    ))
}

#[test]
fn a_member_that_is_the_users_is_not_followed_by_hand() {
    for wrong in [
        "\td->places[i] = v;",
        "\tv = d->places[i];",
        "\t*d->places = v;",
        "\t*(d->places + i) = v;",
        "\tv = d->sides->b;",
        "\to->in.sides[i].a = v;",
        "\tv = t->text[0];",
        "\tif (*t->text == 'a')\n\t\treturn -EINVAL;",
        "\tu32 *all = (u32 *)o->in.places;\n\n\tif (!all)\n\t\treturn -EFAULT;\n\tv = all[0] + all[1];",
        "\tstruct side *own = (struct side *)d->sides;\n\n\town->a = v;",
        "\tu32 *all;\n\n\tall = (u32 *)d->places;\n\t*all = v;",
    ] {
        assert_eq!(said(wrong), RULE, "{wrong}");
    }
}

#[test]
fn a_member_of_the_kernels_and_an_address_alone_are() {
    for right in [
        "\td->own[i] = v;",
        "\tv = *o->in.own;",
        "\tv = d->places == &d->places[i];",
        "\tv = (unsigned long)d->sides & 3;",
        "\tu32 *all = (u32 *)d->own;\n\n\tv = all[0];",
        "\tv = d->count * t->length;",
        "\td->places = NULL;",
    ] {
        assert_eq!(said(right), NONE, "{right}");
    }
}

#[test]
fn a_function_of_the_file_that_is_given_one_by_force_goes_through_it_as_well() {
    let given = |body: &str| {
        rules(&format!(
            "static int load(struct chip *p, const u8 *from, int size)\n{{\n\tint ret = 0;\n\n{body}\n\treturn ret;\n}}\n\n\
             static int load_user(struct chip *p, const u8 __user *buf, int size)\n{{\n\
             \treturn load(p, (const u8 __force *)buf, size);\n}}\n"
        ))
    };
    for wrong in [
        "\twhile (size--) {\n\t\tif (!command(p, *from++))\n\t\t\treturn -EIO;\n\t}",
        "\tspin_lock(&p->lock);\n\twhile (size--)\n\t\tcommand(p, *from++);\n\tspin_unlock(&p->lock);",
        "\tfor (; size; size--, from++)\n\t\tcommand(p, *from);",
        "\tret = *from++;\n\tret |= *from++ << 8;",
        "\tconst u8 *end = from + size;\n\n\twhile (from < end)\n\t\twriteb(*from++, p->port);",
    ] {
        assert_eq!(given(wrong), RULE, "{wrong}");
    }
    for right in [
        "\tret = keep(p, from, size);",
        "\tp->from = from;",
        "\tfrom = p->text;\n\tret = *from;",
    ] {
        assert_eq!(given(right), NONE, "{right}");
    }
}
