//! A static function whose accesses happen in a window of its callers: what is written, and
//! why nothing is.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use std::io;

use tollgate_rewrite::{Request, Target, UACCESS, fix};
use tollgate_source::TreePath;

#[path = "fixing/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod fixing;

use fixing::{HEADER, fix_in};

const HEAD: &str = "#include <linux/uaccess.h>

struct regs {
	unsigned long pc;
	unsigned long sp;
	unsigned long all[4];
};

struct context {
	unsigned long pc;
	unsigned long sp;
	unsigned long all[4];
	unsigned long mask;
};

struct frame {
	int signal;
	void __user *info;
	struct context context;
};

";

fn request() -> Request {
    Request {
        into_callers: true,
        stop_at_first_fault: true,
        ..Request::default()
    }
}

const OR: &str = "static int save(struct context __user *sc, struct regs *regs, unsigned long mask)
{
	int err = 0;

	/* What the handler sees. */
	err |= __put_user(regs->pc, &sc->pc);
	err |= __put_user(regs->sp, &sc->sp);
	err |= __put_user(regs->all[0], &sc->all[0]);
	err |= __put_user(mask, &sc->mask);

	return err;
}
";

const SETUP: &str = "static int setup(struct frame __user *frame, struct regs *regs, int signal)
{
	int err = 0;

	err |= __put_user(signal, &frame->signal);
	err |= save(&frame->context, regs, 7);
	if (err)
		return -EFAULT;
	return 0;
}
";

/// One that reads, and is called twice in a run and once alone.
const FETCH: &str = "/* The next one of a list. */
static inline int save(unsigned long *next, struct context __user **head, unsigned int *bit)
{
	unsigned long entry;

	if (get_user(entry, (unsigned long __user *)head))
		return -EFAULT;

	*next = entry & ~1UL;
	*bit = entry & 1;

	return 0;
}
";

const LIST: &str = "struct list {
	struct context __user *first;
	long offset;
	struct context __user *pending;
};

static void walk(struct list __user *list)
{
	unsigned long first, pending;
	unsigned int bit, last;
	long offset;

	if (save(&first, &list->first, &bit))
		return;
	/* Where the word is. */
	if (get_user(offset, &list->offset))
		return;
	if (save(&pending, &list->pending, &last))
		return;
	visit(first, offset, pending);
}

static int next(struct context __user **head)
{
	unsigned long entry;
	unsigned int bit;

	return save(&entry, head, &bit);
}
";

const LOOP: &str = "static long
save(struct context __user *sc, struct regs *regs)
{
	long i, err = 0;

	if (!access_ok(sc, sizeof(*sc)))
		return -EFAULT;
	for (i = 0; i < 4; i++)
		err |= __put_user(i, sc->all + i);
	if (regs->pc) {
		err |= __put_user(regs->pc, &sc->pc) | __put_user(regs->sp, &sc->sp);
	}
	return err;
}
";

fn shown(helper: &str, rest: &str, request: &Request) -> String {
    let text = format!("{HEAD}{helper}\n{rest}");
    match fix_in(&text, "save", request) {
        Ok(patched) => {
            let text = String::from_utf8(patched.rewritten).unwrap();
            let text = text.strip_prefix(HEAD).unwrap();
            format!("{}\n\n{}\n{text}", patched.subject, patched.body)
        }
        Err(error) => format!("{error}\n"),
    }
}

#[test]
fn accesses_of_a_function_and_beside_it_share_a_window() {
    insta::assert_snapshot!(shown(OR, SETUP, &request()));
}

#[test]
fn a_function_that_others_call_too_opens_a_window_of_its_own() {
    let plain = Request {
        into_callers: true,
        ..Request::default()
    };
    insta::assert_snapshot!(shown(FETCH, LIST, &plain));
}

#[test]
fn a_loop_and_a_condition_stay_in_the_window() {
    let open = Request {
        open_over_rounds: true,
        ..request()
    };
    let setup = SETUP.replace(", regs, 7)", ", regs)");
    insta::assert_snapshot!(shown(LOOP, &setup, &open));
}

/// What is changed in a function that has a patch, and what is said then.
const REFUSED: &[(&str, &str, &str)] = &[
    ("static int save(", "int save(", "it is no static function"),
    (
        "static int save(",
        "static bool save(",
        "it is no static function",
    ),
    (
        "\terr |= __put_user(mask",
        "#ifdef CONFIG_X\n#endif\n\terr |= __put_user(mask",
        "a preprocessor line",
    ),
    (
        "&sc->mask",
        "&sc[1].mask",
        "the range of &sc[1].mask is not known",
    ),
    (
        "&sc->mask",
        "&regs->mask",
        "the accesses are to different objects (regs, sc)",
    ),
    (
        "(mask, &sc",
        "(current_mask(regs), &sc",
        "the argument calls current_mask()",
    ),
    (
        "(mask, &sc",
        "(mask++, &sc",
        "an argument has a side effect",
    ),
    (
        "regs->all[0]",
        "regs->all[mask]",
        "an index into regs->all is checked by a call",
    ),
    (
        "\treturn err;",
        "\tflush(regs);\n\treturn err;",
        "something is called between the accesses",
    ),
    (
        "\treturn err;",
        "\treturn err ? -EINVAL : 0;",
        "an access uses err",
    ),
    (
        "\treturn err;",
        "\tif (mask)\n\t\treturn -EINVAL;\n\treturn err;",
        "it gives return -EINVAL;",
    ),
    (
        "\terr |= __put_user(mask",
        "\terr = __put_user(mask",
        "the statement does more than access",
    ),
    (
        "err |= __put_user(mask",
        "err |= __get_user(mask",
        "it reads and writes",
    ),
    (
        "\tint err = 0;\n\n",
        "\tint err = 0;\n\n\tsc = other(sc);\n",
        "the range of sc is not known",
    ),
    (
        "\terr |= __put_user(mask, &sc->mask);\n",
        "\t__put_user(mask, &sc->mask);\n",
        "the statement does more than access",
    ),
    (
        "int err = 0;",
        "static int err = 0;",
        "err may hold an error from before",
    ),
    (
        "\terr |= __put_user(mask",
        "\tregs->pc = err;\n\terr |= __put_user(mask",
        "an access uses err",
    ),
    (
        "\treturn err;\n}\n",
        "\treturn err;\n}\n\nstatic int save(struct context __user *sc)\n{\n\treturn put_user(1, &sc->pc);\n}\n",
        "the file defines it 2 times",
    ),
];

#[test]
fn what_a_window_of_callers_may_not_hold_is_refused() {
    for (was, now, wanted) in REFUSED {
        let helper = OR.replacen(was, now, 1);
        assert_ne!(helper, OR, "{was}");
        let said = shown(&helper, SETUP, &request());
        assert!(said.contains(wanted), "{now}: {said}");
    }
}

/// The same of the caller.
const CALLERS: &[(&str, &str, &str)] = &[
    (
        "save(&frame->context, regs, 7)",
        "save(&frame->context, next(regs), 7)",
        "the argument calls next()",
    ),
    (
        "save(&frame->context, regs, 7)",
        "save(&frame->context, regs, signal++)",
        "an argument has a side effect",
    ),
    (
        "save(&frame->context, regs, 7)",
        "save((void __user *)&frame->signal, regs, 7)",
        "is not known, so no begin can check it",
    ),
    (
        "save(&frame->context, regs, 7)",
        "save(&frame->info, regs, 7)",
        "the range of &frame->info is not known",
    ),
    (
        "err |= save",
        "flush(regs);\n\terr |= save",
        "no caller behind it has an access beside a call of it",
    ),
];

#[test]
fn a_call_that_may_not_be_made_in_a_window_stays() {
    for (was, now, wanted) in CALLERS {
        let caller = SETUP.replacen(was, now, 1);
        assert_ne!(caller, SETUP, "{was}");
        let said = shown(OR, &caller, &request());
        assert!(said.contains(wanted), "{now}: {said}");
    }
}

#[test]
fn a_caller_before_the_function_keeps_its_call() {
    let text = format!(
        "static int save(struct context __user *, struct regs *, unsigned long);\n\n{SETUP}\n{OR}"
    );
    let said = fix_in(&format!("{HEAD}{text}"), "save", &request()).unwrap_err();
    assert!(said.to_string().contains("no caller behind it"), "{said}");
}

#[test]
fn a_name_in_a_macro_keeps_the_function() {
    let rest = format!("#define SAVE(sc) save(sc, NULL, 0)\n\n{SETUP}");
    let said = shown(OR, &rest, &request());
    assert!(
        said.contains("save() stays for calls that have no window"),
        "{said}"
    );
    assert!(said.contains("\nstatic int save(struct context"), "{said}");
}

#[test]
fn what_goes_on_after_a_fault_is_asked_for() {
    let plain = Request {
        into_callers: true,
        ..Request::default()
    };
    let said = shown(OR, SETUP, &plain);
    assert!(said.contains("--stop-at-first-fault"), "{said}");
}

#[test]
fn an_index_stays_where_objtool_looks_for_no_call() {
    let helper = OR.replace("regs->all[0]", "regs->all[mask]");
    let text = format!("{HEAD}{helper}\n{SETUP}");
    let said = |selects: &str| {
        let tree = |path: &TreePath| match &*path.lossy() {
            UACCESS => Ok(HEADER.as_bytes().to_vec()),
            "arch/a/f.c" => Ok(text.as_bytes().to_vec()),
            "arch/a/Kconfig" => Ok(format!("config A\n\tdef_bool y\n{selects}").into_bytes()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        let target = Target {
            path: TreePath::within("arch/a/f.c"),
            function: "save".to_owned(),
        };
        fix(&tree, &target, &request()).map_err(|error| error.to_string())
    };
    let refused = said("\tselect HAVE_UACCESS_VALIDATION if HAVE_OBJTOOL\n").unwrap_err();
    assert!(refused.contains("an index into regs->all"), "{refused}");
    let patched = said("").unwrap();
    assert!(
        patched.body.contains("1 window instead of 5"),
        "{}",
        patched.body
    );
}
