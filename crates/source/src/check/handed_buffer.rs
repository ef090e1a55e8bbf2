//! The address that a program gives to read(2) or write(2), of a function that declares it as
//! one of the kernel's.

use crate::expression::{Expression, Term};
use crate::lex::Token;
use crate::span::Span;
use crate::split::Body;

use super::context::{FileContext, FunctionContext};
use super::space;
use super::tokens::{parameter_spans, parameters};

/// The type that a position in a file is declared with, by which few functions are asked further.
const POSITION: &[u8] = b"loff_t";

/// The parameter of a function that leads to the program's bytes by the table which has it, where its
/// own declaration does not say so.
pub(crate) fn handed_buffer(file: &FileContext<'_>, body: &Body) -> Option<String> {
    // Most have no such type in front of them: what the file's tables say comes last.
    let header = file.tokens_in(body.header);
    let leads = |two: &[Token]| match two {
        [of, star] => star.is(b'*') && of.span.of(file.text) == POSITION,
        _ => false,
    };
    let users = |own: &Token| own.span.of(file.text) == b"__user";
    let asked = header.windows(2).any(leads) && !header.iter().any(users);
    asked.then_some(())?;
    let declared = parameter_spans(file.tokens, body)?;
    let is_pointer = |at: usize, to: Option<&[u8]>| {
        let own = declared.get(at).map(|own: &Span| file.tokens_in(*own));
        own.is_some_and(|own| {
            let words = || own.iter().map(|own| own.span.of(file.text));
            let stars = own.iter().filter(|own| own.is(b'*')).count();
            let named = to.is_none_or(|to| words().any(|own| own == to));
            stars == 1 && named
        })
    };
    let mut tables = file.handlers(body);
    let at = tables.find_map(|own| {
        let (buffer, position) = (own.buffer?, own.position?);
        let known = is_pointer(buffer, None) && is_pointer(position, Some(POSITION));
        (known && declared.len() == position + 1).then_some(buffer)
    })?;
    let name = parameters(file.text, file.tokens, body)?.get(at)?.clone();
    (!name.is_empty()).then_some(name)
}

/// Whether an expression is that address, or a place behind it, and the parameter holds no other.
pub(crate) fn is_in_buffer(function: &FunctionContext<'_>, of: &Expression) -> bool {
    let place = match &of.uncast().1.term {
        Term::Binary(left, operator, _) if operator == "+" => left.uncast().1,
        Term::Step(own) => own.uncast().1,
        Term::Address(place) => match &place.term {
            Term::Element { array, .. } => array,
            _ => return false,
        },
        _ => of.uncast().1,
    };
    let parameter = |name: &&str| function.is_parameter(name);
    place.name().filter(parameter).is_some_and(|name| {
        let own = handed_buffer(function.file, function.body);
        own.as_deref() == Some(name) && !space::may_be_another(function, name)
    })
}
