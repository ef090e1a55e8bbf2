//! What a read() puts into the program's memory though nothing asks how much room that has.

use tree_sitter::Node;

use crate::Direction;
use crate::compared::compares;
use crate::node::Parts as _;
use crate::site::span;

use super::accesses::Access;
use super::bounded::is_of_zero;
use super::context::FunctionContext;
use super::space;
use super::unbounded::given_to_a_program;
use super::words::Permission;
use crate::calls::Deed;

/// What is written there.
pub(crate) struct UnaskedRoom<'f, 't> {
    pub(crate) access: &'f Access<'t>,
    /// The parameter that says how much room there is.
    pub(crate) count: String,
}

/// The first access of a read() that writes more than a byte to what the program gave it, where no word of
/// the function names how much room that has but to ask whether it is 0, or to print it.
pub(crate) fn unasked_room<'f, 't>(
    function: &'f FunctionContext<'t>,
) -> Option<UnaskedRoom<'f, 't>> {
    let (buffer, count) = given_to_a_program(function)?;
    let own = |own: &&Access<'_>| own.address.root().name() == Some(&buffer);
    // What a write() is given says by itself how long it is.
    let fetched = |own: &Access<'_>| own.word.direction == Direction::Read;
    let mut there = function.accesses.iter().filter(own);
    let none =
        there.clone().any(fetched) || !function.mentions(&count).all(|at| tells_none(function, at));
    let access = there.find(|own| !none && !is_a_byte(function, own))?;
    Some(UnaskedRoom { access, count })
}

/// Whether an access is of one byte: nobody asks for fewer.
fn is_a_byte(function: &FunctionContext<'_>, access: &Access<'_>) -> bool {
    let given = || {
        access
            .bytes
            .as_ref()
            .and_then(|own| space::bytes(function, own))
    };
    let pointed = || {
        let user = function.expression(access.user)?;
        let of = space::pointee(function, &user)?;
        Some(function.file.layout(&of)?.size)
    };
    match access.word.count {
        Some(_) => given() == Some(1),
        // What is pointed to is not told where it is bytes.
        None => pointed().is_none_or(|bytes| bytes == 1),
    }
}

/// Whether a mention says nothing of how large the number is.
fn tells_none(function: &FunctionContext<'_>, mention: Node<'_>) -> bool {
    let Some(above) = function.above(mention) else {
        return false;
    };
    match above.known_kind() {
        "unary_expression" => function.context.operator(above) == b"!",
        "binary_expression" => {
            compares(function.context.operator(above)) && is_of_zero(function, span(above))
        }
        "argument_list" => function
            .above(above)
            .is_some_and(|call| prints(function, call)),
        _ => false,
    }
}

fn prints(function: &FunctionContext<'_>, call: Node<'_>) -> bool {
    let name = function.callee(call);
    name.is_some_and(|name| {
        let own = function.file.words.permission(name);
        matches!(own, Permission::Forbidden(Deed::Prints))
    })
}
