//! From a run to what its window must do, or to the reason why it may not.

use crate::gate::Plain;
use crate::plan::{Chained, Fault, Line, Plan};
use crate::planning::condition::Outside;
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

mod address;
mod advance;
pub(crate) mod callers;
pub(crate) mod carried;
mod chained;
pub(crate) mod checked;
mod condition;
mod covered;
pub(crate) mod declared;
pub(crate) mod fault;
pub(crate) mod maybe;
mod offset;
mod pieces;
pub(crate) mod range;
pub(crate) mod rounds;
pub(crate) mod written;
pub(crate) mod zero;

use std::rc::Rc;

use tollgate_source::{
    Direction, EffectKind, Exit, Form, Hazard, Run, Site, Span, Step, StepKind, Trait,
};

pub(crate) use pieces::{Around, pieces};

/// What a window for the run must do.
pub(crate) fn plan(subject: &Subject<'_>, run: &Run) -> Result<Plan, Refusal> {
    let chained = chained::of(subject, run).or_else(|| untested(subject, run));
    whole(subject, run, chained.is_some())?;
    let advance = advance::of(subject, run);
    for (index, site) in run.sites.iter().enumerate() {
        harmless(subject, run, index, site, advance.is_some())?;
    }
    let (object, size) = match &advance {
        Some(advance) => advance.range(),
        None => range::of(subject, run)?,
    };
    let (fault, region) = way_out(subject, run, chained.as_ref())?;
    if !chained.as_ref().is_some_and(|own| own.carried) {
        carried::check(subject, run)?;
    }
    carried::unused(subject, run)?;
    let rest = condition::outside(subject, run, &object, &size)?;
    if chained.is_some() && (rest.before.is_some() || rest.behind.is_some()) {
        return Err(subject.refuse(run.span, Reason::Statement));
    }
    let way = way(subject, run)?;
    let mut plan = Plan {
        lines: lines(subject, run, region, &fault, &rest)?,
        run: run.clone(),
        before: rest.before,
        behind: rest.behind,
        way,
        gate: Rc::new(Plain(way)),
        object,
        size,
        results: results(subject, run, region),
        returns: last(run, &fault).is_some_and(|step| matches!(step.kind, StepKind::Return { .. })),
        stops: fault.stops,
        chained,
        absorbs: absorbs(subject, run, &rest),
        fault,
        region,
        advance,
        cleared: None,
        zeroes: false,
        rounds: None,
        checked: None,
    };
    condition::check_all(subject, run, &plan)?;
    covered::absorb(subject, &mut plan);
    zero::add(subject, &mut plan)?;
    advance::check(subject, &plan)?;
    Ok(plan)
}

/// What happens on a fault, and what the window takes the place of.
fn way_out(
    subject: &Subject<'_>,
    run: &Run,
    chained: Option<&Chained>,
) -> Result<(Fault, Span), Refusal> {
    if let Some(chained) = chained {
        return Ok((chained::fault(run, chained.stops), chained::region(run)));
    }
    let fault = Fault::of(subject, run)?;
    let region = region(run, &fault);
    Ok((fault, region))
}

/// What keeps the fault of accesses that may stop at the first, where no test behind them
/// says what is done then, or what keeps it may hold an error from before.
fn untested(subject: &Subject<'_>, run: &Run) -> Option<Chained> {
    let untested = match Fault::of(subject, run) {
        Err(refusal) => refusal.reason == Reason::Untested,
        Ok(_) => carried::check(subject, run).is_err(),
    };
    let may = untested && subject.stop_at_first_fault;
    may.then(|| chained::joined(subject, run)).flatten()
}

fn way(subject: &Subject<'_>, run: &Run) -> Result<&'static str, Refusal> {
    let way = subject
        .offers
        .way(run.count(Direction::Read), run.count(Direction::Write));
    way.ok_or_else(|| subject.refuse(run.span, Reason::Begin))
}

/// The run stands in one block, without preprocessor lines.
fn whole(subject: &Subject<'_>, run: &Run, chained: bool) -> Result<(), Refusal> {
    if run.has(Trait::Preprocessor) {
        return Err(subject.refuse(run.span, Reason::Preprocessor));
    }
    if let Some(step) = run
        .steps
        .iter()
        .find(|step| step.under.is_some() && !chained)
    {
        range::one_object(subject, run)?;
        return Err(subject.refuse(step.span, Reason::Blocks));
    }
    let divided = |step: &&Step| step.partial && !matches!(step.kind, StepKind::Guard { .. });
    match run.steps.iter().find(divided) {
        Some(step) => Err(subject.refuse(step.span, Reason::Statement)),
        None => Ok(()),
    }
}

fn harmless(
    subject: &Subject<'_>,
    run: &Run,
    index: usize,
    site: &Site,
    advances: bool,
) -> Result<(), Refusal> {
    let known = |hazard: &Hazard| match hazard {
        Hazard::SideEffect => advances,
        Hazard::Conditional => maybe::condition(subject, run, index).is_some(),
        hazard => is_pointer_index(subject, hazard),
    };
    let reason = match site.hazards.iter().find(|hazard| !known(hazard)) {
        None => return Ok(()),
        Some(Hazard::Call(name)) => Reason::Call(name.clone()),
        Some(Hazard::Wrapped(name)) => Reason::Wrapped(name.clone()),
        Some(Hazard::Index(array)) => Reason::Index(array.clone()),
        Some(Hazard::SideEffect) => Reason::SideEffect,
        Some(Hazard::Conditional) => Reason::Conditional,
        Some(Hazard::DependsOnRead(name)) => Reason::DependsOnRead(name.clone()),
    };
    Err(subject.refuse(site.span, reason))
}

/// An index into what a pointer variable points to has no bounds to check.
fn is_pointer_index(subject: &Subject<'_>, hazard: &Hazard) -> bool {
    matches!(hazard, Hazard::Index(name) if is_pointer(subject, name))
}

/// Whether a name is that of a pointer variable of the function.
fn is_pointer(subject: &Subject<'_>, name: &str) -> bool {
    match subject.flow.local(name) {
        Some(local) => !local.array,
        // A parameter is never an array, whatever its declaration looks like.
        None => subject.flow.is_parameter(name),
    }
}

/// Whether an `access_ok()` of the run is not among what is kept of it.
fn absorbs(subject: &Subject<'_>, run: &Run, rest: &Outside) -> bool {
    let kept = |part: &Span| subject.checks_range(*part);
    run.has(Trait::AccessOk) && ![rest.before, rest.behind].iter().flatten().any(kept)
}

/// The last statement that is replaced.
fn last<'r>(run: &'r Run, fault: &Fault) -> Option<&'r Step> {
    let after = run.after.as_ref().filter(|_| fault.takes_after);
    after.or(run.steps.last())
}

/// The statements of the run, and the test behind them that the fault answers.
fn region(run: &Run, fault: &Fault) -> Span {
    match &run.after {
        Some(after) if fault.takes_after => run.span.join(after.span),
        _ => run.span,
    }
}

/// Accesses, comments and statements, in the order in which they stand.
fn lines(
    subject: &Subject<'_>,
    run: &Run,
    region: Span,
    fault: &Fault,
    rest: &Outside,
) -> Result<Vec<Line>, Refusal> {
    let mut placed: Vec<(usize, Line)> = run
        .sites
        .iter()
        .enumerate()
        .map(|(index, site)| (site.span.start, access(subject, run, index)))
        .collect();
    for step in &run.steps {
        let line = match &step.kind {
            StepKind::Plain => verbatim_statement(subject, run, step)?,
            StepKind::Check { condition, exit } if !fault.answers.contains(&step.span) => {
                leave(subject, run, step, *condition, exit)?
            }
            _ => continue,
        };
        placed.push((step.span.start, line));
    }
    for comment in subject.comments(region) {
        if [rest.before, rest.behind]
            .iter()
            .flatten()
            .any(|kept| kept.contains(comment))
        {
            continue;
        }
        if run
            .steps
            .iter()
            .any(|step| step.kind == StepKind::Plain && step.span.contains(comment))
        {
            continue;
        }
        if exits(run).any(|exit| exit.span.contains(comment)) {
            if !fault.body.contains(comment) && !leaves(run, fault, comment) {
                return Err(subject.refuse(comment, Reason::Comment));
            }
            continue;
        }
        placed.push((comment.start, Line::Verbatim(subject.at(comment))));
    }
    placed.sort_by_key(|(start, _)| *start);
    Ok(placed.into_iter().map(|(_, line)| line).collect())
}

fn access(subject: &Subject<'_>, run: &Run, index: usize) -> Line {
    match maybe::condition(subject, run, index) {
        Some(condition) => Line::When {
            condition: subject.at(condition),
            zero: None,
            index,
        },
        None => Line::Access(index),
    }
}

/// A way out that is no fault's, behind an end of its own. Where results went to
/// a variable that something looks at, it is 0 there.
fn leave(
    subject: &Subject<'_>,
    run: &Run,
    step: &Step,
    condition: Span,
    exit: &Exit,
) -> Result<Line, Refusal> {
    subject.stays(condition)?;
    let mut zeroed = Vec::new();
    for variable in carried::taken(run, step) {
        if subject.flow.names(condition, variable) {
            return Err(subject.refuse(condition, Reason::Statement));
        }
        if !subject.flow.is_dead_before(variable, exit.span.start) {
            zeroed.insert(0, variable.to_owned());
        }
    }
    Ok(Line::Leave {
        condition: subject.at(condition),
        zeroed,
        statements: subject.statements(exit.span),
    })
}

/// Whether a comment stands in a way out that is kept as it is.
fn leaves(run: &Run, fault: &Fault, comment: Span) -> bool {
    run.steps.iter().any(|step| match &step.kind {
        StepKind::Check { exit, .. } => {
            exit.span.contains(comment) && !fault.answers.contains(&step.span)
        }
        _ => false,
    })
}

fn exits(run: &Run) -> impl Iterator<Item = &Exit> {
    run.steps
        .iter()
        .chain(&run.after)
        .filter_map(|step| match &step.kind {
            StepKind::Guard { exit, .. } | StepKind::Check { exit, .. } => Some(exit),
            _ => None,
        })
}

/// A statement may stay between the accesses if it leaves their object alone,
/// or moves it on by what was accessed.
fn verbatim_statement(subject: &Subject<'_>, run: &Run, step: &Step) -> Result<Line, Refusal> {
    subject.stays(step.span)?;
    let text = subject.at(step.span);
    let flow = subject.flow;
    let result = carried::taken(run, step).any(|variable| flow.names(step.span, variable));
    // A compiler copies a structure with a call of memcpy().
    let copies = |kind: &EffectKind| matches!(kind, EffectKind::Write(write) if write.copies);
    if result || flow.effects_in(step.span).any(|e| copies(&e.kind)) {
        return Err(subject.refuse(step.span, Reason::Gap));
    }
    let addresses = |name: &str| run.sites.iter().any(|site| flow.names(site.address, name));
    let mut named = flow.effects_in(step.span).map(|e| flow.name_of(e));
    let moves = named.any(addresses);
    if moves && offset::steps(subject, run).is_none() {
        return Err(subject.refuse(step.span, Reason::Gap));
    }
    Ok(Line::Verbatim(text))
}

/// Variables that took results must hold 0 behind the window, if they are read.
fn results(subject: &Subject<'_>, run: &Run, region: Span) -> Vec<String> {
    let left = |(step, variable): &(&Step, &str)| {
        let joined = matches!(&step.kind, StepKind::Assign { form, .. } if *form == Form::ErrOr);
        let kept = joined && carried::is_carried(subject, run, step, variable);
        !kept && !subject.flow.is_dead(variable, region)
    };
    let all = carried::first_results(run).into_iter().filter(left);
    all.map(|(_, variable)| variable.to_owned()).collect()
}
