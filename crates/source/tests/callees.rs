//! Mistakes that lie in two functions at once: a helper of the file, and who calls it.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// What is said of a helper, and of a function of these statements that calls it.
fn rules(helper: &str, statements: &str) -> Vec<String> {
    let text = format!(
        "struct req {{ u32 cmd; u32 len; u8 kind; u32 id; }};\nstruct flat {{ u32 cmd; u32 len; }};\n{helper}\nlong f(struct dev *d, unsigned int cmd, struct req __user *arg, char __user *buf, size_t n)\n{{\n\tstruct req r;\n\tlong ret = 0;\n\n{statements}\n}}\n"
    );
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

const OUT: &str = "static int out(void __user *to, const void *from, size_t n)\n{\n\tif (copy_to_user(to, from, n))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
const IN: &str = "static int in(struct dev *d, void *to, const char __user *from, size_t n)\n{\n\td->seen++;\n\treturn copy_from_user(to, from, n) ? -EFAULT : 0;\n}\n";

#[test]
fn a_helper_that_sleeps_on_a_fault_is_one_that_sleeps() {
    for wrong in [
        "\tspin_lock(&d->lock);\n\tret = out(buf, d->buf, n);\n\tspin_unlock(&d->lock);\n\treturn ret;",
        "\trcu_read_lock();\n\tret = out(buf, rcu_dereference(d->buf), n);\n\trcu_read_unlock();\n\treturn ret;",
        "\tguard(spinlock_irqsave)(&d->lock);\n\treturn out(buf, d->buf, n);",
    ] {
        assert_eq!(rules(OUT, wrong), ["fault-in-atomic"], "{wrong}");
    }
    // The one lock is dropped while the other is held.
    let crosswise = "\tspin_lock_irq(&d->events);\n\tspin_lock(&d->lock);\n\td->seen++;\n\tspin_unlock(&d->events);\n\tret = out(buf, d->buf, n);\n\tspin_unlock_irq(&d->lock);\n\treturn ret;";
    assert_eq!(rules(OUT, crosswise), ["fault-in-atomic"]);
    let found = "\tstruct dev *own, *first = NULL;\n\n\tlist_for_each_entry(own, &d->list, node) {\n\t\tspin_lock(&own->lock);\n\t\tif (own->on) {\n\t\t\tfirst = own;\n\t\t\tbreak;\n\t\t}\n\t\tspin_unlock(&own->lock);\n\t}\n\tif (!first)\n\t\treturn -EAGAIN;\n\tspin_unlock(&first->lock);\n\tret = out(buf, first->buf, n);\n\tspin_lock(&first->lock);\n\tfirst->on = 0;\n\tspin_unlock(&first->lock);\n\treturn ret;";
    assert_eq!(rules(OUT, found), NONE);
    let renamed = "\tspinlock_t *lock = &d->lock;\n\n\tspin_lock(lock);\n\td->seen++;\n\tspin_unlock(&d->lock);\n\treturn out(buf, d->buf, n);";
    assert_eq!(rules(OUT, renamed), NONE);
    let twice = format!(
        "{OUT}static int more(struct dev *d, void __user *to)\n{{\n\treturn out(to, d->buf, 8);\n}}\n"
    );
    let wrong =
        "\tspin_lock(&d->lock);\n\tret = more(d, buf);\n\tspin_unlock(&d->lock);\n\treturn ret;";
    assert_eq!(rules(&twice, wrong), ["fault-in-atomic"]);
    // One that is looked into, for it has no access of its own.
    let reads = "static ssize_t out(struct file *file, char __user *to, size_t n, loff_t *at)\n{\n\treturn simple_read_from_buffer(to, n, at, file->private_data, 8);\n}\n";
    let held = "\tspin_lock(&d->lock);\n\tret = out(d->file, buf, n, &d->at);\n\tspin_unlock(&d->lock);\n\treturn ret;";
    assert_eq!(rules(reads, held), ["fault-in-atomic"]);
    let guarded = reads.replace("\treturn simple", "\tguard(pagefault)();\n\treturn simple");
    assert_eq!(rules(&guarded, held), NONE);
    let quiet = "static int out(void __user *to, const void *from, size_t n)\n{\n\tint ret;\n\n\tpagefault_disable();\n\tret = copy_to_user(to, from, n) ? -EFAULT : 0;\n\tpagefault_enable();\n\treturn ret;\n}\n";
    let unlocks = "static int out(struct dev *d, void __user *to, size_t n)\n{\n\tu32 v = d->v;\n\n\tspin_unlock(&d->lock);\n\treturn copy_to_user(to, &v, 4) ? -EFAULT : 0;\n}\n";
    for (helper, right) in [
        (
            OUT,
            "\tspin_lock(&d->lock);\n\tspin_unlock(&d->lock);\n\treturn out(buf, d->buf, n);",
        ),
        (
            OUT,
            "\tmutex_lock(&d->lock);\n\tret = out(buf, d->buf, n);\n\tmutex_unlock(&d->lock);\n\treturn ret;",
        ),
        (
            quiet,
            "\tspin_lock(&d->lock);\n\tret = out(buf, d->buf, n);\n\tspin_unlock(&d->lock);\n\treturn ret;",
        ),
        (unlocks, "\tspin_lock(&d->lock);\n\treturn out(d, buf, n);"),
        (
            unlocks,
            "\tspin_lock(&d->lock);\n\treturn out(d, buf, min(n, d->size));",
        ),
    ] {
        assert_eq!(rules(helper, right), NONE, "{right}");
    }
}

/// A function that only takes a lock was no lock to the rule.
#[test]
fn a_helper_that_leaves_a_lock_held_is_a_lock() {
    const ENTER: &str = "static void enter(struct dev *d)\n{\n\td->users++;\n\tspin_lock_irq(&d->lock);\n}\nstatic void leave(struct dev *d)\n{\n\tspin_unlock_irq(&d->lock);\n\td->users--;\n}\n";
    for wrong in [
        "\tenter(d);\n\tif (copy_to_user(buf, d->buf, n))\n\t\tret = -EFAULT;\n\tleave(d);\n\treturn ret;",
        "\tenter(d);\n\tret = out(buf, d->buf, n);\n\tleave(d);\n\treturn ret;",
        "\tenter(d);\n\tret = out(buf, d->buf, n);\n\tspin_unlock_irq(&d->lock);\n\treturn ret;",
    ] {
        let helpers = format!("{OUT}{ENTER}");
        assert_eq!(rules(&helpers, wrong), ["fault-in-atomic"], "{wrong}");
    }
    for right in [
        "\tenter(d);\n\td->seen = 1;\n\tleave(d);\n\treturn out(buf, d->buf, n);",
        "\tret = out(buf, d->buf, n);\n\tenter(d);\n\td->seen = 1;\n\tleave(d);\n\treturn ret;",
    ] {
        let helpers = format!("{OUT}{ENTER}");
        assert_eq!(rules(&helpers, right), NONE, "{right}");
    }
    // It does both, and what it holds on some way its caller may ask.
    let both = "static bool enter(struct dev *d)\n{\n\tspin_lock(&d->lock);\n\tif (d->on)\n\t\treturn true;\n\tspin_unlock(&d->lock);\n\treturn false;\n}\n";
    let asks =
        "\tif (!enter(d))\n\t\treturn out(buf, d->buf, n);\n\tspin_unlock(&d->lock);\n\treturn 0;";
    assert_eq!(rules(&format!("{OUT}{both}"), asks), NONE);
    let mutex = ENTER
        .replace("spin_lock_irq", "mutex_lock")
        .replace("spin_unlock_irq", "mutex_unlock");
    let held = "\tenter(d);\n\tret = out(buf, d->buf, n);\n\tleave(d);\n\treturn ret;";
    assert_eq!(rules(&format!("{OUT}{mutex}"), held), NONE);
}

/// A helper that is declared in front of its caller and stands behind it was not known.
#[test]
fn a_helper_may_stand_behind_its_caller() {
    let declared = |helper: &str| {
        let head = helper.split_once("\n{").unwrap().0;
        let text = format!(
            "{head};\nstruct dev;\nlong f(struct dev *d, char __user *buf, size_t n)\n{{\n\tlong ret;\n\n\tspin_lock(&d->lock);\n\tret = out(buf, d->buf, n);\n\tspin_unlock(&d->lock);\n\treturn ret;\n}}\n{helper}"
        );
        let found = mistakes::found(None, &text).into_iter();
        found.map(|(rule, _)| rule).collect::<Vec<_>>()
    };
    assert_eq!(declared(OUT), ["fault-in-atomic"]);
    let left = OUT.replace(
        "\tif (copy_to_user(to, from, n))\n\t\treturn -EFAULT;\n\treturn 0;",
        "\treturn is_same(to, from, n);",
    );
    assert_eq!(declared(&left), NONE);
}

/// guard() and scoped_guard() were no locks to the rule.
#[test]
fn nobody_sleeps_in_a_guard() {
    for wrong in [
        "\tguard(spinlock)(&d->lock);\n\treturn put_user(d->v, &arg->id);",
        "\tscoped_guard(raw_spinlock_irqsave, &d->lock) {\n\t\tret = put_user(d->v, &arg->id);\n\t}\n\treturn ret;",
        "\tscoped_guard (spinlock_irq, &d->lock)\n\t\tret = copy_to_user(buf, d->buf, n) ? -EFAULT : 0;\n\treturn ret;",
        "\tif (cmd) {\n\t\tguard(rcu)();\n\t\tif (get_user(ret, &arg->id))\n\t\t\treturn -EFAULT;\n\t}\n\treturn ret;",
        "\tspin_lock(&d->lock);\n\td->name = strndup_user(buf, 8);\n\tspin_unlock(&d->lock);\n\treturn PTR_ERR_OR_ZERO(d->name);",
    ] {
        assert_eq!(rules("", wrong), ["fault-in-atomic"], "{wrong}");
    }
    for right in [
        "\tguard(mutex)(&d->lock);\n\treturn put_user(d->v, &arg->id);",
        "\tscoped_guard(spinlock, &d->lock)\n\t\tret = d->v;\n\treturn put_user(ret, &arg->id);",
        "\tif (cmd) {\n\t\tguard(spinlock)(&d->lock);\n\t\tret = d->v;\n\t}\n\treturn put_user(ret, &arg->id);",
        "\tguard(spinlock)(&d->lock);\n\tguard(pagefault)();\n\treturn put_user(d->v, &arg->id);",
        "\tguard(srcu)(&d->srcu);\n\treturn put_user(d->v, &arg->id);",
    ] {
        assert_eq!(rules("", right), NONE, "{right}");
    }
}

#[test]
fn what_a_helper_copies_is_its_callers_to_get_right() {
    let plain = "\treturn out(buf, d->buf, n);";
    assert_eq!(rules(OUT, plain), NONE);
    assert_eq!(
        rules(OUT, "\treturn out(d->buf, buf, n);"),
        ["swapped-arguments"]
    );
    let sized = "\tstruct req *own = d->own;\n\n\treturn out(arg, own, sizeof(own));";
    assert_eq!(rules(OUT, sized), ["sizeof-pointer"]);
    let large = "\tchar line[16];\n\n\tmemset(line, 0, sizeof(line));\n\treturn in(d, line, buf, 20) ? 0 : run(line);";
    assert_eq!(rules(IN, large), ["beyond-variable"]);
    let fits = "\tchar line[32];\n\n\tret = in(d, line, buf, sizeof(line));\n\treturn ret ? ret : run(d, line);";
    assert_eq!(rules(IN, fits), NONE);
    // Who copies from the one or the other says nothing of which his caller means.
    let either = "static int in(bool user, void *to, const void *from, size_t n)\n{\n\tif (user)\n\t\treturn copy_from_user(to, (void __user *)from, n) ? -EFAULT : 0;\n\tmemcpy(to, from, n);\n\treturn 0;\n}\n";
    assert_eq!(
        rules(
            either,
            "\tret = in(false, d->buf, &d->v, 4);\n\treturn ret;"
        ),
        NONE
    );
}

#[test]
fn bytes_left_go_through_a_helper() {
    let left = "static unsigned long in(void *to, const void __user *from, size_t n)\n{\n\treturn copy_from_user(to, from, n);\n}\n";
    let wrong = "\tlong left = in(&d->req, arg, sizeof(d->req));\n\n\tif (left < 0)\n\t\treturn -EFAULT;\n\treturn run(d);";
    assert_eq!(rules(left, wrong), ["misread-result"]);
    let right = "\tif (in(&d->req, arg, sizeof(d->req)))\n\t\treturn -EFAULT;\n\treturn run(d);";
    assert_eq!(rules(left, right), NONE);
}

/// What a caller does with it was known of `return ret;` alone.
#[test]
fn bytes_left_go_up_however_a_caller_hands_them_on() {
    let left = "static long out(struct dev *d, char __user *to, size_t n)\n{\n\tlong ret = copy_to_user(to, d->buf, n);\n\n\tif (d->once && !ret)\n\t\td->seen = n;\n\treturn ret;\n}\n";
    let wrong = "\tif (!n)\n\t\treturn -EINVAL;\n\treturn out(d, buf, n);";
    assert_eq!(rules(left, wrong), ["misread-result"]);
    let kept = "\tif (!n)\n\t\treturn -EINVAL;\n\tret = out(d, buf, n);\n\tif (ret)\n\t\treturn -EFAULT;\n\treturn 0;";
    assert_eq!(rules(left, kept), NONE);
    let near = "static long out(struct dev *d, char __user *to, size_t n)\n{\n\tlong ret = lock(d);\n\n\tif (ret < 0)\n\t\treturn ret;\n\tret = copy_to_user(to, d->buf, n);\n\tunlock(d);\n\treturn ret;\n}\n";
    for wrong in [
        "\tsize_t done = 0;\n\n\tret = out(d, buf, n);\n\tif (ret < 0)\n\t\tgoto end;\n\tdone = n;\nend:\n\treturn done ? done : ret;",
        "\tret = out(d, buf, n);\n\treturn (int)ret;",
    ] {
        assert_eq!(rules(near, wrong), ["misread-result"], "{wrong}");
    }
}

#[test]
fn an_error_pointer_goes_through_a_helper() {
    let helper = "static void *text(const char __user *from, size_t n)\n{\n\tvoid *own;\n\n\tif (n > 64)\n\t\treturn ERR_PTR(-EINVAL);\n\town = memdup_user(from, n);\n\treturn own;\n}\n";
    let wrong =
        "\tchar *own = text(buf, n);\n\n\tif (!own)\n\t\treturn -ENOMEM;\n\treturn run(d, own);";
    assert_eq!(rules(helper, wrong), ["error-pointer"]);
    let right = wrong
        .replace("!own", "IS_ERR(own)")
        .replace("-ENOMEM", "PTR_ERR(own)");
    assert_eq!(rules(helper, &right), NONE);
    let cases = "\tswitch (cmd) {\n\tcase 1: {\n\t\tchar *own = text(buf, n);\n\n\t\tif (IS_ERR(own))\n\t\t\treturn PTR_ERR(own);\n\t\treturn run(d, own);\n\t}\n\tcase 2: {\n\t\tchar *own = text(buf, n);\n\n\t\tif (!own)\n\t\t\treturn -ENOMEM;\n\t\treturn run(d, own);\n\t}\n\t}\n\treturn 0;";
    assert_eq!(rules(helper, cases), ["error-pointer"]);
    // Of what may be either, both are to be asked.
    let either = helper.replace("ERR_PTR(-EINVAL)", "NULL");
    assert_eq!(rules(&either, wrong), ["error-pointer"]);
    assert_eq!(rules(&either, &right), NONE);
    let null = "static void *text(const char __user *from, size_t n)\n{\n\tvoid *own = kmalloc(n, GFP_KERNEL);\n\n\tif (!own)\n\t\treturn NULL;\n\tif (copy_from_user(own, from, n)) {\n\t\tkfree(own);\n\t\treturn NULL;\n\t}\n\treturn own;\n}\n";
    assert_eq!(rules(null, wrong), NONE);
    assert_eq!(rules(null, &right), ["error-pointer"]);
    let both = right.replace("IS_ERR(own)", "IS_ERR_OR_NULL(own)");
    assert_eq!(rules(null, &both), NONE);
    let asked = right.replace("IS_ERR(own)", "!own || IS_ERR(own)");
    assert_eq!(rules(null, &asked), NONE);
    let made = "static void *text(const char __user *from, size_t n)\n{\n\tint err = -ENOMEM;\n\tvoid *own = kmalloc(n, GFP_KERNEL);\n\n\tif (!own)\n\t\tgoto out;\n\tif (!copy_from_user(own, from, n))\n\t\treturn own;\n\terr = -EFAULT;\n\tkfree(own);\nout:\n\treturn ERR_PTR(err);\n}\n";
    assert_eq!(rules(made, wrong), ["error-pointer"]);
    assert_eq!(rules(made, &right), NONE);
    let string = "\tchar *own = text(buf, n);\n\n\tif (IS_ERR(own))\n\t\treturn PTR_ERR(own);\n\treturn strlen(own);";
    let bytes = helper.replace("n > 64", "!n");
    assert_eq!(rules(&bytes, string), ["unterminated-string"]);
}

#[test]
fn an_address_of_the_users_is_no_pointer_of_the_kernels() {
    let sum = "static u32 sum(const struct req *own)\n{\n\tif (!own->len)\n\t\treturn 0;\n\treturn own->cmd + own->id;\n}\n";
    let wrong =
        "\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\treturn sum(arg);";
    assert_eq!(rules(sum, wrong), ["user-pointer-dereferenced"]);
    assert_eq!(rules(sum, &wrong.replace("sum(arg)", "sum(&r)")), NONE);
    let copied = "\td->user.at = memdup_user(d->user.at, 8);\n\tif (IS_ERR(d->user.at))\n\t\treturn PTR_ERR(d->user.at);\n\treturn sum(d->user.at);";
    let user = format!("struct dev {{ struct {{ struct req __user *at; }} user; }};\n{sum}");
    assert_eq!(rules(&user, copied), NONE);
    assert_eq!(
        rules(
            &user,
            "\tret = put_user(1, &arg->id);\n\treturn ret ?: sum(d->user.at);"
        ),
        ["user-pointer-dereferenced"]
    );
    for helper in [
        "static u32 sum(const void *own)\n{\n\treturn hash(own);\n}\n",
        "static u32 sum(const struct req __user *own)\n{\n\tu32 v;\n\n\treturn get_user(v, &own->len) ? 0 : v;\n}\n",
        "static u32 sum(void *own)\n{\n\tstruct req __user *user = own;\n\tu32 v;\n\n\treturn get_user(v, &user->len) ? 0 : v;\n}\n",
        "static unsigned long sum(struct req *own)\n{\n\treturn (unsigned long)&own->len;\n}\n",
    ] {
        assert_eq!(rules(helper, wrong), NONE, "{helper}");
    }
}

#[test]
fn what_a_helper_asked_of_the_users_is_not_fetched_again() {
    let whole = "static int judge(struct req __user *from)\n{\n\tstruct req own;\n\n\tif (copy_from_user(&own, from, sizeof(own)))\n\t\treturn -EFAULT;\n\tif (own.len > 64)\n\t\treturn -EINVAL;\n\treturn 0;\n}\n";
    let member = "static bool judge(struct dev *d, struct req __user *from)\n{\n\tu32 len;\n\n\tif (get_user(len, &from->len))\n\t\treturn true;\n\treturn len > d->most;\n}\n";
    let handed = "static int judge(struct req __user *from)\n{\n\tstruct req own;\n\n\tif (copy_from_user(&own, from, sizeof(own)))\n\t\treturn -EFAULT;\n\treturn is_right(&own) ? 0 : -EINVAL;\n}\n";
    let with = |call: &str, used: &str| {
        format!(
            "\tret = {call};\n\tif (ret)\n\t\treturn ret;\n\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\t{used}\n"
        )
    };
    let aliased = whole
        .replace(
            "\tstruct req own;\n",
            "\tvoid __user *at = (void __user *)from;\n\tstruct req own;\n",
        )
        .replace("&own, from", "&own, at");
    for (helper, call) in [
        (whole, "judge(arg)"),
        (&aliased, "judge(arg)"),
        (member, "judge(d, arg)"),
        (handed, "judge(arg)"),
    ] {
        let used = "return fill(d->buf, r.len);";
        assert_eq!(
            rules(helper, &with(call, used)),
            ["double-fetch"],
            "{helper}"
        );
        let kept = "if (!(r.len > 64))\n\t\treturn fill(d->buf, r.len);\n\treturn 0;";
        if helper != handed {
            assert_eq!(rules(helper, &with(call, kept)), NONE, "{helper}");
        }
        let again =
            "if (r.len > 64 || !is_right(&r))\n\t\treturn -EINVAL;\n\treturn fill(d->buf, r.len);";
        assert_eq!(rules(helper, &with(call, again)), NONE, "{helper}");
    }
    assert_eq!(rules(whole, &with("judge(arg)", "return r.id;")), NONE);
    // A caller's variable may have the name of another parameter.
    let named = whole.replace(
        "struct req __user *from",
        "struct req __user *from, struct req __user *arg",
    );
    let used = "return fill(d->buf, r.len);";
    assert_eq!(
        rules(&named, &with("judge(arg, d->other)", used)),
        ["double-fetch"]
    );
    assert_eq!(rules(&named, &with("judge(d->other, arg)", used)), NONE);
    assert_eq!(rules(handed, &with("judge(arg)", "return 0;")), NONE);
    // What is fetched again is used in another function.
    let uses = "static int run_it(struct dev *d, struct req *own)\n{\n\treturn fill(d->buf, own->len);\n}\n";
    let twice = "\tstruct req *own = &d->req;\n\n\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tif (r.len > 64)\n\t\treturn -EINVAL;\n\tif (copy_from_user(own, arg, sizeof(*own)))\n\t\treturn -EFAULT;\n\treturn run_it(d, own);";
    assert_eq!(rules(uses, twice), ["double-fetch"]);
    assert_eq!(rules(&uses.replace("own->len", "own->id"), twice), NONE);
    // A function of another file has it all.
    assert_eq!(rules("", twice), ["double-fetch"]);
    assert_eq!(
        rules(whole, &with("judge(d->other)", "return r.len;")),
        NONE
    );
}

#[test]
fn what_a_helper_fills_is_filled_and_no_more() {
    let fill = "static void fill(struct dev *d, struct req *own)\n{\n\town->cmd = d->cmd;\n\town->len = d->len;\n\town->kind = 1;\n\town->id = d->id;\n}\n";
    let call = "\tfill(d, &r);\n\treturn copy_to_user(arg, &r, sizeof(r)) ? -EFAULT : 0;";
    assert_eq!(rules(fill, call), ["copied-holes"]);
    let part = fill.replace("\town->id = d->id;\n", "");
    assert_eq!(rules(&part, call), ["copied-holes"]);
    for right in [
        fill.replace(
            "\town->cmd = d->cmd;\n",
            "\tmemset(own, 0, sizeof(*own));\n",
        ),
        fill.replace("\town->cmd = d->cmd;\n", "\t*own = d->req;\n"),
        fill.replace("\town->cmd = d->cmd;\n", "\tinit(own);\n"),
    ] {
        assert_eq!(rules(&right, call), NONE, "{right}");
    }
    let twice = call.replace(
        "\treturn copy",
        "\tif (cmd)\n\t\treturn copy_to_user(buf, &r, 4) ? -EFAULT : 0;\n\treturn copy",
    );
    assert_eq!(rules(&part, &twice), ["copied-holes"]);
    // Each block has its own.
    let blocks = "\tif (cmd) {\n\t\tstruct req v;\n\n\t\tmemset(&v, 0, sizeof(v));\n\t\treturn copy_to_user(arg, &v, sizeof(v)) ? -EFAULT : 0;\n\t} else {\n\t\tstruct flat v;\n\n\t\tmemset(&v, 0, sizeof(v));\n\t\treturn copy_to_user(arg, &v, sizeof(v)) ? -EFAULT : 0;\n\t}";
    assert_eq!(rules("", blocks), NONE);
    let forgot = "\t\tstruct flat v;\n\n\t\tv.cmd = 3;\n";
    let second = blocks.replace(
        "\t\tstruct flat v;\n\n\t\tmemset(&v, 0, sizeof(v));\n",
        forgot,
    );
    assert_eq!(rules("", &second), ["copied-holes"]);
    // On every way, where nothing tells which it was.
    let seldom = fill.replace(
        "\town->kind = 1;\n",
        "\tif (d->kind)\n\t\town->kind = d->kind;\n",
    );
    let flat_call = "\tstruct flat own;\n\n\tfill(d, &own);\n\treturn copy_to_user(buf, &own, sizeof(own)) ? -EFAULT : 0;";
    assert_eq!(rules(&seldom, call), ["copied-holes"]);
    let seldom = "static void fill(struct dev *d, struct flat *own)\n{\n\town->cmd = d->cmd;\n\tif (d->len)\n\t\town->len = d->len;\n}\n";
    assert_eq!(rules(seldom, flat_call), ["copied-holes"]);
    let both = seldom.replace(
        "\t\town->len = d->len;\n",
        "\t\town->len = d->len;\n\telse\n\t\town->len = 8;\n",
    );
    assert_eq!(rules(&both, flat_call), NONE);
    let told = seldom
        .replace("static void", "static int")
        .replace("d->len;\n}", "d->len;\n\treturn d->len ? 0 : -EIO;\n}");
    assert_eq!(rules(&told, flat_call), NONE);
    let flat = "static void fill(struct dev *d, struct flat *own)\n{\n\town->cmd = d->cmd;\n\town->len = d->len;\n}\n";
    let call = "\tstruct flat own;\n\n\tfill(d, &own);\n\treturn copy_to_user(buf, &own, sizeof(own)) ? -EFAULT : 0;";
    assert_eq!(rules(flat, call), NONE);
    let half = flat.replace("\town->len = d->len;\n", "");
    assert_eq!(rules(&half, call), ["copied-holes"]);
    let rest = call.replace("\tfill(d, &own);\n", "\tfill(d, &own);\n\town.len = 3;\n");
    assert_eq!(rules(&half, &rest), NONE);
}

/// Only a function that nothing in its file calls was held to have its numbers from the user.
#[test]
fn a_number_of_the_users_is_no_less_his_in_a_helper() {
    let with = |caller: &str| {
        format!(
            "static int value(const char __user *from, size_t n)\n{{\n\tchar line[8];\n\n\tif (copy_from_user(line, from, n))\n\t\treturn -EFAULT;\n\treturn line[0] == '1';\n}}\nstatic ssize_t store(struct file *file, const char __user *from, size_t n, loff_t *at)\n{{\n{caller}\n}}\nstatic const struct file_operations ops = {{ .write = store }};\n"
        )
    };
    let said = |text: &str| {
        let found = mistakes::found(None, text).into_iter();
        found.map(|(rule, _)| rule).collect::<Vec<_>>()
    };
    for wrong in [
        "\tint on = value(from, n);\n\n\treturn on < 0 ? on : n;",
        "\tif (!n)\n\t\treturn -EINVAL;\n\treturn value(from + *at, n);",
    ] {
        assert_eq!(said(&with(wrong)), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "\tif (n > 8)\n\t\treturn -EINVAL;\n\treturn value(from, n);",
        "\treturn value(from, min(n, 8));",
        "\treturn value(from, 4);",
    ] {
        assert_eq!(said(&with(right)), NONE, "{right}");
    }
}

/// What a caller has copied from the user into a struct is the user's in a helper, too.
#[test]
fn an_index_of_the_users_is_no_less_his_behind_a_pointer() {
    let with = |helper: &str, check: &str| {
        let helper = format!(
            "struct dev {{ struct port *ports[8]; }};\nstatic int pick(struct dev *d, const struct req *own, u32 __user *to)\n{{\n{helper}\treturn put_user(d->ports[own->id]->state, to);\n}}\n"
        );
        let caller = format!(
            "\tif (copy_from_user(&r, arg, sizeof(r)))\n\t\treturn -EFAULT;\n{check}\treturn pick(d, &r, &arg->len);"
        );
        rules(&helper, &caller)
    };
    assert_eq!(with("", ""), ["unbounded-index"]);
    assert_eq!(with("", "\tif (r.id >= 8)\n\t\treturn -EINVAL;\n"), NONE);
    assert_eq!(with("\tif (own->id >= 8)\n\t\treturn -EINVAL;\n", ""), NONE);
    let size = "static int set(struct dev *d, void __user *from, size_t n)\n{\n\tstruct flat own;\n\n\tmemset(&own, 0, sizeof(own));\n\treturn copy_from_user(&own, from, n) ? -EFAULT : run(d, &own);\n}\n";
    let told = |caller: &str| rules(size, caller);
    assert_eq!(
        told("\tsize_t size = _IOC_SIZE(cmd);\n\n\treturn set(d, buf, size);"),
        ["beyond-variable"]
    );
    assert_eq!(
        told(
            "\tsize_t size = _IOC_SIZE(cmd);\n\n\tif (size > 8)\n\t\treturn -EINVAL;\n\treturn set(d, buf, size);"
        ),
        NONE
    );
    assert_eq!(
        told(
            "\tswitch (cmd) {\n\tcase 7:\n\t\treturn set(d, buf, _IOC_SIZE(cmd));\n\t}\n\treturn -ENOTTY;"
        ),
        NONE
    );
}

#[test]
fn a_variable_that_a_helper_sets_at_times_only_does_not_go_out() {
    let with = |helper: &str| {
        let helper = format!("static void ask(struct dev *d, u32 *to)\n{{\n{helper}\n}}\n");
        rules(
            &helper,
            "\tu32 v;\n\n\task(d, &v);\n\treturn put_user(v, &arg->id);",
        )
    };
    assert_eq!(with("\tif (d->on)\n\t\t*to = d->id;"), ["copied-holes"]);
    assert_eq!(
        with("\tif (!d->on)\n\t\treturn;\n\t*to = d->id;"),
        ["copied-holes"]
    );
    assert_eq!(with("\t*to = d->on ? d->id : 0;"), NONE);
    assert_eq!(
        with("\tif (d->on)\n\t\t*to = d->id;\n\telse\n\t\t*to = 0;"),
        NONE
    );
    assert_eq!(with("\tif (d->on)\n\t\t*to = d->id;\n\tfix(to);"), NONE);
}

#[test]
fn what_a_helper_turns_around_is_tested_so() {
    let helper = "static bool get(struct req *to, struct req __user *from)\n{\n\treturn !copy_from_user(to, from, sizeof(*to));\n}\n";
    let wrong = "\tif (get(&r, arg))\n\t\treturn -EFAULT;\n\treturn run(&r);";
    assert_eq!(rules(helper, wrong), ["inverted-test"]);
    assert_eq!(rules(helper, &wrong.replace("get(", "!get(")), NONE);
    let fails = "\tif (!out(buf, d->buf, n))\n\t\treturn -EFAULT;\n\treturn n;";
    assert_eq!(rules(OUT, fails), ["inverted-test"]);
    let plain = helper.replace("!copy", "copy");
    assert_eq!(rules(&plain, wrong), NONE);
}

#[test]
fn memory_that_a_function_allocates_is_judged_as_its_stack() {
    let fill = "static void fill(struct dev *d, struct req *own)\n{\n\town->cmd = d->cmd;\n\town->len = d->len;\n\town->kind = 1;\n\town->id = d->id;\n}\n";
    let heap = "\tstruct req *own = kmalloc(sizeof(*own), GFP_KERNEL);\n\n\tif (!own)\n\t\treturn -ENOMEM;\n\tfill(d, own);\n\tret = copy_to_user(arg, own, sizeof(*own)) ? -EFAULT : 0;\n\tkfree(own);\n\treturn ret;";
    assert_eq!(rules(fill, heap), ["copied-holes"]);
    assert_eq!(rules(fill, &heap.replace("kmalloc", "kzalloc")), NONE);
    let line = "\tfill(d, own);\n";
    assert_eq!(
        rules(
            fill,
            &heap.replace(line, "\tmemset(own, 0, sizeof(*own));\n\tfill(d, own);\n")
        ),
        NONE
    );
    assert_eq!(
        rules(
            fill,
            &heap.replace(line, "\tother(d, own);\n\tfill(d, own);\n")
        ),
        NONE
    );
    assert_eq!(rules(fill, &heap.replace(line, "\tfill(d, own);\n\tif (copy_from_user(own, arg, sizeof(*own))) {\n\t\tkfree(own);\n\t\treturn -EFAULT;\n\t}\n")), NONE);
    assert_eq!(
        rules(
            fill,
            &heap.replace(line, "\td->last = own;\n\tupdate(d);\n")
        ),
        NONE
    );
}

/// Functions that call each other were asked without end.
#[test]
fn a_ring_of_functions_comes_to_an_end() {
    let ring = |n: usize| {
        let one = |at: usize| {
            let next = (at + 1) % n;
            format!(
                "static int f{at}(struct dev *d, struct req *own, u32 __user *to, size_t n)\n{{\n\tchar line[8];\n\n\tspin_lock(&d->lock);\n\tf{next}(d, own, to, n);\n\tspin_unlock(&d->lock);\n\tif (copy_from_user(line, to, n))\n\t\treturn -EFAULT;\n\treturn put_user(d->ports[own->id]->state, to);\n}}\n"
            )
        };
        (0..n).map(one).collect::<String>()
    };
    for n in [1, 2, 7, 40] {
        let said = rules(&ring(n), "\treturn f0(d, &r, &arg->id, n);");
        for rule in &said {
            let times = said.iter().filter(|own| *own == rule).count();
            assert!(times <= n, "{rule} {times} times of {n} functions");
        }
    }
    // Each calls all of the next level.
    let level = |at: usize| {
        let call = |next: usize| format!("\tg{}_{next}(d, own, to, n);\n", at + 1);
        let calls = (0..12).map(call).collect::<String>();
        let one = |own: usize| {
            format!(
                "static void g{at}_{own}(struct dev *d, struct req *own, u32 __user *to, size_t n)\n{{\n\tchar line[8];\n\n\tspin_lock(&d->lock);\n{calls}\tspin_unlock(&d->lock);\n\tif (!copy_from_user(line, to, n))\n\t\tput_user(d->ports[own->id]->state, to);\n}}\n"
            )
        };
        (0..12).map(one).collect::<String>()
    };
    let wide = (0..6).rev().map(level).collect::<String>();
    assert!(rules(&wide, "\tg0_0(d, &r, &arg->id, n);\n\treturn 0;").len() <= 72);
}

/// Who is declared to take an address of the user's will access it.
#[test]
fn who_takes_the_users_address_may_sleep() {
    let with = |declared: &str, used: &str| {
        let text = format!(
            "{declared}\n\nint walk(struct dev *d, struct list __user *to, int n)\n{{\n\tint err = 0;\n\n\tif (!n)\n\t\treturn put_user(0, &to->count);\n{used}\n\treturn err;\n}}\n"
        );
        let found = mistakes::found(None, &text).into_iter();
        found.map(|(rule, _)| rule).collect::<Vec<String>>()
    };
    let takes = "int dump(struct dev *d, struct list __user *to);";
    let wrong = "\tspin_lock(&d->lock);\n\terr = dump(d, to);\n\tspin_unlock(&d->lock);";
    for wrong in [
        wrong,
        "\trcu_read_lock();\n\tlist_for_each_entry_rcu(own, &d->all, list) {\n\t\terr = dump(own, to + err);\n\t\tif (err < 0)\n\t\t\tbreak;\n\t}\n\trcu_read_unlock();",
        "\tscoped_guard(spinlock, &d->lock) {\n\t\terr = dump(d, n ? to : to + 1);\n\t}",
    ] {
        assert_eq!(with(takes, wrong), ["fault-in-atomic"], "{wrong}");
    }
    for right in [
        &wrong.replace("dump(d, to)", "dump(d, NULL)"),
        "\tspin_lock(&d->lock);\n\td->on = 1;\n\tspin_unlock(&d->lock);\n\terr = dump(d, to);",
        &wrong.replace("\terr", "\tpagefault_disable();\n\terr"),
        // Code relies on it that a fault fails there, and another's lock is none of the fault's.
        "\tpreempt_disable();\n\terr = dump(d, to);\n\tpreempt_enable();",
        "\tmmap_read_lock(d->mm);\n\terr = dump(d, to);\n\tmmap_read_unlock(d->mm);",
        &wrong.replace("dump(d, to)", "d->dump(d, to)"),
    ] {
        assert_eq!(with(takes, right), NONE, "{right}");
    }
    for declared in [
        "",
        "#define dump(d, to) note(d, (unsigned long)(to))",
        "int dump(struct dev *d, unsigned long to);",
    ] {
        assert_eq!(with(declared, wrong), NONE, "{declared}");
    }
    let signal = "int force_sig_fault(int sig, void __user *addr);";
    let held = wrong.replace("dump(d, to)", "force_sig_fault(7, to)");
    assert_eq!(with(signal, &held), NONE);
}
