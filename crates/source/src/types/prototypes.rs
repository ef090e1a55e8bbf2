//! Where a text declares functions.

use super::sought::hash;
use super::words::name_before;

/// Words that stand before a call as a type stands before a name.
const STATEMENTS: [&[u8]; 6] = [b"return", b"else", b"do", b"goto", b"case", b"sizeof"];

/// A function that a file declares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared {
    /// What its name is hashed to.
    pub(super) hash: u64,
    /// Where its parentheses open.
    pub(super) open: usize,
}

/// What stands in a text as a declaration has it, by the hash of the name, those of one name
/// in their order.
pub(super) fn functions(text: &[u8]) -> Vec<Declared> {
    let places = memchr::memchr_iter(b'(', text);
    let mut found: Vec<Declared> = places.filter_map(|open| is_declared(text, open)).collect();
    found.sort_by_key(|own| (own.hash, own.open));
    found
}

/// The function whose parentheses open there, where the name stands as in a declaration:
/// behind words and stars alone.
fn is_declared(text: &[u8], open: usize) -> Option<Declared> {
    let named = text.get(..open)?.trim_ascii_end();
    let name = name_before(named);
    let before = named.get(..named.len() - name.len())?;
    let ends = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'*');
    let apart = before
        .last()
        .is_some_and(|own| own.is_ascii_whitespace() || *own == b'*');
    let typed = before.trim_ascii_end().last().is_some_and(ends);
    let is = !name.is_empty() && apart && typed && is_type(before);
    is.then(|| Declared {
        hash: hash(b"", name),
        open,
    })
}

/// Whether the last words of a text, behind the statement before them, may be a type.
fn is_type(before: &[u8]) -> bool {
    let Some(rest) = before.rsplit(|own| b";{}#/)\"".contains(own)).next() else {
        return false;
    };
    let plain =
        |own: &u8| own.is_ascii_alphanumeric() || own.is_ascii_whitespace() || b"_*".contains(own);
    let mut words = rest.split(|own| !(own.is_ascii_alphanumeric() || *own == b'_'));
    let first = words.clone().any(|own| !own.is_empty());
    first && rest.iter().all(plain) && !words.any(|own| STATEMENTS.contains(&own))
}
