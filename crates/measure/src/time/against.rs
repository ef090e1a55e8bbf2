//! Times against those of an earlier run: of another kernel, booted before.

use super::bootstrap::{self, Estimate, Turns};
use super::{Fact, Floor, Host, Timing, Timings};
use crate::sample::Workload;

/// What a workload's time did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeFinding {
    /// The interval of the difference lies above the floor.
    Slower,
    /// It lies below the floor's negative.
    Faster,
    /// It leaves 0 out, but its near end is no farther from it than the floor.
    WithinFloor,
    /// It includes 0.
    NotSeen,
}

/// A workload, or one less another, in both runs. Timed, in nanoseconds an
/// operation.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeChange {
    /// What ran.
    pub workload: Workload,
    /// What is subtracted from it in both runs, if it is.
    pub less: Option<Workload>,
    /// The median of the earlier run, or the difference of two.
    pub before: f64,
    /// That of this run.
    pub after: f64,
    /// This run's less the earlier one's. The runs did not take turns.
    pub difference: Estimate,
    /// What the near end of the interval has to pass: the floor's part of the
    /// workload's own earlier median, also where another is subtracted. What
    /// drifts is what was measured, and a difference of two may be 0.
    pub floor: f64,
}

impl TimeChange {
    /// What the time did. The near end of the interval decides, not the median: it
    /// is the least that the difference can well be, and a wide interval about a
    /// large median does not say that the floor is passed.
    #[must_use]
    pub fn change(&self) -> TimeFinding {
        match self.difference {
            estimate if estimate.includes_zero() => TimeFinding::NotSeen,
            Estimate { low, .. } if low > self.floor => TimeFinding::Slower,
            Estimate { high, .. } if high < -self.floor => TimeFinding::Faster,
            _ => TimeFinding::WithinFloor,
        }
    }

    /// Nanoseconds as percent of the earlier time; none where that is not above 0.
    #[must_use]
    pub fn percent(&self, nanoseconds: f64) -> Option<f64> {
        (self.before > 0.0).then(|| nanoseconds / self.before * 100.0)
    }
}

/// A run against an earlier one.
#[derive(Clone, Debug, PartialEq)]
pub struct Against {
    /// What the earlier one was measured on.
    pub host: Host,
    /// How far alike runs may lie apart.
    pub floor: Floor,
    /// What both measured, in the order of this run; benchmarks less others last.
    pub changes: Vec<TimeChange>,
    /// What only the earlier one measured.
    pub only_before: Vec<Workload>,
    /// What only this one measured.
    pub only_after: Vec<Workload>,
    /// What else than the kernel and the load is not the same, in sentences.
    pub unlike: Vec<Unlike>,
    /// Whether both are of one boot of one kernel; none where a run does not say.
    pub same_boot: Option<bool>,
}

impl Against {
    /// Compares `after` with `before`; what is no larger than `floor` does not count.
    #[must_use]
    pub fn new(before: &Timings, after: &Timings, floor: Floor) -> Self {
        let boots = before.host.boot.as_ref().zip(after.host.boot.as_ref());
        let rows = after.timings.iter().map(|row| (row, None));
        let nets = after.nets().map(|net| (net.row, Some(net.less)));
        let pairs = rows.chain(nets);
        Self {
            floor,
            changes: pairs
                .filter_map(|(row, less)| change(before, row, less, floor))
                .collect(),
            only_before: only(before, after),
            only_after: only(after, before),
            unlike: unlike(before, after),
            same_boot: boots.map(|(before, after)| before == after),
            host: before.host.clone(),
        }
    }

    /// Those that got slower, beyond the floor.
    pub fn slower(&self) -> impl Iterator<Item = &TimeChange> {
        self.that(TimeFinding::Slower)
    }

    /// Those of which the time did `what`.
    pub fn that(&self, what: TimeFinding) -> impl Iterator<Item = &TimeChange> {
        let all = self.changes.iter();
        all.filter(move |change| change.change() == what)
    }
}

/// A row of this run, less another of it, against the same of the earlier run.
fn change(
    before: &Timings,
    row: &Timing,
    less: Option<&Timing>,
    floor: Floor,
) -> Option<TimeChange> {
    let old_row = find(before, &row.workload)?;
    let old_less = match less {
        Some(less) => Some(find(before, &less.workload)?),
        None => None,
    };
    let turns = |row: &Timing, less: Option<&Timing>| {
        Turns::new(row.per_operation(), less.map(Timing::per_operation))
    };
    let (old, new) = (turns(old_row, old_less), turns(row, less));
    Some(TimeChange {
        workload: row.workload.clone(),
        less: less.map(|less| less.workload.clone()),
        before: old.value()?,
        after: new.value()?,
        difference: bootstrap::of_runs(&new, &old)?,
        floor: floor.of(bootstrap::median(&old_row.per_operation())?),
    })
}

fn find<'a>(timings: &'a Timings, workload: &Workload) -> Option<&'a Timing> {
    let mut all = timings.timings.iter();
    all.find(|timing| timing.workload == *workload && !timing.nanoseconds.is_empty())
}

fn only(these: &Timings, those: &Timings) -> Vec<Workload> {
    let workloads = these.timings.iter().map(|timing| &timing.workload);
    workloads
        .filter(|workload| find(those, workload).is_none())
        .cloned()
        .collect()
}

/// A fact of the machine that is another one than in the earlier run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlike {
    /// Which.
    pub fact: Fact,
    /// As it was.
    pub before: String,
    /// As it is.
    pub after: String,
}

/// A machine that is another one makes the difference say something else.
fn unlike(before: &Timings, after: &Timings) -> Vec<Unlike> {
    let (old, new) = (&before.host, &after.host);
    let some = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let cpu = |cpu: Option<usize>| cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
    let bytes = |host: &Host| {
        let all = host.contexts.iter();
        let all: Vec<String> = all.map(|context| context.bytes.to_string()).collect();
        all.join(", ")
    };
    let pairs = [
        (Fact::Cpu, old.cpu.clone(), new.cpu.clone()),
        (Fact::Flags, old.features.join(" "), new.features.join(" ")),
        (Fact::Cpus, old.cpus.to_string(), new.cpus.to_string()),
        (Fact::Pinned, cpu(old.pinned), cpu(new.pinned)),
        (Fact::Governor, some(&old.governor), some(&new.governor)),
        (Fact::Context, bytes(old), bytes(new)),
        (Fact::Arch, old.arch.clone(), new.arch.clone()),
        (Fact::Compiler, old.compiler.clone(), new.compiler.clone()),
        (Fact::Tollgate, old.tollgate.clone(), new.tollgate.clone()),
    ];
    let paces = super::host::paces(old)
        .into_iter()
        .zip(super::host::paces(new));
    let paces = paces.map(|((fact, old), (_, new))| (fact, old, new));
    let differ = pairs
        .into_iter()
        .chain(paces)
        .filter(|(_, old, new)| old != new);
    differ
        .map(|(fact, before, after)| Unlike {
            fact,
            before,
            after,
        })
        .collect()
}
