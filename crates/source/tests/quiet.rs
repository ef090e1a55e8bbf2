//! What looks like a mistake and is none, in the forms in which trees have it.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use tollgate_source::check::{CheckWords, Checker, Checks, Confidence, Inlines, Undefined};
use tollgate_source::{Headers, TreePath, Vocabulary, no_tree};

/// The rules that find something with some certainty.
fn found(text: &str) -> Vec<String> {
    found_without(&[], text)
}

/// The same where a tree defines some of the calls nowhere.
fn found_without(undefined: &[&str], text: &str) -> Vec<String> {
    let vocabulary = Vocabulary::builtin().unwrap();
    let nowhere = |name: &&str| ((*name).to_owned(), Undefined::Nowhere);
    let words = CheckWords::builtin()
        .unwrap()
        .with_undefined(&undefined.iter().map(nowhere).collect());
    let headers = Headers::new(&no_tree).unwrap();
    let checked = Checker::new(&vocabulary, &words, &headers)
        .unwrap()
        .check(&TreePath::top(), text.as_bytes());
    assert_eq!(checked.skipped, [], "{text}");
    let all = checked.violations.into_iter();
    all.filter(|one| one.confidence > Confidence::Low)
        .map(|one| format!("{}:{}", one.rule, one.mark.position.line))
        .collect()
}

#[test]
fn a_pointer_of_the_kernel_s_with_the_name_of_a_user_s() {
    let shadow = "int f(struct msg *m, int v)\n{\n\tif (m->is_user) {\n\t\tstruct head __user *h = m->user;\n\n\t\treturn put_user(v, &h->a);\n\t} else {\n\t\tstruct head *h = m->kernel;\n\n\t\th->a = v;\n\t}\n\treturn 0;\n}\n";
    let array = "int f(const void __user *pages[], u32 __user *p, int i)\n{\n\tu32 a;\n\n\tif (get_user(a, p + i))\n\t\treturn -EFAULT;\n\tpages[i] = compat_ptr(a);\n\treturn 0;\n}\n";
    let mapped = "int f(u32 __user *p, int v)\n{\n\tu32 a;\n\n\tif (get_user(a, p))\n\t\treturn -EFAULT;\n\tp = page_address(page);\n\t*p = v;\n\treturn a;\n}\n";
    let cast = "int f(u32 __user *p, int v)\n{\n\tif (put_user(v, p))\n\t\t*((u32 *)p) = v;\n\treturn 0;\n}\n";
    for text in [shadow, array, mapped, cast] {
        assert_eq!(found(text), [] as [&str; 0], "{text}");
    }
    let wrong = shadow.replace("struct head *h", "struct head __user *h");
    assert_eq!(found(&wrong), ["user-pointer-dereferenced:10"]);
}

#[test]
fn an_object_that_is_used_in_other_ways_than_by_an_access() {
    let text = "int f(void __user *p, u16 __user *pc, u32 v)\n{\n\tu16 code;\n\n\tif (__get_user(code, pc))\n\t\treturn -EFAULT;\n\tif (!access_ok(p, 4))\n\t\treturn -EFAULT;\n\tSTORE_WORD(p, v);\n\treturn code;\n}\n";
    assert_eq!(found(text), [] as [&str; 0]);
    let idle = text.replace("\tSTORE_WORD(p, v);\n", "");
    assert_eq!(found(&idle), ["other-object-checked:5"]);
}

#[test]
fn a_state_that_is_entered_on_one_way_and_left_on_another() {
    let text = "void f(struct mm *mm, u32 __user *p, u32 v)\n{\n\tif (mm != current->mm) {\n\t\tif (__put_user(v, p))\n\t\t\treturn;\n\t\tuaccess_ttbr0_enable();\n\t} else {\n\t\tuaccess_ttbr0_disable();\n\t}\n}\n";
    assert_eq!(found(text), [] as [&str; 0]);
}

#[test]
fn a_result_that_its_own_declaration_calls_unused() {
    let text = "void f(char *k, char __user *p)\n{\n\tint __maybe_unused unused;\n\n\tunused = copy_from_user(k, p, 9);\n\tunused = copy_to_user(p, k, 9);\n}\n";
    assert_eq!(found(text), [] as [&str; 0]);
    let plain = text.replace("int __maybe_unused unused", "int unused");
    assert_eq!(found(&plain), ["ignored-fault:5", "ignored-fault:6"]);
}

#[test]
fn a_range_that_takes_in_what_lies_beside_the_masked_object() {
    let text = "int f(struct head __user *now, int before, int size, u32 v)\n{\n\tstruct head __user *prev = (void __user *)now - before;\n\n\tscoped_user_write_access_size(prev, size + before, fault) {\n\t\tunsafe_put_user(v, &prev->a, fault);\n\t\tunsafe_put_user(v, &now->b, fault);\n\t}\n\treturn 0;\nfault:\n\treturn -EFAULT;\n}\n";
    assert_eq!(found(text), [] as [&str; 0]);
}

#[test]
fn as_many_members_as_bytes() {
    let puts: String = (0..9)
        .map(|at| format!("\t\tunsafe_put_user(0, &p->m{at}, fault);\n"))
        .collect();
    let text = format!(
        "int f(struct head __user *p)\n{{\n\tif (!user_write_access_begin(p, 9))\n\t\treturn -EFAULT;\n{puts}\tuser_write_access_end();\n\treturn 0;\nfault:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}}\n"
    );
    assert_eq!(found(&text), [] as [&str; 0]);
    let one = text
        .replace("(p, 9)", "(p, 1)")
        .replace(&puts, "\t\tunsafe_put_user(0, &p->m0, fault);\n");
    assert_eq!(found(&one), [] as [&str; 0]);
    let fewer = text.replace("(p, 9)", "(p, 8)");
    assert_eq!(found(&fewer), ["outside-checked-range:3"]);
}

/// Of a begin that no list has, its name says that it opens a window, and what is
/// done with its result whether it may fail.
#[test]
fn a_begin_that_is_known_by_its_name_alone() {
    let text = "int f(struct head __user *p)\n{\n\tif (!board_user_access_begin(p))\n\t\treturn -EFAULT;\n\tunsafe_put_user(0, &p->a, fault);\n\tboard_user_access_end();\n\treturn 0;\nfault:\n\tboard_user_access_end();\n\treturn -EFAULT;\n}\n";
    let found = |text: &str| {
        let names = ["board_user_access_begin", "board_user_access_end"];
        let mut all = found_without(&names, text);
        all.retain(|one| !one.starts_with("undefined-call"));
        all
    };
    assert_eq!(found(text), [] as [&str; 0]);
    let always = text.replace(
        "if (!board_user_access_begin(p))\n\t\treturn -EFAULT;",
        "board_user_access_begin(p);\n\tif (p->n)\n\t\treturn 0;",
    );
    assert_eq!(found(&always), ["window-left-open:5"]);
}

/// Calls in a window that are wrong only if something is left of them, and what a
/// header says of those.
#[test]
fn a_raw_opening_under_a_name_that_says_a_kind() {
    let text = "#define my_write_access_begin(p, n) __uaccess_begin()\nint f(u32 __user *p, u32 v)\n{\n\tif (!access_ok(p, 4))\n\t\treturn -EFAULT;\n\tmy_write_access_begin(p, 4);\n\tunsafe_put_user(v, p, fault);\n\tuser_write_access_end();\n\treturn 0;\nfault:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}\n";
    assert_eq!(found(text), [] as [&str; 0]);
    let other = text.replace("user_write_access_end", "user_read_access_end");
    let wrong = ["mismatched-end:6"; 2];
    assert_eq!(found(&other), wrong);
    let unnamed = text.replace("my_write_access_begin", "my_open");
    assert_eq!(found(&unnamed), wrong);
}

#[test]
fn an_inline_function_of_a_header_leaves_no_call() {
    let text = "int f(u32 __user *p, struct task *t)\n{\n\tif (!user_write_access_begin(p, 8))\n\t\treturn -EFAULT;\n\tunsafe_put_user(now(t), p, fault);\n\tunsafe_put_user(then(t), p + 1, fault);\n\tuser_write_access_end();\n\treturn 0;\nfault:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}\n";
    let vocabulary = Vocabulary::builtin().unwrap();
    let words = CheckWords::builtin().unwrap();
    let headers = Headers::new(&no_tree).unwrap();
    let left = |header: &str| {
        let mut checks = Checks::default();
        let mut checker = Checker::new(&vocabulary, &words, &headers).unwrap();
        checks.add(
            &"a.c".into(),
            checker.check(&TreePath::within("a.c"), text.as_bytes()),
        );
        checks.finish();
        let names = checks.perhaps_inline();
        assert_eq!(names, ["now", "then"].map(str::to_owned).into());
        let inlines = Inlines::of(header.as_bytes(), &names, &vocabulary);
        checks.spare(&inlines.without_calls(&words));
        let lines = checks.violations.iter();
        lines
            .map(|own| own.violation.mark.position.line)
            .collect::<Vec<_>>()
    };
    let inline = "static inline u32 now(struct task *t)\n{\n\treturn t->now;\n}\n";
    assert_eq!(left(""), [5, 6]);
    assert_eq!(left(inline), [6]);
    assert_eq!(left(&inline.replace("inline ", "")), [5, 6]);
    assert_eq!(left(&inline.replace("t->now", "get(t)")), [5, 6]);
    assert_eq!(
        left(&format!("{inline}#define then(t) ((t)->then)\n")),
        [] as [u32; 0]
    );
}

/// Lines alone do not tear a check from its access, a lock between them does.
#[test]
fn a_check_that_stands_far_from_its_access() {
    let far = "\tv++;\n".repeat(30);
    let text = |between: &str| {
        format!(
            "int f(u32 __user *p, u32 v)\n{{\n\tif (!access_ok(p, 4))\n\t\treturn -EFAULT;\n{between}\treturn __put_user(v, p);\n}}\n"
        )
    };
    assert_eq!(found(&text(&far)), [] as [&str; 0]);
    let locked = format!("{far}\tmutex_lock(&lock);\n");
    assert_eq!(found(&text(&locked)), ["distant-access-ok:3"]);
}

/// What no way leads to from a check does not rely on it, however close it stands.
#[test]
fn a_check_is_of_the_accesses_that_come_behind_it() {
    let text = |check: &str| {
        format!(
            "int f(u32 __user *p, u32 v, int how)\n{{\n\tswitch (how) {{\n\tcase 1:\n\t\tif (!access_ok(p, 4))\n\t\t\treturn -EFAULT;\n\t\treturn store(p, v);\n\tcase 2:\n{check}\t\tmutex_lock(&lock);\n\t\treturn __put_user(v, p);\n\t}}\n\treturn 0;\n}}\n"
        )
    };
    assert_eq!(found(&text("")), [] as [&str; 0]);
    let own = text("\t\tif (!access_ok(p, 4))\n\t\t\treturn -EFAULT;\n");
    assert_eq!(found(&own), ["distant-access-ok:9"]);
}

/// A function without a call that accesses is looked at where it goes through a user
/// pointer by hand, and only there.
#[test]
fn a_pointer_gone_through_by_hand_is_seen_without_an_access() {
    let of = |parameter: &str, body: &str| {
        found(&format!(
            "int f({parameter}, u32 v)\n{{\n\t{body}\n\treturn 0;\n}}\n"
        ))
    };
    for body in ["*p = v;", "p[1] = v;", "if (v)\n\t\t(*p)++;"] {
        let line = 3 + body.matches('\n').count();
        let wanted = format!("user-pointer-dereferenced:{line}");
        assert_eq!(of("u32 __user *p", body), [wanted], "{body}");
    }
    for body in [
        "store(&p[1], v);",
        "v = sizeof(*p);",
        "v = sizeof p[0];",
        "asm volatile(\"fnsave %0\" : \"=m\" (*p));",
        "helper(p);",
    ] {
        assert_eq!(of("u32 __user *p", body), [] as [&str; 0], "{body}");
        assert_eq!(of("u32 *p", "*p = v;"), [] as [&str; 0]);
    }
}
