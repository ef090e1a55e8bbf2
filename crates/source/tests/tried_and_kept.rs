//! Locks that a function tries to take, and what it keeps where a fault or an error leaves.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// A write() of these statements.
fn writes(statements: &str) -> Vec<String> {
    rules(&format!(
        "#define note(own, format, all...) dev_dbg(&(own)->dev, format, ## all)\n\
         struct box {{ struct mutex lock; struct port *port; spinlock_t busy; u32 level; u32 last; }};\n\
         static ssize_t box_write(struct file *file, const char __user *from, size_t count, loff_t *ppos)\n{{\n\
         \tstruct box *b = file->private_data;\n\tssize_t done = 0;\n\tu32 v;\n\tint ret = 0;\n\n{statements}\n}}\n"
    ))
}

#[test]
fn a_lock_that_is_tried_is_kept_where_a_fault_leaves() {
    let tried = |condition: &str, fault: &str| {
        writes(&format!(
            "\tif ({condition})\n\t\treturn -EAGAIN;\n\tif (copy_from_user(&v, from, 4)) {{\n{fault}\t\treturn -EFAULT;\n\t}}\n\
             \tb->level = v;\n\tmutex_unlock(&b->lock);\n\treturn count;"
        ))
    };
    for condition in [
        "!mutex_trylock(&b->lock)",
        "mutex_trylock(&b->lock) == 0",
        "(ret = mutex_trylock(&b->lock)) == 0",
        "!likely(mutex_trylock(&b->lock))",
    ] {
        assert_eq!(tried(condition, ""), ["kept-lock"], "{condition}");
        let back = "\t\tmutex_unlock(&b->lock);\n";
        assert_eq!(tried(condition, back), NONE, "{condition}");
    }
}

#[test]
fn a_lock_that_is_taken_in_one_of_two_ways_is_let_go_in_each_round() {
    let rounds = |fault: &str, end: &str| {
        writes(&format!(
            "\twhile (done < count) {{\n\t\tif (file->f_flags & O_NONBLOCK) {{\n\t\t\tret = mutex_trylock(&b->lock);\n\
             \t\t\tif (ret == 0) {{\n\t\t\t\tret = -EAGAIN;\n\t\t\t\tgoto out;\n\t\t\t}} else {{\n\t\t\t\tret = 0;\n\t\t\t}}\n\
             \t\t}} else {{\n\t\t\tret = mutex_lock_interruptible(&b->lock);\n\t\t\tif (ret)\n\t\t\t\tgoto out;\n\t\t}}\n\
             \t\tif (copy_from_user(&v, from + done, 4)) {{\n\t\t\tret = -EFAULT;\n{fault}\t\t\tgoto out;\n\t\t}}\n\
             \t\tb->level = v;\n\t\tdone += 4;\n\t\tmutex_unlock(&b->lock);\n\t}}\nout:\n{end}\treturn done ? done : ret;"
        ))
    };
    for end in ["", "\tnote(b->port, \"wrote %zu\\n\", done);\n"] {
        let back = "\t\t\tmutex_unlock(&b->lock);\n";
        assert_eq!(rounds(back, end), NONE, "{end}");
        assert_eq!(rounds("", end), ["kept-lock"], "{end}");
    }
    // Who is given the whole may let it go.
    assert_eq!(rounds("", "\tbox_done(b);\n"), NONE);
}

#[test]
fn a_lock_that_is_tried_is_let_go_where_it_was_taken() {
    let asked = |fault: &str, end: &str| {
        writes(&format!(
            "\tbool locked = mutex_trylock(&b->lock);\n\n\tif (!locked && file->f_flags & O_NONBLOCK)\n\t\treturn -EAGAIN;\n\
             \tif (copy_from_user(&v, from, 4)) {{\n\t\tret = -EFAULT;\n{fault}\t\tgoto out;\n\t}}\n\
             \tif (locked)\n\t\tb->level = v;\nout:\n{end}\treturn ret ? ret : count;"
        ))
    };
    let back = "\tif (locked)\n\t\tmutex_unlock(&b->lock);\n";
    assert_eq!(asked("", back), NONE);
    let either = writes(
        "\tif (mutex_trylock(&b->lock)) {\n\t\tret = 1;\n\t} else if (down_read_trylock(&b->port->sem)) {\n\
         \t\tret = 2;\n\t} else {\n\t\treturn -EBUSY;\n\t}\n\tif (copy_from_user(&v, from, 4))\n\t\tgoto out;\n\
         \tb->level = v;\nout:\n\tif (ret == 1)\n\t\tmutex_unlock(&b->lock);\n\telse\n\t\tup_read(&b->port->sem);\n\treturn count;",
    );
    assert_eq!(either, NONE);
}

#[test]
fn what_prints_or_is_given_another_member_lets_nothing_go() {
    let said = |call: &str| {
        writes(&format!(
            "\tmutex_lock(&b->lock);\n\tif (copy_from_user(&v, from, 4)) {{\n\t\t{call};\n\t\treturn -EFAULT;\n\t}}\n\
             \tb->level = v;\n\tmutex_unlock(&b->lock);\n\treturn count;"
        ))
    };
    for call in [
        "dev_err(b, \"no\\n\")",
        "note(b->port, \"no\\n\")",
        "port_stop(b->port)",
    ] {
        assert_eq!(said(call), ["kept-lock"], "{call}");
    }
    for call in ["box_abort(b)", "box_finish(&b->lock)"] {
        assert_eq!(said(call), NONE, "{call}");
    }
}

#[test]
fn a_lock_of_a_drivers_own_is_tried_by_its_name() {
    let tried = |condition: &str, last: &str| {
        writes(&format!(
            "\tif ({condition})\n\t\treturn -EBUSY;\n\tif (copy_from_user(&v, from, 4))\n\t\treturn -EFAULT;\n\
             \tb->level = v;\n\t{last};\n\treturn count;"
        ))
    };
    assert_eq!(tried("!box_trylock(b)", "box_unlock(b)"), ["kept-lock"]);
    // Its sense is not known, or nobody lets it go.
    assert_eq!(tried("!box_trylock(b)", "v = 0"), NONE);
    assert_eq!(
        tried("hwspin_trylock(b->lock)", "hwspin_unlock(b->lock)"),
        NONE
    );
    let either = writes(
        "\tif (!mutex_trylock(&b->lock))\n\t\treturn copy_from_user(&v, from, 4) ? -EFAULT : 4;\n\
         \tb->level = 1;\n\tmutex_unlock(&b->lock);\n\treturn count;",
    );
    assert_eq!(either, NONE, "it does not have it");
}

#[test]
fn a_reference_is_kept_where_a_variable_leads_into_it() {
    let kept = |inside: &str, fault: &str| {
        rules(&format!(
            "static ssize_t unit_write(struct file *file, const char __user *from, size_t count, loff_t *ppos)\n{{\n\
             \tstruct unit *unit = unit_get_device(7);\n\tstruct unit_state *s;\n\tchar buf[8];\n\n\tif (!unit)\n\t\treturn -ENODEV;\n\
             {inside}\tcount = min_t(size_t, count, sizeof(buf) - 1);\n\tif (copy_from_user(buf, from, count)) {{\n\t\t{fault}\n\t}}\n\
             \ts->last = buf[0];\nout:\n\tunit_put_device(unit);\n\treturn count;\n}}\n"
        ))
    };
    let goes = "count = -EFAULT;\n\t\tgoto out;";
    for inside in ["\ts = &unit->state;\n", "\ts = &unit->states[1];\n"] {
        assert_eq!(kept(inside, "return -EFAULT;"), ["kept-memory"], "{inside}");
        assert_eq!(kept(inside, goes), NONE, "{inside}");
    }
    // Somebody else may have it there.
    for inside in [
        "\ts = &unit->state;\n\tlist_head = s;\n",
        "\ts = &unit->state;\n\tfile->private_data = s;\n",
        "\tfile->private_data = &unit->state;\n\ts = file->private_data;\n",
    ] {
        assert_eq!(kept(inside, "return -EFAULT;"), NONE, "{inside}");
    }
}

#[test]
fn a_mapping_is_kept_where_a_fault_leaves() {
    let read = |statements: &str| {
        rules(&format!(
            "static ssize_t image_read(struct file *file, char __user *to, size_t count, loff_t *ppos)\n{{\n\
             \tvoid *p = memremap(file->f_pos, count, MEMREMAP_WB);\n\tsize_t left;\n\n\tif (!p)\n\t\treturn -ENOMEM;\n\
             \tleft = copy_to_user(to, p, count);\n{statements}\treturn count;\n}}\n"
        ))
    };
    let asks = "\tif (left)\n\t\treturn -EFAULT;\n";
    let ends = "\tmemunmap(p);\n";
    assert_eq!(read(&format!("{asks}{ends}")), ["kept-memory"]);
    assert_eq!(read(&format!("{ends}{asks}")), NONE);
    assert_eq!(
        read(&format!("\tfile->private_data = p;\n{asks}{ends}")),
        NONE,
        "another has it"
    );
}

#[test]
fn what_import_iovec_allocates_is_kept_where_an_error_leaves() {
    let call = |asked: &str, end: &str| {
        rules(&format!(
            "ssize_t advise(int fd, const struct iovec __user *vec, unsigned long segments)\n{{\n\
             \tstruct iovec stack[8];\n\tstruct iovec *iov = stack;\n\tstruct iov_iter iter;\n\tstruct pid *pid;\n\tssize_t ret;\n\n\
             \tret = import_iovec(READ, vec, segments, ARRAY_SIZE(stack), &iov, &iter);\n\tif (ret < 0)\n\t\treturn ret;\n\
             \tpid = pidfd_get_pid(fd);\n\tif (IS_ERR(pid)) {{\n\t\t{asked}\n\t}}\n\tret = advise_all(pid, &iter);\n\
             \tput_pid(pid);\n{end}\treturn ret;\n}}\n"
        ))
    };
    let frees = "free:\n\tkfree(iov);\n";
    for wrong in ["return PTR_ERR(pid);", "return -ESRCH;"] {
        assert_eq!(call(wrong, frees), ["kept-memory"], "{wrong}");
    }
    let out = "free:\n\tkfree(iov);\nout:\n";
    assert_eq!(
        call("ret = PTR_ERR(pid);\n\t\tgoto out;", out),
        ["kept-memory"]
    );
    for right in [
        "ret = PTR_ERR(pid);\n\t\tgoto free;",
        "kfree(iov);\n\t\treturn -ESRCH;",
    ] {
        assert_eq!(call(right, frees), NONE, "{right}");
    }
}

#[test]
fn what_gives_an_error_pointer_is_compared_with_null() {
    let asked = |call: &str, condition: &str| {
        rules(&format!(
            "static ssize_t end_write(struct file *file, const char __user *from, size_t count, loff_t *ppos)\n{{\n\
             \tchar *data;\n\n\tdata = {call};\n\tif ({condition})\n\t\treturn -ENOMEM;\n\tif (data[0] == 'y')\n\t\tend_all();\n\treturn count;\n}}\n"
        ))
    };
    let call = "simple_transaction_get(file, from, count)";
    for condition in ["!data", "data == NULL"] {
        assert_eq!(asked(call, condition), ["error-pointer"], "{condition}");
    }
    assert_eq!(asked(call, "IS_ERR(data)"), NONE);
    assert_eq!(asked("transaction_of(file)", "!data"), NONE);
}

#[test]
fn a_lock_that_the_caller_has_is_taken_again_and_kept() {
    let waits = |first: &str, fault: &str| {
        writes(&format!(
            "{first}\tret = wait_event_interruptible(b->port->wait, b->last);\n\tmutex_lock(&b->lock);\n\tif (ret)\n\t\treturn ret;\n\
             \tif (copy_from_user(&v, from, 4)) {{\n{fault}\t\treturn -EFAULT;\n\t}}\n\tb->level = v;\n\treturn count;"
        ))
    };
    let end = "\tmutex_unlock(&b->lock);\n";
    assert_eq!(waits(end, ""), NONE);
    // One that a condition lets go is not known to be the caller's.
    let some = "\tif (b->level)\n\t\tmutex_unlock(&b->lock);\n";
    let last = "\t\tmutex_unlock(&b->lock);\n";
    assert_eq!(waits(some, last), NONE);
    assert_eq!(
        writes(
            "\tmutex_lock(&b->lock);\n\tif (copy_from_user(&v, from, 4))\n\t\treturn -EFAULT;\n\tb->level = v;\n\
             \tmutex_unlock(&b->lock);\n\tnote(b->port, \"%u\", v);\n\tmutex_lock(&b->lock);\n\tb->last = v;\n\
             \tmutex_unlock(&b->lock);\n\treturn count;"
        ),
        ["kept-lock"]
    );
}

#[test]
fn a_lock_that_is_dropped_for_the_access_is_let_go_behind_the_rounds() {
    assert_eq!(
        writes(
            "\tret = box_lock_interruptible(b);\n\tif (ret)\n\t\treturn ret;\n\twhile (done < count) {\n\
             \t\tmutex_unlock(&b->lock);\n\t\tret = copy_from_user(&v, from + done, 4) ? -EFAULT : 0;\n\t\tmutex_lock(&b->lock);\n\
             \t\tif (ret)\n\t\t\tgoto out;\n\t\tb->level = v;\n\t\tdone += 4;\n\t}\nout:\n\tmutex_unlock(&b->lock);\n\
             \treturn done ? done : ret;"
        ),
        NONE
    );
}

/// An ioctl() that gives the program a descriptor of what it made, and these statements behind a fault.
fn hands_out(made: &str, fault: &str) -> Vec<String> {
    rules(&format!(
        "struct ask {{ __u32 fd; __u32 line; }};\n\
         static long box_ioctl(struct file *file, unsigned int cmd, unsigned long arg)\n{{\n\
         \tstruct box *b = file->private_data;\n\tstruct line *l;\n\tstruct file *own;\n\tstruct ask ask;\n\tint fd, ret;\n\n\
         \tif (copy_from_user(&ask, (void __user *)arg, sizeof(ask)))\n\t\treturn -EFAULT;\n\
         \tl = kzalloc(sizeof(*l), GFP_KERNEL);\n\tif (!l)\n\t\treturn -ENOMEM;\n\tl->box = b;\n\tget_device(&b->dev);\n\
         \tfd = get_unused_fd_flags(O_CLOEXEC);\n\tif (fd < 0) {{\n\t\tret = fd;\n\t\tgoto out_line;\n\t}}\n\
         {made}\tif (IS_ERR(own)) {{\n\t\tret = PTR_ERR(own);\n\t\tgoto out_fd;\n\t}}\n\task.fd = fd;\n\
         \tif (copy_to_user((void __user *)arg, &ask, sizeof(ask))) {{\n{fault}\t}}\n\
         \tfd_install(fd, own);\n\treturn 0;\nout_fd:\n\tput_unused_fd(fd);\nout_line:\n\tkfree(l);\n\
         \tput_device(&b->dev);\n\treturn ret;\n}}\n"
    ))
}

#[test]
fn what_goes_with_a_file_is_let_go_with_it() {
    let ties = "\town = anon_inode_getfile(\"line\", &line_fops, l, O_RDONLY);\n";
    let fault = "\t\tfput(own);\n\t\tput_unused_fd(fd);\n\t\treturn -EFAULT;\n";
    assert_eq!(hands_out(ties, fault), NONE);
    let other = "\town = line_open(b->name);\n";
    assert_eq!(hands_out(other, fault), ["kept-memory", "kept-lock"]);
}
