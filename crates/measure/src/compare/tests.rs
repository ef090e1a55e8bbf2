use std::collections::BTreeMap;

use super::*;
use crate::comparison::Per;
use crate::quantity::{Counts, Quantity};
use crate::results::{Outcome, Point, Skip};
use crate::sample::Sample;
use crate::setting::Unit;

pub(crate) fn epoll(events: i64) -> Workload {
    Workload {
        benchmark: "epoll_wait".into(),
        parameters: vec![("events".into(), events)],
        ..Workload::default()
    }
}

pub(crate) fn getppid() -> Workload {
    Workload {
        benchmark: "getppid".into(),
        parameters: Vec::new(),
        ..Workload::default()
    }
}

pub(crate) fn benchmarks() -> Vec<Benchmark> {
    let event = || {
        Some(Unit {
            name: "event".into(),
            parameter: Some("events".into()),
        })
    };
    vec![
        Benchmark {
            workload: epoll(1),
            control: false,
            unit: event(),
            less: None,
            whole: false,
        },
        Benchmark {
            workload: epoll(64),
            control: false,
            unit: event(),
            less: None,
            whole: false,
        },
        Benchmark {
            workload: getppid(),
            control: true,
            unit: None,
            less: None,
            whole: false,
        },
    ]
}

/// Three identical repetitions after a warm-up, ten operations each.
pub(crate) fn samples(workload: &Workload, functions: &[(&str, u64)]) -> Vec<Sample> {
    let counts = |instructions| {
        use Quantity::{Closes, Kernel, Opens};
        Counts::from([(Kernel, instructions), (Opens, 20), (Closes, 20)])
    };
    let functions: BTreeMap<_, _> = functions
        .iter()
        .map(|(name, n)| ((*name).to_owned(), counts(*n)))
        .collect();
    let sample = |repetition| Sample {
        workload: workload.clone(),
        repetition,
        operations: 10,
        user: 50,
        kernel: functions.values().copied().sum(),
        functions: functions.clone(),
        system_calls: BTreeMap::new(),
        tallies: BTreeMap::new(),
    };
    (0..4).map(sample).collect()
}

pub(crate) fn point(name: &str, ret: i64) -> Point {
    let outcome = Outcome {
        ret,
        errno: 0,
        bytes: String::new(),
    };
    Point {
        sweep: "epoll_wait".into(),
        name: name.into(),
        outcome,
    }
}

/// A run with these instructions of ten calls of epoll_wait with 1 and with 64
/// events.
pub(crate) fn run(one: u64, many: u64) -> BootResult {
    let samples = [
        samples(&epoll(1), &[("do_epoll_wait", one - 40), ("fput", 40)]),
        samples(
            &epoll(64),
            &[("do_epoll_wait", many - 2560), ("fput", 2560)],
        ),
        samples(&getppid(), &[("__x64_sys_getppid", 2060)]),
    ];
    BootResult {
        samples: samples.concat(),
        points: vec![point("end/0", 1)],
        ..BootResult::default()
    }
}

pub(crate) fn compare(
    before: &BootResult,
    again: Option<&BootResult>,
    after: &BootResult,
) -> Comparison {
    compare_of(&benchmarks(), before, again, after)
}

/// The same of other benchmarks.
pub(crate) fn compare_of(
    benchmarks: &[Benchmark],
    before: &BootResult,
    again: Option<&BootResult>,
    after: &BootResult,
) -> Comparison {
    let booted = |variant: &str, run| {
        let image = ImageName {
            letter: if variant == "base" { 'A' } else { 'B' },
            variant: variant.into(),
            id: format!("id-{variant}"),
        };
        Booted { image, run }
    };
    let (before, after) = (booted("base", before), booted("window", after));
    Comparison::new(Setting::default(), benchmarks, before, again, after)
}

#[test]
fn figures_are_per_call_and_per_unit() {
    let a = run(5540, 83_066);
    let comparison = compare(&a, Some(&a), &run(5310, 73_386));
    let row = &comparison.workloads[1];
    let (call, event) = (row.kernel(Per::Call), row.kernel(Per::Unit));
    assert_eq!(call.before.decimal(1), "8306.6");
    assert_eq!(event.before.decimal(3), "129.791");
    assert_eq!(event.difference().decimal(3), "-15.125");
    assert_eq!(event.signed_percent(2).as_deref(), Some("-11.65 %"));
    assert_eq!(row.per_name(Per::Unit), "event");
    let getppid = comparison.workloads[2].kernel(Per::Unit);
    assert_eq!(getppid.after.decimal(1), "206.0");
}

#[test]
fn writes_of_the_gate_are_seen_on_either_image() {
    let writes = |before: u64, after: u64| {
        let run = |writes| {
            let mut run = run(5540, 83_066);
            for sample in &mut run.samples {
                sample.kernel = sample.kernel.with(Quantity::Writes, writes);
            }
            run
        };
        compare(&run(before), None, &run(after)).workloads[0].has(Quantity::Writes)
    };
    assert!(!writes(0, 0));
    assert!(writes(10, 0) && writes(0, 10) && writes(10, 10));
}

#[test]
fn functions_are_sorted_by_what_they_changed() {
    let functions = |counts: &[(&str, u64)]| BootResult {
        samples: samples(&epoll(1), counts),
        ..BootResult::default()
    };
    let a = functions(&[("b_same", 5), ("a_same", 5), ("less", 100), ("gone", 200)]);
    let b = functions(&[("b_same", 5), ("a_same", 5), ("less", 10), ("new", 90)]);
    let comparison = compare(&a, None, &b);
    let names = comparison.workloads[0].functions.iter();
    let names: Vec<_> = names
        .map(|f| {
            (
                f.name.as_str(),
                f.before.instructions(),
                f.after.instructions(),
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            ("gone", 200, 0),
            ("less", 100, 10),
            ("new", 0, 90),
            ("a_same", 5, 5),
            ("b_same", 5, 5),
        ]
    );
}

#[test]
fn a_repeat_that_is_the_same_has_nothing_to_say() {
    let a = run(5540, 83_066);
    let repeat = compare(&a, Some(&a), &a).repeat.unwrap();
    assert_eq!((repeat.workloads, repeat.moved.len()), (3, 0));
    assert_eq!(
        (repeat.behaviour.points, repeat.behaviour.differences.len()),
        (1, 0)
    );
}

#[test]
fn a_repeat_sees_a_user_instruction_and_a_function_that_differ() {
    let a = run(5540, 83_066);
    let mut user = a.clone();
    user.samples
        .iter_mut()
        .filter(|s| s.workload == getppid())
        .for_each(|s| s.user += 1);
    let moved = compare(&a, Some(&user), &a).repeat.unwrap().moved;
    assert_eq!(moved.len(), 1);
    assert_eq!((moved[0].first_user, moved[0].second_user), (50, 51));
    let mut function = a.clone();
    for sample in &mut function.samples {
        let fput = sample.functions.remove("fput");
        sample
            .functions
            .extend(fput.map(|counts| ("fdput".to_owned(), counts)));
    }
    assert_eq!(
        compare(&a, Some(&function), &a).repeat.unwrap().moved.len(),
        2
    );
}

#[test]
fn nothing_is_left_out_in_silence() {
    let mut a = run(5540, 83_066);
    let mut b = a.clone();
    b.samples.retain(|sample| sample.workload != epoll(64));
    b.samples.extend(samples(&epoll(3), &[("f", 100)]));
    b.samples
        .iter_mut()
        .filter(|s| s.workload == epoll(1))
        .for_each(|s| s.user = 51);
    b.errors
        .push("bench epoll_wait events=64: killed by signal 9".into());
    let skip = |name: &str| Skip {
        job: format!("bench {name}"),
        reason: "unknown".into(),
    };
    b.skips.push(skip("getppid"));
    a.points.clear();
    b.points.clear();
    b.samples.retain(|sample| sample.workload != getppid());
    let notes = compare(&a, None, &b).notes;
    insta::assert_debug_snapshot!(notes);
}

#[test]
fn boots_with_other_counts_are_said_and_are_no_failure() {
    let a = run(5540, 83_066);
    let b = BootResult {
        differing: 2,
        ..a.clone()
    };
    let found = compare(&a, Some(&a), &b);
    let said = found.notes.iter().filter_map(|note| match note {
        Note::Differing { side, boots } => Some((*side, *boots)),
        _ => None,
    });
    assert_eq!(said.collect::<Vec<_>>(), [(Side::Image('B'), 2)]);
    assert_eq!(found.verdict, compare(&a, Some(&a), &a).verdict);
}

#[test]
fn a_skip_is_of_the_parameters_that_it_names() {
    let mut a = run(5540, 83_066);
    a.samples.retain(|sample| sample.workload != epoll(64));
    a.skips.push(Skip {
        job: "bench epoll_wait events=64".into(),
        reason: "too many".into(),
    });
    let missing = |a: &BootResult| {
        let notes = compare(a, None, a).notes;
        notes
            .iter()
            .any(|note| matches!(note, Note::Missing { .. }))
    };
    assert!(!missing(&a));
    a.samples.retain(|sample| sample.workload != epoll(1));
    assert!(
        missing(&a),
        "another value of the parameter was not skipped"
    );
}

#[test]
fn a_variant_of_a_program_may_lack_a_phase() {
    let (a, mut b) = (run(5540, 83_066), run(5540, 83_066));
    b.samples.retain(|sample| sample.workload != epoll(64));
    b.skips.push(Skip {
        job: "bench epoll_wait events=64".into(),
        reason: "woken by timers alone".into(),
    });
    let of = |whole: bool| {
        let mut benchmarks = benchmarks();
        let mut all = benchmarks.iter_mut();
        let one = all.find(|one| one.workload == epoll(64)).unwrap();
        one.whole = whole;
        compare_of(&benchmarks, &a, Some(&a), &b)
    };
    // A benchmark that one kernel skips and the other does not is no comparison.
    assert_eq!(of(false).verdict, Verdict::Incomplete);
    let found = of(true);
    assert_eq!(found.verdict, Verdict::NoDifference);
    let skipped = |note: &Note| {
        matches!(
            note,
            Note::Skipped {
                side: Side::Image('B'),
                ..
            }
        )
    };
    assert!(found.notes.iter().any(skipped), "{:?}", found.notes);
}

#[test]
fn a_unit_without_its_parameter_falls_back_to_the_call() {
    let mut benchmarks = benchmarks();
    benchmarks[0].unit.as_mut().unwrap().parameter = Some("sockets".into());
    let run = run(5540, 83_066);
    let booted = || Booted {
        image: ImageName {
            letter: 'A',
            variant: String::new(),
            id: String::new(),
        },
        run: &run,
    };
    let comparison = Comparison::new(Setting::default(), &benchmarks, booted(), None, booted());
    assert_eq!(comparison.workloads[0].unit, None);
    assert!(
        comparison
            .notes
            .iter()
            .any(|note| matches!(note, Note::NoUnit { .. }))
    );
}
