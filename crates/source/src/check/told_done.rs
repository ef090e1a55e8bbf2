//! A function that says that all went well behind an access whose result nobody takes.

use crate::flow::{Action, Effect, EffectKind, Node as Step};

use super::accesses::Access;
use super::context::FunctionContext;
use super::fate::gives_errors;

/// Whether a function that gives error numbers gives 0 on some way behind an access: one that checks its
/// address itself, since what is checked before may be tried for what it is worth.
pub(crate) fn is_told_done(function: &FunctionContext<'_>, access: &Access<'_>) -> bool {
    let graph = function.graph;
    let asked = access.word.checked && !graph.computed && gives_errors(function);
    if !asked || !is_callers(function, &access.user_root, VARIABLES) {
        return false;
    }
    let is_own = |at: &usize| {
        graph
            .nodes
            .get(*at)
            .is_some_and(|own| own.span == access.span)
    };
    let Some(at) = graph.nodes_in(access.span).find(is_own) else {
        return false;
    };
    let mut behind = graph.reached_behind(at, |_| false).into_iter();
    behind.any(|exit| match graph.nodes.get(exit).map(|own| &own.action) {
        Some(Action::Exit {
            returned: Some(place),
            ..
        }) => keeps_zero(function, *place, (at, exit)),
        Some(Action::Exit { returned: None, .. }) => is_zero(function, exit),
        _ => false,
    })
}

/// So many variables lie between an address and what a function is called with.
const VARIABLES: usize = 3;

/// Whether an address is made of what a function is called with: what it finds by itself may be no more
/// than worth a try.
fn is_callers(function: &FunctionContext<'_>, root: &str, most: usize) -> bool {
    let own = |value| {
        let value = function.expression(value);
        let value = value.filter(|own| !own.any(&|part| part.call().is_some()));
        let name = value.as_ref().and_then(|own| own.uncast().1.root().name());
        name.is_some_and(|name| name != root && is_callers(function, name, most - 1))
    };
    let mut all = function.graph.assignments();
    function.is_parameter(root) || most > 0 && all.any(|(name, value)| name == root && own(value))
}

/// Whether a way out gives 0 as it is written.
fn is_zero(function: &FunctionContext<'_>, exit: usize) -> bool {
    let given = function.graph.statement(function.place(exit));
    let given = given.and_then(|own| function.expression(own.expression?));
    given.is_some_and(|own| own.is_zero())
}

/// Whether a variable of the function has taken 0 on some way to a node, and still has it where a way
/// from there comes to another.
fn keeps_zero(function: &FunctionContext<'_>, place: usize, ways: (usize, usize)) -> bool {
    let graph = function.graph;
    let local = graph.places.as_local(place);
    let local = local.and_then(|at| graph.locals.get(at));
    if !local.is_some_and(|own| own.plain && !own.lasting) {
        return false;
    }
    let changes = |own: &&Effect| own.place == place && own.kind != EffectKind::Read;
    let changed = |node: &Step| graph.effects_at(node).iter().any(|own| changes(&own));
    let zero = |at: &usize| {
        let last = graph.effects_of(*at).iter().rev().find(changes);
        last.is_some_and(|own| match &own.kind {
            EffectKind::Write(own) => own.constant.as_deref() == Some("0") && !own.compound,
            _ => false,
        })
    };
    if !graph.reached_behind(ways.0, changed).contains(&ways.1) {
        return false;
    }
    let taken = (0..graph.nodes.len()).filter(zero);
    graph.reached_behind_any(taken, changed).contains(&ways.0)
}
