//! Loops that go one round further than an array has elements.

use tree_sitter::Node;

use crate::compared::{Ordered, compares};
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::node::{LOOPS, Parts as _};
use crate::site::span;
use crate::span::Span;
use crate::split::Body;

use super::callee::look_into;
use super::context::FunctionContext;

/// Whether another loop of the file goes through the same member, and stops before that:
/// `for (…; i < N; …) d->a[i]`.
pub(crate) fn is_end_elsewhere(
    function: &FunctionContext<'_>,
    array: &Expression,
    last: &Expression,
) -> bool {
    let Term::Member { field, .. } = &array.term else {
        return false;
    };
    let file = function.file;
    let has = |body: &Body| {
        let mut tokens = file.tokens_of(body).iter();
        tokens.any(|own| own.span.of(file.text) == field.as_bytes())
    };
    let mut bodies = file.bodies.iter().filter(|body| has(body));
    bodies.any(|body| {
        let goes = |own: &FunctionContext<'_>| goes_up_to(own, field, last);
        goes(function) == Some(()) || look_into(function, &body.name, goes).is_some()
    })
}

fn goes_up_to(function: &FunctionContext<'_>, field: &str, last: &Expression) -> Option<()> {
    let mut found = None;
    function.each_of(&["subscript_expression"], |node| {
        let own = function.expression_of(node);
        let Term::Element { array, index } = &own.term else {
            return;
        };
        let same =
            matches!(&array.uncast().1.term, Term::Member { field: own, .. } if own == field);
        let stops = || {
            let (condition, _) = around(function, node)?;
            let asked = function.expression_of(condition);
            let order = Ordered::of(&asked).filter(|own| !own.or_equal)?;
            let sides = (order.less.uncast().1, order.more.uncast().1);
            (sides == (index.uncast().1, last)).then_some(())
        };
        found = found.or(same.then(stops).flatten());
    });
    found
}

/// What the next loop that counts asks for, and its rounds.
fn around<'t>(function: &FunctionContext<'t>, node: Node<'t>) -> Option<(Node<'t>, Node<'t>)> {
    let mut around = function.around(node);
    let holder = around.find(|own| own.known_kind() == "for_statement")?;
    let body = holder
        .part("body")
        .filter(|own| span(*own).contains(span(node)))?;
    Some((holder.part("condition")?, body))
}

/// What such a loop goes up to, itself included, and where it says so: `for (…; i <= N; …) a[i]`,
/// where nothing in it asks which round it is.
pub(crate) fn up_to(
    function: &FunctionContext<'_>,
    index: &Expression,
    node: Node<'_>,
) -> Option<(Expression, Span)> {
    let name = index.name()?;
    let (condition, body) = around(function, node)?;
    let asked = function.expression_of(condition);
    let order = Ordered::of(&asked).filter(|own| own.or_equal)?;
    (order.less.uncast().1 == index).then_some(())?;
    let known = asks(function, index, span(body)) || is_set(function, name, span(body));
    (!known).then(|| (order.more.uncast().1.clone(), span(condition)))
}

/// Whether anything in a place holds the number against another.
fn asks(function: &FunctionContext<'_>, index: &Expression, place: Span) -> bool {
    asks_where(function, index, place, |_| true)
}

/// The same, where it may keep the round of that number from coming to a node.
fn bounds(
    function: &FunctionContext<'_>,
    index: &Expression,
    (place, node): (Span, Node<'_>),
) -> bool {
    asks_where(function, index, place, |own| {
        !is_beside(function, own, node)
    })
}

/// Whether an `if` does something more in one round, and leaves it nowhere: `if (i == 0) …;`
fn is_beside(function: &FunctionContext<'_>, asked: Node<'_>, node: Node<'_>) -> bool {
    let mut around = std::iter::successors(Some(asked), Node::parent);
    let holder = around.find(|own| {
        !matches!(
            own.known_kind(),
            "binary_expression" | "parenthesized_expression"
        )
    });
    let Some(holder) = holder.filter(|own| own.known_kind() == "if_statement") else {
        return false;
    };
    let mut leaves = false;
    const JUMPS: [&str; 4] = [
        "break_statement",
        "continue_statement",
        "goto_statement",
        "return_statement",
    ];
    function.each_of(&JUMPS, |own| leaves |= span(holder).contains(span(own)));
    let body = holder
        .part("condition")
        .map_or(holder.start_byte(), |own| own.end_byte());
    !leaves && !Span::new(body, holder.end_byte()).contains(span(node))
}

fn asks_where(
    function: &FunctionContext<'_>,
    index: &Expression,
    place: Span,
    counts: impl Fn(Node<'_>) -> bool,
) -> bool {
    let mut found = false;
    function.each_of(&["binary_expression", "switch_statement"], |node| {
        if found || !place.contains(span(node)) {
            return;
        }
        let asked = match node.known_kind() {
            "switch_statement" => node.part("condition"),
            _ => Some(node).filter(|own| compares(function.context.operator(*own))),
        };
        let names = |own| {
            function
                .expression_of(own)
                .any_but_indices(&|part| part == index)
        };
        found = asked.filter(|own| counts(*own)).is_some_and(names);
    });
    found
}

fn is_set(function: &FunctionContext<'_>, name: &str, place: Span) -> bool {
    let graph = function.graph;
    let mut effects = graph.effects_in(place);
    effects.any(|own| {
        let sets = matches!(own.kind, EffectKind::Write(_) | EffectKind::Address);
        sets && graph.name_of(own) == name
    })
}

/// What such a loop stops at, where it says so, and whether it is a `for`: `for (…; i < n; …) a[i]`, where
/// nothing in it asks which round it is.
pub(crate) fn stops_before(
    function: &FunctionContext<'_>,
    index: &Expression,
    node: Node<'_>,
) -> Option<(Expression, Span)> {
    let name = index.name()?;
    let mut around = function.around(node);
    let holder = around.find(|own| LOOPS.contains(&own.known_kind()))?;
    let body = holder.part("body").map(span);
    let body = body.filter(|own| own.contains(span(node)))?;
    let condition = holder.part("condition")?;
    let asked = function.expression_of(condition);
    let (counter, last) = match &asked.uncast().1.term {
        Term::Binary(left, operator, right) if matches!(operator.as_str(), "<" | "!=") => {
            (left.uncast().1, right.uncast().1)
        }
        _ => return None,
    };
    let place = matches!(last.term, Term::Name(_) | Term::Member { .. });
    (counter == index && place).then_some(())?;
    let known = bounds(function, index, (body, node)) || is_set_anew(function, name, body);
    (!known).then(|| (last.clone(), span(condition)))
}

/// Whether a variable takes another value than the next one in a place.
fn is_set_anew(function: &FunctionContext<'_>, name: &str, place: Span) -> bool {
    let graph = function.graph;
    let mut effects = graph.effects_in(place);
    effects.any(|own| {
        let sets = match &own.kind {
            EffectKind::Write(write) => !write.next,
            EffectKind::Address => true,
            _ => false,
        };
        sets && graph.name_of(own) == name
    })
}
