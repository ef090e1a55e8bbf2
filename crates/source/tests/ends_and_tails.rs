//! Bytes of the user's that end nowhere, and strings that keep the tail of a longer one.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// What is said of a write() of these statements, behind other functions.
fn write_with(before: &str, statements: &str) -> Vec<String> {
    mistakes::rules(&format!(
        "#define ROOM 32\nstruct dev {{ int mode; u32 level; }};\n{before}\
         static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tchar word[ROOM];\n\tchar *buf, *p;\n\tunsigned int a;\n\tint i, ret = 0;\n\n\
         {statements}\n\treturn ret ? ret : count;\n}}\n\
         static const struct file_operations ops = {{ .write = f }};\n"
    ))
}

fn write(statements: &str) -> Vec<String> {
    write_with("", statements)
}

#[test]
fn the_size_of_a_buffer_ends_nothing_in_it() {
    let of = |then: &str| {
        write(&format!(
            "\tif (*at)\n\t\treturn -ESPIPE;\n\tif (count > sizeof(word) - 1)\n\t\treturn -EINVAL;\n\
             \tret = simple_write_to_buffer(word, sizeof(word) - 1, at, u, count);\n\tif (ret < 0)\n\t\treturn ret;\n{then}"
        ))
    };
    for wrong in [
        "\tfor (i = 0; i < 3; i++) {\n\t\tdev_assert(d, sizeof(word) > modes[i].len);\n\t\tif (sysfs_streq(word, modes[i].name))\n\t\t\td->mode = i;\n\t}",
        "\tnote(d, sizeof(word), ARRAY_SIZE(word));\n\tret = kstrtou32(word, 0, &d->level);",
        "\tif (!strncmp(word, \"set \", 4))\n\t\tret = kstrtou32(word + 4, 0, &d->level);",
    ] {
        assert_eq!(of(wrong), ["unterminated-string"], "{wrong}");
        let right = format!("\tword[ret] = '\\0';\n{wrong}");
        assert_eq!(of(&right), NONE, "{right}");
    }
}

#[test]
fn a_place_in_a_string_has_the_end_of_all_of_it() {
    let helper = "static int words_of(char *text, u32 *level)\n{\n\treturn sscanf(text, \"%u\", level) == 1 ? 0 : -EINVAL;\n}\n";
    let of = |then: &str| {
        write_with(
            helper,
            &format!(
                "\tsize_t len = min(count, sizeof(word) - 1);\n\n\tif (copy_from_user(word, u, len))\n\t\treturn -EFAULT;\n{then}"
            ),
        )
    };
    for wrong in [
        "\tif (memcmp(word, \"up \", 3) == 0)\n\t\tret = words_of(&word[3], &d->level);",
        "\tif (!strncmp(word, \"up \", 3))\n\t\tret = words_of(word + 3, &d->level);",
        "\tif (!memcmp(word, \"up \", 3))\n\t\tret = kstrtou32(&word[3], 0, &d->level);",
        "\tp = word + 1;\n\tret = kstrtou32(p, 0, &d->level);",
        "\tif (str_has_prefix(word, \"up\"))\n\t\tret = sscanf(word + 2, \"%u\", &a);",
    ] {
        assert_eq!(of(wrong), ["unterminated-string"], "{wrong}");
        let right = format!("\tword[len] = 0;\n{wrong}");
        assert_eq!(of(&right), NONE, "{right}");
    }
    for right in [
        "\tp = &word[len];\n\t*p = 0;\n\tret = words_of(&word[3], &d->level);",
        "\ttrim(word, len);\n\tret = words_of(&word[3], &d->level);",
        "\tret = take(d, &word[3], len - 3);",
        "\tif (!memcmp(word, \"up\", 2))\n\t\td->mode = 1;",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}

#[test]
fn a_page_and_what_goes_with_its_scope_have_no_end() {
    let of = |made: &str, then: &str| {
        write(&format!(
            "\tconst int room = 32;\n\n\tif (count > room)\n\t\treturn -EINVAL;\n\n{made}\tif (!buf)\n\t\treturn -ENOMEM;\n\
             \tif (copy_from_user(buf, u, count))\n\t\treturn -EFAULT;\n{then}"
        ))
    };
    let reads = "\tret = sscanf(buf, \"%u\", &a);";
    for wrong in [
        "\tbuf = (char *)__get_free_page(GFP_KERNEL);\n",
        "\tchar *buf __free(kfree) = kmalloc(room, GFP_KERNEL);\n",
        "\tchar *buf __free(kfree) = kmalloc(count + 1, GFP_KERNEL);\n",
    ] {
        assert_eq!(of(wrong, reads), ["unterminated-string"], "{wrong}");
        let ended = format!("\tbuf[count] = 0;\n{reads}");
        assert_eq!(of(wrong, &ended), NONE, "{wrong}");
    }
    for right in [
        "\tbuf = (char *)get_zeroed_page(GFP_KERNEL);\n",
        "\tchar *buf __free(kfree) = kzalloc(room + 1, GFP_KERNEL);\n",
        "\tchar *buf __free(kfree) = kzalloc(count + 1, GFP_KERNEL);\n",
    ] {
        assert_eq!(of(right, reads), NONE, "{right}");
    }
}

#[test]
fn what_comes_from_an_iterator_has_no_end() {
    let of = |then: &str| {
        mistakes::rules(&format!(
            "static ssize_t f(struct kiocb *iocb, struct iov_iter *from)\n{{\n\tchar line[64];\n\tsize_t len = iov_iter_count(from);\n\tu32 level;\n\n\
             \tif (len >= sizeof(line))\n\t\treturn -EINVAL;\n{then}\n\tif (kstrtou32(line, 0, &level))\n\t\treturn -EINVAL;\n\
             \tset_level(level);\n\treturn len;\n}}\n"
        ))
    };
    let copy = "\tif (copy_from_iter(line, len, from) != len)\n\t\treturn -EFAULT;";
    let full = "\tif (!copy_from_iter_full(line, len, from))\n\t\treturn -EFAULT;";
    for wrong in [copy, full] {
        assert_eq!(of(wrong), ["unterminated-string"], "{wrong}");
        let right = format!("{wrong}\n\tline[len] = 0;");
        assert_eq!(of(&right), NONE, "{right}");
    }
}

#[test]
fn a_longer_string_before_goes_on_behind_a_shorter_one() {
    let of = |declared: &str, reads: &str, then: &str| {
        mistakes::rules(&format!(
            "#define ROOM 64\n{declared}\nstatic int is_listed(const char *name)\n{{\n{reads}\n}}\n\
             static int set_list(const char __user *u, size_t size)\n{{\n\tif (size >= ROOM)\n\t\treturn -EINVAL;\n\
             \tif (copy_from_user(list, u, size))\n\t\treturn -EFAULT;\n{then}\n\treturn 0;\n}}\n"
        ))
    };
    let reads = "\treturn strstr(list, name) != NULL;";
    let printed = "\tpr_info(\"%s\\n\", list);\n\treturn list[0] == 'a';";
    let own = "static char list[ROOM];";
    for read in [reads, printed] {
        assert_eq!(of(own, read, ""), ["unterminated-string"], "{read}");
        for right in [
            "\tlist[size] = 0;",
            "\tmemset(list + size, 0, ROOM - size);",
            "\tend(list, size);",
        ] {
            assert_eq!(of(own, read, right), NONE, "{read}{right}");
        }
    }
    assert_eq!(of(own, "\treturn list[0] == 'a';", ""), NONE);
    assert_eq!(
        of("static u32 list[ROOM];", "\treturn list[0] == 7;", ""),
        NONE
    );
    assert_eq!(
        of(
            own,
            "\tlist[ROOM - 1] = 0;\n\treturn strstr(list, name) != NULL;",
            ""
        ),
        NONE
    );
}
