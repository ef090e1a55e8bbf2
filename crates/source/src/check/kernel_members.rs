//! Structures of the kernel's own, of which a copy to the user takes members along that lead
//! elsewhere in it, or say how it stands with it.

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::types::KernelMember;

use super::accesses::Access;
use super::allocation::Allocation;
use super::context::FunctionContext;
use super::space;

/// The member of what an access gives to the user as a whole that only the kernel has a meaning
/// for.
pub(crate) fn kernel_member(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<KernelMember> {
    let count = access.bytes.as_ref()?.uncast().1;
    (access.word.direction == Direction::Write).then_some(())?;
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    let written = whole(function, value, count)?;
    is_filled_by_others(function, access, value).then_some(())?;
    function.file.types.kernel_member(&written)
}

/// The type of what lies at an address, where a size is that of all of it.
fn whole(function: &FunctionContext<'_>, value: &Expression, count: &Expression) -> Option<String> {
    let named = match &count.term {
        Term::SizeOf(of) => {
            let same = match (&value.term, &of.term) {
                (Term::Address(place), _) if **place == **of => true,
                (_, Term::Behind(pointer)) => **pointer == *value,
                _ => false,
            };
            if same {
                let written = space::written(function, of)?;
                return Some(format!("typeof({written})"));
            }
            of.name()
                .filter(|name| function.graph.local(name).is_none())?
        }
        Term::SizeOfType(of) if of.pointers == 0 && of.dimensions.is_empty() => &of.base,
        _ => return None,
    };
    (space::pointee(function, value)? == named).then(|| named.to_owned())
}

/// Whether anything else than the function filled the object: a variable of its own, or memory
/// that it allocates, holds nothing in a member that it does not set.
fn is_filled_by_others(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    value: &Expression,
) -> bool {
    let copied = |name: &str| {
        let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
        values.any(|(_, value)| {
            let value = function.expression(value);
            value.is_some_and(|own| {
                let own = &own.uncast().1.term;
                matches!(
                    own,
                    Term::Behind(_) | Term::Member { .. } | Term::Element { .. }
                )
            })
        })
    };
    match &value.term {
        Term::Address(place) => match place.name() {
            Some(name) => match function.local_at(name, place.span) {
                Some(local) => local.lasting || copied(name),
                None => true,
            },
            None => is_behind(place),
        },
        Term::Name(name) => {
            let own = function.graph.local(name).is_some() || function.is_parameter(name);
            own && Allocation::of(function, name, access.span).is_none()
        }
        _ => space::followed(value).is_some(),
    }
}

/// Whether a place lies behind a pointer.
fn is_behind(place: &Expression) -> bool {
    space::followed(place).is_some()
}
