//! As many pages as were asked for, taken for those that a call found: fewer may be, and it says how many.

use tree_sitter::Node;

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::bounded::is_of_zero;
use super::context::FunctionContext;
use super::fate::taken;

/// A number of pages that is kept.
pub(crate) struct ShortPins {
    /// The call that finds them.
    pub(crate) found: Span,
    pub(crate) by: String,
    /// What says how many those are.
    pub(crate) told: String,
    /// Where the number that was asked for is kept or given on.
    pub(crate) kept: Span,
}

/// All of a function.
pub(crate) fn short_pins(function: &FunctionContext<'_>) -> Vec<ShortPins> {
    let calls = function.calls.iter();
    let found = calls.filter_map(|call| short(function, *call));
    found.collect()
}

fn short(function: &FunctionContext<'_>, call: Node<'_>) -> Option<ShortPins> {
    let by = function.callee(call)?;
    let pages = function.file.words.pages(by)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let wanted = given.get(pages.count?)?.uncast().1;
    let array = given.get(pages.at)?.uncast().1;
    // Of one page there are no fewer.
    let number = matches!(wanted.term, Term::Name(_) | Term::Member { .. });
    let result = function.graph.effects.get(taken(function, call)?.effect)?;
    let told = function.graph.name_of(result);
    let constant = || {
        function
            .file
            .value(&function.file.plain(wanted.span))
            .is_some()
    };
    let open = number && !constant() && is_asked_for_errors_alone(function, told, span(call));
    let kept = open.then(|| kept(function, (wanted, array), span(call)))??;
    Some(ShortPins {
        found: span(call),
        by: by.to_owned(),
        told: told.to_owned(),
        kept,
    })
}

/// Whether nothing is done with what a variable takes there but to ask whether it is 0 or less, and to give that on.
fn is_asked_for_errors_alone(function: &FunctionContext<'_>, name: &str, from: Span) -> bool {
    let graph = function.graph;
    let local = graph
        .local(name)
        .is_some_and(|own| own.plain && !own.lasting);
    let alone = |node: Node<'_>| {
        let mut around = function.around(node).take_while(|own| !own.is_statement());
        let compared = around.find(|own| {
            own.known_kind() == "binary_expression" && compares(function.context.operator(*own))
        });
        let statement = function.around(node).find(|own| own.is_statement());
        let returned = statement.is_some_and(|own| own.known_kind() == "return_statement");
        compared.map_or(returned, |own| is_of_zero(function, span(own)))
    };
    let set = |node: Node<'_>| {
        let mut effects = graph.effects_in(span(node));
        effects.any(|own| matches!(own.kind, EffectKind::Write(_)))
    };
    let mut asked = false;
    let mut nodes = function
        .mentions(name)
        .filter(|own| own.start_byte() >= from.end);
    let all = nodes.all(|node| {
        let own = alone(node);
        asked |= own;
        own || set(node)
    });
    local && asked && all && !graph.unseen.contains(name)
}

/// Where the number that was asked for is put behind a pointer, or goes to a call with the pages.
fn kept(
    function: &FunctionContext<'_>,
    (wanted, array): (&Expression, &Expression),
    found: Span,
) -> Option<Span> {
    let mut own = None;
    function.each_of(&["assignment_expression"], |node| {
        if own.is_some() || span(node).start < found.end {
            return;
        }
        own = match &function.expression_of(node).term {
            Term::Assignment(left, operator, value) => {
                let member = matches!(left.term, Term::Member { .. });
                let same = operator == "=" && value.uncast().1 == wanted;
                (member && same && function.comes_to(found, span(node))).then(|| span(node))
            }
            _ => None,
        };
    });
    own.or_else(|| given_on(function, (wanted, array), found))
}

/// The call behind that gives back so many of the pages.
fn given_on(
    function: &FunctionContext<'_>,
    (wanted, array): (&Expression, &Expression),
    found: Span,
) -> Option<Span> {
    let words = function.file.words;
    let calls = function
        .calls
        .iter()
        .filter(|call| span(**call).start >= found.end);
    let mut own = calls.filter(|call| {
        let name = function.callee(**call);
        let back = name.is_some_and(|name| words.unpins(name) || words.drops_page(name));
        let whole = function.expression_of(**call);
        let given = whole.call().map_or(&[][..], |(_, given)| given);
        let has = |own: &Expression| given.iter().any(|part| part.uncast().1 == own);
        back && has(wanted) && has(array)
    });
    own.next().map(|call| span(*call))
}
