//! What the sides of a copy point to: unsafe_copy_to_user() keeps them in pointers to char
//! (arch/x86/include/asm/uaccess.h), which a pointer to anything but bytes or void does not
//! go into without a cast.

use tollgate_source::{Expression, Shape, Span, Term, Type};

use crate::planning::declared::{members, part, pointee};
use crate::subject::Subject;

/// Whether bytes lie behind an address, or what has no type; none where nothing says so.
pub(super) fn are_behind(subject: &Subject<'_>, address: Span) -> Option<bool> {
    of(subject, &subject.expression(address)?)
}

fn of(subject: &Subject<'_>, own: &Expression) -> Option<bool> {
    match &own.term {
        Term::Cast(to, _) => Some(to.pointers == 1 && is_byte(subject, &to.base)),
        Term::Binary(left, sign, _) if matches!(sign.as_str(), "+" | "-") => of(subject, left),
        Term::Name(name) => match subject.flow.local(name).filter(|own| own.array) {
            Some(array) => Some(is_byte(subject, &array.base_type)),
            None => pointee(subject, name).map(|of| is_byte(subject, &of)),
        },
        Term::Address(place) => member(subject, place).map(|of| is_bytes(&of)),
        Term::Member { .. } => member(subject, own).and_then(|of| match &of.shape {
            Shape::Array(element, _) => Some(is_bytes(element)),
            _ => None,
        }),
        _ => None,
    }
}

/// The member that a place behind a pointer is.
fn member(subject: &Subject<'_>, place: &Expression) -> Option<Type> {
    let object = place.root().name()?;
    let path = members(place, &subject.written(object)?)?;
    part(subject, &pointee(subject, object)?, &path).map(|(_, of)| of)
}

fn is_bytes(of: &Type) -> bool {
    matches!(of.shape, Shape::Scalar { .. }) && of.size == 1
}

/// Whether a type is that of a byte, or none at all.
fn is_byte(subject: &Subject<'_>, of: &str) -> bool {
    let void = of.split_whitespace().any(|word| word == "void");
    void || part(subject, of, &[]).is_some_and(|(_, of)| is_bytes(&of))
}
