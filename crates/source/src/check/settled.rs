//! Comparisons whose outcome the values or the types of both sides have settled before.

use tree_sitter::Node;

use crate::Direction;
use crate::compared::{Ordered, orders};
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::site::span;
use crate::span::Span;
use crate::types::{Shape, Type};

use super::bounded::{comes_before, is_of_loop};
use super::context::FunctionContext;
use super::space;

/// Numbers of so many bytes that a machine with 32 bits has as well as one with 64.
const SMALL: u64 = 2;

/// Why a comparison has but one outcome.
pub(crate) struct Settled {
    /// Whether it always holds, or never.
    pub(crate) holds: bool,
    /// The reason, behind "holds for every number: ".
    pub(crate) because: String,
}

/// The outcome of a comparison that has but one.
pub(crate) fn settled(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Settled> {
    orders(function.context.operator(node)).then_some(())?;
    let own = function.expression_of(node);
    let order = Ordered::of(&own)?;
    let same = || {
        let (less, more) = (order.less.uncast().1, order.more.uncast().1);
        let taken = took(function, less, more, node).or_else(|| took(function, more, less, node));
        Some(Settled {
            holds: order.or_equal,
            because: taken?,
        })
    };
    counts_past_zero(function, &order, node)
        .or_else(|| beyond_type(function, &order, node))
        .or_else(same)
}

/// `n = r.count; if (n < r.count)`: the only value that a variable takes is what it is compared
/// with, and neither is another one since.
fn took(
    function: &FunctionContext<'_>,
    taker: &Expression,
    given: &Expression,
    node: Node<'_>,
) -> Option<String> {
    let name = taker.name()?;
    let root = given.root().name().filter(|root| *root != name)?;
    // What lies behind a pointer, and what is not the function's own, others set as well.
    let own = |name: &str| {
        function
            .local_at(name, span(node))
            .is_some_and(|own| own.plain)
    };
    let inside = given.pointer().is_none() && !given.any(&|part| is_element(part));
    (inside && own(name) && own(root)).then_some(())?;
    let value = function.graph.only_value(name)?;
    let taken = function.expression(value)?;
    (taken.uncast().1 == given && value.end <= span(node).start).then_some(())?;
    function.pays()?;
    let kept = |name: &str| is_kept(function, name, value, span(node));
    let known = kept(name) && kept(root) && function.graph.passes(&[value], span(node));
    known.then(|| {
        let file = function.file;
        let (taker, given) = (file.plain(taker.span), file.plain(given.span));
        format!("{taker} has taken {given} on line {}", function.line(value))
    })
}

/// Whether a variable holds what it did from one place to another: what copies it to the user only
/// looks at it.
fn is_kept(function: &FunctionContext<'_>, name: &str, from: Span, at: Span) -> bool {
    let graph = function.graph;
    let access = |place: Span| {
        let mut accesses = function.accesses.iter();
        let own = accesses.find(|own| own.span.contains(place));
        own.map(|own| own.word.direction)
    };
    let between = |place: Span| place.start >= from.end && comes_before(function, place, at);
    let effects = graph.effects.iter();
    let mut own = effects.filter(|own| graph.name_of(own) == name);
    !own.any(|own| match (&own.kind, access(own.span)) {
        (EffectKind::Read | EffectKind::Handed { by_address: false }, _) => false,
        (_, Some(Direction::Write)) => false,
        // Whoever was given its address may set it at any time.
        (EffectKind::Address, None) => true,
        _ => between(own.span),
    })
}

fn is_element(part: &Expression) -> bool {
    matches!(part.term, Term::Element { .. } | Term::Behind(_))
}

/// `while (n-- >= 0)` of a number that is never less.
fn counts_past_zero(
    function: &FunctionContext<'_>,
    order: &Ordered<'_>,
    node: Node<'_>,
) -> Option<Settled> {
    let steps = match &order.more.uncast().1.term {
        Term::Step(number) => number,
        _ => return None,
    };
    let zero = order.or_equal && order.less.is_zero() && is_of_loop(node);
    (zero && is_unsigned(function, steps)).then(|| Settled {
        holds: true,
        because: format!("{} is never less than 0", function.file.plain(steps.span)),
    })
}

fn is_unsigned(function: &FunctionContext<'_>, number: &Expression) -> bool {
    let of = scalar(function, number);
    of.is_some_and(|of| matches!(of.shape, Shape::Scalar { signed: false, .. }))
}

/// `n > 255` of a `u8` that was given a larger number: none of its type is more.
fn beyond_type(
    function: &FunctionContext<'_>,
    order: &Ordered<'_>,
    node: Node<'_>,
) -> Option<Settled> {
    let number = order.more;
    let place = matches!(number.term, Term::Name(_) | Term::Member { .. });
    let asked = Some(order.less.uncast().1).filter(|own| place && !own.is_zero())?;
    may_be_cut(function, number).then_some(())?;
    // What a constant is takes longer than what type a variable has.
    let of = scalar(function, number).filter(|of| of.size <= SMALL)?;
    let limit = space::bytes(function, asked)?;
    let signed = matches!(of.shape, Shape::Scalar { signed: true, .. });
    let most = (1_u64 << (8 * of.size - u64::from(signed))) - 1;
    let never = match order.or_equal {
        true => limit > most,
        false => limit >= most,
    };
    let cut = never && is_cut(function, number, of.size, span(node));
    cut.then(|| Settled {
        holds: false,
        because: format!(
            "{} has a type of {} bits, of which {most} is the largest number",
            function.file.plain(number.span),
            8 * of.size
        ),
    })
}

/// Whether anything but a literal may give the number a value.
fn may_be_cut(function: &FunctionContext<'_>, number: &Expression) -> bool {
    let Some(root) = number.root().name() else {
        return false;
    };
    let text = function.file.text;
    let literal = |value: Span| text.get(value.start).is_some_and(u8::is_ascii_digit);
    let mut reads = function.accesses.iter();
    let mut taken = function.graph.assignments();
    let fetched = reads.any(|own| {
        own.count.is_none() && own.word.direction == Direction::Read && own.value_root == root
    });
    fetched || number.name().is_some() && taken.any(|(own, value)| own == root && !literal(value))
}

/// Whether something before a place gives a variable or a member a number of a larger type.
fn is_cut(function: &FunctionContext<'_>, number: &Expression, size: u64, at: Span) -> bool {
    let larger = |own: &Expression| scalar(function, own).is_some_and(|of| of.size > size);
    let mut values = function.accesses.iter().filter(|own| {
        own.count.is_none() && own.word.direction == Direction::Read && own.span.end <= at.start
    });
    let fetched = values.any(|own| {
        let value = function.expression_of(own.value_node);
        let address = || function.expression(own.user);
        *value.uncast().1 == *number && address().is_some_and(|own| larger(&own.behind()))
    });
    let name = number.name();
    let mut taken = function.graph.assignments();
    fetched
        || taken.any(|(own, value)| {
            let value = function
                .expression(value)
                .filter(|_| Some(own) == name && value.end <= at.start);
            value.is_some_and(|value| larger(&value))
        })
}

fn scalar(function: &FunctionContext<'_>, number: &Expression) -> Option<Type> {
    let of = space::type_of(function, number);
    of.filter(|of| matches!(of.shape, Shape::Scalar { .. }))
}
