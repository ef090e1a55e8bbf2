use tollgate_gates::{
    Analysis, Changes, Counts, Finding, Frame, FunctionGates, Line, Listing, Mark, Repeat, Rule,
    Window,
};

use super::*;
use crate::format::tests::{holds, text};

fn function(name: &str, opens: usize, bytes: u64) -> FunctionGates {
    let counts = Counts {
        opens,
        closes: opens + 1,
        fences: 1,
        hidden: 2,
        accesses: 3,
        unknown: 0,
    };
    let window = |opened_at, longest, loops| Window {
        opened_at,
        shortest: Some(3),
        longest,
        loops,
    };
    FunctionGates {
        name: name.to_owned(),
        section: ".text".to_owned(),
        address: 0x1000,
        bytes,
        instructions: 40,
        counts,
        inside: 7,
        windows: vec![window(0x1010, Some(5), false)],
        repeats: vec![Repeat {
            closed_at: 0x1020,
            opened_at: 0x1030,
            between: 2,
        }],
        findings: vec![
            Finding {
                rule: Rule::CallInWindow,
                address: 0x1018,
                opened_at: Some(0x1010),
                target: Some("memset".to_owned()),
            },
            Finding {
                rule: Rule::CloseNotOpen,
                address: 0x9000,
                opened_at: None,
                target: None,
            },
        ],
        lost: false,
    }
}

fn analysis(functions: Vec<FunctionGates>) -> Analysis {
    Analysis {
        arch: "x86".to_owned(),
        functions,
        patched: Counts {
            opens: 3,
            ..Counts::default()
        },
        patched_in_functions: Counts {
            opens: 2,
            ..Counts::default()
        },
        unread_records: 1,
    }
}

fn sample() -> Analysis {
    let mut long = function("a_name_that_is_longer_than_its_column", 1, 200);
    long.findings.clear();
    long.counts.unknown = 2;
    long.lost = true;
    long.windows[0].loops = true;
    let mut plain = function("plain", 0, 16);
    (plain.counts, plain.findings, plain.repeats) = (Counts::default(), vec![], vec![]);
    analysis(vec![function("do_epoll_wait", 2, 1899), long, plain])
}

fn changes() -> Changes {
    let after = analysis(vec![
        function("do_epoll_wait", 1, 1800),
        function("new_one", 1, 10),
    ]);
    Changes::between(&sample(), &after)
}

fn listing() -> Listing {
    let line = |address, text: &str, mark, inside| Line {
        address,
        text: text.to_owned(),
        mark,
        inside,
        access: text.starts_with("mov"),
        patched: mark == Mark::Open,
        target: text.starts_with("call").then(|| "foo".to_owned()),
        source: Vec::new(),
    };
    Listing {
        function: function("f", 1, 20),
        lines: vec![
            line(0x1000, "push %rbp", Mark::Other, false),
            line(0x1001, "stac", Mark::Open, false),
            line(0x1004, "mov %eax,(%rdi)", Mark::Other, true),
            line(0x1006, "clac", Mark::Close, true),
            line(0x1009, "call 0x100e", Mark::Other, false),
            line(0x100e, "7c1ac3a6  mtspr 794", Mark::Unknown, false),
        ],
        left_out: None,
    }
}

#[test]
fn people_read_it_in_80_columns() {
    let sample = [("fs/eventpoll.o".into(), sample())];
    let documents = [
        gates(&sample),
        repeats(&sample),
        super::listing(&"fs/eventpoll.o".into(), &[listing()]),
        against(&"old.o".into(), &"new.o".into(), &changes()),
    ];
    documents.iter().for_each(holds);
    let text = documents.map(|one| text(&one)).join("\n");
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None);
    insta::assert_snapshot!(text);
}

#[test]
fn a_source_line_names_the_functions_that_the_compiler_put_it_into() {
    let frame = |file: &str, line, function: Option<&str>| Frame {
        file: file.to_owned(),
        line,
        function: function.map(str::to_owned),
    };
    let (own, caller) = (frame("a.h", 7, Some("get")), frame("b.c", 20, Some("read")));
    assert_eq!(source(&[]), None);
    assert_eq!(source(std::slice::from_ref(&own)).unwrap(), "  a.h:7");
    assert_eq!(
        source(&[own, caller]).unwrap(),
        "  a.h:7  get() in read():20"
    );
}

#[test]
fn programs_read_what_the_schema_says() {
    let schema = include_str!("../../../../schema/gates.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let texts = [
        gates_json(&[("fs/eventpoll.o".into(), sample())]).unwrap(),
        against_json(&"old.o".into(), &"new.o".into(), &changes()).unwrap(),
        listing_json(&"fs/eventpoll.o".into(), &[listing()]).unwrap(),
    ];
    for text in texts {
        let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<_> = schema
            .iter_errors(&document)
            .map(|e| e.to_string())
            .collect();
        assert_eq!(errors, [""; 0]);
        document["version"] = 2.into();
        assert!(!schema.is_valid(&document));
    }
}
