//! The patches of the case fpu-defer, applied to what they themselves say of the
//! tree: needs no kernel source.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file by its lines, numbered from 1.
type Lines = BTreeMap<usize, String>;

fn patch(name: &str) -> PathBuf {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    fs::canonicalize(cases.join("fpu-defer").join(name)).unwrap()
}

/// The lines of the tree that a patch shows: context, and what it removes.
fn shown(name: &str, files: &mut BTreeMap<String, Lines>) {
    let text = fs::read_to_string(patch(name)).unwrap();
    let (mut file, mut at) = (String::new(), 0);
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("--- a/") {
            file = path.to_owned();
        } else if let Some(numbers) = line.strip_prefix("@@ -") {
            at = numbers.split([',', ' ']).next().unwrap().parse().unwrap();
        } else if let (Some(text), false) = (line.strip_prefix([' ', '-']), file.is_empty()) {
            let lines = files.entry(file.clone()).or_default();
            let before = lines.insert(at, text.to_owned());
            assert!(before.is_none_or(|before| before == text), "{file}:{at}");
            at += 1;
        }
    }
}

/// A tree of those lines, others between them.
fn tree(files: &BTreeMap<String, Lines>) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, lines) in files {
        let last = lines.keys().next_back().copied().unwrap();
        let line = |at| {
            let known = lines.get(&at).cloned();
            known.unwrap_or_else(|| format!("another line, {at}")) + "\n"
        };
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // As many lines behind, so that a hunk is not at the end by chance.
        fs::write(path, (1..=last + 9).map(line).collect::<String>()).unwrap();
    }
    dir
}

fn applied(files: &BTreeMap<String, Lines>, patches: &[&str]) -> Vec<String> {
    let tree = tree(files);
    for name in patches {
        let mut command = Command::new("git");
        command
            .current_dir(tree.path())
            .arg("apply")
            .arg(patch(name));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {said}");
    }
    let read = |path: &String| fs::read_to_string(tree.path().join(path)).unwrap();
    files.keys().map(read).collect()
}

#[test]
fn eager_bounce_is_eager_and_bounce() {
    let mut files = BTreeMap::new();
    for name in ["eager.patch", "bounce.patch", "eager-bounce.patch"] {
        shown(name, &mut files);
    }
    let both = applied(&files, &["eager-bounce.patch"]);
    assert_eq!(both, applied(&files, &["eager.patch", "bounce.patch"]));
    assert_eq!(both, applied(&files, &["bounce.patch", "eager.patch"]));
    assert_ne!(both, applied(&files, &["eager.patch"]));
    assert_ne!(both, applied(&files, &["bounce.patch"]));
}

#[test]
fn every_fault_is_another_and_applies_to_the_same_tree() {
    let mut files = BTreeMap::new();
    let faults = ["switch", "sigreturn", "kernel-fpu"].map(|one| format!("faults/{one}.patch"));
    for name in &faults {
        shown(name, &mut files);
    }
    let mut trees: Vec<Vec<String>> = faults
        .iter()
        .map(|name| applied(&files, &[name.as_str()]))
        .collect();
    trees.push(applied(&files, &[]));
    trees.sort();
    trees.dedup();
    assert_eq!(trees.len(), 4);
}
