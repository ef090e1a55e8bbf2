//! Functions before and after, and refusals with their reasons.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

mod fixing;

use std::io;

use tollgate_rewrite::{Request, Target, UACCESS, fix};
use tollgate_source::TreePath;

use fixing::{HEADER, file, fix_in, fixed, refused, stopping};

#[test]
fn an_or_chain_gets_a_label_at_the_end() {
    insta::assert_snapshot!(fixed(
        "\tif (__put_user(k->a, &p->a) ||\n\t    __put_user(k->b, &p->b))\n\t\treturn -EFAULT;\n\n\treturn 0;\n",
        &Request::default()
    ));
}

#[test]
fn two_runs_use_the_error_variable() {
    insta::assert_snapshot!(fixed(
        "\tint err, a, b;\n\n\tif (get_user(a, &p->a) || get_user(b, &p->b))\n\t\treturn -EFAULT;\n\terr = work(a, b);\n\
         \tif (err)\n\t\treturn err;\n\tif (put_user(a, &p->c) || put_user(b, &p->d))\n\t\treturn -EFAULT;\n\n\treturn 0;\n",
        &Request::default()
    ));
}

/// However it is laid out, and whatever stands beside it.
#[test]
fn what_the_error_variable_holds_by_then_is_not_set_again() {
    let of = |set: &str| {
        let asked = |access: &str| format!("\tif ({access}) {{\n\t\t{set}\n\t\tgoto out;\n\t}}\n");
        let reads = asked("get_user(a, &p->a)") + &asked("get_user(b, &p->b)");
        let writes = asked("put_user(a, &p->c)") + &asked("put_user(b, &p->d)");
        let body = format!(
            "\tint err, a, b;\n\n{reads}\terr = work(a, b);\n\tif (err)\n\t\tgoto out;\n{writes}\terr = 0;\nout:\n\treturn err;\n"
        );
        let text = fixed(&body, &Request::default());
        let (_, behind) = text.split_once("user_read_access_end();\n").unwrap();
        behind.split_once("\terr = work").unwrap().0.to_owned()
    };
    let jump = "\tif (err)\n\t\tgoto out;\n\n";
    for set in ["err = -EFAULT;", "err =\n\t\t\t-EFAULT;", "err=-EFAULT;"] {
        assert_eq!(of(set), jump);
    }
    let counted = "\tif (err) {\n\t\tk->n = 1;\n\t\tgoto out;\n\t}\n\n";
    for set in [
        "k->n = 1;\n\t\terr = -EFAULT;",
        "err = -EFAULT;\n\t\tk->n = 1;",
        "err = -EFAULT; k->n = 1;",
    ] {
        assert_eq!(of(set), counted);
    }
    // What holds the fault elsewhere stays.
    assert!(of("k->n = -EFAULT;\n\t\terr = -EFAULT;").contains("k->n = -EFAULT;"));
}

/// The lines of the block were counted: one line was one statement, which got no
/// braces, and all but the jump was lost.
#[test]
fn a_way_out_in_one_line_keeps_all_its_statements() {
    let read = |to: &str, from: &str, way: &str| {
        format!("\tif (get_user({to}, &p->{from})) {{ {way} }}\n")
    };
    let both = |way: &str| {
        let reads = read("a", "a", way) + &read("b", "b", way);
        format!("\tint a, b, err = 0;\n\n{reads}\terr = a + b;\nout:\n\treturn err;\n")
    };
    let freed = fixed(&both("free(k); return -EFAULT;"), &Request::default());
    let freeing = " {\n\t\tfree(k);\n\t\treturn -EFAULT;\n\t}\n";
    assert!(freed.contains(freeing), "{freed}");
    let left = fixed(&both("err = -EINVAL; goto out;"), &Request::default());
    let set = left.matches("\terr = -EINVAL;\n").count();
    assert_eq!(
        (set, left.matches("\tgoto out;\n").count()),
        (2, 2),
        "{left}"
    );
}

/// Two ways out are what they do, not how they are laid out.
#[test]
fn a_way_out_is_the_same_in_another_layout() {
    let body = "\tint a, b;\n\n\tif (get_user(a, &p->a)) {\n\t\tfree(k);\n\t\treturn -EFAULT;\n\t}\n\
                \tif (get_user(b, &p->b)) {\n\t\tfree( k );\n\t\treturn  -EFAULT;\n\t}\n\treturn a + b;\n";
    let patched = fixed(body, &Request::default());
    assert_eq!(patched.matches("unsafe_get_user").count(), 2, "{patched}");
}

#[test]
fn sequential_ifs_with_a_block_keep_their_comments() {
    insta::assert_snapshot!(fixed(
        "\tint a, b;\n\n\tif (get_user(a, &p->a)) {\n\t\tfree(k);\n\t\treturn -EFAULT;\n\t}\n\t/* the second */\n\
         \tif (get_user(b, &p->b)) {\n\t\tfree(k);\n\t\treturn -EFAULT;\n\t}\n\treturn a + b;\n",
        &Request::default()
    ));
}

#[test]
fn a_result_in_a_variable_is_zero_behind_the_window() {
    insta::assert_snapshot!(fixed(
        "\tint err, a, b;\n\n\terr = get_user(a, &p->a);\n\tif (err)\n\t\tgoto out;\n\terr = get_user(b, &p->b);\n\
         \tif (err)\n\t\tgoto out;\n\twork(a, b);\nout:\n\treturn err;\n",
        &Request::default()
    ));
}

#[test]
fn reads_into_locals_may_stop_early() {
    insta::assert_snapshot!(fixed(
        "\tstruct range r;\n\tint err;\n\n\terr = get_user(r.start, &p->start);\n\terr |= get_user(r.len, &p->len);\n\
         \tif (err)\n\t\treturn -EFAULT;\n\n\treturn work(&r);\n",
        &Request::default()
    ));
}

#[test]
fn access_ok_is_absorbed_if_it_is_the_same_check() {
    insta::assert_snapshot!(fixed(
        "\tif (!access_ok(p, sizeof(*p)) ||\n\t    __put_user(1, &p->a) ||\n\t    __put_user(2, &p->b))\n\t\treturn -EFAULT;\n\
         \treturn 0;\n",
        &Request::default()
    ));
    // Another check stays where it is, before the window's own.
    insta::assert_snapshot!(fixed(
        "\tif (!access_ok(p, 8) || __put_user(1, &p->a) || __put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        &Request::default()
    ));
}

#[test]
fn elements_of_an_array_are_one_range() {
    let file = "#include <linux/uaccess.h>\n\nint f(int __user *v)\n{\n\tif (put_user(1, v) || put_user(2, v + 1) || put_user(3, &v[2]))\n\
        \t\treturn -EFAULT;\n\treturn 0;\n}\n";
    let patched = fix_in(file, "f", &Request::default()).unwrap();
    let text = String::from_utf8(patched.rewritten).unwrap();
    assert!(
        text.contains("if (!user_write_access_begin(v, 3 * sizeof(*v)))"),
        "{text}"
    );
}

#[test]
fn a_variable_that_a_jump_back_reads_is_not_free() {
    let body = "\tint err, a, b;\n\n\terr = work(k);\nagain:\n\tif (err > 1)\n\t\treturn err;\n\tif (get_user(a, &p->a) || get_user(b, &p->b))\n\t\treturn -EFAULT;\n\
         \tif (put_user(a, &k->c) || put_user(b, &k->d))\n\t\treturn -EFAULT;\n\tif (work(p))\n\t\tgoto again;\n\treturn 0;\n";
    let text = fixed(body, &Request::default());
    assert!(!text.contains("err = -EFAULT"), "{text}");
    let straight = fixed(
        &body
            .replace("again:\n", "")
            .replace("\tif (work(p))\n\t\tgoto again;\n", "\twork(p);\n"),
        &Request::default(),
    );
    assert!(straight.contains("err = -EFAULT"), "{straight}");
}

#[test]
fn fields_of_one_element_are_one_range() {
    let text = fixed(
        "\twhile (c--)\n\t\tif (put_user(1, &p[c].a) || put_user(2, &p[c].b))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
        &Request::default(),
    );
    assert!(
        text.contains("if (!user_write_access_begin(&p[c], sizeof(p[c])))"),
        "{text}"
    );
}

#[test]
fn a_label_in_the_same_cleanup_scope_is_allowed() {
    let chain = "\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n";
    let before = format!("\tstruct s *data __free(kfree) = NULL;\n\n{chain}\treturn 0;\n");
    assert!(fixed(&before, &Request::default()).contains("efault:\n"));
    let after = format!("{chain}\tguard(mutex)(&lock);\n\treturn work();\n");
    let local = "\tint err;\n\n\tif (!user_write_access_begin(";
    let own = fixed(&after, &Request::default());
    assert!(
        own.starts_with(local) && own.contains("\tif (err)\n"),
        "{own}"
    );
    let inside = format!(
        "\tscoped_guard(mutex, &lock) {{\n\t{}\t}}\n\treturn 0;\n",
        chain.replace("\n", "\n\t").trim_end_matches('\t')
    );
    let own = fixed(&inside, &Request::default());
    assert!(
        own.contains("\t\tif (err)\n\t\t\treturn err;\n\t}\n"),
        "{own}"
    );
    // The names are taken, so that no variable can be declared.
    let taken = after.replace("work()", "work(err, ret, error, rc, retval, result, res)");
    assert!(refused(&taken).contains("scope with a cleanup"));
}

#[test]
fn windows_that_leave_alike_share_a_label() {
    let chain = "\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n";
    insta::assert_snapshot!(fixed(
        &format!("{chain}\twork(k);\n{chain}\treturn 0;\n"),
        &Request::default()
    ));
}

#[test]
fn a_label_that_a_configuration_would_not_use_is_none() {
    let chain = "\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n";
    let optional = format!("#ifdef CONFIG_COMPAT\n{chain}#endif\n");
    // At the end under the same condition, if that can be said again.
    insta::assert_snapshot!(fixed(
        &format!("{optional}\treturn 0;\n"),
        &Request::default()
    ));
    let other = optional.replace("COMPAT\n", "COMPAT\n\twork(k);\n#else\n");
    let reason = refused(&format!("{other}\treturn 0;\n"));
    assert!(
        reason.contains("a label at the end of the function would be unused"),
        "{reason}"
    );
    // In place where a variable is free; at the end where another window needs it.
    let local = fixed(
        &format!("\tint err;\n\n{optional}\terr = work(k);\n\treturn err;\n"),
        &Request::default(),
    );
    assert!(
        local.contains("efault:\n\tuser_write_access_end();\n\tif (err)"),
        "{local}"
    );
    let shared = fixed(
        &format!("{optional}\twork(k);\n{chain}\treturn 0;\n"),
        &Request::default(),
    );
    assert_eq!(shared.matches("efault:").count(), 1, "{shared}");
    assert_eq!(
        shared.matches("user_write_access_begin").count(),
        2,
        "{shared}"
    );
}

#[test]
fn a_variable_that_another_configuration_reads_is_not_free() {
    let body = "\tint err;\n\n\terr = work(k);\n\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\tguard(mutex)(&lock);\n\
         #ifdef X\n\terr = work(p);\n#else\n\twork(err);\n#endif\n\treturn 0;\n";
    let own = fixed(body, &Request::default());
    assert!(
        own.contains("int err;\n\tint ret;\n") && !own.contains("err = -EFAULT"),
        "{own}"
    );
    assert!(
        fixed(&body.replace("work(err)", "work(k)"), &Request::default()).contains("err = -EFAULT")
    );
}

#[test]
fn a_function_that_returned_the_result_still_does() {
    let body = "\tint err;\n\n\terr = __put_user(1, &p->a);\n\terr |= __put_user(2, &p->b);\n\treturn err;\n";
    let text = fixed(body, &stopping());
    assert!(
        text.ends_with("\tuser_write_access_end();\n\n\treturn err;\n}\n"),
        "{text}"
    );
    let free = body.replace(
        "\tint err;\n\n\t",
        "\tint err = work(k);\n\n\twork(err);\n\t",
    );
    let text = fixed(&free, &stopping());
    assert_eq!(text.matches("return").count(), 3, "{text}");
}

#[test]
fn the_range_is_that_of_the_member_that_holds_all() {
    let text = fixed(
        "\tif (put_user(1, &p->a.x) || put_user(2, &p->a.y.z))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        &Request::default(),
    );
    assert!(
        text.contains("if (!user_write_access_begin(&p->a, sizeof(p->a)))"),
        "{text}"
    );
    // One field of the object itself, and it is the object's again.
    let text = fixed(
        "\tif (put_user(1, &p->a.x) || put_user(2, &p->a))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        &Request::default(),
    );
    assert!(text.contains("begin(p, sizeof(*p))"), "{text}");
}

#[test]
fn an_object_that_may_be_shorter_is_not_checked_whole() {
    let chain = |a: &str, b: &str| {
        format!("\tif (put_user(1, &{a}) || put_user(2, &{b}))\n\t\treturn -EFAULT;\n")
    };
    let shorter = "user memory may hold less than all of *p";
    // A union is as large as its largest member.
    let union = file(&(chain("p->a.x", "p->b.y") + "\treturn 0;\n"))
        .replace("struct s __user", "union s __user");
    let error = fix_in(&union, "f", &Request::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains(shorter), "{error}");
    // So it is by the name that a typedef gives it.
    let named = format!(
        "typedef union {{ struct {{ int x; }} a; struct {{ long y; }} b; }} either;\n{}",
        union.replace("union s __user", "either __user")
    );
    let error = fix_in(&named, "f", &Request::default()).unwrap_err();
    assert!(error.to_string().contains(shorter), "{error}");
    let member = union.replace("p->b.y", "p->a.y");
    assert!(fix_in(&member, "f", &Request::default()).is_ok());
    // The size is asked for between the accesses, or may be less.
    let asked = "\tif (c < sizeof(struct s))\n\t\treturn -EINVAL;\n";
    let part = chain("p->a", "p->b");
    assert!(refused(&format!("{part}{asked}\treturn 0;\n")).contains(shorter));
    assert!(
        refused(&format!(
            "\tif (c > sizeof(*p))\n\t\treturn 1;\n{part}\treturn 0;\n"
        ))
        .contains(shorter)
    );
    let before = fixed(&format!("{asked}{part}\treturn 0;\n"), &Request::default());
    assert!(before.contains("begin(p, sizeof(*p))"), "{before}");
}

#[test]
fn a_brace_behind_code_gets_a_line_of_its_own() {
    let file = "#include <linux/uaccess.h>\n\nint f(struct s __user *p) {\n\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\
        \t\treturn -EFAULT;\n\treturn 0; }\n";
    let patched = fix_in(file, "f", &Request::default()).unwrap();
    let text = String::from_utf8(patched.rewritten).unwrap();
    let end = "\treturn 0;\n\nefault:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}\n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn a_taken_label_is_not_taken_again() {
    let text = fixed(
        "\tif (c)\n\t\tgoto efault;\n\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\nefault:\n\treturn c;\n",
        &Request::default(),
    );
    assert!(
        text.contains("efault_end:\n\tuser_write_access_end();"),
        "{text}"
    );
}

#[test]
fn a_function_without_a_value_returns_before_its_label() {
    let file = "#include <linux/uaccess.h>\n\nvoid f(struct s __user *p)\n{\n\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\
        \t\treturn;\n\tdone();\n}\n";
    let patched = fix_in(file, "f", &Request::default()).unwrap();
    let text = String::from_utf8(patched.rewritten).unwrap();
    assert!(
        text.ends_with(
            "\tdone();\n\treturn;\n\nefault:\n\tuser_write_access_end();\n\treturn;\n}\n"
        ),
        "{text}"
    );
}

#[test]
fn a_way_out_falls_into_the_label_it_goes_to() {
    let body = "\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\tgoto out;\n\treturn 0;\n\nout:\n\tfree(k);\n\treturn -EFAULT;\n";
    insta::assert_snapshot!(fixed(body, &Request::default()));
    // Not where something else comes to the line before the label.
    for other in [
        body.replace("\treturn 0;\n", "\twork(k);\n"),
        body.replace("\treturn 0;\n", "\tif (c)\n\t\treturn 0;\n"),
        body.replace("\treturn 0;\n", "#ifdef X\n\treturn 0;\n#endif\n"),
    ] {
        let text = fixed(&other, &Request::default());
        assert!(
            text.contains("efault:\n\tuser_write_access_end();\n\tgoto out;\n"),
            "{text}"
        );
    }
}

#[test]
fn a_chain_keeps_what_is_not_the_runs() {
    insta::assert_snapshot!(fixed(
        "\tif (copy_to_user(p->x, k,\n\t\t\t sizeof(*k)) ||\n\t    put_user(1, &p->a) ||\n\t    put_user(2, &p->b) ||\n\
         \t    copy_to_user(p->y, k, /* all */\n\t\t\t sizeof(*k)))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        &Request::default()
    ));
}

#[test]
fn a_run_is_cut_where_one_window_cannot_serve() {
    insta::assert_snapshot!(fixed(
        "\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn false;\n\tif (c < 0)\n\t\treturn true;\n\
         \tif (put_user(3, &p->c) || put_user(4, &p->d))\n\t\treturn false;\n\treturn true;\n",
        &Request::default()
    ));
    insta::assert_snapshot!(fixed(
        "\tint n;\n\n\tif (get_user(n, &p->n))\n\t\treturn -EFAULT;\n\tk = &all[n];\n\tif (put_user(k->a, &p->a) || put_user(k->b, &p->b))\n\
         \t\treturn -EINVAL;\n\treturn 0;\n",
        &Request::default()
    ));
}

/// One line for each thing that no window may do.
#[test]
fn what_would_change_the_meaning_is_refused() {
    let cases = [
        "\tif (put_user(call(), &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        "\tif (put_user(c++, &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        "\tif (put_user(1, &p->a) || put_user(2, &k->b))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        "\tif (put_user(1, &p->a) || (c && put_user(2, &p->b)))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        "\tif (put_user(1, &p->a[c]) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        "\tif (get_user(c, &p->a) || put_user(2, &p->v[c]))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        "\tif (put_user(1, &p->a))\n\t\treturn -EFAULT;\n\tif (put_user(2, &p->b))\n\t\treturn -EINVAL;\n\treturn 0;\n",
        "\tif (put_user(1, &p->a) || c < 0 || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        "\tput_user(1, &p->a);\n\tput_user(2, &p->b);\n\treturn 0;\n",
        "\tif (put_user(1, &p->a) | put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        "\tint r = 0;\n\n\tr = 5;\n\twhile (c--) {\n\t\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\t\tbreak;\n\t}\n\treturn r;\n",
        "\tif (put_user(1, &p->a))\n\t\treturn -EFAULT;\n#ifdef X\n\tif (put_user(2, &p->b))\n\t\treturn -EFAULT;\n#endif\n\treturn 0;\n",
        "\twhile (c--) {\n\t\tint e = c;\n\n\t\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\t\treturn e;\n\t}\n\treturn 0;\n",
        "\tif (put_user(1, &p->a))\n\t\treturn -EFAULT;\n\tp = k->next;\n\tif (put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        "\tif (put_user(k->v[c], &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        "\tint v[2];\n\n\tif (put_user(v[c], &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        "\tif if (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n",
    ];
    insta::assert_snapshot!(cases.map(refused).join("\n"));
}

#[test]
fn what_is_not_there_is_a_sentence() {
    let text = file("\tif (put_user(1, &p->a))\n\t\treturn -EFAULT;\n\treturn 0;\n");
    let of = |file: &str, function: &str| {
        fix_in(file, function, &Request::default())
            .unwrap_err()
            .to_string()
    };
    insta::assert_snapshot!(of(&text, "f"), @"f.c:3: f has nothing to fix: no two of its user accesses are adjacent");
    insta::assert_snapshot!(of(&text.replace("int f(", "int f_put_uevent("), "f_put_event"), @"f.c has no function f_put_event with user accesses; did you mean f_put_uevent?");
    let missing = fix(
        &|_: &TreePath| Err(io::Error::from(io::ErrorKind::NotFound)),
        &"a.c:f".parse().unwrap(),
        &Request::default(),
    );
    insta::assert_snapshot!(missing.unwrap_err().to_string(), @"a.c could not be read: entity not found");
    let old = |path: &TreePath| {
        if *path == UACCESS {
            Ok(Vec::new())
        } else {
            Ok(text.clone().into_bytes())
        }
    };
    let error = fix(&old, &"f.c:f".parse().unwrap(), &Request::default())
        .unwrap_err()
        .to_string();
    insta::assert_snapshot!(error, @"the style window is not offered by this tree: its include/linux/uaccess.h has no user_access_begin(ptr, len)");
    insta::assert_snapshot!("f.c".parse::<Target>().unwrap_err().to_string(), @r#""f.c" names no function: write FILE:FUNCTION, such as include/linux/eventpoll.h:epoll_put_uevent"#);
}

#[test]
fn the_message_says_what_and_why() {
    let request = Request {
        prefix: Some("epoll".to_owned()),
        figures: vec!["epoll_wait, 64 events: 130 to 115 instructions an event".to_owned()],
        ..Request::default()
    };
    let text = file(
        "\tif (__put_user(1, &p->a) || __put_user(2, &p->b))\n\t\treturn NULL;\n\treturn p + 1;\n",
    );
    let patched = fix_in(&text, "f", &request).unwrap();
    insta::assert_snapshot!(format!("{}\n\n{}", patched.subject, patched.body));
    assert_eq!((patched.windows_before, patched.windows_after), (2, 1));
}

#[test]
fn a_chain_that_chooses_what_is_returned() {
    let body = "\treturn (!access_ok(p, sizeof(*p)) ||\n\t\t__get_user(k->a, &p->a) ||\n\t\t__get_user(k->b, &p->b)) ? -EFAULT : 0;\n";
    insta::assert_snapshot!(fixed(body, &Request::default()));
    for other in [
        body.replace("-EFAULT : 0", "0 : -EFAULT"),
        body.replace("-EFAULT", "-EINVAL"),
        body.replace("p->a) ||", "p->a) |"),
        body.replace("sizeof(*p)) ||", "sizeof(*p)) || c ||"),
    ] {
        assert!(refused(&other).contains("not rewritten"), "{other}");
    }
}

#[test]
fn a_fault_that_only_a_return_follows_may_return() {
    let body = "\tint err = work(k);\n\n\tif (!err) {\n\t\tif (put_user(1, &p->a) ||\n\t\t    put_user(2, &p->b))\n\t\t\terr = -EFAULT;\n\t}\n\n\treturn err;\n";
    insta::assert_snapshot!(fixed(body, &Request::default()));
    // A label is no statement: still nothing else happens.
    let labelled = body.replace("\t}\n\n", "\t}\nout:\n");
    assert!(fixed(&labelled, &Request::default()).contains("\treturn -EFAULT;\n"));
    // Something else happens, but the variable is 0 where the run begins.
    for other in [
        body.replace("\t}\n\n", "\t}\n\twork(p);\n"),
        body.replace("return err", "return c"),
        body.replace("\t}\n\n", "\t} else\n"),
    ] {
        let block = fixed(&other, &Request::default());
        assert!(block.contains("\t\t\terr = 0;\nefault:\n"), "{block}");
    }
    let looped = body.replace("if (!err)", "while (c--)");
    assert!(refused(&looped).contains("goes on with the next statement"));
}

#[test]
fn writes_that_hang_on_each_other_are_one_block() {
    let body = "\tint err;\n\n\terr = put_user(1, &p->a);\n\tif (!err)\n\t\terr = put_user(2, &p->b);\n\tif (!err) {\n\t\terr = put_user(3, &p->c);\n\t}\n\
         \tif (!err)\n\t\twork(k);\n\treturn err;\n";
    insta::assert_snapshot!(fixed(body, &Request::default()));
    for other in [
        body.replace("put_user(2, &p->b)", "put_user(2, &k->b)"),
        body.replace("err = put_user(2", "c = put_user(2"),
        body.replace("put_user(2, &p->b);", "get_user(c, &p->b);"),
        body.replace("&p->c);\n", "&p->c);\n\t\tc = 1;\n"),
        body.replace(
            "put_user(1, &p->a)",
            "put_user(1, &p->a) | put_user(4, &p->d)",
        ),
    ] {
        let answer = fix_in(&file(&other), "f", &Request::default());
        assert!(answer.is_err(), "{other}");
    }
}

#[test]
fn a_variable_that_is_stored_keeps_its_value() {
    // No label at the end, so that a variable would be needed.
    let guard = "\tguard(mutex)(&lock);\n\terr = work(p);\n\treturn err;\n";
    let chain = "\tint err = work(k);\n\n\tif (put_user(err, &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n";
    let own = fixed(&format!("{chain}{guard}"), &Request::default());
    assert!(
        own.contains("ret = -EFAULT;\n\tunsafe_put_user(err,"),
        "{own}"
    );
    let other = chain.replace("put_user(err", "put_user(1");
    let asked = other.replace("&p->b))", "&p->b) || err > 1)");
    let own = fixed(&format!("{asked}{guard}"), &Request::default());
    assert!(
        own.contains("ret = -EFAULT;\n\tunsafe_put_user(1,"),
        "{own}"
    );
    assert!(fixed(&format!("{other}{guard}"), &Request::default()).contains("err = -EFAULT;"));
    let hanging = "\tint err = work(k);\n\n\terr = put_user(err, &p->a);\n\tif (!err)\n\t\terr = put_user(2, &p->b);\n\twork(p);\n\treturn err;\n";
    assert!(refused(hanging).contains("not rewritten"));
    let own = "\tint err = c;\n\n\terr = put_user(err, &p->a);\n\tif (err)\n\t\treturn err;\n\terr = put_user(2, &p->b);\n\tif (err)\n\t\treturn err;\n\treturn 0;\n";
    assert!(
        !fixed(own, &Request::default()).contains("err = -EFAULT"),
        "{}",
        fixed(own, &Request::default())
    );
}

#[test]
fn a_macro_of_the_header_beside_the_file_is_the_reason() {
    let text = "#include <linux/uaccess.h>\n#include \"fpu.h\"\n#include \"gone.h\"\n\nint f(struct s __user *p, int a, int b)\n{\n\tFPU_get_user(a, &p->a);\n\tFPU_get_user(b, &p->b);\n\treturn a;\n}\n";
    let header = "#define FPU_get_user(x, y) do { if (get_user((x), (y))) abort(); } while (0)\n";
    let tree = |path: &TreePath| match &*path.lossy() {
        UACCESS => Ok(HEADER.as_bytes().to_vec()),
        "emu/f.c" => Ok(text.as_bytes().to_vec()),
        "emu/fpu.h" => Ok(header.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let error = fix(&tree, &"emu/f.c:f".parse().unwrap(), &Request::default()).unwrap_err();
    insta::assert_snapshot!(error.to_string(), @"emu/f.c:7: f is not rewritten: the access is inside the macro FPU_get_user(), which opens the gate by itself");
}

#[test]
fn what_parts_accesses_is_said() {
    let round = "\twhile (c--)\n\t\tif (put_user(c, &p->a))\n\t\t\treturn -EFAULT;\n\treturn 0;\n";
    assert!(
        refused(round).contains("stands in each round of a loop whose head does not say how many"),
        "{}",
        refused(round)
    );
    let calls = "\twhile (c--) {\n\t\tif (put_user(c, &p->a))\n\t\t\treturn -EFAULT;\n\t\tif (k)\n\t\t\twork(k);\n\t}\n\treturn 0;\n";
    assert!(
        refused(calls).contains("some rounds of the loop call something"),
        "{}",
        refused(calls)
    );
    let arm = "\tint x;\n\n\tif (get_user(x, &p->a))\n\t\treturn -EFAULT;\n\tif (x == 0)\n\t\treturn put_user(1, &p->b);\n\treturn 0;\n";
    assert!(
        refused(arm).contains("only where x == 0,"),
        "{}",
        refused(arm)
    );
    let none = "\tif (put_user(c, &p->a))\n\t\treturn -EFAULT;\n\twork(k);\n\treturn put_user(1, &p->b);\n";
    assert!(
        refused(none).contains("nothing to fix"),
        "{}",
        refused(none)
    );
}

#[test]
fn the_message_claims_no_more_than_there_is() {
    let message = |body: &str| {
        fix_in(&file(body), "f", &Request::default())
            .unwrap()
            .body
            .replace('\n', " ")
    };
    let chain = "__put_user(1, &p->a) || __put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n";
    let absorbed = message(&format!("\tif (!access_ok(p, sizeof(*p)) || {chain}"));
    assert!(
        absorbed.contains("takes the place of access_ok()"),
        "{absorbed}"
    );
    assert!(!absorbed.contains("a check elsewhere"), "{absorbed}");
    let kept = message(&format!("\tif (!access_ok(p, 8) || {chain}"));
    assert!(kept.contains("a check elsewhere"), "{kept}");
    let round = message(&format!("\twhile (c--)\n\tif ({chain}"));
    assert!(
        round.contains("1 window instead of 2 when nothing faults, in each round of the loop."),
        "{round}"
    );
}

#[test]
fn a_body_without_braces_gets_them() {
    let chain = "\t\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\t\treturn -EFAULT;\n";
    insta::assert_snapshot!(fixed(
        &format!("\twhile (c--) /* all */\n{chain}\treturn 0;\n"),
        &Request::default()
    ));
    // What follows is not the accesses' own success.
    let twice =
        format!("\tint err;\n\n\tif (c)\n{chain}\twork(k);\n\tif (c)\n{chain}\treturn 0;\n");
    insta::assert_snapshot!(fixed(&twice, &Request::default()));
    for other in [
        format!("\tif (c)\n\t\twork(k);\n\telse\n{chain}\treturn 0;\n"),
        format!("\tdo\n{chain}\twhile (c--);\n\treturn 0;\n"),
    ] {
        let reason = refused(&other);
        assert!(reason.contains("without braces"), "{other}{reason}");
    }
}

#[test]
fn an_access_in_an_else_is_not_made_unconditional() {
    let second = "\tif (put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n";
    for first in [
        "\tif (c)\n\t\twork(k);\n\telse if (put_user(0, &p->a))\n\t\treturn -EFAULT;\n",
        "\tif (c)\n\t\tif (put_user(1, &p->a))\n\t\t\treturn -EFAULT;\n\telse\n\t\tif (put_user(0, &p->a))\n\t\t\treturn -EFAULT;\n",
        "\tif (c)\n\t\tif (put_user(1, &p->a))\n\t\t\treturn -EFAULT;\n",
        "\twhile (c--)\n\t\tif (put_user(1, &p->a))\n\t\t\treturn -EFAULT;\n",
    ] {
        let answer = fix_in(&file(&format!("{first}{second}")), "f", &Request::default());
        assert!(answer.is_err(), "{first}");
    }
}

#[test]
fn an_and_of_two_conditions_takes_no_address() {
    let body = "\tu32 __user *q = p->list;\n\n\tif (c && q && k)\n\t\tc = 0;\n\tif (put_user(1, q++) || put_user(2, q++))\n\t\treturn -EFAULT;\n\n\treturn 0;\n";
    let moved = fixed(body, &Request::default());
    assert!(
        moved.contains("\tunsafe_put_user(2, q + 1, efault);\n"),
        "{moved}"
    );
    assert!(refused(&body.replace("c && q && k", "g(&q)")).contains("side effect"));
    // Nothing reads the variable behind the window: it need not be 0.
    let body = "\tint a, b, err = 0;\n\n\tif (c && err)\n\t\tc = 0;\n\terr = get_user(a, &p->a);\n\tif (err)\n\t\treturn err;\n\terr = get_user(b, &p->b);\n\tif (err)\n\t\treturn err;\n\n\treturn work(a, b);\n";
    let dead = fixed(body, &Request::default());
    assert!(!dead.contains("\terr = 0;\n"), "{dead}");
}

#[test]
fn a_name_in_another_word_or_member_is_another_one() {
    let body = |read: &str| {
        format!(
            "\tint a, b;\n\n\tif (get_user(a, &p->a) || get_user(b, &p->b))\n\t\tgoto out;\n\treturn work(a, b);\n\nout:\n\t{read}\n\treturn -EFAULT;\n"
        )
    };
    let zeroed = |read| fixed(&body(read), &Request::default()).contains("= 0;\n");
    assert!(zeroed("note(a);"));
    assert!(!zeroed("note(k->a, k -> b, sizeof(a));"));
    assert!(!zeroed("a = b = 1; note(a, b);"));
    assert!(zeroed("if (c)\n\t\ta = 1;\n\tnote(a);"));
}

#[test]
fn a_variable_that_the_way_out_reads_is_not_free() {
    let body = "\tint err = 0, a;\n\n\tif (c) {\n\t\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\t\tgoto out;\n\t}\n\tif (get_user(a, &p->c) || get_user(c, &p->d))\n\t\treturn -EFAULT;\n\terr = work(k);\nout:\n\tk->a = c;\n\treturn err;\n";
    let text = fixed(body, &Request::default());
    let first = text.split_once("goto out;").unwrap().1;
    let first = first.split_once("user_write_access_end();").unwrap().0;
    assert!(!first.contains("err"), "{text}");
}

#[test]
fn a_result_is_zero_behind_a_window_that_declares_a_variable() {
    let body = "\tlong res;\n\n\tscoped_guard(mutex, k) {\n\t\tres = put_user(1, &p->a);\n\t\tif (res < 0)\n\t\t\treturn res;\n\t\tres = put_user(2, &p->b);\n\t\tif (res < 0)\n\t\t\treturn res;\n\t}\n\treturn res;\n";
    let text = fixed(body, &Request::default());
    assert!(
        text.contains("\t\tif (err)\n\t\t\treturn err;\n\t\tres = 0;\n"),
        "{text}"
    );
}

#[test]
fn a_result_that_is_1_is_not_made_the_error() {
    let joined = "\tint err;\n\n\terr = put_user(k->a, &p->a) || put_user(k->b, &p->b);\n";
    for end in [
        "\tif (err)\n\t\treturn err;\n\treturn 0;\n",
        "\treturn err;\n",
    ] {
        let told = refused(&format!("{joined}{end}"));
        assert!(told.contains("the statement does more"), "{told}");
    }
    let own = fixed(
        &format!("{joined}\tif (err)\n\t\treturn -EFAULT;\n\treturn 0;\n"),
        &Request::default(),
    );
    assert!(
        own.contains("unsafe_put_user(k->b, &p->b, efault);"),
        "{own}"
    );
}

#[test]
fn the_range_is_counted_in_what_the_address_points_to() {
    let of = |first: &str, second: &str| {
        let access = |at: &str| format!("put_user(c, {at})");
        let (first, second) = (access(first), access(second));
        let body = format!("\tif ({first} || {second})\n\t\treturn -EFAULT;\n\treturn 0;\n");
        let text = fixed(&body, &Request::default());
        let begin = text.lines().find(|line| line.contains("_begin(")).unwrap();
        begin
            .trim()
            .trim_start_matches("if (!user_write_access_begin")
            .to_owned()
    };
    assert_eq!(of("k->buf", "k->buf + 1"), "(k->buf, 2 * sizeof(*k->buf)))");
    assert_eq!(of("p + 1", "p + 1"), "(p + 1, sizeof(*(p + 1))))");
    assert_eq!(
        of("k->buf[2]", "k->buf[2]"),
        "(k->buf[2], sizeof(*k->buf[2])))"
    );
}

/// What the range is made of is written down again: each of these must be so by itself.
#[test]
fn a_range_from_offsets_is_of_plain_constants() {
    let of = |places: &[&str]| {
        let accesses = places.iter().map(|at| format!("put_user(c, {at})"));
        let joined = accesses.collect::<Vec<_>>().join(" || ");
        format!("\tif ({joined})\n\t\treturn -EFAULT;\n\treturn 0;\n")
    };
    let rising = fixed(
        &of(&["k->buf", "k->buf + 1", "k->buf + 2"]),
        &Request::default(),
    );
    assert!(rising.contains("(k->buf, 3 * sizeof(*k->buf))"), "{rising}");
    insta::assert_snapshot!(refused(&of(&["k->buf", "k->buf + c"])));
    let bytes = file(&of(&["v", "v + c"])).replace("int c)", "char __user *v, int c)");
    let answer = fix_in(&bytes, "f", &Request::default());
    insta::assert_snapshot!(answer.unwrap_err());
    insta::assert_snapshot!(refused(&of(&["next(k)", "next(k) + 1"])));
}
