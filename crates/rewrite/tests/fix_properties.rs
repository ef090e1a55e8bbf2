//! The properties that every fix has.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "other tests use the rest")]
mod fixing;

use proptest::prelude::*;
use tollgate_rewrite::Request;
use tollgate_source::{Analyser, Vocabulary};

use fixing::{file, fix_in};

/// A chain of accesses to fields of one object, in one of the ways that keep
/// their meaning.
fn chains() -> impl Strategy<Value = (String, usize)> {
    let names = vec![
        "a",
        "b.c",
        "d[3]",
        "long_name_of_a_field",
        "e.f.g",
        "h",
        "i.a_name_that_makes_the_line_a_long_one",
    ];
    let fields = prop::sample::subsequence(names, 2..8).prop_shuffle();
    let calls = prop::sample::select(vec!["put_user", "__put_user"]);
    (fields, calls, any::<bool>(), any::<bool>()).prop_map(|(fields, call, chained, include)| {
        let accesses: Vec<String> = fields
            .iter()
            .map(|field| format!("{call}(k->{field}, &p->{field})"))
            .collect();
        let body = if chained {
            format!(
                "\tif ({})\n\t\treturn -EFAULT;\n",
                accesses.join(" ||\n\t    ")
            )
        } else {
            accesses
                .iter()
                .map(|access| format!("\tif ({access})\n\t\treturn -EFAULT;\n"))
                .collect()
        };
        let text = file(&(body + "\treturn 0;\n"));
        let text = text.replace("int f(", "struct s {\n\tint a, d[4];\n};\n\nint f(");
        let text = if include {
            text
        } else {
            text.replace("uaccess.h", "fs.h")
        };
        (text, fields.len())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_fix_is_a_patch_that_leaves_one_window((text, accesses) in chains()) {
        let patched = fix_in(&text, "f", &Request::default()).unwrap();
        prop_assert_eq!((patched.windows_before, patched.windows_after), (accesses, 1));
        let rewritten = String::from_utf8(patched.rewritten).unwrap();
        let diff = diffy::create_patch(&text, &rewritten).to_string();
        let again = diffy::apply(&text, &diffy::Patch::from_str(&diff).unwrap()).unwrap();
        prop_assert_eq!(&again, &rewritten);

        let vocabulary = Vocabulary::builtin().unwrap();
        let report = Analyser::new(&vocabulary).unwrap().analyse(again.as_bytes());
        prop_assert!(report.functions.iter().all(|function| function.runs.is_empty() && function.understood));
        prop_assert_eq!(again.matches("user_write_access_begin(p, sizeof(*p))").count(), 1);
        prop_assert_eq!(again.matches("user_write_access_end();").count(), 2);
        prop_assert_eq!(again.matches("unsafe_put_user(").count(), accesses);
        prop_assert_eq!(again.matches("#include <linux/uaccess.h>").count(), 1);
        prop_assert!(again.lines().all(|line| line.len() <= 100));
    }

    #[test]
    fn any_text_gets_an_answer(text in "[a-z(){};|&>,=\n\t -]{0,200}") {
        let text = file(&format!("\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn 1;\n{text}\n"));
        // A patch or a refusal; what matters is that there is one.
        let answer = fix_in(&text, "f", &Request::default());
        prop_assert!(answer.is_ok() || !answer.unwrap_err().to_string().is_empty());
    }
}
