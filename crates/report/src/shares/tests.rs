//! Golden files and schemas over figures that are nobody's measurement.

use tollgate_measure::{Boots, Host, Rounds, Timing, Timings, Workload};
use tollgate_profile::{
    Boundary, Candidate, Comparison, Group, Kinds, Profile, Reading, explain, gate_shares,
    point_series,
};
use tollgate_source::Name;

use super::*;
use crate::format::tests::{holds, text};

const TEXT: &str = "One kernel:

# Samples: 2K of event 'cpu-clock'
# Overhead  Command  Shared Object      Symbol
    12.50%  server   [kernel.kallsyms]  [k] __put_user_nocheck_4
            |
            ---__put_user_nocheck_4
               ep_send_events

==> 7.50%  server   [kernel.kallsyms]  [k] __lock_acquire
     1.00%  server   libc.so.6          [.] 0x00000000000f12ab

Another:

# Samples: 3K of event 'cpu-clock'
# Overhead  Command  Shared Object      Symbol
     2.50%  server   [kernel.kallsyms]  [k] __put_user_nocheck_4
     7.60%  server   [kernel.kallsyms]  [k] __lock_acquire

  __put_user_nocheck_4  /proc/kcore [Percent: local period]
    90.00 │      stac
    10.00 │      mov  %eax,(%rcx)

   before   after
one  100.5ns  80.25ns

a kernel
 catch 64
 Signal handler overhead: 1.75 microseconds
 Signal handler overhead: 1.76 microseconds
 Signal handler overhead: 1.77 microseconds

another kernel
 catch 64
 Signal handler overhead: 2.75 microseconds
 Signal handler overhead: 2.76 microseconds
 Signal handler overhead: 2.77 microseconds
";

fn with_file<T>(of: impl FnOnce(&[ReadFile<'_>]) -> T) -> T {
    let kinds = Kinds::builtin().unwrap();
    let reading = Reading::of_text(TEXT).unwrap();
    let name = Name::from("mail \u{1b}[31m.txt".as_bytes());
    let candidate = Candidate {
        path: "include/linux/eventpoll.h".to_owned(),
        line: 80,
        function: "epoll_put_uevent".to_owned(),
        callers: vec!["ep_send_events".to_owned()],
        calls: vec!["__put_user".to_owned()],
        windows_saved: 1,
    };
    let all = reading.profiles.iter();
    let file = ReadFile {
        name: &name,
        reading: &reading,
        boundaries: all.clone().map(|one| Boundary::of(one, &kinds)).collect(),
        gates: gate_shares(&reading.annotations, &reading.profiles, &kinds),
        series: point_series(&reading.points),
        explained: all
            .map(|one| explain(one, &kinds, std::slice::from_ref(&candidate)))
            .collect(),
    };
    of(&[file])
}

fn pairs() -> Vec<Pair> {
    let reading = Reading::of_text(TEXT).unwrap();
    let all: Vec<&Profile> = reading.profiles.iter().collect();
    let mut groups: Vec<Group> = Group::marked(&all).into_iter().collect();
    groups.extend(Group::kinds(&Kinds::builtin().unwrap()));
    let pair = |before: usize, after: usize| Pair {
        before: format!("profile {before}"),
        after: format!("profile {after}"),
        comparison: Comparison::new(
            &[all[before]],
            &[all[after]],
            &groups,
            &Kinds::builtin().unwrap(),
            1.0,
        )
        .unwrap(),
    };
    vec![pair(0, 1), pair(1, 0)]
}

fn side(boots: u64, by: u64) -> Vec<Timings> {
    let workload = |name: &str| Workload {
        benchmark: name.to_owned(),
        ..Workload::default()
    };
    let timing = |name: &str, less: Option<Workload>, middle: u64| Timing {
        workload: workload(name),
        per: "call".to_owned(),
        less,
        operations: 10,
        nanoseconds: (0..12).map(|n| middle + n % 5).collect(),
    };
    let boot = |number: u64| Timings {
        host: Host {
            kernel: format!("6.12.{by}"),
            boot: Some(format!("{by} {number}")),
            cpus: 2,
            ..Host::default()
        },
        rounds: Rounds::default(),
        timings: vec![
            timing(
                "signal_catch",
                Some(workload("signal_null")),
                10_000 + 100 * by + 13 * (number * 5 % 7),
            ),
            timing("signal_null", None, 2_000 + 3 * (number * 5 % 7)),
        ],
        not_run: Vec::new(),
    };
    (0..boots).map(boot).collect()
}

fn boots() -> Boots {
    Boots::new(&side(6, 0), &side(6, 10), "2".parse().unwrap())
}

#[test]
fn what_was_read_fits_a_terminal() {
    let times = side(1, 0);
    let name = Name::from("run.json".as_bytes());
    let document = with_file(|files| profile_document(files, &[(&name, &times[0])], 3));
    holds(&document);
    insta::assert_snapshot!(text(&document));
}

#[test]
fn what_was_compared_fits_a_terminal() {
    let (two, one) = (
        compare_document(&pairs(), 3, true),
        compare_document(&pairs()[..1], 3, true),
    );
    holds(&two);
    holds(&one);
    insta::assert_snapshot!("compared", text(&two));
    insta::assert_snapshot!("compared_one", text(&one));
}

#[test]
fn several_boots_fit_a_terminal() {
    let document = boots_document(&boots(), Some(5.0));
    holds(&document);
    insta::assert_snapshot!(text(&document));
}

/// One sample beside 39: the p of sides that lie wholly apart is 2 in 40, and 5 % is
/// still a difference (`measure`'s `FALSE_ALARMS` is a limit that p may reach).
#[test]
fn a_test_that_can_just_show_a_difference_is_not_said_to_be_unable() {
    let of = |after: usize| {
        let sample = |n: usize| format!(" Signal handler overhead: 2.{n:02} microseconds\n");
        let many: String = (0..after).map(sample).collect();
        let text = format!(
            "a kernel\n catch 64\n Signal handler overhead: 1.75 microseconds\n\nanother kernel\n catch 64\n{many}"
        );
        let series = point_series(&Reading::of_text(&text).unwrap().points);
        series.iter().map(super::text::limits).collect::<String>()
    };
    assert!(of(39).starts_with("All samples"), "{}", of(39));
    assert!(
        of(38).contains("no test can show a difference"),
        "{}",
        of(38)
    );
}

fn held(schema: &str, document: &str) {
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let value = serde_json::from_str(document).unwrap();
    let faults: Vec<String> = schema
        .iter_errors(&value)
        .map(|fault| format!("{fault} at {}", fault.instance_path()))
        .collect();
    assert_eq!(faults, Vec::<String>::new(), "{document}");
    // A schema that takes anything holds nothing.
    assert!(!schema.is_valid(&serde_json::json!({"version": 1})));
}

#[test]
fn documents_follow_their_schemas() {
    let profile = include_str!("../../../../schema/profile.schema.json");
    let compare = include_str!("../../../../schema/compare.schema.json");
    held(profile, &with_file(|files| profile_json(files).unwrap()));
    held(compare, &compare_json(&pairs(), 1).unwrap());
    held(compare, &boots_json(&boots(), 0).unwrap());
}
