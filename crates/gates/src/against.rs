//! The gates of a file before and after a change.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::analysis::{Analysis, FunctionGates};

/// What a function costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Writes of the gate in its own code.
    pub gates: usize,
    /// Calls of helpers that open and close.
    pub hidden: usize,
    /// Instructions that hold back speculation.
    pub fences: usize,
    /// Instructions of its code.
    pub instructions: usize,
    /// Bytes of text.
    pub bytes: u64,
    /// Rules that it breaks.
    pub findings: usize,
}

/// A function before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionChange {
    /// Its name. Static functions that share one are added up.
    pub name: String,
    /// None where it is new.
    pub before: Option<Cost>,
    /// None where it is gone.
    pub after: Option<Cost>,
}

/// What changed between two files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// The functions that are not the same, by name.
    pub functions: Vec<FunctionChange>,
    /// The sum over all functions before.
    pub before: Cost,
    /// The sum over all functions after.
    pub after: Cost,
}

impl Changes {
    /// Compares two files function by function.
    #[must_use]
    pub fn between(before: &Analysis, after: &Analysis) -> Self {
        let mut functions: BTreeMap<&str, (Option<Cost>, Option<Cost>)> = BTreeMap::new();
        for function in &before.functions {
            let (cost, _) = functions.entry(&function.name).or_default();
            cost.get_or_insert_default().add(Cost::of(function));
        }
        for function in &after.functions {
            let (_, cost) = functions.entry(&function.name).or_default();
            cost.get_or_insert_default().add(Cost::of(function));
        }
        let changed = functions
            .into_iter()
            .filter(|(_, (before, after))| before != after);
        Self {
            functions: changed
                .map(|(name, (before, after))| FunctionChange {
                    name: name.to_owned(),
                    before,
                    after,
                })
                .collect(),
            before: total(before),
            after: total(after),
        }
    }

    /// Whether a function writes the gate more often than before, or breaks
    /// more rules.
    #[must_use]
    pub fn regressed(&self) -> bool {
        self.functions.iter().any(|change| {
            let (before, after) = change.costs();
            after.writes() > before.writes() || after.findings > before.findings
        })
    }
}

impl FunctionChange {
    /// Both costs; nothing where the function is not there.
    #[must_use]
    pub fn costs(&self) -> (Cost, Cost) {
        (
            self.before.unwrap_or_default(),
            self.after.unwrap_or_default(),
        )
    }
}

impl Cost {
    /// Writes of the gate, with the two of each helper.
    fn writes(&self) -> usize {
        self.gates + 2 * self.hidden
    }

    fn of(function: &FunctionGates) -> Self {
        Self {
            gates: function.counts.gates(),
            hidden: function.counts.hidden,
            fences: function.counts.fences,
            instructions: function.instructions,
            bytes: function.bytes,
            findings: function.findings.len(),
        }
    }

    fn add(&mut self, other: Self) {
        self.gates += other.gates;
        self.hidden += other.hidden;
        self.fences += other.fences;
        self.instructions += other.instructions;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.findings += other.findings;
    }
}

fn total(analysis: &Analysis) -> Cost {
    let mut sum = Cost::default();
    analysis
        .functions
        .iter()
        .for_each(|function| sum.add(Cost::of(function)));
    sum
}
