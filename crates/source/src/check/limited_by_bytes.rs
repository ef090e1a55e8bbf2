//! Numbers of elements of which no more are refused than the array has bytes.

use tree_sitter::Node;

use crate::compared::Ordered;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::space;
use super::unbounded::users_within;

/// Such a refusal.
pub(crate) struct ByBytes {
    /// The comparison.
    pub(crate) asked: Span,
    pub(crate) number: Span,
    pub(crate) array: Span,
    /// How many bytes an element has.
    pub(crate) element: u64,
}

/// So many comparisons with a size are looked at.
const FEW: usize = 16;

/// `if (n > sizeof(x->all)) return -EINVAL;` where `n` says how many of `x->all[i]` there are.
pub(crate) fn limited_by_bytes(function: &FunctionContext<'_>) -> Vec<ByBytes> {
    let mut asked: Vec<Node<'_>> = Vec::new();
    function.each_of(&["binary_expression"], |node| {
        let sized = |part: &str| {
            let own = node.part(part);
            own.is_some_and(|own| own.known_kind() == "sizeof_expression")
        };
        if asked.len() < FEW && (sized("left") || sized("right")) {
            asked.push(node);
        }
    });
    asked
        .into_iter()
        .filter_map(|own| by_bytes(function, own))
        .collect()
}

fn by_bytes(function: &FunctionContext<'_>, node: Node<'_>) -> Option<ByBytes> {
    let whole = function.expression_of(node);
    let order = Ordered::of(&whole)?;
    let (size, number) = (order.less.uncast().1, order.more.uncast().1);
    let Term::SizeOf(array) = &size.term else {
        return None;
    };
    let array = array.uncast().1;
    let place = |own: &Expression| matches!(own.term, Term::Name(_) | Term::Member { .. });
    let told = (place(number) && place(array)).then(|| counts(function, number, array))??;
    space::elements(function, array)?;
    let element = space::element(function, array).filter(|own| *own > 1)?;
    // Of the user's own number what picks the element says more.
    function.pays()?;
    let users = || users_within(function, number, span(node)).is_some();
    (!told || !users()).then_some(())?;
    Some(ByBytes {
        asked: span(node),
        number: number.span,
        array: array.span,
        element,
    })
}

/// Whether who looks at the elements sees which of them a number picks, by itself or as the end of
/// rounds; none where it picks none.
fn counts(function: &FunctionContext<'_>, number: &Expression, array: &Expression) -> Option<bool> {
    let mut indices: Vec<(Expression, bool)> = Vec::new();
    function.each_of(&["subscript_expression"], |node| {
        if let Term::Element { array: own, index } = &function.expression_of(node).term
            && own.uncast().1 == array
        {
            let above = function.above(node).map(|own| own.known_kind());
            let address = above == Some("pointer_expression");
            indices.push((index.uncast().1.clone(), address));
        }
    });
    let goes_up = |index: &Expression| {
        let mut loops = false;
        function.each_of(&["for_statement", "while_statement"], |node| {
            let condition = node.part("condition").filter(|_| !loops);
            let asked = condition.map(|own| function.expression_of(own));
            loops |= asked.is_some_and(|own| {
                let order = Ordered::of(own.uncast().1);
                order.is_some_and(|own| {
                    own.less.uncast().1 == index && own.more.uncast().1 == number
                })
            });
        });
        loops
    };
    let picks = |own: &Expression| own == number || goes_up(own);
    let mut picking = indices.iter().filter(|(own, _)| picks(own)).peekable();
    picking.peek()?;
    let own = number
        .root()
        .name()
        .is_none_or(|own| !function.is_parameter(own));
    Some(picking.any(|(index, address)| index == number || own && !address))
}
