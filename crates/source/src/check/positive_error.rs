//! Error numbers that a function gives without their sign: its caller takes them for no error.

use tree_sitter::Node;

use crate::flow::{Action, EffectKind};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::{fallible, gives_errors};
use crate::lex::TokenKind;

/// What tells of a fault, and by what else one is told.
const FAULT: &str = "EFAULT";
const OTHERS: [&str; 6] = ["EIO", "EINVAL", "EPERM", "EACCES", "ENXIO", "EAGAIN"];

/// An error number that is given as it is.
pub(crate) struct Positive {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where it stands.
    pub(crate) at: Span,
}

/// All of a function: of what is no fault's own name only what is given where an access is asked.
pub(crate) fn positive_errors(function: &FunctionContext<'_>) -> Vec<Positive> {
    let faults = of_name(function, FAULT).collect::<Vec<_>>();
    let others = OTHERS.iter().flat_map(|name| of_name(function, name));
    let others = others.filter(|own| is_asked(function, own.at));
    let mut found: Vec<Positive> = faults.into_iter().chain(others).collect();
    // Last what takes longest.
    if !found.is_empty() && !is_told_from_others(function) {
        found.clear();
    }
    found
}

fn of_name(function: &FunctionContext<'_>, name: &'static str) -> impl Iterator<Item = Positive> {
    let given = function
        .mentions(name)
        .filter(|node| is_given(function, *node));
    given.map(move |node| Positive {
        name,
        at: span(node),
    })
}

/// Whether the value is what the function gives: `return EFAULT`, `return a ? EFAULT : 0`, or what a
/// variable takes that a `return` gives as it is.
fn is_given(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut own = node;
    loop {
        let Some(parent) = function.above(own) else {
            return false;
        };
        let is_part = |name: &str| parent.part(name) == Some(own);
        match parent.known_kind() {
            "parenthesized_expression" => {}
            "conditional_expression" if !is_part("condition") => {}
            "return_statement" => return true,
            "assignment_expression" if is_part("right") => {
                let plain = function.context.operator(parent) == b"=";
                return plain && is_returned(function, span(parent));
            }
            "init_declarator" if is_part("value") => return is_returned(function, span(parent)),
            _ => return false,
        }
        own = parent;
    }
}

/// Whether what is written there is what some way out gives as it is.
fn is_returned(function: &FunctionContext<'_>, write: Span) -> bool {
    let graph = function.graph;
    let written = |at: usize| {
        let mut effects = graph.effects_of(at).iter();
        let own =
            effects.find(|own| matches!(own.kind, EffectKind::Write(_)) && own.span == write)?;
        let local = graph.places.as_local(own.place)?;
        let plain = graph.locals.get(local).is_some_and(|own| own.plain);
        plain.then_some((at, own.place))
    };
    (0..graph.nodes.len())
        .filter_map(written)
        .any(|(at, place)| {
            let again = |node: &crate::flow::Node| {
                let mut effects = graph.effects_at(node).iter();
                effects.any(|own| own.place == place && matches!(own.kind, EffectKind::Write(_)))
            };
            let on = graph.reached_behind(at, again).into_iter();
            let mut on = on.chain([at]);
            on.any(|at| match graph.nodes.get(at).map(|own| &own.action) {
                Some(Action::Exit { returned, .. }) => *returned == Some(place),
                _ => false,
            })
        })
}

/// Whether the `if` or the `?:` around a place asks for the result of an access.
fn is_asked(function: &FunctionContext<'_>, at: Span) -> bool {
    let node = function.root.descendant_for_byte_range(at.start, at.end);
    let mut around = node.into_iter().flat_map(|node| function.around(node));
    let asked = around.find_map(|own| own.part("condition"));
    asked.is_some_and(|asked| fallible(function).any(|call| span(asked).contains(call.span)))
}

/// Whether whoever is given it takes what is below 0 for an error, and nothing else: a program, or a
/// caller that other error numbers are given to with their sign; not one that puts it before all.
fn is_told_from_others(function: &FunctionContext<'_>) -> bool {
    let file = function.file;
    if gives_errors(function) || file.answers_a_program(function.body) {
        return true;
    }
    let mut callers = file.callers(function.body).peekable();
    let puts = |body| {
        let tokens = file.tokens_of(body);
        tokens.windows(2).any(|two| match two {
            [sign, word] => {
                let plain = word.kind == TokenKind::Word
                    && word.span.of(file.text).iter().any(u8::is_ascii_lowercase);
                sign.is(b'-') && plain
            }
            _ => false,
        })
    };
    let known = callers.peek().is_some() && file.is_declared(function.body, b"static");
    known && !callers.any(puts)
}
