// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use super::{Effect, EffectKind, Flow};
use crate::{Analyser, Vocabulary};

/// The graph of `int f(int n, struct s *k, …)` with that body, and its text.
fn flow(body: &str) -> (String, Flow) {
    let text = format!("int f(int n, struct s *k, int __user *p, int __user *q)\n{{\n{body}\n}}\n");
    let vocabulary = Vocabulary::builtin().unwrap();
    let mut analyser = Analyser::new(&vocabulary).unwrap();
    let report = analyser.analyse(text.as_bytes());
    let flow = analyser
        .flow(text.as_bytes(), &report.functions[0])
        .unwrap();
    (text, flow)
}

/// Accesses, so that there is a function to look at.
const RUN: &str = "if (get_user(a, p) || get_user(b, q)) return -EFAULT;";

/// Whether `a` is dead behind the run, with that before it and behind it.
fn dead(before: &str, behind: &str) -> bool {
    let (text, flow) = flow(&format!("int a, b, err = 0;\n{before}\n{RUN}\n{behind}"));
    let start = text.find(RUN).unwrap();
    flow.is_dead("a", crate::Span::new(start, start + RUN.len()))
}

/// What `err` holds where the run begins.
fn held(before: &str) -> Option<String> {
    let (text, flow) = flow(&format!("int a, b, err = 0;\n{before}\n{RUN}\nreturn err;"));
    flow.value("err", text.find(RUN).unwrap())
}

#[test]
fn a_variable_is_dead_until_it_is_read() {
    assert!(dead("", "return 0;"));
    assert!(!dead("", "return a;"));
    assert!(dead("", "a = 1; return a;"));
    assert!(!dead("", "if (n) a = 1; return a;"));
    assert!(dead("", "if (n) a = 1; else a = 2; return a;"));
    assert!(!dead("", "a += 1; return 0;"));
    assert!(!dead("", "if (n && a) return 1; return 0;"));
    assert!(!dead("", "n = n ? a : 0; return n;"));
    assert!(dead("", "n = sizeof(a); return n;"));
}

#[test]
fn an_and_of_two_conditions_takes_no_address() {
    assert!(dead("if (n && a) n = 0;", "return n;"));
    assert!(!dead("k->p = &a;", "return n;"));
    assert!(!dead("", "g(&a); return n;"));
    assert!(!dead("g(&a);", "return n;"));
    // Who gets it later has not got it yet.
    assert!(dead("", "if (n) return 1; a = 2; g(&a); return n;"));
    assert!(!dead(
        "again:",
        "a = 2; g(&a); if (n) goto again; return n;"
    ));
}

#[test]
fn jumps_go_where_they_go() {
    assert!(dead("again:", "if (n) goto again; return 0;"));
    assert!(!dead("again: n += a;", "if (n) goto again; return 0;"));
    assert!(!dead("", "goto out; a = 1; out: return a;"));
    assert!(dead("", "goto out; n = a; out: return 0;"));
    assert!(!dead("", "while (n--) { k->x = a; a = 1; } return 0;"));
    // The run is all that the loop does.
    assert!(!dead("while (n += a)", "return 0;"));
    assert!(dead("while (n--)", "return 0;"));
    assert!(dead(
        "",
        "switch (n) { case 1: a = 1; break; default: a = 2; } return a;"
    ));
    assert!(!dead(
        "",
        "switch (n) { case 1: a = 1; break; case 2: a = 2; } return a;"
    ));
    assert!(!dead("", "list_for_each(a, k) { n++; } return 0;"));
}

#[test]
fn both_sides_of_an_if_are_seen() {
    assert!(!dead("", "#ifdef X\na = 1;\n#endif\nreturn a;"));
    assert!(dead(
        "",
        "#ifdef X\na = 1;\n#else\na = 2;\n#endif\nreturn a;"
    ));
    assert!(!dead(
        "",
        "#ifdef X\nn = 1;\n#elif Y\nn = a;\n#endif\nreturn n;"
    ));
    // A side that is no whole statement.
    assert!(!dead(
        "",
        "n = 1\n#ifdef X\n+ 1\n#else\n+ a\n#endif\n; return n;"
    ));
    assert_eq!(held("#ifdef X\nerr = n;\n#endif"), None);
    assert_eq!(
        held("#ifdef X\nerr = n;\nif (err) return err;\n#endif").as_deref(),
        Some("0")
    );
}

#[test]
fn a_name_means_what_its_block_declares() {
    assert!(dead("", "{ int a = 1; n = a; } return n;"));
    assert!(!dead("", "{ int c = a; n = c; } return n;"));
}

#[test]
fn assembly_reads_and_writes_its_operands() {
    assert!(!dead("", "asm volatile(\"x\" : : \"r\"(a)); return 0;"));
    assert!(dead("", "asm volatile(\"x\" : \"=r\"(a)); return a;"));
    assert!(!dead("", "asm volatile(\"x\" : \"+r\"(a)); return 0;"));
    assert!(!dead(
        "",
        "asm volatile(\"x\" : \"=m\"(k->x) : \"r\"(n), \"r\"(a)); return 0;"
    ));
    assert!(!dead(
        "",
        "asm goto(\"x\" : : \"r\"(n) : : out); a = 1; out: return a;"
    ));
    assert_eq!(
        held("asm volatile(\"x\" : \"+r\"(err), [p] \"=m\"(*k));"),
        None
    );
    assert_eq!(
        held("asm volatile(\"x\" : : \"r\"(err));").as_deref(),
        Some("0")
    );
}

#[test]
fn what_a_variable_holds_is_known_where_ways_agree() {
    assert_eq!(held("").as_deref(), Some("0"));
    assert_eq!(held("err = g();"), None);
    assert_eq!(
        held("err = g(); if (err) return err;").as_deref(),
        Some("0")
    );
    assert_eq!(
        held("err = g(); if (unlikely(err != 0)) goto out; out:"),
        None
    );
    assert_eq!(held("if (n) err = 0;").as_deref(), Some("0"));
    assert_eq!(held("if (n) err = -EINVAL;"), None);
    assert_eq!(held("err = -EINVAL;").as_deref(), Some("-EINVAL"));
    assert_eq!(held("h(&err); err = 0;"), None);
    assert_eq!(held("GET(err);"), None);
    assert_eq!(held("again: if (n) { err = 1; goto again; }"), None);
}

#[test]
fn effects_say_what_is_done_to_what() {
    let (text, flow) = flow(&format!(
        "int a, b;\n{RUN}\nk->x = p[a] + (*q)++; return 0;"
    ));
    let start = text.find("k->x").unwrap();
    let line = crate::Span::new(start, text[start..].find(';').unwrap() + start);
    let done: Vec<(&str, bool, bool)> = flow
        .effects_in(line)
        .map(|e| {
            let written = matches!(e.kind, EffectKind::Write(_));
            (flow.name_of(e), written, flow.is_behind(e))
        })
        .collect();
    let wanted = [
        ("k", false, false),
        ("a", false, false),
        ("p", false, false),
        ("p", false, true),
        ("q", false, false),
        ("q", false, true),
        ("q", true, true),
        ("k", true, true),
    ];
    assert_eq!(done, wanted);
}

#[test]
fn what_is_private_nobody_else_has() {
    let private = |body: &str| {
        flow(&format!("int a, b;\n{body}\n{RUN}\nreturn 0;"))
            .1
            .is_private("a")
    };
    assert!(private("if (n && a) n = 1;"));
    assert!(!private("g(&a);"));
    assert!(!private("#ifdef X\nif (n)\n#else\nif (&a)\n#endif\nn = 1;"));
    assert!(
        flow(&format!("int a, b;\n{RUN}\nreturn 0;"))
            .1
            .is_private("p")
    );
    assert!(
        !flow(&format!("static int a; int b;\n{RUN}\nreturn 0;"))
            .1
            .is_private("a")
    );
    assert!(
        !flow(&format!("int a, b;\n{RUN}\nreturn other;"))
            .1
            .is_private("other")
    );
}

#[test]
fn members_are_apart_unless_one_holds_the_other() {
    let (text, flow) = flow(&format!(
        "int a, b;\n{RUN}\nk->a = 1;\nk->b = 2;\nk->a.x = 3;\nk->c[n] = 4;\nreturn 0;"
    ));
    let effect = |written: &str| {
        let mut all = flow.effects.iter();
        let assigned = format!("{written} =");
        let is_written = |e: &&Effect| e.span.text(text.as_bytes()).starts_with(&assigned);
        all.find(is_written).unwrap()
    };
    let apart = |one: &str, other: &str| flow.are_members_apart(effect(one), effect(other));
    assert!(apart("k->a", "k->b") && apart("k->a.x", "k->b"));
    assert!(!apart("k->a", "k->a.x") && !apart("k->a.x", "k->a"));
    assert!(!apart("k->c[n]", "k->b") && !apart("k->b", "k->c[n]"));
}

#[test]
fn what_is_freed_on_every_way_is_freed() {
    let freed = |behind: &str| {
        let (_, flow) = flow(&format!(
            "int a, b;\n{RUN}\nreturn 0;\nout:\n{behind}\nreturn 1;"
        ));
        flow.frees_behind("out", "k")
    };
    assert!(freed("kfree(k);"));
    assert!(!freed("if (n) kfree(k);"));
    assert!(freed("if (n) kfree(k); else kvfree(k);"));
    assert!(!freed("kfree(n);"));
    assert!(freed("kfree_sensitive(k);"));
    // A name says nothing of what is done: a reference that is dropped, a list.
    assert!(!freed("kfree_rcu(k);"));
    assert!(!freed("mark_as_free(k);"));
}

#[test]
fn a_goto_out_of_a_switch_or_a_loop_is_bounded() {
    let deep = "if (n) { ".repeat(90) + "n++;" + &" }".repeat(90);
    assert!(dead("", &format!("{deep} return n;")));
}

#[test]
fn only_what_is_static_or_of_elsewhere_lives_on() {
    let lasting = |storage: &str| {
        let (_, flow) = flow(&format!("{storage} int a; int b;\n{RUN}\nreturn 0;"));
        flow.local("a").map(|local| local.lasting)
    };
    assert_eq!(lasting("static"), Some(true));
    assert_eq!(lasting("extern"), Some(true));
    assert_eq!(lasting("register"), Some(false));
    assert_eq!(lasting("const"), Some(false));
    assert_eq!(lasting(""), Some(false));
}

#[test]
fn what_follows_may_be_the_return_of_a_variable_alone() {
    let only = |body: &str| {
        let (text, flow) = flow(&format!("int a, b, err = 0;\n{body}"));
        let start = text.find(RUN).unwrap();
        flow.only_returns("err", crate::Span::new(start, start + RUN.len()))
    };
    assert!(only(&format!("{RUN}\nreturn err;")));
    assert!(only(&format!("if (n) {{ {RUN} }}\nreturn err;")));
    assert!(!only(&format!("if (n) {{ {RUN} }}\nreturn n;")));
    assert!(!only(&format!("if (n) {{ {RUN} }}\ng(n);\nreturn err;")));
    assert!(!only(&format!("{RUN}\nif (n)\nreturn 1;\nreturn err;")));
}
