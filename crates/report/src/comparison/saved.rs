//! A saved result of `prove`, read again as far as a commit message has its figures.

use std::collections::BTreeMap;

use serde::Deserialize;
use tollgate_measure::{
    Comparison, Counts, Group, ImageName, Measured, Quantity, Repetitions, Setting, UnitCount,
    Verdict, Workload, WorkloadComparison,
};

use super::commit::commit_figures;
use super::json::PROVE_VERSION;

/// What a saved result has of one variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The variant.
    pub variant: String,
    /// What came of it.
    pub verdict: Verdict,
    /// What it was measured with; its patch is in it.
    pub setting: Setting,
    /// The figures, as `commit_figures` words them.
    pub figures: String,
}

/// Why a document is no saved result.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    /// It is no JSON, or has not what a result has.
    #[error("is no result of `tollgate prove` as --json writes it: {0}")]
    Form(#[from] serde_json::Error),
    /// Another command wrote it.
    #[error("is a result of `tollgate {0}`, and not of `tollgate prove`")]
    Kind(String),
    /// It is of another version of the form.
    #[error(
        "has version {0} of the form of `tollgate prove`, and this tollgate reads version {PROVE_VERSION}"
    )]
    Version(u32),
    /// It counts something over nothing.
    #[error("is no result of `tollgate prove`: it has counts of {0} and no operations")]
    Nothing(String),
}

/// What a document is, whoever wrote it.
#[derive(Deserialize)]
struct Head {
    version: u32,
    kind: String,
}

#[derive(Deserialize)]
struct Document {
    comparisons: Vec<Against>,
}

#[derive(Deserialize)]
struct Against {
    verdict: Verdict,
    before: ImageName,
    after: ImageName,
    setting: Setting,
    workloads: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    benchmark: String,
    parameters: BTreeMap<String, i64>,
    abi: Option<String>,
    cpu: Option<String>,
    control: bool,
    unit: Option<Unit>,
    before: Side,
    after: Side,
}

#[derive(Deserialize)]
struct Unit {
    name: String,
    per_call: u64,
}

#[derive(Deserialize)]
struct Side {
    operations: u64,
    user: u64,
    kernel: Kernel,
    repetitions: Repetitions,
}

#[derive(Deserialize)]
struct Kernel {
    instructions: u64,
    #[serde(default)]
    fpu: BTreeMap<String, u64>,
    #[serde(flatten)]
    others: BTreeMap<String, serde_json::Value>,
}

/// What a document that `prove` wrote has of each variant.
///
/// # Errors
/// When it is none, or one of another version.
pub fn saved(document: &[u8]) -> Result<Vec<Saved>, SavedError> {
    let head: Head = serde_json::from_slice(document)?;
    match (head.kind.as_str(), head.version) {
        ("prove", PROVE_VERSION) => {}
        ("prove", other) => return Err(SavedError::Version(other)),
        _ => return Err(SavedError::Kind(head.kind)),
    }
    let document: Document = serde_json::from_slice(document)?;
    document.comparisons.into_iter().map(of).collect()
}

fn of(one: Against) -> Result<Saved, SavedError> {
    let rows = one.workloads.into_iter().map(row);
    let comparison = Comparison {
        setting: one.setting,
        before: one.before,
        after: one.after,
        verdict: one.verdict,
        workloads: rows.collect::<Result<_, _>>()?,
        repeat: None,
        behaviour: tollgate_measure::Behaviour::default(),
        contexts: Vec::new(),
        notes: Vec::new(),
    };
    Ok(Saved {
        figures: commit_figures(&comparison),
        variant: comparison.after.variant,
        verdict: comparison.verdict,
        setting: comparison.setting,
    })
}

fn row(row: Row) -> Result<WorkloadComparison, SavedError> {
    let workload = Workload {
        benchmark: row.benchmark,
        parameters: row.parameters.into_iter().collect(),
        abi: row.abi,
        cpu: row.cpu,
    };
    if row.before.operations == 0 || row.after.operations == 0 {
        return Err(SavedError::Nothing(workload.to_string()));
    }
    let unit = row
        .unit
        .map(|Unit { name, per_call }| UnitCount { name, per_call });
    Ok(WorkloadComparison {
        workload,
        control: row.control,
        unit,
        less: None,
        whole: false,
        context_bytes: None,
        before: measured(row.before),
        after: measured(row.after),
        functions: Vec::new(),
    })
}

fn measured(side: Side) -> Measured {
    Measured {
        operations: side.operations,
        user: side.user,
        kernel: counts(&side.kernel),
        functions: BTreeMap::new(),
        system_calls: BTreeMap::new(),
        tallies: BTreeMap::new(),
        repetitions: side.repetitions,
    }
}

/// A quantity that is not shown is 0.
fn counts(kernel: &Kernel) -> Counts {
    let count = |quantity: Quantity| match (quantity, quantity.group()) {
        (Quantity::Kernel, _) => Some(kernel.instructions),
        (_, Group::Registers) => kernel.fpu.get(quantity.key()).copied(),
        _ => kernel.others.get(quantity.key())?.as_u64(),
    };
    Quantity::of_kernel().fold(Counts::default(), |counts, quantity| {
        counts.with(quantity, count(quantity).unwrap_or(0))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::super::json;
    use super::super::tests::everything;
    use super::*;

    #[test]
    fn a_saved_result_has_the_figures_of_the_one_that_was_saved() {
        let proof = everything();
        let saved = saved(json(&proof).unwrap().as_bytes()).unwrap();
        assert_eq!(saved.len(), proof.comparisons.len());
        for (saved, one) in saved.iter().zip(&proof.comparisons) {
            // Parameters are an object in JSON: by name, not in the order of the plan.
            let mut one = one.clone();
            for row in &mut one.workloads {
                row.workload.parameters.sort();
            }
            assert_eq!(saved.figures, commit_figures(&one));
            assert_eq!(saved.setting, one.setting);
            assert_eq!(saved.verdict, one.verdict);
            assert_eq!(saved.variant, one.after.variant);
        }
    }

    #[test]
    fn another_document_is_refused_in_a_sentence() {
        let version = json(&everything())
            .unwrap()
            .replace("\"version\": 2", "\"version\": 9");
        let nothing = json(&everything())
            .unwrap()
            .replace("\"operations\": ", "\"operations\": 0, \"was\": ");
        for (document, wanted) in [
            (
                "{",
                "is no result of `tollgate prove` as --json writes it: EOF",
            ),
            ("{}", "missing field `version`"),
            (
                "{\"version\": 1, \"kind\": \"run\"}",
                "a result of `tollgate run`",
            ),
            (
                "{\"version\": 2, \"kind\": \"prove\"}",
                "missing field `comparisons`",
            ),
            (&version, "has version 9 of the form"),
            (&nothing, "and no operations"),
        ] {
            let said = saved(document.as_bytes()).unwrap_err().to_string();
            assert!(said.contains(wanted), "{said}");
        }
    }
}
