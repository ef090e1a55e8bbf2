//! The accesses of a condition that asks for nothing else.

use std::collections::BTreeSet;

use tollgate_source::{Direction, EffectKind, Expression, Reach, Site, Span, Term};

use crate::planning::checked::bytes;
use crate::planning::checked::check::Check;
use crate::planning::checked::implied;
use crate::planning::is_pointer;
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// An access that relies on a check elsewhere.
pub(super) struct Access {
    pub(super) site: Site,
    /// How much a copy copies; none for a single value.
    pub(super) size: Option<Span>,
}

/// The accesses that a condition is, joined by `||`; none if it asks for more.
///
/// # Errors
/// When one of them may not happen in a window, or not in the one of this check.
pub(super) fn of(
    subject: &Subject<'_>,
    check: &Check<'_>,
    condition: Span,
) -> Result<Option<Vec<Access>>, Refusal> {
    let Some(whole) = subject.expression(condition) else {
        return Ok(None);
    };
    let operands = whole.joined("||");
    let all: Option<Vec<Access>> = operands
        .iter()
        .map(|operand| access(subject, check, operand))
        .collect();
    let Some(all) = all else {
        return Ok(None);
    };
    for (own, operand) in all.iter().zip(&operands) {
        allowed(subject, check, own, operand)?;
    }
    Ok(Some(all))
}

fn access(subject: &Subject<'_>, check: &Check<'_>, own: &Expression) -> Option<Access> {
    let (name, arguments) = own.call()?;
    let at = |index: usize| arguments.get(index).map(|argument| argument.span);
    let site = |direction, range_check, value, address| Site {
        call: name.to_owned(),
        direction,
        range_check,
        span: own.span,
        position: subject.lines.position(own.span.start),
        value,
        address,
        object: subject.line(check.object),
        reach: Reach::Computed,
        hazards: Vec::new(),
    };
    if let Some(known) = subject.vocabulary.access(name.as_bytes()) {
        let (value, address) = (at(known.value)?, at(known.address?)?);
        return (!known.wrapper).then(|| Access {
            site: site(known.direction, known.range_check, value, address),
            size: None,
        });
    }
    let known = subject.vocabulary.copy(name.as_bytes())?;
    let kernel = (0..arguments.len()).find(|at| ![known.user, known.size].contains(at))?;
    let writes = known.direction == Direction::Write && arguments.len() == 3;
    let offered = writes && subject.offers.unsafe_copies;
    Some(Access {
        site: site(
            known.direction,
            known.range_check,
            at(kernel)?,
            at(known.user)?,
        ),
        size: Some(at(known.size)?),
    })
    .filter(|_| offered)
}

fn allowed(
    subject: &Subject<'_>,
    check: &Check<'_>,
    own: &Access,
    operand: &Expression,
) -> Result<(), Refusal> {
    let refuse = |reason| Err(subject.refuse(own.site.span, reason));
    let address = subject.line(own.site.address);
    // What checks its own range may reach beyond that of the check.
    let copies = own.size.is_some() && !implied::holds(subject, check, own);
    if own.site.range_check != check.implied || check.implied && copies {
        return refuse(Reason::Range(address));
    }
    if check.implied && !implied::is_within(subject, check, own) {
        let object = subject.line(check.object);
        return refuse(Reason::Objects(format!("{object}, {address}")));
    }
    let sides = [own.site.address, own.site.value];
    let typed = |side: &Span| bytes::are_behind(subject, *side) == Some(false);
    if own.size.is_some() && sides.iter().any(typed) {
        return refuse(Reason::Typed(address));
    }
    if !is_related(subject, check, own.site.address) {
        let object = subject.line(check.object);
        return refuse(Reason::Objects(format!("{object}, {address}")));
    }
    let (_, arguments) = operand.call().unzip();
    for argument in arguments.unwrap_or_default() {
        if !subject.calls.none_in(subject.flow, argument.span) {
            let call = argument.call().map_or(address, |(name, _)| name.to_owned());
            return refuse(Reason::Call(call));
        }
        if let Some(array) = subject.flow.index_in(argument.span)
            && !is_pointer(subject, &subject.at(array))
        {
            return refuse(Reason::Index(subject.at(array)));
        }
    }
    Ok(())
}

/// Whether an address lies in the object that is checked, or both are made from one
/// variable of the function.
fn is_related(subject: &Subject<'_>, check: &Check<'_>, address: Span) -> bool {
    let (Some(object), Some(address)) = (
        subject.expression(check.object),
        subject.expression(address),
    ) else {
        return false;
    };
    let object = object.uncast().1;
    if object.name().is_none() {
        return address.any(&|part| part == object);
    }
    let own = origins(subject, &address);
    origins(subject, object)
        .iter()
        .any(|name| own.contains(name))
}

/// The variable that an address is made from, and those that its value was made from.
fn origins(subject: &Subject<'_>, address: &Expression) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut work: Vec<String> = base(address, true).into_iter().collect();
    while let Some(name) = work.pop() {
        if !found.insert(name.clone()) {
            continue;
        }
        let flow = subject.flow;
        let effects = flow.effects_in(subject.function.body);
        let whole = effects.filter(|e| flow.is_whole(e) && flow.name_of(e) == name);
        work.extend(whole.filter_map(|effect| match &effect.kind {
            EffectKind::Write(write) => base(&subject.expression(write.value?)?, false),
            _ => None,
        }));
    }
    found
}

/// The variable whose value an address is made from. A member stands for an array in
/// what user space has, where the address of an access is one; elsewhere it may be
/// another pointer.
fn base(own: &Expression, members: bool) -> Option<String> {
    match &own.term {
        Term::Name(name) => Some(name.clone()),
        Term::Cast(_, inner) | Term::Step(inner) => base(inner, members),
        Term::Binary(left, operator, _) if matches!(operator.as_str(), "+" | "-") => {
            base(left, members)
        }
        Term::Address(place) => base_of_place(place, members),
        Term::Member { holder, .. } if members => base(holder, members),
        Term::Call(_, arguments) if members => base(arguments.first()?, members),
        _ => None,
    }
}

/// The same for the address of a place.
fn base_of_place(place: &Expression, members: bool) -> Option<String> {
    match &place.term {
        Term::Member {
            holder,
            arrow: false,
            ..
        } => base_of_place(holder, members),
        Term::Member { holder, .. } => base(holder, members),
        Term::Element { array, .. } => {
            base(array, members).or_else(|| base_of_place(array, members))
        }
        Term::Behind(pointer) => base(pointer, members),
        _ => None,
    }
}
