//! Copies that begin at a member and are as long as the whole that it is a part of.

use crate::expression::{Expression, Term};

use super::accesses::Access;
use super::context::FunctionContext;
use super::{extent, space};

/// A member that is copied by the size of its whole.
pub(crate) struct AsWhole {
    /// The bytes that are copied.
    pub(crate) bytes: u64,
    /// The member.
    pub(crate) member: Expression,
    /// The bytes that it has.
    pub(crate) own: u64,
}

/// `copy_to_user(p, &w->m, sizeof(*w))`: it goes past the end, unless the member is the first; of that one
/// the user's pointer has to say that no more is meant.
pub(crate) fn member_as_whole(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<AsWhole> {
    let count = access.bytes.as_ref()?.uncast().1;
    matches!(count.term, Term::SizeOf(_) | Term::SizeOfType(_)).then_some(())?;
    let value = function.expression_of(access.value_node);
    let Term::Address(place) = &value.uncast().1.term else {
        return None;
    };
    let Term::Member {
        holder,
        arrow,
        field,
    } = &place.term
    else {
        return None;
    };
    let whole = match arrow {
        true => space::type_of(function, &holder.behind()),
        false => space::type_of(function, holder),
    }?;
    let Ok((front, of)) = whole.at(field) else {
        return None;
    };
    let bytes = space::bytes(function, count).filter(|bytes| *bytes == whole.size)?;
    let users = || extent::element(function, &access.user_root) == Some(of.size);
    (of.size < bytes && (front > 0 || users())).then(|| AsWhole {
        bytes,
        member: (**place).clone(),
        own: of.size,
    })
}
