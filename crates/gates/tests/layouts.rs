//! The kernel changed how the records of its tables are laid out more than
//! once: each layout is found from the object, and none is assumed.

#![allow(clippy::unwrap_used, dead_code, reason = "a test says what it expects")]

use object::write::{Object, Relocation, StandardSection, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationFlags, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope,
};
use tollgate_gates::{Analysis, FunctionGates, Listing, Mark, Rule};

mod support;
use support::{KERNEL, assemble, link};

/// The fields of a record of `.altinstructions` behind its two distances, as
/// `support::KERNEL` has them (6.3 and later: 14 bytes).
const FOURTEEN: &str = "\
    .4byte \\feature
    .byte 772b - 771b
    .byte 774b - 773b
";

/// The same of 5.13 to 6.2: 12 bytes.
const TWELVE: &str = "\
    .2byte \\feature
    .byte 772b - 771b
    .byte 774b - 773b
";

/// The same of 4.0 to 5.12, with the length of what pads the code: 13 bytes.
const THIRTEEN: &str = "\
    .2byte \\feature
    .byte 772b - 771b
    .byte 774b - 773b
    .byte 772b - 771b
";

const WINDOW: &str = "
    FN f
    STAC
    FENCE
    PUT 1f
    CLAC
    xorl %eax, %eax
    ret
1:  CLAC
    ret
    END f
    FN rdtsc
    ALT \"0x0f,0x31,0x90\", 642
    ret
    END rdtsc
";

/// An object and the same linked, of a kernel in whose macros `new` stands in
/// place of `old`, and whose number of LFENCE_RDTSC is `fence`.
fn both(old: &str, new: &str, fence: &str, text: &str) -> Option<[Vec<u8>; 2]> {
    assert!(KERNEL.contains(old), "{old}");
    let kernel = KERNEL.replace(old, new);
    let text = format!("{kernel}{text}").replace("642", fence);
    let object = assemble("as --64", &text)?;
    let linked = link(&object)?;
    Some([object, linked])
}

fn f(analysis: &Analysis) -> FunctionGates {
    let mut all = analysis.functions.iter();
    all.find(|function| function.name == "f").cloned().unwrap()
}

fn rules(function: &FunctionGates) -> Vec<Rule> {
    function
        .findings
        .iter()
        .map(|finding| finding.rule)
        .collect()
}

#[test]
fn alternatives_of_every_length_are_read() {
    // The number of X86_FEATURE_LFENCE_RDTSC changed with 6.3, too.
    let forms = [(TWELVE, "114"), (THIRTEEN, "114"), (FOURTEEN, "642")];
    for (form, fence) in forms {
        let Some(files) = both(FOURTEEN, form, fence, WINDOW) else {
            return;
        };
        for file in files {
            let analysis = Analysis::of(&file).unwrap();
            let counts = f(&analysis).counts;
            assert_eq!(
                (counts.opens, counts.closes, counts.fences, counts.accesses),
                (1, 2, 1, 1),
                "{form}"
            );
            assert_eq!(rules(&f(&analysis)), [], "{form}");
            assert_eq!(analysis.patched, analysis.patched_in_functions);
            assert_eq!(analysis.unread_records, 0);
        }
    }
}

/// A window whose trap goes on only where the table of bugs says that it is a
/// warning. `BUG` writes a record for the label `1:`.
const WARNING: &str = "
    FN f
    STAC
1:  ud2
    BUG 1b
    nop
2:  ud2
    BUG 2b
    CLAC
    ret
    END f
    .section .rodata.str1.1, \"aMS\", @progbits, 1
    .quad 0
text: .asciz \"include/linux/thread_info.h\"
";

#[test]
fn bugs_of_every_length_are_read() {
    let forms = [
        (6, ".long \\at - .; .2byte 1"),
        (8, ".long \\at - .; .2byte 1, 0"),
        (10, ".long \\at - .; .long text - .; .2byte 1"),
        (12, ".long \\at - .; .long text - .; .2byte 217, 0x901"),
        (
            16,
            ".long \\at - .; .long text - .; .long text - .; .2byte 217, 0x901",
        ),
        (16, ".quad \\at; .2byte 1, 0; .long 0"),
        (24, ".quad \\at, text; .2byte 217, 0x901; .long 0"),
    ];
    for (bytes, fields) in forms {
        let bug = format!(
            ".macro BUG at\n.pushsection __bug_table, \"aw\"\n{fields}\n.popsection\n.endm\n"
        );
        let Some(files) = both(FOURTEEN, FOURTEEN, "642", &format!("{bug}{WARNING}")) else {
            return;
        };
        for file in files {
            let found = f(&Analysis::of(&file).unwrap());
            assert_eq!(rules(&found), [], "{bytes} bytes: {fields}");
            assert_eq!((found.inside, found.longest()), (3, Some(3)), "{fields}");
        }
    }
}

#[test]
fn a_trap_that_is_no_warning_ends_the_path() {
    let bug = ".macro BUG at\n.pushsection __bug_table, \"aw\"\n\
               .long \\at - .; .long text - .; .2byte 217, 0\n.popsection\n.endm\n";
    let Some(files) = both(FOURTEEN, FOURTEEN, "642", &format!("{bug}{WARNING}")) else {
        return;
    };
    for file in files {
        let found = f(&Analysis::of(&file).unwrap());
        assert_eq!(rules(&found), [Rule::NotReached]);
    }
}

#[test]
fn faults_of_both_forms_tell_accesses_to_user_memory() {
    let kind = "    .long 3\n";
    // 4.6 to 5.15: a function handles the fault.
    let handler = "    .long ex_handler_uaccess - .\n";
    let text = "
    FN f
    STAC
    PUT 1f
1:  CLAC
2:  movl (%rdi), %eax
    .pushsection __ex_table, \"a\"
    .long 2b - ., 2b - .
    OTHER
    .popsection
    ret
    END f
    FN ex_handler_uaccess
    ret
    END ex_handler_uaccess
    FN ex_handler_default
    ret
    END ex_handler_default
";
    for (form, other) in [(kind, ".long 1"), (handler, ".long ex_handler_default - .")] {
        let text = text.replace("OTHER", other);
        let Some(files) = both(kind, form, "642", &text) else {
            return;
        };
        for file in files {
            let found = f(&Analysis::of(&file).unwrap());
            assert_eq!(found.counts.accesses, 1, "{form}");
            assert_eq!(rules(&found), [], "{form}");
        }
    }
}

#[test]
fn the_copies_of_older_kernels_are_accesses() {
    // EX_TYPE_COPY.
    let text = "FN f\n STAC\n PUT 1f\n1: CLAC\n ret\n END f\n";
    let Some(files) = both("    .long 3\n", "    .long 4\n", "642", text) else {
        return;
    };
    for file in files {
        let found = f(&Analysis::of(&file).unwrap());
        assert_eq!((found.counts.accesses, rules(&found)), (1, vec![]));
    }
}

#[test]
fn jumps_of_both_forms_are_followed() {
    let forms = [".long 1b - ., 2b - .; .quad key - .", ".quad 1b, 2b, key"];
    for form in forms {
        let text = format!(
            "
    FN f
1:  xchg %ax, %ax
    ret
2:  STAC
    ret
    END f
    .data
key: .quad 0
    .section .rodata
    .globl __start___jump_table, __stop___jump_table
    .quad 0
    .section __jump_table, \"aw\"
__start___jump_table:
    {form}
__stop___jump_table:
"
        );
        let Some(files) = both(FOURTEEN, FOURTEEN, "642", &text) else {
            return;
        };
        for file in files {
            let found = f(&Analysis::of(&file).unwrap());
            assert_eq!(rules(&found), [Rule::ReturnOpen], "{form}");
        }
    }
}

#[test]
fn what_fits_no_layout_is_a_doubt() {
    let long = format!("{FOURTEEN}    .byte 0\n");
    let Some(files) = both(FOURTEEN, &long, "642", WINDOW) else {
        return;
    };
    let texts = files.map(|file| Analysis::of(&file).unwrap_err().to_string());
    insta::assert_snapshot!("doubt", texts.join("\n\n"));
}

#[test]
fn a_record_that_makes_no_sense_is_a_doubt() {
    // More bytes put in than replaced; a feature above all numbers; flags that
    // no kernel has.
    let [lengths, feature, flags] = [
        ("    .byte 774b - 773b\n", "    .byte 4\n"),
        ("    .4byte \\feature\n", "    .4byte 0x7fff\n"),
        ("    .4byte \\feature\n", "    .2byte 308, 0x8000\n"),
    ];
    for (old, new) in [lengths, feature, flags] {
        let Some(files) = both(old, new, "642", WINDOW) else {
            return;
        };
        for file in files {
            let text = Analysis::of(&file).unwrap_err().to_string();
            assert!(text.contains("records of `.altinstructions`"), "{text}");
        }
    }
}

/// A table in an object of another machine, put together field by field.
struct Table {
    section: &'static str,
    /// Each field's bytes, and the relocation that points it to the function: as
    /// far behind its begin as the first byte says.
    fields: &'static [(&'static [u8], Option<u32>)],
}

/// An object with one function of these words, and a table of two records that
/// point to its first.
fn object(arch: Architecture, endian: Endianness, words: &[u32], table: &Table) -> Vec<u8> {
    let mut object = Object::new(BinaryFormat::Elf, arch, endian);
    let text = object.section_id(StandardSection::Text);
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|word| match endian {
            Endianness::Little => word.to_le_bytes(),
            Endianness::Big => word.to_be_bytes(),
        })
        .collect();
    object.append_section_data(text, &bytes, 4);
    let symbol = object.add_symbol(Symbol {
        name: "f".into(),
        value: 0,
        size: bytes.len() as u64,
        kind: SymbolKind::Text,
        scope: SymbolScope::Linkage,
        weak: false,
        section: SymbolSection::Section(text),
        flags: SymbolFlags::None,
    });
    let section = object.add_section(
        vec![],
        table.section.as_bytes().to_vec(),
        SectionKind::ReadOnlyData,
    );
    // Fixups count from their record.
    let counts = table.section.ends_with("_fixup");
    for _ in 0..2 {
        let mut into = 0;
        for (bytes, relocation) in table.fields {
            let offset = object.append_section_data(section, bytes, 1);
            let behind = i64::from(*bytes.first().unwrap());
            let addend = behind + if counts { into } else { 0 };
            into += i64::try_from(bytes.len()).unwrap();
            if let Some(kind) = relocation {
                let flags = RelocationFlags::Elf {
                    r_type: object::elf::RelocationType(*kind),
                };
                let relocation = Relocation {
                    offset,
                    symbol,
                    addend,
                    flags,
                };
                object.add_relocation(section, relocation).unwrap();
            }
        }
    }
    object.write().unwrap()
}

#[test]
fn faults_of_other_machines_are_read_in_every_form() {
    use Architecture::{Aarch64, Arm, PowerPc, PowerPc64, Riscv64};
    const FOUR: &[u8] = &[0; 4];
    const EIGHT: &[u8] = &[0; 8];
    let table = |fields| Table {
        section: "__ex_table",
        fields,
    };
    let (little, big) = (Endianness::Little, Endianness::Big);
    // R_AARCH64_PREL32, R_RISCV_ADD32, R_RISCV_64, R_ARM_ABS32, R_PPC_REL32.
    let cases = [
        (
            Aarch64,
            little,
            table(&[(FOUR, Some(261)), (FOUR, Some(261)), (&[2, 0, 0, 0], None)]),
        ),
        (
            Aarch64,
            little,
            table(&[(FOUR, Some(261)), (FOUR, Some(261))]),
        ),
        (
            Riscv64,
            little,
            table(&[(FOUR, Some(35)), (FOUR, Some(35)), (&[3, 0, 0, 0], None)]),
        ),
        (
            Riscv64,
            little,
            table(&[(EIGHT, Some(2)), (EIGHT, Some(2))]),
        ),
        (Arm, little, table(&[(FOUR, Some(2)), (FOUR, Some(2))])),
        (PowerPc, big, table(&[(FOUR, Some(26)), (FOUR, Some(26))])),
        (
            PowerPc64,
            little,
            table(&[(FOUR, Some(26)), (FOUR, Some(26))]),
        ),
    ];
    for (arch, endian, table) in cases {
        let file = object(arch, endian, &[0, 0], &table);
        let analysis = Analysis::of(&file).unwrap_or_else(|error| panic!("{arch:?}: {error}"));
        assert_eq!(f(&analysis).counts.accesses, 1, "{arch:?}");
    }
}

#[test]
fn the_replacing_is_left_to_a_function_in_both_forms_of_arm64() {
    const FOUR: &[u8] = &[0; 4];
    // Up to 6.0 the number behind the last of the features, later a bit.
    for feature in [&[80, 0, 4, 0], &[0, 0x80, 4, 0]] {
        let fields: &[_] = &[(FOUR, Some(261)), (FOUR, Some(261)), (feature, None)];
        let table = Table {
            section: ".altinstructions",
            fields: Box::leak(fields.into()),
        };
        let little = Endianness::Little;
        let ret = 0xd65f_03c0;
        let file = object(Architecture::Aarch64, little, &[ret, ret], &table);
        assert_eq!(Analysis::of(&file).unwrap().unread_records, 0);
    }
}

#[test]
fn what_features_switch_off_is_read_in_both_widths_of_powerpc() {
    const FOUR: &[u8] = &[0; 4];
    const EIGHT: &[u8] = &[0; 8];
    // Behind the second instruction.
    const FOUR_END: &[u8] = &[8, 0, 0, 0];
    const EIGHT_END: &[u8] = &[8, 0, 0, 0, 0, 0, 0, 0];
    // R_PPC_REL32, R_PPC64_REL64: mask, value, start, end, and an alternative.
    let narrow: &[_] = &[
        (FOUR, None),
        (FOUR, None),
        (FOUR, Some(26)),
        (FOUR_END, Some(26)),
    ];
    let wide: &[_] = &[
        (EIGHT, None),
        (EIGHT, None),
        (EIGHT, Some(44)),
        (EIGHT_END, Some(44)),
    ];
    let cases = [
        (Architecture::PowerPc, Endianness::Big, FOUR, narrow),
        (Architecture::PowerPc64, Endianness::Little, EIGHT, wide),
    ];
    for (arch, endian, empty, fields) in cases {
        let fields = [fields, &[(empty, None), (empty, None)]].concat();
        let table = Table {
            section: "__mmu_ftr_fixup",
            fields: Box::leak(fields.into()),
        };
        // lis r9,0xdc00; mtspr 794,r9; blr
        let words = [0x3d20_dc00, 0x7d3a_c3a6, 0x4e80_0020];
        let file = object(arch, endian, &words, &table);
        let analysis = Analysis::of(&file).unwrap();
        assert_eq!((f(&analysis).counts.opens, analysis.unread_records), (1, 0));
        // What the register is given is told by the function alone.
        let patched = analysis.patched;
        assert_eq!(
            (patched.unknown, analysis.patched_in_functions),
            (1, patched),
            "{arch:?}"
        );
        // What may be switched off is shown as it stands.
        let [listing] = Listing::of(&file, "f").unwrap().try_into().unwrap();
        let gate = listing.lines.iter().find(|line| line.mark == Mark::Open);
        let gate = gate.map(|line| (line.patched, line.text.as_str()));
        assert_eq!(gate, Some((true, "7d3ac3a6  mtspr 794")), "{arch:?}");
    }
}

/// A function of powerpc that opens and closes the gate where a feature of the CPU
/// is there: each is jumped over by a static key of the array of features. `keys`
/// are the offsets of the two keys; the lowest bit says that the jump is taken where
/// the feature is missing.
fn switched_by_keys(keys: [i64; 2], array: &str) -> Vec<u8> {
    let mut object = Object::new(
        BinaryFormat::Elf,
        Architecture::PowerPc64,
        Endianness::Little,
    );
    let text = object.section_id(StandardSection::Text);
    let words: [u32; 8] = [
        0x6000_0000, // nop, or a jump to the store
        0x3d20_dc00, // lis r9,0xdc00
        0x7d3a_c3a6, // mtspr 794,r9: opens
        0x9064_0000, // stw r3,0(r4)
        0x6000_0000, // nop, or a jump to the return
        0x3d20_de00, // lis r9,0xde00
        0x7d3a_c3a6, // mtspr 794,r9: closes
        0x4e80_0020, // blr
    ];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    object.append_section_data(text, &bytes, 4);
    let mut symbol = |name: &str, size: u64, kind, section| {
        object.add_symbol(Symbol {
            name: name.into(),
            value: 0,
            size,
            kind,
            scope: SymbolScope::Linkage,
            weak: false,
            section,
            flags: SymbolFlags::None,
        })
    };
    let function = symbol("f", 32, SymbolKind::Text, SymbolSection::Section(text));
    let features = symbol(array, 0, SymbolKind::Unknown, SymbolSection::Undefined);
    let name = b"__jump_table".to_vec();
    let table = object.add_section(vec![], name, SectionKind::ReadOnlyData);
    // struct jump_entry: s32 code, s32 target, long key, each counted from itself
    // (R_PPC64_REL32, R_PPC64_REL64).
    for (from, to, key) in [(0, 12, keys[0]), (16, 28, keys[1])] {
        let fields = [
            (4, 26, function, from),
            (4, 26, function, to),
            (8, 44, features, key),
        ];
        for (width, kind, symbol, addend) in fields {
            let offset = object.append_section_data(table, &vec![0; width], 1);
            let flags = RelocationFlags::Elf {
                r_type: object::elf::RelocationType(kind),
            };
            let relocation = Relocation {
                offset,
                symbol,
                addend,
                flags,
            };
            object.add_relocation(table, relocation).unwrap();
        }
    }
    object.write().unwrap()
}

/// A CPU has the feature or has it not: no path opens with it and goes on without.
#[test]
fn the_keys_of_one_feature_are_all_on_or_all_off() {
    let rules_of = |keys, array| rules(&f(&Analysis::of(&switched_by_keys(keys, array)).unwrap()));
    assert_eq!(rules_of([0x31, 0x31], "mmu_feature_keys"), []);
    assert_eq!(rules_of([0x31, 0x31], "cpu_feature_keys"), []);
    // The same feature, of which one place asks whether it is missing.
    assert_ne!(rules_of([0x31, 0x30], "mmu_feature_keys"), []);
    // A kernel that has the gate has both of two features that it needs.
    assert_eq!(rules_of([0x31, 0x41], "mmu_feature_keys"), []);
    // Keys that anything may turn while the kernel runs are followed both ways.
    let mut found = rules_of([0x31, 0x31], "some_key");
    found.sort_by_key(|rule| rule.name());
    assert_eq!(found, [Rule::CloseNotOpen, Rule::ReturnOpen]);
}

#[test]
fn a_table_of_another_machine_that_fits_nothing_is_a_doubt() {
    const EIGHT: &[u8] = &[0; 8];
    // R_PPC64_REL64: a record of five fields.
    let table = Table {
        section: "__mmu_ftr_fixup",
        fields: &[
            (EIGHT, None),
            (EIGHT, None),
            (EIGHT, Some(44)),
            (EIGHT, Some(44)),
            (EIGHT, None),
        ],
    };
    let file = object(Architecture::PowerPc64, Endianness::Little, &[0, 0], &table);
    let text = Analysis::of(&file).unwrap_err().to_string();
    assert!(
        text.contains("the records of `__mmu_ftr_fixup` (80 bytes)"),
        "{text}"
    );
}

#[test]
fn the_gate_of_lass_is_none_to_user_memory() {
    // X86_FEATURE_LASS, 12*32+6: lass_stac(), lass_clac() around text_poke().
    let text = "
    FN f
    ALT \"0x0f,0x01,0xcb\", 390
    call memcpy
    ALT \"0x0f,0x01,0xca\", 390
    ret
    END f
";
    let Some(files) = both(FOURTEEN, FOURTEEN, "642", &format!("{text}\nmemcpy: ret\n")) else {
        return;
    };
    for file in files {
        let found = f(&Analysis::of(&file).unwrap());
        assert_eq!((found.counts.opens, found.counts.closes), (0, 0));
        // The same flag of the CPU as in a window: what is called runs with it.
        assert_eq!(rules(&found), [Rule::CallInWindow]);
    }
}

#[test]
fn the_returns_of_fred_are_no_closing() {
    // ERETU and ERETS hold the three bytes of clac behind a prefix.
    let text = "
    FN f
    STAC
    CLAC
    ret
    .byte 0xf3, 0x0f, 0x01, 0xca
    .byte 0xf2, 0x0f, 0x01, 0xca
    END f
";
    let Some(files) = both(FOURTEEN, FOURTEEN, "642", text) else {
        return;
    };
    for file in files {
        let found = f(&Analysis::of(&file).unwrap());
        assert_eq!((found.counts.opens, found.counts.closes), (1, 1));
        assert_eq!(rules(&found), []);
    }
}
