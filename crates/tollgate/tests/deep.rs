//! A file with a function that is nested as deep as one likes ends no command:
//! the function is named, and everything else is looked at.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;

use support::Lab;
use tollgate_testing::deep::SHAPES;

/// The most are where a stack of any size would not do.
const DEPTHS: [usize; 3] = [1000, 30_000, 1_000_000];

/// The fake tree with a file for each shape, of one depth after the other.
fn lab() -> Lab {
    let lab = Lab::new();
    fs::create_dir_all(lab.tree().join("deep")).unwrap();
    for (at, shape) in SHAPES.iter().enumerate() {
        let depth = DEPTHS[at % DEPTHS.len()];
        lab.edit(&format!("deep/{}.c", shape.name), &shape.file(depth));
        lab.edit(
            &format!("deep/{}-copy.c", shape.name),
            &shape.file_without_accesses(depth),
        );
    }
    lab
}

#[test]
fn a_deep_function_is_named_and_ends_nothing() {
    let lab = lab();
    let scanned = lab
        .tollgate(&["scan", "--kind", "all", "--verbose", "tree"])
        .output()
        .unwrap();
    let text = String::from_utf8(scanned.stdout).unwrap();
    assert_eq!(
        scanned.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&scanned.stderr)
    );
    assert!(text.contains("epoll_put_uevent: 2 writes"), "{text}");
    let checked = lab
        .tollgate(&["check", "--verbose", "tree"])
        .output()
        .unwrap();
    let said =
        String::from_utf8(checked.stdout).unwrap() + &String::from_utf8(checked.stderr).unwrap();
    assert!(checked.status.code().is_some_and(|code| code < 2), "{said}");
    for shape in SHAPES.iter().filter(|shape| !shape.flat) {
        let file = format!("deep/{}.c", shape.name);
        let named = |text: &str| {
            text.lines()
                .any(|line| line.starts_with(&file) && line.contains("nested deeper"))
        };
        assert!(named(&text), "{file}: {text}");
        assert!(named(&said), "{file}: {said}");
    }
}

#[test]
fn a_deep_function_is_not_rewritten() {
    let lab = lab();
    for shape in SHAPES.iter().filter(|shape| !shape.flat).step_by(3) {
        let target = format!("deep/{}.c:f", shape.name);
        let fixed = lab.tollgate(&["fix", "tree", &target]).output().unwrap();
        let said = String::from_utf8(fixed.stderr).unwrap();
        assert_eq!(fixed.status.code(), Some(2), "{target}: {said}");
        assert!(
            said.contains("the function is longer or nested deeper"),
            "{target}: {said}"
        );
    }
}
