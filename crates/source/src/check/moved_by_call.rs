//! Positions of a program in a file that a call moves on by itself, and that go on by its result once
//! more; and those that go on by a part of what is given for all.

use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::site::span;
use crate::span::Span;

use super::bounded::is_in_round;
use super::context::FunctionContext;
use super::position_twice::moved_on;
use super::unbounded;

/// A position that is moved on twice.
pub(crate) struct Moved {
    /// The call that moves it on.
    pub(crate) call: Span,
    pub(crate) name: String,
    /// Where its result is added.
    pub(crate) again: Span,
    /// The position.
    pub(crate) position: Span,
}

/// `n = simple_read_from_buffer(to, count, pos, from, size); *pos += n;`
pub(crate) fn moved_by_call(function: &FunctionContext<'_>) -> Vec<Moved> {
    let calls = function.calls.iter();
    let moves = calls.filter_map(|call| {
        let (name, position) = moved_on(function, *call)?;
        let taker = function.taker(*call)?;
        Some((span(*call), name, position, taker))
    });
    let moves: Vec<_> = moves.collect();
    let mut found = Vec::new();
    if moves.is_empty() {
        return found;
    }
    function.each_of(&["assignment_expression"], |node| {
        let own = function.expression_of(node);
        let Some((left, by)) = added(&own) else {
            return;
        };
        let mut same = moves.iter().filter(|(call, _, position, taker)| {
            left == position && by == taker && span(node).start > call.end
        });
        let again = same.find(|(call, _, _, taker)| !is_set(function, taker, (*call, span(node))));
        found.extend(again.map(|(call, name, _, _)| Moved {
            call: *call,
            name: name.clone(),
            again: span(node),
            position: left.span,
        }));
    });
    found
}

/// `p` and `n` of `p += n` and of `p = p + n`.
fn added(own: &Expression) -> Option<(&Expression, &Expression)> {
    let Term::Assignment(left, operator, value) = &own.term else {
        return None;
    };
    let (left, value) = (left.uncast().1, value.uncast().1);
    match (operator.as_str(), &value.term) {
        ("+=", _) => Some((left, value)),
        ("=", Term::Binary(one, operator, other)) if operator == "+" => {
            let (one, other) = (one.uncast().1, other.uncast().1);
            let sides = [(one, other), (other, one)].into_iter();
            let mut sides = sides.filter(|(own, _)| *own == left);
            sides.next().map(|(_, by)| (left, by))
        }
        _ => None,
    }
}

/// Whether a variable takes another value between two places.
fn is_set(function: &FunctionContext<'_>, variable: &Expression, (from, to): (Span, Span)) -> bool {
    let graph = function.graph;
    let root = variable.root().name();
    let mut effects = graph.effects.iter();
    effects.any(|own| {
        let between = from.end <= own.span.start && own.span.end <= to.start;
        let written = matches!(own.kind, EffectKind::Write(_));
        between && written && Some(graph.name_of(own)) == root
    })
}

/// A position that goes on by less than the program is told.
pub(crate) struct Less {
    /// Where it goes on.
    pub(crate) moved: Span,
    /// By what.
    pub(crate) by: Span,
    /// What the program is told of.
    pub(crate) told: Span,
    /// What else was added to that.
    pub(crate) besides: Span,
}

/// `all++; … all += n; *pos += n; return all;`
pub(crate) fn moved_by_part(function: &FunctionContext<'_>) -> Option<Less> {
    let position = unbounded::position(function)?;
    let (moved, by) = only_move(function, &position)?;
    let name = by.name()?;
    let mut told = None;
    function.each_of(&["return_statement"], |node| {
        let value = node.named_child(0).map(|own| function.expression_of(own));
        let value = value.filter(|_| function.comes_to(moved, span(node)));
        told = told.take().or(value);
    });
    let told = told?;
    let all = told.uncast().1.name().filter(|all| *all != name)?;
    let graph = function.graph;
    let steps = graph.effects.iter().filter(|own| {
        let step = matches!(&own.kind, EffectKind::Write(write) if write.next || write.compound);
        step && graph.is_whole(own) && graph.name_of(own) == all
    });
    let (parts, besides): (Vec<&Effect>, Vec<&Effect>) =
        steps.partition(|own| is_by(function, own, name));
    let [part] = parts.as_slice() else {
        return None;
    };
    let besides = besides.first()?;
    // A further round goes on by the next part.
    let once = !is_in_round(function, moved) && !is_in_round(function, part.span);
    let before = function.comes_to(besides.span, moved) && !function.comes_to(moved, besides.span);
    (once && before && stays(function, name, part.span)).then(|| Less {
        moved,
        by: by.span,
        told: told.span,
        besides: besides.span,
    })
}

/// The one place in which a position goes on, which nothing else is given, and by what.
fn only_move(function: &FunctionContext<'_>, position: &str) -> Option<(Span, Expression)> {
    let leads = |own: &Expression| matches!(&own.term, Term::Behind(of) if of.uncast().1.name() == Some(position));
    let mut moves = Vec::new();
    function.each_of(&["assignment_expression", "update_expression"], |node| {
        let own = function.expression_of(node);
        match &own.term {
            Term::Assignment(left, ..) if leads(left) => {
                let by = added(&own).map(|(_, by)| by.clone());
                moves.push((span(node), by));
            }
            Term::Step(of) if leads(of) => moves.push((span(node), None)),
            _ => {}
        }
    });
    let given = function.calls.iter().any(|call| {
        let own = function.expression_of(*call);
        let given = own.call().map(|(_, given)| given);
        given.is_some_and(|given| {
            given
                .iter()
                .any(|own| own.uncast().1.name() == Some(position))
        })
    });
    match moves.as_slice() {
        [(at, Some(by))] if !given => Some((*at, by.clone())),
        _ => None,
    }
}

/// Whether a variable goes on by another one: `all += n`.
fn is_by(function: &FunctionContext<'_>, step: &Effect, name: &str) -> bool {
    let written = match &step.kind {
        EffectKind::Write(write) => write.value,
        _ => None,
    };
    let value = written.and_then(|at| function.expression(at));
    value.is_some_and(|value| match &value.uncast().1.term {
        Term::Name(own) => own == name,
        Term::Assignment(_, _, by) => by.uncast().1.name() == Some(name),
        _ => false,
    })
}

/// Whether a variable keeps its value behind a place.
fn stays(function: &FunctionContext<'_>, name: &str, from: Span) -> bool {
    let graph = function.graph;
    let mut effects = graph.effects.iter();
    !effects.any(|own| {
        let written = matches!(own.kind, EffectKind::Write(_));
        written && own.span.start > from.end && graph.name_of(own) == name
    })
}
