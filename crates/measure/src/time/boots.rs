//! Times of several boots of two kernels: the boot is what was drawn from all that
//! could have been, and its repetitions agree better with each other than boots do.

use std::collections::BTreeSet;

use super::bootstrap::{self, Dice, Drawn, Estimate, Turns};
use super::{Fact, Floor, Host, Timing, Timings};
use crate::ranks::{drift, rank_sum, smallest_p};
use crate::sample::Workload;

/// Fewer boots a side are said to be few.
pub const FEW_BOOTS: usize = 5;

/// How often all of the differences that are called shown may hold one that is none.
pub const FALSE_ALARMS: f64 = 0.05;

/// What can be said of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootsFinding {
    /// Slower: chance seldom orders boots so, and the interval leaves 0 out.
    Slower,
    /// Faster.
    Faster,
    /// All of the interval lies within the floor on both sides of 0.
    Equal,
    /// None of them: a difference is not shown, nor that there is none.
    NotShown,
    /// So few boots cannot say anything at 5 %, whatever their times.
    TooFew,
}

/// One of the two kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// The one that is compared with.
    Before,
    /// The other.
    After,
}

/// What is odd about the boots of a workload, or its repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odd {
    /// Boots are in order of time more than chance orders them, once in 20.
    Drift(When),
    /// Boots fall into two heaps.
    TwoHeaps(When),
    /// So do the repetitions of so many boots of all.
    HeapsWithin(When, usize, usize),
}

/// A workload that not every boot measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What ran.
    pub workload: Workload,
    /// In how many boots of how many, before and after.
    pub measured: [(usize, usize); 2],
}

/// What the reader has to know of all boots.
#[derive(Clone, Debug, PartialEq)]
pub enum BootsNote {
    /// So many files are of fewer boots: files of one boot are one boot.
    FilesOfOneBoot(When, usize, usize),
    /// A file does not say which boot it is of, and is taken for one of its own.
    UnknownBoot(When),
    /// So many are few.
    FewBoots(When, usize),
    /// A boot is on both sides.
    BothSides,
    /// With so many tests p has to reach the first figure, and so few boots give at
    /// least the second.
    NothingCanBeShown(usize, f64, f64),
    /// A fact of the machines, and its values.
    Unlike(Fact, Vec<String>),
    /// In so many files other work wanted the CPUs.
    Busy(usize),
}

/// A workload, or one less another, on both sides. Timed, in nanoseconds an
/// operation.
#[derive(Clone, Debug, PartialEq)]
pub struct BootsChange {
    /// What ran.
    pub workload: Workload,
    /// What is subtracted from it, if it is.
    pub less: Option<Workload>,
    /// The median of each boot before, in the order of the files.
    pub before: Vec<f64>,
    /// After.
    pub after: Vec<f64>,
    /// The median of the boots after less that of those before, with the interval of a
    /// bootstrap over boots, then over the repetitions of each.
    pub difference: Estimate,
    /// How often chance alone puts so many boots so far apart (rank sums, exact).
    pub p: f64,
    /// `p` after Holm's correction for all workloads: what decides.
    pub corrected_p: f64,
    /// In nanoseconds: the floor's part of the median before, of the workload itself
    /// where another is subtracted.
    pub floor: f64,
    /// What is odd about the boots or the repetitions.
    pub odd: Vec<Odd>,
}

impl BootsChange {
    /// The median of the boots before.
    #[must_use]
    pub fn base(&self) -> f64 {
        bootstrap::median(&self.before).unwrap_or_default()
    }

    /// Nanoseconds as percent of the time before; none where that is not above 0.
    #[must_use]
    pub fn percent(&self, nanoseconds: f64) -> Option<f64> {
        let base = self.base();
        (base > 0.0).then(|| nanoseconds / base * 100.0)
    }

    /// Whether a difference is shown, equal within the floor or not.
    #[must_use]
    pub fn shown(&self) -> bool {
        self.corrected_p <= FALSE_ALARMS && !self.difference.includes_zero()
    }

    /// What can be said.
    #[must_use]
    pub fn finding(&self) -> BootsFinding {
        let Estimate { value, low, high } = self.difference;
        let can = smallest_p(self.before.len(), self.after.len()) <= FALSE_ALARMS;
        match () {
            () if !can => BootsFinding::TooFew,
            () if low >= -self.floor && high <= self.floor => BootsFinding::Equal,
            () if self.shown() && value > 0.0 => BootsFinding::Slower,
            () if self.shown() => BootsFinding::Faster,
            () => BootsFinding::NotShown,
        }
    }

    /// Whether it is shown to be slower by more than so many percent: the near end of
    /// the interval decides.
    #[must_use]
    pub fn slower_than(&self, percent: f64) -> bool {
        let near = self.percent(self.difference.low);
        let can = self.finding() != BootsFinding::TooFew;
        can && self.shown() && near.is_some_and(|near| near > percent)
    }
}

/// Several boots of two kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Boots {
    /// The kernels before, each once, as they name themselves.
    pub kernels_before: Vec<String>,
    /// After.
    pub kernels_after: Vec<String>,
    /// Boots before and after.
    pub boots: [usize; 2],
    /// How far alike kernels may lie apart.
    pub floor: Floor,
    /// What both sides measured in every boot.
    pub changes: Vec<BootsChange>,
    /// What is not in every boot.
    pub left_out: Vec<Missing>,
    /// What the reader has to know.
    pub notes: Vec<BootsNote>,
}

/// The files of one boot: their repetitions are put together.
struct Boot<'t> {
    files: Vec<&'t Timings>,
}

impl Boots {
    /// Compares the runs of several boots, in the order in which they were made.
    #[must_use]
    pub fn new(before: &[Timings], after: &[Timings], floor: Floor) -> Self {
        let sides = [boots(before), boots(after)];
        let all = || before.iter().chain(after);
        let mut workloads: Vec<(Workload, Option<Workload>)> = Vec::new();
        for timing in all().flat_map(|timings| &timings.timings) {
            let key = (timing.workload.clone(), None);
            if !workloads.contains(&key) {
                workloads.push(key);
            }
        }
        let nets: Vec<_> = all()
            .flat_map(|timings| timings.timings.iter())
            .filter_map(|timing| Some((timing.workload.clone(), Some(timing.less.clone()?))))
            .collect();
        for net in nets {
            if !workloads.contains(&net) {
                workloads.push(net);
            }
        }
        let mut left_out = Vec::new();
        let mut changes = Vec::new();
        for (workload, less) in &workloads {
            match change(&sides, workload, less.as_ref(), floor) {
                Some(change) => changes.push(change),
                None if less.is_none() => left_out.push(missing(&sides, workload)),
                None => {}
            }
        }
        correct(&mut changes);
        let kernels = |side: &[Timings]| -> Vec<String> {
            let names: BTreeSet<&str> = side.iter().map(|one| one.host.kernel.as_str()).collect();
            names.into_iter().map(str::to_owned).collect()
        };
        Self {
            kernels_before: kernels(before),
            kernels_after: kernels(after),
            boots: sides.each_ref().map(Vec::len),
            floor,
            notes: notes(before, after, &sides, changes.len()),
            changes,
            left_out,
        }
    }

    /// 1 where a workload is shown to be slower beyond `fail_above` percent; else 2
    /// where nothing was compared, or of a workload it is neither shown that it
    /// changed nor that it did not; else 0.
    #[must_use]
    pub fn exit_code(&self, fail_above: Option<f64>) -> u8 {
        let slower = |change: &BootsChange| match fail_above {
            Some(percent) => change.slower_than(percent),
            None => change.finding() == BootsFinding::Slower,
        };
        let open = |change: &BootsChange| match (change.finding(), fail_above) {
            (BootsFinding::TooFew, _) => true,
            // What is asked is whether it got slower by so much: the far end answers.
            (_, Some(percent)) => {
                let far = change.percent(change.difference.high);
                !slower(change)
                    && far.is_none_or(|far| far > percent)
                    && change.finding() != BootsFinding::Equal
            }
            (finding, None) => finding == BootsFinding::NotShown,
        };
        match () {
            () if self.changes.iter().any(slower) => 1,
            () if self.changes.is_empty() || self.changes.iter().any(open) => 2,
            () => 0,
        }
    }
}

/// By the kernel's boot_id; a file that has none is a boot of its own.
fn boots(side: &[Timings]) -> Vec<Boot<'_>> {
    let mut all: Vec<Boot<'_>> = Vec::new();
    for timings in side {
        let id = |boot: &&mut Boot<'_>| {
            let known = boot.files.first().and_then(|file| file.host.boot.as_ref());
            known.is_some() && known == timings.host.boot.as_ref()
        };
        match all.iter_mut().find(id) {
            Some(boot) => boot.files.push(timings),
            None => all.push(Boot {
                files: vec![timings],
            }),
        }
    }
    all
}

impl Boot<'_> {
    fn timings(&self, workload: &Workload) -> Vec<&Timing> {
        let all = self.files.iter().flat_map(|file| &file.timings);
        all.filter(|timing| timing.workload == *workload && !timing.nanoseconds.is_empty())
            .collect()
    }

    fn values(&self, workload: &Workload) -> Option<Vec<f64>> {
        let found = self.timings(workload);
        let values: Vec<f64> = found
            .iter()
            .flat_map(|timing| timing.per_operation())
            .collect();
        (!values.is_empty()).then_some(values)
    }

    fn turns(&self, workload: &Workload, less: Option<&Workload>) -> Option<Turns> {
        let values = self.values(workload)?;
        match less {
            Some(less) => Some(Turns::new(values, Some(self.values(less)?))),
            None => Some(Turns::new(values, None)),
        }
    }
}

/// None where a boot of either side has it not.
fn change(
    sides: &[Vec<Boot<'_>>; 2],
    workload: &Workload,
    less: Option<&Workload>,
    floor: Floor,
) -> Option<BootsChange> {
    let turns = |side: &[Boot<'_>]| -> Option<Vec<Turns>> {
        side.iter().map(|boot| boot.turns(workload, less)).collect()
    };
    let [before_boots, after_boots] = sides;
    let (old, new) = (turns(before_boots)?, turns(after_boots)?);
    let medians = |side: &[Turns]| -> Option<Vec<f64>> { side.iter().map(Turns::value).collect() };
    let (before, after) = (medians(&old)?, medians(&new)?);
    let own: Option<Vec<f64>> = before_boots
        .iter()
        .map(|boot| bootstrap::median(&boot.values(workload)?))
        .collect();
    let difference = bootstrap::median(&after)? - bootstrap::median(&before)?;
    let mut odd = odd_boots(When::Before, &before);
    odd.extend(odd_boots(When::After, &after));
    odd.extend(odd_repetitions(sides, workload).filter(|_| less.is_none()));
    Some(BootsChange {
        workload: workload.clone(),
        less: less.cloned(),
        difference: interval(difference, &old, &new)?,
        p: rank_sum(&before, &after),
        corrected_p: 1.0,
        floor: floor.of(bootstrap::median(&own?)?),
        before,
        after,
        odd,
    })
}

/// Repetitions above which fewer draws have to do.
const MANY: usize = 4_000;

/// Boots are drawn anew, then the repetitions of each.
fn interval(value: f64, old: &[Turns], new: &[Turns]) -> Option<Estimate> {
    let all: usize = old.iter().chain(new).map(Turns::len).sum();
    let resamples = (bootstrap::RESAMPLES * MANY / all.max(MANY)).max(1_000);
    let mut dice = Dice::new(bootstrap::SEED);
    let mut drawn = Drawn::default();
    let mut side = |boots: &[Turns]| -> Option<f64> {
        let mut medians = Vec::with_capacity(boots.len());
        for _ in 0..boots.len() {
            let boot = boots.get(dice.below(boots.len()))?;
            medians.push(boot.resampled(&mut dice, &mut drawn)?);
        }
        bootstrap::median(&medians)
    };
    let draw = || Some(side(new)? - side(old)?);
    bootstrap::estimate_of(value, resamples, draw)
}

/// Holm 1979: the smallest p counts as often as there are tests, the next once less;
/// none counts for less than one before it.
fn correct(changes: &mut [BootsChange]) {
    let mut order: Vec<&mut BootsChange> = changes.iter_mut().collect();
    order.sort_by(|a, b| a.p.total_cmp(&b.p));
    let (all, mut least) = (order.len(), 0.0_f64);
    for (done, change) in order.into_iter().enumerate() {
        least = least.max(change.p * (all - done) as f64).min(1.0);
        change.corrected_p = least;
    }
}

fn odd_boots(side: When, medians: &[f64]) -> Vec<Odd> {
    let drifts = medians.len() >= FEW_BOOTS && drift(medians) < 0.05;
    let drifts = drifts.then_some(Odd::Drift(side));
    let heaps = has_gap(medians).then_some(Odd::TwoHeaps(side));
    drifts.into_iter().chain(heaps).collect()
}

/// Whether values fall into two heaps of at least two that lie farther apart than
/// twice what either spreads. Of six values of a bell so few that it is seldom.
fn has_gap(values: &[f64]) -> bool {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let spread = |part: &[f64]| match (part.first(), part.last()) {
        (Some(first), Some(last)) => last - first,
        _ => 0.0,
    };
    let apart = |at: usize| {
        let (low, high) = sorted.split_at(at);
        let gap = high
            .first()
            .zip(low.last())
            .map_or(0.0, |(high, low)| high - low);
        gap > 2.0 * spread(low).max(spread(high)) && gap > 0.0
    };
    sorted.len() >= 6 && (2..=sorted.len() - 2).any(apart)
}

/// Repetitions of most boots that fall into two heaps.
fn odd_repetitions<'a>(
    sides: &'a [Vec<Boot<'_>>; 2],
    workload: &'a Workload,
) -> impl Iterator<Item = Odd> + use<'a> {
    let named = [When::Before, When::After].into_iter().zip(sides);
    named.filter_map(move |(when, side)| {
        let values = side.iter().filter_map(|boot| boot.values(workload));
        let humped = values.filter(|values| has_humps(values)).count();
        (humped * 2 > side.len()).then_some(Odd::HeapsWithin(when, humped, side.len()))
    })
}

/// Two heaps of a sixth of the values or more each, whose middles lie four of their
/// deviations apart (Ashman's D, 1994; a bell cut in two has 2.7).
fn has_humps(values: &[f64]) -> bool {
    const FEWEST: usize = 20;
    const APART: f64 = 4.0;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let least = (sorted.len() / 6).max(2);
    if sorted.len() < FEWEST {
        return false;
    }
    let moments = |part: &[f64]| {
        let count = part.len() as f64;
        let mean = part.iter().sum::<f64>() / count;
        (
            mean,
            part.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count,
        )
    };
    (least..=sorted.len() - least).any(|at| {
        let (low, high) = sorted.split_at(at);
        let ((low, low_spread), (high, high_spread)) = (moments(low), moments(high));
        let spread = ((low_spread + high_spread) / 2.0).sqrt();
        high - low > APART * spread && high > low
    })
}

fn missing(sides: &[Vec<Boot<'_>>; 2], workload: &Workload) -> Missing {
    Missing {
        workload: workload.clone(),
        measured: sides.each_ref().map(|side| {
            let has = side.iter().filter_map(|boot| boot.values(workload));
            (has.count(), side.len())
        }),
    }
}

fn notes(
    before: &[Timings],
    after: &[Timings],
    sides: &[Vec<Boot<'_>>; 2],
    tests: usize,
) -> Vec<BootsNote> {
    let [old, new] = sides;
    let mut notes = of_side(When::Before, before, old.len());
    notes.extend(of_side(When::After, after, new.len()));
    let ids = |side: &[Timings]| -> BTreeSet<String> {
        side.iter()
            .filter_map(|one| one.host.boot.clone())
            .collect()
    };
    if ids(before).intersection(&ids(after)).next().is_some() {
        notes.push(BootsNote::BothSides);
    }
    let least = smallest_p(old.len(), new.len());
    let wanted = FALSE_ALARMS / tests.max(1) as f64;
    if least > wanted && least <= FALSE_ALARMS {
        notes.push(BootsNote::NothingCanBeShown(tests, wanted, least));
    }
    notes.extend(unlike(before.iter().chain(after).map(|one| &one.host)));
    notes
}

fn of_side(when: When, files: &[Timings], boots: usize) -> Vec<BootsNote> {
    let mut notes = Vec::new();
    if boots < files.len() {
        notes.push(BootsNote::FilesOfOneBoot(when, files.len(), boots));
    }
    if files.iter().any(|file| file.host.boot.is_none()) {
        notes.push(BootsNote::UnknownBoot(when));
    }
    if boots < FEW_BOOTS {
        notes.push(BootsNote::FewBoots(when, boots));
    }
    notes
}

/// What should be the same in all files and is not.
fn unlike<'h>(hosts: impl Iterator<Item = &'h Host> + Clone) -> Vec<BootsNote> {
    let fact = |what: Fact, of: &dyn Fn(&Host) -> String| {
        let all: BTreeSet<String> = hosts.clone().map(of).collect();
        (all.len() > 1).then(|| BootsNote::Unlike(what, all.into_iter().collect()))
    };
    let facts = [
        fact(Fact::Cpu, &|host| host.cpu.clone()),
        fact(Fact::Cpus, &|host| host.cpus.to_string()),
        fact(Fact::Pinned, &|host| {
            host.pinned
                .map_or_else(|| "any".to_owned(), |cpu| cpu.to_string())
        }),
        fact(Fact::Governor, &|host| {
            host.governor
                .clone()
                .unwrap_or_else(|| "unknown".to_owned())
        }),
        fact(Fact::Compiler, &|host| host.compiler.clone()),
        fact(Fact::Tollgate, &|host| host.tollgate.clone()),
    ];
    let paces = (0..super::host::paces(&Host::default()).len()).filter_map(|index| {
        let of = |host: &Host| super::host::paces(host).into_iter().nth(index);
        let all: BTreeSet<(Fact, String)> = hosts.clone().filter_map(of).collect();
        let what = all.first()?.0;
        let all: Vec<String> = all.into_iter().map(|(_, text)| text).collect();
        (all.len() > 1).then_some(BootsNote::Unlike(what, all))
    });
    let busy = hosts.clone().filter(|host| host.busy()).count();
    let busy = (busy > 0).then_some(BootsNote::Busy(busy));
    facts
        .into_iter()
        .flatten()
        .chain(paces)
        .chain(busy)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::Rounds;
    use super::*;

    /// Boots about 1,000 ns that lie up to 2 % apart, each with repetitions that agree
    /// within 0.2 %.
    fn side(boots: usize, seed: u64, by: f64) -> Vec<Timings> {
        let mut dice = Dice::new(seed);
        (0..boots)
            .map(|number| boot(number, &mut dice, by))
            .collect()
    }

    fn boot(number: usize, dice: &mut Dice, by: f64) -> Timings {
        let middle = (1_000.0 + dice.below(20) as f64) * by;
        let times = (0..12).map(|_| (middle * 10.0) as u64 + dice.below(20) as u64);
        let timing = |name: &str, nanoseconds: Vec<u64>| Timing {
            workload: Workload {
                benchmark: name.to_owned(),
                ..Workload::default()
            },
            per: "call".to_owned(),
            less: None,
            operations: 10,
            nanoseconds,
        };
        Timings {
            host: Host {
                boot: Some(format!("{by}-{number}-{middle}")),
                cpus: 2,
                ..Host::default()
            },
            rounds: Rounds::default(),
            timings: vec![timing("poll", times.collect())],
            not_run: Vec::new(),
        }
    }

    fn floor(percent: &str) -> Floor {
        percent.parse().unwrap()
    }

    #[test]
    fn a_difference_between_boots_is_shown_and_what_is_within_is_not() {
        let finding = |by: f64, percent: &str| {
            let found = Boots::new(&side(8, 1, 1.0), &side(8, 2, by), floor(percent));
            assert_eq!(found.boots, [8, 8]);
            found.changes[0].finding()
        };
        assert_eq!(finding(1.05, "1"), BootsFinding::Slower);
        assert_eq!(finding(0.95, "1"), BootsFinding::Faster);
        assert_eq!(finding(1.0, "5"), BootsFinding::Equal);
        assert_eq!(finding(1.0, "0"), BootsFinding::NotShown);
        // Shown, and still equal within so wide a floor.
        assert_eq!(finding(1.05, "10"), BootsFinding::Equal);
    }

    #[test]
    fn the_exit_code_tells_a_regression_from_what_is_not_known() {
        let code = |by: f64, percent: &str, fail: Option<f64>, boots: usize| {
            Boots::new(&side(boots, 1, 1.0), &side(boots, 2, by), floor(percent)).exit_code(fail)
        };
        assert_eq!(code(1.05, "1", None, 8), 1);
        assert_eq!(code(1.05, "1", Some(2.0), 8), 1);
        assert_eq!(code(1.05, "1", Some(20.0), 8), 0);
        assert_eq!(code(0.95, "1", None, 8), 0);
        assert_eq!(code(1.0, "5", None, 8), 0);
        assert_eq!(code(1.0, "0", None, 8), 2);
        assert_eq!(code(1.5, "1", None, 3), 2, "three boots say nothing at 5 %");
        assert_eq!(Boots::new(&[], &[], floor("1")).exit_code(None), 2);
    }

    /// Repetitions that agree within one boot do not make one boot many.
    #[test]
    fn files_of_one_boot_are_one_boot() {
        let mut before = side(8, 1, 1.0);
        let id = before[0].host.boot.clone();
        before
            .iter_mut()
            .for_each(|one| one.host.boot.clone_from(&id));
        let found = Boots::new(&before, &side(8, 2, 1.5), floor("1"));
        assert_eq!(found.boots, [1, 8]);
        assert_eq!(found.changes[0].finding(), BootsFinding::TooFew);
        let notes = [
            BootsNote::FilesOfOneBoot(When::Before, 8, 1),
            BootsNote::FewBoots(When::Before, 1),
        ];
        assert_eq!(found.notes, notes);
    }

    #[test]
    fn many_benchmarks_are_corrected_for() {
        let p = |p: f64| BootsChange {
            p,
            ..Boots::new(&side(8, 1, 1.0), &side(8, 2, 1.05), floor("1"))
                .changes
                .remove(0)
        };
        let mut all = vec![p(0.04), p(0.001), p(0.02)];
        correct(&mut all);
        let shown: Vec<bool> = all.iter().map(BootsChange::shown).collect();
        assert_eq!(
            shown,
            [true, true, true],
            "0.001 of 3, 0.02 of 2, 0.04 of 1"
        );
        let mut all = vec![p(0.04), p(0.02), p(0.03)];
        correct(&mut all);
        assert!(
            all.iter().all(|one| !one.shown()),
            "0.02 is above a third of 5 %"
        );
    }

    #[test]
    fn drift_and_humps_are_said() {
        let rising: Vec<f64> = (0..6).map(|n| 100.0 + f64::from(n)).collect();
        assert_eq!(odd_boots(When::After, &rising), [Odd::Drift(When::After)]);
        assert!(has_gap(&[1.0, 1.1, 1.05, 2.0, 2.1, 2.05]));
        assert!(!has_gap(&[1.0, 1.1, 1.2, 1.3, 1.4, 1.5]));
        let two = |n: u32| f64::from(n % 10) + if n.is_multiple_of(2) { 100.0 } else { 200.0 };
        assert!(has_humps(&(0..30).map(two).collect::<Vec<f64>>()));
        assert!(!has_humps(&(0..30).map(f64::from).collect::<Vec<f64>>()));
        assert!(!has_humps(&[5.0; 30]));
    }

    #[test]
    fn what_not_all_boots_measured_is_named() {
        let mut before = side(5, 1, 1.0);
        before[2].timings.clear();
        let found = Boots::new(&before, &side(5, 2, 1.0), floor("1"));
        assert!(found.changes.is_empty());
        let missing = Missing {
            workload: before[0].timings[0].workload.clone(),
            measured: [(4, 5), (5, 5)],
        };
        assert_eq!(found.left_out, [missing]);
    }
}
