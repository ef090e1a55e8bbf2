//! Scopes as Linux 7.3 has them: where the tree's comment and its masks say that the first
//! access tells of a bad pointer, what follows that one may stand in any order, behind
//! conditions, and beside the copy of the data.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use std::io;

use tollgate_rewrite::{FixError, Patched, Request, Style, UACCESS, fix};
use tollgate_source::TreePath;

const HEADER: &str = "\
#ifdef masked_user_access_begin
 #define can_do_masked_user_access() 1
#endif
unsigned long copy_to_user(void __user *to, const void *from, unsigned long n);
#define user_access_begin(ptr,len) access_ok(ptr, len)
#define user_write_access_begin user_access_begin
#define user_write_access_end user_access_end
#define user_read_access_begin user_access_begin
#define user_read_access_end user_access_end
#define masked_user_read_access_begin masked_user_access_begin
#define masked_user_write_access_begin masked_user_access_begin
#define unsafe_get_user(x, ptr, label) arch_unsafe_get_user(x, ptr, label)
#define unsafe_copy_to_user(d, s, l, e) copy(d, s, l, e)
#define __scoped_user_access(mode, uptr, size, elbl) for (auto _tmpptr = uptr; ; )
#define scoped_user_read_access(usrc, elbl) __scoped_user_access(read, usrc, sizeof(*(usrc)), elbl)
#define scoped_user_write_access(udst, elbl) __scoped_user_access(write, udst, sizeof(*(udst)), elbl)
#define scoped_user_rw_access(uptr, elbl) __scoped_user_access(rw, uptr, sizeof(*(uptr)), elbl)
";

/// What Linux 7.3 says of its scopes.
const COMMENT: &str = "\
/*
 * The masked variant does not check the size of the access and relies on a
 * mapping hole (e.g. guard page) to catch an out of range pointer, the
 * first access to user memory inside the scope has to be within
 * @uptr ... @uptr + PAGE_SIZE - 1
 */
";

const X86: &str = "\
static inline void __user *mask_user_address(const void __user *ptr)
{
	void __user *ret;
	asm(\"cmp %1,%0\\n\\t\" \"cmova %1,%0\" : \"=r\" (ret) : \"r\" (USER_PTR_MAX), \"0\" (ptr));
	return ret;
}
#define masked_user_access_begin(x) mask_user_address(x)
";

const TYPES: &str = "\
#define DATA(h) ((void __user *)(h) + sizeof(struct head))
#define head_size(h, n) offsetof(typeof(*(h)), name[n])

struct head {
	u64 len;
	u32 kind;
	u16 flags;
	char name[];
};

struct s {
	u32 a;
	u32 b;
	u64 c;
	char tag[16];
	u32 last;
};
";

fn tried(uaccess: &str, mask: &str, file: &str) -> Result<Patched, FixError> {
    let tree = |path: &TreePath| match &*path.lossy() {
        UACCESS => Ok(uaccess.as_bytes().to_vec()),
        "arch/x86/include/asm/uaccess_64.h" => Ok(mask.as_bytes().to_vec()),
        "f.c" => Ok(file.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let request = Request {
        style: Style::Scoped,
        ..Request::default()
    };
    fix(&tree, &"f.c:f".parse().unwrap(), &request)
}

/// `f` with that body, behind what it needs.
fn file(body: &str) -> String {
    format!(
        "#include <linux/uaccess.h>\n\n{TYPES}\nint f(struct s __user *p, struct s *k, struct head __user *h, const char *name, int n,\n\tunsigned long l)\n{{\n{body}}}\n"
    )
}

/// The function and the message of the patch, or why there is none.
fn written(body: &str) -> String {
    match tried(&[COMMENT, HEADER].concat(), X86, &file(body)) {
        Ok(patched) => {
            let text = String::from_utf8(patched.rewritten).unwrap();
            let body = text.rsplit_once("\n{\n").unwrap().1.to_owned();
            let says = patched.body.split("\n\n").skip(3).collect::<Vec<_>>();
            format!("{{\n{body}{}", says.join("\n\n"))
        }
        Err(error) => format!("{error}\n"),
    }
}

fn all(bodies: &[(&str, &str)]) -> String {
    let texts = bodies
        .iter()
        .map(|(name, body)| format!("== {name}\n{}", written(body)));
    texts.collect()
}

const BACK: &str = "\tif (put_user(k->c, &p->c) || put_user(k->a, &p->a) || put_user(k->b, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n";

#[test]
fn members_stand_in_any_order_where_the_first_access_tells() {
    insta::assert_snapshot!(written(BACK));
}

/// Without the comment, or with a mask that sets bits, the order of addresses decides.
#[test]
fn the_order_decides_where_a_mask_only_sets_bits() {
    let told = |uaccess: &str, mask: &str| {
        let answer = tried(uaccess, mask, &file(BACK));
        answer.map_or_else(|error| error.to_string(), |_| "a patch".to_owned())
    };
    let said = [COMMENT, HEADER].concat();
    let or = X86.replace("cmova", "sbb").replace(
        "return ret",
        "return (void __user *)(mask | (unsigned long)ptr)",
    );
    assert_eq!(told(&said, X86), "a patch");
    for (uaccess, mask) in [(HEADER, X86), (&said, &or)] {
        let told = told(uaccess, mask);
        assert!(told.contains("goes back in the object"), "{told}");
    }
}

#[test]
fn the_copy_beside_the_values_stands_in_the_scope_of_their_check() {
    let bodies = [
        (
            "a size at run time",
            "\tif (!access_ok(h, head_size(h, n + 1)))\n\t\tgoto efault;\n\tif (__put_user(k->c, &h->len) || __put_user(k->a, &h->kind))\n\t\tgoto efault;\n\
             \tif (__put_user(0, h->name + n) || __copy_to_user(h->name, name, n))\n\t\tgoto efault;\n\treturn 0;\nefault:\n\treturn -EFAULT;\n",
        ),
        (
            "behind a macro",
            "\tif (!access_ok(h, n))\n\t\treturn -EFAULT;\n\tif (__put_user(n, &h->len) ||\n\t    __copy_to_user(DATA(h), name, n - sizeof(*h)))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        ),
        (
            "two objects",
            "\tstruct head __user *next;\n\n\tnext = (void __user *)h + n;\n\tif (!access_ok(h, n + 64))\n\t\treturn -EFAULT;\n\
             \tif (__put_user(n, &h->len) || __put_user(1, &next->len) || __put_user(2, &next->kind))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        ),
        (
            "of a constant size, among values that check themselves",
            "\tif (put_user(k->a, &p->a) ||\n\t    copy_to_user(p->tag, k->tag, sizeof(k->tag)) ||\n\t    put_user(k->last, &p->last))\n\t\treturn -EFAULT;\n\treturn 0;\n",
        ),
    ];
    insta::assert_snapshot!(all(&bodies));
}

/// What only computes from a pointer leaves it near; what may be a macro could set it.
#[test]
fn a_pointer_that_is_handed_on_may_lead_elsewhere() {
    let told = |with: &str| {
        written(&format!(
            "\tstruct head __user *next;\n\n\tnext = (void __user *)h + n;\n{with}\tif (!access_ok(h, n + 64))\n\t\treturn -EFAULT;\n\
             \tif (__put_user(n, &h->len) || __put_user(2, &next->kind))\n\t\treturn -EFAULT;\n\treturn 0;\n"
        ))
    };
    for computes in ["", "\tk->c = ptr_to_compat(next);\n"] {
        let told = told(computes);
        assert!(told.contains("\tscoped_user"), "{computes}: {told}");
    }
    let told = told("\tforward(next);\n");
    assert!(!told.contains("\tscoped_user"), "{told}");
}

/// Each of these could reach memory that is not the user's, or tell later.
#[test]
fn what_the_first_access_does_not_cover_is_refused() {
    let check = "\tif (!access_ok(h, n))\n\t\treturn -EFAULT;\n";
    let bodies = [
        (
            "\tif (__put_user(1, h->name + n) ||\n\t    __put_user(2, &h->len))\n",
            "the first is far",
        ),
        (
            "\tif (__put_user(1, &h->len) ||\n\t    __put_user(2, h->name + l))\n",
            "a distance of 64 bits",
        ),
        (
            "\tif (__put_user(1, &h->len) ||\n\t    __put_user(2, h->name + n * l))\n",
            "a product",
        ),
        (
            "\tk->a = 1;\n\tif (__put_user(1, &h->len) ||\n\t    __put_user(2, &h->kind))\n",
            "something is seen before",
        ),
    ];
    for (body, name) in bodies {
        let body = format!("{check}{body}\t\treturn -EFAULT;\n\treturn 0;\n");
        let told = written(&body);
        let kept = told.contains("if (!access_ok(h, n))");
        assert!(kept || !told.contains("\tscoped_user"), "{name}: {told}");
    }
    let next = "\tstruct head __user *next = (void __user *)h + n;\n\n\tif (n > 3)\n\t\tnext = k->user;\n\tif (!access_ok(h, n))\n\t\treturn -EFAULT;\n\
                \tif (__put_user(1, &h->len) || __put_user(2, &next->kind))\n\t\treturn -EFAULT;\n\treturn 0;\n";
    let told = written(next);
    assert!(!told.contains("\tscoped_user"), "another pointer: {told}");
    let copies = [
        "copy_to_user(p->tag, name, n)",
        "copy_to_user(p->tag, name, 17)",
        "copy_to_user(&p->c, k->tag, sizeof(k->tag))",
        // unsafe_copy_to_user() takes bytes.
        "copy_to_user(&p->c, &k->c, sizeof(k->c))",
        "copy_from_user(k->tag, p->tag, sizeof(k->tag))",
    ];
    for copy in copies {
        let body = format!(
            "\tif (put_user(1, &p->a) || {copy} || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n"
        );
        let told = written(&body);
        assert!(
            told.contains(copy) || !told.contains("\tscoped_user"),
            "{copy}: {told}"
        );
    }
}

#[test]
fn what_stands_between_values_of_one_object_stays_in_its_scope() {
    let bodies = [
        (
            "a condition first",
            "\tu32 a;\n\n\t/* The old value decides. */\n\tif (n > 1) {\n\t\tif (get_user(a, &p->b))\n\t\t\tgoto efault;\n\t\tif (a != 3)\n\t\t\treturn -EINVAL;\n\t}\n\
             \n\tif (put_user(k->b, &p->b))\n\t\tgoto efault;\n\tk->c++;\n\tif (n) {\n\t\tif (put_user(k->a, &p->a))\n\t\t\tgoto efault;\n\t}\n\treturn 0;\nefault:\n\treturn -EFAULT;\n",
        ),
        (
            "a value that hangs on a condition",
            "\tu32 a;\n\n\tif (get_user(a, &p->a))\n\t\treturn -EFAULT;\n\tif (n > 3) {\n\t\tif (put_user(0, &p->b))\n\t\t\treturn -EFAULT;\n\t}\n\treturn a;\n",
        ),
        (
            "scopes that leave alike",
            "\tint err;\n\tu32 a, b;\n\n\tif (get_user(a, &p->a) || get_user(b, &p->b))\n\t\treturn -EFAULT;\n\terr = work(a, b);\n\tif (err < 0)\n\t\treturn err;\n\
             \tif (put_user(a, &p->a) || put_user(b, &p->b))\n\t\treturn -EFAULT;\n\treturn err;\n",
        ),
    ];
    insta::assert_snapshot!(all(&bodies));
}

/// A later access relies on the check that a scope takes the place of, unless it has one of
/// its own.
#[test]
fn a_check_goes_where_later_accesses_have_their_own() {
    let first = "\tu32 a, b;\n\n\tif (!access_ok(p, sizeof(*p)) || __get_user(a, &p->a) || __get_user(b, &p->b))\n\t\treturn -EFAULT;\n";
    let own = "\tif (n) {\n\t\tif (!access_ok(h, sizeof(*h)) || __put_user(n, &h->len) || __put_user(1, &h->kind))\n\t\t\treturn -EFAULT;\n\t}\n";
    let relies = "\tif (n)\n\t\treturn __put_user(1, &p->last);\n";
    let both = written(&format!("{first}\twork(a, b);\n{own}\treturn 0;\n"));
    insta::assert_snapshot!(both);
    for body in [
        format!("{first}\twork(k);\n{relies}\treturn 0;\n"),
        format!("{first}\twork(k);\n{}{relies}\treturn 0;\n", own),
        format!(
            "{first}\twork(k);\n{}\treturn 0;\n",
            own.replace("access_ok(h", "access_ok(p")
        ),
    ] {
        let told = written(&body);
        assert!(
            told.contains("access_ok(p, sizeof(*p))") || told.contains("not rewritten"),
            "{told}"
        );
    }
}

/// No scope is opened where it would serve one access, or where a way through it has none.
#[test]
fn a_scope_serves_more_than_one_access_on_some_way_and_one_on_each() {
    let put = |member: &str| format!("\t\tif (put_user(1, &p->{member}))\n\t\t\treturn -EFAULT;\n");
    let bodies = [
        format!(
            "\tif (n) {{\n{}\t}} else {{\n{}\t}}\n\treturn 0;\n",
            put("a"),
            put("b")
        ),
        format!(
            "\tif (n) {{\n{}\t}}\n\tif (l) {{\n{}\t}}\n\treturn 0;\n",
            put("a"),
            put("b")
        ),
        format!(
            "\tif (n)\n\t\treturn 1;\n{}\twork(k);\n{}\treturn 0;\n",
            put("a"),
            put("b")
        ),
        format!(
            "{}\tif (n)\n\t\treturn work(p);\n{}\treturn 0;\n",
            put("a"),
            put("b")
        ),
    ];
    for body in bodies {
        let told = written(&body);
        assert!(!told.contains("\tscoped_user"), "{told}");
    }
}
