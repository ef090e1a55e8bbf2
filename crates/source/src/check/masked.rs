//! Addresses that a call has made the user's whatever they were, and that nobody uses.

use tree_sitter::Node;

use crate::calls::Fence;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;

/// A call whose address nobody takes.
pub(crate) struct Unused {
    pub(crate) name: String,
    pub(crate) call: Span,
}

/// Those of a function.
pub(crate) fn unused(function: &FunctionContext<'_>) -> Vec<Unused> {
    let calls = function.calls.iter();
    calls.filter_map(|call| of(function, *call)).collect()
}

fn of(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Unused> {
    let name = function.callee(call)?;
    let words = function.file.words;
    let begins = words
        .begin(name)
        .is_some_and(|own| own.always && !own.guessed);
    let masks = begins || words.fence(name) == Some(Fence::Given);
    let whole = function.expression_of(call);
    let (_, given) = whole.call().filter(|_| masks)?;
    (given.len() == 1 && is_dropped(function, call)).then(|| Unused {
        name: name.to_owned(),
        call: span(call),
    })
}

/// Whether a call is a statement by itself, be it cast to void.
fn is_dropped(function: &FunctionContext<'_>, call: Node<'_>) -> bool {
    let mut around = function.around(call);
    let holder = around.find(|own| {
        !matches!(
            own.known_kind(),
            "parenthesized_expression" | "cast_expression"
        )
    });
    holder.is_some_and(|own| own.known_kind() == "expression_statement")
}
