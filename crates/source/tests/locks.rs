//! Locks that are kept where a fault leaves a function.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// What is said of a function of these statements, behind some helpers.
fn rules(statements: &str) -> Vec<String> {
    let text = format!(
        "static int fetch(u32 *v, u32 __user *p)\n{{\n\treturn get_user(*v, p) ? -EFAULT : 0;\n}}\n\
         static void leave(struct dev *d)\n{{\n\td->users--;\n\tmutex_unlock(&d->lock);\n}}\n\
         long f(struct dev *d, u32 __user *p, bool locked)\n{{\n\tu32 v = 0;\n\tlong ret = 0;\n\n\tif (!d->on)\n\t\treturn -ENODEV;\n{statements}\n}}\n"
    );
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

#[test]
fn a_lock_is_kept_where_a_fault_leaves() {
    for wrong in [
        "\tmutex_lock(&d->lock);\n\tif (get_user(v, p))\n\t\treturn -EFAULT;\n\td->v = v;\n\tmutex_unlock(&d->lock);\n\treturn 0;",
        "\tif (mutex_lock_interruptible(&d->lock))\n\t\treturn -EINTR;\n\tif (copy_to_user(p, &d->v, 4)) {\n\t\tret = -EFAULT;\n\t\tgoto out;\n\t}\n\tmutex_unlock(&d->lock);\nout:\n\treturn ret;",
        "\tinode_lock(d->inode);\n\tret = get_user(v, p);\n\tif (ret)\n\t\treturn ret;\n\td->v = v;\n\tinode_unlock(d->inode);\n\treturn 0;",
        "\tdown_write(&d->sem);\n\tif (d->v) {\n\t\tup_write(&d->sem);\n\t\treturn put_user(d->v, p);\n\t}\n\treturn put_user(0, p);",
        "\tmutex_lock(&d->lock);\n\tif (get_user(v, p))\n\t\treturn -EFAULT;\n\td->v = v;\n\tmutex_unlock(&d->lock);\n\tif (get_user(v, p + 1))\n\t\treturn -EFAULT;\n\treturn v;",
        "\tmutex_lock(&d->lock);\n\tret = fetch(&v, p);\n\tif (ret)\n\t\treturn ret;\n\td->v = v;\n\tmutex_unlock(&d->lock);\n\treturn 0;",
        // Another lock is let go.
        "\tmutex_lock(&d->lock);\n\tmutex_lock(&d->other);\n\tif (get_user(v, p)) {\n\t\tmutex_unlock(&d->other);\n\t\treturn -EFAULT;\n\t}\n\tmutex_unlock(&d->other);\n\tmutex_unlock(&d->lock);\n\treturn 0;",
    ] {
        assert_eq!(rules(wrong), ["kept-lock"], "{wrong}");
    }
}

#[test]
fn a_lock_is_kept_where_a_call_that_is_given_the_users_address_fails() {
    let wrong = "\tif (mmap_read_lock_killable(d->mm))\n\t\treturn -EINTR;\n\tret = peek_page(&v, p + 1);\n\tif (unlikely(ret))\n\t\treturn ret;\n\tif (!v)\n\t\tret = -EINVAL;\n\tmmap_read_unlock(d->mm);\n\treturn ret;";
    let cast = wrong.replace("p + 1", "(u32 __user *)d->at");
    let condition = "\tmutex_lock(&d->lock);\n\tif (peek_page(&v, p))\n\t\treturn -EFAULT;\n\tmutex_unlock(&d->lock);\n\treturn 0;";
    for wrong in [wrong, &cast, condition] {
        assert_eq!(rules(wrong), ["kept-lock"], "{wrong}");
    }
    let kept = condition.replace("-EFAULT", "1");
    for right in [
        wrong
            .replace(
                "unlikely(ret))\n\t\treturn ret;",
                "unlikely(ret))\n\t\tgoto out;",
            )
            .replace("\tmmap_read_unlock", "out:\n\tmmap_read_unlock"),
        // What it gives is no error, or it is none of the user's, and the caller has the lock.
        kept.replace("peek_page(&v, p)", "d->v > peek_page(&v, p)"),
        kept.replace("(&v, p)", "(&v, d->at)"),
        kept.replace("if (peek_page(&v, p))", "if (access_ok(p, 4))"),
    ] {
        assert!(!rules(&right).contains(&"kept-lock".to_owned()), "{right}");
    }
}

#[test]
fn a_lock_that_is_let_go_or_that_is_the_callers_is_not_kept() {
    for right in [
        "\tmutex_lock(&d->lock);\n\tif (get_user(v, p)) {\n\t\tmutex_unlock(&d->lock);\n\t\treturn -EFAULT;\n\t}\n\tmutex_unlock(&d->lock);\n\treturn 0;",
        "\tmutex_lock(&d->lock);\n\tif (get_user(v, p))\n\t\tret = -EFAULT;\n\tmutex_unlock(&d->lock);\n\treturn ret;",
        "\tmutex_lock(&d->lock);\n\tif (get_user(v, p)) {\n\t\tleave(d);\n\t\treturn -EFAULT;\n\t}\n\tmutex_unlock(&d->lock);\n\treturn 0;",
        "\tguard(mutex)(&d->lock);\n\tif (get_user(v, p))\n\t\treturn -EFAULT;\n\treturn 0;",
        // Its caller lets it go, or another file.
        "\tmutex_lock(&d->lock);\n\tif (get_user(v, p))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\tmutex_lock(&d->lock);\n\tif (get_user(v, p)) {\n\t\tdev_abort(d);\n\t\treturn -EFAULT;\n\t}\n\tmutex_unlock(&d->lock);\n\treturn 0;",
        // It was not taken, or what says whether it was is asked.
        "\tif (locked)\n\t\tmutex_lock(&d->lock);\n\tif (get_user(v, p)) {\n\t\tif (locked)\n\t\t\tmutex_unlock(&d->lock);\n\t\treturn -EFAULT;\n\t}\n\tif (locked)\n\t\tmutex_unlock(&d->lock);\n\treturn 0;",
        "\tmutex_lock(&d->lock);\n\tif (d->v) {\n\t\tmutex_unlock(&d->lock);\n\t\tlocked = false;\n\t}\n\tret = get_user(v, p);\n\tif (locked)\n\t\tmutex_unlock(&d->lock);\n\treturn ret;",
        "\tmutex_lock(&d->lock);\n\tlocked = true;\n\tif (d->v)\n\t\tgoto out;\n\tmutex_unlock(&d->lock);\n\tlocked = false;\nout:\n\tif (locked)\n\t\tmutex_unlock(&d->lock);\n\tif (ret)\n\t\treturn ret;\n\treturn put_user(d->v, p);",
        "\tif (!mutex_trylock(&d->lock))\n\t\treturn get_user(v, p);\n\tmutex_unlock(&d->lock);\n\treturn 0;",
        // The same member by another name.
        "\tstruct dev *own = d;\n\n\tmutex_lock(&d->lock);\n\tret = get_user(v, p);\n\tmutex_unlock(&own->lock);\n\treturn ret;",
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
}

/// What is asked before it is taken is asked by who lets it go.
#[test]
fn a_lock_that_a_condition_takes_is_kept_where_a_fault_does_not_ask() {
    let wrong = "\tif (locked)\n\t\tmutex_lock(&d->lock);\n\tif (get_user(v, p))\n\t\treturn -EFAULT;\n\tif (locked)\n\t\tmutex_unlock(&d->lock);\n\treturn 0;";
    assert_eq!(rules(wrong), ["kept-lock"], "{wrong}");
}

/// A bit that is set by whoever goes on is a lock as well.
#[test]
fn a_bit_is_kept_where_a_fault_leaves() {
    let wrong = "\tif (test_and_set_bit(BUSY, &d->flags))\n\t\treturn -EBUSY;\n\tif (get_user(v, p))\n\t\treturn -EFAULT;\n\td->v = v;\n\tclear_bit(BUSY, &d->flags);\n\treturn 0;";
    let inside = "\tif (!test_and_set_bit_lock(0, &d->state)) {\n\t\tif (copy_to_user(p, &d->v, 4))\n\t\t\treturn -EFAULT;\n\t\tclear_bit_unlock(0, &d->state);\n\t}\n\treturn 0;";
    let waits = "\twhile (test_and_set_bit(BUSY, &d->flags))\n\t\tcpu_relax();\n\tret = fetch(&v, p);\n\tif (ret)\n\t\treturn ret;\n\td->v = v;\n\t__clear_bit(BUSY, &d->flags);\n\treturn 0;";
    let fault = "(get_user(v, p))\n\t\treturn";
    for wrong in [
        wrong,
        inside,
        waits,
        &wrong.replace(
            "if (test_and_set_bit(BUSY, &d->flags))",
            "ret = test_and_set_bit(BUSY, &d->flags);\n\tif (ret)",
        ),
        // Another bit, or another word.
        &wrong
            .replace(
                fault,
                "(get_user(v, p)) {\n\t\tclear_bit(OPEN, &d->flags);\n\t\treturn",
            )
            .replace("-EFAULT;", "-EFAULT;\n\t}"),
    ] {
        assert_eq!(rules(wrong), ["kept-lock"], "{wrong}");
    }
    let cleared = wrong
        .replace(
            fault,
            "(get_user(v, p)) {\n\t\tclear_bit(BUSY, &d->flags);\n\t\treturn",
        )
        .replace("-EFAULT;", "-EFAULT;\n\t}");
    for right in [
        &cleared,
        // It stays set where all goes well.
        &cleared.replace("v;\n\tclear_bit(BUSY, &d->flags);", "v;"),
        &wrong
            .replace(fault, "(get_user(v, p))\n\t\tret =")
            .replace("\td->v = v;", "\tif (!ret)\n\t\td->v = v;")
            .replace("return 0", "return ret"),
        // Nothing clears it here, or who is given it may.
        &wrong.replace("clear_bit(BUSY, &d->flags)", "clear_bit(BUSY, &d->other)"),
        &wrong.replace("clear_bit(BUSY,", "clear_bit(OPEN,"),
        &wrong
            .replace(fault, "(get_user(v, p)) {\n\t\tdev_abort(d);\n\t\treturn")
            .replace("-EFAULT;", "-EFAULT;\n\t}"),
        // Another one has it.
        "\tif (test_and_set_bit(BUSY, &d->flags)) {\n\t\tif (put_user(1, p))\n\t\t\treturn -EFAULT;\n\t\treturn -EBUSY;\n\t}\n\td->v = 1;\n\tclear_bit(BUSY, &d->flags);\n\treturn 0;",
        // Nobody asked whether it was set.
        &wrong.replace(
            "\tif (test_and_set_bit(BUSY, &d->flags))\n\t\treturn -EBUSY;",
            "\tset_bit(BUSY, &d->flags);",
        ),
    ] {
        assert_eq!(rules(right), NONE, "{right}");
    }
    // It is the file's, which the program has.
    let given = "\tif (test_and_set_bit(BUSY, &d->flags))\n\t\treturn -EBUSY;\n\tret = anon_inode_getfd(\"dev\", &ops, d->own, 0);\n\tif (ret < 0) {\n\t\tclear_bit(BUSY, &d->flags);\n\t\treturn ret;\n\t}\n\tif (put_user(ret, p))\n\t\treturn -EFAULT;\n\treturn 0;";
    assert!(!rules(given).contains(&"kept-lock".to_owned()));
}

#[test]
fn a_copy_stands_where_nobody_may_sleep_or_wait_for_himself() {
    for (begins, ends) in [
        (
            "ring_buffer_lock_reserve(d->buffer, 4)",
            "ring_buffer_unlock_commit(d->buffer)",
        ),
        ("kernel_fpu_begin()", "kernel_fpu_end()"),
        (
            "write_seqcount_begin(&d->count)",
            "write_seqcount_end(&d->count)",
        ),
        ("local_lock(&d->own)", "local_unlock(&d->own)"),
        (
            "ext4_journal_start_sb(d->sb, 1, 1)",
            "ext4_journal_stop(d->handle)",
        ),
        (
            "btrfs_start_transaction(d->root, 1)",
            "btrfs_end_transaction(d->handle)",
        ),
    ] {
        let wrong = format!(
            "\t{begins};\n\tif (copy_to_user(p, &d->v, 4))\n\t\tret = -EFAULT;\n\t{ends};\n\treturn ret;"
        );
        assert_eq!(rules(&wrong), ["fault-in-atomic"], "{wrong}");
        let right = format!(
            "\t{begins};\n\tv = d->v;\n\t{ends};\n\tif (copy_to_user(p, &v, 4))\n\t\tret = -EFAULT;\n\treturn ret;"
        );
        assert_eq!(rules(&right), NONE, "{right}");
    }
}

/// What is said of two functions, of which the first is called by the second.
fn of_two(inner: &str, outer: &str) -> Vec<String> {
    let text = format!(
        "static long events(struct dev *d, char __user *buf, size_t n)\n{{\n\tu32 all[4];\n\tlong ret = n;\n\n\tmemset(all, 0, sizeof(all));\n{inner}\n}}\n\
         ssize_t dev_read(struct dev *d, char __user *buf, size_t n)\n{{\n\tlong ret;\n\n{outer}\n}}\n"
    );
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

#[test]
fn a_copy_stands_before_the_callers_lock_is_let_go() {
    let takes = "\tspin_lock_irq(&d->wait.lock);\n\tif (!d->count) {\n\t\tspin_unlock_irq(&d->wait.lock);\n\t\treturn 0;\n\t}\n\tret = events(d, buf, n);\n\treturn ret;";
    let wrong = "\tif (copy_to_user(buf, all, sizeof(all)))\n\t\tret = -EFAULT;\n\td->count = 0;\n\tspin_unlock_irq(&d->wait.lock);\n\treturn ret;";
    let two_ends = "\tif (copy_to_user(buf, all, sizeof(all))) {\n\t\tspin_unlock_irq(&d->wait.lock);\n\t\treturn -EFAULT;\n\t}\n\td->count = 0;\n\tspin_unlock_irq(&d->wait.lock);\n\treturn ret;";
    for wrong in [wrong, two_ends] {
        assert_eq!(of_two(wrong, takes), ["fault-in-atomic"], "{wrong}");
    }
    let behind = "\td->count = 0;\n\tspin_unlock_irq(&d->wait.lock);\n\tif (copy_to_user(buf, all, sizeof(all)))\n\t\tret = -EFAULT;\n\treturn ret;";
    let some_way = "\tif (copy_to_user(buf, all, sizeof(all)))\n\t\treturn -EFAULT;\n\td->count = 0;\n\tspin_unlock_irq(&d->wait.lock);\n\treturn ret;";
    let dropped = "\tspin_unlock_irq(&d->wait.lock);\n\tif (copy_to_user(buf, all, sizeof(all)))\n\t\tret = -EFAULT;\n\tspin_lock_irq(&d->wait.lock);\n\td->count = 0;\n\tspin_unlock_irq(&d->wait.lock);\n\treturn ret;";
    for right in [behind, some_way, dropped] {
        assert_eq!(of_two(right, takes), NONE, "{right}");
    }
    // Nobody is seen to take it: what else does is another file's.
    let given = "\tdev_hold(d);\n\tret = events(d, buf, n);\n\treturn ret;";
    assert_eq!(of_two(wrong, given), NONE);
}

#[test]
fn a_function_that_takes_a_lock_of_its_own_lets_go_none_of_its_callers() {
    let own = "\trcu_read_lock();\n\tall[0] = d->count;\n\trcu_read_unlock();\n\treturn all[0];";
    let wrong = "\trcu_read_lock();\n\tret = events(d, buf, n);\n\tif (put_user(ret, (int __user *)buf))\n\t\tret = -EFAULT;\n\trcu_read_unlock();\n\treturn ret;";
    assert_eq!(of_two(own, wrong), ["fault-in-atomic"]);
    let dropped =
        "\trcu_read_unlock();\n\tall[0] = wait_for(d);\n\trcu_read_lock();\n\treturn all[0];";
    assert_eq!(of_two(dropped, wrong), NONE);
}

#[test]
fn of_two_locks_that_one_is_named_by_which_nothing_relies_on_a_fault() {
    let wrong = "\tlocal_irq_save(flags);\n\tarch_spin_lock(&d->lock);\n\tret = put_user(d->v, p);\n\tarch_spin_unlock(&d->lock);\n\tlocal_irq_restore(flags);\n\treturn ret;";
    assert_eq!(rules(wrong), ["fault-in-atomic"]);
    let right = "\tlocal_irq_save(flags);\n\tarch_spin_lock(&d->lock);\n\tv = d->v;\n\tarch_spin_unlock(&d->lock);\n\tlocal_irq_restore(flags);\n\treturn put_user(v, p);";
    assert_eq!(rules(right), NONE);
}
