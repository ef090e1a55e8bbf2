//! What a function asks of a number.

use tree_sitter::Node;

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;

/// What holds a condition.
const ASKING: [&str; 7] = [
    "if_statement",
    "while_statement",
    "do_statement",
    "for_statement",
    "conditional_expression",
    "switch_statement",
    "binary_expression",
];

/// Whether nothing but how much it may be is asked of a number anywhere in the function: it
/// may be as little as anything. What is not understood asks for more.
pub(crate) fn may_be_least(function: &FunctionContext<'_>, number: &Expression) -> bool {
    let Some(root) = number.root().name() else {
        return false;
    };
    let mut more = false;
    function.each_of(&ASKING, |node| {
        if more || !function.graph.names(span(node), root) {
            return;
        }
        let asked = match node.known_kind() {
            "binary_expression" if !is_comparison(function, node) => None,
            "binary_expression" => Some(node),
            _ => node.part("condition"),
        };
        let asked = asked.map(|asked| function.expression_of(asked));
        more = asked.is_some_and(|asked| asks_more(function, &asked, number));
    });
    !more
}

/// Whether no condition names a number, nor any comparison.
pub(crate) fn is_never_asked(function: &FunctionContext<'_>, number: &Expression) -> bool {
    let Some(root) = number.root().name() else {
        return false;
    };
    let mut asked = false;
    function.each_of(&ASKING, |node| {
        if asked || !function.graph.names(span(node), root) {
            return;
        }
        let place = match node.known_kind() {
            "binary_expression" => Some(node).filter(|own| is_comparison(function, *own)),
            _ => node.part("condition"),
        };
        // `i < d->counts[n]` asks nothing of n.
        let names = |own| {
            let own = function.expression_of(own);
            own.any_but_indices(&|part| part == number)
        };
        asked = place.is_some_and(names);
    });
    !asked
}

/// Whether a place stands where a condition decides whether it is come to: `n ? a / n : 0`.
pub(crate) fn is_chosen(function: &FunctionContext<'_>, at: Span, number: &Expression) -> bool {
    let node = function.root.descendant_for_byte_range(at.start, at.end);
    let mut around = std::iter::successors(node, Node::parent);
    around.any(|own| {
        let joins = own.known_kind() == "binary_expression"
            && matches!(function.context.operator(own), b"&&" | b"||");
        joins && function.expression_of(own).any(&|part| part == number)
    })
}

fn is_comparison(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    compares(function.context.operator(node))
}

/// Whether a condition asks a number for anything but whether it is more than something.
fn asks_more(function: &FunctionContext<'_>, asked: &Expression, number: &Expression) -> bool {
    // `p[n - 1] == '\n'` asks nothing of n.
    let names = |own: &Expression| own.any_but_indices(&|part| part == number);
    let each = |own: &Expression| asks_more(function, own, number);
    match &asked.term {
        Term::Binary(left, operator, right) => match operator.as_str() {
            "&&" | "||" => each(left) || each(right),
            ">" | ">=" => names(right) || right.is_zero() && names(left),
            "<" | "<=" => names(left) || left.is_zero() && names(right),
            "==" | "!=" if right.is_null() => each(left),
            _ => names(asked),
        },
        Term::Unary(not, own) if not == "!" => each(own),
        Term::Assignment(_, _, own) => each(own),
        // A copy of so many bytes does not say whether there are any.
        Term::Call(..) => {
            let known = asked.call().is_some_and(|(name, _)| {
                let words = function.file.words;
                words.access(name).is_some() || words.allocates(name).is_some()
            });
            !known && names(asked)
        }
        _ => names(asked),
    }
}
