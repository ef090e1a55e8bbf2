//! `tollgate init`, `tollgate cache`, and a `tollgate.toml` that is wrong.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn tollgate(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.args(args).current_dir(folder);
    for name in ["TOLLGATE_CACHE", "TOLLGATE_CONFIG_FILE", "TOLLGATE_TREE"] {
        command.env_remove(name);
    }
    command.output().unwrap()
}

fn error(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn init_writes_a_file_once() {
    let dir = tempfile::tempdir().unwrap();
    assert!(tollgate(dir.path(), &["init"]).status.success());
    let path = dir.path().join("tollgate.toml");
    let text = fs::read_to_string(&path).unwrap();
    insta::assert_snapshot!(text);
    fs::write(&path, "# mine\n").unwrap();
    let said = error(&tollgate(dir.path(), &["init"]));
    assert!(said.contains("is there already"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "# mine\n");
}

#[test]
fn a_key_that_there_is_not_is_refused_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("tollgate.toml"), "# a\ncashe = \"b\"\n").unwrap();
    let said = error(&tollgate(dir.path(), &["cache", "list"]));
    assert!(
        said.contains("tollgate.toml:2: there is no setting cashe"),
        "{said}"
    );
    // It is in the way of no command that asks for nothing of it, nor of help.
    for args in [&["cases"][..], &["prove", "--help"]] {
        assert!(tollgate(dir.path(), args).status.success(), "{args:?}");
    }
}

#[test]
fn a_cache_that_the_file_names_is_pruned_to_its_bound() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("tollgate.toml"), "cache = \"kept\"\n").unwrap();
    for name in ["images/a", "results/r"] {
        let folder = dir.path().join("kept").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("file"), vec![1; 64 << 10]).unwrap();
    }
    let json = |args: &[&str]| -> serde_json::Value {
        let output = tollgate(dir.path(), args);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let list = json(&["cache", "list", "--format", "json"]);
    assert_eq!(list["entries"].as_array().unwrap().len(), 2);
    let dry = [
        "cache",
        "prune",
        "--keep",
        "0",
        "--dry-run",
        "--format",
        "json",
    ];
    assert_eq!(json(&dry)["removed"][0]["name"], "images/a");
    assert!(dir.path().join("kept/images/a").exists());
    // Everything fits.
    let output = tollgate(dir.path(), &["cache", "prune", "--keep", "1G"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(dir.path().join("kept/images/a").exists());
    let output = tollgate(dir.path(), &["cache", "prune", "--keep", "1k"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("images/a") && text.contains("TOO LARGE"),
        "{text}"
    );
    assert!(!dir.path().join("kept/images/a").exists());
    assert!(dir.path().join("kept/results/r/file").exists());
}

#[test]
fn a_cache_that_is_not_there_is_not_made() {
    let dir = tempfile::tempdir().unwrap();
    let list = tollgate(dir.path(), &["cache", "size", "--cache", "none"]);
    assert!(list.status.success(), "{list:?}");
    let said = error(&tollgate(
        dir.path(),
        &["cache", "prune", "--keep", "1G", "--cache", "none"],
    ));
    assert!(said.contains("there is no cache none"), "{said}");
    assert!(!dir.path().join("none").exists());
}
