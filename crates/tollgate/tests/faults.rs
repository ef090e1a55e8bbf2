//! The mistakes of `tests/faults`, each planted in the kernel and named. Every one
//! costs a build and some boots, so this is for whoever asks: `TOLLGATE_FAULTS=1`.
//! `scripts/faults` does the same by hand; `kernel.rs` plants two of them always.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What names a mistake.
enum NamedBy {
    /// The behaviour sweep, first at an input whose name begins so.
    Sweep(&'static str),
    /// Kbuild's objtool, in these words; nothing is booted.
    Objtool(&'static str),
}
use NamedBy::{Objtool, Sweep};

const FAULTS: &[(&str, &str, NamedBy)] = &[
    (
        "alsa-sync-ptr",
        "01-lost-range-check",
        Sweep("flags=0/at/direct-map/"),
    ),
    ("alsa-sync-ptr", "02-wrong-value", Sweep("flags=")),
    (
        "alsa-sync-ptr",
        "04-end-after-failed-begin",
        Objtool("redundant UACCESS disable"),
    ),
    (
        "alsa-sync-ptr",
        "07-missing-end",
        Objtool("return with UACCESS enabled"),
    ),
    ("alsa-sync-ptr", "10-padding", Sweep("flags=0/absent/")),
    (
        "alsa-sync-ptr",
        "11-order-of-stores",
        Sweep("flags=0/read-only/8"),
    ),
    (
        "alsa-sync-ptr",
        "13-value-after-a-fault",
        Sweep("flags=0/end/8"),
    ),
    (
        "alsa-sync-ptr",
        "14-goes-on-after-a-fault",
        Sweep("flags=0/start-read-only/"),
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/faults")
}

/// A new one is in the table, so that it is planted.
#[test]
fn the_table_has_every_patch_of_the_folder() {
    let files = std::fs::read_dir(folder()).unwrap();
    let names = files.map(|file| file.unwrap().path());
    let patches = names.filter(|path| path.extension().is_some_and(|ending| ending == "patch"));
    let found: BTreeSet<String> = patches
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let known: BTreeSet<String> = FAULTS
        .iter()
        .map(|(_, name, _)| (*name).to_owned())
        .collect();
    assert_eq!(found, known);
}

#[test]
fn each_planted_mistake_is_named() {
    if tollgate_testing::asked("TOLLGATE_FAULTS").is_none() {
        return;
    }
    for (case, name, by) in FAULTS {
        plant(case, name, by);
    }
}

fn plant(case: &str, name: &str, by: &NamedBy) {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("out.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.args(["prove", case, "--json"]).arg(&json);
    command
        .arg("--patch")
        .arg(folder().join(format!("{name}.patch")));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match by {
        Objtool(words) => {
            assert_eq!(output.status.code(), Some(2), "{name}: {said}");
            assert!(said.contains(words), "{name}: {said}");
        }
        Sweep(start) => {
            assert_eq!(output.status.code(), Some(1), "{name}: {said}");
            let text = std::fs::read_to_string(&json).unwrap();
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            let comparison = &value["comparisons"][0];
            assert_eq!(comparison["verdict"], "behaviour_differs", "{name}");
            let first = &comparison["behaviour"]["differences"][0]["name"];
            assert!(
                first.as_str().unwrap().starts_with(start),
                "{name}: {first}"
            );
        }
    }
}
