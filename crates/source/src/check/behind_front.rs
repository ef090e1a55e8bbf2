//! A copy that begins behind the front of an object, of as many bytes as all of it has.

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;
use super::limit::limit;

/// What such a copy is made of.
pub(crate) struct BehindFront {
    /// How many bytes, which may be as many as the object has.
    pub(crate) number: Expression,
    /// Where the object begins.
    pub(crate) front: Expression,
    /// How far behind that the copy begins.
    pub(crate) index: Expression,
    /// The bytes of the object.
    pub(crate) size: u64,
    /// What says that there are no more.
    pub(crate) bound: Span,
}

/// The copy that an access is, where nothing asks how far behind the front it begins, or holds that
/// against its length: `n = min(n, sizeof(*p))` and `copy_to_user(to, (void *)p + at, n)`.
pub(crate) fn behind_front(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    size: impl Fn(&Expression) -> Option<u64>,
) -> Option<BehindFront> {
    let number = access.bytes.as_ref()?.uncast().1;
    let value = function.expression_of(access.value_node);
    let Term::Binary(front, operator, index) = &value.uncast().1.term else {
        return None;
    };
    let (front, index) = (front.uncast().1, index.uncast().1);
    // `buf + at`, `buf + *at`, `d->buf + d->at`
    let at = match &index.term {
        Term::Behind(of) => &**of,
        _ => index,
    };
    let known = at.name().is_some() || matches!(at.term, Term::Member { .. });
    let length = number.name().filter(|_| operator == "+" && known)?;
    let bound = limit(function, number, access.span)?;
    let size = size(front).filter(|size| bound.value == Some(*size))?;
    let known = is_asked(function, at, length) || is_made_of(function, at, length, access.span);
    (!known).then(|| BehindFront {
        number: number.clone(),
        front: front.clone(),
        index: index.clone(),
        size,
        bound: bound.place,
    })
}

/// Whether a condition holds one number against another, or asks whether it is anything but 0.
fn is_asked(function: &FunctionContext<'_>, at: &Expression, length: &str) -> bool {
    let names = |own: &Expression, name: &str| own.any(&|part| part.name() == Some(name));
    let root = at.root().name();
    let mut asked = false;
    function.each_of(&["binary_expression"], |node| {
        let named = root.is_some_and(|root| function.graph.names(span(node), root));
        if asked || !named {
            return;
        }
        let own = function.expression_of(node);
        asked = match &own.term {
            Term::Binary(left, operator, right) => {
                let compares = compares(operator);
                // What is less than 0 is refused anyhow.
                let sign = match operator.as_str() {
                    "<" | ">=" => right.is_zero(),
                    ">" | "<=" => left.is_zero(),
                    _ => false,
                };
                let zero = !sign && (left.is_zero() || right.is_zero());
                compares && own.any(&|part| part == at) && (zero || names(&own, length))
            }
            _ => false,
        };
    });
    function.each_of(&["if_statement", "conditional_expression"], |node| {
        let condition = node.part("condition").filter(|_| !asked);
        let own = condition.map(|own| Expression::of(function.context, own));
        asked |= own.is_some_and(|own| is_whether(&own, at));
    });
    asked
}

/// `at`, `!at`, and as a part of what is asked besides.
fn is_whether(own: &Expression, at: &Expression) -> bool {
    match &own.uncast().1.term {
        Term::Name(_) | Term::Member { .. } => own.uncast().1 == at,
        Term::Unary(operator, of) => operator == "!" && is_whether(of, at),
        Term::Binary(left, operator, right) if matches!(operator.as_str(), "&&" | "||") => {
            is_whether(left, at) || is_whether(right, at)
        }
        Term::Call(..) => own
            .call()
            .is_some_and(|(_, given)| given.iter().any(|own| is_whether(own, at))),
        _ => false,
    }
}

/// Whether a value hangs on a number in another way than that it is more by so much.
fn is_bounded_by(value: &Expression, at: &Expression) -> bool {
    let value = value.uncast().1;
    match &value.term {
        Term::Binary(left, operator, right) if operator == "+" => {
            let more = |own: &Expression| own.uncast().1 != at && is_bounded_by(own, at);
            more(left) || more(right)
        }
        _ => {
            value == at
                || value
                    .parts()
                    .into_iter()
                    .any(|part| is_bounded_by(part, at))
        }
    }
}

/// Whether one of two variables takes a value that is made of the other.
fn is_made_of(function: &FunctionContext<'_>, at: &Expression, length: &str, copy: Span) -> bool {
    let mut values = function.graph.assignments();
    values.any(|(name, value)| {
        let names = |own: &str| function.graph.names(value, own);
        let made = || {
            let own = function.expression(value)?;
            // `n -= at` behind the copy is too late for it.
            let late = own.uncast().1 == at && value.start >= copy.end;
            (!late && is_bounded_by(&own, at)).then_some(())
        };
        at.name() == Some(name) && names(length) || name == length && made().is_some()
    })
}
