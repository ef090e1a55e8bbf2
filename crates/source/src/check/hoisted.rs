//! Copies in a loop of as many bytes as were bounded for its first round.

use std::rc::Rc;

use tree_sitter::Node;

use crate::compared::{Ordered, compares, orders};
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::node::{LOOPS, Parts as _};
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::context::{FileContext, FunctionContext};
use super::narrowed::lesser;

/// Such a number of bytes.
pub(crate) struct Hoisted {
    pub(crate) number: Expression,
    /// What is left, or all there is, by which it was bounded.
    pub(crate) rest: Expression,
    /// Where.
    pub(crate) made: Span,
}

impl Hoisted {
    /// What is wrong, and what says so.
    pub(crate) fn told(&self, file: &FileContext<'_>) -> (String, Span) {
        let [number, rest] = [&self.number, &self.rest].map(|own| file.plain(own.span));
        let told = format!(
            "{number} was bounded by {rest} before the loop, and each round copies as much: in the last one \
             there may be less"
        );
        (told, self.made)
    }
}

/// `n = min(left, ROOM); while (left) { copy_from_user(buf, u, n); left -= n; }`: nothing says that the
/// last round has as many left.
pub(crate) fn hoisted(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Hoisted> {
    let number = access.bytes.as_ref()?.uncast().1;
    let name = number.name()?;
    let mut around = function.around(access.node);
    let round = around.find(|own| LOOPS.contains(&own.known_kind()))?;
    let place = span(round);
    let kept = !function
        .graph
        .effects_in(place)
        .any(|own| sets(function, own, name));
    kept.then_some(())?;
    let ends = ends(function, round);
    let (rest, made) = bounds(function, name, place)
        .into_iter()
        .find(|(rest, _)| {
            ends.iter()
                .any(|own| goes_on(function, round, own, rest, name))
        })?;
    (!is_asked(function, round, name)).then(|| Hoisted {
        number: number.clone(),
        rest,
        made,
    })
}

fn sets(function: &FunctionContext<'_>, own: &Effect, name: &str) -> bool {
    let sets = match &own.kind {
        EffectKind::Write(_) | EffectKind::Address => true,
        EffectKind::Handed { by_address } => *by_address,
        EffectKind::Read => false,
    };
    sets && function.graph.name_of(own) == name
}

/// The variables of which a number is the lesser one, and of something else, where it comes to a place.
fn bounds(function: &FunctionContext<'_>, name: &str, place: Span) -> Vec<(Expression, Span)> {
    let words = function.file.words;
    let values = function.graph.assignments();
    let values = values.filter(|(own, value)| *own == name && value.end <= place.start);
    let mut found = Vec::new();
    for (_, at) in values {
        let Some(value) = function.expression(at) else {
            continue;
        };
        let value = value.uncast().1;
        let call = value.call().filter(|(callee, _)| words.gives_least(callee));
        let sides = lesser(value)
            .into_iter()
            .flat_map(|(own, other)| [own, other]);
        let given = call.into_iter().flat_map(|(_, given)| given);
        let own = given.chain(sides).map(|own| own.uncast().1);
        found.extend(
            own.filter(|own| matches!(own.term, Term::Name(_) | Term::Member { .. }))
                .map(|own| (own.clone(), at)),
        );
        found.extend(clamped(function, name, value, at));
    }
    found
}

/// `n = ROOM; if (n > left) n = left;`, and the other way round.
fn clamped(
    function: &FunctionContext<'_>,
    name: &str,
    value: &Expression,
    at: Span,
) -> Option<(Expression, Span)> {
    let values: Vec<Span> = function
        .graph
        .assignments()
        .filter(|(own, _)| *own == name)
        .map(|(_, value)| value)
        .collect();
    let [first, second] = values.as_slice() else {
        return None;
    };
    let node = function
        .root
        .descendant_for_byte_range(second.start, second.end)?;
    let mut around = std::iter::successors(Some(node), |own| function.above(*own));
    let holder = around.find(|own| own.known_kind() == "if_statement")?;
    let asked = function.expression_of(holder.part("condition")?);
    let order = Ordered::of(asked.uncast().1)?;
    let own = *first == at && order.more.uncast().1.name() == Some(name);
    let taken = function.expression(*second).filter(|_| own)?;
    let bound = taken.uncast().1;
    (order.less.uncast().1 == bound).then_some(())?;
    let mut sides = [bound, value].into_iter();
    let rest = sides.find(|own| {
        own.name()
            .is_some_and(|own| function.local_at(own, at).is_some() || function.is_parameter(own))
    })?;
    Some((rest.clone(), asked.span))
}

/// What a loop asks at its end, or before it is left in the middle: `while (left)`, `if (!left) break;`
fn ends(function: &FunctionContext<'_>, round: Node<'_>) -> Vec<Rc<Expression>> {
    let condition = round.part("condition");
    let mut found: Vec<Rc<Expression>> = condition
        .map(|own| function.expression_of(own))
        .into_iter()
        .collect();
    function.each_of(&["break_statement"], |node| {
        let mut around = function.around(node);
        let inside = span(round).contains(span(node));
        let holder = around.find(|own| own.known_kind() != "compound_statement");
        let asks = holder.filter(|own| inside && own.known_kind() == "if_statement");
        let condition = asks.and_then(|own| own.part("condition"));
        found.extend(condition.map(|own| function.expression_of(own)));
    });
    found
}

/// Whether a loop goes on while there is a rest, and each round takes the number off it; or until
/// as much is done, and each round adds the number to that.
fn goes_on(
    function: &FunctionContext<'_>,
    round: Node<'_>,
    asked: &Expression,
    rest: &Expression,
    name: &str,
) -> bool {
    let asked = asked.uncast().1;
    let done = match &asked.term {
        _ if asked == rest => None,
        Term::Unary(not, of) if not == "!" && of.uncast().1 == rest => None,
        Term::Binary(left, operator, right) => {
            let (left, right) = (left.uncast().1, right.uncast().1);
            let compares = compares(operator);
            match (left == rest, right == rest) {
                (true, _) if right.is_zero() => None,
                (true, _) if compares => Some(right.clone()),
                (_, true) if compares => Some(left.clone()),
                _ => return false,
            }
        }
        _ => return false,
    };
    let (counter, operator) = match &done {
        Some(done) => (done, "+"),
        None => (rest, "-"),
    };
    let mut found = false;
    function.each_of(&["assignment_expression"], |node| {
        if found || !span(round).contains(span(node)) {
            return;
        }
        let own = function.expression_of(node);
        let Term::Assignment(left, by, value) = &own.term else {
            return;
        };
        let names = |own: &Expression| own.any(&|part| part.name() == Some(name));
        let stepped = match &value.uncast().1.term {
            // `left = left - n`
            Term::Binary(one, by, other) => {
                by == operator && one.uncast().1 == counter && names(other)
            }
            _ => false,
        };
        let counts = by.strip_suffix('=') == Some(operator) && names(value);
        found = left.uncast().1 == counter && (counts || by == "=" && stepped);
    });
    found
}

/// Whether anything in a loop holds the number against another by their order.
fn is_asked(function: &FunctionContext<'_>, round: Node<'_>, name: &str) -> bool {
    let mut found = false;
    function.each_of(&["binary_expression"], |node| {
        let asks = !found && span(round).contains(span(node));
        let asks = asks && orders(function.context.operator(node));
        found |= asks && function.graph.names(span(node), name);
    });
    found
}
