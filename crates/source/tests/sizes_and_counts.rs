//! The size of a pointer where that of another thing is meant, and how much a program asks for where
//! how much there is is.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;
use tollgate_source::check::{CheckWords, Checker};
use tollgate_source::{Headers, TreePath, Vocabulary};

const NONE: [&str; 0] = [];

#[test]
fn a_pointer_has_another_size_than_a_member() {
    let of = |copy: &str| {
        rules(&format!(
            "struct part {{ u32 at; u64 bytes; void *next; char name[32]; char *text; }};\n\
             struct req {{ u32 __user *at; u64 __user *bytes; }};\n\
             static int f(struct part *p, struct req *r, char __user *u)\n{{\n\
             \treturn {copy} ? -EFAULT : 0;\n}}\n"
        ))
    };
    for wrong in [
        "copy_to_user(&r->at[3], &p->at, sizeof(p))",
        "copy_from_user(&p->at, u, sizeof(p))",
        "copy_to_user(u, p->name, sizeof(p))",
        "copy_to_user(u, &p->name, sizeof(p))",
        "simple_read_from_buffer(u, 4, &pos, p, sizeof(p))",
        "simple_read_from_buffer(u, 4, &pos, p->text, sizeof(p->text))",
        "simple_write_to_buffer(p->text, sizeof(p->text), &pos, u, 4)",
        "copy_from_iter(p, sizeof(p), from) != 8",
    ] {
        assert_eq!(of(wrong), ["sizeof-pointer"], "{wrong}");
    }
    for right in [
        "copy_to_user(&r->at[3], &p->at, sizeof(p->at))",
        "copy_to_user(u, &p->bytes, sizeof(p))",
        "copy_to_user(u, &p->next, sizeof(p))",
        "copy_to_user(u, p->name, sizeof(p->name))",
        "simple_read_from_buffer(u, 4, &pos, p->name, sizeof(p->name))",
        "simple_write_to_buffer(p->name, sizeof(p->name), &pos, u, 4)",
        "copy_from_iter(&p->next, sizeof(p), from) != 8",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}

/// What is said of a file in a tree with that header.
fn beside(header: &str, text: &str) -> Vec<String> {
    let read = |path: &TreePath| match &*path.lossy() {
        "include/linux/x.h" => Ok(header.as_bytes().to_vec()),
        _ => tollgate_source::no_tree(path),
    };
    let (vocabulary, words) = (
        Vocabulary::builtin().unwrap(),
        CheckWords::builtin().unwrap(),
    );
    let headers = Headers::new(&read).unwrap();
    let mut checker = Checker::new(&vocabulary, &words, &headers).unwrap();
    let checked = checker.check(&TreePath::within("drivers/x.c"), text.as_bytes());
    let own = checked.violations.into_iter();
    own.map(|own| own.rule).collect()
}

#[test]
fn a_pointer_of_the_file_or_of_another_one() {
    let of = |header: &str, declared: &str| {
        let text = format!(
            "#include <linux/x.h>\n{declared}\n\
             static ssize_t f(struct file *file, char __user *u, size_t n, loff_t *at)\n{{\n\
             \treturn simple_read_from_buffer(u, n, at, words, sizeof(words));\n}}\n"
        );
        beside(header, &text)
    };
    for (header, declared) in [
        ("extern char *words;\n", ""),
        ("struct a { int b; };\nextern const char *words;\n", ""),
        ("", "static char *words;"),
        ("", "static const char *words = \"some words\";"),
    ] {
        assert_eq!(
            of(header, declared),
            ["sizeof-pointer"],
            "{header}{declared}"
        );
    }
    for (header, declared) in [
        ("extern char words[16];\n", ""),
        ("extern const char words[];\n", ""),
        ("extern struct words words;\n", ""),
        ("struct a { char *words; };\n", ""),
        ("void f(char *words);\n", ""),
        ("extern void f(char *words);\n", ""),
        ("", "static char words[16];"),
        ("", "static const char words[] = \"some words\";"),
        ("extern char *words;\n", "static char words[16];"),
    ] {
        assert_eq!(of(header, declared), NONE, "{header}{declared}");
    }
}

#[test]
fn as_much_as_a_program_asks_for_is_not_all_there_is() {
    let of = |statements: &str| {
        rules(&format!(
            "struct ops {{ const char *name; }};\nstruct dev {{ struct ops *ops; char text[16]; char *log; }};\n\
             static char own[16];\n\
             static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
             \tstruct dev *d = file->private_data;\n\tchar few[16] = \"\";\n\tchar *page;\n\n{statements}\n}}\n\
             static const struct file_operations ops = {{ .read = f }};\n"
        ))
    };
    let all =
        |from: &str| format!("\treturn simple_read_from_buffer(u, count, at, {from}, count);");
    for from in [
        "d->ops->name",
        "d->text",
        "d->log",
        "own",
        "few",
        "file->private_data",
    ] {
        assert_eq!(of(&all(from)), ["beyond-variable"], "{from}");
    }
    for made in [
        "page = d->log",
        "page = (char *)get_zeroed_page(GFP_KERNEL)",
        "page = kzalloc(64, GFP_KERNEL)",
        "page = describe(d)",
    ] {
        let text = format!("\t{made};\n{}", all("page"));
        assert_eq!(of(&text), ["beyond-variable"], "{made}");
    }
    for right in [
        "\treturn simple_read_from_buffer(u, count, at, d->ops->name, strlen(d->ops->name));",
        "\tcount = min(count, sizeof(d->text));\n\treturn simple_read_from_buffer(u, count, at, d->text, count);",
        "\tif (count > sizeof(d->text))\n\t\treturn -EINVAL;\n\treturn simple_read_from_buffer(u, count, at, d->text, count);",
        "\tpage = kzalloc(count, GFP_KERNEL);\n\treturn simple_read_from_buffer(u, count, at, page, count);",
        "\tpage = describe(d, count);\n\treturn simple_read_from_buffer(u, count, at, page, count);",
        "\td->log = kzalloc(count, GFP_KERNEL);\n\treturn simple_read_from_buffer(u, count, at, d->log, count);",
        "\tif (grow(d, count))\n\t\treturn -ENOMEM;\n\treturn simple_read_from_buffer(u, count, at, d->log, count);",
        "\treturn simple_read_from_buffer(u, count, at, few, sizeof(few));",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}

#[test]
fn as_much_as_a_program_gives_is_not_all_the_room() {
    let of = |statements: &str| {
        rules(&format!(
            "struct dev {{ char text[16]; char *log; }};\n\
             static ssize_t f(struct file *file, const char __user *u, size_t count, loff_t *at)\n{{\n\
             \tstruct dev *d = file->private_data;\n\tchar few[16] = \"\";\n\tchar *page;\n\n{statements}\n}}\n\
             static const struct file_operations ops = {{ .write = f }};\n"
        ))
    };
    for to in ["d->text", "d->log", "few"] {
        let all = format!("\treturn simple_write_to_buffer({to}, count, at, u, count);");
        assert_eq!(of(&all), ["beyond-variable"], "{to}");
    }
    for right in [
        "\treturn simple_write_to_buffer(d->text, sizeof(d->text), at, u, count);",
        "\td->log = kzalloc(count, GFP_KERNEL);\n\treturn simple_write_to_buffer(d->log, count, at, u, count);",
        "\tif (count > sizeof(d->text))\n\t\treturn -EINVAL;\n\treturn simple_write_to_buffer(d->text, count, at, u, count);",
    ] {
        assert_eq!(of(right), NONE, "{right}");
    }
}
