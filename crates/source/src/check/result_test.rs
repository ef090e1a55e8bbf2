//! Tests of what a call gives for what it never is.

use std::cell::OnceCell;
use std::rc::Rc;

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Edge, Effect, EffectKind, Node as Step};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::is_error;
use super::known::Told;
use super::left_and_asked::left_and_asked;

/// The test for less than 0, or for an error number, of what a call gives.
pub(crate) fn tested(
    function: &FunctionContext<'_>,
    (call, told): (Node<'_>, Told),
    tests: &OnceCell<Vec<Test>>,
) -> Option<Span> {
    let tests = || tests.get_or_init(|| Test::all(function)).as_slice();
    let mut node = call;
    while let Some(parent) = function.above(node) {
        let operator = function.context.operator(parent);
        match parent.known_kind() {
            "parenthesized_expression" => {}
            "conditional_expression" if gives_either(function, parent, told) => {}
            "binary_expression" => {
                let own = function.expression_of(parent);
                return is_asked(&own, told).map(|_| span(parent));
            }
            "assignment_expression" if operator == b"=" => {
                let variable = parent.part("left").map(bare)?;
                if let Some(test) = stored(function, told, (variable, span(parent)), tests()) {
                    return Some(test);
                }
            }
            "init_declarator" => {
                let variable = parent.part("declarator")?;
                return stored(function, told, (variable, span(parent)), tests());
            }
            _ => return None,
        }
        node = parent;
    }
    None
}

/// Whether each arm of a choice is a call that gives the same.
fn gives_either(function: &FunctionContext<'_>, node: Node<'_>, told: Told) -> bool {
    let own = function.expression_of(node);
    let Term::Choice(_, Some(one), other) = &own.term else {
        return false;
    };
    gives(function, one, told) && gives(function, other, told)
}

/// Whether an expression is a call that gives such a result, or a choice of two.
fn gives(function: &FunctionContext<'_>, own: &Expression, told: Told) -> bool {
    match &own.uncast().1.term {
        Term::Choice(_, Some(one), other) => {
            gives(function, one, told) && gives(function, other, told)
        }
        _ => {
            let name = own.uncast().1.call().map(|(name, _)| name);
            name.is_some_and(|name| function.told(name) == Some(told))
        }
    }
}

/// Whether what asks a value for less than 0 or for an error number always holds where it
/// is neither: `a < 0`, `a <= -1` and `a == -EFAULT` never do, `a >= 0` does; of one that is no more
/// than 0 `a > 0` never does. None where something else is asked.
pub(crate) fn is_asked(own: &Expression, told: Told) -> Option<bool> {
    let Term::Binary(_, operator, right) = &own.term else {
        return None;
    };
    if told == Told::Error {
        let holds = match operator.as_str() {
            ">" => false,
            "<=" => true,
            _ => return None,
        };
        return right.is_zero().then_some(holds);
    }
    match operator.as_str() {
        "<" => right.is_zero().then_some(false),
        ">=" => right.is_zero().then_some(true),
        "<=" => is_minus_one(right).then_some(false),
        ">" => is_minus_one(right).then_some(true),
        _ if told == Told::Summed => None,
        "==" => is_error(right).then_some(false),
        "!=" => is_error(right).then_some(true),
        _ => None,
    }
}

/// `-1`
fn is_minus_one(own: &Expression) -> bool {
    match &own.term {
        Term::Unary(operator, of) => {
            operator == "-" && matches!(&of.term, Term::Number(own) if own == "1")
        }
        _ => false,
    }
}

/// A comparison of a variable.
pub(crate) struct Test {
    place: Span,
    name: String,
    whole: Rc<Expression>,
}

impl Test {
    /// Those of the function, in the order of the text.
    fn all(function: &FunctionContext<'_>) -> Vec<Self> {
        let places = function.graph.comparisons.iter();
        let tests = places.filter_map(|place| {
            let whole = function.expression(*place)?;
            let name = match &whole.term {
                Term::Binary(left, ..) => left.name()?.to_owned(),
                _ => return None,
            };
            let place = *place;
            Some(Self { place, name, whole })
        });
        tests.collect()
    }
}

/// The test of a variable of the function that holds nothing but such a result there.
fn stored(
    function: &FunctionContext<'_>,
    told: Told,
    (variable, at): (Node<'_>, Span),
    tests: &[Test],
) -> Option<Span> {
    if variable.known_kind() != "identifier" {
        return None;
    }
    let name = function.context.written(variable);
    // What the text alone says comes first.
    let asks = |test: &&Test| {
        let own = test.name == name && test.place.start >= at.end;
        own && is_asked(&test.whole, told).is_some()
    };
    let mut tests = tests.iter().filter(asks).peekable();
    tests.peek()?;
    function.graph.local(&name).filter(|local| local.plain)?;
    let graph = function.graph;
    let is_own = |effect: &Effect| {
        let written = matches!(&effect.kind, EffectKind::Write(write) if write.value.is_some());
        written && effect.span == at
    };
    let alike = alike(function, told, (&name, at));
    let changes = |effect: &Effect| {
        effect.kind != EffectKind::Read
            && graph.name_of(effect) == name
            && !alike.contains(&effect.span)
    };
    let mut nodes = 0..graph.nodes.len();
    let own = nodes.find(|at| graph.effects_of(*at).iter().any(is_own))?;
    // Where it holds what the call gave, on whatever way that is come to.
    let others = |node: &Step| {
        let mut effects = graph.effects_at(node).iter();
        effects.any(|own| changes(own) && !is_own(own))
    };
    let mut given = graph.reached_behind(own, others);
    let place = graph.nodes.get(own)?.effects.clone();
    let is_there = |node: &Step| {
        let mut effects = graph.effects_at(node).iter();
        node.effects == place || effects.any(|own| alike.contains(&own.span))
    };
    // Nothing else comes there, from the front or from where it takes another value.
    let mut free = graph.reached(0, is_there);
    let nodes = graph.nodes.iter().enumerate();
    let changed = nodes.filter(|(at, node)| *at != own && others(node));
    let changed: Vec<usize> = changed.map(|(at, _)| at).collect();
    free.extend(graph.reached_behind_any(changed.iter().copied(), is_there));
    free.extend(changed);
    let alone = tests
        .clone()
        .find(|test| is_first_to_ask(function, (own, at), (&name, test.place), told));
    if let Some(alone) = alone {
        return Some(alone.place);
    }
    if told == Told::Left {
        let places: Vec<Span> = tests.clone().map(|own| own.place).collect();
        if let Some(test) = left_and_asked(function, (own, at), &name, &places) {
            return Some(test);
        }
    }
    given.retain(|at| !free.contains(at));
    // What comes behind it in the same node.
    let behind = graph.effects_of(own).iter().skip_while(|own| !is_own(own));
    let here: Vec<Span> = behind.map(|own| own.span).collect();
    let read = given.iter().flat_map(|at| graph.effects_of(*at));
    let read: HashSet<Span> = read.map(|own| own.span).chain(here).collect();
    let holds = |test: &&Test| read.iter().any(|own| test.place.contains(*own));
    tests.find(holds).map(|test| test.place)
}

/// Where a variable takes the same from another call: in the other arm of an `if`.
fn alike(function: &FunctionContext<'_>, told: Told, (name, at): (&str, Span)) -> Vec<Span> {
    let graph = function.graph;
    let effects = graph.effects.iter();
    let others = effects.filter(|own| graph.name_of(own) == name && own.span != at);
    let alike = others.filter(|own| match &own.kind {
        EffectKind::Write(write) if !write.compound => {
            let value = write.value.and_then(|at| function.expression(at));
            value.is_some_and(|value| gives(function, &value, told))
        }
        _ => false,
    });
    alike.map(|own| own.span).collect()
}

/// Whether nothing looks at what a variable took on any way behind that but a test, whatever
/// else it may hold there: one arm takes what a copy left, the other an error number, and both
/// are asked for less than 0.
fn is_first_to_ask(
    function: &FunctionContext<'_>,
    (own, at): (usize, Span),
    (name, test): (&str, Span),
    told: Told,
) -> bool {
    if told != Told::Left {
        return false;
    }
    let graph = function.graph;
    let about = |effect: &Effect| graph.name_of(effect) == name && effect.span != at;
    let named = |node: &Step| graph.effects_at(node).iter().any(about);
    let between = graph.reached_behind(own, named);
    let from = between.iter().copied().chain([own]);
    let next = from.filter_map(|at| graph.nodes.get(at));
    let next = next.flat_map(|node| node.next.iter().map(|(_, next)| *next));
    let first: HashSet<usize> = next
        .filter(|at| graph.nodes.get(*at).is_some_and(named))
        .collect();
    let here = graph.effects_of(own).iter();
    let here = here.skip_while(|own| own.span != at).any(about);
    let only = first.iter().all(|at| {
        let mut own = graph.effects_of(*at).iter().filter(|own| about(own));
        own.all(|own| own.kind == EffectKind::Read && test.contains(own.span))
    });
    let again = || {
        let mut behind = let_through(function, first.iter().copied(), name).into_iter();
        behind.any(|at| {
            let mut own = graph.effects_of(at).iter().filter(|own| about(own));
            own.any(|own| own.kind == EffectKind::Read && !test.contains(own.span))
        })
    };
    !here && !first.is_empty() && only && !again()
}

/// What is come to behind some nodes where a variable is not less than 0.
fn let_through(
    function: &FunctionContext<'_>,
    from: impl Iterator<Item = usize>,
    name: &str,
) -> HashSet<usize> {
    let graph = function.graph;
    let refuses = |edge: &Edge| {
        let Edge::If(condition, holds) = edge else {
            return false;
        };
        let asked = graph.conditions.get(*condition);
        let asked = asked.and_then(|own| function.asked(own));
        asked.is_some_and(|own| match &own.term {
            Term::Binary(left, ..) if left.name() == Some(name) => {
                is_asked(&own, Told::Left).is_some_and(|always| always != *holds)
            }
            _ => false,
        })
    };
    let mut found = HashSet::default();
    let mut work: Vec<usize> = from.collect();
    while let Some(at) = work.pop() {
        let ways = graph.nodes.get(at).into_iter().flat_map(|own| &own.next);
        let ways = ways.filter(|(edge, _)| !refuses(edge));
        let ways: Vec<usize> = ways.map(|(_, next)| *next).collect();
        work.extend(ways.into_iter().filter(|next| found.insert(*next)));
    }
    found
}
