//! Accesses in what runs where no program's memory is there, and what the head of a loop's macro
//! calls in a window: forms that are wrong, and forms that are right.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "struct saver { struct work_struct work; struct timer_list timer; char buf[64]; size_t len; \
     const char __user *from; int ret; struct mm_struct *mm; };\n";

fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// A function that is handed a saver and runs later, by that call.
fn later(head: &str, body: &str, handed: &str) -> Vec<String> {
    rules(&format!(
        "{head}\n{{\n{body}}}\n\nlong save(struct saver *s, const char __user *from, size_t len)\n{{\n\
         \ts->from = from;\n\ts->len = min(len, sizeof(s->buf));\n\t{handed}\n\treturn run(s);\n}}\n"
    ))
}

const WORK: &str = "static void later(struct work_struct *work)";
const COPIES: &str = "\tstruct saver *s = container_of(work, struct saver, work);\n\n\
     \tif (copy_from_user(s->buf, s->from, s->len))\n\t\ts->ret = -EFAULT;\n";

#[test]
fn what_runs_later_accesses_nobodys_memory() {
    for (head, handed) in [
        (WORK, "INIT_WORK(&s->work, later);"),
        (WORK, "INIT_WORK_ONSTACK(&s->work, &later);"),
        (WORK, "INIT_DELAYED_WORK(&s->work, later);"),
        (WORK, "wiphy_work_init(&s->work, later);"),
        (
            "static void later(struct timer_list *work)",
            "timer_setup(&s->timer, later, 0);",
        ),
        (
            "static int later(void *work)",
            "s->task = kthread_run(later, s, \"saver\");",
        ),
        (
            "static irqreturn_t later(int irq, void *work)",
            "request_irq(s->irq, later, 0, \"saver\", s);",
        ),
        (
            "static irqreturn_t later(int irq, void *work)",
            "devm_request_irq(s->dev, s->irq, later, 0, \"saver\", s);",
        ),
    ] {
        assert_eq!(later(head, COPIES, handed), ["nobodys-memory"], "{handed}");
    }
    let helper = format!(
        "static void copy(struct saver *s)\n{{\n\tif (get_user(s->ret, (int __user *)s->from))\n\t\ts->ret = -EFAULT;\n}}\n{WORK}"
    );
    let calls = "\tstruct saver *s = container_of(work, struct saver, work);\n\n\tcopy(s);\n";
    assert_eq!(
        later(&helper, calls, "INIT_WORK(&s->work, later);"),
        ["nobodys-memory"]
    );
    let declared = format!("{WORK}\n{{\n{COPIES}}}\nstatic DECLARE_WORK(saver_work, later);\n");
    assert_eq!(rules(&declared), ["nobodys-memory"]);
}

#[test]
fn what_takes_memory_on_or_runs_at_once_may() {
    let lent = COPIES.replace("\n\n\tif", "\n\n\tkthread_use_mm(s->mm);\n\tif")
        + "\tkthread_unuse_mm(s->mm);\n";
    assert_eq!(later(WORK, &lent, "INIT_WORK(&s->work, later);"), NONE);
    let off =
        COPIES.replace("\n\n\tif", "\n\n\tpagefault_disable();\n\tif") + "\tpagefault_enable();\n";
    assert_eq!(later(WORK, &off, "INIT_WORK(&s->work, later);"), NONE);
    assert_eq!(later(WORK, COPIES, "later(&s->work);"), NONE);
    assert_eq!(
        later(
            WORK,
            COPIES,
            "INIT_WORK(&s->work, other);\n\tlater(&s->work);"
        ),
        NONE
    );
    let both = format!(
        "static void copy(struct saver *s)\n{{\n\tif (get_user(s->ret, (int __user *)s->from))\n\t\ts->ret = -EFAULT;\n}}\n{WORK}"
    );
    let calls = "\tstruct saver *s = container_of(work, struct saver, work);\n\n\tcopy(s);\n";
    assert_eq!(
        later(&both, calls, "INIT_WORK(&s->work, later);\n\tcopy(s);"),
        NONE
    );
}

fn window(head: &str, rest: &str) -> Vec<String> {
    rules(&format!(
        "{rest}\nint f(struct walk *w, u32 __user *p)\n{{\n\tu32 n = 0;\n\n\
         \tif (!user_write_access_begin(p, 4 * sizeof(*p)))\n\t\treturn -EFAULT;\n\
         \t{head} {{\n\t\tunsafe_put_user(n, &p[n], efault);\n\t\tn++;\n\t}}\n\
         \tuser_write_access_end();\n\treturn 0;\nefault:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}}\n"
    ))
}

#[test]
fn the_head_of_a_loops_macro_calls_in_a_window() {
    assert_eq!(window("walk_for_each_span(w)", ""), ["call-in-window"]);
    assert_eq!(window("list_for_each_of(w, n)", ""), ["call-in-window"]);
    let begins = "if (w)\n\t\twalk_for_each_span(w)";
    assert_eq!(window(begins, ""), ["call-in-window"]);
    for right in ["for (n = 0; n < 4;)", "while (n < 4)"] {
        assert_eq!(window(right, ""), NONE, "{right}");
    }
    let each = "#define walk_for_each_span(w) for ((w)->at = 0; (w)->at < 4; (w)->at++)\n";
    assert_eq!(window("walk_for_each_span(w)", each), NONE);
    let outside = "static int f(struct walk *w, u32 __user *p)\n{\n\twalk_for_each_span(w) {\n\
         \t\tif (!user_write_access_begin(p, sizeof(*p)))\n\t\t\treturn -EFAULT;\n\
         \t\tunsafe_put_user(1, p, efault);\n\t\tuser_write_access_end();\n\t}\n\treturn 0;\n\
         efault:\n\tuser_write_access_end();\n\treturn -EFAULT;\n}\n";
    assert_eq!(rules(outside), NONE);
}
