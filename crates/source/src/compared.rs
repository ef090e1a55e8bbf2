//! Comparisons of two numbers, whichever way round they are written.

use crate::expression::{Expression, Term};

/// Whether an operator asks which of two numbers is the larger one.
pub(crate) fn orders(operator: impl AsRef<[u8]>) -> bool {
    matches!(operator.as_ref(), b"<" | b">" | b"<=" | b">=")
}

/// Whether an operator compares two numbers.
pub(crate) fn compares(operator: impl AsRef<[u8]>) -> bool {
    orders(&operator) || matches!(operator.as_ref(), b"==" | b"!=")
}

/// A comparison by order: it holds where `less` is less than `more`.
pub(crate) struct Ordered<'e> {
    /// The side that is the lesser one, as it is written.
    pub(crate) less: &'e Expression,
    /// The other one.
    pub(crate) more: &'e Expression,
    /// Whether it holds for equal ones as well.
    pub(crate) or_equal: bool,
}

impl<'e> Ordered<'e> {
    /// The comparison that an expression is; none where it is another one, or none.
    pub(crate) fn of(own: &'e Expression) -> Option<Self> {
        let Term::Binary(left, operator, right) = &own.term else {
            return None;
        };
        let (less, more) = match operator.as_str() {
            "<" | "<=" => (left, right),
            ">" | ">=" => (right, left),
            _ => return None,
        };
        Some(Self {
            less,
            more,
            or_equal: operator.len() == 2,
        })
    }
}
