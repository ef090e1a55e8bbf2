//! What goes out of a struct's member, by a pointer to it, or on one of several ways, and that nothing
//! has set.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "struct slot { u32 ver[3]; char name[16]; };\n\
     struct report { u32 nr; u32 spare[7]; struct slot slot[4]; };\n\
     struct pair { u32 a; u32 b; };\n\
     struct conf { u32 flags; u32 mtu; };\n\
     struct both { struct conf conf; u32 more[4]; };\n\
     struct dev { u32 state; u32 kind; struct conf conf; struct list_head list; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A function of these statements.
fn body(statements: &str) -> Vec<String> {
    rules(&format!(
        "static long f(struct dev *d, int how, void __user *u, u32 __user *n)\n{{\n{statements}\n}}\n"
    ))
}

#[test]
fn a_pointer_to_a_part_sets_no_more_than_that() {
    let report = |how: &str, set: &str| {
        body(&format!(
            "\tstruct report *r = {how}(sizeof(*r), GFP_KERNEL);\n\tstruct slot *s;\n\tint i;\n\n\
             \tif (!r)\n\t\treturn -ENOMEM;\n{set}\n\
             \tif (copy_to_user(u, r, sizeof(*r)))\n\t\thow = -EFAULT;\n\tkfree(r);\n\treturn how;\n"
        ))
    };
    let set = [
        "\tr->nr = 1;\n\ts = &r->slot[0];\n\ts->ver[0] = 1;\n\ts->name[0] = 0;",
        "\tr->nr = how;\n\tfor (i = 0; i < how; i++) {\n\t\tstruct slot *own = &r->slot[i];\n\n\
         \t\tstrscpy(own->name, \"x\", sizeof(own->name));\n\t}",
        "\ts = &r->slot[how];\n\tmemcpy(s, d, sizeof(*s));\n\tr->nr = 1;",
        "\ts = &r->slot[0];\n\tmemset(s, 0, sizeof(*s));\n\tif (s->ver[0])\n\t\treturn 0;\n\tr->nr = 2;",
    ];
    for set in set {
        assert_eq!(report("kmalloc", set), ["copied-holes"], "{set}");
        assert_eq!(report("kzalloc", set), NONE, "{set}");
    }
    for right in [
        "\tr->nr = 1;\n\tmemset(r->spare, 0, sizeof(r->spare));\n\ts = &r->slot[0];\n\ts->ver[0] = 1;",
        // Who knows what else is done by it.
        "\tr->nr = 1;\n\ts = &r->slot[0];\n\tkeep(&s);",
    ] {
        assert_eq!(report("kmalloc", right), NONE, "{right}");
    }
}

#[test]
fn a_member_that_goes_out_is_set() {
    for wrong in [
        "\tstruct pair p;\n\n\tp.a = 1;\n\treturn put_user(p.b, n);",
        "\tstruct both all;\n\n\tall.more[0] = 1;\n\treturn copy_to_user(u, &all.conf, sizeof(all.conf)) ? -EFAULT : 0;",
        "\tstruct both all;\n\n\tall.conf.flags = 1;\n\
         \tif (copy_to_user(u, &all.conf, sizeof(struct conf)))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tstruct pair p;\n\n\tp.a = 1;\n\tif (d->state)\n\t\tp.b = 2;\n\treturn put_user(p.b, n);",
        "\tstruct both all;\n\n\tif (d->state)\n\t\tmemcpy(&all.conf, &d->conf, sizeof(d->conf));\n\
         \telse if (d->kind)\n\t\tmemset(&all.conf, 0, sizeof(all.conf));\n\
         \tif (copy_to_user(u, &all.conf, sizeof(all.conf)))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tunion { u32 w[2]; u64 d; } v;\n\n\tswitch (d->kind) {\n\tcase 1:\n\t\tv.d = 1;\n\t\tbreak;\n\
         \tcase 2:\n\t\tv.d = 2;\n\t\tbreak;\n\t}\n\treturn put_user(v.w[0], n);",
    ] {
        assert_eq!(body(wrong), ["copied-holes"], "{wrong}");
    }
    for right in [
        "\tstruct pair p;\n\n\tp.a = 1;\n\treturn put_user(p.a, n);",
        "\tstruct pair p = { .a = 1 };\n\n\treturn put_user(p.b, n);",
        "\tstruct pair p;\n\n\tread_pair(d, &p);\n\treturn put_user(p.b, n);",
        "\tstruct both all;\n\n\tall.conf = d->conf;\n\
         \treturn copy_to_user(u, &all.conf, sizeof(all.conf)) ? -EFAULT : 0;",
        "\tstruct both all;\n\n\tif (copy_from_user(&all, u, sizeof(all)))\n\t\treturn -EFAULT;\n\
         \treturn copy_to_user(u, &all.conf, sizeof(all.conf)) ? -EFAULT : 0;",
        "\tstruct pair p;\n\n\tif (d->state)\n\t\tp.b = 2;\n\telse\n\t\tp.b = 1;\n\treturn put_user(p.b, n);",
        "\tstruct pair p;\n\n\tif (!d->state)\n\t\treturn -EIO;\n\tp.b = 2;\n\treturn put_user(p.b, n);",
        "\tunion { u32 w[2]; u64 d; } v;\n\n\tv.d = 1;\n\treturn put_user(v.w[0], n);",
        // Asked of the same.
        "\tstruct pair p;\n\n\tif (d->state)\n\t\tp.b = 2;\n\tif (!d->state)\n\t\treturn 0;\n\treturn put_user(p.b, n);",
    ] {
        assert_eq!(body(right), NONE, "{right}");
    }
}

#[test]
fn what_another_case_sets_is_not_set_here() {
    let cases = |one: &str, two: &str| {
        body(&format!(
            "\tstruct conf c;\n\n\tswitch (how) {{\n\tcase 1:\n{one}\n\tcase 2:\n{two}\n\t}}\n\treturn 0;"
        ))
    };
    let out = "\t\treturn copy_to_user(u, &c, sizeof(c)) ? -EFAULT : 0;";
    let fetch =
        "\t\tif (copy_from_user(&c, u, sizeof(c)))\n\t\t\treturn -EFAULT;\n\t\treturn use(d, &c);";
    let whole = format!("\t\tc.flags = 1;\n\t\tc.mtu = 2;\n{out}");
    let half = format!("\t\tc.flags = 1;\n{out}");
    assert_eq!(cases(fetch, &half), ["copied-holes"]);
    assert_eq!(cases(&half, fetch), ["copied-holes"]);
    assert_eq!(cases(&whole, &half), ["copied-holes"]);
    assert_eq!(cases(fetch, &whole), NONE);
    assert_eq!(cases(&whole, &whole), NONE);
    assert_eq!(
        cases("\t\tc.mtu = 2;", &half),
        NONE,
        "it goes on to the next"
    );
}

#[test]
fn a_number_has_a_value_in_each_case() {
    let cases = |last: &str, behind: &str| {
        body(&format!(
            "\tu32 v;\n\n\tswitch (d->kind) {{\n\tcase 1:\n\t\tv = 1;\n\t\tbreak;\n\tcase 2:\n\t\tv = d->state;\n\
             \t\tbreak;\n{last}\n\t}}\n{behind}"
        ))
    };
    let out = "\treturn put_user(v, n);";
    let copy = "\tif (copy_to_user(u, &v, sizeof(v)))\n\t\treturn -EFAULT;\n\treturn 0;";
    let masked = "\tif (d->kind & 1)\n\t\treturn put_user(v, n);\n\treturn 0;";
    for (last, behind) in [
        ("\tdefault:\n\t\tbreak;", out),
        ("\tdefault:\n\t\tpr_debug(\"no\\n\");", copy),
        (
            "\tcase 3:\n\t\td->state = 1;\n\t\tbreak;\n\tdefault:\n\t\treturn -EIO;",
            out,
        ),
        ("\tdefault:\n\t\tbreak;", masked),
        ("", out),
    ] {
        assert_eq!(cases(last, behind), ["copied-holes"], "{last} {behind}");
    }
    for (last, behind) in [
        ("\tdefault:\n\t\treturn -EIO;", out),
        ("\tdefault:\n\t\tv = 0;", out),
        ("\tdefault:\n\t\tv = 0;", copy),
        (
            "\tdefault:\n\t\thow = -EIO;",
            "\tif (!how)\n\t\thow = put_user(v, n);\n\treturn how;",
        ),
    ] {
        assert_eq!(cases(last, behind), NONE, "{last} {behind}");
    }
}

#[test]
fn a_tag_may_be_a_macro_for_another() {
    let place = |last: &str| {
        rules(&format!(
            "#define store kernel_store\nstruct kernel_store {{ u32 words[8]; }};\n\
             struct place {{ u32 osd; u32 pad; struct store at; }};\n\
             static long f(struct dev *d, void __user *u)\n{{\n\tstruct place p;\n\n\tp.osd = d->kind;\n\tp.pad = 0;\n\
             \tif (d->state)\n\t\tmemcpy(&p.at, d, sizeof(p.at));\n{last}\
             \treturn copy_to_user(u, &p, sizeof(p)) ? -EFAULT : 0;\n}}\n"
        ))
    };
    assert_eq!(place(""), ["copied-holes"]);
    assert_eq!(place("\telse\n\t\tmemset(&p.at, 0, sizeof(p.at));\n"), NONE);
}
