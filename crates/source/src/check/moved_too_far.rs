//! Positions of a program in a file that are moved on by all that was asked for, where what is
//! answered says that less was copied.

use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::carried::{assigned, given};
use super::context::FunctionContext;
use super::known::Told;

/// What is moved on too far.
pub(crate) struct TooFar {
    /// Where it is moved on.
    pub(crate) moved: Span,
    /// The `return` of what was copied.
    pub(crate) answered: Span,
}

/// `left = copy_to_user(to, from, n); *position += n; return n - left;`
pub(crate) fn too_far(function: &FunctionContext<'_>, position: &str) -> Option<TooFar> {
    let returns = function.graph.statements.iter().filter_map(given);
    let mut all = returns.filter_map(|place| {
        let own = function.expression(place)?;
        let Term::Binary(whole, operator, left) = &own.uncast().1.term else {
            return None;
        };
        let left = left.uncast().1.name().filter(|_| operator == "-")?;
        is_left(function, left).then(|| (place, whole.uncast().1.clone(), left.to_owned()))
    });
    all.find_map(|(answered, whole, left)| {
        let moved = moved_by(function, position, &whole)?;
        let asked = is_asked(function, moved, &left);
        (!asked && function.comes_to(moved, answered)).then_some(TooFar { moved, answered })
    })
}

/// Whether a variable takes how many bytes a copy left.
fn is_left(function: &FunctionContext<'_>, name: &str) -> bool {
    function.calls.iter().any(|call| {
        let told = function.callee(*call).and_then(|own| function.told(own));
        let taken = (told == Some(Told::Left)).then(|| assigned(function, *call));
        let taken = taken.flatten().map(|own| function.expression_of(own));
        taken.is_some_and(|own| own.uncast().1.name() == Some(name))
    })
}

/// Where what a pointer leads to is moved on by that: `*p += n`.
fn moved_by(function: &FunctionContext<'_>, pointer: &str, by: &Expression) -> Option<Span> {
    let mut found = None;
    function.each_of(&["assignment_expression"], |node| {
        let Term::Assignment(left, operator, value) = &function.expression_of(node).term else {
            return;
        };
        let own = matches!(&left.term, Term::Behind(of) if of.uncast().1.name() == Some(pointer));
        if own && operator == "+=" && value.uncast().1 == by {
            found = found.or(Some(span(node)));
        }
    });
    found
}

/// Whether a condition around a place asks for a variable.
fn is_asked(function: &FunctionContext<'_>, place: Span, name: &str) -> bool {
    let node = function
        .root
        .descendant_for_byte_range(place.start, place.end);
    let mut around = std::iter::successors(node, |own| function.above(*own));
    around.any(|own| {
        let condition = own.part("condition");
        condition.is_some_and(|own| function.graph.names(span(own), name))
    })
}
