//! A size that the text gives, as a constant expression of C that needs nothing
//! of its function.

use super::is_cast;
use crate::lex::{Token, TokenKind, closing};
use crate::types::starts_type;
use tollgate_defect::answer;

/// The constant that the tokens are, with each variable in a `sizeof` written as
/// an object of its type; none if something in them is only known when the
/// program runs. `declared` gives what a pointer to a variable is cast to.
pub(super) fn constant(
    text: &[u8],
    tokens: &[Token],
    declared: &dyn Fn(&[u8]) -> Option<String>,
) -> Option<String> {
    let mut out = String::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let word = token.span.of(text);
        let rest = tokens.get(at..)?;
        let length = match token.kind {
            TokenKind::Number => 1,
            TokenKind::Punct(b'(') => cast(text, rest).unwrap_or(1),
            TokenKind::Punct(byte) if b")+-*/%<>&|^~,".contains(&byte) => 1,
            TokenKind::Word if measures(word) => {
                let length = operand(rest)?;
                out += &named(text, rest.get(..length)?, declared);
                at += length;
                continue;
            }
            TokenKind::Word if is_constant(word) => 1,
            _ => return None,
        };
        append(&mut out, text, rest.get(..length)?);
        at += length;
    }
    (!out.is_empty()).then_some(out)
}

fn append(out: &mut String, text: &[u8], tokens: &[Token]) {
    for token in tokens {
        *out += &token.span.text(text);
        out.push(' ');
    }
}

/// Words whose operands are not evaluated.
fn measures(word: &[u8]) -> bool {
    matches!(
        word,
        b"sizeof" | b"offsetof" | b"offsetofend" | b"sizeof_field" | b"ARRAY_SIZE"
    )
}

/// Names of macros.
fn is_constant(word: &[u8]) -> bool {
    word.iter()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
}

/// A cast at the front.
fn cast(text: &[u8], tokens: &[Token]) -> Option<usize> {
    let close = closing(tokens, 0)?;
    let inside = tokens.get(1..close)?;
    let alone = inside.first()?.span.of(text);
    let typed = answer::text(alone).is_some_and(starts_type) || alone.ends_with(b"_t");
    (is_cast(inside) || inside.len() == 1 && typed).then_some(close + 1)
}

/// `sizeof(…)`, or `sizeof` and what follows without parentheses.
fn operand(tokens: &[Token]) -> Option<usize> {
    match tokens.get(1)?.is(b'(') {
        true => closing(tokens, 1).map(|close| close + 1),
        false => Some(tokens.len()),
    }
}

/// An operand with its variable written as an object of its type.
fn named(text: &[u8], tokens: &[Token], declared: &dyn Fn(&[u8]) -> Option<String>) -> String {
    let mut out = String::new();
    let mut first = true;
    for (at, token) in tokens.iter().enumerate() {
        let word = token.span.of(text);
        let variable = at > 0 && token.kind == TokenKind::Word && first;
        let typed = answer::text(word).is_some_and(starts_type);
        match variable
            .then(|| declared(word))
            .flatten()
            .filter(|_| !typed)
        {
            Some(of) => out += &format!("(*({of})0) "),
            None => append(&mut out, text, &[*token]),
        }
        first &= !variable;
    }
    out
}
