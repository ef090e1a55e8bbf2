use tree_sitter::Node;

use crate::Direction;
use crate::check::accesses::Access;
use crate::check::compat_layout::{beside, natives, otherwise};
use crate::check::context::FunctionContext;
use crate::check::front_only::front_only;
use crate::check::made_address::{MadeOf, by_order, by_sign};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::one_element::other_size;
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::check::whole_for_part::whole_for_part;
use crate::expression::{Expression, Term};
use crate::site::span;
use crate::types::{Member, Shape, Type, TypeName};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "other-layout",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "one structure is copied as it is over another, which has a member elsewhere",
    why: "A 32-bit program's structure has other sizes and other padding than the kernel's own of the same \
          members: copied in one piece, each member takes the bytes of another one. They are to be copied one \
          by one.",
};

/// What casts widen, and what is done with it.
const SIGNED: (&str, &str) = (
    "has a sign and half the bytes of an address: what is less than 0 becomes another one",
    "widened by its sign",
);

/// What is used as it lies, and how.
const ORDERED: (&str, &str) = (
    "is declared with a byte order of its own, and is used here as if it had the machine's",
    "its bytes as they lie",
);

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for access in function.accesses.iter().chain(function.through) {
        out.extend(wrong(function, access).or_else(|| whole(function, access)));
        out.extend(wide(function, access));
        out.extend(front(function, access).or_else(|| of_another_size(function, access)));
        out.extend(narrow(function, access));
        out.extend(native(function, access));
        out.extend(compat(function, access).or_else(|| instead(function, access)));
    }
    for call in function.calls {
        out.extend(narrowed(function, *call));
    }
    out.extend(cast_alone(function));
    let signed = by_sign(function).into_iter().map(|own| (own, SIGNED));
    let ordered = by_order(function).into_iter().map(|own| (own, ORDERED));
    out.extend(
        signed
            .chain(ordered)
            .map(|(own, said)| made(function, &own, said)),
    );
    out.extend(natives(function).into_iter().map(|own| {
        let (file, place) = (function.file, own.place);
        let message = format!(
            "{} measures what a 32-bit program has, which is a {} and no {}",
            file.plain(place),
            own.other,
            own.own
        );
        let mut violation = file.violation(&INFO, place, "the kernel's own", message);
        violation.confidence = Confidence::Medium;
        violation
    }));
}

/// An address that compat_ptr() makes of what is a pointer already: half of it is left.
fn narrowed(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let name = function.callee(call)?;
    let words = function.file.words;
    (words.addresses(name) && !words.addresses_any(name)).then_some(())?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let number = given.first()?.uncast().1;
    let of = space::type_of(function, number)?;
    matches!(of.shape, Shape::Pointer { .. }).then(|| {
        let file = function.file;
        let message = format!(
            "{name}() keeps 32 bits of {}, which is a pointer of the kernel's own width",
            file.plain(number.span)
        );
        file.violation(&INFO, span(call), "half of the address", message)
    })
}

/// An address that is made of a number which holds it otherwise; what is wrong with that, and what is done.
fn made(function: &FunctionContext<'_>, own: &MadeOf, (wrong, done): (&str, &str)) -> Violation {
    let file = function.file;
    let message = format!("{} {wrong}", file.plain(own.number));
    let mut violation = file.violation(&INFO, own.at, done, message);
    violation.confidence = Confidence::Medium;
    violation
}

/// A number of a 32-bit program that a cast alone makes an address.
fn cast_alone(function: &FunctionContext<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    function.each_of(&["cast_expression"], |node| {
        let own = function.expression_of(node);
        let Term::Cast(to, value) = &own.term else {
            return;
        };
        let number = value.uncast().1;
        let address = to.pointers > 0 && space::is_cast(function, &own, value);
        let declared = || match &number.term {
            Term::Name(name) => space::declared(function, name, number.span),
            Term::Member { .. } | Term::Element { .. } | Term::Behind(_) => {
                space::type_of(function, number).map(|of| of.name)
            }
            _ => None,
        };
        let declared = address.then(declared).flatten();
        let file = function.file;
        let made = declared.and_then(|of| file.words.results().makes_address_of(&of));
        if let Some(call) = made {
            let message = format!(
                "{} is a number of a 32-bit program's, and a cast makes it an address where {call}() does",
                file.plain(number.span)
            );
            found.push(file.violation(&INFO, own.span, &format!("no {call}()"), message));
        }
    });
    found
}

/// One value of a member whose address a cast makes that of a larger type, or of what a pointer is
/// declared to lead to: what lies behind it goes with it.
fn wide(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let single = access.word.count.is_none();
    let user = function.expression(access.user).filter(|_| single)?;
    let Term::Cast(to, value) = &user.term else {
        return None;
    };
    let value = value.uncast().1;
    let (place, own) = match &value.term {
        Term::Address(place) if matches!(place.term, Term::Member { .. }) => {
            (&**place, space::type_of(function, place)?)
        }
        Term::Name(_) => (
            value,
            function.file.layout(&space::pointee(function, value)?)?,
        ),
        _ => return None,
    };
    let one = to.dimensions.is_empty();
    let deep = to.pointers.checked_sub(1).filter(|_| one)?;
    let plain = matches!(own.shape, Shape::Scalar { .. } | Shape::Pointer { .. });
    let (taken, _) = machine_wide(function, to, deep).filter(|_| plain)?;
    (taken > own.size).then_some(())?;
    let file = function.file;
    let message = format!(
        "{}() takes {taken} bytes from {}, which has {}: the rest is what lies behind it",
        access.word.name,
        file.plain(place.span),
        own.size
    );
    Some(file.violation(&INFO, access.span, "more than there is", message))
}

/// A part of a value at an address that is declared to hold all of it, and that a cast makes that of
/// a smaller number: the rest stays what it was. A cast of the value says that this is meant.
fn narrow(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let written = access.word.direction == Direction::Write && access.word.count.is_none();
    let user = function.expression(access.user).filter(|_| written)?;
    let Term::Cast(to, address) = &user.term else {
        return None;
    };
    (to.pointers == 1 && address.name().is_some()).then_some(())?;
    let value = function.expression_of(access.value_node);
    let plain = matches!(value.term, Term::Name(_) | Term::Member { .. });
    let declared = space::pointee(function, address).filter(|_| plain)?;
    let scalar = |of: Type| matches!(of.shape, Shape::Scalar { .. }).then_some(of.size);
    let there = scalar(function.file.layout(&declared)?)?;
    let taken = scalar(function.file.layout(&to.base)?)?;
    let own = scalar(space::type_of(function, &value)?)?;
    (taken < there && taken < own).then(|| {
        let file = function.file;
        let message = format!(
            "{}() writes {taken} of the {own} bytes of {} to {}, which is declared to lead to {there}",
            access.word.name,
            file.plain(value.span),
            file.plain(address.span),
        );
        let mut violation = file.violation(&INFO, access.span, "the rest stays there", message);
        violation.confidence = Confidence::Medium;
        violation
    })
}

/// The bytes of a type that is as wide as the machine, and those that a 32-bit program has. A number
/// of bits that its type says may be meant to take padding along (arch/x86/kernel/signal_32.c).
fn machine_wide(function: &FunctionContext<'_>, to: &TypeName, deep: usize) -> Option<(u64, u64)> {
    let written = format!("{}{}", to.base, " *".repeat(deep));
    let types = function.file.types;
    let other = types.compat()?;
    let own = function.file.layout(&written)?.size;
    let Ok(other) = types.layout_on(&written, other) else {
        return None;
    };
    (own != other.size).then_some((own, other.size))
}

/// One value as wide as the kernel's at an address that compat_ptr() makes: a 32-bit program
/// has less there.
fn native(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let single = access.word.count.is_none();
    let user = function.expression(access.user).filter(|_| single)?;
    let Term::Cast(to, value) = &user.term else {
        return None;
    };
    let (name, _) = value.uncast().1.call()?;
    let words = function.file.words;
    let compat = words.addresses(name) && !words.addresses_any(name);
    let plain = compat && to.dimensions.is_empty();
    let deep = to.pointers.checked_sub(1).filter(|_| plain)?;
    let (taken, other) = machine_wide(function, to, deep)?;
    let file = function.file;
    let message = format!(
        "{}() goes over {taken} bytes at the address of a 32-bit program, whose own type of that kind has {other}",
        access.word.name
    );
    Some(file.violation(&INFO, access.span, "more than it has", message))
}

/// The kernel's own structure where the tree has another one for 32-bit programs.
fn instead(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let found = beside(function, access)?;
    let file = function.file;
    let message = format!(
        "{}() copies a {}, and what a 32-bit program has there is a {}",
        access.word.name, found.own, found.other
    );
    let mut violation = file.violation(&INFO, access.span, "the kernel's own", message);
    violation.confidence = Confidence::Medium;
    Some(violation)
}

/// What a 32-bit program has otherwise, in one piece at an address that compat_ptr() makes.
fn compat(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let found = otherwise(function, access)?;
    let file = function.file;
    let message = format!(
        "{}() takes a whole {} at the address of a 32-bit program, which has it in {}, and not in {} bytes",
        access.word.name, found.name, found.other, found.own
    );
    Some(file.violation(&INFO, access.span, "not as it has it", message))
}

/// A copy by the size of a structure of what is only a part of one.
fn whole(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = whole_for_part(function, access)?;
    let message = format!(
        "{}() copies {} bytes, which {} has, and {} has {}: the rest is what lies behind it",
        access.word.name, own.bytes, own.whole, own.part, own.size
    );
    let file = function.file;
    let mut violation = file.violation(&INFO, access.span, "more than there is", message);
    violation.confidence = Confidence::Medium;
    Some(violation)
}

/// What is used of a structure of which a copy has filled no more than the front.
fn front(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = front_only(function, access)?;
    let file = function.file;
    let by = own
        .by
        .map_or_else(String::new, |name| format!(" by {name}()"));
    let message = format!(
        "{}() fills {} of {} bytes, and {} lies behind them and is used{by} on line {}",
        access.word.name,
        own.bytes,
        own.size,
        own.member,
        function.line(own.used)
    );
    let mut violation = file.violation(&INFO, access.span, "the front alone", message);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(own.used, "used here"));
    Some(violation)
}

/// A member that goes one way by its own size, and the other way by more.
fn of_another_size(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let own = other_size(function, access)?;
    let file = function.file;
    let message = format!(
        "{}() copies {} bytes of {}, and on line {} {} go the other way",
        access.word.name,
        own.own,
        file.plain(own.member),
        function.line(own.place),
        own.other
    );
    let mut violation = file.violation(&INFO, access.span, "fewer than the other way", message);
    violation.confidence = Confidence::Medium;
    violation
        .related
        .push(file.mark(own.place, "the other way"));
    Some(violation)
}

fn wrong(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let count = access.bytes.as_ref()?;
    let file = function.file;
    let value = function.expression_of(access.value_node);
    let users = space::pointee(function, &*function.expression(access.user)?)?;
    let own = match space::pointee(function, &value) {
        Some(own) => own,
        None => file.plain(member_at(&value)?.span),
    };
    // Last what takes longest: types are looked for in the headers.
    if own == users {
        return None;
    }
    let of_user = file.layout(&users)?;
    let of_kernel = match member_at(&value) {
        Some(member) => space::type_of(function, member)?,
        None => file.layout(&own)?,
    };
    let bytes = space::bytes(function, count)?;
    // The object's own type is what is meant, whatever the pointer is declared as; but where it
    // would go over what lies behind the user's.
    let over = access.word.direction == Direction::Write
        && of_kernel.size > of_user.size
        && member_at(&value).is_some()
        && is_parameter(function, access);
    let loose = bytes == of_kernel.size && bytes != of_user.size && !over;
    if loose || is_taken_as(function, &value, &users) {
        return None;
    }
    let (at, member, other) = apart(&of_kernel, &of_user, bytes, |name| {
        is_set_after(function, access, &value, name)
    })?;
    let message = format!(
        "{}() copies {bytes} bytes in one piece, and {} lies at byte {at} of {own}, and at byte {other} of {users}",
        access.word.name, member.name
    );
    Some(file.violation(&INFO, access.span, "members apart", message))
}

/// The member that an object is, by its address: `&own->part`.
fn member_at(object: &Expression) -> Option<&Expression> {
    match &object.term {
        Term::Address(place) if matches!(place.term, Term::Member { .. }) => Some(place),
        _ => None,
    }
}

/// Whether the user's address is what a parameter was declared as.
fn is_parameter(function: &FunctionContext<'_>, access: &Access<'_>) -> bool {
    let name = access.address.name();
    name.is_some_and(|name| function.is_parameter(name))
}

/// The first member that both have in other places, of those that begin in so many bytes of
/// the user's, where none of these is set by itself.
fn apart<'t>(
    own: &'t Type,
    users: &'t Type,
    bytes: u64,
    is_set: impl Fn(&str) -> bool,
) -> Option<(u64, &'t Member, u64)> {
    let all = own.members();
    let pairs = users.members().into_iter().filter_map(|(place, other)| {
        let (at, own) = *all.iter().find(|(_, own)| own.name == other.name)?;
        let plain = own.bits.is_none() && other.bits.is_none();
        (plain && place < bytes).then_some((at, own, place))
    });
    let apart: Vec<_> = pairs.filter(|(at, _, place)| at != place).collect();
    // Who sets one of them one by one knows of it.
    let known = apart.iter().any(|(_, own, _)| is_set(&own.name));
    apart.into_iter().next().filter(|_| !known)
}

/// Whether the function takes the kernel's object for one of the user's type by a cast: it
/// knows how the other lies.
fn is_taken_as(function: &FunctionContext<'_>, object: &Expression, users: &str) -> bool {
    let object = object.uncast().1;
    let mut found = false;
    function.each_of(&["cast_expression"], |node| {
        if found {
            return;
        }
        let own = function.expression_of(node);
        found = match &own.term {
            Term::Cast(to, _) => to.pointers == 1 && to.base == users && own.uncast().1 == object,
            _ => false,
        };
    });
    found
}

/// Whether a member of that name is copied by itself, or of the kernel's object takes a value of
/// its own behind a copy from the user.
fn is_set_after(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    object: &Expression,
    member: &str,
) -> bool {
    let object = match &object.uncast().1.term {
        Term::Address(place) => place.name(),
        Term::Name(name) => Some(name.as_str()),
        _ => None,
    };
    let is_member = |own: &Expression| match &own.uncast().1.term {
        Term::Member { field, .. } => field == member,
        Term::Address(place) => {
            matches!(&place.term, Term::Member { field, .. } if field == member)
        }
        _ => false,
    };
    let mut others = function.accesses.iter();
    let mut found = others.any(|own| {
        let value = function.expression_of(own.value_node);
        own.word.direction == access.word.direction
            && (is_member(&own.address) || is_member(&value))
    });
    function.each_of(&["assignment_expression"], |node| {
        if found || access.word.direction == Direction::Write || node.start_byte() < access.span.end
        {
            return;
        }
        let Term::Assignment(left, ..) = &function.expression_of(node).term else {
            return;
        };
        found = match &left.term {
            Term::Member { holder, field, .. } => field == member && holder.name() == object,
            _ => false,
        };
    });
    found
}
