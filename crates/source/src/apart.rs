//! Accesses too far apart for a window, as the tokens of a body show it: most
//! functions hold one access, and need not be parsed to say so.

use crate::lex::{Token, TokenKind, closing, is_called};
use crate::normalise::is_loop;
use crate::vocabulary::Vocabulary;

/// Where the accesses of a body begin, if no two of them can be in one window: a
/// loop, a switch or a case stands between any two, and none is in a loop. None
/// where only the parser can tell, or where the text is not what it would understand.
pub(crate) fn apart(text: &[u8], body: &[Token], vocabulary: &Vocabulary) -> Option<Vec<usize>> {
    let code: Vec<Token> = body
        .iter()
        .filter(|t| t.kind != TokenKind::Comment)
        .copied()
        .collect();
    let mut found = Vec::new();
    let mut divided = true;
    let mut looped = 0;
    for (at, token) in code.iter().enumerate() {
        match token.kind {
            // What the sides of an `#if` hold together is not known here.
            TokenKind::Directive => return None,
            TokenKind::Word if divides(token.span.of(text)) => {
                divided = true;
                // A loop in a loop ends with it.
                if at >= looped {
                    looped = end_of_loop(&code, at, token.span.of(text));
                }
            }
            // Whoever comes to the other arm has passed nothing of the first one.
            TokenKind::Word if token.span.of(text) == b"else" => divided = found.is_empty(),
            // A macro that is the head of a loop divides nothing.
            TokenKind::Word
                if at >= looped && is_head(&code, at, token.span.of(text), vocabulary) =>
            {
                looped = end_of_loop(&code, at, b"for");
            }
            TokenKind::Word if vocabulary.access(token.span.of(text)).is_some() => {
                if !is_called(&code, at) {
                    continue;
                }
                if !divided || at < looped || !is_whole(&code, at + 1) {
                    return None;
                }
                found.push(token.span.start);
                divided = false;
            }
            _ => {}
        }
    }
    is_balanced(&code).then_some(found)
}

/// Words of statements that a window may neither reach into nor out of.
fn divides(word: &[u8]) -> bool {
    matches!(
        word,
        b"for" | b"while" | b"do" | b"switch" | b"case" | b"default"
    )
}

/// Whether a word is a macro that is the head of a loop, and calls nothing.
fn is_head(code: &[Token], at: usize, word: &[u8], vocabulary: &Vocabulary) -> bool {
    is_loop(word) && vocabulary.is_pure(word) && is_called(code, at)
}

/// Where the loop that a word begins ends; 0 where it begins none.
fn end_of_loop(code: &[Token], at: usize, word: &[u8]) -> usize {
    let head = match word {
        b"for" | b"while" => closing(code, at + 1),
        b"do" => Some(at),
        _ => return 0,
    };
    let body = head.map_or(code.len(), |head| head + 1);
    match code.get(body) {
        // What follows a `do` ends with its condition.
        Some(first) if first.is(b'{') && word != b"do" => closing(code, body).unwrap_or(code.len()),
        Some(first) if first.is(b'{') => {
            let close = closing(code, body).unwrap_or(code.len());
            closing(code, close + 2).unwrap_or(code.len())
        }
        // One statement, which may be an `if` with several more: up to the end of
        // the block that holds it.
        _ => end_of_block(code, body),
    }
}

/// Where the block ends that a place stands in.
fn end_of_block(code: &[Token], from: usize) -> usize {
    let mut depth = 0usize;
    let rest = code.iter().enumerate().skip(from);
    for (at, token) in rest {
        match token.kind {
            TokenKind::Punct(b'{') => depth += 1,
            TokenKind::Punct(b'}') if depth == 0 => return at,
            TokenKind::Punct(b'}') => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// Whether a call has a value and an address, whichever they are.
fn is_whole(code: &[Token], open: usize) -> bool {
    let Some(close) = closing(code, open) else {
        return false;
    };
    let inside = code.get(open + 1..close).unwrap_or_default();
    let comma = inside.iter().position(|t| t.is(b','));
    comma.is_some_and(|comma| comma > 0 && comma + 1 < inside.len())
}

/// Whether every bracket closes the one that was opened last.
fn is_balanced(code: &[Token]) -> bool {
    let mut open = Vec::new();
    let closed = code.iter().all(|token| match token.kind {
        TokenKind::Punct(b'(') => {
            open.push(b')');
            true
        }
        TokenKind::Punct(b'[') => {
            open.push(b']');
            true
        }
        TokenKind::Punct(b'{') => {
            open.push(b'}');
            true
        }
        TokenKind::Punct(byte @ (b')' | b']' | b'}')) => open.pop() == Some(byte),
        _ => true,
    });
    closed && open.is_empty()
}

#[cfg(test)]
mod tests {
    // A test that cannot go on has failed.
    #![allow(clippy::unwrap_used)]

    use super::apart;
    use crate::Vocabulary;
    use crate::lex::tokens;

    fn count(body: &str) -> Option<usize> {
        let vocabulary = Vocabulary::builtin().unwrap();
        let found = apart(body.as_bytes(), &tokens(body.as_bytes(), 0), &vocabulary);
        found.map(|starts| starts.len())
    }

    #[test]
    fn what_stands_between_decides() {
        assert_eq!(count("{ return put_user(1, p); }"), Some(1));
        assert_eq!(count("{ put_user(1, p); put_user(2, q); }"), None);
        assert_eq!(
            count("{ put_user(1, p); while (x) { y(); } put_user(2, q); }"),
            Some(2)
        );
        assert_eq!(count("{ while (x) { put_user(1, p); } }"), None);
        assert_eq!(
            count("{ while (x) if (y) z(); else put_user(1, p); }"),
            None
        );
        assert_eq!(count("{ do { x(); } while (put_user(1, p)); }"), None);
        assert_eq!(
            count("{ case A: put_user(1, p); break; case B: put_user(2, q); }"),
            Some(2)
        );
    }

    #[test]
    fn where_only_the_parser_can_tell_it_is_asked() {
        assert_eq!(count("{\n#ifdef A\n put_user(1, p);\n#endif\n}"), None);
        assert_eq!(count("{ if ( put_user(1, p) } else (( }"), None);
        assert_eq!(count("{ put_user(1); }"), None);
        assert_eq!(count("{ put_user(1, p"), None);
    }
}
