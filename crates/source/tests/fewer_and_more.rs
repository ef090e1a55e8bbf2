//! What is a little less or a little more than it should be: a bound on one way of two, room
//! without a 0, a range of one member, a size of another object; each class in wrong forms and
//! right ones.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;
use tollgate_source::check::{CheckWords, Checker};
use tollgate_source::{Headers, TreePath, Vocabulary};

const NONE: [&str; 0] = [];

/// What the functions of these tests name.
const TYPES: &str = "\
struct state { u64 id; u32 fd; };
union event { u32 kind; u32 all[4]; };
struct regs { u32 word[8]; };
struct frame { struct state info; struct regs regs; };
struct settings { u32 rate; u32 depth; };
struct dev { struct mutex lock; int changed; u32 len; struct settings own; char name[32]; struct state *ring; struct mount *mnt; };
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

/// The same, which a program calls.
fn answer(head: &str, statements: &str) -> Vec<String> {
    said(&format!(
        "static ssize_t f(struct file *file, {head}, size_t n, loff_t *at)\n{{\n\tstruct dev *d = file->private_data;\n\
         {statements}\n}}\nstatic const struct file_operations fops = {{ .read = f, .write = f }};\n"
    ))
}

#[test]
fn the_lesser_of_two_may_be_all_of_an_array() {
    let with = |least: &str| {
        answer(
            "const char __user *u",
            &format!(
                "\tchar text[12];\n\tsize_t len = {least};\n\n\tif (copy_from_user(text, u, len))\n\t\treturn -EFAULT;\n\
                 \ttext[len] = 0;\n\td->len = simple_strtoul(text, NULL, 0);\n\treturn n;"
            ),
        )
    };
    assert_eq!(with("min(n, sizeof(text))"), ["beyond-array"]);
    assert_eq!(with("min_t(size_t, sizeof(text), n)"), ["beyond-array"]);
    assert_eq!(with("min(n, sizeof(text) - 1)"), NONE);
    assert_eq!(with("min_t(size_t, n, 11)"), NONE);
}

#[test]
fn a_bound_on_one_way_is_none_on_the_other() {
    let with = |before: &str, one: &str, other: &str| {
        answer(
            "char __user *u",
            &format!(
                "\tunion event event;\n\n\tmemset(&event, 0, sizeof(event));\n\t{before}\n\tif (d->changed) {{\n\
                 \t\tevent.kind = 1;\n\t\t{one}\n\t}}{other}\n\tif (copy_to_user(u, &event, n))\n\t\treturn -EFAULT;\n\
                 \treturn n;"
            ),
        )
    };
    let least = "n = min_t(size_t, n, sizeof(event));";
    let other = |statement: &str| format!(" else {{\n\t\tevent.kind = 2;\n\t\t{statement}\n\t}}");
    assert_eq!(with("", least, &other("")), ["beyond-variable"]);
    assert_eq!(with("", "", &other(least)), ["beyond-variable"]);
    assert_eq!(with("", least, &other(least)), NONE);
    assert_eq!(with(least, "", ""), NONE);
    // The other way is none: something waits for that.
    assert_eq!(
        with("while (!d->changed)\n\t\tschedule();", least, ""),
        NONE
    );
}

#[test]
fn room_in_what_nothing_lay_in_is_no_0() {
    let with = |declared: &str, behind: &str| {
        function(&format!(
            "\t{declared}\n\n\tif (strncpy_from_user(name, u, sizeof(name) - 1) < 0)\n\t\treturn -EFAULT;\n\t{behind}\n\
             \treturn request_module(\"%s\", name);"
        ))
    };
    assert_eq!(with("char name[32];", ""), ["unterminated-string"]);
    assert_eq!(with("char name[32] = {};", ""), NONE);
    assert_eq!(with("char name[32];", "name[sizeof(name) - 1] = 0;"), NONE);
    assert_eq!(
        with("char name[32];\n\n\tmemset(name, 0, sizeof(name));", ""),
        NONE
    );
}

#[test]
fn a_range_of_one_member_is_none_of_another() {
    let with = |checked: &str| {
        said(&format!(
            "static int f(struct frame __user *frame, struct regs *regs)\n{{\n\tint err;\n\n\tif (!access_ok({checked}))\n\
             \t\treturn -EFAULT;\n\terr = __put_user(1, &frame->info.fd);\n\
             \terr |= __copy_to_user(&frame->regs, regs, sizeof(*regs));\n\treturn err ? -EFAULT : 0;\n}}\n"
        ))
    };
    assert_eq!(
        with("&frame->info, sizeof(frame->info)"),
        ["other-object-checked"]
    );
    assert_eq!(
        with("&frame->regs, sizeof(frame->regs)"),
        ["other-object-checked"]
    );
    assert_eq!(with("frame, sizeof(*frame)"), NONE);
    assert_eq!(with("&frame->info, sizeof(*frame)"), NONE);
}

#[test]
fn an_element_of_another_object_is_of_another_size() {
    let with = |size: &str| {
        said(&format!(
            "static int f(u32 __user *u, struct state *all, unsigned int n)\n{{\n\tu32 seen[16];\n\tunsigned int i;\n\n\
             \tif (n > 16)\n\t\treturn -EINVAL;\n\tfor (i = 0; i < n; i++)\n\t\tseen[i] = all[i].fd;\n\
             \treturn copy_to_user(u, seen, n * {size}) ? -EFAULT : 0;\n}}\n"
        ))
    };
    // They are more than the array has, too.
    let both = ["beyond-variable", "elements-for-bytes"];
    assert_eq!(with("sizeof(*all)"), both);
    for size in [
        "sizeof(*seen)",
        "sizeof(seen[0])",
        "sizeof(*u)",
        "sizeof(u32)",
        "4",
    ] {
        assert_eq!(with(size), NONE, "{size}");
    }
}

#[test]
fn an_error_number_needs_a_sign() {
    let with = |of: &str, call: &str| {
        function(&format!(
            "\t{of} err;\n\n\terr = {call};\n\tif (err < 0)\n\t\treturn -EFAULT;\n\treturn err;"
        ))
    };
    for call in ["strncpy_from_user(d->name, u, 31)", "put_user(0, u)"] {
        assert!(
            with("unsigned int", call).contains(&"misread-result".to_owned()),
            "{call}"
        );
        assert!(
            !with("long", call).contains(&"misread-result".to_owned()),
            "{call}"
        );
    }
    let nofault = "strncpy_from_user_nofault(d->name, u, 32)";
    assert_eq!(with("size_t", nofault), ["misread-result"]);
    assert_eq!(with("int", nofault), NONE);
}

#[test]
fn a_line_of_the_log_checks_no_address() {
    let with = |before: &str| {
        said(&format!(
            "static long get(unsigned long arg)\n{{\n\tstruct state own = {{ .id = 1 }};\n\n\
             \treturn __copy_to_user((void __user *)arg, &own, sizeof(own)) ? -EFAULT : 0;\n}}\n\
             static long f(struct file *file, unsigned int cmd, unsigned long arg)\n{{\n\t{before}\n\treturn get(arg);\n}}\n\
             static const struct file_operations fops = {{ .unlocked_ioctl = f }};\n"
        ))
    };
    assert_eq!(
        with("dev_trace(file, \"%x %lx\\n\", cmd, arg);"),
        ["unchecked-access"]
    );
    assert_eq!(with(""), ["unchecked-access"]);
    // Nobody knows what that does.
    assert_eq!(with("if (judge(file, arg))\n\t\treturn -EFAULT;"), NONE);
}

#[test]
fn what_was_checked_is_kept_and_not_fetched_into_place() {
    let with = |kept: &str| {
        said(&format!(
            "static int f(struct dev *d, struct settings __user *u)\n{{\n\tstruct settings own;\n\n\
             \tif (copy_from_user(&own, u, sizeof(own)))\n\t\treturn -EFAULT;\n\tif (own.rate > 48000 || !own.depth)\n\
             \t\treturn -EINVAL;\n\t{kept}\n\treturn 0;\n}}\n"
        ))
    };
    let again = "if (copy_from_user(&d->own, u, sizeof(own)))\n\t\treturn -EFAULT;";
    assert_eq!(with(again), ["double-fetch"]);
    assert_eq!(with("d->own = own;"), NONE);
}

#[test]
fn what_says_its_own_size_goes_on_as_it_was_asked() {
    let with = |settled: &str, given: &str| {
        said(&format!(
            "struct list {{ u32 count; u32 all[]; }};\nstatic int f(struct dev *d, struct list __user *u)\n{{\n\
             \tstruct list *own;\n\tu32 count;\n\tint ret;\n\n\tif (get_user(count, &u->count))\n\t\treturn -EFAULT;\n\
             \tif (count > 64)\n\t\treturn -EINVAL;\n\town = memdup_user(u, sizeof(*own) + count * sizeof(u32));\n\
             \tif (IS_ERR(own))\n\t\treturn PTR_ERR(own);\n\t{settled}\n\tret = elsewhere(d, {given});\n\tkfree(own);\n\
             \treturn ret;\n}}\n"
        ))
    };
    assert_eq!(with("", "own"), ["double-fetch"]);
    assert_eq!(with("own->count = count;", "own"), NONE);
    assert_eq!(with("", "own, count"), NONE);
}

#[test]
fn what_was_put_is_copied_no_more() {
    let with = |before: &str, behind: &str| {
        said(&format!(
            "static int f(struct dev *d, struct iov_iter *to)\n{{\n\tstruct sk_buff *skb = take(d);\n\tint ret = 0;\n\n\
             \tif (!skb)\n\t\treturn -EAGAIN;\n\t{before}\n\tif (copy_to_iter(skb->data, 8, to) != 8)\n\t\tret = -EFAULT;\n\
             \t{behind}\n\treturn ret;\n}}\n"
        ))
    };
    assert_eq!(with("kfree_skb(skb);", ""), ["released-memory"]);
    assert_eq!(with("", "kfree_skb(skb);"), NONE);
}

#[test]
fn a_number_in_a_string_is_the_users() {
    let with = |parse: &str, refused: &str| {
        answer(
            "const char __user *u",
            &format!(
                "\tchar text[12];\n\tint at, value;\n\n\tif (n >= sizeof(text))\n\t\treturn -EINVAL;\n\
                 \tif (copy_from_user(text, u, n))\n\t\treturn -EFAULT;\n\ttext[n] = 0;\n\t{parse}\n\
                 \tif ({refused})\n\t\treturn -EINVAL;\n\td->ring[at].fd = value;\n\treturn n;"
            ),
        )
    };
    for parse in [
        "if (sscanf(text, \"%d %d\", &value, &at) != 2)\n\t\treturn -EINVAL;",
        "value = 1;\n\tif (kstrtoint(text, 0, &at))\n\t\treturn -EINVAL;",
        "value = 1;\n\tif (kstrtoint_from_user(u, n, 0, &at))\n\t\treturn -EINVAL;",
    ] {
        assert_eq!(with(parse, "at >= 8"), ["beyond-array"], "{parse}");
        assert_eq!(with(parse, "at < 0 || at >= 8"), NONE, "{parse}");
    }
}

#[test]
fn a_write_that_a_mount_waits_for_ends_behind_a_fault() {
    let with = |fault: &str| {
        function(&format!(
            "\tint flags, err;\n\n\terr = mnt_want_write_file(d->mnt);\n\tif (err)\n\t\treturn err;\n\
             \tif (get_user(flags, (int __user *)u)) {{\n\t\t{fault}\n\t\treturn -EFAULT;\n\t}}\n\td->len = flags;\n\
             \tmnt_drop_write_file(d->mnt);\n\treturn 0;"
        ))
    };
    assert_eq!(with(""), ["kept-lock"]);
    assert_eq!(with("mnt_drop_write_file(d->mnt);"), NONE);
}

#[test]
fn who_answers_32_bit_programs_alone_has_their_layout() {
    let with = |name: &str, of: &str, table: &str| {
        said(&format!(
            "struct native {{ int key; long start; }};\nstruct native32 {{ int key; int start; }};\n\
             static long {name}(struct file *file, unsigned int cmd, struct native32 __user *u)\n{{\n\tstruct {of} own;\n\n\
             \tif (copy_from_user(&own, (void __user *)u, sizeof(own)))\n\t\treturn -EFAULT;\n\
             \treturn apply(file, own.key, own.start);\n}}\n{table}\n"
        ))
    };
    let table =
        |member: &str| format!("static const struct file_operations fops = {{ .{member} = f }};");
    assert_eq!(
        with("f", "native", &table("compat_ioctl")),
        ["other-layout"]
    );
    assert_eq!(with("compat_f", "native", ""), ["other-layout"]);
    assert_eq!(with("compat_f", "native32", ""), NONE);
    assert_eq!(with("f", "native", &table("unlocked_ioctl")), NONE);
}

#[test]
fn memory_as_long_as_the_program_says_ends_no_string() {
    let with = |copy: &str| {
        said(&format!(
            "static bool is_named(struct dev *d, const char *name)\n{{\n\tif (strcmp(d->name, name) == 0) {{\n\
             \t\tkfree(name);\n\t\treturn true;\n\t}}\n\treturn false;\n}}\n\
             static int f(struct dev *d, char __user *u, size_t n)\n{{\n\tchar *name;\n\n\tname = {copy};\n\
             \tif (IS_ERR(name))\n\t\treturn PTR_ERR(name);\n\tif (is_named(d, name))\n\t\treturn 1;\n\tkfree(name);\n\
             \treturn 0;\n}}\n"
        ))
    };
    assert_eq!(with("memdup_user(u, n)"), ["unterminated-string"]);
    assert_eq!(with("memdup_user_nul(u, n)"), NONE);
    assert_eq!(with("strndup_user(u, n)"), NONE);
    // An array of which the kernel's own is no longer.
    let array = "\tchar name[32];\n\n\tif (copy_from_user(name, u, sizeof(name)))\n\t\treturn -EFAULT;\n\
                 \treturn strcmp(d->name, name) == 0;";
    assert_eq!(function(array), NONE);
}

/// What a caller has copied from the user, asked for by a switch, and an index made of it.
fn region(cases: &str) -> String {
    format!(
        "{TYPES}struct region {{ u32 argsz; u32 index; u64 size; }};\nstruct all {{ struct region *at; }};\n\
         static int get(struct region *own, struct all *all)\n{{\n\tint i;\n\n\tswitch (own->index) {{\n\
         \tcase 0:\n\t\town->size = 1;\n\t\treturn 0;\n{cases}\t}}\n\treturn 0;\n}}\n\
         static long f(struct file *file, unsigned int cmd, unsigned long arg)\n{{\n\tstruct region own;\n\n\
         \tif (copy_from_user(&own, (void __user *)arg, sizeof(own)))\n\t\treturn -EFAULT;\n\
         \treturn get(&own, file->private_data);\n}}\n"
    )
}

#[test]
fn a_switch_bounds_nothing_where_no_case_holds() {
    let picks = "\t\ti = own->index - 1;\n\t\town->size = all->at[i].size;\n\t\tbreak;\n";
    let of = |case: &str| rules(&region(&format!("\t{case}:\n{picks}")));
    assert_eq!(of("default"), ["unbounded-index"]);
    assert_eq!(of("case 1"), NONE);
    let asked = format!("\tdefault:\n\t\tif (own->index > 8)\n\t\t\treturn -EINVAL;\n{picks}");
    assert_eq!(rules(&region(&asked)), NONE);
}

/// It said `&own`, which the caller hands on.
#[test]
fn a_member_that_a_caller_fills_is_named() {
    let text = region("\tdefault:\n\t\town->size = all->at[own->index].size;\n");
    let (vocabulary, words) = (
        Vocabulary::builtin().unwrap(),
        CheckWords::builtin().unwrap(),
    );
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let mut checker = Checker::new(&vocabulary, &words, &headers).unwrap();
    let checked = checker.check(&TreePath::within("a.c"), text.as_bytes());
    let said: Vec<&str> = checked
        .violations
        .iter()
        .map(|own| own.message.as_str())
        .collect();
    assert_eq!(
        said,
        ["own.index is the user's, and nothing bounds it before it picks an element of all->at"]
    );
}

#[test]
fn as_many_bytes_as_were_copied_end_an_array_if_it_has_one_more() {
    let with = |refused: &str, leave: &str| {
        said(&format!(
            "struct wish {{ u32 kind; u32 len; u64 from; }};\nstatic int f(struct dev *d, void *data)\n{{\n\
             \tstruct wish *own = data;\n\tint ret = 0;\n\n\tswitch (own->kind) {{\n\tcase 1:\n\t\tif ({refused}) {{\n\
             \t\t\tret = -EINVAL;\n\t\t\t{leave};\n\t\t}}\n\t\tif (copy_from_user(d->name, u64_to_user_ptr(own->from), own->len))\n\
             \t\t\treturn -EFAULT;\n\t\td->name[own->len] = 0;\n\t\tbreak;\n\t}}\n\treturn ret;\n}}\n"
        ))
    };
    for leave in ["break", "return ret"] {
        let wrong = with("own->len > sizeof(d->name)", leave);
        assert_eq!(wrong, ["beyond-array"], "{leave}");
        assert_eq!(with("own->len >= sizeof(d->name)", leave), NONE, "{leave}");
    }
}

/// Each of two pointers has an access of its own, and the second check asks the first again.
#[test]
fn a_pointer_is_checked_again_in_the_stead_of_another() {
    let with = |checked: &str, between: &str| {
        said(&format!(
            "int swap(struct act __user *new, struct act __user *old, struct act *own)\n{{\n\tint err = 0;\n\n\tif (new) {{\n\
             \t\tif (!access_ok(new, sizeof(*new)))\n\t\t\treturn -EFAULT;\n\t\terr = __get_user(own->a, &new->a);\n\t}}\n\
             {between}\tif (!err && old) {{\n\t\tif (!access_ok({checked}, sizeof(*old)))\n\t\t\treturn -EFAULT;\n\
             \t\terr = __put_user(own->b, &old->b);\n\t}}\n\treturn err;\n}}\n"
        ))
    };
    assert_eq!(with("new", ""), ["other-object-checked"]);
    assert_eq!(with("old", ""), NONE);
    let asked = "\terr |= swap_own(new ? own : NULL, old ? own + 1 : NULL);\n";
    assert_eq!(with("new", asked), ["other-object-checked"]);
    // The one is made of the other.
    assert_eq!(with("new", "\told = new + 1;\n"), NONE);
    // What is checked is needed behind it.
    let once = |used: &str| {
        said(&format!(
            "int put(struct act __user *new, struct act __user *old, struct act *own)\n{{\n\tint err;\n\n\tif (get_user(own->a, &new->a))\n\
             \t\treturn -EFAULT;\n\tif (!access_ok(new, sizeof(*new)))\n\t\treturn -EFAULT;\n\terr = __put_user(own->b, &old->b);\n\
             {used}\treturn err;\n}}\n"
        ))
    };
    assert_eq!(once(""), ["other-object-checked"]);
    assert_eq!(once("\terr |= STORE_WORD(new, 1);\n"), NONE);
}
