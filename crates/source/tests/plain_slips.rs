//! Slips that show in a line: an error number in a bool, the size of a number that is an address, a
//! string's length where its 0 goes, a part of a value.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

fn said(text: &str) -> Vec<String> {
    let found = mistakes::found(None, text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// What is said of a function of that type whose copy is followed by those statements.
fn giving(of: &str, statements: &str) -> Vec<String> {
    said(&format!(
        "static {of} take(struct dev *d, void __user *p)\n{{\n\tstruct rule r;\n\tint err = 0;\n\n{statements}\n}}\n"
    ))
}

#[test]
fn an_error_number_is_true() {
    let direct =
        "\tif (copy_from_user(&r, p, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn apply(d, &r);";
    let by_variable = "\tif (copy_from_user(&r, p, sizeof(r)))\n\t\terr = -EFAULT;\n\telse\n\t\tapply(d, &r);\n\treturn err;";
    let chosen = "\treturn copy_from_user(&d->r, p, sizeof(d->r)) ? -EFAULT : 0;";
    for statements in [direct, by_variable, chosen] {
        assert_eq!(
            giving("bool", statements),
            ["misread-result"],
            "{statements}"
        );
        assert_eq!(giving("int", statements), NONE, "{statements}");
    }
    for right in [
        "\tif (copy_from_user(&r, p, sizeof(r)))\n\t\treturn false;\n\treturn apply(d, &r);",
        "\tif (copy_from_user(&r, p, sizeof(r)))\n\t\terr = -EFAULT;\n\telse\n\t\tapply(d, &r);\n\treturn !err;",
        "\tif (copy_from_user(&r, p, sizeof(r)))\n\t\terr = -EFAULT;\n\telse\n\t\tapply(d, &r);\n\treturn err == 0;",
    ] {
        assert_eq!(giving("bool", right), NONE, "{right}");
    }
    // What leads to bools is none.
    let pointer =
        "\tif (copy_from_user(&r, p, sizeof(r)))\n\t\treturn ERR_PTR(-EFAULT);\n\treturn d->flags;";
    assert_eq!(giving("bool *", pointer), NONE);
}

/// What is said of a handler that is given a number for an address.
fn handled(statements: &str) -> Vec<String> {
    said(&format!(
        "struct answer {{\n\t__u32 a, b, c, d;\n}};\n\
         static long handle(struct dev *d, unsigned int cmd, unsigned long arg)\n{{\n\tstruct answer a = {{ 0 }};\n\tunsigned long n = 0;\n\tvoid __user *p = (void __user *)arg;\n\n{statements}\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn the_number_that_is_an_address_has_no_size_of_what_lies_there() {
    for wrong in [
        "\tif (clear_user((void __user *)arg, sizeof(arg)))\n\t\treturn -EFAULT;",
        "\tif (copy_to_user((void __user *)arg, &a, sizeof(arg)))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(&a, (void __user *)arg, sizeof(arg)))\n\t\treturn -EFAULT;\n\tuse(&a);",
    ] {
        assert_eq!(handled(wrong), ["sizeof-pointer"], "{wrong}");
        let right = wrong.replace("sizeof(arg)", "sizeof(a)");
        assert_eq!(handled(&right), NONE, "{right}");
    }
    // As large as what is meant, by luck or not.
    let fits = "\tif (copy_from_user(&n, (void __user *)arg, sizeof(arg)))\n\t\treturn -EFAULT;\n\tuse(n);";
    assert_eq!(handled(fits), NONE);
    let walks = "\tif (copy_from_user(&arg, (void __user *)arg, sizeof(arg)))\n\t\treturn -EFAULT;\n\tuse(arg);";
    assert_eq!(handled(walks), NONE);
}

/// What is said where an array of 16 characters gets its 0 so.
fn ended(statement: &str) -> Vec<String> {
    said(&format!(
        "struct names {{\n\tchar name[16];\n\t__u32 n;\n}};\n\
         static int name(struct dev *d, struct names __user *p, const char *other)\n{{\n\tstruct names own;\n\tsize_t len;\n\n\
         \tif (copy_from_user(&own, p, sizeof(own)))\n\t\treturn -EFAULT;\n{statement}\n\treturn set_name(d, &own);\n}}\n"
    ))
}

#[test]
fn the_length_of_a_string_that_fills_its_room_is_behind_it() {
    for wrong in [
        "\town.name[strnlen(own.name, sizeof(own.name))] = 0;",
        "\town.name[strnlen(other, 16)] = 0;",
        "\tlen = strnlen(other, sizeof(own.name));\n\town.name[len] = 0;",
    ] {
        assert_eq!(ended(wrong), ["beyond-array"], "{wrong}");
    }
    for right in [
        "\town.name[strnlen(own.name, sizeof(own.name) - 1)] = 0;",
        "\town.name[strnlen(other, 15)] = 0;",
        "\town.name[sizeof(own.name) - 1] = 0;",
        "\tlen = strnlen(other, sizeof(own.name));\n\tif (len == sizeof(own.name))\n\t\treturn -EINVAL;\n\town.name[len] = 0;",
    ] {
        assert_eq!(ended(right), NONE, "{right}");
    }
}

/// What is said where a member of 8 bytes is written so.
fn written(call: &str) -> Vec<String> {
    said(&format!(
        "struct regs {{\n\tunsigned long pc;\n\tunsigned int psr;\n}};\n\
         static int show(struct regs *r, unsigned long __user *datap, unsigned long arg)\n{{\n\tif ({call})\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn a_part_of_a_value_leaves_the_rest_of_it_there() {
    assert_eq!(
        written("put_user(r->pc, (u32 __user *)datap)"),
        ["other-layout"]
    );
    assert_eq!(
        written("put_user(r->pc, (unsigned short __user *)datap)"),
        ["other-layout"]
    );
    for right in [
        "put_user(r->pc, datap)",
        "put_user(r->pc, (unsigned long __user *)datap)",
        // That less is meant is said, or the value has no more.
        "put_user((u32)r->pc, (u32 __user *)datap)",
        "put_user(r->psr, (u32 __user *)datap)",
        "put_user(r->pc, (u32 __user *)arg)",
    ] {
        assert_eq!(written(right), NONE, "{right}");
    }
}

/// What is said of a read() that has a buffer of its own and refuses a short read so.
fn read(refuses: &str) -> Vec<String> {
    said(&format!(
        "static ssize_t show(struct file *f, char __user *to, size_t count, loff_t *ppos)\n{{\n\tssize_t ret = 0;\n\tchar *text;\n\tint len;\n\n\
         \tmutex_lock(&table_lock);\n\ttext = kmalloc(128, GFP_KERNEL);\n\tif (!text) {{\n\t\tret = -ENOMEM;\n\t\tgoto unlock;\n\t}}\n\
         \tlen = table_text(text, 128);\n{refuses}\n\tret = simple_read_from_buffer(to, count, ppos, text, len);\nfree:\n\tkfree(text);\nunlock:\n\tmutex_unlock(&table_lock);\n\treturn ret;\n}}\n"
    ))
}

#[test]
fn an_error_that_a_variable_takes_on_the_way_out_is_one() {
    let taken = "\tif (len >= count) {\n\t\tret = -EINVAL;\n\t\tgoto unlock;\n\t}";
    let switched = "\tswitch (len) {\n\tcase 0:\n\t\tret = -ENODATA;\n\t\tbreak;\n\tdefault:\n\t\tret = 0;\n\t}\n\tif (ret)\n\t\tgoto unlock;";
    let reported = "\tif (len >= count) {\n\t\tret = -EINVAL;\n\t\tpr_warn(\"short\\n\");\n\t\tgoto unlock;\n\t}";
    for wrong in [taken, switched, reported] {
        assert_eq!(read(wrong), ["kept-memory"], "{wrong}");
        let right = wrong.replace("goto unlock", "goto free");
        assert_eq!(read(&right), NONE, "{right}");
    }
    // What is given on is another's.
    let given =
        "\tif (len >= count) {\n\t\tret = -EINVAL;\n\t\tkeep_text(f, text);\n\t\tgoto unlock;\n\t}";
    assert_eq!(read(given), NONE);
    // A number of the caller's is no error.
    let count = "\tif (len == 7) {\n\t\tret = count;\n\t\tgoto unlock;\n\t}";
    assert_eq!(read(count), NONE);
}

/// What is said where a limit of the user's is taken so.
fn limited(statements: &str) -> Vec<String> {
    said(&format!(
        "static int limit;\n\
         static int set_limit(struct dev *d, int __user *p)\n{{\n\tint v, other, ret;\n\n{statements}\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn what_a_fault_left_is_used_before_the_fault_is_told() {
    let store = |what: &str| {
        format!("\tret = get_user(v, p);\n\t{what}\n\tif (ret)\n\t\treturn ret;\n\td->on = v;")
    };
    for what in [
        "limit = v;",
        "d->limit = v;",
        "if (d->on)\n\t\tlimit = v;",
        "set_timer(d, v);",
    ] {
        let wrong = store(what);
        assert_eq!(limited(&wrong), ["swallowed-fault"], "{wrong}");
    }
    for what in [
        "other = v;",
        "v = 0;",
        "limit = 4;",
        "if (ret < 0)\n\t\treturn ret;\n\tlimit = v;",
    ] {
        let right = store(what);
        assert_eq!(limited(&right), NONE, "{right}");
    }
    let both = "\tret = get_user(v, p);\n\tret |= get_user(other, p + 1);\n\tlimit = v;\n\tif (ret)\n\t\treturn -EFAULT;\n\td->on = other;";
    assert_eq!(limited(both), NONE);
}

#[test]
fn what_has_another_name_may_be_given_back_by_that() {
    let shared = |other: &str| {
        said(&format!(
            "static int send(struct dev *d, void __user *p, size_t n)\n{{\n\tvoid *data = kmalloc(n, GFP_KERNEL);\n\tstruct req *r = {other};\n\tint ret;\n\n\
             \tret = -EFAULT;\n\tif (copy_from_user(data, p, n))\n\t\tgoto done;\n\tif (d->off) {{\n\t\tret = -EINVAL;\n\t\tgoto done;\n\t}}\n\
             \tret = unpack(&data, d);\n\tkfree(data);\n\treturn ret;\ndone:\n\tkfree(r);\n\treturn ret;\n}}\n"
        ))
    };
    assert_eq!(shared("data"), NONE);
    assert_eq!(shared("d->req"), ["kept-memory"]);
}
