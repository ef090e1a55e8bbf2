//! A few measurements a kernel, kernel by kernel: what they say and what so few
//! cannot.

use serde::Serialize;
use tollgate_measure::ranks::{rank_sum, smallest_p};

use crate::text::points::Point;

/// How the samples of two points lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ranges {
    /// Every sample of the later one is above every one of the earlier.
    Above,
    /// Below.
    Below,
    /// They overlap.
    Overlap,
}

/// A point against an earlier one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointChange {
    /// The index of the earlier point.
    pub from: usize,
    /// Of the later one.
    pub to: usize,
    /// Of the medians, in nanoseconds.
    pub difference: f64,
    /// Of the earlier median.
    pub percent: f64,
    /// How the samples lie.
    pub ranges: Ranges,
    /// How often chance alone puts so many samples so far apart.
    pub chance: f64,
    /// The least that so many samples could have given: above 0.05 no test can say
    /// anything at 5 %.
    pub smallest: f64,
}

/// One kernel of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeriesPoint {
    /// The kernel, in the text's words.
    pub heading: String,
    /// Samples.
    pub count: usize,
    /// In nanoseconds.
    pub median: f64,
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// The line of the first sample.
    pub line: usize,
}

/// One benchmark, kernel by kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// What was measured.
    pub what: String,
    /// The benchmark, in the text's words.
    pub label: String,
    /// In the order of the text.
    pub points: Vec<SeriesPoint>,
    /// Each against the one before, then each against the first.
    pub changes: Vec<PointChange>,
}

/// The points of a text by benchmark.
#[must_use]
pub fn point_series(points: &[Point]) -> Vec<Series> {
    let mut keys: Vec<(&str, &str)> = Vec::new();
    for point in points {
        let key = (point.what.as_str(), point.label.as_str());
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let of = |(what, label): (&str, &str)| {
        let all: Vec<&Point> = points
            .iter()
            .filter(|point| point.what == what && point.label == label)
            .collect();
        series(what, label, &all)
    };
    keys.into_iter().map(of).collect()
}

fn series(what: &str, label: &str, all: &[&Point]) -> Series {
    let consecutive = (1..all.len()).map(|to| (to - 1, to));
    let from_first = (2..all.len()).map(|to| (0, to));
    let change = |(from, to): (usize, usize)| change(from, to, all.get(from)?, all.get(to)?);
    Series {
        what: what.to_owned(),
        label: label.to_owned(),
        points: all.iter().filter_map(|point| of_point(point)).collect(),
        changes: consecutive.chain(from_first).filter_map(change).collect(),
    }
}

fn of_point(point: &Point) -> Option<SeriesPoint> {
    let (low, high) = range(&point.nanoseconds)?;
    Some(SeriesPoint {
        heading: point.heading.clone(),
        count: point.nanoseconds.len(),
        median: median(&point.nanoseconds)?,
        low,
        high,
        line: point.place.first,
    })
}

fn change(from: usize, to: usize, old: &Point, new: &Point) -> Option<PointChange> {
    let (before, after) = (median(&old.nanoseconds)?, median(&new.nanoseconds)?);
    let (old_range, new_range) = (range(&old.nanoseconds)?, range(&new.nanoseconds)?);
    Some(PointChange {
        from,
        to,
        difference: after - before,
        percent: if before > 0.0 {
            100.0 * (after - before) / before
        } else {
            0.0
        },
        ranges: match () {
            () if new_range.0 > old_range.1 => Ranges::Above,
            () if new_range.1 < old_range.0 => Ranges::Below,
            () => Ranges::Overlap,
        },
        chance: rank_sum(&old.nanoseconds, &new.nanoseconds),
        smallest: smallest_p(old.nanoseconds.len(), new.nanoseconds.len()),
    })
}

fn range(values: &[f64]) -> Option<(f64, f64)> {
    let low = values.iter().copied().min_by(f64::total_cmp)?;
    let high = values.iter().copied().max_by(f64::total_cmp)?;
    Some((low, high))
}

pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    match sorted.len() % 2 {
        1 => Some(upper),
        _ => Some(f64::midpoint(*sorted.get(half.checked_sub(1)?)?, upper)),
    }
}
