//! Golden files over fixed figures, which are nobody's measurement.

use tollgate_measure::{Against, Context, Floor, Host, Rounds, Skip, Timing, Timings, Workload};

use super::*;
use crate::format::tests::{holds, text};

fn workload(benchmark: &str, parameters: &[(&str, i64)], abi: Option<&str>) -> Workload {
    let parameters = parameters.iter();
    Workload {
        benchmark: benchmark.to_owned(),
        parameters: parameters
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect(),
        abi: abi.map(str::to_owned),
        cpu: None,
    }
}

/// 30 repetitions about `middle` nanoseconds an operation, a slow one among them.
fn timing(workload: Workload, per: &str, operations: u64, middle: u64) -> Timing {
    let repetition = |turn: u64| {
        let odd = if turn == 17 { middle } else { turn * 7 % 11 };
        operations * middle + operations * odd / 4
    };
    Timing {
        workload,
        per: per.to_owned(),
        less: None,
        operations,
        nanoseconds: (0..30).map(repetition).collect(),
    }
}

pub(super) fn host() -> Host {
    let mut host = Host {
        cpu: "Example 9000 (GenuineExample, family 6, model 1, stepping 2)".to_owned(),
        features: ["smap", "erms", "xsave", "xsaves"]
            .map(str::to_owned)
            .to_vec(),
        virtual_machine: Some(true),
        cpus: 2,
        pinned: Some(1),
        governor: None,
        kernel: "6.12.117".to_owned(),
        boot: Some("00000000-0000-4000-8000-000000000000".to_owned()),
        arch: "x86_64".to_owned(),
        load: [Some(0.25), None],
        compiler: "gcc (Debian 12.2.0-14+deb12u1) 12.2.0".to_owned(),
        tollgate: "0.1.0".to_owned(),
        ..Host::default()
    };
    host.contexts.push(Context {
        guest: String::new(),
        bytes: 2696,
        components: [
            ("avx".to_owned(), 256),
            ("pkru".to_owned(), 8),
            ("zmm-upper".to_owned(), 0),
        ]
        .into(),
    });
    host
}

pub(super) fn timings() -> Timings {
    let null = workload("signal_null", &[("avx", 0)], None);
    let mut catch = timing(
        workload("signal_catch", &[("avx", 0)], None),
        "signal",
        2000,
        1405,
    );
    catch.less = Some(null.clone());
    let mut same = timing(
        workload("signal_catch", &[("avx", 1)], Some("ia32")),
        "signal",
        2000,
        96,
    );
    same.nanoseconds.rotate_left(3);
    same.less = Some(null.clone());
    Timings {
        host: host(),
        rounds: Rounds {
            repetitions: 30,
            warmups: 1,
            chosen_for_microseconds: Some(2000),
        },
        timings: vec![
            catch,
            same,
            timing(null, "call", 20_000, 96),
            timing(
                workload("pipe_bulk", &[("kib", 4096)], None),
                "write",
                5,
                1_250_000,
            ),
        ],
        not_run: vec![Skip {
            job: "sync_ptr layout=132".to_owned(),
            reason: "none of the cards 0 to 7 has the driver Dummy; modprobe snd-dummy gives one"
                .to_owned(),
        }],
    }
}

fn assert_fits(text: &str) {
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None);
}

#[test]
fn times_on_a_terminal() {
    let text = text(&document(&timings(), None));
    assert_fits(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn a_machine_that_says_nothing_is_said_to() {
    let mut timings = timings();
    timings.host = Host {
        load: [Some(3.0), Some(2.5)],
        ..Host::default()
    };
    timings.rounds.chosen_for_microseconds = None;
    timings.timings.truncate(1);
    timings.not_run.clear();
    timings.timings[0].workload.benchmark = "x\u{1b}[2J".repeat(40);
    let shown = document(&timings, None);
    holds(&shown);
    let text = text(&shown);
    assert!(!text.contains("\u{1b}[2J"));
    insta::assert_snapshot!(text);
}

fn faults(document: &str) -> Vec<String> {
    let schema = include_str!("../../../../schema/run.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let document = serde_json::from_str(document).unwrap();
    schema
        .iter_errors(&document)
        .map(|e| e.to_string())
        .collect()
}

#[test]
fn the_document_is_what_the_schema_says() {
    let mut timings = timings();
    timings
        .timings
        .iter_mut()
        .for_each(|timing| timing.nanoseconds.truncate(10));
    let document = json(&timings, None, 0).unwrap();
    assert_eq!(faults(&document), Vec::<String>::new());
    insta::assert_snapshot!(document);
    let wrong = document.replace("\"version\": 1", "\"version\": 9");
    assert_eq!(faults(&wrong).len(), 1);
    assert_ne!(
        faults(&document.replace("\"nanoseconds\"", "\"ns\"")).len(),
        0
    );
}

/// An earlier run: signals were faster, registers fewer, one benchmark is gone.
fn earlier() -> Timings {
    let mut before = timings();
    before.host.kernel = "6.12.100".to_owned();
    before.host.boot = Some("11111111-0000-4000-8000-000000000000".to_owned());
    before.host.contexts[0].bytes = 832;
    for time in &mut before.timings[0].nanoseconds {
        *time -= 50_000;
    }
    before.timings[3].workload.parameters[0].1 = 64;
    before
}

#[test]
fn times_against_an_earlier_run() {
    let (before, mut after) = (earlier(), timings());
    after.timings[1].nanoseconds.rotate_left(11);
    // The first is slower by 1.8 %, less the call alone by 1.9 %.
    let against = Against::new(&before, &after, "1".parse().unwrap());
    let all = text(&document(&after, Some(&against)));
    assert_fits(&all);
    let shown = all.split_once("Against the earlier run").unwrap().1;
    insta::assert_snapshot!(shown);
    let against = Against::new(&before, &after, Floor::STANDARD);
    let text = text(&document(&after, Some(&against)));
    assert_fits(&text);
    let shown = text.split_once("Against the earlier run").unwrap().1;
    insta::assert_snapshot!("differences_within_the_floor", shown);
}

#[test]
fn a_busy_machine_is_named_beside_differences() {
    let said = |before: f64, after: f64| {
        let (mut old, mut new) = (earlier(), timings());
        old.timings.truncate(1);
        old.host.load = [Some(before), None];
        new.timings.truncate(1);
        new.host.load = [Some(after), None];
        let against = Against::new(&old, &new, Floor::STANDARD);
        let text = text(&document(&new, Some(&against))).replace("\n  ", " ");
        let at = text.find("other work wanted the CPUs: two runs");
        at.map(|at| text[..at].rsplit('\n').next().unwrap().trim().to_owned())
    };
    assert_eq!(said(0.5, 0.5), None);
    assert_eq!(said(3.0, 0.5).as_deref(), Some("Before,"));
    assert_eq!(said(0.5, 3.0).as_deref(), Some("Now,"));
    assert_eq!(said(3.0, 3.0).as_deref(), Some("In both runs"));
}

#[test]
fn a_document_is_read_back_as_it_was() {
    let (before, after) = (earlier(), timings());
    let against = Against::new(&before, &after, Floor::STANDARD);
    let document = json(&after, Some(&against), 1).unwrap();
    assert_eq!(faults(&document), Vec::<String>::new());
    let again = read(document.as_bytes()).unwrap();
    assert_eq!(again, after);
    assert_eq!(Against::new(&before, &again, Floor::STANDARD), against);
}

#[test]
fn what_is_no_document_of_a_run_is_a_sentence() {
    let good = json(&timings(), None, 0).unwrap();
    let changed = |change: fn(&mut Timings)| {
        let mut timings = timings();
        change(&mut timings);
        json(&timings, None, 0).unwrap()
    };
    let broken = [
        changed(|timings| timings.timings[0].nanoseconds.clear()),
        changed(|timings| timings.timings[0].nanoseconds.truncate(9)),
        changed(|timings| timings.timings[0].nanoseconds[3] = 0),
        good.replacen(
            "\"nanoseconds\": [",
            &format!("\"nanoseconds\": [{}", "1,".repeat(1_000_000)),
            1,
        ),
        changed(|timings| timings.timings[3] = timings.timings[2].clone()),
        String::new(),
        "{}".to_owned(),
        good.replace("\"run\"", "\"prove\""),
        good.replace("\"version\": 1", "\"version\": 2"),
        good.replace("\"operations\": 2000,", "\"operations\": 0,"),
        good.replace("\"nanoseconds\"", "\"ns\""),
        good.replace("[\n        ", "[\n        -1,"),
        good.get(..good.len() / 2).unwrap().to_owned(),
    ];
    let said = broken.map(|text| read(text.as_bytes()).unwrap_err().to_string());
    insta::assert_snapshot!(said.join("\n"));
    assert!(read(b"\xff\xfe").is_err());
}
