use proptest::prelude::*;

use super::*;

const TEXT: u64 = 0xffff_ffff_8100_0000;

/// A symbol of the ELF file that [`elf`] makes.
struct Entry(&'static str, u8, u8, u64, u64);

const FUNC: u8 = 2;
const NOTYPE: u8 = 0;
const OBJECT: u8 = 1;
const LOCAL: u8 = 0;
const GLOBAL: u8 = 1;
const WEAK: u8 = 2;

/// A little-endian ELF64 of type `kind` with `.text` (0x100 bytes at [`TEXT`])
/// and a symbol table. CodeTables: header, text, symtab, strtab, shstrtab, headers.
fn elf(kind: u16, entries: &[Entry]) -> Vec<u8> {
    let mut names = vec![0];
    let mut table = vec![0; 24];
    for Entry(name, binding, kind, address, size) in entries {
        table.extend(u32::try_from(names.len()).unwrap().to_le_bytes());
        table.extend([binding << 4 | kind, 0, 1, 0]);
        table.extend(address.to_le_bytes());
        table.extend(size.to_le_bytes());
        names.extend(name.bytes().chain([0]));
    }
    let section_names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0".to_vec();
    let bodies = [vec![0x90; 0x100], table, names, section_names];
    let mut offset = 64;
    let mut headers = vec![0; 64];
    //          name, type, flags (ALLOC|EXECINSTR), address, link, info, entry size
    let kinds = [
        (1, 1, 6, TEXT, 0, 0, 0),
        (7, 2, 0, 0, 3, 1, 24),
        (15, 3, 0, 0, 0, 0, 0),
        (23, 3, 0, 0, 0, 0, 0),
    ];
    for (body, (name, kind, flags, address, link, info, entry)) in bodies.iter().zip(kinds) {
        let size = body.len() as u64;
        headers.extend([u32::to_le_bytes(name), u32::to_le_bytes(kind)].concat());
        headers.extend(
            [flags, address, offset, size]
                .map(u64::to_le_bytes)
                .concat(),
        );
        headers.extend([u32::to_le_bytes(link), u32::to_le_bytes(info)].concat());
        headers.extend([1, entry].map(u64::to_le_bytes).concat());
        offset += size;
    }
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([kind, 62].map(u16::to_le_bytes).concat());
    file.extend(1_u32.to_le_bytes());
    file.extend([TEXT, 0, offset].map(u64::to_le_bytes).concat());
    file.extend(0_u32.to_le_bytes());
    file.extend([64_u16, 56, 0, 64, 5, 4].map(u16::to_le_bytes).concat());
    file.extend(bodies.concat());
    file.extend(headers);
    file
}

fn kernel() -> Vec<u8> {
    elf(
        2,
        &[
            Entry("inner_label", LOCAL, NOTYPE, TEXT + 0x08, 0),
            Entry("_stext", GLOBAL, NOTYPE, TEXT, 0),
            Entry("entry", GLOBAL, NOTYPE, TEXT, 0x10),
            Entry("asm_label", LOCAL, NOTYPE, TEXT + 0x10, 0),
            Entry("__do_a", LOCAL, FUNC, TEXT + 0x40, 0x10),
            Entry("do_a", GLOBAL, FUNC, TEXT + 0x40, 0x10),
            Entry("a", WEAK, FUNC, TEXT + 0x40, 0x10),
            Entry("a_table", GLOBAL, OBJECT, TEXT + 0x60, 0x10),
            Entry("last", LOCAL, FUNC, TEXT + 0x80, 0),
        ],
    )
}

#[test]
fn functions_are_found_by_address() {
    let symbols = Symbols::parse(&kernel()).unwrap();
    let names = [
        0, 0x08, 0x0f, 0x10, 0x3f, 0x40, 0x4f, 0x50, 0x60, 0x80, 0xff, 0x100,
    ];
    let names = names.map(|offset| symbols.function_at(TEXT + offset).unwrap_or("-"));
    assert_eq!(
        names,
        [
            "entry",
            "entry",
            "entry", // an inner label does not split it
            "asm_label",
            "asm_label", // no size: to the next symbol
            "do_a",
            "do_a",
            "-", // after its end there is nothing
            "-", // data in text is no function
            "last",
            "last",
            "-", // no size, last: to the end of its section
        ]
    );
    assert_eq!(symbols.len(), 4);
    assert_eq!(symbols.function_at(0), None);
    assert_eq!(symbols.function_at(u64::MAX), None);
}

#[test]
fn the_name_of_an_address_does_not_depend_on_the_order_of_the_table() {
    let aliases = ["__se_sys_x", "sys_x", "sys_y", "sys_long"];
    let mut symbols: Vec<_> = aliases
        .iter()
        .map(|name| Symbol::function(*name, 16, 8))
        .collect();
    let forward = Symbols::new(symbols.clone());
    symbols.reverse();
    assert_eq!(forward.function_at(20), Some("sys_x"));
    assert_eq!(forward, Symbols::new(symbols));
}

#[test]
fn the_innermost_of_overlapping_functions_is_named() {
    let nested = [
        Symbol::function("outer", 0, 100),
        Symbol::function("inner", 10, 10),
    ];
    let symbols = Symbols::new(nested);
    let names = [5, 10, 19, 20, 99, 100].map(|address| symbols.function_at(address).unwrap_or("-"));
    assert_eq!(names, ["outer", "inner", "inner", "outer", "outer", "-"]);
}

#[test]
fn faults_are_sentences() {
    let stripped = elf(2, &[Entry("data", GLOBAL, OBJECT, TEXT, 8)]);
    let relocatable = elf(1, &[Entry("f", GLOBAL, FUNC, 0, 8)]);
    let cut_off = kernel().split_at(200).0.to_vec();
    let faults = [
        &b"MZ\x90\0 a bzImage"[..],
        b"",
        &stripped,
        &relocatable,
        &cut_off,
    ];
    let faults = faults.map(|image| Symbols::parse(image).unwrap_err().to_string());
    insta::assert_snapshot!(faults.join("\n"));
}

#[test]
fn a_symbol_that_names_no_section_is_no_function_and_no_panic() {
    let mut file = kernel();
    // The section index of the first symbol: after header, text, null symbol.
    let index = 64 + 0x100 + 24 + 6;
    file[index] = 0x77;
    assert!(Symbols::parse(&file).is_err());
}

proptest! {
    #[test]
    fn every_cut_of_a_kernel_is_an_error(length in 0_usize..900) {
        let file = kernel();
        prop_assume!(length < file.len());
        prop_assert!(Symbols::parse(&file[..length]).is_err());
    }

    #[test]
    fn bytes_that_lie_never_panic(
        damage in prop::collection::vec((0_usize..1000, any::<u8>()), 1..8),
        address in any::<u64>(),
    ) {
        let mut file = kernel();
        for (at, byte) in damage {
            let at = at % file.len();
            file[at] = byte;
        }
        if let Ok(symbols) = Symbols::parse(&file) {
            let _ = symbols.function_at(address);
        }
    }
}
