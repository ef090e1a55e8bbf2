//! Ways of a function that all give an error of its own, where it was asked for something else than an
//! access.

use crate::expression::{Expression, Term};
use crate::flow::{Action, Edge, EffectKind};
use crate::hashed::HashSet;
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::{Arm, is_error};
use super::locks;

/// So many conditions of a function are looked at.
const MOST: usize = 256;

/// So many states of its nodes are followed behind each; a function with more gives anything.
const STATES: usize = 4096;

/// So many calls of a condition are gone back over.
const CALLED: usize = 2;

/// A condition behind which one way gives nothing but errors, and the other goes on.
pub(crate) struct Failure {
    /// The condition, as the graph numbers them.
    pub(crate) condition: usize,
    /// The node that divides.
    pub(crate) node: usize,
    pub(crate) arm: Arm,
}

/// Whether a condition asks a variable itself, and not what it leads to, maybe by a macro: there may be
/// nothing.
pub(crate) fn asks_itself(function: &FunctionContext<'_>, condition: usize, name: &str) -> bool {
    let own = function.graph.conditions.get(condition);
    let whole = own.and_then(|own| function.asked(own));
    // Of a structure of the function's own a member says whether there is anything: `f.file`.
    let is_own = |own: &Expression| match &own.uncast().1.term {
        Term::Member {
            arrow: false,
            holder,
            ..
        } => holder.name() == Some(name),
        _ => own.uncast().1.name() == Some(name),
    };
    let asks = |part: &Expression| match &part.term {
        Term::Unary(_, of) => is_own(of),
        Term::Binary(left, _, right) => is_own(left) || is_own(right),
        Term::Call(call, given) => {
            let words = function.file.words;
            let tells = || call.name().is_some_and(|own| words.tells_errors(own));
            let led =
                |own: &Expression| own.name().is_some_and(|own| is_given(function, own, name));
            given.iter().any(is_own) || tells() && given.iter().any(led)
        }
        _ => false,
    };
    let told = |part: &Expression| part.name().is_some_and(|own| is_told(function, own, name));
    whole.is_none_or(|own| is_own(&own) || own.any(&asks) || own.any(&told))
}

/// Whether a variable takes what a call gives that is given another one, which it may take back where it
/// fails: `map = __bpf_map_get(f)`.
fn is_given(function: &FunctionContext<'_>, variable: &str, name: &str) -> bool {
    let mut values = function.graph.assignments();
    values.any(|(own, value)| {
        let value = function.expression(value).filter(|_| own == variable);
        let given = |(_, given): (&str, &[Expression])| {
            given.iter().any(|own| own.uncast().1.name() == Some(name))
        };
        value.is_some_and(|value| value.uncast().1.call().is_some_and(given))
    })
}

/// Whether a variable takes what a call says of another one's value: `ret = PTR_ERR_OR_ZERO(p)`.
fn is_told(function: &FunctionContext<'_>, variable: &str, name: &str) -> bool {
    let mut values = function.graph.assignments();
    values.any(|(own, value)| {
        let value = function.expression(value).filter(|_| own == variable);
        value.is_some_and(|value| match value.uncast().1.call() {
            Some((call, given)) => {
                let words = function.file.words;
                let tells = words.tells_errors(call)
                    || words.tells_null(call)
                    || may_give_back(function, call);
                tells && given.iter().any(|own| own.uncast().1.name() == Some(name))
            }
            None => false,
        })
    })
}

/// Whether a function of the file gives something back, maybe what it is given, where it fails.
fn may_give_back(function: &FunctionContext<'_>, call: &str) -> bool {
    let file = function.file;
    let body = file.body_named(call);
    let back = |name: &str| file.words.gives_back(name);
    body.is_some_and(|body| locks::names(function, body, back))
}

/// All of a function, in the order of its nodes.
pub(crate) fn failures(function: &FunctionContext<'_>) -> Vec<Failure> {
    let nodes = function.graph.nodes.iter().enumerate();
    let divides = nodes.filter_map(|(at, node)| match node.next.as_slice() {
        [(Edge::If(condition, holds), one), (Edge::If(..), other)] => Some(match holds {
            true => (at, *condition, *one, *other),
            false => (at, *condition, *other, *one),
        }),
        _ => None,
    });
    let own = divides
        .take(MOST)
        .filter_map(|(node, condition, one, other)| {
            // What the function is called with is no error number of another's.
            let asked = function.graph.conditions.get(condition)?.reads.iter();
            let asked = asked.filter(|own| function.graph.places.as_local(**own).is_some());
            let asked: Vec<usize> = asked.copied().collect();
            let stored = stored(function, node);
            let held = [asked, stored.clone()].concat();
            let fails = |from, held: &[usize]| gives_errors(function, from, held);
            let (fault, success) = match (fails(one, &held), fails(other, &held)) {
                (true, false) => (one, other),
                (false, true) => (other, one),
                // What was asked is an error number on one side alone: `if (ret < 0) return ret; return ret;`
                (true, true) => match error_side(function, condition)? {
                    true if !fails(other, &stored) => (one, other),
                    false if !fails(one, &stored) => (other, one),
                    _ => return None,
                },
                (false, false) => return None,
            };
            let arm = Arm {
                fork: node,
                fault,
                success,
                negated: false,
            };
            Some(Failure {
                condition,
                node,
                arm,
            })
        });
    own.collect()
}

/// On which side of a condition the variable is an error number that it asks for one: `ret`, `ret < 0`.
fn error_side(function: &FunctionContext<'_>, condition: usize) -> Option<bool> {
    let own = function.asked(function.graph.conditions.get(condition)?)?;
    match &own.term {
        Term::Name(_) => Some(true),
        Term::Unary(operator, of) if operator == "!" && of.name().is_some() => Some(false),
        Term::Binary(left, operator, right) if left.name().is_some() && right.is_zero() => {
            match operator.as_str() {
                "<" | "!=" => Some(true),
                ">=" | "==" => Some(false),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The places that take an error number right before a way divides: `ret = -EINVAL; if (a) goto out;`
fn stored(function: &FunctionContext<'_>, fork: usize) -> Vec<usize> {
    let graph = function.graph;
    // A way divides behind what its condition calls.
    let (mut first, mut nodes) = (fork, vec![fork]);
    while let Some(before) = first.checked_sub(1)
        && nodes.len() <= CALLED
        && let Some(node) = graph.nodes.get(before)
        && matches!((&node.action, node.next.as_slice()), (Action::Call(_), [(Edge::Always, next)]) if *next == first)
    {
        nodes.push(before);
        first = before;
    }
    let nodes = nodes.into_iter().rev();
    nodes.fold(Vec::new(), |held, at| behind(function, at, held))
}

/// Whether every way from a node returns an error number, or a variable that the condition before it has asked,
/// or one that takes an error number on the way.
fn gives_errors(function: &FunctionContext<'_>, from: usize, asked: &[usize]) -> bool {
    let graph = function.graph;
    let mut seen = HashSet::default();
    let mut work: Vec<(usize, Vec<usize>)> = vec![(from, asked.to_vec())];
    let mut any = false;
    while let Some((at, held)) = work.pop() {
        let new = seen.len() < STATES && seen.insert((at, held.clone()));
        let Some(node) = graph.nodes.get(at).filter(|_| new) else {
            continue;
        };
        let held = behind(function, at, held);
        if let Action::Exit { returned, .. } = node.action {
            any = true;
            let own = returned.is_some_and(|own| held.contains(&own));
            if !own && !gives_error(function, at) {
                return false;
            }
        }
        work.extend(node.next.iter().map(|(_, next)| (*next, held.clone())));
    }
    any && seen.len() < STATES
}

/// Whether what a function leaves with is written there as an error number.
fn gives_error(function: &FunctionContext<'_>, exit: usize) -> bool {
    let given = function.graph.statement(function.place(exit));
    let given = given.and_then(|own| function.expression(own.expression?));
    given.is_some_and(|own| is_number(function, &own))
}

/// Whether it is an error number: one by its name, or what a pointer holds of one.
fn is_number(function: &FunctionContext<'_>, own: &Expression) -> bool {
    let results = function.file.words.results();
    let held = |own: &Expression| {
        own.call()
            .is_some_and(|(name, _)| results.gives_error_number(name))
    };
    is_error(own) || held(own.uncast().1)
}

/// The places that hold error numbers behind a node, of those that did before it.
fn behind(function: &FunctionContext<'_>, at: usize, mut held: Vec<usize>) -> Vec<usize> {
    let effects = function.graph.effects_of(at).iter();
    for own in effects.filter(|own| own.kind != EffectKind::Read) {
        held.retain(|place| *place != own.place);
        let stored = match &own.kind {
            EffectKind::Write(write) => is_error_stored(function, own.place, write.value),
            _ => false,
        };
        held.extend(stored.then_some(own.place));
    }
    held
}

/// Whether a variable of the function, or what it is called with, takes an error number.
fn is_error_stored(function: &FunctionContext<'_>, place: usize, value: Option<Span>) -> bool {
    let places = &function.graph.places;
    let local = places.as_local(place);
    let own = match local.and_then(|at| function.graph.locals.get(at)) {
        Some(local) => local.plain,
        None => places
            .as_outer(place)
            .is_some_and(|name| function.is_parameter(name)),
    };
    let value = value.filter(|_| own);
    let value = value.and_then(|value| function.expression(value));
    value.is_some_and(|own| is_number(function, &own))
}
