//! Results of accesses of which a variable keeps nothing on some way, and what a read should have filled
//! where its fault is told only behind the use.

use std::collections::HashSet;

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Action, Effect, EffectKind};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::{Arm, is_error, taken};
use super::unfilled::{Met, first_met};

/// A result that is lost on a way.
pub(crate) struct Lost {
    /// The variable that took it.
    pub(crate) variable: String,
    /// What the variable takes instead.
    pub(crate) by: Span,
}

/// What a variable takes, but an error number, before anything asks for the result of a call that it
/// took, or took in: `err |= put_user(a, p); if (b) err = put_user(b, q);`.
pub(crate) fn lost_on_a_way(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Lost> {
    let graph = function.graph;
    let holder = taker(function, call)?;
    let written = |own: &Effect| matches!(own.kind, EffectKind::Write(_)) && own.span == holder;
    let at = graph.effects.iter().position(written)?;
    let variable = graph.effects.get(at)?;
    let local = graph.local(graph.name_of(variable))?;
    (local.plain && graph.is_whole(variable)).then_some(())?;
    let own = graph
        .nodes
        .iter()
        .position(|own| own.effects.contains(&at))?;
    let mut work = vec![(own, at + 1)];
    let mut seen = HashSet::new();
    let mut found: Option<Span> = None;
    while let Some((node, from)) = work.pop() {
        let step = graph.nodes.get(node)?;
        match first(
            function,
            (variable.place, holder),
            from.max(step.effects.start)..step.effects.end,
        ) {
            // Which cases of two `switch` follow one another nobody knows here.
            First::Lost(by) if is_in_another_switch(function, by, holder) => {}
            First::Lost(by) => found = Some(found.map_or(by, |own| own.min(by))),
            First::Asked => {}
            First::Nothing => {
                let next = step.next.iter().map(|(_, next)| *next);
                work.extend(next.filter(|next| seen.insert(*next)).map(|next| (next, 0)));
            }
        }
    }
    Some(Lost {
        variable: graph.name_of(variable).to_owned(),
        by: found?,
    })
}

fn is_in_another_switch(function: &FunctionContext<'_>, one: Span, other: Span) -> bool {
    let node = function.root.descendant_for_byte_range(one.start, one.end);
    let mut around = node.into_iter().flat_map(|node| function.around(node));
    around.any(|own| own.known_kind() == "switch_statement" && !span(own).contains(other))
}

/// Whether whatever a place stands in, and decides whether it is come to, holds another place as well.
fn is_always_before(function: &FunctionContext<'_>, place: Span, other: Span) -> bool {
    let node = function
        .root
        .descendant_for_byte_range(place.start, place.end);
    let mut around = node.into_iter().flat_map(|node| function.around(node));
    around.all(|own| {
        let decides = matches!(
            own.known_kind(),
            "if_statement" | "else_clause" | "switch_statement" | "case_statement"
        );
        !decides || span(own).contains(other)
    })
}

/// The whole of what gives a variable the result of a call, or takes it in.
fn taker(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Span> {
    let holder = function.above(call)?;
    let takes = match holder.known_kind() {
        "assignment_expression" => {
            holder.part("right") == Some(call)
                && matches!(function.context.operator(holder), b"=" | b"|=")
        }
        "conditional_expression" if holder.part("condition") == Some(call) => {
            return taker(function, holder);
        }
        "parenthesized_expression" => return taker(function, holder),
        _ => false,
    };
    let alone = function.above(holder).map(|own| own.known_kind()) == Some("expression_statement");
    (takes && alone).then(|| span(holder))
}

/// What is done to a variable first.
enum First {
    Nothing,
    Asked,
    Lost(Span),
}

fn first(
    function: &FunctionContext<'_>,
    (variable, holder): (usize, Span),
    effects: std::ops::Range<usize>,
) -> First {
    let graph = function.graph;
    let mut at = effects.start;
    while at < effects.end {
        let Some(effect) = graph.effects.get(at).filter(|own| own.place == variable) else {
            at += 1;
            continue;
        };
        if graph.is_of_own_value(at, variable) {
            at += 2;
            continue;
        }
        return match &effect.kind {
            EffectKind::Write(write) if !write.optional => {
                // Behind it something may tell that no access was made on that way, where some come
                // past the access.
                let surely = || {
                    let back = effect.span.start < holder.start;
                    back || is_always_before(function, holder, effect.span)
                };
                let again = || is_calls(function, write.value) && surely();
                match is_result(function, write.value) || again() {
                    true => First::Lost(effect.span),
                    false => First::Asked,
                }
            }
            _ => First::Asked,
        };
    }
    First::Nothing
}

/// Whether a value is what another access gives.
fn is_result(function: &FunctionContext<'_>, value: Option<Span>) -> bool {
    let value = value.and_then(|value| function.expression(value));
    value.is_some_and(|value| match &value.uncast().1.term {
        Term::Call(..) => value.uncast().1.call().is_some_and(|(name, _)| {
            function.file.words.access(name).is_some() || function.told(name).is_some()
        }),
        Term::Choice(_, Some(yes), no) => is_error(yes) && no.is_zero(),
        _ => false,
    })
}

/// Whether a value is what any call gives, in a next round.
fn is_calls(function: &FunctionContext<'_>, value: Option<Span>) -> bool {
    let value = value.and_then(|value| function.expression(value));
    value.is_some_and(|value| matches!(value.uncast().1.term, Term::Call(..)))
}

/// The first use of what a read should have filled behind its fault, which a variable says that
/// nobody has asked by then: `if (get_user(a, p)) ret = -EFAULT; store(a);`.
pub(crate) fn used_untold(
    function: &FunctionContext<'_>,
    root: &str,
    arm: &Arm,
    access: Span,
) -> Option<Span> {
    let graph = function.graph;
    let told = error_taken(function, arm.fault)?;
    let asks = |own: &Effect| own.place == told && own.kind == EffectKind::Read;
    let sets = |own: &Effect| {
        let takes = !matches!(own.kind, EffectKind::Read);
        takes && graph.name_of(own) == root
    };
    let (mut work, mut seen) = (vec![arm.fault], HashSet::from([arm.fault]));
    let mut used: Vec<Span> = Vec::new();
    while let Some(node) = work.pop().and_then(|at| graph.nodes.get(at)) {
        let effects = graph.effects_at(node);
        let until = effects.iter().position(|own| asks(own) || sets(own));
        let open = effects.iter().take(until.unwrap_or(effects.len()));
        let reads = open.filter(|own| own.kind == EffectKind::Read && graph.name_of(own) == root);
        let lasting = reads.filter(|own| own.span.start >= access.end && lasts(function, own.span));
        used.extend(lasting.map(|own| own.span));
        if until.is_none() {
            let next = node.next.iter().map(|(_, next)| *next);
            work.extend(next.filter(|next| seen.insert(*next)));
        }
    }
    used.into_iter().min()
}

/// The same where a variable takes what the read gives, and is asked behind the use: `ret = get_user(a, p);
/// limit = a; if (ret) return ret;`.
pub(crate) fn used_unasked(
    function: &FunctionContext<'_>,
    root: &str,
    access: Node<'_>,
) -> Option<Span> {
    let graph = function.graph;
    let own = taken(function, access)?;
    let result = graph.effects.get(own.effect)?.place;
    graph.is_looked_at(own.effect).then_some(())?;
    first_met(function, span(access), |at| {
        let range = graph.nodes.get(at)?.effects.clone();
        range.filter(|at| *at != own.effect).find_map(|at| {
            let effect = graph.effects.get(at)?;
            if effect.place == result {
                return Some(Met::Asked);
            }
            match &effect.kind {
                _ if graph.name_of(effect) != root || span(access).contains(effect.span) => None,
                EffectKind::Read if !lasts(function, effect.span) => None,
                EffectKind::Read => Some(Met::Used(effect.span)),
                _ => Some(Met::Asked),
            }
        })
    })
}

/// The variable that takes an error number at a node and before anything else is done.
fn error_taken(function: &FunctionContext<'_>, from: usize) -> Option<usize> {
    let graph = function.graph;
    let mut at = from;
    let mut seen = HashSet::new();
    while seen.insert(at) {
        let node = graph.nodes.get(at)?;
        if let Some(own) = graph.effects_at(node).first() {
            let EffectKind::Write(write) = &own.kind else {
                return None;
            };
            let value = function.expression(write.value?)?;
            let plain = graph.places.as_local(own.place).is_some();
            return (plain && is_error(&value)).then_some(own.place);
        }
        match (&node.action, node.next.as_slice()) {
            (Action::Exit { .. }, _) => return None,
            (_, [(_, next)]) => at = *next,
            _ => return None,
        }
    }
    None
}

/// Whether a use gives a value to a call that does something with it, or to what is no variable of
/// the function's.
fn lasts(function: &FunctionContext<'_>, place: Span) -> bool {
    let node = function
        .root
        .descendant_for_byte_range(place.start, place.end);
    let around = node.map(|node| function.around(node));
    let holder = around.into_iter().flatten().find(|own| {
        !matches!(
            own.known_kind(),
            "parenthesized_expression" | "cast_expression" | "argument_list"
        )
    });
    holder.is_some_and(|own| match own.known_kind() {
        "call_expression" => {
            let name = function.callee(own);
            let alone =
                function.above(own).map(|own| own.known_kind()) == Some("expression_statement");
            alone && name.is_some_and(|name| function.file.words.access(name).is_none())
        }
        "assignment_expression" => own
            .part("left")
            .map(|left| function.expression_of(left))
            .is_some_and(|left| is_of_others(function, &left)),
        _ => false,
    })
}

/// Whether others see a place: a member of what a pointer leads to, a variable of the file.
fn is_of_others(function: &FunctionContext<'_>, place: &Expression) -> bool {
    match &place.term {
        Term::Member { arrow, .. } => *arrow,
        Term::Name(name) => function.graph.local(name).is_none() && !function.is_parameter(name),
        _ => false,
    }
}
