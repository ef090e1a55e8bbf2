//! What goes by another name than its own: locks behind macros, memory behind two variables, a
//! string that a helper reads, an address as a number; each class in wrong forms and right ones.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// What the functions of these tests name.
const TYPES: &str = "\
typedef u32 compat_ulong_t;
typedef u32 compat_uptr_t;
struct cfg { int a; char name[16]; };
struct seen { u64 id; u32 fd; };
struct dev { struct semaphore sem; spinlock_t lock; char *name; u32 len; unsigned long timeout; struct seen own; };
#define dev_lock(d, flags) spin_lock_irqsave(&(d)->lock, flags)
#define dev_unlock(d, flags) \\
\tspin_unlock_irqrestore(&(d)->lock, \\
\t\t\t       flags)
";

fn said(functions: &str) -> Vec<String> {
    rules(&format!("{TYPES}{functions}"))
}

/// A function of these statements.
fn function(statements: &str) -> Vec<String> {
    said(&format!(
        "static long f(struct dev *d, char __user *u, size_t n)\n{{\n{statements}\n}}\n"
    ))
}

#[test]
fn a_lock_that_a_macro_takes_is_one() {
    let copy = "if (copy_to_user(u, &own, sizeof(own)))\n\t\tret = -EFAULT;";
    let with = |under: &str, behind: &str| {
        function(&format!(
            "\tstruct seen own;\n\tunsigned long flags;\n\tlong ret = 0;\n\n\tdev_lock(d, flags);\n\town = d->own;\n\
             \t{under}\n\tdev_unlock(d, flags);\n\t{behind}\n\treturn ret;"
        ))
    };
    assert_eq!(with(copy, ""), ["fault-in-atomic"]);
    assert_eq!(with("", copy), NONE);
}

#[test]
fn what_a_semaphore_lends_goes_back_behind_a_fault() {
    let with = |takes: &str, fault: &str, end: &str| {
        function(&format!(
            "\tstruct seen own;\n\n\t{takes}\n\tif (!d->len) {{\n\t\tup(&d->sem);\n\t\treturn -ENODEV;\n\t}}\n\
             \tif (copy_from_user(&own, u, sizeof(own))) {{\n\t\t{fault}\n\t\treturn -EFAULT;\n\t}}\n\
             \td->own = own;\n\t{end}\n\treturn 0;"
        ))
    };
    for takes in [
        "down(&d->sem);",
        "if (down_interruptible(&d->sem))\n\t\treturn -EINTR;",
    ] {
        assert_eq!(with(takes, "", "up(&d->sem);"), ["kept-lock"], "{takes}");
        assert_eq!(with(takes, "", ""), ["kept-lock"], "{takes}");
        assert_eq!(with(takes, "up(&d->sem);", "up(&d->sem);"), NONE, "{takes}");
        // It counts things: who has one keeps it.
        assert_eq!(with(takes, "up(&d->sem);", ""), NONE, "{takes}");
    }
}

#[test]
fn what_two_variables_lead_to_goes_back_once() {
    let with = |alias: &str, fault: &str, last: &str| {
        function(&format!(
            "\tchar *one, *all = NULL;\n\n\tone = kmalloc(n, GFP_KERNEL);\n\tif (!one)\n\t\treturn -ENOMEM;\n\t{alias}\n\
             \tif (copy_from_user(one, u, n)) {{\n\t\t{fault}\n\t\tgoto out;\n\t}}\n\td->name = one;\n\treturn 0;\n\
             out:\n\t{last}\n\treturn -EFAULT;"
        ))
    };
    let set = "if (!all)\n\t\tall = one;";
    assert_eq!(with(set, "kfree(one);", "kfree(all);"), ["released-memory"]);
    assert_eq!(
        with("all = one;", "kfree(all);", "kfree(one);"),
        ["released-memory"]
    );
    assert_eq!(with(set, "", "kfree(all);"), NONE);
    assert_eq!(
        with(set, "kfree(one);\n\t\tall = NULL;", "kfree(all);"),
        NONE
    );
    let apart = "if (all != one)\n\t\tkfree(all);";
    assert_eq!(with(set, "kfree(one);", apart), NONE);
    // Where the same is asked, they are not the same.
    let asked = "if (!d->len)\n\t\tall = one;";
    let frees = "if (d->len)\n\t\t\tkfree(one);";
    assert_eq!(with(asked, frees, "kfree(all);"), NONE);
}

#[test]
fn an_error_pointer_in_a_member_is_not_freed() {
    let with = |fault: &str, free: &str| {
        function(&format!(
            "\tlong ret = 0;\n\n\td->name = memdup_user_nul(u, n);\n\tif (IS_ERR(d->name)) {{\n\
             \t\tret = PTR_ERR(d->name);\n\t\t{fault}\n\t\tgoto out;\n\t}}\n\tret = run(d->name);\nout:\n\t{free}\n\
             \td->name = NULL;\n\treturn ret;"
        ))
    };
    assert_eq!(with("", "kfree(d->name);"), ["error-pointer"]);
    assert_eq!(with("d->name = NULL;", "kfree(d->name);"), NONE);
    assert_eq!(with("", "if (!IS_ERR(d->name))\n\t\tkfree(d->name);"), NONE);
    assert_eq!(with("forget(d);", "kfree(d->name);"), NONE);
}

#[test]
fn what_goes_with_a_file_is_not_freed_behind_it() {
    let with = |fault: &str| {
        said(&format!(
            "static void drop(struct dev *d)\n{{\n\tkfree(d->name);\n\tkfree(d);\n}}\n\
             static long f(struct seen __user *u)\n{{\n\tstruct dev *d = kzalloc(sizeof(*d), GFP_KERNEL);\n\tint fd;\n\n\
             \tif (!d)\n\t\treturn -ENOMEM;\n\tfd = anon_inode_getfd(\"d\", &ops, d, O_CLOEXEC);\n\tif (fd < 0) {{\n\
             \t\tdrop(d);\n\t\treturn fd;\n\t}}\n\tif (put_user(fd, &u->fd)) {{\n\t\t{fault}\n\t\treturn -EFAULT;\n\t}}\n\
             \treturn 0;\n}}\n"
        ))
    };
    assert_eq!(with("kfree(d);"), ["early-descriptor"]);
    assert_eq!(with("drop(d);"), ["early-descriptor"]);
    assert_eq!(with(""), NONE);
}

#[test]
fn the_program_does_not_say_how_large_the_kernel_s_object_is() {
    let with = |kernel: &str| {
        said(&format!(
            "static long f(struct seen *own, struct seen __user *u)\n{{\n\tu32 size;\n\n\tif (get_user(size, &u->fd))\n\
             \t\treturn -EFAULT;\n\tif (size < 8 || size > PAGE_SIZE)\n\t\treturn -E2BIG;\n\
             \treturn copy_struct_from_user(own, {kernel}, u, size);\n}}\n"
        ))
    };
    assert_eq!(with("size"), ["beyond-variable"]);
    assert_eq!(with("sizeof(*own)"), NONE);
    let fixed = "static long f(struct seen __user *u)\n{\n\tsize_t size = offsetofend(struct seen, id);\n\tstruct seen own;\n\n\
                 \treturn copy_struct_from_user(&own, size, u, size);\n}\n";
    assert_eq!(said(fixed), NONE);
}

#[test]
fn a_string_that_was_measured_is_asked_for_its_end() {
    let with = |copy: &str, asks: &str| {
        function(&format!(
            "\tlong len = strnlen_user(u, 64);\n\tchar *k;\n\n\tif (len <= 0 || len > 64)\n\t\treturn -EINVAL;\n{copy}\n\
             \t{asks}\n\td->name = k;\n\treturn 0;"
        ))
    };
    let dup = "\tk = memdup_user(u, len);\n\tif (IS_ERR(k))\n\t\treturn PTR_ERR(k);";
    let own = "\tk = kmalloc(len, GFP_KERNEL);\n\tif (!k)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(k, u, len)) {\n\
               \t\tkfree(k);\n\t\treturn -EFAULT;\n\t}";
    for copy in [dup, own] {
        assert_eq!(with(copy, ""), ["unterminated-string"], "{copy}");
        assert_eq!(with(copy, "k[len - 1] = 0;"), NONE, "{copy}");
        let asked = "if (k[len - 1]) {\n\t\tkfree(k);\n\t\treturn -EFAULT;\n\t}";
        assert_eq!(with(copy, asked), NONE, "{copy}");
        let looked = "if (!memchr(k, 0, len)) {\n\t\tkfree(k);\n\t\treturn -EFAULT;\n\t}";
        assert_eq!(with(copy, looked), NONE, "{copy}");
    }
    let ends = dup.replace("memdup_user", "memdup_user_nul");
    assert_eq!(with(&ends, ""), NONE);
}

#[test]
fn a_string_that_may_be_cut_off_is_not_one_longer() {
    let with = |behind: &str| {
        said(&format!(
            "static long f(char *to, const char __user *u, int most)\n{{\n\tlong ret = strncpy_from_user(to, u, most);\n\n\
             \tif (ret < 0)\n\t\treturn ret;\n\t{behind}\n\tnote(to, ret);\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(with("ret++;"), ["unterminated-string"]);
    assert_eq!(with("ret += 1;"), ["unterminated-string"]);
    assert_eq!(with("if (ret < most)\n\t\tret++;"), NONE);
    assert_eq!(with(""), NONE);
}

#[test]
fn a_string_is_read_by_a_format_and_by_a_helper() {
    let with = |helper: &str, use_of: &str| {
        said(&format!(
            "static int opens(struct cfg *c)\n{{\n\tchar *name = \"own\";\n\n\tif (c->name[0])\n\t\tname = c->name;\n\
             \t{helper}\n\treturn strlen(name);\n}}\n\
             static long f(struct dev *d, void __user *u)\n{{\n\tstruct cfg c;\n\n\tif (copy_from_user(&c, u, sizeof(c)))\n\
             \t\treturn -EFAULT;\n\t{use_of}\n\treturn 0;\n}}\n"
        ))
    };
    let string = ["unterminated-string"];
    assert_eq!(with("", "return opens(&c);"), string);
    assert_eq!(with("c->name[15] = 0;", "return opens(&c);"), NONE);
    assert_eq!(with("ends(c->name);", "return opens(&c);"), NONE);
    assert_eq!(with("", "c.name[15] = 0;\n\treturn opens(&c);"), NONE);
    assert_eq!(
        with("", "dev_info(d, \"%d is %s\\n\", c.a, c.name);"),
        string
    );
    assert_eq!(with("", "printk(KERN_INFO \"%s\\n\", c.name);"), string);
    assert_eq!(with("", "pr_info(\"%.16s\\n\", c.name);"), NONE);
    assert_eq!(with("", "pr_info(\"%d\\n\", c.a);"), NONE);
}

#[test]
fn an_element_of_the_user_s_is_no_element_of_the_kernel_s() {
    let with = |pointer: &str, at: &str| {
        said(&format!(
            "static long f({pointer} *u, size_t n)\n{{\n\tsize_t i;\n\tlong sum = 0;\n\n\tfor (i = 0; i < n; i++)\n\
             \t\tsum += {at};\n\treturn sum;\n}}\n"
        ))
    };
    assert_eq!(
        with("const char __user", "u[i] == 'V'"),
        ["user-pointer-dereferenced"]
    );
    assert_eq!(
        with("u32 __user", "u[n - i]"),
        ["user-pointer-dereferenced"]
    );
    assert_eq!(with("u32", "u[i]"), NONE);
    assert_eq!(with("u32 __user", "sizeof(u[i])"), NONE);
}

#[test]
fn a_32_bit_program_s_place_is_as_wide_as_it_says() {
    let with = |to: &str| {
        said(&format!(
            "static long f(struct dev *d, compat_ulong_t __user *p)\n{{\n\treturn put_user(d->timeout, {to});\n}}\n"
        ))
    };
    assert_eq!(with("(unsigned long __user *)p"), ["other-layout"]);
    assert_eq!(with("p"), NONE);
    let cast = |made: &str| {
        said(&format!(
            "static long f(void *k, compat_uptr_t p)\n{{\n\treturn copy_from_user(k, {made}, 8) ? -EFAULT : 0;\n}}\n"
        ))
    };
    assert_eq!(cast("(void __user *)(unsigned long)p"), ["other-layout"]);
    assert_eq!(cast("compat_ptr(p)"), NONE);
}

#[test]
fn an_address_as_a_number_is_one() {
    let with = |value: &str| {
        said(&format!(
            "static long f(struct dev *d, struct seen __user *u)\n{{\n\tstruct seen s;\n\n\tmemset(&s, 0, sizeof(s));\n\
             \ts.fd = d->len;\n\ts.id = {value};\n\treturn copy_to_user(u, &s, sizeof(s)) ? -EFAULT : 0;\n}}\n"
        ))
    };
    assert_eq!(with("(unsigned long)d"), ["kernel-address"]);
    assert_eq!(with("(u64)(uintptr_t)d"), ["kernel-address"]);
    // Another member that is set behind it takes nothing of it away; the same one does.
    assert_eq!(with("(unsigned long)d;\n\ts.fd = 3"), ["kernel-address"]);
    assert_eq!(with("(unsigned long)d;\n\ts.id = 3"), NONE);
    assert_eq!(with("(unsigned long)d->len"), NONE);
    // Nobody says whose memory that is.
    assert_eq!(with("(unsigned long)d->name"), NONE);
    let single = |value: &str| {
        said(&format!(
            "static long f(struct dev *d, u64 __user *u)\n{{\n\tu64 id = {value};\n\n\tif (!d->len)\n\t\treturn -EINVAL;\n\
             \treturn put_user(id, u);\n}}\n"
        ))
    };
    assert_eq!(single("(unsigned long)d"), ["kernel-address"]);
    assert_eq!(single("d->timeout"), NONE);
}
