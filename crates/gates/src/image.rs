//! The Image that arm64 and riscv boot: a kernel as it is in memory, without
//! sections or symbols. Its own list of names says what stands where; what comes
//! out is an ELF file of the same bytes.

use std::ops::Range;

use serde::Deserialize;
use tollgate_defect::OrDefect as _;

use crate::data::{code, hex64, parse};
use crate::error::ObjectError;
use crate::kallsyms::{self, Constants, Entry};

/// Where the magic of both stands (Documentation/arch/arm64/booting.rst,
/// Documentation/arch/riscv/boot-image-header.rst).
const MAGIC_AT: usize = 0x38;
/// Bytes of the header of an ELF file of 64 bits, and of one of its sections.
const HEADER: usize = 64;

/// `data/code/images.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Images {
    image: Vec<RawImage>,
}

/// A machine's Image.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawImage {
    magic: [u8; 4],
    /// The number of the machine in ELF.
    machine: u16,
    /// Where it is linked to.
    #[serde(deserialize_with = "hex64")]
    base: u64,
    /// Sections of code that two names enclose, by where they stand.
    code: Vec<[String; 3]>,
    /// Sections of data that two names enclose, besides those that every machine has.
    sections: Vec<[String; 3]>,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

/// A part of the image that is a section.
struct Part<'a> {
    name: &'a str,
    bytes: Range<usize>,
    /// What the section says of itself: in memory (2), executable (4); 0 for a table
    /// inside another section.
    flags: u64,
}

/// Whether the begin of a file is that of an Image.
pub(crate) fn is_image(start: &[u8]) -> bool {
    matches!(
        start.get(MAGIC_AT..MAGIC_AT + 4),
        Some(b"ARM\x64" | b"RSC\x05")
    )
}

/// The Image as an ELF file.
///
/// # Errors
/// When it has no list of names.
pub(crate) fn elf(image: &[u8]) -> Result<Vec<u8>, ObjectError> {
    let known = known(image)?;
    let constants = Constants {
        bytes: image,
        address: known.base,
        little: true,
        wide: 8,
    };
    let inside = |address: u64| address.wrapping_sub(known.base) < image.len() as u64;
    let names = kallsyms::read(constants, inside).ok_or_else(|| {
        let what = "it is an Image, which has no sections, and it holds no list of names that \
                    can be read (CONFIG_KALLSYMS of 7.0 and later)";
        ObjectError::Format(what.to_owned())
    })?;
    let parts = parts(&known, &names, image.len());
    Ok(written(&known, &parts, image))
}

fn known(image: &[u8]) -> Result<RawImage, ObjectError> {
    let images = code("images").or_defect("data/code has no images.toml")?;
    let images: Images = parse(images)?;
    let magic = image.get(MAGIC_AT..MAGIC_AT + 4).unwrap_or_default();
    let mut all = images.image.into_iter();
    let found = all.find(|known| known.magic == *magic);
    found
        .ok_or_else(|| ObjectError::Format("it is an Image of no machine that is known".to_owned()))
}

/// The sections: what lies between two names, and the rest as constants.
fn parts<'a>(known: &'a RawImage, names: &[Entry], size: usize) -> Vec<Part<'a>> {
    let at = |name: &str| {
        let mut all = names.iter();
        let address = all.find(|entry| entry.name == name)?.address;
        let offset = tollgate_defect::answer::fits::<usize, _>(address.wrapping_sub(known.base))?;
        (offset <= size).then_some(offset)
    };
    let between = |from: &str, to: &str| {
        let bytes = at(from)?..at(to)?;
        (bytes.start < bytes.end).then_some(bytes)
    };
    let code = known.code.iter();
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
    for [name, from, to] in &known.sections {
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
fn written(known: &RawImage, parts: &[Part<'_>], image: &[u8]) -> Vec<u8> {
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
    out.extend([2_u16.to_le_bytes(), known.machine.to_le_bytes()].concat());
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
        let address = known.base.wrapping_add(at);
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
