//! Strings of the user's that are copied by a length which was asked for before: the program
//! may have taken the 0 away in between.

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;

/// A string that was copied so, and that nothing looks at again.
pub(crate) struct Measured {
    /// The variable that leads to it.
    pub(crate) name: String,
    /// Where it is copied.
    pub(crate) copied: Span,
    /// The call that gave its length.
    pub(crate) by: Span,
}

/// A copy of a number of bytes from an address of the user's.
struct Copy {
    address: Expression,
    count: Expression,
    /// The variable that leads to the copy.
    object: String,
    span: Span,
}

/// Those of a function.
pub(crate) fn measured(function: &FunctionContext<'_>) -> Vec<Measured> {
    let lengths: Vec<(Expression, String, Span)> = lengths(function).collect();
    if lengths.is_empty() {
        return Vec::new();
    }
    let own = copies(function).into_iter().filter_map(|copy| {
        let (_, _, by) = lengths.iter().find(|(address, length, by)| {
            let counts = copy.count.any(&|part| part.name() == Some(length));
            *address == copy.address && counts && by.end <= copy.span.start
        })?;
        let by = *by;
        (!is_looked_at(function, &copy)).then_some(Measured {
            name: copy.object,
            copied: copy.span,
            by,
        })
    });
    own.collect()
}

/// The addresses whose strings are measured, with the variables that take how long they are.
fn lengths(function: &FunctionContext<'_>) -> impl Iterator<Item = (Expression, String, Span)> {
    function.calls.iter().filter_map(|call| {
        let name = function.callee(*call)?;
        function.file.words.gives_length(name).then_some(())?;
        let taker = function.taker(*call)?;
        let whole = function.expression_of(*call);
        let (_, given) = whole.call()?;
        let address = given.first()?.uncast().1.clone();
        Some((address, taker.name()?.to_owned(), span(*call)))
    })
}

fn copies(function: &FunctionContext<'_>) -> Vec<Copy> {
    let reads = function.accesses.iter();
    let reads = reads.filter(|own| own.word.direction == Direction::Read);
    let own = reads.filter_map(|own| {
        Some(Copy {
            address: own.address.clone(),
            count: own.bytes.clone()?,
            object: own.value_root.clone(),
            span: own.span,
        })
    });
    let duplicates = function.calls.iter().filter_map(|call| {
        let places = function.duplicates(function.callee(*call)?)?;
        let whole = function.expression_of(*call);
        let (_, given) = whole.call()?;
        Some(Copy {
            address: given.get(places.user)?.uncast().1.clone(),
            count: given.get(places.count)?.clone(),
            object: function.taker(*call)?.name()?.to_owned(),
            span: span(*call),
        })
    });
    own.chain(duplicates).collect()
}

/// Whether an element of the copy is asked for or set behind it, or a call is given it with its
/// length, which may look for the 0. Whether there is any string its first element says, and not
/// whether that ends.
fn is_looked_at(function: &FunctionContext<'_>, copy: &Copy) -> bool {
    let graph = function.graph;
    let behind = |at: Span| at.start >= copy.span.end;
    let mut effects = graph.effects.iter();
    let element = effects.any(|own| {
        let part = graph.name_of(own) == copy.object && !graph.is_whole(own);
        part && behind(own.span)
            && match own.kind {
                EffectKind::Write(_) => true,
                EffectKind::Read => !is_first(function, own.span),
                _ => false,
            }
    });
    let mut calls = function.calls.iter().filter(|own| behind(span(**own)));
    element || calls.any(|call| is_given_both(&function.expression_of(*call), copy))
}

fn is_given_both(call: &Expression, copy: &Copy) -> bool {
    let object = |part: &Expression| part.name() == Some(copy.object.as_str());
    let length = |part: &Expression| part.name().is_some() && copy.count.any(&|own| own == part);
    call.any(&object) && call.any(&length)
}

/// `p[0]`, `*p`
fn is_first(function: &FunctionContext<'_>, place: Span) -> bool {
    let own = function.expression(place);
    own.is_some_and(|own| match &own.term {
        Term::Element { index, .. } => index.is_zero(),
        Term::Behind(_) => true,
        _ => false,
    })
}
