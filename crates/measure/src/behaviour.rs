//! What two images did with the same inputs.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::layout::Layout;
use crate::results::{Outcome, Point};

/// The points of both images' sweeps, compared by sweep and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Behaviour {
    /// How many points there are on both sides together, each name once.
    pub points: usize,
    /// Those that differ, the smallest input first.
    pub differences: Vec<PointDifference>,
    /// How many points each sweep gave, each name once: what ran, and in which
    /// guest.
    pub sweeps: BTreeMap<String, usize>,
    /// What the points that differ show of memory; none of a sweep that does not say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<Layout>,
}

/// An input that the two images treat differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointDifference {
    /// The sweep.
    pub sweep: String,
    /// The input.
    pub name: String,
    /// What came of it before; none when there is no such point.
    pub before: Option<Outcome>,
    /// What came of it after; none when there is no such point.
    pub after: Option<Outcome>,
}

/// A sweep, and a point of it.
pub(crate) type Key<'a> = (&'a str, &'a str);

impl PointDifference {
    /// What names the input: the sweep, and the point of it.
    pub(crate) fn key(&self) -> Key<'_> {
        (&self.sweep, &self.name)
    }
}

impl Behaviour {
    /// Compares the points of two runs. A point that only one side has is a
    /// difference.
    #[must_use]
    pub fn compare(before: &[Point], after: &[Point]) -> Self {
        let (before, after) = (by_name(before), by_name(after));
        let mut keys: Vec<Key<'_>> = before.keys().chain(after.keys()).copied().collect();
        in_order(&mut keys);
        let difference = |key: &Key<'_>| {
            let (before, after) = (before.get(key).copied(), after.get(key).copied());
            (before != after).then(|| PointDifference {
                sweep: key.0.to_owned(),
                name: key.1.to_owned(),
                before: before.cloned(),
                after: after.cloned(),
            })
        };
        let differences = keys.iter().filter_map(difference).collect();
        let mut sweeps = BTreeMap::new();
        for (sweep, _) in &keys {
            *sweeps.entry((*sweep).to_owned()).or_default() += 1;
        }
        Self {
            points: keys.len(),
            differences,
            sweeps,
            layouts: Vec::new(),
        }
    }

    /// The same with those of these layouts that its differences have.
    #[must_use]
    pub fn laid_out(mut self, layouts: &[Layout]) -> Self {
        let points = self.differences.iter().map(PointDifference::key);
        self.layouts = Layout::of_all(layouts, points);
        self
    }

    /// What the later one of two runs does otherwise than the earlier one, where both were
    /// compared with the same.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Vec<PointDifference> {
        let (was, is) = (by_key(earlier), by_key(self));
        let mut keys: Vec<Key<'_>> = was.keys().chain(is.keys()).copied().collect();
        in_order(&mut keys);
        let difference = |key: &Key<'_>| {
            let (was, is) = (was.get(key), is.get(key));
            let base = || was.or(is).and_then(|one| one.before.as_ref());
            let after = |one: Option<&&PointDifference>| match one {
                Some(one) => one.after.clone(),
                None => base().cloned(),
            };
            let (before, after) = (after(was), after(is));
            (before != after).then(|| PointDifference {
                sweep: key.0.to_owned(),
                name: key.1.to_owned(),
                before,
                after,
            })
        };
        keys.iter().filter_map(difference).collect()
    }
}

/// Each once, the smallest input first.
fn in_order(keys: &mut Vec<Key<'_>>) {
    keys.sort_by(|a, b| a.0.cmp(b.0).then_with(|| natural(a.1, b.1)));
    keys.dedup();
}

fn by_key(all: &Behaviour) -> BTreeMap<Key<'_>, &PointDifference> {
    let all = all.differences.iter();
    all.map(|one| (one.key(), one)).collect()
}

fn by_name(points: &[Point]) -> BTreeMap<Key<'_>, &Outcome> {
    let names = points
        .iter()
        .map(|point| (point.sweep.as_str(), point.name.as_str()));
    names
        .zip(points.iter().map(|point| &point.outcome))
        .collect()
}

/// Orders `end/9` before `end/17`: runs of digits by their value.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (pieces(a), pieces(b));
    loop {
        match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (one, other) if one == other => {}
            (one, other) => return rank(one).cmp(&rank(other)),
        }
    }
}

/// Nothing comes first, numbers by value, then text.
fn rank(piece: Option<&str>) -> (u8, usize, &str) {
    let Some(text) = piece else { return (0, 0, "") };
    let digits = text.trim_start_matches('0');
    match text.starts_with(|c: char| c.is_ascii_digit()) {
        true => (1, digits.len(), digits),
        false => (2, 0, text),
    }
}

/// A name's runs of digits and of other characters, in turn.
fn pieces(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let digit = rest.chars().next()?.is_ascii_digit();
        let end = rest
            .find(|c: char| c.is_ascii_digit() != digit)
            .unwrap_or(rest.len());
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(piece)
    })
}

#[cfg(test)]
mod tests;
