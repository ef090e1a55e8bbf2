//! Copies that begin somewhere in a block of so many bytes, of as many bytes as the block has.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::behind_front::begun;
use super::context::{FileContext, FunctionContext};
use super::space;

/// Such a copy.
pub(crate) struct RestOfPage {
    /// How many bytes.
    number: Expression,
    /// How far behind the front of a block it begins, and where that is said.
    index: Expression,
    made: Span,
}

impl RestOfPage {
    /// What is wrong, and what says so.
    pub(crate) fn told(&self, file: &FileContext<'_>) -> (String, Span) {
        let [number, index] = [&self.number, &self.index].map(|own| file.plain(own.span));
        let told = format!(
            "{number} bytes are copied from {index} on, which is where in {number} bytes the copy begins: no \
             more than what is left of them is there"
        );
        (told, self.made)
    }
}

/// `at = pos % SIZE; copy_to_user(to, block + at, SIZE)`
pub(crate) fn rest_of_page(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<RestOfPage> {
    let value = function.expression_of(access.value_node);
    of_block(function, access.bytes.as_ref()?, [value.uncast().1])
}

/// The same of a call that copies something of the kernel's: `memcpy(to + at, block + at, SIZE)`.
pub(crate) fn rest_moved(
    function: &FunctionContext<'_>,
    call: Node<'_>,
) -> Option<(RestOfPage, Span)> {
    let fills = function.file.words.fills(function.callee(call)?)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let (at, others) = (fills.count?, given.iter().map(|own| own.uncast().1));
    let own = of_block(function, given.get(at)?, others)?;
    Some((own, span(call)))
}

fn of_block<'e>(
    function: &FunctionContext<'_>,
    number: &Expression,
    addresses: impl IntoIterator<Item = &'e Expression>,
) -> Option<RestOfPage> {
    let number = number.uncast().1;
    let indices = addresses.into_iter().filter_map(|own| Some(begun(own)?.1));
    let mut found = indices.filter_map(|index| {
        let value = match index.name() {
            Some(name) => (*function.expression(function.graph.only_value(name)?)?).clone(),
            None => index.clone(),
        };
        let block = block(value.uncast().1)?;
        is_same(function, block, number).then(|| RestOfPage {
            number: number.clone(),
            index: index.clone(),
            made: value.span,
        })
    });
    found.next()
}

/// What a place is in: `N` of `pos % N`, `pos & (N - 1)`.
fn block(place: &Expression) -> Option<&Expression> {
    let Term::Binary(_, operator, by) = &place.term else {
        return None;
    };
    let by = by.uncast().1;
    match (operator.as_str(), &by.term) {
        ("%", _) => Some(by),
        ("&", Term::Binary(all, less, one)) if less == "-" => {
            matches!(&one.uncast().1.term, Term::Number(one) if one == "1").then(|| all.uncast().1)
        }
        _ => None,
    }
}

fn is_same(function: &FunctionContext<'_>, one: &Expression, other: &Expression) -> bool {
    let bytes = space::bytes(function, one);
    one == other || bytes.is_some_and(|own| own > 1) && bytes == space::bytes(function, other)
}
