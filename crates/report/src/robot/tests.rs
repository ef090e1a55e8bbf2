use tollgate_robot::{
    Axis, Built, CellReport, Check, Diagnostic, Finding, FindingKind, Line, LineState, Listing,
    ObjectReport, PatchReport, Report, Severity, Status, Tool, Unbuilt,
};

use super::*;
use crate::format::{Format, Look, terminal};

const PLAIN: Look = Look {
    color: false,
    width: 80,
};

fn built(success: bool, text: Option<u64>) -> Option<Built> {
    Some(Built {
        success,
        diagnostics: 1,
        warning_lines: 2,
        text,
        gates: text.map(|bytes| bytes as usize % 3),
        same: false,
    })
}

fn error() -> Finding {
    let text = "macro \"unsafe_put_user\" requires 3 arguments, but only 2 given";
    Finding {
        kind: FindingKind::Error,
        cell: "x86_64".to_owned(),
        object: "sound/core/pcm_native.o".to_owned(),
        diagnostic: Some(Diagnostic {
            tool: Tool::Gcc,
            severity: Severity::Error,
            kind: String::new(),
            file: "sound/core/pcm_compat.c".to_owned(),
            line: 473,
            column: 70,
            function: "snd_pcm_ioctl_sync_ptr_x32".to_owned(),
            text: text.to_owned(),
            at: 1,
        }),
        message: text.to_owned(),
        file: "sound/core/pcm_compat.c".to_owned(),
        line: 473,
        also: vec!["x86_64-clang".to_owned()],
    }
}

fn line(state: LineState) -> Line {
    Line {
        file: "sound/core/pcm_compat.c".to_owned(),
        lines: vec![(421, 432), (473, 473)],
        within: "#ifdef CONFIG_X86_X32_ABI".to_owned(),
        state,
    }
}

fn compiled(missing: &[&str]) -> LineState {
    LineState::Compiled {
        cells: vec![("x86_64".to_owned(), "sound/core/pcm_native.o".to_owned())],
        missing: missing.iter().map(|one| (*one).to_owned()).collect(),
    }
}

fn broken() -> PatchReport {
    PatchReport {
        number: (1, 2),
        subject: "ALSA: pcm: Convert".to_owned(),
        tags: Some("[PATCH 1/2]".to_owned()),
        message_id: Some("8df1@csgroup.eu".to_owned()),
        author: Some("Christophe Leroy <christophe.leroy@csgroup.eu>".to_owned()),
        files: vec!["sound/core/pcm_compat.c".to_owned()],
        findings: vec![error()],
        lines: vec![line(compiled(&[]))],
        objects: vec![ObjectReport {
            cell: "x86_64".to_owned(),
            object: "sound/core/pcm_native.o".to_owned(),
            before: built(true, Some(57_212)),
            after: built(false, None),
        }, ObjectReport {
            cell: "x86_64-clang".to_owned(),
            object: "sound/core/pcm_native.o".to_owned(),
            before: built(true, Some(57_212)),
            after: built(true, Some(57_300)),
        }],
        listings: vec![Listing {
            file: "sound/core/pcm_compat.c".to_owned(),
            name: "unsafe_put_user".to_owned(),
            line: 473,
            lines: vec![
                (472, false, "\tunsafe_put_user(a, b, Efault_wr);".to_owned()),
                (473, true, "\tunsafe_put_user(c, d), Efault_wr);".to_owned()),
                (474, false, String::new()),
            ],
            said: vec![
                (false, "In file included from sound/core/pcm_native.c:4033:".to_owned()),
                (true, "sound/core/pcm_compat.c:473:70: error: macro \"unsafe_put_user\" requires 3 arguments, but only 2 given".to_owned()),
            ],
            cell: "x86_64".to_owned(),
        }],
        ..PatchReport::default()
    }
}

fn untold() -> PatchReport {
    PatchReport {
        number: (2, 2),
        subject: "a\u{1b}[31m # b".to_owned(),
        lines: vec![
            line(compiled(&["word size 32"])),
            line(LineState::Nothing),
            line(LineState::Unreached {
                needs: "CONFIG_X; CONFIG_X depends on CONFIG_Y".to_owned(),
            }),
        ],
        unbuilt: vec![Unbuilt {
            cell: "arm".to_owned(),
            what: "3 more objects".to_owned(),
            why: "they are over the limit".to_owned(),
        }],
        checks: vec![Check {
            tool: "scripts/checkpatch.pl".to_owned(),
            status: Status::Clean,
            summary: "0 errors and warnings".to_owned(),
            details: String::new(),
        }],
        ..PatchReport::default()
    }
}

fn report() -> Report {
    Report {
        asked: "series.mbox".to_owned(),
        base: "Linux 6.12.117".to_owned(),
        tree: "linux".to_owned(),
        flags: "W=1".to_owned(),
        patches: vec![broken(), untold()],
        cells: vec![CellReport {
            name: "x86_64".to_owned(),
            arch: "x86_64".to_owned(),
            compiler: "gcc (Debian 12.2.0-14) 12.2.0".to_owned(),
            base: "allmodconfig".to_owned(),
            fragment: "CONFIG_X86_X32_ABI=y\n".to_owned(),
            variables: vec!["CROSS_COMPILE=x86_64-linux-gnu-".to_owned()],
            because: "it compiles the edited lines within #ifdef CONFIG_X86_X32_ABI".to_owned(),
            axes: vec![(Axis::Word, "64".to_owned())],
            packages: vec!["gcc".to_owned()],
        }],
    }
}

#[test]
fn people_read_what_was_found() {
    let document = robot_document(&[report()]);
    insta::assert_snapshot!(terminal(&document, PLAIN));
    let page = Format::of("markdown").unwrap();
    insta::assert_snapshot!(page.render(&document, PLAIN).unwrap());
    let mut warned = report();
    warned.patches[1].checks[0].status = Status::Findings;
    warned.patches[1].checks[0].details = "5: WARNING: a line".to_owned();
    let warned = terminal(&robot_document(&[warned]), PLAIN);
    assert!(warned.contains("\n  5: WARNING: a line\n"), "{warned}");
    let two = terminal(&robot_document(&[report(), report()]), PLAIN);
    assert_eq!(two.matches("On Linux 6.12.117 in linux").count(), 2);
}

#[test]
fn a_mail_has_the_parts_of_a_robots() {
    let mail = Mail {
        reported_by: Some("tollgate robot <robot@localhost>".to_owned()),
        closes: Some("https://lore.kernel.org/r/1".to_owned()),
        url: Some("https://example.org/linux/commits/x".to_owned()),
    };
    let mut other = report();
    other.base = "Linux 7.3.4".to_owned();
    insta::assert_snapshot!(robot_mail(&[report(), other], &mail));
    let plain = robot_mail(&[report()], &Mail::default());
    assert!(!plain.contains("Reported-by") && !plain.contains("also build test"));
}

#[test]
fn b4_is_never_told_that_what_was_not_built_passes() {
    let text = robot_b4(&report()).unwrap();
    let all: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let said: Vec<(&str, &str)> = all
        .iter()
        .map(|one| {
            (
                one["tool"].as_str().unwrap(),
                one["status"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            ("tollgate robot", "fail"),
            ("tollgate robot", "warn"),
            ("scripts/checkpatch.pl", "pass")
        ]
    );
    for one in &all {
        let keys: Vec<&String> = one.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["details", "status", "summary", "tool", "url"]);
    }
    let failed = robot_b4_failed("no compiler").unwrap();
    assert!(failed.contains("\"warn\""), "{failed}");
}

#[test]
fn ktap_has_a_case_for_everything() {
    insta::assert_snapshot!(robot_ktap(&report()));
}

#[test]
fn programs_read_what_the_schema_says() {
    let schema = include_str!("../../../../schema/robot.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for reports in [vec![report()], vec![report(), report()]] {
        let text = robot_json(&reports).unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> = schema
            .iter_errors(&document)
            .map(|e| e.to_string())
            .collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}

#[test]
fn sarif_has_a_result_for_each_finding_and_names_what_was_not_built() {
    let log: serde_json::Value = serde_json::from_str(&robot_sarif(&report())).unwrap();
    let run = &log["runs"][0];
    assert_eq!(run["results"].as_array().unwrap().len(), 1);
    assert_eq!(run["results"][0]["ruleId"], "error");
    let missed = run["invocations"][0]["toolExecutionNotifications"]
        .as_array()
        .unwrap();
    assert_eq!(missed.len(), 2);
}

#[test]
fn a_status_is_the_worst_of_all() {
    let mut one = report();
    assert_eq!(one.status(), Status::Findings);
    one.patches.remove(0);
    assert_eq!(one.status(), Status::CouldNotTell);
    one.patches[0].unbuilt.clear();
    one.patches[0].lines.truncate(1);
    assert_eq!(one.status(), Status::CouldNotTell);
    one.patches[0].lines = vec![line(compiled(&[]))];
    assert_eq!(one.status(), Status::Clean);
    one.patches.clear();
    assert_eq!(one.status(), Status::CouldNotTell);
}
