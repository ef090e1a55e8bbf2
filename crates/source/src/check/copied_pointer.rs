//! Pointers of the user's that lie in a copy of what a program gave: who copied it has checked the
//! address that it came from, and none of those in it.

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::flow::Action;
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

use super::accesses::Access;
use super::context::FunctionContext;
use super::fetched::is_line_of_log;
use super::filled_place::{is_copied, is_given_copy};
use super::space;

/// The pointer of an access, where it is a member of such a copy and nothing else.
pub(crate) fn copied_pointer(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<String> {
    let address = function.expression(access.user)?;
    let pointer = member_of(function, &address)?;
    let holder = holder_of(pointer)?;
    let name = holder.name()?;
    let copied = is_given_copy(function, name)
        || is_always_copied(function, holder)
        || is_copied(function, name, access.span)
        || is_filled(function, name, access);
    let kept = copied && space::is_users(function, &address) && !is_set(function, pointer);
    kept.then(|| function.file.plain(pointer.span))
}

/// The member that an address is, or goes on from: `&c.to->id`, `(u8 __user *)c.to + 4`.
fn member_of<'e>(function: &FunctionContext<'_>, own: &'e Expression) -> Option<&'e Expression> {
    match &own.term {
        Term::Cast(_, inner) => member_of(function, inner),
        Term::Binary(left, sign, _) if sign == "+" => member_of(function, left),
        Term::Address(place) => member_of(function, array(place).or_else(|| place.pointer())?),
        Term::Call(..) => {
            let (name, given) = own.call()?;
            let number = given.first()?.uncast().1;
            let made = function.file.words.addresses_any(name);
            made.then_some(number).filter(|own| is_member(own))
        }
        _ => is_member(own).then_some(own),
    }
}

fn is_member(own: &Expression) -> bool {
    matches!(own.term, Term::Member { .. })
}

fn array(place: &Expression) -> Option<&Expression> {
    match &place.term {
        Term::Element { array, .. } => Some(array),
        _ => None,
    }
}

/// The variable that a member lies in, or behind at once: not what is behind another pointer, which
/// may be the kernel's own.
fn holder_of(member: &Expression) -> Option<&Expression> {
    match &member.term {
        Term::Member { holder, arrow, .. } if *arrow => Some(&**holder),
        Term::Member { holder, .. } if is_member(holder) => holder_of(holder),
        Term::Member { holder, .. } => Some(&**holder),
        _ => None,
    }
    .filter(|own| own.name().is_some())
}

/// Whether a struct of that type is nothing but a copy anywhere.
fn is_always_copied(function: &FunctionContext<'_>, holder: &Expression) -> bool {
    let of = space::type_of(function, holder);
    of.is_some_and(|of| match &of.shape {
        Shape::Pointer { to, .. } => function.file.words.handlers().is_copied(to),
        _ => false,
    })
}

/// Whether a copy before an access fills all of a struct of the function's own.
fn is_filled(function: &FunctionContext<'_>, name: &str, access: &Access<'_>) -> bool {
    let plain = |own: &Access<'_>| {
        let local = function.local_at(name, own.span);
        local.is_some_and(|own| own.plain && !own.lasting)
    };
    let whole = |own: &Access<'_>| match &function.expression_of(own.value_node).uncast().1.term {
        Term::Address(place) => place.name() == Some(name),
        _ => false,
    };
    function.accesses.iter().any(|own| {
        let reads = own.word.direction == Direction::Read && own.count.is_some();
        reads && own.span.end <= access.span.start && whole(own) && plain(own)
    })
}

/// Whether the function sets the pointer by itself.
fn is_set(function: &FunctionContext<'_>, pointer: &Expression) -> bool {
    let mut set = false;
    function.each_of(&["assignment_expression"], |node| {
        set |= !set
            && match &function.expression_of(node).term {
                Term::Assignment(left, ..) => pointer.lies_in(left),
                _ => false,
            };
    });
    set
}

/// Whether nothing but what fills the struct, and what checks nothing, has to do with it before an
/// access: whatever else is given it, or a pointer in it, may check that.
pub(crate) fn is_alone(function: &FunctionContext<'_>, access: &Access<'_>) -> bool {
    let root = access.user_root.as_str();
    let known = |at: Span| {
        let mut own = function.accesses.iter().filter(|own| own.span == at);
        own.any(|own| {
            let fills = own.word.direction == Direction::Read && own.value_root == root;
            fills || !own.word.checked
        })
    };
    let judges = |at: Span| {
        let mut effects = function.graph.effects_in(at);
        at.start < access.span.start && effects.any(|own| function.graph.name_of(own) == root)
    };
    let mut nodes = function.graph.nodes.iter();
    let mut calls = function.calls.iter();
    !nodes.any(|own| matches!(own.action, Action::Begin(_)))
        && !calls.any(|own| judges(span(*own)) && !known(span(*own)) && !is_line_of_log(*own))
}
