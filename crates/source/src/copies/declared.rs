//! The declared type of a variable, found among the tokens of its function.

use crate::lex::{Token, TokenKind, closing};
use crate::types::{Dimensions, is_qualifier, starts_type};

/// A pointer to the type of the nearest declaration of `name` that can be seen from the
/// token `at`: a word, stars, the name, and then what ends a declarator.
pub(super) fn declared(text: &[u8], tokens: &[Token], at: usize, name: &[u8]) -> Option<String> {
    let mut depth = 0usize;
    for place in (0..at).rev() {
        let token = tokens.get(place)?;
        match token.kind {
            TokenKind::Punct(b'}') => depth += 1,
            // The braces of a block that `at` lies in are not closed yet.
            TokenKind::Punct(b'{') => depth = depth.saturating_sub(1),
            TokenKind::Word if depth == 0 && token.span.of(text) == name => {
                if let Some(found) = declaration(text, tokens, place) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether an opening parenthesis may stand before a declaration: that of a
/// function's header, or of a `for`.
fn may_declare(text: &[u8], before: &[Token]) -> bool {
    let header = !before.iter().any(|t| t.is(b'{'));
    let call = before.len().checked_sub(2).and_then(|at| before.get(at));
    header || call.is_some_and(|t| t.span.of(text) == b"for")
}

fn declaration(text: &[u8], tokens: &[Token], at: usize) -> Option<String> {
    let next = tokens.get(at + 1)?;
    if ![b';', b',', b'=', b')', b'['].iter().any(|b| next.is(*b)) {
        return None;
    }
    let before = tokens.get(..at)?;
    let start = before
        .iter()
        .rposition(|t| {
            [b';', b'{', b'}', b'('].iter().any(|b| t.is(*b)) || t.kind == TokenKind::Directive
        })
        .map_or(0, |at| at + 1);
    let own = before.get(start..)?;
    // `struct x a, *b` declares both with the same words; in the header of a
    // function, the words behind the last comma are the parameter's own.
    let parameter = before
        .get(start.checked_sub(1)?)
        .is_some_and(|t| t.is(b'('));
    if parameter && !may_declare(text, before.get(..start)?) {
        return None;
    }
    let own = match own.iter().rposition(|t| t.is(b',')) {
        Some(comma) if parameter => own.get(comma + 1..)?,
        Some(comma) => return shared(text, own, comma, tokens.get(at + 1..)?),
        None => own,
    };
    typed(text, own, own, tokens.get(at + 1..)?, parameter)
}

/// A later declarator of a declaration: the type is that of the first.
fn shared(text: &[u8], own: &[Token], comma: usize, behind: &[Token]) -> Option<String> {
    let words = own
        .iter()
        .position(|t| t.is(b'*') || t.is(b',') || t.is(b'=') || t.is(b'['))?;
    let first = own.get(words)?;
    let end = if first.is(b'*') {
        words
    } else {
        words.checked_sub(1)?
    };
    let rest = own.get(comma + 1..)?;
    typed(text, own.get(..end)?, rest, behind, false)
}

/// A pointer to the type of `words`, which has a star for each of the declarator's; a
/// parameter that is written as an array is a pointer to its elements.
fn typed(
    text: &[u8],
    words: &[Token],
    own: &[Token],
    behind: &[Token],
    parameter: bool,
) -> Option<String> {
    let base = base(text, words)?;
    let stars = "*".repeat(own.iter().filter(|t| t.is(b'*')).count());
    if !behind.first()?.is(b'[') {
        return Some(format!("{base} {stars}*"));
    }
    if parameter {
        let first = closing(behind, 0)?;
        return match behind.get(first + 1)?.is(b'[') {
            // An array behind it: the star of the pointer goes to what holds that.
            true => None,
            false => Some(format!("{base} {stars}**")),
        };
    }
    let dimensions = Dimensions::read(text, behind)?;
    Some(dimensions.pointer(&format!("{base} {stars}")))
}

/// The words of a type: those that are known to be one, or a single word that
/// may be a typedef.
fn base(text: &[u8], words: &[Token]) -> Option<String> {
    let own = words.iter().filter(|t| !t.is(b'*'));
    let words: Vec<String> = own
        .filter(|t| !is_qualifier(t.span.of(text)))
        .map(|t| t.span.text(text))
        .collect();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let tagged = words.len() == 2 && matches!(word(0), "struct" | "union" | "enum");
    let plain = !words.is_empty() && words.iter().all(|word| starts_type(word));
    let single = words.len() == 1
        && word(0).starts_with(|c: char| c.is_alphabetic() || c == '_')
        && !matches!(word(0), "return" | "goto" | "else" | "do" | "case");
    (tagged || plain || single).then(|| words.join(" "))
}
