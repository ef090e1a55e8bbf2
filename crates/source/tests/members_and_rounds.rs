//! Ranges of which another member's was checked, or the first round's alone; lengths of strings that a
//! variable keeps beside other results; bytes left that go the way of an error number.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const HEAD: &str = "struct lut { u32 n; u64 red; u64 green; u64 blue; void __user *text; };\n\
     struct own { char name[16]; union { void __user *u_data; int u_flags; } u; };\n\
     #define own_data u.u_data\n";

/// What is said of a text behind some structures.
fn rules(text: &str) -> Vec<String> {
    let text = format!("{HEAD}{text}");
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// What is said of a function of the statements.
fn of(statements: &str) -> Vec<String> {
    rules(&format!(
        "int f(struct dev *d, struct lut *l, u32 __user *p, size_t n)\n{{\n\tint i, ret = 0;\n{statements}\n}}\n"
    ))
}

#[test]
fn the_range_of_another_member_is_checked() {
    let right = "\tif (!access_ok((void __user *)(unsigned long)l->red, n) || !access_ok((void __user *)(unsigned long)l->green, n))\n\t\treturn -EFAULT;\n\
         \tif (__copy_to_user((void __user *)(unsigned long)l->red, d->a, n) || __copy_to_user((void __user *)(unsigned long)l->green, d->b, n))\n\t\treturn -EFAULT;\n\treturn ret;";
    assert_eq!(of(right), NONE);
    for wrong in [
        right.replace("l->green, n))\n\t\treturn", "l->blue, n))\n\t\treturn"),
        right.replace(
            "access_ok((void __user *)(unsigned long)l->green",
            "access_ok((void __user *)(unsigned long)l->red",
        ),
        right.replace(
            " || !access_ok((void __user *)(unsigned long)l->green, n)",
            "",
        ),
    ] {
        assert_eq!(of(&wrong), ["other-object-checked"], "{wrong}");
    }
    // Another function may have checked it.
    let handed = right.replace(
        "\tif (!access_ok",
        "\tif (d->ops->look(d, l->blue))\n\t\treturn -EFAULT;\n\tif (!access_ok",
    );
    let handed = handed.replace(
        "__user *)(unsigned long)l->green, d->b",
        "__user *)(unsigned long)l->blue, d->b",
    );
    assert_eq!(of(&handed), NONE, "{handed}");
}

#[test]
fn the_range_of_the_first_round_alone_is_checked() {
    let right = "\tif (!access_ok(p, n * sizeof(u32)))\n\t\treturn -EFAULT;\n\tfor (i = 0; i < n; i++, p++)\n\t\tif (__put_user(d->r[i], p))\n\t\t\treturn -EFAULT;\n\treturn ret;";
    assert_eq!(of(right), NONE);
    for wrong in [
        right.replace("n * sizeof(u32)", "sizeof(u32)"),
        right.replace("n * sizeof(u32)", "64"),
        right
            .replace("n * sizeof(u32)", "64")
            .replace("i++, p++", "i++")
            .replace(
                "p))\n\t\t\treturn -EFAULT;",
                "p))\n\t\t\treturn -EFAULT;\n\t\telse\n\t\t\tp += 1;",
            ),
    ] {
        assert_eq!(of(&wrong), ["other-object-checked"], "{wrong}");
    }
    for right in [
        // As many rounds as were checked, and each round by itself.
        right
            .replace("n * sizeof(u32)", "64")
            .replace("i < n", "i < 16"),
        right
            .replace(
                "\tif (!access_ok(p, n * sizeof(u32)))\n\t\treturn -EFAULT;\n",
                "",
            )
            .replace(
                ")\n\t\tif (__put",
                ") {\n\t\tif (!access_ok(p, 4))\n\t\t\treturn -EFAULT;\n\t\tif (__put",
            )
            .replace("\treturn ret;", "\t}\n\treturn ret;"),
        // The same place in each.
        right
            .replace("n * sizeof(u32)", "4")
            .replace("i++, p++", "i++"),
    ] {
        assert_eq!(of(&right), NONE, "{right}");
    }
}

#[test]
fn only_the_check_that_leads_to_an_access_counts() {
    let right = "\tif (d->wide) {\n\t\tif (!access_ok(p, 28))\n\t\t\treturn -EFAULT;\n\t\treturn __copy_to_user(p, d->r, 28) ? -EFAULT : 0;\n\t}\n\tif (!access_ok(p, 14))\n\t\treturn -EFAULT;\n\treturn __copy_to_user(p, d->r, 14) ? -EFAULT : 0;";
    assert_eq!(of(right), NONE);
    let wrong = right.replace("access_ok(p, 28)", "access_ok(p, 7)");
    assert_eq!(of(&wrong), ["other-object-checked"]);
    let wrong = right.replace("d->r, 14)", "d->r, 28)");
    assert_eq!(of(&wrong), ["other-object-checked"]);
}

#[test]
fn a_length_is_known_though_its_variable_holds_other_results() {
    let right = "\tif (d->on) {\n\t\tchar text[24];\n\t\tret = strncpy_from_user(text, l->text, sizeof(text) - 1);\n\t\tif (ret < 0) {\n\t\t\tret = -EFAULT;\n\t\t\tgoto out;\n\t\t}\n\t\ttext[ret] = 0;\n\t\tret = show(d, text);\n\t} else {\n\t\tret = stop(d);\n\t}\nout:\n\treturn ret;";
    assert_eq!(of(right), NONE);
    let wrong = right.replace("sizeof(text) - 1", "sizeof(text)");
    assert_eq!(of(&wrong), ["beyond-array"]);
    let wrong = right.replace("sizeof(text) - 1", "24");
    assert_eq!(of(&wrong), ["beyond-array"]);
    // It is another number by then.
    let right = wrong.replace(
        "\t\ttext[ret] = 0;",
        "\t\tret = strlen(d->name);\n\t\ttext[ret] = 0;",
    );
    assert_eq!(of(&right), NONE);
}

#[test]
fn bytes_left_go_where_errors_of_another_go() {
    let right = "\tret = wait_for(d);\n\tif (ret)\n\t\treturn ret;\n\tif (copy_from_user(d->v, p, n))\n\t\tret = -EFAULT;\n\tflush(d);\n\treturn ret;";
    assert_eq!(of(right), NONE);
    let left = "\tret = copy_from_user(d->v, p, n);\n\tflush(d);\n\treturn ret;";
    for wrong in [
        format!("\tret = wait_for(d);\n\tif (ret)\n\t\treturn ret;\n{left}"),
        format!("\tret = wait_for(d);\n\tif (ret < 0)\n\t\treturn ret;\n{left}"),
        "\tret = wait_for(d);\n\tif (ret != 0)\n\t\treturn ret;\n\treturn copy_to_user(p, d->v, n);".to_owned(),
    ] {
        assert_eq!(of(&wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        // What another access gave may be bytes left as well.
        format!("\tret = raw_fetch(d, p);\n\tif (ret)\n\t\treturn ret;\n{left}"),
        // Nothing says that it is an error number.
        format!("\tret = wait_for(d);\n\tif (!ret)\n\t\treturn ret;\n{left}"),
    ] {
        assert_eq!(of(&right), NONE, "{right}");
    }
    // Who calls it asks for no more than whether it is 0.
    let chained = rules(&format!(
        "static int f(struct dev *d, u32 __user *p, size_t n)\n{{\n\tint ret = wait_for(d);\n\n\tif (ret)\n\t\treturn ret;\n{left}\n}}\n\
         int g(struct dev *d, u32 __user *p)\n{{\n\tint err = 0;\n\n\terr |= f(d, p, 4);\n\terr |= __put_user(0, p + 4);\n\treturn err ? -EFAULT : 0;\n}}\n"
    ));
    assert!(
        !chained.contains(&"misread-result".to_owned()),
        "{chained:?}"
    );
}

#[test]
fn a_macro_stands_for_a_member_of_a_member() {
    let text = |address: &str| {
        format!(
            "int f(struct dev *d, struct own *own)\n{{\n\tstruct set {{ int a; int b; }} set;\n\n\tif (copy_from_user(&set, {address}, sizeof(set)))\n\t\treturn -EFAULT;\n\treturn apply(d, set.a, set.b);\n}}\n"
        )
    };
    assert_eq!(rules(&text("own->own_data")), NONE);
    assert_eq!(rules(&text("&own->own_data")), ["kernel-address"]);
    assert_eq!(rules(&text("&own->u.u_data")), ["kernel-address"]);
}

#[test]
fn a_pointer_goes_on_by_bytes_and_not_by_elements() {
    let right = "\tstatic u32 all[6];\n\n\tif (copy_to_user(p, all, sizeof(all)))\n\t\treturn -EFAULT;\n\tp += ARRAY_SIZE(all);\n\treturn put_user(d->n, p) ? -EFAULT : ret;";
    assert_eq!(of(right), NONE);
    for wrong in [
        right.replace("ARRAY_SIZE(all)", "sizeof(all)"),
        right.replace("ARRAY_SIZE(all)", "n * sizeof(u32)"),
        right
            .replace("\tp += ARRAY_SIZE(all);\n", "")
            .replace("d->n, p)", "d->n, p + sizeof(all))"),
    ] {
        assert_eq!(of(&wrong), ["elements-for-bytes"], "{wrong}");
    }
    let right = right.replace("ARRAY_SIZE(all)", "sizeof(all) / sizeof(all[0])");
    assert_eq!(of(&right), NONE);
}

#[test]
fn what_was_judged_is_fetched_again_to_where_it_stays() {
    let of = |rest: &str| {
        rules(&format!(
            "struct part {{ u32 type; u32 size; u32 n; }};\nstruct dev {{ struct part conf; u32 n; void *all; }};\n\
             int f(struct dev *d, void __user *p)\n{{\n\tstruct part own;\n\n\tif (copy_from_user(&own, p, sizeof(own)))\n\t\treturn -EFAULT;\n{rest}\n}}\n"
        ))
    };
    let right = "\tswitch (own.type) {\n\tcase 1:\n\t\tstart(d);\n\t\tbreak;\n\tdefault:\n\t\treturn -ERANGE;\n\t}\n\td->conf = own;\n\treturn 0;";
    assert_eq!(of(right), NONE);
    let again = "\tif (copy_from_user(&d->conf, p, sizeof(d->conf)))\n\t\treturn -EFAULT;";
    let wrong = right.replace("\td->conf = own;", again);
    assert_eq!(of(&wrong), ["double-fetch"]);
    let right = "\td->n = own.n;\n\td->all = kcalloc(own.n, 8, GFP_KERNEL);\n\treturn d->all ? 0 : -ENOMEM;";
    let again = "\tif (get_user(d->n, &((struct part __user *)p)->n))\n\t\treturn -EFAULT;";
    assert_eq!(
        of(&right.replace("\td->n = own.n;", again)),
        ["double-fetch"]
    );
    // It is only that one which is used.
    let right = right
        .replace("\td->n = own.n;", again)
        .replace("own.n", "d->n");
    assert!(
        !of(&right).contains(&"double-fetch".to_owned()),
        "{:?}",
        of(&right)
    );
}

#[test]
fn bytes_left_are_told_from_a_number_by_their_sign() {
    let of = |returned: &str| {
        rules(&format!(
            "static int part(struct dev *d, const void __user *p, unsigned int n)\n{{\n\tint ret = copy_from_user(d->v, p, n);\n\n\tflush(d);\n\treturn ret;\n}}\n\
             int whole(struct dev *d, const void __user *p, unsigned int n)\n{{\n\tint ret = 0;\n\n\tif (d->rest)\n\t\tret = part(d, p, d->rest);\n\tif (likely(!ret))\n\t\tret = part(d, p, n);\n\treturn {returned};\n}}\n"
        ))
    };
    for wrong in ["unlikely(ret) ? ret : n", "ret ?: n", "ret ? ret : d->n"] {
        assert_eq!(of(wrong), ["misread-result"], "{wrong}");
    }
    for right in ["ret", "ret ? -EFAULT : 0", "ret ? 1 : 0"] {
        assert!(!of(right).contains(&"misread-result".to_owned()), "{right}");
    }
}

#[test]
fn a_member_is_copied_by_the_size_of_the_whole() {
    let of = |whole: &str, copy: &str| {
        rules(&format!(
            "struct info {{ u32 a; u32 b[4]; }};\nstruct whole {{ {whole} }};\n\
             int f(struct whole *w, struct info __user *p, struct whole __user *all)\n{{\n\treturn {copy} ? -EFAULT : 0;\n}}\n"
        ))
    };
    let (first, later) = ("struct info info; u64 own;", "u64 own; struct info info;");
    for (whole, wrong) in [
        (first, "copy_to_user(p, &w->info, sizeof(*w))"),
        (later, "copy_to_user(p, &w->info, sizeof(*w))"),
        (later, "copy_from_user(&w->info, p, sizeof(struct whole))"),
        (later, "copy_from_user(&w->info, all, sizeof(*w))"),
    ] {
        assert_eq!(of(whole, wrong), ["beyond-variable"], "{wrong}");
    }
    for (whole, right) in [
        (later, "copy_from_user(&w->info, p, sizeof(w->info))"),
        (later, "copy_from_user(w, all, sizeof(*w))"),
        // All of it is meant, which begins there.
        (first, "copy_from_user(&w->info, all, sizeof(*w))"),
    ] {
        assert_eq!(of(whole, right), NONE, "{right}");
    }
}

#[test]
fn an_array_has_fewer_elements_than_a_number_is_refused_from() {
    let wrong = "\tint at = l->n >> 8;\n\tstatic int all[6];\n\n\tif (at > 6)\n\t\treturn -EINVAL;\n\tif (copy_from_user(d->v, p, 4))\n\t\treturn -EFAULT;\n\treturn all[at];";
    assert_eq!(of(wrong), ["beyond-array"]);
    assert_eq!(of(&wrong.replace("at > 6", "at >= 6")), NONE);
}
