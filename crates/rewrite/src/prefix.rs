//! How the subject of a patch to a file begins.

use std::collections::HashMap;
use tollgate_defect::{Defect, OrDefect};

use serde::Deserialize;
use tollgate_source::TreePath;

use crate::refusal::FixError;
use crate::target::Target;

const PREFIXES: &str = include_str!("../../../data/patch/prefixes.toml");

#[derive(Deserialize)]
struct Table {
    prefix: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    path: String,
    subject: String,
}

/// The prefix that most of these subjects begin with: what a file's own history
/// says. None if they do not begin with one.
#[must_use]
pub fn prefix_of_history<'a>(subjects: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for subject in subjects {
        let prefix = subject
            .rsplit_once(": ")
            .map(|(prefix, _)| prefix)
            .filter(|p| !p.is_empty() && p.len() <= 40);
        *counts.entry(prefix.unwrap_or_default()).or_default() += 1;
    }
    counts.remove("");
    // The shorter, then the first in order, wins a draw: the answer is always the same.
    let best = counts
        .into_iter()
        .max_by(|a, b| (a.1, b.0.len(), b.0).cmp(&(b.1, a.0.len(), a.0)));
    best.map(|(prefix, _)| prefix.to_owned())
}

/// The prefix that was asked for, or that of the path.
///
/// # Errors
/// A defect: the table is part of the program.
pub(crate) fn prefix(
    target: &Target,
    asked: Option<&str>,
    function: &str,
) -> Result<String, FixError> {
    match asked {
        Some(prefix) => Ok(prefix.to_owned()),
        None => prefix_of_path(&target.path).map_err(|defect| FixError::Defect {
            path: target.path.clone(),
            function: function.to_owned(),
            defect,
        }),
    }
}

/// The prefix for a file without history: from `data/patch/prefixes.toml`, else
/// from its path.
///
/// # Errors
/// A defect: the table is part of the program.
pub fn prefix_of_path(path: &TreePath) -> Result<String, Defect> {
    // What has bytes that are no text is in no table, and a subject is text.
    let shown = path.to_string();
    let path = shown.as_str();
    let table: Table = toml::from_str(PREFIXES).or_defect("data/patch/prefixes.toml")?;
    let fitting = table
        .prefix
        .into_iter()
        .filter(|entry| path.starts_with(&entry.path));
    let longest = fitting.max_by_key(|entry| entry.path.len());
    Ok(longest.map_or_else(|| from_parts(path), |entry| entry.subject))
}

/// `drivers/tee/tee_core.c` is `tee`; `fs/xfs/xfs_ioctl.c` is `xfs`; a file at
/// the top of its folder is its own stem.
fn from_parts(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    let stem = parts
        .last()
        .and_then(|file| file.split('.').next())
        .unwrap_or(path);
    let folders: Vec<&str> = match parts.as_slice() {
        [
            "drivers" | "fs" | "net" | "include" | "arch",
            folders @ ..,
            _,
        ] => folders.to_vec(),
        [folders @ .., _] => folders.to_vec(),
        [] => Vec::new(),
    };
    match folders.as_slice() {
        [] | ["linux"] => stem.to_owned(),
        [one] => (*one).to_owned(),
        [first, second, ..] => format!("{first}: {second}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> String {
        prefix_of_path(&TreePath::within(path)).unwrap()
    }

    #[test]
    fn the_table_is_read() {
        assert_eq!(of("include/linux/eventpoll.h"), "epoll");
        assert_eq!(of("sound/core/pcm_native.c"), "ALSA: pcm");
        assert_eq!(of("net/core/scm.c"), "scm");
        assert_eq!(of("net/core/sock.c"), "net");
        assert_eq!(of("kernel/bpf/syscall.c"), "bpf");
    }

    #[test]
    fn a_path_without_an_entry_gives_its_folder() {
        assert_eq!(of("drivers/tee/tee_core.c"), "tee");
        assert_eq!(of("fs/utimes.c"), "utimes");
        assert_eq!(of("net/ipv4/af_inet.c"), "ipv4");
        assert_eq!(of("x.c"), "x");
    }

    #[test]
    fn history_wins_by_count() {
        let subjects = ["epoll: a", "eventpoll: b", "epoll: c", "Merge branch"];
        assert_eq!(
            prefix_of_history(subjects.into_iter()),
            Some("epoll".to_owned())
        );
        assert_eq!(prefix_of_history(["Merge", "Linux 6.12"].into_iter()), None);
    }
}
