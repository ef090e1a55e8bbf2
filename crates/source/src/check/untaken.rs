//! Ways on which a function does not take what it takes where a condition holds: `if (locked) mutex_lock(…)`.
//! Whoever asks the same once more comes to the same, as long as nothing of it changes.

use crate::expression::{Expression, Term};
use crate::flow::{Edge, Effect, EffectKind, Node as Step};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;

/// So many variables a condition may be made of.
const MOST: usize = 4;

/// So many conditions of a function are asked for.
const ASKED: usize = 32;

/// Where the ways go on that a condition leads to which does not hold, of all that ask what the one around
/// a call asks; none where the call stands behind no condition, or its answer may change.
pub(crate) fn untaken_ways(function: &FunctionContext<'_>, call: Span) -> HashSet<usize> {
    let mut found = HashSet::default();
    let Some((asked, names)) = condition_of(function, call) else {
        return found;
    };
    let graph = function.graph;
    let sets = |own: &Effect| {
        let named = names.iter().any(|name| graph.name_of(own) == name);
        named && !matches!(own.kind, EffectKind::Read)
    };
    let mut left = ASKED;
    for (at, node) in graph.nodes.iter().enumerate() {
        let [(Edge::If(condition, one), yes), (Edge::If(..), no)] = node.next.as_slice() else {
            continue;
        };
        let own = graph.conditions.get(*condition);
        let own = own.and_then(|own| function.asked(own));
        if left == 0 || own.is_none_or(|own| *own.uncast().1 != asked) {
            continue;
        }
        left -= 1;
        // What changes behind says nothing of what was before.
        let changes = |step: &Step| graph.effects_at(step).iter().any(sets);
        let behind = graph.reached_behind(at, |_| false).into_iter();
        let mut behind = behind.filter_map(|at| graph.nodes.get(at));
        if !behind.any(changes) {
            found.insert(if *one { *no } else { *yes });
        }
    }
    found
}

/// What the innermost `if` asks that has a call where it holds, and the variables that it is made of.
fn condition_of(function: &FunctionContext<'_>, call: Span) -> Option<(Expression, Vec<String>)> {
    let mut calls = function.calls.iter();
    let node = calls.find(|own| span(**own) == call)?;
    let mut around = function.around(*node);
    let held = around.find(|own| own.known_kind() == "if_statement")?;
    let then = held.part("consequence")?;
    span(then).contains(call).then_some(())?;
    let asked = function.expression_of(held.part("condition")?);
    let names = variables(function, asked.uncast().1)?;
    Some((asked.uncast().1.clone(), names))
}

/// The variables of the function that a condition is made of, and of nothing else that may change.
fn variables(function: &FunctionContext<'_>, asked: &Expression) -> Option<Vec<String>> {
    let graph = function.graph;
    let found = std::cell::RefCell::new(Vec::new());
    let changes = asked.any(&|part| match &part.term {
        Term::Name(name) => {
            let local = graph.local(name);
            if local.is_some() || function.is_parameter(name) {
                found.borrow_mut().push(name.clone());
            }
            local.is_some_and(|own| own.lasting)
        }
        Term::Call(..) | Term::Member { .. } | Term::Element { .. } | Term::Behind(_) => true,
        _ => false,
    });
    let found = found.into_inner();
    (!changes && (1..=MOST).contains(&found.len())).then_some(found)
}
