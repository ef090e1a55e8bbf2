//! Arrays that are copied by the size of one element, or of what another copy of the same object
//! takes for all of it.

use crate::expression::{Expression, Term};
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;
use super::space;

/// An array of which one element is copied.
pub(crate) struct OneElement {
    pub(crate) array: Span,
    /// How many bytes an element has, and the array.
    pub(crate) element: u64,
    pub(crate) all: u64,
}

/// What a pointer to as many bytes leads to may be an array of such as well.
const WORD: u64 = 8;

/// `copy_to_user(u, &p->name, sizeof(*p->name))`, `copy_from_user(k, p->all, sizeof(p->all[0]))`.
pub(crate) fn one_element(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<OneElement> {
    let Term::SizeOf(of) = &access.bytes.as_ref()?.uncast().1.term else {
        return None;
    };
    let array = match &of.term {
        Term::Behind(array) => array.uncast().1,
        Term::Element { array, index } if index.is_zero() => array.uncast().1,
        _ => return None,
    };
    let is_all = |own: &Expression| match &own.uncast().1.term {
        Term::Address(place) => **place == *array,
        _ => own.uncast().1 == array,
    };
    let either = is_all(&function.expression_of(access.value_node)) || is_all(&access.address);
    either.then_some(())?;
    let all = space::array_bytes(function, array)?;
    let element = space::element(function, array)?;
    // `struct s __user *u`: one is meant.
    let meant = || {
        let users = space::pointee(function, &access.address);
        element > WORD && users.is_some() && users == space::pointee(function, array)
    };
    (element > 0 && element < all && !meant()).then_some(OneElement {
        array: array.span,
        element,
        all,
    })
}

/// A member that goes one way by its own size, and the other way by that of a type.
pub(crate) struct OtherSize {
    pub(crate) member: Span,
    pub(crate) own: u64,
    /// How many bytes go the other way, and where.
    pub(crate) other: u64,
    pub(crate) place: Span,
}

/// `copy_to_user(u, &p->regs, sizeof(p->regs))` beside `copy_from_user(&p->regs, u, sizeof(struct regs))`.
pub(crate) fn other_size(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<OtherSize> {
    let Term::SizeOf(of) = &access.bytes.as_ref()?.uncast().1.term else {
        return None;
    };
    matches!(of.term, Term::Member { .. }).then_some(())?;
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    let whole = match &value.term {
        Term::Address(place) => *place == *of,
        _ => *value == **of,
    };
    let turned = |own: &&Access<'_>| {
        let sized = own
            .bytes
            .as_ref()
            .is_some_and(|own| matches!(own.uncast().1.term, Term::SizeOfType(_)));
        sized && own.word.direction != access.word.direction
    };
    let mut others = function.accesses.iter().filter(turned);
    let other = others.find(|own| *function.expression_of(own.value_node).uncast().1 == *value);
    let other = other.filter(|_| whole)?;
    let (own, bytes) = (
        space::bytes(function, access.bytes.as_ref()?.uncast().1)?,
        space::bytes(function, other.bytes.as_ref()?.uncast().1)?,
    );
    (own < bytes).then_some(OtherSize {
        member: of.span,
        own,
        other: bytes,
        place: other.span,
    })
}
