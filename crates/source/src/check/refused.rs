//! Accesses that are answered by -EFAULT where they went well.

use super::context::FunctionContext;
use super::fate::{Arm, Fallible, fallible, fate, given, is_efault};
use crate::flow::{Action, EffectKind};
use crate::hashed::HashSet;

/// So many accesses of a function are followed: each takes as long as the function is large.
const MOST: usize = 128;

/// Those of which every way on where they went well gives -EFAULT, and some way on where they did not
/// does not.
pub(crate) fn refused<'t>(function: &'t FunctionContext<'t>) -> Vec<Fallible<'t>> {
    let asked = fallible(function).enumerate();
    let asked = asked.take_while(|(at, _)| !function.stops_at(*at, MOST));
    let own = asked.filter(|(_, call)| {
        let fate = fate(function, call).filter(|own| !own.told);
        fate.is_some_and(|own| own.arms.iter().any(|arm| is_refused(function, arm)))
    });
    own.map(|(_, call)| call).collect()
}

fn is_refused(function: &FunctionContext<'_>, arm: &Arm) -> bool {
    let graph = function.graph;
    let reached = graph.reached(arm.success, |_| false);
    let fault = |at| given(function, at).is_some_and(|own| is_efault(&own));
    // What leaves by another value is quick to find, and most do.
    !gives_other(function, &reached)
        && !goes_on(function, &reached)
        && graph.gives_only_behind((arm.success, Some(arm.fork)), "-EFAULT", fault)
        && !graph.gives_only_behind((arm.fault, Some(arm.fork)), "-EFAULT", fault)
}

/// Whether some node gives anything else than -EFAULT, or a variable takes it that one gives.
fn gives_other(function: &FunctionContext<'_>, reached: &HashSet<usize>) -> bool {
    let graph = function.graph;
    let nodes = || reached.iter().filter_map(|at| graph.nodes.get(*at));
    let mut variables = Vec::new();
    for node in nodes() {
        match &node.action {
            Action::Exit {
                returned: Some(own),
                ..
            } => variables.push(*own),
            Action::Exit { returned: None, .. } => {
                let own = given(function, node.span);
                if !own.is_some_and(|own| is_efault(&own)) {
                    return true;
                }
            }
            _ => {}
        }
    }
    let mut effects = nodes().flat_map(|node| graph.effects_at(node));
    effects.any(|own| match &own.kind {
        EffectKind::Write(write) if variables.contains(&own.place) => {
            write.constant.as_deref() != Some("-EFAULT")
        }
        _ => false,
    })
}

/// Whether something else is accessed on the way, which what was read may have asked for.
fn goes_on(function: &FunctionContext<'_>, reached: &HashSet<usize>) -> bool {
    let mut nodes = function.accesses.iter();
    nodes.any(|own| {
        let mut at = function.graph.nodes_in(own.span);
        at.any(|at| reached.contains(&at))
    })
}
