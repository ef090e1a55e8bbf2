//! `tollgate fix --check` on the fake tree: what may come of
//! compiling a patch.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the lab's own tests use the rest of it")]
mod support;

use std::fs;

use support::{Lab, code, run, snapshot};

const FUNCTION: &str = "#include <linux/uaccess.h>\n\nstruct s {\n\tint a, b;\n};\n\nint f(struct s *p);\n\n\
    int f(struct s *p)\n{\n\tif (__put_user(1, &p->a) || __put_user(2, &p->b))\n\t\treturn -14;\n\treturn 0;\n}\n";

const CHECK: &[&str] = &[
    "fix",
    "tree",
    "kernel/two.c:f",
    "--check",
    "--cache",
    "cache",
];

/// The exit code, and what was said of the patch.
fn check(lab: &Lab, output: &[&str]) -> (i32, String) {
    let output = run(&mut lab.tollgate(&[&["--quiet"], CHECK, output].concat()));
    (
        code(&output),
        lab.said(&output) + &String::from_utf8_lossy(&output.stdout),
    )
}

fn with(text: &str) -> Lab {
    let lab = Lab::new();
    lab.edit("kernel/two.c", text);
    lab
}

fn spoiled(lab: &Lab, from: &str, to: &str) {
    let name = "include/linux/uaccess.h";
    let text = fs::read_to_string(lab.tree().join(name)).unwrap();
    assert!(text.contains(from), "{text}");
    lab.edit(name, &text.replace(from, to));
}

#[test]
fn a_patch_that_compiles_as_before_is_clean() {
    let lab = with(FUNCTION);
    let before = snapshot(&lab.tree());
    for _ in 0..2 {
        let (status, said) = check(&lab, &[]);
        assert_eq!(status, 0, "{said}");
        assert!(
            said.contains("kernel/two.c: f: clean: kernel/two.o compiles"),
            "{said}"
        );
        assert!(said.contains("+efault:"), "{said}");
    }
    let (status, said) = check(&lab, &["--output", "series"]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("f: clean: kernel/two.o"), "{said}");
    // Nor does anything else change in the user's tree.
    assert!(before == snapshot(&lab.tree()));
}

/// The scan and the mails were none of the steps, nor was a wait for the cache.
#[test]
fn what_takes_time_is_listed() {
    let lab = with(FUNCTION);
    let said = lab.said(&run(&mut lab.tollgate(CHECK)));
    let begins = |line: &str| line.split("  ").next().map(str::to_owned);
    let steps: Vec<String> = said.lines().take(4).filter_map(begins).collect();
    let wanted = [
        "write the patches",
        "read the tree",
        "configure (allmodconfig)",
        "check 1 of 1: f",
    ];
    assert_eq!(steps, wanted, "{said}");
}

#[test]
fn a_new_warning_is_found() {
    let lab = with(FUNCTION);
    spoiled(
        &lab,
        "#define user_write_access_begin",
        "#define user_write_access_begin(p, n) ({ int unused; 1; })\n#define other_begin",
    );
    let (status, said) = check(&lab, &[]);
    assert_eq!(status, 1, "{said}");
    assert!(
        said.contains("f: new warning in kernel/two.o: warning: unused variable 'unused'"),
        "{said}"
    );
}

#[test]
fn a_patch_that_does_not_compile_is_found() {
    let lab = with(FUNCTION);
    spoiled(&lab, "#define unsafe_put_user(", "#define other_put_user(");
    let (status, said) = check(&lab, &[]);
    assert_eq!(status, 1, "{said}");
    assert!(
        said.contains("f: kernel/two.o does not compile: error: "),
        "{said}"
    );
}

#[test]
fn what_the_configuration_leaves_out_is_not_called_clean() {
    let lab = with(FUNCTION);
    lab.edit("off", "kernel/two.c\n");
    let (status, said) = check(&lab, &[]);
    assert_eq!(status, 2, "{said}");
    assert!(
        said.contains("f: not built: this configuration does not build kernel/two.o"),
        "{said}"
    );
    // The file is compiled, the function is not.
    let part = FUNCTION.replace(
        "int f(struct s *p)\n{",
        "#ifdef CONFIG_NEVER\nint f(struct s *p)\n{",
    ) + "#endif\n";
    let lab = with(&part);
    let (status, said) = check(&lab, &[]);
    assert_eq!(status, 2, "{said}");
    assert!(
        said.contains("of the new kernel/two.c is not compiled into kernel/two.o"),
        "{said}"
    );
}

#[test]
fn what_did_not_compile_before_is_not_the_patchs_fault() {
    let lab = with(&FUNCTION.replace("return 0;", "return nothing;"));
    let (status, said) = check(&lab, &[]);
    assert_eq!(status, 2, "{said}");
    assert!(
        said.contains("f: not built: this configuration does not build kernel/two.o"),
        "{said}"
    );
}
