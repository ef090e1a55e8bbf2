//! The guest: our init and benchmarks, compiled, and the initramfs that holds
//! them and the plan.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use cpio::newc::{self, ModeFileType};
use include_dir::Dir;

use crate::assets;
use crate::cache::{self, Cache};
use crate::process::{self, Runner};
use crate::toolchain::{Compiler, first_error};
use crate::tree;

/// Why there is no guest.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The compiler failed.
    #[error("could not compile {what}: {source}")]
    Compile {
        /// The guest or the plugin.
        what: &'static str,
        /// What the compiler said.
        source: process::Error,
    },
    /// The compiler makes no programs of that ABI on this machine.
    #[error("{} makes no static program here: {reason}", std::iter::once(compiler).chain(flags).map(String::as_str).collect::<Vec<_>>().join(" "))]
    NoSuchAbi {
        /// The compiler.
        compiler: String,
        /// The ABI's flags.
        flags: Vec<String>,
        /// What the compiler said first.
        reason: String,
    },
    /// The cache could not be used.
    #[error(transparent)]
    Cache(#[from] cache::Error),
    /// The archive could not be written.
    #[error("could not write the initramfs: {0}")]
    Archive(std::io::Error),
}

/// What a program for a guest is compiled with.
const GUEST_FLAGS: &[&str] = &["-static", "-O2", "-Wall", "-Wextra"];

/// The flag of a guest that reads the clock around its phases. The instructions
/// between the markers are as without it, up to the choice of registers; a guest
/// that is counted is compiled without.
pub const TIMED: &str = "-DTOLLGATE_TIMED";

/// Compiles the guest with the flags of an ABI (none are the compiler's own
/// ABI), once for its sources, the flags and the compiler.
///
/// # Errors
/// [`Error::NoSuchAbi`] when the compiler cannot build for the ABI; else when
/// it fails or the cache cannot be written.
pub fn compile(
    cache: &Cache,
    compiler: &Compiler,
    abi: &[String],
    runner: &Runner,
) -> Result<PathBuf, Error> {
    if !abi.is_empty() {
        probe(cache, compiler, abi, runner)?;
    }
    let own = abi.iter().map(String::as_str);
    let flags: Vec<&str> = GUEST_FLAGS.iter().copied().chain(own).collect();
    Program {
        what: "the guest",
        sources: &assets::GUEST,
        flags: &flags,
        api: None,
        file: "guest",
    }
    .compile(cache, compiler, runner)
}

/// Whether the compiler has what a static program of the ABI needs.
///
/// # Errors
/// [`Error::NoSuchAbi`] when it has not; else when it cannot be run or the cache
/// cannot be written.
pub fn probe(
    cache: &Cache,
    compiler: &Compiler,
    abi: &[String],
    runner: &Runner,
) -> Result<(), Error> {
    let scratch = cache.scratch()?;
    probe_in(scratch.path(), compiler, abi, runner)
}

/// The same, tried in a folder that the caller removes.
///
/// # Errors
/// As [`probe`].
pub fn probe_in(
    folder: &Path,
    compiler: &Compiler,
    abi: &[String],
    runner: &Runner,
) -> Result<(), Error> {
    let source = folder.join("probe.c");
    let text = "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n";
    cache::write_file(&source, text.as_bytes())?;
    let mut command = Command::new(&compiler.command);
    crate::build::clean_environment(&mut command);
    command.current_dir(folder).args(abi);
    command.args(["-static", "-o", "probe", "probe.c"]);
    match runner.output(&mut command) {
        Ok(_) => Ok(()),
        // A full disk says nothing about the compiler.
        Err(process::Error::Failed { message, room, .. }) if room.is_empty() => {
            Err(Error::NoSuchAbi {
                compiler: compiler.command.clone(),
                flags: abi.to_vec(),
                reason: first_error(&message),
            })
        }
        Err(source) => Err(Error::Compile {
            what: "a program to try the compiler with",
            source,
        }),
    }
}

/// Compiles the counting plugin for a version of QEMU's plugin interface.
///
/// # Errors
/// When the compiler fails or the cache cannot be written.
pub fn compile_plugin(
    cache: &Cache,
    compiler: &Compiler,
    api: u32,
    runner: &Runner,
) -> Result<PathBuf, Error> {
    Program {
        what: "the counting plugin",
        sources: &assets::PLUGIN,
        flags: &["-shared", "-fPIC", "-O2", "-Wall", "-Wextra"],
        api: Some(api),
        file: "tollgate-counts.so",
    }
    .compile(cache, compiler, runner)
}

/// A program of ours in C.
struct Program<'a> {
    what: &'static str,
    sources: &'static Dir<'static>,
    flags: &'a [&'a str],
    api: Option<u32>,
    file: &'static str,
}

impl Program<'_> {
    fn compile(
        &self,
        cache: &Cache,
        compiler: &Compiler,
        runner: &Runner,
    ) -> Result<PathBuf, Error> {
        let name = Path::new("programs").join(self.key(compiler));
        if let Some(folder) = cache.installed(&name)? {
            return Ok(folder.join(self.file));
        }
        let folder = cache.install(&name, |scratch| self.compile_in(scratch, compiler, runner))?;
        Ok(folder.join(self.file))
    }

    fn key(&self, compiler: &Compiler) -> String {
        let mut text = format!(
            "{}\0{:?}\0{}\0",
            compiler.version,
            self.api,
            self.flags.join(" ")
        );
        for (path, bytes) in assets::files(self.sources) {
            text.push_str(&format!("{path}\0{}\0", tree::hash(bytes)));
        }
        tree::hash(text.as_bytes())
    }

    fn compile_in(&self, folder: &Path, compiler: &Compiler, runner: &Runner) -> Result<(), Error> {
        let files = assets::files(self.sources);
        for (path, bytes) in &files {
            cache::write_file(&folder.join(path), bytes)?;
        }
        let mut command = Command::new(&compiler.command);
        crate::build::clean_environment(&mut command);
        command
            .current_dir(folder)
            .args(self.flags)
            .args(["-o", self.file]);
        command.args(self.api.map(|api| format!("-DTOLLGATE_PLUGIN_API={api}")));
        command.args(
            files
                .iter()
                .map(|(path, _)| path)
                .filter(|path| path.ends_with(".c")),
        );
        match runner.output(&mut command) {
            Ok(_) => Ok(()),
            Err(source) => Err(Error::Compile {
                what: self.what,
                source,
            }),
        }
    }
}

/// An initramfs with the guest as `/init`, the plan, and a program of the user's
/// where there is one; uncompressed: the kernel unpacks it faster than it could
/// decompress it.
///
/// # Errors
/// When the archive cannot be written.
pub fn initramfs(
    guest: &[u8],
    plan: &str,
    program: Option<&crate::program::Program>,
) -> Result<Vec<u8>, Error> {
    let mut archive = Vec::new();
    for folder in ["dev", "proc", "sys", "tmp"] {
        archive = entry(archive, folder, ModeFileType::Directory, 0o755, &[])?;
    }
    archive = entry(archive, "init", ModeFileType::Regular, 0o755, guest)?;
    archive = entry(
        archive,
        "plan",
        ModeFileType::Regular,
        0o644,
        plan.as_bytes(),
    )?;
    if let Some(program) = program {
        archive = with_files(archive, program)?;
        let file = ModeFileType::Regular;
        archive = entry(archive, "program", file, 0o755, &program.bytes)?;
        let file = ModeFileType::Regular;
        archive = entry(archive, "program.args", file, 0o644, &program.arguments)?;
    }
    newc::trailer(archive).map_err(Error::Archive)
}

/// The files of a program, each behind the folders that hold it.
fn with_files(mut archive: Vec<u8>, program: &crate::program::Program) -> Result<Vec<u8>, Error> {
    let parents = program.files.iter().flat_map(|file| {
        let above = Path::new(&file.path).ancestors().skip(1);
        above
            .filter_map(Path::to_str)
            .filter(|path| !path.is_empty())
    });
    let folders: BTreeSet<&str> = parents.collect();
    for folder in folders {
        archive = entry(archive, folder, ModeFileType::Directory, 0o755, &[])?;
    }
    for file in &program.files {
        let kind = ModeFileType::Regular;
        archive = entry(archive, &file.path, kind, file.mode, &file.bytes)?;
    }
    Ok(archive)
}

fn entry(
    archive: Vec<u8>,
    name: &str,
    kind: ModeFileType,
    mode: u32,
    bytes: &[u8],
) -> Result<Vec<u8>, Error> {
    use std::io::Write;
    let size = u32::try_from(bytes.len())
        .map_err(|_| Error::Archive(std::io::ErrorKind::FileTooLarge.into()))?;
    let mut file = newc::Builder::new(name)
        .mode(mode)
        .set_mode_file_type(kind)
        .write(archive, size);
    file.write_all(bytes)
        .and_then(|()| file.finish())
        .map_err(Error::Archive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Interrupt;

    #[test]
    fn the_archive_reads_back() {
        let archive = initramfs(b"\x7fELF", "bench getppid ops=1 reps=1\n", None).unwrap();
        let mut reader = archive.as_slice();
        let mut names = Vec::new();
        loop {
            let mut file = newc::Reader::new(reader).unwrap();
            if file.entry().is_trailer() {
                break;
            }
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
            names.push(format!(
                "{:o} {} {}",
                file.entry().mode(),
                file.entry().name(),
                bytes.len()
            ));
            reader = file.finish().unwrap();
        }
        insta::assert_snapshot!(names.join("\n"));
    }

    #[test]
    fn guest_and_plugin_compile_once() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path()).unwrap();
        let runner = Runner::new(Interrupt::default(), None);
        let compiler = Compiler::find("gcc", &runner).unwrap();
        let guest = compile(&cache, &compiler, &[], &runner).unwrap();
        let plugin = compile_plugin(&cache, &compiler, 1, &runner).unwrap();
        let time = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
        let first = (time(&guest), time(&plugin));
        let again = compile(&cache, &compiler, &[], &runner).unwrap();
        assert_eq!(
            first,
            (
                time(&again),
                time(&compile_plugin(&cache, &compiler, 1, &runner).unwrap())
            )
        );
    }
}
