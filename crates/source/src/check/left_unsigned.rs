//! What is left of a size behind a position of the program's, as a number that is never less than 0.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

use super::allocation::argument;
use super::context::FunctionContext;
use super::tokens::{parameter_spans, parameters};
use super::{bounded, space, unbounded};

/// Such a number.
pub(crate) struct LeftUnsigned {
    /// The difference, and its two parts.
    pub(crate) left: Expression,
    pub(crate) whole: Expression,
    pub(crate) position: Expression,
}

/// `min_t(size_t, SIZE - *pos, count)`, where nothing asks whether the position is within that: what is
/// left is then the largest number there is.
pub(crate) fn left_unsigned(
    function: &FunctionContext<'_>,
    call: Node<'_>,
) -> Option<LeftUnsigned> {
    let name = function.callee(call)?;
    function.file.words.gives_least(name).then_some(())?;
    let whole = function.expression_of(call);
    let [of, sides @ ..] = whole.call()?.1 else {
        return None;
    };
    // The type, and two numbers.
    let [_, _] = sides else { return None };
    let left = sides.iter().find_map(difference)?;
    let Term::Binary(size, _, position) = &left.term else {
        return None;
    };
    let position = position.uncast().1;
    let at = Span::new(call.start_byte(), call.start_byte());
    let of = function.file.layout(&argument(function, of.span.start))?;
    matches!(of.shape, Shape::Scalar { signed: false, .. }).then_some(())?;
    (of.size >= 4).then_some(())?;
    is_free(function, position, at).then(|| LeftUnsigned {
        left: left.clone(),
        whole: size.uncast().1.clone(),
        position: position.clone(),
    })
}

/// `SIZE - pos`
fn difference(side: &Expression) -> Option<&Expression> {
    let own = side.uncast().1;
    match &own.term {
        Term::Binary(_, operator, position) if operator == "-" => {
            let position = position.uncast().1;
            let place = match &position.term {
                Term::Name(_) | Term::Member { .. } => true,
                Term::Behind(pointer) => pointer.name().is_some(),
                _ => false,
            };
            place.then_some(own)
        }
        _ => None,
    }
}

/// Whether a position is the program's, and nothing holds it against anything or may judge it.
fn is_free(function: &FunctionContext<'_>, position: &Expression, at: Span) -> bool {
    let number = match space::bytes(function, position) {
        Some(_) => return false,
        None => position,
    };
    let root = number.root().name();
    let origin = root.and_then(|name| function.expression(function.graph.only_value(name)?));
    let origin = origin.as_deref().map_or(number, |own| own.uncast().1);
    let compared = |own: &Expression| bounded::is_compared(function, own, at);
    let given = || is_given(function, origin) || unbounded::users(function, number, at).is_some();
    !compared(number)
        && !compared(origin)
        && given()
        && !unbounded::is_handed_before(function, number, at)
        && !is_handed(function, origin, at)
}

/// Whether a call before a place is given the pointer to the position, and may move or judge it.
fn is_handed(function: &FunctionContext<'_>, position: &Expression, at: Span) -> bool {
    let Term::Behind(pointer) = &position.term else {
        return false;
    };
    let mut calls = function.calls.iter();
    calls.any(|call| {
        let whole = function.expression_of(*call);
        let given = whole.call().map_or(&[][..], |(_, given)| given);
        span(*call).end <= at.start && given.iter().any(|own| own.uncast().1 == &**pointer)
    })
}

/// Whether a position is what a parameter leads to, by which a function that no other of the file
/// calls is told where a program reads or writes: a `loff_t *` beside a pointer of the user's.
fn is_given(function: &FunctionContext<'_>, position: &Expression) -> bool {
    let (file, body) = (function.file, function.body);
    let Term::Behind(pointer) = &position.term else {
        return false;
    };
    let name = pointer.name().filter(|name| function.is_parameter(name));
    let Some(name) = name.filter(|name| !function.graph.takes_a_value(name)) else {
        return false;
    };
    let all = parameters(file.text, file.tokens, body);
    let places = parameter_spans(file.tokens, body);
    let (Some(all), Some(places)) = (all, places) else {
        return false;
    };
    let has = |place: &Span, wanted: &str| {
        let mut words = file.tokens_in(*place).iter();
        words.any(|own| own.span.of(file.text) == wanted.as_bytes())
    };
    let mut own = all.iter().zip(&places).filter(|(own, _)| *own == name);
    let offset = own.any(|(_, place)| has(place, OFFSET));
    let users = places.iter().any(|place| has(place, "__user"));
    offset && users && file.callers(body).next().is_none()
}

/// The type of a place in a file (include/linux/types.h).
const OFFSET: &str = "loff_t";
