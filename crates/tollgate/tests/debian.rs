//! What `tollgate gates` finds in Debian's own kernels, each finding judged in
//! `tests/data/gates-debian.tsv`: `TOLLGATE_DEBIAN=WORK`, a folder that keeps
//! what was fetched. From nothing 6 GB are fetched, so it is for whoever asks.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_finding_in_a_kernel_of_debian_was_judged() {
    let Some(work) = tollgate_testing::asked("TOLLGATE_DEBIAN") else {
        return;
    };
    let output = Command::new(root().join("scripts/gates-debian"))
        .args(["--tollgate", env!("CARGO_BIN_EXE_tollgate")])
        .arg(work)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    let said = format!("{shown}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(shown.matches(" files, ").count(), 5, "{said}");
}

#[test]
fn every_judgement_says_what_it_is_and_why() {
    let table = std::fs::read_to_string(root().join("tests/data/gates-debian.tsv")).unwrap();
    let mut rows = table.lines().filter(|line| !line.starts_with('#'));
    let head = rows.next().unwrap();
    assert_eq!(head, "function\trule\ttarget\tkernels\tverdict\treason");
    let mut judged = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        let [_, rule, _, _, verdict, reason] = cells[..] else {
            panic!("{row}");
        };
        assert!(rule.contains('-'), "{row}");
        assert!(
            ["true", "harmless", "meant", "false"].contains(&verdict),
            "{row}"
        );
        assert!(reason.len() > 20, "{row}");
        judged += 1;
    }
    assert!(judged > 0);
}
