//! Copies of which nobody asks whether they ended in the middle.

use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;

/// The comparison of what a copy left with all that it was asked for, where nothing else
/// looks at the variable that holds it.
pub(crate) fn only_whole(function: &FunctionContext<'_>, name: &str, copy: Span) -> Option<Span> {
    let graph = function.graph;
    graph.local(name).filter(|local| local.plain)?;
    let mut copies = function.accesses.iter().chain(function.through);
    let copy = copies.find(|own| own.span == copy)?;
    let bytes = copy.bytes.as_ref()?.uncast().1;
    let own = |effect: &&Effect| graph.name_of(effect) == name;
    let mut others = graph
        .effects
        .iter()
        .filter(own)
        .filter(|effect| !matches!(effect.kind, EffectKind::Write(_)));
    let mut tests = Vec::new();
    function.each_of(&["binary_expression"], |node| {
        if graph.names(span(node), name) && is_of_whole(&function.expression_of(node), name, bytes)
        {
            tests.push(span(node));
        }
    });
    let only = others.all(|effect| tests.iter().any(|test: &Span| test.contains(effect.span)));
    tests.first().copied().filter(|_| only)
}

/// `left == count`, where `count` is what was asked for.
fn is_of_whole(asked: &Expression, name: &str, bytes: &Expression) -> bool {
    let Term::Binary(left, operator, right) = &asked.term else {
        return false;
    };
    let (left, right) = (left.uncast().1, right.uncast().1);
    let is = |one: &Expression, other: &Expression| one.name() == Some(name) && other == bytes;
    matches!(operator.as_str(), "==" | "!=" | ">=" | "<") && (is(left, right) || is(right, left))
}
