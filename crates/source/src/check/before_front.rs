//! Elements in front of an array: the last of as many as a program says, which may be none.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::types::Shape;

use super::asked::may_be_least;
use super::context::FunctionContext;
use super::tokens::parameters;
use super::{space, unbounded};

/// The number of bytes that a program has written, of which an element is the last one: `buf[n - 1]`
/// where nothing asks whether there is any.
pub(crate) fn before_front(function: &FunctionContext<'_>, node: Node<'_>) -> Option<String> {
    let element = function.expression_of(node);
    let (array, number) = last_of(&element)?;
    let number = number.uncast().1;
    let name = number.name()?;
    let counts = counted(function, name)?;
    let own = function.file.answers_a_program(function.body)
        && !is_made(function, name)
        && may_be_least(function, number);
    let also = || {
        let own = Expression {
            span: number.span,
            term: Term::Name(counts.clone()),
        };
        counts == name || !is_made(function, &counts) && may_be_least(function, &own)
    };
    let users = || {
        is_asked_for(function, &counts)
            || unbounded::users_within(function, number, element.span).is_some()
    };
    let found = own && also() && is_own(function, array) && users();
    (found && !space::is_users(function, array)).then(|| name.to_owned())
}

/// The array, and the number of which an element of it is the last: `buf[n - 1]`, `*(buf + n - 1)`.
fn last_of(element: &Expression) -> Option<(&Expression, &Expression)> {
    let one = |own: &Expression| matches!(&own.term, Term::Number(own) if own == "1");
    let whole = match &element.term {
        Term::Element { index, .. } => index,
        Term::Behind(pointer) => pointer,
        _ => return None,
    };
    let Term::Binary(number, operator, less) = &whole.uncast().1.term else {
        return None;
    };
    if operator != "-" || !one(less) {
        return None;
    }
    match (&element.term, &number.uncast().1.term) {
        (Term::Element { array, .. }, _) => Some((array, number)),
        (_, Term::Binary(array, plus, number)) => (plus == "+").then_some((array, number)),
        _ => None,
    }
}

/// The parameter that a variable is, or the least of which and another number is all that it takes.
fn counted(function: &FunctionContext<'_>, name: &str) -> Option<String> {
    if function.is_parameter(name) {
        return Some(name.to_owned());
    }
    let value = function.expression(function.graph.only_value(name)?)?;
    let (callee, given) = value.uncast().1.call()?;
    let least = function.file.words.gives_least(callee);
    let mut names = given.iter().filter_map(|own| own.uncast().1.name());
    let own = names.find(|own| function.is_parameter(own));
    own.filter(|_| least).map(str::to_owned)
}

/// Whether a place is an array of the function's, or a pointer that it holds, or a member that is an
/// array: what a pointer that it is given leads to may begin in front of that.
fn is_own(function: &FunctionContext<'_>, array: &Expression) -> bool {
    let array = array.uncast().1;
    match array.name() {
        Some(name) => function.local_at(name, array.span).is_some(),
        None => {
            let member = matches!(array.term, Term::Member { .. });
            let of = || space::type_of(function, array).map(|of| of.shape);
            member && matches!(of(), Some(Shape::Array(..)))
        }
    }
}

/// Whether a parameter is how many bytes a read() or write() of a table of the file is asked for, which
/// a program may call with none.
fn is_asked_for(function: &FunctionContext<'_>, name: &str) -> bool {
    let file = function.file;
    let mut positions = file.handlers(function.body).filter_map(|own| own.position);
    let before = positions.next().and_then(|own| own.checked_sub(1));
    let names = || parameters(file.text, file.tokens, function.body);
    let own = before.and_then(|at| names()?.into_iter().nth(at));
    own.is_some_and(|own| own == name)
}

/// Whether the variable takes anything but a constant or the least of it and another one.
fn is_made(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let mut effects = graph
        .effects
        .iter()
        .filter(|own| graph.name_of(own) == name);
    effects.any(|own| match &own.kind {
        EffectKind::Read | EffectKind::Handed { by_address: false } => false,
        EffectKind::Write(write) => {
            let value = write.value.and_then(|at| function.expression(at));
            !value.is_some_and(|value| {
                let call = value.uncast().1.call();
                let least = call.is_some_and(|(name, _)| function.file.words.gives_least(name));
                least || space::bytes(function, value.uncast().1).is_some_and(|own| own > 0)
            })
        }
        _ => true,
    })
}
