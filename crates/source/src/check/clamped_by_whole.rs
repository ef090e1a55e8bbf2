//! Copies of what is left of an object, which is bounded by a number that only the whole was held
//! against.

use tree_sitter::Node;

use crate::compared::Ordered;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::behind_front::begun;
use super::bounded::is_of_loop;
use super::context::{FileContext, FunctionContext};

/// What such a copy is made of.
pub(crate) struct ByWhole {
    /// How many bytes are copied.
    pub(crate) number: Expression,
    /// How many the object has from its front on.
    pub(crate) whole: Expression,
    /// What that is held against, and the number takes.
    pub(crate) most: Expression,
    /// How far behind the front the copy begins.
    pub(crate) index: Expression,
    /// The comparison.
    pub(crate) asked: Span,
}

impl ByWhole {
    /// What is wrong, and what says so.
    pub(crate) fn told(&self, file: &FileContext<'_>) -> (String, Span) {
        let [number, whole, most, index] =
            [&self.number, &self.whole, &self.most, &self.index].map(|own| file.plain(own.span));
        let takes = match self.number == self.most {
            true => format!("{number} stays"),
            false => format!("{number} takes {most}"),
        };
        let told = format!(
            "{takes} where {whole} is more, of which {index} bytes are gone: what is left may be less than {most}"
        );
        (told, self.asked)
    }
}

/// `n = all - at; if (all > most) n = most;` of `n` bytes from `front + at` on: where `all` is more than
/// `most`, what is left of it need not be.
pub(crate) fn clamped_by_whole(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<ByWhole> {
    let number = access.bytes.as_ref()?.uncast().1;
    let name = number.name()?;
    let value = function.expression_of(access.value_node);
    let index = index(function, value.uncast().1)?;
    let mut values = function.graph.assignments();
    let left = values.find_map(|(own, value)| {
        let of_it = own == name && value.end <= access.span.start;
        let own = left(&*function.expression(value).filter(|_| of_it)?, &index)?;
        Some((value, own))
    });
    let (taken, (whole, chosen)) = left?;
    let (most, asked) = match chosen {
        Some((most, asked)) => (most, asked),
        None => clamped(function, name, &whole, access.span)
            .or_else(|| kept(function, number, &whole, taken))?,
    };
    let bounded = is_bounded(function, number, (&whole, &index), asked, access.span);
    (!bounded).then(|| ByWhole {
        number: number.clone(),
        whole,
        most,
        index,
        asked,
    })
}

/// How far behind its front an address is, or the variable that takes it.
fn index(function: &FunctionContext<'_>, address: &Expression) -> Option<Expression> {
    let made = address.name().and_then(|name| {
        let value = function.graph.only_value(name)?;
        function.expression(value)
    });
    let address = made.as_ref().map_or(address, |own| own.uncast().1);
    let (_, index) = begun(address)?;
    let known = matches!(
        index.term,
        Term::Name(_) | Term::Member { .. } | Term::Behind(_)
    );
    known.then(|| index.clone())
}

/// The whole of which an index is taken off, `all` of `all - at`; and what that is held against in
/// `all > most ? most : all - at`.
fn left(
    value: &Expression,
    index: &Expression,
) -> Option<(Expression, Option<(Expression, Span)>)> {
    let value = value.uncast().1;
    match &value.term {
        Term::Binary(whole, operator, by) => {
            let own = operator == "-" && by.uncast().1 == index;
            own.then(|| (whole.uncast().1.clone(), None))
        }
        Term::Choice(asked, Some(yes), no) => {
            let order = Ordered::of(asked.uncast().1)?;
            let (less, more) = (order.less.uncast().1, order.more.uncast().1);
            let sides = [(yes, no), (no, yes)].into_iter();
            let mut sides = sides.filter(|(own, _)| own.uncast().1 == less);
            let (_, rest) = sides.next()?;
            let (whole, none) = left(rest, index)?;
            (none.is_none() && whole == *more).then(|| (whole, Some((less.clone(), asked.span))))
        }
        _ => None,
    }
}

/// The number itself, where it takes what is left in an `if` alone that finds the whole to be less:
/// `if (all < n) n = all - at;`
fn kept(
    function: &FunctionContext<'_>,
    number: &Expression,
    whole: &Expression,
    taken: Span,
) -> Option<(Expression, Span)> {
    let mut found = None;
    function.each_of(&["if_statement"], |node| {
        let then = node.part("consequence").map(span);
        let alone = then.is_some_and(|own| own.contains(taken));
        let condition = node.part("condition").filter(|_| alone && found.is_none());
        let Some(condition) = condition.filter(|_| node.part("alternative").is_none()) else {
            return;
        };
        let asked = function.expression_of(condition);
        let order = Ordered::of(asked.uncast().1);
        let own =
            order.is_some_and(|own| own.less.uncast().1 == whole && own.more.uncast().1 == number);
        found = own.then(|| (number.clone(), span(condition)));
    });
    found
}

/// What a number takes where an `if` before a place finds a whole to be more than that.
fn clamped(
    function: &FunctionContext<'_>,
    name: &str,
    whole: &Expression,
    at: Span,
) -> Option<(Expression, Span)> {
    let mut found = None;
    function.each_of(&["if_statement"], |node| {
        if found.is_some() || node.end_byte() > at.start {
            return;
        }
        found = clamping(function, node, name, whole);
    });
    found
}

fn clamping(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    name: &str,
    whole: &Expression,
) -> Option<(Expression, Span)> {
    let condition = node.part("condition")?;
    let asked = function.expression_of(condition);
    let order = Ordered::of(asked.uncast().1)?;
    let (less, more) = (order.less.uncast().1, order.more.uncast().1);
    (more == whole && less.name().is_none_or(|own| own != name)).then_some(())?;
    let then = span(node.part("consequence")?);
    let mut values = function.graph.assignments();
    let taken = values.any(|(own, value)| {
        let of_it = own == name && then.contains(value);
        let value = function.expression(value).filter(|_| of_it);
        value.is_some_and(|own| own.uncast().1 == less)
    });
    taken.then(|| (less.clone(), span(condition)))
}

/// Whether anything else before a copy holds the number against another, or the whole against the
/// index and something more.
fn is_bounded(
    function: &FunctionContext<'_>,
    number: &Expression,
    (whole, index): (&Expression, &Expression),
    asked: Span,
    at: Span,
) -> bool {
    let mut found = false;
    function.each_of(&["binary_expression"], |node| {
        let place = span(node);
        if found || asked.contains(place) || place.start >= at.start || is_of_loop(node) {
            return;
        }
        let own = function.expression_of(node);
        let Some(order) = Ordered::of(&own) else {
            return;
        };
        let names = |what: &Expression| own.any(&|part| part == what);
        let plain = |side: &Expression| side.is_zero() || side.uncast().1 == index;
        // `at >= all` says that something is left.
        let both = names(whole) && names(index) && !plain(order.less) && !plain(order.more);
        found = names(number) && !order.less.is_zero() && !order.more.is_zero() || both;
    });
    found
}
