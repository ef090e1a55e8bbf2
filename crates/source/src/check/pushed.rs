//! Stacks of the user's that grow by fewer bytes than are written there: the rest goes over what lies on
//! top of them.

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::callee::look_into;
use super::context::FunctionContext;
use super::space;

/// What is written so.
pub(crate) struct Pushed {
    /// The top of the stack, and by how much it is moved.
    pub(crate) top: Span,
    pub(crate) moved: Span,
    /// How many bytes that may be, and how many are written.
    pub(crate) least: u64,
    pub(crate) bytes: u64,
}

/// `to = regs->sp - 4; copy_to_user(to, &v, 8); regs->sp = to;`
pub(crate) fn pushed(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Pushed> {
    (access.word.direction == Direction::Write).then_some(())?;
    let user = function.expression(access.user)?;
    let place = user.uncast().1;
    let (top, moved) = moved_later(function, place, access.span)
        .or_else(|| moved_before(function, place, access.span))?;
    let bytes = written(function, access, &user)?;
    let least = least(function, moved.uncast().1).filter(|least| *least < bytes)?;
    Some(Pushed {
        top: top.span,
        moved: moved.span,
        least,
        bytes,
    })
}

/// The top that takes what a variable is, `to = top - n; …; top = to;`, and `n`.
fn moved_later(
    function: &FunctionContext<'_>,
    place: &Expression,
    at: Span,
) -> Option<(Expression, Expression)> {
    let to = place.name()?;
    let value = function.graph.only_value(to)?;
    let value = function
        .expression(value)
        .filter(|_| value.end <= at.start)?;
    let Term::Binary(top, operator, moved) = &value.uncast().1.term else {
        return None;
    };
    let own = operator == "-" && is_moved_to(function, top.uncast().1, to);
    own.then(|| ((**top).clone(), (**moved).clone()))
}

/// The top itself, `top -= n; …`, and `n`, where that is all that is done to it before.
fn moved_before(
    function: &FunctionContext<'_>,
    place: &Expression,
    at: Span,
) -> Option<(Expression, Expression)> {
    let root = match &place.term {
        Term::Name(_) | Term::Member { .. } => place.root().name()?,
        _ => return None,
    };
    let mut found = Vec::new();
    function.each_of(&["assignment_expression"], |node| {
        let own = span(node);
        if own.end > at.start || !function.graph.names(own, root) {
            return;
        }
        match &function.expression_of(node).term {
            Term::Assignment(left, operator, moved) if **left == *place => {
                found.push((own, operator == "-=", (**moved).clone()));
            }
            _ => {}
        }
    });
    match found.as_slice() {
        [(own, true, moved)] if function.graph.passes(&[*own], at) => {
            Some((place.clone(), moved.clone()))
        }
        _ => None,
    }
}

/// How many bytes an access writes: so many as it is told, or as its address leads to.
fn written(function: &FunctionContext<'_>, access: &Access<'_>, user: &Expression) -> Option<u64> {
    if let Some(count) = &access.bytes {
        return space::bytes(function, count.uncast().1);
    }
    let of = space::pointee(function, user)?;
    function.file.layout(&of).map(|own| own.size)
}

/// Whether a place takes the address that a variable has.
fn is_moved_to(function: &FunctionContext<'_>, top: &Expression, to: &str) -> bool {
    let mut found = false;
    function.each_of(&["assignment_expression"], |node| {
        if found || !function.graph.names(span(node), to) {
            return;
        }
        found = match &function.expression_of(node).term {
            Term::Assignment(left, operator, right) => {
                operator == "=" && **left == *top && right.uncast().1.name() == Some(to)
            }
            _ => false,
        };
    });
    found
}

/// The least that a number is: a constant, or what a function of the file gives that gives nothing
/// else.
fn least(function: &FunctionContext<'_>, number: &Expression) -> Option<u64> {
    if let Some(known) = space::bytes(function, number) {
        return Some(known);
    }
    let (name, _) = number.call()?;
    look_into(function, name, |callee| {
        let mut least = Some(u64::MAX);
        callee.each_of(&["return_statement"], |node| {
            let given = node.named_child(0).map(|own| callee.expression_of(own));
            let given = given.and_then(|own| of_choice(callee, &own));
            least = least.zip(given).map(|(one, other)| one.min(other));
        });
        least.filter(|least| *least != u64::MAX)
    })
}

/// The lesser of two constants, where both are: `wide ? 8 : 4`.
fn of_choice(function: &FunctionContext<'_>, value: &Expression) -> Option<u64> {
    match &value.uncast().1.term {
        Term::Choice(_, Some(one), other) => {
            Some(of_choice(function, one)?.min(of_choice(function, other)?))
        }
        _ => space::bytes(function, value.uncast().1),
    }
}
