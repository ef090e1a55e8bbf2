//! Numbers that only have to be as large as what is there: room for all of it is no bound of
//! what is copied.

use tree_sitter::Node;

use crate::compared::Ordered;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;
use super::limit::changed;
use super::{bounded, space};

/// A number of which only the least is asked.
pub(crate) struct OnlyLeast {
    /// It, and what there is.
    pub(crate) number: String,
    pub(crate) least: String,
    /// The comparison.
    pub(crate) asked: Span,
}

/// The number of elements or bytes that a copy has, where the function only asks whether it is as
/// large as another one which says how many there are: `if (n >= d->many)` and `n` of `d->all`.
pub(crate) fn only_least(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<OnlyLeast> {
    let bytes = access.bytes.as_ref()?;
    let number = factor(function, bytes.uncast().1)?;
    let root = number.root().name()?;
    let value = function.expression_of(access.value_node);
    let Term::Member { holder, .. } = &value.uncast().1.term else {
        return None;
    };
    let guards = guards(function, access.node).into_iter();
    let (asked, least) = guards
        .filter_map(|own| at_least(function, own, number))
        .next()
        .or_else(|| refused_below(function, number, access.span))?;
    let beside = matches!(&least.term, Term::Member { holder: own, .. } if own == holder);
    let bounded = !beside
        || *number == least
        || changed(function, number, asked, access.span)
        || function.graph.takes_a_value(root) && number.name().is_some()
        || bounded::is_compared_before(function, number, asked, access.span);
    (!bounded).then(|| OnlyLeast {
        number: function.file.plain(number.span),
        least: function.file.plain(least.span),
        asked,
    })
}

/// The number of which a size is made with a constant: `n`, `sizeof(u32) * n`.
fn factor<'e>(function: &FunctionContext<'_>, size: &'e Expression) -> Option<&'e Expression> {
    match &size.term {
        Term::Name(_) | Term::Member { .. } => Some(size),
        Term::Binary(left, operator, right) if operator == "*" => {
            let constant = |own: &Expression| {
                matches!(own.term, Term::SizeOf(_) | Term::SizeOfType(_))
                    || space::bytes(function, own).is_some()
            };
            let (left, right) = (left.uncast().1, right.uncast().1);
            let (number, by) = match constant(left) {
                true => (right, left),
                false => (left, right),
            };
            let place = matches!(number.term, Term::Name(_) | Term::Member { .. });
            (place && constant(by)).then_some(number)
        }
        _ => None,
    }
}

/// The conditions of which all hold where a call is done: what an `if` around it asks.
pub(crate) fn guards<'t>(function: &FunctionContext<'t>, call: Node<'t>) -> Vec<Node<'t>> {
    let around = function.around(call);
    let asking = around.filter(|own| {
        let then = own.part("consequence");
        own.known_kind() == "if_statement"
            && then.is_some_and(|then| span(then).contains(span(call)))
    });
    let mut found: Vec<Node<'t>> = Vec::new();
    let mut work: Vec<Node<'t>> = asking.filter_map(|own| own.part("condition")).collect();
    // What stands before `&&` holds where what stands behind it is done.
    let joins = function.around(call).filter(|own| {
        let right = own.part("right");
        function.context.operator(*own) == b"&&"
            && right.is_some_and(|right| span(right).contains(span(call)))
    });
    work.extend(joins.filter_map(|own| own.part("left")));
    while let Some(own) = work.pop() {
        match own.known_kind() {
            "parenthesized_expression" => work.extend(own.named_child(0)),
            "binary_expression" if function.context.operator(own) == b"&&" => {
                work.extend(
                    ["left", "right"]
                        .into_iter()
                        .filter_map(|side| own.part(side)),
                );
            }
            _ => found.push(own),
        }
    }
    found
}

/// What a function refuses less than, on every way to a copy: `if (n < d->many) return -ENOSPC;`
fn refused_below(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> Option<(Span, Expression)> {
    let root = number.root().name()?;
    let mut found = None;
    function.each_of(&["binary_expression"], |node| {
        let asked = found.is_none() && node.end_byte() <= at.start;
        if !asked || !function.graph.names(span(node), root) {
            return;
        }
        let less = bounded::refuses_less(function, node, |own| own == number);
        let own = function.expression_of(node);
        if let Term::Binary(left, _, right) = &own.term
            && less
        {
            let other = match left.uncast().1 == number {
                true => right,
                false => left,
            };
            found = Some((span(node), other.uncast().1.clone()));
        }
    });
    found.filter(|(place, _)| function.graph.passes(&[*place], at))
}

/// What a condition says that a number is at least.
pub(crate) fn at_least(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    number: &Expression,
) -> Option<(Span, Expression)> {
    let own = function.expression_of(node);
    let asked = Ordered::of(&own).filter(|own| own.more.uncast().1 == number)?;
    Some((span(node), asked.less.uncast().1.clone()))
}
