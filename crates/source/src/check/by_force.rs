//! Addresses of the user's that a cast makes the kernel's: by force, or since they came as a number.

use crate::calls::Deed;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::node::Parts as _;
use crate::span::Span;
use crate::types::Shape;
use tree_sitter::Node;

use super::accesses::Access;
use super::context::FunctionContext;
use super::range::declared_type;
use super::space;
use super::words::Permission;

/// So many loads and stores of a function are held against what its accesses take.
const LOADS: usize = 128;

/// Whether a cast takes the address of the user's that a variable was declared to hold for one
/// of the kernel's, by force, and the variable holds nothing else.
pub(crate) fn is_forced(function: &FunctionContext<'_>, own: &Expression) -> bool {
    let Term::Cast(to, value) = &own.term else {
        return false;
    };
    let forced = to.pointers > 0 && space::is_forced(function, own, value);
    let place = own.uncast().1;
    let variable = match &place.term {
        Term::Binary(left, ..) => left.name(),
        Term::Address(place) => place.root().name(),
        _ => place.name(),
    };
    // What became the user's by force is the kernel's.
    let back = |name: &str| {
        let own = |value: &Expression| matches!(&value.term, Term::Cast(_, of) if space::is_forced(function, value, of));
        let mut values = function.graph.assignments();
        values.any(|(taker, value)| {
            taker == name && function.expression(value).is_some_and(|value| own(&value))
        })
    };
    let kept = |name: &str| {
        let declared = declared_type(function, name).is_some();
        declared && !space::may_be_another(function, name) && !back(name)
    };
    // An architecture's own accessor is one by such a cast.
    let (words, name) = (function.file.words, &function.body.name);
    let deed = || words.permission(name);
    let accessor =
        || words.access(name).is_some() || deed() == Permission::Forbidden(Deed::Accesses);
    forced && variable.is_some_and(kept) && is_own_users(function, own) && !accessor()
}

/// Whether a call stands where an access did not happen or has faulted: the other arm of an
/// `if`, what an `if` around the access left for it; not another case of a `switch`.
pub(crate) fn is_alternative(function: &FunctionContext<'_>, call: Span, access: Span) -> bool {
    let whole = call.join(access);
    let around = function
        .root
        .descendant_for_byte_range(whole.start, whole.end);
    let mut around = std::iter::successors(around, Node::parent);
    let Some(common) = around.find(|own| own.known_kind() != "parenthesized_expression") else {
        return false;
    };
    let of_switch = common
        .parent()
        .is_some_and(|own| own.known_kind() == "switch_statement");
    match common.known_kind() {
        "if_statement" | "conditional_expression" => true,
        _ if of_switch => false,
        _ => !function.share_a_way(call, access),
    }
}

/// Whether an expression is an address of the user's, whatever a cast says of it.
pub(crate) fn is_own_users(function: &FunctionContext<'_>, own: &Expression) -> bool {
    space::is_users(function, own.uncast().1)
}

/// The cast in front of the members and the elements of what it leads to.
pub(crate) fn cast_of(mut pointer: &Expression) -> Option<&Expression> {
    loop {
        pointer = match &pointer.term {
            Term::Cast(..) => return Some(pointer),
            Term::Member { .. } | Term::Element { .. } => space::followed(pointer)?,
            Term::Binary(left, ..) => left,
            _ => return None,
        }
    }
}

/// Whether a cast takes an address of the user's for one of the kernel's, and says nothing of that.
pub(crate) fn is_unsaid(function: &FunctionContext<'_>, own: &Expression) -> bool {
    let Term::Cast(to, value) = &own.term else {
        return false;
    };
    // A member of a structure that the function has made may hold the kernel's own.
    let place = value.uncast().1;
    let handed = |name: &str| function.is_parameter(name) || place.name().is_some();
    let handed = || place.root().name().is_some_and(handed);
    let of_users = || space::is_users(function, value);
    to.pointers > 0 && !space::is_cast(function, own, value) && handed() && of_users()
}

/// Whether a variable holds nothing but what casts of one kind took from the user's.
pub(crate) fn is_held(
    function: &FunctionContext<'_>,
    name: &str,
    is_taken: impl Fn(&FunctionContext<'_>, &Expression) -> bool,
) -> bool {
    let graph = function.graph;
    if graph.local(name).is_none() {
        return false;
    }
    let mut held = false;
    for effect in &graph.effects {
        if graph.name_of(effect) != name || !graph.is_whole(effect) {
            continue;
        }
        match &effect.kind {
            EffectKind::Write(write) => {
                let Some(at) = write.value else {
                    continue;
                };
                let value = function.expression(at);
                if !value.is_some_and(|value| is_taken(function, &value)) {
                    return false;
                }
                held = true;
            }
            EffectKind::Address | EffectKind::Handed { by_address: true } => return false,
            EffectKind::Read | EffectKind::Handed { .. } => {}
        }
    }
    held
}

/// Whether an access elsewhere is given a variable as the user's, which holds nothing but numbers
/// that casts have made a pointer of the kernel's.
pub(crate) fn is_of_number(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    name: &str,
    at: Span,
) -> bool {
    if access.user_root != name || function.stops_at(function.graph.effects.len(), LOADS * 64) {
        return false;
    }
    let given = function.expression(access.user);
    let own = given.is_some_and(|given| given.uncast().1.name() == Some(name));
    own && function.graph.local(name).is_some()
        && !is_alternative(function, at, access.span)
        && takes_numbers(function, name)
}

/// Whether each value that a variable takes is a number, and a cast makes a pointer of it.
fn takes_numbers(function: &FunctionContext<'_>, name: &str) -> bool {
    let mut values = function.graph.assignments().filter(|own| own.0 == name);
    let number = |at: Span| {
        let Some(value) = function.expression(at) else {
            return false;
        };
        let Term::Cast(to, of) = &value.term else {
            return false;
        };
        let scalar = || {
            let of = space::type_of(function, of.uncast().1);
            of.is_some_and(|of| matches!(of.shape, Shape::Scalar { .. }))
        };
        to.pointers > 0 && !space::is_cast(function, &value, of) && scalar()
    };
    let first = values.next();
    first.is_some_and(|(_, at)| number(at)) && values.all(|(_, at)| number(at))
}

/// What a call is given that is the kernel's address on one way and the user's on another, with
/// nothing that tells which.
pub(crate) fn chosen<'e>(
    function: &FunctionContext<'_>,
    given: &'e [Expression],
) -> Option<&'e Expression> {
    given.iter().enumerate().find_map(|(at, own)| {
        let Term::Choice(condition, one, other) = &own.term else {
            return None;
        };
        let (one, other): (&Expression, &Expression) = (one.as_deref().unwrap_or(condition), other);
        let (users, kernels) = match (is_forced(function, one), is_forced(function, other)) {
            (true, false) => (one, other),
            (false, true) => (other, one),
            _ => return None,
        };
        let asks = |own: &Expression| {
            let name = own.root().name();
            name.is_some_and(|name| condition.any(&|part: &Expression| part.name() == Some(name)))
        };
        let mut others = given.iter().enumerate().filter(|(own, _)| *own != at);
        let told = others.any(|(_, own)| asks(own));
        (!told && !kernels.is_null() && !space::is_users(function, kernels)).then_some(users)
    })
}
