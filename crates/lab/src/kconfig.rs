//! The Kconfig files of a tree, as a build for one architecture reads them.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use tollgate_robot::{Kconfig, files_read};
use tollgate_source::{TreePath, shown};

use crate::input;

/// The first file, which reads the others.
const TOP: &str = "Kconfig";

/// Why the options of a tree are not known.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("could not read {}: {source}", shown(.path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Reads the tree at `root` from its top Kconfig file on: what that reads, and so
/// forth, for the architecture whose folder below `arch/` is `source`. A file that is
/// named and not there is left to Kconfig, which refuses the tree.
///
/// # Errors
/// When a file that is there cannot be read.
pub fn read(root: &Path, source: &str) -> Result<Kconfig, Error> {
    let mut kconfig = Kconfig::default();
    let mut seen = BTreeSet::new();
    let mut open = vec![TOP.to_owned()];
    while let Some(name) = open.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let Some(text) = text(root, &name)? else {
            continue;
        };
        let text = for_architecture(&text, source);
        open.extend(files_read(&text));
        kconfig.add(&name, &text);
    }
    Ok(kconfig)
}

fn text(root: &Path, name: &str) -> Result<Option<String>, Error> {
    let Some(path) = TreePath::new(name.as_bytes()) else {
        return Ok(None);
    };
    let path = root.join(path);
    match input::source(&path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if input::is_absent(&error) => Ok(None),
        Err(source) => Err(Error::Unreadable { path, source }),
    }
}

/// The one variable that names of files are made of (Documentation/kbuild/kconfig-language.rst).
fn for_architecture(text: &str, source: &str) -> String {
    text.replace("$(SRCARCH)", source)
        .replace("$SRCARCH", source)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_what_a_build_for_the_architecture_reads_counts() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            (
                "Kconfig",
                "source \"arch/$(SRCARCH)/Kconfig\"\nsource \"fs/Kconfig\"\nsource \"gone/Kconfig\"\n",
            ),
            ("arch/x86/Kconfig", "config SMAP\n\tbool\n"),
            ("arch/arm64/Kconfig", "config PAN\n\tbool\n"),
            ("fs/Kconfig", "if SMAP\nsource \"fs/proc/Kconfig\"\nendif\n"),
            ("fs/proc/Kconfig", "config PROC_FS\n\tbool \"proc\"\n"),
            ("lost/Kconfig", "config NOBODY\n\tbool\n"),
        ] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let x86 = read(dir.path(), "x86").unwrap();
        assert!(x86.has("SMAP") && x86.has("PROC_FS"));
        assert!(!x86.has("PAN") && !x86.has("NOBODY"));
        assert_eq!(x86.depends("PROC_FS").options(), ["SMAP"].into());
        assert!(read(dir.path(), "arm64").unwrap().has("PAN"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(TOP)).unwrap();
        let told = read(dir.path(), "x86").unwrap_err().to_string();
        assert!(
            told.contains(dir.path().join(TOP).to_str().unwrap()),
            "{told}"
        );
    }
}
