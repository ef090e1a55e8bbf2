//! A case's program, compiled: once for its source, its flags, the compiler and the
//! libraries that it is linked with.

use std::path::Path;
use std::process::Command;

use super::{Error, GuestFile, Program, linked};
use crate::assets;
use crate::cache::{self, Cache};
use crate::case::{ProgramPlan, case_file};
use crate::process::{self, Runner};
use crate::toolchain::{Compiler, first_error};
use crate::tree;
use tollgate_defect::OrDefect as _;

/// What a program of a case is compiled with.
const FLAGS: &[&str] = &["-O2", "-Wall", "-Wextra"];
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
        let path = recipe.compiled(cache, compiler, runner)?;
        let bytes = std::fs::read(&path).map_err(|source| Error::Read { path, source })?;
        let mut files = linked::files(&bytes, recipe.flags, compiler, runner)?;
        for file in &recipe.plan.files {
            files.push(GuestFile {
                path: file.to.clone(),
                bytes: recipe.text(&file.from)?.into(),
                mode: 0o644,
            });
        }
        let plan = recipe.plan;
        let words = || {
            std::iter::once(&plan.name)
                .chain(&plan.arguments)
                .chain(&plan.mode)
        };
        let line: Vec<&str> = words().map(String::as_str).collect();
        Ok(Self {
            name: plan.name.clone(),
            bytes,
            arguments: words()
                .flat_map(|word| [word.as_bytes(), b"\0"].concat())
                .collect(),
            line: line.join(" "),
            files,
            station: plan.station(),
            units: plan.units.clone(),
            is_compared: true,
        })
    }
}

impl Recipe<'_> {
    fn text(&self, file: &str) -> Result<&'static str, Error> {
        let text = case_file(self.case, file);
        Ok(text.or_defect(&format!("the case {} has no {file}", self.case))?)
    }

    fn compiled(
        &self,
        cache: &Cache,
        compiler: &Compiler,
        runner: &Runner,
    ) -> Result<std::path::PathBuf, Error> {
        let name = Path::new("programs").join(self.key(compiler, runner)?);
        let place = cache.root().join(&name).join(PROGRAM);
        if place.is_file() {
            return Ok(place);
        }
        let folder = cache.install(&name, |folder| self.compile(folder, compiler, runner))?;
        Ok(folder.join(PROGRAM))
    }

    /// All that decides what the compiler makes.
    fn key(&self, compiler: &Compiler, runner: &Runner) -> Result<String, Error> {
        let mut parts = vec![
            compiler.version.clone(),
            self.words().join(" "),
            self.text(&self.plan.source)?.to_owned(),
            assets::own(&assets::GUEST, HEADER)?.to_owned(),
        ];
        for library in &self.plan.libraries {
            // One that is not there is the compiler's to name.
            let name = format!("lib{library}.so");
            if let Ok(path) = linked::find(&name, self.flags, compiler, runner) {
                let bytes = std::fs::read(&path);
                let bytes = bytes.map_err(|source| Error::Read { path, source })?;
                parts.push(tree::hash(&bytes));
            }
        }
        Ok(tree::hash(parts.join("\0").as_bytes()))
    }

    /// The compiler's arguments.
    fn words(&self) -> Vec<String> {
        let flags = FLAGS.iter().map(|flag| (*flag).to_owned());
        let defines = self.plan.defines.iter().map(|define| format!("-D{define}"));
        let ends = ["-I.", "-o", PROGRAM, SOURCE].map(str::to_owned);
        let libraries = self.plan.libraries.iter().map(|name| format!("-l{name}"));
        flags
            .chain(self.flags.iter().cloned())
            .chain(defines)
            .chain(ends)
            .chain(libraries)
            .collect()
    }

    fn compile(&self, folder: &Path, compiler: &Compiler, runner: &Runner) -> Result<(), Error> {
        let source = self.text(&self.plan.source)?;
        cache::write_file(&folder.join(SOURCE), source.as_bytes())?;
        let header = assets::own(&assets::GUEST, HEADER)?;
        cache::write_file(&folder.join(HEADER), header.as_bytes())?;
        let mut command = Command::new(&compiler.command);
        crate::build::clean_environment(&mut command);
        command.current_dir(folder).args(self.words());
        match runner.output(&mut command) {
            Ok(_) => Ok(()),
            Err(process::Error::Failed { message, room, .. }) if room.is_empty() => {
                Err(self.not_compiled(&message))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn not_compiled(&self, message: &str) -> Error {
        Error::NotCompiled {
            file: format!("cases/{}/{}", self.case, self.plan.source),
            reason: first_error(message),
            packages: self.plan.packages.clone(),
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
}
