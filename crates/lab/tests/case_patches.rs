//! The patches of the cases fpu-defer and precedents, applied to what they themselves
//! say of the tree: needs no kernel source.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file by its lines, numbered from 1.
type Lines = BTreeMap<usize, String>;

/// `CASE/FILE`.
fn patch(name: &str) -> PathBuf {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    fs::canonicalize(cases.join(name)).unwrap()
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
    let patches = patches.iter().map(|name| patch(name));
    applied_of(files, &patches.collect::<Vec<_>>())
}

fn applied_of(files: &BTreeMap<String, Lines>, patches: &[PathBuf]) -> Vec<String> {
    let tree = tree(files);
    for patch in patches {
        let mut command = Command::new("git");
        command.current_dir(tree.path()).arg("apply").arg(patch);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{patch:?}: {said}");
    }
    let read = |path: &String| fs::read_to_string(tree.path().join(path)).unwrap();
    files.keys().map(read).collect()
}

#[test]
fn eager_bounce_is_eager_and_bounce() {
    let mut files = BTreeMap::new();
    for name in [
        "fpu-defer/eager.patch",
        "fpu-defer/bounce.patch",
        "fpu-defer/eager-bounce.patch",
    ] {
        shown(name, &mut files);
    }
    let both = applied(&files, &["fpu-defer/eager-bounce.patch"]);
    assert_eq!(
        both,
        applied(&files, &["fpu-defer/eager.patch", "fpu-defer/bounce.patch"])
    );
    assert_eq!(
        both,
        applied(&files, &["fpu-defer/bounce.patch", "fpu-defer/eager.patch"])
    );
    assert_ne!(both, applied(&files, &["fpu-defer/eager.patch"]));
    assert_ne!(both, applied(&files, &["fpu-defer/bounce.patch"]));
}

#[test]
fn every_fault_is_another_and_applies_to_the_same_tree() {
    let mut files = BTreeMap::new();
    let faults =
        ["switch", "sigreturn", "kernel-fpu"].map(|one| format!("fpu-defer/faults/{one}.patch"));
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

/// The mails of a mailbox, a file each.
fn mails(name: &str, folder: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(patch(name)).unwrap();
    let begin = "From 0000000000000000000000000000000000000000 ";
    let mails = text.split(begin).skip(1).enumerate();
    let write = |(number, mail): (usize, &str)| {
        let path = folder.join(number.to_string());
        fs::write(&path, format!("{begin}{mail}")).unwrap();
        path
    };
    mails.map(write).collect()
}

#[test]
fn what_the_precedents_take_back_is_put_in_again() {
    let three = ["put-cmsg", "filldir", "poll"].map(|one| format!("precedents/{one}.patch"));
    let three: Vec<&str> = three.iter().map(String::as_str).collect();
    let mut files = BTreeMap::new();
    three.iter().for_each(|name| shown(name, &mut files));
    let (tree, back) = (applied(&files, &[]), applied(&files, &three));
    let differ = tree.iter().zip(&back).filter(|(tree, back)| tree != back);
    assert_eq!(differ.count(), three.len());

    let folder = tempfile::tempdir().unwrap();
    let series = mails("precedents/series.mbox", folder.path());
    assert_eq!(series.len(), 1 + three.len());
    let at = |point: usize| applied_of(&files, &series[..point]);
    assert_eq!(at(1), back);
    assert_ne!(at(3), tree);
    assert_eq!(at(4), tree);
}
