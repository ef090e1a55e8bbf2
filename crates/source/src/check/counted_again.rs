//! Positions of a program in a file that are moved on, and to which what they were moved by is added
//! once more.

use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::hashed::HashSet;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;

/// A number that counts twice.
pub(crate) struct Again {
    /// Where it was added to the position.
    pub(crate) moved: Span,
    /// The sum of both behind that.
    pub(crate) sum: Span,
}

/// `*position += n; d->len = *position + n;`
pub(crate) fn counted_again(function: &FunctionContext<'_>, position: &str) -> Option<Again> {
    let (mut moves, mut sums) = (Vec::new(), Vec::new());
    function.each_of(&["assignment_expression"], |node| {
        let own = function.expression_of(node);
        let Term::Assignment(left, operator, value) = &own.term else {
            return;
        };
        let value = value.uncast().1;
        match operator.as_str() {
            "+=" if leads(left, position) && value.name().is_some() => {
                moves.push((span(node), value.clone()));
            }
            "=" if !leads(left, position) => {
                sums.extend(added(value, position).map(|with| (span(node), with.clone())));
            }
            _ => {}
        }
    });
    moves.iter().find_map(|(moved, by)| {
        let mut same = sums.iter().filter(|(_, with)| with == by);
        let found = same.find(|(sum, _)| is_unchanged(function, (*moved, *sum), (position, by)))?;
        Some(Again {
            moved: *moved,
            sum: found.0,
        })
    })
}

/// Whether an expression is what a position is.
fn leads(own: &Expression, position: &str) -> bool {
    matches!(&own.uncast().1.term, Term::Behind(of) if of.uncast().1.name() == Some(position))
}

/// What a sum of two adds to a position.
fn added<'e>(sum: &'e Expression, position: &str) -> Option<&'e Expression> {
    let parts: Vec<&Expression> = sum.joined("+").iter().map(|own| own.uncast().1).collect();
    match parts.as_slice() {
        [one, other] if leads(one, position) => Some(other),
        [one, other] if leads(other, position) => Some(one),
        _ => None,
    }
}

/// Whether a way leads from one place to another on which neither of two numbers changes.
fn is_unchanged(
    function: &FunctionContext<'_>,
    (from, to): (Span, Span),
    (position, by): (&str, &Expression),
) -> bool {
    let graph = function.graph;
    let about = |own: &Effect| {
        let named = |name: &str| graph.name_of(own) == name;
        own.kind != EffectKind::Read && (named(position) || by.name().is_some_and(named))
    };
    let (first, last) = (function.touching(from), function.touching(to));
    let to_there: HashSet<usize> = last.into_iter().collect();
    // One node has what follows one another without a fork.
    let beside = |at: &usize| {
        let effects = graph.effects_of(*at).iter();
        let mut between =
            effects.filter(|own| from.end <= own.span.start && own.span.end <= to.start);
        to_there.contains(at) && from.end <= to.start && !between.any(about)
    };
    let on = || {
        let behind = graph.reached_behind_any(first.iter().copied(), |node| {
            graph.effects_at(node).iter().any(about)
        });
        behind
            .iter()
            .any(|at| to_there.contains(at) && !first.contains(at))
    };
    first.iter().any(beside) || on()
}
