//! A text of the user's of which a character is judged, and the number that it says is read anew.

use tree_sitter::Node;

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::node::Parts as _;
use crate::site::span;

use super::context::FunctionContext;
use super::fetch::Fetch;
use super::fetched_part::part_of;
use super::refetched::is_refused;

/// Whether the function holds what the first fetch gave within bounds, and goes by the number that
/// the second one reads of the same text: nothing bounds that.
pub(crate) fn is_parsed_again(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> bool {
    let same = first.asked.is_none() && part_of(&first.address, &second.address).is_some();
    let root = first.value_root.as_str();
    if !same || root.is_empty() {
        return false;
    }
    let mut held = false;
    function.each_of(&["binary_expression"], |node| {
        let own = span(node);
        let between = own.start >= first.span.end && own.end <= second.span.start;
        let compares = !held && between && compares(function.context.operator(node));
        held |= compares && function.graph.names(own, root) && is_bound(function, node);
    });
    held && !is_bounded(function, second)
}

/// Whether a comparison leaves a number none but some values: `c >= '0'`, `c != '1'`.
fn is_bound(function: &FunctionContext<'_>, comparison: Node<'_>) -> bool {
    match &function.expression_of(comparison).term {
        Term::Binary(left, operator, right) => {
            operator != "==" && !left.is_zero() && !right.is_zero()
        }
        _ => false,
    }
}

/// Whether the number that a fetch read is refused where it is too large, or is a truth.
fn is_bounded(function: &FunctionContext<'_>, fetch: &Fetch<'_>) -> bool {
    let filled = fetch.value.as_ref().map(|own| &own.term);
    let Some(Term::Address(place)) = filled else {
        return false;
    };
    let Some(name) = place.name() else {
        return false;
    };
    let mut behind = function.mentions(name);
    let refused =
        behind.any(|node| node.start_byte() >= fetch.span.end && is_refused(function, node));
    let effects = function.graph.effects.iter();
    let mut used = effects.filter(|own| {
        let reads = !matches!(own.kind, EffectKind::Write(_));
        reads && function.graph.name_of(own) == name && own.span.start >= fetch.span.end
    });
    refused || used.next().is_none() || asks_whether(function, place)
}

/// Whether the function only asks whether a number is anything but 0.
fn asks_whether(function: &FunctionContext<'_>, number: &Expression) -> bool {
    let mut asked = 0;
    let mut all = 0;
    for node in number
        .name()
        .into_iter()
        .flat_map(|name| function.mentions(name))
    {
        all += 1;
        let around = function.above(node);
        asked += usize::from(around.is_some_and(|own| {
            matches!(
                own.known_kind(),
                "unary_expression" | "parenthesized_expression"
            )
        }));
    }
    // The declaration, and the call that reads it.
    asked > 0 && asked + 2 >= all
}
