//! Known C, known answers; and any bytes at all.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use tollgate_source::check::{CheckWords, Checker, Unchecked};
use tollgate_source::{
    Analyser, Branches, FileReport, Function, Run, Scan, TreePath, Vocabulary, normalise, tokens,
};

fn analyse(text: &[u8]) -> FileReport {
    let vocabulary = Vocabulary::builtin().unwrap();
    Analyser::new(&vocabulary).unwrap().analyse(text)
}

#[test]
fn a_member_that_is_called_is_no_access() {
    let text = b"int f(struct x *x, int __user *p)\n{\n\tint a;\n\n\tif (x->ops->get_user(a, p) || x->ops.put_user(a, p + 1) ||\n\t    x->copy_to_user(p, &a, x->len))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
    let report = analyse(text);
    assert_eq!((report.lexical, report.opportunities.len()), (0, 0));
    assert_eq!(report.functions, []);
}

fn describe(report: &FileReport) -> String {
    let mut out = format!(
        "{} calls by word, {} parsed\n",
        report.lexical, report.parsed
    );
    report
        .functions
        .iter()
        .for_each(|function| out += &describe_function(function));
    for missed in &report.not_analysed {
        out += &format!(
            "{}: {}: {}\n",
            missed.position.line,
            missed.call,
            missed.reason.words()
        );
    }
    out
}

fn describe_function(function: &Function) -> String {
    let place = function.position;
    let mut out = format!(
        "{}:{} {}: {} accesses\n",
        place.line, place.column, function.name, function.accesses
    );
    function
        .runs
        .iter()
        .for_each(|run| out += &describe_run(run));
    out
}

fn describe_run(run: &Run) -> String {
    let forms: Vec<&str> = run.forms.iter().map(|form| form.name()).collect();
    let mut out = format!(
        "    {} on {}, {:?}\n",
        forms.join("+"),
        run.objects().join(","),
        run.traits
    );
    for site in &run.sites {
        out += &format!(
            "        {} {} {:?} {:?}\n",
            site.position.line, site.call, site.reach, site.hazards
        );
    }
    out
}

#[test]
fn every_form_is_known() {
    insta::assert_snapshot!(describe(&analyse(include_bytes!("forms.c"))));
}

/// The objects of the runs of a function behind a macro, and the windows that are saved.
fn objects(defined: &str, body: &str) -> Vec<(Vec<String>, usize)> {
    let text = format!(
        "#define {defined}\n\nint f(struct s __user *to, struct s __user *from, u32 *v)\n{{\n{body}\n}}\n"
    );
    let report = analyse(text.as_bytes());
    let runs = report.functions.iter().flat_map(|function| &function.runs);
    let of = |run: &Run| {
        let objects = run.objects().into_iter().map(str::to_owned);
        (objects.collect(), run.windows_saved())
    };
    runs.map(of).collect()
}

#[test]
fn a_macro_accesses_the_object_of_its_body() {
    let said = |defined: &str, body: &str| {
        let all = objects(defined, body).into_iter();
        let all = all.map(|(objects, saved)| format!("{} {saved}", objects.join("+")));
        all.collect::<Vec<String>>().join(" ")
    };
    let three = "\tint err = PUT(1, to, a);\n\terr |= PUT(2, to, b);\n\terr |= PUT(3, to, c);\n\treturn err;";
    let put = "PUT(x, p, member) put_user(x, &(p)->member)";
    assert_eq!(said(put, three), "to 2");
    // Each of another object.
    let apart = three.replace("2, to", "2, from");
    assert_eq!(said(put, &apart), "to+from 0");
    let pairs = three.replace("3, to", "3, from");
    assert_eq!(said(put, &pairs), "to+from 1");
    // Whatever the argument is in which the object stands last.
    for (defined, expected) in [
        ("PUT(x, p, member) __put_user(x, &p->in.member[0])", "to 2"),
        (
            "PUT(x, p, member) put_user(v[x], &from->regs_##member)",
            "from 2",
        ),
        (
            "PUT(x, p, member) ({ struct s __user *q = (p); put_user(x, &q->member); })",
            "to 2",
        ),
        (
            "PUT(x, p, member) put_user(x, (u32 __user *)(p) + member)",
            "to 2",
        ),
        ("PUT(x, p, member) put_user(x, &(p)[member])", "to 2"),
        (
            "PUT(x, p, member) (put_user(x, &(p)->member) ?: put_user(x, &p->other))",
            "to 2",
        ),
        // Several, or one that nobody knows: what is given last.
        (
            "PUT(x, p, member) (put_user(x, &(p)->member) ?: put_user(x, &from->other))",
            "a+b+c 0",
        ),
        (
            "PUT(x, p, member) ({ struct s __user *q; q = p; put_user(x, &q->member); })",
            "q 2",
        ),
    ] {
        assert_eq!(said(defined, three), expected, "{defined}");
    }
    let inner = three.replace("to,", "&to->in,");
    assert_eq!(said(put, &inner), "to 2");
    let deep = three.replace("to,", "v->q,");
    assert_eq!(said(put, &deep), "v->q 2");
    // It means what it was last defined as.
    let again = format!("{put}\n#undef PUT\n#define PUT(x, p, member) put_user(x, &from->member)");
    assert_eq!(said(&again, three), "from 2");
    let one = three.replace(", to, ", ", ");
    let captured = "PUT(x, member) put_user(x, &to->member)";
    assert_eq!(said(captured, &one), "to 2");
}

/// Nobody reads a pointer of the user's structure by hand: what stands for an address there is
/// an array in it.
#[test]
fn an_array_that_is_a_member_is_in_its_structure() {
    let said = |one: &str, two: &str| {
        let body =
            format!("\tif (put_user(1, {one}) || put_user(2, {two}))\n\t\treturn 1;\n\treturn 0;");
        let all = objects("NONE", &body).into_iter();
        all.map(|(objects, _)| objects.join("+"))
            .collect::<String>()
    };
    for array in [
        "to->list",
        "to->list + 3",
        "(to->list) + LAST",
        "to->list + *v",
        "to->in.list + 1",
        "&to->list[1]",
    ] {
        assert_eq!(said("&to->a", array), "to", "{array}");
    }
    // A pointer of the kernel's structure is the user's.
    assert_eq!(said("&to->a", "v->list + 1"), "to+v->list");
    assert_eq!(said("v->list", "v->list + 1"), "v->list");
}

/// The lines of the accesses of each run.
fn lines_of_runs(body: &str) -> Vec<Vec<u32>> {
    let text = format!("int f(struct s __user *p)\n{{\n{body}}}\n");
    let report = analyse(text.as_bytes());
    let runs = report.functions.iter().flat_map(|function| &function.runs);
    runs.map(|run| run.sites.iter().map(|site| site.position.line).collect())
        .collect()
}

#[test]
fn a_run_ends_where_success_leaves() {
    let touch = "\twhile (1) {\n\t\terr |= __put_user(1, &p->a);\n\t\terr |= __put_user(2, &p->b);\n\t\tif (likely(!err))\n\
        \t\t\tbreak;\n\t\terr = __put_user(0, &p->a) |\n\t\t\t__put_user(0, &p->b);\n\t}\n";
    assert_eq!(lines_of_runs(touch), [[4, 5], [8, 9]]);
    let done = "\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn false;\n\tif (size < 8)\n\t\treturn true;\n\
        \tif (put_user(1, &p->c) || put_user(2, &p->d))\n\t\treturn false;\n\treturn true;\n";
    assert_eq!(lines_of_runs(done), [[3, 3], [7, 7]]);
    // A check that fails is no success: one window may have an end there too.
    let checked = done.replace("return true;\n\tif", "return false;\n\tif");
    assert_eq!(lines_of_runs(&checked), [[3, 3, 7, 7]]);
}

#[test]
fn what_happens_only_without_a_fault_is_in_the_run() {
    let nested = "\tif (!(r = put_user(1, &p->a)) &&\n\t    !(r = put_user(2, &p->b)))\n\t\tr = put_user(3, &p->c);\n\treturn r;\n";
    assert_eq!(lines_of_runs(nested), [[3, 4, 5]]);
    // Only after a fault, or whatever happened: two runs at most.
    let after = "\tif (!put_user(1, &p->a))\n\t\treturn 0;\n\treturn put_user(2, &p->b);\n";
    assert!(lines_of_runs(after).is_empty());
}

#[test]
fn what_hangs_on_a_fault_is_in_no_run() {
    let body = |asked: &str| {
        format!(
            "\tint err = put_user(1, &p->a);\n\n\tif ({asked})\n\t\terr = put_user(2, &p->b);\n\treturn err;\n"
        )
    };
    for asked in ["!err", "err == 0", "likely(!err)"] {
        assert_eq!(lines_of_runs(&body(asked)).len(), 1, "{asked}");
    }
    for asked in ["err", "err != 0", "err == 1", "0 == n", "!n"] {
        assert_eq!(lines_of_runs(&body(asked)).len(), 0, "{asked}");
    }
}

#[test]
fn an_empty_body_on_the_headers_line_ends_there() {
    let text = b"static void f(void) {}\n\nint g(int __user *p)\n{\n\tif (put_user(1, p) || put_user(2, p))\n\t\treturn 1;\n\treturn 0;\n}\n";
    let report = analyse(text);
    assert_eq!(
        report
            .functions
            .iter()
            .map(|f| f.name.as_str())
            .collect::<Vec<_>>(),
        ["g"]
    );
}

#[test]
fn text_that_is_no_c_is_counted_and_named() {
    let report = analyse(b"int f(void)\n{\n\tif if ( put_user(1, p) } else ((;\n}\n");
    assert_eq!(report.lexical, 1);
    assert_eq!(report.parsed + report.not_analysed.len(), 1);
    assert!(report.functions.iter().all(|function| !function.understood));
}

#[test]
fn words_in_comments_and_strings_are_no_calls() {
    let report =
        analyse(b"/* put_user(1, p) */\nconst char *s = \"put_user(1, p)\";\n// get_user(x, y)\n");
    assert_eq!(report.lexical, 0);
}

#[test]
fn a_declaration_is_no_access() {
    let report = analyse(b"int __put_user(int x, void *p);\n");
    assert_eq!(report.not_analysed.len(), 1);
    assert_eq!(
        report.not_analysed[0].reason,
        tollgate_source::Reason::Declaration
    );
}

#[test]
fn a_scan_is_ranked_and_narrowed_to_architectures() {
    let of = |accesses: usize| {
        let chain = vec!["put_user(1, p)"; accesses].join(" || ");
        format!("int f(int __user *p)\n{{\n\treturn {chain};\n}}\n")
    };
    let mut scan = Scan::default();
    for (path, accesses) in [
        ("arch/arm/a.c", 2),
        ("arch/x86/b.c", 2),
        ("fs/c.c", 4),
        ("mm/d.c", 1),
    ] {
        scan.add(&TreePath::within(path), analyse(of(accesses).as_bytes()));
    }
    scan.rank();
    let paths = |scan: &Scan| {
        scan.findings
            .iter()
            .map(|f| f.path.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(paths(&scan), ["fs/c.c", "arch/arm/a.c", "arch/x86/b.c"]);
    scan.keep_architectures(&["x86".to_owned()]);
    assert_eq!(paths(&scan), ["fs/c.c", "arch/x86/b.c"]);
    assert_eq!(scan.elsewhere.architectures, ["arm"]);
    assert_eq!(scan.elsewhere.functions, 1);
    assert_eq!((scan.files, scan.parsed), (4, 9));
}

fn c_words() -> impl Strategy<Value = String> {
    let words = [
        "put_user(",
        "get_user(",
        "__put_user(a, &p->b)",
        "if (",
        ")",
        "(",
        "{",
        "}",
        "\n{\n",
        "\n}\n",
        ";",
        "||",
        "|",
        "&&",
        "return",
        "goto out;",
        "#if X\n",
        "\n#else\n",
        "\n#endif\n",
        "/*",
        "*/",
        "//",
        "\"",
        "'",
        "\\\n",
        "\n",
        "\t",
        "scoped_guard(x)",
        "list_for_each_entry(a, b, c)",
        "case 1 ... 2:",
        "SYSCALL_DEFINE1(f, int, a)",
        "__free(kfree)",
        "typeof(x)",
        "asm volatile(\"x\")",
        "struct s *",
        "é",
        "\u{0}",
        ",",
        "=",
        "err |= ",
        "?:",
        "do",
        "while",
        "for",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..60)
        .prop_map(|words| words.concat())
}

fn same_shape(before: &[u8], after: &[u8]) -> bool {
    before.len() == after.len()
        && before
            .iter()
            .zip(after)
            .all(|(a, b)| *a == b'\n' || *b != b'\n')
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn normalising_keeps_every_byte_in_its_place(text in c_words()) {
        let vocabulary = Vocabulary::builtin().unwrap();
        for branches in [Branches::First, Branches::Last] {
            let normalised = normalise(text.as_bytes(), &tokens(text.as_bytes(), 0), &vocabulary, branches);
            prop_assert!(same_shape(text.as_bytes(), &normalised.text), "{:?}", normalised.text);
        }
    }

    #[test]
    fn tokens_are_in_order_and_inside(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut at = 0;
        for token in tokens(&bytes, 0) {
            prop_assert!(token.span.start >= at && token.span.end > token.span.start);
            at = token.span.end;
        }
        prop_assert!(at <= bytes.len());
    }

    #[test]
    fn no_call_is_lost(text in c_words()) {
        let report = analyse(text.as_bytes());
        prop_assert_eq!(report.parsed + report.not_analysed.len(), report.lexical);
    }

    #[test]
    fn any_bytes_give_a_report(mut bytes in prop::collection::vec(any::<u8>(), 0..300), at in 0usize..300) {
        bytes.splice(at.min(bytes.len())..at.min(bytes.len()), *b"\n{ put_user(x, p)");
        let report = analyse(&bytes);
        prop_assert_eq!(report.parsed + report.not_analysed.len(), report.lexical);
    }
}

const PAIR: &str = "\treturn put_user(1, p) || put_user(2, p);\n";

#[test]
fn a_function_whose_braces_do_not_end_is_named() {
    let whole = format!("int whole(int __user *p)\n{{\n{PAIR}}}\n");
    let half = format!("int half(int __user *p)\n{{\n\tif (p) {{\n{PAIR}");
    let vocabulary = Vocabulary::builtin().unwrap();
    let words = CheckWords::builtin().unwrap();
    let named = |text: &str| {
        let report = analyse(text.as_bytes());
        assert_eq!(report.lexical, report.parsed + report.not_analysed.len());
        let lines = report
            .unended
            .iter()
            .map(|(name, at)| (name.clone(), at.line));
        let lines: Vec<_> = lines.collect();
        let functions = report.functions.iter().filter(|f| !f.runs.is_empty());
        let functions: Vec<_> = functions.map(|f| f.name.clone()).collect();
        let headers = tollgate_source::Headers::new(&tollgate_source::no_tree).unwrap();
        let mut checker = Checker::new(&vocabulary, &words, &headers).unwrap();
        let skipped = checker
            .check(&tollgate_source::TreePath::top(), text.as_bytes())
            .skipped
            .into_iter();
        let skipped = skipped.filter(|s| s.reason == Unchecked::Unended);
        let skipped: Vec<_> = skipped.map(|s| (s.function, s.position.line)).collect();
        assert_eq!(lines, skipped, "{text}");
        (lines, functions)
    };
    let half_at = |line| vec![("half".to_owned(), line)];
    assert_eq!(named(&half), (half_at(1), vec![]));
    let whole_found = vec!["whole".to_owned()];
    assert_eq!(
        named(&(whole.clone() + &half)),
        (half_at(5), whole_found.clone())
    );
    // What follows is a function of its own.
    assert_eq!(
        named(&(half.clone() + &whole)),
        (half_at(1), whole_found.clone())
    );
    assert_eq!(named(&whole), (vec![], whole_found));
    // The brace at the margin may be the one of the `if`.
    let inner = format!("{half}}}\n");
    assert_eq!(named(&inner), (half_at(1), vec![]));
    assert_eq!(
        named(&(inner + &whole)),
        (half_at(1), vec!["whole".to_owned()])
    );
    // Two headers and one body are one function.
    let two = format!(
        "#ifdef A\nint one(int __user *p)\n{{\n#else\nint two(int __user *p)\n{{\n#endif\n{PAIR}}}\n"
    );
    assert_eq!(named(&two).0, vec![]);
    // A body of one line ends there.
    let stub = "static inline int stub(int __user *p)\n{ return put_user(0, p); }\n";
    assert_eq!(
        named(&(stub.to_owned() + &whole)),
        (vec![], vec!["whole".to_owned()])
    );
    // Statements at the margin are none of the kernel's, and no function.
    let plain = format!("int f(int __user *p)\n{{\nif (p)\n{{\n{PAIR}\n}}\nreturn 0;\n}}\n");
    assert_eq!(analyse(plain.as_bytes()).unended, vec![]);
}
