//! The JSON of a comparison beside its schema.

use super::*;

fn schema() -> jsonschema::Validator {
    let schema = include_str!("../../../../../schema/prove.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn parsed() -> serde_json::Value {
    serde_json::from_str(&json(&everything()).unwrap()).unwrap()
}

#[test]
fn every_json_document_satisfies_the_schema() {
    let schema = schema();
    let document = parsed();
    let errors: Vec<_> = schema
        .iter_errors(&document)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(document["version"], PROVE_VERSION);
    let behaviour = |at: usize| document["comparisons"][at]["behaviour"].clone();
    assert_eq!(behaviour(1)["layouts"][0]["sweep"], "epoll_wait");
    // Where nothing differs there is none, as in older results.
    assert!(behaviour(0).get("layouts").is_none());
}

#[test]
fn the_schema_refuses_what_is_no_result() {
    let schema = schema();
    let edits: [fn(&mut serde_json::Value); 9] = [
        |d| d["version"] = 1.into(),
        |d| d["more"] = 1.into(),
        |d| d["comparisons"][0]["verdict"] = "great".into(),
        |d| d["comparisons"][0]["exit_code"] = 3.into(),
        |d| d["comparisons"][0]["workloads"][0]["before"]["kernel"]["opens"] = (-1).into(),
        |d| d["comparisons"][0]["workloads"][0]["per_call"]["kernel"] = serde_json::Value::Null,
        |d| d["comparisons"][1]["behaviour"]["differences"][0]["after"]["bytes"] = "0".into(),
        |d| {
            d["comparisons"][1]["behaviour"]["layouts"][0]["buffer"]["fields"][0]["size"] = 0.into()
        },
        |d| {
            drop(
                d["comparisons"][0]["setting"]
                    .as_object_mut()
                    .unwrap()
                    .remove("compiler"),
            )
        },
    ];
    for (number, edit) in edits.into_iter().enumerate() {
        let mut document = parsed();
        edit(&mut document);
        assert!(!schema.is_valid(&document), "edit {number} is accepted");
    }
}
