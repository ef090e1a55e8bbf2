//! The variable that a window's accesses go through, for the styles that give
//! it another value while the window is open.

use tollgate_source::{
    EffectKind, Exit, Expression, Jump, Reach, Run, Site, Span, Step, StepKind, Term, Type,
};

use crate::lines::on_one_line;
use crate::masks::Tells;
use crate::plan::{Line, Plan};
use crate::planning::declared::{Pointer, declared, numbered, path};
use crate::planning::{maybe, range, zero};
use crate::refusal::{Reason, Refusal};
use crate::style::Style;
use crate::subject::Subject;

/// What masking covers, in bytes: arch/x86/include/asm/uaccess_64.h relies on a
/// guard page behind the user addresses.
pub(super) const PAGE: u64 = 4096;

/// Whether more is woven into the window than accesses of one place: a pointer
/// that moves, a condition, a way out of its own.
pub(crate) fn is_woven(subject: &Subject<'_>, plan: &Plan) -> bool {
    let objects = plan.run.objects();
    let object = objects.first().copied().unwrap_or_default();
    let flow = subject.flow;
    let moved = |step: &Step| {
        let mut effects = flow.effects_in(step.span);
        let written = |kind: &EffectKind| matches!(kind, EffectKind::Write(_));
        step.kind == StepKind::Plain
            && effects.any(|e| written(&e.kind) && flow.is_whole(e) && flow.name_of(e) == object)
    };
    // A copy takes in what hangs on no condition.
    let windows = matches!(subject.styled.style, Style::Masked | Style::Scoped);
    let woven = |line: &Line| match line {
        Line::When { .. } | Line::Leave { .. } if !windows => true,
        Line::When { index, .. } => {
            let asked = maybe::condition(subject, &plan.run, *index);
            asked.is_none_or(|asked| flow.names(asked, object))
        }
        Line::Leave { .. } => !leaves_plainly(subject, plan, object),
        _ => false,
    };
    let walks = plan.rounds.as_ref().is_some_and(|rounds| rounds.moves);
    plan.advance.is_some()
        || walks
        || plan.lines.iter().any(woven)
        || plan.run.steps.iter().any(moved)
}

/// Whether every way out that is no fault's only jumps, and looks at nothing that the
/// window gives another value: it may leave a scope, and needs no window closed before.
fn leaves_plainly(subject: &Subject<'_>, plan: &Plan, object: &str) -> bool {
    let flow = subject.flow;
    let ways = plan.run.steps.iter().filter_map(|step| match &step.kind {
        StepKind::Check { condition, exit } if !plan.fault.answers.contains(&step.span) => {
            Some((condition, exit))
        }
        _ => None,
    });
    let one = |line: &Line| match line {
        Line::Leave {
            zeroed, statements, ..
        } => zeroed.len() + statements.len() == 1,
        _ => true,
    };
    let plain = |(condition, exit): (&Span, &Exit)| {
        let jumps = matches!(exit.jump, Jump::Return(_) | Jump::Goto(_));
        let named = flow.names(*condition, object) || flow.names(exit.span, object);
        jumps && !named && !flow.calls(exit.span)
    };
    plan.lines.iter().all(one) && ways.into_iter().all(plain)
}

/// The variable that all accesses of the plan go through.
pub(crate) fn of(subject: &Subject<'_>, plan: &Plan) -> Result<Pointer, Refusal> {
    if is_woven(subject, plan) {
        return Err(subject.refuse(plan.region, Reason::Shape(subject.styled.style)));
    }
    let name = on_one_line(plan.run.objects().first().unwrap_or(&""));
    let declared = declared(subject, &name);
    declared.ok_or_else(|| {
        let reason = Reason::Pointer(subject.styled.style, name);
        subject.refuse(plan.region, reason)
    })
}

/// A pointer that is masked is not checked: an `access_ok()` that the window
/// takes the place of must not be what later accesses rely on, nor what keeps a
/// variable from being made zero.
pub(crate) fn spares_check(subject: &Subject<'_>, plan: &Plan) -> Result<(), Refusal> {
    let unchecked = || subject.vocabulary.unchecked().iter();
    let calls = others(subject, plan).into_iter().flat_map(|place| {
        let calls = unchecked().filter_map(move |name| subject.flow.calls_to(place, name));
        calls.collect::<Vec<_>>()
    });
    if let Some(call) = calls.min().filter(|_| plan.absorbs) {
        return Err(subject.refuse(call, Reason::Unchecked));
    }
    match zero::inside(plan).filter(|_| plan.absorbs) {
        Some(variable) => Err(subject.refuse(plan.region, Reason::LeftAlone(variable.to_owned()))),
        None => Ok(()),
    }
}

/// What stands behind the plan, but for runs of another pointer that check that first.
fn others(subject: &Subject<'_>, plan: &Plan) -> Vec<Span> {
    let end = subject.function.body.end;
    let (mut found, mut from) = (Vec::new(), plan.region.end);
    let mut runs: Vec<&Run> = subject.function.runs.iter().collect();
    runs.sort_by_key(|run| run.span.start);
    for run in runs
        .into_iter()
        .filter(|run| run.span.start >= plan.region.end)
    {
        if checks_first(subject, run, &plan.object) {
            found.push(Span::new(from, run.span.start));
            from = run.span.end;
        }
    }
    found.push(Span::new(from, end));
    found
}

/// Whether the first thing that a run does is to check the one pointer that it goes
/// through, which is not that of another window.
fn checks_first(subject: &Subject<'_>, run: &Run, other: &str) -> bool {
    let objects = run.objects();
    let ([object], Some(first)) = (objects.as_slice(), run.steps.first()) else {
        return false;
    };
    let StepKind::Guard { condition, .. } = &first.kind else {
        return false;
    };
    let checks = |own: &Expression| match &own.term {
        Term::Unary(not, call) if not == "!" => call.call().is_some_and(|(name, arguments)| {
            let own = arguments.first().and_then(Expression::name) == Some(object);
            own && subject.vocabulary.checks_range(name.as_bytes())
        }),
        _ => false,
    };
    let asked = subject.expression(*condition);
    let first = asked.is_some_and(|asked| asked.joined("||").first().is_some_and(|a| checks(a)));
    first && *object != other
}

/// The plan with the whole of what the pointer points to as its range, which is
/// the only one that a style can take that gives the pointer another value.
pub(crate) fn whole(
    subject: &Subject<'_>,
    mut plan: Plan,
    pointer: &Pointer,
) -> Result<Plan, Refusal> {
    if plan.chained.is_some() {
        return Err(subject.refuse(plan.region, Reason::Shape(subject.styled.style)));
    }
    if plan.rounds.is_some() && plan.object != pointer.name {
        let reason = Reason::Pointer(subject.styled.style, plan.object);
        return Err(subject.refuse(plan.region, reason));
    }
    if plan.object != pointer.name {
        (plan.object, plan.size) = range::of_object(subject, &plan.run, &pointer.name)?;
    }
    Ok(plan)
}

/// Masking covers the accesses: all of the object lies within a page, and where not the
/// first access alone tells of a bad pointer, its members are accessed in the order of
/// their addresses.
pub(crate) fn dense(subject: &Subject<'_>, plan: &Plan, pointer: &Pointer) -> Result<(), Refusal> {
    // A loop goes up from the first element, within a page.
    if plan.rounds.is_some() {
        return Ok(());
    }
    let unknown = |error| subject.refuse(plan.region, Reason::Layout(error));
    let types = subject.styled.types;
    let of = types.layout(&pointer.pointee()).map_err(unknown)?;
    let mut last = 0;
    let mut end = of.size;
    for site in &plan.run.sites {
        let at = offset(subject, site, pointer, &of)?;
        let address = subject.line(site.address);
        if at < last && subject.styled.tells == Tells::InOrder {
            return Err(subject.refuse(site.span, Reason::Order(address)));
        }
        last = at;
        if let Reach::Element(index) = site.reach {
            end = end.max(of.size.saturating_mul(u64::from(index) + 1));
        }
    }
    if end > PAGE {
        let object = format!("*{}", pointer.name);
        return Err(subject.refuse(plan.region, Reason::Large(object, end)));
    }
    Ok(())
}

fn offset(
    subject: &Subject<'_>,
    site: &Site,
    pointer: &Pointer,
    of: &Type,
) -> Result<u64, Refusal> {
    match site.reach {
        Reach::Whole => return Ok(0),
        Reach::Element(index) => return Ok(of.size.saturating_mul(u64::from(index))),
        Reach::Field | Reach::Computed => {}
    }
    let unknown = |error| subject.refuse(site.span, Reason::Layout(error));
    match path(subject, site, &pointer.name) {
        Some(path) => of
            .at(&numbered(subject, &path))
            .map(|(at, _)| at)
            .map_err(unknown),
        None => Err(subject.refuse(site.span, Reason::Range(subject.line(site.address)))),
    }
}

/// Whether the pointer is looked at again, or on the way out of a fault.
pub(crate) fn used_again(subject: &Subject<'_>, plan: &Plan, name: &str) -> bool {
    let kept = plan
        .behind
        .is_some_and(|part| subject.flow.names(part, name));
    kept || plan.fault.names(subject, name)
        || !plan.fault.leaves_dead(subject, name, plan.region)
        || !subject.flow.is_dead(name, plan.region)
}
