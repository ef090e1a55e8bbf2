//! Functions that hand on what another one gives where that failed: their result is an error number.

use crate::expression::{Expression, Term};
use crate::flow::StatementKind;
use crate::node::Parts as _;
use crate::span::Span;

use super::carried::given;
use super::context::FunctionContext;
use super::space;

/// Whether a function returns, before a place, what a call gave that has nothing to do with the
/// user's memory, where that is not 0: `err = wait(o); if (err) return err;`.
pub(crate) fn hands_errors_on(function: &FunctionContext<'_>, before: Span) -> bool {
    let statements = function.graph.statements.iter();
    let mut returns = statements.filter(|own| own.kind == StatementKind::Return);
    returns.any(|own| {
        let value = given(own).filter(|value| value.end <= before.start);
        value.is_some_and(|value| is_of_another(function, value))
    })
}

fn is_of_another(function: &FunctionContext<'_>, value: Span) -> bool {
    let Some(own) = function.expression(value) else {
        return false;
    };
    let Some(name) = own.uncast().1.name() else {
        return false;
    };
    let taken = function.graph.assignments();
    let last = taken.filter(|(own, place)| *own == name && place.end <= value.start);
    let call = last
        .last()
        .and_then(|(_, place)| function.expression(place));
    let of_another = call.is_some_and(|call| is_apart(function, call.uncast().1));
    of_another && is_where_it_failed(function, name, value)
}

/// A call of what is no access, and is given no address of the user's.
fn is_apart(function: &FunctionContext<'_>, call: &Expression) -> bool {
    call.call().is_some_and(|(name, given)| {
        let apart = function.told(name).is_none() && !function.may_fault(name);
        apart && !given.iter().any(|own| space::is_users(function, own))
    })
}

/// Whether a place is only come to where a variable is not 0.
fn is_where_it_failed(function: &FunctionContext<'_>, name: &str, place: Span) -> bool {
    let node = function
        .root
        .descendant_for_byte_range(place.start, place.end);
    let mut around = std::iter::successors(node, |own| function.above(*own));
    let own = around.find(|own| own.known_kind() == "if_statement");
    let condition = own.and_then(|own| own.part("condition"));
    condition.is_some_and(|own| {
        let own = function.expression_of(own);
        match &own.uncast().1.term {
            Term::Name(own) => own == name,
            Term::Binary(left, operator, right) => {
                let fails = matches!(operator.as_str(), "<" | "!=") && right.is_zero();
                fails && left.uncast().1.name() == Some(name)
            }
            _ => false,
        }
    })
}
