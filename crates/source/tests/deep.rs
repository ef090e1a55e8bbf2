//! However deep a function is, nothing that looks at it uses up a stack: it is
//! looked at, or named as too large.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::thread;

use tollgate_source::check::{CheckWords, Checker};
use tollgate_source::{Analyser, Headers, Reason, TreePath, Vocabulary};
use tollgate_testing::deep::{SHAPES, Shape};

/// Half of what the threads have that read a tree.
const STACK: usize = 1024 * 1024;

/// What became of the function.
#[derive(Debug, PartialEq)]
enum Look {
    Read,
    TooLarge,
    NotUnderstood,
}

fn looked_at(shape: &Shape, depth: usize) -> Look {
    let text = shape.file(depth).into_bytes();
    let (vocabulary, words) = (
        Vocabulary::builtin().unwrap(),
        CheckWords::builtin().unwrap(),
    );
    let mut analyser = Analyser::new(&vocabulary).unwrap();
    let report = analyser.analyse(&text);
    assert_eq!(report.lexical, report.parsed + report.not_analysed.len());
    for function in &report.functions {
        analyser.flow(&text, function);
    }
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let mut checker = Checker::new(&vocabulary, &words, &headers).unwrap();
    let learned = checker.learn(&text);
    assert_eq!(learned, checker.learn(&text));
    let checked = checker.check(&TreePath::within("a.c"), &text);
    let left = report.not_analysed.iter().chain(&report.copies_left_out);
    let reasons: Vec<Reason> = left.map(|access| access.reason).collect();
    let look = match reasons.as_slice() {
        [] => Look::Read,
        all if all.contains(&Reason::TooLarge) => Look::TooLarge,
        _ => Look::NotUnderstood,
    };
    // check names whatever scan does; it parses where scan has no need to.
    assert!(look != Look::TooLarge || checked.skipped.len() == 1);
    look
}

/// What becomes of it on a thread with a small stack.
fn on_a_thread(at: usize, depth: usize) -> Look {
    let builder = thread::Builder::new().stack_size(STACK);
    builder
        .spawn(move || looked_at(&SHAPES[at], depth))
        .unwrap()
        .join()
        .unwrap()
}

#[test]
fn what_is_as_deep_as_may_be_is_read() {
    for (at, shape) in SHAPES.iter().enumerate() {
        assert_ne!(on_a_thread(at, 20), Look::TooLarge, "{}", shape.name);
        // Each level has one, two or three nodes of the parse: of these, one is
        // just below what is left out.
        for depth in [62, 65, 95, 98, 190, 195] {
            on_a_thread(at, depth);
        }
    }
}

#[test]
fn what_is_deeper_is_named() {
    for (at, shape) in SHAPES.iter().enumerate() {
        for depth in [1000, 16_000, 100_000] {
            let look = on_a_thread(at, depth);
            let small = shape.file(depth).len() < 200_000;
            let read = shape.flat && small;
            assert_eq!(
                look,
                if read { Look::Read } else { Look::TooLarge },
                "{} {depth}",
                shape.name
            );
        }
    }
}
