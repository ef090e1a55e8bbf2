//! Which way a window is opened: that of its accesses, unless its file's other windows
//! or its architecture open each for both.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use std::io;

use tollgate_rewrite::{Patched, Request, Style, Target, UACCESS, fix};
use tollgate_source::TreePath;

#[path = "fixing/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod fixing;

use fixing::{HEADER, file, fix_in};

const SCOPES: &str = "#define scoped_user_read_access(p, l) scope(p, l)\n\
                      #define scoped_user_write_access(p, l) scope(p, l)\n\
                      #define scoped_user_rw_access(p, l) scope(p, l)\n\
                      #define unsafe_get_user(x, p, l) arch_unsafe_get_user(x, p, l)\n";

const BODY: &str =
    "\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n";

/// Another function with a window.
fn window(begin: &str, access: &str) -> String {
    format!(
        "\nint g(struct s __user *p)\n{{\n\tint a;\n\n\tif (!{begin}(p, sizeof(*p)))\n\t\treturn -EFAULT;\n\t{access}\n\
         \tuser_access_end();\n\treturn 0;\nbad:\n\tuser_access_end();\n\treturn -EFAULT;\n}}\n"
    )
}

fn beside(others: &[String]) -> Patched {
    let text = file(BODY) + &others.concat();
    fix_in(&text, "f", &Request::default()).unwrap()
}

/// How the function of the file opens its window.
fn begin(patched: &Patched) -> String {
    let text = String::from_utf8(patched.rewritten.clone()).unwrap();
    let own = text.split("\nint g(").next().unwrap();
    let (before, _) = own.split_once("_access_begin(").unwrap();
    before.rsplit('!').next().unwrap().to_owned()
}

const WRITE: &str = "unsafe_put_user(1, &p->a, bad);";
const READ: &str = "unsafe_get_user(a, &p->a, bad);";

#[test]
fn a_file_that_opens_each_for_both_ways_goes_on_so() {
    let both = |access: &str| window("user_access_begin", access);
    for access in [WRITE, READ] {
        let patched = beside(&[both(access)]);
        assert_eq!(begin(&patched), "user", "{access}");
        let body = patched.body.replace('\n', " ");
        assert!(
            body.contains("opened for both ways, as the file's other windows are."),
            "{body}"
        );
    }
    // Each of these says nothing of one way, or something else.
    for others in [
        vec![],
        vec![both(&format!("{WRITE}\n\t{READ}"))],
        vec![both("unsafe_put_frame(1, &p->a, bad);")],
        vec![both(WRITE), window("user_read_access_begin", READ)],
    ] {
        let patched = beside(&others);
        assert_eq!(begin(&patched), "user_write", "{others:?}");
        assert!(!patched.body.contains("both ways"), "{}", patched.body);
    }
}

/// The fix of a file of x86, whose header has these lines.
fn of_x86(own: &str, style: Style) -> Patched {
    let text = file(BODY).replace("struct s __user *p,", "int __user *p,");
    let text = text.replace("&p->a", "p").replace("&p->b", "p + 1");
    let header = format!("{HEADER}{SCOPES}");
    let tree = |path: &TreePath| match &*path.lossy() {
        UACCESS => Ok(header.as_bytes().to_vec()),
        "arch/x86/include/asm/uaccess.h" => Ok(own.as_bytes().to_vec()),
        "arch/x86/kernel/f.c" => Ok(text.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let target: Target = "arch/x86/kernel/f.c:f".parse().unwrap();
    let request = Request {
        style,
        ..Request::default()
    };
    fix(&tree, &target, &request).unwrap()
}

#[test]
fn an_architecture_without_a_begin_for_one_way_has_that_for_both() {
    let both = "#define user_access_begin(a, b) begin(a, b)\n";
    let patched = of_x86(both, Style::Window);
    assert_eq!(begin(&patched), "user");
    let body = patched.body.replace('\n', " ");
    assert!(
        body.contains("both ways, as the architecture has no begin for one way."),
        "{body}"
    );
    let ways = format!("{both}#define user_write_access_begin(a, b) begin(a, b)\n");
    assert_eq!(begin(&of_x86(&ways, Style::Window)), "user_write");
    assert_eq!(begin(&of_x86("", Style::Window)), "user_write");
    // A scope is for one way on every architecture.
    let text = String::from_utf8(of_x86(both, Style::Scoped).rewritten).unwrap();
    assert!(text.contains("scoped_user_write_access"), "{text}");
}
