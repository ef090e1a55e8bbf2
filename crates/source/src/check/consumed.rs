//! All that a program gave, told it as taken where a call has said how much of that it took.

use tree_sitter::Node;

use crate::compared::compares;
use crate::expression::Expression;
use crate::flow::{Effect, EffectKind, StatementKind};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::bounded::is_of_zero;
use super::context::FunctionContext;
use super::fate::taken;

/// A number of bytes that is told.
pub(crate) struct Consumed {
    /// The call that takes some, and what says how many.
    pub(crate) took: Span,
    pub(crate) by: String,
    pub(crate) told: String,
    /// Where the whole is told, and its name.
    pub(crate) place: Span,
    pub(crate) whole: String,
}

/// All of a function.
pub(crate) fn consumed(function: &FunctionContext<'_>) -> Vec<Consumed> {
    let calls = function.calls.iter();
    let found = calls.filter_map(|call| of_call(function, *call));
    found.collect()
}

fn of_call(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Consumed> {
    let by = function.callee(call)?;
    let at = function.file.words.consumes(by)?;
    let given = function.expression_of(call);
    let whole = given.call()?.1.get(at)?.uncast().1.name()?.to_owned();
    let kept = function.is_parameter(&whole) && !function.graph.takes_a_value(&whole);
    let result = function.graph.effects.get(taken(function, call)?.effect)?;
    let told = function.graph.name_of(result);
    let took = span(call);
    let open = kept && !is_limited(function, &whole) && is_left(function, told, took);
    let place = open.then(|| gives(function, &whole, took)).flatten()?;
    Some(Consumed {
        took,
        by: by.to_owned(),
        told: told.to_owned(),
        place,
        whole,
    })
}

/// Whether anything holds a number against another one than 0: who refuses more than is taken knows.
fn is_limited(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let mut compared = graph.comparisons.iter();
    compared.any(|at| graph.names(*at, name) && !is_of_zero(function, *at))
}

/// Whether nothing is done with what a variable takes there but to ask whether it is an error, and to give
/// that on where it is.
fn is_left(function: &FunctionContext<'_>, name: &str, took: Span) -> bool {
    let graph = function.graph;
    let local = graph
        .local(name)
        .is_some_and(|own| own.plain && !own.lasting);
    let sets = |node: Node<'_>| {
        let sets = |own: &Effect| matches!(own.kind, EffectKind::Write(_));
        graph.effects_in(span(node)).any(sets)
    };
    let mut nodes = function
        .mentions(name)
        .filter(|own| own.start_byte() >= took.end);
    local
        && !graph.unseen.contains(name)
        && nodes
            .all(|node| sets(node) || is_asked(function, node) || is_given_on(function, node, name))
}

/// Whether a node is held against 0 in a condition.
fn is_asked(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut around = function.around(node).take_while(|own| !own.is_statement());
    around.any(|own| {
        let compared =
            own.known_kind() == "binary_expression" && compares(function.context.operator(own));
        compared && is_of_zero(function, span(own))
    })
}

/// Whether a node is given where an `if` has asked for the same.
fn is_given_on(function: &FunctionContext<'_>, node: Node<'_>, name: &str) -> bool {
    let mut around = function.around(node);
    let statement = around.find(|own| own.is_statement());
    let returned = statement.is_some_and(|own| own.known_kind() == "return_statement");
    returned
        && around.any(|own| {
            let condition = own
                .part("condition")
                .filter(|_| own.known_kind() == "if_statement");
            condition.is_some_and(|own| function.graph.names(span(own), name))
        })
}

/// Where the function gives all of it behind the call: at once, or by a variable that it gives.
fn gives(function: &FunctionContext<'_>, whole: &str, took: Span) -> Option<Span> {
    let graph = function.graph;
    let returns = graph.statements.iter();
    let returns = returns.filter(|own| own.kind == StatementKind::Return);
    let given: Vec<Span> = returns.filter_map(|own| own.expression).collect();
    let is = |own: &Expression, name: &str| own.uncast().1.name() == Some(name);
    let gives = |place: Span, name: &str| {
        let own = function.expression(place);
        own.is_some_and(|own| is(&own, name))
    };
    let behind = |place: &Span| place.start >= took.end;
    let once = given.iter().copied().filter(behind);
    let once = once.filter(|place| gives(*place, whole)).min();
    let mut stored = graph.assignments().filter(|(name, value)| {
        behind(value) && gives(*value, whole) && given.iter().any(|own| gives(*own, name))
    });
    once.or_else(|| stored.next().map(|(_, value)| value))
}
