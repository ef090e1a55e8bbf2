//! Objects that are assembled in the tests.

use std::fs;
use std::process::Command;

use tollgate_testing::missing;

/// Macros as the kernel's: the gate is a replacement of three NOPs.
pub(crate) const KERNEL: &str = r#"
    .macro ALT text, feature
    771: nop; nop; nop
    772:
    .pushsection .altinstr_replacement, "ax"
    773: .byte \text
    774:
    .popsection
    .pushsection .altinstructions, "a"
    .long 771b - .
    .long 773b - .
    .4byte \feature
    .byte 772b - 771b
    .byte 774b - 773b
    .popsection
    .endm
    .macro STAC
    ALT "0x0f,0x01,0xcb", 308
    .endm
    .macro CLAC
    ALT "0x0f,0x01,0xca", 308
    .endm
    .macro FENCE
    ALT "0x0f,0xae,0xe8", 642
    .endm
    .macro SWAPGS_FENCE
    ALT "0x0f,0xae,0xe8", 356
    .endm
    .macro PUT label
    775: movl %eax, (%rdi)
    .pushsection __ex_table, "a"
    .long 775b - .
    .long \label - .
    .long 3
    .popsection
    .endm
    .macro FN name
    .globl \name
    .type \name, @function
    \name:
    .endm
    .macro END name
    .size \name, . - \name
    .endm
    .text
"#;

/// Assembles for a machine; none where its assembler is not installed.
pub(crate) fn assemble(command: &str, text: &str) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let [source, object] = ["a.s", "a.o"].map(|name| folder.path().join(name));
    fs::write(&source, text).unwrap();
    let mut words = command.split(' ');
    let run = Command::new(words.next()?)
        .args(words)
        .arg("-o")
        .arg(&object)
        .arg(&source)
        .output();
    let Ok(output) = run else {
        missing(
            command,
            "binutils of that machine; scripts/setup --all-tests installs it",
        );
        return None;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(fs::read(object).unwrap())
}

pub(crate) fn x86(text: &str) -> Option<Vec<u8>> {
    assemble("as --64", &format!("{KERNEL}{text}"))
}

/// The same, linked; none where there is no linker.
pub(crate) fn linked(text: &str) -> Option<Vec<u8>> {
    link(&x86(text)?)
}

/// An object, linked; none where there is no linker.
pub(crate) fn link(object: &[u8]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let [from, file] = ["a.o", "a"].map(|name| folder.path().join(name));
    fs::write(&from, object).unwrap();
    let run = Command::new("ld")
        .args(["-e", "f", "-o"])
        .arg(&file)
        .arg(&from)
        .output();
    let Ok(output) = run else {
        missing("ld", "binutils has it");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    Some(fs::read(file).unwrap())
}
