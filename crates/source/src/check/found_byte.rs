//! Calls that look for a byte in some memory.

use crate::expression::Expression;
use crate::flow::Edge;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::hanging::is_end;

/// Whether a call looks for a byte of what it is given first: whether for a 0, if it does.
pub(crate) fn looks_for_end(function: &FunctionContext<'_>, call: &Expression) -> Option<bool> {
    let (name, given) = call.call()?;
    let byte = function.file.words.results().finds(name)?;
    Some(is_end(given.get(byte)?))
}

/// Whether a variable holds nothing but where some other byte than a 0 is.
pub(crate) fn holds_place_of_byte(function: &FunctionContext<'_>, name: &str) -> bool {
    // What it leads to may take values.
    let values = function.graph.assignments().filter(|(own, _)| *own == name);
    let mut values = values
        .map(|(_, value)| function.expression(value))
        .peekable();
    let is_byte = |value: &Expression| looks_for_end(function, value.uncast().1) == Some(false);
    values.peek().is_some() && values.all(|value| value.is_some_and(|own| is_byte(&own)))
}

/// Whether what is done at a place is done only where a call has found no 0, which a condition asks it
/// for at once: `if (memchr(p, 0, n)) return -EINVAL;`
pub(crate) fn is_refused(function: &FunctionContext<'_>, call: &Expression, at: Span) -> bool {
    let graph = function.graph;
    let mut calls = function.calls.iter();
    let Some(call) = calls.find(|own| span(**own) == call.span) else {
        return false;
    };
    let text = function.context.written(*call);
    let here: Vec<usize> = graph.nodes_in(at).collect();
    let nodes = graph.nodes_in(span(*call)).collect::<Vec<_>>();
    let behind = graph.reached_any(nodes.iter().copied(), |_| false);
    let mut asking = behind.iter().filter_map(|at| {
        let node = graph.nodes.get(*at)?;
        let (Edge::If(condition, holds), one) = node.next.first()? else {
            return None;
        };
        let (_, other) = node.next.get(1)?;
        let own = graph.conditions.get(*condition)?;
        (own.text == text).then_some(if *holds { *one } else { *other })
    });
    asking.next().is_some_and(|found| {
        let ways = graph.reached(found, |_| false);
        !here.iter().any(|at| ways.contains(at))
    })
}
