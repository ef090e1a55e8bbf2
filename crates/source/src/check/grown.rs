//! Numbers that are limited and go on by one or more behind that, before they are used.

use tollgate_defect::answer;

use crate::compared::Ordered;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::bounded::{is_in_round, is_of_loop};
use super::context::FunctionContext;
use super::limit::{Limit, refuses_more};

/// `if (n > N) return -EINVAL; if (rest) n++;`: the most that the number may be at a place behind both.
pub(crate) fn grown(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> Option<Limit> {
    let name = number.name()?;
    // Most numbers never go on.
    let mut steps = steps(function, name).filter(|(step, _)| step.span.end <= at.start);
    let (step, by) = steps.next()?;
    let alone = by > 0 && steps.next().is_none();
    let only = alone.then(|| limited(function, number, at)).flatten()?;
    let behind = only.place.end <= step.span.start;
    let once = behind && !is_in_round(function, step.span);
    (once && !is_set(function, (name, step), (only.place, at))).then_some(())?;
    let passes = || function.graph.passes(&[only.place], step.span);
    (passes() && function.comes_to(step.span, at)).then_some(())?;
    Some(Limit {
        value: Some(only.value?.checked_add(by)?),
        ..only
    })
}

/// Where a variable goes on by so much.
fn steps<'f>(
    function: &'f FunctionContext<'_>,
    name: &'f str,
) -> impl Iterator<Item = (&'f Effect, u64)> {
    let graph = function.graph;
    let own = move |own: &&Effect| graph.name_of(own) == name && graph.is_whole(own);
    let all = graph.effects.iter().filter(own);
    all.filter_map(|own| match &own.kind {
        EffectKind::Write(write) if write.next || write.compound => {
            Some((own, added(function, own)?))
        }
        _ => None,
    })
}

/// `n++`, `n += 2`
fn added(function: &FunctionContext<'_>, step: &Effect) -> Option<u64> {
    let mut nodes = std::iter::successors(
        function
            .root
            .descendant_for_byte_range(step.span.start, step.span.end),
        |own| function.above(*own),
    );
    let whole = nodes.find(|own| {
        matches!(
            own.known_kind(),
            "update_expression" | "assignment_expression"
        )
    })?;
    match &function.expression_of(whole).term {
        Term::Step(_) => (function.context.operator(whole) == b"++").then_some(1),
        Term::Assignment(_, operator, by) if operator == "+=" => match &by.term {
            Term::Number(number) => answer::number(number),
            _ => None,
        },
        _ => None,
    }
}

/// What the number is refused more than before a place, where nothing else is compared with it by
/// order.
fn limited(function: &FunctionContext<'_>, number: &Expression, at: Span) -> Option<Limit> {
    let mut all = Vec::new();
    function.each_of(&["binary_expression"], |node| {
        if span(node).end > at.start {
            return;
        }
        let own = function.expression_of(node);
        let asked = Ordered::of(&own);
        let zero = asked.as_ref().is_some_and(|own| own.less.is_zero());
        let named = asked.is_some() && own.any_but_indices(&|part| part == number);
        // Last what takes longest.
        if named && !zero && !is_of_loop(node) {
            all.push(refuses_more(function, node, number, at));
        }
    });
    match all.as_slice() {
        [Some(only)] => Some(only.clone()),
        _ => None,
    }
}

/// Whether anything but a step gives the variable another value behind a place.
fn is_set(
    function: &FunctionContext<'_>,
    (name, step): (&str, &Effect),
    (from, at): (Span, Span),
) -> bool {
    let graph = function.graph;
    let mut effects = graph.effects.iter();
    effects.any(|own| {
        let sets = match &own.kind {
            EffectKind::Write(_) | EffectKind::Address => true,
            EffectKind::Handed { by_address } => *by_address,
            EffectKind::Read => false,
        };
        let other = sets && own.span != step.span && graph.name_of(own) == name;
        other && from.end <= own.span.start && own.span.end <= at.start
    })
}
