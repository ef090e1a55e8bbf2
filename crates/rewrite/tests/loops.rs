//! Loops with one access in each round: the window around them, or the reason why there
//! is none.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use tollgate_rewrite::Request;

#[path = "fixing/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod fixing;

use fixing::fix_in;

fn file(body: &str) -> String {
    format!(
        "#include <linux/uaccess.h>\n\n#define MOST 16\n\nstruct s {{\n\tunsigned int a;\n\tunsigned short all[MOST];\n}};\n\n\
         int f(struct s __user *p, unsigned int __user *u, struct s *k, int c, unsigned int n)\n{{\n\tunsigned int i, v;\n\tint err;\n\n{body}}}\n"
    )
}

const REFUSED: &[(&str, &str)] = &[
    (
        "no bound",
        "\tfor (i = 0; i < n; i++)\n\t\tif (put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "a bound that is changed",
        "\tif (n > 8)\n\t\treturn -EINVAL;\n\tn += c;\n\tfor (i = 0; i < n; i++)\n\t\tif (put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "a bound that is jumped around",
        "\tif (c)\n\t\tgoto in;\n\tif (n > 8)\n\t\treturn -EINVAL;\nin:\n\tfor (i = 0; i < n; i++)\n\t\tif (put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "a bound that only warns",
        "\tif (n > 8)\n\t\tk->a = 1;\n\tfor (i = 0; i < n; i++)\n\t\tif (put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "a limit in memory",
        "\tfor (i = 0; i < k->a; i++)\n\t\tif (put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "a limit that each round sets",
        "\tif (n > 8)\n\t\treturn -EINVAL;\n\tfor (i = 0; i < n; i++) {\n\t\tif (put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\t\tn--;\n\t}\n\treturn 0;\n",
    ),
    (
        "as many as an array of arrays has",
        "\tunsigned int all[4][2];\n\n\tgather(all);\n\tfor (i = 0; i < ARRAY_SIZE(all); i++)\n\t\tif (put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "a long one",
        "\tfor (i = 0; i < 1025; i++)\n\t\tif (put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "a call",
        "\tfor (i = 0; i < 4; i++) {\n\t\tif (put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\t\tschedule();\n\t}\n\treturn 0;\n",
    ),
    (
        "a call in an argument",
        "\tfor (i = 0; i < 4; i++)\n\t\tif (put_user(next(k), &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "a way out that is no fault's",
        "\tfor (i = 0; i < 4; i++) {\n\t\tif (get_user(v, &u[i]))\n\t\t\treturn -EFAULT;\n\t\tif (v)\n\t\t\tbreak;\n\t}\n\treturn 0;\n",
    ),
    (
        "some rounds only",
        "\tfor (i = 0; i < 4; i++) {\n\t\tif (i == c)\n\t\t\tif (put_user(c, &u[i]))\n\t\t\t\treturn -EFAULT;\n\t}\n\treturn 0;\n",
    ),
    (
        "only if asked",
        "\tfor (i = 0; i < 4; i++)\n\t\tif (u && put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "a jump of two",
        "\tfor (i = 0; i < 8; i += 2)\n\t\tif (put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "two steps",
        "\tfor (i = 0; i < 8; i++) {\n\t\tif (put_user(c, u++))\n\t\t\treturn -EFAULT;\n\t\tu++;\n\t}\n\treturn 0;\n",
    ),
    (
        "another way to walk",
        "\tfor (i = 0; i < 8; i++)\n\t\tif (put_user(c, &u[8 - i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "an index that is checked",
        "\tfor (i = 0; i < 4; i++)\n\t\tif (put_user(c, &p->all[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "going on",
        "\terr = 0;\n\tfor (i = 0; i < 4; i++)\n\t\terr |= put_user(c, &u[i]);\n\treturn err;\n",
    ),
    (
        "looked at later",
        "\tfor (i = 0; i < 4; i++)\n\t\tif (get_user(k->a, &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "a directive",
        "\tfor (i = 0; i < 4; i++) {\n#ifdef CONFIG_A\n\t\tc++;\n#endif\n\t\tif (put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\t}\n\treturn 0;\n",
    ),
    (
        "while",
        "\twhile (n--)\n\t\tif (put_user(c, u++))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "a pointer in memory",
        "\tstruct { unsigned int __user *u; } *q = (void *)k;\n\n\tfor (i = 0; i < 4; i++)\n\t\tif (put_user(c, q->u + i))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
];

/// What the function becomes, or why it stays.
fn fixed(body: &str, request: &Request) -> String {
    match fix_in(&file(body), "f", request) {
        Ok(patched) => {
            let text = String::from_utf8(patched.rewritten).unwrap();
            let (_, own) = text.split_once("int err;\n\n").unwrap();
            let notes = patched
                .refused
                .iter()
                .map(|note| format!("{}: {}\n", note.line, note.reason));
            own.to_owned() + &notes.collect::<String>()
        }
        Err(error) => format!("{error}\n"),
    }
}

fn all(bodies: &[(&str, &str)]) -> String {
    let one =
        |(name, body): &(&str, &str)| format!("== {name}\n{}", fixed(body, &Request::default()));
    bodies.iter().map(one).collect()
}

#[test]
fn a_loop_whose_range_is_known_has_one_window() {
    let bodies = [
        (
            "element",
            "\tfor (i = 0; i < MOST; i++)\n\t\tif (put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
        ),
        (
            "braces of one statement",
            "\tfor (i = 2; i < MOST; i++) {\n\t\tif (put_user(c, u + i))\n\t\t\treturn -EFAULT;\n\t}\n\treturn 0;\n",
        ),
        (
            "a comment keeps its braces",
            "\tfor (i = 0; i < 4; i++) {\n\t\t/* each */\n\t\tif (put_user(c, u + i))\n\t\t\treturn -EFAULT;\n\t}\n\treturn 0;\n",
        ),
        (
            "a pointer that the head moves on",
            "\tfor (i = 0; i < 4; i++, u++) {\n\t\tif (get_user(v, u))\n\t\t\treturn -EFAULT;\n\t\tk->a += v;\n\t}\n\treturn 0;\n",
        ),
        (
            "a tested count",
            "\tif (n == 0 || n > MOST)\n\t\treturn -EINVAL;\n\n\tfor (i = 0; i < n; i++)\n\t\tif (put_user(c, &u[i]))\n\t\t\tgoto out;\n\treturn 0;\nout:\n\treturn -EIO;\n",
        ),
        (
            "none, where there may be none",
            "\tif (c > 8)\n\t\treturn -EINVAL;\n\n\tfor (int j = 0; j < c; j++)\n\t\tif (put_user(j, u + j))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
        ),
        (
            "not equal",
            "\tif (n >= 8)\n\t\treturn -EINVAL;\n\n\tfor (i = 0; i != n; i++)\n\t\tif (put_user(c, u + i))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
        ),
        (
            "in another loop",
            "\twhile (c--)\n\t\tfor (i = 0; i < 4; i++)\n\t\t\tif (put_user(c, u + i))\n\t\t\t\treturn -EFAULT;\n\treturn 0;\n",
        ),
        (
            "a break",
            "\terr = 0;\n\tfor (i = 0; i < 4; i++) {\n\t\terr = put_user(c, u + i);\n\t\tif (err)\n\t\t\tbreak;\n\t}\n\treturn err;\n",
        ),
        (
            "a call that computes",
            "\tif (n > 8 || !n)\n\t\treturn -EINVAL;\n\tfor (i = 0; i < n; i++) {\n\t\tif (get_user(v, u))\n\t\t\treturn -EFAULT;\n\t\tk->p = compat_ptr(v);\n\t\tu++;\n\t}\n\treturn 0;\n",
        ),
        (
            "as many as an array of the function has",
            "\tunsigned int all[4];\n\n\tgather(all);\n\tfor (i = 0; i < ARRAY_SIZE(all); i++)\n\t\tif (put_user(c, &u[i]))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
        ),
        (
            "beside a run",
            "\tif (put_user(1, u) || put_user(2, u + 1))\n\t\treturn -EFAULT;\n\tfor (i = 0; i < 4; i++)\n\t\tif (put_user(c, u + i))\n\t\t\treturn -EFAULT;\n\treturn 0;\n",
        ),
    ];
    insta::assert_snapshot!(all(&bodies));
}

#[test]
fn a_loop_whose_range_is_not_known_is_refused_with_the_reason() {
    insta::assert_snapshot!(all(REFUSED));
}

/// A run right before a loop is none of its rounds.
#[test]
fn a_run_before_a_loop_is_in_no_loop() {
    let text = fixing::file(
        "\tint i;\n\n\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\tfor (i = 0; i < c; i++)\n\t\tk->a += i;\n\treturn 0;\n",
    );
    let patched = fix_in(&text, "f", &Request::default()).unwrap();
    assert!(!patched.body.contains("in each round"), "{}", patched.body);
}

#[test]
fn the_message_says_how_many_rounds_there_are() {
    let said = |limit: &str| {
        let body = format!(
            "\tif (n > 8)\n\t\treturn -EINVAL;\n\tfor (i = 0; i < {limit}; i++)\n\t\tif (put_user(c, u + i))\n\t\t\treturn -EFAULT;\n\treturn 0;\n"
        );
        let patched = fix_in(&file(&body), "f", &Request::default()).unwrap();
        (
            patched.body.replace('\n', " "),
            patched.windows_before,
            patched.windows_after,
        )
    };
    let (body, before, after) = said("MOST");
    assert!(
        body.contains("1 window around a loop instead of 16 when"),
        "{body}"
    );
    assert_eq!((before, after), (16, 1));
    let (body, before, after) = said("n");
    assert!(
        body.contains("1 window around a loop instead of up to 8 when"),
        "{body}"
    );
    assert_eq!((before, after), (8, 1));
}
