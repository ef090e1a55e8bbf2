//! What the variable that takes the results held before the run, and what it
//! holds where a run is left early.

use tollgate_source::{EffectKind, Run, Span, Step, StepKind};

use crate::plan::{Subject, needs};
use crate::refusal::{Reason, Refusal};

/// `err |= access;` goes on with what `err` held: a window forgets it, so that
/// it must have been 0.
pub(crate) fn check(subject: &Subject<'_>, run: &Run) -> Result<(), Refusal> {
    let mut assigned = run.steps.iter().filter_map(|step| match &step.kind {
        StepKind::Assign { variable, .. } => Some((step, variable)),
        _ => None,
    });
    match assigned.next() {
        Some((step, variable)) if is_carried(subject, run, step, variable) => {
            let zero = is_zero(subject, run, variable) && !needs(subject, run, variable);
            let refusal = || subject.refuse(step.span, Reason::Carried(variable.clone()));
            zero.then_some(()).ok_or_else(refusal)
        }
        _ => Ok(()),
    }
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

/// The variable that took results before `step`, all of which were tested: it
/// is 0 there.
pub(crate) fn taken<'r>(run: &'r Run, step: &Step) -> Option<&'r str> {
    let earlier = |other: &&Step| other.span.start < step.span.start;
    let mut earlier = run.steps.iter().rev().filter(earlier);
    earlier.find_map(|step| match &step.kind {
        StepKind::Assign { variable, .. } => Some(variable.as_str()),
        _ => None,
    })
}
