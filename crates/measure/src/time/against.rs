//! Times against those of an earlier run: of another kernel, booted before.

use super::bootstrap::{self, Estimate, Turns};
use super::{Host, Timing, Timings};
use crate::sample::Workload;

/// What a workload's time did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The interval of the difference lies above 0.
    Slower,
    /// It lies below.
    Faster,
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
}

impl TimeChange {
    /// What the time did.
    #[must_use]
    pub fn change(&self) -> Change {
        match self.difference {
            Estimate { low, .. } if low > 0.0 => Change::Slower,
            Estimate { high, .. } if high < 0.0 => Change::Faster,
            _ => Change::NotSeen,
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
    /// What both measured, in the order of this run; benchmarks less others last.
    pub changes: Vec<TimeChange>,
    /// What only the earlier one measured.
    pub only_before: Vec<Workload>,
    /// What only this one measured.
    pub only_after: Vec<Workload>,
    /// What else than the kernel and the load is not the same, in sentences.
    pub unlike: Vec<String>,
    /// Whether both are of one boot of one kernel; none where a run does not say.
    pub same_boot: Option<bool>,
}

impl Against {
    /// Compares `after` with `before`.
    #[must_use]
    pub fn new(before: &Timings, after: &Timings) -> Self {
        let boots = before.host.boot.as_ref().zip(after.host.boot.as_ref());
        let single = after.timings.iter().filter_map(|row| single(before, row));
        let nets = after
            .nets()
            .filter_map(|net| change(before, net.row, Some(net.less)));
        Self {
            changes: single.chain(nets).collect(),
            only_before: only(before, after),
            only_after: only(after, before),
            unlike: unlike(before, after),
            same_boot: boots.map(|(before, after)| before == after),
            host: before.host.clone(),
        }
    }

    /// Those that got slower.
    pub fn slower(&self) -> impl Iterator<Item = &TimeChange> {
        let all = self.changes.iter();
        all.filter(|change| change.change() == Change::Slower)
    }
}

fn single(before: &Timings, row: &Timing) -> Option<TimeChange> {
    change(before, row, None)
}

/// A row of this run, less another of it, against the same of the earlier run.
fn change(before: &Timings, row: &Timing, less: Option<&Timing>) -> Option<TimeChange> {
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

/// A machine that is another one makes the difference say something else.
fn unlike(before: &Timings, after: &Timings) -> Vec<String> {
    let (old, new) = (&before.host, &after.host);
    let some = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let cpu = |cpu: Option<usize>| cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
    let bytes = |host: &Host| {
        let all = host.contexts.iter();
        let all: Vec<String> = all.map(|context| context.bytes.to_string()).collect();
        all.join(", ")
    };
    let pairs = [
        ("CPU", old.cpu.clone(), new.cpu.clone()),
        ("CPU flags", old.features.join(" "), new.features.join(" ")),
        ("number of CPUs", old.cpus.to_string(), new.cpus.to_string()),
        ("CPU that it stayed on", cpu(old.pinned), cpu(new.pinned)),
        (
            "frequency governor",
            some(&old.governor),
            some(&new.governor),
        ),
        ("bytes of FPU context", bytes(old), bytes(new)),
        ("architecture", old.arch.clone(), new.arch.clone()),
        ("compiler", old.compiler.clone(), new.compiler.clone()),
        ("tollgate", old.tollgate.clone(), new.tollgate.clone()),
    ];
    let differ = pairs.iter().filter(|(_, old, new)| old != new);
    differ
        .map(|(what, old, new)| format!("{what}: {old} before, {new} now"))
        .collect()
}
