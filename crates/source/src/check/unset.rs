//! Variables that have no value yet where they are needed.

use crate::flow::{Effect, EffectKind, Local};
use crate::span::Span;

use super::context::FunctionContext;

/// Whether a plain variable of the function has taken no value on any way to a place: what
/// is only added to it, or made of itself, gives it none.
pub(crate) fn is_unset(function: &FunctionContext<'_>, local: &Local, at: Span) -> bool {
    let graph = function.graph;
    let own = local.plain && !local.initialised && !local.lasting && !local.cleaned;
    if !own || graph.unseen.contains(&local.name) {
        return false;
    }
    let place = |effect: &Effect| {
        let local_of = graph.places.as_local(graph.places.root(effect.place));
        let known = local_of.and_then(|at| graph.locals.get(at));
        known.is_some_and(|known| known.declared == local.declared && known.name == local.name)
    };
    let sets = |effect: &Effect| {
        let declares = local.declared.contains(effect.span);
        place(effect) && !declares && gives_value(function, effect)
    };
    let mut setting = (0..graph.nodes.len()).filter(|at| graph.effects_of(*at).iter().any(sets));
    // Its own argument may set it: `put_user(v = next(), p)`.
    let here: Vec<usize> = graph.nodes_in(at).collect();
    !here.is_empty()
        && !setting.any(|from| {
            let reached = graph.reached(from, |_| false);
            here.iter().any(|at| reached.contains(at))
        })
}

/// Whether an effect may give its variable a value.
fn gives_value(function: &FunctionContext<'_>, effect: &Effect) -> bool {
    match &effect.kind {
        EffectKind::Read => false,
        EffectKind::Address | EffectKind::Handed { .. } => true,
        EffectKind::Write(write) => !write.next && !is_made_of_itself(function, effect),
    }
}

/// `v |= 1`, `v = v + 1`
fn is_made_of_itself(function: &FunctionContext<'_>, write: &Effect) -> bool {
    let mut inside = function.graph.effects_in(write.span);
    inside.any(|own| own.kind == EffectKind::Read && own.place == write.place)
}
