//! An ELF file, as far as every command reads it.

use std::borrow::Cow;
use std::collections::HashMap;

use object::{Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags, elf};
use tollgate_defect::answer;

use super::place::{Place, Section};
use super::relocations::Relocations;
use crate::error::ObjectError;
use crate::input::{File, Input, MOST_BYTES};
use crate::kallsyms::{self, Constants, Entry};
use crate::memory::GONE;
use crate::symbols::{self, Symbols};

/// An ELF file, read as far as every command needs it.
pub(crate) struct ElfFile<'data> {
    pub(super) input: Input<'data>,
    pub(crate) file: File<'data>,
    pub(crate) relocatable: bool,
    pub(crate) sections: Vec<Section<'data>>,
    pub(crate) relocations: Relocations,
    /// Where the sections of a linked file are that the running kernel has in
    /// memory, by address.
    memory: Vec<std::ops::Range<u64>>,
}

/// How much more room a symbol or a relocation takes than in the file.
const LISTED: u64 = 4;

/// The sections besides the executable ones that say something about code.
const TABLES: &[&str] = &[
    "__ex_table",
    ".altinstructions",
    ".alternative",
    "__jump_table",
    "__bug_table",
    "__mmu_ftr_fixup",
    "__barrier_nospec_fixup",
];

impl<'data> ElfFile<'data> {
    /// # Errors
    /// When `bytes` is no complete ELF file.
    pub(crate) fn parse(input: Input<'data>) -> Result<Self, ObjectError> {
        let broken = |error: object::Error| broken(input, &error);
        if let Some(reason) = flat(input) {
            return Err(ObjectError::Format(reason.to_owned()));
        }
        let file = File::parse(input).map_err(broken)?;
        let relocatable = file.kind() == ObjectKind::Relocatable;
        let named = named(&file).map_err(broken)?;
        refuse_too_much(&named, relocatable)?;
        let mut functions = symbols::by_section(&file).map_err(broken)?;
        let own = if functions.is_empty() && !relocatable {
            own_names(&named, &file).map_err(broken)?
        } else {
            Vec::new()
        };
        if !own.is_empty() {
            functions = symbols::of_own_names(&file, &own);
        }
        let mut sections = Vec::new();
        for (section, name) in named
            .iter()
            .filter(|(section, name)| is_read(section, name))
        {
            let index = section.index().0;
            let functions = match *name == GONE.as_bytes() {
                true => Symbols::default(),
                false => functions.remove(&index).unwrap_or_default(),
            };
            sections.push(Section {
                index,
                name: String::from_utf8_lossy(name).into_owned(),
                address: section.address(),
                bytes: section.uncompressed_data().map_err(broken)?,
                executable: has(section.flags(), elf::SHF_EXECINSTR),
                writable: has(section.flags(), elf::SHF_WRITE),
                functions,
            });
        }
        let relocations = if relocatable {
            // The reader leaves out what is beyond the end, without a word.
            for (list, _) in named.iter().filter(|(_, name)| is_relocations(name)) {
                list.data().map_err(broken)?;
            }
            Relocations::read(&file, &sections).map_err(broken)?
        } else {
            sections.extend(bounded(&file, &sections, &own).map_err(broken)?);
            Relocations::default()
        };
        // What was not read would be missing without a word.
        if let Some(asked) = input.refused() {
            return Err(too_much("a part", asked));
        }
        Ok(Self {
            memory: memory(&file),
            input,
            file,
            relocatable,
            sections,
            relocations,
        })
    }

    /// Whether a linked file has something at an address.
    pub(crate) fn holds(&self, address: u64) -> bool {
        let after = self.memory.partition_point(|range| range.start <= address);
        let before = self.memory.get(..after).and_then(<[_]>::last);
        before.is_some_and(|range| range.contains(&address))
    }

    pub(crate) fn is_64(&self) -> bool {
        self.file.is_64()
    }

    pub(crate) fn little_endian(&self) -> bool {
        self.file.is_little_endian()
    }

    pub(crate) fn section(&self, index: usize) -> Option<&Section<'data>> {
        let at = self.sections.binary_search_by_key(&index, |s| s.index);
        self.sections.get(answer::found(at)?)
    }

    /// The executable section of a linked file that holds an address.
    pub(crate) fn place_of(&self, address: u64) -> Option<Place> {
        let holds = |s: &&Section<'_>| {
            s.executable && address.wrapping_sub(s.address) < s.bytes.len() as u64
        };
        let section = self.sections.iter().find(holds)?.index;
        Some(Place { section, address })
    }

    /// The section of constants of a linked file that holds an address.
    pub(crate) fn data_place_of(&self, address: u64) -> Option<Place> {
        let holds = |s: &&Section<'_>| {
            is_constants(&s.name) && address.wrapping_sub(s.address) < s.bytes.len() as u64
        };
        let section = self.sections.iter().find(holds)?.index;
        Some(Place { section, address })
    }

    /// Whether a place is among constants.
    pub(crate) fn is_constant(&self, place: Place) -> bool {
        self.section(place.section)
            .is_some_and(|section| is_constants(&section.name))
    }

    /// The bytes at a place, cut where the section ends.
    pub(crate) fn bytes_at(&self, place: Place, length: usize) -> Option<&[u8]> {
        let section = self.section(place.section)?;
        let from = answer::fits::<usize, _>(place.address.checked_sub(section.address)?)?;
        let end = from.checked_add(length)?.min(section.bytes.len());
        section.bytes.get(from..end)
    }

    /// The name of the function that holds a place, with how far into it.
    pub(crate) fn name_of(&self, place: Place) -> Option<(&str, u64)> {
        let function = self.section(place.section)?.functions.at(place.address)?;
        Some((&function.name, place.address.wrapping_sub(function.start)))
    }
}

/// The names that a kernel without symbols carries in its constants.
fn own_names(named: &[Named<'_, '_>], file: &File<'_>) -> object::Result<Vec<Entry>> {
    let code: Vec<_> = named
        .iter()
        .filter(|(section, _)| has(section.flags(), elf::SHF_EXECINSTR))
        .map(|(section, _)| (section.address(), section.size()))
        .collect();
    let is_code = |address: u64| {
        let mut all = code.iter();
        all.any(|(start, size)| address.wrapping_sub(*start) < *size)
    };
    let constants = named
        .iter()
        .filter(|(_, name)| name.starts_with(CONSTANTS.as_bytes()));
    for (section, _) in constants {
        let bytes = section.uncompressed_data()?;
        let constants = Constants {
            bytes: &bytes,
            address: section.address(),
            little: file.is_little_endian(),
            wide: if file.is_64() { 8 } else { 4 },
        };
        if let Some(entries) = kallsyms::read(constants, is_code) {
            return Ok(entries);
        }
    }
    Ok(Vec::new())
}

/// The tables that a linked file holds inside other sections, between two
/// symbols (`BOUNDED_SECTION_BY` of include/asm-generic/vmlinux.lds.h).
///
/// # Errors
/// When a symbol's name cannot be read, or a table that is there.
fn bounded<'data>(
    file: &File<'data>,
    known: &[Section<'_>],
    own: &[Entry],
) -> object::Result<Vec<Section<'data>>> {
    let mut bounds: HashMap<&[u8], u64> = HashMap::new();
    for entry in own {
        if entry.name.starts_with("__start___") || entry.name.starts_with("__stop___") {
            bounds.insert(entry.name.as_bytes(), entry.address);
        }
    }
    for symbol in file.symbols() {
        let name = symbol.name_bytes()?;
        if name.starts_with(b"__start___") || name.starts_with(b"__stop___") {
            bounds.insert(name, symbol.address());
        }
    }
    let missing = TABLES
        .iter()
        .filter(|table| known.iter().all(|section| section.name != **table));
    let bound = |which: &str, table: &str| {
        let name = format!("__{which}_{table}");
        bounds.get(name.as_bytes()).copied()
    };
    let mut all = Vec::new();
    for (number, name) in missing.enumerate() {
        let (Some(start), Some(stop)) = (bound("start", name), bound("stop", name)) else {
            continue;
        };
        let Some(bytes) = range(file, start, stop)? else {
            continue;
        };
        all.push(Section {
            // Behind all indices of the file, and in order.
            index: usize::MAX - TABLES.len() + number,
            name: (*name).to_owned(),
            address: start,
            bytes: Cow::Borrowed(bytes),
            executable: false,
            writable: false,
            functions: Symbols::default(),
        });
    }
    Ok(all)
}

/// The bytes of a linked file between two addresses; none where no section holds
/// them.
fn range<'data>(file: &File<'data>, start: u64, stop: u64) -> object::Result<Option<&'data [u8]>> {
    let Some(size) = stop.checked_sub(start) else {
        return Ok(None);
    };
    for section in file.sections() {
        if let Some(bytes) = section.data_range(start, size)? {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// A section with its name.
type Named<'data, 'file> = (object::Section<'data, 'file, Input<'data>>, &'data [u8]);

/// Every section with its name: one that cannot be read might be any.
fn named<'data, 'file>(file: &'file File<'data>) -> object::Result<Vec<Named<'data, 'file>>> {
    let named = |section: object::Section<'data, 'file, Input<'data>>| {
        let name = section.name_bytes()?;
        Ok((section, name))
    };
    file.sections().map(named).collect()
}

fn memory(file: &File<'_>) -> Vec<std::ops::Range<u64>> {
    let sections = file
        .sections()
        .filter(|section| has(section.flags(), elf::SHF_ALLOC));
    let range = |section: object::Section<'_, '_, Input<'_>>| {
        let start = section.address();
        start..start.saturating_add(section.size())
    };
    let mut ranges: Vec<_> = sections.map(range).collect();
    ranges.sort_by_key(|range| (range.start, range.end));
    ranges
}

/// Whether the bytes of a section are read.
fn is_read<'data>(section: &object::Section<'data, '_, Input<'data>>, name: &[u8]) -> bool {
    let told = TABLES.iter().any(|table| table.as_bytes() == name);
    told || name.starts_with(CONSTANTS.as_bytes()) || has(section.flags(), elf::SHF_EXECINSTR)
}

/// Refuses a file whose sections to be read hold more than the limit, as they
/// are in memory: a few bytes may say that they are terabytes.
fn refuse_too_much(named: &[Named<'_, '_>], relocatable: bool) -> Result<(), ObjectError> {
    let mut sum = 0_u64;
    for (section, name) in named {
        let listed = name.starts_with(b".symtab") || relocatable && is_relocations(name);
        // A symbol or relocation takes more room than in the file.
        let factor = match (listed, is_read(section, name)) {
            (true, _) => LISTED,
            (false, true) => 1,
            (false, false) => 0,
        };
        let size = size_of(section);
        sum = sum.saturating_add(size.saturating_mul(factor));
        if sum > MOST_BYTES {
            let name = String::from_utf8_lossy(name);
            return Err(too_much(&format!("section `{name}`"), size));
        }
    }
    Ok(())
}

/// Bytes of a section in memory.
pub(crate) fn size_of<'data>(section: &object::Section<'data, '_, Input<'data>>) -> u64 {
    let range = section.compressed_file_range();
    range.map_or_else(|_| section.size(), |range| range.uncompressed_size)
}

/// Whether these are relocations of what is read.
fn is_relocations(name: &[u8]) -> bool {
    let of = name.strip_prefix(b".rela").or(name.strip_prefix(b".rel"));
    of.is_some_and(|of| of.starts_with(b".") && !of.starts_with(b".debug"))
        || of.is_some_and(|of| of.starts_with(b"__"))
}

fn too_much(what: &str, bytes: u64) -> ObjectError {
    ObjectError::TooMuch {
        what: what.to_owned(),
        bytes,
        most: MOST_BYTES,
    }
}

/// Why a file is no object that can be read.
pub(crate) fn broken(input: Input<'_>, error: &object::Error) -> ObjectError {
    if let Some(asked) = input.refused() {
        return too_much("a part", asked);
    }
    ObjectError::Elf {
        bytes: input.size(),
        reason: kind(input).map_or_else(|| error.to_string(), str::to_owned),
    }
}

/// What a file is that a machine boots and that has neither sections nor symbols
/// (Documentation/arch/arm64/booting.rst, Documentation/arch/riscv/boot-image-header.rst).
fn flat(input: Input<'_>) -> Option<&'static str> {
    match input.start(0x3c).get(0x38..) {
        Some(b"ARM\x64" | b"RSC\x05") => Some("it is an Image, which has no sections"),
        _ => None,
    }
}

/// What a file is that holds an object, but is none.
fn kind(input: Input<'_>) -> Option<&'static str> {
    let start = input.start(0x206);
    let compressed: [(&[u8], &str); 3] = [
        (b"\xfd7zXZ", "it is compressed; unpack it with `xz -dk`"),
        (b"\x1f\x8b", "it is compressed; unpack it with `gzip -dk`"),
        (
            b"\x28\xb5\x2f\xfd",
            "it is compressed; unpack it with `zstd -dk`",
        ),
    ];
    let mut all = compressed.into_iter();
    let found = all.find(|(magic, _)| start.starts_with(magic));
    // arch/x86/boot/header.S
    let boots = start.get(0x202..0x206) == Some(b"HdrS");
    let image = "it is a bzImage; unpack it with the kernel's scripts/extract-vmlinux";
    found.map(|(_, text)| text).or(boots.then_some(image))
}

/// Where compilers put the tables of a `switch`.
const CONSTANTS: &str = ".rodata";

fn is_constants(name: &str) -> bool {
    name.starts_with(CONSTANTS)
}

fn has(flags: SectionFlags, flag: elf::SectionFlags) -> bool {
    match flags {
        SectionFlags::Elf { sh_flags, .. } => sh_flags.contains(flag),
        _ => false,
    }
}
