//! Which C compilers there are here, and which package has one that is not.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use tollgate_defect::answer;

use crate::input;
use crate::process;

/// What is said behind the error of a compiler that is not here; nothing where it is, or
/// where its name is a path.
pub(super) fn advice(command: &str, error: &process::Error, path: Option<&OsStr>) -> String {
    let missing = matches!(error, process::Error::Start { source, .. } if source.kind() == io::ErrorKind::NotFound);
    if !missing || command.contains('/') {
        return String::new();
    }
    let has = match package_of(command) {
        Some(package) => format!("; Debian's package {package} has it"),
        None => String::new(),
    };
    let here = match here(path).as_slice() {
        [] => String::new(),
        here => format!("; compilers that are here: {}", here.join(", ")),
    };
    format!("{has}{here}")
}

/// Debian's package of a compiler, by how Debian names its commands: `gcc-12` is in
/// gcc-12, `aarch64-linux-gnu-gcc-12` in gcc-12-aarch64-linux-gnu.
fn package_of(command: &str) -> Option<String> {
    let (prefix, family, version) = parts(command)?;
    let version = version.map_or_else(String::new, |version| format!("-{version}"));
    // A package's name has no underscore (Debian Policy, 5.6.1).
    match prefix {
        "" => Some(format!("{family}{version}")),
        // clang compiles for every machine.
        _ if family == "clang" => None,
        prefix => Some(format!("{family}{version}-{}", prefix.replace('_', "-"))),
    }
}

/// What stands before the family of a compiler's name, the family, and its version.
fn parts(command: &str) -> Option<(&str, &'static str, Option<&str>)> {
    let (rest, version) = match command.rsplit_once('-') {
        Some((rest, last)) if answer::number::<u32>(last).is_some() => (rest, Some(last)),
        _ => (command, None),
    };
    ["gcc", "clang"].into_iter().find_map(|family| {
        let before = rest.strip_suffix(family)?;
        let prefix = match before {
            "" => "",
            before => before.strip_suffix('-')?,
        };
        Some((prefix, family, version))
    })
}

/// The compilers of this machine's own programs in the folders of `PATH`, sorted.
fn here(path: Option<&OsStr>) -> Vec<String> {
    let folders = path.into_iter().flat_map(std::env::split_paths);
    let names = folders.flat_map(|folder| names(&folder));
    let own = |name: &String| matches!(parts(name), Some(("", _, _)));
    names
        .filter(own)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// A folder of `PATH` that cannot be listed has no compilers to offer.
fn names(folder: &Path) -> Vec<String> {
    let Ok(names) = input::names_in(folder) else {
        return Vec::new();
    };
    names
        .iter()
        .filter_map(|name| name.to_str().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing() -> process::Error {
        process::Error::Start {
            program: "gcc-13".into(),
            source: io::Error::from(io::ErrorKind::NotFound),
        }
    }

    #[test]
    fn a_compiler_is_in_the_package_that_debian_puts_it_in() {
        for (command, package) in [
            ("gcc", Some("gcc")),
            ("gcc-13", Some("gcc-13")),
            ("clang-19", Some("clang-19")),
            ("aarch64-linux-gnu-gcc", Some("gcc-aarch64-linux-gnu")),
            ("x86_64-linux-gnu-gcc-12", Some("gcc-12-x86-64-linux-gnu")),
            ("aarch64-linux-gnu-clang-19", None),
            ("tcc", None),
            ("mygcc", None),
            ("gcc-nm", None),
        ] {
            assert_eq!(package_of(command).as_deref(), package, "{command}");
        }
    }

    #[test]
    fn one_that_is_not_here_is_named_with_its_package_and_those_that_are() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "gcc-12",
            "clang-19",
            "gcc-nm-12",
            "arm-linux-gnueabi-gcc",
            "ld",
        ] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let path = dir.path().as_os_str();
        assert_eq!(
            advice("gcc-13", &missing(), Some(path)),
            "; Debian's package gcc-13 has it; compilers that are here: clang-19, gcc-12"
        );
        assert_eq!(advice("/opt/gcc-13", &missing(), Some(path)), "");
        assert_eq!(advice("tcc", &missing(), None), "");
    }
}
