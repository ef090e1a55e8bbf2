use super::*;

const NO_FLOOR: Floor = Floor::NONE;

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
            warmups: 1,
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
        tallies: BTreeMap::new(),
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
fn rounds_are_joined_by_their_workloads() {
    let mut all = timings(vec![timing("getppid", &[1]), timing("poll", &[2])]);
    let other = vec![
        timing("poll", &[20, 21]),
        timing("getppid", &[10]),
        timing("select", &[30]),
    ];
    all.merge(timings(other));
    let times = all
        .timings
        .iter()
        .map(|timing| timing.nanoseconds.as_slice());
    assert_eq!(times.collect::<Vec<_>>(), [&[1, 10][..], &[2, 20, 21]]);
}

#[test]
fn a_machine_is_busy_where_another_would_have_to_wait() {
    let busy = |cpus, load: &str| {
        let mut host = Host {
            cpus,
            ..Host::default()
        };
        host.set_load(true, load);
        host.busy()
    };
    // The measurement itself keeps one busy.
    assert!(!busy(2, "0.95 0.10 0.00 1/100 7"));
    assert!(busy(2, "1.05 0.10 0.00 1/100 7"));
    assert!(!busy(1, "0.00 9.00 9.00 1/100 7"));
    // What cannot be read is nothing that was seen.
    assert!(!busy(1, ""));
    let mut host = Host::default();
    host.set_load(false, "9.00 9.00 9.00 1/100 7");
    assert!(!host.busy());
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

/// A run whose repetitions lie `by` nanoseconds an operation above those of `by` 0.
fn of_boot(boot: &str, by: u64) -> Timings {
    let times = |middle: u64| -> Vec<u64> { (0..12).map(|n| (middle + n % 5) * 10).collect() };
    let mut catch = timing("catch", &times(1_000 + by));
    catch.less = Some(workload("null"));
    let mut all = timings(vec![catch, timing("null", &times(200))]);
    all.host.boot = Some(boot.to_owned());
    all
}

#[test]
fn a_run_against_an_earlier_one_is_slower_faster_or_neither() {
    let base = of_boot("a", 0);
    let changes = |other: &Timings| -> Vec<TimeFinding> {
        let against = Against::new(&base, other, NO_FLOOR);
        against.changes.iter().map(TimeChange::change).collect()
    };
    let same = Against::new(&base, &of_boot("b", 0), NO_FLOOR);
    assert_eq!(same.slower().count(), 0);
    assert!(same.changes[0].difference.could_see() > 0.0);
    // The workload alone, the one beside it, and the one less the other.
    use TimeFinding::{Faster, NotSeen, Slower};
    assert_eq!(changes(&of_boot("b", 0)), [NotSeen, NotSeen, NotSeen]);
    assert_eq!(changes(&of_boot("b", 50)), [Slower, NotSeen, Slower]);
    let slower = Against::new(&base, &of_boot("b", 50), NO_FLOOR);
    let net = slower.changes.last().unwrap();
    assert_eq!((net.before, net.after), (800.0, 850.0));
    assert_eq!(net.percent(50.0), Some(6.25));
    let faster = Against::new(&of_boot("b", 50), &base, NO_FLOOR);
    let faster: Vec<TimeFinding> = faster.changes.iter().map(TimeChange::change).collect();
    assert_eq!(faster, [Faster, NotSeen, Faster]);
}

/// Of 1,000 ns, 10 more are 1 %, and the near end of their interval is nearer to 0.
#[test]
fn a_difference_within_the_floor_is_no_regression() {
    use TimeFinding::{Faster, NotSeen, Slower, WithinFloor};
    let change = |by: u64, floor: &str| -> Vec<TimeFinding> {
        let floor: Floor = floor.parse().unwrap();
        let against = Against::new(&of_boot("a", 0), &of_boot("b", by), floor);
        against.changes.iter().map(TimeChange::change).collect()
    };
    assert_eq!(change(10, "0"), [Slower, NotSeen, Slower]);
    assert_eq!(change(10, "0.5"), [Slower, NotSeen, Slower]);
    // The median is 1 % away; the near end of the interval, which decides, less.
    assert_eq!(change(10, "0.999"), [WithinFloor, NotSeen, WithinFloor]);
    assert_eq!(change(10, "2"), [WithinFloor, NotSeen, WithinFloor]);
    assert_eq!(change(50, "2"), [Slower, NotSeen, Slower]);
    assert_eq!(change(0, "2"), [NotSeen, NotSeen, NotSeen]);
    let floor: Floor = "2".parse().unwrap();
    let (slow, base) = (of_boot("b", 50), of_boot("a", 0));
    let changes = |before: &Timings, after: &Timings| -> Vec<TimeFinding> {
        let against = Against::new(before, after, floor);
        against.changes.iter().map(TimeChange::change).collect()
    };
    assert_eq!(changes(&slow, &base), [Faster, NotSeen, Faster]);
    let near = changes(&of_boot("b", 10), &base);
    assert_eq!(near, [WithinFloor, NotSeen, WithinFloor]);
    let within = Against::new(&base, &of_boot("b", 10), floor);
    assert_eq!(within.slower().count(), 0);
    assert_eq!(within.floor, floor);
}

/// What drifts is the workload, not what is left of it less another: 40 ns of a
/// difference of 800 are 5 % of it, and 3.9 % of the workload.
#[test]
fn the_floor_of_a_difference_is_of_the_workload() {
    let floor: Floor = "4.5".parse().unwrap();
    let against = Against::new(&of_boot("a", 0), &of_boot("b", 40), floor);
    let net = against.changes.last().unwrap();
    assert!((net.floor - 1_001.5 * 0.045).abs() < 1e-9, "{net:?}");
    assert_eq!(net.change(), TimeFinding::WithinFloor);
}

#[test]
fn a_floor_is_a_percentage() {
    for text in ["0", "2", "2.5", "100", "1e-3"] {
        let floor: Floor = text.parse().unwrap();
        assert_eq!(floor.percent(), text.parse::<f64>().unwrap());
    }
    for text in [
        "", "-1", "-0.1", "NaN", "inf", "1e999", "100.1", "2%", "two",
    ] {
        let error = text.parse::<Floor>().unwrap_err().to_string();
        assert!(error.contains("from 0 to 100"), "{text}: {error}");
    }
    assert_eq!(Floor::STANDARD.to_string().parse(), Ok(Floor::STANDARD));
}

#[test]
fn what_two_runs_do_not_share_is_named() {
    let base = of_boot("a", 0);
    let mut other = of_boot("a", 0);
    other.timings.remove(1);
    other.timings.push(timing("poll", &[1, 2, 3]));
    other.host.pinned = Some(3);
    let against = Against::new(&base, &other, NO_FLOOR);
    assert_eq!(against.same_boot, Some(true));
    assert_eq!(against.only_before, [workload("null")]);
    assert_eq!(against.only_after, [workload("poll")]);
    let unlike = Unlike {
        fact: Fact::Pinned,
        before: "any".to_owned(),
        after: "3".to_owned(),
    };
    assert_eq!(against.unlike, [unlike]);
    assert_eq!(
        against.changes.len(),
        1,
        "nothing is subtracted from one side alone"
    );
    let nobody = timings(vec![timing("catch", &[])]);
    let against = Against::new(&nobody, &base, NO_FLOOR);
    assert!(against.changes.is_empty());
    assert_eq!(against.same_boot, None);
}

#[test]
fn of_a_program_s_own_repetitions_the_middle_one_counts() {
    let one = |number, time| repetition("mine/pipe", number, 10, Some(time));
    let all = vec![
        one(0, 999),
        one(1, 50),
        one(2, 10),
        one(3, 30),
        repetition("mine/b", 1, 5, None),
    ];
    let found: Vec<_> = middle_of_each(all)
        .into_iter()
        .map(|one| (one.workload.benchmark, one.number, one.nanoseconds))
        .collect();
    let wanted = [
        ("mine/b".to_owned(), 1, None),
        ("mine/pipe".to_owned(), 1, Some(30)),
    ];
    assert_eq!(found, wanted);
    assert!(middle_of_each(Vec::new()).is_empty());
}

#[test]
fn operations_are_round_and_enough() {
    // 1,000 in 100 microseconds: 20,000 in 2 ms.
    let of = |operations, time| Rounds::operations(operations, time, 400_000_000);
    assert_eq!(of(1000, 100_000), 20_000);
    assert_eq!(of(1000, 99_000), 50_000);
    assert_eq!(of(10, 30_000_000), 1);
    assert_eq!(of(1, 0), 2_000_000);
    assert_eq!(of(u64::MAX, 1), 400_000_000);
}

#[test]
fn each_is_first_in_turn() {
    let order = |round| {
        let mut all = ["A", "B", "C"];
        Rounds::take_turns(&mut all, round);
        all.concat()
    };
    assert_eq!([1, 2, 3].map(order), ["BCA", "CAB", "ABC"]);
    Rounds::take_turns::<u8>(&mut [], 3);
}
