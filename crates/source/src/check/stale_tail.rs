//! Strings that last, and that a copy from the user writes over without an end: what was longer before
//! is still there behind it.

use tree_sitter::Node;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::split::Body;

use super::accesses::Access;
use super::callee::look_into_body;
use super::context::FunctionContext;
use super::space;
use super::strings::{front, readings};

/// So many functions of the file that name the array are looked into.
const FEW: usize = 8;

/// Such a string.
pub(crate) struct StaleTail {
    pub(crate) array: String,
    /// What reads it, in words.
    pub(crate) by: String,
}

/// The array of the file's, or a static one of the function's, that an access fills as far as the
/// program says, where nothing else is done to it and something reads it as a string.
pub(crate) fn stale_tail(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<StaleTail> {
    let count = access
        .bytes
        .as_ref()
        .filter(|_| access.word.direction == Direction::Read)?;
    let value = function.expression_of(access.value_node);
    let name = front(value.uncast().1).name()?;
    let lasts = match function.local_at(name, access.span) {
        Some(local) => local.lasting && local.array,
        None => !function.is_parameter(name),
    };
    (lasts && space::bytes(function, count.uncast().1).is_none()).then_some(())?;
    let array = Expression {
        span: value.span,
        term: Term::Name(name.to_owned()),
    };
    let bytes = space::array_bytes(function, &array)?;
    (space::elements(function, &array)? == bytes).then_some(())?;
    function.pays()?;
    let here = only_read(function, name, Some(access.span))?;
    let by = here.or_else(|| elsewhere(function, name))?;
    Some(StaleTail {
        array: name.to_owned(),
        by,
    })
}

/// What reads an array as a string in a function that does no more with it, if anything does; nothing
/// where an element is set, or a call that is not known has it.
fn only_read(
    function: &FunctionContext<'_>,
    name: &str,
    copy: Option<Span>,
) -> Option<Option<String>> {
    let mut by = None;
    for node in function.mentions(name) {
        if copy.is_some_and(|own| own.contains(span(node))) {
            continue;
        }
        let mut around = function.around(node);
        let holder = around.find(|own| !is_part(function, *own))?;
        match holder.known_kind() {
            "argument_list" => by = Some(read(function, holder, name)?),
            "binary_expression" => {}
            "subscript_expression" if !is_set(function, holder) => {}
            _ => return None,
        }
    }
    Some(by)
}

/// `list + n`, in parentheses or cast.
fn is_part(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    match node.known_kind() {
        "cast_expression" | "parenthesized_expression" => true,
        "binary_expression" => function.context.operator(node) == b"+",
        _ => false,
    }
}

/// What reads it where a call is given it.
fn read(function: &FunctionContext<'_>, arguments: Node<'_>, name: &str) -> Option<String> {
    let call = function.above(arguments)?;
    let all = readings(function, call).into_iter();
    let mut own = all.filter(|own| front(&own.string).name() == Some(name));
    own.next().map(|own| own.by)
}

/// Whether an element is more than looked at.
fn is_set<'t>(function: &FunctionContext<'t>, element: Node<'t>) -> bool {
    let around = function.above(element);
    around.is_none_or(|own| match own.known_kind() {
        "assignment_expression" => own.part("left") == Some(element),
        "binary_expression" | "unary_expression" | "parenthesized_expression" => false,
        _ => true,
    })
}

/// What reads it in another function of the file.
fn elsewhere(function: &FunctionContext<'_>, name: &str) -> Option<String> {
    let file = function.file;
    let names = |body: &&Body| {
        let mut tokens = file.tokens_of(body).iter();
        !std::ptr::eq(*body, function.body)
            && tokens.any(|own| own.span.of(file.text) == name.as_bytes())
    };
    let mut named = file.bodies.iter().filter(names).take(FEW);
    named.find_map(|body| {
        let by = look_into_body(function, body, |other| {
            let own = other.local_at(name, body.span).is_some() || other.is_parameter(name);
            (!own).then(|| read_there(other, name))?
        })?;
        Some(format!("{by} in {}()", body.name))
    })
}

/// The call of a function that reads it, where no element is set there.
fn read_there(other: &FunctionContext<'_>, name: &str) -> Option<String> {
    let set = |node: Node<'_>| {
        let around = other.above(node);
        around.is_some_and(|own| own.known_kind() == "subscript_expression" && is_set(other, own))
    };
    let mut by = None;
    for node in other.mentions(name) {
        if set(node) {
            return None;
        }
        let arguments = other.above(node);
        let arguments = arguments.filter(|own| own.known_kind() == "argument_list");
        by = by.or_else(|| read(other, arguments?, name));
    }
    by
}
