//! The declared type of a variable, found among the tokens of its function.

use crate::lex::{Token, TokenKind};
use crate::types::{TypeName, array_dimensions, type_of_words};

/// The type of the nearest declaration of `name` that can be seen from the
/// token `at`: a word, stars, the name, and then what ends a declarator.
pub(super) fn declared(text: &[u8], tokens: &[Token], at: usize, name: &[u8]) -> Option<TypeName> {
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

fn declaration(text: &[u8], tokens: &[Token], at: usize) -> Option<TypeName> {
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
    typed(text, own, own, tokens.get(at + 1..)?)
}

/// A later declarator of a declaration: the type is that of the first.
fn shared(text: &[u8], own: &[Token], comma: usize, behind: &[Token]) -> Option<TypeName> {
    let words = own
        .iter()
        .position(|t| t.is(b'*') || t.is(b',') || t.is(b'=') || t.is(b'['))?;
    let first = own.get(words)?;
    let end = if first.is(b'*') {
        words
    } else {
        words.checked_sub(1)?
    };
    typed(text, own.get(..end)?, own.get(comma + 1..)?, behind)
}

/// The type of `words`, as a pointer for each star of the declarator.
fn typed(text: &[u8], words: &[Token], own: &[Token], behind: &[Token]) -> Option<TypeName> {
    let plain: Vec<Token> = words.iter().filter(|t| !t.is(b'*')).copied().collect();
    let named = type_of_words(text, &plain)?;
    Some(TypeName {
        pointers: own.iter().filter(|t| t.is(b'*')).count(),
        dimensions: match behind.first() {
            Some(open) if open.is(b'[') => array_dimensions(text, behind)?,
            _ => Vec::new(),
        },
        ..named
    })
}
