//! What a function does with a second copy of what it has fetched and checked before.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::compared::orders;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;
use crate::types::Shape;

use super::accesses::root_of;
use super::bounded::is_of_zero;
use super::context::FunctionContext;
use super::fetch::Fetch;
use super::fetched::{is_all_of, is_line_of_log, is_told};
use super::fetched_part::field;
use super::looked_up::lookups;
use super::space;

/// Whether a call that is given all of what the first fetch filled says what it is, and its result
/// is asked in one of some conditions: `if (count < size_of(&header))`.
pub(crate) fn is_judged(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    conditions: &[Span],
) -> bool {
    let words = function.file.words;
    let mut calls = function.calls.iter().filter(|_| first.all || first.stays);
    calls.any(|call| {
        let Some(name) = function.callee(*call) else {
            return false;
        };
        let whole = function.expression_of(*call);
        let given = whole.call().map_or(&[][..], |(_, given)| given);
        let filled = first.value.as_ref();
        let own = |own: &Expression| match filled {
            Some(filled) => own.uncast().1 == filled,
            None => is_all_of(own, &first.value_root),
        };
        // What copies, frees or tells whether it is there says nothing of what is in it.
        let other = words.access(name).is_some()
            || words.fetches(name).is_some()
            || words.tells_errors(name)
            || words.tells_null(name)
            || words.frees(name)
            || function.may_fault(name);
        span(*call).start >= first.span.end
            && !other
            && given.iter().any(own)
            && is_told(function, *call, conditions)
    })
}

/// Whether what the second fetch filled goes on, or is there when the function is left, and
/// nothing behind it speaks of the first copy as well or judges the second: whoever holds both may
/// compare them.
pub(crate) fn goes_unasked(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    conditions: &[Span],
) -> bool {
    let behind = |place: Span| place.start >= second.span.end;
    let (one, other) = (&first.value_root, &second.value_root);
    let graph = function.graph;
    let both = |place: Span| graph.names(place, one) && graph.names(place, other);
    let mut asked = conditions.iter();
    if one == other || asked.any(|place| both(*place)) {
        return false;
    }
    let (mut set, mut read) = (false, stays(function, second));
    function.each_of(&["assignment_expression"], |node| {
        set |= behind(span(node)) && both(span(node));
    });
    for call in function.calls.iter().filter(|call| behind(span(**call))) {
        let given = is_given(function, *call, second);
        let place = span(*call);
        set |= both(place) || given && is_told(function, *call, conditions);
        read |= given && !lets_go(function, *call);
    }
    read && !set
}

/// Whether a fetch fills what is there when the function is left: memory that a call has lent, and
/// that no other call is given.
fn stays(function: &FunctionContext<'_>, fetch: &Fetch<'_>) -> bool {
    let words = function.file.words;
    let filled = fetch.value.as_ref().and_then(Expression::name);
    let Some(name) = filled else {
        return false;
    };
    let lent = function.graph.only_value(name).is_some_and(|value| {
        let value = function.expression(value);
        let value = value.as_ref().map(|own| own.uncast().1);
        let call = value.and_then(Expression::call);
        call.is_some_and(|(lender, _)| words.allocates(lender).is_none())
    });
    let mut behind = function.calls.iter();
    lent && !behind
        .any(|call| span(*call).start >= fetch.span.end && is_given(function, *call, fetch))
}

/// Whether a call is given what a fetch filled, or what that is a member of.
fn is_given(function: &FunctionContext<'_>, call: Node<'_>, fetch: &Fetch<'_>) -> bool {
    let whole = function.expression_of(call);
    let given = whole.call().map_or(&[][..], |(_, given)| given);
    given.iter().any(|own| {
        let place = match &own.uncast().1.term {
            Term::Address(place) => place,
            _ => own.uncast().1,
        };
        let all = place.name() == Some(&fetch.value_root);
        all || fetch.value.as_ref() == Some(own.uncast().1)
    })
}

/// Whether a call frees what it is given, drops it, copies it to or from the user, or prints it.
fn lets_go(function: &FunctionContext<'_>, call: Node<'_>) -> bool {
    let words = function.file.words;
    let name = function.callee(call);
    is_line_of_log(call)
        || name.is_some_and(|name| {
            words.frees(name)
                || words.releases(name)
                || words.access(name).is_some()
                || words.clears(name).is_some()
                || words.tells_errors(name)
                || words.tells_null(name)
        })
}

/// The checked member of the first copy as the second has it, where that begins with the same
/// structure: `all->head.len`, `((struct head *)buf)->len`, `head->len` of `head = buf`.
pub(crate) fn front<'t>(
    function: &FunctionContext<'t>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    wanted: &str,
) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    function.each_of(&["field_expression"], |node| {
        let field = node.part("field");
        let own = field.is_some_and(|own| function.context.seen(own) == wanted.as_bytes());
        if own && span(node).start >= second.span.end && is_front(function, first, second, node) {
            found.push(node);
        }
    });
    found
}

/// Whether a member is one of a structure of the first copy's type with which the second begins.
fn is_front(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    node: Node<'_>,
) -> bool {
    let whole = function.expression_of(node);
    let Term::Member { holder, .. } = &whole.term else {
        return false;
    };
    let root = second.value_root.as_str();
    match &holder.term {
        Term::Cast(to, value) => {
            let declared = space::declared(function, &first.value_root, first.span);
            value.name() == Some(root) && to.pointers == 1 && declared.as_ref() == Some(&to.base)
        }
        Term::Name(name) if name != root => is_alias(function, first, second, name),
        Term::Member {
            holder: outer,
            arrow,
            field,
        } if outer.name() == Some(root) => {
            let variable = Expression {
                span: first.span,
                term: Term::Name(first.value_root.clone()),
            };
            let of = space::type_of(function, holder);
            let same = of.is_some() && of == space::type_of(function, &variable);
            same && begins(function, outer, *arrow, field)
        }
        _ => false,
    }
}

/// Whether a variable takes the pointer to what the second fetch filled, and leads to the type of
/// the first copy.
fn is_alias(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    name: &str,
) -> bool {
    let only = function.graph.only_value(name);
    let value = only.and_then(|at| function.expression(at));
    let own = value.is_some_and(|value| {
        let place = value.uncast().1;
        place.name() == Some(&second.value_root) || second.value.as_ref() == Some(place)
    });
    let leads = || {
        let checked = space::declared(function, &first.value_root, first.span)?;
        let own = space::declared(function, name, second.span)?;
        Some(own.strip_suffix('*')?.trim_end() == checked)
    };
    own && leads() == Some(true)
}

/// Whether a member is what a structure begins with.
fn begins(function: &FunctionContext<'_>, holder: &Expression, arrow: bool, field: &str) -> bool {
    let behind = holder.behind();
    let of = space::type_of(function, if arrow { &behind } else { holder });
    match of.map(|of| of.shape) {
        Some(Shape::Struct(members)) => {
            let mut own = members.iter().filter(|own| own.name == field);
            own.any(|own| own.offset == 0)
        }
        _ => false,
    }
}

/// What conditions ask for, each thing by itself, whether it is so or not.
pub(crate) fn operands(function: &FunctionContext<'_>, conditions: &[Span]) -> Vec<Expression> {
    let mut found = Vec::new();
    for whole in conditions.iter().filter_map(|at| function.expression(*at)) {
        let either = whole.joined("||").into_iter();
        let each = either.flat_map(|own| own.joined("&&"));
        found.extend(each.map(|own| match &own.term {
            Term::Unary(not, inner) if not == "!" => (**inner).clone(),
            _ => own.clone(),
        }));
    }
    found
}

/// Whether a condition compares the node with something that may be of the first copy:
/// a second one over it leaves nothing to compare with, so that there a difference has
/// to be refused, and what is looked for by its value is used.
pub(crate) fn is_compared(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    node: Node<'_>,
) -> bool {
    let over = root_of(function.context, node) == first.value_root;
    let mut node = node;
    while let Some(parent) = function.above(node) {
        let operator = function.context.operator(parent);
        if parent.known_kind() == "binary_expression" && matches!(operator, b"!=" | b"==") {
            return !over || operator == b"!=";
        }
        if parent.is_statement() {
            return false;
        }
        node = parent;
    }
    false
}

/// Whether an `if` compares the node with a limit and leaves the function, or goes on to
/// its end, where it does not keep to it.
pub(crate) fn is_refused(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let around = function.around(node);
    let mut around = around.take_while(|own| !own.is_statement());
    let limited = around.any(|own| {
        let operator = function.context.operator(own);
        // That there is anything is no limit.
        own.known_kind() == "binary_expression"
            && orders(operator)
            && !is_of_zero(function, span(own))
    });
    let mut around = function.around(node);
    let holder = around.find(|own| own.is_statement());
    let asked = holder.filter(|own| limited && own.known_kind() == "if_statement");
    asked.is_some_and(|own| {
        let mut inside = function.graph.inside(span(own));
        inside.any(|own| function.graph.leaves(own))
    })
}

/// Whether an assignment sets a node.
pub(crate) fn is_set(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    function.above(node).is_some_and(|own| {
        own.known_kind() == "assignment_expression"
            && own.part("left").map(|left| bare(left).id()) == Some(node.id())
    })
}

/// Whether the second fetch fills all of what the first has filled a member of, and that goes on with
/// the member as it came the second time: nobody sets it again, or asks for it.
pub(crate) fn is_put_over(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> bool {
    let root = second.value_root.as_str();
    let Some(member) = first.value.as_ref().filter(|_| first.value_root == root) else {
        return false;
    };
    let own = matches!(&member.term, Term::Member { holder, arrow: false, .. } if holder.name() == Some(root));
    if !own || !second.all {
        return false;
    }
    // What picks an element goes by it, and judges nothing.
    let picks = |node: Node<'_>| {
        let around = function.above(node);
        around.is_some_and(|own| own.part("index").map(|own| own.id()) == Some(node.id()))
    };
    let mut named = false;
    function.each_of(&["field_expression"], |node| {
        let behind = span(node).start >= second.span.end;
        named |= behind && function.expression_of(node).as_ref() == member && !picks(node);
    });
    let mut calls = function.calls.iter();
    !named
        && calls.any(|call| {
            let behind = span(*call).start >= second.span.end;
            behind && is_given(function, *call, second) && !lets_go(function, *call)
        })
}

/// Whether the second fetch fills all of a variable of which the first has filled a member, or
/// what a pointer to that leads to, of which something was asked in between, and is used behind it
/// as it came the second time.
pub(crate) fn is_whole_over(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    conditions: &[Span],
) -> bool {
    let Some(filled) = first.value.as_ref().filter(|_| second.all) else {
        return false;
    };
    let pointed = filled.name().and_then(|name| {
        let value = function.graph.only_value(name)?;
        function.expression(value)
    });
    let place = match &pointed.as_deref().unwrap_or(filled).uncast().1.term {
        Term::Address(place) => &**place,
        _ => return false,
    };
    let inside = matches!(place.term, Term::Member { .. }) && place.pointer().is_none();
    if !inside || place.root().name() != Some(&second.value_root) {
        return false;
    }
    let lies_there = |own: &Expression| {
        let behind = matches!(&own.term, Term::Member { holder, arrow: true, .. } if *holder.uncast().1 == *filled);
        behind || own != place && own.lies_in(place)
    };
    let (mut asked, mut used, mut again) = (false, false, false);
    function.each_of(&["field_expression"], |node| {
        if !lies_there(&function.expression_of(node)) {
            return;
        }
        let at = span(node);
        asked |= conditions.iter().any(|own| own.contains(at));
        let behind = at.start >= second.span.end;
        let settled = behind && (is_compared(function, first, node) || is_refused(function, node));
        again |= settled;
        used |= behind && !settled && !is_set(function, node);
    });
    asked && used && !again
}

/// Whether two fetches are of as many bytes, by what is written or by how much that is.
pub(crate) fn is_as_long(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> bool {
    let known = |own: &Fetch<'_>| space::bytes(function, own.bytes.as_ref()?);
    first.bytes == second.bytes || known(first).is_some_and(|own| known(second) == Some(own))
}

/// Whether a member that is fetched again to where it stays is used of the first copy behind that as
/// well: what stays need not be what that was.
pub(crate) fn is_kept_beside(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    wanted: &str,
) -> bool {
    if !second.stays || first.stays || first.value_root == second.value_root {
        return false;
    }
    let root = first.value_root.as_str();
    let mut used = false;
    function.each_of(&["field_expression"], |node| {
        let own = function.expression_of(node);
        let member = matches!(&own.term, Term::Member { holder, field, .. }
            if field == wanted && holder.uncast().1.name() == Some(root));
        used |= member && span(node).start >= second.span.end && !is_set(function, node);
    });
    used
}

/// The conditions that end behind a byte.
pub(crate) fn conditions_from(function: &FunctionContext<'_>, byte: usize) -> Vec<Span> {
    let mut found = Vec::new();
    function.each_of(
        &["if_statement", "while_statement", "switch_statement"],
        |node| {
            let condition = match node.known_kind() {
                "if_statement" | "while_statement" | "switch_statement" => node.part("condition"),
                _ => None,
            };
            found.extend(condition.map(span).filter(|place| byte <= place.end));
        },
    );
    found
}

/// Whether a condition compares the variable with a limit.
pub(crate) fn is_limited(function: &FunctionContext<'_>, condition: Span, variable: &str) -> bool {
    let graph = function.graph;
    let limits = graph
        .comparisons
        .iter()
        .filter(|at| condition.contains(**at));
    limits.into_iter().any(|at| graph.names(*at, variable))
}

/// What is made of a variable between two places: `size` of `size = n * 8`.
pub(crate) fn made_of<'s>(
    function: &'s FunctionContext<'_>,
    variable: &str,
    place: Span,
) -> Vec<&'s str> {
    let graph = function.graph;
    let assigned = graph
        .assignments()
        .filter(|(_, value)| place.contains(*value));
    let made = assigned.filter(|(name, value)| *name != variable && graph.names(*value, variable));
    made.map(|(name, _)| name).collect()
}

/// The variables that the first copy is held to be equal to before the second fetch: behind
/// `if (head.len != count) return -EINVAL;` the one says as much as the other.
pub(crate) fn equal_to(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> Vec<String> {
    let place = Span::new(first.span.end, second.span.start);
    let mut found = Vec::new();
    function.each_of(&["binary_expression"], |node| {
        let operator = function.context.operator(node);
        if matches!(operator, b"!=" | b"==") && place.contains(span(node)) {
            found.extend(other_side_of(function, node, &first.value_root));
        }
    });
    found
}

/// The variable that is compared with what another one is part of.
fn other_side_of(
    function: &FunctionContext<'_>,
    comparison: Node<'_>,
    variable: &str,
) -> Option<String> {
    let own = function.expression_of(comparison);
    let Term::Binary(left, _, right) = &own.term else {
        return None;
    };
    let is_of = |side: &Expression| side.any(&|part| part.name() == Some(variable));
    let other = match (is_of(left), is_of(right)) {
        (true, false) => right,
        (false, true) => left,
        _ => return None,
    };
    other.uncast().1.name().map(str::to_owned)
}

/// Whether every branch that holds the first holds the second, too.
pub(crate) fn together(first: Node<'_>, second: Node<'_>) -> bool {
    let mut node = first;
    while let Some(parent) = node.parent() {
        let branch = match parent.known_kind() {
            "if_statement" if Some(node.id()) == parent.part("condition").map(|c| c.id()) => None,
            "if_statement" | "else_clause" | "conditional_expression" => Some(node),
            // All statements of a case are one branch.
            "case_statement" => Some(parent),
            _ => None,
        };
        if branch.is_some_and(|branch| !span(branch).contains(span(second))) {
            return false;
        }
        node = parent;
    }
    true
}

/// The conditions between two fetches.
pub(crate) fn conditions(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> Vec<Span> {
    let mut found = conditions_from(function, first.span.end);
    found.retain(|place| place.start < second.span.start && !place.contains(second.span));
    found
}

/// The fields of the first copy that conditions between the two ask for, by themselves or
/// by what is made of them.
pub(crate) fn checked_fields(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> BTreeSet<String> {
    let conditions = conditions(function, first, second);
    let between = Span::new(first.span.end, second.span.start);
    let assigned = function.graph.assignments();
    let limited = assigned.filter(|(name, value)| {
        let mut asked = conditions.iter();
        between.contains(*value) && asked.any(|asked| is_limited(function, *asked, name))
    });
    let mut made: Vec<Span> = limited.map(|(_, value)| value).collect();
    made.extend(lookups(function, &conditions, between, second.span.end));
    let mut found = BTreeSet::new();
    function.each_of(&["field_expression"], |node| {
        let place = span(node);
        let mut asked = conditions.iter().chain(&made);
        let own = node.known_kind() == "field_expression"
            && first.span.end <= place.start
            && asked.any(|asked| asked.contains(place));
        if own {
            found.extend(field(function, node, &first.value_root));
        }
    });
    found
}
