//! What a function has fetched and checked, and a function of the file fetches once more that it gives the
//! same pointer of the user's.

use std::cell::OnceCell;

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::callee::{look_into, parameter};
use super::context::FunctionContext;
use super::fetch::Fetch;
use super::fetched::member_of;
use super::fetched_part::field;
use super::refetched::{checked_fields, conditions, is_refused, is_set};
use super::room_made::makes_room;

/// A pointer of the user's that a function of the file is given.
pub(crate) struct Given<'t> {
    /// The call, as if it fetched what lies there.
    pub(crate) fetch: Fetch<'t>,
    name: String,
    at: usize,
}

/// The calls of functions of the file that may touch user memory, and are given a pointer by which the
/// function has fetched something itself before.
pub(crate) fn given_to_callees<'t>(
    function: &FunctionContext<'t>,
    fetches: &[Fetch<'t>],
) -> Vec<Given<'t>> {
    let Some(from) = fetches.first().map(|own| own.span.end) else {
        return Vec::new();
    };
    let calls = function.calls.iter();
    let later = calls.filter(|call| span(**call).start >= from);
    let own = later.filter(|call| {
        let name = function.callee(**call);
        let known = name.and_then(|name| function.known.get(name));
        known.is_some_and(|own| own.faults.is_some())
    });
    own.flat_map(|call| pointers(function, *call)).collect()
}

/// The variables that a call is given.
fn pointers<'t>(function: &FunctionContext<'t>, call: Node<'t>) -> Vec<Given<'t>> {
    let whole = function.expression_of(call);
    let Some((name, given)) = whole.call() else {
        return Vec::new();
    };
    let named = given.iter().enumerate();
    let named = named.filter_map(|(at, own)| {
        let address = own.uncast().1;
        let node = call.part("arguments")?.named_child(answer::fits(at)?)?;
        Some(Given {
            fetch: Fetch {
                node: call,
                span: span(call),
                user: span(node),
                user_root: address.name()?.to_owned(),
                address: address.clone(),
                counted: true,
                value_root: String::new(),
                value: None,
                shifted: false,
                whole: false,
                bytes: None,
                stays: false,
                all: false,
                asked: None,
                parsed: false,
                used: OnceCell::new(),
            },
            name: name.to_owned(),
            at,
        })
    });
    named.collect()
}

/// Whether the function that is called fetches a member that was checked before, or by which memory was made,
/// and uses it as it comes.
pub(crate) fn is_again_in_callee(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    given: &Given<'_>,
) -> bool {
    let second = &given.fetch;
    let Some(name) = second.address.name() else {
        return false;
    };
    let root = second.address.renamed(name, &first.user_root);
    let wanted: Vec<String> = match member_of(&first.address, &root) {
        Some(member) => {
            let asked = conditions(function, first, second);
            let named = |own: &Span| {
                own.start >= first.span.end && function.graph.names(*own, &first.value_root)
            };
            let checked = asked.iter().any(named) || makes_room(function, first, second);
            checked.then_some(member).into_iter().collect()
        }
        None if first.address == root && first.counted && first.all => {
            checked_fields(function, first, second)
                .into_iter()
                .collect()
        }
        None => Vec::new(),
    };
    !wanted.is_empty() && uses_again(function, given, &wanted)
}

/// Whether a function of the file fetches one of some members by the parameter in a place, and uses it.
fn uses_again(function: &FunctionContext<'_>, given: &Given<'_>, wanted: &[String]) -> bool {
    let found = look_into(function, &given.name, |callee| {
        let own = parameter(callee, given.at)?;
        let reads = callee.accesses.iter();
        let mut reads = reads.filter(|own| own.word.direction == Direction::Read && !own.inside);
        reads
            .any(|access| uses(callee, access, &own, wanted))
            .then_some(())
    });
    found.is_some()
}

/// Whether an access is one of such a member by that pointer, or of all that lies there, and the member is used.
fn uses(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    pointer: &str,
    wanted: &[String],
) -> bool {
    let whole = Expression {
        span: access.span,
        term: Term::Name(pointer.to_owned()),
    };
    if access.count.is_some() && access.address == whole {
        return wanted.iter().any(|own| uses_member(function, access, own));
    }
    let member = member_of(&access.address, &whole);
    member.is_some_and(|own| wanted.contains(&own)) && uses_value(function, access)
}

/// Whether a member of what an access has filled is used behind it, and nothing sets or refuses it.
fn uses_member(function: &FunctionContext<'_>, access: &Access<'_>, wanted: &str) -> bool {
    let (mut used, mut settled) = (false, false);
    function.each_of(&["field_expression"], |node| {
        let own = field(function, node, &access.value_root).as_deref() == Some(wanted);
        if own && span(node).start >= access.span.end {
            let judged = is_judged(function, node);
            settled |= judged;
            used |= !judged;
        }
    });
    used && !settled
}

/// Whether the variable that an access has filled is.
fn uses_value(function: &FunctionContext<'_>, access: &Access<'_>) -> bool {
    let (mut used, mut settled) = (false, false);
    for node in function.mentions(&access.value_root) {
        if node.start_byte() >= access.span.end {
            let judged = is_judged(function, node);
            settled |= judged;
            used |= !judged;
        }
    }
    used && !settled
}

/// Whether a node is set, refused, or held against another value.
fn is_judged(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let held = || {
        let mut around = function.around(node).take_while(|own| !own.is_statement());
        around.any(|own| {
            own.known_kind() == "binary_expression"
                && matches!(function.context.operator(own), b"==" | b"!=")
        })
    };
    is_set(function, node) || is_refused(function, node) || held()
}
