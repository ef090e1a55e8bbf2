//! `tollgate gates` on an object that is assembled here.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tollgate_testing::{memory, missing};

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
        missing("as --64", "binutils has it");
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
        (&["broken.o", "--against", "clean.o"], 1, "1 -> 2"),
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

/// What a disk that filled up, or a machine that went down, leaves of an object: its head,
/// and zeros to its length.
fn head_and_zeros(machine: u16, sections: (u64, u16, u16)) -> Vec<u8> {
    let (place, count, names) = sections;
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    let relocatable: u16 = 1;
    for half in [relocatable, machine, 1, 0] {
        bytes.extend(half.to_le_bytes());
    }
    // No entry and no segments; flags, then the sizes of what a head and a section take.
    for long in [0, 0, place] {
        bytes.extend(long.to_le_bytes());
    }
    for half in [0, 0, 64, 0, 0, 64, count, names] {
        bytes.extend(half.to_le_bytes());
    }
    assert_eq!(bytes.len(), 64);
    bytes.resize(8192, 0);
    bytes
}

#[test]
fn an_object_of_which_only_the_head_was_written_is_refused() {
    const X86_64: u16 = 62;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (machine, sections, said) in [
        (X86_64, (0, 0, 0), "the file holds no function"),
        (X86_64, (64, 1, 0), "Missing ELF e_shstrndx"),
        (X86_64, (64, 9, 8), "cannot be read as an ELF object"),
        (X86_64, (64, u16::MAX, 1), "cannot be read as an ELF object"),
        (X86_64, (1 << 20, 9, 8), "cannot be read as an ELF object"),
        (0, (0, 0, 0), "object code of ELF machine 0 is not known"),
    ] {
        fs::write(folder.join("cut.o"), head_and_zeros(machine, sections)).unwrap();
        for args in [
            &["cut.o"][..],
            &["--find", "cut.o"],
            &["cut.o", "--against", "cut.o"],
        ] {
            let (status, stdout, stderr) = gates(folder, args);
            let what = format!("{machine}, {sections:?}, {args:?}: {stderr}");
            assert_eq!((status, stdout.as_str()), (Some(2), ""), "{what}");
            assert!(stderr.contains(said), "{what}");
            assert_eq!(stderr.lines().count(), 1, "{what}");
        }
    }
}

/// Moves what the caller gives into the register of the gate.
const UNTOLD: &str = "
    .globl f
    .type f, @function
f:  mtspr 794, 3
    blr
    .size f, . - f
";

#[test]
fn a_function_whose_gate_cannot_be_told_is_no_clean_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a.s"), UNTOLD).unwrap();
    let mut command = Command::new("powerpc-linux-gnu-as");
    let command = command.current_dir(folder);
    let command = command.args(["-many", "a.s", "-o", "untold.o"]);
    if !command.status().is_ok_and(|status| status.success()) {
        missing("powerpc-linux-gnu-as", "scripts/setup installs it");
        return;
    }
    let (status, stdout, stderr) = gates(folder, &["untold.o", "f"]);
    assert_eq!(status, Some(2), "{stdout}{stderr}");
    assert!(stdout.contains("mtspr") || stdout.contains('?'), "{stdout}");
    assert!(stderr.contains("no rule was applied"), "{stderr}");
    // Of an object the table says how many there are, behind which it is not clean.
    for args in [&["untold.o"][..], &["untold.o", "--find"]] {
        let (status, stdout, stderr) = gates(folder, args);
        assert_eq!(status, Some(2), "{stderr}");
        assert!(
            !stdout.is_empty() && stderr.contains("of 1 function (f)"),
            "{stdout}{stderr}"
        );
    }
    let (_, stdout, _) = gates(folder, &["untold.o"]);
    assert!(stdout.contains("no rule was applied"), "{stdout}");
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
            missing("ar", "binutils has it");
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

/// The same with a limit to the memory that it may have.
fn gates_within(folder: &Path, kilobytes: u64, args: &str) -> (Option<i32>, String, String) {
    let program = env!("CARGO_BIN_EXE_tollgate");
    let run = Command::new("sh")
        .current_dir(folder)
        .args([
            "-c",
            &format!("ulimit -v {kilobytes}; exec '{program}' gates {args}"),
        ])
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (run.status.code(), text(run.stdout), text(run.stderr))
}

#[test]
fn a_file_of_gigabytes_is_read_where_it_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    if !assemble(folder.path(), "clean.o", CLEAN) {
        return;
    }
    let path = |name: &str| folder.path().join(name);
    let size = |name: &str, bytes| {
        let file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(path(name));
        file.unwrap().set_len(bytes).unwrap();
    };
    fs::copy(path("clean.o"), path("long.o")).unwrap();
    size("long.o", 3 << 30);
    size("empty.o", 3 << 30);
    // .text says that it holds all of it: its size stands 32 bytes into the
    // second header of a section (Elf64_Shdr, sh_size).
    let mut lying = fs::read(path("clean.o")).unwrap();
    let headers = usize::try_from(u64::from_le_bytes(lying[40..48].try_into().unwrap())).unwrap();
    let field = headers + 64 + 32;
    lying[field..field + 8].copy_from_slice(&(2_u64 << 30).to_le_bytes());
    fs::write(path("lying.o"), &lying).unwrap();
    size("lying.o", 3 << 30);

    let most = 600_000;
    let clean = gates(folder.path(), &["clean.o"]);
    let long = gates_within(folder.path(), most, "long.o");
    assert_eq!(
        long,
        (clean.0, clean.1.replace("clean.o", "long.o"), clean.2)
    );
    let (code, _, said) = gates_within(folder.path(), most, "empty.o");
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("(3221225472 bytes) cannot be read as an ELF"),
        "{said}"
    );
    let (code, _, said) = gates_within(folder.path(), most, "lying.o");
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("section `.text` of the file is 2147483648 bytes"),
        "{said}"
    );
}

#[test]
fn standard_input_and_what_is_compressed_are_read_as_the_file_is() {
    let folder = tempfile::tempdir().unwrap();
    if !assemble(folder.path(), "clean.o", CLEAN) {
        return;
    }
    let (code, own, _) = gates(folder.path(), &["clean.o"]);
    assert_eq!(code, Some(0));
    let program = env!("CARGO_BIN_EXE_tollgate");
    for (command, name) in [
        ("'{}' gates - <clean.o", "-"),
        ("cat clean.o | '{}' gates /dev/stdin", "/dev/stdin"),
        (
            "gzip -c clean.o >clean.ko.gz; '{}' gates clean.ko.gz",
            "clean.ko.gz",
        ),
        ("gzip -c clean.o | '{}' gates -", "-"),
    ] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &command.replace("{}", program)]);
        let output = shell.current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
        let shown = String::from_utf8(output.stdout).unwrap();
        assert_eq!(shown, own.replace("clean.o", name), "{command}");
    }
    let (code, _, said) = gates(folder.path(), &["clean.ko.gz", "nosuch"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no function `nosuch`"), "{said}");
    fs::write(folder.path().join("cut.ko.xz"), b"\xfd7zXZ\0\0").unwrap();
    let (code, _, said) = gates(folder.path(), &["cut.ko.xz"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("the xz data does not unpack"), "{said}");
}

#[test]
fn what_is_no_ordinary_file_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    if !assemble(folder.path(), "clean.o", CLEAN) {
        return;
    }
    let pipe = Command::new("mkfifo")
        .arg(folder.path().join("pipe"))
        .status();
    assert!(pipe.unwrap().success());
    fs::create_dir(folder.path().join("folder")).unwrap();
    let cases: [(&[&str], &str); 5] = [
        (
            &["pipe"],
            "as a .o, .ko, .a, vmlinux, bzImage or core: it is a pipe, and no ordinary file",
        ),
        (
            &["pipe", "f"],
            "as a .o, .ko, .a, vmlinux, bzImage or core: it is a pipe, and no ordinary file",
        ),
        (
            &["clean.o", "--against", "pipe"],
            "as a .o, .ko, .a, vmlinux, bzImage or core: it is a pipe, and no ordinary file",
        ),
        (
            &["/dev/zero"],
            "cannot read /dev/zero as a .o, .ko, .a, vmlinux, bzImage or core: it is a device, and no ordinary file",
        ),
        (
            &["folder"],
            "cannot read folder as a .o, .ko, .a, vmlinux, bzImage or core: it is a folder, and no ordinary file",
        ),
    ];
    for (args, words) in cases {
        let (code, shown, said) = gates(folder.path(), args);
        assert_eq!((code, &*shown), (Some(2), ""), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
    }
}

/// A kernel's core with nothing else in it.
fn core(gated: bool) -> Vec<u8> {
    let kernel = memory::loaded(memory::BASE, memory::kernel(gated));
    memory::elf(memory::CORE, memory::X86_64, &[kernel])
}

#[test]
fn the_memory_of_a_kernel_is_read_as_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("kcore"), core(true)).unwrap();
    fs::write(folder.join("ungated"), core(false)).unwrap();
    let (status, stdout, stderr) = gates(folder, &["kcore"]);
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stdout.contains("return-open"), "{stdout}");
    assert!(stderr.contains("modules, and what ran at boot alone, were not read"));
    let (status, stdout, stderr) = gates(folder, &["kcore", "g"]);
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stdout.contains("stac"), "{stdout}");
    // On a processor without a gate each access would be wrong.
    for args in [&["ungated"][..], &["ungated", "g"], &["--find", "ungated"]] {
        let (status, stdout, stderr) = gates(folder, args);
        assert_eq!((status, &*stdout), (Some(2), ""), "{args:?}");
        assert!(
            stderr.contains("the processor that it runs on has none"),
            "{stderr}"
        );
    }
    // A program's own core is none of a kernel.
    let user = memory::loaded(0x40_0000, vec![0x90; 4096]);
    let user = memory::elf(memory::CORE, memory::X86_64, &[user]);
    fs::write(folder.join("core"), user).unwrap();
    let (status, _, stderr) = gates(folder, &["core"]);
    assert_eq!(status, Some(2));
    assert!(
        stderr.contains("no kernel with a list of its names"),
        "{stderr}"
    );
}

#[test]
fn who_may_read_the_running_kernel_is_said() {
    let (status, stdout, stderr) = gates(Path::new("/"), &["/proc/kcore"]);
    if Path::new("/proc/kcore").exists() && fs::File::open("/proc/kcore").is_ok() {
        // What is in it, this machine alone knows.
        assert!(status.is_some_and(|code| code <= 2), "{stderr}");
        return;
    }
    assert_eq!((status, &*stdout), (Some(2), ""));
    assert!(stderr.contains("CONFIG_PROC_KCORE"), "{stderr}");
    assert!(stderr.contains("give the vmlinux"), "{stderr}");
}
