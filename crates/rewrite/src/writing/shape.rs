//! Which form the way out of a window takes, so that the function's meaning is
//! kept: a label at the end of the function or of a loop, or one right behind
//! the accesses.

use tollgate_source::{EffectKind, Jump, Span, StatementKind, StepKind, Trait};

use crate::directives::is_left_between;
use crate::plan::{Chained, Line, Plan};
use crate::planning::carried::first_results;
use crate::planning::maybe;
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;
use crate::writing::variables::declaration;

/// What a variable for errors is called.
const NAMES: [&str; 7] = ["err", "ret", "error", "rc", "retval", "result", "res"];

/// How the way out of a window is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A label at the end of the function.
    Tail,
    /// A label of the function, behind which the window is closed.
    Standing(String),
    /// The function's own error variable, and a label right behind the accesses.
    Variable(String),
    /// A block with the window and its label, behind which the function goes on.
    Block(Chained),
    /// A label at the end of the loop whose body that is.
    Loop(Span),
    /// A variable that is declared for the purpose, and a label as with one that
    /// was there.
    Declared(String),
}

/// The shape that suits; the first that the function allows. `regions` is what
/// all plans of the function replace.
pub(crate) fn shape(
    subject: &Subject<'_>,
    plan: &Plan,
    regions: &[Span],
) -> Result<Shape, Refusal> {
    if let Some(checked) = &plan.checked {
        return match &checked.label {
            Some(label) => Ok(Shape::Standing(label.clone())),
            None => tail_allowed(subject, plan).map(|()| Shape::Tail),
        };
    }
    let alone = regions.len() == 1;
    // One of them may hold the window's own result.
    let second = || lonely(subject, plan, regions).into_iter().nth(1);
    if let Some(variable) = left_unused(subject, plan, regions).or_else(second) {
        return Err(subject.refuse(plan.region, Reason::Unused(variable)));
    }
    if let Some(chained) = &plan.chained {
        return Ok(Shape::Block(chained.clone()));
    }
    if let Some(body) = loop_around(subject, plan) {
        return Ok(Shape::Loop(body));
    }
    if let Some(variable) = own_variable(subject, plan, regions) {
        return Ok(Shape::Variable(variable));
    }
    let tail = tail_allowed(subject, plan);
    let variable = error_variable(subject, plan);
    let plain = subject.conditions(plan.region) == Some(Vec::new());
    // What closes itself leaves by one label, however many of them there are.
    let closes = plan.gate.end().is_none();
    match (tail, variable) {
        (Ok(()), _) if closes => Ok(Shape::Tail),
        (Ok(()), Some(variable)) if !alone || !plain => Ok(Shape::Variable(variable)),
        (Ok(()), _) => Ok(Shape::Tail),
        (Err(_), Some(variable)) => Ok(Shape::Variable(variable)),
        (Err(refusal), None) => declarable(subject, plan)
            .map(Shape::Declared)
            .ok_or(refusal),
    }
}

/// The body of the loop that a fault breaks out of, if the way out can stand at
/// its end.
fn loop_around(subject: &Subject<'_>, plan: &Plan) -> Option<Span> {
    let body = plan.run.block;
    let block = subject.flow.statement(body)?;
    let holder = subject.flow.holder(block)?;
    let loops = block.kind == StatementKind::Block && holder.kind == StatementKind::Loop;
    let leaves = matches!(plan.fault.jump, Jump::Break | Jump::Continue);
    let end = body.end.saturating_sub(1);
    let crossed =
        |scope: &Span| scope.contains(plan.region) != (scope.start < end && scope.end > end);
    let scoped = subject.flow.cleanups.iter().any(crossed);
    let optional = is_left_between(subject.text, plan.region.end, body.end);
    (leaves && loops && !scoped && !optional).then_some(body)
}

/// A name for a variable that says whether an access faulted, where the function
/// has none that is free.
fn declarable(subject: &Subject<'_>, plan: &Plan) -> Option<String> {
    let new = |name: &&&str| !subject.flow.knows(name);
    let returns = plan.fault.only_returns();
    // A configuration that leaves the accesses out would not use it.
    let optional = is_left_between(subject.text, plan.region.end, subject.function.body.end);
    let name = NAMES.iter().find(new).filter(|_| returns && !optional)?;
    declaration(subject, name).map(|_| (*name).to_owned())
}

/// A variable that took results of the run and that nothing reads outside of what
/// is replaced: without a use it would be declared for nothing.
pub(crate) fn own_variable(subject: &Subject<'_>, plan: &Plan, regions: &[Span]) -> Option<String> {
    lonely(subject, plan, regions).into_iter().next()
}

fn lonely(subject: &Subject<'_>, plan: &Plan, regions: &[Span]) -> Vec<String> {
    let flow = subject.flow;
    let all = first_results(&plan.run).into_iter();
    let variables = all.map(|(_, variable)| variable).filter(|variable| {
        let plain = flow.local(variable).is_some_and(|local| local.plain);
        let stored = subject.needs(&plan.run, variable) || leaves_with(subject, plan, variable);
        plain && !stored && !flow.is_read_outside(variable, regions)
    });
    variables.map(str::to_owned).collect()
}

/// A variable that took the run's results, of which nothing would be left but
/// that it is set: a compiler warns about it.
pub(crate) fn left_unused(subject: &Subject<'_>, plan: &Plan, regions: &[Span]) -> Option<String> {
    let mut taken = plan.run.steps.iter().filter_map(|step| match &step.kind {
        StepKind::Assign { variable, .. } => Some(variable),
        _ => None,
    });
    let read = |variable: &str| {
        let mut places = plan.run.sites.iter().map(|site| site.span);
        subject.flow.is_read_outside(variable, regions)
            || leaves_with(subject, plan, variable)
            || places.any(|place| subject.flow.reads(place, variable))
    };
    let filled = |variable: &str| subject.needs(&plan.run, variable);
    let unused = |variable: &&String| {
        let own = subject
            .flow
            .local(variable)
            .is_some_and(|local| local.plain);
        own && !read(variable) && (plan.chained.is_some() || filled(variable))
    };
    taken.find(unused).cloned()
}

/// Whether the way out can stand at the end of the function.
fn tail_allowed(subject: &Subject<'_>, plan: &Plan) -> Result<(), Refusal> {
    let refuse = |reason| Err(subject.refuse(plan.region, reason));
    if subject.conditions(plan.region).is_none() {
        return refuse(Reason::Optional);
    }
    match &plan.fault.jump {
        Jump::Break => return refuse(Reason::Exit("break")),
        Jump::Continue => return refuse(Reason::Exit("continue")),
        _ => {}
    }
    let at_the_end = subject.function.body.end.saturating_sub(1);
    let crossed = |scope: &&Span| scope.contains(plan.region) != (scope.end > at_the_end);
    if subject.flow.cleanups.iter().any(|scope| crossed(&scope)) {
        return refuse(Reason::CleanupScope);
    }
    if subject.flow.ending.is_none() {
        return refuse(Reason::Exit("what follows the function's last statement"));
    }
    let inner = subject.flow.locals.iter().find(|local| {
        local.scope != subject.function.body && plan.fault.names(subject, &local.name)
    });
    inner.map_or(Ok(()), |local| refuse(Reason::Local(local.name.clone())))
}

/// A variable for errors that is free where the window stands.
fn error_variable(subject: &Subject<'_>, plan: &Plan) -> Option<String> {
    let negative = plan.fault.is_negative(subject);
    let jumps = matches!(
        plan.fault.jump,
        Jump::Break | Jump::Continue | Jump::Goto(_)
    );
    if plan.run.has(Trait::InLoop) || !(negative || jumps) {
        return None;
    }
    let free = |name: &&&str| {
        subject.flow.local(name).is_some_and(|l| {
            l.plain
                && matches!(l.base_type.as_str(), "int" | "long")
                && l.scope == subject.function.body
        }) && subject.flow.is_dead(name, plan.region)
            && plan.fault.leaves_dead(subject, name, plan.region)
            && !subject.needs(&plan.run, name)
            && !leaves_with(subject, plan, name)
            && !plan
                .behind
                .is_some_and(|part| subject.flow.names(part, name))
            && !uses_otherwise(subject, plan, name)
            && !is_rounds_own(subject, plan, name)
    };
    NAMES.iter().find(free).map(|name| (*name).to_owned())
}

/// Whether a loop that the window stands around uses the variable beside the access.
fn is_rounds_own(subject: &Subject<'_>, plan: &Plan, variable: &str) -> bool {
    let steps = || plan.run.steps.iter().chain(&plan.run.after);
    let is_step = |at: Span| steps().any(|step| !step.sites.is_empty() && step.span.contains(at));
    let flow = subject.flow;
    let mut effects = flow.effects_in(plan.region);
    let used = effects.any(|e| flow.name_of(e) == variable && !is_step(e.span));
    plan.rounds.is_some() && used
}

/// Whether something on a fault uses the variable other than to make it -EFAULT.
fn uses_otherwise(subject: &Subject<'_>, plan: &Plan, variable: &str) -> bool {
    let flow = subject.flow;
    let fault = |kind: &EffectKind| matches!(kind, EffectKind::Write(write) if write.constant.as_deref() == Some("-EFAULT"));
    let mut effects = flow.effects_in(plan.fault.kept);
    effects.any(|e| flow.name_of(e) == variable && !fault(&e.kind))
}

/// Whether a way out that is no fault's uses the variable, or the condition of an
/// access.
fn leaves_with(subject: &Subject<'_>, plan: &Plan, variable: &str) -> bool {
    let leaves = plan.run.steps.iter().any(|step| {
        let check = matches!(step.kind, StepKind::Check { .. });
        let own = check && !plan.fault.answers.contains(&step.span);
        own && subject.flow.names(step.span, variable)
    });
    let asked = (0..plan.run.sites.len()).any(|index| {
        let asked = maybe::condition(subject, &plan.run, index);
        asked.is_some_and(|asked| subject.flow.names(asked, variable))
    });
    let is = |own: &String| own == variable;
    let zeroed = |line: &Line| matches!(line, Line::Leave { zeroed, .. } if zeroed.iter().any(is));
    leaves || asked || plan.lines.iter().any(zeroed)
}
