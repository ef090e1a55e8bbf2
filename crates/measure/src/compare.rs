//! Two runs in, a comparison out.

use std::collections::BTreeSet;
use tollgate_defect::answer;

use crate::behaviour::Behaviour;
use crate::boot::BootResult;
use crate::comparison::{
    Comparison, FunctionComparison, Note, Repeat, RepeatDifference, Side, UnitCount,
    WorkloadComparison,
};
use crate::context::Context;
use crate::measured::Measured;
use crate::sample::Workload;
use crate::setting::{Benchmark, ImageName, Setting};
use crate::verdict::Verdict;

/// An image and what its boot gave.
#[derive(Clone, Debug)]
pub struct Booted<'a> {
    /// Which.
    pub image: ImageName,
    /// What its boot gave.
    pub run: &'a BootResult,
}

impl Comparison {
    /// Compares image A with image B over `benchmarks`, and A with a second run
    /// of itself where there is one.
    #[must_use]
    pub fn new(
        setting: Setting,
        benchmarks: &[Benchmark],
        before: Booted<'_>,
        again: Option<&BootResult>,
        after: Booted<'_>,
    ) -> Self {
        let runs = [
            (Side::Image(before.image.letter), Some(before.run)),
            (Side::Again(before.image.letter), again),
            (Side::Image(after.image.letter), Some(after.run)),
        ];
        let ran = || runs.iter().filter_map(|(side, run)| Some((*side, (*run)?)));
        // A guest skips no phase of a program: who lacks one has none by its nature.
        let lacked = |one: &Benchmark| one.whole && ran().any(|(_, run)| skips(run, one));
        let skipped = |one: &Benchmark| ran().all(|(_, run)| skips(run, one));
        let wanted = |one: &&Benchmark| !lacked(one) && !skipped(one);
        let wanted: Vec<_> = benchmarks.iter().filter(wanted).collect();
        let notes = ran().flat_map(|(side, run)| notes_of(side, run, benchmarks, &wanted));
        let notes: Vec<_> = notes.collect();
        let contexts = Context::all(&before.run.points);
        let compare = |benchmark| workload(benchmark, before.run, after.run, &contexts);
        let workloads: Vec<_> = benchmarks.iter().filter_map(compare).collect();
        let mut comparison = Self {
            verdict: Verdict::Incomplete,
            repeat: again.map(|again| repeat(benchmarks, before.run, again)),
            behaviour: behaviour(before.run, after.run),
            contexts,
            setting,
            before: before.image,
            after: after.image,
            workloads,
            notes,
        };
        comparison.notes.extend(notes_on(&comparison, benchmarks));
        comparison.verdict = Verdict::of(&comparison);
        comparison
    }
}

/// Both boots are of one guest, which says of each what its points show.
fn behaviour(before: &BootResult, after: &BootResult) -> Behaviour {
    let both = Behaviour::compare(&before.points, &after.points);
    let layouts: Vec<_> = [&before.layouts[..], &after.layouts].concat();
    both.laid_out(&layouts)
}

fn measured(run: &BootResult, workload: &Workload) -> Option<Measured> {
    Measured::of(
        run.samples
            .iter()
            .filter(|sample| sample.workload == *workload),
    )
}

/// The benchmark on both images, when both counted it.
fn workload(
    benchmark: &Benchmark,
    before: &BootResult,
    after: &BootResult,
    contexts: &[Context],
) -> Option<WorkloadComparison> {
    let before = measured(before, &benchmark.workload)?;
    let after = measured(after, &benchmark.workload)?;
    Some(WorkloadComparison {
        workload: benchmark.workload.clone(),
        control: benchmark.control,
        unit: unit(benchmark),
        less: benchmark.less.clone(),
        whole: benchmark.whole,
        context_bytes: Context::of(contexts, &benchmark.workload),
        functions: FunctionComparison::all(&before, &after),
        before,
        after,
    })
}

fn unit(benchmark: &Benchmark) -> Option<UnitCount> {
    let unit = benchmark.unit.as_ref()?;
    let per_call = match &unit.parameter {
        None => 1,
        Some(parameter) => {
            let parameters = &benchmark.workload.parameters;
            let (_, value) = parameters.iter().find(|(name, _)| name == parameter)?;
            answer::fits::<u64, _>(*value).filter(|value| *value > 0)?
        }
    };
    Some(UnitCount {
        name: unit.name.clone(),
        per_call,
    })
}

fn repeat(benchmarks: &[Benchmark], first: &BootResult, second: &BootResult) -> Repeat {
    let both = |benchmark: &Benchmark| {
        let workload = benchmark.workload.clone();
        Some((
            measured(first, &workload)?,
            measured(second, &workload)?,
            workload,
        ))
    };
    let both: Vec<_> = benchmarks.iter().filter_map(both).collect();
    let moved = both
        .iter()
        .filter_map(|(first, second, workload)| difference(first, second, workload.clone()));
    Repeat {
        workloads: both.len(),
        moved: moved.collect(),
        behaviour: Behaviour::compare(&first.points, &second.points),
    }
}

/// Exact counts must be the same in every respect; of medians the ranges have
/// to touch.
fn difference(first: &Measured, second: &Measured, workload: Workload) -> Option<RepeatDifference> {
    let exact = first.repetitions.exact() && second.repetitions.exact();
    let same = match exact {
        true => {
            first.kernel == second.kernel
                && first.user == second.user
                && first.functions == second.functions
                && first.tallies == second.tallies
        }
        false => first.moved_to(second).is_eq(),
    };
    (!same).then_some(RepeatDifference {
        workload,
        operations: first.operations,
        first: first.kernel,
        second: second.kernel,
        first_user: first.user,
        second_user: second.user,
    })
}

fn skips(run: &BootResult, benchmark: &Benchmark) -> bool {
    let job = format!("bench {}", benchmark.workload);
    run.skips.iter().any(|skip| skip.job == job)
}

/// What one run has to say of itself; `wanted` are the benchmarks that not
/// every run skipped.
fn notes_of(
    side: Side,
    run: &BootResult,
    benchmarks: &[Benchmark],
    wanted: &[&Benchmark],
) -> Vec<Note> {
    let counted: BTreeSet<_> = run.samples.iter().map(|sample| &sample.workload).collect();
    let planned: BTreeSet<_> = benchmarks
        .iter()
        .map(|benchmark| &benchmark.workload)
        .collect();
    let skips = run.skips.iter().map(|skip| Note::Skipped {
        side,
        skip: skip.clone(),
    });
    let errors = run.errors.iter().map(|text| Note::Failed {
        side,
        text: text.clone(),
    });
    let missing = wanted.iter().map(|benchmark| &benchmark.workload);
    let missing = missing.filter(|workload| measured(run, workload).is_none());
    let missing = missing.map(|workload| Note::Missing {
        side,
        workload: workload.clone(),
    });
    let unplanned = counted.difference(&planned);
    let unplanned = unplanned.map(|workload| Note::Unplanned {
        side,
        workload: (*workload).clone(),
    });
    let differing = (run.differing > 0).then_some(Note::Differing {
        side,
        boots: run.differing,
    });
    skips
        .chain(errors)
        .chain(differing)
        .chain(missing)
        .chain(unplanned)
        .collect()
}

/// What the comparison as a whole lacks or shows beside its figures.
fn notes_on(comparison: &Comparison, benchmarks: &[Benchmark]) -> Vec<Note> {
    let no_unit = benchmarks
        .iter()
        .filter(|benchmark| unit(benchmark).is_none());
    let no_unit = no_unit.filter_map(|benchmark| {
        let parameter = benchmark.unit.as_ref()?.parameter.clone()?;
        Some(Note::NoUnit {
            workload: benchmark.workload.clone(),
            parameter,
        })
    });
    let user = comparison
        .workloads
        .iter()
        .filter(|row| !row.whole && row.exact() && row.before.user != row.after.user);
    let user = user.map(|row| Note::UserMoved {
        workload: row.workload.clone(),
        before: row.before.user,
        after: row.after.user,
    });
    let control = comparison.workloads.iter().any(|row| row.control);
    let lacks = [
        (!control).then_some(Note::NoControl),
        comparison.repeat.is_none().then_some(Note::NotRepeated),
        (comparison.behaviour.points == 0).then_some(Note::NoPoints),
    ];
    no_unit
        .chain(user)
        .chain(lacks.into_iter().flatten())
        .collect()
}

#[cfg(test)]
pub(crate) mod tests;
