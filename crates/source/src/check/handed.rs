//! Functions of a file that are handed what another one fetched: they touch nothing of the
//! user's themselves, and yet what they do with a number may be wrong.

use tollgate_defect::answer;

use crate::Direction;
use crate::hashed::HashSet;
use crate::lex::{Token, TokenKind, closing};
use crate::split::Body;

use super::context::{FileContext, FunctionContext};
use super::tokens::parameters;
use super::words::CheckWords;

/// A function that is called with what the user gave, and by which argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Handed {
    pub(super) name: String,
    at: usize,
}

/// What a function hands on of what it fetched.
pub(super) fn handed(function: &FunctionContext<'_>) -> Vec<Handed> {
    let reads = function.accesses.iter().chain(function.through);
    let reads = reads.filter(|own| own.word.direction == Direction::Read);
    let mut roots: HashSet<String> = reads.map(|own| own.value_root.clone()).collect();
    for call in function.calls {
        let name = function.callee(*call);
        if name.is_some_and(|name| function.duplicates(name).is_some()) {
            let taker = function.taker(*call);
            roots.extend(taker.and_then(|own| own.root().name().map(str::to_owned)));
        }
    }
    let mut found = Vec::new();
    for call in function.calls.iter().filter(|_| !roots.is_empty()) {
        let Some(name) = function.callee(*call) else {
            continue;
        };
        if function.file.body_named(name).is_none() {
            continue;
        }
        let whole = function.expression_of(*call);
        let given = whole.call().map_or(&[][..], |(_, given)| given);
        let own = given.iter().enumerate().filter(|(_, own)| {
            let root = own.root().name();
            root.is_some_and(|root| roots.contains(root))
        });
        found.extend(own.map(|(at, _)| Handed {
            name: name.to_owned(),
            at,
        }));
    }
    found
}

/// Whether a function does something with a parameter that may be wrong: it picks an element,
/// shifts or divides by it, compares a sum that it is in, or gives what goes through addresses something of it.
pub(super) fn picks_by(
    file: &FileContext<'_>,
    body: &Body,
    own: &Handed,
    words: &CheckWords,
) -> bool {
    let Some(names) = parameters(file.text, file.tokens, body) else {
        return false;
    };
    let Some(name) = names.get(own.at) else {
        return false;
    };
    let tokens = file.tokens_of(body);
    let named =
        |own: &Token| own.kind == TokenKind::Word && own.span.of(file.text) == name.as_bytes();
    let made = made_of(file, tokens, named);
    let is_made = |own: &Token| made.contains(own.span.of(file.text));
    let inside = |at: usize| {
        let close = closing(tokens, at).unwrap_or(at);
        let within = tokens.get(at..close).unwrap_or_default();
        within.iter().any(|own| named(own) || is_made(own))
    };
    // `p->offset + p->length > size`
    let compares = tokens.iter().any(|own| own.is(b'<') || own.is(b'>'));
    let is_of_sum = |at: usize| {
        let adds = |at: usize| {
            tokens
                .get(at)
                .is_some_and(|own| own.is(b'+') || own.is(b'*'))
        };
        let near = at..at + 5;
        tokens.get(at).is_some_and(named)
            && (near.into_iter().any(adds) || adds(at.wrapping_sub(1)))
    };
    tokens.iter().enumerate().any(|(at, token)| {
        let next = tokens.get(at + 1);
        // By `n`, `(n`, `=n`
        let shifts = || {
            let shift = token.is(b'<') && next.is_some_and(|own| own.is(b'<'));
            let divides = token.is(b'/') || token.is(b'%');
            let behind = at + if shift { 2 } else { 1 };
            (shift || divides) && tokens.iter().skip(behind).take(2).any(named)
        };
        let hands = || {
            let word = answer::text(token.span.of(file.text));
            let opens = next.is_some_and(|own| own.is(b'('));
            opens && word.is_some_and(|word| words.goes_by_hand(word)) && inside(at + 1)
        };
        match token.kind {
            TokenKind::Word => {
                hands() || compares && (is_of_sum(at) || is_measured(file, tokens, at, named))
            }
            _ => token.is(b'[') && inside(at) || shifts(),
        }
    })
}

/// Whether something that is named is held against the size that stands there: `n > sizeof(p->all)`,
/// `sizeof(p->all) < n`.
fn is_measured(
    file: &FileContext<'_>,
    tokens: &[Token],
    at: usize,
    named: impl Fn(&Token) -> bool,
) -> bool {
    let is = |at: usize, all: &[u8]| {
        let own = tokens.get(at);
        own.is_some_and(|own| all.iter().any(|byte| own.is(*byte)))
    };
    let orders = |at: usize| is(at, b"<>");
    let sized = tokens
        .get(at)
        .is_some_and(|own| own.span.of(file.text) == b"sizeof");
    let Some(close) = sized.then(|| closing(tokens, at + 1)).flatten() else {
        return false;
    };
    let equal = usize::from(is(at.wrapping_sub(1), b"="));
    let before = match orders(at.wrapping_sub(1 + equal)) {
        true => at.saturating_sub(6)..at,
        false => at..at,
    };
    let after = match orders(close + 1) {
        true => close + 2..close + 5,
        false => at..at,
    };
    let mut sides = [before, after].into_iter().flatten();
    sides.any(|own| tokens.get(own).is_some_and(&named))
}

/// The variables that take something of what is named: `i` of `i = p->index - 1`.
fn made_of<'t>(
    file: &FileContext<'t>,
    tokens: &[Token],
    named: impl Fn(&Token) -> bool,
) -> HashSet<&'t [u8]> {
    let takes = (1..tokens.len()).filter(|at| tokens.get(*at).is_some_and(|own| own.is(b'=')));
    let made = takes.filter_map(|at| {
        let taker = tokens
            .get(at - 1)
            .filter(|own| own.kind == TokenKind::Word)?;
        let value = tokens.iter().skip(at + 1).take_while(|own| !own.is(b';'));
        let mut value = value.filter(|own| named(own));
        value.next().map(|_| taker.span.of(file.text))
    });
    made.collect()
}
