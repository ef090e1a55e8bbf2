use super::*;

fn parse(text: &str) -> Result<Opcodes, OpcodesError> {
    let all = Architectures::built_in().unwrap();
    Opcodes::parse(all.target("x86_64").unwrap().1, text)
}

fn table(order: &str, entries: &[(&str, &str, &str, Option<&str>)]) -> String {
    let mut text = format!("order = \"{order}\"\n");
    for (name, meaning, value, mask) in entries {
        text += &format!("[[opcode]]\nname = \"{name}\"\nmeaning = \"{meaning}\"\n");
        text += &format!("value = \"{value}\"\nreason = \"r\"\nsource = \"s\"\n");
        text += &mask
            .map(|mask| format!("mask = \"{mask}\"\n"))
            .unwrap_or_default();
    }
    text
}

#[test]
fn x86_64_knows_its_gate() {
    let opcodes = Opcodes::built_in("x86_64").unwrap();
    assert_eq!(opcodes.arch(), "x86_64");
    assert_eq!(opcodes.meaning(&[0x0f, 0x01, 0xcb]), Meaning::Open);
    assert_eq!(opcodes.meaning(&[0x0f, 0x01, 0xca]), Meaning::Close);
    assert_eq!(opcodes.meaning(&[0x0f, 0xae, 0xe8]), Meaning::Fence);
}

#[test]
fn arm64_knows_its_gate() {
    let opcodes = Opcodes::built_in("arm64").unwrap();
    assert_eq!((opcodes.arch(), opcodes.target()), ("arm64", "aarch64"));
    let meaning = |word: u32| opcodes.meaning(&word.to_le_bytes());
    assert_eq!(meaning(0xd500_409f), Meaning::Open);
    assert_eq!(meaning(0xd500_419f), Meaning::Close);
    assert_eq!(meaning(0xd503_229f), Meaning::Fence);
    assert_eq!(meaning(0xd503_30ff), Meaning::Fence);
    // nop, msr daifset, #2 and the gate in the other byte order.
    for word in [0xd503_201f, 0xd503_42df, 0xd500_409f_u32.swap_bytes()] {
        assert_eq!(meaning(word), Meaning::Other, "{word:x}");
    }
}

#[test]
fn ppc64le_knows_its_gate_and_not_which_way() {
    let opcodes = Opcodes::built_in("ppc64le").unwrap();
    assert_eq!((opcodes.arch(), opcodes.target()), ("ppc64le", "ppc64"));
    let meaning = |word: u32| opcodes.meaning(&word.to_le_bytes());
    // mtspr AMR of r9 and r31, whatever they hold.
    assert_eq!(meaning(0x7d3d_03a6), Meaning::Write);
    assert_eq!(meaning(0x7ffd_03a6), Meaning::Write);
    assert_eq!(meaning(0x63ff_0000), Meaning::Fence);
    // mfspr r9,AMR, mtspr IAMR,r9, isync, nop and the gate in the other byte order.
    for word in [
        0x7d3d_02a6,
        0x7d3d_0ba6,
        0x4c00_012c,
        0x6000_0000,
        0x7d3d_03a6_u32.swap_bytes(),
    ] {
        assert_eq!(meaning(word), Meaning::Other, "{word:x}");
    }
}

#[test]
fn i386_knows_its_gate_and_registers_without_a_prefix() {
    let opcodes = Opcodes::built_in("i386").unwrap();
    assert_eq!((opcodes.arch(), opcodes.target()), ("i386", "i386"));
    let known: [(&[u8], Meaning); 11] = [
        (&[0x0f, 0x01, 0xcb], Meaning::Open),
        (&[0x0f, 0x01, 0xca], Meaning::Close),
        // lfence and xrstor (%eax) differ in whether ModRM names a register.
        (&[0x0f, 0xae, 0xe8], Meaning::Fence),
        (&[0x0f, 0xae, 0x28], Meaning::Xrstor),
        (&[0x0f, 0xae, 0x6c, 0x24, 0x40], Meaning::Xrstor),
        (&[0x0f, 0xc7, 0x67, 0x40], Meaning::Xsave),
        (&[0x0f, 0xae, 0x00], Meaning::Fxsave),
        (&[0xdd, 0x32], Meaning::Fxsave),
        (&[0xdd, 0x62, 0x08], Meaning::Fxrstor),
        // mfence, and fucom %st(0) whose ModRM has the same middle bits as frstor's.
        (&[0x0f, 0xae, 0xf0], Meaning::Other),
        (&[0xdd, 0xe0], Meaning::Other),
    ];
    for (bytes, meaning) in known {
        assert_eq!(opcodes.meaning(bytes), meaning, "{bytes:x?}");
    }
}

#[test]
fn riscv64_counts_what_writes_the_status_by_a_register() {
    let opcodes = Opcodes::built_in("riscv64").unwrap();
    let meaning = |word: u32| opcodes.meaning(&word.to_le_bytes());
    // csrs sstatus,a5 and csrc sstatus,t6.
    assert_eq!(meaning(0x1007_a073), Meaning::Write);
    assert_eq!(meaning(0x100f_b073), Meaning::Write);
    // csrrc s1,sstatus,t0 of entry code, csrsi sstatus,2, csrw sstatus,a5, csrs sie,a5.
    for word in [0x1002_b4f3, 0x1001_6073, 0x1007_9073, 0x1047_a073] {
        assert_eq!(meaning(word), Meaning::Other, "{word:x}");
    }
}

#[test]
fn ppc_counts_writes_of_segment_registers_in_its_own_order() {
    let opcodes = Opcodes::built_in("ppc").unwrap();
    assert_eq!((opcodes.arch(), opcodes.target()), ("ppc", "ppc"));
    let meaning = |word: u32| opcodes.meaning(&word.to_be_bytes());
    // mtsrin r9,r10 and mtsrin r31,r3.
    assert_eq!(meaning(0x7d20_51e4), Meaning::Write);
    assert_eq!(meaning(0x7fe0_19e4), Meaning::Write);
    // mtsr 0,r9, mfsrin r9,r10, isync and the gate in the other byte order.
    for word in [
        0x7d20_01a4,
        0x7d20_5526,
        0x4c00_012c,
        0x7d20_51e4_u32.swap_bytes(),
    ] {
        assert_eq!(meaning(word), Meaning::Other, "{word:x}");
    }
}

#[test]
fn what_is_not_the_whole_instruction_is_other() {
    let opcodes = Opcodes::built_in("x86_64").unwrap();
    // mfence, sfence, the three-byte NOP that stands where SMAP is off, a stac
    // cut off and a stac with a byte behind it.
    for bytes in [
        &[0x0f, 0xae, 0xf0][..],
        &[0x0f, 0xae, 0xf8],
        &[0x0f, 0x1f, 0x00],
        &[0x0f, 0x01],
        &[0x0f, 0x01, 0xcb, 0x90],
        &[],
    ] {
        assert_eq!(opcodes.meaning(bytes), Meaning::Other, "{bytes:x?}");
    }
}

#[test]
fn x86_64_knows_how_registers_are_saved_and_loaded() {
    let opcodes = Opcodes::built_in("x86_64").unwrap();
    let known: [(&[u8], Meaning); 12] = [
        (&[0x48, 0x0f, 0xae, 0x27], Meaning::Xsave),
        (&[0x48, 0x0f, 0xae, 0x37], Meaning::Xsave),
        (&[0x48, 0x0f, 0xc7, 0x27], Meaning::Xsave),
        (&[0x48, 0x0f, 0xc7, 0x2f], Meaning::Xsave),
        (&[0x48, 0x0f, 0xae, 0x2f], Meaning::Xrstor),
        (&[0x48, 0x0f, 0xc7, 0x1f], Meaning::Xrstor),
        // fxsave64 0x40(%rdi), fxrstor64 0x12345678(%r12), wrpkru, rdpkru
        (&[0x48, 0x0f, 0xae, 0x47, 0x40], Meaning::Fxsave),
        (
            &[0x49, 0x0f, 0xae, 0x8c, 0x24, 0x78, 0x56, 0x34, 0x12],
            Meaning::Fxrstor,
        ),
        (&[0x0f, 0x01, 0xef], Meaning::Wrpkru),
        (&[0x0f, 0x01, 0xee], Meaning::Rdpkru),
        // cmpxchg16b (%rdi) and clflush (%rdi) have the same opcodes.
        (&[0x48, 0x0f, 0xc7, 0x0f], Meaning::Other),
        (&[0x0f, 0xae, 0x3f], Meaning::Other),
    ];
    for (bytes, meaning) in known {
        assert_eq!(opcodes.meaning(bytes), meaning, "{bytes:x?}");
    }
}

#[test]
fn every_built_in_table_reads_and_gives_reasons() {
    for arch in data::with_opcodes() {
        let opcodes = Opcodes::built_in(arch).unwrap();
        assert_eq!(opcodes.arch(), arch);
        assert!(!opcodes.entries().is_empty(), "{arch}");
        for entry in opcodes.entries() {
            assert!(
                !entry.reason.is_empty() && !entry.source.is_empty(),
                "{}",
                entry.name
            );
        }
    }
}

#[test]
fn a_mask_leaves_the_register_open_on_a_big_endian_machine() {
    // powerpc 8xx: mtspr 794,rS whatever rS is.
    let mtspr = ("mtspr 794", "open", "7c1ac3a6", Some("fc1fffff"));
    let opcodes = parse(&table("big", &[mtspr])).unwrap();
    assert_eq!(
        opcodes.meaning(&0x7d3a_c3a6_u32.to_be_bytes()),
        Meaning::Open
    );
    assert_eq!(
        opcodes.meaning(&0x7d3a_c3a6_u32.to_le_bytes()),
        Meaning::Other
    );
    assert_eq!(
        opcodes.meaning(&0x7d3a_c3a7_u32.to_be_bytes()),
        Meaning::Other
    );
}

#[test]
fn a_little_endian_word_is_turned_into_memory_order() {
    // arm64: msr pan, #0 and #1 differ in the immediate.
    let open = ("msr pan, #0", "open", "d500409f", None);
    let close = ("msr pan, #1", "close", "d500419f", None);
    let opcodes = parse(&table("little", &[open, close])).unwrap();
    assert_eq!(opcodes.meaning(&[0x9f, 0x40, 0x00, 0xd5]), Meaning::Open);
    assert_eq!(opcodes.meaning(&[0x9f, 0x41, 0x00, 0xd5]), Meaning::Close);
}

#[test]
fn faults_are_sentences() {
    let clash = [
        ("a", "open", "0f01", Some("ff00")),
        ("b", "close", "0fff", None),
    ];
    let faults = [
        Opcodes::built_in("vax"),
        parse(&table("memory", &[("a", "open", "0f0", None)])),
        parse(&table("memory", &[("a", "open", "", None)])),
        parse(&table("memory", &[("a", "open", "0+01", None)])),
        parse(&table("memory", &[("a", "open", "0f01", Some("ff"))])),
        parse(&table("memory", &clash)),
    ];
    let faults = faults.map(|fault| fault.unwrap_err().to_string());
    insta::assert_snapshot!(faults.join("\n"));
    let unknown = parse(&table("sideways", &[])).unwrap_err();
    assert!(matches!(unknown, OpcodesError::Format(_)), "{unknown}");
}
