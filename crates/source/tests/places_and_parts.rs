//! Tests that what a call filled by its address is taken back behind errors, that a structure of the
//! function's own owns nothing, and that a part of a copy moves nothing on by all of it.

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

/// A function of these declarations and statements that is given a program's request.
fn of(declared: &str, statements: &str) -> Vec<String> {
    rules(&format!(
        "long f(struct dev *d, struct req __user *u)\n{{\n\tstruct req r;\n\tint ret;\n{declared}\n\n\
         \tif (copy_from_user(&r, u, sizeof(r)))\n\t\treturn -EFAULT;\n{statements}\n}}\n"
    ))
}

#[test]
fn what_was_filled_by_its_address_is_taken_back_behind_an_error() {
    for (declared, take, back, read) in [
        (
            "\tstruct path path;",
            "\tret = user_path_at(AT_FDCWD, r.name, 0, &path);\n\tif (ret)\n\t\treturn ret;",
            "path_put(&path)",
            "path.dentry->d_sb != d->sb",
        ),
        (
            "\tstruct path where;",
            "\tret = kern_path(d->name, LOOKUP_FOLLOW, &where);\n\tif (ret < 0)\n\t\treturn ret;",
            "path_put(&where)",
            "!d_is_dir(where.dentry->d_parent)",
        ),
        (
            "\tstruct sg_table sgt;",
            "\tif (sg_alloc_table(&sgt, r.count, GFP_KERNEL))\n\t\treturn -ENOMEM;",
            "sg_free_table(&sgt)",
            "r.count > d->most",
        ),
        (
            "\tstruct fb_cmap cmap;",
            "\tret = fb_alloc_cmap(&cmap, r.count, 0);\n\tif (ret != 0)\n\t\treturn ret;",
            "fb_dealloc_cmap(&cmap)",
            "r.start >= d->most",
        ),
        (
            "\tcpumask_var_t mask;",
            "\tif (!alloc_cpumask_var(&mask, GFP_KERNEL))\n\t\treturn -ENOMEM;",
            "free_cpumask_var(mask)",
            "r.cpu >= d->most",
        ),
    ] {
        let with = |then: &str| of(declared, &format!("{take}\n{then}"));
        let end = format!("\tret = use(d, &r);\n\t{back};\n\treturn ret;");
        let wrong = [
            format!("\tif ({read})\n\t\treturn -EINVAL;\n{end}"),
            format!("\tif ({read}) {{\n\t\tpr_debug(\"no\");\n\t\treturn -EINVAL;\n\t}}\n{end}"),
            format!("\tret = check(d, r.id);\n\tif (ret)\n\t\treturn ret;\n{end}"),
            format!("\tif (put_user(d->id, &u->id))\n\t\treturn -EFAULT;\n{end}"),
            format!(
                "\tret = -EINVAL;\n\tif ({read})\n\t\tgoto out;\n\tret = use(d, &r);\n\t{back};\nout:\n\treturn ret;"
            ),
        ];
        for wrong in wrong {
            assert_eq!(with(&wrong), ["kept-memory"], "{take} {wrong}");
        }
        let right = [
            end.clone(),
            format!("\tif ({read}) {{\n\t\t{back};\n\t\treturn -EINVAL;\n\t}}\n{end}"),
            format!(
                "\tret = -EINVAL;\n\tif ({read})\n\t\tgoto out;\n\tret = use(d, &r);\nout:\n\t{back};\n\treturn ret;"
            ),
            // Who keeps it gives it back another time.
            format!("\tif ({read}) {{\n\t\t{back};\n\t\treturn -EINVAL;\n\t}}\n\treturn 0;"),
        ];
        for right in right {
            assert_eq!(with(&right), NONE, "{take} {right}");
        }
    }
}

#[test]
fn what_was_not_filled_or_went_on_is_not_kept() {
    for right in [
        // It was filled on one way alone, and whether it was is asked.
        "\tret = user_path_at(AT_FDCWD, r.name, 0, &path);\n\tif (ret == -ENOENT)\n\t\treturn -ENODEV;\n\tif (ret)\n\t\treturn ret;\n\tpath_put(&path);\n\treturn 0;",
        // The file has it from there on.
        "\tret = user_path_at(AT_FDCWD, r.name, 0, &path);\n\tif (ret)\n\t\treturn ret;\n\tif (!d->on) {\n\t\tpath_put(&path);\n\t\treturn -EIO;\n\t}\n\td->path = path;\n\tif (put_user(1, &u->id))\n\t\treturn -EFAULT;\n\treturn 0;",
        // A function of the file takes it back where it fails.
        "\tret = lookup(d, r.id, &key);\n\tif (ret)\n\t\treturn ret;\n\tif (put_user(key.id, &u->id))\n\t\treturn -EFAULT;\n\tif (key_put_users(&key, u))\n\t\treturn -EFAULT;\n\treturn 0;",
    ] {
        let declared = "\tstruct path path;\n\tstruct key key;";
        assert_eq!(of(declared, right), NONE, "{right}");
    }
}

#[test]
fn a_structure_of_the_functions_own_owns_nothing() {
    let declared = "\tstruct cancel cd = { .ctx = d };\n\tstruct file *file = NULL;";
    let with = |store: &str, check: &str| {
        of(
            declared,
            &format!(
                "\tif (r.flags & HAS_FILE) {{\n\t\tfile = fget(r.fd);\n\t\tif (!file)\n\t\t\treturn -EBADF;\n\t\t{store}\n\t}}\n\
                 {check}\n\tret = cancel(d, &cd);\n\tif (file)\n\t\tfput(file);\n\treturn ret;"
            ),
        )
    };
    for store in [
        "cd.file = file;",
        "cd.key.file = file;",
        "cd.file = (struct file *)file;",
    ] {
        for wrong in [
            "\tif (r.pad)\n\t\treturn -EINVAL;",
            "\tfor (ret = 0; ret < 4; ret++)\n\t\tif (r.pads[ret])\n\t\t\treturn -EINVAL;",
            "\tif (get_user(cd.seq, &u->seq))\n\t\treturn -EFAULT;",
            "\tif (copy_from_user(&r, u + 1, sizeof(r)))\n\t\treturn -EFAULT;",
        ] {
            assert_eq!(with(store, wrong), ["kept-memory"], "{store} {wrong}");
        }
        assert_eq!(with(store, ""), NONE);
        // Who is given the structure leaves it to the function, which gives it back behind that.
        assert_eq!(
            with(store, "\tstart(&cd);\n\tif (r.pad)\n\t\treturn -EINVAL;"),
            ["kept-memory"]
        );
        // Somebody else may have it by the structure.
        assert_eq!(
            with(store, "\td->last = cd;\n\tif (r.pad)\n\t\treturn -EINVAL;"),
            NONE
        );
    }
    let member = "cd.file = file;";
    assert_eq!(
        with(
            member,
            "\tif (r.pad) {\n\t\tfput(cd.file);\n\t\treturn -EINVAL;\n\t}"
        ),
        NONE
    );
    assert_eq!(
        with(
            member,
            "\td->file = cd.file;\n\tif (r.pad)\n\t\treturn -EINVAL;"
        ),
        NONE
    );
    // What another one leads to is not the function's own.
    assert_eq!(
        with("d->file = file;", "\tif (r.pad)\n\t\treturn -EINVAL;"),
        NONE
    );
}

/// A read() of these statements, in which `left` takes what a copy left of `n` bytes.
fn read(statements: &str) -> Vec<String> {
    rules(&format!(
        "static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tsize_t n = min(count, d->togo);\n\tsize_t left, done = 0;\n\n\
         {statements}\n}}\n\
         static const struct file_operations ops = {{ .read = f }};\n"
    ))
}

#[test]
fn a_part_of_a_copy_moves_nothing_on_by_all_of_it() {
    let copy = "\tleft = copy_to_user(u, d->buf + d->offset, n);\n";
    let all = "\tif (left == n)\n\t\treturn -EFAULT;\n";
    for wrong in [
        format!("{copy}{all}\td->togo -= n;\n\td->offset += n;\n\treturn n - left;"),
        format!("{copy}\tif (left && left == n)\n\t\treturn -EFAULT;\n\td->offset += n;\n\treturn n - left;"),
        format!("{copy}\td->offset += n;\n\tdone = n - left;\n\tif (!done)\n\t\treturn -EFAULT;\n\treturn done;"),
        format!("{copy}{all}\t*at = d->start + n;\n\treturn n - left;"),
        format!("{copy}\td->ring.tail += n;\n\tn -= left;\n\treturn n ? n : -EFAULT;"),
        format!("{copy}\t*at += n;\n\tdone += n - left;\n\tif (left && !done)\n\t\treturn -EFAULT;\n\treturn done;"),
        "\twhile (n) {\n\t\tsize_t c = min(n, PAGE_SIZE);\n\n\t\tleft = copy_to_user(u, d->buf, c);\n\t\t*at += c;\n\t\tu += c;\n\
         \t\tdone += c - left;\n\t\tn -= c;\n\t\tif (left)\n\t\t\tbreak;\n\t}\n\treturn done ? done : -EFAULT;".to_owned(),
    ] {
        assert_eq!(read(&wrong), ["kept-position"], "{wrong}");
    }
    for right in [
        format!("{copy}{all}\tn -= left;\n\td->togo -= n;\n\td->offset += n;\n\treturn n;"),
        format!("{copy}{all}\td->offset += n - left;\n\treturn n - left;"),
        format!("{copy}\tif (left)\n\t\treturn -EFAULT;\n\td->offset += n;\n\treturn n - left;"),
        format!("{copy}{all}\tif (!left)\n\t\td->offset += n;\n\treturn n - left;"),
        format!("{copy}{all}\td->offset += n;\n\td->offset -= left;\n\treturn n - left;"),
        // What goes with the function moves nobody.
        format!(
            "{copy}{all}\tu += n;\n\tdone += n;\n\tpr_debug(\"%zu\", done);\n\treturn n - left;"
        ),
    ] {
        assert_eq!(read(&right), NONE, "{right}");
    }
}

#[test]
fn whether_anything_was_copied_is_not_how_much() {
    let of = |then: &str| {
        rules(&format!(
            "static int f(struct dev *d, struct iov_iter *iter, size_t len)\n{{\n\tint err;\n\n{then}\n\treturn err;\n}}\n"
        ))
    };
    for wrong in [
        "\terr = copy_to_iter(d->buf, len, iter);\n\tif (err == 0) {\n\t\terr = -EFAULT;\n\t} else {\n\t\td->done += len;\n\t\terr = 0;\n\t}",
        "\terr = copy_from_iter(d->buf, len, iter);\n\tif (!err)\n\t\treturn -EFAULT;\n\terr = send(d, d->buf, len);",
        "\terr = copy_to_iter(d->buf, len, iter);\n\tif (err <= 0)\n\t\tgoto fault;\n\td->done += len;\n\terr = 0;\n\treturn err;\nfault:\n\terr = -EFAULT;",
    ] {
        assert_eq!(of(wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        "\terr = copy_to_iter(d->buf, len, iter);\n\tif (err == 0) {\n\t\terr = -EFAULT;\n\t} else {\n\t\td->done += err;\n\t\terr = 0;\n\t}",
        "\terr = copy_from_iter(d->buf, len, iter);\n\tif (!err)\n\t\treturn -EFAULT;",
        "\terr = copy_to_iter(d->buf, len, iter);\n\tif (err != len)\n\t\treturn -EFAULT;\n\terr = 0;",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}

/// A write() of these statements.
fn write(statements: &str) -> Vec<String> {
    rules(&format!(
        "extern int set_source(struct dev *d, const char *source);\n\
         extern int set_bytes(struct dev *d, const char *bytes, size_t n);\n\
         extern int set_all(struct dev *d, const u8 *bytes);\n\
         static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tchar *s;\n\tint ret;\n\n\
         \tif (count == 0 || count > PAGE_SIZE - 1)\n\t\treturn -EINVAL;\n{statements}\n\treturn ret ?: count;\n}}\n\
         static const struct file_operations ops = {{ .write = f }};\n"
    ))
}

#[test]
fn bytes_that_go_on_as_a_string_have_an_end() {
    let trim = "\tif (s[count - 1] == '\\n')\n\t\ts[count - 1] = '\\0';\n";
    let after = "\tkfree(s);";
    let double = "\ts = memdup_user(u, count);\n\tif (IS_ERR(s))\n\t\treturn PTR_ERR(s);\n";
    let copy = "\ts = kmalloc(count, GFP_KERNEL);\n\tif (!s)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(s, u, count)) {\n\t\tkfree(s);\n\t\treturn -EFAULT;\n\t}\n";
    for take in [double, copy] {
        for then in [
            // Whoever takes the newline off takes it for a string.
            format!("{trim}\tret = d->ops->set(d, s);\n"),
            format!("{trim}\tret = d->ops->set(d, s, &d->values);\n"),
            "\tif (s[count - 1] == '\\n')\n\t\ts[count - 1] = 0;\n\tret = other_file(s);\n".to_owned(),
            "\tchar *end = s + count - 1;\n\n\tif (*end == '\\n')\n\t\t*end = 0;\n\tret = other_file(s, d);\n".to_owned(),
            // It is declared to take one.
            "\tret = set_source(d, s);\n".to_owned(),
            format!("{trim}\tret = set_source(d, s);\n"),
        ] {
            let wrong = format!("{take}{then}{after}");
            assert_eq!(write(&wrong), ["unterminated-string"], "{wrong}");
        }
        for then in [
            format!("{trim}\tret = d->ops->set(d, s, count);\n"),
            "\ts[count - 1] = 0;\n\tret = d->ops->set(d, s);\n".to_owned(),
            "\tif (s[count - 1] != 0) {\n\t\tkfree(s);\n\t\treturn -EINVAL;\n\t}\n\tret = set_source(d, s);\n".to_owned(),
            "\tret = d->ops->set(d, s);\n".to_owned(),
            "\tret = set_bytes(d, s, d->size);\n".to_owned(),
            "\tret = set_all(d, s);\n".to_owned(),
        ] {
            let right = format!("{take}{then}{after}");
            assert_eq!(write(&right), NONE, "{right}");
        }
    }
    let ended = "\ts = memdup_user_nul(u, count);\n\tif (IS_ERR(s))\n\t\treturn PTR_ERR(s);\n";
    for then in [
        "\tret = set_source(d, s);\n".to_owned(),
        format!("{trim}\tret = d->ops->set(d, s);\n"),
    ] {
        assert_eq!(write(&format!("{ended}{then}{after}")), NONE, "{then}");
    }
}

#[test]
fn a_result_that_is_held_against_0_says_that_it_failed() {
    for asked in ["ret != 0", "ret", "0 != ret", "ret < 0"] {
        let wrong = format!(
            "\tchar *k = kmalloc(16, GFP_KERNEL);\n\n\tif (!k)\n\t\treturn -ENOMEM;\n\tret = get_user(d->id, &u->id);\n\
             \tif ({asked})\n\t\treturn ret;\n\tkfree(k);\n\treturn 0;"
        );
        assert_eq!(of("", &wrong), ["kept-memory"], "{asked}");
    }
}

#[test]
fn what_a_text_may_have_had_nothing_for_is_used_before_it_is_set() {
    let with = |then: &str| {
        write(&format!(
            "\tunsigned int reg, value;\n\tint got;\n\tchar text[16];\n\n\tif (count >= sizeof(text))\n\t\treturn -EINVAL;\n\
             \tif (copy_from_user(text, u, count))\n\t\treturn -EFAULT;\n\ttext[count] = 0;\n\tret = 0;\n{then}"
        ))
    };
    for wrong in [
        // It is set behind that it was used.
        "\tgot = sscanf(text, \"%x %x\", &reg, &value);\n\tif (got > 0) {\n\t\tput_reg(d, reg, value);\n\t\tvalue = get_reg(d, reg);\n\t\tpr_info(\"%x\", value);\n\t}",
        "\tif (sscanf(text, \"%x %x\", &reg, &value) < 1)\n\t\treturn -EINVAL;\n\tput_reg(d, reg, value);\n\tvalue = 0;\n\tput_reg(d, 1, value);",
        // It is set on another way.
        "\tif (!strcmp(text, \"reset\"))\n\t\tvalue = 8;\n\telse if (sscanf(text, \"%u\", &value) < 0)\n\t\treturn -EINVAL;\n\td->most = value;",
        "\tif (count == 1)\n\t\tvalue = 1;\n\telse\n\t\tsscanf(text, \"%u\", &value);\n\td->most = value;",
        "\tgot = sscanf(text, \"%u\", &value);\n\tif (got < 0)\n\t\treturn -EINVAL;\n\tif (count == 3)\n\t\tvalue = 2;\n\td->most = value;",
    ] {
        assert_eq!(with(wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        "\tgot = sscanf(text, \"%x %x\", &reg, &value);\n\tif (got == 2) {\n\t\tput_reg(d, reg, value);\n\t\tvalue = get_reg(d, reg);\n\t}",
        "\tvalue = 8;\n\tif (sscanf(text, \"%u\", &value) < 0)\n\t\treturn -EINVAL;\n\td->most = value;",
        "\tif (!strcmp(text, \"reset\"))\n\t\tvalue = 8;\n\telse if (sscanf(text, \"%u\", &value) != 1)\n\t\treturn -EINVAL;\n\td->most = value;",
        "\tgot = sscanf(text, \"%u\", &value);\n\tif (got < 0)\n\t\treturn -EINVAL;\n\tvalue = 2;\n\td->most = value;",
    ] {
        assert_eq!(with(right), NONE, "{right}");
    }
}

#[test]
fn an_error_is_not_put_over_by_what_an_access_gives() {
    let with = |then: &str| of("", &format!("{then}\n\treturn ret;"));
    let work = "\tret = run(d, &r);\n\tstop(d);\n";
    for end in [
        "\tret = copy_to_user(u, &r, sizeof(r)) ? -EFAULT : 0;",
        "\tret = put_user(r.id, &u->id);",
        "\tr.len = d->len;\n\tunlock(d);\n\tret = put_user(r.len, &u->len);",
    ] {
        for wrong in [
            format!("\tret = start(d);\n\tif (ret)\n\t\tgoto out;\n{work}out:\n{end}"),
            format!(
                "\tret = start(d);\n\tif (ret < 0) {{\n\t\tpr_err(\"no\");\n\t\tgoto out;\n\t}}\n{work}out:\n{end}"
            ),
            format!(
                "\tret = start(d);\n\tif (!ret) {{\n\t\trun(d, &r);\n\t\tif (d->on)\n\t\t\tstop(d);\n\t}}\n{end}"
            ),
            format!(
                "\tif (r.id > 8) {{\n\t\tret = -EINVAL;\n\t\tgoto out;\n\t}}\n{work}out:\n{end}"
            ),
            format!(
                "\tswitch (r.id) {{\n\tcase 1:\n\t\tret = run(d, &r);\n\t\tif (ret)\n\t\t\treturn ret;\n\t\tbreak;\n\tdefault:\n\t\tret = -EINVAL;\n\t\tbreak;\n\t}}\n{end}"
            ),
        ] {
            assert_eq!(with(&wrong), ["swallowed-fault"], "{wrong}");
        }
        for right in [
            format!("\tret = start(d);\n\tif (ret)\n\t\treturn ret;\n{work}{end}"),
            // What comes first holds for all that is not done.
            format!("\tret = -EINVAL;\n\tif (r.id > 8)\n\t\tgoto out;\n{end}\nout:"),
            // It is asked first.
            format!(
                "\tret = start(d);\n\tif (ret)\n\t\tgoto out;\n{work}out:\n\tif (ret)\n\t\treturn ret;\n{end}"
            ),
            format!(
                "\tint err = start(d);\n\n\tif (err)\n\t\tgoto out;\n\trun(d, &r);\nout:\n{end}\n\tif (err)\n\t\tret = err;"
            ),
            // It is only logged.
            format!("\tret = start(d);\n\tif (ret)\n\t\tpr_warn(\"no\");\n{end}"),
            // The second way does the same.
            format!("\tret = fast(d, &r);\n\tif (ret) {{\n{end}\n\t}}"),
        ] {
            assert_eq!(with(&right), NONE, "{right}");
        }
    }
}

#[test]
fn what_counts_or_gives_an_error_is_given_back() {
    let with = |then: &str| of("", then);
    let take = "\tret = dev_get_access(d);\n\tif (ret)\n\t\treturn ret;\n";
    let end = "\tret = run(d, &r);\n\tdev_put_access(d);\n\treturn ret;";
    for wrong in [
        format!("{take}\tif (r.id > 8)\n\t\treturn -EINVAL;\n{end}"),
        format!("{take}\tif (kstrtoul(r.text, 0, &r.id))\n\t\treturn -EINVAL;\n{end}"),
        format!("{take}\tif (get_user(d->id, &u->id))\n\t\treturn -EFAULT;\n{end}"),
        format!(
            "\tif (dev_get_access(d))\n\t\treturn -EBUSY;\n\tif (r.id > 8)\n\t\treturn -EINVAL;\n{end}"
        ),
        "\tret = dev_get_access(d);\n\tif (ret < 0)\n\t\tgoto out;\n\tret = -EINVAL;\n\tif (r.id > 8)\n\t\tgoto out;\n\tret = run(d, &r);\n\tdev_put_access(d);\nout:\n\treturn ret;".to_owned(),
    ] {
        assert_eq!(with(&wrong), ["kept-lock"], "{wrong}");
    }
    for right in [
        format!("{take}{end}"),
        format!("\tif (r.id > 8)\n\t\treturn -EINVAL;\n{take}{end}"),
        format!(
            "{take}\tret = -EINVAL;\n\tif (r.id > 8)\n\t\tgoto out;\n\tret = run(d, &r);\nout:\n\tdev_put_access(d);\n\treturn ret;"
        ),
        // A number of the device, and what finds something.
        "\tret = dev_get_count(d, &r.len);\n\tif (ret)\n\t\treturn ret;\n\tif (r.len > 8)\n\t\treturn -EINVAL;\n\treturn dev_put_count(d, r.len);".to_owned(),
        format!("{take}\tif (r.id > 8)\n\t\treturn -EINVAL;\n\treturn 0;"),
    ] {
        assert_eq!(with(&right), NONE, "{right}");
    }
}

#[test]
fn what_was_copied_is_not_all_that_was_asked_for() {
    let with = |then: &str| {
        rules(&format!(
            "static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
             \tstruct dev *d = file->private_data;\n\tssize_t got;\n\n\tgot = simple_write_to_buffer(d->text, sizeof(d->text), at, u, count);\n{then}\n}}\n\
             static const struct file_operations ops = {{ .write = f }};\nstruct dev {{ char text[64]; size_t len; }};\n"
        ))
    };
    for wrong in [
        "\tif (got < 0)\n\t\treturn got;\n\td->len += count;\n\tif (got < count)\n\t\treturn got;\n\treturn send(d, d->len) ?: count;",
        "\tif (got <= 0)\n\t\treturn got;\n\td->len += count;\n\treturn got;",
        "\tif (got > 0)\n\t\td->len += count;\n\treturn got;",
    ] {
        assert_eq!(with(wrong), ["kept-position"], "{wrong}");
    }
    for right in [
        "\tif (got < 0)\n\t\treturn got;\n\td->len += got;\n\treturn got;",
        "\tif (got != count)\n\t\treturn got < 0 ? got : -EIO;\n\td->len += count;\n\treturn got;",
        "\tif (got < 0)\n\t\treturn got;\n\tif (got == count)\n\t\td->len += count;\n\treturn got;",
    ] {
        assert_eq!(with(right), NONE, "{right}");
    }
}

#[test]
fn what_a_call_judged_is_not_fetched_over() {
    let with = |between: &str, second: &str, then: &str| {
        rules(&format!(
            "struct info {{ u64 flags; u64 rest[7]; }};\nstruct add {{ u64 info; u64 length; }};\n\
             static int judge(struct info *i)\n{{\n\tif (i->flags & 7)\n\t\treturn -EINVAL;\n\treturn 0;\n}}\n\
             static long f(struct encl *e, void __user *u)\n{{\n\tstruct add a;\n\tstruct info info;\n\tunsigned long c;\n\tint ret = 0;\n\n\
             \tif (copy_from_user(&a, u, sizeof(a)))\n\t\treturn -EFAULT;\n\tif (copy_from_user(&info, (void __user *)a.info, sizeof(info)))\n\t\treturn -EFAULT;\n\
             {between}\n\tfor (c = 0; c < a.length; c++) {{\n{second}\t\t{then}\n\t\tif (ret)\n\t\t\tbreak;\n\t}}\n\treturn ret;\n}}\n"
        ))
    };
    let again = "\t\tif (copy_from_user(&info, (void __user *)a.info, sizeof(info)))\n\t\t\treturn -EFAULT;\n";
    let add = "ret = add_page(e, c, &info);";
    for judged in [
        "\tif (judge(&info))\n\t\treturn -EINVAL;",
        "\tret = judge(&info);\n\tif (ret)\n\t\treturn ret;",
        "\tif (!is_right(e, &info))\n\t\treturn -EINVAL;",
    ] {
        assert_eq!(with(judged, again, add), ["double-fetch"], "{judged}");
        assert_eq!(
            with(judged, again, "add_page(e, c, &info);"),
            ["double-fetch"],
            "{judged}"
        );
        assert_eq!(with(judged, "", add), NONE, "{judged}");
    }
    let judged = "\tif (judge(&info))\n\t\treturn -EINVAL;";
    let both = format!("{again}\t\tif (judge(&info))\n\t\t\treturn -EINVAL;\n");
    assert_eq!(with(judged, &both, add), NONE);
    let member = format!("{again}\t\tif (info.flags & 7)\n\t\t\treturn -EINVAL;\n");
    assert_eq!(with(judged, &member, add), NONE);
    // Nobody has judged it.
    assert_eq!(with("\tshow(&info);", again, add), NONE);
}

#[test]
fn a_pointer_of_the_functions_own_leads_to_what_was_fetched_again() {
    let with = |declared: &str, address: &str, then: &str| {
        rules(&format!(
            "struct props {{ u32 num; u32 props; }};\n\
             static long f(struct dev *d, unsigned long arg)\n{{\n{declared}\n\tvoid __user *u = (void __user *)arg;\n\tint err = 0;\n\n\
             \tif (copy_from_user(&prop, {address}, sizeof(prop)))\n\t\treturn -EFAULT;\n\tp = &prop;\n\tif (!p->num || p->num > 64)\n\t\treturn -EINVAL;\n\
             \tfill(d, p->num);\n{then}\n\treturn err;\n}}\n"
        ))
    };
    let other = "\tif (d->on) {\n\t\tstruct props *p = d->props;\n\n\t\tp = d->others;\n\t\tshow(p);\n\t}\n";
    for declared in [
        "\tstruct props prop, *p;",
        "\tstruct props prop, *p = NULL;",
    ] {
        for address in ["u", "compat_ptr(arg)", "(void __user *)arg"] {
            let again = format!("copy_from_user(&prop, {address}, sizeof(prop))");
            for wrong in [
                format!("\tif ({again})\n\t\treturn -EFAULT;\n\tsend(d, p->num);"),
                format!(
                    "\tif ({again} ||\n\t    copy_to_user(u + 8, d->buf, p->num * sizeof(u64)))\n\t\terr = -EFAULT;"
                ),
                format!(
                    "{other}\tif ({again})\n\t\treturn -EFAULT;\n\terr = put_user(d->of[p->num], (int __user *)u);"
                ),
            ] {
                assert_eq!(
                    with(declared, address, &wrong),
                    ["double-fetch"],
                    "{declared} {wrong}"
                );
            }
            for right in [
                "\tsend(d, p->num);".to_owned(),
                format!(
                    "\tif ({again})\n\t\treturn -EFAULT;\n\tif (p->num > 64)\n\t\treturn -EINVAL;\n\tsend(d, p->num);"
                ),
                format!("\tif ({again})\n\t\treturn -EFAULT;\n\tsend(d, p->props);"),
            ] {
                assert_eq!(with(declared, address, &right), NONE, "{declared} {right}");
            }
        }
    }
}

#[test]
fn what_a_member_leads_to_is_not_lost_with_what_it_lies_in() {
    let with = |take: &str, then: &str| {
        of(
            "\tstruct thing *p;",
            &format!(
                "\tp = kzalloc(sizeof(*p), GFP_KERNEL);\n\tif (!p)\n\t\treturn -ENOMEM;\n\t{take}\n{then}\n\tadd(d, p);\n\treturn 0;"
            ),
        )
    };
    let name = "p->name = memdup_user(u->name, r.len);\n\tif (IS_ERR(p->name)) {\n\t\tkfree(p);\n\t\treturn -EFAULT;\n\t}";
    let file =
        "p->at.file = fget(r.fd);\n\tif (!p->at.file) {\n\t\tkfree(p);\n\t\treturn -EBADF;\n\t}";
    let buf = "p->buf = kmalloc(r.len, GFP_KERNEL);\n\tif (p->buf == NULL) {\n\t\tkfree(p);\n\t\treturn -ENOMEM;\n\t}";
    for (take, back) in [(name, "kfree(p->name);"), (buf, "kfree(p->buf);")] {
        for wrong in [
            "\tif (get_user(p->id, &u->id)) {\n\t\tkfree(p);\n\t\treturn -EFAULT;\n\t}",
            "\tif (r.id > 8) {\n\t\tkfree(p);\n\t\treturn -EINVAL;\n\t}",
            "\tret = check(d, r.id);\n\tif (ret) {\n\t\tpr_err(\"no\");\n\t\tkvfree(p);\n\t\treturn ret;\n\t}",
        ] {
            assert_eq!(with(take, wrong), ["kept-memory"], "{take} {wrong}");
            let right = wrong.replace("\t\tk", &format!("\t\t{back}\n\t\tk"));
            assert_eq!(with(take, &right), NONE, "{take} {right}");
        }
        for right in [
            "",
            // Somebody else has it by then, or gives it back.
            "\td->name = p->name;\n\td->buf = p->buf;\n\tif (r.id > 8) {\n\t\tkfree(p);\n\t\treturn -EINVAL;\n\t}",
            "\tif (r.id > 8) {\n\t\tempty(p);\n\t\tkfree(p);\n\t\treturn -EINVAL;\n\t}",
            "\tif (r.id > 8) {\n\t\tp->ops->clean(p);\n\t\tkfree(p);\n\t\treturn -EINVAL;\n\t}",
        ] {
            assert_eq!(with(take, right), NONE, "{take} {right}");
        }
    }
    assert_eq!(with(file, ""), NONE);
}

#[test]
fn a_loop_that_asks_for_numbers_before_its_copy_never_ends() {
    let with = |before: &str, copy: &str| {
        read(&format!(
            "\tssize_t got;\n\n\twhile (count > 0) {{\n\t\tgot = fill(d, done, count);\n{before}\t\t{copy}\n\t\tdone += got;\n\t\tu += got;\n\t\tcount -= got;\n\t}}\n\
             \treturn done;"
        ))
    };
    let copy = "got -= copy_to_user(u, d->buf, got);";
    for before in [
        "",
        "\t\tif (got <= 0)\n\t\t\tbreak;\n",
        "\t\tif (done >= n)\n\t\t\treturn done;\n",
        "\t\tif (got <= 0) {\n\t\t\td->failed++;\n\t\t\tgoto out;\n\t\t}\n",
    ] {
        let before = before.replace("goto out", "break");
        assert_eq!(with(&before, copy), ["misread-result"], "{before}");
    }
    for (before, copy) in [
        ("\t\tif (signal_pending(current))\n\t\t\tbreak;\n", copy),
        (
            "",
            "got -= copy_to_user(u, d->buf, got);\n\t\tif (!got)\n\t\t\treturn -EFAULT;",
        ),
        (
            "",
            "if (copy_to_user(u, d->buf, got))\n\t\t\treturn -EFAULT;",
        ),
    ] {
        assert_eq!(with(before, copy), NONE, "{before} {copy}");
    }
}

#[test]
fn a_number_is_not_cut_before_it_is_compared() {
    let with = |least: &str| {
        rules(&format!(
            "struct range {{ u64 start; u64 len; u32 few; }};\n\
             static long f(struct dev *d, struct range __user *u)\n{{\n\tstruct range r;\n\tint ret;\n\n\
             \tif (copy_from_user(&r, u, sizeof(r)))\n\t\treturn -EFAULT;\n\tret = run(d, &r);\n\tif (ret)\n\t\treturn ret;\n{least}\n\
             \tif (copy_to_user(u, &r, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        ))
    };
    for wrong in [
        "\tr.len = min_t(unsigned int, r.len, d->most);",
        "\tr.len = min_t(u32, d->blocks << 9, r.len);",
        "\tr.start = min_t(int, r.start, d->size - r.len);",
    ] {
        assert_eq!(with(wrong), ["signed-bound"], "{wrong}");
    }
    for right in [
        "\tr.len = min_t(u64, r.len, d->most);",
        "\tr.len = min(r.len, d->most);",
        "\tr.few = min_t(u32, r.few, d->most);",
        "\td->few = min_t(u32, r.len, d->most);",
        "\tif (r.len > 4096)\n\t\treturn -EINVAL;\n\tr.len = min_t(u32, r.len, d->most);",
    ] {
        assert_eq!(with(right), NONE, "{right}");
    }
}
