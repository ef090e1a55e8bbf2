//! Error numbers that a function gives as a truth.

use crate::expression::Expression;
use crate::lex::Token;
use crate::span::Span;

use super::carried::given;
use super::context::FunctionContext;
use super::fate::is_error;

/// What a function that gives a bool returns, and is an error number: any but 0 is true.
pub(crate) fn as_truths(function: &FunctionContext<'_>) -> Vec<Span> {
    if !gives_truth(function) {
        return Vec::new();
    }
    let returned = function.graph.statements.iter().filter_map(given);
    let errors = returned.filter_map(|value| Some((value, function.expression(value)?)));
    let errors = errors.filter(|(_, own)| may_be_error(function, own.uncast().1));
    errors.map(|(value, _)| value).collect()
}

/// Whether it is declared to give a bool, and no pointer to one.
fn gives_truth(function: &FunctionContext<'_>) -> bool {
    let (file, body) = (function.file, function.body);
    let before = |own: &&Token| own.span.start < body.name_span.start;
    let mut pointed = file.tokens_in(body.header).iter().take_while(before);
    file.gives(body, b"bool") && !pointed.any(|own| own.is(b'*'))
}

/// `-EFAULT`, or a variable that takes one.
fn may_be_error(function: &FunctionContext<'_>, own: &Expression) -> bool {
    let taken = |name: &str| {
        let mut values = function.graph.assignments().filter(|(of, _)| *of == name);
        values.any(|(_, value)| {
            let value = function.expression(value);
            value.is_some_and(|value| is_error(value.uncast().1))
        })
    };
    let local = own
        .name()
        .filter(|name| function.graph.local(name).is_some());
    is_error(own) || local.is_some_and(taken)
}
