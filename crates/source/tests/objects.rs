//! Copies into objects: how many bytes they are, what is left of them, who looks at them.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::{changed, rules};

const NONE: [&str; 0] = [];

#[test]
fn elements_are_no_bytes() {
    let right = "int f(u32 __user *p, u32 n)\n{\n\tu32 *all = kcalloc(n, sizeof(*all), GFP_KERNEL);\n\tint ret = -EFAULT;\n\n\tif (!all)\n\t\treturn -ENOMEM;\n\tif (!copy_from_user(all, p, n * sizeof(*all)))\n\t\tret = find(all, n);\n\tkfree(all);\n\treturn ret;\n}\n";
    changed(
        "elements-for-bytes",
        right,
        &[("p, n * sizeof(*all)", "p, n")],
    );
    let product = right.replace("kcalloc(n, sizeof(*all), ", "kmalloc(n * sizeof(u32), ");
    changed(
        "elements-for-bytes",
        &product,
        &[("p, n * sizeof(*all)", "p, n")],
    );
    let array = "int f(u32 __user *p)\n{\n\tu32 all[8];\n\n\tif (copy_from_user(all, p, sizeof(all)))\n\t\treturn -EFAULT;\n\treturn find(all);\n}\n";
    changed(
        "elements-for-bytes",
        array,
        &[("sizeof(all)", "ARRAY_SIZE(all)")],
    );
    // Of bytes there are as many.
    let bytes = array
        .replace("u32 all", "u8 all")
        .replace("sizeof(all)", "ARRAY_SIZE(all)");
    assert_eq!(rules(&bytes), NONE);
}

#[test]
fn a_number_that_is_no_less_than_an_object_may_be_more() {
    let right = "struct effect { u32 a, b; };\nint f(const char __user *p, size_t size, struct effect *to)\n{\n\tif (size != sizeof(struct effect))\n\t\treturn -EINVAL;\n\tif (copy_from_user(to, p, size))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
    changed("beyond-variable", right, &[("size != ", "size < ")]);
    // What is asked on another way is another number of bytes.
    let other = right.replace("\tif (size !=", "\tif (to->a) {\n\t\tif (size != 4)\n\t\t\treturn -EINVAL;\n\t\treturn 0;\n\t}\n\tif (size !=");
    changed(
        "beyond-variable",
        &other,
        &[("size != sizeof", "size < sizeof")],
    );
    for right in [
        // Whoever knows how much there is.
        right.replace("size != ", "size > 64 || size < "),
        // The end is open.
        right
            .replace("size != ", "size < ")
            .replace("u32 a, b;", "u32 a; u32 b[];"),
        // So much is copied as it has.
        right
            .replace("size != ", "size < ")
            .replace("p, size", "p, sizeof(*to)"),
    ] {
        assert_eq!(rules(&right), NONE, "{right}");
    }
}

#[test]
fn the_size_of_a_member_that_is_a_pointer() {
    let right = "struct entry { u32 a, b; };\nstruct map { u32 num; struct entry __user *entry; };\nint f(struct map __user *p)\n{\n\tstruct map m;\n\tstruct entry e;\n\n\tif (copy_from_user(&m, p, sizeof(m)))\n\t\treturn -EFAULT;\n\tif (m.num > 8)\n\t\treturn -EINVAL;\n\tif (gather(m.num, sizeof(*m.entry), m.entry))\n\t\treturn -EINVAL;\n\tif (copy_from_user(&e, m.entry, sizeof(*m.entry)))\n\t\treturn -EFAULT;\n\treturn e.a;\n}\n";
    changed(
        "sizeof-pointer",
        right,
        &[
            ("num, sizeof(*m.entry)", "num, sizeof(m.entry)"),
            ("m.entry, sizeof(*m.entry)", "m.entry, sizeof(m.entry)"),
        ],
    );
    // A list of pointers.
    let list = right
        .replace("__user *entry", "__user * __user *entry")
        .replace("num, sizeof(*m.entry)", "num, sizeof(m.entry)")
        .replace(
            "if (copy_from_user(&e, m.entry, sizeof(*m.entry)))\n\t\treturn -EFAULT;\n\treturn e.a",
            "return 0",
        );
    assert_eq!(rules(&list), NONE);
}

#[test]
fn memory_that_is_freed_with_what_was_copied_into_it() {
    let right = "struct codec { u32 a; };\nint f(struct stream *s, void __user *p)\n{\n\tstruct codec *c;\n\tint ret;\n\n\tc = kzalloc(sizeof(*c), GFP_KERNEL);\n\tif (!c)\n\t\treturn -ENOMEM;\n\tret = s->ops->get(s, c);\n\tif (!ret && copy_to_user(p, c, sizeof(*c)))\n\t\tret = -EFAULT;\n\tkfree(c);\n\treturn ret;\n}\n";
    changed(
        "unread-copy",
        right,
        &[("copy_to_user(p, c, ", "copy_from_user(c, p, ")],
    );
    let scoped = right
        .replace("*c;\n", "*c __free(kfree) = NULL;\n")
        .replace("\tkfree(c);\n", "");
    changed(
        "unread-copy",
        &scoped,
        &[("copy_to_user(p, c, ", "copy_from_user(c, p, ")],
    );
    let wrong = right.replace("copy_to_user(p, c, ", "copy_from_user(c, p, ");
    for kept in [
        wrong.replace("s->ops->get(s, c)", "sg_init_one(&s->sg, c, 4)"),
        wrong.replace("s->ops->get(s, c)", "0;\n\ts->c = c"),
        wrong.replace("\tkfree(c);", "\tif (!ret)\n\t\ts->a = c->a;\n\tkfree(c);"),
        wrong.replace("\tkfree(c);\n", ""),
    ] {
        assert_eq!(rules(&kept), NONE, "{kept}");
    }
}

#[test]
fn a_string_that_fills_what_it_is_copied_into() {
    let member = "struct name { char text[16]; };\nint f(const char __user *p, struct name *n)\n{\n\tint ret;\n\n\tret = strncpy_from_user(n->text, p, sizeof(n->text));\n\tif (ret == 0 || ret == sizeof(n->text))\n\t\treturn -ERANGE;\n\treturn ret < 0 ? ret : 0;\n}\n";
    changed(
        "unterminated-string",
        member,
        &[
            (" || ret == sizeof(n->text)", ""),
            (
                "(n->text));\n\tif (ret == 0 || ret == sizeof(n->text))\n\t\treturn -ERANGE;\n",
                "(n->text));\n\tn->other = 1;\n",
            ),
        ],
    );
    let least = "int f(const char __user *p, size_t len)\n{\n\tchar line[80];\n\tint ret;\n\n\tlen = min_t(size_t, len, sizeof(line) - 1);\n\tmemset(line, 0, sizeof(line));\n\tret = strncpy_from_user(line, p, len);\n\tif (ret < 0)\n\t\treturn ret;\n\treturn parse(line);\n}\n";
    changed(
        "unterminated-string",
        least,
        &[("sizeof(line) - 1)", "sizeof(line))")],
    );
}

#[test]
fn what_is_only_added_to_a_member_gives_it_no_value() {
    let right = "struct info { u32 flags; u32 valid; };\nint f(void __user *p, struct state *s)\n{\n\tstruct info i;\n\n\ti.flags = 0;\n\tif (s->file)\n\t\ti.flags |= 1;\n\ti.valid = 3;\n\treturn copy_to_user(p, &i, sizeof(i)) ? -EFAULT : 0;\n}\n";
    changed("copied-holes", right, &[("\ti.flags = 0;\n", "")]);
}

#[test]
fn an_error_number_that_is_lost_behind_a_loop() {
    let right = "ssize_t f(char __user *p, struct dev *d, size_t n)\n{\n\tssize_t ret = 0;\n\tsize_t got = 0;\n\n\twhile (n) {\n\t\tif (put_user(d->c, p)) {\n\t\t\tret = -EFAULT;\n\t\t\tgoto out;\n\t\t}\n\t\tgot++;\n\t\tn--;\n\t}\n\tret = got;\nout:\n\treturn ret;\n}\n";
    changed("swallowed-fault", right, &[("goto out", "break")]);
}

#[test]
fn a_member_that_takes_what_another_structure_was_filled_with() {
    let right = "struct info { u32 at; u32 __user *list; };\nstruct info32 { u32 at; u32 list; };\nstruct sub { int n; };\nstruct dev { struct sub *subs; u32 n; };\nstatic int one(struct dev *d, struct info *i)\n{\n\tif (i->at >= d->n)\n\t\treturn -EINVAL;\n\treturn put_user(d->subs[i->at].n, i->list);\n}\nint f(struct dev *d, void __user *p)\n{\n\tstruct info32 i32;\n\tstruct info i;\n\n\tif (copy_from_user(&i32, p, sizeof(i32)))\n\t\treturn -EFAULT;\n\ti.at = i32.at;\n\ti.list = compat_ptr(i32.list);\n\treturn one(d, &i);\n}\n";
    changed(
        "unbounded-index",
        right,
        &[("\tif (i->at >= d->n)\n\t\treturn -EINVAL;\n", "")],
    );
    let bounded = right
        .replace("\tif (i->at >= d->n)\n\t\treturn -EINVAL;\n", "")
        .replace(
            "\ti.list =",
            "\tif (i.at >= d->n)\n\t\treturn -EINVAL;\n\ti.list =",
        );
    assert_eq!(rules(&bounded), NONE);
}

#[test]
fn a_copy_of_many_bytes_with_preemption_off() {
    let right = "int f(void __user *p, struct dev *d)\n{\n\tint ret;\n\n\tpreempt_disable();\n\tret = put_user(d->a, (u32 __user *)p);\n\tpreempt_enable();\n\treturn ret;\n}\n";
    changed(
        "fault-in-atomic",
        right,
        &[(
            "put_user(d->a, (u32 __user *)p)",
            "copy_to_user(p, d, 8) ? -EFAULT : 0",
        )],
    );
}

#[test]
fn values_in_a_loop_with_preemption_off() {
    let right = "int f(u32 __user *p, struct dev *d)\n{\n\tint ret = 0, i;\n\n\tpreempt_disable();\n\tif (d->fast) {\n\t\tload(d);\n\t\tpreempt_enable();\n\t} else {\n\t\tpreempt_enable();\n\t\tfor (i = 0; i < 32; i++)\n\t\t\tret |= __get_user(d->r[i], &p[i]);\n\t}\n\treturn ret;\n}\n";
    let right = right.replace(
        "\tpreempt_disable",
        "\tif (!access_ok(p, 128))\n\t\treturn -EFAULT;\n\tpreempt_disable",
    );
    let moved = right
        .replace("{\n\t\tpreempt_enable();\n\t\tfor", "{\n\t\tfor")
        .replace("&p[i]);\n", "&p[i]);\n\t\tpreempt_enable();\n");
    assert_eq!(rules(&right), NONE);
    assert_eq!(rules(&moved), ["fault-in-atomic"]);
    // Each round has preemption off for one value alone.
    let each = moved
        .replace("\tpreempt_disable();\n\tif", "\tif")
        .replace("ret |=", "{ preempt_disable(); ret |=")
        .replace(
            "&p[i]);\n\t\tpreempt_enable();",
            "&p[i]); preempt_enable(); }",
        );
    assert_eq!(rules(&each), NONE);
}

#[test]
fn what_is_no_more_than_0_is_asked_for_more() {
    let right = "static int fetch(u32 *v, u32 __user *p)\n{\n\tif (copy_from_user(v, p, sizeof(*v)))\n\t\treturn -EINVAL;\n\treturn 0;\n}\nint f(u32 __user *p)\n{\n\tu32 v, w;\n\tint ret;\n\n\tif (fetch(&v, p))\n\t\treturn -EINVAL;\n\tret = get_user(w, p + 1);\n\tif (ret)\n\t\treturn ret;\n\treturn use(v, w);\n}\n";
    let wrong = right.replace("if (fetch(&v, p))", "if (fetch(&v, p) > 0)");
    assert_eq!(rules(right), NONE);
    assert_eq!(rules(&wrong), ["misread-result"]);
    let stored = right.replace("if (ret)", "if (ret > 0)");
    assert!(rules(&stored).contains(&"misread-result".to_owned()));
    // It gives how much, too.
    let length = wrong.replace("return 0;", "return 4;");
    assert_eq!(rules(&length), NONE);
}

#[test]
fn an_array_of_which_an_element_is_never_set() {
    let right = "struct version { u32 part[3]; };\nint f(void __user *p)\n{\n\tstruct version v;\n\n\tv.part[0] = 1;\n\tv.part[1] = 2;\n\tv.part[2] = 3;\n\treturn copy_to_user(p, &v, sizeof(v)) ? -EFAULT : 0;\n}\n";
    let change = [("\tv.part[2] = 3;\n", "")];
    changed("copied-holes", right, &change);
    let alone = right
        .replace("struct version v;", "u32 part[3];")
        .replace("v.part", "part")
        .replace("&v, sizeof(v)", "part, sizeof(part)");
    changed("copied-holes", &alone, &[("\tpart[2] = 3;\n", "")]);
    for right in [
        // Any of them is set.
        right.replace("v.part[2]", "v.part[p != NULL]"),
        alone.replace("part[2]", "part[p != NULL]"),
        // Where one alone goes out it is said elsewhere.
        alone
            .replace("\tpart[2] = 3;\n", "")
            .replace("sizeof(part)", "sizeof(part[0]) * 2"),
        right.replace("\tv.part[2] = 3;\n", "\tif (p)\n\t\tv.part[2] = 3;\n"),
    ] {
        assert_eq!(rules(&right), NONE, "{right}");
    }
}

#[test]
fn a_copy_that_memdup_user_makes_by_the_size_of_its_pointer() {
    let right = "struct code { u32 a[8]; };\nint f(void __user *p)\n{\n\tstruct code *c = memdup_user(p, sizeof(*c));\n\n\tif (IS_ERR(c))\n\t\treturn PTR_ERR(c);\n\trun(c);\n\tkfree(c);\n\treturn 0;\n}\n";
    changed("sizeof-pointer", right, &[("sizeof(*c)", "sizeof(c)")]);
    let later = right
        .replace("*c = memdup_user", "*c;\n\n\tc = memdup_user")
        .replace("sizeof(*c)", "sizeof(struct code)");
    changed(
        "sizeof-pointer",
        &later,
        &[("sizeof(struct code)", "sizeof(c)")],
    );
}

#[test]
fn an_error_pointer_that_is_freed() {
    let right = "int f(void __user *p, struct dev *d)\n{\n\tchar *c = NULL;\n\tint ret;\n\n\tif (d->on) {\n\t\tc = memdup_user(p, 64);\n\t\tif (IS_ERR(c)) {\n\t\t\tret = PTR_ERR(c);\n\t\t\tc = NULL;\n\t\t\tgoto out;\n\t\t}\n\t}\n\tret = run(d, c);\nout:\n\tkfree(c);\n\treturn ret;\n}\n";
    changed("error-pointer", right, &[("\t\t\tc = NULL;\n", "")]);
    let asked = right
        .replace("\t\t\tc = NULL;\n", "")
        .replace("\tkfree(c);", "\tif (!IS_ERR(c))\n\t\tkfree(c);");
    assert_eq!(rules(&asked), NONE);
    let kept = right
        .replace("\t\t\tc = NULL;\n", "")
        .replace("\tkfree(c);", "\tkfree(d->c);");
    assert_eq!(rules(&kept), NONE);
}

#[test]
fn a_fault_takes_the_lock_that_is_held() {
    let right = "int f(char __user *p, char *k, struct mm *mm)\n{\n\tint ret;\n\n\tmmap_read_lock(mm);\n\tret = walk(mm, k);\n\tmmap_read_unlock(mm);\n\tif (copy_to_user(p, k, ret))\n\t\treturn -EFAULT;\n\treturn ret;\n}\n";
    let wrong = right.replace(
        "\tmmap_read_unlock(mm);\n\tif (copy_to_user(p, k, ret))\n\t\treturn -EFAULT;\n",
        "\tif (copy_to_user(p, k, ret))\n\t\tret = -EFAULT;\n\tmmap_read_unlock(mm);\n",
    );
    assert_eq!(rules(right), NONE);
    assert_eq!(rules(&wrong), ["fault-in-atomic"]);
    let off = wrong
        .replace(
            "\tif (copy_to_user",
            "\tpagefault_disable();\n\tif (copy_to_user",
        )
        .replace(
            "\tmmap_read_unlock",
            "\tpagefault_enable();\n\tmmap_read_unlock",
        );
    assert_eq!(rules(&off), NONE);
}

#[test]
fn bytes_that_another_pointer_reads_as_a_string() {
    let right = "int f(const char __user *p, size_t n)\n{\n\tchar *data, *at;\n\tint a, b, ret = -EINVAL;\n\n\tif (n > 4096)\n\t\treturn -E2BIG;\n\tdata = memdup_user_nul(p, n);\n\tif (IS_ERR(data))\n\t\treturn PTR_ERR(data);\n\tat = data;\n\tif (sscanf(at, \"%d\", &a) == 1) {\n\t\tat += 4;\n\t\tif (sscanf(at, \"%d\", &b) == 1)\n\t\t\tret = use(a, b);\n\t}\n\tkfree(data);\n\treturn ret;\n}\n";
    changed(
        "unterminated-string",
        right,
        &[("memdup_user_nul(", "memdup_user(")],
    );
    let ended = right
        .replace("memdup_user_nul(", "memdup_user(")
        .replace("\tat = data;\n", "\tat = data;\n\tat[n - 1] = 0;\n");
    assert_eq!(rules(&ended), NONE);
}

#[test]
fn a_structure_of_the_callers_that_is_as_large_as_its_type() {
    let right = "struct query { u32 a[4]; };\nstruct head { u32 size; u64 from; };\nint f(struct query *q, struct head __user *p)\n{\n\tstruct head h;\n\n\tif (copy_from_user(&h, p, sizeof(h)))\n\t\treturn -EFAULT;\n\tif (h.size > sizeof(*q))\n\t\treturn -E2BIG;\n\tif (copy_from_user(q, u64_to_user_ptr(h.from), h.size))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
    changed(
        "beyond-variable",
        right,
        &[("\tif (h.size > sizeof(*q))\n\t\treturn -E2BIG;\n", "")],
    );
    let open = right
        .replace("\tif (h.size > sizeof(*q))\n\t\treturn -E2BIG;\n", "")
        .replace("u32 a[4];", "u32 n; u32 a[];");
    assert_eq!(rules(&open), NONE);
}

/// Each element of memory that a function allocates is a struct by itself.
#[test]
fn elements_that_a_function_allocates_are_set_whole() {
    const FILL: &str = "struct info { u32 kind; u32 id; char name[16]; };\nstatic void fill(struct dev *d, struct info *info)\n{\n\tinfo->kind = d->kind;\n\tinfo->id = d->id;\n\tmemcpy(info->name, d->name, 16);\n}\n";
    let with = |round: &str| {
        format!(
            "{FILL}int f(struct dev *d, void __user *u, u32 n)\n{{\n\tstruct info *all = kmalloc_array(n, sizeof(*all), GFP_KERNEL);\n\tint i, ret = 0;\n\n\tif (!all)\n\t\treturn -ENOMEM;\n\tfor (i = 0; i < n; i++) {{\n{round}\n\t}}\n\tif (copy_to_user(u, all, n * sizeof(*all)))\n\t\tret = -EFAULT;\n\tkfree(all);\n\treturn ret;\n}}\n"
        )
    };
    let by_callee = with("\t\tfill(&d[i], &all[i]);");
    let by_index =
        with("\t\tall[i].kind = 1;\n\t\t(all + i)->id = i;\n\t\tmemcpy(all[i].name, d->name, 16);");
    let by_alias = with(
        "\t\tstruct info *own = &all[i];\n\n\t\town->kind = 1;\n\t\town->id = i;\n\t\tmemcpy(own->name, d->name, 16);",
    );
    // What is not followed may set all of it.
    let unknown = with("\t\tsomewhere_else(d, &all[i]);");
    let whole = with("\t\tall[i] = d->info;");
    for right in [&by_callee, &by_index, &by_alias, &unknown, &whole] {
        assert_eq!(mistakes::found(None, right), [], "{right}");
    }
    let wrong = [
        by_callee.replace("\tinfo->id = d->id;\n", ""),
        by_callee.replace(
            "memcpy(info->name, d->name, 16)",
            "strscpy(info->name, d->name, 16)",
        ),
        by_callee.replace("u32 kind; u32 id;", "u8 kind; u32 id;"),
        by_index.replace("(all + i)->id = i;", ""),
        by_alias.replace("\t\town->id = i;\n", ""),
    ];
    for wrong in wrong {
        let rules: Vec<String> = mistakes::found(None, &wrong)
            .into_iter()
            .map(|own| own.0)
            .collect();
        assert_eq!(rules, ["copied-holes"], "{wrong}");
        let cleared = wrong.replace("kmalloc_array(n, sizeof(*all)", "kcalloc(n, sizeof(*all)");
        assert_eq!(mistakes::found(None, &cleared), [], "{cleared}");
    }
}
