//! Faults of which nobody is told.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];
const SWALLOWED: [&str; 1] = ["swallowed-fault"];

/// What is said of a function of these statements, behind some helpers.
fn rules(statements: &str) -> Vec<String> {
    let text = format!(
        "struct req {{ u32 cmd; u32 len; u64 id; }};\n\
         static int put(struct dev *d, u32 __user *to)\n{{\n\tint ret;\n\n\tif (!d->on)\n\t\treturn -ENODEV;\n\tret = put_user(d->v, to);\n\tif (ret)\n\t\treturn ret;\n\treturn 0;\n}}\n\
         static int own(struct dev *d)\n{{\n\treturn copy_to_user(d->user, d->buf, 8) ? -EFAULT : 0;\n}}\n\
         static void in(struct req *r, struct req __user *from)\n{{\n\tif (copy_from_user(r, from, sizeof(*r)))\n\t\treturn;\n}}\n\
         long f(struct dev *d, struct req __user *arg, u32 __user *p)\n{{\n\tstruct req r;\n\tint i, ret = 0;\n\n\tif (!d->on)\n\t\treturn -ENODEV;\n{statements}\n}}\n"
    );
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

#[test]
fn a_fault_that_is_answered_by_0_is_swallowed() {
    for wrong in [
        "\tif (copy_to_user(arg, &d->req, sizeof(d->req)))\n\t\treturn 0;\n\treturn 0;",
        "\tif (copy_to_user(arg, &d->req, sizeof(d->req)))\n\t\tdev_dbg(d->dev, \"not written\\n\");\n\treturn 0;",
        "\tret = -EFAULT;\n\tif (put_user(1, p))\n\t\tgoto out;\n\tret = 0;\n\tif (d->busy)\n\t\tret = -EBUSY;\nout:\n\tret = 0;\n\treturn ret;",
        "\tmutex_lock(&d->lock);\n\tif (put_user(d->v, p) < 0)\n\t\tgoto out;\n\td->done++;\nout:\n\tmutex_unlock(&d->lock);\n\treturn 0;",
        "\tret = put_user(d->v, p);\n\tif (ret < 0)\n\t\tpr_err(\"fault\\n\");\n\treturn 0;",
        "\tif (put(d, p))\n\t\treturn 0;\n\td->done++;\n\treturn 0;",
    ] {
        assert_eq!(rules(wrong), SWALLOWED, "{wrong}");
    }
    for right in [
        "\tif (copy_to_user(arg, &d->req, sizeof(d->req)))\n\t\treturn -EFAULT;\n\treturn 0;",
        // It is told in another way.
        "\tif (put_user(1, p)) {\n\t\tforce_sig(SIGSEGV);\n\t\treturn 0;\n\t}\n\treturn 0;",
        "\tif (put_user(1, p)) {\n\t\tstrscpy(d->state, \"failed\", 8);\n\t\treturn 0;\n\t}\n\treturn 0;",
        "\tif (put_user(1, p)) {\n\t\td->failed = true;\n\t\treturn 0;\n\t}\n\treturn 0;",
        "\tif (put_user(1, p))\n\t\tgoto bad;\n\tif (put_user(2, p + 1))\n\t\tgoto bad;\n\treturn 0;\nbad:\n\tsignal_fault(d);\n\treturn 0;",
        "\tret = put_user(d->v, p);\n\td->state[0] = ret ? -1 : 4;\n\treturn 0;",
        "\tret = put_user(d->v, p);\n\tif (ret)\n\t\td->failed++;\n\treturn 0;",
        "\tfor (i = 0; i < 4; i++)\n\t\tif (put_user(i, p + i))\n\t\t\tbreak;\n\treturn i;",
        "\tif (put(d, p))\n\t\treturn -EFAULT;\n\treturn 0;",
        // What is done where it can be read is all that there is to do.
        "\tif (!get_user(r.len, p))\n\t\td->len = r.len;\n\treturn 0;",
        "\tret = get_user(r.len, p);\n\tif (ret == 0)\n\t\td->len = r.len;\n\treturn 0;",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

#[test]
fn a_fault_that_is_only_logged_is_swallowed() {
    let wrong = "\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\tpr_info(\"copy failed\\n\");\n\tif (r.len > 64)\n\t\treturn -EINVAL;\n\treturn d->ops->set(d, r.len);";
    assert_eq!(rules(wrong), SWALLOWED);
    let left = "\tret = copy_from_user(&r, arg, sizeof(r));\n\tif (ret != 0)\n\t\tpr_info(\"copy failed for %d bytes\\n\", ret);\n\treturn d->ops->set(d, r.len);";
    assert_eq!(rules(left), SWALLOWED);
    let void = "\treturn 0;\n}\nstatic void fetch(struct req *r, struct req __user *from)\n{\n\tif (copy_from_user(r, from, sizeof(*r)))\n\t\tpr_debug(\"not readable\\n\");\n";
    assert_eq!(rules(void), SWALLOWED);
    for right in [
        "\tif (copy_from_user(&r, arg, sizeof(r))) {\n\t\tpr_info(\"copy failed\\n\");\n\t\tr.len = 0;\n\t}\n\treturn d->ops->set(d, r.len);",
        "\tif (copy_from_user(&r, arg, sizeof(r))) {\n\t\tpr_info(\"copy failed\\n\");\n\t\tret = -EFAULT;\n\t\tgoto out;\n\t}\n\tret = d->ops->set(d, r.len);\nout:\n\treturn ret;",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

#[test]
fn an_error_number_that_is_overwritten_is_swallowed() {
    for wrong in [
        "\tif (copy_to_user(arg, &d->req, sizeof(d->req)))\n\t\tret = -EFAULT;\n\tret = d->ops->done(d);\n\treturn ret;",
        "\tret = copy_to_user(arg, &d->req, sizeof(d->req)) ? -EFAULT : 0;\n\treturn 0;",
        "\tfor (i = 0; i < 4; i++)\n\t\tret = put_user(i, p + i);\n\treturn ret;",
        "\tfor (i = 0; i < 4; i++)\n\t\tret = put(d, p + i);\n\treturn ret;",
        "\tput(d, p);\n\treturn 0;",
        "\tret = put(d, p);\n\tret = d->ops->done(d);\n\treturn ret;",
    ] {
        assert_eq!(rules(wrong), SWALLOWED, "{wrong}");
    }
    for right in [
        "\tif (copy_to_user(arg, &d->req, sizeof(d->req)))\n\t\tret = -EFAULT;\n\td->ops->done(d);\n\treturn ret;",
        "\tfor (i = 0; i < 4 && !ret; i++)\n\t\tret = put_user(i, p + i);\n\treturn ret;",
        "\tfor (i = 0; i < 4; i++)\n\t\tret |= put_user(i, p + i);\n\treturn ret;",
        "\tdo {\n\t\tret = put_user(1, p);\n\t\tret |= put_user(2, p + 1);\n\t\tif (ret)\n\t\t\tbreak;\n\t} while (d->again);\n\treturn ret;",
        // What it is given is its own affair.
        "\town(d);\n\treturn 0;",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

#[test]
fn a_loop_that_a_fault_ends_must_not_be_told_as_if_it_had_gone_round() {
    let list = |after: &str, end: &str| {
        rules(&format!(
            "\tunsigned int n = d->count;\n\n\tfor (i = 0; i < n; i++) {{\n\t\tif (put_user(d->id[i], p++))\n\t\t\t{after}\n\t}}\n{end}"
        ))
    };
    assert_eq!(list("break;", "\treturn n;"), SWALLOWED);
    assert_eq!(list("goto out;", "out:\n\treturn n;"), SWALLOWED);
    assert_eq!(list("return -EFAULT;", "\treturn n;"), NONE);
    assert_eq!(list("break;", "\treturn i;"), NONE);
    assert_eq!(
        list("break;", "\tif (i < n)\n\t\treturn -EFAULT;\n\treturn n;"),
        NONE
    );
    assert_eq!(list("break;", "\td->done = i;\n\treturn n;"), SWALLOWED);
    assert_eq!(list("n = i;", "\treturn n;"), NONE);
}

#[test]
fn a_result_is_lost_on_a_way() {
    let of = |statements: &str| {
        let text = format!(
            "int f(struct dev *d, u32 __user *p)\n{{\n\tint err = 0;\n\tu32 v = 0;\n{statements}\n}}\n"
        );
        let found = mistakes::found(None, &text).into_iter();
        found.map(|(rule, _)| rule).collect::<Vec<String>>()
    };
    let right = "\terr |= __put_user(d->a, p);\n\tif (d->x)\n\t\terr |= __put_user(d->b, p + 1);\n\terr |= __put_user(d->c, p + 2);\n\treturn err;";
    assert!(of(right).is_empty(), "{:?}", of(right));
    for wrong in [
        right.replace("\terr |= __put_user(d->b", "\terr = __put_user(d->b"),
        right
            .replace("err |= __put_user(d->a", "err = __put_user(d->a")
            .replace("\terr |= __put_user(d->b", "\terr = __put_user(d->b"),
    ] {
        assert_eq!(of(&wrong), ["swallowed-fault"], "{wrong}");
    }
    for right in [
        // It is asked first, or is an error number as well.
        right.replace("d->x)\n\t\terr |=", "!err)\n\t\terr ="),
        right.replace("err |= __put_user(d->b, p + 1)", "err = -EINVAL"),
        // One case of two comes behind that.
        right.replace(
            "\tif (d->x)\n\t\terr |= __put_user(d->b, p + 1);",
            "\tswitch (d->x) {\n\tcase 1:\n\t\terr = __put_user(d->b, p + 1);\n\t}",
        ),
    ] {
        assert!(of(&right).is_empty(), "{right} {:?}", of(&right));
    }
}

#[test]
fn a_value_is_used_before_its_fault_is_told() {
    let of = |statements: &str| {
        let text = format!(
            "int f(struct dev *d, u32 __user *p)\n{{\n\tint err = 0;\n\tu32 v = 0;\n{statements}\n}}\n"
        );
        let found = mistakes::found(None, &text).into_iter();
        found.map(|(rule, _)| rule).collect::<Vec<String>>()
    };
    for wrong in [
        "\tif (get_user(v, p))\n\t\terr = -EFAULT;\n\twritel(v, d->regs);\n\treturn err;",
        "\tif (get_user(v, p))\n\t\terr = -EFAULT;\n\td->v = v;\n\tif (err)\n\t\tsay(d);\n\treturn err;",
    ] {
        assert_eq!(of(wrong), ["swallowed-fault"], "{wrong}");
    }
    for right in [
        "\tif (get_user(v, p))\n\t\terr = -EFAULT;\n\telse\n\t\twritel(v, d->regs);\n\treturn err;",
        "\tif (get_user(v, p))\n\t\terr = -EFAULT;\n\tif (!err)\n\t\twritel(v, d->regs);\n\treturn err;",
        "\tif (get_user(v, p)) {\n\t\terr = -EFAULT;\n\t\tgoto out;\n\t}\n\twritel(v, d->regs);\nout:\n\treturn err;",
        "\tif (get_user(v, p)) {\n\t\terr = -EFAULT;\n\t\tv = d->most;\n\t}\n\twritel(v, d->regs);\n\treturn err;",
    ] {
        assert!(of(right).is_empty(), "{right} {:?}", of(right));
    }
}
