//! A copy that begins behind the front of an object, of as many bytes as all of it has.

use tree_sitter::Node;

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;
use super::limit::{changed, limit, taken};
use super::space;

/// What such a copy is made of.
pub(crate) struct BehindFront {
    /// How many bytes, which may be as many as the object has.
    pub(crate) number: Expression,
    /// Where the object begins.
    pub(crate) front: Expression,
    /// How far behind that the copy begins.
    pub(crate) index: Expression,
    /// The bytes of the object, as far as they are known.
    pub(crate) size: String,
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
    let (front, index) = begun(value.uncast().1)?;
    // An element may be larger than a byte.
    let picked = matches!(value.uncast().1.term, Term::Address(_));
    // `buf + at`, `buf + *at`, `d->buf + d->at`
    let at = match &index.term {
        Term::Behind(of) => &**of,
        _ => index,
    };
    let known = at.name().is_some() || matches!(at.term, Term::Member { .. });
    let length = number.name().filter(|_| known)?;
    let known_size = || {
        let bound = limit(function, number, access.span)?;
        let size = size(front).filter(|size| bound.value == Some(*size))?;
        Some((bound.place, size.to_string()))
    };
    (!picked || space::element(function, front) == Some(1)).then_some(())?;
    let (bound, size) =
        known_size().or_else(|| of_own_size(function, number, front, access.span))?;
    let known = is_asked(function, at, length) || is_made_of(function, at, length, access.span);
    (!known).then(|| BehindFront {
        number: number.clone(),
        front: front.clone(),
        index: index.clone(),
        size,
        bound,
    })
}

/// Where an address begins, and how far behind that it is: `p + n`, `&p[n]`.
pub(crate) fn begun(address: &Expression) -> Option<(&Expression, &Expression)> {
    let (front, index) = match &address.term {
        Term::Binary(front, operator, index) if operator == "+" => (front, index),
        Term::Address(place) => match &place.term {
            Term::Element { array, index } => (array, index),
            _ => return None,
        },
        _ => return None,
    };
    Some((front.uncast().1, index.uncast().1))
}

/// Where a length takes the lesser of something and the size of a variable, whatever that is.
fn of_own_size(
    function: &FunctionContext<'_>,
    number: &Expression,
    front: &Expression,
    at: Span,
) -> Option<(Span, String)> {
    let Term::Address(object) = &front.term else {
        return None;
    };
    let name = object.name()?;
    let words = function.file.words;
    let sized = |own: &Expression| match &own.uncast().1.term {
        Term::SizeOf(of) => of == object,
        Term::SizeOfType(of) => {
            of.pointers == 0
                && space::declared(function, name, object.span).as_ref() == Some(&of.base)
        }
        _ => false,
    };
    taken(function, number, at).into_iter().find_map(|value| {
        let (callee, given) = value.uncast().1.call()?;
        let least = given
            .iter()
            .find(|own| words.gives_least(callee) && sized(own))?;
        let kept =
            function.graph.passes(&[value.span], at) && !changed(function, number, value.span, at);
        kept.then(|| (value.span, function.file.plain(least.span)))
    })
}

/// Whether a condition holds one number against another, or asks whether it is anything but 0.
pub(crate) fn is_asked(function: &FunctionContext<'_>, at: &Expression, length: &str) -> bool {
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
        asked |=
            own.is_some_and(|own| is_whether(&own, at)) && !is_beside(function, node, at, length);
    });
    asked
}

/// Whether what is done where a place is the front, or is not, has nothing to do with what is copied: the
/// function goes on, copies nothing there, and neither number takes a value.
fn is_beside(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    at: &Expression,
    length: &str,
) -> bool {
    let graph = function.graph;
    let root = at.root().name();
    let beside = |own: Node<'_>| {
        let place = span(own);
        let leaves = graph.statement(place).is_some_and(|own| graph.leaves(own));
        let copies = function.accesses.iter().any(|own| place.contains(own.span));
        let takes = graph.effects.iter().any(|own| {
            let writes = matches!(own.kind, EffectKind::Write(_));
            let name = graph.name_of(own);
            writes && place.contains(own.span) && (name == length || Some(name) == root)
        });
        !leaves && !copies && !takes
    };
    let other = node.part("alternative").map(|own| match own.known_kind() {
        "else_clause" => own.named_child(0).unwrap_or(own),
        _ => own,
    });
    // What is asked next is looked at by itself.
    let asked = |own: &Node<'_>| own.known_kind() == "if_statement";
    node.known_kind() == "if_statement"
        && node.part("consequence").is_some_and(beside)
        && other.filter(|own| !asked(own)).is_none_or(beside)
}

/// `at`, `!at`, and as a part of what is asked besides.
fn is_whether(own: &Expression, at: &Expression) -> bool {
    match &own.uncast().1.term {
        Term::Name(_) | Term::Member { .. } | Term::Behind(_) => own.uncast().1 == at,
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
pub(crate) fn is_made_of(
    function: &FunctionContext<'_>,
    at: &Expression,
    length: &str,
    copy: Span,
) -> bool {
    let mut values = function.graph.assignments();
    values.any(|(name, value)| {
        let names = |own: &str| function.graph.names(value, own);
        let made = || {
            let own = function.expression(value)?;
            // `n -= at` behind the copy is too late for it.
            let late = own.uncast().1 == at && value.start >= copy.end;
            (!late && is_bounded_by(&own, at)).then_some(())
        };
        let own = at.name() == Some(name) && names(length) || name == length && made().is_some();
        own && (value.start < copy.end || function.comes_to(value, copy))
    })
}
