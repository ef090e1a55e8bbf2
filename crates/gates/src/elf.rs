//! What `gates` reads of an ELF file: executable sections, functions,
//! relocations, and the tables that the kernel keeps about its own code.

mod fields;
mod fit;
mod relocations;
mod tables;

use std::borrow::Cow;
use std::collections::HashMap;

use object::{Architecture, Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags, elf};

use crate::symbols::{self, Symbols};
pub(crate) use relocations::{Reference, Relocations};
pub(crate) use tables::{Alternative, Choice, Faults, Jumps, Switched};

/// An address: in a linked file its own, in an object file an offset into its
/// section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    /// The section's index in the file.
    pub(crate) section: usize,
    /// The section's address plus the offset.
    pub(crate) address: u64,
}

/// A file whose object code cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// Not ELF, cut off, or lying about itself.
    #[error(
        "the file ({bytes} bytes) cannot be read as an ELF object: {reason}; \
         give a complete .o, .ko, .a or vmlinux of a kernel build"
    )]
    Elf {
        /// Its length.
        bytes: usize,
        /// What the reader met.
        reason: String,
    },
    /// An instruction set that no decoder knows.
    #[error("object code of {arch} is not known here; known are: {known}")]
    Arch {
        /// As the file names it.
        arch: String,
        /// Those that are, separated by commas.
        known: String,
    },
    /// A table of the kernel's about its own code, laid out as no kernel that
    /// is known has it.
    #[error(
        "it cannot be told how the records of `{table}` ({bytes} bytes) are laid out, and with it \
         what the running kernel does; of the known layouts {tried}"
    )]
    Records {
        /// The section.
        table: String,
        /// Its length.
        bytes: usize,
        /// The layouts, and why each does not fit.
        tried: String,
    },
    /// Compiler's intermediate code or data only.
    #[error("the file holds no function (its symbols are stripped, or it has no code)")]
    NoFunctions,
    /// A function that is not there.
    #[error("no function `{name}` in the file{hint}")]
    NoFunction {
        /// What was asked for.
        name: String,
        /// Names that are like it, as the end of a sentence.
        hint: String,
    },
    /// A data file of the program that cannot be read.
    #[error("{0}")]
    Table(String),
}

/// An ELF file, read as far as every command needs it.
pub(crate) struct Image<'data> {
    pub(crate) file: object::File<'data>,
    pub(crate) relocatable: bool,
    pub(crate) sections: Vec<Section<'data>>,
    pub(crate) relocations: Relocations,
    /// Where the sections of a linked file are that the running kernel has in
    /// memory, by address.
    memory: Vec<std::ops::Range<u64>>,
}

/// A section with bytes.
pub(crate) struct Section<'data> {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) bytes: Cow<'data, [u8]>,
    pub(crate) executable: bool,
    /// Whether it may hold data besides: `.data` of some kernels is executable.
    pub(crate) writable: bool,
    pub(crate) functions: Symbols,
}

/// The sections besides the executable ones that say something about code.
const TABLES: &[&str] = &[
    "__ex_table",
    ".altinstructions",
    "__jump_table",
    "__bug_table",
    "__mmu_ftr_fixup",
    "__barrier_nospec_fixup",
];

impl<'data> Image<'data> {
    /// # Errors
    /// When `bytes` is no complete ELF file.
    pub(crate) fn parse(bytes: &'data [u8]) -> Result<Self, ObjectError> {
        let broken = |error: object::Error| ObjectError::Elf {
            bytes: bytes.len(),
            reason: error.to_string(),
        };
        let file = object::File::parse(bytes).map_err(broken)?;
        let relocatable = file.kind() == ObjectKind::Relocatable;
        let mut functions = symbols::by_section(&file).map_err(broken)?;
        let mut sections = Vec::new();
        for section in file.sections() {
            let name = String::from_utf8_lossy(section.name_bytes().map_err(broken)?).into_owned();
            let executable = has(section.flags(), elf::SHF_EXECINSTR);
            if !executable && !is_constants(&name) && !TABLES.contains(&name.as_str()) {
                continue;
            }
            let index = section.index().0;
            sections.push(Section {
                index,
                name,
                address: section.address(),
                bytes: section.uncompressed_data().map_err(broken)?,
                executable,
                writable: has(section.flags(), elf::SHF_WRITE),
                functions: functions.remove(&index).unwrap_or_default(),
            });
        }
        let relocations = if relocatable {
            Relocations::read(&file, &sections)
        } else {
            sections.extend(bounded(&file, &sections));
            Relocations::default()
        };
        Ok(Self {
            memory: memory(&file),
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

    pub(crate) fn architecture(&self) -> Architecture {
        self.file.architecture()
    }

    pub(crate) fn is_64(&self) -> bool {
        self.file.is_64()
    }

    pub(crate) fn little_endian(&self) -> bool {
        self.file.is_little_endian()
    }

    pub(crate) fn section(&self, index: usize) -> Option<&Section<'data>> {
        let at = self.sections.binary_search_by_key(&index, |s| s.index);
        self.sections.get(at.ok()?)
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

    /// The bytes at a place, cut where the section ends.
    pub(crate) fn bytes_at(&self, place: Place, length: usize) -> Option<&[u8]> {
        let section = self.section(place.section)?;
        let from = usize::try_from(place.address.checked_sub(section.address)?).ok()?;
        let end = from.checked_add(length)?.min(section.bytes.len());
        section.bytes.get(from..end)
    }

    /// The name of the function that holds a place, with how far into it.
    pub(crate) fn name_of(&self, place: Place) -> Option<(&str, u64)> {
        let function = self.section(place.section)?.functions.at(place.address)?;
        Some((&function.name, place.address.wrapping_sub(function.start)))
    }
}

/// The tables that a linked file holds inside other sections, between two
/// symbols (`BOUNDED_SECTION_BY` of include/asm-generic/vmlinux.lds.h).
fn bounded<'data>(file: &object::File<'data>, known: &[Section<'_>]) -> Vec<Section<'data>> {
    let mut bounds: HashMap<&[u8], u64> = HashMap::new();
    for symbol in file.symbols() {
        let name = symbol.name_bytes().unwrap_or_default();
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
    let table = |(number, name): (usize, &&str)| {
        let (start, stop) = (bound("start", name)?, bound("stop", name)?);
        let bytes = file
            .sections()
            .find_map(|section| section.data_range(start, stop.checked_sub(start)?).ok()?)?;
        Some(Section {
            // Behind all indices of the file, and in order.
            index: usize::MAX - TABLES.len() + number,
            name: (*name).to_owned(),
            address: start,
            bytes: Cow::Borrowed(bytes),
            executable: false,
            writable: false,
            functions: Symbols::default(),
        })
    };
    missing.enumerate().filter_map(table).collect()
}

fn memory(file: &object::File<'_>) -> Vec<std::ops::Range<u64>> {
    let sections = file
        .sections()
        .filter(|section| has(section.flags(), elf::SHF_ALLOC));
    let range = |section: object::Section<'_, '_>| {
        let start = section.address();
        start..start.saturating_add(section.size())
    };
    let mut ranges: Vec<_> = sections.map(range).collect();
    ranges.sort_by_key(|range| (range.start, range.end));
    ranges
}

/// Where compilers put the tables of a `switch`.
fn is_constants(name: &str) -> bool {
    name.starts_with(".rodata")
}

fn has(flags: SectionFlags, flag: elf::SectionFlags) -> bool {
    match flags {
        SectionFlags::Elf { sh_flags, .. } => sh_flags.contains(flag),
        _ => false,
    }
}
