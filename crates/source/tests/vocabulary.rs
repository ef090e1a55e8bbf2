//! A call that is one more line of data is found, checked and learned from, like
//! those that are there.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use tollgate_source::check::{CheckWords, Checked, Checker};
use tollgate_source::{Analyser, Direction, Headers, TreePath, Vocabulary};

const CALLS: &str = include_str!("../../../data/calls.toml");

/// An access, a copy, a check, and a window; none of the names is alike to one
/// that Linux has.
const MORE: &str = r#"
[[call]]
name = "peek_task"
arguments = 2
range_check = true
access = { direction = "read", value = 1, user = 0, result = "fault" }
in_window = { forbidden = "accesses" }
reason = "made up: peek_task(from, into)"

[[call]]
name = "shovel_in"
arguments = 3
range_check = true
access = { direction = "read", value = 2, user = 1, count = 0, result = "left" }
reason = "made up: shovel_in(n, from, to)"

[[call]]
name = "shovel_part"
arguments = 3
part = true
access = { direction = "read", value = 2, user = 1, count = 0, result = "left" }
reason = "made up: what shovel_in() is made of"

[[call]]
name = "is_ours"
arguments = 2
range_check = true
in_run = "transparent"
reason = "made up: is_ours(p, n)"

[[call]]
name = "lift_gate"
arguments = 2
range_check = true
begin = { kind = "full", fence = true }
reason = "made up"

[[call]]
name = "drop_gate"
arguments = 0
end = { kind = "full" }
reason = "made up"

[[call]]
name = "peek_now"
arguments = 3
access = { direction = "read", value = 1, user = 0, inside = true }
reason = "made up: peek_now(from, into, label)"

[[call]]
name = "ponder"
in_window = { forbidden = "schedules" }
reason = "made up"
"#;

fn more() -> Vocabulary {
    Vocabulary::parse(&format!("{CALLS}{MORE}")).unwrap()
}

const PEEKS: &[u8] = b"\
int pair(struct pair __user *p, struct pair *k)
{
\tif (!is_ours(p, sizeof(*p)) ||
\t    peek_task(&p->a, k->a) ||
\t    peek_task(&p->b, k->b))
\t\treturn -EFAULT;
\treturn 0;
}
";

#[test]
fn an_access_is_found_with_its_own_arguments() {
    let vocabulary = more();
    let report = Analyser::new(&vocabulary).unwrap().analyse(PEEKS);
    let [function] = report.functions.as_slice() else {
        panic!("{report:?}");
    };
    let [run] = function.runs.as_slice() else {
        panic!("{function:?}");
    };
    assert_eq!(run.count(Direction::Read), 2);
    let addresses = run.sites.iter().map(|site| site.address.text(PEEKS));
    assert_eq!(addresses.collect::<Vec<_>>(), ["&p->a", "&p->b"]);
    let builtin = Vocabulary::builtin().unwrap();
    let report = Analyser::new(&builtin).unwrap().analyse(PEEKS);
    assert!(report.functions.is_empty());
}

const SHOVELS: &[u8] = b"\
int small(struct pair __user *p)
{
\tu32 a;

\tif (shovel_in(4, p, &a))
\t\treturn -EFAULT;
\treturn a;
}
";

#[test]
fn a_copy_is_found_by_its_own_size() {
    let vocabulary = more();
    let report = Analyser::new(&vocabulary).unwrap().analyse(SHOVELS);
    let [opportunity] = report.opportunities.as_slice() else {
        panic!("{report:?}");
    };
    assert_eq!(
        (opportunity.function.as_str(), &*opportunity.object),
        ("small", "p")
    );
    let builtin = Vocabulary::builtin().unwrap();
    let report = Analyser::new(&builtin).unwrap().analyse(SHOVELS);
    assert!(report.opportunities.is_empty());
}

fn checked(vocabulary: &Vocabulary, text: &[u8]) -> Checked {
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let mut checker = Checker::new(vocabulary, vocabulary.words(), &headers).unwrap();
    checker.check(&TreePath::top(), text)
}

fn rules(vocabulary: &Vocabulary, text: &[u8]) -> Vec<(String, u32)> {
    let found = checked(vocabulary, text).violations;
    let place = |line: u32| line;
    found
        .into_iter()
        .map(|violation| (violation.rule, place(violation.mark.position.line)))
        .collect()
}

const GATES: &[u8] = b"\
int left(struct pair __user *p, struct pair *k)
{
\tif (!lift_gate(p, sizeof(*p)))
\t\treturn -EFAULT;
\tpeek_now(&p->a, k->a, fault);
\tponder();
\tif (k->a > 7)
\t\treturn -EINVAL;
\tpeek_now(&p->b, k->b);
\tdrop_gate();
\treturn 0;
fault:
\tdrop_gate();
\treturn -EFAULT;
}

int unfenced(void __user *p, void *k, size_t n)
{
\tif (!is_ours(p, n))
\t\treturn -EFAULT;
\treturn shovel_part(n, p, k);
}
";

#[test]
fn windows_checks_and_what_may_not_be_inside_are_known_to_every_rule() {
    let found = rules(&more(), GATES);
    let has = |rule: &str, line: u32| found.iter().any(|one| *one == (rule.to_owned(), line));
    assert!(has("window-left-open", 8), "{found:?}");
    assert!(has("call-in-window", 6), "{found:?}");
    assert!(has("wrong-argument-count", 9), "{found:?}");
    assert!(has("unfenced-read", 21), "{found:?}");
    let message = checked(&more(), GATES).violations;
    let mut said = message.iter().map(|violation| violation.message.as_str());
    assert!(said.any(|said| said == "shovel_part() may run ahead of is_ours()"));
    assert_eq!(rules(&Vocabulary::builtin().unwrap(), GATES), []);
}

/// Whether a function of a header is learned to open a window.
fn opens(returned: &str) -> bool {
    let vocabulary = more();
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let checker = Checker::new(&vocabulary, vocabulary.words(), &headers).unwrap();
    let header = format!("static inline bool my_lift(void *p, int n)\n{{\n\t{returned}\n}}\n");
    let learned = checker.learn(header.as_bytes());
    let words = vocabulary.words().with(&learned);
    let text = String::from_utf8_lossy(GATES).replace("lift_gate", "my_lift");
    let mut checker = Checker::new(&vocabulary, &words, &headers).unwrap();
    let found = checker.check(&TreePath::top(), text.as_bytes()).violations;
    found.iter().any(|one| one.rule == "window-left-open")
}

#[test]
fn a_function_opens_whose_result_is_that_of_what_opens() {
    assert!(opens("return lift_gate(p, n);"));
    assert!(opens("return /* for the caller */ lift_gate(p, n);"));
    assert!(opens("return likely(lift_gate(p, n));"));
    assert!(opens("return (lift_gate(p, n));"));
    // Where it gives 0 the window may be open or not.
    assert!(!opens("return lift_gate(p, n) && n > 1;"));
    assert!(!opens("return n > 1 || lift_gate(p, n);"));
    assert!(!opens("return (n) + lift_gate(p, n);"));
    assert!(!opens("return"));
}

#[test]
fn a_macro_of_a_header_is_learned_from_a_new_name() {
    let vocabulary = more();
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let checker = Checker::new(&vocabulary, vocabulary.words(), &headers).unwrap();
    let learned = checker.learn(b"#define my_lift(p, n) lift_gate(p, n)\n");
    let words = vocabulary.words().with(&learned);
    let text = String::from_utf8_lossy(GATES).replace("lift_gate", "my_lift");
    let mut checker = Checker::new(&vocabulary, &words, &headers).unwrap();
    let found = checker.check(&TreePath::top(), text.as_bytes()).violations;
    assert!(found.iter().any(|one| one.rule == "window-left-open"));
}

/// Half of a tree's files that have a part of a name are about something else.
#[test]
fn a_part_of_another_word_is_nothing_to_check() {
    let words = CheckWords::builtin().unwrap();
    for text in [
        "return ns == &init_user_ns;",
        "\tif (dsa_is_user_port(ds, port))",
        "\tcopy_user_highpage(to, from, at, vma);",
        "\tatomic_inc(&mm->mm_users);",
    ] {
        assert!(words.may_suspect(text.as_bytes()), "{text}");
        assert!(!words.suspects(text.as_bytes()), "{text}");
    }
    for text in [
        "_user",
        "\tif (!mm_users && get_user(a, p))",
        "int f(int __user *p);",
        "// tollgate: allow copied-holes filled by the device",
        "\tnla_put(skb, 1, sizeof(a), &a);",
        "access_ok",
        "\tuser_access_begin(p, 4)",
    ] {
        let suspect = text != "_user";
        assert_eq!(words.suspects(text.as_bytes()), suspect, "{text}");
    }
    assert!(!words.suspects(b""));
}
