//! What lies otherwise for a 32-bit program, copied as the kernel has it to or from an address
//! that only such a program gives.

use crate::expression::Expression;
use crate::types::{Shape, Type};

use super::accesses::Access;
use super::context::FunctionContext;
use super::space;

/// A type that a 32-bit program has otherwise.
pub(crate) struct Otherwise {
    pub(crate) name: String,
    /// Its bytes here and there.
    pub(crate) own: u64,
    pub(crate) other: u64,
}

/// What an access takes at once at an address of a 32-bit program, and such a one has otherwise.
pub(crate) fn otherwise(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Otherwise> {
    let user = function.expression(access.user)?;
    is_compat(function, &user).then_some(())?;
    let types = function.file.types;
    let machine = types.compat()?;
    let name = match &access.bytes {
        Some(_) => {
            let value = function.expression_of(access.value_node);
            space::pointee(function, &value)?
        }
        // `put_user(v, p)` of `long __user *p`: a cast is judged by itself.
        None if user.name().is_some() => space::pointee(function, &user)?,
        None => return None,
    };
    let own = function.file.layout(&name)?;
    if let Some(count) = &access.bytes {
        (space::bytes(function, count)? == own.size).then_some(())?;
    }
    let Ok(other) = types.layout_on(&name, machine) else {
        return None;
    };
    let knows = function.calls.iter().any(|call| {
        let name = function.callee(*call);
        name.is_some_and(|name| function.file.words.results().asks_compat(name))
    });
    (!knows && !lies_alike(&own, &other)).then_some(Otherwise {
        name,
        own: own.size,
        other: other.size,
    })
}

/// Whether an address is what a 32-bit program gave, at once or by a variable that takes nothing
/// else.
fn is_compat(function: &FunctionContext<'_>, address: &Expression) -> bool {
    let words = function.file.words;
    let given = |own: &Expression| {
        let call = own.uncast().1.call();
        call.is_some_and(|(name, _)| words.addresses(name) && !words.addresses_any(name))
    };
    let own = address.uncast().1;
    match own.name() {
        Some(name) => {
            let local = function.graph.local(name).is_some();
            let value = function.graph.only_value(name).filter(|_| local);
            let value = value.and_then(|value| function.expression(value));
            value.is_some_and(|value| given(&value))
        }
        None => given(own),
    }
}

/// Whether two layouts of a type have the same bytes in the same places.
fn lies_alike(one: &Type, other: &Type) -> bool {
    let inside = match (&one.shape, &other.shape) {
        (Shape::Struct(own), Shape::Struct(others)) | (Shape::Union(own), Shape::Union(others)) => {
            let mut pairs = own.iter().zip(others);
            own.len() == others.len()
                && pairs.all(|(own, other)| {
                    own.offset == other.offset
                        && own.bits == other.bits
                        && lies_alike(&own.of, &other.of)
                })
        }
        (Shape::Array(own, count), Shape::Array(other, others)) => {
            count == others && lies_alike(own, other)
        }
        _ => true,
    };
    one.size == other.size && inside
}
