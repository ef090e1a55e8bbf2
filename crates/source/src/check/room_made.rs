//! Memory that is made of as much as a number says which the user gave, and that the structure around that
//! number, fetched behind it, says once more.

use tree_sitter::Node;

use crate::expression::Term;
use crate::node::Parts as _;
use crate::site::span;

use super::context::FunctionContext;
use super::fetch::Fetch;
use super::fetched_part::{Part, field};
use super::refetched::{is_put_over, is_set};

/// Whether memory is made between two fetches of as much as the first gave.
pub(crate) fn makes_room(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> bool {
    let Some(number) = first.value.as_ref() else {
        return false;
    };
    let words = function.file.words;
    let between = |place: usize| first.span.end <= place && place < second.span.start;
    let mut calls = function.calls.iter();
    calls.any(|call| {
        let name = function.callee(*call);
        let known = name.and_then(|name| words.allocates(name));
        let Some(known) = known.filter(|_| between(span(*call).start)) else {
            return false;
        };
        let whole = function.expression_of(*call);
        let given = whole.call().map_or(&[][..], |(_, given)| given);
        let size = (known.object.is_none()).then_some(known.size);
        let mut sizes = size.into_iter().chain(known.count);
        sizes.any(|at| {
            given
                .get(at)
                .is_some_and(|own| own.any(&|part| part == number))
        })
    })
}

/// Whether what the second fetch fills is a variable of the function, and the part of it is used there as it
/// came the second time: by the function, or by whom it is given to in the first's place.
pub(crate) fn is_of_its_own(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    part: &Part,
) -> bool {
    let filled = second.value.as_ref().map(|own| &own.uncast().1.term);
    let (Part::Field(wanted), Some(Term::Address(place))) = (part, filled) else {
        return false;
    };
    place.name() == Some(&second.value_root)
        && (is_put_over(function, first, second) || uses_own(function, first, second, wanted))
}

/// Whether a member of the second copy is read behind it, and nothing sets it there or holds it against what
/// the memory was made of: another limit says nothing of that.
fn uses_own(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    wanted: &str,
) -> bool {
    let apart = first.value_root != second.value_root;
    let beside = |node: Node<'_>| {
        let mut around = function.around(node);
        let holder = around.find(|own| own.is_statement());
        let whole = holder.map(|own| own.part("condition").map_or_else(|| span(own), span));
        whole.is_some_and(|own| function.graph.names(own, &first.value_root))
    };
    let (mut used, mut settled) = (false, false);
    function.each_of(&["field_expression"], |node| {
        let behind = span(node).start >= second.span.end;
        if behind && field(function, node, &second.value_root).as_deref() == Some(wanted) {
            let own = is_set(function, node) || apart && beside(node);
            settled |= own;
            used |= !own;
        }
    });
    used && !settled
}
