//! Members of which what they held is refused, and not what they take.

use tree_sitter::Node;

use crate::compared::{Ordered, orders};
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::limit::limit;
use super::narrowed::refused;
use super::{space, unbounded};

/// A member that takes a number of the user's behind a test of what it was.
pub(crate) struct OldValue {
    /// The member, and the number.
    pub(crate) member: Expression,
    pub(crate) number: Expression,
    /// The test, and where the member takes the number.
    pub(crate) asked: Span,
    pub(crate) taken: Span,
}

/// `if (d->mru > MOST) return -EINVAL; d->mru = n;` of a number that nothing refuses for being too
/// large.
pub(crate) fn old_values(function: &FunctionContext<'_>) -> Vec<OldValue> {
    let mut asked: Vec<(Span, Expression)> = Vec::new();
    function.each_of(&["binary_expression"], |node| {
        asked.extend(refuses_member(function, node));
    });
    let mut found = Vec::new();
    if asked.is_empty() {
        return found;
    }
    function.each_of(&["assignment_expression"], |node| {
        found.extend(taken(function, node, &asked));
    });
    found
}

/// The member that an `if` refuses for being more than a constant.
fn refuses_member(function: &FunctionContext<'_>, node: Node<'_>) -> Option<(Span, Expression)> {
    let member = |side| {
        let own = node.part(side).map(|own| own.known_kind());
        own == Some("field_expression")
    };
    let may_be = orders(function.context.operator(node)) && (member("left") || member("right"));
    may_be.then_some(())?;
    let own = function.expression_of(node);
    let order = Ordered::of(&own)?;
    let member = order.more.uncast().1;
    let behind = matches!(member.term, Term::Member { .. }) && member.pointer().is_some();
    (behind && !order.less.is_zero()).then_some(())?;
    let then = function.graph.statement(span(refused(node)?))?;
    function.graph.leaves(then).then_some(())?;
    // A constant takes a search of the headers.
    space::bytes(function, order.less.uncast().1)?;
    Some((span(node), member.clone()))
}

fn taken(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    asked: &[(Span, Expression)],
) -> Option<OldValue> {
    let own = function.expression_of(node);
    let Term::Assignment(left, operator, right) = &own.term else {
        return None;
    };
    let (member, number) = (left.uncast().1, right.uncast().1);
    let plain = operator == "=" && number.name().is_some();
    let mut before = asked
        .iter()
        .filter(|(place, of)| of == member && place.end <= own.span.start);
    let (place, _) = before.next().filter(|_| plain)?;
    if bounds(function, number) || !function.comes_to(*place, own.span) {
        return None;
    }
    function.pays()?;
    let lesser = limit(function, number, own.span).is_some();
    let passes = !lesser && function.graph.passes(&[*place], own.span);
    unbounded::users_within(function, number, own.span).filter(|_| passes)?;
    Some(OldValue {
        member: member.clone(),
        number: number.clone(),
        asked: *place,
        taken: own.span,
    })
}

/// Whether anything asks whether the number is too large.
fn bounds(function: &FunctionContext<'_>, number: &Expression) -> bool {
    let mut found = false;
    function.each_of(&["binary_expression"], |node| {
        if !orders(function.context.operator(node)) {
            return;
        }
        let own = function.expression_of(node);
        let order = Ordered::of(&own);
        found |= order.is_some_and(|own| own.more.any(&|part| part == number));
    });
    found
}
