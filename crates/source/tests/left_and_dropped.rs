//! Single values where nobody may sleep, results that nobody takes where all is said to be well, and what
//! a fault leaves begun: states that have an end, and files of descriptors.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, functions).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// An ioctl() of these statements, with what stands before it.
fn ioctl(before: &str, statements: &str) -> Vec<String> {
    rules(&format!(
        "struct dev {{ u32 mode; u32 level; struct mutex lock; }};\n{before}\
         static long ask(struct file *file, unsigned int command, unsigned long arg)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tu32 __user *p = (u32 __user *)arg;\n\
         \tunsigned long flags;\n\tu32 mode;\n\tint ret = 0;\n\n{statements}\n}}\n\
         static const struct file_operations ops = {{ .unlocked_ioctl = ask }};\n"
    ))
}

#[test]
fn a_single_value_for_a_program_where_nobody_may_sleep() {
    let within = |begin: &str, end: &str| {
        ioctl(
            "",
            &format!(
                "\t{begin};\n\tif (get_user(mode, p)) {{\n\t\t{end};\n\t\treturn -EFAULT;\n\t}}\n\
                 \td->mode = mode;\n\t{end};\n\treturn 0;"
            ),
        )
    };
    for (begin, end) in [
        ("local_irq_save(flags)", "local_irq_restore(flags)"),
        ("local_irq_disable()", "local_irq_enable()"),
        ("preempt_disable()", "preempt_enable()"),
        ("flags = get_cpu()", "put_cpu()"),
    ] {
        assert_eq!(within(begin, end), ["fault-in-atomic"], "{begin}");
    }
    assert_eq!(
        within("pagefault_disable()", "pagefault_enable()"),
        NONE,
        "a fault fails there"
    );
    let helper = "static int fetch(struct dev *d, u32 __user *from)\n{\n\tint err;\n\n\tpreempt_disable();\n\
                  \terr = get_user(d->mode, from);\n\tpreempt_enable();\n\treturn err;\n}\n";
    assert_eq!(
        ioctl(helper, "\treturn fetch(d, p);"),
        ["fault-in-atomic"],
        "a program calls it by another one"
    );
    assert_eq!(rules(helper), NONE, "who calls it may try again");
    // A word that nobody else may change in between.
    let exchange = "\tpreempt_disable();\n\tret = get_user(mode, p);\n\tif (!ret && mode == d->mode)\n\
                    \t\tret = put_user(d->level, p);\n\tpreempt_enable();\n\treturn ret;";
    assert_eq!(ioctl("", exchange), NONE);
}

#[test]
fn a_value_that_is_not_stored_and_said_to_be() {
    for wrong in [
        "\tif (d->mode > 3)\n\t\treturn -EINVAL;\n\tput_user(d->mode, p);\n\treturn 0;",
        "\tswitch (command) {\n\tcase 1:\n\t\tput_user(d->mode, p);\n\t\tbreak;\n\tdefault:\n\t\tret = -ENOTTY;\n\t}\n\treturn ret;",
        "\tret = 0;\n\tif (command > 2)\n\t\tret = -EIO;\n\tif (ret == 0 && command == 1)\n\t\tput_user(d->mode, (u32 __user *)arg);\n\treturn ret;",
        "\tif (!d->mode)\n\t\treturn -EAGAIN;\n\tget_user(d->level, p);\n\treturn 0;",
    ] {
        assert_eq!(ioctl("", wrong), ["ignored-fault"], "{wrong}");
    }
    for right in [
        "\tif (d->mode > 3)\n\t\treturn -EINVAL;\n\tif (put_user(d->mode, p))\n\t\treturn -EFAULT;\n\treturn 0;",
        // What is wrong is said already.
        "\tif (d->mode > 3) {\n\t\tput_user(3, p);\n\t\treturn -E2BIG;\n\t}\n\treturn 0;",
        "\tif (d->mode > 3) {\n\t\tret = -E2BIG;\n\t\tput_user(3, p);\n\t}\n\treturn ret;",
        // Nobody is to know.
        "\tif (d->mode > 3)\n\t\treturn -EINVAL;\n\t(void)put_user(d->mode, p);\n\treturn 0;",
    ] {
        assert_eq!(ioctl("", right), NONE, "{right}");
    }
    // What a function finds by itself it may only try.
    let found = "int walk(struct vcpu *v)\n{\n\tu8 __user *at = find(v);\n\n\tif (!at)\n\t\treturn -ENOENT;\n\tput_user(1, at);\n\treturn 0;\n}\n";
    assert_eq!(rules(found), NONE);
}

#[test]
fn a_state_that_a_fault_leaves_begun() {
    for (begin, end) in [
        ("port_enter()", "port_exit()"),
        ("dev_config_begin(d)", "dev_config_end(d)"),
        ("dev_suspend_io(d)", "dev_resume_io(d)"),
        ("dev_freeze_queue(d)", "dev_unfreeze_queue(d)"),
        ("dev_freeze(d)", "dev_thaw(d)"),
        ("dev_stop_queue(d)", "dev_start_queue(d)"),
    ] {
        let wrong = format!(
            "\t{begin};\n\tmode = level();\n\tif (put_user(mode, p))\n\t\treturn -EFAULT;\n\t{end};\n\treturn 0;"
        );
        assert_eq!(ioctl("", &wrong), ["kept-lock"], "{begin}");
        let right = wrong.replace(
            "\n\t\treturn -EFAULT",
            &format!(" {{\n\t\t{end};\n\t\treturn -EFAULT;\n\t}}"),
        );
        assert_eq!(ioctl("", &right), NONE, "{begin}");
    }
    let asked = "\tret = port_enter();\n\tif (ret)\n\t\treturn ret;\n\tif (get_user(mode, p))\n\t\treturn -EFAULT;\n\tport_exit();\n\treturn 0;";
    assert_eq!(ioctl("", asked), ["kept-lock"]);
    // Where it could not be begun there is nothing to end.
    let refused = asked
        .replace(
            "\tport_exit();\n\treturn 0",
            "\tport_exit();\n\treturn put_user(d->mode, p)",
        )
        .replace("\tif (get_user(mode, p))\n\t\treturn -EFAULT;\n", "");
    assert_eq!(ioctl("", &refused), NONE);
    // Another state's end.
    let other = "\tport_enter();\n\tif (put_user(d->mode, p))\n\t\treturn -EFAULT;\n\tbank_exit();\n\treturn 0;";
    assert_eq!(ioctl("", other), NONE);
}

#[test]
fn a_file_of_a_descriptor_that_is_kept() {
    let with = |refused: &str| {
        ioctl(
            "",
            &format!(
                "\tstruct fd f;\n\n\tif (get_user(mode, p))\n\t\treturn -EFAULT;\n\tf = fdget(mode);\n\
                 \tif (!fd_file(f))\n\t\treturn -EBADF;\n{refused}\tret = join(d, fd_file(f));\n\tfdput(f);\n\treturn ret;"
            ),
        )
    };
    for wrong in [
        "\tif (!d->mode)\n\t\treturn -EINVAL;\n",
        "\tif (get_user(d->level, p + 1))\n\t\treturn -EFAULT;\n",
    ] {
        assert_eq!(with(wrong), ["kept-memory"], "{wrong}");
    }
    // As it was asked before there was a macro for it.
    let member = "\tstruct fd f = fdget_pos(command);\n\n\tif (!f.file)\n\t\treturn -EBADF;\n\
                  \tret = -EINVAL;\n\tif (d->mode > 3)\n\t\tgoto out;\n\tret = put_user(seek(f.file), p);\nout:\n\
                  \tfdput_pos(f);\n\treturn ret;";
    assert_eq!(ioctl("", member), NONE);
    for right in [
        "",
        "\tif (fd_file(f)->f_op != file->f_op) {\n\t\tfdput(f);\n\t\treturn -EINVAL;\n\t}\n",
        "\tret = -EINVAL;\n\tif (fd_file(f)->f_op != file->f_op)\n\t\tgoto out;\nout:\n",
    ] {
        assert_eq!(with(right), NONE, "{right}");
    }
}

#[test]
fn an_answer_that_a_choice_turns_over() {
    for wrong in [
        "\treturn !copy_to_user(p, d, 8) ? -EFAULT : 0;",
        "\treturn copy_to_user(p, d, 8) ? 0 : -EFAULT;",
        "\tret = !get_user(mode, p) ? -EFAULT : 0;\n\tif (ret)\n\t\treturn ret;\n\td->mode = mode;\n\treturn 0;",
        "\tret = (put_user(d->mode, p) == 0) ? -EFAULT : 0;\n\treturn ret;",
        "\tret = access_ok(p, 4) ? -EFAULT : 0;\n\treturn ret ? ret : put_user(d->mode, p);",
    ] {
        assert_eq!(ioctl("", wrong), ["inverted-test"], "{wrong}");
    }
    for right in [
        "\treturn copy_to_user(p, d, 8) ? -EFAULT : 0;",
        "\treturn !copy_to_user(p, d, 8) ? 0 : -EFAULT;",
        "\tret = (put_user(d->mode, p) != 0) ? -EFAULT : 0;\n\treturn ret;",
        "\treturn d->mode && copy_to_user(p, d, 8) ? -EFAULT : 0;",
        "\tret = !access_ok(p, 4) ? -EFAULT : 0;\n\treturn ret ? ret : put_user(d->mode, p);",
    ] {
        assert_eq!(ioctl("", right), NONE, "{right}");
    }
}

#[test]
fn a_value_that_is_used_where_it_could_not_be_read() {
    for wrong in [
        "\tif (get_user(mode, p)) {\n\t\tif (mode > 3)\n\t\t\treturn -EINVAL;\n\t\td->mode = mode;\n\t\treturn 0;\n\t}\n\treturn -EINVAL;",
        "\tret = get_user(mode, p);\n\tif (ret) {\n\t\tswitch (mode & 3) {\n\t\tcase 1:\n\t\t\treturn start(d);\n\t\tdefault:\n\t\t\treturn stop(d);\n\t\t}\n\t}\n\treturn -EINVAL;",
    ] {
        assert_eq!(ioctl("", wrong), ["inverted-test"], "{wrong}");
    }
    for right in [
        "\tif (!get_user(mode, p)) {\n\t\tif (mode > 3)\n\t\t\treturn -EINVAL;\n\t\td->mode = mode;\n\t\treturn 0;\n\t}\n\treturn -EFAULT;",
        "\tif (get_user(mode, p)) {\n\t\tmode = level();\n\t\tif (mode > 3)\n\t\t\treturn -EFAULT;\n\t}\n\td->mode = mode;\n\treturn 0;",
        "\tif (get_user(mode, p)) {\n\t\tpr_debug(\"no mode %u\\n\", mode);\n\t\treturn -EFAULT;\n\t}\n\treturn 0;",
    ] {
        assert_eq!(ioctl("", right), NONE, "{right}");
    }
}

#[test]
fn a_fault_that_the_next_round_overwrites() {
    let round = |inside: &str| {
        ioctl(
            "",
            &format!(
                "\tint i;\n\n\tfor (i = 0; i < 4; i++) {{\n\t\tret = step(d, i);\n\t\tif (ret)\n\t\t\tbreak;\n\
                 {inside}\n\t\tp += 2;\n\t}}\n\treturn ret;"
            ),
        )
    };
    for wrong in [
        "\t\tif (d->mode)\n\t\t\tret = copy_to_user(p, d, 8) ? -EFAULT : 0;",
        "\t\tret = put_user(d->mode, p);",
        "\t\tif (d->level > i)\n\t\t\tret = get_user(d->mode, p);",
    ] {
        assert_eq!(round(wrong), ["swallowed-fault"], "{wrong}");
    }
    for right in [
        "\t\tif (d->mode)\n\t\t\tret = copy_to_user(p, d, 8) ? -EFAULT : 0;\n\t\tif (ret)\n\t\t\tbreak;",
        "\t\tret = put_user(d->mode, p);\n\t\tif (ret)\n\t\t\treturn ret;",
        "\t\tif (d->mode && copy_to_user(p, d, 8)) {\n\t\t\tret = -EFAULT;\n\t\t\tbreak;\n\t\t}",
    ] {
        assert_eq!(round(right), NONE, "{right}");
    }
}

/// A write() of these statements.
fn write(statements: &str) -> Vec<String> {
    rules(&format!(
        "struct part {{ char bytes[64]; size_t len; u32 rate; }};\n\
         static ssize_t put(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct part *d = file->private_data;\n\tsize_t n = min_t(size_t, count, 32);\n\n\
         \tif (*at < 0 || *at > 32)\n\t\treturn -EINVAL;\n\tif (copy_from_user(d->bytes + *at, u, n))\n\
         \t\treturn -EFAULT;\n{statements}\n\treturn n;\n}}\n\
         static const struct file_operations ops = {{ .write = put }};\n"
    ))
}

#[test]
fn a_position_that_counts_what_it_was_moved_on_by_again() {
    for wrong in [
        "\t*at += n;\n\td->len = *at + n;",
        "\t*at += n;\n\tif (d->len < *at)\n\t\td->len = n + *at;",
        "\t(*at) += n;\n\td->len = (size_t)*at + n;",
    ] {
        assert_eq!(write(wrong), ["kept-position"], "{wrong}");
    }
    for right in [
        "\td->len = *at + n;\n\t*at += n;",
        "\t*at += n;\n\td->len = *at;",
        "\t*at += n;\n\tn = d->rate;\n\td->len = *at + n;",
        "\t*at += n;\n\td->len = *at + d->rate;",
    ] {
        assert_eq!(write(right), NONE, "{right}");
    }
}
