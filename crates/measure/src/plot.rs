//! What grows with what: the counts of a benchmark that ran with several values
//! of a parameter, or on CPUs with several sizes of context; and a series over
//! its points.

use crate::comparison::{Per, WorkloadComparison};
use crate::measured::Measured;
use crate::proof::{Proof, Row};
use crate::quantity::Quantity;
use crate::ratio::Ratio;
use crate::sample::Workload;
use crate::series::{Series, SeriesRow};
use tollgate_defect::answer;

/// The fewest values of a parameter that make a curve: of two there is a
/// difference, and a flag has no more.
const VALUES: usize = 3;
/// What a drawing does not show, as a part of the highest count.
const FLAT: f64 = 0.01;
/// What the size of the context is called where it is the parameter.
const CONTEXT: &str = "bytes of context";
/// What a point of a series is called.
const POINT: &str = "patches";

/// One count over a parameter, a line for each image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plot {
    /// What ran, without the parameter.
    pub workload: String,
    /// What the horizontal axis is: the parameter's name.
    pub parameter: String,
    /// What was counted; several quantities where their counts are the same
    /// everywhere.
    pub quantities: Vec<Quantity>,
    /// What the counts are divided by.
    pub per: String,
    /// The lines, the base first.
    pub lines: Vec<PlotLine>,
}

/// One image's counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotLine {
    /// The image's name.
    pub name: String,
    /// From left to right.
    pub points: Vec<PlotPoint>,
}

/// One count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlotPoint {
    /// The value of the parameter.
    pub x: i64,
    /// The count.
    pub y: Ratio,
    /// Whether it is exact; a median otherwise.
    pub exact: bool,
}

impl Plot {
    /// Whether it would show a level line only: no count is more than a hundredth
    /// of the highest below it. What the kernel's instructions do is always shown.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        let values = || {
            let points = self.lines.iter().flat_map(|line| &line.points);
            points.map(|point| point.y.value())
        };
        let lowest = values().fold(f64::INFINITY, f64::min);
        let highest = values().fold(0.0, f64::max);
        !self.quantities.contains(&Quantity::Kernel) && lowest >= highest * (1.0 - FLAT)
    }
}

/// What the plots of one group share.
struct About {
    workload: String,
    parameter: String,
    per: String,
}

/// A count before it is known which of its quantities are drawn.
struct Counted<'a> {
    line: String,
    x: i64,
    measured: &'a Measured,
    divisor: u64,
}

impl Proof {
    /// A plot for each benchmark and each parameter of which it ran with three
    /// values or more, by each quantity that is not 0 throughout.
    #[must_use]
    pub fn plots(&self) -> Vec<Plot> {
        let rows = self.rows();
        let mut groups: Vec<Group<'_>> = Vec::new();
        for row in rows.iter().filter(|row| !row.comparison.control) {
            for place in places(row.comparison) {
                put(&mut groups, place, row);
            }
        }
        groups.retain(|group| group.rows.len() >= VALUES);
        groups
            .iter()
            .flat_map(|group| group.plots(&self.names()))
            .collect()
    }

    /// Letter and name of every image.
    fn names(&self) -> Vec<(char, String)> {
        let images = self.images().into_iter();
        images
            .map(|image| (image.letter, image.variant.clone()))
            .collect()
    }
}

/// Where a workload stands on one axis: what it is without it, and its value.
struct Place {
    rest: Workload,
    parameter: String,
    x: i64,
}

/// Workloads that differ in one parameter only.
struct Group<'a> {
    rest: Workload,
    parameter: String,
    rows: Vec<(i64, &'a Row<'a>)>,
}

fn places(row: &WorkloadComparison) -> Vec<Place> {
    let workload = &row.workload;
    let swept = workload.parameters.iter().map(|(name, value)| Place {
        rest: Workload {
            parameters: without(&workload.parameters, name),
            ..workload.clone()
        },
        parameter: name.clone(),
        x: *value,
    });
    let size = row.context_bytes.and_then(answer::fits::<i64, _>);
    let context = size.filter(|_| row.moves_registers()).map(|x| Place {
        rest: Workload {
            cpu: None,
            ..workload.clone()
        },
        parameter: CONTEXT.to_owned(),
        x,
    });
    swept.chain(context).collect()
}

fn without(parameters: &[(String, i64)], name: &str) -> Vec<(String, i64)> {
    let others = parameters.iter().filter(|(other, _)| other != name);
    others.cloned().collect()
}

/// A value that is there already stays: the standard CPU comes before others of
/// the same size.
fn put<'a>(groups: &mut Vec<Group<'a>>, place: Place, row: &'a Row<'a>) {
    let Place { rest, parameter, x } = place;
    let mut known = groups.iter_mut();
    match known.find(|group| group.rest == rest && group.parameter == parameter) {
        Some(group) if group.rows.iter().any(|(other, _)| *other == x) => {}
        Some(group) => {
            group.rows.push((x, row));
            group.rows.sort_by_key(|(x, _)| *x);
        }
        None => groups.push(Group {
            rest,
            parameter,
            rows: vec![(x, row)],
        }),
    }
}

impl Group<'_> {
    fn plots(&self, names: &[(char, String)]) -> Vec<Plot> {
        let per = self.per();
        let first = self.rows.first();
        let counted: Vec<Counted<'_>> = names
            .iter()
            .flat_map(|(letter, name)| self.line(*letter, name, per))
            .collect();
        let about = About {
            workload: self.rest.to_string(),
            parameter: self.parameter.clone(),
            per: first
                .map_or("call", |(_, row)| row.comparison.per_name(per))
                .to_owned(),
        };
        plots(&about, &counted)
    }

    /// Where the parameter says how many units a call handles, the growth is that
    /// of the call.
    fn per(&self) -> Per {
        let units = self.rows.iter().map(|(_, row)| &row.comparison.unit);
        let mut units: Vec<_> = units.collect();
        units.dedup();
        if units.len() > 1 {
            Per::Call
        } else {
            Per::Unit
        }
    }

    fn line(&self, letter: char, name: &str, per: Per) -> Vec<Counted<'_>> {
        let counted = self.rows.iter().filter_map(|(x, row)| {
            let (_, measured) = row.columns.iter().find(|(known, _)| *known == letter)?;
            Some(Counted {
                line: name.to_owned(),
                x: *x,
                measured,
                divisor: row.comparison.divisor(per, measured),
            })
        });
        counted.collect()
    }
}

impl Series {
    /// A plot over the points for each workload that any of them moved, by each
    /// quantity that is not 0 throughout.
    #[must_use]
    pub fn plots(&self) -> Vec<Plot> {
        let rows = self.rows();
        let moved = rows.iter().filter(|row| row.ever_moved());
        moved.flat_map(|row| self.plots_of(row)).collect()
    }

    fn plots_of(&self, row: &SeriesRow<'_>) -> Vec<Plot> {
        let points = self.points.iter().zip(&row.measured);
        let counted = points.filter_map(|(point, measured)| {
            let measured = (*measured)?;
            let units = row.unit.map_or(1, |unit| unit.per_call);
            Some(Counted {
                line: row.workload.to_string(),
                x: answer::fits::<i64, _>(point.number).unwrap_or(i64::MAX),
                measured,
                divisor: measured.operations.saturating_mul(units),
            })
        });
        let about = About {
            workload: row.workload.to_string(),
            parameter: POINT.to_owned(),
            per: row.per().to_owned(),
        };
        plots(&about, &counted.collect::<Vec<_>>())
    }
}

/// One plot for each quantity; those whose lines are the same are one.
fn plots(about: &About, counted: &[Counted<'_>]) -> Vec<Plot> {
    let mut all: Vec<Plot> = Vec::new();
    for quantity in Quantity::of_kernel() {
        let lines = lines(counted, quantity);
        let mut points = lines.iter().flat_map(|line| &line.points);
        if points.all(|point| point.y.is_zero()) {
            continue;
        }
        match all.iter_mut().find(|plot| plot.lines == lines) {
            Some(plot) => plot.quantities.push(quantity),
            None => all.push(Plot {
                workload: about.workload.clone(),
                parameter: about.parameter.clone(),
                quantities: vec![quantity],
                per: about.per.clone(),
                lines,
            }),
        }
    }
    all
}

fn lines(counted: &[Counted<'_>], quantity: Quantity) -> Vec<PlotLine> {
    let mut lines: Vec<PlotLine> = Vec::new();
    for one in counted {
        let point = PlotPoint {
            x: one.x,
            y: Ratio::new(one.measured.count(quantity), one.divisor),
            exact: one.measured.repetitions.exact(),
        };
        match lines.iter_mut().find(|line| line.name == one.line) {
            Some(line) => line.points.push(point),
            None => lines.push(PlotLine {
                name: one.line.clone(),
                points: vec![point],
            }),
        }
    }
    lines
}

#[cfg(test)]
mod tests;
