//! Inline functions of a tree's headers that take a lock for their caller, or let it go.

use std::collections::BTreeSet;

use memchr::memmem;
use tollgate_defect::answer;

use crate::lex::{Token, tokens};
use crate::split::{Body, bodies};
use crate::types::words::{name_at, name_before};
use crate::vocabulary::Vocabulary;

use super::inlines::{header, says_inline};
use super::words::{CheckWords, Lockers, Turn};

/// What the inline functions of a header do: of those alone is read that call a lock's.
pub(super) fn lockers(text: &[u8], words: &CheckWords, vocabulary: &Vocabulary) -> Lockers {
    let mut found = Lockers::default();
    let mut read = 0;
    for place in words.locking(text) {
        let unread = place.start >= read && is_locks(text, place.start, words);
        let function = unread.then(|| around(text, place.start)).flatten();
        let Some((own, end)) = function else {
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
