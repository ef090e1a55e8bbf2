//! What a dynamically linked program needs beside it: its loader, its libraries, and
//! theirs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::Endianness;
use object::FileKind;
use object::elf::DT_NEEDED;
use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader};

use super::error::Error;
use super::guest_file::GuestFile;
use crate::process::Runner;
use crate::toolchain::Compiler;

/// Where the loaders of all distributions look last.
const LIBRARIES: &str = "lib";

/// What one ELF file says that it needs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Needs {
    loader: Option<String>,
    libraries: Vec<String>,
}

/// The loaders and the libraries of programs, as files of a guest. `own` are files that
/// the guest holds anyway: what they need is found, and what is among them is not
/// looked for.
///
/// # Errors
/// When the compiler, whose libraries these are, does not find one, or a file is no
/// ELF file.
pub(super) fn files(
    program: &[u8],
    own: &[GuestFile],
    flags: &[String],
    compiler: &Compiler,
    runner: &Runner,
) -> Result<Vec<GuestFile>, Error> {
    let mut found = BTreeMap::new();
    let mut wanted = Vec::new();
    for bytes in std::iter::once(program).chain(own.iter().map(|file| file.bytes.as_slice())) {
        let Needs { loader, libraries } = needs(bytes)?;
        if let Some(path) = loader {
            let place = PathBuf::from(&path);
            let to = path.trim_start_matches('/').to_owned();
            found.insert(to, read(&place)?);
        }
        wanted.extend(libraries);
    }
    while let Some(name) = wanted.pop() {
        let named = |path: &str| Path::new(path).ends_with(&name);
        let to = format!("{LIBRARIES}/{name}");
        if found.keys().any(|path| named(path)) || own.iter().any(|file| named(&file.path)) {
            continue;
        }
        let bytes = read(&find(&name, flags, compiler, runner)?)?;
        wanted.extend(needs(&bytes)?.libraries);
        found.insert(to, bytes);
    }
    let file = |(path, bytes)| GuestFile {
        path,
        bytes,
        mode: 0o755,
    };
    Ok(found.into_iter().map(file).collect())
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })
}

/// Where the compiler would link a library from.
///
/// # Errors
/// When it has none of that name.
pub(super) fn find(
    name: &str,
    flags: &[String],
    compiler: &Compiler,
    runner: &Runner,
) -> Result<PathBuf, Error> {
    let mut command = Command::new(&compiler.command);
    crate::build::clean_environment(&mut command);
    command.args(flags).arg(format!("-print-file-name={name}"));
    let printed = runner.output(&mut command)?;
    let path = PathBuf::from(String::from_utf8_lossy(&printed).trim());
    // What it does not find it prints as it was asked.
    match path.is_absolute() {
        true => Ok(path),
        false => Err(Error::NoLibrary {
            name: name.to_owned(),
            compiler: compiler.command.clone(),
            flags: flags.to_vec(),
        }),
    }
}

fn needs(bytes: &[u8]) -> Result<Needs, Error> {
    let needs = match FileKind::parse(bytes) {
        Ok(FileKind::Elf64) => needs_of::<FileHeader64<Endianness>>(bytes),
        Ok(FileKind::Elf32) => needs_of::<FileHeader32<Endianness>>(bytes),
        Ok(_) => return Err(Error::NotElf("another kind of file".to_owned())),
        Err(error) => Err(error),
    };
    needs.map_err(|error| Error::NotElf(error.to_string()))
}

fn needs_of<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> object::Result<Needs> {
    let file = ElfFile::<Elf>::parse(bytes)?;
    let endian = file.endian();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut needs = Needs::default();
    for segment in file.elf_program_headers() {
        let loader = segment.interpreter(endian, bytes)?;
        needs.loader = needs.loader.or(loader.map(text));
    }
    let dynamic = file.elf_dynamic_table()?;
    for entry in &dynamic {
        if entry.tag == DT_NEEDED {
            needs.libraries.push(text(dynamic.string(entry)?));
        }
    }
    Ok(needs)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::*;
    use crate::process::Interrupt;

    #[test]
    fn a_program_brings_its_loader_and_the_c_library() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("x.c");
        std::fs::write(&source, "int main(void) { return 0; }\n").unwrap();
        let program = folder.path().join("x");
        let mut command = Command::new("gcc");
        command.arg("-o").arg(&program).arg(&source);
        let runner = Runner::new(Interrupt::default(), None);
        runner.output(&mut command).unwrap();
        let compiler = Compiler::find("gcc", &runner).unwrap();
        let bytes = std::fs::read(&program).unwrap();
        let files = files(&bytes, &[], &[], &compiler, &runner).unwrap();
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert!(paths.contains(&"lib/libc.so.6"), "{paths:?}");
        assert!(
            paths.iter().any(|path| path.contains("ld-linux")),
            "{paths:?}"
        );
        assert!(files.iter().all(|file| file.bytes.starts_with(b"\x7fELF")));
    }

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let runner = Runner::new(Interrupt::default(), None);
        let compiler = Compiler::find("gcc", &runner).unwrap();
        let error = find("libnosuch.so.7", &[], &compiler, &runner).unwrap_err();
        assert!(error.to_string().contains("libnosuch.so.7"), "{error}");
        let error = needs(b"#!/bin/sh\n").unwrap_err();
        assert!(error.to_string().contains("ELF"), "{error}");
    }
}
