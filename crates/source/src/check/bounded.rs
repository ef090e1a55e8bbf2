//! What of a function may bound a number.

use std::cell::Cell;

use tree_sitter::Node;

use crate::compared::{Ordered, compares};
use crate::expression::{Expression, Term};
use crate::node::{LOOPS, Parts as _};
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::fetched::is_line_of_log;
use super::narrowed::{is_of, is_of_default, refused};

/// So many comparisons of a number are followed to where it is used.
const MOST: usize = 16;

/// Whether anything besides a place and what the loops ask is compared with a number and
/// may bound it, or picks by it.
pub(crate) fn is_compared(
    function: &FunctionContext<'_>,
    number: &Expression,
    besides: Span,
) -> bool {
    is_compared_where(function, number, |node| span(node) != besides)
}

/// The same on a way that leads to a place or from it.
pub(crate) fn is_compared_on_the_way(
    function: &FunctionContext<'_>,
    number: &Expression,
    place: Span,
) -> bool {
    is_compared_where(function, number, |node| {
        span(node) != place && function.share_a_way(span(node), place)
    })
}

/// The same on a way to another place.
pub(crate) fn is_compared_before(
    function: &FunctionContext<'_>,
    number: &Expression,
    besides: Span,
    at: Span,
) -> bool {
    let graph = function.graph;
    let here: Vec<usize> = graph.nodes_in(at).collect();
    let followed = Cell::new(0);
    let comes = |from: Span| {
        // Whoever asks so often has something in mind that is not understood.
        followed.set(followed.get() + 1);
        if function.stops_at(followed.get(), MOST + 1) {
            return true;
        }
        let asks = |node: &usize| {
            let mut effects = graph.effects_of(*node).iter();
            effects.any(|own| from.contains(own.span))
        };
        let mut asked = (0..graph.nodes.len()).filter(asks).peekable();
        asked.peek().is_none()
            || asked.any(|node| {
                let reached = graph.reached(node, |_| false);
                here.iter().any(|node| reached.contains(node))
            })
    };
    is_compared_where(function, number, |node| {
        span(node) != besides && comes(span(node))
    })
}

fn is_compared_where(
    function: &FunctionContext<'_>,
    number: &Expression,
    counts: impl Fn(Node<'_>) -> bool,
) -> bool {
    let Some(root) = number.root().name() else {
        return false;
    };
    let mut found = false;
    function.each_of(&["switch_statement", "binary_expression"], |node| {
        // Last what takes longest.
        if found || !function.graph.names(span(node), root) || !counts(node) {
            return;
        }
        let own = match node.known_kind() {
            "switch_statement" => node.part("condition"),
            _ => Some(node)
                .filter(|own| may_bound(function, *own, number))
                .filter(|own| !is_of_loop(*own)),
        };
        let of = |own| function.expression_of(own);
        found = own.is_some_and(|own| of(own).any_but_indices(&|part| part == number));
    });
    found
}

/// Whether a comparison may say how large the number is.
fn may_bound(function: &FunctionContext<'_>, node: Node<'_>, number: &Expression) -> bool {
    let operator = function.context.operator(node);
    (compares(operator) || matches!(operator, b"&" | b"%"))
        && !is_of_zero(function, span(node))
        && !only_logs(node)
        && !refuses_less(function, node, |own| own == number)
}

/// Whether anything compares the member, or a variable that is made of it, or compares the
/// struct in a way that does not say which member is meant.
pub(crate) fn is_limited_member(
    function: &FunctionContext<'_>,
    (root, member): (&str, &Expression),
    at: Span,
    from_below: bool,
) -> bool {
    let holds = |own: &Expression| own.any(&|part| part == member);
    let others = |own: &Expression| {
        // Another member of it is compared, and no more.
        let member = |part: &Expression| matches!(part.term, Term::Member { .. });
        own.any(&|part| member(part) && part.root().name() == Some(root))
    };
    let graph = function.graph;
    let mut made = graph.assignments();
    let of_it = |value: Span| function.expression(value).is_some_and(|own| holds(&own));
    let counts = |own: &Expression| holds(own) || !others(own);
    let limited = |name: &str| match from_below {
        true => is_limited_at_all(function, name, at),
        false => is_limited(function, name, at),
    };
    made.any(|(name, value)| name != root && of_it(value) && limited(name))
        || is_limited_where(function, (root, at), counts, |own| {
            !from_below && own == member
        })
}

/// Whether anything but a loop compares the variable with something that may bound it, or
/// picks by it, before a place.
pub(crate) fn is_limited(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let own = |own: &Expression| is_of(function, own, name);
    is_limited_where(function, (name, at), |_| true, own)
}

/// The same, where a bound from below is one, too.
pub(crate) fn is_limited_at_all(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    is_limited_where(function, (name, at), |_| true, |_| false)
}

/// The same of what is compared in some places.
pub(crate) fn is_limited_on_ways(
    function: &FunctionContext<'_>,
    (name, at): (&str, Span),
    counts: impl Fn(Span) -> bool,
) -> bool {
    let own = |own: &Expression| is_of(function, own, name);
    is_limited_where(function, (name, at), |own| counts(own.span), own)
}

/// The same of what is compared in that way.
fn is_limited_where(
    function: &FunctionContext<'_>,
    (name, at): (&str, Span),
    counts: impl Fn(&Expression) -> bool,
    is_it: impl Fn(&Expression) -> bool,
) -> bool {
    let graph = function.graph;
    let of = |node: Node<'_>| {
        let own = function.expression_of(node);
        // `p[n - 1] == '\n'` says nothing of n.
        own.any_but_indices(&|part| part.name() == Some(name)) && counts(&own)
    };
    // What is compared in the place itself, `f(n > 8 ? 8 : n)`, is before it, too.
    let behind = Span::new(at.end, at.end);
    let mut limited = false;
    function.each_of(&["switch_statement", "binary_expression"], |node| {
        // Last what takes longest.
        let unasked = limited || !graph.names(span(node), name);
        if unasked || !comes_before(function, span(node), behind) {
            return;
        }
        limited |= match node.known_kind() {
            "switch_statement" => node
                .part("condition")
                .filter(|_| !is_of_default(node, at))
                .is_some_and(|asked| graph.names(span(asked), name) && of(asked)),
            "binary_expression" => {
                let compares = compares(function.context.operator(node));
                let asked = span(node);
                let asks = compares && graph.names(asked, name);
                let counts = || !is_of_loop(node) && !is_of_zero(function, asked);
                let asks = asks && of(node) && counts() && !only_logs(node);
                // Where the place is what is done for less, that is its bound.
                let done = refused(node).is_some_and(|then| span(then).contains(at));
                let less = || {
                    let otherwise = is_otherwise(node, at) && asks_for_less(function, node, &is_it);
                    otherwise || refuses_less(function, node, &is_it)
                };
                asks && (done || !less())
            }
            _ => false,
        };
    });
    limited
}

/// Whether what happens in one place may have happened before the other: it stands before
/// it, or both are in a loop.
pub(crate) fn comes_before(function: &FunctionContext<'_>, one: Span, other: Span) -> bool {
    if one.start < other.start {
        return true;
    }
    let mut loops = function.nodes.of_kinds(&LOOPS).map(span);
    loops.any(|own| own.contains(one) && own.contains(other))
}

/// Whether a way leads from what is read or written in a place back to it.
pub(crate) fn is_in_round(function: &FunctionContext<'_>, place: Span) -> bool {
    let own = function.touching(place);
    let behind = function.graph.comes_behind(&own);
    own.iter().any(|at| behind.contains(*at))
}

/// Whether a statement goes round.
pub(crate) fn is_loop(node: Node<'_>) -> bool {
    LOOPS.contains(&node.known_kind())
}

/// Whether a node is what a loop asks for each round.
pub(crate) fn is_of_loop(node: Node<'_>) -> bool {
    let around = std::iter::successors(Some(node), Node::parent);
    let mut asked = around.filter_map(|own| {
        let of = own.parent()?;
        (of.part("condition") == Some(own)).then_some(of)
    });
    asked.next().is_some_and(is_loop)
}

/// Whether what is refused is less than something: `if (n < sizeof(x)) return -EINVAL;`
/// does not say how much more it may be.
pub(crate) fn refuses_less(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    is: impl Fn(&Expression) -> bool,
) -> bool {
    asks_for_less(function, node, is)
        && refused(node).is_some_and(|then| {
            let then = function.graph.statement(span(then));
            then.is_some_and(|then| function.graph.leaves(then))
        })
}

/// Whether a comparison holds where a number is less than something.
pub(crate) fn asks_for_less(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    is: impl Fn(&Expression) -> bool,
) -> bool {
    let own = function.expression_of(node);
    Ordered::of(&own).is_some_and(|own| is(own.less.uncast().1))
}

/// Whether a place is done only where a condition did not hold: its `else`.
pub(crate) fn is_otherwise(node: Node<'_>, at: Span) -> bool {
    let holder = refused(node).and_then(|then| then.parent());
    let otherwise = holder.and_then(|own| own.part("alternative"));
    otherwise.is_some_and(|own| span(own).contains(at))
}

/// `n == 0`, `n < 0`, `n > 0`: that there is anything is no bound.
pub(crate) fn is_of_zero(function: &FunctionContext<'_>, at: Span) -> bool {
    let own = function.expression(at);
    own.is_some_and(|own| match &own.term {
        Term::Binary(left, _, right) => left.is_zero() || right.is_zero(),
        _ => false,
    })
}

/// Whether what is done where a condition holds is no more than to print that it does: the number
/// goes on as it is.
fn only_logs(node: Node<'_>) -> bool {
    let Some(then) = refused(node) else {
        return false;
    };
    let alone = then
        .parent()
        .is_some_and(|own| own.part("alternative").is_none());
    let prints = |own: Node<'_>| {
        let call = own
            .named_child(0)
            .filter(|own| own.known_kind() == "call_expression");
        own.known_kind() == "expression_statement" && call.is_some_and(is_line_of_log)
    };
    let mut cursor = then.walk();
    alone
        && match then.known_kind() {
            "compound_statement" => {
                let mut all = then.named_children(&mut cursor).peekable();
                all.peek().is_some() && all.all(prints)
            }
            _ => prints(then),
        }
}
