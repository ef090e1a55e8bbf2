//! A loop with one access in each round: one window around the loop, where the whole
//! range is known before the first round, is short, and nothing in the loop may not
//! happen in a window.

mod body;
mod bound;
pub(crate) mod copied;
mod counter;
mod extent;
pub(crate) mod value;

use std::rc::Rc;

use tollgate_source::{Exit, Form, Hazard, Jump, Loop, Run, Span, StatementKind, StepKind, Trait};

use crate::gate::Plain;
use crate::plan::{Chained, Fault, Line, Plan, Rounds};
use crate::planning::{carried, condition, is_pointer_index, region, way, zero};
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// The loops with one access in each round, which no run joins with another.
pub(crate) fn candidates(loops: Vec<Loop>, runs: &[Run]) -> Vec<Loop> {
    let mut found = loops;
    found.retain(|own| is_candidate(own, runs));
    found
}

fn is_candidate(own: &Loop, runs: &[Run]) -> bool {
    let joined = |place: Span| runs.iter().any(|run| run.span.contains(place));
    let [run] = own.runs.as_slice() else {
        return false;
    };
    matches!(run.sites.as_slice(), [site] if !joined(site.span))
}

/// What a window around the loop must do.
pub(crate) fn plan(subject: &Subject<'_>, own: &Loop) -> Result<Plan, Refusal> {
    let refuse = |reason| subject.refuse(own.span, reason);
    let [run] = own.runs.as_slice() else {
        return Err(refuse(Reason::Round(subject.line_of(own.span))));
    };
    if !subject.has_no_directive(own.span) {
        return Err(refuse(Reason::Preprocessor));
    }
    harmless(subject, run)?;
    let (fault, taken) = way_out(subject, run, own)?;
    body::check(subject, own, run, taken)?;
    let counter = counter::of(subject, own)?;
    let extent = extent::of(subject, own, run, &counter)?;
    let bound = bound::of(subject, own, &counter)?;
    let (object, size) = extent.range(&counter, &bound);
    let way = way(subject, run)?;
    let rounds = Rounds {
        asked: bound.asked(&counter),
        most: extent.rounds(&counter, &bound)?,
        moves: extent.moves.is_some(),
        exact: bound.is_constant(),
        copied: None,
    };
    let plan = Plan {
        lines: vec![text(subject, own, taken)],
        results: results(subject, own, run)?,
        chained: chained(subject, own, run, &fault)?,
        ..instead(
            around(subject, own, run),
            way,
            (object, size),
            fault,
            rounds,
        )
    };
    condition::check_all(subject, run, &plan)?;
    unseen(subject, &plan)?;
    Ok(plan)
}

/// What takes the place of a loop, of which the run is made, with nothing in it.
fn instead(
    run: Run,
    way: &'static str,
    (object, size): (String, String),
    fault: Fault,
    rounds: Rounds,
) -> Plan {
    Plan {
        region: run.span,
        run,
        lines: Vec::new(),
        way,
        gate: Rc::new(Plain(way)),
        object,
        size,
        results: Vec::new(),
        returns: false,
        stops: fault.stops,
        chained: None,
        fault,
        before: None,
        behind: None,
        advance: None,
        cleared: None,
        zeroes: false,
        absorbs: false,
        rounds: Some(rounds),
        checked: None,
    }
}

/// The access happens in every round, and nothing in its arguments is forbidden.
fn harmless(subject: &Subject<'_>, run: &Run) -> Result<(), Refusal> {
    let sites = run.sites.iter();
    let hazards = sites.flat_map(|site| site.hazards.iter().map(move |hazard| (site, hazard)));
    for (site, hazard) in hazards {
        let reason = match hazard {
            hazard if is_pointer_index(subject, hazard) => continue,
            // It may be the address that moves on, which the extent tells.
            Hazard::SideEffect => continue,
            Hazard::Call(name) => Reason::Call(name.clone()),
            Hazard::Wrapped(name) => Reason::Wrapped(name.clone()),
            Hazard::Index(array) => Reason::Index(array.clone()),
            Hazard::Conditional => Reason::Conditional,
            Hazard::DependsOnRead(name) => Reason::DependsOnRead(name.clone()),
        };
        return Err(subject.refuse(site.span, reason));
    }
    Ok(())
}

/// What happens on a fault, and the statements of a round that the access takes the
/// place of.
fn way_out(subject: &Subject<'_>, run: &Run, own: &Loop) -> Result<(Fault, Span), Refusal> {
    let fault = Fault::of(subject, run)?;
    if matches!(&fault.jump, Jump::Continue) {
        return Err(subject.refuse(own.span, Reason::Exit("continue")));
    }
    carried::check(subject, run)?;
    let rest = condition::outside(subject, run, "", "")?;
    if rest.before.is_some() || rest.behind.is_some() {
        return Err(subject.refuse(run.span, Reason::Conditional));
    }
    let taken = region(run, &fault);
    Ok((fault, taken))
}

/// The run as one of the loop as a whole.
fn around(subject: &Subject<'_>, own: &Loop, run: &Run) -> Run {
    let flow = subject.flow;
    let statement = flow.statement(own.span);
    let mut holders =
        std::iter::successors(statement.and_then(|s| flow.holder(s)), |s| flow.holder(s));
    let block = holders.next().map_or(own.span, |holder| holder.span);
    let looped = statement
        .and_then(|s| flow.holder(s))
        .is_some_and(|holder| is_in_loop(subject, holder.span));
    let mut whole = run.clone();
    whole.traits.retain(|own| *own != Trait::InLoop || looped);
    Run {
        span: own.span,
        block,
        after: None,
        ..whole
    }
}

/// Whether a place is in a loop of the function.
pub(crate) fn is_in_loop(subject: &Subject<'_>, place: Span) -> bool {
    let flow = subject.flow;
    let repeats = |kind| matches!(kind, StatementKind::Loop | StatementKind::Do);
    let mut all = flow.statements_in(subject.function.body);
    all.any(|own| repeats(own.kind) && own.span.contains(place))
}

/// The loop as it is written, with the access instead of what asked for its result; a
/// block of which nothing else is left loses its braces.
fn text(subject: &Subject<'_>, own: &Loop, taken: Span) -> Line {
    let alone = own.body != taken
        && subject.is_only_statement(own.body, taken)
        && subject.flow.statement(own.body).is_some();
    let behind = match alone {
        true => String::new(),
        false => subject.at(Span::new(taken.end, own.span.end)),
    };
    let front = subject.at(Span::new(own.span.start, taken.start));
    let before = match alone {
        true => subject.at(Span::new(own.span.start, own.body.start)),
        false => front,
    };
    Line::Loop {
        before: before.trim_end().to_owned(),
        index: 0,
        behind,
        inner: inner_indent(subject, own, taken),
        indent: subject.indent(own.span.start),
    }
}

/// The blanks before the access, which may stand behind the head of the loop.
fn inner_indent(subject: &Subject<'_>, own: &Loop, taken: Span) -> String {
    match subject.line_of(own.span) == subject.line_of(taken) {
        true => subject.indent(own.span.start) + "\t",
        false => subject.indent(taken.start),
    }
}

/// The variables of results that must be 0 behind the loop.
fn results(subject: &Subject<'_>, own: &Loop, run: &Run) -> Result<Vec<String>, Refusal> {
    let mut left = Vec::new();
    for (step, variable) in carried::first_results(run) {
        if let StepKind::Assign {
            form: Form::ErrOr, ..
        } = &step.kind
            && carried::is_carried(subject, run, step, variable)
        {
            return Err(subject.refuse(step.span, Reason::Carried(variable.to_owned())));
        }
        if !subject.flow.is_dead(variable, own.span) {
            left.push(variable.to_owned());
        }
    }
    Ok(left)
}

/// A fault that only leaves the loop goes on behind it with the variable that says so.
fn chained(
    subject: &Subject<'_>,
    own: &Loop,
    run: &Run,
    fault: &Fault,
) -> Result<Option<Chained>, Refusal> {
    if fault.jump != Jump::Break {
        return Ok(None);
    }
    let refuse = || subject.refuse(own.span, Reason::Exit("break"));
    let variable = fault.given.clone().ok_or_else(refuse)?;
    let exit = |exit: &Exit| exit.jump == Jump::Break && subject.statements(exit.span).len() == 1;
    let mut steps = run.steps.iter().chain(&run.after);
    let only = steps.all(|step| match &step.kind {
        StepKind::Check { exit: own, .. } => exit(own),
        StepKind::Assign { variable: own, .. } => *own == variable,
        StepKind::Plain => true,
        _ => false,
    });
    only.then_some(()).ok_or_else(refuse)?;
    Ok(Some(Chained {
        variable,
        fault: "-EFAULT".to_owned(),
        success: "0".to_owned(),
        stops: false,
        carried: false,
    }))
}

/// What a read fills must not be looked at behind a fault: in which round that was is
/// not known.
fn unseen(subject: &Subject<'_>, plan: &Plan) -> Result<(), Refusal> {
    match zero::seen(subject, plan) {
        Some((place, variable)) => Err(subject.refuse(place, Reason::ReadAfterFault(variable))),
        None => Ok(()),
    }
}
