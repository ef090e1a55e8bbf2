//! Elements that a first loop, or one copy of all of them, has fetched to be judged, and that a later
//! loop fetches one by one once more.

use std::rc::Rc;

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, Write};
use crate::node::{LOOPS, Parts as _};
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::fetch::Fetch;
use super::refetched::conditions;

/// Whether the second fetch goes in a loop of its own over what the first one fetched before that:
/// all of it, or in each round of another loop.
pub(crate) fn goes_over_again(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> bool {
    let (own, Some(later)) = (first.span, loop_around(function, second.node)) else {
        return false;
    };
    if later.contains(own) || first.user_root != second.user_root || first.parsed || second.parsed {
        return false;
    }
    let Some(of) = Element::of(&second.address).filter(|of| of.moves_in(function, later)) else {
        return false;
    };
    // What lies a few bytes from the front need not be what that is an array of.
    let whole = || of.picked && first.counted && first.address == *of.array && of.member.is_none();
    if of.moves_between(function, first.span, second.span) {
        return false;
    }
    let Some(before) = Element::of(&first.address) else {
        return whole();
    };
    let each = || {
        loop_around(function, first.node).is_some_and(|earlier| {
            !earlier.contains(second.span) && before.moves_in(function, earlier)
        })
    };
    // One member of it, or the whole in which that lies.
    let same = of.member.is_none() || of.member == before.member;
    // Both loops begin with the same one: neither goes on where the other ended.
    let begins = |own: &Element<'_>, from: usize, fetch: &Fetch<'_>| {
        own.begins_with(function, Span::new(from, fetch.span.start))
    };
    let from = match before.number == of.number {
        true => first.span.end,
        false => 0,
    };
    let alike = || {
        let one = begins(&before, 0, first);
        one.is_some() && one == begins(&of, from, second)
    };
    before.array == of.array && same && each() && alike()
}

/// Whether a condition between the two asks for something that lies in the first copy: that there is one
/// says nothing of it.
pub(crate) fn is_asked_inside(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> bool {
    let conditions = conditions(function, first, second);
    let mut found = false;
    function.each_of(&["field_expression", "subscript_expression"], |node| {
        let place = span(node);
        let behind = place.start >= first.span.end;
        let asked = behind && conditions.iter().any(|own| own.contains(place));
        found |= asked && function.expression_of(node).root().name() == Some(&first.value_root);
    });
    found
}

/// An element whose number a variable says, and the member of it that is meant.
struct Element<'e> {
    array: &'e Expression,
    number: &'e str,
    member: Option<&'e str>,
    /// Whether it is an element by its number, and not an address that is moved by it.
    picked: bool,
}

impl<'e> Element<'e> {
    /// `&array[i]`, `array + i`, `&array[i].member`
    fn of(address: &'e Expression) -> Option<Self> {
        let of = |array: &'e Expression, number: &'e Expression, member: Option<&'e str>| {
            Some(Self {
                array: array.uncast().1,
                number: number.uncast().1.name()?,
                member,
                picked: !matches!(address.uncast().1.term, Term::Binary(..)),
            })
        };
        match &address.uncast().1.term {
            Term::Binary(array, operator, number) if operator == "+" => of(array, number, None),
            Term::Address(place) => match &place.term {
                Term::Element { array, index } => of(array, index, None),
                Term::Member { holder, field, .. } => match &holder.term {
                    Term::Element { array, index } => of(array, index, Some(field)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a loop goes from one element to the next, and leaves the array where it is.
    fn moves_in(&self, function: &FunctionContext<'_>, around: Span) -> bool {
        let root = self.array.root().name();
        let mut number = writes(function, self.number, around);
        number.next().is_some()
            && root.is_some_and(|root| writes(function, root, around).next().is_none())
    }

    /// Whether the array is another one behind the first place.
    fn moves_between(&self, function: &FunctionContext<'_>, first: Span, second: Span) -> bool {
        let place = Span::new(first.start, second.end);
        let root = self.array.root().name();
        root.is_none_or(|root| writes(function, root, place).next().is_some())
    }

    /// The last value that the number takes in a place, and that is no next one.
    fn begins_with(&self, function: &FunctionContext<'_>, place: Span) -> Option<Rc<Expression>> {
        let all = writes(function, self.number, place);
        let own = all.filter(|own| !own.next && !own.compound);
        function.expression(own.filter_map(|own| own.value).last()?)
    }
}

/// Where a variable takes a value in a place.
fn writes<'f>(
    function: &'f FunctionContext<'_>,
    name: &'f str,
    place: Span,
) -> impl Iterator<Item = &'f Write> {
    let graph = function.graph;
    let own = move |own: &&Effect| graph.name_of(own) == name && graph.is_whole(own);
    graph
        .effects_in(place)
        .filter(own)
        .filter_map(|own| match &own.kind {
            EffectKind::Write(write) => Some(write),
            _ => None,
        })
}

/// The innermost loop around a node.
pub(crate) fn loop_around(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Span> {
    let mut around = function.around(node);
    around
        .find(|own| LOOPS.contains(&own.known_kind()))
        .map(span)
}
