//! The Image that arm64 and riscv boot: a kernel as it is in memory, without
//! sections or symbols. Its own list of names says what stands where; what comes
//! out is an ELF file of the same bytes.

use serde::Deserialize;
use tollgate_defect::OrDefect as _;

use crate::data::{code, hex64, parse};
use crate::error::ObjectError;
use crate::kallsyms::{self, Constants};
use crate::memory::Memory;

/// Where the magic of both stands (Documentation/arch/arm64/booting.rst,
/// Documentation/arch/riscv/boot-image-header.rst).
const MAGIC_AT: usize = 0x38;

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
    let memory = Memory {
        machine: known.machine,
        base: known.base,
        bytes: image,
    };
    Ok(memory.elf(&known.code, &known.sections, &names))
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
