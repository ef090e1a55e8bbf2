//! Mistakes around single accesses and copies, in the forms that drivers write them.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

/// What is said of a function of these statements.
fn rules(statements: &str) -> Vec<String> {
    let text = format!(
        "struct req {{ u32 cmd; u32 len; u32 id; }};\nlong f(struct dev *d, unsigned int cmd, struct req __user *arg, char __user *buf, size_t n)\n{{\n\tstruct req r;\n\tlong ret = 0;\n\tu32 v = 0;\n\n{statements}\n}}\n"
    );
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

const NONE: [&str; 0] = [];
const INVERTED: [&str; 1] = ["inverted-test"];
const TWICE: [&str; 1] = ["double-fetch"];

/// Only a plain `return -EFAULT;` was seen.
#[test]
fn success_that_is_answered_by_efault_is_found_however_it_is_written() {
    for wrong in [
        "\tif (!copy_to_user(buf, d->buf, n)) {\n\t\tpr_debug(\"no\");\n\t\treturn -EFAULT;\n\t}\n\treturn n;",
        "\tif (!copy_to_user(buf, d->buf, n))\n\t\tret = -EFAULT;\n\treturn ret;",
        "\tif (!copy_to_user(buf, d->buf, n)) {\n\t\tkfree(d->buf);\n\t\tret = -EFAULT;\n\t}\n\treturn ret;",
        "\twhile (n--) {\n\t\tif (!put_user(v, &arg->id)) {\n\t\t\tret = -EFAULT;\n\t\t\tbreak;\n\t\t}\n\t}\n\treturn ret;",
        "\tret = -EFAULT;\n\tif (!copy_from_user(&r, arg, sizeof(r)))\n\t\tgoto out;\n\tret = run(&r);\nout:\n\tunlock(d);\n\treturn ret;",
        "\tif (!copy_from_user(&r, arg, sizeof(r)))\n\t\tgoto fault;\n\treturn run(&r);\nfault:\n\tunlock(d);\n\treturn -EFAULT;",
        "\tif (n < 4 || !get_user(v, &arg->id))\n\t\tgoto fault;\n\treturn run(d);\nfault:\n\tret = -EFAULT;\n\tunlock(d);\n\treturn ret;",
        "\tif (access_ok(arg, sizeof(*arg))) {\n\t\tpr_debug(\"no\");\n\t\treturn -EFAULT;\n\t}\n\treturn __put_user(v, &arg->id);",
    ] {
        let found = rules(wrong);
        assert!(
            found.contains(&INVERTED[0].to_owned()),
            "{wrong}\n{found:?}"
        );
    }
    for right in [
        "\tret = -EFAULT;\n\tif (!copy_from_user(&r, arg, sizeof(r)))\n\t\tret = 0;\n\treturn ret;",
        "\tret = -EFAULT;\n\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\tgoto out;\n\tret = run(&r);\nout:\n\treturn ret;",
        "\tif (!copy_from_user(&r, arg, sizeof(r))) {\n\t\tret = -EFAULT;\n\t\tif (put_user(r.id, &arg->cmd))\n\t\t\tgoto out;\n\t\tret = 0;\n\t}\nout:\n\treturn ret;",
        "\tret = -EFAULT;\n\tif (!copy_from_user(&r, arg, sizeof(r)))\n\t\tgoto run;\n\treturn ret;\nrun:\n\tret = run(&r);\n\treturn ret;",
        "\tif (!get_user(v, &arg->id)) {\n\t\tif (v > 7)\n\t\t\treturn -EFAULT;\n\t\treturn run(d);\n\t}\n\treturn -EFAULT;",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

/// gcc warns of it: the kernel declares the copies `__must_check`.
#[test]
fn a_copy_of_which_nothing_asks_how_it_went_is_found() {
    for wrong in [
        "\tcopy_to_user(buf, d->buf, n);\n\treturn 0;",
        "\tcopy_from_user(&d->req, arg, sizeof(d->req));\n\treturn run(d);",
        "\tif (cmd)\n\t\t__copy_to_user_inatomic(buf, d->buf, n);\n\treturn 0;",
        "\tstrncpy_from_user(d->name, buf, n);\n\treturn 0;",
    ] {
        assert_eq!(rules(wrong), ["ignored-fault"], "{wrong}");
    }
    // Each once, however many reasons there are.
    let twice = "\tcopy_from_user(&r, arg, sizeof(r));\n\treturn run(&r);";
    assert_eq!(rules(twice), ["ignored-fault"]);
    for right in [
        "\treturn copy_to_user(buf, d->buf, n) ? -EFAULT : 0;",
        "\tret = copy_to_user(buf, d->buf, n);\n\treturn ret ? -EFAULT : 0;",
        "\tput_user(v, &arg->id);\n\treturn 0;",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

/// The statements of a case were each held to be a branch of its own.
#[test]
fn a_double_fetch_in_a_case_is_found() {
    let with = |used: &str, behind: &str| {
        rules(&format!(
            "\tswitch (cmd) {{\n\tcase 1:\n\t\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\t\treturn -EFAULT;\n\t\tif (r.len > 8)\n\t\t\treturn -EINVAL;\n{behind}\t\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\t\treturn -EFAULT;\n\t\t{used}\n\t\tbreak;\n\t}}\n\treturn ret;"
        ))
    };
    let use_it = "fill(d->buf, r.len);";
    assert_eq!(with(use_it, ""), TWICE);
    assert_eq!(with("v = r.id;", ""), NONE);
    assert_eq!(with(use_it, "\t\tbreak;\n\tcase 2:\n"), NONE);
    // What is looked for by its value is used; what is refused again is not.
    let search = "list_for_each_entry(e, &d->list, node) {\n\t\t\tif (e->len == r.len)\n\t\t\t\tdrop(e);\n\t\t}";
    assert_eq!(with(search, ""), TWICE);
    assert_eq!(
        with(
            "if (r.len != 8)\n\t\t\treturn -EINVAL;\n\t\tfill(d->buf, r.len);",
            ""
        ),
        NONE
    );
}

/// A cast leaves the address the user's, `__force` or not, but for a number's.
#[test]
fn a_cast_does_not_make_memory_the_kernels() {
    let dereferenced = ["user-pointer-dereferenced"];
    for wrong in [
        "\t*((u32 *)buf) = v;\n\treturn 0;",
        "\tv = *(u32 *)buf;\n\treturn v;",
        "\tv = ((struct req *)buf)->id;\n\treturn v;",
        "\tmemcpy(&r, arg, sizeof(r));\n\treturn put_user(r.id, &arg->cmd);",
        "\tif (!get_user(v, &arg->id))\n\t\tstrscpy(d->name, buf, sizeof(d->name));\n\treturn 0;",
        "\treturn get_user(v, &arg->id) ?: strlen(buf);",
        "\tv = *(&arg->id);\n\treturn v;",
        "\t*&arg->id = v;\n\treturn 0;",
        "\t*((__force u32 *)buf) = v;\n\treturn 0;",
    ] {
        assert_eq!(rules(wrong), dereferenced, "{wrong}");
    }
    for right in [
        "\tv = *(u32 *)(unsigned long)buf;\n\treturn v;",
        "\tv = (u32)(unsigned long)&((struct req *)buf)->id;\n\treturn v;",
        "\treturn put_user(v, (u32 *)buf);",
        "\tif (cmd)\n\t\tmemcpy(&r, (void *)arg, sizeof(r));\n\telse if (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn r.id;",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

/// A function without an accessor was not looked at.
#[test]
fn memory_of_the_users_is_not_duplicated_as_the_kernels() {
    let of = |take: &str| {
        format!(
            "struct filter {{ u16 len; u8 __user *code; u8 *kept; }};\nint f(struct dev *d, struct filter *p, char __user *buf)\n{{\n{take}\n\treturn d->code ? 0 : -ENOMEM;\n}}\n"
        )
    };
    for wrong in [
        "\td->code = kmemdup(p->code, p->len, GFP_KERNEL);",
        "\td->code = kmemdup_array(p->code, p->len, sizeof(*p->code), GFP_KERNEL);",
        "\td->code = devm_kmemdup(d->dev, p->code, p->len, GFP_KERNEL);",
        "\td->code = kstrndup(buf, 16, GFP_KERNEL);",
    ] {
        let found = mistakes::found(None, &of(wrong));
        let expected = [("user-pointer-dereferenced".to_owned(), 4)];
        assert_eq!(found, expected, "{wrong}");
    }
    for right in [
        "\td->code = kmemdup(p->kept, p->len, GFP_KERNEL);",
        "\td->code = memdup_user(p->code, p->len);\n\tif (IS_ERR(d->code))\n\t\treturn PTR_ERR(d->code);",
        "\td->code = kmemdup((__force u8 *)p->code, p->len, GFP_KERNEL);",
    ] {
        let found = mistakes::found(None, &of(right));
        assert_eq!(found, [], "{right}");
    }
}

/// Sizes on the kernel's side were not looked at.
#[test]
fn a_copy_beyond_the_variable_is_found() {
    let beyond = ["beyond-variable"];
    for wrong in [
        "\tif (copy_from_user(&r, arg, 2 * sizeof(r)))\n\t\treturn -EFAULT;\n\treturn run(&r);",
        "\tif (copy_from_user(&r.len, arg, sizeof(r) + 4))\n\t\treturn -EFAULT;\n\treturn run(&r);",
        "\tchar name[8];\n\n\tif (copy_to_user(buf, name_of(d, name), 4) || copy_to_user(buf, name, sizeof(name) + 1))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tstruct req *q = d->req;\n\n\tif (copy_from_user(&q, arg, sizeof(*q)))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tstruct req *q = d->req;\n\n\treturn copy_to_user(buf, &q, n) ? -EFAULT : 0;",
        "\tif (copy_to_user(buf, &d, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tchar name[8];\n\n\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tif (copy_from_user(name, buf, r.len))\n\t\treturn -EFAULT;\n\treturn run(name);",
        "\tchar name[8];\n\tu32 more;\n\n\tif (get_user(v, &arg->len))\n\t\treturn -EFAULT;\n\tmore = v + 1;\n\tif (!more || copy_from_user(name, buf, more))\n\t\treturn -EFAULT;\n\treturn run(name);",
    ] {
        assert_eq!(rules(wrong), beyond, "{wrong}");
    }
    for right in [
        "\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn run(&r);",
        "\tstruct req *q = d->req;\n\n\tif (copy_from_user(&q, arg, sizeof(q)))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tchar name[8];\n\n\tif (n != 8 || copy_from_user(name, buf, n))\n\t\treturn -EFAULT;\n\treturn run(name);",
        "\tchar name[8];\n\n\tif (copy_from_user(name, buf, min(n, sizeof(name))))\n\t\treturn -EFAULT;\n\treturn run(name);",
        "\tchar name[8];\n\n\tn = min(n, sizeof(name));\n\tif (copy_from_user(name, buf, n))\n\t\treturn -EFAULT;\n\treturn run(name);",
        // What calls it bounds it: the function is no callback.
        "\tchar name[8];\n\n\treturn copy_from_user(name, buf, n) ? -EFAULT : 0;",
        "\tchar name[8];\n\n\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tif (r.len > 8 || copy_from_user(name, buf, r.len))\n\t\treturn -EFAULT;\n\treturn run(name);",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

#[test]
fn a_check_behind_its_access_is_found() {
    let late = ["late-check"];
    for wrong in [
        "\tif (__get_user(v, &arg->len))\n\t\treturn -EFAULT;\n\tif (!access_ok(arg, sizeof(*arg)))\n\t\treturn -EFAULT;\n\treturn v;",
        "\tu32 __user *p = u64_to_user_ptr(d->at);\n\n\tif (__copy_from_user(&v, p, sizeof(v)) || !access_ok(p, 4))\n\t\treturn -EFAULT;\n\treturn v;",
    ] {
        assert_eq!(rules(wrong), late, "{wrong}");
    }
    for right in [
        "\tif (!access_ok(arg, sizeof(*arg)))\n\t\treturn -EFAULT;\n\treturn __get_user(v, &arg->len);",
        "\tif (!access_ok(buf, 4))\n\t\treturn -EFAULT;\n\twhile (n--) {\n\t\tif (__get_user(v, buf))\n\t\t\treturn -EFAULT;\n\t\tbuf += 4;\n\t\tif (!access_ok(buf, 4))\n\t\t\treturn -EFAULT;\n\t}\n\treturn v;",
        "\tif (__get_user(v, &arg->len))\n\t\treturn -EFAULT;\n\targ = arg + 1;\n\treturn access_ok(arg, sizeof(*arg));",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

/// `err = …` in a chain was only found where no loop stood before it.
#[test]
fn a_result_that_is_overwritten_is_found_behind_a_loop_and_in_a_chain() {
    let wrong = "\tint err = 0;\n\n\twhile (n--)\n\t\terr |= __get_user(v, &arg[n].id);\n\terr = __put_user(v, &arg->cmd);\n\treturn err ? -EFAULT : 0;";
    assert_eq!(rules(wrong), ["ignored-fault"]);
    let chain = "\tint err = 0;\n\n\terr |= __put_user(v, &arg->id);\n\terr |= __put_user(v, &arg->len);\n\terr = __put_user(v, &arg->cmd);\n\terr |= __put_user(v, &arg[1].cmd);\n\treturn err ? -EFAULT : 0;";
    assert_eq!(rules(chain), ["ignored-fault"]);
    assert_eq!(rules(&chain.replace("err = __put", "err |= __put")), NONE);
    // What overwrites it, and what stands between, need be no access.
    let helper = chain.replace(
        "err = __put_user(v, &arg->cmd)",
        "err |= save(d, arg);\n\terr = restore(d, arg)",
    );
    assert_eq!(rules(&helper), ["ignored-fault"]);
    assert_eq!(
        rules(&helper.replace("err = restore", "err |= restore")),
        NONE
    );
    let asked = helper.replace(
        "\terr = restore",
        "\tif (err)\n\t\treturn -EFAULT;\n\terr = restore",
    );
    assert_eq!(rules(&asked), NONE);
    assert_eq!(rules(&wrong.replace("err = __put", "err |= __put")), NONE);
}

/// Only a count by its size, and only a whole `sizeof`, was seen.
#[test]
fn padding_goes_out_by_whatever_number_and_past_whatever_clears_it() {
    let holes = ["copied-holes"];
    let with = |clears: &str, fills: &str, count: &str| {
        let text = format!(
            "struct st {{ u32 a; u64 b; }};\nlong f(struct dev *d, char __user *buf, int n, int flag)\n{{\n\tstruct st s;\n\n\t{clears}\n\t{fills}\n\tn = min_t(int, n, sizeof(s));\n\treturn copy_to_user(buf, &s, {count}) ? -EFAULT : 0;\n}}\n"
        );
        let found = mistakes::found(None, &text).into_iter();
        found.map(|(rule, _)| rule).collect::<Vec<_>>()
    };
    let (clear, own, filled) = (
        "memset(&s, 0, sizeof(s));",
        "s.a = 1;\n\ts.b = 2;",
        "fill(d, &s);",
    );
    for count in ["n", "sizeof(s)"] {
        assert_eq!(with("", own, count), holes, "{count}");
        assert_eq!(with(clear, own, count), NONE, "{count}");
        assert_eq!(
            with(&format!("if (flag)\n\t\t{clear}"), own, count),
            holes,
            "{count}"
        );
        assert_eq!(
            with(&format!("if (flag)\n\t\t{clear}"), filled, count),
            holes,
            "{count}"
        );
        assert_eq!(with("", filled, count), NONE, "{count}");
        assert_eq!(
            with("memset(&s, 0, sizeof(&s));", filled, count),
            ["sizeof-pointer"]
        );
    }
}

/// What strscpy() and sprintf() leave behind the end of the string was held to be set.
#[test]
fn what_lies_behind_a_string_that_goes_out_is_found() {
    let with = |set: &str| {
        format!(
            "struct info {{ u32 id; char name[12]; u8 mac[8]; }};\nlong f(struct dev *d, struct info __user *arg)\n{{\n\tstruct info v;\n\n\tv.id = d->id;\n{set}\n\treturn copy_to_user(arg, &v, sizeof(v)) ? -EFAULT : 0;\n}}\n"
        )
    };
    let all = "\tmemcpy(v.mac, d->mac, sizeof(v.mac));\n";
    for wrong in [
        format!("{all}\tstrscpy(v.name, d->name, sizeof(v.name));"),
        format!("{all}\tstrscpy(v.name, d->name);"),
        format!("{all}\tsnprintf(&v.name[0], 12, \"%s\", d->name);")
            .replace("&v.name[0]", "v.name"),
        format!("{all}\tstrncpy(v.name, d->name, sizeof(v.name) - 1);"),
        "\tmemcpy(v.mac, d->mac, 6);\n\tmemset(v.name, 0, 12);".to_owned(),
    ] {
        let found = mistakes::found(None, &with(&wrong));
        assert_eq!(found, [("copied-holes".to_owned(), 9)], "{wrong}");
    }
    for right in [
        format!("{all}\tstrncpy(v.name, d->name, sizeof(v.name));"),
        format!("{all}\tmemset(v.name, 0, sizeof(v.name));\n\tstrscpy(v.name, d->name, 12);"),
        format!("{all}\tstrscpy_pad(v.name, d->name);"),
        format!("{all}\tfill(v.name, sizeof(v.name));"),
        format!("\tmemset(&v, 0, sizeof(v));\n{all}\tstrscpy(v.name, d->name, 12);"),
    ] {
        assert_eq!(mistakes::found(None, &with(&right)), [], "{right}");
    }
}

#[test]
fn an_array_that_holds_a_string_and_goes_out_whole_is_found() {
    let wrong = "\tchar name[16];\n\n\tstrscpy(name, d->name, sizeof(name));\n\treturn copy_to_user(buf, name, sizeof(name)) ? -EFAULT : 0;";
    assert_eq!(rules(wrong), ["copied-holes"]);
    for right in [
        wrong.replace("name[16];", "name[16] = \"\";"),
        wrong.replace("strscpy(", "strncpy("),
        wrong.replace("\n\tstrscpy", "\n\tget_name(d, name);\n\tstrscpy"),
        wrong.replace("buf, name, sizeof(name)", "buf, name, strlen(name) + 1"),
    ] {
        assert_eq!(rules(&right), NONE, "{right}");
    }
}

/// Only a window's begin was asked; what access_ok() is given was a number of bytes
/// whatever the function does with it.
#[test]
fn a_number_of_elements_that_is_checked_as_bytes_is_found() {
    let with = |size: &str, used: &str| {
        format!(
            "\tu32 __user *p = (u32 __user *)buf;\n\tunsigned int i;\n\n\tif (!access_ok(p, {size}))\n\t\treturn -EFAULT;\n{used}\n\treturn 0;"
        )
    };
    let used = [
        "\tfor (i = 0; i < n; i++)\n\t\tif (__get_user(v, p + i))\n\t\t\treturn -EFAULT;",
        "\tfor (i = 0; i < n; i++)\n\t\tif (__get_user(v, p++))\n\t\t\treturn -EFAULT;",
        "\twhile (n--)\n\t\tif (__put_user(v, p++))\n\t\t\treturn -EFAULT;",
        "\tfor (; n > 0; n--, p++)\n\t\tif (__put_user(v, p))\n\t\t\treturn -EFAULT;",
        "\td->all = kvmalloc_array(n, sizeof(u32), GFP_KERNEL);\n\tif (__copy_from_user(d->all, p, n * sizeof(u32)))\n\t\treturn -EFAULT;",
        "\tif (n > SIZE_MAX / sizeof(u32))\n\t\treturn -EINVAL;\n\tread_all(d, p, n);",
    ];
    for used in used {
        let found = rules(&with("n", used));
        assert!(
            found.contains(&"other-object-checked".to_owned()),
            "{used}\n{found:?}"
        );
        let right = rules(&with("n * sizeof(*p)", used));
        assert!(
            !right.contains(&"other-object-checked".to_owned()),
            "{used}
{right:?}"
        );
    }
    for bytes in [
        "\tfor (i = 0; i < n / sizeof(u32); i++)\n\t\tif (__get_user(v, p + i))\n\t\t\treturn -EFAULT;",
        "\tfor (i = 0; i < n; i += 4)\n\t\tif (__get_user(v, p++))\n\t\t\treturn -EFAULT;",
        "\twhile (n) {\n\t\tif (__get_user(v, p++))\n\t\t\treturn -EFAULT;\n\t\tn -= sizeof(v);\n\t}",
        "\tif (__copy_from_user(d->all, p, n))\n\t\treturn -EFAULT;",
        "\tn /= sizeof(v);\n\tfor (; n > 0; n--)\n\t\tif (__get_user(v, p++))\n\t\t\treturn -EFAULT;",
        "\td->all = kvmalloc_array(n, 1, GFP_KERNEL);\n\treturn read_all(d, p, n);",
        "\tn = cmd * sizeof(u32);\n\tfor (i = 0; i < n; i++)\n\t\tif (__put_user(v, p++))\n\t\t\treturn -EFAULT;",
    ] {
        assert_eq!(rules(&with("n", bytes)), NONE, "{bytes}");
    }
}

/// A message that shows the error was held to be a macro that may change it.
#[test]
fn what_a_message_shows_stays_what_it_is() {
    let wrong = "\tret = -EFAULT;\n\tif (!copy_from_user(&r, arg, sizeof(r)))\n\t\tgoto out;\n\tret = run(&r);\nout:\n\tdev_dbg(d->dev, \"%s: %ld\\n\", __func__, ret);\n\treturn ret;";
    assert_eq!(rules(wrong), INVERTED);
    let changed = wrong.replace(
        "dev_dbg(d->dev, \"%s: %ld\\n\", __func__, ret)",
        "settle(d, ret)",
    );
    assert_eq!(rules(&changed), NONE);
}

/// Callers that leave at once with what they were given were not counted.
#[test]
fn bytes_that_a_caller_hands_on_are_found() {
    let with = |asked: &str| {
        format!(
            "static int get(struct dev *d, char __user *buf, size_t n)\n{{\n\tint left;\n\n\tif (!n)\n\t\treturn -EINVAL;\n\tleft = copy_from_user(d->buf, buf, n);\n\tif (left)\n\t\treturn left;\n\treturn 0;\n}}\nint run(struct dev *d, char __user *buf, size_t n)\n{{\n\tint ret;\n\n\tret = get(d, buf, n);\n{asked}\n\tret = start(d);\nout:\n\tunlock(d);\n\treturn ret;\n}}\n"
        )
    };
    for wrong in [
        "\tif (ret)\n\t\tgoto out;",
        "\tif (ret)\n\t\treturn ret;",
        "\tif (ret == 0)\n\t\td->on = true;\n\tgoto out;",
    ] {
        let found = mistakes::found(None, &with(wrong));
        assert_eq!(found, [("misread-result".to_owned(), 9)], "{wrong}");
    }
    for right in [
        "\tif (ret)\n\t\treturn -EFAULT;",
        "\tif (ret) {\n\t\tret = -EFAULT;\n\t\tgoto out;\n\t}",
        "\tif (ret > 0)\n\t\tret = -EFAULT;",
    ] {
        assert_eq!(mistakes::found(None, &with(right)), [], "{right}");
    }
}

/// What was left went on through a label, where only a `return` right behind was seen.
#[test]
fn bytes_left_that_come_to_a_return_are_found() {
    let with = |body: &str| {
        format!(
            "long get(struct dev *d, char __user *buf, size_t n)\n{{\n\tlong ret = -EINVAL;\n\tbool bad;\n\n\tif (n > 64)\n\t\tgoto out;\n\tmutex_lock(&d->lock);\n\tret = copy_to_user(buf, d->buf, n);\n{body}\nout:\n\tmutex_unlock(&d->lock);\n\treturn ret;\n}}\n"
        )
    };
    for wrong in [
        "\tif (ret)\n\t\tgoto out;\n\tret = n;",
        "\tif (ret != 0)\n\t\tgoto out;\n\td->reads++;\n\tret = n;",
        "\td->reads++;",
        "\tif (!ret)\n\t\td->reads++;",
    ] {
        let found = mistakes::found(None, &with(wrong));
        assert_eq!(found, [("misread-result".to_owned(), 9)], "{wrong}");
    }
    for right in [
        "\tif (ret)\n\t\tret = -EFAULT;",
        "\tret = ret ? -EFAULT : n;",
        "\tif (ret) {\n\t\td->faults++;\n\t\tret = -EFAULT;\n\t\tgoto out;\n\t}\n\td->reads++;",
        "\tif (ret > 0)\n\t\tret = -EFAULT;",
        "\tret = n - ret;",
        "\tbad = ret != 0;\n\tif (bad)\n\t\tret = -EFAULT;\n\telse\n\t\td->reads++;",
        "\tif (ret)\n\t\tret = -EIO;\n\telse\n\t\tret = n;",
    ] {
        assert_eq!(mistakes::found(None, &with(right)), [], "{right}");
    }
    for right in [
        "ssize_t read(struct dev *d, char __user *buf, size_t n)\n{\n\tif (n > 64)\n\t\treturn -EINVAL;\n\tn -= copy_to_user(buf, d->buf, n);\n\treturn n;\n}\n",
        // Its caller tells the two apart.
        "long put(struct dev *d, char __user *buf, size_t n)\n{\n\tlong ret = n;\n\n\tmutex_lock(&d->lock);\n\tret = copy_to_user(buf, d->buf, n);\n\tmutex_unlock(&d->lock);\n\treturn ret;\n}\nlong read(struct dev *d, char __user *buf, size_t n)\n{\n\tif (n > 64)\n\t\treturn -EINVAL;\n\treturn put(d, buf, n);\n}\n",
    ] {
        assert_eq!(mistakes::found(None, right), [], "{right}");
    }
}

/// Of a function that gives nothing else its caller tells what it should give.
#[test]
fn bytes_of_a_function_that_only_copies_are_found() {
    let with = |caller: &str| {
        format!(
            "static int put(struct dev *d, char __user *buf)\n{{\n\treturn copy_to_user(buf, d->buf, 64);\n}}\nlong run(struct dev *d, unsigned int cmd, char __user *buf)\n{{\n{caller}\n}}\n"
        )
    };
    let wrong = "\tif (cmd > 7)\n\t\treturn -ENOTTY;\n\treturn put(d, buf);";
    let found = mistakes::found(None, &with(wrong));
    assert_eq!(found, [("misread-result".to_owned(), 3)]);
    for right in [
        "\treturn put(d, buf);",
        "\tif (cmd > 7)\n\t\treturn -ENOTTY;\n\treturn put(d, buf) ? -EFAULT : 0;",
        // Nobody takes what the caller gives for an error number.
        "\treturn inner(d, cmd, buf) ? -EFAULT : 0;\n}\nstatic int inner(struct dev *d, unsigned int cmd, char __user *buf)\n{\n\tif (cmd > 7)\n\t\treturn -ENOTTY;\n\treturn put(d, buf);",
    ] {
        assert_eq!(mistakes::found(None, &with(right)), [], "{right}");
    }
}

/// A type whose name nobody knows was held to be a variable.
#[test]
fn a_cast_to_any_type_is_one() {
    for wrong in [
        "\tv = *((u_short __user *)buf);\n\treturn get_user(v, &arg->id);",
        "\tif (get_user(v, &arg->id))\n\t\treturn -EFAULT;\n\treturn *(__sum16 __user *)(buf + n);",
    ] {
        assert_eq!(rules(wrong), ["user-pointer-dereferenced"], "{wrong}");
    }
}

/// What memdup_user() gives was nobody's affair.
#[test]
fn an_error_pointer_that_nothing_asks_is_found() {
    for wrong in [
        "\tchar *p = memdup_user(buf, n);\n\n\tif (!p)\n\t\treturn -ENOMEM;\n\treturn run(p);",
        "\tchar *p = memdup_user(buf, n);\n\n\tif (!p)\n\t\treturn PTR_ERR(p);\n\treturn run(p);",
        "\tchar *p;\n\n\tp = memdup_user_nul(buf, n);\n\tif (p == NULL)\n\t\treturn -ENOMEM;\n\treturn run(p);",
        "\tstruct req *p = vmemdup_user(arg, sizeof(*p));\n\n\tv = p->cmd;\n\tkvfree(p);\n\treturn v;",
        "\td->name = strndup_user(buf, 64);\n\tif (!d->name)\n\t\treturn -ENOMEM;\n\treturn 0;",
    ] {
        assert_eq!(rules(wrong), ["error-pointer"], "{wrong}");
    }
    for right in [
        "\tchar *p = memdup_user(buf, n);\n\n\tif (IS_ERR(p))\n\t\treturn PTR_ERR(p);\n\treturn run(p);",
        "\tchar *p = memdup_user(buf, n);\n\n\tret = PTR_ERR_OR_ZERO(p);\n\tif (ret)\n\t\treturn ret;\n\treturn p[0];",
        "\td->name = strndup_user(buf, 64);\n\tif (IS_ERR(d->name)) {\n\t\tret = PTR_ERR(d->name);\n\t\td->name = NULL;\n\t}\n\tif (!d->name)\n\t\treturn ret;\n\treturn 0;",
        "\tchar *p = cmd ? memdup_user(buf, n) : NULL;\n\n\treturn take(d, p);",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

#[test]
fn an_index_that_the_user_gives_unbounded_is_found() {
    for wrong in [
        "\tif (get_user(v, &arg->id))\n\t\treturn -EFAULT;\n\treturn d->all[v];",
        "\tu32 i;\n\n\tif (get_user(i, &arg->id))\n\t\treturn -EFAULT;\n\treturn put_user(d->all[i], buf);",
        "\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tif (r.cmd > 7)\n\t\treturn -EINVAL;\n\td->all[r.id] = r.len;\n\treturn 0;",
        "\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tv = r.id;\n\treturn d->all[v + 1];",
        "\tif (get_user(v, &arg->id))\n\t\treturn -EFAULT;\n\tif (d->used[v] == 1)\n\t\treturn -EBUSY;\n\treturn 0;",
        "\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tguard(mutex)(&d->lock);\n\tif (d->all[r.id])\n\t\treturn -EEXIST;\n\treturn make(d, r.id);",
    ] {
        assert_eq!(rules(wrong), ["unbounded-index"], "{wrong}");
    }
    for right in [
        "\tif (get_user(v, &arg->id))\n\t\treturn -EFAULT;\n\tif (v >= 8)\n\t\treturn -EINVAL;\n\treturn d->all[v];",
        "\tif (get_user(v, &arg->id))\n\t\treturn -EFAULT;\n\treturn d->all[v & 7];",
        "\tif (get_user(v, &arg->id))\n\t\treturn -EFAULT;\n\tv = array_index_nospec(v, 8);\n\treturn d->all[v];",
        "\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tret = judge(d, &r);\n\tif (ret)\n\t\treturn ret;\n\treturn d->all[r.id];",
        "\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tv = r.id;\n\tif (v > 7)\n\t\treturn -EINVAL;\n\treturn d->all[r.id];",
        "\tu8 one, all[256];\n\n\tif (get_user(one, buf))\n\t\treturn -EFAULT;\n\tfill(all);\n\treturn all[one];",
        "\tchar *p;\n\n\tif (get_user(v, &arg->len))\n\t\treturn -EFAULT;\n\tp = kmalloc((size_t)v + 1, GFP_KERNEL);\n\tif (!p)\n\t\treturn -ENOMEM;\n\tp[v] = 0;\n\treturn run(p);",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

#[test]
fn bytes_that_are_read_as_a_string_without_an_end_are_found() {
    let copied = "\tif (n > sizeof(b))\n\t\treturn -EINVAL;\n\tif (copy_from_user(b, buf, n))\n\t\treturn -EFAULT;\n";
    let read = "\treturn kstrtou32(b, 0, &v) ? -EINVAL : n;";
    let with =
        |declared: &str, between: &str| format!("\tchar {declared};\n\n{copied}{between}{read}");
    for wrong in [
        with("b[16]", ""),
        with("b[16]", "\tdev_dbg(d->dev, \"%u\\n\", v);\n"),
        with("b[16]", "").replace("kstrtou32(b, 0, &v)", "take(strstrip(b))"),
        "\tchar *p = memdup_user(buf, n);\n\n\tif (IS_ERR(p))\n\t\treturn PTR_ERR(p);\n\tret = strcmp(p, \"on\");\n\tkfree(p);\n\treturn ret;".to_owned(),
        "\tchar *p = NULL;\n\n\tp = memdup_user(buf, n);\n\tif (IS_ERR(p))\n\t\treturn PTR_ERR(p);\n\tret = strcmp(p, \"on\");\n\tkfree(p);\n\treturn ret;".to_owned(),
        "\tchar *p = kmalloc(n, GFP_KERNEL);\n\n\tif (!p)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(p, buf, n))\n\t\treturn -EFAULT;\n\treturn strlen(p);".to_owned(),
    ] {
        assert_eq!(rules(&wrong), ["unterminated-string"], "{wrong}");
    }
    for right in [
        with("b[16]", "\tb[n - 1] = '\\0';\n"),
        with("b[16] = {}", ""),
        with("b[16]", "\tfinish(b, n);\n"),
        with("b[16], *end = b + 15", "\t*end = 0;\n"),
        "\tchar *p = memdup_user_nul(buf, n);\n\n\tif (IS_ERR(p))\n\t\treturn PTR_ERR(p);\n\tret = strcmp(p, \"on\");\n\tkfree(p);\n\treturn ret;".to_owned(),
        "\tchar *p = kzalloc(n + 1, GFP_KERNEL);\n\n\tif (!p)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(p, buf, n))\n\t\treturn -EFAULT;\n\treturn strlen(p);".to_owned(),
    ] {
        assert_eq!(rules(&right), NONE, "{right}");
    }
}

#[test]
fn more_bytes_than_were_allocated_are_found() {
    let with = |size: &str, count: &str| {
        format!(
            "\tvoid *p;\n\n\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tp = kmalloc({size}, GFP_KERNEL);\n\tif (!p)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(p, buf, {count}))\n\t\treturn -EFAULT;\n\treturn run(p);"
        )
    };
    for (size, count) in [
        ("sizeof(r)", "2 * sizeof(r)"),
        ("64", "r.len"),
        ("n", "n + 1"),
        ("r.len", "r.len + sizeof(r)"),
    ] {
        assert_eq!(
            rules(&with(size, count)),
            ["beyond-variable"],
            "{size} {count}"
        );
    }
    for (size, count) in [
        ("sizeof(r)", "sizeof(r)"),
        ("r.len", "r.len"),
        ("n + 1", "n"),
        ("64", "min(r.len, 64)"),
        ("64", "n"),
    ] {
        assert_eq!(rules(&with(size, count)), NONE, "{size} {count}");
    }
}

#[test]
fn a_length_that_is_answered_by_efault_is_found() {
    let wrong = "\tchar name[16];\n\n\tif (strncpy_from_user(name, buf, sizeof(name)))\n\t\treturn -EFAULT;\n\treturn run(name);";
    assert_eq!(rules(wrong), INVERTED);
    let right = wrong.replace("sizeof(name)))", "sizeof(name) - 1) < 0)");
    let right = right.replace("char name[16];", "char name[16] = {};");
    assert_eq!(rules(&right), NONE);
}

/// clear_user() was no copy, and `== 0` no test.
#[test]
fn what_clear_user_gives_is_bytes_left_too() {
    for wrong in [
        "\tif (clear_user(buf, n) < 0)\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tret = clear_user(buf, n);\n\tif (ret)\n\t\treturn ret;\n\treturn n > 8 ? -EINVAL : 0;",
    ] {
        assert_eq!(rules(wrong), ["misread-result"], "{wrong}");
    }
    for wrong in [
        "\tif (copy_from_user(&r, arg, sizeof(r)) == 0) {\n\t\tret = -EFAULT;\n\t\tgoto out;\n\t}\n\tret = run(&r);\nout:\n\treturn ret;",
        "\tif (get_user(v, &arg->id) == 0)\n\t\treturn -EFAULT;\n\treturn run(v);",
        "\tif (access_ok(arg, sizeof(*arg)) != 0)\n\t\treturn -EFAULT;\n\treturn __put_user(v, &arg->id);",
    ] {
        let found = rules(wrong);
        assert!(
            found.contains(&INVERTED[0].to_owned()),
            "{wrong}\n{found:?}"
        );
    }
    for right in [
        "\tif (copy_from_user(&r, arg, sizeof(r)) != 0)\n\t\treturn -EFAULT;\n\treturn run(&r);",
        "\tif (access_ok(arg, sizeof(*arg)) == 0)\n\t\treturn -EFAULT;\n\treturn __put_user(v, &arg->id);",
        "\tif (clear_user(buf, n))\n\t\treturn -EFAULT;\n\treturn 0;",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

/// One that holds something else at another place was taken to hold anything.
#[test]
fn a_test_for_less_than_0_is_of_what_is_there() {
    for wrong in [
        "\tret = lock(d);\n\tif (ret)\n\t\treturn -EBUSY;\n\tret = copy_to_user(buf, d->buf, n);\n\tif (ret < 0)\n\t\treturn -EFAULT;\n\tret = unlock(d);\n\treturn ret ? -EIO : 0;",
        "\tret = copy_from_user(&r, arg, sizeof(r));\n\td->reads++;\n\tif (ret < 0)\n\t\tgoto out;\n\tret = run(&r);\nout:\n\treturn ret ? -EIO : 0;",
    ] {
        assert_eq!(rules(wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        "\tret = copy_to_user(buf, d->buf, n);\n\tif (ret)\n\t\tret = -EFAULT;\n\tif (ret < 0)\n\t\td->faults++;\n\treturn ret;",
        "\tif (cmd)\n\t\tret = copy_to_user(buf, d->buf, n);\n\telse\n\t\tret = run(d);\n\tif (ret < 0)\n\t\treturn -EIO;\n\treturn ret ? -EFAULT : 0;",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

/// A variable that holds an error number elsewhere was known by `= -E…` alone.
#[test]
fn what_is_asked_for_less_than_0_holds_errors() {
    let wrong = "\tret = lock(d);\n\tif (ret < 0)\n\t\treturn ret;\n\tret = copy_to_user(buf, d->buf, n);\n\tif (ret)\n\t\tgoto out;\n\tret = n;\nout:\n\tunlock(d);\n\treturn ret;";
    assert_eq!(rules(wrong), ["misread-result"]);
    let asked = "\tret = size(d);\n\tif (ret > 0)\n\t\tret = copy_to_user(buf, d->buf, ret);\n\tkfree(d->buf);\n\treturn ret;";
    assert_eq!(rules(asked), ["misread-result"]);
    let right = "\tret = copy_to_user(buf, d->buf, n);\n\tif (ret > 0)\n\t\tpr_debug(\"%ld left\", ret);\n\tunlock(d);\n\treturn ret;";
    assert_eq!(rules(right), NONE);
}

/// `sizeof` of the struct itself was the only number that was known for its size.
#[test]
fn a_struct_goes_out_whole_by_whatever_number() {
    let with = |number: &str, first: &str| {
        format!(
            "struct out {{ u32 len; u8 kind; u64 at; }};\n#define OUT_LEN sizeof(struct out)\nlong f(struct dev *d, char __user *buf)\n{{\n\tsize_t size = OUT_LEN;\n\tstruct out own;\n\n{first}\town.len = d->len;\n\town.kind = d->kind;\n\town.at = d->at;\n\tif (d->size < size)\n\t\treturn -EINVAL;\n\treturn copy_to_user(buf, &own, {number}) ? -EFAULT : 0;\n}}\n"
        )
    };
    for number in ["OUT_LEN", "size", "sizeof(own)", "16"] {
        let found = mistakes::found(None, &with(number, ""));
        let found: Vec<String> = found.into_iter().map(|(rule, _)| rule).collect();
        assert_eq!(found, ["copied-holes"], "{number}");
        let cleared = with(number, "\tmemset(&own, 0, sizeof(own));\n");
        assert_eq!(mistakes::found(None, &cleared), [], "{number}");
    }
    assert_eq!(mistakes::found(None, &with("4", "")), []);
}

#[test]
fn a_variable_that_nobody_set_does_not_go_out() {
    for wrong in [
        "\tu32 all;\n\n\tlist_for_each_entry(d, &d->list, node)\n\t\tall += d->len;\n\treturn put_user(all, &arg->len);",
        "\tint bits;\n\n\tif (d->on)\n\t\tbits |= 4;\n\tif (d->up)\n\t\tbits = bits | 2;\n\treturn put_user(bits, &arg->id);",
        "\tu32 none;\n\n\treturn put_user(none, &arg->id);",
    ] {
        assert_eq!(rules(wrong), ["copied-holes"], "{wrong}");
    }
    for right in [
        "\tu32 all = 0;\n\n\tlist_for_each_entry(d, &d->list, node)\n\t\tall += d->len;\n\treturn put_user(all, &arg->len);",
        "\tu32 one;\n\n\tif (cmd)\n\t\tone = 3;\n\treturn cmd ? put_user(one, &arg->id) : 0;",
        "\tu32 one;\n\n\tread_it(d, &one);\n\treturn put_user(one, &arg->id);",
        "\tu32 one;\n\n\tREAD_IT(d, one);\n\treturn put_user(one, &arg->id);",
        "\tstatic u32 count;\n\n\tcount++;\n\treturn put_user(count, &arg->id);",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

/// Only what a function allocates by itself was asked for.
#[test]
fn the_user_does_not_say_how_much_of_anothers_memory_is_copied() {
    let beyond = ["beyond-variable"];
    for wrong in [
        "\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn copy_to_user(buf, d->table, r.len) ? -EFAULT : 0;",
        "\tif (get_user(v, &arg->len))\n\t\treturn -EFAULT;\n\treturn copy_from_user(d->state->page, buf, v) ? -EFAULT : 0;",
        "\tstruct event *e;\n\n\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tspin_lock(&d->lock);\n\te = next_event(d);\n\tspin_unlock(&d->lock);\n\treturn copy_to_user(buf, e, 8 + r.len) ? -EFAULT : 0;",
        "\tstruct event *e = next_event(d);\n\n\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tv = r.len;\n\treturn copy_to_user(buf, e, 8 + v) ? -EFAULT : 0;",
    ] {
        assert_eq!(rules(wrong), beyond, "{wrong}");
    }
    // A bound that comes behind bounds nothing.
    let late = "\tif (get_user(v, &arg->len))\n\t\treturn -EFAULT;\n\tif (copy_from_user(d->state->page, buf, v))\n\t\treturn -EFAULT;\n\tif (v > 4096)\n\t\tv = 4096;\n\treturn v;";
    assert_eq!(rules(late), beyond);
    for right in [
        "\tif (get_user(v, &arg->len))\n\t\treturn -EFAULT;\n\treturn copy_to_user(buf, d->table, v > 64 ? 64 : v) ? -EFAULT : 0;",
        "\tif (get_user(v, &arg->len))\n\t\treturn -EFAULT;\n\tif (v > d->size)\n\t\treturn -EINVAL;\n\treturn copy_to_user(buf, d->table, v) ? -EFAULT : 0;",
        "\tif (get_user(v, &arg->len))\n\t\treturn -EFAULT;\n\td->table = make(v);\n\treturn copy_from_user(d->table, buf, v) ? -EFAULT : 0;",
        "\tvoid *own;\n\tsize_t size;\n\n\tif (get_user(v, &arg->len))\n\t\treturn -EFAULT;\n\tsize = v;\n\town = room_for(d, size);\n\treturn copy_from_user(own, buf, v) ? -EFAULT : 0;",
        "\tif (get_user(v, &arg->len) || !fits(d, v))\n\t\treturn -EFAULT;\n\treturn copy_to_user(buf, d->table, v) ? -EFAULT : 0;",
        "\tvoid *own;\n\n\tif (get_user(v, &arg->len))\n\t\treturn -EFAULT;\n\town = room_for(d, v);\n\treturn copy_from_user(own, buf, v) ? -EFAULT : 0;",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

/// A check in another branch, or of another variable of that name, was taken for one.
#[test]
fn a_check_that_no_way_passes_is_none() {
    let with = |first: &str, second: &str| {
        format!(
            "int f(struct dev *d, bool compat, void __user *buf, int at)\n{{\n\tu32 v;\n\tint ret;\n\n\tif (compat) {{\n\t\tu32 __user *own = buf;\n\n\t\tret = {first}(v, own + at);\n\t}} else {{\n\t\tu32 __user *own = d->shadow;\n\n\t\tret = {second}(v, own + at);\n\t}}\n\treturn ret ? ret : run(v);\n}}\n"
        )
    };
    let one = |call: &str| {
        format!(
            "int f(struct dev *d, bool compat, u32 __user *own)\n{{\n\tu32 v = 0;\n\tint ret;\n\n\tif (compat)\n\t\tret = get_user(v, own);\n\telse\n\t\tret = {call}(v, own);\n\treturn ret ? ret : run(v);\n}}\n"
        )
    };
    let said = |before: &str, after: &str| {
        let found = mistakes::found(Some(before), after).into_iter();
        found.map(|(rule, _)| rule).collect::<Vec<_>>()
    };
    let before = with("get_user", "get_user");
    assert_eq!(
        said(&before, &with("get_user", "__get_user")),
        ["dropped-check"]
    );
    assert_eq!(
        said(&one("get_user"), &one("__get_user")),
        ["dropped-check"]
    );
    let checked = "int f(u32 __user *own)\n{\n\tu32 v, w;\n\n\tif (get_user(v, own))\n\t\treturn -EFAULT;\n\treturn CALL(w, own) ? -EFAULT : v + w;\n}\n";
    let (before, after) = (
        checked.replace("CALL", "get_user"),
        checked.replace("CALL", "__get_user"),
    );
    assert_eq!(said(&before, &after), NONE);
}
