//! What came of many functions: how many were rewritten in each style, and what
//! is wrong.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use crate::choices::Choices;
use crate::function::function;
use crate::program::Subject;
use crate::run::{RunError, compare};
use crate::setups::SETUPS;

/// One wrong rewriting.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// The name of the function, which says where it comes from.
    pub name: String,
    /// The setup.
    pub setup: String,
    /// What is wrong.
    pub what: String,
    /// The file before.
    pub before: String,
    /// The file after.
    pub after: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            setup,
            what,
            before,
            after,
        } = self;
        write!(
            f,
            "{name}, {setup}: {what}\n--- before\n{before}--- after\n{after}"
        )
    }
}

/// How one setup fared.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Functions that were rewritten.
    pub rewritten: usize,
    /// Functions that were refused, by the reason.
    pub refused: BTreeMap<String, usize>,
    /// Rewritings that never ran on the same memory as their original: all that
    /// can be said of them is that they compile.
    pub idle: usize,
}

/// How all of them fared.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Functions.
    pub functions: usize,
    /// Functions that no setup rewrites.
    pub untouched: usize,
    /// How often a function and its rewriting ran on the same memory.
    pub runs: u64,
    /// In how many of these an access faulted.
    pub faulted: u64,
    /// By the name of the setup.
    pub rows: BTreeMap<&'static str, Row>,
    /// What is wrong.
    pub wrong: Vec<Wrong>,
}

impl Tally {
    /// Makes a function from each, rewrites it in every setup and compares all
    /// versions in one program, which is built in `folder`.
    ///
    /// # Errors
    /// When the program could not be made or run.
    pub fn add(
        &mut self,
        folder: &Path,
        all: impl Iterator<Item = (String, Choices)>,
    ) -> Result<(), RunError> {
        let texts = all.map(|(name, mut choices)| (name, function(&mut choices)));
        self.compare(folder, texts)
    }

    /// The same with functions that are there.
    ///
    /// # Errors
    /// When the program could not be made or run.
    pub fn compare(
        &mut self,
        folder: &Path,
        texts: impl Iterator<Item = (String, String)>,
    ) -> Result<(), RunError> {
        let subjects: Vec<Subject> = texts.map(|(name, text)| self.subject(name, text)).collect();
        let found = compare(folder, &subjects)?;
        for subject in &subjects {
            for (setup, after) in &subject.rewritten {
                let key = (subject.name.clone(), setup.name.to_owned());
                let compared = found.get(&key).cloned().unwrap_or_default();
                self.runs += compared.runs;
                self.faulted += compared.faulted;
                let idle = compared.runs == 0 && compared.wrong.is_none();
                self.rows.entry(setup.name).or_default().idle += usize::from(idle);
                self.wrong.extend(compared.wrong.map(|what| Wrong {
                    name: subject.name.clone(),
                    setup: setup.name.to_owned(),
                    what,
                    before: subject.text.clone(),
                    after: after.clone(),
                }));
            }
        }
        Ok(())
    }

    fn subject(&mut self, name: String, text: String) -> Subject {
        let mut rewritten = Vec::new();
        for setup in SETUPS {
            let row = self.rows.entry(setup.name).or_default();
            match setup.rewritten(&text) {
                Ok(after) => {
                    row.rewritten += 1;
                    rewritten.push((setup, after));
                }
                Err(refusal) => {
                    *row.refused.entry(kind(&refusal.to_string())).or_default() += 1;
                }
            }
        }
        self.functions += 1;
        self.untouched += usize::from(rewritten.is_empty());
        Subject {
            name,
            text,
            rewritten,
        }
    }

    /// How many of the refusals of a setup had each reason, the most first.
    #[must_use]
    pub fn reasons(&self, setup: &str) -> Vec<(usize, String)> {
        let refused = self
            .rows
            .get(setup)
            .map(|row| row.refused.clone())
            .unwrap_or_default();
        let mut all: Vec<(usize, String)> = refused
            .into_iter()
            .map(|(reason, count)| (count, reason))
            .collect();
        all.sort_by(|a, b| b.cmp(a));
        all
    }
}

/// A refusal without what is the function's own.
fn kind(refusal: &str) -> String {
    let reason = refusal
        .rsplit_once("is not rewritten: ")
        .map_or(refusal, |(_, reason)| reason);
    let mut out = String::new();
    for word in reason.split(' ') {
        let own = word.contains(['*', '&', '_', '[', '(', '>']) && !word.ends_with("()");
        out += if own { "…" } else { word };
        out.push(' ');
    }
    out.trim_end().to_owned()
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: usize| 100.0 * part as f64 / self.functions.max(1) as f64;
        writeln!(
            f,
            "{} functions, {} of them rewritten in no style; {} runs of both versions, {} with a fault",
            self.functions, self.untouched, self.runs, self.faulted
        )?;
        for (setup, row) in &self.rows {
            let refused: usize = row.refused.values().sum();
            let wrong = self
                .wrong
                .iter()
                .filter(|wrong| wrong.setup == *setup)
                .count();
            writeln!(
                f,
                "{setup:18} {:6} rewritten ({:.1} %), {refused:6} refused, {:4} never run, {wrong:4} wrong",
                row.rewritten,
                share(row.rewritten),
                row.idle
            )?;
        }
        Ok(())
    }
}
