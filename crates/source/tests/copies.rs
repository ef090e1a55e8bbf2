//! Copies and neighbours: known C, known answers.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use tollgate_source::{
    Analyser, Headers, Scan, Size, TreePath, TypeIndex, Types, Vocabulary, opens_windows,
};

const HEADER: &str = "\
struct small {
\t__u8 a;
\t__u64 b;
\t#define SMALL_FLAG 1
\tunion { __u16 c[3]; struct { char d, e; }; };
\tvoid *f;
\tstruct inner { int x; } g[2];
};
struct tight {
\tchar a;
\tint b;
} __packed;
typedef struct {
\tint a[20];
} large_t;
struct odd {
\tint a : 3;
#ifdef CONFIG_ODD
\tint b;
#endif
};
#define NAME_LENGTH\t(4 * 3) /* bytes */
#define LOOP LOOP
#define TWICE 4
#define TWICE 8
#ifndef PERHAPS
#define PERHAPS 4
#endif
#define NAME_TEXT \"name\"
#define NULL_TEXT ((void *)0)
#define TWO_NUMBERS 1, 2
#define THE_NUMBERS { TWO_NUMBERS, 3 }
struct named {
\tchar name[NAME_LENGTH];
\tunion { int pair[2]; char one; } in;
\tstruct small deep;
};
struct open {
\tint count;
\t__DECLARE_FLEX_ARRAY(__u64, more);
};
struct unclear {
\tchar name[TWICE];
};
";

/// What pays beside runs in one function, one line each: the kind, the line,
/// the size in bytes or what is not known.
fn found(name: &str, body: &str) -> Vec<String> {
    let text = format!(
        "#include <x.h>\nstruct local {{\n\tint a[3];\n}};\n\nstatic long {name}(struct small __user *p, void __user *arg, size_t n)\n{{\n{body}\n}}\n"
    );
    lines(&text, 7)
}

/// The same of a whole file, with the line in it.
fn sized(text: &str) -> Vec<String> {
    lines(text, 0)
}

fn lines(text: &str, before: u32) -> Vec<String> {
    let vocabulary = Vocabulary::builtin().unwrap();
    let mut analyser = Analyser::new(&vocabulary).unwrap();
    let mut scan = Scan::default();
    let path = TreePath::within("drivers/x.c");
    scan.add(&path, analyser.analyse_file(&path, text.as_bytes()));
    let mut types = TypeIndex::default();
    let header = TreePath::within("include/uapi/x.h");
    types.add(&header, HEADER.as_bytes());
    types.add(&path, text.as_bytes());
    let reader = |path: &TreePath| match &*path.lossy() {
        "include/uapi/x.h" => Ok(HEADER.as_bytes().to_vec()),
        "drivers/x.c" => Ok(text.as_bytes().to_vec()),
        _ => tollgate_source::no_tree(path),
    };
    let headers = Headers::new(&reader).unwrap().with_index(Some(types));
    scan.measure(|constant, from| Types::stored(&headers, from).value(constant));
    scan.sort();
    let line = |found: &tollgate_source::LocatedOpportunity| {
        let opportunity = &found.opportunity;
        let size = match &opportunity.size {
            Size::Bytes(bytes) => bytes.to_string(),
            other => format!("{other:?}"),
        };
        format!(
            "{} {} {size}",
            opportunity.kind.name(),
            opportunity.position.line - before
        )
    };
    let lines: Vec<String> = scan.opportunities.iter().map(line).collect();
    let without = lines.iter().filter(|line| line.contains("Unsized"));
    assert!(scan.without_size().map(line).eq(without.cloned()));
    lines
}

/// A block that is left again is not in the way of an assignment before it.
#[test]
fn the_last_assignment_before_a_block_gives_the_size() {
    let body = "\
\tstruct small s; size_t m;
\tm = 4;
\tif (copy_from_user(&s, arg, m)) return -EFAULT;
\tm = 8;
\tif (n) {
\t\tn--;
\t}
\tif (copy_from_user(&s, arg, m)) return -EFAULT;
\treturn 0;";
    assert_eq!(found("f", body), ["small-copy 3 4", "small-copy 8 8"]);
}

#[test]
fn sizes_are_looked_up() {
    let body = "\
\tstruct small s, *q; struct tight t; large_t big; struct local l; u32 x[4];
\tcopy_from_user(&s, arg, sizeof(s));
\tcopy_from_user(&s, arg, sizeof(struct small));
\tcopy_from_user(q, arg, sizeof(*q));
\tcopy_from_user(q, arg, sizeof(q->b));
\tcopy_from_user(q, arg, sizeof q->c[0]);
\tcopy_from_user(&t, arg, sizeof(t));
\tcopy_from_user(&l, arg, sizeof(l));
\tcopy_from_user(x, arg, sizeof(x) + 2 * sizeof(u64));
\tcopy_from_user(x, arg, (0x10));
\tcopy_from_user(x, arg, sizeof(void *));
\tcopy_from_user(&big, arg, sizeof(big));";
    // The last is larger than what counts as small.
    assert_eq!(
        found("f", body),
        [
            "small-copy 2 40",
            "small-copy 3 40",
            "small-copy 4 40",
            "small-copy 5 8",
            "small-copy 6 2",
            "small-copy 7 5",
            "small-copy 8 12",
            "small-copy 9 32",
            "small-copy 10 16",
            "small-copy 11 8",
        ]
    );
}

#[test]
fn an_array_without_a_number_is_as_large_as_what_it_is_given() {
    let given = |declared: &str| {
        let body = format!("\t{declared};\n\tcopy_to_user(arg, a, sizeof(a));\n\treturn 0;");
        found("f", &body).join(" ")
    };
    for (declared, size) in [
        ("char a[] = \"viafb\"", 6),
        ("char *b, a[] = \"via\" \"fb\", c", 6),
        ("static const char a[] = { \"a\\x41\\0\\\"\" }", 5),
        ("char a[] = NAME_TEXT", 5),
        ("char a[] = NAME_TEXT \"-\" NAME_TEXT", 10),
        ("char a[] = { 1, 2 }", 2),
        ("u32 a[] = { n, f(n, 2), (int)n, -1, }", 16),
        ("u16 a[] = { [3] = 1, [0] = n }", 8),
        ("u16 a[] = { [NAME_LENGTH] = 1 }", 26),
        ("u16 a[] = { TWO_NUMBERS, 3 }", 6),
        ("u16 a[] = THE_NUMBERS", 6),
        ("struct local a[] = { { { 1 } }, { } }", 24),
        ("char a[][4] = { \"abc\", \"d\" }", 8),
        ("const char *const a[] = { \"abc\", NULL_TEXT }", 16),
    ] {
        assert_eq!(
            given(declared),
            format!("small-copy 2 {size}"),
            "{declared}"
        );
    }
    for declared in [
        "extern char a[]",
        "char a[] = NOWHERE",
        "char a[] = { NOWHERE, 1 }",
        "char a[] = { [NOWHERE] = 1 }",
        "char a[] = f(n)",
        // Without the inner braces members take more than one.
        "struct local a[] = { 1, 2, 3 }",
        "u16 a[] = { L\"ab\" }",
        "char a[] = { 1,\n#ifdef CONFIG_ODD\n2\n#endif\n\t}",
    ] {
        let size = given(declared);
        assert!(size.contains("Unsized"), "{declared}: {size}");
    }
    // Of a parameter it is a pointer.
    let text =
        "static long f(u8 a[], void __user *arg)\n{\n\tcopy_to_user(arg, a, sizeof(a));\n}\n";
    assert_eq!(sized(text), ["small-copy 3 8"]);
}

#[test]
fn what_cannot_be_sized_is_named() {
    let body = "\tstruct odd o; struct none none;\n\tcopy_to_user(arg, &o, sizeof(o));\n\tcopy_to_user(arg, &none, sizeof(none));\n\tcopy_to_user(arg, &n, NAMESIZ);";
    assert_eq!(
        found("f", body),
        [
            r#"small-copy 2 Unsized("CONFIG_ODD")"#,
            r#"small-copy 3 Unsized("struct none")"#,
            r#"small-copy 4 Unsized("NAMESIZ")"#,
        ]
    );
}

#[test]
fn a_macro_counts_if_the_type_s_file_gives_it_one_value() {
    let body = "\
\tstruct named s; struct unclear u;
\tcopy_from_user(&s, arg, sizeof(s.name));
\tcopy_from_user(&u, arg, sizeof(u));
\tcopy_from_user(&u, arg, NAME_LENGTH);
\tcopy_from_user(&u, arg, PERHAPS);
\tcopy_from_user(&u, arg, LOOP);
\tcopy_from_user(&u, arg, 010);";
    assert_eq!(
        found("f", body),
        [
            "small-copy 2 12",
            r#"small-copy 3 Unsized("which definition of TWICE is meant, such as include/uapi/x.h at byte 350")"#,
            // The file of the copy includes the header.
            "small-copy 4 12",
            "small-copy 5 4",
            r#"small-copy 6 Unsized("LOOP")"#,
            "small-copy 7 8",
        ]
    );
}

#[test]
fn fields_are_followed_and_offsets_counted() {
    let body = "\
\tstruct named *s; struct named t[3];
\tcopy_from_user(s, arg, sizeof(s->in.pair));
\tcopy_from_user(s, arg, sizeof(t[n].name));
\tcopy_from_user(s, arg, offsetof(struct named, deep));
\tcopy_from_user(s, arg, offsetofend(struct named, in.pair));
\tcopy_from_user(s, arg, offsetofend(struct named, deep.c));
\tcopy_from_user(s, arg, offsetof(struct small, d));
\tcopy_from_user(s, arg, offsetof(struct small, none));
\tcopy_from_user(s, arg, sizeof(struct open));";
    assert_eq!(
        found("f", body),
        [
            "small-copy 2 8",
            "small-copy 3 12",
            "small-copy 4 24",
            "small-copy 5 20",
            "small-copy 6 46",
            "small-copy 7 16",
            r#"small-copy 8 Unsized("the member none of struct small")"#,
            "small-copy 9 8",
        ]
    );
}

#[test]
fn a_name_means_the_nearest_declaration_that_can_be_seen() {
    let body = "\
\tu64 x;
\twhile (n) {
\t\tstruct local x = *p;
\t\tcopy_to_user(arg, &x, sizeof(x));
\t}
\tcopy_to_user(arg, &x, sizeof(x));
\tf(n * x);
\tcopy_to_user(arg, &x, sizeof(x));
\t{ u8 n; copy_to_user(arg, &n, sizeof(n)); }
\tcopy_to_user(arg, &n, sizeof(n));";
    assert_eq!(
        found("f", body),
        [
            "small-copy 4 12",
            "small-copy 6 8",
            "small-copy 8 8",
            "small-copy 9 1",
            "small-copy 10 8",
        ]
    );
}

#[test]
fn a_variable_has_the_size_of_its_last_assignment() {
    let size = |before: &str| {
        let body = format!("\tsize_t m; u64 w;\n{before}\n\tcopy_from_user(k, arg, m);");
        let all = found("my_ioctl", &body);
        all.into_iter()
            .map(|line| {
                line.split_once(' ')
                    .unwrap()
                    .1
                    .split_once(' ')
                    .unwrap()
                    .1
                    .to_owned()
            })
            .collect::<Vec<_>>()
    };
    for (before, expected) in [
        // Fields of the same name are something else.
        ("\tm = sizeof(w);\n\tp->m = n; x.m = n;", "8"),
        ("\tm = n;\n\tm = sizeof(w);", "8"),
        ("\tif (n <= m)\n\t\treturn 1;\n\tm = 12;", "12"),
        // Both branches give it the same.
        ("\tif (n)\n\t\tm = 4;\n\telse\n\t\tm = 4;", "4"),
        ("\tm = 4;\n\tif (n) {\n\t\tf(n);\n\t}", "4"),
        // Any of these may change it in between.
        ("\tm = 4;\n\tif (n)\n\t\tm = n;", "Runtime"),
        ("\tm = 4;\n\tif (n) {\n\t\tm = n;\n\t}", "Runtime"),
        ("\tm = 4;\n\tm += n;", "Runtime"),
        ("\tm = 4;\n\tm++;", "Runtime"),
        ("\tm = 4;\n\tf(&m);", "Runtime"),
        ("\tm = 4;\n\tget_user(m, p);", "Runtime"),
        ("\tgoto in;\n\tm = n;\n\tm = 4;\nin:", "Runtime"),
        ("\tm = 4;\n\tif (n)\n\t\tm = 8;", "Runtime"),
        (
            "#ifdef A\n\tm = 4;\n#else\n\tm = 8;\n#endif",
            r#"Unsized("8")"#,
        ),
    ] {
        assert_eq!(size(before), [expected], "{before}");
    }
    // What the caller gave may still be there.
    let parameter = "\tif (n > 8)\n\t\tn = 8;\n\tcopy_from_user(k, arg, n);";
    assert_eq!(
        found("my_ioctl", parameter),
        ["runtime-size-copy 3 Runtime"]
    );
    let looped = "\tsize_t m = 4;\n\twhile (n) {\n\t\tcopy_from_user(k, arg, m);\n\t\tm = n;\n\t}";
    assert_eq!(found("my_ioctl", looped), ["runtime-size-copy 3 Runtime"]);
    let block = "\tsize_t m;\n\tswitch (n) {\n\tcase 1:\n\t\tm = n;\n\tcase 2: {\n\t\tm = 16;\n\t\tif (copy_from_user(k, arg, m))\n\t\t\treturn 1;\n\t} }";
    assert_eq!(found("my_ioctl", block), ["small-copy 7 16"]);
}

#[test]
fn a_size_of_run_time_counts_on_an_ioctl_path_only() {
    let copy = "\tif (copy_from_user(k, arg, _IOC_SIZE(n)))\n\t\treturn 1;";
    assert_eq!(found("my_ioctl", copy), ["runtime-size-copy 1 Runtime"]);
    assert!(found("my_read", copy).is_empty());
    // All assignments are constants: the compiler knows it.
    let constant = "\tminsz = offsetofend(struct x, y);\n\tcopy_from_user(k, arg, minsz);";
    assert_eq!(
        found("my_ioctl", constant),
        [r#"small-copy 2 Unsized("struct x")"#]
    );
    let varies = constant.replace(";", " + n;");
    let varies = format!("\tminsz = n;\n{varies}");
    assert_eq!(found("my_ioctl", &varies), ["runtime-size-copy 3 Runtime"]);
}

#[test]
fn an_ioctl_path_is_followed_through_the_file() {
    let text =
        b"static int inner(void __user *arg, int n)\n{\n\treturn copy_from_user(k, arg, n);\n}\n\n\
static int outer(void __user *arg, int n)\n{\n\treturn inner(arg, n);\n}\n\n\
static int other(void __user *arg, int n)\n{\n\treturn copy_from_user(k, arg, n);\n}\n\n\
static const struct file_operations fops = {\n\t.unlocked_ioctl = outer,\n\t.read = other,\n};\n";
    let vocabulary = Vocabulary::builtin().unwrap();
    let report = Analyser::new(&vocabulary).unwrap().analyse(text);
    let paths: Vec<_> = report
        .opportunities
        .iter()
        .map(|c| c.path.as_deref())
        .collect();
    assert_eq!(
        paths,
        [
            Some("called by outer(), the table's field .unlocked_ioctl"),
            None
        ]
    );
}

/// A member may have the name of a variable.
#[test]
fn the_size_of_a_member_is_not_that_of_a_variable_of_its_name() {
    let body = "\tstruct small *q; u64 a;\n\tcopy_from_user(q, arg, sizeof(q->a));";
    assert_eq!(found("f", body), ["small-copy 2 1"]);
}

#[test]
fn neighbours_share_an_object_and_nothing_stands_between() {
    let with = |between: &str| {
        let body = format!(
            "\tif (put_user(1, &p->a))\n\t\treturn 1;\n{between}\tif (copy_to_user(&p->b, k, 16))\n\t\treturn 1;"
        );
        found("f", &body)
            .into_iter()
            .filter(|line| line.starts_with("copy-neighbour"))
            .collect::<Vec<_>>()
    };
    assert_eq!(with(""), ["copy-neighbour 1 16"]);
    for between in [
        "\tx = y + 1;\n",
        "\tx = sizeof(y);\n",
        "\tif (unlikely(x))\n\t\treturn (1);\n",
    ] {
        assert_eq!(with(between), ["copy-neighbour 1 16"], "{between}");
    }
    for between in [
        "\tcall(x);\n",
        "\tif (x)\n",
        "again:\n",
        "#else\n",
        "\t}\n\t{\n",
    ] {
        assert!(with(between).is_empty(), "{between}");
    }
    let other = "\tif (put_user(1, &p->a) || copy_to_user(arg, k, 16))\n\t\treturn 1;";
    assert!(
        !found("f", other)
            .iter()
            .any(|line| line.starts_with("copy-n"))
    );
    let returned = "\tif (n)\n\t\treturn put_user(1, &p->a);\n\treturn copy_to_user(&p->b, k, 16);";
    assert!(
        !found("f", returned)
            .iter()
            .any(|line| line.starts_with("copy-n"))
    );
}

#[test]
fn a_window_takes_neighbours_of_its_own_direction_in() {
    let with = |call: &str| {
        let body = format!(
            "\tif (!user_write_access_begin(p, 8))\n\t\treturn 1;\n\tunsafe_put_user(1, &p->a, out);\n\tuser_write_access_end();\n\tif ({call})\n\t\treturn 1;"
        );
        found("f", &body)
    };
    assert_eq!(with("put_user(2, &p->b)"), ["window-neighbour 5 0"]);
    assert!(with("get_user(x, &p->b)").is_empty());
    assert!(with("put_user(2, arg)").is_empty());
}

#[test]
fn heat_follows_names_tables_and_calls() {
    let run = "\treturn put_user(1, &p->a) || put_user(2, &p->b);\n}\n\n";
    let text = format!(
        "static int deep(struct s __user *p)\n{{\n{run}SYSCALL_DEFINE1(thing, struct s __user *, p)\n{{\n\treturn deep(p);\n}}\n\nstatic int cold(struct s __user *p)\n{{\n{run}"
    );
    let vocabulary = Vocabulary::builtin().unwrap();
    let mut analyser = Analyser::new(&vocabulary).unwrap();
    let report = analyser.analyse_file(&TreePath::within("fs/x.c"), text.as_bytes());
    let words: Vec<_> = report
        .functions
        .iter()
        .map(|f| (f.name.as_str(), f.warmth.heat, f.warmth.words.as_str()))
        .collect();
    assert_eq!(
        words,
        [
            ("deep", 3, "system call, called by SYSCALL_DEFINE1(thing)()"),
            ("cold", 1, "no path is known"),
        ]
    );
}

#[test]
fn an_architecture_opens_windows_if_its_own_header_says_so() {
    let vocabulary = Vocabulary::builtin().unwrap();
    assert!(opens_windows(
        b"#define user_access_begin(a,b)\tuser_access_begin(a,b)\n",
        &vocabulary
    ));
    assert!(!opens_windows(
        b"#define put_user(x, p) user_access_begin(p, 1)\n",
        &vocabulary
    ));
}
