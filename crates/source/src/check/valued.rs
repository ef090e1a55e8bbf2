//! Ways of a function on which a variable has one value.

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::flow::Edge;
use crate::hashed::{HashMap, HashSet};
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::space;

/// Every node that ways from a place come to where a variable of the function has that value
/// there, and takes no other one: conditions that ask for it have one outcome.
pub(crate) fn reached_with(
    function: &FunctionContext<'_>,
    (name, value): (&str, u64),
    from: Span,
) -> HashSet<usize> {
    let graph = function.graph;
    let known = outcomes(function, name, value);
    let open = |edge: Edge| match edge {
        Edge::If(condition, holds) => known.get(&condition).is_none_or(|own| *own == holds),
        _ => true,
    };
    let mut found = HashSet::default();
    let mut work: Vec<usize> = graph.nodes_in(from).collect();
    while let Some(at) = work.pop() {
        if let Some(node) = graph.nodes.get(at).filter(|_| found.insert(at)) {
            let next = node.next.iter().filter(|(edge, _)| open(*edge));
            work.extend(next.map(|(_, next)| *next));
        }
    }
    found
}

/// The outcomes of the conditions that ask for nothing but the variable.
fn outcomes(function: &FunctionContext<'_>, name: &str, value: u64) -> HashMap<usize, bool> {
    let conditions = || function.graph.conditions.iter().enumerate();
    // `len` by itself, which `len == 0` is, too.
    let bare = conditions().filter(|(_, own)| own.text == name);
    let mut found: HashMap<usize, bool> = bare.map(|(at, _)| (at, value != 0)).collect();
    function.each_of(&["binary_expression"], |node| {
        if !function.graph.names(span(node), name) {
            return;
        }
        let own = function.expression_of(node);
        if let Some(holds) = holds(function, &own, (name, value)) {
            let text = function.context.written(node);
            let same = conditions().filter(|(_, own)| own.text == text);
            found.extend(same.map(|(at, _)| (at, holds)));
        }
    });
    found
}

/// Whether a comparison of the variable with a constant holds; none where it is anything else.
fn holds(
    function: &FunctionContext<'_>,
    own: &Expression,
    (name, value): (&str, u64),
) -> Option<bool> {
    let Term::Binary(left, operator, right) = &own.term else {
        return None;
    };
    compares(operator).then_some(())?;
    let side = |own: &Expression| match own.uncast().1 {
        own if own.name() == Some(name) => Some(value),
        own => space::bytes(function, own),
    };
    let (left, right) = (side(left)?, side(right)?);
    Some(match operator.as_str() {
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        ">=" => left >= right,
        "==" => left == right,
        _ => left != right,
    })
}
