//! Names that a change begins to call, and which of them texts define: what neither
//! the tree nor the change defines does not build.

use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem::Finder;
use tollgate_defect::Defect;

use crate::lex::{Token, TokenKind, tokens};
use crate::search::{AnyOf, hashed_words};
use crate::span::Span;
use crate::split::{Body, bodies};
use crate::wrappers::definition;

use super::Checker;
use super::interest::Interests;
use super::tokens::{calls, next_code, previous_code};

/// Words with a parenthesis behind them that call nothing of the tree's.
const NO_CALLS: [&str; 20] = [
    "if",
    "while",
    "for",
    "switch",
    "return",
    "sizeof",
    "typeof",
    "__typeof__",
    "typeof_unqual",
    "_Alignof",
    "__alignof__",
    "alignof",
    "asm",
    "__asm__",
    "_Generic",
    "_Static_assert",
    "__attribute__",
    "defined",
    "do",
    "else",
];

impl Checker<'_> {
    /// The functions and macros that functions with user accesses call after a
    /// change, and that the file did not name before it.
    #[must_use]
    pub fn new_calls(&self, before: &[u8], after: &[u8]) -> BTreeSet<String> {
        let all = tokens(after, 0);
        let bodies = bodies(after, &all, self.vocabulary);
        let mut interests = Interests::new(after, self.words, self.vocabulary);
        let mut found = BTreeSet::new();
        for body in &bodies {
            let inside = all.get(body.tokens.clone()).unwrap_or_default();
            if interests.of(inside, &hashed_words(after, inside)).any {
                found.extend(called(after, inside));
            }
        }
        let known = words_of(before);
        found.retain(|name| !known.contains(name.as_bytes()));
        found
    }

    /// Those of some names that a text does more with than call them: it defines
    /// or declares them, or takes their address.
    #[must_use]
    pub fn mentions(&self, text: &[u8], names: &BTreeSet<String>) -> BTreeSet<String> {
        let all = tokens(text, 0);
        let bodies = bodies(text, &all, self.vocabulary);
        let mentioned = |name: &&String| {
            let is_word = |token: &Token| token.span.of(text) == name.as_bytes();
            all.iter().enumerate().any(|(at, token)| match token.kind {
                TokenKind::Word => is_word(token) && !is_call(&all, &bodies, at),
                TokenKind::Directive => defines(text, token.span, name),
                _ => false,
            })
        };
        names.iter().filter(mentioned).cloned().collect()
    }
}

/// What is called as it stands: no member, nothing that the compiler itself knows.
fn called(text: &[u8], inside: &[Token]) -> Vec<String> {
    let own = |name: &str| {
        let builtin = ["__builtin_", "__sync_", "__atomic_", "__c11_atomic_"];
        !NO_CALLS.contains(&name) && !builtin.iter().any(|start| name.starts_with(start))
    };
    let found = calls(text, inside, own).into_iter();
    let found = found.filter(|call| {
        let before = previous_code(inside, call.at);
        !before.is_some_and(|token| token.is(b'.') || token.is(b'>') && is_arrow(text, token))
    });
    found.map(|call| call.name.text(text)).collect()
}

/// Whether a `>` is the second byte of `->`.
fn is_arrow(text: &[u8], token: Token) -> bool {
    let before = token.span.start.checked_sub(1);
    before.and_then(|at| text.get(at)) == Some(&b'-')
}

fn is_call(all: &[Token], bodies: &[Body], at: usize) -> bool {
    let called = next_code(all, at + 1).is_some_and(|i| all.get(i).is_some_and(|t| t.is(b'(')));
    called && bodies.iter().any(|body| body.tokens.contains(&at))
}

fn defines(text: &[u8], line: Span, name: &str) -> bool {
    memchr::memmem::find(line.of(text), name.as_bytes()).is_some()
        && definition(text, line).is_some_and(|(defined, _)| defined.of(text) == name.as_bytes())
}

fn words_of(text: &[u8]) -> BTreeSet<&[u8]> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    text.split(|byte| !is_part(byte)).collect()
}

/// Those of some names that a text holds as whole words, be it in a comment.
#[must_use]
pub fn holds_words(text: &[u8], names: &BTreeSet<String>) -> BTreeSet<String> {
    let held = |name: &&String| holds_word(text, &Finder::new(name.as_bytes()));
    names.iter().filter(held).cloned().collect()
}

fn holds_word(text: &[u8], name: &Finder<'_>) -> bool {
    let length = name.needle().len();
    let mut places = name.find_iter(text);
    places.any(|at| is_whole(text, at..at + length))
}

/// Whether no letter of a word stands before or behind a place.
fn is_whole(text: &[u8], place: Range<usize>) -> bool {
    let is_part = |at: Option<usize>| {
        let byte = at.and_then(|at| text.get(at));
        byte.is_some_and(|byte| is_word(*byte))
    };
    !is_part(place.start.checked_sub(1)) && !is_part(Some(place.end))
}

/// A search of many texts for any of some names, which are words of C.
pub(super) struct AnyWord(AnyOf);

impl AnyWord {
    /// # Errors
    /// When there are more than a search can hold, which is a defect.
    pub(super) fn of(names: &BTreeSet<String>) -> Result<Self, Defect> {
        AnyOf::of(names.iter()).map(Self)
    }

    /// Whether a text holds one as a whole word, be it in a comment.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        // None reaches beyond its word: of a word that is a name the whole is found.
        self.0.places(text).any(|own| is_whole(text, own))
    }
}

/// Letters that a part of a name must have to say something of it.
const TELLING: usize = 4;

/// Those of some names that macros of a text may put together: one begins as the
/// word before a `##` does, or ends as the word behind one.
#[must_use]
pub fn pastes(text: &[u8], names: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for at in memchr::memmem::find_iter(text, b"##") {
        let (before, after) = (word_before(text, at), word_after(text, at + 2));
        let fits = |name: &&String| {
            let name = name.as_bytes();
            is_telling(before) && name.starts_with(before)
                || is_telling(after) && name.ends_with(after)
        };
        found.extend(names.iter().filter(fits).cloned());
    }
    found
}

fn is_telling(part: &[u8]) -> bool {
    part.iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count()
        >= TELLING
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn word_before(text: &[u8], at: usize) -> &[u8] {
    let head = text.get(..at).unwrap_or_default();
    let end = head
        .iter()
        .rposition(|byte| !is_blank(*byte))
        .map_or(0, |i| i + 1);
    let head = head.get(..end).unwrap_or_default();
    let start = head
        .iter()
        .rposition(|byte| !is_word(*byte))
        .map_or(0, |i| i + 1);
    head.get(start..).unwrap_or_default()
}

fn word_after(text: &[u8], at: usize) -> &[u8] {
    let tail = text.get(at..).unwrap_or_default();
    let start = tail
        .iter()
        .position(|byte| !is_blank(*byte))
        .unwrap_or(tail.len());
    let tail = tail.get(start..).unwrap_or_default();
    let end = tail
        .iter()
        .position(|byte| !is_word(*byte))
        .unwrap_or(tail.len());
    tail.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::*;
    use crate::Vocabulary;
    use crate::check::CheckWords;

    fn with(look: impl Fn(&Checker<'_>) -> BTreeSet<String>) -> Vec<String> {
        let vocabulary = Vocabulary::builtin().unwrap();
        let words = CheckWords::builtin().unwrap();
        let headers = crate::Headers::new(&crate::no_tree).unwrap();
        let checker = Checker::new(&vocabulary, &words, &headers).unwrap();
        look(&checker).into_iter().collect()
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_a_change_begins_to_call_is_known_by_its_parentheses() {
        let after = b"int f(u32 __user *p, struct ops *ops, int (*fn)(u32 v))\n{\n\
            \tu32 v = new_one(sizeof(*p));\n\tif (old(p) || ops->get(v) || ops.put (v))\n\t\treturn fn(v);\n\
            \t/* not_this(v) */\n\treturn __builtin_expect(put_user(v, p), 0);\n}\n\
            int g(void)\n{\n\treturn elsewhere(1);\n}\n";
        let before = b"int old(u32 __user *p);\n";
        let found = with(|checker| checker.new_calls(before, after));
        assert_eq!(found, ["fn", "new_one", "put_user"]);
        // A parameter is no function of the tree's.
        let mentioned = with(|checker| checker.mentions(after, &set(&["fn", "new_one", "get"])));
        assert_eq!(mentioned, ["fn"]);
    }

    #[test]
    fn a_text_mentions_what_it_defines() {
        let text = b"#define one(x) two(x)\nint three(void);\nstatic int four(void)\n{\n\treturn five(&six);\n}\n";
        let names = set(&["one", "two", "three", "four", "five", "six", "seven"]);
        let found = with(|checker| checker.mentions(text, &names));
        assert_eq!(found, ["four", "one", "six", "three"]);
        let held: Vec<String> = holds_words(b"two(x) onetwo /* three */", &names)
            .into_iter()
            .collect();
        assert_eq!(held, ["three", "two"]);
    }

    #[test]
    fn names_that_macros_put_together_are_in_doubt() {
        let names = set(&["trace_open", "SetPageGood", "x_access_begin", "other"]);
        let text = b"#define TP(n) void trace_ ## n(void)\n#define P(N) SetPage##N\n\
            #define B(n) n##_access_begin a##er _##_\n";
        let found: Vec<String> = pastes(text, &names).into_iter().collect();
        assert_eq!(found, ["SetPageGood", "trace_open", "x_access_begin"]);
        assert!(pastes(b"##", &names).is_empty());
    }
}
