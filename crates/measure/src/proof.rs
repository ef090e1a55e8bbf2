//! All that one run of `prove` found: each variant against its base, and the images
//! against each other.

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
    /// Each variant that was run against its base, in the order of the case; those of
    /// the first compiler before those of the next.
    pub comparisons: Vec<Comparison>,
    /// Each variant against each later one of the same base; and the first base against
    /// each other one.
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

/// A base, and the variants that are held against it: what one compiler made.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The base's image.
    pub base: ImageName,
    /// What its boot gave.
    pub run: BootResult,
    /// What a second boot of it gave; none where it ran once.
    pub again: Option<BootResult>,
    /// The variants.
    pub tried: Vec<Tried>,
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
    /// Compares each variant with its base and with each other, and the first base with
    /// the others.
    #[must_use]
    pub fn new(
        subject: String,
        benchmarks: &[Benchmark],
        all: &[Compared],
        not_run: Vec<NotRun>,
    ) -> Self {
        let variants = all.iter().flat_map(|one| one.comparisons(benchmarks));
        let among = all.iter().flat_map(|one| one.pairs(benchmarks));
        Self {
            subject,
            comparisons: variants.collect(),
            pairs: among.chain(bases(all, benchmarks)).collect(),
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

    /// Every image, each base before its variants.
    #[must_use]
    pub fn images(&self) -> Vec<&ImageName> {
        let mut images: Vec<&ImageName> = Vec::new();
        let all = self
            .comparisons
            .iter()
            .flat_map(|one| [&one.before, &one.after]);
        for image in all {
            if !images.contains(&image) {
                images.push(image);
            }
        }
        images
    }

    /// The images that variants are held against, in their order.
    #[must_use]
    pub fn bases(&self) -> Vec<&ImageName> {
        let mut bases: Vec<&ImageName> = self.comparisons.iter().map(|one| &one.before).collect();
        bases.dedup();
        bases
    }

    /// Every workload that a base counted and a variant of it too, on every image,
    /// in the order of the plan.
    #[must_use]
    pub fn rows(&self) -> Vec<Row<'_>> {
        let mut rows: Vec<Row<'_>> = Vec::new();
        for comparison in &self.comparisons {
            for workload in &comparison.workloads {
                let name = &workload.workload;
                if !rows.iter().any(|row| row.comparison.workload == *name) {
                    rows.push(Row {
                        comparison: workload,
                        columns: Vec::new(),
                    });
                }
                let mut rows = rows.iter_mut();
                if let Some(row) = rows.find(|row| row.comparison.workload == *name) {
                    row.add(comparison.before.letter, &workload.before);
                    row.add(comparison.after.letter, &workload.after);
                }
            }
        }
        rows
    }
}

impl Compared {
    fn comparisons(&self, benchmarks: &[Benchmark]) -> Vec<Comparison> {
        let again = self.again.as_ref();
        let one = |variant: &Tried| {
            let setting = variant.setting.clone();
            Comparison::new(setting, benchmarks, self.booted(), again, variant.booted())
        };
        self.tried.iter().map(one).collect()
    }

    fn pairs(&self, benchmarks: &[Benchmark]) -> Vec<Comparison> {
        let pairs = self.tried.iter().enumerate().flat_map(|(index, first)| {
            let later = self.tried.iter().skip(index + 1);
            later.map(move |second| (first, second))
        });
        let pair = |(first, second): (&Tried, &Tried)| {
            pair(first.booted(), second.booted(), &second.setting, benchmarks)
        };
        pairs.map(pair).collect()
    }

    fn booted(&self) -> Booted<'_> {
        Booted {
            image: self.base.clone(),
            run: &self.run,
        }
    }
}

/// The first base against each other one that a variant stands beside.
fn bases(all: &[Compared], benchmarks: &[Benchmark]) -> Vec<Comparison> {
    let Some((first, others)) = all.split_first() else {
        return Vec::new();
    };
    let one = |other: &Compared| {
        let setting = &other.tried.first()?.setting;
        Some(pair(first.booted(), other.booted(), setting, benchmarks))
    };
    others.iter().filter_map(one).collect()
}

/// Two images, without a verdict on a patch.
fn pair(
    first: Booted<'_>,
    second: Booted<'_>,
    setting: &Setting,
    benchmarks: &[Benchmark],
) -> Comparison {
    let setting = Setting {
        patch: String::new(),
        ..setting.clone()
    };
    Comparison::new(setting, benchmarks, first, None, second)
}

impl Tried {
    fn booted(&self) -> Booted<'_> {
        Booted {
            image: self.image.clone(),
            run: &self.run,
        }
    }
}

impl<'a> Row<'a> {
    /// With what an image counted; each counts once.
    fn add(&mut self, letter: char, counted: &'a Measured) {
        if !self.columns.iter().any(|(known, _)| *known == letter) {
            self.columns.push((letter, counted));
        }
    }

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
            .zip('B'..)
            .map(|(run, letter)| {
                let mut comparison = compare(&base, Some(&base), run);
                comparison.after.letter = letter;
                comparison
            })
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

    #[test]
    fn each_base_has_a_column_before_its_variants() {
        let image = |letter: char| ImageName {
            letter,
            variant: letter.to_string(),
            id: letter.to_string(),
        };
        let compared = |[base, variant]: [char; 2]| Compared {
            base: image(base),
            run: run(5540, 83_066),
            again: None,
            tried: vec![Tried {
                setting: Setting::default(),
                image: image(variant),
                run: run(5310, 73_386),
            }],
        };
        let benchmarks = crate::compare::tests::benchmarks();
        let all = [compared(['A', 'B']), compared(['C', 'D'])];
        let proof = Proof::new("s".into(), &benchmarks, &all, Vec::new());
        let letters = |images: Vec<&ImageName>| -> String {
            images.iter().map(|image| image.letter).collect()
        };
        assert_eq!(letters(proof.images()), "ABCD");
        assert_eq!(letters(proof.bases()), "AC");
        let of = |all: &[Comparison]| -> Vec<String> {
            let pair = |one: &Comparison| format!("{}{}", one.before.letter, one.after.letter);
            all.iter().map(pair).collect()
        };
        assert_eq!(of(&proof.comparisons), ["AB", "CD"]);
        assert_eq!(of(&proof.pairs), ["AC"]);
        let rows = proof.rows();
        let columns: String = rows[0].columns.iter().map(|(letter, _)| letter).collect();
        assert_eq!(columns, "ABCD");
    }
}
