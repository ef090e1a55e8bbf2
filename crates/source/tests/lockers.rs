//! Locks that an inline function of a header takes for its caller, or lets go.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use tollgate_source::check::{CheckWords, Checker, Learned};
use tollgate_source::{Headers, TreePath, Vocabulary, no_tree};

/// What the rules say of a function of these statements whose headers are those.
fn rules(headers: &[&str], statements: &str) -> Vec<String> {
    let vocabulary = Vocabulary::builtin().unwrap();
    let no_headers = Headers::new(&no_tree).unwrap();
    let words = CheckWords::builtin().unwrap();
    let checker = Checker::new(&vocabulary, &words, &no_headers).unwrap();
    let lessons = headers.iter().map(|text| checker.learn(text.as_bytes()));
    let learned = lessons.fold(Learned::default(), |mut all, own| {
        all.merge(own);
        all
    });
    let words = words.with(&learned);
    let text = format!(
        "long f(struct dev *d, u32 __user *p, u32 v)\n{{\n\tlong ret = 0;\n\n{statements}\n}}\n"
    );
    let mut checker = Checker::new(&vocabulary, &words, &no_headers).unwrap();
    let found = checker.check(&TreePath::within("a.c"), text.as_bytes());
    let mut found: Vec<String> = found.violations.into_iter().map(|own| own.rule).collect();
    found.dedup();
    found
}

const NONE: [&str; 0] = [];

const STOP: &str = "static inline void dev_stop(struct dev *d)\n{\n\td->stopped = true;\n\tspin_lock_irq(&d->lock);\n}\n";
const GO: &str =
    "static __always_inline void dev_go(struct dev *d)\n{\n\tspin_unlock_irq(&d->lock);\n}\n";
const INSIDE: &str = "\tdev_stop(d);\n\tret = put_user(d->v, p);\n\tdev_go(d);\n\treturn ret;";

#[test]
fn an_access_under_a_lock_that_a_header_takes() {
    let own = format!("{STOP}{GO}");
    assert_eq!(rules(&[&own], INSIDE), ["fault-in-atomic"]);
    assert_eq!(rules(&[STOP, GO], INSIDE), ["fault-in-atomic"]);
    let behind = INSIDE.replace("\tdev_go(d);\n", "").replace(
        "\tret = put_user",
        "\tv = d->v;\n\tdev_go(d);\n\tret = put_user",
    );
    assert_eq!(rules(&[&own], &behind), NONE);
    assert_eq!(rules(&[], INSIDE), NONE);
}

#[test]
fn a_mutex_that_a_header_takes_is_kept_where_a_fault_leaves() {
    let own = "static inline int dev_enter(struct dev *d)\n{\n\treturn mutex_lock_interruptible(&d->lock);\n}\nstatic inline void dev_leave(struct dev *d)\n{\n\tmutex_unlock(&d->lock);\n}\n";
    let wrong = "\tif (dev_enter(d))\n\t\treturn -EINTR;\n\tif (get_user(v, p))\n\t\treturn -EFAULT;\n\td->v = v;\n\tdev_leave(d);\n\treturn ret;";
    let right = wrong.replace("\t\treturn -EFAULT;", "\t\tret = -EFAULT;");
    assert_eq!(rules(&[own], wrong), ["kept-lock"]);
    assert_eq!(rules(&[own], &right), NONE);
}

#[test]
fn what_a_header_does_that_cannot_be_told_is_left_alone() {
    let quiet = STOP.replace("d->stopped = true;", "pagefault_disable();");
    let both = STOP.replace("d->stopped = true;", "mutex_lock(&d->other);");
    let other = STOP.replace("spin_lock_irq", "mutex_lock");
    // What ends it may be anything.
    assert_eq!(rules(&[STOP], INSIDE), NONE);
    assert_eq!(rules(&[&quiet, GO], INSIDE), NONE);
    assert_eq!(rules(&[&both, GO], INSIDE), NONE);
    // Another header has another function of that name.
    assert_eq!(rules(&[STOP, &other, GO], INSIDE), NONE);
    // What is no inline function of it may be of another file.
    let extern_stop = STOP.replace("static inline ", "");
    assert_eq!(rules(&[&extern_stop, GO], INSIDE), NONE);
}

#[test]
fn a_function_of_the_file_hides_that_of_a_header() {
    let own = format!("{STOP}{GO}");
    let statements = format!("{INSIDE}\n}}\nstatic void dev_stop(struct dev *d)\n{{\n\td->v++;");
    assert_eq!(rules(&[&own], &statements), NONE);
}
