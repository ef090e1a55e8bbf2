//! Who of a file calls which of its functions, and as what its tables have them.

use tollgate_defect::answer;

use crate::hashed::{HashMap, HashSet};
use crate::lex::{Token, TokenKind};
use crate::search::{Hashed, Likely};

use super::words::CheckWords;

/// What a file says of its functions elsewhere than in them. To look for it takes the whole
/// file, so that it is done for all of them at once; and for each of the three by itself, since few
/// files are asked for all.
pub(super) struct Sought<'a> {
    pub(super) text: &'a [u8],
    pub(super) tokens: &'a [Token],
    /// The places of the functions by their names: several on sides of an `#if`.
    pub(super) places: &'a HashMap<String, Vec<usize>>,
}

impl<'a> Sought<'a> {
    /// Of each function the places of those that call it, in order; `bodies` are their tokens.
    pub(super) fn callers(&self, bodies: &[&[Token]]) -> HashMap<usize, Vec<usize>> {
        let named = self.named();
        let mut all = HashMap::default();
        for (at, inside) in bodies.iter().enumerate() {
            let called = inside.windows(2).filter_map(|two| match two {
                [word, open] if open.is(b'(') => named(word),
                _ => None,
            });
            called.for_each(|name| note(self.places, &mut all, name, at));
        }
        all
    }

    /// Those that something keeps, or names otherwise than to call it.
    pub(super) fn kept(&self) -> HashSet<usize> {
        let named = self.named();
        let kept = self.tokens.windows(2).filter_map(|two| match two {
            [word, next] if !next.is(b'(') => answer::text(named(word)?),
            _ => None,
        });
        let kept = kept.filter_map(|name| self.places.get(name)).flatten();
        kept.copied().collect()
    }

    /// Of each function the members of tables that it is put in, as the places of their tokens.
    pub(super) fn handlers(&self, words: &CheckWords) -> HashMap<usize, Vec<usize>> {
        let named = self.named();
        let mut all = HashMap::default();
        for (at, four) in self.tokens.windows(4).enumerate() {
            let [dot, member, equal, name] = four else {
                continue;
            };
            if !dot.is(b'.') || !equal.is(b'=') {
                continue;
            }
            let name = named(name);
            let name = name.filter(|_| words.handlers().get(member.span.of(self.text)).is_some());
            if let Some(name) = name {
                note(self.places, &mut all, name, at + 1);
            }
        }
        all
    }

    /// The name that a token is, where a function of the file may have it.
    fn named(&self) -> impl Fn(&Token) -> Option<&'a [u8]> + use<'a> {
        let (text, names) = (
            self.text,
            Likely::of(self.places.keys().map(String::as_bytes)),
        );
        move |own| {
            let word = (own.kind == TokenKind::Word).then(|| own.span.of(text))?;
            names.may_hold(Hashed::of(word)).then_some(word)
        }
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
