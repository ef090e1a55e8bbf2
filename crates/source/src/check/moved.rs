//! A pointer that is moved over all that was checked behind it before it is accessed.

use crate::compared::Ordered;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, Node};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::bounded::is_loop;
use super::context::FunctionContext;
use super::{extent, space};

/// A range that was checked: by which nodes, from which variable on, and how many bytes.
pub(crate) struct Checked<'c> {
    pub(crate) nodes: Vec<usize>,
    pub(crate) root: &'c str,
    pub(crate) size: &'c Expression,
}

/// Something that gives a variable another value, and the node that does it.
pub(crate) type Step<'f> = (usize, &'f Effect);

/// What gives the variable another value on the ways from some nodes to an access, which end
/// where `stops` says.
pub(crate) fn steps<'f>(
    function: &'f FunctionContext<'_>,
    from: &[usize],
    name: &str,
    access: Span,
    stops: fn(&Node) -> bool,
) -> Vec<Step<'f>> {
    let graph = function.graph;
    let moves = |effect: &&Effect| {
        let written = matches!(effect.kind, EffectKind::Write(_));
        let later = access.contains(effect.span);
        written && !later && graph.is_whole(effect) && graph.name_of(effect) == name
    };
    let own: Vec<usize> = graph.nodes_in(access).collect();
    let open = graph.reached_behind_any(from.iter().copied(), stops);
    let led = open.into_iter().filter(|node| {
        let mut effects = graph.effects_of(*node).iter();
        effects.any(|effect| moves(&effect)) && {
            let behind = graph.reached(*node, stops);
            own.iter().any(|own| behind.contains(own))
        }
    });
    let steps = led.flat_map(|node| {
        let effects = graph.effects_of(node).iter().filter(moves);
        effects.map(move |effect| (node, effect))
    });
    steps.collect()
}

/// The expression that such an effect stands in.
pub(crate) fn expression(function: &FunctionContext<'_>, effect: &Effect) -> Expression {
    let place = effect.span;
    let node = function
        .root
        .descendant_for_byte_range(place.start, place.end);
    let whole = node.map(|node| match function.above(node) {
        Some(parent) if parent.known_kind() == "assignment_expression" => parent,
        _ => node,
    });
    Expression::of(function.context, whole.unwrap_or(function.root))
}

/// By what the variable is moved, in its elements, on each way from the check to an access
/// of what it then points to, where that is as much as was checked or more.
pub(crate) fn over(
    function: &FunctionContext<'_>,
    checked: &Checked<'_>,
    address: &Expression,
    access: Span,
) -> Option<Expression> {
    is_on(address.uncast().1, checked.root).then_some(())?;
    let graph = function.graph;
    let [(node, step)] = steps(function, &checked.nodes, checked.root, access, |_| false)[..]
    else {
        return None;
    };
    let own: Vec<usize> = graph.nodes_in(access).collect();
    let around = graph.reached_behind_any(own.iter().copied(), |_| false);
    let mover = graph.nodes.get(node)?;
    let past = graph.reached_behind_any(checked.nodes.iter().copied(), |other| {
        std::ptr::eq(other, mover)
    });
    let passed = own.iter().all(|own| !past.contains(own));
    let once = passed && !around.contains(&node);
    let by = forward(&expression(function, step), checked.root).filter(|_| once)?;
    covers(function, checked, &by).then_some(by)
}

/// Where the variable is moved on in each round of a loop, where what it points to is accessed in as
/// many as a number says that nobody knows here, and as many bytes as one number says were checked
/// before the first.
pub(crate) fn round_by_round(
    function: &FunctionContext<'_>,
    checked: &Checked<'_>,
    address: &Expression,
    access: Span,
) -> Option<Span> {
    let bytes =
        |own: &Expression| extent::bytes(function, own).or_else(|| space::bytes(function, own));
    let known = is_on(address.uncast().1, checked.root) && bytes(checked.size).is_some();
    let last = rounds(function, access).filter(|_| known)?;
    let names = |own: &Expression| own.name().is_some_and(|name| is_own(function, name));
    (last.any(&names) && bytes(&last).is_none()).then_some(())?;
    let [(node, step)] = steps(function, &checked.nodes, checked.root, access, |_| false)[..]
    else {
        return None;
    };
    let graph = function.graph;
    let around = graph.reached_behind_any(graph.nodes_in(access), |_| false);
    let once = !checked.nodes.iter().any(|own| around.contains(own));
    let own = stepped(function, step, checked.root)?;
    (once && around.contains(&node)).then_some(own)
}

/// `p += n` and `p++`
fn stepped(function: &FunctionContext<'_>, step: &Effect, root: &str) -> Option<Span> {
    let whole = expression(function, step);
    if forward(&whole, root).is_some() {
        return Some(whole.span);
    }
    let node = function
        .root
        .descendant_for_byte_range(step.span.start, step.span.end)?;
    let own = std::iter::once(node).chain(function.around(node));
    let mut own = own.take_while(|own| own.known_kind() != "expression_statement");
    own.find(|own| own.known_kind() == "update_expression")
        .map(span)
}

fn is_own(function: &FunctionContext<'_>, name: &str) -> bool {
    function.graph.local(name).is_some() || function.is_parameter(name)
}

/// What a loop around an access counts up to.
fn rounds(function: &FunctionContext<'_>, access: Span) -> Option<Expression> {
    let node = function
        .root
        .descendant_for_byte_range(access.start, access.end);
    let mut around = std::iter::successors(node, |own| function.above(*own));
    let condition = around
        .find(|own| is_loop(*own))
        .and_then(|own| own.part("condition"))?;
    let asked = function.expression_of(condition);
    let order = Ordered::of(asked.uncast().1)?;
    Some(order.more.uncast().1.clone())
}

/// Whether an address is what the variable holds, or lies behind it.
fn is_on(address: &Expression, root: &str) -> bool {
    match &address.term {
        Term::Name(name) => name == root,
        Term::Address(place) => {
            let computed = |own: &Expression| match &own.term {
                Term::Element { index, .. } => !matches!(index.term, Term::Number(_)),
                _ => false,
            };
            place.root().name() == Some(root) && !place.any(&computed)
        }
        _ => false,
    }
}

/// The number of elements of `p += n` and `p = p + n`.
fn forward(step: &Expression, root: &str) -> Option<Expression> {
    let Term::Assignment(_, operator, by) = &step.term else {
        return None;
    };
    match (operator.as_str(), &by.uncast().1.term) {
        ("+=", _) => Some((**by).clone()),
        ("=", Term::Binary(base, plus, by)) => {
            let on = plus == "+" && base.uncast().1.name() == Some(root);
            on.then(|| (**by).clone())
        }
        _ => None,
    }
}

/// Whether so many elements are as many bytes as were checked, or more.
fn covers(function: &FunctionContext<'_>, checked: &Checked<'_>, by: &Expression) -> bool {
    let Some(element) = extent::element(function, checked.root).filter(|size| *size > 0) else {
        return false;
    };
    let (size, number) = (
        extent::bytes(function, checked.size),
        extent::bytes(function, by),
    );
    match (size, number) {
        (Some(size), Some(number)) => number.checked_mul(element).is_some_and(|own| own >= size),
        (None, None) => is_times(function, checked.size, by, element),
        // Behind the one that was checked lies nothing that was.
        (Some(size), None) => size == element && varies(function, by),
        (None, Some(_)) => false,
    }
}

/// Whether a number is what a variable, a member or a call says, and no constant that nobody knows.
fn varies(function: &FunctionContext<'_>, by: &Expression) -> bool {
    by.any(&|part| match &part.term {
        Term::Name(name) => is_own(function, name),
        Term::Member { .. } | Term::Call(..) | Term::Element { .. } => true,
        _ => false,
    })
}

/// Whether a size is a number of elements: `n * sizeof(*p)`, or `n` of bytes.
fn is_times(
    function: &FunctionContext<'_>,
    size: &Expression,
    by: &Expression,
    element: u64,
) -> bool {
    let one = |own: &Expression| extent::bytes(function, own) == Some(element);
    match &size.term {
        Term::Binary(left, operator, right) if operator == "*" => {
            **left == *by && one(right) || **right == *by && one(left)
        }
        _ => element == 1 && size == by,
    }
}
