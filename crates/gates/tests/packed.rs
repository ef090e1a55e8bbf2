//! Kernels and modules as distributions ship them: compressed, without symbols.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "a test says what it expects"
)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use tollgate_gates::{Analysis, ObjectError, Rule, unpacked};
use tollgate_testing::missing;

mod support;
use support::{KERNEL, assemble, link, x86};

const FUNCTIONS: &str = "
    FN f
    STAC
    PUT 1f
    CLAC
1:  ret
    END f
    FN g
    call f
    ret
    END g
";

/// What a program makes of bytes; none where it is not installed.
fn through(command: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut words = command.split(' ');
    let child = Command::new(words.next()?)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        missing(command, "scripts/setup --all-tests installs it");
        return None;
    };
    let mut input = child.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&bytes).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{command}");
    Some(output.stdout)
}

/// A fault leaves the window open.
fn check(bytes: &[u8], what: &str) {
    let analysis = Analysis::of(bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    let f = analysis.functions.iter().find(|f| f.name == "f").unwrap();
    assert_eq!((f.counts.opens, f.counts.closes), (1, 1), "{what}");
    let rules: Vec<_> = f.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, [Rule::ReturnOpen], "{what}");
    assert!(analysis.functions.iter().any(|f| f.name == "g"), "{what}");
}

/// As scripts/Makefile.modinst and arch/x86/boot/compressed/Makefile pack.
const PACKERS: [&str; 4] = [
    "gzip -n -f -9",
    "xz --check=crc32 --lzma2=dict=1MiB",
    "xz --check=crc32 --x86 --lzma2=dict=32MiB",
    "zstd -q -19",
];

#[test]
fn a_compressed_module_is_read_as_what_it_holds() {
    let Some(object) = x86(FUNCTIONS) else { return };
    assert_eq!(unpacked(&object).unwrap(), None);
    for packer in PACKERS {
        let Some(packed) = through(packer, &object) else {
            continue;
        };
        let whole = unpacked(&packed).unwrap().unwrap();
        assert!(whole == object, "{packer}");
        check(&whole, packer);
        // One that ends early, or is altered, is no shorter module.
        for length in [7, packed.len() / 2, packed.len() - 1] {
            let cut = unpacked(&packed[..length]);
            assert!(
                matches!(cut, Err(ObjectError::Packed(_))),
                "{packer}: {length}"
            );
        }
        let mut altered = packed.clone();
        let at = altered.len() / 2;
        altered[at] ^= 0x55;
        assert!(
            unpacked(&altered).map_or(true, |bytes| bytes != Some(object.clone())),
            "{packer}"
        );
    }
    let twice = through(PACKERS[0], &through(PACKERS[0], &object).unwrap()).unwrap();
    assert!(unpacked(&twice).unwrap().unwrap() == object);
    let error = unpacked(b"BZh91AY&SY".as_slice()).unwrap_err().to_string();
    assert!(error.contains("packed with bzip2"), "{error}");
}

/// A bzImage that holds these bytes (Documentation/arch/x86/boot.rst).
fn bzimage(payload: &[u8]) -> Vec<u8> {
    let mut image = vec![0; 0x400];
    image[..2].copy_from_slice(b"MZ");
    image[0x1f1] = 1;
    image[0x202..0x206].copy_from_slice(b"HdrS");
    image[0x248..0x24c].copy_from_slice(&0x20_u32.to_le_bytes());
    image[0x24c..0x250].copy_from_slice(&u32::try_from(payload.len()).unwrap().to_le_bytes());
    [image, vec![0; 0x20], payload.to_vec(), vec![0; 64]].concat()
}

/// How the addresses of a kernel's own list of names are written.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// Each from itself, 7.0 and later.
    Near,
    /// From a base that follows.
    Base,
    /// The same, less than 0, for others are absolute.
    Split,
    /// From a base, before the names: up to 6.3.
    Before,
    /// The same, and the order of the names before the tokens: 6.2, 6.3 and the later
    /// ones of 6.1.
    Ordered,
}

impl Form {
    fn is_before(self) -> bool {
        matches!(self, Self::Before | Self::Ordered)
    }
}

/// The list that scripts/kallsyms writes: `f` and `g`, and 300 others.
fn kallsyms(form: Form) -> String {
    let own = [("f", "Tf".to_owned()), ("g", "tg".to_owned())];
    list(form, ("f", "f"), &own)
}

/// The list of 300 names at one place, and of others behind it.
fn list(form: Form, (base, first): (&str, &str), own: &[(&str, String)]) -> String {
    let others = (0..300).map(|number| (first, format!("dx{number:03}")));
    let names: Vec<_> = others.chain(own.iter().cloned()).collect();
    let mut text = "\n.section .rodata\n.ascii \"0\"\n.byte 0\n.balign 8\n".to_owned();
    let offsets = |text: &mut String| {
        for (at, _) in &names {
            let line = match form {
                Form::Near => format!(".long {at} - .\n"),
                Form::Base | Form::Before | Form::Ordered => format!(".long {at} - {base}\n"),
                Form::Split => format!(".long -1 - ({at} - {base})\n"),
            };
            text.push_str(&line);
        }
        text.push_str(".balign 8\n");
        if !matches!(form, Form::Near) {
            text.push_str(&format!(".quad {base}\n"));
        }
    };
    if form.is_before() {
        offsets(&mut text);
    }
    writeln!(text, ".long {}", names.len()).unwrap();
    let (mut markers, mut length) = (Vec::new(), 0);
    for (number, (_, name)) in names.iter().enumerate() {
        if number % 256 == 0 {
            markers.push(length);
        }
        writeln!(text, ".byte {}\n.ascii \"{name}\"", name.len()).unwrap();
        length += name.len() + 1;
    }
    text.push_str(".balign 4\n");
    markers
        .iter()
        .for_each(|at| writeln!(text, ".long {at}").unwrap());
    if matches!(form, Form::Ordered) {
        text.push_str(".balign 8\n");
        (0..names.len())
            .rev()
            .for_each(|at| writeln!(text, ".byte 0, {}, {}", at >> 8, at & 255).unwrap());
        text.push_str(".balign 8\n");
    }
    let mut index = 0;
    let mut indices = Vec::new();
    for token in 0..=255_u8 {
        let letter = token.is_ascii_alphanumeric() || token == b'_';
        let letters = if letter {
            char::from(token).to_string()
        } else {
            "~~".to_owned()
        };
        writeln!(text, ".asciz \"{letters}\"").unwrap();
        indices.push(index);
        index += letters.len() + 1;
    }
    text.push_str(".balign 4\n");
    indices
        .iter()
        .for_each(|at| writeln!(text, ".short {at}").unwrap());
    text.push_str(".balign 4\n");
    if !form.is_before() {
        offsets(&mut text);
    }
    text + ".text\n"
}

#[test]
fn a_kernel_without_symbols_is_read_by_its_own_list_of_names() {
    for form in [
        Form::Near,
        Form::Base,
        Form::Split,
        Form::Before,
        Form::Ordered,
    ] {
        let text = format!("{KERNEL}{FUNCTIONS}{}", kallsyms(form));
        let Some(object) = assemble("as --64", &text) else {
            return;
        };
        let Some(linked) = link(&object) else { return };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vmlinux");
        std::fs::write(&path, &linked).unwrap();
        let mut strip = Command::new("strip");
        assert!(strip.arg("-s").arg(&path).status().unwrap().success());
        let stripped = std::fs::read(&path).unwrap();
        check(&stripped, &format!("{form:?}"));
        // As it is booted, its length behind it.
        let Some(packed) = through("zstd -q -19", &stripped) else {
            continue;
        };
        let length = u32::try_from(stripped.len()).unwrap().to_le_bytes();
        let image = bzimage(&[packed.as_slice(), &length].concat());
        let whole = unpacked(&image).unwrap().unwrap();
        assert!(whole == stripped, "{form:?}");
        let cut = unpacked(&image[..image.len() - 100])
            .unwrap_err()
            .to_string();
        assert!(cut.contains("the bzImage ends before"), "{cut}");
    }
}

/// The functions of a file whose direction flag is not as it must be.
fn turned(bytes: &[u8]) -> Vec<String> {
    let analysis = Analysis::of(bytes).unwrap();
    let is_turned = |rule: Rule| matches!(rule, Rule::DirectionFlag);
    let own = analysis.functions.into_iter();
    let own = own.filter(|f| f.findings.iter().any(|own| is_turned(own.rule)));
    own.map(|f| f.name).collect()
}

#[test]
fn what_begins_with_a_cleared_flag_is_no_function_of_a_list_without_types() {
    let functions = "FN f\ncld\nret\nEND f\nFN g\nnop\ncld\nret\nEND g\n";
    let text = format!("{KERNEL}{functions}{}", kallsyms(Form::Near));
    let linked = assemble("as --64", &text).and_then(|object| link(&object));
    let Some(linked) = linked else { return };
    assert_eq!(turned(&linked), ["f", "g"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vmlinux");
    std::fs::write(&path, &linked).unwrap();
    let mut strip = Command::new("strip");
    assert!(strip.arg("-s").arg(&path).status().unwrap().success());
    assert_eq!(turned(&std::fs::read(&path).unwrap()), ["g"]);
}

/// The bytes and instructions of `f` and `g`, with a table of symbols and without.
fn lengths(functions: &str) -> Option<[Vec<(String, u64, usize)>; 2]> {
    let names = ["f", "g", "h", "i"].map(|name| (name, format!("T{name}")));
    let text = format!(
        "{KERNEL}{functions}{}",
        list(Form::Near, ("f", "f"), &names)
    );
    let linked = link(&assemble("as --64", &text)?)?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vmlinux");
    std::fs::write(&path, &linked).unwrap();
    let mut strip = Command::new("strip");
    assert!(strip.arg("-s").arg(&path).status().unwrap().success());
    Some([linked, std::fs::read(&path).unwrap()].map(|bytes| {
        let own = Analysis::of(&bytes).unwrap().functions.into_iter();
        let own = own.filter(|f| f.name == "f" || f.name == "g");
        own.map(|f| (f.name, f.bytes, f.instructions)).collect()
    }))
}

/// A function that leaves no gap: where traps are put behind returns it would have one.
const WHOLE: &str = "FN h\n.rept 21\nmov %rdi, %rax\n.endr\nret\nEND h\nFN i\nret\nEND i\n";

#[test]
fn what_fills_the_gap_behind_a_function_is_not_counted_as_its_own() {
    // By the assembler, by the linker, and behind a jump to another function.
    let fills = [".balign 16", ".balign 16, 0xcc", ".balign 64, 0xcc"];
    for fill in fills {
        for last in ["ret", "jmp *%rax", "jmp g", "ud2", "ret\nnop\nint3\nret"] {
            let functions = format!(
                "FN f\nmov %rdi, %rax\n{last}\nEND f\n{fill}\nFN g\nret\nEND g\n{fill}\n{WHOLE}"
            );
            let Some([full, stripped]) = lengths(&functions) else {
                return;
            };
            assert_eq!(full, stripped, "{last} {fill}");
        }
    }
}

#[test]
fn a_jump_that_ends_in_zeros_is_whole_where_a_label_ends_with_it() {
    let Some(object) =
        x86("f:\nSTAC\nPUT g\nCLAC\njmp g\n.balign 64, 0xcc\n.zero 400\nFN g\nret\nEND g\n")
    else {
        return;
    };
    let analysis = Analysis::of(&object).unwrap();
    let f = analysis.functions.iter().find(|f| f.name == "f").unwrap();
    assert_eq!((f.bytes, f.instructions), (3 + 2 + 3 + 5, 4));
}

#[test]
fn a_trap_that_the_compiler_put_behind_each_return_is_the_functions() {
    let fill = ".balign 16, 0xcc";
    for last in ["ret\nint3", "jmp *%rax\nint3", "jmp g"] {
        let functions = format!(
            "FN f\nmov %rdi, %rax\n{last}\nEND f\n{fill}\nFN g\nret\nint3\nEND g\n{fill}\n\
             FN h\nret\nint3\nEND h\nFN i\nEND i\n"
        );
        let Some([full, stripped]) = lengths(&functions) else {
            return;
        };
        assert_eq!(full, stripped, "{last}");
    }
}

#[test]
fn a_list_of_names_that_lies_is_none() {
    let text = format!("{KERNEL}{FUNCTIONS}{}", kallsyms(Form::Near));
    let Some(object) = assemble("as --64", &text) else {
        return;
    };
    let Some(linked) = link(&object) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vmlinux");
    std::fs::write(&path, &linked).unwrap();
    assert!(
        Command::new("strip")
            .arg("-s")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    let stripped = std::fs::read(&path).unwrap();
    for at in (0..stripped.len().saturating_sub(4)).step_by(61) {
        for lie in [0_u32, u32::MAX, 0x0102_0304] {
            let mut altered = stripped.clone();
            altered[at..at + 4].copy_from_slice(&lie.to_le_bytes());
            if let Err(error) = Analysis::of(&altered) {
                assert!(
                    !error.to_string().contains("a defect of tollgate"),
                    "{error}"
                );
            }
        }
    }
}

/// An Image of arm64 whose `f` leaves its window open, and what makes it.
fn flat_image() -> Option<Vec<u8>> {
    let own = [
        ("head", "T_text"),
        ("f", "Tf"),
        ("g", "Tg"),
        ("end", "D_etext"),
    ];
    let own = own.map(|(at, name)| (at, name.to_owned()));
    let text = format!(
        "head: .zero 0x38\n.ascii \"ARMd\"\n.zero 4\n\
         f: msr pan, #0\nldr x0, [x1]\nret\n\
         g: msr pan, #0\nldr x0, [x1]\nmsr pan, #1\nret\n\
         .balign 64\nend: .zero 64\n{}\n.text\n",
        list(Form::Near, ("head", "head"), &own).replace(".section .rodata", "")
    );
    let assembler = "aarch64-linux-gnu-as -march=armv8.1-a";
    let object = assemble(assembler, &text.replace(".text\n", ""))?;
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["a.o", "Image"].map(|name| folder.path().join(name));
    std::fs::write(&from, object).unwrap();
    let mut copy = Command::new("aarch64-linux-gnu-objcopy");
    let done = copy
        .args(["-O", "binary", "-j", ".text"])
        .arg(from)
        .arg(&to);
    assert!(done.status().unwrap().success());
    Some(std::fs::read(to).unwrap())
}

#[test]
fn an_image_is_read_by_its_own_list_of_names() {
    let Some(image) = flat_image() else { return };
    let whole = unpacked(&image).unwrap().unwrap();
    let analysis = Analysis::of(&whole).unwrap();
    assert_eq!(analysis.arch, "arm64");
    let broken = analysis.functions.iter().filter(|f| !f.findings.is_empty());
    let broken: Vec<&str> = broken.map(|f| f.name.as_str()).collect();
    assert_eq!(broken, ["f"]);
    let g = analysis.functions.iter().find(|f| f.name == "g").unwrap();
    assert_eq!((g.address, g.counts.opens), (0xffff_8000_8000_004c, 1));
    for cut in [0x3c, 0x100, image.len() - 8] {
        let error = unpacked(&image[..cut]).unwrap_err().to_string();
        assert!(error.contains("it holds no list of names"), "{error}");
    }
}

#[test]
fn an_image_without_sections_is_named() {
    let mut image = vec![0; 0x1000];
    image[..2].copy_from_slice(b"MZ");
    for magic in [b"ARM\x64", b"RSC\x05"] {
        image[0x38..0x3c].copy_from_slice(magic);
        let error = Analysis::of(&image).unwrap_err().to_string();
        assert!(
            error.contains("it is an Image, which has no sections"),
            "{error}"
        );
    }
}
