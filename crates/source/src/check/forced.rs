//! Addresses of the kernel's that a cast makes the user's, and not by `__force`.

use tollgate_defect::answer;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::lex::TokenKind;
use crate::search::Hashed;
use crate::types::Shape;

use super::accesses::Access;
use super::context::FunctionContext;
use super::space;

/// The kernel's own place whose address an access is given as the user's, by casts of pointers
/// alone: whoever goes by a number, or says `__force`, knows it.
pub(crate) fn kernels_place(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<Expression> {
    cast_place(function, &*function.expression(access.user)?, false)
}

/// The same of an address that another function is given; by force as well, where that is said
/// to be right.
pub(crate) fn cast_place(
    function: &FunctionContext<'_>,
    address: &Expression,
    by_force: bool,
) -> Option<Expression> {
    let (mut own, mut marked) = (address, false);
    while let Term::Cast(to, value) = &own.term {
        if to.pointers == 0 || !by_force && space::is_forced(function, own, value) {
            return None;
        }
        marked |= space::is_cast(function, own, value);
        own = value;
    }
    let place = match &own.term {
        Term::Address(place) => place,
        // An array stands for its address.
        Term::Name(_) | Term::Member { .. } => own,
        _ => return None,
    };
    // A type takes a search of the headers.
    let known = marked
        && is_named(function, place)
        && (!std::ptr::eq(place, own) || is_array(function, own))
        && is_own(function, place)
        && !switches_space(function);
    known.then(|| place.clone())
}

/// Whether what a place begins at is a variable or a parameter of the function.
fn is_named(function: &FunctionContext<'_>, place: &Expression) -> bool {
    let root = place.root().name();
    root.is_some_and(|name| function.is_parameter(name) || function.graph.local(name).is_some())
}

pub(crate) fn is_array(function: &FunctionContext<'_>, place: &Expression) -> bool {
    match place.name() {
        Some(name) => function
            .local_at(name, place.span)
            .is_some_and(|local| local.array),
        None => {
            let of = space::type_of(function, place);
            of.is_some_and(|of| matches!(of.shape, Shape::Array(..)))
        }
    }
}

/// Whether a place lies in an object of the kernel's: a variable of the function, or what one
/// leads to that is no pointer to the user's memory, whatever it takes.
fn is_own(function: &FunctionContext<'_>, place: &Expression) -> bool {
    let Some(name) = place.root().name() else {
        return false;
    };
    if !is_named(function, place)
        || space::is_in_users(function, place)
        || space::is_users(function, place.root())
    {
        return false;
    }
    if !is_of_arrays(function, place) {
        return false;
    }
    match follows_once(place) {
        None => true,
        // Each pointer on the way is one of the kernel's.
        Some(true) => leads_to_kernel(function, name),
        Some(false) => false,
    }
}

/// The pointer that a place lies behind, and behind no other one, where it is not declared as the
/// user's.
pub(crate) fn behind_pointer<'e>(
    function: &FunctionContext<'_>,
    place: &'e Expression,
) -> Option<&'e str> {
    let root = place.root();
    let name = root.name()?;
    let own = is_named(function, place)
        && follows_once(place) == Some(true)
        && !space::is_in_users(function, place)
        && !space::is_users(function, root)
        && is_of_arrays(function, place);
    own.then_some(name)
}

/// Whether each value that a pointer takes is another of the kernel's: what casts make of a number, or
/// an access has fetched, may be the user's.
pub(crate) fn is_set_to_kernels(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let fetches = |own: &Access<'_>| own.count.is_none() && own.word.direction == Direction::Read;
    let mut fetched = function.accesses.iter().filter(|own| fetches(own));
    if fetched.any(|own| own.value_root == name) {
        return false;
    }
    let kernels = |value: &Expression| {
        let (cast, inner) = value.uncast();
        let leads = || {
            let of = space::type_of(function, inner);
            of.is_some_and(|of| {
                matches!(
                    of.shape,
                    Shape::Pointer { user: false, .. } | Shape::Array(..)
                )
            })
        };
        // What a function of the file gives may be where a signal's frame is to lie.
        let own = |(name, _): (&str, &[Expression])| function.file.body_named(name).is_some();
        let given = inner.call().is_some_and(own);
        !given && !space::is_users(function, inner) && (cast.is_none() || leads())
    };
    let mut values = graph.assignments().filter(|(taker, _)| *taker == name);
    values.all(|(_, at)| function.expression(at).is_some_and(|value| kernels(&value)))
}

/// Whether the place lies behind the one pointer that it starts from; none where it is behind
/// no pointer, or in an element, which an array has as well.
fn follows_once(place: &Expression) -> Option<bool> {
    match &place.term {
        Term::Member {
            holder,
            arrow: true,
            ..
        } => Some(holder.name().is_some()),
        Term::Member { holder, .. } => follows_once(holder),
        Term::Element { array, .. } => follows_once(array),
        Term::Behind(pointer) => Some(pointer.name().is_some()),
        _ => None,
    }
}

/// Whether each element on the way is one of an array, and not of what a pointer leads to.
fn is_of_arrays(function: &FunctionContext<'_>, place: &Expression) -> bool {
    match &place.term {
        Term::Element { array, .. } => is_array(function, array) && is_of_arrays(function, array),
        Term::Member { holder, .. } => is_of_arrays(function, holder),
        _ => true,
    }
}

/// Whether nothing that a pointer takes may be an address of the user's: a number, a cast, one
/// that is declared so, what an access has fetched.
pub(crate) fn leads_to_kernel(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let fetches = |own: &Access<'_>| own.count.is_none() && own.word.direction == Direction::Read;
    let mut fetched = function.accesses.iter().filter(|own| fetches(own));
    if fetched.any(|own| own.value_root == name) {
        return false;
    }
    let mut effects = graph.effects.iter();
    !effects.any(|effect| match &effect.kind {
        EffectKind::Write(write) if graph.name_of(effect) == name && graph.is_whole(effect) => {
            let value = write.value.and_then(|at| function.expression(at));
            value.is_some_and(|value| {
                let (cast, inner) = value.uncast();
                cast.is_some() || space::is_users(function, inner)
            })
        }
        _ => false,
    })
}

/// Whether anything in the file says that the kernel's own memory may be accessed so.
pub(crate) fn switches_space(function: &FunctionContext<'_>) -> bool {
    let file = function.file;
    let words = file.tokens.iter().filter(|own| own.kind == TokenKind::Word);
    let mut words = words.map(|own| own.span.of(file.text));
    words.any(|word| {
        let told = file.words.may_mean(Hashed::of(word));
        told && answer::text(word).is_some_and(|name| file.words.results().switches_space(name))
    })
}
