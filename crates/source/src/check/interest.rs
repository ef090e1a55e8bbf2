//! What the words of a function say of whether the rules have to look at it.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::words::CheckWords;
use crate::lex::{Token, TokenKind};
use crate::span::Span;
use crate::vocabulary::Vocabulary;

/// What of a function's words there is to look at.
pub(super) struct Interest {
    /// Whether there is anything.
    pub(super) any: bool,
    /// Whether any of it is about a window.
    pub(super) window: bool,
    /// The words that open a scope with a cleanup.
    pub(super) scopes: Vec<Span>,
}

/// What the words of a file mean to the rules, each looked up once.
pub(super) struct Interests<'a> {
    text: &'a [u8],
    words: &'a CheckWords,
    vocabulary: &'a Vocabulary,
    known: HashMap<&'a [u8], Meaning, RandomState>,
}

#[derive(Clone, Copy)]
struct Meaning {
    any: bool,
    window: bool,
    scope: bool,
}

impl<'a> Interests<'a> {
    pub(super) fn new(text: &'a [u8], words: &'a CheckWords, vocabulary: &'a Vocabulary) -> Self {
        Self {
            text,
            words,
            vocabulary,
            known: HashMap::default(),
        }
    }

    pub(super) fn of(&mut self, tokens: &[Token]) -> Interest {
        let mut found = Interest {
            any: false,
            window: false,
            scopes: Vec::new(),
        };
        for token in tokens.iter().filter(|token| token.kind == TokenKind::Word) {
            let meaning = self.meaning(token.span.of(self.text));
            found.any |= meaning.any;
            found.window |= meaning.window;
            found.scopes.extend(meaning.scope.then_some(token.span));
        }
        found
    }

    fn meaning(&mut self, word: &'a [u8]) -> Meaning {
        let (words, vocabulary) = (self.words, self.vocabulary);
        let look = || match std::str::from_utf8(word) {
            Ok(name) => Meaning::of(name, words, vocabulary),
            Err(_) => Meaning::NONE,
        };
        *self.known.entry(word).or_insert_with(look)
    }
}

impl Meaning {
    const NONE: Self = Self {
        any: false,
        window: false,
        scope: false,
    };

    fn of(name: &str, words: &CheckWords, vocabulary: &Vocabulary) -> Self {
        let opens = words.begin(name).is_some() || words.end(name).is_some();
        let scoped = words.scoped(name).is_some();
        let window = opens || scoped || words.in_window(name).is_some();
        let accesses = words.access(name).is_some() || words.pair_of(name).is_some();
        Self {
            any: window || accesses || words.must_use(name.as_bytes()),
            window,
            scope: vocabulary.is_scope(name.as_bytes()),
        }
    }
}
