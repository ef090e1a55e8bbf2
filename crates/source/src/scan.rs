//! Many files: what they hold together.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{FileReport, Function, NotAnalysed};
use crate::vocabulary::Direction;

/// A function with at least one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The file, relative to the tree.
    pub path: String,
    /// The function.
    pub function: Function,
}

/// Something that a scan could not look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// The file, relative to the tree.
    pub path: String,
    /// What of it.
    pub what: MissedPart,
}

/// What of a file a scan could not look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissedPart {
    /// All of it: it could not be read, for the reason given.
    File(String),
    /// One access.
    Access(NotAnalysed),
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            MissedPart::File(reason) => write!(f, "{}: not read: {reason}", self.path),
            MissedPart::Access(access) => {
                let place = access.position;
                write!(f, "{}:{}:{}: ", self.path, place.line, place.column)?;
                if let Some(function) = &access.function {
                    write!(f, "{function}: ")?;
                }
                write!(
                    f,
                    "{}() not analysed: {}",
                    access.call,
                    access.reason.words()
                )
            }
        }
    }
}

/// What a tree holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// Files that were read.
    pub files: usize,
    /// Calls of accesses as the words of the files count them.
    pub lexical: usize,
    /// Calls of accesses that were parsed.
    pub parsed: usize,
    /// Functions with at least one run, by path, then line.
    pub findings: Vec<Finding>,
    /// What was not looked at, by path, then line.
    pub missed: Vec<Missed>,
}

impl Scan {
    /// Adds what one file holds.
    pub fn add(&mut self, path: &str, report: FileReport) {
        self.files += 1;
        self.lexical += report.lexical;
        self.parsed += report.parsed;
        let paying = report
            .functions
            .into_iter()
            .filter(|function| !function.runs.is_empty());
        self.findings.extend(paying.map(|function| Finding {
            path: path.to_owned(),
            function,
        }));
        let accesses = report.not_analysed.into_iter().map(MissedPart::Access);
        self.missed.extend(accesses.map(|what| Missed {
            path: path.to_owned(),
            what,
        }));
    }

    /// Notes a file that could not be read.
    pub fn miss(&mut self, path: &str, reason: String) {
        self.missed.push(Missed {
            path: path.to_owned(),
            what: MissedPart::File(reason),
        });
    }

    /// Takes over what another part of the tree holds.
    pub fn merge(&mut self, other: Self) {
        self.files += other.files;
        self.lexical += other.lexical;
        self.parsed += other.parsed;
        self.findings.extend(other.findings);
        self.missed.extend(other.missed);
    }

    /// Orders by path, then line, so that two scans of one tree are equal.
    pub fn sort(&mut self) {
        self.findings
            .sort_by(|a, b| (&a.path, a.function.position).cmp(&(&b.path, b.function.position)));
        self.missed
            .sort_by(|a, b| (&a.path, a.place()).cmp(&(&b.path, b.place())));
    }

    /// Orders by windows saved, most first; then by path and line.
    pub fn rank(&mut self) {
        self.sort();
        self.findings
            .sort_by_key(|finding| std::cmp::Reverse(finding.function.windows_saved()));
    }

    /// Leaves out findings and gaps in code of other architectures: what lies
    /// under `arch/` but not under `arch/NAME/` of a name in `wanted`.
    pub fn keep_architectures(&mut self, wanted: &[String]) {
        self.findings
            .retain(|finding| is_wanted(&finding.path, wanted));
        self.missed.retain(|missed| is_wanted(&missed.path, wanted));
    }

    /// Accesses in runs that go that way.
    #[must_use]
    pub fn count(&self, direction: Direction) -> usize {
        self.findings
            .iter()
            .map(|finding| finding.function.count(direction))
            .sum()
    }

    /// Windows that one window a run would save.
    #[must_use]
    pub fn windows_saved(&self) -> usize {
        self.findings
            .iter()
            .map(|finding| finding.function.windows_saved())
            .sum()
    }

    /// How many runs there are.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.findings
            .iter()
            .map(|finding| finding.function.runs.len())
            .sum()
    }
}

fn is_wanted(path: &str, wanted: &[String]) -> bool {
    let own = path
        .strip_prefix("arch/")
        .and_then(|rest| rest.split('/').next());
    own.is_none_or(|own| wanted.iter().any(|name| name == own))
}

impl Missed {
    fn place(&self) -> crate::span::Position {
        match &self.what {
            MissedPart::File(_) => crate::span::Position::default(),
            MissedPart::Access(access) => access.position,
        }
    }
}
