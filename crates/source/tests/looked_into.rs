//! What macros and functions of the file do is seen where they are used.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

/// A function with a window around `inside`, behind some definitions.
fn window(definitions: &str, inside: &str) -> Vec<String> {
    let text = format!(
        "{definitions}\nint f(u32 __user *p, u32 v, int n)\n{{\n\tif (!user_write_access_begin(p, sizeof(*p)))\n\t\treturn -EFAULT;\n\t{inside}\n\tuser_write_access_end();\n\treturn 0;\nEfault:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}}\n"
    );
    rules(&text)
}

fn rules(text: &str) -> Vec<String> {
    let mut found: Vec<String> = mistakes::found(None, text)
        .into_iter()
        .map(|(rule, _)| rule)
        .collect();
    found.dedup();
    found
}

const NONE: [&str; 0] = [];

#[test]
fn a_macro_that_returns_leaves_the_window_open() {
    for (body, label) in [
        (
            "do { if (x) return -EINVAL; unsafe_put_user(x, p, Efault); } while (0)",
            "return",
        ),
        ("if (x) goto out; unsafe_put_user(x, p, Efault)", "goto out"),
        (
            "PUT_IF(x); unsafe_put_user(x, p, Efault)",
            "by another macro",
        ),
    ] {
        let definitions =
            format!("#define PUT_IF(x) if (x) return -EINVAL\n#define PUT(x, p) {body}");
        let text = window(&definitions, "PUT(v, p);").join(" ");
        match label {
            // There is no such label in the function, so that nothing is left.
            "goto out" => assert_eq!(text, "", "{label}"),
            _ => assert_eq!(text, "window-left-open", "{label}"),
        }
    }
}

#[test]
fn a_macro_s_own_way_out_is_the_callers_label_or_its_own() {
    let own =
        "#define PUT(x, p, bad) do { if (x) goto bad; unsafe_put_user(x, p, bad); } while (0)";
    assert_eq!(window(own, "PUT(v, p, Efault);"), NONE);
    let inner = "#define PUT(x, p) ({ __label__ bad; int e = -EFAULT; unsafe_put_user(x, p, bad); e = 0; bad: e; })";
    assert_eq!(window(inner, "PUT(v, p);"), NONE);
}

#[test]
fn a_macro_that_goes_on_with_the_next_round_leaves_the_window_open() {
    let text = |word: &str| {
        format!(
            "#define SKIP(x) if (x) {word}\nint f(u32 __user *p, u32 *v, int n)\n{{\n\tint i;\n\n\tfor (i = 0; i < n; i++) {{\n\t\tif (!user_write_access_begin(p, 4))\n\t\t\treturn -EFAULT;\n\t\tSKIP(v[i]);\n\t\tunsafe_put_user(v[i], p, Efault);\n\t\tuser_write_access_end();\n\t}}\n\treturn 0;\nEfault:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}}\n"
        )
    };
    assert_eq!(
        rules(&text("continue")),
        ["nested-window", "window-left-open"]
    );
    assert_eq!(rules(&text("break")), ["window-left-open"]);
    assert_eq!(rules(&text("(void)0")), NONE);
}

/// One of two definitions is enough: a configuration has it.
#[test]
fn each_definition_of_a_macro_is_looked_at() {
    let both = "#ifdef A\n#define PUT(x, p) unsafe_put_user(x, p, Efault)\n#else\n#define PUT(x, p) do { if (x) return -EINVAL; } while (0)\n#endif";
    assert_eq!(window(both, "PUT(v, p);"), ["window-left-open"]);
}

#[test]
fn what_a_macro_opens_is_open_behind_it() {
    let definitions =
        "#define OPEN() stac()\n#define CLOSE() clac()\n#define CHECK(x) if (!(x)) return -EINVAL";
    let text = |inside: &str| {
        rules(&format!(
            "{definitions}\nint f(u32 v)\n{{\n\tOPEN();\n\t{inside}\n\tCLOSE();\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(text("work_on = v;"), NONE);
    assert_eq!(text("CHECK(v);"), ["half-done-pair"]);
}

#[test]
fn the_arguments_of_a_macro_around_an_access_are_counted() {
    let own = "#define put_it(x, p, l) unsafe_put_user(x, p, l)";
    assert_eq!(window(own, "put_it(v, p, Efault);"), NONE);
    assert!(window(own, "put_it(v, p);").contains(&"wrong-argument-count".to_owned()));
    let many = "#define put_it(x, p, l...) unsafe_put_user(x, p, Efault)";
    assert_eq!(window(many, "put_it(v, p);"), NONE);
    let twice = "#ifdef A\n#define put_it(x, p, l) unsafe_put_user(x, p, l)\n#else\n#define put_it(x, p) unsafe_put_user(x, p, Efault)\n#endif";
    assert!(!window(twice, "put_it(v, p);").contains(&"wrong-argument-count".to_owned()));
}

/// A function of the file that needs a window says which way it goes; what it calls is
/// told of itself, and for the kernel's own memory it needs none.
#[test]
fn a_function_in_a_window_goes_its_way() {
    let reads = "static inline int one(u32 __user *from, u32 *to)\n{\n\tunsafe_get_user(*to, from, bad);\n\treturn 0;\nbad:\n\treturn -EFAULT;\n}";
    let found = window(reads, "if (one(p, &v))\n\t\tgoto Efault;");
    assert!(found.contains(&"wrong-direction".to_owned()), "{found:?}");
    let right = "static inline int one(u32 __user *to, u32 v)\n{\n\tunsafe_put_user(v, to, bad);\n\treturn 0;\nbad:\n\treturn -EFAULT;\n}";
    let found = window(right, "if (one(p, v))\n\t\tgoto Efault;");
    assert!(!found.contains(&"wrong-direction".to_owned()), "{found:?}");
    let kernel = format!(
        "{right}\nint g(u32 *k, u32 __user *p, u32 v)\n{{\n\tint err;\n\n\tif (!p)\n\t\treturn one((void __user *)k, v);\n\tif (!user_write_access_begin(p, sizeof(*p)))\n\t\treturn -EFAULT;\n\terr = one(p, v);\n\tuser_write_access_end();\n\treturn err;\n}}\n"
    );
    assert!(!rules(&kernel).contains(&"unsafe-outside-window".to_owned()));
}

#[test]
fn a_range_in_bytes_is_one_of_elements() {
    let text = |range: &str, access: &str| {
        rules(&format!(
            "struct msg {{ u32 n; u32 items[]; }};\nint f(struct msg __user *m, u64 __user *p, u64 v, unsigned int n)\n{{\n\tunsigned int i;\n\n\tif (!user_write_access_begin({range}))\n\t\treturn -EFAULT;\n\t{access}\n\tuser_write_access_end();\n\treturn 0;\nEfault:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}}\n"
        ))
    };
    let outside = ["outside-checked-range"];
    assert_eq!(
        text("p, 8", "p += n;\n\tunsafe_put_user(v, p, Efault);"),
        outside
    );
    assert_eq!(
        text("p, 16", "p++;\n\tunsafe_put_user(v, p, Efault);"),
        NONE
    );
    let all = "for (i = 0; i < n; i++)\n\t\tunsafe_put_user(v, p + i, Efault);";
    assert_eq!(text("p, n", all), outside);
    assert_eq!(text("p, n * sizeof(*p)", all), NONE);
    assert_eq!(
        text("m, sizeof(*m)", "unsafe_put_user(1, &m->items[0], Efault);"),
        outside
    );
    assert_eq!(
        text("m, sizeof(*m)", "unsafe_put_user(1, &m->items[n], Efault);"),
        outside
    );
    assert_eq!(
        text("m, sizeof(*m)", "unsafe_put_user(1, &m->n, Efault);"),
        NONE
    );
    assert_eq!(
        text(
            "m, struct_size(m, items, n)",
            "unsafe_put_user(1, &m->items[0], Efault);"
        ),
        NONE
    );
}

#[test]
fn two_names_and_two_loops_come_by_the_same_place() {
    let text = |second: &str, use_of: &str| {
        rules(&format!(
            "int f(void __user *arg)\n{{\n\tstruct req __user *a = arg;\n\tstruct req __user *b = {second};\n\tstruct req r;\n\tu32 len;\n\n\tif (get_user(len, &a->len))\n\t\treturn -EFAULT;\n\tif (len > MAX)\n\t\treturn -EINVAL;\n\tif (copy_from_user(&r, b, sizeof(r)))\n\t\treturn -EFAULT;\n\t{use_of}\n}}\n"
        ))
    };
    assert_eq!(text("arg", "return go(r.data, r.len);"), ["double-fetch"]);
    assert_eq!(text("other", "return go(r.data, r.len);"), NONE);
    assert_eq!(
        text("arg", "r.len = len;\n\treturn go(r.data, r.len);"),
        NONE
    );
    let loops = |again: &str, check: &str| {
        rules(&format!(
            "int f(struct cm __user *u, struct cm __user *w, struct cm *k, int n)\n{{\n\tstruct cm __user *c;\n\tu32 len, all = 0;\n\tint i;\n\n\tfor (c = u, i = 0; i < n; i++, c++) {{\n\t\tif (get_user(len, &c->len))\n\t\t\treturn -EFAULT;\n\t\tif (len > MAX)\n\t\t\treturn -EINVAL;\n\t\tall += len;\n\t}}\n\tfor (c = {again}, i = 0; i < n; i++, c++) {{\n\t\tif (get_user(len, &c->len))\n\t\t\treturn -EFAULT;\n\t\t{check}\n\t\tfill(k++, len);\n\t}}\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(loops("u", ""), ["double-fetch"]);
    assert_eq!(loops("w", ""), NONE);
    assert_eq!(loops("u", "if (len > MAX)\n\t\t\treturn -EINVAL;"), NONE);
}

/// Two blocks may have variables of one name.
#[test]
fn a_pointer_s_size_is_that_of_the_variable_that_is_meant() {
    let text = |first: &str, second: &str| {
        rules(&format!(
            "int f(void __user *u, int how)\n{{\n\tif (how) {{\n\t\tu32 {first};\n\n\t\treturn copy_to_user(u, c, sizeof(c)) ? -EFAULT : 0;\n\t}}\n\tu32 {second};\n\treturn go(c);\n}}\n"
        ))
    };
    assert_eq!(text("c[8]", "*c"), NONE);
    assert_eq!(text("*c = all(how)", "c[8]"), ["sizeof-pointer"]);
    let of = |inside: &str| {
        rules(&format!(
            "int f(struct s __user *u, struct s *k, int n)\n{{\n\t{inside}\n\treturn 0;\n}}\n"
        ))
    };
    for (wrong, right) in [
        (
            "struct s o;\n\n\tif (copy_from_user(&o, u, sizeof(u)))\n\t\treturn -EFAULT;",
            "if (copy_from_user(&u, u, sizeof(u)))\n\t\treturn -EFAULT;",
        ),
        (
            "memset(k, 0, sizeof(k));\n\tif (copy_to_user(u, k, sizeof(*k)))\n\t\treturn -EFAULT;",
            "memset(k, 0, sizeof(*k));",
        ),
        (
            "if (!access_ok(u, sizeof(u)))\n\t\treturn -EFAULT;",
            "if (!access_ok(u, sizeof(*u)))\n\t\treturn -EFAULT;",
        ),
    ] {
        assert_eq!(of(wrong), ["sizeof-pointer"], "{wrong}");
        assert_eq!(of(right), NONE, "{right}");
    }
}

#[test]
fn a_test_the_other_way_around_is_told() {
    let of = |inside: &str| {
        rules(&format!(
            "int f(struct s __user *u, u32 __user *p, struct s *k, u32 v)\n{{\n\t{inside}\n\treturn 0;\n}}\n"
        ))
    };
    for wrong in [
        "if (!copy_to_user(u, k, sizeof(*k)))\n\t\treturn -EFAULT;",
        "if (v == 3 || !put_user(v, p)) {\n\t\treturn -EFAULT;\n\t}",
        "if (!put_user(v, p)) {\n\t\tgo(v);\n\t\treturn -EFAULT;\n\t}",
    ] {
        assert_eq!(of(wrong), ["inverted-test"], "{wrong}");
    }
    assert!(
        of("if (access_ok(p, 4))\n\t\treturn -EFAULT;\n\tgo(p);")
            .contains(&"inverted-test".to_owned())
    );
    for right in [
        "if (copy_to_user(u, k, sizeof(*k)))\n\t\treturn -EFAULT;",
        "if (!copy_to_user(u, k, sizeof(*k)))\n\t\treturn 0;\n\treturn -EFAULT;",
        "if (v && !put_user(v, p))\n\t\treturn 1;",
        "if (!access_ok(p, 4))\n\t\treturn -EFAULT;\n\tgo(p);",
        "if (!put_user(v, p)) {\n\t\tgo(v);\n\t\treturn v ? -EFAULT : 0;\n\t}",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}

#[test]
fn swapped_arguments_are_told_by_their_declarations() {
    let of = |inside: &str| {
        rules(&format!(
            "struct in {{ u32 __user *data; u32 *own; }};\nstruct s {{ u32 count; u32 __user *data; u32 *own; struct in in; }};\nint f(struct s __user *u, u32 __user *__user *p, struct s *k, unsigned long a)\n{{\n\tu32 __user *v;\n\tstruct s o;\n\tu32 c[2];\n\n\tif ({inside})\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        ))
    };
    for wrong in [
        "copy_to_user(k, u, sizeof(*k))",
        "copy_from_user(u, k, sizeof(*k))",
        "get_user(u, k)",
        "copy_from_user(u, &o, sizeof(o))",
        "copy_from_user(c, c, sizeof(c))",
        "put_user(3, &o.count)",
        "get_user(a, &c[1])",
        "get_user(o.count, &a)",
        "copy_from_user(u, u + 1, sizeof(*u))",
        "copy_from_user(&u->count, p, 4)",
        "copy_from_user(k->data, p, 4)",
        "copy_from_user(k->in.data + 1, p, 4)",
        "copy_from_user((void __user *)a, p, 4)",
        "copy_from_user(u64_to_user_ptr(a), p, 4)",
    ] {
        assert_eq!(of(wrong), ["swapped-arguments"], "{wrong}");
    }
    for right in [
        "copy_from_user(k, u, sizeof(*k))",
        "get_user(v, p)",
        "put_user(v, p)",
        "get_user(v, (u32 __user *__user *)a)",
        "copy_from_user(k, (void __user *)a, sizeof(*k))",
        "put_user(3, &u->count)",
        "put_user(3, &u[1].count)",
        "get_user(c[1], &v[1])",
        "get_user(k->data, (u32 __user *__user *)a)",
        "copy_from_user(k->own, p, 4)",
        "copy_from_user(k->in.own + 1, p, 4)",
        "copy_from_user(&k->data, p, sizeof(k->data))",
        "copy_from_user((void *)a, p, 4)",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}

#[test]
fn one_element_is_checked_and_another_accessed() {
    let of = |size: &str, at: &str| {
        rules(&format!(
            "int f(u32 __user *u, u32 *k, int n)\n{{\n\tint i;\n\n\tif (!access_ok(u, {size}))\n\t\treturn -EFAULT;\n\tfor (i = 0; i < n; i++)\n\t\tif (__put_user(k[i], {at}))\n\t\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(of("sizeof(*u)", "u + i"), ["other-object-checked"]);
    assert_eq!(of("sizeof(*u)", "&u[i]"), ["other-object-checked"]);
    assert_eq!(of("n * sizeof(*u)", "u + i"), NONE);
    assert_eq!(of("sizeof(*u)", "u"), NONE);
}

#[test]
fn an_access_that_may_sleep_is_told_where_nobody_may() {
    let of = |inside: &str| {
        rules(&format!(
            "int f(struct dev *d, u32 __user *p, u32 v)\n{{\n\tint err = 0;\n\n\t{inside}\n\treturn err;\n}}\n"
        ))
    };
    for wrong in [
        "spin_lock(&d->lock);\n\terr = put_user(v, p);\n\tspin_unlock(&d->lock);",
        "rcu_read_lock();\n\tif (v)\n\t\trcu_read_unlock();\n\terr = get_user(v, p);",
    ] {
        assert_eq!(of(wrong), ["fault-in-atomic"], "{wrong}");
    }
    for right in [
        "spin_lock(&d->lock);\n\tv = d->v;\n\tspin_unlock(&d->lock);\n\terr = put_user(v, p);",
        "spin_lock(&d->lock);\n\tpagefault_disable();\n\terr = put_user(v, p);\n\tpagefault_enable();\n\tspin_unlock(&d->lock);",
        "if (d)\n\t\tspin_lock(&d->lock);\n\telse\n\t\terr = put_user(v, p);\n\tif (d)\n\t\tspin_unlock(&d->lock);",
        "preempt_disable();\n\tif (get_user(v, p))\n\t\terr = -EFAULT;\n\tpreempt_enable();",
        "mutex_lock(&d->lock);\n\terr = put_user(v, p);\n\tmutex_unlock(&d->lock);",
        "spin_lock(&d->lock);\n\terr = __copy_to_user_inatomic(p, &v, 4) ? -EFAULT : 0;\n\tspin_unlock(&d->lock);",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
    let helper =
        "static int ask(struct dev *d)\n{\n\tspin_unlock(&d->lock);\n\treturn wait(d);\n}\n";
    let caller = "int f(struct dev *d, u32 __user *p, u32 v)\n{\n\tspin_lock(&d->lock);\n\tv = ask(d);\n\treturn put_user(v, p);\n}\n";
    assert_eq!(rules(&format!("{helper}{caller}")), NONE);
    assert_eq!(rules(caller), ["fault-in-atomic"]);
}

#[test]
fn what_is_gone_through_by_hand_is_told_by_its_type() {
    let of = |inside: &str| {
        rules(&format!(
            "struct in {{ u32 __user *data; u32 *own; }};\nstruct s {{ u32 __user *data; u32 *own; struct in *in; u32 __user *all[2]; }};\nint f(u32 __user *p, struct s *k, unsigned long a, u32 v)\n{{\n\t{inside}\n\treturn put_user(v, p);\n}}\n"
        ))
    };
    for wrong in [
        "v = *k->data;",
        "v += k->in->data[1];",
        "*k->data = v;",
        "if (*k->all[1] == v)\n\t\treturn 0;",
        "v = *((u32 __user *)a);",
        "((struct s __user *)a)->own = NULL;",
        "*(u32 __user *)(a + 4) = v;",
        "v = ((struct s __user *)a)->in->own[0];",
        "v = *(u32 *)k->data;",
        "v = *(u32 *)(u32 __user *)a;",
        "memcpy(&v, &k->data[0], 4);",
    ] {
        assert_eq!(of(wrong), ["user-pointer-dereferenced"], "{wrong}");
    }
    for right in [
        "v = *k->own;",
        "v += k->in->own[1];",
        "p = k->data;",
        "p = k->all[1];",
        "p = &k->data[1];",
        "v = *(u32 *)a;",
        "v = *(__force u32 *)k->data;",
        "v = hash(&k->data[0], 4);",
        "a = (unsigned long)&((struct s __user *)a)->own;",
        "v = sizeof(*k->data);",
        "v = *(u32 __force *)(u32 __user *)a;",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}

/// A function without a call that accesses user memory is looked at all the same.
#[test]
fn what_is_gone_through_by_hand_alone_is_seen() {
    let of = |inside: &str| {
        rules(&format!(
            "int f(u32 __user *p, unsigned long a, u32 v)\n{{\n\t{inside}\n\treturn v;\n}}\n"
        ))
    };
    for wrong in [
        "v = *p;",
        "v = *(p + 1);",
        "v = *((p));",
        "if (a)\n\t\t*(p + a) = v;",
        "v = *(u32 __user *)a;",
        "v += *((u32 __user *)a + 1);",
        "*((u32 __user *)a) = v;",
    ] {
        assert_eq!(of(wrong), ["user-pointer-dereferenced"], "{wrong}");
    }
    for right in [
        "p = (u32 __user *)a;",
        "v = (p + 1) == NULL;",
        "a = v * (a + 1);",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}

/// Without an MMU the memory of the user is the kernel's.
#[test]
fn what_is_compiled_without_an_mmu_only_may_go_by_hand() {
    let f = "int f(u32 __user *p, u32 v)\n{\n\t*p = v;\n\treturn 0;\n}\n";
    let told = ["user-pointer-dereferenced"];
    for (around, wanted) in [
        (format!("#ifdef CONFIG_MMU\n#else\n{f}#endif\n"), &NONE[..]),
        (format!("#ifndef CONFIG_MMU\n{f}#endif\n"), &NONE[..]),
        (format!("#ifdef CONFIG_MMU\n{f}#else\n#endif\n"), &told[..]),
        (format!("#ifndef CONFIG_MMU\n#endif\n{f}"), &told[..]),
        (format!("#ifdef CONFIG_SMP\n#else\n{f}#endif\n"), &told[..]),
        (
            format!("#ifdef CONFIG_MMU\n#elif defined(A)\n{f}#endif\n"),
            &NONE[..],
        ),
        (
            format!("#ifdef CONFIG_MMU\n#elif defined(A)\n#else\n{f}#endif\n"),
            &NONE[..],
        ),
    ] {
        assert_eq!(rules(&around), wanted, "{around}");
    }
}

/// Macros that use each other four hundred times each would be hundreds of millions of nodes.
#[test]
fn macros_in_macros_end() {
    let often = |name: &str| format!("{name}(x); ").repeat(400);
    let text = format!(
        "#define A(x) do {{ if (x) return 1; }} while (0)\n#define B(x) do {{ {} }} while (0)\n#define C(x) do {{ {} }} while (0)\n#define D(x) do {{ {} }} while (0)\nint f(u32 __user *p, u32 v)\n{{\n\tD(v);\n\treturn put_user(v, p);\n}}\n",
        often("A"),
        often("B"),
        often("C"),
    );
    assert_eq!(rules(&text), NONE);
}
