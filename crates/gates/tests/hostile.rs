//! Objects that are cut off, altered, or lie about themselves: each is analysed
//! or refused with a sentence.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::io::Cursor;
use std::path::Path;

use object::write::{Object, StandardSection, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, SectionFlags, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope,
};
use tollgate_gates::{Analysis, ObjectError, Stream, fuzz, members};

/// The objects of the fuzz target: of x86, powerpc and arm64, and an archive.
fn objects() -> Vec<Vec<u8>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/gates");
    let files = std::fs::read_dir(corpus).unwrap();
    let objects: Vec<_> = files
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .collect();
    assert!(objects.len() > 5);
    objects
}

#[test]
fn a_file_may_be_cut_off_anywhere() {
    for object in objects() {
        for length in 0..object.len() {
            fuzz::gates(&object[..length]);
        }
    }
}

#[test]
fn every_field_may_lie() {
    for object in objects() {
        for at in (0..object.len().saturating_sub(8)).step_by(8) {
            for lie in [u64::MAX, 0xffff_fff0, 1 << 40] {
                let mut altered = object.clone();
                altered[at..at + 8].copy_from_slice(&lie.to_le_bytes());
                fuzz::gates(&altered);
            }
        }
    }
}

#[test]
fn any_bit_may_be_flipped() {
    for object in objects() {
        for bit in (0..object.len() * 8).step_by(17) {
            let mut altered = object.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            fuzz::gates(&altered);
        }
    }
}

#[test]
fn what_is_refused_is_refused_with_a_sentence() {
    let whole = objects()
        .into_iter()
        .find(|object| Analysis::of(object).is_ok());
    let whole = whole.unwrap();
    let cut = Analysis::of(&whole[..whole.len() / 2]).unwrap_err();
    assert!(matches!(cut, ObjectError::Elf { .. }), "{cut}");
    let text = cut.to_string();
    assert!(text.contains("cannot be read as an ELF object"), "{text}");
    assert!(text.contains("give a complete .o"), "{text}");
    // e_machine of a machine without tables: SPARC V9.
    let mut sparc = whole.clone();
    sparc[18..20].copy_from_slice(&43_u16.to_le_bytes());
    let text = Analysis::of(&sparc).unwrap_err().to_string();
    assert!(
        text.contains("is not known here; known are: x86, arm64, powerpc"),
        "{text}"
    );
}

/// An object whose `.rodata` says that it holds `size` bytes when inflated.
fn inflating(size: u64) -> Vec<u8> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let text = object.section_id(StandardSection::Text);
    object.append_section_data(text, &[0xc3], 1);
    object.add_symbol(Symbol {
        name: "f".into(),
        value: 0,
        size: 1,
        kind: SymbolKind::Text,
        scope: SymbolScope::Linkage,
        weak: false,
        section: SymbolSection::Section(text),
        flags: SymbolFlags::None,
    });
    let name = b".rodata.f".to_vec();
    let section = object.add_section(vec![], name, SectionKind::ReadOnlyData);
    object.section_mut(section).flags = SectionFlags::Elf {
        sh_type: object::elf::SHT_PROGBITS,
        sh_flags: object::elf::SHF_ALLOC | object::elf::SHF_COMPRESSED,
    };
    // Elf64_Chdr: ELFCOMPRESS_ZLIB, reserved, size, alignment.
    let mut header = vec![1, 0, 0, 0, 0, 0, 0, 0];
    header.extend(size.to_le_bytes());
    header.extend(1_u64.to_le_bytes());
    object.append_section_data(section, &header, 8);
    object.write().unwrap()
}

#[test]
fn what_inflates_without_end_is_refused_by_name() {
    let text = Analysis::of(&inflating(1 << 44)).unwrap_err().to_string();
    assert!(
        text.starts_with("section `.rodata.f` of the file is 17592186044416 bytes long"),
        "{text}"
    );
    // A size that may be is taken at its word, and the data found wanting.
    let text = Analysis::of(&inflating(1 << 20)).unwrap_err().to_string();
    assert!(text.contains("cannot be read as an ELF object"), "{text}");
}

#[test]
fn functions_that_share_their_code_again_and_again_are_refused() {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let text = object.section_id(StandardSection::Text);
    object.append_section_data(text, &vec![0xc3; 1 << 20], 1);
    for number in 0..64 {
        object.add_symbol(Symbol {
            name: format!("f{number}").into_bytes(),
            value: number,
            size: 1 << 20,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section: SymbolSection::Section(text),
            flags: SymbolFlags::None,
        });
    }
    let text = Analysis::of(&object.write().unwrap())
        .unwrap_err()
        .to_string();
    assert!(text.contains("its symbols lie"), "{text}");
}

#[test]
fn a_stream_gives_what_its_bytes_give() {
    for object in objects() {
        let stream = Stream::new(Cursor::new(object.clone())).unwrap();
        assert_eq!(Analysis::of(&stream), Analysis::of(&object));
        let of_stream: Vec<_> = members(&stream).into_iter().flatten().collect();
        let of_bytes: Vec<_> = members(&object).into_iter().flatten().collect();
        assert_eq!(of_stream.len(), of_bytes.len());
        for (one, other) in of_stream.iter().zip(&of_bytes) {
            let [one, other] = [one, other].map(|member| member.object.map(Analysis::of));
            assert_eq!(one, other);
        }
    }
}

#[test]
fn what_holds_an_object_is_named() {
    let mut image = vec![0; 0x400];
    image[0x202..0x206].copy_from_slice(b"HdrS");
    for (bytes, words) in [
        (b"\xfd7zXZ\0".to_vec(), "unpack it with `xz -dk`"),
        (b"\x28\xb5\x2f\xfd".to_vec(), "unpack it with `zstd -dk`"),
        (image, "it is a bzImage"),
    ] {
        let text = Analysis::of(&bytes).unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn relocations_that_are_cut_off_or_name_no_symbol_are_no_clean_object() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/gates");
    let whole = std::fs::read(corpus.join("x86")).unwrap();
    assert!(Analysis::of(&whole).is_ok());
    let number = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap());
    let (headers, count) = (number(40), u64::from(whole[60]));
    // Elf64_Shdr: sh_type at 4, sh_offset at 24, sh_size at 32; SHT_RELA is 4.
    let header = |index: u64| usize::try_from(headers + index * 64).unwrap();
    let lists: Vec<usize> = (0..count)
        .map(header)
        .filter(|at| whole[at + 4] == 4)
        .collect();
    assert!(!lists.is_empty());
    for at in lists {
        let mut long = whole.clone();
        long[at + 32..at + 40].copy_from_slice(&(24_u64 << 20).to_le_bytes());
        assert!(Analysis::of(&long).is_err(), "{at:#x}");
        // Elf64_Rela: the symbol is the upper half of r_info, at 8.
        let mut lost = whole.clone();
        let symbol = usize::try_from(number(at + 24)).unwrap() + 12;
        lost[symbol..symbol + 4].copy_from_slice(&0x00ff_ffff_u32.to_le_bytes());
        assert!(Analysis::of(&lost).is_err(), "{at:#x}");
        // One whose name cannot be read might be of any section.
        long[at..at + 4].copy_from_slice(&0x00ff_ffff_u32.to_le_bytes());
        assert!(Analysis::of(&long).is_err(), "{at:#x}");
    }
}
