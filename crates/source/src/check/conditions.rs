//! Which `#if`s a place of a file stands under.

use crate::lex::{Token, TokenKind, tokens};
use crate::span::Span;

use super::context::FileContext;

/// Whether a place is compiled only where an option is not set: under `#ifndef OPTION`,
/// or the other side of `#ifdef OPTION`.
pub(super) fn is_without(file: &FileContext<'_>, place: Span, option: &str) -> bool {
    let before = file
        .tokens
        .iter()
        .take_while(|own| own.span.start < place.start);
    let lines = before.filter(|own| own.kind == TokenKind::Directive);
    // Of each `#if` around: whether it asks for the option or for its lack, and whether
    // the place is on its first side.
    let mut around: Vec<(Option<bool>, bool)> = Vec::new();
    for line in lines {
        let inside = tokens(
            file.text.get(..line.span.end).unwrap_or_default(),
            line.span.start + 1,
        );
        let word = |at: usize| {
            inside
                .get(at)
                .map_or(&b""[..], |own: &Token| own.span.of(file.text))
        };
        let named = word(1) == option.as_bytes() && inside.len() == 2;
        match word(0) {
            b"ifdef" => around.push((named.then_some(true), true)),
            b"ifndef" => around.push((named.then_some(false), true)),
            b"if" => around.push((None, true)),
            b"else" | b"elif" | b"elifdef" | b"elifndef" => {
                let asked = around.pop().and_then(|(asked, _)| asked);
                around.push((asked, false));
            }
            b"endif" => drop(around.pop()),
            _ => {}
        }
    }
    around
        .iter()
        .any(|(asked, first)| asked.is_some_and(|with| with != *first))
}
