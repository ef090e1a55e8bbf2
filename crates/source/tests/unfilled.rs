//! What lies without a value where it is used or copied out: behind a helper whose result
//! nobody asks, in the elements that a struct ends with, behind a pointer to a variable; and
//! sizes of one object that stand in each other's place.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

fn rules(text: &str) -> Vec<String> {
    let found = mistakes::found(None, text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A function of these statements that calls one which fills a variable unless it faults.
fn masked(statements: &str) -> Vec<String> {
    rules(&format!(
        "struct mask {{ unsigned long bits; }};\n\
         static int load(struct mask *m, u32 __user *from)\n{{\n\tu32 low;\n\n\tif (get_user(low, from))\n\t\treturn -EFAULT;\n\tm->bits = low;\n\treturn 0;\n}}\n\
         long f(struct task *t, u32 __user *from)\n{{\n\tstruct mask mask;\n\tint err;\n\n{statements}\n\treturn err;\n}}\n"
    ))
}

#[test]
fn what_a_helper_leaves_without_a_value_is_used_before_its_result_is_asked() {
    for wrong in [
        "\terr = load(&mask, from);\n\tapply(&mask);",
        "\terr = load(&mask, from);\n\tt->bits = mask.bits;\n\tif (err)\n\t\treturn err;",
        "\terr = load(&mask, from);\n\tif (t->on)\n\t\tapply(&mask);\n\terr |= get_user(t->v, from + 1);",
    ] {
        assert_eq!(masked(wrong), ["ignored-fault"], "{wrong}");
    }
    for right in [
        "\terr = load(&mask, from);\n\tif (err == 0)\n\t\tapply(&mask);",
        "\terr = load(&mask, from);\n\tif (err)\n\t\tmask.bits = 0;\n\tapply(&mask);",
        "\tmask.bits = 0;\n\terr = load(&mask, from);\n\tapply(&mask);",
        "\terr = load(&mask, from);\n\tmemset(&mask, 0, sizeof(mask));",
        // Who is given the user's address may fill it.
        "\terr = load(&mask, from);\n\tt->n = reload(&mask, from);",
        "\tif (load(&mask, from))\n\t\treturn -EFAULT;\n\terr = 0;\n\tapply(&mask);",
    ] {
        assert_eq!(masked(right), NONE, "{right}");
    }
    let fills = "\terr = load(&mask, from);\n\tapply(&mask);";
    let always = masked(fills);
    assert_eq!(always.len(), 1);
    let sets = |text: &str| text.replace("\tu32 low;\n", "\tu32 low;\n\n\tm->bits = 0;");
    let text = sets(
        "static int load(struct mask *m, u32 __user *from)\n{\n\tu32 low;\n\n\tif (get_user(low, from))\n\t\treturn -EFAULT;\n\tm->bits = low;\n\treturn 0;\n}\nlong f(u32 __user *from)\n{\n\tstruct mask mask;\n\tint err;\n\n\terr = load(&mask, from);\n\tapply(&mask);\n\treturn err;\n}\n",
    );
    assert_eq!(rules(&text), NONE);
}

/// A function that gives the user a list, allocated so and filled so.
fn listed(allocated: &str, filled: &str) -> Vec<String> {
    rules(&format!(
        "struct port {{ u8 kind; u32 speed; }};\nstruct tight {{ u32 kind, speed; }};\n\
         struct ports {{ u32 count; struct port all[]; }};\nstruct pairs {{ u32 count; struct tight all[]; }};\n\
         int f(struct dev *d, void __user *to, u32 n)\n{{\n\tstruct port *port;\n\tstruct ports *list;\n\tstruct pairs *pairs;\n\tu32 i;\n\tint err;\n\n\
         \tif (n > 64)\n\t\treturn -EINVAL;\n\t{allocated}\n\tif (!list)\n\t\treturn -ENOMEM;\n\tlist->count = n;\n{filled}\n\
         \terr = copy_to_user(to, list, struct_size(list, all, n));\n\tkfree(list);\n\treturn err ? -EFAULT : 0;\n}}\n"
    ))
}

#[test]
fn the_elements_that_a_struct_ends_with_have_holes() {
    let dirty = "list = kmalloc(struct_size(list, all, n), GFP_KERNEL);";
    let clean = "list = kzalloc(struct_size(list, all, n), GFP_KERNEL);";
    for filled in [
        "\tport = list->all;\n\tfor (i = 0; i < n; i++) {\n\t\tport[i].kind = d->kind[i];\n\t\tport[i].speed = d->speed[i];\n\t}",
        "\tfor (i = 0; i < n; i++) {\n\t\tlist->all[i].kind = d->kind[i];\n\t\tlist->all[i].speed = d->speed[i];\n\t}",
        "\tfor (i = 0; i < n; i++) {\n\t\tport = &list->all[i];\n\t\tport->kind = d->kind[i];\n\t\tport->speed = d->speed[i];\n\t}",
    ] {
        assert_eq!(listed(dirty, filled), ["copied-holes"], "{filled}");
        assert_eq!(listed(clean, filled), NONE, "{filled}");
    }
    for right in [
        "\tfor (i = 0; i < n; i++)\n\t\tlist->all[i] = d->ports[i];",
        "\tmemset(list->all, 0, n * sizeof(*port));\n\tlist->all[0].kind = 1;\n\tlist->all[0].speed = 1;",
        "\tfill_ports(d, list);",
        "\tport = list->all;\n\tfill_ports(d, port, n);",
    ] {
        assert_eq!(listed(dirty, right), NONE, "{right}");
    }
    // Elements without a hole.
    let tight = dirty.replace("list", "pairs");
    let tight = format!("{tight}\n\tlist = NULL;");
    let own = listed(
        &tight,
        "\tpairs->count = 1;\n\tpairs->all[0].kind = 1;\n\tpairs->all[0].speed = 1;\n\tif (copy_to_user(to, pairs, struct_size(pairs, all, n)))\n\t\treturn -EFAULT;",
    );
    assert_eq!(own, NONE);
}

/// A function that has its state read into a variable by a pointer that is NULL where the
/// user wants none.
fn state(helper: &str, own: &str) -> Vec<String> {
    rules(&format!(
        "struct state {{ long flags; long used; long spare[2]; }};\n\
         static int read_state(struct dev *d, struct state *now)\n{{\n\tif (!d->on)\n\t\treturn -EIO;\n\tif (now) {{\n{helper}\n\t}}\n\treturn 0;\n}}\n\
         int f(struct dev *d, struct state __user *to)\n{{\n\tstruct state state;\n\tstruct state *now = NULL;\n\tint ret;\n\n\tif (to)\n\t\tnow = &state;\n{own}\
         \tret = read_state(d, now);\n\tif (ret || !now)\n\t\treturn ret;\n\tif (copy_to_user(to, now, sizeof(struct state)))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn a_variable_that_a_pointer_leads_to_is_filled_in_part() {
    let part = "\t\tnow->flags = d->flags;\n\t\tnow->used = d->used;";
    assert_eq!(state(part, ""), ["copied-holes"]);
    let right = [
        ("\t\t*now = d->state;\n\t\tnow->used = 1;", ""),
        (part, "\tmemset(&state, 0, sizeof(state));\n"),
        (part, "\tif (d->old)\n\t\tnow = &d->state;\n"),
        ("\t\tnow->flags = d->flags;\n\t\tfill(now);", ""),
    ];
    for (helper, own) in right {
        assert_eq!(state(helper, own), NONE, "{helper}{own}");
    }
}

#[test]
fn as_many_bytes_as_an_array_has_from_its_middle_on() {
    let of = |place: &str, size: &str| {
        rules(&format!(
            "#define SKIPPED 4\nint f(struct dev *d, void __user *to, int i)\n{{\n\tu32 own[8];\n\n\tread_all(d, own);\n\tif (i < 0 || i > 7)\n\t\treturn -EINVAL;\n\treturn copy_to_user(to, {place}, sizeof({size})) ? -EFAULT : 0;\n}}\n"
        ))
    };
    for place in ["own + 4", "&own[4]", "own + SKIPPED", "own + i"] {
        assert_eq!(of(place, "own"), ["beyond-variable"], "{place}");
        assert_eq!(of(place, "own[0]"), NONE, "{place}");
    }
    assert_eq!(
        of("d->regs.all + SKIPPED", "d->regs.all"),
        ["beyond-variable"]
    );
    assert_eq!(of("d->regs.all + SKIPPED", "d->regs.high"), NONE);
    assert_eq!(of("own", "own"), NONE);
    assert_eq!(of("own + 0", "own"), NONE);
    assert_eq!(of("&own[0]", "own"), NONE);
}

#[test]
fn the_size_of_the_kernels_struct_stands_for_that_of_the_users() {
    let text = "struct attr { u64 a, b; };\n\
         static int fetch(void *own, size_t here, const void __user *from, size_t there)\n{\n\tif (there > PAGE_SIZE)\n\t\treturn -E2BIG;\n\treturn copy_struct_from_user(own, here, from, there);\n}\n\
         SYSCALL_DEFINE2(set, struct attr __user *, from, size_t, size)\n{\n\tstruct attr attr;\n\tint err;\n\n\terr = fetch(&attr, sizeof(attr), from, size);\n\treturn err ? err : use(&attr);\n}\n";
    let wrong = text.replace("(own, here, from, there)", "(own, there, from, here)");
    assert_eq!(rules(text), NONE);
    assert_eq!(rules(&wrong), ["swapped-arguments"]);
    // One caller says the other.
    let both = format!(
        "{wrong}int g(struct attr __user *from, size_t size)\n{{\n\tstruct attr attr;\n\n\treturn fetch(&attr, size, from, sizeof(attr));\n}}\n"
    );
    assert_eq!(rules(&both), NONE);
    let direct = |sizes: (&str, &str)| {
        rules(&format!(
            "struct attr {{ u64 a, b; }};\nint f(struct attr __user *from, size_t size)\n{{\n\tstruct attr attr;\n\tint err;\n\n\terr = copy_struct_from_user(&attr, {}, from, {});\n\treturn err ? err : use(&attr);\n}}\n",
            sizes.0, sizes.1
        ))
    };
    assert_eq!(direct(("sizeof(attr)", "size")), NONE);
    assert_eq!(direct(("size", "sizeof(attr)")), ["swapped-arguments"]);
    assert_eq!(direct(("sizeof(attr)", "sizeof(attr)")), NONE);
}
