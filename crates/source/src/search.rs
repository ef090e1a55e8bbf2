//! Searches for the names of calls that are quick to say no, made of the calls.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind, packed};
use memchr::memmem::{self, Finder};
use tollgate_defect::{Defect, OrDefect as _};

use crate::calls::Calls;
use crate::lex::{Token, TokenKind};
use crate::span::Span;

/// Parts of names: every name holds one of them.
#[derive(Clone, Debug)]
pub(crate) struct Parts(AnyOf);

impl Parts {
    /// The parts, and each of the names that has none of them.
    ///
    /// # Errors
    /// As [`AnyOf::of`].
    pub(crate) fn of(parts: &[String], names: &[String]) -> Result<Self, Defect> {
        let apart = |name: &&String| !parts.iter().any(|part| name.contains(part.as_str()));
        AnyOf::of(parts.iter().chain(names.iter().filter(apart))).map(Self)
    }

    /// Whether a text holds any of the names.
    pub(crate) fn may_be_in(&self, text: &[u8]) -> bool {
        self.places(text).next().is_some()
    }

    /// Whether the search goes by many bytes at a time.
    #[cfg(test)]
    pub(crate) fn is_quick(&self) -> bool {
        self.0.is_quick()
    }

    /// Where a text holds a part of a name.
    pub(crate) fn places(&self, text: &[u8]) -> impl Iterator<Item = Range<usize>> {
        self.0.places(text)
    }
}

/// A search for all of some names at once.
#[derive(Clone, Debug)]
pub(crate) struct AnyOf {
    /// By many bytes at a time: four times as quick as the other, which goes by the rarest
    /// bytes of few names. Not of every processor, nor of very many names.
    quick: Option<packed::Searcher>,
    other: AhoCorasick,
}

impl AnyOf {
    /// # Errors
    /// When there are more than a search can hold, which is a defect.
    pub(crate) fn of<'n>(names: impl Iterator<Item = &'n String> + Clone) -> Result<Self, Defect> {
        let mut quick = packed::Config::new();
        let quick = quick.match_kind(packed::MatchKind::LeftmostLongest);
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::LeftmostLongest);
        let other = builder.build(names.clone());
        Ok(Self {
            quick: quick.builder().extend(names).build(),
            other: other.or_defect("names cannot be searched for")?,
        })
    }

    /// Whether it goes by many bytes at a time.
    #[cfg(test)]
    pub(crate) fn is_quick(&self) -> bool {
        self.quick.is_some()
    }

    /// Where they are in a text, none before another has ended; of those that begin at one
    /// place the longest.
    pub(crate) fn places(&self, text: &[u8]) -> impl Iterator<Item = Range<usize>> {
        let quick = self.quick.iter().flat_map(|own| own.find_iter(text));
        let other = self.quick.is_none().then(|| self.other.find_iter(text));
        let other = other.into_iter().flatten();
        quick.chain(other).map(|own| own.range())
    }
}

/// Whether a text may define a function or a macro that takes arguments, or call one: headers
/// full of the addresses of registers, three quarters of what a kernel has, hold no parenthesis
/// behind the comments that they begin with.
pub(crate) fn may_call(text: &[u8]) -> bool {
    let mut rest = text.trim_ascii_start();
    while let Some(behind) = behind_comment(rest) {
        rest = behind.trim_ascii_start();
    }
    memchr::memchr(b'(', rest).is_some()
}

/// What stands behind the comment that a text begins with, if it does.
fn behind_comment(text: &[u8]) -> Option<&[u8]> {
    let end: &[u8] = match text.get(..2)? {
        b"/*" => b"*/",
        b"//" => b"\n",
        _ => return None,
    };
    let comment = text.get(2..)?;
    let length = memmem::find(comment, end).map_or(comment.len(), |at| at + end.len());
    comment.get(length..)
}

/// What a word is hashed to, for who asks several sets of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Hashed(u64);

impl Hashed {
    /// By its ends and its length: names that differ in nothing else are few.
    pub(crate) fn of(word: &[u8]) -> Self {
        let ends = match (word.first_chunk(), word.last_chunk()) {
            (Some(first), Some(last)) => [u64::from_le_bytes(*first), u64::from_le_bytes(*last)],
            _ => {
                let all = word.iter().take(7);
                [all.fold(0, |all, byte| all << 8 | u64::from(*byte)), 0]
            }
        };
        let [first, last] = ends;
        let mixed = first.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ last.rotate_left(23);
        let mixed = (mixed ^ word.len() as u64).wrapping_mul(0xd6e8_feb8_6659_fd93);
        Self(mixed >> 32)
    }

    /// The 32 bits.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }
}

/// A word of a text, hashed once for all that ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HashedWord {
    pub(crate) hashed: Hashed,
    pub(crate) span: Span,
}

/// The words of some tokens.
pub(crate) fn hashed_words(text: &[u8], tokens: &[Token]) -> Vec<HashedWord> {
    let words = tokens.iter().filter(|own| own.kind == TokenKind::Word);
    let words = words.map(|own| HashedWord {
        hashed: Hashed::of(own.span.of(text)),
        span: own.span,
    });
    words.collect()
}

/// Which words a set may hold: quick to say that it has none such. What is added stays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Likely {
    /// Bits for what a word is hashed to; empty where nothing was added.
    bits: Vec<u64>,
}

impl Likely {
    /// Words of 64 bits: some thousand names leave most of them free.
    const LENGTH: usize = 512;

    pub(crate) fn of<'w>(words: impl IntoIterator<Item = &'w [u8]>) -> Self {
        let mut likely = Self::default();
        words.into_iter().for_each(|word| likely.add(word));
        likely
    }

    pub(crate) fn add(&mut self, word: &[u8]) {
        self.bits.resize(Self::LENGTH, 0);
        for (at, bit) in Self::places(Hashed::of(word)) {
            let bits = self.bits.get_mut(at).into_iter();
            bits.for_each(|bits| *bits |= bit);
        }
    }

    pub(crate) fn may_hold(&self, word: Hashed) -> bool {
        let has = |(at, bit): (usize, u64)| self.bits.get(at).is_some_and(|bits| bits & bit != 0);
        Self::places(word).into_iter().all(has)
    }

    /// Two of them, by the lower and by the upper half of the hash: a word that is none of the names
    /// has one of them by chance more often than both.
    fn places(word: Hashed) -> [(usize, u64); 2] {
        [word.0, word.0 >> 16].map(|half| {
            let at = (half >> 6) as usize % Self::LENGTH;
            (at, 1 << (half % 64))
        })
    }
}

/// Words by their first bytes and their lengths: quick to say that a word is none of
/// them.
#[derive(Clone, Debug)]
pub(crate) struct Shapes([u64; 256]);

impl Shapes {
    pub(crate) fn of<'w>(words: impl Iterator<Item = &'w [u8]>) -> Self {
        let mut shapes = Self([0; 256]);
        words.for_each(|word| shapes.add(word));
        shapes
    }

    pub(crate) fn add(&mut self, word: &[u8]) {
        let (first, length) = Self::shape(word);
        let lengths = self.0.get_mut(first).into_iter();
        lengths.for_each(|lengths| *lengths |= length);
    }

    pub(crate) fn may_be(&self, word: &[u8]) -> bool {
        let (first, length) = Self::shape(word);
        self.0
            .get(first)
            .is_some_and(|lengths| lengths & length != 0)
    }

    /// The first byte, and a bit for the length.
    fn shape(word: &[u8]) -> (usize, u64) {
        let first = word.first().map_or(0, |first| usize::from(*first));
        (first, 1 << (word.len() % 64))
    }
}

fn finder(part: &str) -> Finder<'static> {
    Finder::new(part.as_bytes()).into_owned()
}

/// What a place is that a name of user memory stands at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The name of an access, or a longer one.
    Access,
    /// The name of a copy, or a longer one.
    Copy,
}

/// The search for accesses and copies.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    stem: Finder<'static>,
    access: Vec<Vec<u8>>,
    copy: Vec<Vec<u8>>,
    /// The names that are not told by what stands before the stem.
    others: Vec<(Finder<'static>, Found)>,
}

impl Places {
    pub(crate) fn of(calls: &Calls) -> Self {
        let search = &calls.search;
        let typed = calls.names(|does| does.whole().is_some_and(|of| of.count.is_none()));
        let sized = calls.names(|does| does.whole().is_some_and(|of| of.count.is_some()));
        let others = |names: Vec<String>, before: &[String], found| {
            let told = |name: &String| {
                let begins = |part: &String| name.contains(&format!("{part}{}", search.stem));
                before.iter().any(begins)
            };
            let apart = names.into_iter().filter(move |name| !told(name));
            let finders = apart.map(|name| (finder(&name), found));
            finders.collect::<Vec<_>>()
        };
        let mut all = others(typed, &search.access, Found::Access);
        all.extend(others(sized, &search.copy, Found::Copy));
        let bytes = |parts: &[String]| parts.iter().map(|part| part.clone().into()).collect();
        Self {
            stem: finder(&search.stem),
            access: bytes(&search.access),
            copy: bytes(&search.copy),
            others: all,
        }
    }

    /// Where names may be, and of what.
    pub(crate) fn in_text<'t>(
        &'t self,
        text: &'t [u8],
    ) -> impl Iterator<Item = (usize, Found)> + 't {
        let stems = self.stem.find_iter(text).filter_map(|at| {
            let before = text.get(..at)?;
            let ends = |parts: &[Vec<u8>]| parts.iter().any(|part| before.ends_with(part));
            match (ends(&self.access), ends(&self.copy)) {
                (true, _) => Some((at, Found::Access)),
                (_, true) => Some((at, Found::Copy)),
                _ => None,
            }
        });
        let others = self.others.iter();
        let others =
            others.flat_map(move |(name, found)| name.find_iter(text).map(move |at| (at, *found)));
        stems.chain(others)
    }

    /// Whether a text may hold any.
    pub(crate) fn may_be_in(&self, text: &[u8]) -> bool {
        self.in_text(text).next().is_some()
    }

    /// Whether a text may hold one of that kind.
    pub(crate) fn has(&self, text: &[u8], wanted: Found) -> bool {
        self.in_text(text).any(|(_, found)| found == wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_at_the_front_call_nothing() {
        for text in [
            "",
            "// SPDX (of that)\n/* The (c) */\n\n/* and (another) */\n#define REG 0x12\n",
            "/* unended (",
            "// unended (",
            "/* (c) */",
        ] {
            assert!(!may_call(text.as_bytes()), "{text}");
        }
        for text in [
            "#define REG(a) 0x12\n",
            "/* that */ int f(void);\n",
            "int a; /* of (that) */\n",
            "/\\\n* (c) */\n",
        ] {
            assert!(may_call(text.as_bytes()), "{text}");
        }
    }

    fn strings(all: &[&str]) -> Vec<String> {
        all.iter().map(|one| (*one).to_owned()).collect()
    }

    #[test]
    fn names_are_found_by_their_parts_or_whole() {
        let names = [
            "get_user",
            "user_access_end",
            "user_read_access_end",
            "clac",
            "",
        ];
        let parts = Parts::of(&strings(&["_user"]), &strings(&names[..4])).unwrap();
        let held = [
            "x = get_user(a);",
            "_user",
            "user_access_end();",
            "user_read_access_end",
            "clac()",
        ];
        for text in held {
            assert!(parts.may_be_in(text.as_bytes()), "{text}");
        }
        for text in ["", "access_end", "user_write_access_end", "cla", "_use r"] {
            assert!(!parts.may_be_in(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_set_may_hold_what_was_added_and_little_else() {
        let words: Vec<String> = (0..600).map(|at| format!("copy_{at}_from_user")).collect();
        let likely = Likely::of(words.iter().map(String::as_bytes));
        let may = |word: &str| likely.may_hold(Hashed::of(word.as_bytes()));
        assert!(words.iter().all(|word| may(word)));
        let others = (0..1000).filter(|at| may(&format!("spin_{at}_lock_irq")));
        assert!(others.count() < 100);
        assert!(!Likely::default().may_hold(Hashed::of(b"a")));
    }
}
