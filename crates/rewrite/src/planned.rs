//! The windows that a function may have: a plan for each run, check or loop, of which no two
//! touch the same byte, and why others have none.

use tollgate_source::{Loop, Run, Span};

use crate::plan::Plan;
use crate::planning::{Around, checked, pieces, plan, rounds};
use crate::refusal::{Reason, Refusal};
use crate::styles::{Form, is_woven};
use crate::subject::Subject;

/// Plans that touch no byte twice.
pub(crate) fn planned(subject: &Subject<'_>, form: &dyn Form) -> (Vec<Plan>, Vec<Refusal>) {
    let (mut plans, mut refused) = match form.takes_checks() {
        true => checked(subject, form),
        false => (Vec::new(), Vec::new()),
    };
    let taken: Vec<Span> = plans.iter().map(|plan| plan.region).collect();
    for run in &subject.function.runs {
        if taken.iter().any(|region| meet(*region, run.span)) {
            continue;
        }
        let (found, refusal) = plans_for(subject, run);
        let by = |subject: &Subject<'_>| allowed(subject, run, form);
        refused.extend(refusal.map(|refusal| besides(subject, refusal, &by)));
        for plan in found {
            if plans.iter().any(|other| meet(other.region, plan.region)) {
                refused.push(subject.refuse(plan.region, Reason::Statement));
            } else {
                plans.push(plan);
            }
        }
    }
    looped(subject, form, &mut plans, &mut refused);
    (plans, refused)
}

/// Windows that take the place of an `access_ok()` statement. Each run is in one of
/// them as a whole, or in none.
fn checked(subject: &Subject<'_>, form: &dyn Form) -> (Vec<Plan>, Vec<Refusal>) {
    let apart = |plan: &Plan| {
        let mut runs = subject.function.runs.iter();
        runs.all(|run| !meet(plan.region, run.span) || plan.region.contains(run.span))
    };
    let is_implied = |plan: &Plan| plan.checked.as_ref().is_some_and(|own| own.implied);
    // What one run is has a form of its own.
    let is_run = |plan: &Plan| {
        let mut runs = subject.function.runs.iter();
        is_implied(plan) && runs.any(|run| is_served(subject, form, run, plan))
    };
    let fits = |plan: &Plan| match is_run(plan) || is_implied(plan) && !apart(plan) {
        true => Err(subject.refuse(plan.region, Reason::Statement)),
        false => form.fits(subject, plan),
    };
    let (mut plans, refused) = checked::plans(subject, fits);
    plans.retain(apart);
    (plans, refused)
}

/// Whether a run has all accesses of a plan, and a window of its own.
fn is_served(subject: &Subject<'_>, form: &dyn Form, run: &Run, whole: &Plan) -> bool {
    let all = whole.region.contains(run.span) && run.sites.len() >= whole.run.sites.len();
    let own = plan(subject, run).and_then(|plan| form.fits(subject, &plan));
    all && matches!(own, Ok(()))
}

/// A window around each loop with one access in each round, or a copy in its place.
fn looped(
    subject: &Subject<'_>,
    form: &dyn Form,
    plans: &mut Vec<Plan>,
    refused: &mut Vec<Refusal>,
) {
    let plan = match form.copies_elements() {
        true => rounds::copied::plan,
        false => rounds::plan,
    };
    let spans = |own: &&Loop| {
        let mut checked = plans.iter().filter(|plan| plan.checked.is_some());
        !checked.any(|plan| plan.region.contains(own.span))
    };
    let apart: Vec<&Loop> = subject.loops.iter().filter(spans).collect();
    for own in apart {
        match plan(subject, own) {
            Ok(plan) if plans.iter().any(|other| meet(other.region, plan.region)) => {
                refused.push(subject.refuse(own.span, Reason::Statement));
            }
            Ok(plan) => plans.push(plan),
            Err(refusal) => {
                let by = |subject: &Subject<'_>| match plan(subject, own) {
                    Ok(_) => Ok(()),
                    Err(refusal) => Err(refusal.reason),
                };
                refused.push(besides(subject, refusal, &by));
            }
        }
    }
    plans.sort_by_key(|plan| plan.region.start);
}

fn meet(one: Span, other: Span) -> bool {
    one.start < other.end && other.start < one.end
}

/// What stands in the way besides, where leave to stop at the first fault would not
/// be enough, or leave to keep what reads fill is wanted, too.
fn besides(
    subject: &Subject<'_>,
    refusal: Refusal,
    allowed: &dyn Fn(&Subject<'_>) -> Result<(), Reason>,
) -> Refusal {
    let stopping = Subject {
        stop_at_first_fault: true,
        ..*subject
    };
    let keeping = Subject {
        no_zero_on_fault: true,
        ..stopping
    };
    let keeps = || !subject.no_zero_on_fault && allowed(&keeping).is_ok();
    let reason = match &refusal.reason {
        Reason::GoesOn => match allowed(&stopping) {
            Ok(()) => Reason::GoesOn,
            Err(_) if keeps() => Reason::GoesOnReading,
            Err(other) => Reason::GoesOnAnd(Box::new(other)),
        },
        Reason::Untested if subject.stop_at_first_fault && keeps() => Reason::UntestedReads,
        _ => return refusal,
    };
    Refusal { reason, ..refusal }
}

/// Whether anything of a run has a form by what is allowed; else what stands in the way.
fn allowed(subject: &Subject<'_>, run: &Run, form: &dyn Form) -> Result<(), Reason> {
    let (plans, refusal) = plans_for(subject, run);
    let written = form.write(subject, plans);
    let other = refusal.or(written.refused.into_iter().next());
    match other {
        Some(other) if written.plans.is_empty() => Err(other.reason),
        _ => Ok(()),
    }
}

fn plans_for(subject: &Subject<'_>, run: &Run) -> (Vec<Plan>, Option<Refusal>) {
    let in_pieces = || -> Vec<Plan> {
        let of = |around| -> Vec<Plan> {
            let pieces = pieces(subject, run, around).into_iter();
            // The refusal of the whole is the one that is said.
            pieces.flat_map(|piece| plan(subject, &piece)).collect()
        };
        let plans = of(Around::Harm);
        match plans.is_empty() {
            true => of(Around::Unplaced),
            false => plans,
        }
    };
    match plan(subject, run) {
        Ok(whole) if !subject.styled.weaves && is_woven(subject, &whole) => {
            let plans = in_pieces();
            let plans = if plans.is_empty() { vec![whole] } else { plans };
            (plans, None)
        }
        Ok(plan) => (vec![plan], None),
        Err(refusal) => (in_pieces(), Some(refusal)),
    }
}
