//! Why a function that is there has nothing to rewrite.

use tollgate_source::{LineIndex, Token, TokenKind, Vocabulary, bodies, tokens};

use crate::target::Target;

/// What a function of that text has instead of accesses of single values that open the
/// gate by themselves: its window, copies, or none that is known. None where there is no
/// such function.
#[must_use]
pub fn instead(text: &[u8], target: &Target, vocabulary: &Vocabulary) -> Option<String> {
    let tokens = tokens(text, 0);
    let bodies = bodies(text, &tokens, vocabulary);
    let body = bodies.iter().find(|body| body.name == target.function)?;
    let lines = LineIndex::new(text);
    let line = lines.position(body.name_span.start).line;
    let words = tokens.get(body.tokens.clone())?.iter();
    let words: Vec<&Token> = words
        .filter(|token| token.kind == TokenKind::Word)
        .collect();
    let opens = |token: &&&Token| vocabulary.window(token.span.of(text)).is_some();
    let copies = |token: &&&Token| vocabulary.copy(token.span.of(text)).is_some();
    let shown = |token: &Token| {
        let line = lines.position(token.span.start).line;
        let name = String::from_utf8_lossy(token.span.of(text));
        format!("{name}() in line {line}")
    };
    let (path, function) = (&target.path, &target.function);
    let window = words.iter().find(opens).copied();
    let copy = words.iter().find(copies).copied();
    Some(match (window, copy) {
        (Some(window), _) => format!(
            "{path}:{line}: {function} has its window already: {}; there is nothing to fix",
            shown(window)
        ),
        (None, Some(copy)) => format!(
            "{path}:{line}: {function} has no access of a single value, only copies: {}; of copies there is a form only \
             where the size is known at run time (--style size-switch)",
            shown(copy)
        ),
        (None, None) => {
            format!("{path}:{line}: {function} has no user access that tollgate knows")
        }
    })
}
