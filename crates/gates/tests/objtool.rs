//! What the kernel's own checker says of an object, and what is found here.

#![allow(clippy::unwrap_used, dead_code, reason = "a test says what it expects")]

use std::fmt::Write;
use std::process::Command;

use tollgate_gates::Analysis;

mod support;
use support::x86;

/// Each function breaks a rule of objtool, `several` four of them.
const BROKEN: &str = r#"
    FN call
    STAC; call foo; CLAC; ret
    END call
    FN retopen
    STAC; ret
    END retopen
    FN twice
    STAC; STAC; CLAC; ret
    END twice
    FN close
    CLAC; ret
    END close
    FN sibling
    STAC; jmp foo
    END sibling
    FN indirect
    STAC; call *%rax; CLAC; ret
    END indirect
    FN copy_mc_fragile
    CLAC; ret
    END copy_mc_fragile
    FN rep_stos_alternative
    ALT "0x9c,0x58,0x90", 308
    CLAC; ret
    END rep_stos_alternative
    FN several
    CLAC; STAC; STAC; call foo; ret
    END several
    FN saves
    STAC; CLAC
    .rept 32
    ALT "0x9c,0x58,0x90", 308
    .endr
    ret
    END saves
"#;

#[test]
fn at_least_what_objtool_finds_is_found() {
    let Some(object) = x86(BROKEN) else { return };
    let mut found = String::new();
    for function in Analysis::of(&object).unwrap().functions {
        for finding in &function.findings {
            let into = finding.address - function.address;
            let (name, rule) = (&function.name, finding.rule.name());
            writeln!(found, "{name}+{into:#x}: {rule}").unwrap();
        }
    }
    insta::assert_snapshot!("tollgate", found);
    let Some(objtool) = tollgate_testing::kernel::objtool() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("broken.o"), &object).unwrap();
    let run = Command::new(objtool)
        .current_dir(folder.path())
        .args(["--uaccess", "broken.o"])
        .output()
        .unwrap();
    insta::assert_snapshot!("objtool", String::from_utf8_lossy(&run.stderr));
}
