//! A program that is built from a source package of the distribution: from its source
//! as it came, or with a variant's patch over it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tollgate_defect::OrDefect as _;
use tollgate_source::TreePath;

use super::error::Error;
use super::fetched::{self, Fetched, names_in};
use super::guest_file::{GuestFile, read};
use super::system;
use crate::build::{clean_environment, first_error};
use crate::cache::{self, Cache};
use crate::case::PackagePlan;
use crate::copy::PrivateCopy;
use crate::patch::{self, Patch};
use crate::process::Runner;
use crate::products::Products;
use crate::remembered::Memory;
use crate::sums::SUMS;
use crate::toolchain::Compiler;
use crate::tree::{self, Change, Manifest, Tree};

/// Where packages are built, below the cache.
const WORK: &str = "work/packages";
/// What the folder of the source is called beside the build's.
const SOURCE: &str = "source";

/// The source of a package, as the distribution has it.
#[derive(Debug)]
struct Source {
    tree: Tree,
    version: String,
}

/// A package that was built.
#[derive(Debug)]
pub(super) struct Built {
    /// Its files, as the guest holds them.
    pub(super) files: Vec<GuestFile>,
    /// `pulseaudio 16.1+dfsg1-2`
    pub(super) version: String,
}

/// What a package is built of.
#[derive(Debug)]
pub(super) struct Package<'a> {
    pub(super) case: &'a str,
    pub(super) plan: &'a PackagePlan,
    /// What is laid over its source.
    pub(super) patch: Option<Patch>,
    pub(super) cache: &'a Cache,
    pub(super) compiler: &'a Compiler,
    pub(super) runner: &'a Runner,
}

impl Package<'_> {
    /// Its files, built where the cache does not have them.
    ///
    /// # Errors
    /// When its source is not there, the patch does not apply, or it does not build.
    pub(super) fn built(&self) -> Result<Built, Error> {
        let source = self.source()?;
        let change = self.change(&source)?;
        let memory = Arc::new(Memory::of(source.tree.root(), self.cache));
        let whole = memory.manifest(source.tree.root(), self.runner.interrupt())?;
        let wanted = whole.with(&change);
        let name = Path::new("programs").join(self.key(&source, &wanted)?);
        let build = |folder: &Path| self.build(&source, &change, &wanted, &memory, folder);
        let place = match self.cache.installed(&name)? {
            Some(place) => place,
            None => self.cache.install(&name, build)?,
        };
        Ok(Built {
            files: self.collected(&place)?,
            version: format!("{} {}", self.plan.name, source.version),
        })
    }

    /// The newest of its sources that is kept.
    fn source(&self) -> Result<Source, Error> {
        let Some(Fetched { version, path }) = fetched::newest(self.cache, &self.plan.name)? else {
            return Err(Error::NoSource {
                case: self.case.to_owned(),
                package: self.plan.name.clone(),
                folder: fetched::folder(self.cache),
            });
        };
        let tree = Tree::of_package(&path, &version)?;
        Ok(Source { tree, version })
    }

    /// What the variant's patch makes of the source.
    fn change(&self, source: &Source) -> Result<Change, Error> {
        let Some(patch) = &self.patch else {
            return Ok(Change::default());
        };
        let ground = patch::Folder::new(source.tree.root());
        Ok(patch::apply(patch, &ground, self.cache, self.runner)?.change)
    }

    /// All that decides what is built.
    fn key(&self, source: &Source, wanted: &Manifest) -> Result<String, Error> {
        let mut parts = vec![
            wanted.id(),
            source.version.clone(),
            self.compiler.version.clone(),
            self.plan.configure.join("\0"),
            self.plan.make.join("\0"),
        ];
        parts.extend(system::versions(&self.plan.packages, self.runner)?);
        let files = self.plan.files.iter();
        parts.extend(files.map(|file| format!("{}\0{}", file.from, file.to)));
        Ok(tree::hash(parts.join("\0").as_bytes()))
    }

    /// One folder for all variants, each built from the objects of the one before.
    fn build(
        &self,
        source: &Source,
        change: &Change,
        wanted: &Manifest,
        memory: &Arc<Memory>,
        folder: &Path,
    ) -> Result<(), Error> {
        let name = format!("{}-{}", self.plan.name, source.version.replace(':', "%"));
        let work = self.cache.root().join(WORK).join(name);
        cache::make_folder(&work)?;
        let products = Products::new(work.join("build"), work.join("built.json"));
        let copy = PrivateCopy::new(
            work.join(SOURCE),
            work.join("source.json"),
            products.clone(),
            Arc::clone(memory),
        );
        let interrupt = self.runner.interrupt();
        products.mend(false, interrupt)?;
        copy.sync(&source.tree, change, wanted, interrupt)?;
        // A build that is cut off from here on leaves no record, and begins anew.
        products.forget()?;
        let record = work.join("configured");
        let words = self.configured_by()?;
        if !products.folder().is_dir() || !cache::holds(&record, &words)? {
            products.clear()?;
            self.run(&self.plan.configure, &work)?;
            cache::write_file(&record, words.as_bytes())?;
        }
        self.run(&self.plan.make, &work)?;
        copy.verify(wanted, interrupt)?;
        products.keep(interrupt)?;
        for file in &self.plan.files {
            let from = matching(&work, &file.from)?;
            let to = folder.join(place_of(&from, &file.to));
            cache::make_folder(to.parent().unwrap_or(folder))?;
            cache::write_file(&to, &read(&from)?)?;
        }
        Ok(())
    }

    /// All that a build remembers from when it was configured.
    fn configured_by(&self) -> Result<String, Error> {
        let mut parts = vec![self.plan.configure.join(" "), self.compiler.version.clone()];
        parts.extend(system::versions(&self.plan.packages, self.runner)?);
        Ok(parts.join("\n"))
    }

    fn run(&self, words: &[String], work: &Path) -> Result<(), Error> {
        let (program, arguments) = words
            .split_first()
            .or_defect(&format!("the case {} has a step without words", self.case))?;
        let mut command = Command::new(program);
        clean_environment(&mut command);
        command.current_dir(work).args(arguments);
        let log = work.join(format!("{program}.log"));
        let status = self.runner.logged(&mut command, &log, None, &mut |_| {});
        let status = status.map_err(|error| self.not_built(words, &format!("  {error}"), &log))?;
        match status.success() {
            true => Ok(()),
            false => {
                let said = read(&log)?;
                let said = String::from_utf8_lossy(&said);
                Err(self.not_built(words, &first_error(&said), &log))
            }
        }
    }

    fn not_built(&self, words: &[String], reason: &str, log: &Path) -> Error {
        Error::NotBuilt {
            package: self.plan.name.clone(),
            step: words.iter().take(2).cloned().collect::<Vec<_>>().join(" "),
            reason: reason.to_owned(),
            log: log.to_owned(),
            packages: self.plan.packages.clone(),
        }
    }

    /// The files of a build that is kept, by their paths in the guest.
    fn collected(&self, place: &Path) -> Result<Vec<GuestFile>, Error> {
        let kept = tree::manifest_of(place, self.runner.interrupt())?;
        let file = |path: &TreePath| {
            Ok(GuestFile {
                path: path.to_string(),
                bytes: read(&place.join(path))?,
                mode: 0o755,
            })
        };
        let files = kept.entries().keys();
        let files = files.filter(|path| path.as_bytes() != SUMS.as_bytes());
        files.map(file).collect()
    }
}

/// The one file below `folder` of that path, in whose name a `*` stands for anything:
/// names of libraries hold versions.
fn matching(folder: &Path, path: &str) -> Result<PathBuf, Error> {
    let whole = folder.join(path);
    let Some((start, end)) = path
        .rsplit('/')
        .next()
        .and_then(|name| name.split_once('*'))
    else {
        return Ok(whole);
    };
    let within = whole.parent().unwrap_or(folder);
    let names = names_in(within)?;
    let names = names.iter().filter_map(|name| name.to_str());
    let mut fit = names.filter(|name| name.starts_with(start) && name.ends_with(end));
    match (fit.next(), fit.next()) {
        (Some(name), None) => Ok(within.join(name)),
        (one, _) => Err(Error::NotOneFile {
            path: whole,
            found: if one.is_some() { "several" } else { "none" },
        }),
    }
}

/// A path of the guest that ends in `/` is that of a folder.
fn place_of(from: &Path, to: &str) -> PathBuf {
    match (to.ends_with('/'), from.file_name()) {
        (true, Some(name)) => Path::new(to).join(name),
        _ => PathBuf::from(to),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use std::fs;

    use super::*;
    use crate::case::GuestFilePlan;
    use crate::process::Interrupt;

    const MAIN: &str = "#include \"says.h\"\nint main(void) { return SAYS; }\n";
    const PATCH: &str =
        "--- a/says.h\n+++ b/says.h\n@@ -1 +1 @@\n-#define SAYS 1\n+#define SAYS 2\n";

    /// A cache that holds the source of a package, and what builds it.
    struct Toy {
        folder: tempfile::TempDir,
        cache: Cache,
        runner: Runner,
        compiler: Compiler,
        plan: PackagePlan,
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn file(from: &str, to: &str) -> GuestFilePlan {
        let (from, to) = (from.to_owned(), to.to_owned());
        GuestFilePlan { from, to }
    }

    impl Toy {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let cache = Cache::open(folder.path()).unwrap();
            let runner = Runner::new(Interrupt::default(), None);
            let compiler = Compiler::find("gcc", &runner).unwrap();
            let source = folder.path().join("sources/toy_1%1.0-2");
            fs::create_dir_all(&source).unwrap();
            fs::write(source.join("main.c"), MAIN).unwrap();
            fs::write(source.join("says.h"), "#define SAYS 1\n").unwrap();
            let plan = PackagePlan {
                name: "toy".to_owned(),
                configure: words("mkdir build"),
                make: words("gcc -o build/toy-1.0 source/main.c"),
                packages: words("libtoy-dev"),
                files: vec![file("build/toy-*", "usr/bin/")],
                patch: None,
            };
            Self {
                folder,
                cache,
                runner,
                compiler,
                plan,
            }
        }

        fn built(&self, patch: Option<&str>) -> Result<Built, Error> {
            let patch = patch.map(|text| Patch::plain(Path::new("x.patch"), text.into()));
            Package {
                case: "toys",
                plan: &self.plan,
                patch,
                cache: &self.cache,
                compiler: &self.compiler,
                runner: &self.runner,
            }
            .built()
        }

        /// What the program that was built ends with.
        fn says(&self, patch: Option<&str>) -> i32 {
            let built = self.built(patch).unwrap();
            assert_eq!(built.version, "toy 1:1.0-2");
            let [file] = built.files.as_slice() else {
                panic!("{:?}", built.files.len())
            };
            assert_eq!(file.path, "usr/bin/toy-1.0");
            let [bytes, program] = ["bytes", "program"].map(|name| self.folder.path().join(name));
            cache::write_file(&bytes, &file.bytes).unwrap();
            // Written by a process of its own: what this one has open for writing, a child
            // that a test beside this one starts has open, too, and nobody can run it.
            let mut install = Command::new("install");
            install.args(["-m", "755"]).args([&bytes, &program]);
            assert!(install.status().unwrap().success());
            Command::new(&program).status().unwrap().code().unwrap()
        }
    }

    #[test]
    fn a_variant_is_built_with_its_patch_and_the_base_without() {
        let toy = Toy::new();
        assert_eq!(toy.says(None), 1);
        assert_eq!(toy.says(Some(PATCH)), 2);
        // Not the cache's: the objects of the variant lie in the same folder.
        cache::remove_folder(&toy.folder.path().join("programs")).unwrap();
        assert_eq!(toy.says(None), 1);
        let source = toy.folder.path().join("sources/toy_1%1.0-2/says.h");
        assert_eq!(fs::read_to_string(source).unwrap(), "#define SAYS 1\n");
    }

    #[test]
    fn what_is_built_once_is_kept() {
        let toy = Toy::new();
        assert_eq!(toy.says(None), 1);
        cache::remove_folder(&toy.folder.path().join(WORK)).unwrap();
        assert_eq!(toy.says(None), 1);
        assert!(!toy.folder.path().join(WORK).exists(), "it was built again");
    }

    #[test]
    fn what_is_not_there_is_named() {
        let mut toy = Toy::new();
        toy.plan.name = "nosuch".to_owned();
        let said = toy.built(None).unwrap_err().to_string();
        assert!(said.contains("scripts/source nosuch fetches it"), "{said}");
        let place = format!("TOLLGATE_CACHE={}", toy.folder.path().display());
        assert!(
            said.contains(&format!("{place} scripts/source nosuch")),
            "{said}"
        );
        assert!(said.starts_with("the case toys is built from"), "{said}");
    }

    #[test]
    fn a_build_that_fails_says_why_and_what_it_needs() {
        let mut toy = Toy::new();
        toy.plan.make = words("gcc -include nosuch.h -o build/toy-1.0 source/main.c");
        let said = toy.built(None).unwrap_err().to_string();
        assert!(said.contains("nosuch.h: No such file"), "{said}");
        assert!(said.contains("apt-get install libtoy-dev"), "{said}");
        let said = toy.built(Some("--- a/says.h\n+++ b/says.h\n@@ -1 +1 @@\n-no\n+yes\n"));
        let said = said.unwrap_err().to_string();
        assert!(said.contains("does not apply"), "{said}");
    }

    #[test]
    fn a_pattern_is_one_file() {
        let mut toy = Toy::new();
        toy.plan.make = words("cp source/main.c source/says.h build");
        toy.plan.files = vec![file("build/*", "usr/")];
        let said = toy.built(None).unwrap_err().to_string();
        assert!(said.ends_with("and left several"), "{said}");
        toy.plan.files = vec![file("build/*.so", "usr/")];
        let said = toy.built(None).unwrap_err().to_string();
        assert!(said.ends_with("and left none"), "{said}");
    }
}
