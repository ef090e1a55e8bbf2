//! What nobody asks of a number, a result, or of what lies in memory that goes out: each class in
//! wrong forms and right ones.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// What the functions of these tests name.
const TYPES: &str = "\
#define TYPES 4
#define UNSIGNED 4u
struct item { u32 id; u32 len; };
struct req { u32 size; u32 count; u32 index; s32 level; u64 data; };
struct odd { u32 mask; u32 more[2]; u16 code; };
struct packet { struct { struct req head; } in; int list; };
struct dev { char *buf; u32 len; u32 bits; int counts[4]; struct item all[16]; struct req own; };
";

fn said(functions: &str) -> Vec<String> {
    rules(&format!("{TYPES}{functions}"))
}

/// A function that has fetched `r` and goes on with these statements.
fn fetched(statements: &str) -> Vec<String> {
    said(&format!(
        "static long f(struct dev *d, struct req __user *arg)\n{{\n\tstruct req r;\n\n\
         \tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n{statements}\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn a_copy_that_ended_in_the_middle_is_asked_for() {
    let with = |test: &str, last: &str| {
        said(&format!(
            "static long f(struct dev *d, char __user *p, unsigned long n)\n{{\n\tunsigned long left;\n\n\
             \tif (n > d->len)\n\t\tn = d->len;\n\tleft = copy_to_user(p, d->buf, n);\n\t{test}\n\t\treturn -EFAULT;\n\
             \td->len -= n;\n\treturn {last};\n}}\n"
        ))
    };
    assert_eq!(with("if (left == n)", "n"), ["misread-result"]);
    assert_eq!(with("if (n == left)", "n"), ["misread-result"]);
    assert_eq!(with("if (left)", "n"), NONE);
    // What was left is taken off what there is, too.
    assert_eq!(with("if (left == n)", "n - left"), ["kept-position"]);
    assert_eq!(with("if (left == 1)", "n"), NONE);
}

#[test]
fn a_number_held_against_elements_is_none_of_bytes() {
    let with = |test: &str, size: &str| {
        said(&format!(
            "static long f(struct dev *d, u32 __user *p, u32 n)\n{{\n\tu32 v[16];\n\n\t{test}\n\t\treturn -EINVAL;\n\
             \tif (copy_from_user(v, p, {size}))\n\t\treturn -EFAULT;\n\treturn add(v, n);\n}}\n"
        ))
    };
    assert_eq!(with("if (n > ARRAY_SIZE(v))", "n"), ["elements-for-bytes"]);
    assert_eq!(with("if (n > ARRAY_SIZE(v))", "n * sizeof(*v)"), NONE);
    assert_eq!(with("if (n > sizeof(v))", "n"), NONE);
}

#[test]
fn the_larger_of_two_is_no_bound() {
    let with = |size: &str| {
        said(&format!(
            "static long f(struct dev *d, char __user *p, unsigned long n)\n{{\n\tstruct item it = {{ 1, 2 }};\n\n\
             \treturn copy_to_user(p, &it, {size}) ? -EFAULT : 0;\n}}\n"
        ))
    };
    assert_eq!(with("max(n, sizeof(it))"), ["beyond-variable"]);
    assert_eq!(
        with("max_t(size_t, sizeof(struct item), n)"),
        ["beyond-variable"]
    );
    assert_eq!(with("min(n, sizeof(it))"), NONE);
    assert_eq!(with("max(4, sizeof(it))"), NONE);
}

#[test]
fn a_divisor_is_asked_for_0() {
    let wrong = [
        "\td->bits = d->len / r.count;",
        "\tif (r.count > 64)\n\t\treturn -EINVAL;\n\td->bits = d->len % r.count;",
        "\td->bits /= r.count;",
    ];
    for own in wrong {
        assert_eq!(fetched(own), ["unbounded-operand"], "{own}");
    }
    let right = [
        "\tif (!r.count)\n\t\treturn -EINVAL;\n\td->bits = d->len / r.count;",
        "\tif (r.count < 2 || r.count > 64)\n\t\treturn -EINVAL;\n\td->bits = d->len / r.count;",
        "\td->bits = r.count ? d->len / r.count : 0;",
        "\tif (r.count && d->len / r.count > 4)\n\t\treturn -EINVAL;",
        "\tif (judge(d, &r))\n\t\treturn -EINVAL;\n\td->bits = d->len / r.count;",
        "\tr.count = max(r.count, 1);\n\td->bits = d->len / r.count;",
        "\td->bits = d->len / 4;",
    ];
    for own in right {
        assert_eq!(fetched(own), NONE, "{own}");
    }
}

/// Who calls a function may ask it, and what refuses 0 asks for less than something.
#[test]
fn a_divisor_that_is_given_is_asked_for_0_by_who_gives_it() {
    let given = |asked: &str| {
        said(&format!(
            "static void spread(struct dev *d, u32 count)\n{{\n\td->bits = d->len / count;\n}}\n\n\
             static long f(struct dev *d, u32 __user *arg)\n{{\n\tu32 count;\n\n\tif (get_user(count, arg))\n\t\treturn -EFAULT;\n\
             {asked}\tspread(d, count);\n\treturn 0;\n}}\n"
        ))
    };
    for wrong in ["", "\td->len = count;\n"] {
        assert_eq!(given(wrong), ["unbounded-operand"], "{wrong}");
    }
    for right in [
        "\tif (count < 2)\n\t\treturn -EINVAL;\n",
        "\tif (count <= 1)\n\t\tcount = 2;\n",
        "\tif (!count)\n\t\treturn -EINVAL;\n",
    ] {
        assert_eq!(given(right), NONE, "{right}");
    }
}

#[test]
fn how_far_something_is_shifted_is_bounded() {
    for own in ["\td->bits |= 1u << r.index;", "\td->bits >>= r.index;"] {
        assert_eq!(fetched(own), ["unbounded-operand"], "{own}");
    }
    let right = [
        "\tif (r.index >= 32)\n\t\treturn -EINVAL;\n\td->bits |= 1u << r.index;",
        "\td->bits |= 1u << (r.index & 31);",
        "\tif (judge(d, r.index))\n\t\treturn -EINVAL;\n\td->bits |= 1u << r.index;",
    ];
    for own in right {
        assert_eq!(fetched(own), NONE, "{own}");
    }
}

#[test]
fn what_is_taken_away_may_be_more() {
    let copy = |before: &str, size: &str| {
        fetched(&format!(
            "{before}\tif (copy_from_user(d->buf, arg + 1, {size}))\n\t\treturn -EFAULT;"
        ))
    };
    let most = "\tif (r.size > 4096)\n\t\treturn -EINVAL;\n";
    assert_eq!(copy(most, "r.size - sizeof(r)"), ["wrapping-size"]);
    assert_eq!(copy(most, "r.size - 8"), ["wrapping-size"]);
    for least in [
        "\tif (r.size < sizeof(r) || r.size > 4096)\n\t\treturn -EINVAL;\n",
        "\tif (r.size > 4096 || r.size < 24)\n\t\treturn -EINVAL;\n",
        "\tif (judge(&r))\n\t\treturn -EINVAL;\n",
    ] {
        assert_eq!(copy(least, "r.size - sizeof(r)"), NONE, "{least}");
    }
}

#[test]
fn what_goes_out_by_another_way_has_no_holes_either() {
    let with = |clears: &str, shows: &str| {
        said(&format!(
            "static int f(struct dev *d, void *to)\n{{\n\tstruct odd o;\n\tint len = d->len;\n\n{clears}\to.mask = 1;\n\
             \to.more[0] = 2;\n\to.more[1] = 3;\n\to.code = 4;\n\t{shows}\n\treturn 0;\n}}\n"
        ))
    };
    let ways = [
        "if (copy_to_iter(&o, sizeof(o), to) != sizeof(o))\n\t\treturn -EFAULT;",
        "len = min_t(unsigned int, len, sizeof(o));\n\tif (copy_to_iter(&o, len, to) != len)\n\t\treturn -EFAULT;",
        "if (nla_put(to, 1, sizeof(o), &o))\n\t\treturn -EMSGSIZE;",
        "put_cmsg(to, 1, 2, sizeof(o), &o);",
        "if (copy_to_sockptr(to, &o, sizeof(o)))\n\t\treturn -EFAULT;",
    ];
    for shows in ways {
        assert_eq!(with("", shows), ["copied-holes"], "{shows}");
        assert_eq!(
            with("\tmemset(&o, 0, sizeof(o));\n", shows),
            NONE,
            "{shows}"
        );
    }
    assert_eq!(with("", "note(&o, sizeof(o));"), NONE);
}

#[test]
fn a_pointer_that_goes_on_was_checked_by_nobody() {
    let with = |checks: &str| {
        said(&format!(
            "SYSCALL_DEFINE2(f, unsigned long, len, u32 __user *, map)\n{{\n\tunsigned long n, next;\n\tu32 v[64];\n\n\
             {checks}\tfor (; len; len -= n) {{\n\t\tnext = end_of(len);\n\t\tn = (next - len) >> 2;\n\
             \t\tif (n > 64)\n\t\t\treturn -EINVAL;\n\
             \t\tif (__copy_from_user(v, map, n * sizeof(u32)))\n\t\t\treturn -EFAULT;\n\t\tmap += n;\n\
             \t\tflush(len, n);\n\t}}\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(with(""), ["unchecked-access"]);
    assert_eq!(
        with("\tif (!access_ok(map, len))\n\t\treturn -EFAULT;\n"),
        NONE
    );
}

#[test]
fn a_member_behind_a_pointer_is_filled_by_a_copy() {
    let with = |test: &str| {
        said(&format!(
            "static void *pick(struct dev *d, int id)\n{{\n\treturn &d->all[id];\n}}\n\n\
             static long f(struct dev *d, const char __user *p, struct packet *k)\n{{\n\
             \tif (copy_from_user(&k->in, p, sizeof(k->in)))\n\t\treturn -EFAULT;\n{test}\
             \treturn use(pick(d, k->in.head.index));\n}}\n"
        ))
    };
    assert_eq!(with(""), ["unbounded-index"]);
    assert_eq!(
        with("\tif (k->in.head.index >= 16)\n\t\treturn -EINVAL;\n"),
        NONE
    );
}

#[test]
fn callers_bound_a_number_from_both_sides() {
    let with = |test: &str| {
        said(&format!(
            "static int status(struct dev *d, int type)\n{{\n\tint i, n = 0;\n\n\tfor (i = 0; i < d->counts[type]; i++)\n\t\tn++;\n\treturn n;\n}}\n\n\
             static long f(struct dev *d, unsigned int cmd, struct req __user *arg)\n{{\n\tstruct req r;\n\n\
             \tswitch (cmd) {{\n\tcase 1:\n\t\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\t\treturn -EFAULT;\n\
             \t\tif ({test})\n\t\t\treturn -EINVAL;\n\t\treturn status(d, r.level);\n\t}}\n\treturn -ENOTTY;\n}}\n"
        ))
    };
    assert_eq!(with("r.level >= 4"), ["beyond-array"]);
    assert_eq!(with("r.level >= TYPES"), ["beyond-array"]);
    assert_eq!(with("r.level >= UNSIGNED"), NONE);
    assert_eq!(with("r.level < 0 || r.level >= 4"), NONE);
}

#[test]
fn a_sum_wraps_where_another_function_fetched_it() {
    let with = |test: &str| {
        said(&format!(
            "static int judge(struct dev *d, struct item *c)\n{{\n\tif (c->len == 0)\n\t\treturn -EINVAL;\n\
             \tif ({test})\n\t\treturn -E2BIG;\n\treturn 0;\n}}\n\n\
             static long f(struct dev *d, struct item __user *arg)\n{{\n\tstruct item c;\n\n\
             \tif (copy_from_user(&c, arg, sizeof(c)))\n\t\treturn -EFAULT;\n\tif (judge(d, &c))\n\t\treturn -EINVAL;\n\
             \treturn give(d, c.id, c.len);\n}}\n"
        ))
    };
    assert_eq!(with("c->id + c->len > d->len"), ["wrapping-size"]);
    assert_eq!(with("c->id > d->len || c->len > d->len - c->id"), NONE);
}

#[test]
fn what_is_wiped_on_one_way_is_wiped_on_each() {
    let with = |fails: &str, wipe: &str| {
        said(&format!(
            "static void wipe(u8 *key)\n{{\n\tmemzero_explicit(key, 32);\n}}\n\n\
             static long f(struct dev *d, const void __user *p)\n{{\n\tu8 key[32];\n\tint err;\n\n\
             \tif (copy_from_user(key, p, sizeof(key)))\n\t\treturn -EFAULT;\n\terr = judge(d, key);\n\tif (err)\n\t\t{fails};\n\
             \terr = load(d, key);\nout:\n\t{wipe};\n\treturn err;\n}}\n"
        ))
    };
    for wipe in ["memzero_explicit(key, sizeof(key))", "wipe(key)"] {
        assert_eq!(with("return err", wipe), ["kept-secret"], "{wipe}");
        assert_eq!(with("goto out", wipe), NONE, "{wipe}");
    }
    assert_eq!(with("return err", "note(key)"), NONE);
    // The head of a loop that a macro makes is given it as a call is.
    let looped = |loops: &str| {
        said(&format!(
            "static long f(struct dev *d, const void __user *p)\n{{\n\tu8 key[32];\n\tu8 *w;\n\n\
             \tif (copy_from_user(key, p, sizeof(key)))\n\t\treturn -EFAULT;\n\t{loops}\n\t\tload(d, w);\n\
             \tif (d->full)\n\t\treturn -EBUSY;\n\tmemzero_explicit(key, sizeof(key));\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(looped("for_each_byte(w, key)"), ["kept-secret"]);
    assert_eq!(looped("for_each_byte(w, d)"), NONE);
    // A structure is given by its address.
    let structure = |fails: &str| {
        said(&format!(
            "struct secret {{ u8 key[32]; }};\nstatic long f(struct dev *d, const void __user *p)\n{{\n\tstruct secret own;\n\tint err;\n\n\
             \tif (copy_from_user(&own, p, sizeof(own)))\n\t\treturn -EFAULT;\n\terr = judge(d, &own);\n\tif (err)\n\t\t{fails};\n\
             \terr = load(d, &own);\nout:\n\tmemzero_explicit(&own, sizeof(own));\n\treturn err;\n}}\n"
        ))
    };
    assert_eq!(structure("return err"), ["kept-secret"]);
    assert_eq!(structure("goto out"), NONE);
    let freed = |frees: &str| {
        said(&format!(
            "static long f(struct dev *d, const void __user *p, u32 n)\n{{\n\tu8 *key;\n\tint err;\n\n\
             \tif (n > 64)\n\t\treturn -EINVAL;\n\tkey = kmalloc(n, GFP_KERNEL);\n\tif (!key)\n\t\treturn -ENOMEM;\n\
             \tif (copy_from_user(key, p, n)) {{\n\t\tkfree(key);\n\t\treturn -EFAULT;\n\t}}\n\
             \tif (judge(d, key)) {{\n\t\t{frees}(key);\n\t\treturn -EINVAL;\n\t}}\n\
             \terr = load(d, key);\n\tkfree_sensitive(key);\n\treturn err;\n}}\n"
        ))
    };
    assert_eq!(freed("kfree"), ["kept-secret"]);
    assert_eq!(freed("kfree_sensitive"), NONE);
}

#[test]
fn memory_of_the_user_s_size_is_no_structure_yet() {
    let with = |test: &str, takes: &str| {
        said(&format!(
            "static long f(struct dev *d, struct req __user *p)\n{{\n\tstruct item *it;\n\tu32 n;\n\n\
             \tif (get_user(n, &p->size))\n\t\treturn -EFAULT;\n\tif ({test})\n\t\treturn -EINVAL;\n\t{takes}\n\
             \tn = it->len;\n\tkfree(it);\n\treturn n;\n}}\n"
        ))
    };
    let takes = "it = memdup_user(p, n);\n\tif (IS_ERR(it))\n\t\treturn PTR_ERR(it);";
    assert_eq!(with("n > 4096", takes), ["beyond-variable"]);
    assert_eq!(with("n > 4096 || n < sizeof(*it)", takes), NONE);
    assert_eq!(with("n != sizeof(*it)", takes), NONE);
    assert_eq!(
        with("n > 4096", &takes.replace(", n)", ", sizeof(*it))")),
        NONE
    );
}

#[test]
fn a_string_behind_a_pointer_ends_somewhere() {
    let with = |ends: &str| {
        said(&format!(
            "struct state {{ char buf[24]; u32 n; }};\n\
             static long f(struct state *s, const char __user *p, size_t n)\n{{\n\tunsigned long v;\n\n\
             \tif (n > sizeof(s->buf) - 1)\n\t\treturn -EINVAL;\n\
             \tif (copy_from_user(s->buf, p, n))\n\t\treturn -EFAULT;\n{ends}\treturn kstrtoul(s->buf, 0, &v);\n}}\n"
        ))
    };
    assert_eq!(with(""), ["unterminated-string"]);
    assert_eq!(with("\ts->buf[n] = 0;\n"), NONE);
    assert_eq!(with("\ts->n = n;\n"), ["unterminated-string"]);
    assert_eq!(with("\tfinish(s);\n"), NONE);
}

#[test]
fn what_outlives_the_call_is_all_zeros_at_first() {
    let with = |how: &str| {
        said(&format!(
            "static ssize_t f(struct dev *d, char __user *p, size_t n, loff_t *at)\n{{\n\t{how}char text[40];\n\n\
             \tsnprintf(text, sizeof(text), \"%d\\n\", d->on);\n\
             \treturn simple_read_from_buffer(p, n, at, text, sizeof(text));\n}}\n"
        ))
    };
    assert_eq!(with(""), ["copied-holes"]);
    assert_eq!(with("static "), NONE);
}

#[test]
fn one_caller_that_bounds_nothing_is_enough() {
    let with = |other: &str, before: &str| {
        said(&format!(
            "static int pick(struct dev *d, struct req *r)\n{{\n\treturn d->counts[r->index];\n}}\n\n\
             static int g(struct dev *d)\n{{\n\tstruct req r = {{ 0 }};\n\n\tr.index = {other};\n\treturn pick(d, &r);\n}}\n\n\
             static long f(struct dev *d, struct req __user *arg)\n{{\n\tstruct req r;\n\n\
             \tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n{before}\treturn pick(d, &r);\n}}\n"
        ))
    };
    assert_eq!(with("3", ""), ["unbounded-index"]);
    assert_eq!(
        with("3", "\tprint(\"%u\", r.index);\n"),
        ["unbounded-index"]
    );
    assert_eq!(
        with("3", "\tif (judge(r.index))\n\t\treturn -EINVAL;\n"),
        NONE
    );
    assert_eq!(with("3", "\tif (r.index > 3)\n\t\treturn -EINVAL;\n"), NONE);
}

#[test]
fn what_is_put_over_a_structure_is_not_the_user_s() {
    let with = |clears: &str| {
        said(&format!(
            "static void fill(struct dev *d, struct req *r)\n{{\n{clears}\td->counts[r->index] = 1;\n\tr->index++;\n}}\n\n\
             static long f(struct dev *d, struct req __user *arg)\n{{\n\tstruct req r;\n\n\
             \tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tfill(d, &r);\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(with("\tmemset(r, 0, sizeof(*r));\n"), NONE);
}

#[test]
fn a_member_that_is_made_of_itself_ends_the_search() {
    let with = |steps: &str| {
        said(&format!(
            "static long f(struct dev *d, struct packet __user *arg)\n{{\n\tstruct packet p;\n\n\
             \tif (copy_from_user(&p, arg, sizeof(p)))\n\t\treturn -EFAULT;\n{steps}\
             \tif (p.list >= TYPES)\n\t\treturn -EINVAL;\n\treturn d->counts[p.list];\n}}\n"
        ))
    };
    assert_eq!(with(""), ["beyond-array"]);
    assert_eq!(with("\tp.list = p.list + 1;\n"), NONE);
    let both = "\tp.list = p.in.head.level + 1;\n\tp.in.head.level = p.list - 1;\n";
    assert_eq!(with(both), NONE);
}

#[test]
fn a_shift_leaves_something() {
    for wrong in [
        "\td->start = (u64)(r.count << 32) | r.index;",
        "\tr.index >>= 32;\n\td->bits = r.index;",
    ] {
        assert_eq!(fetched(wrong), ["unbounded-operand"], "{wrong}");
    }
    for right in [
        "\td->start = ((u64)r.count << 32) | r.index;",
        "\td->start = r.count << 31;",
        "\tu64 all = r.count;\n\n\td->start = all << 32 | r.index;",
    ] {
        assert_eq!(fetched(right), NONE, "{right}");
    }
}

#[test]
fn as_many_bytes_are_set_as_there_are() {
    let set = |call: &str| {
        said(&format!(
            "static long f(struct dev *d, u16 __user *u)\n{{\n\tu16 words[TYPES];\n\tchar text[TYPES];\n\n\t{call}\n\tfill(d, words, text);\n\
             \tif (copy_to_user(u, words, sizeof(words)))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n"
        ))
    };
    for wrong in [
        "memset(words, 0, TYPES);",
        "memset(&words[0], 0, ARRAY_SIZE(words));",
    ] {
        assert_eq!(set(wrong), ["elements-for-bytes"], "{wrong}");
    }
    for right in [
        "memset(words, 0, sizeof(words));",
        "memset(words, 0, TYPES * 2);",
        "memset(words, 0, TYPES * sizeof(u16));",
        "memset(text, 0, TYPES);",
        "memset(words, 0, 2);",
    ] {
        assert_eq!(set(right), NONE, "{right}");
    }
}

#[test]
fn an_address_goes_on_by_a_length_that_is_asked_for_0() {
    let each = |asked: &str| {
        said(&format!(
            "static long f(struct dev *d, char __user *p, int count)\n{{\n\tsize_t len;\n\tint i;\n\n\
             \tfor (i = 0; i < count; i++) {{\n\t\tlen = strnlen_user(p, 4096);\n\t\tif ({asked})\n\t\t\treturn -EINVAL;\n\
             \t\tp += len;\n\t}}\n\tlen = count;\n\tif (!len)\n\t\treturn 0;\n\td->len = len;\n\treturn 0;\n}}\n"
        ))
    };
    assert_eq!(each("len > 4096"), ["ignored-fault"]);
    for right in ["!len || len > 4096", "len == 0", "len - 1 > 4095"] {
        assert_eq!(each(right), NONE, "{right}");
    }
}

#[test]
fn an_index_is_held_by_its_type_or_by_the_loop() {
    let picked = |statements: &str| {
        said(&format!(
            "struct pick {{ u8 key; u16 from; }};\nstatic char *keys[256];\nstatic char *few[16];\n\
             static long f(struct dev *d, struct pick __user *u)\n{{\n\tstruct pick p;\n\tint i, n;\n\n\
             \tif (copy_from_user(&p, u, sizeof(p)))\n\t\treturn -EFAULT;\n{statements}\n\treturn 0;\n}}\n"
        ))
    };
    for wrong in [
        "\ti = p.key;\n\tnote(few[i]);",
        "\ti = p.from;\n\tnote(keys[i]);",
        "\ti = p.from;\n\tfor (n = 0; n < 4 && d->len; n++)\n\t\td->all[i].id = n;",
    ] {
        assert_eq!(picked(wrong), ["unbounded-index"], "{wrong}");
    }
    for right in [
        "\ti = p.key;\n\tnote(keys[i]);",
        "\ti = p.from;\n\tfor (n = i + 1; i < n && i < 16; i++)\n\t\td->all[i].id = 1;",
        "\ti = p.from;\n\tn = i + 1;\n\twhile (i < n && 16 > i)\n\t\td->all[i++].id = 1;",
    ] {
        assert_eq!(picked(right), NONE, "{right}");
    }
}
