//! Why a program cannot run in the guest.

use std::path::PathBuf;

use tollgate_arch::Wrong;
use tollgate_source::shown;

use crate::cache;
use crate::copy;
use crate::patch;
use crate::process;
use crate::registry;
use crate::remembered;
use crate::tree;

impl From<remembered::Error> for Error {
    fn from(error: remembered::Error) -> Self {
        match error {
            remembered::Error::Tree(error) => Self::Tree(error),
            remembered::Error::Cache(error) => Self::Cache(error),
        }
    }
}

/// The largest program: the guest has 256 MiB of memory, and unpacks it there.
pub(super) const LARGEST: u64 = 64 << 20;

/// Why a program cannot run in the guest.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read.
    #[error("could not read the program {}: {source}", shown(.path))]
    Read {
        /// The program.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no program for the guest.
    #[error("{} {fault}", shown(.path))]
    Unfit {
        /// The program.
        path: PathBuf,
        /// What is wrong, and what to do.
        fault: Fault,
    },
    /// What a guest takes is not known.
    #[error(transparent)]
    Registry(#[from] registry::Error),
    /// The program of a case does not compile.
    #[error("could not compile {file}: {reason}{}", needs(.packages))]
    NotCompiled {
        /// Its source.
        file: String,
        /// What the compiler said first.
        reason: String,
        /// The packages that it needs.
        packages: Vec<String>,
    },
    /// A library that a program is linked with is not there.
    #[error("{} finds no {name}, which the program is linked with", std::iter::once(compiler).chain(flags).map(String::as_str).collect::<Vec<_>>().join(" "))]
    NoLibrary {
        /// The library.
        name: String,
        /// The compiler.
        compiler: String,
        /// Its flags.
        flags: Vec<String>,
    },
    /// What is to be loaded is no ELF file.
    #[error("what the program is linked with is no ELF file: {0}")]
    NotElf(String),
    /// The source package that a case builds is not kept.
    #[error("the case {case} is built from the source package {package}, and {} has none: TOLLGATE_CACHE={} scripts/source {package} fetches it", shown(.folder), shown(.folder.parent().unwrap_or(.folder)))]
    NoSource {
        /// The case.
        case: String,
        /// The package.
        package: String,
        /// Where sources are kept.
        folder: PathBuf,
    },
    /// A file of a package of this machine is not there.
    #[error("the guest needs {} of the package {package}, which this machine does not have: apt-get install {package}", shown(.path))]
    NoFile {
        /// The file.
        path: PathBuf,
        /// The package that has it.
        package: String,
    },
    /// A source package does not build.
    #[error("could not build {package}: '{step}' failed. It says:\n\n{reason}\n\nThe whole log is {}{}", shown(.log), needs(.packages))]
    NotBuilt {
        /// The package.
        package: String,
        /// The command.
        step: String,
        /// What it said.
        reason: String,
        /// All that it said.
        log: PathBuf,
        /// The packages that it needs.
        packages: Vec<String>,
    },
    /// A build did not leave what the case wants of it.
    #[error("the build was to leave one file {}, and left {found}", shown(.path))]
    NotOneFile {
        /// The file; a `*` in it stands for anything.
        path: PathBuf,
        /// What there is.
        found: &'static str,
    },
    /// The source of a package could not be read.
    #[error(transparent)]
    Tree(#[from] tree::Error),
    /// The copy that is built from could not be written.
    #[error(transparent)]
    Copy(#[from] copy::Error),
    /// A patch does not apply to the source of a package.
    #[error(transparent)]
    Patch(#[from] patch::Error),
    /// A tool could not be run.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// The cache could not be used.
    #[error(transparent)]
    Cache(#[from] cache::Error),
    /// A file that tollgate brings along is not there.
    #[error(transparent)]
    Defect(#[from] tollgate_defect::Defect),
}

/// What keeps a file from being a program for the guest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is larger than the guest has room for.
    #[error("has {0} bytes, and the guest has room for {LARGEST}")]
    Large(u64),
    /// It is a script, or no program at all.
    #[error("is no ELF program: the guest has no shell and no interpreters; compile one in C")]
    NotElf,
    /// It is a program of 32 bits.
    #[error("is a 32-bit program, and the guest runs {0}: compile it without -m32 and -mx32")]
    Narrow(String),
    /// It is damaged.
    #[error("is a damaged ELF program: {0}")]
    Damaged(String),
    /// It is for other processors.
    #[error("is a program for {found}, and the guest runs {wanted}: compile it for {wanted}")]
    Machine {
        /// What it is for.
        found: String,
        /// The guest's architecture.
        wanted: String,
    },
    /// It is a folder, a device or a pipe, which may have no end.
    #[error("is no ordinary file: give a static program")]
    NoFile,
    /// The table of architectures cannot be read.
    #[error("cannot be told from those of other architectures: {0}")]
    Architectures(#[from] Wrong),
    /// It is an object file or a library.
    #[error("is an object file or a library, and no program: link it, with -static")]
    NotLinked,
    /// It needs a dynamic linker.
    #[error("is linked dynamically, and the guest has no libraries: link it with -static")]
    Dynamic,
    /// It has more arguments than the guest reads.
    #[error("has {found} arguments, and the guest takes {takes}")]
    Arguments {
        /// How many it has.
        found: usize,
        /// How many there may be.
        takes: String,
    },
}

/// ` it needs libasound2-dev: …`, or nothing.
fn needs(packages: &[String]) -> String {
    match packages {
        [] => String::new(),
        all => {
            let is_foreign = |name: &&String| name.contains(':');
            let own: Vec<&str> = all
                .iter()
                .filter(|name| !is_foreign(name))
                .map(String::as_str)
                .collect();
            let fetched = all
                .iter()
                .filter(is_foreign)
                .map(|name| format!("scripts/library {name}"));
            let install = (!own.is_empty()).then(|| format!("apt-get install {}", own.join(" ")));
            let ways: Vec<String> = install.into_iter().chain(fetched).collect();
            format!("\nIt needs {}: {}", all.join(" "), ways.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::needs;

    #[test]
    fn a_package_of_another_architecture_is_fetched_and_not_installed() {
        let said = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            needs(&names)
        };
        assert_eq!(said(&[]), "");
        assert_eq!(
            said(&["libtoy-dev", "m4"]),
            "\nIt needs libtoy-dev m4: apt-get install libtoy-dev m4"
        );
        assert_eq!(
            said(&["m4", "libtoy-dev:i386"]),
            "\nIt needs m4 libtoy-dev:i386: apt-get install m4, scripts/library libtoy-dev:i386"
        );
    }
}
