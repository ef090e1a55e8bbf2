//! Pointers that a function follows as the kernel's, and that a cast makes the user's for an access.

use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::lex::TokenKind;
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;
use super::forced::{leads_to_kernel, switches_space};
use super::space;

/// A pointer that is both.
pub(crate) struct Followed {
    pub(crate) name: String,
    /// Where it is followed.
    pub(crate) at: Span,
}

/// `if (!p->on) return 0; copy_from_user(to, (void __user *)p + n, size);`
pub(crate) fn followed(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Followed> {
    let address = function.expression(access.user)?;
    let taken = || function.expression(function.graph.only_value(address.name()?)?);
    let name = cast_pointer(function, &address).or_else(|| {
        let taken = taken()?;
        cast_pointer(function, &taken)
    })?;
    let graph = function.graph;
    let reads = |own: &&Effect| {
        let read = own.kind == EffectKind::Read && graph.is_behind(own);
        let own_name = read && graph.name_of(own) == name && !access.span.contains(own.span);
        own_name && is_member(function, own.span)
    };
    let places: Vec<Span> = graph
        .effects
        .iter()
        .filter(reads)
        .map(|own| own.span)
        .collect();
    let at = *places.first()?;
    // Last what takes longest.
    let known = graph.passes(&places, access.span)
        && leads_to_kernel(function, &name)
        && !switches_space(function);
    known.then_some(Followed { name, at })
}

/// The pointer of the kernel's that a cast makes the user's, from its front or from somewhere behind that.
fn cast_pointer(function: &FunctionContext<'_>, address: &Expression) -> Option<String> {
    let (mut own, mut marked) = (address, false);
    loop {
        match &own.term {
            Term::Binary(left, operator, _) if operator == "+" => own = left,
            Term::Cast(to, value) if to.pointers > 0 => {
                marked |= space::is_cast(function, own, value);
                own = value;
            }
            Term::Name(name) if marked => {
                let known = function.is_parameter(name) || function.graph.local(name).is_some();
                return (known && !space::is_users(function, own)).then(|| name.clone());
            }
            _ => return None,
        }
    }
}

/// `p->m`, and not what a cast makes of a number: `((struct s *)p)->m`
fn is_member(function: &FunctionContext<'_>, place: Span) -> bool {
    match function.file.tokens_in(place) {
        [name, minus, more, ..] => name.kind == TokenKind::Word && minus.is(b'-') && more.is(b'>'),
        _ => false,
    }
}
