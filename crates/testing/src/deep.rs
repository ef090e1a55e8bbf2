//! Functions that are nested as deep, or joined as long, as is asked for: in
//! every way in which C can be.

/// A way to be deep: what is repeated, what stands in the middle, what closes it.
pub struct Shape {
    /// What results call it.
    pub name: &'static str,
    open: &'static str,
    middle: &'static str,
    close: &'static str,
    /// What stands before and behind all of it.
    around: [&'static str; 2],
    /// Whether it is only long: a parse of it is as deep as ever.
    pub flat: bool,
}

const fn shape(
    name: &'static str,
    around: [&'static str; 2],
    open: &'static str,
    middle: &'static str,
    close: &'static str,
) -> Shape {
    Shape {
        name,
        open,
        middle,
        close,
        around,
        flat: false,
    }
}

const fn flat(shape: Shape) -> Shape {
    Shape {
        flat: true,
        ..shape
    }
}

const VALUE: [&str; 2] = ["x = ", ";"];
const NOTHING: [&str; 2] = ["", ""];
const TEST: [&str; 2] = ["if (", ") return 1;"];
const SIZE: [&str; 2] = ["if (copy_to_user(p, k, ", ")) return 1;"];

/// Every way.
pub const SHAPES: [Shape; 37] = [
    shape("or", TEST, "a || ", "b", ""),
    shape("ternary", VALUE, "a ? b : ", "0", ""),
    shape("minus", VALUE, "- ", "a", ""),
    shape("not", VALUE, "!", "a", ""),
    shape("star", VALUE, "*", "a", ""),
    shape("parenthesis", VALUE, "(", "a", ")"),
    shape("index", VALUE, "a[", "0", "]"),
    shape("call", VALUE, "g(", "a", ")"),
    shape("called", ["x = g", ";"], "()", "", ""),
    shape("field", ["x = a", ";"], ".b", "", ""),
    shape("cast", VALUE, "(int)", "a", ""),
    shape("sizeof", VALUE, "sizeof ", "a", ""),
    shape("sum", VALUE, "a + ", "b", ""),
    shape("comma", ["x = (", ");"], "a, ", "b", ""),
    shape("assignment", NOTHING, "a = ", "b;", ""),
    shape("block", NOTHING, "{", "", "}"),
    shape("if", NOTHING, "if (a) ", "b();", ""),
    shape("else-if", ["if (a) b();", ""], " else if (a) b();", "", ""),
    shape("do", NOTHING, "do ", "b();", " while (a);"),
    shape("label", NOTHING, "l: ", ";", ""),
    shape("statement-expression", VALUE, "({ ", "a;", " })"),
    shape("initialiser", ["int y[] = ", ";"], "{", "1", "}"),
    shape("structure", NOTHING, "struct { ", "int a;", " } b;"),
    shape("pointer", ["int ", ";"], "*", "y", ""),
    shape("access", NOTHING, "put_user(1, p + ", "1", ");"),
    shape("chain", TEST, "put_user(1, q) || ", "b", ""),
    shape("size", SIZE, "1 + ", "1", ""),
    shape("size-of", SIZE, "sizeof(", "k", ")"),
    shape("not-test", TEST, "!", "a", ""),
    shape("equal-test", TEST, "a == (", "b", ")"),
    shape("assigned-test", TEST, "(a = ", "b", ")"),
    shape("ternary-test", TEST, "(a ? b : ", "0", ")"),
    shape("and-test", TEST, "(a && ", "b", ")"),
    shape("open", NOTHING, "put_user(", "", ""),
    flat(shape("string", VALUE, "\"a\" ", "\"b\"", "")),
    flat(shape(
        "directive",
        NOTHING,
        "\n#if A\n",
        "b();",
        "\n#endif\n",
    )),
    flat(shape("statement", NOTHING, "\n\ta = b;", "", "")),
];

impl Shape {
    /// A file with a function `f` that is so deep, and that has two accesses
    /// which one window could serve.
    #[must_use]
    pub fn file(&self, depth: usize) -> String {
        self.around_accesses(
            "if (put_user(a, p) || put_user(b, p + 1))\n\t\treturn -EFAULT;",
            depth,
        )
    }

    /// The same without accesses.
    #[must_use]
    pub fn file_without_accesses(&self, depth: usize) -> String {
        self.around_accesses("x = copy_to_user(p, k, 8);", depth)
    }

    fn around_accesses(&self, accesses: &str, depth: usize) -> String {
        let [before, behind] = self.around;
        let (open, close) = (self.open.repeat(depth), self.close.repeat(depth));
        format!(
            "#include <linux/uaccess.h>\n\nint f(u32 __user *p, u32 __user *q, int *k, int a, int b)\n{{\n\tint x;\n\n\
             \t{accesses}\n\t{before}{open}{}{close}{behind}\n\treturn 0;\n}}\n",
            self.middle
        )
    }
}
