//! Each rule's page in `docs/rules/` says what is wrong and what is right, and
//! the rule agrees; so it does with the mistakes in `tests/data/mistakes/`.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tollgate_source::check::{Said, Severity, rules};

#[path = "support/mistakes.rs"]
mod mistakes;

use mistakes::{ROOT, expected, found, heard};

/// The code block under a heading of a page.
fn block(page: &str, heading: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("## {heading}\n"))?;
    let (_, code) = rest.split_once("```c\n")?;
    let (code, _) = code.split_once("```")?;
    Some(code.to_owned())
}

/// What a page says that a compiler said of its wrong example: `a.c:LINE:COLUMN: warning: TEXT [-WFLAG]`.
fn said(page: &str) -> Option<Said> {
    let (_, rest) = page.split_once("## What is said\n\n```\na.c:")?;
    let (place, text) = rest.lines().next()?.split_once(": warning: ")?;
    let (line, column) = place.split_once(':')?;
    let (text, flag) = text.split_once(" [-W")?;
    Some(Said {
        who: "gcc".to_owned(),
        severity: Severity::Warning,
        line: line.parse().ok()?,
        column: column.parse().ok()?,
        function: String::new(),
        text: text.to_owned(),
        at: 0,
        flag: flag.trim_end_matches(']').to_owned(),
    })
}

#[test]
fn each_rule_finds_its_page_s_wrong_example_and_nothing_in_the_right_one() {
    for info in rules() {
        let path = Path::new(ROOT).join(format!("docs/rules/{}.md", info.name));
        let page = fs::read_to_string(&path).unwrap();
        let before = block(&page, "Before the change");
        let wrong = block(&page, "Wrong").unwrap();
        let wrong = match said(&page) {
            Some(said) => heard(&wrong, said),
            None => found(before.as_deref(), &wrong),
        };
        let right = found(before.as_deref(), &block(&page, "Right").unwrap());
        assert!(
            wrong.iter().any(|(rule, _)| rule == info.name),
            "{}: wrong gave {wrong:?}",
            info.name
        );
        assert_eq!(right, [], "{}: right", info.name);
    }
}

#[test]
fn each_page_is_a_rule_s_and_says_what_the_rule_says() {
    let names: BTreeSet<String> = rules().iter().map(|info| info.name.to_owned()).collect();
    let pages: BTreeSet<String> = fs::read_dir(Path::new(ROOT).join("docs/rules"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, pages);
    let plain = |text: &str| {
        text.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase()
    };
    for info in rules() {
        let path = Path::new(ROOT).join(format!("docs/rules/{}.md", info.name));
        let page = plain(&fs::read_to_string(path).unwrap());
        let kind = format!(
            "severity {}, confidence {}",
            info.severity.name(),
            info.confidence.name()
        );
        for part in [info.summary, info.why, &kind] {
            assert!(page.contains(&plain(part)), "{}: {part}", info.name);
        }
    }
}

#[test]
fn each_known_mistake_is_found_where_it_is_and_its_correction_is_clean() {
    let folder = Path::new(ROOT).join("tests/data/mistakes");
    let mut names: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    names.sort();
    let of = |path: &Path, kind: &str| fs::read_to_string(path.join(kind)).ok();
    for path in &names {
        let before = of(path, "before.c");
        let wrong = of(path, "wrong.c").unwrap();
        let mut have = found(before.as_deref(), &wrong);
        have.sort();
        let want = expected(&wrong);
        assert!(!want.is_empty(), "{}", path.display());
        assert_eq!(have, want, "{}", path.display());
        let right = found(before.as_deref(), &of(path, "right.c").unwrap());
        assert_eq!(right, [], "{}: right", path.display());
    }
    let numbers: BTreeSet<String> = names
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy()[..2].to_owned())
        .collect();
    let all: BTreeSet<String> = (1..=15).map(|n| format!("{n:02}")).collect();
    assert_eq!(numbers, all);
}

#[test]
fn a_member_that_is_called_is_no_access() {
    let text = "int f(struct x *x, void __user *p)\n{\n\tu32 n = 1;\n\n\tx->ops->copy_to_user(x, p);\n\tif (!user_access_begin(p, 4))\n\t\treturn -EFAULT;\n\tx->unsafe_put_user(n, p);\n\tunsafe_put_user(n, p, efault);\n\tuser_access_end();\n\tx->user_access_end();\n\treturn 0;\nefault:\n\tuser_access_end();\n\treturn -EFAULT;\n}\n";
    let counted = found(None, text);
    assert!(
        counted.iter().all(|(rule, _)| rule == "call-in-window"),
        "{counted:?}"
    );
}

#[test]
fn a_name_that_ends_like_the_pointer_is_another_one() {
    let with = |line: &str| {
        let text = format!(
            "int fill(struct dirent __user *dirent, int n, u64 ino)\n{{\n\tstruct dirent __user *at = dirent;\n\tlong format;\n\n\t{line}\n\tif (!user_write_access_begin(dirent, sizeof(*dirent)))\n\t\treturn -EFAULT;\n\tunsafe_put_user(ino, &at->d_ino, Efault);\n\tuser_write_access_end();\n\treturn set(format);\nEfault:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}}\n"
        );
        found(None, &text)
    };
    assert_eq!(with("format = (long)dirent - n;"), []);
    assert_eq!(with("at = dirent + (n - 1);"), []);
    let before = [("outside-checked-range".to_owned(), 9)];
    assert_eq!(with("at = dirent-n;"), before);
    assert_eq!(with("at = (void __user *)dirent - n;"), before);
}

#[test]
fn what_assembly_writes_is_not_known_any_more() {
    let with = |line: &str| {
        let text = format!(
            "int f(u32 __user *p, int err)\n{{\n\terr = 0;\n\t{line}\n\tif (!user_write_access_begin(p, sizeof(*p)))\n\t\treturn -EFAULT;\n\tif (err)\n\t\treturn err;\n\tuser_write_access_end();\n\treturn 0;\n}}\n"
        );
        found(None, &text)
    };
    let open = [("window-left-open".to_owned(), 8)];
    assert_eq!(with("asm volatile(\"x\" : \"+r\"(err));"), open);
    assert_eq!(
        with("asm volatile(\"x\" : [e] \"=r\" (err) : \"r\"(p) : \"memory\");"),
        open
    );
    assert_eq!(with("asm volatile(\"x\" : : \"r\"(err));"), []);
    assert_eq!(with("get_user(err, p + 1);").last(), open.last());
}

#[test]
fn what_assembly_fills_is_not_said_to_be_unset() {
    let with = |line: &str| {
        let text = format!(
            "struct regs {{ u32 id; u32 part[3]; }};\nint f(void __user *p, u32 id)\n{{\n\tstruct regs s;\n\n\ts.id = id;\n\t{line}\n\treturn copy_to_user(p, &s, sizeof(s)) ? -EFAULT : 0;\n}}\n"
        );
        found(None, &text)
    };
    let unset = [("copied-holes".to_owned(), 8)];
    assert_eq!(with("asm volatile(\"x %0\" : \"=m\" (s.part[0]));"), []);
    assert_eq!(
        with("__asm__ (\"x\" : \"=r\" (id), \"=m\" (*s.part) : : \"memory\");"),
        []
    );
    assert_eq!(with("asm(\"x %0\" : : \"m\" (s.part) : \"memory\");"), []);
    assert_eq!(with("asm volatile(\"x\" : \"=r\" (id));"), unset);
    assert_eq!(with("use(s.part[0] + id);"), unset);
}

/// A macro that is given one label may jump to another that stands in it.
#[test]
fn a_label_of_the_macro_s_own_is_none_of_its_caller_s() {
    let with = |own: &str| {
        let text = format!(
            "#define unsafe_get_pair(x, p, label)\t\\\ndo {{\t\\\n\
             \tunsafe_get_user((x)->a, &(p)->a, label);\t\\\n\
             \tunsafe_get_user((x)->b, &(p)->b, failed);\t\\\n\
             {own}\t\\\n}} while (0)\n"
        );
        found(None, &text)
    };
    let wrong = [("macro-label".to_owned(), 4)];
    assert_eq!(with("failed:"), []);
    assert_eq!(with("__label__ failed;"), []);
    assert_eq!(with("other:"), wrong);
    assert_eq!(with("__label__ other;"), wrong);
    assert_eq!(with("\tg(failed);"), wrong);
}

/// As many bytes as members: each may have one.
#[test]
fn a_range_may_hold_as_many_members_as_it_has_bytes() {
    let with = |size: u32| {
        let accesses = (0..9).map(|at| format!("\tunsafe_put_user(x, &p->m{at}, Efault);\n"));
        let text = format!(
            "int f(struct s __user *p, char x)\n{{\n\
             \tif (!user_write_access_begin(p, {size}))\n\t\treturn -EFAULT;\n{}\
             \tuser_write_access_end();\n\treturn 0;\n\
             Efault:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}}\n",
            accesses.collect::<String>()
        );
        found(None, &text)
    };
    assert_eq!(with(9), []);
    assert_eq!(with(8), [("outside-checked-range".to_owned(), 3)]);
}

#[test]
fn what_is_made_of_a_value_is_checked_for_it() {
    let with = |asks: &str| {
        let text = format!(
            "struct list {{ u16 count; u16 item[4]; }};\nint f(struct list __user *p, u32 limit)\n{{\n\tunsigned long size;\n\tu16 count;\n\n\tif (get_user(count, &p->count))\n\t\treturn -EFAULT;\n\tsize = sized(count);\n\t{asks}\n\tif (get_user(count, &p->count))\n\t\treturn -EFAULT;\n\treturn take(count);\n}}\n"
        );
        found(None, &text)
    };
    let twice = [("double-fetch".to_owned(), 11)];
    assert_eq!(with("if (size > limit) return -ENOMEM;"), twice);
    assert_eq!(with("if (count > limit) return -ENOMEM;"), twice);
    // How it went is no limit of the value.
    assert_eq!(with("switch (size) { case 0: return 0; }"), []);
}

#[test]
fn what_a_call_or_assembly_is_given_is_no_load() {
    let with = |line: &str| {
        let text = format!(
            "struct pair {{ u32 a; u32 list[2]; }};\nint f(struct pair __user *p, u32 a)\n{{\n\t{line}\n\treturn put_user(a, &p->a);\n}}\n"
        );
        found(None, &text)
    };
    let loads = [("user-pointer-dereferenced".to_owned(), 4)];
    assert_eq!(with("a += p->a;"), loads);
    assert_eq!(with("if (p->list[1] == a) return 0;"), loads);
    assert_eq!(with("flush(p->a);"), []);
    assert_eq!(with("asm volatile(\"x\" :: \"m\" (p->a));"), []);
    assert_eq!(with("void *q = (void *)p->list;"), []);
    assert_eq!(with("a += sizeof(p->a);"), []);
}
