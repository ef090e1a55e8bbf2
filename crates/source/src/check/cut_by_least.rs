//! Numbers of a program's that a call which gives the least of two cuts before it compares them.

use tree_sitter::Node;

use crate::compared::Ordered;
use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

use super::allocation::argument;
use super::context::FunctionContext;
use super::space;

/// Bytes of the numbers that are the same on all machines, and are cut to half of that.
const WHOLE: u64 = 8;

/// A number that is cut.
pub(crate) struct CutByLeast {
    pub(crate) number: Expression,
    /// What is left of it is one of these.
    pub(crate) of: String,
    pub(crate) call: Span,
}

/// `range.len = min_t(u32, range.len, most)`, of a member of what a program gave or is given.
pub(crate) fn cut_by_least(function: &FunctionContext<'_>, call: Node<'_>) -> Option<CutByLeast> {
    let name = function.callee(call)?;
    function.file.words.gives_least(name).then_some(())?;
    let whole = function.expression_of(call);
    let [of, one, other] = whole.call()?.1 else {
        return None;
    };
    let place = function.taker(call)?;
    let cut = [one, other].into_iter().map(|own| own.uncast().1);
    let number = cut.into_iter().find(|own| **own == place)?;
    let Term::Member {
        holder,
        arrow: false,
        ..
    } = &number.term
    else {
        return None;
    };
    let root = holder.name()?;
    let shared = function
        .accesses
        .iter()
        .any(|own| own.count.is_some() && own.value_root == root);
    shared.then_some(())?;
    let of = argument(function, of.span.start);
    let least = function.file.layout(&of)?;
    let scalar = matches!(least.shape, Shape::Scalar { .. }) && least.size < WHOLE;
    let own = scalar.then(|| space::type_of(function, number)).flatten()?;
    let at = span(call);
    let wide = matches!(own.shape, Shape::Scalar { .. }) && own.size == WHOLE;
    (wide && !is_refused(function, number, at)).then(|| CutByLeast {
        number: number.clone(),
        of,
        call: at,
    })
}

/// Whether a comparison before a place asks whether a number is more than something.
fn is_refused(function: &FunctionContext<'_>, number: &Expression, at: Span) -> bool {
    let mut compared = function
        .graph
        .comparisons
        .iter()
        .filter(|own| own.end <= at.start);
    compared.any(|own| {
        let own = function.expression(*own);
        let order = own.as_deref().and_then(Ordered::of);
        order.is_some_and(|own| own.more.uncast().1 == number)
    })
}
