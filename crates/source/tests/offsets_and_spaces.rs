//! Bytes from behind a front, pointers of two spaces, and what is done where a fault was seen.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "struct req { u32 cmd; u32 len; char text[16]; struct req *next; };\n\
     struct arg { u32 what; void __user *to; };\n\
     struct dev { char buf[64]; size_t used; char *mem; size_t filled; size_t taken; struct list q; u32 faults; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A read() or a write() of these statements.
fn handler(from: &str, statements: &str) -> String {
    format!(
        "static ssize_t f(struct file *file, {from}char __user *u, size_t n, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tsize_t len = n;\n\tint ret = 0;\n\n{statements}\n}}\n"
    )
}

#[test]
fn a_copy_behind_a_front_has_less_room() {
    for wrong in [
        "\tif (n > sizeof(d->buf))\n\t\treturn -EINVAL;\n\tif (copy_from_user(d->buf + d->used, u, n))\n\t\treturn -EFAULT;\n\td->used += n;\n\treturn n;",
        "\tif (!n || n > 64) {\n\t\tret = -EINVAL;\n\t\tgoto out;\n\t}\n\tif (copy_from_user(d->buf + d->used, u, n))\n\t\tret = -EFAULT;\nout:\n\treturn ret ?: n;",
        "\tlen = min(len, sizeof(d->buf));\n\tif (copy_from_user(d->buf + d->used, u, len))\n\t\treturn -EFAULT;\n\treturn len;",
    ] {
        assert_eq!(
            rules(&handler("const ", wrong)),
            ["beyond-variable"],
            "{wrong}"
        );
    }
    for right in [
        "\tif (n > sizeof(d->buf) - d->used)\n\t\treturn -EINVAL;\n\tif (copy_from_user(d->buf + d->used, u, n))\n\t\treturn -EFAULT;\n\td->used += n;\n\treturn n;",
        "\tif (n > sizeof(d->buf))\n\t\treturn -EINVAL;\n\tif (d->used + n > sizeof(d->buf))\n\t\treturn -ENOSPC;\n\tif (copy_from_user(d->buf + d->used, u, n))\n\t\treturn -EFAULT;\n\treturn n;",
        "\tif (n > sizeof(d->buf) || d->used)\n\t\treturn -EINVAL;\n\tif (copy_from_user(d->buf + d->used, u, n))\n\t\treturn -EFAULT;\n\treturn n;",
    ] {
        assert_eq!(rules(&handler("const ", right)), NONE, "{right}");
    }
}

#[test]
fn what_there_is_from_the_front_on_is_not_what_remains() {
    for wrong in [
        "\tsize_t left = d->filled - d->taken;\n\n\tlen = min(d->filled, n);\n\tif (!left)\n\t\treturn 0;\n\tif (copy_to_user(u, d->mem + d->taken, len))\n\t\treturn -EFAULT;\n\td->taken += len;\n\treturn len;",
        "\tif (len > d->filled)\n\t\tlen = d->filled;\n\tif (copy_to_user(u, d->mem + d->taken, len))\n\t\treturn -EFAULT;\n\tif (d->taken + len == d->filled)\n\t\td->filled = 0;\n\treturn len;",
        "\tchar *end = show(d, d->mem);\n\n\tlen = end - d->mem;\n\tif (len <= *at)\n\t\treturn 0;\n\tif (len > n)\n\t\tlen = n;\n\tif (copy_to_user(u, d->mem + *at, len))\n\t\treturn -EFAULT;\n\t*at += len;\n\treturn len;",
    ] {
        assert_eq!(rules(&handler("", wrong)), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "\tsize_t left = d->filled - d->taken;\n\n\tlen = min(left, n);\n\tif (copy_to_user(u, d->mem + d->taken, len))\n\t\treturn -EFAULT;\n\td->taken += len;\n\treturn len;",
        "\tif (len > d->filled)\n\t\tlen = d->filled;\n\tif (d->taken + len > d->filled)\n\t\tlen = d->filled - d->taken;\n\tif (copy_to_user(u, d->mem + d->taken, len))\n\t\treturn -EFAULT;\n\treturn len;",
        // Held against what it begins at and itself, which asks whether their sum wraps.
        "\tif (d->taken + len < len || d->taken + len > size_of(d))\n\t\treturn -EINVAL;\n\tif (copy_to_user(u, d->mem + d->taken, len))\n\t\treturn -EFAULT;\n\treturn len;",
        "\tif (len > d->filled)\n\t\tlen = d->filled;\n\tif (d->taken + len > d->filled)\n\t\td->taken = 0;\n\tif (copy_to_user(u, d->mem + d->taken, len))\n\t\treturn -EFAULT;\n\treturn len;",
        "\tchar *end = show(d, d->mem);\n\n\tlen = end - d->mem;\n\tif (len <= *at)\n\t\treturn 0;\n\tlen -= *at;\n\tif (len > n)\n\t\tlen = n;\n\tif (copy_to_user(u, d->mem + *at, len))\n\t\treturn -EFAULT;\n\t*at += len;\n\treturn len;",
    ] {
        assert_eq!(rules(&handler("", right)), NONE, "{right}");
    }
}

#[test]
fn a_pointer_that_was_handed_to_an_access_is_the_users() {
    let walk = |next: &str| {
        rules(&format!(
            "int f(struct dev *d, struct req *head)\n{{\n\tstruct req r;\n\tint i;\n\n\tfor (i = 0; head && i < 10; i++) {{\n\
             \t\tif (copy_from_user(&r, (void __user *)head, sizeof(r)))\n\t\t\treturn -EFAULT;\n\t\tadd(d, &r);\n\
             \t\thead = {next};\n\t}}\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(walk("head->next"), ["user-pointer-dereferenced"]);
    assert_eq!(walk("r.next"), NONE);
    // Whose it is may be asked for.
    let either = "int f(struct dev *d, struct req *r, bool inside)\n{\n\tu32 v;\n\n\tif (inside)\n\t\tv = r->len;\n\
         \telse if (get_user(v, (u32 __user *)r))\n\t\treturn -EFAULT;\n\treturn use(d, v);\n}\n";
    assert_eq!(rules(either), NONE);
}

#[test]
fn a_cast_makes_no_address_of_the_kernels_the_users() {
    let keeps = |value: &str| {
        rules(&format!(
            "long f(struct file *file, unsigned long arg)\n{{\n\tstruct req r;\n\tstruct arg a;\n\n\
             \tif (copy_from_user(&r, (void __user *)arg, sizeof(r)))\n\t\treturn -EFAULT;\n\ta.what = r.cmd;\n\
             \ta.to = {value};\n\treturn answer(file, &a);\n}}\n"
        ))
    };
    for wrong in [
        "(void __user *)&r.len",
        "(void __user *)r.text",
        "(u32 __user *)&r.cmd",
    ] {
        assert_eq!(keeps(wrong), ["swapped-arguments"], "{wrong}");
    }
    for right in [
        "(void __user *)arg",
        "compat_ptr(r.len)",
        "(__force void __user *)&r.len",
        "(void __user *)(unsigned long)r.len",
    ] {
        assert_eq!(keeps(right), NONE, "{right}");
    }
}

#[test]
fn what_was_never_filled_is_used_behind_what_a_fault_does() {
    let with = |done: &str, behind: &str| {
        rules(&format!(
            "int f(struct dev *d, const void __user *u)\n{{\n\tstruct req r;\n\n\
             \tif (copy_from_user(&r, u, sizeof(r))){done}\n{behind}\n}}\n"
        ))
    };
    let uses = "\treturn apply(d, r.len);";
    for done in [
        "\n\t\tforce_sig(SIGSEGV);",
        " {\n\t\td->faults++;\n\t\twake_up(&d->q);\n\t}",
    ] {
        assert_eq!(with(done, uses), ["swallowed-fault"], "{done}");
    }
    for (done, behind) in [
        ("\n\t\tdo_exit(SIGSEGV);", uses),
        ("\n\t\tLEAVE(-EFAULT);", uses),
        ("\n\t\tmemset(&r, 0, sizeof(r));", uses),
        (
            " {\n\t\tforce_sig(SIGSEGV);\n\t\treturn -EFAULT;\n\t}",
            uses,
        ),
    ] {
        assert_eq!(with(done, behind), NONE, "{done}");
    }
}

#[test]
fn a_frame_is_checked_before_it_is_written() {
    let with = |check: &str, helper: &str| {
        rules(&format!(
            "struct frame {{ u32 a; u32 b; struct req req; }};\n\
             static int put_req(struct req __user *r, u32 v)\n{{\n\tint err = 0;\n\n\terr |= __put_user(v, &r->cmd);\n#ifdef CONFIG_FPU\n\terr |= __put_user(v, &r->len);\n#endif\n\treturn err;\n}}\n\
             static void __user *frame_at(unsigned long sp, size_t size)\n{{\n{helper}\treturn (void __user *)((sp - size) & -16ul);\n}}\n\
             static int setup(struct pt_regs *regs, u32 v)\n{{\n\tstruct frame __user *frame;\n\tint err = 0;\n\n\
             \tframe = frame_at(regs->sp, sizeof(*frame));\n{check}\terr |= put_req(&frame->req, v);\n\
             \terr |= __put_user(v, &frame->a);\n\treturn err ? -EFAULT : 0;\n}}\n"
        ))
    };
    let checked = "\tif (!access_ok(frame, sizeof(*frame)))\n\t\treturn -EFAULT;\n";
    assert_eq!(with("", ""), ["unchecked-access"]);
    assert_eq!(with(checked, ""), NONE);
    let inside = "\tif (!access_ok((void __user *)(sp - size), size))\n\t\treturn NULL;\n";
    assert_eq!(with("", inside), NONE);
    // Who has taken the number into its own structure may have looked at it.
    let kept = "static void __user *mapped(struct map *m, unsigned long at)\n{\n\treturn (void __user *)(m->to + at - m->from);\n}\n\
         static int put(struct map *m, unsigned long at, u32 v)\n{\n\tu32 __user *p = mapped(m, at);\n\n\treturn __put_user(v, p);\n}\n";
    assert_eq!(
        rules(&format!("struct map {{ u64 to, from; }};\n{kept}")),
        NONE
    );
}

#[test]
fn what_was_judged_is_fetched_again_to_where_it_stays() {
    let with = |again: &str| {
        rules(&format!(
            "struct cmds {{ char __user *buf; unsigned long size; }};\n\
             static int f(struct dev *d, struct cmds *c)\n{{\n\tu32 *ring;\n\tint ret;\n\n\tif (c->size > sizeof(d->buf))\n\t\treturn -ENOMEM;\n\
             \tif (copy_from_user(d->buf, c->buf, c->size))\n\t\treturn -EFAULT;\n\tret = verify(d->buf, c->size);\n\tif (ret)\n\t\treturn ret;\n\
             \tring = ring_room(d, c->size);\n\tif (!ring)\n\t\treturn -EAGAIN;\n{again}\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(
        with("\tif (copy_from_user(ring, c->buf, c->size))\n\t\treturn -EFAULT;\n"),
        ["double-fetch"]
    );
    assert_eq!(with("\tmemcpy(ring, d->buf, c->size);\n"), NONE);
    let judged = "\tif (copy_from_user(ring, c->buf, c->size))\n\t\treturn -EFAULT;\n\tif (verify(ring, c->size))\n\t\treturn -EINVAL;\n";
    assert_eq!(with(judged), NONE);
}

#[test]
fn strsep_reads_on_where_there_is_no_0() {
    let with = |made: &str, before: &str| {
        rules(&handler(
            "const ",
            &format!(
                "\tchar *text, *all;\n\n\tif (n > 4000)\n\t\treturn -EINVAL;\n\ttext = {made}(u, n);\n\tif (IS_ERR(text))\n\t\treturn PTR_ERR(text);\n\
                 \tall = text;\n{before}\tret = name_of(d, strsep(&text, \" \"));\n\tkfree(all);\n\treturn ret ?: n;"
            ),
        ))
    };
    assert_eq!(with("memdup_user", ""), ["unterminated-string"]);
    assert_eq!(with("memdup_user_nul", ""), NONE);
    assert_eq!(with("memdup_user", "\tall[n - 1] = 0;\n"), NONE);
}

#[test]
fn a_buffer_is_used_behind_its_last_reference() {
    let with = |behind: &str| {
        rules(&format!(
            "static ssize_t f(struct dev *d, char __user *u, size_t n)\n{{\n\tstruct sk_buff *skb = skb_dequeue(&d->q);\n\tsize_t len;\n\tint err;\n\n\
             \tif (!skb)\n\t\treturn -EAGAIN;\n\tlen = min_t(size_t, n, skb->len);\n\terr = copy_to_user(u, skb->data, len) ? -EFAULT : 0;\n{behind}\n}}\n"
        ))
    };
    for wrong in [
        "\tkfree_skb(skb);\n\tif (err)\n\t\tskb_queue_head(&d->q, skb);\n\treturn err ?: len;",
        "\tconsume_skb(skb);\n\treturn err ?: skb->len;",
    ] {
        assert_eq!(with(wrong), ["released-memory"], "{wrong}");
    }
    let right = "\tif (err) {\n\t\tskb_queue_head(&d->q, skb);\n\t\treturn err;\n\t}\n\tkfree_skb(skb);\n\treturn len;";
    assert_eq!(with(right), NONE);
}

#[test]
fn a_reference_is_put_by_a_call_that_names_whose_it_is() {
    let with = |fault: &str| {
        rules(&format!(
            "int f(int fd, const void __user *u)\n{{\n\tstruct rules *r;\n\tstruct req req;\n\tint err = 0;\n\n\tr = get_rules_from_fd(fd);\n\tif (IS_ERR(r))\n\t\treturn PTR_ERR(r);\n\
             \tif (copy_from_user(&req, u, sizeof(req))){fault}\n\terr = add(r, req.cmd);\nout:\n\tvendor_put_rules(r);\n\treturn err;\n}}\n"
        ))
    };
    assert_eq!(with("\n\t\treturn -EFAULT;"), ["kept-memory"]);
    assert_eq!(with(" {\n\t\terr = -EFAULT;\n\t\tgoto out;\n\t}"), NONE);
}
