//! Bounds that are constants by a name, pages, numbers bounded from below alone, arrays and structures
//! that are filled in part, elements and stacks of another size than what goes there.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "#define PAGE_SIZE 4096UL\n\
     struct answer { u32 id; u32 words[7]; };\n\
     struct holed { u32 id; u8 kind; u32 size; };\n\
     struct rounds { u64 mask; u64 stamps[4]; u64 times[4]; };\n\
     struct pair { u32 from; u32 to; };\n\
     struct dev { u32 all[8]; u32 used; u8 mac[6]; struct holed kept; struct lock *io; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A write() that declares these variables and does that.
fn write(declared: &str, statements: &str) -> Vec<String> {
    rules(&format!(
        "static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n{declared}\n\n{statements}\n\treturn count;\n}}\n\
         static const struct file_operations ops = {{ .write = f }};\n"
    ))
}

#[test]
fn a_variable_of_one_constant_is_a_bound() {
    let asked = |declared: &str, more: &str| {
        write(
            &format!("\tchar buf[64];\n{declared}"),
            &format!(
                "{more}\n\tif (count > most)\n\t\treturn -E2BIG;\n\
                 \tif (copy_from_user(buf, u, count))\n\t\treturn -EFAULT;\n\tuse(d, buf, count);"
            ),
        )
    };
    for wrong in [
        "\tconst size_t most = 65;",
        "\tsize_t most = 32 * 4;",
        "\tstatic const int most = sizeof(struct answer) * 3;",
        "\tconst int one = 40;\n\tconst int most = one + one;",
    ] {
        assert_eq!(asked(wrong, ""), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "\tconst size_t most = 64;",
        "\tsize_t most = sizeof(buf);",
        "\tconst int one = 20;\n\tconst int most = one + one;",
    ] {
        assert_eq!(asked(right, ""), NONE, "{right}");
    }
    // What may take another value is no constant.
    for other in ["\tmost = room(d);", "\tlower(d, &most);", "\tmost--;"] {
        assert_eq!(asked("\tsize_t most = 128;", other), NONE, "{other}");
    }
}

#[test]
fn a_constant_of_the_file_and_the_least_of_two_are_bounds() {
    let asked = |before: &str, count: &str| {
        rules(&format!(
            "static const size_t most = 2 * 64;\nstatic size_t any = 128;\n\
             static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
             \tstruct dev *d = file->private_data;\n\tchar buf[64];\n\n{before}\
             \tif (copy_from_user(buf, u, {count}))\n\t\treturn -EFAULT;\n\tuse(d, buf);\n\treturn count;\n}}\n\
             static const struct file_operations ops = {{ .write = f }};\n"
        ))
    };
    let refused = "\tif (count > most)\n\t\treturn -EINVAL;\n";
    for (before, count) in [
        (refused, "count"),
        ("", "min(count, most)"),
        ("", "min_t(size_t, count, 65)"),
        ("", "min(sizeof(buf) + 1, count)"),
    ] {
        assert_eq!(
            asked(before, count),
            ["beyond-variable"],
            "{before} {count}"
        );
    }
    let less = "\tif (count > 32)\n\t\tcount = 32;\n";
    for (before, count) in [
        ("\tif (count > any)\n\t\treturn -EINVAL;\n", "count"),
        ("", "min(count, sizeof(buf))"),
        ("", "min_t(size_t, count, 64)"),
        (less, "min(count, most)"),
    ] {
        assert_eq!(asked(before, count), NONE, "{before} {count}");
    }
}

#[test]
fn a_page_is_as_long_as_a_page() {
    let asked = |most: &str, made: &str| {
        write(
            "\tchar *buf;",
            &format!(
                "\tif (count > {most})\n\t\treturn -E2BIG;\n\tbuf = (char *){made};\n\tif (!buf)\n\t\treturn -ENOMEM;\n\
                 \tif (copy_from_user(buf, u, count))\n\t\tcount = -EFAULT;\n\telse\n\t\tuse(d, buf, count);\n\
                 \tfree_page((unsigned long)buf);"
            ),
        )
    };
    for made in ["get_zeroed_page(GFP_KERNEL)", "__get_free_page(GFP_KERNEL)"] {
        for wrong in ["4 * 4096", "PAGE_SIZE + 1", "5000"] {
            assert_eq!(asked(wrong, made), ["beyond-variable"], "{wrong} {made}");
        }
        for right in ["PAGE_SIZE", "4095", "sizeof(struct answer)"] {
            assert_eq!(asked(right, made), NONE, "{right} {made}");
        }
    }
    // How many pages those are nobody knows.
    assert_eq!(asked("5000", "__get_free_pages(GFP_KERNEL, d->used)"), NONE);
}

#[test]
fn room_for_all_of_it_is_no_bound() {
    let asked = |declared: &str, test: &str, from: &str| {
        rules(&format!(
            "static const u32 table[] = {{ 1, 2, 3 }};\nstatic struct answer *at;\nint f(struct dev *d, int op, unsigned int size, unsigned int __user *u)\n{{\n{declared}\n\n\
             \tif ({test})\n\t\treturn -ENOMEM;\n\tfill(d);\n\
             \tif (copy_to_user(u, {from}, size))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        ))
    };
    let (made, array, object) = (
        "\tDECLARE_TABLE(all, 0, 4);",
        "\tu32 all[4] = { 1, 2 };",
        "\tstruct answer r = { };",
    );
    for (declared, wrong, from) in [
        (made, "size < sizeof(all)", "all"),
        (made, "sizeof(all) > size", "all"),
        (array, "size < sizeof(all)", "all"),
        (array, "size < 16", "all"),
        (object, "size < sizeof(r)", "&r"),
        (object, "size < sizeof(struct answer)", "&r"),
        ("", "size < sizeof(table)", "table"),
        ("\tstruct elsewhere r = { };", "size < sizeof(r)", "&r"),
    ] {
        let found = asked(declared, wrong, from);
        assert_eq!(found, ["beyond-variable"], "{declared} {wrong}");
    }
    for (declared, right, from) in [
        (made, "size != sizeof(all)", "all"),
        (made, "size < sizeof(all) || size > sizeof(all)", "all"),
        (made, "size < sizeof(others)", "all"),
        (array, "size > sizeof(all)", "all"),
    ] {
        let found = asked(declared, right, from);
        assert_eq!(found, NONE, "{declared} {right}");
    }
    // That of a pointer is another mistake.
    let pointer = "\tu32 *all = table_of(d);";
    for (declared, size, from) in [(pointer, "sizeof(all)", "all"), ("", "sizeof(at)", "at")] {
        let found = asked(declared, &format!("size < {size}"), from);
        assert!(!found.iter().any(|own| own == "beyond-variable"), "{from}");
    }
    let within = |test: &str, then: &str| {
        rules(&format!(
            "int f(struct dev *d, u32 size, void __user *u)\n{{\n\tstruct answer r = {{ }};\n\n\
             \tif ({test}) {{\n{then}\t\tif (copy_to_user(u, &r, size))\n\t\t\treturn -EFAULT;\n\t}}\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(within("size >= sizeof(r)", ""), ["beyond-variable"]);
    assert_eq!(within("d && sizeof(r) <= size", ""), ["beyond-variable"]);
    assert_eq!(within("size >= sizeof(r)", "\t\tsize = sizeof(r);\n"), NONE);
    assert_eq!(within("size <= sizeof(r)", ""), NONE);
}

#[test]
fn what_fills_an_array_in_part_leaves_the_rest() {
    let asked = |filler: &str, count: u32, statements: &str| {
        rules(&format!(
            "{filler}static int f(struct dev *d, void __user *u)\n{{\n\tu8 v[{count}];\n\tint i;\n\n{statements}\n\
             \treturn copy_to_user(u, v, sizeof(v)) ? -EFAULT : 0;\n}}\n"
        ))
    };
    let numbers = "static int fill(struct lock *io, u8 v[], int end)\n{\n\tu8 got[4];\n\n\tif (ask(io, got))\n\t\treturn -EIO;\n\
         \tv[0] = got[1];\n\tv[1] = got[2];\n\treturn end ? done(io) : 0;\n}\n";
    let rounds = "static void fill(struct lock *io, u8 *v, int end)\n{\n\tint n;\n\n\tfor (n = 0; n < 2; n++)\n\t\tv[n] = next(io);\n}\n";
    let bytes =
        "static void fill(struct lock *io, u8 *v, int end)\n{\n\tmemcpy(v, io->mac, 2);\n}\n";
    let two = "static void first(u8 *to)\n{\n\tto[0] = 1;\n}\n\
         static void fill(struct lock *io, u8 *v, int end)\n{\n\tif (!v)\n\t\treturn;\n\tfirst(v);\n\tv[1] = v[0];\n}\n";
    let call = "\tfill(d->io, v, 1);";
    for filler in [numbers, rounds, bytes, two] {
        assert_eq!(asked(filler, 4, call), ["copied-holes"], "{filler}");
        assert_eq!(asked(filler, 2, call), NONE, "{filler}");
        let rest = format!("{call}\n\tv[2] = 0;\n\tv[3] = d->used;");
        assert_eq!(asked(filler, 4, &rest), NONE, "{filler}");
        let cleared = format!("\tmemset(v, 0, sizeof(v));\n{call}");
        assert_eq!(asked(filler, 4, &cleared), NONE, "{filler}");
    }
    let own = |end: &str| format!("\tfor (i = 0; i {end}; i++)\n\t\tv[i] = d->all[i];");
    for wrong in ["< 3", "<= 2"] {
        assert_eq!(asked("", 4, &own(wrong)), ["copied-holes"], "{wrong}");
    }
    for right in ["< 4", "<= 3"] {
        assert_eq!(asked("", 4, &own(right)), NONE, "{right}");
    }
    // Both together are all.
    let halves = "\tmemcpy(v, d->mac, 2);\n\tv[2] = 1;\n\tv[3] = 1;";
    assert_eq!(asked("", 4, halves), NONE);
    for unknown in [
        "static void fill(struct lock *io, u8 *v, int end)\n{\n\twhile (end--)\n\t\t*v++ = next(io);\n}\n",
        "static void fill(struct lock *io, u8 *v, int end)\n{\n\tu8 *to = v;\n\n\tto[0] = 1;\n}\n",
        "static void fill(struct lock *io, u8 *v, int end)\n{\n\tv[end] = 1;\n}\n",
        "static void fill(struct lock *io, u8 *v, int end)\n{\n\tv[0] = 1;\n\tfill_more(io, v);\n}\n",
        "static void fill(struct lock *io, u8 *v, int end)\n{\n\tint n;\n\n\tfor (n = 0; n < 2; n++) {\n\t\tv[n] = 1;\n\t\tn += end;\n\t\tv[n] = 1;\n\t}\n}\n",
    ] {
        assert_eq!(asked(unknown, 4, call), NONE, "{unknown}");
    }
}

#[test]
fn a_struct_that_one_way_clears_keeps_its_holes_on_the_others() {
    let asked = |statements: &str| {
        rules(&format!(
            "static void taken(struct dev *d, const struct holed *from)\n{{\n\td->used = from->id;\n\tmemcpy(d->mac, &from->kind, sizeof(from->kind));\n}}\n\
             static void given(struct holed *to, const struct dev *d)\n{{\n\tto->id = d->used;\n\tto->kind = 1;\n\tto->size = 2;\n}}\n\
             static int f(struct dev *d, void __user *u, int which)\n{{\n\tstruct holed p;\n\n{statements}\n\
             \tgiven(&p, d);\n\treturn copy_to_user(u, &p, sizeof(p)) ? -EFAULT : 0;\n}}\n"
        ))
    };
    let read =
        "\t\tif (copy_from_user(&p, u, sizeof(p)))\n\t\t\treturn -EFAULT;\n\t\ttaken(d, &p);\n";
    let clear = "\t\tmemset(&p, 0, sizeof(p));\n";
    for wrong in [
        format!("\tif (which) {{\n{read}{clear}\t}}"),
        format!("\tif (which) {{\n{read}\t}}"),
        format!("\tif (which) {{\n{clear}\t}}"),
        format!(
            "\tswitch (which) {{\n\tcase 1:\n{read}\t\tbreak;\n\tcase 2:\n{clear}\t\tbreak;\n\tdefault:\n\t\tnote(d);\n\t}}"
        ),
    ] {
        assert_eq!(asked(&wrong), ["copied-holes"], "{wrong}");
    }
    for right in [
        format!("\tif (which) {{\n{read}\t}}\n{clear}"),
        format!("\tif (which) {{\n{read}\t}} else {{\n{clear}\t}}"),
        read.to_owned(),
        format!("{clear}\tif (which) {{\n{read}\t}}"),
        // Somebody else may fill it.
        format!("\tif (which) {{\n{read}\t}} else {{\n\t\tfetch_all(d, &p);\n\t}}"),
    ] {
        assert_eq!(asked(&right), NONE, "{right}");
    }
}

#[test]
fn what_a_round_leaves_out_is_not_set() {
    let asked = |declared: &str, before: &str, round: &str, count: &str| {
        rules(&format!(
            "static int f(struct dev *d, void __user *u, u32 max)\n{{\n\tstruct rounds r{declared};\n\tint i;\n\n\tr.mask = d->used;\n{before}\
             \tfor (i = 0; i < 4; i++)\n\t\tr.times[i] = d->all[i];\n\
             \tfor (i = 0; i < 4; i++) {{\n{round}\n\t}}\n\
             \treturn copy_to_user(u, &r, {count}) ? -EFAULT : 0;\n}}\n"
        ))
    };
    let skips = "\t\tif (!(d->used & (1 << i)))\n\t\t\tcontinue;\n\t\tr.stamps[i] = d->all[i];";
    let branch = "\t\tif (d->used & (1 << i))\n\t\t\tr.stamps[i] = d->all[i];";
    let counts = [
        "sizeof(r)",
        "min((size_t)max, sizeof(r))",
        "min_t(size_t, max, sizeof(r))",
    ];
    for count in counts {
        for round in [skips, branch] {
            assert_eq!(
                asked("", "", round, count),
                ["copied-holes"],
                "{round} {count}"
            );
            assert_eq!(asked(" = { }", "", round, count), NONE, "{round} {count}");
            let cleared = "\tmemset(r.stamps, 0, sizeof(r.stamps));\n";
            assert_eq!(asked("", cleared, round, count), NONE, "{round} {count}");
        }
        for right in [
            "\t\tr.stamps[i] = d->all[i];",
            "\t\tr.stamps[i] = 0;\n\t\tif (d->used & (1 << i))\n\t\t\tr.stamps[i] = d->all[i];",
            "\t\tif (d->used & (1 << i))\n\t\t\tr.stamps[i] = d->all[i];\n\t\telse\n\t\t\tr.stamps[i] = 0;",
            "\t\tif (!d->all[i]) {\n\t\t\tr.stamps[i] = 0;\n\t\t\tcontinue;\n\t\t}\n\t\tr.stamps[i] = d->all[i];",
        ] {
            assert_eq!(asked("", "", right, count), NONE, "{right} {count}");
        }
    }
    // A round that sets nothing and leaves the function leaves nothing out.
    for right in [
        "\t\tif (d->all[i])\n\t\t\tr.stamps[i] = 1;\n\t\telse\n\t\t\treturn -EINVAL;",
        "\t\tif (!d->all[i]) {\n\t\t\treturn -EINVAL;\n\t\t} else {\n\t\t\tr.stamps[i] = 1;\n\t\t}",
    ] {
        assert_eq!(asked("", "", right, "sizeof(r)"), NONE, "{right}");
    }
    let other = "\t\tif (!d->all[i])\n\t\t\td->used++;\n\t\telse\n\t\t\tr.stamps[i] = 1;";
    assert_eq!(asked("", "", other, "sizeof(r)"), ["copied-holes"]);
    // As many as there are of the least of two constants are not all.
    assert_eq!(asked("", "", skips, "min(8, sizeof(r))"), NONE);
}

#[test]
fn behind_the_string_of_a_function_of_the_file_lies_what_lay_there() {
    let asked = |filler: &str, (made, free): (&str, &str), count: &str| {
        rules(&format!(
            "{filler}static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
             \tstruct dev *d = file->private_data;\n\tssize_t n;\n\t{made};\n\n\tif (!buf)\n\t\treturn -ENOMEM;\n\
             \tn = dump(d, buf);\n\tif (n >= 0)\n\t\tn = simple_read_from_buffer(u, count, at, buf, {count});\n\
             \t{free};\n\treturn n;\n}}\n\
             static const struct file_operations ops = {{ .read = f }};\n"
        ))
    };
    let lines = "static ssize_t dump(struct dev *d, char *to)\n{\n\tssize_t n = 0;\n\tint i;\n\n\tn += sprintf(to, \"all\\n\");\n\
         \tfor (i = 0; i < 8; i++)\n\t\tn += scnprintf(to + n, PAGE_SIZE - n, \"%u\\n\", d->all[i]);\n\treturn n;\n}\n";
    let further = format!(
        "{}static ssize_t dump(struct dev *d, char *to)\n{{\n\treturn one(d, to);\n}}\n",
        lines.replace("dump", "one")
    );
    let (heap, pages) = ("kfree(buf)", "free_page((unsigned long)buf)");
    let memory = ("char *buf = kmalloc(PAGE_SIZE, GFP_KERNEL)", heap);
    let page = ("char *buf = (char *)__get_free_page(GFP_KERNEL)", pages);
    for filler in [lines, &further] {
        for made in [memory, page] {
            assert_eq!(
                asked(filler, made, "PAGE_SIZE"),
                ["copied-holes"],
                "{filler} {made:?}"
            );
            assert_eq!(asked(filler, made, "n"), NONE, "{filler} {made:?}");
        }
        for cleared in [
            ("char *buf = kzalloc(PAGE_SIZE, GFP_KERNEL)", heap),
            ("char *buf = (char *)get_zeroed_page(GFP_KERNEL)", pages),
        ] {
            assert_eq!(
                asked(filler, cleared, "PAGE_SIZE"),
                NONE,
                "{filler} {cleared:?}"
            );
        }
    }
    for unknown in [
        "static ssize_t dump(struct dev *d, char *to)\n{\n\tmemset(to, 0, PAGE_SIZE);\n\treturn sprintf(to, \"%u\", d->used);\n}\n",
        "static ssize_t dump(struct dev *d, char *to)\n{\n\treturn sprintf(to, \"%u\", d->used) + more(d, to);\n}\n",
        "",
    ] {
        assert_eq!(asked(unknown, memory, "PAGE_SIZE"), NONE, "{unknown}");
    }
}

#[test]
fn a_loop_that_ends_early_or_leaves_rounds_out_fills_in_part() {
    let member = |loops: &str| {
        rules(&format!(
            "static int f(struct dev *d, void __user *u)\n{{\n\tstruct answer r;\n\tint i;\n\n\tr.id = 1;\n{loops}\n\
             \treturn copy_to_user(u, &r, sizeof(r)) ? -EFAULT : 0;\n}}\n"
        ))
    };
    let round = |from: u32, end: &str| {
        format!("\tfor (i = {from}; i {end}; i++)\n\t\tr.words[i] = d->all[i];\n")
    };
    for wrong in ["< 4", "<= 5"] {
        assert_eq!(member(&round(0, wrong)), ["copied-holes"], "{wrong}");
    }
    for right in ["< 7", "< ARRAY_SIZE(r.words)", "< d->used"] {
        assert_eq!(member(&round(0, right)), NONE, "{right}");
    }
    let both = round(0, "< 4") + &round(4, "< 7");
    assert_eq!(member(&both), NONE);
    let array = |round: &str| {
        rules(&format!(
            "static int f(struct dev *d, void __user *u)\n{{\n\tu32 v[8];\n\tint i;\n\n\tfor (i = 0; i < 8; i++) {{\n{round}\n\t}}\n\
             \treturn copy_to_user(u, v, sizeof(v)) ? -EFAULT : 0;\n}}\n"
        ))
    };
    for wrong in [
        "\t\tif (!d->all[i])\n\t\t\tcontinue;\n\t\tv[i] = 1;",
        "\t\tif (d->all[i])\n\t\t\tv[i] = d->all[i];",
    ] {
        assert_eq!(array(wrong), ["copied-holes"], "{wrong}");
    }
    for right in [
        "\t\tv[i] = d->all[i];",
        "\t\tv[i] = 0;\n\t\tif (d->all[i])\n\t\t\tv[i] = d->all[i];",
        "\t\tif (d->all[i])\n\t\t\tv[i] = d->all[i];\n\t\telse\n\t\t\tv[i] = 0;",
        "\t\tif (d->all[i])\n\t\t\tv[i] = d->all[i];\n\t\telse\n\t\t\treturn -EINVAL;",
        "\t\tif (d->all[i])\n\t\t\tset(d, v, i);",
    ] {
        assert_eq!(array(right), NONE, "{right}");
    }
}

#[test]
fn elements_are_as_long_as_what_the_pointer_leads_to() {
    let asked = |kind: &str, made: &str, until: &str| {
        rules(&format!(
            "static int f(struct dev *d, void __user *u, u32 n)\n{{\n\t{kind} *all;\n\tu32 i;\n\n\tall = {made};\n\
             \tif (IS_ERR(all))\n\t\treturn PTR_ERR(all);\n\tfor (i = 0; i < {until}; i++)\n\t\tuse(d, all[i]);\n\
             \tkvfree(all);\n\treturn 0;\n}}\n"
        ))
    };
    for (kind, wrong) in [
        ("u32", "memdup_user(u, sizeof(u16) * n)"),
        ("u32", "memdup_user(u, n * sizeof(u8))"),
        ("struct pair", "memdup_user(u, sizeof(u32) * n)"),
        ("u64", "vmemdup_user(u, n * sizeof(d->used))"),
        ("u32", "memdup_user(u, array_size(n, sizeof(u16)))"),
        ("u32", "memdup_array_user(u, n, sizeof(u16))"),
    ] {
        assert_eq!(
            asked(kind, wrong, "n"),
            ["elements-for-bytes"],
            "{kind} {wrong}"
        );
        // Half as many may be what was meant.
        assert_eq!(asked(kind, wrong, "n / 2"), NONE, "{kind} {wrong}");
    }
    for (kind, right) in [
        ("u32", "memdup_user(u, sizeof(all[0]) * n)"),
        ("u32", "memdup_user(u, sizeof(u32) * n)"),
        ("struct pair", "memdup_user(u, n * sizeof(*all))"),
        ("u8", "memdup_user(u, sizeof(u16) * n)"),
        ("u32", "memdup_array_user(u, n, sizeof(*all))"),
        ("struct unknown", "memdup_user(u, sizeof(u16) * n)"),
    ] {
        assert_eq!(asked(kind, right, "n"), NONE, "{kind} {right}");
    }
    let out = |made: &str, count: &str| {
        rules(&format!(
            "static int f(struct dev *d, void __user *u, u32 n)\n{{\n\tu64 *all = {made};\n\tu32 i;\n\tint ret = 0;\n\n\
             \tif (!all)\n\t\treturn -ENOMEM;\n\tfor (i = 0; i < n; i++)\n\t\tall[i] = next(d);\n\
             \tif (copy_to_user(u, all, {count}))\n\t\tret = -EFAULT;\n\tkfree(all);\n\treturn ret;\n}}\n"
        ))
    };
    let made = "kcalloc(n, sizeof(*all), GFP_KERNEL)";
    assert_eq!(out(made, "n * sizeof(u32)"), ["elements-for-bytes"]);
    assert_eq!(out(made, "n * sizeof(u64)"), NONE);
    let short = "kcalloc(n, sizeof(u32), GFP_KERNEL)";
    assert_eq!(out(short, "n * sizeof(u32)"), ["elements-for-bytes"]);
}

#[test]
fn a_stack_grows_by_what_is_written() {
    let asked = |moved: &str, written: &str, then: &str| {
        rules(&format!(
            "static inline int width(struct regs *regs)\n{{\n\treturn is_wide(regs) ? 8 : 4;\n}}\n\
             static int f(struct regs *regs, u64 val, struct answer *r)\n{{\n\tunsigned long to = regs->sp - {moved};\n\n\
             \tif ({written})\n\t\treturn -EFAULT;\n{then}\treturn 0;\n}}\n"
        ))
    };
    let taken = "\tregs->sp = to;\n";
    for (moved, wrong) in [
        (
            "width(regs)",
            "copy_to_user((void __user *)to, &val, sizeof(val))",
        ),
        ("4", "put_user(val, (u64 __user *)to)"),
        (
            "sizeof(struct pair)",
            "copy_to_user((void __user *)to, r, sizeof(*r))",
        ),
    ] {
        assert_eq!(
            asked(moved, wrong, taken),
            ["beyond-variable"],
            "{moved} {wrong}"
        );
        // Nobody says that this is where a stack ends.
        assert_eq!(asked(moved, wrong, ""), NONE, "{moved} {wrong}");
    }
    for (moved, right) in [
        (
            "width(regs)",
            "copy_to_user((void __user *)to, &val, width(regs))",
        ),
        ("width(regs)", "put_user((u32)val, (u32 __user *)to)"),
        ("8", "put_user(val, (u64 __user *)to)"),
        (
            "room(regs)",
            "copy_to_user((void __user *)to, r, sizeof(*r))",
        ),
    ] {
        assert_eq!(asked(moved, right, taken), NONE, "{moved} {right}");
    }
    let at_once = |moved: &str| {
        rules(&format!(
            "static int f(struct regs *regs, u64 val)\n{{\n{moved}\treturn put_user(val, (u64 __user *)regs->sp);\n}}\n"
        ))
    };
    assert_eq!(at_once("\tregs->sp -= 4;\n"), ["beyond-variable"]);
    for right in [
        "\tregs->sp -= 8;\n",
        "\tregs->sp -= 4;\n\tregs->sp -= 4;\n",
        "",
    ] {
        assert_eq!(at_once(right), NONE, "{right}");
    }
}

#[test]
fn a_32_bit_program_has_its_own_structure() {
    let asked = |name: &str, kind: &str, around: &str| {
        rules(&format!(
            "struct compat_area {{ u32 len; u32 from; u32 to; }};\n\
             struct area {{ unsigned int len; unsigned long from; unsigned long to; }};\n\
             typedef struct {{ u32 len; u32 from; }} compat_part_t;\n\
             typedef struct {{ unsigned int len; unsigned long from; }} part_t;\n\
             struct compat_same {{ u32 len; u32 from; }};\n\
             struct same {{ u32 len; u32 from; }};\n{around}\
             long {name}(struct dev *d, long what, unsigned int place)\n{{\n\tunsigned long addr = place;\n\t{kind} a;\n\n\
             \tif (copy_from_user(&a, (void __force __user *)addr, sizeof(a)))\n\t\treturn -EFAULT;\n\
             \taddr = a.from;\n\treturn use(d, addr, a.len);\n}}\n"
        ))
    };
    for wrong in ["struct area", "part_t"] {
        assert_eq!(
            asked("compat_trace", wrong, ""),
            ["other-layout"],
            "{wrong}"
        );
        assert_eq!(asked("trace", wrong, ""), NONE, "{wrong}");
    }
    for right in [
        "struct compat_area",
        "compat_part_t",
        "struct same",
        "struct pair",
    ] {
        assert_eq!(asked("compat_trace", right, ""), NONE, "{right}");
    }
    // Who names both knows them.
    let knows = asked("compat_trace", "struct compat_area o;\n\tstruct area", "");
    assert_eq!(knows, NONE);
    // The file means the other one by that name.
    assert_eq!(
        asked("compat_trace", "struct area", "#define area compat_area\n"),
        NONE
    );
}

#[test]
fn what_fills_a_member_in_part_leaves_the_rest() {
    let asked = |many: u32, before: &str| {
        let filler = format!(
            "struct row {{ u64 id; char name[8]; }};\n\
             static void named(struct dev *d, char *name)\n{{\n\tif (!is_named(d))\n\t\tpr_warn(\"no name\\n\");\n\
             \telse\n\t\tmemcpy(name, d->mac, {many});\n}}\n"
        );
        let one = rules(&format!(
            "{filler}static int f(struct dev *d, void __user *u)\n{{\n\tstruct row r;\n\n\tr.id = d->used;\n{}\tnamed(d, r.name);\n\
             \treturn copy_to_user(u, &r, sizeof(r)) ? -EFAULT : 0;\n}}\n",
            before.replace("OBJECT", "r")
        ));
        let all = rules(&format!(
            "{filler}static int f(struct dev *d, void __user *u, u32 n)\n{{\n\tstruct row *all;\n\tint ret = 0;\n\tu32 i;\n\n\
             \tall = kmalloc_array(n, sizeof(*all), GFP_KERNEL);\n\tif (!all)\n\t\treturn -ENOMEM;\n\
             \tfor (i = 0; i < n; i++) {{\n\t\tall[i].id = i;\n{}\t\tnamed(d, all[i].name);\n\t}}\n\
             \tif (copy_to_user(u, all, n * sizeof(*all)))\n\t\tret = -EFAULT;\n\tkfree(all);\n\treturn ret;\n}}\n",
            before.replace("OBJECT", "all[i]")
        ));
        [one, all]
    };
    let cleared = "\tmemset(OBJECT.name, 0, sizeof(OBJECT.name));\n";
    let rest = "\tmemcpy(OBJECT.name, d->mac, 6);\n";
    for found in asked(4, "") {
        assert_eq!(found, ["copied-holes"]);
    }
    for right in [asked(8, ""), asked(4, cleared), asked(4, rest)] {
        assert_eq!(right, [NONE, NONE]);
    }
}

#[test]
fn a_product_of_a_signed_number_is_no_bound() {
    let asked = |kind: &str, statements: &str| {
        rules(&format!(
            "struct load {{ {kind} size; u32 kind; }};\n\
             static long f(struct dev *d, void __user *u, long count)\n{{\n\tstruct load m;\n\tint n;\n\n\
             \tif (copy_from_user(&m, u, sizeof(m)))\n\t\treturn -EFAULT;\n{statements}\n\treturn load(d, &m, count);\n}}\n"
        ))
    };
    let refuses = |test: &str| format!("\tif ({test})\n\t\treturn -EINVAL;");
    for wrong in [
        "count < m.size * 2",
        "m.size * 4 > 4096",
        "m.size < 0 || m.size * 4 > 4096",
    ] {
        assert_eq!(asked("s32", &refuses(wrong)), ["wrapping-size"], "{wrong}");
    }
    for right in [
        "m.size * 2 != count",
        "m.size < 0 || m.size > 1024 || m.size * 4 > 4096",
        "count < (s64)m.size * 2",
        "m.kind * 2 < 4",
    ] {
        assert_eq!(asked("s32", &refuses(right)), NONE, "{right}");
    }
    assert_eq!(asked("s16", &refuses("count < m.size * 2")), NONE);
    let taken = "\tn = m.size;\n\tif (n <= 0 || n > 1024)\n\t\treturn -EINVAL;\n\tif (count < m.size * 2)\n\t\treturn -EINVAL;";
    assert_eq!(asked("s32", taken), NONE);
}
