//! What is fetched twice, in vain, or by hand.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];
const TWICE: [&str; 1] = ["double-fetch"];

/// What is said of a text, behind a structure.
fn rules(text: &str) -> Vec<String> {
    let text = format!("struct req {{ u32 size; u32 kind; char data[]; }};\nstruct dev;\n{text}");
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

#[test]
fn a_header_that_is_fetched_again_goes_to_the_caller() {
    let dup = |end: &str| {
        rules(&format!(
            "struct req *get(struct req __user *in)\n{{\n\tstruct req tmp, *res;\n\n\tif (copy_from_user(&tmp, in, sizeof(tmp)))\n\t\treturn ERR_PTR(-EFAULT);\n\tif (tmp.size < sizeof(tmp) || tmp.size > 4096)\n\t\treturn ERR_PTR(-EINVAL);\n\tres = memdup_user(in, tmp.size);\n{end}\treturn res;\n}}\n"
        ))
    };
    assert_eq!(dup(""), TWICE);
    assert_eq!(
        dup("\tif (!IS_ERR(res))\n\t\tres->size = tmp.size;\n"),
        NONE
    );
    let given = |end: &str| {
        rules(&format!(
            "int get(struct req *to, struct req __user *in)\n{{\n\tu32 size;\n\n\tif (get_user(size, &in->size))\n\t\treturn -EFAULT;\n\tif (size < sizeof(*to) || size > 4096)\n\t\treturn -EINVAL;\n\tif (copy_from_user(to, in, size))\n\t\treturn -EFAULT;\n{end}\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(given(""), TWICE);
    assert_eq!(given("\tto->size = size;\n"), NONE);
    assert_eq!(
        given("\tif (to->size != size)\n\t\treturn -EINVAL;\n"),
        NONE
    );
    let by_pointer = "int get(struct req **to, struct req __user *in)\n{\n\tu32 size;\n\n\tif (get_user(size, &in->size))\n\t\treturn -EFAULT;\n\tif (size > 4096)\n\t\treturn -EINVAL;\n\tif (copy_from_user(*to, in, size))\n\t\treturn -EFAULT;\n\treturn (*to)->size;\n}\n";
    assert_eq!(rules(by_pointer), TWICE);
    // A part of what a parameter points to is filled, where no other can know the size.
    let member = "int set(struct dev *d, struct req __user *in)\n{\n\tstruct req r;\n\n\tif (copy_from_user(&r, in, sizeof(r)))\n\t\treturn -EFAULT;\n\tif (r.size > 64)\n\t\treturn -EINVAL;\n\tif (copy_from_user(&d->params, in, r.size))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
    assert_eq!(rules(member), NONE);
}

#[test]
fn what_was_checked_is_not_what_lies_over_it() {
    let whole = |second: &str| {
        rules(&format!(
            "int run(struct dev *d, void __user *in)\n{{\n\tstruct req *r = d->req;\n\n\tif (copy_from_user(r, in, sizeof(*r)))\n\t\treturn -EFAULT;\n\tif (r->kind != 0)\n\t\treturn -EINVAL;\n{second}\treturn d->run(d, r);\n}}\n"
        ))
    };
    assert_eq!(
        whole("\tif (copy_from_user(r, in, 4096))\n\t\treturn -EFAULT;\n"),
        TWICE
    );
    assert_eq!(
        whole("\tif (copy_from_user(r->data, in + sizeof(*r), 64))\n\t\treturn -EFAULT;\n"),
        NONE
    );
}

#[test]
fn a_copy_over_what_was_set_goes_the_wrong_way() {
    let get = |body: &str| {
        rules(&format!(
            "long get(struct dev *d, struct req __user *p)\n{{\n\tstruct req r;\n\n{body}\n}}\n"
        ))
    };
    for wrong in [
        "\tr = d->r;\n\tif (copy_from_user(&r, p, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tr.size = d->size;\n\tr.kind = d->kind;\n\tif (copy_from_user(&r, p, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn 0;",
    ] {
        assert_eq!(get(wrong), ["unread-copy"], "{wrong}");
    }
    for right in [
        "\tr = d->r;\n\tif (copy_to_user(p, &r, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tr = d->r;\n\tif (copy_from_user(&r, p, sizeof(r)))\n\t\treturn -EFAULT;\n\td->r = r;\n\treturn 0;",
        // Only to see that it can be read.
        "\tif (copy_from_user(&r, p, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn d->reset(d);",
        "\tstruct req *own = &r;\n\n\tr = d->r;\n\tif (copy_from_user(&r, p, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn d->run(own);",
    ] {
        assert_eq!(get(right), NONE, "{right}");
    }
}

/// What computes with values alone loads them.
#[test]
fn a_macro_that_takes_a_value_loads_it() {
    let get = |value: &str| {
        rules(&format!(
            "int get(struct req __user *p, u32 __user *q)\n{{\n\tu32 v = {value};\n\n\treturn v + 1;\n}}\n"
        ))
    };
    for wrong in ["READ_ONCE(p->size)", "le32_to_cpu(*q)", "min(p->size, 8U)"] {
        assert_eq!(get(wrong), ["user-pointer-dereferenced"], "{wrong}");
    }
    for right in ["ARRAY_SIZE(p->data)", "access_of(p->size)"] {
        assert_eq!(get(right), NONE, "{right}");
    }
}

#[test]
fn what_is_fetched_from_a_front_on_is_fetched_again_with_it() {
    let by = |second: &str| {
        rules(&format!(
            "int get(struct req __user *in, struct req *own, struct req **out)\n{{\n\tstruct req *all;\n\n\tif (copy_from_user((char *)own + sizeof(own->kind), (char __user *)in + sizeof(own->kind), 4))\n\t\treturn -EFAULT;\n\tif (own->size < sizeof(*own) || own->size > 4096)\n\t\treturn -EINVAL;\n\tall = kvmalloc(own->size, GFP_KERNEL);\n\tif (!all)\n\t\treturn -ENOMEM;\n{second}\t*out = all;\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(
        by("\tif (copy_from_user(all, in, own->size))\n\t\treturn -EFAULT;\n"),
        TWICE
    );
    // Only what lies behind it.
    let behind = "\t*all = *own;\n\tif (copy_from_user((char *)all + sizeof(*own), (char __user *)in + sizeof(*own), own->size - sizeof(*own)))\n\t\treturn -EFAULT;\n";
    assert_eq!(by(behind), NONE);
}

#[test]
fn a_member_by_its_offset_is_that_member() {
    let text = |compared: &str| {
        format!(
            "static int run(struct dev *d, unsigned long arg)\n{{\n\tstruct req *r = (struct req *)arg;\n\n\treturn start(d, r->size);\n}}\n\nlong set(struct dev *d, unsigned long arg)\n{{\n\tstruct req *r;\n\tu32 size;\n\tlong err;\n\n\tif (get_user(size, (u32 __user *)(arg + offsetof(struct req, size))))\n\t\treturn -EFAULT;\n\tif (size > 4096)\n\t\treturn -EINVAL;\n\tr = memdup_user((void __user *)arg, size);\n\tif (IS_ERR(r))\n\t\treturn PTR_ERR(r);\n{compared}\targ = (unsigned long)r;\n\terr = run(d, arg);\n\tkfree(r);\n\treturn err;\n}}\n"
        )
    };
    assert_eq!(rules(&text("")), TWICE);
    let kept = "\tif (r->size != size) {\n\t\tkfree(r);\n\t\treturn -EINVAL;\n\t}\n";
    assert_eq!(rules(&text(kept)), NONE);
    // Of another member nothing was asked.
    let other = text("").replace("offsetof(struct req, size)", "offsetof(struct req, kind)");
    assert_eq!(rules(&other), NONE);
}

#[test]
fn a_macro_of_the_file_copies_what_it_is_given_by_name() {
    let right = "#define fetch(a, b) \\\n\tcopy_from_user(&(a), (b), sizeof(a))\n#define give(a, b) \\\n\tcopy_to_user((typeof(a) __user *)(b), &(a), sizeof(a))\nstatic void done(struct req *r)\n{\n\tr->kind |= 8;\n}\n\nint get(struct dev *d, void __user *in)\n{\n\tstruct req r;\n\n\tif (fetch(r, in))\n\t\treturn -EFAULT;\n\tr.size = size_of(d, r.kind);\n\tdone(&r);\n\tif (give(r, in))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
    assert_eq!(rules(right), NONE);
    let wrong = right.replace("give(r, in)", "fetch(r, in)");
    assert_eq!(rules(&wrong), ["unread-copy"]);
    // Who keeps its address may look at it later.
    let kept = wrong.replace(
        "\tr->kind |= 8;\n",
        "\tlist_add(&r->list, &all);\n\tlast = r;\n",
    );
    assert_eq!(rules(&kept), NONE);
}

/// What setsockopt() is given is the program's as well.
#[test]
fn an_option_that_is_fetched_again_keeps_nothing_that_was_checked() {
    let with = |second: &str, behind: &str| {
        rules(&format!(
            "struct whole {{ struct req req; char key[8]; }};\nstruct dev {{ struct whole whole; }};\n\
             int set(struct dev *d, sockptr_t optval)\n{{\n\tstruct req *own, tmp;\n\n\
             \tif (copy_from_sockptr(&tmp, optval, sizeof(tmp)))\n\t\treturn -EFAULT;\n\tif (tmp.kind != 2)\n\t\treturn -EINVAL;\n\
             \town = (struct req *)&d->whole;\n\tswitch (tmp.size) {{\n\tcase 1:\n\t\tif ({second})\n\t\t\treturn -EFAULT;\n{behind}\t\tbreak;\n\
             \tcase 2:\n\t\t*own = tmp;\n\t\tbreak;\n\t}}\n\treturn 0;\n}}\n"
        ))
    };
    let all = "copy_from_sockptr(own, optval, sizeof(d->whole))";
    assert_eq!(with(all, ""), TWICE);
    assert_eq!(
        with(
            "copy_safe_from_sockptr(own, sizeof(d->whole), optval, 64)",
            ""
        ),
        TWICE
    );
    assert_eq!(with(all, "\t\t*own = tmp;\n"), NONE);
    let both = "\t\town->kind = tmp.kind;\n\t\town->size = tmp.size;\n";
    assert_eq!(with(all, both), NONE);
    // Whoever is given the pointer is asked what it uses.
    assert_eq!(with(all, "\t\tapply(own);\n"), NONE);
    // What lies behind the front.
    let rest =
        "copy_from_sockptr_offset(own + 1, optval, sizeof(tmp), sizeof(d->whole) - sizeof(tmp))";
    assert_eq!(with(rest, "\t\t*own = tmp;\n"), NONE);
}

/// What another function says of a header holds of the copy that it was given.
#[test]
fn a_header_that_a_call_has_judged_is_fetched_again() {
    let with = |header: &str, asked: &str, second: &str| {
        rules(&format!(
            "struct head {{ unsigned int size; unsigned int kind; }};\nstruct job {{ unsigned char *buf; }};\n\
             long send(struct dev *d, struct job *job, char *own, const char __user *in, unsigned long n)\n{{\n\t{header};\n\tint err = 0;\n\n\
             {asked}{second}}}\n"
        ))
    };
    let header = "struct head head";
    let asked = "\tif (copy_from_user(&head, in, sizeof(head)))\n\t\treturn -EFAULT;\n\tif (n < size_of(&head))\n\t\treturn -EINVAL;\n";
    let second =
        "\tif (copy_from_user(job->buf, in, n))\n\t\treturn -EFAULT;\n\treturn run(d, job);\n";
    assert_eq!(with(header, asked, second), TWICE);
    let told = asked.replace(
        "if (n < size_of(&head))",
        "err = check(d, &head);\n\tif (err)",
    );
    let bytes = asked.replace("&head", "head");
    let own = second
        .replace("job->buf", "own")
        .replace("run(d, job)", "run(d, own, n)");
    assert_eq!(with(header, &told, second), TWICE);
    assert_eq!(with("unsigned char head[8]", &bytes, second), TWICE);
    assert_eq!(with(header, asked, &own), TWICE);

    let behind =
        |statement: &str| second.replace("\treturn run", &format!("{statement}\treturn run"));
    for right in [
        behind("\tif (n < size_of((struct head *)job->buf))\n\t\treturn -EINVAL;\n"),
        behind("\tmemcpy(job->buf, &head, sizeof(head));\n"),
        behind("\t*(struct head *)job->buf = head;\n"),
        behind("\tif (memcmp(job->buf, &head, sizeof(head)))\n\t\treturn -EINVAL;\n"),
        second.replace("run(d, job)", "run(d, job, &head)"),
        second.replace("in, n", "in + sizeof(head), n"),
        // Nobody sees it.
        second.replace("return run(d, job)", "kfree(job);\n\treturn 0"),
        second.replace("return run(d, job)", "pr_debug(\"%p\", job);\n\treturn 0"),
    ] {
        assert_eq!(with(header, asked, &right), NONE, "{right}");
    }
    // Nothing was judged.
    for asked in [
        asked.replace(
            "if (n < size_of(&head))\n\t\treturn -EINVAL",
            "note(d, &head)",
        ),
        asked.replace("size_of(&head)", "size_of(d)"),
    ] {
        assert_eq!(with(header, &asked, second), NONE, "{asked}");
    }
}

/// What was checked of a header is the front of what is fetched again.
#[test]
fn a_member_of_the_header_in_the_whole_is_the_one_that_was_checked() {
    let with = |whole: &str, behind: &str| {
        rules(&format!(
            "struct head {{ unsigned int size; unsigned int kind; }};\nstruct whole {{ {whole} }};\n\
             long send(struct dev *d, void __user *arg)\n{{\n\tstruct head head, *again;\n\tstruct whole *all;\n\n\
             \tif (copy_from_user(&head, arg, sizeof(head)))\n\t\treturn -EFAULT;\n\tif (head.size > 64)\n\t\treturn -EINVAL;\n\
             \tall = room(d, head.size);\n\tif (copy_from_user(all, arg, head.size))\n\t\treturn -EFAULT;\n{behind}\n\treturn 0;\n}}\n"
        ))
    };
    let whole = "struct head head; char data[16];";
    for wrong in [
        "\tput(d, all->head.size);",
        "\td->n = all->head.size;",
        "\tif (copy_to_user(arg, all, all->head.size) != 0)\n\t\treturn -EFAULT;",
        "\tput(d, ((struct head *)all)->size);",
        "\tagain = (struct head *)all;\n\tput(d, again->size);",
    ] {
        assert!(with(whole, wrong).contains(&TWICE[0].to_owned()), "{wrong}");
    }
    for right in [
        "\tall->head.size = head.size;\n\tput(d, all->head.size);",
        "\tif (all->head.size != head.size)\n\t\treturn -EINVAL;\n\tput(d, all->head.size);",
        "\tif (all->head.size > 64)\n\t\treturn -EINVAL;\n\tput(d, all->head.size);",
        "\tput(d, head.size);",
        "\tput(d, all->head.kind);",
        "\tagain = d->again;\n\tput(d, again->size);",
    ] {
        assert!(
            !with(whole, right).contains(&TWICE[0].to_owned()),
            "{right}"
        );
    }
    let used = "\tput(d, all->head.size);";
    for other in [
        "char data[16]; struct head head;",
        "struct { unsigned int kind; unsigned int size; } head; char data[16];",
    ] {
        assert!(!with(other, used).contains(&TWICE[0].to_owned()), "{other}");
    }
}

#[test]
fn what_a_function_has_judged_is_not_fetched_again() {
    let with = |again: &str, used: &str| {
        rules(&format!(
            "struct part {{ u32 kind; u32 flags; u64 at; }};\nstruct order {{ u32 cmd; u32 size; struct part part; }};\n\
             static int import(struct order *own, struct order __user *arg)\n{{\n\
             \tif (copy_from_user(own, arg, sizeof(*own)))\n\t\treturn -EFAULT;\n\tif (own->cmd != 1 || own->part.kind >= 9)\n\
             \t\treturn -EINVAL;\n\treturn own->part.flags & ~7 ? -EINVAL : 0;\n}}\n\
             long run(struct dev *d, struct order __user *arg)\n{{\n\tstruct order own;\n\tint ret = import(&own, arg);\n\n\
             \tif (ret)\n\t\treturn ret;\n{again}\n{used}\n\treturn 0;\n}}\n"
        ))
        .contains(&TWICE[0].to_owned())
    };
    let again = "\tif (copy_from_user(&own, arg, sizeof(own)))\n\t\treturn -EFAULT;";
    let judged = "\tif (own.part.flags & ~7)\n\t\treturn -EINVAL;";
    for used in [
        "\td->at[own.part.kind] = 1;",
        "\td->cmd = own.cmd;",
        &format!("{judged}\n\td->at[own.part.kind] = 1;"),
    ] {
        assert!(with(again, used), "{used}");
        assert!(!with("", used), "{used}");
    }
    let again_judged = "\tif (own.cmd != 1)\n\t\treturn -EINVAL;\n\td->cmd = own.cmd;";
    assert!(!with(again, again_judged));
}

/// A member of the second copy's header that takes a value says nothing of the others.
#[test]
fn a_member_that_is_set_again_settles_no_other() {
    let with = |used: &str| {
        rules(&format!(
            "struct head {{ u16 size; u16 state; }};\nstruct fib {{ struct head head; char data[60]; }};\n\
             long send(struct dev *d, void __user *arg)\n{{\n\tstruct fib *fib = d->fib;\n\tu32 size;\n\n\
             \tif (copy_from_user(fib, arg, sizeof(struct head)))\n\t\treturn -EFAULT;\n\
             \tsize = fib->head.size;\n\tif (fib->head.size > 64)\n\t\treturn -EINVAL;\n\
             \tif (copy_from_user(fib, arg, size))\n\t\treturn -EFAULT;\n{used}\n\treturn 0;\n}}\n"
        ))
        .contains(&TWICE[0].to_owned())
    };
    assert!(with("\tput(d, fib->head.size);"));
    assert!(with(
        "\tif (d->breaks)\n\t\tfib->head.state = 0;\n\telse\n\t\tput(d, fib->head.size);"
    ));
}

#[test]
fn what_something_was_looked_up_by_is_fetched_again() {
    let twice = |asked: &str, behind: &str| {
        rules(&format!(
            "int region(struct dev *d, struct req __user *in)\n{{\n\tstruct req r;\n\tstruct mem *mem;\n\tint ret;\n\n\tif (copy_from_user(&r, in, sizeof(r)))\n\t\treturn -EFAULT;\n{asked}\tif (copy_from_user(&r, in, sizeof(r)))\n\t\treturn -EFAULT;\n{behind}\treturn 0;\n}}\n"
        ))
    };
    let mem = "\tmem = mem_of(d, r.kind);\n\tif (!mem)\n\t\treturn -ENOENT;\n";
    let may = "\tret = may_map(d, r.kind);\n\tif (ret)\n\t\treturn ret;\n";
    for asked in [mem, may] {
        assert_eq!(twice(asked, "\td->at = AT(r.kind);\n"), TWICE, "{asked}");
        // Another member is used, or it is asked once more.
        assert_eq!(twice(asked, "\td->at = r.size;\n"), NONE, "{asked}");
        let again = format!("{asked}\td->at = AT(r.kind);\n");
        assert_eq!(twice(asked, &again), NONE, "{asked}");
    }
    // Nothing is asked of what the call gave.
    assert_eq!(
        twice("\tret = note(d, r.kind);\n", "\td->at = AT(r.kind);\n"),
        NONE
    );
}
