use object::write::{Object, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SectionKind};
use object::{SymbolFlags, SymbolKind, SymbolScope};

use super::*;
use crate::analysis::Analysis;
use crate::code::Code;
use crate::rules::Rule;

const ARCHITECTURES: &str = include_str!("../../../../data/architectures.toml");
/// Of a machine that nobody has heard of: its gate is one word each way.
const VAX: &str = r#"
[[architecture]]
name = "vax"
decoder = "words"
reason = "a test"
source = "a test"
[[architecture.target]]
name = "vax780"
kbuild = "vax"
machine = 75
class = 32
order = "little"
cross = "vax-linux-"
qemu = "vax"
"#;
const CODE: &str = r#"
accesses_need_window = false
[[instruction]]
name = "opengate"
kind = "open"
value = "11111111"
mask = "ffffffff"
reason = "a test"
source = "a test"
[[instruction]]
name = "closegate"
kind = "close"
value = "22222222"
mask = "ffffffff"
reason = "a test"
source = "a test"
[[instruction]]
name = "ret"
kind = "return"
value = "33333333"
mask = "ffffffff"
reason = "a test"
source = "a test"
"#;

/// An object file with one function of these words, for that machine.
fn object(machine: u16, words: &[u32]) -> Vec<u8> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::Arm, Endianness::Little);
    let text = object.add_section(Vec::new(), b".text".to_vec(), SectionKind::Text);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    object.append_section_data(text, &bytes, 4);
    object.add_symbol(Symbol {
        name: b"f".to_vec(),
        value: 0,
        size: bytes.len() as u64,
        kind: SymbolKind::Text,
        scope: SymbolScope::Dynamic,
        weak: false,
        section: SymbolSection::Section(text),
        flags: SymbolFlags::None,
    });
    let mut file = object.write().unwrap();
    file[0x12..0x14].copy_from_slice(&machine.to_le_bytes());
    file
}

#[test]
fn an_architecture_of_an_unknown_name_is_read_by_its_data_alone() {
    let all = Architectures::parse(&format!("{ARCHITECTURES}{VAX}")).unwrap();
    let text = |name: &str| (name == "vax").then_some(CODE).or_else(|| code(name));
    let tables: &'static Tables = Box::leak(Box::new(Tables::of(all, text)));
    let read = |words: &[u32]| {
        let file = object(75, words);
        Analysis::of_code(
            &mut Code::of(file.as_slice().into(), tables).unwrap(),
            &|_, _| (),
        )
        .unwrap()
    };
    let good = read(&[0x1111_1111, 0x2222_2222, 0x3333_3333]);
    assert_eq!(good.arch, "vax");
    assert_eq!((good.totals().opens, good.totals().closes), (1, 1));
    assert_eq!(good.findings(), 0);
    let bad = read(&[0x1111_1111, 0x3333_3333]);
    assert_eq!(bad.functions[0].findings[0].rule, Rule::ReturnOpen);
}

#[test]
fn a_jump_that_does_not_say_where_to_is_refused() {
    let all = Architectures::parse(&format!("{ARCHITECTURES}{VAX}")).unwrap();
    let jump = CODE.replace("\"return\"", "\"jump\"");
    let text: &'static str = Box::leak(jump.into_boxed_str());
    let text = |name: &str| (name == "vax").then_some(text).or_else(|| code(name));
    let tables: &'static Tables = Box::leak(Box::new(Tables::of(all, text)));
    let file = object(75, &[0x3333_3333]);
    let Err(error) = Code::of(file.as_slice().into(), tables) else {
        panic!("it jumps to itself");
    };
    assert!(
        error.to_string().contains("`ret` goes somewhere"),
        "{error}"
    );
}

#[test]
fn what_is_known_of_no_file_is_said_with_its_name() {
    let refused = |machine| {
        let file = object(machine, &[0]);
        Analysis::of(file.as_slice()).unwrap_err().to_string()
    };
    let known = "known are: x86, arm64, powerpc, riscv, arm";
    let sentence = |name| format!("object code of {name} is not known here; {known}");
    assert_eq!(refused(75), sentence("ELF machine 75"));
    // The table has a name for it alone.
    assert_eq!(refused(8), sentence("mips"));
}

#[test]
fn a_file_of_another_format_is_no_defect() {
    let coff = Object::new(BinaryFormat::Coff, Architecture::X86_64, Endianness::Little);
    let coff = coff.write().unwrap();
    let error = Analysis::of(coff.as_slice()).unwrap_err().to_string();
    assert!(
        error.contains("another format") && !error.contains("defect"),
        "{error}"
    );
}
