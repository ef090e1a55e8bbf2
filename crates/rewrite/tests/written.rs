//! What was written before a copy to members that the copy would make zero.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::io;

use tollgate_rewrite::{FixError, Request, Style, UACCESS, fix};
use tollgate_source::TreePath;

const HEADER: &str = "\
unsigned long copy_from_user(void *to, const void __user *from, unsigned long n);
unsigned long copy_to_user(void __user *to, const void *from, unsigned long n);
#define user_access_begin(ptr,len) access_ok(ptr, len)
#define user_access_end() do { } while (0)
";

const TYPES: &str = "\
#include <linux/uaccess.h>

struct part { u32 x; u32 y; };
struct s { u32 a; u32 b; struct part in; char name[16]; u32 last; };
struct other { struct s one; struct s two; };
struct k { u32 a; u32 b; char name[16]; struct s __user *to; int count; };
";

/// The run that becomes a copy.
const RUN: &str = "\tif (put_user(k->a, &p->a) || put_user(k->b, &p->b))\n\t\treturn -EFAULT;\n";

fn answer(text: &str) -> Result<String, FixError> {
    let tree = |path: &TreePath| match &*path.lossy() {
        UACCESS => Ok(HEADER.as_bytes().to_vec()),
        "f.c" => Ok(text.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let request = Request {
        style: Style::StructCopy,
        touch_all_members: true,
        ..Request::default()
    };
    fix(&tree, &"f.c:f".parse().unwrap(), &request).map(|patched| patched.subject)
}

/// What comes of f(), which has those parameters and does that before the run.
fn behind(parameters: &str, before: &str) -> Result<String, FixError> {
    answer(&format!(
        "{TYPES}\nstatic int f({parameters})\n{{\n{before}{RUN}\treturn 0;\n}}\n"
    ))
}

const P: &str = "struct s __user *p, struct k *k";

/// Whether it is refused for what is called there.
fn names(answer: Result<String, FixError>, call: &str) -> bool {
    let said = answer.unwrap_err().to_string();
    let own = format!("{call}() of line ");
    assert!(
        said.contains(&own) && said.contains("may have written to *p"),
        "{said}"
    );
    true
}

#[test]
fn a_copy_of_the_whole_before_is_not_wiped() {
    let whole = [
        "\tif (copy_to_user(p, k, sizeof(*p)))\n\t\treturn -EFAULT;\n",
        "\tif (copy_to_user((void __user *)p, k, sizeof(*k)))\n\t\treturn -EFAULT;\n",
        "\tif (copy_to_user(p->name, k->name, sizeof(k->name)))\n\t\treturn -EFAULT;\n",
        "\tif (copy_to_user(&p->in, &k->a, sizeof(p->in)))\n\t\treturn -EFAULT;\n",
        "\tif (copy_to_user(&p->a, &k->a, k->count))\n\t\treturn -EFAULT;\n",
        "\tif (copy_to_user((char __user *)p + 8, k->name, 16))\n\t\treturn -EFAULT;\n",
        "\tif (__copy_to_user(&p[0], k, sizeof(*p)))\n\t\treturn -EFAULT;\n",
    ];
    for before in whole {
        let call = if before.contains("__copy") {
            "__copy_to_user"
        } else {
            "copy_to_user"
        };
        assert!(names(behind(P, before), call), "{before}");
    }
    let one = "\tif (put_user(k->count, &p->last))\n\t\treturn -EFAULT;\n\tnote(k);\n";
    assert!(names(behind(P, one), "put_user"));
    let cast = "\tif (put_user(0ull, (u64 __user *)&p->b))\n\t\treturn -EFAULT;\n\tnote(k);\n";
    assert!(names(behind(P, cast), "put_user"));
}

#[test]
fn what_a_copy_writes_anyway_or_lies_apart_is_no_matter() {
    let apart = [
        "",
        "\tif (put_user(0, &p->a))\n\t\treturn -EFAULT;\n\tnote(k);\n",
        "\tif (copy_to_user(&p->a, &k->a, sizeof(p->a)))\n\t\treturn -EFAULT;\n",
        "\tif (copy_from_user(k, p, sizeof(*k)))\n\t\treturn -EFAULT;\n",
        "\tif (clear_user(p, sizeof(*p)))\n\t\treturn -EFAULT;\n",
        "\tif (!access_ok(p, sizeof(*p)))\n\t\treturn -EFAULT;\n\tnote(k->name);\n",
        "\tif (copy_to_user(k->to, k, sizeof(*k)))\n\t\treturn -EFAULT;\n",
        "\tif (k->count)\n\t\treturn copy_to_user(p, k, sizeof(*p)) ? -EFAULT : 0;\n",
    ];
    for before in apart {
        assert!(
            behind(P, before).is_ok(),
            "{before}: {:?}",
            behind(P, before)
        );
    }
}

#[test]
fn an_address_is_followed_to_where_it_comes_from() {
    let argument = "unsigned long arg, struct k *k";
    let made = "\tstruct s __user *p = (struct s __user *)arg;\n\n";
    let written = "\tif (copy_to_user((void __user *)arg, k, sizeof(*k)))\n\t\treturn -EFAULT;\n";
    assert!(names(
        behind(argument, &format!("{made}{written}")),
        "copy_to_user"
    ));
    let other = "\tvoid __user *q = compat_ptr(arg);\n\tstruct s __user *p = q;\n\n\tfill(q);\n";
    assert!(names(behind(argument, other), "fill"));
    // Another member of the same object is another place, the same one is not.
    let whole = "struct other __user *o, struct k *k";
    let two = "\tstruct s __user *p = &o->one;\n\n\tif (copy_to_user(&o->two, k, sizeof(o->two)))\n\t\treturn -EFAULT;\n";
    assert!(behind(whole, two).is_ok());
    assert!(names(
        behind(whole, &two.replace("o->two", "o->one")),
        "copy_to_user"
    ));
    // What holds the pointer leads there.
    let held = "\tstruct s __user *p = k->to;\n\n\tfill(k);\n";
    assert!(names(behind("struct k *k", held), "fill"));
    assert!(behind("struct k *k", &held.replace("fill(k)", "fill(k->name)")).is_ok());
}

#[test]
fn a_round_writes_where_the_pointer_stood() {
    let moving = |last: &str| {
        let run = RUN.replace('\t', "\t\t").replace("\t\t\t\t", "\t\t\t");
        answer(&format!(
            "{TYPES}\nint f({P}, int n)\n{{\n\tint i;\n\n\tfor (i = 0; i < n; i++{last}) {{\n\t\tnote(k);\n{run}\
             \t\tif (copy_to_user(p->name, k->name, sizeof(p->name)))\n\t\t\treturn -EFAULT;\n\t}}\n\treturn 0;\n}}\n"
        ))
    };
    assert!(moving(", p++").is_ok(), "{:?}", moving(", p++"));
    assert!(names(moving(""), "copy_to_user"));
}

/// A static f() behind its callers.
fn called(caller: &str) -> Result<String, FixError> {
    answer(&format!(
        "{TYPES}\nstatic int f({P})\n{{\n{RUN}\treturn 0;\n}}\n\n{caller}"
    ))
}

#[test]
fn callers_of_a_static_function_may_have_written() {
    let before = "int g(struct s __user *u, struct k *k)\n{\n\tif (copy_to_user(u, k, sizeof(*u)))\n\t\treturn -EFAULT;\n\treturn f(u, k);\n}\n";
    assert!(names(called(before), "copy_to_user"));
    let through = "static int h(struct s __user *q, struct k *k)\n{\n\treturn f(q, k) ?: put_user(1, &q->last);\n}\n\n";
    assert!(names(
        called(&format!(
            "{through}{}",
            before.replace("return f(", "return h(")
        )),
        "copy_to_user"
    ));
    let behind = "int g(struct s __user *u, struct k *k)\n{\n\tif (f(u, k))\n\t\treturn -EFAULT;\n\treturn copy_to_user(u->name, k->name, 16) ? -EFAULT : 0;\n}\n";
    assert!(called(behind).is_ok());
    // A member of the caller's object.
    let member = "int g(struct other __user *o, struct k *k)\n{\n\tif (copy_to_user(&o->two, k, sizeof(o->two)))\n\t\treturn -EFAULT;\n\treturn f(&o->one, k);\n}\n";
    assert!(called(member).is_ok());
    assert!(names(
        called(&member.replace("&o->one", "&o->two")),
        "copy_to_user"
    ));
}

#[test]
fn a_function_of_the_file_is_looked_into() {
    let file = |callee: &str| {
        answer(&format!(
            "{TYPES}\n{callee}\nint f({P})\n{{\n\tif (help(k, p))\n\t\treturn -EFAULT;\n{RUN}\treturn 0;\n}}\n"
        ))
    };
    let reads = "static int help(struct k *k, struct s __user *q)\n{\n\treturn get_user(k->a, &q->last) ? -EFAULT : 0;\n}\n";
    assert!(file(reads).is_ok(), "{:?}", file(reads));
    let writes = reads.replace("get_user", "put_user");
    assert!(names(file(&writes), "help"));
    assert!(file(&writes.replace("&q->last", "&q->b")).is_ok());
    let hands = "static int help(struct k *k, struct s __user *q)\n{\n\treturn get_user(k->a, &q->last) ? -EFAULT : fill(q);\n}\n";
    assert!(names(file(hands), "help"));
}
