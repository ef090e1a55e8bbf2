//! Copies to or from where a position stands, of as many bytes as the whole has of which that counts how
//! many are done.

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::behind_front::{begun, is_asked, is_made_of};
use super::context::{FileContext, FunctionContext};
use super::limit::held_against;
use super::space;

/// So many things that a number is held against are asked for.
const FEW: usize = 4;

/// Such a copy.
pub(crate) struct CountedUp {
    number: Expression,
    /// How many there are from the front on.
    whole: Expression,
    /// How many of them are done.
    index: Expression,
    /// Where the number is held against the whole.
    asked: Span,
}

impl CountedUp {
    /// What is wrong, and what says so.
    pub(crate) fn told(&self, file: &FileContext<'_>) -> (String, Span) {
        let [number, whole, index] =
            [&self.number, &self.whole, &self.index].map(|own| file.plain(own.span));
        let told = format!(
            "{number} may be {whole}, of which {index} bytes are gone: the copy goes on behind the end"
        );
        (told, self.asked)
    }
}

/// `n = min(n, ALL); copy_from_user(front + at, from, n); at += n;` where `at` is held against `ALL`.
pub(crate) fn counted_up(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<CountedUp> {
    let number = access.bytes.as_ref()?.uncast().1;
    let length = number.name()?;
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    let made = value.name().and_then(|name| {
        let own = function.graph.only_value(name)?;
        function.expression(own)
    });
    let (_, index) = begun(made.as_ref().map_or(value, |own| own.uncast().1))?;
    let index = match &index.term {
        Term::Name(_) | Term::Member { .. } => index,
        _ => return None,
    };
    let held = held_against(function, number, access.span);
    let mut held = held.into_iter().take(FEW);
    let (whole, asked) = held.find(|(own, _)| {
        let kept = own.name().is_none_or(|own| is_kept(function, own));
        kept && !own.is_zero() && own != index && is_held_against(function, index, own)
    })?;
    function.pays()?;
    let first = index.name().and_then(|name| {
        let own = function.graph.only_value(name)?;
        function.expression(own)
    });
    let known = is_asked(function, index, length)
        || first.is_some_and(|own| is_asked(function, own.uncast().1, length))
        || is_made_of(function, index, length, access.span);
    (!known && is_so_each_time(function, length, &whole)).then(|| CountedUp {
        number: number.clone(),
        whole,
        index: index.clone(),
        asked,
    })
}

/// Whether a length takes nothing but what is asked for, the whole, and the lesser of the two.
fn is_so_each_time(function: &FunctionContext<'_>, length: &str, whole: &Expression) -> bool {
    let mut values = function.graph.assignments().filter(|own| own.0 == length);
    values.all(|(_, value)| {
        let value = function.expression(value);
        value.is_some_and(|own| {
            let own = own.uncast().1;
            let given = own.name().is_some_and(|name| function.is_parameter(name));
            given || own.any(&|part| part == whole)
        })
    })
}

/// Whether a variable has one value from its front on: `all -= at` leaves what is not done.
fn is_kept(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    match graph.local(name) {
        Some(_) => graph.only_value(name).is_some(),
        None => !graph.takes_a_value(name),
    }
}

/// Whether anything holds a position against the whole, or takes it off that.
fn is_held_against(function: &FunctionContext<'_>, index: &Expression, whole: &Expression) -> bool {
    let Some(root) = index.root().name() else {
        return false;
    };
    let bytes = space::bytes(function, whole);
    let is_whole = |own: &Expression| {
        let own = own.uncast().1;
        own == whole || bytes.is_some() && space::bytes(function, own) == bytes
    };
    let mut found = false;
    function.each_of(&["binary_expression"], |node| {
        let operator = function.context.operator(node);
        let asks = compares(operator) || operator == b"-";
        if found || !asks || !function.graph.names(span(node), root) {
            return;
        }
        let Term::Binary(left, _, right) = &function.expression_of(node).term else {
            return;
        };
        let (left, right) = (left.uncast().1, right.uncast().1);
        found = right == index && is_whole(left)
            || compares(operator) && left == index && is_whole(right);
    });
    found
}
