//! What preprocessor lines say of a function: which code a configuration may
//! leave out.

use tollgate_source::{Span, Token, TokenKind, tokens};

/// A preprocessor line without its `#`, such as `ifdef CONFIG_COMPAT`.
pub(crate) fn words(text: &[u8], line: &Token) -> String {
    let words = line.span.text(text);
    words.trim_start_matches('#').trim_start().to_owned()
}

fn lines(text: &[u8], place: Span) -> impl Iterator<Item = (Span, String)> {
    let upto = text.get(..place.end).unwrap_or_default();
    tokens(upto, place.start)
        .into_iter()
        .filter(|token| token.kind == TokenKind::Directive)
        .map(move |line| (line.span, words(text, &line)))
}

/// Whether a configuration may leave out what ends at `byte` and keep what
/// stands at `end`: an `#if` around the first ends between them.
pub(crate) fn is_left_between(text: &[u8], byte: usize, end: usize) -> bool {
    let mut depth = 0usize;
    for (_, line) in lines(text, Span::new(byte, end)) {
        if line.starts_with("if") {
            depth += 1;
        } else if depth == 0 && (line.starts_with("endif") || line.starts_with("el")) {
            return true;
        } else if line.starts_with("endif") {
            depth -= 1;
        }
    }
    false
}

/// The `#if` lines that a configuration must let through to reach `byte` and not
/// for what stands at the end of `place`; none if it stands on another side of
/// one than the first.
pub(crate) fn conditions(text: &[u8], place: Span, byte: usize) -> Option<Vec<String>> {
    let mut open: Vec<Option<String>> = Vec::new();
    for (span, line) in lines(text, Span::new(place.start, byte)) {
        if line.starts_with("if") {
            open.push(Some(span.text(text)));
        } else if line.starts_with("endif") {
            open.pop();
        } else if line.starts_with("el") {
            *open.last_mut()? = None;
        }
    }
    open.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\n#ifdef X\nb\n#ifdef Y\nc\n#else\nd\n#endif\n#else\ne\n#endif\nf\n";

    fn at(name: char) -> usize {
        TEXT.match_indices(name)
            .map(|(at, _)| at)
            .find(|at| {
                TEXT.get(at + 1..at + 2) == Some("\n")
                    && TEXT
                        .get(..*at)
                        .is_none_or(|t| t.is_empty() || t.ends_with('\n'))
            })
            .unwrap()
    }

    #[test]
    fn code_under_a_condition_may_be_left_out() {
        let left = |name| is_left_between(TEXT.as_bytes(), at(name), TEXT.len());
        assert_eq!(
            ['a', 'b', 'c', 'd', 'e', 'f'].map(left),
            [false, true, true, true, true, false]
        );
    }

    #[test]
    fn the_conditions_of_a_place_are_known() {
        let of = |name| conditions(TEXT.as_bytes(), Span::new(0, TEXT.len()), at(name));
        assert_eq!(of('a'), Some(Vec::new()));
        assert_eq!(of('c').unwrap().concat(), "#ifdef X#ifdef Y");
        assert_eq!(['d', 'e'].map(of), [None, None]);
        assert_eq!(of('f'), Some(Vec::new()));
    }
}
