//! Numbers of the bytes that were copied: what a copy left, taken off what it was asked for.

use tree_sitter::Node;

use crate::expression::Term;
use crate::flow::EffectKind;
use crate::hashed::HashSet;
use crate::node::{LOOPS, Parts as _};
use crate::site::{bare, span};
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::taken;

/// Where such a number goes.
pub(crate) enum Number {
    /// The function gives it.
    Given,
    /// A variable takes it.
    Taken { variable: String, at: Span },
}

/// The number of the bytes that a copy has copied.
pub(crate) fn number(function: &FunctionContext<'_>, copy: Node<'_>) -> Option<Number> {
    let of = span(copy);
    goes(function, copy, of).or_else(|| goes(function, only_read(function, copy)?, of))
}

/// The only place where the variable is read that takes what a copy left.
fn only_read<'t>(function: &FunctionContext<'t>, copy: Node<'_>) -> Option<Node<'t>> {
    let own = taken(function, copy).filter(|own| !own.chosen)?;
    let graph = function.graph;
    let variable = graph.effects.get(own.effect)?.place;
    let mut reads = graph
        .effects
        .iter()
        .filter(|own| own.place == variable && !matches!(own.kind, EffectKind::Write(_)));
    let read = reads.next().filter(|own| own.kind == EffectKind::Read)?;
    reads.next().is_none().then_some(())?;
    function
        .root
        .descendant_for_byte_range(read.span.start, read.span.end)
}

/// Where a number goes that what a node says is taken off.
fn goes(function: &FunctionContext<'_>, left: Node<'_>, copy: Span) -> Option<Number> {
    let mut own = left;
    let mut off = false;
    loop {
        let parent = function.above(own)?;
        match parent.known_kind() {
            "parenthesized_expression" | "cast_expression" => {}
            "binary_expression" if is_taken_off(function, parent, (own, copy)) && !off => {
                off = true
            }
            "return_statement" if off => return Some(Number::Given),
            "init_declarator" if off => return variable(function, parent, "declarator"),
            "assignment_expression" if parent.part("right") == Some(own) => {
                let wanted: &[u8] = if off { b"=" } else { b"-=" };
                // A call that is taken off at once is asked for what it is taken off, or what was copied.
                let whole = off || own == left && span(own) == copy;
                let whole = whole || is_asked_for(function, parent, copy);
                let is = whole && function.context.operator(parent) == wanted;
                return variable(function, parent, "left").filter(|_| is);
            }
            _ => return None,
        }
        own = parent;
    }
}

/// Whether a node is what is taken off what a copy was asked for.
fn is_taken_off(function: &FunctionContext<'_>, whole: Node<'_>, own: (Node<'_>, Span)) -> bool {
    let (left, copy) = own;
    let taken = function.context.operator(whole) == b"-" && whole.part("right") == Some(left);
    taken && is_asked_for(function, whole, copy)
}

/// Whether what stands on the left of an operator is as many bytes as a copy was asked for.
fn is_asked_for(function: &FunctionContext<'_>, whole: Node<'_>, copy: Span) -> bool {
    let mut copies = function.accesses.iter().chain(function.through);
    let bytes = copies.find(|own| own.span == copy);
    let bytes = bytes.and_then(|own| own.bytes.as_ref());
    let left = whole.part("left").map(|own| function.expression_of(own));
    let pair = bytes.zip(left.as_ref());
    pair.is_some_and(|(bytes, left)| bytes.uncast().1 == left.uncast().1)
}

fn variable(function: &FunctionContext<'_>, holder: Node<'_>, part: &str) -> Option<Number> {
    let name = function.context.written(bare(holder.part(part)?));
    let local = function.graph.local(&name).filter(|own| own.plain);
    local.map(|_| Number::Taken {
        variable: name,
        at: span(holder),
    })
}

/// What is done with such a number behind where a variable takes it.
pub(crate) struct Uses {
    /// Whether a call is given it, or a program for an answer.
    pub(crate) given: bool,
    /// What others are moved by it.
    moved: Vec<Span>,
}

/// All of it; none where anything else is done with it, which may ask whether it is 0.
pub(crate) fn uses(function: &FunctionContext<'_>, variable: &str, at: Span) -> Option<Uses> {
    let answers = function.file.answers_a_program(function.body);
    let mut found = Uses {
        given: false,
        moved: Vec::new(),
    };
    let behind = function
        .reads(variable)
        .filter(|own| own.span.start >= at.end);
    for read in behind {
        let place = function
            .root
            .descendant_for_byte_range(read.span.start, read.span.end);
        let around = place.and_then(|place| function.above(place))?;
        match around.known_kind() {
            "argument_list" => found.given = true,
            "return_statement" if answers => found.given = true,
            "assignment_expression" if is_moved(function, around) => found.moved.push(span(around)),
            _ => return None,
        }
    }
    Some(found)
}

fn is_moved(function: &FunctionContext<'_>, own: Node<'_>) -> bool {
    matches!(function.context.operator(own), b"+=" | b"-=")
}

impl Uses {
    /// Whether others are moved by it as well.
    pub(crate) fn moves(&self) -> bool {
        !self.moved.is_empty()
    }

    /// The loop around a copy whose condition changes by nothing but what it has copied: where that is
    /// nothing it never ends.
    pub(crate) fn endless(&self, function: &FunctionContext<'_>, copy: Node<'_>) -> Option<Span> {
        let mut around = function.around(copy);
        let round = around.find(|own| LOOPS.contains(&own.known_kind()))?;
        let condition = function.expression_of(round.part("condition")?);
        let asks = !condition.any(&|own| matches!(own.term, Term::Call(..) | Term::Assignment(..)));
        let graph = function.graph;
        let names = |own: &str| condition.any(&|part| part.name() == Some(own));
        let inside = |own: Span| span(round).contains(own);
        let changes = graph.effects.iter().filter(|own| {
            // Hardly a macro changes what it is given for a value.
            let reads = matches!(
                own.kind,
                EffectKind::Read | EffectKind::Handed { by_address: false }
            );
            !reads && inside(own.span) && names(graph.name_of(own))
        });
        let changes: HashSet<Span> = changes.map(|own| own.span).collect();
        let by_it = !changes.is_empty() && changes.iter().all(|own| self.moved.contains(own));
        (asks && by_it && !leaves(function, span(round), span(copy))).then(|| span(round))
    }
}

/// Whether anything in a loop leaves it, but for what is asked before a copy of numbers alone: these are
/// the same each time that nothing was copied.
fn leaves(function: &FunctionContext<'_>, round: Span, copy: Span) -> bool {
    let mut found = false;
    let kinds = ["break_statement", "return_statement", "goto_statement"];
    function.each_of(&kinds, |own| {
        let leaves = kinds.contains(&own.known_kind()) && round.contains(span(own));
        found |= leaves && !(span(own).end <= copy.start && is_by_numbers(function, own));
    });
    found
}

/// Whether a statement is done where an `if` asks for numbers, and calls nothing for that.
fn is_by_numbers<'t>(function: &FunctionContext<'t>, own: Node<'t>) -> bool {
    let mut around = function.around(own);
    let asking = around.find(|own| own.known_kind() == "if_statement");
    let asked = asking.and_then(|own| own.part("condition"));
    let asked = asked.map(|own| function.expression_of(own));
    asked.is_some_and(|own| {
        // What a pointer leads to others may change.
        !own.any(&|part| {
            let lasts = matches!(
                part.term,
                Term::Member { .. } | Term::Element { .. } | Term::Behind(_)
            );
            lasts || matches!(part.term, Term::Call(..) | Term::Assignment(..))
        })
    })
}
