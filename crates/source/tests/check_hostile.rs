//! Nothing that a file may hold makes a check panic or take long.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tollgate_source::check::{CheckWords, Checker, Unchecked};
use tollgate_source::fuzz::check;
use tollgate_source::{Headers, TreePath, Vocabulary};

/// The functions with mistakes, as real code to damage.
fn functions() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/mistakes");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    paths.sort();
    let read = |path: &Path| fs::read(path.join("wrong.c")).unwrap();
    paths.iter().map(|path| read(path)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_checked(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut text = b"int f(void)\n{\n\tunsafe_get_user(".to_vec();
        text.extend(&bytes);
        text.extend(b"\n}\n");
        check(&text);
    }

    #[test]
    fn damaged_functions_are_checked(
        which in any::<prop::sample::Index>(),
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3u8), 1..6),
    ) {
        let mut text = which.get(&functions()).clone();
        for (at, byte, how) in cuts {
            if text.is_empty() {
                break;
            }
            let at = at.index(text.len());
            match how {
                0 => text[at] = byte,
                1 => { text.remove(at); }
                _ => text.insert(at, byte),
            }
        }
        check(&text);
    }
}

#[test]
fn what_is_huge_or_deep_comes_to_an_end() {
    let begin = "int f(void)\n{\n\tif (!user_access_begin(p, 4))\n\t\treturn 1;\n";
    let deep = |open: &str, close: &str| {
        format!(
            "{begin}\tx = {}1{};\n\tuser_access_end();\n}}\n",
            open.repeat(20_000),
            close.repeat(20_000)
        )
    };
    let branches: String = (0..400)
        .map(|n| {
            format!(
                "\tif (a{n})\n\t\tb{n} = a{};\n\tif (a{n})\n\t\tgoto out;\n",
                n / 2
            )
        })
        .collect();
    let texts = [
        deep("(", ")"),
        deep("f(", ")"),
        deep("({", ";})"),
        format!("{begin}{}\n}}\n", "get_user(".repeat(30_000)),
        format!("{begin}{branches}out:\n\tuser_access_end();\n}}\n"),
        format!("{begin}{}}}\n", "\tif (x) {\n".repeat(5_000)),
        format!("{begin}{}}}\n", "\telse if (x)\n".repeat(5_000)),
    ];
    for text in texts {
        check(text.as_bytes());
    }
}

/// Each lock was asked of each access, and each call of what stands in it: 20 s for these.
#[test]
fn many_locks_over_many_accesses_come_to_an_end() {
    let all =
        |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let take = |at: usize| format!("\tmutex_lock(&d->l{at});\n");
    let leave = |at: usize| format!("\tmutex_unlock(&d->l{at});\n");
    let access =
        |at: usize| format!("\tif (get_user(v, p + {at}))\n\t\treturn -EFAULT;\n\tg(v);\n");
    let head = "int f(struct dev *d, u32 __user *p)\n{\n\tu32 v;\n";
    let over = [all(100, &take), all(2000, &access), all(100, &leave)].concat();
    let again = all(1500, &|at| [take(0), access(at)].concat()) + &leave(0);
    for body in [over, again] {
        check(format!("{head}{body}\treturn 0;\n}}\n").as_bytes());
    }
}

/// What each of many results is asked for was looked for through the whole function, and
/// from each place that sets the variable: minutes for these.
#[test]
fn many_results_of_one_variable_come_to_an_end() {
    let head = "struct eff { u32 a, b; };\nint f(u32 __user *p, size_t n, struct eff *to)\n{\n\tint err = 0;\n\tchar *c = kmalloc(64, GFP_KERNEL);\n\tu32 a;\n";
    let get = |at: usize| format!("\terr = get_user(a, p + {at});\n");
    let asked = |test: &str| format!("\tif ({test})\n\t\treturn err;\n");
    let copy = |to: &str, at: usize| {
        format!("\tif (copy_from_user({to}, p + {at}, n))\n\t\treturn -EFAULT;\n")
    };
    let less = "\tif (n < sizeof(struct eff))\n\t\treturn 1;\n";
    let forms: [&dyn Fn(usize) -> String; 4] = [
        &|at| get(at) + &asked("err"),
        &|at| get(at) + &asked("err > 0"),
        &|at| copy("c", at),
        &|at| less.to_owned() + &copy("to", at),
    ];
    for form in forms {
        let body: String = (0..700).map(form).collect();
        check(format!("{head}{body}\tkfree(c);\n\treturn err;\n}}\n").as_bytes());
    }
}

/// Each region of a lock asked every node of each call, and each error pointer the whole
/// function anew: 11 s and 6 s for a thousand of these, and a pair of checks and fetches 8 s.
#[test]
fn many_of_one_form_come_to_an_end() {
    let head = "int f(u32 __user *p, struct dev *d, spinlock_t *l)\n{\n\tint err = 0;\n\tchar *c;\n\tu32 v;\n";
    let forms: [Form<'_>; 4] = [
        &|at| {
            let held = format!("\tspin_lock(l);\n\td->a = {at};\n\tspin_unlock(l);\n");
            held + &format!("\tif (put_user({at}, p))\n\t\treturn 1;\n")
        },
        &|at| {
            let given = format!("\tc = memdup_user(p + {at}, 8);\n");
            given + "\tif (IS_ERR(c))\n\t\treturn PTR_ERR(c);\n\tuse(c);\n\tkfree(c);\n"
        },
        &|at| {
            let check = format!("\tif (access_ok(p + {at}, 4))\n\t\treturn 1;\n");
            check + "\tif (__get_user(v, p))\n\t\treturn 2;\n"
        },
        &|at| format!("\tif (get_user(v, p + {at}) && get_user(v, p))\n\t\treturn 1;\n"),
    ];
    for form in forms {
        let body: String = (0..1000).map(form).collect();
        check(format!("{head}{body}\treturn err;\n}}\n").as_bytes());
    }
}

/// Statements with a number in them.
type Form<'a> = &'a dyn Fn(usize) -> String;

/// Why a function was not checked in full, by a rule that stopped.
fn stopped(text: &str) -> Vec<(String, Unchecked)> {
    let vocabulary = Vocabulary::builtin().unwrap();
    let words = CheckWords::builtin().unwrap();
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let mut checker = Checker::new(&vocabulary, &words, &headers).unwrap();
    let checked = checker.check(&TreePath::top(), text.as_bytes());
    let all = checked.skipped.into_iter();
    all.map(|own| (own.function, own.reason)).collect()
}

/// Each of a function's own limits ended in silence: what lies behind it was called clean.
#[test]
fn a_function_of_which_not_all_is_asked_is_named() {
    let head = "int f(struct dev *d, u32 __user *p, size_t n)\n{\n\tint err = 0;\n\tchar own[64];\n\tu32 v;\n";
    let ask = |at: usize| format!("\tif (n > {at} + 1000)\n\t\treturn 1;\n");
    let lock = |at: usize| {
        format!(
            "\tmutex_lock(&d->l{at});\n\tif (get_user(v, p))\n\t\treturn 1;\n\tmutex_unlock(&d->l{at});\n"
        )
    };
    let get = |at: usize| {
        format!("\terr = get_user(v, p + {at});\n\tif (err)\n\t\treturn err;\n\tg(v);\n")
    };
    let copy = "\tif (copy_from_user(own, p, n))\n\t\treturn -EFAULT;\n";
    let text = |count: usize, form: Form<'_>| {
        let body: String = (0..count).map(form).collect();
        format!("{head}{body}{copy}\treturn err;\n}}\n")
    };
    let forms: [(Form<'_>, usize, usize); 3] = [(&ask, 4, 40), (&lock, 40, 600), (&get, 20, 200)];
    for (form, few, many) in forms {
        assert_eq!(stopped(&text(few, form)), [], "{}", form(0));
        let named = [("f".to_owned(), Unchecked::InPart)];
        assert_eq!(stopped(&text(many, form)), named, "{}", form(0));
    }
}
