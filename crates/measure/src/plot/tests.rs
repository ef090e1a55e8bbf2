use super::*;
use crate::boot::BootResult;
use crate::compare::tests::{epoll, getppid, samples};
use crate::results::{Outcome, Point};
use crate::setting::{Benchmark, ImageName, Setting, Unit};
use crate::{Compared, Tried};

fn image(letter: char, variant: &str) -> ImageName {
    ImageName {
        letter,
        variant: variant.into(),
        id: variant.into(),
    }
}

/// Runs of `workloads`, each call of which takes so many instructions on the
/// base, and one more on the variant.
fn proof(workloads: &[(Workload, u64)], points: Vec<Point>) -> Proof {
    let run = |more: u64| BootResult {
        samples: workloads
            .iter()
            .flat_map(|(workload, cost)| {
                let mut all = samples(workload, &[("f", (cost + more) * 10)]);
                for sample in &mut all {
                    sample.kernel = sample.kernel.with(Quantity::Xsave, 10 + more * 10);
                }
                all
            })
            .collect(),
        points: points.clone(),
        ..BootResult::default()
    };
    let benchmark = |(workload, _): &(Workload, u64)| Benchmark {
        workload: workload.clone(),
        control: workload.benchmark == "getppid",
        unit: (workload.benchmark == "epoll_wait").then(|| Unit {
            name: "event".into(),
            parameter: Some("events".into()),
        }),
        less: None,
        whole: false,
    };
    let benchmarks: Vec<Benchmark> = workloads.iter().map(benchmark).collect();
    let (base, again) = (run(0), run(0));
    let tried = Tried {
        setting: Setting::default(),
        image: image('B', "eager"),
        run: run(1),
    };
    let compared = Compared {
        base: image('A', "base"),
        run: base,
        again: Some(again),
        tried: vec![tried],
    };
    Proof::new("s".into(), &benchmarks, &[compared], Vec::new())
}

fn values(plot: &Plot) -> Vec<(&str, Vec<(i64, String)>)> {
    let line = |line: &PlotLine| -> Vec<(i64, String)> {
        let points = line.points.iter();
        points.map(|p| (p.x, p.y.decimal(0))).collect()
    };
    plot.lines
        .iter()
        .map(|one| (one.name.as_str(), line(one)))
        .collect()
}

fn pairs(of: [(i64, &str); 3]) -> Vec<(i64, String)> {
    of.map(|(x, y)| (x, y.to_owned())).into()
}

#[test]
fn a_parameter_with_three_values_is_a_curve_for_each_count() {
    let workloads = [
        (epoll(64), 700),
        (epoll(1), 100),
        (epoll(8), 150),
        (getppid(), 5),
    ];
    let plots = proof(&workloads, Vec::new()).plots();
    // Opens and closes are the same everywhere, and fences are 0.
    let quantities: Vec<_> = plots.iter().map(|plot| plot.quantities.clone()).collect();
    assert_eq!(
        quantities,
        [
            vec![Quantity::Kernel],
            vec![Quantity::Opens, Quantity::Closes],
            vec![Quantity::Xsave]
        ]
    );
    let plot = &plots[0];
    assert_eq!(
        (plot.workload.as_str(), plot.parameter.as_str()),
        ("epoll_wait", "events")
    );
    // A call, not an event: the parameter is how many events there are.
    assert_eq!(plot.per, "call");
    assert_eq!(
        values(plot),
        [
            ("base", pairs([(1, "100"), (8, "150"), (64, "700")])),
            ("eager", pairs([(1, "101"), (8, "151"), (64, "701")])),
        ]
    );
    assert!(plot.lines[0].points[0].exact);
}

#[test]
fn two_values_are_no_curve_and_other_parameters_stay_apart() {
    assert_eq!(
        proof(&[(epoll(1), 10), (epoll(2), 20)], Vec::new()).plots(),
        []
    );
    let with = |events, flags: i64| {
        let mut workload = epoll(events);
        workload.parameters.push(("flags".into(), flags));
        (workload, 10)
    };
    let workloads = [with(1, 0), with(2, 0), with(3, 0), with(1, 7), with(2, 7)];
    let plots = proof(&workloads, Vec::new()).plots();
    assert!(
        plots
            .iter()
            .all(|plot| plot.workload == "epoll_wait flags=0"),
        "{plots:?}"
    );
}

#[test]
fn the_size_of_the_context_is_a_parameter() {
    let on = |cpu: Option<&str>| {
        let workload = Workload {
            benchmark: "signal_catch".into(),
            cpu: cpu.map(str::to_owned),
            ..Workload::default()
        };
        (workload, 10)
    };
    let size = |sweep: &str, ret| Point {
        sweep: sweep.into(),
        name: "bytes".into(),
        outcome: Outcome {
            ret,
            errno: 0,
            bytes: String::new(),
        },
    };
    let points = vec![
        size("fpu_context", 2696),
        size("fpu_context (no-erms)", 2696),
        size("fpu_context (no-keys)", 1088),
        size("fpu_context (small-context)", 832),
    ];
    let cpus = [
        None,
        Some("no-erms"),
        Some("small-context"),
        Some("no-keys"),
    ];
    let plots = proof(&cpus.map(on), points).plots();
    let plot = &plots[0];
    assert_eq!(plot.parameter, "bytes of context");
    let x: Vec<i64> = plot.lines[0].points.iter().map(|point| point.x).collect();
    assert_eq!(x, [832, 1088, 2696]);
}

/// A series of four patches had a hundred plots, most of them level lines.
#[test]
fn a_count_that_stays_is_flat() {
    let plot = |quantity, counts: &[u64]| {
        let points = (0..).zip(counts).map(|(x, count)| PlotPoint {
            x,
            y: Ratio::new(*count, 1),
            exact: true,
        });
        Plot {
            workload: "epoll_wait".into(),
            parameter: POINT.into(),
            quantities: vec![quantity],
            per: "call".into(),
            lines: vec![PlotLine {
                name: "epoll_wait".into(),
                points: points.collect(),
            }],
        }
    };
    assert!(plot(Quantity::Opens, &[1000, 991, 1000]).is_flat());
    assert!(!plot(Quantity::Opens, &[1000, 989, 1000]).is_flat());
    assert!(!plot(Quantity::Fences, &[0, 1]).is_flat());
    assert!(!plot(Quantity::Kernel, &[1000, 1000]).is_flat());
}
