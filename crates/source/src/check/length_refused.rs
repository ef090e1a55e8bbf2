//! Lengths of strings that are taken for an error number wherever they are not 0: what goes on is a
//! string without a character.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Action, Edge, EffectKind};
use crate::hashed::HashSet;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::{is_error, taken};

/// So many calls of a function are looked at.
const CALLS: usize = 64;

/// A test that refuses each string with a character.
pub(crate) struct Refused {
    pub(crate) name: String,
    pub(crate) call: Span,
    pub(crate) test: Span,
}

/// Those of a function.
pub(crate) fn refused(function: &FunctionContext<'_>) -> Vec<Refused> {
    let words = function.file.words;
    let calls = function.calls.iter().filter(|call| {
        let name = function.callee(**call);
        name.is_some_and(|name| words.gives_length(name))
    });
    let calls = calls.enumerate();
    let calls = calls.take_while(|(at, _)| !function.stops_at(*at, CALLS));
    calls.filter_map(|(_, call)| of(function, *call)).collect()
}

fn of(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Refused> {
    let graph = function.graph;
    let name = function.callee(call)?;
    let own = taken(function, call).filter(|own| !own.chosen)?;
    let result = graph.effects.get(own.effect)?;
    let variable = graph.name_of(result);
    let mut at = graph
        .nodes
        .iter()
        .position(|node| node.effects.contains(&own.effect))?;
    let mut from = own.effect + 1;
    let mut seen = HashSet::default();
    while seen.insert(at) {
        let node = graph.nodes.get(at)?;
        let effects = graph.effects.get(from..node.effects.end)?;
        let written = |kind: &EffectKind| *kind != EffectKind::Read;
        let named = |own: &&crate::flow::Effect| graph.name_of(own) == variable;
        if effects.iter().filter(named).any(|own| written(&own.kind)) {
            return None;
        }
        match node.next.as_slice() {
            [(Edge::Always, next)] => {
                at = *next;
                from = graph.nodes.get(at)?.effects.start;
            }
            [(Edge::If(condition, holds), one), (Edge::If(..), other)] => {
                let asked = graph.conditions.get(*condition)?;
                let any = asks_for_any(&*function.asked(asked)?, variable)?;
                let (some, none) = if any == *holds {
                    (*one, *other)
                } else {
                    (*other, *one)
                };
                let only = |at| is_error_of(function, at, variable);
                let ends = leaves(function, some, only) && goes_on(function, none, call);
                let test = effects
                    .iter()
                    .rfind(named)
                    .map_or(span(call), |own| own.span);
                return ends.then(|| Refused {
                    name: name.to_owned(),
                    call: span(call),
                    test,
                });
            }
            _ => return None,
        }
    }
    None
}

/// Whether a condition that holds says that a variable is not 0; none where it asks for more.
fn asks_for_any(own: &Expression, variable: &str) -> Option<bool> {
    match &own.term {
        Term::Name(name) => (name == variable).then_some(true),
        Term::Unary(not, inner) if not == "!" => asks_for_any(inner, variable).map(|any| !any),
        Term::Binary(left, operator, right) if right.is_zero() => {
            let any = match operator.as_str() {
                "!=" => true,
                "==" => false,
                _ => return None,
            };
            asks_for_any(left, variable).map(|own| own == any)
        }
        Term::Assignment(left, operator, _) => {
            (operator == "=" && left.name() == Some(variable)).then_some(true)
        }
        _ => None,
    }
}

/// Whether every way from a node leaves the function with what `only` says of, and nothing is called
/// on it but what frees.
fn leaves(function: &FunctionContext<'_>, from: usize, only: impl Fn(usize) -> bool) -> bool {
    let graph = function.graph;
    let reached = graph.reached(from, |_| false);
    let mut ends = false;
    let quiet = reached
        .iter()
        .all(|at| match graph.nodes.get(*at).map(|own| &own.action) {
            Some(Action::Call(call)) => {
                call.frees || function.file.words.lock_of(&call.name).is_some()
            }
            Some(Action::Exit { .. }) => {
                ends = true;
                only(*at)
            }
            Some(Action::Join) => true,
            _ => false,
        });
    quiet && ends
}

/// Whether what the function gives at an exit is the variable or an error number.
fn is_error_of(function: &FunctionContext<'_>, at: usize, variable: &str) -> bool {
    let graph = function.graph;
    let Some(node) = graph.nodes.get(at) else {
        return false;
    };
    let given = graph.statement(node.span).and_then(|own| own.expression);
    let given = given.and_then(|given| function.expression(given));
    given.is_some_and(|given| given.uncast().1.name() == Some(variable) || is_error(&given))
}

/// Whether anything is called from a node on that is given what the call has filled, or anything at
/// all where that fills nothing.
fn goes_on(function: &FunctionContext<'_>, from: usize, call: Node<'_>) -> bool {
    let graph = function.graph;
    let name = function.callee(call).unwrap_or("");
    let cuts = function.file.words.cuts(name);
    let whole = function.expression_of(call);
    let filled = cuts.and_then(|own| {
        let (_, given) = whole.call()?;
        given.get(own.object)?.root().name()
    });
    let reached = graph.reached(from, |_| false);
    let mut calls = function.calls.iter();
    calls.any(|other| {
        let place = span(*other);
        let mut nodes = graph.nodes_in(place);
        let frees = function
            .callee(*other)
            .is_some_and(|name| function.file.words.frees(name));
        place.start >= span(call).end
            && !frees
            && filled.is_none_or(|name| graph.names(place, name))
            && nodes.any(|at| reached.contains(&at))
    })
}
