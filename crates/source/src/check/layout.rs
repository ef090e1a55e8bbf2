//! The layout of a struct as a 64-bit kernel has it, as far as its text shows.

use std::collections::HashMap;

use crate::lex::{Token, TokenKind, closing};
use crate::span::Span;
use crate::vocabulary::Vocabulary;

/// The size of a `long` and of a pointer, in bytes.
const LONG: u64 = 8;

/// A member of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Where it begins and how long it is, in bytes.
    pub(crate) at: u64,
    pub(crate) size: u64,
}

/// A struct all of whose members have a known size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) members: Vec<Member>,
    pub(crate) size: u64,
}

impl Layout {
    /// Bytes that no member covers: where each gap begins and how long it is.
    pub(crate) fn holes(&self) -> Vec<(u64, u64)> {
        let mut holes = Vec::new();
        let mut end = 0;
        for member in &self.members {
            if member.at > end {
                holes.push((end, member.at - end));
            }
            end = end.max(member.at.saturating_add(member.size));
        }
        if self.size > end {
            holes.push((end, self.size - end));
        }
        holes
    }
}

/// The layouts of the structs that a file defines; one that holds what is not
/// known here is left out.
pub(crate) fn layouts(
    vocabulary: &Vocabulary,
    text: &[u8],
    tokens: &[Token],
) -> HashMap<String, Layout> {
    let mut found = HashMap::new();
    for at in 0..tokens.len() {
        let word = |i: usize| tokens.get(i).map(|t| t.span.of(text)).unwrap_or_default();
        let defines = word(at) == b"struct" && tokens.get(at + 2).is_some_and(|t| t.is(b'{'));
        if !defines {
            continue;
        }
        let near = tokens
            .get(..tokens.len().min(at + 2000))
            .unwrap_or_default();
        let Some(close) = closing(near, at + 2) else {
            continue;
        };
        let name = String::from_utf8_lossy(word(at + 1)).into_owned();
        let packed = (close..close + 8).any(|i| word(i) == b"__packed" || word(i) == b"packed");
        let inside = tokens.get(at + 3..close).unwrap_or_default();
        if let Some(layout) = layout(vocabulary, text, inside, packed) {
            found.insert(name, layout);
        }
    }
    found
}

fn layout(vocabulary: &Vocabulary, text: &[u8], tokens: &[Token], packed: bool) -> Option<Layout> {
    let mut out = Layout::default();
    let mut widest = 1;
    let code: Vec<Token> = tokens
        .iter()
        .filter(|t| t.kind != TokenKind::Comment)
        .copied()
        .collect();
    if code.iter().any(|t| t.kind == TokenKind::Directive) {
        return None;
    }
    for declaration in code.split(|t| t.is(b';')).filter(|d| !d.is_empty()) {
        for (name, size, align) in members(vocabulary, text, declaration)? {
            let align = if packed { 1 } else { align };
            widest = widest.max(align);
            let at = out.size.checked_next_multiple_of(align)?;
            out.size = at.checked_add(size)?;
            out.members.push(Member { name, at, size });
        }
    }
    out.size = out.size.checked_next_multiple_of(widest)?;
    (!out.members.is_empty()).then_some(out)
}

/// The members of one declaration with size and alignment.
fn members(
    vocabulary: &Vocabulary,
    text: &[u8],
    declaration: &[Token],
) -> Option<Vec<(String, u64, u64)>> {
    let words: Vec<&[u8]> = declaration.iter().map(|t| t.span.of(text)).collect();
    let split = words
        .iter()
        .position(|w| matches!(*w, b"*" | b"," | b"["))
        .unwrap_or(words.len());
    let pointer_first = words.get(split) == Some(&b"*".as_slice());
    let type_end = if pointer_first {
        split
    } else {
        split.checked_sub(1)?
    };
    let written = String::from_utf8_lossy(&words.get(..type_end)?.join(&b' ')).into_owned();
    let size = vocabulary.scalar(&written, LONG);
    words
        .get(type_end..)?
        .split(|w| *w == b",")
        .map(|declarator| member(declarator, size))
        .collect()
}

fn member(declarator: &[&[u8]], scalar: Option<u64>) -> Option<(String, u64, u64)> {
    let (size, rest) = match declarator {
        [b"*", rest @ ..] => (8, rest),
        rest => (scalar?, rest),
    };
    let rest = match rest {
        [b"*", rest @ ..] => rest,
        rest => rest,
    };
    let (name, tail) = rest.split_first()?;
    let count = match tail {
        [] => 1,
        [b"[", number, b"]"] => std::str::from_utf8(number).ok()?.parse().ok()?,
        _ => return None,
    };
    let name = String::from_utf8_lossy(name).into_owned();
    Some((name, size.checked_mul(count)?, size))
}

/// The word of a struct type, `x` of `struct x`.
pub(crate) fn struct_name(base_type: &str) -> Option<&str> {
    let mut words = base_type.split_whitespace().filter(|w| *w != "const");
    (words.next() == Some("struct"))
        .then(|| words.next())
        .flatten()
}

/// The type that `sizeof(struct x)` or `sizeof(*p)` names.
pub(crate) fn sizeof_operand(text: &[u8], place: Span) -> Option<String> {
    let text = place.text(text);
    let inner = text.trim().strip_prefix("sizeof")?.trim();
    let inner = inner
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .unwrap_or(inner);
    Some(inner.split_whitespace().collect::<Vec<_>>().join(" "))
}
