//! What is left of an array from an element on, and of the structure that it lies in.

use crate::expression::{Expression, Term};
use crate::types::{Shape, Type};

use super::context::FunctionContext;
use super::space;

/// What an address leads to.
pub(crate) struct LeftOf {
    /// The array.
    pub(crate) array: String,
    /// How many bytes are left of it, and of what follows in the structure.
    pub(crate) bytes: u64,
}

/// Where an address is that of an element by its number, or an array that is a member: how many
/// bytes there are from there on.
pub(crate) fn left_of(function: &FunctionContext<'_>, address: &Expression) -> Option<LeftOf> {
    let (array, index) = match &address.term {
        Term::Address(place) => match &place.term {
            Term::Element { array, index } => (array.uncast().1, Some(index)),
            _ => return None,
        },
        Term::Binary(array, operator, index) if operator == "+" => (array.uncast().1, Some(index)),
        Term::Member { .. } => (address, None),
        _ => return None,
    };
    let at = match index {
        Some(index) => space::bytes(function, index.uncast().1)?,
        None => 0,
    };
    let named = array.name().is_some_and(|name| {
        let local = function.local_at(name, array.span);
        local.is_some_and(|own| own.array)
    });
    (named || matches!(array.term, Term::Member { .. })).then_some(())?;
    let count = space::elements(function, array)?;
    let before = space::element(function, array)?.checked_mul(at)?;
    let all = match &array.term {
        Term::Member { .. } => from_member_on(function, array)?,
        _ => space::element(function, array)?.checked_mul(count)?,
    };
    Some(LeftOf {
        array: function.file.plain(array.span),
        bytes: all.checked_sub(before)?,
    })
}

/// How many bytes a structure has from a member on.
fn from_member_on(function: &FunctionContext<'_>, member: &Expression) -> Option<u64> {
    let Term::Member {
        holder,
        arrow,
        field,
    } = &member.term
    else {
        return None;
    };
    let of = match arrow {
        true => space::type_of(function, &holder.behind())?,
        false => space::type_of(function, holder)?,
    };
    let offset = offset(&of, field)?;
    of.size.checked_sub(offset)
}

/// Where a member begins; none of a union, nor where the last one has no end.
fn offset(of: &Type, field: &str) -> Option<u64> {
    let Shape::Struct(members) = &of.shape else {
        return None;
    };
    let open = |own: &Type| matches!(own.shape, Shape::Array(_, 0 | 1) | Shape::Opaque);
    let ends = members.last().is_some_and(|last| !open(&last.of));
    let own = members.iter().find(|own| own.name == field);
    own.filter(|_| ends).map(|own| own.offset)
}
