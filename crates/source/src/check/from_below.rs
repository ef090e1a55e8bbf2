//! Numbers of bytes of which a function asks no more than whether they are as many as an object has.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

use super::context::FunctionContext;
use super::only_least::{at_least, guards};
use super::range::file_scalar_type;
use super::room::{room, size_at};
use super::{bounded, space, unbounded};

/// What is asked of such a number.
pub(crate) struct FromBelow {
    /// How many bytes the object has.
    pub(crate) size: String,
    /// Where less is refused, or what is done only where it is no less.
    pub(crate) asked: Span,
}

/// What is asked of a parameter by which a call copies to or from an object, where that is only
/// whether it is less than the object has.
pub(crate) fn from_below(
    function: &FunctionContext<'_>,
    call: Node<'_>,
    number: &Expression,
    value: &Expression,
) -> Option<FromBelow> {
    let name = number.name().filter(|own| function.is_parameter(own))?;
    let at = span(call);
    let size = size_at(function, value).or_else(|| Some(room(function, value, at)?.size));
    let object = object(function, value);
    let told = match (size, object) {
        (Some(size), _) => size.to_string(),
        (None, of) => format!("sizeof({})", function.file.plain(of?.span)),
    };
    function.pays()?;
    let is_size = |own: &Expression| {
        let of_it = matches!(&own.term, Term::SizeOf(of) if Some(of.uncast().1) == object);
        of_it || size.is_some() && space::bytes(function, own) == size
    };
    let guards = guards(function, call).into_iter();
    let mut guards = guards.filter_map(|own| at_least(function, own, number));
    let (asked, only_here) = match refused(function, (number, at), &is_size) {
        Some(asked) => (asked, false),
        None => (guards.find(|(_, least)| is_size(least))?.0, true),
    };
    let bounded = bounded::is_compared_before(function, number, asked, at)
        || unbounded::is_handed_before(function, number, at)
        || function.graph.takes_a_value(name);
    let own = !bounded && (only_here || function.graph.passes(&[asked], at));
    own.then_some(FromBelow { size: told, asked })
}

/// What lies where an address leads, of a size that nobody knows: no pointer to it.
fn object<'e>(function: &FunctionContext<'_>, address: &'e Expression) -> Option<&'e Expression> {
    match &address.term {
        Term::Address(place) => place.name().map(|_| place.uncast().1),
        // What a macro declares is neither of the function's nor known by its type.
        Term::Name(name) => {
            let known = function.is_parameter(name)
                || function.local_at(name, address.span).is_some()
                || file_scalar_type(function, name).is_some()
                || space::type_of(function, address)
                    .is_some_and(|own| !matches!(own.shape, Shape::Array(..)));
            (!known).then_some(address)
        }
        _ => None,
    }
}

/// Where a number is refused before a place that is less than a size, or something else is done
/// with it.
fn refused(
    function: &FunctionContext<'_>,
    (number, at): (&Expression, Span),
    is_size: &dyn Fn(&Expression) -> bool,
) -> Option<Span> {
    let name = number.name()?;
    let mut found = None;
    function.each_of(&["binary_expression"], |node| {
        if found.is_some() || !function.graph.names(span(node), name) {
            return;
        }
        let whole = function.expression_of(node);
        let Term::Binary(left, _, right) = &whole.term else {
            return;
        };
        let sized = [left, right].iter().any(|own| is_size(own.uncast().1));
        let is_it = |own: &Expression| own == number;
        let otherwise =
            || bounded::asks_for_less(function, node, is_it) && bounded::is_otherwise(node, at);
        let less = sized && (bounded::refuses_less(function, node, is_it) || otherwise());
        found = less.then(|| span(node));
    });
    found
}
