//! A program that runs in the guest: one of the user's instead of benchmarks, or one
//! that a case brings along (`of_case`), with what it is linked with (`linked`).

mod error;
mod fetched;
mod guest_file;
mod linked;
mod of_case;
mod package;
mod system;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use tollgate_arch::{Architectures, Elf, Order};
use tollgate_defect::answer;

use tollgate_source::shown;

pub use error::{Error, Fault};
pub use guest_file::GuestFile;
pub use of_case::Recipe;

use error::LARGEST;

use crate::cache;
use crate::case::Station;
use crate::registry::Registry;
use crate::tree;
use object::elf;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, FileKind};

/// What an operation of a user's program is called.
const OPERATION: &str = "op";

/// A program with its arguments: static, or with the files that it is linked with.
#[derive(Clone, Debug)]
pub struct Program {
    /// What results call it: its file's name, in letters that a plan can hold.
    pub name: String,
    /// The program.
    pub bytes: Vec<u8>,
    /// Its arguments, its own name first, each ending in NUL.
    pub arguments: Vec<u8>,
    /// Those of each of its parts, where it runs in several boots.
    pub parts: Vec<Vec<u8>>,
    /// Program and arguments in one line, for people.
    pub line: String,
    /// What the guest holds for it.
    pub files: Vec<GuestFile>,
    /// The packages that it is made of, each with its version.
    pub packages: Vec<String>,
    /// The guest that it runs in.
    pub station: Station,
    /// What an operation is by phase, where it has a name.
    pub units: BTreeMap<String, String>,
    /// Whether it is itself a part of what is compared.
    pub is_compared: bool,
}

impl Program {
    /// Reads a program and checks that a guest of `arch` can run it.
    ///
    /// # Errors
    /// When it cannot be read, or is no static program for `arch`.
    pub fn read(path: &Path, arguments: &[OsString], arch: &str) -> Result<Self, Error> {
        let unreadable = |source| Error::Read {
            path: path.to_owned(),
            source,
        };
        let unfit = |fault| Error::Unfit {
            path: path.to_owned(),
            fault,
        };
        let about = std::fs::metadata(path).map_err(unreadable)?;
        if !about.is_file() {
            return Err(unfit(Fault::NoFile));
        }
        let size = about.len();
        if size > LARGEST {
            return Err(unfit(Fault::Large(size)));
        }
        let plan = Registry::built_in()?.plan;
        let (found, takes) = (arguments.len(), plan.arguments.to_string());
        if !plan.arguments.hold(found as u64) {
            return Err(unfit(Fault::Arguments { found, takes }));
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        check(&bytes, arch).map_err(unfit)?;
        let own = path.file_name().unwrap_or(path.as_os_str());
        let words: Vec<&OsStr> = std::iter::once(own)
            .chain(arguments.iter().map(OsString::as_os_str))
            .collect();
        let shown: Vec<_> = words.iter().map(|word| shown(Path::new(word))).collect();
        Ok(Self {
            name: name(&own.to_string_lossy(), plan.name.most),
            bytes,
            arguments: words
                .iter()
                .flat_map(|word| [word.as_bytes(), b"\0"].concat())
                .collect(),
            parts: Vec::new(),
            line: shown.join(" "),
            files: Vec::new(),
            packages: Vec::new(),
            station: Station::default(),
            units: BTreeMap::new(),
            is_compared: false,
        })
    }

    /// Puts it and its arguments beside a plan, where the guest looks for them.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn install(&self, folder: &Path) -> Result<(), cache::Error> {
        let place = folder.join("program");
        cache::write_file(&folder.join("program.args"), &self.arguments)?;
        cache::write_file(&place, &self.bytes)?;
        cache::make_executable(&place)
    }

    /// The hash of all that a guest runs of it.
    #[must_use]
    pub fn content(&self) -> String {
        let parts = self.parts.len();
        let mut text = format!("{}\0{parts}\0", tree::hash(&self.bytes)).into_bytes();
        text.extend_from_slice(&self.arguments);
        for file in &self.files {
            text.extend_from_slice(
                format!(
                    "{}\0{:o}\0{}\0",
                    file.path,
                    file.mode,
                    tree::hash(&file.bytes)
                )
                .as_bytes(),
            );
        }
        tree::hash(&text)
    }

    /// What of it runs in one boot each, in their order.
    #[must_use]
    pub fn in_boots(&self) -> Vec<Self> {
        let part = |arguments: &Vec<u8>| Self {
            arguments: arguments.clone(),
            parts: Vec::new(),
            ..self.clone()
        };
        match self.parts.as_slice() {
            [] => vec![self.clone()],
            parts => parts.iter().map(part).collect(),
        }
    }

    /// What it is made of, in a few words for people.
    #[must_use]
    pub fn made_of(&self) -> String {
        match self.packages.first() {
            Some(package) => format!("{package}, {} files", self.files.len()),
            None => self.line.clone(),
        }
    }

    /// What an operation is of the phase of that name.
    #[must_use]
    pub fn unit(&self, phase: &str) -> &str {
        self.units.get(phase).map_or(OPERATION, String::as_str)
    }

    /// Its line of the plan.
    #[must_use]
    pub fn plan_line(&self) -> String {
        format!("program {}\n", self.name)
    }
}

/// At most so many characters, of those that a plan can hold.
fn name(file: &str, most: u64) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    file.chars()
        .map(|c| if plain(c) { c } else { '_' })
        .take(answer::fits::<usize, _>(most).unwrap_or(usize::MAX))
        .collect()
}

/// Whether `bytes` are a static 64-bit ELF program for `arch`.
///
/// # Errors
/// With what is wrong otherwise.
pub fn check(bytes: &[u8], arch: &str) -> Result<(), Fault> {
    match FileKind::parse(bytes) {
        Ok(FileKind::Elf64) => {}
        Ok(FileKind::Elf32) => return Err(Fault::Narrow(arch.to_owned())),
        _ => return Err(Fault::NotElf),
    }
    let damaged = |error: object::Error| Fault::Damaged(error.to_string());
    let file = ElfFile64::<Endianness>::parse(bytes).map_err(damaged)?;
    let (header, endian) = (file.elf_header(), file.endian());
    let found = Elf {
        machine: header.e_machine(endian).0,
        class: 64,
        order: Order::of(endian == Endianness::Little),
    };
    let found = name_of(found)?;
    if found != arch {
        let wanted = arch.to_owned();
        return Err(Fault::Machine { found, wanted });
    }
    let mut segments = file.elf_program_headers().iter();
    if segments.any(|segment| segment.p_type(endian) == elf::PT_INTERP) {
        return Err(Fault::Dynamic);
    }
    // A program of the kind static-pie is ET_DYN, and has an entry.
    let linked = matches!(header.e_type(endian), elf::ET_EXEC | elf::ET_DYN);
    match linked && header.e_entry(endian) != 0 {
        true => Ok(()),
        false => Err(Fault::NotLinked),
    }
}

/// As `data/architectures.toml` calls it, where it does.
fn name_of(elf: Elf) -> Result<String, Fault> {
    let target = Architectures::built_in()?.of_elf(elf);
    let name = target.and_then(|(_, target)| Some(target?.name.clone()));
    Ok(name.unwrap_or_else(|| format!("ELF machine {}", elf.machine)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_program_is_said() {
        assert_eq!(check(b"#!/bin/sh\n", "x86_64"), Err(Fault::NotElf));
        assert_eq!(check(b"", "x86_64"), Err(Fault::NotElf));
        let mut narrow = b"\x7fELF\x01\x01\x01".to_vec();
        narrow.resize(64, 0);
        assert_eq!(
            check(&narrow, "x86_64"),
            Err(Fault::Narrow("x86_64".into()))
        );
        let cut_off = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0";
        assert!(matches!(check(cut_off, "x86_64"), Err(Fault::Damaged(_))));
    }

    #[test]
    fn what_has_no_end_is_not_read() {
        for path in ["/dev/zero", "/"] {
            let error = Program::read(Path::new(path), &[], "x86_64").unwrap_err();
            assert!(error.to_string().contains("no ordinary file"), "{error}");
        }
    }

    #[test]
    fn a_name_is_one_that_a_plan_can_hold() {
        assert_eq!(name("my bench(1)", 31), "my_bench_1_");
        assert_eq!(name(&"x".repeat(99), 31).len(), 31);
    }
}
