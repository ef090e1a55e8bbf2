//! Memory of a function that takes the user's bytes from where on the program says.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::site::span;
use crate::span::Span;

use super::allocation::Allocation;
use super::context::FunctionContext;
use super::fate::taken;
use super::unbounded::is_put_over;

/// A buffer in front of whose bytes lies what nothing has set, where a program does not begin with
/// the first one.
pub(crate) struct Placed {
    /// The buffer.
    pub(crate) name: String,
    /// What leads to where in it the bytes go.
    pub(crate) position: String,
}

/// The buffer that a call fills, where nothing looks at the position, and nothing has set the buffer
/// before: `simple_write_to_buffer(buf, sizeof(buf), ppos, from, count)`.
pub(crate) fn placed(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Placed> {
    let name = function.callee(call)?;
    let fills = function.file.words.results().fills_from(name)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let buffer = given.get(fills.object)?.uncast().1.name()?;
    let position = given.get(fills.position)?.uncast().1.name()?;
    let at = span(call);
    let asked = !function.is_parameter(position)
        || is_followed(function, position)
        || is_held_against(function, call, given);
    (!asked && is_bare(function, buffer, at)).then(|| Placed {
        name: buffer.to_owned(),
        position: position.to_owned(),
    })
}

/// Whether the function itself looks at what a parameter leads to, or sets it.
fn is_followed(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let mut effects = graph
        .effects
        .iter()
        .filter(|own| graph.name_of(own) == name);
    effects.any(|own| {
        let looks = !matches!(own.kind, EffectKind::Handed { .. } | EffectKind::Address);
        looks && graph.is_behind(own) || matches!(own.kind, EffectKind::Write(_))
    })
}

/// Whether the function asks for as many bytes as the call was given, and for no other number: with
/// room for no more, fewer were copied behind the front.
fn is_held_against(function: &FunctionContext<'_>, call: Node<'_>, given: &[Expression]) -> bool {
    let taken = taken(function, call).and_then(|own| function.graph.effects.get(own.effect));
    let name = taken.map(|own| function.graph.name_of(own));
    let is_own = |own: &Expression| match name {
        Some(name) => own.name() == Some(name),
        None => own.span.contains(span(call)),
    };
    let mut asked = false;
    function.each_of(&["binary_expression"], |node| {
        let alike = matches!(function.context.operator(node), b"==" | b"!=");
        if asked || !alike {
            return;
        }
        if let Term::Binary(left, _, right) = &function.expression_of(node).term {
            let (left, right) = (left.uncast().1, right.uncast().1);
            let is_given = |own: &Expression| given.iter().any(|given| given.uncast().1 == own);
            asked = is_own(left) && is_given(right) || is_own(right) && is_given(left);
        }
    });
    asked
}

/// Whether nothing has set what lies in a buffer before a place: an array, or memory of the
/// function's own.
fn is_bare(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let local = function.local_at(name, at);
    let array = local.is_some_and(|own| own.array && !own.initialised && !own.lasting);
    let memory = || Allocation::of(function, name, at).is_some_and(|own| !own.zeroed);
    let stored = || {
        let graph = function.graph;
        let mut effects = graph
            .effects
            .iter()
            .filter(|own| graph.name_of(own) == name);
        effects.any(|own| {
            let stores = matches!(&own.kind, EffectKind::Write(own) if own.value.is_some());
            stores && !graph.is_whole(own) && own.span.end <= at.start
        })
    };
    (array || memory()) && !is_put_over(function, name, at) && !stored()
}
