//! What `copied-holes` says of structures that a header defines.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use tollgate_source::check::{CheckWords, Checker, Confidence};
use tollgate_source::{Headers, TreePath, Vocabulary};

const HEADER: &str = "\
struct stamp { __s64 sec; __u32 nsec; };
struct tight { __u32 a, b; };
struct holed { __u8 kind; __u32 value; };
struct nested { __u32 id; struct holed in; };
struct nested_tight { struct tight in; __u64 c; };
struct mixed { union { __u32 small; __u64 large; }; };
struct bits { __u32 a : 3, b : 29; };
struct narrow { unsigned long a; __u64 b; };
struct choice {
	__u32 a;
#ifdef CONFIG_MORE
	__u32 b;
#endif
};
struct group { struct_group(all, __u32 a; __u32 b; ); };
";

/// What the rule says of a copy of a structure whose members a body sets.
fn said(name: &str, body: &str) -> Vec<(Confidence, String)> {
    let text = format!(
        "#include <linux/x.h>\nint f(void __user *p, int n)\n{{\n\tstruct {name} s;\n{body}\n\t\
         return copy_to_user(p, &s, sizeof(s)) ? -EFAULT : 0;\n}}\n"
    );
    let read = |path: &TreePath| match &*path.lossy() {
        "include/uapi/linux/x.h" => Ok(HEADER.as_bytes().to_vec()),
        _ => tollgate_source::no_tree(path),
    };
    let (vocabulary, words) = (
        Vocabulary::builtin().unwrap(),
        CheckWords::builtin().unwrap(),
    );
    let headers = Headers::new(&read).unwrap();
    let mut checker = Checker::new(&vocabulary, &words, &headers).unwrap();
    let checked = checker.check(&TreePath::within("drivers/x.c"), text.as_bytes());
    let holes = checked
        .violations
        .into_iter()
        .filter(|v| v.rule == "copied-holes");
    holes.map(|v| (v.confidence, v.message)).collect()
}

#[test]
fn a_header_that_cannot_be_read_is_said() {
    let read = |_: &TreePath| Err(std::io::ErrorKind::PermissionDenied.into());
    let headers = Headers::new(&read).unwrap();
    let path = TreePath::within("drivers/x.c");
    let types = tollgate_source::Types::new(&headers, &path, b"#include <linux/x.h>\n");
    let error = types.layout("struct x").unwrap_err().to_string();
    assert!(
        error.starts_with("the definition of struct x was not found: "),
        "{error}"
    );
    assert!(
        error.contains("could not be read: permission denied"),
        "{error}"
    );
}

#[test]
fn a_structure_of_a_header_is_silence_or_certainty() {
    for (name, body) in [
        ("tight", "\ts.a = 1; s.b = 2;"),
        ("nested_tight", "\ts.in.a = 1; s.in.b = 2; s.c = 3;"),
        ("nested_tight", "\ts.in = other; s.c = 3;"),
        ("mixed", "\ts.large = 1;"),
        ("bits", "\ts.a = 1; s.b = 2;"),
        ("group", "\ts.a = 1; s.all.b = 2;"),
        ("holed", "\tasm volatile(\"fill\" : \"=m\" (s));"),
        (
            "nested",
            "\ts.id = 1;\n\tasm volatile(\"fill %0\"\n\t\t: \"=m\" (s.in.kind), \"=m\" (*s.in.value)\n\t\t: /* none */\n\t\t: \"memory\");",
        ),
        (
            "holed",
            "\tasm(\"fill %0\" : : \"m\" (s.kind) : \"memory\");",
        ),
        ("holed", "\tmemset(&s, 0, sizeof(s));"),
    ] {
        assert_eq!(said(name, body), [], "{name}: {body}");
    }
    for (name, body, what) in [
        ("tight", "\ts.a = 1;", "its member b is never set"),
        (
            "holed",
            "\ts.kind = 1; s.value = 2;",
            "3 bytes of padding at offset 1 (64-bit)",
        ),
        (
            "nested",
            "\ts.id = 1; s.in.kind = 1;",
            "its member in.value is never set",
        ),
        (
            "nested",
            "\ts.id = 1; s.in.kind = 1; s.in.value = 2;",
            "3 bytes of padding at offset 5",
        ),
        (
            "stamp",
            "\ts.sec = 1; s.nsec = 2;",
            "4 bytes of padding at offset 12 (64-bit)",
        ),
        ("mixed", "\ts.small = 1;", "4 bytes of padding at offset 4"),
        ("bits", "\ts.a = 1;", "its member b is never set"),
        (
            "narrow",
            "\ts.a = 1; s.b = 2;",
            "4 bytes of padding at offset 4 (arm)",
        ),
    ] {
        let found = said(name, body);
        let [(Confidence::High, message)] = found.as_slice() else {
            panic!("{name}: {found:?}");
        };
        assert!(message.contains(what), "{name}: {message}");
    }
}

#[test]
fn what_is_not_known_is_named() {
    for (name, what) in [("choice", "CONFIG_MORE"), ("gone", "struct gone")] {
        let found = said(name, "\ts.a = 1;");
        let [(Confidence::Low, message)] = found.as_slice() else {
            panic!("{name}: {found:?}");
        };
        assert!(message.contains(what), "{message}");
    }
}
