//! Structures of the function that memcpy() takes into memory which goes to a program from there.

use tree_sitter::Node;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;

use super::accesses::{Access, as_access};
use super::allocation::Allocation;
use super::behind_front::begun;
use super::context::FunctionContext;
use super::words::AccessWord;

/// So many calls of a function are followed.
const MOST: usize = 32;

/// The copies of structures into what some accesses hand to a program, as if they did that themselves:
/// `memcpy(buf, &x, sizeof(x))` before `copy_to_user(to, buf, n)`.
pub(crate) fn copied_on<'t>(
    function: &FunctionContext<'t>,
    shown: &[Access<'t>],
) -> Vec<Access<'t>> {
    let accesses = function.accesses.iter().chain(shown);
    let out =
        accesses.filter(|own| own.word.direction == Direction::Write && own.word.count.is_some());
    let out: Vec<(&str, &Access<'_>)> = out
        .filter(|own| {
            function
                .expression_of(own.value_node)
                .uncast()
                .1
                .name()
                .is_some()
        })
        .map(|own| (own.value_root.as_str(), own))
        .collect();
    if out.is_empty() {
        return Vec::new();
    }
    let copies = function
        .calls
        .iter()
        .filter_map(|call| copy(function, *call));
    let mut found = Vec::new();
    for (at, (to, own)) in copies.enumerate() {
        if function.stops_at(at, MOST) {
            break;
        }
        let goes = |(memory, access): &&(&str, &Access<'_>)| {
            leads_to(function, &to, memory)
                && is_own(function, memory, access)
                && function.comes_to(own.span, access.span)
        };
        if out.iter().any(|one| goes(&one)) {
            found.push(own);
        }
    }
    found
}

/// A call that copies a variable whose address it is given, and the variable that leads to where.
fn copy<'t>(function: &FunctionContext<'t>, call: Node<'t>) -> Option<(String, Access<'t>)> {
    let name = function.callee(call)?;
    let fills = function.file.words.fills(name)?;
    let (count, from) = (fills.count?, fills.from?);
    let word = AccessWord {
        name: name.to_owned(),
        direction: Direction::Write,
        arguments: from.max(count) + 1,
        value: from,
        user: fills.object,
        count: Some(count),
        result: None,
        checked: true,
        part: false,
    };
    let own = as_access(function.context, call, &word)?;
    let value = function.expression_of(own.value_node);
    matches!(&value.uncast().1.term, Term::Address(of) if of.name().is_some()).then_some(())?;
    let to = own.address.uncast().1;
    let front = begun(to).map_or(to, |(front, _)| front);
    Some((front.name()?.to_owned(), own))
}

/// Whether a pointer is another one, or begins in what that leads to: `pos = buf`.
fn leads_to(function: &FunctionContext<'_>, pointer: &str, memory: &str) -> bool {
    let begins = |value: &Expression| {
        let value = value.uncast().1;
        let front = begun(value).map_or(value, |(front, _)| front);
        front.name() == Some(memory)
    };
    let graph = function.graph;
    let mut writes = graph
        .effects
        .iter()
        .filter(|own| graph.name_of(own) == pointer && graph.is_whole(own));
    let taken = |kind: &EffectKind| match kind {
        EffectKind::Write(own) if !own.compound => own.value,
        _ => None,
    };
    let local = graph.local(pointer).is_some_and(|own| !own.array);
    pointer == memory
        || local
            && writes.any(|own| {
                let value = taken(&own.kind).and_then(|at| function.expression(at));
                value.is_some_and(|value| begins(&value))
            })
}

/// Whether what goes out is an array of the function's, or memory that it allocates.
fn is_own(function: &FunctionContext<'_>, memory: &str, access: &Access<'_>) -> bool {
    let local = function.local_at(memory, access.span);
    let array = local.is_some_and(|own| own.array);
    array || Allocation::of(function, memory, access.span).is_some()
}
