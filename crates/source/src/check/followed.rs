//! Pointers that a function follows as the kernel's, and that a cast makes the user's for an access.

use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::lex::TokenKind;
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;
use super::forced::{behind_pointer, is_array, is_set_to_kernels, leads_to_kernel, switches_space};
use super::range_check::checks;
use super::space;

/// A pointer that is both.
pub(crate) struct Followed {
    pub(crate) name: String,
    /// Where it is followed.
    pub(crate) at: Span,
    /// Whether the access is given a place in what it leads to, with no cast.
    pub(crate) place: bool,
}

/// `if (!p->on) return 0; copy_from_user(to, (void __user *)p + n, size);`
pub(crate) fn followed(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Followed> {
    let address = function.expression(access.user)?;
    let taken = || function.expression(function.graph.only_value(address.name()?)?);
    let name = cast_pointer(function, &address).or_else(|| {
        let taken = taken()?;
        cast_pointer(function, &taken)
    })?;
    let places = follows(function, access, &name);
    let at = *places.first()?;
    // Last what takes longest.
    let known = function.graph.passes(&places, access.span)
        && leads_to_kernel(function, &name)
        && !switches_space(function);
    let place = false;
    known.then_some(Followed { name, at, place })
}

/// The same of a place in what a pointer leads to: `copy_to_user(&p->address, from, n)`, where the member
/// holds the user's address.
pub(crate) fn followed_to(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Followed> {
    let address = function.expression(access.user)?;
    let place = match &address.term {
        Term::Address(place) => place,
        Term::Member { .. } => &*address,
        _ => return None,
    };
    let name = behind_pointer(function, place)?;
    let places = follows(function, access, name);
    let shared = |at: &&Span| function.share_a_way(**at, access.span);
    let at = *places.iter().take(FEW).find(shared)?;
    // Last what takes longest.
    let array = || std::ptr::eq(place, &raw const *address);
    let checked = || checks(function).iter().any(|own| own.root == name);
    let known = !checked()
        && (!array() || is_array(function, place))
        && is_set_to_kernels(function, name)
        && !switches_space(function);
    known.then(|| Followed {
        name: name.to_owned(),
        at,
        place: true,
    })
}

/// So many places where a pointer is followed are looked at.
const FEW: usize = 4;

/// Where a pointer is followed by hand to a member.
fn follows(function: &FunctionContext<'_>, access: &Access<'_>, name: &str) -> Vec<Span> {
    let graph = function.graph;
    let reads = |own: &&Effect| {
        let read = own.kind == EffectKind::Read && graph.is_behind(own);
        let own_name = read && graph.name_of(own) == name && !access.span.contains(own.span);
        own_name && is_member(function, own.span)
    };
    let all = graph.effects.iter().filter(reads);
    all.map(|own| own.span).collect()
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
