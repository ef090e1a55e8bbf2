//! Lengths of which 0 says that the user's memory faulted, and which nobody asks for that.

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::compared::orders;
use crate::expression::Expression;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::taken;
use super::narrowed::refused;
use super::rounds_again::loop_around;
use super::space;

/// What becomes of a value.
enum Use {
    /// It is gone by: a size, an index.
    Used(Span),
    /// Nothing: a comparison that says no more than how large it is, itself again.
    Nothing,
    /// Anything else may ask whether it is 0, or hand it to who does.
    Asked,
}

/// Where a length is gone by that a call gives, and of which nothing asks whether it is 0.
pub(crate) fn unasked_length(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Span> {
    if let Use::Used(at) = use_of(function, call, &[]) {
        return Some(at);
    }
    let own = taken(function, call).filter(|own| !own.chosen)?;
    let effect = function.graph.effects.get(own.effect)?;
    let name = function.graph.name_of(effect);
    let whole = function.expression_of(call);
    let given = whole.call().map_or(&[][..], |(_, given)| given);
    let (mut used, mut asked) = (None, false);
    let until = next_value(function, name, span(call).end);
    // What stands before is done behind it in another round alone.
    let from = loop_around(function, call).map_or(span(call).start, |own| own.start);
    function.each_of(&["identifier"], |node| {
        let at = node.start_byte();
        let other = at < from || until.is_some_and(|until| until <= at);
        if asked || other || function.context.written(node) != name || is_taker(node) {
            return;
        }
        match use_of(function, node, given) {
            Use::Used(at) => used = used.or(Some(at)),
            Use::Nothing => {}
            Use::Asked => asked = true,
        }
    });
    used.filter(|_| !asked)
}

/// Where a variable takes its next value: what is asked of that says nothing of this one.
fn next_value(function: &FunctionContext<'_>, name: &str, from: usize) -> Option<usize> {
    let assigned = function.graph.assignments();
    let later = assigned.filter(|(own, value)| *own == name && value.start > from);
    later.map(|(_, value)| value.start).min()
}

/// Whether a name only takes a value, or is declared.
fn is_taker(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else {
        return false;
    };
    match parent.known_kind() {
        "assignment_expression" => parent.part("left") == Some(node),
        "init_declarator" => parent.part("declarator") == Some(node),
        "declaration" => true,
        _ => false,
    }
}

/// What becomes of the value of a node, of a call that was given these.
fn use_of(function: &FunctionContext<'_>, node: Node<'_>, given: &[Expression]) -> Use {
    let (mut own, mut less) = (node, false);
    while let Some(parent) = function.above(own) {
        match parent.known_kind() {
            "parenthesized_expression" | "cast_expression" => {}
            "binary_expression" => match function.context.operator(parent) {
                b"+" | b"*" => {}
                b"-" => less = true,
                // `len - 1 > MOST`: 0 wraps, and is refused.
                operator if orders(operator) && less => return Use::Asked,
                operator if orders(operator) => return compared(function, (parent, own), given),
                _ => return Use::Asked,
            },
            "subscript_expression" if parent.part("index") == Some(own) => {
                return Use::Used(span(own));
            }
            "argument_list" => {
                let Some(call) = function.above(parent) else {
                    return Use::Asked;
                };
                let Some(name) = function.callee(call) else {
                    return Use::Asked;
                };
                match function.file.words.gives_least(name) {
                    true => {
                        own = call;
                        continue;
                    }
                    false if is_size(function, call, (name, own)) => return Use::Used(span(own)),
                    false => return Use::Asked,
                }
            }
            "assignment_expression" if function.context.operator(parent) == b"=" => {
                let left = parent.part("left").map(bare);
                let itself = |left: Node<'_>| {
                    function.context.written(left) == function.context.written(node)
                };
                return match left.is_some_and(itself) {
                    true => Use::Nothing,
                    false => Use::Asked,
                };
            }
            // An address goes on by it.
            "assignment_expression" if parent.part("right").map(bare) == Some(bare(own)) => {
                return match function.context.operator(parent) {
                    b"+=" | b"-=" if moves(function, parent) => Use::Used(span(own)),
                    _ => Use::Asked,
                };
            }
            _ => return Use::Asked,
        }
        own = parent;
    }
    Use::Asked
}

/// Whether what a step moves is an address of the user's.
fn moves(function: &FunctionContext<'_>, step: Node<'_>) -> bool {
    let moved = step
        .part("left")
        .map(|left| function.expression_of(bare(left)));
    moved.is_some_and(|moved| space::is_users(function, &moved))
}

/// Whether an argument is how many bytes a call copies, allocates or sets.
fn is_size(function: &FunctionContext<'_>, call: Node<'_>, (name, own): (&str, Node<'_>)) -> bool {
    let words = function.file.words;
    let allocated = words.allocates(name);
    let places = [
        words.access(name).and_then(|own| own.count),
        words.fills(name).and_then(|own| own.count),
        words.clears(name).map(|own| own.count),
        words.duplicates(name).map(|own| own.count),
        words.cuts(name).map(|own| own.count),
        allocated
            .filter(|own| own.object.is_none())
            .map(|own| own.size),
        allocated.and_then(|own| own.count),
    ];
    let mut given = places.into_iter().flatten();
    let arguments = call.part("arguments");
    given.any(|at| {
        let at = answer::fits::<u32, _>(at);
        let argument = arguments.zip(at).and_then(|(all, at)| all.named_child(at));
        argument == Some(own)
    })
}

/// What a comparison asks: one with the most that the call was to look at says nothing of 0,
/// which passes for a short string, and neither does a refusal of more than a number.
fn compared(
    function: &FunctionContext<'_>,
    (whole, own): (Node<'_>, Node<'_>),
    given: &[Expression],
) -> Use {
    let left = whole.part("left") == Some(own);
    let other = whole.part(if left { "right" } else { "left" });
    let Some(other) = other.map(|other| function.expression_of(bare(other))) else {
        return Use::Asked;
    };
    let most = given.iter().any(|own| *own.uncast().1 == *other);
    let large = || space::bytes(function, &other).is_some_and(|value| value > 1);
    match most || refuses_more(function, whole, left) && large() {
        true => Use::Nothing,
        false => Use::Asked,
    }
}

/// Whether the function leaves where that side of a comparison is more than the other.
fn refuses_more(function: &FunctionContext<'_>, whole: Node<'_>, left: bool) -> bool {
    let operator = function.context.operator(whole);
    let more = operator.first() == Some(if left { &b'>' } else { &b'<' });
    let then = refused(whole).filter(|_| more);
    let then = then.and_then(|then| function.graph.statement(span(then)));
    then.is_some_and(|then| function.graph.leaves(then))
}
