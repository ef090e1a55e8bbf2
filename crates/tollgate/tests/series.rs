//! `tollgate prove --series` on a fake tree and a fake QEMU.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "the other tests of the lab use the rest of it")]
mod support;

use std::fs;
use std::process::Command;

use support::{Lab, code, run, snapshot};

/// A kernel that the fake QEMU takes for one with a window, and one without.
const ONE: &str = "const char mark[] = \"fake window\";\n";
const TWO: &str = "const char mark[] = \"two passages\";\n";

fn git(lab: &Lab, args: &[&str]) -> Vec<u8> {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=Nobody", "-c", "user.email=<>"])
        .args(args)
        .current_dir(lab.tree());
    let output = run(&mut command);
    assert!(output.status.success(), "{}", lab.said(&output));
    output.stdout
}

/// One window, then two, then one again: three commits.
fn history() -> Lab {
    let lab = Lab::new();
    git(&lab, &["init", "-q"]);
    let gate = fs::read_to_string(lab.tree().join("kernel/gate.c")).unwrap();
    let states = [
        (ONE, "gate: One window"),
        (TWO, "gate: Two passages"),
        (ONE, "gate: One window again"),
    ];
    for (mark, subject) in states {
        lab.edit("kernel/gate.c", &format!("{mark}{gate}"));
        git(&lab, &["add", "-A"]);
        git(&lab, &["commit", "-q", "-m", subject]);
    }
    lab
}

fn document(lab: &Lab) -> serde_json::Value {
    let text = fs::read(lab.path("out.json")).unwrap();
    let document = serde_json::from_slice(&text).unwrap();
    let schema = include_str!("../../../schema/series.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<String> = validator
        .iter_errors(&document)
        .map(|e| e.to_string())
        .collect();
    assert_eq!(faults, Vec::<String>::new());
    document
}

#[test]
fn a_range_names_the_commit_that_made_the_middle_worse() {
    let lab = history();
    let before = snapshot(&lab.tree().join("kernel"));
    let output = run(lab
        .prove(&["--series", "HEAD~2..HEAD"])
        .arg("--json")
        .arg(lab.path("out.json")));
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("patch 1 \"gate: Two passages\" made it"),
        "{text}"
    );
    let document = document(&lab);
    let kernel = |at: usize| document["workloads"][0]["figures"][at]["kernel"].clone();
    assert_eq!(
        [kernel(0), kernel(1), kernel(2)],
        [115.0, 130.0, 115.0].map(serde_json::Value::from)
    );
    assert_eq!(document["points"][2]["title"], "gate: One window again");
    // The first and the last state are one image.
    assert_eq!(
        document["points"][0]["image"],
        document["points"][2]["image"]
    );
    assert_eq!(snapshot(&lab.tree().join("kernel")), before);
}

/// What makes each point of the one before: from a history, and from a mailbox, where a
/// point that is left out hands on what it changed.
#[test]
fn each_point_says_what_made_it() {
    let lab = history();
    let mails = git(&lab, &["format-patch", "--stdout", "HEAD~2"]);
    fs::write(lab.path("series.mbox"), mails).unwrap();
    git(&lab, &["reset", "-q", "--hard", "HEAD~2"]);
    let patches = |words: &[&str]| {
        let out = lab.path("out.json");
        let output = run(lab.prove(words).arg("--json").arg(out));
        assert!(output.status.code() != Some(2), "{}", lab.said(&output));
        let points = document(&lab)["points"].clone();
        let points: Vec<String> = points
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point["patch"].as_str().unwrap().to_owned())
            .collect();
        points
    };
    let [added, removed] = [format!("\n+{TWO}"), format!("\n-{TWO}")];
    let whole = patches(&["--series", "series.mbox"]);
    assert_eq!(whole[0], "");
    assert!(
        whole[1].contains(&added) && !whole[1].contains(&removed),
        "{whole:?}"
    );
    assert!(
        whole[2].contains(&removed) && !whole[2].contains(&added),
        "{whole:?}"
    );
    let ends = patches(&["--series", "series.mbox", "--points", "0,2"]);
    assert_eq!(ends, [String::new(), format!("{}{}", whole[1], whole[2])]);
    let late = patches(&["--series", "series.mbox", "--points", "1,2"]);
    assert_eq!(late, [String::new(), whole[2].clone()]);
    git(&lab, &["reset", "-q", "--hard", "ORIG_HEAD"]);
    assert_eq!(patches(&["--series", "HEAD~2..HEAD"])[1], whole[1]);
}

#[test]
fn a_mailbox_is_measured_at_the_points_asked_for() {
    let lab = history();
    let mails = git(&lab, &["format-patch", "--stdout", "HEAD~2"]);
    fs::write(lab.path("series.mbox"), mails).unwrap();
    git(&lab, &["checkout", "-q", "HEAD~2"]);
    let output = run(lab
        .prove(&["--series", "series.mbox", "--points", "0,1"])
        .arg("--json")
        .arg(lab.path("out.json")));
    assert_eq!(code(&output), 1, "{}", lab.said(&output));
    let document = document(&lab);
    assert_eq!(document["points"].as_array().unwrap().len(), 2);
    assert_eq!(document["points"][1]["title"], "gate: Two passages");
    assert_eq!(document["points"][1]["verdict"], "regression");
}

#[test]
fn what_cannot_be_measured_is_one_sentence() {
    let lab = history();
    let mails = git(&lab, &["format-patch", "--stdout", "HEAD~2"]);
    fs::write(lab.path("series.mbox"), mails).unwrap();
    let cases: [(&[&str], &str); 5] = [
        (&["--series"], "the case epoll has no series of its own"),
        (
            &["--series", "nosuch.mbox"],
            "there is no file nosuch.mbox, and git knows no commit nosuch.mbox in",
        ),
        (
            &["--series", "nosuch..HEAD"],
            "git knows no commit nosuch in",
        ),
        (
            &["--series", "HEAD..HEAD"],
            "the range HEAD..HEAD holds no commit",
        ),
        (
            &["--series", "HEAD~2..HEAD", "--points", "3"],
            "the series has the points 0 to 2",
        ),
    ];
    for (args, wanted) in cases {
        let output = run(&mut lab.prove(args));
        let said = lab.said(&output);
        assert_eq!(code(&output), 2, "{said}");
        assert!(said.contains(wanted), "{wanted:?} is not in:\n{said}");
    }
    // A tree that has the first patch already.
    git(&lab, &["checkout", "-q", "HEAD~1"]);
    let output = run(&mut lab.prove(&["--series", "series.mbox"]));
    let said = lab.said(&output);
    assert_eq!(code(&output), 2, "{said}");
    assert!(said.contains("patch 1, \"gate: Two passages\""), "{said}");
}

#[test]
fn without_a_place_for_them_page_and_json_go_to_the_cache() {
    let lab = history();
    let output = run(&mut lab.prove(&["--series", "HEAD~1..HEAD"]));
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let (text, path) = text.rsplit_once("JSON:").unwrap();
    assert!(std::path::Path::new(path.trim()).is_file(), "{path}");
    let (_, page) = text.rsplit_once("Page:").unwrap();
    assert!(fs::metadata(page.trim()).is_ok(), "{page}");
}

#[test]
fn the_page_has_a_plot_over_the_points() {
    let lab = history();
    let output = run(lab
        .prove(&["--series", "HEAD~2..HEAD"])
        .arg("--html")
        .arg(lab.path("out.html")));
    assert_eq!(code(&output), 0, "{}", lab.said(&output));
    let page = fs::read_to_string(lab.path("out.html")).unwrap();
    assert!(page.contains("gate: Two passages"), "{page}");
    assert!(page.contains("<polyline class=\"line line-0\""), "{page}");
    assert!(!page.contains("<script"));
}
