//! A case's program, compiled: once for its source, its flags, the compiler and the
//! libraries that it is linked with.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::Error;
use super::guest_file::GuestFile;
use super::package::Package;
use super::{Program, fetched, linked, system};
use crate::assets;
use crate::cache::{self, Cache};
use crate::case::{LibraryPlan, PackagePlan, ProgramPlan, case_file};
use crate::patch::Patch;
use crate::process::{self, Runner};
use crate::toolchain::{Compiler, first_error};
use crate::tree;
use tollgate_defect::OrDefect as _;

/// What a program of a case is compiled with.
const FLAGS: &[&str] = &["-O2", "-Wall", "-Wextra"];
/// What a shared library is compiled with besides.
const SHARED: &[&str] = &["-shared", "-fPIC"];
/// The header with the markers, which a program includes.
const HEADER: &str = "tollgate_bench.h";
/// What it is called in the folder that it is compiled in.
const SOURCE: &str = "program.c";
const PROGRAM: &str = "program";

/// What a program of a case is made of.
#[derive(Clone, Copy, Debug)]
pub struct Recipe<'a> {
    /// The case whose folder has its files.
    pub case: &'a str,
    /// The program, as the variant has it.
    pub plan: &'a ProgramPlan,
    /// The compiler's flags for its ABI.
    pub flags: &'a [String],
}

impl Program {
    /// Compiles a case's program, and finds what the guest must hold for it.
    ///
    /// # Errors
    /// When it does not compile, which names the packages that it needs, or a library
    /// is not there.
    pub fn of_case(
        recipe: Recipe<'_>,
        cache: &Cache,
        compiler: &Compiler,
        runner: &Runner,
    ) -> Result<Self, Error> {
        let tools = Tools {
            cache,
            compiler,
            runner,
        };
        let flags = recipe.all_flags(cache)?;
        let recipe = Recipe {
            flags: &flags,
            ..recipe
        };
        let bytes = recipe.compiled(&Unit::program(recipe.plan), tools)?;
        let (binaries, packages) = recipe.binaries(tools)?;
        let mut files = linked::files(&bytes, &binaries, recipe.flags, compiler, runner)?;
        files.extend(binaries);
        for file in &recipe.plan.files {
            files.push(GuestFile {
                path: file.to.clone(),
                bytes: recipe.text(&file.from)?.into(),
                mode: 0o644,
            });
        }
        let plan = recipe.plan;
        let words = |mode: &[String]| -> Vec<String> {
            let own = std::iter::once(&plan.name).chain(&plan.arguments);
            own.chain(mode).cloned().collect()
        };
        let parts = plan.mode.iter().filter(|_| plan.apart);
        let parts = parts.map(|word| terminated(&words(std::slice::from_ref(word))));
        Ok(Self {
            name: plan.name.clone(),
            bytes,
            arguments: terminated(&words(&plan.mode)),
            parts: parts.collect(),
            line: words(&plan.mode).join(" "),
            files,
            packages,
            station: plan.station(),
            units: plan.units.clone(),
            is_compared: true,
        })
    }
}

/// The words, each ending in NUL.
fn terminated(words: &[String]) -> Vec<u8> {
    let each = words.iter();
    each.flat_map(|word| [word.as_bytes(), b"\0"].concat())
        .collect()
}

impl Recipe<'_> {
    fn text(&self, file: &str) -> Result<&'static str, Error> {
        let text = case_file(self.case, file);
        Ok(text.or_defect(&format!("the case {} has no {file}", self.case))?)
    }

    /// Those of its ABI, and what says where the libraries are that were fetched for it.
    fn all_flags(&self, cache: &Cache) -> Result<Vec<String>, Error> {
        let mut flags = self.flags.to_vec();
        for package in &self.plan.packages {
            if let Some(library) = fetched::library(cache, package)? {
                flags.extend(library.flags()?);
            }
        }
        Ok(flags)
    }

    /// The packages of this machine that it is made of, or that were fetched for it, each
    /// with its version.
    fn versions(&self, tools: Tools<'_>) -> Result<Vec<String>, Error> {
        let system = self.plan.system.iter().map(|plan| plan.package.clone());
        let mut versions = system::versions(&system.collect::<Vec<_>>(), tools.runner)?;
        for package in &self.plan.packages {
            match fetched::library(tools.cache, package)? {
                Some(library) => versions.push(format!("{package} {}", library.version)),
                None => versions.extend(system::versions(
                    std::slice::from_ref(package),
                    tools.runner,
                )?),
            }
        }
        Ok(versions)
    }

    /// What the guest holds beside the program that has to be linked as well, and the
    /// packages that it is of.
    fn binaries(&self, tools: Tools<'_>) -> Result<(Vec<GuestFile>, Vec<String>), Error> {
        let (mut files, mut versions) = (Vec::new(), Vec::new());
        if let Some(plan) = &self.plan.package {
            let built = Package {
                case: self.case,
                plan,
                patch: self.source_patch(plan)?,
                cache: tools.cache,
                compiler: tools.compiler,
                runner: tools.runner,
            }
            .built()?;
            files = built.files;
            versions.push(built.version);
        }
        files.extend(system::files(&self.plan.system)?);
        for library in &self.plan.compiled {
            files.push(GuestFile {
                path: library.to.clone(),
                bytes: self.compiled(&Unit::library(library), tools)?,
                mode: 0o755,
            });
        }
        versions.extend(self.versions(tools)?);
        Ok((files, versions))
    }

    /// What a variant lays over the source of the package.
    fn source_patch(&self, plan: &PackagePlan) -> Result<Option<Patch>, Error> {
        let Some(file) = &plan.patch else {
            return Ok(None);
        };
        let shown = PathBuf::from(format!("cases/{}/{file}", self.case));
        Ok(Some(Patch::plain(&shown, self.text(file)?.into())))
    }

    fn compiled(&self, unit: &Unit<'_>, tools: Tools<'_>) -> Result<Vec<u8>, Error> {
        let name = Path::new("programs").join(self.key(unit, tools)?);
        let compile = |folder: &Path| self.compile(unit, folder, tools);
        let place = match tools.cache.installed(&name)? {
            Some(place) => place,
            None => tools.cache.install(&name, compile)?,
        };
        let path = place.join(PROGRAM);
        std::fs::read(&path).map_err(|source| Error::Read { path, source })
    }

    /// All that decides what the compiler makes.
    fn key(&self, unit: &Unit<'_>, tools: Tools<'_>) -> Result<String, Error> {
        let mut parts = vec![
            tools.compiler.version.clone(),
            self.words(unit).join(" "),
            self.text(unit.source)?.to_owned(),
            assets::own(&assets::GUEST, HEADER)?.to_owned(),
        ];
        for header in &self.plan.headers {
            parts.push(self.text(header)?.to_owned());
        }
        for library in unit.libraries {
            // One that is not there is the compiler's to name.
            let name = format!("lib{library}.so");
            if let Ok(path) = linked::find(&name, self.flags, tools.compiler, tools.runner) {
                let bytes = std::fs::read(&path);
                let bytes = bytes.map_err(|source| Error::Read { path, source })?;
                parts.push(tree::hash(&bytes));
            }
        }
        Ok(tree::hash(parts.join("\0").as_bytes()))
    }

    /// The compiler's arguments.
    fn words(&self, unit: &Unit<'_>) -> Vec<String> {
        let flags = FLAGS.iter().chain(unit.flags);
        let flags = flags.map(|flag| (*flag).to_owned());
        let defines = self.plan.defines.iter().map(|define| format!("-D{define}"));
        let ends = ["-I.", "-o", PROGRAM, SOURCE].map(str::to_owned);
        let libraries = unit.libraries.iter().map(|name| format!("-l{name}"));
        flags
            .chain(self.flags.iter().cloned())
            .chain(defines)
            .chain(ends)
            .chain(libraries)
            .collect()
    }

    fn compile(&self, unit: &Unit<'_>, folder: &Path, tools: Tools<'_>) -> Result<(), Error> {
        let source = self.text(unit.source)?;
        cache::write_file(&folder.join(SOURCE), source.as_bytes())?;
        let header = assets::own(&assets::GUEST, HEADER)?;
        cache::write_file(&folder.join(HEADER), header.as_bytes())?;
        for header in &self.plan.headers {
            let name = Path::new(header).file_name();
            let name = name.or_defect(&format!("the header {header} has no name"))?;
            cache::write_file(&folder.join(name), self.text(header)?.as_bytes())?;
        }
        let mut command = Command::new(&tools.compiler.command);
        crate::build::clean_environment(&mut command);
        command.current_dir(folder).args(self.words(unit));
        match tools.runner.output(&mut command) {
            Ok(_) => Ok(()),
            Err(process::Error::Failed { message, room, .. }) if room.is_empty() => {
                Err(self.not_compiled(unit, &message))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn not_compiled(&self, unit: &Unit<'_>, message: &str) -> Error {
        Error::NotCompiled {
            file: format!("cases/{}/{}", self.case, unit.source),
            reason: first_error(message),
            packages: self.plan.packages.clone(),
        }
    }
}

/// What compiles, and where it is kept.
#[derive(Clone, Copy)]
struct Tools<'a> {
    cache: &'a Cache,
    compiler: &'a Compiler,
    runner: &'a Runner,
}

/// A C file of the case that is compiled.
struct Unit<'a> {
    source: &'a str,
    flags: &'static [&'static str],
    libraries: &'a [String],
}

impl<'a> Unit<'a> {
    fn program(plan: &'a ProgramPlan) -> Self {
        Self {
            source: &plan.source,
            flags: &[],
            libraries: &plan.libraries,
        }
    }

    fn library(plan: &'a LibraryPlan) -> Self {
        Self {
            source: &plan.source,
            flags: SHARED,
            libraries: &[],
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::*;
    use crate::case::Case;
    use crate::process::Interrupt;

    /// A compiler that finds no header of a library.
    #[test]
    fn what_does_not_compile_names_its_packages() {
        let case = Case::named("alsa-client").unwrap();
        let mut plan = case.program.unwrap();
        plan.libraries = vec!["nosuch".to_owned()];
        plan.defines = vec!["main=nothing".to_owned()];
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let runner = Runner::new(Interrupt::default(), None);
        let compiler = Compiler::find("gcc", &runner).unwrap();
        let recipe = Recipe {
            case: "alsa-client",
            plan: &plan,
            flags: &[],
        };
        let error = Program::of_case(recipe, &cache, &compiler, &runner).unwrap_err();
        let said = error.to_string();
        assert!(
            said.starts_with("could not compile cases/alsa-client/client.c"),
            "{said}"
        );
        assert!(said.contains("libasound2-dev"), "{said}");
    }

    /// Each word of the mode in a boot of its own, and one that is linked dynamically with
    /// what stands in front of its libraries.
    #[test]
    fn parts_have_their_own_arguments() {
        let mut plan = Case::named("sound-server").unwrap().program.unwrap();
        plan.package = None;
        plan.system.clear();
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let runner = Runner::new(Interrupt::default(), None);
        let compiler = Compiler::find("gcc", &runner).unwrap();
        let mut made = |mode: &[&str]| {
            plan.mode = mode.iter().map(|word| (*word).to_owned()).collect();
            let recipe = Recipe {
                case: "sound-server",
                plan: &plan,
                flags: &[],
            };
            Program::of_case(recipe, &cache, &compiler, &runner).unwrap()
        };
        let whole = made(&["a", "b"]);
        let words = |words: &str| words.replace(' ', "\0").into_bytes();
        assert_eq!(whole.arguments, words("session 60 a b "));
        let parts = whole.in_boots();
        let arguments: Vec<Vec<u8>> = parts.into_iter().map(|part| part.arguments).collect();
        assert_eq!(arguments, ["session 60 a ", "session 60 b "].map(words));
        let has = |path: &str| whole.files.iter().any(|file| file.path == path);
        assert!(has("lib/count.so") && has("etc/alsa.conf") && has("lib/libc.so.6"));
        assert_ne!(whole.content(), made(&["a", "c"]).content());
    }
}
