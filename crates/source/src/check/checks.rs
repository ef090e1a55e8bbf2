//! Many files: what the rules say of them together.

use std::collections::{BTreeSet, HashMap};
use tollgate_defect::answer;

use serde::{Deserialize, Serialize};

use crate::path::Name;
use crate::scan::LeftOut;

use super::model::{Checked, Confidence, Severity, Skipped, Violation};

/// A violation and the file that it is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Located {
    /// The file: below the tree, or as the user named it where there is none.
    pub path: Name,
    /// What is wrong.
    pub violation: Violation,
}

/// What of a file was not checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileSkipped {
    /// All of it: it could not be read, for the reason given.
    File(String),
    /// One function.
    Function(Skipped),
}

/// What the rules say of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    /// Files that were read.
    pub files: usize,
    /// Functions in which the rules had something to look at.
    pub functions: usize,
    /// Functions that open, close or use a window, among them.
    pub windows: usize,
    /// What is wrong, by path, then line.
    pub violations: Vec<Located>,
    /// Violations that comments in the source allow.
    pub allowed: usize,
    /// Violations that the user's filters left out.
    pub filtered: usize,
    /// What other tools said, where that was asked for.
    pub log: Option<Log>,
    /// What was not checked, by path, then line.
    pub skipped: Vec<(Name, FileSkipped)>,
    /// What was listed, or is part of the change, and is no file to check.
    pub left_out: LeftOut,
    said: BTreeSet<usize>,
    called_in_window: BTreeSet<String>,
}

/// What the rules say of some files, with what it hangs on: to be kept for a later run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptChecks {
    checks: Checks,
    /// Of each violation the two names that it holds without, as [`Violation`] has them.
    unless: Vec<(Option<String>, Option<String>)>,
}

impl From<Checks> for KeptChecks {
    fn from(checks: Checks) -> Self {
        let violations = checks.violations.iter().map(|located| &located.violation);
        let unless = violations.map(|own| {
            let (window, inline) = (&own.unless_called_in_window, &own.unless_inline);
            (window.clone(), inline.clone())
        });
        Self {
            unless: unless.collect(),
            checks,
        }
    }
}

impl From<KeptChecks> for Checks {
    fn from(kept: KeptChecks) -> Self {
        let KeptChecks { mut checks, unless } = kept;
        for (located, (window, inline)) in checks.violations.iter_mut().zip(unless) {
            located.violation.unless_called_in_window = window;
            located.violation.unless_inline = inline;
        }
        checks
    }
}

/// What a log of a build says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    /// Diagnostics in it.
    pub diagnostics: usize,
    /// Those of them that are about functions which were looked at.
    pub here: usize,
}

impl Checks {
    /// Adds what the rules say of one file.
    pub fn add(&mut self, path: &Name, checked: Checked) {
        self.files += 1;
        self.functions += checked.functions;
        self.windows += checked.windows;
        self.allowed += checked.allowed;
        self.said.extend(checked.said);
        self.called_in_window.extend(checked.called_in_window);
        let located = checked.violations.into_iter().map(|violation| Located {
            path: path.clone(),
            violation,
        });
        self.violations.extend(located);
        let skipped = checked.skipped.into_iter().map(FileSkipped::Function);
        self.skipped
            .extend(skipped.map(|what| (path.clone(), what)));
    }

    /// Notes a file that could not be read.
    pub fn miss(&mut self, path: &Name, reason: String) {
        self.skipped.push((path.clone(), FileSkipped::File(reason)));
    }

    /// Takes over what another part of the tree gave.
    pub fn merge(&mut self, other: Self) {
        self.files += other.files;
        self.functions += other.functions;
        self.windows += other.windows;
        self.allowed += other.allowed;
        self.said.extend(other.said);
        self.violations.extend(other.violations);
        self.skipped.extend(other.skipped);
        self.called_in_window.extend(other.called_in_window);
    }

    /// Notes that other tools were heard, which said so much in all.
    pub fn heard(&mut self, diagnostics: usize) {
        let here = self.said.len();
        self.log = Some(Log { diagnostics, here });
    }

    /// Whether nothing is said but how many files were read.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        let files = self.files;
        *self
            == Self {
                files,
                ..Self::default()
            }
    }

    /// To be called when every file was added: drops what holds only for
    /// functions that nobody calls in a window, and puts the rest in order.
    pub fn finish(&mut self) {
        let called = &self.called_in_window;
        self.violations.retain(|located| {
            let needs = located.violation.unless_called_in_window.as_ref();
            needs.is_none_or(|name| !called.contains(name))
        });
        self.violations
            .sort_by(|a, b| (&a.path, &a.violation.mark).cmp(&(&b.path, &b.violation.mark)));
        self.skipped
            .sort_by(|a, b| (&a.0, place(&a.1)).cmp(&(&b.0, place(&b.1))));
    }

    /// The names of calls that are wrong only if a call is left of them.
    #[must_use]
    pub fn perhaps_inline(&self) -> BTreeSet<String> {
        let all = self.violations.iter();
        all.filter_map(|located| located.violation.unless_inline.clone())
            .collect()
    }

    /// Drops the calls that are none: of those names, which inline functions and macros
    /// have that leave no call ([`super::Inlines::without_calls`]).
    pub fn spare(&mut self, none: &BTreeSet<String>) {
        self.violations.retain(|located| {
            let name = located.violation.unless_inline.as_ref();
            !name.is_some_and(|name| none.contains(name))
        });
    }

    /// Leaves out what is less bad, less sure, or of other rules; an empty list
    /// stands for every rule. What is left out is counted.
    pub fn keep(&mut self, severity: Severity, confidence: Confidence, rules: &[String]) {
        let before = self.violations.len();
        self.violations.retain(|located| {
            let violation = &located.violation;
            violation.severity >= severity
                && violation.confidence >= confidence
                && (rules.is_empty() || rules.contains(&violation.rule))
        });
        self.filtered += before - self.violations.len();
    }

    /// Leaves out what was there before a change. A line that moved is the same;
    /// of two that are the same, one more than before is new.
    pub fn keep_new(&mut self, before: &Self) {
        let mut known: HashMap<_, usize> = HashMap::new();
        for located in &before.violations {
            *known.entry(identity(located)).or_default() += 1;
        }
        self.violations.retain(|located| {
            let Some(left) = known.get_mut(&identity(located)).filter(|n| **n > 0) else {
                return true;
            };
            *left -= 1;
            false
        });
    }
}

/// What stays the same of a violation when lines move.
fn identity(located: &Located) -> (Name, String, Option<String>, String) {
    let violation = &located.violation;
    let marked = violation.excerpts.iter().find_map(|excerpt| {
        let line = violation.mark.position.line.checked_sub(excerpt.line)?;
        excerpt.text.lines().nth(answer::fits::<usize, _>(line)?)
    });
    (
        located.path.clone(),
        violation.rule.clone(),
        violation.function.clone(),
        marked.unwrap_or_default().trim().to_owned(),
    )
}

fn place(what: &FileSkipped) -> crate::span::Position {
    match what {
        FileSkipped::File(_) => crate::span::Position::default(),
        FileSkipped::Function(skipped) => skipped.position,
    }
}
