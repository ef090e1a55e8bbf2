//! `tollgate gates` on an object that is assembled here.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test says what it expects, and what it skips"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Opens and returns. The instructions stand in place, so that no table of
/// replacements is needed.
const BROKEN: &str = "
    .globl f
    .type f, @function
f:  .byte 0x0f, 0x01, 0xcb
    ret
    .size f, . - f
";

const CLEAN: &str = "
    .globl f
    .type f, @function
f:  .byte 0x0f, 0x01, 0xcb
    .byte 0x0f, 0x01, 0xca
    ret
    .size f, . - f
";

/// Assembles into `folder`; false where there is no assembler for x86.
fn assemble(folder: &Path, name: &str, text: &str) -> bool {
    fs::write(folder.join("a.s"), text).unwrap();
    let mut command = Command::new("as");
    let command = command
        .current_dir(folder)
        .args(["--64", "a.s", "-o", name]);
    let done = command.status().is_ok_and(|status| status.success());
    if !done {
        eprintln!("skipped: `as --64` is not there");
    }
    done
}

fn gates(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .current_dir(folder)
        .arg("gates")
        .args(args)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn exit_codes_tell_clean_from_broken_from_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    if !assemble(folder, "broken.o", BROKEN) || !assemble(folder, "clean.o", CLEAN) {
        return;
    }
    fs::write(folder.join("text"), "no object").unwrap();
    for (args, code, out) in [
        (&["clean.o"][..], 0, "1 opens, 1 closes"),
        (&["broken.o"], 1, "return with the window open"),
        (&["clean.o", "broken.o"], 1, "return-open"),
        (&["clean.o", "f"], 0, "┌─"),
        (&["broken.o", "f"], 1, "return-open"),
        (&["--find", "clean.o"], 0, "0 of 1 functions"),
        (&["clean.o", "--against", "clean.o"], 0, "add/remove: 0/0"),
        (&["broken.o", "--against", "clean.o"], 1, "1 → 2"),
    ] {
        let (status, stdout, stderr) = gates(folder, args);
        assert_eq!(status, Some(code), "{args:?}: {stderr}");
        assert!(stdout.contains(out), "{args:?}: {stdout}");
    }
    for (args, said) in [
        (
            &["text"][..],
            "text: the file (9 bytes) cannot be read as an ELF object",
        ),
        (&["none"], "cannot read none"),
        (&["clean.o", "g"], "no function `g` in the file"),
    ] {
        let (status, stdout, stderr) = gates(folder, args);
        assert_eq!((status, stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
}

#[test]
fn archives_thin_or_not_show_their_members() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    if !assemble(folder, "clean.o", CLEAN) {
        return;
    }
    for (flags, name) in [("rcs", "fat.a"), ("rcsT", "thin.a")] {
        let mut ar = Command::new("ar");
        let ar = ar.current_dir(folder).args([flags, name, "clean.o"]);
        if !ar.status().is_ok_and(|status| status.success()) {
            eprintln!("skipped: `ar` is not there");
            return;
        }
        let (status, stdout, stderr) = gates(folder, &[name]);
        assert_eq!(status, Some(0), "{stderr}");
        assert!(
            stdout.contains(&format!("{name}(clean.o) (x86)")),
            "{stdout}"
        );
    }
}
