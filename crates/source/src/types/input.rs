//! Words of C as the reader of types takes them: those of a file and those that
//! macros put in their place.

use crate::lex::{Token, TokenKind};

/// One token with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) kind: TokenKind,
    pub(super) text: Box<str>,
}

impl Word {
    /// The token of a text.
    pub(super) fn of(text: &[u8], token: &Token) -> Self {
        Self {
            kind: token.kind,
            text: token.span.text(text).into_boxed_str(),
        }
    }

    /// An identifier.
    pub(super) fn name(text: &str) -> Self {
        Self {
            kind: TokenKind::Word,
            text: text.into(),
        }
    }

    /// Whether this is the punctuation byte `byte`.
    pub(super) fn is(&self, byte: u8) -> bool {
        self.kind == TokenKind::Punct(byte)
    }

    /// Whether this is an identifier or a keyword.
    pub(super) fn is_name(&self) -> bool {
        self.kind == TokenKind::Word
    }
}

/// Words that are read from the front, where macros put theirs.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    /// Last first.
    words: Vec<Word>,
}

impl Input {
    /// These words.
    pub(super) fn new(mut words: Vec<Word>) -> Self {
        words.reverse();
        Self { words }
    }

    /// The word so many behind the next.
    pub(super) fn peek(&self, ahead: usize) -> Option<&Word> {
        let last = self.words.len().checked_sub(ahead + 1)?;
        self.words.get(last)
    }

    /// The text of that word; empty behind the end.
    pub(super) fn text(&self, ahead: usize) -> &str {
        self.peek(ahead).map_or("", |word| &word.text)
    }

    /// The text of that word, if it is an identifier or a keyword.
    pub(super) fn name(&self, ahead: usize) -> Option<&str> {
        let word = self.peek(ahead).filter(|word| word.is_name())?;
        Some(&word.text)
    }

    /// Whether that word is a punctuation byte.
    pub(super) fn is(&self, ahead: usize, byte: u8) -> bool {
        self.peek(ahead).is_some_and(|word| word.is(byte))
    }

    /// Takes the next word.
    pub(super) fn next(&mut self) -> Option<Word> {
        self.words.pop()
    }

    /// Takes the next word if it is that punctuation byte.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.is(0, byte);
        if found {
            self.words.pop();
        }
        found
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many words are left.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Puts words before the next.
    pub(super) fn put(&mut self, words: Vec<Word>) {
        self.words.extend(words.into_iter().rev());
    }

    /// Takes a bracket, what it holds and its closing one; what it holds is
    /// returned. None if the next word opens none or it is not closed.
    pub(super) fn brackets(&mut self) -> Option<Vec<Word>> {
        let (opens, closes) = match self.peek(0)?.kind {
            TokenKind::Punct(b'(') => (b'(', b')'),
            TokenKind::Punct(b'{') => (b'{', b'}'),
            TokenKind::Punct(b'[') => (b'[', b']'),
            _ => return None,
        };
        self.next();
        let mut depth = 1usize;
        let mut inside = Vec::new();
        while let Some(word) = self.next() {
            depth += usize::from(word.is(opens));
            depth -= usize::from(word.is(closes));
            if depth == 0 {
                return Some(inside);
            }
            inside.push(word);
        }
        None
    }

    /// All that is left.
    pub(super) fn rest(self) -> Vec<Word> {
        self.words.into_iter().rev().collect()
    }

    /// All that is left, as it would be written.
    pub(super) fn written(&self) -> String {
        let words: Vec<&str> = self.words.iter().rev().map(|word| &*word.text).collect();
        words.join(" ")
    }
}

/// What commas part, outside of brackets; nothing is one part.
pub(super) fn parts(words: Vec<Word>) -> Vec<Vec<Word>> {
    let mut found = vec![Vec::new()];
    let mut depth = 0usize;
    for word in words {
        match word.kind {
            TokenKind::Punct(b'(' | b'[' | b'{') => depth += 1,
            TokenKind::Punct(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        match found.last_mut() {
            Some(last) if depth > 0 || !word.is(b',') => last.push(word),
            _ => found.push(Vec::new()),
        }
    }
    found
}
