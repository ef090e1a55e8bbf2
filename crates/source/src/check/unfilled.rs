//! Variables that a function of the file fills unless what it reads from the user faults, and those
//! that a number of a text is read into.

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::flow::{Effect, EffectKind, Local, Node as Step};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::callee::{look_into, parameter};
use super::context::FunctionContext;
use super::fate::{Fallible, is_given_users, taken};

/// A variable, and where it is used before anybody asks whether it was filled.
pub(crate) struct Unfilled<'f> {
    pub(crate) local: &'f Local,
    pub(crate) used: Span,
}

/// What a call that tells of a fault fills where there was none, and is used whether or not.
pub(crate) fn unfilled<'f>(
    function: &'f FunctionContext<'_>,
    call: &Fallible<'_>,
) -> Option<Unfilled<'f>> {
    if !call.helper {
        return None;
    }
    unasked(function, call, |at| leaves(function, call, at))
}

/// The same of a call that puts the number of a text into one of its arguments, and leaves that
/// as it is where the text is none: `err = kstrtoint(text, 0, &v); use(v); return err;`
pub(crate) fn unread_number<'f>(
    function: &'f FunctionContext<'_>,
    call: Node<'_>,
) -> Option<Unfilled<'f>> {
    let words = function.file.words;
    let name = function.callee(call)?;
    let own = words
        .results()
        .gives_zero_or_an_error(name)
        .then_some(name)?;
    let parsed = || words.parses(own).filter(|own| !own.all);
    let into = words
        .fetches(own)
        .or_else(|| parsed().map(|own| own.into))?;
    unasked(function, &Fallible::of(function, call), |at| at == into)
}

/// The variable that a call is given to fill in a place in which it may leave it as it is.
fn unasked<'f>(
    function: &'f FunctionContext<'_>,
    call: &Fallible<'_>,
    leaves: impl Fn(usize) -> bool,
) -> Option<Unfilled<'f>> {
    if function.graph.computed {
        return None;
    }
    let result = taken(function, call.node)?.effect;
    let arguments = call.node.part("arguments")?;
    let mut cursor = arguments.walk();
    let given = arguments.named_children(&mut cursor).enumerate();
    let mut given = given.filter_map(|(at, own)| Some((at, variable(function, own)?)));
    given.find_map(|(at, local)| {
        let used = used(function, call, (result, local))?;
        let own = has_no_value(function, local, call.span) && leaves(at);
        own.then_some(Unfilled { local, used })
    })
}

/// The variable without a value of whose address an argument is.
fn variable<'f>(function: &'f FunctionContext<'_>, argument: Node<'_>) -> Option<&'f Local> {
    let address = argument.known_kind() == "pointer_expression"
        && function.context.operator(argument) == b"&";
    let named = argument.part("argument").filter(|_| address)?;
    let name = answer::text(function.context.seen(named))?;
    let local = function.local_at(name, span(argument))?;
    let own = local.plain && !local.initialised && !local.lasting && !local.cleaned;
    (own && !function.graph.unseen.contains(name)).then_some(local)
}

fn is_of(function: &FunctionContext<'_>, effect: &Effect, local: &Local) -> bool {
    function.graph.name_of(effect) == local.name && local.scope.contains(effect.span)
}

/// Whether nothing else gives the variable a value, or may, on a way to a call.
fn has_no_value(function: &FunctionContext<'_>, local: &Local, call: Span) -> bool {
    let graph = function.graph;
    let sets = |effect: &Effect| {
        let apart = !local.declared.contains(effect.span) && !call.contains(effect.span);
        apart && effect.kind != EffectKind::Read && is_of(function, effect, local)
    };
    let mut setting = (0..graph.nodes.len()).filter(|at| graph.effects_of(*at).iter().any(sets));
    !setting.any(|from| {
        let reached = graph.reached(from, |_| false);
        graph.nodes_in(call).any(|at| reached.contains(&at))
    })
}

/// Whether the function that is called leaves some way without a value for what it is given.
fn leaves(function: &FunctionContext<'_>, call: &Fallible<'_>, at: usize) -> bool {
    let own = look_into(function, &call.name, |callee| {
        let own = parameter(callee, at)?;
        let graph = callee.graph;
        let named = |effect: &&Effect| graph.name_of(effect) == own;
        let only_set = graph.effects.iter().filter(named).all(|effect| {
            let set = matches!(effect.kind, EffectKind::Write(_));
            set && graph.is_behind(effect)
                || effect.kind == EffectKind::Read && !graph.is_behind(effect)
        });
        let sets = |node: &Step| {
            let mut own = graph.effects_at(node).iter().filter(named);
            own.any(|effect| matches!(effect.kind, EffectKind::Write(_)))
        };
        let set = graph.nodes.iter().any(sets);
        (only_set && set && graph.leaves_without(sets)).then_some(())
    });
    own.is_some()
}

/// Where the variable is needed behind a call, before anything looks at its result.
fn used(
    function: &FunctionContext<'_>,
    call: &Fallible<'_>,
    (result, local): (usize, &Local),
) -> Option<Span> {
    let result = function.graph.effects.get(result)?;
    first_met(function, call.span, |node| {
        first(function, node, (call.span, result, local))
    })
}

/// The first use that a way leads to from a call, before anything settles it.
pub(crate) fn first_met(
    function: &FunctionContext<'_>,
    call: Span,
    met: impl Fn(usize) -> Option<Met>,
) -> Option<Span> {
    let graph = function.graph;
    let mut work: Vec<usize> = graph
        .nodes_in(call)
        .filter(|at| function.place(*at) == call)
        .collect();
    let (mut seen, mut found) = (HashSet::default(), Vec::new());
    while let Some(at) = work.pop() {
        let ways = graph.nodes.get(at).map(|own| &own.next);
        for (_, next) in ways.into_iter().flatten() {
            if !seen.insert(*next) {
                continue;
            }
            match met(*next) {
                Some(Met::Used(place)) => found.push(place),
                Some(Met::Asked) => {}
                None => work.push(*next),
            }
        }
    }
    found.into_iter().min()
}

/// What is met first at a node.
pub(crate) enum Met {
    /// What is looked for is used there.
    Used(Span),
    /// It takes a value, or the result is looked at.
    Asked,
}

fn first(
    function: &FunctionContext<'_>,
    node: usize,
    (call, result, local): (Span, &Effect, &Local),
) -> Option<Met> {
    let graph = function.graph;
    // What the call itself is given is noted behind it.
    let own = graph.effects_of(node).iter();
    let mut own = own.filter(|effect| !call.contains(effect.span));
    own.find_map(|effect| {
        if effect.place == result.place && effect.span != result.span {
            return Some(Met::Asked);
        }
        if !is_of(function, effect, local) {
            return None;
        }
        let needed = match &effect.kind {
            EffectKind::Read => true,
            EffectKind::Write(_) => false,
            EffectKind::Address | EffectKind::Handed { .. } => is_needed(function, effect.span),
        };
        Some(match needed {
            true => Met::Used(effect.span),
            false => Met::Asked,
        })
    })
}

/// Whether a call that is given the variable's address, and of which nobody asks for anything,
/// can do nothing with it but look at it: what is given an address of the user's may fill it.
fn is_needed(function: &FunctionContext<'_>, place: Span) -> bool {
    let calls = function
        .calls
        .iter()
        .filter(|own| span(**own).contains(place));
    let Some(call) = calls.min_by_key(|own| span(**own).end - span(**own).start) else {
        return false;
    };
    let words = function.file.words;
    let fills = answer::text(function.called(*call)).is_none_or(|name| {
        let by_name = words.clears(name).is_some() || words.fills(name).is_some();
        by_name || words.knows(name) || function.file.body_named(name).is_some()
    });
    let dropped = call
        .parent()
        .is_some_and(|own| own.known_kind() == "expression_statement");
    let only = call
        .part("arguments")
        .is_some_and(|own| own.named_child_count() == 1);
    dropped && only && !fills && !is_given_users(function, *call)
}
