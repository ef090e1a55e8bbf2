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
