//! Loops that copy an array element by element: one copy of all, or the reason why not.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "other tests use the rest")]
mod fixing;

use fixing::{fix_by, reason_of};
use tollgate_rewrite::{FixError, Patched, Reason, Request, Style};

const HEADER: &str = "unsigned long copy_from_user(void *to, const void __user *from, unsigned long n);\n\
                      unsigned long copy_to_user(void __user *to, const void *from, unsigned long n);\n";

fn file(body: &str) -> String {
    format!(
        "#include <linux/uaccess.h>\n\n#define MOST 16\n\nstruct s {{\n\tunsigned int a;\n\tunsigned short all[MOST];\n\tunsigned char bytes[MOST];\n}};\n\n\
         struct k {{\n\tunsigned int words[MOST];\n\tunsigned short halves[MOST];\n\tunsigned char bytes[MOST];\n\t_Bool truths[MOST];\n}};\n\n\
         int f(struct s __user *p, unsigned int __user *u, struct k *k, unsigned int *v, int c, unsigned int n)\n{{\n\
         \tunsigned int i;\n\tunsigned int own[MOST];\n\tlong err = 0;\n\n{body}}}\n"
    )
}

fn request() -> Request {
    Request {
        style: Style::StructCopy,
        ..Request::default()
    }
}

fn fixed(body: &str, request: &Request) -> Result<Patched, FixError> {
    fix_by(HEADER, &file(body), "f", request)
}

/// The line with the copy, without blanks around it.
fn copy(body: &str) -> Option<String> {
    let patched = fixed(body, &request()).ok()?;
    let text = String::from_utf8(patched.rewritten).unwrap();
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = one_line.rfind("if (")?;
    Some(one_line.get(at..)?.replace(" return 0; }", ""))
}

fn reason(body: &str) -> Option<Reason> {
    reason_of(fixed(body, &request()))
}

fn round(head: &str, access: &str) -> String {
    format!("\tfor ({head})\n\t\tif ({access})\n\t\t\treturn -EFAULT;\n\treturn 0;\n")
}

const ALL: &str = "i = 0; i < MOST; i++";

#[test]
fn elements_are_copied_at_once() {
    for (head, access, expected) in [
        (
            ALL,
            "put_user(k->words[i], &u[i])",
            "if (copy_to_user(u, k->words, MOST * sizeof(*u))) return -EFAULT;",
        ),
        (
            ALL,
            "put_user(k->halves[i], &p->all[i])",
            "if (copy_to_user(p->all, k->halves, MOST * sizeof(*p->all))) return -EFAULT;",
        ),
        (
            ALL,
            "__get_user(own[i], u + i)",
            "if (__copy_from_user(own, u, MOST * sizeof(*u))) return -EFAULT;",
        ),
        (
            ALL,
            "put_user(k->bytes[i], &p->bytes[i])",
            "if (copy_to_user(p->bytes, k->bytes, MOST * sizeof(*p->bytes))) return -EFAULT;",
        ),
        (
            "i = 2; i < 8; i++",
            "put_user(v[i], &u[i])",
            "if (copy_to_user(&u[2], &v[2], 6 * sizeof(*u))) return -EFAULT;",
        ),
    ] {
        let said = copy(&round(head, access));
        assert_eq!(said.as_deref(), Some(expected), "{access}");
    }
    let bounded = "\tif (n > MOST)\n\t\treturn -EINVAL;\n".to_owned();
    let said = copy(&(bounded + &round("i = 0; i < n; i++", "put_user(v[i], &u[i])")));
    let expected = "if (copy_to_user(u, v, n * sizeof(*u))) return -EFAULT;";
    assert_eq!(said.as_deref(), Some(expected));
}

#[test]
fn what_is_no_copy_of_elements_is_refused_with_its_reason() {
    for access in [
        // Bytes of another size, a truth, another value than the element, or another element.
        "put_user(k->halves[i], &u[i])",
        "put_user(k->truths[i], &p->bytes[i])",
        "put_user(k->words[i] + 1, &u[i])",
        "put_user(c, &u[i])",
        "put_user(v[i + 1], &u[i])",
        "put_user(v[0], &u[i])",
        "put_user(v[i], &p->a)",
        "put_user(next(v)[i], &u[i])",
    ] {
        assert!(copy(&round(ALL, access)).is_none(), "{access}");
    }
    let one = round(ALL, "put_user(v[i], &u[i])");
    let more = one.replace("return -EFAULT;\n", "return -EFAULT;\n\t\tc++;\n\t}\n");
    let more = more.replace("i++)\n", "i++) {\n");
    assert_eq!(reason(&more), Some(Reason::Elements));
    let counted = one.replace("return 0;", "return i;");
    assert_eq!(reason(&counted), Some(Reason::Counted("i".to_owned())));
    assert!(copy(&round("i = 0; i < n; i++", "put_user(v[i], &u[i])")).is_none());
    let commented = one.replace("i++)\n", "i++) /* all of them */\n");
    assert_eq!(reason(&commented), Some(Reason::Comment));
    let disabled = "\tpagefault_disable();\n".to_owned() + &one;
    assert_eq!(reason(&disabled), Some(Reason::FaultsDisabled));
    assert!(copy(&one.replace("&u[i])", "&u[i]) || v++ == own")).is_none());
    let otherwise =
        "\tif (c)\n".to_owned() + &one.replace("\treturn 0;", "\telse\n\t\tc = 1;\n\treturn 0;");
    assert!(copy(&otherwise).is_none(), "{otherwise}");
}

/// Each access was tried, whatever faulted before.
#[test]
fn a_copy_that_stops_at_the_first_fault_takes_the_flag() {
    let body =
        "\tfor (i = 0; i < MOST; i++)\n\t\terr |= __put_user(own[i], u + i);\n\treturn err;\n";
    assert_eq!(reason(body), Some(Reason::GoesOn));
    let stopping = Request {
        stop_at_first_fault: true,
        ..request()
    };
    let patched = fixed(body, &stopping).unwrap();
    insta::assert_snapshot!(patched.body);
    let text = String::from_utf8(patched.rewritten).unwrap();
    let expected =
        "\tif (__copy_to_user(u, own, MOST * sizeof(*u)))\n\t\terr = -EFAULT;\n\treturn err;\n";
    assert!(text.contains(expected), "{text}");
    // What it fills behind the fault is others' to look at.
    let reads = body.replace("put_user(own[i]", "get_user(k->words[i]");
    assert!(fixed(&reads, &stopping).is_err());
    assert_eq!(reason(&reads), Some(Reason::GoesOnReading));
    // No flag is promised that would not help, and one that would comes before another refusal.
    let other = body.replace("own[i]", "own[i + 1]");
    let besides = Reason::GoesOnAnd(Box::new(Reason::Elements));
    assert_eq!(reason(&other), Some(besides));
    let more =
        "\tif (put_user(next(k), &p->a) || put_user(next(k), &p->all[0]))\n\t\treturn -EFAULT;\n"
            .to_owned()
            + body;
    assert_eq!(reason(&more), Some(Reason::GoesOn));
}
