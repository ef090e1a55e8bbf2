use tree_sitter::Node;

use crate::Direction;
use crate::check::accesses::Access;
use crate::check::allocation::Allocation;
use crate::check::context::FunctionContext;
use crate::check::forced::switches_space;
use crate::check::kernel_members::kernel_member;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::span::Span;
use crate::types::Shape;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "kernel-address",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "the user is given the address of a kernel object for its value, or a structure with such addresses",
    why: "put_user(&own->count, p) stores where the object lies, and not what it holds: the program gets a \
          wrong number, and one that says where the kernel's memory is. So does a list's head, a lock or a \
          timer in a structure that is copied as a whole.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for access in function.accesses {
        out.extend(wrong(function, access));
        out.extend(as_number(function, access));
    }
    for access in function.accesses {
        out.extend(where_it_lies(function, access));
        out.extend(pointer_itself(function, access));
    }
    for access in function.accesses.iter().chain(function.through) {
        out.extend(whole(function, access));
    }
    function.each_of(&["assignment_expression", "init_declarator"], |node| {
        out.extend(kept_as_users(function, node));
    });
}

/// An address of the kernel's, of a variable or of memory that the function allocates, that takes a place
/// which is declared to hold one of the user's; a cast says that it is meant.
fn kept_as_users(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    let (place, value) = match node.known_kind() {
        "init_declarator" => (declared(node.part("declarator")?)?, node.part("value")?),
        _ if function.context.operator(node) == b"=" => (node.part("left")?, node.part("right")?),
        _ => return None,
    };
    matches!(value.known_kind(), "identifier" | "pointer_expression").then_some(())?;
    let value = function.expression_of(value);
    is_kernels_own(function, &value).then_some(())?;
    let place = function.expression_of(place);
    let of = space::type_of(function, &place)?;
    matches!(of.shape, Shape::Pointer { user: true, .. }).then_some(())?;
    // A copy may stand where the user's stood, and all of memory be the user's for a while.
    let copied = |own: &Access<'_>| own.address == *place;
    (!function.accesses.iter().any(copied) && !switches_space(function)).then_some(())?;
    let file = function.file;
    let message = format!(
        "{} is declared to hold an address of the user's, and takes that of {}",
        file.plain(place.span),
        file.plain(value.span)
    );
    Some(file.violation(&INFO, value.span, "the kernel's address", message))
}

/// The variable that a declarator declares as a pointer.
fn declared(declarator: Node<'_>) -> Option<Node<'_>> {
    let pointer = declarator.known_kind() == "pointer_declarator";
    declarator.part("declarator").filter(|_| pointer)
}

/// Whether it is where a variable of the function lies, or leads to memory that the function allocates.
fn is_kernels_own(function: &FunctionContext<'_>, value: &Expression) -> bool {
    let local = |place: &Expression| {
        let name = place.root().name();
        name.and_then(|name| function.local_at(name, place.span))
    };
    match &value.term {
        Term::Address(place) => {
            let led = |part: &Expression| {
                let arrow = matches!(part.term, Term::Member { arrow: true, .. });
                arrow || matches!(part.term, Term::Element { .. } | Term::Behind(_))
            };
            !place.any(&led) && local(place).is_some()
        }
        Term::Name(name) => {
            local(value).is_some_and(|own| own.array)
                || Allocation::of(function, name, value.span).is_some()
        }
        _ => false,
    }
}

/// An address of the kernel's that a cast makes a number: the value itself, or what a member takes
/// of a structure of the function's that is copied.
fn as_number(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let writes = access.word.direction == Direction::Write;
    let value = writes.then(|| function.expression_of(access.value_node))?;
    let found = match (access.word.count.is_some(), &value.term) {
        (false, Term::Name(name)) => {
            let only = function.graph.only_value(name)?;
            number(function, &*function.expression(only)?)
        }
        (false, _) => number(function, &value),
        (true, Term::Address(object)) => {
            let name = object.name()?;
            function.local_at(name, object.span)?;
            member_with(function, name, access.span)
        }
        _ => None,
    }?;
    let file = function.file;
    let message = format!(
        "{}() gives the program {} as a number, which is where an object of the kernel's lies",
        access.word.name,
        file.plain(found)
    );
    let mut violation = file.violation(&INFO, access.span, "the kernel's address", message);
    violation
        .related
        .push(file.mark(found, "made a number here"));
    Some(violation)
}

/// Where a member of a variable takes such a value, which it still has when that is copied.
fn member_with(function: &FunctionContext<'_>, name: &str, copy: Span) -> Option<Span> {
    let mut found: Vec<(Expression, Span)> = Vec::new();
    function.each_of(&["assignment_expression"], |node| {
        if node.end_byte() > copy.start {
            return;
        }
        let Term::Assignment(left, operator, value) = &function.expression_of(node).term else {
            return;
        };
        let member = matches!(left.term, Term::Member { .. });
        if member && operator == "=" && left.root().name() == Some(name) {
            found.retain(|(own, _)| own != &**left);
            found.extend(number(function, value).map(|at| ((**left).clone(), at)));
        }
    });
    found.first().map(|(_, at)| *at)
}

/// The place of a pointer to the kernel's memory that casts make a number.
fn number(function: &FunctionContext<'_>, value: &Expression) -> Option<Span> {
    let Term::Cast(to, _) = &value.term else {
        return None;
    };
    let (_, pointer) = value.uncast();
    let place = matches!(pointer.term, Term::Name(_) | Term::Member { .. });
    (place && to.pointers == 0).then_some(())?;
    let of = space::type_of(function, pointer)?;
    let kernels = matches!(of.shape, Shape::Pointer { user: false, .. });
    let users = space::is_users(function, pointer);
    (kernels && !users && is_followed(function, pointer)).then_some(value.span)
}

/// Whether the function goes through a pointer, which is no address of the user's then: what is
/// not declared as one may be one all the same.
fn is_followed(function: &FunctionContext<'_>, pointer: &Expression) -> bool {
    let mut follows = false;
    function.each_of(
        &[
            "field_expression",
            "pointer_expression",
            "subscript_expression",
        ],
        |node| {
            if follows {
                return;
            }
            follows = match &function.expression_of(node).term {
                Term::Member {
                    holder,
                    arrow: true,
                    ..
                } => &**holder == pointer,
                Term::Behind(of) | Term::Element { array: of, .. } => &**of == pointer,
                _ => false,
            };
        },
    );
    follows
}

/// A structure of the kernel's own, copied with what it has for itself alone.
fn whole(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let member = kernel_member(function, access)?;
    let file = function.file;
    let message = format!(
        "{}() copies the whole structure, whose member {} is a {}: addresses and state of the kernel's",
        access.word.name, member.path, member.of
    );
    Some(file.violation(&INFO, access.span, "all of it", message))
}

fn wrong(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let single = access.word.count.is_none() && access.word.direction == Direction::Write;
    let value = single.then(|| function.expression_of(access.value_node))?;
    let Term::Address(place) = &value.uncast().1.term else {
        return None;
    };
    is_own(function, place).then_some(())?;
    let file = function.file;
    let message = format!(
        "{}() stores the address of {} for the user, and not its value",
        access.word.name,
        file.plain(place.span)
    );
    Some(file.violation(&INFO, access.span, "the kernel's address", message))
}

/// A pointer of the kernel's, a member, that is copied for what it points to: as many bytes as that
/// has, and no more than the pointer has itself.
fn pointer_itself(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let count = access.bytes.as_ref()?;
    let value = function.expression_of(access.value_node);
    let Term::Address(place) = &value.uncast().1.term else {
        return None;
    };
    let member = matches!(place.term, Term::Member { .. }) && is_own(function, place);
    let writes = access.word.direction == Direction::Write;
    let named = || {
        let name = place.name().filter(|_| writes)?;
        let local = function.local_at(name, place.span);
        local
            .map_or_else(|| function.is_parameter(name), |own| !own.array)
            .then_some(())
    };
    (member || named().is_some()).then_some(())?;
    let of = space::type_of(function, place)?;
    matches!(of.shape, Shape::Pointer { user: false, .. }).then_some(())?;
    let bytes = space::bytes(function, count)?;
    // Where the kernel's memory lies no program is to know, whoever means that.
    let meant = is_size_of_pointer(function, count) && !(writes && is_kernels(function, place));
    (bytes <= of.size && !meant).then_some(())?;
    let file = function.file;
    let (done, label) = match access.word.direction {
        Direction::Write => ("gives the user", "the kernel's address"),
        Direction::Read => ("lets the user write over", "the pointer itself"),
    };
    let message = format!(
        "{}() {done} {bytes} bytes of the pointer {}, and not what it points to",
        access.word.name,
        file.plain(place.span)
    );
    Some(file.violation(&INFO, access.span, label, message))
}

/// Whether a pointer leads to what the function has allocated, or goes through itself.
fn is_kernels(function: &FunctionContext<'_>, pointer: &Expression) -> bool {
    let made = |name: &str| Allocation::of(function, name, pointer.span).is_some();
    pointer.name().is_some_and(made)
        || !space::is_users(function, pointer) && is_followed(function, pointer)
}

/// Whether a size is that of a pointer: whoever writes so means the pointer.
fn is_size_of_pointer(function: &FunctionContext<'_>, size: &Expression) -> bool {
    match &size.term {
        Term::SizeOfType(of) => of.pointers > 0,
        Term::SizeOf(own) => {
            let of = space::type_of(function, own);
            of.is_some_and(|of| matches!(of.shape, Shape::Pointer { .. }))
        }
        _ => false,
    }
}

/// Where a pointer to the user's memory lies, which is a member of the kernel's, given for what it
/// points to.
fn where_it_lies(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let user = function.expression(access.user)?;
    let Term::Address(place) = &user.uncast().1.term else {
        return None;
    };
    matches!(place.term, Term::Member { .. }).then_some(())?;
    let root = place.root();
    let local = root.name().filter(|name| {
        function
            .local_at(name, root.span)
            .is_some_and(|own| own.plain)
    });
    let kernels =
        local.is_some() || is_followed(function, root) && !space::is_users(function, root);
    let users = place
        .pointer()
        .is_some_and(|own| space::is_users(function, own))
        || space::is_in_users(function, place);
    (kernels && !users).then_some(())?;
    let of = space::type_of(function, place)?;
    matches!(of.shape, Shape::Pointer { user: true, .. }).then_some(())?;
    let file = function.file;
    let message = format!(
        "{}() is given where {} lies, which is the kernel's own memory, and not what it points to",
        access.word.name,
        file.plain(place.span)
    );
    Some(file.violation(&INFO, access.user, "the kernel's address", message))
}

/// Whether a place lies in an object of the kernel's: a variable of the function, or what one
/// leads to that is no pointer to the user's memory.
fn is_own(function: &FunctionContext<'_>, place: &Expression) -> bool {
    let root = place.root();
    let known = root
        .name()
        .is_some_and(|name| function.is_parameter(name) || function.graph.local(name).is_some());
    let users = space::is_users(function, place) || space::is_users(function, root);
    known && !users && !space::is_in_users(function, place)
}
