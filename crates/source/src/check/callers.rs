//! Who of a file calls which of its functions, and as what its tables have them.

use tollgate_defect::answer;

use crate::hashed::{HashMap, HashSet};
use crate::lex::{Token, TokenKind};
use crate::search::{Hashed, Likely};

use super::words::CheckWords;

/// What a file says of its functions elsewhere than in them. To look for it takes the whole
/// file, so that it is done for all of them at once.
#[derive(Default)]
pub(crate) struct Callers {
    /// Of each function the places of those that call it.
    callers: HashMap<usize, Vec<usize>>,
    /// Of each function the members of tables that it is put in, as tokens.
    handlers: HashMap<usize, Vec<usize>>,
    /// Those that something names and does not call.
    kept: HashSet<usize>,
}

impl Callers {
    /// Of the functions of a file, of which these are the tokens, and the places by their names:
    /// several on sides of an `#if`.
    pub(super) fn of(
        text: &[u8],
        tokens: &[Token],
        bodies: &[&[Token]],
        places: &HashMap<String, Vec<usize>>,
        words: &CheckWords,
    ) -> Self {
        let mut all = Self::default();
        let names = Likely::of(places.keys().map(String::as_bytes));
        let named = |own: &Token| {
            let word = (own.kind == TokenKind::Word).then(|| own.span.of(text))?;
            names.may_hold(Hashed::of(word)).then_some(word)
        };
        for (at, inside) in bodies.iter().enumerate() {
            let called = inside.windows(2).filter_map(|two| match two {
                [word, open] if open.is(b'(') => named(word),
                _ => None,
            });
            called.for_each(|name| note(places, &mut all.callers, name, at));
        }
        let kept = tokens.windows(2).filter_map(|two| match two {
            [word, next] if !next.is(b'(') => answer::text(named(word)?),
            _ => None,
        });
        let kept = kept.filter_map(|name| places.get(name)).flatten();
        all.kept = kept.copied().collect();
        for (at, four) in tokens.windows(4).enumerate() {
            let [dot, member, equal, name] = four else {
                continue;
            };
            if !dot.is(b'.') || !equal.is(b'=') {
                continue;
            }
            let name = named(name);
            let name = name.filter(|_| words.handlers().get(member.span.of(text)).is_some());
            if let Some(name) = name {
                note(places, &mut all.handlers, name, at + 1);
            }
        }
        all
    }

    /// The places of the functions that call one, in order.
    pub(super) fn callers(&self, body: usize) -> &[usize] {
        self.callers.get(&body).map_or(&[], Vec::as_slice)
    }

    /// Whether something keeps one, or names it otherwise than to call it.
    pub(super) fn is_kept(&self, body: usize) -> bool {
        self.kept.contains(&body)
    }

    /// The members of tables that have one, as the places of their tokens.
    pub(super) fn handlers(&self, body: usize) -> &[usize] {
        self.handlers.get(&body).map_or(&[], Vec::as_slice)
    }
}

/// Notes a place for each function of a name.
fn note(
    places: &HashMap<String, Vec<usize>>,
    of: &mut HashMap<usize, Vec<usize>>,
    name: &[u8],
    at: usize,
) {
    let name = answer::text(name);
    let own = name.and_then(|name| places.get(name));
    for body in own.into_iter().flatten() {
        let known = of.entry(*body).or_default();
        if known.last() != Some(&at) {
            known.push(at);
        }
    }
}
