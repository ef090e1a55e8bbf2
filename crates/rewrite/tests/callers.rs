//! What get_user() has made zero stays out of a window where no caller can look at it.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use tollgate_rewrite::Request;

#[path = "fixing/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod fixing;

const READS: &str = "\
	if (get_user(to->a, &from->a) || get_user(to->b, &from->b))
		return -EFAULT;
	return 0;
";

const CALLER: &str = "\
long g(struct s __user *u)
{
	struct s x = {0, 0};

	if (f(&x, u))
		return -EFAULT;
	return x.a + x.b;
}
";

/// The function `f`, static, with what calls it behind it.
fn file(callers: &str) -> String {
    let head = fixing::file("").split_once('\n').unwrap().0.to_owned();
    format!(
        "{head}\n\nstatic int f(struct s *to, struct s __user *from)\n{{\n{READS}}}\n\n{callers}"
    )
}

fn zeroes(text: &str) -> bool {
    let patched = fixing::fix_in(text, "f", &Request::default()).unwrap();
    let text = String::from_utf8(patched.rewritten).unwrap();
    assert!(text.contains("user_read_access_begin("), "{text}");
    text.contains("to->a = 0;")
}

#[test]
fn nothing_is_made_zero_for_callers_that_return_at_once() {
    assert!(!zeroes(&file(CALLER)));
    assert!(!zeroes(&file(
        &(CALLER.to_owned() + &CALLER.replace("g(", "h("))
    )));
}

#[test]
fn a_label_that_only_returns_is_a_return() {
    let jumping = READS.replace(
        "return -EFAULT;\n\treturn 0;\n",
        "goto bad;\n\treturn 0;\nbad:\n\treturn -EFAULT;\n",
    );
    let text = file(CALLER).replace(READS, &jumping);
    assert!(!zeroes(&text));
    assert!(zeroes(&text.replace("bad:\n", "bad:\n\tto->b = to->a;\n")));
}

#[test]
fn it_is_made_zero_where_somebody_may_look() {
    let others = [
        ("nobody calls it here", String::new()),
        (
            "the result is not asked",
            CALLER.replace("if (f(&x, u))\n\t\treturn -EFAULT;", "f(&x, u);"),
        ),
        ("it goes on", CALLER.replace("return -EFAULT;", "u = NULL;")),
        (
            "it jumps",
            CALLER
                .replace("return -EFAULT;", "goto out;")
                .replace("\treturn x.a", "out:\n\treturn x.a"),
        ),
        (
            "it is returned",
            CALLER.replace("return -EFAULT;", "return x.a;"),
        ),
        (
            "another has its address",
            CALLER.replace("\tif (f", "\tkeep(&x);\n\tif (f"),
        ),
        (
            "it lasts",
            CALLER.replace("struct s x = {0, 0}", "static struct s x"),
        ),
        (
            "it is somebody else's",
            CALLER
                .replace("struct s x = {0, 0};", "struct s *x = shared;")
                .replace("&x", "x")
                .replace("x.", "x->"),
        ),
        (
            "one of two looks",
            CALLER.to_owned()
                + &CALLER
                    .replace("g(", "h(")
                    .replace("return -EFAULT;", "return x.b;"),
        ),
        (
            "its address is taken",
            CALLER.to_owned() + "int (*hook)(struct s *, struct s __user *) = f;\n",
        ),
        (
            "a macro calls it",
            "#define READ(x) f(x, user)\n".to_owned() + CALLER,
        ),
        (
            "something else is asked, too",
            CALLER.replace("if (f(&x, u))", "if (f(&x, u) && x.a)"),
        ),
    ];
    for (name, callers) in others {
        assert!(zeroes(&file(&callers)), "{name}");
    }
    let open = file(CALLER).replace("static int f", "int f");
    assert!(zeroes(&open), "others may call it");
}
