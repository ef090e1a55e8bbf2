//! Copies of as many bytes as a program wants, from memory of which a call has told how much there is.

use tree_sitter::Node;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::bounded::is_compared_before;
use super::context::{FileContext, FunctionContext};
use super::tokens::parameters;
use super::unbounded::is_handed_before;

/// Such a copy.
pub(crate) struct ToldByCall {
    number: Expression,
    /// What the call has told.
    amount: String,
    by: String,
    call: Span,
}

impl ToldByCall {
    /// What is wrong, and what says so.
    pub(crate) fn told(&self, file: &FileContext<'_>) -> (String, Span) {
        let (number, amount, by) = (file.plain(self.number.span), &self.amount, &self.by);
        let told = format!(
            "{number} bytes are copied, and {by}() has told by {amount} how many there are: nothing holds \
             {number} against that"
        );
        (told, self.call)
    }
}

/// `got = look(d, want, &p); copy_to_user(to, p, want)`, `p = room(d, &size, …); copy_to_user(to, p, want)`
pub(crate) fn told_by_call(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<ToldByCall> {
    (access.word.direction == Direction::Write).then_some(())?;
    let number = access.bytes.as_ref()?.uncast().1;
    let wanted = number.name().filter(|own| is_wanted(function, own))?;
    let value = function.expression_of(access.value_node);
    let pointer = value.uncast().1.name()?;
    let local = function.local_at(pointer, access.span)?;
    (!local.array && !local.plain && !local.lasting).then_some(())?;
    let (call, amount) = from_call(function, (pointer, wanted), access)?;
    let by = function.callee(call)?.to_owned();
    function.pays()?;
    let besides = Span::new(access.span.start, access.span.start);
    let bounded = is_compared_before(function, number, besides, access.span)
        || is_handed(function, number, (span(call), access.span))
        || is_asked_with(function, &amount, wanted);
    (!bounded).then(|| ToldByCall {
        number: number.clone(),
        amount,
        by,
        call: span(call),
    })
}

/// Whether a number is what a function is given right behind a pointer of the user's, and stays so.
fn is_wanted(function: &FunctionContext<'_>, name: &str) -> bool {
    let file = function.file;
    let given = function.is_parameter(name) && !function.graph.takes_a_value(name);
    let all = || parameters(file.text, file.tokens, function.body);
    let pair = |two: &[String]| match two {
        [pointer, count] => {
            count == name
                && function
                    .accesses
                    .iter()
                    .any(|own| own.user_root == *pointer)
        }
        _ => false,
    };
    given && all().is_some_and(|all| all.windows(2).any(pair))
}

/// The one call that gives a pointer, and what tells how much it leads to.
fn from_call<'t>(
    function: &FunctionContext<'t>,
    (pointer, wanted): (&str, &str),
    access: &Access<'_>,
) -> Option<(Node<'t>, String)> {
    let values = function
        .graph
        .assignments()
        .filter(|(own, _)| *own == pointer);
    let values = values.filter_map(|(_, place)| function.expression(place));
    let values: Vec<_> = values.filter(|own| !own.uncast().1.is_null()).collect();
    let before = |call: &&Node<'t>| call.end_byte() <= access.span.start;
    let mut calls = function.calls.iter().filter(before);
    match values.as_slice() {
        [] => {
            let given = |call: &&Node<'t>| gives_address(function, **call, pointer);
            let mut calls = calls.filter(given);
            let call = *calls.next().filter(|_| calls.next().is_none())?;
            let whole = function.expression_of(call);
            let asks = |own: &Expression| own.uncast().1.name() == Some(wanted);
            whole.call()?.1.iter().any(asks).then_some(())?;
            Some((call, function.taker(call)?.name()?.to_owned()))
        }
        [only] => {
            let call = *calls.find(|own| span(**own) == only.uncast().1.span)?;
            let names = |part: &Expression| part.name() == Some(wanted);
            (!only.any(&names)).then_some(())?;
            Some((call, room(function, call)?))
        }
        _ => None,
    }
}

/// Whether a call is given where a pointer lies.
fn gives_address(function: &FunctionContext<'_>, call: Node<'_>, pointer: &str) -> bool {
    let whole = function.expression_of(call);
    let mut given = whole.call().into_iter().flat_map(|(_, given)| given);
    given.any(|own| matches!(&own.uncast().1.term, Term::Address(of) if of.name() == Some(pointer)))
}

/// The number that a call makes as large as what it gives: it has a value before, and its address is given.
fn room(function: &FunctionContext<'_>, call: Node<'_>) -> Option<String> {
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let graph = function.graph;
    given.iter().find_map(|own| {
        let Term::Address(of) = &own.uncast().1.term else {
            return None;
        };
        let name = of.name()?;
        graph.local(name).filter(|own| own.plain)?;
        let sized = graph
            .assignments()
            .any(|(own, value)| own == name && value.end <= call.start_byte());
        sized.then(|| name.to_owned())
    })
}

/// Whether another call is given the number between two places.
fn is_handed(
    function: &FunctionContext<'_>,
    number: &Expression,
    (call, at): (Span, Span),
) -> bool {
    is_handed_before(function, number, Span::new(call.start, call.start))
        || function.calls.iter().any(|own| {
            let between = own.start_byte() >= call.end && own.end_byte() <= at.start;
            between && function.expression_of(*own).any(&|part| part == number)
        })
}

/// Whether anything names both, or an amount is held against more than 0 or goes on itself.
fn is_asked_with(function: &FunctionContext<'_>, amount: &str, wanted: &str) -> bool {
    let graph = function.graph;
    let both = |place: Span| graph.names(place, amount) && graph.names(place, wanted);
    let mut found = false;
    function.each_of(&["binary_expression"], |node| found |= both(span(node)));
    let values = || graph.assignments().any(|(_, value)| both(value));
    let given = || {
        let mut effects = graph.effects.iter();
        effects.any(|own| {
            let moved = matches!(&own.kind, EffectKind::Write(write) if write.compound);
            moved && graph.name_of(own) == wanted
        })
    };
    found || values() || given()
}
