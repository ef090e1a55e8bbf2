//! Accesses to the user's memory of more bytes than a program has to say that it has: the size beside the
//! pointer is held against a smaller one.

use tree_sitter::Node;

use crate::Direction;
use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::bounded::{is_of_zero, refuses_less};
use super::callee::parameter;
use super::context::FunctionContext;
use super::leading::elsewhere;
use super::narrowed::refused;
use super::space;
use super::tokens::parameters;

/// So many places that name the size are looked at.
const FEW: usize = 24;

/// The least number that may be one of bytes by itself.
const FOUR: u64 = 4;

/// An access to more than that.
pub(crate) struct ToldLess {
    /// The bytes of the access.
    pub(crate) bytes: u64,
    /// What says how many there are.
    pub(crate) number: String,
    /// How few it may say.
    pub(crate) least: u64,
    /// Where it is held against that.
    pub(crate) asked: Span,
}

/// What an access touches more of than the size beside its pointer has to be: `if (len < sizeof(short))
/// return -EINVAL;` in front of `get_user(n, (int __user *)p)`.
pub(crate) fn told_less(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<ToldLess> {
    let pointer = access.address.uncast().1.name()?;
    of_pointer(function, (pointer, access.span), || bytes(function, access))
}

/// The same of a call that knows by itself whose bytes it fetches.
pub(crate) fn told_less_by(function: &FunctionContext<'_>, call: Node<'_>) -> Option<ToldLess> {
    let source = function.file.words.source(function.callee(call)?)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let pointer = given.get(source.user)?.uncast().1.name()?;
    let count = given.get(source.count)?.uncast().1;
    of_pointer(function, (pointer, span(call)), || {
        space::bytes(function, count)
    })
}

fn of_pointer(
    function: &FunctionContext<'_>,
    (pointer, at): (&str, Span),
    bytes: impl Fn() -> Option<u64>,
) -> Option<ToldLess> {
    let beside = beside(function, pointer)?;
    let number = match fetched(function, &beside) {
        Some(own) => own,
        None => beside,
    };
    let named: Vec<Node<'_>> = function
        .mentions(&number)
        .filter(|own| own.end_byte() <= at.start)
        .take(FEW + 1)
        .collect();
    (2..=FEW).contains(&(named.len() + 1)).then_some(())?;
    let apart = elsewhere(function, named.iter().copied(), at);
    let named = named.iter().filter(|own| !apart.contains(&span(**own)));
    let mut found: Option<(u64, Span)> = None;
    for node in named {
        match asked(function, *node, &number)? {
            Asked::Least(least, at) => found = found.max(Some((least, at))),
            Asked::Nothing => {}
        }
    }
    let (least, asked) = found?;
    let bytes = bytes().filter(|bytes| *bytes > least)?;
    let always = function.graph.passes(&[asked], at);
    always.then_some(ToldLess {
        bytes,
        number,
        least,
        asked,
    })
}

/// How many bytes an access touches from its pointer on.
fn bytes(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<u64> {
    if let Some(count) = &access.bytes {
        return space::bytes(function, count.uncast().1);
    }
    let user = function.expression(access.user)?;
    let of = space::pointee(function, &user)?;
    Some(function.file.layout(&of)?.size)
}

/// The parameter behind a pointer that is one as well.
fn beside(function: &FunctionContext<'_>, pointer: &str) -> Option<String> {
    function.is_parameter(pointer).then_some(())?;
    let file = function.file;
    let all = parameters(file.text, file.tokens, function.body)?;
    let at = all.iter().position(|own| own == pointer)?;
    parameter(function, at + 1)
}

/// The variable that takes the number which a pointer leads to: `get_user(len, optlen)`.
fn fetched(function: &FunctionContext<'_>, pointer: &str) -> Option<String> {
    let mut reads = function.accesses.iter();
    let read = reads.find(|own| {
        own.word.direction == Direction::Read && own.address.uncast().1.name() == Some(pointer)
    })?;
    let value = function.expression_of(read.value_node);
    let place = match &value.uncast().1.term {
        Term::Address(place) => place.uncast().1,
        _ => value.uncast().1,
    };
    let local = function.local_at(place.name()?, read.span)?;
    local.plain.then(|| local.name.clone())
}

/// What a place that names the number asks of it.
enum Asked {
    Nothing,
    /// Whether it is so much at least, or as much.
    Least(u64, Span),
}

/// None where it is not understood: anything may bound the number there.
fn asked(function: &FunctionContext<'_>, node: Node<'_>, number: &str) -> Option<Asked> {
    let around = function.above(node)?;
    match around.known_kind() {
        "declaration" | "init_declarator" => Some(Asked::Nothing),
        // Whether there is any.
        "unary_expression" if function.context.operator(around) == b"!" => Some(Asked::Nothing),
        "binary_expression" if compares(function.context.operator(around)) => {
            compared(function, around, number)
        }
        // What it is fetched by.
        "argument_list" | "pointer_expression" => {
            let mut reads = function.accesses.iter();
            let fetched = reads
                .any(|own| own.word.direction == Direction::Read && own.value.contains(span(node)));
            fetched.then_some(Asked::Nothing)
        }
        _ => None,
    }
}

fn compared(function: &FunctionContext<'_>, node: Node<'_>, number: &str) -> Option<Asked> {
    if is_of_zero(function, span(node)) {
        return Some(Asked::Nothing);
    }
    let own = function.expression_of(node);
    let Term::Binary(left, operator, right) = &own.term else {
        return None;
    };
    let is = |own: &Expression| own.uncast().1.name() == Some(number);
    let other = match (is(left), is(right)) {
        (true, false) => right,
        (false, true) => left,
        _ => return None,
    };
    let least = space::bytes(function, other.uncast().1)?;
    // A small number without a `sizeof` is one of elements.
    let sized = |own: &Expression| matches!(own.term, Term::SizeOf(_) | Term::SizeOfType(_));
    (least >= FOUR || other.any(&sized)).then_some(())?;
    let then = refused(node).and_then(|then| function.graph.statement(span(then)));
    let leaves = then.is_some_and(|then| function.graph.leaves(then));
    let including = if operator.ends_with('=') { 1 } else { 0 };
    match operator.as_str() {
        "!=" if leaves => Some(Asked::Least(least, span(node))),
        "==" | "!=" => None,
        _ if refuses_less(function, node, is) => {
            Some(Asked::Least(least.checked_add(including)?, span(node)))
        }
        // A bound from above says nothing of that.
        _ => leaves.then_some(Asked::Nothing),
    }
}
