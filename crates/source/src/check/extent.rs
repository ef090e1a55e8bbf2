//! Which bytes a begin checks and an access touches, counted from the pointer that both
//! are made from, where the tree's own types say so.

use crate::expression::{Expression, Term};
use crate::types::{Shape, Type};

use super::context::FunctionContext;
use super::range::declared_type;

/// Bytes from a pointer on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The first.
    pub(crate) start: u64,
    /// The one behind the last, as far as is known.
    pub(crate) end: u64,
}

/// How many bytes a size is; none where that hangs on a variable or the configuration.
pub(crate) fn bytes(function: &FunctionContext<'_>, size: &Expression) -> Option<u64> {
    let known = match &size.term {
        Term::SizeOf(of) => operand(function, of),
        Term::Binary(left, operator, right) => {
            let (left, right) = (bytes(function, left)?, bytes(function, right)?);
            return match operator.as_str() {
                "+" => left.checked_add(right),
                "-" => left.checked_sub(right),
                "*" => left.checked_mul(right),
                "/" => left.checked_div(right),
                _ => None,
            };
        }
        _ => None,
    };
    known.or_else(|| constant(function, size))
}

/// The value of what names no variable of the function.
pub(crate) fn constant(function: &FunctionContext<'_>, size: &Expression) -> Option<u64> {
    let of_function =
        |name: &str| function.graph.local(name).is_some() || function.is_parameter(name);
    let own = |part: &Expression| part.name().is_some_and(of_function);
    // Nobody defines it, and to know that all headers would be read.
    if size.any(&own) {
        return None;
    }
    let text = function.file.plain(size.span);
    function.file.value(&text)
}

/// The size of what `sizeof` is given: `*p`, `p`, `p->member`.
fn operand(function: &FunctionContext<'_>, of: &Expression) -> Option<u64> {
    if let Some(name) = of.name() {
        return declared_type(function, name).and_then(|_| size_of(function, "void *"));
    }
    let pointer = of.root().name()?;
    let touched = place(function, of, pointer)?;
    Some(touched.1.size)
}

/// The size of what a pointer to user memory points to.
pub(crate) fn element(function: &FunctionContext<'_>, pointer: &str) -> Option<u64> {
    declared_type(function, pointer).and_then(|of| size_of(function, &of))
}

fn size_of(function: &FunctionContext<'_>, written: &str) -> Option<u64> {
    function.file.layout(written).map(|of| of.size)
}

/// What an access of one value, or of that many bytes, touches behind the pointer.
pub(crate) fn touched(
    function: &FunctionContext<'_>,
    address: &Expression,
    pointer: &str,
    count: Option<Option<u64>>,
) -> Option<Extent> {
    let (start, size) = pointed(function, address, pointer)?;
    let size = match count {
        Some(count) => count.unwrap_or(1),
        None => size?,
    };
    let end = start.checked_add(size)?;
    Some(Extent { start, end })
}

/// Where an address points to, from the pointer on, and the size of what is there.
fn pointed(
    function: &FunctionContext<'_>,
    address: &Expression,
    pointer: &str,
) -> Option<(u64, Option<u64>)> {
    if address.name() == Some(pointer) {
        return Some((0, element(function, pointer)));
    }
    match &address.term {
        Term::Cast(to, value) => {
            let (at, _) = pointed(function, value, pointer)?;
            let size = (to.pointers == 1).then(|| size_of(function, &to.base));
            Some((at, size.flatten()))
        }
        Term::Address(of) => place(function, of, pointer).map(|(at, of)| (at, Some(of.size))),
        // An array stands for the address of its first element.
        Term::Member { .. } => match place(function, address, pointer)? {
            (
                at,
                Type {
                    shape: Shape::Array(of, _),
                    ..
                },
            ) => Some((at, Some(of.size))),
            _ => None,
        },
        Term::Call(_, arguments) => behind_macro(function, address, arguments, pointer),
        _ => None,
    }
}

/// Where `MACRO(pointer)` points to, which takes no less than its value for address 0.
fn behind_macro(
    function: &FunctionContext<'_>,
    call: &Expression,
    arguments: &[Expression],
    pointer: &str,
) -> Option<(u64, Option<u64>)> {
    let (name, _) = call.call()?;
    let [only] = arguments else { return None };
    if only.name() != Some(pointer) {
        return None;
    }
    let at = function.file.value(&format!("{name}(0)"))?;
    Some((at, None))
}

/// Where a place begins behind the pointer, and its type: `p->a.b[2]`, `*p`, `p[1].a`.
pub(crate) fn place(
    function: &FunctionContext<'_>,
    of: &Expression,
    pointer: &str,
) -> Option<(u64, Type)> {
    let pointee = || function.file.layout(&declared_type(function, pointer)?);
    match &of.term {
        Term::Behind(inner) if inner.name() == Some(pointer) => Some((0, pointee()?)),
        Term::Element { array, index } if array.name() == Some(pointer) => {
            let of = pointee()?;
            let at = bytes(function, index)?.checked_mul(of.size)?;
            Some((at, of))
        }
        Term::Element { array, index } => {
            let (at, of) = place(function, array, pointer)?;
            let Shape::Array(element, count) = of.shape else {
                return None;
            };
            // Beyond the array is what another machine has there; a flexible one has no end.
            let index = match (bytes(function, index), count) {
                (Some(index), _) if count == 0 || index < count => index,
                (None, 0) => 0,
                _ => return None,
            };
            let own = index.checked_mul(element.size)?;
            Some((at.checked_add(own)?, *element))
        }
        Term::Member {
            holder,
            arrow,
            field,
        } => {
            let (at, of) = match arrow {
                true if holder.name() == Some(pointer) => (0, pointee()?),
                true => return None,
                false => place(function, holder, pointer)?,
            };
            let (own, member) = of
                .members()
                .into_iter()
                .find(|(_, own)| own.name == *field)?;
            member.bits.is_none().then_some(())?;
            Some((at.checked_add(own)?, member.of.clone()))
        }
        _ => None,
    }
}
