//! Inline functions and macros of a tree's headers that take a lock for their caller, or let it
//! go, and macros of a file itself.

use std::collections::BTreeSet;

use memchr::memmem;
use tollgate_defect::answer;

use crate::lex::{Token, TokenKind, closing, tokens};
use crate::span::Span;
use crate::split::{Body, bodies};
use crate::types::words::{name_at, name_before};
use crate::vocabulary::Vocabulary;
use crate::wrappers::definition;

use super::inlines::{header, says_inline};
use super::words::{CheckWords, Lockers, Turn};

/// What the inline functions and macros of a header do: of those alone is read that call a
/// lock's.
pub(super) fn lockers(text: &[u8], words: &CheckWords, vocabulary: &Vocabulary) -> Lockers {
    let mut found = Lockers::default();
    let mut read = 0;
    for place in words.locking(text) {
        let unread = place.start >= read && is_locks(text, place.start, words);
        if !unread {
            continue;
        }
        if let Some(line) = defined_around(text, place.start) {
            read = line.end;
            found.merge(of_macro(text, line, words));
            continue;
        }
        let Some((own, end)) = around(text, place.start) else {
            continue;
        };
        read = end;
        if memmem::find(own, b"inline").is_some() {
            let tokens = tokens(own, 0);
            let bodies = bodies(own, &tokens, vocabulary);
            found.merge(of_all(own, &tokens, &bodies, words));
        }
    }
    found
}

/// What the macros of a file itself do, whose functions are known by their calls.
pub(super) fn of_macros(text: &[u8], all: &[Token], words: &CheckWords) -> Lockers {
    let mut found = Lockers::default();
    for line in all.iter().filter(|own| own.kind == TokenKind::Directive) {
        if words.locking(line.span.of(text)).next().is_some() {
            found.merge(of_macro(text, line.span, words));
        }
    }
    found
}

/// What a macro with arguments does.
fn of_macro(text: &[u8], line: Span, words: &CheckWords) -> Lockers {
    let mut found = Lockers::default();
    let Some((name, rest)) = definition(text, line) else {
        return found;
    };
    let takes = |own: &Token| own.is(b'(') && own.span.start == name.end;
    let close = rest.first().filter(|own| takes(own));
    let body = close.and_then(|_| rest.get(closing(&rest, 0)? + 1..));
    if let Some(turn) = body.and_then(|own| turn(text, own, words)) {
        found.add(&name.text(text), turn);
    }
    found
}

/// The line of the preprocessor that a place is in, with those that it goes on in.
fn defined_around(text: &[u8], place: usize) -> Option<Span> {
    let (before, behind) = text.split_at_checked(place)?;
    let ends = |at: &usize| !text.get(..*at).is_some_and(|own| own.ends_with(b"\\"));
    let start = memchr::memrchr_iter(b'\n', before).find(ends);
    let start = start.map_or(0, |end| end + 1);
    let mut lines = memchr::memchr_iter(b'\n', behind).map(|at| place + at);
    let end = lines.find(ends).unwrap_or(text.len());
    let line = text.get(start..end)?;
    let blank = line.iter().take_while(|own| own.is_ascii_whitespace());
    let start = start + blank.count();
    (text.get(start) == Some(&b'#')).then_some(Span { start, end })
}

fn of_all(text: &[u8], tokens: &[Token], bodies: &[Body], words: &CheckWords) -> Lockers {
    let mut found = Lockers::default();
    for body in bodies {
        let header = header(tokens, body.header.start, body.tokens.start);
        let inside = tokens.get(body.tokens.clone());
        let inline = header.iter().any(|own| says_inline(text, own));
        let turn = inside
            .filter(|_| inline)
            .and_then(|own| turn(text, own, words));
        if let Some(turn) = turn {
            found.add(&body.name, turn);
        }
    }
    found
}

/// Whether the word around a place is the name of a lock's call.
fn is_locks(text: &[u8], place: usize, words: &CheckWords) -> bool {
    let before = text.get(..place).map(|own| name_before(own).len());
    let word = before.and_then(|own| Some(name_at(text, place.checked_sub(own)?)));
    word.and_then(answer::text)
        .is_some_and(|name| words.lock_of(name).is_some())
}

/// The function around a place and where it ends, as the kernel writes one: its braces begin
/// lines of their own, and an empty line or the end of another stands before its header. Where
/// that does not hold nothing is learned; what the function does is told by its tokens.
fn around(text: &[u8], place: usize) -> Option<(&[u8], usize)> {
    let (before, behind) = text.split_at_checked(place)?;
    let open = memmem::rfind(before, b"\n{")?;
    let front = before.get(..open)?;
    let inside = before.get(open..)?;
    memmem::find(inside, b"\n}").is_none().then_some(())?;
    let ends: [&[u8]; 2] = [b"\n\n", b"\n}"];
    let starts = ends.iter().filter_map(|own| memmem::rfind(front, own));
    let start = starts.max().map_or(0, |at| at + 2);
    let end = place + memmem::find(behind, b"\n}")? + 2;
    Some((text.get(start..end)?, end))
}

/// What a function does of whose calls one at least is a lock's; nothing that can be told
/// where it both takes and lets go, or has locks of two kinds, or switches page faults off.
fn turn(text: &[u8], tokens: &[Token], words: &CheckWords) -> Option<Option<Turn>> {
    let called = tokens.windows(2).filter_map(|two| match two {
        [word, open] if open.is(b'(') => answer::text(word.span.of(text)),
        _ => None,
    });
    let (mut turns, mut quiet) = (BTreeSet::new(), false);
    for name in called {
        turns.extend(words.lock_of(name));
        quiet |= words.switches_faults_off(name);
    }
    let mut turns = turns.into_iter();
    let first = turns.next()?;
    Some((turns.next().is_none() && !quiet).then_some(first))
}
