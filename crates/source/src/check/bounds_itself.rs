//! Functions of the file that ask how much they copy.

use crate::compared::compares;
use crate::expression::{Expression, Term};

use super::accesses::Access;
use super::callee::{look_into, parameter};
use super::context::FunctionContext;
use super::room::size_at;
use super::space;

/// Whether a function of the file, which copies what it is given, asks whether that is more than
/// the object has.
pub(crate) fn bounds_itself(function: &FunctionContext<'_>, access: &Access<'_>) -> bool {
    let name = access.word.name.as_str();
    let value = function.expression_of(access.value_node);
    let size = size_at(function, value.uncast().1);
    let asks = access.word.count.and_then(|at| {
        look_into(function, name, |callee| {
            let own = parameter(callee, at)?;
            is_bounded(callee, &own, size).then_some(())
        })
    });
    asks.is_some()
}

/// Whether a function compares a parameter with anything but another one and 0: itself, or one
/// that it holds against it for being the same. A constant above a size bounds nothing.
fn is_bounded(callee: &FunctionContext<'_>, own: &str, size: Option<u64>) -> bool {
    let mut compared: Vec<(Expression, String, Expression)> = Vec::new();
    callee.each_of(&["binary_expression"], |node| {
        if let Term::Binary(left, operator, right) = &callee.expression_of(node).term
            && compares(operator)
        {
            let [left, right] = [left, right].map(|side| side.uncast().1.clone());
            compared.push((left, operator.clone(), right));
        }
    });
    let pairs = || {
        let both = compared.iter();
        both.flat_map(|(left, operator, right)| [(left, operator, right), (right, operator, left)])
    };
    let other = |side: &Expression| side.name().is_some_and(|name| callee.is_parameter(name));
    let same = pairs().filter_map(|(one, operator, two)| {
        let alike = matches!(operator.as_str(), "==" | "!=") && one.name() == Some(own);
        two.name().filter(|_| alike && other(two))
    });
    let known: Vec<&str> = same.chain([own]).collect();
    pairs().any(|(one, _, two)| {
        let asked = one.name().is_some_and(|name| known.contains(&name));
        let fits = || match (space::bytes(callee, two), size) {
            (Some(most), Some(size)) => most <= size,
            _ => true,
        };
        asked && !two.is_zero() && !other(two) && fits()
    })
}
