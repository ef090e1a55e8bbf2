//! Classes of mistakes by the forms that they take: locks and owners that only names tell,
//! members that are left behind, sizes that have nothing to do with each other, bounds that a
//! cast loses.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// A function of these statements, with what it may name.
fn function(statements: &str) -> String {
    format!(
        "struct item {{ u32 id; u32 len; }};\nstruct req {{ u32 in_len; u32 out_len; u32 n; int room; u64 data; }};\n\
         struct old_req {{ u32 at; u32 len; }};\n\
         struct dev {{ char *buf; char **all; u32 len; int on; }};\n\
         long f(struct dev *d, unsigned int cmd, char __user *p, struct req __user *arg)\n{{\n\tlong ret = 0;\n\n{statements}\n}}\n"
    )
}

fn said(statements: &str) -> Vec<String> {
    rules(&function(statements))
}

#[test]
fn a_lock_is_one_whatever_it_is_called() {
    let with = |take: &str, drop: &str| {
        format!(
            "\t{take};\n\tif (copy_to_user(p, d->buf, 16))\n\t\treturn -EFAULT;\n\td->on = 1;\n\t{drop};\n\treturn 0;"
        )
    };
    for (take, drop) in [
        ("dev_lock(d)", "dev_unlock(d)"),
        ("rtnl_lock()", "rtnl_unlock()"),
        ("lock_line(d->len)", "unlock_line(d->len)"),
        ("line_lock_nested(d, 1)", "line_unlock(d)"),
        ("line_acquire_slot(d)", "line_release_slot(d)"),
    ] {
        assert_eq!(said(&with(take, drop)), ["kept-lock"], "{take}");
    }
    for (take, drop) in [
        // Another one's, what may have taken nothing, and what is of no lock.
        ("dev_lock(d)", "line_unlock(d)"),
        ("ret = dev_trylock(d)", "dev_unlock(d)"),
        ("dev_block(d)", "dev_unblock(d)"),
        ("line_acquire_slot(d)", "line_release(d)"),
    ] {
        assert_eq!(said(&with(take, drop)), NONE, "{take}");
    }
    let right = with("dev_lock(d)", "dev_unlock(d)").replace(
        "\t\treturn -EFAULT;",
        "\t{\n\t\tdev_unlock(d);\n\t\treturn -EFAULT;\n\t}",
    );
    assert_eq!(said(&right), NONE);
}

#[test]
fn a_lock_is_let_go_once() {
    let wrong = "\tmutex_lock(&d->lock);\n\tif (!d->on) {\n\t\tret = -EIO;\n\t\tgoto out;\n\t}\n\tcmd = d->len;\n\tmutex_unlock(&d->lock);\n\tif (copy_to_user(p, &cmd, 4)) {\n\t\tret = -EFAULT;\n\t\tgoto out;\n\t}\n\treturn 0;\nout:\n\tmutex_unlock(&d->lock);\n\treturn ret;";
    let named = wrong
        .replace("mutex_lock(&d->lock)", "dev_lock(d)")
        .replace("mutex_unlock(&d->lock)", "dev_unlock(d)");
    for wrong in [wrong, &named] {
        assert_eq!(said(wrong), ["kept-lock"], "{wrong}");
    }
    for right in [
        wrong.replace(
            "\t\tret = -EFAULT;\n\t\tgoto out;\n",
            "\t\treturn -EFAULT;\n",
        ),
        wrong
            .replace("\tif (copy", "\tmutex_lock(&d->lock);\n\tif (copy")
            .replace("\treturn 0;\nout", "out"),
        wrong.replace("out:\n\tmutex", "out:\n\tif (ret == -EIO)\n\t\tmutex"),
        wrong
            .replace("ret = -EIO;", "ret = -EIO;\n\t\tmutex_unlock(&d->lock);")
            .replace(
                "out:\n\tmutex_unlock(&d->lock)",
                "out:\n\tmutex_unlock(&d->other)",
            ),
        // It is taken again before anybody asks.
        wrong
            .replace(
                "\tif (copy_to_user(p, &cmd, 4)) {",
                "\tret = copy_to_user(p, &cmd, 4);\n\tmutex_lock(&d->lock);\n\tif (ret) {",
            )
            .replace("\treturn 0;\nout", "out"),
    ] {
        assert_eq!(said(&right), NONE, "{right}");
    }
}

#[test]
fn what_a_member_of_the_functions_own_leads_to_is_given_back() {
    let wrong = "\tstruct dev own = {};\n\n\town.buf = kmalloc(16, GFP_KERNEL);\n\tif (!own.buf)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(own.buf, p, 16))\n\t\treturn -EFAULT;\n\tret = run(d, own.buf);\n\tkfree(own.buf);\n\treturn ret;";
    assert_eq!(said(wrong), ["kept-memory"]);
    for right in [
        wrong.replace(
            "\t\treturn -EFAULT;",
            "\t{\n\t\tkfree(own.buf);\n\t\treturn -EFAULT;\n\t}",
        ),
        wrong.replace(
            "\t\treturn -EFAULT;",
            "\t{\n\t\tdev_drop(&own);\n\t\treturn -EFAULT;\n\t}",
        ),
        wrong.replace("\tif (copy", "\td->buf = own.buf;\n\tif (copy"),
        wrong.replace("\tkfree(own.buf);\n", ""),
        wrong
            .replace("\t\treturn -EFAULT;", "\t\tret = -EFAULT;")
            .replace("\tret = run", "\tif (!ret)\n\t\tret = run"),
    ] {
        assert_eq!(said(&right), NONE, "{right}");
    }
}

#[test]
fn a_helper_and_its_caller_do_not_both_give_it_back() {
    let helper = "static int fetch(char *k, const char __user *p, size_t n)\n{\n\tif (copy_from_user(k, p, n)) {\n\t\tkfree(k);\n\t\treturn -EFAULT;\n\t}\n\treturn 0;\n}\n";
    let caller = "long f(struct dev *d, const char __user *p)\n{\n\tchar *k = kmalloc(16, GFP_KERNEL);\n\tint ret;\n\n\tif (!k)\n\t\treturn -ENOMEM;\n\tret = fetch(k, p, 16);\n\tif (ret)\n\t\tgoto out;\n\tret = run(d, k);\nout:\n\tkfree(k);\n\treturn ret;\n}\n";
    assert_eq!(rules(&format!("{helper}{caller}")), ["released-memory"]);
    let left = caller.replace("\t\tgoto out;", "\t\treturn ret;");
    assert_eq!(rules(&format!("{helper}{left}")), NONE);
    let keeps = helper.replace("\t\tkfree(k);\n", "");
    assert_eq!(rules(&format!("{keeps}{caller}")), NONE);
}

#[test]
fn a_reference_is_given_back_once() {
    let wrong = "\tstruct file *own = fget(cmd);\n\n\tif (!own)\n\t\treturn -EBADF;\n\tcmd = own->f_flags;\n\tfput(own);\n\tif (copy_to_user(p, &cmd, 4)) {\n\t\tret = -EFAULT;\n\t\tgoto out;\n\t}\n\treturn 0;\nout:\n\tfput(own);\n\treturn ret;";
    assert_eq!(said(wrong), ["released-memory"]);
    for right in [
        wrong.replace("goto out", "return ret"),
        wrong.replace("\tcmd = own", "\tget_file(own);\n\tcmd = own"),
        wrong
            .replace("\tfput(own);\n\tif (copy", "\tif (copy")
            .replace("\treturn 0;\nout", "out"),
    ] {
        assert_eq!(said(&right), NONE, "{right}");
    }
}

#[test]
fn a_pointer_is_not_made_one_of_32_bits() {
    let with = |own: &str| {
        format!(
            "struct args {{ u32 small; char __user *large; }};\nlong f(struct dev *d, struct args __user *p)\n{{\n\tstruct args own;\n\tchar k[16];\n\n\tif (copy_from_user(&own, p, sizeof(own)))\n\t\treturn -EFAULT;\n\tif (copy_from_user(k, compat_ptr({own}), sizeof(k)))\n\t\treturn -EFAULT;\n\treturn use(d, k);\n}}\n"
        )
    };
    assert_eq!(rules(&with("own.large")), ["other-layout"]);
    assert_eq!(rules(&with("(unsigned long)own.large")), ["other-layout"]);
    assert_eq!(rules(&with("own.small")), NONE);
}

#[test]
fn nobody_sleeps_under_a_lock_that_a_macro_or_another_file_takes() {
    for (begin, end) in [
        (
            "snd_pcm_stream_lock_irq(d->s)",
            "snd_pcm_stream_unlock_irq(d->s)",
        ),
        ("bh_lock_sock(d->s)", "bh_unlock_sock(d->s)"),
        ("unix_state_lock(d->s)", "unix_state_unlock(d->s)"),
        ("xa_lock_irq(&d->s)", "xa_unlock_irq(&d->s)"),
        ("write_seqlock(&d->s)", "write_sequnlock(&d->s)"),
        ("netif_tx_lock_bh(d->s)", "netif_tx_unlock_bh(d->s)"),
        ("ret = get_cpu()", "put_cpu()"),
    ] {
        let wrong = format!(
            "\t{begin};\n\tif (copy_to_user(p, d->buf, 16))\n\t\tret = -EFAULT;\n\t{end};\n\treturn ret;"
        );
        assert_eq!(said(&wrong), ["fault-in-atomic"], "{begin}");
    }
    for class in ["pcm_stream_lock_irq", "task_lock", "mmap_write_lock"] {
        let wrong = format!(
            "\tscoped_guard({class}, d->s) {{\n\t\tif (copy_to_user(p, d->buf, 16))\n\t\t\treturn -EFAULT;\n\t}}\n\treturn 0;"
        );
        assert_eq!(said(&wrong), ["fault-in-atomic"], "{class}");
    }
}

#[test]
fn what_a_name_says_is_taken_is_given_back() {
    let with = |take: &str, drop: &str| {
        format!(
            "\tstruct thing *t = {take};\n\n\tif (!t)\n\t\treturn -ENOMEM;\n\tprepare(t);\n\tif (copy_from_user(d->buf, p, 16))\n\t\treturn -EFAULT;\n\td->on = 1;\n\t{drop}(t);\n\treturn 0;"
        )
    };
    for (take, drop) in [
        ("thing_request_alloc(d)", "thing_request_free"),
        ("alloc_thing(d)", "free_thing"),
        ("thing_create(d)", "thing_destroy"),
        ("thing_get_by_id(d, cmd)", "thing_put"),
        ("thing_lookup(d, cmd)", "thing_put"),
        ("kmalloc(64, GFP_KERNEL)", "thing_free"),
    ] {
        assert_eq!(said(&with(take, drop)), ["kept-memory"], "{take}");
    }
    for (take, drop) in [
        // It is another thing, or nothing that was taken.
        ("thing_alloc(d)", "other_free"),
        ("thing_of(d)", "thing_put"),
        ("thing_get(d)", "thing_show"),
    ] {
        assert_eq!(said(&with(take, drop)), NONE, "{take}");
    }
}

#[test]
fn a_member_does_not_lead_to_what_was_given_back() {
    let wrong = "\tchar *own;\n\n\tkfree(d->buf);\n\town = memdup_user(p, 16);\n\tif (IS_ERR(own))\n\t\treturn PTR_ERR(own);\n\td->buf = own;\n\treturn 0;";
    let label = wrong.replace("return PTR_ERR(own);", "goto out;").replace(
        "\treturn 0;",
        "out:\n\tdev_unlock(d);\n\tdev_put(d);\n\treturn ret;",
    );
    let element = wrong.replace("d->buf", "d->all[2]");
    let copied = "\tvfree(d->buf);\n\tif (get_user(ret, &arg->n))\n\t\treturn -EFAULT;\n\td->buf = vmalloc(ret & 63);\n\treturn 0;";
    for wrong in [wrong, &label, &element, copied] {
        assert_eq!(said(wrong), ["released-memory"], "{wrong}");
    }
    for right in [
        wrong
            .replace("\tkfree(d->buf);\n", "")
            .replace("\td->buf =", "\tkfree(d->buf);\n\td->buf ="),
        wrong.replace("kfree(d->buf);", "kfree(d->buf);\n\td->buf = NULL;"),
        // Whoever is given it, or gives it back, knows.
        wrong.replace(
            "return PTR_ERR(own);",
            "{\n\t\tdev_reset(d);\n\t\treturn PTR_ERR(own);\n\t}",
        ),
        wrong.replace(
            "return PTR_ERR(own);",
            "{\n\t\tkfree(d);\n\t\treturn PTR_ERR(own);\n\t}",
        ),
        // Nothing faults behind it.
        wrong.replace("memdup_user(p, 16)", "kmemdup(d->all, 16, GFP_KERNEL)"),
    ] {
        assert_eq!(said(&right), NONE, "{right}");
    }
    let handed = "\td->buf = kmalloc(16, GFP_KERNEL);\n\tif (!d->buf)\n\t\treturn -ENOMEM;\n\tif (copy_from_user(d->buf, p, 16)) {\n\t\tkfree(d->buf);\n\t\treturn -EFAULT;\n\t}\n\treturn 0;";
    assert_eq!(said(handed), ["released-memory"]);
    let right = handed.replace("kfree(d->buf);", "kfree(d->buf);\n\t\td->buf = NULL;");
    assert_eq!(said(&right), NONE);
}

const FETCHED: &str = "\tstruct req r;\n\tchar *k;\n\n\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tif (r.in_len > 4096 || r.out_len > 4096 || r.n > 64)\n\t\treturn -EINVAL;\n";
const END: &str = "\tif (!k)\n\t\treturn -ENOMEM;\n\tfill(d, k);\n\tif (copy_to_user(p, k, SIZE))\n\t\tret = -EFAULT;\n\tkfree(k);\n\treturn ret;";

/// What is said where so many bytes are allocated and so many go out.
fn of_sizes(allocated: &str, copied: &str) -> Vec<String> {
    let end = END.replace("SIZE", copied);
    said(&format!("{FETCHED}\tk = {allocated};\n{end}"))
}

#[test]
fn as_much_is_allocated_as_is_copied() {
    for (allocated, copied) in [
        ("kmalloc(r.n, GFP_KERNEL)", "r.n * sizeof(struct item)"),
        ("kmalloc(r.n * 4, GFP_KERNEL)", "r.n * sizeof(struct item)"),
        ("kmalloc_array(r.n, 4, GFP_KERNEL)", "r.n * 8"),
        ("kmalloc(8 + r.n * 4, GFP_KERNEL)", "16 + r.n * 4"),
        ("kmalloc(r.n * 4, GFP_KERNEL)", "array_size(r.n, 8)"),
        ("kmalloc(r.in_len, GFP_KERNEL)", "r.out_len"),
    ] {
        let found = of_sizes(allocated, copied);
        assert!(
            found.contains(&"beyond-variable".to_owned()),
            "{allocated} {copied}: {found:?}"
        );
    }
    for (allocated, copied) in [
        ("kmalloc(r.n * 8, GFP_KERNEL)", "r.n * 4"),
        (
            "kmalloc_array(r.n, sizeof(struct item), GFP_KERNEL)",
            "r.n * sizeof(struct item)",
        ),
        ("kmalloc(16 + r.n * 4, GFP_KERNEL)", "8 + r.n * 4"),
        ("kmalloc(max(r.in_len, r.out_len), GFP_KERNEL)", "r.out_len"),
        ("kmalloc(d->len, GFP_KERNEL)", "r.out_len"),
        ("kmalloc(r.in_len, GFP_KERNEL)", "min(r.in_len, r.out_len)"),
    ] {
        let found = of_sizes(allocated, copied);
        assert!(
            !found.contains(&"beyond-variable".to_owned()),
            "{allocated} {copied}: {found:?}"
        );
    }
    let bytes = format!(
        "{FETCHED}\tu32 bytes = r.in_len ? r.in_len : r.out_len;\n\n\tk = kmalloc(bytes, GFP_KERNEL);\n{}",
        END.replace("SIZE", "r.out_len")
    );
    assert!(said(&bytes).contains(&"beyond-variable".to_owned()));
    let larger = bytes.replace("r.in_len ? r", "r.in_len > r.out_len ? r");
    assert!(!said(&larger).contains(&"beyond-variable".to_owned()));
}

#[test]
fn what_is_as_large_as_the_user_says_is_held_against_its_bound_as_it_is() {
    let with = |asked: &str| {
        format!(
            "\tstruct req r;\n\n\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tif ({asked})\n\t\treturn -EINVAL;\n\treturn reserve(d, r.n);"
        )
    };
    for wrong in ["(int)r.n > 64", "64 < (int)r.n", "(s32)r.n >= MOST"] {
        assert_eq!(said(&with(wrong)), ["signed-bound"], "{wrong}");
    }
    for right in [
        "r.n > 64",
        "(unsigned int)r.n > 64",
        "(int)r.n < 0 || (int)r.n > 64",
        "(int)r.n > sizeof(r)",
        "(s64)r.n > 64",
        "(int)r.n > 64 || r.n > 64",
        "(int)d->len > 64",
    ] {
        assert_eq!(said(&with(right)), NONE, "{right}");
    }
}

#[test]
fn the_smaller_one_of_a_signed_type_may_be_less_than_nothing() {
    let with = |take: &str| {
        format!(
            "\tint len;\n\tchar own[24];\n\n\tif (get_user(len, &arg->room))\n\t\treturn -EFAULT;\n\tdescribe(own);\n\t{take};\n\tif (copy_to_user(p, own, len))\n\t\treturn -EFAULT;\n\treturn 0;"
        )
    };
    let wrong = "len = min_t(int, len, sizeof(own))";
    assert_eq!(said(&with(wrong)), ["beyond-variable"]);
    for right in [
        "len = min_t(unsigned int, len, sizeof(own))",
        "if (len < 0)\n\t\treturn -EINVAL;\n\tlen = min_t(int, len, sizeof(own))",
    ] {
        assert_eq!(said(&with(right)), NONE, "{right}");
    }
}

#[test]
fn a_bit_is_one_that_the_type_has() {
    let with = |most: &str, bit: &str| {
        format!(
            "\tstruct req r;\n\n\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tif (r.n {most})\n\t\treturn -EINVAL;\n\td->on |= {bit} << r.n;\n\treturn 0;"
        )
    };
    for (most, bit) in [("> 32", "1u"), ("> 32", "1"), (">= 65", "1ULL")] {
        assert_eq!(said(&with(most, bit)), ["beyond-array"], "{most} {bit}");
    }
    for (most, bit) in [("> 31", "1u"), (">= 32", "1"), ("> 63", "1ULL")] {
        assert_eq!(said(&with(most, bit)), NONE, "{most} {bit}");
    }
}

#[test]
fn a_value_is_no_larger_than_the_member_that_it_is_fetched_from() {
    let with = |to: &str| {
        format!(
            "\tstruct old_req __user *o = (void __user *)p;\n\tunsigned long v;\n\n\tif (get_user(v, ({to})&o->at))\n\t\treturn -EFAULT;\n\treturn reserve(d, v);"
        )
    };
    for wrong in [
        "size_t __user *",
        "unsigned long __user *",
        "void __user * __user *",
    ] {
        assert_eq!(said(&with(wrong)), ["other-layout"], "{wrong}");
    }
    // Of a number of bits it may be meant.
    for right in [
        "u32 __user *",
        "int __user *",
        "u16 __user *",
        "u64 __user *",
    ] {
        assert_eq!(said(&with(right)), NONE, "{right}");
    }
}

#[test]
fn a_member_is_not_fetched_again_behind_the_whole() {
    let wrong = "\tstruct req r;\n\tu32 n;\n\n\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\td->len = r.n;\n\tif (get_user(n, &arg->n))\n\t\treturn -EFAULT;\n\treturn reserve(d, n);";
    let cast = wrong.replace("&arg->n", "&((struct req __user *)arg)->n");
    for wrong in [wrong, &cast] {
        assert_eq!(said(wrong), ["double-fetch"], "{wrong}");
    }
    for right in [
        wrong.replace("&arg->n", "&arg->in_len"),
        wrong.replace("d->len = r.n;", "d->len = r.in_len;"),
        wrong.replace("\td->len = r.n;\n", ""),
    ] {
        assert_eq!(said(&right), NONE, "{right}");
    }
}

#[test]
fn an_array_is_set_as_far_as_its_counter() {
    let wrong = "\tstruct item *all;\n\tu32 at, set = 0;\n\n\tif (cmd > 64)\n\t\treturn -EINVAL;\n\tall = kmalloc_array(cmd, sizeof(*all), GFP_KERNEL);\n\tif (!all)\n\t\treturn -ENOMEM;\n\tfor (at = 0; at < cmd; at++) {\n\t\tif (!d->all[at])\n\t\t\tcontinue;\n\t\tall[set].id = at;\n\t\tall[set].len = 1;\n\t\tset++;\n\t}\n\tif (copy_to_user(p, all, cmd * sizeof(*all)))\n\t\tret = -EFAULT;\n\tkfree(all);\n\treturn ret;";
    assert_eq!(said(wrong), ["copied-holes"]);
    for right in [
        wrong.replace("cmd * sizeof", "set * sizeof"),
        wrong.replace("kmalloc_array", "kcalloc"),
        wrong.replace("\t\tif (!d->all[at])\n\t\t\tcontinue;\n", ""),
    ] {
        assert_eq!(said(&right), NONE, "{right}");
    }
}

#[test]
fn what_another_function_fetched_is_the_users_in_one_that_fetches_nothing() {
    let with = |helper: &str| {
        format!(
            "struct pick {{ u32 at; char __user *name; }};\nstruct dev {{ int all[8]; u32 set; }};\nstatic int use(struct dev *d, const struct pick *own)\n{{\n\t{helper}\n}}\nlong f(struct dev *d, struct pick __user *p)\n{{\n\tstruct pick own;\n\n\tif (copy_from_user(&own, p, sizeof(own)))\n\t\treturn -EFAULT;\n\treturn use(d, &own);\n}}\n"
        )
    };
    for (helper, rule) in [
        ("return d->all[own->at];", "unbounded-index"),
        (
            "if (own->at > 8)\n\t\treturn -EINVAL;\n\treturn d->all[own->at];",
            "beyond-array",
        ),
        (
            "if (own->at > 32)\n\t\treturn -EINVAL;\n\td->set |= 1u << own->at;\n\treturn 0;",
            "beyond-array",
        ),
        (
            "char name[16];\n\n\tstrscpy(name, own->name, sizeof(name));\n\treturn find(d, name);",
            "user-pointer-dereferenced",
        ),
    ] {
        assert_eq!(rules(&with(helper)), [rule], "{helper}");
    }
    for helper in [
        "if (own->at >= 8)\n\t\treturn -EINVAL;\n\treturn d->all[own->at];",
        "if (own->at > 31)\n\t\treturn -EINVAL;\n\td->set |= 1u << own->at;\n\treturn 0;",
        "char name[16];\n\n\tif (strncpy_from_user(name, own->name, 16) < 0)\n\t\treturn -EFAULT;\n\treturn 0;",
    ] {
        assert_eq!(rules(&with(helper)), NONE, "{helper}");
    }
}

#[test]
fn a_frame_lies_where_an_element_of_the_registers_says() {
    let wrong = "struct pt_regs { unsigned long regs[16]; };\nstruct frame { u32 mask; };\nint sys_back(void)\n{\n\tstruct pt_regs *regs = current_pt_regs();\n\tstruct frame __user *frame = (struct frame __user *)regs->regs[15];\n\tu32 mask;\n\n\tif (__get_user(mask, &frame->mask))\n\t\treturn -EFAULT;\n\treturn restore(mask);\n}\n";
    assert_eq!(rules(wrong), ["unchecked-access"]);
    let right = wrong.replace(
        "\tif (__get",
        "\tif (!access_ok(frame, sizeof(*frame)))\n\t\treturn -EFAULT;\n\tif (__get",
    );
    assert_eq!(rules(&right), NONE);
}

#[test]
fn what_a_call_has_put_into_memory_does_not_go_over_from_the_user() {
    let right = "\tint n;\n\tchar *k = kmalloc(64, GFP_KERNEL);\n\n\tif (!k)\n\t\treturn -ENOMEM;\n\tn = receive(d, k, 64);\n\tif (n < 0)\n\t\tgoto out;\n\tif (copy_to_user(p, k, n))\n\t\tret = -EFAULT;\nout:\n\tkfree(k);\n\treturn ret;";
    let wrong = right.replace("copy_to_user(p, k, n)", "copy_from_user(k, p, n)");
    assert!(
        said(&wrong).contains(&"unread-copy".to_owned()),
        "{:?}",
        said(&wrong)
    );
    assert_eq!(said(right), NONE);
}

#[test]
fn a_32_bit_programs_value_is_not_as_wide_as_the_kernels() {
    let put = |place: &str| {
        rules(&format!(
            "long f(struct dev *d, u32 at, u32 __user *plain)\n{{\n\treturn put_user(1, {place});\n}}\n"
        ))
    };
    for wrong in [
        "(unsigned long __user *)compat_ptr(at)",
        "(size_t __user *)compat_ptr(at)",
        "(void __user * __user *)compat_ptr(at)",
    ] {
        assert_eq!(put(wrong), ["other-layout"], "{wrong}");
    }
    for right in [
        "(compat_ulong_t __user *)compat_ptr(at)",
        "(unsigned int __user *)compat_ptr(at)",
        "(unsigned long long __user *)compat_ptr(at)",
        "(unsigned long __user *)u64_to_user_ptr(at)",
        "plain",
    ] {
        assert_eq!(put(right), [""; 0], "{right}");
    }
}
