use proptest::prelude::*;

use super::*;

const GOOD: &str = "\
[    0.512345] Run /init as init process\r
@tg guest 1\r
@tg phase 0 epoll_wait events=64 ops=64 rep=0\r
[    0.700000] random: crng init done@tg phase 1 epoll_wait events=64 ops=64 rep=1\r
@tg phase 2 getppid ops=1000 rep=0\r
@tg skip bench statx this guest has no benchmark of that name\r
@tg error bench poll fds=-1: poll returned 0, wanted 1\r
@tg layout epoll_wait - front=0 behind=8 size=12 each=12 events=0+4 data=4+8\r
@tg point epoll_wait end/17 ret=1 errno=0 bytes=01000000,..x12,--x4\r
@tg point epoll_wait null ret=-1 errno=14 bytes=\r
@tg points epoll_wait 2\r
\r
@tg done\r
[    1.000000] reboot: Power down\r
";

fn fault(text: &str) -> String {
    Results::parse(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_sentence_may_quote_a_mark() {
    let said = "it printed '@tg phase a ops=0', wanted '@tg phase NAME ops=N'";
    let text = format!("@tg guest 1\n@tg error program mine: {said}\n@tg done\n");
    let results = Results::parse(text.as_bytes()).unwrap();
    assert!(format!("{results:?}").contains(said), "{results:?}");
}

#[test]
fn results_are_read_from_between_the_kernels_lines() {
    let results = Results::parse(GOOD.as_bytes()).unwrap();
    let phases: Vec<_> = results.repetitions.iter().collect();
    let show = |(phase, r): (&u64, &Repetition)| {
        format!("{phase} {} x{} #{}", r.workload, r.operations, r.number)
    };
    assert_eq!(
        phases.into_iter().map(show).collect::<Vec<_>>(),
        [
            "0 epoll_wait events=64 x64 #0",
            "1 epoll_wait events=64 x64 #1",
            "2 getppid x1000 #0",
        ]
    );
    let outcome = Outcome {
        ret: -1,
        errno: 14,
        bytes: String::new(),
    };
    assert_eq!(results.points[1].outcome, outcome);
    assert_eq!(results.points[0].outcome.bytes, "01000000,..x12,--x4");
    assert_eq!(results.skips[0].job, "bench statx");
    let layouts = results.clone().of_guest(Some("ia32")).layouts;
    let layouts: Vec<_> = layouts
        .iter()
        .map(|one| (&*one.sweep, one.buffer.fields.len()))
        .collect();
    assert_eq!(layouts, [("epoll_wait (ia32)", 2)]);
    let with_parameters = "@tg guest 1\n@tg skip bench x a=1 b=-2: no device: none\n\
                           @tg skip bench y a=1 is no parameter\n@tg done\n";
    let skips = Results::parse(with_parameters.as_bytes()).unwrap().skips;
    assert_eq!(skips[0].job, "bench x a=1 b=-2");
    assert_eq!(skips[0].reason, "no device: none");
    assert_eq!(skips[1].job, "bench y");
    assert_eq!(
        results.skips[0].reason,
        "this guest has no benchmark of that name"
    );
    assert_eq!(
        results.errors,
        ["bench poll fds=-1: poll returned 0, wanted 1"]
    );
}

#[test]
fn a_timed_guest_says_how_long_each_phase_took() {
    let times = |line: &str| {
        let text = format!("@tg guest 1\n@tg phase 0 {line}\n@tg done\n");
        let results = Results::parse(text.as_bytes()).ok()?;
        let (_, repetition) = results.repetitions.into_iter().next()?;
        Some((repetition.nanoseconds, repetition.workload.to_string()))
    };
    let line = "signal_catch avx=0 ops=10 rep=1";
    let name = "signal_catch avx=0".to_owned();
    assert_eq!(times(line), Some((None, name.clone())));
    assert_eq!(times(&format!("{line} ns=1234")), Some((Some(1234), name)));
    assert_eq!(times(&format!("{line} ns=-1")), None);
    assert_eq!(times(&format!("{line} ns=1 x=2")), None);
    assert_eq!(
        times("signal_catch ns=1 ops=10 rep=1").map(|(ns, _)| ns),
        Some(None)
    );
}

#[test]
fn faults_name_the_line_and_what_to_do() {
    let edit = |from: &str, to: &str| {
        assert!(GOOD.contains(from), "{from}");
        fault(&GOOD.replacen(from, to, 1))
    };
    let faults = [
        fault(""),
        edit("guest 1", "guest 2"),
        edit("@tg guest 1\r\n", ""),
        edit(
            "@tg done\r\n",
            "[    0.9] Kernel panic - not syncing: \x1b[31mAttempted to kill init!\n",
        ),
        edit("@tg done", "@tg done\r\n@tg phase 9 getppid ops=1 rep=1"),
        edit("@tg phase 2 getppid", "@tg phase 1 getppid"),
        edit("@tg phase 2 getppid ops=1000", "@tg phase 2 getppid ops=0"),
        edit("ops=1000 rep=0", "rep=0 ops=1000"),
        edit("ops=1000 rep=0", "op[    0.8] usb 1-1: new device"),
        edit("events=64 ops", "events=many ops"),
        edit("null", "end/17"),
        edit("..x12", "..x3"),
        edit("..x12", "..x99999999999999999999"),
        edit("01000000,", "0100000,"),
        edit("01000000,", ","),
        edit("ret=1 ", ""),
        edit("points epoll_wait 2", "points epoll_wait 3"),
        edit("@tg points epoll_wait 2\r\n", ""),
        edit("front=0 ", ""),
        edit("data=4+8", "data=4+9"),
        edit(
            "data=4+8\r\n",
            "data=4+8\r\n@tg layout epoll_wait - front=0 behind=0 size=1\n",
        ),
        edit("skip bench statx this", "skip disk statx this"),
        edit("@tg skip", "@tg jump"),
    ];
    insta::assert_snapshot!(faults.join("\n"));
}

#[test]
fn a_point_is_a_sweep_a_name_and_its_outcome_and_nothing_more() {
    let points = |line: &str| {
        let text = format!("@tg guest 1\n@tg point {line}\n@tg points epoll_wait 1\n@tg done\n");
        Results::parse(text.as_bytes()).map(|results| results.points.len())
    };
    assert_eq!(points("epoll_wait null ret=0 errno=0 bytes="), Ok(1));
    for line in [
        "epoll_wait null ret=0 errno=0 bytes= more",
        " null ret=0 errno=0 bytes=",
        "epoll_wait  ret=0 errno=0 bytes=",
        "epoll_wait null ret=0 errno=0 bytes=0",
        "epoll_wait null ret=0 errno=0 bytes=..x3",
        "epoll_wait null ret=0 errno=0",
    ] {
        assert!(points(line).is_err(), "{line:?}");
    }
}

#[test]
fn a_last_line_without_its_end_counts_only_when_it_is_whole() {
    let head = GOOD.split("@tg done").next().unwrap();
    assert!(Results::parse(format!("{head}@tg done").as_bytes()).is_ok());
    for cut in ["@tg don", "@tg phase 3 getppid ops=10", ""] {
        let fault = Results::parse(format!("{head}{cut}").as_bytes())
            .unwrap_err()
            .fault;
        assert!(
            matches!(fault, ConsoleFault::CutOff { .. }),
            "{cut}: {fault}"
        );
    }
}

proptest! {
    #[test]
    fn a_console_without_its_end_is_refused(length in 0..GOOD.find("done").unwrap() + 4) {
        let fault = Results::parse(&GOOD.as_bytes()[..length]);
        prop_assert!(fault.is_err() || length == GOOD.find("done").unwrap() + 4);
    }

    #[test]
    fn damage_never_panics(damage in prop::collection::vec((0..GOOD.len(), any::<u8>()), 1..6)) {
        let mut console = GOOD.as_bytes().to_vec();
        for (at, byte) in damage {
            console[at] = byte;
        }
        let _ = Results::parse(&console);
    }
}

#[test]
fn a_sweep_that_fails_after_some_points_is_an_error_and_no_lost_line() {
    let closed = "@tg points epoll_wait 2\r\n";
    let failed = GOOD.replace(closed, "@tg error sweep epoll_wait: process 2 lost it\r\n");
    let results = Results::parse(failed.as_bytes()).unwrap();
    assert_eq!(results.points.len(), 2);
    assert!(
        results
            .errors
            .iter()
            .any(|text| text.contains("process 2 lost it"))
    );
    let named = GOOD.replace(closed, "@tg error sweep epoll_wait events=4: no\r\n");
    assert!(Results::parse(named.as_bytes()).is_ok());
    // What failed is another sweep, or a benchmark of the same name.
    for other in ["sweep epoll: no", "bench epoll_wait: no"] {
        let text = GOOD.replace(closed, &format!("@tg error {other}\r\n"));
        assert!(fault(&text).contains("a line was lost"), "{other}");
    }
}

#[test]
fn what_a_program_counted_belongs_to_its_phase() {
    let phase = "@tg guest 1\n@tg phase 0 client/play ops=60 rep=0\n";
    let text = format!("{phase}@tg tally 0 wake-ups 5998\n@tg done\n");
    let results = Results::parse(text.as_bytes()).unwrap();
    assert_eq!(results.repetitions[&0].tallies["wake-ups"], 5998);
    let wrong = [
        (
            "@tg tally 1 wake-ups 1\n",
            "phase 1, which was not reported",
        ),
        (
            "@tg tally 0 a 1\n@tg tally 0 a 1\n",
            "phase 0, which has it already",
        ),
        ("@tg tally 0 a\n", "wanted `tally NUMBER NAME N`"),
        ("@tg tally 0 a -1\n", "wanted `tally NUMBER NAME N`"),
    ];
    for (lines, wanted) in wrong {
        let said = fault(&format!("{phase}{lines}@tg done\n"));
        assert!(said.contains(wanted), "{said}");
    }
}
