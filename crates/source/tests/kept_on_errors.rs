//! Locks and references that are kept where a function gives an error, and locks that are let
//! go though nobody asked whether they were taken.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// What is said of a function of these statements, behind some helpers.
fn rules(statements: &str) -> Vec<String> {
    let text = format!(
        "static int is_ready(struct dev *d)\n{{\n\tint ready;\n\n\tspin_lock(&d->state);\n\tready = d->ready;\n\tspin_unlock(&d->state);\n\treturn ready;\n}}\n\
         static void leave(struct dev *d)\n{{\n\td->users--;\n\tmutex_unlock(&d->lock);\n}}\n\
         static long f(struct dev *d, u32 __user *p, size_t n)\n{{\n\tstruct part *part;\n\tu32 v = 0;\n\tint ret;\n\n\tif (get_user(v, p))\n\t\treturn -EFAULT;\n{statements}\n}}\n"
    );
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

fn is_kept(wrong: &str) {
    assert_eq!(rules(wrong), ["kept-lock"], "{wrong}");
}

fn is_right(right: &str) {
    assert_eq!(rules(right), NONE, "{right}");
}

#[test]
fn a_lock_is_kept_where_an_error_leaves() {
    for wrong in [
        // The range is asked for while it is held.
        "\tmutex_lock(&d->lock);\n\tif (!access_ok(p, n))\n\t\treturn -EFAULT;\n\td->v = v;\n\tmutex_unlock(&d->lock);\n\treturn n;",
        "\tdown_write(&d->sem);\n\tif (n > 4)\n\t\treturn -EINVAL;\n\td->v = v;\n\tup_write(&d->sem);\n\treturn n;",
        // By a variable, and by a label that others come to without it.
        "\tif (!v)\n\t\treturn -EINVAL;\n\tmutex_lock(&d->lock);\n\tret = wait_event_interruptible(d->queue, is_ready(d));\n\tif (ret)\n\t\treturn ret;\n\td->v = v;\n\tmutex_unlock(&d->lock);\n\treturn n;",
        "\tret = -ENODEV;\n\tif (!d->on)\n\t\tgoto out;\n\tmutex_lock(&d->lock);\n\tret = 0;\n\tif (d->v) {\n\t\tret = -EBUSY;\n\t\tgoto out;\n\t}\n\td->v = v;\n\tmutex_unlock(&d->lock);\nout:\n\treturn ret;",
        // In each round of a loop.
        "\tlist_for_each_entry(part, &d->parts, list) {\n\t\tret = part_modeset_lock_interruptible(&part->base.mutex);\n\t\tif (ret)\n\t\t\treturn ret;\n\t\tif (part->done)\n\t\t\tret = wait_for_completion_interruptible(&part->state->done);\n\t\tif (ret)\n\t\t\treturn ret;\n\t\tpart_modeset_unlock(&part->base.mutex);\n\t}\n\treturn n;",
        // What may not have been taken, and was.
        "\tif (mutex_lock_killable(&d->lock))\n\t\treturn -EINTR;\n\tif (d->v)\n\t\treturn -EBUSY;\n\td->v = v;\n\tmutex_unlock(&d->lock);\n\treturn n;",
        "\tif (down_timeout(&d->slots, HZ))\n\t\treturn -ETIME;\n\tif (v > 7)\n\t\treturn -ERANGE;\n\tup(&d->slots);\n\treturn n;",
    ] {
        is_kept(wrong);
    }
}

#[test]
fn a_reference_is_kept_where_an_error_leaves() {
    for (gets, puts) in [
        ("kref_get(&d->ref)", "kref_put(&d->ref, dev_release)"),
        ("dev_state_get(d->state)", "dev_state_put(d->state)"),
        ("sock_hold(d->sk)", "sock_put(d->sk)"),
        ("pm_runtime_get_sync(d->dev)", "pm_runtime_put(d->dev)"),
    ] {
        let wrong = format!(
            "\t{gets};\n\tret = wait_event_interruptible(d->queue, is_ready(d));\n\tif (ret < 0)\n\t\treturn ret;\n\td->v = v;\n\t{puts};\n\treturn n;"
        );
        is_kept(&wrong);
        is_kept(&wrong.replace("(ret < 0)\n\t\treturn ret", "(v > 3)\n\t\treturn -EINVAL"));
        // It is let go there as well, or it is kept where all goes well.
        is_right(
            &wrong
                .replace("\t\treturn ret;", "\t\tgoto out;\n\tret = n;")
                .replace(
                    &format!("\t{puts};\n\treturn n"),
                    &format!("out:\n\t{puts};\n\treturn ret"),
                ),
        );
        is_right(&wrong.replace("\td->v = v;", "\tif (v)\n\t\treturn n;\n\td->v = v;"));
        // The other way round: what it lent is taken again.
        is_right(
            &wrong
                .replace(gets, "X")
                .replace(puts, gets)
                .replace('X', puts),
        );
    }
}

#[test]
fn what_an_error_may_keep_is_not_kept() {
    for right in [
        "\tmutex_lock(&d->lock);\n\tif (!access_ok(p, n)) {\n\t\tmutex_unlock(&d->lock);\n\t\treturn -EFAULT;\n\t}\n\td->v = v;\n\tmutex_unlock(&d->lock);\n\treturn n;",
        // Another function lets it go, or may.
        "\tmutex_lock(&d->lock);\n\tif (v > 3) {\n\t\tleave(d);\n\t\treturn -EINVAL;\n\t}\n\tmutex_unlock(&d->lock);\n\treturn n;",
        "\tmutex_lock(&d->lock);\n\tif (v > 3) {\n\t\tdev_abort(d);\n\t\treturn -EINVAL;\n\t}\n\tmutex_unlock(&d->lock);\n\treturn n;",
        // Its caller has it where all goes well.
        "\tmutex_lock(&d->lock);\n\tif (v > 3)\n\t\treturn -EINVAL;\n\tif (v == 2) {\n\t\tmutex_unlock(&d->lock);\n\t\treturn -EAGAIN;\n\t}\n\treturn 0;",
        // It was not taken.
        "\tret = mutex_lock_interruptible(&d->lock);\n\tif (ret)\n\t\treturn ret;\n\td->v = v;\n\tmutex_unlock(&d->lock);\n\treturn n;",
        "\tif (down_interruptible(&d->sem))\n\t\treturn -ERESTARTSYS;\n\td->v = v;\n\tup(&d->sem);\n\treturn n;",
        "\tret = own_bucket_lock(d, v);\n\tif (ret)\n\t\treturn ret;\n\td->v = v;\n\town_bucket_unlock(d, v);\n\treturn n;",
        "\tif (!own_page_lock(d->page))\n\t\treturn -EIO;\n\td->v = v;\n\town_page_unlock(d->page);\n\treturn n;",
        // There may be none to take.
        "\tpart = idr_find(&d->parts, v);\n\tpart_get(part);\n\tif (!part)\n\t\treturn -EINVAL;\n\td->v = part->v;\n\tpart_put(part);\n\treturn n;",
        "\tpart = part_of(d, v);\n\tpart_get(part);\n\tif (IS_ERR(part))\n\t\treturn -EINVAL;\n\td->v = part->v;\n\tpart_put(part);\n\treturn n;",
        // It is the caller's, and is let go for a while.
        "\tif (d->full) {\n\t\tmutex_unlock(&d->lock);\n\t\tret = wait_event_interruptible(d->queue, is_ready(d));\n\t\tmutex_lock(&d->lock);\n\t\tif (ret)\n\t\t\treturn -EINTR;\n\t}\n\tdev_push(d, v);\n\treturn n;",
        // A flag says whether it is held.
        "\tif (v)\n\t\tmutex_lock(&d->lock);\n\tif (d->v)\n\t\tret = -EBUSY;\n\telse\n\t\tret = n;\n\tif (v)\n\t\tmutex_unlock(&d->lock);\n\treturn ret;",
    ] {
        is_right(right);
    }
}

#[test]
fn a_lock_is_let_go_that_may_not_have_been_taken() {
    let later = "\tret = mutex_lock_interruptible(&d->lock);\n\td->v = v;\n\tmutex_unlock(&d->lock);\n\tif (!ret)\n\t\tret = n;\n\treturn ret;";
    for wrong in [
        later,
        // Nobody asks, or what is asked for changes nothing.
        "\tmutex_lock_killable(&d->lock);\n\td->v = v;\n\tmutex_unlock(&d->lock);\n\treturn n;",
        "\t(void)down_read_interruptible(&d->sem);\n\tv = d->v;\n\tup_read(&d->sem);\n\treturn v;",
        "\tif (down_interruptible(&d->sem))\n\t\tpr_debug(\"signal\\n\");\n\td->v = v;\n\tup(&d->sem);\n\treturn n;",
        "\tret = down_write_killable(&d->sem);\n\tif (ret)\n\t\tgoto out;\n\td->v = v;\nout:\n\tup_write(&d->sem);\n\treturn ret;",
        // What it gave is lost.
        "\tret = mutex_lock_interruptible(&d->lock);\n\tret = n;\n\td->v = v;\n\tmutex_unlock(&d->lock);\n\treturn ret;",
        // By the word of its name.
        "\tret = own_state_lock_interruptible(d->state);\n\td->v = v;\n\town_state_unlock(d->state);\n\treturn ret;",
    ] {
        is_kept(wrong);
    }
    for right in [
        &*later.replace(
            "\td->v = v;\n\tmutex",
            "\tif (ret)\n\t\treturn ret;\n\td->v = v;\n\tmutex",
        ),
        &later.replace("\tmutex_unlock", "\tif (!ret)\n\t\tmutex_unlock"),
        // It does not fail.
        &later.replace("_interruptible", "_nested"),
        // It is taken then in another way.
        "\tif (mutex_lock_interruptible(&d->lock))\n\t\tmutex_lock(&d->lock);\n\td->v = v;\n\tmutex_unlock(&d->lock);\n\treturn n;",
        // Another one of them is let go.
        "\tif (mutex_lock_interruptible(&d->other))\n\t\treturn -EINTR;\n\td->v = v;\n\tmutex_unlock(&d->other);\n\treturn n;",
    ] {
        is_right(right);
    }
}
