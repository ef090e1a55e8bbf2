//! A function of the file that another one calls, looked into where a rule asks for it.

use std::cell::OnceCell;
use std::collections::HashSet;

use crate::bound::is_bounded;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, Pieces, Source, build};
use crate::lex::{Token, TokenKind};
use crate::normalise::{Branches, Normalised, normalise_in};
use crate::parse::parse;
use crate::site::{Context, span};
use crate::span::Span;
use crate::split::Body;

use super::accesses::{self, Callees, Nodes};
use super::context::{Expressions, FileContext, FunctionContext};
use super::paths::Paths;
use super::tokens::{parameter_spans, parameters};

/// So many functions are looked into from one: what a file of a kernel asks for is far
/// below it, and a file that is made to do harm takes no longer.
pub(crate) const LOOKS: usize = 256;

/// What is said of a function of the file by its name; none where there is no such, or
/// it is not understood as a whole, or [`LOOKS`] were looked into already.
pub(crate) fn look_into<T>(
    function: &FunctionContext<'_>,
    name: &str,
    ask: impl FnOnce(&FunctionContext<'_>) -> Option<T>,
) -> Option<T> {
    look_at(function, function.file.body_named(name)?, Sides::All, ask)
}

/// The same of the first sides of its `#if`s, where that is enough.
pub(crate) fn look_into_first_side<T>(
    function: &FunctionContext<'_>,
    name: &str,
    ask: impl FnOnce(&FunctionContext<'_>) -> Option<T>,
) -> Option<T> {
    look_into_body(function, function.file.body_named(name)?, ask)
}

/// The same of a function that may have no name of its own: a system call.
pub(crate) fn look_into_body<T>(
    function: &FunctionContext<'_>,
    body: &Body,
    ask: impl FnOnce(&FunctionContext<'_>) -> Option<T>,
) -> Option<T> {
    look_at(function, body, Sides::First, ask)
}

/// Which sides of the `#if`s of a function have to be looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    /// A function that has several is not understood as a whole.
    All,
    First,
}

fn look_at<T>(
    function: &FunctionContext<'_>,
    body: &Body,
    sides: Sides,
    ask: impl FnOnce(&FunctionContext<'_>) -> Option<T>,
) -> Option<T> {
    let (file, vocabulary) = (function.file, function.context.vocabulary);
    function.pays()?;
    let tokens = file.tokens.get(body.tokens.clone())?;
    if !is_bounded(body.span, tokens) {
        return None;
    }
    // What stands behind the function need not be copied.
    let text = file.text.get(..body.span.end)?;
    let room = file.reused.room();
    let normalised = normalise_in(room, (text, tokens), vocabulary, Branches::First);
    let whole = sides == Sides::First || normalised.left_out.is_empty();
    let answer = match whole {
        true => look_at_normalised(function, (body, tokens), &normalised, ask),
        false => None,
    };
    file.reused.leave(normalised.text);
    answer
}

fn look_at_normalised<T>(
    function: &FunctionContext<'_>,
    (body, tokens): (&Body, &[Token]),
    normalised: &Normalised,
    ask: impl FnOnce(&FunctionContext<'_>) -> Option<T>,
) -> Option<T> {
    let (file, vocabulary) = (function.file, function.context.vocabulary);
    let Ok(tree) = file.tree(body, || parse(normalised, body.span, tokens)) else {
        return None;
    };
    let root = tree.root_node();
    let pointers = HashSet::new();
    let context = Context {
        original: file.text,
        normalised: &normalised.text,
        vocabulary,
        lines: &file.lines,
        wrappers: &[],
        user_pointers: &pointers,
    };
    let words = tokens.iter().filter(|own| own.kind == TokenKind::Word);
    let words = words.map(|own| own.span);
    let scopes = words.filter(|own| vocabulary.is_scope(own.of(file.text)));
    let scopes: Vec<Span> = scopes.collect();
    let source = Source {
        words: file.words,
        tokens: file.tokens_in(body.header.join(body.span)),
        scopes: &scopes,
        optional: &[],
        left_out: &[],
        points: false,
        pieces: &Pieces::default(),
    };
    let graph = file.flow(body, || build(&context, source, root));
    let nodes = Nodes::of(root);
    let calls = nodes.calls();
    let callees = Callees::new(&context, &calls);
    let callee = FunctionContext {
        file,
        context: &context,
        body,
        root,
        calls: &calls,
        callees: &callees,
        accesses: &accesses::accesses(&context, file.words, (&calls, &callees)),
        through: &[],
        known: function.known,
        graph: &graph,
        paths: &Paths::default(),
        unfenced: OnceCell::new(),
        stars: OnceCell::new(),
        read: Expressions::default(),
        nodes: &nodes,
    };
    match root.has_error() {
        true => None,
        false => ask(&callee),
    }
}

/// The name of a function's parameter in a place, which takes no other value.
pub(crate) fn parameter(function: &FunctionContext<'_>, at: usize) -> Option<String> {
    let file = function.file;
    let own = parameters(file.text, file.tokens, function.body)?;
    let own = own.into_iter().nth(at)?;
    let kept = function.is_parameter(&own) && !function.graph.takes_a_value(&own);
    kept.then_some(own)
}

/// The same of one that may be moved on: `p += n`.
fn pointer(function: &FunctionContext<'_>, at: usize) -> Option<String> {
    let file = function.file;
    let own = parameters(file.text, file.tokens, function.body)?;
    let own = own.into_iter().nth(at)?;
    let graph = function.graph;
    let another = |effect: &Effect| match &effect.kind {
        EffectKind::Write(write) => !write.next && !write.compound && graph.is_whole(effect),
        _ => false,
    };
    let mut effects = graph.effects.iter();
    let kept = !effects.any(|effect| another(effect) && graph.name_of(effect) == own);
    (kept && function.is_parameter(&own)).then_some(own)
}

/// Whether a function of the file declares the parameter in a place as a pointer, and not as
/// one to user memory.
pub(crate) fn takes_pointer(file: &FileContext<'_>, name: &str, at: usize) -> bool {
    let places = file
        .body_named(name)
        .and_then(|body| parameter_spans(file.tokens, body));
    let place = places.and_then(|places| places.get(at).copied());
    place.is_some_and(|place| {
        let own = file.tokens_in(place);
        let pointer = own.iter().any(|own| own.is(b'*') || own.is(b'['));
        pointer && !own.iter().any(|own| own.span.of(file.text) == b"__user")
    })
}

/// Where a function of the file loads or stores through the parameter in a place, or has
/// memcpy() or the like do it.
pub(crate) fn goes_through(function: &FunctionContext<'_>, name: &str, at: usize) -> Option<Span> {
    look_into(function, name, |callee| {
        let own = pointer(callee, at)?;
        let graph = callee.graph;
        let through = |effect: &&Effect| {
            has_value(effect) && graph.is_behind(effect) && graph.name_of(effect) == own
        };
        let plain = graph.effects.iter().find(through).map(|own| own.span);
        let stepped = || has_stepped_through(callee, &own);
        plain
            .or_else(stepped)
            .or_else(|| has_gone_through(callee, &own))
    })
}

/// Where a function loads or stores through a parameter that goes on there: `*p++`.
fn has_stepped_through(function: &FunctionContext<'_>, name: &str) -> Option<Span> {
    let mut found = None;
    function.each_of(&["pointer_expression"], |node| {
        if found.is_some() || function.context.operator(node) != b"*" {
            return;
        }
        found = match &function.expression_of(node).term {
            Term::Behind(of) => match &of.uncast().1.term {
                Term::Step(of) => (of.name() == Some(name)).then(|| span(node)),
                _ => None,
            },
            _ => None,
        };
    });
    found
}

/// Where a function gives the address that a variable holds to a call that goes through it.
fn has_gone_through(function: &FunctionContext<'_>, name: &str) -> Option<Span> {
    let is_own = |given: &Expression| {
        let place = given.uncast().1;
        let base = match &place.term {
            Term::Binary(left, operator, _) if operator == "+" => left.uncast().1,
            _ => place,
        };
        base.name() == Some(name)
    };
    let words = function.file.words;
    function.calls.iter().find_map(|call| {
        let callee = function.callee(*call)?;
        words.goes_by_hand(callee).then_some(())?;
        let whole = function.expression_of(*call);
        let (_, given) = whole.call()?;
        given.iter().find(|own| is_own(own)).map(|own| own.span)
    })
}

/// Whether what is there is loaded or stored, and not only its address taken.
fn has_value(effect: &Effect) -> bool {
    match &effect.kind {
        EffectKind::Read => true,
        EffectKind::Write(write) => write.value.is_some() || write.next,
        _ => false,
    }
}
