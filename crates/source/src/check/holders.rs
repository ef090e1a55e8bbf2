//! Structures that hold pointers to user memory, as their definitions say: who goes through such a
//! member by hand need not name `__user`.

use std::collections::BTreeSet;

use tollgate_defect::answer;

use crate::hashed::HashSet;
use crate::lex::{Token, TokenKind};
use crate::search::{Hashed, Likely};

/// Structures that hold a pointer to user memory, by their tags.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holders {
    all: HashSet<String>,
    likely: Likely,
}

impl Holders {
    pub(crate) fn of(tags: &BTreeSet<String>) -> Self {
        Self {
            all: tags.iter().cloned().collect(),
            likely: Likely::of(tags.iter().map(String::as_bytes)),
        }
    }

    /// Whether a word is the tag of one.
    pub(crate) fn hold(&self, word: &[u8], hashed: Hashed) -> bool {
        let own = || answer::text(word).is_some_and(|own| self.all.contains(own));
        self.likely.may_hold(hashed) && own()
    }
}

/// A brace that stands open.
#[derive(Default)]
struct Open {
    /// Whether it is a structure's.
    structure: bool,
    /// Its tag.
    tag: Option<String>,
    /// Whether a type is named for it.
    named: bool,
    /// Whether it holds a pointer to user memory.
    holds: bool,
}

impl Open {
    /// What a brace opens.
    fn of(text: &[u8], tokens: &[Token], brace: usize) -> Self {
        let before = |by: usize| tokens.get(brace.checked_sub(by)?);
        let is = |own: Option<&Token>| own.is_some_and(|own| is_structure(text, own));
        let named = |by: usize| before(by).is_some_and(|own| own.span.of(text) == b"typedef");
        match (is(before(1)), is(before(2))) {
            (true, _) => Self {
                structure: true,
                named: named(2),
                ..Self::default()
            },
            (_, true) => Self {
                structure: true,
                tag: before(1).and_then(|own| word(text, own)),
                named: named(3),
                holds: false,
            },
            _ => Self::default(),
        }
    }
}

/// The tags and the names of the structures of a file that hold a pointer to user memory, or one of
/// the others.
pub(super) fn holders(text: &[u8], tokens: &[Token]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (mut open, mut round): (Vec<Open>, usize) = (Vec::new(), 0);
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(b'{') => {
                open.push(Open::of(text, tokens, at));
                round = 0;
            }
            TokenKind::Punct(b'}') => {
                let Some(own) = open.pop().filter(|own| own.holds) else {
                    continue;
                };
                // `typedef struct { … } name_t;`
                let name = tokens.get(at + 1).filter(|_| own.named);
                let name = name.and_then(|own| word(text, own));
                found.extend(own.tag.into_iter().chain(name));
                let around = open.last_mut().into_iter();
                around.for_each(|around| around.holds = around.structure);
            }
            TokenKind::Punct(b'(') => round += 1,
            TokenKind::Punct(b')') => round = round.saturating_sub(1),
            // What a line of the preprocessor has left open.
            TokenKind::Punct(b';') => round = 0,
            TokenKind::Word if round == 0 => {
                let own = token.span.of(text) == b"__user" || is_held(text, tokens, at, &found);
                let around = open.last_mut().filter(|_| own).into_iter();
                around.for_each(|around| around.holds = around.structure);
            }
            _ => {}
        }
    }
    found
}

/// Whether a member is a structure that holds such a pointer, and no pointer to one.
fn is_held(text: &[u8], tokens: &[Token], at: usize, found: &BTreeSet<String>) -> bool {
    let kind = at.checked_sub(1).and_then(|at| tokens.get(at));
    let named = tokens.get(at + 1);
    let by_value = kind.is_some_and(|own| is_structure(text, own))
        && named.is_some_and(|own| own.kind == TokenKind::Word);
    let own = || word(text, tokens.get(at)?);
    by_value && own().is_some_and(|own| found.contains(&own))
}

fn is_structure(text: &[u8], own: &Token) -> bool {
    matches!(own.span.of(text), b"struct" | b"union")
}

fn word(text: &[u8], own: &Token) -> Option<String> {
    (own.kind == TokenKind::Word).then(|| own.span.text(text))
}
