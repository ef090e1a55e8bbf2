//! A core: what a kernel's memory holds, as /proc/kcore shows that of the running one, and
//! as crash dumps keep it. Its segments have addresses and no names; where the kernel is,
//! its note says (Documentation/admin-guide/kdump/vmcoreinfo.rst), and what stands where,
//! the kernel's own list of names.

use object::elf::{ET_CORE, FileHeader64, PT_LOAD, PT_NOTE, ProgramHeader64};
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{Endianness, ReadRef as _};
use tollgate_defect::answer;

use crate::error::ObjectError;
use crate::input::Input;
use crate::kallsyms::{self, Constants, Entry};
use crate::memory::{GONE, Memory};

/// The most bytes of a segment that are read, from where the kernel begins: those of the
/// linear map, or of all that was ever mapped, hold terabytes. Three times what the kernels
/// of distributions take.
const MOST_KERNEL: u64 = 256 << 20;

/// Where the kernel of x86-64 is, with its modules behind it
/// (Documentation/arch/x86/x86_64/mm.rst): __START_KERNEL_map.
const X86_KERNEL: u64 = 0xffff_ffff_8000_0000;

/// Bytes of a header that tell a core.
const HEADER: u64 = 20;

/// A part of a core that may hold the kernel.
#[derive(Clone, Copy)]
struct Segment {
    address: u64,
    at: u64,
    size: u64,
}

/// Whether the file is a core, of whatever machine.
pub(crate) fn is_core(input: Input<'_>) -> bool {
    let start = input.start(HEADER);
    let kind = start.get(16..18);
    let big = start.get(5) == Some(&2);
    let core: [u8; 2] = if big {
        ET_CORE.0.to_be_bytes()
    } else {
        ET_CORE.0.to_le_bytes()
    };
    start.starts_with(b"\x7fELF") && kind == Some(core.as_slice())
}

/// The kernel of a core as an ELF file.
///
/// # Errors
/// When it is none of 64 bits and little-endian, does not say where its kernel is, or holds
/// none whose list of names can be read.
pub(crate) fn elf(input: Input<'_>) -> Result<Vec<u8>, ObjectError> {
    let start = input.start(HEADER);
    if start.get(4..6) != Some(&[2, 1]) {
        return Err(refused(
            "it is a core, of which only those of 64 bits and little-endian are read",
        ));
    }
    let broken = |error: object::Error| crate::elf::broken(input, &error);
    let header = FileHeader64::<Endianness>::parse(input).map_err(broken)?;
    let endian = header.endian().map_err(broken)?;
    let segments = header.program_headers(endian, input).map_err(broken)?;
    let begin = begin_by_note(segments, endian, input).map_err(broken)?;
    let machine = header.e_machine(endian);
    let loaded = segments
        .iter()
        .filter(|segment| segment.p_type(endian) == PT_LOAD)
        .map(|segment| Segment {
            address: segment.p_vaddr(endian),
            at: segment.p_offset(endian),
            size: segment.p_filesz(endian),
        });
    let candidates: Vec<Segment> = match begin {
        Some(begin) => loaded.filter_map(|one| one.from(begin)).collect(),
        None if machine == object::elf::EM_X86_64 => {
            loaded.filter(|one| one.address >= X86_KERNEL).collect()
        }
        None => {
            return Err(refused(
                "it is a core whose notes do not say where a kernel is (VMCOREINFO with _stext): \
                 that of a program, or of a kernel without CONFIG_VMCORE_INFO",
            ));
        }
    };
    for segment in candidates {
        let bytes = segment.bytes(input)?;
        if let Some((names, code)) = named(segment, bytes) {
            let memory = Memory {
                machine: machine.0,
                base: segment.address,
                bytes,
            };
            return Ok(memory.elf(&code, &[], &names));
        }
    }
    Err(refused(
        "it is a core, and no kernel with a list of its names (CONFIG_KALLSYMS) is found in it",
    ))
}

fn refused(what: &str) -> ObjectError {
    ObjectError::Core(what.to_owned())
}

impl Segment {
    /// The segment from where the kernel begins in it; none where it does not.
    fn from(self, begin: u64) -> Option<Self> {
        let before = begin.checked_sub(self.address)?;
        let size = self.size.checked_sub(before).filter(|size| *size > 0)?;
        // What lies before it may belong to the kernel, too, where there is little.
        match self.size <= MOST_KERNEL {
            true => Some(self),
            false => Some(Self {
                address: begin,
                at: self.at.checked_add(before)?,
                size: size.min(MOST_KERNEL),
            }),
        }
    }

    fn bytes<'data>(&self, input: Input<'data>) -> Result<&'data [u8], ObjectError> {
        let size = self.size.min(MOST_KERNEL);
        input.read_bytes_at(self.at, size).map_err(|()| {
            refused(&format!(
                "the {size} bytes of its segment at {:#x} cannot be read: it ends before, or the \
                 system does not let this program read them",
                self.address
            ))
        })
    }
}

/// The names of the kernel that a segment holds, and what encloses its code: that which
/// runs, and that which ran at boot.
fn named(segment: Segment, bytes: &[u8]) -> Option<(Vec<Entry>, [[String; 3]; 2])> {
    let constants = Constants {
        bytes,
        address: segment.address,
        little: true,
        wide: 8,
    };
    let inside = |address: u64| address.wrapping_sub(segment.address) < bytes.len() as u64;
    let names = kallsyms::read(constants, inside)?;
    let code = [
        [".text", "_stext", "_etext"],
        [GONE, "__init_begin", "__init_end"],
    ];
    let code = code.map(|names| names.map(str::to_owned));
    let known = |name: &str| names.iter().any(|entry| entry.name == name);
    (known("_stext") && known("_etext")).then_some((names, code))
}

/// Where the note of a kernel says that its code begins.
fn begin_by_note(
    segments: &[ProgramHeader64<Endianness>],
    endian: Endianness,
    input: Input<'_>,
) -> object::Result<Option<u64>> {
    for segment in segments
        .iter()
        .filter(|segment| segment.p_type(endian) == PT_NOTE)
    {
        let Some(mut notes) = segment.notes(endian, input)? else {
            continue;
        };
        while let Some(note) = notes.next()? {
            if note.name() == b"VMCOREINFO" {
                return Ok(value(note.desc(), "SYMBOL(_stext)"));
            }
        }
    }
    Ok(None)
}

/// The number of a line `KEY=hexadecimal`.
fn value(text: &[u8], key: &str) -> Option<u64> {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines();
    let number = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
    answer::hexadecimal(number.trim())
}
