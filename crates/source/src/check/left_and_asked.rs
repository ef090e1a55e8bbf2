//! What a copy has left, kept in a variable that is asked for an error number in the end, with what
//! else it may hold there.

use crate::expression::{Expression, Term};
use crate::flow::{Edge, Effect, EffectKind};
use crate::hashed::HashSet;
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::is_error;

/// Where a variable is, and whether it is known there that something was left.
type State = (usize, bool);

/// The test of some of a variable for less than 0 that is come to where the variable is known to hold
/// what was left, and nothing has looked at that but whether it is 0: `if (rc) goto out;`, and behind
/// `out:` `return rc < 0 ? rc : n;`.
pub(crate) fn left_and_asked(
    function: &FunctionContext<'_>,
    (own, at): (usize, Span),
    name: &str,
    tests: &[Span],
) -> Option<Span> {
    let graph = function.graph;
    let about = |effect: &&Effect| graph.name_of(effect) == name && effect.span != at;
    let here = graph.effects_of(own).iter();
    let here = here.skip_while(|own| own.span != at).filter(about);
    let mut here = here.peekable();
    let looked = here.peek().is_some();
    if looked && !(here.all(|own| own.kind == EffectKind::Read) && divides(function, name, own)) {
        return None;
    }
    let mut seen: HashSet<State> = HashSet::default();
    let mut work = behind(function, name, (own, false));
    while let Some(state) = work.pop() {
        if !seen.insert(state) {
            continue;
        }
        let (node, known) = state;
        // What noted the fault may be asked instead.
        if known && notes_an_error(function, node) {
            continue;
        }
        let mut looks = graph.effects_of(node).iter().filter(about).peekable();
        if let Some(look) = looks.peek() {
            let test = tests.iter().find(|own| own.contains(look.span));
            if let Some(test) = test.filter(|_| known && look.kind == EffectKind::Read) {
                return Some(*test);
            }
            let reads = looks.all(|own| own.kind == EffectKind::Read);
            if !reads || !divides(function, name, node) {
                continue;
            }
        }
        work.extend(behind(function, name, state));
    }
    None
}

/// Whether a node gives a variable an error number.
fn notes_an_error(function: &FunctionContext<'_>, node: usize) -> bool {
    let mut effects = function.graph.effects_of(node).iter();
    effects.any(|own| match &own.kind {
        EffectKind::Write(write) => {
            let value = write.value.and_then(|own| function.expression(own));
            value.is_some_and(|own| is_error(&own))
        }
        _ => false,
    })
}

/// Where it goes on from there if something was left.
fn behind(function: &FunctionContext<'_>, name: &str, (node, known): State) -> Vec<State> {
    let graph = function.graph;
    let ways = graph.nodes.get(node).into_iter().flat_map(|own| &own.next);
    let goes = ways.filter_map(|(edge, next)| {
        let says = match edge {
            Edge::If(condition, holds) => {
                let asked = graph.conditions.get(*condition);
                let asked = asked.and_then(|own| function.asked(own));
                asked
                    .and_then(|own| where_left(&own, name))
                    .map(|left| left == *holds)
            }
            _ => None,
        };
        match says {
            Some(false) => None,
            Some(true) => Some((*next, true)),
            None => Some((*next, known)),
        }
    });
    goes.collect()
}

/// Whether a condition holds where a variable is more than 0, if it asks no more than whether it is 0.
fn where_left(own: &Expression, name: &str) -> Option<bool> {
    match &own.term {
        Term::Name(own) if own == name => Some(true),
        Term::Unary(operator, of) if operator == "!" => where_left(of, name).map(|own| !own),
        Term::Binary(left, operator, right) if left.name() == Some(name) && right.is_zero() => {
            match operator.as_str() {
                "!=" | ">" => Some(true),
                "==" => Some(false),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a node divides on one of those questions.
fn divides(function: &FunctionContext<'_>, name: &str, node: usize) -> bool {
    let graph = function.graph;
    let mut ways = graph.nodes.get(node).into_iter().flat_map(|own| &own.next);
    ways.any(|(edge, _)| {
        let Edge::If(condition, _) = edge else {
            return false;
        };
        let asked = graph.conditions.get(*condition);
        let asked = asked.and_then(|own| function.asked(own));
        asked.is_some_and(|own| where_left(&own, name).is_some())
    })
}
