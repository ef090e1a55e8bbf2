//! Calls that add a position to the object that they are given, where that begins there already.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;

/// An object that a call is given from a position on that it adds itself.
pub(crate) struct Twice {
    /// The call.
    pub(crate) call: Span,
    /// Its name.
    pub(crate) name: String,
    /// The object as it is given.
    pub(crate) object: Span,
    /// The value of the position, where it is added first.
    pub(crate) added: Span,
}

/// `simple_write_to_buffer(buf + *pos, room, pos, from, n)`
pub(crate) fn position_twice(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Twice> {
    let name = function.callee(call)?;
    let (object, position) = arguments(function, name)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let object = given.get(object)?.uncast().1;
    let value = led_to(given.get(position)?.uncast().1);
    let begins = || {
        let taken = function.graph.only_value(object.name()?)?;
        let taken = function.expression(taken)?;
        added(function, taken.uncast().1, &value)
    };
    Some(Twice {
        added: added(function, object, &value).or_else(begins)?,
        call: span(call),
        name: name.to_owned(),
        object: object.span,
    })
}

/// The name of a call that moves a position on by what it copied, and that position.
pub(crate) fn moved_on(
    function: &FunctionContext<'_>,
    call: Node<'_>,
) -> Option<(String, Expression)> {
    let name = function.callee(call)?;
    let (_, position) = arguments(function, name)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let position = led_to(given.get(position)?.uncast().1);
    Some((name.to_owned(), position))
}

/// Which argument of a call is an object, and which leads to the position that it adds to that.
fn arguments(function: &FunctionContext<'_>, name: &str) -> Option<(usize, usize)> {
    let words = function.file.words;
    let results = words.results();
    let filled = results.fills_from(name);
    filled
        .map(|own| (own.object, own.position))
        .or_else(|| Some((words.shows(name)?.value, results.begins_at(name)?)))
}

/// What a pointer leads to: `n` of `&n`, `*p` of `p`.
fn led_to(position: &Expression) -> Expression {
    match &position.term {
        Term::Address(place) => place.uncast().1.clone(),
        _ => position.behind(),
    }
}

/// Where a sum, or the address of an element, has a value among what is added.
fn added(function: &FunctionContext<'_>, sum: &Expression, value: &Expression) -> Option<Span> {
    let parts = match &sum.term {
        Term::Address(place) => match &place.term {
            Term::Element { index, .. } => index.uncast().1.joined("+"),
            _ => return None,
        },
        _ => sum.joined("+").into_iter().skip(1).collect(),
    };
    let mut parts = parts.into_iter().map(|own| own.uncast().1);
    let own = parts.find(|own| *own == value || is_value(function, own, value));
    own.map(|own| own.span)
}

/// Whether a variable holds nothing but that value.
fn is_value(function: &FunctionContext<'_>, own: &Expression, value: &Expression) -> bool {
    let taken = own
        .name()
        .and_then(|name| function.graph.only_value(name))
        .and_then(|taken| function.expression(taken));
    taken.is_some_and(|taken| taken.uncast().1 == value)
}
