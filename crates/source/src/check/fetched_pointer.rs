//! Pointers that take what was fetched from the user behind the check of their range.

use crate::Direction;
use crate::compared::orders;
use crate::expression::{Expression, Term};
use crate::flow::{EffectKind, Node as Step};
use crate::hashed::HashSet;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;

/// So many places where a pointer takes what was fetched are followed.
const FEW: usize = 8;

/// Where the pointer of an access takes what was fetched, from where a way leads to the access that passes
/// none of some checks: `while (n--) { __get_user(a, &p->a); __get_user(p, &p->next); }`.
pub(crate) fn fetched_behind(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    checks: &[Span],
) -> Option<Span> {
    let root = access.user_root.as_str();
    let graph = function.graph;
    let takes = takes(function, access);
    if takes.is_empty() || is_held_against(function, root) || is_handed(function, root, checks) {
        return None;
    }
    function.pays()?;
    let at: HashSet<usize> = graph.nodes_in(access.span).collect();
    let stops = |node: &Step| checks.iter().any(|own| own.contains(node.span));
    let own = takes.into_iter().take(FEW).find(|(_, from)| {
        let reached = graph.reached_any(from.iter().copied(), stops);
        reached.iter().any(|node| at.contains(node))
    });
    own.map(|(place, _)| place)
}

/// Where the pointer takes what was fetched, and the nodes that come behind.
fn takes(function: &FunctionContext<'_>, access: &Access<'_>) -> Vec<(Span, Vec<usize>)> {
    let (graph, root) = (function.graph, access.user_root.as_str());
    let fetches = |own: &&Access<'_>| own.word.direction == Direction::Read;
    let reads = || function.accesses.iter().filter(fetches);
    let next = |at: usize| {
        let node = graph.nodes.get(at);
        let ways = node.into_iter().flat_map(|own| own.next.iter());
        ways.map(|(_, to)| *to)
    };
    let own = reads().filter(|own| {
        own.count.is_none() && function.expression_of(own.value_node).name() == Some(root)
    });
    let mut found: Vec<(Span, Vec<usize>)> = own
        .map(|own| (own.span, graph.nodes_in(own.span).flat_map(next).collect()))
        .collect();
    let filled: HashSet<&str> = reads().map(|own| own.value_root.as_str()).collect();
    for effect in &graph.effects {
        let EffectKind::Write(write) = &effect.kind else {
            continue;
        };
        let own = graph.name_of(effect) == root && graph.is_whole(effect) && !write.compound;
        let value = write.value.filter(|_| own && !filled.is_empty());
        let value = value.and_then(|at| function.expression(at));
        let from = value.as_deref().map(|own| own.uncast().1.root());
        let fetched = from.and_then(Expression::name);
        if fetched.is_some_and(|name| name != root && filled.contains(name)) {
            found.push((effect.span, function.touching(effect.span)));
        }
    }
    found
}

/// Whether a call that is no access and no check is given the pointer, and may judge it.
fn is_handed(function: &FunctionContext<'_>, root: &str, checks: &[Span]) -> bool {
    let known = |at: Span| {
        let mut accesses = function.accesses.iter();
        accesses.any(|own| own.span.contains(at)) || checks.iter().any(|own| own.contains(at))
    };
    let mut others = function.calls.iter().filter(|own| !known(span(**own)));
    others.any(|call| {
        let whole = function.expression_of(*call);
        let named = |own: &Expression| own.any(&|part| part.name() == Some(root));
        whole
            .call()
            .is_none_or(|(_, given)| given.iter().any(named))
    })
}

/// Whether a condition holds the pointer against anything by its order, which may be a bound.
fn is_held_against(function: &FunctionContext<'_>, root: &str) -> bool {
    let named = |own: &Expression| own.any(&|part| part.name() == Some(root));
    let held = |own: &Expression| match &own.term {
        Term::Binary(left, operator, right) => {
            orders(operator.as_bytes()) && (named(left) || named(right))
        }
        _ => false,
    };
    let asked = function.graph.conditions.iter();
    let mut asked = asked.filter_map(|own| function.asked(own));
    asked.any(|own| own.any(&held))
}
