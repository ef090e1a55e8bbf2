//! Copies of which nobody asks whether they ended in the middle.

use tree_sitter::Node as Syntax;

use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::copied_number::{Number, number, uses};
use super::fate::is_error;
use super::space;

/// The comparison of what a copy left with all that it was asked for, where nothing else
/// looks at the variable that holds it.
pub(crate) fn only_whole(function: &FunctionContext<'_>, name: &str, copy: Span) -> Option<Span> {
    let graph = function.graph;
    graph.local(name).filter(|local| local.plain)?;
    let mut copies = function.accesses.iter().chain(function.through);
    let copy = copies.find(|own| own.span == copy)?;
    let bytes = copy.bytes.as_ref()?.uncast().1;
    let mut others = uses_of(function, name, copy.span).into_iter();
    let mut tests = Vec::new();
    function.each_of(&["binary_expression"], |node| {
        if graph.names(span(node), name) && is_of_whole(&function.expression_of(node), name, bytes)
        {
            tests.push(span(node));
        }
    });
    let only = others.all(|effect| tests.iter().any(|test: &Span| test.contains(effect.span)));
    tests.first().copied().filter(|_| only)
}

/// What is done with a variable behind where it takes what a call gives, and before it takes another
/// value; all that is done with it where that is not to be seen.
fn uses_of<'f>(function: &'f FunctionContext<'_>, name: &str, call: Span) -> Vec<&'f Effect> {
    let graph = function.graph;
    behind_call(function, name, call).unwrap_or_else(|| {
        let written = |own: &Effect| matches!(own.kind, EffectKind::Write(_));
        let all = graph.effects.iter();
        all.filter(|own| graph.name_of(own) == name && !written(own))
            .collect()
    })
}

/// The same; none where that is not to be seen.
pub(crate) fn behind_call<'f>(
    function: &'f FunctionContext<'_>,
    name: &str,
    call: Span,
) -> Option<Vec<&'f Effect>> {
    let graph = function.graph;
    let named = |own: &Effect| graph.name_of(own) == name;
    let written = |own: &Effect| matches!(own.kind, EffectKind::Write(_));
    let takes = |own: &Effect| written(own) && named(own) && own.span.contains(call);
    let first = (0..graph.nodes.len()).find_map(|at| {
        let own = graph.effects_of(at).iter().position(takes)?;
        Some((at, own + 1))
    })?;
    let (mut found, mut seen) = (Vec::new(), HashSet::default());
    let mut work = vec![first];
    while let Some((at, from)) = work.pop() {
        if from == 0 && !seen.insert(at) {
            continue;
        }
        let mut own = graph
            .effects_of(at)
            .iter()
            .skip(from)
            .filter(|own| named(own));
        let again = own.any(|own| match &own.kind {
            EffectKind::Write(write) => graph.is_whole(own) && !write.optional,
            _ => {
                found.push(own);
                false
            }
        });
        let ways = graph.nodes.get(at).filter(|_| !again);
        let ways = ways.into_iter().flat_map(|own| own.next.iter());
        work.extend(ways.map(|(_, next)| (*next, 0)));
    }
    Some(found)
}

/// The comparison of what a copy left, where that stands, with all that it was asked for: `if
/// (copy_from_user(to, from, n) == n)`. Of one byte there is no part.
pub(crate) fn compared_whole(function: &FunctionContext<'_>, copy: Syntax<'_>) -> Option<Span> {
    let mut copies = function.accesses.iter().chain(function.through);
    let access = copies.find(|own| own.span == span(copy))?;
    let bytes = access.bytes.as_ref()?.uncast().1;
    let mut around = function.around(copy);
    let test = around.find(|own| own.known_kind() != "parenthesized_expression")?;
    let whole = function.expression_of(test);
    let Term::Binary(left, operator, right) = &whole.term else {
        return None;
    };
    let call = |one: &Expression| one.uncast().1.span == span(copy);
    let is = |one: &Expression, other: &Expression| call(one) && other.uncast().1 == bytes;
    let asks = matches!(operator.as_str(), "==" | "!=" | ">=" | "<");
    let more = space::bytes(function, bytes) != Some(1);
    (asks && (is(left, right) || is(right, left)) && more).then(|| span(test))
}

/// `left == count`, where `count` is what was asked for.
fn is_of_whole(asked: &Expression, name: &str, bytes: &Expression) -> bool {
    let Term::Binary(left, operator, right) = &asked.term else {
        return false;
    };
    let (left, right) = (left.uncast().1, right.uncast().1);
    let is = |one: &Expression, other: &Expression| one.name() == Some(name) && other == bytes;
    matches!(operator.as_str(), "==" | "!=" | ">=" | "<") && (is(left, right) || is(right, left))
}

/// The comparison with 0 of how much a call has copied, where the function looks at the
/// variable that holds it for nothing else, and more than one byte was asked for.
pub(crate) fn only_any(
    function: &FunctionContext<'_>,
    name: &str,
    copy: Syntax<'_>,
) -> Option<Span> {
    let graph = function.graph;
    graph.local(name).filter(|local| local.plain)?;
    let whole = function.expression_of(copy);
    let (_, given) = whole.call()?;
    let one = given
        .iter()
        .any(|own| space::bytes(function, own.uncast().1) == Some(1));
    let mut tests = Vec::new();
    function.each_of(&["binary_expression", "unary_expression"], |node| {
        if graph.names(span(node), name) && is_of_any(function, span(node), name) {
            tests.push(span(node));
        }
    });
    let within = |effect: &Effect| tests.iter().any(|test: &Span| test.contains(effect.span));
    let only = uses_of(function, name, span(copy)).into_iter().all(within);
    tests.first().copied().filter(|_| only && !one)
}

/// The question whether a call has copied anything, where that stands: `if (!copy_to_iter(a, n, i))`,
/// `copy_to_iter(a, n, i) ? 0 : -EFAULT`. Of one byte there is no part, and a loop goes on with the rest.
pub(crate) fn asked_for_any(function: &FunctionContext<'_>, copy: Syntax<'_>) -> Option<Span> {
    let mut own = copy;
    let mut test = None;
    loop {
        let parent = function.above(own)?;
        let is_condition = || parent.part("condition") == Some(own);
        match parent.known_kind() {
            "parenthesized_expression" => {}
            "unary_expression" if function.context.operator(parent) == b"!" => {
                test = Some(span(parent));
            }
            "binary_expression" => match function.context.operator(parent) {
                b"&&" | b"||" => {}
                _ if test.is_none() && is_none(function, &function.expression_of(parent), copy) => {
                    test = Some(span(parent));
                }
                _ => return None,
            },
            "if_statement" if is_condition() => break,
            "conditional_expression" if is_condition() => {
                let fails = parent.part("alternative")?;
                let fails = is_error(function.expression_of(fails).uncast().1);
                test = test.or_else(|| fails.then(|| span(parent)));
                break;
            }
            _ => return None,
        }
        own = parent;
    }
    let whole = function.expression_of(copy);
    let (_, given) = whole.call()?;
    let mut sizes = given
        .iter()
        .map(|own| space::bytes(function, own.uncast().1));
    test.filter(|_| !sizes.any(|own| own == Some(1)))
}

/// Whether a comparison asks whether a call gave nothing: `f() == 0`, `f() <= 0`, `f() < 1`
fn is_none(function: &FunctionContext<'_>, own: &Expression, call: Syntax<'_>) -> bool {
    let Term::Binary(left, operator, right) = &own.term else {
        return false;
    };
    let least = match operator.as_str() {
        "==" | "<=" => right.is_zero(),
        "<" => space::bytes(function, right) == Some(1),
        _ => false,
    };
    least && left.uncast().1.span == span(call)
}

/// `n <= 0`, `n < 0`, `n == 0`, `n < 1`
fn is_of_any(function: &FunctionContext<'_>, test: Span, name: &str) -> bool {
    let own = function.expression(test);
    own.is_some_and(|own| match &own.term {
        Term::Binary(left, operator, right) => {
            let least =
                right.is_zero() || operator == "<" && space::bytes(function, right) == Some(1);
            left.uncast().1.name() == Some(name) && least
        }
        Term::Unary(not, of) => not == "!" && of.uncast().1.name() == Some(name),
        _ => false,
    })
}

/// What says that what a copy left is taken off a number of which nothing behind it asks how much there
/// is.
pub(crate) enum TakenOff {
    /// A call or a program is given the variable: `n -= copy_from_user(to, from, n); send(to, n);`
    Goes(String),
    /// A program is given it at once: `return n - copy_to_user(to, from, n);`
    Answered,
    /// The loop goes on by nothing but the variable.
    Endless { variable: String, round: Span },
}

/// The same of a copy.
pub(crate) fn taken_off(function: &FunctionContext<'_>, copy: Syntax<'_>) -> Option<TakenOff> {
    let (variable, at) = match number(function, copy)? {
        Number::Given => {
            let answers = function.file.answers_a_program(function.body);
            return answers.then_some(TakenOff::Answered);
        }
        Number::Taken { variable, at } => (variable, at),
    };
    let uses = uses(function, &variable, at)?;
    if let Some(round) = uses.endless(function, copy) {
        return Some(TakenOff::Endless { variable, round });
    }
    (uses.given && !uses.moves()).then_some(TakenOff::Goes(variable))
}
