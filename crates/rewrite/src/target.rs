//! What is to be rewritten, as a user names it.

use std::fmt;
use std::str::FromStr;
use tollgate_defect::answer;

use tollgate_source::{Name, TreePath};

/// A function of a file: `include/linux/eventpoll.h:epoll_put_uevent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The file, relative to the tree.
    pub path: TreePath,
    /// The function; a system call by its own name or as it is defined.
    pub function: String,
}

/// A text that names no function of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" names no function: write FILE:FUNCTION, such as include/linux/eventpoll.h:epoll_put_uevent"
)]
pub struct TargetError(Name);

impl Target {
    /// The file and the function of `FILE:FUNCTION`; a file's name may hold a
    /// colon, and a function's none.
    ///
    /// # Errors
    /// When one of them is missing, or the function is no text.
    pub fn split(words: &[u8]) -> Result<(&[u8], &str), TargetError> {
        let colon = words.iter().rposition(|byte| *byte == b':');
        let parts = colon.and_then(|at| Some((words.get(..at)?, words.get(at + 1..)?)));
        let parts = parts.and_then(|(path, function)| Some((path, answer::text(function)?)));
        let parts = parts.filter(|(path, function)| !path.is_empty() && !function.is_empty());
        parts.ok_or_else(|| TargetError(words.into()))
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let (path, function) = Self::split(text.as_bytes())?;
        Ok(Self {
            path: TreePath::new(path).ok_or_else(|| TargetError(text.into()))?,
            function: function.to_owned(),
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path, self.function)
    }
}

/// Whether a function of that name is meant by what the user wrote.
pub(crate) fn is_meant(name: &str, wanted: &str) -> bool {
    name == wanted
        || argument(name)
            .is_some_and(|own| own == wanted || wanted.strip_prefix("sys_") == Some(own))
}

/// `getresuid` of `SYSCALL_DEFINE3(getresuid)`.
pub(crate) fn argument(name: &str) -> Option<&str> {
    name.split_once('(')
        .map(|(_, rest)| rest.trim_end_matches(')'))
}

/// The names nearest to what the user wrote, nearest first, at most three.
pub(crate) fn near<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<(usize, &str)> = names
        .map(|name| (distance(wanted, argument(name).unwrap_or(name)), name))
        .collect();
    scored.retain(|(distance, name)| *distance * 3 <= wanted.len().max(name.len()));
    scored.sort_unstable();
    scored.dedup();
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Edits of one byte that turn one name into the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row.iter_mut().skip(1).zip(b.bytes()) {
            let up = *cell;
            *cell = (diagonal + usize::from(x != y)).min(left + 1).min(up + 1);
            (diagonal, left) = (up, *cell);
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(a.len())
}
