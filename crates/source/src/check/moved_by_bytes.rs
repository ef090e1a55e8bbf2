//! Pointers to elements of the user's that go on by as many elements as bytes are meant.

use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::{extent, space};

/// A number of bytes by which a pointer to larger elements goes on.
pub(crate) struct ByBytes {
    /// The whole: `p += sizeof(a)`, `p + sizeof(a)`.
    pub(crate) place: Span,
    /// The number.
    pub(crate) bytes: Span,
    /// The pointer.
    pub(crate) pointer: String,
    /// The bytes of one element.
    pub(crate) element: u64,
}

/// All of a function: what a pointer to the user's memory takes, and where accesses begin.
pub(crate) fn moved_by_bytes(function: &FunctionContext<'_>) -> Vec<ByBytes> {
    let mut found = Vec::new();
    function.each_of(&["assignment_expression"], |node| {
        if let Term::Assignment(left, operator, by) = &function.expression_of(node).term
            && matches!(operator.as_str(), "+=" | "-=")
        {
            found.extend(of(function, left, by, span(node)));
        }
    });
    for access in function.accesses {
        if let Term::Binary(left, operator, by) = &access.address.term
            && operator == "+"
        {
            found.extend(of(function, left, by, access.span));
        }
    }
    found
}

fn of(
    function: &FunctionContext<'_>,
    pointer: &Expression,
    by: &Expression,
    place: Span,
) -> Option<ByBytes> {
    let name = pointer.name().filter(|_| is_of_bytes(by))?;
    let element = extent::element(function, name).filter(|size| *size > 1)?;
    let one = space::bytes(function, by) == Some(1);
    (!one).then(|| ByBytes {
        place,
        bytes: by.span,
        pointer: name.to_owned(),
        element,
    })
}

/// `sizeof(a)`, `n * sizeof(a)`
fn is_of_bytes(own: &Expression) -> bool {
    match &own.uncast().1.term {
        Term::SizeOf(_) | Term::SizeOfType(_) => true,
        Term::Binary(left, operator, right) if operator == "*" => {
            is_of_bytes(left) || is_of_bytes(right)
        }
        _ => false,
    }
}
