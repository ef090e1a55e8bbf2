use super::*;
use crate::boot::BootResult;
use crate::compare::Booted;
use crate::compare::tests::{benchmarks, epoll, getppid, samples};
use crate::setting::Setting;

fn run(one: u64, many: u64, control: u64) -> BootResult {
    let works = [(epoll(1), one), (epoll(64), many), (getppid(), control)];
    let samples = works.map(|(workload, count)| samples(&workload, &[("f", count)]));
    BootResult {
        samples: samples.into_iter().flatten().collect(),
        ..BootResult::default()
    }
}

fn series(costs: &[(u64, u64, u64)]) -> Series {
    let runs: Vec<BootResult> = costs
        .iter()
        .map(|cost| run(cost.0, cost.1, cost.2))
        .collect();
    let image = |number: usize| ImageName {
        letter: '0',
        variant: number.to_string(),
        id: format!("id-{number}"),
    };
    let booted = |number: usize| Booted {
        image: image(number),
        run: &runs[number],
    };
    let compare = |number| {
        Comparison::new(
            Setting::default(),
            &benchmarks(),
            booted(0),
            Some(&runs[0]),
            booted(number),
        )
    };
    let point = |number| SeriesPoint {
        number,
        title: format!("patch {number}"),
        patch: String::new(),
        image: image(number),
    };
    Series {
        points: (0..runs.len()).map(point).collect(),
        comparisons: (1..runs.len()).map(compare).collect(),
        commands: Commands::default(),
    }
}

const UP_AND_DOWN: [(u64, u64, u64); 4] = [
    (1000, 64_000, 500),
    (1000, 64_000, 500),
    (1610, 65_000, 500),
    (1000, 64_000, 500),
];

#[test]
fn the_patch_that_made_the_middle_worse_is_named() {
    let series = series(&UP_AND_DOWN);
    let peak = series.peak().unwrap();
    assert_eq!(peak.point.title, "patch 2");
    assert_eq!(peak.row.workload, &epoll(1));
    assert_eq!(peak.figure.signed_percent(1).unwrap(), "+61.0 %");
    assert_eq!(series.exit_code(), 0);
}

#[test]
fn a_step_is_against_the_point_before() {
    let series = series(&UP_AND_DOWN);
    assert!(series.changes(1).is_empty());
    let changes = series.changes(3);
    let names: Vec<_> = changes.iter().map(|one| one.row.workload.clone()).collect();
    assert_eq!(names, [epoll(1), epoll(64)]);
    assert_eq!(changes[0].figure.signed_percent(1).unwrap(), "-37.9 %");
    let row = &series.rows()[0];
    assert!(row.against_base(3).unwrap().difference().is_zero());
    assert!(row.step(0).is_none() && row.step(9).is_none());
}

#[test]
fn only_the_end_and_what_could_not_be_compared_decide() {
    let worse = [(1000, 64_000, 500), (900, 64_000, 500), (1001, 64_000, 500)];
    assert_eq!(series(&worse).exit_code(), 1);
    // Dearer to the end: no peak.
    assert!(series(&worse[1..]).peak().is_none());
    let control = [(1000, 64_000, 500), (900, 64_000, 501), (900, 64_000, 500)];
    let control = series(&control);
    assert_eq!(control.exit_code(), 2);
    assert_eq!(control.deciding().unwrap().0.number, 1);
    assert_eq!(series(&worse[..1]).exit_code(), 2);
}

#[test]
fn a_workload_that_a_point_did_not_run_has_no_figure_there() {
    let mut series = series(&UP_AND_DOWN);
    series.comparisons[1].workloads.remove(0);
    let rows = series.rows();
    let row = rows.iter().find(|row| row.workload == &epoll(1)).unwrap();
    assert!(row.kernel(2).is_none() && row.kernel(3).is_some());
    assert!(row.step(3).is_none() && !row.moved(3));
}
