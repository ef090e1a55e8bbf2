//! Calls that take several bytes of an object for each one that they are told of.

use tree_sitter::Node;

use crate::calls::Touches;
use crate::expression::Expression;
use crate::site::span;
use crate::span::Span;

use super::allocation::Allocation;
use super::context::FunctionContext;
use super::limit::limit;
use super::linear::Linear;
use super::space;

/// A call that takes more bytes than there are.
pub(crate) struct Expanded {
    pub(crate) call: Span,
    pub(crate) name: String,
    /// How many it takes for each of what number.
    pub(crate) times: u64,
    pub(crate) count: String,
    /// What they are taken of, and how many that has.
    pub(crate) object: String,
    pub(crate) room: String,
}

/// Those objects of which a call takes more than they have.
pub(crate) fn expanded(function: &FunctionContext<'_>, call: Node<'_>) -> Vec<Expanded> {
    let Some(name) = function.callee(call) else {
        return Vec::new();
    };
    let all = function.file.words.results().touches(name).iter();
    let all = all.filter(|own| own.times > 1);
    all.filter_map(|own| of_object(function, call, (name, *own)))
        .collect()
}

fn of_object(
    function: &FunctionContext<'_>,
    call: Node<'_>,
    (name, touches): (&str, Touches),
) -> Option<Expanded> {
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let object = given.get(touches.object)?.uncast().1;
    let count = given.get(touches.count)?.uncast().1;
    let named = object.name()?;
    let local = function.local_at(named, object.span)?;
    let file = function.file;
    let at = span(call);
    let memory = || Allocation::of(function, named, at);
    let size = match local.array {
        true => space::array(function, local),
        false => memory().and_then(|own| own.bytes(function)),
    };
    let room = match size {
        Some(size) => {
            let most = most(function, count, at)?.checked_mul(touches.times)?;
            (most > size).then(|| size.to_string())?
        }
        None => {
            let taken = Linear::of(function, count)?.times(touches.times)?;
            memory()?.less(function, &taken, at)?
        }
    };
    Some(Expanded {
        call: span(call),
        name: name.to_owned(),
        times: touches.times,
        count: file.plain(count.span),
        object: named.to_owned(),
        room,
    })
}

/// How much a number may be: a constant, the least of it and one, or what it is refused behind.
fn most(function: &FunctionContext<'_>, count: &Expression, at: Span) -> Option<u64> {
    let known = |own: &Expression| space::bytes(function, own.uncast().1);
    let least = || {
        let (name, given) = count.call()?;
        let least = function.file.words.gives_least(name);
        given.iter().filter_map(known).min().filter(|_| least)
    };
    let bound = || limit(function, count, at)?.value;
    known(count).or_else(least).or_else(bound)
}
