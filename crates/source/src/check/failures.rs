//! Ways of a function that all give an error of its own, where it was asked for something else than an
//! access.

use crate::expression::{Expression, Term};
use crate::flow::{Action, Edge};

use super::context::FunctionContext;
use super::fate::{Arm, is_error};

/// So many conditions of a function are looked at.
const MOST: usize = 256;

/// A condition behind which one way gives nothing but errors, and the other goes on.
pub(crate) struct Failure {
    /// The condition, as the graph numbers them.
    pub(crate) condition: usize,
    /// The node that divides.
    pub(crate) node: usize,
    pub(crate) arm: Arm,
}

/// Whether a condition asks a variable itself, and not what it leads to, maybe by a macro: there may be
/// nothing.
pub(crate) fn asks_itself(function: &FunctionContext<'_>, condition: usize, name: &str) -> bool {
    let own = function.graph.conditions.get(condition);
    let whole = own.and_then(|own| function.asked(own));
    let is_own = |own: &Expression| own.uncast().1.name() == Some(name);
    let asks = |part: &Expression| match &part.term {
        Term::Unary(_, of) => is_own(of),
        Term::Binary(left, _, right) => is_own(left) || is_own(right),
        Term::Call(_, given) => given.iter().any(is_own),
        _ => false,
    };
    let told = |part: &Expression| part.name().is_some_and(|own| is_told(function, own, name));
    whole.is_none_or(|own| is_own(&own) || own.any(&asks) || own.any(&told))
}

/// Whether a variable takes what a call says of another one's value: `ret = PTR_ERR_OR_ZERO(p)`.
fn is_told(function: &FunctionContext<'_>, variable: &str, name: &str) -> bool {
    let mut values = function.graph.assignments();
    values.any(|(own, value)| {
        let value = function.expression(value).filter(|_| own == variable);
        value.is_some_and(|value| match value.uncast().1.call() {
            Some((call, given)) => {
                let words = function.file.words;
                let tells = words.tells_errors(call) || words.tells_null(call);
                tells && given.iter().any(|own| own.uncast().1.name() == Some(name))
            }
            None => false,
        })
    })
}

/// All of a function, in the order of its nodes.
pub(crate) fn failures(function: &FunctionContext<'_>) -> Vec<Failure> {
    let nodes = function.graph.nodes.iter().enumerate();
    let divides = nodes.filter_map(|(at, node)| match node.next.as_slice() {
        [(Edge::If(condition, _), one), (Edge::If(..), other)] => {
            Some((at, *condition, *one, *other))
        }
        _ => None,
    });
    let own = divides
        .take(MOST)
        .filter_map(|(node, condition, one, other)| {
            let asked = &function.graph.conditions.get(condition)?.reads;
            let fails = |from| gives_errors(function, from, asked);
            let (fault, success) = match (fails(one), fails(other)) {
                (true, false) => (one, other),
                (false, true) => (other, one),
                _ => return None,
            };
            let arm = Arm {
                fault,
                success,
                negated: false,
            };
            Some(Failure {
                condition,
                node,
                arm,
            })
        });
    own.collect()
}

/// Whether every way from a node returns an error number, or a variable that the condition before it has asked.
fn gives_errors(function: &FunctionContext<'_>, from: usize, asked: &[usize]) -> bool {
    let graph = function.graph;
    let reached = graph.reached(from, |_| false);
    let exits = reached.into_iter().filter_map(|at| {
        let Action::Exit { returned, .. } = graph.nodes.get(at)?.action else {
            return None;
        };
        let given = graph.statement(function.place(at));
        let given = given.and_then(|own| function.expression(own.expression?));
        let error = given.is_some_and(|own| is_error(&own));
        Some(error || returned.is_some_and(|own| asked.contains(&own)))
    });
    let mut any = false;
    let all = { exits }.all(|own| {
        any = true;
        own
    });
    any && all
}
