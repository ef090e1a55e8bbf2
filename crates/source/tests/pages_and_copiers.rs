//! Pages that an error keeps or of which fewer were found, locks that are taken where a condition holds or by calls of the network's,
//! and copies that stand under a lock by a pointer.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// What a rule says of a text.
fn said(rule: &str, text: &str) -> Vec<String> {
    let found = mistakes::found(None, text).into_iter();
    let mut found: Vec<String> = found
        .map(|(rule, _)| rule)
        .filter(|own| own == rule)
        .collect();
    found.dedup();
    found
}

/// The same of a function of these statements.
fn given(rule: &str, statements: &str) -> Vec<String> {
    let text = format!(
        "static long f(struct dev *d, void __user *u, unsigned long n, bool other, unsigned int flags)\n{{\n\
         \tstruct page *page = NULL;\n\tlong err = 0, got;\n\tbool slow;\n\tlong i;\n\n{statements}\n\treturn err;\n}}\n"
    );
    said(rule, &text)
}

#[test]
fn a_lock_that_a_condition_takes_is_kept_behind_a_fault() {
    let take = "\tif (other) {\n\t\tif (!mmget_not_zero(d->mm))\n\t\t\treturn slow_way(d);\n\t\tkthread_use_mm(d->mm);\n\t}\n";
    let end = "\tif (other) {\n\t\tkthread_unuse_mm(d->mm);\n\t\tmmput(d->mm);\n\t}";
    for wrong in [
        format!("{take}\tif (copy_to_user(u, d->buf, n))\n\t\treturn -EFAULT;\n{end}"),
        format!(
            "{take}\tif (flags & 1) {{\n\t\tif (copy_to_user(u, d->buf, n))\n\t\t\treturn -EFAULT;\n\t}} else if (copy_from_user(d->buf, u, n)) {{\n\t\treturn -EFAULT;\n\t}}\n{end}"
        ),
        "\tif (flags & 2)\n\t\tmutex_lock(&d->lock);\n\tif (copy_to_user(u, d->buf, n))\n\t\treturn -EFAULT;\n\
         \tif (flags & 2)\n\t\tmutex_unlock(&d->lock);"
            .to_owned(),
    ] {
        assert_eq!(given("kept-lock", &wrong), ["kept-lock"], "{wrong}");
    }
    for right in [
        format!("{take}\tif (copy_to_user(u, d->buf, n))\n\t\terr = -EFAULT;\n{end}"),
        format!("{take}\tif (copy_to_user(u, d->buf, n)) {{\n\t\terr = -EFAULT;\n\t\tgoto out;\n\t}}\nout:\n{end}"),
        format!(
            "\tif (!other) {{\n\t\tif (copy_to_user(u, d->buf, n))\n\t\t\treturn -EFAULT;\n\t\treturn 0;\n\t}}\n{take}\twork(d);\n{end}"
        ),
        "\tif (flags & 2)\n\t\tmutex_lock(&d->lock);\n\tif (copy_to_user(u, d->buf, n)) {\n\t\tif (flags & 2)\n\
         \t\t\tmutex_unlock(&d->lock);\n\t\treturn -EFAULT;\n\t}\n\tif (flags & 2)\n\t\tmutex_unlock(&d->lock);"
            .to_owned(),
        "\tif (other)\n\t\tmutex_lock(&d->lock);\n\tswitch (flags) {\n\tcase 1:\n\t\tif (!n)\n\t\t\treturn 0;\n\t\tif (copy_to_user(u, d->buf, n))\n\t\t\treturn -EFAULT;\n\t\treturn 0;\n\t}\n\twork(d);\n\tif (other)\n\t\tmutex_unlock(&d->lock);"
            .to_owned(),
        "\tif (d->shared)\n\t\tmutex_lock(&d->lock);\n\td->shared = prepare(d);\n\tif (copy_to_user(u, d->buf, n))\n\t\terr = -EFAULT;\n\
         \tif (d->shared)\n\t\tmutex_unlock(&d->lock);"
            .to_owned(),
    ] {
        assert_eq!(given("kept-lock", &right), NONE, "{right}");
    }
}

#[test]
fn a_page_is_kept_where_another_call_fails() {
    let take = "\t\terr = get_user_pages_fast((unsigned long)u + i * PAGE_SIZE, 1, 0, &page);\n\t\tif (err < 0)\n\t\t\tbreak;\n\
         \t\tif (err != 1) {\n\t\t\terr = -ENOMEM;\n\t\t\tbreak;\n\t\t}\n";
    for wrong in [
        format!(
            "\tfor (i = 0; i < n; i++) {{\n{take}\t\terr = fill(d, i, page);\n\t\tif (err)\n\t\t\tbreak;\n\t\tput_page(page);\n\t}}\n\
             \treturn err && !i ? err : i;"
        ),
        format!(
            "\tfor (i = 0; i < n; i++) {{\n{take}\t\terr = fill(d, i, page);\n\t\tif (err < 0)\n\t\t\treturn err;\n\
             \t\tif (page)\n\t\t\tput_page(page);\n\t}}"
        ),
        "\tgot = pin_user_pages_fast((unsigned long)u, 1, FOLL_WRITE, &page);\n\tif (got != 1)\n\t\treturn -EFAULT;\n\
         \terr = start(d, page);\n\tif (err)\n\t\treturn err;\n\tunpin_user_page(page);"
            .to_owned(),
        "\tgot = pin_user_pages_fast((unsigned long)u, 1, FOLL_WRITE, &page);\n\tif (got != 1)\n\t\treturn -EFAULT;\n\
         \terr = start(d, page);\n\tif (err != 0)\n\t\treturn -EIO;\n\tunpin_user_pages(&page, 1);"
            .to_owned(),
    ] {
        assert_eq!(given("kept-memory", &wrong), ["kept-memory"], "{wrong}");
    }
    for right in [
        format!(
            "\tfor (i = 0; i < n; i++) {{\n{take}\t\terr = fill(d, i, page);\n\t\tif (page)\n\t\t\tput_page(page);\n\t\tif (err)\n\t\t\tbreak;\n\t}}\n\
             \treturn err && !i ? err : i;"
        ),
        format!(
            "\tfor (i = 0; i < n; i++) {{\n{take}\t\terr = fill(d, i, page);\n\t\tput_page(page);\n\t\tif (err)\n\t\t\tbreak;\n\t}}\n\
             \treturn err && !i ? err : i;"
        ),
        "\tgot = pin_user_pages_fast((unsigned long)u, 1, FOLL_WRITE, &page);\n\tif (got != 1)\n\t\treturn -EFAULT;\n\
         \terr = start(d, page);\n\tif (err) {\n\t\tunpin_user_page(page);\n\t\treturn err;\n\t}\n\tunpin_user_page(page);"
            .to_owned(),
        "\tgot = pin_user_pages_fast((unsigned long)u, 1, FOLL_WRITE, &page);\n\tif (got != 1)\n\t\treturn -EFAULT;\n\
         \terr = start(d, page);\n\tif (err)\n\t\tunpin_user_page(page);"
            .to_owned(),
        "\tgot = pin_user_pages_fast((unsigned long)u, 1, FOLL_WRITE, &page);\n\tif (got != 1)\n\t\treturn -EFAULT;\n\
         \td->page = page;\n\terr = start(d, page);\n\tif (err)\n\t\tgoto out;\n\treturn 0;\nout:\n\tunpin_user_page(page);"
            .to_owned(),
        "\tgot = pin_user_pages_fast((unsigned long)u, 1, FOLL_WRITE, &page);\n\tif (got < 0)\n\t\treturn got;\n\
         \tunpin_user_page(page);"
            .to_owned(),
    ] {
        assert_eq!(given("kept-memory", &right), NONE, "{right}");
    }
}

#[test]
fn fewer_pages_are_found_than_were_asked_for() {
    let pin = "\tgot = pin_user_pages_fast((unsigned long)u, n, FOLL_WRITE, d->pages);\n";
    for wrong in [
        format!("{pin}\tif (got <= 0)\n\t\treturn -EFAULT;\n\td->npages = n;"),
        format!("{pin}\tif (got < 0)\n\t\treturn got;\n\td->npages = (unsigned int)n;"),
        format!(
            "{pin}\tif (got <= 0)\n\t\treturn -EFAULT;\n\terr = work(d);\n\tunpin_user_pages(d->pages, n);"
        ),
    ] {
        assert_eq!(
            given("misread-result", &wrong),
            ["misread-result"],
            "{wrong}"
        );
    }
    for right in [
        format!("{pin}\tif (got <= 0)\n\t\treturn -EFAULT;\n\td->npages = got;"),
        format!("{pin}\tif (got != n)\n\t\treturn -EFAULT;\n\td->npages = n;"),
        format!(
            "{pin}\tif (got < 0)\n\t\treturn got;\n\tif (got < n) {{\n\t\tunpin_user_pages(d->pages, got);\n\t\treturn -EFAULT;\n\t}}\n\
             \td->npages = n;"
        ),
        format!("{pin}\tif (got <= 0)\n\t\treturn -EFAULT;\n\tunpin_user_pages(d->pages, got);"),
        "\td->npages = n;\n\tgot = pin_user_pages_fast((unsigned long)u, 1, FOLL_WRITE, d->pages);\n\tif (got <= 0)\n\t\treturn -EFAULT;".to_owned(),
    ] {
        assert_eq!(given("misread-result", &right), NONE, "{right}");
    }
}

#[test]
fn an_error_number_is_no_number_of_pages() {
    let pin = "\tgot = pin_user_pages_fast((unsigned long)u, 1, FOLL_WRITE, &page);\n";
    let many = "\tgot = get_user_pages_fast((unsigned long)u, n, FOLL_WRITE, d->pages);\n";
    let wrong = [
        format!("{pin}\tif (!got)\n\t\treturn -EFAULT;\n\terr = start(d, page);"),
        format!("{pin}\tif (got == 0)\n\t\tgoto out;\n\tgot = start(d, page);\nout:\n\treturn got;"),
        format!("{pin}\tif (got)\n\t\terr = start(d, page);"),
        format!("{many}\tif (!got)\n\t\treturn -EFAULT;\n\td->first = d->pages[0];\n\td->npages = got;"),
        "\tif (!pin_user_pages_fast((unsigned long)u, 1, 0, &page))\n\t\treturn -EFAULT;\n\terr = start(d, page);".to_owned(),
    ];
    for wrong in wrong {
        assert_eq!(
            given("misread-result", &wrong),
            ["misread-result"],
            "{wrong}"
        );
    }
    let right = [
        format!("{pin}\tif (got < 0)\n\t\treturn got;\n\terr = start(d, page);"),
        format!("{pin}\tif (got != 1)\n\t\treturn -EFAULT;\n\terr = start(d, page);"),
        format!("{pin}\tif (!got)\n\t\treturn -EFAULT;\n\tif (got < 0)\n\t\treturn got;\n\terr = start(d, page);"),
        format!("{pin}\tif (!got)\n\t\treturn -EFAULT;\n\tif (is_failed(got))\n\t\treturn got;\n\terr = start(d, page);"),
        format!("{many}\tif (!got)\n\t\tgot = -EFAULT;\n\treturn got;"),
        format!("{many}\tif (got)\n\t\terr = got == n ? 0 : -EFAULT;\n\td->first = d->pages[0];"),
        "\tif (!get_user_pages_fast_only((unsigned long)u, 1, 0, &page))\n\t\treturn -EFAULT;\n\terr = start(d, page);".to_owned(),
    ];
    for right in right {
        assert_eq!(given("misread-result", &right), NONE, "{right}");
    }
}

#[test]
fn a_socket_that_is_locked_fast_is_locked_by_its_spinlock() {
    for wrong in [
        "\tslow = lock_sock_fast(d->sk);\n\terr = put_user(d->left, (int __user *)u);\n\tunlock_sock_fast(d->sk, slow);",
        "\tnetif_tx_lock_bh(d->net);\n\terr = put_user(d->left, (int __user *)u);\n\tnetif_tx_unlock_bh(d->net);",
        "\tnetif_addr_lock_bh(d->net);\n\tif (copy_to_user(u, d->list, n))\n\t\terr = -EFAULT;\n\tnetif_addr_unlock_bh(d->net);",
        "\tunix_state_double_lock(d->sk, d->peer);\n\terr = put_user(d->left, (int __user *)u);\n\tunix_state_double_unlock(d->sk, d->peer);",
        "\txas_lock_irq(&d->xas);\n\terr = put_user(d->left, (int __user *)u);\n\txas_unlock_irq(&d->xas);",
        "\tif (!lock_task_sighand(d->task, &i))\n\t\treturn -ESRCH;\n\terr = put_user(d->left, (int __user *)u);\n\tunlock_task_sighand(d->task, &i);",
        "\tlock_page(page);\n\tif (copy_from_user(d->at, u, n))\n\t\terr = -EFAULT;\n\tunlock_page(page);",
    ] {
        assert_eq!(
            given("fault-in-atomic", wrong),
            ["fault-in-atomic"],
            "{wrong}"
        );
    }
    for right in [
        "\tslow = lock_sock_fast(d->sk);\n\tgot = d->left;\n\tunlock_sock_fast(d->sk, slow);\n\terr = put_user(got, (int __user *)u);",
        "\tlock_page(page);\n\td->at = page_address(page);\n\tunlock_page(page);\n\tif (copy_from_user(d->at, u, n))\n\t\terr = -EFAULT;",
        "\tlock_sock(d->sk);\n\terr = put_user(d->left, (int __user *)u);\n\trelease_sock(d->sk);",
    ] {
        assert_eq!(given("fault-in-atomic", right), NONE, "{right}");
    }
}

/// What is said of a helper that takes a copier, of which the statements are these.
fn copied(helper: &str, call: &str) -> Vec<String> {
    let text = format!(
        "static int put_part(struct ring *r, const void *from, int n, int (*copy)(void *, const void *, int))\n{{\n\
         \tunsigned long flags;\n\tint rc;\n\n{helper}\n\treturn rc;\n}}\n\
         static int from_user(void *to, const void *from, int n)\n{{\n\
         \tif (copy_from_user(to, (const void __user *)from, n))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n\
         static int plain(void *to, const void *from, int n)\n{{\n\tmemcpy(to, from, n);\n\treturn 0;\n}}\n\
         static ssize_t ring_write(struct file *file, const char __user *u, size_t n, loff_t *pos)\n{{\n\
         \tstruct ring *r = file->private_data;\n\tint rc;\n\n\tmutex_lock(&r->lock);\n\trc = put_part(r, {call});\n\
         \tmutex_unlock(&r->lock);\n\treturn rc;\n}}\n"
    );
    said("fault-in-atomic", &text)
}

#[test]
fn a_copier_is_called_under_a_lock() {
    let user = "(void *)u, n, from_user";
    for wrong in [
        "\tspin_lock_irqsave(&r->front, flags);\n\trc = (*copy)(r->mem, from, n);\n\tspin_unlock_irqrestore(&r->front, flags);",
        "\tspin_lock(&r->front);\n\trc = copy(r->mem, from, n);\n\tspin_unlock(&r->front);",
        "\trcu_read_lock();\n\trc = copy(r->mem, from, n);\n\trcu_read_unlock();",
    ] {
        assert_eq!(copied(wrong, user), ["fault-in-atomic"], "{wrong}");
        assert_eq!(
            copied(wrong, "(void *)u, n, &from_user"),
            ["fault-in-atomic"],
            "{wrong}"
        );
        assert_eq!(copied(wrong, "r->own, n, plain"), NONE, "{wrong}");
    }
    for right in [
        "\tspin_lock_irqsave(&r->front, flags);\n\tr->at += n;\n\tspin_unlock_irqrestore(&r->front, flags);\n\trc = (*copy)(r->mem, from, n);",
        "\tmutex_lock(&r->front);\n\trc = copy(r->mem, from, n);\n\tmutex_unlock(&r->front);",
        "\tspin_lock(&r->front);\n\tpagefault_disable();\n\trc = copy(r->mem, from, n);\n\tpagefault_enable();\n\tspin_unlock(&r->front);",
    ] {
        assert_eq!(copied(right, user), NONE, "{right}");
    }
}

/// What is said of a write() of these statements.
fn written(statements: &str) -> Vec<String> {
    let text = format!(
        "static ssize_t f(struct file *file, const char __user *u, size_t n, loff_t *pos)\n{{\n\tchar buf[16];\n\tssize_t got, ret = 0;\n\n{statements}\n}}\n"
    );
    said("misread-result", &text)
}

#[test]
fn all_is_told_of_which_some_was_taken() {
    let word = "\tgot = trace_get_user(file->private_data, u, n, pos);\n";
    for wrong in [
        format!(
            "{word}\tif (got >= 0 && is_whole(file)) {{\n\t\tret = apply(file);\n\t\tif (ret < 0)\n\t\t\tgoto out;\n\t}}\n\tret = n;\nout:\n\treturn ret;"
        ),
        format!(
            "{word}\tif (got >= 0)\n\t\tret = apply(file);\n\tif (!ret)\n\t\tret = n;\n\treturn ret;"
        ),
        format!("{word}\tif (got < 0)\n\t\treturn got;\n\tapply(file);\n\treturn n;"),
    ] {
        assert_eq!(written(&wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        format!("{word}\tif (got >= 0 && is_whole(file)) {{\n\t\tret = apply(file);\n\t\tif (ret < 0)\n\t\t\treturn ret;\n\t}}\n\treturn got;"),
        format!("{word}\tif (got >= 0)\n\t\tret = apply(file);\n\tif (!ret)\n\t\tret = got;\n\treturn ret;"),
        format!("\twhile (n) {{\n{word}\t\tif (got < 0)\n\t\t\treturn got;\n\t\tn -= got;\n\t\tret += got;\n\t}}\n\treturn ret;"),
        format!("\tif (n >= sizeof(buf))\n\t\treturn -EINVAL;\n{word}\tif (got < 0)\n\t\treturn got;\n\tapply(file);\n\treturn n;"),
        // A command whose rest is cut is one all the same.
        "\tgot = simple_write_to_buffer(buf, sizeof(buf) - 1, pos, u, n);\n\tif (got < 0)\n\t\treturn got;\n\tapply(file);\n\treturn n;".to_owned(),
        "\tgot = simple_write_to_buffer(buf, sizeof(buf) - 1, pos, u, n);\n\tif (got < 0)\n\t\treturn got;\n\tbuf[got] = 0;\n\treturn got;".to_owned(),
    ] {
        assert_eq!(written(&right), NONE, "{right}");
    }
}

#[test]
fn what_was_gathered_is_not_what_goes_out() {
    let answer = |gather: &str, out: &str| {
        let text = format!(
            "static long f(struct dev *d, unsigned int __user *u)\n{{\n\tunsigned int flags = 0, value = 0, n;\n\n\tn = state(d);\n{gather}\n{out}\n}}\n"
        );
        said("unread-answer", &text)
    };
    let bits = "\tif (n & 1)\n\t\tflags |= 4;\n\tif (n & 2)\n\t\tflags |= 8;";
    assert_eq!(answer(bits, "\treturn put_user(n, u);"), ["unread-answer"]);
    let copied = "\treturn copy_to_user(u, &value, 4) ? -EFAULT : 0;";
    assert_eq!(answer("\tflags += n;", copied), ["unread-answer"]);
    for right in [
        answer(bits, "\treturn put_user(flags, u);"),
        answer(
            bits,
            "\tif (flags)\n\t\treturn -EIO;\n\treturn put_user(n, u);",
        ),
        answer(bits, "\tn = flags | 1;\n\treturn put_user(n, u);"),
        answer(bits, "\tn = flags |= 1;\n\treturn put_user(n, u);"),
        answer(
            bits,
            "#ifdef CONFIG_BITS\n\tn = flags;\n#endif\n\treturn put_user(n, u);",
        ),
        answer(bits, "\treturn tell(d, n);"),
        answer("\tflags = 4;", "\treturn put_user(n, u);"),
    ] {
        assert_eq!(right, NONE);
    }
}
