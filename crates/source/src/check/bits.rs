//! Bits of a map that a call picks by their number: `set_bit(n, d->map)`.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

use super::context::FunctionContext;
use super::limit::Limit;
use super::space;

/// A bit that a call picks.
pub(crate) struct Bit {
    /// Which one, from 0.
    pub(crate) number: Expression,
    /// What it is one of.
    pub(crate) map: Expression,
    /// The call.
    pub(crate) at: Span,
}

/// The bit that a call picks by a variable or a member.
pub(crate) fn picked(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Bit> {
    let name = function.callee(call)?;
    let picks = function.file.words.results().picks_bit(name)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let number = given.get(picks.number)?.uncast().1;
    matches!(number.term, Term::Name(_) | Term::Member { .. }).then_some(())?;
    let map = given.get(picks.map)?.uncast().1;
    Some(Bit {
        number: number.clone(),
        map: match &map.term {
            Term::Address(place) => (**place).clone(),
            _ => map.clone(),
        },
        at: span(call),
    })
}

impl Bit {
    /// How many bits there are: those of an array of more than one word, or of a word by itself.
    pub(crate) fn many(&self, function: &FunctionContext<'_>) -> Option<u64> {
        let word = || {
            let of = space::type_of(function, &self.map)?;
            matches!(of.shape, Shape::Scalar { .. }).then_some(of.size)
        };
        let bytes = space::array_bytes(function, &self.map).or_else(word)?;
        bytes.checked_mul(8)
    }

    /// Whether the map was made with as many bits as a limit says that the number may be.
    pub(crate) fn is_made_with(&self, function: &FunctionContext<'_>, limit: &Limit) -> bool {
        let made = || {
            let value = function.graph.only_value(self.map.name()?)?;
            let value = function.expression(value)?;
            let (maker, given) = value.uncast().1.call()?;
            let many = function.file.words.results().makes_bits(maker)?;
            Some(given.get(many)?.uncast().1.clone())
        };
        limit.included && made().is_some_and(|many| many == *limit.other.uncast().1)
    }

    /// Whether each number of its type is one of a map that nobody has made smaller.
    pub(crate) fn is_small(&self, function: &FunctionContext<'_>) -> bool {
        space::type_of(function, &self.number).is_none_or(|of| of.size == 1)
    }
}
