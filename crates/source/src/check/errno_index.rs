//! Error numbers that pick an element: a call gives how many bytes it copied or why it did not, and
//! nobody has asked which.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::callee::look_into;
use super::context::FunctionContext;
use super::fate::{gives_errors, is_given_users, taken};
use super::space;
use super::unfilled::{Met, first_met};

/// An element that may be picked by an error number.
pub(crate) struct ByError {
    /// The call that gives it.
    pub(crate) name: String,
    /// The variable that takes it.
    pub(crate) variable: String,
    /// The element.
    pub(crate) element: Span,
    /// The call.
    pub(crate) call: Span,
}

/// The elements of a function that are picked so, one for each call.
pub(crate) fn by_errors(function: &FunctionContext<'_>) -> Vec<ByError> {
    let own = function.calls.iter();
    own.filter_map(|call| by_error(function, *call)).collect()
}

fn by_error(function: &FunctionContext<'_>, call: Node<'_>) -> Option<ByError> {
    let name = function.callee(call)?;
    let taken = taken(function, call).filter(|own| !own.chosen)?;
    let result = function.graph.effects.get(taken.effect)?;
    let variable = function.graph.name_of(result);
    let elements = picked(function, variable);
    let open = !elements.is_empty() && !is_asked_at_once(function, call);
    (open && gives_number_or_error(function, name, call)).then_some(())?;
    let element = first_used(function, (span(call), result), &elements)?;
    Some(ByError {
        name: name.to_owned(),
        variable: variable.to_owned(),
        element,
        call: span(call),
    })
}

/// Whether a call gives a number that it also gives error numbers in.
fn gives_number_or_error(function: &FunctionContext<'_>, name: &str, call: Node<'_>) -> bool {
    let words = function.file.words;
    let numbers =
        words.at_most(name).is_some() && words.may_fault(name) || words.cuts(name).is_some();
    let own = || {
        let errors = |callee: &FunctionContext<'_>| gives_errors(callee).then_some(());
        is_given_users(function, call) && look_into(function, name, errors).is_some()
    };
    numbers && !words.results().gives_zero_for_a_fault(name) || own()
}

/// Whether a condition asks what the call gives while a variable takes it.
fn is_asked_at_once(function: &FunctionContext<'_>, call: Node<'_>) -> bool {
    let mut around = function.around(call);
    let taking = around.find(|own| {
        !matches!(
            own.known_kind(),
            "parenthesized_expression" | "cast_expression"
        )
    });
    let assigned = taking.filter(|own| own.known_kind() == "assignment_expression");
    let outer = assigned.and_then(|own| function.above(own));
    outer.is_some_and(|own| own.known_kind() != "expression_statement")
}

/// The elements that the variable picks, alone or with a constant.
fn picked(function: &FunctionContext<'_>, name: &str) -> Vec<Span> {
    let is_own = |own: &Expression| {
        let own = own.uncast().1;
        let sum = || match &own.term {
            Term::Binary(left, operator, right) if matches!(operator.as_str(), "+" | "-") => {
                left.uncast().1.name() == Some(name) && space::bytes(function, right).is_some()
            }
            _ => false,
        };
        own.name() == Some(name) || sum()
    };
    let mut found = Vec::new();
    function.each_of(&["pointer_expression", "subscript_expression"], |node| {
        if !function.graph.names(span(node), name) {
            return;
        }
        let own = function.expression_of(node);
        let picks = match &own.term {
            Term::Element { index, .. } => is_own(index),
            Term::Behind(address) => match &address.term {
                Term::Binary(_, operator, index) => operator == "+" && is_own(index),
                _ => false,
            },
            _ => false,
        };
        found.extend(picks.then(|| span(node)));
    });
    found
}

/// The one of some elements that a way leads to from a call, before anything asks whether the
/// result is less than 0.
fn first_used(
    function: &FunctionContext<'_>,
    (call, result): (Span, &Effect),
    elements: &[Span],
) -> Option<Span> {
    if function.graph.computed {
        return None;
    }
    first_met(function, call, |node| {
        met(function, node, (result, elements))
    })
}

/// What is met first at a node: an element that it picks, or that it is asked for more than
/// whether it is 0, or takes another value.
fn met(
    function: &FunctionContext<'_>,
    node: usize,
    (result, elements): (&Effect, &[Span]),
) -> Option<Met> {
    let own = function.graph.effects_of(node).iter();
    let mut own = own.filter(|own| own.place == result.place && own.span != result.span);
    own.find_map(|own| {
        let element = elements.iter().find(|place| place.contains(own.span));
        match (&own.kind, element) {
            (EffectKind::Read, Some(place)) => Some(Met::Used(*place)),
            (EffectKind::Read, None) if says_nothing(function, own.span) => None,
            _ => Some(Met::Asked),
        }
    })
}

/// Whether a number is only asked whether it is one that is no error: `!n`, `n == 64`.
fn says_nothing(function: &FunctionContext<'_>, at: Span) -> bool {
    let node = function.root.descendant_for_byte_range(at.start, at.end);
    let mut around = node.into_iter().flat_map(|own| function.around(own));
    let outer = around.find(|own| own.known_kind() != "parenthesized_expression");
    let other =
        |side: &Expression| side.span == at || space::bytes(function, side.uncast().1).is_some();
    outer.is_some_and(|own| match own.known_kind() {
        "unary_expression" => function.context.operator(own) == b"!",
        "if_statement" => true,
        "binary_expression" => match &function.expression_of(own).term {
            Term::Binary(left, operator, right) => {
                matches!(operator.as_str(), "==" | "!=") && other(left) && other(right)
            }
            _ => false,
        },
        _ => false,
    })
}
