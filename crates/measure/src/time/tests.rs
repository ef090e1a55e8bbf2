use super::*;

fn workload(benchmark: &str) -> Workload {
    Workload {
        benchmark: benchmark.to_owned(),
        ..Workload::default()
    }
}

fn timing(benchmark: &str, nanoseconds: &[u64]) -> Timing {
    Timing {
        workload: workload(benchmark),
        per: "call".to_owned(),
        less: None,
        operations: 10,
        nanoseconds: nanoseconds.to_vec(),
    }
}

fn timings(timings: Vec<Timing>) -> Timings {
    Timings {
        host: Host::default(),
        rounds: Rounds {
            repetitions: 3,
            chosen_for_microseconds: None,
        },
        timings,
        not_run: Vec::new(),
    }
}

fn repetition(benchmark: &str, number: u32, operations: u64, time: Option<u64>) -> Repetition {
    Repetition {
        workload: workload(benchmark),
        operations,
        number,
        nanoseconds: time,
    }
}

#[test]
fn repetitions_find_their_workload_and_warm_ups_do_not() {
    let mut all = timings(vec![timing("getppid", &[]), timing("poll", &[])]);
    let printed = vec![
        repetition("getppid", 0, 10, Some(9_999)),
        repetition("getppid", 1, 10, Some(1_500)),
        repetition("poll", 1, 10, Some(3_000)),
        repetition("poll", 1, 10, None),
        repetition("poll", 1, 11, Some(1)),
        repetition("select", 1, 10, Some(1)),
    ];
    let odd = all.add(printed.into_iter());
    assert_eq!(odd.len(), 3, "{odd:?}");
    assert_eq!(all.timings[0].per_operation(), [150.0]);
    assert_eq!(all.timings[1].per_operation(), [300.0]);
}

#[test]
fn a_workload_that_missed_a_round_is_named_and_not_shown() {
    let mut all = timings(vec![
        timing("getppid", &[10, 20, 30]),
        timing("poll", &[10, 20]),
    ]);
    all.drop_incomplete();
    assert_eq!(all.timings.len(), 1);
    assert_eq!(all.not_run[0].job, "poll");
    assert_eq!(all.not_run[0].reason, "2 of 3 repetitions were measured");
}

#[test]
fn one_less_the_other_where_both_were_measured() {
    let mut catch = timing("catch", &[1_000, 1_100, 1_200]);
    catch.less = Some(workload("null"));
    let mut alone = timing("other", &[1, 2, 3]);
    alone.less = Some(workload("nosuch"));
    let all = timings(vec![catch, alone, timing("null", &[200, 300, 400])]);
    let nets: Vec<_> = all.nets().collect();
    assert_eq!(nets.len(), 1);
    assert_eq!(nets[0].less.workload.benchmark, "null");
    let found = nets[0].estimate;
    assert_eq!((found.low, found.value, found.high), (80.0, 80.0, 80.0));
    assert_eq!(all.timings[0].range(), Some((100.0, 120.0)));
}
