//! An error number of what finds pages, taken for how many it found: nothing asks more of it than whether
//! it is 0.

use tree_sitter::Node;

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, Node as Step};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::bounded::is_of_zero;
use super::context::FunctionContext;
use super::fate::taken;

/// A result that is asked for 0 alone.
pub(crate) struct AsPages {
    /// The call that finds them.
    pub(crate) found: Span,
    pub(crate) by: String,
    /// What asks.
    pub(crate) test: Span,
}

/// All of a function.
pub(crate) fn as_pages(function: &FunctionContext<'_>) -> Vec<AsPages> {
    let calls = function.calls.iter();
    calls.filter_map(|call| of_call(function, *call)).collect()
}

fn of_call(function: &FunctionContext<'_>, call: Node<'_>) -> Option<AsPages> {
    let by = function.callee(call)?;
    let pages = function.file.words.pages(by)?;
    (pages.count.is_some() && !pages.never_negative).then_some(())?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let array = given.get(pages.at)?.uncast().1;
    let found = span(call);
    let (test, reached) = match taken(function, call) {
        Some(own) => alone(function, function.graph.effects.get(own.effect)?)?,
        None => {
            let graph = function.graph;
            let behind = graph.reached_behind_any(function.touching(found), |_| false);
            (truth(function, call)?, behind)
        }
    };
    is_used(function, array, (test, &reached)).then(|| AsPages {
        found,
        by: by.to_owned(),
        test,
    })
}

/// The test for 0 that is all that is asked of what a variable takes, and what comes behind while it
/// holds that.
fn alone(function: &FunctionContext<'_>, own: &Effect) -> Option<(Span, HashSet<usize>)> {
    let graph = function.graph;
    let again = |node: &Step| {
        let mut effects = graph.effects_at(node).iter();
        effects.any(|other| {
            let writes = matches!(other.kind, EffectKind::Write(_));
            writes && other.place == own.place && other.span != own.span
        })
    };
    let from = function.touching(own.span);
    let reached = graph.reached_behind_any(from.iter().copied(), again);
    let here = from.iter().flat_map(|at| graph.effects_of(*at));
    let here = here.filter(|other| other.span.start >= own.span.end);
    let behind = reached.iter().flat_map(|at| graph.effects_of(*at));
    let mut tests = Vec::new();
    for read in here.chain(behind).filter(|other| other.place == own.place) {
        match &read.kind {
            EffectKind::Read => {
                let (from, to) = (read.span.start, read.span.end);
                let node = function.root.named_descendant_for_byte_range(from, to)?;
                match truth(function, node) {
                    Some(test) => tests.push(test),
                    None if tells(function, node) => return None,
                    None => {}
                }
            }
            EffectKind::Write(_) => {}
            _ => return None,
        }
    }
    let all = graph.reached_behind_any(from, |_| false);
    Some((tests.into_iter().min()?, all))
}

/// The test of a value for being 0: `!n`, `n == 0`, `if (n)`.
fn truth(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Span> {
    let mut own = node;
    loop {
        let parent = function.above(own)?;
        let operator = function.context.operator(parent);
        match parent.known_kind() {
            "parenthesized_expression" => {}
            "unary_expression" if operator == b"!" => return Some(span(parent)),
            "binary_expression" => {
                let zero = matches!(operator, b"==" | b"!=") && is_of_zero(function, span(parent));
                return zero.then(|| span(parent));
            }
            "if_statement" => {
                let asks = parent.part("condition") == Some(own);
                return asks.then(|| span(own));
            }
            _ => return None,
        }
        own = parent;
    }
}

/// Whether what is done with a value may tell an error number from others.
fn tells(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut around = function.around(node);
    let own = around.find(|own| match own.known_kind() {
        "call_expression" | "switch_statement" | "conditional_expression" => true,
        "binary_expression" => compares(function.context.operator(*own)),
        _ => own.is_statement(),
    });
    own.is_none_or(|own| !own.is_statement() || own.known_kind() == "switch_statement")
}

/// Whether the pages are used behind the test.
fn is_used(
    function: &FunctionContext<'_>,
    array: &Expression,
    (test, reached): (Span, &HashSet<usize>),
) -> bool {
    let comes = |at: Span| {
        let mut nodes = function.touching(at).into_iter();
        at.start >= test.end && nodes.any(|node| reached.contains(&node))
    };
    if let Term::Address(place) = &array.term
        && let Some(name) = place.name()
    {
        return function.mentions(name).any(|own| comes(span(own)));
    }
    let mut used = false;
    function.each_of(&["subscript_expression"], |node| {
        used |= !used
            && comes(span(node))
            && matches!(&function.expression_of(node).term,
                Term::Element { array: own, .. } if own.uncast().1 == array);
    });
    used
}
