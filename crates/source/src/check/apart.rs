//! Two numbers of the user's that have nothing to do with each other.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::span::Span;

use super::context::FunctionContext;
use super::unbounded;

/// So often a number may be made of others.
const STEPS: usize = 4;

/// Whether one size is of a number of the user's, and another one, that is taken later, of a
/// number of the user's that nobody holds against the first.
pub(crate) fn is_of_another(
    function: &FunctionContext<'_>,
    (size, from): (&Expression, Span),
    (bytes, at): (&Expression, Span),
) -> bool {
    let (size, bytes) = (size.uncast().1, bytes.uncast().1);
    if size == bytes || !is_number(bytes) {
        return false;
    }
    let value = size.name().and_then(|name| function.graph.only_value(name));
    let value = value.and_then(|value| function.expression(value));
    let chosen = value.as_ref().map(|value| value.uncast().1);
    if let Some(Term::Choice(asked, Some(one), other)) = chosen.map(|own| &own.term) {
        return is_other_choice(function, asked, (one, other), (bytes, at));
    }
    let users = |number: &Expression, at: Span| {
        let own = unbounded::users_within(function, number, at);
        own.filter(|own| !own.is_handed).is_some()
    };
    if !is_number(size) || !users(size, from) || !users(bytes, at) {
        return false;
    }
    let (one, other) = (made_of(function, size), made_of(function, bytes));
    one.is_disjoint(&other) && !are_compared(function, &one, &other)
}

/// `a ? a : b` of which `b` is taken: it may be more than `a`.
fn is_other_choice(
    function: &FunctionContext<'_>,
    asked: &Expression,
    (one, other): (&Expression, &Expression),
    (bytes, at): (&Expression, Span),
) -> bool {
    let (one, other) = (one.uncast().1, other.uncast().1);
    let compares =
        matches!(&asked.term, Term::Binary(_, operator, _) if operator != "!=" && operator != "==");
    let is_one = bytes == one || bytes == other;
    let rest = if bytes == one { other } else { one };
    let users = |number: &Expression| {
        let own = unbounded::users_within(function, number, at);
        own.filter(|own| !own.is_handed).is_some()
    };
    let apart = || {
        let (one, other) = (made_of(function, rest), made_of(function, bytes));
        one.is_disjoint(&other) && !are_compared(function, &one, &other)
    };
    is_one && !compares && is_number(rest) && users(bytes) && apart()
}

fn is_number(own: &Expression) -> bool {
    matches!(own.term, Term::Name(_) | Term::Member { .. })
}

/// The variables and members that a number is made of, as they are written, itself first.
fn made_of(function: &FunctionContext<'_>, number: &Expression) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut work = vec![(Rc::new(number.clone()), STEPS)];
    while let Some((own, left)) = work.pop() {
        for part in leaves(&own) {
            let new = found.insert(function.file.plain(part.span));
            let Some(name) = part.name().filter(|_| new && left > 0) else {
                continue;
            };
            let values = function.graph.assignments().filter(|(own, _)| *own == name);
            let values = values.filter_map(|(_, at)| function.expression(at));
            work.extend(values.map(|value| (value, left - 1)));
        }
    }
    found
}

/// The places whose values make an expression.
fn leaves(own: &Expression) -> Vec<&Expression> {
    match &own.term {
        Term::Name(_) | Term::Member { .. } | Term::Element { .. } | Term::Behind(_) => vec![own],
        Term::Cast(_, inner) | Term::Unary(_, inner) | Term::Step(inner) => leaves(inner),
        Term::Binary(one, _, other) | Term::Assignment(one, _, other) => {
            [leaves(one), leaves(other)].concat()
        }
        Term::Choice(asked, one, other) => {
            let one = one.as_ref().map_or_else(Vec::new, |one| leaves(one));
            [leaves(asked), one, leaves(other)].concat()
        }
        Term::Call(_, given) => given.iter().flat_map(leaves).collect(),
        _ => Vec::new(),
    }
}

/// Whether anything holds something of one against something of the other, or a call is given
/// both.
fn are_compared(
    function: &FunctionContext<'_>,
    one: &BTreeSet<String>,
    other: &BTreeSet<String>,
) -> bool {
    let mut found = false;
    function.each_of(&["binary_expression", "call_expression"], |node| {
        let compares =
            node.known_kind() == "call_expression" || compares(function.context.operator(node));
        if found || !compares {
            return;
        }
        let whole = function.expression_of(node);
        let names: Vec<String> = leaves(&whole)
            .into_iter()
            .map(|own| function.file.plain(own.span))
            .collect();
        let has = |of: &BTreeSet<String>| names.iter().any(|own| of.contains(own));
        found = has(one) && has(other);
    });
    found
}
