//! Accesses that check nothing, of more than access_ok() has seen of the pointer.

use crate::expression::Expression;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::{Access, root_of};
use super::context::FunctionContext;
use super::{extent, space};

/// An access that goes on behind what was checked.
pub(crate) struct CheckedShort {
    /// How many bytes it has seen.
    pub(crate) checked: u64,
    /// Behind which byte of the pointer's the access ends.
    pub(crate) end: u64,
}

/// What every way to an access has checked of its pointer, if that is one range of known bytes
/// from the pointer on, and the access ends behind it.
pub(crate) fn checked_short(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    check: Span,
) -> Option<CheckedShort> {
    let root = access.user_root.as_str();
    // A pointer that moves, or leads elsewhere behind the check, is another question.
    let graph = function.graph;
    let kept = match graph.local(root) {
        Some(_) => graph.only_value(root).is_some(),
        None => !graph.takes_a_value(root),
    };
    (kept && function.graph.passes(&[check], access.span)).then_some(())?;
    let checked = range(function, check, root)?;
    let count = access.bytes.as_ref();
    let count = count.map(|count| known(function, count));
    // Of a number that hangs on anything, the first byte is not asked for alone.
    let count = match count {
        Some(None) => return None,
        count => count,
    };
    let user = function.expression(access.user)?;
    let touched = extent::touched(function, user.uncast().1, root, count)?;
    (touched.end > checked).then_some(CheckedShort {
        checked,
        end: touched.end,
    })
}

/// How many bytes a check has seen from a pointer on.
fn range(function: &FunctionContext<'_>, check: Span, root: &str) -> Option<u64> {
    let mut calls = function.calls.iter();
    let call = calls.find(|own| span(**own) == check)?;
    let mut cursor = call.walk();
    let given = call.part("arguments")?;
    let given: Vec<_> = given.named_children(&mut cursor).collect();
    // Trees before 5.0 say which way as well: access_ok(type, address, size).
    let [address, size] = given.as_slice() else {
        return None;
    };
    let front = function.expression_of(*address);
    let whole = front.uncast().1.name() == Some(root);
    (whole && root_of(function.context, *address) == root).then_some(())?;
    known(function, &function.expression_of(*size))
}

fn known(function: &FunctionContext<'_>, size: &Expression) -> Option<u64> {
    let size = size.uncast().1;
    extent::bytes(function, size).or_else(|| space::bytes(function, size))
}
