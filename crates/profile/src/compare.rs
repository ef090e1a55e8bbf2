//! Profiles against profiles: what changed, and whether that can be told.

use serde::Serialize;

use std::collections::{BTreeSet, HashMap};

use crate::interval::{self, Interval, Level, needed};
use crate::kinds::{Kinds, matches};
use crate::profile::{Measure, Profile, is_unresolved};
use crate::reading::same_unit;

/// Symbols that are looked at together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// What they are called.
    pub name: String,
    /// Patterns of symbols; `*` is any part.
    pub patterns: Vec<String>,
    /// Whether somebody asked for it: one that no profile has any of is then named.
    pub given: bool,
}

/// The name of the group of rows that a text points at.
pub const MARKED: &str = "rows marked in the text";

/// What is no group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} is no group: give a name and patterns of symbols, such as 'user access=__put_user*,_copy_*_user'"
)]
pub struct GroupError(String);

impl std::str::FromStr for Group {
    type Err = GroupError;

    fn from_str(text: &str) -> Result<Self, GroupError> {
        let error = || GroupError(text.to_owned());
        let (name, patterns) = text.split_once('=').ok_or_else(error)?;
        let patterns: Vec<String> = patterns
            .split(',')
            .map(|one| one.trim().to_owned())
            .collect();
        let name = name.trim().to_owned();
        let whole = !name.is_empty() && patterns.iter().all(|pattern| !pattern.is_empty());
        whole
            .then_some(Self {
                name,
                patterns,
                given: true,
            })
            .ok_or_else(error)
    }
}

impl Group {
    /// The kinds of the boundary.
    #[must_use]
    pub fn kinds(kinds: &Kinds) -> Vec<Self> {
        let group = |kind: &crate::Kind| Self {
            name: kind.name.clone(),
            patterns: kind.symbols.clone(),
            given: false,
        };
        kinds.all().map(group).collect()
    }

    /// All that was counted.
    #[must_use]
    pub fn everything() -> Self {
        Self {
            name: "all of it".to_owned(),
            patterns: vec!["*".to_owned()],
            given: false,
        }
    }

    /// What says that a kernel is being debugged.
    #[must_use]
    pub fn debugging(kinds: &Kinds) -> Vec<Self> {
        let group = |one: &crate::Debugging| Self {
            name: one.what.clone(),
            patterns: one.symbols.clone(),
            given: false,
        };
        kinds.all_debugging().map(group).collect()
    }

    /// The rows that the writer of any of the profiles pointed at; none where nobody
    /// did.
    #[must_use]
    pub fn marked(profiles: &[&Profile]) -> Option<Self> {
        let mut patterns: Vec<String> = Vec::new();
        let rows = profiles.iter().flat_map(|profile| &profile.rows);
        for row in rows.filter(|row| row.marked) {
            if !patterns.contains(&row.symbol) {
                patterns.push(row.symbol.clone());
            }
        }
        (!patterns.is_empty()).then(|| Self {
            name: MARKED.to_owned(),
            patterns,
            given: false,
        })
    }

    fn holds(&self, symbol: &str, kinds: &Kinds) -> bool {
        let plain = kinds.plain(symbol);
        self.patterns
            .iter()
            .any(|pattern| matches(pattern, symbol) || matches(pattern, &plain))
    }
}

/// What can be said of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// It is larger, beyond what chance does.
    Grew,
    /// It is smaller.
    Shrank,
    /// The interval lies within the floor on both sides.
    Equal,
    /// It is none of them: the interval holds 0 and reaches beyond the floor.
    NotShown,
    /// Nothing can be told: how many samples there were is not known, or rows are
    /// missing that would decide.
    Cannot,
}

/// A share on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShareChange {
    /// The symbol, or the group.
    pub name: String,
    /// In percent of the profiles before; 0 where nothing of it is listed.
    pub before: f64,
    /// Of those after.
    pub after: f64,
    /// How much more there can be in rows that are not listed, before and after.
    pub hidden: [f64; 2],
    /// Instructions before and after, where they were counted.
    pub counts: Option<[u64; 2]>,
    /// Of the difference in points, where it can be known.
    pub interval: Option<Interval>,
    /// What can be said.
    pub told: Told,
    /// From how many samples a side on the difference would be beyond chance.
    pub needed: Option<u64>,
}

impl ShareChange {
    /// After less before, in points.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.after - self.before
    }
}

/// Profiles that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefusedComparison {
    /// They count different things.
    #[error(
        "{before} and {after} cannot be compared: a part of the one says nothing about a part of the other; give two of one kind"
    )]
    Measures {
        /// In words.
        before: String,
        /// In words.
        after: String,
    },
    /// A side has none.
    #[error("there is no profile {0}")]
    Missing(&'static str),
}

/// Profiles before against profiles after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What was counted.
    pub measure: Measure,
    /// Samples of each profile before, where they are known.
    pub samples_before: Vec<Option<u64>>,
    /// After.
    pub samples_after: Vec<Option<u64>>,
    /// The groups that were asked for, or the kinds of the boundary.
    pub groups: Vec<ShareChange>,
    /// Every symbol that either side lists, the largest difference first.
    pub symbols: Vec<ShareChange>,
    /// What the reader has to know of it, in sentences.
    pub notes: Vec<String>,
    /// How many points an interval may lie from 0 to be called equal.
    pub floor: f64,
}

/// A profile with its parts and counts by symbol.
struct Side<'p> {
    profile: &'p Profile,
    parts: HashMap<&'p str, (f64, u64)>,
}

impl<'p> Side<'p> {
    fn new(profile: &'p Profile) -> Self {
        let mut parts: HashMap<&str, (f64, u64)> = HashMap::new();
        for row in &profile.rows {
            let part = parts.entry(&row.symbol).or_default();
            part.0 += row.percent;
            part.1 = part.1.saturating_add(row.count.unwrap_or_default());
        }
        Self { profile, parts }
    }

    fn percent(&self, names: &[&str]) -> f64 {
        let found = names.iter().filter_map(|name| self.parts.get(name));
        found.fold(0.0, |sum, part| sum + part.0)
    }

    fn count(&self, names: &[&str]) -> u64 {
        let found = names.iter().filter_map(|name| self.parts.get(name));
        found.fold(0, |sum, part| sum.saturating_add(part.1))
    }
}

struct Sides<'p> {
    before: Vec<Side<'p>>,
    after: Vec<Side<'p>>,
    floor: f64,
}

/// Symbols that are compared one by one: of more the largest.
const MOST_SYMBOLS: usize = 2_000;

impl Comparison {
    /// Compares. `floor` is in points; the kinds know what is no part of a name.
    ///
    /// # Errors
    /// When the profiles do not count the same.
    pub fn new<'p>(
        before: &[&'p Profile],
        after: &[&'p Profile],
        groups: &[Group],
        kinds: &Kinds,
        floor: f64,
    ) -> Result<Self, RefusedComparison> {
        let first = before.first().ok_or(RefusedComparison::Missing("before"))?;
        after.first().ok_or(RefusedComparison::Missing("after"))?;
        let all = before.iter().chain(after);
        if let Some(other) = all
            .clone()
            .find(|one| !same_unit(&one.measure, &first.measure))
        {
            return Err(RefusedComparison::Measures {
                before: first.measure.words(),
                after: other.measure.words(),
            });
        }
        let side = |all: &[&'p Profile]| all.iter().map(|one| Side::new(one)).collect();
        let sides = Sides {
            before: side(before),
            after: side(after),
            floor,
        };
        let names = sides.symbols();
        let of_group = |group: &&Group| -> Vec<&str> {
            let held = names.iter().filter(|symbol| group.holds(symbol, kinds));
            held.copied().collect()
        };
        let groups_met: Vec<(&Group, Vec<&str>)> = groups
            .iter()
            .map(|group| (group, of_group(&group)))
            .filter(|(_, names)| !names.is_empty())
            .collect();
        let level = Level::of(groups_met.len());
        let group = |(group, names): &(&Group, Vec<&str>)| sides.change(&group.name, names, level);
        let listed = sides.largest(&names);
        let level = Level::of(listed.len());
        let symbol = |name: &&str| sides.change(name, &[*name], level);
        let mut symbols: Vec<ShareChange> = listed.iter().map(symbol).collect();
        symbols.sort_by(|a, b| {
            b.difference()
                .abs()
                .total_cmp(&a.difference().abs())
                .then(a.name.cmp(&b.name))
        });
        Ok(Self {
            measure: first.measure.clone(),
            samples_before: before.iter().map(|one| one.samples.known()).collect(),
            samples_after: after.iter().map(|one| one.samples.known()).collect(),
            groups: groups_met.iter().map(group).collect(),
            symbols,
            notes: sides.notes(groups, &groups_met, &listed),
            floor,
        })
    }

    /// Whether anything was counted exactly.
    #[must_use]
    pub fn exact(&self) -> bool {
        self.measure == Measure::Instructions
    }
}

impl<'p> Sides<'p> {
    fn all(&self) -> impl Iterator<Item = &'p Profile> {
        let sides = self.before.iter().chain(&self.after);
        sides.map(|side| side.profile)
    }

    /// Each name once.
    fn symbols(&self) -> BTreeSet<&'p str> {
        let rows = self.all().flat_map(|profile| &profile.rows);
        rows.map(|row| row.symbol.as_str()).collect()
    }

    /// The names that are compared one by one: no addresses, and of very many the
    /// largest.
    fn largest(&self, names: &BTreeSet<&'p str>) -> Vec<&'p str> {
        let mut all: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| !is_unresolved(name))
            .collect();
        if all.len() > MOST_SYMBOLS {
            let sides = || self.before.iter().chain(&self.after);
            let part = |name: &str| {
                sides()
                    .map(|side| side.percent(&[name]))
                    .fold(0.0, f64::max)
            };
            all.sort_by(|a, b| part(b).total_cmp(&part(a)).then(a.cmp(b)));
            all.truncate(MOST_SYMBOLS);
        }
        all
    }

    fn change(&self, name: &str, names: &[&str], level: Level) -> ShareChange {
        let parts =
            |side: &[Side<'_>]| -> Vec<f64> { side.iter().map(|one| one.percent(names)).collect() };
        let (old, new) = (parts(&self.before), parts(&self.after));
        let (before, after) = (mean(&old), mean(&new));
        let hidden = [hidden(&self.before, names), hidden(&self.after, names)];
        let counts = self.counts(names);
        let interval = self.interval(&old, &new, level);
        let told = match (counts, interval) {
            (Some([old, new]), _) => exact(old, new),
            (None, Some(interval)) => self.told(interval, hidden),
            (None, None) => Told::Cannot,
        };
        ShareChange {
            name: name.to_owned(),
            before,
            after,
            hidden,
            counts,
            interval: interval.filter(|_| counts.is_none()),
            told,
            needed: needed(before, after, level).filter(|_| counts.is_none()),
        }
    }

    /// One profile a side: what chance does to samples. Several: what they differ by.
    fn interval(&self, old: &[f64], new: &[f64], level: Level) -> Option<Interval> {
        if let ([old], [new], [before], [after]) =
            (old, new, self.before.as_slice(), self.after.as_slice())
        {
            let samples = before.profile.weighed().zip(after.profile.weighed())?;
            return Some(interval::difference(
                (*old, samples.0),
                (*new, samples.1),
                level,
            ));
        }
        interval::means(old, new, level)
    }

    /// What rows that are not listed could change is not told.
    fn told(&self, interval: Interval, [before, after]: [f64; 2]) -> Told {
        let (low, high) = (interval.low - before, interval.high + after);
        match () {
            () if low > 0.0 => Told::Grew,
            () if high < 0.0 => Told::Shrank,
            () if !interval.includes_zero() => Told::Cannot,
            () if low >= -self.floor && high <= self.floor => Told::Equal,
            () if interval.low >= -self.floor && interval.high <= self.floor => Told::Cannot,
            () => Told::NotShown,
        }
    }

    fn counts(&self, names: &[&str]) -> Option<[u64; 2]> {
        let ([before], [after]) = (self.before.as_slice(), self.after.as_slice()) else {
            return None;
        };
        let exact = before.profile.measure == Measure::Instructions;
        exact.then(|| [before.count(names), after.count(names)])
    }

    fn notes(&self, groups: &[Group], met: &[(&Group, Vec<&str>)], listed: &[&str]) -> Vec<String> {
        let mut notes = Vec::new();
        let exact = self.all().any(|one| one.measure == Measure::Instructions);
        if !exact && self.before.len() == 1 && self.after.len() == 1 {
            notes.push(match self.all().all(|one| one.samples.known().is_some()) {
                true => "One profile a side: the intervals hold what chance does to so many samples, and not what makes one run differ from the next; give several profiles a side for that.".to_owned(),
                false => "How many samples there were is not said in both: nothing can be told of noise. perf report prints it in its head (# Samples), and a column of samples with -n.".to_owned(),
            });
        } else if !exact {
            let few = self.before.len().min(self.after.len());
            if few < 2 {
                notes.push("One side has one profile alone, so how far profiles of one kernel lie apart is not known there: nothing can be told.".to_owned());
            } else if few < 5 {
                notes.push(format!("{few} profiles on a side are few: fewer than five show only large differences, and the interval takes their shares to be normal."));
            }
        }
        if self.all().any(|one| one.partial) {
            notes.push("A profile lists only some rows: a symbol that it does not list is below its smallest row, not 0; where that could decide, nothing is told.".to_owned());
        }
        notes.extend(self.unresolved());
        notes.extend(unmatched(groups, met));
        if listed.len() == MOST_SYMBOLS {
            notes.push(format!("Of the symbols the {MOST_SYMBOLS} largest are compared one by one; groups hold all."));
        }
        if !exact {
            notes.push(
                "A share is of all that its run did: it shrinks also where other work grew."
                    .to_owned(),
            );
        }
        notes
    }

    fn unresolved(&self) -> Option<String> {
        let part = |side: &[Side<'_>]| {
            mean(
                &side
                    .iter()
                    .map(|one| one.profile.unresolved().0)
                    .collect::<Vec<f64>>(),
            )
        };
        let names: usize = self.all().map(|one| one.unresolved().1).sum();
        (names > 0).then(|| {
            format!(
                "Names that are addresses ({names} rows), {:.2} % before and {:.2} % after, are not compared: an address of one build says nothing in another.",
                part(&self.before),
                part(&self.after)
            )
        })
    }
}

fn unmatched(groups: &[Group], met: &[(&Group, Vec<&str>)]) -> Option<String> {
    let is_met = |group: &Group| met.iter().any(|(known, _)| known.name == group.name);
    let missing = groups.iter().filter(|group| group.given && !is_met(group));
    let missing: Vec<&str> = missing.map(|group| group.name.as_str()).collect();
    match (missing.as_slice(), met.is_empty()) {
        ([], false) => None,
        ([], true) => Some("No symbol of the boundary is in either side.".to_owned()),
        (missing, _) => Some(format!(
            "In neither side is any symbol of: {}.",
            missing.join(", ")
        )),
    }
}

/// The most that rows which a profile does not list can add: those that the other
/// profiles have, each no larger than the smallest that is listed.
fn hidden(side: &[Side<'_>], names: &[&str]) -> f64 {
    let most = |side: &Side<'_>| {
        let profile = side.profile;
        let missing = names
            .iter()
            .filter(|name| !side.parts.contains_key(*name))
            .count();
        let rest = (100.0 - profile.shown()).max(0.0);
        match (profile.partial, missing, profile.elided) {
            (false, _, _) | (_, 0, _) => 0.0,
            (true, _, true) => rest,
            (true, count, false) => rest.min(count as f64 * profile.smallest()),
        }
    };
    mean(&side.iter().map(most).collect::<Vec<f64>>())
}

fn exact(before: u64, after: u64) -> Told {
    match after.cmp(&before) {
        std::cmp::Ordering::Less => Told::Shrank,
        std::cmp::Ordering::Equal => Told::Equal,
        std::cmp::Ordering::Greater => Told::Grew,
    }
}

fn mean(values: &[f64]) -> f64 {
    match values.len() {
        0 => 0.0,
        count => values.iter().sum::<f64>() / count as f64,
    }
}
