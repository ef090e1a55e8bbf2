//! All that one run of `prove` found: each variant against the base, and the
//! variants against each other.

use serde::Serialize;

use crate::boot::BootResult;
use crate::claim::{Claim, ClaimCheck};
use crate::commands::Commands;
use crate::comparison::{Comparison, Per, WorkloadComparison};
use crate::measured::Measured;
use crate::ratio::Ratio;
use crate::setting::{Benchmark, ImageName, Setting};
use crate::{Booted, Workload};

/// The comparisons of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proof {
    /// What is being proved: the case's name, or the patch's.
    pub subject: String,
    /// Each variant that was run against the base, in the order of the case.
    pub comparisons: Vec<Comparison>,
    /// Each variant against each later one.
    pub pairs: Vec<Comparison>,
    /// The variants that were asked for and not run.
    pub not_run: Vec<NotRun>,
    /// What others claimed of the change, beside the counts.
    pub claims: Vec<ClaimCheck>,
    /// What repeats it.
    pub commands: Commands,
}

/// A variant without an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotRun {
    /// Its name.
    pub variant: String,
    /// Why, in a sentence.
    pub reason: String,
    /// Whether that is a failure; not where the tree only does not offer what
    /// the variant is written in.
    pub failed: bool,
}

/// A variant that was booted.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What it was measured with.
    pub setting: Setting,
    /// Its image.
    pub image: ImageName,
    /// What its boot gave.
    pub run: BootResult,
}

/// One workload on every image, the base first.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// As it is compared with the base.
    pub comparison: &'a WorkloadComparison,
    /// Letter and counts of each image that counted it.
    pub columns: Vec<(char, &'a Measured)>,
}

impl Proof {
    /// Compares each variant with the base, and with each other.
    #[must_use]
    pub fn new(
        subject: String,
        benchmarks: &[Benchmark],
        base: &Booted<'_>,
        again: Option<&BootResult>,
        tried: &[Tried],
        not_run: Vec<NotRun>,
    ) -> Self {
        let comparisons = tried.iter().map(|variant| {
            let setting = variant.setting.clone();
            Comparison::new(setting, benchmarks, base.clone(), again, variant.booted())
        });
        let pair = |first: &Tried, second: &Tried| {
            let setting = Setting {
                patch: String::new(),
                ..second.setting.clone()
            };
            Comparison::new(setting, benchmarks, first.booted(), None, second.booted())
        };
        let pair = &pair;
        let pairs = tried.iter().enumerate().flat_map(|(index, first)| {
            let later = tried.iter().skip(index + 1);
            later.map(move |second| pair(first, second))
        });
        Self {
            subject,
            comparisons: comparisons.collect(),
            pairs: pairs.collect(),
            not_run,
            claims: Vec::new(),
            commands: Commands::default(),
        }
    }

    /// With what repeats it.
    #[must_use]
    pub fn with_commands(self, commands: Commands) -> Self {
        Self { commands, ..self }
    }

    /// With what others claimed of the change set beside the counts.
    #[must_use]
    pub fn with_claims(mut self, claims: Vec<Claim>) -> Self {
        let claims = claims.into_iter().map(|claim| claim.beside(&self));
        self.claims = claims.collect();
        self
    }

    /// 2 when any variant gave no verdict or could not be run, else 1 when any
    /// is a regression or behaves differently, else 0. A variant that the tree
    /// does not offer counts only when nothing else was run.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let failed = self.not_run.iter().any(|variant| variant.failed);
        let codes = self.comparisons.iter().map(|one| one.verdict.exit_code());
        match codes.max() {
            None => 2,
            Some(_) if failed => 2,
            Some(code) => code,
        }
    }

    /// The comparison whose headline moved most for its size, the one to show
    /// first.
    #[must_use]
    pub fn headline(&self) -> Option<&Workload> {
        let change = |row: &WorkloadComparison| {
            let figure = row.decisive(Per::Call);
            (figure.difference().value() / figure.before.value().max(1.0)).abs()
        };
        let rows = self.comparisons.iter().filter_map(Comparison::headline);
        let mut rows: Vec<_> = rows.collect();
        // Stable: of equals the first variant's.
        rows.sort_by(|a, b| change(b).total_cmp(&change(a)));
        rows.first().map(|row| &row.workload)
    }

    /// Every workload that the base counted and a variant too, on every image,
    /// in the order of the plan.
    #[must_use]
    pub fn rows(&self) -> Vec<Row<'_>> {
        let mut rows: Vec<Row<'_>> = Vec::new();
        for comparison in &self.comparisons {
            for workload in &comparison.workloads {
                let letter = comparison.after.letter;
                let known = rows
                    .iter_mut()
                    .find(|row| row.comparison.workload == workload.workload);
                match known {
                    Some(row) => row.columns.push((letter, &workload.after)),
                    None => rows.push(Row {
                        comparison: workload,
                        columns: vec![
                            (comparison.before.letter, &workload.before),
                            (letter, &workload.after),
                        ],
                    }),
                }
            }
        }
        rows
    }
}

impl Tried {
    fn booted(&self) -> Booted<'_> {
        Booted {
            image: self.image.clone(),
            run: &self.run,
        }
    }
}

impl Row<'_> {
    /// What `pick` gives of each image, divided as `per` says.
    #[must_use]
    pub fn figures(&self, per: Per, pick: impl Fn(&Measured) -> u64) -> Vec<(char, Ratio)> {
        let divided = |measured: &Measured| {
            Ratio::new(pick(measured), self.comparison.divisor(per, measured))
        };
        let columns = self.columns.iter();
        columns
            .map(|(letter, measured)| (*letter, divided(measured)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::{compare, run};

    fn proof(after: &[BootResult], failed: bool) -> Proof {
        let base = run(5540, 83_066);
        let comparisons: Vec<Comparison> = after
            .iter()
            .map(|run| compare(&base, Some(&base), run))
            .collect();
        Proof {
            subject: String::new(),
            comparisons,
            pairs: Vec::new(),
            not_run: vec![NotRun {
                variant: "scoped".into(),
                reason: "the tree has none".into(),
                failed,
            }],
            claims: Vec::new(),
            commands: Commands::default(),
        }
    }

    #[test]
    fn the_worst_decides_the_exit_code() {
        let (gain, loss) = (run(5310, 73_386), run(5640, 93_066));
        assert_eq!(proof(std::slice::from_ref(&gain), false).exit_code(), 0);
        assert_eq!(proof(&[gain.clone(), loss], false).exit_code(), 1);
        assert_eq!(proof(&[gain], true).exit_code(), 2);
        assert_eq!(proof(&[], false).exit_code(), 2);
    }

    #[test]
    fn a_row_has_a_column_for_each_image() {
        let proof = proof(&[run(5310, 73_386), run(5410, 74_000)], false);
        let rows = proof.rows();
        assert_eq!(rows[1].columns.len(), 3);
        let figures = rows[1].figures(Per::Call, |measured| measured.kernel.instructions());
        let shown: Vec<String> = figures.iter().map(|(_, value)| value.decimal(1)).collect();
        assert_eq!(shown, ["8306.6", "7338.6", "7400.0"]);
        assert_eq!(proof.headline(), Some(&rows[1].comparison.workload));
    }
}
