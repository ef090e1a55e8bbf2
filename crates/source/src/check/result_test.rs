//! Tests of what a call gives for what it never is.

use std::rc::Rc;

use std::cell::OnceCell;

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, Node as Step};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::is_error;
use super::known::Told;

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

/// Whether what asks a value for less than 0 or for an error number always holds where it
/// is neither: `a < 0` and `a == -EFAULT` never do, `a >= 0` does; of one that is no more
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
        _ if told == Told::Summed => None,
        "==" => is_error(right).then_some(false),
        "!=" => is_error(right).then_some(true),
        _ => None,
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
    let changes =
        |effect: &Effect| effect.kind != EffectKind::Read && graph.name_of(effect) == name;
    let mut nodes = 0..graph.nodes.len();
    let own = nodes.find(|at| graph.effects_of(*at).iter().any(is_own))?;
    // Where it holds what the call gave, on whatever way that is come to.
    let others = |node: &Step| {
        let mut effects = graph.effects_at(node).iter();
        effects.any(|own| changes(own) && !is_own(own))
    };
    let mut given = graph.reached_behind(own, others);
    let place = graph.nodes.get(own)?.effects.clone();
    let is_there = |node: &Step| node.effects == place;
    // Nothing else comes there, from the front or from where it takes another value.
    let mut free = graph.reached(0, is_there);
    let nodes = graph.nodes.iter().enumerate();
    let changed = nodes.filter(|(at, node)| *at != own && others(node));
    let changed: Vec<usize> = changed.map(|(at, _)| at).collect();
    free.extend(graph.reached_behind_any(changed.iter().copied(), is_there));
    free.extend(changed);
    given.retain(|at| !free.contains(at));
    // What comes behind it in the same node.
    let behind = graph.effects_of(own).iter().skip_while(|own| !is_own(own));
    let here: Vec<Span> = behind.map(|own| own.span).collect();
    let read = given.iter().flat_map(|at| graph.effects_of(*at));
    let read: HashSet<Span> = read.map(|own| own.span).chain(here).collect();
    let holds = |test: &&Test| read.iter().any(|own| test.place.contains(*own));
    tests.find(holds).map(|test| test.place)
}
