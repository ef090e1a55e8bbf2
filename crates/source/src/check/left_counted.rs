//! What a copy has left, taken for how much it has copied.

use tree_sitter::Node;

use crate::expression::Expression;
use crate::flow::EffectKind;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;
use crate::types::Shape;

use super::carried::assigned;
use super::context::FunctionContext;
use super::moved_too_far::lasts;
use super::part::behind_call;
use super::space;

/// What counts it.
pub(crate) struct LeftCounted {
    /// What is moved on, or picked.
    pub(crate) what: Span,
    /// Where.
    pub(crate) counted: Span,
}

/// `n = copy_from_user(to, from, n); *position += n;`, `p += copy_to_user(p, from, n);`,
/// `to[copy_from_user(to, from, n)] = 0;`
pub(crate) fn left_counted(function: &FunctionContext<'_>, copy: Node<'_>) -> Option<LeftCounted> {
    let mut copies = function.accesses.iter().chain(function.through);
    let to = copies.find(|own| own.span == span(copy))?;
    let to = function.expression(to.value)?;
    let to = to.uncast().1;
    if let Some(own) = counts(function, copy, to) {
        return Some(own);
    }
    let taker = function.expression_of(bare(assigned(function, copy)?));
    let name = taker.name()?;
    let known = function.is_parameter(name) || function.graph.local(name).is_some();
    let uses = known.then(|| behind_call(function, name, span(copy)))??;
    let mut reads = uses.into_iter().filter(|own| own.kind == EffectKind::Read);
    reads.find_map(|own| {
        let (start, end) = (own.span.start, own.span.end);
        let place = function.root.descendant_for_byte_range(start, end)?;
        counts(function, place, to)
    })
}

/// What a number is added to as it is, or picks of where the copy goes.
fn counts(
    function: &FunctionContext<'_>,
    number: Node<'_>,
    to: &Expression,
) -> Option<LeftCounted> {
    let mut own = number;
    let mut added = None;
    loop {
        let parent = function.above(own)?;
        let is = |part: &str| parent.part(part) == Some(own);
        match parent.known_kind() {
            "parenthesized_expression" | "cast_expression" => {}
            "binary_expression" if added.is_none() && is("right") => {
                (function.context.operator(parent) == b"+").then_some(())?;
                added = Some(function.expression_of(parent.part("left")?));
            }
            "assignment_expression" if is("right") => {
                let place = function.expression_of(parent.part("left")?);
                let moves = match function.context.operator(parent) {
                    b"+=" => added.is_none(),
                    b"=" => added.is_some_and(|own| own == place),
                    _ => false,
                };
                let moves = moves && (lasts(function, &place) || leads(function, &place));
                return moves.then(|| LeftCounted {
                    what: place.span,
                    counted: span(parent),
                });
            }
            "subscript_expression" if added.is_none() && is("index") => {
                let array = function.expression_of(parent.part("argument")?);
                return (*array.uncast().1 == *to).then(|| LeftCounted {
                    what: array.span,
                    counted: span(parent),
                });
            }
            _ => return None,
        }
        own = parent;
    }
}

/// Whether a place holds an address, which what was left moves nowhere that anybody means.
fn leads(function: &FunctionContext<'_>, place: &Expression) -> bool {
    let of = space::type_of(function, place);
    of.is_some_and(|of| matches!(of.shape, Shape::Pointer { .. }))
}
