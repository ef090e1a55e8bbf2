//! Arrays of which as many bytes are set as they have elements, which are larger.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::site::span;

use super::context::FunctionContext;
use super::duplicated::Duplicated;
use super::{extent, space};

/// The macro of how many elements an array has (include/linux/array_size.h).
pub(crate) const LENGTH: &str = "ARRAY_SIZE";

/// What a call sets so: `memset(words, 0, WORDS)` of `u16 words[WORDS]`.
pub(crate) fn cleared_elements(
    function: &FunctionContext<'_>,
    call: Node<'_>,
) -> Option<Duplicated> {
    let places = function.file.words.clears(function.callee(call)?)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let (object, count) = (given.get(places.object)?, given.get(places.count)?);
    let array = array_of(object)?;
    let all = || {
        let all = count.call();
        all.is_some_and(|(name, of)| name == LENGTH && of.first() == Some(array))
    };
    // Most are told by sizeof, which is quick to see.
    let number = matches!(count.uncast().1.term, Term::Name(_) | Term::Number(_));
    (number || all()).then_some(())?;
    let element = space::element(function, array).filter(|own| *own > 1)?;
    let elements = space::elements(function, array)?;
    (all() || extent::constant(function, count)? == elements).then(|| Duplicated {
        place: span(call),
        count: count.span,
        object: function.file.plain(array.span),
        element,
    })
}

/// The array at an address: `words`, `&words`, `&words[0]`.
fn array_of(object: &Expression) -> Option<&Expression> {
    let own = object.uncast().1;
    match &own.term {
        Term::Address(place) => match &place.term {
            Term::Element { array, index } if index.is_zero() => Some(array),
            _ => Some(place),
        },
        Term::Name(_) | Term::Member { .. } => Some(own),
        _ => None,
    }
}
