//! Tests of addresses that are either the user's or the kernel's, as a member beside them says.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];
const FOUND: [&str; 1] = ["swapped-arguments"];

const TYPES: &str = "typedef struct {\n\tunion {\n\t\tvoid *kernel;\n\t\tvoid __user *user;\n\t};\n\tbool is_kernel : 1;\n} sockptr_t;\n\
     struct where { union { char *own; char __user *theirs; }; bool inside; };\n\
     struct plain { char __user *user; bool is_kernel; };\n\
     struct sock { int mark; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A setsockopt() of these statements.
fn set(statements: &str) -> Vec<String> {
    rules(&format!(
        "int f(struct sock *sk, sockptr_t optval, unsigned int optlen)\n{{\n\tint val;\n\n{statements}\n\
         \tsk->mark = val;\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn whose_an_address_is_has_to_be_asked() {
    let size = "\tif (optlen < sizeof(val))\n\t\treturn -EINVAL;\n";
    for wrong in [
        "\tif (get_user(val, (int __user *)optval.user))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(&val, optval.user, sizeof(val)))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(&val, optval.user + 4, sizeof(val)))\n\t\treturn -EFAULT;",
        "\tint __user *p = optval.user;\n\n\tif (get_user(val, p))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(set(&format!("{size}{wrong}")), FOUND, "{wrong}");
    }
    for right in [
        "\tif (copy_from_sockptr(&val, optval, sizeof(val)))\n\t\treturn -EFAULT;",
        "\tif (optval.is_kernel)\n\t\tmemcpy(&val, optval.kernel, sizeof(val));\n\
         \telse if (copy_from_user(&val, optval.user, sizeof(val)))\n\t\treturn -EFAULT;",
        "\tif (is_inside(optval))\n\t\treturn -EOPNOTSUPP;\n\
         \tif (copy_from_user(&val, optval.user, sizeof(val)))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(set(&format!("{size}{right}")), NONE, "{right}");
    }
}

#[test]
fn any_structure_of_two_sides_says_which() {
    let get = |of: &str, place: &str, asked: &str| {
        rules(&format!(
            "static int g(struct sock *sk, struct {of} *w)\n{{\n\tint val;\n\n\
             \tif (copy_from_user(&val, w->{place}, sizeof(val)))\n\t\treturn -EFAULT;\n\tsk->mark = val;\n\
             \treturn 0;\n}}\nint f(struct sock *sk, struct {of} *w)\n{{\n{asked}\treturn g(sk, w);\n}}\n"
        ))
    };
    assert_eq!(get("where", "theirs", ""), FOUND);
    let asked = "\tif (w->inside)\n\t\treturn -EINVAL;\n";
    assert_eq!(get("where", "theirs", asked), NONE);
    assert_eq!(get("plain", "user", ""), NONE);
}
