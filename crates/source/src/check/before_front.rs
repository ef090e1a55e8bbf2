//! Elements in front of an array: the last of as many as a program says, which may be none.

use tree_sitter::Node;

use crate::expression::Term;
use crate::flow::EffectKind;

use super::asked::may_be_least;
use super::context::FunctionContext;
use super::{space, unbounded};

/// The number of bytes that a program has written, of which an element is the last one: `buf[n - 1]`
/// where nothing asks whether there is any.
pub(crate) fn before_front(function: &FunctionContext<'_>, node: Node<'_>) -> Option<String> {
    let element = function.expression_of(node);
    let Term::Element { array, index } = &element.term else {
        return None;
    };
    let Term::Binary(number, operator, one) = &index.uncast().1.term else {
        return None;
    };
    let number = number.uncast().1;
    let last = operator == "-" && matches!(&one.term, Term::Number(own) if own == "1");
    let name = number
        .name()
        .filter(|own| last && function.is_parameter(own))?;
    let own = function.file.answers_a_program(function.body)
        && array
            .uncast()
            .1
            .name()
            .is_some_and(|own| function.local_at(own, array.span).is_some())
        && !is_made(function, name)
        && may_be_least(function, number);
    let users = own && unbounded::users_within(function, number, element.span).is_some();
    (users && !space::is_users(function, array)).then(|| name.to_owned())
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
