//! The programs that an image and a count depend on: the compiler, QEMU.

mod compilers;

use std::path::{Path, PathBuf};
use std::process::Command;
use tollgate_defect::answer;

use serde::{Deserialize, Serialize};

use crate::assets;
use crate::process::{self, Runner};
use crate::tree;

/// Why a tool cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A table is not there.
    #[error(transparent)]
    Defect(#[from] tollgate_defect::Defect),
    /// The tool did not answer.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// A compiler that was asked for cannot be run.
    #[error("{error}{advice}")]
    Compiler {
        /// What the system said.
        error: process::Error,
        /// Which package has it, and which compilers there are; nothing where that is
        /// not why.
        advice: String,
    },
    /// The tool answered something else than a version.
    #[error(
        "{program} --version printed {printed:?}, which names no version; is it the right program?"
    )]
    NoVersion {
        /// The program that was asked.
        program: String,
        /// The first line of its answer.
        printed: String,
    },
    /// No plugin is known for this QEMU.
    #[error(
        "QEMU {version} is not known to tollgate's counting plugin (known: {known}); \
             give another with --qemu"
    )]
    UnknownQemu {
        /// Its version.
        version: String,
        /// The versions in `data/qemu/plugin-api.toml`.
        known: String,
    },
    /// The table of QEMU versions cannot be read.
    #[error("data/qemu/plugin-api.toml: {0}")]
    Table(String),
}

/// A C compiler, and how it says what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiler {
    /// The command, `gcc`.
    pub command: String,
    /// The first line of its `--version`.
    pub version: String,
}

impl Compiler {
    /// Asks a compiler what it is.
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn find(command: &str, runner: &Runner) -> Result<Self, Error> {
        let version = first_line(command, runner)?;
        Ok(Self {
            command: command.to_owned(),
            version,
        })
    }

    /// The same of a compiler that the user named.
    ///
    /// # Errors
    /// When it cannot be run, with the package that has it where it is not there.
    pub fn named(command: &str, runner: &Runner) -> Result<Self, Error> {
        Self::find(command, runner).map_err(|error| match error {
            Error::Process(error) => {
                let path = std::env::var_os("PATH");
                let advice = compilers::advice(command, &error, path.as_deref());
                Error::Compiler { error, advice }
            }
            other => other,
        })
    }
}

/// A QEMU system emulator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Qemu {
    /// The command, `qemu-system-x86_64`.
    pub command: String,
    /// Its version, `7.2.22`.
    pub version: String,
    /// The version of its plugin interface.
    pub plugin_api: u32,
}

impl Qemu {
    /// Asks a QEMU what it is.
    ///
    /// # Errors
    /// When it cannot be run, or there is no plugin for it.
    pub fn find(command: &str, runner: &Runner) -> Result<Self, Error> {
        let printed = first_line(command, runner)?;
        let version = qemu_version(&printed).ok_or_else(|| Error::NoVersion {
            program: command.to_owned(),
            printed,
        })?;
        let plugin_api = plugin_api(&version)?;
        Ok(Self {
            command: command.to_owned(),
            version,
            plugin_api,
        })
    }
}

impl Qemu {
    /// The hash of the program's bytes; none where it cannot be found or read.
    #[must_use]
    pub fn content(&self) -> Option<String> {
        let path = std::env::var_os("PATH");
        let folders = path.iter().flat_map(std::env::split_paths);
        let named = Path::new(&self.command);
        let mut places: Vec<PathBuf> = match self.command.contains('/') {
            true => vec![named.to_owned()],
            false => folders.map(|folder| folder.join(named)).collect(),
        };
        places.retain(|place| place.is_file());
        let bytes = answer::there(std::fs::read(places.first()?).map_err(drop))?;
        Some(tree::hash(&bytes))
    }
}

/// The first line that a program prints when it is asked for its version.
fn first_line(program: &str, runner: &Runner) -> Result<String, Error> {
    let printed = runner.output(Command::new(program).arg("--version"))?;
    let text = String::from_utf8_lossy(&printed).into_owned();
    match text.lines().next() {
        Some(line) if line.chars().any(|c| c.is_ascii_digit()) => Ok(line.trim().to_owned()),
        other => Err(Error::NoVersion {
            program: program.to_owned(),
            printed: other.unwrap_or("").to_owned(),
        }),
    }
}

/// `QEMU emulator version 7.2.22 (Debian …)` → `7.2.22`
fn qemu_version(printed: &str) -> Option<String> {
    let rest = printed.split_once("version ")?.1;
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    rest.get(..end)
        .filter(|version| version.contains('.'))
        .map(str::to_owned)
}

#[derive(Deserialize)]
struct Table {
    newest: String,
    release: Vec<Release>,
}

#[derive(Deserialize)]
struct Release {
    from: String,
    api: u32,
}

/// The last row that is not newer than the version; nothing for a version that
/// is newer than what was looked at.
fn plugin_api(version: &str) -> Result<u32, Error> {
    let text = assets::own(&assets::DATA, "qemu/plugin-api.toml")?;
    let table: Table = toml::from_str(text).map_err(|error| Error::Table(error.to_string()))?;
    let row = series(version).and_then(|wanted| {
        let mut rows = table.release.iter().rev();
        let row = rows.find(|row| series(&row.from).is_some_and(|from| from <= wanted))?;
        (wanted <= series(&table.newest)?).then_some(row.api)
    });
    row.ok_or_else(|| Error::UnknownQemu {
        version: version.to_owned(),
        known: known(&table),
    })
}

fn known(table: &Table) -> String {
    let oldest = table
        .release
        .first()
        .map_or("none", |row| row.from.as_str());
    format!("{oldest} to {}", table.newest)
}

/// Major and minor number; none where one of them is no number.
pub(crate) fn series(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(answer::number);
    Some((parts.next()??, parts.next()??))
}

/// The first line of a compiler's that names an error.
pub(crate) fn first_error(message: &str) -> String {
    let line = message
        .lines()
        .find(|line| line.contains("error") || line.contains("cannot"));
    line.or_else(|| message.lines().next())
        .unwrap_or("it does not say why")
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_qemu_prints_them() {
        let debian = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)";
        assert_eq!(qemu_version(debian).as_deref(), Some("7.2.22"));
        assert_eq!(
            qemu_version("QEMU emulator version 10.1.0").as_deref(),
            Some("10.1.0")
        );
        assert_eq!(qemu_version("GNU bash, version five"), None);
    }

    #[test]
    fn each_qemu_has_the_plugin_api_of_its_series() {
        assert_eq!(plugin_api("7.2.22").unwrap(), 1);
        assert_eq!(plugin_api("8.2.0").unwrap(), 1);
        assert_eq!(plugin_api("9.0.4").unwrap(), 2);
        assert_eq!(plugin_api("10.0.0").unwrap(), 4);
        assert_eq!(plugin_api("11.1.1").unwrap(), 7);
    }

    #[test]
    fn an_unknown_qemu_is_refused_with_what_is_known() {
        for version in ["99.0.0", "4.2.1"] {
            let error = plugin_api(version).unwrap_err().to_string();
            assert!(
                error.contains(version) && error.contains("known: 6.2 to 11.1"),
                "{error}"
            );
        }
    }
}
