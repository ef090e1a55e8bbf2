//! The tokens of C text: just enough to know code from comments, strings and
//! preprocessor lines. Total: any bytes give tokens.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::bound::DEEPEST;
use crate::span::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// An identifier or a keyword.
    Word,
    /// A number.
    Number,
    /// A string or character literal, with its quotes.
    Literal,
    /// A comment, with its marks.
    Comment,
    /// A whole preprocessor line with its continuation lines, line end excluded.
    Directive,
    /// One byte of punctuation; `...` is one token.
    Punct(u8),
}

/// One token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
}

impl Token {
    /// Whether this is the punctuation byte `byte`.
    #[must_use]
    pub fn is(&self, byte: u8) -> bool {
        self.kind == TokenKind::Punct(byte)
    }

    /// Whether the compiler proper sees this token.
    #[must_use]
    pub fn is_code(&self) -> bool {
        !matches!(self.kind, TokenKind::Comment | TokenKind::Directive)
    }
}

/// The tokens of `text` from byte `from` on; spans count from the start of `text`.
#[must_use]
pub fn tokens(text: &[u8], from: usize) -> Vec<Token> {
    let mut found = Vec::with_capacity(text.len().saturating_sub(from) / 5);
    put(text, from, &mut found);
    found
}

/// All tokens of a text, in the place of what some tokens were.
pub(crate) fn tokens_into(text: &[u8], found: &mut Vec<Token>) {
    found.clear();
    put(text, 0, found);
}

fn put(text: &[u8], from: usize, found: &mut Vec<Token>) {
    // A tenth faster than `extend`, which asks how many are left at each.
    for token in lex(text, from) {
        found.push(token);
    }
}

/// The same, one by one.
pub(crate) fn lex(text: &[u8], from: usize) -> impl Iterator<Item = Token> {
    Lexer {
        text,
        at: from,
        line_begins: true,
    }
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line_begins: bool,
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    #[inline]
    fn next(&mut self) -> Option<Token> {
        let (first, class) = self.skip_blanks()?;
        let start = self.at;
        let kind = match class {
            Class::Word => self.word(TokenKind::Word),
            Class::Number => self.word(TokenKind::Number),
            Class::Mark => self.mark(first),
            Class::Punct | Class::Blank | Class::Newline => self.punct(first, 1),
        };
        self.line_begins = kind == TokenKind::Comment && self.line_begins;
        Some(Token {
            kind,
            span: Span::new(start, self.at.min(self.text.len())),
        })
    }
}

/// What a byte may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Newline,
    Word,
    Number,
    /// Punctuation, or what is longer.
    Mark,
    Punct,
}

/// One look into a table for each byte, since every byte of every file that holds
/// an access is asked about.
const CLASSES: [Class; 256] = {
    let mut table = [Class::Punct; 256];
    let mut byte = 0u8;
    loop {
        table[byte as usize] = match byte {
            b' ' | b'\t' | b'\r' | b'\x0c' | b'\\' => Class::Blank,
            b'\n' => Class::Newline,
            b'0'..=b'9' => Class::Number,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => Class::Word,
            b'#' | b'/' | b'"' | b'\'' | b'.' => Class::Mark,
            _ => Class::Punct,
        };
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

fn class(byte: u8) -> Class {
    CLASSES[usize::from(byte)]
}

impl Lexer<'_> {
    #[inline(never)]
    fn mark(&mut self, first: u8) -> TokenKind {
        match first {
            b'#' if self.line_begins => self.directive(),
            b'/' if self.peek(1) == Some(b'/') => self.line_comment(),
            b'/' if self.peek(1) == Some(b'*') => self.block_comment(),
            b'"' | b'\'' => self.literal(first),
            b'.' if self.text.get(self.at..self.at + 3) == Some(b"...") => self.punct(b'.', 3),
            _ => self.punct(first, 1),
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    /// The first byte that is not blank.
    #[inline]
    fn skip_blanks(&mut self) -> Option<(u8, Class)> {
        loop {
            let byte = *self.text.get(self.at)?;
            match class(byte) {
                Class::Blank => {}
                Class::Newline => self.line_begins = true,
                other => return Some((byte, other)),
            }
            self.at += 1;
        }
    }

    fn punct(&mut self, byte: u8, length: usize) -> TokenKind {
        self.at += length;
        TokenKind::Punct(byte)
    }

    #[inline]
    fn word(&mut self, kind: TokenKind) -> TokenKind {
        let mut at = self.at + 1;
        while self.text.get(at).is_some_and(|byte| is_word(*byte)) {
            at += 1;
        }
        self.at = at;
        kind
    }

    fn line_comment(&mut self) -> TokenKind {
        self.at = self.logical_line_end(self.at);
        TokenKind::Comment
    }

    fn block_comment(&mut self) -> TokenKind {
        static END: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("*/"));
        let rest = self.text.get(self.at + 2..).unwrap_or_default();
        let end = END
            .find(rest)
            .map_or(self.text.len(), |at| self.at + at + 4);
        self.at = end;
        TokenKind::Comment
    }

    fn literal(&mut self, quote: u8) -> TokenKind {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => self.at += 2,
                // An unclosed quote ends with its line, as in `#error don't`.
                b'\n' => break,
                _ => self.at += 1,
            }
            if byte == quote {
                break;
            }
        }
        self.at = self.at.min(self.text.len());
        TokenKind::Literal
    }

    /// A comment that begins on the line may carry it over several.
    fn directive(&mut self) -> TokenKind {
        while let Some(rest) = self.text.get(self.at..) {
            let Some(next) = memchr::memchr2(b'\n', b'/', rest) else {
                self.at = self.text.len();
                break;
            };
            self.at += next;
            match rest.get(next) {
                Some(b'\n') if !self.continued(self.at) => break,
                Some(b'/') if self.peek(1) == Some(b'*') => {
                    self.block_comment();
                }
                Some(b'/') if self.peek(1) == Some(b'/') => {
                    self.line_comment();
                }
                _ => self.at += 1,
            }
        }
        TokenKind::Directive
    }

    fn logical_line_end(&self, from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        memchr::memchr_iter(b'\n', rest)
            .map(|at| from + at)
            .find(|&at| !self.continued(at))
            .unwrap_or(self.text.len())
    }

    fn continued(&self, newline: usize) -> bool {
        let before = |back: usize| newline.checked_sub(back).and_then(|at| self.text.get(at));
        match before(1) {
            Some(b'\\') => true,
            Some(b'\r') => before(2) == Some(&b'\\'),
            _ => false,
        }
    }
}

/// The whole word that a byte is in; empty if it is in none.
pub(crate) fn word_at(text: &[u8], byte: usize) -> Span {
    let before = text.get(..byte).unwrap_or_default();
    let start = before.iter().rposition(|byte| !is_word(*byte));
    let after = text.get(byte..).unwrap_or_default();
    let length = after.iter().position(|byte| !is_word(*byte));
    Span::new(
        start.map_or(0, |at| at + 1),
        byte + length.unwrap_or(after.len()),
    )
}

/// Whether a byte belongs to a word.
fn is_word(byte: u8) -> bool {
    matches!(class(byte), Class::Word | Class::Number)
}

/// Whether the word at `at` is called by its name: parentheses follow, and it is
/// no member, as in `x->ops->copy_to_user(a, b)`.
#[must_use]
pub fn is_called(tokens: &[Token], at: usize) -> bool {
    let follows = tokens.get(at + 1).is_some_and(|next| next.is(b'('));
    follows && !is_member(tokens, at)
}

/// Whether `.` or `->` stands before the token at `at`.
pub(crate) fn is_member(tokens: &[Token], at: usize) -> bool {
    let before = tokens.get(..at).unwrap_or_default().iter().rev();
    let mut before = before.filter(|token| token.is_code());
    match before.next() {
        Some(last) if last.is(b'.') => last.span.end - last.span.start == 1,
        Some(last) if last.is(b'>') => before
            .next()
            .is_some_and(|dash| dash.is(b'-') && dash.span.end == last.span.start),
        _ => false,
    }
}

/// The index of the token that closes the bracket opened at `open`, if any;
/// none where brackets are nested deeper than in any text that is looked at, so
/// that hostile text does not cost the square of its length.
#[must_use]
pub fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let (opens, closes) = match tokens.get(open)?.kind {
        TokenKind::Punct(b'(') => (b'(', b')'),
        TokenKind::Punct(b'{') => (b'{', b'}'),
        TokenKind::Punct(b'[') => (b'[', b']'),
        _ => return None,
    };
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        if token.is(opens) {
            depth += 1;
            if depth > DEEPEST {
                return None;
            }
        } else if token.is(closes) {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}

/// The index of the token that opens the block closed at `close`, with the limit
/// of [`closing`].
pub(crate) fn opening(tokens: &[Token], close: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().take(close + 1).rev() {
        if token.is(b'}') {
            depth += 1;
            if depth > DEEPEST {
                return None;
            }
        } else if token.is(b'{') {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}
