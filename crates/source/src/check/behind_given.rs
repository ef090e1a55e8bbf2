//! A copy from behind the front of what read() or write() is given, of as many bytes as there are
//! from that front on.

use crate::expression::Expression;
use crate::flow::{Effect, EffectKind};
use crate::span::Span;

use super::accesses::Access;
use super::behind_front::begun;
use super::context::FunctionContext;
use super::space;
use super::unbounded::given_to_a_program;

/// What is copied so.
pub(crate) struct BehindGiven {
    /// How many bytes there are from the front on.
    pub(crate) count: String,
    /// How far behind the front the copy begins, or where the pointer goes on.
    pub(crate) by: Span,
}

/// `copy_from_user(to, buf + 4, count)`, or `buf += 4` before `copy_from_user(to, buf, count)`, where
/// nothing makes `count` less.
pub(crate) fn behind_given(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<BehindGiven> {
    let count = access.bytes.as_ref()?.uncast().1.name()?;
    (function.is_parameter(count) && stays(function, count)).then_some(())?;
    let (buffer, asked) = given_to_a_program(function)?;
    (asked == count).then_some(())?;
    let by = match begun(access.address.uncast().1) {
        Some((front, by)) => {
            let whole = front.name() == Some(&buffer) && stays(function, &buffer);
            by_some(function, by).filter(|_| whole)?
        }
        None => moved(function, access, &buffer)?,
    };
    Some(BehindGiven { count: asked, by })
}

/// Whether a variable is what it was given, wherever it is named.
fn stays(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let mut effects = graph.effects.iter();
    !effects.any(|own| graph.name_of(own) == name && is_changed(own))
}

fn is_changed(own: &Effect) -> bool {
    match &own.kind {
        EffectKind::Read => false,
        EffectKind::Handed { by_address } => *by_address,
        EffectKind::Write(_) | EffectKind::Address => true,
    }
}

/// Where a number is that is known to be more than 0.
fn by_some(function: &FunctionContext<'_>, by: &Expression) -> Option<Span> {
    let more = space::bytes(function, by.uncast().1).is_some_and(|own| own > 0);
    more.then_some(by.span)
}

/// Where a pointer goes on before an access from it, whichever way leads there.
fn moved(function: &FunctionContext<'_>, access: &Access<'_>, buffer: &str) -> Option<Span> {
    (access.address.uncast().1.name() == Some(buffer)).then_some(())?;
    let graph = function.graph;
    let changes = |own: &&Effect| graph.name_of(own) == buffer && is_changed(own);
    let mut changes = graph.effects.iter().filter(changes);
    let only = changes.next().filter(|_| changes.next().is_none())?;
    let EffectKind::Write(write) = &only.kind else {
        return None;
    };
    let whole = graph.is_whole(only) && write.compound;
    let by = || function.expression(write.value?);
    let goes_on = write.next || by().is_some_and(|by| by_some(function, &by).is_some());
    (whole && goes_on && graph.passes(&[only.span], access.span)).then_some(only.span)
}
