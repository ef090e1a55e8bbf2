//! Words and preprocessor lines, as the text of a file has them where nothing is lexed yet.

use crate::span::Span;

/// Whether nothing but blanks stands before a place in its line.
pub(super) fn begins_line(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let blanks = before.iter().rev().find(|b| !matches!(b, b' ' | b'\t'));
    blanks.is_none_or(|byte| *byte == b'\n')
}

/// The first word of a preprocessor line, and the place behind it.
pub(super) fn directive(text: &[u8], line: Span) -> (&[u8], usize) {
    let all = line.of(text);
    let blank = |from: usize| {
        let rest = all.get(from..).unwrap_or_default();
        let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t'));
        from + blanks.count()
    };
    let start = blank(1);
    let rest = all.get(start..).unwrap_or_default();
    let length = rest.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let word = rest.get(..length).unwrap_or_default();
    (word, line.start + blank(start + length))
}

/// What `<name>` or `"name"` at the front includes, and whether it has quotes.
pub(super) fn spelled(text: &[u8]) -> Option<(String, bool)> {
    let (open, rest) = text.split_first()?;
    let close = match open {
        b'<' => b'>',
        b'"' => b'"',
        _ => return None,
    };
    let name = rest.get(..memchr::memchr(close, rest)?)?;
    Some((String::from_utf8_lossy(name).into_owned(), *open == b'"'))
}

/// The name that stands at a place; empty if none does.
pub(crate) fn name_at(text: &[u8], at: usize) -> &[u8] {
    let rest = text.get(at..).unwrap_or_default();
    let word = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
    let length = rest.iter().take_while(word).count();
    rest.get(..length).unwrap_or_default()
}

/// The name that a text ends with; empty if it ends with none.
pub(crate) fn name_before(text: &[u8]) -> &[u8] {
    let word = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
    let length = text.iter().rev().take_while(word).count();
    text.get(text.len() - length..).unwrap_or_default()
}

/// Whether a name is spelled as macros are.
pub(crate) fn is_loud(word: &[u8]) -> bool {
    let shouts = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_';
    word.starts_with(b"__") || !word.is_empty() && word.iter().all(shouts)
}

/// Whether a text is one name.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && name_at(text.as_bytes(), 0).len() == text.len()
}
