use super::*;
use crate::boot::BootResult;
use crate::compare::tests::{benchmarks, compare, compare_of, epoll, getppid, point, run, samples};
use crate::comparison::Per;
use crate::quantity::{Counts, Quantity};
use crate::results::Skip;

/// The verdict on A, A again and B, and its exit code.
fn verdict(a: &BootResult, again: &BootResult, b: &BootResult) -> (Verdict, u8) {
    let comparison = compare(a, Some(again), b);
    (comparison.verdict, comparison.verdict.exit_code())
}

fn edited(run: &BootResult, edit: impl FnOnce(&mut BootResult)) -> BootResult {
    let mut run = run.clone();
    edit(&mut run);
    run
}

fn add_to_all(run: &mut BootResult, workload: &crate::Workload, counts: Counts) {
    run.samples
        .iter_mut()
        .filter(|s| s.workload == *workload)
        .for_each(|s| s.kernel += counts);
}

fn one() -> Counts {
    Counts::from([(Quantity::Kernel, 1)])
}

#[test]
fn counts_alone() {
    let a = run(5540, 83_066);
    let verdicts = [
        verdict(&a, &a, &run(5310, 73_386)),
        verdict(&a, &a, &run(5540, 83_065)),
        verdict(&a, &a, &a),
        verdict(&a, &a, &run(5541, 83_066)),
        verdict(&a, &a, &run(5550, 73_386)),
    ];
    insta::assert_debug_snapshot!(verdicts);
}

#[test]
fn what_outweighs_the_counts() {
    let a = run(5540, 83_066);
    let b = run(5310, 73_386);
    let fence = Counts::from([(Quantity::Fences, 10)]);
    let failed = |run: &mut BootResult| {
        run.points.clear();
        run.errors
            .push("sweep epoll_wait: killed by signal 9".to_owned());
    };
    let verdicts = [
        verdict(&a, &a, &edited(&b, |b| add_to_all(b, &getppid(), one()))),
        verdict(&a, &a, &edited(&b, |b| add_to_all(b, &getppid(), fence))),
        verdict(&a, &edited(&a, |a| add_to_all(a, &epoll(1), one())), &b),
        verdict(&a, &edited(&a, |a| a.points = vec![point("end/0", 2)]), &b),
        verdict(&a, &a, &edited(&b, |b| b.points = vec![point("end/0", 0)])),
        verdict(&a, &a, &edited(&b, |b| b.points.clear())),
        verdict(&a, &a, &edited(&b, failed)),
        verdict(
            &a,
            &a,
            &edited(&b, |b| b.samples.retain(|s| s.workload != epoll(1))),
        ),
    ];
    insta::assert_debug_snapshot!(verdicts);
}

#[test]
fn another_behaviour_outweighs_a_control_that_moved() {
    let a = run(5540, 83_066);
    let b = edited(&a, |b| {
        add_to_all(b, &getppid(), one());
        b.points = vec![point("end/0", 0)];
    });
    assert_eq!(verdict(&a, &a, &b).0, Verdict::BehaviourDiffers);
}

#[test]
fn a_benchmark_that_every_run_skips_is_a_note_and_no_more() {
    let skip = |run: &mut BootResult| {
        run.samples.retain(|sample| sample.workload != getppid());
        run.skips.push(Skip {
            job: "bench getppid".into(),
            reason: "unknown".into(),
        });
    };
    let (a, b) = (
        edited(&run(5540, 83_066), skip),
        edited(&run(5310, 73_386), skip),
    );
    assert_eq!(verdict(&a, &a, &b).0, Verdict::Gain);
    assert_eq!(verdict(&a, &run(5540, 83_066), &b).0, Verdict::Incomplete);
}

#[test]
fn medians_only_move_out_of_their_range() {
    let scatter = |run: &mut BootResult, by: u64| {
        for (index, sample) in (0..).zip(run.samples.iter_mut()) {
            sample.kernel += Counts::from([(Quantity::Kernel, index % 4 * by)]);
        }
    };
    let a = edited(&run(5540, 83_066), |run| scatter(run, 7));
    let near = edited(&run(5545, 83_071), |run| scatter(run, 7));
    let far = edited(&run(5310, 73_386), |run| scatter(run, 7));
    insta::assert_debug_snapshot!([verdict(&a, &a, &near), verdict(&a, &a, &far)]);
}

#[test]
fn no_subject_is_no_verdict() {
    let only_control = BootResult {
        samples: samples(&getppid(), &[("f", 10)]),
        ..BootResult::default()
    };
    assert_eq!(
        verdict(&only_control, &only_control, &only_control).0,
        Verdict::Incomplete
    );
}

#[test]
fn a_program_that_is_compared_counts_with_the_kernel() {
    let with = |kernel: u64, user: u64| {
        edited(&run(kernel, 83_066), |run| {
            run.samples.iter_mut().for_each(|sample| sample.user = user);
        })
    };
    let of = |whole: bool, after: &BootResult| {
        let before = with(5540, 5000);
        let mut benchmarks = benchmarks();
        benchmarks
            .iter_mut()
            .for_each(|one| one.whole = whole && !one.control);
        compare_of(&benchmarks, &before, Some(&before), after)
    };
    let (less, more) = (with(5540, 4000), with(5440, 6000));
    assert_eq!(of(true, &less).verdict, Verdict::Gain);
    assert_eq!(of(false, &less).verdict, Verdict::NoDifference);
    assert_eq!(of(true, &more).verdict, Verdict::Regression);
    assert_eq!(of(false, &more).verdict, Verdict::Gain);
    let moved = |one: &Comparison| {
        let mut notes = one.notes.iter();
        notes.any(
            |note| matches!(note, crate::Note::UserMoved { workload, .. } if *workload == epoll(1)),
        )
    };
    assert!(moved(&of(false, &less)) && !moved(&of(true, &less)));
    let row = &of(true, &less).workloads[0];
    assert_eq!(row.decisive(Per::Call).before.decimal(0), "1054");
}
