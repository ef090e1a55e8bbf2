//! What an access puts into a place over what another one has just put there.

use tree_sitter::Node;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;
use super::space;

/// Such a place.
pub(crate) struct CopiedOver {
    pub(crate) place: Span,
    pub(crate) first: Span,
    pub(crate) second: Span,
}

/// So many accesses before one are held against it.
const FEW: usize = 8;

/// `if (get_user(r->a, &u->a) || get_user(r->a, &u->b)) return -EFAULT;`, and the same of two values that
/// are stored to one place of the user's.
pub(crate) fn copied_over(function: &FunctionContext<'_>) -> Vec<CopiedOver> {
    let all = function.accesses;
    let mut found = Vec::new();
    for (at, second) in all.iter().enumerate() {
        let mut before = all.iter().take(at).rev().take(FEW);
        let first = before.find(|first| {
            are_alike(function, first, second)
                && are_in_a_run(function, first.node, second.node)
                && is_untouched(function, first, second)
                && is_needed(function, second)
        });
        found.extend(first.map(|first| CopiedOver {
            place: match second.word.direction {
                Direction::Read => second.value,
                Direction::Write => second.user,
            },
            first: first.span,
            second: second.span,
        }));
    }
    found
}

/// Whether two accesses fill one place from two others.
fn are_alike(function: &FunctionContext<'_>, first: &Access<'_>, second: &Access<'_>) -> bool {
    let one_kind = first.word.direction == second.word.direction && first.bytes == second.bytes;
    let values = || {
        let own = |access: &Access<'_>| function.expression_of(access.value_node);
        (own(first), own(second))
    };
    let users = || {
        Some((
            function.expression(first.user)?,
            function.expression(second.user)?,
        ))
    };
    // A copy of one byte asks whether the user's memory is there.
    let asks = || {
        let bytes = second.bytes.as_ref();
        bytes.is_some_and(|own| space::bytes(function, own) == Some(1))
    };
    if !one_kind || first.inside != second.inside || asks() {
        return false;
    }
    match first.word.direction {
        Direction::Read => {
            first.address != second.address && {
                let (one, other) = values();
                one == other && is_still(&one) && !is_still_needed(&one, second)
            }
        }
        Direction::Write => {
            first.address == second.address && is_still(&first.address) && {
                let (one, other) = values();
                one != other && users().is_some_and(|(one, other)| one == other)
            }
        }
    }
}

/// Whether an expression means the same place each time.
fn is_still(own: &Expression) -> bool {
    !own.any(&|part| {
        matches!(
            part.term,
            Term::Step(_) | Term::Call(..) | Term::Assignment(..) | Term::Other(_)
        )
    })
}

/// Whether an access takes its address or its size from what is there.
fn is_still_needed(place: &Expression, access: &Access<'_>) -> bool {
    let root = place.root().name();
    let needs = |own: &Expression| own.any(&|part| part.name() == root && root.is_some());
    let local = matches!(place.root().term, Term::Name(_));
    !local || needs(&access.address) || access.bytes.as_ref().is_some_and(needs)
}

/// Whether anything looks at what an access fills: who only sees whether the user's memory is there fills
/// a variable that nobody reads.
fn is_needed(function: &FunctionContext<'_>, access: &Access<'_>) -> bool {
    let graph = function.graph;
    let value = function.expression_of(access.value_node);
    let place = match &value.uncast().1.term {
        Term::Address(place) => place.uncast().1,
        _ => value.uncast().1,
    };
    let local = place.name().filter(|name| graph.local(name).is_some());
    let reads = access.word.direction == Direction::Read;
    let Some(name) = local.filter(|_| reads) else {
        return true;
    };
    let filled = |at: Span| function.accesses.iter().any(|own| own.value.contains(at));
    graph.effects.iter().any(|own| {
        let looks = !matches!(own.kind, EffectKind::Write(_));
        looks && graph.name_of(own) == name && !filled(own.span)
    })
}

/// Whether nothing between two accesses looks at the place, or makes it another one.
fn is_untouched(function: &FunctionContext<'_>, first: &Access<'_>, second: &Access<'_>) -> bool {
    let between = |at: Span| first.span.end <= at.start && at.end <= second.span.start;
    let touched = match first.word.direction {
        Direction::Read => is_looked_at(function, first, between),
        Direction::Write => is_moved(function, first, between),
    };
    let accessed = |call: &Node<'_>| {
        let mut accesses = function.accesses.iter();
        accesses.any(|own| own.node == *call && own.word.direction == first.word.direction)
    };
    let mut calls = function.calls.iter().filter(|call| between(span(**call)));
    !touched && calls.all(accessed)
}

/// Whether what an access has filled may be looked at, or be another place, by what is done there.
fn is_looked_at(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    there: impl Fn(Span) -> bool,
) -> bool {
    let graph = function.graph;
    let filled = graph.effects_in(access.value);
    let filled = filled.filter(|own| own.kind != EffectKind::Read).last();
    let Some(filled) = filled else {
        return true;
    };
    let behind = graph.is_behind(filled);
    let indices = function.expression_of(access.value_node);
    graph
        .effects
        .iter()
        .filter(|own| there(own.span))
        .any(|own| {
            let related = graph.places.is_in(own.place, filled.place)
                || graph.places.is_in(filled.place, own.place);
            // Of a pointer it is no matter who reads it.
            let pointer = own.kind == EffectKind::Read && behind && !graph.is_behind(own);
            let index = own.kind != EffectKind::Read
                && graph.is_whole(own)
                && indices.any(&|part| part.name() == Some(graph.name_of(own)));
            related && !pointer || index
        })
}

/// Whether the address of an access may become another one by what is done there.
fn is_moved(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    there: impl Fn(Span) -> bool,
) -> bool {
    let graph = function.graph;
    let named = |name: &str| access.address.any(&|part| part.name() == Some(name));
    graph.effects.iter().any(|own| {
        let read = own.kind == EffectKind::Read || graph.is_behind(own);
        there(own.span) && !read && named(graph.name_of(own))
    })
}

/// Whether two calls stand one behind the other, such that what leads to the second one comes from the first.
fn are_in_a_run<'t>(function: &FunctionContext<'t>, first: Node<'t>, second: Node<'t>) -> bool {
    let Some((common, plain)) = way_up(function, second, first) else {
        return false;
    };
    let other = way_up(function, first, second).is_some_and(|(_, plain)| plain);
    let joins = match common.known_kind() {
        "compound_statement" | "case_statement" => true,
        "binary_expression" => matches!(function.context.operator(common), b"||" | b"|" | b"+"),
        _ => false,
    };
    plain && other && joins
}

/// What holds two nodes, and whether everything between that and the first of them is evaluated wherever
/// the statement is.
fn way_up<'t>(
    function: &FunctionContext<'t>,
    from: Node<'t>,
    other: Node<'t>,
) -> Option<(Node<'t>, bool)> {
    let (mut own, mut plain) = (from, true);
    loop {
        let parent = function.above(own)?;
        if span(parent).contains(span(other)) {
            return Some((parent, plain));
        }
        plain &= match parent.known_kind() {
            "parenthesized_expression"
            | "unary_expression"
            | "cast_expression"
            | "assignment_expression"
            | "expression_statement"
            | "return_statement"
            | "init_declarator"
            | "declaration" => true,
            "if_statement" => parent.part("condition") == Some(own),
            "binary_expression" => {
                let operator = function.context.operator(parent);
                matches!(operator, b"||" | b"|" | b"+") || parent.part("left") == Some(own)
            }
            _ => false,
        };
        own = parent;
    }
}
