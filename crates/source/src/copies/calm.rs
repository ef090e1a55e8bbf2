//! Whether a window may stay open from one call to the next.

use super::Place;
use crate::lex::{Token, TokenKind, closing};

/// Whether both of two calls happen one after the other, with nothing between
/// but arithmetic, assignments and exits: no call, no loop, no other branch.
/// `first` and `second` are the places of their names, `close` that of the
/// first's closing parenthesis.
pub(super) fn is_calm(place: &Place<'_>, first: usize, close: usize, second: usize) -> bool {
    let between = place.tokens.get(close + 1..second).unwrap_or_default();
    // Behind a block nothing needs to stand.
    let block = close == first;
    let quiet = (block || !between.is_empty()) && between.len() < LONGEST;
    quiet
        && !place.is_left_behind(first)
        && stays(between)
        && (0..between.len()).all(|at| place.is_quiet(close + 1 + at, second))
}

/// More tokens than this between two calls are more than a window should span.
const LONGEST: usize = 120;

/// Whether no block is left or entered for good.
fn stays(between: &[Token]) -> bool {
    let mut depth = 0isize;
    let lowest = between
        .iter()
        .map(|token| {
            depth += match token.kind {
                TokenKind::Punct(b'{') => 1,
                TokenKind::Punct(b'}') => -1,
                _ => 0,
            };
            depth
        })
        .min();
    depth == 0 && lowest.is_none_or(|lowest| lowest >= 0)
}

impl Place<'_> {
    /// Whether the statement of a call leaves the function with it, or happens
    /// only if something holds.
    fn is_left_behind(&self, call: usize) -> bool {
        let start = self.statement_start(call);
        let mut at = start;
        while at < call {
            match self.word(at) {
                b"return" => return true,
                b"if" | b"while" | b"for" | b"switch" => {
                    let close = closing(&self.tokens, at + 1).unwrap_or(call);
                    // The call is inside the condition, or is what it decides on.
                    if close < call {
                        return true;
                    }
                    return self.word(at) != b"if";
                }
                b"else" | b"do" => return true,
                _ => at += 1,
            }
        }
        false
    }

    /// The token at which the statement of a call begins.
    pub(super) fn statement_start(&self, call: usize) -> usize {
        let ends = |t: &Token| t.is(b';') || t.is(b'{') || t.is(b'}');
        let before = self.tokens.get(..call).unwrap_or_default();
        before.iter().rposition(ends).map_or(0, |at| at + 1)
    }

    /// Whether the token between two calls lets a window stay open; `second` is
    /// the later of the two.
    fn is_quiet(&self, at: usize, second: usize) -> bool {
        let Some(token) = self.tokens.get(at) else {
            return false;
        };
        match (token.kind, self.word(at)) {
            (TokenKind::Directive, _) => !is_other_side(token.span.of(self.text)),
            (TokenKind::Punct(b'?'), _) => false,
            (TokenKind::Punct(b'&'), _) => !self.joins(at),
            (TokenKind::Punct(b':'), _) => false,
            (
                TokenKind::Word,
                b"for" | b"while" | b"do" | b"switch" | b"case" | b"default" | b"else" | b"asm",
            ) => false,
            (TokenKind::Word, b"if") => {
                let close = closing(&self.tokens, at + 1).unwrap_or(second);
                close >= second || self.statement_start(second) > close
            }
            (TokenKind::Word, word) if self.tokens.get(at + 1).is_some_and(|t| t.is(b'(')) => {
                matches!(word, b"return" | b"sizeof" | b"defined")
                    || self.vocabulary.is_transparent(word)
                    || self.vocabulary.is_pure(word)
            }
            _ => true,
        }
    }

    /// `&&`: what follows may not happen.
    fn joins(&self, at: usize) -> bool {
        self.tokens.get(at + 1).is_some_and(|t| t.is(b'&'))
    }
}

fn is_other_side(line: &[u8]) -> bool {
    let line = line
        .strip_prefix(b"#")
        .unwrap_or_default()
        .trim_ascii_start();
    line.starts_with(b"el")
}
