//! Copies by the size of a structure that is larger than what lies at both ends, or at the user's.

use crate::expression::{Expression, Term};
use crate::types::Shape;

use super::accesses::Access;
use super::context::FunctionContext;
use super::space;

/// Such a copy.
pub(crate) struct WholeForPart {
    pub(crate) bytes: u64,
    /// What lies there, and how large it is.
    pub(crate) part: String,
    pub(crate) size: u64,
    /// What it is taken for.
    pub(crate) whole: String,
}

/// What an access copies so.
pub(crate) fn whole_for_part(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<WholeForPart> {
    let count = access.bytes.as_ref()?.uncast().1;
    matches!(count.term, Term::SizeOf(_) | Term::SizeOfType(_)).then_some(())?;
    let (value, user) = (
        function.expression_of(access.value_node),
        function.expression(access.user)?,
    );
    of_members(function, (&value, &user), count)
        .or_else(|| of_holder(function, (&value, &user), count))
}

/// One member at each end, by the size of more: `copy_to_user(&u->id, &k->id, sizeof(*u))`.
fn of_members(
    function: &FunctionContext<'_>,
    (value, user): (&Expression, &Expression),
    count: &Expression,
) -> Option<WholeForPart> {
    let (own, other) = (member(value)?, member(user)?);
    let bytes = space::bytes(function, count)?;
    let size = |place: &Expression| {
        let of = space::type_of(function, place)?;
        // An array at the end may stand for any number.
        let plain = !matches!(of.shape, Shape::Array(..) | Shape::Opaque) && of.size > 0;
        plain.then_some(of.size)
    };
    let (own_size, other_size) = (size(own)?, size(other)?);
    (own_size < bytes && other_size < bytes).then_some(())?;
    // From the first member on all of a structure may be meant.
    let both = is_front(function, own, bytes) && is_front(function, other, bytes);
    (!both).then(|| WholeForPart {
        bytes,
        part: function.file.plain(own.span),
        size: own_size,
        whole: function.file.plain(count.span),
    })
}

/// The member of whose address an expression is.
fn member(of: &Expression) -> Option<&Expression> {
    match &of.term {
        Term::Cast(to, inner) if to.base == "void" => member(inner),
        Term::Address(place) if matches!(place.term, Term::Member { .. }) => Some(place),
        _ => None,
    }
}

/// Whether a member is the first of a structure of so many bytes at least.
fn is_front(function: &FunctionContext<'_>, place: &Expression, bytes: u64) -> bool {
    let Term::Member {
        holder,
        arrow,
        field,
    } = &place.term
    else {
        return false;
    };
    let written = space::written(function, holder);
    let star = if *arrow { "*" } else { "" };
    let of = written.and_then(|own| function.file.layout(&format!("typeof({star}{own})")));
    of.is_some_and(|of| {
        let members = of.members().into_iter();
        let mut own = members.filter(|(_, member)| member.name == *field);
        of.size >= bytes && own.any(|(at, _)| at == 0)
    })
}

/// A structure that holds what the user's address is declared to lead to, and is copied whole there:
/// `copy_from_user(&k, u, sizeof(k))` of a `struct part __user *u`, where `k.part` is one. What begins
/// with it may be what lies there, as its header says; but not where a system call has it.
fn of_holder(
    function: &FunctionContext<'_>,
    (value, user): (&Expression, &Expression),
    count: &Expression,
) -> Option<WholeForPart> {
    let users = space::pointee(function, user)?;
    let own = space::pointee(function, value).filter(|own| *own != users)?;
    let of_own = function.file.layout(&own)?;
    let called = || {
        let parameter = user.name().is_some_and(|name| function.is_parameter(name));
        parameter && function.body.is_system_call()
    };
    let members = of_own.members().into_iter();
    let mut places = members.filter(|(_, member)| member.of.name == users);
    places.find(|(at, _)| *at > 0 || called())?;
    let of_users = function.file.layout(&users)?;
    matches!(of_users.shape, Shape::Struct(_)).then_some(())?;
    let bytes = space::bytes(function, count)?;
    (bytes == of_own.size && of_users.size < bytes).then_some(WholeForPart {
        bytes,
        part: users,
        size: of_users.size,
        whole: own,
    })
}
