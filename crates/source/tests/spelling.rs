//! What the kernel writes and a grammar of C does not know: each function is
//! analysed and checked, with all of its accesses.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use tollgate_source::check::{CheckWords, Checker, Confidence};
use tollgate_source::{Analyser, Headers, TreePath, Vocabulary, no_tree};

/// Statements around a write, each as a tree has them.
const STATEMENTS: [&str; 29] = [
    "if (at >= offsetof(struct user, regs.gprs[0].low)) at = 1;",
    "at = offsetof(union frame, part[2]) + sizeof(int);",
    "printk(KERN_ERR NAME OTHER \"%s: no\\n\", __FILE__);",
    "n = sscanf(buf, \"%d %\" __stringify(LENGTH) \"s %x\", &at, name, &n);",
    "say(\"a\" FORMAT \"b\" FORMAT, at);",
    "struct {\n\t\tu32 : 2;\n\t\tu32 m : 1;\n\t\tu64 : 64;\n\t} *own = area;",
    "each_part_for_each(f, &iter, all)\n\t\t++n;",
    "for_each_own(f, all)\n\t\t(*n)++;",
    "do {\n\t\tn = work(n);\n\t} for_each_range(iter, at, end);",
    "DEB( n = 1; )",
    "DEB(\n\tif (n) {\n\t\tsay(n);\n\t\treturn -EIO;\n\t} )",
    "const DEFINE_BITS_ARRAY(own, all);",
    "static DEFINE_STATE(state, 5 * HZ, 5);",
    "static const DECLARE_TASKLET_OLD(own, all);",
    "static const volatile DEFINE_STATE(state, 5 * HZ, 5);",
    "FLAG(MAC, 2, 32BIT_ACK, \"32\");",
    "n = BITS(2G_80M, 0x1fULL, 07, 1.5e3, 0b101);",
    "BUILD_BUG_ON(__alignof__ *p > LARGEST);",
    "register unsigned long word asm (\"d2\");",
    "auto part = area->part;",
    "u32 value __new_attribute = 0, *other __new_attribute(8);",
    "area->part = (const void __part __force *)own;",
    "char *names[3] = {\n\t\t[NR(ONE)] \"one\",\n\t\t[2]\t\"two\" \"half\",\n\t};",
    "struct part __own;",
    "ASSERTCMP(*p, ==, n);",
    "n |= ORDER(start, <, end) | ORDER(end, <=, n);",
    "struct {\n\t\tstruct head head;\n\t\tunion {\n\t\t\tstruct own own;\n\t\t\tDECLARE_FLEX_ARRAY(u8, data);\n\t\t};\n\t} __packed * own = area;",
    "struct own_part {\n\t\tint count;\n\t\tOWN_ARRAY(u32, list, 4);\n\t} part;",
    "SET_FIELDS(n, WIDTH,\n\t\t   NONE)\n\ndone:\n",
];

#[test]
fn what_only_the_kernel_writes_is_understood() {
    let vocabulary = Vocabulary::builtin().unwrap();
    let words = CheckWords::builtin().unwrap();
    for statement in STATEMENTS {
        let text = format!(
            "int f(int __user *p, int n)\n{{\n\t{statement}\n\n\tif (put_user(n, p) || put_user(n, p + 1))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        );
        let report = Analyser::new(&vocabulary).unwrap().analyse(text.as_bytes());
        assert_eq!(report.not_analysed, [], "{statement}");
        assert_eq!(report.parsed, 2, "{statement}");
        let function = report.functions.first().unwrap();
        assert_eq!(function.runs.len(), 1, "{statement}");
        let headers = Headers::new(&no_tree).unwrap();
        let checked = Checker::new(&vocabulary, &words, &headers)
            .unwrap()
            .check(&TreePath::top(), text.as_bytes());
        assert_eq!(checked.skipped, [], "{statement}");
        assert_eq!(checked.functions, 1, "{statement}");
    }
}

#[test]
fn a_variable_with_two_underscores_keeps_its_name() {
    let vocabulary = Vocabulary::builtin().unwrap();
    let text = b"int f(int __user *p)\n{\n\tstruct part __own;\n\tunsigned int __n;\n\tu32 __word;\n\n\t__n = 1;\n\treturn put_user(__n, p) ? -EFAULT : 0;\n}\n";
    let mut analyser = Analyser::new(&vocabulary).unwrap();
    let report = analyser.analyse(text);
    let flow = analyser
        .flow(text, report.functions.first().unwrap())
        .unwrap();
    let names: Vec<&str> = flow
        .locals
        .iter()
        .map(|local| local.name.as_str())
        .collect();
    assert_eq!(names, ["__own", "__n", "__word"]);
}

/// The rules that find something, by line.
fn found(text: &str) -> Vec<(String, u32)> {
    let vocabulary = Vocabulary::builtin().unwrap();
    let words = CheckWords::builtin().unwrap();
    let headers = Headers::new(&no_tree).unwrap();
    let checked = Checker::new(&vocabulary, &words, &headers)
        .unwrap()
        .check(&TreePath::top(), text.as_bytes());
    let all = checked.violations.into_iter();
    all.map(|one| (one.rule, one.mark.position.line)).collect()
}

#[test]
fn a_scope_needs_no_braces() {
    let text = "int f(u32 __user *p, u32 v)\n{\n\tscoped_user_write_access(p, fault)\n\t\tunsafe_put_user(v, p, fault);\n\tscoped_user_read_access(p, fault)\n\t\tunsafe_get_user(v, p, fault);\n\treturn v;\nfault:\n\treturn -EFAULT;\n}\n";
    assert_eq!(found(text), []);
    let wrong = text.replacen(
        "unsafe_put_user(v, p, fault);\n",
        "work(v);\n\tunsafe_put_user(v, p, fault);\n",
        1,
    );
    let rules: Vec<String> = found(&wrong).into_iter().map(|(rule, _)| rule).collect();
    assert!(
        rules.contains(&"unsafe-outside-window".to_owned()),
        "{rules:?}"
    );
}

#[test]
fn no_configuration_has_one_ifs_first_side_and_another_s_second() {
    let text = "int f(struct s __user *p, struct s *k)\n{\n#ifdef CONFIG_WIDE\n\tif (!user_access_begin(p, sizeof(*p)))\n\t\treturn -EFAULT;\n\tunsafe_get_user(k->a, &p->a, fault);\n\tuser_access_end();\n#else\n\tif (copy_from_user(k, p, sizeof(*k)))\n\t\treturn -EFAULT;\n#endif\n\twork(k);\n\treturn 0;\n#ifdef CONFIG_WIDE\nfault:\n\tuser_access_end();\n\treturn -EFAULT;\n#endif\n}\n";
    assert_eq!(found(text), []);
    let turned = text.replacen("#ifdef CONFIG_WIDE", "#ifndef CONFIG_NARROW", 1);
    let turned = turned.replacen("#ifdef CONFIG_WIDE", "#ifndef CONFIG_NARROW", 1);
    assert_eq!(found(&turned), []);
    // Under another condition the label is there without its window.
    let other = text.replacen("#ifdef CONFIG_WIDE\nfault", "#ifdef CONFIG_LARGE\nfault", 1);
    assert!(!found(&other).is_empty());
}

#[test]
fn a_check_that_is_repeated_makes_a_second_fetch_right() {
    let text = "int f(struct head __user *p)\n{\n\tstruct head h;\n\n\tif (copy_from_user(&h, p, sizeof(struct old)))\n\t\treturn -EFAULT;\n\tif ((h.flags & ~KNOWN) || h.kind >= KINDS)\n\t\treturn -EINVAL;\n\tif (copy_from_user(&h, p, sizeof(h)))\n\t\treturn -EFAULT;\n\tif (h.kind >= KINDS || (h.flags & ~KNOWN))\n\t\treturn -EINVAL;\n\treturn work(h.flags, h.kind);\n}\n";
    assert_eq!(found(text), []);
    let once = text.replacen(
        "\tif (h.kind >= KINDS || (h.flags & ~KNOWN))\n\t\treturn -EINVAL;\n",
        "",
        1,
    );
    assert_eq!(found(&once), [("double-fetch".to_owned(), 9)]);
}

#[test]
fn an_address_that_is_compared_by_hand_is_said_without_certainty() {
    let text = "int f(struct area __user *p)\n{\n\tunsigned long at;\n\tu32 __user *q;\n\tu32 v;\n\n\tscoped_user_read_access(p, fault) {\n\t\tunsafe_get_user(at, &p->at, fault);\n\t\tif (at >= LIMIT)\n\t\t\treturn -EINVAL;\n\t\tq = (u32 __user *)at;\n\t\tunsafe_get_user(v, q, fault);\n\t}\n\treturn v;\nfault:\n\treturn -EFAULT;\n}\n";
    let vocabulary = Vocabulary::builtin().unwrap();
    let words = CheckWords::builtin().unwrap();
    let of = |text: &str| {
        let headers = Headers::new(&no_tree).unwrap();
        let checked = Checker::new(&vocabulary, &words, &headers)
            .unwrap()
            .check(&TreePath::top(), text.as_bytes());
        let all = checked.violations.into_iter();
        all.map(|one| (one.rule, one.confidence))
            .collect::<Vec<_>>()
    };
    let outside = "outside-checked-range".to_owned();
    assert_eq!(of(text), [(outside.clone(), Confidence::Low)]);
    let blind = text.replacen("\t\tif (at >= LIMIT)\n\t\t\treturn -EINVAL;\n", "", 1);
    assert_eq!(of(&blind), [(outside, Confidence::High)]);
}
