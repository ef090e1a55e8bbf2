//! Profiles and times that a user names: files, `-`, and `FILE:LINE` for one of
//! several profiles of a text.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tollgate_lab::input;
use tollgate_measure::Timings;
use tollgate_profile::{Kallsyms, Profile, Reading, is_perf_data};
use tollgate_report::timing;
use tollgate_source::{Name, shown};

/// A file that was read.
pub(crate) struct Given {
    /// As the user named it.
    pub(crate) name: Name,
    /// The line that was asked for behind it.
    pub(crate) line: Option<usize>,
    /// What is in it.
    pub(crate) holds: Holds,
}

/// What a file holds.
pub(crate) enum Holds {
    /// Profiles and what stands beside them.
    Reading(Reading),
    /// What `tollgate run --json` has written.
    Timings(Box<Timings>),
}

impl Given {
    /// The profile that was meant, where there is one alone or a line was given.
    pub(crate) fn one(&self, reading: &Reading) -> anyhow::Result<Profile> {
        let wanted = |profile: &&Profile| match self.line {
            Some(line) => {
                (profile.place.first..=profile.place.last).contains(&line)
                    || profile.again.contains(&line)
            }
            None => true,
        };
        let found: Vec<&Profile> = reading.profiles.iter().filter(wanted).collect();
        match (found.as_slice(), self.line) {
            ([one], _) => Ok((*one).clone()),
            ([], Some(line)) => bail!("{} has no profile at line {line}", self.name),
            ([], None) => bail!("{} holds no profile by symbol", self.name),
            (many, _) => {
                let lines: Vec<String> =
                    many.iter().map(|one| one.place.first.to_string()).collect();
                bail!(
                    "{name} holds {} profiles, at the lines {}: name one as {name}:{}, or give the file alone to compare them with each other",
                    many.len(),
                    lines.join(", "),
                    lines.first().map_or("1", String::as_str),
                    name = self.name,
                )
            }
        }
    }
}

/// Reads what the user names.
///
/// # Errors
/// A sentence with the file, and with the line where there is one.
pub(crate) fn read(word: &Path, kallsyms: Option<&Path>) -> anyhow::Result<Given> {
    let (path, line) = with_line(word);
    let path = match path.as_os_str() == "-" {
        true => PathBuf::from("/dev/stdin"),
        false => path,
    };
    let name = match word.as_os_str() == "-" {
        true => Name::from("standard input".as_bytes()),
        false => Name::from(path.as_path()),
    };
    let bytes = input::given(&path).with_context(|| format!("{name} could not be read"))?;
    let holds = holds(&bytes, kallsyms).with_context(|| format!("{name} is no profile"))?;
    Ok(Given { name, line, holds })
}

fn holds(bytes: &[u8], kallsyms: Option<&Path>) -> anyhow::Result<Holds> {
    if is_run(bytes) {
        return Ok(Holds::Timings(Box::new(timing::read(bytes)?)));
    }
    let kernel = match is_perf_data(bytes) {
        true => kernel(kallsyms)?,
        false => Kallsyms::default(),
    };
    Ok(Holds::Reading(Reading::of(bytes, &kernel)?))
}

/// The JSON of `tollgate run` says so itself.
fn is_run(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        kind: String,
    }
    let head = serde_json::from_slice::<Head>(bytes);
    bytes.trim_ascii_start().starts_with(b"{") && matches!(head, Ok(head) if head.kind == "run")
}

/// The names of the kernel's addresses: those of the file, or of this machine.
///
/// # Errors
/// When a file that was named cannot be read. This machine's own may say nothing.
pub(crate) fn kernel(kallsyms: Option<&Path>) -> anyhow::Result<Kallsyms> {
    let path = kallsyms.unwrap_or(Path::new("/proc/kallsyms"));
    match (input::given(path), kallsyms) {
        (Ok(bytes), _) => Ok(Kallsyms::parse(&String::from_utf8_lossy(&bytes))),
        (Err(error), Some(named)) => {
            Err(error).with_context(|| format!("--kallsyms {} could not be read", shown(named)))
        }
        // The profile says that names are missing.
        (Err(_), None) => Ok(Kallsyms::default()),
    }
}

/// `mail.txt:31`, where there is no file of the whole name.
fn with_line(word: &Path) -> (PathBuf, Option<usize>) {
    let split = word.to_str().and_then(|text| text.rsplit_once(':'));
    let numbered = split
        .and_then(|(path, line)| Some((path, tollgate_defect::answer::number::<usize>(line)?)));
    match numbered {
        Some((path, line)) if !word.exists() => (PathBuf::from(path), Some(line)),
        _ => (word.to_owned(), None),
    }
}
