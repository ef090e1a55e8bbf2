//! Memory, references and numbers that are kept where a fault leaves, or used behind that
//! they were given back.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// What is said of a function of these statements.
fn rules(statements: &str) -> Vec<String> {
    let text = format!(
        "static void drop(struct dev *d, char *k)\n{{\n\td->users--;\n\tkfree(k);\n}}\n\
         long f(struct dev *d, char __user *p, size_t n)\n{{\n\tchar *k;\n\tlong ret = 0;\n\n\tif (n > 4096)\n\t\treturn -EINVAL;\n{statements}\n}}\n"
    );
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

const TAKEN: &str = "\tk = kmalloc(n, GFP_KERNEL);\n\tif (!k)\n\t\treturn -ENOMEM;\n";

#[test]
fn memory_is_kept_where_a_fault_leaves() {
    for wrong in [
        "\tif (copy_from_user(k, p, n))\n\t\treturn -EFAULT;\n\tret = use(d, k, n);\n\tkfree(k);\n\treturn ret;",
        "\tret = -EFAULT;\n\tif (copy_from_user(k, p, n))\n\t\tgoto out;\n\tret = use(d, k, n);\n\tkfree(k);\nout:\n\treturn ret;",
        // What fills it does not own it: the function gives it back itself.
        "\tread_regs(d, k, n);\n\tif (copy_to_user(p, k, n))\n\t\treturn -EFAULT;\n\tkfree(k);\n\treturn n;",
        "\tret = copy_from_user(k, p, n);\n\tif (ret)\n\t\treturn -EFAULT;\n\tif (!d->on) {\n\t\tkfree(k);\n\t\treturn -EIO;\n\t}\n\td->k = k;\n\treturn 0;",
    ] {
        let wrong = format!("{TAKEN}{wrong}");
        assert_eq!(rules(&wrong), ["kept-memory"], "{wrong}");
    }
    for wrong in [
        "\tk = memdup_user(p, n);\n\tif (IS_ERR(k))\n\t\treturn PTR_ERR(k);\n\tif (put_user(k[0], p))\n\t\treturn -EFAULT;\n\tkfree(k);\n\treturn 0;",
        "\tstruct file *file = fget(n);\n\n\tif (!file)\n\t\treturn -EBADF;\n\tif (put_user(file->f_flags, p))\n\t\treturn -EFAULT;\n\tfput(file);\n\treturn 0;",
        // The one that takes it says more than the one that puts it back.
        "\tstruct ctx *c = foo_get_ctx_dev(d, n);\n\n\tif (IS_ERR(c))\n\t\treturn PTR_ERR(c);\n\tif (put_user(c->id, p))\n\t\treturn -EFAULT;\n\tfoo_put_ctx(c);\n\treturn 0;",
        "\tint fd = get_unused_fd_flags(O_CLOEXEC);\n\n\tif (fd < 0)\n\t\treturn fd;\n\tif (put_user(fd, p))\n\t\treturn -EFAULT;\n\tif (!d->on) {\n\t\tput_unused_fd(fd);\n\t\treturn -EIO;\n\t}\n\tfd_install(fd, d->file);\n\treturn 0;",
    ] {
        assert_eq!(rules(wrong), ["kept-memory"], "{wrong}");
    }
}

#[test]
fn memory_that_is_given_back_or_handed_on_is_not_kept() {
    for right in [
        "\tif (copy_from_user(k, p, n)) {\n\t\tkfree(k);\n\t\treturn -EFAULT;\n\t}\n\tret = use(d, k, n);\n\tkfree(k);\n\treturn ret;",
        "\tif (copy_from_user(k, p, n))\n\t\tret = -EFAULT;\n\telse\n\t\tret = use(d, k, n);\n\tkfree(k);\n\treturn ret;",
        "\tret = copy_to_user(p, k, n);\n\tkfree(k);\n\tif (ret)\n\t\treturn -EFAULT;\n\treturn n;",
        "\tif (copy_from_user(k, p, n)) {\n\t\tdrop(d, k);\n\t\treturn -EFAULT;\n\t}\n\tkfree(k);\n\treturn 0;",
        "\td->k = k;\n\tif (copy_from_user(k, p, n))\n\t\treturn -EFAULT;\n\tif (!d->on)\n\t\tkfree(k);\n\treturn 0;",
        // Who is given it keeps it, and where that fails it comes back.
        "\tret = add(d, k);\n\tif (ret) {\n\t\tkfree(k);\n\t\treturn ret;\n\t}\n\tif (put_user(n, p))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tret = copy_from_user(k, p, n);\n\tif (ret)\n\t\tret = -EFAULT;\n\tif (k != d->k)\n\t\tkfree(k);\n\treturn ret;",
    ] {
        let right = format!("{TAKEN}{right}");
        assert_eq!(rules(&right), NONE, "{right}");
    }
    for right in [
        // Without it there is nothing to give back.
        "\tk = kmalloc(n, GFP_KERNEL);\n\tif (!k) {\n\t\tif (put_user(0, p))\n\t\t\treturn -EFAULT;\n\t\treturn 0;\n\t}\n\tkfree(k);\n\treturn 0;",
        "\tchar *own __free(kfree) = kmalloc(n, GFP_KERNEL);\n\n\tif (!own)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(own, p, n))\n\t\treturn -EFAULT;\n\treturn use(d, own, n);",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

#[test]
fn memory_is_used_behind_that_it_was_given_back() {
    for wrong in [
        "\tret = copy_to_user(p, k, n);\n\tkfree(k);\n\tif (ret) {\n\t\tlist_add(&k->list, &d->list);\n\t\treturn -EFAULT;\n\t}\n\treturn n;",
        "\tkfree(k);\n\tif (copy_to_user(p, k, n))\n\t\treturn -EFAULT;\n\treturn n;",
        "\tret = copy_to_user(p, k, n) ? -EFAULT : 0;\n\tkfree(k);\n\tif (ret)\n\t\tgoto out;\n\treturn n;\nout:\n\tkfree(k);\n\treturn ret;",
    ] {
        let wrong = format!("{TAKEN}{wrong}");
        assert_eq!(rules(&wrong), ["released-memory"], "{wrong}");
    }
    // What was asked before is asked of another value there.
    let asked = "\tret = wait(d);\n\tif (ret)\n\t\tgoto free;\n\tret = copy_to_user(p, k, n);\n\tkfree(k);\n\tif (ret) {\n\t\tret = -EFAULT;\n\t\tgoto again;\n\t}\n\treturn n;\nagain:\n\tlist_add(&k->list, &d->list);\n\treturn ret;\nfree:\n\tkfree(k);\n\treturn ret;";
    assert_eq!(rules(&format!("{TAKEN}{asked}")), ["released-memory"]);
}

#[test]
fn what_some_way_comes_to_with_it_is_not_used_behind() {
    for right in [
        "\tret = copy_to_user(p, k, n);\n\tif (ret) {\n\t\tkfree(k);\n\t\tret = -EFAULT;\n\t}\n\tif (!ret)\n\t\td->k = k;\n\treturn ret;",
        "\tret = wait(d);\n\tif (ret)\n\t\tkfree(k);\n\tif (copy_to_user(p, &n, 8))\n\t\tn = 0;\n\tif (!ret)\n\t\tkfree(k);\n\treturn ret;",
        "\tret = copy_to_user(p, k, n) ? -EFAULT : 0;\n\tif (!ret && d->on)\n\t\tret = wait(d);\n\tif (ret)\n\t\tkfree(k);\n\tif (!ret)\n\t\td->k = k;\n\treturn ret;",
        "\tkfree(k);\n\tk = d->k;\n\tif (copy_to_user(p, k, n))\n\t\treturn -EFAULT;\n\treturn n;",
        "\tif (copy_to_user(p, k, n))\n\t\tgoto out;\n\tkfree(k);\n\treturn n;\nout:\n\tkfree(k);\n\treturn -EFAULT;",
    ] {
        let right = format!("{TAKEN}{right}");
        assert_eq!(rules(&right), NONE, "{right}");
    }
}

/// What a reference leads to is copied before it is put, whoever puts it.
#[test]
fn what_is_copied_is_held_until_then() {
    let with = |takes: &str, put: &str, copied: &str| {
        rules(&format!(
            "\tstruct ctx *c = {takes};\n\tint ret = 0;\n\n\tif (!c)\n\t\treturn -ENOENT;\n{put}\
             \tif (copy_to_user(p, {copied}, 8))\n\t\tret = -EFAULT;\n\treturn ret;"
        ))
        .contains(&"released-memory".to_owned())
    };
    let put = "\tfoo_ctx_put(c);\n";
    assert!(with("foo_ctx_find(d, n)", put, "c->values"));
    assert!(with("foo_ctx_lookup(n)", put, "&c->own"));
    assert!(with(
        "foo_ctx_find(d, n)",
        "\tfoo_ctx_release(c);\n",
        "c->values"
    ));
    // Of another family, which may keep it: `skb_rx_put()` of what `alloc_skb()` gave.
    assert!(!with("task_ctx(d)", put, "c->values"));
    assert!(!with(
        "foo_ctx_find(d, n)",
        "\tfoo_ctx_stop(c);\n",
        "c->values"
    ));
    assert!(!with("foo_ctx_find(d, n)", put, "d->values"));
    assert!(!with(
        "foo_ctx_find(d, n)",
        "\tfoo_ctx_get(c);\n\tfoo_ctx_put(c);\n",
        "c->values"
    ));
}

#[test]
fn what_left_its_list_is_kept_where_a_fault_leaves() {
    let own = |statements: &str| {
        let text = format!(
            "long f(struct dev *d, char __user *p, size_t n)\n{{\n\tstruct part *part;\n\tlong ret = 0;\n\n\tmutex_lock(&d->lock);\n\tpart = list_first_entry(&d->parts, struct part, entry);\n{statements}\n\tmutex_unlock(&d->lock);\n\treturn ret;\n}}\n"
        );
        let found = mistakes::found(None, &text).into_iter();
        found.map(|(rule, _)| rule).collect::<Vec<String>>()
    };
    let right = "\tif (copy_to_user(p, part->text, 8)) {\n\t\tret = -EFAULT;\n\t\tgoto out;\n\t}\n\tlist_del(&part->entry);\n\td->used -= part->len;\n\tkfree(part);\nout:";
    assert_eq!(own(right), NONE);
    let wrong = right
        .replace("\tlist_del(&part->entry);\n", "")
        .replace("\tif (copy", "\tlist_del(&part->entry);\n\tif (copy");
    assert_eq!(own(&wrong), ["kept-memory"]);
    assert_eq!(
        own(&wrong.replace("list_del(", "list_del_init(")),
        ["kept-memory"]
    );
    for right in [
        wrong
            .replace("out:", "\tpart = NULL;\nout:\n\tkfree(part);")
            .replace("\tkfree(part);\n\tpart", "\tpart"),
        wrong.replace(
            "ret = -EFAULT;",
            "ret = -EFAULT;\n\t\tlist_add(&part->entry, &d->parts);",
        ),
        wrong.replace("ret = -EFAULT;", "ret = -EFAULT;\n\t\tkfree(part);"),
        // It is nobody's here: it stays with who else has it.
        wrong.replace("\tkfree(part);", "\tpart->done = true;"),
    ] {
        assert_eq!(own(&right), NONE, "{right}");
    }
}

#[test]
fn memory_is_kept_where_the_function_gives_an_error_of_its_own() {
    let filled = "\tif (copy_from_user(k, p, n)) {\n\t\tkfree(k);\n\t\treturn -EFAULT;\n\t}\n";
    let of = |rest: &str| rules(&format!("{TAKEN}{filled}{rest}"));
    for wrong in [
        "\tif (k[0] > 7)\n\t\treturn -EINVAL;\n\tret = use(d, k[0]);\n\tkfree(k);\n\treturn ret;",
        "\tret = use(d, k[0]);\n\tif (ret < 0)\n\t\treturn ret;\n\tkfree(k);\n\treturn n;",
        // Of two errors one.
        "\tif (!d->on) {\n\t\tkfree(k);\n\t\treturn -EIO;\n\t}\n\tif (d->busy)\n\t\treturn -EBUSY;\n\tret = use(d, k[0]);\n\tkfree(k);\n\treturn ret;",
    ] {
        assert_eq!(of(wrong), ["kept-memory"], "{wrong}");
    }
    for right in [
        "\tif (k[0] > 7) {\n\t\tkfree(k);\n\t\treturn -EINVAL;\n\t}\n\tret = use(d, k[0]);\n\tkfree(k);\n\treturn ret;",
        "\tif (k[0] > 7)\n\t\tgoto out;\n\tret = use(d, k[0]);\nout:\n\tkfree(k);\n\treturn ret;",
        // There may be none, as a macro asks.
        "\tif (DEBUG_ASKED(d, !k))\n\t\treturn -ENOMEM;\n\tkfree(k);\n\treturn 0;",
        // It is somebody else's by then.
        "\td->text = k;\n\tif (d->busy)\n\t\treturn -EBUSY;\n\tkfree(k);\n\treturn 0;",
        // Nobody gives it back here.
        "\tif (d->busy)\n\t\treturn -EBUSY;\n\treturn keep(d, k);",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}

#[test]
fn what_somebody_else_has_at_once_is_not_kept() {
    let stored = |taken: &str| {
        rules(&format!(
            "\tstruct file *file;\n\n{taken}\tif (!file) {{\n\t\tret = -EBADF;\n\t\tgoto out;\n\t}}\n\
             \tret = put_user(7, p);\n\tif (ret)\n\t\tgoto out;\n\tret = d->ops->begin(d);\n\tfput(file);\n\
             \tif (ret)\n\t\tgoto out;\n\treturn 0;\nout:\n\tdev_free(d);\n\treturn ret;"
        ))
    };
    assert_eq!(stored("\td->file = file = fget(n);\n"), NONE);
    assert_eq!(stored("\tfile = fget(n);\n\td->file = file;\n"), NONE);
    assert_eq!(stored("\tfile = fget(n);\n\td->on = 1;\n"), ["kept-memory"]);
}
