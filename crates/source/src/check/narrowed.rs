//! Where a number is bounded, and where it is not for all that.

use tree_sitter::Node;

use crate::compared::Ordered;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;

/// Where a variable takes the lesser of what it is and something else.
pub(crate) fn narrowing(
    function: &FunctionContext<'_>,
    name: &str,
    effects: &[&Effect],
) -> Vec<Span> {
    let narrows = |value: Span| {
        let value = function.expression(value);
        value.is_some_and(|value| {
            if lesser(&value).is_some_and(|(own, _)| own.name() == Some(name)) {
                return true;
            }
            let call = value.uncast().1.call();
            call.is_some_and(|(callee, given)| {
                let mut given = given.iter().map(|own| own.uncast().1.name());
                function.file.words.lessens(callee) && given.any(|own| own == Some(name))
            })
        })
    };
    let own = effects.iter().filter(|own| match &own.kind {
        EffectKind::Write(write) => write.value.is_some_and(narrows),
        _ => false,
    });
    own.map(|own| own.span).collect()
}

/// The number and its bound of which a choice is the lesser: `n > N ? N : n`, `n < N ? n : N`.
pub(crate) fn lesser(own: &Expression) -> Option<(&Expression, &Expression)> {
    let Term::Choice(asked, Some(yes), no) = &own.uncast().1.term else {
        return None;
    };
    let asked = asked.uncast().1;
    let Term::Binary(left, _, right) = &asked.term else {
        return None;
    };
    let order = Ordered::of(asked)?;
    let [left, right] = [left, right].map(|own| own.uncast().1);
    // Which of the two is the number is for whoever knows the other one's value.
    let turned = matches!(left.term, Term::Number(_) | Term::SizeOf(_));
    let (own, bound) = if turned { (right, left) } else { (left, right) };
    let lesser = yes.uncast().1 == order.less.uncast().1 && no.uncast().1 == order.more.uncast().1;
    lesser.then_some((own, bound))
}

/// Whether a variable has taken such a lesser value wherever it comes to a place.
pub(crate) fn is_narrowed(function: &FunctionContext<'_>, narrowing: &[Span], at: Span) -> bool {
    let awaited = || narrowing.iter().any(|own| is_awaited(function, *own));
    !narrowing.is_empty() && (function.graph.passes(narrowing, at) || awaited())
}

/// What a variable takes that is its own value again where that is in bounds:
/// `n = array_index_nospec(n, N)`.
pub(crate) fn repeated(function: &FunctionContext<'_>, name: &str) -> Vec<Span> {
    let values = function.graph.assignments().filter(|(own, _)| *own == name);
    let same = values.filter(|(_, value)| {
        let value = function.expression(*value);
        value.is_some_and(|value| {
            let call = value.uncast().1.call();
            let own = call.and_then(|(callee, given)| {
                given
                    .get(function.file.words.gives_same(callee)?)?
                    .uncast()
                    .1
                    .name()
            });
            own == Some(name)
        })
    });
    same.map(|(_, value)| value).collect()
}

/// Whether an effect is of one of those.
pub(crate) fn is_repeated(effect: &Effect, repeated: &[Span]) -> bool {
    let taken = match &effect.kind {
        EffectKind::Write(write) => write.value,
        _ => None,
    };
    let mut own = repeated.iter();
    own.any(|value| taken == Some(*value) || value.contains(effect.span))
}

/// Whether a place is done only where something holds for which a loop of the function waits:
/// `while (!c) schedule();` and `if (c)`.
fn is_awaited(function: &FunctionContext<'_>, place: Span) -> bool {
    let node = function
        .root
        .descendant_for_byte_range(place.start, place.end);
    let around = std::iter::successors(node, |own| function.above(*own));
    let asked: Vec<_> = around
        .filter(|own| own.known_kind() == "if_statement")
        .filter_map(|own| own.part("condition"))
        .map(|own| function.expression_of(own))
        .collect();
    let mut awaited = false;
    function.each_of(&["while_statement"], |node| {
        let waits = node
            .part("condition")
            .map(|own| function.expression_of(own));
        awaited |= waits.is_some_and(|own| match &own.term {
            Term::Unary(not, inner) if not == "!" => asked.iter().any(|one| **one == **inner),
            _ => false,
        });
    });
    awaited
}

/// Whether a place is done where no case of a switch holds: any other number comes there.
pub(crate) fn is_of_default(switch: Node<'_>, at: Span) -> bool {
    let Some(body) = switch.part("body") else {
        return false;
    };
    let mut cursor = body.walk();
    let mut cases = body.named_children(&mut cursor);
    let default =
        |own: &Node<'_>| own.known_kind() == "case_statement" && own.part("value").is_none();
    cases.any(|own| default(&own) && span(own).contains(at))
}

/// What is done where a condition holds, of those that are asked one after the other.
pub(crate) fn refused<'t>(node: Node<'t>) -> Option<Node<'t>> {
    let mut own = node;
    loop {
        let parent = own.parent()?;
        match parent.known_kind() {
            "parenthesized_expression" => {}
            "binary_expression"
                if parent
                    .part("operator")
                    .is_some_and(|of| of.known_kind() == "||") => {}
            "if_statement" => {
                let asked = parent.part("condition") == Some(own);
                return parent.part("consequence").filter(|_| asked);
            }
            _ => return None,
        }
        own = parent;
    }
}

/// Whether an expression is the variable, or a part of the number that a program gives to
/// ioctl() in it: `_IOC_SIZE(cmd)`.
pub(crate) fn is_of(function: &FunctionContext<'_>, own: &Expression, name: &str) -> bool {
    let part = own
        .call()
        .filter(|(callee, _)| function.file.words.gives_users(callee));
    let of = part.and_then(|(_, given)| given.first());
    own.name() == Some(name) || of.is_some_and(|of| of.uncast().1.name() == Some(name))
}
