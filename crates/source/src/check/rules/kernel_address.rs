use crate::Direction;
use crate::check::accesses::Access;
use crate::check::context::FunctionContext;
use crate::check::kernel_members::kernel_member;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::expression::{Expression, Term};

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
    }
    for access in function.accesses.iter().chain(function.through) {
        out.extend(whole(function, access));
    }
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
