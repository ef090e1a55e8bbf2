//! Bytes that go to a call which nobody knows, as a string: it is declared to take one, or the function
//! has taken the newline off their end.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::types::Parameter;

use super::brimful::Copy;
use super::context::FunctionContext;
use super::hanging::{Hanging, is_end};
use super::strings::Reading;

/// An argument that a call may take as a string.
pub(crate) struct Perhaps {
    pub(crate) reading: Reading,
    /// Which argument it is.
    at: usize,
}

/// The arguments that a call may take so.
pub(crate) fn perhaps(
    function: &FunctionContext<'_>,
    copies: &[Copy],
    call: Node<'_>,
) -> Vec<Perhaps> {
    let whole = function.expression_of(call);
    let Term::Call(callee, given) = &whole.term else {
        return Vec::new();
    };
    let unknown = |name: &str| !is_known(function, name);
    if !callee.name().is_none_or(unknown) {
        return Vec::new();
    }
    let by = || format!("{}()", function.file.plain(callee.span));
    let bytes = given.iter().enumerate();
    let bytes = bytes
        .filter(|(at, own)| is_bytes(function, copies, own) && !is_counted(function, given, *at));
    let all = bytes.map(|(at, own)| Perhaps {
        reading: Reading::of(own.uncast().1.clone(), by()),
        at,
    });
    all.collect()
}

/// Whether a call takes an argument as a string: what it is declared to take is looked for in all headers, so that
/// everything else is asked before.
pub(crate) fn is_taken(function: &FunctionContext<'_>, call: Node<'_>, own: &Perhaps) -> bool {
    let whole = function.expression_of(call);
    let Some(name) = own.reading.string.name() else {
        return false;
    };
    let Term::Call(callee, given) = &whole.term else {
        return false;
    };
    let declared = callee.name().and_then(|own| function.file.signature(own));
    let is = |own: &str| own == name || leads_to(function, own, name);
    let holds = |own: &Expression| own.any(&|part| part.name().is_some_and(is));
    let takes = match &declared {
        Some(declared) => declared.takes.len() == given.len() && is_text(&declared.takes, own.at),
        None => is_trimmed(function, &holds, span(call)),
    };
    takes && !Hanging::new(&holds).asks_for_end(function, span(call))
}

/// Whether what a call does with a string is known, or may be looked at.
fn is_known(function: &FunctionContext<'_>, name: &str) -> bool {
    let words = function.file.words;
    let known = words.knows(name) || words.frees(name) || words.gives_back(name);
    known || function.file.body_named(name).is_some()
}

/// Whether an argument is a pointer or an array of the function's own that may hold bytes of the
/// user's: most hold none, and to ask what a call takes is expensive.
fn is_bytes(function: &FunctionContext<'_>, copies: &[Copy], own: &Expression) -> bool {
    let Some(name) = own.uncast().1.name() else {
        return false;
    };
    let local = function.local_at(name, own.span);
    local.is_some_and(|own| !own.plain) && is_filled(function, copies, name)
}

/// Whether an argument of a call may lead to bytes of the user's: a name alone does where it is
/// filled, or given a member of anything.
pub(crate) fn may_hold(function: &FunctionContext<'_>, copies: &[Copy], call: Node<'_>) -> bool {
    let whole = function.expression_of(call);
    let Term::Call(_, given) = &whole.term else {
        return true;
    };
    given.iter().any(|own| match &own.uncast().1.term {
        Term::Name(name) => {
            let mut values = function.graph.assignments().filter(|(to, _)| to == name);
            let taken = |(_, value): (&str, Span)| {
                let value = function.expression(value);
                value.is_some_and(|own| !matches!(own.uncast().1.term, Term::Number(_)))
            };
            is_filled(function, copies, name) || values.any(taken)
        }
        Term::Number(_) | Term::SizeOf(_) | Term::SizeOfType(_) => false,
        _ => true,
    })
}

/// Whether a variable is filled by a copy, or is given what one fills or makes.
fn is_filled(function: &FunctionContext<'_>, copies: &[Copy], name: &str) -> bool {
    let filled = |name: &str| copies.iter().any(|copy| copy.root == name);
    let made = |value: &Expression| {
        let call = value.uncast().1.call();
        call.is_some_and(|(name, _)| function.duplicates(name).is_some())
    };
    let given = |value: &Expression| made(value) || value.root().name().is_some_and(filled);
    let mut values = function.graph.assignments().filter(|(to, _)| *to == name);
    filled(name)
        || values.any(|(_, value)| function.expression(value).is_some_and(|own| given(&own)))
}

/// Whether a function is declared to take a text there, and no number beside it, or beside texts next to
/// it, that may say how long it is.
fn is_text(declared: &[Parameter], at: usize) -> bool {
    let beside = |next: &dyn Fn(usize) -> Option<usize>| {
        let mut others =
            std::iter::successors(next(at), |at| next(*at)).map_while(|at| declared.get(at));
        others.find(|own| !own.text).is_some_and(|own| own.number)
    };
    let counted = beside(&|at| at.checked_add(1)) || beside(&|at| at.checked_sub(1));
    declared.get(at).is_some_and(|own| own.text) && !counted
}

/// Whether another argument tells how many bytes were copied there.
fn is_counted(function: &FunctionContext<'_>, given: &[Expression], at: usize) -> bool {
    let Some(name) = given.get(at).and_then(|own| own.uncast().1.name()) else {
        return true;
    };
    let copied = function
        .accesses
        .iter()
        .filter(|own| own.value_root == name);
    let mut counts: Vec<Expression> = copied.filter_map(|own| own.bytes.clone()).collect();
    let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
    let doubled = values.find_map(|(_, value)| {
        let value = function.expression(value)?;
        let (call, given) = value.uncast().1.call()?;
        let count = function.duplicates(call)?.count;
        given.get(count).cloned()
    });
    counts.extend(doubled);
    let others = given.iter().enumerate().filter(|(own, _)| *own != at);
    let mut others = others.map(|(_, own)| own);
    others.any(|own| {
        own.any(&|part| {
            let named = part.name();
            named.is_some_and(|named| {
                counts
                    .iter()
                    .any(|own| own.any(&|part| part.name() == Some(named)))
            })
        })
    })
}

/// Whether a 0 is put in place of a byte at the end of a string, where that stands there:
/// `if (s[n - 1] == '\n') s[n - 1] = 0;`
fn is_trimmed(
    function: &FunctionContext<'_>,
    holds: &dyn Fn(&Expression) -> bool,
    before: Span,
) -> bool {
    let mut hanging = Hanging::new(holds);
    let mut found = false;
    function.each_of(&["assignment_expression"], |node| {
        let early = !found && node.end_byte() <= before.start;
        let Some(left) = node.part("left").filter(|_| early) else {
            return;
        };
        let place = function.expression_of(left);
        let element = matches!(place.term, Term::Element { .. } | Term::Behind(_)) && holds(&place);
        let end = node
            .part("right")
            .is_some_and(|own| is_end(&function.expression_of(own)));
        found = element && end && hanging.takes(function, node);
    });
    found
}

/// Whether a variable leads to another one: `char *end = s + n - 1;`
fn leads_to(function: &FunctionContext<'_>, own: &str, name: &str) -> bool {
    let mut values = function.graph.assignments().filter(|(to, _)| *to == own);
    let named = |value: &Expression| value.any(&|part| part.name() == Some(name));
    values.any(|(_, value)| function.expression(value).is_some_and(|own| named(&own)))
}
