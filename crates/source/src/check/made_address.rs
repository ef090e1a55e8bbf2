//! Addresses of the user's, and sizes of what is copied, that are made of a number which holds them otherwise:
//! with a sign that widens it, or with its bytes the other way around.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::types::{Shape, TypeName};

use super::accesses::Access;
use super::context::FunctionContext;
use super::space;

/// Such a number.
pub(crate) struct MadeOf {
    pub(crate) number: Span,
    /// What is made of it.
    pub(crate) at: Span,
}

/// Types whose name says which way their bytes lie.
const ORDERED: [&str; 6] = ["__be16", "__be32", "__be64", "__le16", "__le32", "__le64"];

/// Bytes of an address of a 32-bit program's, and of one of a 64-bit kernel's.
const ADDRESS: (u64, u64) = (4, 8);

/// So many operators are gone through, one in the other.
const DEEPEST: usize = 16;

/// `(int __user *)(long)r.value`, where the member is an `s32`: half of all addresses become the kernel's.
pub(crate) fn by_sign(function: &FunctionContext<'_>) -> Vec<MadeOf> {
    let mut found = Vec::new();
    if function.file.types.machines().iter().any(|own| own.low) {
        return found;
    }
    each_made(function, |whole, casts, number| {
        // What a system call is given so is one of a 32-bit kernel's.
        if number
            .name()
            .is_some_and(|name| function.is_parameter(name))
        {
            return;
        }
        let Some(of) = space::type_of(function, number) else {
            return;
        };
        let mut narrow = is_narrow(&of.shape, of.size);
        for to in casts.iter().rev() {
            let of = (!narrow || !is_long(to)).then(|| function.file.layout(&to.base));
            narrow = match of {
                None => true,
                Some(of) => of.is_some_and(|of| is_narrow(&of.shape, of.size)),
            };
        }
        let wide = || {
            let of = function.file.layout("void *");
            of.is_some_and(|of| of.size == ADDRESS.1)
        };
        if narrow && wide() {
            found.push(MadeOf {
                number: number.span,
                at: whole,
            });
        }
    });
    found
}

/// Whether a type is a number of four bytes with a sign.
fn is_narrow(shape: &Shape, size: u64) -> bool {
    let signed = matches!(
        shape,
        Shape::Scalar {
            signed: true,
            counts: true
        }
    );
    signed && size == ADDRESS.0
}

/// Whether a cast widens what it is given to what an address has.
fn is_long(to: &TypeName) -> bool {
    matches!(
        to.base.as_str(),
        "long" | "unsigned long" | "uintptr_t" | "u64" | "__u64" | "s64" | "__s64"
    )
}

/// `(void __user *)(unsigned long)block->address`, where the member is a `__be64`; and as many bytes, or an
/// address so far on, as such a number says.
pub(crate) fn by_order(function: &FunctionContext<'_>) -> Vec<MadeOf> {
    let mut found = Vec::new();
    each_made(function, |whole, _, number| {
        if is_ordered(function, number) {
            found.push(MadeOf {
                number: number.span,
                at: whole,
            });
        }
    });
    for access in function.accesses.iter().chain(function.through) {
        let number = sized(function, access);
        found.extend(number.map(|number| MadeOf {
            number,
            at: access.span,
        }));
    }
    found
}

/// What says how many bytes an access has, or how far on they are, with its bytes the other way around.
fn sized(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Span> {
    let count = access.bytes.as_ref();
    let counted = count.and_then(|own| ordered_in(function, own, DEEPEST));
    counted.or_else(|| match &access.address.term {
        Term::Binary(_, operator, by) if operator == "+" => ordered_in(function, by, DEEPEST),
        Term::Call(..) => {
            let (name, given) = access.address.call()?;
            let makes = function.file.words.addresses(name);
            makes.then(|| ordered_in(function, given.first()?, DEEPEST))?
        }
        _ => None,
    })
}

/// The number of such a type that a value is computed of.
fn ordered_in(function: &FunctionContext<'_>, own: &Expression, deep: usize) -> Option<Span> {
    let left = deep.checked_sub(1)?;
    match &own.term {
        Term::Cast(_, value) | Term::Unary(_, value) => ordered_in(function, value, left),
        Term::Binary(one, _, other) => {
            ordered_in(function, one, left).or_else(|| ordered_in(function, other, left))
        }
        Term::Name(_) | Term::Member { .. } => is_ordered(function, own).then_some(own.span),
        _ => None,
    }
}

fn is_ordered(function: &FunctionContext<'_>, place: &Expression) -> bool {
    // A variable says what it is where it is declared, which takes no search of the headers.
    let of = match place.name() {
        Some(name) => space::declared(function, name, place.span),
        None => space::type_of(function, place).map(|of| of.name),
    };
    of.is_some_and(|of| ORDERED.contains(&of.as_str()))
}

/// Each place of which casts of numbers make an address of the user's, with these and where.
fn each_made(function: &FunctionContext<'_>, mut act: impl FnMut(Span, &[&TypeName], &Expression)) {
    let text = function.file.text;
    let marked = |node: Node<'_>| {
        let value = node
            .part("value")
            .map_or(node.end_byte(), |own| own.start_byte());
        let mut words = function
            .file
            .tokens_in(Span::new(node.start_byte(), value))
            .iter();
        words.any(|own| own.span.of(text) == b"__user")
    };
    function.each_of(&["cast_expression"], |node| {
        if !marked(node) {
            return;
        }
        let whole = function.expression_of(node);
        let Term::Cast(_, value) = &whole.term else {
            return;
        };
        let (mut own, mut casts) = (&**value, Vec::new());
        while let Term::Cast(to, value) = &own.term {
            if to.pointers > 0 {
                return;
            }
            casts.push(to);
            own = value;
        }
        let place = matches!(own.term, Term::Name(_) | Term::Member { .. });
        if place && space::is_cast(function, &whole, value) {
            act(span(node), &casts, own);
        }
    });
}
