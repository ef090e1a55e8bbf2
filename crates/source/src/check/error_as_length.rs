//! Error numbers that count as a length: a variable takes one, and the way goes on to what adds the
//! variable to a position or takes it off what is left.

use crate::expression::{Expression, Term};
use crate::flow::{Edge, Effect, EffectKind, Local};
use crate::hashed::HashSet;
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::is_error;

/// So many stores of error numbers of a function are followed.
const STORES: usize = 128;

/// An error number that something is moved by.
pub(crate) struct AsLength {
    /// The variable that takes it.
    pub(crate) variable: String,
    /// What it takes.
    pub(crate) taken: Span,
    /// What is moved by it.
    pub(crate) moved: Span,
}

/// What of a function is moved by an error number.
pub(crate) fn as_lengths(function: &FunctionContext<'_>) -> Vec<AsLength> {
    let graph = function.graph;
    let moves: Vec<(Span, String)> = graph
        .effects
        .iter()
        .filter_map(|own| moved_by(function, own))
        .collect();
    if moves.is_empty() || graph.computed {
        return Vec::new();
    }
    let stores = graph.effects.iter().enumerate();
    let mut stores = stores.filter(|(_, own)| {
        let name = graph.name_of(own);
        graph.is_whole(own) && moves.iter().any(|(_, by)| by == name) && takes_error(function, own)
    });
    let mut found = Vec::new();
    let mut times = 0;
    while let Some((at, own)) = stores.next().filter(|_| !function.stops_at(times, STORES)) {
        times += 1;
        found.extend(first_moved(function, (at, own), &moves));
    }
    found
}

/// The variable by which an effect moves a place: `p += n`, `p = p - n`.
fn moved_by(function: &FunctionContext<'_>, own: &Effect) -> Option<(Span, String)> {
    let EffectKind::Write(write) = &own.kind else {
        return None;
    };
    let at = write.value?;
    let by = match write.compound {
        true => {
            let whole = function.expression(own.span)?;
            let Term::Assignment(_, operator, value) = &whole.term else {
                return None;
            };
            let moves = matches!(operator.as_str(), "+=" | "-=");
            variable(value).filter(|_| moves)?.to_owned()
        }
        false => {
            let value = function.expression(at)?;
            let Term::Binary(left, operator, right) = &value.uncast().1.term else {
                return None;
            };
            let moves = matches!(operator.as_str(), "+" | "-");
            let whole = function.expression(own.span)?;
            let same = match &whole.term {
                Term::Assignment(place, ..) => **place == **left,
                _ => false,
            };
            variable(right).filter(|_| moves && same)?.to_owned()
        }
    };
    (function.graph.name_of(own) != by).then_some((own.span, by))
}

fn variable(own: &Expression) -> Option<&str> {
    own.uncast().1.name()
}

/// Whether a statement gives the variable an error number; what it begins with may be one for ways
/// that do not get so far.
fn takes_error(function: &FunctionContext<'_>, own: &Effect) -> bool {
    let EffectKind::Write(write) = &own.kind else {
        return false;
    };
    let value = write.value.filter(|_| !write.compound);
    let value = value.and_then(|at| function.expression(at));
    let local = function.graph.local(function.graph.name_of(own));
    let declares = |local: &Local| local.declared.contains(own.span);
    value.is_some_and(|value| is_error(&value)) && !local.is_some_and(declares)
}

/// What is moved by the variable first, before it takes another value or anything asks it.
fn first_moved(
    function: &FunctionContext<'_>,
    (at, own): (usize, &Effect),
    moves: &[(Span, String)],
) -> Option<AsLength> {
    let graph = function.graph;
    let name = graph.name_of(own);
    let nodes = graph.nodes.iter();
    let first = nodes.clone().position(|node| node.effects.contains(&at))?;
    // An arm that only some take may be the one that the other condition leaves out.
    let asks = |edge: &Edge| {
        let Edge::If(condition, _) = edge else {
            return false;
        };
        let asked = graph.conditions.get(*condition);
        let asked = asked.and_then(|own| function.asked(own));
        asked.is_none_or(|own| own.any(&|part: &Expression| part.name() == Some(name)))
    };
    let (mut work, mut seen) = (vec![(first, at + 1)], HashSet::default());
    while let Some((node, from)) = work.pop() {
        let Some(step) = graph.nodes.get(node) else {
            continue;
        };
        let mut settled = false;
        for effect in (from..step.effects.end).filter_map(|at| graph.effects.get(at)) {
            if let Some((moved, _)) = moves
                .iter()
                .find(|(at, by)| *at == effect.span && by == name)
            {
                return Some(AsLength {
                    variable: name.to_owned(),
                    taken: own.span,
                    moved: *moved,
                });
            }
            settled |= graph.name_of(effect) == name && effect.kind != EffectKind::Read;
        }
        if settled || step.next.iter().any(|(edge, _)| asks(edge)) {
            continue;
        }
        for (_, next) in &step.next {
            if seen.insert(*next) {
                let start = graph.nodes.get(*next).map_or(0, |own| own.effects.start);
                work.push((*next, start));
            }
        }
    }
    None
}
