//! Files that hold an object in another form: compressed, or as a boot image.

use std::io::{Cursor, Read};

use object::elf::ELFMAG;
use tollgate_defect::answer;

use crate::archive::is_archive;
use crate::core;
use crate::error::ObjectError;
use crate::image;
use crate::input::{Input, MOST_BYTES};

/// Bytes of a boot image's header that tell what it is (arch/x86/boot/header.S).
const HEADER: u64 = 0x268;
/// How often one thing may be packed into another: a bzImage in an archive.
const DEEPEST: usize = 3;

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Gzip,
    Xz,
    Zstd,
    /// The rest of what the kernel may be packed with.
    Other(&'static str),
}

const PACKINGS: [(&[u8], Packing); 7] = [
    (b"\x1f\x8b", Packing::Gzip),
    (b"\xfd7zXZ\0", Packing::Xz),
    (b"\x28\xb5\x2f\xfd", Packing::Zstd),
    (b"BZh", Packing::Other("bzip2")),
    (b"\x5d\0\0", Packing::Other("lzma")),
    (b"\x89LZO\0\r\n", Packing::Other("lzo")),
    (b"\x02\x21\x4c\x18", Packing::Other("lz4")),
];

impl Packing {
    fn of(start: &[u8]) -> Option<Self> {
        let mut all = PACKINGS.iter();
        let found = all.find(|(magic, _)| start.starts_with(magic));
        found.map(|(_, packing)| *packing)
    }

    /// # Errors
    /// When the bytes are damaged, or hold more than is read of one file.
    fn unpack(self, packed: &[u8]) -> Result<Vec<u8>, ObjectError> {
        let damaged =
            |reason: String| ObjectError::Packed(format!("{self} does not unpack: {reason}"));
        let reader: Box<dyn Read + '_> = match self {
            Self::Gzip => Box::new(flate2::read::GzDecoder::new(packed)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new(Cursor::new(packed), true)),
            Self::Zstd => {
                let decoder = ruzstd::decoding::StreamingDecoder::new(packed);
                Box::new(decoder.map_err(|error| damaged(error.to_string()))?)
            }
            Self::Other(name) => {
                let sentence =
                    format!("it is packed with {name}, which is not read; unpack it first");
                return Err(ObjectError::Packed(sentence));
            }
        };
        self.read(reader, damaged)
    }

    /// What `reader` gives, if it begins as what is read here does: what a few kilobytes
    /// unpack to may have no end, and is not waited for to see that it is no object.
    fn read(
        self,
        mut reader: impl Read,
        damaged: impl Fn(String) -> ObjectError,
    ) -> Result<Vec<u8>, ObjectError> {
        let mut bytes = Vec::new();
        let read = reader.by_ref().take(HEADER).read_to_end(&mut bytes);
        read.map_err(|error| damaged(error.to_string()))?;
        if !is_readable(&bytes) {
            let sentence =
                format!("{self} does not begin as an object, an archive or a boot image");
            return Err(ObjectError::Format(sentence));
        }
        let rest = (MOST_BYTES + 1).saturating_sub(HEADER);
        let read = reader.take(rest).read_to_end(&mut bytes);
        read.map_err(|error| damaged(error.to_string()))?;
        match bytes.len() as u64 > MOST_BYTES {
            true => Err(ObjectError::TooMuch {
                what: format!("what {self} holds"),
                bytes: bytes.len() as u64,
                most: MOST_BYTES,
            }),
            false => Ok(bytes),
        }
    }
}

/// Whether bytes begin as what is read here: an object, some of them, or what holds one.
fn is_readable(start: &[u8]) -> bool {
    start.starts_with(&ELFMAG) || is_archive(start) || holds(start).is_some()
}

impl std::fmt::Display for Packing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Gzip => "the gzip data",
            Self::Xz => "the xz data",
            Self::Zstd => "the zstd data",
            Self::Other(name) => name,
        })
    }
}

/// Whether the file is a core: memory of a kernel, of which [`unpacked`] gives the kernel.
pub fn is_core<'data>(from: impl Into<Input<'data>>) -> bool {
    core::is_core(from.into())
}

/// The object that a compressed file, a bzImage, an Image or a core holds; none where the
/// file is neither, and may be an object itself.
///
/// # Errors
/// When it is one of them and damaged, holds more than is read of one file, or is
/// packed in a way that is not known.
pub fn unpacked<'data>(from: impl Into<Input<'data>>) -> Result<Option<Vec<u8>>, ObjectError> {
    let input = from.into();
    if core::is_core(input) {
        return core::elf(input).map(Some);
    }
    if holds(input.start(HEADER)).is_none() {
        return Ok(None);
    }
    let whole = input.start(input.size());
    if let Some(asked) = input.refused() {
        return Err(ObjectError::TooMuch {
            what: "the packed file".to_owned(),
            bytes: asked,
            most: MOST_BYTES,
        });
    }
    let mut bytes = once(whole)?;
    for _ in 1..DEEPEST {
        match holds(&bytes) {
            Some(_) => bytes = once(&bytes)?,
            None => break,
        }
    }
    Ok(Some(bytes))
}

/// What the bytes of a file are that holds another.
enum Holds {
    Packed(Packing),
    BzImage,
    Image,
}

fn holds(start: &[u8]) -> Option<Holds> {
    let boots = start.get(0x202..0x206) == Some(b"HdrS");
    let boots = boots.then_some(Holds::BzImage);
    let flat = image::is_image(start).then_some(Holds::Image);
    boots.or(flat).or(Packing::of(start).map(Holds::Packed))
}

fn once(bytes: &[u8]) -> Result<Vec<u8>, ObjectError> {
    match holds(bytes) {
        Some(Holds::Packed(packing)) => packing.unpack(bytes),
        Some(Holds::BzImage) => payload(bytes),
        Some(Holds::Image) => image::elf(bytes),
        None => Ok(bytes.to_vec()),
    }
}

/// The kernel that a bzImage unpacks at boot (Documentation/arch/x86/boot.rst,
/// payload_offset, payload_length).
fn payload(image: &[u8]) -> Result<Vec<u8>, ObjectError> {
    let cut = || ObjectError::Packed("the bzImage ends before the kernel that it holds".to_owned());
    let packed = packed(image).ok_or_else(cut)?;
    match Packing::of(packed) {
        // gzip has the length at its own end; behind the others the kernel puts it.
        Some(Packing::Gzip) => Packing::Gzip.unpack(packed),
        Some(packing) => {
            let end = packed.len().checked_sub(4).ok_or_else(cut)?;
            packing.unpack(packed.get(..end).ok_or_else(cut)?)
        }
        None => Ok(packed.to_vec()),
    }
}

fn packed(image: &[u8]) -> Option<&[u8]> {
    let word = |at: usize| {
        let raw = *image.get(at..)?.first_chunk::<4>()?;
        answer::fits::<usize, _>(u32::from_le_bytes(raw))
    };
    // No number means four sectors, of old.
    let sectors = match *image.get(0x1f1)? {
        0 => 4,
        sectors => usize::from(sectors),
    };
    let from = (sectors + 1).checked_mul(512)?.checked_add(word(0x248)?)?;
    image.get(from..from.checked_add(word(0x24c)?)?)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Zeros without an end, and how many were asked for.
    struct Zeros<'a>(&'a Cell<usize>);

    impl Read for Zeros<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(0);
            self.0.set(self.0.get() + buffer.len());
            Ok(buffer.len())
        }
    }

    #[test]
    fn what_is_no_object_is_not_unpacked_to_its_end() {
        let asked = Cell::new(0);
        for packing in [Packing::Gzip, Packing::Xz, Packing::Zstd] {
            let read = packing.read(Zeros(&asked), ObjectError::Packed);
            assert!(matches!(read, Err(ObjectError::Format(_))), "{read:?}");
        }
        assert!(asked.get() < 1 << 16, "{}", asked.get());
    }
}
