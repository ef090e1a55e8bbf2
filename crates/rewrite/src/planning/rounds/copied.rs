//! A loop that accesses the elements of an array of the user's, each by an element of an array of
//! the function's, and does nothing else: one copy of all of them.

use tollgate_source::{
    Direction, Expression, Form, Hazard, Jump, Loop, Run, Shape, Site, Span, StepKind, Term, Type,
};

use super::counter::{self, Counter, is_set};
use super::value::array_of;
use super::{around, body, bound, extent, instead, unseen, way_out};
use crate::plan::{Copied, Fault, Plan, Rounds};
use crate::planning::declared::{declared, joined, members, pointee};
use crate::planning::{chained, condition};
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// What a copy instead of the loop must do.
pub(crate) fn plan(subject: &Subject<'_>, own: &Loop) -> Result<Plan, Refusal> {
    let refuse = |reason| subject.refuse(own.span, reason);
    let [run] = own.runs.as_slice() else {
        return Err(refuse(Reason::Round(subject.line_of(own.span))));
    };
    let [site] = run.sites.as_slice() else {
        return Err(refuse(Reason::Round(subject.line_of(own.span))));
    };
    if !subject.has_no_directive(own.span) {
        return Err(refuse(Reason::Preprocessor));
    }
    if let Some(comment) = subject.comments(own.span).first() {
        return Err(subject.refuse(*comment, Reason::Comment));
    }
    if subject.disables_faults() {
        return Err(refuse(Reason::FaultsDisabled));
    }
    harmless(subject, site)?;
    let (fault, taken) = fault(subject, run, own)?;
    if own.body != taken && !subject.is_only_statement(own.body, taken) {
        return Err(refuse(Reason::Elements));
    }
    body::check(subject, own, run, taken)?;
    let counter = counter::of(subject, own)?;
    if !subject.flow.is_dead(&counter.name, own.span) {
        return Err(refuse(Reason::Counted(counter.name)));
    }
    let copied = elements(subject, own, site, &counter).ok_or_else(|| refuse(Reason::Elements))?;
    let extent = extent::of(subject, own, run, &counter)?;
    let bound = bound::of(subject, own, &counter)?;
    let rounds = Rounds {
        asked: None,
        most: extent.rounds(&counter, &bound)?,
        moves: false,
        exact: bound.is_constant(),
        copied: Some(copied),
    };
    let range = extent.range(&counter, &bound);
    // A copy opens the window itself.
    let plan = instead(around(subject, own, run), "", range, fault, rounds);
    condition::check_all(subject, run, &plan)?;
    unseen(subject, &plan)?;
    Ok(plan)
}

/// A copy calls what it likes, and looks at no index.
fn harmless(subject: &Subject<'_>, site: &Site) -> Result<(), Refusal> {
    let harm = |hazard: &&Hazard| !matches!(hazard, Hazard::Index(_));
    let reason = match site.hazards.iter().find(harm) {
        None => return Ok(()),
        Some(Hazard::Wrapped(name)) => Reason::Wrapped(name.clone()),
        Some(Hazard::SideEffect) => Reason::SideEffect,
        Some(_) => Reason::Elements,
    };
    Err(subject.refuse(site.span, reason))
}

/// What happens on a fault, and the statement that the copy takes the place of.
fn fault(subject: &Subject<'_>, run: &Run, own: &Loop) -> Result<(Fault, Span), Refusal> {
    if let [step] = run.steps.as_slice()
        && let StepKind::Assign {
            form: Form::ErrOr,
            variable,
        } = &step.kind
    {
        if !subject.stop_at_first_fault {
            return Err(subject.refuse(step.span, Reason::GoesOn));
        }
        let mut kept = chained::fault(run, true);
        kept.statements.push(format!("{variable} = -EFAULT;"));
        return Ok((kept, step.span));
    }
    let (fault, taken) = way_out(subject, run, own)?;
    match &fault.jump {
        Jump::Break => Err(subject.refuse(own.span, Reason::Exit("break"))),
        Jump::None => Err(subject.refuse(own.span, Reason::Untested)),
        Jump::Return(_) | Jump::Goto(_) | Jump::Continue => Ok((fault, taken)),
    }
}

/// The function's side of the copy, where each element has the bytes of the user's.
fn elements(subject: &Subject<'_>, own: &Loop, site: &Site, counter: &Counter) -> Option<Copied> {
    let value = subject.expression(site.value)?;
    let address = subject.expression(site.address)?;
    let array = element(&value, counter)?;
    let users = match &address.term {
        Term::Address(place) => element(place, counter)?,
        Term::Binary(array, operator, index) => {
            let counts = operator == "+" && index.name() == Some(&counter.name);
            Some(&**array).filter(|_| counts)?
        }
        _ => return None,
    };
    let (one, other) = (of(subject, own, array)?, of(subject, own, users)?);
    let text = subject.line(array.span);
    let first = match counter.first {
        0 => text.clone(),
        _ => format!("&{text}[{}]", counter.written),
    };
    (one.size == other.size && is_number(&one) && is_number(&other)).then_some(Copied {
        first,
        array: text,
        reads: site.direction == Direction::Read,
        checks: site.range_check,
    })
}

/// `a` of `a[i]`
fn element<'e>(place: &'e Expression, counter: &Counter) -> Option<&'e Expression> {
    match &place.term {
        Term::Element { array, index } => {
            let counts = index.name() == Some(&counter.name);
            Some(&**array).filter(|_| counts)
        }
        _ => None,
    }
}

/// Whether every value is one of it, as its bytes are: of a truth they are not.
fn is_number(of: &Type) -> bool {
    match of.shape {
        Shape::Scalar { counts, .. } => counts,
        _ => false,
    }
}

/// What the elements are of an array, or behind a pointer, which the loop leaves alone.
fn of(subject: &Subject<'_>, own: &Loop, array: &Expression) -> Option<Type> {
    let root = array.root();
    let name = root.name()?;
    if !subject.flow.is_private(name) || is_set(subject, own.span, name) {
        return None;
    }
    match &array.term {
        Term::Name(_) => {
            let local = subject.flow.local(name).filter(|local| local.array);
            let written = match local {
                Some(local) => local.base_type.clone(),
                None => declared(subject, name)?.pointee(),
            };
            // What is not known has no bytes to copy.
            let Ok(of) = subject.styled.types.layout(&written) else {
                return None;
            };
            Some(of)
        }
        Term::Member { .. } => {
            let path = members(array, root)?;
            array_of(subject, &pointee(subject, name)?, &joined(&path)).map(|(of, _)| of)
        }
        _ => None,
    }
}
