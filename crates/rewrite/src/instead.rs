//! Why a function that is there has nothing to rewrite.

use tollgate_source::{LineIndex, Token, TokenKind, Vocabulary, bodies, tokens};

use crate::target::Target;

/// What a function of that text has instead of accesses that open the gate by
/// themselves: its window, or none that is known. None where there is no such function.
#[must_use]
pub fn instead(text: &[u8], target: &Target, vocabulary: &Vocabulary) -> Option<String> {
    let tokens = tokens(text, 0);
    let bodies = bodies(text, &tokens, vocabulary);
    let body = bodies.iter().find(|body| body.name == target.function)?;
    let lines = LineIndex::new(text);
    let line = lines.position(body.name_span.start).line;
    let words = tokens.get(body.tokens.clone())?.iter();
    let word = |token: &&Token| vocabulary.window(token.span.of(text)).is_some();
    let (path, function) = (&target.path, &target.function);
    let found = words
        .filter(|token| token.kind == TokenKind::Word)
        .find(word);
    Some(match found {
        Some(token) => format!(
            "{path}:{line}: {function} has its window already: {}() in line {}; there is nothing to fix",
            String::from_utf8_lossy(token.span.of(text)),
            lines.position(token.span.start).line
        ),
        None => format!("{path}:{line}: {function} has no user access that tollgate knows"),
    })
}
