//! Pointers of which access_ok() has seen one element, and that are moved by some number before that is
//! accessed.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// What is said of an emulation of a load of these statements.
fn load(statements: &str) -> Vec<String> {
    mistakes::rules(&format!(
        "struct regs {{ unsigned long r[32]; long offset; }};\n\
         static int f(struct regs *x, int at, void __user **bad)\n{{\n\tu64 __user *p;\n\tu64 v, w;\n\n\
         {statements}\n\tx->r[0] = v;\n\treturn 0;\n}}\n"
    ))
}

const FROM: &str = "\tp = (u64 __user *)x->r[at];\n";
const CHECK: &str = "\tif (!access_ok(p, sizeof(u64))) {\n\t\t*bad = p;\n\t\treturn -1;\n\t}\n";
const GET: &str = "\tif (__get_user(v, p))\n\t\treturn -EFAULT;";

#[test]
fn one_element_is_checked_and_another_accessed() {
    for moves in [
        "\tp = (void __user *)p + at;\n",
        "\tp = p + x->offset;\n",
        "\tp += at;\n",
        "\tp = (u64 __user *)((unsigned long)p + (at & 0xffff));\n",
        "\tp += offset_of_insn(at);\n",
        "\tp += x->r[3];\n",
    ] {
        let wrong = format!("{FROM}{CHECK}{moves}{GET}");
        assert_eq!(load(&wrong), ["other-object-checked"], "{wrong}");
        let first = format!("{FROM}{moves}{CHECK}{GET}");
        assert_eq!(load(&first), NONE, "{first}");
        let again = format!("{FROM}{CHECK}{moves}{CHECK}{GET}");
        assert_eq!(load(&again), NONE, "{again}");
    }
}

#[test]
fn what_stays_in_what_was_checked_is_right() {
    for right in [
        // Behind the access nobody minds.
        format!("{FROM}{CHECK}{GET}\n\tp += at;\n\t*bad = p;"),
        // More was checked.
        format!("{FROM}\tif (!access_ok(p, 64))\n\t\treturn -1;\n\tp += at & 7;\n{GET}"),
        // It is another one's by then.
        format!("{FROM}{CHECK}\tp = (u64 __user *)x->r[4];\n{CHECK}{GET}"),
    ] {
        assert_eq!(load(&right), NONE, "{right}");
    }
}
