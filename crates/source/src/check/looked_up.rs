//! What a call gave by a member of a copy, before another copy puts a new one in its place.

use tollgate_defect::answer;

use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;

/// The calls in a place whose result goes into a variable that one of some conditions names: they
/// have asked something of what they are given. Not what is called again behind a byte, which
/// asks it anew, nor what fetches.
pub(crate) fn lookups(
    function: &FunctionContext<'_>,
    conditions: &[Span],
    place: Span,
    behind: usize,
) -> Vec<Span> {
    let graph = function.graph;
    let words = function.file.words;
    let again = |name: &str| {
        let mut later = function.calls.iter();
        later.any(|call| {
            span(*call).start >= behind && answer::text(function.called(*call)) == Some(name)
        })
    };
    let asks = |value: Span| {
        let whole = function.expression(value);
        let called = whole.as_ref().and_then(|own| own.uncast().1.call());
        called.is_some_and(|(name, _)| {
            words.access(name).is_none() && !function.may_fault(name) && !again(name)
        })
    };
    let mut found: Vec<Span> = Vec::new();
    for (name, value) in graph.assignments() {
        let mut asked = conditions.iter();
        let own = place.contains(value) && asked.any(|asked| graph.names(*asked, name));
        if own && asks(value) {
            found.push(value);
        }
    }
    found
}
