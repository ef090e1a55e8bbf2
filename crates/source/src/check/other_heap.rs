//! Memory that is given back by another call than those of what gave it.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{EffectKind, Local};
use crate::lex::TokenKind;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;

/// Memory that the wrong call gives back.
pub(crate) struct OtherHeap {
    /// What leads to it.
    pub(crate) what: String,
    /// The call that gave it, with its name.
    pub(crate) given: (Span, String),
    /// Where it is given back, and by what.
    pub(crate) released: (Span, String),
}

/// All of a function: what a call gives back, and what does at the end of its scope.
pub(crate) fn other_heaps(function: &FunctionContext<'_>) -> Vec<OtherHeap> {
    let calls = function.calls.iter();
    let mut found: Vec<OtherHeap> = calls.filter_map(|call| of_call(function, *call)).collect();
    let cleaned = function.graph.locals.iter().filter(|own| own.cleaned);
    found.extend(cleaned.filter_map(|own| at_end(function, own)));
    found
}

/// `p = vmalloc(n); … kfree(p);`
fn of_call(function: &FunctionContext<'_>, call: Node<'_>) -> Option<OtherHeap> {
    let heaps = function.file.words.heaps();
    let name = function.callee(call)?;
    heaps.taken_back_by(name)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let mut places = given.iter().map(|own| own.uncast().1);
    places.find_map(|place| of_place(function, place, (span(call), name)))
}

fn of_place(
    function: &FunctionContext<'_>,
    place: &Expression,
    released: (Span, &str),
) -> Option<OtherHeap> {
    let given = match &place.term {
        Term::Name(name) => of_variable(function, name),
        Term::Member { .. } => of_member(function, place, released.0),
        _ => None,
    }?;
    wrong(function, place, given, released)
}

/// `char *p __free(kfree) = vmemdup_user(from, n);`
fn at_end(function: &FunctionContext<'_>, local: &Local) -> Option<OtherHeap> {
    let file = function.file;
    let tokens = file.tokens_in(local.declared);
    let mut words = tokens.iter().filter(|own| own.kind == TokenKind::Word);
    words.find(|own| own.span.of(file.text) == b"__free")?;
    let name = words.next()?.span.text(file.text);
    let place = Expression {
        span: local.declared,
        term: Term::Name(local.name.clone()),
    };
    of_place(function, &place, (local.declared, &name))
}

/// What is wrong where what a call gave is given back by another one.
fn wrong(
    function: &FunctionContext<'_>,
    place: &Expression,
    (given, giver): (Span, String),
    (released, name): (Span, &str),
) -> Option<OtherHeap> {
    let heaps = function.file.words.heaps();
    let heap = heaps.given_by(&giver)?;
    let right = heaps.taken_back_by(name)?.contains(&heap);
    let told = heaps.told_by(heap).is_some_and(|told| {
        let mut calls = function.calls.iter();
        calls.any(|call| function.callee(*call) == Some(told))
    });
    (!right && !told).then(|| OtherHeap {
        what: match &place.term {
            Term::Name(name) => name.clone(),
            _ => function.file.plain(place.span),
        },
        given: (given, giver),
        released: (released, name.to_owned()),
    })
}

/// The call that gives a variable of the function all that it ever leads to, but for nothing.
fn of_variable(function: &FunctionContext<'_>, name: &str) -> Option<(Span, String)> {
    let graph = function.graph;
    let mut locals = graph.locals.iter().filter(|own| own.name == name);
    let local = locals.next().filter(|_| locals.next().is_none())?;
    (!local.array && !local.lasting).then_some(())?;
    let mut effects = graph.effects.iter();
    let elsewhere = effects.any(|own| {
        let set = match &own.kind {
            EffectKind::Write(write) => {
                let declares = local.declared.contains(own.span);
                write.value.is_none() && !declares || write.compound || write.next
            }
            EffectKind::Address | EffectKind::Handed { by_address: true } => true,
            EffectKind::Read | EffectKind::Handed { by_address: false } => false,
        };
        set && graph.name_of(own) == name && graph.is_whole(own)
    });
    let values = graph.assignments().filter(|(own, _)| *own == name);
    let values: Vec<Span> = values.map(|(_, value)| value).collect();
    (!elsewhere).then(|| only(function, &values))?
}

/// The same of a member that the function gives a value before, and never another one.
fn of_member(
    function: &FunctionContext<'_>,
    place: &Expression,
    released: Span,
) -> Option<(Span, String)> {
    let mut values = Vec::new();
    function.each_of(&["assignment_expression"], |node| {
        if let Some(value) = node.part("right")
            && let Term::Assignment(left, ..) = &function.expression_of(node).term
            && **left == *place
        {
            values.push(span(value));
        }
    });
    let given = only(function, &values)?;
    // What lies there before is somebody else's.
    let before = given.0.end <= released.start && function.comes_to(given.0, released);
    before.then_some(given)
}

/// The one call of several values, of which all others are nothing.
fn only(function: &FunctionContext<'_>, values: &[Span]) -> Option<(Span, String)> {
    let mut given = None;
    for place in values {
        let value = function.expression(*place)?;
        let value = value.uncast().1;
        if value.is_null() {
            continue;
        }
        let (name, _) = value.call()?;
        let heap = function.file.words.heaps().given_by(name)?;
        let other = given.replace((value.span, name.to_owned(), heap));
        if other.is_some_and(|(.., other)| other != heap) {
            return None;
        }
    }
    given.map(|(place, name, _)| (place, name))
}
