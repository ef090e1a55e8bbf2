//! Files that import each other: a ring of more than three is no room that anybody can see
//! through.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::path::Path;
use std::process::Command;

#[test]
fn no_ring_of_files_is_large() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new("python3");
    let output = command.arg(top.join("scripts/rings")).output().unwrap();
    let (rings, said) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    let large: Vec<&str> = rings
        .lines()
        .filter(|line| {
            let files = line
                .split(": ")
                .nth(1)
                .and_then(|own| own.split(' ').next());
            files.unwrap().parse::<usize>().unwrap() > 3
        })
        .collect();
    assert!(large.is_empty(), "{large:#?}");
    assert!(output.status.success(), "{said}");
    // It sees those that there are.
    assert!(!rings.is_empty());
}
