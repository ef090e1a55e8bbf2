//! Mistakes that really happened (`tests/mistakes/`): each is found in the form that has
//! it, by the rule that should, and nothing is said of the form that has not.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tollgate_source::check::rules;

#[path = "support/mistakes.rs"]
mod mistakes;

use mistakes::{ROOT, expected, found};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Corpus {
    mistake: Vec<Mistake>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mistake {
    name: String,
    /// Where it happened.
    source: String,
    /// What was wrong.
    fact: String,
    /// The rule that finds it.
    rule: Option<String>,
    /// Why none does.
    unseen: Option<String>,
}

impl Mistake {
    fn text(&self, file: &str) -> Option<String> {
        fs::read_to_string(folder().join(&self.name).join(file)).ok()
    }

    /// What is not as the corpus says.
    fn wrong(&self) -> Vec<String> {
        let before = self.text("before.c");
        let of = |file: &str| {
            let text = self.text(file).unwrap();
            let mut have = found(before.as_deref(), &text);
            have.sort();
            (have, expected(&text))
        };
        let (have, want) = of("wrong.c");
        let (right, none) = of("right.c");
        let marked = want
            .iter()
            .any(|(rule, _)| Some(rule) == self.rule.as_ref());
        let mut faults = Vec::new();
        if have != want || marked != self.rule.is_some() || !none.is_empty() {
            faults.push(format!(
                "{}: wrong.c: {have:?}, and not {want:?}",
                self.name
            ));
        }
        if !right.is_empty() {
            faults.push(format!("{}: right.c: {right:?}", self.name));
        }
        faults
    }
}

fn folder() -> PathBuf {
    Path::new(ROOT).join("tests/mistakes")
}

fn corpus() -> Vec<Mistake> {
    let text = fs::read_to_string(folder().join("mistakes.toml")).unwrap();
    toml::from_str::<Corpus>(&text).unwrap().mistake
}

#[test]
fn what_happened_is_found_and_what_mended_it_is_clean() {
    let faults: Vec<String> = corpus().iter().flat_map(Mistake::wrong).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn each_has_its_source_and_its_rule_or_why_there_is_none() {
    let rules: BTreeSet<&str> = rules().iter().map(|info| info.name).collect();
    let all = corpus();
    for one in &all {
        assert!(
            !one.source.is_empty() && !one.fact.is_empty(),
            "{}",
            one.name
        );
        match (&one.rule, &one.unseen) {
            (Some(rule), None) => assert!(rules.contains(rule.as_str()), "{rule}"),
            (None, Some(why)) => assert!(!why.is_empty(), "{}", one.name),
            _ => panic!("{}: a rule, or why there is none", one.name),
        }
    }
    let names: BTreeSet<String> = all.into_iter().map(|one| one.name).collect();
    let folders = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let folders = folders.filter(|path| path.is_dir());
    let there: BTreeSet<String> = folders
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, there);
}
