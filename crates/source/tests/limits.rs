//! What bounds a number of the user's, and how far: indices, sizes, sums. And what checks a
//! pointer of his, and where.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// What is said of a text, behind what it names.
fn rules(text: &str) -> Vec<String> {
    let text = format!(
        "struct req {{ u32 off; u32 len; u64 at; u64 size; void __user *data; }};\n\
         struct dev {{ u32 slot[4]; u8 name[16]; u32 size; char *memory; }};\n\
         static u32 counters[8];\nstatic u32 others[NOBODY_KNOWS];\n{text}"
    );
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

fn each(expected: &[&str], of: impl Fn(&str) -> String, all: &[&str]) {
    for one in all {
        assert_eq!(rules(&of(one)), expected, "{one}");
    }
}

/// A command with a number of the user's in `n`, and a request in `r`.
fn command(statements: &str) -> String {
    format!(
        "static long command(struct dev *d, struct req __user *arg, u32 __user *p)\n{{\n\
         \tstruct req r;\n\tu32 n, sum;\n\tvoid *copy;\n\n\tif (get_user(n, p))\n\t\treturn -EFAULT;\n\
         \tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n{statements}\n}}\n"
    )
}

/// A write of a file, `count` bytes of `u`.
fn write(statements: &str) -> String {
    format!(
        "static ssize_t write(struct file *f, const char __user *u, size_t count, loff_t *at)\n{{\n\
         \tchar buf[32];\n\tchar *p;\n\tssize_t ret;\n\n{statements}\n\tshow(buf);\n\treturn count;\n}}\n\
         static const struct file_operations fops = {{ .write = write }};\n"
    )
}

#[test]
fn what_is_refused_one_too_late_picks_what_lies_behind_the_array() {
    each(
        &["beyond-array"],
        command,
        &[
            "\tif (n > 8)\n\t\treturn -EINVAL;\n\treturn put_user(counters[n], p);",
            "\tif (n > ARRAY_SIZE(counters))\n\t\treturn -EINVAL;\n\treturn put_user(counters[n], p);",
            "\tif (n > ARRAY_SIZE(others))\n\t\treturn -EINVAL;\n\treturn put_user(others[n], p);",
            "\tif (!d || n >= 5)\n\t\treturn -EINVAL;\n\td->slot[n] = 1;\n\treturn 0;",
            "\tif (8 < r.len)\n\t\tgoto out;\n\tcounters[r.len] = 1;\nout:\n\treturn 0;",
            "\tif (n > 7)\n\t\treturn -EINVAL;\n\treturn put_user(counters[n + 1], p);",
        ],
    );
    each(
        &NONE,
        command,
        &[
            "\tif (n >= 8)\n\t\treturn -EINVAL;\n\treturn put_user(counters[n], p);",
            "\tif (n >= ARRAY_SIZE(others))\n\t\treturn -EINVAL;\n\treturn put_user(others[n], p);",
            "\tif (n > 8)\n\t\treturn -EINVAL;\n\tif (n == 8)\n\t\treturn -EBUSY;\n\treturn put_user(counters[n], p);",
            "\tif (n > 8)\n\t\treturn -EINVAL;\n\tn = min(n, 7);\n\treturn put_user(counters[n], p);",
            "\tif (n > 8 || is_taken(d, n))\n\t\treturn -EINVAL;\n\tn--;\n\treturn put_user(counters[n], p);",
            "\tif (n < 8)\n\t\treturn put_user(counters[n], p);\n\treturn 0;",
        ],
    );
}

#[test]
fn a_0_behind_a_string_has_to_have_room() {
    each(
        &["beyond-array"],
        write,
        &[
            "\tif (count > sizeof(buf))\n\t\treturn -EINVAL;\n\tif (copy_from_user(buf, u, count))\n\t\treturn -EFAULT;\n\tbuf[count] = 0;",
            "\tret = simple_write_to_buffer(buf, sizeof(buf), at, u, count);\n\tif (ret < 0)\n\t\treturn ret;\n\tbuf[ret] = '\\0';",
            "\tp = kmalloc(count, GFP_KERNEL);\n\tif (!p)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(p, u, count)) {\n\t\tkfree(p);\n\t\treturn -EFAULT;\n\t}\n\tp[count] = 0;\n\tshow(p);\n\tkfree(p);",
        ],
    );
    each(
        &NONE,
        write,
        &[
            "\tif (count >= sizeof(buf))\n\t\treturn -EINVAL;\n\tif (copy_from_user(buf, u, count))\n\t\treturn -EFAULT;\n\tbuf[count] = 0;",
            "\tret = simple_write_to_buffer(buf, sizeof(buf) - 1, at, u, count);\n\tif (ret < 0)\n\t\treturn ret;\n\tbuf[ret] = '\\0';",
            "\tret = simple_write_to_buffer(buf, sizeof(buf), at, u, count);\n\tif (ret < 0 || ret == sizeof(buf))\n\t\treturn ret;\n\tbuf[ret] = '\\0';",
            "\tp = kmalloc(count + 1, GFP_KERNEL);\n\tif (!p)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(p, u, count)) {\n\t\tkfree(p);\n\t\treturn -EFAULT;\n\t}\n\tp[count] = 0;\n\tshow(p);\n\tkfree(p);",
            "\tp = kmalloc(count, GFP_KERNEL);\n\tif (!p)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(p, u, count)) {\n\t\tkfree(p);\n\t\treturn -EFAULT;\n\t}\n\tcount--;\n\tp[count] = 0;\n\tshow(p);\n\tkfree(p);",
        ],
    );
}

#[test]
fn a_bound_that_is_more_than_the_object_has_is_none() {
    each(
        &["beyond-variable"],
        write,
        &[
            "\tif (count >= 64)\n\t\treturn -EINVAL;\n\tif (copy_from_user(buf, u, count))\n\t\treturn -EFAULT;\n\tbuf[31] = 0;",
        ],
    );
    each(
        &NONE,
        write,
        &[
            "\tif (count > 32)\n\t\treturn -EINVAL;\n\tif (copy_from_user(buf, u, count))\n\t\treturn -EFAULT;\n\tbuf[31] = 0;",
            "\tif (count > 64)\n\t\treturn -EINVAL;\n\tif (count > 32)\n\t\treturn -EINVAL;\n\tif (copy_from_user(buf, u, count))\n\t\treturn -EFAULT;\n\tbuf[31] = 0;",
            "\tif (count > 64)\n\t\tcount = sizeof(buf);\n\tif (count > 32)\n\t\treturn -EINVAL;\n\tif (copy_from_user(buf, u, count))\n\t\treturn -EFAULT;\n\tbuf[31] = 0;",
        ],
    );
}

#[test]
fn an_array_is_as_large_as_what_it_is_initialised_with() {
    let with = |declared: &str, bound: &str| {
        let own = "\tchar own[32];\n";
        let refused = format!("\tif (count > {bound})\n\t\treturn -EINVAL;\n");
        let copied = "\tif (copy_from_user(own, u, count))\n\t\treturn -EFAULT;\n\tuse(own);";
        write(&format!("{own}{refused}{copied}")).replace(own, &format!("\t{declared};\n"))
    };
    for (declared, right, wrong) in [
        ("char own[] = \"viafb\"", "6", "7"),
        ("char own[] = \"a\" \"\\x41\"", "3", "4"),
        ("char own[] = { [3] = 1, 2 }", "5", "6"),
        ("u32 own[] = { 1, 2 }", "8", "9"),
        ("struct dev own[] = { { }, { } }", "96", "97"),
    ] {
        assert_eq!(rules(&with(declared, right)), NONE, "{declared} {right}");
        let found = rules(&with(declared, wrong));
        assert_eq!(found, ["beyond-variable"], "{declared} {wrong}");
    }
    // Nobody knows how large these are.
    for declared in [
        "char own[] = NOBODY_KNOWS",
        "char own[] = { NOBODY_KNOWS }",
        "struct dev own[] = { 1, 2 }",
    ] {
        assert_eq!(rules(&with(declared, "7")), NONE, "{declared}");
    }
    let picked = |bound: &str| {
        format!(
            "static const u32 primes[] = {{ 2, 3, 5 }};\n{}",
            command(&format!(
                "\tif (n > {bound})\n\t\treturn -EINVAL;\n\treturn put_user(primes[n], p);"
            ))
        )
    };
    assert_eq!(rules(&picked("3")), ["beyond-array"]);
    assert_eq!(rules(&picked("2")), NONE);
}

#[test]
fn a_sum_or_a_product_that_may_wrap_bounds_nothing() {
    each(
        &["wrapping-size"],
        command,
        &[
            "\tif (r.off + r.len > d->size)\n\t\treturn -EINVAL;\n\tmemset(d->memory + r.off, 0, r.len);\n\treturn 0;",
            "\tif (!d->memory || r.at + r.size >= d->size)\n\t\treturn -EINVAL;\n\tclear(d, r.at, r.size);\n\treturn 0;",
            "\tif (d->size < r.len * 16)\n\t\treturn -EINVAL;\n\tclear(d, r.len);\n\treturn 0;",
            "\tcopy = memdup_user(r.data, r.len * sizeof(struct req));\n\tif (IS_ERR(copy))\n\t\treturn PTR_ERR(copy);\n\treturn use(d, copy, r.len);",
            "\tsum = r.len * sizeof(struct req);\n\tcopy = memdup_user(r.data, sum);\n\tif (IS_ERR(copy))\n\t\treturn PTR_ERR(copy);\n\treturn use(d, copy, r.len);",
        ],
    );
    each(
        &NONE,
        command,
        &[
            "\tif (r.off > d->size || r.len > d->size - r.off)\n\t\treturn -EINVAL;\n\tmemset(d->memory + r.off, 0, r.len);\n\treturn 0;",
            "\tif (r.off + r.len > d->size || r.off + r.len < r.off)\n\t\treturn -EINVAL;\n\tmemset(d->memory + r.off, 0, r.len);\n\treturn 0;",
            "\tif ((u64)r.off + r.len > d->size)\n\t\treturn -EINVAL;\n\tmemset(d->memory + r.off, 0, r.len);\n\treturn 0;",
            "\tif (check_add_overflow(r.off, r.len, &sum) || r.off + r.len > d->size)\n\t\treturn -EINVAL;\n\tmemset(d->memory + r.off, 0, r.len);\n\treturn 0;",
            "\tif (r.len > 64 || r.off > 64)\n\t\treturn -EINVAL;\n\tif (r.off + r.len > d->size)\n\t\treturn -EINVAL;\n\tmemset(d->memory + r.off, 0, r.len);\n\treturn 0;",
            "\tcopy = memdup_user(r.data, size_mul(r.len, sizeof(struct req)));\n\tif (IS_ERR(copy))\n\t\treturn PTR_ERR(copy);\n\treturn use(d, copy, r.len);",
        ],
    );
    // What a write is called with was bounded.
    assert_eq!(
        rules(&write(
            "\tif (*at + count > 4096)\n\t\treturn -EFBIG;\n\tif (copy_from_user(memory + *at, u, count))\n\t\treturn -EFAULT;\n\tbuf[0] = 0;"
        )),
        NONE
    );
}

/// A helper with the statement, below a system call that has the other.
fn helped(call: &str, helper: &str) -> String {
    format!(
        "static int helper(struct dev *d, u32 __user *list, int wide)\n{{\n\tu32 v = d->size;\n\n{helper}\n\treturn 0;\n}}\n\
         {call}(store, u32 __user *, list, int, wide)\n{{\n\treturn helper(current_dev(), list, wide);\n}}\n"
    )
}

#[test]
fn a_pointer_that_is_checked_on_no_way_or_on_some_is_not_checked() {
    const WRONG: [&str; 1] = ["unchecked-access"];
    let put = "\tif (__put_user(v, list))\n\t\treturn -EFAULT;";
    let on_one = format!("\tif (wide && !access_ok(list, 4))\n\t\treturn -EFAULT;\n{put}");
    let in_block =
        format!("\tif (wide) {{\n\t\tif (!access_ok(list, 4))\n\t\t\treturn -EFAULT;\n\t}}\n{put}");
    assert_eq!(rules(&helped("SYSCALL_DEFINE2", put)), WRONG);
    assert_eq!(rules(&helped("SYSCALL_DEFINE2", &on_one)), WRONG);
    assert_eq!(rules(&helped("SYSCALL_DEFINE2", &in_block)), WRONG);
    let apart = "\tif (wide && !access_ok(list, 4))\n\t\treturn -EFAULT;\n\tif (wide && __put_user(v, list))\n\t\treturn -EFAULT;";
    let always = format!("\tif (!access_ok(list, 4))\n\t\treturn -EFAULT;\n{put}");
    let by_another = format!("\tif (!is_good(list))\n\t\treturn -EFAULT;\n{put}");
    let by_get = format!("\tif (get_user(v, list))\n\t\treturn -EFAULT;\n{put}");
    for right in [apart, &always, &by_another, &by_get] {
        assert_eq!(rules(&helped("SYSCALL_DEFINE2", right)), NONE, "{right}");
    }
    // 32 bits lead to nothing of a 64-bit kernel.
    assert_eq!(rules(&helped("COMPAT_SYSCALL_DEFINE2", put)), NONE);
}

#[test]
fn what_a_cast_forces_is_the_users_where_he_gave_the_address() {
    const WRONG: [&str; 1] = ["user-pointer-dereferenced"];
    each(
        &WRONG,
        command,
        &[
            "\tmemcpy(d->memory, (__force void *)r.data, 16);\n\treturn 0;",
            "\tn = *(u32 __force *)r.data;\n\treturn use(n);",
        ],
    );
    // What is declared as the user's is his.
    let handed = "static void take(struct dev *d, void __user *from)\n{\n\tmemcpy(d->memory, (__force void *)from, 16);\n}\n";
    assert_eq!(rules(handed), WRONG);
    let copied = "static long take(struct dev *d, struct req *r)\n{\n\tvoid *own = memdup_user(r->data, 16);\n\n\tif (IS_ERR(own))\n\t\treturn PTR_ERR(own);\n\tr->data = own;\n\td->size = *(u32 *)r->data;\n\treturn 0;\n}\n";
    assert_eq!(rules(copied), NONE);
}

#[test]
fn a_copy_that_a_pointer_leads_to_holds_numbers_of_the_users() {
    const COPIED: &str = "\tstruct req *q = memdup_user(arg, sizeof(*q));\n\n\tif (IS_ERR(q))\n\t\treturn PTR_ERR(q);\n";
    let with = |rest: &str| command(&format!("{COPIED}{rest}"));
    assert_eq!(
        rules(&with("\tcounters[q->off] = 1;\n\tkfree(q);\n\treturn 0;")),
        ["unbounded-index"]
    );
    for right in [
        "\tif (q->off >= 8) {\n\t\tkfree(q);\n\t\treturn -EINVAL;\n\t}\n\tcounters[q->off] = 1;\n\tkfree(q);\n\treturn 0;",
        "\tif (judge(d, q)) {\n\t\tkfree(q);\n\t\treturn -EINVAL;\n\t}\n\tcounters[q->off] = 1;\n\tkfree(q);\n\treturn 0;",
        "\tq->off = 7;\n\tcounters[q->off] = 1;\n\tkfree(q);\n\treturn 0;",
    ] {
        assert_eq!(rules(&with(right)), NONE, "{right}");
    }
}

#[test]
fn elements_are_no_bytes_where_a_helper_multiplies_them() {
    let call = |check: &str| {
        rules(&format!(
            "static int prepare(struct dev *d, size_t n)\n{{\n\td->memory = kvmalloc_array(n, sizeof(u64), GFP_KERNEL);\n\treturn d->memory ? 0 : -ENOMEM;\n}}\n\
             SYSCALL_DEFINE2(list, u64 __user *, ids, size_t, n)\n{{\n\tstruct dev *d = own();\n\tssize_t ret;\n\n\
             \tif (!access_ok(ids, {check}))\n\t\treturn -EFAULT;\n\tret = prepare(d, n);\n\tif (ret)\n\t\treturn ret;\n\
             \treturn fill(d, ids, n);\n}}\n"
        ))
    };
    assert_eq!(call("n"), ["other-object-checked"]);
    assert_eq!(call("n * sizeof(*ids)"), NONE);
}

#[test]
fn a_struct_of_any_size_is_too_small_for_as_many_bytes_as_the_user_says() {
    let get = |check: &str| {
        rules(&format!(
            "asmlinkage long get_mask(unsigned int len, unsigned long __user *to)\n{{\n\tmask_t mask;\n\n\
             \tif (len {check} sizeof(mask))\n\t\treturn -EINVAL;\n\tfill(&mask);\n\
             \tif (copy_to_user(to, &mask, len))\n\t\treturn -EFAULT;\n\treturn len;\n}}\n"
        ))
    };
    assert_eq!(get("<"), ["beyond-variable"]);
    assert_eq!(get("!="), NONE);
}

#[test]
fn a_pointer_of_the_users_that_steps_on_stays_his() {
    let read = |how: &str| {
        rules(&format!(
            "static long sum(const u8 __user *from, size_t n)\n{{\n\tu32 sum = 0;\n\tu8 one;\n\n\
             \twhile (n--) {{\n{how}\n\t\tsum += one;\n\t\tfrom += 1;\n\t}}\n\treturn sum;\n}}\n"
        ))
    };
    assert_eq!(read("\t\tone = *from;"), ["user-pointer-dereferenced"]);
    assert_eq!(
        read("\t\tif (get_user(one, from))\n\t\t\treturn -EFAULT;"),
        NONE
    );
    let replaced = "static long sum(const u8 __user *from, size_t n)\n{\n\tfrom = own_copy(from, n);\n\treturn *from;\n}\n";
    assert_eq!(rules(replaced), NONE);
}

#[test]
fn an_array_is_set_as_far_as_a_loop_goes_round() {
    let show = |rounds: &str, count: &str| {
        rules(&format!(
            "long show(struct dev *d, void __user *to, u32 n)\n{{\n\tu32 slot[4];\n\tu32 i;\n\n\
             \tfor (i = 0; i < {rounds}; i++)\n\t\tslot[i] = d->size;\n\
             \tif (copy_to_user(to, slot, {count}))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(show("n", "sizeof(slot)"), ["copied-holes"]);
    assert_eq!(show("ARRAY_SIZE(slot)", "sizeof(slot)"), NONE);
    assert_eq!(show("4", "sizeof(slot)"), NONE);
    assert_eq!(show("n", "n * sizeof(u32)"), NONE);
}

#[test]
fn one_side_of_a_choice_of_sizes_may_be_all_of_it() {
    let show = |gives: &str| {
        rules(&format!(
            "long show(struct dev *d, void __user *to, bool all)\n{{\n\tstruct req *r;\n\tlong ret = 0;\n\n\
             \tr = {gives}(sizeof(*r), GFP_KERNEL);\n\tif (!r)\n\t\treturn -ENOMEM;\n\tr->len = d->size;\n\
             \tif (copy_to_user(to, r, all ? sizeof(struct req) : sizeof(u32)))\n\t\tret = -EFAULT;\n\tkfree(r);\n\treturn ret;\n}}\n"
        ))
    };
    assert_eq!(show("kmalloc"), ["copied-holes"]);
    assert_eq!(show("kzalloc"), NONE);
}

#[test]
fn the_size_of_a_pointer_is_none_of_an_element_of_what_it_leads_to() {
    let put = |size: &str| {
        rules(&format!(
            "static int put(struct req __user *to, struct req *from, int at)\n{{\n\treturn copy_to_user(&to[at], from, {size}) ? -EFAULT : 0;\n}}\n"
        ))
    };
    assert_eq!(put("sizeof(to)"), ["sizeof-pointer"]);
    assert_eq!(put("sizeof(*to)"), NONE);
}

#[test]
fn a_signed_index_may_be_less_than_0() {
    let pick = |declared: &str, check: &str| {
        rules(&format!(
            "struct table {{ int count; u32 slot[]; }};\n\
             static long pick(struct table *t, u32 __user *p)\n{{\n\t{declared} n;\n\n\
             \tif (get_user(n, p))\n\t\treturn -EFAULT;\n{check}\n\treturn -ENOENT;\n}}\n"
        ))
    };
    const WRONG: [&str; 1] = ["beyond-array"];
    let below = "\tif (n < t->count)\n\t\treturn use(t->slot[n]);";
    assert_eq!(pick("int", below), WRONG);
    let refused = "\tif (n >= t->count)\n\t\treturn -EINVAL;\n\treturn use(t->slot[n]);";
    assert_eq!(pick("int", refused), WRONG);
    assert_eq!(pick("unsigned int", below), NONE);
    let both = "\tif (n < 0 || n >= t->count)\n\t\treturn -EINVAL;\n\treturn use(t->slot[n]);";
    assert_eq!(pick("int", both), NONE);
    let unsigned =
        "\tif (n >= ARRAY_SIZE(counters))\n\t\treturn -EINVAL;\n\treturn use(counters[n]);";
    assert_eq!(pick("int", unsigned), NONE);
}

#[test]
fn a_loop_that_the_user_counts_goes_beyond_an_array() {
    let fill = |rounds: &str, before: &str| {
        command(&format!(
            "{before}\tfor (n = 0; {rounds}; n++)\n\t\td->slot[n] = 1;\n\treturn 0;"
        ))
    };
    assert_eq!(rules(&fill("n < r.len", "")), ["unbounded-index"]);
    assert_eq!(rules(&fill("n < r.len && n < 4", "")), NONE);
    assert_eq!(
        rules(&fill(
            "n < r.len",
            "\tif (r.len > 4)\n\t\treturn -EINVAL;\n"
        )),
        NONE
    );
    assert_eq!(rules(&fill("n < r.len", "\tr.len = 4;\n")), NONE);
    assert_eq!(rules(&fill("n < 4", "")), NONE);
}

#[test]
fn what_is_declared_before_is_not_called() {
    let parse = "static int parse(const char __user *p, size_t count)\n{\n\tchar buf[40];\n\n\tif (count > sizeof(buf))\n\t\treturn -EINVAL;\n\tif (copy_from_user(buf, p, count))\n\t\treturn -EFAULT;\n\tbuf[count] = 0;\n\treturn show(buf);\n}\n\
         static ssize_t mode_write(struct file *f, const char __user *u, size_t count, loff_t *at);\n\
         static ssize_t mode_write(struct file *f, const char __user *u, size_t count, loff_t *at)\n{\n\treturn parse(u, count);\n}\n";
    assert_eq!(rules(parse), ["beyond-array"]);
}
