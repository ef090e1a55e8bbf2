//! Bytes from behind the front of an object, of which there may be as many as from its front on.

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;
use super::limit::{held_against, taken};

/// What such a copy is made of.
pub(crate) struct Remaining {
    /// How many bytes are copied.
    pub(crate) number: Expression,
    /// Where the object begins.
    pub(crate) front: Expression,
    /// How far behind that the copy begins.
    pub(crate) index: Expression,
    /// How many there are from the front on.
    pub(crate) all: Expression,
    /// What says so.
    pub(crate) by: Span,
}

/// The copy that an access is, where the function itself says how many bytes there are from the
/// front on, `n = end - start` or by what it takes the index off elsewhere, and the length is not
/// made less by the index: `copy_to_user(to, start + at, n)`.
pub(crate) fn remaining(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Remaining> {
    let number = access.bytes.as_ref()?.uncast().1;
    let value = function.expression_of(access.value_node);
    let Term::Binary(front, operator, index) = &value.uncast().1.term else {
        return None;
    };
    let (front, index) = (front.uncast().1, index.uncast().1);
    let moves = matches!(
        index.term,
        Term::Name(_) | Term::Member { .. } | Term::Behind(_)
    );
    (operator == "+" && moves && !number.any(&|part| part == index)).then_some(())?;
    let bounds = bounds(function, number, access.span).into_iter();
    let (all, by) = bounds.filter(|(all, _)| all != number).find(|(all, _)| {
        is_distance(all, front) || index_is_taken_off(function, all, index, number)
    })?;
    let turned = is_turned(function, index, access.span);
    let less = turned || is_reduced(function, number, index);
    (!less).then(|| Remaining {
        number: number.clone(),
        front: front.clone(),
        index: index.clone(),
        all,
        by,
    })
}

/// What a length may be as large as, and where that is said: what it takes, or what it is held
/// against.
fn bounds(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> Vec<(Expression, Span)> {
    let mut found = held_against(function, number, at);
    let taken = taken(function, number, at).into_iter();
    found.extend(taken.map(|own| (own.uncast().1.clone(), own.span)));
    found
}

/// `end - start`
fn is_distance(all: &Expression, front: &Expression) -> bool {
    match &all.term {
        Term::Binary(_, operator, start) => operator == "-" && start.uncast().1 == front,
        _ => false,
    }
}

/// Whether the function takes the index off as many elsewhere, or holds the index and the length
/// together against them.
fn index_is_taken_off(
    function: &FunctionContext<'_>,
    all: &Expression,
    index: &Expression,
    number: &Expression,
) -> bool {
    let counts = matches!(all.term, Term::Name(_) | Term::Member { .. });
    let root = index.root().name().filter(|_| counts && all != index);
    let Some(root) = root else { return false };
    let mut found = false;
    function.each_of(&["binary_expression"], |node| {
        if found || !function.graph.names(span(node), root) {
            return;
        }
        found = match &function.expression_of(node).term {
            Term::Binary(left, operator, right) => {
                let (left, right) = (left.uncast().1, right.uncast().1);
                let sum = |own: &Expression| is_sum(own, index, number);
                match operator.as_str() {
                    "-" => left == all && right == index,
                    operator if compares(operator) => {
                        left == all && sum(right) || right == all && sum(left)
                    }
                    _ => false,
                }
            }
            _ => false,
        };
    });
    found
}

fn is_sum(own: &Expression, one: &Expression, other: &Expression) -> bool {
    match &own.term {
        Term::Binary(left, operator, right) => {
            let both = [left.uncast().1, right.uncast().1];
            operator == "+" && both.contains(&one) && both.contains(&other)
        }
        _ => false,
    }
}

/// Whether the length is made less by the index anywhere, or takes what is.
fn is_reduced(function: &FunctionContext<'_>, number: &Expression, index: &Expression) -> bool {
    let Some(name) = number.name() else {
        return false;
    };
    let names = |own: &Expression| own.any(&|part| part == index);
    let less: Vec<&str> = function
        .graph
        .assignments()
        .filter(|(_, value)| function.expression(*value).is_some_and(|own| names(&own)))
        .map(|(name, _)| name)
        .collect();
    let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
    let mut found = values.any(|(_, value)| {
        let value = function.expression(value);
        value.is_some_and(|own| {
            let made = |part: &Expression| part.name().is_some_and(|name| less.contains(&name));
            names(&own) || own.any(&made)
        })
    });
    function.each_of(&["assignment_expression"], |node| {
        found |= match &function.expression_of(node).term {
            Term::Assignment(left, operator, right) => {
                operator == "-=" && left.name() == Some(name) && names(right)
            }
            _ => false,
        };
    });
    found
}

/// Whether the index is set anew on a way to a place: it may begin at the front again.
fn is_turned(function: &FunctionContext<'_>, index: &Expression, at: Span) -> bool {
    let mut found = false;
    function.each_of(&["assignment_expression"], |node| {
        let set = function.context.operator(node) == b"=" && function.comes_to(span(node), at);
        let left = node.part("left").filter(|_| set && !found);
        let own = left.map(|left| function.expression_of(left));
        found |= own.is_some_and(|own| own.uncast().1 == index && index.name().is_none());
    });
    found
}
