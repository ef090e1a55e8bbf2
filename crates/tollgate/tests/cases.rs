//! `tollgate cases`: every case that comes along, in both forms.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::process::Command;

fn cases(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    let output = command.arg("cases").args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_case_is_listed_with_its_variants_and_claims() {
    let text = cases(&[]);
    let document: serde_json::Value = serde_json::from_str(&cases(&["--format", "json"])).unwrap();
    let listed = document["cases"].as_array().unwrap();
    assert!(!listed.is_empty());
    for case in listed {
        let name = case["name"].as_str().unwrap();
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}");
        assert!(!case["variants"].as_array().unwrap().is_empty(), "{name}");
        assert!(!case["claims"].as_array().unwrap().is_empty(), "{name}");
        for variant in case["variants"].as_array().unwrap() {
            // Whatever makes it: a variant that nothing makes is the base.
            assert_ne!(variant["made_by"], "", "{name}: {variant}");
        }
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn the_json_form_follows_its_schema() {
    let schema = include_str!("../../../schema/cases.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let document = serde_json::from_str(&cases(&["--format", "json"])).unwrap();
    assert!(schema.is_valid(&document));
}
