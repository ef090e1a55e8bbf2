//! What `tollgate gates` finds in Debian's own kernels, each finding judged in
//! `tests/data/gates-debian.tsv`: `TOLLGATE_DEBIAN=WORK`, a folder that keeps
//! what was fetched. From nothing 6 GB are fetched, so it is for whoever asks.
//! And that apt, which fetches them, leaves the machine as it is.

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

/// Images of containers have a hook that empties the machine's own cache of packages, on
/// which another apt may be at work.
#[test]
fn apt_runs_none_of_the_machine_s_hooks() {
    if Command::new("apt-get").arg("--version").output().is_err() {
        tollgate_testing::missing("apt", "a machine of Debian has it");
        return;
    }
    let room = tempfile::tempdir().unwrap();
    let path = |name: &str| room.path().join(name);
    let hooks = ["Pre-Invoke", "Post-Invoke", "Post-Invoke-Success"]
        .map(|name| {
            format!(
                "APT::Update::{name} {{ \"touch {}\"; }};\n",
                path(name).display()
            )
        })
        .concat();
    std::fs::write(path("apt.conf"), hooks).unwrap();
    std::fs::create_dir(path("archive")).unwrap();
    let archive = format!("copy:{}", path("archive").display());
    let output = Command::new("python3")
        .args([
            "-B",
            "-c",
            "import sys; from debian import Apt, Trouble\nimport pathlib\n\
            try: Apt(pathlib.Path(sys.argv[1]), 'any', sys.argv[2], False)\n\
            except Trouble as trouble: print(trouble)",
        ])
        .args([path("own"), archive.into()])
        .env("APT_CONFIG", path("apt.conf"))
        .env("PYTHONPATH", root().join("scripts"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        said.contains("apt-get failed"),
        "an archive without anything: {said}"
    );
    for hook in ["Pre-Invoke", "Post-Invoke", "Post-Invoke-Success"] {
        assert!(!path(hook).exists(), "{hook}");
    }
}
