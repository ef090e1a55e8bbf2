//! Addresses that are either the user's or the kernel's, and say which in a member beside: `sockptr_t`.

use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::types::{Member, Shape};

use super::accesses::Access;
use super::callee::look_into;
use super::context::FunctionContext;
use super::fetched::is_told;
use super::space;

/// An address of the user's that nothing asks for whether it is one.
pub(crate) struct Unasked {
    /// What holds it.
    pub(crate) holder: String,
    /// The member that says whose it is.
    pub(crate) teller: String,
}

/// `get_user(n, (int __user *)opt.user)`, where nothing looks at `opt.is_kernel`.
pub(crate) fn unasked(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Unasked> {
    let own = front(&access.address);
    let value = || function.expression(function.graph.only_value(own.name()?)?);
    let value = value();
    let address = value.as_deref().map_or(own, front);
    let Term::Member {
        holder,
        arrow,
        field,
    } = &address.term
    else {
        return None;
    };
    // Who calls from another file with a pointer to it may have asked.
    let given = *arrow
        && holder
            .name()
            .is_some_and(|name| function.is_parameter(name));
    if given && !function.file.is_declared(function.body, b"static") {
        return None;
    }
    let behind = holder.behind();
    let of = space::type_of(function, if *arrow { &behind } else { holder })?;
    let Shape::Struct(members) = &of.shape else {
        return None;
    };
    members.iter().find(|own| is_either(own, field))?;
    let teller = members.iter().find(|own| is_truth(own))?;
    let root = holder.root().name()?;
    let asked = names(function, &teller.name)
        || is_judged(function, root, access)
        || is_asked_by_callers(function, &teller.name);
    (!asked).then(|| Unasked {
        holder: function.file.plain(holder.span),
        teller: teller.name.clone(),
    })
}

/// The pointer that an address begins at.
fn front(address: &Expression) -> &Expression {
    match &address.uncast().1.term {
        Term::Binary(left, operator, _) if operator == "+" => front(left),
        _ => address.uncast().1,
    }
}

/// Whether a member is a union of that pointer of the user's and one of the kernel's.
fn is_either(member: &Member, field: &str) -> bool {
    let Shape::Union(sides) = &member.of.shape else {
        return false;
    };
    let users = |own: &&Member| matches!(own.of.shape, Shape::Pointer { user: true, .. });
    let kernels = |own: &Member| matches!(own.of.shape, Shape::Pointer { user: false, .. });
    let mut own = sides.iter().filter(users);
    member.name.is_empty() && own.any(|own| own.name == field) && sides.iter().any(kernels)
}

/// Whether a member has two values.
fn is_truth(member: &Member) -> bool {
    let truth = matches!(member.of.shape, Shape::Scalar { counts: false, .. });
    let bit = member.bits.is_some_and(|(_, bits)| bits == 1);
    !member.name.is_empty() && (bit || truth && member.of.size == 1)
}

/// Whether a function looks at a member of that name.
fn names(function: &FunctionContext<'_>, wanted: &str) -> bool {
    let mut found = false;
    function.each_of(&["field_expression"], |node| {
        let own = function.expression_of(node);
        found |= matches!(&own.term, Term::Member { field, .. } if field == wanted);
    });
    found
}

/// Whether a call that copies nothing is given what holds the address, and tells of it.
fn is_judged(function: &FunctionContext<'_>, root: &str, access: &Access<'_>) -> bool {
    let words = function.file.words;
    let mut conditions = Vec::new();
    function.each_of(&["if_statement", "switch_statement"], |node| {
        conditions.extend(node.part("condition").map(span));
    });
    let mut calls = function.calls.iter();
    calls.any(|call| {
        let whole = function.expression_of(*call);
        let Some((name, given)) = whole.call().filter(|_| *call != access.node) else {
            return false;
        };
        let copies = words.access(name).is_some()
            || words.fetches(name).is_some()
            || words.shows(name).is_some();
        let own = |own: &Expression| match &own.uncast().1.term {
            Term::Address(place) => place.name() == Some(root),
            _ => own.uncast().1.name() == Some(root),
        };
        let before = span(*call).end <= access.span.start;
        before && !copies && given.iter().any(own) && is_told(function, *call, &conditions)
    })
}

/// Whether a function of the file that calls this one looks at such a member.
fn is_asked_by_callers(function: &FunctionContext<'_>, wanted: &str) -> bool {
    let mut callers = function.file.callers(function.body);
    callers.any(|caller| {
        let asks = |caller: &FunctionContext<'_>| names(caller, wanted).then_some(());
        look_into(function, &caller.name, asks).is_some()
    })
}
