//! What the robot found, as plain data; `tollgate-report` writes it.

use serde::{Deserialize, Serialize};

use crate::cells::Axis;
use crate::diagnostic::Diagnostic;

/// The version of the JSON document.
pub const VERSION: u32 = 1;

/// All of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What was asked for: a file or a range.
    pub asked: String,
    /// What the patches were laid over: `Linux 6.12.117`, or a commit.
    pub base: String,
    /// The tree, as it was named.
    pub tree: String,
    /// The flags that decide what is said: `W=1`.
    pub flags: String,
    /// Every patch, in order.
    pub patches: Vec<PatchReport>,
    /// The cells that something was built in.
    pub cells: Vec<CellReport>,
}

/// A cell that something was built in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellReport {
    /// Its name.
    pub name: String,
    /// `ARCH=`.
    pub arch: String,
    /// The compiler, as it calls itself.
    pub compiler: String,
    /// What makes its configuration: `allmodconfig`.
    pub base: String,
    /// The options that were laid over it.
    pub fragment: String,
    /// The variables of make that choose the compiler.
    pub variables: Vec<String>,
    /// Why it was chosen.
    pub because: String,
    /// Its values on the axes.
    pub axes: Vec<(Axis, String)>,
    /// Debian's packages that it needs.
    pub packages: Vec<String>,
}

/// What came of one patch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchReport {
    /// Its number in the series, from 1, and how many there are.
    pub number: (usize, usize),
    /// Its subject, without what stands in brackets.
    pub subject: String,
    /// What stands in brackets before it, `[PATCH v2 1/3]`, where it was mailed so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<String>,
    /// `Message-ID`, without its brackets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Who sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The files that it changes.
    pub files: Vec<String>,
    /// Files among them that a build runs: Makefiles, Kconfig files, scripts.
    pub build_files: Vec<String>,
    /// What is new and wrong.
    pub findings: Vec<Finding>,
    /// The edited lines, and what compiles them.
    pub lines: Vec<Line>,
    /// What was built.
    pub objects: Vec<ObjectReport>,
    /// What was not, and why: nothing is told of it.
    pub unbuilt: Vec<Unbuilt>,
    /// What the tree's own checks said.
    pub checks: Vec<Check>,
    /// Functions with the lines that are wrong.
    pub listings: Vec<Listing>,
}

/// Something new and wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind.
    pub kind: FindingKind,
    /// The cell; empty where it is none's.
    pub cell: String,
    /// The object; empty where it is none's.
    pub object: String,
    /// What was said, where a tool said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostic: Option<Diagnostic>,
    /// The sentence.
    pub message: String,
    /// The file; empty where none is named.
    pub file: String,
    /// The line, from 1; 0 where none is named.
    pub line: u32,
    /// Further cells in which the same is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// An error that was not there before.
    Error,
    /// A warning that was not there before.
    Warning,
    /// An option that no Kconfig file defines.
    DeadOption,
    /// An export that is gone and still used.
    LostExport,
    /// A symbol that an object takes and nobody gives.
    UnmetImport,
    /// A rule of `tollgate check` or `tollgate gates`.
    Boundary,
}

impl FindingKind {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::DeadOption => "dead-option",
            Self::LostExport => "lost-export",
            Self::UnmetImport => "unmet-import",
            Self::Boundary => "boundary",
        }
    }
}

/// Edited lines of one file that are compiled together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The file.
    pub file: String,
    /// Ranges of lines of the new text, both ends included, from 1.
    pub lines: Vec<(u32, u32)>,
    /// The `#if` around them, as it stands there; empty where there is none.
    pub within: String,
    /// What is known of them.
    #[serde(flatten)]
    pub state: LineState,
}

/// What compiles lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum LineState {
    /// The line markers of these cells have them.
    Compiled {
        /// The cells, with the object.
        cells: Vec<(String, String)>,
        /// Values of the axes, `word size 32`, in which cells compile the file that
        /// were not built.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        missing: Vec<String>,
    },
    /// Nothing of them is compiled anywhere: comments, documentation.
    Nothing,
    /// No cell compiles them.
    Unreached {
        /// What would be needed.
        needs: String,
    },
    /// No configuration can: an option in their condition does not exist.
    Dead {
        /// The options, with `CONFIG_`.
        options: Vec<String>,
    },
}

/// One object in one cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectReport {
    /// The cell.
    pub cell: String,
    /// The object.
    pub object: String,
    /// Without the patch; none where there is no such object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Built>,
    /// With it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Built>,
}

/// One build of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Built {
    /// Whether there is an object.
    pub success: bool,
    /// Warnings and errors.
    pub diagnostics: usize,
    /// Lines that begin with a warning or an error, as a counting rule would count.
    pub warning_lines: usize,
    /// Bytes of its `.text`; none without an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<u64>,
    /// Its instructions that open or close the gate to user memory; none of what
    /// `tollgate gates` does not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<usize>,
    /// Whether it was not built, because nothing that the compiler reads differs.
    pub same: bool,
}

/// What nothing is told of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unbuilt {
    /// The cell; empty where all are meant.
    pub cell: String,
    /// What: an object, `12 objects`, the configuration.
    pub what: String,
    /// Why.
    pub why: String,
}

/// What a check of the tree said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its name, `checkpatch.pl`.
    pub tool: String,
    /// What it came to.
    pub status: Status,
    /// One sentence.
    pub summary: String,
    /// Its words.
    pub details: String,
}

/// A function with the lines that are wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// The file.
    pub file: String,
    /// The name after which an editor looks.
    pub name: String,
    /// The first line that is wrong.
    pub line: u32,
    /// Lines with their numbers, whether each is wrong.
    pub lines: Vec<(u32, bool, String)>,
    /// The whole text of the compiler for the object, and which of its lines are
    /// new.
    pub said: Vec<(bool, String)>,
    /// The cell it was said in.
    pub cell: String,
}

/// What something came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Nothing is wrong.
    Clean,
    /// Nobody knows.
    CouldNotTell,
    /// Something is.
    Findings,
}

/// The state of a patch, worst first counted.
pub type State = Status;

impl PatchReport {
    /// What it came to. Where something is found it counts, whatever could not be
    /// told beside it.
    #[must_use]
    pub fn status(&self) -> Status {
        let untold = |line: &Line| match &line.state {
            LineState::Unreached { .. } => true,
            LineState::Compiled { missing, .. } => !missing.is_empty(),
            LineState::Nothing | LineState::Dead { .. } => false,
        };
        let dead = |line: &Line| matches!(line.state, LineState::Dead { .. });
        let bad = self
            .checks
            .iter()
            .any(|check| check.status == Status::Findings);
        let unknown = self
            .checks
            .iter()
            .any(|check| check.status == Status::CouldNotTell);
        if !self.findings.is_empty() || bad || self.lines.iter().any(dead) {
            Status::Findings
        } else if unknown || !self.unbuilt.is_empty() || self.lines.iter().any(untold) {
            Status::CouldNotTell
        } else {
            Status::Clean
        }
    }
}

impl Report {
    /// What all of it came to.
    #[must_use]
    pub fn status(&self) -> Status {
        let all = self.patches.iter().map(PatchReport::status);
        all.max().unwrap_or(Status::CouldNotTell)
    }

    /// A cell by its name.
    #[must_use]
    pub fn cell(&self, name: &str) -> Option<&CellReport> {
        self.cells.iter().find(|cell| cell.name == name)
    }
}
