//! Calls that are told of all the room that an object has, and begin behind its front.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::site::span;
use crate::span::Span;

use super::allocation::Allocation;
use super::bounded::comes_before;
use super::context::FunctionContext;
use super::space;

/// What such a call is given.
pub(crate) struct ToldRoom {
    /// The object.
    pub(crate) front: Expression,
    /// How many elements behind that the call begins.
    pub(crate) index: Expression,
    /// How much it is told that there is.
    pub(crate) room: Expression,
    /// The call.
    pub(crate) at: Span,
}

/// `snprintf(buf + n, sizeof(buf), …)`, `f(&p[n], size)` of the `size` bytes that were allocated.
pub(crate) fn told_room(function: &FunctionContext<'_>, call: Node<'_>) -> Option<ToldRoom> {
    let whole = function.expression_of(call);
    let (name, given) = whole.call()?;
    let words = function.file.words;
    words.access(name).is_none().then_some(())?;
    let beside = given.windows(2).filter_map(|two| match two {
        [address, room] => Some((address, room)),
        _ => None,
    });
    // `memset(buf + n, 0, sizeof(buf))`
    let clears = words.clears(name).map(|own| (own.object, own.count));
    let fills = || {
        words
            .fills(name)
            .and_then(|own| Some((own.object, own.count?)))
    };
    let known = clears.or_else(fills);
    let known = known.and_then(|(object, count)| Some((given.get(object)?, given.get(count)?)));
    let mut pairs = beside.chain(known);
    pairs.find_map(|(address, room)| {
        let (front, index) = behind(address.uncast().1)?;
        let room = room.uncast().1;
        let all = is_all(function, front, room, span(call));
        (all && may_be_more(function, index, span(call))).then(|| ToldRoom {
            front: front.clone(),
            index: index.clone(),
            room: room.clone(),
            at: span(call),
        })
    })
}

/// The front and the index of `a + n`, `&a[n]`.
fn behind(address: &Expression) -> Option<(&Expression, &Expression)> {
    let (front, index) = match &address.term {
        Term::Binary(front, operator, index) if operator == "+" => (front, index),
        Term::Address(place) => match &place.term {
            Term::Element { array, index } => (array, index),
            _ => return None,
        },
        _ => return None,
    };
    Some((front.uncast().1, index.uncast().1))
}

/// Whether a number is how many bytes all of an array has, or the memory that was allocated.
fn is_all(function: &FunctionContext<'_>, front: &Expression, room: &Expression, at: Span) -> bool {
    if let Term::SizeOf(of) = &room.term {
        return of.uncast().1 == front && space::array_bytes(function, front).is_some();
    }
    let memory = || Allocation::of(function, front.name()?, at);
    let written = matches!(room.term, Term::Name(_) | Term::Member { .. });
    written && memory().is_some_and(|memory| memory.is_size(function, room))
}

/// Whether an index may be anything but 0: a constant, or a variable that takes more before.
fn may_be_more(function: &FunctionContext<'_>, index: &Expression, at: Span) -> bool {
    if let Some(known) = space::bytes(function, index) {
        return known != 0;
    }
    let Some(name) = index.name() else {
        return matches!(index.term, Term::Member { .. });
    };
    let graph = function.graph;
    let mut own = graph
        .effects
        .iter()
        .filter(|own| graph.name_of(own) == name);
    own.any(|own| {
        let zero = |value: Span| {
            let value = function.expression(value);
            value.is_some_and(|value| space::bytes(function, &value) == Some(0))
        };
        let more = match &own.kind {
            EffectKind::Write(write) => write.next || write.value.is_some_and(|own| !zero(own)),
            _ => false,
        };
        // What the call itself goes into comes behind it.
        let end = Span::new(own.span.end, own.span.end);
        more && comes_before(function, end, at)
    })
}
