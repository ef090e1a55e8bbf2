//! Sizes that are held against the object only behind the copy that may have gone beyond it.

use tree_sitter::Node;

use crate::compared::Ordered;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::allocation::Allocation;
use super::context::FunctionContext;
use super::narrowed::refused;
use super::{bounded, space, unbounded};

/// A size that is asked too late.
pub(crate) struct AskedLate {
    /// The number of bytes.
    pub(crate) number: String,
    /// Where it is refused.
    pub(crate) asked: Span,
}

/// What a function refuses behind a copy of so many bytes, and nothing before it: more than the
/// object has.
pub(crate) fn asked_late(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<AskedLate> {
    let number = access.bytes.as_ref()?.uncast().1;
    let place = matches!(number.term, Term::Name(_) | Term::Member { .. });
    let root = number.root().name().filter(|_| place)?;
    let mut asked = Vec::new();
    function.each_of(&["binary_expression"], |node| {
        let behind = node.start_byte() >= access.span.end;
        if behind && function.graph.names(span(node), root) {
            asked.extend(most(function, node, number));
        }
    });
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    let (at, _) = asked.into_iter().find(|(at, most)| {
        !is_changed(function, root, Span::new(access.span.end, at.start))
            && (is_size(function, most.uncast().1, value)
                || is_all(function, most.uncast().1, value, access.span))
    })?;
    function.pays()?;
    let before = bounded::is_compared_before(function, number, at, access.span)
        || unbounded::is_handed_before(function, number, access.span);
    (!before && function.comes_to(access.span, at)).then(|| AskedLate {
        number: function.file.plain(number.span),
        asked: at,
    })
}

/// What a number is refused above, where that leaves the function: `if (n > most) return -EINVAL;`
fn most(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    number: &Expression,
) -> Option<(Span, Expression)> {
    let own = function.expression_of(node);
    let Term::Binary(left, operator, right) = &own.term else {
        return None;
    };
    let is = |side: &Expression| side.uncast().1 == number;
    let other = match Ordered::of(&own) {
        Some(asked) if is(asked.more) => asked.less,
        None if operator == "!=" && is(left) => right,
        None if operator == "!=" && is(right) => left,
        _ => return None,
    };
    let then = function.graph.statement(span(refused(node)?))?;
    let leaves = function.graph.leaves(then);
    leaves.then(|| (span(node), other.clone()))
}

/// Whether a variable may take another value in a place.
fn is_changed(function: &FunctionContext<'_>, name: &str, place: Span) -> bool {
    let graph = function.graph;
    let mut effects = graph.effects.iter();
    effects.any(|own| {
        let keeps = matches!(
            own.kind,
            EffectKind::Read | EffectKind::Handed { by_address: false }
        );
        !keeps && place.contains(own.span) && graph.name_of(own) == name
    })
}

/// Whether a number is how many bytes were allocated for what a variable leads to.
fn is_all(
    function: &FunctionContext<'_>,
    number: &Expression,
    address: &Expression,
    at: Span,
) -> bool {
    let memory = address
        .name()
        .and_then(|name| Allocation::of(function, name, at));
    memory.is_some_and(|memory| {
        let size = memory.bytes(function);
        memory.is_of_bytes(function, number)
            || size.is_some() && space::bytes(function, number) == size
    })
}

/// Whether a number is how many bytes an address leads to.
fn is_size(function: &FunctionContext<'_>, number: &Expression, address: &Expression) -> bool {
    let object = match &address.term {
        Term::Address(place) => place,
        _ => address,
    };
    let written = match &number.term {
        Term::SizeOf(of) => match &of.term {
            Term::Behind(pointer) => **pointer == *address,
            _ => **of == *object,
        },
        _ => false,
    };
    written || {
        let local = address
            .name()
            .and_then(|name| function.local_at(name, address.span));
        let size = match (&address.term, local) {
            (_, Some(local)) if local.array => space::array(function, local),
            (Term::Address(_) | Term::Member { .. }, _) => {
                space::type_of(function, object).map(|of| of.size)
            }
            _ => None,
        };
        size.is_some() && space::bytes(function, number) == size
    }
}
