//! Accesses that a condition, a loop or a window parts: known C, known answers.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use tollgate_source::{Analyser, Kind, Parted, Scan, TreePath, Vocabulary};

/// What pays beside runs in a function, one line each: the kind, the line, the call,
/// its object, the line of the other, what parts them.
fn found(body: &str) -> Vec<String> {
    found_in("", body)
}

fn found_in(before: &str, body: &str) -> Vec<String> {
    let head = "static long f(struct s __user *p, struct s __user *q, long n, u32 __user *buf)\n";
    let body = body.replace('\n', "\n\t");
    let text = format!("{before}{head}{{\n\t{body}\n}}\n");
    let first = before.matches('\n').count() + 2;
    let vocabulary = Vocabulary::builtin().unwrap();
    let mut analyser = Analyser::new(&vocabulary).unwrap();
    let mut scan = Scan::default();
    let path = TreePath::within("drivers/x.c");
    scan.add(&path, analyser.analyse_file(&path, text.as_bytes()));
    scan.sort();
    let kinds = |kind: Kind| !matches!(kind, Kind::SmallCopy | Kind::RuntimeSizeCopy);
    let opportunities = scan
        .opportunities
        .iter()
        .filter(|found| kinds(found.opportunity.kind));
    let lines = opportunities.map(|found| {
        let opportunity = &found.opportunity;
        let line = |line: u32| usize::try_from(line).unwrap() - first;
        let beside = opportunity.beside.as_ref().map(|b| line(b.position.line));
        let beside = beside.map_or(String::new(), |line| format!(" behind {line}"));
        let parted = match opportunity.near.as_ref().map(|near| &near.parted) {
            Some(Parted::Round { calls: true, .. }) => " round with calls".to_owned(),
            Some(Parted::Round { .. }) => " round".to_owned(),
            Some(Parted::Loop { .. }) => " loop".to_owned(),
            Some(Parted::When { condition }) => format!(" when {condition}"),
            Some(Parted::Unless { condition }) => format!(" unless {condition}"),
            Some(Parted::Case) => " case".to_owned(),
            Some(Parted::Statement) => " statement".to_owned(),
            None => String::new(),
        };
        let (kind, call, object) = (
            opportunity.kind.name(),
            &opportunity.call,
            &opportunity.object,
        );
        let own = line(opportunity.position.line);
        format!("{kind} {own} {call} {object}{beside}{parted}")
    });
    lines.collect()
}

#[test]
fn an_access_in_each_round_is_found() {
    let each = "int i;\nfor (i = 0; i < n; i++)\n\tif (put_user(i, buf + i))\n\t\treturn -EFAULT;\nreturn 0;";
    assert_eq!(found(each), ["loop-access 3 put_user buf round"]);
    let head = "char c;\nwhile (!get_user(c, buf) && c)\n\tbuf++;\nreturn 0;";
    assert_eq!(found(head), ["loop-access 2 get_user buf round"]);
    let last = "char c;\ndo {\n\tbuf++;\n} while (!get_user(c, buf));\nreturn 0;";
    assert_eq!(found(last), ["loop-access 4 get_user buf round"]);
    let case = "char c;\nfor (;;) {\n\tif (get_user(c, buf++))\n\t\treturn -EFAULT;\n\tswitch (c) {\n\tcase 1:\n\t\tbreak;\n\tdefault:\n\t\tgoto out;\n\t}\n}\nout:\nreturn 0;";
    assert_eq!(found(case), ["loop-access 3 get_user buf round"]);
}

#[test]
fn an_access_in_a_case_of_a_loop_is_in_each_round() {
    let cases = "while (n--) {\n\tswitch (n & 1) {\n\tcase 0:\n\t\tput_user(n, buf);\n\t\tbreak;\n\tdefault:\n\t\tcontinue;\n\t}\n\tbuf++;\n}\nreturn 0;";
    assert_eq!(found(cases), ["loop-access 4 put_user buf round"]);
}

#[test]
fn a_list_is_a_loop_and_other_macros_may_call() {
    let list = "list_for_each_entry(s, &all, head)\n\tput_user(s->n, buf++);\nreturn 0;";
    assert_eq!(found(list), ["loop-access 2 put_user buf round"]);
    let other = "for_each_cpu(n, &all)\n\tput_user(n, buf++);\nreturn 0;";
    assert!(found(other).is_empty());
}

#[test]
fn a_round_that_ends_the_loop_is_none() {
    let once = "for (;;) {\n\tif (put_user(1, buf))\n\t\treturn -EFAULT;\n\tbreak;\n}\nreturn 0;";
    assert!(found(once).is_empty());
    let left = "while (n--)\n\tif (n == 3)\n\t\treturn put_user(1, buf);\nreturn 0;";
    assert!(found(left).is_empty());
}

#[test]
fn a_round_that_calls_is_none_or_said_to() {
    let calls = "while (n--) {\n\tput_user(n, buf);\n\tschedule();\n}\nreturn 0;";
    assert!(found(calls).is_empty());
    let argument = "while (n--)\n\tput_user(inb(n), buf++);\nreturn 0;";
    assert!(found(argument).is_empty());
    let some = "while (n--) {\n\tif (put_user(n, buf))\n\t\treturn f();\n\tif (n == 3)\n\t\tschedule();\n}\nreturn 0;";
    assert_eq!(found(some), ["loop-access 2 put_user buf round with calls"]);
}

#[test]
fn an_object_of_each_round_is_another() {
    let list = "while (n--) {\n\tput_user(n, &p->a);\n\tp = next;\n}\nreturn 0;";
    assert_eq!(found(list), ["other-object 2 put_user p round"]);
    let array = "int i;\nfor (i = 0; i < n; i++)\n\tput_user(n, ptrs[i]);\nreturn 0;";
    assert_eq!(found(array), ["other-object 3 put_user ptrs[i] round"]);
}

#[test]
fn an_access_under_a_condition_is_found() {
    let arms = "int err;\nerr = put_user(1, &p->a);\nif (err)\n\tgoto out;\nif (n & 1)\n\terr = put_user(2, &p->b);\nelse\n\terr = put_user(3, &p->c);\nout:\nreturn err;";
    assert_eq!(
        found(arms),
        [
            "conditional-neighbour 6 put_user p behind 2 when n & 1",
            "conditional-neighbour 8 put_user p behind 2 unless n & 1",
        ]
    );
    let leaves = "int x;\nif (get_user(x, &p->a))\n\treturn -EFAULT;\nif (x == 0)\n\treturn put_user(1, &p->a);\nreturn 0;";
    assert_eq!(
        found(leaves),
        ["conditional-neighbour 5 put_user p behind 2 when x == 0"]
    );
    let first = "int err = 0;\nif (n)\n\terr = put_user(1, &p->a);\nerr |= put_user(2, &p->b);\nreturn err;";
    assert_eq!(
        found(first),
        ["conditional-neighbour 4 put_user p behind 3 when n"]
    );
    let asked = "put_user(1, &p->a);\nn = n ? put_user(2, &p->b) : 0;\nreturn n;";
    assert_eq!(
        found(asked),
        ["conditional-neighbour 2 put_user p behind 1 when n"]
    );
}

#[test]
fn one_access_on_each_way_saves_nothing() {
    let arms = "if (n)\n\treturn put_user(1, &p->a);\nreturn put_user(2, &p->b);";
    assert!(found(arms).is_empty());
    let arms = "if (n)\n\tn = put_user(1, &p->a);\nelse\n\tn = put_user(2, &p->b);\nreturn n;";
    assert!(found(arms).is_empty());
    let cases = "switch (n) {\ncase 1:\n\treturn put_user(1, &p->a);\ncase 2:\n\treturn put_user(2, &p->b);\n}\nreturn 0;";
    assert!(found(cases).is_empty());
    let faulted = "if (put_user(1, &p->a))\n\tput_user(2, &p->b);\nreturn 0;";
    assert!(found(faulted).is_empty());
    let called = "put_user(1, &p->a);\nif (n)\n\tschedule();\nelse\n\tcond_resched();\nput_user(2, &p->b);\nreturn 0;";
    assert!(found(called).is_empty());
}

#[test]
fn an_access_around_a_loop_is_found() {
    let around = "int i;\nput_user(n, &p->n);\nfor (i = 0; i < n; i++)\n\tput_user(i, &p->all[i]);\nreturn 0;";
    assert_eq!(
        found(around),
        [
            "loop-access 4 put_user p round",
            "conditional-neighbour 4 put_user p behind 2 loop",
        ]
    );
}

#[test]
fn what_no_window_can_serve_is_apart() {
    let two = "int err = 0;\nif (p)\n\terr |= put_user(1, &p->a);\nif (q)\n\terr |= put_user(2, &q->a);\nreturn err;";
    assert_eq!(found(two), ["other-object 5 put_user q behind 3 when q"]);
}

/// `COMPAT_FLAGS(msg)` of net/socket.c is a member behind `msg`.
#[test]
fn what_a_macro_makes_of_a_user_pointer_lies_behind_it() {
    let member = "int err;\nerr = put_user(1, FLAGS(p));\nif (err)\n\treturn err;\nif (n)\n\terr = put_user(2, &p->a);\nelse\n\terr = put_user(2, &q->a);\nreturn err;";
    assert_eq!(
        found(member),
        [
            "conditional-neighbour 6 put_user p behind 2 when n",
            "other-object 8 put_user q behind 2 unless n",
        ]
    );
    let number = "if (put_user(1, pointer(n)))\n\treturn -EFAULT;\nif (n)\n\treturn put_user(2, &p->a);\nreturn 0;";
    assert_eq!(found(number), ["other-object 4 put_user p behind 1 when n"]);
}

#[test]
fn what_a_run_joins_is_no_pair() {
    assert!(found("return put_user(1, &p->a) || put_user(2, &p->b);").is_empty());
    assert!(found("int err;\nerr = put_user(1, &p->a);\nif (!err)\n\terr = put_user(2, &p->b);\nreturn err;").is_empty());
}

#[test]
fn windows_in_a_row_are_neighbours() {
    let scopes = "scoped_user_write_access(p, fault) {\n\tunsafe_put_user(1, &p->a, fault);\n}\nscoped_user_write_access(p, fault) {\n\tunsafe_put_user(2, &p->b, fault);\n}\nreturn 0;\nfault:\nreturn -EFAULT;";
    assert_eq!(
        found(scopes),
        ["window-neighbour 4 scoped_user_write_access p behind 3"]
    );
    let begins = "if (!user_write_access_begin(p, 8))\n\treturn -EFAULT;\nunsafe_put_user(1, &p->a, fault);\nuser_write_access_end();\nif (!user_write_access_begin(p, 8))\n\treturn -EFAULT;\nunsafe_put_user(2, &p->b, fault);\nuser_write_access_end();\nreturn 0;";
    assert_eq!(
        found(begins),
        ["window-neighbour 5 user_write_access_begin p behind 4"]
    );
    let beside = "scoped_user_write_access(p, fault)\n\tunsafe_put_user(1, &p->a, fault);\nreturn put_user(2, &p->b);\nfault:\nreturn -EFAULT;";
    assert_eq!(found(beside), ["window-neighbour 3 put_user p behind 2"]);
    let other = "scoped_user_write_access(p, fault)\n\tunsafe_put_user(1, &p->a, fault);\nreturn put_user(2, &q->b);\nfault:\nreturn -EFAULT;";
    assert!(found(other).is_empty());
}

#[test]
fn zeros_beside_an_access_are_neighbours() {
    let clears = "if (clear_user(p, 32))\n\treturn -EFAULT;\nreturn put_user(2, &p->b);";
    assert_eq!(found(clears), ["copy-neighbour 3 put_user p behind 1"]);
}

#[test]
fn a_macro_of_the_file_that_computes_is_no_call() {
    let computes = "#define IDX(r, i)\t(((r) << 4) | (u32)(i))\n";
    let body = "while (n--)\n\tput_user(IDX(n, 1), buf++);\nreturn 0;";
    assert_eq!(
        found_in(computes, body),
        ["loop-access 2 put_user buf round"]
    );
    let between = "put_user(1, &p->a);\nn = IDX(n, 1);\nreturn n ? put_user(2, &p->b) : 0;";
    assert_eq!(
        found_in(computes, between),
        ["conditional-neighbour 3 put_user p behind 1 when n"]
    );
    for calls in [
        "#define IDX(r, i)\tlook_up(r, i)\n",
        "#define IDX(r, i)\t(*look)(r, i)\n",
        "#define IDX(r, i)\t({ r; })\n",
        "#define IDX(r, i)\t((r) + (i))\n#undef IDX\n#define IDX(r, i)\tlook_up(r, i)\n",
    ] {
        assert!(found_in(calls, between).is_empty(), "{calls}");
    }
}
