//! Faults that are answered as success, what was copied as a number that nobody asks, results that are
//! lost behind others, and accesses where no fault is handled.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "#define SIOCX 0x89\nenum { OFF, ON };\n\
     struct req { u32 id; u16 type; u16 len; u32 rest[4]; };\n\
     struct mii { u16 phy; u16 reg; };\n\
     struct ifr { char name[16]; union { void __user *ifru_data; u32 ifru_flags; } ifr_ifru; };\n\
     struct dev { char *buf; size_t size; u32 used; struct mutex lock; spinlock_t busy; struct page *page; struct kvec vec; struct req kept; void __user *to; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A function of these statements, which is given an address of the user's.
fn function(statements: &str) -> Vec<String> {
    rules(&format!(
        "static long f(struct dev *d, struct req __user *u, size_t n)\n{{\n\
         \tstruct req r;\n\tint ret = 0;\n\n{statements}\n}}\n"
    ))
}

/// A read() of these statements.
fn read(statements: &str) -> Vec<String> {
    rules(&format!(
        "static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tsize_t len = min(count, d->size), left, total = 0;\n\
         \tint ret = 0;\n\n{statements}\n}}\n\
         static const struct file_operations ops = {{ .read = f }};\n"
    ))
}

#[test]
fn a_fault_is_answered_where_it_was_none() {
    let copy = "copy_from_user(&r, u, sizeof(r))";
    for wrong in [
        format!("\tif ({copy})\n\t\tret = use(d, &r);\n\telse\n\t\tret = -EFAULT;\n\tdone(d);\n\treturn ret;"),
        format!("\tif ({copy})\n\t\treturn use(d, &r);\n\treturn -EFAULT;"),
        format!("\tret = -EFAULT;\n\tif ({copy} != 0)\n\t\tret = use(d, &r);\n\treturn ret;"),
        format!("\tret = -EFAULT;\n\tif (!{copy})\n\t\tgoto out;\n\tret = use(d, &r);\nout:\n\tdone(d);\n\treturn ret;"),
        format!("\tif ({copy} == 0)\n\t\tgoto bad;\n\tuse(d, &r);\n\treturn 0;\nbad:\n\tdone(d);\n\treturn -EFAULT;"),
        format!("\tret = {copy};\n\tif (ret)\n\t\treturn use(d, &r);\n\tdone(d);\n\treturn -EFAULT;"),
        "\tswitch (n) {\n\tcase ON:\n\t\tif (get_user(r.id, &u->id))\n\t\t\tret = use(d, &r);\n\t\telse\n\t\t\tret = -EFAULT;\n\t\tbreak;\n\tdefault:\n\t\tret = -EINVAL;\n\t}\n\treturn ret;".to_owned(),
    ] {
        assert_eq!(function(&wrong), ["inverted-test"], "{wrong}");
    }
    for right in [
        format!(
            "\tif (!{copy})\n\t\tret = use(d, &r);\n\telse\n\t\tret = -EFAULT;\n\tdone(d);\n\treturn ret;"
        ),
        format!("\tret = -EFAULT;\n\tif ({copy} == 0)\n\t\tret = use(d, &r);\n\treturn ret;"),
        format!("\tif ({copy})\n\t\treturn -EFAULT;\n\treturn use(d, &r);"),
        format!(
            "\tret = -EFAULT;\n\tif ({copy})\n\t\tgoto out;\n\tret = use(d, &r);\nout:\n\tdone(d);\n\treturn ret;"
        ),
        // Whatever it comes to, the answer is the same.
        format!("\tif ({copy})\n\t\tdone(d);\n\treturn -EFAULT;"),
        // What goes on asks for more.
        format!(
            "\tif ({copy})\n\t\treturn -EINVAL;\n\tif (put_user(r.id, &u->id))\n\t\treturn -EFAULT;\n\treturn use(d, &r);"
        ),
    ] {
        assert_eq!(function(&right), NONE, "{right}");
    }
}

#[test]
fn what_was_copied_is_asked_for_nothing_at_all() {
    for wrong in [
        "\treturn len - copy_to_user(u, d->buf, len);",
        "\tret = len - copy_to_user(u, d->buf, len);\n\tdone(d);\n\treturn ret;",
        "\tleft = copy_to_user(u, d->buf, len);\n\treturn len - left;",
        "\tsize_t rest = copy_to_user(u, d->buf, len);\n\n\tdone(d);\n\treturn (ssize_t)(len - rest);",
        "\tlen -= copy_to_user(u, d->buf, len);\n\treturn len;",
        "\tleft = copy_to_user(u, d->buf, len);\n\tlen -= left;\n\treturn len;",
        "\treturn sizeof(d->kept) - copy_to_user(u, &d->kept, sizeof(d->kept));",
    ] {
        assert_eq!(read(wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        "\tleft = copy_to_user(u, d->buf, len);\n\tif (left == len)\n\t\treturn -EFAULT;\n\treturn len - left;",
        "\tret = len - copy_to_user(u, d->buf, len);\n\tif (!ret)\n\t\treturn -EFAULT;\n\treturn ret;",
        "\tlen -= copy_to_user(u, d->buf, len);\n\treturn len ? len : -EFAULT;",
        "\tif (copy_to_user(u, d->buf, len))\n\t\treturn -EFAULT;\n\treturn len;",
    ] {
        assert_eq!(read(right), NONE, "{right}");
    }
    // Who is no program's may ask for it.
    let helper = "static size_t f(struct dev *d, char __user *u, size_t len)\n{\n\treturn len - copy_to_user(u, d->buf, len);\n}\n";
    assert_eq!(rules(helper), NONE);
}

#[test]
fn a_loop_that_goes_on_by_what_was_copied_does_not_end() {
    let round = |head: &str, copy: &str, tail: &str| {
        read(&format!(
            "\t{head} {{\n\t\tlen = min(count, d->size);\n\t\tfill(d, len);\n{copy}\n\t\tu += len;\n\t\ttotal += len;\n\t\tcount -= len;\n\t}}{tail}\n\treturn total;"
        ))
    };
    let less = "\t\tlen -= copy_to_user(u, d->buf, len);";
    for (head, copy, tail) in [
        ("while (count > 0)", less, ""),
        ("while (count)", less, ""),
        ("do", less, " while (count != 0);"),
        ("for (; count; )", less, ""),
        (
            "while (count > 0)",
            "\t\tleft = copy_to_user(u, d->buf, len);\n\t\tlen -= left;",
            "",
        ),
        (
            "while (count > 0)",
            "\t\tlen = len - copy_to_user(u, d->buf, len);",
            "",
        ),
    ] {
        assert_eq!(round(head, copy, tail), ["misread-result"], "{head} {copy}");
    }
    for (head, copy) in [
        (
            "while (count > 0)",
            "\t\tlen -= copy_to_user(u, d->buf, len);\n\t\tif (!len)\n\t\t\treturn -EFAULT;",
        ),
        (
            "while (count > 0)",
            "\t\tif (copy_to_user(u, d->buf, len))\n\t\t\treturn -EFAULT;",
        ),
        ("while (count > 0 && !signal_pending(current))", less),
        ("while (count > 0 && ret++ < 4)", less),
        (
            "while (count > 0)",
            "\t\tif (d->used)\n\t\t\tbreak;\n\t\tlen -= copy_to_user(u, d->buf, len);",
        ),
    ] {
        assert_eq!(round(head, copy, ""), NONE, "{head} {copy}");
    }
}

#[test]
fn a_result_is_lost_behind_any_other_call() {
    let way = |first: &str, between: &str, last: &str| {
        read(&format!(
            "\t{first}\n\td->used += len;\n\tif (d->used == d->size) {{\n{between}\n\t\tif (ret < 0)\n\t\t\treturn ret;\n\t}}\n\t{last}"
        ))
    };
    let copy = "ret = copy_to_user(u, d->buf, len);";
    let again = "\t\tret = queue(d);";
    let last = "return len - ret;";
    assert_eq!(way(copy, again, last), ["swallowed-fault"]);
    let put = "ret = put_user(d->used, u);";
    assert_eq!(
        way(put, again, "return ret ? ret : len;"),
        ["swallowed-fault"]
    );
    let told = "ret = copy_to_user(u, d->buf, len) ? -EFAULT : 0;";
    assert_eq!(
        way(
            told,
            "\t\tret = d->size ? queue(d) : queue(0);",
            "return ret ?: len;"
        ),
        NONE
    );
    assert_eq!(way(told, again, "return ret ?: len;"), ["swallowed-fault"]);
    // Asked before, or kept apart.
    assert_eq!(
        way(
            &format!("{copy}\n\tif (ret)\n\t\treturn -EFAULT;"),
            again,
            "return len;"
        ),
        NONE
    );
    assert_eq!(
        way(
            "left = copy_to_user(u, d->buf, len);",
            again,
            "return left ? -EFAULT : len;"
        ),
        NONE
    );
    // Which of two cases it is may be asked for twice.
    let apart = read(
        "\tif (d->used)\n\t\tret = put_user(d->used, u);\n\tif (!d->used)\n\t\tret = queue(d);\n\treturn ret;",
    );
    assert_eq!(apart, NONE);
}

#[test]
fn what_a_fault_left_unset_is_given_as_memory() {
    let copies = |fault: &str, tail: &str| {
        rules(&format!(
            "static void *f(const void __user *u)\n{{\n\tchar *copy;\n\tunsigned left, at;\n\n\
             \tcopy = kmalloc(64, GFP_KERNEL);\n\tif (!copy)\n\t\treturn ERR_PTR(-ENOMEM);\n\
             \tleft = copy_from_user(copy, u, 64);\n\tat = 64 - left;\n\twhile (left) {{\n\t\tchar c;\n\n\
             \t\tif (get_user(c, (const char __user *)u + at))\n\t\t\t{fault};\n\
             \t\tcopy[at] = c;\n\t\tleft--;\n\t\tat++;\n\t}}\n{tail}\treturn copy;\n}}\n"
        ))
    };
    assert_eq!(copies("break", ""), ["swallowed-fault"]);
    assert_eq!(copies("goto out", "out:\n"), ["swallowed-fault"]);
    let refused = "\tif (left == 64) {\n\t\tkfree(copy);\n\t\treturn ERR_PTR(-EFAULT);\n\t}\n";
    assert_eq!(copies("break", refused), NONE);
    assert_eq!(copies("break", "\tmemset(copy + at, 0, left);\n"), NONE);
}

#[test]
fn an_access_fails_where_no_page_fault_is_handled() {
    let copies = |map: &str, copy: &str, unmap: &str, tail: &str| {
        function(&format!(
            "\tvoid *k;\n\n\tk = {map}(d->buf);\n\t{copy}\n\t{unmap};\n{tail}\n\treturn ret;"
        ))
    };
    let read = "ret = copy_from_user(k, u, n);";
    let refused = "\tif (ret)\n\t\treturn -EFAULT;";
    let atomic = ("kmap_atomic", "kunmap_atomic(k)");
    for (copy, tail) in [
        (read, refused),
        ("ret = copy_to_user(u, k, n) ? -EFAULT : 0;", ""),
        ("if (copy_from_user(k, u, n))\n\t\tret = -EFAULT;", ""),
        (read, "\tif (ret) {\n\t\tlog(d);\n\t\tret = -EFAULT;\n\t}"),
        (
            "if (d->used)\n\t\tret = copy_from_user(k, u, n);\n\telse\n\t\tret = copy_to_user(u, k, n);",
            refused,
        ),
    ] {
        assert_eq!(
            copies(atomic.0, copy, atomic.1, tail),
            ["fault-in-atomic"],
            "{copy}"
        );
    }
    // In a loop over pages.
    let each = |map: &str, unmap: &str| {
        function(&format!(
            "\tint i;\n\n\tfor (i = 0; i < 4; i++) {{\n\t\tvoid *k = {map}(d->buf + i);\n\n\t\tret = copy_from_user(k, u + i, sizeof(*u));\n\t\t{unmap};\n\t\tif (ret)\n\t\t\treturn -EFAULT;\n\t}}\n\treturn 0;"
        ))
    };
    assert_eq!(each("kmap_atomic", "kunmap_atomic(k)"), ["fault-in-atomic"]);
    for (map, unmap) in [
        ("kmap", "kunmap(d->buf)"),
        ("kmap_local_page", "kunmap_local(k)"),
    ] {
        assert_eq!(each(map, unmap), NONE, "{map}");
    }
    // Who relies on it copies again, or tells another who does.
    for tail in [
        "\tif (ret) {\n\t\tif (copy_from_user(d->buf, u, n))\n\t\t\treturn -EFAULT;\n\t}",
        "\tif (ret)\n\t\treturn -ENOENT;",
    ] {
        assert_eq!(copies(atomic.0, read, atomic.1, tail), NONE, "{tail}");
    }
    let inatomic = copies(
        atomic.0,
        "ret = __copy_from_user_inatomic(k, u, n);",
        atomic.1,
        refused,
    );
    assert!(
        !inatomic.contains(&"fault-in-atomic".to_owned()),
        "{inatomic:?}"
    );
}

#[test]
fn how_many_bytes_were_left_is_told_where_no_page_fault_is_handled() {
    let copies = |map: &str, unmap: &str, left: &str| {
        rules(&format!(
            "/* The bytes that were left. */\n\
             static unsigned long put(struct dev *d, const char __user *u, size_t n)\n{{\n\tsize_t all = n;\n\tunsigned long left;\n\n\
             \twhile (n) {{\n\t\tsize_t part = min(n, d->size);\n\t\tvoid *k = {map}(d->buf);\n\n\
             \t\tleft = copy_from_user(k, u + (all - n), part);\n\t\t{unmap}(k);\n\t\tif (left)\n\t\t\treturn {left};\n\
             \t\tn -= part;\n\t}}\n\treturn 0;\n}}\n"
        ))
    };
    let of = |map, unmap, left| copies(map, unmap, left).contains(&"fault-in-atomic".to_owned());
    assert!(of("kmap_atomic", "kunmap_atomic", "n - part + left"));
    assert!(!of("kmap_local_page", "kunmap_local", "n - part + left"));
    assert!(!of("kmap_atomic", "kunmap_atomic", "d->used"));
}

/// A read_iter() of these statements.
fn iterates(statements: &str) -> bool {
    let found = rules(&format!(
        "static ssize_t f(struct kiocb *iocb, struct iov_iter *to)\n{{\n\
         \tstruct dev *d = iocb->ki_filp->private_data;\n\tsize_t n = min(iov_iter_count(to), d->size), done = 0;\n\n{statements}\n}}\n"
    ));
    found.contains(&"fault-in-atomic".to_owned())
}

#[test]
fn an_iterator_is_of_memory_of_the_users() {
    for wrong in [
        "\tvoid *k = kmap_atomic(d->buf);\n\n\tdone = copy_to_iter(k, n, to);\n\tkunmap_atomic(k);\n\treturn done < n ? -EFAULT : done;",
        "\tvoid *k = kmap_atomic(d->buf);\n\n\tif (!copy_from_iter_full(k, n, to))\n\t\tdone = -EIO;\n\tkunmap_atomic(k);\n\treturn done;",
        "\tspin_lock(&d->busy);\n\tdone = copy_to_iter(d->buf, n, to);\n\tspin_unlock(&d->busy);\n\treturn done;",
        "\trcu_read_lock();\n\tdone = copy_page_to_iter(d->page, 0, n, to);\n\trcu_read_unlock();\n\treturn done ?: -EFAULT;",
    ] {
        assert!(iterates(wrong), "{wrong}");
    }
    for right in [
        "\tvoid *k = kmap_local_page(d->buf);\n\n\tdone = copy_to_iter(k, n, to);\n\tkunmap_local(k);\n\treturn done < n ? -EFAULT : done;",
        "\tspin_lock(&d->busy);\n\td->used += n;\n\tspin_unlock(&d->busy);\n\tdone = copy_to_iter(d->buf, n, to);\n\treturn done;",
        // Of the kernel's, or of a kind that is asked for.
        "\tstruct iov_iter own;\n\n\tiov_iter_kvec(&own, WRITE, &d->vec, 1, n);\n\tspin_lock(&d->busy);\n\tdone = copy_to_iter(d->buf, n, &own);\n\tspin_unlock(&d->busy);\n\treturn done;",
        "\tif (iov_iter_is_kvec(to)) {\n\t\tvoid *k = kmap_atomic(d->buf);\n\n\t\tdone = copy_to_iter(k, n, to);\n\t\tkunmap_atomic(k);\n\t} else {\n\t\tdone = copy_page_to_iter(d->page, 0, n, to);\n\t}\n\treturn done;",
        "\tpagefault_disable();\n\tdone = copy_page_from_iter_atomic(d->page, 0, n, to);\n\tpagefault_enable();\n\treturn done;",
    ] {
        assert!(!iterates(right), "{right}");
    }
}

#[test]
fn what_is_left_of_either_kind_of_memory_is_never_negative() {
    let sets = |asks: &str| {
        rules(&format!(
            "static int f(struct dev *d, sockptr_t from, unsigned int len)\n{{\n\tstruct req r;\n\tint ret;\n\n{asks}\n\treturn use(d, &r);\n}}\n"
        ))
    };
    for wrong in [
        "\tif (copy_from_sockptr(&r, from, sizeof(r)) < 0)\n\t\treturn -EFAULT;",
        "\tret = copy_from_sockptr_offset(&r, from, 4, sizeof(r));\n\tif (ret < 0)\n\t\treturn ret;",
    ] {
        assert!(
            sets(wrong).contains(&"misread-result".to_owned()),
            "{wrong} {:?}",
            sets(wrong)
        );
    }
    for right in [
        "\tif (copy_from_sockptr(&r, from, sizeof(r)))\n\t\treturn -EFAULT;",
        "\tret = copy_safe_from_sockptr(&r, sizeof(r), from, len);\n\tif (ret < 0)\n\t\treturn ret;",
        "\tret = copy_from_sockptr(&r, from, sizeof(r));\n\tif (ret)\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(sets(right), NONE, "{right}");
    }
}

#[test]
fn a_cast_that_says_nothing_leads_to_the_users_memory() {
    let device = |takes: &str, does: &str| {
        rules(&format!(
            "static int f(struct dev *d, struct ifr *ifr, struct req __user *u, int cmd)\n{{\n\tstruct mii *m = {takes};\n\n\tif (get_user(d->used, &u->id))\n\t\treturn -EFAULT;\n{does}\n\treturn 0;\n}}\n"
        ))
    };
    let store = "\tif (cmd == SIOCX)\n\t\tm->phy = 1;";
    let load = "\td->used = m->reg & 0x1f;";
    for wrong in [
        "(struct mii *)ifr->ifr_ifru.ifru_data",
        "(struct mii *)(ifr->ifr_ifru.ifru_data)",
        "(struct mii *)d->to",
        "(void *)u",
    ] {
        for does in [store, load] {
            assert_eq!(
                device(wrong, does),
                ["user-pointer-dereferenced"],
                "{wrong} {does}"
            );
        }
    }
    for right in [
        "(struct mii *)&ifr->ifr_ifru",
        "(struct mii *)&ifr->ifr_ifru.ifru_data",
        "(struct mii *)d->buf",
        "(struct mii *)d",
    ] {
        assert_eq!(device(right, store), NONE, "{right}");
    }
    // A structure that the function has made holds what was put there.
    let made = "static int f(struct dev *d, u32 __user *u)\n{\n\tstruct dev *own = make(d);\n\tstruct mii *m = (struct mii *)own->to;\n\n\tif (get_user(d->used, u))\n\t\treturn -EFAULT;\n\tm->phy = 1;\n\treturn send(own);\n}\n";
    assert_eq!(rules(made), NONE);
}

#[test]
fn a_load_of_bytes_in_order_is_a_load() {
    let reads = |call: &str| {
        rules(&format!(
            "static int f(struct dev *d, struct req __user *u)\n{{\n\tvoid __user *at = u;\n\tu32 id;\n\n\tif (get_user(id, &u->id))\n\t\treturn -EFAULT;\n\td->used = id + {call};\n\treturn 0;\n}}\n"
        ))
    };
    for wrong in [
        "le16_to_cpup((__force __le16 *)(at + 2))",
        "be32_to_cpup((__be32 *)at)",
        "get_unaligned_le32(at)",
        "get_unaligned_be16((__force u8 *)at + 4)",
    ] {
        assert_eq!(reads(wrong), ["user-pointer-dereferenced"], "{wrong}");
    }
    for right in ["le16_to_cpup((__le16 *)d->buf)", "get_unaligned_le32(&id)"] {
        assert_eq!(reads(right), NONE, "{right}");
    }
}

#[test]
fn a_value_is_wider_than_what_the_command_says() {
    let asks = |label: &str, does: &str| {
        rules(&format!(
            "#define GET_ONE 0x80047001\n#define SET_ONE 0x40047002\n#define GET_BYTE 0x80017003\n#define GET_LONG 0x80087004\n#define PLAIN 0x7005\n\
             static long f(struct file *file, unsigned int cmd, unsigned long arg)\n{{\n\tstruct dev *d = file->private_data;\n\tunsigned long __user *at = (unsigned long __user *)arg;\n\tunsigned long n;\n\n\
             \tswitch (cmd) {{\n\tcase {label}:\n\t\tn = d->used;\n\t\t{does}\n\tdefault:\n\t\treturn -ENOTTY;\n\t}}\n}}\n\
             static const struct file_operations ops = {{ .unlocked_ioctl = f }};\n"
        ))
    };
    let long = "return put_user(n, (unsigned long __user *)arg);";
    for (label, does) in [
        ("GET_ONE", long),
        ("GET_ONE", "return put_user(d->used, (u64 __user *)arg);"),
        (
            "GET_ONE",
            "if (put_user(n, at))\n\t\t\treturn -EFAULT;\n\t\treturn 0;",
        ),
        (
            "SET_ONE",
            "if (get_user(n, (unsigned long __user *)arg))\n\t\t\treturn -EFAULT;\n\t\treturn set(d, n);",
        ),
        (
            "SET_ONE",
            "return get_user(n, (long __user *)arg) ? -EFAULT : set(d, n);",
        ),
    ] {
        assert_eq!(asks(label, does), ["beyond-argument"], "{label} {does}");
    }
    for (label, does) in [
        ("GET_ONE", "return put_user(n, (unsigned int __user *)arg);"),
        ("GET_LONG", long),
        ("GET_LONG", "return put_user(n, (int __user *)arg);"),
        ("PLAIN", long),
        ("GET_BYTE", "return put_user(n, (u8 __user *)arg);"),
    ] {
        assert_eq!(asks(label, does), NONE, "{label} {does}");
    }
}

#[test]
fn a_member_is_copied_by_the_size_of_what_lies_at_neither_end() {
    let copies = |copy: &str| {
        rules(&format!(
            "struct conf {{ u32 flags; u32 kind; }};\nstruct port {{ u64 id; struct conf conf; u64 rest[8]; u32 mode; }};\nstruct regs {{ struct conf one; u64 rest; }};\ntypedef struct {{ u64 all[6]; }} more_conf;\n\
             static int f(struct port *p, struct ifr *ifr, struct regs __user *u)\n{{\n\tstruct req own;\n\n\tload(p, &own);\n\treturn {copy} ? -EFAULT : 0;\n}}\n"
        ))
    };
    for wrong in [
        "copy_to_user(ifr->ifr_ifru.ifru_data, &p->conf, sizeof(*ifr))",
        "copy_from_user(&p->conf, ifr->ifr_ifru.ifru_data, sizeof(*ifr))",
        "copy_to_user(u, &p->conf, sizeof(own))",
        "copy_to_user(u, &p->mode, sizeof(own.rest))",
        "copy_from_user(&(p->conf), u, sizeof(ifr->name))",
    ] {
        assert_eq!(copies(wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "copy_to_user(ifr->ifr_ifru.ifru_data, &p->conf, sizeof(p->conf))",
        "copy_to_user(u, &p->conf, sizeof(struct conf))",
        "copy_from_user(&p->conf, u, sizeof(more_conf))",
        "copy_to_user(u, &p->rest, sizeof(own))",
        "copy_to_user(&u->one, &p->conf, sizeof(u->one))",
    ] {
        assert_eq!(copies(right), NONE, "{right}");
    }
}

#[test]
fn a_member_that_is_a_short_address_is_no_address() {
    let makes = |value: &str| {
        rules(&format!(
            "typedef u32 compat_uptr_t;\nstruct short_req {{ u32 len; compat_uptr_t at; compat_uptr_t more[2]; u32 id; }};\nstruct long_req {{ u32 len; void __user *at; }};\n\
             static long f(struct dev *d, void __user *u)\n{{\n\tstruct short_req from, *p = &from;\n\tstruct long_req to;\n\n\tif (copy_from_user(&from, u, sizeof(from)))\n\t\treturn -EFAULT;\n\tto.len = from.len;\n\tto.at = {value};\n\treturn use(d, p, &to);\n}}\n"
        ))
    };
    for wrong in [
        "(void __user *)(unsigned long)from.at",
        "(char __user *)(uintptr_t)from.at",
        "(u8 __user *)(unsigned long)p->at",
        "(void __user *)(unsigned long)from.more[1]",
        "(void __user *)((unsigned long)(from.at))",
    ] {
        assert_eq!(makes(wrong), ["other-layout"], "{wrong}");
    }
    for right in [
        "compat_ptr(from.at)",
        "compat_ptr(p->more[1])",
        "(void __user *)(unsigned long)from.id",
    ] {
        assert_eq!(makes(right), NONE, "{right}");
    }
}
