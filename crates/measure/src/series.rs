//! A series of patches measured point by point: plain data, for renderers and
//! programs.

use std::cmp::Ordering;

use crate::behaviour::{Behaviour, PointDifference};
use crate::commands::Commands;
use crate::comparison::{Comparison, Figure, UnitCount, WorkloadComparison};
use crate::layout::Layout;
use crate::measured::Measured;
use crate::quantity::Quantity;
use crate::ratio::Ratio;
use crate::sample::Workload;
use crate::setting::ImageName;
use crate::verdict::Verdict;

/// One state of the tree in a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesPoint {
    /// How many patches of the series it has; 0 is the tree before it.
    pub number: usize,
    /// The subject of its last patch.
    pub title: String,
    /// What makes it of the point before, as a diff; empty for the first.
    pub patch: String,
    /// What was built of it.
    pub image: ImageName,
}

/// The points of a series, each compared with the first of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// The points in order; the first is the base.
    pub points: Vec<SeriesPoint>,
    /// The base against each later point.
    pub comparisons: Vec<Comparison>,
    /// What repeats it.
    pub commands: Commands,
}

/// One workload at every point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesRow<'a> {
    /// What ran.
    pub workload: &'a Workload,
    /// Whether it is a control.
    pub control: bool,
    /// What a call handles several of.
    pub unit: Option<&'a UnitCount>,
    /// What was measured, in the order of the points; none where it was not.
    pub measured: Vec<Option<&'a Measured>>,
}

/// A workload that a patch made dearer or cheaper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesChange<'a> {
    /// The workload.
    pub row: SeriesRow<'a>,
    /// Kernel instructions per unit at the point before and at this one.
    pub figure: Figure,
}

/// A workload that is dearer at a point than at both ends of the series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peak<'a> {
    /// The point whose patch made it so.
    pub point: &'a SeriesPoint,
    /// The workload.
    pub row: SeriesRow<'a>,
    /// Kernel instructions per unit at the base and at the point.
    pub figure: Figure,
}

impl Series {
    /// Every workload that the base and at least one point ran, in the order of
    /// the plan.
    #[must_use]
    pub fn rows(&self) -> Vec<SeriesRow<'_>> {
        let mut rows: Vec<SeriesRow<'_>> = Vec::new();
        for found in self.comparisons.iter().flat_map(|one| &one.workloads) {
            if !rows.iter().any(|row| row.workload == &found.workload) {
                rows.push(self.row(found));
            }
        }
        rows
    }

    fn row<'a>(&'a self, found: &'a WorkloadComparison) -> SeriesRow<'a> {
        let later = self.comparisons.iter().map(|comparison| {
            let mut all = comparison.workloads.iter();
            all.find(|one| one.workload == found.workload)
                .map(|one| &one.after)
        });
        SeriesRow {
            workload: &found.workload,
            control: found.control,
            unit: found.unit.as_ref(),
            measured: std::iter::once(Some(&found.before)).chain(later).collect(),
        }
    }

    /// What the point at `index` changed against the one before it, the largest
    /// change for its size first.
    #[must_use]
    pub fn changes(&self, index: usize) -> Vec<SeriesChange<'_>> {
        let rows = self.rows().into_iter().filter(|row| row.moved(index));
        let mut changes: Vec<SeriesChange<'_>> = rows
            .filter_map(|row| {
                let figure = row.step(index)?;
                Some(SeriesChange { row, figure })
            })
            .collect();
        changes.sort_by(|a, b| share(b.figure).abs().total_cmp(&share(a.figure).abs()));
        changes
    }

    /// The inputs that the point at `index` treats otherwise than the one before it, the
    /// smallest first.
    #[must_use]
    pub fn differences(&self, index: usize) -> Vec<PointDifference> {
        let of = |index: Option<usize>| Some(&self.comparisons.get(index?)?.behaviour);
        let base = Behaviour::default();
        match of(index.checked_sub(1)) {
            Some(own) => own.since(of(index.checked_sub(2)).unwrap_or(&base)),
            None => Vec::new(),
        }
    }

    /// What the inputs of [`Series::differences`] show of memory: each of them differs
    /// from the base at one of the two points.
    #[must_use]
    pub fn layouts(&self, index: usize) -> Vec<Layout> {
        let around = [index.checked_sub(2), index.checked_sub(1)];
        let around = around.into_iter().flatten();
        let comparisons = around.filter_map(|at| self.comparisons.get(at));
        let all: Vec<Layout> = comparisons
            .flat_map(|one| one.behaviour.layouts.iter().cloned())
            .collect();
        let differences = self.differences(index);
        Layout::of_all(&all, differences.iter().map(PointDifference::key))
    }

    /// The subject that a point between the ends made dearest for its size,
    /// where it is dearer than at both ends.
    #[must_use]
    pub fn peak(&self) -> Option<Peak<'_>> {
        let last = self.points.len().checked_sub(1)?;
        let rows = self.rows().into_iter().filter(|row| !row.control);
        let all = rows.flat_map(|row| (1..last).filter_map(move |at| row.peak(at, last)));
        let peak = all.max_by(|a, b| share(a.1).total_cmp(&share(b.1)));
        let (at, figure, row) = peak?;
        Some(Peak {
            point: self.points.get(at)?,
            row,
            figure,
        })
    }

    /// The first point that cannot be compared with the base, or behaves
    /// otherwise; else what came of the whole series.
    #[must_use]
    pub fn deciding(&self) -> Option<(&SeriesPoint, &Comparison)> {
        let pairs = || self.points.iter().skip(1).zip(&self.comparisons);
        let bad = |verdict: Verdict| {
            verdict.exit_code() == 2 || matches!(verdict, Verdict::BehaviourDiffers)
        };
        pairs()
            .find(|(_, comparison)| bad(comparison.verdict))
            .or_else(|| pairs().next_back())
    }

    /// 0 when the last point costs no more than the base, 1 when it does or any
    /// point behaves otherwise, 2 when a point could not be compared.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.deciding()
            .map_or(2, |(_, comparison)| comparison.verdict.exit_code())
    }
}

impl<'a> SeriesRow<'a> {
    /// The row with what a point costs against the base, where that point made it
    /// dearer than both ends.
    fn peak(&self, at: usize, last: usize) -> Option<(usize, Figure, SeriesRow<'a>)> {
        let figure = self.against_base(at)?;
        let end = self.kernel(last)?;
        let dearer = figure.after.value() > figure.before.value().max(end.value());
        (dearer && self.moved(at)).then(|| (at, figure, self.clone()))
    }

    /// Kernel instructions per unit at a point.
    #[must_use]
    pub fn kernel(&self, index: usize) -> Option<Ratio> {
        let measured = self.at(index)?;
        Some(self.per_unit(measured.kernel.instructions(), measured))
    }

    /// XSAVE and its kin, and XRSTOR and its kin, per unit at a point.
    #[must_use]
    pub fn registers(&self, index: usize) -> Option<(Ratio, Ratio)> {
        let measured = self.at(index)?;
        let per_unit = |quantity| self.per_unit(measured.count(quantity), measured);
        Some((per_unit(Quantity::Xsave), per_unit(Quantity::Xrstor)))
    }

    /// A point against the base.
    #[must_use]
    pub fn against_base(&self, index: usize) -> Option<Figure> {
        self.between(0, index)
    }

    /// A point against the one before it.
    #[must_use]
    pub fn step(&self, index: usize) -> Option<Figure> {
        self.between(index.checked_sub(1)?, index)
    }

    /// Whether a point takes more or fewer kernel instructions than the one
    /// before it.
    #[must_use]
    pub fn moved(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|index| self.at(index));
        let both = before.zip(self.at(index));
        both.is_some_and(|(before, after)| before.moved_to(after) != Ordering::Equal)
    }

    /// Whether any point moved it.
    #[must_use]
    pub fn ever_moved(&self) -> bool {
        (1..self.measured.len()).any(|index| self.moved(index))
    }

    /// The name of what the figures are divided by.
    #[must_use]
    pub fn per(&self) -> &str {
        self.unit.map_or("call", |unit| &unit.name)
    }

    /// Whether the count at a point is exact.
    #[must_use]
    pub fn exact(&self, index: usize) -> bool {
        self.at(index)
            .is_some_and(|measured| measured.repetitions.exact())
    }

    fn at(&self, index: usize) -> Option<&Measured> {
        self.measured.get(index).copied().flatten()
    }

    fn between(&self, before: usize, after: usize) -> Option<Figure> {
        Some(Figure {
            before: self.kernel(before)?,
            after: self.kernel(after)?,
        })
    }

    fn per_unit(&self, count: u64, measured: &Measured) -> Ratio {
        let units = self.unit.map_or(1, |unit| unit.per_call);
        Ratio::new(count, measured.operations.saturating_mul(units))
    }
}

/// A difference as a share of what was before.
fn share(figure: Figure) -> f64 {
    figure.difference().value() / figure.before.value().max(1.0)
}

#[cfg(test)]
mod tests;
