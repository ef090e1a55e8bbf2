//! The styles besides `window`: functions before and after, what each refuses,
//! and the properties that every fix has.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use std::{fs, io};

use proptest::prelude::*;
use tollgate_rewrite::{FixError, Patched, Request, Style, UACCESS, fix};
use tollgate_source::{Analyser, TreePath, Vocabulary};

/// A tree like Linux 6.12: masked, not scoped.
const MASKED: &str = "\
#ifdef masked_user_access_begin
 #define can_do_masked_user_access() 1
#else
 #define can_do_masked_user_access() 0
 #define masked_user_access_begin(src) NULL
#endif
unsigned long copy_from_user(void *to, const void __user *from, unsigned long n);
unsigned long copy_to_user(void __user *to, const void *from, unsigned long n);
#define user_access_begin(ptr,len) access_ok(ptr, len)
#define user_access_end() do { } while (0)
#define user_write_access_begin user_access_begin
#define user_write_access_end user_access_end
#define user_read_access_begin user_access_begin
#define user_read_access_end user_access_end
";

/// What Linux 6.19 has on top of it.
const SCOPED: &str = "\
#define masked_user_read_access_begin masked_user_access_begin
#define masked_user_write_access_begin masked_user_access_begin
#define unsafe_get_user(x, ptr, label) arch_unsafe_get_user(x, ptr, label)
#define __scoped_user_access(mode, uptr, size, elbl) for (auto _tmpptr = uptr; ; )
#define scoped_user_read_access_size(usrc, size, elbl) __scoped_user_access(read, usrc, size, elbl)
#define scoped_user_read_access(usrc, elbl) scoped_user_read_access_size(usrc, sizeof(*(usrc)), elbl)
#define scoped_user_write_access_size(udst, size, elbl) __scoped_user_access(write, udst, size, elbl)
#define scoped_user_write_access(udst, elbl) scoped_user_write_access_size(udst, sizeof(*(udst)), elbl)
#define scoped_user_rw_access(uptr, elbl) __scoped_user_access(rw, uptr, sizeof(*(uptr)), elbl)
";

/// The structure that the functions of these tests use.
const TYPES: &str = "\
struct inner {
	u32 x;
	u32 y;
};

struct s {
	u32 a;
	u32 b;
	u64 c;
	struct inner in;
	u16 d;
	u32 last;
};

struct padded {
	u32 a;
	u32 pad1;
	u64 b;
} __packed;
";

fn scoped_header() -> String {
    MASKED.to_owned() + SCOPED
}

fn fix_with(header: &str, file: &str, request: &Request) -> Result<Patched, FixError> {
    let tree = |path: &TreePath| match &*path.lossy() {
        UACCESS => Ok(header.as_bytes().to_vec()),
        "f.c" => Ok(file.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    fix(&tree, &"f.c:f".parse().unwrap(), request)
}

/// The function `f` with that body, behind what it needs.
fn file(body: &str) -> String {
    format!(
        "#include <linux/uaccess.h>\n\n{TYPES}\nint f(struct s __user *p, struct s *k, int c)\n{{\n{body}}}\n"
    )
}

fn request(style: Style) -> Request {
    Request {
        style,
        sizes: vec![4, 8, 16],
        ..Request::default()
    }
}

fn header_of(style: Style) -> String {
    if style == Style::Scoped {
        scoped_header()
    } else {
        MASKED.to_owned()
    }
}

fn rewritten(style: Style, file: &str) -> String {
    let patched = fix_with(&header_of(style), file, &request(style)).unwrap();
    String::from_utf8(patched.rewritten).unwrap()
}

/// The body of `f` after the fix.
fn fixed(style: Style, body: &str) -> String {
    let text = rewritten(style, &file(body));
    text.split_once("\n{\n").unwrap().1.to_owned()
}

fn error(style: Style, file: &str) -> String {
    fix_with(&header_of(style), file, &request(style))
        .unwrap_err()
        .to_string()
}

fn refused(style: Style, body: &str) -> String {
    error(style, &file(body))
}

const WRITES: &str = "\tif (put_user(k->a, &p->a) ||\n\t    put_user(k->b, &p->b))\n\t\treturn -EFAULT;\n\n\treturn 0;\n";
const READS: &str = "\tint err, a, b;\n\n\tif (get_user(a, &p->a) || get_user(b, &p->b))\n\t\treturn -EFAULT;\n\terr = work(a, b);\n\
    \tif (err)\n\t\treturn err;\n\tif (put_user(a, &p->c) || put_user(b, &p->in.x))\n\t\treturn -EFAULT;\n\n\treturn 0;\n";
const BLOCK: &str = "\tif (put_user(k->a, &p->a) || put_user(k->b, &p->b)) {\n\t\tfree(k);\n\t\treturn -EFAULT;\n\t}\n\treturn 0;\n";

#[test]
fn masked_windows_have_the_plain_begin_as_their_other_arm() {
    insta::assert_snapshot!(fixed(Style::Masked, WRITES));
    insta::assert_snapshot!(fixed(Style::Masked, BLOCK));
}

#[test]
fn a_pointer_that_is_used_again_keeps_its_value() {
    insta::assert_snapshot!(fixed(Style::Masked, READS));
    // On the way out of a fault only, and in the next round of a loop.
    let shown = BLOCK.replace("free(k);", "free(p);");
    assert!(fixed(Style::Masked, &shown).contains("\tstruct s __user *masked;\n\n\tmasked = p;\n"));
    let round = format!(
        "\twhile (c--) {{\n\t{}\t}}\n\treturn 0;\n",
        WRITES
            .replace("\n\treturn 0;\n", "")
            .replace("\n\t", "\n\t\t")
    );
    assert!(
        fixed(Style::Masked, &round).contains("masked = p;"),
        "{}",
        fixed(Style::Masked, &round)
    );
    let taken = WRITES.replace("\treturn 0;", "\treturn masked(p);");
    assert!(fixed(Style::Masked, &taken).contains("struct s __user *masked2;"));
}

#[test]
fn the_kinds_of_begin_and_end_match_on_every_architecture() {
    let own = |arch: &'static str| {
        move |path: &TreePath| match &*path.lossy() {
            UACCESS => Ok(MASKED.as_bytes().to_vec()),
            "f.c" => Ok(file(WRITES).into_bytes()),
            "arch/x86/include/asm/uaccess_64.h" => {
                Ok(b"#define masked_user_access_begin(x) ({ x; })\n".to_vec())
            }
            "arch/x86/include/asm/uaccess.h" => Ok(arch.as_bytes().to_vec()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    };
    let text = |arch| {
        let patched = fix(
            &own(arch),
            &"f.c:f".parse().unwrap(),
            &request(Style::Masked),
        )
        .unwrap();
        String::from_utf8(patched.rewritten).unwrap()
    };
    // As in Linux 6.12: one end, so that the ends for one way are the same.
    let one = text("#define user_access_end() __uaccess_end()\n");
    assert!(
        one.contains("else if (!user_write_access_begin(p, sizeof(*p)))"),
        "{one}"
    );
    assert_eq!(one.matches("user_write_access_end();").count(), 2, "{one}");
    // With ends of its own for one way, only the begin for both ways will do.
    let many = text("#define user_write_access_end() close_write()\n");
    assert!(
        many.contains("else if (!user_access_begin(p, sizeof(*p)))"),
        "{many}"
    );
    assert_eq!(many.matches("user_access_end();").count(), 2, "{many}");
    // Where the tree has a masked begin for each way, it is used.
    let patched = fix_with(&scoped_header(), &file(WRITES), &request(Style::Masked)).unwrap();
    let text = String::from_utf8(patched.rewritten).unwrap();
    assert!(
        text.contains("p = masked_user_write_access_begin(p);"),
        "{text}"
    );
}

#[test]
fn masking_covers_a_page_and_accesses_in_order() {
    let large = file(WRITES).replace("\tstruct inner in;\n", "\tu8 in[4096];\n");
    insta::assert_snapshot!(error(Style::Masked, &large));
    let back = WRITES.replace("&p->a", "&p->last");
    insta::assert_snapshot!(refused(Style::Masked, &back));
    let unknown = file(WRITES).replace("\tu16 d;\n", "\tgone_t d;\n");
    insta::assert_snapshot!(error(Style::Masked, &unknown));
    let member = WRITES.replace("&p->", "&k->up->");
    insta::assert_snapshot!(refused(Style::Masked, &member));
    let hanging = "\tint err;\n\n\terr = put_user(1, &p->a);\n\tif (!err)\n\t\terr = put_user(2, &p->b);\n\twork(k);\n\treturn err;\n";
    insta::assert_snapshot!(refused(Style::Masked, hanging));
}

/// 1024 elements of four bytes are a page.
#[test]
fn masking_covers_the_elements_of_a_page() {
    let of = |last: u32| {
        let body = format!(
            "\tif (put_user(1, v) || put_user(2, v + {last}))\n\t\treturn -EFAULT;\n\treturn 0;\n"
        );
        file(&body).replace("int c)", "u32 __user *v)")
    };
    let text = rewritten(Style::Masked, &of(1023));
    assert!(text.contains("masked_user_access_begin(v)"), "{text}");
    insta::assert_snapshot!(error(Style::Masked, &of(1024)));
}

#[test]
fn a_scope_closes_the_window() {
    insta::assert_snapshot!(fixed(Style::Scoped, WRITES));
    insta::assert_snapshot!(fixed(Style::Scoped, READS));
    let both =
        "\tif (get_user(k->a, &p->a) || put_user(k->b, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n";
    assert!(fixed(Style::Scoped, both).contains("\tscoped_user_rw_access(p, efault) {\n"));
    let elements =
        file("\tif (put_user(1, v) || put_user(2, v + 1))\n\t\treturn -EFAULT;\n\treturn 0;\n")
            .replace("int c)", "u32 __user *v)");
    let text = rewritten(Style::Scoped, &elements);
    assert!(
        text.contains("\tscoped_user_write_access_size(v, 2 * sizeof(*v), efault) {\n"),
        "{text}"
    );
}

/// What hangs on a condition, what leaves without a fault and what has more lines stands
/// in the scope as it stood outside.
#[test]
fn a_scope_takes_in_conditions_and_ways_out() {
    let asked = "\tint len;\n\n\tif (get_user(len, &p->a))\n\t\treturn -EFAULT;\n\n\tif (len > c)\n\t\tlen = c;\n\t/*\n\t * The length\n\t * before that.\n\t */\n\
        \tif (len >= 0 && put_user(c, &p->b))\n\t\treturn -EFAULT;\n\treturn len;\n";
    insta::assert_snapshot!(fixed(Style::Scoped, asked));
    let left = "\tint a, b;\n\n\tif (get_user(a, &p->a))\n\t\treturn -EFAULT;\n\tif (a != c)\n\t\treturn -EINVAL;\n\tif (get_user(b, &p->b))\n\t\treturn -EFAULT;\n\treturn b;\n";
    insta::assert_snapshot!(fixed(Style::Scoped, left));
    let calls = left.replace("return -EINVAL;", "return work(a);");
    insta::assert_snapshot!(refused(Style::Scoped, &calls));
    let looks = left.replace("a != c", "a != c || !p");
    insta::assert_snapshot!(refused(Style::Scoped, &looks));
}

const CHECKED: &str = "\tint len;\n\n\tif (!access_ok(p, 24))\n\t\treturn -EFAULT;\n\tif (__get_user(len, &p->a))\n\t\treturn -EFAULT;\n\tk->a = len;\n\
                       \tif (len >= 0) {\n\t\tif (__put_user(c, &p->b))\n\t\t\treturn -EFAULT;\n\t}\n\treturn len;\n";

/// Behind a check that is a statement of its own, the scope is as long as the accesses
/// that rely on it, and has its range.
#[test]
fn a_scope_takes_the_place_of_a_check() {
    let sized = SCOPED.to_owned() + "#define scoped_user_rw_access_size(p, n, l) scope(p, n, l)\n";
    let patched = fix_with(
        &(MASKED.to_owned() + &sized),
        &file(CHECKED),
        &request(Style::Scoped),
    );
    let text = String::from_utf8(patched.unwrap().rewritten).unwrap();
    insta::assert_snapshot!(text.split_once("int f(").unwrap().1);
}

/// With a masked pointer, the first access is what tells that it is bad.
#[test]
fn a_scope_takes_no_check_that_tells_more_than_its_first_access() {
    let is_one = |body: &str| match fix_with(&scoped_header(), &file(body), &request(Style::Scoped))
    {
        Ok(patched) => !String::from_utf8(patched.rewritten)
            .unwrap()
            .contains("access_ok"),
        Err(_) => false,
    };
    let plain = CHECKED.replace("24", "sizeof(*p)");
    assert!(is_one(&plain));
    for (from, to) in [
        // Something happens before it, or it may not happen at all.
        (
            "\tif (__get_user(len, &p->a))",
            "\tk->b = 1;\n\tif (__get_user(len, &p->a))",
        ),
        (
            "\tif (__get_user(len, &p->a))",
            "\tif (c)\n\tif (__get_user(len, &p->a))",
        ),
        // Another way out than the fault's.
        (
            "sizeof(*p)))\n\t\treturn -EFAULT;",
            "sizeof(*p)))\n\t\treturn -EINVAL;",
        ),
        // Beyond a page, back in the object, by another pointer.
        ("&p->b", "&p->in.x + c"),
        ("&p->a))", "&p->c))"),
        ("\tk->a = len;\n", "\tk->a = (long)p;\n"),
        // What follows would not see the variable.
        ("\tk->a = len;\n", "\tint v = 2;\n"),
        // A later access relies on the check, too.
        (
            "\treturn len;\n",
            "\twork(k);\n\treturn __put_user(1, &p->last);\n",
        ),
    ] {
        assert!(plain.contains(from), "{from}");
        assert!(!is_one(&plain.replace(from, to)), "{to}");
    }
}

/// A scope closes itself, so that a way out that the function has already is its own.
#[test]
fn a_scope_leaves_by_a_label_that_is_there() {
    let there = "\tif (c)\n\t\tgoto bad;\n\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\tgoto bad;\n\treturn 0;\nbad:\n\tk->a = 1;\n\treturn -EFAULT;\n";
    insta::assert_snapshot!(fixed(Style::Scoped, there));
    let same = "\tif (c)\n\t\tgoto bad;\n\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\nbad:\n\treturn -EFAULT;\n";
    insta::assert_snapshot!(fixed(Style::Scoped, same));
}

#[test]
fn a_scope_is_refused_where_it_would_mean_something_else() {
    let hidden = WRITES.replace("k->a,", "done,");
    insta::assert_snapshot!(refused(Style::Scoped, &hidden));
    let reads = "	int a, b;

	if (get_user(a, &p->a) || get_user(b, &p->b))
		return -EFAULT;
	return a + b;
";
    let constant = file(reads).replace("struct s __user *p", "const struct s __user *p");
    assert!(fix_with(&scoped_header(), &constant, &request(Style::Scoped)).is_ok());
    let first = scoped_header().replace("auto _tmpptr", "void __user *_tmpptr");
    let answer = fix_with(&first, &constant, &request(Style::Scoped)).unwrap_err();
    insta::assert_snapshot!(answer.to_string());
}

#[test]
fn what_the_headers_lack_is_not_offered() {
    let of = |header: &str, style| {
        fix_with(header, &file(WRITES), &request(style))
            .unwrap_err()
            .to_string()
    };
    insta::assert_snapshot!(of(&MASKED.replace("can_do", "can"), Style::Masked));
    insta::assert_snapshot!(of(MASKED, Style::Scoped));
    // An asm goto may not leave a scope with a cleanup.
    insta::assert_snapshot!(of(
        &scoped_header().replace("arch_unsafe", "__unsafe"),
        Style::Scoped
    ));
    insta::assert_snapshot!(of("", Style::StructCopy));
    insta::assert_snapshot!("mask".parse::<Style>().unwrap_err().to_string());
    for name in Style::names() {
        assert_eq!(name.parse::<Style>().unwrap().to_string(), name);
    }
}

const ALL: &str = "\tint v, w;\n\n\tif (get_user(v, &p->in.x) ||\n\t    get_user(w, &p->in.y) ||\n\t    get_user(c, &p->a))\n\t\treturn -EFAULT;\n\
    \twork(v, w);\n\tif (put_user(1, &p->in.x) ||\n\t    put_user(2, &p->in.y))\n\t\treturn -EFAULT;\n\treturn 0;\n";

#[test]
fn members_go_through_one_copy() {
    insta::assert_snapshot!(fixed(Style::StructCopy, ALL));
    let patched = fix_with(MASKED, &file(ALL), &request(Style::StructCopy)).unwrap();
    assert_eq!((patched.windows_before, patched.windows_after), (5, 3));
    insta::assert_snapshot!(format!("{}\n\n{}", patched.subject, patched.body));
}

/// The padding at the end and between members goes to user space: it is zeroed.
#[test]
fn holes_are_zeroed() {
    let whole = "\tif (put_user(1, &p->a) || put_user(2, &p->b) || put_user(3, &p->c) || put_user(4, &p->in.x) ||\n\
        \t    put_user(5, &p->in.y) || put_user(6, &p->d) || put_user(7, &p->last))\n\t\treturn -EFAULT;\n\treturn 0;\n";
    let text = fixed(Style::StructCopy, whole);
    assert!(
        text.contains("\tmemset(&copy, 0, sizeof(copy));\n\tcopy.a = 1;\n"),
        "{text}"
    );
    assert!(
        text.contains("if (copy_to_user(p, &copy, sizeof(copy)))"),
        "{text}"
    );
    let patched = fix_with(MASKED, &file(whole), &request(Style::StructCopy)).unwrap();
    let said = patched.body.replace('\n', " ");
    assert!(said.contains("they are written as zeros"), "{said}");
    // Nothing to zero where every byte is assigned.
    assert!(!fixed(Style::StructCopy, ALL).contains("memset"));
    let padded =
        file("\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n")
            .replace("struct s __user", "struct padded __user");
    let patched = fix_with(MASKED, &padded, &request(Style::StructCopy)).unwrap();
    let said = patched.body.replace('\n', " ");
    assert!(
        said.contains("writes zeros to pad1, and to holes"),
        "{said}"
    );
    let text = String::from_utf8(patched.rewritten).unwrap();
    assert!(text.contains("memset(&copy, 0, sizeof(copy));"), "{text}");
}

#[test]
fn a_body_without_braces_gets_them() {
    let body = "\twhile (c--)\n\t\tif (put_user(1, &p->in.x) || put_user(2, &p->in.y))\n\t\t\treturn -EFAULT;\n\treturn 0;\n";
    for style in [Style::Masked, Style::Scoped, Style::StructCopy] {
        let text = fixed(style, body);
        assert!(text.contains("\twhile (c--) {\n\t\t"), "{text}");
        assert!(text.contains("\n\t}\n\treturn 0;\n"), "{text}");
    }
}

#[test]
fn a_copy_leaves_no_variable_without_a_use() {
    let body = "\tu32 v, w;\n\tint err;\n\n\terr = get_user(v, &p->in.x);\n\terr |= get_user(w, &p->in.y);\n\tif (err)\n\t\treturn -EFAULT;\n\treturn v + w;\n";
    assert!(
        refused(Style::StructCopy, body).contains("err takes the results and has no other use")
    );
    let used = body.replace("return v + w", "err = v + w;\n\treturn err");
    assert!(fixed(Style::StructCopy, &used).contains("copy_from_user(&user_in"));
}

#[test]
fn a_copy_that_touches_more_is_asked_for() {
    insta::assert_snapshot!(refused(Style::StructCopy, WRITES));
    let asked = Request {
        touch_all_members: true,
        ..request(Style::StructCopy)
    };
    let patched = fix_with(MASKED, &file(WRITES), &asked).unwrap();
    insta::assert_snapshot!(patched.body);
    let text = String::from_utf8(patched.rewritten).unwrap();
    assert!(text.contains("memset(&copy, 0, sizeof(copy));"), "{text}");
}

#[test]
fn what_no_copy_can_do_is_refused() {
    let twice = ALL
        .replace("get_user(w, &p->in.y)", "get_user(w, &p->in.x)")
        .replace("put_user(2, &p->in.y)", "put_user(2, &p->in.x)");
    let both = "\tif (get_user(k->a, &p->in.x) || put_user(k->b, &p->in.y))\n\t\treturn -EFAULT;\n\treturn 0;\n";
    let large = file(WRITES).replace("\tstruct inner in;\n", "\tu8 in[1024];\n");
    let touching = Request {
        touch_all_members: true,
        ..request(Style::StructCopy)
    };
    let large = fix_with(MASKED, &large, &touching).unwrap_err().to_string();
    let reasons = [
        refused(Style::StructCopy, &twice),
        refused(Style::StructCopy, both),
        refused(Style::StructCopy, &format!("\tpagefault_disable();\n{ALL}")),
        large,
    ];
    insta::assert_snapshot!(reasons.join("\n"));
}

const RUN_TIME: &str = "\
#include <linux/uaccess.h>

/**
 * f - a copy of the size that the caller names
 */
static long f(void __user *arg, void *data, unsigned int size)
{
	if (copy_from_user(data, arg, size) != 0)
		return -EFAULT;
	if (copy_from_user(data, arg, sizeof(struct s)) || copy_from_user(data, arg, MAX_SIZE))
		return -EINVAL;
	return copy_to_user(arg, data, min(size, 8)) ? -EFAULT : 0;
}
";

#[test]
fn a_size_at_run_time_is_switched_on() {
    insta::assert_snapshot!(rewritten(Style::SizeSwitch, RUN_TIME));
    let patched = fix_with(MASKED, RUN_TIME, &request(Style::SizeSwitch)).unwrap();
    insta::assert_snapshot!(format!("{}\n\n{}", patched.subject, patched.body));
    let one = Request {
        sizes: vec![24, 2, 24],
        ..request(Style::SizeSwitch)
    };
    let old = "int copy_from_user(void);\nint copy_to_user(void);\n";
    let patched = fix_with(old, RUN_TIME, &one).unwrap();
    insta::assert_snapshot!(String::from_utf8(patched.rewritten).unwrap());
}

#[test]
fn a_member_that_is_called_is_no_copy() {
    let member = RUN_TIME
        .replace("copy_from_user(", "ops->copy_from_user(")
        .replace("copy_to_user(", "ops->copy_to_user(");
    let request = Request {
        sizes: vec![8],
        ..request(Style::SizeSwitch)
    };
    let refused = fix_with(MASKED, &member, &request).unwrap_err().to_string();
    assert!(refused.contains("no copy"), "{refused}");
}

#[test]
fn a_switch_takes_a_name_that_the_file_does_not_have() {
    let names = |before: &str| rewritten(Style::SizeSwitch, &format!("{before}{RUN_TIME}"));
    let clash = names("static int f_copy_to_user(int a)\n{\n\treturn a;\n}\n\n");
    assert!(clash.contains("return f_copy_to_user2("), "{clash}");
    let near = names("static int f_copy_to_user_all(int a)\n{\n\treturn a;\n}\n\n");
    assert!(near.contains("return f_copy_to_user("), "{near}");
}

#[test]
fn of_structures_with_members_left_the_outermost_is_named() {
    let body = "\tif (put_user(k->a, &p->a) || put_user(k->b, &p->b) ||\n\t    put_user(k->in.x, &p->in.x) || put_user(k->in.y, &p->in.y))\n\t\treturn -EFAULT;\n\treturn 0;\n";
    let text = file(body).replace("\tu32 y;\n", "\tu32 y;\n\tu32 z;\n");
    let refused = fix_with(MASKED, &text, &request(Style::StructCopy)).unwrap_err();
    let refused = refused.to_string();
    assert!(
        refused.contains("*p") && refused.contains("last"),
        "{refused}"
    );
}

#[test]
fn what_no_switch_can_do_is_refused() {
    let with = |sizes: &[u32], file: &str| {
        let request = Request {
            sizes: sizes.to_vec(),
            ..request(Style::SizeSwitch)
        };
        fix_with(MASKED, file, &request).unwrap_err().to_string()
    };
    let constant = RUN_TIME
        .replace("size)", "8)")
        .replace("size, 8", "4, 8")
        .replace("min", "MIN");
    let reasons = [
        with(&[], RUN_TIME),
        with(&[4, 12], RUN_TIME),
        with(&[72], RUN_TIME),
        with(&[8], &constant),
        with(&[8], &RUN_TIME.replace("long f(", "long g(")),
        with(&[8], &RUN_TIME.replace("long f(", "long ff(")),
    ];
    insta::assert_snapshot!(reasons.join("\n"));
}

/// Real functions of Linux 6.12 in every style that its headers have.
#[test]
fn real_functions_are_rewritten() {
    let Some(tree) = tollgate_testing::kernel::tree() else {
        return;
    };
    let read = |path: &TreePath| fs::read(tree.join(path.as_path()));
    let shown = |target: &str, style| {
        let answer = fix(&read, &target.parse().unwrap(), &request(style));
        let said = answer.map_or_else(
            |error| format!("{error}\n"),
            |patched| {
                let of = |bytes| String::from_utf8(bytes).unwrap();
                diffy::create_patch(&of(patched.original), &of(patched.rewritten)).to_string()
            },
        );
        format!("{target}, {style}\n{said}\n")
    };
    let sync = "sound/core/pcm_native.c:snd_pcm_ioctl_sync_ptr_compat";
    let x32 = "sound/core/pcm_compat.c:snd_pcm_ioctl_sync_ptr_x32";
    let places = [
        ("include/linux/eventpoll.h:epoll_put_uevent", Style::Masked),
        (sync, Style::Masked),
        ("fs/select.c:get_compat_sigset_argpack", Style::Masked),
        (sync, Style::Scoped),
        (sync, Style::StructCopy),
        (x32, Style::StructCopy),
        (
            "include/linux/eventpoll.h:epoll_put_uevent",
            Style::StructCopy,
        ),
        ("drivers/gpu/drm/drm_ioctl.c:drm_ioctl", Style::SizeSwitch),
        (sync, Style::SizeSwitch),
    ];
    let all = places.map(|(target, style)| shown(target, style));
    insta::assert_snapshot!(all.concat());
}

/// A chain of accesses to members of `struct s`, in order.
fn chains() -> impl Strategy<Value = (String, usize)> {
    let members = vec!["a", "b", "c", "in.x", "in.y", "d", "last"];
    let members = prop::sample::subsequence(members, 2..8);
    (members, any::<bool>(), any::<bool>()).prop_map(|(members, read, chained)| {
        let access = |member: &&str| {
            if read {
                format!("get_user(k->{member}, &p->{member})")
            } else {
                format!("__put_user(k->{member}, &p->{member})")
            }
        };
        let accesses: Vec<String> = members.iter().map(access).collect();
        let body = if chained {
            format!(
                "\tif ({})\n\t\treturn -EFAULT;\n",
                accesses.join(" ||\n\t    ")
            )
        } else {
            let each = accesses.iter();
            each.map(|access| format!("\tif ({access})\n\t\treturn -EFAULT;\n"))
                .collect()
        };
        (file(&(body + "\treturn 0;\n")), members.len())
    })
}

/// The text after the fix, by way of a patch and understood as a whole.
fn by_patch(text: &str, patched: Patched) -> String {
    let rewritten = String::from_utf8(patched.rewritten).unwrap();
    let diff = diffy::create_patch(text, &rewritten).to_string();
    let again = diffy::apply(text, &diffy::Patch::from_str(&diff).unwrap()).unwrap();
    assert_eq!(again, rewritten);
    let vocabulary = Vocabulary::builtin().unwrap();
    let report = Analyser::new(&vocabulary)
        .unwrap()
        .analyse(again.as_bytes());
    assert!(
        report.functions.iter().all(|function| function.understood),
        "{again}"
    );
    assert_eq!(again.matches('{').count(), again.matches('}').count());
    again
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_masked_or_scoped_fix_is_a_patch_that_leaves_one_window((text, accesses) in chains()) {
        for style in [Style::Masked, Style::Scoped] {
            let patched = fix_with(&header_of(style), &text, &request(style)).unwrap();
            prop_assert_eq!((patched.windows_before, patched.windows_after), (accesses, 1));
            let again = by_patch(&text, patched);
            prop_assert_eq!(again.matches("\tunsafe_").count(), accesses);
            let (begins, ends) = (again.matches("_begin(p, sizeof(*p))").count(), again.matches("_access_end();").count());
            let scopes = again.matches("\tscoped_user_").count();
            prop_assert_eq!((begins, ends, scopes), if style == Style::Masked { (1, 2, 0) } else { (0, 0, 1) });
        }
    }

    #[test]
    fn a_copy_moves_every_member_that_was_moved((text, accesses) in chains(), touch in any::<bool>()) {
        let request = Request { touch_all_members: touch, ..request(Style::StructCopy) };
        let Ok(patched) = fix_with(MASKED, &text, &request) else {
            // Without leave, members of the object itself need all seven.
            prop_assert!(!touch || accesses < 7);
            return Ok(());
        };
        prop_assert!(patched.windows_after < patched.windows_before);
        let after = patched.windows_after;
        let again = by_patch(&text, patched);
        let moved = again.lines().filter(|line| line.contains(" = copy.") || line.starts_with("\tcopy.") || line.contains(" = user_in.") || line.starts_with("\tuser_in.")).count();
        let left = again.matches("get_user(").count() + again.matches("__put_user(").count();
        let copies = again.matches("copy_from_user(").count() + again.matches("copy_to_user(").count();
        prop_assert_eq!((moved + left, copies + left), (accesses, after));
    }

    #[test]
    fn any_structure_gets_an_answer(members in "[a-z0-9_ *;,:(){}\\[\\]#\n]{0,120}", body in "[a-z(){};|&>,=\n\t -]{0,80}") {
        let text = file(&format!("{WRITES}{body}\n")).replace("\tstruct inner in;\n", &format!("\t{members};\n"));
        for style in [Style::Masked, Style::Scoped, Style::StructCopy, Style::SizeSwitch] {
            let answer = fix_with(&header_of(style), &text, &request(style));
            prop_assert!(answer.is_ok() || !answer.unwrap_err().to_string().is_empty());
        }
    }

    #[test]
    fn any_size_gets_an_answer(sizes in prop::collection::vec(any::<u32>(), 0..4), small in prop::sample::subsequence(vec![1u32, 2, 4, 8, 16, 24, 64], 1..7)) {
        let any = Request { sizes, ..request(Style::SizeSwitch) };
        let answer = fix_with(MASKED, RUN_TIME, &any);
        prop_assert!(answer.is_ok() || !answer.unwrap_err().to_string().is_empty());
        let request = Request { sizes: small.clone(), ..request(Style::SizeSwitch) };
        let again = by_patch(RUN_TIME, fix_with(MASKED, RUN_TIME, &request).unwrap());
        for size in small {
            prop_assert_eq!(again.matches(&format!("\tcase {size}:\n")).count(), 2);
        }
    }
}

#[test]
fn a_pointer_that_the_way_out_reads_keeps_its_value() {
    let body = "\tif (put_user(k->a, &p->a) || put_user(k->b, &p->b))\n\t\tgoto bad;\n\treturn 0;\nbad:\n\tnote(p);\n\treturn -EFAULT;\n";
    let text = fixed(Style::Masked, body);
    assert!(text.contains("\tmasked = p;\n"), "{text}");
}

/// What a function makes of each value that it reads is made of the copy, in the same order.
#[test]
fn statements_between_reads_happen_behind_the_copy() {
    let file = |between: &str| {
        format!(
            "#include <linux/uaccess.h>\n\nstruct s {{\n\tint a;\n\tint b;\n}};\n\nint f(struct s __user *p, struct k *k)\n{{\n\
            \tint v, w;\n\n\tif (get_user(v, &p->a))\n\t\treturn -EFAULT;\n{between}\tif (get_user(w, &p->b))\n\t\treturn -EFAULT;\n\
            \tk->b = w;\n\treturn 0;\n}}\n"
        )
    };
    let request = request(Style::StructCopy);
    let patched = fix_with(MASKED, &file("\tk->a = (k->a & 0xff00) | v;\n"), &request).unwrap();
    insta::assert_snapshot!(String::from_utf8(patched.rewritten).unwrap());
    let words: Vec<&str> = patched.body.split_whitespace().collect();
    let told = "on a fault nothing of what stands between the reads happens, where what stood before the fault did.";
    assert!(words.join(" ").contains(told), "{}", patched.body);
    assert!(
        !fix_with(MASKED, &file(""), &request)
            .unwrap()
            .body
            .contains("stands between")
    );
    // Without the option nothing would use the variable.
    let optional = file("").replace("\tif (get_user(v", "#ifdef CONFIG_X\n\tif (get_user(v");
    let optional = optional.replace("\tk->b = w;", "#endif\n\tk->b = 1;");
    let refusal = fix_with(MASKED, &optional, &request).unwrap_err();
    assert!(
        refusal.to_string().contains("declared for nothing"),
        "{refusal}"
    );
    // A call may do anything, and another pointer leads elsewhere.
    for other in ["\twork(k);\n", "\tp++;\n"] {
        assert!(fix_with(MASKED, &file(other), &request).is_err(), "{other}");
    }
    let writes = file("\tk->a = v;\n").replace("get_user", "put_user");
    let refusal = fix_with(MASKED, &writes, &request).unwrap_err().to_string();
    assert!(refusal.contains("statement stands between"), "{refusal}");
}
