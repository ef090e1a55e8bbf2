//! What came of a function that was turned back and fixed.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use tollgate_rewrite::{Request, Target, fix};
use tollgate_source::{Body, TreePath};

use super::text::{difference, find, shortened, statements};

/// What came of it.
pub(crate) enum Outcome {
    Equal,
    /// The lines that differ.
    Differs(String),
    Refused(String),
    Kept(String),
}

impl Outcome {
    /// The lower, the more came of it.
    pub(crate) fn rank(&self) -> (usize, usize) {
        match self {
            Self::Equal => (0, 0),
            Self::Differs(lines) => (1, lines.lines().count()),
            Self::Refused(_) => (2, 0),
            Self::Kept(_) => (3, 0),
        }
    }

    /// That of a file turned back, beside the function as its maintainers have it.
    pub(crate) fn of(
        (tree, path): (&Path, &str),
        back: &str,
        (written, body): (&str, &Body),
        request: &Request,
    ) -> Self {
        let read = |wanted: &TreePath| -> io::Result<Vec<u8>> {
            if *wanted == path {
                Ok(back.as_bytes().to_vec())
            } else {
                fs::read(tree.join(wanted.as_path()))
            }
        };
        let target = Target {
            path: TreePath::within(path),
            function: body.name.clone(),
        };
        let patched = match fix(&read, &target, request) {
            Ok(patched) => patched,
            Err(error) => return Self::Refused(error.to_string()),
        };
        let fixed = String::from_utf8(patched.rewritten).unwrap();
        let theirs = shortened(&statements(written, body));
        let ours = shortened(&statements(&fixed, &find(&fixed, &body.name)));
        match theirs == ours {
            true => Self::Equal,
            false => Self::Differs(difference(&theirs, &ours)),
        }
    }
}

/// `43 functions: 9 differs, 24 equal`
pub(crate) fn counted(counts: &BTreeMap<&str, usize>) -> String {
    let total: usize = counts.values().sum();
    let counted = counts
        .iter()
        .map(|(verdict, count)| format!("{count} {verdict}"));
    format!(
        "{total} functions: {}",
        counted.collect::<Vec<_>>().join(", ")
    )
}
