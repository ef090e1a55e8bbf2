//! What the rules say: plain data, with places in the original bytes.

use serde::{Deserialize, Serialize};

use crate::span::{Position, Span};

/// How bad it is if it is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look: costs, or bites under conditions that the text does not show.
    Note,
    /// Wrong on some architecture or under some condition.
    Warning,
    /// Wrong: a hole, a crash or no build.
    Error,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// How sure the rule is that it is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// It rests on something that the source does not show.
    Low,
    /// It rests on names, or on a reading of few lines.
    Medium,
    /// It follows from the text.
    High,
}

impl Confidence {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A place that a violation points at, with what it has to do with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mark {
    /// The bytes.
    pub span: Span,
    /// Where they begin.
    pub position: Position,
    /// What is there, in a few words; may be empty.
    pub text: String,
}

/// A change that makes it right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Suggestion {
    /// The bytes to replace; empty to insert before.
    pub span: Span,
    /// What to put there.
    pub text: String,
    /// What the change does, in a few words.
    pub why: String,
}

/// Lines of the file around the marks, for a reader without the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Excerpt {
    /// The bytes of the file from which `text` was taken.
    pub span: Span,
    /// The number of its first line, from 1.
    pub line: u32,
    /// The lines; bytes that are no text are replaced by as many `?`.
    pub text: String,
}

/// A rule broken at a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The rule's name, as `docs/rules/` has it.
    pub rule: String,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// The function; none outside of all.
    pub function: Option<String>,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// The place.
    pub mark: Mark,
    /// Other places that belong to it.
    pub related: Vec<Mark>,
    /// A change that is safe to make.
    pub suggestion: Option<Suggestion>,
    /// The lines of all marks.
    pub excerpts: Vec<Excerpt>,
    /// It holds only if no function calls this one with a window open.
    #[serde(skip)]
    pub(crate) unless_called_in_window: Option<String>,
    /// It holds only if that name is no inline function or macro without a call.
    #[serde(skip)]
    pub(crate) unless_inline: Option<String>,
}

/// Why a function was not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unchecked {
    /// The parser did not understand some of it.
    NotUnderstood,
    /// It is longer than any function is, or nested deeper.
    TooLarge,
    /// More paths than are followed.
    TooManyPaths,
    /// A jump to a label that is computed.
    ComputedGoto,
    /// Its braces do not end before the file does.
    Unended,
    /// A rule stopped at one of its limits: what it found before stands.
    InPart,
}

impl Unchecked {
    /// How much of the function that leaves, as a sentence says it.
    #[must_use]
    pub fn extent(self) -> &'static str {
        match self {
            Self::InPart => "not checked in full",
            _ => "not checked",
        }
    }

    /// The reason in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::NotUnderstood => "its text could not be parsed",
            Self::TooLarge => "it is longer or nested deeper than what is followed",
            Self::TooManyPaths => "it has more paths than are followed",
            Self::ComputedGoto => "it jumps to a computed label",
            Self::Unended => "its braces do not end",
            Self::InPart => "a rule had more to ask of it than is asked of any function",
        }
    }
}

/// A function that was not checked, or not by every rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The function.
    pub function: String,
    /// Where its name stands.
    pub position: Position,
    /// Why.
    pub reason: Unchecked,
}

/// What the rules say of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Functions in which the rules had something to look at.
    pub functions: usize,
    /// Functions that open, close or use a window, among them.
    pub windows: usize,
    /// What is wrong, in the order of the text.
    pub violations: Vec<Violation>,
    /// Violations that a comment in the source allows.
    pub allowed: usize,
    /// What other tools said of those functions, what comments allow among it: the
    /// places among all that they said, from 0.
    pub said: Vec<usize>,
    /// Functions that were not checked.
    pub skipped: Vec<Skipped>,
    /// Functions that this file calls with a window open.
    pub(crate) called_in_window: Vec<String>,
}

/// A rule's name and what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// Its name; `docs/rules/NAME.md` is its page.
    pub name: &'static str,
    /// How bad it is where nothing else is said.
    pub severity: Severity,
    /// How sure it is where nothing else is said.
    pub confidence: Confidence,
    /// What it finds, a few words.
    pub summary: &'static str,
    /// Why that is wrong, a sentence or two.
    pub why: &'static str,
}
