//! What is filled to the last byte, asked too late or too little, and copied as a whole where only a
//! part was filled: each class in wrong forms and right ones.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// What the functions of these tests name.
const TYPES: &str = "\
struct mode { u32 width; u32 height; u64 clock; };
struct name { u32 kind; char text[16]; };
struct dev { u32 *modes; u32 many; u32 width; char label[8]; struct mode mode; };
";

fn said(functions: &str) -> Vec<String> {
    rules(&format!("{TYPES}{functions}"))
}

/// A handler of these statements.
fn handler(statements: &str) -> Vec<String> {
    said(&format!(
        "static ssize_t f(struct dev *d, const char __user *p, size_t n, loff_t *at)\n{{\n{statements}\n}}\n"
    ))
}

#[test]
fn memory_that_was_cleared_and_is_filled_has_no_0_left() {
    let with = |makes: &str, size: &str, before: &str| {
        handler(&format!(
            "\tsize_t room = 96, part;\n\tchar *text;\n\tint ret = 0;\n\n{before}\ttext = {makes};\n\tif (!text)\n\
             \t\treturn -ENOMEM;\n\tpart = {size};\n\tif (copy_from_user(text, p, part)) {{\n\t\tret = -EFAULT;\n\
             \t\tgoto out;\n\t}}\n\tret = kstrtou32(text, 0, &d->width);\nout:\n\tkfree(text);\n\treturn ret ? ret : n;"
        ))
    };
    let none = "";
    let most = "\tif (n > 96)\n\t\treturn -EINVAL;\n";
    for (makes, size, before) in [
        ("kzalloc(n, GFP_KERNEL)", "n", most),
        ("kzalloc(room, GFP_KERNEL)", "min(n, room)", none),
        (
            "kcalloc(room, sizeof(*text), GFP_KERNEL)",
            "min(n, room)",
            none,
        ),
        ("kzalloc(96, GFP_KERNEL)", "min_t(size_t, n, 96)", none),
        ("kzalloc(96, GFP_KERNEL)", "n", most),
    ] {
        assert_eq!(
            with(makes, size, before),
            ["unterminated-string"],
            "{makes} {size}"
        );
    }
    for (makes, size, before) in [
        ("kzalloc(n + 1, GFP_KERNEL)", "n", most),
        ("kzalloc(room, GFP_KERNEL)", "min(n, room - 1)", none),
        (
            "kcalloc(room + 1, sizeof(*text), GFP_KERNEL)",
            "min(n, room)",
            none,
        ),
        ("kzalloc(96, GFP_KERNEL)", "min_t(size_t, n, 95)", none),
        (
            "kzalloc(96, GFP_KERNEL)",
            "n",
            "\tif (n >= 96)\n\t\treturn -EINVAL;\n",
        ),
    ] {
        assert_eq!(with(makes, size, before), NONE, "{makes} {size}");
    }
}

#[test]
fn a_pointer_that_walks_through_what_is_filled_reads_on() {
    let with = |size: &str, behind: &str| {
        handler(&format!(
            "\tchar *line, *word, *next;\n\n\tline = kzalloc(64, GFP_KERNEL);\n\tif (!line)\n\t\treturn -ENOMEM;\n\
             \tn = min_t(size_t, n, {size});\n\tif (copy_from_user(line, p, n)) {{\n\t\tkfree(line);\n\t\treturn -EFAULT;\n\t}}\n\
             {behind}\tfor (word = line; *word; word = next + 1) {{\n\t\tnext = strchr(word, ' ');\n\t\tif (!next)\n\t\t\tbreak;\n\
             \t\t*next = 0;\n\t}}\n\tkfree(line);\n\treturn n;"
        ))
    };
    assert_eq!(with("64", ""), ["unterminated-string"]);
    assert_eq!(with("63", ""), NONE);
    assert_eq!(with("64", "\tline[n - 1] = 0;\n"), NONE);
}

#[test]
fn a_buffer_that_takes_as_much_as_it_has_is_no_string() {
    let with = |buffer: &str, most: &str, before: &str, behind: &str| {
        handler(&format!(
            "\t{buffer};\n\tint ret, width;\n\n{before}\tret = simple_write_to_buffer(text, {most}, at, p, n);\n\
             \tif (ret <= 0)\n\t\treturn ret;\n{behind}\tif (sscanf(text, \"%d\", &width) != 1)\n\t\treturn -EINVAL;\n\
             \td->width = width;\n\treturn n;"
        ))
    };
    let set = "char text[32] = {}";
    let bare = "char text[32]";
    let front = "\tif (*at)\n\t\treturn -EINVAL;\n";
    let few = "\tif (n >= sizeof(text))\n\t\treturn -EINVAL;\n";
    for (buffer, most, before) in [
        (set, "sizeof(text)", ""),
        (set, "32", front),
        ("char text[32] = \"\"", "sizeof(text)", front),
        (bare, "sizeof(text)", "\tmemset(text, 0, sizeof(text));\n"),
        (bare, "sizeof(text) - 1", front),
    ] {
        assert_eq!(
            with(buffer, most, before, ""),
            ["unterminated-string"],
            "{buffer} {most}"
        );
    }
    let ended = "\ttext[ret] = 0;\n";
    for (buffer, most, before, behind) in [
        (set, "sizeof(text) - 1", front, ""),
        (set, "sizeof(text)", few, ""),
        (
            bare,
            "sizeof(text) - 1",
            "\tmemset(text, 0, sizeof(text));\n",
            "",
        ),
        (bare, "sizeof(text) - 1", front, ended),
        (set, "sizeof(text)", front, "\ttext[31] = '\\0';\n"),
    ] {
        assert_eq!(with(buffer, most, before, behind), NONE, "{buffer} {most}");
    }
}

#[test]
fn a_structure_that_is_copied_whole_has_a_string_without_an_end() {
    let with = |makes: &str, copies: &str, behind: &str| {
        handler(&format!(
            "\tstruct name *own;\n\n\town = {makes};\n\tif (IS_ERR_OR_NULL(own))\n\t\treturn -ENOMEM;\n\
             {copies}{behind}\td->width = strlen(own->text);\n\tkfree(own);\n\treturn n;"
        ))
    };
    let memory = "kzalloc(sizeof(*own), GFP_KERNEL)";
    let copies = "\tif (copy_from_user(own, p, sizeof(*own))) {\n\t\tkfree(own);\n\t\treturn -EFAULT;\n\t}\n";
    let twice = "memdup_user(p, sizeof(*own))";
    for (makes, copies) in [(memory, copies), (twice, "")] {
        assert_eq!(with(makes, copies, ""), ["unterminated-string"], "{makes}");
        for behind in [
            "\town->text[15] = 0;\n",
            "\tif (is_invalid(own)) {\n\t\tkfree(own);\n\t\treturn -EINVAL;\n\t}\n",
        ] {
            assert_eq!(with(makes, copies, behind), NONE, "{makes} {behind}");
        }
    }
    let kind = copies.replace("sizeof(*own)", "sizeof(own->kind)");
    assert_eq!(with(memory, &kind, ""), NONE);
}

#[test]
fn an_error_number_picks_no_element() {
    let with = |call: &str, between: &str, element: &str| {
        handler(&format!(
            "\tchar text[32];\n\tint len, width;\n\n\tif (*at || n >= sizeof(text))\n\t\treturn -EINVAL;\n\
             \tlen = {call};\n{between}\t{element} = 0;\n\tif (sscanf(text, \"%d\", &width) != 1)\n\t\treturn -EINVAL;\n\
             \td->width = width;\n\treturn n;"
        ))
    };
    let fill = "simple_write_to_buffer(text, sizeof(text) - 1, at, p, n)";
    let string = "strncpy_from_user(text, p, sizeof(text) - 1)";
    for (call, between, element) in [
        (fill, "", "text[len]"),
        (fill, "\tif (!len)\n\t\treturn -EINVAL;\n", "text[len]"),
        (string, "", "text[len]"),
        (
            string,
            "\tif (len == 31)\n\t\treturn -E2BIG;\n",
            "*(text + len)",
        ),
        (fill, "", "text[len - 1]"),
    ] {
        assert_eq!(
            with(call, between, element),
            ["misread-result"],
            "{call} {between}"
        );
    }
    for (call, between, element) in [
        (fill, "\tif (len < 0)\n\t\treturn len;\n", "text[len]"),
        (fill, "\tif (len <= 0)\n\t\treturn len;\n", "text[len]"),
        (fill, "\tif (len != n)\n\t\treturn -EIO;\n", "text[len]"),
        (string, "\tif (len >= 0)\n\t\ttext[len] = 0;\n", "text[31]"),
        ("read_line(text, p, n)", "", "text[len]"),
    ] {
        assert_eq!(with(call, between, element), NONE, "{call} {between}");
    }
    // What a number is held to faults nowhere.
    let held = "\tchar text[32];\n\tint end;\n\n\tread_line(text, p, n);\n\tend = clamp(d->width, 0, 31);\n\ttext[end] = 0;\n\treturn n;";
    assert_eq!(handler(held), NONE);
}

#[test]
fn an_error_number_of_the_files_own_picks_no_element() {
    let with = |between: &str| {
        said(&format!(
            "static int line_of(char *to, const char __user *p, size_t n)\n{{\n\tif (copy_from_user(to, p, n))\n\
             \t\treturn -EFAULT;\n\treturn n;\n}}\n\
             ssize_t f(struct dev *d, const char __user *p)\n{{\n\tchar text[32];\n\tint len;\n\n\
             \tlen = line_of(text, p, 31);\n{between}\ttext[len] = 0;\n\treturn kstrtou32(text, 0, &d->width);\n}}\n"
        ))
    };
    assert_eq!(with(""), ["misread-result"]);
    assert_eq!(with("\tif (len < 0)\n\t\treturn len;\n"), NONE);
}

#[test]
fn a_size_is_asked_before_the_copy() {
    let with = |copy: &str, behind: &str| {
        said(&format!(
            "int f(struct dev *d, void __user *p, u64 id)\n{{\n\tstruct mode own = {{}};\n\tchar text[32] = {{}};\n\
             \tint size = size_of_register(id);\n\n{copy}{behind}\treturn take(d, &own, text);\n}}\n"
        ))
    };
    let copy = "\tif (copy_from_user(&own, p, size))\n\t\treturn -EFAULT;\n";
    let out = "\tif (copy_to_user(p, text, size))\n\t\treturn -EFAULT;\n";
    let asked = "\tif (size > sizeof(own))\n\t\treturn -EINVAL;\n";
    for (copy, behind) in [
        (copy, asked),
        (copy, "\tif (size != 16)\n\t\treturn -EINVAL;\n"),
        (out, "\tif (sizeof(text) < size)\n\t\treturn -EINVAL;\n"),
    ] {
        assert_eq!(with(copy, behind), ["late-check"], "{copy} {behind}");
        assert_eq!(with(behind, copy), NONE, "{behind} {copy}");
    }
    // Something else is asked behind it, or of another number.
    for behind in [
        "\tif (size > 8)\n\t\td->width = 1;\n",
        "\tsize = next_size(d);\n\tif (size > sizeof(own))\n\t\treturn -EINVAL;\n",
        "",
    ] {
        assert_eq!(with(copy, behind), NONE, "{behind}");
    }
}

#[test]
fn memory_is_asked_for_before_the_copy() {
    let with = |makes: &str, before: &str, behind: &str| {
        said(&format!(
            "int f(struct dev *d, void __user *p, u64 id)\n{{\n\tint size = size_of_register(id), room = room_of(d);\n\
             \tu8 *own = {makes};\n\n\tif (!own)\n\t\treturn -ENOMEM;\n{before}\
             \tif (copy_from_user(own, p, size)) {{\n\t\tkfree(own);\n\t\treturn -EFAULT;\n\t}}\n{behind}\treturn take(d, own);\n}}\n"
        ))
    };
    for (makes, most) in [
        ("kmalloc(room, GFP_KERNEL)", "room"),
        ("kzalloc(64, GFP_KERNEL)", "64"),
    ] {
        let asked =
            format!("\tif (size > {most}) {{\n\t\tkfree(own);\n\t\treturn -EINVAL;\n\t}}\n");
        assert_eq!(with(makes, "", &asked), ["late-check"], "{makes}");
        assert_eq!(with(makes, &asked, ""), NONE, "{makes}");
    }
}

#[test]
fn room_enough_is_no_bound() {
    let with = |test: &str, size: &str| {
        said(&format!(
            "struct ask {{ u32 room; u32 more; }};\n\
             int f(struct dev *d, void *data)\n{{\n\tstruct ask *ask = data;\n\tu32 __user *to = to_of(ask);\n\n\
             \tif ({test}) {{\n\t\tif (copy_to_user(to, d->modes, {size}))\n\t\t\treturn -EFAULT;\n\t}}\n\
             \task->room = d->many;\n\treturn 0;\n}}\n"
        ))
    };
    let large = "ask->room >= d->many";
    for (test, size) in [
        (large, "sizeof(u32) * ask->more"),
        (large, "sizeof(u32) * d->many"),
        ("ask->room == d->many", "sizeof(u32) * ask->room"),
        (
            "ask->room >= d->many && ask->room < 64",
            "sizeof(u32) * ask->room",
        ),
        ("ask->room <= d->many", "sizeof(u32) * ask->room"),
        ("ask->room >= d->width", "sizeof(u32) * d->many"),
    ] {
        assert_eq!(with(test, size), NONE, "{test} {size}");
    }
    let alone = |test: &str, size: &str| {
        said(&format!(
            "struct ask {{ u32 room; u32 more; }};\n\
             int f(struct dev *d, void *data)\n{{\n\tstruct ask *ask = data;\n\tu32 __user *to = to_of(ask);\n\n\
             \tif ({test} && copy_to_user(to, d->modes, {size}))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        ))
    };
    for (test, size) in [
        (large, "sizeof(u32) * ask->room"),
        ("d->many && ask->room >= d->many", "ask->room * 4"),
        ("d->many <= ask->room", "sizeof(*d->modes) * ask->room"),
    ] {
        assert_eq!(
            with(&format!("d->many && {test}"), size),
            ["beyond-variable"],
            "{test} {size}"
        );
        assert_eq!(alone(test, size), ["beyond-variable"], "{test} {size}");
    }
}

#[test]
fn room_for_less_is_refused() {
    let with = |test: &str, size: &str| {
        said(&format!(
            "int f(struct dev *d, u32 __user *to, u32 room)\n{{\n\tif ({test})\n\t\treturn -ENOSPC;\n\
             \treturn copy_to_user(to, d->modes, {size}) ? -EFAULT : 0;\n}}\n"
        ))
    };
    for test in ["room < d->many", "d->many > room"] {
        assert_eq!(
            with(test, "room * sizeof(u32)"),
            ["beyond-variable"],
            "{test}"
        );
        assert_eq!(with(test, "d->many * sizeof(u32)"), NONE, "{test}");
    }
    assert_eq!(with("room != d->many", "room * sizeof(u32)"), NONE);
    assert_eq!(with("room > d->many", "room * sizeof(u32)"), NONE);
    assert_eq!(
        with("room < d->many || room > 64", "room * sizeof(u32)"),
        NONE
    );
}

#[test]
fn less_than_the_size_of_a_command_is_no_bound() {
    let with = |test: &str| {
        said(&format!(
            "long f(struct file *file, unsigned int cmd, unsigned long arg)\n{{\n\tstruct mode own;\n\n\
             \tif ({test})\n\t\treturn -EINVAL;\n\
             \tif (copy_from_user(&own, (void __user *)arg, _IOC_SIZE(cmd)))\n\t\treturn -EFAULT;\n\
             \treturn set_mode(file, &own);\n}}\n\
             const struct file_operations ops = {{ .unlocked_ioctl = f }};\n"
        ))
    };
    assert_eq!(with("_IOC_SIZE(cmd) < sizeof(own)"), ["beyond-variable"]);
    assert_eq!(with("sizeof(own) > _IOC_SIZE(cmd)"), ["beyond-variable"]);
    assert_eq!(with("_IOC_SIZE(cmd) != sizeof(own)"), NONE);
    assert_eq!(with("_IOC_SIZE(cmd) > sizeof(own)"), NONE);
    assert_eq!(with("cmd != SET_MODE"), NONE);
}

#[test]
fn a_helper_reads_on_in_what_has_no_end() {
    let with = |copies: &str, reads: &str| {
        said(&format!(
            "int numbers_of(const char *text, size_t n, int **to)\n{{\n\tint many;\n\n\t{reads};\n\
             \treturn many ? 0 : -ENOENT;\n}}\n\
             int f(const char __user *p, size_t n, int **to)\n{{\n\tchar *text;\n\tint ret;\n\n\ttext = {copies};\n\
             \tif (IS_ERR(text))\n\t\treturn PTR_ERR(text);\n\tret = numbers_of(text, n, to);\n\tkfree(text);\n\
             \treturn ret;\n}}\n"
        ))
    };
    for reads in [
        "get_options(text, 0, &many)",
        "many = cpulist_parse(text, mask_of(to))",
        "many = simple_strtoul(text, NULL, 0)",
    ] {
        assert_eq!(
            with("memdup_user(p, n)", reads),
            ["unterminated-string"],
            "{reads}"
        );
        assert_eq!(with("memdup_user_nul(p, n)", reads), NONE, "{reads}");
    }
    assert_eq!(with("memdup_user(p, n)", "many = text[n - 1]"), NONE);
}

#[test]
fn a_length_is_held_against_the_object() {
    let with = |size: &str, copies: &str| {
        said(&format!(
            "struct ask {{ u32 size; u64 at; }};\n\
             int f(struct dev *d, struct ask *ask)\n{{\n\tstruct mode *mode;\n\tstruct mode **all = modes_of(d);\n\n\
             \tif (ask->size != {size} || !ask->at)\n\t\treturn -EINVAL;\n\
             \t{copies}\n\td->width = mode->width;\n\tkfree(mode);\n\treturn 0;\n}}\n"
        ))
    };
    let twice = "mode = memdup_user(u64_to_user_ptr(ask->at), ask->size);\n\tif (IS_ERR(mode))\n\t\treturn PTR_ERR(mode);";
    let copied = "mode = kmalloc(64, GFP_KERNEL);\n\tif (!mode)\n\t\treturn -ENOMEM;\n\
                  \tif (copy_from_user(mode, u64_to_user_ptr(ask->at), ask->size)) {\n\t\tkfree(mode);\n\t\treturn -EFAULT;\n\t}";
    for copies in [twice, copied] {
        assert_eq!(with("sizeof(mode)", copies), ["sizeof-pointer"]);
        assert_eq!(with("sizeof(*mode)", copies), NONE);
        assert_eq!(with("sizeof(struct mode)", copies), NONE);
        assert_eq!(with("sizeof(all)", copies), NONE, "another pointer's");
    }
}

#[test]
fn from_an_element_on_there_is_less() {
    let with = |from: &str, size: &str| {
        said(&format!(
            "struct set {{ u32 bits[2]; }};\nstruct more {{ u32 bits[2]; u32 next; }};\n\
             int f(struct set *s, struct more *m, char __user *p)\n{{\n\tstruct set own = *s;\n\tu32 all[4] = {{}};\n\n\
             \treturn copy_to_user(p, {from}, {size}) ? -EFAULT : take(all);\n}}\n"
        ))
    };
    for (from, size) in [
        ("&own.bits[1]", "sizeof(unsigned long)"),
        ("&s->bits[1]", "8"),
        ("&all[2]", "3 * sizeof(u32)"),
        ("all + 3", "8"),
        ("s->bits", "3 * sizeof(u32)"),
    ] {
        assert_eq!(with(from, size), ["beyond-variable"], "{from} {size}");
    }
    for (from, size) in [
        ("&own.bits[1]", "sizeof(u32)"),
        ("&own.bits[0]", "8"),
        ("&m->bits[1]", "8"),
        ("&all[2]", "2 * sizeof(u32)"),
        ("all + 3", "4"),
        ("s->bits", "sizeof(s->bits)"),
    ] {
        assert_eq!(with(from, size), NONE, "{from} {size}");
    }
}

#[test]
fn behind_a_string_nothing_is_set() {
    let with = |array: &str, writes: &str, size: &str| {
        said(&format!(
            "ssize_t f(struct dev *d, char __user *p, size_t n, loff_t *at)\n{{\n\tunsigned int i;\n\tchar {array};\n\
             \tssize_t len = 0;\n\n\tfor (i = 0; i < d->many; i++)\n\t\t{writes};\n\
             \treturn simple_read_from_buffer(p, n, at, text, {size});\n}}\n"
        ))
    };
    let each = "len += scnprintf(text + len, sizeof(text) - len, \"%c\", d->modes[i] ? 'x' : 'o')";
    let last = "len += scnprintf(&text[len], sizeof(text) - len, \"%u\", d->many)";
    for writes in [each, last] {
        assert_eq!(with("text[64]", writes, "sizeof(text)"), ["copied-holes"]);
        assert_eq!(with("text[64]", writes, "64"), ["copied-holes"]);
        assert_eq!(with("text[64]", writes, "len"), NONE);
        assert_eq!(with("text[64] = {}", writes, "sizeof(text)"), NONE);
    }
    let cleared = "memset(text, 0, sizeof(text))";
    assert_eq!(with("text[64]", cleared, "sizeof(text)"), NONE);
}

#[test]
fn what_was_not_given_is_not_copied() {
    let with = |buffer: &str, asked: &str, size: &str| {
        said(&format!(
            "ssize_t f(struct dev *d, struct iov_iter *to, loff_t at)\n{{\n\tssize_t got = 0;\n\n\
             \twhile (iov_iter_count(to)) {{\n\t\tu8 {buffer};\n\t\tssize_t want = min(iov_iter_count(to), sizeof(buf));\n\n\
             \t\tgot = read_channel(d, at, buf, want);\n\t\tif ({asked})\n\t\t\tbreak;\n\
             \t\tif (copy_to_iter(buf, {size}, to) != {size})\n\t\t\treturn -EFAULT;\n\t\tat += got;\n\t}}\n\
             \treturn got;\n}}\n"
        ))
    };
    assert_eq!(with("buf[16]", "got <= 0", "want"), ["copied-holes"]);
    assert_eq!(with("buf[16]", "got < 0", "want"), ["copied-holes"]);
    assert_eq!(with("buf[16]", "got <= 0", "got"), NONE);
    assert_eq!(with("buf[16]", "got != want", "want"), NONE);
    assert_eq!(with("buf[16] = {}", "got <= 0", "want"), NONE);
}

#[test]
fn what_a_program_reads_is_what_was_given() {
    let with = |asked: &str, size: &str| {
        said(&format!(
            "static ssize_t f(struct file *file, char __user *p, size_t n, loff_t *at)\n{{\n\tchar *buf;\n\tint ret;\n\n\
             \tif (n > 512)\n\t\tn = 512;\n\tbuf = kmalloc(n, GFP_KERNEL);\n\tif (!buf)\n\t\treturn -ENOMEM;\n\
             \tret = receive(file->private_data, buf, n);\n\tif ({asked} && copy_to_user(p, buf, {size}))\n\t\tret = -EFAULT;\n\
             \tkfree(buf);\n\treturn ret;\n}}\n\
             static const struct file_operations ops = {{ .read = f }};\n"
        ))
    };
    assert_eq!(with("ret >= 0", "n"), ["copied-holes"]);
    assert_eq!(with("ret > 0", "n"), ["copied-holes"]);
    assert_eq!(with("ret >= 0", "ret"), NONE);
    assert_eq!(with("!ret", "n"), NONE);
    assert_eq!(with("ret == n", "n"), NONE);
}

#[test]
fn an_error_number_says_nothing_of_how_much() {
    let with = |result: &str, size: &str| {
        said(&format!(
            "ssize_t f(struct dev *d, char __user *p, size_t n, loff_t *at)\n{{\n\tchar *buf = vmalloc(n);\n\tint ret;\n\n\
             \tif (!buf)\n\t\treturn -ENOMEM;\n\t{result} = read_channel(d, *at, buf, n);\n\tif (ret)\n\t\tgoto out;\n\
             \tret = copy_to_user(p, buf, {size});\n\tif (ret)\n\t\tret = -EFAULT;\n\telse\n\t\t*at += n;\n\
             out:\n\tvfree(buf);\n\treturn ret;\n}}\n"
        ))
    };
    assert_eq!(with("ret", "n"), NONE);
    // As many as were asked for is what was given.
    assert_eq!(with("ret = 0;\n\tn", "n"), NONE);
}

#[test]
fn the_last_of_none_lies_in_front() {
    let with = |makes: &str, test: &str| {
        said(&format!(
            "static ssize_t f(struct file *file, const char __user *p, size_t n, loff_t *at)\n{{\n\tchar *text;\n\tu32 own;\n\
             \tint ret;\n\n\tif (n > 64)\n\t\tn = 64;\n{makes}\ttext = memdup_user_nul(p, n);\n\tif (IS_ERR(text))\n\
             \t\treturn PTR_ERR(text);\n\tif ({test}text[n - 1] == '\\n')\n\t\ttext[n - 1] = 0;\n\
             \tret = kstrtou32(text, 0, &own);\n\tkfree(text);\n\treturn ret ? ret : n;\n}}\n\
             static const struct proc_ops ops = {{ .proc_write = f }};\n"
        ))
    };
    assert_eq!(with("", ""), ["beyond-array"]);
    assert_eq!(with("", "n > 0 && "), NONE);
    assert_eq!(with("\tif (!n)\n\t\treturn 0;\n", ""), NONE);
    assert_eq!(with("\tif (n < 2)\n\t\treturn -EINVAL;\n", ""), NONE);
}
