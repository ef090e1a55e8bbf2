//! Functions made from seeds do what they did when they have been rewritten, in
//! every style: all versions are compiled and run in user space, with a fault at
//! every byte.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use tollgate_behaviour::fuzz::rewritings;
use tollgate_behaviour::{Choices, SETUPS, Tally};

/// The seeds of every run: others are for `tollgate-behaviour` and `fuzz/`.
const SEEDS: std::ops::Range<u64> = 0..100;

fn nothing_is_wrong(tally: &Tally) {
    let all: Vec<String> = tally.wrong.iter().map(ToString::to_string).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_hundred_functions_do_what_they_did() {
    let folder = tempfile::tempdir().unwrap();
    let mut tally = Tally::default();
    let seeds = SEEDS.map(|seed| (format!("seed_{seed}"), Choices::of_seed(seed)));
    tally.add(folder.path(), seeds).unwrap();
    nothing_is_wrong(&tally);
    // Refusals prove nothing.
    let rewritten = |name: &str| tally.rows.get(name).map_or(0, |row| row.rewritten);
    assert!(rewritten("window") >= 50, "{tally}");
    assert!(
        SETUPS.iter().all(|setup| rewritten(setup.name) > 0),
        "{tally}"
    );
    assert!(tally.rows.values().all(|row| row.idle == 0), "{tally}");
    assert!(tally.faulted * 4 > tally.runs, "{tally}");
}

/// One copies more than its object has room for, over what the next was judged by.
#[test]
fn a_function_that_copies_too_far_spoils_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut tally = Tally::default();
    let seeds = [5478, 5496].map(|seed| (format!("seed_{seed}"), Choices::of_seed(seed)));
    tally.add(folder.path(), seeds.into_iter()).unwrap();
    nothing_is_wrong(&tally);
    assert_eq!(tally.functions, 2);
}

/// What a fuzzer starts from.
#[test]
fn the_corpus_of_rewritings_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/rewrite");
    let files = fs::read_dir(corpus)
        .unwrap()
        .map(|file| file.unwrap().path());
    let folder = tempfile::tempdir().unwrap();
    let ran = files.map(|file| {
        let bytes = fs::read(&file).unwrap();
        let tally = rewritings(folder.path(), &bytes);
        tally
            .map_err(|error| format!("{}: {error}", file.display()))
            .unwrap()
            .functions
    });
    assert!(ran.sum::<usize>() > 20, "the corpus is nearly empty");
}

/// Each of them was rewritten to something else once.
#[test]
fn what_was_wrong_once_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let mut tally = Tally::default();
    let texts = found().into_iter();
    tally
        .compare(
            folder.path(),
            texts.map(|(name, text)| (name.replace('-', "_"), text)),
        )
        .unwrap();
    nothing_is_wrong(&tally);
    let lines = found().into_iter().flat_map(|(name, text)| {
        SETUPS.map(|setup| match setup.rewritten(&text) {
            Ok(_) => format!("{name}, {}: rewritten", setup.name),
            Err(refusal) => format!("{name}, {}: {refusal}", setup.name),
        })
    });
    let lines: Vec<String> = lines.filter(|line| !line.contains("size-switch")).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// The functions in `tests/found`, by their names.
fn found() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/found");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let texts = files.map(|file| {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(file).unwrap())
    });
    let mut all: Vec<(String, String)> = texts.collect();
    all.sort();
    all
}
