//! Source lines of instructions, from DWARF where the file has it.

use std::borrow::Cow;
use tollgate_defect::answer;

use addr2line::gimli::{DwarfSections, EndianSlice, RunTimeEndian, SectionId};
use object::{Object, ObjectSection, ObjectSymbol, RelocationKind, RelocationTarget};
use serde::Serialize;

use crate::elf::size_of;
use crate::input::File;
use crate::input::MOST_BYTES;

/// A place in the source that an instruction was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Frame {
    /// The function that the place is in; none where DWARF does not name it.
    pub function: Option<String>,
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1; 0 where the compiler gives none.
    pub line: u32,
}

type Reader<'a> = EndianSlice<'a, RunTimeEndian>;

/// The sections of DWARF, relocated for one section of code.
pub(crate) struct Debug<'data> {
    sections: DwarfSections<Cow<'data, [u8]>>,
    endian: RunTimeEndian,
    /// Why source lines are missing, where the file has DWARF.
    pub(crate) left_out: Option<String>,
}

/// What looks addresses up.
pub(crate) struct Lines<'a>(addr2line::Context<Reader<'a>>);

/// Where the code of the other sections of an object file is put: all of them
/// begin at 0.
const ELSEWHERE: u64 = 0x8000_0000;

impl<'data> Debug<'data> {
    /// Reads what there is for the code of a section; what cannot be read is
    /// left out, with the reason.
    pub(crate) fn of(file: &File<'data>, section: usize) -> Self {
        let mut left_out = None;
        let load = |id: SectionId| {
            let bytes = match data(file, id, section) {
                Ok(bytes) => bytes,
                Err(reason) => {
                    left_out = Some(format!("`{}` {reason}", id.name()));
                    Cow::Borrowed(&[] as &[u8])
                }
            };
            Ok::<_, std::convert::Infallible>(bytes)
        };
        let sections = match DwarfSections::load(load) {
            Ok(sections) => sections,
            Err(never) => match never {},
        };
        let endian = if file.is_little_endian() {
            RunTimeEndian::Little
        } else {
            RunTimeEndian::Big
        };
        Self {
            sections,
            endian,
            left_out,
        }
    }

    /// What looks addresses up.
    ///
    /// # Errors
    /// When the file's DWARF cannot be read.
    pub(crate) fn lines(&self) -> Result<Lines<'_>, addr2line::gimli::Error> {
        let dwarf = self
            .sections
            .borrow(|section| EndianSlice::new(section, self.endian));
        addr2line::Context::from_dwarf(dwarf).map(Lines)
    }

    /// Reads every unit, for what looks addresses up passes over those that it
    /// cannot read.
    ///
    /// # Errors
    /// With the first that cannot be read.
    pub(crate) fn check(&self) -> Result<(), addr2line::gimli::Error> {
        let dwarf = self
            .sections
            .borrow(|section| EndianSlice::new(section, self.endian));
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            dwarf.unit(header)?;
        }
        Ok(())
    }
}

impl Lines<'_> {
    /// Where an instruction comes from, the innermost inlined function first.
    ///
    /// # Errors
    /// When the file's DWARF cannot be read there.
    pub(crate) fn frames(&self, address: u64) -> Result<Vec<Frame>, addr2line::gimli::Error> {
        let mut frames = self.0.find_frames(address).skip_all_loads()?;
        let mut all = Vec::new();
        while let Some(frame) = frames.next()? {
            let Some((location, file)) = frame.location.and_then(|l| Some((l.line, l.file?)))
            else {
                continue;
            };
            let name = frame.function.as_ref().map(|function| function.raw_name());
            all.push(Frame {
                function: name.transpose()?.map(Cow::into_owned),
                file: file.to_owned(),
                line: location.unwrap_or(0),
            });
        }
        Ok(all)
    }
}

/// A section's bytes, relocated, or why not, as the end of a sentence.
fn data<'data>(file: &File<'data>, id: SectionId, code: usize) -> Result<Cow<'data, [u8]>, String> {
    let Some(section) = file.section_by_name(id.name()) else {
        return Ok(Cow::Borrowed(&[]));
    };
    let size = size_of(&section);
    if size > MOST_BYTES {
        return Err(format!("has {size} bytes, and {MOST_BYTES} are read"));
    }
    let unread = |error: object::Error| format!("cannot be read: {error}");
    let bytes = section.uncompressed_data().map_err(unread)?;
    if file.kind() != object::ObjectKind::Relocatable {
        return Ok(bytes);
    }
    let mut bytes = bytes.into_owned();
    for (offset, relocation) in section.relocations() {
        // Without the ones of another kind a line may be missing, never wrong:
        // they are distances inside the tables of lines (riscv).
        if relocation.kind() == RelocationKind::Absolute {
            relocate(file, &mut bytes, offset, &relocation, code).map_err(unread)?;
        }
    }
    Ok(Cow::Owned(bytes))
}

fn relocate(
    file: &File<'_>,
    bytes: &mut [u8],
    offset: u64,
    relocation: &object::Relocation,
    code: usize,
) -> object::Result<()> {
    let RelocationTarget::Symbol(index) = relocation.target() else {
        return Ok(());
    };
    let symbol = file.symbol_by_index(index)?;
    let base = match symbol.section_index() {
        Some(section) if section.0 != code && is_code(file, section)? => ELSEWHERE,
        _ => 0,
    };
    let width = usize::from(relocation.size() / 8);
    // A field that reaches beyond the end is one that DWARF has no use for.
    let Some(field) = field(bytes, offset, width) else {
        return Ok(());
    };
    let little = file.is_little_endian();
    let implicit = if relocation.has_implicit_addend() {
        number(field, little)
    } else {
        0
    };
    let value = symbol.address().wrapping_add(base).wrapping_add(implicit);
    put(
        field,
        value.wrapping_add_signed(relocation.addend()),
        little,
    );
    Ok(())
}

fn field(bytes: &mut [u8], offset: u64, width: usize) -> Option<&mut [u8]> {
    let from = answer::fits::<usize, _>(offset)?;
    bytes.get_mut(from..from.checked_add(width)?)
}

fn is_code(file: &File<'_>, section: object::SectionIndex) -> object::Result<bool> {
    let section = file.section_by_index(section)?;
    Ok(section.kind() == object::SectionKind::Text)
}

fn number(field: &[u8], little: bool) -> u64 {
    let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
    if little {
        field.iter().rev().fold(0, add)
    } else {
        field.iter().fold(0, add)
    }
}

fn put(field: &mut [u8], value: u64, little: bool) {
    let width = field.len();
    for (index, byte) in field.iter_mut().enumerate() {
        let place = if little { index } else { width - 1 - index };
        *byte = value.to_le_bytes().get(place).copied().unwrap_or(0);
    }
}
