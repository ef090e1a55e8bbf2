//! Which places of a function lead to another one: what other cases of a `switch` do says nothing there.

use tree_sitter::Node;

use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;

/// Of so many places it is asked whether they lead anywhere.
const PLACES: usize = 128;

/// Those of some places from which no way leads to another one; none where there are too many to ask.
pub(crate) fn elsewhere<'t>(
    function: &FunctionContext<'t>,
    named: impl Iterator<Item = Node<'t>>,
    at: Span,
) -> Vec<Span> {
    let named: Vec<Node<'t>> = named.take(PLACES + 1).collect();
    let ends = function.touching(at);
    if named.len() > PLACES || ends.is_empty() {
        return Vec::new();
    }
    let leading = leading(function, &ends);
    let leads = |own: &Node<'t>| {
        let nodes = function.touching(span(whole(function, *own)));
        nodes.is_empty() || nodes.iter().any(|own| leading.get(*own) == Some(&true))
    };
    let others = named.into_iter().filter(|own| !leads(own));
    others.map(span).collect()
}

/// The place that is named, its address, or what it takes: `&x.a` where `x` stands.
pub(crate) fn whole<'t>(function: &FunctionContext<'t>, variable: Node<'t>) -> Node<'t> {
    let around = function.around(variable);
    let places = around.take_while(|own| {
        let kind = own.known_kind();
        matches!(
            kind,
            "field_expression"
                | "pointer_expression"
                | "subscript_expression"
                | "assignment_expression"
        )
    });
    places.last().unwrap_or(variable)
}

/// Of each node whether a way leads from it to some nodes, or it is one of them.
fn leading(function: &FunctionContext<'_>, ends: &[usize]) -> Vec<bool> {
    let nodes = &function.graph.nodes;
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (from, node) in nodes.iter().enumerate() {
        for (_, to) in &node.next {
            before
                .get_mut(*to)
                .into_iter()
                .for_each(|own| own.push(from));
        }
    }
    let mut leads = vec![false; nodes.len()];
    let mut left = ends.to_vec();
    while let Some(at) = left.pop() {
        let Some(own) = leads.get_mut(at).filter(|own| !**own) else {
            continue;
        };
        *own = true;
        left.extend(before.get(at).into_iter().flatten());
    }
    leads
}
