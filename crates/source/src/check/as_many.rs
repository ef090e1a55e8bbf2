//! Arrays of which as many elements take a value as there is something for.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::Local;
use crate::node::{LOOPS, Parts as _};
use crate::site::span;

use super::accesses::{Access, each};
use super::context::FunctionContext;
use super::set_elements::skipping;

/// What counts the elements of an array that take a value, where all are set by that, a
/// condition decides over each, and what is copied hangs on another number.
pub(crate) fn as_many(
    function: &FunctionContext<'_>,
    local: &Local,
    access: &Access<'_>,
) -> Option<String> {
    let bytes = access.bytes.as_ref()?;
    let mut counters: Vec<String> = Vec::new();
    let mut other = false;
    function.each_of(&["subscript_expression"], |node| {
        let own = function.expression_of(node);
        let Term::Element { array, index } = &own.term else {
            return;
        };
        if array.uncast().1.name() != Some(&local.name) || span(node).start > access.span.start {
            return;
        }
        let index = match &index.uncast().1.term {
            Term::Step(own) => own,
            _ => index,
        };
        match index.uncast().1.name().filter(|_| is_set_of(node)) {
            Some(name) => counters.push(name.to_owned()),
            None => other = true,
        }
    });
    counters.sort_unstable();
    counters.dedup();
    let [counter] = counters.as_slice() else {
        return None;
    };
    let counts = |own: &Expression| own.any(&|part| part.name() == Some(counter));
    let made = |name: &str| {
        let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
        values.any(|(_, value)| function.expression(value).is_none_or(|own| counts(&own)))
    };
    let named = bytes.any(&|part| counts(part) || part.name().is_some_and(&made));
    (!other && !named && steps_by_condition(function, counter, access)).then(|| counter.clone())
}

/// Whether an element, or a member of it, takes a value there.
fn is_set_of(element: Node<'_>) -> bool {
    let mut own = element;
    while let Some(around) = own.parent() {
        match around.known_kind() {
            "field_expression" => own = around,
            "assignment_expression" => return around.part("left") == Some(own),
            _ => return false,
        }
    }
    false
}

/// Whether a variable takes a step in a loop that a condition may leave out, and in no header of
/// a loop.
fn steps_by_condition(function: &FunctionContext<'_>, name: &str, access: &Access<'_>) -> bool {
    let (mut by_condition, mut else_way) = (false, false);
    function.each_of(&["update_expression"], |node| {
        let own = function.expression_of(node);
        let Term::Step(inner) = &own.term else { return };
        if inner.name() != Some(name) {
            return;
        }
        let mut around = std::iter::successors(Some(node), Node::parent);
        let header = around.find(|own| LOOPS.contains(&own.known_kind()));
        let Some(round) = header else {
            else_way = true;
            return;
        };
        let body = round.part("body");
        let inside = body.is_some_and(|body| span(body).contains(span(node)));
        let skips = body.is_some_and(|body| skipping(body, node).is_some() || stops(body));
        let skips = skips
            || round
                .part("condition")
                .is_some_and(|own| asks_of_another(function, own, name));
        by_condition |= inside && skips && !span(round).contains(access.span);
        else_way |= !inside;
    });
    by_condition && !else_way
}

/// Whether the body of a loop may end it.
fn stops(body: Node<'_>) -> bool {
    let mut found = false;
    each(body, &mut |own| {
        let around = std::iter::successors(own.parent(), Node::parent);
        let mut around = around.take_while(|own| *own != body);
        let nested = around
            .any(|own| LOOPS.contains(&own.known_kind()) || own.known_kind() == "switch_statement");
        found |= own.known_kind() == "break_statement" && !nested;
    });
    found
}

/// Whether a condition asks for something that does not hang on how far a loop is: `more(d)` of
/// `i < n && more(d)`.
fn asks_of_another(function: &FunctionContext<'_>, asked: Node<'_>, name: &str) -> bool {
    match &function.expression_of(asked).term {
        Term::Binary(left, operator, right) if operator == "&&" => {
            let other = |own: &Expression| !own.any(&|part| part.name() == Some(name));
            other(left) || other(right)
        }
        _ => false,
    }
}
