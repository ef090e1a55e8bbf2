//! Copies of the user's bytes that have as many bytes as there are elements.

use tree_sitter::Node;

use crate::expression::Term;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::element_size::gone_through;
use super::{counting, space};

/// Memory that a call fills with fewer bytes than its elements have.
pub(crate) struct Duplicated {
    /// What leads to it.
    pub(crate) object: String,
    /// How many elements there are, and how many bytes each has.
    pub(crate) count: Span,
    pub(crate) element: u64,
    /// The call.
    pub(crate) place: Span,
}

/// `p = memdup_user(from, n)`, where the function takes `n` for how many elements `p` has.
pub(crate) fn duplicated(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Duplicated> {
    let at = function.duplicates(function.callee(call)?)?.count;
    let object = function.taker(call)?;
    let whole = function.expression_of(call);
    let count = whole.call()?.1.get(at)?.uncast().1;
    matches!(count.term, Term::Name(_) | Term::Member { .. }).then_some(())?;
    let element = space::element(function, &object).filter(|own| *own > 1)?;
    function.pays()?;
    let multiplied = |name: &str| counting::is_multiplied(function, name);
    let elements =
        count.name().is_some_and(multiplied) || gone_through(function, &object, count).is_some();
    elements.then(|| Duplicated {
        object: function.file.plain(object.span),
        count: count.span,
        element,
        place: span(call),
    })
}
