//! Where a result goes that a flag names: a file, or standard output for `-`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::builder::{OsStringValueParser, TypedValueParser};
use rustix::fs::{Access, access};
use tollgate_defect::OrDefect as _;
use tollgate_lab::{cache, input};

use tollgate_source::shown;

use crate::term::Term;

/// What a flag names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// `-`.
    Stdout,
    /// Anything else; a file of that name is `./-`.
    File(PathBuf),
}

impl From<OsString> for Place {
    fn from(word: OsString) -> Self {
        match word.to_str() {
            Some("-") => Self::Stdout,
            _ => Self::File(word.into()),
        }
    }
}

/// Reads it from the command line.
pub(crate) fn parser() -> impl TypedValueParser<Value = Place> {
    OsStringValueParser::new().map(Place::from)
}

impl Place {
    /// The file, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::File(path) => Some(path),
        }
    }

    /// Keeps the file under another name, too, where it answers more than the `document` that is to take
    /// its place: `answers` names what a document has an answer to. The new name.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn set_aside(
        &self,
        document: &str,
        answers: impl Fn(&[u8]) -> BTreeSet<String>,
    ) -> anyhow::Result<Option<PathBuf>> {
        let Some(path) = self.file() else {
            return Ok(None);
        };
        match fs::metadata(path) {
            Ok(about) if about.is_file() => {}
            Err(error) if !input::is_absent(&error) => {
                return Err(error).with_context(|| format!("what {} is", shown(path)));
            }
            _ => return Ok(None),
        }
        // What a link names is what would be written.
        let path = match path.is_symlink() {
            true => fs::canonicalize(path)?,
            false => path.to_owned(),
        };
        // What cannot be read may hold an answer, and is not written over.
        let before = input::source(&path)
            .with_context(|| format!("could not read the earlier {}", shown(&path)))?;
        if answers(&before).is_subset(&answers(document.as_bytes())) {
            return Ok(None);
        }
        let mut names = (1..).map(|number| earlier_name(&path, number));
        let is_free =
            |name: &PathBuf| matches!(fs::symlink_metadata(name), Err(e) if input::is_absent(&e));
        let free = names.find(is_free).or_defect("no number is free")?;
        // The new document is renamed into the place of the first name.
        if fs::hard_link(&path, &free).is_err() {
            cache::write_result(&free, &before)?;
        }
        Ok(Some(free))
    }

    /// Writes JSON there.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn write_json(&self, document: &str, term: &Term) -> anyhow::Result<()> {
        match self {
            Self::Stdout => Ok(term.json(document)?),
            Self::File(path) => Ok(cache::write_result(path, document.as_bytes())?),
        }
    }

    /// Writes text there that has a form of its own.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn write(&self, text: &str, term: &Term) -> anyhow::Result<()> {
        match self {
            Self::Stdout => Ok(term.raw(text.as_bytes())?),
            Self::File(path) => Ok(cache::write_result(path, text.as_bytes())?),
        }
    }
}

/// `A.earlier-1.json` of `A.json`.
fn earlier_name(path: &Path, number: usize) -> PathBuf {
    let mut ending = OsString::from(format!("earlier-{number}"));
    if let Some(own) = path.extension() {
        ending.push(".");
        ending.push(own);
    }
    path.with_extension(ending)
}

/// How it is shown.
impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stdout => f.write_str("standard output"),
            Self::File(path) => shown(path).fmt(f),
        }
    }
}

/// A flag and the place that it names, if it was given.
pub(crate) type Wanted<'a> = (&'a str, Option<&'a Place>);

/// Checks before the work that its results will have a place: each one that can be
/// written, no two the same, and none that holds what the command reads.
///
/// # Errors
/// With the flag, what is wrong with it, and what to do.
pub(crate) fn check(wanted: &[Wanted<'_>], inputs: &[(&str, &Path)]) -> anyhow::Result<()> {
    let given = || {
        wanted
            .iter()
            .filter_map(|(flag, place)| Some((*flag, (*place)?)))
    };
    let mut streams = given().filter(|(_, place)| **place == Place::Stdout);
    if let (Some((first, _)), Some((second, _))) = (streams.next(), streams.next()) {
        bail!("{first} - and {second} -: standard output has room for one of them");
    }
    let files = || given().filter_map(|(flag, place)| Some((flag, place.file()?)));
    for (flag, path) in files() {
        check_file(flag, path)?;
    }
    let kept: Vec<_> = files().filter(|(_, path)| is_kept(path)).collect();
    for (at, (flag, path)) in kept.iter().enumerate() {
        let earlier = kept.iter().take(at).chain(inputs);
        if let Some((other, _)) = earlier.into_iter().find(|(_, known)| is_same(known, path)) {
            bail!(
                "{other} and {flag} both name {}; give another file to one of them",
                shown(path)
            );
        }
    }
    Ok(())
}

/// Whether what is written stays there; a device or a pipe takes anything.
pub(crate) fn is_kept(path: &Path) -> bool {
    // What is not there yet will be a file.
    !matches!(fs::metadata(path), Ok(about) if !about.is_file())
}

fn is_same(one: &Path, other: &Path) -> bool {
    resolved(one) == resolved(other)
}

/// The path without links; of a file that is not there yet that of its folder.
#[expect(
    clippy::disallowed_methods,
    reason = "two that cannot be resolved are not known to be one"
)]
fn resolved(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().or_else(|| {
        let folder = fs::canonicalize(folder_of(path)).ok()?;
        Some(folder.join(path.file_name()?))
    })
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Checks that a file can be written where a flag says.
fn check_file(flag: &str, path: &Path) -> anyhow::Result<()> {
    let name = shown(path);
    if path.as_os_str().is_empty() {
        bail!("{flag}: no file is named; give one, or - for standard output");
    }
    if path.is_dir() {
        bail!("{flag} {name} is a folder; give a file");
    }
    if !folder_of(path).is_dir() {
        bail!("{flag} {name}: there is no such folder to write into");
    }
    // A file is replaced, which its folder must allow; what is no file is not.
    let written = if is_kept(path) { folder_of(path) } else { path };
    match access(written, Access::WRITE_OK) {
        Ok(()) => Ok(()),
        Err(error) => bail!(
            "{flag} {name}: {} cannot be written: {}",
            shown(written),
            std::io::Error::from(error)
        ),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::*;

    fn place(path: &Path) -> Place {
        Place::File(path.to_owned())
    }

    #[test]
    fn two_results_in_one_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (one, link) = (folder.path().join("one"), folder.path().join("link"));
        fs::write(&one, "").unwrap();
        std::os::unix::fs::symlink(&one, &link).unwrap();
        let said = |first: &Path, second: &Path, inputs: &[(&str, &Path)]| {
            let (first, second) = (place(first), place(second));
            let wanted = [
                ("--json", Some(&first)),
                ("--html", Some(&second)),
                ("--x", None),
            ];
            check(&wanted, inputs).map_err(|error| error.to_string())
        };
        let other = folder.path().join("./sub/../other");
        fs::create_dir(folder.path().join("sub")).unwrap();
        assert!(said(&one, &other, &[]).is_ok());
        let error = said(&one, &link, &[]).unwrap_err();
        assert!(error.contains("--json and --html both name"), "{error}");
        let error = said(&other, &folder.path().join("other"), &[]).unwrap_err();
        assert!(error.contains("--json and --html both name"), "{error}");
        let error = said(&other, &link, &[("--against", &one)]).unwrap_err();
        assert!(error.contains("--against and --html both name"), "{error}");
        let null = Path::new("/dev/null");
        assert!(said(null, null, &[]).is_ok());
    }

    #[test]
    fn standard_output_has_room_for_one() {
        let out = Place::from(OsString::from("-"));
        assert!(check(&[("--json", Some(&out)), ("--html", None)], &[]).is_ok());
        let both = [("--json", Some(&out)), ("--html", Some(&out))];
        let error = check(&both, &[]).unwrap_err().to_string();
        assert!(error.contains("--json - and --html -"), "{error}");
        assert_eq!(
            Place::from(OsString::from("./-")),
            Place::File("./-".into())
        );
    }

    #[test]
    fn a_place_that_cannot_be_written_is_refused() {
        let said = |path: &str| {
            let place = Place::from(OsString::from(path));
            check(&[("--json", Some(&place))], &[])
                .unwrap_err()
                .to_string()
        };
        assert!(said("/").contains("is a folder"));
        assert!(said("/nowhere/x").contains("no such folder"));
        assert!(said("").contains("no file is named"));
    }
}
