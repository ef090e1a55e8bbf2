//! Accesses that fail where no page fault is handled, and of which a program is told as if its address
//! were none.

use std::rc::Rc;

use tree_sitter::Node;

use crate::expression::Expression;
use crate::flow::{Action, EffectKind, Node as Step};

use super::context::FunctionContext;
use super::fate::{Arm, Fallible, fate, given, is_fault, only_of_rounds, taken};

/// Whether the fault of an access is answered by -EFAULT, or by how many bytes were left, and by nothing that tries it
/// again: who relies on it that a fault fails tells it otherwise, or copies once more where page faults are handled.
pub(crate) fn answered(function: &FunctionContext<'_>, call: Node<'_>) -> bool {
    let call = Fallible::of(function, call);
    let chosen = || taken(function, call.node).is_some_and(|own| own.chosen);
    let taker = function.taker(call.node);
    let taker = taker.and_then(|own| own.name().map(str::to_owned));
    let told = |arm: &Arm| {
        let own: Vec<&Step> = nodes(function, arm);
        let again = own.iter().any(|own| accesses(function, own));
        let says =
            |own: &&Step| says_fault(function, own) || gives_left(function, own, taker.as_deref());
        !again && (own.iter().any(says) || gives_fault(function, arm))
    };
    chosen() || fate(function, &call).is_some_and(|own| own.arms.iter().any(told))
}

fn nodes<'f>(function: &'f FunctionContext<'_>, arm: &Arm) -> Vec<&'f Step> {
    let own = only_of_rounds(function, arm).into_iter();
    own.filter_map(|at| function.graph.nodes.get(at)).collect()
}

/// Whether a node is another access.
fn accesses(function: &FunctionContext<'_>, node: &Step) -> bool {
    match &node.action {
        Action::Call(call) => function.may_fault(&call.name),
        _ => function.accesses.iter().any(|own| own.span == node.span),
    }
}

/// Whether a variable takes -EFAULT at a node, or the function gives that.
fn says_fault(function: &FunctionContext<'_>, node: &Step) -> bool {
    let is = |own: Option<Rc<Expression>>| own.is_some_and(|own| is_fault(function, &own));
    let stores = |value| is(function.expression(value));
    let mut effects = function.graph.effects_at(node).iter();
    let stored = effects.any(|own| match &own.kind {
        EffectKind::Write(write) => write.value.is_some_and(stores),
        _ => false,
    });
    stored || matches!(node.action, Action::Exit { .. }) && is(given(function, node.span))
}

/// Whether the function gives there how many bytes were left, as the variable has it: who calls it
/// takes that for a fault.
fn gives_left(function: &FunctionContext<'_>, node: &Step, taker: Option<&str>) -> bool {
    let is = |part: &Expression| part.name().is_some_and(|own| Some(own) == taker);
    matches!(node.action, Action::Exit { .. })
        && given(function, node.span).is_some_and(|own| own.any(&is))
}

/// Whether every way from a fault gives -EFAULT.
fn gives_fault(function: &FunctionContext<'_>, arm: &Arm) -> bool {
    let is = |at| given(function, at).is_some_and(|own| is_fault(function, &own));
    function
        .graph
        .gives_only_behind((arm.fault, Some(arm.fork)), "-EFAULT", is)
}
