//! A rewriting that does something else is named, whatever it is that it does.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use tollgate_behaviour::{SETUPS, Setup, Subject, compare};

const HEAD: &str = "#include <linux/uaccess.h>\n\nint f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)\n{\n";

const BEFORE: &str = "	int err = 0;

	if (get_user(k->a, &p->a) || get_user(k->b, &p->b))
		goto out;
	if (o && get_user(*o, &p->in.x))
		return -EIO;
	err = trace(n);
	if (put_user(k->a, &p->w[0]) || put_user(k->b, &p->w[1]))
		return -EFAULT;
out:
	unlock(k);
	return err;
";

/// A right rewriting, in which mistakes are planted.
const AFTER: &str = "	int err = 0;

	k->a = 0;
	if (!user_read_access_begin(p, sizeof(*p)))
		goto out;
	unsafe_get_user(k->a, &p->a, efault);
	k->b = 0;
	unsafe_get_user(k->b, &p->b, efault);
	user_read_access_end();
	if (o && get_user(*o, &p->in.x))
		return -EIO;
	err = trace(n);
	if (!user_write_access_begin(p, sizeof(*p)))
		return -EFAULT;
	unsafe_put_user(k->a, &p->w[0], efault_write);
	unsafe_put_user(k->b, &p->w[1], efault_write);
	user_write_access_end();
out:
	unlock(k);
	return err;
efault:
	user_read_access_end();
	goto out;
efault_write:
	user_write_access_end();
	return -EFAULT;
";

/// What is planted, what it takes the place of, and what is said of it.
const PLANTED: [(&str, &str, &str); 20] = [
    ("", "\tk->b = 0;\n", "other memory of the kernel"),
    (
        "\tif (!user_read_access_begin(p, sizeof(*p)))\n\t\tgoto out;\n\tk->a = 0;\n",
        "\tk->a = 0;\n\tif (!user_read_access_begin(p, sizeof(*p)))\n\t\tgoto out;\n",
        "other memory of the kernel",
    ),
    (
        "\t*o = 0;\n\tif (o &&",
        "\tif (o &&",
        "a fault of the kernel's own",
    ),
    (
        "\tif (o)\n\t\t*o = 0;\n\tif (n && o && get",
        "\tif (o && get",
        "other memory of the kernel",
    ),
    (
        "",
        "\tuser_read_access_end();\n\tif (o",
        "not so: open_kind == CLOSED",
    ),
    (
        "\tuser_write_access_end();\n\tif (o",
        "\tuser_read_access_end();\n\tif (o",
        "not so: open_kind == kind",
    ),
    (
        "\terr = trace(n);\n\tuser_read_access_end();\n\tif (o",
        "\tuser_read_access_end();\n\tif (o",
        "not so: open_kind == CLOSED",
    ),
    (
        "user_read_access_begin(p, sizeof(*p))",
        "user_write_access_begin(p, sizeof(*p))",
        "not so: open_kind == BOTH || open_kind == WRITE",
    ),
    ("", "\terr = trace(n);\n", "other calls"),
    (
        "\ttrace(n);\n\terr = trace(n);\n",
        "\terr = trace(n);\n",
        "other calls",
    ),
    (
        "&p->w[1], efault_write);\n\tunsafe_put_user(k->b, &p->w[1]",
        "&p->w[0], efault_write);\n\tunsafe_put_user(k->b, &p->w[1]",
        "other accesses",
    ),
    (
        "\tunsafe_put_user(k->b, &p->w[1], efault_write);\n\tunsafe_put_user(k->a, &p->w[0], efault_write);\n",
        "\tunsafe_put_user(k->a, &p->w[0], efault_write);\n\tunsafe_put_user(k->b, &p->w[1], efault_write);\n",
        "other accesses",
    ),
    (
        "\tunsafe_get_user(k->b, &p->b, efault);\n\tunsafe_get_user(k->b, &p->b, efault);\n",
        "\tunsafe_get_user(k->b, &p->b, efault);\n",
        "other accesses",
    ),
    (
        "\treturn -EIO;\n}",
        "\treturn -EFAULT;\n}",
        "another result",
    ),
    (
        "\tuser_write_access_end();\n\treturn 0;\n}",
        "\tuser_write_access_end();\n\treturn -EFAULT;\n}",
        "another result",
    ),
    (
        "\treturn err;\nefault",
        "\tgoto out;\nefault",
        "other calls",
    ),
    (
        "\tif (!user_read_access_begin(t, sizeof(*t)))\n",
        "\tif (!user_read_access_begin(p, sizeof(*p)))\n",
        "not so: access_ok(p, n)",
    ),
    (
        "\tif (!user_read_access_begin(p, sizeof(*p)))\n\t\treturn err;\n",
        "\tif (!user_read_access_begin(p, sizeof(*p)))\n\t\tgoto out;\n",
        "other calls",
    ),
    (
        "\tint err = 0, unused;\n",
        "\tint err = 0;\n",
        "the compiler says: warning: unused variable",
    ),
    (
        "efault2);\n\tuser_write",
        "efault_write);\n\tuser_write",
        "the compiler says: error: label",
    ),
];

fn subject(name: &str, after: String) -> Subject {
    let window: Setup = SETUPS[0];
    Subject {
        name: name.to_owned(),
        text: format!("{HEAD}{BEFORE}}}\n"),
        rewritten: vec![(window, after)],
    }
}

#[test]
fn what_is_planted_is_named() {
    let right = format!("{HEAD}{AFTER}}}\n");
    let mut subjects = vec![subject("right", right.clone())];
    for (at, (planted, place, _)) in PLANTED.into_iter().enumerate() {
        // Nothing in the place of something: the first line of it goes.
        let rest = place.split_once('\n').map_or("", |(_, rest)| rest);
        let with = if planted.is_empty() { rest } else { planted };
        assert!(right.contains(place), "{place:?} is not there");
        subjects.push(subject(
            &format!("planted_{at}"),
            right.replacen(place, with, 1),
        ));
    }
    let folder = tempfile::tempdir().unwrap();
    let found = compare(folder.path(), &subjects).unwrap();
    let wrong = |name: &str| found[&(name.to_owned(), "window".to_owned())].wrong.clone();
    assert_eq!(wrong("right"), None);
    let mut missed = Vec::new();
    for (at, (planted, place, said)) in PLANTED.into_iter().enumerate() {
        let wrong = wrong(&format!("planted_{at}"));
        let named = wrong.as_ref().is_some_and(|wrong| wrong.starts_with(said));
        missed.extend((!named).then(|| format!("{planted:?} instead of {place:?}: {wrong:?}")));
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn a_function_that_is_no_c_is_no_rewriting() {
    let mut subject = subject("broken", format!("{HEAD}{AFTER}}}\n"));
    subject.text = format!("{HEAD}\treturn nothing;\n}}\n");
    let folder = tempfile::tempdir().unwrap();
    let error = compare(folder.path(), &[subject]).unwrap_err();
    assert!(
        error.to_string().contains("'nothing' undeclared")
            || error.to_string().contains("‘nothing’ undeclared"),
        "{error}"
    );
}
