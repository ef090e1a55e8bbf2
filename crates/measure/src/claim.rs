//! What others claimed of a change, beside what was counted here.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::comparison::{Comparison, Per};
use crate::measured::Measured;
use crate::proof::{Proof, Row};
use crate::ratio::Ratio;
use crate::sample::Workload;

/// What somebody claimed of a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The claim with what it was measured on.
    pub text: String,
    /// Where it was said: subject, list, date.
    pub source: String,
    /// Its figures; none where it has none that a count can stand beside.
    pub figures: Option<ClaimedFigures>,
}

/// The figures of a claim, and the workload that comes closest to theirs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimedFigures {
    /// What they are of, with the unit: `throughput, base 100`, `ns a call`.
    pub of: String,
    /// Whether the larger figure is the cheaper kernel, as of a throughput.
    pub more_is_better: bool,
    /// What is counted here.
    pub workload: Workload,
    /// Whether the figures are of the workload less the one that is subtracted
    /// from it.
    pub net: bool,
    /// The functions whose share in the workload is set beside the figures, in
    /// groups; without any it is the whole workload.
    pub groups: Vec<FunctionGroup>,
    /// The functions that the groups are a share of; none: all instructions that
    /// decide.
    pub within: Option<FunctionGroup>,
    /// The figure of the base.
    pub base: f64,
    /// Those of the variants, in the order of the case; none where the claim is of
    /// the base alone.
    pub variants: Vec<(String, f64)>,
}

/// Functions that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionGroup {
    /// What they are called together.
    pub name: String,
    /// Symbols; a `*` at the end stands for any rest.
    pub functions: Vec<String>,
}

/// A claim beside the counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimCheck {
    /// What was claimed.
    pub claim: Claim,
    /// What was counted.
    pub here: ClaimHere,
}

/// What was counted of a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ClaimHere {
    /// The claim has no figures.
    NoFigures,
    /// The workload did not run in this proof.
    NotCounted {
        /// Which.
        workload: Workload,
    },
    /// None of the claim's variants ran in this proof.
    NoVariant,
    /// The counts.
    Counted(ClaimCounts),
}

/// Claimed and counted figures, image by image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimCounts {
    /// What an operation is, `transaction`.
    pub per: String,
    /// What the instructions are that decide, in words.
    pub what: String,
    /// The base, then each variant of the claim that ran.
    pub rows: Vec<ClaimRow>,
    /// Whether the images stand in the same order from the cheapest to the
    /// dearest; none with one variant, whose row says it.
    pub order: Option<ClaimOrder>,
}

/// One image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimRow {
    /// Its letter.
    pub letter: char,
    /// Its variant, `base` or `window`.
    pub variant: String,
    /// The claimed figure.
    pub claimed: f64,
    /// The instructions of all operations that decide: the kernel's, with those of
    /// user space where the program is a part of what is compared.
    pub instructions: u64,
    /// How many units they handled.
    pub units: u64,
    /// What the groups are a share of: those instructions, or those of some functions.
    pub whole: u64,
    /// The instructions of each group of functions.
    pub groups: Vec<u64>,
    /// Whether claim and count both call it cheaper than the base, both dearer,
    /// or both the same; none of the base, and where medians are too close to tell.
    pub agrees: Option<bool>,
}

/// Letters from the cheapest image to the dearest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimOrder {
    /// As claimed.
    pub claimed: String,
    /// As counted.
    pub here: String,
}

impl ClaimOrder {
    /// Whether the two are the same.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.claimed == self.here
    }
}

impl FunctionGroup {
    /// Whether the symbol is one of the group's.
    #[must_use]
    pub fn holds(&self, symbol: &str) -> bool {
        self.functions
            .iter()
            .any(|name| match name.strip_suffix('*') {
                Some(start) => symbol.starts_with(start),
                None => symbol == name,
            })
    }

    /// Its instructions, of all operations.
    fn instructions(&self, measured: &Measured) -> u64 {
        let functions = measured.functions.iter();
        let ours = functions.filter(|(name, _)| self.holds(name));
        ours.fold(0, |sum: u64, (_, counts)| {
            sum.saturating_add(counts.instructions())
        })
    }
}

impl ClaimRow {
    /// What the claim is set beside: the share of its functions in the instructions
    /// that decide, or all of these, a unit.
    #[must_use]
    pub fn here(&self) -> Ratio {
        if self.groups.is_empty() {
            return Ratio::new(self.instructions, self.units);
        }
        let ours = self.groups.iter();
        self.share(ours.fold(0, |sum, group| sum.saturating_add(*group)))
    }

    /// What share in the whole so many instructions are.
    #[must_use]
    pub fn share(&self, instructions: u64) -> Ratio {
        Ratio::new(instructions, self.whole)
    }
}

impl Claim {
    /// The claim beside the counts of a proof.
    #[must_use]
    pub fn beside(self, proof: &Proof) -> ClaimCheck {
        let here = match &self.figures {
            None => ClaimHere::NoFigures,
            Some(figures) => figures.beside(proof),
        };
        ClaimCheck { claim: self, here }
    }
}

impl ClaimedFigures {
    fn beside(&self, proof: &Proof) -> ClaimHere {
        let rows = proof.rows();
        let of = match self.counted(&rows) {
            Ok(of) => of,
            Err(workload) => return ClaimHere::NotCounted { workload },
        };
        let Some(base) = self.base(proof, &of) else {
            return ClaimHere::NoVariant;
        };
        let variants = proof.comparisons.iter();
        let variants = variants.filter_map(|one| self.variant(one, &of, &base));
        let rows: Vec<ClaimRow> = std::iter::once(base.clone()).chain(variants).collect();
        if rows.len() < 2 && !self.variants.is_empty() {
            return ClaimHere::NoVariant;
        }
        let compared = of.row.comparison;
        ClaimHere::Counted(ClaimCounts {
            per: compared.per_name(Per::Unit).to_owned(),
            what: compared.decisive_name().to_owned(),
            order: (rows.len() > 2).then(|| self.order(&rows)),
            rows,
        })
    }

    /// The rows that are counted, or the workload that is missing.
    fn counted<'a, 'p>(&self, rows: &'a [Row<'p>]) -> Result<Of<'a, 'p>, Workload> {
        let find = |wanted: &Workload| {
            let mut rows = rows.iter();
            let row = rows.find(|row| row.comparison.workload == *wanted);
            row.ok_or_else(|| wanted.clone())
        };
        let row = find(&self.workload)?;
        let less = row.comparison.less.as_ref().filter(|_| self.net);
        Ok(Of {
            row,
            less: less.map(find).transpose()?,
        })
    }

    fn variant(&self, one: &Comparison, of: &Of<'_, '_>, base: &ClaimRow) -> Option<ClaimRow> {
        let name = &one.after.variant;
        let (_, claimed) = self.variants.iter().find(|(known, _)| known == name)?;
        let find = |row: &Row<'_>| {
            let mut workloads = one.workloads.iter();
            workloads.find(|compared| compared.workload == row.comparison.workload)
        };
        let compared = find(of.row)?;
        let mut exact = compared.exact();
        if let Some(less) = of.less {
            exact &= find(less)?.exact();
        }
        let mut found = self.row(of, one.after.letter, name, *claimed)?;
        let here = match self.groups.is_empty() && of.less.is_none() {
            true => compared.moved(),
            false => compare(found.here(), base.here()),
        };
        // Medians whose ranges touch say neither cheaper nor dearer.
        let unclear = here.is_eq() && !exact;
        found.agrees = (!unclear).then(|| self.cost(*claimed, self.base) == here);
        Some(found)
    }

    fn base(&self, proof: &Proof, of: &Of<'_, '_>) -> Option<ClaimRow> {
        let image = &proof.comparisons.first()?.before;
        self.row(of, image.letter, &image.variant, self.base)
    }

    fn row(&self, of: &Of<'_, '_>, letter: char, variant: &str, claimed: f64) -> Option<ClaimRow> {
        let measured = column(of.row, letter)?;
        let (instructions, units) = of.taken(letter)?;
        let groups = self.groups.iter();
        let within = self.within.as_ref();
        Some(ClaimRow {
            letter,
            variant: variant.to_owned(),
            claimed,
            instructions,
            units,
            whole: within.map_or_else(
                || of.row.comparison.deciding_of(measured),
                |within| within.instructions(measured),
            ),
            groups: groups.map(|group| group.instructions(measured)).collect(),
            agrees: None,
        })
    }

    /// How the cost that `figure` stands for compares with that of `other`.
    fn cost(&self, figure: f64, other: f64) -> Ordering {
        match self.more_is_better {
            true => other.total_cmp(&figure),
            false => figure.total_cmp(&other),
        }
    }

    fn order(&self, rows: &[ClaimRow]) -> ClaimOrder {
        let mut by_claim: Vec<&ClaimRow> = rows.iter().collect();
        let mut by_count = by_claim.clone();
        by_claim.sort_by(|a, b| self.cost(a.claimed, b.claimed));
        by_count.sort_by(|a, b| compare(a.here(), b.here()));
        let letters = |rows: Vec<&ClaimRow>| rows.iter().map(|row| row.letter).collect();
        ClaimOrder {
            claimed: letters(by_claim),
            here: letters(by_count),
        }
    }
}

/// What a claim stands beside: a workload, and what is subtracted from it.
#[derive(Clone, Copy)]
struct Of<'a, 'p> {
    row: &'a Row<'p>,
    less: Option<&'a Row<'p>>,
}

impl Of<'_, '_> {
    /// The instructions that decide on an image, and the units that they handled.
    fn taken(&self, letter: char) -> Option<(u64, u64)> {
        let (all, units) = taken(self.row, letter)?;
        let Some(less) = self.less else {
            return Some((all, units));
        };
        let (other, others) = taken(less, letter)?;
        // Of as many units of both.
        let net = all
            .saturating_mul(others)
            .saturating_sub(other.saturating_mul(units));
        Some((net, units.saturating_mul(others)))
    }
}

fn column<'a>(row: &Row<'a>, letter: char) -> Option<&'a Measured> {
    let mut columns = row.columns.iter();
    columns
        .find(|(known, _)| *known == letter)
        .map(|(_, measured)| *measured)
}

fn taken(row: &Row<'_>, letter: char) -> Option<(u64, u64)> {
    let measured = column(row, letter)?;
    let divisor = row.comparison.divisor(Per::Unit, measured);
    Some((row.comparison.deciding_of(measured), divisor))
}

fn compare(a: Ratio, b: Ratio) -> Ordering {
    a.value().total_cmp(&b.value())
}

#[cfg(test)]
mod tests;
