//! Ranges that are checked for as many bytes as they have pages.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::space;

/// Such a check.
pub(crate) struct PagesForBytes {
    pub(crate) name: String,
    /// What it is told.
    pub(crate) size: Span,
    /// How many bytes there are.
    pub(crate) bytes: Expression,
    pub(crate) at: Span,
}

/// The fewest bytes that anybody counts by as a page, and by how many bits a number of bytes is shifted to
/// count those: less is one of words.
const PAGE: (u64, u64) = (512, 9);

/// `access_ok(p, size >> PAGE_SHIFT)`, where `size` says how many bytes `p` has.
pub(crate) fn pages_for_bytes(
    function: &FunctionContext<'_>,
    call: Node<'_>,
) -> Option<PagesForBytes> {
    let name = function.callee(call)?;
    let checks = function.file.words.checks_range(name.as_bytes());
    checks.then_some(())?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let (pointer, size) = (given.first()?, given.get(1)?);
    let only = size.uncast().1.name();
    let only = only.and_then(|name| function.expression(function.graph.only_value(name)?));
    let bytes = counted(function, only.as_deref().unwrap_or(size).uncast().1)?;
    let pointer = number_of(function, pointer.uncast().1);
    // As many bytes as another one has may be one for each page of that.
    let measures = |own: &Node<'_>| {
        let own = function.expression_of(*own);
        let checks = |name: &str| function.file.words.checks_range(name.as_bytes());
        own.call().is_some_and(|(name, given)| {
            checks(name) && given.get(1).is_some_and(|own| own.uncast().1 == bytes)
        })
    };
    if function.calls.iter().any(measures) {
        return None;
    }
    let known = are_beside(pointer, bytes) || are_used_together(function, pointer, bytes);
    known.then(|| PagesForBytes {
        name: name.to_owned(),
        size: size.span,
        bytes: bytes.clone(),
        at: span(call),
    })
}

/// The number of bytes of which an expression is the number of pages.
fn counted<'e>(function: &FunctionContext<'_>, pages: &'e Expression) -> Option<&'e Expression> {
    let Term::Binary(bytes, operator, unit) = &pages.term else {
        return None;
    };
    let unit = unit.uncast().1;
    let least = match operator.as_str() {
        "/" => PAGE.0,
        ">>" => PAGE.1,
        _ => return None,
    };
    // A macro's value may be one that the machine says.
    let variable = |name: &str| function.is_parameter(name) || function.graph.local(name).is_some();
    let large = match (space::bytes(function, unit), unit.name()) {
        (Some(known), _) => known >= least,
        (None, Some(name)) => !variable(name),
        (None, None) => false,
    };
    let place = bytes.uncast().1;
    (large && is_place(place)).then_some(place)
}

fn is_place(own: &Expression) -> bool {
    matches!(own.term, Term::Name(_) | Term::Member { .. })
}

/// The number that a pointer is made of: `u64_to_user_ptr(x)`.
fn number_of<'e>(function: &FunctionContext<'_>, pointer: &'e Expression) -> &'e Expression {
    match pointer.call() {
        Some((name, [number])) if function.file.words.addresses(name) => number.uncast().1,
        _ => pointer,
    }
}

/// Whether two places are members of one structure, the one an address and the other its length.
fn are_beside(pointer: &Expression, bytes: &Expression) -> bool {
    match (&pointer.term, &bytes.term) {
        (Term::Member { holder: one, .. }, Term::Member { holder: other, .. }) => {
            one == other && pointer != bytes
        }
        _ => false,
    }
}

/// Whether a call is given both, or they are added up to an end.
fn are_used_together(
    function: &FunctionContext<'_>,
    pointer: &Expression,
    bytes: &Expression,
) -> bool {
    if !is_place(pointer) {
        return false;
    }
    let pair = |one: &Expression, other: &Expression| {
        number_of(function, one.uncast().1) == pointer && other.uncast().1 == bytes
    };
    let mut found = false;
    function.each_of(&["call_expression", "binary_expression"], |node| {
        let own = function.expression_of(node);
        found |= match &own.term {
            Term::Call(_, given) => given.windows(2).any(|two| match two {
                [one, other] => pair(one, other),
                _ => false,
            }),
            Term::Binary(left, operator, right) => {
                operator == "+" && (pair(left, right) || pair(right, left))
            }
            _ => false,
        };
    });
    found
}
