//! A kernel as it is in memory, without sections: an Image, a core. Its own list of names
//! says what stands where; what comes out is an ELF file of the same bytes.

use std::ops::Range;

use crate::kallsyms::Entry;

/// Bytes of the header of an ELF file of 64 bits, and of one of its sections.
const HEADER: usize = 64;

/// The section of what ran at boot alone: tables still point to it, and its bytes are
/// those of something else by now, so that it has no functions.
pub(crate) const GONE: &str = ".gone.text";

/// A kernel's memory, of 64 bits and little-endian.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory<'a> {
    /// The number of the machine in ELF.
    pub(crate) machine: u16,
    /// Where the first byte is.
    pub(crate) base: u64,
    pub(crate) bytes: &'a [u8],
}

impl Memory<'_> {
    /// As an ELF file: sections of code and tables, each a name with the two names that
    /// enclose it, and the rest as constants.
    pub(crate) fn elf(
        &self,
        code: &[[String; 3]],
        tables: &[[String; 3]],
        names: &[Entry],
    ) -> Vec<u8> {
        let parts = parts(self.base, code, tables, names, self.bytes.len());
        written(self, &parts)
    }
}

/// A part of the memory that is a section.
struct Part<'a> {
    name: &'a str,
    bytes: Range<usize>,
    /// What the section says of itself: in memory (2), executable (4); 0 for a table
    /// inside another section.
    flags: u64,
}

/// The sections: what lies between two names, and the rest as constants.
fn parts<'a>(
    base: u64,
    code: &'a [[String; 3]],
    tables: &'a [[String; 3]],
    names: &[Entry],
    size: usize,
) -> Vec<Part<'a>> {
    let at = |name: &str| {
        let mut all = names.iter();
        let address = all.find(|entry| entry.name == name)?.address;
        let offset = tollgate_defect::answer::fits::<usize, _>(address.wrapping_sub(base))?;
        (offset <= size).then_some(offset)
    };
    let between = |from: &str, to: &str| {
        let bytes = at(from)?..at(to)?;
        (bytes.start < bytes.end).then_some(bytes)
    };
    let code = code.iter();
    let code = code.filter_map(|[name, from, to]| Some((between(from, to)?, name)));
    let mut code: Vec<_> = code.collect();
    code.sort_by_key(|(bytes, _)| bytes.start);
    let mut all: Vec<Part<'a>> = Vec::new();
    let mut rest = 0;
    for (bytes, name) in code {
        let bytes = bytes.start.max(rest)..bytes.end.max(rest);
        all.push(constants(rest..bytes.start));
        rest = bytes.end;
        all.push(Part {
            name,
            bytes,
            flags: 6,
        });
    }
    all.push(constants(rest..size));
    for [name, from, to] in tables {
        let bytes = between(from, to);
        all.extend(bytes.map(|bytes| Part {
            name,
            bytes,
            flags: 0,
        }));
    }
    all.retain(|part| !part.bytes.is_empty());
    all
}

/// What is no code may be anything; the words in it are aligned.
fn constants(bytes: Range<usize>) -> Part<'static> {
    let start = bytes.start - bytes.start % 8;
    Part {
        name: ".rodata",
        bytes: start..bytes.end,
        flags: 2,
    }
}

/// The ELF file: header, image, names of sections, sections.
fn written(memory: &Memory<'_>, parts: &[Part<'_>]) -> Vec<u8> {
    let image = memory.bytes;
    let (mut names, mut offsets) = (vec![0], Vec::new());
    for part in parts {
        offsets.push(names.len() as u64);
        names.extend(part.name.bytes().chain([0]));
    }
    let own = names.len() as u64;
    names.extend(b".shstrtab\0");
    let names_at = HEADER + image.len();
    let sections_at = (names_at + names.len()).next_multiple_of(8);
    let count = parts.len() + 2;
    let mut out = b"\x7fELF\x02\x01\x01".to_vec();
    out.resize(16, 0);
    // An executable (2), of this machine, version 1.
    out.extend([2_u16.to_le_bytes(), memory.machine.to_le_bytes()].concat());
    out.extend(1_u32.to_le_bytes());
    out.extend([0, 0, sections_at as u64].map(u64::to_le_bytes).concat());
    out.extend(0_u32.to_le_bytes());
    let sizes = [HEADER, 0, 0, HEADER, count, count - 1];
    out.extend(sizes.map(|size| (size as u16).to_le_bytes()).concat());
    out.extend(image);
    out.extend(&names);
    out.resize(sections_at + HEADER, 0);
    for (part, name) in parts.iter().zip(&offsets) {
        let at = part.bytes.start as u64;
        let address = memory.base.wrapping_add(at);
        let place = [address, at + HEADER as u64, part.bytes.len() as u64];
        // Its kind: bytes (1).
        out.extend(section(*name, 1, part.flags, place));
    }
    let place = [0, names_at as u64, names.len() as u64];
    // The table of names is of kind 3.
    out.extend(section(own, 3, 0, place));
    out
}

/// The header of a section.
fn section(name: u64, kind: u32, flags: u64, [address, at, size]: [u64; 3]) -> Vec<u8> {
    let mut out = (name as u32).to_le_bytes().to_vec();
    out.extend(kind.to_le_bytes());
    out.extend(
        [flags, address, at, size, 0, 1, 0]
            .map(u64::to_le_bytes)
            .concat(),
    );
    out
}
