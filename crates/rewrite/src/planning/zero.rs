//! What `get_user()` leaves in its variable on a fault: zero. The window leaves
//! what was there, so that where something may look, zero is put there before.

use tollgate_source::{Direction, Effect, Form, Jump, Site, Span, StepKind};

use crate::plan::{Line, Plan};
use crate::planning::callers;
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// Adds `x = 0;` before each read of which something may look at `x` after a
/// fault: before the begin for the first, if a failed check of the range makes it
/// zero, too. Where the begin stands for an `access_ok()`, that check leaves it
/// alone.
pub(crate) fn add(subject: &Subject<'_>, plan: &mut Plan) -> Result<(), Refusal> {
    let mut lines = Vec::with_capacity(plan.lines.len());
    for mut line in std::mem::take(&mut plan.lines) {
        if let Line::Access(index) | Line::When { index, .. } = line
            && let Some(variable) = cleared(subject, plan, index)?
        {
            plan.zeroes = true;
            lines.extend(place(plan, &mut line, variable));
        }
        lines.push(line);
    }
    plan.lines = lines;
    Ok(())
}

/// Makes the variable zero where that is executed if the access is: in the line of an
/// access under a condition, or in a line of its own, which is given back.
fn place(plan: &mut Plan, line: &mut Line, variable: String) -> Option<Line> {
    let first = plan.run.sites.first();
    match line {
        Line::When { zero, .. } => *zero = Some(variable),
        Line::Access(0) if !plan.absorbs && first.is_some_and(|site| site.range_check) => {
            plan.cleared = Some(variable);
        }
        _ => return Some(Line::Zero(variable)),
    }
    None
}

/// A variable that is made zero behind what opens the window.
pub(crate) fn inside(plan: &Plan) -> Option<&str> {
    plan.lines.iter().find_map(|line| match line {
        Line::Zero(variable)
        | Line::When {
            zero: Some(variable),
            ..
        } => Some(variable.as_str()),
        _ => None,
    })
}

/// A variable of a read that the function itself may look at after a fault.
pub(crate) fn looked_at(subject: &Subject<'_>, plan: &Plan) -> Option<(Span, String)> {
    let flow = subject.flow;
    let looks = |site: &&Site| {
        let filled = flow.filled(site.value);
        let named = filled.is_some_and(|e| plan.fault.names(subject, flow.name_of(e)));
        let shared = !filled.is_some_and(|e| is_own(subject, e));
        let shared = shared && matches!(plan.fault.jump, Jump::Return(_));
        reads(subject, site) && (named || !shared && is_seen(subject, plan, site))
    };
    let site = plan.run.sites.iter().find(looks)?;
    Some((site.value, subject.line(site.value)))
}

/// What a read of the plan fills, and something may look at after a fault.
pub(crate) fn seen(subject: &Subject<'_>, plan: &Plan) -> Option<(Span, String)> {
    let read = |site: &&Site| reads(subject, site) && is_seen(subject, plan, site);
    let site = plan.run.sites.iter().find(read)?;
    Some((site.value, subject.line(site.value)))
}

/// The variable of a read, if something may look at it after a fault.
fn cleared(subject: &Subject<'_>, plan: &Plan, index: usize) -> Result<Option<String>, Refusal> {
    let site = plan.run.sites.get(index);
    let Some(site) = site.filter(|site| reads(subject, site)) else {
        return Ok(None);
    };
    let variable = subject.line(site.value);
    if !is_seen(subject, plan, site) {
        return Ok(None);
    }
    if goes_on(plan) {
        return Err(subject.refuse(site.span, Reason::ReadAfterFault(variable)));
    }
    Ok(Some(variable))
}

fn is_seen(subject: &Subject<'_>, plan: &Plan, site: &Site) -> bool {
    let flow = subject.flow;
    let Some(filled) = flow.filled(site.value) else {
        return true;
    };
    let name = flow.name_of(filled);
    if plan.fault.names(subject, name) {
        return true;
    }
    let own = flow
        .local(name)
        .map_or(flow.is_parameter(name), |local| !local.lasting);
    if !own || flow.is_behind(filled) {
        return !subject.no_zero_on_fault && is_shared(subject, plan, name);
    }
    match &plan.fault.jump {
        Jump::Return(_) => false,
        Jump::None => !flow.is_dead(name, plan.region),
        Jump::Goto(_) | Jump::Break | Jump::Continue => {
            let jump = flow.jump_in(plan.fault.body);
            !jump.is_some_and(|jump| flow.is_dead_before(name, jump.start))
        }
    }
}

/// Whether somebody else may look at what is behind a variable after a fault.
fn is_shared(subject: &Subject<'_>, plan: &Plan, name: &str) -> bool {
    !is_freed(subject, plan, name) && !callers::forget(subject, &plan.fault, name)
}

/// What the message says where a read leaves what it fills as it was.
pub(crate) fn said(subject: &Subject<'_>, plans: &[Plan]) -> Option<String> {
    let flow = subject.flow;
    let kept = |plan: &Plan, site: &Site| {
        let filled = flow.filled(site.value);
        let shared = filled.is_some_and(|filled| {
            !is_own(subject, filled) && is_shared(subject, plan, flow.name_of(filled))
        });
        reads(subject, site) && shared
    };
    let any = |plan: &Plan| plan.run.sites.iter().any(|site| kept(plan, site));
    let said = "After a fault, what the reads fill keeps what it held: get_user() made it zero. Nobody may rely on that.";
    let found = subject.no_zero_on_fault && plans.iter().any(any);
    found.then(|| said.to_owned())
}

/// Whether an access fills its argument; what a function that is called with a window open
/// fills, it was asked itself.
fn reads(subject: &Subject<'_>, site: &Site) -> bool {
    site.direction == Direction::Read && subject.opened != Some(site.call.as_str())
}

/// Whether a fault did not end the reads: what they hold then is another thing.
fn goes_on(plan: &Plan) -> bool {
    let forms = plan.run.steps.iter().filter_map(|step| match &step.kind {
        StepKind::Guard { form, .. } | StepKind::Assign { form, .. } => Some(*form),
        _ => None,
    });
    forms
        .into_iter()
        .any(|form| matches!(form, Form::ErrOr | Form::BitOr))
}

/// Whether a place is in a variable that lives and dies with the call.
fn is_own(subject: &Subject<'_>, place: &Effect) -> bool {
    let flow = subject.flow;
    let name = flow.name_of(place);
    let own = flow
        .local(name)
        .map_or(flow.is_parameter(name), |local| !local.lasting);
    own && !flow.is_behind(place)
}

/// Whether two places that are filled are surely not the same: variables of this
/// call, or members of one object of which neither holds the other.
pub(crate) fn are_apart(subject: &Subject<'_>, one: &Site, other: &Site) -> bool {
    let flow = subject.flow;
    let (Some(one), Some(other)) = (flow.filled(one.value), flow.filled(other.value)) else {
        return false;
    };
    let same = flow.name_of(one) == flow.name_of(other);
    let apart = same && flow.are_members_apart(one, other);
    apart || !same && is_own(subject, one) && is_own(subject, other)
}

/// Whether the object is freed on the way out, so that nobody can look.
fn is_freed(subject: &Subject<'_>, plan: &Plan, object: &str) -> bool {
    let flow = subject.flow;
    let behind = match &plan.fault.jump {
        Jump::Goto(label) => flow.frees_behind(label, object),
        _ => false,
    };
    let cleaned = flow.local(object).is_some_and(|local| local.cleaned);
    cleaned || behind || flow.frees_in(plan.fault.kept, object)
}
