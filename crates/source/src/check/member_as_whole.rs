//! Copies that begin at a member and are as long as the whole that it is a part of, or as something else.

use crate::expression::{Expression, Term};

use super::accesses::Access;
use super::bounded::is_compared;
use super::context::FunctionContext;
use super::limit::{held_against, limit};
use super::{extent, space};
use crate::span::Span;
use crate::types::{Shape, Type};

/// A member that is copied by the size of its whole.
pub(crate) struct AsWhole {
    /// The bytes that are copied.
    pub(crate) bytes: String,
    /// The member.
    pub(crate) member: Expression,
    /// The bytes that it has.
    pub(crate) own: u64,
    /// Whether it is the size of something else than the whole.
    pub(crate) other: bool,
    /// What refuses more, where fewer may be copied.
    pub(crate) bound: Option<Span>,
}

/// `copy_to_user(p, &w->m, sizeof(*w))`: it goes past the end, unless the member is the first; of that one
/// the user's pointer has to say that no more is meant.
pub(crate) fn member_as_whole(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<AsWhole> {
    let count = access.bytes.as_ref()?.uncast().1;
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    let held = held_by(function, value).filter(|_| is_size(count) || count.name().is_some());
    let value = held.as_ref().map_or(value, |own| own.uncast().1);
    let (place, address) = match &value.term {
        Term::Address(place) => (&**place, true),
        _ => (value, false),
    };
    matches!(place.term, Term::Member { .. }).then_some(())?;
    if !is_size(count) {
        return bounded(function, place, access);
    }
    // A type takes a search of the headers.
    let array = || is_array(function, place);
    ((address || array()) && !has_its_own_size(function, access)).then_some(())?;
    let of_other = is_of_other(function, access, count);
    let whole = whole_of(function, place, space::bytes(function, count));
    // What a configuration leaves out of the whole says nothing of the member.
    let of = match &whole {
        Some((.., of)) => of.clone(),
        None if of_other => space::type_of(function, place)?,
        None => return None,
    };
    let bytes = space::bytes(function, count).filter(|bytes| of.size < *bytes)?;
    let users = || extent::element(function, &access.user_root) == Some(of.size);
    let of_whole = whole.is_some_and(|(whole, front, _)| bytes == whole && (front > 0 || users()));
    let other = !of_whole;
    (of_whole || of_other && is_one(&of)).then(|| AsWhole {
        bytes: bytes.to_string(),
        member: place.clone(),
        own: of.size,
        other,
        bound: None,
    })
}

/// Whether a place is an array, whose name leads to its front; one of no known length may be any.
fn is_array(function: &FunctionContext<'_>, place: &Expression) -> bool {
    let of = space::type_of(function, place);
    of.is_some_and(|of| matches!(of.shape, Shape::Array(_, 2..)))
}

/// Whether something is one object: an array at the end may stand for any number.
fn is_one(of: &Type) -> bool {
    of.size > 0 && matches!(of.shape, Shape::Struct(_) | Shape::Scalar { .. })
}

/// Whether a size is that of an object which lies at neither end of a copy: `copy_to_user(r->data, &d->conf,
/// sizeof(*r))`.
fn is_of_other(function: &FunctionContext<'_>, access: &Access<'_>, size: &Expression) -> bool {
    let Term::SizeOf(of) = &size.term else {
        return false;
    };
    let apart = |own: &Expression| {
        let own = own.uncast().1;
        // Of two members another rule speaks.
        let placed = matches!(&own.term, Term::Address(_));
        !placed && own.behind() != **of
    };
    let user = function.expression(access.user);
    // A name alone may be a type's.
    let known = |name: &&str| function.is_parameter(name) || function.graph.local(name).is_some();
    let root = of.root().name().filter(known);
    let other = root.is_some() && root != Some(access.value_root.as_str());
    other && user.is_some_and(|user| apart(&user))
}

/// The address of a member that a variable holds from its first to its last use.
fn held_by(function: &FunctionContext<'_>, variable: &Expression) -> Option<Expression> {
    let only = function.graph.only_value(variable.name()?)?;
    let held = (*function.expression(only)?).clone();
    matches!(&held.uncast().1.term, Term::Address(_)).then_some(held)
}

/// The whole of a member, or what that is a member of in its turn, of so many bytes.
fn whole_of(
    function: &FunctionContext<'_>,
    member: &Expression,
    bytes: Option<u64>,
) -> Option<(u64, u64, Type)> {
    let own = whole(function, member)?;
    if Some(own.0) == bytes {
        return Some(own);
    }
    let Term::Member { holder, arrow, .. } = &member.term else {
        return None;
    };
    let outer = (!arrow && matches!(holder.term, Term::Member { .. }))
        .then(|| whole_of(function, holder, bytes))
        .flatten();
    let outer = outer.filter(|(size, ..)| Some(*size) == bytes);
    match outer {
        Some((size, front, _)) => Some((size, front + own.1, own.2)),
        None => Some(own),
    }
}

/// How large the whole of a member is, where in it that begins, and its type.
fn whole(function: &FunctionContext<'_>, member: &Expression) -> Option<(u64, u64, Type)> {
    let Term::Member {
        holder,
        arrow,
        field,
    } = &member.term
    else {
        return None;
    };
    let whole = match arrow {
        true => space::type_of(function, &holder.behind()),
        false => space::type_of(function, holder),
    }?;
    let (front, of) = match whole.at(field) {
        Ok(own) => own,
        Err(_) => return None,
    };
    Some((whole.size, front, of.clone()))
}

/// As many bytes as a number says, of which no more than the whole has are refused, whoever says it.
fn bounded(
    function: &FunctionContext<'_>,
    place: &Expression,
    access: &Access<'_>,
) -> Option<AsWhole> {
    let count = access.bytes.as_ref()?.uncast().1;
    space::bytes(function, count).is_none().then_some(())?;
    let of = space::type_of(function, place)?;
    let open = of.size == 0 || matches!(of.shape, Shape::Array(_, 0 | 1) | Shape::Opaque);
    let held = held_against(function, count, access.span);
    let mut sizes = held.iter().filter(|(own, _)| is_constant(function, own));
    let (own, at) = sizes.next().filter(|_| !open)?;
    sizes.all(|(other, _)| other == own).then_some(())?;
    is_of_whole(function, own, place).then_some(())?;
    let judged = limit(function, count, access.span).is_none()
        && count.name().is_some()
        && is_compared(function, count, access.span);
    (!judged).then(|| AsWhole {
        bytes: function.file.plain(own.span),
        member: place.clone(),
        own: of.size,
        other: false,
        bound: Some(*at),
    })
}

fn is_constant(function: &FunctionContext<'_>, own: &Expression) -> bool {
    is_size(own) || space::bytes(function, own).is_some()
}

/// Whether a size is that of what a member is a part of, and not the first one of: by the layout, or as
/// it is written where that hangs on a configuration.
fn is_of_whole(function: &FunctionContext<'_>, size: &Expression, member: &Expression) -> bool {
    let Term::Member { holder, arrow, .. } = &member.term else {
        return false;
    };
    let written = match &size.term {
        Term::SizeOf(of) if *arrow => **of == holder.behind(),
        Term::SizeOf(of) => of == holder,
        _ => false,
    };
    match whole(function, member) {
        Some((bytes, front, _)) => {
            is_size(size) && front > 0 && space::bytes(function, size) == Some(bytes)
        }
        None => written,
    }
}

fn is_size(own: &Expression) -> bool {
    matches!(own.term, Term::SizeOf(_) | Term::SizeOfType(_))
}

/// Whether an access copies a place by its own size: `copy_to_user(p, &x, sizeof(x))`. Most do,
/// and to say so takes no look at a type.
pub(crate) fn has_its_own_size(function: &FunctionContext<'_>, access: &Access<'_>) -> bool {
    let count = access.bytes.as_ref().map(|own| &own.uncast().1.term);
    let Some(Term::SizeOf(measured)) = count else {
        return false;
    };
    let value = function.expression_of(access.value_node);
    matches!(&value.uncast().1.term, Term::Address(place) if place == measured)
}
