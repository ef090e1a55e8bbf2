//! Strings that sscanf() takes from a text into arrays that have no room for them.

use tree_sitter::Node;

use crate::Direction;
use crate::expression::Expression;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::format::{ScannedString, literal, scanned_strings};
use super::limit::limit;
use super::{space, unbounded};

/// A string that may be longer than its array.
pub(crate) struct TooLong {
    /// The call.
    pub(crate) call: Span,
    /// Its name.
    pub(crate) name: String,
    /// The array, and how many bytes it has.
    pub(crate) array: String,
    pub(crate) size: u64,
    /// How many bytes are written with the 0 at the end; none where a program says.
    pub(crate) bytes: Option<u64>,
}

/// How long a text may be.
enum Length {
    Most(u64),
    /// As long as a program likes.
    Any,
}

/// The first string of a call that is so: `sscanf(text, "%s", own)`.
pub(crate) fn too_long(function: &FunctionContext<'_>, call: Node<'_>) -> Option<TooLong> {
    let name = function.callee(call)?;
    let parses = function.file.words.parses(name).filter(|own| own.all)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let format = literal(given.get(parses.text + 1)?)?;
    let strings = scanned_strings(&format)?.into_iter();
    let text = given.get(parses.text)?.uncast().1;
    let mut found = strings.filter_map(|own| {
        let array = given.get(parses.into + own.into)?.uncast().1;
        let local = function.local_at(array.name()?, array.span)?;
        let size = space::array(function, local).filter(|_| local.array)?;
        let bytes = written(function, &own, (text, span(call)))?;
        bytes.is_none_or(|bytes| bytes > size).then(|| TooLong {
            call: span(call),
            name: name.to_owned(),
            array: local.name.clone(),
            size,
            bytes,
        })
    });
    found.next()
}

/// How many bytes a string has with its 0, of a text as long as that may be; none inside where a program
/// says, and none at all where nobody knows.
fn written(
    function: &FunctionContext<'_>,
    own: &ScannedString,
    (text, at): (&Expression, Span),
) -> Option<Option<u64>> {
    let length = length(function, text, at);
    let room = match (own.most, length) {
        (Some(most), Some(Length::Most(all))) => most.min(all.saturating_sub(own.before)),
        (Some(most), _) => most,
        (None, Some(Length::Most(all))) => all.saturating_sub(own.before),
        (None, Some(Length::Any)) => return Some(None),
        (None, None) => return None,
    };
    Some(Some(room.saturating_add(1)))
}

/// How long a text of the program's may be: in memory of its own with a 0 behind it, or in an array that
/// an access has filled.
fn length(function: &FunctionContext<'_>, text: &Expression, at: Span) -> Option<Length> {
    let name = text.name()?;
    let local = function.local_at(name, at)?;
    if local.array {
        let size = space::array(function, local)?;
        let mut reads = function.accesses.iter().filter(|own| {
            let into = own.value_root == name && own.span.end <= at.start;
            into && own.word.direction == Direction::Read
        });
        let read = reads.next().filter(|_| reads.next().is_none())?;
        let count = read.bytes.as_ref()?.uncast().1;
        let most = most(function, count, read.span);
        return Some(Length::Most(most.unwrap_or(size).min(size.checked_sub(1)?)));
    }
    let value = function.expression(function.graph.only_value(name)?)?;
    let (maker, given) = value.uncast().1.call()?;
    let count = function.file.words.results().ends_copy(maker)?;
    let count = given.get(count)?.uncast().1;
    match most(function, count, value.span) {
        Some(most) => Some(Length::Most(most)),
        None => unbounded::users(function, count, value.span).map(|_| Length::Any),
    }
}

fn most(function: &FunctionContext<'_>, count: &Expression, at: Span) -> Option<u64> {
    space::bytes(function, count).or_else(|| limit(function, count, at)?.value)
}
