//! What the variable that takes the results held before the run, and what it
//! holds where a run is left early.

use tollgate_source::{EffectKind, Run, Span, Step, StepKind};

use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// `err |= access;` goes on with what `err` held: a window forgets it, so that
/// it must have been 0.
pub(crate) fn check(subject: &Subject<'_>, run: &Run) -> Result<(), Refusal> {
    for (step, variable) in first_results(run) {
        if is_carried(subject, run, step, variable)
            && (!is_zero(subject, run, variable) || subject.needs(run, variable))
        {
            return Err(subject.refuse(step.span, Reason::Carried(variable.to_owned())));
        }
    }
    Ok(())
}

/// Each variable that takes results of the run, with the first statement that gives
/// it one.
pub(crate) fn first_results(run: &Run) -> Vec<(&Step, &str)> {
    let mut found: Vec<(&Step, &str)> = Vec::new();
    for step in &run.steps {
        if let StepKind::Assign { variable, .. } = &step.kind
            && !found.iter().any(|(_, known)| known == variable)
        {
            found.push((step, variable));
        }
    }
    found
}

/// A later access that uses the variable of the results finds 0 there, and would
/// find in a window what was there before.
pub(crate) fn unused(subject: &Subject<'_>, run: &Run) -> Result<(), Refusal> {
    for (at, step) in run.steps.iter().enumerate() {
        let before = run.steps.iter().take(at);
        let mut taken = before.filter_map(|step| match &step.kind {
            StepKind::Assign { variable, .. } => Some(variable),
            _ => None,
        });
        let used =
            |variable: &&String| asks(run, step, |place| subject.flow.names(place, variable));
        if let Some(variable) = taken.find(used) {
            return Err(subject.refuse(step.span, Reason::ResultUsed(variable.clone())));
        }
    }
    Ok(())
}

/// Whether the arguments of a step's accesses or what its condition asks is so.
fn asks(run: &Run, step: &Step, is: impl Fn(Span) -> bool) -> bool {
    let sites = step.sites.iter().filter_map(|&at| run.sites.get(at));
    let condition = match &step.kind {
        StepKind::Guard { condition, .. } => Some(*condition),
        _ => None,
    };
    let mut places = sites
        .flat_map(|site| [site.value, site.address])
        .chain(condition);
    places.any(is)
}

/// Whether a statement's result depends on what the variable held.
pub(crate) fn is_carried(subject: &Subject<'_>, run: &Run, step: &Step, variable: &str) -> bool {
    let flow = subject.flow;
    let sites = || step.sites.iter().filter_map(|&at| run.sites.get(at));
    flow.effects_in(step.span).any(|effect| {
        let inside = sites().any(|site| site.span.contains(effect.span));
        !inside && effect.kind == EffectKind::Read && flow.name_of(effect) == variable
    })
}

/// Whether a variable of the function is 0 where the run begins, on every way
/// that comes there.
fn is_zero(subject: &Subject<'_>, run: &Run, variable: &str) -> bool {
    let plain = subject
        .flow
        .local(variable)
        .is_some_and(|local| local.plain);
    let held = subject.flow.value(variable, run.span.start);
    plain && held.as_deref() == Some("0")
}

/// The variables that took results before `step`, all of which were tested: they
/// are 0 there.
pub(crate) fn taken<'r>(run: &'r Run, step: &Step) -> impl Iterator<Item = &'r str> {
    let before = step.span.start;
    let found = first_results(run).into_iter();
    let found = found.filter(move |(first, _)| first.span.start < before);
    found.map(|(_, variable)| variable)
}
